"""Pages of the campaign in a task of generated answers: its words, and what it has no use for."""

from __future__ import annotations

import pandas as pd
import pytest

from annotate.auth import forms
from annotate.card.server.card_words import card_words
from annotate.views.widgets import display
from collection import Campaign
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.records import Judgement
from tests.helpers import Opened, put, words


@pytest.fixture
def prepared(answered: Campaign) -> Campaign:
    """A campaign with both tasks."""
    for name in (NUGGET_ASSIGNMENT, SUPPORT):
        answered.answers.tasks.prepare(name)
    return answered


@pytest.mark.long
def test_pages_of_a_task_have_its_words(prepared: Campaign, opened: Opened) -> None:
    for task, topics in ((NUGGET_ASSIGNMENT, "answers"), (SUPPORT, "sentences")):
        said = words(opened(prepared, "assign", query={"task": task}))
        assert f"Select the {topics} to assign in the first column." in said
        assert "topic" not in said.lower()
        tabs = [tab.label for tab in opened(prepared, "export", query={"task": task}).tabs]
        assert topics.capitalize() in tabs
        assert "Topics" not in tabs


def test_the_judging_page_of_a_task_keeps_grades(prepared: Campaign, opened: Opened) -> None:
    app = opened(prepared, "judging-page", query={"task": SUPPORT})
    assert "list_size" not in {each.key for each in app.number_input}
    assert "dense qrels" not in words(app)
    app.number_input(key="rest_after").set_value(30)
    app.button(key="save").click().run()
    with prepared.answers.tasks.open(SUPPORT) as task:
        assert (task.settings.judging_page().task, task.settings.judging_page().rest_after) == ("grades", 30)


@pytest.mark.parametrize(("task", "unit"), [(NUGGET_ASSIGNMENT, "nugget"), (SUPPORT, "cited document")])
def test_further_questions_of_a_task_are_about_its_unit(
    prepared: Campaign, opened: Opened, task: str, unit: str
) -> None:
    app = opened(prepared, "judging-page", query={"task": task})
    assert f"right after the grade of a {unit}" in words(app)
    app.button(key="add-question").click().run()
    assert f"never asked about {unit}s that cannot be judged" in words(app)


def test_both_tasks_say_that_annotators_cannot_tell_and_where_the_scores_are() -> None:
    for task in (NUGGET_ASSIGNMENT, SUPPORT):
        said = card_words(ANSWER_TASKS[task].vocabulary)
        assert "the page Compare" in said["managers can download the qrels on the export page"]
        assert {said["cannot judge"], said["cannot judge the document"]} == {"cannot tell"}


def test_labels_of_a_task_without_runs_are_only_compared_with_people(prepared: Campaign, opened: Opened) -> None:
    with prepared.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        task.machine_labels.sets.create("gpt", "llm", {"model": "gpt"})
    app = opened(prepared, "machine-labels", query={"task": NUGGET_ASSIGNMENT})
    assert [each.value for each in app.subheader] == ["Agreement with people"]
    assert [*app.error, *app.warning] == []


def test_agreement_in_a_task_is_not_that_of_relevance(prepared: Campaign, opened: Opened) -> None:
    with prepared.answers.tasks.open(SUPPORT) as task:
        pairs = task.store.pool.with_text(4)
        for name, most in (("ann", 2), ("bob", 3)):
            for number, (query_id, doc_id) in enumerate(zip(pairs["query_id"], pairs["doc_id"], strict=True)):
                grade = number % most
                task.judging.write(Judgement(f"{name}{number}", name, query_id, doc_id, "graded", grade))
    app = opened(prepared, "agreement", query={"task": SUPPORT})
    said = words(app)
    assert "Krippendorff's alpha" in said
    assert "TREC-4" not in said
    assert "support judgements" not in said
    assert "Effect on rankings" not in str([each.options for each in app.button_group])


def test_people_with_answers_to_judge_are_sent_to_the_tasks(prepared: Campaign, opened: Opened) -> None:
    advice = "generated answers, choose Nugget assignment or Support above the menu."
    assert advice in words(opened(prepared, "judge", "bob", "annotator"))
    assert advice in words(opened(prepared, "overview"))
    assert advice not in words(opened(prepared, "overview", query={"task": SUPPORT}))
    put(prepared, [], [], {"bm25": {"1": ["d1"]}})
    prepared.people.pools.add("depth", depth=1)
    assert advice not in words(opened(prepared, "overview", "bob", "annotator"))
    prepared.judging.write(Judgement("u", "bob", "1", "d1", "graded", 1))
    assert advice in words(opened(prepared, "overview", "bob", "annotator"))  # who has no document left


def test_ids_of_answers_have_room() -> None:
    assert display.identifier("Answer", ["2024-129925.a385"])["width"] == 148
    assert display.identifier("Topic", pd.Series(["1", "22"]))["width"] == 60
    assert display.identifier("Topic", [])["width"] == 60


def test_sign_in_pages_speak_of_neither_campaign_nor_review() -> None:
    assert b"of the campaign" not in forms.signin("Falls", None).body
