"""Records of EndNote XML, read a piece at a time, since EndNote writes a library into one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from xml.parsers import expat

from collection.errors import FormatError
from collection.formats import source
from collection.formats.source import BROKEN, FilePath, quote

PIECE = 1 << 16
"""Bytes parsed at a time."""

_FIELDS = {
    "titles/title": "title",
    "abstract": "abstract",
    "contributors/authors/author": "authors",
    "dates/year": "year",
    "periodical/full-title": "journal",
    "titles/secondary-title": "journal",
    "electronic-resource-num": "doi",
    "keywords/keyword": "keywords",
    "urls/related-urls/url": "url",
    "accession-num": "accession",
    "remote-database-name": "database",
    "remote-database-provider": "database",
}
"""Path of an element in a record, without the <style> that surrounds words -> the field."""


def is_endnote(path: FilePath) -> bool:
    """Whether the first element of the file is one of EndNote's."""
    with source.open_bytes(path, "EndNote XML") as file:
        try:
            begin = file.read(PIECE).decode("utf-8", "replace")
        except BROKEN:
            return False
    first = re.search(r"<([A-Za-z][\w-]*)", begin)
    return first is not None and first[1].lower() in ("xml", "records", "record")


def records(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Line and fields (lists of texts) of every <record>."""
    parser = _Records(path)
    with source.open_bytes(path, what) as file:
        try:
            for piece in iter(partial(file.read, PIECE), b""):
                yield from parser.feed(piece)
        except BROKEN as error:
            found = f"damaged data ({str(error).rstrip('.') or type(error).__name__})"
            hint = "the file is truncated or corrupt; copy it again"
            raise FormatError(path, parser.line, f"{what} to the end", found, hint) from None
    yield from parser.feed(b"", last=True)
    if not parser.count:
        raise FormatError(path, None, what, "EndNote XML without a record")


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
        self._done: list[tuple[int, Mapping[str, object]]] = []
        self._record: dict[str, list[str]] | None = None
        self._inside: list[str] = []
        self._begin = self._size = 0

    @property
    def line(self) -> int:
        """The line that was read last."""
        return self._parser.CurrentLineNumber

    def feed(self, piece: bytes, *, last: bool = False) -> list[tuple[int, Mapping[str, object]]]:
        """Parse a piece; the records that end in it."""
        self._done = []
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            found = expat.ErrorString(error.code)
            raise FormatError(self.path, error.lineno, "well-formed XML in UTF-8", found) from None
        return self._done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._record is None:
            if name.lower() == "record":
                self._record, self._inside, self._size, self._begin = {}, [], 0, self.line
        else:
            self._inside.append(name.lower())
            if (field := self._field()) and name.lower() != "style":
                self._record.setdefault(field, []).append("")

    def _field(self) -> str | None:
        return _FIELDS.get("/".join(name for name in self._inside if name != "style"))

    def _text(self, text: str) -> None:
        if self._record is not None and (field := self._field()):
            self._record[field][-1] += text
            self._size += len(text)
            if self._size > source.LONGEST_LINE:
                wanted = f"at most {source.LONGEST_LINE >> 20:,} MiB in a record"
                raise FormatError(self.path, self._begin, wanted, "more")

    def _end(self, name: str) -> None:
        if self._record is None:
            return
        if self._inside:
            self._inside.pop()
            return
        found: dict[str, object] = {field: [" ".join(t.split()) for t in ts] for field, ts in self._record.items()}
        database = " ".join(self._record.get("database", [])).lower()
        if "pubmed" in database or "medline" in database or "nlm" in database.split():
            found["pmid"] = found.get("accession")
        self._done.append((self._begin, found))
        self._record, self.count = None, self.count + 1

    def _entity(self, name: str, *_: object) -> None:
        raise FormatError(self.path, self.line, "XML without entity definitions", f"the entity {quote(name)}")
