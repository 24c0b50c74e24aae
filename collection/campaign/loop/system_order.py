"""The order of the systems by expected judgements, how certain it is, and the pairs most decisive for it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, estimation
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.progress.loop_scope import LoopScope, first_documents
from collection.campaign.settings.loop_settings import IN_POOL
from collection.campaign.settings.settings import Settings
from collection.comparison import SystemOrder
from collection.core import clock
from collection.core.errors import BusyError, CampaignError
from collection.core.frames import JUDGEMENTS
from collection.core.phrases import count
from collection.core.records import Run
from collection.core.topic_fields import topic_text
from collection.expected_judgements import Pairs, choose_decisive, describe
from collection.store import Store

if TYPE_CHECKING:
    from collection.active_learning.features import FeatureMatrix

BATCH = 50
"""Pairs that are chosen at a time, beside those that annotators hold; those of one topic are judged in a row."""

CHOSEN_EVERY = 10
"""Entries of the log after which pairs are chosen again; every annotator has as many to choose from until then."""

DRAWS = 400
"""Draws of the unjudged grades for the probability of the order."""

TARGET, CONFIDENCE = 0.9, 0.95
"""Kendall's tau with the order of all pairs at which judging can stop, and the probability of its lower bound."""

ADVICE = "system_order"
"""Name of the setting that has the latest advice."""

PAIR = ["query_id", "doc_id"]


