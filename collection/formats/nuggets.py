"""Nuggets and nugget assignments: JSONL of nuggetizer and TREC RAG, rubrics, nugget banks, and tables."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from collection.core.answers import NuggetLabels
from collection.core.errors import FormatError, numbered
from collection.core.frames import ANSWERS, NUGGET_ASSIGNMENTS, NUGGETS
from collection.formats import answer_records, delimited, fields, kinds
from collection.formats.answer_records import RUN, TOPIC, MemberNames, Tally, TopicTexts, as_count
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_score

WANTED, ASSIGNMENTS = kinds.NUGGETS, kinds.NUGGET_ASSIGNMENTS
LISTS = ("nuggets", "rubrics", "nugget_bank", "claim_bank", "items")
"""Members with the nuggets of a topic: of nuggetizer and TREC RAG, ResearchRubrics, RAGTIME and ARGUE."""

IMPORTANCE = ("vital", "okay")
_ID = ("nugget_id", "question_id", "claim_id", "id")
_QUESTION = ("question", "question_text")
_TEXT = ("text", "nugget_text", "criterion", *_QUESTION, "claim", "claim_text", "nugget")
_ANSWERS = ("answers", "gold_answers", "short_answers")
_SUB_NARRATIVE = ("mapped_sub_narrative", "sub_narrative")
_LABEL = fields.NUGGET_LABELS
_MEANT = frozenset((
    *_ID, *_TEXT, *_ANSWERS, *_SUB_NARRATIVE, *_LABEL, *TOPIC, "importance", "weight", "source", "sub_nuggets",
    "references", "info",
))  # fmt: skip
"""Members of a nugget that are read, or say nothing of it."""

_NAMES = MemberNames(*LISTS, *sorted(_MEANT), "answer_text", "answer", "response_length")

_ALIASES = {"query_id": TOPIC, "nugget": (*_ID, "nugget"), "text": _TEXT}
"""Names of columns; a column ``nugget`` has the text if no other column has it."""

_LABEL_ALIASES = {"run": ("run", *RUN), "query_id": TOPIC, "nugget": ("nugget", *_ID, *_TEXT[:2]), "grade": _LABEL}
LONGEST = 100_000
"""Nuggets of a topic, with those inside of others."""

Row = tuple[object, ...]
"""The columns of :data:`.NUGGETS` and its optional ones."""

_COLUMNS = tuple(NUGGETS.columns)


@opens_once
def read_nuggets(path: FilePath) -> pd.DataFrame:
    r"""Read nuggets; the form is detected from the content.

    Parameters
    ----------
    path
        JSONL, JSON or Parquet with the nuggets of a topic in each record: ``nuggets`` of nuggetizer and TREC RAG
        (``text``, ``importance``, ``mapped_sub_narrative``, ``source``), ``rubrics`` with ``criterion`` and ``weight``,
        or the ``nugget_bank`` and ``claim_bank`` of RAGTIME with questions and answers. Or a table with a nugget in
        each row: CSV, TSV or XLSX with a header, JSONL or Parquet with the columns query_id and text.

    Returns
    -------
    DataFrame
        :data:`.NUGGETS`, topics in the order of the file, with optional columns where a nugget has such a value. Texts
        are without surrounding blanks. A nugget without an id gets its number in the topic, from 1. Documents that
        support a nugget or the answers to a question become ``source``, separated by blanks.

    Raises
    ------
    FormatError
        A nugget without text, an id twice in a topic, a topic twice with different nuggets, a weight that is no number,
        another kind of file, or no nuggets; with path and line.

    Warns
    -----
    FormatWarning
        How many texts had surrounding blanks or repeat another text of the topic, how many importances are neither
        vital nor okay, and how many fields were left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> line = '{"query": "wings", "qid": "7", "nuggets": [{"text": "Wings lift.", "importance": "vital"}]}\n'
    >>> _ = Path("nuggets.jsonl").write_text(line)
    >>> read_nuggets("nuggets.jsonl")[["query_id", "nugget", "text", "importance"]].values.tolist()
    [['7', '1', 'Wings lift.', 'vital']]
    """
    kinds.refuse_other(path, WANTED)
    tally = Tally(path)
    records = answer_records.nested_records(path, WANTED, lambda record: any(name in record for name in LISTS), _NAMES)
    topics: dict[str, _Topic] = {}
    if records is not None:
        seen = fields.UniqueIds(path, "topic", "put all nuggets of a topic into one record")
        for line, record in records:
            query_id = answer_records.find_topic(path, line, record)
            topic = _Topic(path, query_id, tally)
            for item in _items(path, line, record):
                topic.add(line, item)
            if seen.add(query_id, line, hash(json.dumps(topic.rows, default=str))):
                topics[query_id] = topic
            else:
                tally.add("identical {repetition|repetitions} of a topic left out", line)
    else:
        for line, row in delimited.aliased_records(path, WANTED, _ALIASES, {"nugget": ""}):
            query_id = fields.check_id(path, line, row["query_id"])
            topics.setdefault(query_id, _Topic(path, query_id, tally)).add(line, _from_row(row))
    rows = [row for topic in topics.values() for row in topic.rows]
    if not rows:
        raise FormatError(path, None, WANTED, "no nuggets")
    tally.report()
    return _to_frame(rows)


def _from_row(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row of a table as a nugget object, without empty cells; ``|`` separates answers."""
    item = {name: value for name, value in row.items() if value not in ("", None)}
    if isinstance(answers := item.get("answers"), str):
        item["answers"] = [each.strip() for each in answers.split("|")]
    return {"nugget_id" if name == "nugget" else name: value for name, value in item.items()}


