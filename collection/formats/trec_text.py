"""Documents in TREC's markup, ``<DOC> <DOCNO>id</DOCNO> ... <TEXT>...</TEXT> </DOC>``, which is not valid SGML."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from collection.core.characters import unescaped
from collection.core.errors import FormatError
from collection.formats import source
from collection.formats.source import FilePath, quote

_WORD = re.compile(r"\S")
_BEGIN, _END = re.compile(r"(?i)<doc(\s[^<>]*)?>"), re.compile(r"(?i)</doc>")
_AROUND = re.compile(r"(?i)\s*<[?!/]?(?!/?doc(?:no)?\b)[a-z][^<>]*>\s*")
"""A declaration, or a tag around the documents, such as ``<DOCSTREAM>`` of Gigaword."""
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*["']?([^"'<>]*?)["']?(?=\s|$)""")
# Possessive: a tag that never ends is searched once, not from each of its hyphens again.
_TAG = re.compile(r"<(/?)([A-Za-z]\w*+(?:-++\w++)*+)[^<>]*+>")
_BREAK = re.compile(r"(?i)</?(?:p|br|div|h[1-6]|hr|li|tr|td|th|table|title|head|body|option|dt|dd)\b[^<>]*>")
_TITLES = ("title", "headline", "hl", "head", "ttl", "ti")
_TEXTS = ("text", "body", "leadpara", "lp", "graphic", "caption")
_LEFT_OUT = ("docno", "docid", "docoldno", "dochdr")
"""Elements of pages that are not part of their text."""
_LONGEST = 200
"""Maximum characters of another element that is kept as a field."""


class _Element(NamedTuple):
    name: str
    content: str
    start: int
    end: int


def is_trec(path: FilePath, what: str) -> bool:
    """Tell whether a file begins with a document, perhaps behind declarations and tags around all documents."""
    lines = (line for _, line in source.lines(path, what) if line.strip())
    first = next((line for line in islice(lines, 10) if not _AROUND.fullmatch(line)), "")
    return _BEGIN.match(first.lstrip()) is not None


def parse(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Line and fields of every document: ``docno``, ``title``, ``text`` without tags, and short other elements.

    The id is that of ``<DOCNO>``, else of ``<DOCID>``, else of an attribute of ``<DOC>``. The title is the first of
    ``<TITLE>``, ``<HEADLINE>`` and the like. The text is that of ``<TEXT>`` and the like, or, if there is none,
    everything except id and title.
    """
    block: list[str] = []
    begin = size = 0
    attributes = ""
    for number, line in source.lines(path, what):
        at = 0
        while True:
            if not begin:
                first = _WORD.search(line, at)
                if first is None:
                    break
                at = first.start()
                match = _BEGIN.match(line, at)
                if match is None and _AROUND.fullmatch(line, at):
                    break
                if match is None:
                    raise FormatError(path, number, "<DOC>, which begins a document", quote(line[at:].rstrip()))
                begin, size, at, attributes = number, 0, match.end(), match[1] or ""
            end = _END.search(line, at)
            if end is None:
                break
            yield begin, _record(path, begin, "\n".join([*block, line[at : end.start()]]), attributes)
            block, begin, at = [], 0, end.end()
        if not begin:
            continue
        block.append(line[at:])
        size += len(line) - at + 1
        source.require_size(path, begin, size, "in a document", "it may lack </DOC>")
    if begin:
        raise FormatError(path, begin, "</DOC> at the end of the document", "the end of the file")


def _record(path: FilePath, number: int, block: str, attributes: str) -> dict[str, object]:
    if nested := _BEGIN.search(block):
        line = number + block.count("\n", 0, nested.start())
        raise FormatError(path, line, "</DOC> before the next <DOC>", "<DOC>")
    tags = list(_TAG.finditer(block))
    elements = list(_elements(block, tags))
    title = next(_elements(block, [tag for tag in tags if tag[2].lower() in _TITLES]), None)
    record: dict[str, object] = {name.lower(): value for name, value in _ATTRIBUTE.findall(attributes)}
    for name, content, *_ in elements:
        short = " ".join(_plain(content).split())
        if name not in (*_TITLES, *_TEXTS) and 0 < len(short) <= _LONGEST:
            record.setdefault(name, short)
    if "docno" not in record and (name := next((name for name in ("docid", "id") if name in record), "")):
        record["docno"] = record.pop(name)
    if "docno" not in record:
        raise FormatError(path, number, "a document with its id (<DOCNO>)", quote(" ".join(block.split())))
    texts = [_plain(element.content).strip() for element in elements if element.name in _TEXTS]
    if not texts:
        record = {"docno": record["docno"]}
        left_out = [element for element in elements if element.name in (*_TITLES, *_LEFT_OUT)]
        starts, ends = [0, *(each.end for each in left_out)], [*(each.start for each in left_out), len(block)]
        texts = [_plain("\n".join(block[start:end] for start, end in zip(starts, ends, strict=True))).strip()]
    headline = " ".join(_plain(title.content).split()) if title else ""
    record = {
        name: value for name, value in record.items() if name == "docno" or value != headline
    }  # elements around the title
    record["title"] = headline
    record["text"] = "\n\n".join(filter(None, texts))
    return record


def _elements(block: str, tags: list[re.Match[str]]) -> Iterator[_Element]:
    """The outermost elements of these tags; a tag without an end is none."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for tag in tags:
        if tag[1]:
            ends.setdefault(tag[2].lower(), []).append(tag.span())
    at = 0
    for tag in tags:
        spans = ends.get(tag[2].lower(), [])
        place = bisect(spans, (tag.end(), 0))
        if not tag[1] and tag.start() >= at and place < len(spans):
            first, at = spans[place]
            yield _Element(tag[2].lower(), block[tag.end() : first], tag.start(), at)


def _plain(markup: str) -> str:
    """The text of markup without tags; paragraphs begin a line, and entities are decoded."""
    return unescaped(_TAG.sub("", _BREAK.sub("\n", markup))).replace("\0", "\ufffd")
