"""Steps of a literature review: what is done, and what is next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from collection.campaign.imports.records import Records
from collection.campaign.log.results import NextStep
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.review.decisions import ReviewDecisions
from collection.campaign.settings.settings import Settings
from collection.core.phrases import count, percent_down, plural
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    FULL_TEXT,
    GOES_ON,
    INCLUDE,
    NOT_RETRIEVED,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
    Review,
)
from collection.store import Store


class ReviewStep(NamedTuple):
    """A step of a review: its name, the page on which it is taken, whether it is done, and a sentence on its state."""

    name: str
    page: str
    done: bool
    sentence: str


@dataclass(eq=False)
class ReviewSteps:
    """Steps of a literature review: what is done, and what is next."""

    store: Store
    settings: Settings
    recall: RecallEstimates
    records: Records
    decisions: ReviewDecisions

    def table(self) -> list[ReviewStep]:
        """Return the steps in their order; CampaignError if the campaign is not a review."""
        table, review = self.decisions.table(), self.settings.require_review()
        titles = self._screen(table)
        steps = [self._question(review), self._records(table), *self._duplicates(), titles]
        conflicts = int((table[["title_abstract", "full_text"]] == CONFLICT).any(axis=1).sum())
        if review.screeners > 1 or conflicts:
            resolve = f"Resolve {count(conflicts, 'conflict')} between screeners." if conflicts else "No conflicts."
            steps.append(ReviewStep("Conflicts", "adjudicate", not conflicts, resolve))
        if review.full_text:
            steps.append(self._full_texts(table, more=not titles.done))
        is_last = table["stage"] == STAGES[review.stages[-1]]
        included = int(((table["decision"] == DECISIONS[INCLUDE]) & is_last).sum())
        report = f"{count(included, 'record')} included."
        return [*steps, ReviewStep("Report", "report", False, report)]

    def next_step(self) -> NextStep:
        """Return the next step for the people who run the review."""
        step = next(each for each in self.table() if not each.done)
        return NextStep(step.page, step.sentence)

    def is_set_up(self) -> bool:
        """Return whether the review has a question and records."""
        review = self.settings.review()
        return review is not None and bool(review.question and self.store.judgements.counts()["documents"])

    def _question(self, review: Review) -> ReviewStep:
        criteria = count(len(review.include) + len(review.exclude), "criterion", "criteria")
        state = f"{review.question} ({criteria})" if review.question else "Describe the question and the criteria."
        return ReviewStep("Question", "set-up", bool(review.question), state)

    def _records(self, table: pd.DataFrame) -> ReviewStep:
        if table.empty:
            return ReviewStep("Records", "set-up", False, "Add the files that you exported from databases.")
        counts = self.records.counts()
        removed = f", {count(counts.duplicates, 'duplicate')} removed" if counts.records else ""
        known = len(self.decisions.known())
        relevant = f", {known:,} known to be relevant" if known else ""
        return ReviewStep("Records", "set-up", True, f"{count(len(table), 'record')}{removed}{relevant}.")

    def _duplicates(self) -> list[ReviewStep]:
        """Return the step of possible duplicates, if there were any."""
        left, decided = len(self.records.pairs()), len(self.records.pairs(open=False))
        if not left and not decided:
            return []
        may = f"Decide on {count(left, 'pair')} of possible duplicates."
        done = f"{count(decided, 'pair')} of possible duplicates decided."
        return [ReviewStep("Duplicates", "duplicates", not left, may if left else done)]

    def _screen(self, table: pd.DataFrame) -> ReviewStep:
        name, decisions, loop = "Title and abstract", table["title_abstract"], self.settings.loop()
        screened = _describe_screened(decisions, "record")
        half = count_half_screened(table)
        lack = f"{count(half, 'record')} {plural(half, 'waits', 'wait')} for the second decision"
        if self.settings.modes()[TITLE_ABSTRACT] == "closed" or (len(table) and UNSCREENED not in set(decisions)):
            ended = "; screening has ended" if UNSCREENED in set(decisions) else ""
            if half:
                return ReviewStep(name, "judge", False, f"{screened}{ended}, but {lack}.")
            return _end_stage(name, "judge", decisions, f"{screened}{ended}")
        if len(table) and TITLE_ABSTRACT in self.recall.ready_topics():
            target = f"{percent_down(loop.target)} ({percent_down(loop.confidence)} confidence)"
            but = f", but {lack}" if half else ""
            reached = f"The target recall of {target} is reached with {screened}{but}: end screening, or go on."
            return ReviewStep(name, "stopping", False, reached)
        return ReviewStep(name, "judge", False, f"Screen titles and abstracts: {screened}.")

    def _full_texts(self, table: pd.DataFrame, *, more: bool) -> ReviewStep:
        """Return the step of full texts; `more` tells whether further records may still reach it."""
        name, decisions = "Full text", table.loc[table["title_abstract"].isin(GOES_ON), "full_text"]
        screened = _describe_screened(decisions, "full text")
        if decisions.empty:
            none = "No record has reached this stage yet." if more else "No record has reached this stage."
            return ReviewStep(name, "full-texts", not more, none)
        if self.settings.modes()[FULL_TEXT] == "closed" or UNSCREENED not in set(decisions):
            step = _end_stage(name, "full-texts", decisions, screened)
            return step._replace(done=step.done and not more)
        return ReviewStep(name, "full-texts", False, f"Screen full texts: {screened}.")


def count_half_screened(table: pd.DataFrame) -> int:
    """Count the records of :meth:`.ReviewDecisions.table` that only one of two screeners has screened by title."""
    return int(((table["title_abstract"] == UNSCREENED) & (table["title_abstract_by"] != "")).sum())


def _describe_screened(decisions: pd.Series[str], what: str) -> str:
    """Count the records of a stage that are screened, and those that were not retrieved."""
    left, missing = int((decisions == UNSCREENED).sum()), int((decisions == NOT_RETRIEVED).sum())
    screened = f"{len(decisions) - left - missing:,} of {count(len(decisions), what)} screened"
    return f"{screened}, {missing:,} not retrieved" if missing else screened


def _end_stage(name: str, page: str, decisions: pd.Series[str], screened: str) -> ReviewStep:
    """The step of a stage that has ended, which is done when no conflict is open."""
    if conflicts := int((decisions == CONFLICT).sum()):
        sentence = f"{screened}, {count(conflicts, 'conflict')} to resolve."
        return ReviewStep(name, "adjudicate", False, sentence)
    return ReviewStep(name, page, True, f"{screened}.")
