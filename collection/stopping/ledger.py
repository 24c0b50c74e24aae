"""The ledger: the judgements of one topic, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from collection.errors import InputError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ledger:
    """The judgements of one topic; `Ledger.of` makes one from plain sequences.

    Attributes
    ----------
    relevant
        (n,) whether each judged document is relevant, in the order of the judgements.
    drawn
        (n,) True where the document was drawn uniformly at random from the then unjudged ones, False where a
        ranking, a pool or a person chose it. Every guarantee rests on this being true.
    probability
        (n,) probability that the document would have been chosen by now at all; nan where nobody knows.
    size
        Documents in scope, judged and unjudged (N).
    batch
        (n,) round of the model in which the document was chosen, or None.
    reached
        (n,) for a drawn document that the ranking ranks on as if it were unjudged (a control sample): how many
        judgements there were when the ranking came to it by itself; nan where it has not yet. Or None.
    scores
        (size,) the model's probability that each document is relevant: the judged ones in the order of the
        ledger, then the unjudged. Or None.
    urn
        (n,) for a drawn document how many documents it was drawn from; nan elsewhere. Fewer than were unjudged then,
        where other annotators held some, or where the scope has grown since: nobody knows how many of the rest are
        relevant, and what is promised then allows for the worst. Or None: from all that were unjudged.
    unreachable
        Unjudged documents that can be neither judged nor drawn now, since their text is missing: all of them may be
        relevant.

    Examples
    --------
    >>> ledger = Ledger.of([1, 0, 1, 0], size=10, drawn=[0, 0, 1, 1])
    >>> ledger.found, ledger.unjudged, ledger.found_before.tolist()
    (2, 6, [0, 1, 1, 2])
    """

    relevant: Bools
    drawn: Bools
    probability: Floats
    size: int
    batch: Ints | None = None
    reached: Floats | None = None
    scores: Floats | None = None
    urn: Floats | None = None
    unreachable: int = 0

    def __post_init__(self) -> None:
        judged = len(self.relevant)
        for name in ("drawn", "probability", "batch", "reached", "urn"):
            values = getattr(self, name)
            if values is not None and np.shape(values) != (judged,):
                _refuse(name, f"one value for each of the {judged} judgements", f"the shape {np.shape(values)}")
        self._check_sizes()
        known = self.probability[~np.isnan(self.probability)]
        if ((known <= 0) | (known > 1)).any():
            _refuse("probability", "values above 0 and up to 1, nan where unknown", _outside(known, known > 0))
        if self.batch is not None and (np.diff(self.batch) < 0).any():
            _refuse("batch", "rounds that never fall", "a later judgement in an earlier round")
        if self.reached is not None:
            there = ~np.isnan(self.reached)
            if (there & ~self.drawn).any():
                _refuse("reached", "nan wherever the document was not drawn at random", "a number there")
            if (self.reached[there] < 0).any():
                _refuse("reached", "numbers of judgements, 0 or more", f"{self.reached[there].min():g}")
        if self.urn is not None and (self.urn[~np.isnan(self.urn)] < 1).any():
            _refuse("urn", "numbers of documents, 1 or more", f"{np.nanmin(self.urn):g}")
        if self.scores is not None:
            if np.shape(self.scores) != (self.size,):
                _refuse("scores", f"one for each of the {self.size} documents", f"the shape {np.shape(self.scores)}")
            if not ((self.scores >= 0) & (self.scores <= 1)).all():
                _refuse("scores", "probabilities from 0 to 1", _outside(self.scores, self.scores >= 0))

    def _check_sizes(self) -> None:
        if self.size < self.judged:
            _refuse("size", f"at least the {self.judged} documents that are judged", str(self.size))
        if not 0 <= self.unreachable <= self.unjudged:
            _refuse("unreachable", f"0 to the {self.unjudged} documents that are not judged", str(self.unreachable))

    @classmethod
    def of(
        cls,
        relevant: Sequence[object] | NDArray[np.generic],
        size: int,
        *,
        drawn: Sequence[object] | NDArray[np.generic] | None = None,
        probability: Sequence[float] | Floats | None = None,
        batch: Sequence[int] | Ints | None = None,
        reached: Sequence[float] | Floats | None = None,
        scores: Sequence[float] | Floats | None = None,
        urn: Sequence[float] | Floats | None = None,
        unreachable: int = 0,
    ) -> Ledger:
        """The ledger of plain sequences; without `drawn` nothing was drawn, without `probability` none is known."""
        judged = _booleans("relevant", relevant)
        return cls(
            relevant=judged,
            drawn=np.zeros(len(judged), dtype=bool) if drawn is None else _booleans("drawn", drawn),
            probability=np.full(len(judged), np.nan) if probability is None else _numbers("probability", probability),
            size=int(size),
            batch=None if batch is None else _rounds(batch),
            reached=None if reached is None else _numbers("reached", reached),
            scores=None if scores is None else _numbers("scores", scores),
            urn=None if urn is None else _numbers("urn", urn),
            unreachable=unreachable,
        )

    def prefix(self, judged: int) -> Ledger:
        """The ledger as it stood after that many judgements; the scores of then are gone."""
        if not 0 <= judged <= self.judged:
            _refuse("prefix", f"0 to {self.judged} judgements", str(judged))
        reached = None
        if self.reached is not None:
            reached = np.where(self.reached[:judged] <= judged, self.reached[:judged], np.nan)
        return Ledger(
            self.relevant[:judged],
            self.drawn[:judged],
            self.probability[:judged],
            self.size,
            None if self.batch is None else self.batch[:judged],
            reached,
            self.scores if judged == self.judged else None,
            None if self.urn is None else self.urn[:judged],
            self.unreachable,
        )

    @property
    def judged(self) -> int:
        """Judgements made (n)."""
        return len(self.relevant)

    @cached_property
    def found(self) -> int:
        """Relevant documents found (F)."""
        return int(self.relevant.sum())

    @property
    def unjudged(self) -> int:
        """Documents not judged yet (U)."""
        return self.size - self.judged

    @cached_property
    def draws(self) -> Ints:
        """Positions of the random draws."""
        return np.flatnonzero(self.drawn)

    @cached_property
    def found_before(self) -> Ints:
        """(n,) relevant documents found before each judgement."""
        return np.cumsum(self.relevant, dtype=np.int64) - self.relevant

    @cached_property
    def unjudged_before(self) -> Ints:
        """(n,) documents unjudged before each judgement, the one to be judged among them."""
        return self.size - np.arange(self.judged, dtype=np.int64)

    @cached_property
    def out_of_reach(self) -> Ints:
        """(n,) documents that were unjudged before each judgement, and that a draw then could not have hit."""
        if self.urn is None:
            return np.zeros(self.judged, dtype=np.int64)
        # Who judged beside others between a draw and its judgement has made the urn smaller since.
        reach = np.fmin(np.round(self.urn), self.unjudged_before)
        return self.unjudged_before - np.where(np.isnan(self.urn), self.unjudged_before, reach).astype(np.int64)

    @cached_property
    def since_relevant(self) -> Bools:
        """The `drawn` of the judgements after the last relevant one: all of them irrelevant, in a row."""
        last = np.flatnonzero(self.relevant)
        return self.drawn[last[-1] + 1 :] if len(last) else self.drawn


def _refuse(name: str, wanted: str, found: str) -> None:
    raise InputError(f"a ledger's {name}: wanted {wanted}, found {found}; give the values of one topic")


def _outside(values: Floats, enough: Bools) -> str:
    """The first value that breaks the range."""
    broken = values[~enough | ~(values <= 1)]
    return f"{broken[0]:g}"


def _numbers(name: str, values: Sequence[float] | NDArray[np.generic]) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"a ledger's {name}: wanted numbers, found {values!r:.60}; give the values of one topic"
        ) from None


def _rounds(values: Sequence[int] | Ints) -> Ints:
    rounds = _numbers("batch", values)
    if not np.isfinite(rounds).all():
        _refuse("batch", "the number of a round everywhere", "nan or an infinity")
    return rounds.astype(np.int64)


def _booleans(name: str, values: Sequence[object] | NDArray[np.generic]) -> Bools:
    array = np.asarray(values)
    if array.ndim != 1:
        _refuse(name, "a plain sequence", f"the shape {array.shape}")
    if array.size and array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        # A grade of 2 may or may not count as relevant: only the caller knows from which grade on.
        _refuse(name, "True or False (from which grade on is relevant?)", repr(array[~np.isin(array, (0, 1))][0]))
    return array.astype(np.bool_)
