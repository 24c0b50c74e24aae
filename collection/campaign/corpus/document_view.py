"""Documents as the campaign shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from collection.campaign.corpus.content_files import FOLDER, NAME
from collection.campaign.corpus.images import images_of
from collection.campaign.corpus.pdf_files import pdf_of
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.campaign.settings.settings import Settings
from collection.core.records import Document
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

    def topic_terms(self, query_id: str) -> list[str]:
        """Terms of a topic to look for in long documents; none for an unknown topic."""
        words = self.store.corpus.topic_words([query_id]).get(query_id)
        return [] if words is None else rendering.terms(f"{words['title']} {words['description']}")

    def content_file(self, name: str) -> Path | None:
        """Path of an image or PDF file named in a document's metadata; None if it does not exist."""
        place = self.directory / FOLDER / name
        return place if NAME.match(name) and place.is_file() else None

    def quoted(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Judgements with quoted passages.

        Each of ``passages`` becomes a list of ``{"start", "end", "text"}`` of the current text; the text is null where
        the document is not that long.
        """
        marked = judgements["passages"].map(len) > 0
        documents = self.store.corpus.documents(judgements.loc[marked, "doc_id"].drop_duplicates().tolist())
        settings = self.settings.judging_page()
        texts = {
            doc_id: self.shown(document, settings).text
            for doc_id, document in documents.items()
            if document.text is not None
        }
        quoted = [
            [_quote(texts.get(doc_id), start, end) for start, end in passages]
            for doc_id, passages in zip(judgements["doc_id"], judgements["passages"], strict=True)
        ]
        return judgements.assign(passages=pd.Series(quoted, index=judgements.index, dtype=object))


def _quote(text: str | None, start: int, end: int) -> dict[str, int | str | None]:
    return {"start": start, "end": end, "text": text[start:end] if text is not None and end <= len(text) else None}
