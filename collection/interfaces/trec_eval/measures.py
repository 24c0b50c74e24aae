"""The measures of trec_eval 10 under their names, in the order of its output.

Most are measures of :data:`collection.measures.MEASURES` under another name. The others are those that trec_eval
computes differently, or from other judgements than qrels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.interfaces.trec_eval import preferences
from collection.interfaces.trec_eval.preferences import TopicPreferences
from collection.measures import MEASURES, UNJUDGED, UNPOOLED, Aligned, divide
from collection.measures.graded import gain_of, rank_biased_precision, rbp_residual
from collection.measures.names import CUTOFFS, FIFTHS, TENTHS
from collection.measures.ranked import combine_f, interpolated_precision
from collection.measures.sets import linear_utility, set_precision, set_recall
from collection.measures.table import TopicSummary

Takes = Literal["nothing", "cutoffs", "levels", "numbers", "gains", "persistence"]
"""Parameters after the dot of ``-m NAME.``: ranks or levels, with one value each; or numbers, ``grade=gain``, or that
and ``p=number``, which together give one value."""

NeededJudgements = Literal["any", "qrels", "groups", "preferences"]
"""The judgements that a measure reads."""


class Graded(NamedTuple):
    """A run aligned with qrels, the minimum relevant grade, and the number of documents in the collection.

    With levels below 0, measures in :data:`BY_RANK` read the run `by_rank`, in which documents without a grade count.
    """

    aligned: Aligned
    level: int
    documents: int
    by_rank: Aligned | None = None


BY_RANK = frozenset(
    {
        "P",
        "map",
        "gm_map",
        "Rprec",
        "recip_rank",
        "iprec_at_recall",
        "recall",
        "Rprec_mult",
        "map_cut",
        "relative_P",
        "success",
    }
)
"""Measures that compare the grade at each rank with the level, where trec_eval does not ask whether there is one."""


class GradedGroups(NamedTuple):
    """Give, per group of judgements in the order of names, the places of its topics, and its :class:`Graded`.

    `topics` is the number of topics that any group judged.
    """

    topics: int
    groups: list[tuple[Ints, Graded]]


@dataclass(frozen=True)
class TrecMeasure:
    """A measure of trec_eval.

    Attributes
    ----------
    name, description
        Its name there, and what it is in one line.
    function
        (judgements, argument) -> one value per topic; `judgements` as `needs` says. The argument is a cut-off or
        level, a tuple of numbers, or a mapping; measures that take nothing have none. Texts instead of numbers for
        those whose values are texts.
    takes, usual
        The parameters that the command line can set, and the default cut-offs, levels or numbers.
    needs
        The judgements that it reads.
    summary
        How the values of the topics become one.
    whole
        Whether values are printed without decimals.
    by_topic
        Whether values of single topics are printed.
    cleared
        Whether trec_eval sets the value of a topic that the run lacks to 0; with numbers on the command line, it does
        so only for cut-offs.
    """

    name: str
    description: str
    function: Callable[..., Floats | Sequence[str]]
    takes: Takes = "nothing"
    usual: tuple[float, ...] = ()
    needs: NeededJudgements = "qrels"
    summary: TopicSummary = "mean"
    whole: bool = False
    by_topic: bool = True
    cleared: bool = False


def _same(
    name: str, ours: str, takes: Takes = "nothing", usual: tuple[float, ...] = (), about: str = "", **fixed: object
) -> TrecMeasure:
    """A measure of our own table under trec_eval's name, with `fixed` parameters and, if given, another description."""
    entry = MEASURES[ours]
    parameters = inspect.signature(entry.function).parameters
    by_level = "rel" in parameters and parameters["rel"].default == 1
    argument = {"cutoffs": "cutoff", "levels": "mult" if "mult" in parameters else "recall", "gains": "gains"}.get(
        takes
    )

    def compute(graded: Graded, value: object = None) -> Floats:
        keywords = fixed | ({"rel": graded.level} if by_level else {}) | ({argument: value} if argument else {})
        by_rank = graded.by_rank if name in BY_RANK else None
        return entry.function(graded.aligned if by_rank is None else by_rank, **keywords)

    return TrecMeasure(
        name,
        about or entry.description,
        compute,
        takes,
        usual,
        summary=entry.summary,
        whole=entry.summary == "sum",
        by_topic=entry.summary != "geometric mean",
    )


def _nothing(_: object) -> tuple[str, ...]:
    """No values of topics; the evaluation sets the summary."""
    return ()


def _ones(judgements: Graded | GradedGroups | Sequence[TopicPreferences]) -> Floats:
    """1 for every topic."""
    if isinstance(judgements, Graded):
        return np.ones(len(judgements.aligned.topics))
    return np.ones(judgements.topics if isinstance(judgements, GradedGroups) else len(judgements))


