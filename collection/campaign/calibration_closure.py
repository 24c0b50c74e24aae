"""Topics that the calibrated rule closes."""

from __future__ import annotations

from dataclasses import dataclass

from collection import clock
from collection.campaign import calibration_record as records
from collection.campaign import calibration_state as states
from collection.campaign.calibration_progress import CalibrationProgress
from collection.campaign.calibration_record import CalibrationRecord, ClosedByRule, RuleStop
from collection.campaign.loop_settings import LOOPING
from collection.campaign.settings import Settings
from collection.store import Store


@dataclass(eq=False)
class CalibrationClosure:
    """Topics that the calibrated rule closes."""

    store: Store
    settings: Settings
    progress: CalibrationProgress

    def may_close(self, record: CalibrationRecord) -> bool:
        """Whether the rule is calibrated, not contradicted, and nothing that it depends on has changed since."""
        return (
            not record.pending
            and not states.is_contradicted(record)
            and record.calibrated_under == self.progress.conditions()
        )

    def close(self, record: CalibrationRecord, query_id: str, stop: RuleStop) -> bool:
        """Close a topic unless a manager has decided otherwise since the draw; whether it was closed."""
        closed = records.closed_by_rule(self.store)
        if query_id in closed or self.settings.mode(query_id) != record.modes[query_id]:
            return False  # reopened, closed by hand, or in another judging mode
        judged = len(self.store.judgements.judged_rows(query_id))
        now = ClosedByRule(clock.now(), judged, stop.reason, stop.after)
        records.write_closed(self.store, closed | {query_id: now})
        self.store.queue.close_topic(query_id)
        return True

    def close_stopped(self, record: CalibrationRecord) -> None:
        """Close the topics that the rule would have stopped already.

        Topics that an earlier calibration closed, and that this rule would not have stopped, are reopened.
        """
        if not self.may_close(record):
            return
        modes, closed = self.settings.modes(), records.closed_by_rule(self.store)
        by_rule = {q for q in closed if modes.get(q) == "closed"}
        others = [q for q, mode in modes.items() if (mode in LOOPING or q in by_rule) and record.concerns(q)]
        for query_id, ledger in zip(others, self.progress.ledgers(others), strict=True):
            stop = record.find_stop(query_id, ledger) if ledger.judged else None
            if stop:
                self.close(record, query_id, stop)
            elif query_id in by_rule:
                closed = records.closed_by_rule(self.store)  # which `close` may have changed
                del closed[query_id]
                records.write_closed(self.store, closed)
                self.settings.reopen_topic(query_id)
