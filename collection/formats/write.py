"""Files out: qrels, pools, judgements, runs and tables. A failed export leaves the old file as it was."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from collection.core import layout
from collection.core.errors import InputError, as_path
from collection.core.frames import POOL, QRELS, RUN
from collection.core.questions import write_answer
from collection.core.records import DuplicateRecord, Judgement, Run, require_columns
from collection.formats import source, spreadsheet
from collection.formats.columns import rename_columns
from collection.formats.qrels import QrelsForm
from collection.formats.source import FilePath

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file can have, and so no workbook."""

_WHOLE = ("relevance", "pool_rank", "model_round")
"""Integer fields of a judgement; pandas holds them as floats if there are nulls."""


ANSWERS = "answers"
"""Column of the answers to further questions; in tables, the beginning of one for each question."""

_GRADES = {int, type(None)}
"""Types of the answers to a question that has a grade scale."""

_REQUIRED = tuple(name for name in Judgement._fields if name != ANSWERS)
"""Columns of a log of judgements that is written."""


@contextmanager
def replacing_bytes(path: FilePath) -> Iterator[IO[bytes]]:
    """A file that replaces `path` only when everything is written and on disk.

    It is written beside its target, since only within one file system is the replacement atomic. A replaced file keeps
    its permissions; a new one has those of the umask, and in a campaign's directory only its owner may read it. A
    campaign's own files are refused (:func:`collection.core.layout.require_output`).
    """
    layout.require_output(path)
    target = layout.resolved(path)  # a link stays a link: what it points to is replaced
    try:
        if (descriptor := _descriptor(path)) is not None:
            with os.fdopen(os.dup(descriptor), "wb") as raw:
                yield raw
        elif target.exists() and not target.is_file():
            # A pipe or a device cannot be replaced, only written to; a folder cannot even be opened.
            with target.open("wb") as raw:
                yield raw
        elif not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written; there is no folder {target.parent}")
        else:
            yield from _replace_file(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error


def _replace_file(target: Path) -> Iterator[IO[bytes]]:
    """A new file beside `target`, then in its place; removed if anything fails."""
    part = target.with_name(f".{target.name[:200]}.{uuid.uuid4().hex[:8]}.part")
    private = layout.home(target) is not None
    try:
        with layout.create_private(part) if private else part.open("xb") as raw:
            if target.exists() and not private:
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _descriptor(path: FilePath) -> int | None:
    """The open file that a path such as ``/dev/stdout`` names; opening the path would truncate it."""
    match = re.fullmatch(r"/(?:dev|proc/self)/(?:fd/(\d+)|stdout|stderr)", os.fspath(path))
    if match is None:
        return None
    return int(match[1]) if match[1] else 1 + os.fspath(path).endswith("stderr")


@contextmanager
def replacing(path: FilePath) -> Iterator[IO[str]]:
    """A text file that :func:`replacing_bytes` writes; compressed if the name ends in ``.gz``."""
    name = layout.resolved(path).name
    if name.endswith((".bz2", ".xz", ".lzma")):
        raise InputError(f"{path}: expected a name that ends in .gz for a compressed file, found {source.quote(name)}")
    with replacing_bytes(path) as raw:
        if name.endswith(".gz"):
            # No name and no time inside: the same content gives the same bytes.
            with (
                gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped,
                io.TextIOWrapper(zipped, "utf-8", newline="") as file,
            ):
                yield file
        else:
            text = io.TextIOWrapper(raw, "utf-8", newline="")
            yield text
            text.detach()  # flushes, and leaves the file open for replacing_bytes


def write_qrels(frame: pd.DataFrame, path: FilePath, *, form: QrelsForm = "judged") -> None:
    r"""Write qrels in the TREC form, ``query_id 0 doc_id relevance``, in the order of the frame.

    Parameters
    ----------
    frame
        :data:`collection.core.frames.QRELS`, and the column that `form` adds. The names qid, docno and label also work.
    path
        The file to write; its folder must exist.
    form
        A form of :func:`collection.formats.read_qrels`: "strata" writes the column ``stratum`` before the grade,
        "probabilities" writes ``probability`` after it, "subtopics" writes ``subtopic`` as second column.

    Raises
    ------
    InputError
        An id that could not be read back (empty, with white space, or a topic that starts with #), or a file that
        cannot be written.

    Examples
    --------
    >>> import pandas as pd
    >>> write_qrels(pd.DataFrame({"query_id": ["301"], "doc_id": ["d1"], "relevance": [2]}), "qrels.txt")
    >>> from pathlib import Path
    >>> Path("qrels.txt").read_text()
    '301 0 d1 2\n'
    """
    extra = {"subtopics": "subtopic", "strata": "stratum", "probabilities": "probability"}.get(form)
    frame = QRELS.check(rename_columns(frame, QRELS, "writing qrels"), "writing qrels", also=[extra] if extra else [])
    topics, documents = _format_ids(frame, "query_id"), _format_ids(frame, "doc_id")
    if any(t.startswith("#") for t in set(topics)):
        raise InputError("a query_id that starts with # would be read as a comment; rename the topic")
    grades = [format_number(grade) for grade in frame["relevance"].tolist()]
    columns = [topics, ["0"] * len(frame), documents, grades]
    if form == "subtopics":
        columns[1] = _format_ids(frame, "subtopic")
    elif form == "strata":
        columns.insert(3, _format_ids(frame, "stratum"))
    elif form == "probabilities":
        columns.append([format_number(p) for p in frame["probability"].tolist()])
    with replacing(path) as file:
        file.writelines(" ".join(row) + "\n" for row in zip(*columns, strict=True))


def write_pool(frame: pd.DataFrame, path: FilePath) -> None:
    """Write a pool as TSV with the header ``query_id doc_id strategy rank``, in the order of the frame.

    ``probability`` and ``stratum`` follow if any row has one. A null is empty in the file.
    """
    frame = POOL.check(frame, "writing a pool")
    strategies = ["" if s is None else str(s) for s in _to_python(frame["strategy"])]
    wrong = next((s for s in strategies if re.search(r"[\t\n\r]", s)), None)
    if wrong is not None:
        raise InputError(f"strategy: expected no tab or line end, found {source.quote(wrong)}")
    numbers = ["rank", *(c for c in ("probability", "stratum") if c in frame and frame[c].notna().any())]
    cells = [["" if n is None else format_number(n) for n in _to_python(frame[column])] for column in numbers]
    with replacing(path) as file:
        file.write("\t".join([*POOL.names[:3], *numbers]) + "\n")
        for row in zip(_format_ids(frame, "query_id"), _format_ids(frame, "doc_id"), strategies, *cells, strict=True):
            file.write("\t".join(row) + "\n")


def write_judgements(frame: pd.DataFrame, path: FilePath) -> None:
    """Write the judgement log (fields of :class:`.Judgement` and others), every column of the frame, in its order.

    Forms are those of :func:`write_log` and ``.parquet``: every column with its type, times as text, passages nested.
    Answers to further questions are an object in ``.jsonl``, in other forms a column ``answers.NAME`` for each question
    with any answer, tags separated by ``|``. Without any answer there is neither.
    """
    is_parquet = as_path(path).name.lower().endswith(".parquet")
    require_columns(frame, _REQUIRED, "writing judgements")
    if "answers" in frame and not any(frame["answers"]):
        frame = frame.drop(columns="answers")
    elif "answers" in frame and (is_parquet or source.suffix(path) != ".jsonl"):
        frame = spread_answers(frame)
    if is_parquet:
        _write_parquet(frame, path)
    else:
        write_log(frame, path, _REQUIRED, "judgements", more=(".parquet",))


def spread_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """A log with a column ``answers.NAME`` for each question that has any answer, in place of ``answers``.

    Columns are ordered by name; grades are numbers where all answers of a question are, others text; null: no answer.

    >>> import pandas as pd
    >>> log = pd.DataFrame({"doc_id": ["d1", "d2"], "answers": [{"tags": ("a", "b")}, {"trust": 2}]})
    >>> spread_answers(log).to_dict("list")
    {'doc_id': ['d1', 'd2'], 'answers.tags': ['a|b', None], 'answers.trust': [None, 2]}
    """
    columns: dict[str, pd.Series] = {}
    for name in sorted({name for answers in frame["answers"] for name in answers}):
        given = [answers.get(name) for answers in frame["answers"]]
        if not {*map(type, given)} <= _GRADES:
            given = [None if answer is None else write_answer(answer) for answer in given]
        columns[f"{ANSWERS}.{name}"] = pd.Series(given, index=frame.index, dtype=object)
    names = [str(name) for name in frame.columns]
    place = names.index(ANSWERS)
    spread = pd.concat([frame.drop(columns=ANSWERS), pd.DataFrame(columns, index=frame.index)], axis=1)
    return spread[[*names[:place], *columns, *names[place + 1 :]]]


def write_log(
    frame: pd.DataFrame,
    path: FilePath,
    wanted: Sequence[str],
    what: str,
    forms: Sequence[str] = (".jsonl", ".csv"),
    more: Sequence[str] = (),
) -> None:
    """Write a log with the columns `wanted` and perhaps others, in the order of the frame; `what` names it in errors.

    Of the `forms`, ``.jsonl`` has one object a line and keeps nulls; ``.csv`` has a header, empty nulls, lists as JSON,
    and an apostrophe before texts that a spreadsheet would compute (:mod:`collection.formats.spreadsheet`). `more` are
    forms that the caller writes, for the error.
    """
    suffix = require_log_ending(path, what, forms, more)
    require_columns(frame, wanted, f"writing {what}")
    names = [str(c) for c in frame.columns]
    rows = zip(*(_to_python(frame[c], whole=c in _WHOLE) for c in frame.columns), strict=True)
    with replacing(path) as file:
        if suffix == ".jsonl":
            for row in rows:
                file.write(json_line(dict(zip(names, row, strict=True))))
        else:
            writer = csv.writer(file, lineterminator="\n")
            # Before Python 3.13 a lone carriage return does not make the writer quote a cell, and no reader accepts it.
            quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(names)
            for row in rows:
                written = [spreadsheet.escape(_format_cell(c), name) for name, c in zip(names, row, strict=True)]
                returns = any(isinstance(cell, str) and "\r" in cell for cell in written)
                (quoting if returns else writer).writerow(written)


def require_log_ending(
    path: FilePath, what: str, forms: Sequence[str] = (".jsonl", ".csv"), more: Sequence[str] = ()
) -> str:
    """The ending of a log, without ``.gz``; InputError for a name that does not tell its form."""
    if (suffix := source.suffix(path)) not in forms:
        raise source.ending_error(path, what, (*forms, *more))
    return suffix


def _write_parquet(frame: pd.DataFrame, path: FilePath) -> None:
    """Write the log of judgements as Parquet; a column of nulls keeps its type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, passage = pa.int64(), [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())]
    types = dict.fromkeys(_WHOLE, number) | dict.fromkeys(("seconds", "away", "probability"), pa.float64())
    types |= {"flagged": pa.bool_(), "passages": pa.list_(pa.struct(passage))}
    others = {"b": pa.bool_(), "i": number, "f": pa.float64()}
    columns = {str(c): _to_python(frame[c], whole=c in _WHOLE) for c in frame.columns}
    grades = [name for name in columns if name.startswith(f"{ANSWERS}.") and {*map(type, columns[name])} <= _GRADES]
    types |= dict.fromkeys(grades, number)
    schema = pa.schema(
        [(str(c), types.get(str(c)) or others.get(frame[c].dtype.kind, pa.string())) for c in frame.columns]
    )
    columns["passages"] = [
        [p if isinstance(p, dict) else {"start": p[0], "end": p[1], "text": None} for p in marked or ()]
        for marked in columns["passages"]
    ]
    with replacing_bytes(path) as file:
        pq.write_table(pa.table(columns, schema=schema), file, compression="zstd")


def write_passages(judgements: pd.DataFrame, path: FilePath) -> int:
    """Write the passages that annotators marked, one a line of ``.jsonl``; returns how many.

    `judgements` has the columns below, with the ``passages`` of :meth:`.DocumentView.quoted` in place of the last
    three. A line has ``query_id``, ``doc_id``, ``annotator``, ``relevance`` (perhaps null), ``start``, ``end``
    (characters of the text as it is shown), ``text``.
    """
    if source.suffix(path) != ".jsonl":
        raise source.ending_error(path, "passages", (".jsonl",))
    names = ("query_id", "doc_id", "annotator", "relevance")
    columns = [_to_python(judgements[name], whole=name in _WHOLE) for name in names]
    count = 0
    with replacing(path) as file:
        for *fields, passages in zip(*columns, judgements["passages"], strict=True):
            for passage in passages:
                file.write(json_line(dict(zip(names, fields, strict=True)) | dict(passage)))
                count += 1
    return count


def write_run(run: Run, path: FilePath) -> None:
    """Write a run in the TREC form, each topic as the system listed it; the fourth column is the place in that list.

    Blanks in the run's name become ``_``, since the tag is one column.
    """
    frame = RUN.check(run.frame, "writing a run")
    tag = "_".join(run.name.split()) or "run"
    order = frame.assign(_=pd.factorize(frame["query_id"])[0]).sort_values(["_", "listed"], kind="stable")
    columns = (order[name].tolist() for name in ("query_id", "doc_id", "listed", "score"))
    with replacing(path) as file:
        for query_id, doc_id, place, score in zip(*columns, strict=True):
            file.write(f"{query_id} Q0 {doc_id} {place} {score!r} {tag}\n")


def write_lines(lines: Iterable[str], path: FilePath) -> None:
    """Write one text per line."""
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def write_report(report: Mapping[str, object], path: FilePath, ending: str) -> None:
    """Write a JSON report on how a file was made to the file's path plus `ending`; nothing beside a pipe."""
    if _descriptor(path) is None and Path(path).is_file():
        write_lines([json.dumps(report, indent=2, ensure_ascii=False)], f"{path}{ending}")


def takes_report(path: FilePath) -> bool:
    """Return whether a report can lie beside a file; there is none beside a pipe or a device."""
    return _descriptor(path) is None and (Path(path).is_file() or not Path(path).exists())


def write_duplicates(records: Sequence[DuplicateRecord], path: FilePath) -> None:
    """Write duplicate records as CSV or JSONL, one per row, with the names of their fields."""
    names = DuplicateRecord._fields
    write_log(pd.DataFrame(records, columns=list(names)), path, names, "duplicates")


def write_table(frame: pd.DataFrame, path: FilePath) -> None:
    """Write a frame as TSV with a header."""
    with replacing(path) as file:
        frame.to_csv(file, sep="\t", index=False, lineterminator="\n")


def json_line(record: object) -> str:
    """A line of JSONL."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def format_number(value: float) -> str:
    """A number without trailing zeros."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _format_cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | list) else value


def _to_python(column: pd.Series, whole: bool = False) -> list[Any]:
    """Python values, with None for every null."""
    values = [None if null else v for v, null in zip(column.tolist(), column.isna(), strict=True)]
    return [int(v) if whole and isinstance(v, float) and v.is_integer() else v for v in values]


def _format_ids(frame: pd.DataFrame, name: str) -> list[str]:
    """Ids as text that can be read back."""
    ids = ["" if i is None else str(i) for i in _to_python(frame[name])]
    require_ids(ids, f"a {name}")
    return ids


def require_ids(ids: Iterable[str], what: str = "an id") -> None:
    """Refuse ids that could not be read back from a blank-separated line."""
    wrong = next((i for i in ids if not source.fits_a_column(i)), None)
    if wrong is not None:
        raise InputError(f"expected {what} that is not empty and has no white space, found {source.quote(wrong)}")
