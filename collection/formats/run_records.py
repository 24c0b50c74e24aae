"""Runs that are no TREC files: CSV, TSV and XLSX with a header, JSONL, Parquet, and JSON as other tools write it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from collection.core.errors import FormatError
from collection.core.phrases import count
from collection.core.records import Run
from collection.formats import fields, objects, source
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import number_hint, parse_score

WANTED = "a run"

ALIASES = {
    **fields.PAIR_ALIASES,
    "score": objects.SCORES,
}
"""Names of the columns of runs in files."""

NAMES = ("run", "system", "tag", "run_name", "name", "model")
"""Columns with the name of the run."""

BINARY = (".xlsx", ".parquet")

LARGEST = 512 << 20
"""Bytes of a file that is one JSON object."""

TOP_GRADE = 20
"""Highest score that can be a grade."""

_PEEK = 64 << 10
_NESTED = re.compile(r'\{\s*((?!"(?:query|topic)"\s*:\s*\{)"(?:[^"\\]|\\.)*"\s*:\s*[\[{]|$)')
"""Begin of an object of rankings or columns; the first value of a record is none of these, but may be the topic."""
_ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".xlsx", ".run", ".txt")

RunLines = Iterator[tuple[int | None, str, str, object, object]]
"""Line, topic, document, score and stated rank of each row."""


def is_typed(path: FilePath) -> bool:
    """Tell whether a file is a run in one of these forms, by its ending and the beginning of its first line."""
    if source.is_dataset(path):
        return False
    if source.suffix(path) in BINARY:
        return True
    line = _first_line(path)
    return line.startswith(("{", "[")) or is_header(line)


def read(path: FilePath) -> tuple[Run, list[int] | None]:
    """Read a run and the ranks that it states, None if it states none; rows in the order of the file.

    Raises
    ------
    FormatError
        A missing column, a score that is not a number, a repeated document in a topic, or several runs.
    """
    import pandas as pd

    run_names: dict[str, None] = {}
    seen: dict[tuple[str, str], int | None] = {}
    scores, ranks = [], []
    for number, query_id, doc_id, score, rank in _rows(path, run_names):
        value = None if isinstance(score, bool) else parse_score(str(score).strip())
        if value is None:
            found_score = "none" if score is None else quote(str(score))
            raise FormatError(path, number, "a number as score", found_score, number_hint(str(score).strip()))
        if (query_id, doc_id) in seen:
            _require_one_run(path, run_names)
            first = seen[query_id, doc_id]
            where = f" (first in line {first:,})" if first is not None else ""
            again = f"topic {quote(query_id)}, document {quote(doc_id)} again{where}"
            raise FormatError(path, number, "each document of a topic once", again, "remove one of them")
        seen[query_id, doc_id] = number
        scores.append(value)
        ranks.append(rank)
    if not seen:
        raise FormatError(path, None, WANTED, "no documents")
    if _names_qrels(_first_line(path)) and all(score.is_integer() and abs(score) <= TOP_GRADE for score in scores):
        raise FormatError(path, 1, WANTED, "the header of qrels above whole numbers", "pass it as qrels")
    _require_one_run(path, run_names)
    frame = pd.DataFrame(list(seen), columns=["query_id", "doc_id"], dtype="str").assign(score=scores)
    frame["query_id"] = frame["query_id"].astype("category")
    stated = [parse_score(str(rank)) for rank in ranks]
    whole = [int(rank) for rank in stated if rank is not None and rank.is_integer() and abs(rank) < 2**31]
    return Run(next(iter(run_names), stem(path)), frame), whole if len(whole) == len(ranks) else None


def _require_one_run(path: FilePath, names: Collection[str]) -> None:
    """Refuse a table of several runs, in which documents of a topic repeat."""
    if len(names) > 1:
        shown = ", ".join(map(quote, islice(names, 3)))
        hint = "write each to its own file"
        raise FormatError(path, None, "one run", f"several runs ({shown})", hint)


def name(path: FilePath) -> str:
    """The name of a run: what its first row says, or the file's name."""
    if source.suffix(path) == ".json" or is_one_value(path):
        return stem(path)
    from collection.formats import delimited  # imports pandas, which evaluation does not need

    try:
        _, record = next(delimited.aliased_records(path, WANTED, ALIASES), (0, {}))
    except FormatError:  # reading the run says why
        return stem(path)
    return _name(record) or stem(path)


