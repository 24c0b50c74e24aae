"""Records of the XML of EndNote, PubMed and ICTRP, read piece by piece: EndNote writes a library into one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple
from xml.parsers import expat

from collection.core.errors import FormatError
from collection.formats import source, tagged
from collection.formats.source import BROKEN, FilePath, quote

PIECE = 1 << 16
"""Bytes parsed at a time."""

_FIELDS = {
    "titles/title": "title",
    "abstract": "abstract",
    "contributors/authors/author": "authors",
    "dates/year": "year",
    "periodical/full-title": "journal",
    "pages": "pages",
    "titles/secondary-title": "journal",
    "electronic-resource-num": "doi",
    "keywords/keyword": "keywords",
    "urls/related-urls/url": "url",
    "accession-num": "accession",
    "language": "language",
    "medlinecitation/pmid": "pmid",
    "medlinecitation/article/articletitle": "title",
    "medlinecitation/article/vernaculartitle": "vernaculartitle",
    "medlinecitation/article/abstract/abstracttext": "abstract",
    "medlinecitation/article/authorlist/author": "authors",
    "medlinecitation/article/journal/title": "journal",
    "medlinecitation/article/journal/journalissue/pubdate/year": "year",
    "medlinecitation/article/journal/journalissue/pubdate/medlinedate": "year",
    "medlinecitation/article/pagination/medlinepgn": "pages",
    "medlinecitation/article/pagination/startpage": "startpage",
    "medlinecitation/article/pagination/endpage": "endpage",
    "medlinecitation/article/elocationid": "articleid",
    "medlinecitation/article/language": "language",
    "bookdocument/language": "language",
    "medlinecitation/keywordlist/keyword": "keywords",
    "medlinecitation/meshheadinglist/meshheading/descriptorname": "keywords",
    "pubmeddata/articleidlist/articleid": "articleid",
    "bookdocument/pmid": "pmid",
    "bookdocument/articletitle": "title",
    "bookdocument/book/booktitle": "journal",
    "bookdocument/abstract/abstracttext": "abstract",
    "bookdocument/authorlist/author": "authors",
    "bookdocument/book/pubdate/year": "year",
    "trialid": "registration",
    "public_title": "title",
    "scientific_title": "vernaculartitle",
    "date_registration": "year",
    "web_address": "url",
    "bookdocument/articleidlist/articleid": "articleid",
}
"""Path of an element in a record -> the field; elements inside are part of its text."""
_DATABASE = ("remote-database-name", "remote-database-provider")
_LEFT_OUT = ("pubmeddata/referencelist", "pubmeddata/history")
"""Paths of elements that say nothing of the record itself."""
_PARTS = frozenset(
    f"{document}/authorlist/author/{part}"
    for document in ("medlinecitation/article", "bookdocument")
    for part in ("lastname", "forename", "collectivename")
)
"""Path of an element with a part of the text of the element around it, which has no text of its own."""
_WHOLES = frozenset(path.rpartition("/")[0] for path in _PARTS)
_ICTRP = "trials_downloaded_from_ictrp"
_RECORDS = ("record", "pubmedarticle", "pubmedbookarticle", "trial")
_DEEPEST = 12
"""Names in a path; deeper elements are part of the text around them."""


def is_endnote(path: FilePath, *, in_one_line: bool = False) -> bool:
    """Tell whether the first element of the file is one of EndNote's or ICTRP's, or PubMed's with a record.

    With `in_one_line`, only a file whose first 64 KiB have no line end after the XML declaration is one.
    """
    with source.open_bytes(path, "EndNote XML") as file:
        try:
            begin = file.read(PIECE).decode("utf-8", "replace")
        except BROKEN:
            return False
    first = re.search(r"<([A-Za-z][\w-]*)", begin)
    if in_one_line and (len(begin) < PIECE // 4 or first is None or "\n" in begin[first.start() :]):
        return False
    if first is not None and first[1].lower().startswith("pubmed"):
        return re.search(r"<Pubmed(?:Book)?Article[\s>]", begin) is not None
    return first is not None and first[1].lower() in ("xml", "records", "record", _ICTRP)


def records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Line and texts by path, such as "titles/title", of every record of EndNote, PubMed or ICTRP."""
    parser = _Records(path)
    with source.open_bytes(path, what) as file:
        try:
            for piece in iter(partial(file.read, PIECE), b""):
                yield from parser.feed(piece)
        except BROKEN as error:
            raise source.damaged_error(path, parser.line, what, error) from None
    yield from parser.feed(b"", last=True)
    if not parser.count:
        raise FormatError(path, None, what, "EndNote XML without a record")


