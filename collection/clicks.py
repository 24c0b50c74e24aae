"""Clicks: what logs of a search engine say of documents, corrected for the rank at which they were shown.

A click says that somebody looked at a result and found it attractive. How many look at it depends on its rank, so the
share of impressions that were clicked (click-through) favours what was shown on top. The position-based model takes
the two apart:

    probability of a click = examination of the rank x attractiveness of the document for the topic

Both are estimated from the counts, by expectation and maximisation (EM). Only their product is seen. What tells them
apart are documents that were shown at several ranks and clicked; and since any examination could be halved if
attractiveness were doubled, examination of the first rank is 1 by definition. A rank that no such document links to
the first, over any number of other ranks, has no estimate, nor have documents that were shown at such ranks only.

Attractiveness is what a title and a snippet promise. It is no judgement of a document: nothing in this module goes
into qrels that people made.

Sources: Craswell, Zoeter, Taylor & Ramsey, "An experimental comparison of click position-bias models", WSDM 2008;
Chuklin, Markov & de Rijke, "Click Models for Web Search", 2015, chapters 3 and 4 (model and EM); Dempster, Laird &
Rubin, "Maximum likelihood from incomplete data via the EM algorithm", JRSS B 1977 (also with a prior).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.records import require_columns

CLICK_COLUMNS = ("query_id", "doc_id", "rank", "shown", "clicked")
PAIR = ["query_id", "doc_id"]

BY = "clicks"
"""What the column ``by`` of an estimate says: that nobody judged the pair."""

SMOOTHING = 1.0
"""Impressions that each pair is given beside its own, with the mean attractiveness of the log."""

TOLERANCE = 1e-6
"""EM has converged when no examination and no attractiveness changes by more in one round."""

MOST_ROUNDS = 10_000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class ClickEstimate(NamedTuple):
    """What clicks say of documents and ranks.

    Attributes
    ----------
    documents
        ``query_id``, ``doc_id``, ``shown``, ``clicked`` (impressions and clicks at all ranks), ``ctr`` (clicked /
        shown), ``attractiveness`` (float64, 0 to 1; NaN where it has no estimate), ``by`` ("clicks"). In the order in
        which the pairs first come in the counts.
    ranks
        ``rank``, ``shown``, ``clicked``, ``ctr``, ``examination`` (1 at the first; NaN where it has no estimate); in
        order of the rank.
    first
        The rank whose examination is 1: the first at which anything was clicked.
    rounds, converged
        How many rounds EM took (to estimate examination, or to smooth, whichever took more), and whether nothing
        changed by more than the tolerance in the last of them.
    log_likelihood
        Of the clicks that the estimate stands on, under the model.
    smoothing
        As it was asked for.
    """

    documents: pd.DataFrame
    ranks: pd.DataFrame
    first: int
    rounds: int
    converged: bool
    log_likelihood: float
    smoothing: float


def aggregate(clicks: pd.DataFrame) -> pd.DataFrame:
    """The counts of each pair at each rank, whatever log they come from.

    Parameters
    ----------
    clicks
        ``query_id``, ``doc_id``, ``rank`` (from 1), ``shown``, ``clicked``; one row an impression, or counts.

    Returns
    -------
    DataFrame
        The same columns, each pair and rank once, in the order in which they first come. What was never shown is left
        out.

    Raises
    ------
    ColumnsError
        A column is missing.
    InputError
        A rank below 1, a number below 0, or more clicks than impressions.

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
            "clicks have ranks from 1 on and no more clicks than impressions, found "
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
    """Click-through and attractiveness of every document that was shown.

    Parameters
    ----------
    clicks
        As :func:`aggregate` takes them.
    smoothing
        Impressions that each pair is given beside its own, as if its rank had been examined and a share of them been
        clicked, the clicks of the log per impression that was examined: a document that was shown twice and clicked
        twice is then not called certain. 0: none. It moves attractiveness only: examination is that of maximum
        likelihood, since a prior for every pair would move it, too, where pairs have few impressions. Given that,
        attractiveness is the most probable under the prior (a beta distribution).
    tolerance, most_rounds
        When EM ends.

    Raises
    ------
    ColumnsError, InputError
        As :func:`aggregate`; or nothing was shown, or nothing clicked; or a parameter is below 0.

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
            "smoothing and tolerance are 0 or more and there is at least one round, "
            f"found {smoothing:g}, {tolerance:g} and {most_rounds}"
        )
    counts = aggregate(clicks)
    if not counts["clicked"].sum():
        raise InputError(
            "clicks are needed to estimate anything; " + ("nobody clicked" if len(counts) else "nothing was shown")
        )
    documents = counts.groupby(PAIR, sort=False, observed=True)[["shown", "clicked"]].sum().reset_index()
    ranks = counts.groupby("rank")[["shown", "clicked"]].sum().reset_index()
    pair = np.asarray(counts.groupby(PAIR, sort=False, observed=True).ngroup(), np.int64)
    place = np.searchsorted(ranks["rank"].to_numpy(), counts["rank"].to_numpy()).astype(np.int64)
    shown, clicked = (np.asarray(counts[name], np.int64) for name in ("shown", "clicked"))
    linked = _linked(pair, place, clicked, len(documents), len(ranks))
    used = linked[place]
    model = _Model(pair[used], place[used], shown[used], clicked[used], len(documents), len(ranks))
    first = int(np.flatnonzero(linked)[0])
    found = _maximise(model, first, tolerance, most_rounds)
    if smoothing:
        found = _smoothed(model, found, smoothing, tolerance, most_rounds)
    known = np.bincount(model.pair, minlength=len(documents)) > 0
    attractiveness = np.where(known, found.attractiveness, np.nan)
    return ClickEstimate(
        documents.assign(ctr=documents["clicked"] / documents["shown"], attractiveness=attractiveness, by=BY),
        ranks.assign(ctr=ranks["clicked"] / ranks["shown"], examination=np.where(linked, found.examination, np.nan)),
        int(ranks["rank"].iloc[first]),
        found.rounds,
        found.converged,
        _log_likelihood(model, found),
        smoothing,
    )


def cautions(found: ClickEstimate) -> list[str]:
    """What is to be known of an estimate before it is used, in sentences; none where there is nothing to say."""
    said = []
    if found.first != 1:
        said.append(f"nothing was clicked above rank {found.first}: its examination is taken as 1")
    unknown = found.ranks[found.ranks["examination"].isna()]
    dead, unlinked = (unknown.loc[test, "rank"].tolist() for test in (unknown["clicked"] == 0, unknown["clicked"] > 0))
    if dead:
        said.append(f"nothing was clicked at {_ranks(dead)}: what was shown there says nothing of any document")
    if unlinked and found.ranks["examination"].notna().sum() == 1:
        said.append(
            "position bias cannot be told from these clicks: no document that was clicked links any other rank to "
            f"rank {found.first}; only what was shown there has an estimate, which is its click-through"
        )
    elif unlinked:
        said.append(
            f"examination of {_ranks(unlinked)} cannot be told: no document that was clicked links it to "
            f"rank {found.first}"
        )
    if lost := int(found.documents["attractiveness"].isna().sum()):
        said.append(
            f"{lost:,} of {len(found.documents):,} pairs were shown at such ranks only and have no estimate of "
            "attractiveness"
        )
    if not found.converged:
        said.append(f"EM had not converged after {found.rounds:,} rounds; the estimates may still move")
    return said


def labels(found: ClickEstimate) -> pd.DataFrame:
    """Attractiveness as qrels with fractions, to evaluate by clicks: ``query_id``, ``doc_id``, ``relevance``, ``by``.

    Documents without an estimate have no row. Whoever puts these beside grades that people gave has mixed two things.
    """
    known = found.documents.dropna(subset=["attractiveness"]).reset_index(drop=True)
    return known.rename(columns={"attractiveness": "relevance"})[[*PAIR, "relevance", "by"]]


class _Model(NamedTuple):
    """The counts that are used: pairs and ranks as codes, a row for each pair at each rank."""

    pair: Ints
    place: Ints
    shown: Ints
    clicked: Ints
    pairs: int
    places: int


class _Found(NamedTuple):
    examination: Floats
    attractiveness: Floats
    rounds: int
    converged: bool


def _linked(pair: Ints, place: Ints, clicked: Ints, pairs: int, places: int) -> npt.NDArray[np.bool_]:
    """The ranks whose examination can be told: the first with a click, and those that clicked pairs link to it.

    A pair that was never clicked links nothing: it is as likely at any examination. A rank without a click is left
    out: its examination would be 0, and what was shown there says nothing more of any document.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    alive = np.bincount(place, clicked, places) > 0
    edge = (np.bincount(pair, clicked, pairs) > 0)[pair] & alive[place]
    shape = (pairs + places,) * 2
    graph = coo_array((np.ones(edge.sum()), (pair[edge], pairs + place[edge])), shape=shape)
    component = connected_components(graph, directed=False)[1][pairs:]
    return alive & (component == component[np.flatnonzero(alive)[0]])


