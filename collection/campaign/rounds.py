"""What the loop makes of a topic's judgements: a round, and the model behind it, which can say why."""

from __future__ import annotations

from typing import NamedTuple

from collection import loop
from collection.store import Way


class Round(NamedTuple):
    """One round of a topic's loop: what to judge next. Light, since it travels between processes.

    Attributes
    ----------
    model_round
        Entries of the topic's log that it has read: the number of the round.
    ways
        Documents in the order in which to judge them, each with how it came up: "loop", "start" (nothing relevant
        is known yet), or "random".
    left
        Documents of the scope that were unjudged.
    came_by
        What the order rests on: "model", "fusion", "topic text", "no order".
    key
        Differs where a round by other settings, documents or runs would.
    """

    query_id: str
    mode: str
    model_round: int
    ways: list[Way]
    left: int
    came_by: str
    key: tuple[object, ...]

    @property
    def complete(self) -> bool:
        """Whether the ways are all that is left."""
        return len(self.ways) == self.left


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
    space: loop.Space
    ranking: loop.Ranking

    def reasons(self, row: int) -> Reasons | None:
        """Why the document at this row of the matrix stands where it does; None where the round knows no such row."""
        if row >= self.space.vectors.size:
            return None
        terms: list[tuple[str, float]] = []
        if self.ranking.model is not None:
            weights = self.ranking.model.weights[: self.space.vectors.features]
            found = self.space.vectors.explain(row, weights, most=12)
            words = [(term, share) for term, share in found if ":" not in term]
            terms = words or found  # grams and columns of embeddings tell a person little
        e = self.space.evidence
        return Reasons(self.round.came_by, terms, None if e is None else (int(e.runs[row]), int(e.best[row])))
