"""`--unjudged` of evaluate and compare: the mark in every form, and what cannot be combined."""

import json
from pathlib import Path

import pytest

from collection.cli.options import EXPECTED
from tests.helpers import ok, run


def refused(*arguments: object) -> str:
    """The message of a command that fails without printing anything."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


@pytest.fixture
def evaluated(tmp_path: Path) -> list[Path]:
    """Qrels that lack d4 to d6 of two topics, and two runs; one has two seeds."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 d{n} {g}\n" for q in (1, 2) for n, g in ((1, 1), (2, 0), (3, 1))))
    orders = {"up": "123456", "down": "654321", "mid#1": "241356", "mid#2": "142536"}
    for name, order in orders.items():
        rows = [f"{q} Q0 d{n} 0 {9 - rank} {name}\n" for q in (1, 2) for rank, n in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return [qrels, *(tmp_path / f"{name}.run" for name in orders)]


@pytest.mark.slow
def test_evaluate_marks_estimates_in_every_form(evaluated: list[Path]) -> None:
    asked = ("evaluate", *evaluated, "--unjudged", EXPECTED, "-m", "map", "-m", "P_5")
    table = ok(*asked)
    assert "map (estimate, 95% of draws)" in table.splitlines()[0]
    assert [line.split()[0] for line in table.splitlines()[1:4]] == ["up", "down", "mid"]
    assert "Estimates for 2 topics: 6 of 12 pairs of the pool are judged; the grades of the other 6" in table
    assert "not the choice of topics" in table
    for form, separator in (("csv", ","), ("tsv", "\t")):
        result = run(*asked, "--format", form)
        header, *rows = [line.split(separator) for line in result.stdout.splitlines()]
        assert header == ["run", "query_id", "measure", "estimate", "estimate_low", "estimate_high"]
        assert [row[:3] for row in rows[:2]] == [["up", "all", "map"], ["up", "all", "P_5"]]
        assert "note: Estimates for 2 topics: 6 of 12 pairs" in result.stderr
    found = json.loads(ok(*asked, "--format", "json", "--separate-seeds"))
    assert sorted(found) == ["about", "estimates", "notes", "pool"]
    assert {row["run"] for row in found["estimates"]} == {"up", "down", "mid#1", "mid#2"}
    assert (found["pool"]["judged"], found["pool"]["unjudged"]) == (6, 6)
    topics = ok(*asked, "--per-topic")
    assert topics.count("estimate, 95% of draws") == 6  # two measures of three systems
    assert [line.split()[0] for line in topics.splitlines()[1:5]] == ["topic", "1", "2", "all"]


@pytest.mark.slow
@pytest.mark.long
def test_compare_marks_estimates_in_every_form(evaluated: list[Path]) -> None:
    asked = ("compare", *evaluated, "--unjudged", EXPECTED, "-m", "P@3")
    table = ok(*asked, "--baseline", "mid")
    assert "the highest expected P@3: estimate " in table.splitlines()[0]
    assert "P@3 vs. mid, once all pairs of the pool are judged" in table
    assert "probability of being better" in table
    assert "not the choice of topics" in table
    assert "significan" not in table
    assert "P@3: 3 pairs of systems" in ok(*asked, "--all-pairs")
    header = ok(*asked, "--format", "tsv").splitlines()[0].split("\t")
    assert not {"value", "difference", "low", "high", "p"} & set(header)
    assert {"estimate", "difference_estimate", "probability_better"} <= set(header)
    pairs = ok(*asked, "--format", "tsv", "--all-pairs").splitlines()
    assert pairs[0].startswith("system_a\tsystem_b\tmeasure\tdifference_estimate")
    assert len(pairs) == 1 + 3
    for form in ("latex", "markdown"):
        assert "P@3 (estimate" in ok(*asked, "--format", form).replace("\\", "")
    found = json.loads(ok(*asked, "--format", "json", "--alpha", 0.1, "--seed", 3))
    assert sorted(found) == ["about", "alpha", "draws", "estimates", "notes", "pairs", "pool"]
    assert "90% of the draws" in found["about"]
    assert any("no significance tests" in note for note in found["notes"])


@pytest.mark.slow
def test_the_pool_is_as_deep_as_asked(evaluated: list[Path]) -> None:
    asked = ("evaluate", *evaluated, "--unjudged", EXPECTED, "-m", "P@1", "--format", "json")
    assert json.loads(ok(*asked))["pool"]["unjudged"] == 2  # d6 of each topic
    assert json.loads(ok(*asked, "--pool-depth", 3))["pool"]["unjudged"] == 6
    wide = json.loads(ok(*asked, "--grades", "0-3"))["estimates"]
    assert wide[0]["measure"] == "P@1"


@pytest.mark.slow
def test_default_measures_are_those_with_expected_values(evaluated: list[Path]) -> None:
    for command in ("evaluate", "compare"):
        found = json.loads(ok(command, *evaluated, "--unjudged", EXPECTED, "--format", "json"))
        named = list(dict.fromkeys(row["measure"] for row in found["estimates"]))
        assert named == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


@pytest.mark.slow
def test_left_out_is_judged_only(evaluated: list[Path]) -> None:
    asked = ("evaluate", *evaluated, "-m", "AP", "--format", "tsv")
    left_out = ok(*asked, "--unjudged", "left-out")
    assert left_out == ok(*asked, "--judged-only")
    assert left_out != ok(*asked) == ok(*asked, "--unjudged", "not-relevant")
    assert "AP(judged_only=True)" in ok("compare", *evaluated, "-m", "AP", "--unjudged", "left-out")


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("evaluate", ["--bounds"], "cannot be combined with --bounds"),
        ("evaluate", ["--judged-only"], "cannot be combined with --judged-only"),
        ("evaluate", ["--explain", "1"], "cannot be combined with --explain"),
        ("evaluate", ["--compat", "9"], "cannot be combined with --compat"),
        ("evaluate", ["-m", "Judged@10"], "Judged@10 cannot be estimated: it describes the judgements"),
        ("compare", ["--test", "wilcoxon"], "cannot be combined with --test"),
        ("compare", ["--correction", "none"], "cannot be combined with --correction"),
        ("compare", ["--systems", "up", "down"], "cannot be combined with --systems"),
        ("compare", ["--power", "0.1"], "cannot be combined with --power"),
        pytest.param("compare", ["-m", "AP", "--baseline", "none"], "unknown system 'none'", marks=pytest.mark.slow),
    ],
)
def test_what_has_no_meaning_is_refused(evaluated: list[Path], command: str, options: list[str], said: str) -> None:
    assert said in refused(command, *evaluated, "--unjudged", EXPECTED, *options)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_depth_of_no_pool_is_refused(evaluated: list[Path], command: str) -> None:
    assert "--pool-depth needs --unjudged expected" in refused(command, *evaluated, "--pool-depth", 3)
    assert "--pool-depth needs" in refused(command, *evaluated, "--pool-depth", 3, "--unjudged", "left-out")
