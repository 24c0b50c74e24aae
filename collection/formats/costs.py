"""Costs of runs: a small table beside the runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from collection.core.errors import FormatError
from collection.formats import delimited, fields, source
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_score

WANTED = "costs of runs"
RUN = ("run", "name", "tag")


@opens_once
def read_costs(path: FilePath) -> pd.DataFrame:
    """Read costs of runs, one row per run: ``.csv`` or ``.tsv`` with a header.

    The run's column may be called run, name or tag. All columns are kept. The usual ones and their units:
    ``latency_ms`` (per query), ``throughput_qps`` (queries per second), ``index_bytes`` (on disk), ``memory_bytes``
    (while queries are answered), ``price_usd``, ``hardware``.

    Returns ``run`` (str), then the other columns in the order of the file, in lower case: float64 where every value is
    a finite number, else str. An empty cell is missing (NaN).
    """
    place, names, records = _table(path)
    seen = fields.UniqueIds(path, "run")
    rows = []
    for number, record in records:
        cells = [cell.strip() for cell in record]
        run = cells.pop(place)
        if not run:
            raise FormatError(path, number, "a run name in every row", f"none: {quote(' | '.join(record))}")
        seen.add(run, number)
        rows.append([run, *cells])
    del names[place]
    frame = pd.DataFrame(rows, columns=["run", *names], dtype="str")
    return frame.assign(**{name: _numbers_or_text(frame[name]) for name in names})


def find_run_line(path: FilePath, run: str) -> int | None:
    """The line of a run's costs, for errors that only the campaign can find."""
    place, _, records = _table(path)
    return next((number for number, record in records if record[place].strip() == run), None)


def _table(path: FilePath) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """The index of the run's column, the columns' names, and the rows."""
    suffix = source.suffix(path)
    if suffix not in (".csv", ".tsv"):
        number, _ = fields.first_line(path, WANTED)
        raise FormatError(path, number, f"{WANTED} in a file that ends in .csv or .tsv", f"the ending {suffix!r}")
    number, names, records = delimited.read_headed(path, WANTED, "," if suffix == ".csv" else "\t")
    if "" in names or not any(name in RUN for name in names):
        wanted = f"a header that names every column, one of them {' or '.join(RUN)}"
        raise FormatError(path, number, wanted, quote(" | ".join(names)))
    return names.index(next(name for name in RUN if name in names)), names, records


def _numbers_or_text(column: pd.Series) -> pd.Series:
    """The column as numbers if all its values are finite numbers; missing where it is empty."""
    filled = column[column != ""]
    numbers = filled.map(parse_score)
    if numbers.isna().any() or not numbers.map(math.isfinite).all():
        return filled.reindex(column.index)
    return numbers.astype("float64").reindex(column.index)
