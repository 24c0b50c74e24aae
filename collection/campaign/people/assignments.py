"""Assignment of topics to annotators, and the overlap of their judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from collection import assignment
from collection.assignment import AssignmentSettings
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.results import Workload
from collection.campaign.people.accounts import Accounts
from collection.campaign.progress.progress import Progress
from collection.campaign.settings.settings import Settings, changed
from collection.core import clock
from collection.core.errors import InputError, UnknownNameError, require_known
from collection.core.phrases import count, join_first, plural
from collection.core.records import sort_naturally
from collection.store import Store


@dataclass(eq=False)
class Assignments:
    """Assignment of topics to annotators, and the overlap of their judgements."""

    store: Store
    settings: Settings
    corpus: Corpus
    accounts: Accounts
    progress: Progress

    def update(self, **changes: Any) -> AssignmentSettings:
        """Change fields of the :class:`~collection.assignment.AssignmentSettings`; existing judgements stay.

        A shorter lease also applies to what is reserved now.

        UnknownNameError for an unknown setting or topic, InputError for a value out of range.
        """
        with self.store.transaction():
            settings = self._with(changes)
            self.store.settings.put("assignment", asdict(settings))
            self.store.reservations.shorten(clock.seconds(), settings.lease * 60)
            self.spread_overlap()
        return settings

    def _with(self, changes: dict[str, Any]) -> AssignmentSettings:
        settings = changed(self.settings.assignment(), changes, "setting of the assignment")
        self.among(settings.topics)
        return settings

    def spread_overlap(self) -> None:
        """Store how many annotators are to judge each pooled pair; the caller has opened a transaction."""
        pool = self._wanted_by(self.settings.assignment())
        changed = pool[pool["wanted"] != pool["now"]]
        self.store.pool.set_wanted(changed[["now", "topic", "doc"]].itertuples(index=False, name=None))
        self.store.assignments.changed()

    def _wanted_by(self, settings: AssignmentSettings) -> pd.DataFrame:
        """Return the pool with a column ``now``: how many annotators are to judge each pair by these settings.

        While people judge a sample beside machine labels, nobody is to judge the other pairs. Pairs known before the
        sample need one judgement: they are handed out again if theirs is undone.
        """
        pool = self.store.pool.annotators_wanted()
        numbers = [
            assignment.count_wanted(settings, str(query_id), ids.tolist(), self.settings.campaign_id)
            for query_id, ids in pool.groupby("query_id", sort=False)["doc_id"]
        ]
        pool = pool.assign(now=np.concatenate(numbers) if numbers else 0)
        in_use = self.store.machine_labels.sample_in_use()
        if in_use is None:
            return pool
        sample = self.store.machine_labels.sample(in_use.label_set)
        places = pd.MultiIndex.from_frame(pool[["query_id", "doc_id"]])
        before, drawn = (
            places.isin(pd.MultiIndex.from_frame(pairs[["query_id", "doc_id"]]))
            for pairs in (sample[sample["priority"].isna()], sample.head(in_use.pairs))
        )
        now = pool["now"].mask(~drawn, 0)
        return pool.assign(now=now.mask(before, pool["now"].clip(upper=1)))

    def workload(self, **changes: Any) -> Workload:
        """Count the judgements that the pool needs under the settings with these changes; nothing is written.

        As :meth:`.Progress.topics` counts them: a loop over the whole collection or with a budget has no number of
        judgements, and a closed topic needs none.
        """
        settings, progress = self._with(changes), self.progress.topics()
        if settings == self.settings.assignment():
            return Workload(*(int(progress[name].sum()) for name in ("pool", "goal", "made")))
        pool = self._wanted_by(settings)
        log = self.store.judgements.coded(["topic", "doc", "counts_as"])
        log = log.assign(judgements=log["counts_as"] == "judgement", adjudicated=log["counts_as"] == "adjudication")
        counts = log.groupby(["topic", "doc"]).agg({"judgements": "sum", "adjudicated": "any"})
        judged = pool.merge(counts, on=["topic", "doc"])
        goal_met = judged["now"].where(judged["adjudicated"], judged[["now", "judgements"]].min(axis=1))
        counted = progress.loc[progress["goal"].notna(), "query_id"]
        closed = progress.loc[progress["mode"] == "closed", "query_id"]
        needed = pool.loc[pool["query_id"].isin(counted) & ~pool["query_id"].isin(closed), "now"].sum()
        made = goal_met[judged["query_id"].isin(counted)]
        of_closed = made[judged["query_id"].isin(closed)].sum()
        return Workload(len(pool), int(needed + of_closed), int(made.sum()))

    def assign(self, query_ids: Iterable[str], accounts: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        """Assign topics to exactly these people and groups; without any, they are open to everyone.

        What others have reserved of these topics is free.

        UnknownNameError for an unknown topic, account or group, InputError for the account of a reader.
        """
        accounts, groups, query_ids = list(accounts), list(groups), list(query_ids)
        with self.store.transaction():
            self.among(query_ids)
            people = self.store.accounts.table()
            names = {name.casefold(): name for name in people["name"]}
            teams = {group for groups_of in people["groups"] for group in groups_of}
            may = people[people["role"].isin(["manager", "annotator"])]
            for name in accounts:
                if name.casefold() not in names:
                    raise UnknownNameError("account", name, names.values())
                if names[name.casefold()] not in set(may["name"]):
                    raise InputError(f"{names[name.casefold()]!r} is a reader and cannot judge; change the role first")
            require_known("group", teams, *groups)
            for query_id in query_ids:
                self.store.assignments.assign(query_id, [names[name.casefold()] for name in accounts], groups)
            self.store.assignments.changed()
            self.store.reservations.release_foreign(clock.seconds())

    def table(self) -> pd.DataFrame:
        """Return the annotators of each topic, in natural order.

        ``query_id``, ``title``, ``accounts`` and ``groups`` (lists of names; both empty: everyone), ``pool``
        (pairs), ``wanted``, ``made`` and ``left`` (``goal``, ``made`` and ``left`` of :meth:`.Progress.topics`).
        """
        progress = self.progress.topics().rename(columns={"goal": "wanted"})
        given = self.store.assignments.table()
        for kind, column in (("account", "accounts"), ("group", "groups")):
            names: dict[str, list[str]] = {}
            for query_id, of, name in given:
                if of == kind:
                    names.setdefault(query_id, []).append(name)
            progress[column] = [names.get(query_id, []) for query_id in progress["query_id"]]
        columns = ["query_id", "title", "accounts", "groups", "pool", "wanted", "made", "left"]
        return sort_naturally(progress)[columns]

    def reservations(self) -> pd.DataFrame:
        """Return what annotators have reserved now, by annotator; the columns of :meth:`.ReservationTables.table`.

        Without ``since`` and ``until``: ``minutes`` until the reservation ends, rounded up.
        """
        at = clock.seconds()
        table = self.store.reservations.table(at)
        minutes = np.ceil((table.pop("until") - at) / 60).astype("int64")
        return table.drop(columns="since").assign(minutes=minutes)

    def release(self, annotator: str | None = None, topics: Iterable[str] | None = None) -> int:
        """End reservations of an annotator or of all, in these topics or in all, also of work lists.

        Returns their number. A judgement that comes later all the same is kept. UnknownNameError for an unknown topic,
        or an annotator without a reservation and without an account.
        """
        with self.store.transaction():
            if annotator is not None:
                people = self.store.accounts.table()["name"]
                holders = {*self.store.reservations.table(clock.seconds())["annotator"], *people}
                require_known("annotator", holders, annotator)
            which = [None] if topics is None else sorted(self.among(topics))
            return sum(
                self.store.reservations.release(clock.seconds(), annotator, query_id, lists=True) for query_id in which
            )

    def notices(self, table: pd.DataFrame | None = None) -> list[str]:
        """Describe places that imported qrels take, and topics with too few annotators for the judgements they need.

        `table` is :meth:`table`, if it is known.
        """
        needed = self.store.pool.needed_beside_qrels()
        taken = sum(pairs for _, _, pairs in needed)
        of_qrels = [
            f"imported qrels count as one annotator: {count(taken, 'pair')} that several annotators judge "
            f"{plural(taken, 'needs', 'need')} one judgement fewer from people"
        ] * bool(taken)
        return of_qrels + self._find_short({query_id: most for query_id, most, _ in needed}, table)

    def _find_short(self, needed: Mapping[str, int], table: pd.DataFrame | None) -> list[str]:
        """Describe topics that fewer people may judge than `needed`, the number that each of its pairs needs."""
        people = self.store.accounts.table()
        if people.empty:  # judged by scripts, or the app was never started
            return []
        may = people[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool)]
        member_of = dict(zip(may["name"], map(set, may["groups"]), strict=True))
        short: dict[tuple[int, int], list[str]] = {}
        for row in (self.table() if table is None else table).to_dict("records"):
            of = [
                name
                for name, groups in member_of.items()
                if not (row["accounts"] or row["groups"]) or name in row["accounts"] or groups & set(row["groups"])
            ]
            wanted = needed.get(row["query_id"], 1)
            if len(of) < wanted:
                short.setdefault((len(of), wanted), []).append(row["query_id"])
        return [
            f"{count(of, 'annotator')} for {_named(topics)}, but each pair needs {wanted}: "
            "assign more annotators, or reduce the annotators per pair"
            for (of, wanted), topics in sorted(short.items())
        ]

    def deal(
        self, people: Sequence[str], per_topic: int = 1, topics: Iterable[str] | None = None
    ) -> dict[str, list[str]]:
        """Distribute topics evenly by the sizes of their pools, for :meth:`assign`; nothing is written.

        See :func:`collection.assignment.distribute_topics`.
        """
        progress = self.store.judgements.progress()
        chosen = self.among(topics)
        sizes = {q: int(n) for q, n in zip(progress["query_id"], progress["pool"], strict=True) if q in chosen}
        return assignment.distribute_topics(sizes, people, per_topic)

    def among(self, topics: Iterable[str] | None) -> set[str]:
        """Return these topics, or all; raise UnknownNameError for an unknown one."""
        known = self.store.corpus.topics()["query_id"].tolist()
        require_known("topic", known, *(topics or ()))
        return set(known if topics is None else topics)


def _named(topics: Sequence[str]) -> str:
    """``topics 7, 8 and 12 more``."""
    return f"{plural(len(topics), 'topic')} {join_first(topics)}"
