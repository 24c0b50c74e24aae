"""Hostile names, titles and notes where they are written: Markdown, LaTeX, terminals."""

import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from collection import Campaign
from collection.campaign.exports.collection_card import CollectionChoices
from collection.comparison.tables import escaped_latex
from collection.core.characters import (
    escaped_markdown,
    for_terminal,
    is_web_address,
    markdown_code,
    natural_key,
    require_writable,
    sanitised_markdown,
)
from collection.core.errors import InputError
from collection.export import card
from tests.collection.export.test_export import say
from tests.conftest import small_campaign, write_files
from tests.helpers import tries

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
EVIL = (
    "``<script>alert(1)</script>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "safe_\u202egnp.exe",
    "| a | b |\n|---|---|\n",
    "```\n# Forged",
    "[x]: javascript:alert(1)\n\n[x]",
    "\\![x](http://evil.example)\\<img src=x>",
    "&#60;script&#62;&#8238;",
    "</blockquote><script>",
    "<http://evil.example>",
    "\x1b]0;owned\x07",
)
hostile = st.lists(
    st.sampled_from([*EVIL, *"\\`*_{}[]()<>#+-.!|~$&:;='\"/ \n\r\t=x1", "http://", "www.", "&#x202e;", *BIDI]),
    max_size=12,
).map("".join)
"""Text of what Markdown, HTML and terminals read as commands."""

# HTML as most places that show Markdown allow it.
RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not any(name.startswith("on") for name, _ in attrs), attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", EVIL)
def test_a_value_in_markdown_is_text_and_nothing_else(text: str) -> None:
    page = Elements(RENDERER.render(f"Run: {escaped_markdown(text)} end"))
    assert page.found == ["p"]
    assert not re.search(f"[{BIDI}]", page.text)


@pytest.mark.slow
@tries(300)
@given(hostile)
def test_no_value_is_markup_in_a_line_a_paragraph_or_a_table(text: str) -> None:
    value = escaped_markdown(text)
    for markdown, elements in (
        (f"# {value}", {"h1"}),
        (value, {"p"}),
        (f"- {value}", {"ul", "li", "p"}),
        (f"| a | b |\n|---|---|\n| {value} | {value} |", {"table", "thead", "tbody", "tr", "th", "td"}),
    ):
        page = Elements(RENDERER.render(markdown))
        assert set(page.found) <= elements
        assert page.found.count("td") in (0, 2)
    said = " ".join(re.sub(f"[{BIDI}]", "", re.sub("[\x00-\x1f]", " ", text)).split())
    assert Elements(RENDERER.render(value)).text.rstrip("\n") == said  # nothing is lost, and nothing is added


@tries(200)
@given(hostile)
def test_a_code_span_holds_any_text(text: str) -> None:
    page = Elements(RENDERER.render(f"Rule: {markdown_code(text)} end"))
    assert set(page.found) <= {"p", "code"}


@tries(300)
@given(hostile)
@example("![x][y]\n\n[y]: http://evil.example/x.png")
@example("[a][b]\n\n[b]:\njavascript:alert(1)")
@pytest.mark.slow
def test_sanitised_markdown_loads_nothing_and_runs_nothing(text: str) -> None:
    page = Elements(RENDERER.render(sanitised_markdown(text)))
    assert not {"script", "img", "iframe", "svg", "object"} & set(page.found)
    assert all(re.match("https?://|mailto:", link) for link in page.links), page.links
    assert not re.search(f"[{BIDI}]", page.text)


def test_ordinary_names_and_guidelines_stay_as_they_are() -> None:
    for name in ("BM25 + RM3", "splade-v3", "nDCG@10", "Wings, 2nd edition (1.0)", "0.512", "-0.5", "Zürich – 東京"):
        assert escaped_markdown(name) == name
    text = "# Relevant\n\n- **Yes**: a < b\n- see [the guide](https://example.org/a_(b))\n\n| a |\n|---|\n| `x` |"
    assert sanitised_markdown(text) == text


@pytest.mark.parametrize("text", ["javascript:alert(1)", "ftp://a", "https://a b", "https://a>", "http://", "a\u202eb"])
def test_no_other_address_is_a_web_address(text: str) -> None:
    assert not is_web_address(text)


def test_latex_has_no_control_characters() -> None:
    assert escaped_latex("run\x1b]0;a\x07_\u202egnp\n") == r"run\textbackslash{}x1b]0;a\textbackslash{}x07\_gnp"


