"""Agreement: how far the annotators agree, where they do not, and what it means for the conclusions."""

from math import isnan
from typing import Any

import pandas as pd
import streamlit as st

from annotate import views
from annotate.auth import session
from annotate.charts import agreement as charts
from annotate.elements import drawing, pairs_table, widgets
from collection import annotator_agreement as agreeing
from collection.annotator_agreement import COEFFICIENTS, MEASUREMENT, Labels
from collection.campaign.agreement import Conclusion
from collection.errors import CleverdonError
from collection.measures import parse
from collection.records import in_natural_order

GRADED = [name for name, m in MEASUREMENT.items() if m != "binary"]
BINARY = [name for name, m in MEASUREMENT.items() if m in ("nominal", "binary")]
LOOKS = ["Grades", "Annotators", "Topics", "Over time", "Conclusions"]
MOST = 20  # pairs of annotators whose conclusions are drawn unasked: each evaluates every run twice

campaign = session.current().campaign
key = campaign.agreement.key()

st.title("Agreement")
st.write(
    "How far do the annotators agree where several graded the same pair, where do they differ, and would their grades "
    "lead to other conclusions about the systems?"
)


def labels_of(frame: pd.DataFrame, without: tuple[str, ...] = ()) -> Labels:
    """The grades of those who are not left out, on the campaign's scale."""
    return Labels.of(agreeing.chosen(frame, without=without), session.current().campaign.grades.sentences)


@st.cache_data(show_spinner="Comparing", max_entries=8)
def graded_by(campaign_id: str, key: str) -> pd.DataFrame:
    """All grades; kept while nothing changes that they rest on."""
    return session.current().campaign.agreement.labels()


@st.cache_data(show_spinner="Comparing", max_entries=16)
def over_all(campaign_id: str, key: str, without: tuple[str, ...], level: float, by: Any) -> agreeing.Agreement:
    """Everything over all and of each annotator, with intervals; kept as the grades are."""
    return session.current().campaign.agreement.report(without=without, level=level, by=by, sides=("rest",))


@st.cache_data(show_spinner="Comparing", max_entries=16)
def seen_from(campaign_id: str, key: str, without: tuple[str, ...], level: float, side: str) -> pd.DataFrame:
    """One view, kept as the grades are; only that over time has intervals, since it is a picture of them."""
    labels = labels_of(graded_by(campaign_id, key), without)
    if side == "windows":
        return agreeing.over_time(labels, level=level, resamples=500)
    sides = {"between": agreeing.between, "topics": agreeing.by_topic}
    return sides[side](labels, level=level, resamples=0)


@st.cache_data(show_spinner="Evaluating", max_entries=16)
def concluded(campaign_id: str, key: str, without: tuple[str, ...], measure: str, most: int | None) -> list[Conclusion]:
    """The runs under each one's grades, kept as the grades are."""
    return session.current().campaign.agreement.conclusions(parse(measure), without=without, most=most)


def name(coefficient: str) -> str:
    """What the table of coefficients calls it."""
    return COEFFICIENTS[coefficient].label


frame = graded_by(campaign.id, key)
everybody = sorted(frame["annotator"].unique())
if not labels_of(frame).several.any():
    if not everybody:
        said = "Nothing is graded yet, so there is nothing to compare."
    elif len(everybody) == 1:
        said = f"**{drawing.plain(everybody[0])}** is the only annotator so far, so there is nothing to compare."
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
    if any(page.file == "assign.py" for page in views.PAGES):
        widgets.page_link("assign.py")
    st.stop()

left, middle, right = st.columns([3, 1, 1])
chosen = left.multiselect(
    "Annotators", everybody, default=everybody, help="Imported qrels count as an annotator called qrels:NAME."
)
grades = [g for g in campaign.grades.sentences if g > 0]
usual = campaign.settings.loop().level
level = middle.selectbox(
    "Relevant from grade", grades, index=grades.index(usual) if usual in grades else 0, key="level",
    help="For everything that knows only relevant and not relevant.",
)  # fmt: skip
by = right.selectbox(
    "Intervals by", ["pairs", "topics"], key="by",
    help="What is drawn again for the intervals. By topics they are wider, and fairer where annotators read a "
    "topic's need differently.",
)  # fmt: skip
without = tuple(a for a in everybody if a not in chosen)
labels = labels_of(frame, without)
if not labels.several.any():
    st.info("No two of these annotators graded the same pair: choose others.")
    st.stop()
