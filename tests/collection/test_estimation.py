"""Estimation from runs and qrels: which pairs are in the pool, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from collection import estimation
from collection.comparison import evaluate
from collection.core.errors import InputError
from collection.core.records import Run
from collection.estimation import estimate, explain_refusal
from collection.measures import MEASURES

pytestmark = pytest.mark.slow

TOPICS = ["1", "2", "3"]
MEASURE_NAMES = ["nDCG@5", "AP", "RR", "P@3", "R@5", "ERR@5", "RBP(p=0.8)", "bpref", "GMAP", "NumRelRet", "Rprec"]


def run(name: str, order: str, topics: list[str] = TOPICS) -> Run:
    rows = [(q, d, 20.0 - n) for q in topics for n, d in enumerate(order)]
    return Run(name, pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]))


def graded(grades: dict[str, int], topics: list[str] = TOPICS) -> pd.DataFrame:
    rows = [(q, d, g) for q in topics for d, g in grades.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


RUNS = [run("x", "abcdefgh"), run("y", "hgfedcba", ["1", "2"]), run("z", "cadbhgef")]
ALL = {"a": 2, "b": 0, "c": 1, "d": 0, "e": 3, "f": 0, "g": 1, "h": 0}
SOME = {"a": 2, "b": 0, "c": 1, "d": 0}


def test_of_a_judged_pool_the_estimates_are_the_values() -> None:
    qrels = graded(ALL)
    found = estimate(RUNS, qrels, MEASURE_NAMES)
    known = evaluate(RUNS, qrels, MEASURE_NAMES)
    assert found.values["estimate"].tolist() == known.values["value"].tolist()
    assert (found.values["estimate"] == found.values["estimate_low"]).all()
    assert (found.values["estimate"] == found.values["estimate_high"]).all()
    assert found.values[["run", "query_id", "measure"]].equals(known.values[["run", "query_id", "measure"]])
    assert set(found.pairs["probability_better"]) <= {0.0, 1.0}
    assert found.pool[:3] == (3, 24, 0)
    assert "y: 1 of 3 topics missing; missing topics count as empty rankings" in found.notes


def test_the_pool_is_what_the_measure_sees_and_what_the_qrels_have() -> None:
    # The first two of x, y and z are a, b, c, and in topics 1 and 2, which y has, h and g; d is judged.
    found = estimate(RUNS, graded(SOME), "P@2")
    assert found.pool[:3] == (3, 12, 4)
    assert "the pool has the first 2 documents of each run and the pairs of the qrels" in found.notes
    deeper = estimate(RUNS, graded(SOME), "P@2", depth=8)
    assert deeper.pool[:3] == (3, 12, 12)
    assert estimate(RUNS, graded(SOME), ["P@2", "AP"]).pool.unjudged == 12  # AP reads whole rankings
    named = estimate(RUNS, graded(SOME | {"e": -1}), "P@2")
    assert named.pool.unjudged == 4 + 3  # pooled, but not judged
    given = pd.DataFrame({"query_id": ["1", "9"], "doc_id": ["h", "h"]})
    found = estimate(RUNS, graded(SOME), "P@2", pool=given)
    assert found.pool[:3] == (3, 12, 1)
    # Of y's first two documents in topics 1 and 2, three are neither in the pool nor judged.
    assert any(
        note.startswith("75% of the first 2 documents of y are outside the pool, the most of all runs")
        for note in found.notes
    )


def test_unjudged_documents_count_partly() -> None:
    found = estimate(RUNS, graded(SOME), ["P@4", "nDCG@4"])
    plain = evaluate(RUNS, graded(SOME), ["P@4", "nDCG@4"]).means()
    assert found.table().loc["x", "P@4"] == plain.loc["x", "P@4"]  # its first four documents are all judged
    assert found.table().loc["y", "P@4"] > plain.loc["y", "P@4"] == 0
    rows = found.values[(found.values["run"] == "y") & (found.values["query_id"] == "3")]
    assert (rows["estimate_high"] == 0).all()  # a missing topic is an empty ranking
    again = estimate(RUNS, graded(SOME), ["P@4", "nDCG@4"])
    assert again.values.equals(found.values)
    assert not estimate(RUNS, graded(SOME), ["P@4", "nDCG@4"], seed=1).values.equals(found.values)


def test_grades_that_nobody_gave_need_the_scale() -> None:
    two = {"a": 1, "b": 0, "c": 1, "d": 0}
    assert (estimate(RUNS, graded(two), "P(rel=2)@8").table() == 0).all(axis=None)
    assert (estimate(RUNS, graded(two), "P(rel=2)@8", scale=[0, 1, 2]).table() > 0).all(axis=None)


def test_texts_make_similar_documents_alike() -> None:
    seen = []

    def texts(pairs: pd.DataFrame) -> csr_matrix:
        seen.append(len(pairs))
        return csr_matrix(np.eye(26)[[ord(d) - 97 for d in pairs["doc_id"]]])

    found = estimate(RUNS, graded(SOME), "P@4", texts=texts)
    assert "of the judged pairs, the ranks and the texts" in found.about
    assert seen == [found.pool.judged + found.pool.unjudged]
    without = estimate(RUNS, graded(SOME), "P@4", texts=lambda _: None)
    assert "of the judged pairs and the ranks." in without.about
    estimate(RUNS, graded(ALL), "P@4", texts=texts)
    assert len(seen) == 1  # a complete pool needs none


def test_measures_without_expected_values_are_refused() -> None:
    for measure, reason in [
        ("Judged@10", "it describes the judgements"),
        ("AP(judged_only=True)", "it leaves unjudged documents out"),
        ("xinfAP", "it reads strata besides grades"),
        ("alpha_nDCG@10", "it reads subtopics besides grades"),
        ("RBPResidual", "it describes the judgements"),
    ]:
        assert explain_refusal(measure).startswith(reason)
        with pytest.raises(InputError, match="cannot be estimated: it"):
            estimate(RUNS, graded(SOME), ["P@4", measure])
    assert {entry.name for entry in MEASURES if not entry.needs and not explain_refusal(entry.example)} >= {"AP", "P"}


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"draws": 0}, {"alpha": 1.0}, {"seed": -1}, {"depth": 0}):
        with pytest.raises(InputError, match="expected 1 or more draws, alpha between 0 and 1"):
            estimate(RUNS, graded(SOME), "P@4", **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no grade of 0 or more"):
        estimate(RUNS, graded({"a": -1}), "P@4")
    with pytest.raises(InputError, match="no topic of the qrels"):
        estimate([run("x", "ab", ["7"])], graded(SOME), "P@4")
    fine = pd.DataFrame({"query_id": "1", "doc_id": [*"abcdefghijklmnopqrstuv"], "relevance": np.arange(22) / 22})
    with pytest.raises(InputError, match="at most 20 grades, found 22; round the grades"):
        estimate([*RUNS, run("long", "zyx")], fine, "P@4")
    monkeypatch.setattr(estimation, "GIGABYTES", 1e-5)
    with pytest.raises(
        InputError,
        match=r"estimated grades of 20 pairs \(up to 8 per topic\) need about .* use fewer topics, or a smaller pool",
    ):
        estimate(RUNS, graded(SOME), "P@4")


@pytest.mark.parametrize(
    ("options", "gigabytes"), [({}, 0.0712), ({"with_texts": True}, 0.4712), ({"with_choice": True}, 0.2312)]
)
def test_memory_is_counted_before_it_is_taken(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, bool], gigabytes: float
) -> None:
    """10 topics of 1,000 pairs, 10 runs, grades 0-3 and 200 draws.

    800 + 3 x 30 numbers for each pair; with texts 5 squares of 8 MB for each topic, to choose pairs 2.
    """
    frame = pd.DataFrame({"query_id": np.repeat(np.arange(10).astype(str), 1000)})
    monkeypatch.setattr(estimation, "GIGABYTES", gigabytes * 0.999)
    with pytest.raises(InputError, match="GB are allowed"):
        estimation.require_memory(frame, 10, 4, 200, **options)
    monkeypatch.setattr(estimation, "GIGABYTES", gigabytes * 1.001)
    estimation.require_memory(frame, 10, 4, 200, **options)
