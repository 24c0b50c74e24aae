"""Judgements -> qrels: how several annotators' decisions on one pair become one grade.

Each rule takes the current judgements (a person's last word on each pair) and gives qrels. "Cannot
judge" is not a grade: a pair on which nobody gave a grade has no qrel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from collection.records import QRELS_COLUMNS, require_columns
from collection.registry import Registry

RULES: Registry[Callable[[pd.DataFrame], pd.DataFrame]] = Registry("adjudication rule")
"""Every rule: (graded judgements, in the order in which they were made) -> one row per pair."""

DEFAULT_RULE = "majority"


def settle(judgements: pd.DataFrame, rule: str = DEFAULT_RULE) -> pd.DataFrame:
    """Settle current judgements into qrels by a rule of the table :data:`RULES`.

    Parameters
    ----------
    judgements
        Current judgements, oldest first, at most one per annotator and pair: ``query_id``,
        ``doc_id``, ``annotator``, ``kind``, ``relevance``. Rows that are not graded are left out.
    rule
        The rule's name.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``relevance`` (int64), one row per pair with a grade, in order of each
        pair's first judgement.

    Raises
    ------
    UnknownNameError
        No rule has that name.
    """
    require_columns(judgements, ("query_id", "doc_id", "annotator", "kind", "relevance"), "adjudication")
    graded = judgements.loc[judgements["kind"] == "graded", ["query_id", "doc_id", "annotator", "relevance"]]
    graded = graded.astype({"relevance": "int64"})
    pairs = graded[["query_id", "doc_id"]].drop_duplicates()
    # Rules may give their rows in any order; the left merge puts them into the log's.
    return pairs.merge(RULES[rule].function(graded), how="left")[list(QRELS_COLUMNS)]


class Disagreements(NamedTuple):
    """How many pairs several annotators graded, and on how many of them they differ."""

    pairs: int
    differ: int


def disagreements(judgements: pd.DataFrame) -> Disagreements:
    """Count the pairs on which a rule has something to decide; `judgements` as for :func:`settle`."""
    grades = judgements[judgements["kind"] == "graded"].groupby(["query_id", "doc_id"])["relevance"]
    several = grades.size() > 1
    return Disagreements(int(several.sum()), int((grades.nunique() > 1).sum()))


@RULES.add(
    "majority",
    label="Majority",
    description="The grade that most annotators gave; of two given equally often, the lower one.",
)
def majority(graded: pd.DataFrame) -> pd.DataFrame:
    """The most frequent grade of the pair; ties go to the lower grade, the cautious reading."""
    votes = graded.groupby(["query_id", "doc_id", "relevance"], sort=False, as_index=False).size()
    order = votes.sort_values(["size", "relevance"], ascending=[False, True], kind="stable")
    return order.drop_duplicates(["query_id", "doc_id"])


@RULES.add("latest", label="Latest", description="The grade that was given last, whoever gave it.")
def latest(graded: pd.DataFrame) -> pd.DataFrame:
    """The last judgement on the pair in the order of the log."""
    return graded.drop_duplicates(["query_id", "doc_id"], keep="last")


@RULES.add("highest", label="Highest", description="The highest grade that anyone gave: nothing relevant is missed.")
def highest(graded: pd.DataFrame) -> pd.DataFrame:
    """The maximum over the annotators."""
    return graded.sort_values("relevance").drop_duplicates(["query_id", "doc_id"], keep="last")


@RULES.add("lowest", label="Lowest", description="The lowest grade that anyone gave: relevant only where all agree.")
def lowest(graded: pd.DataFrame) -> pd.DataFrame:
    """The minimum over the annotators."""
    return graded.sort_values("relevance").drop_duplicates(["query_id", "doc_id"], keep="first")
