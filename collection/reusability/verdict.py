"""Can a new system be compared fairly? At which depth: rules with their reasons, and what they say in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import Literal, NamedTuple

import pandas as pd

from collection.measures import Measure, as_measures
from collection.records import in_natural_order
from collection.reusability.pool_depth import TAUS, Pooled, settled_at
from collection.reusability.run_matrix import DIGITS, Laid

LADDER = (5, 10, 20, 50, 100)
"""Depths at which the question is asked."""

MEAN_CHANGE = 0.025
"""A system that was left out may be off by so much on average: half of WORST_CHANGE."""

WORST_CHANGE = 0.05
"""And by so much at worst. With 50 topics a difference has to be 0.05 or so before another 50 topics would show it as
well (Voorhees & Buckley, "The effect of topic set size on retrieval experiment error", SIGIR 2002): a system must not
lose by not being pooled what counts as being worse."""

MOVED = 0.1
"""It may stand otherwise to so many of the other systems at worst: one in ten."""

CARE = 0.1
"""So many of the runs, one in ten, may break WORST_CHANGE or MOVED for a depth to be used with care; none for a fair
one. If they are that few a system has to be unlike the rest to be wronged. If they are more, any new one may be, and
among fewer than ten runs one is more."""

NAMED = 3
"""So many of them are named in a sentence, the worst first."""

LEAST_TOPICS = 10
"""With fewer topics each is more than a tenth of every mean, so that one of them can make or break any rule."""

JUDGED = 0.8
"""Of its first k documents so many must be judged on average. In TREC's pools a quarter or so of what one group alone
brought is relevant; one unjudged document in five then costs P@k the WORST_CHANGE."""

KNOWN = 0.95
"""And so many of those of the pooled runs themselves: otherwise their values are no yardstick for what is lost."""

LEAST_GROUPS = 3
"""With fewer there is no pool left to speak of when one is left out."""

Fairness = Literal["fair", "with care", "no"]


class Breach(NamedTuple):
    """A run that breaks WORST_CHANGE or MOVED when its group is left out.

    Attributes
    ----------
    run
        Its name.
    change
        Of the measure: below 0 it loses.
    moved
        Places: above 0 it falls.
    """

    run: str
    change: float
    moved: int


class Rung(NamedTuple):
    """Whether a new system can be compared at one depth.

    Attributes
    ----------
    depth, measure
        The depth k, and the measure at k.
    change, worst
        Mean and largest absolute change of the measure when a system's group is left out.
    worst_run
        Whose change was largest.
    moved, moved_run, others
        The most places that a system moved, which one, and how many others there are.
    judged
        Mean share of judged documents in the first k of a system that is left out.
    known
        The same with all judgements.
    breaking
        Every run that changes or moves by more than one may, the worst first.
    verdict
        "fair" if all rules hold; "with care" if those of the means do and at most :data:`CARE` of the runs break one
        of those for a single run; "no" otherwise.
    broken
        The rules that do not hold, in words.
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


def rungs(
    left_out: pd.DataFrame, curves: pd.DataFrame, measures: Measure | str | Iterable[Measure | str]
) -> list[Rung]:
    """Each depth of the ladder by the rules.

    Parameters
    ----------
    left_out
        As :func:`~collection.reusability.leave_out` gives it, with these measures.
    curves
        As :func:`~collection.reusability.judged_curves` gives it, with ``left_out``.
    measures
        One measure at each depth, shallowest first.
    """
    found = []
    for measure in as_measures(measures):
        depth = int(measure.level or 0)
        rows = left_out[left_out["measure"] == str(measure)]
        at = curves[(curves["depth"] == depth) & curves["left_out"].notna()]
        change, moved = rows["change"].abs().round(DIGITS), rows["moved"].abs()
        by_change, by_place = rows.iloc[int(change.argmax())], rows.iloc[int(moved.argmax())]
        rung = Rung(
            depth, str(measure), round(float(change.mean()), DIGITS), float(change.max()), str(by_change["run"]),
            int(moved.max()), str(by_place["run"]), len(rows) - 1, round(float(at["left_out"].mean()), DIGITS),
            round(float(at["judged"].mean()), DIGITS), breaches(rows), "fair", (),
        )  # fmt: skip
        found.append(judge(rung))
    return found