def _to_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as nuggets, without optional columns that are empty."""
    frame = pd.DataFrame(list(rows), columns=list(_COLUMNS))
    empty = [name for name in _COLUMNS if name not in NUGGETS.names and not any(frame[name])]
    return NUGGETS.check(frame.drop(columns=empty).astype({"weight": "float64"}))


def _items(path: FilePath, line: int, record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the nuggets of a record, each followed by the nuggets inside it."""
    waiting = [(name, _members(path, line, name, record[name])) for name in reversed(LISTS) if record.get(name)]
    count = 0
    while waiting:
        name, members = waiting[-1]
        if (each := next(members, None)) is None:
            waiting.pop()
            continue
        count += 1
        if count > LONGEST:
            raise FormatError(path, line, f"at most {LONGEST:,} nuggets in a topic", "more")
        item = answer_records.as_object(path, line, each, name, "nuggets")
        yield item
        if item.get("sub_nuggets"):
            waiting.append(("sub_nuggets", _members(path, line, "sub_nuggets", item["sub_nuggets"])))


def _members(path: FilePath, line: int, name: str, value: object) -> Iterator[object]:
    """Return the nuggets of a list, without null, or of a nugget bank by question."""
    if isinstance(value, Mapping):
        value = [each if isinstance(each, Mapping) else key for key, each in value.items()]
    if not isinstance(value, list):
        raise FormatError(path, line, f"{name} as a list of nuggets", quote(json.dumps(value)))
    return iter([each for each in value if each is not None])


class _Topic:
    """Nuggets of a topic read so far."""

    def __init__(self, path: FilePath, query_id: str, tally: Tally) -> None:
        self._path, self._query_id, self._tally = path, query_id, tally
        self._ids: dict[str, int] = {}
        self._texts: set[str] = set()
        self.rows: list[Row] = []

    def add(self, line: int, item: Mapping[str, object]) -> None:
        """Add a nugget."""
        path, tally = self._path, self._tally
        text = read_nugget_text(path, line, item, tally)
        if text in self._texts:
            tally.add("{nugget has|nuggets have} the same text as another of the topic", line)
        self._texts.add(text)
        name = fields.first_present(item, _ID)
        nugget = str(len(self.rows) + 1) if name is None else fields.check_id(path, line, item[name])
        if nugget in self._ids:
            first = numbered(path, self._ids[nugget])
            found = f"nugget {quote(nugget)} of topic {quote(self._query_id)} again (first in {first})"
            raise FormatError(path, line, "each nugget of a topic once", found, "give each nugget its own id")
        self._ids[nugget] = line
        question = answer_records.find_text(path, line, item, _QUESTION).strip()
        answers, documents = _answers(path, line, item)
        source = answer_records.find_text(path, line, item, ("source",)).strip() or " ".join(documents)
        others = sorted(str(name) for name, value in item.items() if name not in _MEANT and value not in (None, "", []))
        for other in others:
            tally.add("{field of a nugget was|fields of nuggets were} left out", line, example=other)
        sub_narrative = answer_records.find_text(path, line, item, _SUB_NARRATIVE)
        row = (read_importance(path, line, item, tally), _weight(path, line, item))
        self.rows.append((self._query_id, nugget, text, *row, question, answers, sub_narrative, source))


