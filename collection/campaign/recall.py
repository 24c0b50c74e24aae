"""Estimated recall of each topic, and what may be promised of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil, isnan
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.campaign.active_learning import ActiveLearning
from collection.campaign.corpus import Corpus
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import IN_POOL, LoopSettings
from collection.campaign.settings import Settings
from collection.campaign.topic_ledger import select_in_scope
from collection.phrases import count, percent_down
from collection.records import sort_naturally
from collection.stopping import STOPPING_RULES, Estimate, Ledger, StopDecision, advise, betting, estimate
from collection.stopping.table import missing_texts, too_many
from collection.store import Store

RECENT = 50
"""Number of newest ranked judgements by which the current precision is estimated."""

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
    """Unjudged documents of the pool that cannot be judged as their text is missing; they count as unjudged."""
    curve: pd.DataFrame
    """The gain curve: ``judged`` (0 to n), ``found``, ``drawn`` (whether this document was drawn at random)."""
    batches: pd.DataFrame
    """The ranking's precision in windows of equally many ranked judgements, without draws: ``first``, ``last`` (numbers
    of the judgements), ``judged`` (how many of them were ranked), ``relevant``, ``precision``."""
    estimate: Estimate
    decision: StopDecision
    """That of the stopping rule with the guarantee."""
    promise: str
    """One sentence: what may be promised, and at what confidence."""
    advice: str
    """What to do, in a few words."""
    notes: list[str]
    """Sentences on disagreement, documents that nobody could judge, and draws that do not count."""
    next_percent: int | None
    """Judgements that the next 1% of recall costs at the recent precision; None where it cannot be said."""
    next_reason: str
    """How it was computed, or why it cannot be said."""
    rules: pd.DataFrame
    """The decisions of other rules: ``rule``, ``says`` ("stop", "go on", "cannot say"), ``promises``, ``reason``."""


READY = "ready to stop"
"""The beginning of the advice for every topic that may stop."""

IMPORT_TEXTS = "import the missing texts"
"""The advice where only documents without a text are left, or too many of them for any promise."""


@dataclass(eq=False)
class RecallEstimates:
    """Estimated recall of each topic, and what may be promised of it."""

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
        texts = _promise_and_advice(ledger, decision, settings, mode, in_pool)
        counts = (ledger.judged, ledger.found, ledger.size, ledger.unreachable)
        notes, rules = _notes(judgements, scope, settings.level, ledger, skipped), _rules(ledger, settings)
        cost = _next_percent(ledger, known)
        return Recall(
            query_id, mode, *counts, _curve(ledger), _batches(ledger), known, decision, *texts, notes, *cost, rules
        )

    def table(self) -> pd.DataFrame:
        """Every topic's recall, worst first: topics without a judgement, then the lowest lower bound.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``of`` ("pool" or "collection"), ``judged``, ``found``,
            ``without_text`` (as in :class:`Recall`), ``relevant`` (the most likely number), ``low``, ``high``,
            ``recall``, ``recall_low``, ``recall_high``, ``stop``, ``advice`` (in a few words). All estimates are null
            where nothing is judged, the most likely ones before a random draw was relevant.
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
            _, advice = _promise_and_advice(ledger, decision, settings, mode, in_pool)
            known = _estimate(ledger, settings.confidence)[:6] if ledger.judged else (None,) * 6
            counts = (ledger.judged, ledger.found, ledger.unreachable)
            of = "pool" if in_pool else "collection"
            rows.append((query_id, title, mode, of, *counts, *known, decision.stop and ledger.judged > 0, advice))
        table = sort_naturally(pd.DataFrame(rows, columns=list(TABLE)).astype(TABLE))
        worst = table.assign(started=table["judged"] > 0).sort_values(["started", "recall_low"], kind="stable")
        return worst[list(TABLE)].reset_index(drop=True)

    def cache_key(self) -> str:
        """Cache key of :meth:`of_topic` and :meth:`table`: differs where anything that they read differs."""
        settings = self.store.settings.all()
        log = self.store.judgements.versions()
        return json.dumps([log, settings.get("loop"), settings.get("documents_version"), self.settings.own_modes()])


def _curve(ledger: Ledger) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "judged": np.arange(ledger.judged + 1),
            "found": np.concatenate(([0], np.cumsum(ledger.relevant, dtype=np.int64))),
            "drawn": np.concatenate(([False], ledger.drawn)),
        }
    )


def _batches(ledger: Ledger) -> pd.DataFrame:
    """The ranking's precision in windows of 10, or of more where there would be more than 40 of them."""
    ranked = np.flatnonzero(~ledger.drawn)
    length = next((n for n in (10, 20, 50, 100) if len(ranked) <= 40 * n), ceil(len(ranked) / 40))
    windows = [ranked[at : at + length] for at in range(0, len(ranked), length)]
    if len(windows) > 1 and 2 * len(windows[-1]) < length:
        # The precision of a few documents says nothing: they join the window before.
        windows[-2:] = [np.concatenate(windows[-2:])]
    columns = {
        "first": [int(window[0]) + 1 for window in windows],
        "last": [int(window[-1]) + 1 for window in windows],
        "judged": [len(window) for window in windows],
        "relevant": [int(ledger.relevant[window].sum()) for window in windows],
    }
    frame = pd.DataFrame(columns, dtype="int64")
    return frame.assign(precision=frame["relevant"] / frame["judged"])


