"""Choice of the next two documents to compare: documents are inserted one by one into a ranking."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from collection.core.records import PreferenceKind

DocumentPair = tuple[str, str]
AnsweredPair = tuple[str, str, str]
"""Left document, right document, and the answer: any kind of preference but "undone"."""

ANSWERS: tuple[PreferenceKind, ...] = ("left", "right", "equal", "cannot judge")

MAX_UNJUDGEABLE = 2
"""Number of pairs that could not be judged after which a document is left out."""


class PreferencePlan(NamedTuple):
    """An annotator's progress with the documents of a topic.

    Attributes
    ----------
    pair
        The next two documents, (left, right); None if the ranking is complete.
    done, expected
        Number of answered pairs; and the same plus the largest number of pairs still to ask (fewer if documents are
        equal, more if pairs cannot be judged).
    ranking
        The documents inserted so far, best first, equal ones in one group.
    """

    pair: DocumentPair | None
    done: int
    expected: int
    ranking: list[list[str]]


class Lookahead(NamedTuple):
    """The next pair (None if the ranking is complete), and what follows each possible answer to it."""

    pair: DocumentPair | None
    then: dict[PreferenceKind, Lookahead]


_Known = dict[DocumentPair, str | None]
"""Two documents, the smaller id first -> the better one, "" if they are equal, None if they cannot be judged."""


def plan(documents: Sequence[str], answers: Iterable[AnsweredPair], seed: str = "") -> PreferencePlan:
    """Choose the next pair from the documents and one annotator's answers alone.

    Binary insertion (Steinhaus 1950; Knuth, The Art of Computer Programming 3, 5.3.1) with groups of equal documents:
    each document is compared with the middle of the ranking, then with the middle of the half where it belongs.

    - The k-th document takes at most ceil(log2 k) comparisons: 25 for 10 documents, instead of 45 for all pairs.
    - No pair is asked twice, and none whose answer follows from others, so answers contradict each other only after
      changes. A changed or undone answer changes what is asked next.
    - If a pair cannot be judged, the next nearest to the middle is asked instead. A document with no pair left is tried
      again at the end, and then joins the group with which it cannot be compared. With two such pairs, it is left out.

    `documents` are ids in the order of the pool; `answers` are the annotator's current preferences for the topic, in
    which other documents are ignored. `seed` and the pair determine which document is on the left.

    >>> plan(["a", "b", "c"], []).pair in [("a", "b"), ("b", "a")]
    True
    >>> plan(["a", "b", "c"], [("a", "b", "right"), ("c", "a", "left"), ("c", "b", "equal")])
    PreferencePlan(pair=None, done=3, expected=3, ranking=[['b', 'c'], ['a']])
    """
    return _plan(list(documents), _known(documents, answers), seed)


def look_ahead(documents: Sequence[str], answers: Iterable[AnsweredPair], seed: str = "", depth: int = 2) -> Lookahead:
    """Return the next pair and the pairs after each possible answer, `depth` answers deep, so a page need not wait."""
    names = list(documents)
    return _ahead(names, _known(names, answers), seed, depth)


def _ahead(documents: list[str], known: _Known, seed: str, depth: int) -> Lookahead:
    pair = _plan(documents, known, seed).pair
    then: dict[PreferenceKind, Lookahead] = {}
    if pair is not None and depth:
        key = _key(*pair)
        for kind in ANSWERS:
            known[key] = _better(*pair, kind)
            then[kind] = _ahead(documents, known, seed, depth - 1)
        del known[key]
    return Lookahead(pair, then)


def _plan(documents: list[str], known: _Known, seed: str) -> PreferencePlan:
    out = _left_out(documents, known)
    ranking: list[list[str]] = []
    waiting = deque((doc_id, False) for doc_id in documents if doc_id not in out)
    while waiting:
        doc_id, again = waiting.popleft()
        low, high = 0, len(ranking)
        while low < high:
            place, answer = _compared(doc_id, ranking, low, high, known)
            if place < 0:
                break
            if answer is None:
                # Each waiting document may have one more group to be compared with than the one before.
                groups = range(len(ranking) + 1, len(ranking) + 1 + len(waiting))
                left = (high - low).bit_length() + sum(n.bit_length() for n in groups)
                pair = _sides(doc_id, ranking[place][0], seed)
                return PreferencePlan(pair, len(known), len(known) + left, ranking)
            if not answer:
                ranking[place].append(doc_id)
                break
            low, high = (low, place) if answer == doc_id else (place + 1, high)
        else:
            ranking.insert(low, [doc_id])
            continue
        if place < 0 and not again:
            waiting.append((doc_id, True))
        elif place < 0 and high - low < len(ranking):
            ranking[low].append(doc_id)
    return PreferencePlan(None, len(known), len(known), ranking)


def _compared(doc_id: str, ranking: list[list[str]], low: int, high: int, known: _Known) -> tuple[int, str | None]:
    """The index nearest to the middle that can be compared (or -1), and the better document (None if not asked)."""
    for place in _from_the_middle(low, high):
        key = _key(doc_id, ranking[place][0])
        if key not in known:
            return place, None
        if (answer := known[key]) is not None:
            return place, answer
    return -1, None


def _from_the_middle(low: int, high: int) -> Iterator[int]:
    middle = (low + high) // 2
    yield middle
    for step in range(1, high - low):
        yield from (place for place in (middle - step, middle + step) if low <= place < high)


def _left_out(documents: list[str], known: _Known) -> set[str]:
    """Documents to leave out: those with the most pairs that cannot be judged; on ties, with the fewest others."""
    passed = {pair for pair, better in known.items() if better is None}
    out: set[str] = set()
    if not passed:
        return out
    judged = Counter(doc_id for pair, better in known.items() if better is not None for doc_id in pair)
    while passed:
        count = Counter(doc_id for pair in passed for doc_id in pair)
        worst = max(documents, key=lambda doc_id: (count[doc_id], -judged[doc_id]))
        if count[worst] < MAX_UNJUDGEABLE:
            break
        out.add(worst)
        passed = {pair for pair in passed if worst not in pair}
    return out


def _known(documents: Sequence[str], answers: Iterable[AnsweredPair]) -> _Known:
    listed = set(documents)
    return {
        _key(left, right): _better(left, right, cast(PreferenceKind, kind))
        for left, right, kind in answers
        if left in listed and right in listed
    }


def _better(left: str, right: str, kind: PreferenceKind) -> str | None:
    return {"left": left, "right": right, "equal": ""}.get(kind)


def _key(one: str, other: str) -> DocumentPair:
    return (one, other) if one < other else (other, one)


def _sides(one: str, other: str, seed: str) -> DocumentPair:
    first, second = _key(one, other)
    lot = hashlib.blake2b("\0".join((seed, first, second)).encode(), digest_size=1).digest()[0]
    return (first, second) if lot % 2 else (second, first)
