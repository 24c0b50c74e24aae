"""Killing the server and the process that trains, while twenty people judge."""

import itertools
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from collection import Campaign
from collection.campaign.judging.topic_task_state import TopicTaskState
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.layout import DATABASE
from collection.core.records import Choice, Judgement, Preference
from tests.helpers import first_of, until
from tests.torture.annotators import Annotator, Chooser, Grader, judging, rounds_of, sentence_problems
from tests.torture.conftest import QUESTIONS, TASKS, Campaigning, built, judged_on, many
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_failure


@pytest.mark.parametrize("task", [*first_of(TASKS), *first_of(ANSWER_TASKS)])
def test_a_killed_server_loses_and_doubles_nothing(task: str, campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning(task)
    server, annotators, manager = begun
    first, *others = annotators
    until(lambda: first.step() and in_hand(first), "work")
    with judging(others):
        for kill in range(many(1, 25)):
            judged_on(begun)
            if task == "questions":
                change_questions(server.directory, kill)
            server.stop(signal.SIGKILL)
            if kill % 5 == 0:
                require_intact(server.directory, annotators)
            server.start()
            if kill == 0:
                held = forget(first)
                until(lambda: first.exchange(12) and in_hand(first), "work")
                assert held & in_hand(first)  # a browser that has forgotten what it held gets that again
            first.step()
        judged_on(begun)
        if task == "loop" or many(False, True):
            trainer = server.trainer()
            assert server.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
            assert trainer is None or not is_running(trainer)
            server.start()
            judged_on(begun)
    require_no_failure(draw(server.port, manager, *many(("judge",), ())))
    for annotator in annotators:
        until(annotator.deliver, "an answer")
        assert not annotator.outbox
        assert sentence_problems(annotator.troubles) == []
    assert "Traceback" not in server.printed(), server.printed()[-3000:]
    server.stop(signal.SIGKILL)
    print(f"{task}: {require_intact(server.directory, annotators):,} acknowledged")  # with the option -rP


def change_questions(directory: Path, turn: int) -> None:
    """Remove a question, another one each time, and ask again what is missing of the others in every other turn."""
    with Campaign(directory) as campaign:
        some = [question for place, question in enumerate(QUESTIONS) if place != turn % (len(QUESTIONS) + 1)]
        campaign.settings.set_questions(replace(each, again=each.again and turn % 2 == 0) for each in some)


def in_hand(annotator: Annotator) -> set[str]:
    """The documents, or topics, that an annotator holds."""
    assert isinstance(annotator, Grader | Chooser)
    if isinstance(annotator, Chooser):
        return set(annotator.units)
    return {*annotator.queue, *itertools.chain(*(documents for _, documents in annotator.ahead))}


def forget(annotator: Annotator) -> set[str]:
    """Lose what an annotator holds, as a browser that crashes; what that was."""
    held = in_hand(annotator)
    if isinstance(annotator, Grader):
        annotator.queue, annotator.ahead = [], []
    elif isinstance(annotator, Chooser):
        annotator.units = {}
    return held


def is_running(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_a_wrong_count_is_noticed(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, annotator = tmp_path / "campaign", Annotator(0, "a0", "", 0)
    built(task, directory)
    with Campaign(directory) as campaign:
        first, second = campaign.store.pool.first_documents("t0", 2)
        decision: Judgement | Choice | Preference
        if task == "list":
            decision = Choice("u", "a0", "t0", "chosen", shown=(first, second), chosen=(first,))
            campaign.judging.topic_tasks.choose([decision])
        elif task == "preference":
            decision = Preference("u", "a0", "t0", first, second, "left")
            campaign.judging.topic_tasks.prefer([decision])
        else:
            decision = Judgement("u", "a0", "t0", first, "graded", 1)
            campaign.judging.judge_many([decision])
    fields = decision._asdict().items()
    annotator.sent["u"] = {name: list(value) if isinstance(value, tuple) else value for name, value in fields}
    require_intact(directory, [annotator])
    if task in ("list", "preference"):
        monkeypatch.setattr(TopicTaskState, "progress", lambda self, annotator: (2, 0))
    else:
        with closing(sqlite3.connect(directory / DATABASE, isolation_level=None)) as database:
            database.execute("UPDATE topic_counts SET finished = finished + 1, elsewhere = elsewhere + 1")
    with pytest.raises(AssertionError):
        require_intact(directory, [annotator])


@pytest.mark.long
def test_a_killed_trainer_is_replaced_and_judging_goes_on(campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning("loop")
    server, annotators, manager = begun

    def another(than: int | None) -> bool:
        return server.trainer() not in (None, than)

    with judging(annotators):
        killed = None
        for _ in range(many(3, 100)):
            until(lambda than=killed: another(than), "a process that trains")
            killed, before = server.trainer(), rounds_of(annotators)
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            judged_on(begun)
            until(lambda before=before: rounds_of(annotators) > before + 5, "rounds of the new process")
    for annotator in annotators:
        assert annotator.deliver()
        assert not annotator.troubles
    require_no_failure(draw(server.port, manager, "loop", "judge"))
    require_intact(server.directory, annotators)


@pytest.mark.long
def test_a_judgement_sent_twice_or_late_counts_once(campaigning: Callable[..., Campaigning]) -> None:
    """Late: after the lease has ended, after others have judged the pair, and after the server was replaced."""
    server, annotators, _ = campaigning("pool", annotators=6)
    late, *others = annotators
    assert isinstance(late, Grader)
    until(lambda: late.step() and late.queue, "a document")
    topic, kept = late.topic, list(late.queue)
    waiting = [
        {"uuid": f"late-{doc_id}", "query_id": topic, "doc_id": doc_id, "kind": "graded", "relevance": 2}
        for doc_id in kept
    ]
    late.sent |= {str(judgement["uuid"]): judgement for judgement in waiting}
    with Campaign(server.directory) as campaign:
        campaign.store.queue.end_leases(str(topic), late.name, 0.0)
        for other in others:
            for doc_id in kept:
                campaign.judging.judge(other.name, str(topic), doc_id, 1)
    server.stop(signal.SIGKILL)
    server.start()
    for _ in range(3):
        late.outbox = waiting * 2
        until(late.deliver, "an answer")
    assert late.acknowledged.keys() >= {judgement["uuid"] for judgement in waiting}
    with Campaign(server.directory) as campaign:
        log = campaign.store.judgements.table(current=False, annotator=late.name)
        current = campaign.store.judgements.table(query_id=topic)
    late_ones = log[log["uuid"].str.startswith("late-")]
    assert len(late_ones) == len(kept)
    assert set(late_ones["counts_as"]) == {"surplus"}
    assert current.groupby("doc_id")["annotator"].nunique().max() <= 5
