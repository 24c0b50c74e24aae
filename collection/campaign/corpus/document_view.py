"""Documents as the campaign shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from collection.campaign.corpus.content_files import FOLDER, NAME
from collection.campaign.corpus.images import images_of
from collection.campaign.corpus.pdf_files import pdf_of
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.campaign.settings.settings import Settings
from collection.core.layout import NUGGET_ASSIGNMENT
from collection.core.records import Document
from collection.core.topic_fields import read_context
from collection.documents import rendering
from collection.documents.rendering import Shown
from collection.store import Store


def named_files(metadata: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the files of the campaign that the metadata of documents name."""
    named: set[str | None] = set()
    for each in metadata:
        named |= {image.file for image in images_of(each)}
        if pdf := pdf_of(each):
            named |= {pdf.file, pdf.shown}
    return {name for name in named if name is not None}


def excerpts_of(shown: Shown, terms: Sequence[str], settings: JudgingPageSettings) -> list[tuple[int, int, str]] | None:
    """The passages of a long document shown first: [start, end) and their text; None where all of it is shown."""
    if settings.long != "passages" or len(shown.text) < settings.long_from:
        return None
    return [(start, end, shown.text[start:end]) for start, end in rendering.excerpts(shown.text, list(terms))]


@dataclass(eq=False)
class DocumentView:
    """Documents as the campaign shows them."""

    store: Store
    directory: Path
    settings: Settings

    def shown(self, document: Document, settings: JudgingPageSettings | None = None) -> Shown:
        """A document as it is shown; `settings` saves reading :meth:`.Settings.judging_page` again."""
        return rendering.shown(document, (settings or self.settings.judging_page()).form)

    def marked(self, query_id: str, document: Document, settings: JudgingPageSettings | None = None) -> Shown:
        """Return the text in which annotators mark passages: in nugget assignment the answer, else the document."""
        if not self._is_assignment:
            return self.shown(document, settings)
        words = self.store.corpus.topic_words([query_id]).get(query_id)
        return Shown("text", "" if words is None else words["description"], title=document.title)

    def answer_lengths(self, query_ids: Iterable[str]) -> dict[str, int]:
        """Return the lengths of answers (characters) by topic in nugget assignment; empty in any other campaign."""
        words = self.store.corpus.topic_words(sorted(query_ids)) if self._is_assignment else {}
        return {query_id: len(each["description"]) for query_id, each in words.items()}

    def terms(self, query_id: str, document: Document) -> list[str]:
        """Return the terms to look for in :meth:`marked`: those of the nugget, or else of the topic."""
        return rendering.terms(document.title) if self._is_assignment else self.topic_terms(query_id)

    @property
    def _is_assignment(self) -> bool:
        task = self.settings.task()
        return task is not None and task.name == NUGGET_ASSIGNMENT

    def topic_terms(self, query_id: str) -> list[str]:
        """Terms of a topic, and of what was asked before it in a conversation; none for an unknown topic."""
        words = self.store.corpus.topic_words([query_id]).get(query_id)
        if words is None:
            return []
        if self.settings.task() is not None:
            return rendering.terms(words["title"])  # the description is the whole answer
        asked = read_context(json.loads(words["fields"])).asked_before()
        return rendering.terms(" ".join([words["title"], words["description"], *asked]))

    def content_file(self, name: str) -> Path | None:
        """Path of an image or PDF file named in a document's metadata; None if it does not exist."""
        place = self.directory / FOLDER / name
        return place if NAME.match(name) and place.is_file() else None

    def quoted(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Judgements with quoted passages.

        Each of ``passages`` becomes a list of ``{"start", "end", "text"}`` of the current text, of a nugget that of the
        answer; the text is null where it is not that long.
        """
        marked = judgements["passages"].map(len) > 0
        column = "query_id" if self._is_assignment else "doc_id"
        ids = judgements.loc[marked, column].drop_duplicates().tolist()
        texts: dict[str, str]
        if self._is_assignment:
            texts = {name: words["description"] for name, words in self.store.corpus.topic_words(ids).items()}
        else:
            settings = self.settings.judging_page()
            texts = {
                doc_id: self.shown(document, settings).text
                for doc_id, document in self.store.corpus.documents(ids).items()
                if document.text is not None
            }
        quoted = [
            [_quote(texts.get(name), start, end) for start, end in passages]
            for name, passages in zip(judgements[column], judgements["passages"], strict=True)
        ]
        return judgements.assign(passages=pd.Series(quoted, index=judgements.index, dtype=object))


def _quote(text: str | None, start: int, end: int) -> dict[str, int | str | None]:
    return {"start": start, "end": end, "text": text[start:end] if text is not None and end <= len(text) else None}
