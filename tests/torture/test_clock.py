"""A system clock that is set by mistake, and set right again, while people judge."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from collection import Campaign
from tests.helpers import until
from tests.torture.annotators import Annotator, Chooser, Grader, judging
from tests.torture.conftest import TASKS, Campaigning, judged_on, many
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_traceback

DAY = 24 * 3600


@pytest.mark.parametrize("task", many(("pool",), TASKS))
def test_a_clock_that_jumps_signs_nobody_out(task: str, campaigning: Callable[..., Campaigning]) -> None:
    """Far, so that each session and lease would end, or could not have begun yet; the changes do not last."""
    begun = campaigning(task)
    server, annotators, manager = begun
    with judging(annotators):
        for days in many((400, -400), (400, -400, 1, -1, 20_000, -20_000)):
            judged_on(begun)
            server.offset.write_text(str(days * DAY))
            judged_on(begun, 5)
            server.offset.write_text("0")
    for annotator in annotators:
        assert annotator.deliver()
        assert not annotator.troubles
    require_no_traceback(draw(server.port, manager, "judge", ""))
    require_intact(server.directory, annotators)


@pytest.mark.parametrize("restarted", [True, False])
@pytest.mark.parametrize("task", many(("pool", "list"), TASKS))
def test_leases_of_a_wrong_clock_hold_nothing_for_long(
    task: str, restarted: bool, campaigning: Callable[..., Campaigning]
) -> None:
    """A server that runs while the clock is weeks ahead leases documents until then."""
    server, (first, second), _ = campaigning(task, annotators=2, lasting=0.1)
    with Campaign(server.directory) as campaign:
        campaign.assignments.update(annotators=1)
    server.stop(signal.SIGKILL)
    server.offset.write_text(str(20 * DAY))  # sessions last for 30
    server.start()
    until(lambda: first.step() and held(first), "documents")
    if restarted:
        server.stop(signal.SIGKILL)
    server.offset.write_text("0")
    if restarted:
        server.start()
    if isinstance(second, Grader):
        second.topic = first.topic
    until(lambda: second.step() and held(first) & held(second), "what the other one holds", seconds=many(15, 60))


def held(annotator: Annotator) -> set[str]:
    """The documents, or topics, that an annotator holds."""
    assert isinstance(annotator, Grader | Chooser)
    return set(annotator.queue if isinstance(annotator, Grader) else annotator.units)
