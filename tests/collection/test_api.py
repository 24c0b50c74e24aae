"""The functions of ``import collection``: their names, the forms they take, and values equal to pytrec_eval's."""

import doctest
import inspect
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval

import collection
from collection import (
    Campaign,
    adjudicate,
    agreement,
    compare,
    comparison,
    evaluate,
    formats,
    machine_labels,
    pool,
    pooling,
    read_documents,
    read_qrels,
    read_run,
    read_topics,
    simulate,
    to_pyterrier,
)  # fmt: skip
from collection.adjudication import ADJUDICATION_RULES
from collection.comparison import Evaluation
from collection.core.errors import ColumnsError, FormatWarning, InputError, UnknownNameError
from collection.core.frames import POOL, VALUES
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.formats.in_memory import as_runs
from collection.measures import MEASURES
from tests import helpers
from tests.helpers import ROOT, ok

NAMES = {
    "Campaign", "CleverdonError", "Document", "GradeScale", "Judgement", "Question", "Run", "Topic",
    "adjudicate", "agreement", "assess_reusability", "compare", "estimate", "evaluate", "evaluate_answers", "explain",
    "pool", "simulate",
    "read_documents", "read_labels", "read_qrels", "read_run", "read_topics", "to_pyterrier",
    "write_qrels",
}  # fmt: skip
FUNCTIONS = sorted(name for name in NAMES if name[0].islower())
OF_PYTREC_EVAL = {"AP": "map", "RR": "recip_rank", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "R@10": "recall_10"}

random = np.random.default_rng(7)
QRELS_OF = {
    str(topic): {f"d{n}": int(random.integers(0, 4)) for n in random.choice(60, 25, replace=False)}
    for topic in range(301, 309)
}
RUNS_OF = {
    name: {
        topic: {f"d{n}": float(s) for n, s in enumerate(random.permutation(60))} for topic in list(QRELS_OF)[skipped:]
    }
    for skipped, name in enumerate(("bm25", "dense"))
}
"""The second run lacks a topic."""


def flat(nested: dict[str, dict[str, float]], *columns: str) -> pd.DataFrame:
    return pd.DataFrame([(q, d, v) for q, of in nested.items() for d, v in of.items()], columns=list(columns))


# --- names ------------------------------------------------------------------------------------------------------------


def test_the_names_are_these_and_no_others() -> None:
    assert set(dir(collection)) == set(collection.__all__) == NAMES


def test_the_names_are_shown_before_anything_is_imported() -> None:
    heavy = {"pandas", "numpy", "sklearn", "scipy", "streamlit", "pyarrow", "sqlite_utils"}
    code = f"import sys, collection; dir(collection); print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_documented_with_an_example(name: str) -> None:
    found = getattr(collection, name)
    assert found.__name__ == name
    assert found.__module__.startswith("collection.")
    assert len(inspect.getdoc(found).splitlines()[0]) > 15
    if not issubclass(found if inspect.isclass(found) else object, Exception):
        assert [e for test in doctest.DocTestFinder(recurse=False).find(found) for e in test.examples], "no example"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_typed(name: str) -> None:
    function = getattr(collection, name)
    hints = get_type_hints(function, localns={"pd": pd})
    assert set(hints) == {*inspect.signature(function).parameters, "return"}
    assert "Any" not in str(hints)
    text = inspect.getdoc(function)
    for part in ("Parameters\n---", "Raises\n---", *(["Returns\n---"] if hints["return"] is not type(None) else [])):
        assert part in text, part


