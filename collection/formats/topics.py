"""Topics: JSONL, JSON, Parquet, TSV, CSV, XLSX, TREC's SGML, XML, and datasets of ir_datasets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from collection.core.errors import FormatError
from collection.core.frames import TOPICS
from collection.core.phrases import count, join_first, plural
from collection.core.records import Topic
from collection.formats import delimited, fields, kinds, objects, source, topic_markup, workbook
from collection.formats.source import FilePath, opens_once

WANTED = "topics"
ID = topic_markup.ID
TITLE = (
    "title", "topic_title", "query", "query_text", "text", "manual_rewritten_utterance", "resolved_utterance",
    "utterance", "raw_utterance", "content", "body", "requesttext", "topic",
)  # fmt: skip
DESCRIPTION = ("description", "desc", "topic_description", "question")
NARRATIVE = ("narrative", "narr", "topic_narrative")
_BARE = {width: TOPICS.names[:width] for width in (2, 3, 4)}
_SMART = re.compile(r"\.I\s+(\S+)\s*$")
_COLON = re.compile(r"([A-Za-z]{0,4}\d+):(?:(\d):)?(\S.*)")
_NUMBERED = re.compile(r"\s*<(\d+)>()\s*([^<\s].*)")
_TURNS = ("turn", "turns")
_INNER = ("metadata", "topics")
"""Members whose own members are fields of the topic: in BEIR's queries, and in NeuCLIR's, first language first."""
_ANSWERS = (
    "relevant", "rel_docs", "relevant_docs", "gold_ids", "gold_ids_long", "excluded_ids", "positive_passages",
    "negative_passages", "documents", "snippets", "pids", "qrels",
)  # fmt: skip
"""Fields that name documents to be judged, or their grades; annotators must not see them."""


@opens_once
def read_topics(path: FilePath) -> pd.DataFrame:
    r"""Read topics; the format is detected from the content.

    Parameters
    ----------
    path
        JSONL, JSON or Parquet; TSV, CSV or XLSX with a header; TSV without a header (id, title, and optionally
        description and narrative); ``ir_datasets:ID``; TREC's SGML (``<top> <num> Number: 301 <title> ...``), with or
        without end tags; or XML (``<topic number="1"> <query>...``). The id may be named query_id, qid, _id, id, number
        or topic; the title also query or text; the description also desc or question; the narrative also narr. In
        conversations (``turn`` of CAsT, ``turns`` of iKAT) each turn is a topic.

    Returns
    -------
    DataFrame
        :data:`.TOPICS` as str, '' for missing texts, in the order of the file. Other fields follow the
        narrative, one per line under their names; if a topic has only such fields, their texts are its title. In SGML
        and XML white space is collapsed, entities are decoded, and the words "Number:", "Description:", "Narrative:"
        are left out.

    Raises
    ------
    FormatError
        A missing or repeated id, an id that starts with #, invalid JSON or XML, text that is not UTF-8, another format,
        or no topics; with path and line.

    Warns
    -----
    FormatWarning
        Topics without any text; fields that were added to the narrative or left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("topics.tsv").write_text("301\tWing flow\n302\tHeat transfer\n")
    >>> read_topics("topics.tsv")["title"].tolist()
    ['Wing flow', 'Heat transfer']
    """
    kinds.refuse_other(path, WANTED)
    seen = fields.UniqueIds(path, "topic")
    topics, others = [], _OtherFields()
    for number, record in _records(path):
        topic = _topic(path, number, record, others)
        if seen.add(topic.query_id, number, hash(topic)):
            topics.append(topic)
    if not topics:
        raise FormatError(path, None, WANTED, "no topics")
    others.report(path)
    seen.report()
    if blank := [topic.query_id for topic in topics if not "".join(topic[1:]).strip()]:
        has = f"{count(len(blank), 'topic')} {plural(len(blank), 'has', 'have')}"
        source.warn(path, f"{has} no title, description or narrative ({join_first(map(repr, blank))})")
    return TOPICS.check(pd.DataFrame(topics, columns=list(TOPICS.names), dtype="str"))


def _records(path: FilePath) -> Iterable[tuple[int, Mapping[str, object]]]:
    """The fields of each topic, read in the form of the first line that is not blank, else of the file's ending."""
    if (records := _from_object(path) or objects.records(path, WANTED)) is not None:
        return ((at, each) for at, record in records for each in _turns(record))
    number, line = (1, ",") if workbook.is_workbook(path) else fields.first_line(path, WANTED)
    begin, suffix = line.lstrip()[:1], source.suffix(path)
    if _NUMBERED.match(line):
        return _by_line(path, _NUMBERED, "<ID>TEXT, as in the Genomics track")
    if begin == "<":
        return topic_markup.parse(path, WANTED)
    is_csv = suffix == ".csv" or (suffix != ".tsv" and "\t" not in line and fields.find_header(line.split(","), ID))
    if is_csv or "\t" in line or workbook.is_workbook(path):
        separator = delimited.separator_of(path, WANTED) if is_csv or "\t" not in line else "\t"
        return delimited.named_records(path, WANTED, separator, ID, _BARE)
    if _COLON.fullmatch(line.strip()):
        return _by_line(path, _COLON, "ID:TEXT, as in the Million Query track")
    if not _SMART.match(line):
        wanted = "topics as JSONL, TSV, CSV with a header, TREC SGML (<top>) or XML"
        raise FormatError(path, number, wanted, source.quote(line), "separate the id and the text with a tab")
    return _smart(path)


