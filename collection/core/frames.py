"""Schemas of the frames that cross package boundaries. Columns that a schema does not name are allowed everywhere.

>>> import pandas as pd
>>> QRELS.names
('query_id', 'doc_id', 'relevance')
>>> QRELS.check(pd.DataFrame({"query_id": ["1"], "doc_id": ["d7"], "relevance": ["high"]}))
Traceback (most recent call last):
collection.core.errors.InputError: qrels: expected numbers in the column relevance, found str
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from collection.core.arrays import Ints
from collection.core.errors import ColumnsError, InputError
from collection.core.phrases import literal

if TYPE_CHECKING:
    import pandas as pd

ColumnKind = Literal["id", "key", "text", "number", "integer", "object", "tuple"]

_KINDS: Mapping[ColumnKind, str] = {
    "id": "text or whole numbers", "key": "text or whole numbers", "text": "text", "number": "numbers",
    "integer": "whole numbers", "object": "dicts", "tuple": "tuples of text",
}  # fmt: skip
"""Kind -> its name in messages."""


class Column(NamedTuple):
    """A column; an id may be text (categorical or not) or whole numbers, and is read as text."""

    kind: ColumnKind
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
        """Return `frame` with the columns of the schema in one form if their types and missing values meet it.

        Ids are then of type str (in one piece), or categories of these; keys int64 too; texts str; numbers int64 or
        float64 of numpy (int32 and float32 stay); the index counts from 0, and its named levels are columns. A frame
        that has this form is returned itself. `what` names the frame in messages, by default the schema's name; `also`
        are optional columns needed here.

        Raises
        ------
        ColumnsError, InputError
            A column is missing; `frame` is no frame, a column has another type, or a value is missing.
        """
        import pandas as pd

        what = what or self.name
        if not isinstance(frame, pd.DataFrame):
            hint = "; pass its to_pandas()" if hasattr(frame, "to_pandas") else ""
            raise InputError(f"{what}: expected a DataFrame of pandas, found {type(frame).__name__}{hint}")
        frame = index_to_columns(frame)
        if missing := [name for name in (*self.names, *also) if name not in frame.columns]:
            raise ColumnsError(what, missing, map(str, frame.columns))
        changed = {}
        for name, (kind, nullable, _) in self.columns.items():
            if name not in frame.columns:
                continue
            if not isinstance(column := frame[name], pd.Series):
                raise InputError(f"{what}: expected one column {name}, found {column.shape[1]}")
            normal = _normal(column, kind)
            if normal is None:
                raise InputError(f"{what}: expected {_KINDS[kind]} in the column {name}, found {_contents(column)}")
            if not nullable and normal.hasnans:
                row = int(normal.isna().to_numpy().argmax())
                ids = ", ".join(f"{n} {literal(frame[n].iloc[row])}" for n in _PAIR if n in frame.columns and n != name)
                raise InputError(f"{what}: row {row + 1:,} has no {name}" + (f" ({ids})" if ids else ""))
            if normal is not column:
                changed[name] = normal
        return frame.assign(**changed) if changed else frame


def index_to_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with rows numbered from 0, and the named levels of its index as columns if it lacks them.

    >>> import pandas as pd
    >>> index_to_columns(pd.DataFrame({"score": [1.5]}, index=pd.Index(["301"], name="qid")))["qid"].tolist()
    ['301']
    """
    import pandas as pd

    index = frame.index
    if isinstance(index, pd.RangeIndex) and index.name is None and index.equals(pd.RangeIndex(len(frame))):
        return frame
    levels = {
        name: index.get_level_values(place)
        for place, name in reversed(list(enumerate(index.names)))
        if isinstance(name, str) and name not in frame.columns
    }
    return frame.reset_index(drop=True).assign(**levels)


