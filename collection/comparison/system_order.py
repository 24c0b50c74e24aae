"""Confidence in the current order of the systems, and whether judging can stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection.comparison.estimates import EstimatedPool, Estimates, summarise_draws, summarise_topics
from collection.core.arrays import Floats
from collection.core.display import Displayed, Summary
from collection.core.errors import InputError
from collection.core.phrases import confidence, count, join, plural
from collection.core.records import ALL_TOPICS
from collection.measures import Measure
from collection.statistics.rank_correlation import kendall

if TYPE_CHECKING:
    import altair as alt


class Unlisted(NamedTuple):
    """Documents that are not among the pairs of a comparison, count as not relevant, and can change the measure."""

    ranks: int = 0
    """Ranks that the measure reads, over all runs, with such documents."""
    topics: int = 0
    """Topics of the runs without any pair."""
    pooled: int = 0
    """Unjudged pairs of the pool at no such rank, for a measure that depends on all judged documents of a topic."""
    others: bool = False
    """Whether documents at no such rank, in the pool or not, can change the measure."""


NOTHING_UNLISTED = Unlisted()
"""No other document can change the measure."""


@dataclass(frozen=True, eq=False, repr=False)
class SystemOrder(Displayed):
    """Estimated current order of the systems, compared with their order once all pairs of the comparison are judged.

    A console or notebook shows the estimates and whether judging can stop.
    """

    estimates: Estimates
    """Estimates of the measure that orders the systems; each run is a system."""
    tau: float
    """Expected Kendall's tau-b between the current order and the one after all pairs are judged."""
    lowest_tau: float
    """Lower bound of that tau, with the probability :attr:`confidence`."""
    target: float
    """Tau at which judging can stop."""
    unavailable: int = 0
    """Number of unjudged pairs that cannot be judged."""
    unlisted: Unlisted = NOTHING_UNLISTED
    """Documents outside the pairs that can change the measure."""
    logged: int = 0
    """In a campaign: number of the last log entry that the estimates use."""

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return str(self.estimates.values["measure"].iloc[0])

    @property
    def confidence(self) -> float:
        """Confidence of the lower bound, the ranges and the decided pairs."""
        return 1 - self.estimates.alpha

    @cached_property
    def values(self) -> pd.DataFrame:
        """``run``, ``measure``, ``estimate``, ``estimate_low``, ``estimate_high`` over all topics; best first."""
        rows = self.estimates.values[self.estimates.values["query_id"] == ALL_TOPICS].set_index("run")
        return rows.loc[self.estimates.order()].drop(columns="query_id").reset_index()

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The columns of :attr:`.Estimates.pairs`, and ``decided``, closest pairs first.

        A pair is decided if the probability of one order, or of equality, is at least the confidence. Before all pairs
        of the pool are judged, ``probability_better`` is neither 0 nor 1.
        """
        pairs, least = self.estimates.pairs, self.estimates.lowest_probability
        better, equal = pairs["probability_better"], pairs["probability_equal"]
        certain = np.maximum(np.maximum(better, equal), 1 - better - equal)
        table = pairs.assign(
            # 0.95 of 400 draws is reached by 380 of them, whatever the sum of the shares is as a float.
            decided=certain.round(12) >= round(self.confidence, 12),
            probability_better=better.clip(least, 1 - least),
        )
        return table.iloc[np.argsort(certain, kind="stable")].reset_index(drop=True)

    @property
    def open_pairs(self) -> int:
        """Number of pairs of systems that are not decided."""
        return int((~self.pairs["decided"]).sum())

    @property
    def final(self) -> bool:
        """True if every pair that can change the measure is judged."""
        return not self.estimates.pool.unjudged and not any(self.unlisted)

    @property
    def stop(self) -> bool:
        """True if `lowest_tau` reaches the target, or no pair of the pool is left."""
        return not self.estimates.pool.unjudged or self.lowest_tau >= self.target

    def chart(self) -> alt.Chart:
        """Draw the probability of each pair's order."""
        from collection.charts.comparison import certainty_chart
        from collection.charts.marks import WIDTH

        return certainty_chart(self.pairs, self.values["run"].tolist()).properties(width=WIDTH)

    def _summary(self) -> Summary:
        details = "values (ranges), pairs (probabilities), estimates, chart()"
        return Summary([self.reason], self.values, self.estimates.notes, details, row_names=False)

    @property
    def reason(self) -> str:
        """Reason to stop or to go on, in one sentence."""
        left = self.estimates.pool.unjudged
        pairs = count(self.estimates.pool.pairs, "pair")
        if self.final:
            return f"All pairs that can change {self.measure} are judged: the order of the systems is final."
        if not left:
            return f"The {pairs} of the comparison are judged, but the order is not final: {self._can_change}."
        bound = (
            f"with {confidence(self.estimates.alpha)} probability under the model, Kendall's tau between the current "
            f"order and the order with all {pairs} judged is at least {self.lowest_tau:.2f} (target {self.target:.2f})"
        )
        if self.stop:
            return f"Judging can stop: {bound}."
        of = count(len(self.pairs), "pair")
        below = f"{bound}; {self.open_pairs:,} of {of} of systems {plural(self.open_pairs, 'is', 'are')} undecided."
        if left <= self.unavailable:
            return f"All pairs that can be judged are judged; {count(left, 'pair')} cannot be judged: {below}"
        return f"Keep judging: {below}"

    @property
    def caution(self) -> str:
        """Documents outside the pairs that can change the order; "" if none can, or :attr:`reason` says it."""
        if not self.estimates.pool.unjudged or not any(self.unlisted):
            return ""
        pairs = count(self.estimates.pool.pairs, "pair")
        return f"Documents outside the {pairs} count as not relevant, but can change the order: {self._can_change}."

    @property
    def _can_change(self) -> str:
        ranks, topics, pooled, others = self.unlisted
        parts = []
        if ranks:
            parts.append(
                f"{count(ranks, 'rank')} that {self.measure} reads {plural(ranks, 'has', 'have')} documents outside "
                "the pool"
            )
        if topics:
            parts.append(f"{count(topics, 'topic')} of the runs {plural(topics, 'has', 'have')} no pair in the pool")
        if others:
            more = count(pooled, "such pair")
            below = f", and {more} of the pool {plural(pooled, 'is', 'are')} unjudged" if pooled else ""
            parts.append(f"{self.measure} also depends on relevant documents outside the ranks that it reads{below}")
        return join(parts)


