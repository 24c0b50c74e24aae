"""The judging routes in a literature review: what two blinded screeners learn of each other, and the two stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotate.card.server.document_payload import document_payloads
from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.core.records import Document
from collection.core.review import REASON, Review
from tests.conftest import card_client
from tests.helpers import Opened, decision, post, until, words
from tests.pdf_files import write_pdf

pytestmark = pytest.mark.slow

NOTE = "What ann thinks of it"


def screened(directory: Path, first: int, second: int) -> Campaign:
    """A review with two screeners, of whom ann has decided on two full texts, and bob on none."""
    review = Review("Exercise and falls", screeners=2, include_terms=("random*",))
    campaign = Campaign.create(directory, review=review)
    texts = ("Balance training at home for a year.", "Balance training at home for a month.", "Tai chi in a park.")
    campaign.store.corpus.add_documents(Document(f"r{n}", f"Record {n}", text) for n, text in enumerate(texts))
    for name in ("ann", "bob"):
        for n in range(3):
            campaign.judging.judge(name, "review", f"r{n}", 2)
    campaign.review.full_texts.advance()
    for doc_id, grade in (("r0", first), ("r1", second)):
        answers = {} if grade else {REASON: "Other"}
        campaign.judging.judge("ann", "full-text", doc_id, grade, note=NOTE, answers=answers)
    return campaign


def answers_to_bob(campaign: Campaign) -> list[Any]:
    """What every route answers bob about the full texts, without times and tokens."""
    with card_client(JudgingService(campaign.directory), campaign, "bob", "annotator") as client:
        pair = {"query_id": "full-text", "doc_id": "r0"}
        answers = [
            post(client, "topics"),
            post(client, "sync", query_id="full-text", want=9, recent=True),
            post(client, "document", **pair, said=True),
            post(client, "search", query_id="full-text", words="balance"),
            post(client, "why", **pair),
            post(client, "near", query_id="full-text", doc_ids=["r0", "r1"]),
            post(client, "guidelines"),
            post(client, "adjudication/sync", 403, want=9),
        ]
        history = post(client, "history")
        answers.append([{**each, "judged_at": "", "id": 0} for each in history["entries"]])
        return answers


def test_a_screener_learns_nothing_of_the_other_s_decisions(tmp_path: Path, opened: Opened) -> None:
    seen = []
    for number, grades in enumerate(((2, 2), (0, 1))):
        with screened(tmp_path / str(number), *grades) as campaign:
            campaign.settings.set_loop(explain="terms and runs")
            campaign.people.assignments.update(blind=False)  # what a review with two screeners never is
            assert campaign.settings.assignment().blind
            seen.append(answers_to_bob(campaign))
            for page in ("my-judgements", "overview", "judge"):
                drawn = words(opened(campaign, page, "bob", "annotator"))
                assert NOTE not in drawn
                assert "conflict" not in drawn.lower()
    assert seen[0] == seen[1]
    assert NOTE not in str(seen)
    assert {each["doc_id"] for each in seen[0][1]["documents"]} == {"r0", "r1", "r2"}


def test_conflicts_of_either_stage_come_up_with_both_reasons(tmp_path: Path) -> None:
    with screened(tmp_path / "review", 0, 0) as campaign:
        campaign.store.corpus.add_documents([Document("r3", "Record 3", "Text."), Document("r4", "Record 4", "Text.")])
        for doc_id, grades in {"r3": (0, 2), "r4": (1, 2)}.items():
            for name, grade in zip(("ann", "bob"), grades, strict=True):
                campaign.judging.judge(name, "review", doc_id, grade, answers={} if grade else {REASON: "Other"})
        campaign.judging.judge("bob", "full-text", "r0", 0, answers={REASON: "Wrong outcome"})
        campaign.judging.judge("bob", "full-text", "r1", 0, answers={REASON: "Other"})
        with card_client(JudgingService(campaign.directory), campaign, "eva", "manager") as client:
            units = post(client, "adjudication/sync", want=9)["units"]
            said = {
                (unit["topic"]["query_id"], unit["documents"][0]["doc_id"]): [
                    opinion.get("answers") for opinion in unit["opinions"]
                ]
                for unit in units
            }
            assert said == {
                ("review", "r3"): [{REASON: "Other"}, None],
                ("full-text", "r0"): [{REASON: "Other"}, {REASON: "Wrong outcome"}],
            }
            assert {unit["topic"]["title"] for unit in units} == {
                "Title and abstract: Exercise and falls", "Full text: Exercise and falls",
            }  # fmt: skip
            campaign.review.add_known(["r2"], "eva")
            assert post(client, "adjudication/recent")["decisions"] == []
            made = decision(query_id="full-text", doc_id="r0", kind="graded", relevance=0, answers={REASON: "Other"})
            assert post(client, "adjudication/sync", decisions=[made], want=0)["saved"] == [made["uuid"]]
            assert [each["doc_id"] for each in post(client, "adjudication/recent")["decisions"]] == ["r0"]
        assert campaign.review.decisions.table().loc[0, ["decision", "reason"]].tolist() == ["exclude", "Other"]


def test_full_texts_are_handed_out_once_records_are_included(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls")) as campaign:
        campaign.store.corpus.add_documents([Document("r0", "Record", "Text.", {"doi": "10.1000/x"})])
        with card_client(JudgingService(campaign.directory), campaign, "bob", "annotator") as client:
            assert not sync(client)["documents"]
            campaign.judging.judge("ann", "review", "r0", 2)
            assert [each["no_pdf"] for each in sync(client)["documents"]] == ["https://doi.org/10.1000/x"]


@pytest.mark.long
def test_the_last_title_leads_to_the_full_texts_that_it_makes_due(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls")) as campaign:
        campaign.store.corpus.add_documents([Document("r0", "Record", "Text.")])
        campaign.judging.judge("bob", "review", "r0", 2)
        with card_client(JudgingService(campaign.directory), campaign, "bob", "annotator") as client:
            idle = until(lambda: [got for got in [sync(client, "review")] if "next" in got], "the end of the titles")
            assert idle[0]["next"] == "full-text"
            stages = [each["stage"] for each in post(client, "topics")["topics"]]
            assert stages == ["Title and abstract", "Full text"]


def sync(client: TestClient, stage: str = "full-text") -> dict[str, Any]:
    return post(client, "sync", query_id=stage, want=3)


def test_pages_of_a_pdf_file_are_those_of_the_full_text_stage(tmp_path: Path) -> None:
    with screened(tmp_path / "review", 2, 2) as campaign:
        path = tmp_path / "a.pdf"
        path.write_bytes(write_pdf(["text"]))
        campaign.review.full_texts.attach(path, "r0")
        documents = list(campaign.store.corpus.documents(["r0", "r1"]).values())
        first, second = (document_payloads(campaign, documents, stage) for stage in ("review", "full-text"))
        assert [sorted({"pdf", "no_pdf"} & set(each)) for each in (*first, *second)] == [[], [], ["pdf"], ["no_pdf"]]


@pytest.mark.long
def test_a_pdf_file_reaches_the_records_that_a_card_holds(tmp_path: Path) -> None:
    with screened(tmp_path / "review", 2, 2) as campaign:
        campaign.judging.judge("bob", "full-text", "r0", 0, answers={REASON: "Other"})
        path = tmp_path / "a.pdf"
        path.write_bytes(write_pdf(["text"]))
        with (
            card_client(JudgingService(campaign.directory), campaign, "bob", "annotator") as client,
            card_client(JudgingService(campaign.directory), campaign, "ann", "manager") as manager,
        ):
            cards = [
                (client, "sync", {"query_id": "full-text", "holding": ["r1"]}),
                (manager, "adjudication/sync", {"holding": ['["full-text", "r0"]']}),
            ]
            before = [post(card, route, **holds, version="none")["version"] for card, route, holds in cards]
            for (card, route, holds), version in zip(cards, before, strict=True):
                assert "changed" not in post(card, route, **holds, version=version)
            for doc_id in ("r0", "r1"):
                campaign.review.full_texts.attach(path, doc_id)
            for (card, route, holds), version in zip(cards, before, strict=True):
                (held,) = post(card, route, **holds, version=version)["changed"]
                assert held["query_id"] == "full-text"
                assert held["pdf"]["pages"] == 1
            campaign.review.full_texts.detach(["r1"])
            (held,) = post(client, "sync", **cards[0][2], version=before[0])["changed"]
            assert "no_pdf" in held


def test_a_record_without_an_abstract_says_so(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls")) as campaign:
        campaign.store.corpus.add_documents([Document("r0", "Record", ""), Document("r1", "Record", "Text.")])
        documents = list(campaign.store.corpus.documents(["r0", "r1"]).values())
        payloads = document_payloads(campaign, documents, "review")
        assert [each.get("no_text") for each in payloads] == ["No abstract", None]


def test_other_campaigns_get_the_same_payloads_as_before(campaign: Campaign) -> None:
    documents = list(campaign.store.corpus.documents(["d1"]).values())
    (payload,) = document_payloads(campaign, documents, "1")
    assert "no_pdf" not in payload
