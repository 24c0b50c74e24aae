"""Documents as the cards get them.

A document is ``{doc_id, title, form, text, html, length, truncated, metadata, images, excerpts}``; places and lengths
are code points:

- `form` is "text", "preformatted" or "markup"; `text` is plain in every form, null where the campaign has none, and cut
  after :data:`TEXT_CAP` characters if `truncated`. `length` is that of the whole text.
- `html`, for "markup" that is not cut, is safe to draw and has `text` as its ``textContent``.
- `metadata` are the document's other fields. `images` are ``{src, alt, link}``: where `link` is true, only a link is
  drawn, since the manager has not allowed the host.
- `excerpts` are ``[start, end, words]`` of the whole text in reading order if the manager wants long documents folded
  and this is one; else null.
"""

from collections.abc import Iterable
from typing import Any, TypedDict

from collection.campaign import Campaign
from collection.campaign.document_view import excerpts_of
from collection.campaign.images import images_of
from collection.campaign.judging_settings import CardSettings
from collection.documents.rendering import cut, form_of
from collection.records import Document

Payload = dict[str, Any]  # a JSON object, received or sent
PREFIX = "/api/judging"
FILES = f"{PREFIX}/files"  # the path of a campaign's image files
TEXT_CAP = 20_000  # characters of a document that are sent with it; the card asks for the rest

FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The content under a name never changes. One year, in seconds.
    "Cache-Control": f"private, max-age={365 * 24 * 3600}, immutable",
}
"""Headers of an image file, which keep it from being run as anything else where it is opened by itself."""


class ImagePayload(TypedDict):
    """An image of a document; only a link is drawn where `link` is true."""

    src: str
    alt: str
    link: bool


def document_payloads(
    campaign: Campaign, documents: Iterable[Document], query_id: str | None, cap: int | None = TEXT_CAP
) -> list[Payload]:
    """Make the payloads of documents, without a word on how they came into the pool: annotators judge blind.

    The topic's terms choose the excerpts; without a topic there are none. Texts are cut after `cap` characters.
    """
    settings, terms = campaign.settings.judging_page(), None
    payloads: list[Payload] = []
    for document in documents:
        made = campaign.document_view.shown(document, settings)
        excerpts = None
        if query_id is not None and settings.long == "passages" and len(made.text) >= settings.long_from:
            terms = campaign.document_view.terms_of(query_id) if terms is None else terms
            excerpts = excerpts_of(made, terms, settings)
        truncated = cap is not None and len(made.text) > cap
        payload: Payload = {
            "doc_id": document.doc_id,
            "title": made.title,
            "form": made.form,
            "text": None if document.text is None else made.text if cap is None else cut(made.text, cap),
            "html": None if truncated else made.html,
            "length": len(made.text),
            "truncated": truncated,
            "metadata": other_fields(document),
            "images": images(document, settings),
            "excerpts": excerpts,
        }
        payloads.append(payload)
    return payloads


def other_fields(document: Document) -> Payload:
    """A document's metadata without the fields that say how it is displayed."""
    named = document.metadata.get("images")
    kept = isinstance(named, list) and any(isinstance(each, dict) and {"file", "link"} & set(each) for each in named)
    reserved = {"images"} if kept else set()
    if form_of(document.metadata) is not None:
        reserved.add("format")
    return {name: value for name, value in document.metadata.items() if name not in reserved}


def images(document: Document, settings: CardSettings) -> list[ImagePayload]:
    """The images of a document with their addresses."""
    return [
        {"src": f"{FILES}/{each.file}" if each.file else each.link or "", "alt": each.alt, "link": not each.allowed}
        for each in images_of(document.metadata, settings.image_hosts)
    ]
