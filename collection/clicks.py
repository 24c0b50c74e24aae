"""Attractiveness of documents from the click logs of a search engine, corrected for position bias.

The share of impressions that were clicked (click-through rate) favours documents at the top. The position-based model:

    probability of a click = examination of the rank x attractiveness of the document for the topic

Both are estimated by expectation and maximisation (EM). Documents that were clicked and shown at several ranks tell
them apart. Any examination could be halved if attractiveness were doubled, so examination of the first rank is 1. A
rank that no such document links to the first, directly or over other ranks, has no estimate, nor have documents that
were shown at such ranks only. Attractiveness depends on the title and the snippet only, so it is no judgement and never
enters qrels that people made.

Sources: Craswell, Zoeter, Taylor & Ramsey, "An experimental comparison of click position-bias models", WSDM 2008;
Chuklin, Markov & de Rijke, "Click Models for Web Search", 2015, chapters 3 and 4 (model and EM); Dempster, Laird &
Rubin, "Maximum likelihood from incomplete data via the EM algorithm", JRSS B 1977 (also with a prior).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import count, join_first, plural
from collection.core.records import require_columns

CLICK_COLUMNS = ("query_id", "doc_id", "rank", "shown", "clicked")
PAIR = ["query_id", "doc_id"]

BY = "clicks"
"""The column ``by`` of an estimate."""

SMOOTHING = 1.0
"""Pseudo-impressions of each pair, with the mean attractiveness of the log."""

TOLERANCE = 1e-6
"""EM has converged when no examination and no attractiveness changes by more in one round."""

MOST_ROUNDS = 10_000

LEAST = 1e-300
"""Lower bound of the probability of no click, so that 0/0 is 0 where every impression was clicked."""


class ClickEstimate(NamedTuple):
    """Attractiveness of documents and examination of ranks.

    Attributes
    ----------
    documents
        ``query_id``, ``doc_id``, ``shown``, ``clicked`` (impressions and clicks at all ranks), ``ctr`` (clicked /
        shown), ``attractiveness`` (0 to 1; nan without an estimate), ``by`` ("clicks"), in order of first occurrence.
    ranks
        ``rank``, ``shown``, ``clicked``, ``ctr``, ``examination`` (nan without an estimate), ascending.
    first
        The rank whose examination is 1: the first at which anything was clicked.
    rounds, converged
        Rounds of EM (for examination or for smoothing, the larger number), and whether it converged.
    """

    documents: pd.DataFrame
    ranks: pd.DataFrame
    first: int
    rounds: int
    converged: bool
    smoothing: float


def aggregate(clicks: pd.DataFrame) -> pd.DataFrame:
    """Sum the counts of each pair at each rank.

    Parameters
    ----------
    clicks
        :data:`CLICK_COLUMNS`: one row per impression, or counts. Ranks are from 1.

    Returns
    -------
    DataFrame
        The same columns, each pair and rank once, in order of first occurrence, without what was never shown.

    Raises
    ------
    ColumnsError, InputError
        A column is missing, a rank below 1, a number below 0, or more clicks than impressions.

    Examples
    --------
    >>> log = pd.DataFrame({"query_id": "1", "doc_id": "a", "rank": [1, 1, 2], "shown": 1, "clicked": [1, 0, 1]})
    >>> print(aggregate(log).to_string(index=False))
    query_id doc_id  rank  shown  clicked
           1      a     1      2        1
           1      a     2      1        1
    """
    require_columns(clicks, CLICK_COLUMNS, "counting clicks")
    wrong = (clicks["rank"] < 1) | (clicks["clicked"] < 0) | (clicks["clicked"] > clicks["shown"])
    if wrong.any():
        row = clicks[wrong].iloc[0]
        raise InputError(
            "clicks: expected ranks from 1 and no more clicks than impressions, found "
            + ", ".join(f"{name} {row[name]}" for name in CLICK_COLUMNS)
        )
    counts = clicks.groupby([*PAIR, "rank"], sort=False, observed=True)[["shown", "clicked"]].sum().reset_index()
    return counts[counts["shown"] > 0].reset_index(drop=True)


def estimate(
    clicks: pd.DataFrame,
    *,
    smoothing: float = SMOOTHING,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
) -> ClickEstimate:
    """Estimate the attractiveness of every document that was shown.

    Parameters
    ----------
    smoothing
        Pseudo-impressions of each pair, examined and clicked at the mean rate of the log (a beta prior), so that two
        clicks on two impressions are not certainty; 0: none. Examination stays that of maximum likelihood, which a
        prior on pairs with few impressions would move.
    tolerance, most_rounds
        When EM ends.

    Raises
    ------
    ColumnsError, InputError
        As :func:`aggregate`; or no impression, or nothing clicked; or a parameter is below 0.

    Examples
    --------
    Document a is clicked half as often at rank 2 as at rank 1. Document b, shown at rank 2 only, is as attractive.

    >>> log = pd.DataFrame({"query_id": "1", "doc_id": ["a", "a", "b"], "rank": [1, 2, 2], "shown": 1000})
    >>> found = estimate(log.assign(clicked=[400, 200, 200]), smoothing=0)
    >>> found.ranks["examination"].round(2).tolist()
    [1.0, 0.5]
    >>> print(found.documents[["doc_id", "ctr", "attractiveness"]].round(2).to_string(index=False))
    doc_id  ctr  attractiveness
         a  0.3             0.4
         b  0.2             0.4
    """
    if not (smoothing >= 0 and tolerance >= 0 and most_rounds >= 1):
        raise InputError(
            "expected smoothing and tolerance of 0 or more and at least 1 round, "
            f"found {smoothing:g}, {tolerance:g} and {most_rounds}"
        )
    counts = aggregate(clicks)
    if not counts["clicked"].sum():
        raise InputError(
            "clicks: expected at least one impression and one click, found "
            + ("no click" if len(counts) else "no impression")
        )
    documents = counts.groupby(PAIR, sort=False, observed=True)[["shown", "clicked"]].sum().reset_index()
    ranks = counts.groupby("rank")[["shown", "clicked"]].sum().reset_index()
    pair = np.asarray(counts.groupby(PAIR, sort=False, observed=True).ngroup(), np.int64)
    place = np.searchsorted(ranks["rank"].to_numpy(), counts["rank"].to_numpy()).astype(np.int64)
    shown, clicked = (np.asarray(counts[name], np.int64) for name in ("shown", "clicked"))
    linked = _linked(pair, place, clicked, len(documents), len(ranks))
    used = linked[place]
    kind, model = _by_kind(pair[used], place[used], shown[used], clicked[used], len(documents), len(ranks))
    first = int(np.flatnonzero(linked)[0])
    fitted = _maximise(model, first, tolerance, most_rounds)
    if smoothing:
        fitted = _smooth(model, fitted, smoothing, tolerance, most_rounds)
    known = np.bincount(model.kind, minlength=len(model.pairs)) > 0
    attractiveness = np.where(known, fitted.attractiveness, np.nan)[kind]
    return ClickEstimate(
        documents.assign(ctr=documents["clicked"] / documents["shown"], attractiveness=attractiveness, by=BY),
        ranks.assign(ctr=ranks["clicked"] / ranks["shown"], examination=np.where(linked, fitted.examination, np.nan)),
        int(ranks["rank"].iloc[first]),
        fitted.rounds,
        fitted.converged,
        smoothing,
    )


def cautions(estimate: ClickEstimate) -> list[str]:
    """Limitations of an estimate, one sentence each."""
    sentences = []
    if estimate.first != 1:
        sentences.append(f"no clicks above rank {estimate.first}, whose examination is set to 1")
    unknown = estimate.ranks[estimate.ranks["examination"].isna()]
    dead, unlinked = (unknown.loc[test, "rank"].tolist() for test in (unknown["clicked"] == 0, unknown["clicked"] > 0))
    if dead:
        sentences.append(f"no clicks at {_ranks(dead)}, which give no information on the documents shown there")
    if unlinked and estimate.ranks["examination"].notna().sum() == 1:
        sentences.append(
            "position bias cannot be estimated from these clicks: no clicked document links another rank to rank "
            f"{estimate.first}; only documents shown there have an estimate, which is their click-through rate"
        )
    elif unlinked:
        sentences.append(
            f"examination of {_ranks(unlinked)} cannot be estimated: "
            f"no clicked document links it to rank {estimate.first}"
        )
    if lost := int(estimate.documents["attractiveness"].isna().sum()):
        sentences.append(
            f"{lost:,} of {count(len(estimate.documents), 'pair')} were shown only at such ranks "
            "and have no estimate of attractiveness"
        )
    if not estimate.converged:
        sentences.append(f"EM did not converge in {count(estimate.rounds, 'round')}; the estimates may still change")
    return sentences


def labels(estimate: ClickEstimate) -> pd.DataFrame:
    """Attractiveness as fractional qrels: ``query_id``, ``doc_id``, ``relevance``, ``by``, where it is known."""
    known = estimate.documents.dropna(subset=["attractiveness"]).reset_index(drop=True)
    return known.rename(columns={"attractiveness": "relevance"})[[*PAIR, "relevance", "by"]]


class _Model(NamedTuple):
    """Counts of each kind of pairs at each rank, both as codes, in order of the rank.

    Pairs with the same counts at the same ranks are of one kind: EM treats them alike, so their counts are summed.
    """

    kind: Ints
    place: Ints
    shown: Ints
    clicked: Ints
    pairs: Ints
    """(kinds,) how many pairs each has."""
    places: int

    def impressions(self) -> tuple[Floats, Floats]:
        """(kinds,) and (places,) impressions; 1 instead of 0, to divide by."""
        by_kind: Floats = np.bincount(self.kind, self.shown, len(self.pairs)).astype(np.float64)
        by_place: Floats = np.bincount(self.place, self.shown, self.places).astype(np.float64)
        return np.maximum(by_kind, 1), np.maximum(by_place, 1)


class _Missed:
    """Impressions without a click of each kind at each rank, the part of the counts that EM has to divide up."""

    def __init__(self, model: _Model) -> None:
        missed = model.shown - model.clicked
        some = missed > 0
        self._kind, self._missed = model.kind[some], missed[some].astype(np.float64)
        self._ranks, self._begin, self._rows = np.unique(model.place[some], return_index=True, return_counts=True)
        self._cells = np.empty(len(self._kind))
        self._places = model.places

    def sums(self, examination: Floats, attractiveness: Floats) -> tuple[Floats, Floats]:
        """(kinds,) and (places,) sums of the impressions over the probability of no click there."""
        cells = np.take(attractiveness, self._kind, out=self._cells, mode="clip")
        cells *= np.repeat(examination[self._ranks], self._rows)
        np.subtract(1, cells, out=cells)
        np.divide(self._missed, np.maximum(cells, LEAST, out=cells), out=cells)
        by_place = np.zeros(self._places)
        if len(cells):
            by_place[self._ranks] = np.add.reduceat(cells, self._begin)
        by_kind: Floats = np.bincount(self._kind, cells, len(attractiveness)).astype(np.float64, copy=False)
        return by_kind, by_place


class _Fit(NamedTuple):
    examination: Floats
    attractiveness: Floats
    rounds: int
    converged: bool


def _linked(pair: Ints, place: Ints, clicked: Ints, pairs: int, places: int) -> Bools:
    """The ranks whose examination can be told: the first with a click, and those that clicked pairs link to it.

    Pairs and ranks without a click link nothing: any examination would fit them.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    alive = np.bincount(place, clicked, places) > 0
    edge = (np.bincount(pair, clicked, pairs) > 0)[pair] & alive[place]
    shape = (pairs + places,) * 2
    graph = coo_array((np.ones(edge.sum()), (pair[edge], pairs + place[edge])), shape=shape)
    component = connected_components(graph, directed=False)[1][pairs:]
    return alive & (component == component[np.flatnonzero(alive)[0]])