def _next_percent(ledger: Ledger, known: Estimate) -> tuple[int | None, str]:
    """Judgements that the next 1% of recall costs, and how that was computed."""
    recent = ledger.relevant[np.flatnonzero(~ledger.drawn)[-RECENT:]]
    hits, of = int(recent.sum()), len(recent)
    left = ledger.unjudged - ledger.unreachable
    if left == 0:
        judged = "Every document that has a text is judged." if ledger.unreachable else "Every document is judged."
        return None, judged if ledger.size else "There is nothing to judge."
    if not ledger.found:
        return None, "No relevant document is found yet, so nobody can say what more would cost."
    if not hits:
        brings = f"None of the last {count(of, 'ranked document')} was relevant" if of else "Nothing was ranked yet"
        return None, f"{brings}: at this rate no number of judgements brings the next percent."
    relevant = ledger.found if isnan(known.relevant) else int(known.relevant)
    cost = min(ceil(round(relevant / 100 / (hits / of), 9)), left)
    number = f"{relevant:,} found so far" if isnan(known.relevant) else f"estimated {relevant:,} relevant documents"
    reason = (
        f"1% of the {number} is {relevant / 100:g}; {hits:,} of the last {count(of, 'ranked document')} "
        f"{'was' if hits == 1 else 'were'} relevant, so it costs about {count(cost, 'judgement')}"
    )
    # 1% may be less than a document.
    whole = min(ceil(of / hits), left)
    return cost, f"{reason}, and the next whole document about {whole:,}." if relevant < 100 else f"{reason}."


def _unless_skipped(decision: StopDecision, drawn: int) -> StopDecision:
    """Withdraw the promise while randomly drawn documents are skipped: they may be relevant."""
    if not drawn:
        return decision
    which = f"{count(drawn, 'document')} that {'was' if drawn == 1 else 'were'} drawn at random and skipped"
    return StopDecision(False, f"nothing can be promised before {which} {'is' if drawn == 1 else 'are'} judged", drawn)


def _estimate(ledger: Ledger, confidence: float) -> Estimate:
    """The estimate, without a most likely number before a draw was relevant: it would equal the number found."""
    known = estimate(ledger, confidence)
    if ledger.unjudged and not ledger.relevant[ledger.draws].any():
        return known._replace(relevant=float("nan"), recall=float("nan"))
    return known


def _promise_and_advice(
    ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool
) -> tuple[str, str]:
    """What may be promised: one sentence, and a few words for a table."""
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    where = " in the pool" if pool else ""
    outside = "; what no system retrieved is outside" if pool else ""
    documents = count(ledger.size, "document") + where
    relevant = f"relevant documents{where}"
    if not ledger.size:
        missing = "This topic has no pool yet" if pool else "There is no document with a text yet"
        return f"{missing}: there is nothing to judge, and nothing to promise.", "nothing to judge"
    if not ledger.judged:
        closed = "The topic was closed before anything was judged" if mode == "closed" else "Nothing is judged yet"
        return f"{closed}, so nothing can be said.", "closed" if mode == "closed" else "nothing judged"
    if not ledger.unjudged:
        what = f"all {ledger.found:,} relevant ones are found" if ledger.found > 1 else "the one relevant is found"
        what = what if ledger.found else "none is relevant"
        done = "the pool is judged" if pool else "all is judged"
        return f"All {documents} are judged: {what}{outside}.", f"{READY}: {done}"
    if decision.stop:
        share = f"at least {goal} of the {relevant} are found" if settings.target < 1 else f"all {relevant} are found"
        if too_many(ledger, settings.target) > ledger.found + ledger.unjudged:
            is_or_are = "is" if ledger.unjudged == 1 else "are"
            certain = f" for certain: only {count(ledger.unjudged, 'document')} {is_or_are} not judged"
            if ledger.unreachable:
                certain = f", even if the {count(ledger.unjudged, 'unjudged document')} {is_or_are} relevant"
            return f"{_upper(share)}{certain}{outside}.", READY
        share = share if ledger.found else f"there is no relevant document{where}"
        return f"{_upper(share)}, with {sure}: this holds however often you look{outside}.", READY
    hidden = _unreachable_sentence(ledger, decision, mode, pool)
    return (f"{hidden}{outside}.", IMPORT_TEXTS) if hidden else _not_yet(ledger, decision, settings, mode, pool)


