"""What commands print: names and titles from files command no terminal, and data for programs stay exact."""

import ast
import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

import collection.cli
from collection import Campaign
from collection.campaign.settings.loop_settings import MODES
from collection.cli.output import echo_data
from tests.helpers import fails, ok, run, some

pytestmark = pytest.mark.slow

TITLE = "\x1b]0;owned\x07Wings\n\u202e\x9b31m"
TAG = "\x1b]0;owned\x07bm25"
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A campaign, with its files, whose title, topics, run tags and grades are written to command a terminal."""
    (tmp_path / "topics.jsonl").write_text(json.dumps({"query_id": "1", "title": f"flow\n{TITLE}"}) + "\n")
    for name, documents in ((TAG, "d1 d2"), ("plain", "d2 d1")):
        lines = [f"1 Q0 {d} {rank} {9 - rank} {name}\n" for rank, d in enumerate(documents.split(), start=1)]
        (tmp_path / f"{name[-5:]}.run").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n1 0 d2 0\n")
    with Campaign.create(tmp_path / "c", title=TITLE) as campaign:
        campaign.imports.import_files(
            topics=tmp_path / "topics.jsonl",
            runs=sorted(tmp_path.glob("*.run")),
            qrels=tmp_path / "qrels.txt",
        )
        campaign.people.pools.add("depth", depth=2)
    return tmp_path


@pytest.mark.long
def test_nothing_that_is_printed_for_people_commands_their_terminal(hostile: Path) -> None:
    runs = [*sorted(hostile.glob("*.run"))]
    for command in (
        ("status", hostile / "c"),
        ("recall", hostile / "c"),
        ("agreement", hostile / "c"),
        ("reusability", hostile / "c"),
        ("loop", hostile / "c"),
        ("assign", hostile / "c"),
        ("pool", hostile / "c", "--strategy", "depth", "--depth", "1", "--dry-run"),
        ("evaluate", hostile / "qrels.txt", *runs),
        ("evaluate", hostile / "qrels.txt", *runs, "--per-topic"),
        ("evaluate", hostile / "qrels.txt", *runs, "--explain", "1"),
        ("compare", hostile / "qrels.txt", *runs),
        ("compare", hostile / "qrels.txt", *runs, "--format", "markdown"),
        ("compare", hostile / "qrels.txt", *runs, "--format", "latex"),
        ("import", hostile / "c", "--run", runs[0]),
        ("import", hostile / "c", "--run", runs[0], "--replace"),
    ):
        result = run(*command)
        assert not COMMANDS.search(result.stdout + result.stderr), command


def test_a_title_stays_on_its_row(hostile: Path) -> None:
    printed = ok("status", hostile / "c")
    assert printed.splitlines()[0].startswith(r"\x1b]0;owned\x07Wings \x9b31m: grades")
    rows = [line for line in printed.splitlines() if line.startswith("1 ")]
    assert len(rows) == 1
    assert rows[0].endswith(r"flow \x1b]0;owned\x07Wings \x9b31m")


def test_columns_are_as_wide_as_what_is_printed(hostile: Path) -> None:
    lines = ok("evaluate", hostile / "qrels.txt", *hostile.glob("*.run"), "-m", "AP").splitlines()
    assert len({len(line) for line in lines}) == 1, lines


def test_an_error_that_quotes_a_file_is_clean_and_on_one_line(hostile: Path) -> None:
    (hostile / "wrong.txt").write_text("1 0 d1 \x1b]0;owned\x07\n")
    said = fails("evaluate", hostile / "wrong.txt", *hostile.glob("*.run"))
    assert not COMMANDS.search(said)


def test_data_for_programs_keep_every_byte(hostile: Path) -> None:
    runs = list(hostile.glob("*.run"))
    printed = ok("evaluate", hostile / "qrels.txt", *runs, "-m", "AP", "--format", "tsv")
    assert {line.split("\t")[0] for line in printed.splitlines()} == {TAG, "plain"}
    printed = ok("evaluate", hostile / "qrels.txt", *runs, "-m", "AP", "--format", "csv")
    assert {row["run"] for row in csv.DictReader(io.StringIO(printed))} == {TAG, "plain"}
    printed = ok("evaluate", hostile / "qrels.txt", *runs, "-m", "AP", "--format", "json")
    assert {value["run"] for value in json.loads(printed)["values"]} == {TAG, "plain"}
    assert json.loads(ok("status", hostile / "c", "--format", "json"))["per_topic"][0]["title"] == f"flow\n{TITLE}"


def test_data_are_clean_where_somebody_reads_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    echo_data("a\x1b[2Jb")
    assert capsys.readouterr().out == "a\x1b[2Jb\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    echo_data("a\x1b[2Jb")
    assert capsys.readouterr().out == "a\\x1b[2Jb\n"


def test_every_command_prints_through_these_functions() -> None:
    """Not through click.echo, print or the streams themselves: what is printed there is as hostile as it came."""
    for file in some(Path(collection.cli.__file__).parent.rglob("*.py")):
        if file.name == "output.py":
            continue
        calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        raw = r"print|click\.s?echo|sys\.std(out|err)\.write(lines)?"
        assert [f"line {call.lineno}" for call in calls if re.fullmatch(raw, ast.unparse(call.func))] == [], file.name


# --- order and names of columns -------------------------------------------------------------------------


def test_topics_are_printed_in_natural_order(tmp_path: Path) -> None:
    topics = ["10", "2", "1", "q10", "q9"]
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 d1 1\n{t} 0 d2 0\n" for t in topics))
    for name, rank in (("a", 1), ("b", 2)):
        lines = [f"{t} Q0 d{n} {n} {abs(rank - n)} {name}\n" for t in topics for n in (1, 2)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [tmp_path / "qrels.txt", tmp_path / "a.run", tmp_path / "b.run"]
    wanted = ["1", "2", "10", "q9", "q10"]
    printed = ok("evaluate", *files, "-m", "AP", "--per-topic")
    rows = [line.split()[0] for line in printed.splitlines() if line]
    assert rows == ["a", "topic", *wanted, "all", "b", "topic", *wanted, "all"]
    printed = ok("compare", *files, "-m", "AP", "--systems", "a", "b")
    assert [line.split()[1] for line in printed.splitlines()[1:]] == wanted
    # Programs get the order of the qrels, as before.
    printed = ok("evaluate", *files[:2], "-m", "AP", "--per-topic", "--format", "tsv")
    assert [line.split("\t")[1] for line in printed.splitlines()] == [*topics, "all"]


def test_a_campaign_lists_topics_in_natural_order(tmp_path: Path) -> None:
    topics = ["1", "10", "2"]
    (tmp_path / "topics.tsv").write_text("".join(f"{t}\ttitle\n" for t in topics))
    (tmp_path / "a.run").write_text("".join(f"{t} Q0 d{n} {n} {9 - n} a\n" for t in topics for n in (1, 2)))
    (tmp_path / "b.run").write_text("".join(f"{t} Q0 d{n} {n} {9 - n} b\n" for t in topics for n in (1, 2)))
    labels = [f"{who},{t},d{n},{n % 2}\n" for who in ("ann", "ben") for t in topics for n in (1, 2)]
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\n" + "".join(labels))
    with Campaign.create(tmp_path / "c", grades="0-1") as campaign:
        campaign.imports.import_files(
            topics=tmp_path / "topics.tsv",
            runs=[tmp_path / "a.run", tmp_path / "b.run"],
            labels=tmp_path / "labels.csv",
        )
        campaign.people.pools.add("depth", depth=2)
    for command in ("status", "assign", "recall"):
        printed = ok(command, tmp_path / "c")
        assert re.findall(r"^(\d+) {2,}[a-z]", printed, re.M)[:3] == ["1", "2", "10"], printed
    printed = ok("reusability", tmp_path / "c").partition("topics with the most influence")[2]
    assert re.findall(r"^(\d+) ", printed, re.M) == ["1", "2", "10"]
    printed = ok("agreement", tmp_path / "c").partition("first\n")[2]
    assert re.findall(r"^(\d+) ", printed, re.M)[:3] == ["1", "2", "10"]
    assert re.search(r"^coefficient +name ", ok("agreement", tmp_path / "c"), re.M)


def test_a_strategy_that_looks_at_judgements_points_to_the_loop(hostile: Path) -> None:
    said = fails("pool", hostile / "c", "--strategy", "mtf", "--budget", "500")
    command = f"cleverdon loop {hostile / 'c'} --mode loop --by mtf --topic-budget 500"
    assert f"`{command}`" in said
    ok(*command.split()[1:])  # it does what it says


def test_help_names_every_mode() -> None:
    printed = ok("loop", "--help")
    assert all(re.search(rf"\b{mode}\b", printed) for mode in MODES)
