"""Recall guaranteed across topics, in campaigns that a script judges."""

import json
import random
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from collection import Campaign, Judgement
from collection.campaign.progress import calibration_record
from collection.campaign.progress.calibration_record import RuleStop
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.recall.across_topics import calibration_topics
from collection.campaign.recall.recall_advice import describe_ready
from collection.core.errors import CampaignError, InputError, UnknownNameError
from collection.core.phrases import count
from collection.stopping import Ledger
from collection.stopping.risk_control import TRANSFER_WARNING, is_complete
from collection.store import Selection
from tests.helpers import fill

pytestmark = pytest.mark.slow

TOPICS = [str(number) for number in range(1, 15)]
DOCUMENTS = [f"d{number}" for number in range(60)]


def find_relevant() -> dict[str, set[str]]:
    """Four to nine relevant documents of each topic."""
    choice = random.Random(7)
    return {topic: set(choice.sample(DOCUMENTS, 4 + int(topic) % 6)) for topic in TOPICS}


RELEVANT = find_relevant()
NEEDLES = ("1", "4", "7", "10", "13")
"""Topics with one relevant document that has none of the topic's words."""


def build(folder: Path) -> Campaign:
    choice = random.Random(8)
    words = {doc_id: [f"noise{choice.randrange(30)}" for _ in range(6)] for doc_id in DOCUMENTS}
    for topic, found in RELEVANT.items():
        for doc_id in sorted(found)[topic in NEEDLES :]:
            words[doc_id] += [f"subject{topic}", f"matter{topic}"]
    lines = [json.dumps({"doc_id": doc_id, "text": " ".join(words[doc_id])}) + "\n" for doc_id in DOCUMENTS]
    (folder / "docs.jsonl").write_text("".join(lines))
    (folder / "topics.tsv").write_text("".join(f"{topic}\tsubject{topic}\n" for topic in TOPICS))
    campaign = Campaign.create(folder / "review")
    campaign.imports.import_files(documents=[folder / "docs.jsonl"], topics=folder / "topics.tsv")
    campaign.settings.set_loop(mode="loop", run=0)
    campaign.corpus.features.update()
    return campaign


@pytest.fixture
def review(copy_of: Callable[..., Campaign]) -> Iterator[Campaign]:
    """Fourteen topics in a loop over sixty documents; its id, and so the draw, is always the same."""
    with copy_of(build) as copy:
        copy.store.settings.put("id", "review")
    with Campaign(copy.directory) as campaign:
        yield campaign


def hand_out(campaign: Campaign, topic: str, doc_ids: Sequence[str], annotator: str = "ann") -> None:
    """Lease documents to an annotator in this order, as if the loop had selected them so."""
    conditions = campaign.store.queue.number_conditions(campaign.loop.describe_order(topic))
    chosen = [Selection(doc_id, "loop", conditions=conditions) for doc_id in doc_ids]
    campaign.store.queue.lease(topic, chosen, annotator, time.time(), time.time() + 60)


def judge(campaign: Campaign, topic: str, doc_ids: Sequence[str], annotator: str = "ann", leased: bool = True) -> None:
    """Judge documents that the annotator has on lease or, if not `leased`, has now."""
    if not leased:
        with campaign.transaction():
            hand_out(campaign, topic, doc_ids, annotator)
    made = [
        Judgement(str(uuid4()), annotator, topic, doc_id, "graded", int(doc_id in RELEVANT[topic]), seconds=6.0)
        for doc_id in doc_ids
    ]
    assert not campaign.judging.judge_many(made, leased_only=leased).refused


def judge_rest(campaign: Campaign, *topics: str, but: int = 0) -> None:
    """Judge the rest of these topics, the relevant documents first, except for the last ones."""
    with campaign.transaction():
        for topic in topics:
            done = set(campaign.store.judgements.table(query_id=topic)["doc_id"])
            left = [d for d in sorted(DOCUMENTS, key=lambda d: d not in RELEVANT[topic]) if d not in done]
            judge(campaign, topic, left[: len(left) - but], leased=False)


def drive(campaign: Campaign, most: int = 10_000, annotator: str = "ann", count: int = 10) -> list[str]:
    """Judge ten documents, or `count`, after the other where the campaign sends the annotator; the topics in order."""
    visited: list[str] = []
    judged = 0
    while judged < most and (topic := campaign.judging.topic_with_work(annotator)):
        visited += [topic] if topic not in visited[-1:] else []
        documents = [document.doc_id for document in campaign.judging.next_pairs(annotator, topic, count).documents]
        judge(campaign, topic, documents, annotator)
        judged += len(documents)
    return visited


def outcome(campaign: Campaign) -> object:
    """What a calibration came to, without times."""
    record = calibration_record.read(campaign.store)
    assert record is not None
    state = campaign.recall.across_topics.state()
    return record.topics, record.chosen, state.report, state.closed, state.judged, campaign.settings.modes()


@pytest.mark.long
def test_a_whole_campaign_also_when_it_is_reopened_in_the_middle(review: Campaign, tmp_path: Path) -> None:
    shutil.copytree(review.directory, tmp_path / "again")
    drawn = review.recall.across_topics.start(0.2, topics=5, family="consecutive").topics
    visited = drive(review)
    assert set(visited[:5]) == set(drawn)
    state = review.recall.across_topics.state()
    assert (state.phase, state.left, state.notes) == ("calibrated", 0, ())
    rule = re.search(r"stops after (\d+) irrelevant documents? in a row is at least 80%", state.report)
    assert rule is not None, state
    # The rule, by hand, on the log: each closed topic ends with so many irrelevant documents, those judged together.
    assert len(state.closed) >= 5
    for topic in state.closed:
        log = review.store.judgements.table(query_id=topic.query_id)["relevance"].astype(int).tolist()
        row = len(log) - 1 - max(at for at, grade in enumerate(log) if grade)
        assert int(rule[1]) <= row < int(rule[1]) + 10
        assert review.settings.mode(topic.query_id) == "closed"
    others = [topic.query_id for topic in state.closed]
    recall = [
        review.store.judgements.table(query_id=q)["relevance"].astype(int).sum() / len(RELEVANT[q]) for q in others
    ]
    assert sum(recall) / len(recall) >= 0.8
    assert state.judged == len(review.store.judgements.table()) < state.everything == 14 * 60

    with Campaign(tmp_path / "again") as first:
        first.recall.across_topics.start(0.2, topics=5, family="consecutive")
        drive(first, most=160)
        assert first.recall.across_topics.state().phase == "calibrating"
    with Campaign(tmp_path / "again") as second:
        drive(second, most=240)
        assert second.recall.across_topics.state().closed
    with Campaign(tmp_path / "again") as third:
        drive(third)
        assert outcome(third) == outcome(review)


# The draw


