"""Documents as the cards get them: :class:`annotate.card.server.wire.DocumentPayload`."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence

from annotate.card.server import wire
from collection.campaign import Campaign
from collection.campaign.answers.tasks import LISTED, listed_nuggets
from collection.campaign.corpus.document_view import excerpts_of
from collection.campaign.corpus.images import images_of
from collection.campaign.corpus.pdf_files import pdf_of
from collection.campaign.review.full_texts import link_of
from collection.campaign.settings.judging_settings import JudgingPageSettings
from collection.core.answer_tasks import SUPPORT, AnswerTask, sentence_of, sentence_places
from collection.core.records import Document
from collection.core.review import FULL_TEXT, TITLE_ABSTRACT
from collection.documents.rendering import MOST_PLACES, best_passages, cut, find_terms, form_of

PREFIX = "/api/judging"
FILES = f"{PREFIX}/files"  # the path of a campaign's image files


def task_prefix(name: str) -> str:
    """Return the path of the routes of a task of generated answers."""
    return f"{PREFIX}/tasks/{name}"


TEXT_CAP = 20_000  # characters of a document that are sent with it; the card asks for the rest
LISTED_CAP = 300  # characters of a nugget in the list of nuggets of an answer
FIELD_CAP = 1000  # characters of a title, and of any other field; a browser takes seconds to lay out much more

CITED = ("year", "authors", "journal", "volume", "pages")
"""Fields that distinguish publications, in the order in which they are shown."""

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
    view, task = campaign.corpus.view, campaign.settings.task()
    terms = [] if query_id is None or task is not None else view.topic_terms(query_id)
    around = None if query_id is None or task is None else _answer_around(campaign, task, query_id)
    listed = [] if query_id is None or task is None else _nuggets_of(campaign, query_id)
    is_review = campaign.settings.review() is not None
    payloads: list[wire.DocumentPayload] = []
    for document in documents:
        if query_id is None:
            shown = view.shown(document, settings)
        else:
            shown = view.marked(query_id, document, settings)
            terms = view.terms(query_id, document) if task is not None else terms
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
            "title_terms": [] if task is not None else find_terms(title, terms),
        }
        if is_review and document.text is not None and not shown.text.strip():
            payload["no_text"] = "No abstract"
        pdf = pdf_file(document)
        if around is not None:
            payload["answer"] = around
            visible = [(start, end) for start, end, _ in excerpts] if excerpts else [(0, len(text))]
            payload["best"] = _best_places(shown.text, terms, visible)
        elif task is not None and query_id is not None:
            payload["sentences"] = [place for place in sentence_places(shown.text) if place[1] <= len(text)]
            payload["nuggets"] = listed
        if is_review and query_id == FULL_TEXT and pdf is None:
            payload["no_pdf"] = link_of(document)
        elif pdf is not None and not (is_review and query_id == TITLE_ABSTRACT):
            payload["pdf"] = pdf
        payloads.append(payload)
    return payloads


def _answer_around(campaign: Campaign, task: AnswerTask, query_id: str) -> wire.AnswerAround | None:
    """Return the answer around the sentence whose support is judged; None in any other task."""
    words, place = campaign.store.corpus.topic_words([query_id]).get(query_id), sentence_of(query_id)
    if task.name != SUPPORT or words is None or place is None:
        return None
    return {"sentences": [cut(each, FIELD_CAP) for each in words["description"].split("\n")], "at": place}


def _nuggets_of(campaign: Campaign, query_id: str) -> list[wire.ListedNugget]:
    """Return the nuggets of an answer in their order; none in any other task."""
    doc_ids = listed_nuggets(campaign, query_id)
    titles = campaign.store.corpus.titles(doc_ids)
    return [{"doc_id": doc_id, "title": cut(titles.get(doc_id, ""), LISTED_CAP)} for doc_id in doc_ids]


def content_version(campaign: Campaign) -> str:
    """Return a version that changes with the content of documents and with the settings of the judging page."""
    settings = repr((campaign.settings.judging_page(), campaign.store.settings.get(LISTED)))
    return f"{campaign.store.corpus.count_replacements()}-{zlib.crc32(settings.encode()):x}"


def held_documents(
    campaign: Campaign, held: Mapping[str, Sequence[str]], cap: int = TEXT_CAP
) -> list[wire.HeldDocument]:
    """Make the payloads of the documents that a card holds, by topic; unknown documents are left out."""
    payloads: list[wire.HeldDocument] = []
    for query_id, doc_ids in held.items():
        documents = campaign.store.corpus.documents(doc_ids).values()
        payloads += [{"query_id": query_id, **each} for each in document_payloads(campaign, documents, query_id, cap)]
    return payloads


def _places(text: str, excerpts: list[tuple[int, int, str]], terms: list[str]) -> list[tuple[int, int]]:
    """Places of the terms in what is sent of a text, and in its excerpts behind that."""
    places = find_terms(text, terms)
    for first, last, words in excerpts:
        if last > len(text):
            located = [(first + start, first + end) for start, end in find_terms(words, terms)]
            places += [place for place in located if place[0] >= len(text)]
    return places[:MOST_PLACES]


def _best_places(text: str, terms: list[str], visible: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The passages that match a sentence best, of those that are shown when a document opens; best first."""
    best = best_passages(text, terms)
    return [place for place in best if any(start <= place[0] and place[1] <= end for start, end in visible)]


def other_fields(document: Document) -> dict[str, object]:
    """Return a document's metadata without display settings; the fields of a bibliographic citation come first."""
    named = document.metadata.get("images")
    has_images = isinstance(named, list) and any(
        isinstance(each, dict) and {"file", "link"} & set(each) for each in named
    )
    reserved = {"images"} if has_images else set()
    if pdf_of(document.metadata) is not None:
        reserved.add("pdf")
    if form_of(document.metadata) is not None:
        reserved.add("format")
    first = {name: document.metadata[name] for name in CITED if name in document.metadata}
    fields = {**first, **document.metadata}
    return {name[:FIELD_CAP]: _brief(value) for name, value in fields.items() if name not in reserved}


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
