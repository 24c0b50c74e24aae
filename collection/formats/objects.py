"""Records with named, typed fields: JSONL, a JSON array, Parquet, and datasets of ir_datasets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeGuard

from collection.formats import datasets, fields, parquet, source, workbook
from collection.formats.source import FilePath

_ARRAY = re.compile(r"\s*\[\s*(?:\{|$)")
"""Begin of a JSON array of objects; a line of a table may begin with a bracket, too."""

SCORES = ("score", "sim", "similarity", "_score")
"""Names of the score in runs."""


def is_binary(path: FilePath) -> bool:
    """Tell whether the path names a workbook, a Parquet file or a dataset, which have no text lines."""
    return source.is_dataset(path) or workbook.is_workbook(path) or source.suffix(path) == ".parquet"


def records(path: FilePath, what: str, *, with_nan: bool = False) -> Iterator[tuple[int, dict[str, object]]] | None:
    """Number and fields of every record; None for a file in another form.

    `what` names the records, such as "documents"; it also selects this part of a dataset. `with_nan` accepts NaN in
    JSONL, as null.
    """
    if source.is_dataset(path):
        return datasets.records(path, what)
    if source.suffix(path) == ".parquet":
        return parquet.records(path, what)
    if workbook.is_workbook(path):
        return None
    _, line = fields.first_line(path, what)
    if not is_json(path, line):
        return None
    is_array = line.lstrip().startswith("[")
    found = fields.array_records(path, what) if is_array else fields.json_records(path, what, with_nan=with_nan)
    return ((number, row) for number, record in found for row in unnest(record)) if what == "a run" else found


def members(
    path: FilePath, what: str, ids: Sequence[str], texts: Collection[str], *, may_be_titled: bool = False
) -> Iterator[tuple[int, dict[str, object]]] | None:
    """The records of a file that is one JSON object: a list of records, or ids with texts or records; else None.

    An object with one of the `ids` is itself a record. One with a name of `texts` is a record without an id, unless it
    has a list of records and `may_be_titled`.
    """
    if is_binary(path) or not fields.first_line(path, what)[1].lstrip().startswith("{"):
        return None
    whole = fields.whole_object(path, what)
    if whole is None:
        return None
    if fields.first_present(whole, ids):
        return iter([(1, whole)])
    lists = [value for value in whole.values() if isinstance(value, list)]
    is_record = bool(whole.keys() & set(texts))
    if len(lists) == 1 and all(isinstance(each, dict) for each in lists[0]) and (may_be_titled or not is_record):
        return ((1, each) for each in lists[0])
    if not is_record and all(isinstance(each, str | dict) for each in whole.values()):
        named = ((name, each if isinstance(each, dict) else {"text": each}) for name, each in whole.items())
        return ((1, {ids[0]: name, **each}) for name, each in named)
    return None


def unnest(record: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The documents of a record that has a topic with its ranking, or the record itself if it has none.

    Anserini and RankLLM write a topic as an object with id and text, and its documents with ids and scores as a list.

    >>> [row] = unnest({"query": {"qid": "q1", "text": "lift"}, "candidates": [{"docid": "d7", "score": 2.5}]})
    >>> row
    {'qid': 'q1', 'docid': 'd7', 'score': 2.5}
    """
    documents = fields.PAIR_ALIASES["doc_id"]
    rankings = [value for value in record.values() if is_ranking(value)]
    if len(rankings) != 1 or fields.first_present(record, documents):
        yield dict(record)
        return
    topic = {name: value for name, value in record.items() if not isinstance(value, dict | list)}
    for value in record.values():
        if isinstance(value, dict):
            topic |= {name: value[name] for name in fields.PAIR_ALIASES["query_id"] if name in value}
    yield from ({**topic, **each} for each in rankings[0])


def is_ranking(value: object) -> TypeGuard[list[dict[str, object]]]:
    """Tell whether a value is a list of objects, each a document with its score."""
    names = (fields.PAIR_ALIASES["doc_id"], SCORES)
    return isinstance(value, list) and all(
        isinstance(each, dict) and all(fields.first_present(each, one) for one in names) for each in value
    )


def is_json(path: FilePath, line: str) -> bool:
    """Tell whether a file is JSON, by its first line or its ending."""
    begin = line.lstrip()[:1]
    by_name = source.suffix(path) in (".jsonl", ".json", ".ndjson")
    return begin == "{" or by_name or (begin == "[" and _ARRAY.match(line) is not None)
