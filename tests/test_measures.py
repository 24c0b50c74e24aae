"""Measures against worked examples, trec_eval's own output, and properties of the whole table."""

from __future__ import annotations

import inspect
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collection import comparison, formats
from collection.errors import InputError, UnknownNameError
from collection.measures import MEASURES, align, parse
from collection.records import Run
from tests.conftest import frame


def qrels_of(text: str) -> pd.DataFrame:
    return frame(text, "query_id", "doc_id", "relevance")


def run_of(text: str) -> pd.DataFrame:
    return frame(text, "query_id", "doc_id", "score")


def value(measure: str, run: pd.DataFrame, qrels: pd.DataFrame) -> float:
    (only,) = parse(measure)(align(run, qrels))
    return float(only)


def ranking(pattern: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`R` relevant, `.` not relevant, at ranks 1, 2, ...; all judged."""
    run = pd.DataFrame({"query_id": "1", "doc_id": [f"d{i:02}" for i in range(len(pattern))]})
    run["score"] = -np.arange(len(pattern), dtype=float)
    return run, run[["query_id", "doc_id"]].assign(relevance=[int(c == "R") for c in pattern])


# Worked by hand in lectures on evaluation: three rankings of eight with three relevant documents each.
@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (
            "RR...R..",
            {"P@2": 1, "R@2": 2 / 3, "P@5": 0.4, "R@5": 2 / 3, "Success@2": 1, "RR@2": 1, "AP": 2.5 / 3},
        ),
        (
            ".R..RR..",
            {"P@2": 0.5, "R@2": 1 / 3, "P@5": 0.4, "R@5": 2 / 3, "Success@2": 1, "RR@2": 0.5, "AP": 1.4 / 3},
        ),
        (
            "..RRR...",
            {
                "P@2": 0,
                "R@2": 0,
                "P@5": 0.6,
                "R@5": 1,
                "Success@2": 0,
                "RR@2": 0,
                "AP": (1 / 3 + 0.5 + 0.6) / 3,
            },
        ),
    ],
)
def test_lecture_rankings(pattern: str, expected: dict[str, float]) -> None:
    for measure, wanted in expected.items():
        assert value(measure, *ranking(pattern)) == pytest.approx(wanted, abs=1e-12), measure


def test_ndcg_lecture_example() -> None:
    """Grades 1 at rank 1 and 3 at rank 3: ideal 3.63, nDCG .69."""
    run, qrels = ranking("R.R")
    qrels["relevance"] = [1, 0, 3]
    assert value("nDCG", run, qrels) == pytest.approx((1 + 3 / 2) / (3 + 1 / np.log2(3)), abs=1e-12)
    assert round(value("nDCG", run, qrels), 2) == 0.69


def test_linear_dcg_lecture_example() -> None:
    """Gains [0, 4] against the ideal [4, 4]: 2.52 / 6.52 = .39."""
    run = run_of("1 a 2\n1 b 1")
    qrels = qrels_of("1 a 0\n1 b 4\n1 c 4")
    assert round(value("nDCG@2", run, qrels), 2) == 0.39


def test_order_is_score_then_document_id_descending() -> None:
    qrels = qrels_of("1 a 1\n1 b 0")
    assert value("RR", run_of("1 a 1\n1 b 1"), qrels) == 0.5
    assert value("RR", run_of("1 a 1\n1 b 0.5"), qrels) == 1


def test_negative_grades_are_unjudged() -> None:
    qrels, run = qrels_of("1 a -1\n1 b -2\n1 c 1"), run_of("1 a 3\n1 b 2\n1 c 1")
    aligned = align(run, qrels)
    assert aligned.grades.tolist() == [[-1, -1, 1]]
    assert value("Judged@2", run, qrels) == 0
    assert value("bpref", run, qrels) == 1
    assert value("nDCG", run, qrels) == pytest.approx(0.5)


def test_no_judgement_above_minus_two_gives_zeros() -> None:
    """Such a topic kills trec_eval and everything that wraps it."""
    aligned = align(run_of("1 a 3\n2 b 2"), qrels_of("1 a -2\n2 b 1"))
    for entry in MEASURES:
        suffix = "@5" if entry.parameters.get("cutoff", 0) is inspect.Parameter.empty else ""
        assert parse(entry.name + suffix)(aligned)[0] == 0, entry.name


def test_missing_topics_count_zero_and_are_named() -> None:
    qrels = qrels_of("1 a 1\n2 b 1")
    evaluation = comparison.evaluate([Run("one", run_of("1 a 1\n3 x 1"))], qrels, [parse("P@1")])
    assert evaluation.means().loc["one", "P@1"] == 0.5
    (coverage,) = evaluation.coverage
    assert coverage.missing_topics == ("2",)
    assert coverage.ignored_topics == ("3",)


def test_a_run_of_other_topics_is_refused_with_examples_of_both() -> None:
    with pytest.raises(InputError, match=r"'other' has no topic of the qrels.*\['9'\].*\['1'\]"):
        comparison.evaluate([Run("other", run_of("9 a 1"))], qrels_of("1 a 1"), [parse("AP")])


def test_many_topics_are_aligned_in_no_time() -> None:
    """6,980 topics: anything of the order of topics x topics takes half a minute."""
    topics = [str(n) for n in range(6980)]
    run = pd.DataFrame({"query_id": topics, "doc_id": "d", "score": 1.0})
    start = time.perf_counter()
    aligned = align(run, run[["query_id", "doc_id"]].iloc[:5000].assign(relevance=1))
    assert time.perf_counter() - start < 5
    assert len(aligned.ignored_topics) == 1980


def test_relevance_level() -> None:
    run, qrels = run_of("1 a 2\n1 b 1"), qrels_of("1 a 1\n1 b 2")
    assert value("RR", run, qrels) == 1
    assert value("RR(rel=2)", run, qrels) == 0.5
    assert str(parse("RR").with_relevance_level(2)) == "RR(rel=2)"
    assert str(parse("nDCG@10").with_relevance_level(2)) == "nDCG@10"
    assert str(parse("RR(rel=3)").with_relevance_level(2)) == "RR(rel=3)"


@pytest.mark.parametrize("text", ["nDCG@10", "AP", "AP(rel=2)@100", "P@5", "bpref", "Judged@10", "RR(rel=2)"])
def test_a_measure_is_written_as_it_is_read(text: str) -> None:
    assert str(parse(text)) == text


def test_spellings() -> None:
    assert parse("ndcg@10") == parse("nDCG") @ 10
    assert parse(" AP( rel = 2 ) @ 100 ") == parse("AP(rel=2)") @ 100
    assert parse("AP(rel=1)") == parse("AP")
    assert len({parse("AP"), parse("AP(rel=1)"), parse("ap")}) == 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nDGC@10", UnknownNameError, "did you mean 'nDCG'"),
        ("map", InputError, "written AP here"),
        ("ndcg_cut_10", InputError, "written nDCG@10 here"),
        ("P", InputError, "needs a cut-off, for example P@10"),
        ("bpref@10", InputError, "has no cut-off"),
        ("P@0", InputError, "a rank from 1 to"),
        ("Judged@99999999999999999999", InputError, "a rank from 1 to"),
        ("AP(level=2)", UnknownNameError, "parameter of AP 'level'"),
        ("AP(2)", InputError, "name=value"),
        ("AP(rel=__import__('os'))", InputError, "plain values"),
        ("AP(rel=0)", InputError, "above 0"),
        ("AP@@3", InputError, "written like"),
        ("", InputError, "written like"),
    ],
)
def test_bad_measures_say_what_is_wrong(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse(text)
    assert message in str(caught.value)


# --- against trec_eval ----------------------------------------------------------------------------

TREC_NAMES = {"map": "AP", "recip_rank": "RR", "ndcg": "nDCG", "Rprec": "Rprec", "bpref": "bpref"} | {
    f"{theirs}_{k}": f"{ours}@{k}"
    for theirs, ours in [
        ("P", "P"),
        ("recall", "R"),
        ("ndcg_cut", "nDCG"),
        ("map_cut", "AP"),
        ("success", "Success"),
    ]
    for k in (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "runs"), [("cranfield", "runs*"), ("vaswani", "runs"), ("trecdl19-runs", "runs_full")]
)
def test_equal_to_published_trec_eval_output(shared: Path, name: str, runs: str) -> None:
    """Every value of every topic and every mean, to the four decimals that trec_eval prints."""
    folder = shared / "data" / name
    expected = pd.read_csv(next(folder.glob("expected_trec_eval.csv*")), dtype={"topic": str})
    expected["measure"] = expected["measure"].map(TREC_NAMES)
    expected = expected.dropna(subset=["measure"]).rename(columns={"topic": "query_id", "value": "expected"})
    evaluation = comparison.evaluate(
        formats.read_runs(sorted(folder.glob(f"{runs}/*.run.gz"))),
        formats.read_qrels(folder / "qrels.txt"),
        [parse(m) for m in expected["measure"].unique()],
    )
    both = expected.merge(evaluation.values, on=["run", "query_id", "measure"], how="left", validate="one_to_one")
    # Theirs is the mean over the topics that the run has too; ours counts the missing ones 0.
    present = {c.run: 1 - len(c.missing_topics) / c.topics for c in evaluation.coverage}
    means = both["query_id"] == "all"
    both.loc[means, "expected"] *= both.loc[means, "run"].map(present)
    assert both["value"].notna().all()
    assert (both["value"] - both["expected"]).abs().max() <= 0.00005 + 1e-9
    assert len(both) == len(expected) > 2000


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "stem", "level"),
    [
        ("01_ties_precision", "all", 1),
        ("02_grades_negative", "all", 1),
        ("02_grades_negative", "all_l2", 2),
        ("03_missing_queries", "c", 1),
        ("06_random_graded", "c", 1),
        ("06_random_graded", "c_l2", 2),
    ],
)
def test_equal_to_trec_eval_10_in_all_digits(shared: Path, folder: str, stem: str, level: int) -> None:
    """Ties, negative grades, missing topics, random graded lists: version 10's full-precision output."""
    case = shared / "vectors" / folder
    expected = pd.read_csv(case / f"{stem}.te10.full.tsv", sep="\t", dtype=str, keep_default_na=False)
    expected.columns = ["measure", "query_id", "expected"]
    expected["measure"] = expected["measure"].map(TREC_NAMES)
    expected = expected.dropna(subset=["measure"])
    measures = {m: parse(m).with_relevance_level(level) for m in expected["measure"].unique()}
    evaluation = comparison.evaluate(
        [Run("run", formats.read_run(case / "run").frame)],
        formats.read_qrels(case / "qrels"),
        list(measures.values()),
    )
    expected["measure"] = expected["measure"].map(lambda m: str(measures[m]))
    both = expected.merge(evaluation.values, on=["query_id", "measure"], how="left")
    assert both["value"].notna().all()
    np.testing.assert_allclose(both["value"], both["expected"].astype(float), rtol=0, atol=1e-9)
    assert len(both) > 100


@pytest.mark.shared
def test_judged_equals_an_independent_count(shared: Path) -> None:
    case = shared / "vectors" / "06_random_graded"
    expected = pd.read_csv(case / "own_reference.tsv", sep="\t", dtype={"qid": str}).set_axis(
        ["measure", "query_id", "expected"], axis=1
    )
    expected = expected[expected["measure"].str.startswith("Judged")]
    expected["measure"] = expected["measure"].str.removesuffix("_over_min(k,n)")
    qrels, run = formats.read_qrels(case / "qrels"), formats.read_run(case / "run")
    evaluation = comparison.evaluate([run], qrels, [parse(m) for m in expected["measure"].unique()])
    both = expected.merge(evaluation.values, on=["query_id", "measure"], how="left")
    np.testing.assert_allclose(both["value"], both["expected"], atol=1e-12)


# --- properties of the whole table ----------------------------------------------------------------

EVERY_MEASURE = [f"{e.name}@{k}" for e in MEASURES for k in (1, 3, 100) if "cutoff" in e.parameters] + [
    e.name for e in MEASURES if e.parameters.get("cutoff", 0) is not inspect.Parameter.empty
]


@st.composite
def judged_rankings(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Up to three topics, up to twelve documents, ties, unjudged ones and negative grades among them."""
    rows, judged = [], []
    for topic in range(draw(st.integers(1, 3))):
        for doc in draw(st.lists(st.integers(0, 14), unique=True, max_size=12)):
            rows.append((str(topic), f"d{doc}", float(draw(st.integers(0, 5)))))
        for doc in draw(st.lists(st.integers(0, 14), unique=True, min_size=1, max_size=12)):
            judged.append((str(topic), f"d{doc}", draw(st.integers(-2, 3))))
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"query_id": str, "doc_id": str})
    return run.astype({"score": float}), pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"])


@settings(deadline=None, max_examples=60)
@given(judged_rankings())
def test_every_value_is_finite_and_between_0_and_1(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    aligned = align(*case)
    for measure in EVERY_MEASURE:
        values = parse(measure)(aligned)
        assert values.shape == (len(aligned.topics),)
        assert values.dtype == np.float64
        assert ((values >= 0) & (values <= 1 + 1e-12)).all(), measure


@settings(deadline=None, max_examples=60)
@given(judged_rankings(), st.randoms())
def test_the_order_of_rows_does_not_matter(case: tuple[pd.DataFrame, pd.DataFrame], random: object) -> None:
    run, qrels = case
    first = align(run, qrels)
    shuffled = align(run.sample(frac=1, random_state=random.randint(0, 99)), qrels)  # type: ignore[attr-defined]
    for measure in EVERY_MEASURE:
        assert parse(measure)(first).tolist() == parse(measure)(shuffled).tolist(), measure


@settings(deadline=None, max_examples=60)
@given(judged_rankings())
def test_equal_to_trec_eval_on_anything(case: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Two ways must agree: pytrec_eval wraps trec_eval 9 (small whole scores are alike in both versions)."""
    import pytrec_eval

    run, qrels = case
    # A topic without any judgement of 0 or more ends the process there.
    usable = qrels[qrels.groupby("query_id")["relevance"].transform("max") >= 0]
    run = run[run["query_id"].isin(usable["query_id"])]
    if usable.empty or run.empty:
        return
    nested = {q: dict(zip(g["doc_id"], map(int, g["relevance"]), strict=True)) for q, g in usable.groupby("query_id")}
    ranked = {q: dict(zip(g["doc_id"], g["score"], strict=True)) for q, g in run.groupby("query_id")}
    names = {
        "map": "AP",
        "recip_rank": "RR",
        "ndcg": "nDCG",
        "Rprec": "Rprec",
        "bpref": "bpref",
        "P_5": "P@5",
    }
    names |= {"recall_5": "R@5", "ndcg_cut_5": "nDCG@5", "success_5": "Success@5", "map_cut_5": "AP@5"}
    oracle = pytrec_eval.RelevanceEvaluator(nested, set(names)).evaluate(ranked)
    aligned = align(run, usable)
    for theirs, ours in names.items():
        for topic, found in zip(aligned.topics, parse(ours)(aligned), strict=True):
            assert found == pytest.approx(oracle.get(topic, {}).get(theirs, 0.0), abs=1e-9), (ours, topic)
