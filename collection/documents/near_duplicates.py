"""Texts that are nearly the same: sketches of their shingles, and groups of near-duplicates.

A text becomes the set of its shingles: all rows of :data:`SHINGLE` words that stand in it one after the other; of a
script without blanks the pairs of neighbouring characters are the words. Two texts are as similar as these sets are
(Jaccard: what both have, of what either has). A sketch of :data:`HASHES` numbers estimates that without the texts: the
share of numbers in which two sketches agree has this mean and a standard deviation of at most .044.

Texts of fewer than :data:`SHORT` words are one shingle as a whole: they are near-duplicates of equal ones only, since
in so few words a single other one can change everything. Upper case, punctuation and blanks do not count.

Sources: Broder, On the resemblance and containment of documents, SEQUENCES 1997 (shingles, sketches of least hash
values); Broder et al., Syntactic clustering of the web, WWW 1997 (groups); Manning, Raghavan and Schütze, Introduction
to Information Retrieval, 2008, 19.6 (four words a shingle); Leskovec, Rajaraman and Ullman, Mining of Massive Datasets,
3.4 (bands).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.errors import InputError
from collection.tokens import normalised, words

SHINGLE = 4
"""Words in a shingle."""

SHORT = 8
"""Words below which a text is compared as a whole."""

HASHES = 128
"""Numbers in a sketch."""

THRESHOLD = 0.8
"""The similarity from which on texts count as nearly the same: of sixty words three may be others, where these stand
together; two, where they stand apart."""

LEAST = 0.3
"""The lowest threshold that can be asked for: below, texts of one subject would do."""

MARGIN = 0.1
"""So far below the threshold a sketch may say that two texts are, for these to be compared exactly."""

BAND_RECALL = 0.995
"""The probability with which two texts just at the threshold come into one band at least."""

WINDOW = 500
"""In a band, a text is compared with so many that follow it; more than that have one band in common only where a
collection is nearly all boilerplate, and these are linked by others of them."""

CHUNK = 4096
"""Shingles that are hashed, or sketches that are compared, at once."""

Shingles = NDArray[np.uint64]
Sketch = NDArray[np.uint32]


class Group(NamedTuple):
    """Documents that are linked by near-duplicates, in the order in which they came.

    Attributes
    ----------
    doc_ids
        Two or more.
    similarity
        Of each to the first: 1 for the first itself, and for one that is linked to it by a third perhaps less than
        the threshold.
    """

    doc_ids: tuple[str, ...]
    similarity: tuple[float, ...]


def shingles(text: str) -> Shingles:
    """The shingles of a text as numbers, ascending and each once; (n,) uint64, at least one.

    Examples
    --------
    >>> len(shingles("the flow past a wing at low speed, and the flow past a wing"))
    9
    >>> len(shingles("past a wing"))
    1
    """
    plain = normalised(text)
    found = words(plain)
    if len(found) < SHORT:
        return np.array([_number(" ".join(found or plain.split()))], dtype=np.uint64)
    numbers = np.fromiter(map(_number, found), dtype=np.uint64, count=len(found))
    count = len(numbers) - SHINGLE + 1
    rows = numbers[:count].copy()
    for place in range(1, SHINGLE):
        rows = _mixed(rows) + numbers[place : place + count]
    return np.unique(_mixed(rows))


@lru_cache(maxsize=1 << 17)
def _number(word: str) -> int:
    """The same number for a word in every process."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _mixed(values: Shingles) -> Shingles:
    """Each bit spread over all (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@cache
def _functions() -> tuple[Shingles, Shingles]:
    """Factors (odd) and summands of the hash functions; always the same."""
    random = np.random.default_rng(1997)
    factors, summands = random.integers(0, 2**64, size=(2, HASHES, 1), dtype=np.uint64)
    return factors | np.uint64(1), summands


def sketch(text: str) -> Sketch:
    """The sketch of a text: the least value of its shingles by each of so many hash functions.

    Returns
    -------
    (HASHES,) uint32

    Examples
    --------
    >>> bool((sketch("The flow past a wing.") == sketch("the flow past a wing")).all())
    True
    """
    return sketch_of(shingles(text))


def sketch_of(of: Shingles) -> Sketch:
    """The sketch of shingles."""
    factors, summands = _functions()
    least = [(factors * of[at : at + CHUNK] + summands).min(axis=1) for at in range(0, len(of), CHUNK)]
    return (np.minimum.reduce(least) >> np.uint64(32)).astype(np.uint32)


def jaccard(a: Shingles, b: Shingles) -> float:
    """How similar two texts are: the share of their shingles that both have.

    Examples
    --------
    Eight words give five shingles; with another one in the end, the two have four of six.

    >>> one, other = "one two three four five six seven eight", "one two three four five six seven nine"
    >>> round(jaccard(shingles(one), shingles(other)), 3)
    0.667
    """
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both)


def likely(one: Sketch, others: NDArray[np.uint32], threshold: float = THRESHOLD) -> NDArray[np.int64]:
    """Which of the (n, HASHES) other sketches may be at the threshold or above: what is to be compared exactly."""
    share = (others == one).mean(axis=1) if len(others) else np.zeros(0)
    return np.flatnonzero(share >= threshold - MARGIN)


# --- a whole collection ---------------------------------------------------------------------------------


def groups(documents: Iterable[tuple[str, str]], threshold: float = THRESHOLD) -> list[Group]:
    """The groups of near-duplicates in a collection.

    Sketches are cut into bands of equal length, and texts with an equal band are compared, by their sketches and then
    exactly. What is grouped has at least the threshold; what has it is found with a probability of
    :data:`BAND_RECALL` and more.

    Parameters
    ----------
    documents
        Id and text; gone through twice, so that the texts need not all be in memory. A sketch takes 512 bytes.
        Texts without anything but blanks are near-duplicates of nothing.
    threshold
        From :data:`LEAST` to 1.

    Returns
    -------
    list
        In the order of their first documents.

    Raises
    ------
    InputError
        The threshold is not in its range, or the documents can be gone through once only.

    Examples
    --------
    >>> texts = {"a": "Flow past a wing.", "b": "Heat in a slab.", "c": "flow past a wing"}
    >>> groups(texts.items())
    [Group(doc_ids=('a', 'c'), similarity=(1.0, 1.0))]
    """
    from scipy.cluster.hierarchy import DisjointSet

    if not LEAST <= threshold <= 1:
        raise InputError(f"the threshold of near-duplicates is from {LEAST:g} to 1, found {threshold:g}")
    if iter(documents) is documents:
        raise InputError("near-duplicates need documents that can be gone through twice, as a list can")
    ids: list[str] = []
    made: list[Sketch] = []
    for doc_id, text in documents:
        if text and not text.isspace():
            ids.append(doc_id)
            made.append(sketch(text))
    if len(ids) < 2:
        return []
    left, right, guess = _candidates(np.stack(made), threshold)
    del made
    wanted = {ids[place] for place in np.unique(np.r_[left, right]).tolist()}
    places = {doc_id: place for place, doc_id in enumerate(ids)}
    exact = {places[doc_id]: shingles(text) for doc_id, text in documents if doc_id in wanted}
    linked = DisjointSet(sorted(exact))
    for place in np.argsort(-guess, kind="stable").tolist():
        a, b = int(left[place]), int(right[place])
        # What is linked already need not be compared: a hundred copies make thousands of pairs.
        if not linked.connected(a, b) and jaccard(exact[a], exact[b]) >= threshold:
            linked.merge(a, b)
    members = sorted(sorted(group) for group in linked.subsets() if len(group) > 1)
    return [
        Group(tuple(ids[m] for m in group), tuple(jaccard(exact[group[0]], exact[m]) for m in group))
        for group in members
    ]


def _candidates(
    sketches: NDArray[np.uint32], threshold: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs that may be at the threshold, each once, and what their sketches say."""
    count = len(sketches)
    keys: list[NDArray[np.int64]] = []
    guesses: list[NDArray[np.float64]] = []
    length = _band(threshold)
    for start in range(0, HASHES - length + 1, length):
        for a, b in _alike(sketches[:, start : start + length]):
            for at in range(0, len(a), CHUNK):
                one, other = a[at : at + CHUNK], b[at : at + CHUNK]
                share = (sketches[one] == sketches[other]).mean(axis=1)
                likely = share >= threshold - MARGIN
                keys.append((np.minimum(one, other) * count + np.maximum(one, other))[likely])
                guesses.append(share[likely])
    if not keys:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    once, first = np.unique(np.concatenate(keys), return_index=True)
    return once // count, once % count, np.concatenate(guesses)[first]


def _alike(band: NDArray[np.uint32]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of rows that are equal; of many equal ones each with the :data:`WINDOW` next."""
    number = np.zeros(len(band), dtype=np.uint64)
    for column in band.T:
        number = _mixed(number + column)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    open_ = np.arange(len(order))
    for step in range(1, WINDOW + 1):
        open_ = open_[open_ + step < len(order)]
        open_ = open_[ordered[open_] == ordered[open_ + step]]
        if not len(open_):
            return
        yield order[open_], order[open_ + step]


def _band(threshold: float) -> int:
    """Numbers in a band: as many as can be, so that few texts are compared, and the threshold is still found."""
    lengths = range(HASHES, 0, -1)
    return next(n for n in lengths if n == 1 or 1 - (1 - threshold**n) ** (HASHES // n) >= BAND_RECALL)
