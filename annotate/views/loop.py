"""Loop: how documents are chosen for judging, when it may stop, and what the model reads."""

import streamlit as st

from annotate.auth import session
from annotate.elements import pickers, topic_editor, widgets
from collection.active_learning.learners import LEARNERS
from collection.campaign.loop_settings import MODES
from collection.pooling import strategies

campaign = session.current().campaign
counts, settings = campaign.progress.counts(), campaign.settings.loop()
LEVELS = {g: f"{g} · {campaign.grades.label(g)}" for g in campaign.grades.sentences if g > 0}
MODE_LABELS = {name: label for name, (label, _) in MODES.items()}
RANDOM_DRAWS = {"automatic": "Automatically", "number": "After a number that I choose", "never": "Never"}
ADAPTIVE = strategies(adaptive=True)
RANKINGS = {"model": "A model that learns from texts and runs", **{n: entry.label for n, entry in ADAPTIVE.items()}}
MODELS = {entry.name: f"{entry.label}: {entry.description}" for entry in LEARNERS}
GRADES = {
    "weights": "Lower grades are weak examples, higher ones strong examples",
    "threshold": "Only relevant or not counts",
}
EVIDENCE = {
    "prior": "Their rankings lead at first, and count less with every relevant document found",
    "columns": "The model learns how far to trust their rankings",
    "none": "Their rankings do not count: the texts alone do",
}
BLOCKS = {"words": "words", "chars": "groups of four characters", "dense": "own embeddings"}
SHOWN = {"terms": "The terms that weigh most", "terms and runs": "Terms, and the systems' ranks", "nothing": "Nothing"}

st.title("Loop")
st.write(
    "How documents are chosen for judging. In a loop, a model learns from every judgement and puts forward what is "
    "most likely relevant; random draws in between tell how much is still missing. Or a pooling strategy looks at "
    "every judgement, and chooses from what the systems retrieved."
)
if used_up := campaign.budget.state().words:
    st.warning(widgets.plain(used_up))
wanted: dict[str, object] = {}
left, right = st.columns(2, gap="large")
with left:
    mode = pickers.pick("How documents are chosen", MODE_LABELS, settings.mode, "mode")
    caption = st.empty()
    by = pickers.pick("What chooses in the loop", RANKINGS, settings.by, "by")
    by_model = by == "model"
    meaning = MODES[mode][1]
    if not by_model:
        without_runs = "" if counts["runs"] else " There are no runs yet."
        st.caption(f"{ADAPTIVE[by].description} It reads no text.{without_runs}")
        meaning = meaning.replace("the model", "the strategy").replace("whole collection", "documents of all systems")
    caption.caption(f"{meaning.capitalize()}.")
    level = pickers.pick("Relevant from which grade on", LEVELS, settings.level, "level")
    st.caption(widgets.plain(campaign.grades.sentences[level]))
    wanted |= {"mode": mode, "by": by, "level": level}
    wanted["target"] = pickers.pick_share("Recall to reach, %", 1.0, 100.0, settings.target, "target")
    wanted["confidence"] = pickers.pick_share("With a confidence of, %", 50.0, 99.9, settings.confidence, "confidence")
    st.caption("The more recall and confidence, the more random draws it takes: in small collections, most documents.")
with right:
    usual = "automatic" if settings.run is None else "number" if settings.run else "never"
    draws = pickers.pick("When documents are drawn at random", RANDOM_DRAWS, usual, "draws")
    wanted["run"] = {"automatic": None, "never": 0}.get(draws)
    if draws == "number":
        wanted["run"] = st.number_input("Irrelevant documents in a row", 1, None, settings.run or 50, key="run")
    elif draws == "automatic" and by_model:
        st.caption("After 50 irrelevant documents in a row; after 200 where there are 20,000 documents or more.")
    elif draws == "automatic":
        st.caption("None: a strategy goes on until all that the systems retrieved is judged.")
    label = "Drawn at random from the beginning, % of all judgements"
    wanted["control"] = pickers.pick_share(label, 0.0, 100.0, settings.control, "control")
    if (wanted["run"] == 0 or (draws == "automatic" and not by_model)) and not wanted["control"]:
        st.warning("Without random draws nobody can say how much is missing, and nothing can be promised.")
    label = "What annotators see who ask why a document came up"
    wanted["explain"] = pickers.pick(label, SHOWN, settings.explain, "explain")
    if wanted["explain"] == "terms and runs":
        st.caption("Annotators then know how the systems ranked a document: they no longer judge blind.")
    for name, of in (("budget", "in all"), ("topic_budget", "of each topic")):
        now: int = getattr(settings, name)
        wanted[name] = st.number_input(f"Documents to judge {of}, 0 for no limit", 0, None, now, key=name)
    if wanted["budget"] or wanted["topic_budget"]:
        st.caption(
            "The topics in their loop share the budget in all equally; what a topic cannot use (closed, nothing left, "
            "its own limit reached) goes to the others. A document counts once, however many judge it."
        )
if by_model:
    with st.expander("How the model learns"):
        wanted["learner"] = pickers.pick("Model", MODELS, settings.learner, "learner", captions=[])
        wanted["grades"] = pickers.pick("Grades", GRADES, settings.grades, "grades", captions=[])
        wanted["evidence"] = pickers.pick("Runs of the systems", EVIDENCE, settings.evidence, "evidence", captions=[])

widgets.save_button(wanted, settings, campaign.settings.set_loop, "Saved. It holds from the next document on.", "save")
topic_editor.draw_modes(MODE_LABELS)
if not by_model:
    st.stop()
st.subheader("What the model reads")
state, documents = campaign.features.state(), counts["documents"]
if not documents:
    widgets.stop_with_next_step("There are no documents yet.")
if state.made_at is None:
    st.write("The documents are not prepared yet. That is done before the first document of a loop comes, or now.")
else:
    made = f"{state.documents:,} documents, by their {' and '.join(BLOCKS.get(b, b) for b in state.blocks)}"
    since = "They are up to date." if state.current else "Documents came or changed since."
    st.write(f"{made}. Prepared on {state.made_at:%Y-%m-%d at %H:%M} UTC. {since}")
    if state.note:
        st.warning(widgets.plain(state.note))
if st.button("Bring up to date", disabled=state.current, key="update"):
    bar = st.progress(0.0)

    def tell(what: str, done: int, total: int | None) -> None:
        bar.progress(min(done / (total or documents), 1.0), f"{what} {done:,}" if done else what)

    with widgets.shown_errors():
        report = campaign.features.update(progress=tell)
        st.toast(f"{report.documents:,} documents in {report.seconds:.1f} s.")
        st.rerun()
    bar.empty()