def _maximise(model: _Model, first: int, tolerance: float, most: int) -> _Found:
    """EM: by turns what was probably examined and attractive where nothing was clicked, and the shares that follow.

    Where a result was clicked it was examined and attractive. Examination of `first` stays 1, which is a constraint
    and no correction afterwards, so that the likelihood never falls from one round to the next.
    """
    pair, place, shown, clicked, pairs, places = model
    missed = shown - clicked
    of_pair = np.bincount(pair, shown, pairs)
    of_place = np.bincount(place, shown, places)
    # A pair that has no row, or a rank that is not linked, keeps where it began; both are left out by the caller.
    of_pair[of_pair == 0] = 1
    of_place[of_place == 0] = 1
    examination = np.full(places, 0.5)
    examination[first] = 1
    attractiveness = np.full(pairs, 0.5)
    for rounds in range(1, most + 1):
        e, a = examination[place], attractiveness[pair]
        # Both are 1 at most where everything was clicked: nothing was missed then, and 0/0 does not matter.
        share = missed / np.maximum(1 - e * a, 1e-300)
        attractive = clicked + share * a * (1 - e)
        examined = clicked + share * e * (1 - a)
        new_attractiveness = np.bincount(pair, attractive, pairs) / of_pair
        new_examination = np.bincount(place, examined, places) / of_place
        new_examination[first] = 1
        change = max(
            np.abs(new_attractiveness - attractiveness).max(initial=0),
            np.abs(new_examination - examination).max(initial=0),
        )
        examination, attractiveness = new_examination, new_attractiveness
        if change <= tolerance:
            return _Found(examination, attractiveness, rounds, True)
    return _Found(examination, attractiveness, most, False)


