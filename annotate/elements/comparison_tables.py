"""Tables of the Compare page: the leaderboard, tests, values topic by topic, and costs."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import comparison as charts
from annotate.charts.download import downloadable_chart
from annotate.elements import display, widgets
from annotate.elements.columns import number, text
from collection import comparison
from collection.characters import without_bidi
from collection.comparison import Comparison, Evaluation
from collection.statistics import CORRECTIONS, TESTS

DIFFERENT, EQUAL = charts.OUTCOMES
BEST, LIKE_BEST, WORSE = charts.STANDINGS
_MARK_BEST = "font-weight: bold"
_MARK_LIKE_BEST = "background-color: rgba(47, 127, 209, 0.22)"
FEW_TOPICS = 10  # topics below which the page warns: one more may reverse any conclusion


def notes(compared: Comparison, measure: str) -> list[str]:
    """Caveats of a measure's conclusions, as sentences."""
    measures = set(compared.leaderboard["measure"])
    found = []
    for note in compared.notes:
        about, colon, sentence = note.partition(": ")
        named = set(about.split(", "))
        is_about_measures = bool(colon) and named <= measures
        if not is_about_measures or measure in named:
            found.append(sentence if is_about_measures else note)
    return [f"{sentence[0].upper()}{sentence[1:].rstrip('.')}." for sentence in found]


def draw_conclusions(compared: Comparison, measure: str, ranked: pd.DataFrame) -> None:
    """Draw a measure's conclusions (`ranked`: :func:`leaderboard_rows`) in words, with warnings and notes."""
    tested = set(compared.tests.loc[compared.tests["measure"] == measure, "system"])
    with st.container(border=True):
        st.write(widgets.plain(compared.sentence(measure)))
        if rival := next((system for system in ranked["system"] if system in tested), None):
            st.write(widgets.plain(compared.sentence(measure, rival)))
        if compared.topics < FEW_TOPICS:
            there = "is only 1 topic" if compared.topics == 1 else f"are only {compared.topics:,} topics"
            st.warning(f"There {there}. So few show little: one more may turn any of this round.")
    if found := notes(compared, measure):
        with st.expander(f"What to bear in mind ({len(found)})"):
            for note in found:
                st.markdown(f"- {widgets.plain(note)}")


def leaderboard_rows(compared: Comparison, measure: str) -> pd.DataFrame:
    """A measure's rows, best first, with ``standing``: a key of :data:`.STANDINGS`, empty without a direction."""
    found = compared.leaderboard[compared.leaderboard["measure"] == measure]
    found = found.sort_values(["place", "system"], na_position="last", kind="stable", ignore_index=True)
    standing = found["like_best"].map({True: LIKE_BEST, False: WORSE}).mask(found["best"], BEST)
    return found.assign(standing=standing.where(found["place"].notna(), ""))


def draw_leaderboard(compared: Comparison, measure: str, ranked: pd.DataFrame) -> None:
    """Draw systems x measures, best by `measure` first (`ranked`: :func:`leaderboard_rows`)."""
    st.subheader("Leaderboard")
    full = st.toggle("With an interval and the unjudged beside every value", key="full")
    order = ranked["system"].tolist()
    table = (_with_intervals(compared) if full else compared.table()).loc[order]
    measures = list(compared.table().columns)
    extra = {} if full else _extra_columns(ranked, confidence(compared))
    shown = display.readable(table.assign(**extra).rename_axis("system"))
    best, like = (compared.table(column).loc[order].astype(bool) for column in ("best", "like_best"))
    marks = like.replace({True: _MARK_LIKE_BEST, False: ""}).mask(best, f"{_MARK_BEST}; {_MARK_LIKE_BEST}")
    marks = marks.reindex(columns=shown.columns, fill_value="").set_axis(shown.index)
    styled = shown.style.apply(lambda _: marks, axis=None)
    if not full:
        shares = [name for name in extra if name.startswith("unjudged")]
        others = [name for name in extra if name.endswith((" from", "to", "spread of seeds"))]
        styled = styled.format("{:.4f}", subset=pd.Index([*measures, *others]), na_rep="")
        styled = styled.format("{:.0%}", subset=pd.Index(shares), na_rep="")
    display.dataframe(styled, height=display.height(shown, 528), alt="The leaderboard: systems and measures")


def confidence(compared: Comparison) -> str:
    """The confidence of its intervals: ``95%``."""
    return f"{100 * (1 - compared.alpha):g}%"


def _extra_columns(ranked: pd.DataFrame, sure: str) -> dict[str, pd.Series]:
    """Columns about the chosen measure beside the values; those without information are left out."""
    ranked = ranked.set_index("system")
    found: dict[str, pd.Series] = {}
    if ranked["low"].notna().any():
        found |= {f"{sure} from": ranked["low"], "to": ranked["high"]}
    if (ranked["standing"] != "").any():
        found["beside the best"] = ranked["standing"]
    cutoff = ranked["cutoff"].iloc[0]
    found["unjudged" if pd.isna(cutoff) else f"unjudged@{cutoff}"] = ranked["unjudged"]
    if ranked["missing_topics"].any():
        found["missing topics"] = ranked["missing_topics"]
    if (ranked["seeds"] > 1).any():
        found |= {"seeds": ranked["seeds"], "spread of seeds": ranked["spread"]}
    return found


def _with_intervals(compared: Comparison) -> pd.DataFrame:
    """Systems x measures as text, ``0.7123 (0.65 to 0.77)``, each followed by its share of unjudged documents."""
    columns: dict[str, pd.Series] = {}
    for measure, part in compared.leaderboard.groupby("measure", sort=False):
        ranked = part.set_index("system")
        values = ranked["value"].map("{:.4f}".format)
        between = " (" + ranked["low"].map("{:.2f}".format) + " to " + ranked["high"].map("{:.2f}".format) + ")"
        columns[str(measure)] = values + between.where(ranked["low"].notna(), "")
        columns[f"{measure}: unjudged"] = ranked["unjudged"].map(lambda u: "" if pd.isna(u) else f"{u:.0%}")
    return pd.DataFrame(columns)


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
        f"{tested['detectable'].min():.3f} to {tested['detectable'].max():.3f} are seen with 80% power by one "
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
