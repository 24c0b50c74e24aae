"""Recall guaranteed across topics, on the pages Loop and Recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from tests.collection.campaign.recall.across_topics import test_calibration_topics
from tests.collection.campaign.recall.across_topics.test_calibration_topics import TOPICS, judge_rest
from tests.helpers import Opened, words


@pytest.fixture
def review(copy_of: Callable[..., Campaign]) -> Iterator[Campaign]:
    with copy_of(test_calibration_topics.build) as copy:
        copy.store.settings.put("id", "review")
    with Campaign(copy.directory) as campaign:
        yield campaign


def tables(app: AppTest) -> list[list[str]]:
    return [list(table.value.columns) for table in app.dataframe]


def test_the_planner_draws_calibration_topics(opened: Opened, review: Campaign) -> None:
    app = opened(review, "loop")
    assert app.number_input(key="topics-0.1-0").value == 9
    assert "14 open topics in a loop with 60 documents on average" in words(app)
    app.number_input(key="expected-recall").set_value(80.0).run()
    planned = next(table.value for table in app.dataframe if "Expected recall" in table.value)
    assert planned["Calibration topics"].tolist() == [4, 5, 7]
    assert set(planned["Expected recall"]) == {"80%"}
    assert planned["Calibration judgements"].tolist() == [240, 300, 420]
    assert (app.number_input(key="topics-0.2-0").min, app.number_input(key="topics-0.2-0").value) == (4, 5)
    app.number_input(key="topics-0.2-0").set_value(6).run()
    planned = next(table.value for table in app.dataframe if "Expected recall" in table.value)
    assert planned["Calibration topics"].tolist() == [4, 5, 6, 7]
    app.number_input(key="topics-0.2-0").set_value(5).run()
    app.button(key="draw-topics").click().run()
    assert len(review.recall.across_topics.state().topics) == 5
    overview = words(opened(review, "overview"))
    assert "0 of 5 calibration topics are judged to the end" in overview
    assert "Judge the calibration topics first: 300 documents of 5 topics are left." in overview
    assert "Recall advises when to stop" not in overview
    assert "0 of 5 calibration topics are judged to the end; 300 documents left" in words(app)
    app.button(key="end-calibration").click().run()
    assert review.recall.across_topics.state().phase == "none"
    assert app.button(key="draw-topics")


def test_the_planner_takes_new_judgements_into_account(opened: Opened, review: Campaign) -> None:
    app = opened(review, "loop")
    assert "estimates from replays of other collections" in words(app)
    judge_rest(review, *TOPICS[:5])
    assert "estimates from 5 topics judged completely" in words(app.run())


def test_the_planner_needs_a_selection_for_any_rule(opened: Opened, review: Campaign) -> None:
    app = opened(review, "loop")
    app.number_input(key="expected-recall").set_value(80.0).run()
    app.selectbox(key="rule-family").set_value("any").run()
    app.number_input(key="selection").set_value(2).run()
    assert app.number_input(key="topics-0.2-2").min == 6
    planned = next(table.value for table in app.dataframe if "Expected recall" in table.value)
    assert planned["Calibration judgements"].tolist() == [60 * topics for topics in planned["Calibration topics"]]
    app.button(key="draw-topics").click().run()
    assert len(review.recall.across_topics.state().topics) == 7


def test_the_planner_says_why_nothing_can_be_drawn(opened: Opened, review: Campaign) -> None:
    review.settings.set_loop(mode="closed", topics=TOPICS[1:])
    assert "Expected at least 2 open topics in a loop" in words(opened(review, "loop"))
    review.settings.set_loop(mode="loop", topics=TOPICS[:6])
    app = opened(review, "loop")
    assert "needs at least 9 calibration topics" in words(app)
    assert app.button(key="draw-topics").disabled


def test_no_planner_where_decisive_pairs_are_selected(opened: Opened, review: Campaign) -> None:
    heading = "Recall guaranteed across topics"
    assert heading in [subheader.value for subheader in opened(review, "loop").subheader]
    review.settings.set_loop(by="decisive")
    app = opened(review, "loop")
    assert heading not in [subheader.value for subheader in app.subheader]


def test_recall_reopens_calibration_topics_that_were_closed_before_judging(opened: Opened, review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.2, topics=5).topics)
    review.settings.set_loop(mode="closed", topics=drawn)
    reader = opened(review, "recall", "rea", "reader")
    assert "reopen-calibration" not in [button.key for button in reader.button]
    app = opened(review, "recall")
    assert app.button(key="reopen-calibration").label == "Reopen 5 topics"
    assert "next-step" not in [button.key for button in app.button]  # it would lead to this page
    app.button(key="reopen-calibration").click().run()
    assert set(review.settings.modes().values()) == {"loop"}
    assert "reopen-calibration" not in [button.key for button in app.button]
    assert "Judge the calibration topics first: 300 documents of 5 topics are left." in words(app)


def test_the_progress_of_random_samples_starts_at_nothing(opened: Opened, review: Campaign) -> None:
    drawn = list(review.recall.across_topics.start(0.5, topics=2, depth=0.5, sample=0.4).topics)
    (bar,) = opened(review, "recall").get("progress")
    assert bar.proto.value == 0
    judge_rest(review, drawn[0], but=39)  # 21 of 2 * (30 + 12)
    (bar,) = opened(review, "recall").get("progress")
    assert bar.proto.value == 25


@pytest.mark.long
def test_recall_shows_the_calibration(opened: Opened, review: Campaign) -> None:
    app = opened(review, "recall")
    assert "Recall across topics" not in words(app)
    drawn = list(review.recall.across_topics.start(0.2, topics=5).topics)
    judge_rest(review, *drawn[1:])
    app = opened(review, "recall")
    assert "4 of 5 calibration topics are judged to the end; 60 documents left" in words(app)
    assert [button.key for button in app.button if button.key == "calibrate"] == []
    assert ["query_id", "judged", "size", "finished", "title"] in tables(app)

    judge_rest(review, drawn[0])
    other = next(topic for topic in TOPICS if topic not in drawn)
    judge_rest(review, other, but=10)
    app = opened(review, "recall")
    app.button(key="calibrate").click().run()
    shown = words(app)
    assert "is at least 80%, as a mean over topics, not for each topic" in shown
    assert "350 of their 840 documents are judged" in shown
    assert ("Topics ready to stop", "5") in [(metric.label, metric.value) for metric in app.metric]
    closed = next(table.value for table in app.dataframe if "reason" in table.value)
    assert closed["query_id"].tolist() == [other]

    review.settings.set_loop(level=2)
    app = opened(review, "recall")
    assert "Recall across topics: promise in doubt" in words(app)
    assert "Loop settings changed since the draw (minimum relevant grade)" in words(app)
    reader = opened(review, "recall", "rea", "reader")
    assert "is at least 80%" in words(reader)
    assert not [button for button in reader.button if button.key == "calibrate"]
