"""File formats of trec_eval only: preferences as levels, and reference scores."""

from __future__ import annotations

import pandas as pd

from collection.core import phrases
from collection.core.errors import FormatError
from collection.core.frames import LEVELS, REFERENCE_SCORES
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import data_lines, first_line, parse_score


@opens_once
def read_levels(path: FilePath) -> pd.DataFrame:
    """Read preferences: ``query_id group subgroup doc_id level``, separated by blanks or tabs.

    Documents with a higher level are preferred to all documents of the same subgroup with a lower one.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.LEVELS` in the order of the file.

    Raises
    ------
    FormatError
        With path and line: other columns, or a level that is not a number.
    """
    return LEVELS.check(
        _read(path, "preferences", ("query_id", "group", "subgroup", "doc_id", "level"), numbers=1, unique=False)
    )


@opens_once
def read_reference_scores(path: FilePath) -> pd.DataFrame:
    """Read means and standard deviations of measures: ``query_id measure mean deviation``.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.REFERENCE_SCORES` in the order of the file.

    Raises
    ------
    FormatError
        With path and line: other columns, text instead of a number, or a repeated measure of a topic.
    """
    names = ("query_id", "measure", "mean", "deviation")
    return REFERENCE_SCORES.check(_read(path, "reference scores", names, numbers=2, unique=True))


def _read(path: FilePath, what: str, names: tuple[str, ...], *, numbers: int, unique: bool) -> pd.DataFrame:
    """Read a table without a header: its last columns are numbers; its other columns together may be unique."""
    first_line(path, what)  # an error if there is none
    rows: list[list[str | float]] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line, columns in data_lines(path, what):
        if len(columns) != len(names):
            found = f"{phrases.count(len(columns), 'column')}: {quote(line.strip())}"
            raise FormatError(path, number, f"{len(names)} columns ({' '.join(names)})", found)
        ids, values = tuple(columns[:-numbers]), [parse_score(text) for text in columns[-numbers:]]
        for name, text, value in zip(names[-numbers:], columns[-numbers:], values, strict=True):
            if value is None:
                raise FormatError(path, number, f"a number as {name}", quote(text))
        if unique and seen.setdefault(ids, number) != number:
            found = f"{quote(' '.join(ids))} again (first in line {seen[ids]})"
            raise FormatError(path, number, f"each {' '.join(names[:-numbers])} once", found)
        rows.append([*ids, *(value for value in values if value is not None)])
    frame = pd.DataFrame(rows, columns=list(names))
    return frame.astype({**dict.fromkeys(names[:-numbers], "str"), **dict.fromkeys(names[-numbers:], "float64")})
