"""Documents as shown to people: text, safe markup, and the passages that match a topic.

Offsets (passages, excerpts) are code points of :attr:`Shown.text`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from collection.core.characters import without_markup
from collection.core.records import Document
from collection.documents.rendering import html_text, markup
from collection.documents.rendering.passages import best_passages as best_passages, cut as cut, excerpts as excerpts
from collection.documents.rendering.topic_terms import (
    MOST_PLACES as MOST_PLACES,
    find_terms as find_terms,
    terms as terms,
)

ShownForm = Literal["text", "preformatted", "markup"]

LARGEST_MARKUP = 200_000
"""Maximum length of rendered Markdown in characters; longer documents are shown as plain text."""
KEPT = 8_000_000
"""Maximum size of the cache of rendered texts, in characters."""

_NAMES = {
    **dict.fromkeys(("plain", "text", "text/plain"), "plain"),
    **dict.fromkeys(("preformatted", "pre", "code"), "preformatted"),
    **dict.fromkeys(("markdown", "md", "text/markdown", "text/x-markdown"), "markdown"),
    **dict.fromkeys(("html", "htm", "text/html", "application/xhtml+xml"), "html"),
}
"""Value of a document's field `format` -> form."""


class Shown(NamedTuple):
    """A document as it is shown."""

    form: ShownForm
    """One of "text" (lines are wrapped), "preformatted" (monospaced, lines unchanged) and "markup"."""
    text: str
    """Plain text, in every form; "" for a document without text."""
    html: str | None = None
    """For "markup": sanitised HTML whose ``textContent`` is `text`."""
    title: str = ""
    """Title of the document, or of its HTML page."""

    @property
    def compared(self) -> str:
        """Title and text, to find near-duplicates by; "" without a text."""
        return f"{self.title}\n{self.text}" if self.text.strip() else ""


def form_of(metadata: Mapping[str, object]) -> str | None:
    """Return the form that a document's field ``format`` names; None if it is missing or unknown.

    >>> form_of({"format": "text/html; charset=utf-8"}), form_of({"format": "A4"})
    ('html', None)
    """
    name = metadata.get("format")
    return _NAMES.get(name.partition(";")[0].strip().lower()) if isinstance(name, str) else None


def is_html(document: Document, form: str = "auto") -> bool:
    """Tell whether a document is shown as the text of an HTML page; `form` as for :func:`shown`."""
    known = form_of(document.metadata) if form == "auto" else form
    return html_text.is_page(document.text or "") if known is None else known == "html"


def shown(document: Document, form: str = "auto") -> Shown:
    r"""Render a document; the same document in the same form always gives the same text.

    Nothing is executed or loaded. HTML becomes text; Markdown becomes HTML, in which the author's own HTML is shown as
    text. Plain and preformatted text keeps its bidirectional controls, which the page must isolate.

    Parameters
    ----------
    form
        "plain", "preformatted", "markdown" or "html". "auto": the document's field ``format`` (one of these, or a media
        type); without it, HTML if the text begins like a page, else plain, without the markup that databases leave in
        titles and abstracts (see :func:`collection.core.characters.without_markup`).

    Examples
    --------
    >>> shown(Document("d1", text="<!doctype html><title>A</title><p>1 &lt; 2"))
    Shown(form='text', text='1 < 2', html=None, title='A')
    >>> shown(Document("d2", text="a < b", metadata={"format": "markdown"})).html
    '<p>a &lt; b</p>\n'
    """
    text = document.text or ""
    if is_html(document, form):
        title, words = _cache.get(html_text.extract_text, text)
        return Shown("text", words, None, document.title or title)
    if form == "auto" and (form := form_of(document.metadata) or "") == "":
        title, text = _cache.get(_without_markup, f"{document.title}\0{text}")
        return Shown("text", text, None, title)
    if form == "markdown" and len(text) <= LARGEST_MARKUP:
        html, words = _cache.get(markup.render, text)
        return Shown("markup", words, html, document.title)
    return Shown("preformatted" if form == "preformatted" else "text", text, None, document.title)


def _without_markup(both: str) -> tuple[str, str]:
    """Title and text, separated by NUL, without markup."""
    title, _, text = both.partition("\0")
    return without_markup(title), without_markup(text)


class _Cache:
    """Cache of the texts rendered last, shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._size = 0

    def get(self, make: Callable[[str], tuple[str, str]], text: str) -> tuple[str, str]:
        key = (make.__name__, text)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make(text)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = value
                self._size += len(text) + sum(map(len, value))
            while self._size > KEPT:
                (_, source), texts = self._kept.popitem(last=False)
                self._size -= len(source) + sum(map(len, texts))
        return value


_cache = _Cache()
