"""The depths at which a new system can be compared fairly: rules, and their results in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import Literal, NamedTuple

import pandas as pd

from collection.measures import Measure, as_measures
from collection.phrases import percent_down
from collection.records import sort_naturally
from collection.reusability.pool_depth import STABLE_TAUS, PoolDepth, find_stable_depth
from collection.reusability.run_matrix import DIGITS, RunMatrix

DEPTHS = (5, 10, 20, 50, 100)
"""Depths at which a verdict is given."""

MAX_MEAN_CHANGE = 0.025
"""How much leaving a system out may change the measure on average: half of MAX_CHANGE."""

MAX_CHANGE = 0.05
"""How much it may change the measure of one system. With 50 topics a difference has to be 0.05 or so before another 50
topics would show it as well (Voorhees & Buckley, "The effect of topic set size on retrieval experiment error", SIGIR
2002): not being pooled must not cost as much as being worse."""

MAX_MOVED = 0.1
"""The share of the other systems against which the order of one system may change."""

MAX_BREACHES = 0.1
"""The share of the runs that may break MAX_CHANGE or MAX_MOVED for a depth to be used with care; none for a fair one.
Then only a system unlike the rest is wronged; among fewer than ten runs one is more."""

MOST_NAMED = 3
"""How many of these runs a sentence names."""

MIN_TOPICS = 10
"""With fewer topics each is more than a tenth of every mean, so that one of them can make or break any rule."""

MIN_JUDGED = 0.8
"""Share of the first k documents of a left-out system that must be judged on average. In TREC's pools a quarter or so
of what one group alone brought is relevant; one unjudged document in five then costs P@k the MAX_CHANGE."""

MIN_KNOWN = 0.95
"""The same for the pooled runs themselves: otherwise their values are no baseline for what is lost."""

MIN_GROUPS = 3
"""With fewer, leaving one out leaves hardly a pool."""

Fairness = Literal["fair", "with care", "no"]


class Breach(NamedTuple):
    """A run that breaks MAX_CHANGE or MAX_MOVED when its group is left out.

    `change` is that of the measure (below 0: it loses), `moved` counts places (above 0: it falls).
    """

    run: str
    change: float
    moved: int


class DepthResult(NamedTuple):
    """Whether a new system can be compared at one depth.

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
        Every run over a limit for single runs, the worst first.
    verdict
        "fair" if all rules hold; "with care" if the rules for means hold and at most :data:`MAX_BREACHES` of the runs
        break a rule for single runs; "no" otherwise.
    broken
        The broken rules, in words.
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
    """Find the runs over a limit for single runs, those first that exceed it most times over.

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
    found = [
        Breach(str(run), float(change), int(moved))
        for run, change, moved in rows.loc[too_far, ["run", "change", "moved"]].itertuples(index=False)
    ]

    def excess(breach: Breach) -> float:
        return max(abs(breach.change) / MAX_CHANGE, abs(breach.moved) / allowed if allowed else 0.0)

    return tuple(sorted(found, key=lambda breach: (-excess(breach), breach.run)))


def apply_rules(result: DepthResult) -> DepthResult:
    """Set the verdict and the broken rules from the numbers."""
    first = f"of the first {result.depth:,}"
    broken = []
    if result.known < MIN_KNOWN:
        broken.append(
            f"{first} documents of the pooled runs themselves {percent_down(result.known)} are judged "
            f"({percent_down(MIN_KNOWN)} wanted)"
        )
    if result.judged < MIN_JUDGED:
        broken.append(
            f"{first} of a run that is left out {percent_down(result.judged)} are judged "
            f"({percent_down(MIN_JUDGED)} wanted)"
        )
    if result.change > MAX_MEAN_CHANGE:
        change = amount(result.change, MAX_MEAN_CHANGE)
        broken.append(f"a run changes by {change} on average ({MAX_MEAN_CHANGE:g} allowed)")
    few = len(result.breaking) <= MAX_BREACHES * (result.others + 1)
    verdict: Fairness = "no" if broken or not few else "with care" if result.breaking else "fair"
    if result.breaking:
        broken.append(_breaches_sentence(result))
    return result._replace(verdict=verdict, broken=tuple(broken))


def _breaches_sentence(result: DepthResult) -> str:
    """How many runs are over a limit for single runs, and the worst of them."""
    count, allowed = len(result.breaking), floor(MAX_MOVED * result.others)
    changes, moves = ("changes", "moves") if count == 1 else ("change", "move")
    named = ", ".join(
        f"{b.run} ({amount(b.change, MAX_CHANGE, '+')}, {_moves(b.moved)})" for b in result.breaking[:MOST_NAMED]
    )
    rest = f" and {count - MOST_NAMED:,} more" if count > MOST_NAMED else ""
    may = floor(MAX_BREACHES * (result.others + 1))
    far = f"more than {_places(allowed)}" if allowed else "at all"
    return (
        f"{count:,} of {result.others + 1:,} runs {changes} by more than {MAX_CHANGE:g} or {moves} {far} "
        f"({f'with care up to {may:,} may' if may else 'of so few runs none may'}): {named}{rest}"
    )


def find_deepest(
    results: Sequence[DepthResult],
) -> tuple[DepthResult | None, DepthResult | None, DepthResult | None]:
    """Find the deepest fair result, the deepest below it that is fair or with care, and the first that is neither.

    A result counts only if none above it is worse: what holds at 20 but not at 10 is chance.
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


