"""Disagreements and how they end: the queue, what made a set of qrels, and one rule beside another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection import adjudication, comparison, conduct, formats
from collection.adjudication import Chosen, Difference
from collection.campaign.settling import Settling
from collection.errors import CampaignError
from collection.measures import Measure, parse
from collection.store.connection import now

RULE_FILE = ".rule.json"
"""What is put behind the name of a qrels file for the file that says which rule made it."""

DIGITS = 12
"""Values that agree in so many decimals share a place: a sum in another order moves no system."""


class Places(NamedTuple):
    """Where the systems stand by one measure under each of two rules.

    Attributes
    ----------
    measure
        The measure.
    table
        ``run``, ``first``, ``second`` (the means), ``first_place``, ``second_place`` (1 is best; equal values share the
        better place); best by the first rule on top.
    tau
        Kendall's tau-b between the two orders; nan with fewer than two runs, or where all values are equal.
    """

    measure: str
    table: pd.DataFrame
    tau: float

    @property
    def moved(self) -> list[str]:
        """Runs that have another place by the second rule than by the first."""
        other = self.table["first_place"] != self.table["second_place"]
        return self.table.loc[other, "run"].tolist()


class RuleComparison(NamedTuple):
    """Two rules on one campaign's judgements: the grades that differ, and the systems that change place."""

    first: str
    second: str
    grades: Difference
    places: Places | None
    """None where no measure was asked for, or one of the two settles no pair."""


