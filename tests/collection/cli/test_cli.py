"""The command line: what it prints, and how it fails."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import collection.demo
from annotate import __main__ as app
from collection import Campaign
from collection.campaign.log.results import ImportReport
from collection.cli import main
from tests.helpers import fails, ok, reads_proc, run

pytestmark = pytest.mark.slow

IMPORT = "--documents FILE --topics FILE --run FILE"


@pytest.fixture
def built(tmp_path: Path, files: Path) -> Path:
    directory = tmp_path / "wings"
    ok("new", directory, "--title", "Wings")
    ok("import", directory, "--documents", files / "documents.jsonl", "--topics", files / "topics.jsonl",
       "--run", files / "a.run", "--run", files / "b.run")  # fmt: skip
    ok("pool", directory, "--depth", 2)
    return directory


def test_the_main_job(built: Path, tmp_path: Path) -> None:
    for doc, grade in [("d1", 0), ("d2", 3), ("d6", 1)]:
        said = ok("judge", built, "--topic", 1, "--doc", doc, "--annotator", "ann", "--grade", grade)
    assert said == "Topic 1, document d6: grade 1 by ann. 3 of 3 pairs in the topic's pool judged.\n"
    status = json.loads(ok("status", built, "--format", "json"))
    assert (status["title"], status["pool"], status["judged"], status["remaining"]) == ("Wings", 6, 3, 3)
    assert "6 pairs, 3 judged, 3 left" in ok("status", built)
    ok("export", built, "--qrels", tmp_path / "q.txt", "--pool", tmp_path / "p.tsv", "--judgements", tmp_path / "j.csv")
    assert (tmp_path / "q.txt").read_text() == "1 0 d1 0\n1 0 d2 3\n1 0 d6 1\n"


def test_a_new_review(tmp_path: Path) -> None:
    directory = tmp_path / "falls"
    printed = ok("new", directory, "--review", "--title", "Exercise and falls")
    assert printed.endswith(f"  cleverdon serve {directory}\n")
    status = json.loads(ok("status", directory, "--format", "json"))
    assert (status["title"], [topic["query_id"] for topic in status["per_topic"]]) == (
        "Exercise and falls",
        ["full-text", "review"],
    )
    refused = run("new", tmp_path / "b", "--review", "--grades", "0-3")
    assert (refused.exit_code, "--grades cannot be used" in refused.stderr) == (2, True)


def test_a_review_and_its_known_records(tmp_path: Path) -> None:
    directory, ris = tmp_path / "falls", tmp_path / "falls.ris"
    record = "TY  - JOUR\nTI  - {}\nAB  - {}\nPY  - 2019\nER  - \n\n"
    ris.write_text(record.format("Balance and falls", "A trial.") + record.format("Strength and falls", "Another."))
    ok("new", directory, "--review", "--title", "Exercise and falls")
    ok("import", directory, "--documents", ris)
    result = run("review", directory, "--known", "Balance and falls", "--known", "Nothing like it", "--by", "ann")
    assert result.stdout.startswith("Included 1 known record.\nExercise and falls\n")
    assert "1 record is not in the review: Nothing like it" in result.stderr
    assert re.search(r"title and abstract +include +1\n", result.stdout)
    state = json.loads(ok("review", directory, "--known", ris, "--format", "json"))
    assert state["known"] == {"included": 1, "missing": 0}
    assert state["decisions"] == {"title and abstract": {"include": 2}}
    assert "is not a literature review" in fails("review", _other(tmp_path))


def test_a_review_is_set_up_from_a_file(tmp_path: Path) -> None:
    directory, file = tmp_path / "falls", tmp_path / "review.json"
    ok("new", directory, "--review", "--title", "Falls")
    asked = {"question": "Why?", "include": ["Trials"], "reasons": ["Animals", "Other"], "screeners": 2}
    file.write_text(json.dumps(asked))
    printed = ok("review", directory, "--settings", file)
    assert re.search(r"Question +yes +Why\? \(1 criterion\)\n", printed)
    with Campaign(directory) as campaign:
        review = campaign.settings.require_review()
        assert (review.title, review.include, review.screeners) == ("Falls", ("Trials",), 2)
        assert campaign.settings.reasons() == ["Animals", "Other"]
        assert campaign.settings.assignment().annotators == 2
    for content, expected in (
        ("[]", "expected a review as JSON"),
        ("{", "invalid JSON"),
        ('{"questions": "a"}', "field of a review"),
        ('{"include": "Trials"}', "include: expected a list of texts"),
        ('{"question": 1}', "question: expected a text"),
        ('{"full_text": 0}', "full_text: expected true or false"),
        ('{"screeners": null}', "screeners: expected 1 or 2"),
        ('{"reasons": ["Other"]}', "2 to 20"),
    ):
        file.write_text(content)
        assert expected in fails("review", directory, "--settings", file)
    assert "cannot be read" in fails("review", directory, "--settings", tmp_path / "nothing.json")


def _other(folder: Path) -> Path:
    ok("new", folder / "other")
    return folder / "other"


def test_pool_says_what_it_costs(built: Path) -> None:
    printed = ok("pool", built, "--depth", 3, "--dry-run")
    assert printed.startswith("Dry run: would add 1 pair to the pool; 6 more are already in the pool.\n")
    assert "pairs per topic  3 to 4, median 3.5" in printed
    assert json.loads(ok("status", built, "--format", "json"))["pool"] == 6
    assert "Added 1 pair to the pool; 6 more are" in ok("pool", built, "--depth", 3)
    assert "Added 0 pairs to the pool; 7 more are" in ok("pool", built, "--depth", 3)


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path, files: Path) -> None:
    (files / "runs").mkdir()
    for name in ("a.run", "b.run"):
        (files / name).rename(files / "runs" / name)
    (files / "runs" / ".hidden").write_text("not a run")
    ok("new", tmp_path / "c")
    printed = ok("import", tmp_path / "c", "--topics", files / "topics.jsonl", "--run", files / "runs")
    assert "run 'alpha'" in printed
    assert "run 'beta'" in printed
    (tmp_path / "q").write_text("1 0 d1 1\n2 0 d4 1\n")
    means = ok("evaluate", tmp_path / "q", files / "runs", "-m", "RR", "--format", "tsv")
    assert [line.split("\t")[0] for line in means.splitlines()] == ["alpha", "beta"]


def test_a_pair_outside_the_pool_is_judged_with_a_note(built: Path) -> None:
    result = run("judge", built, "--topic", 1, "--doc", "d8", "--annotator", "ann", "--grade", 1)
    assert result.exit_code == 0
    assert "not in the pool" in result.stderr


def test_judging_otherwise(built: Path) -> None:
    pair = ["--topic", "1", "--doc", "d1", "--annotator", "ann"]
    assert "cannot judge by ann" in ok("judge", built, *pair, "--cannot-judge", "unreadable")
    assert "undone by ann. 0 of 3" in ok("judge", built, *pair, "--undo")
    assert "no judgement of 'd1' to undo" in fails("judge", built, *pair, "--undo")
    assert "expected a grade of this campaign (0, 1, 2, 3), found 7" in fails("judge", built, *pair, "--grade", 7)
    assert run("judge", built, *pair).exit_code == 2
    assert run("judge", built, *pair, "--grade", 1, "--undo").exit_code == 2


QRELS = "1 0 a 2\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 b 1 2.0 bm25\n1 Q0 a 2 1.0 bm25\n3 Q0 z 1 1.0 bm25\n"


@pytest.fixture
def evaluated(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return tmp_path / "qrels.txt", tmp_path / "bm25.run"


def test_evaluate_tsv_is_exactly_four_columns(evaluated: tuple[Path, Path]) -> None:
    printed = ok("evaluate", *evaluated, "-m", "RR", "-m", "nDCG@10", "--per-topic", "--format", "tsv")
    rows = [line.split("\t") for line in printed.splitlines()]
    assert rows[:3] == [["bm25", "1", "RR", "0.5"], ["bm25", "2", "RR", "0.0"], ["bm25", "all", "RR", "0.25"]]
    assert rows[3] == ["bm25", "1", "nDCG@10", repr(1 / 1.584962500721156)]
    assert [r[1] for r in rows] == ["1", "2", "all"] * 2
    means = ok("evaluate", *evaluated, "-m", "RR", "--format", "tsv")
    assert means == "bm25\tall\tRR\t0.25\n"


def test_evaluate_says_what_is_missing(evaluated: tuple[Path, Path]) -> None:
    result = run("evaluate", *evaluated, "-m", "RR")
    assert "bm25: 1 of 2 topics missing; missing topics count as empty rankings" in result.stderr
    assert "bm25: 1 topic is not in the qrels and is ignored" in result.stderr
    assert "0.2500" in result.stdout


def test_evaluate_other_forms(evaluated: tuple[Path, Path]) -> None:
    csv = ok("evaluate", *evaluated, "-m", "RR", "--format", "csv")
    assert csv == "run,query_id,measure,value\nbm25,all,RR,0.25\n"
    data = json.loads(ok("evaluate", *evaluated, "-m", "RR", "--per-topic", "--format", "json"))
    assert data["values"][0] == {"run": "bm25", "query_id": "1", "measure": "RR", "value": 0.5}
    assert data["coverage"][0]["missing_topics"] == ["2"]
    assert "bm25\ntopic" in ok("evaluate", *evaluated, "-m", "RR", "--per-topic")


def test_evaluate_with_bounds(evaluated: tuple[Path, Path]) -> None:
    """Of topic 1 everything is judged, of topic 2 nothing is there."""
    (evaluated[1].parent / "bm25.run").write_text(RUN + "2 Q0 x 1 2.0 bm25\n2 Q0 c 2 1.0 bm25\n")
    printed = run("evaluate", *evaluated, "-m", "RR", "--bounds")
    assert "0.5000 (0.5000-0.7500)" in printed.stdout
    assert "on average 0.5 of a topic's first 10 documents are unjudged" in printed.stderr
    rows = ok("evaluate", *evaluated, "-m", "RR", "--bounds", "--format", "tsv")
    assert rows == "bm25\tall\tRR\t0.5\t0.5\t0.75\n"


def test_bounds_refuse_a_scale_that_lacks_a_grade_of_the_qrels(evaluated: tuple[Path, Path]) -> None:
    highest = max(int(line.split()[3]) for line in evaluated[0].read_text().splitlines())
    assert f"--grades: expected a scale up to the highest grade of the qrels ({highest}), found 0, 1" in fails(
        "evaluate", *evaluated, "-m", "nDCG@10", "--bounds", "--grades", "0-1"
    )


def test_what_rounds_to_no_unjudged_document_is_not_said(tmp_path: Path) -> None:
    """One document of thirty topics is 0.03 of a topic, two are 0.07."""
    topics = range(30)
    (tmp_path / "bm25.run").write_text("".join(f"{t} Q0 a 1 2.0 bm25\n{t} Q0 b 2 1.0 bm25\n" for t in topics))
    for unjudged in (1, 2):
        judged = [f"{t} 0 a 1\n" + (f"{t} 0 b 0\n" if t >= unjudged else "") for t in topics]
        (tmp_path / "qrels.txt").write_text("".join(judged))
        printed = run("evaluate", tmp_path / "qrels.txt", tmp_path / "bm25.run", "-m", "RR").stderr
        assert ("on average 0.1 of a topic's" in printed) == (unjudged == 2)
        assert ("unjudged" in printed) == (unjudged == 2)


def test_evaluate_explains(evaluated: tuple[Path, Path]) -> None:
    printed = ok("evaluate", *evaluated, "-m", "AP", "-m", "RR", "--explain", "1")
    assert "bm25: AP of topic 1" in printed
    assert "   2  a           2     0.5" in printed
    assert "RR = 0.500000" in printed
    assert run("evaluate", *evaluated, "-m", "AP", "--explain", "1", "--bounds").exit_code == 2
    assert "unknown topic '7'; choose from 1, 2" in fails("evaluate", *evaluated, "-m", "AP", "--explain", "7")


def test_evaluate_shows_costs(evaluated: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "costs.tsv").write_text("run\tlatency_ms\thardware\nbm25\t12.5\t1 CPU\n")
    printed = ok("evaluate", *evaluated, "-m", "RR", "--costs", tmp_path / "costs.tsv")
    assert printed == "run       RR  latency_ms  hardware\nbm25  0.2500        12.5     1 CPU\n"
    data = json.loads(ok("evaluate", *evaluated, "-m", "RR", "--costs", tmp_path / "costs.tsv", "--format", "json"))
    assert data["costs"] == [{"run": "bm25", "latency_ms": 12.5, "hardware": "1 CPU"}]
    (tmp_path / "costs.tsv").write_text("run\tlatency_ms\nother\t1\n")
    said = fails("evaluate", *evaluated, "--costs", tmp_path / "costs.tsv")
    assert "costs.tsv, line 2: expected costs of one of the runs" in said


def test_evaluate_takes_the_qrels_that_a_measure_needs(evaluated: tuple[Path, Path]) -> None:
    evaluated[0].write_text("1 0 a s1 2\n1 0 b s1 -1\n1 0 c s2 0\n")
    assert ok("evaluate", *evaluated, "-m", "infNDCG", "--format", "tsv").startswith("bm25\tall\tinfNDCG\t")
    assert "xinfAP needs qrels with strata, StRecall@5 qrels with subtopics" in fails(
        "evaluate", *evaluated, "-m", "xinfAP", "-m", "StRecall@5"
    )
    evaluated[0].write_text("1 north a 2\n1 south b 1\n")
    assert ok("evaluate", *evaluated, "-m", "StRecall@1", "--format", "tsv") == "bm25\tall\tStRecall@1\t0.5\n"
    assert "infNDCG needs qrels with strata: " in fails("evaluate", *evaluated, "-m", "infNDCG")
    evaluated[0].write_text("1 0 a 2 1.0\n1 0 b 0 0.5\n")
    assert "add --qrels-form strata" in fails("evaluate", *evaluated, "-m", "AP")
    assert "add --qrels-form probabilities" in fails("evaluate", *evaluated, "-m", "infNDCG")
    assert ok("evaluate", *evaluated, "-m", "infNDCG", "--qrels-form", "probabilities", "--format", "tsv")


def test_evaluate_condensed_and_as_version_9(evaluated: tuple[Path, Path]) -> None:
    evaluated[1].write_text("1 Q0 x 1 3.0 bm25\n1 Q0 b 2 1.00000000001 bm25\n1 Q0 a 3 1.0 bm25\n")
    assert "bm25\t1\tRR\t0.3333" in ok("evaluate", *evaluated, "-m", "RR", "--per-topic", "--format", "tsv")
    nine = ok("evaluate", *evaluated, "-m", "RR", "--compat", 9, "--judged-only", "--per-topic", "--format", "tsv")
    assert "bm25\t1\tRR\t0.5" in nine
    explained = ok("evaluate", *evaluated, "-m", "RR", "--compat", 9, "--explain", "1")
    assert "   2  b " in explained


def test_measures_are_listed_and_described() -> None:
    assert "  nDCG[@k]" in ok("measures")
    assert "source: Järvelin" in ok("measures", "ndcg@10")
    assert "| `RR[@k]` |" in ok("measures", "--format", "markdown")
    assert "did you mean 'nDCG'" in fails("measures", "nDGC")


def test_a_measure_is_printed_as_it_was_asked_for(evaluated: tuple[Path, Path]) -> None:
    printed = ok("evaluate", *evaluated, "-m", "rr", "--relevance-level", 2, "-m", "P@1", "--format", "tsv")
    assert [line.split("\t")[2] for line in printed.splitlines()] == ["rr", "P@1"]


def test_two_files_with_one_tag_are_named_after_their_files(evaluated: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "other.run").write_text(RUN)
    printed = ok("evaluate", *evaluated, tmp_path / "other.run", "-m", "RR", "--format", "tsv")
    assert [line.split("\t")[0] for line in printed.splitlines()] == ["bm25", "other"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bm25.run").write_text(RUN)
    assert "would both be called 'bm25'" in fails("evaluate", *evaluated, tmp_path / "sub" / "bm25.run")


@pytest.mark.parametrize(
    ("name", "content", "line", "wanted"),
    [
        ("short.run", b"1 Q0 d1 1 2.0 t\n1 Q0 d2\n", 2, "6 columns"),
        ("score.run", b"1 Q0 d1 1 high t\n", 1, "found 'high'"),
        ("nan.run", b"1 Q0 d1 1 nan t\n", 1, "nan"),
        ("twice.run", b"1 Q0 d1 1 2 t\n\n1 Q0 d1 2 1 t\n", 3, "d1"),
        ("nul.run", b"1 Q0 d1 1 2.0 t\n1 Q0 d\0 2 1.0 t\n", 2, "NUL"),
        ("latin.run", "1 Q0 d1 1 2.0 t\n1 Q0 dé 2 1.0 t\n".encode("latin-1"), 2, "UTF-8"),
        ("empty.run", b"", None, "empty"),
        ("qrels.run", b"1 0 d1 1\n", 1, "qrels"),
    ],
)
def test_a_bad_file_is_one_line_and_changes_nothing(
    built: Path, tmp_path: Path, name: str, content: bytes, line: int | None, wanted: str
) -> None:
    (tmp_path / name).write_bytes(content)
    before = ok("status", built, "--format", "json")
    message = fails("import", built, "--run", tmp_path / name)
    place = f"{tmp_path / name}, line {line}" if line else f"{tmp_path / name}"
    assert message.startswith(f"cleverdon: {place}: expected ")
    assert wanted in message
    assert ok("status", built, "--format", "json") == before


@pytest.mark.parametrize(
    ("name", "content", "line", "wanted"),
    [
        ("run.qrels", "1 Q0 d1 1 2.0 t\n", 1, "a run"),
        ("grade.qrels", "1 0 d1 1\n1 0 d2 many\n", 2, "many"),
        ("scale.qrels", "1 0 d1 1\n1 0 d2 9\n", 2, "a grade of this campaign (0, 1, 2, 3"),
    ],
)
def test_bad_qrels(built: Path, tmp_path: Path, name: str, content: str, line: int, wanted: str) -> None:
    (tmp_path / name).write_text(content)
    message = fails("import", built, "--qrels", tmp_path / name)
    assert message.startswith(f"cleverdon: {tmp_path / name}, line {line}: ")
    assert wanted in message


def test_wrong_words(built: Path, tmp_path: Path) -> None:
    assert "there is no campaign in" in fails("status", tmp_path / "nowhere")
    assert "did you mean 'depth'" in fails("pool", built, "--strategy", "dephth")
    assert "no such file" in fails("evaluate", tmp_path / "no.qrels", tmp_path / "no.run")
    assert run("import", built).exit_code == 2
    assert run("export", built).exit_code == 2
    assert "cannot be written" in fails("export", built, "--pool", tmp_path / "no" / "folder.tsv")


def test_the_next_step_has_its_command(built: Path, tmp_path: Path) -> None:
    lines = ok("status", built).splitlines()
    assert "topic  mode  pool  judged  judgements left  title" in lines  # without columns of zeros
    assert lines[-2:] == ["Next: Judge the pool: 6 of 6 pairs are left.", f"  cleverdon serve {built}"]
    assert ok("new", tmp_path / "c").endswith(f"  cleverdon import {tmp_path / 'c'} {IMPORT}\n")


def test_files_imported_as_documents_by_mistake_are_questioned_and_removed(built: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("1\twing flow\n2\theat transfer\n")
    message = fails("import", built, "--documents", wrong)
    assert "expected documents, found a file that looks like topics: all its ids are ids of topics" in message
    assert "use --yes to import it anyway" in message
    ok("import", built, "--documents", wrong, "--yes")
    documents = json.loads(ok("status", built, "--format", "json"))["documents"]
    assert ok("remove", built, "--documents-in", wrong, "--dry-run") == "To remove: 2 documents.\n"
    assert "expected --yes to accept the removal" in run("remove", built, "--documents-in", wrong).stderr
    assert ok("remove", built, "--documents-in", wrong, "--yes") == "Removed 2 documents.\n"
    assert json.loads(ok("status", built, "--format", "json"))["documents"] == documents - 2
    assert run("remove", built).exit_code == 2
    assert "unknown run 'x'" in fails("remove", built, "--run", "x")


def test_everything_in_use_is_named(built: Path) -> None:
    ok("judge", built, "--topic", 1, "--doc", "d1", "--annotator", "ann", "--grade", 1)
    answer = run("remove", built, "--topic", "1", "--yes")
    assert answer.exit_code == 2
    assert "note: 1 topic stays (judged): 1." in answer.stderr


def test_an_empty_export_has_a_reason(built: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("qrels", "labels.csv", "judgements.csv", "passages.jsonl")}
    asked = [each for name, path in files.items() for each in (f"--{name.partition('.')[0]}", path)]
    notices = run("export", built, *asked, "--sparse-qrels", tmp_path / "s").stderr
    for path in (*files.values(), tmp_path / "s"):
        assert f"note: {path} is empty: " in notices


def test_a_name_of_which_there_are_none(built: Path) -> None:
    assert "unknown account 'ann'; there is no account" in fails("people", built, "--lock", "ann")


def test_serve_and_demo_check_the_directory_before_they_start(tmp_path: Path) -> None:
    assert "there is no campaign in" in fails("serve", tmp_path / "nowhere")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each program that replaced this one."""
    programs: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, arguments: programs.append(arguments))
    return programs


