"""Near-duplicate texts: shingles, sketches that estimate the similarity of two texts, and groups.

A shingle is a sequence of :data:`SHINGLE` consecutive words; in scripts without blanks, pairs of neighbouring
characters are the words. Case, punctuation and blanks do not count. The similarity of two texts is the Jaccard
coefficient of their sets of shingles. The share of numbers that are equal in their sketches estimates it, with a
standard deviation of at most 0.044. Texts of fewer than :data:`SHORT` words are near-duplicates of equal texts only.

Sources: Broder, On the resemblance and containment of documents, SEQUENCES 1997 (shingles, sketches of minimum hash
values); Broder et al., Syntactic clustering of the web, WWW 1997 (groups); Manning, Raghavan and Schütze, Introduction
to Information Retrieval, 2008, 19.6 (four words per shingle); Leskovec, Rajaraman and Ullman, Mining of Massive
Datasets, 3.4 (bands).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.tokens import normalise, words

SHINGLE = 4
"""Number of words in a shingle."""

SHORT = 8
"""Texts with fewer words are compared as a whole."""

HASHES = 128
"""Number of numbers in a sketch."""

THRESHOLD = 0.8
"""Minimum similarity of near-duplicates; of sixty words, three neighbouring or two separate ones may differ."""

LEAST = 0.3
"""Lowest possible threshold; below it, different texts on one subject would match."""

MARGIN = 0.1
"""Texts whose sketches are at most this much below the threshold are compared exactly."""

BAND_RECALL = 0.995
"""Probability that two texts exactly at the threshold share a band."""

WINDOW = 500
"""Maximum number of texts with an equal band to compare a text with; only boilerplate shares one more often."""

CHUNK = 4096
"""Number of shingles hashed, or of sketches compared, at once."""

Shingles = NDArray[np.uint64]
Sketch = NDArray[np.uint32]


class DuplicateGroup(NamedTuple):
    """A group of documents linked as near-duplicates, in their order in the collection."""

    doc_ids: tuple[str, ...]
    """Two or more ids."""
    similarity: tuple[float, ...]
    """Similarity of each document to the first, which may be below the threshold if a third document links the two."""


def shingles(text: str) -> Shingles:
    """Return the shingles of a text as ascending distinct numbers: (n,) uint64, at least one.

    >>> len(shingles("the flow past a wing at low speed, and the flow past a wing"))
    9
    >>> len(shingles("past a wing"))
    1
    """
    plain = normalise(text)
    terms = words(plain)
    if len(terms) < SHORT:
        return np.array([_number(" ".join(terms or plain.split()))], dtype=np.uint64)
    numbers = np.fromiter(map(_number, terms), dtype=np.uint64, count=len(terms))
    count = len(numbers) - SHINGLE + 1
    rows = numbers[:count].copy()
    for place in range(1, SHINGLE):
        rows = _mixed(rows) + numbers[place : place + count]
    return np.unique(_mixed(rows))


@lru_cache(maxsize=1 << 17)
def _number(word: str) -> int:
    """Hash of a word, the same in every process."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _mixed(values: Shingles) -> Shingles:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@cache
def _functions() -> tuple[Shingles, Shingles]:
    """Odd factors, and summands, of the hash functions, each (HASHES, 1)."""
    random = np.random.default_rng(1997)
    factors, summands = random.integers(0, 2**64, size=(2, HASHES, 1), dtype=np.uint64)
    return factors | np.uint64(1), summands


def sketch(text: str) -> Sketch:
    """Return the sketch of a text, the minimum of its shingles under each hash function: (HASHES,) uint32.

    >>> bool((sketch("The flow past a wing.") == sketch("the flow past a wing")).all())
    True
    """
    return sketch_of(shingles(text))


def sketch_of(of: Shingles) -> Sketch:
    """Return the sketch of shingles."""
    factors, summands = _functions()
    least = [(factors * of[at : at + CHUNK] + summands).min(axis=1) for at in range(0, len(of), CHUNK)]
    return (np.minimum.reduce(least) >> np.uint64(32)).astype(np.uint32)


def jaccard(a: Shingles, b: Shingles) -> float:
    """Return the Jaccard coefficient of the shingles of two texts.

    >>> one, other = "one two three four five six seven eight", "one two three four five six seven nine"
    >>> round(jaccard(shingles(one), shingles(other)), 3)
    0.667
    """
    both = len(np.intersect1d(a, b, assume_unique=True))
    return both / (len(a) + len(b) - both)


