"""What is in a campaign: the reads that pages and commands share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from collection.campaign.reports import NextStep
from collection.records import Document, GradeScale
from collection.store import Store

EVERYWHERE = {"loop", "pool-then-loop"}
"""Modes in which any document of the collection may be judged."""

IN_POOL = ("pool", "random", "loop-in-pool")
"""Modes in which the pool is judged and nothing else."""

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

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements``, ``seconds`` (median), ``last_at``; by name."""
        return self.store.annotators()

    def modes(self) -> dict[str, str]:
        """``query_id`` -> how its pairs are chosen (a name of ``MODES``), in the order of topics."""
        usual = self._usual_mode()
        return {query_id: "closed" if closed else mode or usual for query_id, mode, closed in self.store.modes()}

    def scopes(self) -> dict[str, str]:
        """The same, with a topic that is closed in the mode that it had: what its recall is to be of."""
        usual = self._usual_mode()
        return {query_id: mode or usual for query_id, mode, _ in self.store.modes()}

    def mode(self, query_id: str) -> str:
        """How the pairs of a topic are chosen."""
        return self.store.mode(query_id) or self._usual_mode()

    def _usual_mode(self) -> str:
        return str(self.store.setting("loop", {}).get("mode", "pool"))

    def standing(self, query_id: str, annotator: str) -> tuple[int, int | None]:
        """How far a topic is for an annotator: pairs that want nothing of them any more, and pairs in all.

        A pair wants nothing of them when they have judged it, or as many have as are wanted. In a loop over the whole
        collection pairs that anybody judged, and None: it has no end. While pairs of the calibration set are before
        them, and in a topic of which only these are theirs, those and no others.
        """
        left = self.store.calibration_left(annotator)
        if query_id in left or not self.store.is_for(query_id, annotator):
            count = len(self.store.calibration_ids(query_id))
            return count - left.get(query_id, 0), count
        return _standing(self.mode(query_id), self.store.standing_for(query_id, annotator))

    def topics_for(self, annotator: str) -> list[str]:
        """Topics that an annotator judges; those of which only the calibration set is theirs among them."""
        mine = {*self.store.topics_for(annotator), *self.store.calibration()["query_id"]}
        return [query_id for query_id in self.store.topics()["query_id"] if query_id in mine]

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs; those of the pool, and in a loop
            those outside it), ``cannot_judge``, ``made`` and ``goal`` (judgements: how many there are of those that
            are to be, and how many are to be. The goal is that of the pool, and null in a loop over the whole
            collection, which ends when the recall is good enough).
        """
        frame = self.store.progress(query_id)
        frame["mode"] = frame["query_id"].map(self.modes())
        everywhere = frame["mode"].isin(EVERYWHERE)
        closed = frame["mode"] == "closed"
        frame["judged"] += frame["elsewhere"].where(everywhere | closed, 0)
        frame["cannot_judge"] += frame["elsewhere_cannot"].where(everywhere | closed, 0)
        frame["made"] += frame["elsewhere"].where(everywhere | closed, 0)
        goal = frame["wanted"].astype("Int64").mask(everywhere)
        frame["goal"] = goal.mask(closed, frame["made"].astype("Int64"))
        return frame[["query_id", "title", "mode", "pool", "judged", "cannot_judge", "made", "goal"]]

    def progress_of(self, query_id: str, annotator: str) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
        """:meth:`standing` and :meth:`totals` together, sooner: what the judging page shows after every judgement."""
        totals = self.totals(annotator, query_id)
        numbers = self._counted[annotator].topics.get(query_id)
        if numbers is None or query_id in self.store.calibration_left(annotator):
            return self.standing(query_id, annotator), totals
        return _standing(self.mode(query_id), numbers), totals

    def totals(self, annotator: str, changed: str | None = None) -> tuple[int, int | None]:
        """The sums of :meth:`standing` over an annotator's topics; None where a loop has no end.

        Pairs of the calibration set that are before them are added to the goal, whoever their topics are assigned to.
        The judging page shows them after every judgement: the topic that `changed` is counted anew, and
        what others did elsewhere some seconds later.
        """
        modes = self.modes()
        total, goal = 0, self.store.calibration_beyond(annotator)
        endless = False
        for query_id, numbers in self._standings(annotator, changed).items():
            done, of = _standing(modes[query_id], numbers)
            total += done
            endless |= of is None
            goal += of or 0
        return total, None if endless else goal

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

    def status(self) -> dict[str, Any]:
        """Everything at a glance, as plain data: what `cleverdon status` and the Overview page show."""
        progress = self.progress()
        annotators = self.store.annotators()
        left = (progress["goal"] - progress["made"]).clip(lower=0)
        per_topic = progress.astype(object).where(progress.notna(), None).to_dict("records")
        return {
            "title": self.title,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            **self.store.counts(),
            "judged": int(progress["judged"].sum()),
            "cannot_judge": int(progress["cannot_judge"].sum()),
            "made": int(progress["made"].sum()),
            "outside_pool": self.store.judged_outside_pool(),
            "remaining": int(left.sum()),
            "in_loop": int(progress["goal"].isna().sum()),
            "missing_documents": len(self.store.missing_documents()),
            "per_topic": per_topic,
            "annotators": annotators.astype(object).where(annotators.notna(), None).to_dict("records"),
            "next": self.next_step()._asdict(),
        }

    def next_step(self) -> NextStep:
        """What a person who runs the campaign should do now."""
        counts = self.store.counts()
        progress = self.progress()
        remaining = int((progress["goal"] - progress["made"]).clip(lower=0).sum())
        goal = int(progress["goal"].sum())
        unit = "pairs" if goal == counts["pool"] else "judgements"
        in_loop = int(progress["goal"].isna().sum())
        topics = "topic is" if in_loop == 1 else "topics are"
        others = f", and {remaining:,} {unit} of the other topics' pools" if remaining else ""
        steps = [
            (not counts["topics"], "import", "Import the topics: what people are looking for."),
            (
                in_loop and counts["documents"],
                "judge",
                f"Judge: {in_loop:,} {topics} in the loop{others}. Recall says when to stop.",
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
            (remaining, "judge", f"Judge: {remaining:,} of {goal:,} {unit} are left."),
        ]
        for is_next, page, sentence in steps:
            if is_next:
                return NextStep(page, sentence)
        return NextStep("export", "Every pair of the pool is judged: export the qrels, and evaluate the runs.")


def _standing(mode: str, numbers: tuple[int, int, int]) -> tuple[int, int | None]:
    """Done and goal in a mode, from pairs of the pool, those of them that are done, and all that are judged."""
    pool, done, everywhere = numbers
    if mode in EVERYWHERE:
        return everywhere, None
    return (everywhere, everywhere) if mode == "closed" else (done, pool)