@pytest.mark.parametrize("package", [collection, comparison, formats, machine_labels])
def test_what_is_imported_at_its_first_use_is_there(package: ModuleType) -> None:
    assert len(package.__all__) > 10
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
    assert set(dir(package)) == set(package.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        package.nothing  # noqa: B018


# --- what evaluate takes ----------------------------------------------------------------------------------------------


OURS = flat(QRELS_OF, "query_id", "doc_id", "relevance")
FRAMES = {name: flat(of, "query_id", "doc_id", "score") for name, of in RUNS_OF.items()}
STACKED = pd.concat([frame.assign(run=name) for name, frame in FRAMES.items()])


def qrels_file(folder: Path) -> Path:
    formats.write_qrels(OURS, folder / "qrels.txt")
    return folder / "qrels.txt"


def run_files(folder: Path) -> list[Path]:
    for name, frame in FRAMES.items():
        formats.write_run(Run(name, rank_run(frame)), folder / f"{name}.run")
    return [folder / f"{name}.run" for name in FRAMES]


QRELS_FORMS: dict[str, Callable[[Path], Any]] = {
    "file": qrels_file,
    "frame": lambda _: OURS,
    "frame with whole numbers as ids": lambda _: OURS.astype({"query_id": int}),
    "pyterrier's frame": lambda _: flat(QRELS_OF, "qid", "docno", "label").assign(iteration="0", query="wing flow"),
    "trectools' frame": lambda _: flat(QRELS_OF, "query", "docid", "rel").assign(q0="0"),
    "ir_measures' frame": lambda _: OURS.assign(iteration="0"),
    "pytrec_eval's dictionary": lambda _: QRELS_OF,
    "ir_measures' tuples": lambda _: (ir_measures.Qrel(*row) for row in OURS.itertuples(index=False)),
    "plain tuples": lambda _: list(OURS.itertuples(index=False, name=None)),
}
RUN_FORMS: dict[str, Callable[[Path], Any]] = {
    "files": run_files,
    "files by name": lambda folder: {path.stem: str(path) for path in run_files(folder)},
    "runs": lambda _: [Run(name, frame) for name, frame in FRAMES.items()],
    "generator of runs": lambda _: (Run(name, frame) for name, frame in FRAMES.items()),
    "frames by name": lambda _: FRAMES,
    "one frame": lambda _: STACKED,
    "trectools' frame": lambda _: STACKED.set_axis(["query", "docid", "score", "system"], axis=1).assign(
        rank=0, q0="Q0"
    ),
    "pyterrier's frames": lambda _: {
        name: frame.set_axis(["qid", "docno", "score"], axis=1).assign(rank=0, query="wing flow")
        for name, frame in FRAMES.items()
    },
    "pytrec_eval's dictionaries": lambda _: RUNS_OF,
    "ir_measures' tuples": lambda _: {
        name: (ir_measures.ScoredDoc(*row) for row in frame.itertuples(index=False)) for name, frame in FRAMES.items()
    },
}


def test_frames_for_pyterrier_and_back() -> None:
    """As PyTerrier's own functions name and count them: a run's ranks begin at 0."""
    run = to_pyterrier(Run("bm25", rank_run(FRAMES["bm25"])))
    assert run.columns.tolist() == ["qid", "docno", "score", "rank"]
    assert run.groupby("qid", observed=True)["rank"].min().unique().tolist() == [0]
    back = evaluate(to_pyterrier(OURS), {"bm25": run}, ["AP"]).means()
    assert back.equals(evaluate(OURS, {"bm25": FRAMES["bm25"]}, ["AP"]).means())
    topics = pd.DataFrame({"query_id": ["1"], "title": ["wing"], "description": [""], "narrative": [""]})
    assert to_pyterrier(topics).columns.tolist() == ["qid", "query", "description", "narrative"]
    assert to_pyterrier(pd.DataFrame({"doc_id": ["d1"], "title": ["a"], "text": ["b"]})).columns[0] == "docno"
    with pytest.raises(InputError, match="expected a frame or a Run, found dict"):
        to_pyterrier({})  # type: ignore[arg-type]


def test_a_run_that_pyterrier_has_reordered() -> None:
    """PyTerrier keeps further columns of a frame while it changes scores and ranks."""
    run = to_pyterrier(Run("bm25", rank_run(FRAMES["bm25"])))
    first = pool({"reversed": run.assign(score=-run["score"])}, "depth", depth=1)
    last = run.loc[run.groupby("qid", observed=True)["score"].idxmin()]
    assert sorted(zip(first["query_id"], first["doc_id"], strict=True)) == sorted(
        zip(last["qid"], last["docno"], strict=True)
    )


def test_simulating_on_pyterriers_frames() -> None:
    documents = pd.DataFrame(
        {"docno": [f"d{n}" for n in range(12)], "text": [f"wing {n}" if n < 3 else "heat" for n in range(12)]}
    )
    topics = pd.DataFrame({"qid": ["1"], "query": ["wing"]})
    qrels = pd.DataFrame({"qid": ["1"] * 4, "docno": ["d0", "d1", "d2", "d9"], "label": [1, 1, 1, 0]})
    assert simulate(documents, topics, qrels, strategies=["loop-text"]).means()["judgements@100"].tolist() == [3.0]


def require_values_of_pytrec_eval(found: Evaluation, runs: dict[str, str]) -> None:
    """`runs`: our name -> the run. A topic that it lacks is 0 here and not there in pytrec_eval."""
    values = VALUES.check(found.per_topic()).set_index(["run", "query_id", "measure"])["value"]
    assert found.means().index.tolist() == list(runs)
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS_OF, set(OF_PYTREC_EVAL.values()))
    for name, run in runs.items():
        theirs = evaluator.evaluate(RUNS_OF[run])
        for ours, measure in OF_PYTREC_EVAL.items():
            wanted = {topic: theirs.get(topic, {measure: 0.0})[measure] for topic in QRELS_OF}
            assert values[name].xs(ours, level="measure").to_dict() == pytest.approx(wanted, abs=1e-12)
            assert found.means().loc[name, ours] == pytest.approx(np.mean(list(wanted.values())), abs=1e-12)