def grade_string(graded: Graded, numbers: tuple[float, ...]) -> list[str]:
    """The grades of the first documents of each topic, one sign each: a digit, ``>`` above 9, ``-`` if not pooled."""
    top = graded.aligned.top(max(0, int(numbers[0])))
    signs = np.full(top.shape, ">")
    for grade in range(10):
        signs[top == grade] = str(grade)
    signs[top == UNJUDGED] = "."
    signs[top == UNPOOLED] = "-"
    lengths = graded.aligned.within(top.shape[1])
    return ["".join(row[:length]) for row, length in zip(signs.tolist(), lengths.tolist(), strict=True)]


def average_interpolated_precision(graded: Graded, levels: tuple[float, ...]) -> Floats:
    """The mean of the interpolated precisions at these recall levels."""
    if list(levels) != sorted(levels):
        raise InputError("11pt_avg: expected recall levels in ascending order; trec_eval averages others wrongly")
    total = np.zeros(len(graded.aligned.topics))
    for level in reversed(levels):  # as trec_eval adds them, for the same last digit
        total += interpolated_precision(graded.aligned, recall=level, rel=graded.level)
    return total / len(levels)


def set_f(graded: Graded, numbers: tuple[float, ...]) -> Floats:
    """F = (x + 1) P R / (x P + R)."""
    aligned, level = graded.aligned, graded.level
    return combine_f(set_precision(aligned, rel=level), set_recall(aligned, rel=level), numbers[0])


def utility(graded: Graded, numbers: tuple[float, ...]) -> Floats:
    """The linear utility; without -N, the collection has 0 documents."""
    if len(numbers) != 4:
        raise InputError(f"utility: expected 4 numbers, such as utility.1,-1,0,0, found {len(numbers)}")
    a, b, c, d = numbers
    return linear_utility(graded.aligned, graded.level, (a, b, c, d), graded.documents)


def ndcg_at_relevant(graded: Graded, gains: Mapping[int, float]) -> Floats:
    """nDCG_rel, but 0 where gains below 0 make it negative."""
    return np.maximum(MEASURES["nDCG_rel"].function(graded.aligned, gains=gains), 0.0)


def ndcg_at_levels(graded: Graded, gains: Mapping[int, float]) -> Floats:
    """RnDCG, but 0 for a topic without a relevant document."""
    values = MEASURES["RnDCG"].function(graded.aligned, gains=gains)
    return np.where(graded.aligned.relevant(graded.level) > 0, values, 0.0)


def rbp(graded: Graded, pairs: Mapping[str | int, float]) -> Floats:
    """RBP with p = 0.9 or the p given, and the gains given; in a topic with other gains than 0 to 1, scaled to these.

    trec_eval compares the gains with a lowest and a highest one that it never set; here both are 0 at first.
    """
    gains = {grade: gain for grade, gain in pairs.items() if isinstance(grade, int)}
    aligned = graded.aligned
    highest = aligned.judged.max(axis=1, initial=0).astype(np.float64)  # the highest grade whose gain is itself
    for grade in sorted(gains, reverse=True):
        highest[highest == grade] -= 1
    high, low = np.maximum(highest, max(gains.values(), default=0)), min([0.0, *gains.values()])
    gain = gain_of(aligned.grades, gains=gains)
    beyond = ((low < 0) | (high > 1))[:, None]
    gain = np.where(beyond, divide(gain - low, (high - low)[:, None]), gain)
    scaled = replace(aligned, grades=np.where(aligned.grades >= 0, gain, aligned.grades))
    return rank_biased_precision(scaled, p=pairs.get("p", 0.9), max_rel=1)


def residual(graded: Graded, pairs: Mapping[str | int, float]) -> Floats:
    """The residual of RBP, but 0 where no retrieved document is unjudged."""
    values = rbp_residual(graded.aligned, p=pairs.get("p", 0.9))
    return np.where(graded.aligned.unjudged() > 0, values, 0.0)


def _mean_over_groups(measure: TrecMeasure) -> TrecMeasure:
    """The same measure for each group of judgements of a topic, and their mean."""

    def compute(groups: GradedGroups, *argument: object) -> Floats:
        total, number = np.zeros(groups.topics), np.zeros(groups.topics)
        for places, graded in groups.groups:
            total[places] += np.asarray(measure.function(graded, *argument))
            number[places] += 1
        return divide(total, number)

    description = measure.description.removesuffix(".") + ", averaged over the groups of judgements."
    return replace(measure, name=f"{measure.name}_avgjg", description=description, function=compute, needs="groups")


