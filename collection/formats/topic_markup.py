"""Topics in markup: TREC's SGML, which is not quite SGML, and XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from xml.parsers import expat

from collection.core.characters import unescaped
from collection.core.errors import FormatError
from collection.core.topic_fields import DEEPEST, spell
from collection.formats import source
from collection.formats.source import FilePath, quote

ID = (
    "query_id", "qid", "_id", "id", "number", "num", "topic_id", "topic", "topic_number", "topid", "identifier",
    "requestnumber", "narrative_id", "request_id",
)  # fmt: skip
"""Names of the id of a topic, in files of all forms."""

ELEMENTS = ("topic", "inex_topic", "productionrequest", "query", "question", "event", "target", "session")
"""Elements that are a topic in XML; the first of them that a file has."""

_LEADING_WORDS = {
    "num": r"number\s*:?",
    "title": r"topic\s*:",
    "desc": r"description[ \t]*(?::|\n)",
    "narr": r"narrative[ \t]*(?::|\n)",
    "dom": r"domain\s*:",
    "smry": r"summary\s*:",
    "con": r"concept(?:s|\(s\))?\s*:",
    "fac": r"factor(?:s|\(s\))?\s*:",
    "def": r"definition(?:s|\(s\))?\s*:",
    "nat": r"nationality\s*:",
    "time": r"time\s*:",
    "head": r"tipster topic description",
    "query": r"query\s*:",
}
"""Sections of TREC's topics over the years, and the word that repeats the name at the begin of their text."""

INLINE = frozenset({"p", "br", "b", "i", "em", "strong", "u", "sub", "sup", "ul", "ol", "li", "a", "span"})
"""Tags within a text, which begin no section."""

_BREAKS = frozenset({"p", "br", "ul", "ol", "li"})
"""Those of them that part words."""

_NEAR = 200
"""Characters between the begin of a line, or another tag, and a tag that may begin a section."""

_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""")
_LANGUAGE = re.compile(r"^[a-z]{2}-(?=(?:title|desc|narr)$)")
"""Language before a name, as in CLEF's ``<EN-title>``."""
PLURALS = {"subtopic": "subtopics"}
"""Elements with attributes whose list has another name."""
_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")


_Section = tuple[str, list[tuple[str, str]], str]
"""Name, attributes and text of a section of SGML."""
_Member = tuple[str, object]


@dataclass
class _Element:
    """An open element of XML: texts inside it, and its members by name."""

    name: str
    attributes: list[tuple[str, str]]
    texts: list[str] = field(default_factory=list)
    members: dict[str, object] = field(default_factory=dict)