@pytest.mark.parametrize("form", QRELS_FORMS)
@pytest.mark.slow
def test_qrels_in_every_form_give_the_values_of_pytrec_eval(tmp_path: Path, form: str) -> None:
    found = evaluate(QRELS_FORMS[form](tmp_path), RUNS_OF, list(OF_PYTREC_EVAL))
    require_values_of_pytrec_eval(found, {"bm25": "bm25", "dense": "dense"})


@pytest.mark.parametrize("form", RUN_FORMS)
def test_runs_in_every_form_give_the_values_of_pytrec_eval(tmp_path: Path, form: str) -> None:
    found = evaluate(QRELS_OF, RUN_FORMS[form](tmp_path), list(OF_PYTREC_EVAL))
    require_values_of_pytrec_eval(found, {"bm25": "bm25", "dense": "dense"})


@pytest.mark.parametrize(
    "run",
    [RUNS_OF["dense"], FRAMES["dense"], list(FRAMES["dense"].itertuples(index=False, name=None))],
    ids=["dictionary", "frame", "tuples"],
)
def test_a_single_run_needs_no_name(run: Any) -> None:
    require_values_of_pytrec_eval(evaluate(QRELS_OF, run, list(OF_PYTREC_EVAL)), {"run": "dense"})


def test_a_single_file_has_its_tag_as_name(tmp_path: Path) -> None:
    found = evaluate(qrels_file(tmp_path), run_files(tmp_path)[1], list(OF_PYTREC_EVAL))
    require_values_of_pytrec_eval(found, {"dense": "dense"})


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.slow
def test_a_list_mixes_runs_and_files(tmp_path: Path, order: int) -> None:
    first, second = run_files(tmp_path)
    given = [collection.read_run(first), str(second)][::order]
    assert [run.name for run in as_runs(given)] == ["bm25", "dense"][::order]
    require_values_of_pytrec_eval(
        evaluate(QRELS_OF, given, list(OF_PYTREC_EVAL)), {name: name for name in ["bm25", "dense"][::order]}
    )


def test_an_iteration_that_tells_rows_of_a_pair_apart_is_a_subtopic() -> None:
    rows = [ir_measures.Qrel("1", "a", 1, "x"), ir_measures.Qrel("1", "a", 1, "y"), ir_measures.Qrel("1", "b", 1, "y")]
    run = [ir_measures.ScoredDoc("1", "b", 2.0), ir_measures.ScoredDoc("1", "a", 1.0)]
    frame = pd.DataFrame([row[:3] for row in rows], columns=["query_id", "doc_id", "relevance"])
    wanted = evaluate(frame.assign(subtopic=["x", "y", "y"]), run, "alpha_nDCG@10").values
    pd.testing.assert_frame_equal(evaluate(rows, run, "alpha_nDCG@10").values, wanted)
    assert wanted["value"][0] < 1