def headline(ladder: Sequence[DepthResult], topics: int) -> str:
    """Write the answer in one sentence, with the number of topics that it rests on.

    Examples
    --------
    >>> good = DepthResult(10, "nDCG@10", 0.01, 0.02, "a", 1, "a", 20, 0.95, 1.0, (), "fair", ())
    >>> headline([good, apply_rules(good._replace(depth=100, measure="nDCG@100", known=0.5))], 50)
    'A new system can be compared fairly at depth 10, not at depth 100 (50 topics).'
    """
    if topics < MIN_TOPICS:
        few = "1 topic is" if topics == 1 else f"{topics:,} topics are"
        return f"{few} too few to say whether a new system can be compared fairly: that takes {MIN_TOPICS:,} or more."
    if not ladder:
        return f"It cannot be said whether a new system can be compared fairly ({topics:,} topics)."
    fair, care, neither = find_deepest(ladder)
    ways = [f"fairly at depth {fair.depth:,}"] if fair else []
    ways += [f"with care at depth {care.depth:,}"] if care else []
    if not ways:
        return f"A new system cannot be compared fairly, not even at depth {ladder[0].depth:,} ({topics:,} topics)."
    end = f", not at depth {neither.depth:,}" if neither else ""
    return f"A new system can be compared {' and '.join(ways)}{end} ({topics:,} topics)."


def reason_sentences(ladder: Sequence[DepthResult], by: str) -> list[str]:
    """Write the numbers of the deepest depth that is fair or nearly so, and what is wrong with the first that is not.

    `by` says what was left out each time: "run" or "group".
    """
    fair, care, neither = find_deepest(ladder)
    told = []
    if best := care or fair:
        told.append(
            f"A run {'that' if by == 'run' else 'whose group'} is left out changes its {best.measure} by "
            f"{amount(best.change, MAX_MEAN_CHANGE)} on average, and of its first {best.depth:,} documents "
            f"{percent_down(best.judged)} are judged. {_worst_sentence(best)}"
        )
    if care:
        # The deepest may itself be fair again, below one that is not.
        careful = [result for result in ladder if result.depth <= care.depth and result.verdict == "with care"][-1]
        told.append(f"Care is needed at depth {careful.depth:,}: {'; '.join(careful.broken)}.")
    if neither:
        told.append(f"At depth {neither.depth:,} it is not fair: {'; '.join(neither.broken)}.")
    return told


