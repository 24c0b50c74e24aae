"""Agreement of judges with people and with each other, in their grades and in the orders of systems by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from collection.annotator_agreement import COEFFICIENTS, Labels
from collection.annotator_agreement.coefficients import Patterns
from collection.annotator_agreement.labels import MISSING
from collection.core.arrays import Bools, Floats
from collection.core.errors import InputError, require_known
from collection.core.phrases import join
from collection.core.records import Run
from collection.measures import UNJUDGED, UNPOOLED, Aligned, Measure, align, as_measure, index_qrels
from collection.measures.aligned import compact_grades, grade_levels
from collection.measures.qrels_index import stack_by_topic
from collection.statistics.rank_correlation import kendall, tau_ap

STATISTICS: Mapping[str, str] = {
    "pairs": "Common pairs",
    "same": "Observed agreement",
    "kappa": "Cohen's kappa",
    "kappa_quadratic": "Cohen's kappa, quadratic weights",
    "alpha": "Krippendorff's alpha, ordinal",
    "bias": "Bias: mean difference of grades",
    "tau": "Kendall's tau of the orders of systems",
    "tau_ap": "Tau_AP of the orders of systems",
}
"""Name of a statistic of two judges -> its label."""

_COEFFICIENTS = {
    "same": "observed", "kappa": "cohen", "kappa_quadratic": "cohen-quadratic", "alpha": "alpha-ordinal",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class JudgeComparison:
    """Agreement of every two judges.

    Attributes
    ----------
    judges
        Their names, in the order given.
    measure
        The measure that orders the systems.
    systems
        Number of systems that are ordered.
    between
        For every two judges with a common pair, ``a`` before ``b`` in `judges`: ``a``, ``b``, and
        :data:`STATISTICS`. ``bias`` is the mean of a's grade minus b's. ``tau`` and ``tau_ap`` compare the orders of
        the systems by the common pairs, and are nan with fewer than two systems. Coefficients are nan where undefined,
        such as for judges that give one grade only.
    """

    judges: tuple[str, ...]
    measure: str
    systems: int
    between: pd.DataFrame

    def matrix(self, statistic: str) -> pd.DataFrame:
        """Judges x judges values of one of :data:`STATISTICS`; nan on the diagonal and without a common pair.

        The bias in a row is the mean grade of its judge minus that of the judge in the column.
        """
        require_known("statistic of two judges", STATISTICS, statistic)
        square = pd.DataFrame(np.nan, index=list(self.judges), columns=list(self.judges))
        sign = -1 if statistic == "bias" else 1
        for a, b, value in self.between[["a", "b", statistic]].itertuples(index=False, name=None):
            square.loc[a, b], square.loc[b, a] = value, sign * value
        return square

    def against(self, judge: str) -> pd.DataFrame:
        """``judge`` and :data:`STATISTICS` of the other judges against one, whose grades the bias subtracts."""
        require_known("judge", self.judges, judge)
        first, second = self.between["a"] == judge, self.between["b"] == judge
        rows = self.between[first | second]
        other = rows["a"].where(rows["b"] == judge, rows["b"])
        signed = rows["bias"].where(rows["b"] == judge, -rows["bias"])
        return rows.drop(columns=["a", "b"]).assign(bias=signed).assign(judge=other)[["judge", *STATISTICS]]


def compare_judges(
    labels: Mapping[str, pd.DataFrame], runs: Sequence[Run], measure: Measure | str = "nDCG@10"
) -> JudgeComparison:
    """Compare the labels of several judges, people among them.

    Parameters
    ----------
    labels
        Name of a judge -> ``query_id``, ``doc_id``, ``relevance``: each pair at most once. Judges may have labelled
        different pairs, on different scales: grades are compared as they are.
    runs
        The systems; may be empty.
    measure
        Orders the systems, by the pairs that both judges labelled; all others count as not relevant.

    Raises
    ------
    InputError
        Fewer than two judges, or no two have a common pair.

    Examples
    --------
    >>> labels = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "relevance": [2, 0, 1, 0]})
    >>> found = compare_judges({"people": labels, "gpt": labels.assign(relevance=[2, 1, 1, 0])}, [])
    >>> float(found.matrix("kappa").round(2).loc["people", "gpt"])
    0.64
    >>> found.against("people")[["judge", "same", "bias"]].values.tolist()
    [['gpt', 0.75, 0.25]]
    """
    if len(labels) < 2:
        raise InputError(f"expected two judges or more to compare, found {join(labels) or 'none'}")
    measured, names = as_measure(measure), list(labels)
    numbered = [frame[["query_id", "doc_id", "relevance"]].assign(annotator=f"{n:06}") for n, frame in
                enumerate(labels.values())]  # fmt: skip
    together = pd.concat(numbered, ignore_index=True)
    together = together[together["relevance"] >= 0].reset_index(drop=True)
    matrix = Labels.of(together)
    place = {int(name): column for column, name in enumerate(matrix.annotators)}
    orders = _SystemOrders(matrix, list(runs), measured)
    rows = []
    for a, b in combinations(range(len(names)), 2):
        if a not in place or b not in place:
            continue
        columns = place[a], place[b]
        common = (matrix.codes[:, columns] != MISSING).all(axis=1)
        if common.any():
            rows.append((names[a], names[b], *_compare(matrix, columns, common, orders)))
    if not rows:
        raise InputError(f"expected pairs that two judges have labelled, found none among those of {join(names)}")
    between = pd.DataFrame(rows, columns=["a", "b", *STATISTICS])
    return JudgeComparison(tuple(names), str(measured), len(runs), between)


class _SystemOrders:
    """Values of the systems by the labels of a judge, computed once for each set of pairs.

    Every run is aligned once, with the numbers of the pairs as their grades.
    """

    def __init__(self, matrix: Labels, runs: Sequence[Run], measure: Measure) -> None:
        self._grades, self._codes, self._measure = matrix.grades, matrix.codes, measure
        self._values: dict[tuple[int, bytes], Floats] = {}
        self._runs = len(runs)
        if self._runs < 2:
            return
        pairs = matrix.pairs[["query_id", "doc_id"]].assign(relevance=np.arange(len(matrix.pairs)))
        numbered = index_qrels(pairs)
        self._topics = numbered.topics
        self._topic = numbered.places(pairs["query_id"].astype("str"))
        aligned = [align(run.frame, numbered) for run in runs]
        deepest = max(each.grades.shape[1] for each in aligned)
        self._retrieved = np.stack([each.retrieved for each in aligned])
        # (runs, topics, ranks): the number of the pair, -1 where the document has none.
        self._pairs = np.full((len(runs), len(self._topics), deepest), -1, dtype=np.int32)
        for place, each in enumerate(aligned):
            self._pairs[place, :, : each.grades.shape[1]] = np.maximum(each.grades, -1)

    def values(self, column: int, pairs: Bools) -> Floats:
        """(runs,) mean values by the labels of a judge; empty with fewer than two runs."""
        if self._runs < 2:
            return np.zeros(0)
        key = column, np.packbits(pairs).tobytes()
        if key not in self._values:
            of_topics = self._measure(self._align(column, pairs)).reshape(self._runs, -1)
            self._values[key] = np.array([self._measure.summarise(of_run) for of_run in of_topics])
        return self._values[key]

    def _align(self, column: int, pairs: Bools) -> Aligned:
        """All runs as one, with the topics of the first run first, by the labels of a judge on these pairs."""
        labels = self._grades[self._codes[pairs, column]]
        rows = np.unique(self._topic[pairs])
        topic = np.searchsorted(rows, self._topic[pairs])
        highest_first = np.lexsort((-labels, topic))
        # The last entry, at -1, is for documents without a pair.
        known = np.full(len(pairs) + 1, UNPOOLED, dtype=np.float64)
        known[:-1][pairs] = labels
        compact = compact_grades(known)
        judged = stack_by_topic(topic[highest_first], compact[:-1][pairs][highest_first], len(rows), UNJUDGED)
        return Aligned(
            topics=[self._topics[row] for row in rows.tolist()] * self._runs,
            grades=compact[self._pairs[:, rows]].reshape(self._runs * len(rows), -1),
            retrieved=self._retrieved[:, rows].reshape(-1),
            judged=np.tile(judged, (self._runs, 1)),
            levels=grade_levels(labels),
            ignored_topics=[],
        )


def _compare(matrix: Labels, columns: tuple[int, int], common: Bools, orders: _SystemOrders) -> tuple[float, ...]:
    """The :data:`STATISTICS` of two judges by their common pairs."""
    both = Labels(
        tuple(matrix.annotators[column] for column in columns),
        matrix.pairs[common],
        matrix.codes[common][:, columns],
        matrix.grades,
        matrix.finished_at[common],
    )
    patterns = Patterns(both)
    sums = patterns.sums(patterns.times[None, :].astype(np.float64))
    agreement = {name: float(COEFFICIENTS[entry].function(sums)[0]) for name, entry in _COEFFICIENTS.items()}
    grades = matrix.grades[both.codes]
    one, other = (orders.values(column, common) for column in columns)
    several = len(one) > 1
    facts = agreement | {
        "pairs": int(common.sum()),
        "bias": float((grades[:, 0] - grades[:, 1]).mean()),
        "tau": kendall(one, other) if several else np.nan,
        "tau_ap": tau_ap(one, other, ties="b") if several else np.nan,
    }
    return tuple(facts[name] for name in STATISTICS)
