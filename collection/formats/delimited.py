"""Records of CSV, TSV and XLSX, and of these and JSONL, with the line where each begins."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from collection.errors import FormatError
from collection.formats import fields, objects, source, spreadsheet, workbook
from collection.formats.source import FilePath

LONGEST_FIELD = 64 << 20
"""Characters in one CSV field: enough for long documents, while an unclosed quotation mark must not fill the memory."""

_IDS = ("query_id", "qid", "doc_id", "docno")
"""Names of ids that show that the first line is a header, although it lacks the id that is read."""


def records(path: FilePath, what: str, separator: str, *, keep_ends: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every record that is not blank.

    A tab-separated line is one record and quotation marks are text, as MS MARCO and BEIR write it; comma-separated
    fields may be quoted and then hold commas and line ends, CR and LF as LF unless `keep_ends`. A workbook has
    the rows of its first sheet, whatever the separator.
    """
    if workbook.is_workbook(path):
        yield from workbook.read_rows(path, what)
        return
    if separator == "\t":
        for number, line in fields.data_lines(path, what):
            yield number, line.split("\t")
        return
    if csv.field_size_limit() < LONGEST_FIELD:
        csv.field_size_limit(LONGEST_FIELD)
    end = "" if keep_ends else "\n"
    lines = (line + end for _, line in source.lines(path, what, keep_ends=keep_ends))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            hint = "write a quotation mark inside a quoted field twice"
            raise FormatError(path, number, "a CSV record", str(error), hint) from None
        if any(f.strip() for f in record):
            yield number, record


def read_headed(path: FilePath, what: str, separator: str) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """The header's line, its names in lower case, and the records below it, each as wide and at least one."""
    all_records = records(path, what, separator, keep_ends=True)
    first = next(all_records, None)
    if first is None:
        number, line = _first_line(path, what)
        raise FormatError(path, number, f"{what} with a header that names the columns", source.quote(line))
    number, header = first
    names = [name.strip().lower() for name in header]
    fields.check_header(path, number, names)

    def below() -> Iterator[tuple[int, list[str]]]:
        line = number
        for line, cells in all_records:
            fields.check_width(path, line, cells, names)
            yield line, cells
        if line == number:
            raise FormatError(path, number, what, "only a header")

    return number, names, below()


def aliased_records(
    path: FilePath, what: str, aliases: Mapping[str, Sequence[str]], defaults: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[int, dict[str, object]]]:
    """Line number and fields of every record of JSONL or Parquet, or of CSV, TSV or XLSX with a header, by our names.

    `aliases` are the names of each required column in files, usual names first; other columns keep their names. A
    column of `defaults` may be missing. Removes the apostrophe by which :mod:`collection.formats.spreadsheet` marks
    text.
    """
    typed = objects.records(path, what)
    if typed is not None:
        for at, record in typed:
            yield at, rename(path, at, what, record, aliases, defaults)
        return
    number, header, below = read_headed(path, what, separator_of(path, what))
    names, is_workbook = _own_names(path, number, what, header, aliases, defaults), workbook.is_workbook(path)
    for at, cells in below:
        restored = cells if is_workbook else map(spreadsheet.restore, cells, names)
        yield at, {**defaults, **dict(zip(names, restored, strict=True))}


def separator_of(path: FilePath, what: str) -> str:
    """The separator of a table with a header, by the file's ending and its first line."""
    if workbook.is_workbook(path):
        return ","
    number, line = fields.first_line(path, what)
    fields.refuse_array(path, number, line)
    suffix = source.suffix(path)
    if suffix == ".tsv" or (suffix != ".csv" and "\t" in line):
        return "\t"
    return ";" if ";" in line and "," not in line else ","  # as Excel writes CSV in many countries


def rename(
    path: FilePath,
    number: int,
    what: str,
    record: Mapping[str, object],
    aliases: Mapping[str, Sequence[str]],
    defaults: Mapping[str, str],
) -> dict[str, object]:
    """A record under our names, as :func:`aliased_records` gives it."""
    names = _own_names(path, number, what, list(record), aliases, defaults)
    return {**defaults, **dict(zip(names, record.values(), strict=True))}


def _own_names(
    path: FilePath,
    number: int,
    what: str,
    names: list[str],
    aliases: Mapping[str, Sequence[str]],
    defaults: Mapping[str, str],
) -> list[str]:
    """The names, with ours in place of the first alias of each column."""
    found = {}
    for column, known in aliases.items():
        name = next((alias for alias in known if alias in names), None)
        if name is None and column in defaults:
            continue
        if name is None:
            wanted = f"{what} with the columns " + ", ".join(" or ".join([c, *a[1:2]]) for c, a in aliases.items())
            raise FormatError(path, number, wanted, f"no {column} in {source.quote(', '.join(names))}")
        found[name] = column
    return [found.get(name, name) for name in names]


def _first_line(path: FilePath, what: str) -> tuple[int, str]:
    """The first line that is not blank, for the error of a file without records."""
    if not workbook.is_workbook(path):
        return fields.first_line(path, what)
    number, cells = next(workbook.read_rows(path, what), (1, [""]))
    return number, " | ".join(cells)


def named_records(
    path: FilePath,
    what: str,
    separator: str,
    id_names: tuple[str, ...],
    bare: Mapping[int, Sequence[str]],
    is_header: Callable[[list[str]], bool] = lambda names: False,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of every record, named by the header, or by width where a TSV has none.

    A first record with one of `id_names` is the header, or one of which `is_header` says so. `bare` are the columns'
    names by their number, for tab-separated files without a header.
    """
    names: Sequence[str] = ()
    empty = True
    for number, record in records(path, what, separator):
        if not names:
            header = [name.strip().lower() for name in record]
            if fields.find_header(record, id_names) or is_header(header):
                fields.check_header(path, number, header)
                names = header
                continue
            if separator == "," or len(record) not in bare or record[0].strip().lower() in _IDS:
                wanted = f"a header with an id ({', '.join(id_names)})"
                if separator == "\t":
                    widths = ", ".join(map(str, sorted(bare)[:-1]))
                    forms = "; ".join(", ".join(columns) for _, columns in sorted(bare.items()))
                    wanted += f", or {widths} or {max(bare)} columns ({forms})"
                raise FormatError(path, number, wanted, source.quote(separator.join(record)))
            names = bare[len(record)]
        fields.check_width(path, number, record, list(names))
        empty = False
        yield number, dict(zip(names, record, strict=True))
    if empty:
        number, line = _first_line(path, what)
        found = "only a header" if names else source.quote(line)
        raise FormatError(path, number, what, found)
