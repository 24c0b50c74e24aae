"""The Assign page: what it asks for, what it writes, and what it says of what cannot be."""

from __future__ import annotations

from uuid import uuid4

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign, Judgement
from tests.helpers import Opened


@pytest.fixture
def people(campaign: Campaign) -> Campaign:
    """The small campaign with a manager, two annotators of one group, and a reader."""
    for name, role in (("ann", "manager"), ("ben", "annotator"), ("cara", "annotator"), ("rita", "reader")):
        campaign.people.accounts.add(name, role)
    for name in ("ben", "cara"):
        campaign.people.accounts.set_groups(name, ["students"])
    return campaign


def say(campaign: Campaign, annotator: str, query_id: str, doc_id: str, relevance: int, **more: object) -> None:
    judgement = Judgement(str(uuid4()), annotator, query_id, doc_id, "graded", relevance)
    result = campaign.judging.judge_many([judgement._replace(**more)])  # type: ignore[arg-type]
    assert result.saved, result.refused


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def table(app: AppTest, column: str) -> object:
    """The first table that has a column."""
    return next(frame.value for frame in app.dataframe if column in frame.value.columns)


def select(app: AppTest, *rows: int) -> AppTest:
    """Select rows of the topics."""
    app.session_state["assigned"] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return app


# ---------------------------------------------------------------------------------------- overlap


def test_lists_have_decisions_instead_of_judgements(opened: Opened, people: Campaign) -> None:
    people.settings.set_judging_page(task="list")
    app = opened(people, "assign")
    assert "**0 of 2 decisions made**, with the saved settings." in [text.value for text in app.markdown]
    assert not figures(app)


def test_what_overlap_costs_is_seen_before_it_is_applied(opened: Opened, people: Campaign) -> None:
    say(people, "ann", "1", "d1", 2, seconds=1800.0)
    app = opened(people, "assign")
    assert figures(app)["Judgements needed"] == "6"
    assert app.button(key="apply-overlap").disabled
    app.number_input(key="annotators").set_value(2).run()
    assert figures(app) == {
        "Pairs in the pool": "6",
        "Judgements needed": "12",
        "Judgements made": "1",
        "More than now": "6",
    }
    assert "**11 judgements left.**" in [text.value for text in app.markdown]
    app.selectbox(key="which").set_value("topics").run()
    app.multiselect(key="topics").set_value(["2"]).run()
    assert figures(app)["Judgements needed"] == "9"
    assert people.settings.assignment().annotators == 1  # nothing is written yet
    app.button(key="apply-overlap").click().run()
    settings = people.settings.assignment()
    assert (settings.annotators, settings.which, settings.topics) == (2, "topics", ("2",))
    assert app.button(key="apply-overlap").disabled


def test_share_and_number(opened: Opened, people: Campaign) -> None:
    app = opened(people, "assign")
    app.number_input(key="annotators").set_value(3).run()
    app.selectbox(key="which").set_value("number").run()
    app.number_input(key="number").set_value(1).run()
    assert figures(app)["Judgements needed"] == "10"
    app.selectbox(key="which").set_value("share").run()
    app.number_input(key="share").set_value(0.0).run()
    assert figures(app)["Judgements needed"] == "6"
    app.number_input(key="share").set_value(100.0).run()
    assert figures(app)["Judgements needed"] == "18"
    assert not app.warning
    app.number_input(key="annotators").set_value(4).run()
    assert "Only 3 people can judge in this campaign." in app.warning[0].value


def test_hours_are_estimated_at_the_current_pace(opened: Opened, people: Campaign) -> None:
    people.people.assignments.update(annotators=3)
    *judged, _ = people.store.pool.pairs()[["query_id", "doc_id"]].itertuples(index=False, name=None)
    for query_id, doc_id in judged:
        for name in ("ann", "ben", "cara"):
            say(people, name, query_id, doc_id, 2, seconds=1800.0)
    app = opened(people, "assign")
    shown = [text.value for text in app.markdown]
    assert "3 annotators judge each pair." in shown
    assert "**3 judgements left, about 1.5 hours at the current pace.**" in shown


def test_a_loop_has_no_number_of_judgements(opened: Opened, people: Campaign) -> None:
    say(people, "ann", "1", "d1", 2)
    people.settings.set_loop(mode="loop")
    app = opened(people, "assign")
    app.number_input(key="annotators").set_value(2).run()
    assert not figures(app)
    (text,) = [text.value for text in app.markdown if "in a loop" in text.value]
    assert text == ("1 judgement made so far. 2 of 2 topics are in a loop without a fixed number of judgements.")
    people.settings.set_loop(topics=["2"], mode="pool")
    assert figures(opened(people, "assign"))["Judgements needed"] == "3"


# ----------------------------------------------------------------------------------------- topics


@pytest.mark.long
def test_topics_are_given_to_people_and_groups_and_to_everybody_again(opened: Opened, people: Campaign) -> None:
    app = opened(people, "assign")
    assert table(app, "who")["who"].tolist() == ["everyone", "everyone"]
    assert app.multiselect(key="people").options == ["ann", "ben", "cara"]  # a reader judges nothing
    app.multiselect(key="people").set_value(["ann"])
    give = next(button for button in app.button if button.label == "Assign selected topics")
    give.click().run()
    assert "Select at least one topic" in app.error[0].value
    select(app, 1)
    app.multiselect(key="people").set_value(["ann"])
    app.multiselect(key="groups").set_value(["students"])
    next(button for button in app.button if button.label == "Assign selected topics").click().run()
    assert table(app, "who")["who"].tolist() == ["everyone", "ann; group students"]
    people.people.assignments.assign(["2"], ["ann"])
    people.people.assignments.update(annotators=2)
    app = opened(people, "assign")
    assert "1 annotator for topic 2" in app.warning[0].value
    select(app, 0, 1).run()
    app.multiselect(key="people").set_value([])
    next(button for button in app.button if button.label == "Assign selected topics").click().run()
    assert table(app, "who")["who"].tolist() == ["everyone", "everyone"]


