"""Two systems side by side: their differences by topic, and their rankings of one topic."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.results import comparison_charts as charts
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from collection import comparison
from collection.comparison import Evaluation
from collection.core.characters import without_bidi
from collection.core.phrases import count
from collection.core.records import Document

DEPTHS = [10, 20, 50, 100]
_SHOWN_TEXT = 120  # characters of a document beside its grade


def draw(
    evaluation: Evaluation,
    measure: str,
    order: Sequence[str],
    members: Mapping[str, Sequence[str]],
    baseline: str,
    rank: Callable[..., pd.DataFrame],
    labels: Mapping[int, str],
) -> None:
    """Draw the fields of two systems, their topics by a measure, and their rankings of one topic.

    `order` are the systems, best first; `members` are the runs of each. System B is at first the `baseline`, or the
    next best system if that is empty. `rank` gives the rankings of two runs for a topic, to a depth;
    `labels` are those of the grades.
    """
    titles = session.current().campaign.store.corpus.topics().set_index("query_id")["title"]
    left, right = st.columns(2)
    a = left.selectbox("System A", order, key="a", format_func=without_bidi)
    rest = [s for s in order if s != a]
    place = rest.index(baseline) if baseline in rest else 0
    b = right.selectbox("System B", rest, index=place, key="b", format_func=without_bidi)
    apart = comparison.differences(evaluation, a, b, measure)
    apart["title"] = apart["query_id"].map(titles)
    topic_key = f"topic {measure} {a} {b}"  # other systems start at the topic with their largest difference
    above, below = int((apart["difference"] > 0).sum()), int((apart["difference"] < 0).sum())
    tied = f"; tied on {level:,}" if (level := len(apart) - above - below) else ""
    word = {1: "better", -1: "worse", 0: "higher"}[evaluation.measures[measure].direction]

    def select_topic() -> None:
        if topic := charts.selected_topic(st.session_state["topics-chart"]):
            st.session_state[topic_key] = next(q for q in apart["query_id"] if without_bidi(q) == topic)

    downloadable_chart(
        charts.topics_chart(apart, measure, a, b),
        "topics",
        f"{a} is {word} on {count(above, 'topic')} (orange), {b} on {below:,} (blue){tied}. Select a bar to see the "
        "rankings of its topic.",
        alt=f"{measure} of {a} minus that of {b}, topic by topic",
        key="topics-chart",
        on_select=select_topic,
        selection_mode=charts.TOPIC,
    )
    left, right = st.columns([3, 1])
    rows = zip(apart["query_id"], apart["title"], apart["difference"], strict=True)
    named = {query_id: without_bidi(f"{query_id}: {title} ({value:+.3f})") for query_id, title, value in rows}
    topic = left.selectbox("Topic (largest difference first)", named, key=topic_key, format_func=named.__getitem__)
    depth = right.selectbox("Depth (ranks)", DEPTHS, key="depth")
    of_a, of_b = (
        members[s][0]
        if len(members[s]) == 1
        else side.selectbox(f"Run of {widgets.plain(s)}", members[s], key=f"run-{side_name}", format_func=without_bidi)
        for s, side, side_name in zip((a, b), st.columns(2), "ab", strict=True)
    )
    _rankings(rank(of_a, of_b, topic, depth=depth), of_a, of_b, labels)


def _rankings(table: pd.DataFrame, a: str, b: str, labels: Mapping[int, str]) -> None:
    campaign = session.current().campaign
    documents = campaign.store.corpus.documents([d for side in "ab" for d in table[f"doc_{side}"] if d])
    hint = "Rank of the document in the other ranking; empty if it is not retrieved."
    numbers = {"rank": number("Rank", width=55), "rival": number("Rank in other", width=105, help=hint)}
    columns = {**numbers, "grade": text("Grade", 60), "document": text("Document")}
    for column, side, other, name in zip(st.columns(2), "ab", "ba", (a, b), strict=True):
        ranked = table[table[f"doc_{side}"] != ""]
        grades = ranked[f"grade_{side}"]
        shown = ranked[["rank"]].assign(
            grade=grades.map(lambda g: "–" if pd.isna(g) else f"{g:g}"),
            rival=ranked[f"rank_in_{other}"],
            document=ranked[f"doc_{side}"].map(lambda d: _name(documents.get(d), d)),
        )
        column.markdown(f"**{widgets.plain(name)}**")
        with column:
            display.dataframe(
                display.readable(shown)
                .style.apply(lambda _, g=grades: [_colour(x, max(labels)) for x in g], subset=["grade"])
                .format(na_rep="", subset=["rival"]),
                hide_index=True,
                height=35 * len(table) + 38,
                alt=f"Ranking of {name}, with grades",
                column_config=columns,
            )
    legend = ", ".join(f"**{grade}** {widgets.plain(label)}" for grade, label in labels.items())
    st.caption(f"Grades: {legend}; **–** unjudged.")


def _name(document: Document | None, doc_id: str) -> str:
    """The id of a document and the beginning of its title or text."""
    if document is None:
        return doc_id
    text = document.title or (document.text or "")
    return f"{doc_id}: {' '.join(text[:_SHOWN_TEXT].split())}"


def _colour(grade: float, most: int) -> str:
    """A cell's background, for grades up to `most`: none if unjudged, grey for grade 0, bluer for higher ones."""
    if pd.isna(grade):
        return ""
    strength = 0.2 + 0.55 * grade / max(most, 1)
    return f"background-color: rgba(47, 127, 209, {strength:.2f})" if grade > 0 else "background-color: #80889340"
