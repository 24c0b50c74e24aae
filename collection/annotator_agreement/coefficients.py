"""The coefficients of agreement, and the sums over pairs that they are computed from.

A pair's labels matter only by their pattern: which annotator gave which grade. Each coefficient is a function of a few
sums over patterns, so a thousand resamples take a few matrix products. In what follows V is the number of grades, R of
resamples (1 for the value itself), Q of pairs of annotators who both graded something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from collection.annotator_agreement.labels import MISSING, Codes, Labels
from collection.core.arrays import Floats, Ints
from collection.core.registry import Entry, Registry

Measurement = Literal["nominal", "ordinal", "interval", "binary"]
Scale = Literal["graded", "binary"]
Coefficient = Callable[["Sums"], Floats]

MIN_COMMON_PAIRS = 10
"""Minimum number of common pairs for two annotators to count in a mean over pairs of annotators, unless all have fewer.
Otherwise a kappa from one common pair would weigh as much as one from a thousand."""


TOLERATES: dict[Measurement, str] = {
    "nominal": "nothing",
    "ordinal": "grades of neighbouring rank, in part",
    "interval": "grades with a small distance, in part",
    "binary": "differences above or below the minimum relevant grade",
}
"""Which disagreements a coefficient counts less, or not."""


@dataclass(frozen=True, repr=False)
class CoefficientEntry(Entry[Coefficient]):
    """A coefficient; its function gives (R,) values, nan where undefined."""

    _: KW_ONLY
    measurement: Measurement
    """How it treats grades: as names (nominal), ranks (ordinal), numbers with distances (interval), or as relevant and
    not relevant (binary)."""
    pairwise: Coefficient | None = None
    """For a coefficient of two annotators: its (R, Q) values, of which ``function`` is the mean over Q."""

    @property
    def tolerates(self) -> str:
        """Name the disagreements that it counts less, or not."""
        return TOLERATES[self.measurement]

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales on which it is computed."""
        if self.measurement == "nominal":
            return "graded", "binary"
        return ("binary",) if self.measurement == "binary" else ("graded",)


COEFFICIENTS = Registry("coefficient of agreement", CoefficientEntry)


@dataclass(frozen=True)
class Sums:
    """The sums from which coefficients are computed."""

    grades: Floats
    """The scale, V numbers."""
    coincidences: Floats
    """R x V x V: Krippendorff's matrix; a pair graded by m annotators adds m to it."""
    together: Floats
    """R x V x V: the share of ordered pairs of annotators who gave these two grades, summed over pairs."""
    several: Floats
    """R: pairs graded by two annotators or more."""
    shares: Floats
    """R x V: the share of a pair's annotators who gave the grade, summed over all graded pairs."""
    graded: Floats
    """R: graded pairs."""
    confusions: Floats
    """R x Q x V x V: how often one annotator gave the first grade and the other one the second."""
    value_counts: Ints | None = None
    """Pairs x V: how many annotators gave each grade, for pairs with two or more; None for resamples."""

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """R x Q x V, twice: how often the first and the second annotator of a pair of annotators gave each grade."""
        return self.confusions.sum(axis=3), self.confusions.sum(axis=2)


class Patterns:
    """The distinct rows of labels, how often each occurs, and sums over them.

    Attributes
    ----------
    grades
        The scale.
    rows, times, of_pair
        The distinct rows of `labels.codes`; how often each occurs; the index of each pair's row among them.
    counts, of_several
        Patterns x V: how many annotators gave each grade; which patterns have grades by two annotators or more.
    crossings, left_out
        Q, and pairs of annotators left out of means for fewer than :data:`MIN_COMMON_PAIRS` common pairs.
    """

    def __init__(self, labels: Labels) -> None:
        self.grades = labels.grades
        if labels.codes.size:
            number = _number_rows(labels.codes, len(labels.grades) + 1)
            _, first, self.of_pair, self.times = np.unique(
                number, return_index=True, return_inverse=True, return_counts=True
            )
            self.rows = labels.codes[first]
        else:
            self.rows, self.of_pair = labels.codes[:0], np.zeros(0, dtype=np.intp)
            self.times = np.zeros(0, dtype=np.int64)
        self.counts = np.zeros((len(self.rows), len(self.grades)))
        for code in range(len(self.grades)):
            self.counts[:, code] = (self.rows == code).sum(axis=1)
        annotators = self.counts.sum(axis=1)
        self.of_several = annotators > 1
        self._shares = self.counts / np.maximum(annotators, 1)[:, None]
        self._build_cells(annotators)

    def _build_cells(self, annotators: Floats) -> None:
        """Patterns x cells, sparse: what a pattern adds to `coincidences`, `together`, and each of the `confusions`."""
        from scipy.sparse import csr_array

        size = len(self.grades)
        graded = self.rows != MISSING
        common = np.triu(graded.T.astype(np.int64) @ (graded * self.times[:, None]), 1)
        least = MIN_COMMON_PAIRS if (common >= MIN_COMMON_PAIRS).any() else 1
        self.left_out = int(((common > 0) & (common < least)).sum())
        self.crossings = int((common >= least).sum())
        patterns, cells = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        start = 2 * size * size
        for a, b in zip(*np.nonzero(common), strict=True):
            both = np.flatnonzero(graded[:, a] & graded[:, b])
            one, other = self.rows[both][:, [a, b]].astype(np.intp).T
            cell, mirrored = one * size + other, other * size + one
            patterns += [both] * 4
            cells += [cell, mirrored, cell + size * size, mirrored + size * size]
            if common[a, b] >= least:
                patterns.append(both)
                cells.append(cell + start)
                start += size * size
        at = np.concatenate(patterns), np.concatenate(cells)
        incidence = csr_array((np.ones(len(at[0])), at), shape=(len(self.rows), start))
        # Divided after they are counted: six sixths are less than one.
        m = np.repeat(annotators, np.diff(incidence.indptr))
        incidence.data /= np.where(
            incidence.indices < size * size, m - 1, np.where(incidence.indices < 2 * size * size, m * (m - 1), 1)
        )
        self._cells = incidence

    def sums(self, weights: Floats) -> Sums:
        """Sums of the patterns; `weights`: R x patterns, how often each counts."""
        resamples, size = len(weights), len(self.grades)
        cells = np.asarray(weights @ self._cells).reshape(resamples, self.crossings + 2, size, size)
        return Sums(
            self.grades,
            cells[:, 0],
            cells[:, 1],
            weights @ self.of_several,
            weights @ self._shares,
            weights.sum(axis=1),
            np.ascontiguousarray(cells[:, 2:]),
        )

    def label_sums(self) -> Sums:
        """The sums of the labels themselves."""
        sums = self.sums(self.times[None, :].astype(np.float64))
        counts = np.repeat(self.counts[self.of_several], self.times[self.of_several], axis=0).astype(np.int64)
        return replace(sums, value_counts=counts)


