"""BEIR's layout, out: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv`` (Thakur et al., NeurIPS 2021).

What BEIR has no field for stays beside it, as the readers of this package find it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike

import pandas as pd

from collection.formats import documents, images
from collection.formats.write import _number, replacing
from collection.frames import QRELS, TOPICS
from collection.records import Document

Path = str | PathLike[str]

QUERY_TEXTS: dict[str, tuple[str, ...]] = {
    "title": ("title",),
    "description": ("description",),
    "title-description": ("title", "description"),
}
"""What the one text of a query is made of: name -> fields of the topic."""

HEADER = "query-id\tcorpus-id\tscore\n"
"""The first line of BEIR's qrels."""


def corpus_record(document: Document, place_of: Callable[[str], str] = str) -> dict[str, object]:
    """A document as a line of ``corpus.jsonl``.

    Parameters
    ----------
    document
        With its text.
    place_of
        From the name of a file among its images to where that file lies, as seen from the corpus.

    Returns
    -------
    dict
        ``_id``, ``title``, ``text``, then the metadata. Images are written as
        :func:`~collection.formats.read_documents` reads them. A field of the metadata that would be taken for the id,
        the text or images is called ``other_NAME``.

    Examples
    --------
    >>> corpus_record(Document("d1", "Wings", "Flow past a wing.", {"year": 1957, "docno": "A-1"}))
    {'_id': 'd1', 'title': 'Wings', 'text': 'Flow past a wing.', 'other_docno': 'A-1', 'year': 1957}
    """
    record: dict[str, object] = {"_id": document.doc_id, "title": document.title, "text": document.text or ""}
    more: dict[str, object] = {}
    for name, value in document.metadata.items():
        if name == "images" and (named := _images(value, place_of)):
            more[name] = named
        elif name in record or name in documents.ID or name in images.FIELDS:
            more[f"other_{name}"] = value
        else:
            more[name] = value
    return record | dict(sorted(more.items()))


def _images(value: object, place_of: Callable[[str], str]) -> list[dict[str, str]]:
    """Images as the campaign keeps them, in the form that is read; none if it is anything else."""
    if not isinstance(value, list) or not all(isinstance(v, Mapping) and v.keys() & {"file", "link"} for v in value):
        return []
    return [{"src": place_of(v["file"]) if "file" in v else v["link"], "alt": v.get("alt", "")} for v in value]


def write_corpus(found: Iterable[Document], path: Path, place_of: Callable[[str], str] = str) -> None:
    """Write documents one by one as JSONL; `place_of` is as for :func:`corpus_record`."""
    with replacing(path) as file:
        for document in found:
            file.write(_line(corpus_record(document, place_of)))


def query_text(topic: Mapping[str, str], what: str = "title") -> str:
    """The one text of a topic; where it has none of the fields that are wanted, the first that it has.

    Examples
    --------
    >>> query_text({"title": "wing flow", "description": "How air passes.", "narrative": ""}, "title-description")
    'wing flow How air passes.'
    """
    wanted = [topic[name] for name in QUERY_TEXTS[what] if topic[name].strip()]
    there = [topic[name] for name in TOPICS.names[1:] if topic[name].strip()]
    return " ".join(wanted or there[:1])


def write_queries(topics: pd.DataFrame, path: Path, what: str = "title") -> None:
    """Write topics as ``queries.jsonl``: ``_id`` and ``text``, by a name of :data:`QUERY_TEXTS`."""
    TOPICS.check(topics, "writing queries")
    with replacing(path) as file:
        for topic in topics.to_dict("records"):
            words = {str(name): str(value) for name, value in topic.items()}
            file.write(_line({"_id": words["query_id"], "text": query_text(words, what)}))


def write_topics(topics: pd.DataFrame, path: Path) -> None:
    """Write topics as JSONL with all their fields; :func:`~collection.formats.read_topics` reads them back."""
    TOPICS.check(topics, "writing topics")
    with replacing(path) as file:
        for topic in topics[list(TOPICS.names)].to_dict("records"):
            file.write(_line({str(name): value for name, value in topic.items()}))


def write_beir_qrels(frame: pd.DataFrame, path: Path) -> None:
    """Write qrels as BEIR's TSV with its header, in the order of the frame.

    The ids are those of a campaign: without blanks, so nothing is escaped.
    """
    QRELS.check(frame, "writing qrels")
    with replacing(path) as file:
        file.write(HEADER)
        for query_id, doc_id, grade in frame[list(QRELS.names)].itertuples(index=False):
            file.write(f"{query_id}\t{doc_id}\t{_number(grade)}\n")


def _line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
