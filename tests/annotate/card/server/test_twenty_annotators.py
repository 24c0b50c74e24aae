"""Twenty annotators at once, over HTTP: nothing is judged more often than wanted, and nothing is left out."""

from __future__ import annotations

import pytest

from tests.benchmarks import bench_overlap


@pytest.mark.long
def test_twenty_annotators_judge_each_pair_twice_also_when_some_vanish_or_come_late() -> None:
    outcome = bench_overlap.judge_all(300, "random")
    assert not outcome.problems
    assert set(outcome.judged.values()) == {2}
    assert len(outcome.judged) == 150
    assert outcome.leaked == 0
    # Every save is in the log: what counts, what was given twice, and what came too late.
    assert len(outcome.times) == 300 + outcome.surplus
