"""The qualification set, which everybody judges first, and its results."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.results import Feedback
from collection.campaign.people.accounts import Accounts
from collection.campaign.people.assignments import Assignments
from collection.campaign.settings.settings import Settings
from collection.core.characters import require_writable
from collection.core.errors import InputError
from collection.core.records import Judgement
from collection.store import Store


@dataclass(eq=False)
class QualificationSet:
    """The qualification set, which everybody judges first, and its results."""

    store: Store
    settings: Settings
    corpus: Corpus
    accounts: Accounts
    assignments: Assignments

    def set_pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Replace the qualification set by these pairs (query_id, doc_id).

        InputError for a repeated pair, an unknown topic, or a document without a text.
        """
        chosen = [(str(query_id), str(doc_id)) for query_id, doc_id in pairs]
        with self.store.transaction():
            topics = set(self.store.corpus.topics()["query_id"])
            require_writable(chosen, "qualification set")
            documents = self.store.corpus.documents([doc_id for _, doc_id in chosen])
            for query_id, doc_id in chosen:
                if query_id not in topics:
                    raise InputError(f"qualification set: expected pairs of this campaign, found topic {query_id!r}")
                if doc_id not in documents or documents[doc_id].text is None:
                    raise InputError(f"qualification set: expected documents with a text, found {doc_id!r} without one")
            if len(set(chosen)) < len(chosen):
                twice = next(pair for pair in chosen if chosen.count(pair) > 1)
                raise InputError(f"qualification set: expected each pair once, found {twice[0]} {twice[1]} twice")
            self.store.assignments.set_qualification_set(chosen)
            self.store.assignments.changed()

    def draw(
        self, per_topic: int, topics: Iterable[str] | None = None, seed: int | None = None
    ) -> list[tuple[str, str]]:
        """Draw a random sample of up to `per_topic` pooled pairs of each topic, for :meth:`set_pairs`."""
        if per_topic < 1:
            raise InputError(f"qualification set: expected 1 or more pairs per topic, found {per_topic}")
        rng = np.random.default_rng(secrets.randbits(64) if seed is None else seed)
        pool = self.store.pool.pairs()
        chosen = self.assignments.among(topics)
        pairs: list[tuple[str, str]] = []
        for query_id, part in pool.groupby("query_id", sort=False):
            if query_id in chosen:
                without = self.store.corpus.find_without_text(part["doc_id"])
                ids = [doc_id for doc_id in part["doc_id"] if doc_id not in without]
                places = sorted(rng.choice(len(ids), size=min(per_topic, len(ids)), replace=False).tolist())
                pairs += [(str(query_id), ids[place]) for place in places]
        if not pairs:
            raise InputError("qualification set: the pools of these topics have no documents with a text to draw from")
        return pairs

    def left(self, annotator: str) -> int:
        """Count the pairs of the qualification set that an annotator has not judged."""
        return sum(self.store.assignments.qualification_left(annotator).values())

    def results(self) -> pd.DataFrame:
        """Return the progress of annotators with the qualification set, and their agreement with the settled grades.

        ``annotator``, ``judged``, ``of``, ``agree`` (share of their graded pairs with a settled grade, or nan); by
        name. Everybody whose account may judge, or who has judged one of the pairs.
        """
        pairs = self.store.assignments.qualification_set()
        words = self.store.judgements.table()
        words = words[(words["counts_as"] == "judgement") & (words["source"] != "imported")]
        both = pairs.merge(words[["annotator", "query_id", "doc_id", "kind", "relevance"]], on=["query_id", "doc_id"])
        people = self.store.accounts.table()
        may = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"]
        rows = []
        for name in sorted({*may, *both["annotator"]}, key=str.casefold):
            own = both[both["annotator"] == name]
            known = own[(own["kind"] == "graded") & own["settled"].notna()]
            agree = float((known["relevance"] == known["settled"]).mean()) if len(known) else math.nan
            rows.append((name, len(own), len(pairs), agree))
        return pd.DataFrame(rows, columns=["annotator", "judged", "of", "agree"])

    def feedback(self, judgement: Judgement) -> Feedback | None:
        """Return the settled grade of a judged qualification pair, if annotators get feedback."""
        query_id, doc_id = judgement.query_id, judgement.doc_id
        if not self.settings.assignment().feedback or doc_id not in self.store.assignments.qualification_ids(query_id):
            return None
        pairs = self.store.assignments.qualification_set()
        row = pairs[(pairs["query_id"] == query_id) & (pairs["doc_id"] == doc_id)].iloc[0]
        if pd.isna(row["settled"]):
            return None
        log = self.store.judgements.table(query_id=query_id, doc_id=doc_id)
        notes = log.loc[log["counts_as"] == "adjudication", "note"]
        note = None if notes.empty or pd.isna(notes.iloc[-1]) else str(notes.iloc[-1])
        return Feedback(judgement.uuid, query_id, doc_id, judgement.relevance, int(row["settled"]), note)