def _normal(column: pd.Series, kind: ColumnKind) -> pd.Series | None:
    """A column in the form that :meth:`Schema.check` returns, itself if it has it; None if it holds another kind."""
    import pandas as pd

    from collection.core import arrow

    if kind in _NORMAL:
        return _NORMAL[kind](column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _normal_categories(column, kind)
    if isinstance(column.dtype, pd.ArrowDtype) and not arrow.is_plain(column.dtype.pyarrow_dtype):
        column = column.astype(object)
    if column.dtype == object:
        held = pd.api.types.infer_dtype(column)
        if held == "empty" and len(column):  # nothing but missing values
            return column.astype("str" if kind in ("id", "text") else "float64")
        if held not in _INFERRED[kind] and held != "empty":
            return None
    elif len(column) and not _has_type(column, kind):
        return None
    return _as_text(column) if kind in ("id", "text") else _as_numbers(column)


def _normal_objects(column: pd.Series) -> pd.Series | None:
    """:func:`_normal` of dicts; a missing one is empty."""
    import pandas as pd

    values = column.tolist()
    if column.dtype == object and all(isinstance(each, Mapping) for each in values):
        return column
    filled = [{} if missing else each for each, missing in zip(values, column.isna(), strict=True)]
    return pd.Series(filled, dtype=object, name=column.name) if all(isinstance(e, Mapping) for e in filled) else None


def _normal_tuples(column: pd.Series) -> pd.Series | None:
    """Return a column of tuples of text, as :func:`_normal`; lists become tuples, missing values empty tuples."""
    import pandas as pd

    values = column.tolist()
    if column.dtype == object and all(isinstance(each, tuple) for each in values):
        filled = values
    else:
        missing = column.isna()
        filled = [
            () if is_missing else tuple(each) if isinstance(each, list) else each
            for each, is_missing in zip(values, missing, strict=True)
        ]
        if not all(isinstance(each, tuple) for each in filled):
            return None
        column = pd.Series(filled, dtype=object, name=column.name)
    return column if all(isinstance(text, str) for each in filled for text in each) else None


def _normal_keys(column: pd.Series) -> pd.Series | None:
    """:func:`_normal` of keys: whole numbers of any type as int64, else ids."""
    import pandas as pd

    keys = _normal(column, "integer")
    if keys is None or not pd.api.types.is_integer_dtype(keys):
        return _normal(column, "id")
    return keys if keys.dtype == "int64" else keys.astype("int64")


_NORMAL: Mapping[ColumnKind, Callable[[pd.Series], pd.Series | None]] = {
    "key": _normal_keys, "object": _normal_objects, "tuple": _normal_tuples,
}  # fmt: skip
"""Function by kind, for kinds that the type of the column does not decide."""


def _normal_categories(column: pd.Series, kind: ColumnKind) -> pd.Series | None:
    """:func:`_normal` of categories: ids stay categories."""
    import pandas as pd

    categories = column.cat.categories
    if kind != "id":
        return _normal(column.astype(object), kind)
    if str(categories.dtype) == "str":
        return column
    names = _normal(pd.Series(categories), kind)
    if names is None:
        return None
    return column.cat.rename_categories(names.tolist()) if names.is_unique else column.astype("str")


def _has_type(column: pd.Series, kind: ColumnKind) -> bool:
    """Tell whether the type of a column, of neither objects nor categories, has values of a kind."""
    from pandas.api import types

    if kind in ("number", "integer"):
        numeric = types.is_integer_dtype if kind == "integer" else types.is_numeric_dtype
        return numeric(column) and not types.is_complex_dtype(column)
    return types.is_string_dtype(column) or (kind == "id" and types.is_integer_dtype(column))


def _as_text(column: pd.Series) -> pd.Series:
    import pandas as pd

    from collection.core import arrow

    if str(column.dtype) == "str" and arrow.is_one_piece(column):
        return column
    return pd.Series(pd.array(arrow.from_column(column.astype("str")), dtype="str"), name=column.name)


def _as_numbers(column: pd.Series) -> pd.Series:
    import numpy as np
    import pandas as pd

    if column.dtype in _NUMPY:
        return column
    whole = pd.api.types.is_integer_dtype(column.dtype) or pd.api.types.infer_dtype(column) in ("integer", "boolean")
    if whole and not column.hasnans:
        with suppress(OverflowError):
            if (values := column.to_numpy()).dtype != np.uint64:
                return pd.Series(values.astype(np.int64), name=column.name)
            if not len(column) or values.max() < 2**63:
                return pd.Series(values.astype(np.int64), name=column.name)
    return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), name=column.name)


def _contents(column: pd.Series) -> str:
    """Describe the contents of a column in messages."""
    import pandas as pd

    return f"{pd.api.types.infer_dtype(column)} values" if column.dtype == object else str(column.dtype)


_NUMPY = ("int64", "float64", "int32", "float32")
"""Types of numbers that stay."""

_WHOLE = ("integer", "boolean")
_TEXTS = ("string", "mixed", "mixed-integer")
_INFERRED: Mapping[ColumnKind, tuple[str, ...]] = {
    "id": (*_TEXTS, "integer"), "text": (*_TEXTS, "integer", "floating"),
    "number": (*_WHOLE, "floating", "mixed-integer-float", "decimal"), "integer": ("integer",),
}  # fmt: skip
"""Kind -> what pandas infers of columns of objects that may hold it."""

_ID, _TEXT, _NUMBER, _INTEGER = Column("id"), Column("text"), Column("number"), Column("integer")
_MAYBE = Column("number", nullable=True)
_PAIR = {"query_id": _ID, "doc_id": _ID}

