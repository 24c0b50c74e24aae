"""Tasks whose unit is a topic: choosing from lists, and comparing two documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from collection import clock, preferences
from collection.assignment import random_keys
from collection.campaign.judging_settings import MOST_CHOSEN
from collection.campaign.results import JudgeResult, Refused
from collection.campaign.settings import Settings
from collection.campaign.topic_progress import Board
from collection.characters import require_writable
from collection.errors import JudgementError, UnknownNameError
from collection.records import CHOICE_KINDS, PREFERENCE_KINDS, Choice, Preference
from collection.store import Standing, Store

D = TypeVar("D", Choice, Preference)

BATCH = 32
"""Topics whose claims are looked up together."""


class NextTopics(NamedTuple):
    """Topics for one annotator.

    Attributes
    ----------
    fresh
        Ids of those that are handed out, in the order in which to decide on them.
    closed
        Of what they hold: what wants no decision of theirs any more.
    exhausted
        Whether nothing more than this is open to them now.
    """

    fresh: list[str]
    closed: list[str]
    exhausted: bool


class TaskProgress(NamedTuple):
    """How far an annotator is: topics that they decided, that number with those left to them, and these alone."""

    done: int
    goal: int
    left: int


@dataclass(eq=False)
class TopicTasks:
    """Tasks whose unit is a topic: choosing from lists, and comparing two documents."""

    store: Store
    directory: Path
    campaign_id: str
    settings: Settings
    _made_board: Board | None = field(default=None, init=False)

    def next_topics(self, annotator: str, count: int, holding: Sequence[str] = ()) -> NextTopics:
        """Hand out the next topics of the campaign's task to an annotator, and keep what they hold in their hands.

        In the order of their import, or in an order of chance where the campaign's mode is "random". As many have
        decided on a topic or have it in hand as are to judge that pair of its pool which most are to judge, and no
        more. A topic is reserved as long as a pair would be, and again when it is named among those that they hold.
        Topics that are closed, are others', or have too few documents with a text in their pool are not handed out.

        Parameters
        ----------
        annotator
            Who is to decide.
        count
            How many more are wanted at most.
        holding
            Ids of topics that they have in hand.
        """
        at, lease = clock.seconds(), self.settings.assignment().lease * 60
        if self.settings.judging_page().task == "grades":
            return NextTopics([], list(holding), True)
        with self.store.transaction():
            board = self.board()
            held = [board.keys[query_id] for query_id in holding if query_id in board.keys]
            claims = self.store.topic_tasks.claims_on(held, at)
            kept = [t for t in dict.fromkeys(held) if _may_have(board, t, annotator, claims)]
            until = {topic: end for topic, name, end in claims if name == annotator}
            # A save that hands nothing out shall not write, either, as long as the reservations are young.
            self.store.topic_tasks.claim([t for t in kept if until.get(t, 0) < at + lease / 2], annotator, at + lease)
            fresh, exhausted = self._fresh(board, annotator, max(count, 0), set(kept), at)
            self.store.topic_tasks.claim(fresh, annotator, at + lease)
        ids = {board.topics[topic].query_id for topic in kept}
        closed = [query_id for query_id in holding if query_id not in ids]
        return NextTopics([board.topics[topic].query_id for topic in fresh], closed, exhausted)

    def _fresh(self, board: Board, annotator: str, count: int, held: set[int], at: float) -> tuple[list[int], bool]:
        found: list[int] = []
        topics = (topic for topic in board.open_to(annotator) if topic not in held)
        while len(found) < count:
            waiting = list(islice(topics, BATCH))
            if not waiting:
                return found, True
            claims = self.store.topic_tasks.claims_on(waiting, at)
            found += [topic for topic in waiting if _may_have(board, topic, annotator, claims)]
        return found[:count], False

    def documents(self, query_id: str) -> list[str]:
        """Ids of the documents that an annotator sees of a topic: the first of its pool with a text, in its order."""
        return self.board().documents(query_id)

    def progress(self, annotator: str) -> TaskProgress:
        """How many topics an annotator has decided, and how many want a decision of theirs."""
        done, left = self.board().progress(annotator)
        return TaskProgress(done, done + left, left)

    def plan(self, annotator: str, query_id: str, depth: int = 0) -> tuple[preferences.Plan, preferences.Lookahead]:
        """Which two documents of a topic an annotator compares next, and which after each possible answer.

        See :func:`collection.preferences.plan` and :func:`collection.preferences.look_ahead`, whose `depth` it is.

        Raises
        ------
        UnknownNameError
            There is no such topic.
        """
        board = self.board()
        if query_id not in board.keys:
            raise UnknownNameError("topic", query_id, board.keys)
        documents = board.documents(query_id)
        said = self.store.topic_tasks.preferences_of(board.keys[query_id], annotator)
        seed = f"{self.campaign_id} {annotator} {query_id}"
        return preferences.plan(documents, said, seed), preferences.look_ahead(documents, said, seed, depth)

    def may_see(self, annotator: str, query_id: str) -> bool:
        """Whether a topic is one of an annotator's, or was."""
        topic = self.board().keys.get(query_id)
        if topic is None:
            return False
        return (
            self.store.assignments.is_for(query_id, annotator)
            or self.store.topic_tasks.was_claimed(topic, annotator)
            or len(self.choices(annotator=annotator, query_id=query_id)) > 0
            or self.store.topic_tasks.has_preferences(topic, annotator)
        )

    def board(self) -> Board:
        """What everybody has decided by now in the campaign's task."""
        settings = self.settings.judging_page()
        (topics, pool_round, *others), _ = self.store.judgements.versions()
        # Texts that come later, or are replaced, too, raise the version of the documents.
        version = self.store.settings.get("documents_version", 0)
        lists_of = (settings.task, settings.list_size, settings.preference_size, topics, pool_round, version)
        made_of = (*others, self.store.topic_tasks.closed_topics(), self.settings.usual_mode())
        board = self._made_board
        if board is None or not board.is_of(lists_of, made_of):
            place = f"{self.campaign_id} {self.directory.resolve()}"
            board = Board(self.store, settings, self._order_of, place, lists_of, made_of)
            self._made_board = board
        else:
            board.catch_up()
        return board

    def _order_of(self, annotator: str, topics: Sequence[int]) -> list[int]:
        if self.settings.usual_mode() != "random":
            return list(topics)
        by_lot = random_keys(list(map(str, topics)), self.campaign_id, annotator, "topics").tolist()
        return [topic for _, topic in sorted(zip(by_lot, topics, strict=True))]

    def choose(self, choices: Sequence[Choice], *, handed_out_only: bool = False) -> JudgeResult:
        """Write choices to the log, in their order; when this returns, those in `saved` are on disk.

        Idempotent by uuid: one that is in the log already is reported as saved and not written again.

        Parameters
        ----------
        choices
            ``kind`` "chosen" has the documents that were `shown` and those of them that were `chosen` (none: "none of
            these"), no more than the campaign's ``most_chosen``; "cannot judge" needs a reason; "undone" takes the
            annotator's current choice for the topic back.
        handed_out_only
            Refuse topics that were neither handed out to the annotator nor ever decided by them, and lists with
            documents that are not in the topic's pool. One whose reservation has ended is kept, and counts; so is one
            with more than ``most_chosen``, as the manager may have lowered that after it was handed out.
        """
        return self._take(choices, lambda choice: self._choose(choice, handed_out_only))

    def prefer(self, preferences: Sequence[Preference], *, handed_out_only: bool = False) -> JudgeResult:
        """Write preferences to the log, as :meth:`choose` does.

        Parameters
        ----------
        preferences
            ``kind`` "left", "right" or "equal"; "cannot judge" needs a reason; "undone" takes the annotator's current
            preference between the two documents back, whichever stood where.
        handed_out_only
            Refuse topics that were neither handed out to the annotator nor ever decided by them, and documents that are
            not in the topic's pool.
        """
        return self._take(preferences, lambda preference: self._prefer(preference, handed_out_only))

    def _take(self, decisions: Sequence[D], write: Callable[[D], None]) -> JudgeResult:
        saved: list[str] = []
        refused: list[Refused] = []
        with self.store.transaction():
            for decision in decisions:
                try:
                    write(decision)
                except JudgementError as error:
                    refused.append(Refused(decision.uuid, str(error)))
                else:
                    saved.append(decision.uuid)
        return JudgeResult(saved, refused)

    def _choose(self, c: Choice, handed_out_only: bool) -> None:
        _check_name(c.annotator, "choice")
        require_writable(c, "choice", JudgementError)
        logged = self.store.topic_tasks.choice_logged(c.uuid)
        if logged is not None:
            if logged != (c.annotator, c.query_id):
                raise JudgementError(f"the uuid {c.uuid} belongs to another choice")
            return
        standing = self.store.topic_tasks.choice_standing(c.query_id, c.annotator)
        if standing is None:
            raise JudgementError(f"topic {c.query_id!r} is not in the campaign")
        docs = self.store.corpus.doc_keys(c.shown)
        # A card asks for no more than it was told; what was decided before the manager lowered it is not lost.
        _check_choice(c, docs, MOST_CHOSEN if handed_out_only else self.settings.judging_page().most_chosen)
        if c.kind == "undone" and standing.entry is None:
            raise JudgementError(f"{c.annotator} has no choice for topic {c.query_id!r} to take back")
        if handed_out_only:
            self._check_handed_out(c, standing.known, standing.topic, c.shown)
        self.store.topic_tasks.append_choice(c, standing, [docs[doc_id] for doc_id in c.shown])
        self._keep_in_hand(c, standing, handed_out_only)

    def _prefer(self, p: Preference, handed_out_only: bool) -> None:
        _check_name(p.annotator, "preference")
        require_writable(p, "preference", JudgementError)
        logged = self.store.topic_tasks.preference_logged(p.uuid)
        if logged is not None:
            if (*logged[:2], *sorted(logged[2:])) != (p.annotator, p.query_id, *sorted((p.left, p.right))):
                raise JudgementError(f"the uuid {p.uuid} belongs to another preference")
            return
        docs = self.store.corpus.doc_keys([p.left, p.right])
        _check_preference(p, docs)
        standing = self.store.topic_tasks.preference_standing(p.query_id, p.annotator, docs[p.left], docs[p.right])
        if standing is None:
            raise JudgementError(f"topic {p.query_id!r} is not in the campaign")
        if p.kind == "undone" and standing.entry is None:
            raise JudgementError(f"{p.annotator} has no preference between {p.left!r} and {p.right!r} to take back")
        if handed_out_only:
            known = standing.known or self.store.topic_tasks.has_preferences(standing.topic, p.annotator)
            self._check_handed_out(p, known, standing.topic, (p.left, p.right))
        self.store.topic_tasks.append_preference(p, standing, docs[p.left], docs[p.right])
        self._keep_in_hand(p, standing, handed_out_only)

    def _check_handed_out(self, decision: D, known: bool, topic: int, shown: Sequence[str]) -> None:
        if not (known or self.store.topic_tasks.was_claimed(topic, decision.annotator)):
            raise JudgementError(f"topic {decision.query_id!r} was not handed out to {decision.annotator}")
        if strange := self.store.pool.missing(decision.query_id, shown):
            raise JudgementError(f"document {strange[0]!r} is not in the pool of topic {decision.query_id!r}")
        if decision.kind != "undone" and (missing := self.store.corpus.without_text(shown)):
            raise JudgementError(f"the text of document {min(missing)!r} is missing, so it cannot be judged yet")

    def _keep_in_hand(self, decision: D, standing: Standing, handed_out: bool) -> None:
        """A topic whose decision is taken back is in the annotator's hands again, where there is room."""
        if decision.kind != "undone" or not handed_out:
            return
        at, lease = clock.seconds(), self.settings.assignment().lease * 60
        claims = self.store.topic_tasks.claims_on([standing.topic], at)
        if _may_have(self.board(), standing.topic, decision.annotator, claims):
            self.store.topic_tasks.claim([standing.topic], decision.annotator, at + lease)

    def choices(self, **which: Any) -> pd.DataFrame:
        """Choices, oldest first; see :meth:`.TopicTaskTables.choices` for what can be chosen."""
        return self.store.topic_tasks.choices(**which)

    def preferences(self, **which: Any) -> pd.DataFrame:
        """Preferences, oldest first; see :meth:`.TopicTaskTables.preferences` for what can be chosen."""
        return self.store.topic_tasks.preferences(**which)

    def counts(self) -> dict[str, int]:
        """How many choices and preferences stand: ``choices``, ``preferences``."""
        return self.store.topic_tasks.counts()


