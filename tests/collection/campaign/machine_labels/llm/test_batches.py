"""Labels by batches, from an endpoint on this machine: found again, stored once, and paid once."""

from functools import partial
from typing import Any

import pytest

from collection.campaign import Campaign
from collection.campaign.machine_labels.llm.ask import batches as llm_batches
from collection.campaign.machine_labels.llm.ask.endpoint import ChatEndpoint, EndpointError
from collection.campaign.machine_labels.llm.ask.requests import FAILURES, RequestLimits
from collection.campaign.machine_labels.llm.label_sets import LabelReport
from collection.campaign.machine_labels.llm.plan import LlmSettings, Prices
from collection.core.errors import CampaignError
from tests.collection.campaign.machine_labels.llm.llm_server import FakeBatch, FakeEndpoint, Reply
from tests.collection.campaign.machine_labels.llm.test_labels import document, label, rows
from tests.helpers import PATIENCE

pytestmark = pytest.mark.slow

pytest.importorskip("openai")

PRICES = Prices(1000.0, 10_000.0)
"""A prompt of 100 tokens costs .10, a reply of 5 tokens .05."""


def batch(campaign: Campaign, fake: FakeEndpoint, *, cancel: bool = False, **how: Any) -> LabelReport:
    """Label all pairs by a batch."""
    limits = RequestLimits(1, how.pop("prices", None), how.pop("budget", None))
    endpoint = ChatEndpoint(fake.url, retries=how.pop("retries", 0), timeout=PATIENCE)
    plan = campaign.machine_labels.llm.plan(
        LlmSettings("m", fake.url, **how.pop("settings", {})), prices=limits.prices, **how
    )
    return campaign.machine_labels.llm.label_by_batch(plan, endpoint, limits, poll=0.001, cancel=cancel)


def under_way(campaign: Campaign) -> list[tuple[str | None, int]]:
    return [(each.id, each.requests) for each in campaign.machine_labels.llm.batches.under_way()]


CUT, GATEWAY = Reply(cut=True), Reply("bad gateway", 502)


def lose_the_answer(campaign: Campaign, fake: FakeEndpoint, instead: Reply = CUT) -> None:
    """Send a batch that is made, and whose answer does not arrive."""
    before = len(fake.batches)
    fake.after_batch = lambda: instead
    with pytest.raises(EndpointError, match="no connection to http://127.0.0.1" if instead.cut else "HTTP 502"):
        batch(campaign, fake, retries=2)
    assert len(fake.batches) == before + 1  # another one would be paid as well
    fake.after_batch = lambda: None


def keep_waiting(_: FakeBatch) -> None:
    """A batch that is never answered."""


def test_a_batch_becomes_labels(campaign: Campaign, fake: FakeEndpoint) -> None:
    report = batch(campaign, fake, prices=PRICES, settings={"parameters": {"seed": 7}})
    assert (report.ended, report.graded, report.cost) == ("complete", 6, pytest.approx(0.9))
    (made,) = fake.batches.values()
    assert (made.body["endpoint"], made.body["completion_window"]) == ("/v1/chat/completions", "24h")
    assert {(line["method"], line["url"], line["body"]["model"], line["body"]["seed"]) for line in made.requests} == {
        ("POST", "/v1/chat/completions", "m", 7)
    }
    stored = rows(campaign)
    assert len({(row.query_id, row.doc_id) for row in stored}) == len(stored) == 6
    sent = [str(line["body"]["messages"][1]["content"]) for line in made.requests]
    for row, prompt in zip(stored, sent, strict=True):
        assert f"The text of document {row.doc_id[1:]}" in prompt
        assert (row.reply, row.model, row.revision) == ("Grade: 2", "fake-2026-01-01", "fp_7")
        assert (row.prompt_tokens, row.reply_tokens, row.seconds) == (100, 5, None)
    assert under_way(campaign) == []
    assert batch(campaign, fake, settings={"parameters": {"seed": 7}}).graded == 0
    assert len(fake.batches) == 1


