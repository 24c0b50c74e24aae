"""Record of a campaign's calibration topics: the draw, the rule that they chose, and the topics it closed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from collection.assignment import AssignmentSettings
from collection.campaign.corpus.features import feature_options
from collection.campaign.progress import leading_labels
from collection.campaign.settings.loop_settings import LoopSettings
from collection.core.phrases import count, join_first, plural
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    EVERYTHING,
    RULE_FAMILIES,
    Calibration,
    calibrate,
    check_transfer,
    is_complete,
    measure_losses,
)
from collection.store import Store

KEY, CLOSED = "calibration_topics", "closed_by_rule"
"""Settings of the store."""

SAMPLED = "the random sample of this calibration topic is judged"
"""Reason to close a calibration topic that is not judged completely."""

ORDERING = {
    "by": "document selection", "level": "minimum relevant grade", "learner": "learner", "grades": "use of grades",
    "presumed": "presumed irrelevant documents", "evidence": "use of runs", "labels": "leading label set",
    "run": "random documents",
    "control": "share of random documents",
}  # fmt: skip
"""Fields of :class:`LoopSettings` that change the order of the documents or their relevance -> names."""


OVERLAP = ("annotators", "which", "share", "number")
"""Fields of :class:`.AssignmentSettings` that decide how many annotators judge a pair."""


class RuleStop(NamedTuple):
    """State why a round ends a topic: a calibration topic is judged to the end, or the rule stops another one."""

    version: str
    """Version of the record that decided so."""
    reason: str
    """Why the topic is to be closed; empty for a calibration topic that is judged completely."""
    after: int = 0
    """Judgements after which the rule stops; 0 for a calibration topic."""


class ClosedByRule(NamedTuple):
    """A topic that the stopping rule closed."""

    at: str
    judged: int
    reason: str
    after: int = 0
    """Judgements after which the rule stopped; 0 for a calibration topic."""
    logged: int = 0
    """Entries in the log of the topic when it was closed; 0: unknown."""


@dataclass(frozen=True)
class CalibrationRecord:
    """The draw of calibration topics, and the rule that they chose."""

    draw: int
    """Number of the draw; a second draw is 2."""
    drawn_at: str
    alpha: float
    families: tuple[str, ...]
    selection: int
    depth: float
    """Share of the documents of a calibration topic that is judged in the order of the loop; 1: all."""
    sample: float
    """Share of the rest that is drawn at random, behind the depth."""
    topics: tuple[str, ...]
    """Calibration topics in random order. If the rule comes from another campaign, they only check it."""
    modes: dict[str, str]
    """The topics from which they were drawn -> their judging modes."""
    topics_then: int
    """Number of topics of the campaign at the draw."""
    drawn_under: dict[str, Any]
    """The :func:`conditions` of the draw."""
    source: str = ""
    """Title of the campaign on whose topics the rule was calibrated; empty: on the topics of this one."""
    calibrated_at: str = ""
    logged: int = 0
    """Number of the last log entry that the calibration, or the check, has read."""
    calibrated_under: dict[str, Any] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    """Fields of the :class:`Calibration`, None where not finite."""
    check: tuple[float, ...] | None = None
    """Losses of the topics that check the rule of a source; None until they are judged."""

    @property
    def calibration(self) -> Calibration | None:
        """The chosen setting, or None before the calibration."""
        if not self.chosen:
            return None
        setting = EVERYTHING if self.chosen["setting"] is None else self.chosen["setting"]
        numbers = {name: nan if self.chosen[name] is None else self.chosen[name] for name in ("mean_loss", "cost")}
        return Calibration(**{**self.chosen, "setting": setting, **numbers})

    @property
    def pending(self) -> bool:
        """Return whether the calibration topics are still to be judged, or their result to be read."""
        return not self.chosen or (bool(self.source) and self.check is None)

    @property
    def version(self) -> str:
        """A text that changes with the draw and with each calibration."""
        return f"{self.draw}:{self.calibrated_at}:{self.pending}"

    def count_left(self, ledger: Ledger) -> int:
        """Count the judgements until a calibration topic is judged completely, or to the end of its random sample."""
        complete = ledger.unjudged - ledger.unreachable
        if self.depth == 1:
            return complete
        _, start, size = self._plan_sample(ledger)
        return min(max(start + size - ledger.judged, 0), complete)

    def is_finished(self, ledger: Ledger) -> bool:
        """Tell whether a calibration topic is judged completely, or to the end of its random sample."""
        return self.count_left(ledger) == 0

    def draws_alone(self, query_id: str, ledger: Ledger) -> bool:
        """Tell whether the next documents of a topic are its random sample."""
        if not self.pending or query_id not in self.topics or self.depth == 1:
            return False
        return ledger.judged >= self._plan_sample(ledger)[0] and not self.is_finished(ledger)

    def cut(self, ledger: Ledger) -> tuple[Ledger, int | None]:
        """Cut a finished topic after its random sample, whose size was fixed, and return the depth; None: no depth.

        The rule never reads further than the depth, also in a complete topic: what follows is in random order there.
        """
        if self.depth == 1:
            return ledger, None
        depth, start, size = self._plan_sample(ledger)
        if is_complete(ledger):
            return ledger, min(depth, ledger.judged)
        return ledger.prefix(min(start + size, ledger.judged)), start

    def calibrate(self, ledgers: Sequence[Ledger]) -> Calibration:
        """Calibrate the rule on the calibration topics, in their order."""
        cut = [self.cut(ledger) for ledger in ledgers]
        return calibrate(
            [ledger for ledger, _ in cut],
            self.alpha,
            families=self.families,
            selection=self.selection,
            depths=[depth for _, depth in cut],
        )

    def is_outdated(self, ledgers: Sequence[Ledger]) -> bool:
        """Tell whether the calibration topics, as judged now, ask for a stricter rule, or contradict a source's."""
        rule = self.calibration
        assert rule is not None
        if self.source:
            return bool(self.topics) and contradicts(self.measure_check(ledgers), self.alpha)
        now = self.calibrate(ledgers)
        return not now.promises or now.family != rule.family or now.setting > rule.setting

    def measure_check(self, ledgers: Sequence[Ledger]) -> tuple[float, ...]:
        """Measure the losses of the topics that check the rule of a source."""
        rule = self.calibration
        assert rule is not None
        measured = measure_losses(ledgers, rule.family)
        place = int(np.flatnonzero(RULE_FAMILIES[rule.family].settings == rule.setting)[0])
        return tuple(measured.losses[:, place].tolist())

    def _plan_sample(self, ledger: Ledger) -> tuple[int, int, int]:
        """Judgements before draws are asked for, judgements before the sample, and the size of the sample.

        Ranked documents that annotators held at the depth are judged behind it, and move the start of the sample.
        """
        documents = ledger.rankable
        depth = ceil(self.depth * documents)
        ranked = np.flatnonzero(~ledger.drawn)
        start = max(depth, int(ranked[-1]) + 1 if len(ranked) else 0)
        return depth, start, ceil(self.sample * (documents - depth))

    def concerns(self, query_id: str) -> bool:
        """Tell whether a round of a topic may end it."""
        return query_id in self.topics if self.pending else query_id in self.modes and query_id not in self.topics

    def find_stop(self, query_id: str, ledger: Ledger) -> RuleStop | None:
        """Decide whether the judgements of a topic end it."""
        if not self.concerns(query_id):
            return None
        if self.pending:
            return RuleStop(self.version, "" if is_complete(ledger) else SAMPLED) if self.is_finished(ledger) else None
        calibration = self.calibration
        if calibration is None or not calibration.promises or is_complete(ledger) or ledger.withheld:
            return None
        decision = calibration.decide(ledger)
        after = calibration.find_stop(ledger)
        return RuleStop(self.version, decision.reason, after) if decision.stop else None


