"""Summary of a campaign and its next step."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

from collection import preferences
from collection.campaign.calibration_topics import CalibrationTopics
from collection.campaign.judging_budget import JudgingBudget
from collection.campaign.loop_settings import LOOPING
from collection.campaign.progress import Progress
from collection.campaign.results import NextStep
from collection.campaign.settings import Settings
from collection.campaign.system_order import SystemOrderStudy
from collection.campaign.topic_tasks import TopicTasks
from collection.phrases import count, join, plural
from collection.preferences import choices
from collection.records import GradeScale, sort_naturally
from collection.stopping.table import missing_texts
from collection.store import Store

IMPORT_TEXTS = "Import their texts; the Export page lists the ids."


def waiting_topics(number: int) -> str:
    """Report the number of topics whose pools lack texts; empty for none."""
    if not number:
        return ""
    return f"{count(number, 'topic')} cannot be judged yet: too few of the pooled documents have a text."


@dataclass(eq=False)
class Overview:
    """Summary of a campaign and its next step."""

    store: Store
    title: str
    grades: GradeScale
    settings: Settings
    progress: Progress
    budget: JudgingBudget
    topic_tasks: TopicTasks
    calibration_topics: CalibrationTopics
    system_order: SystemOrderStudy

    def status(self) -> dict[str, Any]:
        """Return the summary of `cleverdon status` and the Overview page, as plain data.

        Sums of :meth:`.Progress.topics` have the same names, except that ``left`` is ``remaining``; ``outside_pool``
        counts judged pairs outside the pool. ``recall_across_topics`` is missing without calibration topics,
        ``budget_left`` (pairs that can still be judged within the budget) without a budget or a topic in a loop, and
        ``system_order`` (what it advised last) unless decisive pairs are judged and it was asked.
        """
        progress = self.progress.topics()
        left = self.budget.left()
        annotators = self.store.judgements.annotators()
        progress = sort_naturally(progress)
        per_topic = progress.astype(object).where(progress.notna(), None).to_dict("records")
        sums = progress[["judged", "judged_in_pool", "cannot_judge", "made", "goal", "waiting", "without_text"]].sum()
        return {
            "title": self.title,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            **self.store.judgements.counts(),
            **{str(name): int(number) for name, number in sums.items()},
            "outside_pool": self.store.judgements.judged_outside_pool(),
            "remaining": int(progress["left"].sum()),
            "in_loop": int(progress["goal"].isna().sum()),
            "missing_documents": len(self.store.corpus.missing_documents()),
            "budget": self.budget.state().words,
            **({"budget_left": left.total} if left and left.topics else {}),
            **({"system_order": advice.sentence} if (advice := self.system_order.last_advice()) else {}),
            **({"recall_across_topics": across} if (across := self.calibration_topics.state().summary) else {}),
            "per_topic": per_topic,
            "annotators": annotators.astype(object).where(annotators.notna(), None).to_dict("records"),
            "next": self.next_step()._asdict(),
            "decisions": self.decisions(),
        }

    def next_step(self) -> NextStep:
        """Return the next step for the manager."""
        settings = self.settings.judging_page()
        counts = self.store.judgements.counts()
        if settings.task == "grades" or not (counts["topics"] and counts["pool"] and counts["documents"]):
            return self._next_step_of_grading(counts)
        state = self.topic_tasks.state()
        made, wanted, _, topics = state.totals()
        if not topics:
            least = 1 if settings.task == "list" else 2
            return NextStep("import", f"Import documents: no topic has {least} or more with a text in its pool.")
        waiting = waiting_topics(state.waiting())
        held = f" {waiting} {IMPORT_TEXTS}" if waiting else ""
        what = "list" if settings.task == "list" else "topic"
        if made < wanted:
            left, of = wanted - made, f"{wanted:,} {plural(wanted, what)}"
            if wanted > topics:
                of = f"{count(wanted, 'decision')} on {plural(topics, what)}"
            do = "Choose" if settings.task == "list" else "Compare"
            return NextStep("judge", f"{do} documents: {left:,} of {of} {plural(left, 'is', 'are')} left.{held}")
        if held:
            return NextStep("export", f"All topics with enough texts are judged.{held}")
        made_of = "sparse qrels" if settings.task == "list" else "preferences"
        return NextStep("export", f"All topics are judged: export the {made_of} and evaluate the runs.")

    def _next_step_of_grading(self, counts: dict[str, int]) -> NextStep:
        progress, calibration = self.progress.topics(), self.calibration_topics.state()
        looping, calibrated = progress["goal"].isna(), calibration.phase == "calibrated"
        if calibrated:  # the rule also closes loops within the pool
            done = [topic.query_id for topic in calibration.topics if topic.finished]
            looping |= progress["mode"].isin(LOOPING) & (progress["left"] > 0)
            looping &= ~progress["query_id"].isin(done)
        in_loop, in_pool = int(looping.sum()), progress[~looping & progress["goal"].notna()]
        remaining, waiting = int(in_pool["left"].sum()), int(in_pool["waiting"].sum())
        free = remaining - waiting
        goal = int(in_pool["goal"].sum())
        unit = "pair" if goal == in_pool["pool"].sum() else "judgement"
        with_text = f" ({free:,} with a text)" if waiting else ""
        are = plural(remaining, "is", "are")
        pooled = f"{count(remaining, unit)}{with_text} {are} left in pools"
        others = f"; {pooled}" if remaining else ""
        absent = join(name for name in ("topics", "documents", "runs") if not counts[name])
        runs = "the runs of your systems"
        to_import = f"the documents and {runs}"
        if counts["documents"]:
            to_import = f"{runs}, or use the loop, which needs no runs"
        missing = missing_texts(progress["without_text"])
        held = f" {missing} {IMPORT_TEXTS}" if missing else ""
        loop, modes = self.settings.loop(), self.settings.modes().values()
        decisive = sum(mode in LOOPING for mode in modes) if loop.by_system_order else 0
        closes = calibrated and not calibration.paused
        until = "until the stopping rule closes them" if closes else "until Recall advises stopping"
        doubt = " The promise is in doubt: see Recall." if calibration.in_doubt else ""
        left, advice = self.budget.left(), self.system_order.last_advice()
        budget = ""
        if left and left.total:
            budget = f" {count(left.total, 'pair')} can still be judged within the judgement budget."
        went_on = f" Its last advice, at {count(advice.judged, 'judged pair')}, was to go on." if advice else ""
        closed_early = int(((progress["mode"] == "closed") & (progress["judged"] < progress["pool"])).sum())
        estimates = " `evaluate --unjudged expected` estimates the missing grades." if loop.by_system_order else ""
        used_up = self.budget.state().words if counts["documents"] or counts["runs"] else ""
        steps = [
            (not counts["topics"], "import", f"Import {absent}."),
            (
                advice and advice.stop and decisive,
                "order",
                f"{advice.sentence if advice else ''} To end judging, close the topics (page Loop).{held}",
            ),
            (
                used_up and decisive,
                "loop",
                f"System order shows how sure the order of the systems is.{went_on} {used_up}{held}",
            ),
            (
                calibration.to_do and not loop.by_system_order,
                "judge" if calibration.open_left else "recall",
                f"{calibration.to_do}{held}",
            ),
            (used_up and not free, "loop", f"{used_up}{held}"),
            (used_up, "judge", f"Judge the pool: {pooled}. {used_up}{held}"),
            (
                decisive and counts["documents"] and counts["runs"],
                "judge",
                f"Judge pairs of {count(decisive, 'topic')} until System order advises stopping."
                f"{went_on}{budget}{held}",
            ),
            (
                in_loop and calibration.paused and not loop.by_system_order,
                "recall",
                f"{calibration.resumption}{held}",
            ),
            (
                in_loop and counts["documents"],
                "judge",
                f"Judge {count(in_loop, 'topic')} in the loop {until}{others}.{budget}{doubt}{held}",
            ),
            (
                calibrated and not remaining,
                "export",
                f"Every topic is judged to the end or closed: export the qrels.{held}",
            ),
            (
                not counts["pool"] and not counts["runs"] and counts["judgements"],
                "export",
                f"{count(counts['judgements'], 'judgement')} {plural(counts['judgements'], 'is', 'are')} imported: see "
                "Agreement, or export the qrels. To judge more, import runs.",
            ),
            (not counts["runs"], "import", f"Import {to_import}."),
            (not counts["pool"], "pool", "Choose the pool: the documents of the runs to judge for each topic."),
            (not counts["documents"], "import", "Import the documents of the pool: annotators need their texts."),
            (free, "judge", f"Judge the pool: {remaining:,} of {count(goal, unit)}{with_text} {are} left.{held}"),
            (waiting, "export", f"All pairs with a text are judged.{held}"),
            (
                closed_early,
                "export",
                f"{count(closed_early, 'topic')} {plural(closed_early, 'was', 'were')} closed before all pairs were "
                f"judged, and no other pairs are left: export the qrels and evaluate the runs.{estimates}",
            ),
            (True, "export", "All pairs in the pool are judged: export the qrels and evaluate the runs."),
        ]
        return next(NextStep(page, sentence) for is_next, page, sentence in steps if is_next)

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
        made, wanted, decided, topics = state.totals()
        what = "choices" if settings.task == "list" else "preferences"
        found = (
            choices.agreement(self.topic_tasks.choices(shared=True))
            if settings.task == "list"
            else preferences.agreement(self.topic_tasks.preferences(shared=True))
        )
        agreement = {n: None if isinstance(v, float) and isnan(v) else v for n, v in found._asdict().items()}
        return {
            "task": settings.task,
            "made": made,
            "remaining": wanted - made,
            "decided": decided,
            "topics": topics,
            "waiting": state.waiting(),
            "annotators": [{"annotator": name, "topics": count} for name, count in sorted(state.made.items()) if count],
            what: self.topic_tasks.counts()[what],
            "agreement": agreement if found.comparisons else None,
        }