def parse(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Line and fields of every topic, for both kinds of markup; names are in lower case."""
    text = source.whole_text(path, what, "of topics in markup", "are these documents?")
    return _sgml(path, text) if re.search(r"(?i)<top[\s>]", text) else iter(_xml(path, text))


def _clean(text: str) -> str:
    return " ".join(text.split())


def as_text(value: object) -> str:
    r"""The text of an element without its attributes; members, and elements of the same name, are lines.

    >>> as_text([{"lang": "en", "text": "Trams"}, "Trains"])
    'Trams\nTrains'
    """
    if isinstance(value, list):
        return "\n".join(filter(None, map(as_text, value)))
    return str(value["text"]) if isinstance(value, Mapping) and "text" in value else spell(value)


def _member(name: str, attributes: Iterable[tuple[str, str]], text: str, members: Mapping[str, object]) -> _Member:
    """Name and value of an element: its text, or an object of its attributes, its text and its members.

    An attribute ``name`` stands for the element's own name.
    """
    values: dict[str, object] = dict(_own_attributes(attributes))
    name = str(values.pop("name", _LANGUAGE.sub("", name)))
    if not values and not members:
        return name, text
    value = {**values, **({"text": text} if text else {}), **members}
    return (PLURALS.get(name, name), [value]) if values else (name, value)


def _own_attributes(attributes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The attributes that say something of the topic; ``xml:lang`` as ``lang``."""
    for name, value in attributes:
        if value and (name == "xml:lang" or not name.startswith("xml")):
            yield name.removeprefix("xml:"), value


def _add(record: dict[str, object], name: str, value: object) -> None:
    """Add a field; the values of elements of the same name are a list."""
    if not value or record.get(name) == value:
        return
    if name in record:
        listed, more = (each if isinstance(each, list) else [each] for each in (record[name], value))
        value = [*listed, *more]
    record[name] = value


def _sgml(path: FilePath, text: str) -> Iterator[tuple[int, dict[str, object]]]:
    sections: list[_Section] | None = None
    start = number = counted = 0
    name, attributes = "", list[tuple[str, str]]()
    line = 1
    for tag in chain(_section_tags(text), [None]):
        end = tag.start() if tag else len(text)
        if sections is not None and name:
            sections.append((name, attributes, text[start:end]))
        begins, name = (not tag[1], tag[2].lower()) if tag else (False, "top")
        attributes = _attributes(tag[3]) if tag else []
        if name == "top":
            if sections is not None:
                yield number, _sgml_record(path, number, sections)
            sections = None
            if begins:
                line += text.count("\n", counted, end)
                counted = end
                sections, number = [(key, [], value) for key, value in _own_attributes(attributes)], line
        name = _LANGUAGE.sub("", name) if begins and name != "top" else ""
        start = tag.end() if tag else end


def _attributes(text: str) -> list[tuple[str, str]]:
    return [(match[1].lower(), match[2] or match[3] or match[4] or "") for match in _ATTRIBUTE.finditer(text)]


def _section_tags(text: str) -> Iterator[re.Match[str]]:
    """The tags that begin or end a section: known ones, and others at the begin of a line or after such a tag."""
    last, opened = 0, ""
    for tag in _TAG.finditer(text):
        name, at = _LANGUAGE.sub("", tag[2].lower()), tag.start()
        before = text[max(at - _NEAR, last) : at].rpartition("\n")
        alone = not before[2].strip() and (bool(before[1]) or at - last < _NEAR)
        if name in ("top", opened, *_LEADING_WORDS) or (name not in INLINE and alone):
            last, opened = tag.end(), "" if tag[1] else name
            yield tag


def _sgml_record(path: FilePath, number: int, sections: Iterable[_Section]) -> dict[str, object]:
    record: dict[str, object] = {}
    parts: dict[str, list[str]] = {}  # joined at the end: thousands of repetitions would be copied each time
    for name, attributes, text in sections:
        word = _LEADING_WORDS.get(name, rf"{re.escape(name)}\s*:")
        cleaned = _clean(unescaped(re.sub(rf"(?i)^\s*{word}", "", text, count=1)))
        key, value = _member(name, attributes, cleaned, {})
        if isinstance(value, str) and (key in parts or key not in record):
            if value:
                parts.setdefault(key, []).append(value)
                record[key] = ""
        elif value:
            if key in parts:
                record[key] = " ".join(parts.pop(key))
            _add(record, key, value)
    if len(numbers := parts.get("num", [])) > 1:
        found = f"several: {', '.join(map(quote, numbers[:3]))}"
        raise FormatError(path, number, "one <num> in each <top>", found, "a line with </top> or <top> may be missing")
    record |= {key: " ".join(texts) for key, texts in parts.items()}
    if not any(record.get(name) for name in ID):
        present = ", ".join(f"<{name}>" for name in record) or "nothing"
        raise FormatError(path, number, "a topic with its number (<num>)", present)
    return record


def _xml(path: FilePath, text: str) -> list[tuple[int, dict[str, object]]]:
    """The topics; white space before the first character, which XML forbids, is skipped.

    A file of several topics without an element around them is read, too.
    """
    names = {tag[1].lower() for tag in re.finditer(r"<([A-Za-z][\w.-]*)", text)}
    element = next((name for name in ELEMENTS if name in names), "topic")
    body = text.lstrip()
    skipped = text[: len(text) - len(body)].count("\n")
    siblings = _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), body, count=1)
    junk = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
    for content in (body, f"<topics>{siblings}</topics>"):
        try:
            topics = _TopicElements(path, element).parse(content)
            break
        except expat.ExpatError as error:
            if error.code != junk or content is not body or "<!DOCTYPE" in body:
                problem = expat.ErrorString(error.code)
                hint = "write & as &amp; and < as &lt; in texts, and close each element"
                raise FormatError(path, skipped + error.lineno, "well-formed XML", problem, hint) from None
    return [(line + skipped, record) for line, record in topics]


class _TopicElements:
    """A parser of the elements that are topics, with the line where each begins."""

    def __init__(self, path: FilePath, element: str) -> None:
        self.path, self.element = path, element
        self.topics: list[tuple[int, dict[str, object]]] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._line = 0
        self._open: list[_Element] = []
        """The open elements; the topic's own is the first."""

    def parse(self, text: str) -> list[tuple[int, dict[str, object]]]:
        """Line and fields of the topics."""
        self._parser.Parse(text, True)
        return self.topics

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name, pairs = name.lower(), [(key.lower(), value) for key, value in attributes.items()]
        if not self._open and name == self.element:
            self._line = self._parser.CurrentLineNumber
            self._open.append(_Element(name, [], members=dict(_own_attributes(pairs))))
        elif self._open:
            if len(self._open) > DEEPEST:
                line = self._parser.CurrentLineNumber
                raise FormatError(self.path, line, f"elements with a depth of at most {DEEPEST}", "more of them")
            if name in _BREAKS:
                self._open[-1].texts.append(" ")
            self._open.append(self._open[-1] if name in INLINE else _Element(name, pairs))

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].texts.append(text)

    def _end(self, name: str) -> None:
        if not self._open:
            return
        element, text = self._open.pop(), ""
        if self._open and self._open[-1] is element:  # an inline element
            element.texts.append(" " if name.lower() in _BREAKS else "")
            return
        text = _clean("".join(element.texts))
        if self._open:
            _add(self._open[-1].members, *_member(element.name, element.attributes, text, element.members))
        else:
            # Some tracks put the whole need between <topic> and </topic>.
            _add(element.members, "text", text)
            self.topics.append((self._line, element.members))

    def _entity(self, name: str, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise FormatError(self.path, line, "XML without entity definitions", f"the entity {quote(name)}")