SCORES = Schema("a ranking", {**_PAIR, "score": _NUMBER})
"""A run before it is ranked."""

RUN = Schema("a run", {**_PAIR, "score": _NUMBER, "rank": _INTEGER, "listed": _INTEGER})
"""A ranked run from :func:`.rank_run`, best document first in each topic. ``rank`` is trec_eval's
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

_TOPIC = {"query_id": _ID, "title": _TEXT, "description": _TEXT, "narrative": _TEXT}
TOPICS = Schema("topics", {**_TOPIC, "fields": Column("object", False, True)})
"""Information needs; a missing text is empty. ``fields`` has a dict of each topic's other fields, if any has some."""

DOCUMENTS = Schema("documents", {"doc_id": _ID, "title": _TEXT, "text": Column("text", nullable=True)})
"""Documents; without a text where only the id is known."""

POOL = Schema("a pool", {**_PAIR, "strategy": _TEXT, "rank": _MAYBE})
"""Pairs chosen for judging, best first in each topic; without a rank where no run has the pair."""

PAIRS = Schema("pairs", _PAIR)
"""Pairs of topics and documents."""

_SAID = {"annotator": _ID, "kind": _TEXT, "relevance": _MAYBE, "counts_as": Column("text", False, True)}
_KEY = Column("key")
JUDGEMENTS = Schema("judgements", {"query_id": _KEY, "doc_id": _KEY, **_SAID})
"""Annotators' decisions, oldest first; columns as in :class:`collection.core.records.Judgement`.

Topics and documents may be named by keys, whole numbers that stay as they are.
"""

LABELS = Schema("labels", {"annotator": _ID, **_PAIR, "relevance": _MAYBE})
"""Annotators' grades; a row without a grade is ignored."""

STANDINGS = ("best", "not significantly different", "significantly worse")
"""Values of the column ``standing``: each system compared with the best one."""

ESTIMATED_STANDINGS = ("best estimate", "undecided", "worse than the best")
"""The same for estimates: whether the probability that a system is worse is high enough."""

VALUES = Schema("values", {"run": _TEXT, "query_id": _ID, "measure": _TEXT, "value": _MAYBE})
"""Values of measures per run and topic. The topic ``all`` is the mean over topics."""

_ANSWER = {"run": _TEXT, "query_id": _ID}
_MAYBE_SAID = Column("number", nullable=True, optional=True)
_MAYBE_TEXT = Column("text", nullable=True, optional=True)

ANSWERS = Schema("answers", {**_ANSWER, "team": _TEXT, "words": _INTEGER, "stated_words": _MAYBE})
"""Generated answers, one per run and topic. ``words`` is the number of words separated by white space, ``stated_words``
the number stated in the file, if any. ``team`` is empty if the file names none."""

SENTENCES = Schema(
    "sentences",
    {
        **_ANSWER, "sentence": _INTEGER, "text": _TEXT, "citations": Column("tuple"),
        "verification_worthy": _MAYBE_SAID, "combined_grade": _MAYBE_SAID,
    },
)  # fmt: skip
"""Sentences of answers, numbered from 0 in each answer. ``citations`` are the distinct documents that a sentence cites,
in its order; ``combined_grade`` is the support by all of them together; ``verification_worthy`` is 0 or 1."""

NUGGETS = Schema(
    "nuggets",
    {
        "query_id": _ID, "nugget": _ID, "text": _TEXT, "importance": _TEXT, "weight": _MAYBE,
        "question": _MAYBE_TEXT, "answers": Column("tuple", optional=True), "sub_narrative": _MAYBE_TEXT,
        "source": _MAYBE_TEXT,
    },
)  # fmt: skip
"""Pieces of information that answers should contain, or should not if ``weight`` is negative. ``nugget`` is unique in
the topic; ``importance`` is "vital", "okay" or empty."""

NUGGET_ASSIGNMENTS = Schema("nugget assignments", {**_ANSWER, "nugget": _ID, "grade": _MAYBE})
"""Nugget assignments: whether an answer contains a nugget. Grade 2 support, 1 partial support, 0 no support; missing
for any other label."""

SUPPORT = Schema("support", {**_ANSWER, "sentence": _INTEGER, "position": _INTEGER, "doc_id": _ID, "grade": _MAYBE})
"""Support of sentences by the documents that they cite: 2 full, 1 partial, 0 no support; missing if not judged.
``position`` counts the citations of a sentence from 0."""

NUGGET_SOURCES = Schema("nugget sources", {"query_id": _ID, "nugget": _ID, "doc_id": _ID})
"""Documents that contain a nugget, one row each."""


def number_pairs(frame: pd.DataFrame) -> Ints:
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
