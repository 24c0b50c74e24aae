"""The provider of ir_measures against ir_measures' own providers, and by the definitions of those not installed."""

# ruff: noqa: F403, F405 (measures are imported as their users import them)

import json
import math
import shutil
from collections.abc import Iterator
from typing import Any

import ir_measures
import pandas as pd
import pytest
from ir_measures import *
from ir_measures.measures import registry
from ir_measures.providers import FallbackProvider

from collection.core.errors import InputError
from collection.interfaces import ir_measures_provider
from collection.interfaces.ir_measures_provider import CONVENTIONS, CleverdonProvider, translate
from tests.collection.interfaces.generated import Nested, as_frame, generated
from tests.helpers import GOLDEN, first_of

OWN = FallbackProvider(list(ir_measures.DefaultPipeline.providers))
OURS = CleverdonProvider()

BINARY = [
    P @ 5, P(rel=2) @ 3, P(judged_only=True) @ 3, RR, RR(rel=2), RR(judged_only=True), RR @ 3, RR(rel=2) @ 5, MRR @ 10,
    Rprec, Rprec(rel=2, judged_only=True), AP, AP @ 4, AP(rel=2) @ 4, AP(judged_only=True), MAP @ 2, R @ 3,
    R(rel=2) @ 3, R(judged_only=True) @ 3, Bpref, Bpref(rel=2), infAP, infAP(rel=2), Success @ 1,
    Success(rel=2, judged_only=True) @ 2, IPrec @ 0.1, IPrec @ 0.55,
    IPrec(judged_only=True) @ 0.3,
]  # fmt: skip
SETS = [
    NumRet, NumRet(rel=2), NumRelRet, NumQ, NumRel, SetAP, SetAP(rel=2), SetF, SetF(beta=2.0), SetF(beta=0.25, rel=2),
    SetP, SetP(relative=True), SetRelP, SetP(judged_only=True), SetR, SetR(rel=2), Judged, Judged @ 3,
]  # fmt: skip
GRADED = [nDCG, nDCG @ 4, nDCG(judged_only=True) @ 4, nDCG(gains={1: 3, 2: 1, 3: 7}) @ 5, nDCG(gains={0: 1, 1: 0})]
BY_PERL = [nDCG(dcg="exp-log2") @ 4, ERR @ 3]
USER_MODELS = [
    RBP(rel=1), RBP(rel=2, p=0.5), SDCG(max_rel=3) @ 4, SDCG(max_rel=2, dcg="log2") @ 4, BPM(max_rel=3) @ 5,
    BPM(max_rel=2, T=0.5, min_rel=0) @ 5, NERR8(max_rel=3) @ 5, NERR9(max_rel=3) @ 5, NERR10(max_rel=3),
    NERR10(max_rel=3, p=0.5), NERR11(max_rel=3), NERR11(max_rel=4, T=2.0), INST(max_rel=3), INST(max_rel=3, T=2.0),
    INSQ(max_rel=3),
]  # fmt: skip


def forms(qrels: dict[str, dict[str, int]], run: Nested) -> Iterator[tuple[Any, Any]]:
    """Everything that ir_measures takes."""
    judged, ranked = as_frame(qrels, "relevance"), as_frame(run, "score")
    yield qrels, run
    yield judged, ranked
    yield (
        iter([Qrel(*row) for row in judged.itertuples(index=False)]),
        iter([ScoredDoc(*row) for row in ranked.itertuples(index=False)]),
    )
    yield qrels, ranked
    yield judged, run


@pytest.mark.parametrize("seed", range(3))
def test_large_frames_give_the_same_values(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = generated(seed)
    frames = as_frame(qrels, "relevance"), as_frame(run, "score")
    measures = [AP, nDCG @ 5, RR @ 3, Judged @ 3, RBP(rel=1)]
    small = values_of(OURS.calc(measures, *frames))
    monkeypatch.setattr(ir_measures_provider, "SMALL", 0)
    assert values_of(OURS.calc(measures, *frames)) == small


def test_the_last_row_of_a_pair_in_a_frame_counts() -> None:
    qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "a"], "relevance": [1, 0, 0]})
    run = pd.DataFrame({"query_id": "1", "doc_id": ["b", "a", "b"], "score": [1.0, 2.0, 3.0]})
    assert values_of(OURS.calc([NumRelRet, Judged @ 1, SetP], qrels, run)) == values_of(
        OWN.calc([NumRelRet, Judged @ 1, SetP], qrels, run)
    )


def test_a_frame_without_a_score_is_refused() -> None:
    run = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [1.0, None]})
    with pytest.raises(InputError, match="row 2 has no score"):
        OURS.calc([AP], {"1": {"a": 1}}, run)


def values_of(found: ir_measures.CalcResults) -> dict[str, float]:
    each = {f"{metric.measure} of {metric.query_id}": metric.value for metric in found.per_query}
    return each | {f"{measure} of all": value for measure, value in found.aggregated.items()}


