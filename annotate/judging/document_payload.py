"""Documents as the cards get them.

A document on its way to a card is ``{doc_id, title, form, text, html, length, truncated, metadata, images, excerpts}``:

- `form` is "text", "preformatted" or "markup"; `text` is plain in every form, null where the campaign has none, and cut
  after :data:`TEXT_CAP` characters where `truncated` says so. `length` is that of the whole. All places and lengths
  are code points.
- `html` goes with "markup", where nothing is cut: safe to be drawn, and of the same ``textContent`` as `text`.
- `metadata` are the document's other fields. `images` are ``{src, alt, link}``: where `link` is true it is drawn as a
  link only, since the manager has not allowed its host.
- `excerpts` are ``[start, end, words]`` in reading order, where the manager wants long documents folded and this is
  one; else null. They reach into the whole text, also where it is cut.
"""

from collections.abc import Iterable
from typing import Any, TypedDict

from collection.campaign import Campaign
from collection.campaign.document_view import excerpts_of
from collection.campaign.images import images_of
from collection.campaign.judging_settings import CardSettings
from collection.documents.rendering import Shown, cut, form_of
from collection.records import Document

Payload = dict[str, Any]
PREFIX = "/api/judging"
FILES = f"{PREFIX}/files"
"""Where the files of a campaign are served."""
TEXT_CAP = 20_000
"""Characters of a document that travel with it; the rest comes when it is asked for."""
A_YEAR = 365 * 24 * 3600

FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A name stands for one content for ever; whoever has it in their own browser has seen it.
    "Cache-Control": f"private, max-age={A_YEAR}, immutable",
}
"""Headers of a file: it is an image whatever is in it, and can do nothing where somebody opens it by itself."""


class ImagePayload(TypedDict):
    """An image of a document; where `link` is true it is drawn as a link only."""

    src: str
    alt: str
    link: bool


def document_payloads(
    campaign: Campaign, documents: Iterable[Document], query_id: str | None, cap: int | None = TEXT_CAP
) -> list[Payload]:
    """Documents as the cards want them. Nothing of how they came into the pool: annotators judge blind.

    Parameters
    ----------
    campaign
        Theirs.
    documents
        In any order, which is kept.
    query_id
        The topic whose words excerpts are chosen by; None for no excerpts.
    cap
        Characters of text that travel; None for all.
    """
    settings, terms = campaign.settings.judging_page(), None
    payloads: list[Payload] = []
    for document in documents:
        made = campaign.document_view.shown(document, settings)
        excerpts = None
        if query_id is not None and settings.long == "passages" and len(made.text) >= settings.long_from:
            terms = campaign.document_view.terms_of(query_id) if terms is None else terms
            excerpts = excerpts_of(made, terms, settings)
        payloads.append(_payload(document, made, settings, cap) | {"excerpts": excerpts})
    return payloads


def _payload(document: Document, made: Shown, settings: CardSettings, cap: int | None) -> Payload:
    truncated = cap is not None and len(made.text) > cap
    return {
        "doc_id": document.doc_id,
        "title": made.title,
        "form": made.form,
        "text": None if document.text is None else made.text if cap is None else cut(made.text, cap),
        "html": None if truncated else made.html,
        "length": len(made.text),
        "truncated": truncated,
        "metadata": other_fields(document),
        "images": images(document, settings),
    }


def other_fields(document: Document) -> Payload:
    """What is known of a document beside its text: its metadata without what says how it is shown."""
    named = document.metadata.get("images")
    kept = isinstance(named, list) and any(isinstance(each, dict) and {"file", "link"} & set(each) for each in named)
    reserved = {"images"} if kept else set()
    if form_of(document.metadata) is not None:
        reserved.add("format")
    return {name: value for name, value in document.metadata.items() if name not in reserved}


def images(document: Document, settings: CardSettings) -> list[ImagePayload]:
    """The images of a document with the addresses at which a browser finds them."""
    return [
        {
            "src": f"{FILES}/{image.file}" if image.file else image.link or "",
            "alt": image.alt,
            "link": not image.allowed,
        }
        for image in images_of(document.metadata, settings.image_hosts)
    ]
