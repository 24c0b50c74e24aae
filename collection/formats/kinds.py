"""Recognise a file by its first records: documents, topics, qrels, a run, labels, answers, or another kind.

Every reader asks :func:`refuse_other`, so that no file is read as what it is not; the import of a campaign, which knows
the ids of topics and documents, asks :func:`recognise`.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from collection.core.errors import FormatError
from collection.core.phrases import join
from collection.formats import fields, objects, source, tagged, workbook
from collection.formats.fields import DOC_ID, GRADE_NAMES, NUGGET_LABELS, PAIR_ALIASES, PERSON_NAMES, TEXT, column_key
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import parse_grade, parse_score, split_columns

ROWS = 200
"""Records that are looked at."""

SIZE = 1 << 20
"""Characters that are looked at, beyond the first record."""

TOP_GRADE = 20
"""Highest number that can be a grade."""

SMALL = 4
"""Highest grade of most scales."""

LONG = 400
"""Number of characters from which on a text is too long for a topic."""

DOCUMENTS, TOPICS, QRELS, RUN, LABELS, CLICKS = "documents", "topics", "qrels", "a run", "labels", "a click log"
COSTS = "costs of runs"
ANSWERS, NUGGETS = "generated answers", "nuggets"
NUGGET_ASSIGNMENTS, SUPPORT = "nugget assignments", "support labels"
OPTIONS = {
    DOCUMENTS: "--documents", TOPICS: "--topics", QRELS: "--qrels", RUN: "--run", LABELS: "--labels",
    CLICKS: "--clicks", COSTS: "--costs", ANSWERS: "--answers", NUGGETS: "--nuggets",
    NUGGET_ASSIGNMENTS: "--nugget-assignments", SUPPORT: "--support",
}  # fmt: skip
"""Name of each kind of file in messages, and the option that imports it."""

_OF_ANSWERS = (ANSWERS, NUGGETS, NUGGET_ASSIGNMENTS, SUPPORT)

_ORDER = {
    QRELS: "write the columns in the order query_id 0 doc_id relevance",
    RUN: "write the columns in the order query_id Q0 doc_id rank score tag",
}

_TOPIC, _DOCUMENT, _GRADE, _PERSON = (
    frozenset(map(column_key, names))
    for names in (PAIR_ALIASES["query_id"], PAIR_ALIASES["doc_id"], GRADE_NAMES, PERSON_NAMES)
)
_SCORE, _RANK, _CLICKED = (
    frozenset(("score", "sim", "similarity")),
    frozenset(("rank",)),
    frozenset(("clicked", "clicks")),
)
_TOPIC_TEXTS = frozenset(("narrative", "narr", "desc", "query", "querytext"))
_TEXTS = frozenset((*map(column_key, TEXT), "title", "query", "description", "question", "contents", *_TOPIC_TEXTS))
_REFERENCE = frozenset(("abstract", "authors", "author", "doi", "journal", "pmid", "year", "keywords", "abstracttext"))
_DOCUMENT_IDS = _DOCUMENT - {"document", "pid"}
_RUN, _SENTENCE, _NUGGET = (
    frozenset(("run", "runid", "runname", "system")),
    frozenset(("sentence", "sentenceid", "sentencetext")),
    frozenset(("nugget", "nuggetid", "nuggettext", "criterion")),
)
_ANSWER_TOPIC = _TOPIC | {"narrativeid", "requestid"}
_ZEROS = frozenset(("0", "q0"))
_NESTED = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(-?\d[\d.eE+-]*)')
"""Begin of ``{query_id: {doc_id: number}}``, and the first number."""
_NUMBER = re.compile(r'":\s*(-?\d[\d.eE+-]*)')
_REFERENCE_LINE = re.compile("|".join((*(form.pattern for form in tagged.BEGINS.values()), r"@[A-Za-z]+\s*[{(]")))
"""A line with which a bibliographic record begins."""
_DOCUMENT_ELEMENTS = ("doc", "records", "pubmedarticleset", "pubmedarticle", "trials_downloaded_from_ictrp")
_ELEMENT = re.compile(rf"<({'|'.join(_DOCUMENT_ELEMENTS)}|top|topics?|query|queries)\b", re.I)
_SEPARATORS = ("\t", ",", ";", "|")


class Likeness(NamedTuple):
    """The kind of file that one looks like instead of the expected kind.

    `evidence` is what shows it, and `hint` says what to do. If it is not `certain`, the user may know better. `line` is
    the first line with data, None in files without lines.
    """

    kind: str
    evidence: str
    hint: str
    certain: bool
    line: int | None = None


class KnownIds(NamedTuple):
    """Ids of a campaign: those of its topics, and a function for those of given ids that are its documents'."""

    topics: Collection[str]
    documents: Callable[[Iterable[str]], Collection[str]]