def _number_rows(codes: Codes, size: int) -> Ints:
    """(rows,): a number for each row of codes, which are `size` from -1 on; in the order of the rows.

    As many columns as fit are one number, since rows themselves take long to sort.
    """
    numbers, most = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        if most * size >= 2**62:
            values, numbers = np.unique(numbers, return_inverse=True)
            most = len(values)
        numbers, most = numbers * size + (column + 1), most * size
    return numbers


def _divide(above: Floats, below: Floats) -> Floats:
    """The quotient, nan for a divisor of 0."""
    return np.divide(above, below, out=np.full(np.broadcast_shapes(above.shape, below.shape), np.nan),
                     where=below > 1e-12)  # fmt: skip


def _similarity(grades: Floats, power: int) -> Floats:
    """V x V: 1 for equal grades, 0 for the ends of the scale, by distance to this power; power 0: only equal or not."""
    if power == 0 or len(grades) < 2:
        return np.eye(len(grades))
    return 1 - (np.abs(grades[:, None] - grades) / (grades[-1] - grades[0])) ** power


def _observed_agreement(sums: Sums, similarity: Floats) -> Floats:
    """The mean similarity of two grades of a pair, over pairs with several annotators."""
    return _divide((sums.together * similarity).sum(axis=(1, 2)), sums.several)


def _correct_for_chance(observed: Floats, expected: Floats) -> Floats:
    return _divide(observed - expected, 1 - expected)


def observed(sums: Sums) -> Floats:
    """Mean over pairs of documents and topics of the share of annotators' pairs that gave the same grade."""
    return _observed_agreement(sums, np.eye(len(sums.grades)))


def _cohen(power: int) -> Coefficient:
    def kappas(sums: Sums) -> Floats:
        """R x Q: 1 - observed / expected disagreement of each pair of annotators."""
        apart = 1 - _similarity(sums.grades, power)
        rows, columns = sums.margins
        expected = ((rows @ apart) * columns).sum(axis=2)
        flat = sums.confusions.reshape(*rows.shape[:2], apart.size)
        return 1 - _divide((flat @ apart.ravel()) * rows.sum(axis=2), expected)

    return kappas


def overlaps(sums: Sums) -> Floats:
    """R x Q: intersection over union of two annotators' relevant documents, among the pairs that both graded.

    As TREC reports it: Voorhees (2000), Variations in relevance judgments and the measurement of retrieval
    effectiveness. There it is a mean over topics; here all pairs together, and topic by topic in that view.
    """
    if len(sums.grades) != 2:
        return np.full(sums.confusions.shape[:2], np.nan)
    both = sums.confusions[:, :, 1, 1]
    return _divide(both, both + sums.confusions[:, :, 0, 1] + sums.confusions[:, :, 1, 0])


def _mean_over_annotators(pairwise: Coefficient) -> Coefficient:
    def mean(sums: Sums) -> Floats:
        """The mean over pairs of annotators, of equal weight, of the values that are not nan (Light 1971)."""
        values = pairwise(sums)
        defined = ~np.isnan(values)
        return _divide(np.where(defined, values, 0).sum(axis=1), defined.sum(axis=1).astype(np.float64))

    return mean


