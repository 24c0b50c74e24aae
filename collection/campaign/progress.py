"""What is in a campaign: the reads that pages and commands share."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from collection.campaign.loop_settings import LOOPING
from collection.campaign.results import BudgetState, NextStep
from collection.records import Document, GradeScale, in_natural_order
from collection.stopping.table import missing_texts
from collection.store import Store

EVERYWHERE = {"loop", "pool-then-loop"}
"""Modes in which any document of the collection may be judged."""

IN_POOL = ("pool", "random", "loop-in-pool")
"""Modes in which the pool is judged and nothing else."""

PROGRESS = (
    "query_id", "title", "mode", "pool", "judged", "judged_in_pool", "cannot_judge", "made", "goal", "left", "waiting",
    "without_text",
)  # fmt: skip
"""Columns of :meth:`Reading.progress`."""

OTHERS_AFTER = 10.0
"""Seconds after which what others did is counted anew for an annotator's progress in all topics."""


@dataclass
class _Pairs:
    """A topic pair by pair, as the log has it up to an entry: judged, and those of the pool that are done."""

    query_id: str
    logged: int = 0
    judged: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)


@dataclass
class _Standings:
    """What an annotator's progress was counted from, and the numbers of each of their topics.

    Of the topic that they judge just now also its pairs: a save then only looks at what is new in the log.
    """

    made_of: tuple[object, ...]
    logged: int
    at: float
    topics: dict[str, tuple[int, int, int]]
    pairs: _Pairs | None = None