def recognise(path: FilePath, wanted: str, known: KnownIds | None = None) -> Likeness | None:
    """Tell what a file looks like, unless it may be what is `wanted`.

    Parameters
    ----------
    wanted
        One of :data:`OPTIONS`.
    known
        The ids of the campaign into which the file is imported.

    Returns
    -------
    Likeness or None
        None also for a file that cannot be read: the reader's error says why.
    """
    try:
        return _recognise(path, wanted, known)
    except (FormatError, *source.BROKEN):
        return None


def refuse_other(path: FilePath, wanted: str) -> None:
    """Raise FormatError for a file that certainly holds something else than what is `wanted`; warn of a likely one."""
    if (other := recognise(path, wanted)) is None:
        return
    if other.certain:
        raise FormatError(path, other.line, wanted, describe(other), other.hint)
    source.warn(path, f"expected {wanted}, found {describe(other)}; {other.hint}")


def describe(other: Likeness) -> str:
    """A likeness for messages."""
    return f"a file that looks like {other.kind}: {other.evidence}"


def _recognise(path: FilePath, wanted: str, known: KnownIds | None) -> Likeness | None:
    if source.is_dataset(path):
        return None
    if objects.is_binary(path):
        return _recognise_records(wanted, _binary_records(path, wanted), known)
    number, lines = _first_lines(path, wanted)
    likeness = _recognise_text(path, wanted, lines, known) if lines else None
    return likeness and likeness._replace(line=number)


def _recognise_text(path: FilePath, wanted: str, lines: Sequence[str], known: KnownIds | None) -> Likeness | None:
    """Recognise a file of text by its first lines."""
    begin = lines[0].lstrip()
    if begin.startswith("<"):
        return _recognise_markup(wanted, "\n".join(lines))
    if objects.is_json(path, lines[0]):
        return _recognise_json(path, wanted, lines, known)
    if (table := _table(lines)) is not None:
        return _recognise_records(wanted, table, known)
    if wanted in (DOCUMENTS, TOPICS, QRELS, RUN) and any(_REFERENCE_LINE.match(line) for line in lines):
        return None if wanted == DOCUMENTS else _other(DOCUMENTS, "bibliographic records")
    return _recognise_lines(wanted, lines, known)


def _other(kind: str, evidence: str, *, certain: bool = True) -> Likeness:
    return Likeness(kind, evidence, f"pass it as {kind}", certain)


def _first_lines(path: FilePath, wanted: str) -> tuple[int, list[str]]:
    """The number of the first line that is neither blank nor a comment, and the first of such lines."""
    lines: list[str] = []
    first = size = 0
    try:
        for number, line in fields.data_lines(path, wanted):
            if line.lstrip().startswith("#"):
                continue
            first = first or number
            lines.append(line)
            size += len(line)
            if len(lines) == ROWS or size > SIZE:
                break
    except FormatError:  # the lines before it may tell enough
        pass
    return first, lines


def _binary_records(path: FilePath, wanted: str) -> list[Mapping[str, object]]:
    if not workbook.is_workbook(path):
        return [record for _, record in islice(objects.records(path, wanted) or (), ROWS)]
    rows = [cells for _, cells in islice(workbook.read_rows(path, wanted), ROWS)]
    return [dict(zip(rows[0], cells, strict=True)) for cells in rows[1:]] if rows else []