class Adjudicating(Settling):
    """The part of a campaign in which disagreements are looked at and ended.

    An adjudication is a judgement with ``counts_as="adjudication"``, written by ``judge`` like any other.
    """

    def to_adjudicate(self, *, ended: bool = False) -> pd.DataFrame:
        """The pairs on which annotators differ and that no adjudication has ended: largest distance first, then topics.

        Behind them the pairs of the calibration set that have no settled grade yet, judged or not.

        Returns
        -------
        DataFrame
            The columns of :func:`collection.adjudication.queue`, and ``why``: "disagreement" or "calibration". `ended`
            adds the disagreements that are ended.
        """
        said = self.store.judgements()
        pair = ["query_id", "doc_id"]
        queue = adjudication.queue(said, self.topics()["query_id"].tolist(), ended=ended).assign(why="disagreement")
        unsettled = self.store.calibration().query("settled.isna()")[pair]
        known = pd.MultiIndex.from_frame(queue[pair])
        unsettled = unsettled[~pd.MultiIndex.from_frame(unsettled).isin(known)] if len(unsettled) else unsettled
        if unsettled.empty:
            return queue
        rows = []
        for query_id, doc_id in unsettled.itertuples(index=False):
            sides = adjudication.sides(said, query_id, doc_id)
            grades = " ".join("?" if pd.isna(grade) else str(grade) for grade in sides["relevance"])
            names = tuple(sides["annotator"])
            rows.append((query_id, doc_id, 0, len(sides), grades, names, False, "calibration"))
        return pd.concat([queue, pd.DataFrame(rows, columns=queue.columns)], ignore_index=True)

    def sides(self, query_id: str, doc_id: str) -> pd.DataFrame:
        """What each annotator said of a pair, lowest grade first; see :func:`collection.adjudication.sides`."""
        return adjudication.sides(self.store.judgements(query_id=query_id), query_id, doc_id)

    def adjudications(self, annotator: str | None = None) -> pd.DataFrame:
        """The adjudications that stand, oldest first; only those by `annotator` if one is named."""
        said = self.store.judgements(annotator=annotator)
        return said[said["counts_as"] == adjudication.ADJUDICATION].reset_index(drop=True)

    def rule_report(self, rule: str | Chosen | None = None, **parameters: Any) -> dict[str, Any]:
        """What made the qrels, as plain data: what ``export`` writes beside them. All of it but ``made_at`` is theirs.

        Parameters
        ----------
        rule, **parameters
            As for :meth:`qrels`.
        """
        chosen = adjudication.parse(rule, **parameters)
        return self._report_of(chosen, self.settled(chosen))

    def _export_qrels(self, path: Path | str, rule: str | Chosen | None) -> pd.DataFrame:
        """Write qrels, and beside them what made them: the TREC form has no place for it, not even for a comment."""
        chosen = adjudication.parse(rule)
        settled = self.settled(chosen)
        report = self._report_of(chosen, settled)
        formats.write_qrels(settled, path)
        if Path(path).is_file():  # nothing stands beside a pipe
            formats.write_lines([json.dumps(report, indent=2, ensure_ascii=False)], f"{path}{RULE_FILE}")
        return settled

    def _report_of(self, chosen: Chosen, settled: pd.DataFrame) -> dict[str, Any]:
        said = self.store.judgements()
        adjudicated = said["counts_as"] == adjudication.ADJUDICATION
        graded = said[~adjudicated & (said["kind"] == "graded")]
        by = settled["by"].value_counts()
        return {
            "rule": chosen.name,
            "parameters": chosen.parameters,
            "description": adjudication.RULES[chosen.name].description,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            "topics": int(settled["query_id"].nunique()),
            "pairs": len(settled),
            "by": {name: int(by[name]) for name in adjudication.BY if name in by.index},
            "judgements": len(graded),
            "cannot_judge": int((~adjudicated & (said["kind"] == "cannot judge")).sum()),
            "adjudications": int(adjudicated.sum()),
            "annotators": {str(a): int(n) for a, n in graded["annotator"].value_counts().sort_index().items()},
            "made_at": now(),
        }

    def compare_rules(
        self, first: str | Chosen | None, second: str | Chosen, measure: Measure | str | None = None
    ) -> RuleComparison:
        """How many grades differ between two rules, and whether any system changes place.

        Parameters
        ----------
        first, second
            As :meth:`qrels` takes them; the first is the default rule where it is None.
        measure
            By which the imported runs are put in order; none if left out, and where there are no runs. The runs are
            evaluated on all topics that have a grade by the rule.
        """
        a, b = adjudication.parse(first), adjudication.parse(second)
        qrels = self.qrels(a), self.qrels(b)
        places = None
        if measure is not None and all(map(len, qrels)):
            asked = parse(measure) if isinstance(measure, str) else measure
            if not len(self.store.runs()):
                raise CampaignError("there is no run whose place could change; import some with --run")
            values = [comparison.evaluate(self.runs(), frame, [asked], strangers=True) for frame in qrels]
            places = _places(asked, [v.means().iloc[:, 0] for v in values])
        return RuleComparison(str(a), str(b), adjudication.compare(*qrels), places)

    def conduct(self) -> conduct.Conduct:
        """How each annotator works: pace, habits, agreement with the others; see :func:`collection.conduct.look`."""
        return conduct.look(self.store.judgements(current=False), self.store.judgements())


def _places(measure: Measure, means: Sequence[pd.Series[Any]]) -> Places:
    """Both leaderboards side by side."""
    from scipy.stats import kendalltau

    first, second = (m.round(DIGITS) for m in means)
    second = second.reindex(first.index)
    less_is_better = measure.entry.monotone < 0
    table = pd.DataFrame(
        {
            "run": first.index.astype(str),
            "first": means[0].to_numpy(),
            "second": means[1].reindex(first.index).to_numpy(),
            "first_place": first.rank(method="min", ascending=less_is_better).astype(int).to_numpy(),
            "second_place": second.rank(method="min", ascending=less_is_better).astype(int).to_numpy(),
        }
    )
    varied = len(table) > 1 and first.nunique() > 1 and second.nunique() > 1
    tau = float(kendalltau(first.to_numpy(), second.to_numpy()).statistic) if varied else np.nan
    return Places(str(measure), table.sort_values("first_place", kind="stable").reset_index(drop=True), tau)