def compare(measures: list[ir_measures.Measure], seed: int, within: float = 1e-14) -> int:
    """Compare the values of all topics and over all topics; return how many.

    Cleverdon computes all measures at once; the provider there mixes up parameters then, and is asked for one by one.
    """
    qrels, run = generated(seed)
    judged = {topic: {doc_id for doc_id, grade in qrels[topic].items() if grade >= 0} for topic in qrels}
    if any(not judged[topic] & run[topic].keys() for topic in qrels.keys() & run.keys()):
        # trec_eval 9 reads uninitialised memory where nothing is left of a ranking.
        measures = [measure for measure in measures if measure != IPrec(judged_only=True) @ 0.3]
    assert all(map(OURS.supports, measures))
    expected: dict[str, float] = {}
    for measure in measures:
        expected |= values_of(OWN.calc([measure], qrels, run))
    for form in forms(qrels, run):
        assert values_of(OURS.calc(measures, *form)) == pytest.approx(expected, abs=within)
    return len(expected) * 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_of(range(12), 3))
def test_values_are_those_of_the_provider_there(seed: int) -> None:
    assert compare([*BINARY, *SETS, *GRADED], seed) > 500


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("perl"), reason="gdeval is a Perl script")
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_gdeval_to_its_five_decimals(seed: int) -> None:
    compare(BY_PERL, seed, within=5.1e-6)


# --- providers that may not be installed --------------------------------------------------------------


def by_cwl_eval(measure: ir_measures.Measure, grades: list[int]) -> float:
    """The value of a C/W/L measure from its continuation probabilities, to rank 1,000."""
    top = measure.params.get("max_rel")
    gains = [min(max(g, 0), top) / top if top else float(g >= measure["rel"]) for g in [*grades, *[0] * 1000][:1000]]
    cut = measure.params.get("cutoff", 1000)

    def goes_on(i: int) -> float:
        gain, name = gains[i - 1], measure.NAME
        if name in ("NERR11", "INSQ", "INST"):
            hoped = measure["T"]
            left = hoped - (sum(gains[:i]) if name == "INST" else 0)
            at = i + hoped + left
            return ((at - 1) / at) ** 2 * (1 - gain if name == "NERR11" else 1)
        return {
            "RBP": lambda: measure["p"],
            "SDCG": lambda: math.log2(i + 1) / math.log2(i + 2) if i < cut else 0,
            "BPM": lambda: float(sum(gains[:i]) < measure["T"] and i < cut),
            "NERR8": lambda: 1 - gain if i < cut else 0,
            "NERR9": lambda: i / (i + 1) * (1 - gain) if i < cut else 0,
            "NERR10": lambda: measure["p"] * (1 - gain),
        }[name]()

    weights = [1.0]
    for i in range(1, 1000):
        weights.append(weights[-1] * goes_on(i))
    return sum(w * g for w, g in zip(weights, gains, strict=True)) / sum(weights)


@pytest.mark.slow
@pytest.mark.parametrize("measure", USER_MODELS, ids=str)
def test_values_of_user_models_are_those_of_their_definition(measure: ir_measures.Measure) -> None:
    """Equal scores keep the order of the file, as in cwl_eval, and topics that the run lacks are 0."""
    for seed in range(5):
        qrels, run = generated(seed)
        expected = dict.fromkeys(qrels, 0.0)
        for topic in qrels.keys() & run.keys():
            order = sorted(run[topic], key=lambda doc_id: -run[topic][doc_id])
            expected[topic] = by_cwl_eval(measure, [qrels[topic].get(doc_id, 0) for doc_id in order])
        for form in forms(qrels, run):
            found = {metric.query_id: metric.value for metric in OURS.iter_calc([measure], *form)}
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.long
def test_subtopics_are_read_from_the_iteration() -> None:
    """The values are those of the golden file, which pyndeval wrote."""
    named = {"nERR-IA@5": nERR_IA @ 5, "alpha-nDCG@20": alpha_nDCG @ 20, "strec@5": StRecall @ 5, "NRBP": NRBP}
    compared = 0
    for rows, ranked, alpha, values in json.loads((GOLDEN / "ndeval.json").read_text()):
        qrels = [Qrel(topic, doc_id, grade, subtopic) for topic, subtopic, doc_id, grade in rows]
        for name, measure in named.items():
            asked = measure(alpha=alpha) if "alpha" in measure.SUPPORTED_PARAMS else measure
            if alpha != 0.5 and asked is measure and name != "strec@5":
                continue  # ERR_IA has no alpha there
            for run in ([ScoredDoc(*row) for row in ranked], pd.DataFrame(ranked, columns=ScoredDoc._fields)):
                assert OURS.calc_aggregate([asked], qrels, run)[asked] == pytest.approx(values[name], abs=1e-9)
                compared += 1
    assert compared > 100