def likely(one: Sketch, others: NDArray[np.uint32], threshold: float = THRESHOLD) -> Ints:
    """Return the rows of `others` (n, HASHES) that may reach the threshold and need an exact comparison."""
    share = (others == one).mean(axis=1) if len(others) else np.zeros(0)
    return np.flatnonzero(share >= threshold - MARGIN)


def groups(documents: Iterable[tuple[str, str]], threshold: float = THRESHOLD) -> list[DuplicateGroup]:
    """Find the groups of near-duplicates in a collection, in the order of their first documents.

    Texts whose sketches have an equal band are compared, first by their sketches and then exactly. Every link found has
    at least the similarity `threshold`; each such link is found with a probability of at least :data:`BAND_RECALL`.

    Parameters
    ----------
    documents
        Ids and texts. Read twice, so the texts need not fit into memory; a sketch takes 512 bytes.
    threshold
        Minimum similarity, from :data:`LEAST` to 1.

    Raises
    ------
    InputError
        `threshold` is out of range, or `documents` is an iterator, which can be read only once.

    Examples
    --------
    >>> texts = {"a": "Flow past a wing.", "b": "Heat in a slab.", "c": "flow past a wing"}
    >>> groups(texts.items())
    [DuplicateGroup(doc_ids=('a', 'c'), similarity=(1.0, 1.0))]
    """
    from scipy.cluster.hierarchy import DisjointSet

    if not LEAST <= threshold <= 1:
        raise InputError(f"near-duplicate threshold: expected {LEAST:g} to 1, found {threshold:g}")
    if iter(documents) is documents:
        raise InputError("documents: expected a list or another iterable that can be read twice, found an iterator")
    sketches = {doc_id: sketch(text) for doc_id, text in documents if text and not text.isspace()}
    if len(sketches) < 2:
        return []
    ids = list(sketches)
    matrix = np.stack(list(sketches.values()))
    del sketches
    left, right, guess = _candidates(matrix, threshold)
    wanted = {ids[place] for place in np.unique(np.r_[left, right]).tolist()}
    places = {doc_id: place for place, doc_id in enumerate(ids)}
    exact = {places[doc_id]: shingles(text) for doc_id, text in documents if doc_id in wanted}
    linked = DisjointSet(sorted(exact))
    for place in np.argsort(-guess, kind="stable").tolist():
        a, b = int(left[place]), int(right[place])
        # Linked texts need no comparison: a hundred copies of one text make thousands of pairs.
        if not linked.connected(a, b) and jaccard(exact[a], exact[b]) >= threshold:
            linked.merge(a, b)
    members = sorted(sorted(group) for group in linked.subsets() if len(group) > 1)
    return [
        DuplicateGroup(tuple(ids[m] for m in group), tuple(jaccard(exact[group[0]], exact[m]) for m in group))
        for group in members
    ]


def group_numbers(groups: Iterable[DuplicateGroup]) -> dict[str, int]:
    """Return document id -> number of its group, for all documents in groups."""
    return {doc_id: number for number, group in enumerate(groups) for doc_id in group.doc_ids}


def _candidates(sketches: NDArray[np.uint32], threshold: float) -> tuple[Ints, Ints, Floats]:
    """Distinct pairs of rows that may reach the threshold, and the similarity of their sketches."""
    count = len(sketches)
    keys, guesses = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    length = _band(threshold)
    for start in range(0, HASHES - length + 1, length):
        for a, b in _equal_rows(sketches[:, start : start + length]):
            for at in range(0, len(a), CHUNK):
                one, other = a[at : at + CHUNK], b[at : at + CHUNK]
                share = (sketches[one] == sketches[other]).mean(axis=1)
                likely = share >= threshold - MARGIN
                keys.append((np.minimum(one, other) * count + np.maximum(one, other))[likely])
                guesses.append(share[likely])
    once, first = np.unique(np.concatenate(keys), return_index=True)
    return once // count, once % count, np.concatenate(guesses)[first]


def _equal_rows(band: NDArray[np.uint32]) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of equal rows, each row with at most the :data:`WINDOW` next ones."""
    number = np.zeros(len(band), dtype=np.uint64)
    for column in band.T:
        number = _mixed(number + column)
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    rows = np.arange(len(order))
    for step in range(1, WINDOW + 1):
        rows = rows[rows + step < len(order)]
        rows = rows[ordered[rows] == ordered[rows + step]]
        if not len(rows):
            return
        yield order[rows], order[rows + step]


def _band(threshold: float) -> int:
    """Number of numbers in a band: the largest that still has :data:`BAND_RECALL`."""
    lengths = range(HASHES, 0, -1)
    return next(n for n in lengths if n == 1 or 1 - (1 - threshold**n) ** (HASHES // n) >= BAND_RECALL)
