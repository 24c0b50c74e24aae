"""What the loop makes of a topic's judgements: a round, and the model behind it, which can say why."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning import training_round
from collection.pooling import Indices
from collection.store import Selection


class Round(NamedTuple):
    """One round of a topic's loop: what to judge next. Light, since it travels between processes.

    Attributes
    ----------
    model_round
        Entries of the topic's log that it has read: the number of the round.
    selections
        Documents in the order in which to judge them; their strategy is "loop", "start" (nothing relevant is known
        yet), the name of a pooling strategy, or "random".
    left
        Documents of the scope that were unjudged.
    came_by
        What the order rests on: "model", "fusion", "topic text", "no order", or the name of a pooling strategy.
    key
        Differs where a round by other settings, documents or runs would.
    ended
        Whether a pooling strategy has come to its end: a longer round would have no more.
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
        """Whether the selections are all that is left."""
        return self.ended or len(self.selections) == self.left


class Listed(NamedTuple):
    """What the runs have of a topic, as a pooling strategy reads it.

    Attributes
    ----------
    allowed
        (documents,) bool: what may be shown.
    rankings
        One array a run, by its name: the rows of its documents that may be shown, as it lists them.
    best
        Row -> how many runs have the document, and at which rank at best.
    """

    allowed: NDArray[np.bool_]
    rankings: list[Indices]
    best: dict[int, tuple[int, int]]


class Reasons(NamedTuple):
    """What a round has to say of one document.

    Attributes
    ----------
    came_by
        What the order rests on, as of :class:`Round`.
    terms
        (term, what it adds to the score), most first; none before there is a model.
    best
        How many runs have the document, and at which rank at best; None where no run has the topic.
    """

    came_by: str
    terms: list[tuple[str, float]]
    best: tuple[int, int] | None


class Learned(NamedTuple):
    """A round, and what it was made of: as large as the documents are many."""

    round: Round
    space: training_round.Space | Listed
    ranking: training_round.Ranking

    def reasons(self, row: int) -> Reasons | None:
        """Why the document at this row of the matrix stands where it does; None where the round knows no such row."""
        if row >= len(self.space.allowed):
            return None
        if isinstance(self.space, Listed):
            return Reasons(self.round.came_by, [], self.space.best.get(row, (0, 0)) if self.space.best else None)
        terms: list[tuple[str, float]] = []
        if self.ranking.model is not None:
            weights = self.ranking.model.weights[: self.space.vectors.features]
            found = self.space.vectors.explain(row, weights, most=12)
            words = [(term, share) for term, share in found if ":" not in term]
            terms = words or found  # grams and columns of embeddings tell a person little
        e = self.space.evidence
        return Reasons(self.round.came_by, terms, None if e is None else (int(e.runs[row]), int(e.best[row])))
