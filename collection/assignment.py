"""Who judges what: pool + judgements + leases + annotator -> the next pairs; how many judge each; who gets which topic.

One topic at a time: :func:`next_pairs` is called at every few key presses, so it looks at a few hundred
rows and nothing else.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from collection.errors import InputError, UnknownNameError
from collection.records import Candidate

MOST_ANNOTATORS = 50
"""Of one pair."""

LEASES = (0.05, 7 * 24 * 60.0)
"""Minutes that a pair can be reserved for, at least and at most."""

Which = Literal["all", "share", "number", "topics"]


@dataclass(frozen=True)
class AssignmentSettings:
    """How pairs come to annotators.

    Attributes
    ----------
    annotators
        How many judge a pair that several are to judge; with 1 everybody judges alone.
    which
        Which pairs these are: "all"; a "share" of them, chosen by lot; a "number" of each topic's pool, chosen by
        lot; all pairs of some "topics". The others are judged by one.
    share
        For "share": from 0 to 1.
    number
        For "number": pairs of each topic. Of a loop over the whole collection only those of the pool are chosen from.
    topics
        For "topics": their ids.
    lease
        Minutes that a pair is reserved for the annotator who has it in hand; in the loop at most ten. A card that is
        open renews them.
    blind
        Nobody who judges sees another's judgements, nor the run, rank or score of a pair.
    feedback
        After a pair of the calibration set show the settled grade, where there is one.
    """

    annotators: int = 1
    which: Which = "all"
    share: float = 1.0
    number: int = 20
    topics: tuple[str, ...] = ()
    lease: float = 60.0
    blind: bool = True
    feedback: bool = False

    def __post_init__(self) -> None:
        for name, kind in (("topics", tuple), ("share", float), ("lease", float)):
            object.__setattr__(self, name, kind(getattr(self, name)))  # JSON gives a list, and 1 for 1.0
        if self.which not in get_args(Which):
            raise UnknownNameError("choice of pairs", self.which, get_args(Which))
        if not isinstance(self.annotators, int) or not 1 <= self.annotators <= MOST_ANNOTATORS:
            raise InputError(f"a pair is judged by 1 to {MOST_ANNOTATORS} annotators, found {self.annotators}")
        if not 0 <= self.share <= 1:
            raise InputError(f"the share of pairs that several judge is from 0 to 1, found {self.share:g}")
        if self.number < 0:
            raise InputError(f"the number of pairs that several judge is 0 or more, found {self.number}")
        if not LEASES[0] <= self.lease <= LEASES[1]:
            raise InputError(f"a pair is reserved for 3 seconds (.05) to 7 days (10080), found {self.lease:g} minutes")


def wanted(
    settings: AssignmentSettings, query_id: str, doc_ids: Sequence[str], seed: str, *, pooled: bool = True
) -> NDArray[np.int64]:
    """How many annotators are to judge each pair of a topic.

    Chosen by lot, the same way whenever it is asked: a larger share has all pairs of a smaller one.

    Parameters
    ----------
    settings
        Who is to judge what.
    query_id, doc_ids
        The pairs; for "number" all of the topic's pool.
    seed
        Of the lot: the campaign's id.
    pooled
        Whether these are the topic's pool. A number of pairs is only chosen among those.

    Returns
    -------
    (pairs,) int64

    Examples
    --------
    >>> wanted(AssignmentSettings(annotators=2, which="number", number=1), "1", ["a", "b", "c"], "seed").tolist()
    [2, 1, 1]
    """
    count = len(doc_ids)
    several = np.zeros(count, dtype=np.bool_)
    if settings.which == "all":
        several[:] = True
    elif settings.which == "topics":
        several[:] = query_id in settings.topics
    elif settings.which == "share":
        several = lots(doc_ids, seed, query_id) < settings.share
    elif pooled:
        several[np.argsort(lots(doc_ids, seed, query_id), kind="stable")[: settings.number]] = True
    return np.where(several, settings.annotators, 1).astype(np.int64)


def lots(doc_ids: Sequence[str], *parts: str) -> NDArray[np.float64]:
    """(ids,) float64: a number from 0 to 1 for each id, which the id and the parts determine and nothing else.

    Spread evenly, and not to be told from chance by whoever does not know the parts.
    """
    begun = hashlib.blake2b("\0".join(parts).encode(), digest_size=8)

    def lot(doc_id: str) -> int:
        one = begun.copy()
        one.update(b"\0" + doc_id.encode())
        return int.from_bytes(one.digest())

    return np.array([lot(doc_id) for doc_id in doc_ids], dtype=np.float64) / 2.0**64


def next_pairs(candidates: Iterable[Candidate], count: int | None = None) -> list[Candidate]:
    """The next pairs of one topic for one annotator.

    A pair is open to the annotator while they have not judged it themselves, nobody has adjudicated it, and fewer
    others than are wanted have judged it or hold it on lease. Pairs of the calibration set are open to everybody who
    has not judged them, and come first. Pairs that are held back, since the text of their document is missing, are
    open to nobody. Pairs that the annotator skipped come last, the longest skipped first; otherwise the order stands.

    Parameters
    ----------
    candidates
        In the order in which to judge.
    count
        How many pairs are wanted at most; all if left out.

    Examples
    --------
    >>> table = [Candidate("a", 1, others=1), Candidate("b", 2, skipped=9.5), Candidate("c", 3)]
    >>> [pair.doc_id for pair in next_pairs(table)]
    ['c', 'b']
    """
    # Tuples, and no frame: this stands in the way of every save in the loop, and has a few hundred of them at most.
    open_ = [
        c
        for c in candidates
        if not (c.mine or c.held_back) and (c.calibration or (c.others + c.leased < c.wanted and not c.adjudicated))
    ]
    # What is alike in all of this stays in its order.
    open_.sort(key=lambda c: (c.skipped is not None, c.skipped or 0.0, not c.calibration))
    return open_ if count is None else open_[: max(count, 0)]


def deal(sizes: Mapping[str, int], people: Sequence[str], per_topic: int = 1) -> dict[str, list[str]]:
    """Deal topics out to people so that all get about the same number of pairs.

    The largest topic first, each to those who have the least so far (Graham 1969, longest processing time): nobody
    has more than a third above the best possible dealing when each topic goes to one.

    Parameters
    ----------
    sizes
        Topic -> its number of pairs.
    people
        Names; of two who have equally much the first named gets the next topic.
    per_topic
        How many people judge each topic.

    Returns
    -------
    dict
        Topic -> names, in the order of `sizes`.

    Raises
    ------
    InputError
        There are fewer people than each topic wants.

    Examples
    --------
    >>> deal({"1": 5, "2": 9, "3": 4}, ["ann", "ben"])
    {'1': ['ben'], '2': ['ann'], '3': ['ben']}
    """
    names = list(dict.fromkeys(people))
    if not 1 <= per_topic <= len(names):
        raise InputError(f"each topic is to go to {per_topic} people, and there are {len(names)} to choose from")
    heap: list[tuple[int, int]] = [(0, place) for place in range(len(names))]
    dealt: dict[str, list[str]] = {}
    for query_id, size in sorted(sizes.items(), key=lambda item: -item[1]):
        chosen = [heapq.heappop(heap) for _ in range(per_topic)]
        dealt[query_id] = [names[place] for _, place in sorted(chosen, key=lambda item: item[1])]
        for load, place in chosen:
            # A topic without a pair still takes somebody's attention: it counts as one.
            heapq.heappush(heap, (load + max(size, 1), place))
    return {query_id: dealt[query_id] for query_id in sizes}


def shuffled(candidates: Sequence[Candidate], *parts: str) -> list[Candidate]:
    """The candidates in an order of chance that the parts (campaign, annotator, topic) determine."""
    order = np.argsort(lots([c.doc_id for c in candidates], *parts), kind="stable")
    return [candidates[place] for place in order.tolist()]
