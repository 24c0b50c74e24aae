"""Training data for rankers: for each relevant document of a topic some that are not, as triples or tuples of ids.

What a negative is, is said by a rule of :data:`NEGATIVES`. Rules that take unjudged documents are called so, are never
the default, and every row that they make says whether its negative was judged: documents that runs put high and nobody
judged are often relevant (Qu et al., "RocketQA", NAACL 2021), and who trains on them should have chosen to.

Whatever the rule, a negative of a topic is never a document that anybody marked as relevant for it, whatever became of
that word when the grades were settled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import inf, nan, nextafter
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError, UnknownNameError
from collection.frames import QRELS
from collection.records import require_columns
from collection.registry import Entry, Registry

PAIR = ["query_id", "doc_id"]

COLUMNS = {
    "query_id": "str", "positive_id": "str", "positive_relevance": "float64", "negative_id": "str",
    "negative_relevance": "float64", "judged": "bool",
}  # fmt: skip


class Material(NamedTuple):
    """What a rule for negatives chooses from, for one topic.

    Attributes
    ----------
    graded
        Document -> settled grade, by document id.
    ranked, ranks
        Documents that the runs retrieved and their ranks, best first; equal ranks by document id.
    documents
        The documents of the collection; the same sequence for every topic.
    """

    graded: Mapping[str, float]
    ranked: Sequence[str]
    ranks: npt.NDArray[np.int64]
    documents: Sequence[str]

    def window(self, first: int, last: int) -> Sequence[str]:
        """The documents at these ranks, both ends included."""
        begin, end = np.searchsorted(self.ranks, (first, last + 1))
        return self.ranked[begin:end]


NEGATIVES = Registry("rule for negatives", Entry[Callable[..., Sequence[str]]])
"""Every rule: (material, *, parameters) -> candidates, each once. What is relevant is taken out afterwards."""


@NEGATIVES.add("judged", label="Judged", description="Documents that were judged and are not relevant.")
def judged(material: Material) -> Sequence[str]:
    """All that have a grade."""
    return list(material.graded)


@NEGATIVES.add(
    "hard",
    label="Hard",
    description="Documents that were judged and are not relevant, and that the runs put at the ranks asked for.",
)
def hard(material: Material, *, first: int = 1, last: int = 100) -> Sequence[str]:
    """Those with a grade among the documents at these ranks."""
    return [doc_id for doc_id in material.window(first, last) if doc_id in material.graded]


@NEGATIVES.add(
    "unjudged-hard",
    label="Hard, unjudged too",
    description="Documents that the runs put at the ranks asked for, judged as not relevant or not judged at all.",
)
def unjudged_hard(material: Material, *, first: int = 1, last: int = 100) -> Sequence[str]:
    """All documents at these ranks."""
    return material.window(first, last)


@NEGATIVES.add(
    "unjudged-random",
    label="Random, unjudged too",
    description="Documents of the collection by lot, judged as not relevant or not judged at all.",
)
def unjudged_random(material: Material) -> Sequence[str]:
    """The whole collection."""
    return material.documents


def takes_unjudged(rule: str) -> bool:
    """Whether negatives by this rule may be documents that nobody judged: such rules begin with "unjudged-"."""
    return NEGATIVES[rule].name.startswith("unjudged-")


class Examples(NamedTuple):
    """Pairs of a positive and a negative, and how they came about.

    Attributes
    ----------
    frame
        ``query_id``, ``positive_id``, ``positive_relevance``, ``negative_id``, ``negative_relevance`` (float64, NaN
        where it was not judged), ``judged`` (whether the negative was). Topics as in the qrels; positives by id; the
        negatives of a positive in the order of the draw.
    counts
        ``topics`` (with a grade), ``topics_used`` (in the frame), ``positives`` (that there are), ``positives_drawn``
        (as far as `per_topic` allows), ``positives_short`` (of these, that have fewer negatives than asked for),
        ``topics_short`` (that have such positives),
        ``positives_used`` (in the frame), ``negatives`` (different pairs in the frame), ``negatives_unjudged`` (of
        these), ``examples`` (rows).
    """

    frame: pd.DataFrame
    counts: dict[str, int]


def examples(
    qrels: pd.DataFrame,
    *,
    rule: str = "judged",
    parameters: Mapping[str, object] | None = None,
    ranked: pd.DataFrame | None = None,
    documents: Sequence[str] = (),
    usable: Callable[[str], bool] | None = None,
    marked: pd.DataFrame | None = None,
    excluded: pd.DataFrame | None = None,
    near: Mapping[str, int] | None = None,
    level: float = 1,
    margin: float | None = None,
    negatives: int = 1,
    whole: bool = False,
    per_topic: int | None = None,
    seed: int = 0,
) -> Examples:
    """For each relevant document of each topic some that are not.

    The candidates of a topic are shuffled by its id and the seed, and its positives take from them by turns: each
    negative is used about as often as any other, none twice with one positive. The same input gives the same
    examples on any machine, and a topic's do not depend on the other topics.

    Parameters
    ----------
    qrels
        :data:`collection.frames.QRELS`: settled grades; below 0 is unjudged.
    rule, parameters
        Which documents are candidates: a name of :data:`NEGATIVES`, and what differs from its defaults.
    ranked
        What the runs retrieved, for the rules that look at ranks: ``query_id``, ``doc_id``, ``rank`` (from 1), each
        pair once.
    documents
        The collection, for the rule that draws from it.
    usable
        Whether a document may be in an example, as positive or negative; all may if left out.
    marked
        :data:`collection.frames.QRELS`: every grade that anybody gave, the same pair perhaps several times. Of
        a pair the highest counts beside the settled one when it might become a negative.
    excluded
        ``query_id``, ``doc_id``: pairs that are in no example.
    near
        Document -> its group of near-duplicates. No negative is then in the group of a positive of its topic.
    level
        The lowest grade of a positive.
    margin
        None: negatives are below `level`. Else the positive's grade is at least so much above the negative's, which may
        then be relevant itself, only less.
    negatives
        For each positive; fewer where there are fewer.
    whole
        Leave out positives that have fewer: every positive in the result has exactly `negatives`.
    per_topic
        At most so many positives of a topic, drawn by lot.
    seed
        Any whole number.

    Raises
    ------
    ColumnsError, UnknownNameError
        A column is missing; there is no such rule, or no such parameter of it.
    InputError
        A pair is twice in the qrels or in `ranked`, or a number is not in its range.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "c"], "relevance": [2, 0, 0]})
    >>> print(examples(qrels, negatives=2).frame[["query_id", "positive_id", "negative_id"]].to_string(index=False))
    query_id positive_id negative_id
           1           a           b
           1           a           c
    """
    entry = NEGATIVES[rule]
    given = dict(parameters or {})
    for name in given:
        if name not in entry.parameters:
            raise UnknownNameError(f"parameter of {rule}", name, entry.parameters)
    _check(level, margin, negatives, per_topic, {**entry.parameters, **given})
    grades, rankings = _grades(qrels), _rankings(ranked)
    against = _Against(_highest(qrels, marked), _pairs(excluded), near or {}, usable)
    rows: list[tuple[object, ...]] = []
    positives = drawn = short = 0
    topics_short: set[str] = set()
    for query_id, graded in grades.items():
        random = Random(f"{seed}\t{query_id}")
        relevant = [doc_id for doc_id, grade in graded.items() if grade >= level]
        allowed = [doc_id for doc_id in relevant if against.allows(query_id, doc_id)]
        chosen = allowed if per_topic is None else sorted(_drawn(allowed, per_topic, random))
        candidates = entry.function(Material(graded, *rankings.get(query_id, _NOTHING), documents), **given)
        groups = against.groups(relevant)
        positives, drawn = positives + len(allowed), drawn + len(chosen)
        for limit, those in _by_limit(chosen, graded, level, margin):
            found = _drawn(candidates, negatives * len(those), random, partial(against.fits, query_id, limit, groups))
            if len(found) < negatives:
                short += len(those)
                topics_short.update({query_id} if those else ())
            if not whole or len(found) >= negatives:
                rows += [
                    (query_id, positive, graded[positive], doc_id, graded.get(doc_id, nan), doc_id in graded)
                    for positive, doc_id in _by_turns(those, found, negatives)
                ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    different = frame.drop_duplicates(["query_id", "negative_id"])
    counts = {
        "topics": len(grades),
        "topics_used": frame["query_id"].nunique(),
        "positives": positives,
        "positives_drawn": drawn,
        "positives_short": short,
        "topics_short": len(topics_short),
        "positives_used": len(frame.drop_duplicates(["query_id", "positive_id"])),
        "negatives": len(different),
        "negatives_unjudged": int((~different["judged"]).sum()),
        "examples": len(frame),
    }
    return Examples(frame, counts)


class _Against(NamedTuple):
    """What is known against using a pair."""

    marked: Mapping[str, Mapping[str, float]]
    """The highest grade that anybody gave."""
    excluded: Mapping[str, Collection[str]]
    near: Mapping[str, int]
    usable: Callable[[str], bool] | None

    def allows(self, query_id: str, doc_id: str) -> bool:
        return doc_id not in self.excluded.get(query_id, ()) and (self.usable is None or self.usable(doc_id))

    def fits(self, query_id: str, limit: float, groups: Collection[int], doc_id: str) -> bool:
        """Whether a document can be a negative beside positives of these groups, if nobody gave more than `limit`."""
        return (
            self.marked.get(query_id, {}).get(doc_id, -inf) <= limit
            and self.near.get(doc_id) not in groups
            and self.allows(query_id, doc_id)
        )

    def groups(self, doc_ids: Sequence[str]) -> set[int]:
        return {self.near[doc_id] for doc_id in doc_ids if doc_id in self.near}


_NOTHING: tuple[Sequence[str], npt.NDArray[np.int64]] = ((), np.empty(0, np.int64))


def _check(
    level: float, margin: float | None, negatives: int, per_topic: int | None, parameters: Mapping[str, Any]
) -> None:
    if not level > 0:
        raise InputError(f"the level of a positive is above 0, found {level:g}")
    if margin is not None and not margin > 0:
        raise InputError(f"the margin between positive and negative is above 0, found {margin:g}")
    if negatives < 1 or (per_topic is not None and per_topic < 1):
        raise InputError(f"there is at least one negative and one positive, found {negatives} and {per_topic}")
    first, last = parameters.get("first", 1), parameters.get("last", 1)
    if not 1 <= first <= last:
        raise InputError(f"ranks begin with 1 and end where they begin or later, found {first} to {last}")


def _drawn(
    candidates: Sequence[str], count: int, random: Random, fits: Callable[[str], bool] | None = None
) -> list[str]:
    """The first `count` that fit of the candidates in an order of chance.

    A shuffle (Fisher & Yates) that is only carried as far as it is needed: the collection may have millions. It uses
    nothing but random(), whose sequence Python promises to keep from version to version.
    """
    moved: dict[int, int] = {}
    drawn: list[str] = []
    for left in range(len(candidates), 0, -1):
        if len(drawn) == count:
            break
        at = int(random.random() * left)
        candidate = candidates[moved.get(at, at)]
        moved[at] = moved.get(left - 1, left - 1)
        if fits is None or fits(candidate):
            drawn.append(candidate)
    return drawn


def _by_turns(positives: Sequence[str], found: Sequence[str], negatives: int) -> Iterator[tuple[str, str]]:
    """Each positive with its negatives: the next ones of those found, and after the last the first again."""
    each = min(negatives, len(found))
    for number, positive in enumerate(positives):
        for place in range(number * each, (number + 1) * each):
            yield positive, found[place % len(found)]


def _by_limit(
    positives: Sequence[str], graded: Mapping[str, float], level: float, margin: float | None
) -> Iterator[tuple[float, list[str]]]:
    """Positives that may have the same negatives, and the highest grade that one of these may have."""
    if margin is None:
        yield nextafter(level, -inf), list(positives)
        return
    for grade in sorted({graded[doc_id] for doc_id in positives}):
        yield grade - margin, [doc_id for doc_id in positives if graded[doc_id] == grade]


def _grades(qrels: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Topic -> document -> grade, documents by id; without what is unjudged."""
    QRELS.check(qrels, "making training data")
    _once(qrels, "qrels")
    judged_only = qrels[qrels["relevance"] >= 0]
    found: dict[str, dict[str, float]] = {str(query_id): {} for query_id in judged_only["query_id"].unique()}
    ordered = judged_only.sort_values("doc_id", kind="stable")
    for query_id, doc_id, relevance in zip(*(ordered[name].tolist() for name in QRELS.names), strict=True):
        found[query_id][doc_id] = float(relevance)
    return found


