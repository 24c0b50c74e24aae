"""Topics in markup: TREC's SGML, which is not quite SGML, and XML."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from xml.parsers import expat

from collection.characters import unescaped
from collection.errors import FormatError
from collection.formats import fields, source
from collection.formats.source import FilePath, quote
from collection.records import Topic

ID = ("query_id", "qid", "_id", "id", "number", "topic")
TITLE = ("title", "query", "text")
DESCRIPTION = ("description", "desc", "question")
NARRATIVE = ("narrative", "narr")

# Sections of TREC topics over the years; other tags begin a section only at the beginning of a line, so that a <b> in a
# text stays text.
_SECTIONS = ["top", "num", "title", "desc", "narr", "head", "dom", "smry", "con", "fac", "def", "nat"]
_TAG = re.compile(rf"(?i)</?({'|'.join(_SECTIONS)})\s*>|(?m:^[ \t]*)</?([a-z]+)\s*>")
_LEADING_WORD = {
    "num": re.compile(r"(?i)^\s*(?:number\s*:)?"),
    "title": re.compile(r"(?i)^\s*(?:topic\s*:)?"),
    "desc": re.compile(r"(?i)^\s*(?:description\s*:)?"),
    "narr": re.compile(r"(?i)^\s*(?:narrative\s*:)?"),
}


def parse(path: FilePath, what: str) -> Iterator[tuple[int, Topic]]:
    """Line and topic, for both kinds of markup."""
    lines, size = [], 0
    for number, line in source.lines(path, what):
        size += len(line) + 1
        if size > source.LONGEST_LINE:  # a document between angle brackets is parsed in one piece
            wanted = f"at most {source.LONGEST_LINE >> 20:,} MiB of topics in markup"
            raise FormatError(path, number, wanted, "more", "are these documents?")
        lines.append(line)
    text = "\n".join(lines)
    if re.search(r"(?i)<top\s*>", text):
        return _sgml(path, text)
    return iter(_TopicElements(path).parse(text))


def _clean(text: str) -> str:
    return " ".join(text.split())


def _sgml(path: FilePath, text: str) -> Iterator[tuple[int, Topic]]:
    sections: defaultdict[str, list[str]] | None = None
    start = number = counted = 0
    name = ""
    line = 1
    for tag in chain(_TAG.finditer(text), [None]):
        end = tag.start() if tag else len(text)
        if sections is not None and name:
            sections[name].append(text[start:end])
        tag_name = (tag[1] or tag[2]).lower() if tag else "top"
        if tag_name == "top":
            if sections is not None:
                yield number, _sgml_topic(path, number, {each: " ".join(texts) for each, texts in sections.items()})
            sections = None
            if tag and "/" not in tag[0]:
                line += text.count("\n", counted, end)
                counted = end
                sections, number = defaultdict(list), line
        name = tag_name if tag and "/" not in tag[0] else ""
        start = tag.end() if tag else end


def _sgml_topic(path: FilePath, number: int, sections: Mapping[str, str]) -> Topic:
    texts = {
        name: _clean(unescaped(word.sub("", sections.get(name, ""), count=1))) for name, word in _LEADING_WORD.items()
    }
    if not texts["num"]:
        there = ", ".join(f"<{s}>" for s in sections if s != "top") or "nothing"
        raise FormatError(path, number, "a topic with its number (<num>)", there)
    query_id = fields.check_id(path, number, texts["num"])
    return Topic(query_id, texts["title"], texts["desc"], texts["narr"])


class _TopicElements:
    """A parser of <topic> elements with the line where each begins."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.topics: list[tuple[int, Topic]] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._record: defaultdict[str, list[str]] | None = None
        self._depth = self._line = 0
        self._child = ""
        self._own: list[str] = []

    def parse(self, text: str) -> list[tuple[int, Topic]]:
        """The topics; white space before the first character, which XML forbids, is skipped."""
        body = text.lstrip()
        skipped = text[: len(text) - len(body)].count("\n")
        try:
            self._parser.Parse(body, True)
        except expat.ExpatError as error:
            found = expat.ErrorString(error.code)
            raise FormatError(self.path, skipped + error.lineno, "well-formed XML", found) from None
        return [(line + skipped, topic) for line, topic in self.topics]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._record is None:
            if name.lower() == "topic":
                self._record = defaultdict(list, {k.lower(): [v] for k, v in attributes.items() if k.lower() in ID})
                self._depth, self._line, self._own = 0, self._parser.CurrentLineNumber, []
            return
        self._depth += 1
        if self._depth == 1:
            self._child = name.lower()

    def _text(self, text: str) -> None:
        if self._record is None:
            return
        if self._depth == 0:
            self._own.append(text)
        else:
            self._record[self._child].append(text)

    def _end(self, name: str) -> None:
        if self._record is None:
            return
        if self._depth:
            self._depth -= 1
            return
        record = {k: _clean("".join(texts)) for k, texts in self._record.items()}
        self._record = None
        _, query_id = fields.find_id(self.path, self._line, {k: v for k, v in record.items() if v}, ID)
        texts = [record.get(fields.first_present(record, names) or "", "") for names in (TITLE, DESCRIPTION, NARRATIVE)]
        # Some tracks put the whole need between <topic> and </topic>.
        self.topics.append((self._line, Topic(query_id, texts[0] or _clean("".join(self._own)), *texts[1:])))

    def _entity(self, name: str, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise FormatError(self.path, line, "XML without entity definitions", f"the entity {quote(name)}")
