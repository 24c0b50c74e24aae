"""A pooling strategy at work in a campaign: what it reads, what it may hand out, and when a budget is used up."""

from __future__ import annotations

import hashlib
import time
from dataclasses import fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import pooling
from collection.campaign import run_files
from collection.campaign.reading import IN_POOL
from collection.campaign.rounds import Listed
from collection.campaign.settings import LoopSettings
from collection.campaign.settling import Settling
from collection.records import Run

KEPT = 16
"""Topics of which it is kept what the runs list."""


class Asking(Settling):
    """The part of a campaign that asks what to judge next without a model."""

    id: str

    _listed: dict[str, tuple[tuple[object, ...], Listed]]

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
            A name of :data:`collection.pooling.ADAPTIVE`. One that draws lots has a seed that the campaign and the
            topic determine: whoever begins anew, and gives the same answers, is asked for the same.
        listed
            What the runs have of the topic.
        """
        entry = pooling.ADAPTIVE[strategy]
        given = {"seed": seed_of(self.id, query_id)} if "seed" in entry.parameters else {}
        return entry.function(listed.rankings, **given)

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

    def room(self, query_id: str, annotator: str | None = None) -> int | None:
        """How many more documents of a topic may be handed out by the loop's budgets; None where there is no budget.

        What is on lease will soon be judged and counts, in whatever topic; but not what this annotator holds.
        """
        settings, at = self.loop_settings(), time.time()
        budgets = ((settings.topic_budget, query_id), (settings.budget, None))
        rooms = [most - self.store.spoken_for(at, of, but=annotator) for most, of in budgets if most]
        return max(min(rooms), 0) if rooms else None

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
        judgeable = self.judgeable(size)
        if self.loop_settings().by_model:
            judgeable[[row for row in self.store.without_text_rows() if row < len(judgeable)]] = False
        if self.scopes()[query_id] not in IN_POOL:
            return judgeable
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[[row for row in self.store.pool_rows(query_id) if row < len(scope)]] = True
        return scope & judgeable

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


def seed_of(*parts: object) -> int:
    """A seed that its parts alone determine, on any machine."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=4).digest())
