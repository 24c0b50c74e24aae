"""Estimates of the values that runs would have if all pairs of the pool were judged, apart from plain values.

The columns, tables and sentences name every number an estimate, so that it cannot pass for a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection.comparison.evaluation import find_measure
from collection.comparison.leaderboard import NOISE
from collection.comparison.seed_groups import group_seeds
from collection.comparison.tables import escaped_latex, write_latex, write_markdown
from collection.core.arrays import Floats
from collection.core.display import Displayed, Summary
from collection.core.errors import require_known
from collection.core.frames import ESTIMATED_STANDINGS
from collection.core.phrases import confidence, count, decimal, percent, plural
from collection.core.records import ALL_TOPICS
from collection.measures import Measure, parse

if TYPE_CHECKING:
    import altair as alt

ESTIMATED = ("run", "query_id", "measure", "estimate", "estimate_low", "estimate_high")
ORDERED = ("system_a", "system_b", "measure", "difference_estimate", "difference_low", "difference_high",
           "probability_better", "probability_equal")  # fmt: skip
ORDER_FIRST = (
    "rely on the order of systems more than on the values: in replays on known judgements, probabilities of the order "
    "held, but values were often outside their ranges (see `cleverdon docs explanation/unjudged`)"
)
NO_TESTS = (
    "there are no significance tests: a test over topics would treat estimates as values and understate the "
    "uncertainty; the probabilities concern these topics only"
)


class EstimatedPool(NamedTuple):
    """The pairs whose grades estimates rest on."""

    topics: int
    judged: int
    unjudged: int
    """Number of pairs whose grades are drawn."""
    basis: str
    """What the model of the grades reads, as in "a model of the judged pairs and the ranks"."""
    origin: str
    """Which pairs the pool has, as in "the pool has ..."."""

    @property
    def pairs(self) -> int:
        """Number of all pairs."""
        return self.judged + self.unjudged


@dataclass(frozen=True, repr=False)
class Estimates(Displayed):
    """Estimated values of several runs; a console or notebook shows the means and the notes.

    Attributes
    ----------
    values
        ``run``, ``query_id``, ``measure``, ``estimate``, ``estimate_low``, ``estimate_high``: one row per run, measure
        and topic, then one with the query_id ``all``, as in :class:`.Evaluation`. The estimate is the mean over the
        draws of the unjudged grades, the range holds the share 1 - alpha of the draws. It is about the unjudged grades,
        not about the choice of topics, and no confidence interval: it leaves out errors of the model.
    pairs
        A row per measure and pair of systems, the one with the better estimate first: ``system_a``, ``system_b``,
        ``measure``, ``difference_estimate`` (a minus b), ``difference_low``, ``difference_high``,
        ``probability_better`` (that a is better than b on these topics once all pairs are judged: the share of draws),
        ``probability_equal``.
    pool
        The pairs: judged and unjudged.
    notes
        Caveats in sentences.
    """

    values: pd.DataFrame
    pairs: pd.DataFrame
    pool: EstimatedPool
    alpha: float
    draws: int
    notes: tuple[str, ...]

    def table(self, column: str = "estimate") -> pd.DataFrame:
        """Runs x measures of a column of `values`, over all topics and in the given order."""
        rows = self.values[self.values["query_id"] == ALL_TOPICS]
        wide = rows.pivot(index="run", columns="measure", values=column)
        return wide.loc[rows["run"].drop_duplicates(), rows["measure"].drop_duplicates()]

    def per_topic(self) -> pd.DataFrame:
        """The rows of single topics."""
        return self.values[self.values["query_id"] != ALL_TOPICS].reset_index(drop=True)

    def order(self, measure: str | None = None) -> list[str]:
        """The systems, best estimate first, by a measure or by the first one."""
        table = self.table()
        name = table.columns[0] if measure is None else measure
        require_known("measure", table.columns, name)
        worth = (table[name] * parse(name).direction).round(12)
        return [str(system) for system in worth.sort_values(ascending=False, kind="stable").index]

    def against(self, measure: str, baseline: str | None = None) -> pd.DataFrame:
        """The other systems compared with one, by default the best: ``system``, ``baseline``, then as in `pairs`.

        Differences are system minus baseline, ``probability_better`` is that of the system.

        Raises
        ------
        UnknownNameError
            There is no such measure or system.
        """
        order = self.order(measure)
        baseline = order[0] if baseline is None else baseline
        require_known("system", order, baseline)
        rows = self.pairs[self.pairs["measure"] == measure]
        first, second = rows[rows["system_a"] == baseline], rows[rows["system_b"] == baseline]
        turned = first.rename(columns={"system_b": "system", "system_a": "baseline"}).assign(
            difference_estimate=-first["difference_estimate"],
            difference_low=-first["difference_high"],
            difference_high=-first["difference_low"],
            probability_better=1 - first["probability_better"] - first["probability_equal"],
        )
        both_ways = pd.concat([second.rename(columns={"system_a": "system", "system_b": "baseline"}), turned])
        return both_ways[["system", "baseline", *ORDERED[2:]]].reset_index(drop=True)

    def standings(self, measure: str) -> pd.DataFrame:
        """Rank the runs by a measure, best first: ``system``, ``estimate``, ``low``, ``high`` and ``standing``.

        ``standing`` is one of :data:`.ESTIMATED_STANDINGS`: "best estimate", "worse than the best"
        (with a probability of at least 1 - alpha) or "undecided".
        """
        highest, uncertain, lower = ESTIMATED_STANDINGS
        rows = self.values[(self.values["query_id"] == ALL_TOPICS) & (self.values["measure"] == measure)]
        rows = rows.set_index("run").loc[self.order(measure)].rename_axis("system").reset_index()
        rows = rows.rename(columns={"estimate_low": "low", "estimate_high": "high"})
        against = self.against(measure).set_index("system")
        worse = 1 - against["probability_better"] - against["probability_equal"]
        standing = worse.ge(1 - self.alpha - 1e-9).map({True: lower, False: uncertain})
        return rows.assign(standing=rows["system"].map(standing).fillna(highest))

    def chart(self, measure: str | None = None) -> alt.LayerChart:
        """Draw the estimate of each run with its range, for `measure` or the first measure."""
        from collection.charts.intervals import estimates_chart
        from collection.charts.marks import WIDTH

        names = self.table().columns
        name = names[0] if measure is None else find_measure(names, measure)
        return estimates_chart(self.standings(name), name).properties(width=WIDTH)

    @property
    def lowest_probability(self) -> float:
        """Smallest probability that is shown: half a draw, or 0 if all pairs of the pool are judged."""
        return 0.5 / self.draws if self.pool.unjudged else 0.0

    @property
    def about(self) -> str:
        """Name of the numbers, for the place where they are shown."""
        pool = self.pool
        pairs = f"{pool.judged:,} of {count(pool.pairs, 'pair')} of the pool {_are(pool.judged)} judged"
        topics = count(pool.topics, "topic")
        if not pool.unjudged:
            return f"Estimates for {topics} with a complete pool: {pairs}, so the estimates equal the values."
        others = f"the {plural(pool.unjudged, 'grade', 'grades')} of the other {pool.unjudged:,}"
        share = confidence(self.alpha)
        return (
            f"Estimates for {topics}: {pairs}; {others} {_are(pool.unjudged)} drawn from a model of {pool.basis}. "
            f"Ranges hold {share} of the draws: they concern the unjudged grades, not the choice of topics, and were "
            "too narrow in replays."
        )

    def sentence(self, measure: str) -> str:
        """Write which system has the best estimate by `measure`, and how probably the next one is worse."""
        order = self.order(measure)
        word = "highest" if parse(measure).direction > 0 else "lowest"
        best = self.values[(self.values["run"] == order[0]) & (self.values["query_id"] == ALL_TOPICS)]
        row = best[best["measure"] == measure].iloc[0]
        start = f"{order[0]} has the {word} expected {measure}: {with_range(row, 'estimate', 3)}"
        over = f"{start}, over {count(self.pool.topics, 'topic')}."
        others = self.against(measure)
        if others.empty:
            return over
        # The rival is the system that is worse with the smallest probability.
        others = others.assign(worse=1 - others["probability_better"] - others["probability_equal"])
        rival = others.iloc[int(others["worse"].argmin())]
        return f"{over} The probability that it is better than {rival['system']} is {self.chance(rival['worse'])}."

    def chance(self, share: float) -> str:
        """Write a share of draws as a probability, which only a complete pool makes certain."""
        return percent(min(max(share, self.lowest_probability), 1 - self.lowest_probability))

    def to_latex(self, digits: int = 4) -> str:
        r"""Write a table for a paper, best estimate first; the document needs ``\usepackage{booktabs}``."""
        return write_latex(*self._cells(digits, lambda text: rf"\textbf{{{text}}}"), escaped_latex(self._caption))

    def to_markdown(self, digits: int = 4) -> str:
        """Write a pipe table, best estimate first, with the caption below it."""
        return write_markdown(*self._cells(digits, lambda text: f"**{text}**"), self._caption)

    @property
    def _caption(self) -> str:
        return f"{self.about} Best estimate in bold."

    def _cells(self, digits: int, bold: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
        tables = [self.table(column) for column in ESTIMATED[3:]]
        best = {name: tables[0][name].loc[self.order(str(name))[0]] for name in tables[0]}

        def cell(system: str, name: str) -> str:
            estimate, low, high = (float(table[name].loc[system]) for table in tables)
            shown = decimal(estimate, digits)
            marked = bold(shown) if estimate == best[name] else shown
            return f"{marked} ({decimal(low, digits)} to {decimal(high, digits)})"

        names = [str(name) for name in tables[0]]
        header = ["System", *(f"{name} (estimate, {confidence(self.alpha)} of draws)" for name in names)]
        return header, [[system, *(cell(system, name) for name in names)] for system in self.order()]

    def _summary(self) -> Summary:
        table = self.table().rename(columns=lambda name: f"{name} (estimate)")
        lines = [*map(self.sentence, self.table().columns), self.about]
        return Summary(lines, table, self.notes, "values (ranges), per_topic(), pairs (probabilities), chart()")


def with_range(row: pd.Series, what: str, digits: int = 4) -> str:
    """Write an estimate with the range of its draws; `what` is "estimate" or "difference".

    >>> row = pd.Series({"estimate": 0.5, "estimate_low": 0.25, "estimate_high": 0.75})
    >>> with_range(row, "estimate", 2)
    'estimate 0.50 (0.25 to 0.75)'
    """
    middle = row["estimate" if what == "estimate" else "difference_estimate"]
    low, high = row[f"{what}_low"], row[f"{what}_high"]
    return f"estimate {decimal(middle, digits)} ({decimal(low, digits)} to {decimal(high, digits)})"


def summarise_draws(
    runs: Sequence[str],
    topics: Sequence[str],
    drawn: Mapping[Measure, Floats],
    pool: EstimatedPool,
    *,
    alpha: float = 0.05,
    separate_seeds: bool = False,
    notes: Iterable[str] = (),
) -> Estimates:
    """Summarise values on draws of the unjudged grades.

    Parameters
    ----------
    runs, topics
        R and T names.
    drawn
        For each measure the values (R, draws, T).
    alpha
        Ranges hold the share 1 - alpha of the draws.
    separate_seeds
        Treat runs named ``name#1``, ``name#2`` as separate systems, not as seeds of one with their mean.

    Examples
    --------
    Two draws, in which the runs have the values 0 and 1, and 0.5 twice:

    >>> from collection.measures import parse
    >>> drawn = {parse("RR"): np.array([[[0.0], [1.0]], [[0.5], [0.5]]])}
    >>> found = summarise_draws(["a", "b"], ["1"], drawn, EstimatedPool(1, 1, 1, "the ranks", ""), alpha=0.5)
    >>> found.values.loc[0, ["estimate", "estimate_low", "estimate_high"]].tolist()
    [0.5, 0.25, 0.75]
    >>> float(found.pairs.loc[0, "probability_better"])
    0.5
    """
    groups = {run: [run] for run in runs} if separate_seeds else group_seeds(runs)
    members = [[runs.index(run) for run in of_system] for of_system in groups.values()]
    systems, values, pairs = list(groups), [], []
    for measure, of_runs in drawn.items():
        means = summarise_topics(measure, of_runs)
        overall = np.array([means[rows].mean(axis=0) for rows in members])
        per_topic = np.array([of_runs[rows].mean(axis=0) for rows in members])
        for system, of_all, of_topics in zip(systems, overall, per_topic, strict=True):
            columns = _describe(np.column_stack([of_topics, of_all]), alpha)
            keys = {"run": system, "query_id": [*topics, ALL_TOPICS], "measure": str(measure)}
            values.append(pd.DataFrame(keys | dict(zip(ESTIMATED[3:], columns, strict=True))))
        pairs += _pairs(systems, overall, measure, alpha)
    table = pd.concat(values, ignore_index=True)
    # As in an evaluation: all measures of a run, then the next run.
    place = table["run"].map({system: n for n, system in enumerate(systems)})
    table = table.iloc[place.argsort(kind="stable").to_numpy()].reset_index(drop=True)
    said = [*notes, *([ORDER_FIRST] if pool.unjudged else []), *([NO_TESTS] if len(systems) > 1 else [])]
    said += [
        f"{system} is the mean of {count(len(of_system), 'seed')} ({system}#...), topic by topic"
        for system, of_system in groups.items()
        if len(of_system) > 1
    ]
    draws = max(of_runs.shape[1] for of_runs in drawn.values())
    return Estimates(table, pd.DataFrame(pairs, columns=list(ORDERED)), pool, alpha, draws, tuple(said))


def summarise_topics(measure: Measure, drawn: Floats) -> Floats:
    """Summarise the values (R, draws, T) of R runs over the T topics, usually by their mean: (R, draws)."""
    return np.array([[measure.summarise(draw) for draw in of_run] for of_run in drawn])


def _describe(drawn: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Mean and range of each column of (draws, n); a column of equal draws has exactly their value."""
    low, high = np.quantile(drawn, [alpha / 2, 1 - alpha / 2], axis=0)
    same = drawn.min(axis=0) == drawn.max(axis=0)
    return np.where(same, drawn[0], drawn.mean(axis=0)), low, high


def _pairs(systems: list[str], overall: Floats, measure: Measure, alpha: float) -> list[tuple[object, ...]]:
    """Rows of :data:`ORDERED`, from the values (systems, draws)."""
    way = measure.direction
    estimates = _describe(overall.T, alpha)[0]
    order = np.argsort(-way * estimates.round(12), kind="stable")
    noise = NOISE * max(1.0, float(np.abs(overall).max(initial=0)))
    rows = []
    for a, b in combinations(order, 2):
        difference = np.where(np.abs(overall[a] - overall[b]) <= noise, 0.0, overall[a] - overall[b])
        numbers = [float(number[0]) for number in _describe(difference[:, None], alpha)]
        better, equal = float((way * difference > 0).mean()), float((difference == 0).mean())
        rows.append((systems[a], systems[b], str(measure), *numbers, better, equal))
    return rows


def _are(number: int) -> str:
    return plural(number, "is", "are")
