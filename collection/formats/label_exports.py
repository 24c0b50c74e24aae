"""Labels as annotation and screening tools export them, under our column names.

The formats follow the source code of ASReview 3.0.8 (``webapp/_api/projects.py``, ``data/ris.py``) and
label-studio-sdk 2.1.2 (``converter``), and the documentation of doccano, Prodigy, Argilla, Potato, Quepid, Rayyan,
Label Sleuth, Mechanical Turk and Appen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import tee

from collection.core.errors import FormatError
from collection.formats import delimited, fields, objects, references, source, tagged, workbook
from collection.formats.decisions import find_rayyan_decisions
from collection.formats.fields import DOC_ID, LABEL_ALIASES, column_key
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import parse_grade

Record = Mapping[str, object]

_GRADES = frozenset(map(column_key, LABEL_ALIASES["relevance"]))
_DECISION = "asreview_label"
_NOTES = {"ASReview_relevant": "1", "ASReview_irrelevant": "0", "ASReview_not_seen": ""}
_RAYYAN_GRADES = {"included": "1", "excluded": "0"}
_DECISIONS = {"1": "include", "0": "exclude"}
DECISION = "decision of a review"
"""Field of a label of ASReview and Rayyan: its decision by the name that it has in reviews."""
_PARTS = re.compile(r"[|\t ]+|:::")
"""What separates the topic from the document in the id of an instance of Potato."""


def records(path: FilePath, what: str) -> Iterator[tuple[int, Record]] | None:
    """Line and fields of every label of an export; None for a table of another kind.

    Each has the fields of the export, ``annotator``, ``relevance`` (None for an entry that has no grade, a list for
    several choices) and ``judged_at`` under our names. Of ASReview and Rayyan, ``doc_id`` is as the import of the same
    records makes it; ASReview's annotator is "asreview" where the file names none.
    """
    typed = objects.records(path, what)
    if typed is not None:
        return ((number, each) for number, record in typed for each in _convert(path, number, record))
    if workbook.is_workbook(path):
        return _table(path, what)
    number, line = fields.first_line(path, what)
    if line.startswith("#FORMAT=WebAnno") or "<xmi:XMI" in line:
        hint = (
            "INCEpTION marks spans of texts; write one grade per document as CSV: annotator,query_id,doc_id,relevance"
        )
        raise FormatError(path, number, what, "an export of INCEpTION", hint)
    if references.detect(path, line) == "ris":
        return _asreview(tagged.read_ris(path, what), "ris")
    return _table(path, what)


def _table(path: FilePath, what: str) -> Iterator[tuple[int, Record]] | None:
    """The labels of a table of a tool that has its own columns."""
    _, names, below = delimited.read_headed(path, what, delimited.separator_of(path, what))
    rows = ((number, dict(zip(names, cells, strict=True))) for number, cells in below)
    if _DECISION in names:
        return _asreview(rows)
    if {"title", "notes"} <= set(names) and not set(LABEL_ALIASES["relevance"]) & set(names):
        return _rayyan(rows)
    if (convert := _converter(names)) is not None:
        return ((number, each) for number, record in rows for each in convert(record))
    return None


def _converter(names: Sequence[str]) -> Callable[[Record], Iterator[Record]] | None:
    """Return the converter for a table with these columns; None for a table of another kind."""
    if {"instance_id", "displayed_text"} & set(names) and any(":::" in name for name in names):
        return _potato_row
    if any(name.startswith("input.") for name in names) or {"_unit_id", "_worker_id"} <= set(names):
        return _crowd
    if {"category_name", "label_type"} <= set(names):
        return _label_sleuth
    if names[:2] == ["query", "docid"] and names[2:] and not set(LABEL_ALIASES["relevance"]) & set(names):
        return _quepid_book
    return None


def _label_sleuth(row: Record) -> Iterator[Record]:
    """A label of Label Sleuth, whose categories are topics."""
    yield {"query_id": row["category_name"], **row}


def _quepid_book(row: Record) -> Iterator[Record]:
    """The grades of each judge in a row of a book of Quepid."""
    for judge in list(row)[2:]:
        yield {"query_id": row["query"], "doc_id": row["docid"], "annotator": judge, "relevance": row[judge]}


def choice_in(value: object) -> object:
    """A grade in a cell, or the choice or choices that tools write into it as JSON."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        choice = _choices(json.loads(value))
    except (ValueError, RecursionError):
        return value
    return value if isinstance(choice, dict) else _one(choice)


