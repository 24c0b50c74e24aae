"""Answer measures: golden values, real published ones, and random answers against a naive implementation."""

import gzip
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import evaluate_answers
from collection.comparison import Evaluation, compare, frontier, with_costs
from collection.core.answers import NuggetLabels, SupportLabels
from collection.core.errors import InputError, UnknownNameError
from collection.formats import read_nugget_assignments, read_nuggets, read_support
from collection.generated_answers import ANSWER_MEASURES, label_answers, parse_answer_measure
from collection.measures.catalogue import describe
from tests.collection.generated_answers.examples import (
    answers,
    assignments,
    nuggets,
    parse_answer,
    support_labels,
)
from tests.helpers import GOLDEN, ok

RAG = Path("data") / "rag"
NUGGET_COLUMNS = {
    "strict_vital": "nugget_vital(strict=True)", "strict_all": "nugget_all(strict=True)", "vital": "nugget_vital",
    "all": "nugget_all", "strict_weighted": "nugget_weighted(strict=True)", "weighted": "nugget_weighted",
}  # fmt: skip
SUPPORT_COLUMNS = {
    "p_first": "support_precision", "r_first": "support_recall", "r_first_allsent": "support_recall(unjudged='zero')",
    "p_first_strict": "support_precision(strict=True)", "r_first_strict": "support_recall(strict=True)",
    "p_mean": "support_precision(citations='all')", "r_mean": "support_recall(citations='all')",
    "p_micro": "support_precision(citations='micro')",
    "r_max_allsent": "support_recall(citations='max',unjudged='zero')",
}  # fmt: skip


def golden_rows() -> list[list[str]]:
    lines = (GOLDEN / "answer_measures.tsv").read_text("utf-8").splitlines()[1:]
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize(("measure", "text", "expected", "source"), golden_rows())
def test_golden(measure: str, text: str, expected: str, source: str) -> None:
    (found,) = parse_answer_measure(measure).compute(parse_answer(measure, text))
    assert found == pytest.approx(eval(expected, {"__builtins__": {}}), abs=1e-12), source


def test_every_answer_measure_has_a_golden_row_and_a_description() -> None:
    assert {entry.name for entry in ANSWER_MEASURES} == {parse_answer_measure(row[0]).name for row in golden_rows()}
    for entry in ANSWER_MEASURES:
        assert entry.formula.startswith(f"{entry.name} = ")
        assert entry.description.endswith(".")
        assert f"needs: {entry.inputs}" in describe(entry)


def test_the_command_lists_answer_measures() -> None:
    assert "nugget_weighted" in ok("measures")
    assert "arXiv 2411.09607" in ok("measures", "nugget-vital")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("nugget_vital(strict)", "nugget_vital(strict=True)"),
        ("Nugget-Vital( strict=True )", "nugget_vital(strict=True)"),
        ("support_recall(max, zero)", "support_recall(citations='max',unjudged='zero')"),
        ("support_recall(citations=max)", "support_recall(citations='max')"),
        ("support_precision(citations='first')", "support_precision"),
    ],
)
def test_notation(written: str, read: str) -> None:
    assert str(parse_answer_measure(written)) == read
    assert parse_answer_measure(read) == parse_answer_measure(written)


@pytest.mark.parametrize(
    "text", ["nugget_vital(strict", "nugget_vital@5", "nugget_vital(loose)", "words(strict)", 3, ""]
)
def test_odd_notation_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_answer_measure(text)


def test_a_name_with_a_typing_error_is_suggested() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'nugget_vital'"):
        parse_answer_measure("nuget_vital")


def by_answer(found: Evaluation) -> pd.DataFrame:
    rows = found.per_topic()
    return rows.pivot(index=["run", "query_id"], columns="measure", values="value")


