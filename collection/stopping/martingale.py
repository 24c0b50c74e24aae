"""The rule whose guarantee holds at any time, and the advice, estimates and choice of documents based on it.

To reject the hypothesis that at least R documents are relevant, bet part of some money against it before each random
draw: under the hypothesis the document is relevant with probability p or more. If the hypothesis is true, no betting
strategy makes money on average, and by Ville's inequality the probability that the money ever multiplies by 20 is at
most 5%. So the hypothesis is rejected at that point, however often this is checked and whatever the ranking finds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from math import exp, inf, isinf, lgamma, log
from typing import Literal, NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats
from collection.core.phrases import count, percent_down, percent_up, plural
from collection.stopping.ledger import Ledger
from collection.stopping.published import buscar
from collection.stopping.table import (
    STOPPING_RULES,
    Confidence,
    StopDecision,
    StopKind,
    Target,
    check_parameters,
    too_many,
    worst_case,
)

STAKES = ((0.0, 0.7), (0.05, 0.1), (0.2, 0.1), (0.5, 0.1))
"""(part kept at a relevant document, share of the money that bets this way); 0 stakes everything on a miss."""

LARGE = 20_000
"""Number of documents from which random draws start later."""

GRID = 128
"""Numbers of relevant documents over which the estimate spreads its second bet."""


def _log_money(ledger: Ledger, relevant: int) -> list[float]:
    """The logarithm of each stake's money against "at least `relevant` are relevant", which must be possible.

    A draw that had p = (relevant - found before) / unjudged before multiplies it by (1 - stake * p) / (1 - p)
    at a miss and by the stake at a relevant document. Unjudged documents that could not be drawn may all be relevant,
    so they are subtracted in both parts of p, which is at least 0. Draws whose document was skipped or undone count as
    relevant, the worst case, and as unjudged.
    """
    hit = ledger.relevant[ledger.draws]
    misses = ledger.draws[~hit]
    hidden = ledger.out_of_reach[misses]
    left = np.maximum(relevant - ledger.found_before[misses] - hidden, 0)
    p = left / (ledger.unjudged_before[misses] - hidden)
    hits = int(hit.sum()) + ledger.withheld
    money = []
    for stake, share in STAKES:
        at_hits = hits * log(stake) if stake else (-inf if hits else 0.0)
        money.append(log(share) + at_hits + float((np.log1p(-stake * p) - np.log1p(-p)).sum()))
    return money


def _evidence(ledger: Ledger, relevant: int) -> float:
    """The logarithm of M, the total money against "at least `relevant` are relevant"."""
    if relevant > ledger.found + ledger.unjudged:
        return inf
    return float(np.logaddexp.reduce(_log_money(ledger, relevant)))


def _misses_needed(ledger: Ledger, relevant: int, wanted: float) -> int | None:
    """Number of further irrelevant draws that bring the evidence to `wanted`; None if no number does.

    The factors of n misses in a row, (U - i - kept D) / (U - i - D), multiply to a ratio of gamma functions. U and D
    are the unjudged and the missing relevant documents that can be drawn, if all others are relevant.
    """
    money, u = _log_money(ledger, relevant), ledger.unjudged - ledger.unreachable
    d = relevant - ledger.found - ledger.unreachable
    if d <= 0:
        return None

    def enough(n: int) -> bool:
        grown = [
            m + lgamma(u - stake * d + 1) - lgamma(u - stake * d - n + 1) - lgamma(u - d + 1) + lgamma(u - d - n + 1)
            for m, (stake, _) in zip(money, STAKES, strict=True)
        ]
        return float(np.logaddexp.reduce(grown)) >= wanted

    # After U - D + 1 misses, the hypothesis is impossible.
    return _first(enough, 1, u - d + 1)


@STOPPING_RULES.add(
    "betting",
    label="Betting",
    description="Stop when random draws rule out, with the chosen confidence, a recall below the target.",
    promises="the target recall with the chosen confidence, however often it is checked",
    needs="random draws",
)
def betting(ledger: Ledger, *, target: Target = 0.9, confidence: Confidence = 0.95) -> StopDecision:
    """Stop when M >= 1 / (1 - confidence), where M is the evidence against "R0 or more documents are relevant".

    This guarantees for each topic that the probability of ever stopping below the target is at most 1 - confidence,
    for any ranking and any number of checks, as long as the documents marked as drawn were drawn uniformly from those
    unjudged at the time. R0 = floor(F / target) + 1 is the smallest number of relevant documents with which the target
    would be missed.

    M is computed from all draws with the current R0: M = 0.7 M_0 + 0.1 (M_0.05 + M_0.2 + M_0.5), and each M_l starts
    at 1. A draw made when F_i documents were found and U_i unjudged has p = (R0 - F_i) / U_i. It multiplies M_l by
    (1 - l p) / (1 - p) if the document is irrelevant, and by l if it is relevant. If R0 exceeds the number of found and
    unjudged documents together, the target is certainly met. Source: Ville's inequality (1939); bets without
    replacement as in Waudby-Smith & Ramdas, NeurIPS 2020.
    """
    relevant = too_many(ledger, target)
    wanted = -log(1 - confidence)
    money, needed = _evidence(ledger, relevant), None
    if isinf(money):
        kind, needed = StopKind.CERTAIN, 0
    elif ledger.withheld:
        kind, needed = StopKind.WITHHELD, ledger.withheld
    elif money >= wanted:
        kind, needed = StopKind.GUARANTEED, 0
    else:
        needed = _misses_needed(ledger, relevant, wanted)
        kind = StopKind.UNREACHABLE if needed is None else StopKind.DRAW
    odds = f"evidence {exp(min(money, 99.0)):.3g}, threshold {exp(wanted):.3g}"
    reason = _word(kind, ledger, target, confidence, needed, odds)
    return StopDecision(kind in (StopKind.CERTAIN, StopKind.GUARANTEED), reason, needed, kind)


def _word(kind: StopKind, ledger: Ledger, target: float, confidence: float, needed: int | None, odds: str) -> str:
    """Write the reason of a decision of :func:`betting`."""
    if kind is StopKind.WITHHELD:
        were = f"{count(ledger.withheld, 'randomly drawn document')} {plural(ledger.withheld, 'was', 'were')}"
        until = plural(ledger.withheld, "it is", "they are")
        return f"{were} skipped or undone; no recall is guaranteed until {until} judged"
    goal = f"at least {percent_down(target)} of the relevant documents"
    if kind is StopKind.CERTAIN:
        return f"{goal} are found, {worst_case(ledger.unjudged)}"
    found = f"{ledger.found:,} {plural(ledger.found, 'is', 'are')} found, and"
    draws, many = count(len(ledger.draws), "random draw"), f"{too_many(ledger, target):,} or more relevant documents"
    if kind is StopKind.GUARANTEED:
        sure = f"with {percent_down(confidence)} confidence"
        return f"{goal} are found, {sure}: {found} {draws} rule out {many} ({odds})"
    reason = f"{percent_down(target)} recall is not guaranteed: {found} {draws} do not rule out {many} ({odds})"
    if kind is StopKind.UNREACHABLE:
        hidden = f"{ledger.unreachable:,} of {count(ledger.unjudged, 'unjudged document')} cannot be judged"
        return f"{reason}; {hidden}, so no number of further draws is enough"
    return f"{reason}; {count(needed or 0, 'further irrelevant draw')} would"


def advise(ledger: Ledger, target: float = 0.9, confidence: float = 0.95) -> StopDecision:
    """Advise by :func:`betting`; until it stops, also give the number of draws needed and the opinion of buscar.

    Without draws, `needed` is at most U (1 - .035^(1 / (R0 - F))), the number that M_0 alone would need.
    """
    decision = betting(ledger, target=target, confidence=confidence)
    if decision.kind is not StopKind.DRAW or decision.needed is None:
        return decision
    likely = buscar(ledger, target=target, confidence=confidence).stop
    reason = (
        f"{percent_down(target)} recall is not guaranteed yet; it is, with {percent_down(confidence)} confidence, if "
        f"the next {plural(decision.needed, 'random draw finds', f'{decision.needed:,} random draws find')} no "
        f"relevant document (the buscar heuristic, without a guarantee, would {'stop now' if likely else 'continue'})"
    )
    return decision._replace(reason=reason)


DocumentSource = Literal["ranking", "random"]


def next_sources(
    ledger: Ledger, count: int, *, run: int | None = None, share: float = 0.0, turns: Bools | None = None
) -> list[DocumentSource]:
    """Choose the source of the next documents so that `betting` can stop soon, as long as none is relevant.

    Random draws start after `run` irrelevant documents of the ranking in a row (by default 50, or 200 from
    :data:`LARGE` documents on); after a relevant one the ranking continues. `share` is the minimum share of random
    draws from the start (a control sample). `turns` (n,) marks the judgements that came from the ranking or a draw, not
    from a pool or a search; all by default.
    """
    check_parameters(run=run, share=share)
    turns = np.ones(ledger.judged, dtype=np.bool_) if turns is None else turns
    length = run if run is not None else (50 if ledger.size < LARGE else 200)
    drawn, judged = len(ledger.draws), int(turns.sum())
    since = len(ledger.since_relevant)
    # Without draws of the control sample, which do not depend on the ranking.
    ranked = int((~ledger.since_relevant & turns[ledger.judged - since :]).sum())
    sources: list[DocumentSource] = []
    for _ in range(count):
        random = drawn < share * (judged + 1) or ranked >= length
        sources.append("random" if random else "ranking")
        drawn, judged, ranked = drawn + random, judged + 1, ranked + (not random)
    return sources


class RelevantEstimate(NamedTuple):
    """Estimated number of relevant documents and recall, with confidence intervals."""

    relevant: float
    """The most likely number, given the draws; nan without draws."""
    low: int
    high: int
    recall: float
    """Found / relevant; 1 if none is relevant."""
    recall_low: float
    """Found / high."""
    recall_high: float
    """Found / low."""
    reason: str
    """One sentence with the numbers and the confidence."""


def _log_likelihood(ledger: Ledger, candidates: Floats, most: bool = False) -> Floats:
    """(C,) log probability of the draws for each number of relevant documents; concave, -inf where impossible.

    With `most`, its maximum over the possible grades of the documents that could not be drawn.
    """
    possible = (candidates >= ledger.found) & (candidates <= ledger.found + ledger.unjudged)
    hit = ledger.relevant[ledger.draws]
    before, urn = ledger.found_before[ledger.draws], ledger.unjudged_before[ledger.draws]
    hidden = ledger.out_of_reach[ledger.draws] if most else np.zeros(len(urn))
    reach = urn - hidden
    values = np.full(len(candidates), -inf)
    for i in np.flatnonzero(possible):
        left = candidates[i] - before
        of_hit, of_miss = np.minimum(left, reach), reach - np.maximum(left - hidden, 0)
        values[i] = np.log(np.where(hit, of_hit, of_miss) / reach).sum()
    return values


def estimate(ledger: Ledger, confidence: float = 0.95) -> RelevantEstimate:
    """Estimate the number of relevant documents and the recall, with an interval from the random draws.

    With that confidence the interval contains the true number at all times at once (a confidence sequence), however the
    ranking chose in between, as long as the documents marked as drawn were drawn uniformly from the unjudged. It keeps
    every number of relevant documents that two bets do not reject: .8 of the money on "fewer", as in :func:`betting`,
    and .2 spread over all other numbers (the likelihood of each of a fixed grid over that of the candidate;
    Waudby-Smith & Ramdas, NeurIPS 2020). So the lower end of recall may be a little below the target when `betting`,
    which bets everything on that end, stops.
    """
    check_parameters(confidence=confidence)
    found, most = ledger.found, ledger.found + ledger.unjudged
    best, low, high = _interval(ledger, confidence) if len(ledger.draws) else (found, found, most)
    relevant = float(best) if len(ledger.draws) or found == most else float("nan")
    low_recall, high_recall = _recall(found, high), _recall(found, low)
    if not ledger.unjudged:
        reason = f"{ledger.size:,} of {count(ledger.size, 'document')} judged, {found:,} relevant"
    elif not len(ledger.draws):
        reason = f"no random draws yet, so {found:,} to {most:,} of {ledger.size:,} documents may be relevant"
    else:
        numbers = f"{low:,} to {count(high, 'relevant document')}" if low < high else count(low, "relevant document")
        share = f" ({percent_down(low_recall)} to {percent_up(high_recall)})" if low < high else ""
        draws = count(len(ledger.draws), "random draw")
        are_found = f"{found:,} of {numbers} {plural(found, 'is', 'are')} found{share}"
        reason = f"{are_found}, with {percent_down(confidence)} confidence from {draws}"
    return RelevantEstimate(relevant, low, high, _recall(found, relevant), low_recall, high_recall, reason)


def _interval(ledger: Ledger, confidence: float) -> tuple[int, int, int]:
    """Return the most likely number of relevant documents, and the ends of its interval, from the random draws."""
    found, most = ledger.found, ledger.found + ledger.unjudged
    wanted = -log(1 - confidence)
    grid = np.unique(np.round(np.geomspace(1, ledger.size + 1, GRID)) - 1)
    mixture = float(np.logaddexp.reduce(_log_likelihood(ledger, grid))) - log(len(grid))

    def likelihood(relevant: int) -> float:
        return float(_log_likelihood(ledger, np.array([relevant], dtype=np.float64), most=True)[0])

    def against(relevant: int) -> float:
        if ledger.withheld:  # the second bet would need the grades of these draws
            return log(0.8) + _evidence(ledger, relevant)
        return float(np.logaddexp(log(0.8) + _evidence(ledger, relevant), log(0.2) + mixture - likelihood(relevant)))

    # The likelihood is concave and the money convex in the candidate: one maximum, one minimum, two ends.
    best = _first(lambda r: likelihood(r + 1) <= likelihood(r), found, most)
    centre = _first(lambda r: against(r + 1) >= against(r), found, most)
    low = _first(lambda r: against(r) < wanted, found, centre)
    high = _first(lambda r: against(r + 1) >= wanted, centre, most)
    return best, low, high


def _recall(found: int, relevant: float) -> float:
    return found / relevant if relevant else 1.0


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from low to high for which it holds, if it then holds for all larger ones; else high."""
    return low + bisect_left(range(low, high), True, key=holds)
