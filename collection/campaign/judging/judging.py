"""Choice of the next pairs, and writing of judgements."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from collection import assignment
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.judging.adjudication import Adjudication
from collection.campaign.judging.explanations import Explanations
from collection.campaign.judging.history import JudgingHistory
from collection.campaign.judging.judging_demand import JudgingDemand
from collection.campaign.judging.search import DocumentSearch
from collection.campaign.judging.topic_tasks import TopicTasks
from collection.campaign.log.decision_checks import check_annotator, check_judgement, checked_answers
from collection.campaign.log.results import Feedback, JudgeResult, NextPairs, RefusedDecision
from collection.campaign.loop.active_learning import ActiveLearning
from collection.campaign.loop.loop_round import LoopRound
from collection.campaign.loop.system_order import NextDecisivePairs
from collection.campaign.people.qualification_set import QualificationSet
from collection.campaign.progress.progress import Progress
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.settings.loop_settings import IN_POOL, LOOPING
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.answer_tasks import put_together
from collection.core.errors import JudgementError
from collection.core.records import QRELS_ANNOTATOR, Answer, Candidate, CountsAs, Judgement
from collection.store import PairState, Selection, Store

LONGEST_IN_LOOP = 600.0
"""Maximum seconds of a lease in the loop; an open card renews it every two minutes."""

SPARE = 16
"""Documents of a round that are read in addition to those requested, held, and judged since."""

SKIPPED_FOR = 20
"""Judgements of an annotator after which a document that they skipped in the loop may come again."""


class Client(NamedTuple):
    """Client that requests an annotator's next pairs; by default a script."""

    in_loop: int | None = None
    """Number of documents that it holds in the loop; those held and those asked for if None."""
    waits: bool = True
    """Whether it waits until a round is made if there is none; otherwise what is held stays as it is."""
    alone: bool = True
    """Whether the annotator judges in one place only: their leases in other topics end when they come to this one."""
    questions: Collection[str] | None = None
    """Names of the further questions that it asks, so that it can complete a judgement; None: all."""
    behind: int = 0
    """Number of documents of other topics that come before those that it asks for."""


SCRIPT, WORK_LIST = Client(), Client(alone=False)


