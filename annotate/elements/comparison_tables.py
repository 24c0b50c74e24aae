"""Tables of the Compare page besides the leaderboard: tests, values topic by topic, and costs."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import comparison as charts
from annotate.charts.download import downloadable_chart
from annotate.elements import display
from annotate.elements.columns import number, text
from annotate.elements.leaderboard_table import confidence
from collection import comparison
from collection.characters import without_bidi
from collection.comparison import Comparison, Evaluation
from collection.statistics import CORRECTIONS, TESTS

DIFFERENT, EQUAL = charts.OUTCOMES


def draw_tests(found: Comparison, tests: pd.DataFrame, measure: str, test: str, correction: str) -> None:
    """Draw tests by one measure: against a baseline by `test` and `correction`, or of every two systems."""
    sure = confidence(found)
    tested = tests[tests["measure"] == measure].sort_values("difference", ascending=False, ignore_index=True)
    tested = tested.assign(outcome=tested["significant"].map({True: DIFFERENT, False: EQUAL}))
    if "system_a" in tested:
        different = int(tested["significant"].sum())
        st.write(f"{different:,} of {len(tested):,} pairs of systems are different by {measure}.")
        _tests_table(tested, sure)
        st.caption("p counts all pairs; the intervals hold for all of them together.")
        return
    than = str(tested["baseline"].iloc[0])
    downloadable_chart(
        charts.differences_chart(tested, measure, than),
        "tests",
        f"How far the mean {measure} of each system is above or below that of {than}, with {sure} intervals, each "
        "of its own. Orange diamond: different, after the correction. Blue circle: may be equal.",
        alt=f"Differences in {measure} from {than}",
    )
    _tests_table(tested, sure)
    st.caption(
        f"{TESTS[test].label} over {found.topics:,} topics; p adjusted for the {len(tested):,} comparisons by "
        f"{CORRECTIONS[correction].label}. With so many topics, differences of "
        f"{tested['detectable'].min():.3f} to {tested['detectable'].max():.3f} are seen with 80 % power by one "
        "uncorrected paired t test, depending on how much the two vary from topic to topic."
    )


def _tests_table(rows: pd.DataFrame, sure: str) -> None:
    effect = "Cohen's d of paired values: mean of the differences by their spread."
    display.table(
        rows,
        {
            "system": "System",
            "baseline": "Minus",
            "system_a": "System",
            "system_b": "Minus",
            "difference": number("Difference", "%+.4f"),
            "low": number(f"{sure} from", "%+.4f"),
            "high": number("to", "%+.4f"),
            "effect": number("Effect", "%.2f", help=effect),
            "p": number("p", "%.4f"),
            "p_adjusted": number("p, adjusted", "%.4f"),
            "outcome": "They are",
            "wins": number("Topics won", "%d"),
            "ties": number("equal", "%d"),
            "losses": number("lost", "%d"),
        },
        most_height=388,
        alt="Differences with their tests",
    )


def draw_values(
    evaluation: Evaluation,
    measure: str,
    topics: Sequence[str],
    order: Sequence[str],
    members: Mapping[str, Sequence[str]],
    explain: Callable[[str, str], object],
) -> None:
    """Draw topics x systems; `members` are the runs of each system, `explain` takes a run and a topic."""
    titles = session.current().campaign.corpus.topics().set_index("query_id")["title"]
    st.caption(f"{measure} of each system, topic by topic.")
    values = evaluation.per_topic()
    values = values[values["measure"] == measure]
    table = values.pivot(index="query_id", columns="run", values="value").loc[list(topics), list(order)]
    # The titles go into the index: a run may have the name of any other column.
    table.index = pd.Index([f"{query_id}: {titles[query_id]}" for query_id in table.index], name="topic")
    config = {system: number(system, "%.3f") for system in order}
    display.dataframe(table, column_config=config, alt=f"{measure} of each system in each topic")
    with st.expander("Show the calculation of one value"):
        left, right = st.columns(2)
        run = left.selectbox("Run", [name for system in order for name in members[system]], format_func=without_bidi)
        query_id = right.selectbox("Topic", topics, format_func=lambda q: without_bidi(f"{q}: {titles[q]}"))
        st.code(without_bidi(str(explain(run, query_id))), language=None)


def draw_costs(evaluation: Evaluation, measure: str, order: Sequence[str]) -> None:
    """Draw the field of the cost, the frontier, and all costs of the systems in this order."""
    known = evaluation.costs
    if known is None:
        return
    if costs := comparison.number_costs(known):
        cost = st.selectbox("Cost", costs, format_func=lambda c: without_bidi(charts.cost_title(c)), key="cost")
        title = charts.cost_title(cost)
        frontier = comparison.frontier(evaluation.means(), known, measure, cost)
        frontier["place"] = frontier["dominated"].map({False: "worth its cost", True: "dominated"})
        downloadable_chart(
            charts.frontier_chart(frontier, measure, cost),
            "frontier",
            f"Mean {measure} against {title}. Orange diamonds: no other system is as good and as "
            "cheap, and better in one of both; the line joins them. Grey: dominated by such a system. "
            f"{len(frontier):,} of {len(order):,} systems have this cost, "
            f"{int((~frontier['dominated']).sum()):,} are not dominated.",
            alt=f"{measure} against {title}",
        )
        numbers = {"value": number(measure, "%.4f"), "cost": number(title, "%.6g")}
        columns: display.Columns = {"system": "System", **numbers, "by": text("Dominated by", "large")}
        display.table(frontier, columns, most_height=388, alt="Systems, what they cost, and who dominates them")
    st.caption("All that is known of what the systems cost:")
    display.dataframe(known.loc[list(order)], alt="Costs of the systems")
