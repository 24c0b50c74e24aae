"""Tables of the Reusability page: depths, runs that are left out, and topics."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import reusability as charts
from annotate.charts.download import downloadable_chart
from annotate.elements import display
from annotate.elements.columns import number, text
from collection import reusability
from collection.records import sort_naturally
from collection.reusability import DepthResult, Reusability


def draw_depths(ladder: Sequence[DepthResult]) -> None:
    """Draw a row for each depth and measure."""
    st.subheader("Depth by depth")
    rows = pd.DataFrame([result._asdict() for result in ladder])
    display.table(
        rows.assign(over=[f"{len(result.breaking):,} of {result.others + 1:,}" for result in ladder]),
        {
            "measure": text("Measure", "small"),
            "verdict": text("Fair?", "small"),
            "change": number("Mean change", "%.3f", "small"),
            "worst": number("Worst", "%.3f", "small"),
            "worst_run": "of",
            "moved": number("Most places", width="small"),
            "moved_run": "by",
            "over": text("Runs over", "small", "Runs that change or move by more than a single run may."),
            "judged": number("Judged: left out", "percent"),
            "known": number("pooled", "percent", "small"),
        },
        alt="The rules at each depth",
    )
    with st.expander("The rules, and why"):
        st.markdown(
            f"A depth is **fair** if all of these hold:\n"
            f"- A run that is left out changes by {reusability.MAX_MEAN_CHANGE:g} at most on average, and none by more "
            f"than {reusability.MAX_CHANGE:g}. With 50 topics a difference of 0.05 or so is needed before another 50 "
            "would show it too (Voorhees and Buckley 2002): no system may lose as much by not being pooled.\n"
            f"- None changes its order with more than {reusability.MAX_MOVED:.0%} of the others.\n"
            f"- Of the first k documents of a run that is left out {reusability.MIN_JUDGED:.0%} are judged on "
            f"average.\n- Of those of the pooled runs themselves {reusability.MIN_KNOWN:.0%} are judged: otherwise "
            "nobody knows what they are worth, and a small change says nothing.\n\n"
            f"It is to be used **with care** if at most {reusability.MAX_BREACHES:.0%} of the runs change or move by "
            "more than one run may, and the other rules hold: then a system has to be unlike the rest to be wronged. "
            "If more of them do, any new one may be, and it is **not** fair; among fewer than ten runs one is more. "
            f"With fewer than {reusability.MIN_TOPICS} topics nothing is said, since each is then more than a tenth of "
            "every mean."
        )


def draw_left_out(report: Reusability, measures: Sequence[str]) -> None:
    """Draw the fields of measure and grouping, the chart, the table, and the bounds if they were computed."""
    st.subheader("Each run left out")
    measure = st.selectbox("Measure", measures) if len(measures) > 1 else measures[0]
    is_grouped = len(set(report.groups.values())) < len(report.groups)
    alone = is_grouped and st.toggle("Each run by itself, not with its group", False)
    rows = report.left_out_runs if alone else report.left_out
    rows = rows[rows["measure"] == measure]
    downloadable_chart(
        charts.left_out_chart(rows, measure),
        "left-out",
        f"Mean {measure} of each run by all judgements, and by those that are left when what "
        f"{'it' if alone else 'its group'} alone brought to the first {report.pool.depth:,} ranks is taken away.",
    )
    display.table(
        rows,
        {
            "run": "Run",
            "group": "Group",
            "unique": number("Unique pairs", help="Judged pairs that nobody else brought."),
            "relevant": number("Relevant", help="Those of them that are relevant."),
            "before": number(measure, "%.4f"),
            "after": number("Left out", "%.4f"),
            "change": number("Change", "%+.4f"),
            "place_before": number("Place"),
            "place_after": number("Left out "),
        },
        alt="Each run left out",
    )
    if report.bounds is not None:
        downloadable_chart(
            charts.bounds_chart(report.bounds[report.bounds["measure"] == measure], measure),
            "bounds",
            f"Lowest and highest mean {measure} if the unjudged documents of a run had any grade of the scale; the dot "
            "is the value with all of them unjudged.",
        )


def draw_topics(topics: pd.DataFrame, measure: str) -> None:
    """Draw the topics of a :class:`~collection.reusability.Reusability` by one measure."""
    st.subheader("Topics")
    if topics["without"].notna().any():
        downloadable_chart(
            charts.topics_chart(topics, measure),
            "topics",
            f"Each dot is a topic: hard ones to the left, by mean {measure}; those at the bottom decide, since without "
            "them the order of the systems is another. The larger, the more relevant documents.",
        )
    titles = session.current().campaign.corpus.topics()[["query_id", "title"]]
    rows = sort_naturally(topics.merge(titles, on="query_id", how="left")).sort_values("without", kind="stable")
    display.table(
        rows,
        {
            "query_id": text("Topic", "small"),
            "title": text("Title", "medium"),
            "judged": number("Judged", width="small"),
            "relevant": number("Relevant", width="small"),
            "prevalence": number("Share", "percent", "small"),
            "mean": number("Mean", "%.3f", "small", f"{measure} of the systems."),
            "median": number("Median", "%.3f", "small"),
            "spread": number("Spread", "%.3f", "small", "Standard deviation."),
            "agrees": number("Tau, alone", "%.3f", "small", "Of the order by this topic with that by all."),
            "without": number("Tau, without", "%.3f", "small", "Of the order by the others with that by all."),
        },
        alt="The topics, those that decide most first",
    )
