"""Estimated recall of each topic, with the recall that is guaranteed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil, isnan
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.campaign import calibration_record
from collection.campaign.active_learning import ActiveLearning
from collection.campaign.corpus import Corpus
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import IN_POOL, LoopSettings
from collection.campaign.settings import Settings
from collection.campaign.topic_ledger import select_in_scope
from collection.phrases import count, percent_down, plural, sentence
from collection.records import sort_naturally
from collection.stopping import STOPPING_RULES, Estimate, Ledger, StopDecision, advise, betting, estimate
from collection.stopping.table import missing_texts, too_many, worst_case
from collection.store import Store

RECENT = 50
"""Number of latest ranked judgements used to estimate the current precision."""

TABLE = {
    "query_id": "str", "title": "str", "mode": "str", "of": "str", "judged": "int64", "found": "int64",
    "without_text": "int64", "relevant": "float64", "low": "Int64", "high": "Int64", "recall": "float64",
    "recall_low": "float64", "recall_high": "float64", "stop": "bool", "advice": "str",
}  # fmt: skip


class Recall(NamedTuple):
    """The recall of one topic."""

    query_id: str
    mode: str
    """How its documents are chosen."""
    judged: int
    found: int
    """Relevant documents among those judged."""
    size: int
    """Documents in scope: the pool or the collection."""
    without_text: int
    """Unjudged documents of the pool that cannot be judged because their text is missing; they count as unjudged."""
    curve: pd.DataFrame
    """The gain curve: ``judged`` (0 to n), ``found``, ``drawn`` (whether this document was drawn at random)."""
    batches: pd.DataFrame
    """The ranking's precision in windows of equally many ranked judgements, without draws: ``first``, ``last`` (numbers
    of the judgements), ``judged`` (how many of them were ranked), ``relevant``, ``precision``."""
    estimate: Estimate
    decision: StopDecision
    """The decision of the stopping rule with the guarantee."""
    promise: str
    """The guaranteed recall with its confidence, or what is missing for a guarantee; one or two sentences."""
    advice: str
    """What to do, in a few words."""
    notes: list[str]
    """Sentences on disagreement, documents that could not be judged, and draws that count only in part."""
    cost: str
    """How many judgements more recall costs at the recent precision, or why that is unknown; one sentence."""
    rules: pd.DataFrame
    """The decisions of other rules: ``rule``, ``says`` ("stop", "continue", "not available"), ``promises``,
    ``reason``."""


READY = "ready to stop"
"""Start of the advice for every topic that may stop."""

OUTSIDE = " Documents outside the pool are not covered."
"""Second sentence wherever the scope is a pool."""

IMPORT_TEXTS = "import the missing texts"
"""Advice if only documents without a text are left, or too many of them for a guarantee."""

CALIBRATION_TOPIC = "calibration topic"
"""Start of the advice for calibration topics."""

JUDGE_ON = f"{CALIBRATION_TOPIC}: judge to the end"
"""Advice for calibration topics, whatever the recall is."""

JUDGED = f"{CALIBRATION_TOPIC}: finished"
"""Advice for calibration topics that are judged to the end, whatever the recall is."""

CLOSED_BY_RULE = "closed by the stopping rule"
"""Advice for topics that are closed by a rule whose recall is guaranteed across topics."""


@dataclass(eq=False)
class RecallEstimates:
    """Estimated recall of each topic, with the recall that is guaranteed."""

    store: Store
    settings: Settings
    corpus: Corpus
    loop_scope: LoopScope
    active_learning: ActiveLearning

    def of_topic(self, query_id: str) -> Recall:
        """The recall of a topic; raises UnknownNameError if there is no such topic."""
        self.settings.require_topic(query_id)
        settings, mode = self.settings.loop(), self.settings.mode(query_id)
        judgements, judgeable = self.store.judgements.current_judgements(query_id), self.loop_scope.judgeable()
        ledger = self.active_learning.build_ledger(query_id, judgements, judgeable)
        scope = self.loop_scope.recall_scope(query_id, judgements, judgeable)
        known = _estimate(ledger, settings.confidence)
        skipped, drawn = self.store.judgements.skipped().get(query_id, (0, 0))
        decision = _unless_skipped(advise(ledger, settings.target, settings.confidence), drawn)
        in_pool = self.settings.modes_when_open()[query_id] in IN_POOL
        decision, promise, advice = self._describe(query_id, ledger, decision, settings, mode, in_pool)
        notes = _notes(judgements, scope, settings.level, ledger, skipped)
        return Recall(
            query_id, mode, ledger.judged, ledger.found, ledger.size, ledger.unreachable, _curve(ledger),
            _batches(ledger), known, decision, promise, advice, notes, _describe_cost(ledger, known),
            _rules(ledger, settings),
        )  # fmt: skip

    def table(self) -> pd.DataFrame:
        """Every topic's recall, worst first: topics without a judgement, then by the lower bound.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``of`` ("pool" or "collection"), ``judged``, ``found``,
            ``without_text`` (as in :class:`Recall`), ``relevant`` (the most likely number), ``low``, ``high``,
            ``recall``, ``recall_low``, ``recall_high``, ``stop``, ``advice`` (in a few words). All estimates are null
            if nothing is judged, the most likely ones until a random draw was relevant.
        """
        settings, modes, open_modes = self.settings.loop(), self.settings.modes(), self.settings.modes_when_open()
        everything, skipped = self.store.judgements.current_judgements(), self.store.judgements.skipped()
        by_topic = {str(q): part for q, part in everything.groupby("query_id", sort=False)}
        judgeable = self.loop_scope.judgeable()
        rows = []
        for query_id, title in self.corpus.topics()[["query_id", "title"]].itertuples(index=False):
            mode, in_pool = modes[query_id], open_modes[query_id] in IN_POOL
            judgements = by_topic.get(query_id, everything.iloc[:0])
            ledger = self.active_learning.build_ledger(query_id, judgements, judgeable)
            decision = betting(ledger, target=settings.target, confidence=settings.confidence)
            decision = _unless_skipped(decision, skipped.get(query_id, (0, 0))[1])
            decision, _, advice = self._describe(query_id, ledger, decision, settings, mode, in_pool)
            known = _estimate(ledger, settings.confidence)[:6] if ledger.judged else (None,) * 6
            counts = (ledger.judged, ledger.found, ledger.unreachable)
            of = "pool" if in_pool else "collection"
            rows.append((query_id, title, mode, of, *counts, *known, decision.stop and ledger.judged > 0, advice))
        table = sort_naturally(pd.DataFrame(rows, columns=list(TABLE)).astype(TABLE))
        worst = table.assign(started=table["judged"] > 0).sort_values(["started", "recall_low"], kind="stable")
        return worst[list(TABLE)].reset_index(drop=True)

    def _describe(
        self, query_id: str, ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, in_pool: bool
    ) -> tuple[StopDecision, str, str]:
        """Return the decision, the guaranteed recall, and the advice, with what the calibration topics change."""
        promise, advice = _promise_and_advice(ledger, decision, settings, mode, in_pool)
        if advice == "closed":
            closed = calibration_record.closed_by_rule(self.store).get(query_id)
            if closed is None:
                return decision, promise, advice
            return decision, f"{promise} It was closed by the stopping rule: {closed.reason}.", CLOSED_BY_RULE
        record = calibration_record.read(self.store)
        if record is None or query_id not in record.topics:
            return decision, promise, advice
        if record.is_finished(ledger):
            return decision, f"{promise} It is a calibration topic and judged to the end.", JUDGED
        decision = StopDecision(False, decision.reason, decision.needed)
        return decision, f"{promise} It is a calibration topic: judge it to the end all the same.", JUDGE_ON

    def cache_key(self) -> str:
        """Cache key of :meth:`of_topic` and :meth:`table`, which changes with anything they read."""
        settings = self.store.settings.all()
        log = self.store.judgements.versions()
        names = ("loop", "documents_version", calibration_record.KEY, calibration_record.CLOSED)
        return json.dumps([log, *map(settings.get, names), self.settings.own_modes()])


def _curve(ledger: Ledger) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "judged": np.arange(ledger.judged + 1),
            "found": np.concatenate(([0], np.cumsum(ledger.relevant, dtype=np.int64))),
            "drawn": np.concatenate(([False], ledger.drawn)),
        }
    )


def _batches(ledger: Ledger) -> pd.DataFrame:
    """The ranking's precision in windows of 10 judgements, or larger ones to have at most about 40 windows."""
    ranked = np.flatnonzero(~ledger.drawn)
    length = next((n for n in (10, 20, 50, 100) if len(ranked) <= 40 * n), ceil(len(ranked) / 40))
    windows = [ranked[at : at + length] for at in range(0, len(ranked), length)]
    if len(windows) > 1 and 2 * len(windows[-1]) < length:
        # A few documents have no meaningful precision, so they join the window before.
        windows[-2:] = [np.concatenate(windows[-2:])]
    columns = {
        "first": [int(window[0]) + 1 for window in windows],
        "last": [int(window[-1]) + 1 for window in windows],
        "judged": [len(window) for window in windows],
        "relevant": [int(ledger.relevant[window].sum()) for window in windows],
    }
    frame = pd.DataFrame(columns, dtype="int64")
    return frame.assign(precision=frame["relevant"] / frame["judged"])