def _from_object(path: FilePath) -> Iterator[tuple[int, dict[str, object]]] | None:
    """The topics of a file that is one JSON object: a list of topics, or ids with texts or topics; else None."""
    if objects.is_binary(path) or not fields.first_line(path, WANTED)[1].lstrip().startswith("{"):
        return None
    whole = fields.whole_object(path, WANTED)
    if whole is None or fields.first_present(whole, ID):
        return None
    lists = [value for value in whole.values() if isinstance(value, list)]
    if len(lists) == 1 and all(isinstance(each, dict) for each in lists[0]):
        return ((1, each) for each in lists[0])
    if all(isinstance(each, str | dict) for each in whole.values()):
        members = ((name, each if isinstance(each, dict) else {"text": each}) for name, each in whole.items())
        return ((1, {"query_id": name, **each}) for name, each in members)
    return None


def _by_line(path: FilePath, form: re.Pattern[str], name: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Topics of one line each; the groups of `form` are id, priority and text."""
    for number, line in fields.data_lines(path, WANTED):
        match = form.fullmatch(line.strip())
        if match is None:
            hint = "write each topic in one line"
            raise FormatError(path, number, f"a topic as {name}, as in the first line", source.quote(line), hint)
        yield number, {"query_id": match[1], "priority": match[2], "text": match[3]}


def _smart(path: FilePath) -> Iterator[tuple[int, dict[str, object]]]:
    """Topics of SMART's collections (Cranfield, CACM, Medline): ``.I ID``, ``.W`` and the text, other sections."""
    begin, sections, name = 0, dict[str, list[str]](), ""
    for number, line in fields.data_lines(path, WANTED):
        if match := _SMART.match(line):
            if begin:
                yield begin, _smart_record(sections)
            begin, sections, name = number, {"query_id": [match[1]]}, ""
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            name = {"W": "text", "T": "title"}.get(line[1], line[1])
        elif name:
            sections.setdefault(name, []).append(line.strip())
    yield begin, _smart_record(sections)


def _smart_record(sections: Mapping[str, Sequence[str]]) -> dict[str, object]:
    return {name: " ".join(lines) for name, lines in sections.items()}


def _turns(record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Each turn of a conversation as a topic with the id ``CONVERSATION_TURN``, its history and the other fields.

    A record without turns is one topic.
    """
    name = next((name for name in _TURNS if isinstance(record.get(name), list)), None)
    turns = record[name] if name else None
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        yield record
        return
    shared = {key: value for key, value in record.items() if key != name}
    id_name = fields.first_present(shared, ID)
    conversation = shared.pop(id_name) if id_name else None
    history: list[object] = []
    for place, turn in enumerate(turns, start=1):
        number = next((turn[key] for key in ("turn_id", "number") if key in turn), place)
        own = {key: value for key, value in turn.items() if key not in ("turn_id", "number")}
        said = fields.first_present(own, TITLE)
        if conversation is None or said is None:  # its error names the fields
            yield own
            continue
        named = {f"conversation {key}" if key in TITLE else key: value for key, value in shared.items()}
        yield {"query_id": f"{conversation}_{number}", **named, **own, "history": list(history)}
        history += [own[key] for key in (said, "response", "passage") if own.get(key)]


class _OtherFields:
    """Fields of the topics of a file that are neither id, title, description nor narrative."""

    def __init__(self) -> None:
        self._added: dict[str, None] = {}
        self._left_out: dict[str, None] = {}

    def texts(self, record: Mapping[str, object], used: Iterable[str]) -> dict[str, str]:
        """Each other field that is not empty, as text, by name."""
        texts = {}
        for name, value in record.items():
            text = "" if name in used else _spell(value)
            if text and name.lower() in _ANSWERS:
                self._left_out[name] = None
            elif text:
                texts[" ".join(name.split())] = text
        return texts

    def add(self, names: Iterable[str]) -> None:
        """Remember fields that were added to a narrative."""
        self._added.update(dict.fromkeys(names))

    def report(self, path: FilePath) -> None:
        """Warn of the fields."""
        if self._added:
            follow = f"{count(len(self._added), 'other field')} {plural(len(self._added), 'follows', 'follow')}"
            source.warn(path, f"{follow} the narrative: {join_first(self._added)}")
        if self._left_out:
            names = plural(len(self._left_out), "field that names", "fields that name")
            left_out = f"left out {len(self._left_out)} {names} documents or grades"
            source.warn(path, f"{left_out}, which annotators must not see: {join_first(self._left_out)}")


def _topic(path: FilePath, number: int, record: Mapping[str, object], others: _OtherFields) -> Topic:
    record = _with_inner(record)
    id_name, query_id = fields.find_id(path, number, record, ID)
    if query_id.startswith("#"):
        hint = "in runs and qrels, lines that begin with # are comments; rename the topic"
        raise FormatError(path, number, "a topic id that does not begin with #", source.quote(query_id), hint)
    remaining = {name: value for name, value in record.items() if name != id_name}
    used = [_first_text(remaining, names) for names in (TITLE, DESCRIPTION, NARRATIVE)]
    title, description, narrative = (fields.get_text(path, number, remaining, name) for name in used)
    more = others.texts(remaining, [name for name in used if name])
    if more and not (title or description or narrative):
        title = "; ".join(" ".join(text.split()) for text in more.values())
        more = more if len(more) > 1 else {}
    others.add(more)
    lines = [f"{name}:\n{text}" if "\n" in text else f"{name}: {text}" for name, text in more.items()]
    return Topic(query_id, title, description, "\n".join([narrative, *lines] if narrative else lines))


def _first_text(record: Mapping[str, object], names: Iterable[str]) -> str | None:
    """The first of `names` whose value is not empty, else the first that is present."""
    names = [name for name in names if record.get(name) is not None]
    return next((name for name in names if str(record[name]).strip()), names[0] if names else None)


def _with_inner(record: Mapping[str, object]) -> Mapping[str, object]:
    """The record with the members of :data:`_INNER` as fields, where it has no such field itself."""
    for name in _INNER:
        value = record.get(name)
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            rest = {name: value[1:]} if isinstance(value, list) else {}
            record = {**inner, **{key: each for key, each in record.items() if key != name}, **rest}
    return record


def _spell(value: object) -> str:
    """A field as text: each member of a list or an object on a line; '' if there is nothing in it."""
    if isinstance(value, dict):
        spelled = ((name, _spell_member(each)) for name, each in value.items())
        return "\n".join(f"{name}: {text}" for name, text in spelled if text)
    if isinstance(value, list):
        return "\n".join(filter(None, map(_spell_member, value)))
    return "" if value is None else str(value).strip()


def _spell_member(value: object) -> str:
    if isinstance(value, dict) and not any(isinstance(each, dict | list) for each in value.values()):
        return "; ".join(_spell(value).splitlines())
    if not isinstance(value, dict | list):
        return _spell(value)
    try:
        return json.dumps(value, ensure_ascii=False) if value else ""
    except RecursionError:
        return "..."
