"""Records with named, typed fields: JSONL, Parquet, and datasets of ir_datasets."""

from __future__ import annotations

from collections.abc import Iterator

from collection.formats import datasets, fields, parquet, source, workbook
from collection.formats.source import FilePath


def is_binary(path: FilePath) -> bool:
    """Whether the path names a workbook, a Parquet file or a dataset, which have no text lines."""
    return source.is_dataset(path) or workbook.is_workbook(path) or source.suffix(path) == ".parquet"


def records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]] | None:
    """Number and fields of every record; None for a file in another form.

    `what` names the records, such as "documents"; it also selects this part of a dataset.
    """
    if source.is_dataset(path):
        return datasets.records(path, what)
    if source.suffix(path) == ".parquet":
        return parquet.records(path, what)
    if workbook.is_workbook(path):
        return None
    number, line = fields.first_line(path, what)
    if line.lstrip().startswith("{") or source.suffix(path) in (".jsonl", ".json", ".ndjson"):
        fields.refuse_array(path, number, line)
        return fields.json_records(path, what)
    return None