def _recognise_json(path: FilePath, wanted: str, lines: Sequence[str], known: KnownIds | None) -> Likeness | None:
    """Recognise records of JSON, or an object ``{query_id: {doc_id: number}}``."""
    text = "\n".join(lines)
    if _NESTED.match(text.lstrip()) and not _is_record(lines[0]):
        numbers = _NUMBER.findall(text[:SIZE])
        if wanted not in (QRELS, RUN):
            return _other(RUN if _is_ranking(numbers) else QRELS, "{query_id: {doc_id: number}}")
        is_other = (_is_ranking if wanted == QRELS else _are_grades)(numbers)
        kind = RUN if wanted == QRELS else QRELS
        return _other(kind, f"numbers such as {join(numbers[:3])}", certain=False) if is_other else None
    records = objects.records(path, wanted, with_nan=True)
    return _recognise_records(wanted, [record for _, record in islice(records or (), ROWS)], known)


def _is_record(line: str) -> bool:
    """Tell whether a line is an object with other members than objects of numbers."""
    try:
        value = json.loads(line) if len(line) < SIZE else None
    except ValueError:
        return False
    members = value.values() if isinstance(value, dict) else ()
    return any(not isinstance(each, dict) for each in members)


def _table(lines: Sequence[str]) -> list[Mapping[str, object]] | None:
    """The records of a table whose first line names ids and other columns of the field; None without such a line."""
    for separator in _SEPARATORS:
        if separator not in lines[0]:
            continue
        try:
            rows = list(csv.reader(lines, delimiter=separator))
        except csv.Error:
            rows = [line.split(separator) for line in lines]
        names = [name.strip() for name in rows[0]]
        keys = set(map(column_key, names))
        known = keys & (_TOPIC | _DOCUMENT | _GRADE | _PERSON | _SCORE | _RANK | _TEXTS | _REFERENCE | {"id"})
        known |= keys & (_RUN | _SENTENCE | _NUGGET | {"narrativeid"})
        if len(known) > 1 or column_key(names[0]) in _TOPIC | _DOCUMENT:
            return [dict(zip(names, cells, strict=False)) for cells in rows[1:]]
    return None


def _recognise_markup(wanted: str, text: str) -> Likeness | None:
    """Recognise a file of SGML or XML by its first element with a known name."""
    if wanted != DOCUMENTS and re.match(r"\s*<(?:!doctype html|html)\b", text, re.I):
        hint = "it may be a saved error page; export or download the file again"
        return Likeness("an HTML page", "the element <html>", hint, certain=True)
    match = _ELEMENT.search(text)
    kind = match and (DOCUMENTS if match[1].lower() in _DOCUMENT_ELEMENTS else TOPICS)
    return _other(kind, f"the element {match[0]}>") if match and kind and kind != wanted else None


def _recognise_records(wanted: str, records: Sequence[Mapping[str, object]], known: KnownIds | None) -> Likeness | None:
    """Recognise records with named fields."""
    if not records:
        return None
    names: dict[str, str] = {}
    for name in records[0]:
        names.setdefault(column_key(str(name)), str(name))
    columns = _Columns(names, records)
    if kinds := dict(_kinds_of_answers(columns)):
        return None if wanted in kinds else _other(*next(iter(kinds.items())), certain=wanted != DOCUMENTS)
    is_wanted = wanted == NUGGETS and _may_be_nuggets(columns)
    return None if is_wanted else _recognise_columns(wanted, columns, known)


def _recognise_columns(wanted: str, columns: _Columns, known: KnownIds | None) -> Likeness | None:
    """Recognise records by the columns of documents, topics and pairs."""
    is_pair = bool(columns.first(_TOPIC) and columns.first(_DOCUMENT))
    if is_pair and ((likeness := _recognise_pairs(wanted, columns)) is not None or wanted != TOPICS):
        return likeness
    if wanted == TOPICS:
        return _recognise_texts(columns, known)
    if wanted == DOCUMENTS and (texts := [name for key, name in columns.names.items() if key in _TOPIC_TEXTS]):
        return _other(TOPICS, f"the columns {join(texts)}", certain=False)
    if wanted in (QRELS, RUN, *_OF_ANSWERS):
        return _recognise_unpaired(columns)
    return None


