"""Rounds of a topic's loop, and their explanations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning import training_round
from collection.pooling import Indices
from collection.store import Selection


class LoopRound(NamedTuple):
    """A round of a topic's loop; small, since it is sent between processes.

    Attributes
    ----------
    model_round
        Number of the round: entries of the topic's log that it has read.
    selections
        Documents in the order in which to judge them; their strategy is "loop", "start" (nothing relevant is known
        yet), the name of a pooling strategy, or "random".
    left
        Number of unjudged documents of the scope.
    came_by
        Source of the order: "model", "fusion", "topic text", "no order", or the name of a pooling strategy.
    key
        Version of settings, documents and runs.
    ended
        A pooling strategy has no more documents.
    """

    query_id: str
    mode: str
    model_round: int
    selections: list[Selection]
    left: int
    came_by: str
    key: tuple[object, ...]
    ended: bool = False

    @property
    def complete(self) -> bool:
        """Whether the selections are all documents that are left."""
        return self.ended or len(self.selections) == self.left


class TopicRankings(NamedTuple):
    """The runs of a topic, for a pooling strategy.

    Attributes
    ----------
    allowed
        (documents,) bool: the documents that may be shown.
    rankings
        For each run, by name, the rows of its allowed documents in order.
    best
        Row -> number of runs that have the document, and its best rank.
    """

    allowed: NDArray[np.bool_]
    rankings: list[Indices]
    best: dict[int, tuple[int, int]]


class Reasons(NamedTuple):
    """Why a round has a document.

    Attributes
    ----------
    came_by
        Source of the order, see :class:`LoopRound`.
    terms
        (term, contribution to the score), highest first; empty without a model.
    best
        Number of runs that have the document, and its best rank; None if no run has the topic.
    """

    came_by: str
    terms: list[tuple[str, float]]
    best: tuple[int, int] | None


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
            return Reasons(self.round.came_by, [], self.space.best.get(row, (0, 0)) if self.space.best else None)
        terms: list[tuple[str, float]] = []
        if self.ranking.model is not None:
            weights = self.ranking.model.weights[: self.space.vectors.features]
            found = self.space.vectors.explain(row, weights, most=12)
            words = [(term, share) for term, share in found if ":" not in term]
            terms = words or found  # n-grams and embeddings explain little
        e = self.space.evidence
        return Reasons(self.round.came_by, terms, None if e is None else (int(e.runs[row]), int(e.best[row])))
