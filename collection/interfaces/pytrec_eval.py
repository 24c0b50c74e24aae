"""The interface of pytrec_eval.

    from collection.interfaces import pytrec_eval

    pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10"}).evaluate(run)

Values are those of pytrec_eval 0.5, which has trec_eval 9 inside: scores are 32-bit floats, and topics that the run
lacks have no value. Where pytrec_eval crashes (topics whose only grades are below -1, cut-offs of 0) or silently
ignores parameters (two betas, coefficients of utility, numbers of measures that take none), this module returns a value
or raises an error. ``runid`` and ``relstring`` are 0, as in pytrec_eval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from collection.errors import InputError, UnknownNameError
from collection.formats.in_memory import as_qrels
from collection.interfaces.nested_dictionaries import Nested, NestedQrels
from collection.measures import Aligned, Floats, Measure, parse
from collection.measures.names import CUTOFFS
from collection.measures.table import GEOMETRIC_FLOOR

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]


class _Named(NamedTuple):
    """A measure of trec_eval: how it is written here, and its numbers where it takes any."""

    written: str
    """With {} for the number; '' for texts."""
    numbers: tuple[str, ...] = ()
    """The numbers that it is computed for if none is given."""
    decimals: int = 0
    """Of the number in the label of a value."""


_RECALLS = tuple(f"{level / 10:.1f}" for level in range(11))
_MULTIPLES = tuple(f"{multiple / 5:.1f}" for multiple in range(1, 11))

_MEASURES = {
    "runid": _Named(""),
    "num_q": _Named("NumQ"),
    "num_ret": _Named("NumRet"),
    "num_rel": _Named("NumRel"),
    "num_rel_ret": _Named("NumRelRet"),
    "map": _Named("AP"),
    "gm_map": _Named("AP"),
    "Rprec": _Named("Rprec"),
    "bpref": _Named("bpref"),
    "recip_rank": _Named("RR"),
    "iprec_at_recall": _Named("IPrec@{}", _RECALLS, 2),
    "P": _Named("P@{}", CUTOFFS),
    "relstring": _Named(""),
    "recall": _Named("R@{}", CUTOFFS),
    "infAP": _Named("infAP"),
    "gm_bpref": _Named("bpref"),
    "Rprec_mult": _Named("Rprec(mult={})", _MULTIPLES, 2),
    "utility": _Named("Utility"),
    "11pt_avg": _Named("IPrec"),
    "binG": _Named("binG"),
    "G": _Named("G"),
    "ndcg": _Named("nDCG"),
    "ndcg_rel": _Named("nDCG_rel"),
    "Rndcg": _Named("RnDCG"),
    "ndcg_cut": _Named("nDCG@{}", CUTOFFS),
    "map_cut": _Named("AP@{}", CUTOFFS),
    "relative_P": _Named("P(relative=True)@{}", CUTOFFS),
    "success": _Named("Success@{}", ("1", "5", "10")),
    "set_P": _Named("SetP"),
    "set_relative_P": _Named("SetP(relative=True)"),
    "set_recall": _Named("SetR"),
    "set_map": _Named("SetAP"),
    "set_F": _Named("SetF"),
    "num_nonrel_judged_ret": _Named("NumNonrelRet"),
}
"""Every measure of pytrec_eval, in the order of its results."""

_PREFERENCES = {"prefs_avgjg", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_num_prefs_poss", "prefs_pair",
                "prefs_simp"}  # fmt: skip

supported_measures = set(_MEASURES)
"""The names of all measures."""

supported_nicknames = {
    "official": {"P", "Rprec", "bpref", "gm_map", "iprec_at_recall", "map", "num_q", "num_rel", "num_rel_ret",
                 "num_ret", "recip_rank", "runid"},
    "set": {"num_q", "num_rel", "num_rel_ret", "num_ret", "runid", "set_F", "set_P", "set_map", "set_recall",
            "set_relative_P", "utility"},
    "all_trec": set(_MEASURES),
    "all_prefs": {"num_q", "runid", *_PREFERENCES, "prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret",
                  *(f"prefs_{kind}_{part}" for kind in ("avgjg", "pair", "simp") for part in ("imp", "ret"))},
    "prefs": {"num_q", "runid", *_PREFERENCES},
    "qrels_jg": {"P_avgjg", "Rprec_mult_avgjg", "map_avgjg", "num_q", "runid"},
}  # fmt: skip
"""Name -> its measures. Those of preferences and of several judges have no value, as in pytrec_eval."""

Number = TypeVar("Number", int, float)

_NUMBERED = re.compile(r"(?P<name>\w+?)[._](?P<numbers>\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)", re.ASCII)


class UnsupportedMeasureError(UnknownNameError, ValueError):
    """pytrec_eval has no such measure; it raises a ValueError, too."""


class _Column(NamedTuple):
    """A value of each topic: its label, the name of the measure, and the measure (None for texts, which are 0)."""

    label: str
    name: str
    measure: Measure | None


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
        self._qrels = NestedQrels(as_qrels(query_relevance))
        self._level = relevance_level
        self._columns = [
            _Column(label, name, _with_options(written, relevance_level, judged_docs_only_flag))
            for label, name, written in _read(measures)
        ]

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
        """
        aligned = self._qrels.align(scores, version=9)
        table = np.array([self._values(column, aligned) for column in self._columns]).T.tolist()
        labels = [column.label for column in self._columns]
        if not labels:
            return {topic: {} for topic in aligned.topics}
        return {topic: dict(zip(labels, row, strict=True)) for topic, row in zip(aligned.topics, table, strict=True)}

    def _values(self, column: _Column, aligned: Aligned) -> Floats:
        if column.measure is None:
            return np.zeros(len(aligned.topics))
        values = column.measure(aligned)
        if column.name.startswith("gm_"):  # the sum of logarithms comes later
            return np.log(np.maximum(values, GEOMETRIC_FLOOR))
        if column.name == "Rndcg":  # of graded measures only this one is 0 where no grade reaches the level
            return np.where(aligned.relevant(self._level) > 0, values, 0.0)
        return values