def test_parts_of_a_batch_may_fail(campaign: Campaign, fake: FakeEndpoint) -> None:
    bad = {"1": Reply("too long", 400), "2": Reply("nonsense"), "4": Reply(body='{"choices": []}')}
    fake.answer = lambda asked: bad.get(document(asked), Reply())
    report = batch(campaign, fake)
    assert (report.graded, report.no_grade, report.failed) == (3, 1, 2)
    problems = {row.doc_id: row.problem for row in rows(campaign) if row.status == "failed"}
    assert problems == {"d1": "HTTP 400: too long", "d4": "the answer is no chat completion"}
    fake.answer = lambda asked: Reply()
    assert batch(campaign, fake).graded == 2
    assert [len(each.requests) for each in fake.batches.values()] == [6, 2]


def test_what_an_expired_batch_has_is_kept(campaign: Campaign, fake: FakeEndpoint) -> None:
    fake.look = partial(fake.finish, status="expired", most=4)
    report = batch(campaign, fake)
    assert (report.graded, report.failed, report.last_failure) == (4, 2, "not executed in time")
    fake.look = fake.finish
    assert batch(campaign, fake).graded == 2
    assert [len(each.requests) for each in fake.batches.values()] == [6, 2]
    assert campaign.machine_labels.llm.label_sets.summaries()[0].graded == 6


def refuse(made: FakeBatch) -> None:
    made.status, made.refusal = "failed", "the model m does not exist"


def test_a_batch_that_is_refused_leaves_nothing(campaign: Campaign, fake: FakeEndpoint) -> None:
    fake.look = refuse
    with pytest.raises(EndpointError, match=r"refuses the batch: the model m does not exist"):
        batch(campaign, fake)
    assert (under_way(campaign), campaign.machine_labels.llm.label_sets.summaries()) == ([], [])
    fake.look = fake.finish
    fake.after_batch = lambda: Reply("no batches in your country", 403)
    with pytest.raises(EndpointError, match="HTTP 403: no batches in your country"):
        batch(campaign, fake)
    assert under_way(campaign) == []
    assert label(campaign, fake).graded == 6


@pytest.mark.parametrize("instead", [CUT, GATEWAY], ids=["cut", "gateway"])
def test_a_batch_whose_making_was_not_confirmed_is_found(
    campaign: Campaign, fake: FakeEndpoint, instead: Reply
) -> None:
    lose_the_answer(campaign, fake, instead)
    assert under_way(campaign) == [(None, 6)]
    with pytest.raises(CampaignError, match="a batch of 6 requests is in progress for the label set 'm'; collect it"):
        label(campaign, fake)
    assert batch(campaign, fake).graded == 6
    assert len(fake.batches) == 1
    assert len(rows(campaign)) == 6


def test_a_batch_that_was_never_made_is_sent_again(campaign: Campaign, fake: FakeEndpoint) -> None:
    lose_the_answer(campaign, fake)
    fake.batches.clear()
    assert batch(campaign, fake).graded == 6
    assert len(fake.batches) == 1


def test_a_budget_is_never_exceeded_by_a_batch(campaign: Campaign, fake: FakeEndpoint) -> None:
    how = {"prices": Prices(0.0, 30_000.0), "settings": {"parameters": {"max_tokens": 5}}}  # .15 for a reply
    assert batch(campaign, fake, budget=0.5, **how).graded == 3
    assert batch(campaign, fake, budget=0.5, **how).ended == "budget"
    assert batch(campaign, fake, budget=0.65, **how).graded == 1
    assert campaign.machine_labels.llm.label_sets.spent("m") == pytest.approx(0.6)


def test_a_long_labelling_is_several_batches(
    campaign: Campaign, fake: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_batches, "MOST_REQUESTS", 4)
    assert [batch(campaign, fake).graded for _ in range(3)] == [4, 2, 0]
    monkeypatch.setattr(llm_batches, "MOST_BYTES", 6000)
    assert 0 < batch(campaign, fake, name="other").graded < 4


def test_an_answer_about_another_text_is_no_label(campaign: Campaign, fake: FakeEndpoint) -> None:
    def change(made: FakeBatch) -> None:
        with Campaign(campaign.directory) as other:
            other.store.connection.execute("UPDATE documents SET text = 'Other.' WHERE doc_id = 'd1'")
        fake.finish(made)

    fake.look = change
    report = batch(campaign, fake, prices=PRICES)
    assert (report.graded, report.failed, report.cost) == (5, 1, pytest.approx(0.9))
    assert report.last_failure == "its text changed while the batch ran"
    fake.look = fake.finish
    assert batch(campaign, fake, prices=PRICES).graded == 1


