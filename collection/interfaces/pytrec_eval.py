"""The interface of pytrec_eval.

    from collection.interfaces import pytrec_eval

    pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10"}).evaluate(run)

Values are those of pytrec_eval 0.5, which has trec_eval 9 inside: scores are 32-bit floats, and topics that the run
lacks have no value. Where pytrec_eval crashes (topics whose only grades are below -1, cut-offs of 0) or silently
ignores parameters (two betas, coefficients of utility, numbers of measures that take none), this module returns a value
or raises an error. A topic whose grades are all below 0 has no judged document: every measure of relevance is 0 for it
(``gm_`` measures: the logarithm of their floor). ``runid`` and ``relstring`` are 0, as in pytrec_eval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError, UnknownNameError
from collection.interfaces.nested_dictionaries import Nested, NestedQrels
from collection.interfaces.trec_eval import NICKNAMES, TREC_MEASURES, OutputColumn, choose
from collection.interfaces.trec_eval.measures import Graded
from collection.measures.table import GEOMETRIC_FLOOR

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"
"""The version of pytrec_eval-terrier whose interface this is."""

supported_measures: set[str] = {*NICKNAMES["all_trec"]} - {"rbp", "rbp_resid", "unj"}  # new in trec_eval 10
"""The names of all measures."""

supported_nicknames: dict[str, set[str]] = {name: set(names) for name, names in NICKNAMES.items()} | {
    "all_trec": set(supported_measures)
}
"""Name -> its measures. Those of preferences and of several judges have no value, as in pytrec_eval."""

Number = TypeVar("Number", int, float)

_NUMBERED = re.compile(r"(?P<name>\w+?)[._](?P<numbers>\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", re.ASCII)


class UnsupportedMeasureError(UnknownNameError, ValueError):
    """pytrec_eval has no such measure; it raises a ValueError, too."""


class RelevanceEvaluator:
    """Evaluates runs with qrels, as pytrec_eval's class of the same name.

    Parameters
    ----------
    query_relevance
        ``{query_id: {doc_id: grade}}``. Grades below 0 are unjudged. Topics without documents are left out.
    measures
        Names of :data:`supported_measures` and :data:`supported_nicknames`; numbers follow as in ``P.5,10`` or
        ``ndcg_cut_10``.
    relevance_level
        Minimum relevant grade of binary measures.
    judged_docs_only_flag
        Remove unjudged documents from rankings first.

    Raises
    ------
    UnsupportedMeasureError
        An unknown measure (also a ValueError).
    InputError
        Qrels in another form, a number that the measure does not take, or a `relevance_level` below 1.
    TypeError
        Ids that are not strings.

    Examples
    --------
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P_5"})
    >>> evaluator.evaluate({"q1": {"d2": 1.5, "d1": 1.0}})
    {'q1': {'map': 0.5, 'P_5': 0.2}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if relevance_level < 1:
            raise InputError(f"relevance_level: expected 1 or more, found {relevance_level}")
        _require_strings(query_relevance)
        self._qrels = NestedQrels(query_relevance)
        self._level, self._judged_only = relevance_level, judged_docs_only_flag
        self._columns = _read(measures)

    def evaluate(self, scores: Nested) -> dict[str, dict[str, float]]:
        """Compute the values of a run.

        Parameters
        ----------
        scores
            ``{query_id: {doc_id: score}}``. The order is that of trec_eval: score, then document id, both descending.

        Returns
        -------
        dict
            ``{query_id: {measure: value}}``, for the topics that both the run and the qrels have.

        Raises
        ------
        InputError
            `scores` in another form.
        TypeError
            Ids that are not strings.
        """
        _require_strings(scores)
        aligned = self._qrels.align(scores, version=9)
        graded = Graded(aligned.condensed if self._judged_only else aligned, self._level, documents=0)
        table = np.array([_compute(column, graded) for column in self._columns]).T.tolist()
        labels = [column.name for column in self._columns]
        if not labels:
            return {topic: {} for topic in aligned.topics}
        return {topic: dict(zip(labels, row, strict=True)) for topic, row in zip(aligned.topics, table, strict=True)}


def _require_strings(nested: Nested) -> None:
    """Raise the error of pytrec_eval if a topic, or the first document of a topic, is not a string.

    Looking at every document would take a third of the time of evaluating a run of a million lines.
    """
    if isinstance(nested, Mapping):
        kinds = set(map(type, nested))
        # isinstance of an abstract class takes ten times as long as a comparison of types.
        kinds.update(
            type(next(iter(documents), ""))
            for documents in nested.values()
            if type(documents) is dict or isinstance(documents, Mapping)
        )
        if not all(issubclass(kind, str) for kind in kinds):
            raise TypeError("Expected string as key.")


def _compute(column: OutputColumn, graded: Graded) -> Floats:
    """The value of each topic: 0 for texts, the logarithm where the summary is a geometric mean."""
    measure = column.measure
    values = measure.function(graded, *(() if column.argument is None else (column.argument,)))
    if not isinstance(values, np.ndarray):
        return np.zeros(len(graded.aligned.topics))
    return np.log(np.maximum(values, GEOMETRIC_FLOOR)) if measure.summary == "geometric mean" else values


def _read(measures: Iterable[str]) -> list[OutputColumn]:
    """Return the columns of the values; their names are the labels."""
    numbers_of: dict[str, set[float]] = {}
    for text in [measures] if isinstance(measures, str) else measures:
        for each in supported_nicknames.get(text, {text}):
            name, numbers = _split(each)
            numbers_of.setdefault(name, set()).update(numbers)
    if len(of_f := numbers_of.get("set_F", ())) > 1:
        raise InputError(f"set_F: expected one number, since its label has none, found {sorted(of_f)}")
    written = [name + f".{','.join(map(repr, sorted(of)))}" * bool(of) for name, of in numbers_of.items()]
    return [
        column._replace(name="set_F") if column.measure.name == "set_F" else column
        for column in choose(written).columns
    ]


def _split(text: str) -> tuple[str, set[float]]:
    """Split a name from its numbers."""
    if text in supported_measures:
        return text, set()
    match = _NUMBERED.fullmatch(text)
    if match is None or match["name"] not in supported_measures:
        raise UnsupportedMeasureError("measure", text, supported_measures)
    name, numbers = match["name"], {float(number) for number in match["numbers"].split(",")}
    takes = TREC_MEASURES[name].takes
    if takes not in ("cutoffs", "levels") and name != "set_F":
        raise InputError(f"{text!r}: expected {name} without a number")
    if takes == "cutoffs" and not all(number.is_integer() for number in numbers):
        raise InputError(f"{text!r}: expected ranks (whole numbers)")
    if name == "iprec_at_recall" and max(numbers) > 1:
        raise InputError(f"{text!r}: expected recall levels from 0 to 1")
    return name, numbers


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run: ``query_id Q0 doc_id rank score name``.

    Scores are read by :class:`float`, as pytrec_eval does: also ``1_0``, which is 10, and ``nan``, which an evaluator
    here refuses.

    Raises
    ------
    InputError
        A line in another form, or a document twice in a topic.

    Examples
    --------
    >>> parse_run(["q1 Q0 d1 1 2.5 bm25"])
    {'q1': {'d1': 2.5}}
    """
    return _parse(f_run, columns=6, value=4, kind=float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of qrels: ``query_id 0 doc_id grade``; grades by :class:`int`, as pytrec_eval does.

    Raises
    ------
    InputError
        A line in another form, or a document twice in a topic.

    Examples
    --------
    >>> parse_qrel(["q1 0 d1 2"])
    {'q1': {'d1': 2}}
    """
    return _parse(f_qrel, columns=4, value=3, kind=int)


def _parse(
    lines: Iterable[str], columns: int, value: int, kind: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    parsed: dict[str, dict[str, Number]] = {}
    topic, documents = None, {}
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if len(fields) != columns:
            raise InputError(f"line {number:,}: expected {columns} columns, found {len(fields)}")
        if fields[0] != topic:
            topic = fields[0]
            documents = parsed.setdefault(topic, {})
        doc_id = fields[2]
        if doc_id in documents:
            raise InputError(f"line {number:,}: found document {doc_id!r} of topic {topic!r} twice")
        try:
            documents[doc_id] = kind(fields[value])
        except ValueError:
            raise InputError(f"line {number:,}: expected a number, found {fields[value]!r}") from None
    return parsed


def compute_aggregated_measure(measure: str, values: Collection[float]) -> float:
    """Summarise the values of the topics: their sum for ``num_``, a geometric mean for ``gm_``, else their mean.

    Examples
    --------
    >>> compute_aggregated_measure("num_ret", [10.0, 20.0])
    30.0
    """
    listed = values if isinstance(values, list) else list(values)
    if measure.startswith("num_"):
        return float(np.sum(listed))
    mean = float(np.mean(listed))
    return math.exp(mean) if measure.startswith("gm_") else mean