def fleiss(sums: Sums) -> Floats:
    """Fleiss (1971), Measuring nominal scale agreement among many raters.

    Where not every pair has the same number of judgements, Gwet's form (2014, Handbook of Inter-Rater Reliability, 4th
    ed.): agreement over pairs with two judgements or more, shares of grades over all pairs.
    """
    shares = _divide(sums.shares, sums.graded[:, None])
    return _correct_for_chance(observed(sums), (shares**2).sum(axis=1))


def _alpha(level: Literal["nominal", "ordinal", "interval"]) -> Coefficient:
    def alpha(sums: Sums) -> Floats:
        """Krippendorff (2004), Content Analysis, chapter 11.

        The value of the labels comes from the krippendorff package, which takes one table at a time. Resamples are
        computed here by the same formula, a batch at once; a test holds the two equal.
        """
        totals = sums.coincidences.sum(axis=2)
        several_values = (totals > 0).sum(axis=1) > 1
        if sums.value_counts is not None:
            if not several_values[0]:
                return np.full(1, np.nan)
            import krippendorff

            return np.array([krippendorff.alpha(value_counts=sums.value_counts, value_domain=sums.grades,
                                                level_of_measurement=level)])  # fmt: skip
        if level == "ordinal":
            # The middle of a grade among all that were given: distances are between middles.
            at = totals.cumsum(axis=1) - totals / 2
            apart = (at[:, :, None] - at[:, None, :]) ** 2
        else:
            distance = np.abs(sums.grades[:, None] - sums.grades)
            apart = (distance**2 if level == "interval" else distance > 0).astype(np.float64)[None]
        observed = (sums.coincidences * apart).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
        expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
        return 1 - _divide(observed, np.where(several_values, expected, 0))

    return alpha


def _gwet(power: int) -> Coefficient:
    def gwet(sums: Sums) -> Floats:
        """Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement.

        Weights, and pairs of one judgement, which count for how often each grade is given, as in Gwet (2014), Handbook
        of Inter-Rater Reliability, 4th ed.
        """
        similarity, size = _similarity(sums.grades, power), len(sums.grades)
        if size < 2:
            return np.full(len(sums.graded), np.nan)
        shares = _divide(sums.shares, sums.graded[:, None])
        expected = similarity.sum() * (shares * (1 - shares)).sum(axis=1) / (size * (size - 1))
        return _correct_for_chance(_observed_agreement(sums, similarity), expected)

    return gwet


def _add(name: str, measurement: Measurement, function: Coefficient, label: str, description: str) -> None:
    COEFFICIENTS.add(name, label, description, measurement=measurement)(function)


def _add_pairwise(name: str, measurement: Measurement, pairwise: Coefficient, label: str, description: str) -> None:
    add = COEFFICIENTS.add(name, label, description, measurement=measurement, pairwise=pairwise)
    add(_mean_over_annotators(pairwise))


# fmt: off
_add("observed", "nominal", observed, "Observed agreement",
     "Share of pairs of judgements with the same grade; not chance-corrected.")
_add_pairwise("cohen", "nominal", _cohen(0), "Cohen's kappa",
              "Chance-corrected agreement of two annotators (0 = chance, 1 = perfect), or its unweighted mean over "
              "all pairs of annotators; those with fewer than 10 pairs in common are left out if others have more.")
_add_pairwise("cohen-linear", "interval", _cohen(1), "Cohen's kappa, linear weights",
              "Cohen's kappa in which grades two apart disagree twice as much as neighbouring grades.")
_add_pairwise("cohen-quadratic", "interval", _cohen(2), "Cohen's kappa, quadratic weights",
              "Cohen's kappa in which grades two apart disagree four times as much as neighbouring grades.")
_add("fleiss", "nominal", fleiss, "Fleiss' kappa",
     "Chance-corrected agreement of many annotators; chance is the overall frequency of each grade.")
_add("alpha-nominal", "nominal", _alpha("nominal"), "Krippendorff's alpha, nominal",
     "Chance-corrected agreement for any number of annotators and missing grades; different grades disagree equally.")
_add("alpha-ordinal", "ordinal", _alpha("ordinal"), "Krippendorff's alpha, ordinal",
     "Alpha for ordered grades, customary for graded relevance; the distance of two grades is the number of "
     "judgements between them.")
_add("alpha-interval", "interval", _alpha("interval"), "Krippendorff's alpha, interval",
     "Alpha for numeric grades; disagreement is the squared distance.")
_add("ac1", "nominal", _gwet(0), "Gwet's AC1",
     "Chance-corrected agreement that, unlike kappa and alpha, stays high if nearly all pairs have the same grade.")
_add("ac2-linear", "interval", _gwet(1), "Gwet's AC2, linear weights",
     "AC1 with partial credit for neighbouring grades.")
_add("ac2-quadratic", "interval", _gwet(2), "Gwet's AC2, quadratic weights",
     "AC1 with nearly full credit for neighbouring grades.")
_add_pairwise("overlap", "binary", overlaps, "Overlap of relevant documents",
              "Documents graded relevant by both annotators, as a share of those graded relevant by at least one; "
              "not chance-corrected. With several annotators the mean as for Cohen's kappa.")
# fmt: on
