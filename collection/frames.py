"""Schemas of the frames that cross package boundaries. Columns that a schema does not name are allowed everywhere.

>>> import pandas as pd
>>> QRELS.names
('query_id', 'doc_id', 'relevance')
>>> QRELS.check(pd.DataFrame({"query_id": ["1"], "doc_id": ["d7"], "relevance": ["high"]}))
Traceback (most recent call last):
collection.errors.InputError: qrels: expected numbers in the column relevance, found str
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from collection.errors import ColumnsError, InputError
from collection.phrases import literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

Kind = Literal["id", "text", "number", "integer"]

_KINDS: Mapping[Kind, tuple[str, str]] = {
    "id": ("iu", "text or whole numbers"), "text": ("", "text"),
    "number": ("iufb", "numbers"), "integer": ("iu", "whole numbers"),
}  # fmt: skip
"""Kind -> the numpy kinds that it allows, and its name in messages."""


class Column(NamedTuple):
    """A column; an id may be text (categorical or not) or whole numbers, and is read as text."""

    kind: Kind
    nullable: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """The columns of a frame by name, and what messages call such a frame."""

    name: str
    columns: Mapping[str, Column]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are not optional."""
        return tuple(name for name, column in self.columns.items() if not column.optional)

    def check(self, frame: pd.DataFrame, what: str = "", also: Iterable[str] = ()) -> pd.DataFrame:
        """Return `frame` if the types and missing values of its columns meet the schema.

        `what` names the frame in messages, by default the schema's name; `also` are optional columns needed here.

        Raises
        ------
        ColumnsError, InputError
            A column is missing; `frame` is no frame, a column has another type, or a value is missing.
        """
        import pandas as pd

        what = what or self.name
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"{what}: expected a DataFrame, found {type(frame).__name__}")
        if missing := [name for name in (*self.names, *also) if name not in frame.columns]:
            raise ColumnsError(what, missing, map(str, frame.columns))
        for name, (kind, nullable, _) in self.columns.items():
            if name not in frame.columns:
                continue
            if not isinstance(column := frame[name], pd.Series):
                raise InputError(f"{what}: expected one column {name}, found {column.shape[1]}")
            if len(column) and not _holds(column, kind):
                raise InputError(f"{what}: expected {_KINDS[kind][1]} in the column {name}, found {column.dtype}")
            if not nullable and column.hasnans:
                row = int(column.isna().to_numpy().argmax())
                ids = ", ".join(f"{n} {literal(frame[n].iloc[row])}" for n in _PAIR if n in frame.columns and n != name)
                raise InputError(f"{what}: row {row + 1:,} has no {name}" + (f" ({ids})" if ids else ""))
        return frame


def _holds(column: pd.Series, kind: Kind) -> bool:
    """Whether a column has a type of this kind; single values are checked in object columns only."""
    import pandas as pd

    if column.dtype != object:
        text = isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype)
        return text if kind == "text" else (text and kind == "id") or column.dtype.kind in _KINDS[kind][0]
    return kind in ("id", "text") or pd.api.types.infer_dtype(column) in _NUMBERS


_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")

_ID, _TEXT, _NUMBER, _INTEGER = Column("id"), Column("text"), Column("number"), Column("integer")
_MAYBE = Column("number", nullable=True)
_PAIR = {"query_id": _ID, "doc_id": _ID}

SCORES = Schema("a ranking", {**_PAIR, "score": _NUMBER})
"""A run before it is ranked."""

RUN = Schema("a run", {**_PAIR, "score": _NUMBER, "rank": _INTEGER, "listed": _INTEGER})
"""A ranked run from :func:`collection.ranking.rank_run`, best document first in each topic. ``rank`` is trec_eval's
order; in ``listed`` equal scores keep the order of the run's file. Both count from 1."""

LISTED = Schema("a run", {**_PAIR, "listed": _INTEGER})
"""The columns of a ranked run that adaptive strategies read."""

_SAMPLE = {"subtopic": Column("id", False, True), "stratum": Column("id", False, True)}
QRELS = Schema("qrels", {**_PAIR, "relevance": _NUMBER, **_SAMPLE, "probability": Column("number", False, True)})
"""Final grades; below 0: in the pool, but unjudged. Each pair once, or once per ``subtopic``. Samples have ``stratum``
and ``probability`` (of being judged)."""

LEVELS = Schema("preferences", {**_PAIR, "group": _ID, "subgroup": _ID, "level": _NUMBER})
"""trec_eval's preferences: in each subgroup, documents with a higher level are preferred to those with a lower one."""

REFERENCE_SCORES = Schema(
    "reference scores", {"query_id": _ID, "measure": _TEXT, "mean": _NUMBER, "deviation": _NUMBER}
)
"""Mean and standard deviation of values over a set of runs, for z-scores."""

TOPICS = Schema("topics", {"query_id": _ID, "title": _TEXT, "description": _TEXT, "narrative": _TEXT})
"""Information needs; a missing text is empty."""

DOCUMENTS = Schema("documents", {"doc_id": _ID, "title": _TEXT, "text": Column("text", nullable=True)})
"""Documents; without a text where only the id is known."""

POOL = Schema("a pool", {**_PAIR, "strategy": _TEXT, "rank": _MAYBE})
"""Pairs chosen for judging, best first in each topic; without a rank where no run has the pair."""

_SAID = {"annotator": _ID, "kind": _TEXT, "relevance": _MAYBE, "counts_as": Column("text", False, True)}
JUDGEMENTS = Schema("judgements", {**_PAIR, **_SAID})
"""Annotators' decisions, oldest first; columns as in :class:`collection.records.Judgement`."""

LABELS = Schema("labels", {"annotator": _ID, **_PAIR, "relevance": _MAYBE})
"""Annotators' grades; a row without a grade is ignored."""

STANDINGS = ("best", "not significantly different", "significantly worse")
"""Values of the column ``standing``: each system compared with the best one."""

ESTIMATED_STANDINGS = ("best estimate", "undecided", "worse than the best")
"""The same for estimates: whether the probability that a system is worse is high enough."""

VALUES = Schema("values", {"run": _TEXT, "query_id": _ID, "measure": _TEXT, "value": _MAYBE})
"""Values of measures per run and topic. The topic ``all`` is the mean over topics."""


def number_pairs(frame: pd.DataFrame) -> npt.NDArray[np.int64]:
    """(rows,): a number for each pair of topic and document, from 0, in order of first occurrence.

    >>> import pandas as pd
    >>> number_pairs(pd.DataFrame({"query_id": ["2", "1", "2"], "doc_id": ["a", "a", "a"]})).tolist()
    [0, 1, 0]
    """
    import numpy as np
    import pandas as pd

    topic, _ = pd.factorize(frame["query_id"])
    document, names = pd.factorize(frame["doc_id"])
    codes, _ = pd.factorize(topic.astype(np.int64) * max(1, len(names)) + document)
    return codes.astype(np.int64)