def test_the_draw_is_stored_and_counted(review: Campaign) -> None:
    service = review.recall.across_topics
    first = service.start(0.2, topics=5)
    assert len(first.topics) == 5
    assert set(first.modes) == set(TOPICS)
    assert calibration_record.read(review.store) == first
    with pytest.raises(CampaignError, match=r"were drawn on \d{4}-\d\d-\d\d; end them first"):
        service.start(0.2, topics=5)
    service.stop()
    assert service.state().phase == "none"
    second = service.start(0.2, topics=5)
    assert list(second.topics) != list(first.topics)
    assert "This is draw 2 of calibration topics" in " ".join(service.state().notes)


def test_a_draw_that_promises_nothing_is_refused(review: Campaign) -> None:
    start = review.recall.across_topics.start
    with pytest.raises(InputError, match="expected recall of 90% needs at least 9 calibration topics, found 8"):
        start(0.1, topics=8)
    with pytest.raises(InputError, match="needs at least 4 calibration topics, found 3"):
        start(0.2, topics=5, selection=2)
    with pytest.raises(CampaignError, match="expected at least 15 open topics in a loop.*found 14"):
        start(0.2, topics=14)
    with pytest.raises(InputError, match="selection: expected 1 or more"):
        start(0.2, topics=6, family="any")
    for shares in ({"depth": 0.5}, {"sample": 0.5}, {"depth": 0.0, "sample": 0.1}, {"depth": 0.5, "sample": 1.1}):
        with pytest.raises(InputError, match="depth and sample: expected shares above 0 and up to 1"):
            start(0.2, topics=6, **shares)
    with pytest.raises(UnknownNameError):
        start(0.2, family="kne")
    with pytest.raises(CampaignError, match="no calibration topics are drawn yet"):
        review.recall.across_topics.calibrate()
    assert review.recall.across_topics.state().phase == "none"
    assert len(start(0.1).topics) == 9  # the smallest number


def test_only_open_topics_whose_documents_the_loop_offers_are_drawn(review: Campaign) -> None:
    review.settings.set_loop(mode="closed", topics=["1", "2"])
    review.settings.set_loop(mode="random", topics=["3"])
    review.settings.set_loop(mode="loop-in-pool", topics=["4"])  # it has no pool
    assert set(review.recall.across_topics.start(0.2, topics=5).modes) == set(TOPICS[4:])
    assert "4 topics were closed at the draw, or could not be judged to the end in a loop: the promise" in notes(review)
    review.recall.across_topics.stop()
    review.settings.set_loop(by="mtf")
    with pytest.raises(CampaignError, match="found 0, because 11 topics have no documents, or documents that the loop"):
        review.recall.across_topics.start(0.2, topics=5)


# Judging


def test_calibration_topics_come_first_and_an_annotator_may_choose_another(review: Campaign) -> None:
    drawn = review.recall.across_topics.start(0.2, topics=5).topics
    first = [review.judging.topic_with_work("ann", exclude=TOPICS[:at]) for at in range(3)]
    assert set(first) <= set(drawn)
    other = next(topic for topic in TOPICS if topic not in drawn)
    assert len(review.judging.next_pairs("ann", other, 3).documents) == 3


def test_budgets_do_not_limit_calibration_topics(review: Campaign) -> None:
    review.settings.set_loop(budget=20, topic_budget=10)
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, *drawn, but=5)
    assert review.progress.budget.room(drawn[0]) is None
    assert review.progress.budget.used_up(drawn[0]) == ""
    assert review.progress.budget.state().words == ""
    assert "The judgement budget does not limit calibration topics." in review.recall.across_topics.state().notes
    assert set(drive(review)) == set(drawn)
    assert review.recall.across_topics.state().phase == "calibrated"
    assert "budget (20) is used up" in review.progress.budget.state().words
    assert notes(review) == (
        "The judgement budget may end other topics before the rule does: the promise does not cover such topics."
    )


def test_no_advice_to_stop_in_a_calibration_topic(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, *drawn, but=1)
    one = review.recall.for_topic(drawn[0])
    assert (one.decision.stop, one.advice) == (False, "calibration topic: judge to the end")
    assert one.promise.endswith("It is a calibration topic, so judge it to the end anyway.")
    table = review.recall.table().set_index("query_id")
    assert not table["stop"].any()
    assert set(table.loc[drawn, "advice"]) == {"calibration topic: judge to the end"}
    judge_rest(review, *drawn)
    for state in ("before the calibration", "after it", "closed by hand"):
        table = review.recall.table().set_index("query_id")
        assert set(table.index[table["stop"]]) == set(drawn), state
        assert set(table.loc[drawn, "advice"]) == {"calibration topic: finished"}
        assert describe_ready(table, review.settings.loop()).startswith("4 of 14 topics are ready to stop")
        one = review.recall.for_topic(drawn[0])
        assert (one.decision.stop, one.advice) == (True, "calibration topic: finished")
        assert one.promise.endswith("It is a calibration topic, and it is judged to the end.")
        if state == "before the calibration":
            review.recall.across_topics.calibrate()
        else:
            review.settings.set_loop(mode="closed", topics=drawn)
    judge_rest(review, *[topic for topic in TOPICS if topic not in drawn])
    assert describe_ready(review.recall.table(), review.settings.loop()).startswith("14 of 14 topics are ready to stop")


def test_a_closed_unfinished_calibration_topic_is_shown_as_closed(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, drawn[0], but=30)
    before = review.recall.for_topic(drawn[0])
    review.settings.set_loop(mode="closed", topics=drawn[:1])
    one = review.recall.for_topic(drawn[0])
    assert (before.advice, one.advice) == ("calibration topic: judge to the end", "closed")
    assert review.recall.table().set_index("query_id")["advice"][drawn[0]] == "closed"
    assert "judge it to the end" not in one.promise


def finish(campaign: Campaign, others: Sequence[str] = (), alpha: float = 0.2, **options: object) -> list[str]:
    """Draw, judge and calibrate; of the `others`, all but the last 10 documents are judged before."""
    drawn = list(campaign.recall.across_topics.start(alpha, topics=5, **options).topics)  # type: ignore[arg-type]
    judge_rest(campaign, *[topic for topic in others if topic not in drawn], but=10)
    judge_rest(campaign, *drawn)
    campaign.recall.across_topics.calibrate()
    return drawn


def test_topics_past_the_rule_close_at_once_and_stay_open_if_reopened(review: Campaign) -> None:
    drawn = finish(review, others=["1", "2", "4"])
    done = [topic for topic in ("1", "2", "4") if topic not in drawn]
    closed = review.recall.across_topics.state().closed
    assert [topic.query_id for topic in closed] == done
    assert {topic.judged for topic in closed} == {50}
    assert closed[0].reason.startswith("stop after ")
    assert closed[0].reason.endswith(f": {closed[0].reached}")
    assert closed[0].reached.startswith("reached after ")
    advice = review.recall.table().set_index("query_id")["advice"]
    assert set(advice[done]) == {"closed by the stopping rule"}
    promise = review.recall.for_topic(done[0]).promise
    assert promise.endswith(f"It was closed by the stopping rule: {closed[0].reason}.")
    ready = describe_ready(review.recall.table(), review.settings.loop())
    assert ready.endswith(f" The stopping rule has closed {count(len(done), 'other topic')}.")
    review.settings.reopen_topic(done[0])
    assert len(review.judging.next_pairs("ann", done[0], 2).documents) == 2
    review.recall.across_topics.calibrate()
    assert [topic.reopened for topic in review.recall.across_topics.state().closed] == [True] + [False] * (
        len(done) - 1
    )
    assert review.settings.mode(done[0]) == "loop"


