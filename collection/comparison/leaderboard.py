"""The leaderboard: the best system by each measure, and those that are not significantly different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection.comparison.conclusions import (
    Notes,
    add_notes,
    describe_applied,
    describe_best,
    describe_test,
    find_directions,
    find_unmatched,
    name_test,
)
from collection.comparison.evaluation import Evaluation, find_measure
from collection.comparison.seed_groups import merge_seeds
from collection.comparison.tables import escaped_latex, write_latex, write_markdown
from collection.comparison.topics import differences
from collection.core.arrays import Floats, Ints
from collection.core.display import Displayed, Summary
from collection.core.errors import InputError, UnknownNameError, require_known
from collection.core.frames import STANDINGS as STANDINGS  # noqa: PLC0414  # the package exports it
from collection.core.phrases import count, decimal, join, plural
from collection.measures import Measure
from collection.statistics import (
    CORRECTIONS,
    DEFAULT_CORRECTION,
    DEFAULT_TEST,
    TESTS,
    check_suitability,
    choose_test,
    compute_detectable,
    effect_size,
    mean_interval,
    randomised_tukey,
    smallest_p,
)

if TYPE_CHECKING:
    import altair as alt

TUKEY = "tukey"
"""The randomised Tukey HSD test of all pairs of systems, which is not in the registry of paired tests."""

BETTER, WORSE = "better", "worse"

NOISE = 1e-12
"""Values per topic that differ by less are equal."""

TESTED = ("system", "baseline", "measure", "topics", "difference", "low", "high", "interval_of", "effect", "test",
          "statistic", "p", "p_adjusted", "wins", "ties", "losses", "significant", "detectable")  # fmt: skip
PAIRED = ("system_a", "system_b", "measure", "topics", "difference", "low", "high", "effect", "p", "wins", "ties",
          "losses", "significant")  # fmt: skip


class AppliedTest(NamedTuple):
    """The test that decided which systems differ from the best by a measure."""

    name: str
    """A name in :data:`collection.statistics.TESTS`, or :data:`TUKEY`."""
    smallest_p: float = 0.0
    """The smallest p, after correction, that the test can have with so many topics."""


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """Comparison of systems; a console or notebook shows the means and the notes.

    Attributes
    ----------
    evaluation
        Its runs are systems: seeds (``name#1``, ``name#2``) are one, see :mod:`collection.comparison.seed_groups`.
    leaderboard
        A row per measure and system: ``system``, ``measure``, ``value``; ``low``, ``high``: the t interval of the mean
        over topics (nan if the value is not a mean); ``place`` (Int64, from 1; missing if the measure has no preferred
        direction), ``best``, ``like_best`` (bool: the best, or not significantly different from it), ``unjudged``
        (share of the first ``cutoff`` documents, or of all), ``cutoff`` (Int64), ``missing_topics``; ``seeds`` (1 for a
        single run), ``spread`` (their standard deviation), ``lowest_seed``, ``highest_seed``.
    tests
        A row per measure and system other than the baseline: ``system``, ``baseline``, ``measure``, ``topics``,
        ``difference`` (of the mean over topics, system minus baseline), ``low``, ``high``: the test's interval of the
        statistic in ``interval_of`` ("mean", "pseudo-median"), for this comparison alone (nan if the topics are too
        few for one); ``effect`` (Cohen's d_z), ``test``, ``statistic``, ``p``, ``p_adjusted``, ``wins``, ``ties``,
        ``losses`` (topics in which the system is better, equal, worse), ``significant`` (bool), ``detectable``: the
        difference that a paired t-test detects with 80% power over these topics.
    pairs
        None unless requested. A row per measure and pair of systems, by the randomised Tukey HSD test: ``system_a``,
        ``system_b``, ``measure``, ``topics``, ``difference`` (a minus b), ``low``, ``high`` (simultaneous), ``effect``,
        ``p`` (for all pairs together), ``wins``, ``ties``, ``losses`` (of a), ``significant``.
    notes
        Caveats in sentences.
    baseline
        None: the best system of each measure.
    test
        The paired test of all measures; "auto" if :func:`collection.statistics.choose_test` chose different ones for
        them, which are in ``tests``.
    applied
        Measure -> the test that decided about the best systems; without the measures that were not tested.
    topics
        The number of topics of the qrels.
    """

    evaluation: Evaluation
    leaderboard: pd.DataFrame
    tests: pd.DataFrame
    pairs: pd.DataFrame | None
    notes: tuple[str, ...]
    baseline: str | None
    test: str
    correction: str
    alpha: float
    seed: int
    topics: int
    applied: Mapping[str, AppliedTest]

    def table(self, column: str = "value") -> pd.DataFrame:
        """Systems x measures of a column of the leaderboard, best first by the first measure.

        If that measure has no preferred direction, the systems are in the given order.
        """
        rows = self.leaderboard
        measures = rows["measure"].drop_duplicates()
        first = rows[rows["measure"] == measures.iloc[0]]
        order = first.sort_values("place", kind="stable", na_position="last")["system"]
        return rows.pivot(index="system", columns="measure", values=column).loc[order, measures]

    def marked(self, digits: int = 4) -> pd.DataFrame:
        """Systems x measures as text with marks of significance, best first by the first measure.

        ``*`` best, ``~`` not significantly different from the best, neither: significantly worse; with a baseline also
        ``+`` significantly better and ``-`` significantly worse than it, padded to the same width. :attr:`legend`
        explains the marks.
        """
        values, best, alike = (self.table(column) for column in ("value", "best", "like_best"))
        marks = best.map({True: "*", False: ""}.__getitem__).where(best, alike.map({True: "~", False: ""}.__getitem__))
        if self.baseline is not None:
            marks += self.mark_significance().map({"better": "+", "worse": "-", "": ""}.__getitem__)
        shown = values.map(lambda value: decimal(value, digits))
        # Marks are padded, so that the decimals of a column stay below each other.
        return shown + marks.apply(lambda column: (" " + column).str.ljust(1 + column.str.len().max()))

    @property
    def legend(self) -> str:
        """The marks of :meth:`marked` in words."""
        said = "* best, ~ not significantly different from the best"
        rows = self.leaderboard
        if (rows["place"].notna() & ~rows["best"] & ~rows["like_best"]).any():
            said += ", unmarked: significantly worse"
        if self.baseline is not None:
            said += f", + significantly better than {self.baseline}, - significantly worse"
        return f"{said}; {count(self.topics, 'topic')}"

    def to_latex(self, digits: int = 4) -> str:
        r"""Write a table for a paper: best first by the first measure, best bold, daggers for significance.

        The document needs ``\usepackage{booktabs}``; names are escaped.
        """
        signs = {BETTER: r"$^{\dagger}$", WORSE: r"$^{\ddagger}$", "": ""}
        said = escaped_latex(self._caption)
        symbols = {"†": r"$\dagger$", "‡": r"$\ddagger$", "α": r"$\alpha$", "±": r"$\pm$", " = ": "~=~"}
        for plain, written in symbols.items():
            said = said.replace(plain, written)
        return write_latex(
            ["System", *self.evaluation.measures], self._rows(digits, r"\textbf{{{}}}", r" $\pm$ ", signs), said
        )

    def to_markdown(self, digits: int = 4) -> str:
        """Write the same as a pipe table, the caption below it."""
        signs = {BETTER: "†", WORSE: "‡", "": ""}
        return write_markdown(
            ["System", *self.evaluation.measures], self._rows(digits, "**{}**", " ± ", signs), self._caption
        )

    def mark_significance(self) -> pd.DataFrame:
        """Systems x measures: "better" or "worse" if significantly different from the baseline, else ""."""
        table = self.table("best").astype("object")
        table.loc[:, :] = ""
        tests = self.tests[self.tests["significant"].astype("bool")]
        for system, measure, way in zip(tests["system"], tests["measure"], find_directions(tests), strict=True):
            up = way * (self.evaluation.measures[measure].direction or 1) > 0
            table.loc[system, measure] = BETTER if up else WORSE
        return table

    def _rows(self, digits: int, bold: str, plus_minus: str, signs: Mapping[str, str]) -> list[list[str]]:
        values, best, spread = (self.table(column) for column in ("value", "best", "spread"))
        mark = self.mark_significance()

        def cell(system: str, measure: str) -> str:
            value, deviation = (float(table[measure].loc[system]) for table in (values, spread))
            shown = decimal(value, digits)
            shown = bold.format(shown) if best.loc[system, measure] else shown
            shown += "" if pd.isna(deviation) else plus_minus + decimal(deviation, digits)
            return shown + signs[str(mark.loc[system, measure])]

        return [[str(system), *(cell(system, measure) for measure in values.columns)] for system in values.index]

    @property
    def _caption(self) -> str:
        """Topics, marks, test, correction and significance level, in plain text."""
        kinds = {measure.entry.summary for measure in self.evaluation.measures.values()}
        values = "Means" if kinds == {"mean"} else "Values"
        said = f"{values} over {count(self.topics, 'topic')}; best in bold."
        if len(self.tests):
            against = "the best system" if self.baseline is None else self.baseline
            signs = ("†: significantly better, ‡: " if self.baseline is not None else "‡: ") + "significantly worse"
            correction = CORRECTIONS[self.correction].label
            corrected = "no correction" if self.correction == "none" else f"{correction} correction"
            used = self.tests.drop_duplicates("measure")
            one = used["test"].nunique() == 1
            tests = [
                name_test(t) + ("" if one else f" for {m}") for t, m in zip(used["test"], used["measure"], strict=True)
            ]
            counted = count(int(self.tests["measure"].value_counts().max()), "comparison")
            said += (
                f" {signs} than {against} ({join(dict.fromkeys(tests))}, {corrected} over {counted} per measure, "
                f"α = {self.alpha:g})."
            )
        several = self.leaderboard.loc[self.leaderboard["seeds"] > 1]
        if len(several):
            said += " ±: standard deviation over the seeds of a system."
        return said

    def standings(self, measure: str) -> pd.DataFrame:
        """Return the rows of the leaderboard for a measure, best first, with ``standing``.

        ``standing`` is one of :data:`collection.core.frames.STANDINGS`: "best", "not significantly different" or
        "significantly worse". It is "" if the measure has no preferred direction.
        """
        best, like_best, worse = STANDINGS
        require_known("measure", self.leaderboard["measure"].unique(), measure)
        rows = self.leaderboard[self.leaderboard["measure"] == measure]
        rows = rows.sort_values(["place", "system"], na_position="last", kind="stable", ignore_index=True)
        standing = rows["like_best"].map({True: like_best, False: worse}).mask(rows["best"], best)
        return rows.assign(standing=standing.where(rows["place"].notna(), ""))

    def chart(self, measure: str | None = None) -> alt.LayerChart:
        """Draw the mean of each system with its confidence interval, for `measure` or the first measure."""
        from collection.charts.intervals import means_chart
        from collection.charts.marks import WIDTH

        names = self.leaderboard["measure"].unique()
        name = names[0] if measure is None else find_measure(names, measure)
        return means_chart(self.standings(name), self.evaluation.measures[name]).properties(width=WIDTH)

    def topics_chart(self, system: str, other: str | None = None, measure: str | None = None) -> alt.Chart:
        """Draw the difference of two systems in each topic as a bar, largest first.

        Parameters
        ----------
        system, other
            The value of `system` minus that of `other`; by default the baseline or, without one, the best system.
        measure
            By default the first one.

        Raises
        ------
        UnknownNameError
            There is no such system or measure.
        InputError
            There is no other system to compare with.
        """
        from collection.charts.comparison import topics_chart
        from collection.charts.marks import WIDTH

        names = self.leaderboard["measure"].unique()
        name = names[0] if measure is None else find_measure(names, measure)
        if other is None:
            best = self.standings(name)
            other = self.baseline or next(iter(best.loc[best["best"], "system"]), None)
        if other is None or other == system:
            raise InputError(f"topics_chart: expected another system to compare {system!r} with; name it as `other`")
        rows = differences(self.evaluation, system, other, name)
        return topics_chart(rows, name, system, other).properties(width=WIDTH)

    def _summary(self) -> Summary:
        table = self.marked()
        details = "leaderboard (confidence intervals), tests (p-values), to_latex(), chart(), topics_chart(system)"
        details += "" if self.pairs is None else ", pairs (tests of all pairs)"
        headlines = [self.sentence(measure) for measure in table.columns]
        return Summary(headlines, table, [self.legend, *self.notes], details)

    def sentence(self, measure: str, system: str | None = None) -> str:
        """Write a conclusion on the best system by `measure`, or on `system` against its baseline.

        Raises
        ------
        UnknownNameError
            There is no such measure, or no test of such a system.
        """
        require_known("measure", self.leaderboard["measure"].unique(), measure)
        rows = self.leaderboard[self.leaderboard["measure"] == measure]
        tested = self.evaluation.measures[measure]
        if system is None:
            test = self.applied.get(measure)
            by = "" if test is None else describe_applied(*test, self.alpha)
            return describe_best(rows, tested, self.topics, by, find_unmatched(self.evaluation.coverage))
        return describe_test(self.tests, tested, system, correction=self.correction, alpha=self.alpha)


def compare(
    evaluation: Evaluation,
    *,
    baseline: str | None = None,
    test: str = DEFAULT_TEST,
    correction: str = DEFAULT_CORRECTION,
    alpha: float = 0.05,
    seed: int = 0,
    all_pairs: bool = False,
    separate_seeds: bool = False,
) -> Comparison:
    """Compare systems: a leaderboard with intervals, tests against a baseline, and optionally of all pairs.

    Parameters
    ----------
    baseline, test, correction, alpha, seed, all_pairs
        As for :func:`collection.compare`.
    separate_seeds
        Treat runs named ``name#1``, ``name#2`` as separate systems, not as seeds of one.

    Raises
    ------
    UnknownNameError
        There is no such baseline, test or correction.
    InputError
        `alpha` or `seed` is out of range, or there is no run or measure.
    """
    correction = CORRECTIONS[correction].name
    test = test if test == DEFAULT_TEST else TESTS[test].name
    if not 0 < alpha < 1:
        raise InputError(f"alpha: expected a significance level between 0 and 1, found {alpha:g}")
    if seed < 0:
        raise InputError(f"seed: expected 0 or more, found {seed}")
    named = [c.run for c in evaluation.coverage]
    evaluation, of_seeds = merge_seeds(evaluation, separate_seeds=separate_seeds)
    systems, means = [c.run for c in evaluation.coverage], evaluation.means()
    if baseline is not None and baseline not in systems:
        raise UnknownNameError("system", baseline, systems)

    paired = _PairedTests(systems, test, correction, alpha, seed)
    leaderboards, all_tests, all_tukeys, notes = [], [], [], Notes(map(str, means))
    applied: dict[str, AppliedTest] = {}
    for name, values, left_out in _by_measure(evaluation, systems):
        measure = evaluation.measures[name]
        if left_out:
            are = plural(left_out, "is", "are")
            notes.add(
                f"{count(left_out, 'topic')} without a value for every system {are} left out of tests and intervals",
                name,
            )
        board = _leaderboard(evaluation, name, means[name].to_numpy(dtype=np.float64), values, alpha)
        best = int(np.argmax(board["best"])) if board["best"].any() else None
        reference = best if baseline is None else systems.index(baseline)
        tukey = _tukey(values, systems, measure, alpha, seed) if all_pairs else None
        references = [n for n in dict.fromkeys((reference, best)) if n is not None]
        chosen = paired.choose(values, references)
        tested = None if reference is None else paired.compare(values, reference, measure, chosen.name)
        if tukey is not None:
            board["like_best"] = _like_best(board, tukey)
            all_tukeys.append(tukey)
            applied[name] = AppliedTest(TUKEY)
            notes.add(
                "which systems differ from the best is decided by the randomised Tukey HSD test of all pairs; the "
                "tests against the baseline may disagree with it",
                name,
            )
        else:
            board["like_best"] = _like_best(
                board,
                tested if best is None or best == reference else paired.compare(values, best, measure, chosen.name),
            )
            applied |= {name: chosen} if chosen.name in TESTS else {}
        if tested is not None and reference is not None:
            all_tests.append(tested)
            for sentence in paired.notes(values, reference, measure, chosen.name):
                notes.add(sentence, name)
        leaderboards.append(board.merge(of_seeds, on=["system", "measure"], how="left"))
    add_notes(notes, evaluation, named, of_seeds, baseline, all_tests)
    tests_used = {str(name) for tested in all_tests for name in tested["test"]}
    return Comparison(
        evaluation=evaluation,
        leaderboard=pd.concat(leaderboards, ignore_index=True),
        tests=_concat(all_tests, TESTED),
        pairs=_concat(all_tukeys, PAIRED) if all_pairs else None,
        notes=(*evaluation.notes, *notes.sentences()),
        baseline=baseline,
        test=tests_used.pop() if len(tests_used) == 1 else test,
        correction=correction,
        alpha=alpha,
        seed=seed,
        topics=evaluation.coverage[0].topics,
        applied=applied,
    )


@dataclass(frozen=True)
class _PairedTests:
    """Tests of systems against one of them, given their values by a measure (topics x systems)."""

    systems: Sequence[str]
    test: str
    correction: str
    alpha: float
    seed: int

    def differences(self, values: Floats, reference: int) -> Floats:
        """(topics, other systems): each other system minus the reference."""
        return _differences(values, _without(len(self.systems), reference), [reference])

    def choose(self, values: Floats, references: Sequence[int]) -> AppliedTest:
        """Choose one test for a measure, so that what is said of the best systems and of a baseline agrees.

        The smallest p is that of the last reference. Its name is "auto" if there is nothing to test.
        """
        compared = [d for reference in references if _testable(d := self.differences(values, reference))]
        if not compared:
            return AppliedTest(DEFAULT_TEST)
        name = choose_test(np.hstack(compared)) if self.test == DEFAULT_TEST else self.test
        return AppliedTest(name, smallest_p(compared[-1], name, self.correction))

    def compare(self, values: Floats, reference: int, measure: Measure, name: str) -> pd.DataFrame:
        """The rows of ``Comparison.tests`` with this reference, by the test of this name."""
        d = self.differences(values, reference)
        if not _testable(d):
            return pd.DataFrame(columns=list(TESTED))
        tester = TESTS[name]
        tested = tester.function(d, self.alpha, **({"seed": self.seed} if "seed" in tester.parameters else {}))
        adjusted = CORRECTIONS[self.correction].function(tested.p)
        columns = {
            "system": [self.systems[n] for n in _without(len(self.systems), reference)],
            "baseline": self.systems[reference],
            "difference": d.mean(axis=0),
            "low": np.where(np.isfinite(tested.low), tested.low, np.nan),
            "high": np.where(np.isfinite(tested.high), tested.high, np.nan),
            "interval_of": tested.of,
            "test": name,
            "statistic": tested.statistic,
            "p": tested.p,
            "p_adjusted": adjusted,
            "significant": adjusted <= self.alpha,
            "detectable": compute_detectable(1.0, len(d), alpha=self.alpha) * d.std(axis=0, ddof=1),
        }
        return pd.DataFrame(columns | _counts(d, measure)).reindex(columns=list(TESTED))

    def notes(self, values: Floats, reference: int, measure: Measure, name: str) -> list[str]:
        """Caveats on the test of this name."""
        d = self.differences(values, reference)
        if not _testable(d):
            return []
        summary = measure.entry.summary
        of_mean = f"the tests compare means over topics, while the value is the {summary}"
        doubts = check_suitability(d, name, alpha=self.alpha, correction=self.correction)
        return [*([of_mean] if summary != "mean" else []), *doubts]


def _testable(d: Floats) -> bool:
    """Tell whether differences, (topics, systems), have two topics and a system."""
    return len(d) > 1 and d.shape[1] > 0


def _without(count: int, left_out: int) -> list[int]:
    return [n for n in range(count) if n != left_out]


def _by_measure(evaluation: Evaluation, systems: list[str]) -> Iterable[tuple[str, Floats, int]]:
    """Measure, (topics x systems), and the number of topics left out because a system has no value."""
    if evaluation.values.empty:
        raise InputError("there is nothing to compare; name at least one run and one measure")
    per_topic = evaluation.per_topic()
    for name, rows in per_topic.groupby("measure", sort=False):
        values = rows.pivot(index="query_id", columns="run", values="value")[systems].to_numpy(dtype=np.float64)
        is_complete = np.isfinite(values).all(axis=1)
        yield str(name), values[is_complete], int((~is_complete).sum())


def _differences(values: Floats, of: Sequence[int] | Ints, less: Sequence[int] | Ints) -> Floats:
    d = values[:, of] - values[:, less]
    return np.where(np.abs(d) <= NOISE * max(1.0, float(np.abs(values).max(initial=0))), 0.0, d)


def _counts(d: Floats, measure: Measure) -> dict[str, object]:
    way = measure.direction or 1
    return {
        "measure": str(measure),
        "topics": len(d),
        "effect": effect_size(d),
        "wins": (way * d > 0).sum(axis=0),
        "ties": (d == 0).sum(axis=0),
        "losses": (way * d < 0).sum(axis=0),
    }


def _tukey(values: Floats, systems: list[str], measure: Measure, alpha: float, seed: int) -> pd.DataFrame:
    if len(values) < 2 or len(systems) < 2:
        return pd.DataFrame(columns=list(PAIRED))
    tested = randomised_tukey(values, alpha, seed=seed)
    columns = {
        "system_a": [systems[n] for n in tested.a],
        "system_b": [systems[n] for n in tested.b],
        "difference": tested.difference,
        "low": tested.low,
        "high": tested.high,
        "p": tested.p,
        "significant": tested.p <= alpha,
    }
    counts = _counts(_differences(values, tested.a, tested.b), measure)
    return pd.DataFrame(columns | counts).reindex(columns=list(PAIRED))


def _leaderboard(evaluation: Evaluation, name: str, means: Floats, values: Floats, alpha: float) -> pd.DataFrame:
    measure, coverage = evaluation.measures[name], evaluation.coverage
    low = high = np.full(len(means), np.nan)
    if measure.entry.summary == "mean" and len(values) > 1:
        low, high = mean_interval(values, alpha)
    way = measure.direction
    worth = pd.Series(way * means).round(12)
    place = worth.rank(method="min", ascending=False).astype("Int64") if way else pd.array([None] * len(means), "Int64")
    board = pd.DataFrame(
        {
            "system": [c.run for c in coverage],
            "measure": name,
            "value": means,
            "low": low,
            "high": high,
            "place": place,
            "best": (worth == worth.max()) & bool(way),
            "missing_topics": [len(c.missing_topics) for c in coverage],
        }
    )
    beside = evaluation.unjudged[evaluation.unjudged["measure"] == name].set_index("run").loc[board["system"]]
    return board.assign(unjudged=beside["unjudged"].to_numpy(), cutoff=beside["cutoff"].array)


def _like_best(board: pd.DataFrame, tests: pd.DataFrame | None) -> pd.Series[bool]:
    """The best systems, and those not significantly different from the first of them."""
    if tests is None or not board["best"].any():
        return board["best"]
    if tests.empty:  # nothing was tested, so nothing is known to be worse
        return board["best"] | True
    first = board.loc[board["best"], "system"].iloc[0]
    worse = tests["significant"].astype("bool")
    if "baseline" in tests:
        # Neither of two is known to be better if a test of medians contradicts the means.
        worse &= find_directions(tests) * tests["difference"] > 0
    alike = tests[~worse]
    if "baseline" in tests:
        return board["best"] | board["system"].isin(alike["system"])
    with_first = alike[(alike["system_a"] == first) | (alike["system_b"] == first)]
    return board["best"] | board["system"].isin([*with_first["system_a"], *with_first["system_b"]])


def _concat(parts: list[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))
