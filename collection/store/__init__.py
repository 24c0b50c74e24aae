"""The database of a campaign, and all SQL.

A store belongs to the thread that opened it. Writes happen inside :meth:`Store.transaction`, which is durable when it
returns (WAL, synchronous=FULL) and rolls back when it raises.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar, cast

from collection.core import layout
from collection.store.accounts import AccountTables
from collection.store.answers import (
    AnswerTables,
    EditKind as EditKind,
    Nugget as Nugget,
    NuggetEdit as NuggetEdit,
)
from collection.store.assignments import AssignmentTables
from collection.store.connection import Connection, SQLiteError as SQLiteError
from collection.store.corpus import Added as Added, CorpusTables, Matches as Matches
from collection.store.history import HistoryTables, PastJudgement as PastJudgement
from collection.store.inspection import Inspection as Inspection
from collection.store.judgements import (
    JudgementTables,
    LastGrade as LastGrade,
    PairState as PairState,
    Ungraded as Ungraded,
)
from collection.store.machine_labels import (
    LabelRow as LabelRow,
    LabelSet as LabelSet,
    LogCount as LogCount,
    MachineLabelTables,
    SampleInUse as SampleInUse,
)
from collection.store.missing_answers import (
    AnswerCount as AnswerCount,
    AskedQuestion as AskedQuestion,
    MissingAnswerTables,
)
from collection.store.pool import PoolTables
from collection.store.queue import Demand as Demand, QueueTables, Selection as Selection
from collection.store.records import RecordPair as RecordPair, RecordTables, StoredRecord as StoredRecord
from collection.store.removal import JUDGED as JUDGED, RESERVED as RESERVED, RemovalTables
from collection.store.reservations import ReservationTables
from collection.store.schema_version import copy_database as copy_database
from collection.store.settings import SettingsTable
from collection.store.topic_tasks import (
    Claim as Claim,
    LoggedDecision as LoggedDecision,
    TopicKey as TopicKey,
    TopicTaskTables,
)

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _Cache:
    """The latest value of each member under a name, with the key of what it was computed from."""

    def __init__(self) -> None:
        self._values: dict[Hashable, OrderedDict[Hashable, tuple[object, Any]]] = {}
        self._lock = Lock()

    def find(self, name: Hashable, member: Hashable, key: object) -> tuple[Any] | None:
        """Return the value of a member, in a tuple, or None if it has none with this key."""
        with self._lock:
            values = self._values.setdefault(name, OrderedDict())
            if member not in values or values[member][0] != key:
                return None
            values.move_to_end(member)
            return (values[member][1],)

    def keep(self, name: Hashable, member: Hashable, key: object, value: object, most: int | None) -> None:
        """Keep the value of a member, and at most this number of members."""
        with self._lock:
            values = self._values.setdefault(name, OrderedDict())
            values[member] = key, value
            values.move_to_end(member)
            while most is not None and len(values) > most:
                values.popitem(last=False)


@lru_cache(maxsize=4)
def _shared_cache(file: object, campaign_id: str | None) -> _Cache:
    """Return the cache that all connections of this process to a campaign share."""
    return _Cache()


class Store:
    """A campaign's database: one connection, and one repository per group of tables.

    Parameters
    ----------
    path
        The SQLite file, or ``":memory:"``.
    create
        Create the file if it is missing; otherwise a missing file is an error.

    Examples
    --------
    >>> from collection.core.records import Topic
    >>> with Store(":memory:", create=True) as store:
    ...     with store.transaction():
    ...         added = store.corpus.add_topics([Topic("1", "wing flow")])
    ...     titles = store.corpus.topics()["title"].tolist()
    >>> added, titles
    (Added(new=1, changed=0, same=0), ['wing flow'])
    """

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        self.connection: Connection = Connection(path, create=create)
        self.path: Path = Path(path).resolve()
        self._cache = _Cache()
        # Bound methods instead of a subclass of Connection: the repositories would then refer back to the store, and
        # a store that nobody closed would keep its files open until the garbage collector runs.
        self.transaction: Callable[[], AbstractContextManager[None]] = self.connection.transaction
        self.savepoint: Callable[[], AbstractContextManager[None]] = self.connection.savepoint
        self.snapshot: Callable[[], AbstractContextManager[None]] = self.connection.snapshot
        self.settings: SettingsTable = SettingsTable(self.connection)
        self.corpus: CorpusTables = CorpusTables(self.connection)
        self.pool: PoolTables = PoolTables(self.connection, self.corpus)
        self.judgements: JudgementTables = JudgementTables(self.connection)
        self.missing_answers: MissingAnswerTables = MissingAnswerTables(self.connection)
        self.queue: QueueTables = QueueTables(self.connection)
        self.reservations: ReservationTables = ReservationTables(self.connection)
        self.assignments: AssignmentTables = AssignmentTables(self.connection)
        self.topic_tasks: TopicTaskTables = TopicTaskTables(self.connection)
        self.history: HistoryTables = HistoryTables(self.connection)
        self.accounts: AccountTables = AccountTables(self.connection)
        self.machine_labels: MachineLabelTables = MachineLabelTables(self.connection)
        self.records: RecordTables = RecordTables(self.connection)
        self.answers: AnswerTables = AnswerTables(self.connection)
        self.removal: RemovalTables = RemovalTables(self.connection)

    def with_tasks(self) -> Iterator[Store]:
        """Yield this store and the store of each task inside the campaign, which is open until the next one."""
        yield self
        for directory in layout.task_campaigns(self.path.parent).values():
            with Store(directory / layout.DATABASE) as store:
                yield store

    def cached(
        self,
        name: Hashable,
        key: object,
        compute: Callable[[], T],
        *,
        member: Hashable = None,
        most: int | None = None,
        shared: bool = False,
    ) -> T:
        """Return what `compute` returns, cached under a name while the key is the same and nothing was rolled back.

        Parameters
        ----------
        key
            Everything that the value is computed from.
        member, most
            Cache a value for each member, such as a topic: for the `most` that were used last, or for all.
        shared
            Share the value with all connections of this process to the database, except inside a transaction, whose
            changes may be rolled back.
        """
        cache, rollbacks = self._choose_cache(shared=shared)
        key = (key, rollbacks)
        if (known := cache.find(name, member, key)) is not None:
            return cast(T, known[0])
        value = compute()
        cache.keep(name, member, key, value, most)
        return value

    def cached_each(
        self,
        name: Hashable,
        keys: Mapping[K, object],
        compute: Callable[[list[K]], Mapping[K, T]],
        *,
        most: int | None = None,
        shared: bool = False,
    ) -> dict[K, T]:
        """Return a value for each of `keys`, in their order, as :meth:`cached` for each member.

        `compute` gets all members without a value at once; those of which it returns none are left out.
        """
        cache, rollbacks = self._choose_cache(shared=shared)
        now = {member: (key, rollbacks) for member, key in keys.items()}
        known = {member: value for member, key in now.items() if (value := cache.find(name, member, key)) is not None}
        if missing := [member for member in keys if member not in known]:
            for member, computed in compute(missing).items():
                cache.keep(name, member, now[member], computed, most)
                known[member] = (computed,)
        return {member: known[member][0] for member in keys if member in known}

    def _choose_cache(self, *, shared: bool) -> tuple[_Cache, int]:
        """Return a cache, and the number of changes that were undone in what it may hold."""
        if shared and not self.connection.writing:
            return _shared_cache(self.connection.file, self.settings.get("id")), 0
        # What is computed inside a transaction may rest on data that is undone with it.
        return self._cache, self.connection.rollbacks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.db.close()
