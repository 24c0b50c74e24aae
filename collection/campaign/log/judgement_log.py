"""The append-only log of judgements."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from collection import adjudication
from collection.store import Store


@dataclass(eq=False)
class JudgementLog:
    """The append-only log of judgements.

    `judgements` and `annotators` are :meth:`.JudgementTables.table` and :meth:`.JudgementTables.annotators`.
    """

    store: Store

    def flagged(self) -> pd.DataFrame:
        """Return flagged judgements, newest first.

        ``query_id``, ``doc_id``, ``annotator``, ``kind``, ``relevance``, ``note``, ``judged_at``.
        """
        log = self.store.judgements.table(flagged=True)
        log = log[log["counts_as"] == "judgement"][::-1].reset_index(drop=True)
        return log[["query_id", "doc_id", "annotator", "kind", "relevance", "note", "judged_at"]]

    def adjudications(self, annotator: str | None = None, *, without: Collection[str] = ()) -> pd.DataFrame:
        """Return current adjudications, by `annotator` if one is named, oldest first; none with a source `without`."""
        log = self.store.judgements.table(annotator=annotator)
        log = log[(log["counts_as"] == adjudication.ADJUDICATION) & ~log["source"].isin(without)]
        return log.reset_index(drop=True)