def _worst_sentence(result: DepthResult) -> str:
    if not result.worst and not result.moved:
        return "No run changes at all."
    changes, moves = "None changes", "none moves from its place"
    if result.worst:
        changes = f"Most changes {result.worst_run}, by {amount(result.worst, MAX_CHANGE)}"
    if result.moved:
        moves = f"furthest moves {result.moved_run}, by {_places(result.moved)}"
    return f"{changes}; {moves} among {result.others + 1:,} runs."


def stability_sentence(curve: pd.DataFrame, matrix: RunMatrix) -> str:
    """Write from which pool depth on the order of the systems is stable, by the curve of one measure."""
    measure = curve["measure"].iloc[0]
    if curve["tau"].isna().all():
        return f"By {measure} the runs have no order that could settle."
    parts = []
    for least in STABLE_TAUS:
        row = find_stable_depth(curve, least)
        where = "at no depth" if row is None else f"from depth {row['depth']:,} on ({row['pairs']:,} judgements)"
        parts.append(f"with tau {least:g} {where}")
    return (
        f"By {measure} a pool of these {len(matrix.runs):,} systems puts them into the order that they have by all "
        f"{len(matrix.grade):,} judgements {', '.join(parts)}."
    )


def topics_sentence(topics: pd.DataFrame, measure: str) -> str:
    """Write whether single topics decide the order of the systems."""
    without = topics["without"]
    if without.isna().all():
        return "There are too few topics or runs to say which topics decide."
    row = sort_naturally(topics).sort_values("without", kind="stable").iloc[0]
    if row["without"] > 1 - 1e-9:
        return f"No topic decides: without any one of the {len(topics):,} the order by {measure} is the same."
    return (
        f"Topic {row['query_id']} decides most: without it the order by {measure} has tau {row['without']:.3f} with "
        f"that by all {len(topics):,} topics."
    )


def pool_sentences(pool: PoolDepth, matrix: RunMatrix, curves: pd.DataFrame, *, asked: bool = False) -> list[str]:
    """Write the depth of the pool, detected or given by the user (`asked`), and how far other runs are judged."""
    told = []
    if matrix.relevant.all():
        told.append(
            "The qrels name relevant documents only. If everything else was looked at, nothing is missing, and the "
            "shares of judged documents say nothing."
        )
    if not pool.full and asked:
        told.append(f"Most runs are not judged in full to depth {pool.depth:,}, as they should be by what was asked.")
    elif not pool.full:
        told.append(
            f"Most runs are not judged in full to any depth: what a run alone brought is counted in its first "
            f"{pool.depth:,} ranks, and how many relevant documents are missing cannot be told."
        )
    else:
        told.append(
            f"{int(pool.runs.sum()):,} of {len(matrix.runs):,} runs are judged in full to depth {pool.depth:,}: these "
            "count as pooled."
        )
    others = [name for name, is_pooled in zip(matrix.runs, pool.runs, strict=True) if not is_pooled]
    if pool.full and others:
        counted = "The other one was" if len(others) == 1 else f"The other {len(others):,} were"
        rows = curves[curves["run"].isin(others) & (curves["depth"] == min(pool.depth, curves["depth"].max()))]
        least = rows.sort_values("judged", kind="stable").iloc[0]
        told.append(
            f"{counted} not: of their first {int(least['depth']):,} documents "
            f"{percent_down(rows['judged'].mean())} are judged, of those of {least['run']} "
            f"{percent_down(least['judged'])}."
        )
    return told


def amount(change: float, allowed: float, sign: str = "") -> str:
    """Format a change as ``0.012``, with more decimals where three would put it on the other side of `allowed`.

    >>> amount(0.012, 0.025), amount(-0.02504, 0.025)
    ('0.012', '-0.02504')
    """
    size = abs(change)
    digits = next((n for n in range(3, DIGITS) if (round(size, n) > allowed) == (size > allowed)), DIGITS)
    return f"{change:{sign}.{digits}f}"


def _moves(moved: int) -> str:
    return f"{_places(abs(moved))} {'down' if moved > 0 else 'up'}" if moved else "no place"


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count:,} places"