def require_equal(
    labels: dict[str, NuggetLabels | SupportLabels | pd.DataFrame],
    folder: Path,
    columns: dict[str, str],
    condition: str = "",
) -> None:
    """Compare with the files of expected values: by answer, by run, and by run over the answers present."""
    scores = pd.read_csv(folder / "expected_scores.csv", dtype={"topic_id": "str"})
    means = pd.read_csv(folder / "expected_run_scores.csv")
    if condition:
        scores, means = (table[table["condition"] == condition] for table in (scores, means))
    found = evaluate_answers(measures=list(columns.values()), **labels)
    present = evaluate_answers(measures=list(columns.values()), missing_answers="leave-out", **labels)
    runs = found.means().index
    scores = scores[scores["run_id"].isin(runs)].set_index(["run_id", "topic_id"])
    means = means[means["run_id"].isin(runs)].set_index("run_id")
    assert set(means.index) == set(runs)
    values = by_answer(found).loc[scores.index]
    for column, measure in columns.items():
        # A column of counts has the same name as one of values in the files of nuggets.
        last = f"{column}.1" if f"{column}.1" in scores else column
        for name, table, expected in (
            ("answers", values[measure], scores[last]),
            ("means, 0 without an answer", found.means()[measure].loc[means.index], means[f"missing0_{column}"]),
            ("means over answers", present.means()[measure].loc[means.index], means[f"mean_{column}"]),
        ):
            assert np.abs(table.to_numpy() - expected.to_numpy()).max() < 1e-6, (measure, name)


@pytest.mark.shared
def test_nuggets_of_nist(shared: Path) -> None:
    folder = shared / RAG / "rag24-nist-nuggets"
    require_equal(
        {"nugget_assignments": read_nugget_assignments(folder / "assignments.jsonl.gz")}, folder, NUGGET_COLUMNS
    )