@dataclass(eq=False)
class Judging:
    """Choice of the next pairs, and writing of judgements.

    A pair on an annotator's screen, found by searching or in a work list is reserved for them. The documents that
    their browser has loaded ahead are reserved until another annotator runs out: an annotator without a document, in a
    topic in which all are reserved, takes over the last half of those that others have loaded ahead.
    """

    store: Store
    settings: Settings
    corpus: Corpus
    progress: Progress
    qualification_set: QualificationSet
    active_learning: ActiveLearning
    recall: RecallEstimates

    def __post_init__(self) -> None:
        self.demand: JudgingDemand = JudgingDemand(self.store, self.settings)
        self.search: DocumentSearch = DocumentSearch(self.store, self.settings, self.demand)
        self.topic_tasks: TopicTasks = TopicTasks(self.store, self.settings)
        self.adjudication: Adjudication = Adjudication(self.store, self.settings, partial(self.write, from_card=True))
        self.history: JudgingHistory = JudgingHistory(self.store, self.settings, self.progress, self.topic_tasks)
        self.explanations: Explanations = Explanations(self.store, self.settings, self.corpus, self.active_learning)

    def next_pairs(
        self,
        annotator: str,
        query_id: str,
        count: int,
        holding: Sequence[str] = (),
        *,
        loop_round: LoopRound | None = None,
        client: Client = SCRIPT,
    ) -> NextPairs:
        """Give an annotator the next documents of a topic, on lease.

        In the pool, the annotator keeps what they hold and gets more behind it. In the loop, the latest round reorders
        everything that is held but not on screen. The first document is taken to be on screen. Documents whose
        judgement lacks an answer to a question that is asked again come after the others of the pool, and in the loop,
        which need not end, before them, unless the annotator has just skipped them.

        Parameters
        ----------
        count
            Maximum number of further documents.
        holding
            Ids that the annotator holds; the first one is on screen.
        loop_round
            The latest round of the topic's loop, if there is one.
        client
            Whether the client waits for a round and judges in one place only.
        """
        mode = self.settings.mode(query_id)
        holding = list(dict.fromkeys(holding))
        if mode == "closed":
            completes = self.settings.is_completed_when_closed(query_id)
            may_judge = completes and self.store.assignments.is_for(query_id, annotator)
            started = self._from_started(annotator, query_id, count, holding, client) if may_judge else None
            return started or NextPairs([], holding, [], None)
        first = self.store.assignments.qualification_left(annotator)
        if (first and query_id not in first) or not (
            query_id in first or self.store.assignments.is_for(query_id, annotator)
        ):
            with self.store.transaction():
                self.store.queue.end_leases(query_id, annotator, clock.seconds())
            return NextPairs([], holding, None, None, first=next(iter(first), None))
        if first:
            return self._from_pool(annotator, query_id, count, holding, client, qualification=True)
        if mode not in ("loop", "loop-in-pool"):
            pairs = self._from_pool(annotator, query_id, count, holding, client)
            beyond = {*pairs.closed, *pairs.again, *self.store.pool.find_missing(query_id, holding)}
            if mode in IN_POOL or pairs.documents or not beyond.issuperset(holding):
                return pairs
        if loop_round is not None and loop_round.mode != mode:
            loop_round = None  # of the mode that the topic had before
        if loop_round is None and not client.waits:
            return NextPairs([], [], holding, None)
        length = len(holding) + count if client.in_loop is None else client.in_loop
        loop_round = loop_round or self.active_learning.next_round(query_id)
        return self._from_loop(annotator, query_id, length, holding, loop_round, client)

    def following_pairs(
        self, annotator: str, topics: Sequence[str], count: int, most: int, *, client: Client = SCRIPT
    ) -> dict[str, NextPairs]:
        """Reserve documents of the topics after the last of `topics` for an annotator; return them by topic.

        Topics are taken until there are `count` documents, each with at most `most`. This is more than an answer
        usually has, so that the documents of an answer are not divided among annotators. Others may take over the
        reservations, like those of all documents that a browser has loaded ahead.
        """
        found: dict[str, NextPairs] = {}
        if self.store.assignments.qualification_left(annotator):
            return found
        client = client._replace(alone=False, behind=1)
        open_, _ = self._open_topics(annotator, topics[-1], topics)
        for query_id in self._with_work(annotator, open_, None, client.questions):
            found[query_id] = self.next_pairs(annotator, query_id, most, client=client)
            count -= len(found[query_id].documents)
            if count <= 0:
                break
        return found

    def topic_with_work(
        self,
        annotator: str,
        after: str | None = None,
        exclude: Sequence[str] = (),
        among: Sequence[str] = (),
        *,
        wait: bool = True,
        questions: Collection[str] | None = None,
    ) -> str | None:
        """Find a topic that has documents for the annotator now, or return None.

        Starts behind the topic `after`, which is excluded itself; or takes the first of the topics `among`, if any.
        Calibration topics come first. Topics in which others have loaded all documents come last.

        Parameters
        ----------
        wait
            If decisive pairs are judged, select them if needed, and find only topics that have some, those with the
            most first. If False, find any topic with unjudged documents.
        questions
            As in :class:`Client`.

        Raises
        ------
        CampaignError
            As for :meth:`.SystemOrderStudy.choose`.
        """
        if first := self.store.assignments.qualification_left(annotator):
            return next((query_id for query_id in first if query_id not in {*exclude, after}), None)
        open_, decisive = self._open_topics(annotator, after, exclude, among, wait=wait)
        at = clock.seconds()
        loaded = (query_id for query_id in open_ if self.demand.prefetched(query_id, annotator, at))
        return next(itertools.chain(self._with_work(annotator, open_, decisive, questions), loaded), None)

    def _open_topics(
        self,
        annotator: str,
        after: str | None,
        exclude: Sequence[str],
        among: Sequence[str] = (),
        *,
        wait: bool = False,
    ) -> tuple[list[str], NextDecisivePairs | None]:
        """Return the open topics of an annotator in order, with the decisive pairs; see :meth:`topic_with_work`."""
        own = self.store.assignments.topics_for(annotator)
        if self.settings.task() is not None:
            own = put_together(own)
        start = own.index(after) + 1 if after in own else 0
        in_order = self.recall.across_topics.put_first(own[start:] + own[:start])  # may close topics
        modes = self.settings.modes()
        is_asked = wait and not among and LOOPING & set(modes.values()) and self.settings.loop().by_system_order
        decisive = self.active_learning.decisive_pairs() if is_asked else None
        if among:
            in_order = [query_id for query_id in among if query_id in own]
        elif decisive is not None:
            place = {query_id: number for number, query_id in enumerate(decisive.topics)}
            in_order = sorted(in_order, key=lambda query_id: place.get(query_id, len(place)))
        open_ = [
            query_id
            for query_id in in_order
            if query_id not in {*exclude, after}
            and (modes[query_id] != "closed" or self.settings.is_completed_when_closed(query_id))
        ]
        return open_, decisive

    def _with_work(
        self,
        annotator: str,
        topics: Sequence[str],
        decisive: NextDecisivePairs | None,
        questions: Collection[str] | None,
    ) -> Iterator[str]:
        """Yield the `topics` that have documents for an annotator now, besides those that others have loaded."""
        at, modes = clock.seconds(), self.settings.modes()
        standings = self.progress.standings(annotator, None)
        incomplete = self.progress.missing_answers.topics(annotator, questions)
        for query_id in topics:
            if modes[query_id] == "closed":
                if self._second_opinions(query_id, annotator, at, 1):
                    yield query_id
                continue
            pool, done, _ = standings[query_id]
            pooled = modes[query_id] not in ("loop", "loop-in-pool") and done < pool
            if (
                query_id in incomplete
                or (pooled and self.demand.open_in_pool(query_id, annotator, at, 1))
                or (modes[query_id] in LOOPING and self._loop_has_work(query_id, annotator, at, decisive))
            ):
                yield query_id

    def _loop_has_work(self, query_id: str, annotator: str, at: float, decisive: NextDecisivePairs | None) -> bool:
        """Tell whether a topic's loop needs second opinions, or has unjudged documents within the budgets."""
        if self.settings.assignment().annotators > 1 and self._second_opinions(query_id, annotator, at, 1):
            return True
        rows = self.progress.loop_scope.loop_rows()[query_id]
        if decisive is not None:
            rows = np.intersect1d(rows, list(self.progress.loop_scope.rows_of(decisive.for_topic(query_id)).values()))
        taken = np.isin(self.store.queue.unavailable_rows(query_id, at, annotator), rows)  # not labels from elsewhere
        return len(rows) > int(taken.sum()) and self.progress.budget.room(query_id, annotator) != 0

    def _from_pool(
        self,
        annotator: str,
        query_id: str,
        count: int,
        holding: Sequence[str],
        client: Client,
        *,
        qualification: bool = False,
    ) -> NextPairs:
        """Choose documents of the pool, or of the qualification set alone."""
        lease = self.settings.assignment().lease * 60
        with self.store.transaction():
            at = clock.seconds()  # others have ended reservations while this waited for the transaction
            until = at + lease
            candidates = self._pool_candidates(annotator, query_id, count, holding, at, qualification)
            waiting = [c.doc_id for c in assignment.next_pairs(candidates)]
            open_, in_hand = set(waiting), set(holding)
            # Documents found by searching are not in the pool.
            if beyond := in_hand - {c.doc_id for c in candidates}:
                elsewhere = self.demand.candidates(query_id, annotator, at, [d for d in holding if d in beyond])
                open_ |= {c.doc_id for c in assignment.next_pairs(elsewhere)}
            fresh = [doc_id for doc_id in waiting if doc_id not in in_hand][: max(count, 0)]
            again = dict[str, float | None]()
            if not qualification and (len(fresh) < count or not in_hand <= open_):
                again = self.progress.missing_answers.find(query_id, annotator, client.questions)
                open_ |= in_hand.intersection(again)
            held = [doc_id for doc_id in holding if doc_id in open_]
            if client.alone and not holding:
                self.store.queue.end_leases(query_id, annotator, at, keep=fresh, others=True)
            self.store.queue.prolong(query_id, held, annotator, at, until)
            order = None
            if fresh and not qualification and self.settings.mode(query_id) in LOOPING:  # the pool before the loop
                order = self.store.queue.number_conditions(self.active_learning.describe_order(query_id))
            chosen = [Selection(doc_id, conditions=order) for doc_id in fresh]
            self.store.queue.lease(query_id, chosen, annotator, at, until, behind=client.behind + len(held))
            is_last = (again or not (held or fresh)) and self.settings.mode(query_id) != "pool-then-loop"
            if is_last and not held and not fresh:
                fresh = self.demand.take_over(query_id, annotator, at, until, count)
            if is_last and again:
                more = [doc_id for doc_id in again if doc_id not in in_hand][: max(count - len(fresh), 0)]
                places = {doc_id: place for place, doc_id in enumerate(more, len(held) + len(fresh))}
                self.store.queue.lease_again(query_id, places, annotator, at, until)
                fresh += more
        documents = self.store.corpus.documents(fresh)
        closed = [d for d in holding if d not in open_]
        first = fresh if qualification else []
        incomplete = [d for d in again if d in in_hand or d in fresh]
        return NextPairs([documents[d] for d in fresh], closed, None, None, qualification=first, again=incomplete)

    def _from_started(
        self, annotator: str, query_id: str, count: int, holding: Sequence[str], client: Client
    ) -> NextPairs:
        """Choose documents of a closed topic that others have judged and the annotator has to judge, too."""
        lease = self.settings.assignment().lease * 60
        with self.store.transaction():
            at = clock.seconds()
            until = at + lease
            second = self._second_opinions(query_id, annotator, at, count + len(holding))
            candidates = self.demand.candidates(query_id, annotator, at, list(dict.fromkeys([*second, *holding])))
            started = {c.doc_id for c in candidates if c.others}
            open_ = [c.doc_id for c in assignment.next_pairs(candidates) if c.doc_id in started]
            held = [doc_id for doc_id in holding if doc_id in open_]
            fresh = [doc_id for doc_id in open_ if doc_id not in held][: max(count, 0)]
            if client.alone and not holding:
                self.store.queue.end_leases(query_id, annotator, at, keep=fresh, others=True)
            self.store.queue.prolong(query_id, held, annotator, at, until)
            chosen = [Selection(doc_id, "overlap") for doc_id in fresh]
            self.store.queue.lease(query_id, chosen, annotator, at, until, behind=len(held))
            if not held and not fresh:
                fresh = self.demand.take_over(query_id, annotator, at, until, count)
        documents = self.store.corpus.documents(fresh)
        closed = [doc_id for doc_id in holding if doc_id not in held]
        return NextPairs([documents[doc_id] for doc_id in fresh], closed, None, None)

    def _pool_candidates(
        self, annotator: str, query_id: str, count: int, holding: Sequence[str], at: float, qualification: bool
    ) -> list[Candidate]:
        """Return the pairs of a pool that are held, and at least `count` others that are open, in order."""
        if qualification:
            ids = self.store.assignments.qualification_ids(query_id)
            return self.demand.candidates(query_id, annotator, at, ids)
        if count > 0 and self.settings.mode(query_id) == "random":
            candidates = self.demand.candidates(query_id, annotator, at)
            return assignment.shuffle(candidates, self.settings.campaign_id, annotator, query_id)
        # No more of a large pool than is needed.
        searched = {*self.store.pool.find_missing(query_id, holding)}
        candidates = self.demand.candidates(query_id, annotator, at, [d for d in holding if d not in searched])
        return candidates + self.demand.open_in_pool(query_id, annotator, at, count, set(holding))

    def _second_opinions(self, query_id: str, annotator: str, at: float, most: int) -> list[str]:
        """Return documents of a loop that others have judged and more annotators are to judge, the oldest first."""
        judged = self.store.queue.judged_by_others(query_id, annotator, at)
        numbers = self.demand.wanted_outside_pool(query_id, [doc_id for doc_id, _, _ in judged]).tolist()
        wanted = [
            doc_id
            for (doc_id, taken, pooled), number in zip(judged, numbers, strict=True)
            if taken < (number if pooled is None else pooled)
        ]
        return wanted[:most]

    def _from_loop(
        self,
        annotator: str,
        query_id: str,
        length: int,
        holding: Sequence[str],
        loop_round: LoopRound,
        client: Client,
    ) -> NextPairs:
        """Choose documents of a round; a client that starts ends what the annotator held before, also elsewhere."""
        release = client.alone and not holding
        if self.settings.loop().budget:
            self.progress.budget.most_in_loop()  # may read all runs, so it is cached before the transaction
        with self.store.transaction():
            at = clock.seconds()  # others have ended reservations while this waited for the transaction
            if self.recall.across_topics.settle(loop_round):
                return NextPairs([], [*holding], [], None)
            unavailable = self.store.queue.count_unavailable(query_id, at, annotator)
            since = self.store.judgements.count_entries(query_id) - loop_round.model_round
            enough = length + len(holding) + unavailable + since + SPARE
            assigned = self.settings.assignment()
            second = self._second_opinions(query_id, annotator, at, enough) if assigned.annotators > 1 else []
            # Second opinions come first, so that there are soon judgements to compare.
            selections = {doc_id: Selection(doc_id, "overlap", None, loop_round.model_round) for doc_id in second}
            selections |= {
                chosen.doc_id: chosen for chosen in loop_round.selections[:enough] if chosen.doc_id not in selections
            }
            among = [*selections, *(d for d in holding if d not in selections)]
            candidates = self.demand.candidates(query_id, annotator, at, among)
            # A loop has no end, so skipped documents come again after some others.
            since_when = self.store.judgements.judging_time(query_id, annotator, SKIPPED_FOR)
            candidates = [
                c if c.skipped is None or c.skipped >= since_when else c._replace(skipped=None) for c in candidates
            ]
            open_ = [c.doc_id for c in assignment.next_pairs(candidates)]
            # The document on screen was selected by an earlier round, and keeps its lease.
            again = self.progress.missing_answers.find(query_id, annotator, client.questions)
            on_screen = [d for d in holding[:1] if d in open_ or d in again]
            others = [d for d in open_ if d in selections and d not in on_screen]
            room = self.progress.budget.room(query_id, annotator, alone=release)
            if room is not None:
                others = _within(others, second, room - len(set(on_screen).difference(second, again)))
            incomplete = [d for d in again if d not in on_screen]
            skipped = [d for d in incomplete if (again[d] or -1.0) >= since_when]
            others = [d for d in incomplete if d not in skipped] + others + skipped
            order = on_screen + others[: max(length - len(on_screen), 0)]
            self.store.queue.end_leases(query_id, annotator, at, keep=[*holding, *order], others=release)
            until = at + min(assigned.lease * 60, LONGEST_IN_LOOP)
            self.store.queue.prolong(query_id, [d for d in holding if d in open_ or d in again], annotator, at, until)
            left = loop_round.left - self.store.judgements.count_newly_judged(query_id, since) - unavailable
            conditions, chosen = self.store.queue.record_round(query_id, *loop_round.record), []
            judged = {d: place for place, d in enumerate(order) if d in again and d not in on_screen}
            self.store.queue.lease_again(query_id, judged, annotator, at, until)
            for d in order:
                if d in again:
                    continue
                if d not in on_screen:
                    by = None if d in second else conditions
                    chosen.append(_with_probability(selections[d], left)._replace(conditions=by))
                left -= d not in second  # a draw excludes the unjudged documents before it
            behind = order.index(chosen[0].doc_id) if chosen else 0
            self.store.queue.lease(query_id, chosen, annotator, at, until, behind=behind)
            if not order and not self.active_learning.is_short(loop_round):
                order = self.demand.take_over(query_id, annotator, at, until, length)
        fresh = [d for d in order if d not in set(holding)]
        documents = self.store.corpus.documents(fresh)
        closed = [d for d in holding if d not in set(order)]
        incomplete = [d for d in order if d in again]
        return NextPairs([documents[d] for d in fresh], closed, order, loop_round.model_round, again=incomplete)

    def skip(self, annotator: str, query_id: str, doc_id: str) -> None:
        """Skip a pair: it comes again for this annotator after the others of the topic."""
        self.store.queue.skip(query_id, doc_id, annotator, clock.seconds())

    def skip_handed_out(self, annotator: str, pairs: Iterable[tuple[str, str]]) -> None:
        """Skip pairs, given as topic and document, except those that were never handed out to the annotator."""
        for query_id, doc_id in dict.fromkeys(pairs):
            pair = self.store.judgements.pair(query_id, doc_id, annotator)
            if pair is not None and pair.leased:
                self.skip(annotator, query_id, doc_id)

    def leave(self, annotator: str) -> None:
        """End the reservations of an annotator who leaves the judging page; work lists stay theirs."""
        self.store.reservations.release(clock.seconds(), annotator)

    def judge(
        self,
        annotator: str,
        query_id: str,
        doc_id: str,
        relevance: int | None = None,
        *,
        cannot_judge: str | None = None,
        undo: bool = False,
        adjudicate: bool = False,
        note: str | None = None,
        flagged: bool = False,
        passages: Sequence[tuple[int, int]] = (),
        answers: Mapping[str, Answer] | None = None,
        source: str = "script",
        uuid: str | None = None,
    ) -> Judgement:
        """Write a judgement: a grade (`relevance`), a reason why none can be given (`cannot_judge`), or an `undo`.

        Another judgement of the same annotator and pair revises the first. The pair need not be in the pool.

        Parameters
        ----------
        annotator
            A name: one line, spelled as everywhere else in the campaign.
        adjudicate
            Record it as the adjudicated grade of the pair, beside the annotator's own judgement.
        note, flagged, passages, source
            See :class:`~collection.core.records.Judgement`.
        answers
            Answers to further questions, by name: a grade, the name of an answer, or names of tags.
        uuid
            Makes writing idempotent; a new one if left out.

        Returns
        -------
        Judgement
            As it was given; the log adds when and how the pair was chosen.

        Raises
        ------
        JudgementError
            Unknown topic or document, a grade outside the campaign's scale, an answer that is unknown, not asked for or
            missing, nothing to undo, or a name that differs from another annotator's only in case.
        """
        if (relevance is not None) + (cannot_judge is not None) + undo != 1:
            raise JudgementError("expected exactly one of relevance, cannot_judge and undo")
        judgement = Judgement(
            uuid or str(uuid4()),
            annotator,
            query_id,
            doc_id,
            "graded" if relevance is not None else "undone" if undo else "cannot judge",
            relevance=relevance,
            reason=cannot_judge,
            note=note,
            source=source,
            counts_as="adjudication" if adjudicate else "judgement",
            flagged=flagged,
            passages=tuple(passages),
            answers=dict(answers or {}),
        )
        self._check_spelling(annotator)
        self.write(judgement)
        return judgement

    def judge_many(self, judgements: Sequence[Judgement], *, leased_only: bool = False) -> JudgeResult:
        """Write judgements to the log in order, idempotently by uuid; those in `saved` are then on disk.

        Parameters
        ----------
        judgements
            ``kind`` "graded" needs a grade of the campaign's scale, "cannot judge" a reason; "undone" undoes the
            annotator's current judgement of the pair.
        leased_only
            Refuse pairs that were never assigned to the annotator or that have no text yet. A judgement after the
            end of its lease is surplus if others have given all judgements that the pair needs, or have it on screen
            or in a work list.
        """
        saved: list[str] = []
        refused: list[RefusedDecision] = []
        surplus: list[str] = []
        feedback: list[Feedback] = []
        with self.store.transaction():
            for judgement in judgements:
                try:
                    counts_as = self.write(judgement, leased_only=leased_only)
                except JudgementError as error:
                    refused.append(RefusedDecision(judgement.uuid, str(error)))
                    continue
                saved.append(judgement.uuid)
                if counts_as == "surplus" and judgement.kind != "undone":
                    surplus.append(judgement.uuid)
                if (
                    leased_only
                    and judgement.kind != "undone"
                    and (answer := self.qualification_set.feedback(judgement))
                ):
                    feedback.append(answer)
        return JudgeResult(saved, refused, surplus, feedback)

    def _check_spelling(self, annotator: str) -> None:
        """Refuse a name that is reserved for imported qrels, or that would split one person into two annotators."""
        if str(annotator).startswith(QRELS_ANNOTATOR):
            raise JudgementError(
                f"names that begin with {QRELS_ANNOTATOR!r} are reserved for imported qrels, found {annotator!r}"
            )
        if str(annotator).casefold() in self.store.machine_labels.folded_names():
            raise JudgementError(f"expected the name of a person, found {annotator!r}, the name of a label set")
        known = {*self.store.accounts.names_in_the_log(), *self.store.accounts.names()}
        spellings = sorted(name for name in known if name.casefold() == str(annotator).casefold())
        if spellings and annotator not in spellings:
            raise JudgementError(
                f"expected the annotator's name as in the campaign, {spellings[0]!r}, found {annotator!r}"
            )

    def write(self, judgement: Judgement, *, leased_only: bool = False, from_card: bool | None = None) -> CountsAs:
        """Write a judgement, and return what it counts as; JudgementError if it is invalid.

        `from_card` is `leased_only` if left out: a card may have been opened before the questions were changed.
        """
        from_card = leased_only if from_card is None else from_card
        j, topic, document = judgement, f"topic {judgement.query_id!r}", f"document {judgement.doc_id!r}"
        with self.store.transaction():
            check_annotator(j, "judgement")
            logged = self.store.judgements.find_entry(j.uuid)
            if logged is not None:
                if logged[:3] != (j.annotator, j.query_id, j.doc_id):
                    raise JudgementError(f"expected a new uuid, found {j.uuid} of another judgement")
                return logged.counts_as
            if leased_only and j.counts_as != "judgement":
                raise JudgementError(f"expected a judgement, found {j.counts_as}")
            pair = self.store.judgements.pair(j.query_id, j.doc_id, j.annotator, j.counts_as)
            if pair is None:
                known = j.query_id in set(self.store.corpus.topics()["query_id"])
                raise JudgementError(f"{document if known else topic} is not in the campaign")
            if leased_only and not (pair.leased or pair.known):
                raise JudgementError(f"{document} of {topic} is not assigned to {j.annotator}")
            if leased_only and pair.held_back and pair.judgement is None and j.kind != "undone":
                raise JudgementError(f"{document} has no text yet and cannot be judged")
            if leased_only and pair.judgement is None:
                j, pair = self._if_wanted(j, pair)
            check_judgement(j, self.settings.grades, pair.judgement)
            is_complete = not from_card and j.source != "imported"
            if j.answers or is_complete:  # without answers, a card and a file need no look at the questions
                j = j._replace(answers=checked_answers(j, self.settings.questions(), complete=is_complete))
            if j.source != "imported" or j.strategy is None:  # an imported log may have its own selections
                j = j._replace(
                    strategy=pair.strategy,
                    pool_rank=pair.pool_rank,
                    model_round=pair.model_round,
                    probability=pair.probability,
                )
            else:
                pair = pair._replace(conditions=None)  # the loop of this campaign did not select it
            self.store.judgements.append(j, pair)
            if leased_only and j.kind == "undone":
                until = clock.seconds() + min(self.settings.assignment().lease * 60, LONGEST_IN_LOOP)
                self.demand.hold_again(j.annotator, j.query_id, j.doc_id, until)
            return j.counts_as

    def _if_wanted(self, j: Judgement, pair: PairState) -> tuple[Judgement, PairState]:
        """Turn the judgement into surplus unless the pair still needs it (:meth:`.JudgingDemand.has_room`)."""
        surplus = self.store.judgements.pair(j.query_id, j.doc_id, j.annotator, "surplus")
        if surplus is None or (j.kind == "undone" and surplus.judgement is None):
            return j, pair
        if j.kind != "undone" and self.demand.has_room(j.annotator, j.query_id, j.doc_id):
            return j, pair
        return j._replace(counts_as="surplus"), surplus


def _within(documents: Sequence[str], judged: Sequence[str], room: int) -> list[str]:
    """Return the documents that are judged already, and `room` of the others, in order."""
    fresh = [doc_id for doc_id in documents if doc_id not in judged]
    allowed = {*judged, *fresh[: max(room, 0)]}
    return [doc_id for doc_id in documents if doc_id in allowed]


def _with_probability(chosen: Selection, documents: int) -> Selection:
    """Set the probability of a random draw from this number of documents."""
    return chosen if chosen.probability is None else chosen._replace(probability=1 / max(documents, 1))
