"""The machine of the judging card with further questions, or sentences: many more random sequences than usual."""

import os

import pytest

from tests.helpers import SHARE, node

SEQUENCES = 30_000
TESTS = 10  # as many try sequences with further questions, or topics that follow each other


@pytest.mark.long
@pytest.mark.fuzz
def test_no_answer_is_lost_doubled_or_given_to_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = SEQUENCES * max(SHARE, 0.02) / TESTS
    monkeypatch.setitem(os.environ, "CARD_RUNS", str(round(runs)))
    done = node(
        "--test", "--test-reporter=tap", "--test-name-pattern=several|sentences", "tests/annotate/card/machine.test.js"
    )
    assert done.returncode == 0, done.stdout
    assert f"# pass {TESTS}" in done.stdout