def _rankings(ranked: pd.DataFrame | None) -> dict[str, tuple[Sequence[str], npt.NDArray[np.int64]]]:
    if ranked is None:
        return {}
    require_columns(ranked, [*PAIR, "rank"], "the ranks of documents")
    _once(ranked, "ranks")
    ordered = ranked.sort_values(["rank", "doc_id"], kind="stable")
    return {
        str(query_id): (rows["doc_id"].tolist(), rows["rank"].to_numpy(np.int64))
        for query_id, rows in ordered.groupby("query_id", sort=False, observed=True)
    }


def _highest(*given: pd.DataFrame | None) -> dict[str, dict[str, float]]:
    """Topic -> document -> the highest grade in any of the frames."""
    found: dict[str, dict[str, float]] = {}
    for frame in given:
        if frame is not None:
            QRELS.check(frame, "the grades that were given")
            for query_id, doc_id, relevance in zip(*(frame[name].tolist() for name in QRELS.names), strict=True):
                of_topic = found.setdefault(query_id, {})
                of_topic[doc_id] = max(float(relevance), of_topic.get(doc_id, -inf))
    return found


def _pairs(excluded: pd.DataFrame | None) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    if excluded is not None:
        require_columns(excluded, PAIR, "the pairs that are left out")
        for query_id, doc_id in zip(excluded["query_id"].tolist(), excluded["doc_id"].tolist(), strict=True):
            found.setdefault(query_id, set()).add(doc_id)
    return found


def _once(frame: pd.DataFrame, what: str) -> None:
    twice = frame.duplicated(PAIR)
    if twice.any():
        pair = frame.loc[twice, PAIR].iloc[0].tolist()
        raise InputError(f"{what} for training data have each pair once, found {pair} twice")
