"""A provider for ir_measures, and so for PyTerrier, whose experiments evaluate with ir_measures.

    from collection.interfaces import ir_measures_provider

    ir_measures_provider.register()

ir_measures asks its providers for each measure in a fixed order and has no entry point for others. After
:func:`register` it asks Cleverdon first, and its own providers for what Cleverdon refuses.

Values are those of ir_measures' own providers: each measure has the order of equal scores and the conventions of the
provider that computes it there, except that the measures of gdeval are not rounded to five decimals, and that nNRBP of
a topic without a relevant document is 0, not nan. Cleverdon refuses measures that no provider of ir_measures computes,
and those that it defines differently: Accuracy, Compat and alpha_DCG.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import CalcResults, Metric, providers
from ir_measures.providers.base import NOT_PROVIDED
from ir_measures.util import QrelsConverter, RunConverter

from collection.core.errors import CleverdonError
from collection.core.ranking import rank_run
from collection.formats.in_memory import as_qrels, may_repeat_pairs
from collection.interfaces.nested_dictionaries import Nested, NestedQrels, TieOrder
from collection.measures import Aligned, Measure, Version, align, parse_name
from collection.measures.user_models import DEPTH

__all__ = ["CleverdonProvider", "register", "unregister"]


class Convention(NamedTuple):
    """Adapter by which a provider of ir_measures reads runs and qrels."""

    ties: TieOrder = "descending"
    """Order of documents with equal scores."""
    version: Version = 10
    """9: scores are 32-bit floats, and recall levels are rounded up."""
    subtopics: bool = False
    """Whether the iteration of a row of the qrels is a subtopic."""
    any_grade: bool = False
    """Whether documents with a grade below 0 are judged."""


PYTREC_EVAL = Convention(version=9)
GDEVAL = Convention()
MSMARCO = Convention(ties="ascending")
JUDGED = Convention(ties="ascending", any_grade=True)
CWL_EVAL = Convention(ties="listed")
PYNDEVAL = Convention(ties="ascending", subtopics=True)

CONVENTIONS = {
    **dict.fromkeys(("P", "RR", "Rprec", "AP", "nDCG", "R", "Bpref", "NumRet", "NumQ", "NumRel", "SetAP", "SetF",
                     "SetP", "SetR", "Success", "IPrec", "infAP"), PYTREC_EVAL),
    "ERR": GDEVAL,
    "Judged": JUDGED,
    **dict.fromkeys(("RBP", "SDCG", "BPM", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"), CWL_EVAL),
    **dict.fromkeys(("ERR_IA", "nERR_IA", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"), PYNDEVAL),
}  # fmt: skip
"""Measure of ir_measures -> the convention of the provider that computes it; some depend on parameters."""

HIGHEST_PERSISTENCE = 0.97
"""Highest persistence of RBP at which the weights beyond the rank at which cwl_eval ends are negligible."""


class Request(NamedTuple):
    """A measure of ir_measures, the convention that applies, and the measure here that has its values."""

    requested: ir_measures.Measure
    convention: Convention
    measure: Measure


def translate(requested: ir_measures.Measure) -> Request | None:
    """Translate a measure of ir_measures; None if its value is not computed here.

    >>> from ir_measures import ERR, RR, SetF
    >>> [str(translate(m).measure) for m in (RR(rel=2) @ 10, SetF(beta=4.0), ERR @ 20)]
    ['RR(rel=2)@10', 'SetF(beta=2)', 'ERR(max_rel=4)@20']
    >>> translate(ERR)
    """
    requested.validate_params()
    name = requested.NAME
    # A measure that was defined at run time may reuse a name.
    if name not in CONVENTIONS or type(requested) is not type(ir_measures.measures.registry[name]):
        return None
    given = {key: value for key, value in requested.params.items() if value is not NOT_PROVIDED}
    level = given.pop(requested.AT_PARAM, None)
    convention = _convention(name, level, given)
    if convention is None:
        return None
    if name == "SetF":
        given["beta"] = math.sqrt(given.get("beta", 1.0))
    if name == "ERR":
        given["max_rel"] = 4
    if convention is CWL_EVAL:
        given = {key: value for key, value in given.items() if key not in ("min_rel", "dcg")}
    try:
        return Request(requested, convention, Measure(parse_name(name).name, given, level))
    except CleverdonError:
        return None


def _convention(name: str, level: float | None, given: Mapping[str, Any]) -> Convention | None:
    """The convention of the provider that computes a measure with these parameters; None if there is none."""
    convention = CONVENTIONS[name]
    if name == "RR" and level is not None:
        convention = MSMARCO
    if name == "nDCG" and given.get("dcg") == "exp-log2":
        convention = GDEVAL
    cut = name in ("ERR_IA", "nERR_IA", "alpha_nDCG", "P_IA", "StRecall") or convention is GDEVAL
    refused = (
        (cut and level is None)
        or (convention is not PYTREC_EVAL and given.get("judged_only", False))
        or (convention is GDEVAL and "gains" in given)
        or (name == "nDCG" and min(given.get("gains", {0: 0})) < 0)  # grades below 0 are unjudged here
        or (name == "NumRel" and given.get("rel", 1) != 1)
        or (name == "IPrec" and level is not None and (level > 1 or round(level, 2) != level))  # two decimals there
        or (name == "RBP" and (level is not None or "rel" not in given or given.get("p", 0) > HIGHEST_PERSISTENCE))
        or (name == "SDCG" and level is not None and level > DEPTH)  # cwl_eval ends there
        or given.get("min_rel", 0) != 0
        or (name == "ERR_IA" and level == 1)  # which ndeval does not normalise
    )
    return None if refused else convention


class CleverdonProvider(providers.Provider):  # type: ignore[misc]
    """Computes the measures of ir_measures that :func:`translate` knows."""

    NAME = "cleverdon"

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Return whether the measure, with these parameters, is computed here."""
        return translate(measure) is not None

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> Evaluator:
        requests = []
        # ir_measures passes a set, whose order differs from process to process.
        for measure in sorted(measures, key=str) if isinstance(measures, set) else measures:
            request = translate(measure)
            if request is None:
                raise ValueError(f"unsupported measure {measure}")
            requests.append(request)
        return Evaluator(requests, qrels)


