"""Current judgements as arrays for the rules, with adjudications kept separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.frames import JUDGEMENTS, number_pairs

GradeArray = NDArray[np.int64 | np.float64]
TextArray = NDArray[np.object_]

ADJUDICATION = "adjudication"

ORIGINS = {
    "one judgement": "one annotator graded the pair",
    "agreed": "all annotators gave this grade",
    "majority": "annotators differ; this grade was given most often",
    "tie": "annotators differ; the rule chose among the most frequent grades",
    "adjudicated": "an adjudicator decided on this grade",
}
"""Origin of a grade -> its description; any other origin is the name of the rule, whose entry describes it."""


class RuleResult(NamedTuple):
    """Result of an adjudication rule.

    Attributes
    ----------
    grade, by
        (P,) each: the grade (nan: no qrel) and its origin: one of :data:`ORIGINS` or the name of the rule.
    rounds, converged
        Of estimated grades: the number of rounds, and whether they converged.
    """

    grade: Floats
    by: TextArray
    rounds: int | None = None
    converged: bool | None = None


@dataclass(frozen=True)
class JudgementMatrix:
    """Current judgements: N grades by annotators on P pairs, and the adjudications of these pairs.

    Attributes
    ----------
    pairs
        (P,) ``query_id`` and ``doc_id``, in order of the first grade.
    pair, grade, annotator, at
        (N,) each: index of the pair, grade (whole numbers unless one has a fraction), index of the annotator, and
        position in the log, ascending.
    annotators
        Names, sorted.
    ended
        (P,): whether an adjudication ended the pair.
    adjudicated, adjudicated_at
        (P,): grade of the latest adjudication (nan: none, or "cannot judge"), and its position in the log (-1: none).
    repeated
        Rows left out since the same annotator graded the same pair again further down.
    """

    pairs: pd.DataFrame
    pair: Ints
    grade: GradeArray
    annotator: Ints
    at: Ints
    annotators: list[str]
    ended: Bools
    adjudicated: Floats
    adjudicated_at: Ints
    repeated: int = 0

    @classmethod
    def of(cls, judgements: pd.DataFrame) -> JudgementMatrix:
        """Make a matrix of judgements as :func:`collection.adjudication.adjudicate` takes them."""
        judgements = JUDGEMENTS.check(judgements, "adjudication")
        graded = ((judgements["kind"] == "graded") & judgements["relevance"].notna()).to_numpy(dtype=np.bool_)
        ending = np.zeros(len(judgements), dtype=np.bool_)
        if "counts_as" in judgements:
            counts_as = judgements["counts_as"]
            ending = (counts_as == ADJUDICATION).to_numpy(dtype=np.bool_)
            by_annotators = (counts_as == "judgement").to_numpy(dtype=np.bool_)
            graded = graded & (by_annotators | ending)  # without surplus
            ending = ending & (judgements["kind"] != "undone").to_numpy(dtype=np.bool_)
        rows = np.flatnonzero(graded | ending)
        codes = number_pairs(judgements[["query_id", "doc_id"]].iloc[rows])
        first = np.unique(codes, return_index=True)[1]
        keys = judgements[["query_id", "doc_id"]].iloc[rows[first]].reset_index(drop=True)
        grades = pd.to_numeric(judgements["relevance"].iloc[rows]).to_numpy(dtype=np.float64, na_value=np.nan)
        grades = np.where(graded[rows], grades, np.nan)
        if np.isinf(grades).any():
            raise InputError("adjudication: expected finite grades (relevance), found an infinite one")
        open_rows = ~ending[rows]
        names, annotators = pd.factorize(judgements["annotator"].iloc[rows[open_rows]], sort=True)
        last = ~pd.Series(codes[open_rows] * max(1, len(annotators)) + names).duplicated(keep="last").to_numpy()
        own = grades[open_rows][last]
        adjudicated, adjudicated_at = np.full(len(keys), np.nan), np.full(len(keys), -1, dtype=np.int64)
        # The last assignment to an index stands: the latest adjudication.
        adjudicated[codes[~open_rows]] = grades[~open_rows]
        adjudicated_at[codes[~open_rows]] = rows[~open_rows]
        return cls(
            keys,
            codes[open_rows][last],
            own if (own % 1).any() else own.astype(np.int64),
            names[last].astype(np.int64),
            rows[open_rows][last].astype(np.int64),
            [str(a) for a in annotators],
            adjudicated_at >= 0,
            adjudicated,
            adjudicated_at,
            int((~last).sum()),
        )

    def votes(self) -> tuple[GradeArray, Ints]:
        """The distinct grades, ascending, and (P, grades): how many annotators gave each."""
        levels, level = np.unique(self.grade, return_inverse=True)
        if not len(levels):
            return np.zeros(1, dtype=np.int64), np.zeros((len(self.pairs), 1), dtype=np.int64)
        width = len(levels)
        counts = np.bincount(self.pair * width + level, minlength=len(self.pairs) * width)
        return levels, counts.reshape(-1, width).astype(np.int64)

    def reduce(self, ufunc: np.ufunc, start: float) -> Floats:
        """(P,): the grades of each pair reduced by `ufunc` from `start`; nan without a grade."""
        reduced = np.full(len(self.pairs), start)
        ufunc.at(reduced, self.pair, self.grade)
        return np.where(self.graded_by() > 0, reduced, np.nan)

    def graded_by(self) -> Ints:
        """(P,): how many annotators graded each pair."""
        return np.bincount(self.pair, minlength=len(self.pairs)).astype(np.int64)

    def by(self, otherwise: str | TextArray) -> TextArray:
        """(P,) origins: "one judgement", "agreed", or `otherwise` where annotators differ."""
        sources = np.full(len(self.pairs), "one judgement", dtype=object)
        several = self.graded_by() > 1
        if several.any():
            differ = several & (self.reduce(np.maximum, -np.inf) != self.reduce(np.minimum, np.inf))
            sources[several] = "agreed"
            sources[differ] = otherwise if isinstance(otherwise, str) else otherwise[differ]
        return sources