@pytest.mark.long
def test_whatever_the_library_takes_the_page_shows(opened: Opened, people: Campaign) -> None:
    people.people.assignments.update(annotators=50, which="share", share=1, lease=5)
    opened(people, "assign")
    people.people.assignments.update(lease=0.05)
    opened(people, "assign")


@pytest.mark.long
def test_topics_are_dealt_out(opened: Opened, people: Campaign) -> None:
    app = opened(people, "assign")
    app.multiselect(key="among").set_value(["ben", "cara"]).run()
    assert table(app, "pairs").to_dict("list") == {"name": ["ben", "cara"], "topics": [1, 1], "pairs": [3, 3]}
    app.button(key="deal").click().run()
    assert people.people.assignments.table()["accounts"].tolist() == [["ben"], ["cara"]]
    rows = table(app, "done").set_index("name")
    assert rows.loc[["ann", "ben", "cara"], "topics"].tolist() == [0, 1, 1]
    assert rows.loc[["ann", "ben", "cara"], "left"].tolist() == [0, 3, 3]
    app.number_input(key="each").set_value(3).run()
    app.multiselect(key="among").set_value(["ben"]).run()
    assert any("found 3" in info.value for info in app.info)


# ------------------------------------------------------------------------------------ qualification


@pytest.mark.long
def test_the_qualification_set_is_pasted_or_drawn(opened: Opened, people: Campaign) -> None:
    app = opened(people, "assign")
    app.text_area(key="pairs").set_value("1 d1\n\n 2   d4 \n").run()
    app.button(key="save-pairs").click().run()
    pairs = people.store.assignments.qualification_set()
    assert pairs[["query_id", "doc_id"]].to_numpy().tolist() == [["1", "d1"], ["2", "d4"]]
    assert app.text_area(key="pairs").value == "1 d1\n2 d4"
    assert table(app, "finished")["annotator"].tolist() == ["ann", "ben", "cara"]
    for text, words in (("1", "found only 1"), ("1 d1\n1 d1", "twice"), ("7 d1", "'7'"), ("1 d99", "'d99'")):
        app.text_area(key="pairs").set_value(text).run()
        app.button(key="save-pairs").click().run()
        assert words in app.error[0].value.replace("\\", "")
    assert len(people.store.assignments.qualification_set()) == 2
    app.number_input(key="per-topic").set_value(3).run()
    app.multiselect(key="drawn-topics").set_value(["1"]).run()
    app.button(key="draw").click().run()
    assert sorted(app.text_area(key="pairs").value.split("\n")) == ["1 d1", "1 d2", "1 d6"]
    assert len(people.store.assignments.qualification_set()) == 2  # nothing is saved yet
    app.text_area(key="pairs").set_value("").run()
    app.button(key="save-pairs").click().run()
    assert people.store.assignments.qualification_set().empty


@pytest.mark.long
def test_feedback_waits_for_settled_grades(opened: Opened, people: Campaign) -> None:
    people.people.qualification_set.set_pairs([("1", "d1"), ("2", "d4")])
    say(people, "ben", "1", "d1", 2)
    app = opened(people, "assign")
    assert any("0 of 2 pairs have a reference grade" in text.value for text in app.markdown)
    assert app.toggle(key="feedback").disabled
    say(people, "ann", "1", "d1", 3, counts_as="adjudication")
    app = opened(people, "assign")
    assert any("1 of 2 pairs has a reference grade" in text.value for text in app.markdown)
    rows = table(app, "finished").set_index("annotator")
    assert rows.loc["ben", ["judged", "of", "agree"]].tolist() == [1, 2, 0.0]
    app.toggle(key="feedback").set_value(True).run()
    assert people.settings.assignment().feedback


# ---------------------------------------------------------------------------------- blind and time


@pytest.mark.long
def test_blind_and_lease(opened: Opened, people: Campaign) -> None:
    app = opened(people, "assign")
    assert app.toggle(key="blind").value
    app.toggle(key="blind").set_value(False).run()
    app.number_input(key="lease").set_value(15.0).run()
    assert people.settings.assignment().blind  # not before it is saved
    app.button(key="save-rules").click().run()
    settings = people.settings.assignment()
    assert (settings.blind, settings.lease) == (False, 15.0)
    people.settings.set_loop(mode="random")
    assert any("Random:" in text.value for text in opened(people, "assign").markdown)


@pytest.mark.long
def test_reservations_are_shown_and_released(opened: Opened, people: Campaign) -> None:
    people.judging.next_pairs("ben", "1", 3)
    people.judging.next_pairs("cara", "2", 2)
    app = opened(people, "assign")
    shown = table(app, "place")
    assert isinstance(shown, pd.DataFrame)
    assert shown["annotator"].tolist() == ["ben"] * 3 + ["cara"] * 2
    assert shown["place"].tolist()[:2] == ["On screen", "Loaded ahead"]
    app.selectbox(key="reserved-by").set_value("ben").run()
    app.button(key="release").click().run()
    assert people.people.assignments.reservations()["annotator"].unique().tolist() == ["cara"]
    app.button(key="release").click().run()
    assert people.people.assignments.reservations().empty
    assert any("Nothing is reserved" in each.value for each in app.markdown)
