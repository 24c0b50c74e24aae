"""The Compare page's answer and tables: the leaderboard, tests, values per topic, and costs."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.results import comparison_charts as charts
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from collection import comparison
from collection.charts.intervals import OUTCOMES, differences_chart, means_chart
from collection.comparison import STANDINGS, Comparison, Evaluation, describe_power
from collection.core.characters import without_bidi
from collection.core.phrases import confidence, count, percent, plural, sentence
from collection.statistics import CORRECTIONS, TESTS

DIFFERENT, EQUAL = OUTCOMES
BEST, LIKE_BEST, WORSE = STANDINGS
_MARK_BEST = "font-weight: bold"
_MARK_LIKE_BEST = "background-color: rgba(47, 127, 209, 0.22)"
FEW_TOPICS = 10  # topics below which the page warns: one more could reverse any conclusion


def notes(compared: Comparison, measure: str) -> list[str]:
    """Caveats of a measure's conclusions, as sentences."""
    measures = set(compared.leaderboard["measure"])
    chosen = []
    for note in compared.notes:
        about, colon, rest = note.partition(": ")
        named = set(about.split(", "))
        is_about_measures = bool(colon) and named <= measures
        if not is_about_measures or measure in named:
            chosen.append(rest if is_about_measures else note)
    return [sentence(note) for note in chosen]


def draw_answer(
    compared: Comparison, measure: str, ranked: pd.DataFrame, topics: str, unjudged: str = "documents"
) -> None:
    """Draw a measure's conclusion in words, numbers and a chart, with notes; `ranked` are its standings.

    `unjudged` says what may be unjudged: documents or labels.
    """
    tested = set(compared.tests.loc[compared.tests["measure"] == measure, "system"])
    st.markdown(f"#### {widgets.plain(compared.sentence(measure))}")
    if rival := next((system for system in ranked["system"] if system in tested), None):
        st.write(widgets.plain(compared.sentence(measure, rival)))
    if compared.topics < FEW_TOPICS:
        few = f"There {plural(compared.topics, 'is', 'are')} only {count(compared.topics, 'topic')}."
        st.warning(f"{few} One more topic could reverse any of these conclusions.")
    numbers = {"Systems": f"{len(ranked):,}", "Topics": topics}
    if best := ranked.loc[ranked["best"], "value"].tolist():
        numbers[f"{'Highest' if compared.evaluation.measures[measure].direction > 0 else 'Lowest'} {measure}"] = (
            f"{best[0]:.3f}"
        )
        if tested:
            worse = int((ranked["standing"] == WORSE).sum())
            numbers["Significantly worse than best"] = f"{worse:,} of {len(ranked) - len(best):,}"
    if ranked["unjudged"].notna().any():
        numbers[_unjudged(ranked, unjudged)] = percent(ranked["unjudged"].mean())
    widgets.metrics(numbers)
    downloadable_chart(
        means_chart(ranked, compared.evaluation.measures[measure]),
        "means",
        f"Mean {measure} over {count(compared.topics, 'topic')} with {confidence(compared.alpha)} confidence "
        "intervals.",
        alt=f"Mean {measure} of each system",
    )
    if caveats := notes(compared, measure):
        with st.expander(f"Notes ({len(caveats)})"):
            for note in caveats:
                st.markdown(f"- {widgets.plain(note)}")
            widgets.documentation_link("explanation/significance", "How systems are tested")


def _unjudged(ranked: pd.DataFrame, what: str) -> str:
    """The label of the share of unjudged documents or labels, with its cut-off if the measure has one."""
    cutoff = ranked["cutoff"].iloc[0]
    return f"Unjudged {what}, mean" if pd.isna(cutoff) else f"Unjudged in top {cutoff}, mean"


UNJUDGED = "Share of unjudged documents in the ranks that the measure reads. Most measures count them as not relevant."


