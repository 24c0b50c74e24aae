"""Labels of citation support: NIST's JSONL of TREC RAG, and tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from collection.core.answers import SupportLabels
from collection.core.errors import FormatError
from collection.core.frames import ANSWERS, SENTENCES, SUPPORT
from collection.formats import answer_records, delimited, fields, kinds
from collection.formats.answer_records import NOT_JUDGED, RUN, TOPIC, MemberNames, Tally, as_count
from collection.formats.source import FilePath, opens_once, quote

WANTED = kinds.SUPPORT
_DOCUMENT = ("reference", "doc_id", "docid", "docno", "segment_id", "document")
_GRADE = ("support", "grade", "label", "relevance")
_NUMBER = ("sentenceID", "sentenceId", "sentence_id")
_COMBINED = ("citationsCombibed", "citationsCombined", "combined_grade")
"""Members for the combined grade of a sentence; the first is NIST's spelling."""

_NAMES = MemberNames(
    *_DOCUMENT, *_GRADE, *_NUMBER, *_COMBINED, "sentences", "text", "citations", "verification_worthy",
)  # fmt: skip
_ALIASES = {
    "run": ("run", *RUN), "query_id": TOPIC, "sentence": ("sentence", *map(str.lower, _NUMBER)), "doc_id": _DOCUMENT,
    "grade": _GRADE, "text": ("text", "sentence_text"),
}  # fmt: skip


@opens_once
def read_support(path: FilePath) -> SupportLabels:
    r"""Read support labels, which say whether the documents that a sentence cites support it.

    Parameters
    ----------
    path
        NIST's JSONL of TREC RAG, one answer per record with ``run_id``, ``topic_id`` and ``sentences`` (``text``,
        ``citations`` with ``reference`` and ``support``), in each of its spellings; also as a JSON list or Parquet. Or
        a table with one citation per row: CSV, TSV or XLSX with a header, JSONL or Parquet with the columns run,
        query_id, sentence (its number from 0), doc_id and grade (2, 1, 0, -1 for not judged), and optionally text. A
        row without a document is a sentence without citations.

    Returns
    -------
    SupportLabels
        In the order of the file. Names of runs are kept as they are in the file, with or without the team.

    Raises
    ------
    FormatError
        A record without run or topic, a citation of another type, an answer that is in the file twice with different
        content, two grades of a sentence and a document in a table, another kind of file, or no sentences; with path
        and line.

    Warns
    -----
    FormatWarning
        Each of the notes: how many sentences have no text, labels are -1 or unknown, answers are empty or repeated.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("support.tsv").write_text("run\ttopic\tsentence\tdoc_id\tsupport\na\t7\t0\td1\t2\n")
    >>> read_support("support.tsv").support.values.tolist()
    [['a', '7', 0, 0, 'd1', 2]]
    """
    kinds.refuse_other(path, WANTED)
    reader = _Reader(path)
    records = answer_records.nested_records(path, WANTED, lambda record: "sentences" in record, _NAMES)
    for line, record in records or ():
        reader.add_record(line, record)
    if records is None:
        reader.add_rows(delimited.aliased_records(path, WANTED, _ALIASES, {"text": ""}))
    return reader.result()


