"""Loop: what chooses the next document, when to stop, and how the model learns."""

from dataclasses import replace

import streamlit as st

from annotate.auth import session
from annotate.views.loop import calibration_planner
from annotate.views.widgets import pickers, topic_editor, widgets
from collection.active_learning.learners import LEARNERS
from collection.campaign.recall.recall_advice import describe_target_change
from collection.campaign.settings.loop_settings import DECISIVE, LOOPING, MODES, describe_mode
from collection.core.characters import without_bidi
from collection.core.phrases import count, join, percent_down, plural
from collection.pooling import strategies

campaign = session.current().campaign
counts, settings = campaign.store.judgements.counts(), campaign.settings.loop()
scale = campaign.settings.grades
LEVELS = {g: f"{g} · {scale.label(g)}" for g in scale.levels(settings.level)}
MODE_LABELS = {name: label for name, (label, _) in MODES.items()}
RANDOM_DRAWS = {"automatic": "Automatic", "number": "After a number of irrelevant documents", "never": "Never"}
ADAPTIVE = strategies(adaptive=True)
RANKINGS = {"model": "Model (active learning)", DECISIVE: "Decisive pairs (order of the systems)"}
RANKINGS |= {n: f"{entry.label} (pooling)" for n, entry in ADAPTIVE.items()}
MODELS = {entry.name: f"{entry.label}: {entry.description}" for entry in LEARNERS}
GRADES = {
    "weights": "Weighted: higher grades are stronger examples",
    "threshold": "Binary: a document is relevant or not",
}
EVIDENCE = {
    "prior": "Prior: ranks count most at first, and less with every relevant document found",
    "columns": "Features: the model learns how much ranks count",
    "none": "None: the model reads texts only",
}
BLOCKS = {"words": "words", "chars": "character 4-grams", "dense": "imported embeddings"}
SHOWN = {"terms": "Terms with the highest weights", "terms and runs": "Terms, and ranks in the runs", "nothing": "None"}

st.title("Loop")
modes = list(campaign.settings.modes().values())
if looping := sum(mode in LOOPING for mode in modes):
    aim = f"{percent_down(settings.target)} recall with {percent_down(settings.confidence)} confidence"
    if settings.by_system_order:
        aim = f"a reliable order of the systems by {widgets.plain(settings.measure)}"
    are = plural(looping, "is", "are")
    st.write(f"{looping:,} of {count(len(modes), 'topic')} {are} in the loop. The target is {aim}.")
elif not (counts["topics"] and counts["documents"]):
    absent = join([name for name in ("topics", "documents") if not counts[name]], "or")
    st.write(f"The loop selects documents for topics, and this campaign has no {absent} yet.")
    widgets.page_link("import", "Import files")
else:
    st.write("No topic is in the loop. Choose a judging mode with a loop to let a model select documents.")
widgets.documentation_link("how-to/use-the-loop", "How to use the loop")
if used_up := (budget := campaign.progress.budget.state()).words:
    st.warning(widgets.plain_with_commands(used_up))
wanted: dict[str, object] = {}
left, right = st.columns(2, gap="large")
with left:
    mode = pickers.pick("Default judging mode", MODE_LABELS, settings.mode, "mode")
    meaning = st.empty()
    by = pickers.pick("Document selection in the loop", RANKINGS, settings.by, "by")
    by_model, by_strategy = by == "model", by in ADAPTIVE
    meaning.caption(widgets.sentence(describe_mode(mode, ADAPTIVE[by].label if by_strategy else by)))
    if by == DECISIVE:
        st.caption(
            "Selects the pairs of all topics whose grades are most informative about the order of the systems. It does "
            "not aim at recall. [What to expect](/documentation/how-to/rank-with-fewer-judgements)"
        )
    if by_strategy:
        which = "of the runs" if counts["runs"] else "of runs, and this campaign has none yet"
        st.caption(f"{ADAPTIVE[by].description} It reads no texts, and selects only documents {which}.")
    level = pickers.pick("Minimum relevant grade", LEVELS, settings.level, "level")
    wanted |= {"mode": mode, "by": by, "level": level, "topic_budget": 0}  # decisive pairs have none for each topic
with right:
    if by == DECISIVE:
        hint = "A measure of grades with a cut-off. Only documents down to the cut-off are selected."
        written = st.text_input("Measure that orders the systems", settings.measure, key="measure", help=hint)
        wanted["measure"] = written.strip()
    else:
        target = pickers.pick_share("Target recall (%)", 1.0, 100.0, settings.target, "target")
        confidence = pickers.pick_share("Confidence (%)", 50.0, 99.9, settings.confidence, "confidence")
        wanted |= {"target": target, "confidence": confidence}
    label = "Judgement budget, all topics (0 = unlimited)"
    shared = "Spent across topics." if by == DECISIVE else "Topics in the loop share the budget equally."
    help = f"{shared} A pair counts once, however many annotators judge it."
    wanted["budget"] = st.number_input(label, 0, None, settings.budget, key="budget", help=help)
    if settings.budget:
        st.caption(f"{sum(budget.judged.values()):,} of {settings.budget:,} pairs judged. {budget.outlook}".strip())