def _may_have(board: Board, topic: int, annotator: str, claims: Sequence[tuple[int, str, float]]) -> bool:
    """Whether a topic wants a decision of the annotator, and fewer others than there is room for have it in hand."""
    if not board.wants(topic, annotator):
        return False
    said = board.decided.get(topic, set())
    others = sum(t == topic and name != annotator and name not in said for t, name, _ in claims)
    return others <= board.room(topic, annotator)


def _check_name(annotator: str, what: str) -> None:
    if not annotator or annotator != annotator.strip() or not annotator.isprintable():
        wanted = f"a {what} needs the name of its annotator, one line without blanks around it"
        raise JudgementError(f"{wanted}, found {annotator!r}")


def _check_choice(c: Choice, docs: dict[str, int], most: int) -> None:
    if c.kind not in CHOICE_KINDS:
        raise JudgementError(f"wanted a kind of choice ({', '.join(CHOICE_KINDS)}), found {c.kind!r}")
    for doc_id in c.shown:
        if doc_id not in docs:
            raise JudgementError(f"document {doc_id!r} is not in the campaign")
    for name, ids in (("shown", c.shown), ("chosen", c.chosen)):
        if len(set(ids)) < len(ids):
            twice = next(doc_id for doc_id in ids if ids.count(doc_id) > 1)
            raise JudgementError(f"wanted each document once among those {name}, found {twice!r} twice")
    strange = [doc_id for doc_id in c.chosen if doc_id not in set(c.shown)]
    if strange:
        raise JudgementError(f"wanted what is chosen among what was shown, found {strange[0]!r}")
    if c.kind == "chosen" and not c.shown:
        raise JudgementError("wanted the documents that were shown, found none")
    if len(c.chosen) > most:
        raise JudgementError(f"wanted {most} chosen document{'s' * (most > 1)} at most, found {len(c.chosen)}")
    if c.kind != "chosen" and c.chosen:
        raise JudgementError(f"a choice that says {c.kind!r} has no chosen document, found {c.chosen[0]!r}")
    if c.kind == "cannot judge" and not (c.reason or "").strip():
        raise JudgementError('"cannot judge" needs a reason')


def _check_preference(p: Preference, docs: dict[str, int]) -> None:
    if p.kind not in PREFERENCE_KINDS:
        raise JudgementError(f"wanted a kind of preference ({', '.join(PREFERENCE_KINDS)}), found {p.kind!r}")
    for doc_id in (p.left, p.right):
        if doc_id not in docs:
            raise JudgementError(f"document {doc_id!r} is not in the campaign")
    if p.left == p.right:
        raise JudgementError(f"wanted two documents to compare, found {p.left!r} twice")
    if p.kind == "cannot judge" and not (p.reason or "").strip():
        raise JudgementError('"cannot judge" needs a reason')
