"""Topics, documents, runs and their costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from collection.campaign.corpus import stored_runs
from collection.campaign.corpus.click_logs import ClickLogs
from collection.campaign.corpus.coded_runs import CodedRun, code_runs
from collection.campaign.corpus.document_view import DocumentView
from collection.campaign.corpus.features import Features
from collection.campaign.corpus.near_duplicates import NearDuplicates
from collection.campaign.settings.settings import Settings
from collection.core.phrases import count
from collection.core.ranking import describe_doubts, doubt_run
from collection.core.records import Document, Run
from collection.id_matches import HARDLY_ANY, ask_for_ids, describe_alike, find_alike, loose_key
from collection.store import Store

FIRST_ROWS = 1000
"""Rows of a run whose ids are looked at where all would take too long."""


@dataclass(eq=False)
class Corpus:
    """Topics, documents, runs and their costs.

    Attributes
    ----------
    features, clicks, near_duplicates
        What the model reads of documents, click logs, and documents that are almost the same.
    view
        Documents as the campaign shows them.
    """

    store: Store
    directory: Path
    settings: Settings

    def __post_init__(self) -> None:
        self.features: Features = Features(self.store, self.directory)
        self.clicks: ClickLogs = ClickLogs(self.store, self.directory, self.settings)
        self.view: DocumentView = DocumentView(self.store, self.directory, self.settings)
        self.near_duplicates: NearDuplicates = NearDuplicates(self.store, self.settings)

    def document(self, doc_id: str) -> Document | None:
        """A document, or None if the campaign does not know the id."""
        return self.store.corpus.documents([doc_id]).get(doc_id)

    def in_pool(self, query_id: str, doc_id: str) -> bool:
        """Tell whether the pair is in the pool."""
        pair = self.store.judgements.pair(query_id, doc_id, "")
        return pair is not None and pair.strategy is not None

    def describe_run(self, run: Run, unknown: Collection[str] | None = None) -> list[str]:
        """Write notes on a run whose order is in doubt, or whose ids may be those of other topics and documents.

        Parameters
        ----------
        unknown
            The documents of the run that have no text here; by default those of its first rows.
        """
        tables, notes = self.store.corpus, describe_doubts({run.name: doubt_run(run.frame)})
        doc_ids = run.frame["doc_id"] if unknown is not None else run.frame["doc_id"].iloc[:FIRST_ROWS]
        named = doc_ids.unique().tolist()
        unknown = tables.find_without_text(named) if unknown is None else unknown
        known = tables.ids_with_text() if unknown else []
        if not known:
            return notes
        wanted = [doc_id for doc_id in named if doc_id in unknown]
        if alike := find_alike(wanted, {loose_key(doc_id): doc_id for doc_id in known}):
            notes.append(describe_alike(run.name, "document", alike, "campaign"))
        elif len(named) - len(wanted) < HARDLY_ANY * len(named):
            matches = f"{len(named) - len(wanted):,} of {count(len(named), 'document')} have a text in the campaign"
            matches = "no document of the run has a text in the campaign" if len(wanted) == len(named) else matches
            notes.append(ask_for_ids(run.name, matches, wanted, "campaign", known))
        return notes

    def runs(
        self, names: Iterable[str] | None = None, *, filters: list[tuple[str, str, str]] | None = None
    ) -> Iterator[Run]:
        """Yield the imported runs, or those with these names, by name; of each, the rows that pass Parquet's `filters`.

        Raises
        ------
        CampaignError
            The file of a run is missing, damaged, or another one.
        """
        table = self.store.corpus.runs()
        wanted = set(table["run"] if names is None else names)
        for recorded in table.to_dict("records"):
            if recorded["run"] in wanted:
                yield Run(recorded["run"], stored_runs.read(self.directory, recorded, filters=filters))

    def coded_runs(self, names: Iterable[str] | None = None) -> list[CodedRun]:
        """Return :meth:`runs` with keys of documents in place of texts; all connections share them.

        Raises as there.
        """
        table = self.store.corpus.runs()
        wanted = set(table["run"] if names is None else names)
        rows = [row for row in table.to_dict("records") if row["run"] in wanted]
        known = self.store.corpus.document_rows()
        keys = {row["run"]: (repr(row), stored_runs.stamp(self.directory, row), known) for row in rows}
        coded = self.store.cached_each(
            "coded runs",
            keys,
            lambda missing: code_runs(self.store, self.runs(missing)),
            most=max(1, len(table)),
            shared=True,
        )
        return list(coded.values())

    def in_topic_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows by topic, in the order of the campaign's topics; those of a topic as they are."""
        places = pd.Categorical(frame["query_id"], categories=self.store.corpus.topics()["query_id"]).codes
        return frame.iloc[places.argsort(kind="stable")].reset_index(drop=True)