def _with_options(written: str, level: int, judged_only: bool) -> Measure | None:
    """The measure that is written so; None for texts."""
    if not written:
        return None
    measure = parse(written)
    # NumRet, which would otherwise count relevant documents, and graded measures have no level by default.
    binary = measure.entry.parameters.get("rel") is not None
    return measure(judged_only=judged_only, **({"rel": level} if binary else {}))


def _read(measures: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the name and the notation here of each value."""
    asked: dict[str, set[float]] = {}
    for text in [measures] if isinstance(measures, str) else measures:
        for each in supported_nicknames.get(text, {text}):
            name, numbers = _split(each)
            asked.setdefault(name, set()).update(numbers)
    for name, (written, usual, decimals) in _MEASURES.items():
        if name == "set_F" and asked.get(name):
            if len(asked[name]) > 1:
                raise InputError(f"set_F: expected one number, since its label has none, found {sorted(asked[name])}")
            yield name, name, f"SetF(beta={math.sqrt(*asked[name])!r})"  # the number is beta squared
        elif name in asked and not usual:
            yield name, name, written
        elif name in asked:
            for number in sorted(asked[name] or map(float, usual)):
                yield f"{name}_{number:.{decimals}f}", name, written.format(number if decimals else int(number))


def _split(text: str) -> tuple[str, set[float]]:
    """Split a name from its numbers."""
    if text in _MEASURES:
        return text, set()
    asked = _NUMBERED.fullmatch(text)
    if asked is None or asked["name"] not in _MEASURES:
        raise UnsupportedMeasureError("measure", text, _MEASURES)
    name, numbers = asked["name"], {float(number) for number in asked["numbers"].split(",")}
    whole = name not in ("set_F", "iprec_at_recall", "Rprec_mult")
    if not _MEASURES[name].numbers and name != "set_F":
        raise InputError(f"{text!r}: expected {name} without a number")
    if whole and not all(number.is_integer() for number in numbers):
        raise InputError(f"{text!r}: expected ranks (whole numbers)")
    if name == "iprec_at_recall" and max(numbers) > 1:
        raise InputError(f"{text!r}: expected recall levels from 0 to 1")
    return name, numbers


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run: ``query_id Q0 doc_id rank score name``.

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
    """Read the lines of qrels: ``query_id 0 doc_id grade``.

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
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if len(fields) != columns:
            raise InputError(f"line {number:,}: expected {columns} columns, found {len(fields)}")
        documents = parsed.setdefault(fields[0], {})
        if fields[2] in documents:
            raise InputError(f"line {number:,}: found document {fields[2]!r} of topic {fields[0]!r} twice")
        try:
            documents[fields[2]] = kind(fields[value])
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
    if measure.startswith("num_"):
        return float(np.sum(list(values)))
    mean = float(np.mean(list(values)))
    return math.exp(mean) if measure.startswith("gm_") else mean