def breaches(rows: pd.DataFrame) -> tuple[Breach, ...]:
    """The runs that change or move by more than one may, those first that exceed it most times over.

    Parameters
    ----------
    rows
        ``run``, ``change``, ``moved``: all runs by one measure, of :func:`~collection.reusability.leave_out`.

    Examples
    --------
    >>> runs = pd.DataFrame({"run": list("abc"), "change": [-0.04, -0.06, 0.0], "moved": [0, 1, -1]})
    >>> [breach.run for breach in breaches(runs)]
    ['b', 'c']
    """
    allowed = MOVED * (len(rows) - 1)
    rows = rows.assign(change=rows["change"].round(DIGITS) + 0.0)  # 0.65 - 0.6 is no more than 0.05
    too_far = (rows["change"].abs() > WORST_CHANGE) | (rows["moved"].abs() > allowed)
    found = [
        Breach(str(run), float(change), int(moved))
        for run, change, moved in rows.loc[too_far, ["run", "change", "moved"]].itertuples(index=False)
    ]

    def excess(breach: Breach) -> float:
        return max(abs(breach.change) / WORST_CHANGE, abs(breach.moved) / allowed if allowed else 0.0)

    return tuple(sorted(found, key=lambda breach: (-excess(breach), breach.run)))


def judge(rung: Rung) -> Rung:
    """The same with what the rules say of its numbers."""
    average = [
        (
            rung.known < KNOWN,
            f"of the first {rung.depth:,} documents of the pooled runs themselves {percent(rung.known)} are judged "
            f"({percent(KNOWN)} wanted)",
        ),
        (
            rung.judged < JUDGED,
            f"of the first {rung.depth:,} of a run that is left out {percent(rung.judged)} are judged "
            f"({percent(JUDGED)} wanted)",
        ),
        (
            rung.change > MEAN_CHANGE,
            f"a run changes by {amount(rung.change, MEAN_CHANGE)} on average ({MEAN_CHANGE:g} allowed)",
        ),
    ]
    of_all = [said for holds_not, said in average if holds_not]
    few = len(rung.breaking) <= CARE * (rung.others + 1)
    verdict: Fairness = "no" if of_all or not few else "with care" if rung.breaking else "fair"
    return rung._replace(verdict=verdict, broken=(*of_all, *([_too_far(rung)] if rung.breaking else [])))


def _too_far(rung: Rung) -> str:
    """How many of how many runs change or move by more than one may, and the worst of them."""
    count, allowed = len(rung.breaking), floor(MOVED * rung.others)
    changes, moves = ("changes", "moves") if count == 1 else ("change", "move")
    named = ", ".join(
        f"{b.run} ({amount(b.change, WORST_CHANGE, '+')}, {_moves(b.moved)})" for b in rung.breaking[:NAMED]
    )
    rest = f" and {count - NAMED:,} more" if count > NAMED else ""
    may = floor(CARE * (rung.others + 1))
    far = f"more than {_places(allowed)}" if allowed else "at all"
    return (
        f"{count:,} of {rung.others + 1:,} runs {changes} by more than {WORST_CHANGE:g} or {moves} {far} "
        f"({f'with care up to {may:,} may' if may else 'of so few runs none may'}): {named}{rest}"
    )


def reached(ladder: Sequence[Rung]) -> tuple[Rung | None, Rung | None, Rung | None]:
    """The deepest fair rung, the deepest of those below it that are fair or with care, and the first that is neither.

    A rung counts only if none above it is worse: what holds at 20 but not at 10 is chance.
    """
    fair = care = None
    for rung in ladder:
        if rung.verdict == "no":
            return fair, care, rung
        if rung.verdict == "fair" and care is None:
            fair = rung
        else:
            care = rung
    return fair, care, None


def headline(ladder: Sequence[Rung], topics: int) -> str:
    """The answer in one sentence, with the number of topics that it rests on.

    Examples
    --------
    >>> good = Rung(10, "nDCG@10", 0.01, 0.02, "a", 1, "a", 20, 0.95, 1.0, (), "fair", ())
    >>> headline([good, judge(good._replace(depth=100, measure="nDCG@100", known=0.5))], 50)
    'A new system can be compared fairly at depth 10, not at depth 100 (50 topics).'
    """
    if topics < LEAST_TOPICS:
        few = "1 topic is" if topics == 1 else f"{topics:,} topics are"
        return f"{few} too few to say whether a new system can be compared fairly: that takes {LEAST_TOPICS:,} or more."
    if not ladder:
        return f"It cannot be said whether a new system can be compared fairly ({topics:,} topics)."
    fair, care, neither = reached(ladder)
    ways = [f"fairly at depth {fair.depth:,}"] if fair else []
    ways += [f"with care at depth {care.depth:,}"] if care else []
    if not ways:
        return f"A new system cannot be compared fairly, not even at depth {ladder[0].depth:,} ({topics:,} topics)."
    end = f", not at depth {neither.depth:,}" if neither else ""
    return f"A new system can be compared {' and '.join(ways)}{end} ({topics:,} topics)."


