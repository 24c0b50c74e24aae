"""The depths to which a collection is reusable: rules, and sentences about their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.phrases import count, join, join_first, percent_down, plural
from collection.core.records import sort_naturally
from collection.measures import Measure, as_measures
from collection.reusability.pool_depth import STABLE_TAUS, PoolDepth, find_stable_depth
from collection.reusability.run_matrix import DIGITS, RunMatrix

DEPTHS = (5, 10, 20, 50, 100)
"""Depths that are assessed."""

MAX_MEAN_CHANGE = 0.025
"""Limit of the mean change of the measure when a system is left out: half of MAX_CHANGE."""

MAX_CHANGE = 0.05
"""Limit of the change of the measure for a single system. With 50 topics a difference of about 0.05 is needed before
another 50 topics would show it too (Voorhees & Buckley, "The effect of topic set size on retrieval experiment error",
SIGIR 2002): not being pooled must not cost as much as being worse."""

MAX_MOVED = 0.1
"""Share of the other systems that a single system may overtake or fall behind."""

MAX_BREACHES = 0.1
"""Share of the runs that may break MAX_CHANGE or MAX_MOVED at a depth that is used with care; none at a fair one. Then
only a system unlike the rest is treated unfairly. One of fewer than ten runs already exceeds this share."""

MOST_NAMED = 3
"""Maximum number of these runs named in a sentence."""

MIN_TOPICS = 10
"""With fewer topics each is more than a tenth of every mean, so that a single topic could decide any rule."""

MIN_JUDGED = 0.8
"""Share of the first k documents of a left-out system that must be judged on average. In TREC pools about a quarter of
the documents that only one group found are relevant, so one unjudged document in five costs P@k the MAX_CHANGE."""

MIN_KNOWN = 0.95
"""The same for the pooled runs themselves: otherwise their values are no baseline for the loss."""

MIN_GROUPS = 3
"""With fewer groups, leaving one out leaves hardly any pool."""

MIN_ZEROS = 0.2
"""Share of judgements with grade 0 below which the qrels seem to list only relevant documents: in pools judged by
people, usually more than half are not relevant."""

Fairness = Literal["fair", "with care", "no"]


class Breach(NamedTuple):
    """A run that breaks MAX_CHANGE or MAX_MOVED when its group is left out.

    `change` is the change of the measure (negative: a loss), `moved` the number of places (positive: down).
    """

    run: str
    change: float
    moved: int


class DepthResult(NamedTuple):
    """Reusability of the collection at one depth.

    Attributes
    ----------
    depth, measure
        The depth k, and the measure at k.
    change, worst, worst_run
        Mean and largest absolute change of the measure when a system's group is left out, and the run with the largest.
    moved, moved_run, others
        The most places that a run moved, that run, and the number of other runs.
    judged, known
        Mean share of judged documents in the first k of a left-out run, and the same with all judgements.
    breaking
        Every run over a limit for single runs, worst first.
    verdict
        "fair" if all rules hold; "with care" if the rules for means hold and at most :data:`MAX_BREACHES` of the runs
        break a rule for single runs; "no" otherwise.
    broken
        The broken rules, each with its numbers and its limit.
    """

    depth: int
    measure: str
    change: float
    worst: float
    worst_run: str
    moved: int
    moved_run: str
    others: int
    judged: float
    known: float
    breaking: tuple[Breach, ...]
    verdict: Fairness
    broken: tuple[str, ...]


def assess_depths(
    left_out: pd.DataFrame, curves: pd.DataFrame, measures: Measure | str | Iterable[Measure | str]
) -> list[DepthResult]:
    """Apply the rules at each depth.

    Parameters
    ----------
    left_out
        Result of :func:`~collection.reusability.leave_out` with these measures.
    curves
        Result of :func:`~collection.reusability.compute_judged_curves`, with ``left_out``.
    measures
        One measure at each depth, shallowest first.
    """
    results = []
    for measure in as_measures(measures):
        depth = int(measure.level or 0)
        rows = left_out[left_out["measure"] == str(measure)]
        at = curves[(curves["depth"] == depth) & curves["left_out"].notna()]
        change, moved = rows["change"].abs().round(DIGITS), rows["moved"].abs()
        result = DepthResult(
            depth=depth,
            measure=str(measure),
            change=round(float(change.mean()), DIGITS),
            worst=float(change.max()),
            worst_run=str(rows["run"].iloc[int(change.argmax())]),
            moved=int(moved.max()),
            moved_run=str(rows["run"].iloc[int(moved.argmax())]),
            others=len(rows) - 1,
            judged=round(float(at["left_out"].mean()), DIGITS),
            known=round(float(at["judged"].mean()), DIGITS),
            breaking=find_breaches(rows),
            verdict="fair",
            broken=(),
        )
        results.append(apply_rules(result))
    return results


def find_breaches(rows: pd.DataFrame) -> tuple[Breach, ...]:
    """Find the runs over a limit for single runs, largest excess first.

    Parameters
    ----------
    rows
        ``run``, ``change``, ``moved``: all runs by one measure, of :func:`~collection.reusability.leave_out`.

    Examples
    --------
    >>> runs = pd.DataFrame({"run": list("abc"), "change": [-0.04, -0.06, 0.0], "moved": [0, 1, -1]})
    >>> [breach.run for breach in find_breaches(runs)]
    ['b', 'c']
    """
    allowed = MAX_MOVED * (len(rows) - 1)
    rows = rows.assign(change=rows["change"].round(DIGITS) + 0.0)  # 0.65 - 0.6 is no more than 0.05
    too_far = (rows["change"].abs() > MAX_CHANGE) | (rows["moved"].abs() > allowed)
    breaches = [
        Breach(str(run), float(change), int(moved))
        for run, change, moved in rows.loc[too_far, ["run", "change", "moved"]].itertuples(index=False)
    ]

    def excess(breach: Breach) -> float:
        return max(abs(breach.change) / MAX_CHANGE, abs(breach.moved) / allowed if allowed else 0.0)

    return tuple(sorted(breaches, key=lambda breach: (-excess(breach), breach.run)))


def apply_rules(result: DepthResult) -> DepthResult:
    """Set the verdict and the broken rules from the numbers."""
    first = f"of the first {count(result.depth, 'document')}"
    broken = []
    if result.known < MIN_KNOWN:
        known = f"{percent_down(result.known)} {first} of pooled runs are judged"
        broken.append(f"{known} (required: {percent_down(MIN_KNOWN)})")
    if result.judged < MIN_JUDGED:
        judged = f"{percent_down(result.judged)} {first} of a left-out run are judged"
        broken.append(f"{judged} (required: {percent_down(MIN_JUDGED)})")
    if result.change > MAX_MEAN_CHANGE:
        change = amount(result.change, MAX_MEAN_CHANGE)
        broken.append(f"runs change by {change} on average (limit: {MAX_MEAN_CHANGE:g})")
    few = len(result.breaking) <= MAX_BREACHES * (result.others + 1)
    verdict: Fairness = "no" if broken or not few else "with care" if result.breaking else "fair"
    if result.breaking:
        broken.append(_breaches_sentence(result))
    return result._replace(verdict=verdict, broken=tuple(broken))


def _breaches_sentence(result: DepthResult) -> str:
    """Count the runs over a limit for single runs, and name the worst."""
    number, allowed = len(result.breaking), floor(MAX_MOVED * result.others)
    changes = plural(number, "changes", "change")
    named = [f"{b.run} ({amount(b.change, MAX_CHANGE, '+')}, {_moves(b.moved)})" for b in result.breaking]
    may = floor(MAX_BREACHES * (result.others + 1))
    far = f"by more than {count(allowed, 'rank')}" if allowed else f"{changes} rank"
    limit = f"at most {may:,} may, with care" if may else "none may"
    return (
        f"{number:,} of {count(result.others + 1, 'run')} {changes} by more than {MAX_CHANGE:g} or {far} ({limit}): "
        f"{join_first(named, MOST_NAMED)}"
    )


def find_deepest(
    results: Sequence[DepthResult],
) -> tuple[DepthResult | None, DepthResult | None, DepthResult | None]:
    """Find the deepest fair result, the deepest below it that is fair or with care, and the first that is neither.

    A result counts only if none above it is worse: holding at 20 but not at 10 is due to chance.
    """
    fair = care = None
    for result in results:
        if result.verdict == "no":
            return fair, care, result
        if result.verdict == "fair" and care is None:
            fair = result
        else:
            care = result
    return fair, care, None


def headline(ladder: Sequence[DepthResult], topics: int, *, few_zeros: bool = False) -> str:
    """Write the answer in one sentence, with the number of topics behind it.

    With `few_zeros`, the qrels have hardly any grade 0, and a negative answer depends on what unjudged documents are.

    >>> good = DepthResult(10, "nDCG@10", 0.01, 0.02, "a", 1, "a", 20, 0.95, 1.0, (), "fair", ())
    >>> headline([good, apply_rules(good._replace(depth=100, measure="nDCG@100", known=0.5))], 50)
    'This collection is reusable to depth 10, but not at depth 100 (50 topics).'
    """
    if topics < MIN_TOPICS:
        few = f"{count(topics, 'topic')} {plural(topics, 'is', 'are')} too few to assess reusability"
        return f"{few}: at least {MIN_TOPICS:,} are needed."
    over = f"({count(topics, 'topic')})"
    if not ladder:
        return f"The reusability of this collection cannot be assessed {over}."
    fair, care, neither = find_deepest(ladder)
    ways = [f"to depth {fair.depth:,}"] if fair else []
    ways += [f"with care to depth {care.depth:,}"] if care else []
    if not ways:
        unreliable = "rankings of unpooled systems may be unreliable"
        start = "Unless unjudged documents are known to be not relevant, this" if few_zeros else "This"
        return f"{start} collection is not reusable: {unreliable} even at depth {ladder[0].depth:,} {over}."
    end = f", but not at depth {neither.depth:,}" if neither else ""
    return f"This collection is reusable {join(ways)}{end} {over}."


def reason_sentences(ladder: Sequence[DepthResult], by: str) -> list[str]:
    """Write the numbers of the deepest usable depth, and the broken rules of the first depth that is not.

    `by` is what was left out each time: "run" or "group".
    """
    fair, care, neither = find_deepest(ladder)
    sentences = []
    if best := care or fair:
        left_out, its = ("a run", "its") if by == "run" else ("a group of runs", "their")
        sentences.append(
            f"At depth {best.depth:,}, leaving out {left_out} changes {its} {best.measure} by "
            f"{amount(best.change, MAX_MEAN_CHANGE)} on average and leaves {percent_down(best.judged)} of {its} first "
            f"{count(best.depth, 'document')} judged. {_worst_sentence(best)}"
        )
    if care:
        # The deepest may itself be fair again, below one that is not.
        careful = [result for result in ladder if result.depth <= care.depth and result.verdict == "with care"][-1]
        sentences.append(f"Use with care at depth {careful.depth:,}: {'; '.join(careful.broken)}.")
    if neither:
        sentences.append(f"Not reusable at depth {neither.depth:,}: {'; '.join(neither.broken)}.")
    return sentences


def _worst_sentence(result: DepthResult) -> str:
    changes, moves = "No run changes its value", "no run changes rank"
    if result.worst:
        changes = f"The largest change is {amount(result.worst, MAX_CHANGE)} ({result.worst_run})"
    if result.moved:
        moves = f"the largest move is {count(result.moved, 'rank')} ({result.moved_run})"
    return f"{changes}; {moves} among {count(result.others + 1, 'run')}."


def stability_sentence(curve: pd.DataFrame, matrix: RunMatrix) -> str:
    """Write from which pool depth on the order of the systems is stable, by the curve of one measure."""
    measure = curve["measure"].iloc[0]
    if curve["tau"].isna().all():
        return f"The stability of the ranking by {measure} is unknown: the runs are too few or have equal values."
    reached: dict[str, float] = {}  # depth -> the largest tau that holds from there on
    for least in STABLE_TAUS:
        row = find_stable_depth(curve, least)
        where = "at no depth"
        if row is not None:
            where = f"from depth {row['depth']:,} on ({count(row['pairs'], 'judgement')})"
        reached[where] = least if row is not None else reached.get(where, least)
    parts = [f"{'at least ' if least < 1 else ''}{least:g} {where}" for where, least in reached.items()]
    return (
        f"With shallower pools, the ranking of these {count(len(matrix.runs), 'system')} by {measure} has a Kendall's "
        f"tau with the ranking by all {count(len(matrix.grade), 'judgement')} of {join(parts)}."
    )


def topics_sentence(topics: pd.DataFrame, measure: str) -> str:
    """Write whether single topics decide the order of the systems."""
    without = topics["without"]
    if without.isna().all():
        return "The influence of single topics is unknown: the topics or runs are too few."
    row = sort_naturally(topics).sort_values("without", kind="stable").iloc[0]
    if row["without"] > 1 - 1e-9:
        return f"Leaving out any one of the {count(len(topics), 'topic')} does not change the ranking by {measure}."
    return (
        f"Topic {row['query_id']} has the largest influence: without it, the ranking by {measure} has a Kendall's tau "
        f"of {row['without']:.3f} with the ranking by all {count(len(topics), 'topic')}."
    )


def has_few_zeros(grades: Floats) -> bool:
    """Return whether hardly any of the judgements have grade 0, as if only relevant documents had been recorded.

    >>> has_few_zeros(np.array([0.0] + [1.0] * 7)), has_few_zeros(np.array([0.0] * 6 + [1.0] * 7))
    (True, False)
    """
    return float(np.mean(grades <= 0)) < MIN_ZEROS


def unjudged_sentence(matrix: RunMatrix, assumed: int | None) -> str:
    """Write what is assumed of unjudged documents: `assumed` of them not relevant, or None: they are unknown.

    "" if they are unknown and the qrels have judgements of grade 0, as those of a pool do.
    """
    if assumed is not None:
        are = plural(assumed, "is", "are")
        return (
            f"Unjudged documents are assumed to be not relevant, as if every document had been examined: "
            f"{count(assumed, 'unjudged document')} in the first {max(DEPTHS):,} ranks {are} counted as judged."
        )
    if not has_few_zeros(matrix.grade):
        return ""
    zeros, judged = int((matrix.grade <= 0).sum()), count(len(matrix.grade), "judgement")
    has = "None" if not zeros else f"Only {zeros:,}"
    return (
        f"{has} of {judged} {plural(zeros, 'has', 'have')} grade 0: the qrels seem to list only relevant "
        "documents. Unjudged documents are treated as unknown here. If they were examined and found not relevant, "
        "assess the collection again with unjudged documents as not relevant (--unjudged not-relevant)."
    )


def pool_sentences(pool: PoolDepth, matrix: RunMatrix, curves: pd.DataFrame, *, given: bool = False) -> list[str]:
    """Write the depth of the pool, detected or given by the user (`given`), and how far other runs are judged."""
    sentences = []
    if not pool.full and given:
        sentences.append(f"Most runs are not fully judged to the given pool depth of {pool.depth:,}.")
    elif not pool.full:
        sentences.append(
            f"Most runs are not fully judged to any depth: a pool depth of {pool.depth:,} is assumed, and the number "
            "of missing relevant documents cannot be estimated."
        )
    else:
        pooled = int(pool.runs.sum())
        sentences.append(
            f"{pooled:,} of {count(len(matrix.runs), 'run')} {plural(pooled, 'is', 'are')} fully judged to depth "
            f"{pool.depth:,} and {plural(pooled, 'counts', 'count')} as pooled."
        )
    others = [name for name, is_pooled in zip(matrix.runs, pool.runs, strict=True) if not is_pooled]
    if pool.full and others:
        rows = curves[curves["run"].isin(others) & (curves["depth"] == min(pool.depth, curves["depth"].max()))]
        least = rows.sort_values("judged", kind="stable").iloc[0]
        first = f"of the first {count(int(least['depth']), 'document')}"
        lowest = f"{percent_down(least['judged'])} {first} of {least['run']} are judged"
        if len(others) > 1:
            lowest = (
                f"on average {percent_down(rows['judged'].mean())} {first} are judged, and least for {least['run']}"
            )
            lowest += f" ({percent_down(least['judged'])})"
        sentences.append(f"{count(len(others), 'run')} {plural(len(others), 'was', 'were')} not pooled: {lowest}.")
    return sentences


def amount(change: float, allowed: float, sign: str = "") -> str:
    """Format a change as ``0.012``, with more decimals if three would put it on the other side of `allowed`.

    >>> amount(0.012, 0.025), amount(-0.02504, 0.025)
    ('0.012', '-0.02504')
    """
    size = abs(change)
    digits = next((n for n in range(3, DIGITS) if (round(size, n) > allowed) == (size > allowed)), DIGITS)
    return f"{change:{sign}.{digits}f}"


def _moves(moved: int) -> str:
    return f"{count(abs(moved), 'rank')} {'down' if moved > 0 else 'up'}" if moved else "same rank"
