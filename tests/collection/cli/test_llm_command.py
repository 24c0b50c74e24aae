"""`cleverdon labels llm` with an endpoint on this machine, also in processes that are killed and interrupted."""

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from collection.campaign import Campaign
from collection.campaign.machine_labels.llm.ask import batches as llm_batches
from tests.collection.campaign.machine_labels.llm.llm_server import Asked, FakeEndpoint, Reply
from tests.helpers import PATIENCE, fails, ok, run, until

pytestmark = pytest.mark.slow

pytest.importorskip("openai")


def stored(campaign: Campaign) -> list[tuple[str, str, str]]:
    """Topic, document and status of each row of the label set m."""
    found = campaign.machine_labels.sets.find("m")
    rows = [] if found is None else campaign.store.machine_labels.log(found.key)
    return [(row.query_id, row.doc_id, row.status) for row in rows]


def command(campaign: Campaign, fake: FakeEndpoint, *more: object) -> list[object]:
    return ["labels", "llm", campaign.directory, "--model", "m", "--endpoint", fake.url, *more]


def test_the_command_labels_and_lists(campaign: Campaign, fake: FakeEndpoint) -> None:
    prices = ("--price-in", 1000, "--price-out", 10_000)
    shown = ok(*command(campaign, fake, *prices, "--yes"))
    assert "6 pairs to label" in shown
    assert "6 pairs of label set m: 6 graded, 0 without a grade, 0 failed" in shown
    assert "600 prompt tokens, 30 reply tokens, cost 0.9" in shown
    assert "0 pairs to label, 6 already answered" in ok(*command(campaign, fake))
    shown = ok(*command(campaign, fake, "--probe", "--topic", "1", "--yes"))
    assert "The model followed 0 of 9 injected requests." in shown
    assert "0 of 9" in ok("labels", "list", campaign.directory)
    (listed,) = json.loads(ok("labels", "list", campaign.directory, "--format", "json"))
    assert (listed["graded"], listed["cost"], listed["probe"]["wanted"]) == (6, pytest.approx(0.9), 3)


