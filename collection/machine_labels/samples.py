"""Spread of several samples of one judge for a pair."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

_PAIR = ["query_id", "doc_id"]


@dataclass(frozen=True)
class SampleSpread:
    """Spread of the grades of a judge that labelled pairs several times."""

    pairs: int
    """Pairs with two graded samples or more."""
    samples: int
    """Graded samples of these pairs."""
    differing: float
    """Share of these pairs whose samples differ."""
    deviation: float
    """Mean over these pairs of the standard deviation of the samples (divisor: samples - 1)."""


def measure_spread(samples: pd.DataFrame) -> SampleSpread | None:
    """Measure how much the graded samples of the same pairs differ; None if no pair has several.

    `samples` has ``query_id``, ``doc_id``, ``sample``, ``status``, ``relevance``.

    Examples
    --------
    >>> pairs = {"query_id": "1", "doc_id": ["a", "a", "b", "b", "c"], "sample": [1, 2, 1, 2, 1], "status": "graded"}
    >>> spread = measure_spread(pd.DataFrame({**pairs, "relevance": [0, 2, 1, 1, 3]}))
    >>> spread.pairs, spread.differing, round(spread.deviation, 3)
    (2, 0.5, 0.707)
    """
    if (samples["sample"] == 1).all():
        return None
    graded = samples[samples["status"] == "graded"]
    by_pair = graded.groupby(_PAIR, sort=False)["relevance"].agg(["size", "nunique", "std"])
    several = by_pair[by_pair["size"] > 1]
    if several.empty:
        return None
    return SampleSpread(
        len(several), int(several["size"].sum()), float((several["nunique"] > 1).mean()), float(several["std"].mean())
    )
