"""Published stopping rules; those without a guarantee in their docstring are heuristics."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import numpy as np

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import require_known
from collection.core.phrases import count, percent_down
from collection.core.registry import Parameter
from collection.stopping.ledger import Ledger
from collection.stopping.table import ROUNDING, STOPPING_RULES, Confidence, StopDecision, Target, too_many

Stage = Literal["ranking", "both"]


@STOPPING_RULES.add(
    "fixed",
    label="Fixed budget",
    description="Stop after a fixed number of judgements.",
    promises="the cost, not the recall",
)
def fixed(
    ledger: Ledger, *, judgements: Annotated[int, Parameter("Judgements", "Number of judgements.")] = 1000
) -> StopDecision:
    """Stop when the number of judgements reaches `judgements`.

    It guarantees the cost, not the recall. Source: the depth of a TREC pool is such a budget (Sparck Jones & van
    Rijsbergen, 1975).
    """
    return StopDecision(ledger.judged >= judgements, f"{ledger.judged:,} of {count(judgements, 'judgement')} made")


@STOPPING_RULES.add(
    "consecutive", label="Irrelevant in a row", description="Stop after a number of irrelevant documents in a row."
)
def consecutive(
    ledger: Ledger, *, length: Annotated[int, Parameter("Length", "Number of irrelevant documents.")] = 50
) -> StopDecision:
    """Stop when `length` documents since the last relevant one are irrelevant.

    A heuristic without a guarantee, which fails if relevant documents come in clusters. Source: Ros, Bjarnason &
    Runeson, EASE 2017; common practice long before.
    """
    run = len(ledger.since_relevant)
    return StopDecision(run >= length, f"{count(run, 'irrelevant document')} in a row (threshold: {length:,})")


@STOPPING_RULES.add("half", label="Half", description="Stop when half of the documents are judged.")
def half(ledger: Ledger) -> StopDecision:
    """Stop when N / 2 documents are judged.

    A heuristic without a guarantee. Source: a baseline of Yang, Lewis & Frieder, DocEng 2021.
    """
    return StopDecision(2 * ledger.judged >= ledger.size, f"{_judged(ledger)} (threshold: half)")


@STOPPING_RULES.add(
    "2399", label="2399", description="Stop after 2,399 judgements plus 1.2 for each relevant document found."
)
def rule_2399(ledger: Ledger) -> StopDecision:
    """Stop when 1.2 F + 2399 documents are judged.

    A heuristic without a guarantee. The line was fitted to reviews of TREC collections. Source: Cormack &
    Grossman, as Yang, Lewis & Frieder, DocEng 2021, describe it.
    """
    wanted = int(np.ceil(1.2 * ledger.found + 2399 - ROUNDING))
    reason = f"{ledger.judged:,} of {wanted:,} judgements made, {count(ledger.found, 'relevant document')} found"
    return StopDecision(ledger.judged >= wanted, reason)


ROWS = 1 << 20
"""Maximum number of pairs of a count and a possible knee in one comparison."""


def find_knees(ledger: Ledger, counts: Ints) -> tuple[Ints, Floats]:
    """Find the rank of the knee of the gain curve (0: none) and its slope ratio after each number of judgements.

    The knee is the end of a round whose point is farthest above the line from the origin to the end of the curve. The
    slope ratio is the slope before it over the slope after it, with one more relevant document counted there.
    `counts` (k,) ascends: ends of rounds, or all judgements.
    """
    gain = np.concatenate(([0], np.cumsum(ledger.relevant)))
    n = ledger.judged
    ends = np.arange(1, n + 1) if ledger.batch is None else np.flatnonzero(np.diff(ledger.batch, append=np.inf)) + 1
    # A round that found nothing ends below the round before and cannot be the knee.
    ends = ends[np.diff(gain[ends], prepend=0) > 0]
    ranks, ratios = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts))
    step = max(1, ROWS // max(1, len(ends)))
    for at in range(0, len(counts) if len(ends) else 0, step):
        judged = counts[at : at + step, None]
        above = np.where(ends < judged, gain[ends] * judged - ends * gain[judged], 0)
        best, exists = above.argmax(axis=1), above.max(axis=1) > 0
        knee = ends[best]
        before, after = gain[knee], gain[judged[:, 0]] - gain[knee]
        slope = np.maximum(1 + after, 1) / np.maximum(judged[:, 0] - knee, 1)
        ranks[at : at + step] = np.where(exists, knee, 0)
        ratios[at : at + step] = np.where(exists, (before / knee) / slope, 0.0)
    return ranks, ratios


def _find_knee(ledger: Ledger) -> tuple[int, float]:
    """:func:`find_knees` after all judgements."""
    ranks, ratios = find_knees(ledger, np.array([ledger.judged]))
    return int(ranks[0]), float(ratios[0])


def _knee_stops(ledger: Ledger, counts: Ints, *, rho: float = 6.0, relevant: int = 150, least: int = 100) -> Bools:
    """Return whether :func:`knee` would have stopped after each of these numbers of judgements.

    In one pass, because calling the rule after each of n judgements would read n² / 2 of them.
    """
    ranks, ratios = find_knees(ledger, counts)
    relevant_found = np.cumsum(ledger.relevant)[counts - 1]
    return (ranks > 0) & (ratios >= rho + relevant - np.minimum(relevant_found, relevant)) & (counts >= least)


@STOPPING_RULES.add(
    "knee",
    label="Knee",
    description="Stop when the gain curve flattens: its slope has fallen by a large factor.",
    at_each=_knee_stops,
)
def knee(
    ledger: Ledger,
    *,
    rho: Annotated[float, Parameter("Slope ratio", "Ratio that is enough once `relevant` documents are found.")] = 6.0,
    relevant: Annotated[int, Parameter("Relevant documents", "Each one fewer raises the required ratio by 1.")] = 150,
    least: Annotated[int, Parameter("Judgements", "Minimum number of judgements.")] = 100,
) -> StopDecision:
    """Stop when (slope before the knee) / (slope after it) >= rho + relevant - min(F, relevant).

    A heuristic without a guarantee. By default the bound is 156 - min(F, 150), so few relevant documents need a
    sharper knee. It never stops before `least` judgements. A knee is at the end of a round of the model, or at any
    judgement if rounds are unknown. Source: Cormack & Grossman, "Engineering quality and
    reliability in technology-assisted review", SIGIR 2016.
    """
    rank, ratio = _find_knee(ledger)
    bound = rho + relevant - min(ledger.found, relevant)
    where = f"the slope fell {ratio:.1f}-fold at judgement {rank:,}" if rank else "the gain curve has no knee"
    reason = (
        f"{where} (threshold: {bound:g}-fold); {count(ledger.judged, 'judgement')} made (at least {least:,} needed)"
    )
    return StopDecision(bool(rank) and ratio >= bound and ledger.judged >= least, reason)


def _budget_stops(ledger: Ledger, counts: Ints, *, rho: float = 6.0, positives: int = 10, most: float = 0.75) -> Bools:
    """Compute :func:`budget` for every number of judgements; see :func:`_knee_stops`."""
    ranks, ratios = find_knees(ledger, counts)
    relevant = np.cumsum(ledger.relevant)[counts - 1]
    cost = np.divide(positives * ledger.size, relevant, out=np.full(len(counts), np.inf), where=relevant > 0)
    return ((ranks > 0) & (ratios >= rho) & (counts >= cost)) | (counts >= most * ledger.size)


@STOPPING_RULES.add(
    "budget",
    label="Budget",
    description="Stop at a knee once the judgements reach the estimated cost of random sampling.",
    at_each=_budget_stops,
)
def budget(
    ledger: Ledger,
    *,
    rho: Annotated[float, Parameter("Slope ratio", "Minimum ratio of the slopes at the knee.")] = 6.0,
    positives: Annotated[int, Parameter("Random sample", "Relevant documents in the sample.")] = 10,
    most: Annotated[float, Parameter("Maximum share", "Share of the documents at which to stop in any case.")] = 0.75,
) -> StopDecision:
    """Stop at a knee with slope ratio >= rho once positives N / F documents are judged, or once a share `most` of N.

    A heuristic without a guarantee. positives N / F estimates the cost of finding that many relevant documents by
    random draws, with F in place of R. Source: Cormack & Grossman, "Engineering quality and reliability in
    technology-assisted review", SIGIR 2016, as Yang, Lewis & Frieder, DocEng 2021, state it.
    """
    rank, ratio = _find_knee(ledger)
    cost = positives * ledger.size / ledger.found if ledger.found else np.inf
    stop = (bool(rank) and ratio >= rho and ledger.judged >= cost) or ledger.judged >= most * ledger.size
    budgeted = f"{int(np.ceil(cost)):,} judgements" if ledger.found else "a first relevant document"
    reason = (
        f"{_judged(ledger)} and the slope fell {ratio:.1f}-fold "
        f"(threshold: {budgeted} and {rho:g}-fold, or {percent_down(most)} of the documents)"
    )
    return StopDecision(bool(stop), reason)


def _control_sample(ledger: Ledger) -> Ints:
    """Positions of the relevant documents in the first unbroken sequence of random draws, a uniform sample."""
    if not len(ledger.draws):
        return ledger.draws
    first = ledger.draws[0]
    rest = np.flatnonzero(~ledger.drawn[first:])
    last = first + rest[0] if len(rest) else ledger.judged
    return first + np.flatnonzero(ledger.relevant[first:last])


def _check_control_sample(ledger: Ledger, positives: int, wanted: int, promise: str) -> StopDecision:
    """Decide whether the ranking has reached `wanted` of the first `positives` relevant documents of the sample."""
    sample = _control_sample(ledger)[:positives]
    if len(sample) < positives:
        drawn = f"the random sample at the start has {count(len(sample), 'relevant document')}"
        return StopDecision(False, f"{drawn}, but {positives:,} are needed before ranking starts")
    if ledger.reached is None:
        return StopDecision(False, "it is not known when the ranking reached the randomly drawn documents")
    again = int((~np.isnan(ledger.reached[sample])).sum())
    reason = f"the ranking reached {again:,} of {count(positives, 'randomly drawn relevant document')}"
    return StopDecision(again >= wanted, f"{reason} ({wanted:,} {promise})")


@STOPPING_RULES.add(
    "target",
    label="Target",
    description="Draw 10 relevant documents at random, then stop when the ranking has found all of them.",
    promises="74% recall with 95% confidence",
    needs="control sample",
)
def target(
    ledger: Ledger, *, positives: Annotated[int, Parameter("Random sample", "Relevant documents to draw.")] = 10
) -> StopDecision:
    """Stop when the ranking has found all of the first `positives` relevant documents of a control sample.

    It guarantees a recall of 0.05^(1/positives) with 95% confidence, 74% with 10, if the model never learns from the
    control sample. Source: Cormack & Grossman, "Engineering quality and reliability in technology-assisted review",
    SIGIR 2016.
    """
    positives = max(1, int(positives))
    promise = f"guarantee {percent_down(0.05 ** (1 / positives))} recall with 95% confidence"
    return _check_control_sample(ledger, positives, positives, promise)


def smallest_sample(target: float = 0.9, confidence: float = 0.95) -> int | None:
    """The smallest sample of relevant documents with which :func:`qbcb` can stop; None for a target of 1.

    >>> [smallest_sample(t) for t in (0.8, 0.9, 0.95)]
    [14, 29, 59]
    """
    if target == 1:
        return None
    # All of r lie in the first share t of the relevant documents with probability t^r.
    return max(1, int(np.ceil(np.log1p(-confidence) / np.log(target) - ROUNDING)))


def quantile_bound(positives: int, target: float = 0.9, confidence: float = 0.95) -> int | None:
    """The least j with P(Binomial(positives, target) < j) >= confidence; None if that is more than `positives`."""
    from scipy.stats import binom

    bound = int(binom.ppf(confidence, positives, target)) + 1
    return bound if bound <= positives else None


@STOPPING_RULES.add(
    "qbcb",
    label="QBCB",
    description="Draw relevant documents at random, then stop when the ranking has found enough of them.",
    promises="the target recall with the chosen confidence",
    needs="control sample",
)
def qbcb(
    ledger: Ledger,
    *,
    target: Target = 0.9,
    confidence: Confidence = 0.95,
    positives: Annotated[
        int | None, Parameter("Random sample", "Relevant documents to draw; None: the fewest possible.")
    ] = None,
) -> StopDecision:
    """Stop when the ranking has found at least j of r relevant documents that were drawn at random.

    j is the least number with P(Binomial(r, target) < j) >= confidence. It guarantees a recall of at least the
    target with that confidence, if r was fixed beforehand and the model never learns from the control sample. By
    default r is the smallest possible sample, and j = r; with a larger r (`positives`) the ranking may miss some, and
    the rule stops closer to the target. Source: Lewis, Yang & Frieder, "Certifying one-phase technology-assisted
    reviews", CIKM 2021 (quantile binomial coefficient bound).
    """
    positives = positives or smallest_sample(target, confidence)
    wanted = quantile_bound(positives, target, confidence) if positives else None
    if positives is None or wanted is None:
        sample = f"a sample of {count(positives, 'relevant document')}" if positives else "no sample"
        verb = "is too small to" if positives else "can"
        return StopDecision(
            False,
            f"{sample} {verb} guarantee {percent_down(target)} recall with {percent_down(confidence)} confidence",
        )
    return _check_control_sample(
        ledger, positives, wanted, f"guarantee {percent_down(target)} recall with {percent_down(confidence)} confidence"
    )


MOST_WINDOWS = 40


def _unlikely(ledger: Ledger, target: float, starts: Ints) -> float:
    """The smallest p over windows from each start to the end, treating the documents in them as random draws."""
    from scipy.stats import hypergeom

    before = ledger.found_before[starts]
    urn = ledger.unjudged_before[starts]
    relevant, found, draws = too_many(ledger, target) - before, ledger.found - before, ledger.judged - starts
    # The urn never had enough documents to miss that many.
    if (relevant > urn - draws + found).any():
        return 0.0
    share = relevant / urn
    spread = np.sqrt(draws * share * (1 - share) * (urn - draws) / np.maximum(urn - 1, 1))
    below = (found + 0.5 - draws * share) / np.maximum(spread, 1e-12)
    # The exact value is slow, so the normal approximation selects the few windows near the minimum.
    least = np.argpartition(below, MOST_WINDOWS)[:MOST_WINDOWS] if len(starts) > MOST_WINDOWS else slice(None)
    return float(hypergeom.cdf(found[least], urn[least], relevant[least], draws[least]).min())


@STOPPING_RULES.add(
    "buscar",
    label="buscar",
    description="Stop when a hypergeometric test rejects a recall below the target, as if the last ranked documents "
    "were random draws (heuristic).",
)
def buscar(
    ledger: Ledger,
    *,
    target: Target = 0.9,
    confidence: Confidence = 0.95,
    stage: Annotated[Stage, Parameter("Stage", "Which judgements count as draws.")] = "ranking",
    switch: Annotated[float | None, Parameter("Switch", "Threshold of p for stage both.")] = None,
) -> StopDecision:
    """Stop when p = P(X <= k) < 1 - confidence, where X ~ Hypergeometric(urn, relevant, draws).

    k is the number of relevant documents among the draws, `urn` the number of documents unjudged before the draws, and
    `relevant` the smallest number of relevant documents among these if the target is missed: floor(F / target) + 1
    minus those found before. With stage "both", the published workflow, the model ranks until p is below `switch` (by
    default 1 - confidence / 2); then documents are drawn at random and these draws are tested, which is exact for a
    single test and slightly too lenient if repeated. With stage "ranking" the last documents of the ranking count as
    draws, from the start that gives the lowest p: a heuristic without a guarantee. Source: Callaghan & Mueller-Hansen,
    "Statistical stopping criteria for automated screening in systematic reviews", Systematic Reviews 9, 2020.
    """
    require_known("stage of buscar", get_args(Stage), stage)
    if not ledger.judged:
        return StopDecision(False, "nothing is judged yet")
    limit = 1 - confidence
    below = f"a recall below {percent_down(target)} has"
    tail = ledger.judged - (int(np.flatnonzero(~ledger.drawn).max(initial=-1)) + 1)
    if stage == "both" and tail:
        p = _unlikely(ledger, target, np.array([ledger.judged - tail]))
        reason = f"{below} p = {p:.3g} after {count(tail, 'random draw')} (threshold: {limit:.3g})"
        return StopDecision(p < limit, reason)
    # p falls with every irrelevant document in the window, so it is smallest for a start just after a relevant one.
    starts = np.unique(np.concatenate(([0], np.flatnonzero(ledger.relevant) + 1)))
    p = _unlikely(ledger, target, starts[starts < ledger.judged])
    reason = f"{below} p = {p:.3g} if the last ranked documents were random draws"
    if stage == "both":
        start = 1 - confidence / 2 if switch is None else switch
        then = "draw at random from now on" if p < start else f"random draws start below {start:.3g}"
        return StopDecision(False, f"{reason}; {then}")
    return StopDecision(p < limit, f"{reason} (threshold: {limit:.3g})")


@STOPPING_RULES.add(
    "quantci",
    label="QuantCI",
    description="Stop when the recall estimated from the model's probabilities reaches the target.",
    needs="scores",
)
def quantci(
    ledger: Ledger,
    *,
    target: Target = 0.9,
    deviations: Annotated[float, Parameter("Deviations", "Standard deviations subtracted from the estimate.")] = 2.0,
) -> StopDecision:
    """Stop when (estimated recall) - deviations * (its standard deviation) >= target.

    The estimate is the sum of the model's probabilities over the judged documents, divided by that over all. A
    heuristic without a guarantee, which needs calibrated probabilities. With deviations=0 it is Quant. The variance
    is the first-order one of the paper's implementation, without the covariance, which makes it larger. Source:
    Yang, Lewis & Frieder, "Heuristic stopping rules for technology-assisted review", DocEng 2021.
    """
    if ledger.scores is None:
        return StopDecision(False, "the model's probabilities are not known")
    p, n = ledger.scores, ledger.judged
    known, total = float(p[:n].sum()), float(p.sum())
    if not n or total == 0:
        return StopDecision(False, "nothing is judged yet" if not n else "the model gives every document probability 0")
    variance = p * (1 - p)
    spread = np.sqrt(known**2 / total**4 * variance.sum() + variance[:n].sum() / total**2)
    low = known / total - deviations * float(spread)
    reason = (
        f"the model estimates {percent_down(known / total)} recall, which is {percent_down(max(low, 0.0))} after "
        f"subtracting {deviations:g} standard deviations (target: {percent_down(target)})"
    )
    return StopDecision(low >= target - ROUNDING, reason)


@STOPPING_RULES.add(
    "autostop",
    label="AutoStop",
    description="Stop when the recall by the Horvitz-Thompson estimate reaches the target.",
    needs="probabilities",
)
def autostop(
    ledger: Ledger,
    *,
    target: Target = 0.9,
    strict: Annotated[bool, Parameter("Strict", "Add the standard deviation to the estimate.")] = False,
) -> StopDecision:
    """Stop when F >= target * (estimate of R), to which `strict` adds its standard deviation.

    The estimate is the sum over the relevant documents of 1 / probability. It is unbiased if every document had a
    known probability above 0, but stopping when it first reaches a value is not, so this is a heuristic. A document of
    unknown probability counts as certain unless it was drawn. The variance is the paper's second, which needs no
    joint probabilities. Source: Li & Kanoulas, "When to stop reviewing in technology-assisted reviews", TOIS 38(4),
    2020.
    """
    if np.isnan(ledger.probability[ledger.drawn]).any() or not (ledger.probability < 1).any():
        return StopDecision(False, "the probabilities with which documents were drawn are not known")
    weight = ledger.relevant / np.nan_to_num(ledger.probability, nan=1.0)
    total, n = float(weight.sum()), ledger.judged
    spread = 0.0
    if strict and n > 1:
        spread = float(np.sqrt(ledger.unjudged / ledger.size / n / (n - 1) * ((n * weight - total) ** 2).sum()))
    more = f" ({total + spread:.1f} with one standard deviation added)" if strict else ""
    finding = f"{count(ledger.found, 'relevant document')} found of an estimated {total:.1f}"
    reason = f"{finding}{more}; target: {percent_down(target)}"
    return StopDecision(ledger.found > 0 and ledger.found >= target * (total + spread) - ROUNDING, reason)


def _judged(ledger: Ledger) -> str:
    return f"{ledger.judged:,} of {count(ledger.size, 'document')} judged"