def test_serve_hands_its_options_to_the_app(campaign: Campaign, started: list[list[str]]) -> None:
    ok("serve", campaign.directory)
    proxies = ("--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "::1")
    ok("serve", campaign.directory, "--port", 8600, "--as", "ann", "--no-browser", *proxies)
    program = [sys.executable, "-m", "annotate", str(campaign.directory)]
    assert started[0] == [*program, "--host", "127.0.0.1"]
    assert started[1][:4] == program
    given = started[1][4:]
    assert sorted(given) == sorted(["--host", "127.0.0.1", "--port", "8600", "--as", "ann", "--no-browser", *proxies])
    assert given[given.index("--port") + 1] == "8600"
    app.main.make_context("annotate", started[1][3:])  # which knows each of them


def test_a_demo_that_is_there_is_opened_as_it_is(campaign: Campaign, started: list[list[str]]) -> None:
    said = ok("demo", campaign.directory, "--build-only")
    assert f"{campaign.directory} already has a campaign, {campaign.title}, with " in said
    assert "8 documents and 2 runs. Nothing was built." in said
    assert not started
    ok("demo", campaign.directory, "--no-browser")
    (program,) = started
    assert program[:4] == [sys.executable, "-m", "annotate", str(campaign.directory)]
    assert "--no-browser" in program
    assert campaign.store.judgements.counts()["documents"] == 8


def test_the_demo_is_built_before_it_is_opened(
    tmp_path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(directory: Path, progress: object) -> ImportReport:
        Campaign.create(directory).close()
        return ImportReport(["topics.tsv: 30 topics"], ["one run has no costs"])

    monkeypatch.setattr(collection.demo, "build", build)
    result = run("demo", tmp_path / "demo")
    assert result.stdout == "topics.tsv: 30 topics\n"
    assert result.stderr == "note: one run has no costs\n"
    assert len(started) == 1


def test_status_names_what_is_outside_the_pool_and_what_has_no_text(campaign: Campaign, tmp_path: Path) -> None:
    ok("judge", campaign.directory, "--topic", 1, "--doc", "d8", "--annotator", "ann", "--grade", 1)
    (tmp_path / "c.run").write_text("1 Q0 d1 1 2.0 c\n1 Q0 elsewhere 2 1.0 c\n")
    ok("import", campaign.directory, "--run", tmp_path / "c.run")
    ok("pool", campaign.directory, "--depth", 2)
    said = ok("status", campaign.directory)
    assert "  1 judged pair outside the pool\n" in said
    hint = f"List the ids with `cleverdon export {campaign.directory} --missing-documents FILE`."
    (line,) = [line for line in said.splitlines() if hint in line]
    assert line.startswith("  1 ")
    assert json.loads(ok("status", campaign.directory, "--format", "json"))["missing_documents"] == 1


def test_status_of_a_loop_with_a_budget(campaign: Campaign) -> None:
    ok("loop", campaign.directory, "--mode", "loop", "--budget", 5)
    ok("judge", campaign.directory, "--topic", 1, "--doc", "d1", "--annotator", "ann", "--grade", 1)
    said = ok("status", campaign.directory)
    assert re.search(r"^  budget +4 pairs can still be judged$", said, re.M)
    assert "6 pairs, 1 judged\n" in said  # a loop has no number of pairs left


def test_one_judgement_with_its_decision_in_words(campaign: Campaign) -> None:
    pair = ("judge", campaign.directory, "--topic", 1, "--doc", "d1", "--annotator", "ann")
    assert "expected one of --grade, --cannot-judge or --undo" in run(*pair).stderr
    assert "expected one of --grade, --cannot-judge or --undo" in run(*pair, "--grade", 1, "--undo").stderr
    assert ok(*pair, "--grade", 2, "--adjudicate").startswith("Topic 1, document d1: adjudicated grade 2 by ann.")
    assert ok(*pair, "--cannot-judge", "no text").startswith("Topic 1, document d1: cannot judge by ann.")


def test_imports_of_nothing_are_refused(campaign: Campaign, tmp_path: Path) -> None:
    assert "expected a file to import" in run("import", campaign.directory).stderr
    (tmp_path / "empty").mkdir()
    refused = run("import", campaign.directory, "--run", tmp_path / "empty")
    assert refused.exit_code == 2
    assert f"--run: expected files, found the empty folder {tmp_path / 'empty'}" in refused.stderr


def test_loop_takes_a_row_as_a_number_or_auto(campaign: Campaign) -> None:
    there = campaign.directory
    assert "--row: expected a whole number or auto, found 'few'" in run("loop", there, "--row", "few").stderr
    assert re.search(r"^--row +12 ", ok("loop", there, "--mode", "loop", "--row", 12), re.M)
    assert re.search(r"^--row +auto ", ok("loop", there, "--row", "auto"), re.M)


def test_a_topic_s_own_mode_is_set_and_removed(campaign: Campaign) -> None:
    there = campaign.directory
    assert "--topic needs --mode" in run("loop", there, "--topic", 1).stderr
    ok("loop", there, "--topic", 1, "--mode", "closed")
    assert campaign.settings.own_modes() == {"1": "closed", "2": None}
    ok("loop", there, "--topic", 1, "--mode", "campaign")
    assert campaign.settings.own_modes() == {"1": None, "2": None}


def test_decisive_puts_topics_into_the_loop(campaign: Campaign) -> None:
    result = run("loop", campaign.directory, "--by", "decisive")
    assert result.stderr == "note: no topic was in the loop, so the mode is loop-in-pool now\n"
    assert set(campaign.settings.modes().values()) == {"loop-in-pool"}
    assert run("loop", campaign.directory, "--by", "decisive").stderr == ""


def test_recall_lists_what_is_started(campaign: Campaign, tmp_path: Path) -> None:
    ok("new", tmp_path / "empty")
    assert ok("recall", tmp_path / "empty").startswith("No topics yet. Import some")
    ok("loop", campaign.directory, "--mode", "loop")
    ok("judge", campaign.directory, "--topic", 1, "--doc", "d1", "--annotator", "ann", "--grade", 1)
    said = ok("recall", campaign.directory)
    (row,) = [line.split() for line in said.splitlines() if re.match(r"1 +loop ", line)]
    assert row[2:4] == ["1", "1"]  # judged and found
    assert "Relevant: grade 1 or higher.\n" in said
    assert "Not shown: 1 topic not started" in said


def test_clicks_and_ranks_in_an_export(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "march.csv").write_text("query_id,doc_id,rank,shown,clicked\n1,d1,1,10,4\n1,d2,2,10,1\n")
    ok("import", campaign.directory, "--clicks", tmp_path / "march.csv")
    ok("export", campaign.directory, "--clicks", tmp_path / "c.tsv")
    campaign.corpus.clicks.export(table=tmp_path / "wanted.tsv")
    assert (tmp_path / "c.tsv").read_bytes() == (tmp_path / "wanted.tsv").read_bytes()
    for ranks in ("5", "a-b", "1-"):
        refused = run("export", campaign.directory, "--triples", tmp_path / "t.tsv", "--ranks", ranks)
        assert refused.exit_code == 2
        assert f"--ranks: expected a first and a last rank such as 1-100, found '{ranks}'" in refused.stderr


def test_two_rules_are_compared_by_pairs_and_runs(campaign: Campaign) -> None:
    there = campaign.directory
    assert "expected --against, found nothing" in run("rules", there).stderr
    campaign.judging.judge("ann", "1", "d1", 1)
    same = ok("rules", there, "--against", "lowest", "-m", "AP")
    assert "1 pair with a grade by both rules; 0 different (0.0%)" in same
    assert "no run changes rank" in same
    campaign.judging.judge("ben", "1", "d1", 0)
    campaign.judging.judge("ben", "1", "d2", 0)
    result = run("rules", there, "--rule", "annotator(annotator=ann)", "--against", "annotator(annotator=ben)")
    assert "1 pair with a grade by both rules; 1 different (100.0%)" in result.stdout
    assert "1 pair with a grade only by annotator(annotator=ben)" in result.stdout


def test_help_is_light() -> None:
    """No pandas, no scikit-learn, no Streamlit before a command runs."""
    heavy = {"pandas", "numpy", "sklearn", "scipy", "streamlit", "pyarrow", "sqlite_utils", "altair"}
    code = "import sys; from collection.cli import main; main(['--help'], standalone_mode=False); "
    code += f"print(sorted(m for m in sys.modules if m in {heavy!r}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *shown, loaded = out.stdout.splitlines()
    assert "Try it:   cleverdon demo" in "\n".join(shown)
    assert loaded == "[]"


@pytest.mark.long
def test_status_starts_with_what_it_needs(campaign: Campaign) -> None:
    """Half of its time is the import of pandas; nothing else that takes long may come along."""
    code = "import sys; from collection.cli import main; main(['status', sys.argv[1]], standalone_mode=False); "
    code += "print(sorted(m for m in sys.modules if m in %r))"
    heavy = {"sklearn", "scipy", "streamlit", "altair", "krippendorff", "numba", "joblib", "pyarrow.parquet"}
    command = [sys.executable, "-c", code % (heavy,), str(campaign.directory)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1] == "[]"


COUNTED = """
import sys
opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
from collection.cli import main
main(sys.argv[1:], standalone_mode=False)
print([opened.count(file) for file in sys.argv[1:] if file.endswith((".txt", ".run", ".gz", ".tsv", ".parquet"))])
"""


RUNS = "DIR/a.run DIR/b.run.gz DIR/c.parquet"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        f"evaluate DIR/qrels.txt {RUNS}",
        f"import DIR/campaign --topics DIR/topics.tsv --qrels DIR/qrels.txt --run {RUNS.replace(' ', ' --run ')}",
        f"evaluate DIR/qrels.parquet {RUNS}",
        f"evaluate DIR/qrels.txt {RUNS} --unjudged expected",
        f"compare DIR/qrels.txt {RUNS}",
    ],
)
@pytest.mark.long
def test_each_file_is_opened_once(tmp_path: Path, command: str) -> None:
    """Detection of the layout, other kinds, the runs' names and reading share one opening."""
    (tmp_path / "qrels.txt").write_text("301 0 d1 2\n301 0 d2 0\n302 0 d1 1\n")
    (tmp_path / "topics.tsv").write_text("301\tWing flow\n302\tHeat transfer\n")
    (tmp_path / "a.run").write_text("301 Q0 d1 1 2.5 tag0\n302 Q0 d1 1 1.5 tag0\n")
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(b"301 Q0 d2 1 2.5 tag1\n302 Q0 d1 1 1.5 tag1\n"))
    table = pd.DataFrame({"qid": ["301", "302"], "docno": ["d1", "d2"], "score": [2.5, 1.5]})
    table.to_parquet(tmp_path / "c.parquet")
    table.drop(columns="score").assign(label=[1, 0]).to_parquet(tmp_path / "qrels.parquet")
    ok("new", tmp_path / "campaign")
    words = command.replace("DIR", str(tmp_path)).split()
    done = subprocess.run([sys.executable, "-c", COUNTED, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str([1] * sum("." in Path(word).name for word in words))


def test_files_may_come_through_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `cleverdon evaluate qrels.txt <(zcat run.gz)`, and from standard input."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("301 0 d1 2\n301 0 d2 0\n")
    for content in (
        "301 Q0 d1 1 2.5 bm25\n",
        "qid,docno,score,run\n301,d1,2.5,bm25\n",
        '{"qid": "301", "docno": "d1", "score": 2.5, "run": "bm25"}\n',
    ):
        Path("a.run").write_text(content)
        wanted = CliRunner().invoke(main, ["evaluate", "qrels.txt", "a.run"]).output
        assert "bm25" in wanted
        assert CliRunner().invoke(main, ["evaluate", "qrels.txt", "-"], input=content).output == wanted
        for written in (content.encode(), gzip.compress(content.encode())):
            reading, writing = os.pipe()
            os.write(writing, written)
            os.close(writing)
            assert CliRunner().invoke(main, ["evaluate", "qrels.txt", f"/dev/fd/{reading}"]).output == wanted
            os.close(reading)
    judged = Path("qrels.txt").read_text()
    assert CliRunner().invoke(main, ["evaluate", "-", "a.run"], input=judged).output == wanted


def test_a_closed_pipe_ends_quietly(evaluated: tuple[Path, Path]) -> None:
    command = f"{sys.executable} -m collection.cli evaluate {evaluated[0]} {evaluated[1]} --format tsv | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


@reads_proc
@pytest.mark.long
def test_a_large_import_streams(tmp_path: Path) -> None:
    """128 MB of texts, fed from .gz, of which a few are in memory at a time."""
    directory, source = tmp_path / "campaign", tmp_path / "documents.jsonl.gz"
    with gzip.open(source, "wt", compresslevel=1) as file:
        for number in range(4_000):
            words = random.Random(number).randbytes(400).hex() * 40  # one letter would be taken for a bomb
            file.write(json.dumps({"doc_id": f"d{number}", "text": words}) + "\n")
    ok("new", directory, "--grades", "0-3")
    code = (
        "import sys; from collection.cli import main\n"
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "import collection.campaign; before = peak()\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(peak() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "import", directory, "--documents", source],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "4,000 documents (4,000 new)" in done.stdout
    assert int(done.stdout.split()[-1]) < 64_000, "kB at the peak"
