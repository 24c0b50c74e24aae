"""The state of a campaign's calibration topics, and the sentences that pages and commands show of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from collection.campaign.log.topic_ledger import RuleJudgements
from collection.campaign.progress.calibration_record import (
    ORDERING,
    CalibrationRecord,
    ClosedByRule,
    contradicts,
    is_same,
)
from collection.campaign.settings.loop_settings import DECISIVE, LOOPING
from collection.core.phrases import count, duration, join, join_first, percent, percent_down, plural
from collection.stopping.risk_control import TRANSFER_WARNING, TransferCheck, check_transfer

Phase = Literal["none", "calibrating", "calibrated", "impossible"]

NAMED = 5
"""Number of topics that a sentence names."""

TOPICS = ("title", "mode", "when_open", "in_pool", "judged", "size", "cannot_judge", "without_text")
"""Columns of the topics, by query_id: `size` are the documents in scope that can be judged, `when_open` the mode that a
closed topic had, `without_text` the unjudged pooled documents without a text."""

CHANGES = {
    "pool": "Pairs were added to the pool since the draw: calibration topics may be incomplete.",
    "documents": "Documents were added or changed since the draw: calibration topics may be incomplete, and topics "
    "were judged among different documents.",
    "runs": "Runs were added or changed since the draw: the loop no longer orders all topics in the same way.",
    "overlap": "The number of annotators of pairs changed since the draw: not all grades are made in the same way.",
    "features": "The document features changed since the draw (words, characters, bigrams or embeddings): the loop no "
    "longer orders all topics in the same way.",
}
"""Condition of the draw, besides the loop settings -> what a change of it means."""


@dataclass(frozen=True)
class TopicProgress:
    """The progress of a calibration topic."""

    query_id: str
    title: str
    judged: int
    size: int
    """Documents in scope that can be judged."""
    left: int
    """Documents left to judge: all unjudged ones, or those up to the end of the random sample."""
    closed: bool

    @property
    def finished(self) -> bool:
        """Return whether it is judged completely, or to the end of its random sample."""
        return not self.left

    @property
    def closed_early(self) -> bool:
        """Return whether it was closed before it was judged to the end."""
        return self.closed and not self.finished


@dataclass(frozen=True)
class ClosedTopic:
    """A topic that the stopping rule closed."""

    query_id: str
    title: str
    judged: int
    """When it was closed."""
    size: int
    reason: str
    reopened: bool
    """A manager has reopened it; the rule leaves it alone."""
    after: int = 0
    """Judgements after which the rule stopped; 0 for a calibration topic."""

    @property
    def reached(self) -> str:
        """The reason without the rule, such as "reached after 53 judgements"."""
        return f"reached after {count(self.after, 'judgement')}" if self.after else self.reason


@dataclass(frozen=True)
class CalibrationState:
    """The state of a campaign's calibration topics."""

    phase: Phase = "none"
    """"impossible": the calibration topics are judged, and no rule keeps the promise."""
    report: str = ""
    """The promise and its assumptions, or what is missing for one; empty before the calibration."""
    target: float = 0.0
    """Expected recall (1 - alpha)."""
    source: str = ""
    """Title of the campaign on whose topics the rule was calibrated."""
    topics: tuple[TopicProgress, ...] = ()
    """The calibration topics; with a source, those that check its rule."""
    seconds: float | None = None
    """Estimated time for the documents that are left."""
    notes: tuple[str, ...] = ()
    """What weakens or limits the promise, one sentence each."""
    closed: tuple[ClosedTopic, ...] = ()
    """Topics that the rule closed, in the order of topics."""
    population: int = 0
    """Topics from which the calibration topics were drawn, these included."""
    judged: int = 0
    """Documents judged in the population."""
    everything: int = 0
    """Documents to judge in the population without a stopping rule."""
    paused: bool = False
    """The rule was calibrated, but closes no topics, because what it depends on changed since then."""
    in_doubt: bool = False
    """Settings, pool, documents, runs, features or judging modes of calibration topics changed since the draw, so the
    promise is not what was calibrated."""

    @property
    def left(self) -> int:
        """Documents left to judge in the calibration topics."""
        return sum(topic.left for topic in self.topics)

    @property
    def open_left(self) -> int:
        """Documents of :attr:`left` in open topics; closed topics hand out nothing."""
        return sum(topic.left for topic in self.topics if not topic.closed)

    @property
    def closed_early(self) -> tuple[str, ...]:
        """Calibration topics that were closed before they were judged to the end."""
        return tuple(topic.query_id for topic in self.topics if topic.closed_early)

    @property
    def ready(self) -> bool:
        """Return whether the calibration topics are judged to the end, and the rule waits to be calibrated."""
        return self.phase == "calibrating" and not self.left

    @property
    def headline(self) -> str:
        """Progress of the calibration topics."""
        if self.phase == "none":
            return "No calibration topics are drawn."
        done, name = sum(topic.finished for topic in self.topics), "topic" if self.source else "calibration topic"
        checks = " to check the rule" if self.source else ""
        far = f"{done:,} of {count(len(self.topics), name)} {plural(done, 'is', 'are')} judged to the end{checks}"
        if not self.left:
            return f"{far}."
        time = "" if self.seconds is None else f", about {duration(self.seconds)}"
        return f"{far}; {count(self.left, 'document')} left{time}."

    @property
    def sentence(self) -> str:
        """The promise and its assumptions, or else how far the calibration topics are judged."""
        return self.headline if self.phase in ("none", "calibrating") else self.report

    @property
    def summary(self) -> str:
        """:attr:`sentence`, and what limits the promise; empty without calibration topics."""
        return "" if self.phase == "none" else " ".join([self.sentence, *self.notes])

    @property
    def to_do(self) -> str:
        """State what is left before the rule can be calibrated, in one sentence; empty if nothing, and afterwards."""
        if self.phase != "calibrating":
            return ""
        topics = "topics that check the rule" if self.source else "calibration topics"
        number = self.open_left or self.left
        left, are = count(number, "document"), plural(number, "is", "are")
        if self.open_left:
            unfinished = sum(not (topic.finished or topic.closed) for topic in self.topics)
            return f"Judge the {topics} first: {left} of {count(unfinished, 'topic')} {are} left."
        if closed := self.closed_early:
            names = f"{plural(len(closed), 'topic')} {join_first(closed, NAMED)}"
            return f"Reopen {names} (page Recall): {left} {are} left, and {topics} must be judged to the end."
        do = "Check" if self.source else "Calibrate"
        return f"{do} the stopping rule: all {topics} are judged to the end." if self.ready else ""

    @property
    def resumption(self) -> str:
        """Say how to resume a paused rule, in one sentence; empty if it is not paused."""
        if not self.paused:
            return ""
        again = "check the rule again" if self.source else "calibrate again"
        if self.left:
            unfinished = count(sum(not topic.finished for topic in self.topics), "calibration topic")
            again = f"judge {count(self.left, 'document')} of {unfinished} and {again}"
        return f"The stopping rule is paused. The page Recall says what changed: undo the change, or {again}."

    @property
    def stage(self) -> str:
        """The state in a few words."""
        if self.in_doubt:
            return "promise in doubt"
        if self.ready:
            return f"ready to {'check the rule' if self.source else 'calibrate'}"
        return {
            "none": "no calibration topics",
            "calibrating": "checking the rule" if self.source else "judging calibration topics",
            "calibrated": f"at least {percent_down(self.target)} expected",
            "impossible": "no promise",
        }[self.phase]

    @property
    def cost(self) -> str:
        """The judgements so far against those of judging everything, in one sentence."""
        share = f" ({percent(self.judged / self.everything)})" if self.everything else ""
        return (
            f"{count(self.population, 'topic')} could be drawn for calibration. {self.judged:,} of their "
            f"{count(self.everything, 'document')} {plural(self.judged, 'is', 'are')} judged{share}."
        )


