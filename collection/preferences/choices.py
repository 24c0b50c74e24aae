"""Choices from lists: sparse qrels made from them, and the agreement of annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.arrays import Bools
from collection.core.frames import QRELS
from collection.core.records import require_columns
from collection.core.registry import Entry, Registry

ChoiceCounts = npt.NDArray[np.int64]

CHOICE_RULES = Registry("rule for choices", Entry[Callable[[ChoiceCounts, ChoiceCounts], npt.NDArray[np.bool_]]])
"""A rule is a function: (number of annotators who chose each document, number who saw it) -> whether it is relevant."""

NEEDED = ("annotator", "query_id", "kind", "shown", "chosen")


@CHOICE_RULES.add(
    "majority",
    label="Majority",
    description="Relevant if at least half of the annotators who saw the document in their list chose it.",
)
def majority(chosen: ChoiceCounts, decided: ChoiceCounts) -> Bools:
    """Require at least half: one of two annotators is enough, since nobody examined the other documents one by one."""
    return (chosen > 0) & (2 * chosen >= decided)


@CHOICE_RULES.add(
    "any", label="Any", description="Relevant if any annotator chose it, so that fewer answers are missed."
)
def any_(chosen: ChoiceCounts, decided: ChoiceCounts) -> Bools:
    """One annotator is enough."""
    return chosen > 0


@CHOICE_RULES.add("all", label="All", description="Relevant if all annotators who saw the document chose it.")
def all_(chosen: ChoiceCounts, decided: ChoiceCounts) -> Bools:
    """All annotators who saw it."""
    return (chosen > 0) & (chosen == decided)


class ChoiceAgreement(NamedTuple):
    """Agreement of annotators who decided on the same topics.

    Attributes
    ----------
    topics, comparisons
        Number of topics with decisions by two or more annotators, and number of pairs of annotators over these topics.
    same
        Share of the comparisons in which both chose the same documents; nan without a comparison.
    overlap
        Mean Jaccard coefficient |both| / |either| over the comparisons; 1 if both chose nothing.
    """

    topics: int
    comparisons: int
    same: float
    overlap: float


def build_qrels(choices: pd.DataFrame, rule: str = "majority") -> pd.DataFrame:
    """Make sparse qrels: chosen documents with relevance 1.

    Documents that were shown but not chosen are unjudged, since nobody examined them one by one.

    Parameters
    ----------
    choices
        ``annotator``, ``query_id``, ``kind``, ``shown`` and ``chosen`` (tuples of ids); one row per annotator and
        topic.
    rule
        A name of :data:`CHOICE_RULES`, applied to the annotators who were shown the document.

    Returns
    -------
    DataFrame
        :data:`.QRELS`; topics in the order of the choices, documents by the number of annotators who
        chose them, then in the order of the lists.

    Examples
    --------
    >>> rows = [("ann", "1", "chosen", ("a", "b"), ("b",)), ("ben", "1", "chosen", ("a", "b"), ())]
    >>> choices = pd.DataFrame(rows, columns=["annotator", "query_id", "kind", "shown", "chosen"])
    >>> build_qrels(choices).values.tolist(), len(build_qrels(choices, "all"))
    ([['1', 'b', 1]], 0)
    """
    require_columns(choices, NEEDED, "choices")
    function = CHOICE_RULES[rule].function
    counted: dict[tuple[str, str], list[int]] = {}
    order: dict[str, int] = {}
    for query_id, shown, chosen in _decided(choices):
        order.setdefault(query_id, len(order))
        for doc_id in shown:
            counts = counted.setdefault((query_id, doc_id), [0, 0])
            counts[0] += doc_id in chosen
            counts[1] += 1
    numbers = np.array(list(counted.values()), dtype=np.int64).reshape(-1, 2)
    relevant = function(numbers[:, 0], numbers[:, 1])
    rows = [(*pair, -n) for pair, n, is_so in zip(counted, numbers[:, 0].tolist(), relevant, strict=True) if is_so]
    rows.sort(key=lambda row: (order[row[0]], row[2]))  # stable, so ties stay in the order shown
    qrels = pd.DataFrame([(*row[:2], 1) for row in rows], columns=list(QRELS.names))
    return qrels.astype({"query_id": "str", "doc_id": "str", "relevance": "int64"})


def agreement(choices: pd.DataFrame) -> ChoiceAgreement:
    """Compute the agreement of choices, in the form that :func:`build_qrels` takes; "cannot judge" does not count.

    Examples
    --------
    >>> rows = [("ann", "1", "chosen", ("a", "b"), ("b",)), ("ben", "1", "chosen", ("a", "b"), ("a", "b"))]
    >>> agreement(pd.DataFrame(rows, columns=["annotator", "query_id", "kind", "shown", "chosen"]))
    ChoiceAgreement(topics=1, comparisons=1, same=0.0, overlap=0.5)
    """
    require_columns(choices, NEEDED, "choices")
    by_topic: dict[str, list[frozenset[str]]] = {}
    for query_id, _, chosen in _decided(choices):
        by_topic.setdefault(query_id, []).append(chosen)
    pairs = [pair for answers in by_topic.values() for pair in combinations(answers, 2)]
    topics = sum(len(answers) > 1 for answers in by_topic.values())
    if not pairs:
        return ChoiceAgreement(0, 0, float("nan"), float("nan"))
    same = [one == other for one, other in pairs]
    overlap = [len(one & other) / len(one | other) if one | other else 1.0 for one, other in pairs]
    return ChoiceAgreement(topics, len(pairs), float(np.mean(same)), float(np.mean(overlap)))


def _decided(choices: pd.DataFrame) -> Iterator[tuple[str, tuple[str, ...], frozenset[str]]]:
    """Yield topic, documents shown, and documents chosen of each decision."""
    decided = choices[choices["kind"] == "chosen"]
    columns = (decided[name].tolist() for name in ("query_id", "shown", "chosen"))
    for query_id, shown, chosen in zip(*columns, strict=True):
        yield query_id, shown, frozenset(chosen)
