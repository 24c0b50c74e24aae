"""What is in a campaign: the reads that pages and commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from collection.campaign.reports import NextStep
from collection.records import Document, GradeScale
from collection.store import Store

EVERYWHERE = {"loop", "pool-then-loop"}
"""Modes in which any document of the collection may be judged."""


class Reading:
    """The half of a campaign that changes nothing. Pages come here, since the store is not theirs to open."""

    store: Store
    title: str
    grades: GradeScale
    _known: tuple[tuple[int, int], int, dict[str, tuple[int, int, int]]] | None = None

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
        return str(self.store.settings().get("loop", {}).get("mode", "pool"))

    def standing(self, query_id: str) -> tuple[int, int | None]:
        """A topic's ``judged`` and ``goal`` of :meth:`progress`, sooner; None for no goal."""
        pool, judged, everywhere = self.store.standing(query_id)
        mode = self.mode(query_id)
        if mode in EVERYWHERE:
            return everywhere, None
        return (everywhere, everywhere) if mode == "closed" else (judged, pool)

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs; those of the pool, and in a loop
            those outside it), ``cannot_judge``, ``goal`` (how many are to be judged: the pool; null in a loop over
            the whole collection, which ends when the recall is good enough).
        """
        frame = self.store.progress(query_id)
        frame["mode"] = frame["query_id"].map(self.modes())
        everywhere = frame["mode"].isin(EVERYWHERE)
        closed = frame["mode"] == "closed"
        frame["judged"] += frame["elsewhere"].where(everywhere | closed, 0)
        frame["cannot_judge"] += frame["elsewhere_cannot"].where(everywhere | closed, 0)
        goal = frame["pool"].astype("Int64").mask(everywhere)
        frame["goal"] = goal.mask(closed, frame["judged"].astype("Int64"))
        return frame[["query_id", "title", "mode", "pool", "judged", "cannot_judge", "goal"]]

    def totals(self) -> tuple[int, int | None]:
        """Pairs judged, and how many are to be: the sums of :meth:`progress`, sooner; None where a loop has no end."""
        standings, modes = self._standings(), self.modes()
        if EVERYWHERE & set(modes.values()):
            return sum(everywhere for _, _, everywhere in standings.values()), None
        judged = goal = 0
        for query_id, (pool, in_pool, everywhere) in standings.items():
            closed = modes[query_id] == "closed"
            judged += everywhere if closed else in_pool
            goal += everywhere if closed else pool
        return judged, goal

    def _standings(self) -> dict[str, tuple[int, int, int]]:
        """Every topic's numbers as :meth:`Store.standing` gives them; only those that the log has new are counted anew.

        The judging page shows the sums after every judgement.
        """
        made_of, logged = self.store.versions()
        if self._known is None or self._known[0] != made_of:
            self._known = made_of, logged, self.store.standings()
        elif self._known[1] != logged:
            for query_id in self.store.topics_since(self._known[1]):
                self._known[2][query_id] = self.store.standing(query_id)
            self._known = made_of, logged, self._known[2]
        return self._known[2]

    def status(self) -> dict[str, Any]:
        """Everything at a glance, as plain data: what `cleverdon status` and the Overview page show."""
        progress = self.progress()
        annotators = self.store.annotators()
        left = (progress["goal"] - progress["judged"]).clip(lower=0)
        per_topic = progress.astype(object).where(progress.notna(), None).to_dict("records")
        return {
            "title": self.title,
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            **self.store.counts(),
            "judged": int(progress["judged"].sum()),
            "cannot_judge": int(progress["cannot_judge"].sum()),
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
        remaining = int((progress["goal"] - progress["judged"]).clip(lower=0).sum())
        in_loop = int(progress["goal"].isna().sum())
        topics = "topic is" if in_loop == 1 else "topics are"
        others = f", and {remaining:,} pairs of the other topics' pools" if remaining else ""
        steps = [
            (not counts["topics"], "import", "Import the topics: what people are looking for."),
            (
                in_loop and counts["documents"],
                "judge",
                f"Judge: {in_loop:,} {topics} in the loop{others}. Recall says when to stop.",
            ),
            (not counts["runs"], "import", "Import the runs of your systems, and the documents that they retrieve."),
            (not counts["pool"], "pool", "Pool the runs: choose which pairs are to be judged."),
            (not counts["documents"], "import", "Import the documents: nobody can judge what has no text."),
            (remaining, "judge", f"Judge: {remaining:,} of {counts['pool']:,} pairs are left."),
        ]
        for is_next, page, sentence in steps:
            if is_next:
                return NextStep(page, sentence)
        return NextStep("export", "Every pair of the pool is judged: export the qrels, and evaluate the runs.")