@tries(200)
@given(st.text())
def test_a_terminal_gets_no_control_characters(text: str) -> None:
    cleaned = for_terminal(text)
    assert not re.search(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{BIDI}]", cleaned)
    cleaned.encode()
    assert for_terminal(cleaned) == cleaned


@pytest.mark.parametrize("value", ["\ud800", "a\x00", ["a", {"b": "\udfff"}], {"\ud800": 1}, ("x", ["\x00"])])
def test_what_cannot_be_written_is_found_at_any_depth(value: Any) -> None:
    with pytest.raises(InputError, match=r"^title: expected text that can be written as UTF-8, found"):
        require_writable(value, "title")
    require_writable({"a": ["ü", 1, None, 2.5, b"\x00"]}, "title")


# --- the card of a collection ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A collection with every part of the card."""
    folder = tmp_path_factory.mktemp("card")
    with small_campaign(folder / "campaign", write_files(folder / "files")) as campaign:
        say(campaign, "zoe", "1 d1 3, 1 d2 0, 1 d6 1, 2 d4 2")
        say(campaign, "ann", "1 d1 3, 1 d2 1, 1 d6 1, 2 d4 2, 2 d5 0")
        campaign.settings.set_guidelines("# Relevant\n\nIs what answers.")
        found = campaign.exports.collection.write(
            folder / "c", CollectionChoices(with_runs=True, name_annotators=True)
        ).facts
    assert all(found[part] for part in ("agreement", "recall", "files", "runs", "judging"))
    return found


def poisoned(facts: dict[str, Any], text: str) -> dict[str, Any]:
    """The facts with this text wherever somebody else may have written one."""
    facts = copy.deepcopy(facts)
    facts |= dict.fromkeys(("title", "description", "licence", "citation", "url", "guidelines"), text)
    facts["grades"] = dict.fromkeys(facts["grades"], text)
    facts["rule"]["rule"] = f"annotator({text})"
    facts["qrels"]["without_relevant"] = [text]
    for annotator in facts["judging"]["annotators"]:
        annotator["annotator"] = text
    facts["agreement"]["notes"] = [text]
    for row in facts["recall"]["per_topic"]:
        row["query_id"] = text
    for run in facts["runs"]:
        run["run"] = text
    for made in facts["pool"]["rounds"]:
        made["parameters"] = {"annotator": text}
    for file in facts["files"]:
        file["path"] = f"runs/{text}"
    return facts


@pytest.mark.slow
@tries(60)
@given(text=hostile)
@example(text="``<script>alert(1)</script>")
@example(text="![x](http://evil.example/x.png)")
@example(text="```\n# Forged")
@example(text="http://![x](http://evil.example/x.png)")
def test_nothing_in_the_card_of_a_collection_is_executed_or_loaded(facts: dict[str, Any], text: str) -> None:
    written = card(poisoned(facts, text))
    page = Elements(RENDERER.render(written))
    assert not {"script", "img"} & set(page.found)
    own = written.partition("\n## Annotation guidelines")[0]
    # The collection's address is the one text that is meant to be a link.
    assert Elements(RENDERER.render(own)).found.count("a") == is_web_address(text)
    assert all(re.match("https?://|mailto:", link) for link in page.links)
    assert not re.search(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{BIDI}]", written)
    # The card's own headings, and no other: no value ends or begins a section.
    headings = re.findall("^## .*", card(facts), re.M)
    assert re.findall("^## .*", own, re.M) == [h for h in headings if "guidelines" not in h]


def test_the_address_of_a_collection_is_on_the_web(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c") as campaign:
        with pytest.raises(InputError, match="expected an address that begins with http:// or https://"):
            campaign.settings.set_collection(url="javascript:alert(1)")
        assert campaign.settings.collection().url == ""
        assert campaign.settings.set_collection(url="https://example.org/wings").url == "https://example.org/wings"


@pytest.mark.slow
def test_the_card_links_to_the_address_and_keeps_the_paragraphs(facts: dict[str, Any]) -> None:
    written = card(facts | {"url": "https://example.org/wings", "description": "One.\n\nTwo *stars*."})
    page = Elements(RENDERER.render(written))
    assert page.links == ["https://example.org/wings"]
    assert "\nOne.\n\nTwo \\*stars\\*.\n" in written


def test_numbers_in_names_sort_by_size_however_long() -> None:
    names = ["1", "q007", "q7", "q8", "q10", "q10a2", "q10a10", "q" + "9" * 5000, "q1" + "0" * 5000, "r0", "r00", "r1"]
    assert sorted(set(names), key=natural_key) == names