def draw_leaderboard(compared: Comparison, measure: str, ranked: pd.DataFrame, hint: str = UNJUDGED) -> None:
    """Draw systems x measures, best by `measure` first; `ranked` are its standings, `hint` explains unjudged shares."""
    full = st.toggle(
        f"Show {confidence(compared.alpha)} confidence intervals and unjudged shares", key="full", help=hint
    )
    order = ranked["system"].tolist()
    table = (_with_intervals(compared) if full else compared.table()).loc[order]
    measures = list(compared.table().columns)
    extra = _extra_columns(ranked, full)
    shown = display.readable(table.assign(**extra).rename_axis("System"))
    best, like = (compared.table(column).loc[order].astype(bool) for column in ("best", "like_best"))
    marks = like.replace({True: _MARK_LIKE_BEST, False: ""}).mask(best, f"{_MARK_BEST}; {_MARK_LIKE_BEST}")
    marks = marks.reindex(columns=shown.columns, fill_value="").set_axis(shown.index)
    styled = shown.style.apply(lambda _: marks, axis=None)
    decimals = [name for name in (*([] if full else measures), "Seeds, std. dev.") if name in shown]
    styled = styled.format("{:.4f}", subset=pd.Index(decimals), na_rep="")
    height = display.height(shown, 528)
    display.dataframe(styled, height=height, alt="The leaderboard: systems and measures")
    st.caption(f"Bold: best value. Shaded: not significantly different from the best (level {compared.alpha:g}).")
    widgets.documentation_link("how-to/evaluate-and-compare", "How to evaluate and compare systems")


def _extra_columns(ranked: pd.DataFrame, full: bool) -> dict[str, pd.Series]:
    """Columns about the chosen measure beside the values; those without information are left out."""
    ranked = ranked.set_index("system")
    columns: dict[str, pd.Series] = {}
    if full and (ranked["standing"] != "").any():
        columns["vs. best"] = ranked["standing"]
    if ranked["missing_topics"].any():
        columns["Missing topics"] = ranked["missing_topics"]
    if (ranked["seeds"] > 1).any():
        columns |= {"Seeds": ranked["seeds"], "Seeds, std. dev.": ranked["spread"]}
    return columns


def _with_intervals(compared: Comparison) -> pd.DataFrame:
    """Systems x measures as text, ``0.7123 (0.65 to 0.77)``, each followed by its share of unjudged documents."""
    columns: dict[str, pd.Series] = {}
    for measure, part in compared.leaderboard.groupby("measure", sort=False):
        ranked = part.set_index("system")
        values = ranked["value"].map("{:.4f}".format)
        between = " (" + ranked["low"].map("{:.2f}".format) + " to " + ranked["high"].map("{:.2f}".format) + ")"
        columns[str(measure)] = values + between.where(ranked["low"].notna(), "")
        columns[f"{measure}: unjudged"] = ranked["unjudged"].map(lambda u: "" if pd.isna(u) else percent(u))
    return pd.DataFrame(columns)


def draw_tests(compared: Comparison, tests: pd.DataFrame, measure: str, correction: str) -> None:
    """Draw tests by one measure: against a baseline with `correction`, or of every two systems."""
    sure = confidence(compared.alpha)
    tested = tests[tests["measure"] == measure].sort_values("difference", ascending=False, ignore_index=True)
    tested = tested.assign(outcome=tested["significant"].map({True: DIFFERENT, False: EQUAL}))
    if "system_a" in tested:
        different = int(tested["significant"].sum())
        pairs = count(len(tested), "pair")
        st.write(f"{different:,} of {pairs} of systems differ significantly by {widgets.plain(measure)}.")
        _tests_table(tested, sure)
        st.caption("p-values and confidence intervals are adjusted for all pairs together.")
        return
    than, has_intervals = str(tested["baseline"].iloc[0]), bool(tested["low"].notna().any())
    lines = f"Lines: {sure} confidence intervals without correction; colours" if has_intervals else "Colours"
    downloadable_chart(
        differences_chart(tested, compared.evaluation.measures[measure], than),
        "tests",
        f"Difference in mean {measure} from {than}. {lines} and shapes: results after correction.",
        alt=f"Differences in {measure} from {than}",
    )
    _tests_table(tested, sure)
    if not has_intervals:
        st.caption(f"There are no {sure} confidence intervals: {count(compared.topics, 'topic')} are too few for them.")
    adjusted = f", p-values adjusted for {count(len(tested), 'comparison')} by {CORRECTIONS[correction].label}"
    st.caption(
        f"{TESTS[tested['test'].iloc[0]].label}{'' if correction == 'none' else adjusted}. "
        f"{describe_power(tested, measure)}"
    )


