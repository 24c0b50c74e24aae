"""The documents that belong to a topic, and those that its loop may offer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.topic_ledger import TargetProgress, TopicLedger, assess_target, build_topic_ledger
from collection.campaign.settings.loop_settings import IN_POOL, LOOPING, LoopSettings
from collection.campaign.settings.settings import Settings
from collection.stopping import Ledger
from collection.store import Store, Ungraded


def first_documents(frame: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return the rows of a run (:data:`.RUN`) down to a depth, in the order of measures or as listed.

    Measures order equal scores by document id, and pools as the run lists them: with both, no pooled pair is missing.
    """
    return frame[(frame["rank"] <= depth) | (frame["listed"] <= depth)]


def _select_rows(rankable: NDArray[np.bool_], limits: Sequence[ArrayLike]) -> NDArray[np.int64]:
    """Return the rankable rows that all `limits` have, ascending."""
    # Not intersect1d() with all rankable rows: it would sort a million of them for each topic.
    rows = np.unique(reduce(np.intersect1d, limits)).astype(np.int64)
    return rows[rankable[rows]]


def _recall_scope(
    pool: Sequence[int] | NDArray[np.int64], mode: str, judgements: pd.DataFrame, judgeable: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the documents that a topic's recall refers to; see :meth:`.LoopScope.recall_scope`."""
    scope = np.zeros(len(judgeable), dtype=np.bool_)
    scope[pool] = True
    if mode not in IN_POOL:
        scope |= judgeable
        scope[judgements["row"].to_numpy(dtype=np.int64)] = True
    return scope


@dataclass(eq=False)
class LoopScope:
    """The documents that belong to a topic, and those that its loop may offer."""

    store: Store
    settings: Settings
    corpus: Corpus

    def loop_rows(self, modes: Mapping[str, str] | None = None) -> dict[str, NDArray[np.int64]]:
        """Return the matrix rows of the documents, judged or not, that each topic's loop can offer.

        `modes` are those of :meth:`.Settings.modes`, if they are known.
        """
        settings, modes = self.settings.loop(), self.settings.modes() if modes is None else modes
        runs, versions = self.store.corpus.runs_signature(), self.store.judgements.versions()[0]
        listed = self.store.cached("rows of runs", (runs, versions, settings), partial(self._listed_rows, settings))
        key = (self.store.corpus.document_rows(), runs, versions, settings, modes)
        return self.store.cached("rows of loops", key, partial(self._find_rows, settings, modes, listed))

    def _find_rows(
        self, settings: LoopSettings, modes: Mapping[str, str], listed: Mapping[str, NDArray[np.int64]]
    ) -> dict[str, NDArray[np.int64]]:
        """Return :meth:`loop_rows`; `listed` are the rows of the runs' documents by topic."""
        rankable = self.rankable()
        every = np.flatnonzero(rankable)
        rows_by_topic: dict[str, NDArray[np.int64]] = {}
        for query_id, mode in modes.items():
            if mode in LOOPING:
                limits: list[ArrayLike] = [] if settings.by_model else [listed.get(query_id, [])]
                limits += [self.store.pool.rows(query_id)] if mode in IN_POOL else []
                rows_by_topic[query_id] = _select_rows(rankable, limits) if limits else every
        return rows_by_topic

    def topics_with_unjudged(self, judged: Mapping[str, int], modes: Mapping[str, str]) -> set[str]:
        """Return the open topics whose loop, or the pool before it, has unjudged documents that can be judged.

        `judged` are the numbers of judged documents of the topics in question, `modes` those of
        :meth:`.Settings.modes`.
        """
        rows = self.loop_rows(modes) if judged else {}
        return {q for q, number in judged.items() if q in rows and self._has_unjudged(q, number, rows[q], modes[q])}

    def _has_unjudged(self, query_id: str, judged: int, rows: NDArray[np.int64], mode: str) -> bool:
        if judged < len(rows):
            return True
        if mode == "pool-then-loop":  # the loop of a strategy has only documents of the runs
            pool = self.store.pool.rows(query_id)
            rows = np.union1d(rows, np.intersect1d(pool, np.flatnonzero(self.judgeable())))
        return not np.isin(rows, self.store.judgements.judged_rows(query_id)).all()

    def _listed_rows(self, settings: LoopSettings) -> dict[str, NDArray[np.int64]]:
        """Return the matrix rows of the runs' documents by topic, of those that the settings can select.

        Empty if a model selects, which ranks all documents. Adds missing rows if no document has a text.
        """
        if settings.by_model:
            return {}
        frames = [run.frame for run in self.corpus.runs()]
        if settings.by_system_order:
            frames = [first_documents(frame, settings.depth) for frame in frames]
        pairs = [frame[["query_id", "doc_id"]].astype("str") for frame in frames]
        if not pairs:
            return {}
        every = pd.concat(pairs).drop_duplicates()
        every["row"] = every["doc_id"].map(self.rows_of(every["doc_id"].unique()))
        known = every.dropna().astype({"row": "int64"})
        return {str(query_id): part["row"].to_numpy() for query_id, part in known.groupby("query_id")}

    def rows_of(self, doc_ids: Collection[str]) -> dict[str, int]:
        """Return the matrix row of each document; if no document has a text, it adds missing rows."""
        corpus = self.store.corpus
        rows = corpus.rows_of(doc_ids)
        if len(rows) == len(doc_ids) or corpus.document_rows() > len(corpus.without_text_rows()):
            return rows
        corpus.add_document_ids(doc_id for doc_id in doc_ids if doc_id not in rows)
        return corpus.rows_of(doc_ids)

    def recall_scope(self, query_id: str, judgements: pd.DataFrame, judgeable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the documents that a topic's recall refers to, as a (documents,) mask.

        The pool, with documents whose text is missing; in a loop over the whole collection also every judgeable or
        judged document. `judgements` are those of :meth:`.JudgementTables.current_judgements` for the topic,
        `judgeable` is :meth:`judgeable`.
        """
        pool, mode = self.store.pool.rows(query_id), self.settings.modes_when_open()[query_id]
        return _recall_scope(pool, mode, judgements, judgeable)

    def topic_ledgers(self, query_ids: Collection[str]) -> dict[str, TopicLedger]:
        """Return the judgements of these topics in order, each topic's within its :meth:`recall_scope`; cached."""
        level, modes = self.settings.loop().level, self.settings.modes_when_open()
        versions, state = self.store.judgements.topic_versions(), self.store.judgements.versions()[0]
        same = (level, state, self.store.corpus.document_rows())
        keys = {query_id: (same, modes[query_id], versions[query_id]) for query_id in query_ids}
        return self.store.cached_each("topic ledger", keys, partial(self._read_ledgers, modes, level), shared=True)

    def ledgers(self, query_ids: Collection[str]) -> dict[str, Ledger]:
        """Return the judgements of these topics in order, for :mod:`collection.stopping`."""
        ungraded = self.store.judgements.count_ungraded(query_ids)
        topics = self.topic_ledgers(query_ids)
        return {q: topic.with_withheld(ungraded.get(q, Ungraded()).drawn) for q, topic in topics.items()}

    def assess(self, query_ids: Collection[str]) -> dict[str, TargetProgress]:
        """Return how far each of these topics is judged, and whether it may stop."""
        settings = self.settings.loop()
        return {query_id: assess_target(ledger, settings) for query_id, ledger in self.ledgers(query_ids).items()}

    def _read_ledgers(self, modes: Mapping[str, str], level: int, query_ids: Collection[str]) -> dict[str, TopicLedger]:
        judgements, pools = (
            self.store.judgements.current_judgements(query_ids),
            self.store.pool.rows_by_topic(query_ids),
        )
        by_topic = {str(query_id): part for query_id, part in judgements.groupby("query_id", sort=False)}
        judgeable = self.judgeable()
        ledgers = {}
        for query_id in query_ids:
            own = by_topic.get(query_id, judgements.iloc[:0])
            scope = _recall_scope(pools.get(query_id, []), modes[query_id], own, judgeable)
            ledgers[query_id] = build_topic_ledger(own, scope, level, judgeable)
        return ledgers

    def mask(self, query_id: str, size: int | None = None) -> NDArray[np.bool_]:
        """Return the documents that a topic's loop may offer, as a mask of the first `size` documents or of all."""
        judgeable = self.rankable(size)
        if self.settings.modes_when_open()[query_id] not in IN_POOL:
            return judgeable
        scope = np.zeros(len(judgeable), dtype=np.bool_)
        scope[[row for row in self.store.pool.rows(query_id) if row < len(scope)]] = True
        return scope & judgeable

    def rankable(self, size: int | None = None) -> NDArray[np.bool_]:
        """Return what loops may rank: :meth:`judgeable`, without documents that a model cannot read if one ranks."""
        judgeable = self.judgeable(size)
        if self.settings.loop().by_model:
            judgeable[[row for row in self.store.corpus.without_text_rows() if row < len(judgeable)]] = False
        return judgeable

    def judgeable(self, size: int | None = None) -> NDArray[np.bool_]:
        """Return the documents that have a text, or all if none has, as a mask of the first `size` documents or of all.

        :func:`collection.store.connection.is_held_back` is the same for one document.
        """
        rows = self.store.corpus.document_rows() if size is None else size
        without = [row for row in self.store.corpus.without_text_rows() if row < rows]
        some = np.ones(rows, dtype=np.bool_)
        if len(without) < rows:
            some[without] = False
        return some
