"""Documents as they are shown: the text of HTML and Markdown, and the passages that match a topic."""

import itertools
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, strategies as st

from collection import Document
from collection.campaign.corpus.document_view import excerpts_of
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.documents import rendering
from collection.documents.rendering import Shown, best_passages, cut, excerpts, html_text, markup, shown, terms
from tests.helpers import grows_linearly

# --------------------------------------------------------------------------------------------- HTML


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a<p>b", "a\n\nb"),
        ("<h1>a</h1>\n  <p> b  c\n d </p>", "a\n\nb c d"),
        ("<div>a</div><div>b</div>c", "a\nb\nc"),
        ("a<br>b<br><br><br>c", "a\nb\n\nc"),
        ("wing<b>s</b> and <i>flow</i>", "wings and flow"),
        ("<b>a </b> b", "a b"),
        ("<ul><li>a<ul><li>b<li>c</ul><li>d</ul>e", "• a\n  • b\n  • c\n• d\n\ne"),
        ("<ol start=3><li><p>a</p><li value='9'>b<li>c</ol>", "3. a\n\n9. b\n10. c"),
        ("<li>a<li>b", "• a\n• b"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>c", "a | b\n1 | 2\n\nc"),
        ("<tr><td>a<td><tr><td><td>b", "a\nb"),
        ("<pre>\n a\n   b\t&lt;\r\n</pre>c", " a\n   b\t<\n\n\nc"),
        ("<dl><dt>a<dd>b</dl>", "a\nb"),
        ('<img src="x" alt="a &quot;cat&quot; ">!<img alt=""><img src=x>', '[a "cat"]!'),
        ("1 &lt; 2 &amp; 3&nbsp;&#x1F600;&notit;", "1 < 2 & 3\u00a0\U0001f600¬it;"),
        ("<q>a</q>", "“a”"),
        ("日本<wbr>語<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>", "日本語漢(かん)"),
        ("a <3 b < c <= d", "a <3 b < c <= d"),
        ("write to <jane@example.org> now", "write to <jane@example.org> now"),
        ("a<p", "a<p"),
        ("<p title='a>b'>c", "c"),
        ('<a title="it\'s">b</a>', "b"),
        ('<a href="b>c</a>d', "cd"),
        ("<p don't>a</p> b' <i>c</i>", "a\n\nb' c"),
        ("a<!-- <p>b --> c<!-->d<!--->e", "a cde"),
        ("a<!-- b", "a<!-- b"),
        ("a<!doctype html><?php x ?>b<![CDATA[c]]>", "ab"),
        ("<svg><text>a</text></svg>b<video>c</video>d<svg>e", "bde"),
        ("<template><template>a</template>b</template>c", "c"),
        ("<noscript><p>a</noscript>b<iframe>c</iframe>", "b"),
        # A slash closes none of these but <svg/>, which is no element of HTML.
        ("<script/>a</script>b<style p=/>c</style>d", "bd"),
        ("<script src=/a/>b</script>c<video/>d</video>e", "ce"),
        ("<title/>a</title>b<template/>c</template>d", "bd"),
        ("<svg/>a<svg>b<svg/>c</svg>d<svg>e</svg>f", "adf"),
        ("a<br/>b<hr/><img alt='c'/>", "a\nb\n\n[c]"),
        # What is not closed is text, and what closes nothing is nothing.
        ("<p>one <b two", "one <b two"),
        ("a <!-- b", "a <!-- b"),
        ("a <!-- b > c <!-- d", "a c <!-- d"),
        ("<p>a<!-->b<!--->c", "abc"),
        ("a</ul></ul><p>b", "a\n\nb"),
        ("a<iframe>b<iframe>c</iframe>d", "ad"),
        ("a<template>b<template>c</template>d", "ad"),
        ("", ""),
        ("  \n ", ""),
    ],
)
def test_the_words_of_a_page(page: str, text: str) -> None:
    assert html_text.extract_text(page)[1] == text


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>\n A &amp; <b>B</b> </title><p>c", "A & <b>B</b>"),
        ("<TITLE>A</TITLE><title>B</title>", "A"),
        ("<title>a", ""),
        ("<p>a", ""),
    ],
)
def test_the_title_of_a_page(page: str, title: str) -> None:
    assert html_text.extract_text(page)[0] == title


