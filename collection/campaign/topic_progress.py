"""Which topics are decided by whom: what the logs of choices and preferences say, in memory, caught up at their ends.

Nothing is counted anew when somebody decides: what a save costs does not grow with the campaign. Nor is the whole log
read for each page: what it says is shared by all threads of the process.
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
"""Entries of the log after which what they say is shared anew."""

CAMPAIGNS = 4
"""Campaigns of which it is kept."""


class _Read(NamedTuple):
    """What a log says up to an entry: topic -> who has decided."""

    of: tuple[object, ...]
    last: int
    uuid: str | None
    decided: Mapping[int, frozenset[str]]


_shared: OrderedDict[str, _Read] = OrderedDict()

_lock = threading.Lock()


@dataclass
class _Desk:
    """One annotator's topics in their order, and how many of them want a decision of theirs."""

    order: list[int]
    mine: frozenset[int]
    left: int
    first: int = 0
    """None before this place in the order wants a decision of theirs."""


@dataclass
class Board:
    """Who has decided on which topic.

    Attributes
    ----------
    store
        The campaign's.
    settings
        The task, and the sizes of its lists.
    order_of
        Annotator and the keys of their topics -> the order in which they get them.
    place
        What the campaign is known by in this process.
    lists_of, made_of
        What differs where the lists of documents differ, or anything else that a board is made of but the log.
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
    """Up to this entry others know what the log says; before the first, they know nothing."""

    def __post_init__(self) -> None:
        least = 2 if self._compares else 1
        self.topics = {row.topic: row for row in self.store.topic_tasks.topics(least)}
        self.keys = {row.query_id: row.topic for row in self.topics.values()}
        self.closed = self.store.topic_tasks.closed_topics()
        with _lock:  # who comes meanwhile would read the same
            read = _shared.get(self.place)
            if read is not None and read.of == self.lists_of and self._is_said(read.last, read.uuid):
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
        """Whether the board is one of these still."""
        return (lists_of, made_of) == (self.lists_of, self.made_of) and self._is_said(self._last, self._uuid)

    def _is_said(self, entry: int, uuid: str | None) -> bool:
        """Whether the log has what was read; inside a transaction that then failed it was never said."""
        return uuid == self.store.topic_tasks.decision_uuid(entry, preference=self._compares)

    def _tell(self) -> None:
        """Let other boards of the process know what this one has read, if that is on disk."""
        if self.store.connection.in_transaction:
            return
        decided = {topic: frozenset(names) for topic, names in self.decided.items() if names}
        _shared[self.place] = _Read(self.lists_of, self._last, self._uuid, decided)
        _shared.move_to_end(self.place)
        while len(_shared) > CAMPAIGNS:
            _shared.popitem(last=False)
        self._told = self._last

    def catch_up(self) -> None:
        """Read what the log has got since the last time."""
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
        """The documents of a topic's list, or those that are compared."""
        size = self.settings.preference_size if self._compares else self.settings.list_size
        return self.store.pool.first(query_id, size)

    def wants(self, topic: int, annotator: str) -> bool:
        """Whether a topic wants a decision of this annotator, whoever has it in hand."""
        said = self.decided.get(topic, ())
        return annotator not in said and len(said) < self._room(topic) and topic in self._desk(annotator).mine

    def room(self, topic: int, annotator: str) -> int:
        """How many others may have the topic in hand when this annotator is to get it, less one; below 0: none."""
        said = self.decided.get(topic, set())
        return self._room(topic) - len(said - {annotator}) - 1

    def progress(self, annotator: str) -> tuple[int, int]:
        """Topics that an annotator has decided, and those that want a decision of theirs."""
        return self.made.get(annotator, 0), self._desk(annotator).left

    def open_to(self, annotator: str) -> Iterator[int]:
        """Topics that want a decision of this annotator, in their order."""
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
        """Of topics that can be decided: decisions made and wanted, topics that want no more, and topics."""
        wanted = {topic: room for topic in self.topics if (room := self._room(topic))}
        made = {topic: min(len(self.decided.get(topic, ())), room) for topic, room in wanted.items()}
        decided = sum(made[topic] == room for topic, room in wanted.items())
        return sum(made.values()), sum(wanted.values()), decided, len(wanted)

    def waiting(self) -> int:
        """Topics, none that is closed, that nobody can decide on before more texts of their pool are here."""
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
