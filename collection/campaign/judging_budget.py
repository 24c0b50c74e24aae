"""A pooling strategy at work in a campaign: what it reads, what it may hand out, and when a budget is used up."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import clock, pooling
from collection.campaign import run_files
from collection.campaign.loop_settings import LOOPING, LoopSettings
from collection.campaign.progress import IN_POOL
from collection.campaign.qrels import Settling
from collection.campaign.training_round import Listed
from collection.records import Run

KEPT = 16
"""Topics of which it is kept what the runs list."""


class Asking(Settling):
    """The part of a campaign that asks what to judge next without a model."""

    id: str

    _listed: dict[str, tuple[tuple[object, ...], Listed]]
    _in_loop: tuple[tuple[object, ...], dict[str, NDArray[np.int64]]] | None = None
    _outside: tuple[dict[str, NDArray[np.int64]], int, dict[str, int]] | None = None

    def loop_settings(self) -> LoopSettings:
        """How the loop works here."""
        known = {f.name for f in fields(LoopSettings)}
        stored = self.store.setting("loop", {})
        return LoopSettings(**{name: value for name, value in stored.items() if name in known})

    def asking(self, query_id: str, strategy: str, listed: Listed) -> pooling.Asking:
        """A pooling strategy at its beginning, for the runs of a topic; documents are rows of the matrix.

        Parameters
        ----------
        query_id
            The topic.
        strategy
            The name of an adaptive pooling strategy. The campaign and the topic determine its seed: whoever begins
            anew, and gives the same answers, is asked for the same.
        listed
            What the runs have of the topic.
        """
        return pooling.STRATEGIES[strategy].begin(listed.rankings, seed_of(self.id, query_id))

    def listed(self, query_id: str) -> Listed:
        """What the runs have of a topic, within its scope; kept while it is the same.

        Where no document has a text, all that the runs have can be judged, and gets its row first.
        """
        if not hasattr(self, "_listed"):
            self._listed = {}
        if query_id in self._listed and self._listed[query_id][0] == self._scope_of(query_id)[0]:
            return self._listed[query_id][1]
        runs = self._runs_of(query_id)
        every = pd.concat([run.frame for run in runs]) if runs else pd.DataFrame({"doc_id": [], "listed": []})
        ranks = every.groupby("doc_id", observed=True, sort=False)["listed"].agg(["size", "min"])
        at = self.store.rows_of(ranks.index)
        if len(at) < len(ranks) and self.store.document_rows() == len(self.store.without_text_rows()):
            with self.store.transaction():
                self.store.add_document_ids(doc_id for doc_id in ranks.index if doc_id not in at)
            at = self.store.rows_of(ranks.index)
        key, allowed = self._scope_of(query_id)
        ranks["row"] = pd.Series(at, dtype="float64").reindex(ranks.index)
        known = ranks[ranks["row"] < len(allowed)].astype("int64")
        shown = known[allowed[known["row"].to_numpy()]]
        rows = shown["row"].to_numpy()
        rankings = [rows[places] for places in pooling.rankings_of(runs, query_id, shown.index)]
        best = zip(known["size"].tolist(), known["min"].tolist(), strict=True)
        made = Listed(allowed, rankings, dict(zip(known["row"].tolist(), best, strict=True)))
        while len(self._listed) >= KEPT:
            del self._listed[next(iter(self._listed))]
        self._listed[query_id] = (key, made)
        return made

    def _scope_of(self, query_id: str) -> tuple[tuple[object, ...], NDArray[np.bool_]]:
        """What differs where the runs, the documents or the scope of a topic differ, and the scope."""
        allowed = self._allowed(query_id)
        version, scope = self.store.setting("documents_version", 0), hashlib.blake2b(allowed.tobytes()).digest()
        return (self.store.runs_signature(), version, len(allowed), scope), allowed

    def _runs_of(self, query_id: str) -> list[Run]:
        """Every run with its documents of one topic: not with all that a large one has."""
        columns, topic = ["query_id", "doc_id", "listed"], [("query_id", "==", query_id)]
        return [
            Run(recorded["run"], run_files.read(self.directory, recorded, columns=columns, filters=topic))
            for recorded in self.store.runs().to_dict("records")
        ]

    def room(self, query_id: str, annotator: str | None = None, *, alone: bool = True) -> int | None:
        """How many more documents of a topic may be handed out by the loop's budgets; None where there is no budget.

        What is on lease will soon be judged and counts, in whatever topic; but not what this annotator holds. The
        budget of all topics is shared by :func:`shares`.

        Parameters
        ----------
        query_id, annotator
            The topic, and for whom; for everybody if left out.
        alone
            Whether the annotator gives back what they hold in other topics; if not, that counts as well.
        """
        settings, at = self.loop_settings(), clock.seconds()
        rooms = []
        if settings.topic_budget:
            rooms.append(settings.topic_budget - self.store.spoken_for(at, query_id, but=annotator))
        if settings.budget:
            taken = self.store.spoken_for_topics(at, annotator, None if alone else query_id)
            rooms.append(self._shares(taken)[query_id] - taken.get(query_id, 0))
        return max(min(rooms), 0) if rooms else None

    def _shares(self, taken: dict[str, int]) -> dict[str, int]:
        """How many documents of each topic may be judged by the budget of all topics, given those that are taken."""
        most = self.most_in_loop()
        given = shares(self.loop_settings().budget, [taken.get(q, 0) for q in most], list(most.values()))
        return dict(zip(most, given.tolist(), strict=True))

    def most_in_loop(self) -> dict[str, int]:
        """Documents that can be judged in each topic in all, within its own budget; 0 where there is no loop.

        They are those that the loop can hand out, and those that are judged although it cannot: imported labels and
        what was found by searching, which use up the budget as well.
        """
        settings, outside = self.loop_settings(), self._judged_outside_loop()
        sizes = {query_id: len(rows) + outside[query_id] for query_id, rows in self.loop_rows().items()}
        limited = {query_id: min(size, settings.topic_budget or size) for query_id, size in sizes.items()}
        return {query_id: limited.get(query_id, 0) for query_id in self.modes()}

    def loop_rows(self) -> dict[str, NDArray[np.int64]]:
        """Matrix rows of the documents that the loop can hand out, judged or not, of each topic that is in a loop."""
        settings, modes = self.loop_settings(), self.modes()
        made_of = (self.store.runs_signature(), self.store.versions()[0], settings, modes)
        if self._in_loop is None or self._in_loop[0] != (self.store.document_rows(), *made_of):
            listed = {} if settings.by_model else self._listed_rows()  # which may add rows
            documents = self.store.document_rows()
            allowed = np.flatnonzero(self._judgeable_in_loop())
            found: dict[str, NDArray[np.int64]] = {}
            for query_id, mode in modes.items():
                if mode in LOOPING:
                    rows = allowed
                    if mode in IN_POOL:
                        rows = np.intersect1d(rows, self.store.pool_rows(query_id))
                    if not settings.by_model:
                        rows = np.intersect1d(rows, listed.get(query_id, []))
                    found[query_id] = rows
            self._in_loop = ((documents, *made_of), found)
        return self._in_loop[1]

    def _judged_outside_loop(self) -> dict[str, int]:
        """How many judged documents are not in :meth:`loop_rows`, by topic; counted anew where the log has changed."""
        rows, logged = self.loop_rows(), self.store.versions()[1]
        if self._outside is None or self._outside[0] is not rows:
            self._outside = (rows, 0, dict.fromkeys(rows, 0))
        _, before, counts = self._outside
        if before != logged:
            for query_id in rows.keys() & set(self.store.topics_since(before)):
                judged = self.store.judged_rows(query_id)
                counts[query_id] = len(judged) - int(np.isin(judged, rows[query_id]).sum())
            self._outside = (rows, logged, counts)
        return counts

    def _listed_rows(self) -> dict[str, NDArray[np.int64]]:
        """Matrix rows of what the runs have, by topic; where no document has a text, those without a row get one."""
        pairs = [run.frame[["query_id", "doc_id"]].astype("str") for run in self.runs()]
        if not pairs:
            return {}
        every = pd.concat(pairs).drop_duplicates()
        if self.store.document_rows() == len(self.store.without_text_rows()):
            at = self.store.rows_of(every["doc_id"].unique())
            missing = dict.fromkeys(doc_id for doc_id in every["doc_id"] if doc_id not in at)
            if missing:
                with self.store.transaction():
                    self.store.add_document_ids(missing)
        every["row"] = every["doc_id"].map(self.store.rows_of(every["doc_id"].unique()))
        known = every.dropna().astype({"row": "int64"})
        return {str(query_id): part["row"].to_numpy() for query_id, part in known.groupby("query_id")}

    def universe(self, query_id: str, decisions: pd.DataFrame, judgeable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(documents,) bool: the scope of a topic, which its recall and its unjudged documents are of.

        The pool; in a loop over the whole collection every document that can be judged, that is in the topic's pool
        or that is judged. Documents of the pool whose text is missing belong to it: they may be relevant.

        Parameters
        ----------
        query_id
            The topic.
        decisions
            The topic's, as :meth:`collection.store.Store.decisions` gives them.
        judgeable
            :meth:`judgeable` of all documents.
        """
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[self.store.pool_rows(query_id)] = True
        if self.scopes()[query_id] not in IN_POOL:
            scope |= judgeable
            scope[decisions["row"].to_numpy(dtype=np.int64)] = True
        return scope

    def _allowed(self, query_id: str, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: what the loop may hand out for a topic.

        The pool, or every document; of those that can be judged, and that the model can read. The first `size`
        documents, all if left out.
        """
        judgeable = self._judgeable_in_loop(size)
        if self.scopes()[query_id] not in IN_POOL:
            return judgeable
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[[row for row in self.store.pool_rows(query_id) if row < len(scope)]] = True
        return scope & judgeable

    def _judgeable_in_loop(self, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: :meth:`judgeable`, without those that the model cannot read where it chooses."""
        judgeable = self.judgeable(size)
        if self.loop_settings().by_model:
            judgeable[[row for row in self.store.without_text_rows() if row < len(judgeable)]] = False
        return judgeable

    def judgeable(self, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: those that have a text. Where none has, all.

        Annotators then have the texts elsewhere, and know them by their ids. The first `size` documents, all if left
        out. :func:`collection.store.connection.held_back` says the same of one document.
        """
        rows = self.store.document_rows() if size is None else size
        without = [row for row in self.store.without_text_rows() if row < rows]
        some = np.ones(rows, dtype=np.bool_)
        if len(without) < rows:
            some[without] = False
        return some


def shares(budget: int, taken: Sequence[int], most: Sequence[int]) -> NDArray[np.int64]:
    """Share a budget equally among topics; what a topic cannot use goes to the others.

    Every topic may come to the same number of documents, the highest with which the budget suffices. A topic that has
    more already keeps them, one that has fewer to judge takes those, and single documents that are left over go to the
    first topics.

    Parameters
    ----------
    budget
        Documents in all.
    taken
        (topics,) documents that are judged or handed out.
    most
        (topics,) documents that there are; less than `taken` means that the topic gets no more.

    Returns
    -------
    ndarray
        (topics,) how many each may come to.

    Examples
    --------
    >>> shares(10, [0, 0, 0], [50, 50, 50]).tolist()
    [4, 3, 3]
    >>> shares(10, [6, 0, 0], [50, 1, 50]).tolist()
    [6, 1, 3]
    """
    low = np.asarray(taken, dtype=np.int64)
    high = np.maximum(low, most)
    level = bisect_right(range(budget + 1), budget, key=lambda n: int(np.clip(n, low, high).sum())) - 1
    given = np.clip(max(level, 0), low, high)
    over = max(budget - int(given.sum()), 0)
    given[np.flatnonzero((given == level) & (given < high))[:over]] += 1
    return given


def seed_of(*parts: object) -> int:
    """A seed that its parts alone determine, on any machine."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=4).digest())