def test_qrels_without_an_iteration_have_one_subtopic() -> None:
    found = OURS.calc_aggregate([StRecall @ 1, P @ 1], {"1": {"a": 1}}, {"1": {"a": 1.0}})
    assert set(found.values()) == {1.0}


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measure",
    [
        Accuracy, Compat, alpha_DCG @ 5, ERR, RBP, RBP(rel=1) @ 5, RBP(rel=1, p=0.99), nDCG(dcg="exp-log2"),
        nDCG(dcg="exp-log2", judged_only=True) @ 5, nDCG(gains={-1: 1}), nDCG(gains={1: -1}),
        nDCG(dcg="exp-log2", gains={1: 1}) @ 5, NumRel(rel=2), RR(judged_only=True) @ 5, IPrec @ 0.333,
        IPrec @ 5.0, ERR_IA @ 1, alpha_nDCG, nERR_IA(judged_only=True) @ 5,
        SDCG(max_rel=3) @ 1001, INST(max_rel=3, min_rel=1), INST(max_rel=3, T=0.1), AP @ 0, P(rel=0) @ 5,
        NRBP(beta=1.0), nNRBP(beta=2.0),
    ],
    ids=str,
)  # fmt: skip
def test_refused(measure: ir_measures.Measure) -> None:
    """No provider of ir_measures computes it, or the value of the provider differs."""
    assert translate(measure) is None
    with pytest.raises(ValueError, match="unsupported measure"):
        OURS.evaluator([measure], {"1": {"a": 1}})


def test_a_measure_defined_at_run_time_is_refused_whatever_its_name() -> None:
    measure = ir_measures.define_byquery(lambda qrels, run: 0.5, name="AP")
    assert not OURS.supports(measure)
    found = FallbackProvider([OURS, *OWN.providers]).calc_aggregate([measure, AP], {"1": {"a": 1}}, {"1": {"a": 1.0}})
    assert sorted(found.values()) == [0.5]


def test_every_measure_of_the_registry_is_computed_or_refused_by_decision() -> None:
    names = {measure.NAME for measure in registry.values()}
    assert names - CONVENTIONS.keys() == {"Accuracy", "Compat", "alpha_DCG"}
    assert CONVENTIONS.keys() <= names


def test_a_document_that_is_listed_twice_has_its_last_score_and_grade() -> None:
    ranked = pd.DataFrame(
        [("1", "x", 9.0), ("1", "b", 8.0), ("1", "a", 7.0), ("1", "x", 1.0)], columns=ScoredDoc._fields
    )
    judged = [Qrel("1", "a", 0), Qrel("1", "b", 1), Qrel("1", "a", 1)]
    measures = [RR, AP, P @ 2, NumRet, RR @ 5, RBP(rel=1)]
    found = OURS.calc_aggregate(measures, pd.DataFrame(judged), ranked)
    assert found == pytest.approx(OWN.calc_aggregate(measures[:-1], judged, ranked) | {RBP(rel=1): 0.2 * 1.8})
    assert found == OURS.calc_aggregate(measures, judged, [ScoredDoc(*row) for row in ranked.itertuples(index=False)])


# --- in ir_measures -----------------------------------------------------------------------------------


@pytest.fixture
def registered() -> Iterator[CleverdonProvider]:
    yield ir_measures_provider.register()
    ir_measures_provider.unregister()


def test_ir_measures_asks_cleverdon_first_and_falls_back(registered: CleverdonProvider) -> None:
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    assert names == ["cleverdon", *(provider.NAME for provider in OWN.providers)]
    assert ir_measures.providers.registry["cleverdon"] is registered
    ir_measures_provider.register()
    assert names == [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    qrels, run = generated(3)
    assert isinstance(ir_measures.evaluator([AP, nDCG @ 10], qrels), ir_measures_provider.Evaluator)
    mixed = ir_measures.calc_aggregate([AP, Compat], iter([Qrel("1", "a", 1)]), iter([ScoredDoc("1", "a", 1.0)]))
    assert mixed == {AP: 1.0, Compat: 1.0}
    assert list(ir_measures.iter_calc([AP], qrels, run))


def test_the_order_of_measures_is_the_same_in_every_process(registered: CleverdonProvider) -> None:
    """ir_measures passes a set of measures; PyTerrier takes the order of columns from the values."""
    asked = [nDCG @ 10, P @ 5, AP, RR, Rprec, Success @ 1, Bpref, NumQ]
    for order in (asked, asked[::-1]):
        values = ir_measures.calc(order, {"1": {"a": 1}}, {"1": {"a": 1.0}}).per_query
        assert [metric.measure for metric in values] == sorted(asked, key=str)
    assert list(registered.calc_aggregate(asked, {"1": {"a": 1}}, {"1": {"a": 1.0}})) == asked


def test_a_frame_without_rows(registered: CleverdonProvider) -> None:
    """PyTerrier passes such a frame for topics without results."""
    empty = pd.DataFrame([], columns=["query_id", "doc_id", "score"])
    values = ir_measures.calc([AP, NumQ], {"1": {"a": 1}, "2": {}}, empty)
    assert values.aggregated == {AP: 0.0, NumQ: 0}
    assert sorted({metric.query_id for metric in values.per_query}) == ["1", "2"]
