"""The strict reader of blank-separated tables (runs, qrels): it reads line by line and names the line of an error."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from collection.core import arrow, phrases
from collection.core.arrays import Bools
from collection.core.errors import FormatError
from collection.formats.source import FilePath, quote
from collection.formats.tables.fast import read_quickly
from collection.formats.tables.lines import (
    WHOLE,
    Comments,
    Layout,
    TableRows,
    data_lines,
    number_hint,
    parse_grade,
    parse_score,
    report_copies,
    to_array,
)

if TYPE_CHECKING:
    import pandas as pd


_SUBTOPICS = (
    "column 2 differs; in diversity qrels it is the subtopic: use a measure of subtopics, such as alpha_nDCG@20, or "
    "--qrels-form subtopics"
)


def read_table(path: FilePath, layout: Layout) -> TableRows:
    """Read a file by its layout with the fast reader, else with the strict one."""
    # `refuse` reads line by line, and files with a further column are small.
    by_line = layout.refuse is not None or layout.extra is not None
    return (None if by_line else read_quickly(path, layout)) or read_strictly(path, layout)


def read_strictly(path: FilePath, layout: Layout) -> TableRows:
    """Read line by line: the rows, or the error with its line."""
    import pandas as pd

    topics: dict[str, int] = {}
    documents: dict[str, int] = {}
    topic_codes, document_codes, numbers = array("i"), array("i"), array("q")
    found_values: Any = [] if layout.graded else array("d")
    extra: list[Any] = []
    ranks: list[str] = []
    second: list[str] = []
    comments = Comments()
    rows = data_lines(path, layout.what, comments)
    if layout.header:
        next(rows)
    for number, line, columns in rows:
        _check_columns(path, number, line, columns, layout)
        text = columns[layout.value]
        value = parse_grade(text) if layout.graded else parse_score(text)
        if value is None:
            kind = "a number as grade" if layout.graded else "a number as score"
            hint = number_hint(text) or f"the columns are {layout.names}"
            raise FormatError(path, number, f"{kind} in column {layout.value + 1}", quote(text), hint)
        if layout.tag is not None and columns[layout.tag.place] != layout.tag.word:
            wanted = f"the tag {quote(layout.tag.word)} of line {layout.tag.line} in every line"
            hint = "a run file contains one run; split the file by its last column"
            raise FormatError(path, number, wanted, quote(columns[layout.tag.place]), hint)
        if layout.extra is not None:
            text, wanted = columns[layout.extra.place], f"{layout.extra.wanted} in column {layout.extra.place + 1}"
            extra.append(layout.extra.parse(text))
            if extra[-1] is None:
                raise FormatError(path, number, wanted, quote(text))
        ranks += columns[layout.rank : layout.rank + 1] if layout.rank is not None else ()
        topic_codes.append(topics.setdefault(columns[0], len(topics)))
        document_codes.append(documents.setdefault(columns[layout.doc], len(documents)))
        numbers.append(number)
        found_values.append(value)
        second += [columns[1] if layout.doc > 1 else ""] * layout.graded
    if not numbers:
        found = "only a header" if layout.header else "only blank lines and comments"
        raise FormatError(path, None, layout.what, found)
    pairs = pd.DataFrame({"topic": np.array(topic_codes, np.int32), "doc": np.array(document_codes, np.int32)})
    names = list(topics), list(documents)
    details = pd.DataFrame({"grade": found_values, "second": second}) if layout.graded else None
    keyed = pairs if layout.extra is None else pairs.assign(extra=extra)
    copies = _find_copies(path, layout, keyed, details, numbers, names)
    comments.report(path)
    report_copies(path, int(copies.sum()))
    values = to_array(found_values) if layout.graded else np.array(found_values, dtype=np.float64)
    unique_pairs = pairs[~copies]
    texts = arrow.from_texts(names[1]).take(arrow.from_numpy(unique_pairs["doc"].to_numpy()))
    others = [value for value, is_copy in zip(extra, copies, strict=True) if not is_copy] if extra else None
    return TableRows(unique_pairs["topic"].to_numpy(), names[0], texts, values[~copies], others, _as_numbers(ranks))


def _as_numbers(ranks: list[str]) -> npt.NDArray[np.int32] | None:
    """Ranks as numbers; None if there are none, or one is no whole number."""
    whole = bool(ranks) and all(WHOLE.fullmatch(rank) and len(rank) < 10 for rank in ranks)
    return np.array(list(map(int, ranks)), dtype=np.int32) if whole else None


def _find_copies(
    path: FilePath,
    layout: Layout,
    pairs: pd.DataFrame,
    details: pd.DataFrame | None,
    numbers: Sequence[int],
    names: tuple[list[str], list[str]],
) -> Bools:
    """Find the rows of qrels that repeat an earlier one in all columns; the error for another repeated document.

    `pairs` has ``topic``, ``doc`` as codes into `names`, and the values of the layout's extra column; `details` has
    ``grade`` and ``second`` (column 2) of qrels.
    """
    part = layout.extra.name if layout.extra is not None and layout.extra.parts else ""
    keys = pairs if part else pairs[["topic", "doc"]]
    twice = keys.duplicated().to_numpy()
    if not twice.any():
        return twice
    copies = twice & False if details is None else pairs.join(details).duplicated().to_numpy()
    if (twice == copies).all():
        return copies
    row = int((twice & ~copies).argmax())
    first = int((keys == keys.iloc[row]).all(axis=1).to_numpy().argmax())
    where = f"topic {quote(names[0][pairs['topic'].iloc[row]])}"
    where = f"{part} {quote(str(pairs['extra'].iloc[row]))} of {where}" if part else where
    document = f"document {quote(names[1][pairs['doc'].iloc[row]])} of {where}"
    found = f"{document} again (first in line {numbers[first]})"
    seconds = set() if details is None or part else {str(details["second"].iloc[place]) for place in (first, row)}
    has_subtopics = len(seconds) > 1 and not seconds <= {"0", "Q0", "q0"}
    wanted = f"each document once per {part or 'topic'}"
    raise FormatError(path, numbers[row], wanted, found, _SUBTOPICS if has_subtopics else "remove one of the lines")


def _check_columns(path: FilePath, number: int, line: str, columns: list[str], layout: Layout) -> None:
    count = len(columns)
    if count < layout.columns or (layout.exact and count != layout.columns):
        found = f"{phrases.count(count, 'column')}: {quote(line.strip())}"
        raise FormatError(path, number, f"{layout.columns} columns ({layout.names})", found)
    if layout.marker is not None and columns[layout.marker].upper() != "Q0":
        wanted = f"Q0 in column {layout.marker + 1} ({layout.names})"
        raise FormatError(path, number, wanted, quote(columns[layout.marker]))
    if layout.refuse is not None and (other := layout.refuse(columns)):
        raise FormatError(path, number, f"{layout.what} ({layout.names})", f"{other}: {quote(line.strip())}")
