"""Who judges what in a campaign: topics and their people, overlap, calibration, guidelines, and what is left."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from collection import assignment
from collection.assignment import AssignmentSettings
from collection.campaign import run_files
from collection.campaign.accounts import Access
from collection.campaign.progress import Reading
from collection.campaign.results import Feedback, Workload
from collection.characters import require_writable
from collection.errors import CampaignError, InputError, UnknownNameError
from collection.records import in_natural_order

LONGEST_GUIDELINES = 200_000
"""Characters."""


class Assigning(Reading, Access):
    """The part of a campaign that says who judges what."""

    id: str

    # --- settings ---------------------------------------------------------------------------------

    def assignment_settings(self) -> AssignmentSettings:
        """How many judge a pair, how long it is reserved, and whether judging is blind."""
        known = {f.name for f in fields(AssignmentSettings)}
        stored = self.store.setting("assignment", {})
        return AssignmentSettings(**{name: value for name, value in stored.items() if name in known})

    def set_assignment(self, **changes: Any) -> AssignmentSettings:
        """Change how pairs come to annotators.

        Judgements that are there stay, also where fewer annotators are wanted than have judged; so do those of pairs
        that annotators have in hand.

        Parameters
        ----------
        **changes
            Fields of :class:`~collection.assignment.AssignmentSettings`.

        Raises
        ------
        UnknownNameError
            There is no such setting or topic.
        InputError
            It is not in its range.
        """
        with self.store.transaction():
            settings = self._with(changes)
            self.store.put("assignment", asdict(settings))
            self.spread_overlap()
        return settings

    def _with(self, changes: dict[str, Any]) -> AssignmentSettings:
        settings = self.assignment_settings()
        for name in changes:
            if name not in asdict(settings):
                raise UnknownNameError("setting of the assignment", name, asdict(settings))
        settings = replace(settings, **changes)
        known = set(self.topics()["query_id"])
        for query_id in settings.topics:
            if query_id not in known:
                raise UnknownNameError("topic", query_id, known)
        return settings

    def spread_overlap(self) -> None:
        """Write down how many are to judge each pair of the pool; inside a transaction that the caller has open."""
        pool = self._wanted_by(self.assignment_settings())
        changed = pool[pool["wanted"] != pool["now"]]
        self.store.set_wanted(changed[["now", "topic", "doc"]].itertuples(index=False, name=None))
        self.store.assignment_changed()

    def _wanted_by(self, settings: AssignmentSettings) -> pd.DataFrame:
        """The pool with a column ``now``: how many are to judge each pair by these settings."""
        pool = self.store.pool_wanted()
        numbers = [
            assignment.wanted(settings, str(query_id), ids.tolist(), self.id)
            for query_id, ids in pool.groupby("query_id", sort=False)["doc_id"]
        ]
        return pool.assign(now=np.concatenate(numbers) if numbers else 0)

    def workload(self, **changes: Any) -> Workload:
        """What the pool asks for in all under these settings, or with `changes` to them; nothing is written.

        As :meth:`progress` counts it: a loop over the whole collection asks for no number of judgements, and a closed
        topic for no more than it has.
        """
        pool = self._wanted_by(self._with(changes))
        said = pool.merge(self._said(), on=["query_id", "doc_id"])
        said = said.assign(made=said["now"].where(said["ended"], said[["now", "said"]].min(axis=1)))
        progress = self.progress()
        counted = progress.loc[progress["goal"].notna(), "query_id"]
        closed = progress.loc[progress["mode"] == "closed", "query_id"]
        asked = pool.loc[pool["query_id"].isin(counted) & ~pool["query_id"].isin(closed), "now"].sum()
        made = said.loc[said["query_id"].isin(counted), "made"].sum()
        return Workload(len(pool), int(asked + said.loc[said["query_id"].isin(closed), "made"].sum()), int(made))

    def _said(self) -> pd.DataFrame:
        """``query_id``, ``doc_id``, ``said`` (annotators), ``ended`` (adjudicated) of each pair that anybody judged."""
        words = self.judgements()
        words = words.assign(
            said=words["counts_as"] == "judgement",
            ended=words["counts_as"] == "adjudication",
        )
        return words.groupby(["query_id", "doc_id"], as_index=False).agg(said=("said", "sum"), ended=("ended", "any"))

    # --- topics -----------------------------------------------------------------------------------

    def assign(self, query_ids: Iterable[str], accounts: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
        """Assign topics to these people and groups and to nobody else; to none at all, and they are open to everybody.

        What somebody else has in hand of them is given back when their card next asks.

        Raises
        ------
        UnknownNameError, InputError
            There is no such topic, account or group; the account is a reader's.
        """
        accounts, groups, query_ids = list(accounts), list(groups), list(query_ids)
        with self.store.transaction():
            known = self.topics()["query_id"].tolist()
            people = self.accounts()
            names = {name.casefold(): name for name in people["name"]}
            teams = {group for groups_of in people["groups"] for group in groups_of}
            for query_id in query_ids:
                if query_id not in known:
                    raise UnknownNameError("topic", query_id, known)
            may = people[people["role"].isin(["manager", "annotator"])]
            for name in accounts:
                if name.casefold() not in names:
                    raise UnknownNameError("account", name, names.values())
                if names[name.casefold()] not in set(may["name"]):
                    raise InputError(f"{names[name.casefold()]!r} is a reader, and does not judge")
            for name in groups:
                if name not in teams:
                    raise UnknownNameError("group", name, teams)
            for query_id in query_ids:
                self.store.assign(query_id, [names[name.casefold()] for name in accounts], groups)
            self.store.assignment_changed()

    def assignments(self) -> pd.DataFrame:
        """Who judges each topic.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``accounts`` and ``groups`` (lists of names; both empty: everybody), ``pool``
            (pairs), ``wanted``, ``made`` and ``left`` (judgements: ``goal``, ``made`` and ``left`` of
            :meth:`progress`), in natural order.
        """
        progress = self.progress().rename(columns={"goal": "wanted"})
        given = self.store.assignments()
        for kind, column in (("account", "accounts"), ("group", "groups")):
            names: dict[str, list[str]] = {}
            for query_id, of, name in given:
                if of == kind:
                    names.setdefault(query_id, []).append(name)
            progress[column] = [names.get(query_id, []) for query_id in progress["query_id"]]
        columns = ["query_id", "title", "accounts", "groups", "pool", "wanted", "made", "left"]
        return in_natural_order(progress)[columns]

    def assignment_notices(self) -> list[str]:
        """What a manager should know of the assignment: topics that can never have the judgements that they want."""
        people = self.accounts()
        if people.empty:  # a campaign of scripts, or one whose app was never started
            return []
        may = people[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool)]
        member_of = dict(zip(may["name"], map(set, may["groups"]), strict=True))
        most = self.store.pool_wanted().groupby("query_id")["wanted"].max()
        short: dict[tuple[int, int], list[str]] = {}
        for row in self.assignments().to_dict("records"):
            of = [
                name
                for name, groups in member_of.items()
                if not (row["accounts"] or row["groups"]) or name in row["accounts"] or groups & set(row["groups"])
            ]
            wanted = int(most.get(row["query_id"], 1))
            if len(of) < wanted:
                short.setdefault((len(of), wanted), []).append(row["query_id"])
        return [
            f"{many} may judge {_named(topics)}, and {wanted} are to judge each pair there: "
            "assign more people, or ask for fewer judgements"
            for (count, wanted), topics in sorted(short.items())
            for many in ["nobody" if not count else "1 person" if count == 1 else f"{count} people"]
        ]

    def deal(
        self, people: Sequence[str], per_topic: int = 1, topics: Iterable[str] | None = None
    ) -> dict[str, list[str]]:
        """How topics would be dealt out evenly to people, by the sizes of their pools; nothing is written.

        See :func:`collection.assignment.deal`; :meth:`assign` writes what it gives.
        """
        progress = self.store.progress()
        chosen = self._among(topics)
        sizes = {q: int(n) for q, n in zip(progress["query_id"], progress["pool"], strict=True) if q in chosen}
        return assignment.deal(sizes, people, per_topic)

    # --- calibration --------------------------------------------------------------------------------

    def calibration(self) -> pd.DataFrame:
        """The pairs that everybody judges first: ``query_id``, ``doc_id``, ``position``, ``settled``.

        ``settled`` is the adjudicated grade, or where there is none the imported one (null where neither is).
        """
        return self.store.calibration()

    def set_calibration(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Let everybody judge these pairs (query_id, doc_id) before anything else; none: no calibration.

        Raises
        ------
        InputError
            A pair is named twice, or its topic or document is not in the campaign.
        """
        chosen = [(str(query_id), str(doc_id)) for query_id, doc_id in pairs]
        with self.store.transaction():
            topics = set(self.topics()["query_id"])
            require_writable(chosen, "calibration set")
            documents = self.store.documents([doc_id for _, doc_id in chosen])
            for query_id, doc_id in chosen:
                if query_id not in topics:
                    raise InputError(f"wanted pairs of this campaign as calibration set, found topic {query_id!r}")
                if doc_id not in documents or documents[doc_id].text is None:
                    raise InputError(f"wanted documents with a text as calibration set, and {doc_id!r} has none here")
            if len(set(chosen)) < len(chosen):
                twice = next(pair for pair in chosen if chosen.count(pair) > 1)
                raise InputError(f"wanted each pair once in the calibration set, found {twice[0]} {twice[1]} twice")
            self.store.set_calibration(chosen)
            self.store.assignment_changed()

    def draw_calibration(
        self, per_topic: int, topics: Iterable[str] | None = None, seed: int | None = None
    ) -> list[tuple[str, str]]:
        """Pairs of the pool by lot, so many of each topic, for :meth:`set_calibration`; nothing is written.

        Parameters
        ----------
        per_topic
            How many; of a smaller pool all.
        topics
            Only of these.
        seed
            The same seed draws the same pairs; another each time if left out.
        """
        if per_topic < 1:
            raise InputError(f"wanted 1 or more pairs of each topic for the calibration set, found {per_topic}")
        rng = np.random.default_rng(secrets.randbits(64) if seed is None else seed)
        pool = self.store.pool()
        chosen = self._among(topics)
        pairs: list[tuple[str, str]] = []
        for query_id, part in pool.groupby("query_id", sort=False):
            if query_id in chosen:
                without = self.store.without_text(part["doc_id"])
                ids = [doc_id for doc_id in part["doc_id"] if doc_id not in without]
                places = sorted(rng.choice(len(ids), size=min(per_topic, len(ids)), replace=False).tolist())
                pairs += [(str(query_id), ids[place]) for place in places]
        if not pairs:
            raise InputError("a calibration set is drawn from the pool, and these topics have none with a text")
        return pairs

    def _among(self, topics: Iterable[str] | None) -> set[str]:
        """These topics, or all."""
        known = self.topics()["query_id"].tolist()
        for query_id in topics or ():
            if query_id not in known:
                raise UnknownNameError("topic", query_id, known)
        return set(known if topics is None else topics)

    def calibration_for(self, annotator: str) -> int:
        """How many pairs of the calibration set are before an annotator."""
        return sum(self.store.calibration_left(annotator).values())

    def calibrated(self) -> pd.DataFrame:
        """How far each annotator is with the calibration set, and how often their grade is the settled one.

        Returns
        -------
        DataFrame
            ``annotator``, ``judged``, ``of``, ``agree`` (share of their graded pairs with a settled grade; nan where
            there is none); by name. Everybody who has an account that may judge, or has judged one of the pairs.
        """
        pairs = self.store.calibration()
        words = self.judgements()
        words = words[(words["counts_as"] == "judgement") & (words["source"] != "imported")]
        both = pairs.merge(words[["annotator", "query_id", "doc_id", "kind", "relevance"]], on=["query_id", "doc_id"])
        people = self.accounts()
        may = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"]
        rows = []
        for name in sorted({*may, *both["annotator"]}, key=str.casefold):
            own = both[both["annotator"] == name]
            known = own[(own["kind"] == "graded") & own["settled"].notna()]
            agree = float((known["relevance"] == known["settled"]).mean()) if len(known) else math.nan
            rows.append((name, len(own), len(pairs), agree))
        return pd.DataFrame(rows, columns=["annotator", "judged", "of", "agree"])

    def feedback(self, uuid: str, query_id: str, doc_id: str, relevance: int | None) -> Feedback | None:
        """What the manager lets an annotator know after a pair: its settled grade, if it is one for calibration."""
        if not self.assignment_settings().feedback or doc_id not in self.store.calibration_ids(query_id):
            return None
        pairs = self.store.calibration()
        row = pairs[(pairs["query_id"] == query_id) & (pairs["doc_id"] == doc_id)].iloc[0]
        if pd.isna(row["settled"]):
            return None
        words = self.judgements(query_id=query_id)
        words = words[(words["doc_id"] == doc_id) & (words["counts_as"] == "adjudication")]
        note = None if words.empty or pd.isna(words["note"].iloc[-1]) else str(words["note"].iloc[-1])
        return Feedback(uuid, query_id, doc_id, relevance, int(row["settled"]), note)

    # --- guidelines and notes -------------------------------------------------------------------------

    def guidelines(self) -> str:
        """How to judge, in Markdown; empty where nobody has written any."""
        return self.store.text("guidelines")

    def set_guidelines(self, text: str) -> None:
        """Write the guidelines, in Markdown.

        Raises
        ------
        InputError
            They are too long, or cannot be written as UTF-8.
        """
        require_writable(text, "guidelines")
        if len(text) > LONGEST_GUIDELINES:
            raise InputError(f"guidelines have at most {LONGEST_GUIDELINES:,} characters, found {len(text):,}")
        with self.store.transaction():
            self.store.put_text("guidelines", text.strip())

    def topic_notes(self) -> dict[str, str]:
        """``query_id`` -> the manager's note for annotators, of the topics that have one."""
        return self.store.topic_notes()

    def set_topic_note(self, query_id: str, note: str) -> None:
        """Write the note of a topic, which annotators see beside its words; empty removes it.

        Raises
        ------
        UnknownNameError
            There is no such topic.
        InputError
            The note cannot be written as UTF-8.
        """
        require_writable(note, f"note for topic {query_id!a}")
        with self.store.transaction():
            known = self.topics()["query_id"].tolist()
            if query_id not in known:
                raise UnknownNameError("topic", query_id, known)
            self.store.set_topic_note(query_id, note.strip())

    # --- what blind judging hides ----------------------------------------------------------------------

    def others_said(self, query_id: str, doc_id: str, annotator: str) -> pd.DataFrame:
        """What everybody else said of a pair.

        Returns
        -------
        DataFrame
            ``annotator``, ``counts_as``, ``kind``, ``relevance``, ``note``, ``judged_at``, oldest first.

        Raises
        ------
        CampaignError
            Judging is blind here.
        """
        self._not_blind()
        words = self.judgements(query_id=query_id)
        own = (words["annotator"] == annotator) & (words["counts_as"] == "judgement")
        words = words[(words["doc_id"] == doc_id) & ~own]
        return words[["annotator", "counts_as", "kind", "relevance", "note", "judged_at"]].reset_index(drop=True)

    def ranks_of(self, query_id: str, doc_id: str) -> pd.DataFrame:
        """Where the runs have a pair.

        Returns
        -------
        DataFrame
            ``run``, ``rank``, ``score`` of the runs that have it, best rank first.

        Raises
        ------
        CampaignError
            Judging is blind here.
        """
        self._not_blind()
        rows = []
        pair = [("query_id", "==", query_id), ("doc_id", "==", doc_id)]
        for recorded in self.store.runs().to_dict("records"):
            name, frame = recorded["run"], run_files.read(self.directory, recorded, filters=pair)
            rows += [(name, int(rank), float(score)) for rank, score in zip(frame["rank"], frame["score"], strict=True)]
        found = pd.DataFrame(rows, columns=["run", "rank", "score"])
        return found.sort_values(["rank", "run"], kind="stable", ignore_index=True)

    def _not_blind(self) -> None:
        if self.assignment_settings().blind:
            raise CampaignError("judging is blind in this campaign; its manager can end that on the Assign page")


def _named(topics: Sequence[str]) -> str:
    """``topics 7, 8 and 12 more``."""
    first, more = ", ".join(topics[:5]), len(topics) - 5
    return f"topic{'s' * (len(topics) > 1)} {first}" + (f" and {more:,} more" if more > 0 else "")
