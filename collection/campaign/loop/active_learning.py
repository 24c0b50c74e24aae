"""Ranking of a topic's unjudged documents by a model or an adaptive pooling strategy."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import pooling
from collection.active_learning import training_round
from collection.active_learning.evidence_trust import Correlation, correlate, measure_agreement
from collection.active_learning.features import FeatureMatrix
from collection.campaign.corpus import stored_runs
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.log.topic_ledger import RuleJudgements, build_topic_ledger, reduce_to_documents
from collection.campaign.loop.loop_round import ExplainableRound, LoopRound, TopicRankings
from collection.campaign.loop.system_order import NextDecisivePairs, SystemOrderStudy
from collection.campaign.progress import calibration_record, leading_labels
from collection.campaign.progress.progress import Progress
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.records import Run
from collection.core.topic_fields import topic_text
from collection.store import LabelSet, Selection, SQLiteError, Store, Ungraded

MAX_SPACES = 16
"""Number of topics with a cached space, which has a few numbers for every document."""

MAX_RANKINGS = 16
"""Number of topics with cached rankings of the runs."""


log = logging.getLogger(__name__)


def seed_of(*parts: object) -> int:
    """Derive a seed from the parts, the same on any machine."""
    return int.from_bytes(hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=4).digest())


@dataclass(eq=False)
class ActiveLearning:
    """Ranks a topic's unjudged documents by a model or an adaptive pooling strategy."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    progress: Progress

    def __post_init__(self) -> None:
        self.system_order: SystemOrderStudy = SystemOrderStudy(
            self.store, self.settings, self.corpus, self.progress.loop_scope
        )

    def next_round(self, query_id: str, count: int | None = None) -> LoopRound:
        """Learn from a topic's judgements, and select what to judge next; nothing is written.

        `count` is the number of documents; 100 and those that annotators hold if left out.
        """
        return self.next_explainable_round(query_id, count).round

    def next_explainable_round(self, query_id: str, count: int | None = None) -> ExplainableRound:
        """Return the round of :meth:`next_round` with the data that explain it."""
        self.settings.require_topic(query_id)
        settings, mode = self.settings.loop(), self.settings.mode(query_id)
        by_model = settings.by_model
        space = self.space(query_id) if by_model else self.topic_rankings(query_id)  # may make the features first
        key = self._key(query_id, self.corpus.features.opened_version if by_model else None)
        if count is None:
            count = self._usual_count(query_id)
        model_round, order = self.store.judgements.count_entries(query_id), self.describe_order(query_id)
        judgements = self.store.judgements.current_judgements(query_id)
        stop, draws_alone = self._find_stop(query_id)
        judgements = judgements[judgements["row"] < len(space.allowed)]
        once = reduce_to_documents(judgements)
        is_graded = once["relevance"].notna()
        topics: tuple[str, ...] = ()
        label_trust: float | None = None
        graded, passed = once[is_graded], once.loc[~is_graded, "row"].to_numpy(dtype=np.int64)
        judged, grades = graded[["row", "relevance"]].to_numpy(dtype=np.int64).T
        if isinstance(space, training_round.Space):
            seed = seed_of(self.settings.campaign_id, query_id, model_round)
            ranking = training_round.train_and_rank(space, judged, grades, settings.recipe(), seed, count, passed)
            usual = "start" if ranking.model is None else "loop"
            if space.labels is not None and ranking.model is not None:
                label_trust = ranking.trust.get("labels", 0.0)  # labels that are all the same have no weight
        elif settings.by_system_order:
            decisive = self.decisive_pairs()
            decisive_rows = self.progress.loop_scope.rows_of(ids := decisive.for_topic(query_id))
            rows, topics = np.array([decisive_rows[doc_id] for doc_id in ids], dtype=np.int64), decisive.topics
            ranking = training_round.Ranking(rows, np.zeros(len(rows), dtype=np.float32), None, settings.by)
            usual = settings.by
        else:
            # The strategy needs an answer for documents without a grade.
            answers = dict.fromkeys(passed.tolist(), False)
            answers |= dict(zip(judged.tolist(), (grades >= settings.level).tolist(), strict=True))
            rows = pooling.choose_next(self.strategy(query_id, settings.by, space), answers, count)
            ranking = training_round.Ranking(rows, np.zeros(len(rows), dtype=np.float32), None, settings.by)
            usual = settings.by
        left = space.allowed.copy()
        left[judged] = left[passed] = False
        topic = build_topic_ledger(judgements, space.allowed, settings.level)
        chosen = training_round.build_queue(
            ranking,
            topic.ledger,
            left,
            seed_of(self.settings.campaign_id, query_id, model_round, "draws"),
            run=settings.draws_after,
            share=1.0 if draws_alone else settings.share_of_draws,
            turns=topic.from_loop,
        )
        names = self.store.corpus.doc_ids([c.row for c in chosen])
        selections = [
            Selection(doc_id, "random" if c.rank is None else usual, c.rank, model_round, c.probability)
            for doc_id, c in zip(names, chosen, strict=True)
        ]
        ended = not by_model and len(ranking.rows) < count
        loop_round = LoopRound(
            query_id,
            mode,
            model_round,
            selections,
            int(left.sum()),
            ranking.strategy,
            key,
            ended,
            len(judged),
            topics,
            stop,
            order,
            None if stop else self.progress.loop_scope.assess([query_id])[query_id],
            label_trust,
        )
        return ExplainableRound(loop_round, space, ranking)

    def decisive_pairs(self) -> NextDecisivePairs:
        """Return the pairs of :meth:`.SystemOrderStudy.choose`."""
        return self.system_order.choose(seed_of(self.settings.campaign_id))

    def _find_stop(self, query_id: str) -> tuple[calibration_record.RuleStop | None, bool]:
        """Return why a topic ends with its judgements, and whether it only draws random documents from now on.

        A failure is logged and never keeps anybody from judging.
        """
        try:
            record = calibration_record.read(self.store)
            if record is None or not record.concerns(query_id):
                return None, False
            ledger = self.rule_judgements([query_id])[query_id].ledger
            return record.find_stop(query_id, ledger), record.draws_alone(query_id, ledger)
        except SQLiteError:
            raise  # it may have rolled an open transaction back
        except Exception:
            log.exception("the stopping rule failed in topic %s", query_id)
            return None, False

    def label_trust(self) -> pd.DataFrame:
        """Return how much the last training round of each topic trusted the label set that leads, in topic order.

        ``query_id``, ``trust`` (:attr:`.LoopRound.label_trust`); empty if none leads, or before a model has started.
        """
        leading = leading_labels.find(self.store, self.settings.loop())
        rows = {} if leading is None else self.store.queue.last_trust(leading.key)
        frame = pd.DataFrame({"query_id": list(rows), "trust": list(rows.values())})
        return self.corpus.in_topic_order(frame.astype({"query_id": "str", "trust": "float64"}))

    def describe_lead(self) -> str:
        """Say which label set leads, and how much it is trusted, in words; empty if none leads."""
        loop = self.settings.loop()
        if not loop.leading:
            return ""
        if leading_labels.find(self.store, loop) is None:
            return f"the label set {loop.leading!r} no longer exists, so no labels lead; choose another one, or none"
        return leading_labels.describe_trust(loop.leading, self.label_trust()["trust"].tolist())

    def space(self, query_id: str) -> training_round.Space:
        """Return the documents, words and runs of a topic's loop; cached."""
        opened = self.corpus.features.open()
        mode = self.settings.mode(query_id)
        pool = len(self.store.pool.rows(query_id)) if mode == "loop-in-pool" else None
        signature = self.store.corpus.runs_signature()
        text = "".join(map(topic_text, self.store.corpus.topic_records([query_id])))
        leading = leading_labels.find(self.store, self.settings.loop())
        version = leading_labels.version(self.store, leading, query_id)
        agreement = 0.0 if leading is None else self._agreement(leading, signature)
        key = (self.corpus.features.opened_version, mode, pool, signature, text, version, agreement)

        def compute() -> training_round.Space:
            allowed = self.progress.loop_scope.mask(query_id, opened.size)
            evidence = self._evidence_of(query_id, signature, opened.size)
            labels = None if leading is None else self._labels_of(leading, query_id, opened.size)
            return training_round.Space(opened, allowed, text, evidence, labels, agreement)

        return self.store.cached("space", key, compute, member=query_id, most=MAX_SPACES)

    def _agreement(self, label_set: LabelSet, signature: str) -> float:
        """Return :func:`.measure_agreement` of a label set; only topics whose labels or text changed are read again."""
        opened, same = self.corpus.features.open(), (label_set.key, self.corpus.features.opened_version, signature)
        texts = {topic.query_id: topic_text(topic) for topic in self.store.corpus.topic_records()}

        def correlate_topics(query_ids: list[str]) -> dict[str, Correlation | None]:
            return {q: self._correlate(label_set, q, texts[q], opened, signature) for q in query_ids}

        def compute() -> float:
            versions = self.store.machine_labels.topic_versions(label_set.key)
            keys = {query_id: (*same, version, texts[query_id]) for query_id, version in versions.items()}
            correlations = self.store.cached_each("correlation of labels", keys, correlate_topics)
            return measure_agreement(each for each in correlations.values() if each is not None)

        key = (*same, self.store.machine_labels.last_row(), texts)
        return self.store.cached("agreement of labels", key, compute)

    def _correlate(
        self, label_set: LabelSet, query_id: str, text: str, opened: FeatureMatrix, signature: str
    ) -> Correlation | None:
        """Correlate the labels of a topic with BM25, or with the runs where no document has a word of the topic."""
        labels = leading_labels.labels(self.store, label_set, query_id)
        at = self._places(list(labels), opened.size)
        values, rows = np.array(list(labels.values()), dtype=np.float64)[at < opened.size], at[at < opened.size]
        evidence = self._evidence_of(query_id, signature, opened.size)
        return correlate(values, opened.bm25(text, index=rows), *([] if evidence is None else [evidence.fusion[rows]]))

    def _evidence_of(self, query_id: str, signature: str, size: int) -> training_round.Evidence | None:
        part = self.store.cached("evidence", signature, self._read_evidence).get(query_id)
        if part is None or part.empty:
            return None
        at = self._places(part["doc_id"].tolist(), size)
        inside = at < size
        if not inside.any():
            return None
        return training_round.Evidence(
            *(_spread(part[c].to_numpy()[inside], at[inside], size) for c in ("fusion", "best", "runs"))
        )

    def _labels_of(self, label_set: LabelSet, query_id: str, size: int) -> NDArray[np.float32] | None:
        """(size,) the labels of a topic as shares of the highest label of the set; nan for documents without one.

        None for a topic without labels, which no labels lead.
        """
        labels = leading_labels.labels(self.store, label_set, query_id)
        if not labels:
            return None
        at = self._places(list(labels), size)
        values = np.array(list(labels.values()), dtype=np.float64) / leading_labels.highest(self.store, label_set)
        return _spread(values[at < size], at[at < size], size, elsewhere=np.nan)

    def _places(self, doc_ids: list[str], size: int) -> NDArray[np.int64]:
        """Return the row of each document; `size` for documents that the features do not have."""
        rows = self.store.corpus.rows_of(doc_ids)
        return np.array([rows.get(doc_id, size) for doc_id in doc_ids], dtype=np.int64)

    def _read_evidence(self) -> dict[str, pd.DataFrame]:
        """Read the evidence of the runs in each topic."""
        frame = pooling.evidence(list(self.corpus.runs()))
        return {str(query_id): part for query_id, part in frame.groupby("query_id", observed=True)}

    def rule_judgements(self, query_ids: Collection[str]) -> dict[str, RuleJudgements]:
        """Return what a rule calibrated across topics may read of these topics: of documents that the loop ordered.

        Documents that were selected otherwise, or under other settings than the present ones, are set aside.
        """
        ungraded, passed = (
            self.store.judgements.count_ungraded(query_ids),
            self.store.judgements.count_passed(query_ids),
        )
        conditions = self.present_conditions(query_ids)
        return {
            q: topic.for_rule(conditions[q], ungraded.get(q, Ungraded()), passed.get(q, 0))
            for q, topic in self.progress.loop_scope.topic_ledgers(query_ids).items()
        }

    def present_conditions(self, query_ids: Collection[str]) -> dict[str, list[int]]:
        """Return the numbers of the conditions under which the loop now orders each of these topics."""
        return calibration_record.number_orders(self.store, self._describe_orders(query_ids))

    def describe_order(self, query_id: str) -> str:
        """Describe the conditions under which the loop now orders a topic; its judgements carry them."""
        return self._describe_orders([query_id])[query_id]

    def _describe_orders(self, query_ids: Collection[str]) -> dict[str, str]:
        modes = self.settings.modes_when_open()
        own_modes = {query_id: modes[query_id] for query_id in query_ids}
        return calibration_record.describe_orders(self.store, self.settings.loop(), own_modes)

    def _usual_count(self, query_id: str) -> int:
        return 100 + self.store.queue.count_unavailable(query_id, clock.seconds())

    def is_short(self, loop_round: LoopRound) -> bool:
        """Tell whether annotators hold so much of a round that a longer one is needed."""
        return not loop_round.complete and len(loop_round.selections) < self._usual_count(loop_round.query_id)

    def is_current(self, loop_round: LoopRound) -> bool:
        """Tell whether a round has read all of its topic's log, with the current settings and documents.

        A round of the comparison of systems holds for several judgements.
        """
        logged = self.store.judgements.count_entries(loop_round.query_id)
        is_read = loop_round.model_round == logged or self.settings.loop().by_system_order
        return is_read and loop_round.key == self._key(loop_round.query_id)

    def _key(self, query_id: str, features_state: str | None = None) -> tuple[object, ...]:
        """Return a version of what a round reads beside the log: settings, mode, features, pool, runs, labels."""
        settings = self.store.settings.all()
        mode = self.settings.mode(query_id)
        pool = len(self.store.pool.rows(query_id)) if mode == "loop-in-pool" else None
        state = features_state or self.corpus.features.version()
        leading = leading_labels.find(self.store, self.settings.loop())
        labels = leading_labels.version(self.store, leading, query_id)
        key = (json.dumps(settings.get("loop")), mode, state, pool, self.store.corpus.runs_signature(), labels)
        return (*key, self.system_order.version()) if self.settings.loop().by_system_order else key

    def strategy(self, query_id: str, strategy: str, listed: TopicRankings) -> pooling.Selector:
        """Start an adaptive pooling strategy on the runs of a topic; its documents are rows of the matrix.

        Campaign and topic determine the seed, so the same answers lead to the same documents.
        """
        return pooling.STRATEGIES[strategy].begin(listed.rankings, seed_of(self.settings.campaign_id, query_id))

    def topic_rankings(self, query_id: str) -> TopicRankings:
        """Return the rankings of a topic within its scope; cached."""
        key, _ = self._scope_of(query_id)
        return self.store.cached(
            "rankings", key, partial(self._read_rankings, query_id), member=query_id, most=MAX_RANKINGS
        )

    def _read_rankings(self, query_id: str) -> TopicRankings:
        runs = self._runs_of(query_id)
        every = pd.concat([run.frame for run in runs]) if runs else pd.DataFrame({"doc_id": [], "listed": []})
        ranks = every.groupby("doc_id", observed=True, sort=False)["listed"].agg(["size", "min"])
        at = self.progress.loop_scope.rows_of(ranks.index.tolist())
        _, allowed = self._scope_of(query_id)  # after rows_of, which may add rows
        ranks["row"] = pd.Series(at, dtype="float64").reindex(ranks.index)
        known = ranks[ranks["row"] < len(allowed)].astype("int64")
        shown = known[allowed[known["row"].to_numpy()]]
        rows = shown["row"].to_numpy()
        rankings = [rows[places] for places in pooling.list_rankings(runs, query_id, shown.index)]
        best = zip(known["size"].tolist(), known["min"].tolist(), strict=True)
        return TopicRankings(allowed, rankings, dict(zip(known["row"].tolist(), best, strict=True)))

    def _scope_of(self, query_id: str) -> tuple[tuple[object, ...], NDArray[np.bool_]]:
        """Return a version of runs, documents and scope of a topic, and the scope."""
        allowed = self.progress.loop_scope.mask(query_id)
        version, scope = self.store.settings.get("documents_version", 0), hashlib.blake2b(allowed.tobytes()).digest()
        return (self.store.corpus.runs_signature(), version, len(allowed), scope), allowed

    def _runs_of(self, query_id: str) -> list[Run]:
        """Read the documents of one topic from every run."""
        columns, topic = ["query_id", "doc_id", "listed"], [("query_id", "==", query_id)]
        return [
            Run(recorded["run"], stored_runs.read(self.directory, recorded, columns=columns, filters=topic))
            for recorded in self.store.corpus.runs().to_dict("records")
        ]


def _spread(
    values: NDArray[np.float64], at: NDArray[np.int64], size: int, elsewhere: float = 0.0
) -> NDArray[np.float32]:
    wide = np.full(size, elsewhere, dtype=np.float32)
    wide[at] = values
    return wide
