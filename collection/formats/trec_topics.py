"""Topics for other tools: TREC's XML, and TREC's SGML with title, description and narrative alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

from collection.core.frames import TOPICS
from collection.core.phrases import count, join_first
from collection.core.records import Topic
from collection.core.topic_fields import spell, to_topics
from collection.formats import beir, source, topic_markup
from collection.formats.source import FilePath
from collection.formats.topics import DESCRIPTION, NARRATIVE, TITLE
from collection.formats.write import NOT_XML, replacing

_NAME = re.compile(r"(?!xml)[a-z][a-z0-9_.-]*")  # names of elements are read in lower case
_SINGULARS = {plural: singular for singular, plural in topic_markup.PLURALS.items()}
_OWN = frozenset((*TOPICS.names, *topic_markup.ID, *topic_markup.ELEMENTS, *topic_markup.INLINE))
"""Names of elements that are never read as a field."""


def write_topic_file(topics: pd.DataFrame, path: FilePath) -> None:
    """Write topics, by the ending of the name: ``.jsonl`` with all fields, ``.xml`` in TREC's XML, else TREC's SGML.

    XML has the fields that are texts, numbers, lists of these, or lists of objects of texts, as elements with
    attributes; :func:`~collection.formats.read_topics` reads numbers, and lists of one text, back as text.

    Warns
    -----
    FormatWarning
        Fields that the form cannot hold, which are left out.
    """
    if source.suffix(path) == ".jsonl":
        beir.write_topics(topics, path)
        return
    topics = TOPICS.check(topics, "writing topics")
    is_xml, left_out = source.suffix(path) == ".xml", dict[str, None]()
    with replacing(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<topics>\n' if is_xml else "")
        for topic in to_topics(topics):
            texts = [" ".join(text.split()) for text in topic[1:4]]
            if is_xml:
                file.write(f"<topic number={quoteattr(topic.query_id)}>\n")
                named = zip(TOPICS.names[1:], texts, strict=True)
                file.writelines(f"<{name}>{_escaped(text)}</{name}>\n" for name, text in named if text)
            else:
                sections = ["<top>\n", f"<num> Number: {topic.query_id}\n<title> {_escaped(texts[0])}\n"]
                sections += [f"<desc> Description:\n{_escaped(texts[1])}\n"] if texts[1] else []
                sections += [f"<narr> Narrative:\n{_escaped(texts[2])}\n"] if texts[2] else []
                file.write("\n".join([*sections, "</top>\n\n"]))
            for name, value in topic.fields.items():
                elements = list(_elements(topic, name, value)) if is_xml else []
                file.writelines(f"{element}\n" for element in elements)
                if not elements and spell(value):
                    left_out[name] = None
            file.write("</topic>\n" if is_xml else "")
        file.write("</topics>\n" if is_xml else "")
    if left_out:
        source.warn(
            path, f"left out {count(len(left_out), 'field')}, which only JSONL can hold: {join_first(left_out)}"
        )


def _elements(topic: Topic, name: str, value: object) -> Iterator[str]:
    """The elements of a field; none if XML would be read back as something else."""
    members = value if isinstance(value, list) else [value]
    singular = _SINGULARS.get(name, name)
    if not _NAME.fullmatch(singular) or singular in _OWN or (name in topic_markup.PLURALS and name == singular):
        return
    named = zip((TITLE, DESCRIPTION, NARRATIVE), topic[1:4], strict=True)
    if any(name in names and not (text and isinstance(value, str)) for names, text in named):
        return  # it would be read as this text of the topic
    made = [_element(singular, member, is_listed=isinstance(value, list)) for member in members]
    if all(made):
        yield from map(str, made)


def _element(name: str, value: object, *, is_listed: bool) -> str | None:
    if isinstance(value, str | int | float):
        return f"<{name}>{_escaped(text)}</{name}>" if (text := " ".join(str(value).split())) else None
    if not is_listed or not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
        return None
    attributes = {key: each for key, each in value.items() if key != "text"}
    if not attributes or "name" in attributes or not all(_NAME.fullmatch(k) and v for k, v in attributes.items()):
        return None
    written = "".join(f" {key}={quoteattr(NOT_XML.sub(' ', each))}" for key, each in attributes.items())
    return f"<{name}{written}>{_escaped(' '.join(str(value.get('text', '')).split()))}</{name}>"


def _escaped(text: str) -> str:
    return escape(NOT_XML.sub("\ufffd", text))
