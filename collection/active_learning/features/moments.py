"""Mean and standard deviation of scores, the same bit for bit however the documents are partitioned."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats32

STEPS = 1 << 18
"""Steps that scores are rounded to, in a unit that no row of length 1 exceeds."""

STEP_ROWS = 1 << 16
"""Rows summed at a time: sums of squares of so many steps are exact in float64."""


class Moments(NamedTuple):
    """Number, sum and sum of squares of scores, the sums in steps of `unit / STEPS`.

    Sums of rounded floats depend on their order, and so on the partitions; sums of whole numbers do not.
    """

    unit: float
    number: int = 0
    total: int = 0
    squares: int = 0

    @classmethod
    def of(cls, scores: Floats32, among: Bools, unit: float) -> Moments:
        """Moments of the scores `among` (documents,)."""
        total = squares = 0
        for first in range(0, len(scores), STEP_ROWS):
            part = scores[first : first + STEP_ROWS][among[first : first + STEP_ROWS]]
            steps = np.rint(part.astype(np.float64) * (STEPS / unit))
            total += int(steps.sum())
            squares += int(steps @ steps)
        return cls(unit, int(among.sum()), total, squares)

    @classmethod
    def merge(cls, parts: Iterable[Moments]) -> Moments:
        """Moments of all partitions."""
        units, *sums = zip(*parts, strict=True)
        return cls(units[0], *map(sum, sums))

    def mean_and_spread(self) -> tuple[float, float]:
        """Mean and standard deviation; a deviation of 1 if all scores are equal or there are none."""
        number = max(1, self.number)
        step, variance = self.unit / STEPS, number * self.squares - self.total**2
        return self.total / number * step, math.sqrt(variance) / number * step or 1.0


def norm(weights: Floats32) -> float:
    """Length of a vector, rounded up to a power of two, which divides exactly; 1 for zeros."""
    length = float(np.linalg.norm(weights.astype(np.float64)))
    return 2.0 ** math.ceil(math.log2(length)) if length else 1.0
