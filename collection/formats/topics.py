"""Topics: JSONL, JSON, Parquet, TSV, CSV, XLSX, TREC's SGML, XML, and datasets of ir_datasets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from collection.core.errors import FormatError
from collection.core.frames import TOPICS
from collection.core.phrases import count, join_first, plural
from collection.core.records import Topic
from collection.core.topic_fields import DEEPEST, is_too_deep, read_context, spell, spell_fields, to_frame
from collection.formats import delimited, fields, kinds, objects, smart, source, topic_markup, workbook
from collection.formats.source import FilePath, opens_once

WANTED = "topics"
ID = topic_markup.ID
TITLE = (
    "title", "topic_title", "query", "query_text", "text", "manual_rewritten_utterance", "resolved_utterance",
    "utterance", "raw_utterance", "user_utterance", "content", "body", "requesttext", "topic",
)  # fmt: skip
DESCRIPTION = ("description", "desc", "topic_description", "problem_statement", "question", "text")
NARRATIVE = ("narrative", "narr", "topic_narrative", "background")
_BARE = {width: TOPICS.names[:width] for width in (2, 3, 4)}
_COLON = re.compile(r"([A-Za-z]{0,4}\d+):(?:(\d):)?(\S.*)")
_NUMBERED = re.compile(r"\s*<(\d+)>()\s*([^<\s].*)")
_TURNS = ("turn", "turns", "responses")
_UTTERANCE = ("utterance", "raw_utterance", "user_utterance")
_RESPONSE = ("response", "passage")
_TURN_NUMBER = ("turn_id", "number")
_PARENT = ("parent", "parent_turn")
_SPEAKER = ("participant", "speaker", "role")
_SYSTEM = ("system", "assistant", "agent")
LONGEST_CONVERSATION = 1000
"""Maximum turns of a conversation: each turn is a topic that has all turns before it."""
_INNER = ("metadata", "topics")
"""Members whose own members are fields of the topic: in BEIR's queries, and in NeuCLIR's, first language first."""
WITH_MEANING = frozenset((*ID, *TITLE, *DESCRIPTION, *NARRATIVE, *_INNER))
"""Names of fields that are read as something else than another field of the topic."""
_ANSWERS = (
    "relevant", "rel_docs", "relevant_docs", "gold_ids", "gold_ids_long", "excluded_ids", "positive_passages",
    "negative_passages", "documents", "snippets", "qrels", "provenance", "response_provenance",
    "passage_provenance", "citations", "passage_id", "canonical_result_id", "manual_canonical_result_id",
    "automatic_canonical_result_id",
)  # fmt: skip
"""Fields that name documents to be judged, or their grades; annotators must not see them."""
_ANSWER_IDS = re.compile(r"(?:.*_)?(?:pids|docids|docnos|doc_ids|ctxs)", re.I)
"""Names of further such fields, such as LoTTE's ``answer_pids``."""


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
        conversations (``turn`` of CAsT, ``turns`` of iKAT) each of the user's turns is a topic, with the turns before
        it as ``history``.

    Returns
    -------
    DataFrame
        :data:`.TOPICS` as str, '' for missing texts, in the order of the file; if any topic has other fields,
        ``fields`` has a dict of them for each. The texts of a topic that has only such fields are its title. In SGML
        and XML white space is collapsed, entities are decoded, the words "Number:", "Description:", "Narrative:" are
        left out, and an element with attributes is a dict of these and its ``text``, in a list (``subtopics``:
        ``number``, ``type``, ``text``).

    Raises
    ------
    FormatError
        A missing or repeated id, an id that starts with #, invalid JSON or XML, text that is not UTF-8, another format,
        a conversation of more than 1,000 turns, fields nested more than 50 times, or no topics; with path and line.

    Warns
    -----
    FormatWarning
        Topics without any text; fields that annotators see only on request, or that were left out.

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
        if seen.add(topic.query_id, number, hash((topic[:4], json.dumps(topic.fields, sort_keys=True)))):
            topics.append(topic)
    if not topics:
        raise FormatError(path, None, WANTED, "no topics")
    others.report(path)
    seen.report()
    if blank := [topic.query_id for topic in topics if not "".join(topic[1:4]).strip()]:
        has = f"{count(len(blank), 'topic')} {plural(len(blank), 'has', 'have')}"
        source.warn(path, f"{has} no title, description or narrative ({join_first(map(repr, blank))})")
    return to_frame(topics)


