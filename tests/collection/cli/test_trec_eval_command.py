"""The command `cleverdon trec_eval`: its options, standard input, its script and its errors."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from collection.cli import main
from collection.interfaces.trec_eval import NICKNAMES, TREC_MEASURES
from collection.measures import MEASURES
from tests.helpers import ROOT, fails, ok, run

LONG = {
    "-q": "--query_eval_wanted", "-c": "--complete_rel_info_wanted", "-n": "--nosummary", "-l": "--level_for_rel",
    "-M": "--Max_retrieved_per_topic", "-J": "--Judged_docs_only", "-N": "--Number_docs_in_coll", "-m": "--measure",
    "-R": "--Rel_info_format", "-T": "--Results_format", "-Z": "--Zscore", "-v": "--version",
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Qrels and a run with two topics, a run with one of them, preferences, and reference scores."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n")
    Path("run").write_text("1 Q0 b 1 2 mine\n1 Q0 a 2 1 mine\n2 Q0 a 1 1 mine\n")
    Path("part").write_text("1 Q0 a 1 1 part\n")
    Path("prefs").write_text("1 u s a 1\n1 u s b 0\n2 u s a 1\n2 u s b 0\n")
    Path("zscores").write_text("1 map 0 0.5\n2 map 0 0.5\n")
    return tmp_path


def test_options_have_the_names_of_trec_eval() -> None:
    names = {option.opts[0]: option.opts[1] for option in main.commands["trec_eval"].params if len(option.opts) > 1}
    assert names == LONG


@pytest.mark.parametrize(
    "arguments",
    [
        ["-q", "-m", "map", "-l2", "qrels", "run"],
        ["-qmmap", "-l", "2", "qrels", "run"],
        ["qrels", "run", "-mmap", "-q", "-l2"],
        ["--query_eval_wanted", "--measure", "map", "--level_for_rel=2", "-Rqrels", "-Ttrec_results", "qrels", "run"],
        ["-qc", "-m", "map", "-l1", "-R", "prefs", "-l", "2", "-Rqrels", "qrels", "run"],
        ["-ocqM1000", "-J", "-N1000", "-l2", "-mmap", "--", "qrels", "run"],
    ],
)  # fmt: skip
def test_ways_of_writing_options(files: Path, arguments: list[str]) -> None:
    lines = [f"{'map':<22}\t{topic}\t{value}" for topic, value in (("1", "0.0000"), ("2", "1.0000"), ("all", "0.5000"))]
    assert ok("trec_eval", *arguments).splitlines() == lines


def test_the_default_is_official_and_all_topics(files: Path) -> None:
    assert ok("trec_eval", "qrels", "run") == ok("trec_eval", "-m", "official", "qrels", "run")
    assert {line.split("\t")[1] for line in ok("trec_eval", "qrels", "run").splitlines()} == {"all"}
    assert ok("trec_eval", "-n", "qrels", "run") == ""


def test_measures_are_printed_once(files: Path) -> None:
    assert ok("trec_eval", "-m", "map", "-m", "map", "qrels", "run").count("\n") == 1
    result = run("trec_eval", "-m", "map.5", "qrels", "run")
    assert result.stdout.count("\n") == 1
    assert result.stderr == "note: map takes no numbers; .5 is ignored, as in trec_eval\n"


def test_a_run_from_standard_input(files: Path) -> None:
    expected = ok("trec_eval", "-q", "qrels", "run")
    result = CliRunner().invoke(main, ["trec_eval", "-q", "qrels", "-"], input=Path("run").read_text())
    assert result.stdout == expected
    result = CliRunner().invoke(main, ["trec_eval", "qrels", "-"], input="1 Q0 a 1 high mine\n")
    assert result.stderr.startswith("cleverdon: standard input, line 1: expected a number as score")


def test_the_run_is_named_after_its_last_line(files: Path) -> None:
    with Path("run").open("a") as file:
        file.write("2 Q0 c 9 0.1 other\n")
    assert ok("trec_eval", "-m", "runid", "qrels", "run") == f"{'runid':<22}\tall\tother\n"


def test_missing_topics(files: Path) -> None:
    assert "the run lacks topics of the judgements: '2'; use -c to count" in fails("trec_eval", "qrels", "part")
    found = ok("trec_eval", "-c", "-m", "num_q", "-m", "map", "qrels", "part").splitlines()
    assert [line.split("\t")[2] for line in found] == ["2", "0.5000"]


def test_topics_without_judgements_are_ignored(files: Path) -> None:
    Path("one").write_text("1 0 a 1\n")
    found = ok("trec_eval", "-q", "-m", "num_ret", "one", "run").splitlines()
    assert [line.split("\t")[1:] for line in found] == [["1", "2"], ["all", "2"]]


def test_preferences_and_z_scores(files: Path) -> None:
    simple = ok("trec_eval", "-R", "prefs", "-m", "prefs_simp", "prefs", "run")
    assert simple == f"{'prefs_simp':<22}\tall\t0.5000\n"
    assert ok("trec_eval", "-R", "qrels_prefs", "-m", "prefs_num_prefs_poss", "qrels", "run").endswith("\tall\t1\n")
    assert ok("trec_eval", "-Z", "zscores", "-m", "map", "qrels", "run") == f"Z{'map':<22}\tall\t1.5000\n"


def test_groups_of_judgements(files: Path) -> None:
    """The value of a topic is the mean over its groups."""
    Path("groups").write_text("1 ann a 1\n1 ben b 1\n2 ann a 1\n")
    found = ok("trec_eval", "-q", "-R", "qrels_jg", "-m", "map_avgjg", "-m", "P_avgjg.1", "groups", "run").splitlines()
    values = {tuple(line.replace(" ", "").split("\t")[:2]): line.split("\t")[2] for line in found}
    assert values == {
        ("map_avgjg", "1"): "0.7500",
        ("P_avgjg_1", "1"): "0.5000",
        ("map_avgjg", "2"): "1.0000",
        ("P_avgjg_1", "2"): "1.0000",
        ("map_avgjg", "all"): "0.8750",
        ("P_avgjg_1", "all"): "0.7500",
    }


def test_only_the_integer_part_of_a_grade_counts(files: Path) -> None:
    Path("fractions").write_text("1 0 a 0.9\n1 0 b 1.7\n")
    found = ok("trec_eval", "-m", "num_rel", "-m", "dcg", "fractions", "run").splitlines()
    assert [line.split("\t")[2] for line in found] == ["1", "1.0000"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-m", "mapp", "qrels", "run"], "unknown measure 'mapp'; did you mean 'map'?"),
        (["qrels", "none"], "none: expected a run, found no such file"),
        (["none", "run"], "none: expected qrels, found no such file"),
        (["run", "run"], "expected qrels, found a file that looks like a run"),
        (["prefs", "run"], "prefs, line 1: expected 4 columns (query_id 0 doc_id relevance), found 5 columns"),
        (["-R", "prefs", "qrels", "run"], "qrels, line 1: expected 5 columns"),
        (["-m", "map", "-R", "prefs", "prefs", "run"], "map needs -R qrels, found -R prefs"),
        (["-Z", "qrels", "qrels", "run"], "qrels, line 1: expected a number as mean, found 'a'"),
    ],
)
def test_errors_are_one_sentence(files: Path, arguments: list[str], said: str) -> None:
    assert said in fails("trec_eval", *arguments)


def test_wrong_options_show_the_usage(files: Path) -> None:
    for arguments in (["-l", "x", "qrels", "run"], ["-M", "x", "qrels", "run"], ["qrels"], ["-D", "qrels", "run"]):
        result = run("trec_eval", *arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.stderr
        assert "Usage: cleverdon trec_eval [OPTIONS] QRELS RUN" in result.stderr
    refused = run("trec_eval", "-T", "other", "qrels", "run").stderr
    assert refused.startswith("cleverdon: -T: expected 'trec_results', found 'other'\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-M", "x"], "-M: expected a whole number, found 'x'"),
        (["-qMx"], "-M: expected a whole number, found 'x'"),
        (["-lx"], "-l: expected a whole number, found 'x'"),
        (["--Max_retrieved_per_topic", "x"], "--Max_retrieved_per_topic: expected a whole number, found 'x'"),
        (["--level_for_rel=x"], "--level_for_rel: expected a whole number, found 'x'"),
    ],
)
def test_errors_name_options_as_typed(files: Path, arguments: list[str], said: str) -> None:
    assert run("trec_eval", *arguments, "qrels", "run").stderr.startswith(f"cleverdon: {said}\n")


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("P_10", "unknown measure 'P_10'; write P.10"),
        ("ndcg_cut_10", "unknown measure 'ndcg_cut_10'; write ndcg_cut.10"),
        ("iprec_at_recall_0.10", "unknown measure 'iprec_at_recall_0.10'; write iprec_at_recall.0.10"),
        ("mpa", "unknown measure 'mpa'; did you mean 'map'? `cleverdon trec_eval --help` lists all"),
        ("xyz.5", "unknown measure 'xyz'; `cleverdon trec_eval --help` lists all"),
    ],
)
def test_unknown_measures_have_a_suggestion(files: Path, measure: str, said: str) -> None:
    assert run("trec_eval", "-m", measure, "qrels", "run").stderr.startswith(f"cleverdon: {said}\n")


def test_trec_eval_9_averages_over_the_topics_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 a 1\n")
    Path("run").write_text("1 Q0 a 1 2 r\n3 Q0 b 1 2 r\n3 Q0 a 2 1 r\n")
    assert "topics of the judgements: '2'" in run("trec_eval", "-m", "map", "qrels", "run").stderr
    assert ok("trec_eval", "--compat", "9", "-m", "map", "-m", "num_q", "qrels", "run").split() == [
        *("num_q", "all", "2"), *("map", "all", "0.7500"),
    ]  # fmt: skip
    assert ok("trec_eval", "--compat", "9", "-c", "-m", "map", "qrels", "run").split()[-1] == "0.5000"
    Path("run").write_text("4 Q0 a 1 2 r\n")
    failed = run("trec_eval", "--compat", "9", "qrels", "run")
    assert failed.stderr.startswith("cleverdon: the run has no topic of the judgements; use -c to count them as 0")


def test_a_failed_write_names_no_page(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("collection.cli.trec_eval.echo_data", fail)
    result = run("trec_eval", "qrels", "run")
    assert (result.exit_code, result.stderr) == (2, "cleverdon: No space left on device\n")


def test_the_help_lists_measures_and_nicknames() -> None:
    for help_option in ("-h", "--help"):
        text = ok("trec_eval", help_option)
        for name in (*TREC_MEASURES, *NICKNAMES):
            assert f"  {name} " in text, name
        assert "  map                      Mean of the precisions at each relevant document." in text
    assert "trec_eval 10" in ok("trec_eval", "-v")


@pytest.mark.slow
@pytest.mark.long
def test_the_script_is_the_command(files: Path) -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["trec_eval-cleverdon"].partition(":")
    assert getattr(importlib.import_module(module), function).__doc__
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    script = [sys.executable, "-c", code, "-m", "map", "qrels", "run"]
    done = subprocess.run(
        script, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == ok("trec_eval", "-m", "map", "qrels", "run")


def test_a_page_says_how_trec_eval_9_differs() -> None:
    said = MEASURES["IPrec"].differs["trec_eval 9"].partition(";")[0]
    assert said == "truncates r * R + 0.9 instead of rounding r * R"
    text = (ROOT / "docs" / "how-to" / "replace-trec-eval.md").read_text()
    assert "truncates r * R + 0.9" in text
    assert "`--compat 9`" in text


@pytest.mark.parametrize(
    ("option", "values", "note"),
    [
        # num_ret, num_rel, num_rel_ret, map, recip_rank, P_2 by hand, after trec_eval 10's form_res_rels.c and measures
        ("-l1", "4 1 1 0.5000 0.5000 0.5000", ""),
        ("-l1.5", "4 1 1 0.5000 0.5000 0.5000", "note: -l 1.5 is read as 1, as in trec_eval\n"),
        ("-l0", "4 2 2 0.5833 0.5000 0.5000", ""),
        ("-l0.9", "4 2 2 0.5833 0.5000 0.5000", "note: -l 0.9 is read as 0, as in trec_eval\n"),
        ("-l-1", "4 2 2 1.5000 1.0000 1.0000", ""),  # the document that is not in the qrels counts at its rank
        ("-l-2", "4 2 2 2.0000 1.0000 1.0000", ""),  # and so does the one without a grade
        ("-M0", "0 1 0 0.0000 0.0000 0.0000", ""),
        ("-M2.7", "2 1 1 0.5000 0.5000 0.5000", "note: -M 2.7 is read as 2, as in trec_eval\n"),
    ],
)
def test_numbers_are_read_as_trec_eval_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, values: str, note: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c -1\n")
    Path("run").write_text("1 Q0 x 1 4 r\n1 Q0 a 2 3 r\n1 Q0 b 3 2 r\n1 Q0 c 4 1 r\n")
    asked = [
        part for name in ("num_ret", "num_rel", "num_rel_ret", "map", "recip_rank", "P.2") for part in ("-m", name)
    ]
    result = run("trec_eval", option, *asked, "qrels", "run")
    assert result.stderr == note
    assert " ".join(line.split("\t")[2] for line in result.stdout.splitlines()) == values


def test_fractions_of_grades_are_cut_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("1 0 a 0.9\n1 0 b 1.5\n1 0 c 2\n")
    Path("run").write_text("1 Q0 a 1 4 r\n")
    said = run("trec_eval", "-m", "num_rel", "qrels", "run")
    assert said.stderr.startswith("note: 2 grades with a fraction are cut to whole numbers, as in trec_eval")
    assert said.stdout.split() == ["num_rel", "all", "2"]
