"""The ledger: the judgements of one topic, in the order in which they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError


@dataclass(frozen=True, eq=False)
class Ledger:
    """The judgements of one topic; `Ledger.of` makes one from plain sequences.

    >>> ledger = Ledger.of([1, 0, 1, 0], size=10, drawn=[0, 0, 1, 1])
    >>> ledger.found, ledger.unjudged, ledger.found_before.tolist()
    (2, 6, [0, 1, 1, 2])
    """

    relevant: Bools
    """(n,) whether each judged document is relevant, in the order of the judgements."""
    drawn: Bools
    """(n,) True if the document was drawn uniformly at random from those unjudged at the time, False if a ranking, a
    pool or a person chose it. Every guarantee depends on this."""
    probability: Floats
    """(n,) probability that the document would have been chosen so far; nan where unknown."""
    size: int
    """Documents in scope, judged and unjudged (N)."""
    batch: Ints | None = None
    """(n,) round of the model in which the document was chosen, or None."""
    reached: Floats | None = None
    """(n,) for a drawn document that the ranking treats as unjudged (a control sample): the number of judgements when
    the ranking reached it; nan if it has not. Or None."""
    scores: Floats | None = None
    """(size,) the model's probability that each document is relevant: the judged ones in the order of the ledger, then
    the unjudged. Or None."""
    urn: Floats | None = None
    """(n,) the number of documents from which a document was drawn; nan elsewhere. If it is less than the number of
    unjudged documents (other annotators held some, or the scope has grown), guarantees assume that the rest are
    relevant. Or None: all unjudged documents."""
    unreachable: int = 0
    """Unjudged documents that can be neither judged nor drawn because their text is missing: all may be relevant."""
    withheld: int = 0
    """Unjudged documents that annotators saw and did not grade, or whose judgement they undid: no guarantee holds, and
    no rule stops, before they are judged. In a ledger of :mod:`collection.stopping`'s draws, those drawn at random."""
    set_aside: int = 0
    """Judged documents that are not among the n, because the ranking did not select them; see :meth:`keep`."""
    set_aside_relevant: int = 0
    """Relevant documents among those."""

    def __post_init__(self) -> None:
        judged = len(self.relevant)
        for name in ("drawn", "probability", "batch", "reached", "urn"):
            values = getattr(self, name)
            if values is not None and np.shape(values) != (judged,):
                _refuse(name, f"one value for each of the {judged} judgements", f"shape {np.shape(values)}")
        self._check_sizes()
        known = self.probability[~np.isnan(self.probability)]
        if ((known <= 0) | (known > 1)).any():
            _refuse("probability", "values above 0 and up to 1, nan where unknown", _outside(known, known > 0))
        if self.batch is not None and (np.diff(self.batch) < 0).any():
            _refuse("batch", "rounds that never decrease", "a later judgement in an earlier round")
        if self.reached is not None:
            has_reached = ~np.isnan(self.reached)
            if (has_reached & ~self.drawn).any():
                _refuse("reached", "nan for documents that were not drawn at random", "a number")
            if (self.reached[has_reached] < 0).any():
                _refuse("reached", "numbers of judgements, 0 or more", f"{self.reached[has_reached].min():g}")
        if self.urn is not None and (self.urn[~np.isnan(self.urn)] < 1).any():
            _refuse("urn", "numbers of documents, 1 or more", f"{np.nanmin(self.urn):g}")
        if self.scores is not None:
            if np.shape(self.scores) != (self.size,):
                _refuse("scores", f"one for each of the {self.size} documents", f"shape {np.shape(self.scores)}")
            if not ((self.scores >= 0) & (self.scores <= 1)).all():
                _refuse("scores", "probabilities from 0 to 1", _outside(self.scores, self.scores >= 0))

    def _check_sizes(self) -> None:
        if self.size < self.judged:
            _refuse("size", f"at least {self.judged}, the number of judged documents", str(self.size))
        if not 0 <= self.set_aside_relevant <= self.set_aside <= self.size - self.judged:
            sizes = f"{self.set_aside}, {self.set_aside_relevant} of them relevant"
            _refuse("set_aside", f"0 to {self.size - self.judged}, the documents that are not among the judged", sizes)
        if not 0 <= self.unreachable <= self.unjudged:
            _refuse("unreachable", f"0 to {self.unjudged}, the number of unjudged documents", str(self.unreachable))

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
        withheld: int = 0,
    ) -> Ledger:
        """Make a ledger from plain sequences; by default no document was drawn and no probability is known."""
        judged = _booleans("relevant", relevant)
        rounds = None if batch is None else _numbers("batch", batch)
        if rounds is not None and not np.isfinite(rounds).all():
            _refuse("batch", "the number of a round for every judgement", "nan or infinity")
        return cls(
            relevant=judged,
            drawn=np.zeros(len(judged), dtype=bool) if drawn is None else _booleans("drawn", drawn),
            probability=np.full(len(judged), np.nan) if probability is None else _numbers("probability", probability),
            size=int(size),
            batch=None if rounds is None else rounds.astype(np.int64),
            reached=None if reached is None else _numbers("reached", reached),
            scores=None if scores is None else _numbers("scores", scores),
            urn=None if urn is None else _numbers("urn", urn),
            unreachable=unreachable,
            withheld=withheld,
        )

    def keep(self, ordered: Bools, withheld: int = 0) -> Ledger:
        """Keep the (n,) judgements that a ranking ordered, for a rule that may read no others.

        The others are set aside: they are judged, but found by something else. `withheld` is that of the result.

        >>> Ledger.of([1, 0, 1], size=10).keep(np.array([True, True, False])).set_aside_relevant
        1
        """
        return replace(
            self,
            relevant=self.relevant[ordered],
            drawn=self.drawn[ordered],
            probability=self.probability[ordered],
            batch=None if self.batch is None else self.batch[ordered],
            reached=None if self.reached is None else self.reached[ordered],
            scores=None,
            urn=None if self.urn is None else self.urn[ordered],
            withheld=withheld,
            set_aside=self.set_aside + int((~ordered).sum()),
            set_aside_relevant=self.set_aside_relevant + int(self.relevant[~ordered].sum()),
        )

    def prefix(self, judged: int) -> Ledger:
        """The ledger after the first `judged` judgements; it has no scores unless these are all."""
        if not 0 <= judged <= self.judged:
            _refuse("prefix", f"0 to {self.judged} judgements", str(judged))
        reached = None if self.reached is None else self.reached[:judged]
        return replace(
            self,
            relevant=self.relevant[:judged],
            drawn=self.drawn[:judged],
            probability=self.probability[:judged],
            batch=None if self.batch is None else self.batch[:judged],
            reached=None if reached is None else np.where(reached <= judged, reached, np.nan),
            scores=self.scores if judged == self.judged else None,
            urn=None if self.urn is None else self.urn[:judged],
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
        return self.size - self.judged - self.set_aside

    @property
    def rankable(self) -> int:
        """Documents in scope that the ranking can select: all but those set aside and those that nobody can judge."""
        return self.size - self.set_aside - self.unreachable

    @cached_property
    def draws(self) -> Ints:
        """Positions of the documents drawn at random."""
        return np.flatnonzero(self.drawn)

    @cached_property
    def found_before(self) -> Ints:
        """(n,) relevant documents found before each judgement."""
        return np.cumsum(self.relevant, dtype=np.int64) - self.relevant

    @cached_property
    def unjudged_before(self) -> Ints:
        """(n,) documents unjudged before each judgement, including the one to be judged."""
        return self.size - self.set_aside - np.arange(self.judged, dtype=np.int64)

    @cached_property
    def out_of_reach(self) -> Ints:
        """(n,) documents that were unjudged before each judgement and could not be drawn."""
        if self.urn is None:
            return np.zeros(self.judged, dtype=np.int64)
        # Other people's judgements between a draw and its judgement have made the urn smaller.
        reach = np.fmin(np.round(self.urn), self.unjudged_before)
        return self.unjudged_before - np.where(np.isnan(self.urn), self.unjudged_before, reach).astype(np.int64)

    @cached_property
    def since_relevant(self) -> Bools:
        """`drawn` of the judgements after the last relevant one."""
        last = np.flatnonzero(self.relevant)
        return self.drawn[last[-1] + 1 :] if len(last) else self.drawn


def _refuse(name: str, wanted: str, found: str) -> NoReturn:
    raise InputError(f"Ledger, {name}: expected {wanted}, found {found}") from None


def _outside(values: Floats, enough: Bools) -> str:
    """The first value that breaks the range."""
    broken = values[~enough | ~(values <= 1)]
    return f"{broken[0]:g}"


def _numbers(name: str, values: Sequence[float] | NDArray[np.generic]) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        _refuse(name, "numbers", f"{values!r:.60}")


def _booleans(name: str, values: Sequence[object] | NDArray[np.generic]) -> Bools:
    array = np.asarray(values)
    if array.ndim != 1:
        _refuse(name, "a plain sequence", f"shape {array.shape}")
    if array.size and array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        # Only the caller knows whether a grade of 2 is relevant.
        wrong = array[~np.isin(array, (0, 1))].tolist()[0]
        _refuse(name, "True or False (compare grades with the minimum relevant grade first)", repr(wrong))
    return array.astype(np.bool_)
