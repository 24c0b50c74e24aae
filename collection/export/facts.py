"""What a card says of a collection, as plain data: counted from frames, each part by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pandas as pd


def plain(value: Any) -> Any:
    """Plain data for JSON: every kind of null is None, numpy's numbers are Python's, tuples are lists.

    Frames become lists of rows; named tuples and dataclasses become mappings, times text.

    Examples
    --------
    >>> plain({"a": np.int64(3), "b": (float("nan"), pd.NA), 4: "x"})
    {'a': 3, 'b': [None, None], '4': 'x'}
    """
    if isinstance(value, pd.DataFrame):
        return rows(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and not np.isfinite(value)):
        return None
    return str(value) if isinstance(value, pd.Timestamp) else value


def rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of a frame as plain data."""
    return [plain(row) for row in frame.astype(object).to_dict("records")]


def spread(counts: Iterable[int]) -> dict[str, float] | None:
    """``min``, ``median``, ``mean``, ``max``; None of nothing.

    Examples
    --------
    >>> spread([1, 2, 6])
    {'min': 1, 'median': 2.0, 'mean': 3.0, 'max': 6}
    """
    numbers = np.asarray(list(counts), dtype=np.int64)
    if not len(numbers):
        return None
    return {
        "min": int(numbers.min()),
        "median": float(np.median(numbers)),
        "mean": float(numbers.mean()),
        "max": int(numbers.max()),
    }


def of_qrels(qrels: pd.DataFrame, topics: Iterable[str], grades: Iterable[int], level: int) -> dict[str, object]:
    """How many grades there are, of which, in which topics.

    Parameters
    ----------
    qrels
        :data:`collection.frames.QRELS`, none below 0.
    topics
        Of the collection, judged or not.
    grades
        Of the scale.
    level
        The grade from which on a document is relevant.

    Returns
    -------
    dict
        ``pairs``, ``documents``, ``topics`` (with a grade), ``without_relevant`` (their ids), ``relevant``,
        ``per_grade``, and ``judged_per_topic`` and ``relevant_per_topic`` as :func:`spread` over topics with a grade.
    """
    relevant = qrels["relevance"] >= level
    judged = qrels["query_id"].value_counts().to_dict()
    found = qrels.loc[relevant, "query_id"].value_counts().to_dict()
    graded = [topic for topic in topics if topic in judged]
    counts = qrels["relevance"].value_counts().to_dict()
    return {
        "pairs": len(qrels),
        "documents": int(qrels["doc_id"].nunique()),
        "topics": len(graded),
        "relevant_from": level,
        "relevant": int(relevant.sum()),
        "without_relevant": [topic for topic in graded if topic not in found],
        "per_grade": {str(grade): int(counts.get(grade, 0)) for grade in grades},
        "judged_per_topic": spread(judged[topic] for topic in graded),
        "relevant_per_topic": spread(found.get(topic, 0) for topic in graded),
    }


def of_judging(log: pd.DataFrame, current: pd.DataFrame) -> dict[str, object]:
    """Who judged how much, and how long it took.

    Parameters
    ----------
    log, current
        The whole log of judgements, and the words that stand: the fields of
        :class:`collection.records.Judgement`. The annotators are called as they are in these.

    Returns
    -------
    dict
        ``annotators`` (of each: ``annotator``, ``judgements`` that stand, ``adjudications``, ``imported``,
        ``median_seconds``; in the order in which they begin), ``judgements``, ``cannot_judge``, ``adjudications``
        (that stand), ``logged`` (with those revised or taken back), ``hours`` (during which a document was on screen
        and somebody at work), ``timed`` (judgements of which that is known), ``first_at``, ``last_at`` (UTC, without
        what was imported; null where nothing else is there).
    """
    people = []
    adjudicated = current["counts_as"] == "adjudication"
    for name in log.sort_values("judged_at", kind="stable")["annotator"].unique():
        own = current["annotator"] == name
        theirs = current[own & ~adjudicated]
        people.append(
            {
                "annotator": str(name),
                "judgements": len(theirs),
                "adjudications": int((own & adjudicated).sum()),
                "imported": bool(len(theirs)) and bool((theirs["source"] == "imported").all()),
                "median_seconds": theirs["seconds"].astype("float64").median() if len(theirs) else None,
            }
        )
    here = log[log["source"] != "imported"]
    seconds = log["seconds"].astype("float64")
    return {
        "annotators": [plain(person) for person in people],
        "judgements": int((~adjudicated).sum()),
        "cannot_judge": int((~adjudicated & (current["kind"] == "cannot judge")).sum()),
        "adjudications": int(adjudicated.sum()),
        "logged": len(log),
        "hours": float(seconds.sum()) / 3600,
        "timed": int(seconds.notna().sum()),
        "first_at": str(here["judged_at"].min()) if len(here) else None,
        "last_at": str(here["judged_at"].max()) if len(here) else None,
    }


def of_pool(
    pool: pd.DataFrame, rounds: pd.DataFrame, sampled_out: pd.DataFrame, qrels: pd.DataFrame, without_text: int
) -> dict[str, object]:
    """How the pairs were chosen, and how many of them have a grade.

    Parameters
    ----------
    pool, rounds, sampled_out
        As the store gives them.
    qrels
        ``query_id``, ``doc_id``.
    without_text
        Pairs of the pool that nobody has judged, and nobody can, as their text is missing.

    Returns
    -------
    dict
        ``pairs``, ``judged``, ``without_text``, ``outside`` (pairs with a grade that are not in the pool),
        ``sampled_out``, ``per_topic`` (:func:`spread` of pairs over topics), ``rounds`` (``strategy``,
        ``parameters``, ``runs``, ``pairs``, ``made_at``).
    """
    pair = ["query_id", "doc_id"]
    judged = len(pool[pair].merge(qrels[pair], on=pair))
    return {
        "pairs": len(pool),
        "judged": judged,
        "without_text": without_text,
        "outside": len(qrels) - judged,
        "sampled_out": len(sampled_out[pair].drop_duplicates()),
        "per_topic": spread(pool["query_id"].value_counts()),
        "rounds": [
            plain({**row, "parameters": json.loads(row["parameters"]), "runs": json.loads(row["runs"])})
            for row in rounds[["strategy", "parameters", "runs", "pairs", "made_at"]].to_dict("records")
        ],
    }


def of_recall(table: pd.DataFrame) -> dict[str, object]:
    """How much of what is relevant was found.

    Parameters
    ----------
    table
        ``query_id``, ``of``, ``judged``, ``found``, ``without_text``, ``relevant``, ``low``, ``high``, ``recall``,
        ``recall_low``, ``recall_high``, ``advice``, in the order of topics; those in which nothing is judged are left
        out.

    Returns
    -------
    dict
        ``topics`` (how many), ``found``, ``without_text``, ``low``, ``high`` (sums over them), ``per_topic`` (the
        rows).
    """
    names = ["query_id", "of", "judged", "found", "without_text", "relevant", "low", "high", "recall", "recall_low"]
    begun = table[table["judged"] > 0]
    return {
        "topics": len(begun),
        "found": int(begun["found"].sum()),
        "without_text": int(begun["without_text"].sum()),
        "low": int(begun["low"].sum()),
        "high": int(begun["high"].sum()),
        "per_topic": rows(begun[[*names, "recall_high", "advice"]]),
    }
