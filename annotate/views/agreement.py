"""Agreement: how far the annotators agree, where they do not, and what it means for the conclusions."""

from math import isnan
from typing import Literal

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import agreement_tables, conclusions_table, pairs_table, pickers, widgets
from collection import annotator_agreement
from collection.annotator_agreement import COEFFICIENTS, Labels

COEFFICIENTS_OF = {
    scale: [entry.name for entry in COEFFICIENTS if scale in entry.scales] for scale in ("graded", "binary")
}
LOOKS = ["Grades", "Annotators", "Topics", "Over time", "Conclusions"]

campaign = session.current().campaign
key = campaign.agreement.key()

st.title("Agreement")
st.write(
    "How far do the annotators agree where several graded the same pair, where do they differ, and would their grades "
    "lead to other conclusions about the systems?"
)


def labels_of(frame: pd.DataFrame, without: tuple[str, ...] = ()) -> Labels:
    """The grades of those who are not left out, on the campaign's scale."""
    return Labels.of(
        annotator_agreement.select_labels(frame, without=without), session.current().campaign.grades.sentences
    )


@st.cache_data(show_spinner="Comparing", max_entries=8)
def graded_by(campaign_id: str, key: str) -> pd.DataFrame:
    """All grades; kept while nothing changes that they rest on."""
    return session.current().campaign.agreement.labels()


@st.cache_data(show_spinner="Comparing", max_entries=16)
def over_all(key: agreement_tables.Key, by: Literal["pairs", "topics"]) -> annotator_agreement.Agreement:
    """Everything over all and of each annotator, with intervals; kept as the grades are."""
    return session.current().campaign.agreement.report(without=key[2], level=key[3], by=by, sides=("rest",))


frame = graded_by(campaign.id, key)
everybody = sorted(frame["annotator"].unique())
if not labels_of(frame).several.any():
    if not everybody:
        said = "Nothing is graded yet, so there is nothing to compare."
    elif len(everybody) == 1:
        said = f"**{widgets.plain(everybody[0])}** is the only annotator so far, so there is nothing to compare."
    else:
        said = (
            f"{len(everybody):,} annotators have graded, but no two of them the same pair, so nothing can be compared."
        )
    st.write(said)
    st.write(
        "A campaign of one annotator is fine. Whoever wants to know how stable the grades are has some pairs, a "
        "tenth of them for a start, judged by a second person: the overlap on the Assign page says how many. Grades "
        "from elsewhere can be compared too: `cleverdon import DIR --labels FILE.csv`."
    )
    widgets.page_link("assign.py")
    st.stop()

left, middle, right = st.columns([3, 1, 1])
chosen = left.multiselect(
    "Annotators", everybody, default=everybody, help="Imported qrels count as an annotator called qrels:NAME."
)
with middle:
    level = pickers.pick_level("level", "For everything that knows only relevant and not relevant.")
by: Literal["pairs", "topics"] = right.selectbox(
    "Intervals by", ["pairs", "topics"], key="by",
    help="What is drawn again for the intervals. By topics they are wider, and fairer where annotators read a "
    "topic's need differently.",
)  # fmt: skip
without = tuple(a for a in everybody if a not in chosen)
labels = labels_of(frame, without)
if not labels.several.any():
    st.info("No two of these annotators graded the same pair: choose others.")
    st.stop()
rests_on = (campaign.id, key, without, float(level))
found = over_all(rests_on, by)

with st.container(border=True):
    for sentence in annotator_agreement.interpret(found):
        st.write(widgets.plain(sentence))


def figure(coefficient: str, scale: str) -> str:
    """A value over all, short."""
    value = annotator_agreement.select_value(found.values, coefficient, scale)["value"]
    return "none" if isnan(value) else f"{value:.3f}"


widgets.metrics(
    {
        "Annotators": f"{len(found.annotators):,}",
        "Pairs of several": f"{found.several:,} of {found.pairs:,}",
        "Same grade": figure("observed", "graded"),
        "Alpha, ordinal": figure("alpha-ordinal", "graded"),
        "Overlap": figure("overlap", "binary"),
    }
)
scale, is_graded = "graded", sum(g > 0 for g in campaign.grades.sentences) > 1
if is_graded:
    scale = st.segmented_control(
        "Grades as they are, or relevant and not", ["graded", "binary"], default="graded", required=True, key="scale",
        format_func=lambda s: "All grades" if s == "graded" else f"Relevant from {level} on",
    )  # fmt: skip
rows = found.values[found.values["scale"] == scale]
if not is_graded:  # the grades are relevant and not relevant: all that the other scale adds is the overlap
    rows = pd.concat([rows, found.values[found.values["coefficient"] == "overlap"]])
agreement_tables.draw_coefficients(rows)
for note in found.notes:
    st.caption(widgets.plain(note))

look = st.segmented_control("Where they differ", LOOKS, default=LOOKS[0], required=True, key="look")
coefficient = COEFFICIENTS_OF[scale][0]
if look in LOOKS[1:4]:
    names = {name: COEFFICIENTS[name].label for name in COEFFICIENTS_OF[scale]}
    first = "alpha-ordinal" if scale == "graded" else "alpha-nominal"
    coefficient = pickers.pick("Coefficient", names, first, f"by-{scale}")

breakdown = agreement_tables.Breakdown(rests_on, labels, scale, coefficient)
selected = None
if look == "Grades":
    selected = agreement_tables.by_grade(breakdown)
elif look == "Annotators":
    selected = agreement_tables.by_annotator(breakdown, found.rest)
elif look == "Topics":
    selected = agreement_tables.by_topic(breakdown)
elif look == "Over time":
    agreement_tables.over_time(breakdown)
else:
    conclusions_table.draw(breakdown)
if selected is not None:
    graded = frame[frame["annotator"].isin(labels.annotators)]
    pairs_table.show(selected.pairs, graded, selected.cell, f"{breakdown.state}-{abs(hash(selected.cell))}")
