"""Documents: JSONL, TSV and CSV, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from collection.errors import FormatError
from collection.formats import delimited, fields, images, source
from collection.formats.source import FilePath
from collection.records import Document

WANTED = "documents"
ID = ("doc_id", "docno", "_id", "id")
TEXT = ("text", "contents", "body", "abstract")
# MS MARCO's passages, the same with a title, MS MARCO's documents.
_BARE = {2: ["doc_id", "text"], 3: ["doc_id", "title", "text"], 4: ["doc_id", "url", "title", "text"]}


def read_documents(path: FilePath) -> Iterator[tuple[int, Document]]:
    """Read documents one by one; only their ids are kept in memory.

    Parameters
    ----------
    path
        JSONL, CSV with a header, or TSV with or without one (id, text; id, title, text; or id, url, title, text). The
        id is ``doc_id``, ``docno``, ``_id`` or ``id``; the text ``text``, ``contents``, ``body`` or ``abstract``; then
        ``title``; every other field goes to the metadata. In JSONL ``images`` and ``image`` can name images, one or a
        list: paths relative to the file, addresses (http, https), or objects ``{"src": either, "alt": description}``.

    Yields
    ------
    tuple of int and Document
        The line where the document begins, and the document; a missing text is ''. Images are in the metadata as
        ``images``, a :class:`~collection.formats.images.ImageList`; their files are not opened. Errors are raised when
        their line is reached.
    """
    number, line = fields.first_line(path, WANTED)
    suffix = source.suffix(path)
    if line.lstrip().startswith("{") or suffix in (".jsonl", ".json", ".ndjson"):
        fields.refuse_array(path, number, line)
        return _documents(path, fields.json_records(path, WANTED), with_images=True)
    if suffix == ".csv" or (suffix != ".tsv" and "\t" not in line and "," in line):
        return _documents(path, delimited.named_records(path, WANTED, ",", ID, _BARE))
    if "\t" not in line:
        fields.refuse_array(path, number, line)
        raise FormatError(path, number, "documents as JSONL, as TSV, or as CSV with a header", source.quote(line))
    return _documents(path, delimited.named_records(path, WANTED, "\t", ID, _BARE))


def _documents(
    path: FilePath, records: Iterable[tuple[int, Mapping[str, object]]], *, with_images: bool = False
) -> Iterator[tuple[int, Document]]:
    seen = fields.UniqueIds(path, "document")
    for number, record in records:
        id_name, doc_id = fields.find_id(path, number, record, ID)
        seen.add(doc_id, number)
        text_name = fields.first_present(record, TEXT)
        title = fields.get_text(path, number, record, "title")
        text = fields.get_text(path, number, record, text_name)
        found, used = images.find_images(path, number, record) if with_images else (None, set())
        used |= {id_name, text_name or "title", "title"}
        metadata = {name: value for name, value in record.items() if name not in used}
        if found:
            metadata["images"] = found
        yield number, Document(doc_id, title, text, metadata)
