"""Values of all coefficients with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from collection.annotator_agreement.coefficients import COEFFICIENTS, CoefficientEntry, Patterns, Scale
from collection.annotator_agreement.labels import Labels
from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import count, join, percent

By = Literal["pairs", "topics"]
"""The bootstrap unit: pairs of topic and document, or whole topics."""

VALUES = ("scale", "coefficient", "value", "low", "high", "note")
INTERVAL = (2.5, 97.5)
_CELLS = 250_000
"""Size of a batch of numbers, chosen to stay in the processor's cache."""


def values(
    labels: Labels,
    *,
    level: float = 1,
    resamples: int = 1000,
    seed: int = 0,
    by: By = "pairs",
    nominal: bool = False,
) -> pd.DataFrame:
    """Every coefficient of the labels, graded and binary, with 95% percentile intervals.

    Parameters
    ----------
    level
        Minimum relevant grade, for the binary scale.
    resamples, seed
        Bootstrap samples, 0 for no intervals, and their random seed.
    by
        Bootstrap unit. Annotators who interpret a topic differently disagree on many of its pairs, and only the
        intervals by topics reflect that.
    nominal
        Whether the grades are names without an order: there are then only the nominal coefficients, and no binary
        scale.

    Returns
    -------
    DataFrame
        ``scale`` ("graded", "binary"), ``coefficient``, ``value``, ``low``, ``high`` (float64, nan if it cannot be
        computed), ``note`` (the reason, or ""). The binary scale has the nominal coefficients and the overlap.

    Raises
    ------
    InputError
        `resamples`, `by` or `level` is out of range.
    """
    return build_frame(compute_rows(labels, level=level, resamples=resamples, seed=seed, by=by, nominal=nominal))


def build_frame(rows: list[tuple[object, ...]], keys: Sequence[str] = ()) -> pd.DataFrame:
    """A frame of the rows of :func:`compute_rows`, after the columns `keys`."""
    frame = pd.DataFrame(rows, columns=[*keys, *VALUES])
    return frame.astype(dict.fromkeys(("scale", "coefficient", "note"), "str")) if rows else frame


def compute_rows(
    labels: Labels,
    *,
    level: float = 1,
    resamples: int = 1000,
    seed: int = 0,
    by: By = "pairs",
    nominal: bool = False,
) -> list[tuple[object, ...]]:
    """The rows of :func:`values`, since many frames would take longer to make than their rows."""
    if by not in get_args(By):
        raise InputError(f"by: expected {join(get_args(By), 'or')}, found {by!r}")
    if resamples < 0:
        raise InputError(f"resamples: expected 0 or more, found {resamples}")
    if not np.isfinite(level):
        raise InputError(f"level: expected a finite grade, found {level:g}")
    rows: list[tuple[object, ...]] = []
    for scale in ("graded",) if nominal else get_args(Scale):
        scaled = labels if scale == "graded" else labels.binary(level)
        entries = [e for e in COEFFICIENTS if scale in e.scales and (not nominal or e.measurement == "nominal")]
        patterns = Patterns(scaled)
        sums = patterns.label_sums()
        resampled = _resample(patterns, scaled, entries, resamples, seed, by)
        for entry, drawn in zip(entries, resampled, strict=True):
            value = float(entry.function(sums)[0])
            low, high, note = _interval(value, drawn, by if resamples else None)
            if np.isnan(value):
                note = _explain_missing(scaled, entry.name)
            elif entry.pairwise and (without := int(np.isnan(entry.pairwise(sums)).sum())):
                among = count(patterns.crossings, "pair of annotators", "pairs of annotators")
                left_out = f"{without:,} of {among} left out: no value"
                note = f"{left_out}; {note}" if note else left_out
            rows.append((scale, entry.name, value, low, high, note))
    return rows


def _resample(
    patterns: Patterns, labels: Labels, entries: list[CoefficientEntry], resamples: int, seed: int, by: By
) -> list[Floats]:
    """Each coefficient's values in the resamples; none if there is only one pair or topic to draw from."""
    parts: list[list[Floats]] = [[np.zeros(0)] for _ in entries]
    for weights in _draw_weights(patterns, labels, resamples, seed, by):
        sums = patterns.sums(weights)
        for entry, part in zip(entries, parts, strict=True):
            part.append(entry.function(sums))
    return [np.concatenate(part) for part in parts]


def _draw_weights(patterns: Patterns, labels: Labels, resamples: int, seed: int, by: By) -> Iterator[Floats]:
    """Count each pattern in each resample, some resamples at a time."""
    kinds = len(patterns.times)
    if by == "topics":
        topics, names = pd.factorize(labels.topics)
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
    """Both bounds and a note; `by` is None without resamples."""
    defined = drawn[~np.isnan(drawn)]
    if np.isnan(value) or by is None:
        return np.nan, np.nan, ""
    if len(defined) < 2:
        return np.nan, np.nan, "" if len(drawn) else f"no interval: fewer than two {by} to resample"
    low, high = np.percentile(defined, INTERVAL)
    missing = 1 - len(defined) / len(drawn)
    note = f"{percent(missing)} of the bootstrap samples have no value" if missing >= 0.01 else ""
    return float(low), float(high), note


def _explain_missing(labels: Labels, coefficient: str) -> str:
    if not labels.count:
        return "there are no grades"
    if len(labels.annotators) < 2:
        return "there is only one annotator"
    if not labels.several.any():
        return "no pair was graded by two annotators"
    if coefficient == "overlap":
        return "no document is graded relevant"
    given = np.unique(labels.codes[labels.several])
    if (given >= 0).sum() == 1:
        return "all grades are equal on this scale; chance-corrected agreement needs two different grades"
    return "every annotator gives a single grade; chance-corrected agreement needs two different grades"
