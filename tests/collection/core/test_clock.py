"""The campaign's time while somebody sets the machine's clock."""

import logging
import time

import pytest

from annotate.auth.tokens import Tokens
from collection import Campaign
from collection.core import clock
from collection.core.clock import JUMP, LASTING, Clock
from tests.conftest import signed_in

A_DAY = 24 * 3600.0


class Machine:
    """A machine with a clock that can be set, and the time that really passes."""

    def __init__(self) -> None:
        self.steady, self.wall = 100.0, 1e9
        self.clock = Clock(lambda: self.wall, lambda: self.steady)

    def passes(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds

    def read(self) -> float:
        """Seconds since the machine was made, as the campaign has them."""
        return self.clock.seconds() - 1e9


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.mark.parametrize("change", [-400 * A_DAY, -A_DAY, -JUMP - 1, JUMP + 1, A_DAY, 400 * A_DAY])
def test_a_clock_that_is_set_and_set_right_again_leaves_no_trace(machine: Machine, change: float) -> None:
    machine.passes(5)
    machine.wall += change
    assert machine.read() == pytest.approx(5)
    machine.passes(LASTING - 1)
    assert machine.read() == pytest.approx(5 + LASTING - 1)
    machine.wall -= change
    machine.passes(LASTING)
    assert machine.read() == pytest.approx(2 * LASTING + 4)


@pytest.mark.parametrize("change", [-A_DAY, A_DAY])
def test_a_change_that_lasts_counts_and_is_told_once(
    machine: Machine, change: float, caplog: pytest.LogCaptureFixture
) -> None:
    machine.wall += change
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            machine.passes(LASTING / 10)
            machine.read()
    assert [record.getMessage() for record in caplog.records] == [
        f"The system clock changed by {change:+.0f} seconds; the change is used if it lasts for 10 minutes."
    ]
    machine.passes(LASTING)
    assert machine.read() == pytest.approx(change + 2 * LASTING)


def test_small_corrections_are_followed_and_never_go_back(machine: Machine) -> None:
    seen = []
    for correction in (0.5, -0.5, -30, 10, 59, -59, 0):
        machine.wall += correction
        machine.passes(1)
        seen.append(machine.read())
    assert seen == sorted(seen)
    machine.passes(100)
    assert machine.read() == pytest.approx(machine.wall - 1e9)


@pytest.mark.parametrize("change", [-3 * A_DAY, 40 * A_DAY])
def test_nobody_is_signed_out_and_no_time_is_of_the_future(
    campaign: Campaign, machine: Machine, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    monkeypatch.setattr(clock, "_CLOCK", machine.clock)
    tokens, secret = Tokens(campaign.operations.server_state.secret(), campaign.id), signed_in(campaign)
    person = campaign.people.accounts.session(secret)
    assert person is not None
    cookie, token, link = (
        tokens.cookie(secret),
        tokens.token("ann", person.session),
        campaign.people.accounts.make_signin_link("ann"),
    )
    machine.wall += change
    machine.passes(10)
    assert tokens.read_cookie(cookie) == secret
    assert tokens.read_token(token) is not None
    campaign.judging.judge("ann", "1", "d1", 1)
    campaign.people.accounts.open_session("ann")  # forgets sessions that are over
    assert campaign.people.accounts.session(secret) == person
    assert campaign.people.accounts.signin_link_account(link) == "ann"
    assert campaign.store.judgements.table()["judged_at"].tolist() == ["2001-09-09T01:46:50.000+00:00"]


def test_a_cookie_is_valid_after_a_restart_with_an_earlier_clock(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "_CLOCK", Machine().clock)
    tokens, secret = Tokens(campaign.operations.server_state.secret(), campaign.id), signed_in(campaign)
    cookie, restarted = tokens.cookie(secret), Machine()
    restarted.wall -= A_DAY
    monkeypatch.setattr(clock, "_CLOCK", Clock(lambda: restarted.wall, lambda: 0.0))
    assert tokens.read_cookie(cookie) == secret
    assert campaign.people.accounts.session(secret) is not None


@pytest.mark.skipif(not hasattr(time, "CLOCK_MONOTONIC"), reason="the system has no such clock")
def test_without_a_boot_clock_the_one_that_goes_on_in_sleep_on_macos_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    monkeypatch.setattr(time, "clock_gettime", lambda which: (which, "read"))
    assert clock._steady() == (time.CLOCK_MONOTONIC, "read")  # type: ignore[comparison-overlap]
