"""Training examples for rankers: for each relevant document of a topic some that are not, as triples or tuples of ids.

A rule of :data:`NEGATIVES` chooses the negatives. Rules that take unjudged documents are named so and never the
default, and every row says whether its negative was judged: unjudged documents at high ranks are often relevant (Qu et
al., "RocketQA", NAACL 2021). No rule takes a document that anybody graded as relevant for the topic, whatever its
adjudicated grade.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from math import inf, nan, nextafter
from random import Random
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Ints
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.core.records import require_columns
from collection.core.registry import Entry, Registry

PAIR = ["query_id", "doc_id"]

COLUMNS = {
    "query_id": "str", "positive_id": "str", "positive_relevance": "float64", "negative_id": "str",
    "negative_relevance": "float64", "judged": "bool",
}  # fmt: skip


class NegativeCandidates(NamedTuple):
    """The documents from which a rule chooses the negatives of a topic.

    Attributes
    ----------
    graded
        Document -> adjudicated grade, by document id.
    ranked, ranks
        Documents that the runs retrieved and their ranks, best first; equal ranks by document id.
    documents
        The collection.
    """

    graded: Mapping[str, float]
    ranked: Sequence[str]
    ranks: Ints
    documents: Sequence[str]

    def window(self, first: int, last: int) -> Sequence[str]:
        """The documents at these ranks, both ends included."""
        begin, end = np.searchsorted(self.ranks, (first, last + 1))
        return self.ranked[begin:end]


NEGATIVES = Registry("rule for negatives", Entry[Callable[..., Sequence[str]]])
"""Every rule: (material, *, parameters) -> distinct candidates; relevant ones are removed afterwards."""


@NEGATIVES.add("judged", label="Judged", description="Documents judged not relevant.")
def judged(material: NegativeCandidates) -> Sequence[str]:
    """All that have a grade."""
    return list(material.graded)


@NEGATIVES.add(
    "hard",
    label="Hard",
    description="Documents judged not relevant that the runs have at the given ranks (default: 1 to 100).",
)
def hard(material: NegativeCandidates, *, first: int = 1, last: int = 100) -> Sequence[str]:
    """Those with a grade among the documents at these ranks."""
    return [doc_id for doc_id in material.window(first, last) if doc_id in material.graded]


@NEGATIVES.add(
    "unjudged-hard",
    label="Hard, including unjudged",
    description="Documents that the runs have at the given ranks (default: 1 to 100), judged not relevant or unjudged; "
    "unjudged ones may be relevant.",
)
def unjudged_hard(material: NegativeCandidates, *, first: int = 1, last: int = 100) -> Sequence[str]:
    """All documents at these ranks."""
    return material.window(first, last)


@NEGATIVES.add(
    "unjudged-random",
    label="Random, including unjudged",
    description="Random documents of the collection, judged not relevant or unjudged; unjudged ones may be relevant.",
)
def unjudged_random(material: NegativeCandidates) -> Sequence[str]:
    """The whole collection."""
    return material.documents


def takes_unjudged(rule: str) -> bool:
    """Tell whether a rule may choose unjudged documents as negatives; its name then begins with "unjudged-"."""
    return NEGATIVES[rule].name.startswith("unjudged-")


class Examples(NamedTuple):
    """Pairs of a positive and a negative document.

    Attributes
    ----------
    frame
        :data:`COLUMNS`; ``judged`` is whether the negative was, its relevance is NaN where not. Topics as in the
        qrels; positives by id; the negatives of a positive in the order of the draw.
    counts
        ``topics`` (with a grade), ``positives`` and ``positives_drawn`` (by `per_topic`); ``positives_short`` (with
        fewer negatives than asked for) and ``topics_short`` (with such positives); in the frame: ``topics_used``,
        ``positives_used``, ``negatives`` (distinct pairs), ``negatives_unjudged``, ``examples`` (rows).
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
    """Choose negatives for each relevant document of each topic.

    The candidates of a topic are shuffled by its id and the seed, and its positives take from them by turns, so each
    negative is used about equally often. The examples of a topic depend on nothing but its input.

    Parameters
    ----------
    qrels
        :data:`collection.core.frames.QRELS`, adjudicated; below 0 is unjudged.
    rule, parameters
        A name of :data:`NEGATIVES`, and parameters that differ from its defaults.
    ranked
        For rules that look at ranks: ``query_id``, ``doc_id``, ``rank`` (from 1), each pair once.
    documents
        The collection, for the rule that draws from it.
    usable
        Whether a document may be in an example.
    marked
        :data:`collection.core.frames.QRELS`: every grade that anybody gave; none of a negative's is that of a positive.
    excluded
        ``query_id``, ``doc_id``: pairs that are in no example.
    near
        Document -> group of near-duplicates. No negative is in the group of a positive of its topic.
    level
        Minimum grade of a positive.
    margin
        None: negatives are below `level`. Else they are at least this far below the positive, and may be relevant.
    negatives, per_topic
        Maximum number of negatives for each positive, and of positives (chosen at random) for each topic.
    whole
        Leave out positives that have fewer than `negatives`.

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
    entry.require_parameters(given)
    used = {**entry.parameters, **given}
    _check(level, margin, negatives, per_topic, used.get("first", 1), used.get("last", 1))
    grades, rankings = _grades(qrels), _rankings(ranked)
    limits = _Restrictions(_highest(qrels, marked), _pairs(excluded), near or {}, usable)
    rows: list[tuple[object, ...]] = []
    positives = drawn = short = 0
    topics_short: set[str] = set()
    for query_id, graded in grades.items():
        random = Random(f"{seed}\t{query_id}")
        relevant = [doc_id for doc_id, grade in graded.items() if grade >= level]
        allowed = [doc_id for doc_id in relevant if limits.allows(query_id, doc_id)]
        chosen = allowed if per_topic is None else sorted(_drawn(allowed, per_topic, random))
        candidates = entry.function(NegativeCandidates(graded, *rankings.get(query_id, _NOTHING), documents), **given)
        groups = limits.groups(relevant)
        positives, drawn = positives + len(allowed), drawn + len(chosen)
        for limit, those in _by_limit(chosen, graded, level, margin):
            matching = _drawn(candidates, negatives * len(those), random, partial(limits.fits, query_id, limit, groups))
            if len(matching) < negatives:
                short += len(those)
                topics_short.update({query_id} if those else ())
            if not whole or len(matching) >= negatives:
                rows += [
                    (query_id, positive, graded[positive], doc_id, graded.get(doc_id, nan), doc_id in graded)
                    for positive, doc_id in _by_turns(those, matching, negatives)
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


class _Restrictions(NamedTuple):
    """Pairs that may be in an example."""

    highest: Mapping[Hashable, float]
    """Pair -> the highest grade that anybody gave."""
    excluded: Collection[tuple[str, str]]
    near: Mapping[str, int]
    usable: Callable[[str], bool] | None

    def allows(self, query_id: str, doc_id: str) -> bool:
        return (query_id, doc_id) not in self.excluded and (self.usable is None or self.usable(doc_id))

    def fits(self, query_id: str, limit: float, groups: Collection[int], doc_id: str) -> bool:
        """Return whether a document can be a negative next to these positives, if nobody gave more than `limit`."""
        return (
            self.highest.get((query_id, doc_id), -inf) <= limit
            and self.near.get(doc_id) not in groups
            and self.allows(query_id, doc_id)
        )

    def groups(self, doc_ids: Sequence[str]) -> set[int]:
        return {self.near[doc_id] for doc_id in doc_ids if doc_id in self.near}


_NOTHING: tuple[Sequence[str], Ints] = ((), np.empty(0, np.int64))


def _check(level: float, margin: float | None, negatives: int, per_topic: int | None, first: int, last: int) -> None:
    if not level > 0:
        raise InputError(f"level of positives: expected a grade above 0, found {level:g}")
    if margin is not None and not margin > 0:
        raise InputError(f"margin between positive and negative: expected a number above 0, found {margin:g}")
    if negatives < 1 or (per_topic is not None and per_topic < 1):
        raise InputError(f"expected at least 1 negative and 1 positive, found {negatives} and {per_topic}")
    if not 1 <= first <= last:
        raise InputError(
            f"ranks: expected a first rank of 1 or more and a last rank not before it, found {first} to {last}"
        )


def _drawn(
    candidates: Sequence[str], count: int, random: Random, fits: Callable[[str], bool] | None = None
) -> list[str]:
    """Draw `count` candidates that fit, at random.

    A Fisher-Yates shuffle that stops early, as the collection may have millions. It uses random() alone, whose
    sequence Python keeps from version to version.
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


