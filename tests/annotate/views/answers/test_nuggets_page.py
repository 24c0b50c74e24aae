"""The page Nuggets: own words, undo, proposals, the task, and what annotators see."""

from __future__ import annotations

import pandas as pd
import pytest

from annotate.auth.page_access import find_page
from collection import Campaign
from collection.core.records import Judgement
from tests.helpers import Opened, words


def texts(campaign: Campaign) -> list[str]:
    return [each.text for each in campaign.answers.nuggets.current("1")]


def test_a_campaign_without_answers_does_not_list_the_page(campaign: Campaign, opened: Opened) -> None:
    page = find_page("nuggets")
    assert not page.is_listed(is_review=False)
    assert page.is_listed(is_review=False, has_answers=True)
    assert page.is_listed(is_review=False, has_answers=True, in_task=True)
    assert "no generated answers" in words(opened(campaign, "nuggets"))


@pytest.mark.long
def test_a_nugget_is_added_and_undone_and_the_task_updated(answered: Campaign, opened: Opened) -> None:
    app = opened(answered, "nuggets")
    assert "2 nuggets, 1 vital" in words(app)
    assert app.dataframe[0].value.columns[:3].tolist() == ["chosen", "importance", "text"]  # in sight on a phone
    assert "8 nugget assignments to add to the task, over all topics" in words(app)
    app.button(key="prepare-nuggets").click().run()
    assert [each.value for each in app.success] == ["8 nugget assignments added to the task."]
    assert "The task of nugget assignment has all current nuggets." in words(app)
    app.text_area(key="new-nugget-text").input("Wings are thin.")
    app.radio(key="new-importance").set_value("vital")
    next(each for each in app.button if each.label == "Add nugget").click().run()
    assert texts(answered) == ["Air is fast.", "Pressure falls.", "Wings are thin."]
    assert "3 nuggets, 2 vital" in words(app)
    assert not app.warning
    answered.answers.nuggets.add("1", "Wings bend.", annotator="eva")
    answered.answers.nuggets.add("1", "Is rude.", annotator="eva", weight=-2.0)  # of a rubric
    assert "1 nugget without importance" in app.run().warning[0].value
    for name in ("4", "5"):
        answered.answers.nuggets.delete("1", name, annotator="bob")
    app.run()
    app.button(key="undo-nugget").click().run()
    assert texts(answered) == ["Air is fast.", "Pressure falls."]
    assert [each.value for each in app.success] == ["Adding was undone."]
    app.button(key="undo-nugget").click().run()
    assert [each.value for each in app.success] == ["You have no edit to undo in this topic."]


def test_annotators_see_their_own_nuggets_and_passages(answered: Campaign, opened: Opened) -> None:
    opened(answered, "nuggets", "cat", "annotator")
    answered.people.assignments.assign(["1", "2"], ["cat"])
    assert "No topics are assigned to you yet." in words(opened(answered, "nuggets", "bob", "annotator"))
    answered.store.pool.add(pd.DataFrame({"query_id": ["1"], "doc_id": ["d1"], "rank": [1]}), "runs", {}, [])
    answered.people.assignments.assign(["1"], ["bob"])
    for name, passages in (("bob", ((0, 3),)), ("cat", ((4, 9),))):
        answered.judging.write(Judgement(name, name, "1", "d1", "graded", 1, passages=passages))
    answered.answers.nuggets.propose(
        pd.DataFrame({"query_id": ["1"], "text": ["A."], "importance": [""], "weight": [float("nan")]}),
        "gpt-x",
        annotator="eva",
    )
    app = opened(answered, "nuggets", "bob", "annotator")
    assert "0 nuggets by you" in words(app)
    assert len(app.selectbox(key="nugget-topic").options) == 1
    assert [frame.value.shape[0] for frame in app.dataframe] == [1]
    assert [each.value for each in app.subheader] == ["Marked passages"]
    app = opened(answered, "nuggets")
    assert [each.value for each in app.subheader] == [
        "Marked passages", "Proposals", "Agreement", "Nugget assignment",
    ]  # fmt: skip


def test_managers_see_the_nuggets_found_against_the_documents_read(answered: Campaign, opened: Opened) -> None:
    heading = "Nuggets by documents read"
    assert heading not in [each.value for each in opened(answered, "nuggets").subheader]
    answered.answers.nuggets.add("1", "Wings.", annotator="eva", sources=[("d1", 0, 3)])
    answered.answers.nuggets.add("1", "Heat.", annotator="eva", sources=[("d2", None, None)])
    answered.judging.write(Judgement("u", "eva", "1", "d1", "graded", 1))
    curve = answered.answers.sources.read("1")
    assert curve[["documents", "nuggets", "recall"]].to_numpy().tolist() == [[0, 0, 0.0], [1, 1, 0.5]]
    answered.store.corpus.add_document_ids(["d3"])
    answered.judging.write(Judgement("v", "eva", "1", "d3", "graded", 0))
    answered.judging.write(Judgement("w", "eva", "1", "d1", "graded", 2))  # revised, not read again
    assert answered.answers.sources.read("1")["nuggets"].tolist() == [0, 1, 1]
    app = opened(answered, "nuggets")
    assert heading in [each.value for each in app.subheader]
    assert any("Recall" in frame.value.columns or "recall" in frame.value.columns for frame in app.dataframe)
