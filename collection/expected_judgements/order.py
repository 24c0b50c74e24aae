"""How sure the present order of the systems is, and whether judging may stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.expected_judgements.pairs import Floats, Pairs
from collection.expected_judgements.values import draw_means, summarize
from collection.measures import Measure, as_measure
from collection.phrases import count, plural
from collection.statistics.rank_correlation import kendall


@dataclass(frozen=True, eq=False)
class SystemOrder:
    """The present order of R systems, by expected value, against their order when all pairs are judged."""

    values: pd.DataFrame
    """``run``, ``measure``, ``value``, ``lowest``, ``highest``, as from :func:`expected_values`; best first."""
    better: pd.DataFrame
    """(R, R) probability that the run of the row is better than that of the column when all pairs are judged; the rest
    is the probability that it is worse or equal."""
    tau: float
    """Expected Kendall's tau-b between the present and the final order."""
    lowest_tau: float
    """Lower bound of that tau at the confidence."""
    open_pairs: int
    """Pairs of systems whose final order has a probability below the confidence."""
    judged: int
    """Judged pairs of topic and document."""
    left: int
    """Unjudged pairs of topic and document."""
    stop: bool
    """True if `lowest_tau` reaches the target, or no pair is left."""
    reason: str
    """Why to stop or to go on, in one sentence."""
    confidence: float = 0.95
    """That of the bound, the intervals and the open pairs."""
    draws: int = 400
    """Number of draws behind the probabilities."""

    def estimates(self) -> pd.DataFrame:
        """Return `values` for files, with columns that name every number an estimate.

        ``run``, ``measure``, ``estimate``, ``estimate_low``, ``estimate_high``.
        """
        names = {"value": "estimate", "lowest": "estimate_low", "highest": "estimate_high"}
        return self.values.rename(columns=names)

    def pairs(self) -> pd.DataFrame:
        """List the pairs of systems, closest first.

        Returns
        -------
        DataFrame
            ``system_a`` (with the higher expected value), ``system_b``, ``difference`` (of the expected values, 0 or
            more), ``probability`` (that A is better than B when all pairs are judged, never certain before),
            ``decided`` (whether the probability of one order, or of equality, is at least the confidence).
        """
        names, values = self.values["run"].tolist(), self.values["value"].to_numpy()
        better = self.better.loc[names, names].to_numpy()
        a, b = np.triu_indices(len(names), 1)
        certain = _certainty(better)[a, b]
        least = 0.5 / self.draws if self.left else 0.0
        table = pd.DataFrame(
            {
                "system_a": np.array(names, dtype=object)[a],
                "system_b": np.array(names, dtype=object)[b],
                "difference": values[a] - values[b],
                "probability": np.clip(better[a, b], least, 1 - least),
                "decided": certain >= self.confidence,
            }
        )
        return table.iloc[np.argsort(certain, kind="stable")].reset_index(drop=True)


def judge_order(
    pairs: Pairs,
    grades: Floats,
    measure: Measure | str,
    *,
    levels: Sequence[float] | None = None,
    target: float = 0.9,
    confidence: float = 0.95,
    draws: int = 400,
    seed: int = 0,
    unavailable: int = 0,
) -> SystemOrder:
    """Estimate how sure the present order of the systems is, and decide whether judging may stop.

    Each draw of the unjudged grades gives a final order. Judging may stop when the final order has a Kendall's tau of
    `target` or more with the present one in a share of `confidence` of the draws.

    Parameters
    ----------
    pairs, grades, levels, draws, seed
        As for :func:`expected_values`.
    measure
        Measure that ranks the systems, of plain qrels.
    target
        Kendall's tau that is enough, above 0 and at most 1.
    confidence
        Probability of the lower bound and of the intervals, between 0 and 1.
    unavailable
        Number of unjudged pairs that cannot be judged, for the reason.

    Raises
    ------
    InputError
        Fewer than two runs, no judged pair, or a number out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from collection.expected_judgements import describe, judge_order
    >>> from collection.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0]))]
    >>> order = judge_order(describe(frame, runs), np.array([1.0, 0.0]), "nDCG@10")
    >>> order.values["run"].tolist(), order.stop, order.reason
    (['a', 'b'], True, 'All pairs are judged: the order of the systems is final.')
    """
    if len(pairs.runs) < 2:
        raise InputError(f"an order of systems needs at least 2 runs, found {len(pairs.runs)}")
    if not 0 < target <= 1 or not 0 < confidence < 1:
        raise InputError(
            "expected a target above 0 and at most 1, and a confidence between 0 and 1; "
            f"found target {target:g} and confidence {confidence:g}"
        )
    measure = as_measure(measure)
    drawn = draw_means(pairs, grades, measure, levels=levels, draws=draws, seed=seed)
    (final,) = drawn.values()
    present = final.mean(axis=1)
    # If all systems are equal at the end, no order agrees with the final one.
    taus = np.nan_to_num([kendall(present, each) for each in final.T])
    better = (final[:, None] > final).mean(axis=2)
    open_pairs = int((_certainty(better)[np.triu_indices(len(better), 1)] < confidence).sum())
    left = int(np.isnan(grades).sum())
    lowest = float(np.quantile(taus, 1 - confidence, method="lower"))
    stop = not left or lowest >= target
    return SystemOrder(
        values=summarize(pairs, drawn, confidence).sort_values(
            "value", ascending=False, ignore_index=True, kind="stable"
        ),
        better=pd.DataFrame(better, index=pairs.runs, columns=pairs.runs),
        tau=float(taus.mean()),
        lowest_tau=lowest,
        open_pairs=open_pairs,
        judged=len(grades) - left,
        left=left,
        stop=stop,
        reason=_explain(left, lowest, target, confidence, open_pairs, len(pairs.runs), unavailable),
        confidence=confidence,
        draws=draws,
    )


def _certainty(better: Floats) -> Floats:
    """(R, R) probability of the most probable of the three outcomes of each pair of systems."""
    certain: Floats = np.maximum(np.maximum(better, better.T), 1 - better - better.T)
    return certain


def _explain(
    left: int, lowest: float, target: float, confidence: float, open_pairs: int, systems: int, unavailable: int
) -> str:
    if not left:
        return "All pairs are judged: the order of the systems is final."
    sure = f"with {confidence:.0%} probability by the model"
    bound = f"{sure}, tau between the present and the final order is at least {lowest:.2f} (target {target:.2f})"
    if lowest >= target:
        return f"Judging may stop: {bound}."
    of = count(systems * (systems - 1) // 2, "pair")
    below = f"{bound}; {open_pairs:,} of {of} of systems {plural(open_pairs, 'is', 'are')} open."
    if left <= unavailable:
        return f"All pairs that can be judged are judged, and {count(left, 'pair')} cannot be: {below}"
    return f"Judging should go on: {below}"
