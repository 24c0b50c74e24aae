"""Labels as ASReview and Label Studio export them, under our column names.

The formats follow the source code of ASReview 3.0.8 (``webapp/_api/projects.py``, ``data/ris.py``) and
label-studio-sdk 2.1.2 (``converter``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import tee

from collection.errors import FormatError
from collection.formats import delimited, fields, objects, references, tagged, workbook
from collection.formats.fields import DOC_ID
from collection.formats.source import FilePath, quote

_DECISION = "asreview_label"
_NOTES = {"ASReview_relevant": "1", "ASReview_irrelevant": "0", "ASReview_not_seen": ""}


def records(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]] | None:
    """Line and fields of every label of an export; None for a file of another kind.

    Of ASReview: annotator ("asreview" where the file names none), ``doc_id`` as the import of the same records makes
    it, ``relevance``, ``judged_at``. Of Label Studio (JSON): the fields of the task, ``annotator``, ``judged_at`` and
    each choice or rating under the name of its tag.
    """
    if not workbook.is_workbook(path):
        if objects.is_binary(path):
            return None
        _, line = fields.first_line(path, what)
        if references.detect(path, line) == "ris":
            return _asreview(tagged.read_ris(path, what))
        if line.lstrip().startswith("["):
            return _label_studio(path, what)
        if _DECISION not in line.lower():
            return None
    _, names, below = delimited.read_headed(path, what, delimited.separator_of(path, what))
    if _DECISION not in names:
        return None
    return _asreview((number, dict(zip(names, cells, strict=True))) for number, cells in below)


def _asreview(found: Iterator[tuple[int, Mapping[str, object]]]) -> Iterator[tuple[int, Mapping[str, object]]]:
    with_ids, found = tee(found)
    for (number, read), (_, reference) in zip(found, references.to_references(with_ids), strict=True):
        record = {**read, **_noted(read.get("notes"))}
        label = record.get(_DECISION)
        if not str(label or "").strip():
            continue
        doc_id = next((record[name] for name in DOC_ID if record.get(name)), reference.doc_id)
        annotator = record.get("asreview_user_email") or record.get("asreview_user_name") or "asreview"
        said = {"annotator": annotator, "doc_id": doc_id, "relevance": label, "judged_at": record.get("asreview_time")}
        said["note"] = record.get("asreview_note")
        yield number, said | {name: record[name] for name in ("query_id", "qid") if name in record}


def _noted(notes: object) -> dict[str, str]:
    """The fields that ASReview writes into the notes of a RIS record."""
    texts = [str(note) for note in notes] if isinstance(notes, list) else []
    found = {name: value.strip('"') for name, _, value in (text.partition(": ") for text in texts) if value}
    said = [_NOTES[text] for text in texts if text in _NOTES]
    return found | ({_DECISION: said[0]} if said else {})


def _label_studio(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, task in fields.array_records(path, what):
        annotations = task.get("annotations")
        if annotations is None:  # the form JSON-MIN, one record for each annotation
            chosen = {name: _choices(value) for name, value in task.items()}
            chosen |= {"annotator": _annotator(task.get("annotator")), "judged_at": task.get("created_at")}
            yield number, chosen
            continue
        data = task.get("data")
        if not isinstance(annotations, list) or not isinstance(data, dict):
            raise FormatError(path, number, "a task of Label Studio with data and annotations", quote(json.dumps(task)))
        for annotation in annotations:
            if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
                said = {"annotator": _annotator(annotation.get("completed_by")), **_results(annotation.get("result"))}
                yield number, {**data, **said, "judged_at": annotation.get("created_at")}


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
    found: dict[str, object] = {}
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        if isinstance(value, dict):
            choices = value.get("choices")
            found[str(result.get("from_name"))] = _one(choices) if choices else value.get("rating", value.get("number"))
    return found
