"""Near-duplicates: beside the document on screen, and in the whole collection."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from collection.campaign.corpus.document_texts import DocumentTexts
from collection.campaign.settings.settings import Settings
from collection.core.errors import require_known
from collection.core.records import Kind
from collection.documents import near_duplicates as duplicates
from collection.documents.near_duplicates import DuplicateGroup, Sketch
from collection.documents.rendering import shown
from collection.store import Store

COMPARED = 5000
"""Judged documents of a topic, the newest, that others are compared with."""

MOST_NEW = 300
"""Sketches made for one answer: about a third of a second."""

SKETCHES = 50_000
"""Sketches kept in memory, of half a kilobyte each."""


class Near(NamedTuple):
    """A near-duplicate of a document, and the annotator's judgement of it: (kind, grade, reason)."""

    doc_id: str
    title: str
    similarity: float
    judgement: tuple[Kind, int | None, str | None] | None


class Nearby(NamedTuple):
    """Each known document with its near-duplicates, the most similar first."""

    near: dict[str, list[Near]]
    more: bool
    """Whether another call would compare further judged documents."""


class Duplicates(NamedTuple):
    """Near-duplicates in a collection, among a number of documents."""

    groups: list[DuplicateGroup]
    documents: int
    pairs: int
    """Pairs of the pool whose document is in one group with an earlier one of the same topic."""
    pool: int
    """Pairs of the pool."""


@dataclass(eq=False)
class NearDuplicates:
    """Near-duplicates: beside the document on screen, and in the whole collection."""

    store: Store
    settings: Settings

    def for_documents(self, query_id: str, annotator: str, doc_ids: Sequence[str]) -> Nearby:
        """Near-duplicates of documents among themselves and among what the annotator has judged for the topic.

        Only :data:`MOST_NEW` sketches are made for one answer; :attr:`Nearby.more` says whether more are needed. The
        answer is empty where the manager has switched this off.
        """
        self.settings.require_topic(query_id)
        settings = self.settings.judging_page()
        if not settings.near:
            return Nearby({}, False)
        judgements = self.store.corpus.judgements_on(query_id, annotator)
        requested = list(dict.fromkeys(doc_ids))
        judged = [doc_id for doc_id in list(judgements)[:COMPARED] if doc_id not in set(requested)]
        keys = dict.fromkeys([*requested, *judged], (self.store.settings.get("documents_version", 0), settings.form))
        sketches = self.store.cached_each(
            "sketches", keys, partial(self._sketch, settings.form, set(requested)), most=SKETCHES
        )
        usable = {doc_id: sketch for doc_id, sketch in sketches.items() if sketch is not None}
        ids = list(usable)
        matrix = np.stack(list(usable.values())) if usable else np.zeros((0, duplicates.HASHES), dtype=np.uint32)
        likely = {
            doc_id: [ids[n] for n in duplicates.likely(usable[doc_id], matrix).tolist() if ids[n] != doc_id]
            for doc_id in requested
            if doc_id in usable
        }
        documents = self.store.corpus.documents(
            list({d for doc_id, near in likely.items() if near for d in (doc_id, *near)})
        )
        exact = {doc_id: duplicates.shingles(shown(d, settings.form).compared) for doc_id, d in documents.items()}
        neighbours: dict[str, list[Near]] = {doc_id: [] for doc_id in requested if doc_id in sketches}
        for doc_id, others in likely.items():
            for other in others:
                similarity = duplicates.jaccard(exact[doc_id], exact[other])
                if similarity >= duplicates.THRESHOLD:
                    neighbours[doc_id].append(Near(other, documents[other].title, similarity, judgements.get(other)))
            neighbours[doc_id].sort(key=lambda near: -near.similarity)
        return Nearby(neighbours, any(doc_id not in sketches for doc_id in judged))

    def _sketch(self, form: str, requested: Collection[str], doc_ids: list[str]) -> dict[str, Sketch | None]:
        """Sketch the documents asked for and some others; None for a document without a text."""
        others = [doc_id for doc_id in doc_ids if doc_id not in requested][:MOST_NEW]
        documents = self.store.corpus.documents([d for d in doc_ids if d in requested] + others)
        texts = {doc_id: shown(document, form).compared for doc_id, document in documents.items()}
        return {doc_id: duplicates.sketch(text) if text else None for doc_id, text in texts.items()}

    def groups(self, of: str = "pool", threshold: float = duplicates.THRESHOLD) -> Duplicates:
        """The groups of near-duplicates among the documents of the pool (`of` "pool"), or among "all".

        Raises
        ------
        UnknownNameError, InputError
            As :func:`collection.documents.near_duplicates.groups`, or there is no such choice.
        """
        require_known("choice of documents", ("pool", "all"), of)
        corpus, pool = self.store.corpus, self.store.pool.pairs()
        read = partial(corpus.documents_with_text, of == "pool")
        groups = duplicates.groups(DocumentTexts(read, self.settings.judging_page().form), threshold)
        ids = set(pool["doc_id"])
        if of == "pool":
            documents = len(ids) - len(corpus.find_without_text(ids))
        else:
            documents = corpus.document_rows() - len(corpus.without_text_rows())
        grouped = pool.assign(group=pool["doc_id"].map(duplicates.group_numbers(groups))).dropna(subset=["group"])
        return Duplicates(groups, documents, int(grouped.duplicated(["query_id", "group"]).sum()), len(pool))