def conditions(store: Store, loop: LoopSettings, overlap: AssignmentSettings) -> dict[str, Any]:
    """Return what the promise depends on: settings of the loop, pool, documents, runs, features, overlap.

    The features are None where no model reads them. The overlap decides how many annotators' grades make one.
    """
    (_, pool_round, _, documents, *_), _ = store.judgements.versions()
    return _ordering(store, loop) | {
        "pool": pool_round,
        "documents": documents,
        "runs": _digest_runs(store),
        "overlap": {name: value for name, value in asdict(overlap).items() if name in OVERLAP} | _plain_topics(overlap),
    }


def _ordering(store: Store, loop: LoopSettings) -> dict[str, Any]:
    """Return the :func:`conditions` that decide the order of documents in every topic."""
    blocks, bigrams = feature_options(store)
    # A label set that is renamed stays the same. Without one, the conditions are those of earlier versions.
    leading = leading_labels.find(store, loop)
    labels = {} if leading is None else {"labels": leading.key}
    return {
        "loop": {n: value for n, value in asdict(loop).items() if n in ORDERING and n != "labels"} | labels,
        "features": [sorted(blocks), bigrams] if loop.by_model else None,
    }


def _digest_runs(store: Store) -> str:
    return hashlib.blake2b(store.corpus.runs_signature().encode(), digest_size=8).hexdigest()


def _plain_topics(overlap: AssignmentSettings) -> dict[str, Any]:
    """Return the topics of an overlap as JSON has them; only an overlap of topics reads them."""
    return {"topics": list(overlap.topics) if overlap.which == "topics" else []}


