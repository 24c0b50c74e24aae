"""Files out: qrels, pools, judgements. A failed export leaves the old file as it was."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import pandas as pd

from collection.errors import InputError
from collection.formats import source
from collection.records import POOL_COLUMNS, QRELS_COLUMNS, Judgement, require_columns

_WHOLE = ("relevance", "pool_rank", "model_round")
"""Fields of a judgement that are whole numbers; a null among them makes pandas hold floats."""


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[str]]:
    """A text file that takes the place of `path` when everything is written, and not before.

    It is written beside its target, since only within one file system is the exchange one step.
    """
    target = Path(path).resolve()  # a link stays a link: what it points to is replaced
    if target.exists() and not target.is_file():
        # A pipe or a device cannot be replaced, only written to.
        try:
            with target.open("w", encoding="utf-8", newline="") as file:
                yield file
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
        return
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as raw:
            if target.name.endswith(".gz"):
                # No name and no time inside: the same content gives the same bytes.
                with (
                    gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
                    io.TextIOWrapper(zipped, "utf-8", newline="") as file,
                ):
                    yield file
            else:
                with io.TextIOWrapper(raw, "utf-8", newline="", write_through=False) as file:
                    yield file
                    file.flush()
                    os.fsync(raw.fileno())
        part.replace(target)
    except FileNotFoundError as error:
        raise InputError(f"{path}: cannot be written, there is no folder {target.parent}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        part.unlink(missing_ok=True)


def write_qrels(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write qrels in the TREC form, ``query_id 0 doc_id relevance``, in the order of the frame.

    Parameters
    ----------
    frame
        ``query_id``, ``doc_id``, ``relevance``.
    path
        Compressed if it ends in ``.gz``. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a column is missing.
    InputError
        If an id could not be read back (empty, white space in it, a topic that begins with #), a grade
        is missing, or the file cannot be written.
    """
    require_columns(frame, QRELS_COLUMNS, "writing qrels")
    topics = _ids(frame, "query_id")
    documents = _ids(frame, "doc_id")
    if any(t.startswith("#") for t in set(topics)):
        raise InputError("a query_id that begins with # would be read as a comment; rename the topic")
    if frame["relevance"].isna().any():
        raise InputError("qrels need a grade in every row; leave pairs without one out")
    with replacing(path) as file:
        for topic, document, grade in zip(topics, documents, frame["relevance"].tolist(), strict=True):
            file.write(f"{topic} 0 {document} {_number(grade)}\n")


def write_pool(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write a pool as TSV with the header ``query_id doc_id strategy rank``, in the order of the frame.

    Parameters
    ----------
    frame
        ``query_id``, ``doc_id``, ``strategy``, ``rank`` (empty in the file where it is null).
    path
        Compressed if it ends in ``.gz``. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a column is missing.
    InputError
        If an id or a strategy could not be read back, or the file cannot be written.
    """
    require_columns(frame, POOL_COLUMNS, "writing a pool")
    strategies = ["" if s is None else str(s) for s in _plain(frame["strategy"])]
    wrong = next((s for s in strategies if "\t" in s or "\n" in s or "\r" in s), None)
    if wrong is not None:
        raise InputError(f"a strategy cannot be written with a tab or a line end in it: {source.quote(wrong)}")
    ranks = ["" if r is None else _number(r) for r in _plain(frame["rank"])]
    with replacing(path) as file:
        file.write("\t".join(POOL_COLUMNS) + "\n")
        for row in zip(_ids(frame, "query_id"), _ids(frame, "doc_id"), strategies, ranks, strict=True):
            file.write("\t".join(row) + "\n")


def write_judgements(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write the judgement log, every column of the frame, in its order.

    Parameters
    ----------
    frame
        The fields of :class:`collection.records.Judgement`; further columns are written too.
    path
        ``.jsonl``: one object a line, nulls kept. ``.csv``: a header, nulls empty, lists as JSON. Either may be
        followed by ``.gz``. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a field is missing.
    InputError
        If the file ends in anything else, or cannot be written.
    """
    write_log(frame, path, Judgement._fields, "judgements")


def write_log(
    frame: pd.DataFrame,
    path: str | PathLike[str],
    wanted: Sequence[str],
    what: str,
    forms: Sequence[str] = (".jsonl", ".csv"),
) -> None:
    """Write a log of what people said, every column of the frame, in its order; `what` names it in errors.

    Parameters
    ----------
    frame
        The columns that are `wanted`; further ones are written too. Tuples become lists.
    path
        Ends in one of `forms`, perhaps followed by ``.gz``: ``.jsonl``, one object a line, nulls kept; ``.csv``, a
        header, nulls empty, lists as JSON. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a column is missing.
    InputError
        If the file ends in anything else, or cannot be written.
    """
    suffix = source.suffix(path)
    if suffix not in forms:
        raise InputError(f"{path}: {what} are written as {' or '.join(forms)} (perhaps .gz after it)")
    require_columns(frame, wanted, f"writing {what}")
    names = [str(c) for c in frame.columns]
    columns = [_plain(frame[c], whole=c in _WHOLE) for c in frame.columns]
    rows: Iterable[tuple[Any, ...]] = zip(*columns, strict=True)
    with replacing(path) as file:
        if suffix == ".jsonl":
            for row in rows:
                record = dict(zip(names, row, strict=True))
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows([[_cell(v) for v in row] for row in rows])


def write_lines(lines: Iterable[str], path: str | PathLike[str]) -> None:
    """Write one text a line, such as the ids of documents that are wanted.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def write_table(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write a frame of plain columns as TSV with a header; replaced whole or left as it was."""
    with replacing(path) as file:
        frame.to_csv(file, sep="\t", index=False, lineterminator="\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _cell(value: Any) -> Any:
    """A value of CSV: lists as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | list) else value


def _plain(column: pd.Series[Any], whole: bool = False) -> list[Any]:
    """Python values, with None for every kind of null."""
    values = [None if null else v for v, null in zip(column.tolist(), column.isna(), strict=True)]
    if whole:
        return [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    return values


def _ids(frame: pd.DataFrame, name: str) -> list[str]:
    """Ids as text; each must survive being read back from a line that blanks part."""
    ids = ["" if i is None else str(i) for i in _plain(frame[name])]
    wrong = next((i for i in ids if not source.fits_a_column(i)), None)
    if wrong is not None:
        raise InputError(f"a {name} cannot be written if it is empty or has white space in it: {source.quote(wrong)}")
    return ids