def test_the_exported_log_has_prompts_and_replies(campaign: Campaign, fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = lambda asked: Reply("half \ud800\nGrade: 2")
    ok(*command(campaign, fake, "--most", 1, "--yes"))
    ok("export", campaign.directory, "--machine-labels", "m", tmp_path / "log.jsonl")
    (row,) = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    assert json.loads(row["prompt"]) == fake.asked[0].body["messages"]
    assert (row["reply"], row["relevance"], row["revision"]) == ("half \ud800\nGrade: 2", 2.0, "fp_7")
    assert json.loads((tmp_path / "log.jsonl.labels.json").read_text())["settings"]["model"] == "m"


@pytest.mark.parametrize("name", ["people", "x" * 65, "ann"])
def test_a_name_that_cannot_be_stored_is_refused_before_anything_is_asked(
    campaign: Campaign, fake: FakeEndpoint, name: str
) -> None:
    campaign.judging.judge("ann", "1", "d1", 1)
    assert "label set" in fails(*command(campaign, fake, "--yes", "--name", name))
    assert fake.asked == []


def test_the_command_asks_before_it_costs(campaign: Campaign, fake: FakeEndpoint) -> None:
    result = run(*command(campaign, fake))
    assert (result.exit_code, fake.asked) == (2, [])
    assert "expected --yes to accept the cost" in result.stderr
    assert "Estimate:" in result.stdout


def test_a_dry_run_shows_prompts_and_replies(campaign: Campaign, fake: FakeEndpoint) -> None:
    shown = ok(*command(campaign, fake, "--dry-run", "--price-in", 1, "--price-out", 1))
    assert len(re.findall(r"^== Topic \d, document d\d: grade 2, .* 100 \+ 5 tokens, cost ", shown, re.M)) == 6
    assert shown.count("-- system\n") == shown.count("-- user\n") == shown.count("-- reply\nGrade: 2\n") == 6
    assert "All 6 pairs: 600 prompt tokens, 30 reply tokens (from 6 answers)" in shown
    assert "no label sets" in ok("labels", "list", campaign.directory)


@pytest.mark.parametrize("how", ["--dry-run", "--yes"])
def test_without_a_server_the_command_fails_at_once(campaign: Campaign, no_repeats: None, how: str) -> None:
    with FakeEndpoint() as gone:
        pass
    result = run(*command(campaign, gone, how))
    assert result.exit_code == 2
    (line,) = [line for line in result.stderr.splitlines() if "Connection refused" in line]
    assert line.startswith(f"cleverdon: no connection to {gone.url}: ")
    assert "== Topic" not in result.stdout


def test_a_dry_run_shows_a_failure_at_once(campaign: Campaign, fake: FakeEndpoint, no_repeats: None) -> None:
    """No request is repeated, and the error is not lost under prompts."""
    fake.answer = lambda asked: Reply("overloaded", 503)
    result = run(*command(campaign, fake, "--dry-run"))
    assert result.exit_code == 2
    assert "cleverdon: every request failed, the last one with: HTTP 503: overloaded" in result.stderr
    assert len(fake.asked) == 6
    assert "== Topic" not in result.stdout
    fake.answer = lambda asked: Reply("overloaded", 503) if "document 1" in asked.prompt else Reply()
    result = run(*command(campaign, fake, "--dry-run"))
    assert result.exit_code == 0
    assert re.search(r"^== Topic 1, document d1: failed \(HTTP 503: overloaded\)\n(== |6 pairs)", result.stdout, re.M)
    assert "note: the last failed request: HTTP 503: overloaded" in result.stderr


def test_errors_of_the_command_are_one_line(campaign: Campaign, fake: FakeEndpoint, tmp_path: Path) -> None:
    assert "--budget: expected prices" in fails(*command(campaign, fake, "--budget", 1, "--yes"))
    assert "--template: expected one of umbrela, nist" in fails(*command(campaign, fake, "--template", "none.txt"))
    (tmp_path / "mine.txt").write_text("{topic} {document} {grades}")
    assert "expected {answer}" in fails(*command(campaign, fake, "--template", tmp_path / "mine.txt"))
    assert "--set: expected NAME=VALUE" in fails(*command(campaign, fake, "--set", "seed"))
    fake.answer = lambda asked: Reply("too long", 400)
    for how in ([], ["--batch", "--poll", 0.001], ["--probe"]):
        result = run(*command(campaign, fake, "--yes", *how))
        assert result.exit_code == 2, how
        number = "10 requests in a row" if "--probe" in how else "every request"
        assert f"cleverdon: {number} failed, the last one with: HTTP 400: too long" in result.stderr
    fake.answer = lambda asked: Reply("no such model", 404)
    result = run(*command(campaign, fake, "--yes"))
    assert result.exit_code == 2
    assert f"cleverdon: {fake.url} refuses the model or the address (HTTP 404: no such model)" in result.stderr


def test_a_printed_template_can_be_used(campaign: Campaign, fake: FakeEndpoint, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(
        ok("labels", "llm", campaign.directory, "--template", "nist", "--print-template")
    )
    assert "1 graded" in ok(*command(campaign, fake, "--template", tmp_path / "mine.txt", "--most", 1, "--yes"))


def test_the_command_says_what_was_answered_since_it_asked(
    campaign: Campaign, fake: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the question waits for an answer, a second terminal asks about all pairs but one."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    def confirm(question: str, yes: bool, accepted: str) -> None:
        ok(*command(campaign, fake, "--most", 5, "--yes")) if not yes else None

    monkeypatch.setattr("collection.cli.machine_labels.llm.confirm", confirm)
    result = run(*command(campaign, fake))
    assert result.exit_code == 0
    assert "note: 5 pairs have been answered since the plan and have not been sent again" in result.stderr
    assert "1 pair of label set m: 1 graded" in result.stdout
    assert len(fake.asked) == 6


def test_a_risky_endpoint_is_mentioned(campaign: Campaign) -> None:
    result = run("labels", "llm", campaign.directory, "--model", "m", "--endpoint", "http://192.0.2.1/v1")
    assert "http://192.0.2.1/v1 is not encrypted" in result.stderr


def start(campaign: Campaign, fake: FakeEndpoint, *more: object) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    arguments = [str(each) for each in command(campaign, fake, "--yes", *more)]
    return subprocess.Popen(
        [sys.executable, "-m", "collection.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


class Pausing:
    """Answers so many requests, and then none until it may go on."""

    def __init__(self, number: int) -> None:
        self.left, self.lock, self.go_on = number, threading.Lock(), threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        with self.lock:
            self.left -= 1
            waits = self.left < 0
        if waits:
            self.go_on.wait(PATIENCE)
        return Reply()


@pytest.mark.long
def test_a_killed_run_continues_without_a_doubled_label_or_cost(many: Campaign, fake: FakeEndpoint) -> None:
    """Only requests that were under way are made again, with the same keys."""
    concurrency = 4
    pausing = fake.answer = Pausing(15)
    child = start(many, fake, "--concurrency", concurrency)
    until(lambda: pausing.left == -concurrency and len(stored(many)) == 15, "the pause")
    child.kill()
    child.communicate(timeout=PATIENCE)
    first, before = [asked.key for asked in fake.asked], stored(many)
    pausing.go_on.set()
    assert "25 pairs to label, 15 already answered" in ok(*command(many, fake, "--yes"))
    after = stored(many)
    assert after[:15] == before
    assert len(after) == len({(query_id, doc_id) for query_id, doc_id, _ in after}) == 40
    assert {status for _, _, status in after} == {"graded"}
    second = [asked.key for asked in fake.asked[len(first) :]]
    assert len(second) == len(set(second)) == 25
    assert set(first) & set(second) == set(first[15:])
    assert len(set(first) | set(second)) == 40


@pytest.mark.long
def test_ctrl_c_stores_what_is_under_way_and_ends(many: Campaign, fake: FakeEndpoint) -> None:
    pausing = fake.answer = Pausing(5)
    child = start(many, fake, "--concurrency", 2)
    until(lambda: pausing.left == -2, "the pause")
    child.send_signal(signal.SIGINT)
    wait_for_notice(child)
    pausing.go_on.set()
    out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, err) == (130, "")
    assert "Stopped: 33 pairs left. The same command continues." in out
    assert len(stored(many)) == 7


@pytest.mark.long
def test_a_second_ctrl_c_does_not_wait(many: Campaign, fake: FakeEndpoint) -> None:
    pausing = fake.answer = Pausing(5)
    child = start(many, fake, "--concurrency", 2)
    until(lambda: pausing.left == -2, "the pause")
    child.send_signal(signal.SIGINT)
    wait_for_notice(child)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE)
    pausing.go_on.set()
    assert (child.returncode, err.strip()) == (1, "Aborted!")
    assert len(stored(many)) == 5


def wait_for_notice(child: subprocess.Popen[str]) -> None:
    assert child.stderr is not None
    assert "Waiting for the requests in progress" in child.stderr.readline() + child.stderr.readline()


BATCH = ("--batch", "--poll", 0.05)


def test_a_batch_costs_half(many: Campaign, fake: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = ("--price-in", 1000, "--price-out", 10_000)
    result = run(*command(many, fake, *BATCH, *prices))
    assert "note: costs are those of a batch: 50% of the prices of single requests" in result.stderr
    assert (result.exit_code, fake.batches) == (2, {})
    monkeypatch.setattr(llm_batches, "MOST_REQUESTS", 30)
    shown = ok(*command(many, fake, *BATCH, *prices, "--yes"))
    assert "30 pairs of label set m: 30 graded, 0 without a grade, 0 failed" in shown
    assert "3,000 prompt tokens, 150 reply tokens, cost 2.25\n" in shown
    assert "10 pairs left: the same command sends another batch." in shown
    assert "10 graded" in ok(*command(many, fake, *BATCH, "--yes"))
    assert "0 pairs to label, 40 already answered" in ok(*command(many, fake, *BATCH, "--yes"))
    assert len(fake.batches) == 2
    assert "No batch is in progress for the label set m." in ok(*command(many, fake, "--cancel-batch"))
    assert "expected no --probe and no --stream" in run(*command(many, fake, "--batch", "--stream")).stderr


@pytest.mark.parametrize("when", ["while it is made", "while it runs"])
@pytest.mark.long
def test_a_killed_run_finds_its_batch_again(many: Campaign, fake: FakeEndpoint, when: str) -> None:
    go_on, looks = threading.Event(), list[str]()
    if when == "while it is made":
        fake.after_batch = lambda: go_on.wait(PATIENCE)
    fake.look = lambda made: fake.finish(made) if go_on.is_set() else looks.append(made.status)
    child = start(many, fake, *BATCH)
    until(lambda: fake.batches if when == "while it is made" else looks, "the pause")
    child.kill()
    child.communicate(timeout=PATIENCE)
    shown = run("labels", "list", many.directory)
    name = "not confirmed" if when == "while it is made" else "batch-0"
    assert f"note: a batch is in progress: {name}, 40 requests for the label set m, sent 20" in shown.stderr
    assert stored(many) == []
    assert "a batch of 40 requests is in progress for the label set 'm'" in run(*command(many, fake, "--yes")).stderr
    go_on.set()
    assert "40 graded" in ok(*command(many, fake, *BATCH))  # nothing to accept: it is paid already
    assert len(stored(many)) == len(set(stored(many))) == 40
    assert (len(fake.batches), fake.asked) == (1, [])
    assert run("labels", "list", many.directory).stderr == ""


@pytest.mark.long
def test_ctrl_c_leaves_a_batch_to_the_endpoint(many: Campaign, fake: FakeEndpoint) -> None:
    looks = list[str]()
    fake.look = lambda made: looks.append(made.status)
    child = start(many, fake, *BATCH)
    until(lambda: looks, "the first look")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert "The batch continues at the endpoint. The same command waits for it." in err
    assert "Stopped: 40 pairs left. The same command continues." in out
    fake.look = fake.finish
    assert "40 graded" in ok(*command(many, fake, *BATCH))
    assert len(fake.batches) == 1


def test_samples_are_asked_one_after_the_other(campaign: Campaign, fake: FakeEndpoint) -> None:
    shown = run(*command(campaign, fake, "--samples", 3, "--structured", "--yes"))
    assert shown.exit_code == 0, shown.output
    assert "Sample 3 of 3\nLabel set m: 6 pairs to label" in shown.stdout
    assert "the temperature is 0: samples of a pair will hardly differ" in shown.stderr
    assert len(fake.asked) == 18
    assert "0% of 6 pairs" in ok("labels", "list", campaign.directory)
    assert (
        ok(*command(campaign, fake, "--samples", 3, "--structured")).count("0 pairs to label, 6 already answered") == 3
    )
    again = run(*command(campaign, fake, "--task", "nuggets", "--samples", 2))
    assert again.exit_code == 2
