"""Progress of lists and preferences: the decided topics of each annotator, cached for all threads of the process.

A save reads only the new entries of the log, so its cost does not grow with the campaign.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from collection import preferences
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.store import Store, TopicKey

SHARE_AFTER = 100
"""New entries of the log after which the shared state is replaced."""


class _SharedState(NamedTuple):
    """The annotators who have decided each topic, up to an entry of the log."""

    last: int
    uuid: str | None
    decided: Mapping[int, frozenset[str]]


_lock = threading.Lock()


@dataclass
class _AnnotatorTopics:
    """One annotator's topics in order, and how many of them need a decision; none before `first` does."""

    order: list[int]
    assigned: frozenset[int]
    left: int
    first: int = 0


@dataclass
class TopicTaskState:
    """The state of the campaign's task: which annotators have answered each topic.

    Attributes
    ----------
    order_of
        Returns the order in which an annotator gets topics, given their keys.
    lists_of
        Version of the lists of documents.
    """

    store: Store
    settings: JudgingPageSettings
    order_of: Callable[[str, Sequence[int]], list[int]]
    lists_of: tuple[object, ...]
    topics: dict[int, TopicKey] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    decided: dict[int, set[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    _annotators: dict[str, _AnnotatorTopics] = field(default_factory=dict)
    _last: int = 0
    _uuid: str | None = None
    _shared_until: int = -SHARE_AFTER

    def __post_init__(self) -> None:
        least = 2 if self._compares else 1
        self.topics = {row.topic: row for row in self.store.topic_tasks.topics(least)}
        self.keys = {row.query_id: row.topic for row in self.topics.values()}
        self.closed: frozenset[int] = self.store.topic_tasks.closed_topics()
        with _lock:  # other threads would read the same
            shared = self._shared()
            if shared and self._is_logged((read := shared[0]).last, read.uuid):
                self._last, self._uuid, self._shared_until = read.last, read.uuid, read.last
                self.decided = {topic: set(names) for topic, names in read.decided.items()}
                self.counts = dict(Counter(name for names in read.decided.values() for name in names))
            elif self._compares:
                self._last = self.store.topic_tasks.last_preference()
                for annotator, topic, preferred in self.store.topic_tasks.preferences_by_topic():
                    self._set(topic, annotator, self._finished(topic, preferred))
                self._uuid = self.store.topic_tasks.decision_uuid(self._last, preference=True)
                self._share()

    @property
    def _compares(self) -> bool:
        return self.settings.task == "preference"

    def _is_logged(self, entry: int, uuid: str | None) -> bool:
        """Tell whether the log has the entry, which may have been rolled back."""
        return uuid == self.store.topic_tasks.decision_uuid(entry, preference=self._compares)

    def _shared(self) -> list[_SharedState]:
        """Return the state that all threads share, if there is one."""
        return self.store.cached("decided topics", self.lists_of, list[_SharedState], shared=True)

    def _share(self) -> None:
        """Share the state with other threads, unless it may be rolled back."""
        if not self.store.connection.writing:
            decided = {topic: frozenset(names) for topic, names in self.decided.items() if names}
            self._shared()[:] = [_SharedState(self._last, self._uuid, decided)]
            self._shared_until = self._last

    def catch_up(self) -> None:
        """Read the new entries of the log."""
        if self._compares:
            last = self.store.topic_tasks.last_preference()
            for annotator, topic in self.store.topic_tasks.preferences_after(self._last) if last != self._last else ():
                self._set(
                    topic, annotator, self._finished(topic, self.store.topic_tasks.preferences_of(topic, annotator))
                )
        else:
            last = self._last
            for entry, annotator, topic, kind in self.store.topic_tasks.choices_after(self._last):
                self._set(topic, annotator, kind != "undone")
                last = entry
        if last != self._last or self._uuid is None:
            self._last, self._uuid = last, self.store.topic_tasks.decision_uuid(last, preference=self._compares)
        if self._last >= self._shared_until + SHARE_AFTER:
            with _lock:
                self._share()

    def documents(self, query_id: str) -> list[str]:
        """Return the documents of a topic's list, or those that are compared."""
        size = self.settings.preference_size if self._compares else self.settings.list_size
        return self.store.pool.first_documents(query_id, size)

    def wants(self, topic: int, annotator: str) -> bool:
        """Tell whether a topic needs a decision by this annotator, regardless of claims."""
        deciders = self.decided.get(topic, ())
        return (
            annotator not in deciders
            and len(deciders) < self._room(topic)
            and topic in self._topics_of(annotator).assigned
        )

    def room(self, topic: int, annotator: str) -> int:
        """Return how many others may have claimed the topic when this annotator gets it; below 0: they cannot."""
        deciders = self.decided.get(topic, set())
        return self._room(topic) - len(deciders - {annotator}) - 1

    def progress(self, annotator: str) -> tuple[int, int]:
        """Count the topics that an annotator has decided, and those that need a decision by them."""
        return self.counts.get(annotator, 0), self._topics_of(annotator).left

    def open_to(self, annotator: str) -> Iterator[int]:
        """Yield the topics that need a decision by this annotator, in order."""
        own = self._topics_of(annotator)
        nothing_yet = True
        for place in range(own.first, len(own.order)):
            topic = own.order[place]
            if self.wants(topic, annotator):
                nothing_yet = False
                yield topic
            elif nothing_yet:
                own.first = place + 1

    def totals(self) -> tuple[int, int, int, int]:
        """Count decisions made and needed, topics that need no more, and topics, of those that can be decided."""
        wanted = {topic: room for topic in self.topics if (room := self._room(topic))}
        counts = {topic: min(len(self.decided.get(topic, ())), room) for topic, room in wanted.items()}
        decided = sum(counts[topic] == room for topic, room in wanted.items())
        return sum(counts.values()), sum(wanted.values()), decided, len(wanted)

    def waiting(self) -> int:
        """Count the open topics that cannot be decided before more texts are imported."""
        return sum(row.waiting and topic not in self.closed for topic, row in self.topics.items())

    def _room(self, topic: int) -> int:
        row = self.topics[topic]
        return row.wanted if row.enough and topic not in self.closed else 0

    def _finished(self, topic: int, preferred: list[tuple[str, str, str]]) -> bool:
        documents = self.documents(self.topics[topic].query_id)
        return len(preferred) > 0 and preferences.plan(documents, preferred).pair is None

    def _topics_of(self, annotator: str) -> _AnnotatorTopics:
        if annotator not in self._annotators:
            assigned = [self.keys[query_id] for query_id in self.store.assignments.topics_for(annotator)]
            own = _AnnotatorTopics(self.order_of(annotator, assigned), frozenset(assigned), 0)
            self._annotators[annotator] = own
            own.left = sum(self.wants(topic, annotator) for topic in assigned)
        return self._annotators[annotator]

    def _set(self, topic: int, annotator: str, decided: bool) -> None:
        deciders = self.decided.setdefault(topic, set())
        if decided == (annotator in deciders):
            return
        before = {name: self.wants(topic, name) for name in self._annotators}
        (deciders.add if decided else deciders.discard)(annotator)
        self.counts[annotator] = self.counts.get(annotator, 0) + (1 if decided else -1)
        for name, own in self._annotators.items():
            now = self.wants(topic, name)
            own.left += now - before[name]
            if now and not before[name]:
                own.first = 0