@dataclass(frozen=True)
class CalibrationFacts:
    """Facts of a campaign that :func:`describe` needs beside the record."""

    topics: pd.DataFrame
    """All topics by query_id, with the columns :data:`TOPICS`."""
    drawn: Sequence[TopicProgress]
    """The calibration topics."""
    blind: Sequence[str]
    """Calibration topics whose random sample could not reach every document."""
    closed: Mapping[str, ClosedByRule]
    judgements: Mapping[str, RuleJudgements]
    """For each topic of the draw, the judgements that a rule reads, and those that it lacks or may not read."""
    pace: float | None
    """Seconds per judgement."""
    now: dict[str, Any]
    """The present :func:`~collection.campaign.progress.calibration_record.conditions`."""
    has_budget: bool
    revised: bool
    """Judgements of calibration topics were made since the calibration."""
    outdated: bool
    """Because of these judgements, the rule is no longer strict enough."""
    changed: Sequence[str]
    """Topics that the rule closed and that were judged again since."""


def describe(record: CalibrationRecord, facts: CalibrationFacts) -> CalibrationState:
    """Describe the state of the calibration topics."""
    topics = facts.topics
    left = sum(topic.left for topic in facts.drawn)
    calibration = record.calibration
    phase: Phase = "calibrating"
    if calibration is not None and not record.pending:
        phase = "calibrated" if calibration.promises and not is_contradicted(record) else "impossible"
    ours = topics[topics.index.isin(record.modes)]
    report = "" if calibration is None else calibration.report
    if is_contradicted(record):
        report = _check(record).report
    elif calibration is not None and calibration.promises and ours["in_pool"].any():
        report += " Documents outside the pool are not covered."
    return CalibrationState(
        phase,
        report,
        1 - record.alpha,
        record.source,
        tuple(facts.drawn),
        left * facts.pace if left and facts.pace is not None else None,
        tuple(_notes(record, facts, ours)),
        list_closed(topics, facts.closed),
        len(record.modes),
        int(ours["judged"].sum()),
        int(ours[["size", "judged"]].max(axis=1).sum()),
        paused=phase == "calibrated" and (facts.outdated or not is_same(record.calibrated_under, facts.now)),
        in_doubt=phase == "calibrated"
        and (not is_same(record.drawn_under, facts.now) or bool(_find_other_modes(record, topics, drawn=True))),
    )