class Evaluator(providers.Evaluator):  # type: ignore[misc]
    """Qrels that are ready for any number of runs."""

    def __init__(self, requests: list[Request], qrels: Any) -> None:
        self._requests: dict[Convention, list[Request]] = {}
        for request in requests:
            self._requests.setdefault(request.convention, []).append(request)
        with_subtopics = any(convention.subtopics for convention in self._requests)
        given = qrels if isinstance(qrels, dict) else _read_qrels(qrels, with_subtopics)
        prepared: dict[tuple[bool, bool], NestedQrels] = {}
        self._qrels = {}
        for convention in self._requests:
            key = convention.subtopics, convention.any_grade
            if key not in prepared:
                prepared[key] = _prepare(given, convention)
            self._qrels[convention] = _Qrels(prepared[key], convention)
        topics = given["query_id"].astype("str").unique() if isinstance(given, pd.DataFrame) else given
        super().__init__([request.requested for request in requests], set(topics))

    def _columns(self, run: Any) -> Iterator[tuple[ir_measures.Measure, list[str], list[float]]]:
        """Yield each measure with its topics and their values."""
        if not isinstance(run, pd.DataFrame):
            run = RunConverter(run).as_dict_of_dict()
        elif (nested := _as_nested(run, "score")) is not None:
            run = nested
        elif may_repeat_pairs(run):  # the last row counts, as in a dictionary
            run = run.drop_duplicates(["query_id", "doc_id"], keep="last")
        for convention, requests in self._requests.items():
            aligned, present = self._qrels[convention].align(run)
            topics = [topic for topic, here in zip(aligned.topics, present.tolist(), strict=True) if here]
            lacking = sorted(self.qrel_qids.difference(topics))
            for requested, _, measure in requests:
                values = measure(aligned)[present].tolist()
                yield requested, topics + lacking, values + [requested.DEFAULT] * len(lacking)

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the value of each topic and measure."""
        for requested, topics, values in self._columns(run):
            for topic, value in zip(topics, values, strict=True):
                yield Metric(query_id=topic, measure=requested, value=value)

    def calc_aggregate(self, run: Any) -> dict[ir_measures.Measure, float]:
        """Return the value of each measure over all topics."""
        return self.calc(run).aggregated

    def calc(self, run: Any) -> CalcResults:
        """Return the values over all topics and those of each topic."""
        overall, each = {}, []
        for requested, topics, values in self._columns(run):
            aggregator = requested.aggregator()
            for topic, value in zip(topics, values, strict=True):
                aggregator.add(value)
                each.append(Metric(query_id=topic, measure=requested, value=value))
            overall[requested] = aggregator.result()
        return CalcResults(overall, each)


SMALL = 100_000
"""Rows of a frame up to which it is read as a dictionary, without the many small steps of pandas."""


def _read_qrels(qrels: Any, with_subtopics: bool) -> pd.DataFrame | Nested:
    """Read a frame or tuples, as a dictionary if possible."""
    converter = QrelsConverter(qrels)
    if with_subtopics:
        return converter.as_pd_dataframe()
    if converter.predict_type()[0] != "pd_dataframe":
        return converter.as_dict_of_dict()
    nested = _as_nested(qrels, "relevance")
    return qrels if nested is None else nested


def _as_nested(frame: pd.DataFrame, value: str) -> Nested | None:
    """A small frame of texts and numbers as ``{query_id: {doc_id: value}}``, in which the last row of a pair counts."""
    if len(frame) > SMALL or not {"query_id", "doc_id", value} <= set(frame.columns):
        return None
    topics, documents, values = (frame[name].tolist() for name in ("query_id", "doc_id", value))
    if not {*map(type, topics), *map(type, documents)} <= {str} or not {*map(type, values)} <= {int, float}:
        return None
    if any(map(math.isnan, values)):
        return None
    nested: dict[str, dict[str, float]] = {topic: {} for topic in topics}
    for topic, doc_id, number in zip(topics, documents, values, strict=True):
        nested[topic][doc_id] = number
    return nested


def _prepare(given: pd.DataFrame | Nested, convention: Convention) -> NestedQrels:
    """Prepare qrels as one provider of ir_measures reads them."""
    pair = ["query_id", "doc_id"]
    if convention.subtopics:
        frame = given if isinstance(given, pd.DataFrame) else as_qrels(given)
        given = frame.assign(subtopic=frame.get("iteration", "0"))
    elif isinstance(given, pd.DataFrame):
        given = given[[*pair, "relevance"]].drop_duplicates(pair, keep="last")
    return NestedQrels(given, any_grade=convention.any_grade)


class _Qrels(NamedTuple):
    """Qrels as one provider of ir_measures reads them."""

    nested: NestedQrels
    convention: Convention

    def align(self, run: Any) -> tuple[Aligned, np.ndarray]:
        """Align a frame or a nested dictionary; the second is (T,), whether the run has the topic."""
        ties, version = self.convention.ties, self.convention.version
        if not isinstance(run, pd.DataFrame):
            aligned = self.nested.align(run, ties=ties, version=version)
            return aligned, np.ones(len(aligned.topics), dtype=np.bool_)
        if ties == "listed":
            ranked = rank_run(run)
            run = ranked.assign(score=-ranked["listed"])
        elif ties == "ascending":
            backwards = rank_run(run.assign(score=-run["score"]))
            run = backwards.assign(score=backwards["rank"])
        aligned = align(run, self.nested.index, version=version)
        return aligned, aligned.retrieved > 0


def register() -> CleverdonProvider:
    """Make ir_measures ask Cleverdon first for each measure, and its own providers for what it refuses.

    Returns
    -------
    CleverdonProvider
        The provider, which can be asked directly, too: ``register().calc([nDCG @ 10], qrels, run)``.
    """
    unregister()
    provider = providers.register(CleverdonProvider())
    ir_measures.DefaultPipeline.providers.insert(0, provider)
    return provider


def unregister() -> None:
    """Make ir_measures ask its own providers only, as before :func:`register`."""
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [provider for provider in pipeline if not isinstance(provider, CleverdonProvider)]
    providers.registry.pop(CleverdonProvider.NAME, None)