def _records(path: FilePath) -> Iterable[tuple[int, Mapping[str, object]]]:
    """The fields of each topic, read in the form of the first line that is not blank, else of the file's ending."""
    texts = (*TITLE, *DESCRIPTION, *NARRATIVE)
    whole = objects.members(path, WANTED, ID, texts, may_be_titled=True)
    if (records := whole or objects.records(path, WANTED)) is not None:
        conversations, is_table = _Conversations(path), objects.is_binary(path)
        filled = ((at, {k: v for k, v in each.items() if v is not None} if is_table else each) for at, each in records)
        return ((at, each) for at, record in filled for each in conversations.split(at, record))
    number, line = (1, ",") if workbook.is_workbook(path) else fields.first_line(path, WANTED)
    begin, suffix = line.lstrip()[:1], source.suffix(path)
    if _NUMBERED.match(line):
        return _by_line(path, _NUMBERED, "<ID>TEXT, as in the Genomics track")
    if begin == "<":
        return ((at, _with_texts(record)) for at, record in topic_markup.parse(path, WANTED))
    is_csv = suffix == ".csv" or (suffix != ".tsv" and "\t" not in line and fields.find_header(line.split(","), ID))
    if is_csv or "\t" in line or workbook.is_workbook(path):
        separator = delimited.separator_of(path, WANTED) if is_csv or "\t" not in line else "\t"
        rows = delimited.named_records(path, WANTED, separator, ID, _BARE)
        return ((at, {k: v for k, v in row.items() if v or k in (*TOPICS.names, *ID)}) for at, row in rows)
    if _COLON.fullmatch(line.strip()):
        return _by_line(path, _COLON, "ID:TEXT, as in the Million Query track")
    if not smart.BEGIN.match(line):
        wanted = "topics as JSONL, TSV, CSV with a header, TREC SGML (<top>) or XML"
        raise FormatError(path, number, wanted, source.quote(line), "separate the id and the text with a tab")
    return smart.records(path, WANTED, "query_id")


def _with_texts(record: Mapping[str, object]) -> dict[str, object]:
    """A record of markup with the fields that are texts or ids as such, whatever elements they consist of."""
    names = {*ID, *TITLE, *DESCRIPTION, *NARRATIVE}
    return {name: topic_markup.as_text(value) if name in names else value for name, value in record.items()}


