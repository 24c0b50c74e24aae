"""Titles and texts of documents as near-duplicates are found by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from collection.core.records import Document
from collection.documents.rendering import shown


@dataclass(frozen=True)
class DocumentTexts:
    """Ids and texts of documents, read anew on each pass, so that they need not fit into memory.

    `read` begins a pass; documents without a text are left out.
    """

    read: Callable[[], Iterable[Document]]
    form: str

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for document in self.read():
            if document.text is not None:
                yield document.doc_id, shown(document, self.form).compared
