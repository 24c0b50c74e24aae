"""Assignment: an annotator's next pairs, the number of annotators of each pair, and topics for annotators."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError, require_known
from collection.core.records import LONGEST_LEASE, Candidate

MAX_ANNOTATORS = 50
"""Largest number of annotators of one pair."""

LEASES = (0.05, LONGEST_LEASE / 60)
"""Shortest and longest lease, in minutes."""

Which = Literal["all", "share", "number", "topics"]


@dataclass(frozen=True)
class AssignmentSettings:
    """Settings by which pairs are assigned to annotators.

    Attributes
    ----------
    annotators
        Annotators of each overlap pair; other pairs have one.
    which
        The overlap: "all" pairs; a random "share" of them; a random "number" of each topic's pool; all pairs of some
        "topics".
    share, number, topics
        The share from 0 to 1, the pairs per topic, or the topics' ids.
    lease
        Minutes for which a pair is reserved for the annotator who has it on screen, at most ten in the loop; an open
        card renews them.
    blind
        Annotators see neither others' judgements nor the run, rank or score of a pair.
    feedback
        Show the adjudicated grade, if any, after a pair of the qualification set.
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
        require_known("overlap", get_args(Which), self.which)
        if not isinstance(self.annotators, int) or not 1 <= self.annotators <= MAX_ANNOTATORS:
            raise InputError(f"annotators: expected 1 to {MAX_ANNOTATORS} per pair, found {self.annotators}")
        if not 0 <= self.share <= 1:
            raise InputError(f"share: expected an overlap from 0 to 1, found {self.share:g}")
        if self.number < 0:
            raise InputError(f"number: expected 0 or more overlap pairs per topic, found {self.number}")
        if not LEASES[0] <= self.lease <= LEASES[1]:
            raise InputError(f"lease: expected {LEASES[0]:g} to {LEASES[1]:g} minutes, found {self.lease:g}")


def count_wanted(
    settings: AssignmentSettings, query_id: str, doc_ids: Sequence[str], seed: str, *, pooled: bool = True
) -> Ints:
    """(pairs,) int64: the number of annotators for each pair of a topic.

    The choice depends on `seed` (the campaign's id) and the ids alone; a larger share has all pairs of a smaller one.

    A "number" of pairs is only chosen from all of the topic's pool (`pooled`).

    >>> count_wanted(AssignmentSettings(annotators=2, which="number", number=1), "1", ["a", "b", "c"], "seed").tolist()
    [2, 1, 1]
    """
    count = len(doc_ids)
    several = np.zeros(count, dtype=np.bool_)
    if settings.which == "all":
        several[:] = True
    elif settings.which == "topics":
        several[:] = query_id in settings.topics
    elif settings.which == "share":
        several = random_keys(doc_ids, seed, query_id) < settings.share
    elif pooled:
        several[np.argsort(random_keys(doc_ids, seed, query_id), kind="stable")[: settings.number]] = True
    return np.where(several, settings.annotators, 1).astype(np.int64)


def random_keys(doc_ids: Sequence[str], *parts: str) -> Floats:
    """(ids,) float64: pseudo-random numbers from 0 to 1, uniform, determined by each id and the parts."""
    prefix = hashlib.blake2b("\0".join(parts).encode(), digest_size=8)

    def key(doc_id: str) -> int:
        one = prefix.copy()
        one.update(b"\0" + doc_id.encode())
        return int.from_bytes(one.digest())

    return np.array([key(doc_id) for doc_id in doc_ids], dtype=np.float64) / 2.0**64


def next_pairs(candidates: Iterable[Candidate], count: int | None = None) -> list[Candidate]:
    """Choose the next pairs of one topic for one annotator, at most `count`, from candidates in order of judging.

    A pair is open to an annotator who has not judged it while nobody adjudicated it and fewer others than wanted have
    judged or leased it. Qualification pairs are open to everybody who has not judged them, and come first; pairs
    without a text are held back. Skipped pairs come last, the earliest skip first.

    >>> table = [Candidate("a", 1, others=1), Candidate("b", 2, skipped=9.5), Candidate("c", 3)]
    >>> [pair.doc_id for pair in next_pairs(table)]
    ['c', 'b']
    """
    # Tuples and no frame, since every save in the loop waits for this.
    open_ = [c for c in candidates if _is_open(c)]
    open_.sort(key=lambda c: (c.skipped is not None, c.skipped or 0.0, not c.qualification))
    return open_ if count is None else open_[: max(count, 0)]


def _is_open(c: Candidate) -> bool:
    return not (c.own or c.held_back) and (c.qualification or (c.others + c.leased < c.wanted and not c.adjudicated))


def read_open(candidates: Iterable[Candidate], count: int) -> list[Candidate]:
    """Read candidates until there are enough for :func:`next_pairs` to choose `count`, all but qualification pairs.

    >>> table = iter([Candidate("a", 1, own=True), Candidate("b", 2, skipped=9.5), *map(Candidate, "cd", (3, 4))])
    >>> [pair.doc_id for pair in read_open(table, 1)], next(table).doc_id
    (['b', 'c'], 'd')
    """
    open_candidates: list[Candidate] = []
    for candidate in candidates if count > 0 else ():
        if _is_open(candidate):
            open_candidates.append(candidate)
            count -= candidate.skipped is None
            if not count:
                break
    return open_candidates


def distribute_topics(sizes: Mapping[str, int], people: Sequence[str], per_topic: int = 1) -> dict[str, list[str]]:
    """Distribute topics so that all people get about the same number of pairs.

    The largest topic first, each to those who have the least so far (Graham 1969, longest processing time): with one
    annotator per topic nobody has more than 4/3 of the optimum.

    Parameters
    ----------
    sizes
        Topic -> its number of pairs.
    people
        Names; of two with equal loads the first gets the next topic.
    per_topic
        Annotators of each topic; raises :class:`InputError` if there are fewer people.

    Examples
    --------
    >>> distribute_topics({"1": 5, "2": 9, "3": 4}, ["ann", "ben"])
    {'1': ['ben'], '2': ['ann'], '3': ['ben']}
    """
    names = list(dict.fromkeys(people))
    if not 1 <= per_topic <= len(names):
        raise InputError(
            f"per_topic: expected 1 to {len(names)} annotators per topic (the annotators given), found {per_topic}"
        )
    heap: list[tuple[int, int]] = [(0, place) for place in range(len(names))]
    names_of: dict[str, list[str]] = {}
    for query_id, size in sorted(sizes.items(), key=lambda item: -item[1]):
        chosen = [heapq.heappop(heap) for _ in range(per_topic)]
        names_of[query_id] = [names[place] for _, place in sorted(chosen, key=lambda item: item[1])]
        for load, place in chosen:
            # A topic without a pair counts as one.
            heapq.heappush(heap, (load + max(size, 1), place))
    return {query_id: names_of[query_id] for query_id in sizes}


def shuffle(candidates: Sequence[Candidate], *parts: str) -> list[Candidate]:
    """The candidates in a random order that the parts (campaign, annotator, topic) determine."""
    order = np.argsort(random_keys([c.doc_id for c in candidates], *parts), kind="stable")
    return [candidates[place] for place in order.tolist()]