def stem(path: FilePath) -> str:
    """The file's name without the ending of one of these forms."""
    text = source.stem(path)
    return next((text.removesuffix(ending) for ending in _ENDINGS if text.endswith(ending) and text != ending), text)


def _first_line(path: FilePath) -> str:
    """The beginning of the first line that is not blank."""
    if source.suffix(path) in BINARY:
        return ""
    with source.open_bytes(path, WANTED) as file:
        try:
            text = file.read(_PEEK).removeprefix(source.BOM).decode("utf-8", "replace")
        except source.BROKEN:
            return ""
    return text.lstrip().partition("\n")[0]


def is_header(line: str) -> bool:
    """Tell whether a line names the columns of a topic and of a document."""
    separator = next((each for each in "\t,;|" if each in line), None)
    return separator is not None and names_pair(line.split(separator))


def names_pair(names: Iterable[str]) -> bool:
    """Tell whether columns name a topic and a document."""
    keys = set(map(fields.column_key, names))
    return all(
        not keys.isdisjoint(map(fields.column_key, fields.PAIR_ALIASES[each])) for each in ("query_id", "doc_id")
    )


def _names_qrels(line: str) -> bool:
    """Tell whether a line is the header of BEIR's qrels, which a run may have too."""
    return [cell.strip().replace("_", "-") for cell in line.split("\t")] == ["query-id", "corpus-id", "score"]


def _name(record: Mapping[str, object]) -> str:
    return next((str(record[name]).strip() for name in NAMES if record.get(name) not in (None, "")), "")


def _rows(path: FilePath, names: dict[str, None]) -> RunLines:
    """The rows of any form; `names` gets the names of the runs."""
    from collection.formats import delimited

    if is_one_value(path):
        yield from read_object(path, WANTED, ALIASES)
        return
    for number, record in delimited.aliased_records(path, WANTED, ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[column]) for column in ("query_id", "doc_id"))
        if named := _name(record):
            names[named] = None
        yield number, query_id, doc_id, record["score"], record.get("rank")


def is_one_value(path: FilePath) -> bool:
    """Tell whether a file is one JSON array or object, not lines."""
    line = _first_line(path)
    return line.startswith("[") or (line.startswith("{") and not _is_record(path, line))


def _is_record(path: FilePath, line: str) -> bool:
    """Tell whether a line, or the beginning of a long one, is a record of JSONL with a topic and a document."""
    try:
        record = json.loads(line)
    except ValueError:
        is_lines = source.suffix(path) in (".jsonl", ".ndjson") or len(line) > _PEEK // 8
        return is_lines and not _NESTED.match(line)
    row = next(objects.unnest(record), None) if record else {}
    if row is None:  # a topic without documents
        return True
    return names_pair(name for name, value in row.items() if not isinstance(value, dict | list))