def describe_ready(table: pd.DataFrame, settings: LoopSettings) -> str:
    """Write how many topics of the table of recall are ready to stop, and what that guarantees."""
    goal, confidence = percent_down(settings.target), percent_down(settings.confidence)
    if settings.by_system_order:
        return "The loop selects decisive pairs for the order of the systems: it does not aim at recall."
    ready = table[table["stop"]]
    if ready.empty:
        share = f"{goal} of the" if settings.target < 1 else "all"
        return (
            f"No topic is ready to stop yet. The target is to find {share} relevant documents of each topic, with "
            f"{confidence} confidence."
        )
    share = f"at least {goal} of the" if settings.target < 1 else "all"
    in_each, by_itself = plural(len(ready), "", "in each, "), plural(len(ready), "", " for each topic by itself")
    return (
        f"{len(ready):,} of {count(len(table), 'topic')} {plural(len(ready), 'is', 'are')} ready to stop: "
        f"{in_each}{share} relevant documents in {name_scope(ready)} are found, with {confidence} "
        f"confidence{by_itself}."
    )


def name_scope(table: pd.DataFrame) -> str:
    """Name the documents to which the recall of these topics refers: "the pool", "the collection", or both."""
    scopes = set(table["of"])
    return f"the {scopes.pop()}" if len(scopes) == 1 else "its scope (pool or collection)"


