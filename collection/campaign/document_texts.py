"""Titles and texts of a campaign's documents as they are shown, for what compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collection.documents.rendering import shown
from collection.store import Store

FETCHED = 500
"""Documents whose texts are read together."""


class Texts:
    """Ids of some documents, each with its title and text: as often as somebody goes through them, or one by its id.

    They are read again each time, a batch at once, so that not all of them are in memory. Documents without a text are
    passed over.

    Parameters
    ----------
    store
        Where the documents are.
    doc_ids
        Which, each once.
    form
        How they are shown, as :func:`collection.documents.rendering.shown` takes it.
    """

    def __init__(self, store: Store, doc_ids: Sequence[str], form: str) -> None:
        self._store, self._doc_ids, self._form = store, doc_ids, form

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for begin in range(0, len(self._doc_ids), FETCHED):
            for doc_id, document in self._store.corpus.documents(self._doc_ids[begin : begin + FETCHED]).items():
                if document.text is not None:
                    yield doc_id, shown(document, self._form).compared

    def __getitem__(self, doc_id: str) -> str:
        return shown(self._store.corpus.documents([doc_id])[doc_id], self._form).compared
