"""Training data out: a query, a document that answers it, and documents that do not, as triples or tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from math import isnan
from typing import NamedTuple

import pandas as pd

from collection.core.errors import InputError
from collection.core.records import Document, require_columns
from collection.formats import source
from collection.formats.source import FilePath
from collection.formats.write import json_line, replacing, require_ids

NEEDED = ("query_id", "positive_id", "positive_relevance", "negative_id", "negative_relevance", "judged")

BATCH = 200
"""Lines whose documents are fetched together, to limit memory."""

Fetch = Callable[[Sequence[str]], Mapping[str, Document]]


class _Line(NamedTuple):
    query_id: str
    positive: tuple[str, float]
    negatives: list[tuple[str, float, bool]]


def write_training(
    frame: pd.DataFrame,
    path: FilePath,
    *,
    tuples: bool = False,
    flagged: bool = False,
    queries: Mapping[str, str] | None = None,
    documents: Fetch | None = None,
) -> int:
    """Write training examples, in the order of the frame, and return the number of lines.

    Parameters
    ----------
    frame
        A frame of :class:`collection.export.training_examples.Examples`; the rows of a positive are adjacent.
    path
        ``.tsv``: ids, under the header ``query_id positive_id negative_id``, or for tuples ``query_id positive_id
        negative_ids`` with blanks between the ids of the last column. ``.jsonl``: objects ``{"query_id", "query",
        "positive": {"doc_id", "title", "text", "relevance"}, "negatives": [{..., "relevance", "judged"}, ...]}``, with
        a null relevance for unjudged documents.
    tuples
        One line for each positive with all its negatives; else one for each negative.
    flagged
        Add a column ``judged`` to ``.tsv``: true or false, for tuples one word for each negative.
    queries, documents
        For ``.jsonl``: the text of each topic, and the source of documents, asked for :data:`BATCH` lines at a time.
    """
    suffix = source.suffix(path)
    if suffix not in (".tsv", ".jsonl"):
        raise source.ending_error(path, "training data", (".tsv", ".jsonl"))
    require_columns(frame, NEEDED, "writing training data")
    lines = list(_lines(frame, tuples))
    with replacing(path) as file:
        if suffix == ".tsv":
            header = ["query_id", "positive_id", "negative_ids" if tuples else "negative_id"] + ["judged"] * flagged
            file.write("\t".join(header) + "\n")
            file.writelines("\t".join(_cells(line, flagged)) + "\n" for line in lines)
        else:
            for record in _records(lines, queries or {}, documents or (lambda _: {})):
                file.write(json_line(record))
    return len(lines)


def _lines(frame: pd.DataFrame, tuples: bool) -> Iterator[_Line]:
    rows = zip(*(frame[name].tolist() for name in NEEDED), strict=True)
    for (query_id, doc_id, relevance), group in groupby(rows, key=lambda row: row[:3]):
        negatives = [(row[3], row[4], row[5]) for row in group]
        for part in [negatives] if tuples else [[negative] for negative in negatives]:
            yield _Line(query_id, (doc_id, relevance), part)


def _cells(line: _Line, flagged: bool) -> list[str]:
    ids = [line.query_id, line.positive[0], *(doc_id for doc_id, _, _ in line.negatives)]
    require_ids(ids)
    judged = [" ".join("true" if judged else "false" for _, _, judged in line.negatives)] * flagged
    return [*ids[:2], " ".join(ids[2:]), *judged]


def _records(lines: Sequence[_Line], queries: Mapping[str, str], documents: Fetch) -> Iterator[dict[str, object]]:
    left = iter(lines)
    while batch := list(islice(left, BATCH)):
        wanted = (doc_id for line in batch for doc_id in (line.positive[0], *(n[0] for n in line.negatives)))
        texts = documents(list(dict.fromkeys(wanted)))
        for line in batch:
            if line.query_id not in queries:
                raise InputError(f"training data: expected a text for topic {source.quote(line.query_id)}, found none")
            positive = _document(texts, *line.positive)
            negatives = [
                {**_document(texts, doc_id, grade), "judged": judged} for doc_id, grade, judged in line.negatives
            ]
            query = {"query_id": line.query_id, "query": queries[line.query_id]}
            yield query | {"positive": positive, "negatives": negatives}


def _document(texts: Mapping[str, Document], doc_id: str, relevance: float) -> dict[str, object]:
    document = texts.get(doc_id)
    if document is None or document.text is None:
        raise InputError(f"training data: expected a text for document {source.quote(doc_id)}, found none")
    grade = None if isnan(relevance) else int(relevance) if float(relevance).is_integer() else relevance
    return {"doc_id": doc_id, "title": document.title, "text": document.text, "relevance": grade}