def _by_kind(pair: Ints, place: Ints, shown: Ints, clicked: Ints, pairs: int, places: int) -> tuple[Ints, _Model]:
    """(pairs,) the kind of each pair, and the counts by kind; pairs without a row are one kind."""
    order = np.lexsort((place, pair))
    rows = pd.DataFrame({"place": place[order], "shown": shown[order], "clicked": clicked[order]})
    word = rows.groupby([*rows], sort=False).ngroup().to_numpy()
    length = np.bincount(pair, minlength=pairs)
    begin = np.cumsum(length) - length
    # Pairs are compared row by row, as words are letter by letter.
    kind, longer, at = np.zeros(pairs, np.int64), np.arange(pairs), 0
    while len(longer := longer[length[longer] > at]):
        same = pd.factorize(kind[longer] * len(rows) + word[begin[longer] + at])[0]
        at += 1
        kind[longer] = at * pairs + same
    _, first, kind, many = np.unique(kind, return_index=True, return_inverse=True, return_counts=True)
    firsts = order[first[kind[pair[order]]] == pair[order]]
    firsts = firsts[np.argsort(place[firsts], kind="stable")]
    of = kind[pair[firsts]]
    return kind, _Model(of, place[firsts], shown[firsts] * many[of], clicked[firsts] * many[of], many, places)