class _Reader:
    """Labels read from a file so far."""

    def __init__(self, path: FilePath) -> None:
        self._path, self._tally = path, Tally(path)
        self._seen = fields.UniqueIds(path, "answer", "remove one of them, or give each run its own name")
        self._answers: list[tuple[object, ...]] = []
        self._sentences: list[tuple[object, ...]] = []
        self._support: list[tuple[object, ...]] = []
        self._extra: dict[str, list[int | None]] = {"verification_worthy": [], "combined_grade": []}

    def add_record(self, line: int, record: Mapping[str, object]) -> None:
        """Add a record with an answer and the list of its sentences."""
        path, tally = self._path, self._tally
        run, query_id = answer_records.find_run(path, line, record), answer_records.find_topic(path, line, record)
        items = answer_records.list_of(path, line, record, "sentences", "sentences with text and citations")
        content = hash(json.dumps(items, sort_keys=True, default=str))
        if not self._seen.add(f"{query_id} of run {run}", line, content):
            tally.add("identical {repetition|repetitions} of an answer left out", line)
            return
        words = 0
        for number, item in enumerate(items):
            text = answer_records.find_text(path, line, item, ("text",))
            if not text.strip():
                what = "no text (null or NaN)" if item.get("text") is None else "a text of blanks only"
                tally.add(f"{{sentence has|sentences have}} {what}", line)
            words += len(text.split())
            given = item.get(fields.first_present(item, _NUMBER) or "")
            if given is not None and as_count(given) != number:
                tally.add("{sentence has|sentences have} another number than its place", line)
            cited = self._citations(line, (run, query_id, number), item)
            self._sentences.append((run, query_id, number, text, cited))
            worthy = as_count(item.get("verification_worthy"))
            self._extra["verification_worthy"].append(worthy if worthy in (0, 1) else None)
            combined = item.get(fields.first_present(item, _COMBINED) or "")
            grade = answer_records.read_support_grade(path, line, combined)
            self._extra["combined_grade"].append(None if grade == NOT_JUDGED else grade)
        if not items:
            tally.add("{answer is|answers are} empty", line)
        team = answer_records.find_text(path, line, record, answer_records.TEAM)
        self._answers.append((run, query_id, team, words, None))

    def _citations(self, line: int, sentence: tuple[str, str, int], item: Mapping[str, object]) -> tuple[str, ...]:
        """Add the labels of a sentence; return the documents that it cites."""
        labels = answer_records.list_of(self._path, line, item, "citations", "objects with reference and support")
        grades: dict[str, int | None] = {}
        for label in labels:
            doc_id, grade = fields.find_id(self._path, line, label, _DOCUMENT)[1], self._grade(line, label)
            if grades.setdefault(doc_id, grade) is None:
                grades[doc_id] = grade
            elif grade not in (grades[doc_id], None):
                self._tally.add("{sentence has|sentences have} two grades for a document (the first is used)", line)
        self._support += [(*sentence, position, *label) for position, label in enumerate(grades.items())]
        if len(grades) < len(labels):
            self._tally.add("{sentence cites|sentences cite} a document twice", line)
        return tuple(grades)

    def _grade(self, line: int, label: Mapping[str, object]) -> int | None:
        """Return the grade of a label; None for "not judged" and unknown labels, which are counted in notes."""
        value = label.get(fields.first_present(label, _GRADE) or "")
        grade = answer_records.read_support_grade(self._path, line, value)
        if grade == NOT_JUDGED:
            self._tally.add("{citation was|citations were} not judged (-1)", line)
            return None
        if grade is None:
            text = str(value).strip().lower() if isinstance(value, str | int) else ""
            self._tally.add("{label is|labels are} unknown and not counted as judged", line, example=text)
        return grade

    def add_rows(self, rows: Iterable[tuple[int, Mapping[str, object]]]) -> None:
        """Add the labels of a table, in any order."""
        path = self._path
        labels: dict[tuple[str, str, int], dict[str, tuple[int, int | None]]] = {}
        texts: dict[tuple[str, str, int], str] = {}
        for line, row in rows:
            run, query_id = answer_records.find_run(path, line, row), fields.check_id(path, line, row["query_id"])
            number = as_count(row["sentence"])
            if number is None:
                found = quote(str(row["sentence"]))
                raise FormatError(path, line, "the number of the sentence, from 0", found)
            sentence = run, query_id, number
            text = answer_records.find_text(path, line, row, ("text",))
            texts[sentence] = texts.get(sentence) or text
            cited = labels.setdefault(sentence, {})
            if row["doc_id"] in (None, ""):
                continue
            doc_id, grade = fields.check_id(path, line, row["doc_id"]), self._grade(line, row)
            first, before = cited.setdefault(doc_id, (line, grade))
            if before != grade:
                found = f"another for {quote(doc_id)} in line {first}"
                raise FormatError(path, line, "one grade for a sentence and a document", found, "remove one of them")
            if first != line:
                self._tally.add("{label repeats|labels repeat} an earlier one", line)
        self._refuse_from_one(labels)
        words: dict[tuple[str, str], int] = {}
        for sentence, cited in sorted(labels.items(), key=lambda each: each[0][2]):
            self._sentences.append((*sentence, texts[sentence], tuple(cited)))
            grades = enumerate((doc_id, grade) for doc_id, (_, grade) in cited.items())
            self._support += [(*sentence, position, *label) for position, label in grades]
        for run, query_id, number in labels:
            count = len(texts[run, query_id, number].split())
            words[run, query_id] = words.get((run, query_id), 0) + count
        order = {answer: place for place, answer in enumerate(words)}
        for table in (self._sentences, self._support):
            table.sort(key=lambda each: order[str(each[0]), str(each[1])])
        self._answers = [(*answer, "", count, None) for answer, count in words.items()]

    def _refuse_from_one(self, labels: Mapping[tuple[str, str, int], object]) -> None:
        """Refuse sentences that count from 1: that is the first number of each of several answers."""
        first: dict[tuple[str, str], int] = {}
        for run, query_id, number in labels:
            first[run, query_id] = min(first.get((run, query_id), number), number)
        if len(first) > 1 and set(first.values()) == {1}:
            found = "1 as the lowest number of every answer"
            hint = "subtract 1 from each, or add a row without a document for a sentence 0"
            raise FormatError(self._path, None, "the numbers of sentences, from 0", found, hint)

    def result(self) -> SupportLabels:
        """The labels, with notes of what was counted."""
        if not self._answers:
            raise FormatError(self._path, None, WANTED, "no answers")
        sentences = answer_records.to_frame(SENTENCES, self._sentences)
        for name, values in self._extra.items():
            if any(value is not None for value in values):
                sentences[name] = values
                sentences = sentences.astype({name: "Int8"})
        return SupportLabels(
            answer_records.to_frame(ANSWERS, self._answers, stated_words="Int64"),
            sentences,
            answer_records.to_frame(SUPPORT, self._support, grade="Int8"),
            self._tally.report(),
        )
