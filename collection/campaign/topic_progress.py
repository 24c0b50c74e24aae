"""Progress of lists and preferences: the decided topics of each annotator, cached for all threads of the process.

A save reads only the new entries of the log, so its cost does not grow with the campaign.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from collection import preferences
from collection.campaign.judging_settings import CardSettings
from collection.store import Store, TopicKey

BEHIND = 100
"""New entries of the log after which the shared state is replaced."""

CAMPAIGNS = 4
"""Number of campaigns with a shared state."""


class _Read(NamedTuple):
    """The annotators who have decided each topic, up to an entry of the log."""

    lists_of: tuple[object, ...]
    last: int
    uuid: str | None
    decided: Mapping[int, frozenset[str]]


_shared: OrderedDict[str, _Read] = OrderedDict()

_lock = threading.Lock()


@dataclass
class _Desk:
    """One annotator's topics in order, and how many of them need a decision; none before `first` does."""

    order: list[int]
    mine: frozenset[int]
    left: int
    first: int = 0


@dataclass
class Board:
    """The decisions of all annotators.

    Attributes
    ----------
    order_of
        Returns the order in which an annotator gets topics, given their keys.
    place
        Identifies the campaign in this process.
    lists_of, made_of
        Versions of the lists of documents, and of everything else except the log.
    """

    store: Store
    settings: CardSettings
    order_of: Callable[[str, Sequence[int]], list[int]]
    place: str
    lists_of: tuple[object, ...]
    made_of: tuple[object, ...]
    topics: dict[int, TopicKey] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    decided: dict[int, set[str]] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    _desks: dict[str, _Desk] = field(default_factory=dict)
    _last: int = 0
    _uuid: str | None = None
    _told: int = -BEHIND

    def __post_init__(self) -> None:
        least = 2 if self._compares else 1
        self.topics = {row.topic: row for row in self.store.topic_tasks.topics(least)}
        self.keys = {row.query_id: row.topic for row in self.topics.values()}
        self.closed = self.store.topic_tasks.closed_topics()
        with _lock:  # other threads would read the same
            read = _shared.get(self.place)
            if read is not None and read.lists_of == self.lists_of and self._is_logged(read.last, read.uuid):
                self._last, self._uuid, self._told = read.last, read.uuid, read.last
                self.decided = {topic: set(names) for topic, names in read.decided.items()}
                self.made = dict(Counter(name for names in read.decided.values() for name in names))
            elif self._compares:
                self._last = self.store.topic_tasks.last_preference()
                for annotator, topic, said in self.store.topic_tasks.compared():
                    self._set(topic, annotator, self._finished(topic, said))
                self._uuid = self.store.topic_tasks.decision_uuid(self._last, preference=True)
                self._tell()
        self.catch_up()

    @property
    def _compares(self) -> bool:
        return self.settings.task == "preference"

    def is_of(self, lists_of: tuple[object, ...], made_of: tuple[object, ...]) -> bool:
        """Tell whether the board is up to date except for new entries of the log."""
        return (lists_of, made_of) == (self.lists_of, self.made_of) and self._is_logged(self._last, self._uuid)

    def _is_logged(self, entry: int, uuid: str | None) -> bool:
        """Tell whether the log has the entry, which may have been rolled back."""
        return uuid == self.store.topic_tasks.decision_uuid(entry, preference=self._compares)

    def _tell(self) -> None:
        """Share the state with other boards of the process, unless it may be rolled back."""
        if self.store.connection.in_transaction:
            return
        decided = {topic: frozenset(names) for topic, names in self.decided.items() if names}
        _shared[self.place] = _Read(self.lists_of, self._last, self._uuid, decided)
        _shared.move_to_end(self.place)
        while len(_shared) > CAMPAIGNS:
            _shared.popitem(last=False)
        self._told = self._last

    def catch_up(self) -> None:
        """Read the new entries of the log."""
        if self._compares:
            last = self.store.topic_tasks.last_preference()
            for annotator, topic in self.store.topic_tasks.compared_after(self._last) if last != self._last else ():
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
        if self._last >= self._told + BEHIND and not self.store.connection.in_transaction:
            with _lock:
                self._tell()

    def documents(self, query_id: str) -> list[str]:
        """Return the documents of a topic's list, or those that are compared."""
        size = self.settings.preference_size if self._compares else self.settings.list_size
        return self.store.pool.first(query_id, size)

    def wants(self, topic: int, annotator: str) -> bool:
        """Tell whether a topic needs a decision by this annotator, regardless of claims."""
        said = self.decided.get(topic, ())
        return annotator not in said and len(said) < self._room(topic) and topic in self._desk(annotator).mine

    def room(self, topic: int, annotator: str) -> int:
        """Return how many others may have claimed the topic when this annotator gets it; below 0: they cannot."""
        said = self.decided.get(topic, set())
        return self._room(topic) - len(said - {annotator}) - 1

    def progress(self, annotator: str) -> tuple[int, int]:
        """Count the topics that an annotator has decided, and those that need a decision by them."""
        return self.made.get(annotator, 0), self._desk(annotator).left

    def open_to(self, annotator: str) -> Iterator[int]:
        """Yield the topics that need a decision by this annotator, in order."""
        desk = self._desk(annotator)
        nothing_yet = True
        for place in range(desk.first, len(desk.order)):
            topic = desk.order[place]
            if self.wants(topic, annotator):
                nothing_yet = False
                yield topic
            elif nothing_yet:
                desk.first = place + 1

    def totals(self) -> tuple[int, int, int, int]:
        """Count decisions made and needed, topics that need no more, and topics, of those that can be decided."""
        wanted = {topic: room for topic in self.topics if (room := self._room(topic))}
        made = {topic: min(len(self.decided.get(topic, ())), room) for topic, room in wanted.items()}
        decided = sum(made[topic] == room for topic, room in wanted.items())
        return sum(made.values()), sum(wanted.values()), decided, len(wanted)

    def waiting(self) -> int:
        """Count the open topics that cannot be decided before more texts are imported."""
        return sum(row.waiting and topic not in self.closed for topic, row in self.topics.items())

    def _room(self, topic: int) -> int:
        row = self.topics[topic]
        return row.wanted if row.enough and topic not in self.closed else 0

    def _finished(self, topic: int, said: list[tuple[str, str, str]]) -> bool:
        documents = self.documents(self.topics[topic].query_id)
        return len(said) > 0 and preferences.plan(documents, said).pair is None

    def _desk(self, annotator: str) -> _Desk:
        if annotator not in self._desks:
            mine = [self.keys[query_id] for query_id in self.store.assignments.topics_for(annotator)]
            desk = _Desk(self.order_of(annotator, mine), frozenset(mine), 0)
            self._desks[annotator] = desk
            desk.left = sum(self.wants(topic, annotator) for topic in mine)
        return self._desks[annotator]

    def _set(self, topic: int, annotator: str, decided: bool) -> None:
        said = self.decided.setdefault(topic, set())
        if decided == (annotator in said):
            return
        before = {name: self.wants(topic, name) for name in self._desks}
        (said.add if decided else said.discard)(annotator)
        self.made[annotator] = self.made.get(annotator, 0) + (1 if decided else -1)
        for name, desk in self._desks.items():
            now = self.wants(topic, name)
            desk.left += now - before[name]
            if now and not before[name]:
                desk.first = 0
