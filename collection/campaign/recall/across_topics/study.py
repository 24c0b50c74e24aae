"""Recall guaranteed across topics: calibration topics are judged to the end, and choose when the others may stop.

Not to be confused with the annotators' qualification set (:mod:`collection.campaign.people.qualification_set`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from collection.campaign.loop.active_learning import ActiveLearning, seed_of
from collection.campaign.loop.loop_round import LoopRound
from collection.campaign.progress import calibration_record as records
from collection.campaign.progress.calibration_record import CalibrationRecord, ClosedByRule, RuleStop
from collection.campaign.recall.across_topics import state as states
from collection.campaign.recall.across_topics.progress import CalibrationProgress, why_so_few
from collection.campaign.recall.across_topics.source import read_source
from collection.campaign.settings.loop_settings import LOOPING, LoopSettings
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.errors import BusyError, CampaignError, InputError
from collection.core.phrases import count, join_first, plural
from collection.stopping.risk_control import (
    DEFAULT_FAMILY,
    RULE_FAMILIES,
    Calibration,
    Plan,
    calibrate,
    describe_shortage,
    estimate_costs,
    is_complete,
    plan,
    required_topics,
)
from collection.store import SQLiteError, Store

ANY = "any"
"""Family of rules: the one that costs least on the topics of the selection."""

CHECKED = 5
"""Number of topics that check the rule of another campaign, if none is given."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class CalibrationTopics:
    """Recall guaranteed across topics: the draw, the calibration, and what the rule closes."""

    store: Store
    settings: Settings
    active_learning: ActiveLearning
    progress: CalibrationProgress
    _failed: str = field(default="", init=False)
    """Version of the record with which a calibration failed."""

    def plan(
        self,
        alpha: float = 0.1,
        *,
        family: str = DEFAULT_FAMILY,
        selection: int = 0,
        depth: float = 1.0,
        sample: float = 0.0,
        candidates: Sequence[int] = (),
    ) -> Plan:
        """Plan what numbers of calibration topics (`candidates`, including the selection) promise and cost in all.

        The costs of the other topics come from the topics that are judged completely; without any, they are a range.
        For :data:`ANY` family, the costs are those of the default. The other parameters are those of :meth:`start`.

        Raises
        ------
        CampaignError
            Fewer than 2 topics can be drawn, or the loop does not aim at recall.
        InputError
            An impossible alpha or candidate.
        """
        _require_recall(self.settings.loop())
        family = DEFAULT_FAMILY if family == ANY else family
        topics = self.progress.topics()
        eligible = self.progress.eligible(topics)
        if len(eligible) < 2:
            raise CampaignError(why_so_few(topics, len(eligible), 2))
        ours = topics.loc[eligible]
        complete = [
            one for one in self.progress.ledgers(ours.index[ours["judged"] >= ours["size"]]) if is_complete(one)
        ]
        documents, in_pool = round(ours["size"].mean()), bool(ours["in_pool"].any())
        judged = round(documents * (depth + (1 - depth) * sample))
        costs, basis = estimate_costs(complete, documents, alpha, family, in_pool=in_pool)
        return plan(
            len(eligible),
            documents,
            alpha,
            costs,
            candidates=candidates,
            selection=selection,
            basis=basis,
            calibration_documents=judged,
        )

    def start(
        self,
        alpha: float = 0.1,
        *,
        topics: int | None = None,
        family: str = DEFAULT_FAMILY,
        selection: int = 0,
        depth: float = 1.0,
        sample: float = 0.0,
        source: Path | str | None = None,
    ) -> CalibrationRecord:
        """Draw calibration topics at random among the open topics in a loop.

        Parameters
        ----------
        alpha
            Largest expected 1 - recall of another topic.
        topics
            Number of calibration topics, including the selection; the smallest possible if left out. With a source, the
            number of topics that check its rule; :data:`CHECKED` if left out.
        family
            Name in :data:`~collection.stopping.risk_control.RULE_FAMILIES`, or :data:`ANY`.
        selection
            Number of calibration topics that choose the family and do not count towards the promise.
        depth, sample
            Share of a calibration topic's documents to judge in the order of the loop, and share of the rest to draw at
            random behind it. By default calibration topics are judged completely.
        source
            Directory of another campaign, whose completely judged topics calibrate the rule. It is not changed.

        Raises
        ------
        CampaignError
            Calibration topics are drawn already, there are too few open topics in a loop, or the source has too few.
        InputError, UnknownNameError
            A number that cannot satisfy alpha, or an unknown family.
        """
        loop = self.settings.loop()
        _require_recall(loop)
        families = tuple(entry.name for entry in RULE_FAMILIES) if family == ANY else (RULE_FAMILIES[family].name,)
        if len(families) > 1 and not selection:
            raise InputError("selection: expected 1 or more topics that choose the family of rules, found 0")
        if not 0 < depth <= 1 or not 0 <= sample <= 1 or (depth < 1) != (sample > 0):
            raise InputError(
                "depth and sample: expected shares above 0 and up to 1, or a depth of 1 without a sample, "
                f"found {depth:g} and {sample:g}"
            )
        if selection < 0:
            raise InputError(f"selection: expected 0 or more topics, found {selection}")
        chosen, title = None, ""
        if source is not None:
            title, ledgers = read_source(Path(source))
            chosen = calibrate(ledgers, alpha, families=families, selection=selection, source=title)
            if not chosen.promises:
                raise CampaignError(f"{source}: {chosen.report[0].lower()}{chosen.report[1:]}")
        needed = required_topics(alpha)
        table = self.progress.topics()
        eligible = self.progress.eligible(table)
        if source is None:
            number = needed + selection if topics is None else topics
            if number - selection < needed:
                raise InputError(f"topics: {describe_shortage(alpha, number - selection)}")
        else:
            number = min(CHECKED, max(len(eligible) - 1, 0)) if topics is None else topics
        if number < 0:
            raise InputError(f"topics: expected 0 or more, found {number}")
        if number >= len(eligible):
            raise CampaignError(why_so_few(table, len(eligible), number + 1))
        with self.store.transaction():
            if (before := records.read(self.store)) is not None:
                raise CampaignError(f"calibration topics were drawn on {before.drawn_at[:10]}; end them first")
            draw = records.count_draws(self.store) + 1
            order = np.random.default_rng(seed_of(self.settings.campaign_id, "calibration topics", draw)).permutation(
                eligible
            )
            record = CalibrationRecord(
                draw=draw,
                drawn_at=clock.now(),
                alpha=alpha,
                families=families,
                selection=selection,
                depth=depth if source is None else 1.0,
                sample=sample if source is None else 0.0,
                topics=tuple(map(str, order[:number])),
                modes={query_id: str(table.loc[query_id, "mode"]) for query_id in eligible},
                topics_then=len(table),
                drawn_under=self.progress.conditions(),
                source=title,
            )
            if chosen is not None:
                record = self._calibrated(record, chosen=records.plain(chosen), check=None if number else ())
            records.write(self.store, record)
            self._close_stopped(record)
        return record

    def stop(self) -> None:
        """End the calibration: the rule closes no more topics, and those it has closed stay closed."""
        records.write(self.store, None)

    def calibrate(self) -> Calibration:
        """Calibrate the rule, or check that of a source, and close every topic that it would have stopped already.

        Raises
        ------
        CampaignError
            No calibration topics are drawn, some of them are not judged to the end, or the loop does not aim at recall.
        """
        _require_recall(self.settings.loop())
        with self.store.transaction():
            record = records.read(self.store)
            if record is None:
                raise CampaignError("no calibration topics are drawn yet")
            ledgers = dict(zip(record.topics, self.progress.ledgers(record.topics), strict=True))
            if left := [query_id for query_id, ledger in ledgers.items() if not record.is_finished(ledger)]:
                raise CampaignError(
                    f"{len(left):,} of {count(len(ledgers), 'calibration topic')} {plural(len(left), 'is', 'are')} not "
                    f"judged to the end: {join_first(left, states.NAMED)}"
                )
            known = list(ledgers.values())
            chosen = record.calibration if record.source else None
            if chosen is not None:
                record = self._calibrated(record, check=record.measure_check(known))
            else:
                chosen = record.calibrate(known)
                record = self._calibrated(record, chosen=records.plain(chosen))
            records.write(self.store, record)
            for query_id, ledger in ledgers.items():
                if not is_complete(ledger):
                    self._close(record, query_id, RuleStop(record.version, records.SAMPLED))
            self._close_stopped(record)
        return chosen

    def _calibrated(self, record: CalibrationRecord, **changes: object) -> CalibrationRecord:
        changes |= {"logged": self.store.judgements.versions()[1], "calibrated_under": self.progress.conditions()}
        return replace(record, calibrated_at=clock.now(), **changes)  # type: ignore[arg-type]

    def pending(self) -> Collection[str]:
        """Return the calibration topics that still have to be judged to the end; empty after the calibration."""
        return records.pending_topics(self.store)

    def put_first(self, query_ids: Sequence[str]) -> list[str]:
        """Return the topics with those first that are to be judged to the end now; calibrate if none of them is left.

        A failure is logged and never keeps anybody from judging.
        """
        record = records.read(self.store)
        if record is None or not record.pending:
            return list(query_ids)
        self._guarded(record.version, lambda: self._calibrate_if_due(record))
        return sorted(query_ids, key=lambda query_id: query_id not in record.topics)

    def settle(self, loop_round: LoopRound) -> bool:
        """Close the topic of a round that its rule ends, or calibrate if it was the last one; whether it is closed.

        A failure is logged and never keeps anybody from judging.
        """
        stop = loop_round.stop
        return stop is not None and self._guarded(stop.version, lambda: self._settle(loop_round, stop))

    def _guarded(self, version: str, act: Callable[[], bool]) -> bool:
        """Act, unless this failed before with the same version of the record; a failure leaves nothing half written.

        Errors of SQLite are raised: it may have rolled the transaction back, with the judgements in it.
        """
        if version == self._failed:
            return False
        try:
            with self.store.savepoint():
                return act()
        except BusyError:
            return False  # tried again with the next judgement
        except SQLiteError:
            raise
        except Exception:
            self._failed = version
            log.exception("the calibration of the stopping rule failed")
            return False

    def _settle(self, loop_round: LoopRound, stop: RuleStop) -> bool:
        query_id, record = loop_round.query_id, records.read(self.store)
        if record is None or record.version != stop.version:
            return False
        if self.store.judgements.count_entries(query_id) > loop_round.model_round:
            now = record.find_stop(query_id, self.progress.ledgers([query_id])[0])
            if now is None:
                return False  # because of a judgement that the round has not read
            stop = now
        if record.pending:
            ended = bool(stop.reason) and self._close(record, query_id, stop)
            self._calibrate_if_due(record)
            return ended
        return self.progress.may_close(record) and self._close(record, query_id, stop)

    def _calibrate_if_due(self, record: CalibrationRecord) -> bool:
        """Calibrate if every calibration topic is judged to the end; whether it was."""
        if self.settings.loop().by_system_order or self.progress.find_unfinished(record) is not None:
            return False
        self.calibrate()
        return True

    def _close(self, record: CalibrationRecord, query_id: str, stop: RuleStop) -> bool:
        """Close a topic unless a manager has changed its mode since the draw; return whether it was closed."""
        closed = records.closed_by_rule(self.store)
        if query_id in closed or self.settings.mode(query_id) != record.modes[query_id]:
            return False  # reopened, closed by hand, or in another judging mode
        judged = len(self.store.judgements.judged_rows(query_id))
        now = ClosedByRule(clock.now(), judged, stop.reason, stop.after, self.store.judgements.count_entries(query_id))
        records.write_closed(self.store, closed | {query_id: now})
        self.store.queue.close_topic(query_id)
        return True

    def _close_stopped(self, record: CalibrationRecord) -> None:
        """Close the topics that have passed the stopping point of the rule.

        Topics that an earlier calibration closed, and that this rule would not have stopped, are reopened.
        """
        if not self.progress.may_close(record):
            return
        modes, closed = self.settings.modes(), records.closed_by_rule(self.store)
        by_rule = {q for q in closed if modes.get(q) == "closed"}
        others = [q for q, mode in modes.items() if (mode in LOOPING or q in by_rule) and record.concerns(q)]
        for query_id, ledger in zip(others, self.progress.ledgers(others), strict=True):
            stop = record.find_stop(query_id, ledger) if ledger.judged else None
            closed = records.closed_by_rule(self.store)  # which `_close` may have changed
            if stop and query_id in by_rule:
                logged = self.store.judgements.count_entries(query_id)
                records.write_closed(self.store, closed | {query_id: closed[query_id]._replace(logged=logged)})
            elif stop:
                self._close(record, query_id, stop)
            elif query_id in by_rule:
                del closed[query_id]
                records.write_closed(self.store, closed)
                self.settings.reopen_topic(query_id)


def _require_recall(loop: LoopSettings) -> None:
    if loop.by_system_order:
        raise CampaignError("decisive pairs do not aim at recall; choose another document selection on Loop first")
