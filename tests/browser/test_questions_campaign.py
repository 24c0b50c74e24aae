"""A campaign with three further questions in the browser: two annotators by keys, and a manager who adjudicates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.campaign.settings.settings import read_questions_file
from collection.core.questions import Question
from collection.core.records import Answer, Document, Topic
from tests.browser.serving import Serving, open_card, saved, sent, sign_in
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

SIZE = 8
QUESTIONS = [
    Question(
        "credibility",
        "How credible is this page?",
        "grades",
        {grade: f"{label}: credible to that extent" for grade, label in enumerate(("Not", "Little", "Rather", "Very"))},
        asked_from=1,
    ),
    Question(
        "exclusion",
        "Why is it excluded?",
        "choice",
        {f"reason{n}": f"Reason {n}: one of seven" for n in range(1, 8)},
        asked_to=0,
    ),
    Question("tags", "Which of these apply?", "tags", {"review": "Review", "protocol": "Protocol"}, required=False),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with eight pairs that two annotators judge, and three of another topic that dan has judged."""
    directory = tmp_path_factory.mktemp("questions") / "campaign"
    documents = [f"d{number}" for number in range(SIZE)]
    with Campaign.create(directory, title="Health") as campaign:
        texts = [Document(d, f"Page {d}", f"What the page {d} says of sleep.") for d in documents]
        topics = [Topic("1", "sleep and health"), Topic("2", "sleep and work")]
        put(campaign, topics, texts, {"run": {"1": documents, "2": documents[:3]}})
        campaign.people.pools.add("depth", depth=SIZE)
        campaign.people.assignments.update(annotators=2)
        campaign.settings.set_questions(QUESTIONS)
        for number, doc_id in enumerate(documents[:3]):
            campaign.judging.judge("dan", "2", doc_id, number, answers=said_by(number, False)[1], note=f"of {number}")
    return (directory,)


def said_by(number: int, second: bool) -> tuple[int, dict[str, Answer], list[str]]:
    """The grade and answers of an annotator on a document, and the keys that give them; the second differs on some."""
    grade = (number + (second and number == 3)) % 4
    answers: dict[str, Answer] = {}
    keys = [str(grade)]
    if grade:
        credibility = (number + (second and number == 6)) % 4
        answers["credibility"] = credibility
        keys.append(str(credibility))
    else:
        answers["exclusion"] = f"reason{number % 7 + 1}"
        keys.append(str(number % 7 + 1))
    if number % 2 or (second and number == 0):
        answers["tags"] = ("protocol",)
        keys.append("2")
    return grade, answers, [*keys, "Enter"]


def decisions(log: pd.DataFrame) -> dict[str, tuple[int, dict[str, Answer]]]:
    """The grade and answers of each document."""
    rows = zip(log["doc_id"], log["relevance"], log["answers"], strict=True)
    return {doc_id: (int(relevance), dict(answers)) for doc_id, relevance, answers in rows}


def press_all(page: Page, shown: str, keys: Callable[[int], list[str]], count: int) -> list[int]:
    """Answer all documents by keys; the numbers of the documents in their order."""
    order: list[int] = []
    for _ in range(count):
        place = page.locator(shown)
        expect(place).not_to_be_empty()
        document = place.inner_text()
        order.append(int(document.removeprefix("d")))
        for key in keys(order[-1]):
            page.keyboard.press(key)
        expect(page.locator(shown).filter(has_text=document)).to_have_count(0)
    return order


def test_answers_of_two_annotators_and_their_adjudication_are_in_the_log(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    shown = "[data-part=document]:not([hidden]) [data-part=doc-id]"
    for name, second in (("ben", False), ("cai", True)):
        page = open_card(make_window(), serving, name, "1")
        order = press_all(page, shown, lambda number: said_by(number, second)[2], SIZE)  # noqa: B023
        saved(page)
        with Campaign(serving.directory) as campaign:
            log = decisions(campaign.store.judgements.table(annotator=name))
        assert log == {f"d{number}": said_by(number, second)[:2] for number in order}

    page = sign_in(make_window(), serving)
    page.goto(f"{serving.url}/adjudicate")
    shown = "[data-part=document]:not([hidden]) [data-name=id]"
    expect(page.locator(shown)).not_to_be_empty()
    expect(page.locator("[data-part=opinion-list]")).to_contain_text("tags: Protocol")
    with Campaign(serving.directory) as campaign:
        differing = {int(doc_id.removeprefix("d")) for doc_id in campaign.judging.adjudication.queue()["doc_id"]}
    assert 3 in differing  # on which the grades differ

    def keys(number: int) -> list[str]:
        """What the second annotator has pressed, save for tags on which both agree: those are selected already."""
        (_, first, _), (_, second, pressed) = said_by(number, False), said_by(number, True)
        agree = "tags" in first and first["tags"] == second.get("tags")
        return [*pressed[:-2], "Enter"] if agree else pressed

    order = press_all(page, shown, keys, len(differing))
    assert set(order) == differing
    sent(page)
    with Campaign(serving.directory) as campaign:
        log = decisions(campaign.store.judgements.table().query("counts_as == 'adjudication'"))
    assert log == {f"d{number}": said_by(number, True)[:2] for number in differing}


def test_judgements_that_lack_a_new_answer_come_back_and_open_at_it(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    effort = Question("effort", "How much effort does it ask for?", "grades", dict.fromkeys(range(13), "x"), again=True)
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_questions([effort, *QUESTIONS])
    page = open_card(make_window(), serving, "dan", "2")
    shown = "[data-part=document]:not([hidden]) [data-part=doc-id]"
    expect(page.locator(".cd-asked .cd-current")).to_contain_text("How much effort does it ask for?")
    expect(page.locator("[data-part=note-words]")).to_have_text("of 0")
    press_all(page, shown, lambda number: ["1", str(number)], 3)
    saved(page)
    with Campaign(serving.directory) as campaign:
        log = campaign.store.judgements.table(annotator="dan")
    assert decisions(log) == {f"d{n}": (n, {**said_by(n, False)[1], "effort": 10 + n}) for n in range(3)}
    assert log["note"].tolist() == ["of 0", "of 1", "of 2"]


def test_a_manager_adds_a_question_on_the_page_and_takes_the_file(
    serving: Serving, make_window: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_questions(QUESTIONS)
    page = sign_in(make_window(), serving)
    page.goto(f"{serving.url}/judging-page")
    page.get_by_role("button", name="Add question").click()
    page.get_by_label("Name", exact=True).fill("style")
    page.get_by_label("Question", exact=True).fill("How well is it written?")
    page.get_by_label("Answers", exact=True).fill("0: Badly\n1: Well: without errors")
    page.get_by_text("Hand out judgements without an answer again").click()
    page.get_by_role("button", name="Save question").click()
    expect(page.get_by_text("style: one grade of 0 · Badly / 1 · Well; asked at every grade; required")).to_be_visible()
    style = Question("style", "How well is it written?", "grades", {0: "Badly", 1: "Well: without errors"}, again=True)
    with Campaign(serving.directory) as campaign:
        assert campaign.settings.questions() == (*QUESTIONS, style)
    page.get_by_text("Questions as a file").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download questions.json").click()
    download.value.save_as(tmp_path / "questions.json")
    assert read_questions_file(tmp_path / "questions.json") == (*QUESTIONS, style)
    page.locator(".st-key-remove-style").get_by_role("button").click()
    expect(page.get_by_text("style: one grade of")).to_have_count(0)
    with Campaign(serving.directory) as campaign:
        assert campaign.settings.questions() == tuple(QUESTIONS)
