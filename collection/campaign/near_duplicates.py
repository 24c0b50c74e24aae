"""Near-duplicates: beside the document on screen, and in the whole collection."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from collection.campaign.settings import Settings
from collection.documents import near_duplicates as duplicates
from collection.documents.near_duplicates import Group, Sketch
from collection.documents.rendering import shown
from collection.errors import UnknownNameError
from collection.store import Store

COMPARED = 5000
"""Judged documents of a topic, the newest, that others are compared with."""


MOST_NEW = 300
"""Judged documents of which a sketch is made for one answer: a third of a second or so."""


SKETCHES = 50_000
"""Sketches that are kept in memory; half a kilobyte each."""


NONE = np.zeros((0, duplicates.HASHES), dtype=np.uint32)


class Near(NamedTuple):
    """A document that is nearly the same as another, and what the annotator says of it: (kind, grade, reason)."""

    doc_id: str
    title: str
    similarity: float
    said: tuple[str, int | None, str | None] | None


class Nearby(NamedTuple):
    """Near-duplicates of some documents.

    Attributes
    ----------
    near
        Each of the documents that the campaign knows, with its near-duplicates, the most similar first.
    more
        Whether judged documents are left that were not compared yet: to ask again goes on with them.
    """

    near: dict[str, list[Near]]
    more: bool


class Duplicates(NamedTuple):
    """Near-duplicates of a collection.

    Attributes
    ----------
    groups
        As :func:`collection.documents.near_duplicates.groups` gives them.
    documents
        How many were compared.
    pairs
        Pairs of the pool whose document is in a group with one that stands before it in the pool of the same topic.
    pool
        Pairs of the pool.
    """

    groups: list[Group]
    documents: int
    pairs: int
    pool: int


class _Texts:
    """Ids, titles and texts as they are shown, as often as somebody goes through them."""

    def __init__(self, store: Store, form: str, pooled: bool) -> None:
        self._store, self._form, self._pooled = store, form, pooled
        self.count = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self.count = 0
        for document in self._store.corpus.documents_with_text(self._pooled):
            self.count += 1
            yield document.doc_id, shown(document, self._form).compared


class NearDuplicates:
    """Near-duplicates: beside the document on screen, and in the whole collection."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self._sketches: tuple[Any, OrderedDict[str, Sketch | None]] | None = None

    def of_documents(self, query_id: str, annotator: str, doc_ids: Sequence[str]) -> Nearby:
        """Near-duplicates of documents among those that the annotator has judged for the topic, and among themselves.

        Nobody waits for thousands of sketches: those of the newest :data:`MOST_NEW` that have none yet are made, and
        the answer says whether there are more.

        Parameters
        ----------
        query_id, annotator
            Whose judgements, and of which topic; of those the newest :data:`COMPARED`.
        doc_ids
            The documents that are asked about.

        Returns
        -------
        Nearby
            Empty where the manager has switched this off.

        Raises
        ------
        UnknownNameError
            There is no such topic.
        """
        self.settings.require_topic(query_id)
        settings = self.settings.judging_page()
        if not settings.near:
            return Nearby({}, False)
        said = self.store.corpus.judgements_on(query_id, annotator)
        asked = list(dict.fromkeys(doc_ids))
        judged = [doc_id for doc_id in list(said)[:COMPARED] if doc_id not in set(asked)]
        kept = self._kept_sketches(settings.form)
        later = set([doc_id for doc_id in judged if doc_id not in kept][MOST_NEW:])
        sketches = self._sketched([*asked, *(d for d in judged if d not in later)], settings.form)
        ids = [doc_id for doc_id, made in sketches.items() if made is not None]
        matrix = np.stack([made for made in sketches.values() if made is not None]) if ids else NONE
        likely = {
            doc_id: [ids[n] for n in duplicates.likely(made, matrix).tolist() if ids[n] != doc_id]
            for doc_id in asked
            if (made := sketches.get(doc_id)) is not None
        }
        documents = self.store.corpus.documents(
            list({d for doc_id, near in likely.items() if near for d in (doc_id, *near)})
        )
        exact = {doc_id: duplicates.shingles(shown(d, settings.form).compared) for doc_id, d in documents.items()}
        found: dict[str, list[Near]] = {doc_id: [] for doc_id in asked if doc_id in sketches}
        for doc_id, others in likely.items():
            for other in others:
                similarity = duplicates.jaccard(exact[doc_id], exact[other])
                if similarity >= duplicates.THRESHOLD:
                    found[doc_id].append(Near(other, documents[other].title, similarity, said.get(other)))
            found[doc_id].sort(key=lambda near: -near.similarity)
        return Nearby(found, bool(later))

    def _kept_sketches(self, form: str) -> OrderedDict[str, Sketch | None]:
        """The sketches that were made of the documents as they are now."""
        version = (self.store.settings.get("documents_version", 0), form)
        if self._sketches is None or self._sketches[0] != version:
            self._sketches = (version, OrderedDict())
        return self._sketches[1]

    def _sketched(self, doc_ids: Sequence[str], form: str) -> dict[str, Sketch | None]:
        """The sketch of each document that is known, None of one without a text; those made before are kept."""
        kept = self._kept_sketches(form)
        for doc_id, document in self.store.corpus.documents([d for d in doc_ids if d not in kept]).items():
            text = shown(document, form).compared
            kept[doc_id] = duplicates.sketch(text) if text else None
        found = {}
        for doc_id in doc_ids:
            if doc_id in kept:
                kept.move_to_end(doc_id)
                found[doc_id] = kept[doc_id]
        while len(kept) > SKETCHES:
            kept.popitem(last=False)
        return found

    def groups(self, of: str = "pool", threshold: float = duplicates.THRESHOLD) -> Duplicates:
        """The groups of near-duplicates among the documents of the pool, or among all.

        Parameters
        ----------
        of
            "pool" or "all".
        threshold
            The similarity from which on two documents are near-duplicates; see
            :mod:`collection.documents.near_duplicates`.

        Raises
        ------
        UnknownNameError, InputError
            There is no such choice; the threshold is not in its range.
        """
        if of not in ("pool", "all"):
            raise UnknownNameError("choice of documents", of, ["pool", "all"])
        texts = _Texts(self.store, self.settings.judging_page().form, of == "pool")
        groups = duplicates.groups(texts, threshold)
        group_of = {doc_id: n for n, group in enumerate(groups) for doc_id in group.doc_ids}
        pool = self.store.pool.pairs()
        grouped = pool.assign(group=pool["doc_id"].map(group_of)).dropna(subset=["group"])
        return Duplicates(groups, texts.count, int(grouped.duplicated(["query_id", "group"]).sum()), len(pool))
