"""Tasks of generated answers in the browser: their cards, chosen in the menu, judged by several people, adjudicated."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.records import Document, Judgement, Topic
from tests.browser.serving import (
    Serving,
    acknowledging,
    choose_page,
    kill_while_judging,
    press_in_turn,
    ready,
    saved,
    sign_in,
)
from tests.browser.waiting import wait
from tests.helpers import add_answers, put

pytestmark = [pytest.mark.browser, pytest.mark.long]


RAIN = "It rains on the plain. "
BEST, SECOND = "The rag says it.", "A rag."


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Four answers with two nuggets each, and a long document among those that they cite, for several annotators."""
    directory = tmp_path_factory.mktemp("answers") / "campaign"
    long = f"{RAIN * 300}{SECOND} {RAIN * 300}{BEST} {RAIN * 300}"
    with Campaign.create(directory, title="Wings") as campaign:
        put(
            campaign,
            [Topic("1", "wing lift"), Topic("2", "heat flow")],
            [Document("d1", "Lift", "Air lifts wings."), Document("d2", "Rain", long)],
        )
        add_answers(campaign)
        for query_id in ("1", "2"):
            for text in ("Air is fast.", "Pressure falls."):
                campaign.answers.nuggets.add(query_id, text, annotator="ann")
        for name in (NUGGET_ASSIGNMENT, SUPPORT):
            campaign.answers.tasks.prepare(name)
            with campaign.answers.tasks.open(name) as task:
                task.people.assignments.update(annotators=4)
    return (directory,)


@pytest.fixture
def judge(serving: Serving, make_window: Callable[..., BrowserContext]) -> Callable[[str, str], Page]:
    """Opens the card of a task for an annotator."""

    def opened(task: str, name: str) -> Page:
        page = sign_in(make_window(), serving, name, "annotator")
        page.goto(f"{serving.url}/judge?task={task}")
        ready(page)
        return page

    return opened


INK = """() => {
  const numbers = [...document.querySelectorAll(".stVegaLiteChart .role-mark.mark-text text")];
  const inks = numbers.map(each => getComputedStyle(each).fill).filter(each => each !== "rgb(255, 255, 255)");
  return inks.length > 0 && inks.every(each => each === getComputedStyle(document.querySelector(".stApp")).color);
}"""
"""Whether all numbers of a heat map that are not white on dark cells have the colour of the page's text."""


def in_task(page: Page, label: str) -> None:
    """Choose a task in the menu."""
    page.get_by_test_id("stSidebar").get_by_text(label, exact=True).click()


