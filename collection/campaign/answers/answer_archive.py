"""Generated answers in an exported collection, with their nuggets, labels and logs, and how they are read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from collection import formats
from collection.campaign.answers.nuggets import IMPORTED
from collection.campaign.answers.tasks import (
    AnswerTasks,
    Citations,
    answer_id,
    nugget_document,
    nugget_id,
    sentence_id,
)
from collection.core.errors import ConflictError, FormatError
from collection.core.layout import NUGGET_ASSIGNMENT, TASK_NAMES
from collection.core.phrases import count
from collection.core.records import GradeScale, Judgement
from collection.formats import fields
from collection.store import Nugget, NuggetEdit, Store

if TYPE_CHECKING:
    from collection.campaign import Campaign

ANSWERS, NUGGETS, NUGGET_LOG = "answers.jsonl", "nuggets.jsonl", "nugget_log.jsonl"
ASSIGNMENTS, SUPPORT_FILE = "nugget_assignments.jsonl", "support.jsonl"
TASKS, JUDGEMENTS, CARD = "answer_tasks.json", "judgements.jsonl", "collection.json"
LOGS = {name: f"{name.replace('-', '_')}_log.jsonl" for name in TASK_NAMES}
"""The log of judgements of each task."""
LABELS = {name: f"{name.replace('-', '_')}_labels.jsonl" for name in TASK_NAMES}
"""The machine labels of each task."""

Unit = dict[str, str | int]
"""An answer, a sentence or a version of a nugget: a topic or document of a task."""


class Units(NamedTuple):
    """Answers, sentences and nuggets of a task by the ids of its topics and documents, without cited documents."""

    topics: dict[str, Unit]
    documents: dict[str, Unit]


def is_archive(path: Path) -> bool:
    """Tell whether a directory is an exported collection with generated answers."""
    return all((path / name).is_file() for name in (CARD, ANSWERS, NUGGET_LOG))


def other_files(path: Path) -> dict[str, Any]:
    """Return the other files of an exported collection: ``documents``, ``topics``, ``runs``."""
    documents, runs = path / "corpus.jsonl", sorted((path / "runs").glob("*"))
    named = (documents,) if documents.is_file() and documents.stat().st_size else ()
    return {"documents": named, "topics": path / "topics.jsonl", "runs": tuple(runs)}


def annotator_logs(tasks: AnswerTasks) -> Iterator[pd.DataFrame]:
    """Yield ``annotator`` and ``judged_at`` of the logs of nuggets and tasks."""
    edits = [(name, at) for _, _, name, at, _ in tasks.nuggets.log() if name != IMPORTED]
    yield pd.DataFrame(edits, columns=["annotator", "judged_at"], dtype="str")
    for name in tasks.existing():
        with tasks.open(name) as inner:
            yield inner.store.judgements.table(current=False, columns=("annotator", "judged_at"))


def units_of(store: Store, task: str) -> Units:
    """Return the answers or sentences of a task, and the nuggets of all versions."""
    answers = store.answers.answers()[["run", "query_id", "number"]]
    units = Units({}, {})
    if task == NUGGET_ASSIGNMENT:
        for run, query_id, number in answers.itertuples(index=False):
            units.topics[answer_id(query_id, number)] = {"run": run, "query_id": query_id}
        for nugget, *_ in store.answers.nugget_log():
            key = nugget_id(nugget.query_id, nugget.nugget, nugget.version)
            units.documents[key] = {"query_id": nugget.query_id, "nugget": nugget.nugget, "version": nugget.version}
        return units
    sentences = store.answers.sentences()[["run", "query_id", "sentence"]].merge(answers)
    for run, query_id, sentence, number in sentences.itertuples(index=False):
        unit: Unit = {"run": run, "query_id": query_id, "sentence": sentence}
        units.topics[sentence_id(query_id, number, sentence)] = unit
    return units


def restore_archive(store: Store, tasks: AnswerTasks, inner: Mapping[str, Campaign], folder: Path) -> list[str]:
    """Read an exported collection into a campaign that has its topics; return what was done, as sentences.

    Reading it again changes nothing. The caller holds the transactions of the campaign and of its tasks.

    Raises
    ------
    ConflictError
        The campaign has other answers or other nuggets.
    FormatError
        A file is not as it was exported.
    """
    read = formats.read_answers(folder / ANSWERS)
    added = store.answers.add(read.answers, read.sentences)
    done = [f"{folder / ANSWERS}: {count(sum(added), 'answer')} ({added.new:,} new)"]
    done.append(f"{folder / NUGGET_LOG}: {count(_restore_nuggets(store, folder / NUGGET_LOG), 'new edit')} of nuggets")
    with _as_exported(folder / TASKS, None):
        settings = dict(json.loads((folder / TASKS).read_text(encoding="utf-8")))
    for name, task in inner.items():
        citations: Citations = settings.get(name, {}).get("citations", "all")
        tasks.fill(task, citations=citations)
        ids = [{tuple(unit.items()): key for key, unit in each.items()} for each in units_of(store, name)]
        written = 0
        if (folder / LOGS[name]).is_file():
            rows = [(line, _to_pair(record, ids, name)) for line, record in _records(folder / LOGS[name])]
            _add_missing(task, tasks, name, [pair for _, pair in rows])
            written = _replay(task.store, task.settings.grades, folder / LOGS[name], rows)
        if (folder / LABELS[name]).is_file():
            labels = [_to_pair(record, ids, name) for _, record in _records(folder / LABELS[name])]
            _add_missing(task, tasks, name, labels)
            described = ((row["label_set"], row["kind"], json.dumps(row["settings"])) for row in labels)
            for label_set, kind, made_by in dict.fromkeys(described):
                own = pd.DataFrame([row for row in labels if row["label_set"] == label_set])
                frame = own[["query_id", "doc_id", "relevance"]]
                task.machine_labels.sets.label_by_file(frame, label_set, kind, json.loads(made_by))
        done.append(f"{folder / LOGS[name]}: {count(written, 'new entry', 'new entries')}")
    return done


def restore_judgements(store: Store, grades: GradeScale, folder: Path) -> list[str]:
    """Read the log of judgements of documents of an exported collection; return what was done."""
    path = folder / JUDGEMENTS
    if not path.is_file():
        return []
    rows = []
    for line, record in _records(path):
        with _as_exported(path, line):
            marked = [(each["start"], each["end"]) for each in record.get("passages") or ()]
            rows.append((line, {**record, "passages": marked}))
    store.corpus.add_document_ids(str(row["doc_id"]) for _, row in rows)
    return [f"{path}: {count(_replay(store, grades, path, rows), 'new entry', 'new entries')}"]


def _replay(store: Store, grades: GradeScale, path: Path, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> int:
    """Append the entries of a log that a campaign lacks, by their uuids; return their number."""
    written = 0
    for line, row in rows:
        with _as_exported(path, line):
            given = {name: row[name] for name in Judgement._fields if name in row}
            judgement = Judgement(**(given | {"passages": tuple(map(tuple, given.get("passages") or ()))}))
        pair = None
        if None not in (judgement.query_id, judgement.doc_id):
            keys = judgement.query_id, judgement.doc_id, judgement.annotator, judgement.counts_as
            pair = store.judgements.pair(*keys)
        if pair is None:
            raise FormatError(path, line, "an entry about a pair of the collection", f"{judgement.uuid} about another")
        if judgement.relevance is not None and judgement.relevance not in grades:
            hint = "read the collection into a campaign with its grades"
            raise FormatError(path, line, f"a grade of this campaign ({grades})", f"{judgement.relevance}", hint)
        if store.judgements.find_entry(judgement.uuid) is None:
            store.judgements.append(judgement, pair)
            written += 1
    return written


def _add_missing(task: Campaign, tasks: AnswerTasks, name: str, pairs: Iterable[Mapping[str, Any]]) -> None:
    """Add labelled pairs that are not judged any more, such as those of earlier versions of nuggets."""
    corpus = task.store.corpus
    topics = {pair["query_id"] for pair in pairs} - set(corpus.topics()["query_id"])
    corpus.add_topics(topic for topic in tasks.topics(name) if topic.query_id in topics)
    wanted = dict.fromkeys(str(pair["doc_id"]) for pair in pairs)
    if name == NUGGET_ASSIGNMENT:
        nuggets = (nugget_document(nugget) for nugget, *_ in tasks.nuggets.log())
        known = set(corpus.ids_with_text())
        versions = {each.doc_id: each for each in nuggets if each.doc_id in wanted and each.doc_id not in known}
        corpus.add_documents(versions.values())
    else:
        corpus.add_document_ids(wanted)


@contextmanager
def _as_exported(path: Path, line: int | None) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(path, line, "an entry as Cleverdon exports it", f"another one ({error})") from error


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    yield from fields.json_records(path, "entries of a log")


def _restore_nuggets(store: Store, path: Path) -> int:
    """Append the edits of a log of nuggets that the campaign lacks."""

    def identify(row: NuggetEdit) -> tuple[str, ...]:
        return row.edit, row.kind, row.nugget.query_id, row.nugget.nugget  # undoing an edit has its uuid

    known = set(map(identify, store.answers.nugget_log()))
    edits = []
    for line, record in _records(path):
        with _as_exported(path, line):
            read: dict[str, Any] = {name: record[name] for name in Nugget._fields}
            places = tuple((str(doc_id), start, end) for doc_id, start, end in read["sources"])
            nugget = Nugget(**(read | {"sources": places, "origins": tuple(read["origins"])}))
            edits.append(NuggetEdit(nugget, *(str(record[name]) for name in NuggetEdit._fields[1:])))  # type: ignore[arg-type]
    new = [each for each in edits if identify(each) not in known]
    if known and new:
        raise ConflictError(f"{path}: expected a campaign without other nuggets; import the collection into a new one")
    for nugget, kind, annotator, edited_at, edit in new:
        store.answers.log_nuggets([nugget], kind, annotator, edit=edit, edited_at=edited_at)
    return len(new)


def _to_pair(record: dict[str, Any], ids: Sequence[Mapping[Any, str]], task: str) -> dict[str, Any]:
    """Return an entry with the ids of its pair; without ids, if the collection lacks its answer or nugget.

    `ids` are those of topics and of documents by what they are.
    """

    def find(known: Mapping[Any, str], *names: str) -> str | None:
        return known.get(tuple((name, record.get(name)) for name in names))

    topics, documents = ids
    if task == NUGGET_ASSIGNMENT:
        topic, doc_id = find(topics, "run", "query_id"), find(documents, "query_id", "nugget", "version")
    else:
        topic, doc_id = find(topics, "run", "query_id", "sentence"), record.get("doc_id")
    return {**record, "query_id": topic, "doc_id": doc_id}
