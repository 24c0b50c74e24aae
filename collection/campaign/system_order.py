"""The order of the systems by expected judgements: the pairs that decide it, and how sure it is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, clock
from collection.active_learning.training_round import topic_text
from collection.campaign.corpus import Corpus
from collection.campaign.features import Features
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import LOOPING
from collection.campaign.settings import Settings
from collection.errors import CampaignError
from collection.expected_judgements import Pairs, choose_decisive, describe
from collection.records import GradeScale, Run
from collection.store import Store

BATCH = 50
"""Pairs that are chosen at a time, beside those that annotators hold; those of one topic are judged in a row."""

CHOSEN_EVERY = 10
"""Entries of the log after which pairs are chosen again."""

FOR_FEW = 10
"""Pairs that are chosen for annotators whose topics have none of the batch."""

PAIR = ["query_id", "doc_id"]


class DecisivePairs(NamedTuple):
    """The pairs to judge next, most decisive first."""

    query_ids: list[str]
    """The topic of each pair."""
    doc_ids: list[str]

    def of_topic(self, query_id: str) -> list[str]:
        """Return the documents of a topic."""
        return [d for q, d in zip(self.query_ids, self.doc_ids, strict=True) if q == query_id]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics, most decisive first."""
        return tuple(dict.fromkeys(self.query_ids))