def contradicts(losses: Sequence[float], alpha: float) -> bool:
    """Tell whether the losses of topics contradict the rule of a source."""
    return check_transfer(np.array(losses), alpha).verdict == "contradicted"


def describe_orders(
    store: Store, loop: LoopSettings, modes: Mapping[str, str], without: Collection[str] = ()
) -> dict[str, str]:
    """Write as JSON what decides the order of each topic's documents, given the topics' judging modes.

    The loop stores it with every document that it hands out. Of the runs, it names only the rankings of the topic,
    unless the comparison of systems orders the documents: it reads all topics. Of the label set that leads, it names
    the labels of all topics, since their trust depends on all of them; a topic without labels is ordered as if no set
    led. `without` are runs to leave out.
    """
    same, rankings = _ordering(store, replace(loop, labels="")), store.corpus.digest_rankings(modes, without)
    if loop.by_system_order:
        rankings = dict.fromkeys(modes, _digest_runs(store))
    orders = {q: same | {"mode": mode, "runs": rankings[q]} for q, mode in modes.items()}
    if leading := leading_labels.find(store, loop):
        labels = leading_labels.digest(store, leading)
        for query_id, order in orders.items():
            if leading_labels.labels(store, leading, query_id):
                order["loop"] = order["loop"] | {"labels": leading.key}
                order["labels"] = labels
    return {query_id: json.dumps(order, sort_keys=True) for query_id, order in orders.items()}


def promised_orders(
    store: Store, loop: LoopSettings, modes: Mapping[str, str], without: Collection[str] = ()
) -> dict[str, str]:
    """Return :func:`describe_orders` of the topics of the draw; empty without one. `modes` are those of all topics."""
    record = read(store)
    drawn = {} if record is None else {q: mode for q, mode in modes.items() if q in record.modes}
    return describe_orders(store, loop, drawn, without)


def warn_of_new_order(store: Store, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Name the topics of the draw in which a rule reads judgements no longer, because of the runs; empty for none.

    `before` and `after` are those of :func:`promised_orders` with the runs as they were, and as they are to be.
    """
    changed = {query_id: order for query_id, order in before.items() if after[query_id] != order}
    judged, record = store.judgements.count_ordered(number_orders(store, changed)), read(store)
    if record is None or not judged:
        return ""
    drawn = [query_id for query_id in judged if query_id in record.topics]
    among = f" (calibration {plural(len(drawn), 'topic')}: {join_first(drawn)})" if drawn else ""
    number = sum(judged.values())
    return (
        f"With this change of the runs, the loop orders the documents of {plural(len(judged), 'topic')} "
        f"{join_first(judged)}{among} differently: the stopping rule across topics no longer reads the "
        f"{count(number, 'document')} judged there so far."
    )


def number_orders(store: Store, orders: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the number of the conditions that :func:`describe_orders` describes, if any has it, by topic."""
    numbers = store.queue.find_conditions(set(orders.values()))
    return {q: [numbers[order]] if order in numbers else [] for q, order in orders.items()}


def is_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether no condition has changed; earlier versions recorded fewer of them."""
    return all(now[name] == value for name, value in before.items())


def read(store: Store) -> CalibrationRecord | None:
    """Return the current record; None if no calibration topics are drawn."""
    stored = store.settings.get(KEY, {}).get("record")
    if stored is None:
        return None
    lists = {name: tuple(stored[name]) for name in ("families", "topics", "check") if stored[name] is not None}
    return CalibrationRecord(**{**stored, **lists})


def write(store: Store, record: CalibrationRecord | None) -> None:
    """Store the record, or None to end it; the number of draws stays."""
    stored = None if record is None else asdict(record)
    store.settings.put(KEY, {"draws": count_draws(store) if record is None else record.draw, "record": stored})


def count_draws(store: Store) -> int:
    """Return how many times calibration topics were drawn."""
    return int(store.settings.get(KEY, {}).get("draws", 0))


def pending_topics(store: Store) -> Collection[str]:
    """Return the calibration topics that are to be judged to the end now, or nothing."""
    record = read(store)
    return record.topics if record is not None and record.pending else ()


def closed_by_rule(store: Store) -> dict[str, ClosedByRule]:
    """Return every topic that the stopping rule has closed, also those that a manager has reopened since."""
    return {query_id: ClosedByRule(*stored) for query_id, stored in store.settings.get(CLOSED, {}).items()}


def write_closed(store: Store, closed: Mapping[str, ClosedByRule]) -> None:
    """Store the topics that the rule has closed."""
    store.settings.put(CLOSED, {query_id: list(stop) for query_id, stop in closed.items()})


def plain(calibration: Calibration) -> dict[str, Any]:
    """Return the fields of a calibration for JSON, None where a number is not finite."""
    values = asdict(calibration)
    return {name: None if isinstance(v, float) and not isfinite(v) else v for name, v in values.items()}
