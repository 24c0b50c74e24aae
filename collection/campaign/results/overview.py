"""Summary of a campaign and its next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import pandas as pd

from collection import adjudication, preferences
from collection.campaign.judging.topic_tasks import TopicTasks
from collection.campaign.log.results import NextStep
from collection.campaign.loop.system_order import SystemOrderStudy
from collection.campaign.progress.progress import Progress
from collection.campaign.recall.across_topics.state import CalibrationState
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.settings.loop_settings import EVERYWHERE, LOOPING
from collection.campaign.settings.settings import Settings
from collection.core.phrases import count, join, join_first, percent_down, plural
from collection.core.records import sort_naturally
from collection.preferences import choices
from collection.stopping.table import missing_texts
from collection.store import Store

IMPORT_TEXTS = "Import their texts; the Export page lists the ids."


def waiting_topics(number: int) -> str:
    """Report the number of topics whose pools lack texts; empty for none."""
    if not number:
        return ""
    return f"{count(number, 'topic')} cannot be judged yet: too few of the pooled documents have a text."


@dataclass(frozen=True)
class _PoolProgress:
    """Judgements of the topics that are judged in the pool."""

    goal: int
    left: int
    waiting: int
    """Number of `left` whose text is missing."""
    unit: str
    """"pair", or "judgement" if pairs need several."""

    @classmethod
    def of(cls, topics: pd.DataFrame) -> _PoolProgress:
        """Sum the rows of :meth:`.Progress.topics`."""
        goal, left, waiting, pool = (int(topics[name].sum()) for name in ("goal", "left", "waiting", "pool"))
        return cls(goal, left, waiting, "pair" if goal == pool else "judgement")

    @property
    def free(self) -> int:
        """The number of `left` with a text."""
        return self.left - self.waiting

    @property
    def with_text(self) -> str:
        """Number of those with a text, in brackets; empty if all have one."""
        return f" ({self.free:,} with a text)" if self.waiting else ""

    @property
    def words(self) -> str:
        """The number of `left` with its verb, such as "5 pairs are"."""
        return f"{count(self.left, self.unit)}{self.with_text} {plural(self.left, 'is', 'are')}"


def _find_loops(progress: pd.DataFrame, calibration: CalibrationState) -> pd.Series[bool]:
    """Find the topics that are judged in a loop without a fixed end, a row of :meth:`.Progress.topics` each."""
    loops = progress["goal"].isna()
    if calibration.phase == "calibrated":  # the rule also closes loops within the pool
        done = [topic.query_id for topic in calibration.topics if topic.finished]
        loops |= progress["mode"].isin(LOOPING) & (progress["left"] > 0)
        loops &= ~progress["query_id"].isin(done)
    return loops.astype(bool)


def _next_calibration_step(calibration: CalibrationState) -> NextStep | None:
    """Return the next step before the rule can be calibrated; None if there is none."""
    if not calibration.to_do:
        return None
    return NextStep("judge" if calibration.open_left else "recall", calibration.to_do)


def _next_budget_step(used_up: str, pools: _PoolProgress) -> NextStep | None:
    """Return the next step if the judgement budget is used up; None if it is not."""
    if not used_up:
        return None
    if not pools.free:
        return NextStep("loop", used_up)
    return NextStep("judge", f"Judge the pool: {pools.words} left in pools. {used_up}")


@dataclass(eq=False)
class Overview:
    """Summary of a campaign and its next step."""

    store: Store
    settings: Settings
    progress: Progress
    topic_tasks: TopicTasks
    system_order: SystemOrderStudy
    recall: RecallEstimates

    def status(self) -> dict[str, Any]:
        """Return the summary of `cleverdon status` and the Overview page, as plain data.

        Sums of :meth:`.Progress.topics` have the same names, except that ``left`` is ``remaining``; ``outside_pool``
        counts judged pairs outside the pool. ``recall_across_topics`` is missing without calibration topics,
        ``budget_left`` (pairs that can still be judged within the budget) without a budget or a topic in a loop, and
        ``ready_to_stop`` (topic -> documents judged, and in scope) without a loop that reached the target recall, and
        ``system_order`` (what it advised last) unless decisive pairs are judged and it was asked. ``questions`` is
        missing without further questions; see :meth:`questions`.
        """
        progress = self.progress.topics()
        left, promise = self.progress.budget.left(), self.recall.across_topics.state().summary
        annotators = self.annotators()
        table = sort_naturally(progress)
        per_topic = table.astype(object).where(table.notna(), None).to_dict("records")
        sums = progress[["judged", "judged_in_pool", "cannot_judge", "made", "goal", "waiting", "without_text"]].sum()
        return {
            "title": self.settings.title,
            "grades": {str(g): s for g, s in self.settings.grades.sentences.items()},
            **self.store.judgements.counts(),
            **{str(name): int(number) for name, number in sums.items()},
            "outside_pool": self.store.judgements.count_judged_outside_pool(),
            "remaining": int(progress["left"].sum()),
            "in_loop": int(progress["goal"].isna().sum()),
            "missing_documents": len(self.store.corpus.missing_documents()),
            "budget": self.progress.budget.state().words,
            **({"budget_left": left.total} if left and left.topics else {}),
            **({"system_order": advice.sentence} if (advice := self.system_order.last_advice()) else {}),
            **({"recall_across_topics": promise} if promise else {}),
            **({"questions": questions} if (questions := self.questions()) else {}),
            **({"ready_to_stop": ready} if (ready := self.recall.ready_topics()) else {}),
            "per_topic": per_topic,
            "annotators": annotators.astype(object).where(annotators.notna(), None).to_dict("records"),
            "next": self.next_step(progress)._asdict(),
            "decisions": self.decisions(),
        }

    def annotators(self) -> pd.DataFrame:
        """Return :meth:`.JudgementTables.annotators`, which all connections share; nobody changes the frame."""
        with self.store.snapshot():
            logged = self.store.judgements.last_entry()
            return self.store.cached("annotators", logged, self.store.judgements.annotators, shared=True)

    def questions(self) -> list[dict[str, Any]]:
        """Return the further questions with the number of their answers, as plain data.

        ``name``, ``question``, ``required``, ``again``, ``asked`` (current judgements at whose grade it is asked),
        ``answered`` (of these, with an answer), ``missing`` (those without one; 0 if the question is optional), and
        ``annotators`` (``annotator``, ``asked``, ``answered``, ``missing``).
        """
        questions = self.settings.questions()
        table = self.progress.missing_answers.table() if questions else pd.DataFrame()
        states = []
        for question in questions:
            rows = table[table["question"] == question.name].drop(columns="question")
            about = {"name": question.name, "question": question.sentence, "required": question.required}
            counts = {name: int(rows[name].sum()) for name in ("asked", "answered", "missing")}
            states.append(about | {"again": question.again} | counts | {"annotators": rows.to_dict("records")})
        return states

    def next_step(self, progress: pd.DataFrame | None = None) -> NextStep:
        """Return the next step for the manager; `progress` is what :meth:`.Progress.topics` returns, if it is known."""
        settings = self.settings.judging_page()
        counts = self.store.judgements.counts()
        if self.settings.task() is not None and not counts["pool"]:
            return NextStep("overview", "Add the answers of the campaign to this task.")
        if settings.task == "grades" or not (counts["topics"] and counts["pool"] and counts["documents"]):
            step = self._next_step_of_grading(counts, progress)
            return self._next_step_after_judging(step) if step.page == "export" else step
        state = self.topic_tasks.state()
        decided, wanted, _, topics = state.totals()
        if not topics:
            least = 1 if settings.task == "list" else 2
            few = f"no topic has {least} or more documents with a text in its pool"
            return NextStep("import", f"Import documents: {few}.")
        waiting = waiting_topics(state.waiting())
        held = f" {waiting} {IMPORT_TEXTS}" if waiting else ""
        what = "list" if settings.task == "list" else "topic"
        if decided < wanted:
            left, of = wanted - decided, f"{wanted:,} {plural(wanted, what)}"
            if wanted > topics:
                of = f"{count(wanted, 'decision')} on {plural(topics, what)}"
            do = "Choose" if settings.task == "list" else "Compare"
            return NextStep("judge", f"{do} documents: {left:,} of {of} {plural(left, 'is', 'are')} left.{held}")
        if held:
            return NextStep("export", f"All topics with enough texts are judged.{held}")
        exported = "sparse qrels" if settings.task == "list" else "preferences"
        return NextStep("export", f"All topics are judged: export the {exported} and evaluate the runs.")

    def _next_step_of_grading(self, counts: dict[str, int], progress: pd.DataFrame | None) -> NextStep:
        if not counts["topics"]:
            absent = join(name for name in ("topics", "documents", "runs") if not counts[name])
            return NextStep("import", f"Import {absent}.")
        progress = self.progress.topics() if progress is None else progress
        calibration = self.recall.across_topics.state()
        loops = _find_loops(progress, calibration)
        pools = _PoolProgress.of(progress[~loops & progress["goal"].notna()])
        missing = missing_texts(progress["without_text"])
        held = f" {missing} {IMPORT_TEXTS}" if missing else ""
        used_up = self.progress.budget.state().words if counts["documents"] or counts["runs"] else ""
        if self.settings.loop().by_system_order:
            step = self._next_decisive_step(counts, used_up)
        else:
            step = _next_calibration_step(calibration)
        step = step or _next_budget_step(used_up, pools)
        step = step or self._next_loop_step(counts, int(loops.sum()), calibration, pools)
        if step:
            return step._replace(sentence=f"{step.sentence}{held}")
        step = self._next_answer_step(counts) or self._next_import_step(counts)
        return step or self._next_pool_step(progress, pools, held)

    def _next_step_after_judging(self, export: NextStep) -> NextStep:
        """Return the next step before the `export` of qrels: missing answers, then adjudication; or the export."""
        lacking = sum(each["missing"] for each in self.questions() if each["again"])
        handed_out = self.progress.missing_answers.count_handed_out() if lacking else 0
        if handed_out:
            lack, them = plural(handed_out, "lacks", "lack"), plural(handed_out, "it", "them")
            return NextStep("judge", f"{count(handed_out, 'judgement')} {lack} an answer: annotators get {them} again.")
        step = self._next_adjudication_step() or export
        if not lacking:
            return step
        unasked = f"Nobody is asked for {count(lacking, 'missing answer')}"
        reasons = "since topics are closed or not assigned, or annotators have no account"
        return step._replace(sentence=f"{step.sentence} {unasked}, {reasons}.")

    def _next_adjudication_step(self) -> NextStep | None:
        """Return the next step where annotators disagree and nobody has adjudicated; None where nobody disagrees."""
        asked = self.settings.questions()
        opinions = self.store.judgements.opinions(several=True, answers=bool(asked))
        disagreements = len(adjudication.list_disagreements(opinions, questions=asked))
        if not disagreements:
            return None
        what = "grades or answers" if asked else "grades"
        pairs = f"{count(disagreements, 'pair')} {plural(disagreements, 'has', 'have')} different {what}"
        return NextStep(
            "adjudicate",
            f"{pairs}: adjudicate {plural(disagreements, 'it', 'them')}, or choose a rule on the Export page.",
        )

    def _next_decisive_step(self, counts: dict[str, int], used_up: str) -> NextStep | None:
        """Return the next step if decisive pairs are judged; None if no topic is in a loop."""
        topics = sum(mode in LOOPING for mode in self.settings.modes().values())
        if not topics:
            return None
        advice = self.system_order.last_advice()
        if advice and advice.stop:
            return NextStep("system-order", f"{advice.sentence} To end judging, close the topics (page Loop).")
        went_on = f" Its last advice, at {count(advice.judged, 'judged pair')}, was to keep judging." if advice else ""
        if used_up:
            return NextStep("loop", f"System order shows how certain the order of the systems is.{went_on} {used_up}")
        if not (counts["documents"] and counts["runs"]):
            return None
        until = "until System order advises stopping"
        return NextStep("judge", f"Judge pairs of {count(topics, 'topic')} {until}.{went_on}{self._budget_left()}")

    def _next_loop_step(
        self, counts: dict[str, int], loops: int, calibration: CalibrationState, pools: _PoolProgress
    ) -> NextStep | None:
        """Return the next step of the number of topics in `loops`; None if the next step concerns the pools."""
        by_model, by_system_order = self.settings.loop().by_model, self.settings.loop().by_system_order
        if loops and calibration.paused and not by_system_order:
            return NextStep("recall", calibration.resumption)
        closes = calibration.phase == "calibrated" and not calibration.paused
        others = f"; {pools.words} left in pools" if pools.left else ""
        if counts["documents"] and (ready := self.recall.ready_topics()):
            return self._next_ready_step(ready, loops, others)
        if loops and counts["documents"]:
            until = "until the stopping rule closes them" if closes else "until Recall advises stopping"
            doubt = " The promise is in doubt: see Recall." if calibration.in_doubt else ""
            judge = f"Judge {count(loops, 'topic')} in the loop {until}{others}."
            return NextStep("judge", f"{judge}{self._budget_left()}{doubt}")
        looped = any(mode in EVERYWHERE for mode in self.settings.modes_when_open().values())
        ended = looped and counts["judgements"] and (by_model or counts["runs"]) and not by_system_order
        if (ended or calibration.phase == "calibrated") and not pools.left:
            return NextStep("export", "Every topic is judged to the end or closed: export the qrels.")
        return None

    def _next_ready_step(self, ready: Mapping[str, tuple[int, int]], loops: int, pools: str) -> NextStep:
        """Return the next step where loops have reached the target recall."""
        loop = self.settings.loop()
        target = f"{percent_down(loop.target)} ({percent_down(loop.confidence)} confidence)"
        judged, size = (sum(numbers) for numbers in zip(*ready.values(), strict=True))
        topics = f"{plural(len(ready), 'Topic', 'Topics')} {join_first(ready, 5)}"
        reached = f"{topics} reached the target recall of {target} with {judged:,} of {count(size, 'document')} judged"
        close = f"close {plural(len(ready), 'it', 'them')} (page Recall), or judge on for a higher recall"
        left = max(loops - len(ready), 0)
        others = f" Judge {count(left, 'other topic')} in the loop{pools}." if left else ""
        return NextStep("recall", f"{reached}: {close}.{others}{self._budget_left()}")

    def _budget_left(self) -> str:
        left = self.progress.budget.left()
        if not left or not left.total:
            return ""
        return f" {count(left.total, 'pair')} can still be judged within the judgement budget."

    def _next_import_step(self, counts: dict[str, int]) -> NextStep | None:
        """Return what to import, or the choice of the pool; None if nothing is missing."""
        if self.settings.task() is not None:  # whose pool is filled without runs
            return None
        if not counts["pool"] and not counts["runs"] and counts["judgements"]:
            judgements, are = count(counts["judgements"], "judgement"), plural(counts["judgements"], "is", "are")
            more = "To judge more, import runs."
            return NextStep("export", f"{judgements} {are} imported: see Agreement, or export the qrels. {more}")
        if not counts["runs"]:
            runs = "the runs of your systems"
            loop = f"{runs}, or use the loop, which needs no runs"
            return NextStep("import", f"Import {loop if counts['documents'] else f'the documents and {runs}'}.")
        if not counts["pool"]:
            return NextStep("pool", "Choose the pool: the documents of the runs to judge for each topic.")
        if not counts["documents"]:
            return NextStep("import", "Import the documents of the pool: annotators need their texts.")
        return None

    def _next_answer_step(self, counts: dict[str, int]) -> NextStep | None:
        """Return the next step of a campaign with generated answers and neither runs nor a pool; None for another."""
        if counts["runs"] or counts["pool"] or not self.store.answers.exist():
            return None
        answers = count(self.store.answers.count(), "generated answer")
        judge = f"To judge the {answers}, choose Nugget assignment or Support above the menu."
        first = "" if self.store.answers.nuggets() else "Make nuggets, the pieces of information that answers need. "
        return NextStep("nuggets", f"{first}{judge}")

    def _next_pool_step(self, progress: pd.DataFrame, pools: _PoolProgress, held: str) -> NextStep:
        """Return the next step of topics that are judged in the pool; `held` is a sentence on texts to import."""
        if pools.free:
            of = f"{pools.left:,} of {count(pools.goal, pools.unit)}{pools.with_text} {plural(pools.left, 'is', 'are')}"
            return NextStep("judge", f"Judge the pool: {of} left.{held}")
        unjudged = int((progress["pool"] - progress["judged_in_pool"]).sum())
        is_sample = unjudged > 0 and self.store.machine_labels.sample_in_use() is not None
        if pools.waiting and not is_sample:
            return NextStep("export", f"All pairs with a text are judged.{held}")
        if is_sample:
            others = f"{count(unjudged, 'other pair')} of the pool {plural(unjudged, 'is', 'are')} not judged"
            ask = "`cleverdon labels ask DIR LABELS --whole-pool` returns to judging the whole pool"
            corrected = "The random sample for the machine labels is judged: see the corrected values."
            return NextStep("machine-labels", f"{corrected} {others}; {ask}.{held}")
        export = "export the qrels and evaluate the runs."
        closed_early = int(((progress["mode"] == "closed") & (progress["judged"] < progress["pool"])).sum())
        if not closed_early:
            return NextStep("export", f"All pairs in the pool are judged: {export}")
        closed = f"{count(closed_early, 'topic')} {plural(closed_early, 'was', 'were')} closed"
        decisive = self.settings.loop().by_system_order
        estimates = " `evaluate --unjudged expected` estimates the missing grades." if decisive else ""
        none_left = "before all pairs were judged, and no other pairs are left"
        return NextStep("export", f"{closed} {none_left}: {export}{estimates}")

    def decisions(self) -> dict[str, Any] | None:
        """Return the progress of lists or preferences as plain data; None if the task is grading.

        ``task``; ``made`` and ``remaining`` (decisions on open topics), ``decided`` (topics that need no more),
        ``topics`` (open ones), ``waiting`` (topics with too few texts); ``annotators`` (``annotator``, ``topics``);
        ``choices`` or ``preferences`` (current ones); ``agreement`` (None, or the fields of
        :class:`~collection.preferences.choices.ChoiceAgreement` or
        :class:`~collection.preferences.PreferenceAgreement`).
        """
        settings = self.settings.judging_page()
        if settings.task == "grades":
            return None
        state = self.topic_tasks.state()
        completed, wanted, decided, topics = state.totals()
        what = "choices" if settings.task == "list" else "preferences"
        agreed = (
            choices.agreement(self.store.topic_tasks.choices(shared=True))
            if settings.task == "list"
            else preferences.agreement(self.store.topic_tasks.preferences(shared=True))
        )
        agreement = {n: None if isinstance(v, float) and isnan(v) else v for n, v in agreed._asdict().items()}
        return {
            "task": settings.task,
            "made": completed,
            "remaining": wanted - completed,
            "decided": decided,
            "topics": topics,
            "waiting": state.waiting(),
            "annotators": [
                {"annotator": name, "topics": count} for name, count in sorted(state.counts.items()) if count
            ],
            what: self.store.topic_tasks.counts()[what],
            "agreement": agreement if agreed.comparisons else None,
        }
