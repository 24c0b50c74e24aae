"""Records of CSV, TSV and XLSX, and of these and JSONL, with the line where each begins."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType

from collection.core.errors import FormatError
from collection.core.phrases import count
from collection.formats import columns, fields, objects, source, spreadsheet, workbook
from collection.formats.source import FilePath

LONGEST_FIELD = 64 << 20
"""Characters in one CSV field: enough for long documents, while an unclosed quotation mark must not fill the memory."""

_IDS = ("query_id", "qid", "doc_id", "docno")
"""Names of ids that show that the first line is a header, although it lacks the id that is read."""

_SEPARATORS = (",", ";", "\t", "|")
_EXCEL = re.compile(r'"?sep=(.)"?\s*', re.I)
"""A first line by which Excel names the separator."""
_SAMPLE = 20
"""Records that are compared with the first one of a table without a known header."""


def records(path: FilePath, what: str, separator: str, *, keep_ends: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every record that is not blank.

    A tab-separated line is one record and quotation marks are text, as MS MARCO and BEIR write it; with other
    separators, and in a file named .csv, fields may be quoted and then hold separators and line ends, CR and LF as LF
    unless `keep_ends`. Excel's line ``sep=;`` is skipped. A workbook has the rows of its first sheet, whatever the
    separator.
    """
    if workbook.is_workbook(path):
        yield from workbook.read_rows(path, what)
        return
    if separator == "\t" and source.suffix(path) != ".csv":
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
        is_excel = number == 1 and _EXCEL.fullmatch(separator.join(record)) is not None
        if any(f.strip() for f in record) and not is_excel:
            yield number, record


def field_rows(path: FilePath, what: str, separator: str) -> Iterator[tuple[int, dict[str, list[str]]]] | None:
    """Line and fields of records with a row for each field, as Embase exports them; None for any other table.

    The first cell of a row names the field, and the others have its texts.
    """
    first = [cells for _, cells in islice(records(path, what, separator), 3)]
    if len(first) < 3 or not all(len(cells) > 1 and columns.is_field(cells[0]) for cells in first):
        return None
    return None if columns.is_name(first[0][1]) else _join_rows(records(path, what, separator))


def _join_rows(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, dict[str, list[str]]]]:
    begin, record = 0, dict[str, list[str]]()
    for number, (head, *texts) in rows:
        name = head.strip()
        if name in record:
            yield begin, record
            record = {}
        begin = begin if record else number
        record[name] = texts
    yield begin, record


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
            yield line, fields.fit_width(path, line, cells, names, separator)
        if line == number:
            raise FormatError(path, number, what, "only a header")

    return number, names, below()


