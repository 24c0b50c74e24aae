"""Two systems topic by topic, and their rankings for one topic."""

from __future__ import annotations

import numpy as np
import pandas as pd

from collection.comparison.evaluation import Evaluation
from collection.core.errors import InputError, UnknownNameError, require_known
from collection.core.frames import QRELS
from collection.core.records import Run, sort_naturally


def differences(evaluation: Evaluation, a: str, b: str, measure: str) -> pd.DataFrame:
    """List the topics by how much two systems differ.

    Returns
    -------
    DataFrame
        ``query_id``, ``value_a``, ``value_b``, ``difference`` (a minus b); the largest absolute difference first.

    Raises
    ------
    UnknownNameError
        There is no such system or measure.
    """
    values = evaluation.per_topic()
    for kind, name, column in (("system", a, "run"), ("system", b, "run"), ("measure", measure, "measure")):
        require_known(kind, set(values[column]), name)
    of = values[values["measure"] == measure].set_index("query_id")
    ours, other_values = of.loc[of["run"] == a, "value"], of.loc[of["run"] == b, "value"]
    table = pd.DataFrame({"value_a": ours, "value_b": other_values.reindex(ours.index)})
    table["difference"] = table["value_a"] - table["value_b"]
    table = sort_naturally(table.rename_axis("query_id").reset_index())
    # Rounded, so that topics with equal differences stay in natural order.
    far = -table["difference"].abs().round(12).to_numpy()
    return table.iloc[np.argsort(far, kind="stable")].reset_index(drop=True)


def side_by_side(a: Run, b: Run, qrels: pd.DataFrame, topic: str, depth: int = 10) -> pd.DataFrame:
    """List the documents of two systems for one topic, rank by rank to `depth`, with their grades.

    Of several grades for a document in the qrels (:data:`collection.core.frames.QRELS`) the highest counts.

    Returns
    -------
    DataFrame
        ``rank``, ``doc_a``, ``grade_a`` (nan: unjudged), ``rank_in_b`` (Int64: the rank of the same document in b, at
        any depth; missing if b does not have it), ``doc_b``, ``grade_b``, ``rank_in_a``. A run that ends earlier has ""
        and missing values.

    Raises
    ------
    UnknownNameError
        Neither the qrels nor a run has the topic.
    """
    if depth < 1:
        raise InputError(f"depth: expected 1 or more, found {depth}")
    rankings = [_ranking(run, topic) for run in (a, b)]
    qrels = QRELS.check(qrels)
    judged = qrels[qrels["query_id"].astype("str") == topic]
    if not (len(judged) or any(map(len, rankings))):
        raise UnknownNameError("topic", topic, qrels["query_id"].astype("str").drop_duplicates())
    grades = judged.groupby(judged["doc_id"].astype("str"))["relevance"].max()
    grades = grades[grades >= 0].astype("float64")
    rows = range(1, min(depth, max(map(len, rankings))) + 1)
    table: dict[str, object] = {"rank": list(rows)}
    for (side, own), (other, opposite) in zip((("a", 0), ("b", 1)), (("b", 1), ("a", 0)), strict=True):
        documents = rankings[own].reindex(rows)
        table[f"doc_{side}"] = documents.fillna("").tolist()
        table[f"grade_{side}"] = documents.map(grades).astype("float64").to_numpy()
        places = pd.Series(rankings[opposite].index, index=rankings[opposite].to_numpy())
        table[f"rank_in_{other}"] = documents.map(places).astype("Int64").array
    return pd.DataFrame(table)


def _ranking(run: Run, topic: str) -> pd.Series[str]:
    """Rank -> document."""
    rows = run.frame[run.frame["query_id"] == topic]
    return pd.Series(rows["doc_id"].astype("str").to_numpy(), index=rows["rank"].to_numpy(), dtype="str").sort_index()
