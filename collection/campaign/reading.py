"""What is in a campaign: the reads that pages and commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from collection.campaign.reports import NextStep
from collection.records import Document, GradeScale
from collection.store import Store


class Reading:
    """The half of a campaign that changes nothing. Pages come here, since the store is not theirs to open."""

    store: Store
    title: str
    grades: GradeScale

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``."""
        return self.store.topics()

    def document(self, doc_id: str) -> Document | None:
        """A document, or None if the campaign does not know the id."""
        return self.store.documents([doc_id]).get(doc_id)

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids."""
        return self.store.documents(doc_ids)

    def judgements(self, **which: Any) -> pd.DataFrame:
        """Judgements, oldest first; see :meth:`collection.store.Store.judgements` for what can be chosen."""
        return self.store.judgements(**which)

    def counts(self) -> dict[str, int]:
        """Sizes: ``topics``, ``documents`` (with a text), ``runs``, ``pool``, ``judgements`` (current), ``logged``."""
        return self.store.counts()

    def in_pool(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is in the pool."""
        pair = self.store.pair(query_id, doc_id, "")
        return pair is not None and pair.strategy is not None

    def run_table(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self.store.runs()

    def pool_rounds(self) -> pd.DataFrame:
        """How the pool came about: ``strategy``, ``parameters``, ``pairs``, ``made_at`` of each round."""
        return self.store.pool_rounds()

    def missing_documents(self) -> list[str]:
        """Ids in the pool whose text is not here."""
        return self.store.missing_documents()

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements``, ``seconds`` (median), ``last_at``; by name."""
        return self.store.annotators()

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """Per topic ``query_id``, ``title``, ``pool``, ``judged``, ``cannot_judge``."""
        return self.store.progress(query_id)

    def totals(self) -> tuple[int, int]:
        """Pairs in the pool, and how many of them are judged: the sums of :meth:`progress`, sooner."""
        return self.store.totals()

    def status(self) -> dict[str, Any]:
        """Everything at a glance, as plain data: what `cleverdon status` and the Overview page show."""
        progress = self.progress()
        annotators = self.store.annotators()
        return {
            "title": self.title,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            **self.store.counts(),
            "judged": int(progress["judged"].sum()),
            "cannot_judge": int(progress["cannot_judge"].sum()),
            "remaining": int((progress["pool"] - progress["judged"]).sum()),
            "missing_documents": len(self.store.missing_documents()),
            "per_topic": progress.to_dict("records"),
            "annotators": annotators.astype(object).where(annotators.notna(), None).to_dict("records"),
            "next": self.next_step()._asdict(),
        }

    def next_step(self) -> NextStep:
        """What a person who runs the campaign should do now."""
        counts = self.store.counts()
        progress = self.progress()
        remaining = int((progress["pool"] - progress["judged"]).sum())
        if not counts["topics"]:
            return NextStep("import", "Import the topics: what people are looking for.")
        if not counts["runs"]:
            return NextStep("import", "Import the runs of your systems, and the documents that they retrieve.")
        if not counts["pool"]:
            return NextStep("pool", "Pool the runs: choose which pairs are to be judged.")
        if not counts["documents"]:
            return NextStep("import", "Import the documents: nobody can judge what has no text.")
        if remaining:
            return NextStep("judge", f"Judge: {remaining:,} of {counts['pool']:,} pairs are left.")
        return NextStep("export", "Every pair of the pool is judged: export the qrels, and evaluate the runs.")