def assess_order(
    runs: Sequence[str],
    topics: Sequence[str],
    measure: Measure,
    drawn: Floats,
    pool: EstimatedPool,
    *,
    target: float = 0.9,
    confidence: float = 0.95,
    unavailable: int = 0,
    unlisted: Unlisted = NOTHING_UNLISTED,
) -> SystemOrder:
    """Compare the current order of the systems, by estimate, with their order in each draw of the unjudged grades.

    Judging can stop when the order of the draw has a Kendall's tau of `target` or more with the present one in a share
    of `confidence` of the draws.

    Parameters
    ----------
    runs, topics
        R and T names; R is at least 2.
    measure, drawn
        The measure that ranks the systems, and its values (R, draws, T).
    target
        Kendall's tau that is enough, above 0 and at most 1.
    confidence
        Probability of the lower bound and of the ranges, between 0 and 1.
    unavailable
        Number of unjudged pairs that cannot be judged, for the reason.
    unlisted
        Documents outside the pairs that can change the measure.

    Raises
    ------
    InputError
        Fewer than two runs, or a number out of range.

    Examples
    --------
    >>> from collection.measures import parse
    >>> drawn = np.array([[[0.0], [1.0]], [[0.5], [0.25]]])
    >>> order = assess_order(["a", "b"], ["1"], parse("RR"), drawn, EstimatedPool(1, 1, 1, "the ranks", ""))
    >>> order.lowest_tau, order.open_pairs, order.stop
    (-1.0, 1, False)
    """
    if len(runs) < 2:
        raise InputError(f"an order of systems needs at least 2 runs, found {len(runs)}")
    if not 0 < target <= 1 or not 0 < confidence < 1:
        raise InputError(
            "expected a target above 0 and at most 1, and a confidence between 0 and 1; "
            f"found target {target:g} and confidence {confidence:g}"
        )
    alpha = 1 - confidence
    estimates = summarise_draws(runs, topics, {measure: drawn}, pool, alpha=alpha, separate_seeds=True)
    present = estimates.table()[str(measure)].loc[list(runs)].to_numpy()
    final = summarise_topics(measure, drawn)
    # If all systems are equal at the end, no order agrees with that one.
    taus = np.nan_to_num([kendall(present, each) for each in final.T])
    lowest = float(np.quantile(taus, alpha, method="lower"))
    return SystemOrder(estimates, float(taus.mean()), lowest, target, unavailable, unlisted)
