"""Disagreements and how they end: the queue, what made a set of qrels, and one rule beside another."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from collection import adjudication, clock, comparison
from collection.adjudication import Adjudicated, Chosen, Difference
from collection.annotator_agreement import annotator_statistics as conduct
from collection.campaign.judging import Judging
from collection.campaign.rank_comparison import side_by_side
from collection.campaign.results import JudgeResult, Refused
from collection.errors import CampaignError, JudgementError
from collection.measures import Measure, as_measure
from collection.records import Judgement

RULE_FILE = ".rule.json"
"""What is put behind the name of a qrels file for the file that says which rule made it."""


class Places(NamedTuple):
    """Where the systems stand by one measure under each of two rules.

    Attributes
    ----------
    measure
        The measure.
    table
        ``run``, ``first``, ``second`` (the means), ``first_place``, ``second_place`` (1 is best, also where less is
        better; equal values share the better place); best by the first rule on top.
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
    cautions: tuple[str, ...] = ()
    """What is to be known of the rules' qrels; see :attr:`collection.adjudication.Adjudicated.caution`."""


class Adjudicating(Judging):
    """The part of a campaign in which disagreements are looked at and ended.

    An adjudication is a judgement with ``counts_as="adjudication"``. ``judge`` writes one on any pair, for scripts;
    :meth:`adjudicate` only on a pair that wants one.
    """

    def to_adjudicate(self, *, ended: bool = False) -> pd.DataFrame:
        """The pairs on which annotators differ and that no adjudication has ended: largest distance first, then topics.

        Behind them the pairs of the calibration set that have no settled grade yet, judged or not; those of which an
        adjudicator said that they cannot be judged are ended.

        Returns
        -------
        DataFrame
            The columns of :func:`collection.adjudication.queue`, ``why``: "disagreement" or "calibration", and
            ``held_back``: whether the pair is not ended and cannot be adjudicated before the text of its document is
            imported. `ended` adds the pairs of both kinds that an adjudication has ended.
        """
        queue = self._queue(ended)
        missing = self.store.held_back(queue["doc_id"].unique().tolist())
        return queue.assign(held_back=queue["doc_id"].isin(missing) & ~queue["ended"])

    def adjudication_version(self) -> tuple[Hashable, ...]:
        """What differs where :meth:`to_adjudicate` may differ, without a look at the judgements."""
        calibration = self.store.calibration()[["query_id", "doc_id"]]
        return *self.store.versions(), tuple(calibration.itertuples(index=False, name=None))

    def _queue(self, ended: bool) -> pd.DataFrame:
        said = self.store.judgements()
        pair = ["query_id", "doc_id"]
        queue = adjudication.queue(said, self.topics()["query_id"].tolist(), ended=ended).assign(why="disagreement")
        # An adjudicator who could not judge a pair has ended it too, though it has no grade.
        over = said.loc[said["counts_as"] == adjudication.ADJUDICATION, pair]
        adjudicated, known = set(over.itertuples(index=False)), set(queue[pair].itertuples(index=False))
        rows = []
        for query_id, doc_id, settled in self.store.calibration()[[*pair, "settled"]].itertuples(index=False):
            is_over = (query_id, doc_id) in adjudicated
            if (query_id, doc_id) in known or (is_over and not ended) or (not is_over and not pd.isna(settled)):
                continue
            sides = adjudication.sides(said, query_id, doc_id)
            grades = " ".join("?" if pd.isna(grade) else str(grade) for grade in sides["relevance"])
            names = tuple(sides["annotator"])
            rows.append((query_id, doc_id, 0, len(sides), grades, names, is_over, "calibration"))
        return pd.concat([queue, pd.DataFrame(rows, columns=queue.columns)], ignore_index=True) if rows else queue

    def adjudicate(self, judgements: Sequence[Judgement]) -> JudgeResult:
        """Write adjudications to the log, in their order; when this returns, those in `saved` are on disk.

        Idempotent by uuid, as :meth:`judge`.

        Parameters
        ----------
        judgements
            What adjudicators decided; each counts as an adjudication, whatever it says itself. Refused are a pair that
            somebody else has adjudicated since it was shown, so that nobody's word is replaced unseen, a pair that
            wants no adjudication: annotators agree on it, and it is not waiting in the calibration set, and a pair that
            waits for the text of its document. One's own adjudication can be revised and taken back.
        """
        saved: list[str] = []
        refused: list[Refused] = []
        with self.store.transaction():
            for judgement in judgements:
                try:
                    self._check_open(judgement)
                    self.write(judgement._replace(counts_as="adjudication"))
                    saved.append(judgement.uuid)
                except JudgementError as error:
                    refused.append(Refused(judgement.uuid, str(error)))
        return JudgeResult(saved, refused)

    def _check_open(self, judgement: Judgement) -> None:
        """Raise JudgementError if an adjudication by this person would end nothing, or replace somebody else's."""
        j = judgement
        if j.kind == "undone" or self.store.logged(j.uuid) is not None:
            return
        said = self.store.judgements(query_id=j.query_id, doc_id=j.doc_id)
        over = said[said["counts_as"] == adjudication.ADJUDICATION]
        if len(over):
            last = over.iloc[-1]
            if last["annotator"] != j.annotator:
                found = f"as {last['relevance']}" if last["kind"] == "graded" else "as one that cannot be judged"
                raise JudgementError(f"{last['annotator']} has adjudicated this pair meanwhile, {found}")
            return
        if adjudication.queue(said).empty:
            waiting = self.store.calibration().query("settled.isna()")[["query_id", "doc_id"]]
            if (j.query_id, j.doc_id) not in set(waiting.itertuples(index=False)):
                raise JudgementError("annotators do not differ on this pair")
        if self.store.held_back([j.doc_id]):
            raise JudgementError(f"the text of document {j.doc_id!r} is missing, so it cannot be judged yet")

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
        return self._report_of(self.settled(chosen))

    def _report_of(self, found: Adjudicated) -> dict[str, Any]:
        said = self.store.judgements()
        adjudicated = said["counts_as"] == adjudication.ADJUDICATION
        graded = said[~adjudicated & (said["kind"] == "graded")]
        chosen, settled = found.rule, found.grades
        by = settled["by"].value_counts()
        return {
            "rule": chosen.name,
            "parameters": chosen.parameters,
            "description": adjudication.RULES[chosen.name].description,
            **({} if found.converged is None else {"rounds": found.rounds, "converged": found.converged}),
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            "topics": int(settled["query_id"].nunique()),
            "pairs": len(settled),
            "by": {name: int(by[name]) for name in adjudication.BY if name in by.index},
            "judgements": len(graded),
            "cannot_judge": int((~adjudicated & (said["kind"] == "cannot judge")).sum()),
            "adjudications": int(adjudicated.sum()),
            "annotators": {str(a): int(n) for a, n in graded["annotator"].value_counts().sort_index().items()},
            "adjudicators": {
                str(a): int(n) for a, n in said.loc[adjudicated, "annotator"].value_counts().sort_index().items()
            },
            "campaign": self.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
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
        settled = self.settled(a), self.settled(b)
        qrels = settled[0].qrels, settled[1].qrels
        places = None
        if measure is not None and all(map(len, qrels)):
            asked = as_measure(measure)
            if not len(self.store.runs()):
                raise CampaignError("there is no run whose place could change; import some with --run")
            values = [comparison.evaluate(self.runs(), frame, [asked], strangers=True) for frame in qrels]
            means = [v.means().iloc[:, 0] for v in values]
            found = side_by_side(*means, less_is_better=asked.entry.monotone < 0)
            places = Places(str(asked), found.table, found.tau)
        cautions = tuple(filter(None, dict.fromkeys(found.caution for found in settled)))
        return RuleComparison(str(a), str(b), adjudication.compare(*qrels), places, cautions)

    def conduct(self) -> conduct.Conduct:
        """How each annotator works; see :func:`collection.annotator_agreement.annotator_statistics.look`."""
        return conduct.look(self.store.judgements(current=False), self.store.judgements())
