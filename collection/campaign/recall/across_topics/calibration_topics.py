"""Recall guaranteed across topics: calibration topics are judged to the end, and choose when the others may stop.

Not to be confused with the annotators' qualification set (:mod:`collection.campaign.people.qualification_set`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.loop.active_learning import ActiveLearning, seed_of
from collection.campaign.loop.loop_round import LoopRound
from collection.campaign.progress import calibration_record as records
from collection.campaign.progress.calibration_record import CalibrationRecord, ClosedByRule, RuleStop
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.recall.across_topics import state as states
from collection.campaign.recall.across_topics.state import CalibrationFacts, CalibrationState, TopicProgress
from collection.campaign.settings.loop_settings import IN_POOL, LOOPING, LoopSettings
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.arrays import Bools, Ints
from collection.core.errors import BusyError, CampaignError, InputError
from collection.core.layout import DATABASE
from collection.core.phrases import count, join_first, plural
from collection.core.records import GradeScale
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    DEFAULT_FAMILY,
    RULE_FAMILIES,
    Calibration,
    CalibrationPlan,
    calibrate,
    describe_shortage,
    estimate_costs,
    is_complete,
    plan,
    required_topics,
)
from collection.store import SQLiteError, Store, Ungraded, copy_database

ANY = "any"
"""Family of rules: the one that costs least on the topics of the selection."""

CHECKED = 5
"""Number of topics that check the rule of another campaign, if none is given."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class CalibrationTopics:
    """Recall guaranteed across topics: the draw, the progress, the calibration, and what the rule closes."""

    store: Store
    settings: Settings
    loop_scope: LoopScope
    active_learning: ActiveLearning
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
    ) -> CalibrationPlan:
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
        topics = self._topic_table()
        eligible = self._find_eligible(topics)
        if len(eligible) < 2:
            raise CampaignError(_why_so_few(topics, len(eligible), 2))
        ours = topics.loc[eligible]
        complete = [one for one in self.ledgers(ours.index[ours["judged"] >= ours["size"]]) if is_complete(one)]
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
            title, ledgers = _read_source(Path(source))
            chosen = calibrate(ledgers, alpha, families=families, selection=selection, source=title)
            if not chosen.promises:
                raise CampaignError(f"{source}: {chosen.report[0].lower()}{chosen.report[1:]}")
        needed = required_topics(alpha)
        table = self._topic_table()
        eligible = self._find_eligible(table)
        if source is None:
            number = needed + selection if topics is None else topics
            if number - selection < needed:
                raise InputError(f"topics: {describe_shortage(alpha, number - selection)}")
        else:
            number = min(CHECKED, max(len(eligible) - 1, 0)) if topics is None else topics
        if number < 0:
            raise InputError(f"topics: expected 0 or more, found {number}")
        if number >= len(eligible):
            raise CampaignError(_why_so_few(table, len(eligible), number + 1))
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
                drawn_under=self._conditions(),
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
            ledgers = dict(zip(record.topics, self.ledgers(record.topics), strict=True))
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
        changes |= {"logged": self.store.judgements.versions()[1], "calibrated_under": self._conditions()}
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
            now = record.find_stop(query_id, self.ledgers([query_id])[0])
            if now is None:
                return False  # because of a judgement that the round has not read
            stop = now
        if record.pending:
            ended = bool(stop.reason) and self._close(record, query_id, stop)
            self._calibrate_if_due(record)
            return ended
        return self._may_close(record) and self._close(record, query_id, stop)

    def _calibrate_if_due(self, record: CalibrationRecord) -> bool:
        """Calibrate if every calibration topic is judged to the end; whether it was."""
        if self.settings.loop().by_system_order or self._find_unfinished(record) is not None:
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
        if not self._may_close(record):
            return
        modes, closed = self.settings.modes(), records.closed_by_rule(self.store)
        by_rule = {q for q in closed if modes.get(q) == "closed"}
        others = [q for q, mode in modes.items() if (mode in LOOPING or q in by_rule) and record.concerns(q)]
        for query_id, ledger in zip(others, self.ledgers(others), strict=True):
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

    def _topic_table(self) -> pd.DataFrame:
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

    def _find_eligible(self, topics: pd.DataFrame) -> list[str]:
        """Return the open topics in a loop that can be judged to the end; `topics` as from :meth:`_topic_table`."""
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

    def _may_close(self, record: CalibrationRecord) -> bool:
        """Tell whether the rule is calibrated and not contradicted, and all that it depends on is unchanged."""
        return (
            not record.pending
            and not states.is_contradicted(record)
            and records.is_same(record.calibrated_under, self._conditions())
            and not self._is_outdated(record)
        )

    def _is_outdated(self, record: CalibrationRecord) -> bool:
        """Tell whether the calibration topics, as they are judged now, would choose a stricter rule, or contradict it.

        Cached until something changes in these topics.
        """
        if record.pending or set(record.topics).isdisjoint(self.store.judgements.topics_since(record.logged)):
            return False
        versions = self.store.judgements.topic_versions()
        logged = tuple(versions[query_id] for query_id in record.topics)
        key = record.version, self.store.judgements.versions()[0], self._conditions(), logged
        return self.store.cached("outdated rule", key, lambda: record.is_outdated(self.ledgers(record.topics)))

    def awaiting(self) -> set[str]:
        """Return the open topics that the calibrated rule is to close."""
        record, closed, modes = records.read(self.store), records.closed_by_rule(self.store), self.settings.modes()
        rule = None if record is None else record.calibration
        if record is None or rule is None or not rule.promises or not self._may_close(record):
            return set()
        return {q for q, mode in record.modes.items() if record.concerns(q) and modes[q] == mode and q not in closed}

    def _find_unfinished(self, record: CalibrationRecord) -> str | None:
        """Find a calibration topic that is not judged to the end."""
        return next((query_id for query_id, left in self._count_left(record).items() if left), None)

    def _count_left(self, record: CalibrationRecord) -> dict[str, int]:
        """Count the documents that are left to judge in each calibration topic."""
        topics = self.loop_scope.topic_ledgers(record.topics)
        left = {query_id: topic.ledger.unjudged - topic.ledger.unreachable for query_id, topic in topics.items()}
        if record.depth < 1 and (open_ := [query_id for query_id, number in left.items() if number]):
            left |= {q: record.count_left(ledger) for q, ledger in zip(open_, self.ledgers(open_), strict=True)}
        return left

    def _unjudged(self, query_id: str, in_pool: bool, judgeable: Bools) -> Ints:
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

    def _conditions(self) -> dict[str, Any]:
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
        topics = self._topic_table()
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
            self._conditions(),
            bool(loop.budget or loop.topic_budget),
            not record.pending and not set(record.topics).isdisjoint(self.store.judgements.topics_since(record.logged)),
            self._is_outdated(record),
            self._changed_since(closed, topics["mode"]),
        )
        return states.describe(record, facts)

    def _changed_since(self, closed: Mapping[str, ClosedByRule], modes: pd.Series[str]) -> list[str]:
        """Return the topics that the rule closed, that are still closed, and that were judged again since."""
        logged = {query_id: version[0] for query_id, version in self.store.judgements.topic_versions().items()}
        return [q for q, stop in closed.items() if stop.logged and modes[q] == "closed" and logged[q] > stop.logged]