@dataclass(eq=False)
class SystemOrder:
    """The order of the systems by expected judgements: the pairs that decide it, and how sure it is."""

    store: Store
    grades: GradeScale
    settings: Settings
    corpus: Corpus
    features: Features
    loop_scope: LoopScope
    _pairs: tuple[tuple[object, ...], Pairs] | None = field(default=None, init=False)
    _chosen: tuple[tuple[object, ...], DecisivePairs] | None = field(default=None, init=False)

    def choose(self, seed: int) -> DecisivePairs:
        """Choose the pairs to judge next across all topics in the loop; cached as long as :meth:`version` is the same.

        Raises
        ------
        CampaignError
            There are fewer than two runs, or no pair in a loop.
        """
        version = self.version()
        if self._chosen is None or self._chosen[0] != version:
            self._chosen = (version, self._choose(seed))
        return self._chosen[1]

    def version(self) -> tuple[object, ...]:
        """Return a version of the choice: it changes with every :data:`CHOSEN_EVERY` entries of the log."""
        made_of, logged = self.store.judgements.versions()
        modes = json.dumps(self.settings.own_modes())
        return (made_of, logged // CHOSEN_EVERY, self.store.corpus.runs_signature(), self.settings.loop(), modes)

    def _choose(self, seed: int) -> DecisivePairs:
        judgements = self.store.judgements.current_judgements()
        pairs, grades = self._graded(judgements)
        frame, scope = pairs.frame, self.loop_scope.loop_rows()
        open_to_judge = np.zeros(len(frame), dtype=np.bool_)
        rows = self._rows(frame)
        for topic, members in enumerate(pairs.members):
            query_id = str(frame["query_id"].iloc[pairs.members[topic][0]])
            open_to_judge[members] = np.isin(rows[members], scope.get(query_id, []))
        # Nobody could grade these, so their grades remain unknown.
        passed = judgements.loc[judgements["relevance"].isna(), PAIR]
        open_to_judge[_places(frame, passed)] = False

        def best(most: int, among: NDArray[np.bool_]) -> list[int]:
            found = choose_decisive(
                pairs, grades, list(self.grades.sentences), cutoff=self.settings.loop().depth, batch=most, seed=seed,
                unavailable=~among,
            )  # fmt: skip
            return found.tolist()

        taken, judged = (self.store.queue.count_taken_by_topic(at) for at in (clock.seconds(), math.inf))
        chosen = best(BATCH + sum(taken.values()) - sum(judged.values()), open_to_judge)
        topics = frame["query_id"].to_numpy()
        for mine in sorted(self._groups_of_topics(), key=sorted):
            if mine and not any(topics[row] in mine for row in chosen):
                chosen += best(FOR_FEW, open_to_judge & np.isin(topics, list(mine)))
        return DecisivePairs(*(frame[column].iloc[chosen].tolist() for column in PAIR))

    def _groups_of_topics(self) -> set[frozenset[str]]:
        """Return the topics of each annotator."""
        names = self.store.accounts.names()
        return {frozenset(self.store.assignments.topics_for(name)) for name in names}

    def _graded(self, judgements: pd.DataFrame) -> tuple[Pairs, NDArray[np.float64]]:
        """Return the pairs that count, and their adjudicated grades, nan for those without one."""
        qrels = adjudication.adjudicate(judgements).qrels if len(judgements) else judgements[[*PAIR, "relevance"]]
        pairs = self._described(qrels)
        graded = qrels.set_index(PAIR)["relevance"]
        known = graded.reindex(pd.MultiIndex.from_frame(pairs.frame))
        return pairs, known.to_numpy(dtype=np.float64)

    def _described(self, qrels: pd.DataFrame) -> Pairs:
        """Return the pairs of the runs down to the cut-off, and other graded ones, of the topics in a loop."""
        modes, depth = self.settings.modes_when_open(), self.settings.loop().depth
        topics = [query_id for query_id, mode in modes.items() if mode in LOOPING]
        beyond = qrels.loc[qrels["query_id"].isin(topics), PAIR]
        made_of, _ = self.store.judgements.versions()
        key = (made_of, self.store.corpus.runs_signature(), tuple(topics), depth, self.features.version())
        if self._pairs is None or self._pairs[0] != key or len(_places(self._pairs[1].frame, beyond)) < len(beyond):
            self._pairs = (key, self._describe(topics, beyond, depth))
        return self._pairs[1]

    def _describe(self, topics: Sequence[str], beyond: pd.DataFrame, depth: int) -> Pairs:
        runs = [
            Run(run.name, run.frame[(run.frame["rank"] <= depth) & run.frame["query_id"].isin(topics)])
            for run in self.corpus.runs()
        ]
        if len(runs) < 2:
            raise CampaignError(
                f"an order of systems needs at least 2 runs, found {len(runs)}; import some with "
                "`cleverdon import DIR --run FILE`"
            )
        every = pd.concat([*(run.frame[PAIR] for run in runs), beyond]).astype("str").drop_duplicates()
        if every.empty:
            raise CampaignError("expected a topic that is in a loop and in the runs, found none; choose another mode")
        frame = self.corpus.in_topic_order(every.sort_values(PAIR, kind="stable"))
        return describe(frame, runs, **self._texts(frame))

    def _texts(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return the vectors of the pairs' documents, and two scores of each for its topic; empty without texts."""
        if self.store.judgements.counts()["documents"] == 0:
            return {}
        vectors = self.features.open()
        rows = self._rows(frame)
        rows[rows >= vectors.size] = -1
        known = rows >= 0
        words = {q: topic_text(*words) for q, *words in self.corpus.topics().itertuples(index=False)}
        matrix, scores = vectors.rows(np.maximum(rows, 0)), np.zeros((len(frame), 2))
        matrix = matrix.multiply(known[:, None]).tocsr()
        for query_id, members in frame.groupby("query_id", sort=False).indices.items():
            text = words[str(query_id)]
            scores[members, 0] = vectors.bm25(text)[np.maximum(rows[members], 0)]
            scores[members, 1] = (matrix[members] @ vectors.vectorize(text).T).toarray()[:, 0]
        scores[~known] = 0.0
        return {"texts": matrix, "scores": scores}

    def _rows(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """(pairs,) the matrix row of each pair's document; -1 for documents that the campaign does not have."""
        known = self.loop_scope.rows_of(frame["doc_id"].unique())
        return np.array([known.get(doc_id, -1) for doc_id in frame["doc_id"]], dtype=np.int64)


def _places(frame: pd.DataFrame, pairs: pd.DataFrame) -> NDArray[np.int64]:
    """Return the positions in the frame of those pairs that it has."""
    found = pd.MultiIndex.from_frame(frame).get_indexer(pd.MultiIndex.from_frame(pairs[PAIR].astype("str")))
    return found[found >= 0].astype(np.int64)