def _by_line(path: FilePath, form: re.Pattern[str], name: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Topics of one line each; the groups of `form` are id, priority and text."""
    for number, line in fields.data_lines(path, WANTED):
        match = form.fullmatch(line.strip())
        if match is None:
            hint = "write each topic in one line"
            raise FormatError(path, number, f"a topic as {name}, as in the first line", source.quote(line), hint)
        yield number, {"query_id": match[1], **({"priority": match[2]} if match[2] else {}), "text": match[3]}


class _Conversations:
    """The conversations of a file, each of which is split into topics.

    The turns of a conversation are in order, or each names the one before it (CAsT 2022). A turn that several paths of
    a conversation share is read once, where the file has it first.
    """

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._read: dict[str, list[object]] = {}

    def split(self, at: int, record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
        """Each of the user's turns as a topic ``CONVERSATION_TURN`` with its history, and the fields of both.

        A record without turns, or with the turns before its own question, is one topic.
        """
        name = next((name for name in _TURNS if _are_topics(name, record.get(name))), None)
        turns = record[name] if name and not _is_own(record) else None
        if not isinstance(turns, list):
            yield record
            return
        if len(turns) > LONGEST_CONVERSATION:
            wanted = f"at most {LONGEST_CONVERSATION:,} turns in a conversation"
            raise FormatError(self._path, at, wanted, f"{len(turns):,}", "split the conversation")
        shared = {key: value for key, value in record.items() if key != name}
        id_name = fields.first_present(shared, ID)
        conversation = shared.pop(id_name) if id_name else None
        named = {f"conversation {key}" if key in TITLE else key: value for key, value in shared.items()}
        history, histories = list[object](), dict[str, list[object]]()
        for place, turn in enumerate(turns, start=1):
            number = str(next((turn[key] for key in _TURN_NUMBER if key in turn), place))
            parent = fields.first_present(turn, _PARENT)
            before = histories.get(str(turn[parent]), history) if parent else history
            own = {key: value for key, value in turn.items() if key not in (*_TURN_NUMBER, *_PARENT, *_SPEAKER)}
            is_question = not _is_by_system(turn)
            utterance = (
                (fields.first_present(own, _UTTERANCE) or fields.first_present(own, TITLE)) if is_question else None
            )
            if is_question and (conversation is None or utterance is None):  # its error names the fields
                yield own
                continue
            spoken = {"user": own[utterance] if utterance else None}
            spoken["system"] = next((own[key] for key in _RESPONSE if own.get(key)), None)
            texts = [{"speaker": who, "text": text} for who, text in spoken.items() if isinstance(text, str) and text]
            history = histories[number] = [*before, *texts]
            query_id = f"{conversation}_{number}"
            if is_question and self._read.setdefault(query_id, history) is history:
                yield {"query_id": query_id, **named, **own, **({"history": before} if before else {})}
            elif is_question and self._read[query_id] != history:
                yield {"query_id": query_id, **own}  # refused: another turn has this id


def _is_own(record: Mapping[str, object]) -> bool:
    """Tell whether a record has the names of our own export, so that every other member is a field."""
    return all(isinstance(record.get(name), str) for name in TOPICS.names)


def _with_own_fields(record: Mapping[str, object]) -> Mapping[str, object]:
    """A record of our own export with the members of ``fields``, if it has no other field, as its fields."""
    inner = record.get("fields")
    if not isinstance(inner, dict) or record.keys() != {*TOPICS.names, "fields"}:
        return record
    return {**inner, **{name: record[name] for name in TOPICS.names}}


def _are_topics(name: str, turns: object) -> bool:
    """Tell whether a field has turns of a conversation that are topics, rather than those before a question."""
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, dict) for turn in turns):
        return False
    if name == "responses":  # of iKAT 2025
        return all("turn_id" in turn for turn in turns)
    is_chat = all(
        fields.first_present(turn, _SPEAKER) and not turn.keys() & {*_TURN_NUMBER, *_UTTERANCE} for turn in turns
    )
    return not is_chat


def _is_by_system(turn: Mapping[str, object]) -> bool:
    speaker = fields.first_present(turn, _SPEAKER)
    if speaker and str(turn[speaker]).strip().lower() in _SYSTEM:
        return True
    return fields.first_present(turn, TITLE) is None and fields.first_present(turn, _RESPONSE) is not None


class _OtherFields:
    """Fields of the topics of a file that are neither id, title, description nor narrative."""

    def __init__(self) -> None:
        self._on_request: dict[str, None] = {}
        self._left_out: dict[str, None] = {}

    def keep(self, record: Mapping[str, object], used: Iterable[str]) -> dict[str, object]:
        """The other fields, without those that name documents or grades."""
        return {name: self._without_answers(value) for name, value in self._others(record) if name not in used}

    def show(self, topic: Topic) -> None:
        """Remember the fields of a topic that are shown only on request."""
        self._on_request.update(dict.fromkeys(read_context(topic.fields).others))

    def _others(self, record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        for name, value in record.items():
            if name.lower() not in _ANSWERS and not _ANSWER_IDS.fullmatch(name):
                yield name, value
            elif spell(value):
                self._left_out[name] = None

    def _without_answers(self, value: object) -> object:
        if isinstance(value, dict):
            return {name: self._without_answers(each) for name, each in self._others(value)}
        return [self._without_answers(each) for each in value] if isinstance(value, list) else value

    def report(self, path: FilePath) -> None:
        """Warn of the fields."""
        if self._on_request:
            number = f"{count(len(self._on_request), 'other field')} {plural(len(self._on_request), 'is', 'are')}"
            source.warn(path, f"{number} kept, and shown only on request: {join_first(self._on_request)}")
        if self._left_out:
            names = plural(len(self._left_out), "field that names", "fields that name")
            left_out = f"left out {len(self._left_out)} {names} documents or grades"
            source.warn(path, f"{left_out}, which annotators must not see: {join_first(self._left_out)}")


def _topic(path: FilePath, number: int, record: Mapping[str, object], others: _OtherFields) -> Topic:
    if is_too_deep(record):
        found = "more lists or objects inside each other"
        raise FormatError(path, number, f"fields with a depth of at most {DEEPEST}", found, "flatten them")
    is_own = _is_own(record)
    outer, record = record, _with_own_fields(record) if is_own else _with_inner(record)
    id_name, query_id = fields.find_id(path, number, outer if fields.first_present(outer, ID) else record, ID)
    if query_id.startswith("#"):
        hint = "in runs and qrels, lines that begin with # are comments; rename the topic"
        raise FormatError(path, number, "a topic id that does not begin with #", source.quote(query_id), hint)
    empty = set() if is_own else {name for name in WITH_MEANING if not spell(record.get(name))}
    remaining = {name: value for name, value in record.items() if name != id_name and name not in empty}
    if "query_id" in remaining:  # of the metadata, while the record has another id
        remaining["other_query_id"] = remaining.pop("query_id")
    texts = (TOPICS.names[1:2], TOPICS.names[2:3], TOPICS.names[3:]) if is_own else (TITLE, DESCRIPTION, NARRATIVE)
    used = list[str | None]()
    for names in texts:
        used.append(_first_text(remaining, [name for name in names if name not in used]))
    title, description, narrative = (fields.get_text(path, number, remaining, name) for name in used)
    own_fields = others.keep(remaining, [name for name in used if name])
    spelled = {} if is_own or title or description or narrative else spell_fields(own_fields)
    if spelled:
        title = "; ".join(" ".join(text.split()) for text in spelled.values())
        if len(spelled) == 1 and not any(isinstance(value, dict | list) for value in own_fields.values()):
            own_fields = {}
    topic = Topic(query_id, title, description, narrative, own_fields)
    others.show(topic)
    return topic


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
