"""The coefficients of agreement, and the sums over pairs that they are computed from.

A pair's labels matter only by their pattern: who gave which grade. Each coefficient is a function of a few sums
over patterns, so that a thousand resamples are a few products of matrices. In what follows V is the number of
grades, R of resamples (1 for the value itself), Q of pairs of annotators who both graded something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from collection.annotator_agreement.labels import MISSING, Floats, Labels
from collection.registry import Entry, Registry

Measurement = Literal["nominal", "ordinal", "interval", "binary"]

COEFFICIENTS = Registry("coefficient of agreement", Entry["Callable[[Sums], Floats]"])
"""Every coefficient: sums -> one value for each of their R resamples, nan where it is not defined."""

MEASUREMENT: dict[str, Measurement] = {}
"""Coefficient -> what it takes grades for: names without distance (nominal), an order (ordinal), numbers with
distances (interval), or only relevant and not relevant (binary)."""


MET = 10
"""Pairs in common from which on two annotators count in a mean over pairs of annotators. A kappa of one pair in common
says nothing and would weigh as much as one of a thousand. Where all have fewer, all count."""


@dataclass(frozen=True)
class Sums:
    """What coefficients are computed from.

    Attributes
    ----------
    grades
        The scale, V numbers.
    coincidences
        R x V x V: Krippendorff's matrix; a pair graded by m annotators adds m to it.
    together
        R x V x V: the share of ordered pairs of annotators who gave these two grades, summed over pairs.
    several
        R: pairs graded by two annotators or more.
    shares
        R x V: the share of a pair's annotators who gave the grade, summed over all graded pairs.
    graded
        R: graded pairs.
    confusions
        R x Q x V x V: how often one annotator gave the first grade and the other one the second.
    value_counts
        Pairs x V: how many annotators gave which grade, pairs of several annotators only; None for resamples.
    """

    grades: Floats
    coincidences: Floats
    together: Floats
    several: Floats
    shares: Floats
    graded: Floats
    confusions: Floats
    value_counts: npt.NDArray[np.int64] | None = None

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """R x Q x V, twice: how often the first and the second annotator of a pair of annotators gave each grade."""
        return self.confusions.sum(axis=3), self.confusions.sum(axis=2)


class Patterns:
    """The distinct rows of labels, how often each occurs, and sums over them.

    Parameters
    ----------
    labels
        Of any number of annotators and pairs, none among them.

    Attributes
    ----------
    grades
        The scale.
    rows, times, of_pair
        The distinct rows of `labels.codes`; how often each occurs; the place of each pair's row among them.
    counts
        Patterns x V: how many annotators gave which grade.
    of_several
        Which patterns have grades of two annotators or more.
    crossings
        Q.
    left_out
        Pairs of annotators who graded fewer than :data:`MET` pairs in common and are left out of means over pairs of
        annotators, since others graded more.
    """

    def __init__(self, labels: Labels) -> None:
        self.grades, size = labels.grades, len(labels.grades)
        if labels.codes.size:
            self.rows, inverse, self.times = np.unique(labels.codes, axis=0, return_inverse=True, return_counts=True)
            self.of_pair = inverse.reshape(-1)
        else:
            self.rows, self.of_pair = labels.codes[:0], np.zeros(0, dtype=np.intp)
            self.times = np.zeros(0, dtype=np.int64)
        counts = np.zeros((len(self.rows), size))
        for code in range(size):
            counts[:, code] = (self.rows == code).sum(axis=1)
        self.counts = counts
        annotators = counts.sum(axis=1)
        self.of_several = annotators > 1
        self._shares = counts / np.maximum(annotators, 1)[:, None]
        self._cross(size, annotators)

    def _cross(self, size: int, annotators: Floats) -> None:
        """Patterns x cells, sparse: what a pattern adds to `coincidences`, `together`, and each of the `confusions`."""
        from scipy.sparse import csr_array

        there = self.rows != MISSING
        met = there.T.astype(np.int64) @ (there * self.times[:, None])
        common = np.triu(met, 1)
        least = MET if (common >= MET).any() else 1
        self.left_out = int(((common > 0) & (common < least)).sum())
        self.crossings = int((common >= least).sum())
        patterns, cells = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        start = 2 * size * size
        for a, b in zip(*np.nonzero(common), strict=True):
            places = np.flatnonzero(there[:, a] & there[:, b])
            one, other = self.rows[places][:, [a, b]].astype(np.intp).T
            cell, mirrored = one * size + other, other * size + one
            patterns += [places] * 4
            cells += [cell, mirrored, cell + size * size, mirrored + size * size]
            if common[a, b] >= least:
                patterns.append(places)
                cells.append(cell + start)
                start += size * size
        at = np.concatenate(patterns), np.concatenate(cells)
        found = csr_array((np.ones(len(at[0])), at), shape=(len(self.rows), start))
        # Divided after they are counted: six sixths are less than one.
        m = np.repeat(annotators, np.diff(found.indptr))
        found.data /= np.where(
            found.indices < size * size, m - 1, np.where(found.indices < 2 * size * size, m * (m - 1), 1)
        )
        self._cells = found

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

    def own(self) -> Sums:
        """The sums of the labels themselves."""
        sums = self.sums(self.times[None, :].astype(np.float64))
        counts = np.repeat(self.counts[self.of_several], self.times[self.of_several], axis=0).astype(np.int64)
        return replace(sums, value_counts=counts)


def _add(
    name: str, measurement: Measurement, label: str, description: str
) -> Callable[[Callable[[Sums], Floats]], Callable[[Sums], Floats]]:
    MEASUREMENT[name] = measurement
    return COEFFICIENTS.add(name, label=label, description=description)


def _divided(above: Floats, below: Floats) -> Floats:
    """The quotient, nan where there is nothing to divide by."""
    return np.divide(above, below, out=np.full(np.broadcast_shapes(above.shape, below.shape), np.nan),
                     where=below > 1e-12)  # fmt: skip


def _alike(grades: Floats, power: int) -> Floats:
    """How alike two grades are, V x V: 1 for the same, 0 for the ends of the scale; power 0 knows only the same."""
    if power == 0 or len(grades) < 2:
        return np.eye(len(grades))
    return 1 - (np.abs(grades[:, None] - grades) / (grades[-1] - grades[0])) ** power


def _seen(sums: Sums, alike: Floats) -> Floats:
    """Observed agreement: over pairs of several annotators, the mean likeness of two of a pair's grades."""
    return _divided((sums.together * alike).sum(axis=(1, 2)), sums.several)


