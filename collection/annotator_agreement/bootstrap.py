"""Values of all coefficients with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from collection.annotator_agreement.coefficients import COEFFICIENTS, MEASUREMENT, OF_TWO, Patterns
from collection.annotator_agreement.labels import Floats, Labels
from collection.errors import InputError

By = Literal["pairs", "topics"]
"""What is drawn again with replacement: pairs of topic and document, or whole topics."""

Scale = Literal["graded", "binary"]

VALUES = ("scale", "coefficient", "value", "low", "high", "note")
INTERVAL = (2.5, 97.5)
_CELLS = 250_000
"""Numbers worked on at a time; more of them would not stay near the processor."""


def values(labels: Labels, *, level: float = 1, resamples: int = 1000, seed: int = 0, by: By = "pairs") -> pd.DataFrame:
    """Every coefficient of the labels, graded and binary, with 95 % percentile intervals.

    Parameters
    ----------
    labels
        Any; what cannot be computed is nan, with a note that says why.
    level
        The grade from which on a document is relevant, for the binary scale.
    resamples
        Bootstrap samples; 0 for no intervals.
    seed
        Of their random numbers: the same labels give the same intervals.
    by
        What is drawn: pairs as if they were independent of each other, or whole topics. Where annotators read a
        topic's need differently they differ on many of its pairs, and only the intervals by topics show that.

    Returns
    -------
    DataFrame
        ``scale`` ("graded", "binary"), ``coefficient``, ``value``, ``low``, ``high`` (float64, nan where there is
        none), ``note`` ("" where there is nothing to say). The binary scale has coefficients of names and the overlap.

    Raises
    ------
    InputError
        `resamples` is below 0, `by` neither "pairs" nor "topics", or `level` not finite.
    """
    return as_frame(rows_of(labels, level=level, resamples=resamples, seed=seed, by=by))


def as_frame(rows: list[tuple[object, ...]], keys: Sequence[str] = ()) -> pd.DataFrame:
    """Rows of :func:`rows_of`, each perhaps with its keys before it, as a frame."""
    frame = pd.DataFrame(rows, columns=[*keys, *VALUES])
    return frame.astype(dict.fromkeys(("scale", "coefficient", "note"), "str")) if rows else frame


def rows_of(
    labels: Labels, *, level: float = 1, resamples: int = 1000, seed: int = 0, by: By = "pairs"
) -> list[tuple[object, ...]]:
    """What :func:`values` says, as the rows of its frame: frames take longer to make than these."""
    if by not in get_args(By):
        raise InputError(f"resampling is by {' or '.join(get_args(By))}, found {by!r}")
    if resamples < 0:
        raise InputError(f"resamples are 0 or more, found {resamples}")
    if not np.isfinite(level):
        raise InputError(f"the level is a grade, which is a finite number, found {level:g}")
    rows: list[tuple[object, ...]] = []
    for scale in get_args(Scale):
        of_scale = labels if scale == "graded" else labels.binary(level)
        names = [n for n, m in MEASUREMENT.items() if m == "nominal" or (m == "binary") == (scale == "binary")]
        patterns = Patterns(of_scale)
        own = patterns.own()
        points = {name: float(COEFFICIENTS[name].function(own)[0]) for name in names}
        drawn = _resampled(patterns, of_scale, names, resamples, seed, by)
        why = _why(of_scale)
        for name in names:
            low, high, note = _interval(points[name], drawn[name], by if resamples else None)
            if np.isnan(points[name]):
                note = why or ("nobody calls a document relevant" if name == "overlap" else _alone(of_scale))
            elif name in OF_TWO and (without := int(np.isnan(OF_TWO[name](own)).sum())):
                left_out = f"{without:,} of {patterns.crossings:,} pairs of annotators have no value and are left out"
                note = f"{left_out}; {note}" if note else left_out
            rows.append((scale, name, points[name], low, high, note))
    return rows


def _resampled(
    patterns: Patterns, labels: Labels, names: list[str], resamples: int, seed: int, by: By
) -> dict[str, Floats]:
    """Coefficient -> its values in the resamples; none where there is one pair or topic only to draw from."""
    parts: dict[str, list[Floats]] = {name: [] for name in names}
    for weights in _weights(patterns, labels, resamples, seed, by):
        sums = patterns.sums(weights)
        for name in names:
            parts[name].append(COEFFICIENTS[name].function(sums))
    return {name: np.concatenate(part) if part else np.zeros(0) for name, part in parts.items()}


def _weights(patterns: Patterns, labels: Labels, resamples: int, seed: int, by: By) -> Iterator[Floats]:
    """How often each pattern is in each resample, some resamples at a time."""
    kinds = len(patterns.times)
    if by == "topics":
        topics, names = pd.factorize(labels.pairs["query_id"])
        per_topic = np.zeros((len(names), kinds))
        np.add.at(per_topic, (topics, patterns.of_pair), 1)
        units, among = len(names), np.full(len(names), 1 / max(len(names), 1))
    else:
        units = int(patterns.times.sum())
        among = patterns.times / max(units, 1)
    if units < 2 or not patterns.of_several.any():
        return
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // max(kinds, patterns.crossings * len(patterns.grades) ** 2))
    for start in range(0, resamples, step):
        drawn = random.multinomial(units, among, size=min(step, resamples - start)).astype(np.float64)
        yield drawn @ per_topic if by == "topics" else drawn


def _interval(value: float, drawn: Floats, by: By | None) -> tuple[float, float, str]:
    """Bounds, and what is to be said of them; `by` is None where nobody asked for them."""
    there = drawn[~np.isnan(drawn)]
    if np.isnan(value) or by is None:
        return np.nan, np.nan, ""
    if len(there) < 2:
        return np.nan, np.nan, "" if len(drawn) else f"no interval: there are not several {by} to draw from"
    low, high = np.percentile(there, INTERVAL)
    missing = 1 - len(there) / len(drawn)
    note = f"the interval leaves out the {missing:.0%} of the resamples that have no value" if missing >= 0.01 else ""
    return float(low), float(high), note


def _why(labels: Labels) -> str:
    """Why nothing can be computed at all, or ""."""
    if not labels.count:
        return "there is no grade"
    if len(labels.annotators) < 2:
        return "there is one annotator only"
    if not labels.several.any():
        return "no pair was graded by two annotators"
    return ""


def _alone(labels: Labels) -> str:
    """Why a coefficient that counts chance has no value."""
    given = np.unique(labels.codes[labels.several])
    grades = [f"{labels.grades[code]:g}" for code in given if code >= 0]
    if len(grades) == 1:
        return f"every grade is {grades[0]}, and agreement beyond chance needs two that occur"
    return "every annotator gives one grade only, and agreement beyond chance needs two that occur"
