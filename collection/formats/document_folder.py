"""A folder in which each file is a document: text, Markdown, HTML and PDF; the id is the path in the folder."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from collection.core.characters import unescaped
from collection.core.errors import FormatError, InputError, as_path
from collection.core.phrases import count, join, join_first, plural
from collection.core.records import Document
from collection.formats import fields, kinds, pdf, references, source
from collection.formats.source import FilePath

WANTED = "a document"
PDF = ".pdf"
FORMS = {".txt": "text/plain", ".md": "text/markdown", ".html": "text/html", ".htm": "text/html", PDF: "text/plain"}
"""Ending of each file that is a document -> the field ``format`` of its text."""
ALONE = frozenset(FORMS) - {".txt"}
"""Endings of documents only; a text file may also be a table of documents."""
TABLES = frozenset(
    (
        ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".xlsx", ".xml", ".trec", ".sgml", ".sgm",
        ".ris", ".nbib", ".ciw", ".bib", ".enw",
    )
)  # fmt: skip
"""Endings of files with many documents, which may be compressed."""

_BLANKS = re.compile(r"[\s\0]+")
_HEADING = re.compile(r" {0,3}#[ \t]+(.*?)[ \t]*#*[ \t]*\Z")
_MARKUP = re.compile(r"(\*{1,3}|`)([^*`]{1,500})\1|!?\[([^\[\]]{1,500})\]\([^()\s]{0,500}\)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*\Z")
_ADDRESS = re.compile(r"[a-z]+://", re.I)
_TITLE = re.compile(r"<title\b[^<>]{0,200}>([^<]{0,2000})</title", re.I)
TITLE_WITHIN = 100_000
"""Characters of an HTML page in which its title is."""
HEADING_WITHIN = 50
"""Lines of Markdown in which the first heading is the title."""

Observation = pdf.PdfProblem | Literal["no text", "early end", "active content"]
"""What is reported of a PDF file."""


class DocumentFiles(NamedTuple):
    """The files of a folder that are documents, by id, and what is left out of it."""

    files: dict[str, Path]
    renamed: list[str]
    hidden: int
    others: Counter[str]
    """Number of other files by ending."""
    links: list[str]
    """Links to folders and out of the folder."""


def is_document(path: FilePath) -> bool:
    """Return whether a path is that of a file that is one document, by its name.

    >>> is_document("papers/a.PDF"), is_document("papers/a.txt"), is_document("docs.jsonl")
    (True, False, False)
    """
    return not source.is_dataset(path) and as_path(path).suffix.lower() in ALONE


def is_document_folder(path: FilePath) -> bool:
    """Return whether a path is that of a folder in which each file is a document.

    Raises
    ------
    InputError
        The folder has both such files and tables of documents.
    """
    if source.is_dataset(path) or not as_path(path).is_dir():
        return False
    folder = as_path(path)
    tables = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name[0] != "." and source.suffix(entry) in TABLES and entry.is_file()
    )
    files = find_document_files(path).files
    alone = [doc_id for doc_id, file in files.items() if file.suffix.lower() in ALONE]
    if tables and alone:
        raise InputError(
            f"{path}: expected files that are one document each, or tables of documents, found both "
            f"({join_first(alone, 1)}, {join_first(tables, 1)}); name the files, or move the others to another folder"
        )
    texts = [file for file in files.values() if file.parent == folder]
    return bool(alone) or bool(files and not tables and not any(map(_is_table, texts[:20])))


def _is_table(path: Path) -> bool:
    """Return whether a text file has many records, such as documents or qrels, by its first lines."""
    try:
        _, line = fields.first_line(path, WANTED)
    except FormatError:
        return False
    begin = line.lstrip().lower()
    if kinds.recognise(path, kinds.DOCUMENTS) is not None:
        return True
    return begin.startswith(("<doc>", "{", "[{")) or "\t" in line.strip() or bool(references.detect(path, line))


def find_document_files(path: FilePath) -> DocumentFiles:
    """The documents in a folder and the folders in it, in the order of their paths; or a file that is one document.

    Raises
    ------
    FormatError
        The name of a file is not UTF-8, or two files would have the same id.
    """
    top = as_path(path)
    if not top.is_dir():
        doc_id = fields.check_id(path, None, _BLANKS.sub("_", unicodedata.normalize("NFC", top.name)))
        return DocumentFiles({doc_id: top}, [], 0, Counter(), [])
    contents = DocumentFiles({}, [], 0, Counter(), [])
    hidden = 0
    inside = top.resolve()
    for place, folders, names in os.walk(top):
        folder = Path(place)
        hidden += sum(name[0] == "." for name in (*folders, *names))
        contents.links.extend(_shown(folder / name, top) for name in folders if (folder / name).is_symlink())
        folders[:] = sorted(name for name in folders if name[0] != "." and name != "__MACOSX")
        for name in sorted(name for name in names if name[0] != "."):
            file = folder / name
            if file.is_symlink() and not file.resolve().is_relative_to(inside):
                contents.links.append(_shown(file, top))
            elif not file.is_file() or file.suffix.lower() not in FORMS:
                contents.others[file.suffix.lower() or "without an ending"] += 1
            else:
                _add(path, top, file, contents)
    return contents._replace(files=dict(sorted(contents.files.items())), hidden=hidden)


def _shown(file: Path, top: Path) -> str:
    return file.relative_to(top).as_posix()


def _add(path: FilePath, top: Path, file: Path, contents: DocumentFiles) -> None:
    name = file.relative_to(top).as_posix()
    if any(0xD800 <= ord(c) <= 0xDFFF for c in name):
        shown = ascii(name)[1:-1]
        raise FormatError(path, None, "files whose names are UTF-8", source.quote(shown), "rename the file")
    normal = unicodedata.normalize("NFC", name)
    doc_id = _BLANKS.sub("_", normal)
    if doc_id in contents.files:
        both = f"{source.quote(_shown(contents.files[doc_id], top))} and {source.quote(name)}"
        raise FormatError(path, None, f"one file with the id {source.quote(doc_id)}", both, "rename one of them")
    if doc_id != normal:
        contents.renamed.append(doc_id)
    contents.files[doc_id] = file


def read_files(path: FilePath) -> Iterator[tuple[int, Document]]:
    """Read the documents of a folder, or a file that is one document, by number.

    Their metadata have ``format``. A PDF file is its path in the field ``pdf``, for :func:`with_pdf_files`.

    Warns
    -----
    FormatWarning
        Files that are left out, and ids that are not the names of their files.
    """
    contents = find_document_files(path)
    _report(path, contents)
    if not contents.files:
        raise FormatError(path, None, "documents", "a folder without PDF, HTML, Markdown or text files")
    for number, (doc_id, file) in enumerate(contents.files.items(), start=1):
        if file.suffix.lower() == PDF:
            yield number, Document(doc_id, metadata={"format": FORMS[PDF], "pdf": file})
        else:
            yield number, _read_text(doc_id, file)


def name_pdf_file(path: FilePath, document: Document) -> Document:
    """Put the path of a PDF file into the field ``pdf`` that names one in the folder of the file `path`, or below."""
    named = document.metadata.get("pdf")
    if not isinstance(named, str) or not named.lower().endswith(PDF) or _ADDRESS.match(named):
        return document
    folder = as_path(path).resolve().parent
    try:
        file = (folder / named).resolve()
        is_there = file.is_relative_to(folder) and file.is_file()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have; a link that leads to itself
        return document
    return document._replace(metadata={**document.metadata, "pdf": file}) if is_there else document


def with_pdf_files(
    path: FilePath, documents: Iterable[tuple[int, Document]], copies: Path | None, *, need_pdf: bool
) -> Iterator[tuple[int, Document]]:
    """Read the PDF files that documents have as paths in their field ``pdf``, which becomes a :class:`.pdf.PdfFile`.

    A title and a text that a document has already are kept.

    Parameters
    ----------
    copies
        An empty folder for copies of PDF files without active content; None if the files are not shown.
    need_pdf
        Leave out documents whose PDF file cannot be read, instead of the file alone.

    Warns
    -----
    FormatWarning
        PDF files that cannot be read, or only in part.
    """
    observations: dict[Observation, list[str]] = {}
    tagged = ((each, file if isinstance(file := each[1].metadata.get("pdf"), Path) else None) for each in documents)
    for (number, document), content in pdf.read_texts(tagged, copies):
        if content is None:
            yield number, document
            continue
        for observation in _observations(content):
            observations.setdefault(observation, []).append(document.doc_id)
        if not content.problem:
            yield number, _with_content(document, content)
        elif not need_pdf:
            yield number, document._replace(metadata={k: v for k, v in document.metadata.items() if k != "pdf"})
    for observation, ids in observations.items():
        source.warn(path, _describe(observation, ids, is_left_out=need_pdf))


def _with_content(document: Document, content: pdf.PdfText) -> Document:
    file = document.metadata["pdf"]
    assert isinstance(file, Path)
    shown = (content.copy or file) if content.checked else None
    title, text = document.title or content.title or file.stem, document.text or content.text
    metadata = {**document.metadata, "pdf": pdf.PdfFile(file, content.sha256, content.pages, content.size, shown)}
    return Document(document.doc_id, title, text, metadata)


def _report(path: FilePath, contents: DocumentFiles) -> None:
    if contents.others:
        by_number = sorted(contents.others.items(), key=lambda item: (-item[1], item[0]))
        endings = join([f"{number:,} {ending}" for ending, number in by_number[:5]])
        more = len(by_number) - 5
        endings += f" and {count(more, 'other ending')}" if more > 0 else ""
        source.warn(path, f"left out {count(sum(contents.others.values()), 'file')} of other kinds ({endings})")
    if contents.hidden:
        source.warn(path, f"left out {count(contents.hidden, 'hidden file or folder', 'hidden files and folders')}")
    if contents.links:
        links = f"{count(len(contents.links), 'symbolic link')} to folders or out of this folder"
        source.warn(path, f"left out {links} ({join_first(contents.links)})")
    if contents.renamed:
        have = plural(len(contents.renamed), "has", "have")
        source.warn(
            path,
            f"{count(len(contents.renamed), 'document id')} {have} '_' in place of the blanks of the file name "
            f"({join_first(contents.renamed)})",
        )


def _observations(content: pdf.PdfText) -> list[Observation]:
    if content.problem:
        return [content.problem]
    observations: list[Observation] = []
    if not content.text:
        observations.append("no text")
    elif content.read < content.pages:
        observations.append("early end")
    if content.copy:
        observations.append("active content")
    return observations


def _describe(observation: Observation, ids: Sequence[str], *, is_left_out: bool) -> str:
    number = len(ids)
    files, have = count(number, "PDF file"), plural(number, "has", "have")
    out = f"{plural(number, 'is', 'are')} {'left out' if is_left_out else 'not shown'}"
    match observation:
        case "password":
            sentence = f"{files} {plural(number, 'needs', 'need')} a password and {out}; save without one"
        case "security":
            sentence = f"{files} {have} an encryption that is not supported and {out}; save without one"
        case "damaged":
            sentence = f"{files} cannot be read and {out}; copy or save again"
        case "large":
            sentence = f"{files} {have} more than {pdf.LARGEST // 10**6:,} MB and {out}; split or compress"
        case "no text":
            sentence = (
                f"{files} {have} no text, like a scan: annotators can judge the pages, but the model and the search "
                "know only the title; a program for text recognition, such as `ocrmypdf`, adds the text"
            )
        case "early end":
            sentence = (
                f"the text of {files} ends early, because {plural(number, 'the file is', 'the files are')} very long "
                "or slow to read; annotators can see all pages"
            )
        case "active content":
            sentence = f"{files} {have} scripts, attachments or other active content; annotators see a copy without it"
    return f"{sentence} ({join_first(ids)})"


def _read_text(doc_id: str, file: Path) -> Document:
    text = source.whole_text(file, WANTED, "of text", "split the file", keep_ends=True)
    form = FORMS[file.suffix.lower()]
    title = _page_title(text) if form == "text/html" else _heading(text) if form == "text/markdown" else ""
    return Document(doc_id, title or file.stem, text, {"format": form})


def _page_title(page: str) -> str:
    match = _TITLE.search(page, 0, TITLE_WITHIN)
    return " ".join(unescaped(match[1]).split()) if match else ""


def _heading(text: str) -> str:
    """The first heading of the highest level at the beginning of Markdown; "" for none."""
    before = ""
    for line in islice(text.splitlines(), HEADING_WITHIN):
        if match := _HEADING.match(line):
            return _MARKUP.sub(r"\2\3", match[1])
        if _UNDERLINE.match(line) and before:
            return _MARKUP.sub(r"\2\3", before)
        before = line.strip()
    return ""
