"""Strengths of documents from preferences (Bradley-Terry model), and grades from strengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.preferences.majority import count_votes

PRIOR = 0.01
"""Number of pseudo-wins, and of pseudo-losses, of each document against an average one."""

ALIKE = 0.7
"""Largest difference of strengths that counts as equal, about 2 to 1 in odds."""

ROUNDS = 200
PRECISION = 1e-10
MAX_STEP = 5.0


def fit(wins: Floats, prior: float = PRIOR) -> Floats:
    """Fit the model of Bradley & Terry (1952): i is preferred to j with probability 1 / (1 + exp(s_j - s_i)).

    The most probable strengths given the wins, found by Newton's method with halved steps. The log-likelihood is
    concave (Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 2004). The prior makes its
    maximum finite and unique, even if a document won or lost every comparison or two groups were never compared.

    Parameters
    ----------
    wins
        (..., n, n) number of times that the document of the row was preferred to that of the column; a tie is half a
        win for each.
    prior
        Number of pseudo-wins and pseudo-losses of each document, above 0 (:data:`PRIOR`).

    Returns
    -------
    (..., n) float64
        Log-odds with mean 0: the odds that i is preferred to j are exp(s_i - s_j).

    Examples
    --------
    The first document won three of four comparisons, so its odds are 3 to 1:

    >>> strengths = fit(np.array([[0.0, 3.0], [1.0, 0.0]]), prior=1e-9)
    >>> float(np.exp(strengths[0] - strengths[1]).round(6))
    3.0
    """
    if not prior > 0:
        raise InputError(f"prior: expected a number above 0, found {prior:g}")
    all_wins = np.asarray(wins, dtype=np.float64).reshape(-1, *np.shape(wins)[-2:])
    strengths = np.zeros(all_wins.shape[:-1])
    if not strengths.size:
        return strengths.reshape(np.shape(wins)[:-1])
    going = np.arange(len(strengths))
    best = _likelihood(all_wins, strengths, prior)
    for _ in range(ROUNDS):
        step = _newton(all_wins[going], strengths[going], prior)
        tried = strengths[going] + step
        now = _likelihood(all_wins[going], tried, prior)
        while (worse := (now < best[going]) & (np.abs(step).max(axis=1) > PRECISION)).any():
            step[worse] /= 2
            tried[worse] = strengths[going][worse] + step[worse]
            now[worse] = _likelihood(all_wins[going][worse], tried[worse], prior)
        better = now > best[going]
        strengths[going[better]], best[going[better]] = tried[better], now[better]
        going = going[better & (np.abs(step).max(axis=1) > PRECISION)]
        if not len(going):
            break
    return (strengths - strengths.mean(axis=1, keepdims=True)).reshape(np.shape(wins)[:-1])


def _likelihood(wins: Floats, s: Floats, prior: float) -> Floats:
    """(m,) log-likelihood of (m, n, n) wins and of the prior under (m, n) strengths."""
    lost = (wins * np.logaddexp(0.0, s[:, None, :] - s[:, :, None])).sum(axis=(1, 2))
    return -lost - prior * (np.logaddexp(0.0, -s) + np.logaddexp(0.0, s)).sum(axis=1)


def _newton(wins: Floats, s: Floats, prior: float) -> Floats:
    """(m, n) Newton step from (m, n) strengths, at most MAX_STEP in any component."""
    met = wins + wins.transpose(0, 2, 1)
    chance = _logistic(s[:, :, None] - s[:, None, :])
    alone = _logistic(s)
    slope = wins.sum(axis=2) + prior - (met * chance).sum(axis=2) - 2 * prior * alone
    weight = met * chance * (1 - chance)
    bend = -weight
    diagonal = np.arange(s.shape[1])
    bend[:, diagonal, diagonal] += weight.sum(axis=2) + 2 * prior * alone * (1 - alone)
    step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
    return step * np.minimum(1.0, MAX_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), MAX_STEP))


def _logistic(x: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -x))


def estimate_strengths(preferences: pd.DataFrame, *, prior: float = PRIOR) -> pd.DataFrame:
    """Estimate the strength of each document in each topic from the preferences of all annotators (:func:`fit`).

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strength`` (mean 0 in each topic), ``pairs`` (number of comparisons of the
        document). Topics are in order of first occurrence, documents from the strongest to the weakest, ties by id.
    """
    wins_of: dict[str, tuple[list[str], Floats]] = {}
    of_size: dict[int, list[str]] = {}
    topics: dict[str, list[tuple[str, str, int, int, int]]] = {}
    for query_id, *pair in count_votes(preferences).itertuples(index=False, name=None):
        topics.setdefault(query_id, []).append((pair[0], pair[1], pair[2], pair[3], pair[4]))
    for query_id, pairs in topics.items():
        names = sorted({doc_id for pair in pairs for doc_id in pair[:2]})
        place = {doc_id: n for n, doc_id in enumerate(names)}
        wins = np.zeros((len(names), len(names)))
        for first, second, for_first, for_second, equal in pairs:
            wins[place[first], place[second]] = for_first + equal / 2
            wins[place[second], place[first]] = for_second + equal / 2
        wins_of[query_id] = names, wins
        of_size.setdefault(len(names), []).append(query_id)
    # Topics of equal size are fitted together, which is a hundred times faster.
    fitted: dict[str, Floats] = {}
    for query_ids in of_size.values():
        fitted |= zip(query_ids, fit(np.stack([wins_of[q][1] for q in query_ids]), prior), strict=True)
    rows: list[tuple[str, str, float, int]] = []
    for query_id, (names, wins) in wins_of.items():
        judged = (wins + wins.T).sum(axis=1).tolist()
        ranked = sorted(zip(names, fitted[query_id].tolist(), judged, strict=True), key=lambda row: -row[1])
        rows += [(query_id, doc_id, strength, round(count)) for doc_id, strength, count in ranked]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "strength", "pairs"])
    return frame.astype({"query_id": "str", "doc_id": "str", "strength": "float64", "pairs": "int64"})


def strengths_to_grades(strengths: pd.DataFrame, scale: Sequence[int], *, alike: float = ALIKE) -> pd.DataFrame:
    """Turn strengths into grades: in each topic, the best documents get the highest grade and the last the lowest.

    Starting with the strongest, a document joins a group if it is at most `alike` behind the group's first document. In
    a topic with n documents, a group of m documents with w documents behind it is at w / (n - m), from 0 to 1, and gets
    the nearest grade of the scale (the higher one of two). If all documents are in one group, they get the highest
    grade.

    A preference shows which document is better, not whether it is good, so the same grade means different things in
    different topics. To evaluate by preferences themselves, use :func:`~collection.preferences.evaluate`.

    Parameters
    ----------
    strengths
        ``query_id``, ``doc_id``, ``strength``, as from :func:`estimate_strengths`.
    scale
        Two or more grades; leave out the lowest if all compared documents are relevant.
    alike
        Largest difference of strengths that counts as equal, 0 or more.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.QRELS`, in the order of `strengths`.

    Examples
    --------
    >>> rows = [("1", "a", 3.0), ("1", "b", 0.1), ("1", "c", -0.1), ("1", "d", -3.0)]
    >>> strengths = pd.DataFrame(rows, columns=["query_id", "doc_id", "strength"])
    >>> strengths_to_grades(strengths, [0, 1, 2, 3])["relevance"].tolist()
    [3, 2, 2, 0]
    """
    levels = sorted(scale)
    if len(set(levels)) < 2:
        raise InputError(f"scale: expected two or more grades, found {levels or 'none'}")
    if not alike >= 0:
        raise InputError(f"alike: expected a difference of strengths of 0 or more, found {alike:g}")
    topics: dict[str, list[tuple[str, float]]] = {}
    for query_id, doc_id, strength in strengths[["query_id", "doc_id", "strength"]].itertuples(index=False, name=None):
        topics.setdefault(query_id, []).append((doc_id, strength))
    rows: list[tuple[str, str, int]] = []
    for query_id, documents in topics.items():
        ordered = sorted(documents, key=lambda row: -row[1])
        given = dict(zip((d for d, _ in ordered), _places([s for _, s in ordered], alike), strict=True))
        rows += [(query_id, d, levels[int(given[d] * (len(levels) - 1) + 0.5)]) for d, _ in documents]
    frame = pd.DataFrame(rows, columns=list(QRELS.names))
    return frame.astype({"query_id": "str", "doc_id": "str", "relevance": "int64"})


def _places(descending: list[float], alike: float) -> list[float]:
    """The position of each strength from 0 to 1, the same for all members of a group."""
    places: list[float] = []
    count = len(descending)
    while len(places) < count:
        first = len(places)
        size = sum(strength >= descending[first] - alike for strength in descending[first:])
        behind = count - first - size
        places += [behind / (count - size) if count > size else 1.0] * size
    return places