def _beyond_chance(seen: Floats, expected: Floats) -> Floats:
    return _divided(seen - expected, 1 - expected)


@_add(
    "observed",
    "nominal",
    "Observed agreement",
    "The share of pairs of judgements that are the same; it does not count what chance alone would bring.",
)
def observed(sums: Sums) -> Floats:
    """Mean over pairs of documents and topics of the share of annotators' pairs that gave the same grade."""
    return _seen(sums, np.eye(len(sums.grades)))


def _kappas(sums: Sums, power: int) -> Floats:
    """R x Q: 1 - observed/expected disagreement of every two annotators."""
    apart = 1 - _alike(sums.grades, power)
    rows, columns = sums.margins
    expected = ((rows @ apart) * columns).sum(axis=2)
    flat = sums.confusions.reshape(*rows.shape[:2], apart.size)
    return 1 - _divided((flat @ apart.ravel()) * rows.sum(axis=2), expected)


def _overlaps(sums: Sums) -> Floats:
    """R x Q: the share of both annotators' relevant documents in those of either."""
    if len(sums.grades) != 2:
        return np.full(sums.confusions.shape[:2], np.nan)
    both = sums.confusions[:, :, 1, 1]
    return _divided(both, both + sums.confusions[:, :, 0, 1] + sums.confusions[:, :, 1, 0])


OF_TWO: dict[str, Callable[[Sums], Floats]] = {
    "cohen": lambda sums: _kappas(sums, 0),
    "cohen-linear": lambda sums: _kappas(sums, 1),
    "cohen-quadratic": lambda sums: _kappas(sums, 2),
    "overlap": _overlaps,
}
"""Coefficients of two annotators, R x Q; of several, the mean over Q of those that have a value is taken."""


def _mean(values: Floats) -> Floats:
    """R: the mean over Q of what is not nan."""
    there = ~np.isnan(values)
    return _divided(np.where(there, values, 0).sum(axis=1), there.sum(axis=1).astype(np.float64))


@_add(
    "cohen",
    "nominal",
    "Cohen's kappa",
    "Agreement of two annotators beyond what their own habits bring by chance: 0 chance, 1 always; of several "
    "annotators, the plain mean over every two of them; those with fewer than 10 pairs in common are left out where "
    "others have more.",
)
def cohen(sums: Sums) -> Floats:
    """Cohen (1960), A coefficient of agreement for nominal scales; the mean over annotators is Light's (1971).

    Every two annotators with :data:`MET` pairs in common or more weigh alike in the mean, and the others nothing; where
    no two have so many, all count.
    """
    return _mean(OF_TWO["cohen"](sums))


@_add(
    "cohen-linear",
    "interval",
    "Cohen's kappa, linear weights",
    "The same, where grades two apart disagree twice as much as neighbours.",
)
def cohen_linear(sums: Sums) -> Floats:
    """Cohen (1968), Weighted kappa, with disagreement as large as the distance of the grades."""
    return _mean(OF_TWO["cohen-linear"](sums))