def _crowd(row: Record) -> Iterator[Record]:
    """An assignment of Mechanical Turk or a judgement of Appen; without a grade if it was rejected or is tainted."""
    answers = {name.removeprefix("input.").removeprefix("answer."): value for name, value in row.items()}
    answers |= _task_answers(answers.get("taskanswers"))
    chosen: dict[str, list[str]] = {}
    for name, value in list(answers.items()):
        question, _, choice = name.rpartition(".")
        if choice == "label":
            answers[question] = value
        elif question and str(value).casefold() == "true":
            chosen.setdefault(question, []).append(choice)
    answers |= {question: _one(choices) for question, choices in chosen.items()}
    if str(row.get("assignmentstatus")).casefold() == "rejected" or str(row.get("_tainted")).casefold() == "true":
        answers |= {name: None for name in answers if column_key(name) in _GRADES}
    yield {**answers, "annotator": row.get("workerid") or row.get("_worker_id")}


def _task_answers(text: object) -> dict[str, object]:
    """The answers that Mechanical Turk writes into one cell: question -> label, or choice -> whether it was chosen."""
    try:
        answers = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    answer_of: dict[str, object] = {}
    for question, answer in ((name, value) for each in _dicts(answers) for name, value in each.items()):
        labels = answer if isinstance(answer, dict) else {"label": answer}
        chosen = [choice for choice, is_chosen in labels.items() if is_chosen is True]
        answer_of[question] = labels.get("label", _one(chosen))
    return answer_of


def _asreview(
    rows: Iterator[tuple[int, Mapping[str, object]]], form: str = ""
) -> Iterator[tuple[int, Mapping[str, object]]]:
    with_ids, rows = tee(rows)
    for (number, read), (_, reference) in zip(rows, references.to_references(with_ids, form), strict=True):
        record = {**read, **_noted(read.get("N1"))}
        label = record.get(_DECISION)
        doc_id = next((record[name] for name in DOC_ID if record.get(name)), reference.doc_id)
        annotator = record.get("asreview_user_email") or record.get("asreview_user_name") or "asreview"
        said = {"annotator": annotator, "doc_id": doc_id, "relevance": label, "judged_at": record.get("asreview_time")}
        said |= {"note": record.get("asreview_note"), DECISION: _DECISIONS.get(str(label))}
        yield number, said | {name: record[name] for name in ("query_id", "qid") if name in record}


def _noted(notes: object) -> dict[str, str]:
    """The fields that ASReview writes into the notes of a RIS record."""
    texts = [str(note) for note in notes] if isinstance(notes, list) else []
    named = {name: value.strip('"') for name, _, value in (text.partition(": ") for text in texts) if value}
    said = [_NOTES[text] for text in texts if text in _NOTES]
    return named | ({_DECISION: said[0]} if said else {})