class NextDecisivePairs(NamedTuple):
    """The pairs to judge next, most decisive first."""

    query_ids: list[str]
    """The topic of each pair."""
    doc_ids: list[str]

    def for_topic(self, query_id: str) -> list[str]:
        """Return the documents of a topic."""
        return [d for q, d in zip(self.query_ids, self.doc_ids, strict=True) if q == query_id]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics with the most pairs first, since annotators then change topics less often.

        If topics have equally many pairs, the one with the most decisive pair comes first.

        >>> NextDecisivePairs(["1", "2", "3", "2"], ["a", "b", "c", "d"]).topics
        ('2', '1', '3')
        """
        return tuple(query_id for query_id, _ in Counter(self.query_ids).most_common())


class LastAdvice(NamedTuple):
    """Latest assessment, and the number of judged pairs that it rests on."""

    judged: int
    since: int
    """Entries of the log since then."""
    stop: bool
    reason: str

    @property
    def sentence(self) -> str:
        """The advice, and what it is based on."""
        later = f" ({count(self.since, 'log entry', 'log entries')} since then)" if self.since else ""
        return f"Last advice of System order, at {count(self.judged, 'judged pair')}{later}: {self.reason}"


@dataclass(eq=False)
class SystemOrderStudy:
    """The order of the systems by expected judgements, how certain it is, and the pairs most decisive for it."""

    store: Store
    settings: Settings
    corpus: Corpus
    loop_scope: LoopScope

    def choose(self, seed: int) -> NextDecisivePairs:
        """Choose the pairs to judge next across all topics in the loop; cached as long as :meth:`version` is the same.

        Raises
        ------
        CampaignError
            There are fewer than two runs, or no pair in a loop.
        """
        return self.store.cached("decisive pairs", self.version(), lambda: self._choose(seed))

    def version(self) -> tuple[object, ...]:
        """Return a version of the choice: it changes with every :data:`CHOSEN_EVERY` entries of the log."""
        version, logged = self.store.judgements.versions()
        modes = json.dumps(self.settings.own_modes())
        return (version, logged // CHOSEN_EVERY, self.store.corpus.runs_signature(), self.settings.loop(), modes)

    def _choose(self, seed: int) -> NextDecisivePairs:
        judgements = self.store.judgements.table(columns=tuple(JUDGEMENTS.columns))
        pairs, grades = self._graded(judgements, build=True)
        frame, levels, depth = pairs.frame, list(self.settings.grades.sentences), self.settings.loop().depth
        available, topics = self._available(frame, judgements), frame["query_id"].to_numpy()

        def best(most: int, among: NDArray[np.bool_]) -> list[int]:
            decisive = choose_decisive(pairs, grades, levels, cutoff=depth, batch=most, seed=seed, unavailable=~among)
            return decisive.tolist()

        # Pairs that annotators hold are chosen again, and nobody else gets them.
        taken, judged = (self.store.queue.count_taken(at) for at in (clock.seconds(), math.inf))
        held = {query_id: number - judged.get(query_id, 0) for query_id, number in taken.items()}
        chosen = best(BATCH + sum(held.values()), available)
        for group in sorted(self._groups_of_topics(), key=sorted):
            is_mine = np.isin(topics, list(group))
            missing = CHOSEN_EVERY + sum(held.get(query_id, 0) for query_id in group) - int(is_mine[chosen].sum())
            available[chosen] = False
            if missing > 0 and (available & is_mine).any():
                chosen += best(missing, available & is_mine)
        return NextDecisivePairs(*(frame[column].iloc[chosen].tolist() for column in PAIR))

    def _available(self, frame: pd.DataFrame, judgements: pd.DataFrame) -> NDArray[np.bool_]:
        """(pairs,) bool: the unjudged pairs that the loop may hand out."""
        scope, rows = self.loop_scope.loop_rows(), self._rows(frame)
        available = np.zeros(len(frame), dtype=np.bool_)
        for query_id, members in frame.groupby("query_id", sort=False).indices.items():
            available[members] = np.isin(rows[members], scope.get(str(query_id), []))
        available[_places(frame, judgements)] = False  # also what nobody could grade, which remains unknown
        return available

    def _groups_of_topics(self) -> set[frozenset[str]]:
        """Return the topics of each annotator."""
        names = self.store.accounts.names()
        return {frozenset(self.store.assignments.topics_for(name)) for name in names}

    def assess(self, *, target: float = TARGET, confidence: float = CONFIDENCE) -> SystemOrder:
        """Estimate how certain the current order of the systems is, and whether judging can stop.

        `target` and `confidence` are those of :func:`collection.estimation.judge_order`; the measure is that
        of the loop's settings. Documents below its cut-off and, in a mode with the pool as scope, outside the pool
        count as not relevant unless they have a grade; :attr:`.SystemOrder.unlisted` has those that can change the
        measure.

        Raises
        ------
        CampaignError
            There are fewer than two runs, or no grades.
        InputError
            Target or confidence is out of range, or the model needs too much memory.
        """
        self._require_memory()
        with self.store.snapshot():  # people may judge meanwhile
            logged = self.store.judgements.versions()[1]
            judgements = self.store.judgements.table(columns=tuple(JUDGEMENTS.columns))
        pairs, grades = self._graded(judgements, build=False)
        if np.isnan(grades).all():
            raise CampaignError("there are no grades yet to estimate the order of the systems from; judge some pairs")
        levels = list(self.settings.grades.sentences)
        # Pairs of closed topics count as available, because a manager can reopen the topics.
        in_loop = pairs.frame["query_id"].isin(list(self.loop_scope.loop_rows())).to_numpy()
        unavailable = np.isnan(grades) & in_loop & ~self._available(pairs.frame, judgements)
        order = estimation.judge_order(
            pairs,
            grades,
            self.settings.loop().measure,
            levels=levels,
            target=target,
            confidence=confidence,
            draws=DRAWS,
            unavailable=int(unavailable.sum()),
            pooled=len(
                pd.MultiIndex.from_frame(self.store.pool.ids()[PAIR].astype("str")).difference(
                    pd.MultiIndex.from_frame(pairs.frame[PAIR])
                )
            ),
            addable=self._addable(pairs),
        )
        return replace(order, logged=logged)

    def _addable(self, pairs: Pairs) -> NDArray[np.int64] | None:
        """(T,) number of the campaign's documents that are not among a topic's pairs; None without a collection."""
        if not self.store.judgements.counts()["documents"]:
            return None
        known = self._rows(pairs.frame) >= 0
        return self.store.corpus.document_rows() - np.array([known[rows].sum() for rows in pairs.members])

    def _require_memory(self) -> None:
        """Refuse a pool whose graded pairs alone are too many, before they are read."""
        counts = self.store.judgements.progress()
        graded = counts["judged"] - counts["cannot_judge"] + counts["elsewhere"] - counts["elsewhere_cannot"]
        pairs = counts.loc[counts.index.repeat(graded), ["query_id"]]
        estimation.require_memory(
            pairs, len(self.store.corpus.runs()), len(self.settings.grades.sentences), DRAWS, with_choice=True
        )

    def store_advice(self, order: SystemOrder) -> bool:
        """Store the result of :meth:`assess` for :meth:`last_advice`; return False if another process keeps writing.

        Only advice at the default target and confidence is stored, since everyone sees it.
        """
        if (order.target, round(order.confidence, 12)) != (TARGET, CONFIDENCE):
            return True
        advice = LastAdvice(order.estimates.pool.judged, order.logged, order.stop, order.reason)._asdict()
        advice["made_of"] = self._compared()
        try:
            if self.store.settings.get(ADVICE) != advice:
                self.store.settings.put(ADVICE, advice)
        except BusyError:
            return False
        return True

    def last_advice(self) -> LastAdvice | None:
        """Return the last stored advice; None without decisive pairs, or if pairs or measure have changed since."""
        stored = self.store.settings.get(ADVICE)
        if stored is None or not self.settings.loop().by_system_order or stored.pop("made_of") != self._compared():
            return None
        return LastAdvice(**stored | {"since": self.store.judgements.versions()[1] - stored["since"]})

    def _compared(self) -> str:
        """Return everything that the comparison depends on, as text; closing a topic does not change it."""
        (version, _), modes = self.store.judgements.versions(), self.settings.modes_when_open()
        return json.dumps([version, self.store.corpus.runs_signature(), modes, self.settings.loop().measure])

    def cache_key(self) -> str:
        """Cache key of :meth:`assess`, which changes with anything that it reads."""
        read = [self._compared(), self.store.judgements.versions(), self.settings.own_modes()]
        return json.dumps([*read, self.settings.loop().mode, self.corpus.features.version()])

    def _graded(self, judgements: pd.DataFrame, *, build: bool) -> tuple[Pairs, NDArray[np.float64]]:
        """Return the pairs that count, and their adjudicated grades, nan for those without one.

        With `build`, document features are built where they are missing; without, they are used if they are up to date.
        """
        qrels = adjudication.adjudicate(judgements).qrels if len(judgements) else judgements[[*PAIR, "relevance"]]
        graded = qrels.set_index(PAIR)["relevance"]
        has_texts = self.store.judgements.counts()["documents"] > 0 and (build or self.corpus.features.state().current)
        features = self.corpus.features.open() if has_texts else None
        version, _ = self.store.judgements.versions()
        modes, depth = self.settings.modes_when_open(), self.settings.loop().depth
        key = (version, self.store.corpus.runs_signature(), json.dumps(modes), depth)
        runs, listed = self.store.cached("listed pairs", key, lambda: self._list_pairs(modes, depth))
        others = graded.index[~graded.index.isin(listed)]
        rest = (self.corpus.features.version() if has_texts else "", tuple(others))
        pairs = self.store.cached("pairs", (key, rest), lambda: self._describe(runs, listed.append(others), features))
        return pairs, graded.reindex(pd.MultiIndex.from_frame(pairs.frame)).to_numpy(dtype=np.float64, copy=True)

    def _list_pairs(self, modes: Mapping[str, str], depth: int) -> tuple[list[Run], pd.MultiIndex]:
        """Return the runs down to the depth, and the pairs of them that may be judged."""
        runs = [Run(run.name, first_documents(run.frame, depth)) for run in self.corpus.runs()]
        if len(runs) < 2:
            raise CampaignError(
                f"an order of systems needs at least 2 runs, found {len(runs)}; import some with "
                "`cleverdon import DIR --run FILE`"
            )
        listed = pd.concat([run.frame[PAIR] for run in runs]).astype("str")
        in_pool = [query_id for query_id, mode in modes.items() if mode in IN_POOL]
        pool = self.store.pool.ids()
        pooled = pd.MultiIndex.from_frame(pool[pool["doc_id"].isin(listed["doc_id"].unique())])
        listed = listed[~listed["query_id"].isin(in_pool) | pd.MultiIndex.from_frame(listed).isin(pooled)]
        return runs, pd.MultiIndex.from_frame(listed.drop_duplicates())

    def _describe(self, runs: list[Run], index: pd.Index, features: FeatureMatrix | None) -> Pairs:
        """Describe pairs of the runs, and graded ones."""
        every = index.to_frame(index=False)
        if every.empty:
            raise CampaignError("expected pairs of the runs to judge, found none; add a pool, or choose another mode")
        with_texts, levels = features is not None, len(self.settings.grades.sentences)
        estimation.require_memory(every, len(runs), levels, DRAWS, with_texts=with_texts, with_choice=True)
        frame = self.corpus.in_topic_order(every.sort_values(PAIR, kind="stable"))
        texts = {} if features is None else self._texts(frame, features)
        return describe(frame, runs, **texts)

    def _texts(self, frame: pd.DataFrame, features: FeatureMatrix) -> dict[str, Any]:
        """Return the features of the pairs' documents, and two scores of each for its topic."""
        texts, rows = self.corpus.features.rows(frame["doc_id"]), self._rows(frame)
        words = {topic.query_id: topic_text(topic) for topic in self.store.corpus.topic_records()}
        scores = np.zeros((len(frame), 2))
        for query_id, members in frame.groupby("query_id", sort=False).indices.items():
            known = members[(rows[members] >= 0) & (rows[members] < features.size)]
            text = words[str(query_id)]
            scores[known, 0] = features.bm25(text)[rows[known]]
            scores[known, 1] = (texts[known] @ features.vectorize(text).T).toarray()[:, 0]
        return {"texts": texts, "scores": scores}

    def _rows(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """(pairs,) the matrix row of each pair's document; -1 for documents that the campaign does not have."""
        known = self.loop_scope.rows_of(frame["doc_id"].unique())
        return np.array([known.get(doc_id, -1) for doc_id in frame["doc_id"]], dtype=np.int64)


def _places(frame: pd.DataFrame, pairs: pd.DataFrame) -> NDArray[np.int64]:
    """Return the positions in the frame of those pairs that it has."""
    places = pd.MultiIndex.from_frame(frame).get_indexer(pd.MultiIndex.from_frame(pairs[PAIR].astype("str")))
    return places[places >= 0].astype(np.int64)
