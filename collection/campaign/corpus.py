"""Topics, documents, runs and their costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from collection.campaign import stored_runs
from collection.records import Document, Run
from collection.store import Store


@dataclass(eq=False)
class Corpus:
    """Topics, documents, runs and their costs."""

    store: Store
    directory: Path

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``."""
        return self.store.corpus.topics()

    def document(self, doc_id: str) -> Document | None:
        """A document, or None if the campaign does not know the id."""
        return self.documents([doc_id]).get(doc_id)

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids."""
        return self.store.corpus.documents(doc_ids)

    def in_pool(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is in the pool."""
        pair = self.store.judgements.pair(query_id, doc_id, "")
        return pair is not None and pair.strategy is not None

    def run_table(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self.store.corpus.runs()

    def missing_documents(self) -> list[str]:
        """Ids of pooled documents without a text."""
        return self.store.corpus.missing_documents()

    def without_text(self) -> dict[str, int]:
        """``query_id`` -> number of unjudged pooled pairs without a text, of the topics that have any."""
        return self.store.pool.without_text()

    def runs(self, names: Iterable[str] | None = None) -> Iterator[Run]:
        """The imported runs, or those with these names, one at a time, by name.

        Raises
        ------
        CampaignError
            The file of a run is missing, damaged, or another one.
        """
        table = self.store.corpus.runs()
        wanted = set(table["run"] if names is None else names)
        for recorded in table.to_dict("records"):
            if recorded["run"] in wanted:
                yield Run(recorded["run"], stored_runs.read(self.directory, recorded))

    def costs(self) -> pd.DataFrame:
        """``run``, and a column for each kind of cost that was imported."""
        return self.store.corpus.costs()

    def topic_words(self, query_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """The fields of each topic and the manager's ``note``."""
        return self.store.corpus.topic_words(query_ids)

    def titles(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """The title of each of these documents."""
        return self.store.corpus.titles(sorted(doc_ids))

    def in_topic_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows by topic, in the order of the campaign's topics; those of a topic as they are."""
        places = pd.Categorical(frame["query_id"], categories=self.topics()["query_id"]).codes
        return frame.iloc[places.argsort(kind="stable")].reset_index(drop=True)