def aliased_records(
    path: FilePath,
    what: str,
    aliases: Mapping[str, Sequence[str]],
    defaults: Mapping[str, str] = MappingProxyType({}),
    *,
    with_nan: bool = False,
) -> Iterator[tuple[int, dict[str, object]]]:
    """Line number and fields of every record of JSONL or Parquet, or of CSV, TSV or XLSX with a header, by our names.

    `aliases` are the names of each required column in files, usual names first; other columns keep their names. A
    column of `defaults` may be missing. `with_nan` accepts NaN in JSONL, as null. Removes the apostrophe by which
    :mod:`collection.formats.spreadsheet` marks text.
    """
    typed = objects.records(path, what, with_nan=with_nan)
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
    """The separator of a table with a header: the one by which a first line has most fields; of a TSV the tab.

    In a line before the header, such as "About the data: ..., ...", separators do not count.
    """
    if workbook.is_workbook(path):
        return ","
    number, line = fields.first_line(path, what)
    fields.refuse_array(path, number, line)
    suffix = source.suffix(path)
    if suffix == ".tsv" or (suffix != ".csv" and "\t" in line):
        return "\t"
    if (named := _EXCEL.fullmatch(line)) is not None:
        return named[1]
    first = [line for _, line in islice(fields.data_lines(path, what), columns.BEFORE)]
    known = [[columns.count_known(_cells(line, separator)) for separator in _SEPARATORS] for line in first]
    line, best = max(zip(first, known, strict=True), key=lambda each: max(each[1]))
    counts = [(names, len(_cells(line, separator))) for names, separator in zip(best, _SEPARATORS, strict=True)]
    if not max(best):
        counts = [(0, len(_cells(first[0], separator))) for separator in _SEPARATORS]
    return _SEPARATORS[counts.index(max(counts))]


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


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
    own = {}
    keys: dict[str, str] = {}
    for each in names:
        keys.setdefault(fields.column_key(each), each)
    for column, known in aliases.items():
        # As written first: pyterrier has a number docid beside the id docno.
        name = next((alias for alias in known if alias in names), None)
        name = name or next((keys[key] for key in map(fields.column_key, known) if key in keys), None)
        if name is None and column in defaults:
            continue
        if name is None:
            wanted = f"{what} with the columns " + ", ".join(" or ".join([c, *a[1:2]]) for c, a in aliases.items())
            found_names = f"no {column} in {source.quote(', '.join(names))}"
            raise FormatError(path, number, wanted, found_names, f"rename the column that has the {column}")
        own[name] = column
    return [own.get(name, name) for name in names]


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

    A first record with one of `id_names` is the header, or one of which `is_header` says so, whose names keep their
    case; lines of text before it are skipped. `bare` are the columns' names by their number, for tab-separated files
    without a header.
    """
    all_records = records(path, what, separator)
    first = list(islice(all_records, _SAMPLE))
    names: Sequence[str] = ()
    begin = 0
    for place, (number, record) in enumerate(first[: columns.BEFORE]):
        header = [name.strip().lower() for name in record]
        has_id = fields.find_header(record, id_names) is not None
        if has_id or is_header(header):
            fields.check_header(path, number, header)
            names, begin = header if has_id else [name.strip() for name in record], place + 1
            break
        if separator == "\t" and not workbook.is_workbook(path):
            break
    if first and not names:
        names = _bare_names(path, first, separator, id_names, bare)
    if begin > 1:
        source.warn(path, f"skipped {count(begin - 1, 'line')} before the header")
    empty = True
    for number, record in chain(first[begin:], all_records):
        empty = False
        yield number, dict(zip(names, fields.fit_width(path, number, record, names, separator), strict=True))
    if empty:
        number, line = _first_line(path, what)
        found = "only a header" if names else source.quote(line)
        raise FormatError(path, number, what, found)


def _bare_names(
    path: FilePath,
    first: list[tuple[int, list[str]]],
    separator: str,
    id_names: tuple[str, ...],
    bare: Mapping[int, Sequence[str]],
) -> Sequence[str]:
    """The names of columns without a header, by their number; an error if the first record is an unknown header."""
    number, record = first[0]
    is_tab = separator == "\t" and not workbook.is_workbook(path)
    if is_tab and len(record) in bare and not _is_unknown_header([cells for _, cells in first]):
        return bare[len(record)]
    wanted = f"a header with an id ({', '.join(id_names)})"
    if is_tab:
        widths = ", ".join(map(str, sorted(bare)[:-1]))
        forms = "; ".join(", ".join(each) for _, each in sorted(bare.items()))
        wanted += f", or {widths} or {max(bare)} columns ({forms}) without a header"
    if len(record) == 1:
        raise FormatError(path, number, wanted, source.quote(record[0]))
    found = f"the columns {source.quote(', '.join(cell.strip() for cell in record))}"
    hint = "rename the columns in the first line"
    if tuple(id_names) == fields.DOC_ID:
        hint += "; references need no id, but title and abstract, authors, doi or pmid"
    raise FormatError(path, number, wanted, found, hint)


def _is_unknown_header(sample: list[list[str]]) -> bool:
    """Tell whether the first record of a table names columns: known ones, or words above numbers or sentences."""
    first, others = sample[0], sample[1:]
    if first[0].strip().lower() in _IDS or columns.count_known(first) > 1:
        return True
    if not others or any(len(cell.split()) > 3 or re.search(r"\d", cell) for cell in first):
        return False
    columns_below = zip(*(cells for cells in others if len(cells) == len(first)), strict=True)
    return any(
        all(cell.strip().isdecimal() for cell in below) or all(len(cell.split()) > 4 for cell in below)
        for below in columns_below
    )