def test_topics_that_the_rule_is_to_close_get_no_other_advice(review: Campaign) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    judge(review, other, DOCUMENTS[:2], leased=False)
    one = review.recall.for_topic(other)
    assert one.advice == "judge until the rule closes it"
    assert one.promise == "90% recall is not guaranteed for this topic alone; the stopping rule will close it."
    review.settings.set_loop(level=2)  # which pauses the rule
    assert review.recall.table().set_index("query_id")["advice"][other] == "enable random draws"
    review.settings.set_loop(level=1)
    assert review.recall.table().set_index("query_id")["advice"][other] == one.advice


def test_a_stricter_calibration_opens_what_an_earlier_one_closed(review: Campaign) -> None:
    drawn = finish(review)
    before, other = [topic for topic in TOPICS if topic not in drawn][:2]
    judge(review, other, sorted(RELEVANT[other])[:1], leased=False)
    record = calibration_record.read(review.store)
    assert record is not None
    # As if the rule had been to stop after the first document.
    lax = {**record.chosen, "family": "fixed", "setting": 1.0}
    calibration_record.write(review.store, replace(record, chosen=lax))
    review.judging.next_pairs("ann", other, 5)
    assert review.settings.mode(other) == "closed"
    assert review.recall.across_topics.state().closed[0].reason == "stop after 1 judgement: reached after 1 judgement"
    judge_rest(review, before, but=10)
    review.recall.across_topics.calibrate()
    assert (review.settings.mode(before), review.settings.mode(other)) == ("closed", "loop")
    assert [topic.query_id for topic in review.recall.across_topics.state().closed] == [before]


def test_a_failure_keeps_nobody_from_judging(review: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, *drawn[1:])
    judge_rest(review, drawn[0], but=3)
    failures: list[object] = []

    def fail(*arguments: object, **_: object) -> None:
        failures.append(arguments)
        raise ZeroDivisionError

    monkeypatch.setattr(calibration_record, "calibrate", fail)
    other = next(topic for topic in TOPICS if topic not in drawn)
    assert drive(review, most=3) == drawn[:1]
    assert [review.judging.topic_with_work("ann") for _ in range(2)] == [other] * 2
    assert len(review.judging.next_pairs("ann", other, 2).documents) == 2
    assert len(failures) == 1  # it is not tried again at each judgement
    monkeypatch.undo()
    assert review.recall.across_topics.state().ready
    assert review.recall.across_topics.calibrate().promises

    monkeypatch.setattr(calibration_record.CalibrationRecord, "find_stop", fail)
    assert len(review.judging.next_pairs("ann", other, 4).documents) > 0


def test_a_failed_calibration_writes_nothing_and_an_error_of_the_database_is_raised(
    review: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, *drawn[1:])
    judge_rest(review, drawn[0], but=1)
    before = calibration_record.read(review.store)

    def fail(error: Exception) -> None:
        def act(*_: object) -> None:
            raise error

        monkeypatch.setattr(calibration_topics.CalibrationTopics, "_close_stopped", act)  # the last step

    def judge_last(error: Exception) -> None:
        """Judge the last document and choose the next topic in one transaction, as the judging page does."""
        fail(error)
        with review.transaction():
            judge_rest(review, drawn[0])
            review.judging.topic_with_work("ann")

    with pytest.raises(sqlite3.OperationalError, match="full"):
        judge_last(sqlite3.OperationalError("database or disk is full"))
    assert review.progress.loop_scope.ledgers([drawn[0]])[drawn[0]].unjudged == 1
    judge_last(ZeroDivisionError())
    assert review.progress.loop_scope.ledgers([drawn[0]])[drawn[0]].unjudged == 0
    assert calibration_record.read(review.store) == before


def test_a_round_of_an_earlier_calibration_closes_nothing(review: Campaign) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    made = review.loop.next_round(other)._replace(stop=RuleStop("another", "stop"))
    assert review.judging.next_pairs("ann", other, 2, loop_round=made).documents
    assert review.settings.mode(other) == "loop"