args = (campaign.id, key, without, float(level))
found = over_all(*args, by)

with st.container(border=True):
    for sentence in agreeing.headline(found):
        st.write(drawing.plain(sentence))


def figure(coefficient: str, scale: str) -> str:
    """A value over all, short."""
    row = agreeing.value_of(found.values, coefficient, scale)
    return "none" if isnan(row["value"]) else f"{row['value']:.3f}"


widgets.metrics(
    {
        "Annotators": f"{len(found.annotators):,}",
        "Pairs of several": f"{found.several:,} of {found.pairs:,}",
        "Same grade": figure("observed", "graded"),
        "Alpha, ordinal": figure("alpha-ordinal", "graded"),
        "Overlap": figure("overlap", "binary"),
    }
)
scale = "graded"
if len(grades) > 1:
    scale = st.segmented_control(
        "Grades as they are, or relevant and not", ["graded", "binary"], default="graded", required=True, key="scale",
        format_func=lambda s: "All grades" if s == "graded" else f"Relevant from {level} on",
    )  # fmt: skip
rows = found.values[found.values["scale"] == scale]
if len(grades) == 1:  # the grades are relevant and not relevant: all that the other scale adds is the overlap
    rows = pd.concat([rows, found.values[found.values["coefficient"] == "overlap"]])
noted = [] if not rows["note"].any() else ["note"]
drawing.dataframe(
    rows.assign(label=rows["coefficient"].map(name)),
    hide_index=True,
    height=35 * len(rows) + 38,
    alt="Every coefficient with its interval",
    column_order=["label", "value", "low", "high", *noted],
    column_config={
        "label": st.column_config.TextColumn("Coefficient", width="medium"),
        "value": st.column_config.NumberColumn("Value", format="%.3f", width="small"),
        "low": st.column_config.NumberColumn("95 % from", format="%.3f", width="small"),
        "high": st.column_config.NumberColumn("to", format="%.3f", width="small"),
        "note": st.column_config.TextColumn("Note", width="large"),
    },
)
with st.expander("How to read each of them"):
    for coefficient_name in rows["coefficient"]:
        entry = COEFFICIENTS[coefficient_name]
        st.markdown(f"**{entry.label}**: {drawing.plain(entry.description)}")
st.caption(
    "0 is what chance would bring and 1 always the same, save for observed agreement and overlap, which know no "
    "chance. Krippendorff's custom is to rely on grades from alpha 0.80 on and to draw tentative conclusions from "
    "0.667 on; judgements of relevance rarely get there, and serve all the same to tell which system is better. Look "
    "at Conclusions for that."
)
for note in found.notes:
    st.caption(drawing.plain(note))

look = st.segmented_control("Where they differ", LOOKS, default=LOOKS[0], required=True, key="look")
usable = GRADED if scale == "graded" else BINARY
coefficient = usable[0]
if look in LOOKS[1:4]:
    first = "alpha-ordinal" if scale == "graded" else "alpha-nominal"
    coefficient = st.selectbox("Coefficient", usable, index=usable.index(first), format_func=name, key=f"by-{scale}")