@_add(
    "cohen-quadratic",
    "interval",
    "Cohen's kappa, quadratic weights",
    "The same, where grades two apart disagree four times as much as neighbours: near misses hardly count.",
)
def cohen_quadratic(sums: Sums) -> Floats:
    """Cohen (1968), Weighted kappa, with disagreement as large as the square of the distance of the grades."""
    return _mean(OF_TWO["cohen-quadratic"](sums))


@_add(
    "fleiss",
    "nominal",
    "Fleiss' kappa",
    "Agreement of many annotators beyond chance, where chance is how often all of them together give each grade.",
)
def fleiss(sums: Sums) -> Floats:
    """Fleiss (1971), Measuring nominal scale agreement among many raters.

    Where not every pair has the same number of judgements, Gwet's form (2014, Handbook of Inter-Rater Reliability, 4th
    ed.): agreement over pairs with two judgements or more, shares of grades over all pairs.
    """
    shares = _divided(sums.shares, sums.graded[:, None])
    return _beyond_chance(observed(sums), (shares**2).sum(axis=1))


def _alpha(sums: Sums, level: Literal["nominal", "ordinal", "interval"]) -> Floats:
    """Krippendorff's alpha.

    The value of the labels themselves comes from the krippendorff package. It takes one table at a time, so the
    resamples of the bootstrap are computed here by the same formula, a batch at once.
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
        far = np.abs(sums.grades[:, None] - sums.grades)
        apart = (far**2 if level == "interval" else far > 0).astype(np.float64)[None]
    found = (sums.coincidences * apart).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
    return 1 - _divided(found, np.where(several_values, expected, 0))


@_add(
    "alpha-nominal",
    "nominal",
    "Krippendorff's alpha, nominal",
    "Agreement beyond chance for any number of annotators and any gaps; every two different grades disagree alike.",
)
def alpha_nominal(sums: Sums) -> Floats:
    """Krippendorff (2004), Content Analysis, chapter 11; by the krippendorff package."""
    return _alpha(sums, "nominal")


@_add(
    "alpha-ordinal",
    "ordinal",
    "Krippendorff's alpha, ordinal",
    "The same for grades that have an order: two grades are as far apart as many judgements lie between them. "
    "Customary for graded relevance.",
)
def alpha_ordinal(sums: Sums) -> Floats:
    """Krippendorff (2004), Content Analysis, chapter 11; by the krippendorff package."""
    return _alpha(sums, "ordinal")


@_add(
    "alpha-interval",
    "interval",
    "Krippendorff's alpha, interval",
    "The same for grades that are numbers: disagreement is the square of their distance.",
)
def alpha_interval(sums: Sums) -> Floats:
    """Krippendorff (2004), Content Analysis, chapter 11; by the krippendorff package."""
    return _alpha(sums, "interval")


def _gwet(sums: Sums, power: int) -> Floats:
    alike, size = _alike(sums.grades, power), len(sums.grades)
    if size < 2:
        return np.full(len(sums.graded), np.nan)
    shares = _divided(sums.shares, sums.graded[:, None])
    expected = alike.sum() * (shares * (1 - shares)).sum(axis=1) / (size * (size - 1))
    return _beyond_chance(_seen(sums, alike), expected)


@_add(
    "ac1",
    "nominal",
    "Gwet's AC1",
    "Agreement beyond chance that stays high where nearly all pairs have the same grade, as kappa and alpha do not.",
)
def ac1(sums: Sums) -> Floats:
    """Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement.

    With pairs of one judgement, as in Gwet (2014): they count for how often each grade is given.
    """
    return _gwet(sums, 0)


@_add("ac2-linear", "interval", "Gwet's AC2, linear weights", "AC1 where neighbouring grades agree in part.")
def ac2_linear(sums: Sums) -> Floats:
    """Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.; likeness falls with the distance of the grades."""
    return _gwet(sums, 1)


@_add(
    "ac2-quadratic",
    "interval",
    "Gwet's AC2, quadratic weights",
    "AC1 where neighbouring grades agree nearly as well as the same ones.",
)
def ac2_quadratic(sums: Sums) -> Floats:
    """Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.; likeness falls with the square of the distance."""
    return _gwet(sums, 2)


@_add(
    "overlap",
    "binary",
    "Overlap of the relevant",
    "Of the documents that one of two annotators calls relevant, the share that both do; of several annotators, the "
    "plain mean over every two of them, as for Cohen's kappa.",
)
def overlap(sums: Sums) -> Floats:
    """Intersection over union of two annotators' relevant documents, among the pairs that both graded.

    As TREC reports it: Voorhees (2000), Variations in relevance judgments and the measurement of retrieval
    effectiveness. There it is a mean over topics; here all pairs together, and topic by topic in that view.
    """
    return _mean(OF_TWO["overlap"](sums))
