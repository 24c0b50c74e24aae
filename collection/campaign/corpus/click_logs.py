"""Click logs, and the labels estimated from them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from collection import clicks, formats
from collection.campaign.settings.settings import Settings
from collection.clicks import SMOOTHING, ClickEstimate
from collection.core import clock, layout
from collection.core.errors import CampaignError, require_known
from collection.store import Store

CLICKS_FILE = ".clicks.json"
"""Suffix of the report on how a file was estimated from clicks."""


@dataclass(eq=False)
class ClickLogs:
    """Click logs, and the labels estimated from them."""

    store: Store
    directory: Path
    settings: Settings

    def log(self, sources: Iterable[str] | None = None) -> pd.DataFrame:
        """``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked`` of the imported logs, or of some.

        Raises
        ------
        UnknownNameError
            No log has such a name.
        """
        if sources is None:
            return self.store.corpus.clicks()
        known, wanted = self.store.corpus.click_sources()["source"].tolist(), list(sources)
        require_known("click log", known, *wanted)
        clicks = self.store.corpus.clicks()
        return clicks[clicks["source"].isin(wanted)].reset_index(drop=True)

    def estimate(self, sources: Iterable[str] | None = None, *, smoothing: float = SMOOTHING) -> ClickEstimate:
        """Relevance estimated from clicks; see :func:`collection.clicks.estimate`.

        Parameters
        ----------
        sources
            Names of logs; all together by default. One examination probability is estimated per rank, so logs of pages
            with another layout are better estimated apart.
        smoothing
            Impressions added to those of each pair.

        Raises
        ------
        CampaignError
            No log was imported.
        """
        counts = self.log(sources)
        if counts.empty:
            raise CampaignError("the campaign has no click log; import one with `cleverdon import DIR --clicks FILE`")
        return clicks.estimate(counts.drop(columns="source"), smoothing=smoothing)

    def export(
        self,
        *,
        table: Path | str | None = None,
        qrels: Path | str | None = None,
        sources: Iterable[str] | None = None,
        smoothing: float = SMOOTHING,
    ) -> tuple[dict[str, int], ClickEstimate]:
        """Write labels estimated from clicks, and a report FILE.clicks.json beside each FILE.

        Parameters
        ----------
        table
            TSV with a header: ``query_id doc_id shown clicked ctr attractiveness by``.
        qrels
            Attractiveness in TREC form, as labels with fractions: ``cleverdon evaluate`` reads them.

        Returns
        -------
        tuple
            Path -> number of rows, and the estimate.
        """
        for file in (table, qrels):
            layout.require_output(file, self.directory)
        estimate = self.estimate(sources, smoothing=smoothing)
        written: dict[str, int] = {}
        if table is not None:
            formats.write_clicks(estimate.documents, table)
            written[str(table)] = len(estimate.documents)
        if qrels is not None:
            labels = clicks.labels(estimate)
            formats.write_qrels(labels, qrels)
            written[str(qrels)] = len(labels)
        for path in written:
            formats.write_report(self._click_report(estimate, sources), path, CLICKS_FILE)
        return written, estimate

    def _click_report(self, estimate: ClickEstimate, sources: Iterable[str] | None) -> dict[str, object]:
        ranks = estimate.ranks.astype(object).where(estimate.ranks.notna(), None)
        return {
            "by": clicks.BY,
            "description": "Labels made of clicks by a position-based model; no person judged these pairs.",
            "sources": sorted(self.store.corpus.click_sources()["source"] if sources is None else set(sources)),
            "smoothing": estimate.smoothing,
            "rank_examined_by_all": estimate.first,
            "ranks": ranks.to_dict("records"),
            "rounds": estimate.rounds,
            "converged": estimate.converged,
            "cautions": clicks.cautions(estimate),
            "campaign": self.settings.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }
