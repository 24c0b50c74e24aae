"""`cleverdon recall --across-topics`, and what other commands say of the recall that is guaranteed across topics."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from collection import Campaign
from collection.stopping.risk_control import TRANSFER_WARNING
from tests.collection.campaign.recall.across_topics.test_calibration_topics import TOPICS, build, judge_rest
from tests.helpers import fails, ok, run


@pytest.fixture
def review(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


@pytest.mark.long
def test_plan_start_state_and_end(review: Campaign) -> None:
    directory = review.directory
    planned = ok("recall", directory, "--across-topics", "--recall", 0.8)
    assert planned == ok("recall", directory, "--across-topics", "--alpha", 0.2, "--plan")
    header = [name.lower() for name in review.recall.across_topics.plan(0.2).table()]
    assert re.split("  +", planned.splitlines()[2]) == header
    none = ok("recall", directory, "--across-topics", "--plan", "--recall", 0.8, "--topics", 3)
    assert "With 3 calibration topics, no rule can be chosen: every document of every topic has to be judged." in none
    assert planned.splitlines()[-1] == f"Start: cleverdon recall {directory} --across-topics --recall 0.8 --topics 5"
    assert "Draw 5 calibration topics" in planned
    deep = ok("recall", directory, "--across-topics", "--recall", 0.8, "--depth", 0.5, "--sample", 0.2)
    assert (
        deep.splitlines()[-1]
        == f"Start: cleverdon recall {directory} --across-topics --depth 0.5 --sample 0.2 --recall 0.8 --topics 5"
    )

    started = ok("recall", directory, "--across-topics", "--recall", 0.8, "--topics", 5, "--family", "fixed")
    assert started.startswith("Recall across topics: judging calibration topics. 0 of 5 calibration topics are judged")
    drawn = [topic.query_id for topic in review.recall.across_topics.state().topics]
    assert "Next: Judge the calibration topics first: 300 documents of 5 topics are left." in ok("status", directory)
    assert f"See `cleverdon recall {directory} --across-topics`" in ok("recall", directory)
    assert "calibration topics are not judged to the end" in fails("recall", directory, "--across-topics", "--again")
    assert "were drawn on" in fails("recall", directory, "--across-topics", "--topics", 9)

    judge_rest(review, *drawn)
    others = [topic for topic in TOPICS if topic not in drawn]
    judge_rest(review, others[0], but=5)
    ready = "Recall across topics: ready to calibrate. 5 of 5 calibration topics are judged to the end.\n"
    assert ok("recall", directory, "--across-topics").startswith(ready)
    assert "Calibrate now with --again." in ok("recall", directory, "--across-topics")
    assert ok("status", directory).endswith(
        "Next: Calibrate the stopping rule: all calibration topics are judged to the end.\n"
        f"  cleverdon recall {directory} --across-topics\n"
    )
    shown = ok("recall", directory, "--across-topics", "--again")
    assert "Recall across topics: at least 80% expected. The expected recall of a topic that stops after" in shown
    assert "14 topics could be drawn for calibration. 355 of their 840 documents are judged (42%)." in shown
    assert shown.splitlines()[-1].split("  ")[0] == others[0]
    status = ok("status", directory)
    assert "The expected recall of a topic that stops after" in status
    assert "Judge 8 topics in the loop until the stopping rule closes them." in status
    state = json.loads(ok("recall", directory, "--across-topics", "--format", "json"))["state"]
    assert (state["phase"], len(state["topics"]), len(state["closed"])) == ("calibrated", 5, 1)
    assert json.loads(ok("status", directory, "--format", "json"))["recall_across_topics"] == state["report"]

    review.settings.set_loop(level=2)
    assert ok("status", directory).endswith(
        "Next: The stopping rule is paused. The page Recall says what changed: undo the change, or calibrate again.\n"
        f"  cleverdon recall {directory} --across-topics\n"
    )
    result = run("recall", directory, "--across-topics")
    assert result.stdout.startswith("Recall across topics: promise in doubt.")
    assert "note: Loop settings changed since the draw" in result.stderr
    ended = ok("recall", directory, "--across-topics", "--stop")
    assert ended.startswith("No calibration topics are drawn.")
    assert others[0] in ended  # it stays closed
    assert "recall_across_topics" not in json.loads(ok("status", directory, "--format", "json"))


def test_wrong_options(review: Campaign) -> None:
    directory = review.directory
    for wrong, options in {
        "expected --recall or --alpha, found both": ("--recall", 0.9, "--alpha", 0.1),
        "--recall: expected a share between 0 and 1, found 90": ("--recall", 90),
        "expected one of --topics (or --from), --plan, --again and --stop": ("--topics", 9, "--again"),
    }.items():
        result = run("recall", directory, "--across-topics", *options)
        assert (result.exit_code, wrong in result.stderr) == (2, True), result.output
    assert "expected --across-topics with its options" in run("recall", directory, "--again").stderr
    assert "needs at least 9 calibration topics, found 3" in fails(
        "recall", directory, "--across-topics", "--topics", 3
    )
    assert "no calibration topics are drawn yet" in fails("recall", directory, "--across-topics", "--again")


@pytest.mark.long
def test_another_campaign_s_rule_warns_everywhere(
    review: Campaign, copy_of: Callable[..., Campaign], tmp_path: Path
) -> None:
    other = copy_of(build, name="other")
    judge_rest(other, *TOPICS[:5])
    directory = review.directory
    result = run("recall", directory, "--across-topics", "--recall", 0.8, "--from", other.directory, "--topics", 0)
    assert "nothing but this similarity supports it" in result.stdout
    assert f"note: {TRANSFER_WARNING}" in result.stderr
    for command in ("recall", "status"):
        assert TRANSFER_WARNING in ok(command, directory)
    judge_rest(review, "9", but=50)
    facts = review.exports.collection.facts()["recall_across_topics"]
    assert facts["limits"][0] == TRANSFER_WARNING
    assert (facts["source"], facts["calibration_topics"]) == ("review", [])
    ok("export", directory, "--collection", tmp_path / "exported")
    card = (tmp_path / "exported" / "collection.md").read_text()
    assert "## Recall across topics\n\nThe expected recall of a topic that stops after" in card
    assert "Its promise holds only as far as the topics, the documents" in card
