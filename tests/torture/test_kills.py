"""Killing the server and the process that trains, while twenty people judge."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from collection import Campaign
from tests.helpers import until
from tests.torture.annotators import Chooser, Grader, judging, sentence_problems
from tests.torture.conftest import TASKS, Campaigning, judged_on, many
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_traceback


@pytest.mark.parametrize("task", TASKS)
def test_a_killed_server_loses_and_doubles_nothing(task: str, campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning(task)
    server, annotators, manager = begun
    with judging(annotators):
        for kill in range(many(1, 25)):
            judged_on(begun)
            server.stop(signal.SIGKILL)
            if kill % 5 == 0:
                require_intact(server.directory, annotators)
            server.start()
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    server.stop(signal.SIGKILL)
    require_intact(server.directory, annotators)
    assert all(not annotator.outbox for annotator in annotators)
    server.start()
    require_no_traceback(draw(server.port, manager, *many(["judge", ""], [])))
    assert "Traceback" not in server.printed()
    for annotator in annotators:
        assert sentence_problems(annotator.troubles) == []


@pytest.mark.parametrize("task", TASKS)
def test_a_new_card_gets_what_a_dead_one_held(task: str, campaigning: Callable[..., Campaigning]) -> None:
    """After a crash a browser may have forgotten what it held; its annotator gets that again."""
    server, (annotator,), _ = campaigning(task, annotators=1)
    until(annotator.step, "an answer")
    if isinstance(annotator, Grader):
        until(lambda: annotator.step() and annotator.queue, "a document")
        held = set(annotator.queue)
        annotator.queue = []
    else:
        assert isinstance(annotator, Chooser)
        until(lambda: annotator.step() and annotator.units, "a topic")
        held = set(annotator.units)
        annotator.units = {}
    server.stop(signal.SIGKILL)
    server.start()
    until(lambda: annotator.exchange(12) and _in_hand(annotator), "an answer")
    assert held & _in_hand(annotator)


def _in_hand(annotator: Grader | Chooser) -> set[str]:
    return set(annotator.queue if isinstance(annotator, Grader) else annotator.units)


def test_a_killed_trainer_is_replaced_and_judging_goes_on(campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning("loop")
    server, annotators, manager = begun
    with judging(annotators):
        for _ in range(many(3, 100)):
            until(lambda: server.trainer() is not None, "a process that trains")
            before = {annotator.name: max(annotator.rounds, default=0) for annotator in annotators}
            killed = server.trainer()
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            judged_on(begun)
            until(lambda: server.trainer() not in (None, killed), "another process that trains")
            until(
                lambda: any(max(a.rounds, default=0) > before[a.name] for a in annotators), "a round of the new process"
            )
    for annotator in annotators:
        assert annotator.deliver()
    assert server.process.is_alive()
    require_no_traceback(draw(server.port, manager, "loop", "judge"))
    assert all(not annotator.troubles for annotator in annotators)
    require_intact(server.directory, annotators)


@pytest.mark.parametrize("task", many(("loop",), TASKS))
def test_a_server_that_is_asked_to_stop_finishes_and_leaves_nothing(
    task: str, campaigning: Callable[..., Campaigning]
) -> None:
    begun = campaigning(task)
    server, annotators, manager = begun
    with judging(annotators):
        for _ in range(many(1, 5)):
            judged_on(begun)
            trainer = server.trainer()
            draw(server.port, manager, "judge")
            assert server.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
            assert trainer is None or not _is_running(trainer)
            server.start()
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    assert "Traceback" not in server.printed()
    require_intact(server.directory, annotators)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_judgement_sent_twice_or_late_counts_once(campaigning: Callable[..., Campaigning]) -> None:
    """Late: after the lease has ended, after others have judged the pair, and after the server was replaced."""
    server, annotators, _ = campaigning("pool", annotators=6)
    late, *others = annotators
    until(lambda: late.step() and late.queue, "a document")
    assert isinstance(late, Grader)
    topic, kept = late.topic, list(late.queue)
    for doc_id in kept:
        late.outbox.append(judgement := {"uuid": f"late-{doc_id}", "query_id": topic, "doc_id": doc_id})
        judgement |= {"kind": "graded", "relevance": 2}
        late.sent[judgement["uuid"]] = judgement
    waiting, late.outbox = late.outbox, []
    with Campaign(server.directory) as campaign:
        campaign.store.queue.end_leases(str(topic), late.name, 0.0)
    for other in others:
        other.topic = topic
        until(lambda other=other: not (other.step() and other.queue), "the end of the topic")
    server.stop(signal.SIGKILL)
    server.start()
    for _ in range(3):
        late.outbox = waiting * 2
        until(late.deliver, "an answer")
    assert late.acknowledged.keys() >= {decision["uuid"] for decision in waiting}
    require_intact(server.directory, annotators)
    with Campaign(server.directory) as campaign:
        current = campaign.judgement_log.judgements(query_id=topic)
        assert current.groupby("doc_id")["annotator"].nunique().max() <= 5
