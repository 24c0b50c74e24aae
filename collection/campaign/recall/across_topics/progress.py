"""Progress of the topics in a calibration: what is judged, what is left, and what can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.campaign.loop.active_learning import ActiveLearning
from collection.campaign.progress import calibration_record as records
from collection.campaign.progress.calibration_record import CalibrationRecord, ClosedByRule
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.recall.across_topics import state as states
from collection.campaign.recall.across_topics.state import CalibrationFacts, CalibrationState, TopicProgress
from collection.campaign.settings.loop_settings import IN_POOL, LOOPING
from collection.campaign.settings.settings import Settings
from collection.core.phrases import count, plural
from collection.stopping import Ledger
from collection.stopping.risk_control import is_complete
from collection.store import Store


@dataclass(eq=False)
class CalibrationProgress:
    """Progress of the topics in a calibration: what is judged, what is left, and what can be drawn."""

    store: Store
    settings: Settings
    loop_scope: LoopScope
    active_learning: ActiveLearning

    def topics(self) -> pd.DataFrame:
        """Return the topics by query_id, with the columns :data:`.TOPICS`."""
        table = self.store.judgements.progress().set_index("query_id")
        modes, judgeable = self.settings.modes(), int(self.loop_scope.judgeable().sum())
        table["mode"] = table.index.map(modes)
        when_open = self.settings.modes_when_open()
        table["when_open"] = table.index.map(when_open)
        table["in_pool"] = table["when_open"].isin(IN_POOL)
        everywhere = ~table["in_pool"]
        table["judged"] += table["elsewhere"].where(everywhere, 0)
        table["cannot_judge"] += table["elsewhere_cannot"].where(everywhere, 0)
        table["size"] = (table["pool"] - table["without_text"]).mask(everywhere, judgeable)
        return table[list(states.TOPICS)]

    def eligible(self, topics: pd.DataFrame) -> list[str]:
        """Return the open topics in a loop that can be judged to the end; `topics` are those of :meth:`topics`."""
        rows = self.loop_scope.loop_rows()
        judgeable = self.loop_scope.judgeable()
        drawable = []
        for query_id, mode, in_pool, size in topics[["mode", "in_pool", "size"]].itertuples():
            # A pooling strategy offers documents of the runs alone.
            if mode in LOOPING and size:
                ranked = rows[query_id]
                if len(ranked) >= size or np.isin(self._unjudged(query_id, in_pool, judgeable), ranked).all():
                    drawable.append(str(query_id))
        return drawable

    def ledgers(self, query_ids: Iterable[str]) -> list[Ledger]:
        """Return the ledgers of these topics, as a rule may read them."""
        return [topic.ledger for topic in self.active_learning.rule_judgements(list(query_ids)).values()]

    def may_close(self, record: CalibrationRecord) -> bool:
        """Tell whether the rule is calibrated and not contradicted, and all that it depends on is unchanged."""
        return (
            not record.pending
            and not states.is_contradicted(record)
            and records.is_same(record.calibrated_under, self.conditions())
            and not self.is_outdated(record)
        )

    def is_outdated(self, record: CalibrationRecord) -> bool:
        """Tell whether the calibration topics, as they are judged now, would choose a stricter rule, or contradict it.

        Cached until something changes in these topics.
        """
        if record.pending or set(record.topics).isdisjoint(self.store.judgements.topics_since(record.logged)):
            return False
        versions = self.store.judgements.topic_versions()
        logged = tuple(versions[query_id] for query_id in record.topics)
        key = record.version, self.store.judgements.versions()[0], self.conditions(), logged
        return self.store.cached("outdated rule", key, lambda: record.is_outdated(self.ledgers(record.topics)))

    def awaiting(self) -> set[str]:
        """Return the open topics that the calibrated rule is to close."""
        record, closed, modes = records.read(self.store), records.closed_by_rule(self.store), self.settings.modes()
        rule = None if record is None else record.calibration
        if record is None or rule is None or not rule.promises or not self.may_close(record):
            return set()
        return {q for q, mode in record.modes.items() if record.concerns(q) and modes[q] == mode and q not in closed}

    def find_unfinished(self, record: CalibrationRecord) -> str | None:
        """Find a calibration topic that is not judged to the end."""
        return next((query_id for query_id, left in self._count_left(record).items() if left), None)

    def _count_left(self, record: CalibrationRecord) -> dict[str, int]:
        """Count the documents that are left to judge in each calibration topic."""
        topics = self.loop_scope.topic_ledgers(record.topics)
        left = {query_id: topic.ledger.unjudged - topic.ledger.unreachable for query_id, topic in topics.items()}
        if record.depth < 1 and (open_ := [query_id for query_id, number in left.items() if number]):
            left |= {q: record.count_left(ledger) for q, ledger in zip(open_, self.ledgers(open_), strict=True)}
        return left

    def _unjudged(self, query_id: str, in_pool: bool, judgeable: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the rows of the unjudged documents of a topic that can be judged; `judgeable` is a mask of all."""
        scope = judgeable.copy()
        if in_pool:
            scope[:] = False
            pool = self.store.pool.rows(query_id)
            scope[pool] = judgeable[pool]
        scope[self.store.judgements.judged_rows(query_id)] = False
        return np.flatnonzero(scope)

    def _pace(self) -> float | None:
        """Mean seconds per judgement, over all annotators; None without timed judgements."""
        paces = self.store.judgements.annotators().dropna(subset="seconds")
        if paces.empty:
            return None
        return float(np.average(paces["seconds"].astype(float), weights=paces["judgements"]))

    def conditions(self) -> dict[str, Any]:
        """Return the present :func:`~collection.campaign.progress.calibration_record.conditions`."""
        return records.conditions(self.store, self.settings.loop(), self.settings.assignment())

    def cache_key(self) -> str:
        """Cache key of :meth:`state` and of plans, which changes with anything they read."""
        stored = self.store.settings.all()
        names = (records.KEY, records.CLOSED, "loop", "assignment", "documents_version", "features")
        runs, ungraded = self.store.corpus.runs_signature(), self.store.judgements.count_ungraded()
        return str(
            [self.store.judgements.versions(), self.settings.own_modes(), runs, ungraded, *map(stored.get, names)]
        )

    def state(self) -> CalibrationState:
        """Return the state of the calibration topics, with what limits the promise; cached."""
        return self.store.cached("calibration state", self.cache_key(), self._describe)

    def _describe(self) -> CalibrationState:
        record, closed = records.read(self.store), records.closed_by_rule(self.store)
        if record is None and not closed:
            return CalibrationState()
        topics = self.topics()
        if record is None:
            return CalibrationState(closed=states.list_closed(topics, closed))
        judgements = self.active_learning.rule_judgements(list(record.modes))
        left, blind = self._count_left(record), []
        for query_id in record.topics if record.depth < 1 else ():
            whole, start = record.cut(judgements[query_id].ledger)
            blind += [query_id] if not is_complete(whole) and whole.out_of_reach[start:].any() else []
        loop = self.settings.loop()
        rows = topics.loc[list(record.topics), ["title", "judged", "size", "mode"]].itertuples()
        facts = CalibrationFacts(
            topics,
            [
                TopicProgress(str(q), title, min(judged, size), size, left[str(q)], mode == "closed")
                for q, title, judged, size, mode in rows
            ],
            blind,
            closed,
            judgements,
            self._pace(),
            self.conditions(),
            bool(loop.budget or loop.topic_budget),
            not record.pending and not set(record.topics).isdisjoint(self.store.judgements.topics_since(record.logged)),
            self.is_outdated(record),
            self._changed_since(closed, topics["mode"]),
        )
        return states.describe(record, facts)

    def _changed_since(self, closed: Mapping[str, ClosedByRule], modes: pd.Series[str]) -> list[str]:
        """Return the topics that the rule closed, that are still closed, and that were judged again since."""
        logged = {query_id: version[0] for query_id, version in self.store.judgements.topic_versions().items()}
        return [q for q, stop in closed.items() if stop.logged and modes[q] == "closed" and logged[q] > stop.logged]


def why_so_few(topics: pd.DataFrame, available: int, needed: int) -> str:
    """Explain why fewer topics than needed can be drawn; `topics` are those of :meth:`.CalibrationProgress.topics`."""
    looping = int(topics["mode"].isin(LOOPING).sum())
    text = (
        f"expected at least {count(needed, 'open topic')} in a loop, one of them besides the calibration topics; "
        f"found {available:,}"
    )
    if not (without := looping - available):
        return f"{text}; choose a judging mode with a loop, or a lower recall"
    return (
        f"{text}, because {count(without, 'topic')} {plural(without, 'has', 'have')} no documents, or documents that "
        "the loop never offers (a pooling strategy offers only documents of the runs)"
    )