def read_nugget_text(path: FilePath, line: int, item: Mapping[str, object], tally: Tally) -> str:
    """Return the text of a nugget without surrounding blanks; raises FormatError for an empty text."""
    given = answer_records.find_text(path, line, item, _TEXT)
    text = given.strip()
    if not text:
        found = f"the fields {', '.join(map(str, item))[:200] or 'none'}"
        hint = "rename the field that has the text, or remove empty nuggets"
        raise FormatError(path, line, f"a nugget with a text ({', '.join(_TEXT[:3])})", found, hint)
    if text != given:
        tally.add("{nugget text|nugget texts} had surrounding blanks, which were removed", line)
    return text


def read_importance(path: FilePath, line: int, item: Mapping[str, object], tally: Tally) -> str:
    """Return the importance of a nugget; '' if it is missing, or unknown, which is counted in a note."""
    inner = item.get("info")
    value = item.get("importance", inner.get("importance") if isinstance(inner, Mapping) else None)
    text = str(value).strip().lower() if isinstance(value, str | int | float) else ""
    if text in IMPORTANCE:
        return text
    if text:
        tally.add("{importance is|importances are} neither vital nor okay", line, example=text)
    return ""


def _weight(path: FilePath, line: int, item: Mapping[str, object]) -> float:
    value = item.get("weight")
    weight = None if isinstance(value, bool) or value is None else parse_score(str(value))
    if value is not None and (weight is None or not math.isfinite(weight)):
        raise FormatError(path, line, "a number as weight", quote(json.dumps(value)))
    return math.nan if weight is None else float(weight)


