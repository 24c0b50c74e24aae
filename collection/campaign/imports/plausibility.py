"""Doubts about a file of documents that looks like topics, by what only the whole file shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from collection.core.phrases import count
from collection.core.records import Document
from collection.id_matches import has_invisible

SHORT = 100
"""Characters up to which a text is no longer than a line."""

FEW = 10
"""Number of documents below which short texts say nothing."""


@dataclass(eq=False)
class DocumentCheck:
    """Collects what tells documents from topics while they are read; :mod:`collection.formats.kinds` knows columns."""

    topics: Collection[str]
    """Ids of the campaign's topics."""
    documents: int = field(default=0, init=False)
    invisible: list[str] = field(default_factory=list, init=False)
    """Ids with invisible characters."""
    _like_topics: int = field(default=0, init=False)
    _longest: int = field(default=0, init=False)
    _images: bool = field(default=False, init=False)

    def add(self, document: Document) -> None:
        """Look at a document."""
        self.documents += 1
        if not document.doc_id.isascii() and has_invisible(document.doc_id):
            self.invisible.append(document.doc_id)
        self._like_topics += document.doc_id in self.topics
        self._longest = max(self._longest, len(document.title) + len(document.text or ""))
        self._images = self._images or "images" in document.metadata

    def question(self) -> str:
        """Say why the file seems to have something else than documents; empty if it does not."""
        if self.documents and self._longest <= 3 * SHORT and self._like_topics == self.documents:
            ids = "its id is that of a topic" if self.documents == 1 else "all its ids are ids of topics"
            return f"looks like topics: {ids}, and no text is longer than {count(self._longest, 'character')}"
        return ""

    def notice(self) -> str:
        """Say that all texts are short; empty if they are not, or images may take their place."""
        if self.documents < FEW or not 0 < self._longest <= SHORT or self._images:
            return ""
        return f"no text is longer than {count(self._longest, 'character')}"
