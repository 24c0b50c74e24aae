"""How strong each document is by what was preferred (Bradley-Terry), and grades that follow from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.frames import QRELS
from collection.preferences.majority import count_votes

Floats = npt.NDArray[np.float64]

PRIOR = 0.01
"""Wins, and as many losses, against an average document that each document has from the start."""

ALIKE = 0.7
"""Documents are alike whose strengths are no further apart: less than 2 to 1 that the better one is preferred."""

ROUNDS = 200
PRECISION = 1e-10
FARTHEST = 5.0
"""What a step of the search changes at most."""


def fit(wins: Floats, prior: float = PRIOR) -> Floats:
    """Strengths by the model of Bradley & Terry (1952): i is preferred to j with probability 1 / (1 + exp(s_j - s_i)).

    The most probable strengths given the wins, found by Newton's method with halved steps; the logarithm of the
    likelihood is concave (Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 2004), and
    the prior makes the maximum finite and the only one, also where a document won or lost all, or two groups never met.

    Parameters
    ----------
    wins
        (n, n), or several of them (..., n, n): how often the document of the row was preferred to that of the column; a
        tie is half a win for each.
    prior
        Above 0: so many wins and as many losses of every document against one of strength 0.

    Returns
    -------
    (..., n) float64
        Natural logarithms: the odds that i is preferred to j are exp(s_i - s_j); their mean is 0.

    Examples
    --------
    Three of four times the first: the odds are 3 to 1.

    >>> strengths = fit(np.array([[0.0, 3.0], [1.0, 0.0]]), prior=1e-9)
    >>> float(np.exp(strengths[0] - strengths[1]).round(6))
    3.0
    """
    if not prior > 0:
        raise InputError(f"the prior of the strengths is above 0, found {prior:g}")
    all_wins = np.asarray(wins, dtype=np.float64).reshape(-1, *np.shape(wins)[-2:])
    found = np.zeros(all_wins.shape[:-1])
    if not found.size:
        return found.reshape(np.shape(wins)[:-1])
    going = np.arange(len(found))
    best = _likelihood(all_wins, found, prior)
    for _ in range(ROUNDS):
        step = _newton(all_wins[going], found[going], prior)
        tried = found[going] + step
        now = _likelihood(all_wins[going], tried, prior)
        while (worse := (now < best[going]) & (np.abs(step).max(axis=1) > PRECISION)).any():
            step[worse] /= 2
            tried[worse] = found[going][worse] + step[worse]
            now[worse] = _likelihood(all_wins[going][worse], tried[worse], prior)
        better = now > best[going]
        found[going[better]], best[going[better]] = tried[better], now[better]
        going = going[better & (np.abs(step).max(axis=1) > PRECISION)]
        if not len(going):
            break
    return (found - found.mean(axis=1, keepdims=True)).reshape(np.shape(wins)[:-1])


def _likelihood(wins: Floats, s: Floats, prior: float) -> Floats:
    """(m,): the logarithm of the probability of (m, n, n) wins, and of the prior's, under (m, n) strengths."""
    lost = (wins * np.logaddexp(0.0, s[:, None, :] - s[:, :, None])).sum(axis=(1, 2))
    return -lost - prior * (np.logaddexp(0.0, -s) + np.logaddexp(0.0, s)).sum(axis=1)


def _newton(wins: Floats, s: Floats, prior: float) -> Floats:
    """(m, n): Newton's step from (m, n) strengths; far from the top, where it goes too far, a part of it."""
    met = wins + wins.transpose(0, 2, 1)
    chance = _logistic(s[:, :, None] - s[:, None, :])
    alone = _logistic(s)
    slope = wins.sum(axis=2) + prior - (met * chance).sum(axis=2) - 2 * prior * alone
    weight = met * chance * (1 - chance)
    bend = -weight
    diagonal = np.arange(s.shape[1])
    bend[:, diagonal, diagonal] += weight.sum(axis=2) + 2 * prior * alone * (1 - alone)
    step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
    return step * np.minimum(1.0, FARTHEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), FARTHEST))


def _logistic(x: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -x))