def test_what_has_not_changed_is_not_counted_again(review: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    service = review.recall.across_topics
    drawn = list(service.start(0.2, topics=4).topics)
    judge_rest(review, *drawn[:3])
    judge_rest(review, drawn[3], but=2)
    counted: list[str] = []
    read = LoopScope._read_ledgers

    def count_topics(scope: LoopScope, modes: Any, level: int, query_ids: Sequence[str]) -> Any:
        counted.extend(query_ids)
        return read(scope, modes, level, query_ids)

    monkeypatch.setattr(LoopScope, "_read_ledgers", count_topics)
    assert service.put_first(TOPICS)[:4] == sorted(drawn, key=TOPICS.index)
    assert set(counted) <= set(drawn)
    counted.clear()
    service.put_first(TOPICS)
    assert counted == []
    judge_rest(review, drawn[3], but=1)
    service.put_first(TOPICS)
    assert counted == drawn[3:]
    assert service.state().left == 1
    assert sorted(counted, key=TOPICS.index) == sorted({*TOPICS} - {*drawn[:3]}, key=TOPICS.index)
    counted.clear()
    assert service.state().left == 1
    assert counted == []
    judge_rest(review, drawn[3])
    assert service.state().left == 0
    service.put_first(TOPICS)
    assert service.state().phase == "calibrated"


def test_a_round_that_has_not_read_every_judgement_closes_nothing_by_itself(review: Campaign) -> None:
    drawn = finish(review, family="consecutive")
    other = next(topic for topic in TOPICS if topic not in drawn)
    judge_rest(review, other, but=10)
    made = review.loop.next_round(other)
    assert made.stop is not None
    with review.transaction():  # all of them become relevant
        for doc_id in review.store.judgements.table(query_id=other)["doc_id"]:
            review.judging.judge("ann", other, doc_id, 1)
    assert review.judging.next_pairs("ann", other, 2, loop_round=made).documents
    assert review.settings.mode(other) == "loop"


# What limits the promise


def notes(campaign: Campaign) -> str:
    return " ".join(campaign.recall.across_topics.state().notes)


def test_changed_loop_settings_pause_the_rule(review: Campaign) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    judge_rest(review, other, but=10)
    review.settings.set_loop(target=0.7, explain="nothing")
    assert notes(review) == ""
    review.settings.set_loop(level=2, learner="logistic")
    assert "Loop settings changed since the draw (minimum relevant grade and learner)" in notes(review)
    assert "The rule closes no more topics until it is calibrated again." in notes(review)
    review.judging.next_pairs("ann", other, 2)
    assert review.settings.mode(other) == "loop"
    review.settings.set_loop(level=1, learner="svm")
    assert notes(review) == ""
    review.judging.next_pairs("ann", other, 2)
    assert review.settings.mode(other) == "closed"


def test_the_rule_leaves_topics_with_another_judging_mode_alone(review: Campaign) -> None:
    drawn = finish(review)
    changed, same = [topic for topic in TOPICS if topic not in drawn][:2]
    review.settings.set_loop(mode="pool-then-loop", topics=[changed])
    judge_rest(review, changed, same, but=10)
    for topic in (changed, same):
        review.judging.next_pairs("ann", topic, 2)
    assert (review.settings.mode(changed), review.settings.mode(same)) == ("pool-then-loop", "closed")
    review.recall.across_topics.calibrate()
    assert review.settings.mode(changed) == "pool-then-loop"
    state = review.recall.across_topics.state()
    assert f"Topic {changed} has another judging mode than at the draw: the promise does not cover it" in notes(review)
    assert not state.in_doubt
    review.settings.set_loop(mode="pool-then-loop", topics=drawn[:1])
    assert f"Topic {drawn[0]} is a calibration topic and has another judging mode" in notes(review)
    assert review.recall.across_topics.state().in_doubt


def test_decisive_pairs_break_the_promise(review: Campaign) -> None:
    service = review.recall.across_topics
    review.settings.set_loop(by="decisive")
    for refused in (service.plan, service.start):
        with pytest.raises(CampaignError, match="decisive pairs do not aim at recall"):
            refused(0.2)
    review.settings.set_loop(by="model")
    finish(review)
    assert "recall" not in notes(review)
    review.settings.set_loop(by="decisive")
    assert "The loop now selects decisive pairs, which do not aim at recall: the promise no longer holds." in notes(
        review
    )
    assert service.state().in_doubt
    with pytest.raises(CampaignError, match="decisive pairs do not aim at recall"):
        service.calibrate()


def test_other_features_pause_the_rule(review: Campaign) -> None:
    built = review.store.settings.get("features")
    review.store.settings.put("features", {})  # as before the first annotator comes
    finish(review)
    review.store.settings.put("features", {**built, "fingerprint": "of the same kind"})
    assert notes(review) == ""
    for change in ({"blocks": ["words"]}, {"bigrams": True}, {"blocks": [*built["blocks"], "dense"]}):
        review.store.settings.put("features", {**built, **change})
        assert "The document features changed since the draw" in notes(review)
        assert "The rule closes no more topics until it is calibrated again." in notes(review)
        assert review.recall.across_topics.state().in_doubt
    review.settings.set_loop(by="mtf")  # reads no features
    assert "features" not in notes(review)


def test_what_came_since_the_draw_is_named(review: Campaign, tmp_path: Path) -> None:
    drawn = finish(review)
    (tmp_path / "more.tsv").write_text("99\tsubject99\n")
    review.imports.import_files(topics=tmp_path / "more.tsv")
    assert "1 topic was added since the draw: the promise does not cover it" in notes(review)
    assert not calibration_record.read(review.store).concerns("99")  # type: ignore[union-attr]
    other = next(topic for topic in TOPICS if topic not in drawn)
    review.settings.set_loop(mode="closed", topics=[other])
    assert "1 other topic was closed by hand: the promise does not cover it." in notes(review)
    (tmp_path / "late.tsv").write_text("late\tsubject1\n")
    review.imports.import_files(documents=[tmp_path / "late.tsv"])
    assert "Documents were added or changed since the draw" in notes(review)
    with pytest.raises(CampaignError, match=r"5 of 5 calibration topics are not judged to the end"):
        review.recall.across_topics.calibrate()


def test_calibration_topics_that_cannot_end_are_named(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    judge_rest(review, *drawn, but=2)
    review.settings.set_loop(mode="closed", topics=drawn[:1])
    assert f"Topic {drawn[0]} is a calibration topic and was closed before the end: reopen it." in notes(review)
    skipped = review.judging.next_pairs("ann", drawn[1], 1).documents[0].doc_id
    review.judging.skip("ann", drawn[1], skipped)
    assert "1 skipped document of calibration topics is unjudged: judge it, or mark it" in notes(review)
    review.judging.judge("ann", drawn[1], skipped, cannot_judge="topic is unclear")
    assert "skipped" not in notes(review)
    assert "Annotators could not judge 1 document; it counts as irrelevant." in notes(review)
    review.settings.set_loop(mode="pool-then-loop", topics=drawn[2:3])
    assert f"Topic {drawn[2]} is a calibration topic and has another judging mode" in notes(review)


def test_a_revised_judgement_asks_for_a_new_calibration(review: Campaign) -> None:
    drawn = finish(review)
    judge(review, drawn[0], ["d0"], annotator="bob", leased=False)
    assert "Judgements of calibration topics changed since the calibration: calibrate again." in notes(review)
    review.recall.across_topics.calibrate()
    assert notes(review) == ""


def test_missing_texts_count_as_relevant_and_missed(review: Campaign, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("".join(f"{topic} Q0 ghost 1 1 a\n" for topic in TOPICS))
    review.imports.import_files(runs=[tmp_path / "a.run"])
    review.people.pools.add("depth", depth=1)
    drawn = finish(review)
    assert "5 documents of calibration topics have no text; they count as relevant and missed." in notes(review)
    ledger = review.progress.loop_scope.ledgers([drawn[0]])[drawn[0]]
    assert (ledger.unreachable, is_complete(ledger)) == (1, True)
    mean = sum(1 / (len(RELEVANT[topic]) + 1) for topic in drawn)
    record = calibration_record.read(review.store)
    assert record is not None
    # (sum of losses + 1) / (n + 1), the losses being what even judging everything misses
    assert record.chosen["bound"] == pytest.approx((mean + 1) / 6)
    state = review.recall.across_topics.state()
    assert state.phase == "impossible"
    assert state.report.startswith("No rule satisfies an expected recall of 80%")


# The next step


def test_the_next_step_counts_open_calibration_topics_and_names_closed_ones(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=4).topics)
    review.settings.set_loop(mode="closed", topics=drawn[:1])
    first = "Judge the calibration topics first: 180 documents of 3 topics are left."
    assert review.results.overview.next_step() == ("judge", first)
    review.settings.set_loop(mode="closed", topics=drawn)
    a, b, c, d = drawn
    reopen = (
        f"Reopen topics {a}, {b}, {c} and {d} (page Recall): 240 documents are left, and calibration topics must be"
    )
    assert review.results.overview.next_step() == ("recall", f"{reopen} judged to the end.")
    for topic in drawn:
        review.settings.reopen_topic(topic)
    judge_rest(review, *drawn[1:])
    judge_rest(review, a, but=1)
    review.settings.set_loop(mode="closed", topics=drawn)
    reopen = f"Reopen topic {a} (page Recall): 1 document is left, and calibration topics must be judged to the end."
    assert review.results.overview.next_step() == ("recall", reopen)


def test_the_next_step_never_promises_that_a_paused_rule_closes_topics(review: Campaign) -> None:
    drawn = finish(review, family="consecutive")
    judging = "Judge 9 topics in the loop until the stopping rule closes them."
    assert review.results.overview.next_step() == ("judge", judging)
    review.settings.set_loop(run=7)
    paused = "The stopping rule is paused. The page Recall says what changed: undo the change, or calibrate again."
    assert review.results.overview.next_step() == ("recall", paused)
    review.settings.set_loop(by="decisive")  # which no calibration helps
    assert review.results.overview.next_step().page != "recall"
    review.settings.set_loop(by="model")
    review.recall.across_topics.calibrate()
    assert review.results.overview.next_step() == ("judge", f"{judging} The promise is in doubt: see Recall.")
    review.settings.set_loop(run=0)
    assert review.results.overview.next_step() == ("recall", paused)
    review.recall.across_topics.calibrate()
    assert review.results.overview.next_step() == ("judge", judging)
    review.settings.set_loop(mode="pool-then-loop", topics=drawn[:1])
    assert review.results.overview.next_step() == ("judge", f"{judging} The promise is in doubt: see Recall.")


def test_the_next_step_is_the_export_when_every_document_is_judged(review: Campaign) -> None:
    export = ("export", "Every topic is judged to the end or closed: export the qrels.")
    drawn = finish(review)
    others = [topic for topic in TOPICS if topic not in drawn]
    judge_rest(review, *others, but=1)
    assert review.results.overview.next_step().sentence.startswith("Judge 9 topics in the loop")
    judge_rest(review, *others)
    assert review.results.overview.next_step() == export
    review.recall.across_topics.stop()
    assert review.results.overview.next_step() == export
    assert review.results.overview.status()["in_loop"] == 0
    assert set(review.results.qrels.topics_with_grades(closed_early=False).finished) == set(TOPICS)


def test_documents_imported_after_the_calibration_pause_the_rule(review: Campaign, tmp_path: Path) -> None:
    drawn = finish(review)
    (tmp_path / "late.tsv").write_text("late\tsubject1\n")
    review.imports.import_files(documents=[tmp_path / "late.tsv"])
    paused = (
        "The stopping rule is paused. The page Recall says what changed: undo the change, or judge 5 documents of 5 "
        "calibration topics and calibrate again."
    )
    assert review.results.overview.next_step() == ("recall", paused)
    review.settings.set_loop(mode="closed", topics=[topic for topic in TOPICS if topic not in drawn])
    assert review.results.overview.next_step() == ("recall", paused)
    review.settings.set_loop(mode="closed")
    review.settings.set_loop(mode="closed", topics=drawn)
    assert review.results.overview.next_step().page == "export"  # nothing is left for the rule to close


# Other ways to judge


def test_levels_annotators_and_topics_without_relevant_documents_make_the_ledger(review: Campaign) -> None:
    review.settings.set_loop(level=2)
    for annotator in ("ann", "bob", "cat"):
        review.judging.judge(annotator, "1", "d0", 2 if annotator != "cat" else 0)
        review.judging.judge(annotator, "1", "d1", 1)
    review.judging.judge("ann", "1", "d2", cannot_judge="topic is unclear")
    ledger = review.progress.loop_scope.ledgers(["1"])["1"]
    assert ledger.relevant.tolist() == [True, False, False]  # the majority, the level, nobody could judge
    assert (ledger.judged, ledger.size) == (3, 60)


def test_topics_without_relevant_documents_lose_nothing(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=5).topics)
    with review.transaction():
        for topic in drawn:
            for doc_id in DOCUMENTS:
                review.judging.write(Judgement(str(uuid4()), "ann", topic, doc_id, "graded", 0))
    chosen = review.recall.across_topics.calibrate()
    assert (chosen.setting, chosen.mean_loss) == (1, 0)
    assert review.recall.across_topics.state().phase == "calibrated"


@pytest.mark.long
def test_a_loop_within_the_pool(review: Campaign, tmp_path: Path) -> None:
    lines = [f"{topic} Q0 d{rank} {rank + 1} {-rank} a\n" for topic in TOPICS[:12] for rank in range(30)]
    (tmp_path / "a.run").write_text("".join(lines))
    review.imports.import_files(runs=[tmp_path / "a.run"])
    review.people.pools.add("depth", depth=30)
    review.settings.set_loop(mode="loop-in-pool", by="mtf")
    record = review.recall.across_topics.start(0.2, topics=6, family="any", selection=2)
    assert set(record.modes) == set(TOPICS[:12])  # two topics have no pool
    first = "Judge the calibration topics first: 180 documents of 6 topics are left."
    assert review.results.overview.next_step() == ("judge", first)
    judge_rest(review, *[topic for topic in TOPICS[:12] if topic not in record.topics][:1])
    assert review.results.overview.next_step() == ("judge", first)
    while review.recall.across_topics.state().left:
        drive(review, most=10)
    review.judging.topic_with_work("ann")  # calibrates
    assert review.results.overview.next_step() == (
        "judge",
        "Judge 5 topics in the loop until the stopping rule closes them.",
    )
    drive(review)
    assert review.results.overview.next_step() == (
        "export",
        "Every topic is judged to the end or closed: export the qrels.",
    )
    state = review.recall.across_topics.state()
    assert state.phase == "calibrated"
    assert state.report.endswith(" Documents outside the pool are not covered.")
    assert state.everything == 12 * 30
    chosen = calibration_record.read(review.store).chosen  # type: ignore[union-attr]
    assert (chosen["topics"], chosen["selection"]) == (4, 2)


@pytest.mark.long
def test_calibration_topics_may_end_with_a_random_sample(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.5, topics=2, depth=0.5, sample=0.4).topics)
    assert review.recall.across_topics.state().left == 2 * (30 + 12)
    visited: list[str] = []
    while review.recall.across_topics.state().phase == "calibrating":
        visited += drive(review, most=3, count=3)
    assert set(visited) >= set(drawn)
    state = review.recall.across_topics.state()
    assert (state.phase, state.left, state.notes) == ("calibrated", 0, ())
    assert {topic.query_id for topic in state.closed} >= set(drawn)  # nothing more is needed of them
    for topic in drawn:
        ledger = review.progress.loop_scope.ledgers([topic])[topic]
        assert not is_complete(ledger)
        assert ledger.drawn.tolist() == [False] * 30 + [True] * 12
        assert not ledger.out_of_reach.any()
        assert review.settings.mode(topic) == "closed"
    assert "judged deeply, with a random sample of the rest" in state.report


