"""Documents in every form, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from collection.core.characters import without_markup
from collection.core.errors import FormatError, as_path
from collection.core.records import Document
from collection.formats import (
    columns,
    delimited,
    document_folder,
    endnote,
    fields,
    images,
    kinds,
    objects,
    references,
    smart,
    source,
    trec_text,
    workbook,
)
from collection.formats.source import FilePath, opens_once

WANTED = "documents"
ID = fields.DOC_ID
TEXT = (*fields.TEXT, "segment", "passage")
"""Names of the text; MS MARCO v2 has segments and passages."""
_WHOLE = frozenset((*TEXT, *columns.REFERENCE_COLUMNS, "type"))
"""Members by which an object without an id is one document, not an object of several."""
LONGEST_NAME = 10_000
"""Bytes of the member ``pdf`` of an object in which the name of a PDF file is looked for."""
_PDF_NAME = re.compile(rb'"pdf"\s*:\s*"(?![a-z]+:\\?/\\?/)(?:[^"\\]|\\.){0,5000}?\.pdf"', re.I)
# MS MARCO's passages, the same with a title, MS MARCO's documents.
_NUMBERED = re.compile(r"\s*<\d+>\s*")
"""The number of a record in text that Ovid and Embase export."""
_BARE = {2: ["doc_id", "text"], 3: ["doc_id", "title", "text"], 4: ["doc_id", "url", "title", "text"]}


@opens_once
def read_documents(
    path: FilePath, copies: Path | None = None, *, with_pdf_files: bool = True
) -> Iterator[tuple[int, Document]]:
    """Read documents one by one; only their ids are kept in memory.

    Parameters
    ----------
    path
        A folder in which each file is a document (text, Markdown, HTML or PDF; the id is the path in the folder), a
        file of these kinds except text, or a file with many documents:
        JSONL, Parquet, CSV or XLSX with a header, TSV with or without one (id, text; id, title, text; or id, url,
        title, text), TREC's markup (``<DOC> <DOCNO>``), or ``ir_datasets:ID``. The id is ``doc_id``, ``docno``,
        ``_id``, ``id`` or ``docid``; the text ``text``, ``contents``, ``body``, ``abstract``, ``segment`` or
        ``passage``, also a list of paragraphs; then ``title``; every other field goes to the metadata. In JSONL and
        Parquet ``images`` and ``image`` can name images, one or a list: paths relative to the file, addresses (http,
        https), or objects ``{"src": either, "alt": description}``.

        Bibliographic records become documents of the type :class:`~collection.formats.references.Reference`: RIS,
        PubMed's and Web of Science's tagged formats, Refer, BibTeX, EndNote XML, and tables with titles and abstracts
        (or authors, DOIs) but no id.

        In JSONL, ``pdf`` can name a PDF file, as a path relative to the file.
    copies
        An empty folder for copies of PDF files without active content; None if the files are not shown.
    with_pdf_files
        Read the PDF files that a file of many documents names.

    Yields
    ------
    tuple of int and Document
        The line where the document begins, and the document; a missing text is ''. Images are in the metadata as
        ``images``, a :class:`~collection.formats.images.ImageList`; their files are not opened. A PDF file is in the
        metadata as ``pdf``, a :class:`~collection.formats.pdf.PdfFile`. Errors are raised when their line is reached.
        An identical repetition of a document is dropped.

    Warns
    -----
    FormatWarning
        Text outside of records, columns that are not understood, and repetitions that were dropped.
    """
    if as_path(path).is_dir() or document_folder.is_document(path):
        files = document_folder.read_files(path)
        return document_folder.with_pdf_files(path, files, copies, need_pdf=True)
    kinds.refuse_other(path, WANTED)
    if not objects.is_binary(path) and endnote.is_endnote(path, in_one_line=True):  # perhaps longer than others' lines
        return references.read_references(path, WANTED, "endnote")
    if (records := _members(path) or objects.records(path, WANTED)) is not None:
        documents = _from_objects(path, records)
        return _with_named_pdf_files(path, documents, copies) if with_pdf_files else documents
    return _from_text(path)


def _from_text(path: FilePath) -> Iterator[tuple[int, Document]]:
    if workbook.is_workbook(path):
        return _from_table(path, ",")
    number, line = fields.first_line(path, WANTED)
    if form := references.detect(path, line):
        return references.read_references(path, WANTED, form)
    if line.lstrip().startswith("<") and trec_text.is_trec(path, WANTED):
        return _documents(path, trec_text.parse(path, WANTED))
    if smart.BEGIN.match(line):
        return _documents(path, smart.records(path, WANTED, "doc_id", smart.DOCUMENT_NAMES))
    if line.lstrip().lower().startswith(("<!doctype html", "<html")):
        hint = "it may be a saved error page; export or download the file again"
        raise FormatError(path, number, WANTED, "an HTML page", hint)
    separator = delimited.separator_of(path, WANTED)
    if separator not in line and source.suffix(path) != ".csv":
        wanted = "documents as JSONL, TSV, CSV with a header, TREC markup (<DOC>), RIS, nbib, BibTeX or EndNote XML"
        hint = "it may be text of Ovid or Embase; export the records as RIS" if _NUMBERED.fullmatch(line) else ""
        raise FormatError(path, number, wanted, source.quote(line), hint)
    return _from_table(path, separator)


def has_pdf_files(path: FilePath) -> bool:
    """Return whether reading documents may mean reading PDF files, which takes long; JSONL is searched for names."""
    if source.is_dataset(path):
        return False
    if as_path(path).is_dir() or document_folder.is_document(path):
        return True
    if source.suffix(path) not in (".jsonl", ".ndjson", ".json"):
        return False
    try:
        with source.open_bytes(path, WANTED) as file:
            before = b""
            while block := file.read(source.CHUNK // 4):  # memory for larger blocks takes as long as the search
                if _PDF_NAME.search(searched := before + block):
                    return True
                before = searched[-LONGEST_NAME:]
    except (FormatError, *source.BROKEN):  # reading it again raises the error where the line is known
        pass
    return False


def _members(path: FilePath) -> Iterator[tuple[int, dict[str, object]]] | None:
    """The documents of a file that is one JSON object with several."""
    return None if source.suffix(path) == ".jsonl" else objects.members(path, WANTED, ID, _WHOLE)


def _from_objects(path: FilePath, records: Iterator[tuple[int, dict[str, object]]]) -> Iterator[tuple[int, Document]]:
    first = list(islice(records, 1))
    records = chain(first, records)
    if any(references.is_csl(record) for _, record in first):
        yield from references.to_references(records, "csl", path)
    elif any(references.is_record(record) for _, record in first):
        yield from references.to_table_references(path, records)
    else:
        yield from _documents(path, records, with_images=True)


def _with_named_pdf_files(
    path: FilePath, documents: Iterator[tuple[int, Document]], copies: Path | None
) -> Iterator[tuple[int, Document]]:
    named = ((number, document_folder.name_pdf_file(path, document)) for number, document in documents)
    for number, document in named:
        if isinstance(document.metadata.get("pdf"), Path):
            following = chain([(number, document)], named)
            yield from document_folder.with_pdf_files(path, following, copies, need_pdf=False)
        else:
            yield number, document


def _from_table(path: FilePath, separator: str) -> Iterator[tuple[int, Document]]:
    if (rows := delimited.field_rows(path, WANTED, separator)) is not None:
        return references.read_field_rows(path, rows)
    records = delimited.named_records(path, WANTED, separator, ID, _BARE, references.is_record)
    first = next(records)
    if references.is_record(first[1]):
        return references.to_table_references(path, chain([first], records))
    field_columns = columns.reference_fields(tuple(first[1]))
    ours = {field_columns[field][0]: field for field in ("title", "abstract") if field_columns.get(field)}
    if "title" in first[1] or fields.first_present(first[1], TEXT):  # other names of either are names of something else
        ours = {}
    return _documents(path, ((n, {ours.get(k, k): v for k, v in each.items()}) for n, each in chain([first], records)))


def _documents(
    path: FilePath, records: Iterable[tuple[int, Mapping[str, object]]], *, with_images: bool = False
) -> Iterator[tuple[int, Document]]:
    seen = fields.UniqueIds(path, "document")
    for number, record in records:
        names = ("pid",) if "pid" in record and "passage" in record else ID  # the id of its document is another one
        id_name, doc_id = fields.find_id(path, number, record, names)
        if not seen.add(doc_id, number, _content(record)):
            continue
        text_name = fields.first_present(record, TEXT)
        title = fields.get_text(path, number, record, "title")
        joined = _joined(record.get(text_name or ""))
        text = fields.get_text(path, number, record, text_name) if joined is None else joined
        image_list, used = images.find_images(path, number, record) if with_images else (None, set())
        used |= {id_name, text_name or "title", "title"}
        metadata = {name: value for name, value in record.items() if name not in used}
        if image_list:
            metadata["images"] = image_list
        yield number, Document(doc_id, title, text, metadata)
    seen.report()


def _content(record: Mapping[str, object]) -> int:
    """A hash of what a record says."""
    try:
        return hash(tuple(record.items()))
    except TypeError:  # it contains lists or objects
        return hash(repr(record))


def _joined(value: object) -> str | None:
    """The text of a list of paragraphs, each a text or an object with its ``content``; None for another value.

    The Washington Post has such objects, also of images, and of dates as numbers.
    """
    if not isinstance(value, list):
        return None
    paragraphs = [each.get("content", "") if isinstance(each, dict) else each for each in value]
    if not all(each is None or isinstance(each, str | int) for each in paragraphs):
        return None
    return "\n\n".join(without_markup(each) for each in paragraphs if isinstance(each, str) and each)
