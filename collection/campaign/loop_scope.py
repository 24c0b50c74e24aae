"""Which documents belong to a topic, and which of them its loop may hand out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.campaign.corpus import Corpus
from collection.campaign.loop_settings import IN_POOL, LOOPING
from collection.campaign.settings import Settings
from collection.store import Store


@dataclass(eq=False)
class LoopScope:
    """Which documents belong to a topic, and which of them its loop may hand out."""

    store: Store
    settings: Settings
    corpus: Corpus
    _rows: tuple[tuple[object, ...], dict[str, NDArray[np.int64]]] | None = field(default=None, init=False)

    def rows(self) -> dict[str, NDArray[np.int64]]:
        """Matrix rows of the documents that the loop can hand out, judged or not, of each topic that is in a loop."""
        settings, modes = self.settings.loop(), self.settings.modes()
        made_of = (self.store.corpus.runs_signature(), self.store.judgements.versions()[0], settings, modes)
        if self._rows is None or self._rows[0] != (self.store.corpus.document_rows(), *made_of):
            listed = {} if settings.by_model else self._listed_rows()  # which may add rows
            documents = self.store.corpus.document_rows()
            allowed = np.flatnonzero(self.judgeable_in_loop())
            found: dict[str, NDArray[np.int64]] = {}
            for query_id, mode in modes.items():
                if mode in LOOPING:
                    rows = allowed
                    if mode in IN_POOL:
                        rows = np.intersect1d(rows, self.store.pool.rows(query_id))
                    if not settings.by_model:
                        rows = np.intersect1d(rows, listed.get(query_id, []))
                    found[query_id] = rows
            self._rows = ((documents, *made_of), found)
        return self._rows[1]

    def _listed_rows(self) -> dict[str, NDArray[np.int64]]:
        """Matrix rows of what the runs have, by topic; where no document has a text, those without a row get one."""
        pairs = [run.frame[["query_id", "doc_id"]].astype("str") for run in self.corpus.runs()]
        if not pairs:
            return {}
        every = pd.concat(pairs).drop_duplicates()
        if self.store.corpus.document_rows() == len(self.store.corpus.without_text_rows()):
            at = self.store.corpus.rows_of(every["doc_id"].unique())
            missing = dict.fromkeys(doc_id for doc_id in every["doc_id"] if doc_id not in at)
            if missing:
                with self.store.transaction():
                    self.store.corpus.add_document_ids(missing)
        every["row"] = every["doc_id"].map(self.store.corpus.rows_of(every["doc_id"].unique()))
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
            The topic's, as :meth:`.JudgementTables.decisions` gives them.
        judgeable
            :meth:`judgeable` of all documents.
        """
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[self.store.pool.rows(query_id)] = True
        if self.settings.scopes()[query_id] not in IN_POOL:
            scope |= judgeable
            scope[decisions["row"].to_numpy(dtype=np.int64)] = True
        return scope

    def allowed(self, query_id: str, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: what the loop may hand out for a topic.

        The pool, or every document; of those that can be judged, and that the model can read. The first `size`
        documents, all if left out.
        """
        judgeable = self.judgeable_in_loop(size)
        if self.settings.scopes()[query_id] not in IN_POOL:
            return judgeable
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[[row for row in self.store.pool.rows(query_id) if row < len(scope)]] = True
        return scope & judgeable

    def judgeable_in_loop(self, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: :meth:`judgeable`, without those that the model cannot read where it chooses."""
        judgeable = self.judgeable(size)
        if self.settings.loop().by_model:
            judgeable[[row for row in self.store.corpus.without_text_rows() if row < len(judgeable)]] = False
        return judgeable

    def judgeable(self, size: int | None = None) -> NDArray[np.bool_]:
        """(documents,) bool: those that have a text. Where none has, all.

        Annotators then have the texts elsewhere, and know them by their ids. The first `size` documents, all if left
        out. :func:`collection.store.connection.held_back` says the same of one document.
        """
        rows = self.store.corpus.document_rows() if size is None else size
        without = [row for row in self.store.corpus.without_text_rows() if row < rows]
        some = np.ones(rows, dtype=np.bool_)
        if len(without) < rows:
            some[without] = False
        return some