def _not_yet(ledger: Ledger, decision: StopDecision, settings: LoopSettings, mode: str, pool: bool) -> tuple[str, str]:
    """The words while nothing can be promised."""
    goal, sure = percent_down(settings.target), f"{percent_down(settings.confidence)} confidence"
    outside = "; what no system retrieved is outside" if pool else ""
    more = f"{decision.needed or 0:,}"
    documents = "random document" if decision.needed == 1 else "random documents"
    lately = ledger.relevant[-RECENT:]
    if mode == "closed" or "skipped" in decision.reason:
        closed = f"The topic is closed, and no rule can promise {goal} recall by what was judged."
        skipped = f"{_upper(decision.reason)}{outside}."
        return (closed, "closed") if mode == "closed" else (skipped, "judge what was skipped")
    if mode in ("pool", "random"):
        far = f"{ledger.judged:,} of the {count(ledger.size, 'document')} of the pool are judged"
        return f"{far}, and before the rest nothing can be promised{outside}.", "judge the pool"
    if settings.draws_after == 0 and settings.control == 0:
        without = "Without more random draws" if len(ledger.draws) else "Without random draws"
        return f"{without} nothing can be promised{outside}: switch them on on the Loop page.", "switch random draws on"
    if not ledger.found:
        sentence = f"No relevant document is found yet; after {more} more {documents} without one it can be promised"
        return f"{sentence}, with {sure}, that there is none{outside}.", f"go on: {more} more at random"
    if len(lately) >= 10 and lately.mean() >= 0.5:
        much = f"{int(lately.sum()):,} of the last {len(lately):,} documents were relevant"
        return f"No rule can promise {goal} recall while so much is found: {much}{outside}.", "go on: much is left"
    sentence = f"No rule can promise {goal} recall yet; after {more} more {documents} without a relevant one it can"
    return f"{sentence}, with {sure}{outside}.", f"go on: {more} more at random"


def _unreachable_sentence(ledger: Ledger, decision: StopDecision, mode: str, pool: bool) -> str:
    """Why no further judgement helps before missing texts are imported; empty where one does."""
    if mode == "closed" or "skipped" in decision.reason:
        return ""
    if ledger.unjudged == ledger.unreachable:
        done = f"Every document{' in the pool' if pool else ''} that has a text is judged"
        return f"{done}, and nothing can be promised of the other {ledger.unjudged:,}"
    if decision.needed is None and mode not in ("pool", "random"):
        hidden = f"{ledger.unreachable:,} of the {count(ledger.unjudged, 'unjudged document')} cannot be judged"
        return f"Nothing can be promised: {hidden} and may all be relevant"
    return ""


def _upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _notes(judgements: pd.DataFrame, scope: NDArray[np.bool_], level: int, ledger: Ledger, skipped: int) -> list[str]:
    """Sentences on what may make the estimates wrong."""
    here = select_in_scope(judgements, scope)
    graded = here[here["kind"] == "graded"]
    opinions = (pd.to_numeric(graded["relevance"]) >= level).groupby(graded["doc_id"])
    differ = int((opinions.nunique() > 1).sum())
    ungraded = here["doc_id"].nunique() - graded["doc_id"].nunique()
    notes = [missing_texts([ledger.unreachable])] if ledger.unreachable else []
    if differ:
        notes.append(
            f"Annotators disagree on whether {count(differ, 'document')} {'is' if differ == 1 else 'are'} relevant: "
            "the grade that most gave counts, of two given equally often the lower one."
        )
    if ungraded:
        notes.append(
            f"{count(ungraded, 'document')} could not be judged by anybody: counted as not relevant, and no promise "
            "holds for such documents."
        )
    if skipped:
        are = "was skipped and is" if skipped == 1 else "were skipped and are"
        notes.append(
            f"{count(skipped, 'document')} {are} not judged. Nothing is promised before those that were drawn at "
            "random are; the interval leaves them out."
        )
    blind = int((ledger.out_of_reach[ledger.draws] > 0.05 * ledger.unjudged_before[ledger.draws]).sum())
    if blind:
        notes.append(
            f"{count(blind, 'random draw')} came from fewer documents than there are now (documents were added, others "
            "held some, or the pool was all there was): the promise allows for the case that all of those are relevant."
        )
    return notes


def _rules(ledger: Ledger, settings: LoopSettings) -> pd.DataFrame:
    """The decisions of all rules but the one that gives the advice."""
    usual: dict[str, float] = {"target": settings.target, "confidence": settings.confidence}
    if settings.topic_budget:
        usual["judgements"] = settings.topic_budget
    rows = []
    for entry in STOPPING_RULES:
        if entry.function is betting:
            continue
        if lacks := entry.lacks(ledger):
            says, reason = "cannot say", f"It needs {lacks}, which is not known here."
        else:
            parameters = {name: value for name, value in usual.items() if name in entry.parameters}
            decision = entry.function(ledger, **parameters)
            says, reason = "stop" if decision.stop else "go on", f"{_upper(decision.reason)}."
        rows.append((entry.label, says, entry.traits["promises"], reason))
    return pd.DataFrame(rows, columns=["rule", "says", "promises", "reason"])
