"""Cases for replays: the documents, text, runs and known grades of each topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from collection import pooling
from collection.active_learning import features
from collection.active_learning.evidence_trust import correlate, measure_agreement
from collection.active_learning.training_round import Evidence, Space
from collection.core.arrays import Floats32
from collection.core.errors import InputError
from collection.core.frames import QRELS, TOPICS
from collection.core.phrases import percent
from collection.core.records import Document, Run, Topic
from collection.core.topic_fields import to_topics, topic_text
from collection.pooling import Indices

CaseScope = Literal["all", "prefix", "judged"]


@dataclass(frozen=True, eq=False)
class Case:
    """A topic with known grades."""

    query_id: str
    doc_ids: pd.Index[str]
    """(documents,) ids of the documents in scope."""
    grades: np.ndarray
    """(documents,) known grades; 0 for documents without one."""
    space: Space
    """Input of the loop."""
    pools: dict[str, Indices]
    """Pooling strategy -> documents of its pool, best first."""
    rankings: list[Indices]
    """Documents of each run, best first, for adaptive strategies."""


def cases(
    documents: Iterable[Document],
    topics: pd.DataFrame,
    qrels: pd.DataFrame,
    runs: Sequence[Run] = (),
    *,
    scope: CaseScope = "all",
    pools: Sequence[str] = (),
    level: float = 1,
    least: int = 1,
    labels: pd.DataFrame | None = None,
    notice: Callable[[str], None] | None = None,
) -> Iterator[Case]:
    """Yield a case for each topic that has enough relevant documents.

    Parameters
    ----------
    documents
        The collection; runs and qrels are restricted to it.
    topics, qrels
        :data:`collection.core.frames.TOPICS` and :data:`collection.core.frames.QRELS`.
    runs
        For the loop and for pooling strategies.
    scope
        "all": every document may be judged for every topic. "prefix": only documents whose id starts with the topic's
        id and a hyphen, as in a set of systematic reviews. "judged": only documents with a grade of 0 or more in the
        qrels; in the other scopes, documents without one count as not relevant.
    pools
        Names of pooling strategies to prepare.
    level
        Minimum relevant grade.
    least
        Minimum number of relevant documents of a topic.
    labels
        Labels by machines (``query_id``, ``doc_id``, ``relevance``) for the loop, of any part of the pairs; they never
        count as grades. Their unit is the highest label. Those of all `topics` decide how far they agree with BM25.
    notice
        Called at the end with notices of what was left out: relevant documents outside the collection, and topics with
        too few relevant documents; and of documents without a grade, if they count as not relevant.

    Raises
    ------
    InputError
        No documents, or a document id or a labelled pair twice.
    """
    topics, qrels = TOPICS.check(topics, "a simulation"), QRELS.check(qrels, "a simulation")
    listed = list(documents)
    if not listed:
        raise InputError("documents: expected at least one to simulate with, found none")
    ids = pd.Index(pd.Series([d.doc_id for d in listed], dtype="str"))
    if not ids.is_unique:
        raise InputError(
            f"documents: expected each id once, found {ids[ids.duplicated()][0]!r} twice; remove one of them"
        )
    texts = [None if d.text is None else f"{d.title} {d.text}" for d in listed]
    evidence = _by_topic(pooling.evidence(runs)) if len(runs) else {}
    entries = [pooling.STRATEGIES[name] for name in pools]
    chosen = {entry.name: _by_topic(entry.whole_pool(runs)) for entry in entries if not entry.adaptive}
    adaptive = any(entry.adaptive for entry in entries)
    graded = _by_topic(qrels)
    highest, labelled = _read_labels(labels)
    missing, too_few, ungraded, every = 0, 0, 0, 0
    matrix = features.build(texts) if labelled else None
    agreement = 0.0 if matrix is None else _measure_agreement(matrix, ids, to_topics(topics), labelled, evidence)
    for topic in to_topics(topics):
        query_id = topic.query_id
        judged = graded.get(query_id)
        if judged is None:
            continue
        inside = _in_scope(scope, query_id, ids, judged)
        doc_ids = ids if scope == "all" else ids[inside]
        grades = _spread(doc_ids, judged, "relevance").clip(min=0)
        if judged["relevance"].dtype.kind != "f":  # labels inferred from clicks have fractions
            grades = grades.astype(np.int64)
        number = int((grades >= level).sum())
        missing += int((judged["relevance"] >= level).sum()) - number
        if number < least:
            too_few += 1
            continue
        every += len(doc_ids)
        ungraded += len(doc_ids) - int(doc_ids.isin(judged.loc[judged["relevance"] >= 0, "doc_id"].astype("str")).sum())
        if scope != "all" or matrix is None:
            matrix = features.build([texts[row] for row in inside])
        allowed = np.array([texts[row] is not None for row in inside], dtype=np.bool_)
        yield Case(
            query_id,
            doc_ids,
            grades,
            Space(
                matrix,
                allowed,
                topic_text(topic),
                _spread_evidence(doc_ids, evidence.get(query_id)),
                _spread_labels(doc_ids, labelled.get(query_id), highest),
                agreement,
            ),
            {name: _places(doc_ids, frames.get(query_id)) for name, frames in chosen.items()},
            pooling.list_rankings(runs, query_id, doc_ids) if adaptive else [],
        )
    if notice is not None and ungraded:
        share = percent(ungraded / every)
        notice(f"{share} of the documents of a topic have no grade in the qrels and count as not relevant")
    if notice is not None and missing:
        notice(
            f"relevant documents of the qrels left out because they are outside the collection or scope: {missing:,}"
        )
    if notice is not None and too_few:
        few = "no document" if least == 1 else f"fewer than {least:,} documents"
        notice(f"topics of the qrels left out because they have {few} of grade {level} or above: {too_few:,}")


def _in_scope(scope: CaseScope, query_id: str, ids: pd.Index[str], judged: pd.DataFrame) -> Indices:
    """The positions of a topic's documents among the ids."""
    if scope == "judged":
        return np.flatnonzero(ids.isin(judged.loc[judged["relevance"] >= 0, "doc_id"].astype("str")))
    return np.arange(len(ids)) if scope == "all" else np.flatnonzero(ids.str.startswith(f"{query_id}-"))