class Reading:
    """The half of a campaign that changes nothing. Pages come here, since the store is not theirs to open."""

    store: Store
    title: str
    grades: GradeScale
    _counted: dict[str, _Standings]

    def together(self) -> AbstractContextManager[None]:
        """Several changes as one: all of them, or, where one is refused, none.

        Examples
        --------
        >>> from collection import Campaign
        >>> with Campaign.create("wings") as campaign:
        ...     with campaign.together():
        ...         _ = campaign.set_assignment(annotators=2)
        ...         campaign.set_guidelines("Read it all.")
        """
        return self.store.transaction()

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``."""
        return self.store.topics()

    def document(self, doc_id: str) -> Document | None:
        """A document, or None if the campaign does not know the id."""
        return self.store.documents([doc_id]).get(doc_id)

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids."""
        return self.store.documents(doc_ids)

    def judgements(self, **which: Any) -> pd.DataFrame:
        """Judgements, oldest first; see :meth:`collection.store.Store.judgements` for what can be chosen."""
        return self.store.judgements(**which)

    def counts(self) -> dict[str, int]:
        """Sizes: ``topics``, ``documents`` (with a text), ``runs``, ``pool``, ``judgements`` (current), ``logged``."""
        return self.store.counts()

    def in_pool(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is in the pool."""
        pair = self.store.pair(query_id, doc_id, "")
        return pair is not None and pair.strategy is not None

    def run_table(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self.store.runs()

    def pool_rounds(self) -> pd.DataFrame:
        """How the pool came about: ``strategy``, ``parameters``, ``pairs``, ``made_at`` of each round."""
        return self.store.pool_rounds()

    def missing_documents(self) -> list[str]:
        """Ids in the pool whose text is not here."""
        return self.store.missing_documents()

    def without_text(self) -> dict[str, int]:
        """Topics with pooled pairs that nobody has judged, and nobody can as their text is missing: how many."""
        return self.store.without_text_in_pools()

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements``, ``seconds`` (median), ``last_at``; by name."""
        return self.store.annotators()

    def modes(self) -> dict[str, str]:
        """``query_id`` -> how its pairs are chosen (a name of ``MODES``), in the order of topics."""
        return {query_id: "closed" if is_closed else scope for query_id, (scope, is_closed) in self._scopes().items()}

    def scopes(self) -> dict[str, str]:
        """The same, with a topic that is closed in the mode that it had: what its recall is to be of."""
        return {query_id: scope for query_id, (scope, _) in self._scopes().items()}

    def _scopes(self) -> dict[str, tuple[str, bool]]:
        """``query_id`` -> its mode, for a closed topic the one that it had, and whether it is closed."""
        usual = self._usual_mode()
        return {query_id: (mode or usual, closed) for query_id, mode, closed in self.store.modes()}

    def mode(self, query_id: str) -> str:
        """How the pairs of a topic are chosen."""
        return self.store.mode(query_id) or self._usual_mode()

    def _usual_mode(self) -> str:
        return str(self.store.setting("loop", {}).get("mode", "pool"))

    def standing(self, query_id: str, annotator: str) -> tuple[int, int | None]:
        """How far a topic is for an annotator: pairs that want nothing of them any more, and pairs in all.

        A pair wants nothing of them when they have judged it, or as many have as are wanted. Pairs whose text is
        missing are in neither number until it is imported. In a loop over the whole collection pairs that anybody
        judged, and None: it has no end. While pairs of the calibration set are before them, and in a topic of which
        only these are theirs, those and no others.
        """
        left = self.store.calibration_left(annotator)
        if query_id in left or not self.store.is_for(query_id, annotator):
            count = len(self.store.calibration_ids(query_id))
            return count - left.get(query_id, 0), count
        scope, is_closed = self._scopes()[query_id]
        return _standing(scope, is_closed, self.store.standing_for(query_id, annotator))

    def topics_for(self, annotator: str) -> list[str]:
        """Topics that an annotator judges; those of which only the calibration set is theirs among them."""
        mine = {*self.store.topics_for(annotator), *self.store.calibration()["query_id"]}
        return [query_id for query_id in self.store.topics()["query_id"] if query_id in mine]

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is: the numbers that every page and command shows.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs in the topic's scope, which its
            recall is of: the pool, or in a loop over the whole collection all pairs), ``judged_in_pool``,
            ``cannot_judge`` (of ``judged``), ``made`` and ``goal`` (judgements that the pool's pairs have of those
            that they are to have, and how many these are; both null in a loop over the whole collection, which ends
            when the recall is good enough; a closed topic is at its goal), ``left`` (``goal`` - ``made``),
            ``waiting`` (of ``left``: the text of the document is missing), ``without_text`` (pairs of the pool that
            nobody has judged, and nobody can, as their text is missing).
        """
        frame = self.store.progress(query_id)
        scopes = self._scopes()
        frame["mode"] = frame["query_id"].map(self.modes())
        everywhere = frame["query_id"].map(lambda topic: scopes[topic][0] in EVERYWHERE).astype(bool)
        closed = frame["mode"] == "closed"
        frame["judged_in_pool"] = frame["judged"]
        frame["judged"] += frame["elsewhere"].where(everywhere, 0)
        frame["cannot_judge"] += frame["elsewhere_cannot"].where(everywhere, 0)
        endless = everywhere & ~closed
        frame["made"] = frame["made"].astype("Int64").mask(endless)
        frame["goal"] = frame["wanted"].astype("Int64").mask(endless).mask(closed, frame["made"])
        frame["left"] = frame["goal"] - frame["made"]
        frame["waiting"] = frame["waiting"].mask(endless | closed, 0)
        return frame[list(PROGRESS)]

    def progress_of(self, query_id: str, annotator: str) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
        """:meth:`standing` and :meth:`totals` together, sooner: what the judging page shows after every judgement."""
        totals = self.totals(annotator, query_id)
        numbers = self._counted[annotator].topics.get(query_id)
        if numbers is None or query_id in self.store.calibration_left(annotator):
            return self.standing(query_id, annotator), totals
        return _standing(*self._scopes()[query_id], numbers), totals

    def totals(self, annotator: str, changed: str | None = None) -> tuple[int, int | None]:
        """The sums of :meth:`standing` over an annotator's topics; None where a loop has no end.

        Pairs of the calibration set that are in none of these count as well, whoever their topics are assigned to, so
        that the goal stays the same while the set is judged. The judging page shows the sums after every judgement:
        the topic that `changed` is counted anew, and what others did elsewhere some seconds later.
        """
        scopes = self._scopes()
        mine = {q: _standing(*scopes[q], numbers) for q, numbers in self._standings(annotator, changed).items()}
        total = sum(done for done, _ in mine.values())
        goal = sum(of or 0 for _, of in mine.values())
        for query_id, is_counted, is_judged in self.store.calibration_standing(annotator):
            scope, is_closed = scopes[query_id]
            if not (is_counted or (query_id in mine and scope in EVERYWHERE)):
                total += is_judged
                goal += is_judged or not is_closed
        return total, None if any(of is None for _, of in mine.values()) else goal

    def _standings(self, annotator: str, changed: str | None) -> dict[str, tuple[int, int, int]]:
        if not hasattr(self, "_counted"):
            self._counted = {}
        made_of, logged = self.store.versions()
        at = time.monotonic()
        known = self._counted.get(annotator)
        if known is None or known.made_of != made_of:
            mine = set(self.store.topics_for(annotator))
            numbers = {q: n for q, n in self.store.standings_for(annotator).items() if q in mine}
            self._counted[annotator] = known = _Standings(made_of, logged, at, numbers)
        if known.logged != logged:
            if changed in known.topics:
                known.topics[changed] = self._standing_now(annotator, changed, known, logged)
            if at >= known.at + OTHERS_AFTER:
                for query_id in set(self.store.topics_since(known.logged)) & known.topics.keys() - {changed}:
                    known.topics[query_id] = self.store.standing_for(query_id, annotator)
            if at >= known.at + OTHERS_AFTER:
                known.logged, known.at = logged, at
        return known.topics

    def _standing_now(self, annotator: str, query_id: str, known: _Standings, logged: int) -> tuple[int, int, int]:
        """:meth:`Store.standing_for`, by what the log has since it was last asked."""
        if known.pairs is None or known.pairs.query_id != query_id:
            known.pairs = _Pairs(query_id)
        pairs = known.pairs
        for doc, judged, done in self.store.standing_since(query_id, annotator, pairs.logged):
            (pairs.judged.add if judged else pairs.judged.discard)(doc)
            (pairs.done.add if done else pairs.done.discard)(doc)
        pairs.logged = logged
        return known.topics[query_id][0], len(pairs.done), len(pairs.judged)

    def budget_state(self) -> BudgetState:
        """How much of the loop's judgement budgets is used, and where."""
        settings, modes = self.store.setting("loop", {}), self.modes()
        return BudgetState(
            settings.get("budget", 0),
            settings.get("topic_budget", 0),
            self.store.spoken_for_topics(math.inf),  # no lease lasts so long: only what is judged
            [query_id for query_id, mode in modes.items() if mode in LOOPING],
        )

    def status(self) -> dict[str, Any]:
        """Everything at a glance, as plain data: what `cleverdon status` and the Overview page show.

        Sums of :meth:`progress` under the same names, ``left`` as ``remaining``. ``outside_pool`` are all pairs that
        are judged and not in the pool, so ``judged_in_pool`` and they together are all that is judged.
        """
        progress = self.progress()
        annotators = self.store.annotators()
        progress = in_natural_order(progress)
        per_topic = progress.astype(object).where(progress.notna(), None).to_dict("records")
        sums = progress[["judged", "judged_in_pool", "cannot_judge", "made", "goal", "waiting", "without_text"]].sum()
        return {
            "title": self.title,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            **self.store.counts(),
            **{str(name): int(number) for name, number in sums.items()},
            "outside_pool": self.store.judged_outside_pool(),
            "remaining": int(progress["left"].sum()),
            "in_loop": int(progress["goal"].isna().sum()),
            "missing_documents": len(self.store.missing_documents()),
            "budget": self.budget_state().words,
            "per_topic": per_topic,
            "annotators": annotators.astype(object).where(annotators.notna(), None).to_dict("records"),
            "next": self.next_step()._asdict(),
        }

    def next_step(self) -> NextStep:
        """What a person who runs the campaign should do now."""
        counts = self.store.counts()
        progress = self.progress()
        remaining, waiting = int(progress["left"].sum()), int(progress["waiting"].sum())
        free = remaining - waiting
        goal = int(progress["goal"].sum())
        unit = "pairs" if goal == progress.loc[progress["goal"].notna(), "pool"].sum() else "judgements"
        in_loop = int(progress["goal"].isna().sum())
        topics = "topic is" if in_loop == 1 else "topics are"
        with_text = f", {free:,} of them with a text" if waiting else ""
        others = f", and {remaining:,} {unit} of the other topics' pools{with_text}" if remaining else ""
        missing = missing_texts(progress["without_text"])
        held = f" {missing} Import their texts; the Export page lists the ids." if missing else ""
        used_up = self.budget_state().words if counts["documents"] or counts["runs"] else ""
        steps = [
            (not counts["topics"], "import", "Import the topics: what people are looking for."),
            (used_up and not free, "loop", f"{used_up}{held}"),
            (used_up, "judge", f"Judge: {remaining:,} {unit} of pools are left{with_text}. {used_up}{held}"),
            (
                in_loop and counts["documents"],
                "judge",
                f"Judge: {in_loop:,} {topics} in the loop{others}. Recall says when to stop.{held}",
            ),
            (
                not counts["pool"] and not counts["runs"] and counts["judgements"],
                "export",
                f"{counts['judgements']:,} judgements are here, and no pool: Agreement compares their annotators, "
                "Export writes the qrels. To judge more, import the runs of your systems.",
            ),
            (not counts["runs"], "import", "Import the runs of your systems, and the documents that they retrieve."),
            (not counts["pool"], "pool", "Pool the runs: choose which pairs are to be judged."),
            (not counts["documents"], "import", "Import the documents: nobody can judge what has no text."),
            (free, "judge", f"Judge: {remaining:,} of {goal:,} {unit} are left{with_text}.{held}"),
            (waiting, "export", f"Every pair that has a text is judged.{held}"),
        ]
        for is_next, page, sentence in steps:
            if is_next:
                return NextStep(page, sentence)
        return NextStep("export", "Every pair of the pool is judged: export the qrels, and evaluate the runs.")


def _standing(scope: str, is_closed: bool, numbers: tuple[int, int, int]) -> tuple[int, int | None]:
    """Done and goal in a scope, from pairs of the pool, those of them that are done, and all that are judged."""
    pool, done, everywhere = numbers
    if scope in EVERYWHERE:
        return everywhere, everywhere if is_closed else None
    return done, done if is_closed else pool