def reasons(ladder: Sequence[Rung], by: str) -> list[str]:
    """Why: the numbers of the deepest depth that is fair or nearly so, and what is wrong with the first that is not.

    Parameters
    ----------
    ladder
        By :func:`rungs`.
    by
        What was left out each time: "run" or "group".
    """
    fair, care, neither = reached(ladder)
    told = []
    if best := care or fair:
        told.append(
            f"A run {'that' if by == 'run' else 'whose group'} is left out changes its {best.measure} by "
            f"{amount(best.change, MEAN_CHANGE)} on average, and of its first {best.depth:,} documents "
            f"{percent(best.judged)} are judged. {_worst(best)}"
        )
    if care:
        # The deepest may itself be fair again, below one that is not.
        doubt = next(rung for rung in reversed(ladder) if rung.depth <= care.depth and rung.verdict == "with care")
        told.append(f"Care is needed at depth {doubt.depth:,}: {'; '.join(doubt.broken)}.")
    if neither:
        told.append(f"At depth {neither.depth:,} it is not fair: {'; '.join(neither.broken)}.")
    return told


def _worst(rung: Rung) -> str:
    """The runs to which leaving out did most."""
    if not rung.worst and not rung.moved:
        return "No run changes at all."
    moves = f"furthest moves {rung.moved_run}, by {_places(rung.moved)}" if rung.moved else "none moves from its place"
    changes = f"Most changes {rung.worst_run}, by {amount(rung.worst, WORST_CHANGE)}" if rung.worst else "None changes"
    return f"{changes}; {moves} among {rung.others + 1:,} runs."


def of_settling(curve: pd.DataFrame, laid: Laid) -> str:
    """From which depth on the order of the systems no longer moves, by the curve of one measure."""
    measure = curve["measure"].iloc[0]
    if curve["tau"].isna().all():
        return f"By {measure} the runs have no order that could settle."
    parts = []
    for least in TAUS:
        row = settled_at(curve, least)
        where = "at no depth" if row is None else f"from depth {row['depth']:,} on ({row['pairs']:,} judgements)"
        parts.append(f"with tau {least:g} {where}")
    return (
        f"By {measure} a pool of these {len(laid.runs):,} systems puts them into the order that they have by all "
        f"{len(laid.grade):,} judgements {', '.join(parts)}."
    )


def of_topics(topics: pd.DataFrame, measure: str) -> str:
    """Whether single topics decide."""
    without = topics["without"]
    if without.isna().all():
        return "There are too few topics or runs to say which topics decide."
    row = in_natural_order(topics).sort_values("without", kind="stable").iloc[0]
    if row["without"] > 1 - 1e-9:
        return f"No topic decides: without any one of the {len(topics):,} the order by {measure} is the same."
    return (
        f"Topic {row['query_id']} decides most: without it the order by {measure} has tau {row['without']:.3f} with "
        f"that by all {len(topics):,} topics."
    )


def of_pool(pool: Pooled, laid: Laid, curves: pd.DataFrame, *, asked: bool = False) -> list[str]:
    """To which depth the runs were pooled, or are said to be (`asked`), and how far those are judged that were not."""
    names = [name for name, one in zip(laid.runs, pool.runs, strict=True) if not one]
    only_relevant = (
        "The qrels name relevant documents only. If everything else was looked at, nothing is missing, and the shares "
        "of judged documents say nothing."
    )
    first = [only_relevant] if laid.relevant.all() else []
    if not pool.full and asked:
        return [
            *first,
            f"Most runs are not judged in full to depth {pool.depth:,}, as they should be by what was asked.",
        ]
    if not pool.full:
        return [
            *first,
            f"Most runs are not judged in full to any depth: what a run alone brought is counted in its first "
            f"{pool.depth:,} ranks, and how many relevant documents are missing cannot be told.",
        ]
    told = [
        *first,
        f"{int(pool.runs.sum()):,} of {len(laid.runs):,} runs are judged in full to depth {pool.depth:,}: these count "
        "as pooled.",
    ]
    if names:
        counted = "The other one was" if len(names) == 1 else f"The other {len(names):,} were"
        rows = curves[curves["run"].isin(names) & (curves["depth"] == min(pool.depth, curves["depth"].max()))]
        least = rows.sort_values("judged", kind="stable").iloc[0]
        told.append(
            f"{counted} not: of their first {int(least['depth']):,} documents "
            f"{percent(rows['judged'].mean())} are judged, of those of {least['run']} {percent(least['judged'])}."
        )
    return told


def amount(change: float, allowed: float, sign: str = "") -> str:
    """``0.012``, with more decimals where three would put it on the other side of what is allowed.

    >>> amount(0.012, 0.025), amount(-0.02504, 0.025)
    ('0.012', '-0.02504')
    """
    size = abs(change)
    digits = next((n for n in range(3, DIGITS) if (round(size, n) > allowed) == (size > allowed)), DIGITS)
    return f"{change:{sign}.{digits}f}"


def percent(share: float) -> str:
    """``89 %``, rounded down: what falls short of a rule never looks as if it held."""
    return f"{floor(100 * share + 1e-9)} %"


def _moves(moved: int) -> str:
    return f"{_places(abs(moved))} {'down' if moved > 0 else 'up'}" if moved else "no place"


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count:,} places"