def test_the_random_sample_begins_behind_the_last_ranked_document(review: Campaign) -> None:
    record = review.recall.across_topics.start(0.5, topics=2, depth=0.25, sample=0.2)  # 5 of 20, and 3 of the other 15
    topic = next(iter(record.topics))
    drawn = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1]
    ledgers = [Ledger.of([0] * n, 20, drawn=drawn[:n]) for n in range(len(drawn) + 1)]
    assert [record.count_left(ledger) for ledger in ledgers] == [8, 7, 6, 5, 4, 3, 2, 3, 2, 1, 0, 0]
    assert [record.draws_alone(topic, ledger) for ledger in ledgers] == [False] * 5 + [True] * 5 + [False] * 2
    assert not record.draws_alone("another", ledgers[6])
    cut, depth = record.cut(ledgers[-1])
    assert (cut.judged, depth) == (10, 7)
    # Judged completely all the same: all relevant documents are known, but the rule reads the first 5 alone.
    complete = Ledger.of([0] * 20, 20, drawn=[False] * 5 + [True] * 15)
    assert record.is_finished(complete)
    assert record.cut(complete) == (complete, 5)
    assert replace(record, depth=1.0, sample=0.0).cut(complete) == (complete, None)


def test_the_rule_never_reads_a_random_sample_even_of_everything(review: Campaign) -> None:
    record = review.recall.across_topics.start(0.5, topics=2, family="consecutive", depth=0.5, sample=1.0)
    # In random order, 10 irrelevant documents in a row come before the last relevant one.
    relevant = [1] * 10 + [0] * 9 + [1]
    ledger = Ledger.of(relevant, 20, drawn=[False] * 10 + [True] * 10)
    assert record.is_finished(ledger)
    chosen = record.calibrate([ledger, ledger])
    assert chosen.complete
    assert chosen.cost == 20  # no setting stops within the 10 documents in order