def draw_tests_or_reason(
    compared: Comparison, tests: pd.DataFrame, measure: str, correction: str, systems: int, topics: int
) -> None:
    """Draw tests as :func:`draw_tests` does, or why there are none."""
    if measure in set(tests["measure"]):
        draw_tests(compared, tests, measure, correction)
    elif systems < 2:
        st.write("A test needs two systems. Import another one.")
    elif topics < 2:
        st.write("A test needs two topics; only one has judgements.")
    else:
        st.write(f"{widgets.plain(measure)} has no preferred direction, so no system is best. Choose a baseline.")


def _tests_table(rows: pd.DataFrame, sure: str) -> None:
    effect = "Cohen's d of paired values: mean of the differences divided by their standard deviation."
    all_columns = st.toggle("Show all columns", key="all-columns")
    more = ["wins", "ties", "losses", *(["p"] if "p_adjusted" in rows else ["effect"])]
    rows = rows if rows["low"].notna().any() else rows.drop(columns=["low", "high"])
    display.table(
        rows if all_columns else rows.drop(columns=more),
        {
            "system": "System",
            "system_a": "System A",
            "system_b": "System B",
            "difference": number("Mean difference", "%+.4f"),
            "low": number(f"{sure} CI low", "%+.4f"),
            "high": number(f"{sure} CI high", "%+.4f"),
            "p": number("p", "%.4g"),
            "p_adjusted": number("Adjusted p", "%.4g"),
            "outcome": "Result",
            "effect": number("Effect size", "%.2f", help=effect),
            "wins": number("Topics won", "%d"),
            "ties": number("Topics tied", "%d"),
            "losses": number("Topics lost", "%d"),
        },
        most_height=388,
        alt="Differences with their tests",
    )


def draw_values(
    evaluation: Evaluation,
    measure: str,
    topics: Sequence[str],
    order: Sequence[str],
    members: Mapping[str, Sequence[str]] = {},
    explain: Callable[[str, str], object] | None = None,
) -> None:
    """Draw topics x systems; `members` are the runs of each system, `explain` takes a run and a topic."""
    titles = session.current().campaign.store.corpus.topics().set_index("query_id")["title"]
    values = evaluation.per_topic()
    values = values[values["measure"] == measure]
    table = values.pivot(index="query_id", columns="run", values="value").loc[list(topics), list(order)]
    # The titles go into the index: a run may have the name of any other column.
    table.index = pd.Index([f"{query_id}: {titles[query_id]}" for query_id in table.index], name=f"{measure} by topic")
    config = {system: number(system, "%.3f") for system in order}
    display.dataframe(table, column_config=config, alt=f"{measure} of each system in each topic")
    if explain is None:
        return
    with st.expander("Calculation of one value"):
        left, right = st.columns(2)
        run = left.selectbox("Run", [name for system in order for name in members[system]], format_func=without_bidi)
        query_id = right.selectbox("Topic", topics, format_func=lambda q: without_bidi(f"{q}: {titles[q]}"))
        st.code(without_bidi(str(explain(run, query_id))), language=None, wrap_lines=True)


def draw_costs(evaluation: Evaluation, measure: str, order: Sequence[str]) -> None:
    """Draw the field of the cost, the Pareto frontier, and all costs of the systems in this order."""
    known = evaluation.costs
    if known is None:
        return
    if costs := comparison.number_costs(known):
        cost = st.selectbox("Cost", costs, format_func=lambda c: without_bidi(charts.cost_title(c)), key="cost")
        title = charts.cost_title(cost)
        frontier = comparison.frontier(evaluation.means(), known, measure, cost, evaluation.measures[measure].direction)
        frontier["place"] = frontier["dominated"].map({False: "not dominated", True: "dominated"})
        downloadable_chart(
            charts.frontier_chart(frontier, measure, cost),
            "frontier",
            f"{len(frontier):,} of {count(len(order), 'system')} have this cost; the line joins the "
            f"{int((~frontier['dominated']).sum()):,} that are not dominated. A system is dominated if another is at "
            "least as good and as cheap, and better in one of the two.",
            alt=f"{measure} against {title}",
        )
        numbers = {"value": number(measure, "%.4f"), "cost": number(title, "%.6g")}
        columns: display.Columns = {"system": "System", **numbers, "by": text("Dominated by", "large")}
        display.table(frontier, columns, most_height=388, alt="Systems, their cost, and which system dominates them")
    st.caption("All costs")
    display.dataframe(known.loc[list(order)], alt="Costs of the systems")
