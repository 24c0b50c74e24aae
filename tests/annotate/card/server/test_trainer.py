"""The training process: that it makes what the server would make, ends with it, and can be lost at any time."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotate.card.server import trainer_process
from annotate.card.server.trainer import NoModelError, Trainer
from annotate.card.server.trainer_process import (
    KEPT_ROUNDS,
    STARVED_AFTER,
    RoundRequest,
    TrainerProcess,
    keep_newest,
    should_yield,
)
from collection import Campaign
from tests.annotate.card.server.test_loop_routes import build_looping, judged_by_hand
from tests.browser.serving import free_port
from tests.helpers import PATIENCE, first_of, until


@pytest.fixture
def looping(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build_looping)


@pytest.fixture
def trainer(looping: Campaign) -> Iterator[Trainer]:
    trainer = Trainer(looping.directory)
    yield trainer
    trainer.stop()


def children(process: int) -> set[int]:
    """Ids of the processes that a process has started and that have not ended."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in table.splitlines()]
    return {int(child) for child, parent, state in rows if int(parent) == process and not state.startswith("Z")}


def is_there(process: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return state.stdout.strip() not in ("", "Z", "Zl")


@pytest.mark.long
def test_it_makes_the_features_before_the_first_round_is_requested(trainer: Trainer, looping: Campaign) -> None:
    assert "features" not in looping.store.settings.all()
    trainer.start(looping)
    until(lambda: "features" in looping.store.settings.all(), "the features")
    assert trainer.latest("1") is None


@pytest.mark.slow
@pytest.mark.long
def test_its_rounds_are_those_that_the_log_determines(trainer: Trainer, looping: Campaign) -> None:
    for turn in range(3):
        trainer.request("1")
        until(lambda: (made := trainer.latest("1")) and looping.loop.is_current(made), "the round")
        made, here = trainer.latest("1"), looping.loop.next_explainable_round("1")
        assert made == here.round
        assert made.strategy == ("fusion" if turn == 0 else "model")
        assert trainer.reasons("1", 5) == here.reasons(5)
        assert trainer.reasons("1", 10_000) is None
        judged_by_hand(looping, [way.doc_id for way in made.selections[:10]])
    with pytest.raises(NoModelError):
        trainer.reasons("2", 5)


@pytest.mark.slow
@pytest.mark.long
def test_it_stands_behind_whoever_answers_people(trainer: Trainer) -> None:
    trainer.request("1")
    until(lambda: trainer.latest("1"), "the round")
    assert trainer.process is not None
    assert os.getpriority(os.PRIO_PROCESS, trainer.process) >= trainer_process.NICENESS
    assert os.getpgid(trainer.process) != os.getpgid(0), "Ctrl+C in a terminal would reach it"


@pytest.mark.slow
@pytest.mark.long
def test_another_is_started_where_it_is_killed(trainer: Trainer, looping: Campaign) -> None:
    trainer.request("1")
    until(lambda: trainer.latest("1"), "the round")
    first, made = trainer.process, trainer.latest("1")
    assert first is not None
    judged_by_hand(looping, ["d0"])
    os.kill(first, signal.SIGKILL)
    assert trainer.latest("1") == made, "what was made is still there to be handed out"
    trainer.request("1")
    until(lambda: (found := trainer.latest("1")) and found.model_round == 1, "the next round")
    assert trainer.process not in (None, first)
    assert trainer.problem("1") is None


@pytest.mark.slow
@pytest.mark.long
def test_one_that_cannot_live_is_a_problem_and_is_not_started_for_ever(
    trainer: Trainer, looping: Campaign, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    monkeypatch.setattr(trainer_process, "START", f"open({str(starts)!r}, 'a').write('.'); raise SystemExit(3)")
    trainer.request("1")
    until(lambda: starts.exists() and starts.read_text() == ".." and trainer.process is None, "the second attempt")
    until(lambda: trainer.problem("1"), "the problem")
    assert trainer.problem("1") == "the training process ended (exit status 3)"
    trainer.start(looping)
    trainer.request("2")
    until(lambda: trainer.problem("2"), "the problem of a topic that was asked for later")
    assert starts.read_text() == "..."
    monkeypatch.undo()
    trainer.request("1")
    until(lambda: trainer.latest("1"), "the round")
    assert trainer.problem("1") is None


def test_one_that_cannot_be_started_is_a_problem(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    trainer.request("1")
    until(lambda: trainer.problem("1"), "the problem")
    assert "cannot be started" in (trainer.problem("1") or "")


@pytest.mark.slow
@pytest.mark.long
def test_stopping_ends_it_whatever_it_does(looping: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """It learns for ever: nothing but its end lets this test go on."""
    slow = "import threading; from collection.campaign.loop.active_learning import ActiveLearning as A; "
    slow += "A.next_explainable_round = lambda *_: threading.Event().wait(); "
    monkeypatch.setattr(trainer_process, "START", slow + trainer_process.START)
    trainer = Trainer(looping.directory)
    trainer.request("1")
    until(lambda: trainer.process, "the process")
    process = trainer.process
    trainer.stop()
    assert process is not None
    assert not is_there(process)
    trainer.request("1")  # comes to nothing, and to no harm


def test_of_so_many_topics_the_newest_rounds_are_kept() -> None:
    rounds: dict[str, int] = {}
    for number in range(KEPT_ROUNDS + 3):
        rounds = keep_newest(rounds, str(number), number)
    rounds = keep_newest(rounds, "5", 99)
    assert len(rounds) == KEPT_ROUNDS
    assert list(rounds) == [*(str(n) for n in range(3, KEPT_ROUNDS + 3) if n != 5), "5"]
    assert rounds["5"] == 99


@pytest.mark.parametrize(
    ("modest", "seconds", "used", "then"),
    [
        (False, 1.5, 1.2, True),  # there is room
        (False, 12.0, 1.2, False),  # others keep all processors busy
        (False, 0.06, 0.06, None),  # which the first fraction of a second never shows
        (True, 0.06, 0.04, True),
        (True, 0.12, 0.04, True),  # a busy machine, but not a full one
        (True, 3.0, 0.04, False),  # starved
        (True, 0.03, 0.0, None),
    ],
)
def test_what_rounds_had_says_how_modest_the_next_are(
    modest: bool, seconds: float, used: float, then: bool | None
) -> None:
    assert should_yield(modest, seconds, used) is then


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no processor time that nobody else wants")
def test_a_starved_round_is_followed_by_one_that_has_its_share(
    looping: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[int] = []
    clock = SimpleNamespace(perf_counter=lambda: 2 * STARVED_AFTER * len(ways), thread_time=lambda: 0.0)

    def starved(*_: object) -> None:
        ways.append(os.sched_getscheduler(0))

    monkeypatch.setattr(trainer_process, "time", clock)  # time passes in rounds, and none of it is the processor's
    monkeypatch.setattr(TrainerProcess, "_round", starved)
    monkeypatch.setattr(trainer_process, "FREE_AFTER", 0.0)
    monkeypatch.setattr(trainer_process, "FREE_SHARE", -1.0)  # always room
    wishes, answers = BytesIO(b"".join(pickle.dumps(RoundRequest(str(n))) for n in range(4))), BytesIO()
    learning = TrainerProcess(looping.directory, wishes, answers)
    learning.listen()
    learning.work()
    usual = os.sched_getscheduler(0)
    assert ways == [usual, os.SCHED_IDLE, usual, os.SCHED_IDLE]
    answers.seek(0)
    assert [pickle.load(answers).query_id for _ in range(4)] == ["0", "1", "2", "3"]


# --- with its server ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("how", first_of([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
@pytest.mark.long
def test_it_ends_with_its_server(looping: Campaign, how: signal.Signals) -> None:
    port = free_port()
    command = [sys.executable, "-m", "annotate", looping.directory, "--no-browser", "--as", "ann", "--port", str(port)]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert server.stdout is not None
    assert any("/signin" in line for line in iter(server.stdout.readline, ""))
    until(lambda: children(server.pid), "the training process")  # a topic is in its loop: before anybody asks
    ours = children(server.pid)
    assert len(ours) == 1
    if how is signal.SIGINT:
        os.killpg(server.pid, how)  # as Ctrl+C in a terminal does
    else:
        server.send_signal(how)
    _, said = server.communicate(timeout=PATIENCE)
    until(lambda: not any(map(is_there, ours)), "the end of the process that learns")
    assert said == ""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))  # nobody has it any more
        sock.listen()


@pytest.mark.long
def test_a_pool_needs_none(looping: Campaign) -> None:
    looping.settings.set_loop(mode="pool")
    command = [sys.executable, "-m", "annotate", looping.directory, "--no-browser", "--as", "ann"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert any("signin" in line for line in iter(server.stdout.readline, ""))
            assert children(server.pid) == set()
        finally:  # the block waits for the end of the server
            server.terminate()
