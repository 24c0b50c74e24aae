"""Documents: JSONL, TSV and CSV, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

from collection.errors import FormatError
from collection.formats import delimited, fields, images, source
from collection.records import Document

WANTED = "documents"
ID = ("doc_id", "docno", "_id", "id")
TEXT = ("text", "contents", "body", "abstract")
# MS MARCO's passages, then with a title, then MS MARCO's documents.
_BARE = {2: ["doc_id", "text"], 3: ["doc_id", "title", "text"], 4: ["doc_id", "url", "title", "text"]}


def read_documents(path: str | PathLike[str]) -> Iterator[tuple[int, Document]]:
    """Read documents one by one; only their ids are kept in memory.

    Parameters
    ----------
    path
        JSONL (one object a line), CSV with a header, or TSV with or without one; gzip is read as it is.
        The id is the field ``doc_id``, ``docno``, ``_id`` or ``id``; the text ``text``, ``contents``,
        ``body`` or ``abstract`` (the first of these that is there); then ``title``; every other field
        goes to the metadata. In JSONL ``images`` and ``image`` can name images, one or a list: paths relative to the
        file, addresses (http, https), or objects ``{"src": either, "alt": what it shows}``.
        TSV without a header is id, text; or id, title, text; or id, url, title, text.

    Yields
    ------
    tuple of int and Document
        The line where the document begins, and the document. A document without any text has the text
        ''. Numbers as ids become text. Images are in the metadata as ``images``, a
        :class:`~collection.formats.images.Named`; whether there is such a file is not looked at here. A field of
        one of these names in which there are none is metadata like any other.

    Raises
    ------
    FormatError
        With path and line: broken JSON, no id, the same id twice (both lines), a record that does not
        fit its header, text that is not UTF-8, nothing at all. A missing file is told at once, the rest
        when its line is reached.

    Examples
    --------
    >>> for line, document in read_documents("corpus.jsonl.gz"):  # doctest: +SKIP
    ...     print(line, document.doc_id, document.title)
    """
    number, line = fields.first_line(path, WANTED)
    suffix = source.suffix(path)
    if line.lstrip().startswith("{") or suffix in (".jsonl", ".json", ".ndjson"):
        fields.refuse_array(path, number, line)
        return _documents(path, _from_json(path), with_images=True)
    if suffix == ".csv" or (suffix != ".tsv" and "\t" not in line and "," in line):
        return _documents(path, delimited.named_records(path, WANTED, ",", ID, _BARE))
    if "\t" not in line:
        fields.refuse_array(path, number, line)
        found = source.quote(line)
        raise FormatError(path, number, "documents as JSONL, as TSV, or as CSV with a header", found)
    return _documents(path, delimited.named_records(path, WANTED, "\t", ID, _BARE))


def _documents(
    path: str | PathLike[str], records: Iterator[tuple[int, dict[str, Any]]], *, with_images: bool = False
) -> Iterator[tuple[int, Document]]:
    seen = fields.Seen(path, "document")
    for number, record in records:
        id_name, doc_id = fields.identifier(path, number, record, ID)
        seen.add(doc_id, number)
        text_name = fields.pick(record, TEXT)
        title = fields.text_of(path, number, record, "title")
        text = fields.text_of(path, number, record, text_name)
        used = {id_name, text_name, "title"}
        pictures, named_in = images.named(path, number, record) if with_images else (None, set())
        metadata = {name: value for name, value in record.items() if name not in {*used, *named_in}}
        if pictures:
            metadata["images"] = pictures
        yield number, Document(doc_id, title, text, metadata)


def _from_json(path: str | PathLike[str]) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in fields.data_lines(path, WANTED):
        yield number, fields.json_object(path, number, line)
