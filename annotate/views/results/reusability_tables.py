"""The Reusability page's answer and tables: depths, runs that are left out, and topics."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from collection import reusability
from collection.charts import reusability as charts
from collection.core.phrases import count, percent, percent_down
from collection.core.records import sort_naturally
from collection.measures import describe_search, parse
from collection.reusability import DepthResult, Reusability, find_deepest

VERDICTS = {"fair": "reusable", "with care": "use with care", "no": "not reusable"}


def draw_answer(report: Reusability, measure: str) -> None:
    """Draw the verdict, what to do about it, its numbers by one measure, and how much each run loses."""
    st.markdown(f"#### {widgets.plain(report.verdict[0])}")
    if report.ladder:
        st.write(recommend(report.ladder))
    numbers = {"Runs pooled": f"{int(report.pool.runs.sum()):,} of {len(report.pool.runs):,}"}
    if report.pool.full:
        numbers["Pool depth"] = f"{report.pool.depth:,}"
    numbers["Topics"] = f"{len(report.topics):,}"
    rows = report.left_out[report.left_out["measure"] == measure]
    if rows["change"].notna().any():
        numbers[f"Mean change of {measure}"] = f"{rows['change'].abs().mean():.3f}"
    if result := next((result for result in report.ladder if result.measure == measure), None):
        numbers[f"Judged in top {result.depth}, left-out runs"] = percent_down(result.judged)
    widgets.metrics(numbers)
    downloadable_chart(
        charts.left_out_chart(rows, measure),
        "loss",
        f"Mean {measure} of each run with all judgements (pooled), and without those that only its group contributed "
        f"to the first {count(report.pool.depth, 'rank')} (left out).",
        alt=f"Mean {measure} of each run with and without its own contribution to the pool",
    )
    with st.expander(f"Reasons and notes ({len(report.verdict) - 1})"):
        st.markdown("\n".join(f"- {widgets.plain(sentence)}" for sentence in report.verdict[1:]))
        widgets.documentation_link("how-to/check-reusability", "How reusability is assessed")


def recommend(ladder: Sequence[DepthResult]) -> str:
    """State what to do with a system that was not pooled, in one or two sentences."""
    fair, care, neither = find_deepest(ladder)
    best = care or fair
    pooling = "import its run, add it to the pool, and judge the new documents"
    if best is None:
        return f"Before you compare a new system, {pooling}."
    check = " and check how many of its documents are unjudged" if care else ""
    deeper = f" For deeper measures, first {pooling}." if neither else ""
    return f"For a system that was not pooled, use measures to depth {best.depth:,}{check}.{deeper}"


def draw_depths(ladder: Sequence[DepthResult]) -> None:
    """Draw a row for each depth and measure, and the rules."""
    rows = pd.DataFrame([result._asdict() for result in ladder])
    over = [f"{len(result.breaking):,} of {result.others + 1:,}" for result in ladder]
    shares = {name: rows[name].map(percent_down) for name in ("judged", "known")}
    display.table(
        rows.assign(over=over, verdict=rows["verdict"].map(VERDICTS), **shares),
        {
            "measure": "Measure",
            "verdict": "Verdict",
            "change": number("Mean change", "%.3f"),
            "worst": number("Largest change", "%.3f"),
            "over": text("Runs over a limit", help="Runs whose value or rank changes by more than a single run may."),
            "judged": text("Judged, left-out runs", help="Share of judged documents down to the measure's depth."),
            "known": text("Judged, pooled runs", help="Share of judged documents down to the measure's depth."),
        },
        alt="The results at each depth",
    )
    with st.expander("Criteria"):
        st.markdown(
            f"**Reusable** at depth k if all of these hold when each run is left out in turn:\n"
            f"- The measure changes by at most {reusability.MAX_MEAN_CHANGE:g} on average, and by at most "
            f"{reusability.MAX_CHANGE:g} for any run.\n"
            f"- No run overtakes or falls behind more than {percent(reusability.MAX_MOVED)} of the others.\n"
            f"- On average, {percent(reusability.MIN_JUDGED)} of the first k documents of a left-out run are judged, "
            f"and {percent(reusability.MIN_KNOWN)} of those of the pooled runs.\n\n"
            f"**Use with care** if at most {percent(reusability.MAX_BREACHES)} of the runs break a limit for single "
            f"runs, and all other rules hold. At least {reusability.MIN_TOPICS} topics are required."
        )


def draw_left_out(report: Reusability, measures: Sequence[str]) -> None:
    """Draw the fields of measure and grouping, a chart, the table, and the bounds if they were computed."""
    measure = st.selectbox("Measure", measures) if len(measures) > 1 else measures[0]
    is_grouped = len(set(report.groups.values())) < len(report.groups)
    alone = is_grouped and st.toggle("Leave out single runs instead of groups", False)
    rows = report.left_out_runs if alone else report.left_out
    rows = rows[rows["measure"] == measure]
    if alone or measure != measures[0]:  # otherwise it is the chart of the answer
        downloadable_chart(
            charts.left_out_chart(rows, measure),
            "left-out",
            f"Mean {measure} of each run with all judgements (pooled), and without those that only "
            f"{'it' if alone else 'its group'} contributed to the first {report.pool.depth:,} ranks (left out).",
        )
    all_columns = st.toggle("Show all columns", key="all-columns")
    display.table(
        rows if all_columns else rows.drop(columns=["group", "unique"]),
        {
            "run": "Run",
            "before": number(f"{measure}, pooled", "%.4f"),
            "after": number(f"{measure}, left out", "%.4f"),
            "change": number("Change", "%+.4f"),
            "place_before": number("Rank, pooled"),
            "place_after": number("Rank, left out"),
            "relevant": number("Unique relevant pairs", help="Relevant pairs that no other group of runs retrieved."),
            "unique": number("Unique pairs", help="Judged pairs that no other group of runs retrieved."),
            "group": "Group",
        },
        alt="Each run left out",
    )
    if report.bounds is not None:
        downloadable_chart(
            charts.bounds_chart(report.bounds[report.bounds["measure"] == measure], measure),
            "bounds",
            f"Lines: lowest to highest possible mean {measure}, over all grades that unjudged documents could have; "
            "dots: the current value.",
        )
        for note in describe_search([parse(measure)]):
            st.caption(widgets.plain(note))


def draw_topics(topics: pd.DataFrame, measure: str) -> None:
    """Draw the topics of a :class:`~collection.reusability.Reusability` by one measure."""
    if topics["without"].notna().any():
        downloadable_chart(
            charts.topics_chart(topics, measure),
            "topics",
            "Left: hard topics. Bottom: topics whose removal changes the ranking of the systems most. Larger dots: "
            "more relevant documents.",
            alt=f"Topics by mean {measure} and by their influence on the ranking of the systems",
        )
    titles = session.current().campaign.store.corpus.topics()[["query_id", "title"]]
    rows = sort_naturally(topics.merge(titles, on="query_id", how="left")).sort_values("without", kind="stable")
    rows["prevalence"] *= 100
    all_columns = st.toggle("Show all columns", key="all-columns")
    display.table(
        rows if all_columns else rows.drop(columns=["judged", "prevalence"]),
        {
            "query_id": text("Topic", 60),
            "title": text("Title", 150),
            "relevant": "Relevant",
            "mean": number(f"Mean {measure}", "%.3f", help="Mean over the systems."),
            "spread": number("Std. dev.", "%.3f", help="Standard deviation over the systems."),
            "agrees": number(
                "Tau, topic alone", "%.3f", help="Kendall's tau between the rankings by this topic and by all topics."
            ),
            "without": number(
                "Tau without topic", "%.3f", help="Kendall's tau between the rankings without this topic and by all."
            ),
            "judged": "Judged",
            "prevalence": number("Relevant (%)", "%.0f", help="Share of relevant documents among those judged."),
        },
        alt="The topics, largest influence first",
    )