cautions = st.container()
with st.expander("Advanced"):
    left, right = st.columns(2, gap="large")
    if by != DECISIVE:
        with left:
            usual = "automatic" if settings.run is None else "number" if settings.run else "never"
            draws = pickers.pick("Random documents (to estimate recall)", RANDOM_DRAWS, usual, "draws")
            wanted["run"] = {"automatic": None, "never": 0}.get(draws)
            if draws == "number":
                label = "Irrelevant documents in a row before a random one"
                wanted["run"] = st.number_input(label, 1, None, settings.run or 50, key="run")
            elif draws == "automatic":
                by_size = "After 50 irrelevant documents in a row, or 200 in collections of 20,000 documents or more."
                st.caption(by_size if by_model else "Never: documents of the runs are selected until all are judged.")
            label = "Minimum share of random documents (% of judgements)"
            wanted["control"] = pickers.pick_share(label, 0.0, 100.0, settings.control, "control")
            has_draws = wanted["control"] or draws == "number" or (draws == "automatic" and by_model)
    with right if by != DECISIVE else left:
        if by != DECISIVE:
            label = "Judgement budget, each topic (0 = unlimited)"
            wanted["topic_budget"] = st.number_input(label, 0, None, settings.topic_budget, key="topic_budget")
        wanted["explain"] = pickers.pick("Explanation for annotators", SHOWN, settings.explain, "explain")
        st.caption("Shown when an annotator asks why a document was chosen.")
    if by_model:
        wanted["learner"] = pickers.pick("Learner", MODELS, settings.learner, "learner", captions=[])
        wanted["grades"] = pickers.pick("Use of grades", GRADES, settings.grades, "grades", captions=[])
        wanted["evidence"] = pickers.pick("Use of runs", EVIDENCE, settings.evidence, "evidence", captions=[])
        sets = [label_set.name for label_set in campaign.store.machine_labels.sets()]
        names = list(dict.fromkeys(["", *sets, settings.labels]))  # also a set that was deleted since
        wanted["labels"] = st.selectbox(
            "Machine labels that lead the loop",
            names,
            names.index(settings.labels),
            format_func=lambda name: without_bidi(name) or "None",
            key="labels",
            help="The model uses these labels to order documents, as far as they agree with the words of the topics "
            "and the judgements of each topic confirm them. Annotators do not see them, and no result counts them.",
        )
with cautions:
    if by != DECISIVE:
        changed = replace(settings, target=target, confidence=confidence)
        closed = modes.count("closed")
        if warning := describe_target_change(settings, changed, counts["judgements"], closed):
            st.warning(widgets.plain(warning))
    if by != DECISIVE and not has_draws:
        st.warning(
            "Without random documents, recall cannot be estimated and no stopping guarantee holds for single topics."
        )
    if wanted["explain"] == "terms and runs":
        is_blind = campaign.settings.assignment().blind
        hidden = "Ranks in the runs are hidden from annotators while judging is blind (page Assign)."
        st.warning(hidden if is_blind else "Annotators can see how the runs ranked a document.")

if lead := campaign.loop.describe_lead():
    st.info(widgets.sentence(lead))
widgets.save_button(wanted, settings, campaign.settings.set_loop, "Saved. It applies from the next document.", "save")
if modes:
    with st.expander("Judging mode of each topic"):
        topic_editor.draw_modes(MODE_LABELS)
if looping:
    calibration_planner.draw()
if not by_model:
    st.stop()
state, documents = campaign.corpus.features.state(), counts["documents"]
if not documents:
    st.stop()
st.subheader("Document features")
if state.made_at is None:
    st.write("Not built yet. Build them now; otherwise the first annotator in the loop has to wait.")
else:
    blocks = join(BLOCKS.get(block, block) for block in state.blocks)
    since = "up to date" if state.current else "out of date: documents were added or changed since"
    built = f"The features of {count(state.documents, 'document')} ({blocks}{state.where})"
    st.write(f"{built}, built on {state.made_at:%Y-%m-%d at %H:%M} UTC, are {since}.")
    if state.note:
        st.warning(widgets.plain(state.note))
if st.button("Update features" if state.made_at else "Build features", disabled=state.current, key="update"):
    bar = st.progress(0.0)

    def tell(what: str, done: int, total: int | None) -> None:
        bar.progress(min(done / (total or documents), 1.0), f"{what} {done:,}" if done else what)

    with widgets.shown_errors():
        report = campaign.corpus.features.update(progress=tell)
        st.toast(f"Built the features of {count(report.documents, 'document')} in {report.seconds:.1f} s.")
        st.rerun()
    bar.empty()