def _answers(path: FilePath, line: int, item: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the distinct answers to a question, and the documents that support them."""
    name = fields.first_present(item, _ANSWERS)
    value = item.get(name) if name else None
    members = [] if value is None else value
    if isinstance(value, Mapping):  # the value of an answer may be the list of its documents
        named = value.items()
        members = [{"answer": key, "references": each} if isinstance(each, list) else each for key, each in named]
    if not isinstance(members, list):
        raise FormatError(path, line, f"{name} as a list of answers", quote(json.dumps(value)))
    answers, documents = dict[str, None](), dict[str, None]()
    for each in members:
        answer = answer_records.as_object(path, line, each, str(name), "answers")
        text = answer_records.find_text(path, line, answer, ("answer", "text")).strip()
        answers.update({text: None} if text else {})
        given = answer.get("references") or answer.get("citations")
        documents.update(dict.fromkeys(_documents(path, line, given)))
    documents.update(dict.fromkeys(_documents(path, line, item.get("references"))))
    return tuple(answers), tuple(documents)


def _documents(path: FilePath, line: int, given: object) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str | int):
        given = [given]
    if not isinstance(given, list):
        raise FormatError(path, line, "references as a list of documents", quote(json.dumps(given)), "write a list")
    names = ("doc_id", *fields.DOC_ID)
    ids = [fields.find_id(path, line, each, names)[1] if isinstance(each, Mapping) else each for each in given]
    return [fields.check_id(path, line, each) for each in ids]


@opens_once
def read_nugget_assignments(path: FilePath, nuggets: pd.DataFrame | None = None) -> NuggetLabels:
    r"""Read nugget assignments, which say whether answers contain nuggets; the format is detected from the content.

    Parameters
    ----------
    path
        nuggetizer's JSONL: one answer per record, with ``run_id``, ``qid`` and ``nuggets``, each of which has
        ``text``, ``importance`` and ``assignment``; also as a JSON list or Parquet. Or a table with one label per
        row: CSV, TSV or XLSX with a header, JSONL or Parquet with the columns run, query_id, nugget (its id) and grade
        (2, 1, 0, or the label).
    nuggets
        :data:`.NUGGETS` to which the labels belong: a nugget of the file is the one of the topic with its text, and has
        its id and importance. Required for tables. The nuggets of other topics are those of the file: the different
        ones of all answers, numbered from 1. Files of several systems can number them differently, so give those of
        the first file with the second.

    Returns
    -------
    NuggetLabels
        In the order of the file. An answer has no nugget assignment for a nugget that its list lacks. Labels other than
        support, partial_support and not_support have no grade.

    Raises
    ------
    FormatError
        A record without run or topic, a nugget that is unknown or without text, an answer that is in the file twice
        with different labels, a nugget with two importances in a topic, another kind of file, or no assignments; with
        path and line.

    Warns
    -----
    FormatWarning
        Each of the notes: how many labels and importances are unknown, answers are empty or repeated.

    Examples
    --------
    >>> from pathlib import Path
    >>> nugget = '{"text": "Wings lift.", "importance": "vital", "assignment": "partial_support"}'
    >>> _ = Path("labels.jsonl").write_text(f'{{"qid": "7", "run_id": "a", "nuggets": [{nugget}]}}\n')
    >>> read_nugget_assignments("labels.jsonl").assignments.values.tolist()
    [['a', '7', '1', 1]]
    """
    kinds.refuse_other(path, ASSIGNMENTS)
    reader = _LabelReader(path, None if nuggets is None else NUGGETS.check(nuggets))
    records = answer_records.nested_records(path, ASSIGNMENTS, lambda record: "nuggets" in record, _NAMES)
    for line, record in records or ():
        reader.add_record(line, record)
    if records is None and nuggets is None:
        hint = "give the nuggets as well, or nuggetizer's JSONL"
        raise FormatError(path, None, "nuggets for a table of nugget assignments", "none", hint)
    if records is None:
        reader.add_rows(delimited.aliased_records(path, ASSIGNMENTS, _LABEL_ALIASES))
    return reader.result()


def _answer_text(path: FilePath, line: int, record: Mapping[str, object]) -> str:
    """Return the text of an answer, which may be a list of sentences."""
    if record.get("answer_text") is None and isinstance(record.get("answer"), list):
        sentences = answer_records.list_of(path, line, record, "answer", "sentences")
        return " ".join(answer_records.find_text(path, line, each, ("text",)) for each in sentences)
    return answer_records.find_text(path, line, record, ("answer_text", "answer"))


class _Known:
    """The nuggets of a topic by text and by id."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, int], str] = {}
        self._places: Counter[str] = Counter()
        self.importance: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def add(self, nugget: str, text: str, importance: str) -> None:
        """Add a nugget; the second one of a text has the number 1, and so on."""
        self.ids[text, self._places[text]] = nugget
        self._places[text] += 1
        self.importance[nugget], self.texts[nugget] = importance, text


class _LabelReader:
    """The labels of a file so far."""

    def __init__(self, path: FilePath, nuggets: pd.DataFrame | None) -> None:
        self._path, self._given, self._tally = path, nuggets, Tally(path)
        self._known: dict[str, _Known] = {}
        self._listed: set[str] = set()
        if nuggets is not None:
            self._listed = set(nuggets["query_id"].astype("str"))
            columns = (nuggets[name] for name in ("query_id", "nugget", "text", "importance"))
            for query_id, *nugget in zip(*columns, strict=True):
                self._known.setdefault(str(query_id), _Known()).add(*map(str.strip, map(str, nugget)))
        self._seen = fields.UniqueIds(path, "answer", "remove one of them, or give each run its own name")
        self._topics = TopicTexts(self._tally)
        self._answers: list[Row] = []
        self._texts: list[str] = []
        self._labels: list[Row] = []

    def add_record(self, line: int, record: Mapping[str, object]) -> None:
        """Add the labels of an answer."""
        path = self._path
        run, query_id = answer_records.find_run(path, line, record), answer_records.find_topic(path, line, record)
        text = _answer_text(path, line, record)
        stated = as_count(record.get("response_length"))
        items = answer_records.list_of(path, line, record, "nuggets", "nuggets with text and assignment")
        content = hash(json.dumps([items, text, stated], sort_keys=True, default=str))
        if not self._seen.add(f"{query_id} of run {run}", line, content):
            self._tally.add("identical {repetition|repetitions} of an answer left out", line)
            return
        found: Counter[str] = Counter()
        rows: list[Row] = []
        for item in items:
            nugget_text = read_nugget_text(path, line, item, self._tally)
            nugget = self._nugget(line, query_id, (nugget_text, found[nugget_text]), item)
            found[nugget_text] += 1
            rows.append((run, query_id, nugget, self._grade(line, item)))
        if not text.strip() and "answer_text" in record:
            self._tally.add("{answer is|answers are} empty", line)
        team = answer_records.find_text(path, line, record, answer_records.TEAM)
        self._answers.append((run, query_id, team, len(text.split()), stated))
        self._texts.append(text)
        self._labels += rows
        self._topics.add(path, line, query_id, record)

    def _nugget(self, line: int, query_id: str, key: tuple[str, int], item: Mapping[str, object]) -> str:
        """The id of a nugget of the file."""
        known = self._known.setdefault(query_id, _Known())
        given = str(item.get(fields.first_present(item, _ID) or "")).strip()
        nugget = given if known.texts.get(given) == key[0] else known.ids.get(key)
        importance = read_importance(self._path, line, item, self._tally)
        if nugget is None and query_id in self._listed:
            found = f"another of topic {quote(query_id)}: {quote(key[0])}"
            hint = "give the nuggets that the labels were made with"
            raise FormatError(self._path, line, "one of the nuggets", found, hint)
        if nugget is None:
            nugget = str(len(known.texts) + 1)
            known.add(nugget, key[0], importance)
        elif importance != known.importance[nugget] and query_id in self._listed:
            self._tally.add("{importance differs|importances differ} from that of the nugget, which counts", line)
        elif importance != known.importance[nugget]:
            found = f"{importance or 'none'} and {known.importance[nugget] or 'none'} of {quote(key[0])}"
            hint = "give the nuggets with their importances as well, or make them equal"
            raise FormatError(self._path, line, "one importance for each nugget of a topic", found, hint)
        return nugget

    def _grade(self, line: int, item: Mapping[str, object]) -> int | None:
        """The grade of a label; None for an unknown one, which is counted."""
        value = item.get(fields.first_present(item, _LABEL) or "")
        text = str(value).strip().lower() if isinstance(value, str | int) else ""
        grade = answer_records.read_support_grade(self._path, line, value)
        if grade is None or grade == answer_records.NOT_JUDGED:
            grade = None
            what = "{label is|labels are} other than support, partial_support and not_support, and without a grade"
            self._tally.add(what, line, example=text)
        return grade

    def add_rows(self, rows: Iterable[tuple[int, Mapping[str, object]]]) -> None:
        """Add the labels of a table."""
        answers: dict[tuple[str, str], None] = {}
        labels: dict[tuple[str, str, str], tuple[int, int | None]] = {}
        for line, row in rows:
            run = answer_records.find_run(self._path, line, row)
            query_id = fields.check_id(self._path, line, row["query_id"])
            known, nugget = self._known.get(query_id, _Known()), str(row["nugget"]).strip()
            if nugget not in known.texts and (nugget, 1) not in known.ids:  # a text that two nuggets have names neither
                nugget = known.ids.get((nugget, 0), nugget)
            if nugget not in known.texts:
                found = f"{quote(nugget)} of topic {quote(query_id)}"
                raise FormatError(self._path, line, "the id of one of the nuggets", found, "give all nuggets")
            grade = self._grade(line, row)
            first, before = labels.setdefault((run, query_id, nugget), (line, grade))
            if before != grade:
                found = f"another for the nugget in {numbered(self._path, first)}"
                raise FormatError(self._path, line, "one label for an answer and a nugget", found, "remove one of them")
            if first != line:
                self._tally.add("{label repeats|labels repeat} an earlier one", line)
            answers[run, query_id] = None
        self._labels = [(*key, grade) for key, (_, grade) in labels.items()]
        self._answers = [(run, query_id, "", 0, None) for run, query_id in answers]
        self._texts = [""] * len(answers)

    def result(self) -> NuggetLabels:
        """The labels, with notes of what was counted."""
        if not self._labels:
            raise FormatError(self._path, None, ASSIGNMENTS, "no nugget assignments")
        rows = [
            (query_id, nugget, text, known.importance[nugget], math.nan, "", (), "", "")
            for query_id, known in self._known.items()
            if query_id not in self._listed
            for nugget, text in known.texts.items()
        ]
        nuggets = _to_frame(rows) if rows or self._given is None else self._given
        if rows and self._given is not None:
            nuggets = pd.concat([self._given, nuggets], ignore_index=True)
        answers = answer_records.to_frame(ANSWERS, self._answers, stated_words="Int64")
        return NuggetLabels(
            nuggets,
            answer_records.to_frame(NUGGET_ASSIGNMENTS, self._labels, grade="Int8"),
            answers.assign(text=pd.Series(self._texts, dtype="str")),
            self._topics.to_frame(),
            self._tally.report(),
        )
