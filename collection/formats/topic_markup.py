"""Topics in markup: TREC's SGML, which is not quite SGML, and XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from xml.parsers import expat

from collection.core.characters import unescaped
from collection.core.errors import FormatError
from collection.formats import source
from collection.formats.source import FilePath, quote

ID = (
    "query_id", "qid", "_id", "id", "number", "num", "topic_id", "topic", "topic_number", "topid", "identifier",
    "requestnumber",
)  # fmt: skip
"""Names of the id of a topic, in files of all forms."""

_ELEMENTS = ("topic", "inex_topic", "productionrequest", "query", "question", "event", "target", "session")
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

_INLINE = frozenset({"p", "br", "b", "i", "em", "strong", "u", "sub", "sup", "ul", "ol", "li", "a", "span"})
"""Tags within a text, which begin no section."""

_NEAR = 200
"""Characters between the begin of a line, or another tag, and a tag that may begin a section."""

_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""")
_LANGUAGE = re.compile(r"^[a-z]{2}-(?=(?:title|desc|narr)$)")
"""Language before a name, as in CLEF's ``<EN-title>``."""
_DECLARATION = re.compile(r"<\?xml[^<>]*\?>")


def parse(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Line and fields of every topic, for both kinds of markup; names are in lower case."""
    text = source.whole_text(path, what, "of topics in markup", "are these documents?")
    return _sgml(path, text) if re.search(r"(?i)<top[\s>]", text) else iter(_xml(path, text))


def _clean(text: str) -> str:
    return " ".join(text.split())


def _label(name: str, attributes: Iterable[tuple[str, str]]) -> str:
    """The name of an element with its attributes, by which it differs from others: ``subtopic 2 (inf)``.

    An attribute ``name`` stands for the element's own name.
    """
    values = {each: value for each, value in attributes if value and each != "lang" and not each.startswith("xml")}
    name = values.pop("name", _LANGUAGE.sub("", name))
    number = next((values.pop(each) for each in ("number", "num", "id") if each in values), "")
    others = ", ".join(values.values())
    return " ".join(filter(None, [name, number, others and f"({others})"]))


def _sgml(path: FilePath, text: str) -> Iterator[tuple[int, dict[str, object]]]:
    sections: list[tuple[str, str, str]] | None = None
    start = number = counted = 0
    name = label = ""
    line = 1
    for tag in chain(_section_tags(text), [None]):
        end = tag.start() if tag else len(text)
        if sections is not None and name:
            sections.append((name, label, text[start:end]))
        begins, name = (not tag[1], tag[2].lower()) if tag else (False, "top")
        attributes = _attributes(tag[3]) if tag else []
        if name == "top":
            if sections is not None:
                yield number, _sgml_record(path, number, sections)
            sections = None
            if begins:
                line += text.count("\n", counted, end)
                counted = end
                sections, number = [(key, key, value) for key, value in attributes if key != "lang"], line
        name = _LANGUAGE.sub("", name) if begins and name != "top" else ""
        label = _label(name, attributes)
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
        if name in ("top", opened, *_LEADING_WORDS) or (name not in _INLINE and alone):
            last, opened = tag.end(), "" if tag[1] else name
            yield tag


def _sgml_record(path: FilePath, number: int, sections: Iterable[tuple[str, str, str]]) -> dict[str, object]:
    texts_of: dict[str, list[str]] = {}
    for name, label, text in sections:
        word = _LEADING_WORDS.get(name, rf"{re.escape(name)}\s*:")
        cleaned = _clean(unescaped(re.sub(rf"(?i)^\s*{word}", "", text, count=1)))
        texts_of.setdefault(label, []).append(cleaned)
    record: dict[str, object] = {label: " ".join(filter(None, texts)) for label, texts in texts_of.items()}
    if not any(record.get(name) for name in ID):
        present = ", ".join(f"<{label}>" for label in record) or "nothing"
        raise FormatError(path, number, "a topic with its number (<num>)", present)
    return record


def _xml(path: FilePath, text: str) -> list[tuple[int, dict[str, object]]]:
    """The topics; white space before the first character, which XML forbids, is skipped.

    A file of several topics without an element around them is read, too.
    """
    names = {tag[1].lower() for tag in re.finditer(r"<([A-Za-z][\w.-]*)", text)}
    element = next((name for name in _ELEMENTS if name in names), "topic")
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
                raise FormatError(path, skipped + error.lineno, "well-formed XML", problem) from None
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
        self._record: dict[str, list[str]] | None = None
        self._line = 0
        self._parts: list[tuple[str, list[str]]] = []
        """Label and texts of the topic, or of its child that is open, and of those inside, in the order of the file."""
        self._open: list[int] = []
        """Places in `_parts` of the open elements; the topic's own is the first."""

    def parse(self, text: str) -> list[tuple[int, dict[str, object]]]:
        """Line and fields of the topics."""
        self._parser.Parse(text, True)
        return self.topics

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        pairs = [(key.lower(), value) for key, value in attributes.items()]
        if self._record is None:
            if name.lower() == self.element:
                self._record = {key: [value] for key, value in pairs if key != "lang" and not key.startswith("xml")}
                self._line, self._parts, self._open = self._parser.CurrentLineNumber, [("", [])], [0]
            return
        if name.lower() in _INLINE:
            self._open.append(self._open[-1])
            return
        self._open.append(len(self._parts))
        self._parts.append((_label(name.lower(), pairs), []))

    def _text(self, text: str) -> None:
        if self._record is not None:
            self._parts[self._open[-1]][1].append(text)

    def _end(self, name: str) -> None:
        if self._record is None:
            return
        self._open.pop()
        if len(self._open) == 1 and len(self._parts) > 1:  # a child of the topic
            (label, own), *inside = ((label, _clean("".join(texts))) for label, texts in self._parts[1:])
            lines = [own, *(f"{each}: {text}" for each, text in inside if text)]
            self._record.setdefault(label, []).extend(filter(None, lines))
            del self._parts[1:]
        elif not self._open:
            # Some tracks put the whole need between <topic> and </topic>.
            self._record.setdefault("text", []).append(_clean("".join(self._parts[0][1])))
            record: dict[str, object] = {key: "\n".join(filter(None, texts)) for key, texts in self._record.items()}
            self.topics.append((self._line, {key: text for key, text in record.items() if text}))
            self._record = None

    def _entity(self, name: str, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise FormatError(self.path, line, "XML without entity definitions", f"the entity {quote(name)}")