def list_closed(topics: pd.DataFrame, closed: Mapping[str, ClosedByRule]) -> tuple[ClosedTopic, ...]:
    """List the topics that the rule closed; `topics` have the columns :data:`TOPICS`."""
    return tuple(
        ClosedTopic(str(q), title, closed[q].judged, int(size), closed[q].reason, mode != "closed", closed[q].after)
        for q, title, mode, size in topics[["title", "mode", "size"]].itertuples()
        if q in closed
    )


def is_contradicted(record: CalibrationRecord) -> bool:
    """Tell whether topics of this campaign contradict the rule of a source."""
    return bool(record.source) and contradicts(record.check or (), record.alpha)


def _check(record: CalibrationRecord) -> TransferCheck:
    """Check the rule of a source on the topics of this campaign that are judged to the end."""
    return check_transfer(np.array(record.check or ()), record.alpha)


def _notes(record: CalibrationRecord, facts: CalibrationFacts, ours: pd.DataFrame) -> Iterator[str]:
    """Yield what weakens or limits the promise, one sentence each; `ours` are the topics of the draw."""
    if record.source:
        yield TRANSFER_WARNING
        if record.check is not None and not is_contradicted(record):
            yield _check(record).report
    yield from name_changes(record.drawn_under, facts.now)
    if facts.now["loop"]["by"] == DECISIVE:
        yield "The loop now selects decisive pairs, which do not aim at recall: the promise no longer holds."
    if not record.pending and not is_same(record.calibrated_under, facts.now):
        yield "The rule closes no more topics until it is calibrated again."
    if facts.outdated:
        yield (
            "Judgements of calibration topics changed since the calibration, and the rule is no longer strict enough: "
            "it closes no more topics until it is calibrated again."
        )
    elif facts.revised:
        yield "Judgements of calibration topics changed since the calibration: calibrate again."
    yield from _notes_on_judgements(record, facts)
    yield from _notes_on_topics(record, facts, ours)
    if number := sum(facts.judgements[topic.query_id].skipped for topic in facts.drawn if topic.left):
        skipped, are, it = count(number, "skipped document"), plural(number, "is", "are"), plural(number, "it", "them")
        yield f'{skipped} of calibration topics {are} unjudged: judge {it}, or mark {it} as "cannot judge".'
    if number := int(ours["cannot_judge"].sum()):
        counts = plural(number, "it counts", "they count")
        yield f"Annotators could not judge {count(number, 'document')}; {counts} as irrelevant."
    if number := int(facts.topics.loc[list(record.topics), "without_text"].sum()):
        yield (
            f"{count(number, 'document')} of calibration topics {plural(number, 'has', 'have')} no text; "
            f"{plural(number, 'it counts', 'they count')} as relevant and missed."
        )
    if facts.has_budget:
        if record.pending:
            yield "The judgement budget does not limit calibration topics."
        yield "The judgement budget may end other topics before the rule does: the promise does not cover such topics."
    if record.draw > 1:
        yield (
            f"This is draw {record.draw:,} of calibration topics: the promise does not hold if a draw was repeated "
            "because of its result."
        )


