"""Generated answers: JSONL of TREC RAG, RAGTIME and TREC Auto-Judge, and tables of sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from collection.core.answers import Answers
from collection.core.errors import FormatError
from collection.core.frames import ANSWERS, DOCUMENTS, SENTENCES
from collection.core.phrases import count, join
from collection.formats import answer_records, delimited, fields, kinds
from collection.formats.answer_records import RUN, TEAM, TOPIC, MemberNames, Tally, TopicTexts, as_count
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_score

WANTED = kinds.ANSWERS
SENTENCE_LISTS = ("answer", "responses", "response", "sentences", "report")
"""Members that hold the sentences, in TREC RAG, in RAGTIME, DRAGUN and iKAT, and in files of participants."""

WORDS = 400
"""Maximum number of words of an answer in TREC RAG 2024 and 2025."""

WORDS_2026 = 1024
"""Maximum number of words in TREC RAG 2026, whose answers have a `run_desc`."""

_TEXT = ("text", "sentence", "sentence_text", "content")
_CITATIONS = ("citations", "citation", "cited", "references", "doc_ids")
_REFERENCE = ("reference", "doc_id", "docno", "docid", "_id", "id", "index")
_LENGTH = ("response_length", "stated_words", "word_count", "length")
_ALIASES = {
    "run": ("run", *RUN), "query_id": TOPIC, "text": ("text", "sentence_text", "sentence", "content"),
    "citations": _CITATIONS,
    "team": TEAM, "stated_words": _LENGTH,
}  # fmt: skip
_DEFAULTS = {"citations": "", "team": "", "stated_words": ""}
_NUMBER = ("sentence", "sentence_id", "number")
"""Columns for the number of a sentence in tables with a column for its text."""

_NAMES = MemberNames(
    *SENTENCE_LISTS, *_TEXT, *_CITATIONS, *_REFERENCE, *_LENGTH, *fields.TEXT, "documents", "run_desc",
)  # fmt: skip

Sentences = list[tuple[str, tuple[str, ...]]]
"""Text of each sentence, and the documents that it cites."""


@opens_once
def read_answers(path: FilePath) -> Answers:
    r"""Read generated answers; the form is detected from the content.

    Parameters
    ----------
    path
        JSONL, a JSON list or Parquet with one answer per record, in the formats of TREC RAG 2024 to 2026 (``answer``,
        with ``references`` and citations by index or by id), RAGTIME and DRAGUN (``responses``, with citations as a
        list, or as an object with a score of each, best first) and TREC Auto-Judge (``documents`` in each record). Or a
        table with one sentence per row: CSV, TSV or XLSX with a header, JSONL or Parquet with the columns run, topic,
        sentence (the text) and citations (ids separated by blanks); if there is a column text, sentence is the number.

    Returns
    -------
    Answers
        In the order of the file. Names of runs are kept as they are in the file, with or without the team.

    Raises
    ------
    FormatError
        A record without run or topic, sentences or citations of another type, an id with blanks, an answer that is in
        the file twice with different content, another kind of file, or no answers; with path and line.

    Warns
    -----
    FormatWarning
        Each of the notes: how many sentences have no text, answers are empty, over-long or repeated, citations are out
        of range, repeated or not among the references, stated lengths are wrong.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("plain.tsv").write_text("run\ttopic\tsentence\tcitations\na\t7\tWings lift.\td1 d2\n")
    >>> read_answers("plain.tsv").sentences["citations"].tolist()
    [('d1', 'd2')]
    """
    kinds.refuse_other(path, WANTED)
    reader = _Reader(path)
    records = answer_records.nested_records(path, WANTED, _has_list, _NAMES)
    for line, record in records or ():
        reader.add_record(line, record)
    if records is None:
        reader.add_rows(delimited.aliased_records(path, WANTED, _ALIASES, _DEFAULTS))
    return reader.result()


def _has_list(record: Mapping[str, object]) -> bool:
    """Tell whether a record has a member for the sentences of an answer, even if it is null, and is no row of one."""
    given = [record[name] for name in SENTENCE_LISTS if name in record]
    return any(not isinstance(each, str) for each in given) or (bool(given) and not any(map(record.get, _TEXT)))


def _list_name(path: FilePath, line: int, record: Mapping[str, object]) -> str:
    """Return the name of the list of sentences; several with different sentences are refused."""
    given = [name for name in SENTENCE_LISTS if record.get(name) is not None]
    filled = [name for name in given if record[name] and not isinstance(record[name], str)]
    if any(record[name] != record[filled[0]] for name in filled):
        found = f"the lists {join(filled)} with different content"
        raise FormatError(path, line, "one list of sentences", found, "remove all but one")
    return next(iter([*filled, *given]), SENTENCE_LISTS[0])


class _Reader:
    """Answers read from a file so far."""

    def __init__(self, path: FilePath) -> None:
        self._path, self._tally = path, Tally(path)
        self._seen = fields.UniqueIds(path, "answer", "remove one of them, or give each run its own name")
        self._topics = TopicTexts(self._tally)
        self._documents: dict[str, tuple[str, str]] = {}
        self._numbering: dict[str, _Numbering] = {}
        self._answers: list[tuple[object, ...]] = []
        self._sentences: list[tuple[object, ...]] = []

    def add_record(self, line: int, record: Mapping[str, object]) -> None:
        """Add a record with an answer and the list of its sentences."""
        path = self._path
        run, query_id = answer_records.find_run(path, line, record), answer_records.find_topic(path, line, record)
        name = _list_name(path, line, record)
        if name not in record and not _has_list(record):
            found = f"the fields {', '.join(record)[:200]}"
            raise FormatError(path, line, "a list of sentences (answer or responses)", found)
        items = answer_records.list_of(path, line, record, name, "sentences with text and citations")
        references = self._references(line, record.get("references"))
        cited = _Citations(path, line, self._tally, references, has_indices=name == "answer")
        self._refuse_unread(line, items)
        sentences = [
            (self._text(line, item), cited.read(item.get(fields.first_present(item, _CITATIONS) or "")))
            for item in items
        ]
        self._numbering.setdefault(run, _Numbering()).add(line, cited.indices, references or {})
        limit = 0 if name == "responses" else WORDS_2026 if "run_desc" in record else WORDS
        team = answer_records.find_text(path, line, record, TEAM).strip()
        stated = self._stated(line, next((record[each] for each in _LENGTH[:1] if each in record), None))
        if self._add(line, (run, query_id, team, stated), sentences, limit):
            self._topics.add(path, line, query_id, record)
            self._add_documents(line, record.get("documents"))

    def add_rows(self, rows: Iterable[tuple[int, Mapping[str, object]]]) -> None:
        """Add the answers of a table, in which the rows of an answer are consecutive."""
        read = (self._row(line, row) for line, row in rows)
        for _, group in groupby(read, key=lambda each: each[1][:2]):
            members = list(group)
            line, (run, query_id, team, stated), _, _ = members[0]
            members.sort(key=lambda each: (each[2] is not None, each[2] or 0))
            self._refuse_repeated([(each[0], each[2]) for each in members])
            sentences = [each[3] for each in members]
            if len(members) == 1 and not sentences[0][0].strip() and not sentences[0][1]:
                sentences = []
            self._add(line, (run, query_id, team, stated), sentences, 0)

    def _row(
        self, line: int, row: Mapping[str, object]
    ) -> tuple[int, tuple[str, str, str, int | None], int | None, tuple[str, tuple[str, ...]]]:
        path = self._path
        run = answer_records.find_run(path, line, row)
        query_id = fields.check_id(path, line, row["query_id"])
        given = row.get(fields.first_present(row, _NUMBER) or "")
        number = as_count(given)
        if number is None and given not in (None, ""):
            wanted = "a number of the sentence beside its text"
            raise FormatError(path, line, wanted, quote(str(given)), "name the column with the texts text")
        cell = row["citations"]
        cited = cell.split() if isinstance(cell, str) else [cell] if type(cell) is int else cell
        citations = _Citations(path, line, self._tally, None, has_indices=False).read(cited)
        team = answer_records.find_text(path, line, row, ("team",)).strip()
        stated = self._stated(line, row["stated_words"] if row["stated_words"] != "" else None)
        return line, (run, query_id, team, stated), number, (self._text(line, row), citations)

    def _refuse_repeated(self, numbers: Sequence[tuple[int, int | None]]) -> None:
        """Refuse an answer in which two sentences have the same number."""
        seen: dict[int, int] = {}
        for line, number in numbers:
            if number is not None and seen.setdefault(number, line) != line:
                found = f"sentence {number} again (first in line {seen[number]})"
                raise FormatError(self._path, line, "each sentence of an answer once", found, "remove one of them")

    def _refuse_unread(self, line: int, items: Sequence[Mapping[str, object]]) -> None:
        """Count citations in members that are not read; refuse whole responses with passages, of iKAT 2023 and 2024."""
        for item in items:
            for name in item:
                other = fields.column_key(name) if name not in (*_TEXT, *_CITATIONS) and item[name] else ""
                if other == "passageprovenance":
                    wanted, hint = "sentences with text and citations", "split the first response into its sentences"
                    raise FormatError(self._path, line, wanted, f"whole responses with {quote(name)}", hint)
                if "citation" in other:
                    what = "{sentence has|sentences have} citations in a field that is not read"
                    self._tally.add(what, line, example=name)

    def _text(self, line: int, item: Mapping[str, object]) -> str:
        """Return the text of a sentence; missing, null and NaN texts are counted in a note."""
        text = answer_records.find_text(self._path, line, item, _TEXT)
        if not text.strip():
            if item.keys().isdisjoint(_TEXT) and any(isinstance(each, str) and each.strip() for each in item.values()):
                found = f"the fields {', '.join(map(str, item))[:200]}"
                hint = "rename the field that has the text"
                raise FormatError(self._path, line, f"a sentence with a text ({', '.join(_TEXT[:2])})", found, hint)
            lacks = fields.first_present(item, _TEXT) is None
            what = "no text (null or NaN)" if lacks else "a text of blanks only"
            self._tally.add(f"{{sentence has|sentences have}} {what}", line)
        return text

    def _stated(self, line: int, given: object) -> int | None:
        stated = as_count(given)
        if stated is None and given is not None:
            self._tally.add("stated {length is no whole number|lengths are no whole numbers}", line)
        return stated

    def _references(self, line: int, given: object) -> dict[int, str] | None:
        """Return the ids of the references by index; None if the answer has no references."""
        if given is None:
            return None
        numbered: dict[int, object] = {}
        if isinstance(given, Mapping):
            numbered = _numbered(given)
            given = list(given)
        if not isinstance(given, list):
            raise FormatError(self._path, line, "references as a list of ids", quote(json.dumps(given)))
        members = numbered or dict(enumerate(given))
        return {index: _reference_id(self._path, line, each) for index, each in members.items()}

    def _add(self, line: int, answer: tuple[str, str, str, int | None], sentences: Sentences, limit: int) -> bool:
        """Add an answer; return whether it is no repetition."""
        run, query_id, team, stated = answer
        content = hash((team, stated, tuple(sentences)))
        if not self._seen.add(f"{query_id} of run {run}", line, content):
            self._tally.add("identical {repetition|repetitions} of an answer left out", line)
            return False
        words = sum(len(text.split()) for text, _ in sentences)
        if not sentences:
            self._tally.add("{answer is|answers are} empty", line)
        if limit and words > limit:
            self._tally.add(f"{{answer has|answers have}} more than {limit:,} words", line)
        if stated is not None and stated != words:
            self._tally.add("{answer has|answers have} another number of words than stated", line)
        self._answers.append((run, query_id, team, words, stated))
        self._sentences += [(run, query_id, number, *each) for number, each in enumerate(sentences)]
        return True

    def _add_documents(self, line: int, given: object) -> None:
        """Add the documents of a record, which are an object by id or a list."""
        members = given.items() if isinstance(given, Mapping) else ((None, each) for each in given or ())  # type: ignore[attr-defined]
        if not isinstance(given, Mapping | list | None):
            raise FormatError(self._path, line, "documents as an object by id", quote(json.dumps(given)))
        for key, value in members:
            item = answer_records.as_object(self._path, line, value, "documents", "objects with id and text")
            names = fields.DOC_ID if fields.first_present(item, fields.DOC_ID) else ("key",)
            doc_id = fields.find_id(self._path, line, {"key": key, **item}, names)[1]
            texts = [answer_records.find_text(self._path, line, item, each) for each in (("title",), fields.TEXT)]
            document = (texts[0], texts[1])
            if self._documents.setdefault(doc_id, document) != document:
                self._tally.add("{document has|documents have} another text than in an earlier answer", line)

    def result(self) -> Answers:
        """Return the answers, with notes on what was counted."""
        if not self._answers:
            raise FormatError(self._path, None, WANTED, "no answers")
        for numbering in self._numbering.values():
            numbering.refuse_from_one(self._path)
        return Answers(
            answer_records.to_frame(ANSWERS, self._answers, stated_words="Int64"),
            answer_records.to_frame(SENTENCES, self._sentences),
            self._topics.to_frame(),
            answer_records.to_frame(DOCUMENTS, ((name, *texts) for name, texts in self._documents.items())),
            self._tally.report(),
        )


def _reference_id(path: FilePath, line: int, value: object) -> str:
    """Return the id of a cited document, which is the value itself or in an object."""
    if isinstance(value, Mapping):
        return fields.find_id(path, line, value, _REFERENCE)[1]
    return fields.check_id(path, line, value)


def _without_brackets(value: object) -> object:
    """Return a citation without the brackets that surround it in texts."""
    text = value.strip() if isinstance(value, str) else ""
    return text[1:-1] if text.startswith("[") and text.endswith("]") else value


def _numbered(given: Mapping[str, object]) -> dict[int, object]:
    """Return references by number, from 0 or 1; none if the names are ids, as beside scores."""
    numbers = [as_count(name) for name in given]
    scored = all(isinstance(value, int | float) for value in given.values())
    counted = sorted(number for number in numbers if number is not None)
    if scored or len(counted) < len(given) or counted not in (list(range(len(given))), list(range(1, len(given) + 1))):
        return {}
    return {number: value for number, value in zip(numbers, given.values(), strict=True) if number is not None}


class _Numbering:
    """Indices that a run cites, which begin with 0, or wrongly with 1."""

    def __init__(self) -> None:
        self._smallest, self._line, self._just_beyond, self._beyond = 1, 0, 0, 0

    def add(self, line: int, indices: Sequence[int], references: Mapping[int, str]) -> None:
        """Add the indices of an answer with its references."""
        beyond = [index for index in indices if index not in references]
        self._smallest = min(self._smallest, *indices, 1)
        self._beyond += len(beyond)
        if just_beyond := beyond.count(len(references)):
            self._line = self._line or line
            self._just_beyond += just_beyond

    def refuse_from_one(self, path: FilePath) -> None:
        """Refuse indices that count from 1: none is 0, some are the number of references, and none is higher."""
        if self._smallest and 0 < self._just_beyond == self._beyond:
            found = f"no 0, and {count(self._just_beyond, 'citation')} just beyond the last, as if they began with 1"
            hint = "subtract 1 from each citation, or write ids"
            raise FormatError(path, self._line, "citations as indices of the references, from 0", found, hint)


class _Citations:
    """Citations of an answer, written as indices of its references or as ids.

    Without references, numbers are ids, unless the format `has_indices`.
    """

    def __init__(
        self, path: FilePath, line: int, tally: Tally, references: dict[int, str] | None, *, has_indices: bool
    ) -> None:
        self._path, self._line, self._tally = path, line, tally
        self._references, self._has_indices = references, has_indices or references is not None
        self._known = frozenset((references or {}).values())
        self.indices: list[int] = []

    def read(self, given: object) -> tuple[str, ...]:
        """Return the distinct documents that a sentence cites, in its order, or by decreasing score."""
        if isinstance(given, Mapping):
            read = {name: parse_score(str(value)) for name, value in given.items() if not isinstance(value, bool)}
            scores = {name: -value for name, value in read.items() if value is not None}
            given = sorted(scores, key=scores.__getitem__) if len(scores) == len(given) else list(given)
            what = "{sentence has citations without scores|sentences have citations without scores}, in their order"
            self._tally.add(what, self._line, int(0 < len(scores) < len(given)))
        if not isinstance(given, list | None):
            raise FormatError(self._path, self._line, "citations as a list", quote(json.dumps(given)), "write a list")
        cited = [doc_id for each in given or () if (doc_id := self._resolve(each)) is not None]
        different = tuple(dict.fromkeys(cited))
        repeated = len(cited) - len(different)
        self._tally.add("{citation repeats|citations repeat} another of the same sentence", self._line, repeated)
        return different

    def _resolve(self, value: object) -> str | None:
        """Return the document of a citation; None for an index out of range."""
        references = self._references
        if isinstance(value, Mapping) and (name := fields.first_present(value, _REFERENCE)):
            value = value[name]
        index = as_count(_without_brackets(value))
        if str(value) in self._known and (isinstance(value, str) or index not in (references or {})):
            index, value = None, str(value)  # the id of a reference
        if index is not None and references is not None:
            self.indices.append(index)
        if index is not None and references is not None and index in references:
            if isinstance(value, str):
                self._tally.add("{citation is an index|citations are indices} written as text", self._line)
            return references[index]
        is_missing = value is None or (isinstance(value, str) and not value.strip())
        if is_missing or (self._has_indices and type(value) in (int, float)):
            self._tally.add("{citation was|citations were} left out: not an index of the references", self._line)
            return None
        doc_id = _reference_id(self._path, self._line, value)
        if references is not None and doc_id not in self._known:
            self._tally.add("{citation is|citations are} not among the references of the answer", self._line)
        return doc_id