def test_other_settings_do_not_collect_a_batch(campaign: Campaign, fake: FakeEndpoint) -> None:
    lose_the_answer(campaign, fake)
    with pytest.raises(CampaignError, match="sent with other settings; repeat them to collect it, or choose another"):
        batch(campaign, fake, settings={"template": "nist"})
    assert batch(campaign, fake, settings={"template": "nist"}, name="other").graded == 6


def test_settings_that_change_while_a_batch_runs_do_not_collect_it(campaign: Campaign, fake: FakeEndpoint) -> None:
    def change(made: FakeBatch) -> None:
        with Campaign(campaign.directory) as other:
            other.settings.set_guidelines("New.")
        fake.finish(made)

    fake.look = change
    with pytest.raises(CampaignError, match="sent with other settings"):
        batch(campaign, fake)
    assert under_way(campaign) == [("batch-0", 6)]
    campaign.settings.set_guidelines("")
    fake.look = fake.finish
    assert batch(campaign, fake).graded == 6
    assert len(fake.batches) == 1


def test_a_network_may_be_away_for_a_while(campaign: Campaign, fake: FakeEndpoint) -> None:
    down = iter([Reply("down", 503)] * 3)
    fake.look = lambda made: next(down, None) or fake.finish(made)
    assert batch(campaign, fake).graded == 6
    fake.look = lambda made: Reply("down", 503)
    with pytest.raises(EndpointError, match="HTTP 503: down"):
        batch(campaign, fake, name="other")
    assert under_way(campaign) == [("batch-1", 6)]
    assert FAILURES == 10
    fake.look = fake.finish
    assert batch(campaign, fake, name="other").graded == 6


def test_a_batch_is_cancelled(campaign: Campaign, fake: FakeEndpoint) -> None:
    for unknown in (False, True):
        lose_the_answer(campaign, fake)
        campaign.machine_labels.llm.batches.recover(
            campaign.machine_labels.llm.batches.under_way()[0], ChatEndpoint(fake.url)
        )
        fake.look = keep_waiting
        if unknown:
            fake.batches.clear()
            with pytest.raises(EndpointError, match=r"batch batch-1 of the label set m: .*--cancel-batch forgets"):
                batch(campaign, fake)
        assert batch(campaign, fake, cancel=True).graded == 0
        assert (under_way(campaign), campaign.machine_labels.llm.label_sets.summaries()) == ([], [])
    assert batch(campaign, fake, cancel=True) == LabelReport(0, 0, 0, 0, 0, 0.0, "complete", None, None, left=6)


def test_two_processes_do_not_store_one_batch_twice(campaign: Campaign, fake: FakeEndpoint) -> None:
    lose_the_answer(campaign, fake)
    first = [True]

    def collected_elsewhere(made: FakeBatch) -> None:
        fake.finish(made)
        if first:
            first.clear()
            with Campaign(campaign.directory) as other:
                assert batch(other, fake).graded == 6

    fake.look = collected_elsewhere
    assert batch(campaign, fake).graded == 0
    assert len(rows(campaign)) == 6


def test_a_batch_of_a_sample_is_stored_as_that_sample(campaign: Campaign, fake: FakeEndpoint) -> None:
    """Also if another sample is asked for when it is collected; batches ask for no schema."""
    settings = {"structured": True, "parameters": {"seed": 1}}
    assert batch(campaign, fake, settings=settings).graded == 6
    fake.look = lambda made: Reply("later", 500)  # it is not collected
    with pytest.raises(EndpointError):
        batch(campaign, fake, settings=settings, sample=2)
    fake.look = fake.finish
    assert batch(campaign, fake, settings=settings).graded == 6
    found = campaign.machine_labels.sets.named("m")
    samples = campaign.store.machine_labels.samples(found.key)
    assert samples["sample"].value_counts().to_dict() == {1: 6, 2: 6}
    requests = [request["body"] for made in fake.batches.values() for request in made.requests]
    assert [body["seed"] for body in requests] == [1] * 6 + [2] * 6
    assert not any("response_format" in body for body in requests)