def test_two_people_assign_nuggets_and_a_manager_adjudicates(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    for name, last in (("bob", "20"), ("cat", "21")):
        page = sign_in(make_window(), serving, name, "annotator")
        page.goto(f"{serving.url}/")
        in_task(page, "Nugget assignment")
        expect(page.get_by_role("heading", name="Nugget assignment")).to_be_visible()
        choose_page(page, "Judge")
        ready(page)
        assert page.url.endswith("/judge?task=nugget-assignment")
        page.reload()  # the task is in the address
        ready(page)
        expect(page.locator("[data-part=grades]")).to_contain_text("Partly in the answer")
        expect(page.locator("[data-part=topic]")).to_contain_text("in this answer")
        for number, keys in enumerate(("20", "20", last, last), start=1):
            press_in_turn(page, keys)
            expect(page.locator("[data-part=all-count]")).to_have_text(f"{2 * number} of 8")
            saved(page)
            page.keyboard.press("n")
    with Campaign(serving.directory) as campaign, campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.counts()["judgements"] == 16
        assert campaign.store.judgements.table().empty

    page = sign_in(make_window(), serving, "ann")
    page.goto(f"{serving.url}/agreement?task=nugget-assignment")
    expect(page.get_by_test_id("stMain")).to_contain_text("Krippendorff")
    wait(page, INK, "numbers of the heat map in the colour of the page's text")
    page.emulate_media(color_scheme="dark")
    wait(page, INK, "numbers of the heat map in the colour of the text of the other theme")
    choose_page(page, "Adjudicate")
    place = page.locator("[data-part=document]:not([hidden]) [data-name=id]")
    expect(place).not_to_be_empty()
    expect(page.locator("[data-part=topic-title]")).to_have_text(re.compile("wing lift|heat flow"))
    expect(page.locator("[data-part=topic-title]")).to_be_visible()
    for number in (1, 2):  # the second one is of another answer, and needs no other key
        page.keyboard.press("1")
        expect(page.locator("[data-part=all-count]")).to_have_text(f"{number} of 2")
    saved(page)
    with Campaign(serving.directory) as campaign, campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.table().query("counts_as == 'adjudication'")["relevance"].tolist() == [1, 1]
        assert len(task.results.qrels.build()) == 8


def test_pages_of_the_campaign_stay_and_people_are_those_of_all_tasks(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    page = sign_in(make_window(), serving, "ann")
    page.goto(f"{serving.url}/?task={SUPPORT}")
    menu = page.get_by_test_id("stSidebarNav")
    expect(page.get_by_role("heading", name="Support")).to_be_visible()
    expect(page.get_by_role("heading", name="Sentences")).to_be_visible()
    expect(menu.get_by_role("link", name="Pool", exact=True)).to_have_count(0)
    choice, first = page.get_by_role("radiogroup", name="Task"), menu.get_by_role("link", name="Overview", exact=True)
    above, below = choice.bounding_box(), first.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"], "the choice of the task is above the menu"
    choose_page(page, "People")
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    choose_page(page, "Overview")
    page.get_by_role("button", name="Update answers and citations").click()
    expect(page.get_by_text("0 citations added to the task.")).to_be_visible()
    in_task(page, "Documents")
    expect(page.get_by_role("heading", name="Wings")).to_be_visible()
    expect(menu.get_by_role("link", name="Pool", exact=True)).to_have_count(1)
    expect(page.get_by_test_id("stMain")).to_contain_text("To judge the 6 generated answers")
    assert page.url == f"{serving.url}/"


def test_keys_act_right_after_the_task_was_chosen(judge: Callable[[str, str], Page]) -> None:
    page = judge(NUGGET_ASSIGNMENT, "dan")
    in_task(page, "Support")
    expect(page.get_by_role("button", name="No support")).to_be_visible()
    ready(page)
    page.keyboard.press("m")
    expect(page.get_by_role("textbox", name="Note")).to_be_focused()


def test_a_nugget_stands_beside_its_answer_and_the_sentence_with_it_is_marked(
    serving: Serving, judge: Callable[[str, str], Page]
) -> None:
    page = judge(NUGGET_ASSIGNMENT, "dan")
    nugget, text = page.locator("[data-part=nugget-text]"), page.locator("[data-part=text]")
    pressed = text.locator("button[aria-pressed=true]")
    expect(nugget).to_have_text("Air is fast.")
    expect(page.get_by_role("region", name="Answer", exact=True)).to_contain_text("says 1 on 1.")
    expect(page.locator("[data-part=asked-of-title]")).to_have_text("wing lift")
    expect(text.get_by_role("button", name="Mark sentence 2")).to_be_visible()
    for key in ("p", "ArrowDown", "p"):
        page.keyboard.press(key)
    expect(pressed).to_have_text(["2"])
    page.keyboard.press("2")
    expect(nugget).to_have_text("Pressure falls.")
    expect(pressed).to_have_count(0)
    listed = page.locator("[data-part=nugget-list] li")
    expect(listed).to_have_text(["2Air is fast.", "Pressure falls."])
    expect(page.locator("[data-part=nugget-list] [aria-current]")).to_have_text("Pressure falls.")
    page.keyboard.press("u")
    expect(nugget).to_have_text("Air is fast.")
    expect(pressed).to_have_text(["2"])
    text.get_by_role("button", name="Mark sentence 1").click()
    expect(pressed).to_have_text(["1", "2"])
    page.keyboard.press("2")
    expect(nugget).to_have_text("Pressure falls.")
    listed.get_by_role("button").click()
    expect(nugget).to_have_text("Air is fast.")
    expect(pressed).to_have_text(["1", "2"])
    page.set_viewport_size({"width": 390, "height": 780})
    expect(nugget).to_be_in_viewport(ratio=1)
    expect(listed.first).to_be_hidden()
    saved(page)
    with Campaign(serving.directory) as campaign, campaign.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        log = task.store.judgements.table(annotator="dan")
        assert log["relevance"].tolist() == [2]
        answer = task.store.corpus.topic_words([log["query_id"][0]])[log["query_id"][0]]["description"]
        quotes = [quote["text"] for quote in task.corpus.view.quoted(log)["passages"][0]]
        assert quotes == answer.split("\n")


ACCENT = """node => {
  const {borderLeftWidth, borderRightWidth} = getComputedStyle(node.parentElement);
  return [borderLeftWidth, borderRightWidth];
}"""
"""Widths of the line beside a sentence, at its left and its right."""

BELOW = """() => {
  const marked = [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])
    .concat(document).map((root) => root.querySelector("[data-part=around] [aria-current]")).find(Boolean);
  const sentence = marked.getRootNode().querySelector("[data-part=topic-title]").closest("h2");
  return Math.abs(marked.getBoundingClientRect().top - sentence.getBoundingClientRect().bottom) < 2;
}"""
"""Whether the marked sentence of an answer is right below itself above the answer."""


def test_a_sentence_stands_in_its_answer_beside_the_document_that_it_cites(judge: Callable[[str, str], Page]) -> None:
    page = judge(SUPPORT, "dan")
    around, marked = page.locator("[data-part=around]"), page.locator("[data-part=around] [aria-current]")
    current = page.locator("[data-part=topic-title]")
    expect(around).to_contain_text("says 0 on 1.")
    expect(around).to_contain_text("says 1 on 1.")
    expect(current).to_contain_text("says 0 on 1.")
    expect(marked).to_contain_text("says 0 on 1.")
    expect(page.locator("[data-part=text]")).to_have_text("Air lifts wings.")
    expect(page.locator("[data-part=cannot-judge]")).to_have_text("xCannot tell")
    expect(page.locator("[data-do=search]")).to_be_hidden()
    assert current.evaluate(ACCENT) == ["4px", "0px"]
    assert current.evaluate(f"node => {{ node.textContent = 'הכנף'; return ({ACCENT})(node); }}") == ["0px", "4px"]
    current.evaluate("node => { node.textContent = 'says 0 on 1.'; }")
    around.locator("span").evaluate_all(
        "spans => spans.forEach((span) => (span.style = 'display: block; height: 60em'))"
    )
    expect(page.locator("[data-part=topic-title-ahead]")).to_contain_text("says 1 on 1.")  # laid out, out of sight
    page.keyboard.press("2")
    expect(current).to_contain_text("says 1 on 1.")  # the next sentence of the answer begins at once
    expect(marked).to_contain_text("says 1 on 1.")
    wait(page, BELOW, "the marked sentence right below itself, however far down it is in its answer")
    saved(page)
    page.keyboard.press("ArrowLeft")
    expect(current).to_contain_text("says 0 on 1.")
    page.keyboard.press("u")
    expect(page.locator("[data-part=all-count]")).to_contain_text("0 of")


IN_SIGHT = """words => {
  const [range] = CSS.highlights.get("cd-best") ?? [];
  if (!range?.startContainer.data.slice(range.startOffset, range.endOffset).includes(words)) return false;
  const live = document.createRange();
  live.setStart(range.startContainer, range.startOffset);
  live.setEnd(range.endContainer, range.endOffset);
  const { top, bottom } = live.getBoundingClientRect();
  return top > 0 && bottom < innerHeight;
}"""
"""Whether the highlighted passage has these words and is in sight."""


def test_a_long_cited_document_opens_at_its_best_passage(judge: Callable[[str, str], Page]) -> None:
    page = judge(SUPPORT, "fay")
    count, following = page.locator("[data-part=best-words]"), page.get_by_role("button", name="Next passage")

    def require(words: str, counted: str) -> None:
        expect(count).to_have_text(counted)
        wait(page, IN_SIGHT, f"a passage with {words!r} in sight", words)

    expect(count).to_be_hidden()  # a short document has no passages
    for _ in range(2):
        page.keyboard.press("2")
    require(BEST, "Passage 1 of 2")
    page.keyboard.press("z")
    require(SECOND, "Passage 2 of 2")
    page.keyboard.press("e")  # the rest is folded, never missing
    expect(page.locator("[data-part=text]")).to_contain_text(RAIN * 200)
    following.click()
    require(BEST, "Passage 1 of 2")
    page.keyboard.press("z")
    require(SECOND, "Passage 2 of 2")
    page.set_viewport_size({"width": 390, "height": 780})
    expect(following).to_be_in_viewport(ratio=1)
    page.keyboard.press("z")
    require(BEST, "Passage 1 of 2")


@pytest.mark.parametrize(
    ("task", "current"),
    [(NUGGET_ASSIGNMENT, "[data-part=nugget-text]"), (SUPPORT, "[data-part=topic-title]")],
)
def test_nothing_acknowledged_in_a_task_is_lost_when_the_server_is_killed(
    serving: Serving, judge: Callable[[str, str], Page], task: str, current: str
) -> None:
    page = judge(task, "gil")
    with acknowledging(page) as acknowledged:
        kill_while_judging(page, serving, "21", page.locator(current))
    with Campaign(serving.directory) as campaign, campaign.answers.tasks.open(task) as inner:
        log = inner.store.judgements.table(current=False, annotator="gil")
    assert acknowledged <= set(log["uuid"])
    assert log["relevance"].tolist() == [2, 1]
    assert len(log[["query_id", "doc_id"]].drop_duplicates()) == 2


def test_a_sentence_is_adjudicated_in_its_answer(serving: Serving, make_window: Callable[..., BrowserContext]) -> None:
    with Campaign(serving.directory) as campaign, campaign.answers.tasks.open(SUPPORT) as task:
        pool = task.store.pool.pairs()
        query_id, doc_id = pool.loc[pool["query_id"].str.endswith(".s1"), ["query_id", "doc_id"]].iloc[0]
        for annotator, grade in (("hal", 0), ("ida", 2)):
            task.judging.write(Judgement(f"{annotator}-1", annotator, query_id, doc_id, "graded", grade))
    page = sign_in(make_window(), serving, "ann")
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(f"{serving.url}/adjudicate?task={SUPPORT}")
    sentence, around = page.locator("[data-part=topic-title]"), page.locator("[data-part=around]")
    expect(sentence).not_to_be_empty()
    expect(around.locator("[aria-current]")).to_have_text(sentence.inner_text())
    page.keyboard.press("1")
    saved(page)
    assert failures == []
