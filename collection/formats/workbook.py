"""The first sheet of an XLSX workbook as rows of texts."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO, cast

from collection.core.errors import FormatError
from collection.formats import compression, source
from collection.formats.source import FilePath, quote

EXPANDED = 256 << 20
"""Maximum size of an unpacked workbook in bytes; without a limit, a small hostile file could fill the memory."""

ANY_RATIO = 32 << 20
"""Bytes that any workbook may expand to; a larger one may to :data:`.compression.LARGEST_RATIO` times its size."""

ROWS, CELLS = 1_048_576, 50_000_000
"""Maximum number of rows (Excel's own) and of cells: a cell far outside makes cells of all that is before it."""

WANTED = "an XLSX workbook"


def is_workbook(path: FilePath) -> bool:
    """Return whether the file's name says that it is a workbook."""
    return source.suffix(path) == ".xlsx"


def read_rows(path: FilePath, what: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every row of the first sheet that is not blank.

    The first row names the columns, or one of the next four, if it has names of columns that the first lacks, as below
    a title in merged cells. Rows have only the columns that it names. Whole numbers have no decimals, and dates are in
    ISO 8601. A formula is read as its stored value.
    """
    from collection.formats import columns  # it needs pandas, which small text files do without

    rows = _filled_rows(path, what)
    first = list(islice(rows, columns.BEFORE))
    header = next((cells for _, cells in first if columns.count_known(cells) > 1), first[0][1] if first else [])
    named = [place for place, cell in enumerate(header) if cell.strip()]
    for number, cells in chain(first, rows):
        yield number, [cells[place] if place < len(cells) else "" for place in named]


def _filled_rows(path: FilePath, what: str) -> Iterator[tuple[int, list[str]]]:
    """Number and all cells of every row of the first sheet that is not blank."""
    from openpyxl import load_workbook

    number = 0
    with source.open_bytes(path, what, is_text=False) as file:
        try:
            _require_size(path, cast(BinaryIO, file))
            book = load_workbook(cast(BinaryIO, file), read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # a wrong size would make rows of thousands of empty cells
            seen = 0
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                seen += max(len(row), 1)
                if seen > CELLS or number > ROWS:
                    wanted = f"{WANTED} of at most {ROWS:,} rows and {CELLS:,} cells"
                    raise FormatError(path, number, wanted, "more", "use CSV")
                cells = [_text(value) for value in row]
                if not any(cell.strip() for cell in cells):
                    continue
                _require_text(path, number, cells)
                yield number, cells
        except FormatError:
            raise
        # openpyxl raises exceptions of any type for damaged workbooks.
        except Exception as error:
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            found = f"a damaged file ({reason[:100]})"
            raise FormatError(path, number + 1 if number else None, WANTED, found, "save it again as .xlsx") from None


def _require_size(path: FilePath, file: BinaryIO) -> None:
    import zipfile

    try:
        with zipfile.ZipFile(file) as parts:
            size = sum(part.file_size for part in parts.infolist())
            packed = sum(part.compress_size for part in parts.infolist())
    except zipfile.BadZipFile:
        raise FormatError(path, None, WANTED, "another kind of file", "save it as .xlsx") from None
    if size > max(ANY_RATIO, compression.LARGEST_RATIO * packed):
        found = f"one that expands to more than {compression.LARGEST_RATIO} times its size"
        raise FormatError(path, None, WANTED, found, "save it again as .xlsx")
    if size > EXPANDED:
        found = f"one of {size >> 20:,} MiB"
        raise FormatError(path, None, f"{WANTED} of at most {EXPANDED >> 20:,} MiB when unpacked", found, "use CSV")


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _require_text(path: FilePath, number: int, cells: list[str]) -> None:
    for cell in cells:
        if "\0" in cell or any(0xD800 <= ord(c) <= 0xDFFF for c in cell):
            raise FormatError(path, number, "text", f"an invalid character in {quote(cell)}")
