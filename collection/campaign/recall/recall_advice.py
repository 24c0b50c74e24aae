"""Texts on the recall of topics: the guaranteed recall, the advice, costs and notes."""

from __future__ import annotations

from enum import StrEnum
from math import ceil, isnan

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.campaign.log.topic_ledger import select_in_scope
from collection.campaign.settings.loop_settings import LoopSettings
from collection.core.phrases import count, join, percent_down, plural, sentence
from collection.stopping import Ledger, RelevantEstimate, StopDecision, StopKind
from collection.stopping.table import missing_texts, worst_case
from collection.store import Ungraded

RECENT = 50
"""Number of latest ranked judgements used to estimate the current precision."""

OUTSIDE = " Documents outside the pool are not covered."
"""Second sentence wherever the scope is a pool."""


class Advice(StrEnum):
    """Advice on a topic, in a few words."""

    NOTHING_TO_JUDGE = "nothing to judge"
    NOT_STARTED = "not started"
    CLOSED = "closed"
    """A manager has closed it."""
    CLOSED_BY_RULE = "closed by the stopping rule"
    READY = "ready to stop"
    POOL_JUDGED = "ready to stop: pool judged"
    ALL_JUDGED = "ready to stop: all judged"
    JUDGE_TO_THE_END = "calibration topic: judge to the end"
    """Whatever the recall is."""
    FINISHED = "calibration topic: finished"
    """Judged to the end, whatever the recall is."""
    UNTIL_RULE_CLOSES = "judge until the rule closes it"
    IMPORT_TEXTS = "import the missing texts"
    """Only documents without a text are left, or too many of them for a guarantee."""
    JUDGE_SKIPPED = "judge skipped and undone documents"
    """Randomly drawn documents were skipped, or their judgement was undone."""
    JUDGE_POOL = "judge the pool"
    SEE_SYSTEM_ORDER = "see System order"
    ENABLE_DRAWS = "enable random draws"
    JUDGE_MORE = "judge more at random"
    KEEP_JUDGING = "keep judging: many are relevant"

    def sentence(self, decision: StopDecision) -> str:
        """Write the advice, with the number of documents of the decision."""
        return f"judge {decision.needed or 0:,} more at random" if self is Advice.JUDGE_MORE else self.value


CALIBRATION_TOPICS = (Advice.JUDGE_TO_THE_END, Advice.FINISHED)
"""Advice for calibration topics."""


def describe_ready(table: pd.DataFrame, settings: LoopSettings) -> str:
    """Write how many topics of the recall table are ready to stop, and what that guarantees."""
    goal, confidence = percent_down(settings.target), percent_down(settings.confidence)
    if settings.by_system_order:
        return "The loop selects decisive pairs for the order of the systems: it does not aim at recall."
    ready, closed = table[table["stop"]], int((table["kind"] == Advice.CLOSED_BY_RULE).sum())
    others = count(closed, "topic" if ready.empty else "other topic")
    by_rule = f" The stopping rule has closed {others}." if closed else ""
    if ready.empty:
        share = f"{goal} of the" if settings.target < 1 else "all"
        return (
            f"No topic is ready to stop yet. The target is to find {share} relevant documents of each topic, with "
            f"{confidence} confidence.{by_rule}"
        )
    share = f"at least {goal} of the" if settings.target < 1 else "all"
    in_each, by_itself = plural(len(ready), "", "in each, "), plural(len(ready), "", " for each topic separately")
    return (
        f"{len(ready):,} of {count(len(table), 'topic')} {plural(len(ready), 'is', 'are')} ready to stop: "
        f"{in_each}{share} relevant documents in {name_scope(ready)} are found, with {confidence} "
        f"confidence{by_itself}.{by_rule}"
    )


def describe_target_change(before: LoopSettings, now: LoopSettings, judged: int, closed: int) -> str:
    """Warn of a target that changes after `judged` pairs were judged, and `closed` topics closed; else empty.

    >>> describe_target_change(LoopSettings(), LoopSettings(target=0.8), 0, 0)
    ''
    """
    if now.by_system_order or not judged or (before.target, before.confidence) == (now.target, now.confidence):
        return ""
    old, new = (f"{percent_down(s.target)} recall with {percent_down(s.confidence)} confidence" for s in (before, now))
    earlier = ""
    if closed:
        earlier = f" {count(closed, 'topic')} {plural(closed, 'was', 'were')} closed under the earlier target."
    return (
        f"The target changes from {old} to {new}, after {count(judged, 'judged pair')}. Its confidence holds for a "
        f"target chosen before judging, not because of the recall seen so far.{earlier}"
    )


