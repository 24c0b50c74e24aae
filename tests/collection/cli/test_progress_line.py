"""Progress of long commands: a rewritten line on a terminal, plain lines in a log, nothing where the work is quick."""

import io
import sys
import threading

import pytest

from collection.cli import output
from collection.cli.output import progress_line
from tests.helpers import until


class Terminal(io.StringIO):
    """A stream that takes itself for a terminal, and tells when something is written."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.written = terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        done = super().write(text)
        self.written.set()
        return done


def stderr(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> Terminal:
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("terminal", [True, False])
def test_quick_work_says_nothing(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    stream = stderr(monkeypatch, terminal)
    monkeypatch.setattr(output, "SOON", 1000.0)
    with progress_line("counting"):
        pass
    assert stream.getvalue() == ""


def test_a_log_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = stderr(monkeypatch, False)
    with progress_line("simulating") as progress:
        progress("topic 1", 0, 25)
        monkeypatch.setattr(output, "SELDOM", 0.0)
        progress("topic 2", 1, 25)
        monkeypatch.setattr(output, "SELDOM", 10.0)
        progress("topic 3", 2, 25)
    assert stream.getvalue() == "topic 2: 1 of 25\n"


def test_a_terminal_gets_a_line_that_is_rewritten_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = stderr(monkeypatch, True)
    with progress_line("evaluating") as progress:
        progress("runs", 1, 2)
        progress("runs", 2, 2)
    assert stream.getvalue().split("\r\x1b[K") == [
        "", f"runs{' ' * 25}[############............] 1/2", f"runs{' ' * 25}[########################] 2/2", "",
    ]  # fmt: skip


@pytest.mark.parametrize("terminal", [True, False])
def test_silent_work_says_how_long_it_has_taken(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    stream = stderr(monkeypatch, terminal)
    monkeypatch.setattr(output, "SOON", 0.0)
    monkeypatch.setattr(output, "SELDOM", 0.0)
    with progress_line("comparing documents"):
        until(stream.written.is_set, "a line of the work")
    assert "comparing documents: 1 s" in stream.getvalue()