EVIL = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x.org/a.js></SCRIPT >",
    "<scr<script>ipt>alert(1)</script>",
    "<script>alert(1)",
    "<img src=x onerror=alert(1)>",
    '<img src="x" alt="" onerror="alert(1)">',
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)><script>alert(1)</script></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    '<a href="java\nscript:alert(1)">x</a>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<base href='//x.org/'>",
    "<meta http-equiv=refresh content='0;url=//x.org'>",
    "<link rel=stylesheet href=//x.org/a.css>",
    "<style>@import '//x.org/a.css'</style>",
    "<object data='data:text/html,<script>alert(1)</script>'></object>",
    "<math><mtext></table><mglyph><style><img src=x onerror=alert(1)>",
    "<scr\0ipt>alert(1)</scr\0ipt>",
    "<form action=//x.org><button formaction='javascript:alert(1)'>x",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<div style='background:url(javascript:alert(1))'>x</div>",
    "[x](javascript:alert(1)) ![x](data:image/svg+xml,x)",
    "[x](vbscript:x 'onmouseover=alert(1)') <javascript:alert(1)>",
    '[x](https://x.org"onmouseover="alert(1)) "><img src=x onerror=alert(1)>',
    "`<img src=x onerror=alert(1)>`\n\n    <script>alert(1)</script>",
    "| <script> |\n|-|\n| <img src=x onerror=alert(1)> |",
]
HARMLESS = {
    *("h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "em", "strong", "s", "code", "pre", "blockquote", "hr", "br", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class Tags(HTMLParser):
    """Every element of a text with its attributes, and all of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def harmless(html: str) -> None:
    for tag, attributes in Tags(html).found:
        assert tag in HARMLESS
        assert set(attributes) <= {"href", "target", "rel", "title", "class", "start", "style"}
        assert re.match(r"https?://|mailto:", attributes.get("href") or "https://", re.I)
        assert re.fullmatch(r"(text-align:(left|right|center))?", attributes.get("style") or "")


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("form", ["auto", "plain", "preformatted", "markdown", "html"])
def test_no_form_lets_markup_through(evil: str, form: str) -> None:
    for text in (evil, f"<!doctype html><p>{evil}</p>", f"# a\n\n{evil}\n\n- {evil}"):
        made = shown(Document("d", text=text), form)
        assert (made.html is not None) == (form == "markdown") == (made.form == "markup")
        if made.html is not None:
            harmless(made.html)
            assert Tags(made.html).words == made.text


@pytest.mark.parametrize("evil", [e for e in EVIL if "script" in e.lower()[:8] and "&lt" not in e and "\0" not in e])
def test_no_script_is_among_the_words_of_a_page(evil: str) -> None:
    assert "alert" not in html_text.extract_text(evil)[1]


PIECES = (
    *"<>/=\"'&;! -\n\t\0a",
    *("<p>", "</p>", "<b", "<li>", "<ul>", "</ul>", "<pre>", "</pre>", "<td>", "<tr>", "<br>", "<!--", "-->"),
    *("<script>", "</script", "<style>", "</style>", "<svg>", "</svg>", "<title>", "</title>", "<img alt="),
    *("&lt;", "&#", "&#x", "é"),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join))
def test_any_text_is_read_as_a_page(page: str) -> None:
    title, text = html_text.extract_text(page)
    assert title == title.strip()
    if "<pre" not in page.lower():  # where blanks are kept
        assert not re.search(r"\n\n\n| \n|\A\n|[ \n]\Z|[^\n] {2}|[\0\t\r\f]", text)


@given(st.text(alphabet="abc é<&;>\"'", max_size=60))
def test_escaped_text_comes_back(text: str) -> None:
    assert html_text.extract_text(f"<p>{escape(text)}</p>")[1] == " ".join(filter(None, text.split(" ")))


@pytest.mark.parametrize(
    "piece",
    [
        *("<div>", "<a ", "<!--", "<", "</", "<?", "&#", "<svg>", "<title>", "<script>", '<a ">" ', '<img alt="'),
        "<ul><li>x",
        *("<template>", "<script></script ", "</svg>", "<p>text &amp; <b>more</b></p>", "=", '="', "<td>x"),
    ],
)
@pytest.mark.parametrize("end", ["", ">", "'>"])
@pytest.mark.slow
@pytest.mark.long
def test_a_page_is_read_in_time_that_grows_with_its_length(piece: str, end: str) -> None:
    """What searches to the end from every tag would take minutes for a megabyte."""

    def prepare(size: int) -> Callable[[], object]:
        page = "<img " * piece.startswith("=") + piece * (size // len(piece)) + end
        return lambda: html_text.extract_text(page)

    assert grows_linearly(prepare, 50_000)


def test_entities_of_any_length_are_read() -> None:
    assert (
        html_text.extract_text("&#" + "9" * 9000 + ";&#x" + "f" * 9000 + ";&#" + "0" * 9000 + "65;")[1]
        == "\ufffd\ufffdA"
    )


# ------------------------------------------------------------------------------------------ forms


def of(text: str | None, **metadata: Any) -> Document:
    return Document("d", "", text, metadata)


@pytest.mark.parametrize(
    ("document", "form", "wanted"),
    [
        (of("a <b> c"), "auto", Shown("text", "a <b> c")),
        (of("<!DOCTYPE html>\n<p>a"), "auto", Shown("text", "a")),
        (of("\ufeff <html lang=en><p>a"), "auto", Shown("text", "a")),
        (of("<?xml version='1.0'?><!-- b --><!doctype html><p>a"), "auto", Shown("text", "a")),
        (of("<body class=x><p>a"), "auto", Shown("text", "a")),
        (of("<p>a</p>"), "auto", Shown("text", "a")),
        (of("<p>a</p> &lt;", format="plain"), "auto", Shown("text", "<p>a</p> &lt;")),
        (of("<jats:p>CO<sub>2</sub> &amp; heat</jats:p>"), "auto", Shown("text", "CO2 & heat")),
        (of("if a<b and c>d"), "auto", Shown("text", "if a<b and c>d")),
        (of("<htmlx>"), "auto", Shown("text", "<htmlx>")),
        (of("x <html>"), "auto", Shown("text", "x <html>")),
        (of("<p>a</p>", format="html"), "auto", Shown("text", "a")),
        (of("<p>a</p>", format="Text/HTML; charset=utf-8"), "auto", Shown("text", "a")),
        (of("<html>a", format="plain"), "auto", Shown("text", "<html>a")),
        (of("<html>a", format="preformatted"), "auto", Shown("preformatted", "<html>a")),
        (of("*a*", format="text/markdown"), "auto", Shown("markup", "a\n", "<p><em>a</em></p>\n")),
        (of("*a*", format="A4"), "auto", Shown("text", "*a*")),
        (of("*a*", format=7), "auto", Shown("text", "*a*")),
        (of("*a*", format="html"), "markdown", Shown("markup", "a\n", "<p><em>a</em></p>\n")),
        (of("a\u202eb\u2066 c\r\n"), "plain", Shown("text", "a\u202eb\u2066 c\r\n")),
        (of(None), "html", Shown("text", "")),
        (of("x" * (rendering.LARGEST_MARKUP + 1)), "markdown", Shown("text", "x" * (rendering.LARGEST_MARKUP + 1))),
    ],
)
def test_the_form_of_a_document(document: Document, form: str, wanted: Shown) -> None:
    assert shown(document, form) == wanted


def test_a_page_names_itself_where_the_document_has_no_title() -> None:
    page = "<html><title>Of the page</title>a"
    assert shown(Document("d", "", page)).title == "Of the page"
    assert shown(Document("d", "Its own", page)).title == "Its own"


def test_what_is_made_is_made_once_and_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made = rendering._Cache()
    calls: list[str] = []

    def make(text: str) -> tuple[str, str]:
        calls.append(text)
        return text, ""

    monkeypatch.setattr(rendering, "KEPT", 10)
    for text in ("aaa", "aaa", "bb", "aaa", "cccc", "bb", "cccc"):
        assert made.get(make, text) == (text, "")
    assert calls == ["aaa", "bb", "cccc", "bb", "cccc"]  # six characters, four, eight: two of them at once at most


# --------------------------------------------------------------------------------------- Markdown


NASTY = [
    "# a\n\n## b\n\ntext *with* **some** `code <b>` and ~~more~~",
    "- a\n- b\n  - c\n\n    d\n\n1. e\n2. f\n\n3) g",
    "| a | b |\n|:-|-:|\n| 1 | `x\\|y` |\n| <td> | &amp; |\n\nafter",
    "```html\n\n<script>\n  &lt;\n```\n\n    indented\n\n    code",
    "> quote\n> > deeper\n\n---\n\nline  \nbreak\\\nagain",
    "[a](https://x.org 'a \"title\" > b') <https://y.org?a=1&b=2> ![alt *em* <b>](z.png) [x](javascript:1)",
    "&#13;&#10;&#0;&nbsp;&lt;p&gt;&amp;amp;&#x202e;c\u202ed\u2066",
    "a\r\nb\rc\n\n\r\n   d\x0be\x0cf\u2028g\u0085h\0i",
    "<pre>\n\nraw</pre> <!-- c --> <![CDATA[x]]> <?php ?>",
    "\U0001f469\u200d\U0001f467 e\u0301 日本語 العربية \ufeff\ufffe",
    "\\<\\& &copy &copy; &notanentity; 1 < 2 > 3 \"quotes\" 'single'",
    "```\n\nfirst line empty\n```\n",
    "* \n*\n- [ ] x\n\n+ a\n\n\n\n+ b",
    "",
]


@pytest.mark.parametrize("text", NASTY)
def test_markdown_is_harmless_and_its_text_is_that_of_its_html(text: str) -> None:
    html, words = markup.render(text)
    harmless(html)
    assert Tags(html).words == words


@pytest.mark.parametrize("line", ["# a\n", "- a\n", "| a |\n", "[a]: http://x.org\n", "> a\n\n", "**a _b ", "[a]("])
@pytest.mark.slow
@pytest.mark.long
def test_markdown_is_drawn_in_time_that_grows_with_its_length(line: str) -> None:
    assert grows_linearly(lambda size: partial(markup.render, line * (size // len(line))), 2_500)


# --------------------------------------------------------------------------------------- passages


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["wing_", "wing-", "wing ", "wing\n", "wing's", "wings"])
@pytest.mark.long
def test_passages_are_found_in_time_that_grows_with_the_length(piece: str) -> None:
    assert grows_linearly(lambda size: partial(excerpts, piece * (size // len(piece)), ["wing"]), 20_000)


@pytest.mark.parametrize("text", ["翼の熱。", " \n" * 1000 + "Rain.", " \n" * 1000 + "A wing.", " 翼翼翼翼"])
@pytest.mark.parametrize("most", [1, 4])
def test_a_text_with_words_has_a_beginning(text: str, most: int) -> None:
    for length in (1, 120):
        assert excerpts(text, ["wing", "翼の"], most=most, length=length)


def test_only_the_forms_of_a_word_are_found() -> None:
    def found(word: str) -> bool:
        return excerpts(f"{'x. ' * 300}{word}{' y.' * 300}", ["wing"], length=6)[-1][1] > 900

    assert all(map(found, ("wing", "wings", "winged", "wingings", "wing's", "wing’s", "_wing")))
    assert not any(map(found, ("winglet", "winglets", "wing_s", "wing_" * 9, "swing", "wingsss", "wingtip's")))


RAIN = "It rains in the valley. "


def folded(text: str, *words: str, **options: int) -> list[str]:
    return [text[a:b] for a, b in excerpts(text, list(words), **options)]


def test_the_best_passage_comes_first_wherever_it_is() -> None:
    text = RAIN * 100 + "A wing. " + RAIN * 100 + "Heat flows over the wing. " + RAIN * 100
    best, other = [text[a:b] for a, b in best_passages(text, ["heat", "wing", "flow"], length=20)]
    assert "Heat flows over the wing." in best
    assert "A wing." in other
    assert best_passages(text, ["snow"]) == best_passages("A wing.", ["wing"]) == best_passages("", ["wing"]) == []


def test_passages_are_where_the_words_are() -> None:
    text = RAIN * 100 + "Heat flows over the wing. " + RAIN * 100 + "A wing. " + RAIN * 100
    first, best, other = folded(text, "heat", "wing", "flow", length=20)
    assert text.startswith(first)
    assert "Heat flows over the wing." in best
    assert "A wing." in other
    assert all(len(words) < 250 for words in (first, best, other))


def test_a_passage_with_more_of_the_words_comes_before_one_with_a_word_again_and_again() -> None:
    text = RAIN * 100 + "wing wing wing wing wing wing. " + RAIN * 100 + "Heat on the wing. " + RAIN * 100
    assert "Heat on the wing." in folded(text, "heat", "wing", most=2, length=20)[1]


def test_a_word_is_found_in_its_other_forms_and_in_no_other_word() -> None:
    def found(word: str, topic: str) -> bool:
        text = RAIN * 100 + f"Here {word} stands. " + RAIN * 100
        return len(excerpts(text, terms(topic), length=20)) == 2

    for word, topic in [
        *(("wings", "wing"), ("wing", "wings"), ("Boundary", "boundaries"), ("heating", "heated"), ("wing's", "wing")),
        *(("STRÖMUNG", "strömung"), ("averaged", "averaging"), ("747", "747"), ("wing-tip", "wing")),
    ]:
        assert found(word, topic), (word, topic)
    for word, topic in [("upswing", "wing"), ("winger", "wing"), ("heather", "heat"), ("7471", "747")]:
        assert not found(word, topic), (word, topic)


def test_without_any_match_the_beginning_is_shown() -> None:
    ((start, end),) = excerpts(RAIN * 500, ["wing"], length=50)
    assert start == 0
    assert 250 < end < 400
    assert excerpts(RAIN * 500, [], length=50) == [(0, end)]


def test_a_short_text_is_shown_whole_and_an_empty_one_not_at_all() -> None:
    assert excerpts(" A wing. ", ["wing"]) == [(1, 8)]
    assert excerpts("", ["wing"]) == excerpts(" \n" * 2000, ["wing"]) == []


def test_passages_end_where_sentences_and_paragraphs_do() -> None:
    rain = ["The rain falls. It is wet!"] * 60
    text = "\n\n".join([*rain, "A wing bends. Is it heat? Yes.", *rain])
    for words in folded(text, "wing", "heat", length=30):
        assert words[0].isupper()
        assert words[-1] in ".!?"
    text = "雨が降る。" * 300 + "翼の熱。" + "雨が降る！" * 300
    first, other = folded(text, "翼の", length=30)
    assert first.endswith("。")
    assert "翼の熱。" in other
    assert other[0] == "雨"
    assert other[-1] in "。！"


@pytest.mark.parametrize(
    "one",
    [
        *("e\u0301\u0302", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "नि"),
        "\u1112\u1161\u11ab",
        *("\U0001f1e9\U0001f1ea", "❤\ufe0f", "\r\n"),
    ],
)
def test_no_passage_parts_what_is_read_as_one_character(one: str) -> None:
    for shift in range(len(one)):
        text = "x" * shift + one * 700 + " wing " + one * 700
        for start, end in excerpts(text, ["wing"], length=40):
            for place in (start, end):
                before, after = place - shift, place - shift - 700 * len(one) - len(" wing ")
                inside = before if before <= 700 * len(one) else max(after, 0)  # of the first run, or the second
                assert place == 0 or inside % len(one) == 0
        for at in range(20, 20 + len(one)):
            kept = cut(text, at)
            assert 0 <= at - len(kept) < len(one)
            assert (len(kept) - shift) % len(one) == 0


SOME = ("wing", "Heat", "flow.", "rain", "in", "the", "valley!", "\n\n", "\n", "翼の熱。", "é", "\u0301", "🇩", "\u200d")


@given(
    st.lists(st.sampled_from(SOME) | st.text(max_size=4), max_size=120),
    st.sampled_from([" ", "", "  ", "\n"]),
    st.integers(1, 5),
    st.integers(1, 20),
)
def test_passages_are_slices_in_order_apart_and_within(words: list[str], between: str, most: int, length: int) -> None:
    text = between.join(words)
    found = excerpts(text, ["wing", "heat", "flow", "翼の"], most=most, length=length)
    assert len(found) <= most
    at = -1
    best = best_passages(text, ["wing", "heat", "flow", "翼の"], most=most, length=length)
    assert len(best) <= most
    assert all(0 <= start < end <= len(text) for start, end in best)
    in_order = sorted(best)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(in_order))
    for start, end in found:
        assert at < start < end <= len(text)
        assert text[start:end] == text[start:end].rstrip()
        # What a sign of its own cannot stand without goes with the blank before it: a mark, a tone of skin.
        extended = end > start + 1 and unicodedata.category(text[start + 1]) in ("Mn", "Cf", "Sk")
        assert not text[start].isspace() or extended
        at = end
    if text.strip():
        assert found
        assert not text[: found[0][0]].strip()
    if most > 1 and re.search(r"(?<!\w)wing(?!\w)", text):
        assert any(re.search("wing|heat|flow|翼の", text[a:b], re.I) for a, b in found)


def test_the_work_of_folding_grows_with_the_length() -> None:
    found = ["heat", "flow", "wing", "aircraft", "high", "speed", "boundar", "layer", "pressur", "surfac"]

    def prepare(size: int) -> Callable[[], object]:
        text = (RAIN * 40 + "Heat flows over the wings of an aircraft at high speed. ") * size
        assert len(excerpts(text, found)) == 4
        return lambda: excerpts(text, found)

    assert grows_linearly(prepare, 25)


def test_passages_are_for_long_documents_where_the_manager_wants_them() -> None:
    made = Shown("text", RAIN * 50 + "A wing.")
    folding = JudgingPageSettings(long="passages", long_from=1000)
    passages = excerpts_of(made, ["wing"], folding)
    assert passages is not None
    assert passages[-1][2].endswith("A wing.")
    assert [made.text[a:b] for a, b, _ in passages] == [words for _, _, words in passages]
    assert excerpts_of(made, ["wing"], JudgingPageSettings(long_from=1000)) is None
    assert excerpts_of(made, ["wing"], replace(folding, long_from=len(made.text) + 1)) is None
