"""Datasets of ir_datasets in place of files: ``ir_datasets:ID``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

from collection.core.errors import DATASET, FormatError, InputError
from collection.core.phrases import join_first
from collection.formats import fields
from collection.formats.source import FilePath, dataset_id, is_dataset

DatasetPart = Literal["documents", "topics", "qrels"]

_METHODS: dict[DatasetPart, str] = {"documents": "docs", "topics": "queries", "qrels": "qrels"}

LONGEST = 1000
"""Maximum characters of a field that is kept as metadata; longer fields repeat the document in another form."""


def has_part(path: FilePath, part: DatasetPart) -> bool:
    """Return whether the dataset has documents, topics or qrels."""
    return bool(getattr(_load(path), f"has_{_METHODS[part]}")())


def require_parts(path: FilePath) -> None:
    """Raise InputError if the dataset has neither documents nor topics nor qrels, only subsets that have them."""
    if not any(has_part(path, part) for part in _METHODS):
        raise InputError(f"{path}: expected a dataset with {_listed()}, found none of these{_name_subsets(path)}")


def _name_subsets(path: FilePath, part: DatasetPart | None = None) -> str:
    """Name subsets of the dataset, those with `part` if it is given."""
    import ir_datasets

    names = [f"{DATASET}{name}" for name in ir_datasets.registry if name.startswith(f"{dataset_id(path)}/")]
    having = [name for name in names if part is None or has_part(name, part)]
    return f"; name a subset: {join_first(having, 3)}" if having else ""


def download(**parts: Sequence[FilePath]) -> None:
    """Download the datasets among the paths of each part, unless ir_datasets already has them."""
    for part, paths in parts.items():
        for path in filter(is_dataset, paths):
            next(records(path, part), None)


def records(path: FilePath, part: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Number and fields of every document, topic or judgement, as they come.

    A document or topic without a text field gets ``text`` from ir_datasets' ``default_text``. A document's other fields
    are kept if they are numbers, short texts or lists of these.
    """
    known = next((each for each in _METHODS if each == part), None)
    if known is None:
        raise InputError(f"{path}: expected a file with {part}, found a dataset; ir_datasets has only {_listed()}")
    dataset = _load(path)
    if not getattr(dataset, f"has_{_METHODS[known]}")():
        offered = ", ".join(each for each in _METHODS if has_part(path, each)) or "none of these"
        raise InputError(f"{path}: expected a dataset with {part}, found {offered}{_name_subsets(path, known)}")
    return _records(path, dataset, known)


def _records(path: FilePath, dataset: Any, part: DatasetPart) -> Iterator[tuple[int, dict[str, object]]]:
    number = 0
    try:
        for number, item in enumerate(getattr(dataset, f"{_METHODS[part]}_iter")(), start=1):
            record = {name: fields.as_json(path, number, value) for name, value in item._asdict().items()}
            if part == "documents":
                record = {name: each for name, each in record.items() if _is_kept(name, each)}
            has_text = any(isinstance(record.get(name), str) for name in (*fields.TEXT, "title"))
            if part != "qrels" and not has_text and hasattr(item, "default_text"):
                record["text"] = fields.as_json(path, number, item.default_text())
            for name in fields.TEXT:
                if isinstance(text := record.get(name), str):
                    record[name] = text.strip()
            yield number, record
    except InputError:
        raise
    # Downloads and the many file formats of ir_datasets raise exceptions of any type.
    except Exception as error:
        if _is_offline(error):
            raise InputError(f"{path}: cannot download {dataset_id(path)} (no network?)") from error
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(f"{path}: expected {part}, but ir_datasets failed after {number:,}: {reason[:200]}") from error
    if not number:
        raise FormatError(path, None, part, "none")


def _is_kept(name: str, value: object) -> bool:
    if name in (*fields.TEXT, "marked_up_doc"):  # the latter is the document again
        return name in fields.TEXT and isinstance(value, str)
    if isinstance(value, list):
        return all(isinstance(each, str | int | float) for each in value) and len(str(value)) <= LONGEST
    return isinstance(value, str | int | float) and len(str(value)) <= LONGEST


def _listed() -> str:
    return "documents, topics and qrels"


def _is_offline(error: BaseException | None) -> bool:
    """Return whether an exception or one of its causes is that of a connection."""
    import socket

    while error is not None:
        if isinstance(error, ConnectionError | TimeoutError | socket.gaierror):
            return True
        error = error.__cause__ or error.__context__
    return False


@cache
def _silence(library: ModuleType) -> None:
    """Hide the messages and progress bars of ir_datasets; an import has its own."""
    nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115, as long as the process
    hidden = SimpleNamespace(tqdm=partial(library.lazy_libs.tqdm().tqdm, file=nowhere))
    library.lazy_libs.tqdm = lambda: hidden
    library.log.easy().logger().setLevel(logging.ERROR)


def _load(path: FilePath) -> Any:
    try:
        import ir_datasets
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: datasets are read with the package ir-datasets; install it with `pip install ir-datasets`"
        ) from None
    _silence(ir_datasets)
    try:
        return ir_datasets.load(dataset_id(path))
    except KeyError:
        raise InputError(
            f"{path}: ir_datasets has no dataset {dataset_id(path)!r}; `ir_datasets list` prints the names"
        ) from None