def _maximise(model: _Model, first: int, tolerance: float, most: int) -> _Fit:
    """Fit examination e and attractiveness a by EM.

    A clicked result was examined and attractive. A missed one was not attractive with probability (1 - a) / (1 - e a),
    and not examined with (1 - e) / (1 - e a); both sums come from the one array of missed / (1 - e a). Examination of
    `first` is constrained to 1, so that the likelihood never falls from one round to the next.
    """
    missed = _Missed(model)
    of_kind, of_place = model.impressions()
    examination, attractiveness = np.full(model.places, 0.5), np.full(len(model.pairs), 0.5)
    examination[first] = 1
    for rounds in range(1, most + 1):
        e, a = examination, attractiveness
        by_kind, by_place = missed.sums(e, a)
        attractiveness, examination = _rest(a, by_kind, of_kind), _rest(e, by_place, of_place)
        if max(_change(attractiveness, a), _change(examination, e)) <= tolerance:
            return _Fit(examination, attractiveness, rounds, True)
    return _Fit(examination, attractiveness, most, False)


def _smooth(model: _Model, fitted: _Fit, smoothing: float, tolerance: float, most: int) -> _Fit:
    """EM for attractiveness alone, with pseudo-impressions at the mean rate."""
    missed, e = _Missed(model), fitted.examination
    mean = min(1.0, float(model.clicked.sum() / (model.shown * e[model.place]).sum()))
    of_kind = model.impressions()[0]
    more: Floats = smoothing * model.pairs.astype(np.float64)
    attractiveness = fitted.attractiveness
    for rounds in range(1, most + 1):
        a = attractiveness
        attractiveness = _rest(a, missed.sums(e, a)[0], of_kind + more, more * (1 - mean))
        if _change(attractiveness, a) <= tolerance:
            return _Fit(e, attractiveness, max(fitted.rounds, rounds), fitted.converged)
    return _Fit(e, attractiveness, most, False)


def _rest(share: Floats, missed: Floats, shown: Floats, more: Floats | float = 0.0) -> Floats:
    """1 - ((1 - share) missed + more) / shown, in one array and not below 0 by rounding."""
    rest = 1 - share
    rest *= missed
    rest += more
    rest /= shown
    np.subtract(1, rest, out=rest)
    return np.maximum(rest, 0, out=rest)


def _change(after: Floats, before: Floats) -> float:
    change = after - before
    return float(np.abs(change, out=change).max(initial=0))


def _ranks(ranks: Sequence[int]) -> str:
    return f"{plural(len(ranks), 'rank')} {join_first(ranks)}"
