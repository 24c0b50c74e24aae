"""Hands out pairs and takes judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from collection import assignment, clock
from collection.campaign.active_learning import ActiveLearning
from collection.campaign.calibration import Calibration
from collection.campaign.judging_budget import JudgingBudget
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import IN_POOL, LOOPING
from collection.campaign.progress import Progress
from collection.campaign.results import Feedback, JudgeResult, NextPairs, Refused
from collection.campaign.settings import Settings
from collection.campaign.training_round import Round
from collection.characters import require_writable
from collection.errors import JudgementError
from collection.records import Candidate, CountsAs, GradeScale, Judgement
from collection.store import Demand, Pair, Selection, Store

LONGEST_IN_LOOP = 600.0
"""Seconds that a pair is reserved in the loop at most, where what is held is the best that there is; a card in front
renews it every two minutes."""

SPARE = 16
"""Documents beyond what is wanted, held, and judged since a round was made."""

SKIPPED_FOR = 20
"""Judgements of the annotator after which a document that they skipped in the loop may come again."""


@dataclass(eq=False)
class Judging:
    """Hands out pairs and takes judgements."""

    store: Store
    campaign_id: str
    grades: GradeScale
    settings: Settings
    progress: Progress
    calibration: Calibration
    loop_scope: LoopScope
    budget: JudgingBudget
    active_learning: ActiveLearning

    def next_pairs(
        self,
        annotator: str,
        query_id: str,
        count: int,
        holding: Sequence[str] = (),
        *,
        made: Round | None = None,
        in_loop: int | None = None,
        wait: bool = True,
        alone: bool = True,
    ) -> NextPairs:
        """Hand out the next documents of a topic to an annotator, on lease.

        Where the topic is in its pool, the annotator keeps what they hold and gets more behind it. Where it is in
        its loop, the latest round decides anew on everything that is held but not on screen.

        Parameters
        ----------
        annotator, query_id
            Who judges, and which topic.
        count
            How many more are wanted at most.
        holding
            Ids that the annotator has in hand already; in the loop the first one is taken to be on screen.
        made
            The latest round of the topic's loop, if somebody has made one; it is made here otherwise.
        in_loop
            How many an annotator shall hold in the loop; as many as they hold and `count` if left out.
        wait
            Whether to make a round where `made` is None; if not, what is held stays as it is.
        alone
            Whether the annotator judges nowhere else just now. If not, they may have documents of other topics on
            screen, and keep them; else what they held there is let go when they come to a topic in its loop.

        Returns
        -------
        NextPairs
            What is new, what need not be judged any more, and in the loop the order of all.
        """
        mode, at = self.settings.mode(query_id), clock.seconds()
        if mode == "closed":
            return NextPairs([], list(holding), [], None)
        first = self.store.assignments.calibration_left(annotator)
        if (first and query_id not in first) or not (
            query_id in first or self.store.assignments.is_for(query_id, annotator)
        ):
            with self.store.transaction():
                self.store.queue.end_leases(query_id, annotator, at)
            return NextPairs([], list(holding), None, None, first=next(iter(first), None))
        if first:
            return self._from_pool(
                annotator, query_id, count, holding, at, self.store.assignments.calibration_ids(query_id)
            )
        if mode not in ("loop", "loop-in-pool"):
            pairs = self._from_pool(annotator, query_id, count, holding, at)
            if mode in IN_POOL or pairs.documents or len(pairs.closed) < len(holding):
                return pairs
        if made is not None and made.mode != mode:
            made = None  # of the mode that the topic had before
        if made is None and not wait:
            return NextPairs([], [], list(holding), None)
        length = len(holding) + count if in_loop is None else in_loop
        made = made or self.active_learning.retrain(query_id)
        return self._from_loop(annotator, query_id, length, holding, at, made, let_go=alone and not holding)

    def topic_with_work(self, annotator: str, after: str | None = None, but: Sequence[str] = ()) -> str | None:
        """A topic in which something can be handed out to the annotator now; None where there is none.

        Parameters
        ----------
        annotator
            Who judges.
        after
            The topics behind this one are looked at first, then those before it; it is left out itself.
        but
            Topics that are left out as well.
        """
        if first := self.store.assignments.calibration_left(annotator):
            return next((query_id for query_id in first if query_id not in {*but, after}), None)
        mine, modes, at = self.store.assignments.topics_for(annotator), self.settings.modes(), clock.seconds()
        start = mine.index(after) + 1 if after in mine else 0
        standings = self.progress.standings(annotator, None)
        for query_id in mine[start:] + mine[:start]:
            if query_id in {*but, after} or modes[query_id] == "closed":
                continue
            pool, done, _ = standings[query_id]
            pooled = modes[query_id] not in ("loop", "loop-in-pool") and done < pool
            if pooled and assignment.next_pairs(self.candidates(query_id, annotator, at)):
                return query_id
            if modes[query_id] in LOOPING and self._loop_has_work(query_id, annotator, at):
                return query_id
        return None

    def _loop_has_work(self, query_id: str, annotator: str, at: float) -> bool:
        """Whether a topic's loop has second opinions to ask for, or unjudged documents within the budgets."""
        if self._second_opinions(query_id, annotator, at, 1):
            return True
        rows = self.loop_scope.rows()[query_id]
        taken = np.isin(self.store.queue.unavailable_rows(query_id, at, annotator), rows)  # not labels from elsewhere
        return len(rows) > int(taken.sum()) and self.budget.room(query_id, annotator) != 0

    def _from_pool(
        self,
        annotator: str,
        query_id: str,
        count: int,
        holding: Sequence[str],
        at: float,
        calibration: Sequence[str] | None = None,
    ) -> NextPairs:
        """Hand out of the pool in its order or by lot, or of the calibration set alone."""
        settings = self.settings.assignment()
        until = at + settings.lease * 60
        with self.store.transaction():
            candidates = self.candidates(query_id, annotator, at, calibration)
            if self.settings.mode(query_id) == "random":
                candidates = assignment.shuffle(candidates, self.campaign_id, annotator, query_id)
            waiting = [c.doc_id for c in assignment.next_pairs(candidates)]
            in_hand = set(holding)
            held = [doc_id for doc_id in waiting if doc_id in in_hand]
            fresh = [doc_id for doc_id in waiting if doc_id not in in_hand][: max(count, 0)]
            # What was found by searching is not in the pool.
            if beyond := in_hand - {c.doc_id for c in candidates}:
                elsewhere = self.candidates(query_id, annotator, at, [d for d in holding if d in beyond])
                searched = [c.doc_id for c in assignment.next_pairs(elsewhere)]
                self.store.queue.prolong(query_id, searched, annotator, min(until, at + LONGEST_IN_LOOP))
            self.store.queue.prolong(query_id, held, annotator, until)
            self.store.queue.lease(query_id, map(Selection, fresh), annotator, at, until)
        documents = self.store.corpus.documents(fresh)
        closed = [d for d in holding if d not in set(held)]
        return NextPairs([documents[d] for d in fresh], closed, None, None, calibration=fresh if calibration else [])

    def candidates(
        self, query_id: str, annotator: str, at: float, among: Sequence[str] | None = None
    ) -> list[Candidate]:
        """The store's candidates, with the number of annotators that each pair wants, in the pool or not."""
        candidates = self.store.queue.candidates(query_id, annotator, at, among)
        outside = [] if among is None else [c.doc_id for c in candidates if not c.wanted]
        if outside:
            numbers = iter(self._wanted_outside(query_id, outside).tolist())
            candidates = [c if c.wanted else c._replace(wanted=next(numbers)) for c in candidates]
        return candidates

    def _wanted_outside(self, query_id: str, doc_ids: Sequence[str]) -> NDArray[np.int64]:
        """How many are to judge pairs that are not in the pool."""
        return assignment.count_wanted(self.settings.assignment(), query_id, doc_ids, self.campaign_id, pooled=False)

    def _second_opinions(self, query_id: str, annotator: str, at: float, most: int) -> list[str]:
        """Documents of a loop that others have judged and more annotators are to judge, the oldest first."""
        if self.settings.assignment().annotators == 1:
            return []
        begun = self.store.queue.judged_by_others(query_id, annotator, at)
        numbers = self._wanted_outside(query_id, [doc_id for doc_id, _, _ in begun]).tolist()
        wanted = [
            doc_id
            for (doc_id, taken, pooled), number in zip(begun, numbers, strict=True)
            if taken < (number if pooled is None else pooled)
        ]
        return wanted[:most]

    def _from_loop(
        self,
        annotator: str,
        query_id: str,
        length: int,
        holding: Sequence[str],
        at: float,
        made: Round,
        *,
        let_go: bool,
    ) -> NextPairs:
        """Hand out of a round; `let_go`: what the annotator holds in other topics is no longer theirs."""
        if self.settings.loop().budget:
            self.budget.most_in_loop()  # which may read all runs, for seconds in which nobody else could write
        with self.store.transaction():
            out_of_reach = self.store.queue.count_unavailable(query_id, at, annotator)
            # So many are enough, and this is the one thing that takes time in a save.
            since = self.store.judgements.logged_in(query_id) - made.model_round
            enough = length + len(holding) + out_of_reach + since + SPARE
            second = self._second_opinions(query_id, annotator, at, enough)
            # What others have judged comes first: it is as good as theirs was, and soon there are two to compare.
            selections = {doc_id: Selection(doc_id, "overlap", None, made.model_round) for doc_id in second}
            selections |= {
                chosen.doc_id: chosen for chosen in made.selections[:enough] if chosen.doc_id not in selections
            }
            among = [*selections, *(d for d in holding if d not in selections)]
            candidates = self.candidates(query_id, annotator, at, among)
            # A loop has no end at which skipped documents could come again: they do after some others.
            since_when = self.store.judgements.judged_since(query_id, annotator, SKIPPED_FOR)
            candidates = [
                c if c.skipped is None or c.skipped >= since_when else c._replace(skipped=None) for c in candidates
            ]
            open_ = [c.doc_id for c in assignment.next_pairs(candidates)]
            # What is on screen came up by an earlier round, and its lease says so.
            on_screen = [d for d in holding[:1] if d in open_]
            others = [d for d in open_ if d in selections and d not in on_screen]
            room = self.budget.room(query_id, annotator, alone=let_go)
            if room is not None:
                others = _within(others, second, room - len(set(on_screen).difference(second)))
            order = on_screen + others[: max(length - len(on_screen), 0)]
            self.store.queue.end_leases(query_id, annotator, at, keep=[*holding, *order], others=let_go)
            until = at + min(self.settings.assignment().lease * 60, LONGEST_IN_LOOP)
            self.store.queue.prolong(query_id, [d for d in holding if d in open_], annotator, until)
            left = made.left - self.store.judgements.judged_among(query_id, since) - out_of_reach
            chosen = []
            for d in order:
                if d not in on_screen:
                    chosen.append(_drawn_from(selections[d], left))
                left -= d not in second  # what nobody has judged and stands before a draw is not drawn from
            self.store.queue.lease(query_id, chosen, annotator, at, until)
        fresh = [d for d in order if d not in set(holding)]
        documents = self.store.corpus.documents(fresh)
        closed = [d for d in holding if d not in set(order)]
        return NextPairs([documents[d] for d in fresh], closed, order, made.model_round)

    def skip(self, annotator: str, query_id: str, doc_id: str) -> None:
        """Put a pair off: it comes again for this annotator when the topic's others are done."""
        with self.store.transaction():
            self.store.queue.skip(query_id, doc_id, annotator, clock.seconds())

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
        source: str = "script",
        uuid: str | None = None,
    ) -> Judgement:
        """Write one judgement; when this returns, it is on disk.

        Parameters
        ----------
        annotator, query_id, doc_id
            Who judges which pair.
        relevance
            A grade of the campaign's scale.
        cannot_judge
            Instead of a grade: the reason why none can be given.
        undo
            Instead of a grade: take the annotator's judgement of the pair back.
        adjudicate
            Record it as the adjudicated grade of the pair, beside the annotator's own judgement.
        note, flagged, passages, source
            See :class:`~collection.records.Judgement`.
        uuid
            Makes writing it again harmless; a new one if left out.

        Raises
        ------
        JudgementError
            The judgement is refused; the message says why.
        """
        if (relevance is not None) + (cannot_judge is not None) + undo != 1:
            raise JudgementError("a judgement is a grade, or a reason why none can be given, or an undo")
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
        )
        self.write(judgement)
        return judgement

    def judge_many(self, judgements: Sequence[Judgement], *, leased_only: bool = False) -> JudgeResult:
        """Write judgements to the log, in their order; when this returns, those in `saved` are on disk.

        Idempotent by uuid: one that is in the log already is reported as saved and not written again.

        Parameters
        ----------
        judgements
            ``kind`` "graded" needs a grade of the campaign's scale; "cannot judge" a reason; "undone"
            takes the annotator's current judgement of the pair back.
        leased_only
            Refuse pairs that were neither handed out to the annotator nor ever judged by them: what
            a page sends can then only concern what was on its screen. Refuse pairs that wait for the text of their
            document, too. One whose reservation has ended, and of which
            others have given all judgements that it wants or have them in hand, is kept and does not count.
        """
        saved: list[str] = []
        refused: list[Refused] = []
        surplus: list[str] = []
        feedback: list[Feedback] = []
        with self.store.transaction():
            for judgement in judgements:
                try:
                    counts_as = self.write(judgement, leased_only=leased_only)
                except JudgementError as error:
                    refused.append(Refused(judgement.uuid, str(error)))
                    continue
                saved.append(judgement.uuid)
                if counts_as == "surplus" and judgement.kind != "undone":
                    surplus.append(judgement.uuid)
                if leased_only and judgement.kind != "undone":
                    j = judgement
                    said = self.calibration.feedback(j.uuid, j.query_id, j.doc_id, j.relevance)
                    feedback += [said] if said else []
        return JudgeResult(saved, refused, surplus, feedback)

    def write(self, judgement: Judgement, *, leased_only: bool = False) -> CountsAs:
        """Write one judgement, in a transaction of its own or as a part of the one that is open.

        Returns
        -------
        str
            What it counts as.

        Raises
        ------
        JudgementError
            It cannot be accepted; the message says why.
        """
        with self.store.transaction():
            return self._write(judgement, leased_only)

    def _write(self, j: Judgement, leased_only: bool) -> CountsAs:
        if not j.annotator or j.annotator != j.annotator.strip() or not j.annotator.isprintable():
            wanted = "a judgement needs the name of its annotator, one line without blanks around it"
            raise JudgementError(f"{wanted}, found {j.annotator!r}")
        require_writable(j, "judgement", JudgementError)
        logged = self.store.judgements.logged(j.uuid)
        if logged is not None:
            if logged[:3] != (j.annotator, j.query_id, j.doc_id):
                raise JudgementError(f"the uuid {j.uuid} belongs to another judgement")
            return logged.counts_as
        if leased_only and j.counts_as != "judgement":
            raise JudgementError(f"what was handed out is judged, and not by {j.counts_as}")
        pair = self.store.judgements.pair(j.query_id, j.doc_id, j.annotator, j.counts_as)
        if pair is None:
            known = j.query_id in set(self.store.corpus.topics()["query_id"])
            missing = f"document {j.doc_id!r}" if known else f"topic {j.query_id!r}"
            raise JudgementError(f"{missing} is not in the campaign")
        if leased_only and not (pair.leased or pair.known):
            raise JudgementError(f"document {j.doc_id!r} of topic {j.query_id!r} was not handed out to {j.annotator}")
        if leased_only and pair.held_back and pair.judgement is None and j.kind != "undone":
            raise JudgementError(f"the text of document {j.doc_id!r} is missing, so it cannot be judged yet")
        if leased_only and pair.judgement is None:
            j, pair = self._if_wanted(j, pair)
        self._check_decision(j, pair)
        if j.source != "imported" or j.strategy is None:  # an imported log says itself how its pairs came up
            j = j._replace(
                strategy=pair.strategy,
                pool_rank=pair.pool_rank,
                model_round=pair.model_round,
                probability=pair.probability,
            )
        self.store.judgements.append(j, pair)
        # What is taken back is in the annotator's hands again.
        if leased_only and j.kind == "undone" and self.has_room(j.annotator, j.query_id, j.doc_id):
            until = clock.seconds() + min(self.settings.assignment().lease * 60, LONGEST_IN_LOOP)
            self.store.queue.prolong(j.query_id, [j.doc_id], j.annotator, until)
        return j.counts_as

    def _if_wanted(self, j: Judgement, pair: Pair) -> tuple[Judgement, Pair]:
        """The judgement as it counts: as surplus where the pair has all that it wants, or others have it in hand."""
        surplus = self.store.judgements.pair(j.query_id, j.doc_id, j.annotator, "surplus")
        if surplus is None or (j.kind == "undone" and surplus.judgement is None):
            return j, pair
        if j.kind != "undone" and self.has_room(j.annotator, j.query_id, j.doc_id):
            return j, pair
        return j._replace(counts_as="surplus"), surplus

    def has_room(self, annotator: str, query_id: str, doc_id: str) -> bool:
        """Whether a pair still wants a judgement of an annotator, or they hold it.

        It does while fewer others than wanted have judged it or have it in hand, and nobody has adjudicated it; of
        everybody where it is in the calibration set.
        """
        demand = self.store.queue.demand(query_id, doc_id, annotator, clock.seconds())
        return demand.held or self._is_wanted(query_id, doc_id, demand, demand.others + demand.leased)

    def has_room_for_label(self, annotator: str, query_id: str, doc_id: str, coming: int) -> bool:
        """Whether a pair still wants a label from elsewhere; `coming` labels of others are about to be written.

        Unlike :meth:`has_room`, who has the pair in hand makes no difference: their reservation may end without a
        judgement. Nor do imported qrels: the order in which files are imported does not decide what counts.
        """
        demand = self.store.queue.demand(query_id, doc_id, annotator, clock.seconds())
        return self._is_wanted(query_id, doc_id, demand, demand.others - demand.qrels + coming)

    def _is_wanted(self, query_id: str, doc_id: str, demand: Demand, taken: int) -> bool:
        """Whether a pair wants one more judgement where it has, or will have, so many."""
        wanted = demand.wanted
        if wanted is None:
            wanted = int(self._wanted_outside(query_id, [doc_id])[0])
        return demand.calibration or (taken < wanted and not demand.adjudicated)

    def _check_decision(self, j: Judgement, pair: Pair) -> None:
        if j.kind == "graded" and (j.relevance is None or j.relevance not in self.grades):
            raise JudgementError(f"wanted a grade of this campaign ({self.grades}), found {j.relevance}")
        if j.kind == "cannot judge" and not (j.reason or "").strip():
            raise JudgementError('"cannot judge" needs a reason')
        if j.kind != "graded" and j.relevance is not None:
            raise JudgementError(f"a judgement that says {j.kind!r} carries no grade, found {j.relevance}")
        if j.kind == "undone" and pair.judgement is None:
            what = "adjudication" if j.counts_as == "adjudication" else "judgement"
            raise JudgementError(f"{j.annotator} has no {what} of {j.doc_id!r} to take back")


def _within(documents: Sequence[str], judged: Sequence[str], room: int) -> list[str]:
    """Those of the documents that are judged already, and so many of the others."""
    fresh = [doc_id for doc_id in documents if doc_id not in judged]
    kept = {*judged, *fresh[: max(room, 0)]}
    return [doc_id for doc_id in documents if doc_id in kept]


def _drawn_from(chosen: Selection, documents: int) -> Selection:
    """A draw passes over what others hold, what the annotator skipped, and what stands before it in their queue."""
    return chosen if chosen.probability is None else chosen._replace(probability=1 / max(documents, 1))
