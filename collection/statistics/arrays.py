"""Validation of the arrays that tests take, and basic statistics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats
from collection.core.errors import InputError

NOISE = 1e-12
"""Values are tied if they differ by less than this share of their size, as sums in a different order may."""


def as_topic_table(values: npt.ArrayLike, what: str = "differences", columns: int = 1) -> Floats:
    """Convert to (topics x systems); a single list becomes one column.

    Raises
    ------
    InputError
        Fewer than two topics or than `columns` systems, another number of axes, or nan or infinity.
    """
    array = np.asarray(values, dtype=np.float64)
    table = array[:, None] if array.ndim == 1 else array
    if table.ndim != 2 or table.shape[1] < columns:
        raise InputError(f"{what}: expected topics x systems with {columns} or more systems, found shape {array.shape}")
    if len(table) < 2:
        raise InputError(f"{what}: a test needs at least 2 topics, found {len(table)}")
    if not np.isfinite(table).all():
        raise InputError(f"{what}: expected finite numbers, found nan or infinity; leave those topics out")
    return table


def standard_deviation(differences: Floats) -> Floats:
    """(systems,): standard deviation over topics, 0 if only rounding varies."""
    sd: Floats = differences.std(axis=0, ddof=1)
    return np.where(sd <= NOISE * np.abs(differences).max(axis=0), 0.0, sd)


def check_resamples(resamples: int) -> None:
    """Raise InputError for fewer than one resample."""
    if resamples < 1:
        raise InputError(f"resamples: expected 1 or more, found {resamples}")


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Quotient; 0 / 0 is 0 (no difference at all), and anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator == 0, 0.0, numerator / denominator)