def _read_source(directory: Path) -> tuple[str, list[Ledger]]:
    """Return the title of another campaign, and the ledgers of its completely judged topics, in random order.

    It is read from a copy, so nothing in the directory changes. Only topics judged in a loop count.

    Raises
    ------
    CampaignError
        There is no campaign, or no topic in a loop is judged completely.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / DATABASE
        copy_database(directory / DATABASE, copy)
        with Store(copy) as store:
            stored = store.settings.all()
            if "grades" not in stored:
                raise CampaignError(f"{directory}: expected a campaign, found another database")
            grades = GradeScale({int(g): s for g, s in stored["grades"].items()})
            settings = Settings(store, stored["id"], stored["title"], grades)
            scope = LoopScope(store, settings, Corpus(store, Path(folder), settings))
            looping = {query_id: mode for query_id, mode in settings.modes_when_open().items() if mode in LOOPING}
            conditions = records.number_orders(store, records.describe_orders(store, settings.loop(), looping))
            ledgers = [
                topic.for_rule(conditions[query_id], Ungraded(), 0).ledger
                for query_id, topic in scope.topic_ledgers(looping).items()
            ]
    complete = [ledger for ledger in ledgers if is_complete(ledger)]
    if not complete:
        raise CampaignError(
            f"{directory}: expected topics that are judged completely in a loop, which calibrate the rule, found none"
        )
    order = np.random.default_rng(seed_of(stored["id"], "calibration topics", len(complete))).permutation(len(complete))
    return str(stored["title"]), [complete[at] for at in order]


def _why_so_few(topics: pd.DataFrame, available: int, needed: int) -> str:
    """Explain why fewer topics than needed can be drawn; `topics` as from :meth:`.CalibrationTopics._topic_table`."""
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


def _require_recall(loop: LoopSettings) -> None:
    if loop.by_system_order:
        raise CampaignError("decisive pairs do not aim at recall; choose another document selection on Loop first")
