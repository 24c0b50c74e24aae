"""Estimated recall of each topic, with the recall that is guaranteed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.topic_ledger import assess_target
from collection.campaign.progress import calibration_record
from collection.campaign.progress.progress import Progress
from collection.campaign.recall.across_topics.calibration_topics import CalibrationTopics
from collection.campaign.recall.recall_advice import (
    Advice,
    describe_cost,
    describe_notes,
    promise_and_advice,
)
from collection.campaign.settings.loop_settings import IN_POOL, LOOPING, LoopSettings
from collection.campaign.settings.settings import Settings
from collection.core.phrases import sentence
from collection.core.records import sort_naturally
from collection.stopping import (
    STOPPING_RULES,
    Ledger,
    Outlook,
    RelevantEstimate,
    StopDecision,
    advise,
    betting,
    estimate,
    predict_next,
)
from collection.store import Store, Ungraded

TABLE = {
    "query_id": "str", "title": "str", "mode": "str", "of": "str", "judged": "int64", "found": "int64",
    "without_text": "int64", "relevant": "float64", "low": "Int64", "high": "Int64", "recall": "float64",
    "recall_low": "float64", "recall_high": "float64", "stop": "bool", "advice": "str", "kind": "object",
}  # fmt: skip


class Recall(NamedTuple):
    """The recall of one topic."""

    query_id: str
    mode: str
    """How its documents are chosen."""
    judged: int
    found: int
    """Relevant documents among those judged."""
    size: int
    """Documents in scope: the pool or the collection."""
    without_text: int
    """Unjudged documents of the pool that cannot be judged because their text is missing; they count as unjudged."""
    curve: pd.DataFrame
    """The gain curve: ``judged`` (0 to n), ``found``, ``drawn`` (whether this document was drawn at random)."""
    batches: pd.DataFrame
    """The ranking's precision in windows of equally many ranked judgements, without draws: ``first``, ``last`` (numbers
    of the judgements), ``judged`` (how many of them were ranked), ``relevant``, ``precision``."""
    estimate: RelevantEstimate
    decision: StopDecision
    """The decision of the stopping rule with the guarantee."""
    promise: str
    """The guaranteed recall with its confidence, or what is missing for a guarantee; one or two sentences."""
    kind: Advice
    advice: str
    """What to do, in a few words."""
    notes: list[str]
    """Sentences on disagreement, documents that could not be judged, and draws that count only in part."""
    cost: str
    """How many judgements more recall costs at the recent precision, or why that is unknown; one sentence."""
    outlook: Outlook | None
    """The number of relevant documents among the next 100 of the ranking; None if it cannot be predicted."""
    rules: pd.DataFrame
    """The decisions of other rules: ``rule``, ``says`` ("stop", "continue", "not available"), ``promises``,
    ``reason``."""


class _Assessment(NamedTuple):
    """Recall of a topic as its judgements show it."""

    mode: str
    in_pool: bool
    """Whether the recall refers to the pool, and not to the collection."""
    ledger: Ledger
    ready: bool
    """Whether judging can stop."""
    promise: str
    kind: Advice
    advice: str


@dataclass(eq=False)
class RecallEstimates:
    """Estimated recall of each topic, with the recall that is guaranteed."""

    store: Store
    settings: Settings
    corpus: Corpus
    progress: Progress
    across_topics: CalibrationTopics

    def for_topic(self, query_id: str) -> Recall:
        """The recall of a topic; raises UnknownNameError if there is no such topic."""
        self.settings.require_topic(query_id)
        settings, topic = self.settings.loop(), self._assess([query_id])[query_id]
        ledger, known = topic.ledger, _estimate(topic.ledger, settings.confidence)
        decision = advise(ledger, settings.target, settings.confidence)
        judgements, judgeable = self.store.judgements.current_judgements(query_id), self.progress.loop_scope.judgeable()
        ungraded = self.store.judgements.count_ungraded(query_id).get(query_id, Ungraded())
        scope = self.progress.loop_scope.recall_scope(query_id, judgements, judgeable)
        return Recall(
            query_id,
            topic.mode,
            ledger.judged,
            ledger.found,
            ledger.size,
            ledger.unreachable,
            _curve(ledger),
            _batches(ledger),
            known,
            decision._replace(stop=False) if topic.kind is Advice.JUDGE_TO_THE_END else decision,
            topic.promise,
            topic.kind,
            topic.advice,
            describe_notes(judgements, scope, settings.level, ledger, ungraded),
            describe_cost(ledger, known),
            predict_next(ledger),
            _rules(ledger, settings),
        )

    def table(self) -> pd.DataFrame:
        """Every topic's recall, worst first: topics without a judgement, then by the lower bound.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``of`` ("pool" or "collection"), ``judged``, ``found``,
            ``without_text`` (as in :class:`Recall`), ``relevant`` (the most likely number), ``low``, ``high``,
            ``recall``, ``recall_low``, ``recall_high``, ``stop``, ``advice`` (in a few words), ``kind``
            (its :class:`.Advice`). All estimates are null if nothing is judged, the most likely ones until a random
            draw was relevant.
        """
        topics, confidence = self.store.corpus.topics()[["query_id", "title"]], self.settings.loop().confidence
        assessed = self._assess(topics["query_id"].tolist())
        rows = []
        for query_id, title in topics.itertuples(index=False):
            topic = assessed[query_id]
            ledger, of = topic.ledger, "pool" if topic.in_pool else "collection"
            known = _estimate(ledger, confidence)[:6] if ledger.judged else (None,) * 6
            counts = (ledger.judged, ledger.found, ledger.unreachable)
            rows.append((query_id, title, topic.mode, of, *counts, *known, topic.ready, topic.advice, topic.kind))
        table = sort_naturally(pd.DataFrame(rows, columns=list(TABLE)).astype(TABLE))
        worst = table.assign(started=table["judged"] > 0).sort_values(["started", "recall_low"], kind="stable")
        return worst[list(TABLE)].reset_index(drop=True)

    def _assess(self, query_ids: Collection[str]) -> dict[str, _Assessment]:
        """Assess these topics over one read of the log, settings and calibration."""
        settings, modes, open_modes = self.settings.loop(), self.settings.modes(), self.settings.modes_when_open()
        awaiting, closed = self.across_topics.awaiting(), calibration_record.closed_by_rule(self.store)
        record = calibration_record.read(self.store)
        drawn = () if record is None else record.topics
        finished = {
            query_id: record is not None and record.is_finished(ledger)
            for query_id, ledger in zip(drawn, self.across_topics.ledgers(drawn), strict=True)
        }
        assessed = {}
        for query_id, ledger in self.progress.loop_scope.ledgers(query_ids).items():
            mode, in_pool = modes[query_id], open_modes[query_id] in IN_POOL
            progress = assess_target(ledger, settings)
            promise, kind = promise_and_advice(
                ledger, progress.decision, settings, mode, in_pool, by_rule=query_id in awaiting
            )
            if kind is Advice.CLOSED:
                if query_id in closed:
                    promise = f"{promise} It was closed by the stopping rule: {closed[query_id].reason}."
                    kind = Advice.CLOSED_BY_RULE
            elif finished.get(query_id):
                promise, kind = f"{promise} It is a calibration topic, and it is judged to the end.", Advice.FINISHED
            elif query_id in finished:
                promise = f"{promise} It is a calibration topic, so judge it to the end anyway."
                kind = Advice.JUDGE_TO_THE_END
            ready = progress.reached and kind is not Advice.JUDGE_TO_THE_END
            advice = kind.sentence(progress.decision)
            assessed[query_id] = _Assessment(mode, in_pool, ledger, ready, promise, kind, advice)
        return assessed

    def ready_topics(self) -> dict[str, tuple[int, int]]:
        """Return the open topics in a loop that may stop, with the numbers of judged documents and of those in scope.

        A topic is read again only when something changes that concerns it. Topics that a calibrated rule closes, and
        calibration topics, are left out.
        """
        settings, modes = self.settings.loop(), self.settings.modes()
        looping = [query_id for query_id, mode in modes.items() if mode in LOOPING]
        if settings.by_system_order or not looping:
            return {}
        record = calibration_record.read(self.store)
        others = {*self.across_topics.awaiting(), *(() if record is None else record.topics)}
        ungraded, scope = self.store.judgements.count_ungraded(), self.store.judgements.versions()[0]
        versions = self.store.judgements.topic_versions()
        keys = {
            query_id: (versions[query_id], ungraded.get(query_id), settings, modes[query_id], scope)
            for query_id in looping
            if query_id not in others and versions[query_id][0]
        }
        reached = self.store.cached_each("ready", keys, self.progress.loop_scope.assess, shared=True)
        return {query_id: (one.judged, one.size) for query_id, one in reached.items() if one.may_stop}


def _curve(ledger: Ledger) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "judged": np.arange(ledger.judged + 1),
            "found": np.concatenate(([0], np.cumsum(ledger.relevant, dtype=np.int64))),
            "drawn": np.concatenate(([False], ledger.drawn)),
        }
    )


def _batches(ledger: Ledger) -> pd.DataFrame:
    """The ranking's precision in windows of 10 judgements, or larger ones to have at most about 40 windows."""
    ranked = np.flatnonzero(~ledger.drawn)
    length = next((n for n in (10, 20, 50, 100) if len(ranked) <= 40 * n), ceil(len(ranked) / 40))
    windows = [ranked[at : at + length] for at in range(0, len(ranked), length)]
    if len(windows) > 1 and 2 * len(windows[-1]) < length:
        # A few documents have no meaningful precision, so they join the window before.
        windows[-2:] = [np.concatenate(windows[-2:])]
    columns = {
        "first": [int(window[0]) + 1 for window in windows],
        "last": [int(window[-1]) + 1 for window in windows],
        "judged": [len(window) for window in windows],
        "relevant": [int(ledger.relevant[window].sum()) for window in windows],
    }
    frame = pd.DataFrame(columns, dtype="int64")
    return frame.assign(precision=frame["relevant"] / frame["judged"])


def _estimate(ledger: Ledger, confidence: float) -> RelevantEstimate:
    """The estimate, without the most likely number until a draw was relevant: it would equal the number found."""
    known = estimate(ledger, confidence)
    if ledger.unjudged and not ledger.relevant[ledger.draws].any():
        return known._replace(relevant=float("nan"), recall=float("nan"))
    return known


def _rules(ledger: Ledger, settings: LoopSettings) -> pd.DataFrame:
    """The decisions of all rules except the one that gives the advice."""
    usual: dict[str, float] = {"target": settings.target, "confidence": settings.confidence}
    if settings.topic_budget:
        usual["judgements"] = settings.topic_budget
    rows = []
    for entry in STOPPING_RULES:
        if entry.function is betting:
            continue
        if lacks := entry.lacks(ledger):
            says, reason = "not available", f"Needs {lacks}."
        else:
            parameters = {name: value for name, value in usual.items() if name in entry.parameters}
            decision = entry.function(ledger, **parameters)
            says, reason = "stop" if decision.stop else "continue", sentence(decision.reason)
        rows.append((entry.label, says, entry.traits["promises"], reason))
    return pd.DataFrame(rows, columns=["rule", "says", "promises", "reason"])
