"""Documents as this campaign shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from collection.campaign.images import FOLDER, NAME
from collection.campaign.judging_settings import CardSettings
from collection.campaign.settings import Settings
from collection.documents import rendering
from collection.documents.rendering import Shown
from collection.records import Document
from collection.store import Store


def excerpts_of(shown: Shown, terms: Sequence[str], settings: CardSettings) -> list[tuple[int, int, str]] | None:
    """What is shown of a long document at first: [start, end) and the words there; None where all of it is.

    Parameters
    ----------
    shown
        The document.
    terms
        Of its topic.
    settings
        Of the judging page.
    """
    if settings.long != "passages" or len(shown.text) < settings.long_from:
        return None
    return [(start, end, shown.text[start:end]) for start, end in rendering.excerpts(shown.text, list(terms))]


@dataclass(eq=False)
class DocumentView:
    """Documents as this campaign shows them."""

    store: Store
    directory: Path
    settings: Settings

    def shown(self, document: Document, settings: CardSettings | None = None) -> Shown:
        """A document as it is shown; places in it are counted in the text of what is returned.

        Parameters
        ----------
        document
            One of this campaign.
        settings
            As :meth:`.Settings.judging_page` gives them, for whoever has them at hand.
        """
        return rendering.shown(document, (settings or self.settings.judging_page()).form)

    def terms_of(self, query_id: str) -> list[str]:
        """What is looked for in long documents for a topic; none where nobody knows the topic."""
        words = self.store.corpus.topic_words([query_id]).get(query_id)
        return [] if words is None else rendering.terms(f"{words['title']} {words['description']}")

    def first_of_pool(self, most: int = 100) -> pd.DataFrame:
        """``query_id`` and ``doc_id`` of the first pairs of the pool whose document has a text; to look at some."""
        pairs = self.store.pool.pairs()[["query_id", "doc_id"]]
        return (
            pairs[~pairs["doc_id"].isin(self.store.corpus.without_text(pairs["doc_id"]))]
            .head(most)
            .reset_index(drop=True)
        )

    def image_file(self, name: str) -> Path | None:
        """Where a file of this campaign is, by the name that a document's metadata give; None if it is not there."""
        place = self.directory / FOLDER / name
        return place if NAME.match(name) and place.is_file() else None

    def quoted(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Judgements whose passages have their words.

        Parameters
        ----------
        judgements
            With the columns ``doc_id`` and ``passages``, as :meth:`.JudgementLog.judgements` gives them.

        Returns
        -------
        DataFrame
            The same; each of its ``passages`` is a list of ``{"start", "end", "text"}``. The text is null where the
            document has no text that is so long any more; where it was replaced it is what stands there now.
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


def _quote(text: str | None, start: int, end: int) -> dict[str, Any]:
    return {"start": start, "end": end, "text": text[start:end] if text is not None and end <= len(text) else None}