def _kinds_of_answers(columns: _Columns) -> Iterator[tuple[str, str]]:
    """Yield the kinds of records of answers, nuggets or labels of these, and what shows each; none of other records."""
    for key in ("sentences", "answer", "responses", "nuggets", "rubrics"):
        name = columns.first({key})
        members = [each for record in columns.records for each in _objects_in(record.get(name))] if name else []
        is_of_nuggets, is_of_run = key in ("nuggets", "rubrics"), bool(columns.first(_RUN))
        if kind := _kind_of_nuggets(members, is_of_run) if is_of_nuggets else _kind_of_sentences(key, members):
            yield kind, f"the member {name}"
    if bank := columns.first({"nuggetbank", "claimbank"}):
        yield NUGGETS, f"the member {bank}"
    elif kind := _kind_of_answer_table(columns):
        sets = (_RUN, _ANSWER_TOPIC, _SENTENCE, _NUGGET, _DOCUMENT)
        yield kind, f"the columns {join(filter(None, map(columns.first, sets)))}"


def _objects_in(value: object) -> list[Mapping[str, object]]:
    members = value[:ROWS] if isinstance(value, list) else []
    return [{column_key(str(name)): one for name, one in each.items()} for each in members if isinstance(each, dict)]


def _kind_of_sentences(name: str, sentences: Sequence[Mapping[str, object]]) -> str:
    """Tell sentences with citations from turns of conversations and other objects."""
    cited = [each["citations"] for each in sentences if "text" in each and "citations" in each]
    if not cited or any("turnid" in each for each in sentences):
        return ""
    if any("support" in label for each in cited for label in _objects_in(each)):
        return SUPPORT
    return "" if name == "sentences" else ANSWERS


def _kind_of_nuggets(nuggets: Sequence[Mapping[str, object]], is_of_run: bool) -> str:
    if any(not each.keys().isdisjoint(NUGGET_LABELS if is_of_run else NUGGET_LABELS[:1]) for each in nuggets):
        return NUGGET_ASSIGNMENTS
    return NUGGETS if any("text" in each or "criterion" in each for each in nuggets) else ""


def _kind_of_answer_table(columns: _Columns) -> str:
    """The kind of a table by its columns; '' for another one."""
    if not columns.first(_ANSWER_TOPIC):
        return ""
    is_of_run, is_graded = bool(columns.first(_RUN)), bool(columns.first(_GRADE | {"assignment", "support"}))
    if columns.first(_NUGGET):
        return NUGGET_ASSIGNMENTS if is_of_run and is_graded else NUGGETS
    names_document = bool(columns.first(_DOCUMENT | {"reference"}))
    if not is_of_run or not columns.first(_SENTENCE | {"citations", "text"}):
        return ""
    if is_graded and names_document and columns.first(_SENTENCE):
        return SUPPORT
    has_text_only = not columns.first(_SENTENCE | {"citations"})
    return "" if has_text_only and (names_document or columns.first(_GRADE | _SCORE | _RANK)) else ANSWERS


def _may_be_nuggets(columns: _Columns) -> bool:
    """Tell whether texts by topic may be nuggets, not topics: topics repeat, or a column says more of a nugget."""
    if columns.first(_DOCUMENT):
        return False
    ids = columns.values(columns.first(_ANSWER_TOPIC))
    return len(set(ids)) < len(ids) or bool(columns.first({"importance", "weight", "answers", "goldanswers"}))