@pytest.mark.shared
@pytest.mark.parametrize("system", ["command-r-plus", "gpt-4o", "l31_70b_instruct"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.long
def test_nuggets_of_baselines_and_their_published_metrics(shared: Path, system: str, listed: bool) -> None:
    """Also with the list of nuggets, of which each system's file lacks a few."""
    folder = shared / RAG / "rag24-baselines-llm"
    known = read_nuggets(folder / "nuggets.jsonl.gz") if listed else None
    labels = read_nugget_assignments(folder / f"assignments.{system}.jsonl.gz", known)
    require_equal({"nugget_assignments": labels}, folder, NUGGET_COLUMNS)
    with gzip.open(folder / f"published_metrics.{system}.jsonl.gz", "rt", encoding="utf-8") as file:
        published = pd.DataFrame([json.loads(line) for line in file]).set_index("qid")
    found = by_answer(evaluate_answers(nugget_assignments=labels, measures=list(NUGGET_COLUMNS.values())))
    found = found.reset_index("run", drop=True)
    for column, measure in NUGGET_COLUMNS.items():
        expected = published[f"{column}_score"].loc[found.index]
        assert np.abs(found[measure] - expected).max() < 1e-12, measure


@pytest.mark.shared
@pytest.mark.parametrize("condition", ["webassess", "with_prediction", "without_prediction"])
@pytest.mark.long
def test_support_of_nist(shared: Path, condition: str) -> None:
    folder = shared / RAG / "rag24-nist-support"
    labels = read_support(folder / f"support.{condition}.jsonl.gz")
    require_equal({"support": labels}, folder, SUPPORT_COLUMNS, condition)


NO_LABEL = -1


def naive_nugget(kind: str, strict: bool, listed: list[tuple[str, float]], grades: list[int | None]) -> float:
    top = below = 0.0
    unlabelled, labelled = set[float](), set[float]()
    for (importance, weight), grade in zip(listed, grades, strict=True):
        credit = 1.0 if grade == 2 else 0.5 if grade == 1 and not strict else 0.0
        if kind == "rubric":
            counts = 0.0 if math.isnan(weight) else weight
        elif kind == "nugget_all":
            counts = 0.0 if weight < 0 else 1.0
        elif importance == "vital":
            counts = 1.0
        else:
            counts = 0.5 if importance == "okay" and kind == "nugget_weighted" else 0.0
        (unlabelled if grade == NO_LABEL else labelled).add(counts)
        if grade != NO_LABEL:
            top += counts * credit
            below += max(counts, 0.0)
    if unlabelled - {0.0} and not labelled - {0.0}:
        return math.nan  # other nuggets have labels
    return top / below if below else 0.0


def naive_support(recall: bool, citations: str, strict: bool, zero: bool, sentences: list[list[int | None]]) -> float:
    top = below = 0.0
    for grades in sentences:
        if not grades:
            below += recall
            continue
        credits = [
            None if g is None and not zero else 1.0 if g == 2 else 0.5 if g == 1 and not strict else 0.0 for g in grades
        ]
        chosen = credits[:1] if citations == "first" else credits
        known = [credit for credit in chosen if credit is not None]
        if not known:
            continue
        if citations == "micro":
            top, below = top + sum(known), below + len(known)
        else:
            top, below = top + (max(known) if citations == "max" else sum(known) / len(known)), below + 1
    return top / below if below else 0.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.long
def test_random_answers_against_a_naive_implementation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs, topics = [f"r{n}" for n in range(rng.integers(1, 5))], [str(n) for n in range(rng.integers(1, 5))]
    listed = {
        topic: [
            (str(rng.choice(["vital", "okay", ""])), float(rng.choice([np.nan, -2, 0, 1, 4])))
            for _ in range(rng.integers(1, 7))
        ]
        for topic in topics
    }
    keys = [(run, topic) for run in runs for topic in topics if rng.random() < 0.8] or [(runs[0], topics[0])]
    options = [2, 1, 0, None]
    graded = {key: [[*options, NO_LABEL][rng.integers(5)] for _ in listed[key[1]]] for key in keys}
    for grades in graded.values():
        grades[0] = 1 if grades[0] == NO_LABEL else grades[0]  # an answer without any label has no value
    said = {
        key: [[options[rng.integers(4)] for _ in range(rng.integers(4))] for _ in range(rng.integers(1, 6))]
        for key in keys
    }
    written = nuggets([(topic, str(n), *each) for topic, every in listed.items() for n, each in enumerate(every)])
    rows = [(*key, str(n), grade) for key, every in graded.items() for n, grade in enumerate(every)]
    assigned = assignments([row for row in rows if row[3] != NO_LABEL])
    # Rows in any order give the same values.
    given = {
        "nuggets": written.sample(frac=1, random_state=seed),
        "nugget_assignments": assigned.sample(frac=1, random_state=seed),
    }
    names = [
        f"{kind}{'(strict=True)' * strict}"
        for kind in ("nugget_vital", "nugget_all", "nugget_weighted")
        for strict in (False, True)
    ]
    found = by_answer(evaluate_answers(measures=names, **given))
    for key, grades in graded.items():
        for name in names:
            expected = naive_nugget(name.partition("(")[0], "strict" in name, listed[key[1]], grades)
            assert found.loc[key, name] == pytest.approx(expected, abs=1e-12, nan_ok=True), (key, name)
    if any(not math.isnan(weight) for every in listed.values() for _, weight in every):
        of_rubric = by_answer(evaluate_answers(measures="rubric", **given))
        for key, grades in graded.items():
            weighted = any(not math.isnan(weight) for _, weight in listed[key[1]])
            if weighted:
                expected = naive_nugget("rubric", False, listed[key[1]], grades)
                assert of_rubric.loc[key, "rubric"] == pytest.approx(expected, abs=1e-12, nan_ok=True), key
    labelled = label_answers(support=support_labels(said))
    for recall, name in enumerate(("support_precision", "support_recall")):
        for citations in ("first", "all", "max", "micro"):
            for strict in (False, True):
                for unjudged in ("leave-out", "zero"):
                    measure = parse_answer_measure(
                        f"{name}(citations={citations},strict={strict},unjudged='{unjudged}')"
                    )
                    values = measure.compute(labelled)
                    for number, key in enumerate(
                        labelled.answers[["run", "query_id"]].itertuples(index=False, name=None)
                    ):
                        expected = naive_support(bool(recall), citations, strict, unjudged == "zero", said[key])
                        assert values[number] == pytest.approx(expected, abs=1e-12), (key, measure)


TWO = [("1", "a", "vital", 1.0), ("1", "b", "okay", -1.0), ("2", "a", "vital", np.nan)]
GRADES: list[tuple[str, str, str, int | None]] = [
    ("x", "1", "a", 2), ("x", "1", "b", 2), ("x", "2", "a", 1), ("y", "1", "a", 0), ("y", "1", "b", 1),
]  # fmt: skip


def test_a_missing_answer_counts_0_with_a_note_or_is_left_out() -> None:
    given = {
        "nuggets": nuggets(TWO),
        "nugget_assignments": assignments(GRADES[:1] + GRADES[1:4] + [("y", "1", "b", 2)]),
    }
    found = evaluate_answers(measures="nugget_all", **given)
    assert found.means()["nugget_all"].to_dict() == {"x": 0.75, "y": 0.0}
    assert "y: 1 of 2 topics missing; missing answers count as 0" in found.notes
    left = evaluate_answers(measures="nugget_weighted", missing_answers="leave-out", **given)
    assert left.means()["nugget_weighted"].to_dict() == {"x": 0.75, "y": pytest.approx(1 / 3)}
    assert "y: 1 of 2 topics missing; means are over the other topics" in left.notes
    assert by_answer(left).loc[("y", "2")].isna().all()


def test_a_comparison_takes_values_of_answers() -> None:
    rows: list[tuple[str, str, str, int | None]] = [
        (run, str(topic), "a", grade) for topic in range(12) for run, grade in (("good", 2), ("poor", topic % 3 % 2))
    ]
    listed = nuggets([(str(topic), "a", "vital", np.nan) for topic in range(12)])
    found = evaluate_answers(
        nuggets=listed, nugget_assignments=assignments(rows), measures=["nugget_vital", "nugget_all(strict)"]
    )
    compared = compare(found, baseline="poor")
    assert compared.tests["significant"].all()
    assert "nugget\\_vital" in compared.to_latex()
    assert found.chart().to_dict()
    assert compared.chart("nugget_all(strict=True)").to_dict()
    assert compared.topics_chart("good").to_dict()
    costs = with_costs(found, pd.DataFrame({"run": ["good", "poor"], "price": [2.0, 1.0]}))
    assert costs.costs is not None
    dominated = frontier(found.means(), costs.costs, "nugget_vital", "price", found.measures["nugget_vital"].direction)
    assert dominated["dominated"].tolist() == [False, False]


def test_answers_without_labels_have_no_value_and_empty_ones_count_0() -> None:
    every = answers([("x", "1", 5), ("x", "2", 5), ("y", "1", 0), ("y", "2", 7)])
    found = evaluate_answers(
        every, nuggets=nuggets(TWO), nugget_assignments=assignments(GRADES[:2]), measures=["nugget_vital", "words"]
    )
    assert by_answer(found)["nugget_vital"].to_dict() == {
        ("x", "1"): 1.0, ("x", "2"): pytest.approx(np.nan, nan_ok=True), ("y", "1"): 0.0,
        ("y", "2"): pytest.approx(np.nan, nan_ok=True),
    }  # fmt: skip
    assert found.means().loc["y"].tolist() == [0.0, 3.5]
    assert "2 answers without a nugget assignment have no value" in found.notes


def test_an_answer_without_a_label_that_the_measure_reads_has_no_value() -> None:
    every = answers([("x", "1", 5), ("y", "1", 5), ("z", "1", 0)])
    rows: list[tuple[str, str, str, int | None]] = [("x", "1", "b", 2), ("y", "1", "a", 1)]
    found = evaluate_answers(
        every,
        nuggets=nuggets([("1", "a", "vital", 1.0), ("1", "b", "okay", np.nan)]),
        nugget_assignments=assignments(rows),
        measures=["nugget_vital", "nugget_all", "rubric"],
    )
    nan = pytest.approx(np.nan, nan_ok=True)
    assert found.means().loc["x"].tolist() == [nan, 1.0, nan]
    assert found.means().loc["y"].tolist() == [0.5, 0.5, 0.5]
    assert found.means().loc["z"].tolist() == [0.0, 0.0, 0.0]
    assert "1 answer with other labels, but none that nugget_vital reads, has no value by it" in found.notes
    missing = found.unjudged.pivot(index="run", columns="measure", values="unjudged")
    assert missing["nugget_vital"].to_dict() == missing["rubric"].to_dict() == {"x": 1.0, "y": 0.0, "z": 0.0}
    assert missing["nugget_all"].to_dict() == {"x": 0.5, "y": 0.5, "z": 0.0}
    assert [(each.retrieved, each.unjudged) for each in found.coverage] == [(2, 1), (2, 1), (0, 0)]


def test_only_first_citations_are_missing_from_a_measure_of_first_citations() -> None:
    labels = support_labels({("x", "1"): [[2, None], [1, None]], ("y", "1"): [[None, 2]]})
    labels = replace(labels, support=labels.support[labels.support["grade"].notna()])
    found = evaluate_answers(support=labels, measures=["support_precision", "support_precision(citations='all')"])
    assert found.means().loc["x"].tolist() == [0.75, 0.75]
    assert found.means().loc["y"].tolist() == [pytest.approx(np.nan, nan_ok=True), 1.0]
    assert found.unjudged["unjudged"].tolist() == [0.0, 0.5, 1.0, 0.5]


def test_labels_that_do_not_fit_are_counted() -> None:
    rows = [*GRADES[:1], ("x", "1", "z", 2), ("x", "2", "a", None)]
    found = evaluate_answers(nuggets=nuggets(TWO), nugget_assignments=assignments(rows), measures="nugget_all")
    assert found.notes == (
        "1 nugget assignment of nuggets that are not listed is ignored",
        "1 nugget assignment without a grade counts as no support",
        "1 nugget assignment is missing (not judged, or annotators could not tell) in answers that have others, and is "
        "left out",
    )


def test_topics_without_labels_are_named() -> None:
    found = evaluate_answers(
        answers([("x", "1", 5), ("x", "9", 5)]),
        nuggets=nuggets(TWO),
        nugget_assignments=assignments(GRADES),
        measures=["nugget_vital", "rubric", "words"],
    )
    assert "1 topic has no value by nugget_vital, since it has no labels (9)" in found.notes
    assert by_answer(found).loc[("x", "2"), "rubric"] != by_answer(found).loc[("x", "2"), "rubric"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nugget_assignments": assignments(GRADES)}, "expected nuggets as well"),
        ({"nuggets": nuggets(TWO), "nugget_assignments": assignments(GRADES + GRADES[:1])}, "found two for run 'x'"),
        ({"nuggets": nuggets(TWO + TWO[:1]), "nugget_assignments": assignments(GRADES)}, "found two for query_id '1'"),
        ({"nuggets": nuggets(TWO)}, "found none"),
        (
            {"nuggets": nuggets(TWO), "nugget_assignments": assignments(GRADES), "measures": "support_recall"},
            "found none",
        ),
        (
            {"nuggets": nuggets(TWO), "nugget_assignments": assignments(GRADES), "measures": ["rubric"] * 2},
            "given twice",
        ),
        (
            {"nuggets": nuggets(TWO), "nugget_assignments": assignments(GRADES), "missing_answers": "one"},
            "missing_answers",
        ),
        (
            {"nuggets": nuggets(TWO), "nugget_assignments": assignments(GRADES).drop(columns="grade")},
            "nugget assignments",
        ),
        (
            {"nuggets": nuggets(TWO), "nugget_assignments": assignments([("x", "1", "a", -1)])},
            "grades from 0 to 2, found -1",
        ),
        (
            {
                "answers": answers([("x", "1", 5)]).drop(columns="words"),
                "nuggets": nuggets(TWO),
                "nugget_assignments": assignments(GRADES),
            },
            "answers: .*words",
        ),
        ({"answers": answers([("x", "1", 5)] * 2), "measures": "words"}, "found two for run 'x'"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_answers(**given)  # type: ignore[arg-type]


def test_citations_that_nobody_judged_come_from_the_answers() -> None:
    labels = support_labels({("x", "1"): [[2, 0], [1]], ("y", "1"): [[0]]})
    judged = labels.support[(labels.support["position"] == 0) & (labels.support["run"] == "x")]
    bare = SupportLabels(labels.answers, labels.sentences, judged)
    found = evaluate_answers(support=bare, measures=["support_recall", "support_precision(micro, zero)"])
    assert found.means().loc["x"].tolist() == [0.75, 0.5]
    assert np.isnan(found.means().loc["y"]).all()
    alone = evaluate_answers(support=judged, measures=["support_recall", "support_precision(micro, zero)"])
    assert alone.means().loc["x"].tolist() == [0.75, 0.75]


def test_a_topic_without_citations_counts_if_it_is_in_the_file_of_labels() -> None:
    labels = support_labels({("x", "1"): [[2]], ("x", "2"): [[], []], ("y", "1"): [[1]]})
    for measure in ("support_precision", "support_recall(micro)"):
        found = evaluate_answers(support=labels, measures=measure)
        assert found.means().iloc[:, 0].to_dict() == {"x": 0.5, "y": 0.25}


def test_a_missing_answer_counts_0_only_for_topics_that_somebody_has_judged() -> None:
    found = evaluate_answers(
        answers([("x", "1", 5), ("x", "2", 5), ("y", "1", 5)]),
        nuggets=nuggets(TWO),
        nugget_assignments=assignments([("x", "1", "a", 2), ("y", "1", "a", 2)]),
        measures="nugget_vital",
    )
    assert found.means()["nugget_vital"].to_dict() == {"x": 1.0, "y": 1.0}


def test_a_mean_grade_has_half_of_it_as_credit() -> None:
    rows = pd.DataFrame({"run": "x", "query_id": "1", "nugget": "a", "grade": [1.5]})
    found = evaluate_answers(
        nuggets=nuggets(TWO), nugget_assignments=rows, measures=["nugget_vital", "nugget_vital(strict)"]
    )
    assert found.means().loc["x"].tolist() == [0.75, 0.0]


def test_further_columns_say_nothing() -> None:
    listed, rows = nuggets(TWO), assignments(GRADES)
    plain = evaluate_answers(nuggets=listed, nugget_assignments=rows, measures="nugget_all").means()
    more = evaluate_answers(
        nuggets=listed.assign(run="z", answer="yes", number=7),
        nugget_assignments=rows.assign(words=3, weight=2.0, answer="no"),
        measures="nugget_all",
    )
    assert more.means().equals(plain)


def test_labels_without_the_texts_of_answers_do_not_say_how_long_they_are(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("run,query_id,nugget,grade\nx,1,a,2\n")
    labels = read_nugget_assignments(path, nuggets(TWO).assign(text=["A.", "B.", "C."]))
    assert evaluate_answers(nugget_assignments=labels).means().columns.tolist() == [
        "nugget_vital(strict=True)", "nugget_vital", "nugget_all",
    ]  # fmt: skip
    cited = support_labels({("x", "1"): [[2]]}, words=7)
    both = evaluate_answers(nugget_assignments=labels, support=cited, measures="words")
    assert both.means().loc["x", "words"] == 7.0
