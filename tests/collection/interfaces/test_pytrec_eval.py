"""The interface of pytrec_eval, side by side with the installed package."""

import gzip
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import pytrec_eval as theirs
from hypothesis import given, strategies as st

from collection.core.errors import InputError
from collection.interfaces import pytrec_eval as ours
from tests.collection.interfaces.generated import Nested, cases, generated
from tests.helpers import ROOT, SHARED, tries

EVERYTHING = {"all_trec", "P_3", "ndcg_cut.1,7", "set_F.0.5", "iprec_at_recall.0.15,0.333", "Rprec_mult_0.7"}


def compare(
    qrels: dict[str, dict[str, int]], run: Nested, measures: set[str], level: int = 1, judged_only: bool = False
) -> Counter[str]:
    """Count equal values, and those that differ in the last digit; anything else fails.

    For topics without judged or without retrieved documents, pytrec_eval reads uninitialised memory and may crash: it
    is not asked about them, and the values here only have to be numbers.
    """
    judged = {topic: {doc_id for doc_id, grade in grades.items() if grade >= 0} for topic, grades in qrels.items()}
    asked = [topic for topic in run if qrels.get(topic)]
    left = {topic: run[topic].keys() & judged[topic] if judged_only else run[topic].keys() for topic in asked}
    safe = {topic: run[topic] for topic in asked if judged[topic] and left[topic]}
    expected = theirs.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(safe)
    found = ours.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(run)
    assert list(found) == asked
    assert np.isfinite([value for values in found.values() for value in values.values()]).all()
    counted: Counter[str] = Counter()
    for topic, values in expected.items():
        assert list(found[topic]) == list(values)
        for name, value in values.items():
            assert found[topic][name] == pytest.approx(value, rel=1e-14, abs=1e-14), (topic, name)
            counted["equal" if found[topic][name] == value else "nearly equal"] += 1
    return counted


@pytest.mark.slow
@tries(40)
@given(cases(), st.integers(1, 3), st.booleans())
def test_every_measure_on_small_cases(
    case: tuple[dict[str, dict[str, int]], Nested], level: int, judged_only: bool
) -> None:
    compare(*case, EVERYTHING, level, judged_only)


@pytest.mark.slow
@pytest.mark.long
def test_every_measure_on_random_cases() -> None:
    counted: Counter[str] = Counter()
    for seed in range(30):
        qrels, run = generated(seed)
        for level in (1, 2, 3):
            counted += compare(qrels, run, EVERYTHING, level, judged_only=seed % 2 == 1)
    assert counted["equal"] > 15_000
    assert counted["nearly equal"] < 0.02 * counted["equal"], "sums in another order"


@pytest.mark.slow
@pytest.mark.shared
def test_every_measure_on_a_run_of_trec() -> None:
    folder = SHARED / "data" / "trecdl19-runs"
    qrels = theirs.parse_qrel((folder / "qrels.txt").read_text().splitlines())
    with gzip.open(min((folder / "runs_full").glob("*.gz")), "rt") as file:
        run = theirs.parse_run(file)
    counted = compare(dict(qrels), run, {"all_trec"}) + compare(dict(qrels), run, {"all_trec"}, 2, judged_only=True)
    assert counted.total() == 2 * 43 * 95, "2 settings x topics x measures"


def test_names() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= {*dir(ours)}


def test_the_version_is_that_of_the_interface() -> None:
    assert ours.__version__ == theirs.__version__


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({1: {2: 1}}, {1: {2: 1.0}}),
        ({1: {"2": 1}}, {}),
        ({"1": {2: 1}}, {}),
        ({"1": {"2": 1}}, {1: {2: 1.0}}),
        ({"1": {"2": 1}}, {"1": {2: 1.0}}),
        ({"1": {"2": 1}}, {1: {"2": 1.0}}),
        ({"1": {"2": 1}}, {"1": {"2": 1.0}, "7": {2: 1.0}}),
    ],
)
def test_ids_that_are_not_strings_are_a_type_error(qrels: Any, run: Any) -> None:
    """As for pytrec_eval, which is not called here: it miscounts references then, which crashes Python 3.14."""
    with pytest.raises(TypeError, match=r"^Expected string as key\.$"):
        ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run)


def test_the_order_of_topics_and_measures() -> None:
    qrels, run = {"1": {"a": 1}, "2": {"a": 1}, "3": {}}, {"3": {"a": 1.0}, "2": {"a": 1.0}, "1": {"a": 1.0}}
    evaluator = ours.RelevanceEvaluator(qrels, ["ndcg", "P.10,5", "map", "P_5"])
    assert list(evaluator.evaluate(run)) == ["2", "1"]
    assert list(evaluator.evaluate(run)["1"]) == ["map", "P_5", "P_10", "ndcg"]
    assert evaluator.evaluate({}) == {}
    assert ours.RelevanceEvaluator(qrels, []).evaluate(run) == {"2": {}, "1": {}}
    assert ours.RelevanceEvaluator(query_relevance={}, measures="map").evaluate(scores=run) == {}


