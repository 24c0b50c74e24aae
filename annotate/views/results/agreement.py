"""Agreement: how far the annotators agree, where they differ, and what that changes in the ranking of systems."""

from typing import Literal

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.results import agreement_tables
from annotate.views.widgets import pairs_table, pickers, widgets
from annotate.views.widgets.service_cache import cached
from collection.annotator_agreement import COEFFICIENTS
from collection.core.review import STAGES

COEFFICIENTS_OF = {
    scale: [entry.name for entry in COEFFICIENTS if scale in entry.scales] for scale in ("graded", "binary")
}
VIEWS = GRADES, VALUES, ANNOTATORS, TOPICS, TIME, SYSTEMS = (
    "Grades",
    "Coefficients",
    "Annotators",
    "Topics",
    "Over time",
    "Effect on rankings",
)

campaign = session.current().campaign
words = campaign.settings.vocabulary

is_task = campaign.settings.task() is not None  # compared by the topics of the campaign around it
topic_words = str if is_task else words.apply

st.title("Agreement")
selected_question = pickers.pick_question(whole=True)
study = campaign.results.agreement.for_question(*selected_question)
question = study.question
key = study.cache_key()
is_nominal = question is not None and question.is_nominal
if question is not None and question.question.kind == "tags" and selected_question[1] is None:
    by_answer = cached(study.by_answer, key, "Comparing")(sides=())
    agreement_tables.draw_answers(by_answer, {str(tag): question.label(tag) for tag in question.answers})
    st.stop()


matrix = study.matrix
review = campaign.settings.review()
stages: tuple[str, ...] = ()
if review is not None and (
    compared := [stage for stage in review.stages if stage in set(matrix(topics=(), without=()).topics)]
):
    # One coefficient over decisions on abstracts and on full texts describes neither.
    stage = compared[0]
    if len(compared) > 1:
        names = {each: STAGES[each].capitalize() for each in compared}
        stage = st.segmented_control(
            "Stage", compared, default=stage, required=True, key="stage", format_func=names.__getitem__
        )
    stages = (stage,)
everybody = list(matrix(topics=stages, without=()).annotators)
if not matrix(topics=stages, without=()).several.any():
    reason = words.apply(f"no two of the {len(everybody):,} annotators graded the same pair")
    if len(everybody) < 2:
        reason = f"nothing is {words.graded} yet"
        if everybody:
            reason = f"only **{widgets.plain(everybody[0])}** has {words.graded} so far"
    st.write(words.apply("Agreement is measured on pairs that two or more annotators graded;") + f" {reason}.")
    if review is not None:
        widgets.page_link("set-up", "Choose two screeners")
    else:
        st.write(
            "One annotator per pair is enough to build a collection. An overlap of 10% of the pairs is a good start."
        )
        widgets.page_link("assign", "Set the overlap")
    widgets.documentation_link("how-to/measure-agreement", "How to measure agreement")
    st.stop()

answer = st.container()  # drawn first, computed from the settings below it
is_graded = len(study.scale) > 2 and not is_nominal
with st.expander(words.apply("Settings: annotators, grades and intervals")):
    hint = "Imported qrels are the annotator qrels:NAME."
    chosen = st.multiselect(words.apply("Annotators"), everybody, default=everybody, help=hint)
    left, middle, right = st.columns(3)
    level: float = 1
    with left:
        if question is None or is_graded:
            level = pickers.pick_level("level", "Used for the overlap and the binary scale.", question)
    hint = "Unit that the bootstrap resamples. Topics give wider intervals, which include differences between topics."
    by: Literal["pairs", "topics"] = middle.selectbox(
        "Bootstrap unit", ["pairs", "topics"], key="by", help=topic_words(hint), format_func=topic_words
    )
    scale = "graded"
    if is_graded:
        lowest = campaign.settings.grades.label(int(level)) if review is not None else level
        scales = {"graded": words.apply("All grades"), "binary": f"Binary ({words.relevant} from {lowest})"}
        scale = right.selectbox("Scale", scales, key="scale", format_func=scales.__getitem__)
without = tuple(a for a in everybody if a not in chosen)
labels = matrix(topics=stages, without=without)
if not labels.several.any():
    st.info(words.apply("No two of these annotators graded the same pair. Select other annotators."))
    st.stop()
cache_key = (f"{key} {stages}", without, float(level))
compute = cached(study.report, key, "Comparing")
report = compute(topics=stages, without=without, level=float(level), by=by, sides=("rest",))
with answer:
    agreement_tables.draw_answer(report, of_relevance=question is None)

is_ranked = not is_nominal and not is_task  # tasks of generated answers have no rankings
unused = {SYSTEMS, TOPICS} if review is not None else set[str]() if is_ranked else {SYSTEMS}
views = [name for name in VIEWS if name not in unused]
view = st.segmented_control("Details", views, default=GRADES, required=True, key="look", format_func=topic_words)
coefficient = COEFFICIENTS_OF[scale][0]
if view in (ANNOTATORS, TOPICS, TIME):
    computed = set(report.values.loc[report.values["scale"] == scale, "coefficient"])
    names = {name: COEFFICIENTS[name].label for name in COEFFICIENTS_OF[scale] if name in computed}
    first = "alpha-ordinal" if scale == "graded" and not is_nominal else "alpha-nominal"
    coefficient = pickers.pick("Coefficient", names, first, f"by-{scale}{'-nominal' if is_nominal else ''}")

breakdown = agreement_tables.Breakdown(cache_key, labels, scale, coefficient, study)
selected = None
if view == GRADES:
    selected = agreement_tables.by_grade(breakdown)
elif view == VALUES:
    rows = report.values[report.values["scale"] == scale]
    if not is_graded and not is_nominal:  # on a scale of two grades, the binary scale only adds the overlap
        rows = pd.concat([rows, report.values[report.values["coefficient"] == "overlap"]])
    agreement_tables.draw_coefficients(rows)
    for note in report.notes:
        st.caption(widgets.plain(note))
elif view == ANNOTATORS:
    selected = agreement_tables.by_annotator(breakdown, report.rest)
elif view == TOPICS:
    selected = agreement_tables.by_topic(breakdown)
elif view == TIME:
    agreement_tables.over_time(breakdown)
else:
    agreement_tables.draw_conclusions(breakdown)
if selected is not None:
    graded = study.labels(topics=stages)
    graded = graded[graded["annotator"].isin(labels.annotators)]
    place = f"{breakdown.state}-{abs(hash(selected.cell))}"
    pairs_table.draw(selected.pairs, graded, selected.cell, place, breakdown.names)