def name_scope(table: pd.DataFrame) -> str:
    """Name the documents to which the recall of these topics refers: "the pool", "the collection", or both."""
    scopes = set(table["of"])
    return f"the {scopes.pop()}" if len(scopes) == 1 else "its scope (pool or collection)"


def describe_cost(ledger: Ledger, known: RelevantEstimate) -> str:
    """Write how many judgements more recall costs at the recent precision, or why that is unknown."""
    recent = ledger.relevant[np.flatnonzero(~ledger.drawn)[-RECENT:]]
    hits, of = int(recent.sum()), len(recent)
    left = ledger.unjudged - ledger.unreachable
    if left == 0:
        judged = "All documents with a text are judged." if ledger.unreachable else "All documents are judged."
        return judged if ledger.size else "There is nothing to judge."
    if not ledger.found:
        return "The cost of more recall is unknown until a relevant document is found."
    if not hits:
        none = f"None of the last {count(of, 'ranked document')} was relevant" if of else "No ranked document is judged"
        return f"{none}, so the cost of more recall is unknown."
    if known.relevant == ledger.found:
        return "The cost of more recall is unknown: by the estimate, all relevant documents are found."
    relevant = ledger.found if isnan(known.relevant) else int(known.relevant)
    number = f"{relevant:,} found so far" if isnan(known.relevant) else f"estimated {relevant:,} relevant documents"
    recently = f"{hits:,} of the last {count(of, 'ranked document')} {plural(hits, 'was', 'were')} relevant"
    if relevant < 100:  # 1% would be less than a document
        one = round(min(of / hits, left), 1)
        judgements = f"{one:g} {plural(one, 'judgement')}" if one < 10 else count(ceil(one), "judgement")
        return f"One more relevant document costs about {judgements}: {recently}."
    cost = count(min(ceil(round(relevant / 100 / (hits / of), 9)), left), "judgement")
    reason = f"1% of the {number} is {relevant / 100:g}, and {recently}"
    return f"The next 1% of recall costs about {cost}: {reason}."


def promise_and_advice(
    ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool, *, by_rule: bool = False
) -> tuple[str, Advice]:
    """Write the guaranteed recall in one or two sentences, and the advice.

    `by_rule`: whether a calibrated rule will close the topic.
    """
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    where = " in the pool" if pool else ""
    outside = OUTSIDE if pool else ""
    relevant = f"relevant documents{where}"
    if not ledger.size:
        missing = "This topic has no pool yet" if pool else "No document has a text yet"
        return f"{missing}, so there is nothing to judge.", Advice.NOTHING_TO_JUDGE
    if not ledger.judged:
        closed = "This topic was closed before anything was judged" if mode == "closed" else "Nothing is judged yet"
        return f"{closed}, so its recall is unknown.", Advice.CLOSED if mode == "closed" else Advice.NOT_STARTED
    if not ledger.unjudged:
        judged = f"{ledger.size:,} of {count(ledger.size, 'document')}{where} {plural(ledger.size, 'is', 'are')} judged"
        what = f"{ledger.found:,} {plural(ledger.found, 'is', 'are')} relevant"
        return f"{judged}, and {what}.{outside}", Advice.POOL_JUDGED if pool else Advice.ALL_JUDGED
    if decision.stop:
        share = f"At least {goal} of the {relevant} are found" if settings.target < 1 else f"All {relevant} are found"
        if decision.kind is StopKind.CERTAIN:
            return f"{share}, {worst_case(ledger.unjudged)}.{outside}", Advice.READY
        share = share if ledger.found else f"There is no relevant document{where}"
        return f"{share}, with {sure} however often you check.{outside}", Advice.READY
    if by_rule and decision.kind is not StopKind.WITHHELD and ledger.unjudged > ledger.unreachable:
        alone = f"{goal} recall is not guaranteed for this topic alone"
        texts = f"{alone}; the stopping rule will close it.{outside}", Advice.UNTIL_RULE_CLOSES
    elif hidden := _unreachable_sentence(ledger, decision, mode, where):
        texts = f"{hidden}.{outside}", Advice.IMPORT_TEXTS
    else:
        texts = _not_yet(ledger, decision, settings, mode, pool)
    return texts


def _without_draws(ledger: Ledger, settings: LoopSettings, goal: str, outside: str) -> tuple[str, Advice]:
    """Write the recall and the advice of a loop without random draws."""
    if settings.by_system_order:
        return (
            f"{goal} recall is not guaranteed: decisive pairs do not aim at recall.{outside}",
            Advice.SEE_SYSTEM_ORDER,
        )
    without = f"No recall can be guaranteed without {'more ' if len(ledger.draws) else ''}random draws"
    return f"{without}: enable them on the Loop page.{outside}", Advice.ENABLE_DRAWS