def estimate_strengths(preferences: pd.DataFrame, *, prior: float = PRIOR) -> pd.DataFrame:
    """How strong each document is, topic by topic, over all annotators; see :func:`fit`.

    Parameters
    ----------
    preferences
        ``annotator``, ``query_id``, ``left``, ``right``, ``kind``. Equal ones are half a win for each; pairs that
        could not be judged are left out, and documents that are in no others.
    prior
        As for :func:`fit`.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strength`` (the mean of a topic is 0), ``pairs`` (in which it was judged); topics in
        the order in which they come, the strongest document first, of equally strong ones the smaller id.
    """
    topics: dict[str, list[tuple[str, str, int, int, int]]] = {}
    for query_id, *pair in count_votes(preferences).itertuples(index=False, name=None):
        topics.setdefault(query_id, []).append((pair[0], pair[1], pair[2], pair[3], pair[4]))
    wins_of: dict[str, tuple[list[str], Floats]] = {}
    alike: dict[int, list[str]] = {}
    for query_id, pairs in topics.items():
        names = sorted({doc_id for pair in pairs for doc_id in pair[:2]})
        place = {doc_id: n for n, doc_id in enumerate(names)}
        wins = np.zeros((len(names), len(names)))
        for first, second, for_first, for_second, equal in pairs:
            wins[place[first], place[second]] = for_first + equal / 2
            wins[place[second], place[first]] = for_second + equal / 2
        wins_of[query_id] = names, wins
        alike.setdefault(len(names), []).append(query_id)
    # Topics of one size are fitted together, which takes a hundredth of the time.
    fitted: dict[str, Floats] = {}
    for query_ids in alike.values():
        fitted |= zip(query_ids, fit(np.stack([wins_of[q][1] for q in query_ids]), prior), strict=True)
    rows: list[tuple[str, str, float, int]] = []
    for query_id, (names, wins) in wins_of.items():
        judged = (wins + wins.T).sum(axis=1).tolist()
        found = sorted(zip(names, fitted[query_id].tolist(), judged, strict=True), key=lambda row: -row[1])
        rows += [(query_id, doc_id, strength, round(count)) for doc_id, strength, count in found]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "strength", "pairs"])
    return frame.astype({"query_id": "str", "doc_id": "str", "strength": "float64", "pairs": "int64"})


def strengths_to_grades(strengths: pd.DataFrame, scale: Sequence[int], *, alike: float = ALIKE) -> pd.DataFrame:
    """Grades from strengths: the best of each topic get the highest grade, the last the lowest, the rest by place.

    Documents are put into groups: from the strongest on, one belongs to the group before it where it is no more than
    `alike` behind the first of that group. Of n documents, one whose group has w behind it and m in itself stands at
    w / (n - m), from 0 to 1, and gets the grade of the scale that is nearest to there (of two, the higher). A topic
    whose documents are all alike gives the highest grade to all.

    Preferences say which is better and never whether it is good: the highest grade is that of the best there is, and
    grades of different topics do not mean the same. Where that matters, use the preferences as they are
    (:func:`evaluate`).

    Parameters
    ----------
    strengths
        From :func:`estimate_strengths`.
    scale
        Two or more grades; leave the lowest out where every document that was compared is relevant.
    alike
        In the logarithm of the odds.

    Returns
    -------
    DataFrame
        :data:`collection.frames.QRELS`, in the order of `strengths`.

    Examples
    --------
    >>> rows = [("1", "a", 3.0), ("1", "b", 0.1), ("1", "c", -0.1), ("1", "d", -3.0)]
    >>> strengths = pd.DataFrame(rows, columns=["query_id", "doc_id", "strength"])
    >>> strengths_to_grades(strengths, [0, 1, 2, 3])["relevance"].tolist()
    [3, 2, 2, 0]
    """
    levels = sorted(scale)
    if len(set(levels)) < 2:
        raise InputError(f"grades are made on a scale of two or more, found {levels or 'none'}")
    if not alike >= 0:
        raise InputError(f"the strengths that count as alike are 0 or more apart, found {alike:g}")
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
    """Where each stands, from 0 to 1; all of a group at the same place."""
    places: list[float] = []
    count = len(descending)
    while len(places) < count:
        first = len(places)
        size = sum(strength >= descending[first] - alike for strength in descending[first:])
        behind = count - first - size
        places += [behind / (count - size) if count > size else 1.0] * size
    return places