def _read_labels(labels: pd.DataFrame | None) -> tuple[float, dict[str, pd.DataFrame]]:
    """Return the unit of the labels, and the labels of each topic."""
    if labels is None:
        return 1.0, {}
    labels = QRELS.check(labels, "a simulation")
    labels = labels[labels["relevance"] >= 0]
    pair = ["query_id", "doc_id"]
    if (twice := labels.duplicated(pair)).any():
        first = labels[twice].iloc[0]
        raise InputError(
            f"labels: expected each pair once, found document {first['doc_id']!r} of topic {first['query_id']!r} twice"
        )
    return float(labels["relevance"].max()) or 1.0, _by_topic(labels)


def _spread_evidence(doc_ids: pd.Index[str], ranked: pd.DataFrame | None) -> Evidence | None:
    """Return the evidence of a topic's runs; None if they have none of the documents."""
    if ranked is None:
        return None
    known = Evidence(*(_spread(doc_ids, ranked, column).astype(np.float32) for column in Evidence._fields))
    return known if known.fusion.any() else None


def _spread_labels(doc_ids: pd.Index[str], labels: pd.DataFrame | None, highest: float) -> Floats32 | None:
    """(documents,) labels as shares of the highest one, nan for documents without one; None without labels."""
    if labels is None:
        return None
    shares = labels.assign(relevance=labels["relevance"].astype("float64") / highest)
    return _spread(doc_ids, shares, "relevance", elsewhere=np.nan).astype(np.float32)


def _measure_agreement(
    matrix: features.FeatureMatrix,
    ids: pd.Index[str],
    topics: Iterable[Topic],
    labelled: dict[str, pd.DataFrame],
    evidence: dict[str, pd.DataFrame],
) -> float:
    """Return :func:`.measure_agreement` of the labels of all topics."""
    correlations = []
    for topic in topics:
        if topic.query_id in labelled:
            values = _spread(ids, labelled[topic.query_id], "relevance", elsewhere=np.nan)
            rows = np.flatnonzero(~np.isnan(values))
            ranked = evidence.get(topic.query_id)
            fusion = [] if ranked is None else [_spread(ids, ranked, "fusion")[rows]]
            words = matrix.bm25(topic_text(topic), index=rows)
            if found := correlate(values[rows], words, *fusion):
                correlations.append(found)
    return measure_agreement(correlations)


def _by_topic(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(query_id): part for query_id, part in frame.groupby("query_id", sort=False, observed=True)}


def _places(doc_ids: pd.Index[str], frame: pd.DataFrame | None) -> Indices:
    if frame is None:
        return np.zeros(0, dtype=np.int64)
    places = doc_ids.get_indexer(pd.Index(frame["doc_id"].astype(str)))
    return places[places >= 0]


def _spread(doc_ids: pd.Index[str], frame: pd.DataFrame, column: str, elsewhere: float = 0.0) -> np.ndarray:
    """(documents,) values of a column at its documents."""
    places = doc_ids.get_indexer(pd.Index(frame["doc_id"].astype(str)))
    wide = np.full(len(doc_ids), elsewhere)
    wide[places[places >= 0]] = frame[column].to_numpy(dtype=np.float64)[places >= 0]
    return wide