def _describe_cost(ledger: Ledger, known: Estimate) -> str:
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


def _unless_skipped(decision: StopDecision, drawn: int) -> StopDecision:
    """Withdraw the guarantee while randomly drawn documents are skipped: they may be relevant."""
    if not drawn:
        return decision
    skipped = f"{count(drawn, 'randomly drawn document')} {plural(drawn, 'was', 'were')} skipped"
    until = f"no recall is guaranteed until {plural(drawn, 'it is', 'they are')} judged"
    return StopDecision(False, f"{skipped}; {until}", drawn)


def _estimate(ledger: Ledger, confidence: float) -> Estimate:
    """The estimate, without the most likely number until a draw was relevant: it would equal the number found."""
    known = estimate(ledger, confidence)
    if ledger.unjudged and not ledger.relevant[ledger.draws].any():
        return known._replace(relevant=float("nan"), recall=float("nan"))
    return known


def _promise_and_advice(
    ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool
) -> tuple[str, str]:
    """The guaranteed recall in one or two sentences, and a few words for a table."""
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    where = " in the pool" if pool else ""
    outside = OUTSIDE if pool else ""
    relevant = f"relevant documents{where}"
    if not ledger.size:
        missing = "This topic has no pool yet" if pool else "No document has a text yet"
        return f"{missing}, so there is nothing to judge.", "nothing to judge"
    if not ledger.judged:
        closed = "This topic was closed before anything was judged" if mode == "closed" else "Nothing is judged yet"
        return f"{closed}, so its recall is unknown.", "closed" if mode == "closed" else "not started"
    if not ledger.unjudged:
        judged = f"{ledger.size:,} of {count(ledger.size, 'document')}{where} {plural(ledger.size, 'is', 'are')} judged"
        what = f"{ledger.found:,} {plural(ledger.found, 'is', 'are')} relevant"
        return f"{judged}, and {what}.{outside}", f"{READY}: {'pool' if pool else 'all'} judged"
    if decision.stop:
        share = f"At least {goal} of the {relevant} are found" if settings.target < 1 else f"All {relevant} are found"
        if too_many(ledger, settings.target) > ledger.found + ledger.unjudged:
            return f"{share}, {worst_case(ledger.unjudged)}.{outside}", READY
        share = share if ledger.found else f"There is no relevant document{where}"
        return f"{share}, with {sure} however often you check.{outside}", READY
    hidden = _unreachable_sentence(ledger, decision, mode, where)
    return (f"{hidden}.{outside}", IMPORT_TEXTS) if hidden else _not_yet(ledger, decision, settings, mode, pool)


def _without_draws(ledger: Ledger, settings: LoopSettings, goal: str, outside: str) -> tuple[str, str]:
    """The wording where no document is drawn at random to estimate recall."""
    if settings.by_system_order:
        return f"{goal} recall is not guaranteed: decisive pairs do not aim at recall.{outside}", "see System order"
    without = f"No recall can be guaranteed without {'more ' if len(ledger.draws) else ''}random draws"
    return f"{without}: switch them on on the Loop page.{outside}", "switch random draws on"