def _notes_on_judgements(record: CalibrationRecord, facts: CalibrationFacts) -> Iterator[str]:
    """Yield which judgements the rule lacks or may not read, one sentence each."""
    for drawn in (True, False):
        topics = [q for q, one in facts.judgements.items() if one.aside and (q in record.topics) == drawn]
        counts = Counter[str]()
        for query_id in topics:
            counts.update(facts.judgements[query_id].aside)
        if not topics:
            continue
        how = join(f"{number:,} {what}" for what, number in counts.items())
        which = f"{'calibration ' * drawn}{plural(len(topics), 'topic')} {join_first(topics, NAMED)}"
        effect = (
            ": relevant ones count as missed, so the rule is stricter."
            if drawn
            else ". The loop learns from them, so the order may differ from that of the calibration topics."
        )
        yield f"The rule does not read {count(counts.total(), 'judged document')} of {which} ({how}){effect}"
    waiting = [
        q
        for q, one in facts.judgements.items()
        if one.unknown and q not in record.topics and facts.topics.loc[q, "mode"] in LOOPING
    ]
    if waiting and not record.pending:
        number = sum(facts.judgements[query_id].unknown for query_id in waiting)
        it = plural(number, "it is", "they are")
        yield (
            f"{count(number, 'document')} of {plural(len(waiting), 'topic')} {join_first(waiting, NAMED)} "
            f"{plural(number, 'was', 'were')} skipped, undone or passed over: the rule closes "
            f"{plural(len(waiting), 'this topic', 'these topics')} only when {it} judged."
        )
    if facts.changed:
        yield (
            f"{name_topics(list(facts.changed), 'was', 'were')} closed by the rule, and "
            f"{plural(len(facts.changed), 'its', 'their')} judgements changed since: the promise covers the grades at "
            "the time. Reopen a topic to judge on, or calibrate again to check it."
        )


def _notes_on_topics(record: CalibrationRecord, facts: CalibrationFacts, ours: pd.DataFrame) -> Iterator[str]:
    """Yield what happened to topics since the draw, one sentence each."""
    topics = facts.topics
    if closed := [topic.query_id for topic in facts.drawn if topic.closed_early]:
        names = name_topics(closed, "is a calibration topic and was", "are calibration topics and were")
        yield f"{names} closed before the end: reopen {plural(len(closed), 'it', 'them')}."
    if changed := _find_other_modes(record, topics, drawn=True):
        names = name_topics(changed, "is a calibration topic and has", "are calibration topics and have")
        yield f"{names} another judging mode than at the draw: not all topics are judged in the same way."
    if changed := _find_other_modes(record, topics, drawn=False):
        it = plural(len(changed), "it", "them")
        yield (
            f"{name_topics(changed, 'has', 'have')} another judging mode than at the draw: the promise does not cover "
            f"{it}, and the rule does not close {it}."
        )
    if facts.blind:
        names = name_topics(list(facts.blind), "is a calibration topic whose", "are calibration topics whose")
        yield (
            f"{names} random sample did not reach documents that annotators held or skipped: all unjudged documents of "
            f"the {plural(len(facts.blind), 'topic')} count as relevant."
        )
    if (number := record.topics_then - len(record.modes)) > 0:
        was, it = plural(number, "was", "were"), plural(number, "it", "them")
        yield (
            f"{count(number, 'topic')} {was} closed at the draw, or could not be judged to the end in a loop: the "
            f"promise does not cover {it}."
        )
    if (number := len(topics) - record.topics_then) > 0:
        was, it = plural(number, "was", "were"), plural(number, "it", "them")
        yield (
            f"{count(number, 'topic')} {was} added since the draw: the promise does not cover {it}, and the rule does "
            f"not close {it}."
        )
    ended = ours[(ours["mode"] == "closed") & (ours["judged"] < ours["size"])]
    if number := int((~ended.index.isin([*facts.closed, *record.topics])).sum()):
        was, it = plural(number, "was", "were"), plural(number, "it", "them")
        yield f"{count(number, 'other topic')} {was} closed by hand: the promise does not cover {it}."


def _find_other_modes(record: CalibrationRecord, topics: pd.DataFrame, *, drawn: bool) -> list[str]:
    """Return the topics whose judging mode has changed since the draw: the `drawn` ones, or the others."""
    changed = [query_id for query_id, mode in record.modes.items() if topics.loc[query_id, "when_open"] != mode]
    return [query_id for query_id in changed if (query_id in record.topics) == drawn]


def name_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield what changed between two :func:`.conditions`, one sentence each."""
    first, second = before["loop"], now["loop"]
    settings = [ORDERING[name] for name in ORDERING if first.get(name) != second.get(name)]
    if settings:
        yield f"Loop settings changed since the draw ({join(settings)}): not all topics are judged in the same way."
    for name, sentence in CHANGES.items():
        if name in before and before[name] != now[name] and None not in (before[name], now[name]):
            yield sentence


def name_topics(topics: list[str], one: str, many: str) -> str:
    """Write a sentence on topics, with the first ones by name.

    >>> name_topics(["7"], "was closed", "were closed")
    'Topic 7 was closed'
    """
    return f"{plural(len(topics), 'Topic', 'Topics')} {join_first(topics, NAMED)} {plural(len(topics), one, many)}"