def _by_turns(positives: Sequence[str], documents: Sequence[str], negatives: int) -> Iterator[tuple[str, str]]:
    """Each positive with the next negatives found, and after the last the first again."""
    each = min(negatives, len(documents))
    for number, positive in enumerate(positives):
        for place in range(number * each, (number + 1) * each):
            yield positive, documents[place % len(documents)]


def _by_limit(
    positives: Sequence[str], graded: Mapping[str, float], level: float, margin: float | None
) -> Iterator[tuple[float, list[str]]]:
    """Groups of positives, and the highest grade that their negatives may have."""
    if margin is None:
        yield nextafter(level, -inf), list(positives)
        return
    for grade in sorted({graded[doc_id] for doc_id in positives}):
        yield grade - margin, [doc_id for doc_id in positives if graded[doc_id] == grade]


def _grades(qrels: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Topic -> document -> grade, documents by id; without unjudged ones."""
    qrels = QRELS.check(qrels, "making training data")
    _require_distinct(qrels, "qrels")
    grades: dict[str, dict[str, float]] = {}
    for query_id, rows in qrels[qrels["relevance"] >= 0].groupby("query_id", sort=False, observed=True):
        ordered = rows.sort_values("doc_id", kind="stable")
        grades[str(query_id)] = dict(zip(ordered["doc_id"], ordered["relevance"].astype("float64"), strict=True))
    return grades


def _rankings(ranked: pd.DataFrame | None) -> dict[str, tuple[Sequence[str], Ints]]:
    if ranked is None:
        return {}
    require_columns(ranked, [*PAIR, "rank"], "the ranks of documents")
    _require_distinct(ranked, "ranks")
    ordered = ranked.sort_values(["rank", "doc_id"], kind="stable")
    return {
        str(query_id): (rows["doc_id"].tolist(), rows["rank"].to_numpy(np.int64))
        for query_id, rows in ordered.groupby("query_id", sort=False, observed=True)
    }


def _highest(*given: pd.DataFrame | None) -> dict[Hashable, float]:
    """Pair -> the highest grade in any of the frames."""
    frames = [QRELS.check(frame, "the grades that were given") for frame in given if frame is not None]
    return pd.concat(frames).groupby(PAIR, sort=False, observed=True)["relevance"].max().astype("float64").to_dict()


def _pairs(excluded: pd.DataFrame | None) -> set[tuple[str, str]]:
    if excluded is None:
        return set()
    require_columns(excluded, PAIR, "the pairs that are left out")
    return set(excluded[PAIR].itertuples(index=False, name=None))


def _require_distinct(frame: pd.DataFrame, what: str) -> None:
    twice = frame.duplicated(PAIR)
    if twice.any():
        pair = frame.loc[twice, PAIR].iloc[0].tolist()
        raise InputError(f"{what} for training data: expected each pair once, found {pair} twice")
