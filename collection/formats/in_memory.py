"""Qrels, runs and labels as other tools hold them in memory: frames, dictionaries, tuples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import isfinite
from os import PathLike
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from collection.core import arrow
from collection.core.errors import InputError
from collection.core.frames import LABELS, QRELS, SCORES, index_to_columns
from collection.core.phrases import count, literal
from collection.core.ranking import without_query_documents
from collection.core.records import Run
from collection.formats.columns import RUN_NAMES, rename_columns
from collection.formats.fields import LABEL_ALIASES
from collection.formats.labels import read_labels
from collection.formats.qrels import read_index, read_qrels
from collection.formats.run import read_run, read_runs
from collection.formats.run_alignment import RunFiles
from collection.formats.source import FilePath, warn
from collection.formats.tables.duplicate_pairs import has_duplicate_keys, hash_pairs
from collection.measures import QrelsIndex

PairValues: TypeAlias = pd.DataFrame | Mapping[str, Mapping[str, float]] | Iterable[tuple[object, ...]]
"""A frame, ``{query_id: {doc_id: number}}``, or tuples of query_id, doc_id and number."""
QrelsLike: TypeAlias = FilePath | PairValues
LabelsLike: TypeAlias = FilePath | pd.DataFrame
RunsLike: TypeAlias = (
    FilePath | Run | PairValues | Mapping[str, FilePath | Run | PairValues] | Iterable[FilePath | Run | pd.DataFrame]
)
"""One run, a dictionary from names to runs, or several runs or files."""


def as_qrels(given: QrelsLike) -> pd.DataFrame:
    """Qrels (:data:`collection.core.frames.QRELS`) under our column names.

    `given` is a file; a frame with ``query_id`` (or ``qid``, ``q_id``, ``query``), ``doc_id`` (``docno``, ``docid``)
    and ``relevance`` (``label``, ``rel``, ``grade``), or with the columns of BEIR (``query-id``, ``corpus-id``,
    ``score``); ``{query_id: {doc_id: relevance}}``; or tuples of query_id,
    doc_id, relevance and perhaps iteration. An ``iteration`` that distinguishes rows of one pair is a subtopic.
    Identical rows count once, with a FormatWarning; a pair (of a subtopic) with two grades is an InputError.

    >>> as_qrels({"301": {"d1": 2, "d7": 0}}).values.tolist()
    [['301', 'd1', 2], ['301', 'd7', 0]]
    """
    if isinstance(given, str | PathLike):
        return read_qrels(given)
    if isinstance(given, Run):
        raise InputError(f"qrels: expected qrels, found {given!r}; pass the qrels first, then the runs")
    if isinstance(getattr(given, "qrels", None), pd.DataFrame):
        raise InputError(f"qrels: expected a frame, found {type(given).__name__}; give its attribute qrels")
    if isinstance(given, pd.DataFrame) and {"corpus-id", "score"} <= set(given) and "relevance" not in given:
        given = given.rename(columns={"score": "relevance"})  # as on the Hugging Face Hub; elsewhere a run has scores
    qrels = rename_columns(_to_frame(given, "qrels", (*QRELS.names, "iteration")), QRELS)
    if not may_repeat_pairs(qrels):
        return qrels
    keys = ["query_id", "doc_id"]
    twice = qrels.duplicated([*keys, "subtopic"] if "subtopic" in qrels else keys)
    if twice.any() and "iteration" in qrels and "subtopic" not in qrels:
        qrels = QRELS.check(qrels.rename(columns={"iteration": "subtopic"}))
        twice = qrels.duplicated([*keys, "subtopic"])
    if twice.any():
        copies = qrels.duplicated([name for name in (*keys, "subtopic", "iteration", "relevance") if name in qrels])
        several = any(name in qrels for name in LABEL_ALIASES["annotator"])
        if (twice == copies).all() and not several:
            warn("qrels", f"dropped {count(int(copies.sum()), 'identical repetition')} of rows")
            return qrels[~copies.to_numpy()].reset_index(drop=True)
        query_id, doc_id = qrels.loc[twice.to_numpy(), keys].iloc[0]
        hint = "combine the grades of several annotators with adjudicate(...).qrels" if several else "remove one row"
        raise InputError(f"qrels: found document {doc_id!r} of topic {query_id!r} twice; {hint}")
    return qrels


def may_repeat_pairs(frame: pd.DataFrame) -> bool:
    """Tell whether pairs have equal hashes, which takes a quarter of the time of comparing the pairs."""
    topics, documents = (
        arrow.from_column(frame[name].astype("str")).cast(pa.large_string()) for name in ("query_id", "doc_id")
    )
    return has_duplicate_keys(hash_pairs(topics.dictionary_encode(), documents))


def as_runs(given: RunsLike) -> Iterator[Run]:
    """Runs with frames of :data:`collection.core.frames.SCORES`, one at a time.

    `given` is a file or several; a :class:`.Run` or several; a frame with ``query_id`` (or ``qid``,
    ``q_id``, ``query``), ``doc_id`` (``docno``, ``docid``), ``score``, and ``run`` (``system``, ``tag``) where it holds
    several, or several such frames; ``{query_id: {doc_id: score}}``; tuples of query_id, doc_id and score; or a
    dictionary from names to any of these. A run without a name is called "run".

    >>> [run.name for run in as_runs({"bm25": {"301": {"d1": 2.5}}, "dense": {"301": {"d7": 0.5}}})]
    ['bm25', 'dense']
    """
    if isinstance(given, Run):
        yield _to_run(given.name, given)
    elif isinstance(given, str | PathLike):
        yield read_run(given)
    elif isinstance(given, pd.DataFrame):
        yield from _split_runs(index_to_columns(given))
    elif isinstance(given, Mapping):
        first = next((value for value in given.values() if not isinstance(value, Mapping) or value), {})
        is_one_run = isinstance(first, Mapping) and not isinstance(next(iter(first.values()), 0), Mapping)
        yield from (
            [_to_run("run", given)] if is_one_run else (_to_run(str(name), value) for name, value in given.items())
        )
    else:
        several = iter(given) if isinstance(given, Iterable) else iter([given])
        head = next(several, None)
        rest: Iterable[object] = chain([head], several)
        if isinstance(head, str | PathLike):
            listed = list(rest)
            paths = [path for path in listed if isinstance(path, str | PathLike)]
            yield from read_runs(paths) if len(paths) == len(listed) else map(_to_listed_run, listed)
        elif isinstance(head, tuple) and not isinstance(head, Run):
            yield _to_run("run", rest)
        else:
            for each in rest:
                if isinstance(each, pd.DataFrame) and any(name in each for name in RUN_NAMES):
                    yield from _split_runs(each)
                else:
                    yield _to_listed_run(each)


def _split_runs(frame: pd.DataFrame) -> Iterator[Run]:
    """The runs of a frame, by its column of their names."""
    name = next((column for column in RUN_NAMES if column in frame), None)
    if name is not None and frame[name].isna().any():
        raise InputError(f"runs: row {int(frame[name].isna().to_numpy().argmax()) + 1:,} has no {name}")
    parts = [("run", frame)] if name is None else frame.groupby(name, sort=False, observed=True)
    for run, rows in parts:
        yield _to_run(str(run), rows)


def as_evaluated(
    qrels: QrelsLike, runs: RunsLike, *, exclude_query_document: bool = False
) -> tuple[RunFiles | Iterator[Run], QrelsIndex | pd.DataFrame]:
    """Runs and qrels for :func:`collection.comparison.evaluate`; files are not made into frames."""
    paths = [runs] if isinstance(runs, str | PathLike) else runs
    listed = list(paths.values()) if isinstance(paths, Mapping) else paths
    names = list(map(str, paths)) if isinstance(paths, Mapping) else None
    if isinstance(listed, list | tuple) and listed and all(isinstance(path, str | PathLike) for path in listed):
        evaluated: RunFiles | Iterator[Run] = RunFiles(listed, names, exclude_query_document=exclude_query_document)
    else:
        evaluated = map(without_query_documents, as_runs(runs)) if exclude_query_document else as_runs(runs)
    return evaluated, read_index(qrels) if isinstance(qrels, str | PathLike) else as_qrels(qrels)


def as_labels(given: LabelsLike) -> pd.DataFrame:
    """Labels (:data:`collection.core.frames.LABELS`) from a file or a frame; its further columns stay."""
    return read_labels(given) if isinstance(given, str | PathLike) else rename_columns(given, LABELS)


def _to_listed_run(given: object) -> Run:
    """A member of a list that has a name of its own."""
    if isinstance(given, Run):
        return _to_run(given.name, given)
    if isinstance(given, str | PathLike):
        return read_run(given)
    hint = "; name each run: {name: run}, or in a column run" if isinstance(given, pd.DataFrame | Mapping) else ""
    found = "nothing; an iterator may have been read before" if given is None else type(given).__name__
    raise InputError(
        "runs: expected files, Runs, a frame, a dictionary from names to runs, {query_id: {doc_id: score}} or "
        f"tuples (query_id, doc_id, score), found {found}{hint}"
    )


def _to_run(name: str, given: object) -> Run:
    given = given.frame if isinstance(given, Run) else given
    if isinstance(given, str | PathLike):
        return read_run(given)._replace(name=name)
    return Run(name, rename_columns(_to_frame(given, f"run {name}", SCORES.names), SCORES, f"run {name}"))


def _to_frame(given: object, what: str, columns: tuple[str, ...]) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, Mapping):
        return _flatten(given, what, columns[2])
    rows: list[tuple[object, ...]] = []
    for row in given if isinstance(given, Iterable) else [given]:
        if not isinstance(row, tuple) or not 3 <= len(row) <= len(columns):
            expected = f"a file, a frame, {{query_id: {{doc_id: {columns[2]}}}}} or tuples ({', '.join(columns[:3])})"
            raise InputError(f"{what}: expected {expected}, found {literal(row):.80}")
        rows.append(row)
    if not rows and isinstance(given, Iterator):
        raise InputError(f"{what}: expected rows, found an iterator without any; it may have been read before")
    width = len(rows[0]) if rows else 3
    return pd.DataFrame(rows, columns=getattr(rows[0] if rows else None, "_fields", columns)[:width])


def _flatten(given: Mapping[object, object], what: str, value: str) -> pd.DataFrame:
    topics: list[Mapping[object, object]] = []
    for query_id, documents in given.items():
        if not isinstance(documents, Mapping):
            found = f"{type(documents).__name__} for {literal(query_id)}"
            raise InputError(f"{what}: expected {{query_id: {{doc_id: {value}}}}}, found {found}")
        topics.append(documents)
    query_ids = list(map(str, given))
    if len(set(query_ids)) < len(query_ids):
        twice = next(query_id for query_id in query_ids if query_ids.count(query_id) > 1)
        raise InputError(f"{what}: found topic {twice!r} twice, as a text and as a number; use one of them")
    codes = np.repeat(np.arange(len(topics)), np.array([len(documents) for documents in topics], dtype=np.int64))
    return pd.DataFrame(
        {
            "query_id": pd.Categorical.from_codes(codes, categories=pd.Index(query_ids, dtype="str")),
            "doc_id": pd.Series(list(map(str, chain.from_iterable(topics))), dtype="str"),
            value: list(chain.from_iterable(documents.values() for documents in topics)),
        }
    )


def as_scale(given: str | Iterable[float] | None, what: str = "grades") -> list[float] | None:
    """All grades of a scale, also from a text: ``0-3`` or ``0,1,2,3``.

    >>> as_scale("0-3")
    [0.0, 1.0, 2.0, 3.0]
    """
    if given is None:
        return None
    ends = re.fullmatch(r"(\d{1,2})-(\d{1,2})", given.strip()) if isinstance(given, str) else None
    try:
        listed = (
            range(int(ends[1]), int(ends[2]) + 1) if ends else given.split(",") if isinstance(given, str) else given
        )
        scale = [float(grade) for grade in listed]
    except (TypeError, ValueError):
        scale = []
    if not all(map(isfinite, scale)) or len(scale) < (2 if isinstance(given, str) else 1):
        raise InputError(f"{what}: expected two or more grades, such as 0-3 or 0,1,2,3, found {given!r}")
    return scale
