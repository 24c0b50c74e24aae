"""Adjudication of pairs whose answers to further questions differ."""

from __future__ import annotations

from collection import Campaign, Judgement
from collection.adjudication import filter_queue
from collection.core.questions import read_questions
from tests.collection.core.test_questions import CREDIBILITY, EXCLUSION, TAGS


def asking(campaign: Campaign) -> Campaign:
    """Annotators of topic 1 differ on d1 in credibility, on d2 in grade and tags, on d6 in nothing that both said."""
    campaign.settings.set_questions(read_questions([CREDIBILITY, EXCLUSION, TAGS]))
    campaign.judging.judge("ann", "1", "d1", 2, answers={"credibility": 3, "tags": ["review"]})
    campaign.judging.judge("bob", "1", "d1", 2, answers={"credibility": 1, "tags": ["review"]})
    campaign.judging.judge("ann", "1", "d2", 1, answers={"credibility": 2, "tags": []})
    campaign.judging.judge("bob", "1", "d2", 0, answers={"exclusion": "design", "tags": ["protocol"]})
    campaign.judging.judge("ann", "1", "d6", 1, answers={"credibility": 2, "tags": ["review"]})
    campaign.judging.judge("bob", "1", "d6", 1, answers={"credibility": 2})
    return campaign


def test_the_queue_has_pairs_that_differ_in_any_answer(campaign: Campaign) -> None:
    queue = asking(campaign).judging.adjudication.queue()
    assert queue[["doc_id", "grades", "distance", "differs"]].to_numpy().tolist() == [
        ["d2", "0 1", 1, ("relevance", "tags")],
        ["d1", "2 2", 0, ("credibility",)],
    ]
    assert filter_queue(queue, question="credibility")["doc_id"].tolist() == ["d1"]
    assert filter_queue(queue, question="relevance")["doc_id"].tolist() == ["d2"]
    assert filter_queue(queue, question="exclusion").empty


def test_questions_that_are_asked_no_more_differ_no_more(campaign: Campaign) -> None:
    before = asking(campaign).judging.adjudication.cache_key()
    campaign.settings.set_questions(read_questions([TAGS]))
    assert campaign.judging.adjudication.queue()["doc_id"].tolist() == ["d2"]
    assert campaign.judging.adjudication.cache_key() != before


def test_one_adjudication_ends_a_pair_with_all_answers(campaign: Campaign) -> None:
    adjudication = asking(campaign).judging.adjudication
    given = {"credibility": 2, "tags": ("review", "protocol")}
    made = [
        Judgement("u1", "eve", "1", "d1", "graded", 2, answers=given),
        Judgement("u2", "eve", "1", "d6", "graded", 2, answers=given),
    ]
    result = adjudication.adjudicate(made)
    assert result.saved == ["u1"]
    assert [each.reason for each in result.refused] == ["annotators do not disagree on this pair"]
    assert adjudication.queue()["doc_id"].tolist() == ["d2"]
    for name, answer, grade in (("credibility", None, 2), ("tags", "protocol", 1)):
        qrels = campaign.results.qrels.for_question(name, answer).build()
        assert qrels.loc[qrels["doc_id"] == "d1", "relevance"].tolist() == [grade]
