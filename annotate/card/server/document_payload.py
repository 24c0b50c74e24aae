"""Documents as the cards get them: :class:`annotate.card.server.wire.DocumentPayload`."""

import json
from collections.abc import Iterable

from annotate.card.server import wire
from collection.campaign import Campaign
from collection.campaign.corpus.document_view import excerpts_of
from collection.campaign.corpus.images import images_of
from collection.campaign.corpus.pdf_files import pdf_of
from collection.campaign.review.full_texts import link_of
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.core.records import Document
from collection.core.review import FULL_TEXT, TITLE_ABSTRACT
from collection.documents.rendering import MOST_PLACES, cut, find_terms, form_of

PREFIX = "/api/judging"
FILES = f"{PREFIX}/files"  # the path of a campaign's image files
TEXT_CAP = 20_000  # characters of a document that are sent with it; the card asks for the rest
FIELD_CAP = 1000  # characters of a title, and of any other field; a browser takes seconds to lay out much more

PDF_POLICY = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
"""Policy of PDF files. Viewers ignore most of it: files with scripts are not shown, but copies without them."""

PDF_HEADERS = {
    "Cache-Control": "private, no-cache",  # asked for again each time, so that nobody else on this browser sees it
    "Vary": "Cookie",
    "Content-Security-Policy": PDF_POLICY,
    "X-Frame-Options": "SAMEORIGIN",
}

FILE_HEADERS = {"Cache-Control": f"private, max-age={365 * 24 * 3600}, immutable"}  # one year, in seconds
"""Headers of an image file, whose content never changes. The request guard adds those that keep it from being run."""


def document_payloads(
    campaign: Campaign, documents: Iterable[Document], query_id: str | None, cap: int | None = TEXT_CAP
) -> list[wire.DocumentPayload]:
    """Make the payloads of documents, without a word on how they came into the pool: annotators judge blind.

    Each has the places of the topic's terms, which also choose the excerpts; without a topic there are no places and no
    excerpts. Texts are cut after `cap` characters.
    """
    settings = campaign.settings.judging_page()
    terms = [] if query_id is None else campaign.corpus.view.topic_terms(query_id)
    is_review = campaign.settings.review() is not None
    payloads: list[wire.DocumentPayload] = []
    for document in documents:
        shown = campaign.corpus.view.shown(document, settings)
        excerpts = None
        if query_id is not None and settings.long == "passages" and len(shown.text) >= settings.long_from:
            excerpts = excerpts_of(shown, terms, settings)
        truncated = cap is not None and len(shown.text) > cap
        text = shown.text if cap is None else cut(shown.text, cap)
        title = cut(shown.title, FIELD_CAP)
        payload: wire.DocumentPayload = {
            "doc_id": document.doc_id,
            "title": title,
            "form": shown.form,
            "text": None if document.text is None else text,
            "html": None if truncated else shown.html,
            "length": len(shown.text),
            "truncated": truncated,
            "metadata": other_fields(document),
            "images": images(document, settings),
            "excerpts": excerpts,
            "terms": _places(text, excerpts or [], terms),
            "title_terms": find_terms(title, terms),
        }
        pdf = pdf_file(document)
        if is_review and query_id == FULL_TEXT and pdf is None:
            payload["no_pdf"] = link_of(document)
        elif pdf is not None and not (is_review and query_id == TITLE_ABSTRACT):
            payload["pdf"] = pdf
        payloads.append(payload)
    return payloads


def _places(text: str, excerpts: list[tuple[int, int, str]], terms: list[str]) -> list[tuple[int, int]]:
    """Places of the terms in what is sent of a text, and in its excerpts behind that."""
    places = find_terms(text, terms)
    for first, last, words in excerpts:
        if last > len(text):
            located = [(first + start, first + end) for start, end in find_terms(words, terms)]
            places += [place for place in located if place[0] >= len(text)]
    return places[:MOST_PLACES]


def other_fields(document: Document) -> dict[str, object]:
    """A document's metadata without the fields that say how it is displayed."""
    named = document.metadata.get("images")
    has_images = isinstance(named, list) and any(
        isinstance(each, dict) and {"file", "link"} & set(each) for each in named
    )
    reserved = {"images"} if has_images else set()
    if pdf_of(document.metadata) is not None:
        reserved.add("pdf")
    if form_of(document.metadata) is not None:
        reserved.add("format")
    return {name[:FIELD_CAP]: _brief(value) for name, value in document.metadata.items() if name not in reserved}


def _brief(value: object) -> object:
    """A value, or the beginning of a long one as text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= FIELD_CAP else f"{cut(text, FIELD_CAP)}…"


def images(document: Document, settings: JudgingPageSettings) -> list[wire.Image]:
    """The images of a document with their addresses."""
    return [
        {
            "src": f"{FILES}/{each.file}" if each.file else each.link or "",
            "alt": cut(each.alt, FIELD_CAP),
            "link": not each.allowed,
        }
        for each in images_of(document.metadata, settings.image_hosts)
    ]


def pdf_file(document: Document) -> wire.Pdf | None:
    """The PDF file of a document with its addresses; None if it has none."""
    pdf = pdf_of(document.metadata)
    if pdf is None:
        return None
    shown = f"{FILES}/{pdf.shown}" if pdf.shown else None
    width, height = pdf.size
    return {
        "file": shown or f"{FILES}/{pdf.file}",
        "shown": shown,
        "pages": pdf.pages,
        "width": width,
        "height": height,
    }