def test_a_sample_that_did_not_reach_every_document_is_named(review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.5, topics=2, depth=0.5, sample=0.4).topics)
    judge_rest(review, *drawn, but=30)
    review.judging.next_pairs("bob", drawn[0], 5)  # and never judges them
    documents = [document.doc_id for document in review.judging.next_pairs("ann", drawn[0], 12).documents]
    judge(review, drawn[0], documents)
    assert f"Topic {drawn[0]} is a calibration topic whose random sample did not reach" in notes(review)
    assert "annotators held or skipped: all unjudged documents of the topic count as relevant" in notes(review)


# The plan


def test_the_plan(review: Campaign) -> None:
    before = review.recall.across_topics.plan(0.2, candidates=[3, 4, 7])
    assert (before.topics, before.documents, before.everything) == (14, 60, 840)
    assert [row.promises for row in before.rows] == [False, True, True]
    assert [row.calibration_judgements for row in before.rows] == [180, 240, 420]
    assert before.rows[1].total.high == before.everything  # four topics are fewer than any replay had
    assert before.rows[2].total.high == pytest.approx(420 + 7 * 0.53 * 60)
    assert before.basis == "replays of other collections (1% to 53% of the documents)"
    chosen = review.recall.across_topics.plan(0.2, selection=2, candidates=[5, 9]).rows
    assert [row.promises for row in chosen] == [False, True]
    assert chosen[1].calibration_judgements == 540
    assert chosen[1].total.low == pytest.approx(540 + 5 * 0.6)
    deep = review.recall.across_topics.plan(0.2, selection=2, depth=0.5, sample=0.2, candidates=[9]).rows[0]
    assert (deep.calibration_judgements, deep.total.low) == (9 * 36, pytest.approx(9 * 36 + 5 * 0.6))
    with pytest.raises(InputError, match="candidates: expected numbers from 2 to 13"):
        review.recall.across_topics.plan(0.2, selection=2, candidates=[14])
    judge_rest(review, "1", "2", "3", "4")
    assert review.recall.across_topics.plan(0.2, candidates=[4]).basis == before.basis, "four topics say too little"
    judge_rest(review, "5")
    after = review.recall.across_topics.plan(0.2, candidates=[4])
    assert after.basis == "5 topics judged completely"
    review.settings.set_loop(mode="closed")
    with pytest.raises(CampaignError, match="expected at least 2 open topics in a loop"):
        review.recall.across_topics.plan(0.2)


# Another campaign's rule


def test_a_rule_from_another_campaign_is_checked_on_topics_of_this_one(
    review: Campaign, copy_of: Callable[..., Campaign]
) -> None:
    other = copy_of(build, name="other")
    with pytest.raises(CampaignError, match="expected topics that are judged completely in a loop"):
        review.recall.across_topics.start(0.2, source=other.directory)
    judge_rest(other, "1", "2", "4")
    with pytest.raises(CampaignError, match="an expected recall of 80% needs at least 4 calibration topics, found 3"):
        review.recall.across_topics.start(0.2, source=other.directory)
    judge_rest(other, "5", "6", "7", "9")
    before = {path: path.stat().st_mtime_ns for path in other.directory.rglob("*") if path.is_file()}
    record = review.recall.across_topics.start(0.2, topics=2, source=other.directory)
    assert {path: path.stat().st_mtime_ns for path in other.directory.rglob("*") if path.is_file()} == before
    assert record.source == "review"
    judge_rest(review, *record.topics, but=5)
    state = review.recall.across_topics.state()
    assert (state.phase, state.left) == ("calibrating", 10)
    assert state.headline.startswith("0 of 2 topics are judged to the end to check the rule; 10 documents left")
    assert state.notes[0] == TRANSFER_WARNING
    drive(review, most=60)
    state = review.recall.across_topics.state()
    assert state.phase == "calibrated"
    assert "nothing but this similarity supports it" in state.report
    assert state.notes[0] == TRANSFER_WARNING
    assert state.notes[1].startswith("The expected recall of 80% is neither confirmed nor contradicted")


def test_a_contradicted_rule_closes_nothing(review: Campaign, copy_of: Callable[..., Campaign]) -> None:
    other = copy_of(build, name="other")
    judge_rest(other, *TOPICS[:6])  # all relevant documents came first: the rule stops too early
    record = review.recall.across_topics.start(0.2, topics=8, source=other.directory)
    with review.transaction():
        for topic in record.topics:  # here they come last
            judge(review, topic, sorted(DOCUMENTS, key=lambda d: d in RELEVANT[topic]), leased=False)
    judge_rest(review, *[topic for topic in TOPICS if topic not in record.topics], but=5)
    review.recall.across_topics.calibrate()
    state = review.recall.across_topics.state()
    assert state.phase == "impossible"
    assert state.sentence.startswith("The expected recall of 80% does not hold here")
    assert state.closed == ()


def test_a_rule_may_be_used_unchecked(review: Campaign, copy_of: Callable[..., Campaign]) -> None:
    other = copy_of(build, name="other")
    judge_rest(other, *TOPICS[:6])
    judge_rest(review, "9", but=10)
    review.recall.across_topics.start(0.2, topics=0, source=other.directory)
    state = review.recall.across_topics.state()
    assert state.phase == "calibrated"
    assert "the rule from another collection is not checked" in notes(review)
    assert [topic.query_id for topic in state.closed] == ["9"]


# Judgements that the loop did not order


def set_aside(review: Campaign) -> str:
    return next(
        (note for note in review.recall.across_topics.state().notes if note.startswith("The rule does not")),
        "",
    )