def _load(path: FilePath, what: str) -> Any:
    """The value of a JSON file; a name may occur once in an object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise ValueError(f"{quote(twice)} twice in an object")
        return members

    content = source.whole_text(path, what, "of JSON", f"write {what} as TREC lines", LARGEST, keep_ends=True)
    hint = f"{what} as JSON: {{query_id: {{doc_id: number}}}}"
    try:
        return json.loads(content, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno:,}"
        raise FormatError(path, error.lineno, f"{what} as JSON", found, hint) from None
    except (ValueError, RecursionError) as error:
        found = str(error)[:120] if isinstance(error, ValueError) else "too many levels"
        raise FormatError(path, None, f"{what} as JSON", found, hint) from None


def read_object(path: FilePath, what: str, aliases: Mapping[str, Sequence[str]]) -> RunLines:
    """Rows of ``{query_id: {doc_id: number}}``, of an array of records, or of columns as pandas writes them.

    The last of the `aliases` are the names of the column with the number; `what` names the file's kind.
    """
    from collection.formats import delimited

    value, last = _load(path, what), list(aliases)[-1]
    if what == WANTED and isinstance(value, dict) and all(map(objects.is_ranking, value.values())):
        value = [{"query_id": query_id, **row} for query_id, ranking in value.items() for row in ranking]
    if isinstance(value, list):
        for number, record in enumerate(value, start=1):
            if not isinstance(record, dict):
                raise FormatError(path, None, f"records with qid, docno and {last}", quote(str(record)))
            for row in objects.unnest(record) if what == WANTED else (record,):
                own = delimited.rename(path, number, what, row, aliases, {})
                topic, document = (fields.check_id(path, number, own[column]) for column in ("query_id", "doc_id"))
                yield number, topic, document, own[last], own.get("rank")
        return
    columns = {column: next((a for a in known if a in value), None) for column, known in aliases.items()}
    if None not in columns.values():  # pandas' to_json: column -> row -> value
        frame = [value[name] for name in (*columns.values(), *(["rank"] if "rank" in value else []))]
        cells = [list(column.values() if isinstance(column, dict) else column) for column in frame]
        for query_id, doc_id, score, *rank in zip(*cells, strict=True):
            topic, document = (fields.check_id(path, None, each) for each in (query_id, doc_id))
            yield None, topic, document, score, rank[0] if rank else None
        return
    for query_id, documents in _rankings(path, value, what, aliases[last]).items():
        for doc_id, score in documents.items():
            yield None, fields.check_id(path, None, query_id), fields.check_id(path, None, doc_id), score, None


def read_columns(path: FilePath, what: str, aliases: Mapping[str, Sequence[str]]) -> list[dict[str, object]] | None:
    """The rows of columns as pandas writes them, with all of the `aliases`; None for JSON in another form."""
    value = _load(path, what)
    if not isinstance(value, dict) or not all(any(name in value for name in known) for known in aliases.values()):
        return None
    columns = {name: list(cells.values() if isinstance(cells, dict) else cells) for name, cells in value.items()
               if isinstance(cells, dict | list)}  # fmt: skip
    if len({len(cells) for cells in columns.values()}) != 1 or len(columns) < len(value):
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _rankings(path: FilePath, value: Any, what: str, numbers: Sequence[str]) -> Mapping[str, Mapping[str, object]]:
    """``{query_id: {doc_id: score}}``, also below MTEB's subset and split, and with objects that hold the score."""
    shape = f"{{query_id: {{doc_id: {'score' if what == WANTED else 'relevance'}}}}}"
    if not isinstance(value, dict):
        raise FormatError(path, None, shape, quote(str(value)))
    parts = {name: each for name, each in value.items() if name != "mteb_model_meta"}
    if not all(isinstance(each, dict) for each in parts.values()):
        name, each = next((name, each) for name, each in parts.items() if not isinstance(each, dict))
        hint = "write an array of records, or one record per line (JSONL)"
        raise FormatError(path, None, shape, f"{quote(name)}: {quote(str(each))}", hint)
    inner = [each for documents in parts.values() for each in documents.values()]
    if inner and all(isinstance(each, dict) and _number_in(each, numbers) is not None for each in inner):
        return {
            query_id: {doc_id: _number_in(each, numbers) for doc_id, each in documents.items()}
            for query_id, documents in parts.items()
        }
    if not any(isinstance(inner, dict) for each in parts.values() for inner in each.values()):
        return parts
    if len(parts) > 1:
        found = f"{count(len(parts), 'part')} ({', '.join(map(quote, list(parts)[:3]))})"
        raise FormatError(
            path, None, what.replace("a ", "one ", 1), found, "write each subset or split to its own file"
        )
    return _rankings(path, next(iter(parts.values())), what, numbers)


def _number_in(record: Mapping[str, object], names: Sequence[str]) -> object:
    """The number of a record that says more, such as why; None without one."""
    name = next((each for each in names if each in record), None)
    value = record[name] if name is not None and any(isinstance(each, str) for each in record.values()) else None
    return None if isinstance(value, dict) else value
