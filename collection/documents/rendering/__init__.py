"""Documents as people see them: the text of every form, safe markup, and the passages that match a topic.

What annotators read, mark and quote is made here of what was imported, always in the same way. Places in it (passages,
excerpts) are code points of :attr:`Shown.text`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from collection.documents.rendering import html_text, markup
from collection.documents.rendering.passages import cut, excerpts, terms
from collection.records import Document

__all__ = ["LARGEST_MARKUP", "Shown", "cut", "excerpts", "form_of", "is_html", "shown", "terms"]

ShownForm = Literal["text", "preformatted", "markup"]

LARGEST_MARKUP = 200_000
"""Characters of Markdown that are drawn; a longer document is shown as it is written."""
KEPT = 8_000_000
"""Characters of made texts that are kept in memory, so that a document is not read anew each time it is shown."""

_NAMES = {
    **dict.fromkeys(("plain", "text", "text/plain"), "plain"),
    **dict.fromkeys(("preformatted", "pre", "code"), "preformatted"),
    **dict.fromkeys(("markdown", "md", "text/markdown", "text/x-markdown"), "markdown"),
    **dict.fromkeys(("html", "htm", "text/html", "application/xhtml+xml"), "html"),
}
"""What a document may say of itself in its field `format`, and the form that it then has."""


class Shown(NamedTuple):
    """A document as it is shown.

    Attributes
    ----------
    form
        How its text is set: as "text" (lines are wrapped), "preformatted" (each line is one, letters of one width) or
        drawn as "markup".
    text
        The plain text in every form, '' where there is none. Places are counted in it.
    html
        Of "markup": HTML for which whoever wrote it need not be trusted. The ``textContent`` of an element that has it
        as ``innerHTML`` is `text`.
    title
        The document's, or the one of its page of HTML.
    """

    form: ShownForm
    text: str
    html: str | None = None
    title: str = ""

    @property
    def compared(self) -> str:
        """Title and text, by which near-duplicates are found; '' where there is no text."""
        return f"{self.title}\n{self.text}" if self.text.strip() else ""


def form_of(metadata: Mapping[str, Any]) -> str | None:
    """The form that a document says it has in its field ``format``; None where it says none that is known.

    Examples
    --------
    >>> form_of({"format": "text/html; charset=utf-8"}), form_of({"format": "A4"})
    ('html', None)
    """
    said = metadata.get("format")
    return _NAMES.get(said.partition(";")[0].strip().lower()) if isinstance(said, str) else None


def is_html(document: Document, form: str = "auto") -> bool:
    """Whether a document is shown as the words of a page of HTML; `form` as :func:`shown` takes it."""
    said = form_of(document.metadata) if form == "auto" else form
    return html_text.is_page(document.text or "") if said is None else said == "html"


def shown(document: Document, form: str = "auto") -> Shown:
    r"""A document as it is shown; the same document in the same form always gives the same text.

    Nothing is executed and nothing is loaded. HTML becomes its words. Markdown becomes HTML without any markup of its
    own. Plain and preformatted text stays as it is, signs that turn the direction of writing included: whoever draws it
    has to keep them from reaching beyond it.

    Parameters
    ----------
    document
        As the campaign has it.
    form
        "plain", "preformatted", "markdown" or "html", for every document; "auto": by the document's field ``format``
        (one of these, or a media type), else HTML where it begins like a page of it, else plain.

    Examples
    --------
    >>> shown(Document("d1", text="<!doctype html><title>A</title><p>1 &lt; 2"))
    Shown(form='text', text='1 < 2', html=None, title='A')
    >>> shown(Document("d2", text="a < b", metadata={"format": "markdown"})).html
    '<p>a &lt; b</p>\n'
    """
    text = document.text or ""
    if is_html(document, form):
        title, words = _made.of(html_text.text_of, text)
        return Shown("text", words, None, document.title or title)
    if form == "auto":
        form = form_of(document.metadata) or "plain"
    if form == "markdown" and len(text) <= LARGEST_MARKUP:
        html, words = _made.of(markup.drawn, text)
        return Shown("markup", words, html, document.title)
    return Shown("preformatted" if form == "preformatted" else "text", text, None, document.title)


class _Made:
    """Texts that were made of others, those used last; for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._size = 0

    def of(self, make: Callable[[str], tuple[str, str]], text: str) -> tuple[str, str]:
        key = (make.__name__, text)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make(text)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(text) + len(made[0]) + len(made[1])
            while self._size > KEPT and self._kept:
                (_, source), (one, other) = self._kept.popitem(last=False)
                self._size -= len(source) + len(one) + len(other)
        return made


_made = _Made()