class _Columns:
    """The columns of records by their keys."""

    def __init__(self, names: Mapping[str, str], records: Sequence[Mapping[str, object]]) -> None:
        self.names, self.records = names, records

    def first(self, keys: Collection[str]) -> str:
        """The name of the first column with one of the keys; '' if there is none."""
        return next((name for key, name in self.names.items() if key in keys), "")

    def values(self, name: str) -> list[str]:
        """The values of a column that are not empty, as texts."""
        given = (record.get(name) for record in self.records)
        return [str(value).strip() for value in given if value is not None and str(value).strip()]

    def numeric(self, keys: Collection[str]) -> str:
        """The name of the first column with one of the keys whose values are numbers; '' if there is none."""
        names = (name for key, name in self.names.items() if key in keys)
        return next((name for name in names if _are_numbers(self.values(name))), "")

    def longest(self, keys: Collection[str]) -> int:
        """The middle one of the lengths of the texts in the columns."""
        names = [name for key, name in self.names.items() if key in keys]
        lengths = sorted(sum(len(str(record.get(name) or "")) for name in names) for record in self.records)
        return lengths[len(lengths) // 2] if lengths else 0


def _are_numbers(values: Sequence[str]) -> bool:
    return bool(values) and all(parse_score(value.replace(",", ".")) is not None for value in values)


def _recognise_pairs(wanted: str, columns: _Columns) -> Likeness | None:
    """Recognise records with a topic and a document."""
    grade, person = columns.first(_GRADE), columns.first(_PERSON)
    rank, score, clicked = (columns.numeric(keys) for keys in (_RANK, _SCORE, _CLICKED))
    if clicked and not grade:
        kind, shown = CLICKS, [clicked]
    elif person and (grade or (score and not rank)):
        kind, shown = LABELS, [person, grade or score]
    elif grade:
        kind, shown = QRELS, [grade]
    elif score:
        kind, shown = (RUN if rank or _is_ranking(columns.values(score)) else QRELS), [score, *filter(None, [rank])]
    elif rank:
        kind, shown = RUN, [rank]
    else:
        return None
    evidence = f"the columns {join([columns.first(_TOPIC), columns.first(_DOCUMENT), *shown])}"
    return _pairs_instead(wanted, kind, evidence, columns, _PairColumns(grade, person, rank, score))


class _PairColumns(NamedTuple):
    """Names of columns, '' for a missing one."""

    grade: str
    person: str
    rank: str
    score: str


def _pairs_instead(wanted: str, kind: str, evidence: str, columns: _Columns, names: _PairColumns) -> Likeness | None:
    """A kind of pairs unless it is `wanted`."""
    if wanted == RUN and names.score and not names.rank:
        is_other = _are_grades(columns.values(names.score))
        return _other(QRELS, f"{evidence}, with whole numbers", certain=False) if is_other else None
    if kind == wanted or (wanted == RUN and names.score) or (wanted == LABELS and kind == QRELS):
        return None
    if wanted == CLICKS and columns.first(_CLICKED | {"shown"}):
        return None
    if wanted == QRELS and kind == LABELS:
        people = set(columns.values(names.person))
        return _other(kind, f"{evidence}, with {len(people)} annotators", certain=False) if len(people) > 1 else None
    if wanted in (QRELS, LABELS) and kind == RUN:
        return _other(kind, evidence, certain=bool(names.rank))
    return _other(kind, evidence, certain=wanted != DOCUMENTS)


def _is_ranking(values: Sequence[str]) -> bool:
    """Tell whether numbers are scores of a ranking, not grades."""
    numbers = [parse_score(value.replace(",", ".")) for value in values]
    return any(number is not None and (number % 1 or abs(number) > TOP_GRADE) for number in numbers)


def _are_grades(values: Sequence[str]) -> bool:
    """Tell whether numbers are grades, not scores: small whole ones, of which one is 0 or occurs twice."""
    grades = [parse_grade(value) for value in values]
    are_small = all(isinstance(grade, int) and -2 <= grade <= SMALL for grade in grades)
    return are_small and len(grades) > 1 and (0 in grades or len(set(grades)) < len(grades))


def _recognise_texts(columns: _Columns, known: KnownIds | None) -> Likeness | None:
    """Tell whether records without pairs are documents, or name some, where topics are expected."""
    if known is not None and (name := _column_of_documents(columns, known)):
        return _other(QRELS, f"the column {name} has ids of documents", certain=False)
    if columns.first(_TOPIC_TEXTS):
        return None
    if (name := columns.first(_DOCUMENT_IDS)) and not columns.first(_TOPIC | {"id", "number", "num"}):
        return _other(DOCUMENTS, f"the column {name}")
    name = columns.first(set(map(column_key, DOC_ID)))
    if likeness := _recognise_document_ids(columns.values(name) if name else [], known, columns.longest(_TEXTS)):
        return likeness
    evidence = _document_columns(columns)
    return _other(DOCUMENTS, evidence, certain=False) if evidence else None


def _document_columns(columns: _Columns) -> str:
    """The columns that documents have and topics hardly ever; '' if there are none."""
    names = [name for key, name in columns.names.items() if key in _REFERENCE]
    if not columns.first({"title"}):
        return ""
    if len(names) > 1:
        return f"the columns {join(names)}"
    length = columns.longest(_TEXTS) if columns.first(set(map(column_key, TEXT))) else 0
    return f"titles, and texts of {length:,} characters" if length > LONG else ""


def _column_of_documents(columns: _Columns, known: KnownIds) -> str:
    """The name of a column, not the first, that has only ids of documents, which are no numbers; '' for none."""
    for name in list(columns.names.values())[1:]:
        ids = set(columns.values(name))
        if ids and not any(each.isdecimal() for each in ids) and ids <= set(known.documents(ids)):
            return name
    return ""


def _recognise_document_ids(ids: Sequence[str], known: KnownIds | None, longest: int) -> Likeness | None:
    """Tell whether supposed topics are documents by their ids; numbers as ids count with long texts only."""
    if known is None or not ids or not set(ids) <= set(known.documents(ids)) or set(ids) & set(known.topics):
        return None
    if all(each.isdecimal() for each in ids) and longest <= LONG:
        return None
    are = "all its ids are ids of documents" if len(set(ids)) > 1 else "its id is that of a document"
    return _other(DOCUMENTS, are, certain=False)


def _recognise_unpaired(columns: _Columns) -> Likeness | None:
    """Tell whether records without pairs are topics or documents, where qrels or a run are expected."""
    if columns.first(_GRADE | _SCORE | _RANK) or not columns.first(_TEXTS):
        return None
    is_short = not columns.first(_DOCUMENT_IDS) and columns.longest(_TEXTS) <= LONG
    is_topic = columns.first(_TOPIC | _TOPIC_TEXTS) or is_short
    shown = join([name for key, name in columns.names.items() if key in _TEXTS])
    return _other(TOPICS if is_topic else DOCUMENTS, f"texts in {shown}")


class _Lines:
    """Lines of columns without a header."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.first = lines[0].strip()
        rows = [split_columns(line) for line in lines]
        self.width = len(rows[0])
        self.rows = [row for row in rows if len(row) >= self.width]  # the reader refuses shorter lines
        self.cells = [line.split("\t") for line in lines]

    def column(self, place: int) -> list[str]:
        """The texts of a column that all lines have."""
        return [row[place] for row in self.rows]

    def are_texts(self) -> bool:
        """Tell whether most lines are an id, a tab and words."""
        has_text = [
            " " not in cells[0].strip() and any(" " in cell.strip() for cell in cells[1:]) for cells in self.cells
        ]
        return sum(has_text) * 2 > len(self.cells) and not (self.width > 1 and self.are_zeros(1))

    def are_numbers(self, place: int, *, whole: bool = False) -> bool:
        """Tell whether a column has numbers, or whole ones that can be grades."""
        if place >= self.width:
            return False
        if not whole:
            return all(parse_score(text) is not None for text in self.column(place))
        grades = [parse_grade(text) for text in self.column(place)]
        return all(isinstance(grade, int) and abs(grade) <= TOP_GRADE for grade in grades)

    def has_fractions(self, place: int) -> bool:
        """Tell whether a column has numbers, and one that is not whole."""
        return self.are_numbers(place) and any((parse_score(text) or 0) % 1 for text in self.column(place))

    def is_ranked(self) -> bool:
        """Tell whether five columns end in rank and score; a score of at most 1 may be a probability."""
        return self.counts_up(3) and self.has_fractions(4) and any((parse_score(t) or 0) > 1 for t in self.column(4))

    def are_words(self, place: int) -> bool:
        """Tell whether no text of a column is a number or Q0."""
        return not any(text.lower() in _ZEROS or parse_score(text) is not None for text in self.column(place))

    def are_zeros(self, place: int) -> bool:
        """Tell whether a column has the 0 or Q0 that stands between topic and document, which may be called q0."""
        zeros = _ZEROS if place == 1 else {"0", "Q0"}
        return all((text.lower() if place == 1 else text) in zeros for text in self.column(place))

    def repeats(self, place: int) -> bool:
        """Tell whether a topic has a text of a column twice."""
        pairs = list(zip(self.column(0), self.column(place), strict=True))
        return len(set(pairs)) < len(pairs)

    def counts_up(self, place: int, *, by: int = 0) -> bool:
        """Tell whether a column counts the lines of each topic, from 0 or 1; `by` is the column of the topic."""
        if not self.are_numbers(place):
            return False
        ranks = defaultdict(list)
        for row in self.rows:
            ranks[row[by]].append(parse_score(row[place]))
        return all(numbers in (_count(numbers, 0), _count(numbers, 1)) for numbers in ranks.values())


def _count(numbers: Sequence[object], first: int) -> list[float]:
    return [float(number) for number in range(first, first + len(numbers))]


def _recognise_lines(wanted: str, lines: Sequence[str], known: KnownIds | None) -> Likeness | None:
    """Recognise lines of columns without a header."""
    table = _Lines(lines)
    if table.are_texts():
        return _recognise_text_lines(wanted, table, known)
    kind = _kind_of_lines(table)
    if wanted == QRELS and (kind in (QRELS, "") or (table.width == 5 and not table.is_ranked())):
        return _misplaced_qrels(table, known)
    if wanted == TOPICS and kind == "":
        return _recognise_bare_topics(table, known)
    if wanted == RUN and kind == RUN:
        return _misplaced_run(table, known)
    # Five columns may be a run without a tag, and three qrels without a header: their readers say so.
    is_other_form = (wanted == RUN and table.width == 5) or (
        wanted == QRELS and kind == _RANKS and _may_be_qrels(table)
    )
    return None if kind in ("", wanted) or is_other_form else _recognise_pair_lines(wanted, kind, table)


def _recognise_bare_topics(table: _Lines, known: KnownIds | None) -> Likeness | None:
    """Tell whether lines of an id and a word name documents."""
    if known is None or any(len(cells) < 2 for cells in table.cells):
        return None
    texts = {cells[1].strip() for cells in table.cells}
    if not any(text.isdecimal() for text in texts) and texts <= set(known.documents(texts)):
        return _other(QRELS, f"column 2 has ids of documents, {_shown(table)}", certain=False)
    return _recognise_text_lines(TOPICS, table, known)


def _may_be_qrels(table: _Lines) -> bool:
    return table.width == 3 and "2" not in table.column(2)


def _recognise_pair_lines(wanted: str, kind: str, table: _Lines) -> Likeness:
    if wanted == LABELS and kind == QRELS:
        hint = "name the columns in a first line (annotator, query_id, doc_id, relevance), or pass it as qrels"
        return Likeness(kind, _shown(table), hint, certain=True)
    if kind != _RANKS:
        return _other(kind, _shown(table), certain=wanted != DOCUMENTS or table.width > 4)
    name = "a run without Q0 and tag" if table.width == 4 else "a run of MS MARCO (query_id, doc_id, rank)"
    hint = "write query_id Q0 doc_id rank score tag" + ("" if table.width == 4 else ", with 1/rank as score")
    return Likeness(name, _shown(table), hint, certain=wanted != DOCUMENTS)


def _shown(table: _Lines) -> str:
    return f"the first line is {quote(table.first)}"


_RANKS = "a ranking"


def _kind_of_lines(table: _Lines) -> str:
    """The kind of lines of columns; '' if it is unknown."""
    if table.width >= 6:
        topic, second, third = table.rows[0][:3]
        is_marked = "Q0" in (topic, second.upper(), third) and (table.are_numbers(3) or table.are_numbers(4))
        is_run = is_marked or (table.counts_up(3) and table.has_fractions(4))
        return RUN if is_run or (table.are_numbers(3) and table.are_numbers(4) and table.are_words(5)) else ""
    if table.width == 5:
        are_numbers = table.are_numbers(3) and table.are_numbers(4)
        return "" if not are_numbers else RUN if table.rows[0][1].upper() == "Q0" or table.is_ranked() else QRELS
    if table.width == 4 and table.are_numbers(3):
        return _RANKS if _is_bare_ranking(table) else QRELS
    if table.width == 3 and table.counts_up(2) and max(map(len, table.rows)) == 3:
        return _RANKS
    return ""


def _is_bare_ranking(table: _Lines) -> bool:
    """Tell whether four columns are query_id, doc_id, rank and score."""
    if table.are_zeros(1) or not table.counts_up(2):
        return False
    scores = [parse_score(text) or 0.0 for text in table.column(3)]
    several = len(set(table.column(0))) < len(table.rows)
    return any(score % 1 or abs(score) > TOP_GRADE for score in scores) or (several and table.are_words(1))


def _recognise_text_lines(wanted: str, table: _Lines, known: KnownIds | None) -> Likeness | None:
    """Recognise lines of an id, a tab and words."""
    ids = [cells[0].strip() for cells in table.cells]
    lengths = sorted(sum(map(len, cells[1:])) for cells in table.cells)
    longest = lengths[len(lengths) // 2]
    if wanted == TOPICS:
        return _recognise_document_ids(ids, known, longest)
    if wanted == DOCUMENTS:
        return None
    return _other(TOPICS if longest <= LONG else DOCUMENTS, f"ids with texts, {_shown(table)}")


def _misplaced_qrels(table: _Lines, known: KnownIds | None) -> Likeness | None:
    """Tell whether the columns of qrels are in another order."""
    if table.width == 5 and table.are_numbers(2, whole=True) and table.are_numbers(3, whole=True):
        is_probability = table.are_numbers(4) and all(0 <= (parse_score(each) or 0) <= 1 for each in table.column(4))
        if is_probability and not table.are_zeros(1) and (table.are_words(1) or table.repeats(2)):
            evidence = f"the columns query_id, doc_id, relevance, method and probability, {_shown(table)}"
            hint = (
                "write query_id 0 doc_id relevance, or with the probability as column 5 for --qrels-form probabilities"
            )
            return Likeness("prels of the Million Query track", evidence, hint, certain=True)
    if known is not None and table.width == 5 and table.are_numbers(3) and table.are_numbers(4, whole=True):
        # The command that evaluates knows the form.
        evidence = f"column 5 has whole numbers, which may be the grades, {_shown(table)}"
        return Likeness("qrels of a sampled pool", evidence, _ORDER[QRELS], certain=False)
    if table.width < 4 or table.are_zeros(1):
        return _misplaced_ids(table, known, QRELS)
    several = len(set(table.column(1))) > 1
    if table.are_zeros(2) and (table.are_words(1) or several):
        return _misplaced("columns 2 and 3", table, QRELS, certain=True)
    if table.are_words(1) and table.are_numbers(2, whole=True) and not table.repeats(1):
        return _misplaced("columns 2 and 3", table, QRELS, certain=table.repeats(2))
    return _misplaced_ids(table, known, QRELS)


def _misplaced_run(table: _Lines, known: KnownIds | None) -> Likeness | None:
    """Tell whether the columns of a run are in another order."""
    if table.are_zeros(2) and not table.are_zeros(1):
        return _misplaced("columns 2 and 3", table, RUN, certain=True)
    if not table.are_zeros(1) and all(text.upper() == "Q0" for text in table.column(0)):  # a topic may be called q0
        return _misplaced("columns 1 and 2", table, RUN, certain=True)
    if table.counts_up(2) and not table.counts_up(3) and (table.are_words(3) or len(table.rows) > SMALL):
        return _misplaced("document and rank", table, RUN, certain=table.are_words(3))
    if table.has_fractions(3) and table.counts_up(4):
        return _misplaced("rank and score", table, RUN, certain=True)
    if 2 * len(set(table.column(2))) <= len(table.rows) and table.counts_up(3, by=2) and not table.counts_up(3):
        return _misplaced("topic and document", table, RUN, certain=False)
    return _misplaced_ids(table, known, RUN)


def _misplaced_ids(table: _Lines, known: KnownIds | None, wanted: str) -> Likeness | None:
    """Tell whether the ids of a campaign are in other columns than those of topic and document."""
    if known is None or table.width < 4:
        return None
    topics, documents = known.topics, [set(known.documents(table.column(place))) for place in range(3)]
    has_topics = [not set(table.column(place)).isdisjoint(topics) for place in range(3)]
    if documents[2] and has_topics[1] and not has_topics[0]:
        evidence = (
            f"column 2 has ids of topics, such as {quote(min(set(table.column(1)) & set(topics)))}, column 1 none"
        )
        return Likeness(f"{wanted} with its columns in another order", evidence, _ORDER[wanted], certain=False)
    if documents[2] or not any(documents[:2]) or (has_topics[0] and not documents[1]):
        return None
    place = 1 if documents[1] else 0
    name = f"column {place + 1}"
    return Likeness(
        f"{wanted} with its columns in another order",
        f"{name} has ids of documents, such as {quote(min(documents[place]))}, column 3 has none",
        _ORDER[wanted],
        certain=all(text in documents[place] for text in table.column(place)) and table.are_words(place),
    )


def _misplaced(what: str, table: _Lines, wanted: str, *, certain: bool) -> Likeness:
    evidence = f"{what} are swapped, {_shown(table)}"
    return Likeness(f"{wanted} with its columns in another order", evidence, _ORDER[wanted], certain)