def _preference_measure(name: str, description: str, function: Callable[..., float], **more: Any) -> TrecMeasure:
    """A measure of the preferences of single topics."""

    def compute(topics: Sequence[TopicPreferences]) -> Floats:
        return np.array([function(topic) for topic in topics], dtype=np.float64)

    return TrecMeasure(name, description, compute, needs="preferences", **more)


_P = _same("P", "P", "cutoffs", CUTOFFS)
_MAP = _same("map", "AP")
_RPREC_MULT = _same("Rprec_mult", "Rprec", "levels", FIFTHS, "Precision at multiples of R.")

_ROWS = (
    TrecMeasure("runid", "Name of the run: the tag of its last line.", _nothing, needs="any", by_topic=False),
    TrecMeasure("num_q", "Number of topics.", _ones, needs="any", summary="sum", whole=True, by_topic=False),
    replace(_same("num_ret", "NumRet"), cleared=True),
    _same("num_rel", "NumRel"),
    _same("num_rel_ret", "NumRelRet"),
    _MAP,
    _same("gm_map", "GMAP"),
    _same("Rprec", "Rprec"),
    _same("bpref", "bpref"),
    _same("recip_rank", "RR"),
    _same("iprec_at_recall", "IPrec", "levels", TENTHS),
    _P,
    TrecMeasure(
        "relstring", "Grades of the first documents, one sign for each.", grade_string, "numbers", (10,), cleared=True
    ),
    _same("recall", "R", "cutoffs", CUTOFFS),
    _same("infAP", "infAP"),
    _same("gm_bpref", "GMbpref"),
    _RPREC_MULT,
    TrecMeasure(
        "utility", "Linear utility: weights of relevant and other documents, retrieved or not.", utility, "numbers",
        (1, -1, 0, 0), cleared=True,
    ),
    TrecMeasure(
        "11pt_avg", "Mean of the interpolated precisions at recall levels.", average_interpolated_precision, "numbers",
        TENTHS,
    ),
    _same("binG", "binG"),
    _same("G", "G", "gains"),
    _same("dcg", "DCG", "gains"),
    _same("ideal_dcg", "IDCG", "gains"),
    _same("ndcg", "nDCG", "gains"),
    replace(_same("ndcg_rel", "nDCG_rel", "gains"), function=ndcg_at_relevant),
    replace(_same("Rndcg", "RnDCG", "gains"), function=ndcg_at_levels),
    _same("ndcg_cut", "nDCG", "cutoffs", CUTOFFS, "ndcg of the first k ranks."),
    _same("map_cut", "AP", "cutoffs", CUTOFFS, "map of the first k ranks."),
    _same("relative_P", "P", "cutoffs", CUTOFFS, "P divided by the largest P possible at that rank.", relative=True),
    _same("success", "Success", "cutoffs", (1, 5, 10)),
    _same("set_P", "SetP"),
    _same("set_relative_P", "SetP", about="set_P divided by the largest set_P possible.", relative=True),
    _same("set_recall", "SetR"),
    _same("set_map", "SetAP"),
    TrecMeasure("set_F", "F of the retrieved set; its number is the weight of recall.", set_f, "numbers", (1,)),
    _same("num_nonrel_judged_ret", "NumNonrelRet"),
    *(
        _preference_measure(name, description, function, summary="sum", whole=True)
        for name, description, function in preferences.COUNTS
    ),
    *(_preference_measure(*row) for row in preferences.RATIOS),
    _mean_over_groups(_MAP),
    _mean_over_groups(_P),
    _mean_over_groups(_RPREC_MULT),
    _same("yaap", "YAAP"),
    TrecMeasure("rbp", "Rank-biased precision; p=0.9 sets the persistence.", rbp, "persistence"),
    TrecMeasure(
        "rbp_resid", "Increase of rbp if every unjudged document had the highest gain.", residual, "persistence",
        cleared=True,
    ),
    replace(_same("unj", "Unjudged", "cutoffs", (5, 10, 20)), cleared=True),
)  # fmt: skip

TREC_MEASURES = {row.name: row for row in _ROWS}
"""Name -> measure, in the order of the output."""

_OFFICIAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
_PREFERENCES = tuple(name for name, row in TREC_MEASURES.items() if row.needs == "preferences")

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": (
        "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall", "set_relative_P",
        "set_map", "set_F",
    ),
    "all_trec": tuple(
        name
        for name, row in TREC_MEASURES.items()
        if row.needs in ("any", "qrels") and name not in ("dcg", "ideal_dcg", "yaap")
    ),
    "prefs": ("runid", "num_q", *_PREFERENCES[:6]),
    "all_prefs": ("runid", "num_q", *_PREFERENCES),
    "qrels_jg": ("runid", "num_q", *(name for name, row in TREC_MEASURES.items() if row.needs == "groups")),
}  # fmt: skip
"""Name -> the measures that it stands for."""
