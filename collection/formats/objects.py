"""Records with named, typed fields: JSONL, a JSON array, Parquet, and datasets of ir_datasets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collection.formats import datasets, fields, parquet, source, workbook
from collection.formats.source import FilePath

_ARRAY = re.compile(r"\s*\[\s*(?:\{|$)")
"""Begin of a JSON array of objects; a line of a table may begin with a bracket, too."""


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
    if line.lstrip().startswith("["):
        return fields.array_records(path, what)
    return fields.json_records(path, what, with_nan=with_nan)


def is_json(path: FilePath, line: str) -> bool:
    """Tell whether a file is JSON, by its first line or its ending."""
    begin = line.lstrip()[:1]
    by_name = source.suffix(path) in (".jsonl", ".json", ".ndjson")
    return begin == "{" or by_name or (begin == "[" and _ARRAY.match(line) is not None)