def of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the scale and coefficient that are chosen."""
    return frame[(frame["scale"] == scale) & (frame["coefficient"] == coefficient)].reset_index(drop=True)


pairs: pd.DataFrame | None = None
cell = ""
shown = labels if scale == "graded" else labels.binary(level)
state = abs(hash((args, scale)))  # another table, another chart: no cell stays selected where another has come to stand

if look == "Grades":
    couple: tuple[str, str] | None = None
    couples = [(a, b) for n, a in enumerate(labels.annotators) for b in labels.annotators[n + 1 :]]
    if len(couples) > 1:
        number = st.selectbox(
            "Whose grades",
            range(-1, len(couples)),
            key=f"who-{len(couples)}",
            format_func=lambda n: "every two annotators" if n < 0 else " and ".join(couples[n]),
        )
        couple = None if number < 0 else couples[number]
    elif couples:
        couple = couples[0]
    counts = agreeing.confusion(shown, *(couple or ()))
    if not counts.to_numpy().any():
        st.info("These two graded no pair in common.")
        st.stop()
    names = {float(g): campaign.grades.label(g) for g in campaign.grades.sentences}
    if scale == "binary":
        names = {0.0: "not relevant", 1.0: "relevant"}
    rows_are, columns_are = couple or ("one", "the other")
    event = drawing.altair_chart(
        charts.confusion_chart(counts, rows_are, columns_are, names),
        on_select="rerun",
        key=f"confusion-{state}-{couples.index(couple) if couple else 'all'}",
        alt=f"Confusion matrix of {' and '.join(couple) if couple else 'all annotators'}",
    )
    st.caption(
        ("" if couple else "Every two judgements of a pair count once; a disagreement stands in both of its cells. ")
        + "Framed: both gave the same grade. Select a cell to see its pairs."
    )
    if at := charts.cell_of(event):
        one, other = float(at[0]), float(at[1])
        pairs = agreeing.disagreements(shown, annotators=couple, grades=(one, other))
        cell = f"{rows_are} said {one:g} and {columns_are} {other:g}"
elif look == "Annotators":
    between = of(seen_from(*args, "between"))
    if len(labels.annotators) > 2:
        event = drawing.altair_chart(
            charts.annotators_chart(between[["a", "b", "pairs", "value"]], name(coefficient)),
            on_select="rerun",
            key=f"annotators-{state}-{coefficient}",
            alt=f"{name(coefficient)} of every two annotators",
        )
        st.caption(
            f"{name(coefficient)} of every two annotators who graded a pair in common. Select a cell for its pairs."
        )
        if at := charts.cell_of(event):
            pairs = agreeing.disagreements(shown, annotators=at)
            cell = f"{at[0]} and {at[1]} differ"
    rest = of(found.rest)
    listed = rest["annotator"].tolist()
    table_event = drawing.dataframe(
        rest,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"rest-{state}",
        alt="Each annotator against the others",
        column_order=["annotator", "value", "low", "high", "difference", "pairs"],
        column_config={
            "annotator": st.column_config.TextColumn("Annotator", width="medium"),
            "pairs": st.column_config.NumberColumn("Pairs", width="small"),
            "value": st.column_config.NumberColumn("Value", format="%.3f", width="small", help=name(coefficient)),
            "low": st.column_config.NumberColumn("95 % from", format="%.3f", width="small"),
            "high": st.column_config.NumberColumn("to", format="%.3f", width="small"),
            "difference": st.column_config.NumberColumn(
                "Grades higher by",
                format="%+.2f",
                width="small",
                help="Mean of their grade minus the mean of the others'.",
            ),
        },
    )
    st.caption(
        "Each annotator against the majority of the others (in a tie the lower grade). Select a row to see where "
        "they differ."
    )
    if (row := pairs_table.selected(table_event, len(listed))) is not None:
        annotator = listed[row]
        against = agreeing.disagreements(shown.against_rest(annotator))[["query_id", "doc_id"]]
        pairs = against.merge(agreeing.disagreements(shown), on=["query_id", "doc_id"])
        cell = f"{annotator} differs from the majority of the others"
elif look == "Topics":
    table = in_natural_order(of(seen_from(*args, "topics"))).sort_values("value", kind="stable", na_position="last")
    table = table.merge(campaign.corpus.topics()[["query_id", "title"]], on="query_id")
    listed = table["query_id"].tolist()
    table_event = drawing.dataframe(
        table,
        hide_index=True,
        height=min(35 * len(table) + 38, 318),
        on_select="rerun",
        selection_mode="single-row",
        key=f"topics-{state}-{coefficient}",
        alt="Agreement topic by topic, least first",
        column_order=["query_id", "value", "pairs", "title", *(["note"] if table["note"].any() else [])],
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width="small"),
            "title": st.column_config.TextColumn("Title", width="medium"),
            "pairs": st.column_config.NumberColumn("Pairs", width="small", help="Those that several graded."),
            "value": st.column_config.NumberColumn("Value", format="%.3f", width="small", help=name(coefficient)),
            "note": st.column_config.TextColumn("Note", width="medium"),
        },
    )
    st.caption(
        "Least agreement first: often the topic's description leaves room for two readings. Where nearly all pairs "
        "have the same grade, alpha and kappa are low although most grades are the same; Gwet's AC1 is not. Select a "
        "row to see its disagreements."
    )
    if (row := pairs_table.selected(table_event, len(listed))) is not None:
        topic = listed[row]
        pairs = agreeing.disagreements(shown, query_id=topic)
        cell = f"annotators differ in topic {topic}"
elif look == "Over time":
    windows = of(seen_from(*args, "windows"))
    if windows.empty:
        st.write(
            "There are not enough pairs of which it is known when they were graded: twenty or more by several "
            "annotators. Of imported grades that is not known."
        )
    else:
        drawing.altair_chart(
            charts.windows_chart(windows, name(coefficient)), alt=f"{name(coefficient)} in windows over time"
        )
        st.caption(
            "Windows of equally many pairs, in the order in which their last judgement came; grey: 95 % intervals. A "
            "line that falls or rises steadily is drift: annotators have begun to read the guidelines otherwise. A "
            "single low window may be one hard topic."
        )
else:
    runs = campaign.progress.counts()["runs"]
    if runs < 2:
        st.write("Conclusions are about systems: import the runs of two or more of them.")
        st.stop()
    written = st.text_input("Measure", "nDCG@10", help="Written as AP(rel=2)@100; `cleverdon measures` lists them.")
    couples_met = len(labels.met())
    most = None
    if couples_met > MOST and not st.toggle(
        f"All {couples_met:,} pairs of annotators: each takes as long as evaluating every run twice", key="all-couples"
    ):
        st.caption(f"The {MOST:,} pairs of annotators with the most pairs in common:")
        most = MOST
    try:
        conclusions = concluded(campaign.id, key, without, str(parse(written)), most)
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        st.stop()
    summary = pd.DataFrame([c._asdict() for c in conclusions]).drop(columns="table")
    chosen_row = 0
    if len(conclusions) > 1:
        table_event = drawing.dataframe(
            summary,
            hide_index=True,
            height=min(35 * len(summary) + 38, 318),
            on_select="rerun",
            selection_mode="single-row",
            key=f"conclusions-{state}-{written}",
            column_order=["a", "b", "topics", "pairs", "runs", "tau", "swaps", "note"],
            column_config={
                "tau": st.column_config.NumberColumn("Kendall's tau", format="%.3f"),
                "swaps": st.column_config.NumberColumn("Pairs of runs swapped"),
            },
        )
        chosen_row = pairs_table.selected(table_event, len(conclusions)) or 0
    told = conclusions[chosen_row]
    said = told.note[0].upper() + told.note[1:] if told.note else agreeing.of_tau(told.tau, told.swaps, told.runs)
    st.markdown(f"**{drawing.plain(told.a)} and {drawing.plain(told.b)}:** {drawing.plain(said)}.")
    drawing.dataframe(
        told.table,
        hide_index=True,
        alt="The runs by each one's grades",
        column_order=["run", "a", "place_a", "b", "place_b"],
        column_config={
            "run": "Run",
            "a": st.column_config.NumberColumn(told.a, format="%.4f"),
            "place_a": st.column_config.NumberColumn("Place", width="small"),
            "b": st.column_config.NumberColumn(told.b, format="%.4f"),
            "place_b": st.column_config.NumberColumn("Place ", width="small"),
        },
    )
    st.caption(
        f"Means over {told.topics:,} topics by the {told.pairs:,} pairs that both graded, with everything else "
        "unjudged. Tau is 1 where both put the systems into the same order. In TREC's study it was 0.94 on average "
        "while the relevant documents overlapped by less than half (Voorhees 2000). Swaps of systems that are close "
        "to each other mean little."
    )

if pairs is not None:
    pairs_table.show(pairs, frame[frame["annotator"].isin(labels.annotators)], cell, f"{state}-{abs(hash(cell))}")