def test_input_that_crashes_pytrec_eval_has_a_value() -> None:
    found = ours.RelevanceEvaluator({"1": {"a": -2}}, {"map", "num_q"}).evaluate({"1": {"a": 1.0}})
    assert found == {"1": {"num_q": 1.0, "map": 0.0}}


@pytest.mark.parametrize("name", ["foo", "P_x", "Map", "prefs_simp", "P_5x", "P_-1", "prefs", "map_avgjg"])
def test_unknown_measures(name: str) -> None:
    with pytest.raises(ValueError, match="unknown measure"):
        ours.RelevanceEvaluator({"1": {"a": 1}}, {name})


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ({"map.5"}, "'map.5': expected map without a number"),
        ({"utility.1,2"}, "expected utility without a number"),
        ({"P_1.5"}, r"'P_1.5': expected ranks \(whole numbers\)"),
        ({"P_0"}, "P: expected cut-offs of 1 or more, found 0"),
        ({"set_F.0.5,2"}, r"set_F: expected one number, since its label has none, found \[0.5, 2.0\]"),
        ({"iprec_at_recall_5"}, "expected recall levels from 0 to 1"),
    ],
)
def test_parameters_that_pytrec_eval_ignores_are_errors(measures: set[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ours.RelevanceEvaluator({"1": {"a": 1}}, measures)


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="relevance_level: expected 1 or more, found 0"):
        ours.RelevanceEvaluator({"1": {"a": 1}}, {"map"}, relevance_level=0)
    with pytest.raises(InputError, match="expected numbers in the column relevance"):
        ours.RelevanceEvaluator({"1": {"a": "high"}}, {"map"})  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["qrels.txt", "bm25.run"])
def test_files_are_parsed_alike(name: str) -> None:
    parse = "parse_run" if name.endswith(".run") else "parse_qrel"
    with (ROOT / "docs" / "examples" / name).open() as file, (ROOT / "docs" / "examples" / name).open() as again:
        assert getattr(ours, parse)(file) == getattr(theirs, parse)(again)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 Q0 a 1 2.5", "line 2: expected 6 columns, found 5"),
        ("1 Q0 a 1 high x", "line 2: expected a number, found 'high'"),
        ("1 Q0 d 1 2.5 x", "line 2: found document 'd' of topic '1' twice"),
    ],
)
def test_lines_that_cannot_be_parsed(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ours.parse_run(["1 Q0 d 1 2.5 x", line])


def test_numbers_are_read_by_python_as_there() -> None:
    run = ["1 Q0 a 1 1_0 x", "1 Q0 b 2 inf x", "1 Q0 c 3 1e3 x"]
    assert ours.parse_run(run) == theirs.parse_run(run) == {"1": {"a": 10.0, "b": np.inf, "c": 1000.0}}
    assert ours.parse_qrel(["1 0 a 1_0"]) == theirs.parse_qrel(["1 0 a 1_0"]) == {"1": {"a": 10}}
    not_a_number = ours.parse_run(["1 Q0 a 1 nan x"])
    assert np.isnan(not_a_number["1"]["a"])
    assert np.isnan(theirs.parse_run(["1 Q0 a 1 nan x"])["1"]["a"])
    with pytest.raises(InputError, match="run: expected numbers as scores, found nan"):
        ours.RelevanceEvaluator({"1": {"a": 1}}, {"map"}).evaluate(not_a_number)


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_5"])
def test_aggregation(measure: str) -> None:
    values = np.random.default_rng(0).normal(size=50).tolist()
    assert ours.compute_aggregated_measure(measure, values) == theirs.compute_aggregated_measure(measure, values)


@pytest.mark.parametrize("grades", [{"d1": -1}, {"d1": -2}, {"d1": -1, "d2": -7}])
@pytest.mark.parametrize("judged_only", [False, True])
def test_a_topic_with_only_negative_grades_has_no_judged_document(grades: dict[str, int], judged_only: bool) -> None:
    """Where pytrec_eval itself may die, since trec_eval reads before its array of levels."""
    qrels = {"q0": {"a": 1}, "q1": grades}
    evaluator = ours.RelevanceEvaluator(qrels, ours.supported_measures, judged_docs_only_flag=judged_only)
    values = evaluator.evaluate({"q0": {"a": 1.0}, "q1": {"d1": 1.0, "x": 0.5}})
    alone = ours.RelevanceEvaluator({"q0": {"a": 1}}, ours.supported_measures, judged_docs_only_flag=judged_only)
    assert values["q0"] == alone.evaluate({"q0": {"a": 1.0}})["q0"]
    assert values["q1"]["num_ret"] == (0 if judged_only else 2)
    counts = {"num_q", "num_ret", "utility"}
    for name, value in values["q1"].items():
        assert name in counts or value == (pytest.approx(math.log(1e-5)) if name.startswith("gm_") else 0), name
