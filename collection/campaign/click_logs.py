"""What click logs say of the documents."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from collection import clicks, clock, formats, layout
from collection.clicks import SMOOTHING, ClickEstimate
from collection.errors import CampaignError, UnknownNameError
from collection.store import Store

CLICKS_FILE = ".clicks.json"
"""What is put behind the name of a file for the file that says how it was made of clicks."""


@dataclass(eq=False)
class ClickLogs:
    """What click logs say of the documents."""

    store: Store
    directory: Path
    title: str

    def log(self, sources: Iterable[str] | None = None) -> pd.DataFrame:
        """Imported logs of clicks: ``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``.

        Parameters
        ----------
        sources
            Only these, by the names of their files.

        Raises
        ------
        UnknownNameError
            No log has such a name.
        """
        if sources is None:
            return self.store.corpus.clicks()
        known, wanted = self.sources()["source"].tolist(), list(sources)
        if unknown := [name for name in wanted if name not in known]:
            raise UnknownNameError("log of clicks", unknown[0], known)
        found = self.store.corpus.clicks()
        return found[found["source"].isin(wanted)].reset_index(drop=True)

    def sources(self) -> pd.DataFrame:
        """Which logs of clicks were imported: ``source``, ``rows`` (pairs at a rank); by name. Reads no log."""
        return self.store.corpus.click_sources()

    def estimate(self, sources: Iterable[str] | None = None, *, smoothing: float = SMOOTHING) -> ClickEstimate:
        """What clicks say of the documents; see :func:`collection.clicks.estimate`. It is nobody's judgement.

        Parameters
        ----------
        sources
            Only these logs; all together if left out. Logs of pages that are laid out differently are better
            estimated apart: one examination is estimated for each rank.
        smoothing
            Impressions that each pair is given beside its own.

        Raises
        ------
        CampaignError
            No log was imported.
        """
        counts = self.log(sources)
        if counts.empty:
            raise CampaignError("there is no log of clicks; import one with --clicks")
        return clicks.estimate(counts.drop(columns="source"), smoothing=smoothing)

    def export(
        self,
        *,
        table: Path | str | None = None,
        qrels: Path | str | None = None,
        sources: Iterable[str] | None = None,
        smoothing: float = SMOOTHING,
    ) -> tuple[dict[str, int], ClickEstimate]:
        """Write what clicks say, apart from what people judged.

        Beside each FILE stands FILE.clicks.json, which says that it is made of clicks, and how.

        Parameters
        ----------
        table
            TSV with a header: ``query_id doc_id shown clicked ctr attractiveness by``.
        qrels
            Attractiveness in TREC form, as labels with fractions: ``cleverdon evaluate`` reads them.
        sources, smoothing
            As :meth:`estimate` takes them.

        Returns
        -------
        tuple
            Path -> number of rows, and the estimate.
        """
        for file in (table, qrels):
            layout.require_output(file, self.directory)
        found = self.estimate(sources, smoothing=smoothing)
        written: dict[str, int] = {}
        if table is not None:
            formats.write_clicks(found.documents, table)
            written[str(table)] = len(found.documents)
        if qrels is not None:
            labels = clicks.labels(found)
            formats.write_qrels(labels, qrels)
            written[str(qrels)] = len(labels)
        for path in written:
            formats.write_report(self._click_report(found, sources), path, CLICKS_FILE)
        return written, found

    def _click_report(self, found: ClickEstimate, sources: Iterable[str] | None) -> dict[str, Any]:
        ranks = found.ranks.astype(object).where(found.ranks.notna(), None)
        return {
            "by": clicks.BY,
            "description": "Labels made of clicks by a position-based model; no person judged these pairs.",
            "sources": (self.sources()["source"].tolist() if sources is None else sorted(set(sources))),
            "smoothing": found.smoothing,
            "rank_examined_by_all": found.first,
            "ranks": ranks.to_dict("records"),
            "rounds": found.rounds,
            "converged": found.converged,
            "cautions": clicks.cautions(found),
            "campaign": self.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }
