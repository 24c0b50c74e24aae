"""Relevance levels: fractions, levels that no label reaches, and grades of the scale that nobody has given yet."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import comparison
from collection.campaign import Campaign
from collection.core.records import Run
from collection.measures import MEASURES, bounds, from_grades, parse
from tests.helpers import fails, run

RUN = "1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 c 3 1 t\n"


@pytest.fixture
def clicked(tmp_path: Path) -> tuple[Path, Path]:
    """Qrels with fractions, as clicks give them, and a run."""
    qrels, ranking = tmp_path / "qrels", tmp_path / "t.run"
    qrels.write_text("1 0 a 0.62\n1 0 b 0.2\n1 0 c 0.55\n")
    ranking.write_text(RUN)
    return qrels, ranking


@pytest.mark.parametrize("measures", [["-m", "AP"], [], ["-m", "nDCG", "-m", "NumRet"], ["-m", "AP(rel=2)"]])
@pytest.mark.parametrize(
    "command", [["evaluate"], ["compare"], ["evaluate", "--explain", "1"], ["evaluate", "--bounds"]]
)
def test_qrels_with_only_negative_grades(tmp_path: Path, measures: list[str], command: list[str]) -> None:
    qrels, ranking = tmp_path / "qrels", tmp_path / "t.run"
    qrels.write_text("1 0 a -1\n1 0 b -2\n")
    ranking.write_text(RUN)
    result = run(command[0], qrels, ranking, *command[1:], *measures)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("note: no grade is 0 or more, so nothing counts as judged; the highest is -1\n") == 1


@pytest.mark.slow
def test_a_level_that_no_label_reaches_is_told_once(clicked: tuple[Path, Path]) -> None:
    said = "no grade reaches relevance level 1 (AP, P@10); the highest is 0.62. Try --relevance-level 0.5"
    for command in ("evaluate", "compare"):
        result = run(command, *clicked, "-m", "AP", "-m", "P@10", "-m", "nDCG@10")
        assert result.stderr.count(said) == 1
        assert "reaches" not in run(command, *clicked, "-m", "AP(rel=0.5)", "-m", "nDCG@10").stderr
    assert said.replace(", P@10", "") in run("evaluate", *clicked, "-m", "AP", "--explain", "1").stderr
    assert said.replace(", P@10", "") in run("compare", *clicked, "-m", "AP", "--power", "0.1").stderr


@pytest.mark.slow
def test_fractions_are_levels(clicked: tuple[Path, Path]) -> None:
    result = run("evaluate", *clicked, "-m", "AP", "-m", "P@2", "--relevance-level", "0.5", "--format", "tsv")
    values = [float(line.split("\t")[3]) for line in result.stdout.splitlines()]
    assert values == pytest.approx([(1 + 2 / 3) / 2, 0.5])
    assert "reaches" not in result.stderr
    assert run("compare", *clicked, "-m", "AP", "--relevance-level", "0.5").exit_code == 0
    whole = run("evaluate", *clicked, "-m", "AP", "--relevance-level", "1", "--format", "tsv").stdout
    assert whole == run("evaluate", *clicked, "-m", "AP", "--relevance-level", "1.0", "--format", "tsv").stdout
    for wrong in ("0", "-1", "x", "nan", "inf", "1e999"):
        assert run("evaluate", *clicked, "--relevance-level", wrong).exit_code == 2


@pytest.mark.slow
def test_simulations_keep_fractions(tmp_path: Path) -> None:
    documents, topics, qrels = tmp_path / "d.tsv", tmp_path / "t.tsv", tmp_path / "qrels"
    documents.write_text("".join(f"d{n}\t{'wing' if n < 8 else 'jet'} flow {n}\n" for n in range(20)))
    topics.write_text("1\twing\n")
    qrels.write_text("".join(f"1 0 d{n} {0.62 if n < 6 else 0.2}\n" for n in range(20)))
    files = ("--documents", documents, "--topics", topics, "--qrels", qrels, "--seeds", "1")
    result = run("simulate", *files, "--relevance-level", "0.5")
    assert result.exit_code == 0, result.output
    assert "means over 1 topic" in result.stdout
    assert "needs topics with relevant documents in the collection, found none" in fails("simulate", *files)


@pytest.mark.slow
def test_reusability_takes_fractions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(t, d, round(0.9 * float(rng.random()), 2)) for t in range(6) for d in range(30)]
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{t} 0 d{d} {g}\n" for t, d, g in rows))
    for name in "abcdef":
        lines = [f"{t} Q0 d{d} 1 {g + rng.normal():.3f} {name}\n" for t, d, g in rows]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    runs = [tmp_path / f"{name}.run" for name in "abcdef"]
    result = run("reusability", qrels, *runs, "-m", "AP", "--relevance-level", "0.5")
    assert result.exit_code == 0, result.output
    assert "reaches" not in result.stderr
    known = run("reusability", qrels, *runs[:2], "-m", "P@3", "--relevance-level", "0.5", "--bounds", "--grades", "0,1")
    assert "bounds assume that an unjudged document may have any grade of the scale (0, 1)" in known.stderr
    assert "no grade reaches relevance level 1 (AP)" in run("reusability", qrels, *runs, "-m", "AP").stderr


def test_pages_and_python_hear_of_it_too() -> None:
    qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": [0.62, 0.2]})
    ranking = Run("t", pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0]}))
    evaluation = comparison.evaluate([ranking], qrels, ["AP"])
    assert evaluation.notes[0].startswith("no grade reaches relevance level 1 (AP)")
    assert evaluation.notes[0] in comparison.compare(evaluation).notes
    assert comparison.evaluate([ranking], qrels, ["AP(rel=0.5)"]).notes == ()


# Bounds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["nDCG", "nDCG@2", "DCG", "CG", "ERR", "RBP", "AP", "P@2", "Q", "nDCG(gains={1:1,2:3,3:7})"]
)
def test_bounds_by_the_scale_are_those_of_all_its_grades(text: str) -> None:
    """Against all completions, one by one."""
    ranking, judged, scale = [1, None, 0, None], [1, 0, 2], (0, 1, 2, 3)
    measure, aligned = parse(text), from_grades([ranking], [judged])
    values = [float(measure(aligned)[0])]
    for a, b in product(scale, repeat=2):
        completed = from_grades([[1, a, 0, b]], [[*judged, a, b]])
        # A measure that scales by the highest grade keeps that of the qrels.
        named = measure(max_rel=2) if "max_rel" in measure.entry.parameters else measure
        values.append(float(named(completed)[0]))
    found = bounds(measure, aligned, grades=scale)
    assert found.lowest[0] == pytest.approx(min(values))
    assert found.highest[0] == pytest.approx(max(values))


def test_bounds_widen_with_a_grade_that_nobody_has_given() -> None:
    aligned = from_grades([[0, None, 1]], [[0, 1, 2]])
    plain, known = bounds("nDCG", aligned), bounds("nDCG", aligned, grades=(0, 1, 2, 3))
    assert known.highest[0] > plain.highest[0] + 0.01
    for entry in MEASURES:
        if not entry.needs:
            measure = parse(entry.example)
            plain, known = bounds(measure, aligned), bounds(measure, aligned, grades=(0, 1, 2, 3))
            assert known.lowest[0] <= plain.lowest[0] <= measure(aligned)[0] <= plain.highest[0] <= known.highest[0]


@pytest.mark.slow
def test_which_grades_bounds_assume_is_said(clicked: tuple[Path, Path], campaign: Campaign, tmp_path: Path) -> None:
    unknown = run("evaluate", *clicked, "-m", "nDCG", "--bounds").stderr
    assert "grade of the qrels, since the scale is unknown (0, 0.2, 0.55, 0.62)" in unknown
    known = run("evaluate", *clicked, "-m", "AP", "--bounds", "--grades", "0-3").stderr
    assert "any grade of the scale (0, 1, 2, 3)" in known
    assert "--grades needs --bounds" in run("evaluate", *clicked, "--grades", "0-3").stderr
    refused = fails("evaluate", *clicked, "--bounds", "--grades", "3")
    assert "--grades: expected two or more grades, such as 0-3 or 0,1,2,3, found '3'" in refused
    labels = tmp_path / "labels.csv"
    labels.write_text("annotator,query_id,doc_id,relevance\na,1,d1,1\na,1,d2,0\n")
    campaign.imports.import_files(labels=labels)
    evaluation = campaign.results.evaluation.evaluate(["nDCG@10"], with_bounds=True)
    assert any("any grade of the scale (0, 1, 2, 3)" in note for note in evaluation.notes)
    lowest, _ = evaluation.bounds()
    plain, _ = comparison.evaluate(
        campaign.corpus.runs(), campaign.results.qrels.build(), ["nDCG@10"], with_bounds=True
    ).bounds()
    assert (lowest <= plain).all(axis=None)
    assert (lowest < plain).any(axis=None)
    assert "grades of the scale" not in " ".join(campaign.results.evaluation.evaluate(["nDCG@10"]).notes)
    report = campaign.results.evaluation.reusability(["nDCG@10"], with_bounds=True)
    assert report.bounds is not None
    assert (report.bounds.set_index("run")["lowest"] <= plain["nDCG@10"]).all()