@pytest.mark.parametrize(
    ("qrels", "runs", "error", "said"),
    [
        (7, RUNS_OF, InputError, r"qrels: expected a file, a frame, .* \(query_id, doc_id, relevance\), found 7"),
        ({"301": ["d1"]}, RUNS_OF, InputError, "qrels: expected {query_id: {doc_id: relevance}}, found list for '301'"),
        (
            OURS.drop(columns="relevance"),
            RUNS_OF,
            ColumnsError,
            "qrels: expected the column relevance; found query_id",
        ),
        (OURS.assign(relevance="high"), RUNS_OF, InputError, "expected numbers in the column relevance, found str"),
        (
            OURS.astype({"query_id": float}),
            RUNS_OF,
            InputError,
            "text or whole numbers in the column query_id, found f",
        ),
        (FRAMES["bm25"], RUNS_OF, ColumnsError, "qrels: expected the column relevance"),
        (QRELS_OF, OURS, ColumnsError, "run run: expected the column score"),
        (QRELS_OF, [], InputError, "runs: expected files, Runs, .* found nothing"),
        (QRELS_OF, 7, InputError, "runs: expected files, Runs, .* found int"),
        (QRELS_OF, [FRAMES["bm25"]] * 2, InputError, "names to runs.* found DataFrame; name each run: {name: run}"),
        (QRELS_OF, {"bm25": 7}, InputError, "run bm25: expected a file, a frame, .* found 7"),
        (QRELS_OF, {"bm25": FRAMES["bm25"].assign(score=np.nan)}, InputError, "run bm25: row 1 has no score"),
        (QRELS_OF, [("301", "d1")], InputError, r"\(query_id, doc_id, score\), found \('301', 'd1'\)"),
        (QRELS_OF, {"bm25": {"9": {"d1": 1.0}}}, InputError, "'bm25' has no topic of the qrels"),
        (QRELS_OF, {"bm25": OURS.assign(score=1.0).head(0)}, InputError, "run 'bm25': expected lines, found none"),
        ([(np.int64(7),)], RUNS_OF, InputError, r"found \(7,\)$"),
        ({np.int64(7): 1}, RUNS_OF, InputError, "found int for 7$"),
        (QRELS_OF, [(np.int64(7), "d1", np.nan)], InputError, r"row 1 has no score \(query_id 7, doc_id 'd1'\)"),
    ],
)
def test_a_refusal_says_what_was_expected_and_found(qrels: Any, runs: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        evaluate(qrels, runs, "AP")


TWO_GRADES = [(who, "1", doc, grade) for who in ("ann", "bob") for doc, grade in (("a", 0), ("b", 2))]
LABELS_OF_TWO = pd.DataFrame(TWO_GRADES, columns=["annotator", "query_id", "doc_id", "relevance"])

LABELS_BY_NUMBER = pd.concat([LABELS_OF_TWO] * 2).astype({"query_id": int})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pool(RUNS_OF, 5), "unknown pooling strategy 5"),  # type: ignore[arg-type]
        (lambda: compare(QRELS_OF, RUNS_OF, "AP", test=None), "unknown .* None"),  # type: ignore[arg-type]
        (lambda: compare(QRELS_OF, RUNS_OF, "AP", baseline=np.int64(7)), "unknown system 7;"),  # type: ignore[arg-type]
        (lambda: pool(RUNS_OF, "depth", depth="x"), "depth of depth: expected a whole number, found 'x'"),
        (
            lambda: evaluate(QRELS_OF, RUNS_OF, "AP", with_bounds=True, grades="x"),
            "^grades: expected two or more grades",
        ),
        (lambda: evaluate(QRELS_OF, RUNS_OF, np.float64(5)), "found 5.0$"),  # type: ignore[arg-type]
        (lambda: formats.write_labels(LABELS_BY_NUMBER, "l.csv"), r"found \('ann', '1', 'a'\) twice"),
        (lambda: evaluate(QRELS_OF, RUNS_OF, 5), "measure: expected a Measure or text such as 'nDCG@10', found 5"),  # type: ignore[arg-type]
        (lambda: agreement(LABELS_OF_TWO, level="x"), "level: expected a grade .a number., found 'x'"),
        (lambda: evaluate(next(as_runs(RUNS_OF)), QRELS_OF), "pass the qrels first, then the runs$"),  # type: ignore[arg-type]
        (lambda: evaluate(adjudicate(LABELS_OF_TWO), RUNS_OF), "found Adjudicated; give its attribute qrels$"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_is_refused_with_a_sentence(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.slow
def test_texts_and_objects_of_other_libraries_are_read(tmp_path: Path) -> None:
    pd.testing.assert_frame_equal(pool(RUNS_OF, "depth", depth="3"), pool(RUNS_OF, "depth", depth=3))
    texts, numbers = ({"with_bounds": True, "grades": grades} for grades in ("0-4", range(5)))
    pd.testing.assert_frame_equal(
        evaluate(QRELS_OF, RUNS_OF, **texts).values, evaluate(QRELS_OF, RUNS_OF, **numbers).values
    )
    found = agreement(LABELS_OF_TWO, resamples=0, grades="0-3", level="2")
    assert (found.grades, found.level) == ((0, 1, 2, 3), 2)
    for given in (ir_measures.nDCG @ 10, [ir_measures.nDCG @ 10, "AP"]):
        assert evaluate(QRELS_OF, RUNS_OF, given).means().columns[0] == "nDCG@10"  # type: ignore[arg-type]
    theirs = OURS.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    collection.write_qrels(theirs, tmp_path / "qrels.txt")
    assert collection.read_qrels(tmp_path / "qrels.txt").values.tolist() == OURS.values.tolist()


def test_topics_of_a_simulation_need_a_title_only() -> None:
    documents = pd.DataFrame({"doc_id": ["d1", "d2"], "title": "", "text": ["wing flow", "heat"]})
    topics = pd.DataFrame({"qid": ["1"], "title": "wing"})
    assert simulate(documents, topics, {"1": {"d1": 1}}, strategies="loop-text").means()["judgements@100"].tolist() == [
        1
    ]


def test_an_evaluation_has_the_notes_of_the_command_line() -> None:
    runs = {"bm25": {"1": {"a": 2.0, "x": 1.0}, "9": {"a": 1.0}}}
    found = evaluate({"1": {"a": 1}, "2": {"a": 1}}, runs, ["map", "P@1"])
    assert found.notes == (
        "map: computed as AP",
        "bm25: 1 of 2 topics missing; missing topics count as empty rankings",
        "bm25: 1 topic is not in the qrels and is ignored",
        "on average 0.5 of a topic's first 10 documents are unjudged and count as not relevant",
    )
    assert "map: computed as AP" in compare(QRELS_OF, RUNS_OF, "map").notes


@pytest.mark.parametrize(
    ("measures", "fate"),
    [
        (["P@1"], " and count as not relevant"),
        (
            ["P@1", "bpref", "AP(judged_only=True)"],
            " and count as not relevant, except in bpref and AP(judged_only=True)",
        ),
        (["bpref", "infAP"], ""),
    ],
)
def test_a_note_tells_how_the_measures_count_unjudged_documents(measures: list[str], fate: str) -> None:
    found = evaluate({"1": {"a": 1}}, {"bm25": {"1": {"a": 2.0, "x": 1.0}}}, measures)
    assert found.notes == (f"on average 1.0 of a topic's first 10 documents are unjudged{fate}",)


def test_a_notebook_shows_means_and_notes() -> None:
    found = evaluate({"1": {"a": 0}}, {"<b>": {"1": {"a": 1.0}}}, "AP")
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<p>no grade reaches relevance level 1" in found._repr_html_()
    assert "<td>0.0000</td>" in found._repr_html_()
    assert "0.0000" in compare(QRELS_OF, RUNS_OF, "AP(rel=9)")._repr_html_()


LABELS = pd.DataFrame(
    [(name, "1", doc_id, grade) for name, grade in (("ann", 1), ("bob", 2)) for doc_id in "ab"],
    columns=["annotator", "query_id", "doc_id", "relevance"],
)


@pytest.mark.parametrize(
    ("result", "first", "details"),
    [
        (lambda: evaluate(QRELS_OF, RUNS_OF), "Means of 2 runs over 8 topics", "means(), per_topic(), chart()"),
        (
            lambda: evaluate(QRELS_OF, RUNS_OF, "AP", with_bounds=True),
            "Means of 2 runs over 8 topics",
            "means(), per_topic(), chart(), bounds()",
        ),
        (
            lambda: compare(QRELS_OF, RUNS_OF, "nDCG@10", all_pairs=True),
            "dense has the highest nDCG@10 (",
            "leaderboard (confidence intervals), tests (p-values), to_latex(), chart(), topics_chart(system), pairs "
            "(tests of all pairs)",
        ),
        (
            lambda: agreement(LABELS),
            "Agreement of 2 annotators over 2 pairs with 2+ judgements",
            "values, between (annotators), topics, rest (each against the others), windows (over time), chart()",
        ),
        (
            lambda: adjudicate(LABELS),
            "2 grades by the rule adjudicated-or-majority",
            "qrels, grades (with their origin)",
        ),
        (lambda: adjudicate(LABELS[:0]), "0 grades by the rule", "qrels, grades (with their origin)"),
    ],
)
def test_a_console_shows_a_short_summary(result: Callable[[], object], first: str, details: str) -> None:
    lines = repr(result()).splitlines()
    assert lines[0].startswith(first)
    assert lines[-1] == f"Details: {details}"
    assert len(lines) < 35
    assert not any("[" in line or "Empty" in line or "Name:" in line for line in lines)


def test_a_console_shows_runs_and_members_of_registries_in_one_line() -> None:
    assert [repr(run) for run in as_runs({"bm25": RUNS_OF["bm25"]})] == ["Run('bm25', 480 rows, 8 topics)"]
    assert repr(ADJUDICATION_RULES).startswith(f"Registry of {len(ADJUDICATION_RULES)} entries (adjudication rule): ")
    assert repr(pooling.STRATEGIES["depth"]).startswith("depth(depth=")
    assert repr(MEASURES["P"]).startswith("P(cutoff, rel=1, ")


# --- the other functions ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_comparison_agreement_and_pool_are_those_of_their_packages(tmp_path: Path) -> None:
    runs = [Run(name, rank_run(frame)) for name, frame in FRAMES.items()]
    found = compare(QRELS_OF, RUNS_OF, ["AP"], baseline="bm25", test="wilcoxon")
    pd.testing.assert_frame_equal(
        found.tests, comparison.compare(comparison.evaluate(runs, OURS, ["AP"]), baseline="bm25", test="wilcoxon").tests
    )
    pd.testing.assert_frame_equal(pool(RUNS_OF, "rrf", budget=5), pooling.rrf(runs, budget=5))
    assert tuple(pool(run_files(tmp_path))[list(POOL.names)]) == POOL.names
    with pytest.raises(UnknownNameError, match="unknown depth parameter 'deep'"):
        pool(RUNS_OF, "depth", deep=5)


@pytest.mark.slow
def test_labels_make_agreement_and_qrels(tmp_path: Path) -> None:
    labels = pd.DataFrame(
        [(who, t, d, min(3, g + (who == "bob"))) for who in ("ann", "bob", "cid") for t, of in QRELS_OF.items()
         for d, g in of.items()],
        columns=["rater", "qid", "docno", "label"],
    )  # fmt: skip
    found = agreement(labels, resamples=0)
    assert (found.annotators, found.several) == (("ann", "bob", "cid"), len(OURS))
    made = adjudicate(labels, "majority")
    assert sorted(made.qrels.values.tolist()) == sorted(OURS.values.tolist())
    assert set(made.grades["by"]) == {"majority", "agreed"}
    labels.to_csv(tmp_path / "labels.csv", index=False)
    pd.testing.assert_frame_equal(adjudicate(tmp_path / "labels.csv", "majority").qrels, made.qrels)
    pd.testing.assert_frame_equal(agreement(tmp_path / "labels.csv", resamples=0).values, found.values)
    with pytest.raises(InputError, match="labels: expected a DataFrame of pandas, found list"):
        agreement([("ann", "1", "d", 1)])  # type: ignore[arg-type]


def grades_of(*rows: tuple[str, str, float | None]) -> pd.DataFrame:
    return pd.DataFrame([(who, "1", *row) for who, *row in rows], columns=["annotator", "query_id", "doc_id", "grade"])


@pytest.mark.parametrize("rule", [entry.name for entry in ADJUDICATION_RULES])
def test_adjudication_keeps_fractions_of_grades(rule: str) -> None:
    labels = grades_of(*((who, doc, grade) for who in ("ann", "bob") for doc, grade in (("a", 0.5), ("b", 1.5))))
    parameters = {"annotator": "ann"} if rule == "annotator" else {}
    assert adjudicate(labels, rule, **parameters).qrels["relevance"].tolist() == [0.5, 1.5]


def test_adjudication_leaves_out_rows_without_a_grade_as_agreement_does() -> None:
    labels = grades_of(("ann", "a", 2), ("bob", "a", None), ("ann", "b", None), ("ann", "a", None))
    found = adjudicate(labels)
    assert (found.qrels.values.tolist(), found.notes) == ([["1", "a", 2]], ())
    assert found.qrels["relevance"].dtype == np.int64
    assert agreement(labels, resamples=0).judgements == 1
    with pytest.raises(InputError, match="expected finite grades"):
        adjudicate(grades_of(("ann", "a", np.inf)))


def test_adjudication_counts_an_annotators_last_grade_as_agreement_does() -> None:
    labels = grades_of(("ann", "a", 0), ("bob", "a", 0), ("cat", "a", 3), ("cat", "a", 3), ("cat", "a", 3))
    found = adjudicate(labels, "majority")
    assert found.qrels["relevance"].tolist() == [0]
    assert found.notes == agreement(labels, resamples=0).notes[:1]
    assert found.notes[0].startswith("2 rows left out")
    assert adjudicate(grades_of(("ann", "a", 0), ("ann", "a", 2)), "mean").qrels["relevance"].tolist() == [2]


@pytest.mark.parametrize(
    "qrels", [[("1", "d1", 2), ("1", "d1", 0)], [("1", "d1", 2, "x"), ("1", "d1", 0, "x")], {"1": {7: 1, "7": 0}}]
)
def test_a_pair_has_one_row_in_qrels(qrels: Any) -> None:
    with pytest.raises(InputError, match="qrels: found document '(d1|7)' of topic '1' twice; remove one row"):
        evaluate(qrels, {"1": {"d1": 1.0}}, "AP")


def test_labels_of_several_annotators_are_no_qrels() -> None:
    labels = grades_of(("ann", "a", 0), ("bob", "a", 1))
    with pytest.raises(
        InputError, match=r"document 'a' of topic '1' twice; combine the grades .* adjudicate\(...\).qrels"
    ):
        evaluate(labels, {"1": {"a": 1.0}}, "AP")


@pytest.mark.slow
def test_simulation_of_a_pooling_strategy() -> None:
    documents = pd.DataFrame({"doc_id": [f"d{n}" for n in range(60)], "title": "", "text": "wing flow"})
    topics = pd.DataFrame({"query_id": list(QRELS_OF), "title": "wing", "description": "", "narrative": ""})
    means = simulate(documents, topics, QRELS_OF, RUNS_OF, strategies=["depth", "mtf"], level=3).means()
    assert means.index.get_level_values("strategy").tolist() == ["depth", "mtf"]
    assert (means["documents"] == 60).all()


@pytest.mark.slow
def test_a_simulation_reads_files() -> None:
    names = ("documents.jsonl", "topics.tsv", "qrels.txt", "bm25.run")
    documents, topics, qrels, run = (ROOT / "docs" / "examples" / name for name in names)
    strategies = ["depth", "loop-text"]
    found = simulate(documents, str(topics), qrels, run, strategies=strategies)
    frames = read_documents(documents), read_topics(topics), read_qrels(qrels), read_run(run)
    pd.testing.assert_frame_equal(found.curves, simulate(*frames, strategies=strategies).curves)


@pytest.mark.parametrize(("strategies", "said"), [(["mtf", "rrf"], "mtf and rrf need runs"), ("mtf", "mtf needs runs")])
def test_simulation_of_pooling_strategies_needs_runs(strategies: Any, said: str) -> None:
    documents = pd.DataFrame({"doc_id": ["d1", "d2"], "title": "", "text": "wing flow"})
    topics = pd.DataFrame({"query_id": ["1"], "title": "wing", "description": "", "narrative": ""})
    with pytest.raises(InputError, match=said):
        simulate(documents, topics, {"1": {"d1": 1}}, strategies=strategies)
    with pytest.raises(UnknownNameError, match="unknown strategy 'mft'; did you mean 'mtf'"):
        simulate(documents, topics, {"1": {"d1": 1}}, strategies="mft")
    with pytest.raises(UnknownNameError, match=r"unknown strategy 'lop'; did you mean 'loop'\? .*, loop, loop-la"):
        simulate(documents, topics, {"1": {"d1": 1}}, strategies="lop")
    means = simulate(documents, topics, {"1": {"d1": 1}}, {"1": {"d1": 1.0}}, strategies="mtf").means()
    assert means.index.get_level_values("strategy").tolist() == ["mtf"]


NO_PATHS = [["x.run"], 5, {"a": 1}, b"x.run", object()]


@pytest.mark.parametrize("given", NO_PATHS, ids=lambda given: type(given).__name__)
def test_what_takes_a_path_says_which_type_it_wanted_and_got(given: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [1]})
    names = ("qrels", "run", "labels", "topics", "clicks", "costs", "documents", "preferences", "index", "levels")
    readers = [getattr(formats, f"read_{name}") for name in names]
    calls: list[Callable[[], object]] = [
        *(lambda read=read: list(read(given)) for read in readers),
        lambda: collection.read_documents(given),
        lambda: collection.write_qrels(frame, given),
        lambda: formats.write_table(frame, given),
        lambda: Campaign(given),
        lambda: Campaign.create(given),
    ]
    with Campaign.create(tmp_path / "campaign") as campaign:
        calls += [
            lambda what=what: campaign.imports.import_files(**{what: given})
            for what in ("collection", "topics", "qrels", "labels", "costs", "clicks")
        ]
        for call in calls:
            with pytest.raises(
                InputError, match=rf"expected a path \(str or os.PathLike\), found {type(given).__name__}"
            ):
                call()
        several = [given] if isinstance(given, list | dict) else given
        for what in ("documents", "runs"):
            with pytest.raises(InputError, match=f"{what}: expected"):
                campaign.imports.import_files(**{what: several})


def test_one_path_and_an_iterator_of_paths_are_paths_too(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.run").write_text(f"1 Q0 d 1 1 {name}\n")
    (tmp_path / "docs.tsv").write_text("d\ta text\n")
    (tmp_path / "topics.tsv").write_text("1\tone\n")
    runs = list(formats.read_runs(tmp_path / f"{name}.run" for name in "ab"))
    assert [run.name for run in runs] == ["a", "b"]
    assert [run.name for run in formats.read_runs(str(tmp_path / "a.run"))] == ["a"]
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(
            documents=str(tmp_path / "docs.tsv"),
            topics=tmp_path / "topics.tsv",
            runs=(tmp_path / f"{name}.run" for name in "ab"),
        )
        assert campaign.store.corpus.runs()["run"].tolist() == ["a", "b"]
        assert campaign.store.judgements.counts()["documents"] == 1


def test_the_reusability_of_plain_files_is_that_of_the_command(tmp_path: Path) -> None:
    examples = ROOT / "docs" / "examples"
    files = [examples / f"{name}.run" for name in ("bm25", "lsi", "chars", "bm25-titles")]
    found = collection.assess_reusability(examples / "qrels.txt", files, "nDCG@5", groups=None)
    printed = json.loads(
        ok("reusability", examples / "qrels.txt", *files, "-m", "nDCG@5", "--group", "none", "--format", "json")
    )
    assert list(found.verdict) == printed["verdict"]
    assert found.left_out["after"].tolist() == pytest.approx([row["after"] for row in printed["left_out"]])
    assert found.pool.depth == printed["pool"]["depth"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("qrels_umbrela_gpt-4o.txt", "1 0 d1 1\n1 0 d2 0\n", "qrels_umbrela_gpt-4o"),
        ("qrels.txt", "1 Qwen2.5-7B d1 1\n1 Qwen2.5-7B d2 0\n", "Qwen2.5-7B"),
        ("qrels.txt", "1 0 d1 1 claude-3-5-sonnet\n1 0 d2 0 claude-3-5-sonnet\n", "claude-3-5-sonnet"),
        ("qrels.jsonl", '{"query_id": "1", "doc_id": "d1", "relevance": 1, "model": "o3-mini"}\n', "o3-mini"),
    ],
)
def test_grades_of_a_language_model_are_named_wherever_systems_are_evaluated(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    qrels, ranking = tmp_path / name, tmp_path / "bm25.run"
    qrels.write_text(text)
    ranking.write_text("1 Q0 d1 1 2.0 bm25\n1 Q0 d2 2 1.0 bm25\n")
    sentence = f"the name '{said}' says that a language model gave these grades"
    for function in (evaluate, compare):
        with pytest.warns(FormatWarning, match=re.escape(sentence)):
            function(qrels, ranking, "RR")
    with pytest.warns(FormatWarning, match=re.escape(sentence)):
        collection.explain(qrels, ranking, "RR", "1")
    for command in ("evaluate", "compare"):
        assert sentence in helpers.run(command, "-m", "RR", qrels, ranking).stderr
    assert sentence in helpers.run("reusability", "-m", "RR", qrels, ranking).stderr


def test_a_column_of_a_frame_names_the_model_and_people_are_no_models(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": ["d1", "d2"], "relevance": [1, 0]})
    ranking = {"1": {"d1": 2.0, "d2": 1.0}}
    with pytest.warns(FormatWarning, match="qrels: the name 'Llama-3-8B' says"):
        evaluate(frame.assign(by=["ann", "Llama-3-8B"]), ranking, "RR")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormatWarning)
        evaluate(frame.assign(by="ann", iteration="0"), ranking, "RR")
        for name in ("dl19-passage.txt", "wellman.qrels", "llm4eval.people.txt"):
            collection.write_qrels(frame, tmp_path / name)
            evaluate(tmp_path / name, ranking, "RR")


def test_files_may_be_pipes(tmp_path: Path) -> None:
    """Each can be read only once, also for the names in it."""
    contents = ("1 0 d1 1\n", "1 Q0 d1 1 2.5 bm25\n", "1 Q0 d2 1 2.5 dense\n")

    def pipes() -> list[str]:
        readers = []
        for content in contents:
            reading, writing = os.pipe()
            os.write(writing, content.encode())
            os.close(writing)
            readers.append(reading)
        opened.extend(readers)
        return [f"/dev/fd/{reading}" for reading in readers]

    opened: list[int] = []
    qrels, *runs = pipes()
    assert evaluate(qrels, runs, "RR").means()["RR"].to_dict() == {"bm25": 1.0, "dense": 0.0}
    qrels, *runs = pipes()
    assert len(compare(qrels, runs, "RR").leaderboard) == 2
    for reading in opened:
        os.close(reading)
