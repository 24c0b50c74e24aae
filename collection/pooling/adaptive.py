"""Strategies that look at each judgement before they choose the next document.

Each is a generator for one topic: it yields the index of the document to judge next and is sent whether that
was relevant. :func:`rankings_of` makes what they read from runs, :func:`replay` drives one where the answers are
known.

The papers draw lots between runs that are equally good. Here the run goes first of which fewest documents
were judged, and of several such runs the one that was given first, so that a replay gives the same order again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.pooling.table import ADAPTIVE, Asking, Indices
from collection.records import Run, require_columns


@ADAPTIVE.add(
    "mtf",
    label="Move to front",
    description="Reads on in a run while it brings relevant documents, then turns to the one that failed least often.",
)
def mtf(rankings: Sequence[Indices]) -> Asking:
    """Move-to-front pooling: stay with a run while it brings relevant documents.

    All runs begin with the same priority. The run with the highest is read from the top; documents that
    were judged already, because another run brought them, are passed over and count neither for it nor
    against it. An irrelevant document lowers its priority by one, and the choice is made anew. A run that
    has nothing left drops out.

    Source: Cormack, Palmer & Clarke, "Efficient construction of large test collections", SIGIR 1998; the
    variant within a topic ("local"), with the priorities that Losada, Parapar & Barreiro (IP&M 2017) give it.

    Parameters
    ----------
    rankings
        One array a run: document indices in rank order.

    Examples
    --------
    >>> asking = mtf([np.array([0, 1, 2]), np.array([3, 0, 4])])
    >>> next(asking), asking.send(True), asking.send(False), asking.send(False), asking.send(True)
    (0, 1, 3, 4, 2)
    """
    piles = _Piles(rankings)
    priority = [0.0] * len(rankings)
    while (pile := piles.choose(priority)) is not None:
        while (document := piles.read(pile)) is not None:
            if not _told((yield document)):
                priority[pile] -= 1
                break


@ADAPTIVE.add(
    "maxmean",
    label="MaxMean",
    description="Takes every document from the run whose judged documents have most often been relevant.",
)
def maxmean(rankings: Sequence[Indices]) -> Asking:
    """MaxMean: runs are the arms of a bandit, and the one with the highest expected share is pulled.

    What is known of a run's share of relevant documents is a Beta distribution that begins uniform; its mean
    after `r` relevant ones of `n` is (r + 1) / (n + 2). Nothing is forgotten (the stationary model). A
    judgement counts for the run that brought the document and not for all that have it, which would cost more
    judgements for the same recall (replayed on Cranfield and Vaswani). Documents that another run brought
    already are passed over.

    Source: Losada, Parapar & Barreiro, "Multi-armed bandits for adjudicating documents in pooling-based
    evaluation of information retrieval systems", IP&M 53, 2017 (MM).

    Parameters
    ----------
    rankings
        One array a run: document indices in rank order.
    """
    return _bandit(rankings, keep=1.0)


@ADAPTIVE.add(
    "mm-ns",
    label="MaxMean, last judgement",
    description="MaxMean that forgets: a run is as good as the last document taken from it.",
)
def mm_ns(rankings: Sequence[Indices], *, keep: float = 0.0) -> Asking:
    """MaxMean, non-stationary: the further down a run, the less its first ranks still say.

    As :func:`maxmean`, but with each new judgement of a run its older ones keep only the share `keep` of
    their weight. At 0, which the paper found best, only the last one counts; at 1 it is :func:`maxmean`.

    Source: Losada, Parapar & Barreiro, IP&M 53, 2017 (MM-NS).

    Parameters
    ----------
    rankings
        One array a run: document indices in rank order.
    keep
        From 0 to 1.
    """
    if not 0 <= keep <= 1:
        raise InputError(f"what older judgements keep is a share from 0 to 1, found {keep}")
    return _bandit(rankings, keep=keep)


def _bandit(rankings: Sequence[Indices], keep: float) -> Asking:
    piles = _Piles(rankings)
    relevant, judged = [0.0] * len(rankings), [0.0] * len(rankings)
    mean = [0.5] * len(rankings)
    while (pile := piles.choose(mean)) is not None:
        if (document := piles.read(pile)) is not None:
            relevant[pile] = keep * relevant[pile] + _told((yield document))
            judged[pile] = keep * judged[pile] + 1
            mean[pile] = (relevant[pile] + 1) / (judged[pile] + 2)


class _Piles:
    """The runs as piles, read from the top; a document that one pile gave is passed over in all."""

    def __init__(self, rankings: Sequence[Indices]) -> None:
        self._unread = [iter(ranking.tolist()) for ranking in rankings]
        self._open = list(range(len(rankings)))
        self._taken = [0] * len(rankings)
        self._seen: set[int] = set()

    def choose(self, worth: Sequence[float]) -> int | None:
        """The pile worth most of those that are not known to be empty; None if all are."""
        return min(self._open, key=lambda pile: (-worth[pile], self._taken[pile]), default=None)

    def read(self, pile: int) -> int | None:
        """The pile's next document that nobody saw; None, and the pile is gone, if it has none."""
        for document in self._unread[pile]:
            if document not in self._seen:
                self._seen.add(document)
                self._taken[pile] += 1
                return document
        self._open.remove(pile)
        return None


