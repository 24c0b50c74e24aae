"""Rounds of a topic's loop, and their explanations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning import training_round
from collection.campaign.log.topic_ledger import TargetProgress
from collection.campaign.progress.calibration_record import RuleStop
from collection.pooling import Indices
from collection.store import Selection


class LoopRound(NamedTuple):
    """A round of a topic's loop; small, since it is sent between processes."""

    query_id: str
    mode: str
    model_round: int
    """Number of the round: entries of the topic's log that it has read."""
    selections: list[Selection]
    """Documents in the order in which to judge them; their strategy is "loop", "start" (nothing relevant is known yet),
    "decisive", the name of a pooling strategy, or "random"."""
    left: int
    """Number of unjudged documents of the scope."""
    strategy: str
    """Source of the order: "model", "fusion", "topic text", "no order", "decisive" or the name of a pooling
    strategy."""
    key: tuple[object, ...]
    """Version of settings, documents and runs."""
    ended: bool = False
    """The runs have no more documents to select."""
    learned_from: int = 0
    """Number of graded documents that the order is based on."""
    topics: tuple[str, ...] = ()
    """If the comparison of systems selects: the topics of the pairs to judge next, most pairs first."""
    stop: RuleStop | None = None
    """Why the topic ends here, if its calibration or a calibrated stopping rule says so."""
    order: str = ""
    """The conditions that decided the order; see :func:`.calibration_record.describe_order`."""
    progress: TargetProgress | None = None
    """How far the topic is judged; None if it ends here."""
    label_trust: float | None = None
    """Weight of the labels that lead relative to the text, from 0; None if none lead, or before the model starts."""

    @property
    def record(self) -> tuple[int, str, float | None]:
        """Number, conditions and trust in labels of the round, which are recorded with what it hands out."""
        return self.model_round, self.order, self.label_trust

    @property
    def complete(self) -> bool:
        """Return whether the selections are all documents that are left."""
        return self.ended or len(self.selections) == self.left


class TopicRankings(NamedTuple):
    """The runs of a topic, for a pooling strategy."""

    allowed: NDArray[np.bool_]
    """(documents,) bool: the documents that may be shown."""
    rankings: list[Indices]
    """For each run, by name, the rows of its allowed documents in order."""
    best: dict[int, tuple[int, int]]
    """Row -> number of runs that have the document, and its best rank."""


class Reasons(NamedTuple):
    """Reasons for which a round has a document."""

    strategy: str
    """Source of the order, see :class:`LoopRound`."""
    terms: list[tuple[str, float]]
    """(term, contribution to the score), highest first; empty without a model."""
    best: tuple[int, int] | None
    """Number of runs that have the document, and its best rank; None if no run has the topic."""


class ExplainableRound(NamedTuple):
    """A round with the data that it was made from, which grow with the number of documents."""

    round: LoopRound
    space: training_round.Space | TopicRankings
    ranking: training_round.Ranking

    def reasons(self, row: int) -> Reasons | None:
        """Explain the rank of the document at this row of the matrix; None for a row added since."""
        if row >= len(self.space.allowed):
            return None
        if isinstance(self.space, TopicRankings):
            return Reasons(self.round.strategy, [], self.space.best.get(row, (0, 0)) if self.space.best else None)
        terms: list[tuple[str, float]] = []
        if self.ranking.model is not None:
            weights = self.ranking.model.weights[: self.space.features.width]
            influences = self.space.features.explain(row, weights, most=12)
            words = [(term, share) for term, share in influences if ":" not in term]
            terms = words or influences  # n-grams and embeddings explain little
        e = self.space.evidence
        return Reasons(self.round.strategy, terms, None if e is None else (int(e.runs[row]), int(e.best[row])))