def is_from_pubmed(texts: Iterable[str]) -> bool:
    """Tell whether the paths of a record are those of PubMed's XML."""
    return any(path.startswith(("medlinecitation/", "bookdocument/")) for path in texts)


def field_of(path: str) -> str | None:
    """The field of :data:`collection.formats.columns.RECORD_TAGS` that a path has, if any."""
    return _FIELDS.get(path)


def name_fields(texts: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The fields of :data:`collection.formats.columns.RECORD_TAGS` in the texts of a record by path."""
    record: dict[str, list[str]] = {}
    for path, some in texts.items():
        if field := _FIELDS.get(path):
            record.setdefault(field, []).extend(some)
    if tagged.is_pubmed(" ".join(text for path in _DATABASE for text in texts.get(path, []))):
        record["pmid"] = record.get("accession", [])
    return record


class _Element(NamedTuple):
    """An open element: its path, and the pieces of the text that it belongs to; None for one that is left out."""

    path: str
    pieces: list[str] | None


class _Records:
    """A parser that keeps one record at a time."""

    def __init__(self, path: FilePath) -> None:
        self.path, self.count = path, 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._done: list[tuple[int, dict[str, list[str]]]] = []
        self._record: dict[str, list[list[str]]] | None = None
        """Path -> the pieces of each of its texts: adding to a text takes time that grows with its square."""
        self._open: list[_Element] = []
        self._begin = self._size = 0

    @property
    def line(self) -> int:
        """The line that was read last."""
        return self._parser.CurrentLineNumber

    def feed(self, piece: bytes, *, last: bool = False) -> list[tuple[int, dict[str, list[str]]]]:
        """Parse a piece; the records that end in it."""
        self._done = []
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            raise FormatError(self.path, error.lineno, "well-formed XML in UTF-8", problem) from None
        return self._done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._record is None:
            if name.lower() in _RECORDS:
                self._record, self._open, self._size, self._begin = {}, [], 0, self.line
            return
        self._grow(len(name))
        name, around = name.lower(), self._open[-1] if self._open else _Element("", [])
        above = around.path
        path = f"{above}/{name}" if above else name
        if (
            name == "style"
            or above in _PARTS
            or (above in _FIELDS and above not in _WHOLES)
            or len(self._open) > _DEEPEST
        ):
            self._open.append(around)
        elif around.pieces is None or path in _LEFT_OUT:
            self._open.append(_Element(path, None))
        elif path in _PARTS:
            whole = self._record[above][-1]
            whole += [", "] if whole else []
            self._open.append(_Element(path, whole))
        else:
            label = attributes.get("Label", "")
            pieces = [f"{label}: "] if label else []
            self._open.append(_Element(path, pieces))
            if path in _FIELDS:
                self._record.setdefault(path, []).append(pieces)
            if path == "ref-type" and "name" in attributes:
                self._record["ref-type@name"] = [[attributes["name"]]]

    def _grow(self, size: int) -> None:
        self._size += size
        source.require_size(self.path, self._begin, self._size, "in a record")

    def _text(self, text: str) -> None:
        if self._record is None or not self._open:
            return
        path, pieces = self._open[-1]
        if pieces is None or path in _WHOLES:
            return
        if not pieces and path not in _FIELDS and path not in _PARTS:
            if not text.strip():
                return
            self._record.setdefault(path, []).append(pieces)
        pieces.append(text)
        self._grow(len(text))

    def _end(self, name: str) -> None:
        if self._record is None:
            return
        if self._open:
            self._open.pop()
            return
        texts = {path: [" ".join("".join(each).split()) for each in some] for path, some in self._record.items()}
        self._done.append((self._begin, texts))
        self._record, self.count = None, self.count + 1

    def _entity(self, name: str, *_: object) -> None:
        raise FormatError(self.path, self.line, "XML without entity definitions", f"the entity {quote(name)}")