def _not_yet(ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool) -> tuple[str, str]:
    """The wording while no recall is guaranteed."""
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    outside = OUTSIDE if pool else ""
    needed = decision.needed or 0
    more = f"judge {needed:,} more at random"
    draws = f"the next {plural(needed, 'random document is', f'{needed:,} random documents are')} not relevant"
    lately = ledger.relevant[-RECENT:]
    if mode == "closed" or "skipped" in decision.reason:
        closed = f"This topic is closed, and its judgements do not guarantee {goal} recall."
        skipped = f"{sentence(decision.reason)}{outside}"
        return (closed, "closed") if mode == "closed" else (skipped, "judge skipped documents")
    if mode in ("pool", "random"):
        far = f"{ledger.judged:,} of {count(ledger.size, 'document')} in the pool {plural(ledger.judged, 'is', 'are')}"
        return f"{far} judged, so {goal} recall is not guaranteed yet.{outside}", "judge the pool"
    if settings.draws_after == 0 and settings.share_of_draws == 0:
        return _without_draws(ledger, settings, goal, outside)
    if not ledger.found:
        return f"No relevant document is found yet; if {draws} either, there is none, with {sure}.{outside}", more
    if len(lately) >= 10 and lately.mean() >= 0.5:
        much = f"{int(lately.sum()):,} of the last {len(lately):,} documents were relevant"
        return f"{goal} recall is not guaranteed yet: {much}.{outside}", "keep judging: many are relevant"
    return f"{goal} recall is not guaranteed yet; it is, with {sure}, if {draws}.{outside}", more


def _unreachable_sentence(ledger: Ledger, decision: StopDecision, mode: str, where: str) -> str:
    """Say why no further judgement helps before missing texts are imported; empty if one does."""
    if mode == "closed" or "skipped" in decision.reason:
        return ""
    if ledger.unjudged == ledger.unreachable:
        without = f"{count(ledger.unjudged, 'document')} {plural(ledger.unjudged, 'has', 'have')} no text"
        return f"All documents{where} with a text are judged; no recall is guaranteed while {without}"
    if decision.needed is None and mode not in ("pool", "random"):
        hidden = f"{ledger.unreachable:,} of {count(ledger.unjudged, 'unjudged document')}"
        return f"No recall can be guaranteed: {hidden} cannot be judged and may be relevant"
    return ""


def _notes(judgements: pd.DataFrame, scope: NDArray[np.bool_], level: int, ledger: Ledger, skipped: int) -> list[str]:
    """Describe what may bias the estimates."""
    here = select_in_scope(judgements, scope)
    graded = here[here["kind"] == "graded"]
    opinions = (pd.to_numeric(graded["relevance"]) >= level).groupby(graded["doc_id"])
    differ = int((opinions.nunique() > 1).sum())
    ungraded = here["doc_id"].nunique() - graded["doc_id"].nunique()
    notes = [missing_texts([ledger.unreachable])] if ledger.unreachable else []
    if differ:
        notes.append(
            f"Annotators disagree on the relevance of {count(differ, 'document')}: the most frequent grade counts, and "
            "the lower one in a tie."
        )
    if ungraded:
        notes.append(
            f"{count(ungraded, 'document')} could not be judged and {plural(ungraded, 'counts', 'count')} as not "
            f"relevant; the guarantee does not cover {plural(ungraded, 'it', 'them')}."
        )
    if skipped:
        notes.append(
            f"{count(skipped, 'document')} {plural(skipped, 'was', 'were')} skipped and left out of the interval; no "
            "recall is guaranteed until the randomly drawn ones are judged."
        )
    blind = int((ledger.out_of_reach[ledger.draws] > 0.05 * ledger.unjudged_before[ledger.draws]).sum())
    if blind:
        notes.append(
            f"{count(blind, 'random draw')} could not reach some documents (added later, held by others, or outside "
            "the pool at the time); the guarantee assumes that all of these may be relevant."
        )
    return notes


def _rules(ledger: Ledger, settings: LoopSettings) -> pd.DataFrame:
    """The decisions of all rules except the one that gives the advice."""
    usual: dict[str, float] = {"target": settings.target, "confidence": settings.confidence}
    if settings.topic_budget:
        usual["judgements"] = settings.topic_budget
    rows = []
    for entry in STOPPING_RULES:
        if entry.function is betting:
            continue
        if lacks := entry.lacks(ledger):
            says, reason = "not available", f"Needs {lacks}."
        else:
            parameters = {name: value for name, value in usual.items() if name in entry.parameters}
            decision = entry.function(ledger, **parameters)
            says, reason = "stop" if decision.stop else "continue", sentence(decision.reason)
        rows.append((entry.label, says, entry.traits["promises"], reason))
    return pd.DataFrame(rows, columns=["rule", "says", "promises", "reason"])
