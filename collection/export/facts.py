"""CardFacts for the card of a collection, as plain data counted from frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from collection.core.phrases import count, plural
from collection.core.records import QRELS_ANNOTATOR

CardFacts = Mapping[str, Any]
"""The content of ``collection.json``, as :meth:`.CollectionCard.facts` makes it."""


def plain(value: object) -> Any:
    """Plain data for JSON: nulls become None, numpy's numbers Python's, tuples lists, times text.

    Frames become lists of rows, named tuples and dataclasses mappings.

    >>> plain({"a": np.int64(3), "b": (float("nan"), pd.NA), 4: "x"})
    {'a': 3, 'b': [None, None], '4': 'x'}
    """
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.astype(object).to_dict("records")]
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


def distribution(counts: Iterable[int]) -> dict[str, float] | None:
    """``min``, ``median``, ``mean``, ``max``; None for no counts.

    >>> distribution([1, 2, 6])
    {'min': 1, 'median': 2.0, 'mean': 3.0, 'max': 6}
    """
    numbers = pd.Series(list(counts), dtype="int64")
    if numbers.empty:
        return None
    return {
        "min": int(numbers.min()),
        "median": float(numbers.median()),
        "mean": float(numbers.mean()),
        "max": int(numbers.max()),
    }


def describe_qrels(qrels: pd.DataFrame, topics: Iterable[str], grades: Iterable[int], level: int) -> dict[str, object]:
    """Count the grades: in total, per grade and per topic.

    `qrels` are :data:`.QRELS`, none below 0, `topics` and `grades` those of the collection, `level` is
    the minimum relevant grade. ``topics`` counts those with a grade, ``without_relevant`` names those of them without a
    relevant document, and ``..._per_topic`` is their :func:`distribution`.
    """
    relevant = qrels["relevance"] >= level
    judged = qrels["query_id"].value_counts().to_dict()
    relevant_counts = qrels.loc[relevant, "query_id"].value_counts().to_dict()
    graded = [topic for topic in topics if topic in judged]
    counts = qrels["relevance"].value_counts().to_dict()
    return {
        "pairs": len(qrels),
        "documents": int(qrels["doc_id"].nunique()),
        "topics": len(graded),
        "relevant_from": level,
        "relevant": int(relevant.sum()),
        "without_relevant": [topic for topic in graded if topic not in relevant_counts],
        "per_grade": {str(grade): int(counts.get(grade, 0)) for grade in grades},
        "judged_per_topic": distribution(judged[topic] for topic in graded),
        "relevant_per_topic": distribution(relevant_counts.get(topic, 0) for topic in graded),
    }


def selection_caution(
    decisive: int, advice: str = "evaluate these systems with `cleverdon evaluate --unjudged expected`"
) -> str:
    """Write a caution for qrels with `decisive` pairs that were selected to compare systems; empty if there are none.

    >>> selection_caution(1, "beware")
    '1 graded pair was selected to compare the systems, and relevant documents may be unjudged: beware'
    """
    if not decisive:
        return ""
    return (
        f"{count(decisive, 'graded pair')} {plural(decisive, 'was', 'were')} selected to compare the systems, and "
        f"relevant documents may be unjudged: {advice}"
    )


def describe_judging(log: pd.DataFrame, current: pd.DataFrame) -> dict[str, object]:
    """Number of judgements by each annotator, and the time they took, from the log and its current judgements.

    ``annotators`` are in the order of their first judgements. ``hours`` sums the time on screen of the ``timed``
    judgements; ``first_at`` and ``last_at`` (UTC) leave out imports.
    """
    people = []
    adjudicated = current["counts_as"] == "adjudication"
    for name in log.sort_values("judged_at", kind="stable")["annotator"].unique():
        own = current["annotator"] == name
        other_judgements = current[own & ~adjudicated]
        people.append(
            {
                "annotator": str(name),
                "judgements": len(other_judgements),
                "adjudications": int((own & adjudicated).sum()),
                "imported": bool(len(other_judgements)) and bool((other_judgements["source"] == "imported").all()),
                "median_seconds": other_judgements["seconds"].astype("float64").median(),
            }
        )
    here = log[log["source"] != "imported"]
    seconds = log["seconds"].astype("float64")
    return {
        "annotators": plain(people),
        "judgements": int((~adjudicated).sum()),
        "cannot_judge": int((~adjudicated & (current["kind"] == "cannot judge")).sum()),
        "adjudications": int(adjudicated.sum()),
        "logged": len(log),
        "hours": float(seconds.sum()) / 3600,
        "timed": int(seconds.notna().sum()),
        "first_at": str(here["judged_at"].min()) if len(here) else None,
        "last_at": str(here["judged_at"].max()) if len(here) else None,
    }


def describe_pool(
    pool: pd.DataFrame, rounds: pd.DataFrame, sampled_out: pd.DataFrame, qrels: pd.DataFrame, without_text: int
) -> dict[str, object]:
    """Describe how the pairs were chosen, and count those with a grade; ``outside`` counts qrels outside the pool.

    `pool`, `rounds` and `sampled_out` are the store's, `without_text` counts unjudged pairs without a text.
    """
    pair = ["query_id", "doc_id"]
    judged = len(pool[pair].merge(qrels[pair], on=pair))
    return {
        "pairs": len(pool),
        "judged": judged,
        "without_text": without_text,
        "outside": len(qrels) - judged,
        "sampled_out": len(sampled_out[pair].drop_duplicates()),
        "per_topic": distribution(pool["query_id"].value_counts()),
        "rounds": [
            plain({**row, "parameters": json.loads(row["parameters"]), "runs": json.loads(row["runs"])})
            | ({"removed": removed} if removed else {})
            for row, removed in zip(
                rounds[["strategy", "parameters", "runs", "pairs", "made_at"]].to_dict("records"),
                rounds["removed"].tolist(),
                strict=True,
            )
        ],
    }


def describe_recall(table: pd.DataFrame, confidence: float) -> dict[str, object]:
    """Sums of :meth:`.RecallEstimates.table` over the topics with a judgement, and ``per_topic`` their rows.

    `confidence` is that of each topic's interval.
    """
    columns = ["query_id", "of", "judged", "found", "without_text", "relevant", "low", "high", "recall", "recall_low"]
    started = table[table["judged"] > 0]
    sums = {name: int(started[name].sum()) for name in ("found", "without_text", "low", "high")}
    per_topic = plain(started[[*columns, "recall_high", "advice"]])
    return {"topics": len(started), **sums, "confidence": confidence, "per_topic": per_topic}


def pseudonyms(logs: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Annotator -> a1, a2, ... by their first decision in these logs (``annotator``, ``judged_at``); not for qrels.

    >>> log = pd.DataFrame({"annotator": ["zoe", "ann", "zoe"], "judged_at": ["1", "2", "3"]})
    >>> pseudonyms([log])
    {'zoe': 'a1', 'ann': 'a2'}
    """
    entries = pd.concat([log[["annotator", "judged_at"]] for log in logs], ignore_index=True)
    order = entries.sort_values("judged_at", kind="stable")["annotator"].astype("str").unique()
    people = [name for name in order if not name.startswith(QRELS_ANNOTATOR)]
    return {name: f"a{number}" for number, name in enumerate(people, start=1)}


def rename_annotators(log: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The log with the annotators renamed as far as `names` has them."""
    return log.assign(annotator=[names.get(str(name), str(name)) for name in log["annotator"]])
