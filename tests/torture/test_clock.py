"""A system clock that was wrong for longer than a server ignores it."""

import signal
from collections.abc import Callable

import pytest

from collection import Campaign
from tests.helpers import until
from tests.torture.annotators import Annotator, Chooser, Grader
from tests.torture.conftest import TASKS, Campaigning, many
from tests.torture.faults import DAY

pytestmark = pytest.mark.long


@pytest.mark.parametrize("restarted", many((True,), (True, False)))
@pytest.mark.parametrize("task", many(("list",), TASKS))
def test_leases_of_a_wrong_clock_hold_nothing_for_long(
    task: str, restarted: bool, campaigning: Callable[..., Campaigning]
) -> None:
    """A server that runs while the clock is weeks ahead leases documents until then."""
    server, (first, second), _ = campaigning(task, annotators=2, lasting=0.1, ahead=20 * DAY)  # sessions last for 30
    with Campaign(server.directory) as campaign:
        campaign.people.assignments.update(annotators=1)
        campaign.people.assignments.spread_overlap()
    until(lambda: first.step() and held(first), "documents")
    if restarted:
        server.stop(signal.SIGKILL)
    server.offset.write_text("0")
    if restarted:
        server.start()
    if isinstance(second, Grader):
        second.topic = first.topic  # type: ignore[attr-defined]
    until(lambda: second.step() and held(first) & held(second), "what the other one holds")


def held(annotator: Annotator) -> set[str]:
    """The documents, or topics, that an annotator holds."""
    assert isinstance(annotator, Grader | Chooser)
    return set(annotator.queue if isinstance(annotator, Grader) else annotator.units)