def _smoothed(model: _Model, found: _Found, smoothing: float, tolerance: float, most: int) -> _Found:
    """EM for attractiveness alone: examination stays, and each pair has some impressions more at the mean rate."""
    e, missed = found.examination[model.place], model.shown - model.clicked
    mean = min(1.0, float(model.clicked.sum() / (model.shown * e).sum()))
    of_pair = np.bincount(model.pair, model.shown, model.pairs) + smoothing
    attractiveness = found.attractiveness
    for rounds in range(1, most + 1):
        a = attractiveness[model.pair]
        attractive = model.clicked + missed / np.maximum(1 - e * a, 1e-300) * a * (1 - e)
        before = attractiveness
        attractiveness = (np.bincount(model.pair, attractive, model.pairs) + smoothing * mean) / of_pair
        if np.abs(attractiveness - before).max(initial=0) <= tolerance:
            return _Found(found.examination, attractiveness, max(found.rounds, rounds), found.converged)
    return _Found(found.examination, attractiveness, most, False)


def _log_likelihood(model: _Model, found: _Found) -> float:
    chance = found.examination[model.place] * found.attractiveness[model.pair]
    terms = _times_log(model.clicked, chance) + _times_log(model.shown - model.clicked, 1 - chance)
    return float(terms.sum())


def _times_log(count: Ints, chance: Floats) -> Floats:
    """Count times the logarithm of a chance; 0 where the count is 0."""
    return count.astype(np.float64) * np.log(np.where(count > 0, chance, 1.0))


def _ranks(ranks: Sequence[int]) -> str:
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks[:5])) + (", ..." * (len(ranks) > 5))
