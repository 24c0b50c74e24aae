"""Documents in a real browser: the text of drawn Markdown, and pages that print documents of every form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from collection import Campaign
from collection.documents.rendering import markup
from tests.browser.serving import Serving, sign_in
from tests.collection.campaign.corpus.test_images import PNG
from tests.collection.documents.test_rendering import EVIL, NASTY

pytestmark = [pytest.mark.browser, pytest.mark.long]

DRAWN = """html => {
    const node = document.createElement("div");
    document.body.replaceChildren(node);
    node.innerHTML = html;
    return [node.textContent, node.querySelectorAll("script, img, iframe, svg, style, [onerror]").length];
}"""


def test_the_text_of_markdown_is_what_a_browser_has(context: BrowserContext) -> None:
    page = context.pages[0]
    for text in [*NASTY, *EVIL, "\n\n".join(NASTY), "> " + "- a\n" * 50]:
        html, words = markup.render(text)
        assert page.evaluate(DRAWN, html) == [words, 0]


HTML = (
    "<!doctype html><title>The page</title><h1>Wings</h1><script>window.done = 1</script>"
    "<img src=x onerror='window.done = 2' alt='A wing'><svg onload='window.done = 3'></svg>"
    "<p>First &lt;b&gt; part.<p onmouseover='window.done = 4'>Second."
)
MARKDOWN = (
    "# Heading\n\n**Bold** text <img src=x onerror='window.done = 5'>\n\n[link](https://example.org) "
    "[bad](javascript:window.done=6)\n\n![A picture](https://example.org/x.png)"
)
DOCUMENTS = [
    {"doc_id": "page", "text": HTML},
    {"doc_id": "words", "text": MARKDOWN, "format": "markdown"},
    {"doc_id": "lines", "text": "a   b\n<script>window.done = 7</script>\n  c", "format": "preformatted"},
    {"doc_id": "plain", "text": "<img src=x onerror='window.done = 8'> *stars* [x](javascript:window.done=9)"},
    {"doc_id": "drawn", "images": [{"src": "a.png", "alt": "\"><img src=x onerror='window.done = 10'>"}]},
    {"doc_id": "linked", "images": ["https://images.example.org/a.png"]},
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with a document of every form, each judged by ann and by ben, who differ."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "a.png").write_bytes(PNG)
    (folder / "documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in DOCUMENTS))
    (folder / "topics.tsv").write_text("1\twings\n")
    run = "".join(f"1 Q0 {d['doc_id']} {i} {9 - i} a\n" for i, d in enumerate(DOCUMENTS))
    (folder / "a.run").write_text(run)
    directory = folder / "campaign"
    with Campaign.create(directory) as campaign:
        documents, topics, runs = [folder / "documents.jsonl"], folder / "topics.tsv", [folder / "a.run"]
        campaign.imports.import_files(documents=documents, topics=topics, runs=runs)
        campaign.people.pools.add("depth", depth=10)
        campaign.people.assignments.update(annotators=2)
        for annotator, grade in (("ann", 3), ("ben", 0)):
            for document in DOCUMENTS:
                doc_id = str(document["doc_id"])
                campaign.judging.judge(annotator, "1", doc_id, grade)
    return (directory,)


@pytest.fixture
def page(context: BrowserContext, serving: Serving) -> Iterator[Page]:
    """Signed in as ann, who manages."""
    page = sign_in(context, serving)
    yield page
    assert page.evaluate("window.done") is None, "something of a document was executed"


def test_the_adjudicate_page_shows_every_form(page: Page, serving: Serving) -> None:
    """It shows each document in turn."""
    asked: list[str] = []

    def heard(request: Request) -> None:
        asked.append(request.url)

    page.on("request", heard)
    page.goto(f"{serving.url}/adjudicate")
    document = page.locator("[data-part=document]:not([hidden])")
    known = {
        "page": document.get_by_text("Second."),
        "words": document.locator("strong", has_text="Bold"),
        "lines": document.get_by_text("window.done = 7"),
        "plain": document.get_by_text("*stars*"),
        "drawn": document.locator("img"),
        "linked": document.locator(".cd-picture-link a", has_text="images.example.org"),
    }
    for shown in DOCUMENTS:
        name = str(shown["doc_id"])
        expect(document.locator("[data-name=id]")).to_have_text(name)
        expect(known[name].first).to_be_visible()
        if name == "page":
            expect(document.get_by_text("[A wing]")).to_be_visible()
            expect(document.get_by_text("The page", exact=True)).to_be_visible()
        if name == "words":
            links = document.locator(".cd-text a").evaluate_all("found => found.map(a => [a.href, a.target, a.rel])")
            assert links == [["https://example.org/", "_blank", "noopener noreferrer"]]
        if name == "drawn":
            assert known[name].evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
        page.keyboard.press("s")
    page.remove_listener("request", heard)
    assert not [url for url in asked if not url.startswith(serving.url) and "example.org" in url]
