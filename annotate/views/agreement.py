"""Agreement: how far the annotators agree, where they differ, and whether their conclusions differ."""

from math import isnan
from typing import Literal

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import agreement_tables, pairs_table, pickers, widgets
from annotate.elements.service_cache import cached
from collection import annotator_agreement
from collection.annotator_agreement import COEFFICIENTS, Labels

COEFFICIENTS_OF = {
    scale: [entry.name for entry in COEFFICIENTS if scale in entry.scales] for scale in ("graded", "binary")
}
FIGURES = {
    "Same grade": ("observed", "graded"),
    "Alpha, ordinal": ("alpha-ordinal", "graded"),
    "Overlap": ("overlap", "binary"),
}
VIEWS = ["Grades", "Annotators", "Topics", "Over time", "Conclusions"]

campaign = session.current().campaign
key = campaign.agreement.cache_key()

st.title("Agreement")
st.write(
    "How far do the annotators agree where several graded the same pair, where do they differ, and would their grades "
    "lead to other conclusions about the systems?"
)


def labels_of(frame: pd.DataFrame, without: tuple[str, ...] = ()) -> Labels:
    """The grades of the chosen annotators on the campaign's scale."""
    selected = annotator_agreement.select_labels(frame, without=without)
    return Labels.of(selected, session.current().campaign.grades.sentences)


frame = cached(campaign.agreement.labels, key, "Comparing", 8)()
everybody = sorted(frame["annotator"].unique())
if not labels_of(frame).several.any():
    reason = f"{len(everybody):,} annotators have graded, but no two of them the same pair, so nothing can be compared."
    if not everybody:
        reason = "Nothing is graded yet, so there is nothing to compare."
    elif len(everybody) == 1:
        reason = f"**{widgets.plain(everybody[0])}** is the only annotator so far, so there is nothing to compare."
    st.write(reason)
    st.write(
        "A campaign of one annotator is fine. Whoever wants to know how stable the grades are has some pairs, a "
        "tenth of them for a start, judged by a second person: the overlap on the Assign page says how many. Grades "
        "from elsewhere can be compared too: `cleverdon import DIR --labels FILE.csv`."
    )
    widgets.page_link("assign.py")
    st.stop()

left, middle, right = st.columns([3, 1, 1])
hint = "Imported qrels count as an annotator called qrels:NAME."
chosen = left.multiselect("Annotators", everybody, default=everybody, help=hint)
with middle:
    level = pickers.pick_level("level", "For everything that knows only relevant and not relevant.")
hint = (
    "What is drawn again for the intervals. By topics they are wider, and fairer where annotators read a topic's need "
    "differently."
)
by: Literal["pairs", "topics"] = right.selectbox("Intervals by", ["pairs", "topics"], key="by", help=hint)
without = tuple(a for a in everybody if a not in chosen)
labels = labels_of(frame, without)
if not labels.several.any():
    st.info("No two of these annotators graded the same pair: choose others.")
    st.stop()
rests_on = (key, without, float(level))
report = cached(campaign.agreement.report, key, "Comparing")
found = report(without=without, level=float(level), by=by, sides=("rest",))

with st.container(border=True):
    for sentence in annotator_agreement.interpret(found):
        st.write(widgets.plain(sentence))
figures = {"Annotators": f"{len(found.annotators):,}", "Pairs of several": f"{found.several:,} of {found.pairs:,}"}
for label, (name, on) in FIGURES.items():
    value = annotator_agreement.select_value(found.values, name, on)["value"]
    figures[label] = "none" if isnan(value) else f"{value:.3f}"
widgets.metrics(figures)
scale, is_graded = "graded", sum(g > 0 for g in campaign.grades.sentences) > 1
if is_graded:
    scales = {"graded": "All grades", "binary": f"Relevant from {level} on"}
    label, label_of = "Grades as they are, or relevant and not", scales.__getitem__
    scale = st.segmented_control(label, scales, default="graded", required=True, key="scale", format_func=label_of)
rows = found.values[found.values["scale"] == scale]
if not is_graded:  # on a scale of two grades, the binary scale only adds the overlap
    rows = pd.concat([rows, found.values[found.values["coefficient"] == "overlap"]])
agreement_tables.draw_coefficients(rows)
for note in found.notes:
    st.caption(widgets.plain(note))

view = st.segmented_control("Where they differ", VIEWS, default=VIEWS[0], required=True, key="look")
coefficient = COEFFICIENTS_OF[scale][0]
if view in VIEWS[1:4]:
    names = {name: COEFFICIENTS[name].label for name in COEFFICIENTS_OF[scale]}
    first = "alpha-ordinal" if scale == "graded" else "alpha-nominal"
    coefficient = pickers.pick("Coefficient", names, first, f"by-{scale}")

breakdown = agreement_tables.Breakdown(rests_on, labels, scale, coefficient)
selected = None
if view == "Grades":
    selected = agreement_tables.by_grade(breakdown)
elif view == "Annotators":
    selected = agreement_tables.by_annotator(breakdown, found.rest)
elif view == "Topics":
    selected = agreement_tables.by_topic(breakdown)
elif view == "Over time":
    agreement_tables.over_time(breakdown)
else:
    agreement_tables.draw_conclusions(breakdown)
if selected is not None:
    graded = frame[frame["annotator"].isin(labels.annotators)]
    pairs_table.draw(selected.pairs, graded, selected.cell, f"{breakdown.state}-{abs(hash(selected.cell))}")
