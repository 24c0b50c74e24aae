"""Machine labels beside people's grades."""

import json
from pathlib import Path

import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.core.records import Run
from collection.machine_labels import compare_with_people

LLMJUDGE = Path(__file__).parents[4] / "shared" / "data" / "llmjudge-labels"


def frame(*grades: float, topic: str = "1") -> pd.DataFrame:
    return pd.DataFrame({"query_id": topic, "doc_id": [f"d{n}" for n in range(len(grades))], "relevance": grades})


def test_bias_and_disagreement_by_grade_topic_and_run() -> None:
    people = pd.concat([frame(0, 0, 2, 3), frame(1, 1, topic="2")])
    labels = pd.concat([frame(0, 2, 2, 1), frame(1, 2, topic="2"), frame(3, topic="3")])
    run = Run("bm25", frame(4.0, 3.0).rename(columns={"relevance": "score"}))
    found = compare_with_people(labels, people, [run], [0, 1, 2, 3], resamples=0)
    assert (found.pairs, found.same) == (6, 3)
    assert found.grades.to_numpy().tolist() == [[0, 2, 0.5, 1.0], [1, 2, 0.5, 0.5], [2, 1, 1.0, 0.0], [3, 1, 0.0, -2.0]]
    assert found.topics["bias"].tolist() == [0.0, 0.5]
    assert found.topics["disagreement"].tolist() == [8 / 9, 1 / 9]
    assert found.runs.to_dict("records") == [{"run": "bm25", "pairs": 2, "same": 0.5, "bias": 1.0}]
    assert found.confusion.loc[0].tolist() == [1, 0, 1, 0]


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(InputError, match="expected pairs with a label and a grade by people, found none"):
        compare_with_people(frame(1), frame(1, topic="2"), [], [0, 1])
    with pytest.raises(InputError, match="expected labels that are grades of the scale, found 0.5"):
        compare_with_people(frame(0.5), frame(1), [], [0, 1])


@pytest.mark.shared
def test_kappa_of_real_judges_is_as_published() -> None:
    labels = pd.read_csv(LLMJUDGE / "labels.csv.gz", dtype={"qid": "str", "docno": "str"})
    labels = labels.rename(columns={"qid": "query_id", "docno": "doc_id", "grade": "relevance"})
    by_name = dict(iter(labels.groupby("annotator")))
    expected = json.loads((LLMJUDGE / "expected_agreement.json").read_text())[0]["pairwise"]
    with_people = [pair for pair in expected if "human_nist" in (pair["a"], pair["b"])]
    assert with_people
    for pair in with_people:
        judge = pair["a"] if pair["b"] == "human_nist" else pair["b"]
        found = compare_with_people(by_name[judge], by_name["human_nist"], [], [0, 1, 2, 3], resamples=0)
        values = found.coefficients[found.coefficients["scale"] == "graded"].set_index("coefficient")["value"]
        assert values["cohen"] == pytest.approx(pair["kappa_none"], abs=1e-6)
        assert values["cohen-quadratic"] == pytest.approx(pair["kappa_quadratic"], abs=1e-6)
        assert found.same / found.pairs == pytest.approx(pair["agree"], abs=1e-6)
