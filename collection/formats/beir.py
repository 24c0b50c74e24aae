"""BEIR's layout: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv`` (Thakur et al., NeurIPS 2021).

On the Hugging Face Hub: ``corpus/*.parquet``, ``queries/*.parquet`` and ``qrels/*.parquet``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import pandas as pd

from collection.core.errors import FormatError, InputError, as_path
from collection.core.frames import QRELS, TOPICS
from collection.core.records import Document
from collection.core.topic_fields import to_topics
from collection.formats import compression, datasets, document_folder, documents, images, source
from collection.formats.source import FilePath
from collection.formats.topics import WITH_MEANING
from collection.formats.write import format_number, json_line, replacing

WANTED = "a directory with corpus.jsonl, queries.jsonl and qrels/, or with Parquet files in corpus/, queries/, qrels/"
ENDINGS = (".jsonl", *(f".jsonl{each}" for each in compression.ENDINGS), ".parquet")


class CollectionParts(NamedTuple):
    """Files of a collection: documents, topics and qrels."""

    documents: Sequence[Path | str] = ()
    topics: Sequence[Path | str] = ()
    qrels: Sequence[Path | str] = ()


def find_collection(path: Path | str) -> CollectionParts:
    """The parts of a directory in BEIR's layout, or of a dataset of ir_datasets.

    The directory has ``corpus`` and ``queries`` as ``.jsonl`` (perhaps compressed) or ``.parquet``, each as one file of
    this name or as a folder of files (as on the Hugging Face Hub), and qrels in ``qrels/``. In a directory that
    ``cleverdon export --collection`` wrote, the topics are those of ``topics.jsonl``.
    """
    if source.is_dataset(path):
        datasets.require_parts(path)
        return CollectionParts(
            *([path] if datasets.has_part(path, part) else [] for part in get_args(datasets.DatasetPart))
        )
    folder = as_path(path)
    if not folder.is_dir():
        found = "a file" if folder.exists() else "no such directory"
        raise FormatError(path, None, WANTED, found, "" if folder.exists() else source.dataset_hint(path))

    def named(stem: str) -> list[Path]:
        files = [folder / f"{stem}{ending}" for ending in ENDINGS]
        one = [file for file in files if file.is_file()][:1]
        return one or [file for file in _files(folder / stem) if file.name.endswith(ENDINGS)]

    found_parts = CollectionParts(named("corpus"), named("topics") or named("queries"), _files(folder / "qrels"))
    if not found_parts.documents or not found_parts.topics:
        missing = "corpus" if not found_parts.documents else "queries"
        raise FormatError(path, None, WANTED, f"no {missing}.jsonl, {missing}.parquet or {missing}/*.parquet")
    return found_parts


def _files(folder: Path) -> list[Path]:
    """The files in a folder, by name, without hidden ones and reports on others (``FILE.labels.json``); [] for none."""
    entries = folder.iterdir() if folder.is_dir() else ()
    files = sorted(file for file in entries if file.is_file() and file.name[0] != ".")
    names = {file.name for file in files}
    return [file for file in files if not file.match("*.*.json") or file.name.rsplit(".", 2)[0] not in names]


def find_documents(path: Path) -> list[Path]:
    """The files of documents in a folder: of a directory in BEIR's layout the corpus, of any other all files.

    A folder in which each file is a document stays one path, and so does a file.

    Raises
    ------
    InputError
        The folder has both files that are one document each and tables of documents.
    """
    if not path.is_dir():
        return [path]
    try:
        return list(map(Path, find_collection(path).documents))
    except FormatError:
        if document_folder.is_document_folder(path):
            return [path]
    return sorted(file for file in path.iterdir() if file.is_file() and file.name[0] != ".")


QUERY_TEXTS: dict[str, tuple[str, ...]] = {
    "title": ("title",),
    "description": ("description",),
    "title-description": ("title", "description"),
}
"""Fields of the topic that make up the text of a query, by name."""


def corpus_record(document: Document, place_of: Callable[[str], str] = str) -> dict[str, object]:
    """A document as a line of ``corpus.jsonl``: ``_id``, ``title``, ``text``, then the metadata.

    `place_of` turns the name of an image into its path relative to the corpus. A metadata field that would be read as
    the id, the text or images is written as ``other_NAME``.

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
    """Images in the form that is read; empty for any other value."""
    if not isinstance(value, list) or not all(isinstance(v, Mapping) and v.keys() & {"file", "link"} for v in value):
        return []
    return [{"src": place_of(v["file"]) if "file" in v else v["link"], "alt": v.get("alt", "")} for v in value]


def write_corpus(documents: Iterable[Document], path: FilePath, place_of: Callable[[str], str] = str) -> None:
    """Write documents one by one as JSONL; `place_of` is as for :func:`corpus_record`."""
    with replacing(path) as file:
        for document in documents:
            file.write(json_line(corpus_record(document, place_of)))


def query_text(topic: Mapping[str, str], what: str = "title") -> str:
    """The text of a topic from the fields `what`; its first non-empty field where these are empty.

    >>> query_text({"title": "wing flow", "description": "How air passes.", "narrative": ""}, "title-description")
    'wing flow How air passes.'
    """
    wanted = [topic[name] for name in QUERY_TEXTS[what] if topic[name].strip()]
    texts = [topic[name] for name in TOPICS.names[1:] if topic[name].strip()]
    return " ".join(wanted or texts[:1])


def write_queries(topics: pd.DataFrame, path: FilePath, what: str = "title") -> None:
    """Write topics as ``queries.jsonl``: ``_id``, ``text`` and other fields as ``metadata``.

    `what` is a name of :data:`QUERY_TEXTS`. A field that would be read as the id or a text is written as
    ``other_NAME``.
    """
    topics = TOPICS.check(topics, "writing queries")
    with replacing(path) as file:
        for topic in topics.to_dict("records"):
            texts = {name: topic[name] for name in TOPICS.names}
            others = (topic.get("fields") or {}).items()
            metadata = {f"other_{name}" if name in WITH_MEANING else name: value for name, value in others}
            record = {"_id": texts["query_id"], "text": query_text(texts, what)}
            file.write(json_line(record | ({"metadata": metadata} if metadata else {})))


def write_topics(topics: pd.DataFrame, path: FilePath) -> None:
    """Write topics as JSONL with all their fields; :func:`~collection.formats.read_topics` reads them back."""
    topics = TOPICS.check(topics, "writing topics")
    with replacing(path) as file:
        for topic in to_topics(topics):
            if clash := topic.fields.keys() & set(TOPICS.names):
                raise InputError(f"topic {topic.query_id}: expected other names of fields, found {min(clash)!r}")
            texts = dict(zip(TOPICS.names, topic, strict=False))
            fields = {"fields": topic.fields} if "fields" in topic.fields else topic.fields
            file.write(json_line({**texts, **fields}))


def write_beir_qrels(frame: pd.DataFrame, path: FilePath) -> None:
    """Write qrels as BEIR's TSV with its header, in the order of the frame."""
    frame = QRELS.check(frame, "writing qrels")
    with replacing(path) as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for query_id, doc_id, grade in frame[list(QRELS.names)].itertuples(index=False):
            file.write(f"{query_id}\t{doc_id}\t{format_number(grade)}\n")
