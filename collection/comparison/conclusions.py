"""Sentences about a comparison: conclusions and caveats."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pandas as pd

from collection.comparison.evaluation import Coverage, Evaluation
from collection.comparison.seed_groups import SEED_MARK, find_mistaken_seeds
from collection.core.errors import require_known
from collection.core.phrases import confidence, count, join, join_first, percent, plural, probability
from collection.measures import Measure
from collection.statistics import CORRECTIONS, TESTS

UNJUDGED_TO_SAY = 0.05
"""Smallest share of unjudged documents that is reported."""


def find_directions(tests: pd.DataFrame) -> pd.Series:
    """The sign of each row of a comparison's tests, system minus baseline: -1, 0 or 1.

    It is the sign of the tested statistic: the pseudo-median may have another sign than the mean.

    >>> ends = {"low": [0.1, -0.3], "high": [0.1, -0.1], "interval_of": ["pseudo-median", "mean"]}
    >>> find_directions(pd.DataFrame({"difference": [-0.164, -0.2], **ends})).tolist()
    [1.0, -1.0]
    """
    middle = (tests["low"] + tests["high"]).astype("float64")
    mean = tests["difference"].astype("float64")
    of = mean.where((tests["interval_of"] == "mean") | (middle == 0) | middle.isna(), middle)
    return (of > 0).astype("float64") - (of < 0)


class Notes:
    """Sentences with the measures that they concern; a sentence on all measures names none."""

    def __init__(self, measures: Iterable[str]) -> None:
        self.measures: list[str] = list(measures)
        self._measures_of: dict[str, list[str]] = {}

    def add(self, sentence: str, measure: str | None = None) -> None:
        """Add a sentence on one measure, or on all."""
        self._measures_of.setdefault(sentence, []).extend(self.measures if measure is None else [measure])

    def sentences(self) -> tuple[str, ...]:
        """Each sentence once, in the order of their first addition."""
        return tuple(
            sentence if set(measures) == set(self.measures) else f"{', '.join(measures)}: {sentence}"
            for sentence, measures in self._measures_of.items()
        )


def add_notes(
    notes: Notes,
    evaluation: Evaluation,
    runs: list[str],
    of_seeds: pd.DataFrame,
    baseline: str | None,
    tests: list[pd.DataFrame],
) -> None:
    """Add the caveats that do not come from the tests themselves."""
    if baseline is None and any(map(len, tests)):
        notes.add(
            "the baseline is the best system on these same topics, so chance may favour it; if possible, choose a "
            "baseline in advance"
        )
    if len(notes.measures) > 1 and any(map(len, tests)):
        notes.add("p-values are corrected within each measure, not across measures")
    for c in evaluation.coverage:
        if c.missing_topics:
            lacks = f"{c.run} lacks {len(c.missing_topics):,} of {count(c.topics, 'topic')}"
            notes.add(f"{lacks}; {evaluation.missing}")
    for name, rows in evaluation.unjudged.groupby("measure", sort=False):
        most = rows.iloc[int(rows["unjudged"].argmax())]
        # Whole rankings always have unjudged documents, mostly far down: their share is in the table.
        if most["unjudged"] >= UNJUDGED_TO_SAY and not pd.isna(most["cutoff"]):
            of_all = f", the most of all runs (fewest: {percent(rows['unjudged'].min())})" if len(rows) > 1 else ""
            notes.add(
                f"{percent(most['unjudged'])} of the first {most['cutoff']:,} documents of {most['run']} are "
                f"unjudged{of_all}; most measures count them as not relevant",
                str(name),
            )
    several = of_seeds[of_seeds["seeds"] > 1].drop_duplicates("system")
    for system, seeds in zip(several["system"], several["seeds"], strict=True):
        notes.add(f"{system} is the mean of {seeds:,} seeds ({system}{SEED_MARK}...), topic by topic")
    for name in find_mistaken_seeds(runs):
        notes.add(f"runs named {name}{SEED_MARK}... are not treated as seeds, because there is a run {name}")


def name_test(test: str) -> str:
    """The name of a test within a sentence.

    >>> name_test("paired-t"), name_test("wilcoxon")
    ('paired t-test', 'Wilcoxon signed-rank test')
    """
    if test not in TESTS:
        return "randomised Tukey HSD test"
    label = TESTS[test].label
    return label if test == "wilcoxon" else label[0].lower() + label[1:]


def describe_applied(test: str, smallest_p: float, alpha: float) -> str:
    """Write which test decided, and its smallest possible p if that rules out a significant difference."""
    limit = f", whose p cannot be below {smallest_p:.3g} here" if smallest_p > alpha else ""
    return f"{name_test(test)}{limit}"


def find_unmatched(coverage: Iterable[Coverage]) -> list[str]:
    """Return the systems of which no run has a judged document: their values say nothing of their rankings."""
    has_judged: dict[str, bool] = {}
    for c in coverage:
        for system in {c.run, c.run.rpartition(SEED_MARK)[0] or c.run}:
            has_judged[system] = has_judged.get(system, False) or c.unjudged < c.retrieved
    return [system for system, has in has_judged.items() if not has]


def describe_best(rows: pd.DataFrame, measure: Measure, topics: int, test: str, unmatched: Collection[str] = ()) -> str:
    """Write which system is best by one measure, and which are not significantly worse.

    `rows` are those of the measure in the leaderboard, `test` says in words which test decided. The systems `unmatched`
    without a judged document are not compared, only named.
    """
    apart = rows["system"].isin(list(unmatched))
    if apart.any() and not apart.all():
        left_out = join_first(sorted(rows.loc[apart, "system"]))
        none = f"{left_out} {plural(int(apart.sum()), 'has', 'have')} no judged document: do the ids match?"
        return f"{describe_best(rows[~apart], measure, topics, test)} {none}"
    over = count(topics, "topic")
    best = rows[rows["best"]]
    if best.empty:
        return f"{measure} has no preferred direction; choose a baseline ({over})."
    word = "highest" if measure.direction > 0 else "lowest"
    has = plural(len(best), "has", "have")
    start = f"{join(best['system'])} {has} the {word} {measure.phrase} ({_shorten(best['value'].iloc[0])} over {over})"
    others = rows[~rows["best"]].sort_values(["place", "system"], kind="stable")
    if others.empty or topics < 2:  # one topic cannot be tested
        return f"{start}."
    alike = others.loc[others["like_best"], "system"].tolist()
    more = f"significantly {word.replace('est', 'er')} than"
    by = f" ({test})" if test else ""
    if not alike:
        return f"{start}, {more} {others['system'].iloc[0] if len(others) == 1 else 'every other system'}{by}."
    return f"{start}, but not {more} {join_first(alike)}{by}."


def describe_test(tests: pd.DataFrame, measure: Measure, system: str, *, correction: str, alpha: float) -> str:
    """Write how a system differs from its baseline by one measure, with the test."""
    rows = tests[tests["measure"] == str(measure)]
    require_known("tested system", set(rows["system"]), system)
    row = rows[rows["system"] == system].iloc[0]
    # The correction of a single comparison changes nothing.
    corrected = "" if correction == "none" or len(rows) == 1 else f" after {CORRECTIONS[correction].label} correction"
    each = "" if measure.entry.summary == "mean" else " per topic on average"
    by = f"{_shorten(abs(row['difference']))} {measure.phrase}{each}"
    less = ", where lower is better" if measure.direction < 0 else ""
    of = "" if row["interval_of"] == "mean" else f" of the {row['interval_of']}"
    verdict = "significant" if row["significant"] else "not significant"
    start = (
        f"{system} and {row['baseline']} have the same {measure.phrase}"
        if row["difference"] == 0
        else f"{system} is {by} {'above' if row['difference'] > 0 else 'below'} {row['baseline']}{less}"
    )
    other_way = (
        row["significant"] and float(find_directions(rows[rows["system"] == system]).iloc[0]) * row["difference"] < 0
    )
    side = "below" if row["difference"] > 0 else "above"
    contrary = f", but in the opposite direction: by the {row['interval_of']} it is {side}" if other_way else ""
    interval = f"{confidence(alpha)} CI{of} {_shorten(row['low'], '+')} to {_shorten(row['high'], '+')}"
    if pd.isna(row["low"]):
        interval = f"no {confidence(alpha)} CI: too few topics"
    p = f"p {probability(row['p_adjusted'], equals='= ')}{corrected}"
    return f"{start}: {verdict}{contrary} ({name_test(row['test'])}: {p}; {interval})."


def describe_power(tests: pd.DataFrame, measure: str) -> str:
    """Write which differences from the baseline are detectable by one measure; empty if that is unknown."""
    # If every topic has the same difference, the spread of 0 does not show which difference is detectable.
    rows = tests[(tests["measure"] == measure) & (tests["detectable"] > 0)]
    if rows.empty:
        return ""
    low, high = _shorten(rows["detectable"].min()), _shorten(rows["detectable"].max())
    sizes = f"a difference of {low}" if low == high else f"differences of {low} to {high}, depending on the system,"
    is_ = "is" if low == high else "are"
    return (
        f"With {count(int(rows['topics'].iloc[0]), 'topic')}, {sizes} {is_} detectable with 80% power (paired t-test, "
        "uncorrected)."
    )


def _shorten(value: float, sign: str = "") -> str:
    """A number in a sentence: three decimals, or the first digit of a smaller one.

    >>> _shorten(0.75263), _shorten(-0.0811, "+"), _shorten(0.00012), _shorten(0.0)
    ('0.753', '-0.081', '0.0001', '0.000')
    """
    return f"{value:{sign}.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:{sign}.1g}"
