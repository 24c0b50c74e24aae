"""The database of a campaign, and all SQL.

A store belongs to the thread that opened it. Writes happen inside :meth:`Store.transaction`, which is durable when it
returns (WAL, synchronous=FULL) and rolls back when it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from collection.store.accounts import AccountTables
from collection.store.assignments import AssignmentTables
from collection.store.connection import UNRECORDED, Connection, SQLiteError
from collection.store.corpus import Added, CorpusTables, Matches
from collection.store.history import HistoryTables, PastJudgement
from collection.store.inspection import Inspection
from collection.store.judgements import JudgementTables, Pair, Ungraded
from collection.store.machine_labels import AskedSample, LabelRow, LabelSet, LogCount, MachineLabelTables
from collection.store.pool import PoolTables
from collection.store.queue import Demand, QueueTables, Selection
from collection.store.removal import RemovalTables
from collection.store.reservations import ReservationTables
from collection.store.schema_version import copy_database
from collection.store.settings import SettingsTable
from collection.store.topic_tasks import Claim, LoggedDecision, TopicKey, TopicTaskTables

__all__ = [
    "UNRECORDED",
    "Added",
    "AskedSample",
    "Claim",
    "Demand",
    "Inspection",
    "LabelRow",
    "LabelSet",
    "LogCount",
    "LoggedDecision",
    "Matches",
    "Pair",
    "PastJudgement",
    "SQLiteError",
    "Selection",
    "Store",
    "TopicKey",
    "Ungraded",
]


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


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
        self.connection = Connection(path, create=create)
        self._cache: dict[Hashable, tuple[tuple[object, int], Any]] = {}
        self.transaction = self.connection.transaction
        self.savepoint = self.connection.savepoint
        self.snapshot = self.connection.snapshot
        self.settings = SettingsTable(self.connection)
        self.corpus = CorpusTables(self.connection)
        self.pool = PoolTables(self.connection, self.corpus)
        self.judgements = JudgementTables(self.connection)
        self.queue = QueueTables(self.connection)
        self.reservations = ReservationTables(self.connection)
        self.assignments = AssignmentTables(self.connection)
        self.topic_tasks = TopicTaskTables(self.connection)
        self.history = HistoryTables(self.connection)
        self.accounts = AccountTables(self.connection)
        self.machine_labels = MachineLabelTables(self.connection)
        self.removal = RemovalTables(self.connection)

    def cached(self, name: Hashable, key: object, compute: Callable[[], T]) -> T:
        """Return what `compute` returns, kept under a name while the key is the same and nothing was rolled back.

        What is computed inside a transaction may rest on data that is undone with it; it is then computed again.
        """
        kept = self._cache.get(name)
        if kept is None or kept[0] != (key, self.connection.rollbacks):
            kept = (key, self.connection.rollbacks), compute()
            self._cache[name] = kept
        value: T = kept[1]
        return value

    def cached_each(
        self, name: Hashable, keys: Mapping[K, object], compute: Callable[[list[K]], Mapping[K, T]]
    ) -> dict[K, T]:
        """Return a value for each of `keys`, in their order, as :meth:`cached`.

        `compute` gets all of which no value is kept, at once.
        """
        now = {of: (key, self.connection.rollbacks) for of, key in keys.items()}
        missing = [of for of, key in now.items() if self._cache.get((name, of), (None,))[0] != key]
        if missing:
            made = compute(missing)
            self._cache |= {(name, of): (now[of], made[of]) for of in missing}
        return {of: self._cache[name, of][1] for of in keys}

    @staticmethod
    def copy(source: Path | str, target: Path | str) -> None:
        """Copy a database that may be in use to a new file, without changing it."""
        copy_database(source, target)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.db.close()