def _told(answer: bool | None) -> bool:
    if answer is None:
        raise InputError(
            "an adaptive strategy needs the answer to each document before it gives the next; "
            "call send(True) or send(False), found a plain next()"
        )
    return bool(answer)


def rankings_of(runs: Sequence[Run], query_id: str, doc_ids: pd.Index[Any] | Sequence[str]) -> list[Indices]:
    """What an adaptive strategy reads: each run's documents of a topic, as indices into `doc_ids`.

    Parameters
    ----------
    runs
        Any number of runs; frames as :func:`collection.ranking.rank_run` makes them.
    query_id
        The topic.
    doc_ids
        The documents that may be judged, each once: those of the collection, or of the topic's evidence. For
        many topics an Index is quicker, since it remembers where each id stands.

    Returns
    -------
    list of int arrays
        One a run, in the order of `runs`, as listed (``listed``). Documents that are not in `doc_ids` are left
        out; a run without the topic has an empty array.

    Examples
    --------
    >>> from collection.ranking import rank_run
    >>> a = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "score": [1.0, 3.0, 2.0]})
    >>> rankings_of([Run("a", rank_run(a))], "1", ["x", "y"])
    [array([1, 0])]
    """
    documents = doc_ids if isinstance(doc_ids, pd.Index) else pd.Index(pd.Series(doc_ids, dtype="str"))
    if not documents.is_unique:
        twice = documents[documents.duplicated()][0]
        raise InputError(f"the documents to judge need an id each, found {twice!r} twice; give each id once")
    rankings: list[Indices] = []
    for run in runs:
        require_columns(run.frame, ("query_id", "doc_id", "listed"), f"run {run.name}")
        rows = np.flatnonzero(run.frame["query_id"] == query_id)
        rows = rows[np.argsort(run.frame["listed"].to_numpy()[rows], kind="stable")]
        places = documents.get_indexer(pd.Index(run.frame["doc_id"].array.take(rows)))
        rankings.append(places[places >= 0])
    return rankings


def replay(asking: Asking, relevant: Sequence[bool] | npt.NDArray[np.bool_]) -> Indices:
    """The order in which a strategy asks for the documents when each answer is known beforehand.

    Parameters
    ----------
    asking
        A strategy that has just begun, such as ``ADAPTIVE["mtf"].function(rankings)``.
    relevant
        By document index: whether it is relevant.

    Examples
    --------
    >>> replay(maxmean([np.array([0, 1]), np.array([2, 1])]), [False, True, True])
    array([0, 2, 1])
    """
    order: list[int] = []
    try:
        order.append(next(asking))
        while True:
            order.append(asking.send(bool(relevant[order[-1]])))
    except StopIteration:
        return np.array(order, dtype=np.int64)
