"""Machine labels: labels by a model, a rule or clicks compared with people's grades, and what they change."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from annotate.auth import session
from annotate.views.results import judge_tables, label_tables
from annotate.views.widgets import widgets
from annotate.views.widgets.service_cache import cached
from collection.campaign.machine_labels.label_sets import KINDS
from collection.core.characters import without_bidi
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count, percent
from collection.machine_labels import PeopleComparison

campaign = session.current().campaign
study = campaign.machine_labels.study
MEASURES = ("nDCG@10", "P@10", "DCG@10", "nDCG@20")

st.title("Machine labels")
sets = {each.name: each for each in campaign.store.machine_labels.sets()}
is_manager = session.current().role == "manager"


def draw_uploader(label: str, key: str, help: str) -> list[UploadedFile]:
    """Draw the uploader of label sets."""
    return st.file_uploader(label, accept_multiple_files=True, key=key, help=help)


if not sets:
    if is_manager:
        judge_tables.draw_management([], draw_uploader)
    widgets.stop_with_next_step(
        "This campaign has no machine labels yet. Create them by a language model with `cleverdon labels llm`, or by "
        "a rule with `cleverdon labels rule`, or import label sets."
    )

measures = list(dict.fromkeys([str(study.main_measure()), *MEASURES]))
has_runs = campaign.store.judgements.counts()["runs"] > 0  # tasks of generated answers have none: no value to correct
views = ["One label set", "All label sets", *(["Manage"] if is_manager else [])]
view = st.segmented_control("View", views, default=views[0], key="label_view", required=True)
if view == "All label sets":
    judge_tables.draw_all(measures, has_runs=has_runs)
    st.stop()
if view == "Manage":
    judge_tables.draw_management(list(sets), draw_uploader)
    st.stop()

left, right = st.columns(2)
name = left.selectbox("Label set", sets, format_func=without_bidi, key="label_set")
measure = measures[0]
if has_runs:
    measure = right.selectbox("Measure", measures, key="label_measure", accept_new_options=True)
label_set = sets[name]
about = KINDS[label_set.kind]
if model := label_set.settings.get("model"):
    about += f" ({widgets.plain(str(model))})"
st.caption(
    f"{about}, {label_set.made_at[:10]}. They never count as judgements: agreement, progress and default qrels exclude "
    "them."
)
if label_set.kind == "llm":
    described = campaign.machine_labels.llm.label_sets.summary(label_set)
    counts = f"{count(described.graded, 'labelled pair')}"
    if described.endpoint:  # imported labels have no requests
        counts += f", {described.no_grade:,} replies without a grade, {described.failed:,} failed requests; "
        counts += f"{described.prompt_tokens + described.reply_tokens:,} tokens, cost {described.cost:,.2f}. "
        probe = described.probe
        counts += widgets.plain(probe.summary) if probe else "Not tested against injected instructions"
    st.caption(widgets.sentence(counts))
spread = campaign.machine_labels.sets.spread(label_set)
if spread is not None:
    st.caption(
        f"{count(spread.pairs, 'pair')} with several samples: {percent(spread.differing)} of them differ, with a mean "
        f"standard deviation of {spread.deviation:.2f}. The label is the lower median."
    )
key = study.cache_key()


def _seconds() -> float:
    """Seconds per judgement at the recent pace, or a usual number."""
    pace = campaign.people.pools.time(1)
    return max(1.0, round(pace.mid, 1)) if pace else 30.0


with widgets.shown_errors():
    if has_runs:
        for caution in cached(campaign.machine_labels.study.warnings, key, "Reading labels")(name, measure):
            st.warning(widgets.sentence(caution))

    st.subheader("Agreement with people")
    compared: PeopleComparison | None = None
    try:
        compared = cached(study.compare, key, "Comparing labels")(name)
    except InputError as error:
        st.info(widgets.sentence(str(error)))
    if compared is not None:
        label_tables.draw_agreement(compared)
    if not has_runs:
        st.stop()

    st.subheader("Human judgements")
    progress = cached(study.progress, key)(name)
    if progress.asked:
        sampled = count(progress.asked, "sampled pair")
        st.write(f"{progress.judged:,} of {sampled} judged; the pool has {count(progress.pairs, 'pair')}.")
    try:
        plan = cached(study.plan, key, "Planning")(name, measure)
    except InputError as error:
        st.info(widgets.sentence(str(error)))
        st.stop()
    label_tables.draw_plan(plan, measure)
    if is_manager:
        with st.form("ask", border=False):
            least = min(20, progress.pairs)
            suggested = min(max(progress.asked, int(plan["judgements"].iloc[0])), progress.pairs)
            judgements = st.number_input(
                "Pairs for people to judge", least, max(progress.pairs, least), max(suggested, least), key="ask_number",
                help="Random sample of the pool. People judge only these pairs. A larger number extends the sample.",
            )  # fmt: skip
            if st.form_submit_button("Request judgements"):
                study.ask_people(name, int(judgements), measure)
                st.rerun()
        if progress.asked and st.button("Request the whole pool again"):
            study.ask_for_pool()
            st.rerun()

    with st.expander("Compare options for a budget"), st.form("budget", border=False):
        first, second, third = st.columns(3)
        hours = first.number_input("Hours of judging (0 = unlimited)", 0.0, value=10.0, key="budget_hours")
        seconds = second.number_input("Seconds per judgement", 1.0, value=_seconds(), key="budget_seconds")
        wage = third.number_input("Cost per hour of judging", 0.0, key="budget_wage")
        first, second, third = st.columns(3)
        money = first.number_input(
            "Money (0 = unlimited)", 0.0, key="budget_money", help="For labels and, at the cost per hour, for judging."
        )
        price = second.number_input(
            "Price per label", 0.0, value=None, format="%.4f", key="budget_price", placeholder="Recorded cost",
            help="For labels still to be made. Empty: the mean cost of the labels that the set has.",
        )  # fmt: skip
        compared_sets = third.multiselect(
            "Label sets", sets, default=list(sets), format_func=without_bidi, key="budget_sets"
        )
        if st.form_submit_button("Compare"):
            with widgets.shown_errors():
                budget_plan = study.plan_budget(
                    compared_sets, measure, hours=hours or None, money=money or None, seconds=seconds, wage=wage,
                    prices={} if price is None else dict.fromkeys(compared_sets, price),
                )  # fmt: skip
                label_tables.draw_budget(budget_plan, measure)

    st.subheader("Corrected values")
    try:
        corrected = cached(study.correct, key, "Correcting values")(name, measure)
    except (InputError, CampaignError) as error:
        st.info(widgets.sentence(str(error)))
        st.stop()
    effects = cached(study.effects, key, "Comparing systems")(name, corrected)
    label_tables.draw_corrected(corrected, effects)
    widgets.documentation_link("tutorials/language-model-judgements", "How to use language models as judges")