def _not_yet(
    ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool
) -> tuple[str, Advice]:
    """Write the recall and the advice while no recall is guaranteed."""
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    outside = OUTSIDE if pool else ""
    needed = decision.needed or 0
    draws = f"the next {plural(needed, 'random document is', f'{needed:,} random documents are')} not relevant"
    lately = ledger.relevant[-RECENT:]
    if mode == "closed" or decision.kind is StopKind.WITHHELD:
        closed = f"This topic is closed, and its judgements do not guarantee {goal} recall."
        withheld = f"{sentence(decision.reason)}{outside}"
        return (closed, Advice.CLOSED) if mode == "closed" else (withheld, Advice.JUDGE_SKIPPED)
    if mode in ("pool", "random"):
        far = f"{ledger.judged:,} of {count(ledger.size, 'document')} in the pool {plural(ledger.judged, 'is', 'are')}"
        return f"{far} judged, so {goal} recall is not guaranteed yet.{outside}", Advice.JUDGE_POOL
    if settings.draws_after == 0 and settings.share_of_draws == 0:
        return _without_draws(ledger, settings, goal, outside)
    if not ledger.found:
        return (
            f"No relevant document is found yet; if {draws} either, there is none, with {sure}.{outside}",
            Advice.JUDGE_MORE,
        )
    if len(lately) >= 10 and lately.mean() >= 0.5:
        much = f"{int(lately.sum()):,} of the last {len(lately):,} documents were relevant"
        return f"{goal} recall is not guaranteed yet: {much}.{outside}", Advice.KEEP_JUDGING
    return f"{goal} recall is not guaranteed yet; it is, with {sure}, if {draws}.{outside}", Advice.JUDGE_MORE


def _unreachable_sentence(ledger: Ledger, decision: StopDecision, mode: str, where: str) -> str:
    """Write why more judgements do not help before missing texts are imported; empty if they do."""
    if mode == "closed" or decision.kind is StopKind.WITHHELD:
        return ""
    if ledger.unjudged == ledger.unreachable:
        without = f"{count(ledger.unjudged, 'document')} {plural(ledger.unjudged, 'has', 'have')} no text"
        return f"All documents{where} with a text are judged; no recall is guaranteed while {without}"
    if decision.needed is None and mode not in ("pool", "random"):
        hidden = f"{ledger.unreachable:,} of {count(ledger.unjudged, 'unjudged document')}"
        return f"No recall can be guaranteed: {hidden} cannot be judged and may be relevant"
    return ""


def describe_notes(
    judgements: pd.DataFrame, scope: NDArray[np.bool_], level: int, ledger: Ledger, seen: Ungraded
) -> list[str]:
    """Describe what may bias the estimates."""
    in_scope = select_in_scope(judgements, scope)
    graded = in_scope[in_scope["kind"] == "graded"]
    opinions = (pd.to_numeric(graded["relevance"]) >= level).groupby(graded["row"])
    resolved = in_scope.loc[in_scope["counts_as"] == "adjudication", "row"]
    differ = int((opinions.nunique() > 1).drop(resolved, errors="ignore").sum())
    cannot = in_scope["row"].nunique() - graded["row"].nunique()
    notes = [missing_texts([ledger.unreachable])] if ledger.unreachable else []
    if differ:
        notes.append(
            f"Annotators disagree on the relevance of {count(differ, 'document')}: the most frequent grade counts, and "
            "the lower one in a tie."
        )
    if cannot:
        notes.append(
            f"{count(cannot, 'document')} could not be judged and {plural(cannot, 'counts', 'count')} as not "
            f"relevant; the guarantee does not cover {plural(cannot, 'it', 'them')}."
        )
    if seen.skipped or seen.undone:
        counts = {"skipped": seen.skipped, "undone": seen.undone}
        what = join([f"{number:,} {word}" for word, number in counts.items() if number])
        documents = plural(seen.skipped + seen.undone, "document is", "documents are")
        drawn = f"; {seen.drawn:,} of them {plural(seen.drawn, 'was', 'were')} drawn at random" if seen.drawn else ""
        notes.append(
            f"{what} {documents} unjudged{drawn}. No recall is guaranteed until the randomly drawn ones are judged, "
            "and the interval assumes that these may be relevant."
        )
    blind = int((ledger.out_of_reach[ledger.draws] > 0.05 * ledger.unjudged_before[ledger.draws]).sum())
    if blind and ledger.unjudged:
        notes.append(
            f"{count(blind, 'randomly drawn document')} could not be drawn from all unjudged documents, since some "
            "were added later or reserved for others; the guarantee assumes that these may be relevant."
        )
    return notes