def import_qrels(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    path = review.directory.parent / "known.qrels"
    path.write_text("".join(f"{topic} 0 {doc_id} 0\n" for doc_id in doc_ids))
    review.imports.import_files(qrels=path)
    return "imported"


def import_labels(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    """Import a log that says that a loop selected the documents."""
    path = review.directory.parent / "log.csv"
    rows = [f"bob,{topic},{doc_id},0,loop,{at}\n" for at, doc_id in enumerate(doc_ids)]
    path.write_text("annotator,query_id,doc_id,relevance,strategy,model_round\n" + "".join(rows))
    review.imports.import_files(labels=path)
    return "imported"


def judge_directly(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    for doc_id in doc_ids:
        review.judging.judge("ann", topic, doc_id, 0)
    return "judged without being handed out by the loop"


def search(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    for doc_id in doc_ids:
        review.judging.search.take("ann", topic, doc_id)
        judge(review, topic, [doc_id])
    return "found by searching"


def adjudicate(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    for doc_id in doc_ids:
        review.judging.judge("expert", topic, doc_id, 0, adjudicate=True)
    return "judged without being handed out by the loop"


def judge_gold(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    review.people.qualification_set.set_pairs([(topic, doc_id) for doc_id in doc_ids])
    documents = [document.doc_id for document in review.judging.next_pairs("new", topic, 60).documents]
    judge(review, topic, documents, "new")
    review.people.qualification_set.set_pairs([])
    return "judged without being handed out by the loop"


def judge_under_other_settings(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    review.settings.set_loop(run=1)
    hand_out(review, topic, doc_ids)
    judge(review, topic, doc_ids)
    review.settings.set_loop(run=0)
    return "selected under other settings"


def judge_while_undone(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    (relevant, *_) = sorted(RELEVANT[topic])
    hand_out(review, topic, [relevant, *doc_ids])
    judge(review, topic, [relevant])
    review.judging.judge("ann", topic, relevant, undo=True)
    judge(review, topic, doc_ids)
    judge(review, topic, [relevant])
    return "selected while another judgement was undone"


def judge_in_another_mode(review: Campaign, topic: str, doc_ids: Sequence[str]) -> str:
    review.settings.set_loop(mode="pool-then-loop", topics=[topic])
    hand_out(review, topic, doc_ids)
    judge(review, topic, doc_ids)
    review.settings.set_loop(mode="loop", topics=[topic])
    return "selected under other settings"


@pytest.mark.parametrize(
    "act",
    [
        import_qrels, import_labels, judge_directly, search, adjudicate, judge_gold, judge_under_other_settings,
        judge_in_another_mode, judge_while_undone,
    ],
)  # fmt: skip
def test_the_rule_reads_only_what_the_loop_ordered(
    review: Campaign, act: Callable[[Campaign, str, Sequence[str]], str]
) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    state = review.recall.across_topics.state()
    irrelevant = [doc_id for doc_id in DOCUMENTS if doc_id not in RELEVANT[other]]
    assert (state.phase, set_aside(review)) == ("calibrated", "")
    how = act(review, other, irrelevant[:40])
    review.recall.across_topics.calibrate()
    assert review.judging.next_pairs("ann", other, 2).documents
    assert review.settings.mode(other) == "loop"
    assert set_aside(review) == (
        f"The rule does not read 40 judged documents of topic {other} (40 {how}). The loop learns from them, so the "
        "order may differ from that of the calibration topics."
    )
    # The same documents from the loop close the topic.
    last = next(topic for topic in TOPICS if topic not in (*drawn, other))
    judge(review, last, [d for d in DOCUMENTS if d not in RELEVANT[last]][:40], leased=False)
    review.judging.next_pairs("ann", last, 2)
    assert review.settings.mode(last) == "closed"


def test_relevant_documents_that_the_loop_did_not_order_make_the_rule_stricter(review: Campaign) -> None:
    before = finish(review)
    lax = review.recall.across_topics.calibrate()
    assert lax.setting < 100
    review.recall.across_topics.stop()
    with_search = list(review.recall.across_topics.start(0.2, topics=5).topics)
    for topic in with_search:
        if topic not in before:
            found = sorted(RELEVANT[topic])[:3]
            for doc_id in found:
                review.judging.judge("ann", topic, doc_id, 1)
            judge_rest(review, topic)
    strict = review.recall.across_topics.calibrate()
    assert strict.setting > lax.setting
    assert "calibration topics" in set_aside(review)
    assert set_aside(review).endswith("relevant ones count as missed, so the rule is stricter.")


def test_documents_that_are_skipped_undone_or_passed_over_keep_a_topic_open(review: Campaign) -> None:
    drawn = finish(review)
    others = [topic for topic in TOPICS if topic not in drawn][:3]
    irrelevant = {topic: [d for d in DOCUMENTS if d not in RELEVANT[topic]] for topic in others}
    skipped, undone, passed = others
    one = {topic: sorted(RELEVANT[topic])[0] for topic in others}
    for topic in others:
        hand_out(review, topic, [one[topic], *irrelevant[topic][:40]])
    review.judging.skip("ann", skipped, one[skipped])
    judge(review, undone, [one[undone]])
    review.judging.judge("ann", undone, one[undone], undo=True)
    rows = review.store.connection
    rows.execute("UPDATE leases SET pool_rank = doc, model_round = 0")
    rank = "(SELECT topic FROM topics WHERE query_id = ?) AND doc = (SELECT doc FROM documents WHERE doc_id = ?)"
    rows.execute(f"UPDATE leases SET pool_rank = 0 WHERE topic = {rank}", (passed, one[passed]))
    for topic in others:
        judge(review, topic, irrelevant[topic][:40])
    review.recall.across_topics.calibrate()
    assert {review.settings.mode(topic) for topic in others} == {"loop"}
    note = " ".join(review.recall.across_topics.state().notes)
    assert "3 documents of topics " in note
    assert "were skipped, undone or passed over: the rule closes these topics only when they are judged." in note
    for topic in others:
        judge(review, topic, [one[topic]])
    review.recall.across_topics.calibrate()
    # What was judged while a relevant document was undone was selected without it: the rule does not read it.
    modes = {topic: review.settings.mode(topic) for topic in others}
    assert modes == {skipped: "closed", undone: "loop", passed: "closed"}
    assert "40 selected while another judgement was undone" in " ".join(review.recall.across_topics.state().notes)


def test_regraded_calibration_topics_pause_a_rule_that_is_no_longer_strict_enough(review: Campaign) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    for topic in drawn:
        last = review.store.judgements.table(query_id=topic)["doc_id"].iloc[-1]
        review.judging.judge("ann", topic, last, 1)
    state = review.recall.across_topics.state()
    assert state.paused
    assert any("the rule is no longer strict enough" in note for note in state.notes)
    judge(review, other, [d for d in DOCUMENTS if d not in RELEVANT[other]][:40], leased=False)
    review.judging.next_pairs("ann", other, 2)
    assert review.settings.mode(other) == "loop"
    review.recall.across_topics.calibrate()
    assert not review.recall.across_topics.state().paused


def test_closed_topics_that_are_judged_again_are_named(review: Campaign) -> None:
    drawn = finish(review)
    other = next(topic for topic in TOPICS if topic not in drawn)
    judged = [d for d in DOCUMENTS if d not in RELEVANT[other]][:40]
    judge(review, other, judged, leased=False)
    review.judging.next_pairs("ann", other, 2)
    assert notes(review) == ""
    review.judging.judge("ann", other, judged[-1], 1)
    assert notes(review) == (
        f"Topic {other} was closed by the rule, and its judgements changed since: the promise covers the grades at the "
        "time. Reopen a topic to judge on, or calibrate again to check it."
    )
    review.recall.across_topics.calibrate()
    assert (notes(review), review.settings.mode(other)) == ("", "closed")


def test_a_changed_overlap_pauses_the_rule(review: Campaign) -> None:
    finish(review)
    review.people.assignments.update(annotators=2)
    state = review.recall.across_topics.state()
    assert (state.paused, state.in_doubt) == (True, True)
    assert "The number of annotators of pairs changed since the draw" in " ".join(state.notes)
    review.people.assignments.update(annotators=1)
    assert not review.recall.across_topics.state().paused


def count_statements(campaign: Campaign, read: Callable[[Campaign], object]) -> int:
    """The number of SQL statements that a reader runs which has kept nothing."""
    with Campaign(campaign.directory) as page:
        statements: list[str] = []
        page.store.connection.db.conn.set_trace_callback(statements.append)
        read(page)
    return len(statements)


TOPIC_READS: dict[str, Callable[[Campaign], object]] = {
    "state": lambda c: c.recall.across_topics.state(),
    "ready topics": lambda c: c.recall.ready_topics(),
    "table": lambda c: c.recall.table(),
    "unfinished topics": lambda c: c.recall.across_topics.put_first(["t1"]),
    "ledgers": lambda c: c.recall.across_topics.ledgers(c.settings.modes()),
}


def test_statements_do_not_grow_with_topics(tmp_path: Path) -> None:
    counts = []
    for number in (4, 16):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Campaign.create(folder / "campaign") as campaign:
            topics = [f"t{n}" for n in range(1, number + 1)]
            fill(campaign, topics, [f"d{n}" for n in range(6)])
            campaign.settings.set_loop(mode="loop")
            campaign.corpus.features.update()
            campaign.recall.across_topics.start(0.4, topics=number // 2, depth=0.5, sample=0.5)
            qrels = folder / "some.qrels"
            qrels.write_text("".join(f"{topic} 0 d{n} {n % 2}\n" for topic in topics for n in range(2)))
            campaign.imports.import_files(qrels=qrels)
            counts.append({name: count_statements(campaign, read) for name, read in TOPIC_READS.items()})
    assert counts[0] == counts[1]
    assert min(counts[0].values()) > 0


def test_an_undo_that_leaves_a_judgement_withholds_nothing_from_the_rule(review: Campaign) -> None:
    first, second = DOCUMENTS[0], DOCUMENTS[1]
    review.people.assignments.update(annotators=2)
    for annotator in ("ann", "ben"):
        judge(review, "1", [first, second], annotator, leased=False)
    review.judging.judge("ben", "1", first, undo=True)
    judge(review, "1", DOCUMENTS[2:10], leased=False)
    assert review.loop.rule_judgements(["1"])["1"].aside == {}
    review.judging.judge("ann", "1", first, undo=True)  # nobody has judged it now
    judge(review, "1", DOCUMENTS[10:14], leased=False)
    assert review.loop.rule_judgements(["1"])["1"].aside == {"selected while another judgement was undone": 4}
    judge(review, "1", [first], "ben", leased=False)
    judge(review, "1", DOCUMENTS[14:20], leased=False)
    topic = review.loop.rule_judgements(["1"])["1"]
    assert (topic.ledger.judged, topic.ledger.set_aside) == (16, 4)


def import_run(review: Campaign, name: str, *topics: str, first: int = 0, replace: bool = False) -> list[str]:
    """Import a run that ranks all documents for these topics, from the `first` on; what the import warns of."""
    documents = [*DOCUMENTS[first:], *DOCUMENTS[:first]]
    file = review.directory.parent / f"{name}.run"
    file.write_text("".join(f"{q} Q0 {d} {n} {99 - n} {name}\n" for q in topics for n, d in enumerate(documents)))
    return review.imports.import_files(runs=[file], replace=replace).notices


def read_by_rule(review: Campaign, *topics: str) -> list[int]:
    """How many documents of each topic the rule reads."""
    return [one.ledger.judged for one in review.loop.rule_judgements(topics).values()]


def test_a_run_changes_the_order_of_the_topics_that_it_names(review: Campaign) -> None:
    drawn = sorted(finish(review), key=TOPICS.index)
    (one, other, *_) = [topic for topic in TOPICS if topic not in drawn and review.settings.mode(topic) == "loop"]
    for topic in (one, other):
        judge(review, topic, DOCUMENTS[:5], leased=False)
    promised = review.recall.across_topics.calibrate().setting
    assert import_run(review, "unrelated", next(t for t in TOPICS if t not in {*drawn, one, other})) == []
    assert read_by_rule(review, *drawn, one, other) == [60] * len(drawn) + [5, 5]
    assert review.recall.across_topics.calibrate().setting == promised

    (notice,) = import_run(review, "some", drawn[0], one)
    named = sorted([drawn[0], one], key=TOPICS.index)
    assert notice == (
        f"With this change of the runs, the loop orders the documents of topics {named[0]} and {named[1]} (calibration "
        f"topic: {drawn[0]}) differently: the stopping rule across topics no longer reads the 65 documents judged "
        "there so far."
    )
    assert read_by_rule(review, drawn[0], one, drawn[1], other) == [0, 0, 60, 5]

    # The removal of the run brings the former order back.
    judge(review, other, DOCUMENTS[5:8], leased=False)
    assert review.imports.removals.preview(runs=["some"]).notes == []
    review.imports.removals.remove(runs=["some"])
    assert read_by_rule(review, drawn[0], one, drawn[1], other) == [60, 5, 60, 8]


def test_a_run_that_is_replaced_or_removed_changes_the_order_of_what_differs(review: Campaign) -> None:
    import_run(review, "mine", "1", "2", "3")
    review.recall.across_topics.start(0.2, topics=5)
    for topic in ("1", "2", "4"):
        judge(review, topic, DOCUMENTS[:4], leased=False)
    import_run(review, "mine", "1", "2", "3", "5", replace=True)  # another topic
    assert read_by_rule(review, "1", "2", "4") == [4, 4, 4]
    (note,) = review.imports.removals.preview(runs=["mine"]).notes
    assert "topics 1 and 2" in note
    assert "no longer reads the 8 documents judged there so far." in note
    (notice,) = import_run(review, "mine", "1", "2", "3", first=7, replace=True)
    assert "8 documents" in notice
    assert read_by_rule(review, "1", "2", "4") == [0, 0, 4]
