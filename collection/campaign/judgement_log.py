"""The append-only log of judgements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from collection import adjudication
from collection.store import Store


@dataclass(eq=False)
class JudgementLog:
    """The append-only log of judgements."""

    store: Store

    def judgements(self, **which: Any) -> pd.DataFrame:
        """Judgements, oldest first; see :meth:`.JudgementTables.table` for what can be chosen."""
        return self.store.judgements.table(**which)

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements``, ``seconds`` (median), ``last_at``; by name."""
        return self.store.judgements.annotators()

    def flagged(self) -> pd.DataFrame:
        """What annotators want to be looked at again, newest first.

        Returns
        -------
        DataFrame
            ``query_id``, ``doc_id``, ``annotator``, ``kind``, ``relevance``, ``note``, ``judged_at``.
        """
        said = self.store.judgements.table()
        said = said[said["flagged"] & (said["counts_as"] == "judgement")][::-1].reset_index(drop=True)
        return said[["query_id", "doc_id", "annotator", "kind", "relevance", "note", "judged_at"]]

    def adjudications(self, annotator: str | None = None) -> pd.DataFrame:
        """The adjudications that stand, oldest first; only those by `annotator` if one is named."""
        said = self.store.judgements.table(annotator=annotator)
        return said[said["counts_as"] == adjudication.ADJUDICATION].reset_index(drop=True)