def _rayyan(rows: Iterator[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
    """Decisions that Rayyan writes into the notes, of each reviewer; "Maybe" is none."""
    with_ids, rows = tee(rows)
    for (number, read), (_, reference) in zip(rows, references.to_references(with_ids), strict=True):
        for annotator, decision in find_rayyan_decisions(str(read.get("notes", ""))):
            said = {"annotator": annotator, "doc_id": reference.doc_id}
            grade = _RAYYAN_GRADES.get(decision.casefold())
            yield number, {**said, "relevance": grade, DECISION: _DECISIONS.get(str(grade), decision.casefold())}


def _convert(path: FilePath, number: int, record: dict[str, object]) -> Iterator[Record]:
    """The labels of an entry of JSON, by the fields in which the tools differ."""
    if "kind" in record:
        yield record
    elif "annotations" in record and "data" not in record and isinstance(record.get("annotations"), list):
        yield from _old_doccano(path, number, record)
    elif "annotations" in record:
        yield from _label_studio(path, number, record)
    elif "responses" in record or any(name.endswith(".responses") for name in record):
        yield from _argilla(record)
    elif record.get("answer") in ("accept", "reject", "ignore"):
        yield _prodigy(record)
    elif isinstance(record.get("label_annotations"), dict):
        yield _potato(record)
    else:
        yield _plain(record)


def _plain(record: Record) -> Record:
    """An entry of Label Studio's JSON-MIN, of doccano, of Argilla 1, or a label under our names."""
    said = {name: _choices(value) for name, value in record.items()}
    if isinstance(record.get("annotator"), dict | int):
        said["annotator"] = _annotator(record["annotator"])
    if "annotation_agent" in record:
        said |= {"annotator": record["annotation_agent"], "relevance": record.get("annotation")}
    said.setdefault("judged_at", record.get("created_at"))
    return {**_meta(record), **said, **_grade(said)}


def _meta(record: Record) -> dict[str, object]:
    """The fields of the task that tools keep apart from its text."""
    inner = (record.get(name) for name in ("metadata", "meta", "fields"))
    return {name: value for each in inner if isinstance(each, dict) for name, value in each.items()}


def _grade(said: Record) -> dict[str, object]:
    """The one choice in a field that has a grade's name: none for an empty list."""
    name = next((each for each in LABEL_ALIASES["relevance"] if each in said), None)
    return {} if name is None else {"relevance": None if said[name] == [] else _one(said[name])}


def _old_doccano(path: FilePath, number: int, record: Record) -> Iterator[Record]:
    """The labels of each user in doccano's old JSONL, which has the numbers of labels instead of their names."""
    annotations = _dicts(record["annotations"])
    if record["annotations"] and not any("label" in each for each in annotations):
        found = quote(json.dumps(record))
        raise FormatError(path, number, "a task of Label Studio with data and annotations", found, "export as JSON")
    labels: dict[object, list[object]] = {}
    for each in annotations:
        labels.setdefault(each.get("user"), []).append(each.get("label"))
    if any(isinstance(label, int) for several in labels.values() for label in several):
        numbers = (
            "labels are numbers of doccano's list of labels, and count as grades; if they are not, export their names"
        )
        source.warn(path, numbers)
    for user, several in (labels or {None: []}).items():
        annotator = None if user is None else str(user)
        yield {**_meta(record), **record, "annotator": annotator, "relevance": _one(several) if several else None}


def _label_studio(path: FilePath, number: int, task: Record) -> Iterator[Record]:
    annotations, data = task["annotations"], task.get("data")
    if not isinstance(annotations, list) or not isinstance(data, dict):
        raise FormatError(path, number, "a task of Label Studio with data and annotations", quote(json.dumps(task)))
    for annotation in annotations or [{}]:  # a task that nobody annotated
        if not isinstance(annotation, dict):
            continue
        answers = {} if annotation.get("was_cancelled") else _results(annotation.get("result"))
        chosen = next((answers[name] for name in LABEL_ALIASES["relevance"] if name in answers), None)
        if not set(LABEL_ALIASES["relevance"]) & set(answers) and len(answers) == 1:
            (chosen,) = answers.values()
        said = {"annotator": _annotator(annotation.get("completed_by")), "judged_at": annotation.get("created_at")}
        yield {**data, **answers, **said, "relevance": chosen}


def _annotator(value: object) -> object:
    """The address of a person where the file has it, else the number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return None if value is None else str(value)


def _choices(value: object) -> object:
    """The one choice of a record in the form JSON-MIN, a list of several, or any other value as it is."""
    return _one(value["choices"]) if isinstance(value, dict) and isinstance(value.get("choices"), list) else value


def _one(choices: object) -> object:
    return choices[0] if isinstance(choices, list) and len(choices) == 1 else choices


def _results(results: object) -> dict[str, object]:
    """Name of a tag -> its one choice (a list if there are several), rating or number."""
    choice_of: dict[str, object] = {}
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        if isinstance(value, dict):
            choices = value.get("choices")
            choice_of[str(result.get("from_name"))] = (
                _one(choices) if choices else value.get("rating", value.get("number"))
            )
    return {name: value for name, value in choice_of.items() if value is not None}


def _prodigy(task: Record) -> Record:
    """A task of Prodigy: the accepted option, or accept and reject as 1 and 0 where there are no options."""
    answer, accepted = task["answer"], task.get("accept")
    grade: object = None
    if isinstance(accepted, list):
        options = {each.get("id"): each.get("text") for each in _dicts(task.get("options"))}
        chosen = [each if parse_grade(str(each)) is not None else options.get(each, each) for each in accepted]
        grade = _one(chosen) if chosen and answer == "accept" else None
    elif answer != "ignore":
        grade = int(answer == "accept")
    annotator = task.get("_annotator_id") or task.get("_session_id")
    return {**_meta(task), **task, "annotator": annotator, "relevance": grade, "judged_at": task.get("_timestamp")}


def _dicts(values: object) -> list[dict[str, object]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _argilla(record: Record) -> Iterator[Record]:
    """The submitted responses of a record of Argilla, in the forms of its server, its library, and its flat exports."""
    base = {**_meta(record), **record}
    for question, user, value, status in _responses(record):
        if question in LABEL_ALIASES["relevance"] or len({each for each, *_ in _responses(record)}) == 1:
            submitted = status in (None, "submitted")
            yield {
                **base,
                "annotator": None if user is None else str(user),
                "relevance": _one(value) if submitted else None,
            }


def _responses(record: Record) -> Iterator[tuple[str, object, object, object]]:
    """Question, user, value and status of each response."""
    given = record.get("responses")
    if isinstance(given, dict):
        for question, responses in given.items():
            for each in _dicts(responses):
                yield str(question), each.get("user_id"), each.get("value"), each.get("status")
    for each in _dicts(given):
        values = each.get("values")
        for question, value in (values if isinstance(values, dict) else {}).items():
            yield (
                question,
                each.get("user_id"),
                value.get("value") if isinstance(value, dict) else value,
                each.get("status"),
            )
    for name, values in record.items():
        if name.endswith(".responses") and isinstance(values, list):
            users, statuses = (_listed(record.get(f"{name}.{part}"), len(values)) for part in ("users", "status"))
            for value, user, status in zip(values, users, statuses, strict=True):
                yield name.removesuffix(".responses"), user, value, status


def _listed(values: object, length: int) -> Sequence[object]:
    return values if isinstance(values, list) and len(values) == length else [None] * length


def _potato(instance: Record) -> Record:
    """An instance of Potato: the name of its label, or its value where a scheme has numbers as names."""
    schemes = instance["label_annotations"]
    choices = {name: _potato_label(labels) for name, labels in schemes.items()} if isinstance(schemes, dict) else {}
    chosen = _grade(choices) or {"relevance": next(iter(choices.values()), None)}
    annotator = instance.get("user_id") or instance.get("user") or instance.get("annotator")
    return {**_potato_pair(instance.get("id")), **instance, "annotator": annotator, **chosen}


def _potato_label(labels: object) -> object:
    """The label of a scheme, written as {label: value}."""
    return _one([str(name) for name, value in labels.items() if value]) if isinstance(labels, dict) else labels


def _potato_row(row: Record) -> Iterator[Record]:
    """A row of Potato's CSV, with a column ``SCHEME:::LABEL`` for each label."""
    chosen: dict[str, list[object]] = {}
    for name, value in row.items():
        scheme, _, label = name.partition(":::")
        if label:
            chosen.setdefault(scheme, []).extend([label] if str(value).strip() not in ("", "nan", "False") else [])
    choices = {name: _one(labels) for name, labels in chosen.items()}
    grade = _grade(choices) or {"relevance": next(iter(choices.values()), None) or None}
    yield {**_potato_pair(row.get("instance_id")), **row, "annotator": row.get("user"), **grade}


def _potato_pair(instance: object) -> dict[str, object]:
    """The pair that the id of an instance names as ``TOPIC|DOCUMENT``; Potato exports no other fields."""
    parts = _PARTS.split(str(instance), maxsplit=1)
    return dict(zip(("query_id", "doc_id"), parts, strict=True)) if len(parts) == 2 else {}
