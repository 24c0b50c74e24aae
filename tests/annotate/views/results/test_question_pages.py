"""Pages of results with further questions: the pickers of questions, and what they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collection import Campaign
from tests.collection.campaign.results.test_question_results import ANN_BOB, EVE, asking_campaign, decide
from tests.helpers import Opened, words


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[Campaign]:
    """Decisions of two annotators and an adjudicator on three questions."""
    with asking_campaign(tmp_path / "campaign") as campaign:
        decide(campaign, ANN_BOB)
        decide(campaign, EVE, adjudicate=True)
        yield campaign


@pytest.mark.parametrize("page", ["agreement", "compare", "export"])
def test_without_questions_there_is_no_field(opened: Opened, judged: Campaign, page: str) -> None:
    judged.settings.set_questions([])
    app = opened(judged, page)
    assert not app.exception
    assert "Question" not in [field.label for field in app.selectbox]


def choose(app: object, label: str, value: str) -> None:
    (field,) = [each for each in app.selectbox if each.label == label]  # type: ignore[attr-defined]
    field.set_value(value).run()


@pytest.mark.long
def test_agreement_on_each_question(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "agreement")
    choose(app, "Question", "credibility")
    assert not app.exception
    assert "3 of 5" in [metric.value for metric in app.metric]
    assert "TREC" not in words(app)
    assert "Overlap" in [metric.label for metric in app.metric]
    for name in ("Coefficients", "Annotators", "Topics", "Over time", "Effect on rankings", "Grades"):
        app.session_state["look"] = name
        app.run()
        assert not app.exception, name
    choose(app, "Question", "reason")
    assert not app.exception
    assert "0: Wrong population, 1: Wrong design, 2: Wrong language" in words(app)
    for name in ("Coefficients", "Annotators", "Topics", "Over time"):
        app.session_state["look"] = name
        app.run()
        assert not app.exception, name
    choose(app, "Answer", "design")
    assert not app.exception
    choose(app, "Question", "tags")
    assert not app.exception
    assert "3 pairs with 2 or more answers. Each tag is compared by whether it was given" in words(app)
    choose(app, "Answer", "review")
    assert not app.exception


@pytest.mark.long
def test_runs_are_compared_by_any_question(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "compare")
    assert not app.exception
    before = words(app)
    choose(app, "Question", "credibility")
    assert not app.exception
    assert words(app) != before
    assert "By credibility: How credible is it? Asked at grades from 1: documents with other grades" in words(app)
    choose(app, "Question", "reason")
    choose(app, "Answer", "design")
    assert "Answer: Wrong design. Asked at" in words(app)
    choose(app, "Question", "tags")
    assert "unjudged" not in next(each.value for each in app.caption if each.value.startswith("By tags"))


def test_qrels_of_any_question(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "export")
    choose(app, "Question", "credibility")
    assert not app.exception
    assert "credibility: 4 pairs in 1 of 2 topics have an answer; 4 have grade 1 or more." in words(app)
    choose(app, "Question", "reason")
    choose(app, "Answer", "design")
    assert not app.exception
    assert "reason: 3 pairs in 1 of 2 topics have an answer; 2 have \u201cWrong design\u201d." in words(app)
    app.session_state["section"] = "Judgements"
    app.run()
    assert "each with annotator, pair, grade and answers, time" in words(app)


def test_the_answers_of_each_annotator(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "annotators", state={"look": "Grades"})
    assert not app.exception
    for question in ("tags", "reason", "credibility"):
        choose(app, "Question", question)
        assert not app.exception


def test_reusability_by_a_question(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "reusability")
    assert not app.exception
    choose(app, "Question", "credibility")
    assert not app.exception


def test_missing_answers_on_the_overview(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "overview")
    assert not app.exception
    assert "Questions (3)" in [each.label for each in app.expander]


def test_adjudicated_pairs_are_listed_with_their_answers(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "adjudicate", state={"done-open": True})
    assert not app.exception
    assert app.dataframe[0].value["answers"].str.contains("credibility: ").any()


def test_the_filter_of_disagreements(opened: Opened, judged: Campaign) -> None:
    app = opened(judged, "adjudicate")
    assert not app.exception
    choose(app, "Annotators differ on", "credibility")
    assert not app.exception
