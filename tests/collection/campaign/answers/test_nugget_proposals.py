"""Nuggets that a language model proposes from the relevant documents of topics."""

from __future__ import annotations

import json

import pytest

from collection import Campaign
from collection.campaign.answers.nugget_proposals import NuggetPlan
from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint
from collection.campaign.machine_labels.llm.ask.requests import RequestLimits
from collection.campaign.machine_labels.llm.plan import LlmSettings, Prices
from collection.core.records import Judgement
from tests.collection.campaign.machine_labels.llm.llm_server import FakeEndpoint, Reply
from tests.helpers import ok

pytestmark = pytest.mark.slow

pytest.importorskip("openai")

PROPOSED = json.dumps({
    "nuggets": [{"text": "Air is fast.", "importance": "vital"}, {"text": "Air lifts wings.", "importance": "vital"}]
})  # fmt: skip


@pytest.fixture
def judged(answered: Campaign) -> Campaign:
    """The campaign with a relevant document of topic 1."""
    answered.judging.write(Judgement("u", "eva", "1", "d1", "graded", 2))
    return answered


def plan(campaign: Campaign, fake: FakeEndpoint, *, again: bool = False) -> NuggetPlan:
    return campaign.answers.proposals.plan(LlmSettings("m", fake.url), again=again, prices=Prices(1000.0, 10_000.0))


def test_proposals_count_only_when_a_person_accepts_them_and_an_answered_topic_is_not_asked_again(
    judged: Campaign, fake: FakeEndpoint
) -> None:
    fake.answer = lambda asked: Reply(PROPOSED)
    planned = plan(judged, fake)
    assert (list(planned.prompts), planned.answered, planned.without_documents) == (["1"], 0, 1)
    limits = RequestLimits(prices=Prices(1000.0, 10_000.0))
    dry = judged.answers.proposals.ask(planned, ChatEndpoint(fake.url), limits, dry_run=True)
    assert dry.replies["1"][1] == ("Air lifts wings.", "vital")
    assert judged.answers.nuggets.proposals() == []
    report = judged.answers.proposals.ask(planned, ChatEndpoint(fake.url), limits)
    assert (report.proposals, report.requests.graded, report.requests.left) == (1, 1, 0)  # one text was known
    assert "Air lifts wings." in fake.asked[0].prompt
    (proposal,) = judged.answers.nuggets.proposals("1")
    assert len(judged.answers.nuggets.current("1")) == 2
    accepted = judged.answers.nuggets.accept("1", proposal.nugget, annotator="eva")
    assert accepted.fields == {"proposed_by": "m"}
    later = plan(judged, fake)
    assert (dict(later.prompts), later.answered) == ({}, 1)
    assert later.spent == pytest.approx(0.15)
    repeated = plan(judged, fake, again=True)
    assert list(repeated.prompts) == ["1"]
    judged.answers.proposals.ask(repeated, ChatEndpoint(fake.url), limits)
    assert fake.asked[-1].key != fake.asked[-2].key  # else an endpoint may repeat its earlier reply
    assert plan(judged, fake).spent == pytest.approx(0.3)


def test_a_hostile_reply_proposes_nothing_and_a_failed_request_is_asked_again(
    judged: Campaign, fake: FakeEndpoint
) -> None:
    fake.answer = lambda asked: Reply("Ignore the form: " + PROPOSED)
    report = judged.answers.proposals.ask(plan(judged, fake), ChatEndpoint(fake.url))
    assert (report.requests.no_grade, report.proposals) == (1, 0)
    assert report.problems == {"1": "the reply is not the JSON that was asked for"}
    fake.answer = lambda asked: Reply(status=400)
    report = judged.answers.proposals.ask(plan(judged, fake, again=True), ChatEndpoint(fake.url, retries=0))
    assert (report.requests.failed, report.requests.ended) == (1, "failed")
    assert judged.answers.nuggets.proposals() == []


def test_the_command_proposes_nuggets(judged: Campaign, fake: FakeEndpoint) -> None:
    fake.answer = lambda asked: Reply(PROPOSED)
    command = ["labels", "llm", judged.directory, "--task", "nuggets", "--model", "m", "--endpoint", fake.url]
    assert "vital       Air lifts wings." in ok(*command, "--dry-run")
    shown = ok(*command, "--price-in", 1, "--price-out", 2, "--yes")
    assert "Nuggets: 1 topic to ask about, 1 without a relevant document" in shown
    assert "Added 1 proposal. Accept or reject them on the page Nuggets." in shown
    assert "0 topics to ask about, 1 already asked" in ok(*command)
    assert fake.asked[-1].body["max_tokens"] == 4_000
