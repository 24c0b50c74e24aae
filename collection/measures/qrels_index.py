"""Qrels prepared for the alignment of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from collection.core import arrow
from collection.core.arrays import Bools, Floats, Integers, Ints
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.id_matches import find_alike, loose_key
from collection.measures.aligned import UNJUDGED, Grades, Sample, compact_grades, grade_levels

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class QrelsIndex:
    """Qrels prepared by :func:`index_qrels` for any number of runs: T topics, P different pairs, S subtopics.

    Attributes
    ----------
    topics, documents
        The different ids, documents as an arrow array.
    highest
        The highest grade, also below 0.
    pairs
        (P,): topic * documents + document of each pair, ascending.
    grade
        (P,): the grade of each pair; UNJUDGED where it has none.
    judged, levels
        As :class:`collection.measures.Aligned` has them.
    stratum, sample
        (P,) the stratum of each pair, and what :class:`Sample` says of strata, where the qrels are a sample.
    subtopics, known
        (P, S) the grade of each pair for each subtopic and (T, most, S) the same by topic, where there are any.
    """

    topics: list[str]
    documents: Any
    highest: float
    pairs: Ints
    grade: Grades
    judged: Grades
    levels: tuple[float, ...]
    stratum: Ints | None
    sample: Sample | None
    subtopics: Grades | None
    known: Grades | None

    @cached_property
    def _row(self) -> dict[str, int]:
        return {topic: row for row, topic in enumerate(self.topics)}

    @property
    def has_judged(self) -> Bools:
        """(T,): whether a document of the topic is judged."""
        return np.count_nonzero(self.judged > UNJUDGED, axis=1) > 0

    @cached_property
    def sizes(self) -> Ints:
        """(T,): number of pairs of each topic."""
        return np.bincount(self.pairs // max(1, len(self.documents)), minlength=len(self.topics)).astype(np.int64)

    @cached_property
    def _by_loose_key(self) -> dict[str, str]:
        """The documents by :func:`collection.id_matches.loose_key`, those that are written so last."""
        documents = self.documents.to_pylist()
        return dict(zip(map(loose_key, documents), documents, strict=True)) | {d: d for d in documents}

    @cached_property
    def _in_lower_case(self) -> pa.Array | None:
        """The documents in lower case, or None if other differences do not count either in one of them."""
        return _lower_printable(self.documents)

    def find_alike(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of an id and the id of a document that differs only in writing; see :func:`.id_matches.find_alike`."""
        import pyarrow.compute as pc

        # A dictionary of half a million ids takes a second.
        own, known = _lower_printable(arrow.from_texts(ids)), self._in_lower_case
        # The few ids are the set that is looked up: to make one of all documents takes long.
        if own is not None and known is not None and not pc.any(pc.is_in(known, own)).as_py():
            return []
        return find_alike(ids, self._by_loose_key)

    def places(self, topics: Iterable[str]) -> Ints:
        """The place of each topic, or -1."""
        return np.array([self._row.get(topic, -1) for topic in topics], dtype=np.int64)


def _lower_printable(ids: pa.Array) -> pa.Array | None:
    """Ids in lower case, which is their loose key if all are printable ASCII without blanks, or else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.concat_arrays([ids.cast(pa.large_string())])  # in one piece, so that its buffer has no other texts
    written = np.frombuffer(ids.buffers()[2] or b"", dtype=np.uint8)[: pc.sum(pc.binary_length(ids)).as_py() or 0]
    return pc.ascii_lower(ids) if ((written >= ord("!")) & (written <= ord("~"))).all() else None


def index_qrels(qrels: pd.DataFrame) -> QrelsIndex:
    """Prepare qrels for :func:`collection.measures.align` of more than one run."""
    import pandas as pd

    qrels = QRELS.check(qrels)
    topic_of_qrel, topics = pd.factorize(qrels["query_id"].astype("str"))
    return index_pairs(
        list(topics), topic_of_qrel, arrow.from_column(qrels["doc_id"].astype("str")), qrels["relevance"], qrels
    )


def index_pairs(
    topics: list[str],
    topic_of_qrel: Integers,
    doc_ids: Any,
    relevance: npt.ArrayLike,
    qrels: pd.DataFrame | None = None,
) -> QrelsIndex:
    """Prepare qrels that are arrays of N rows.

    Parameters
    ----------
    topics, topic_of_qrel
        The different topics, and (N,) the place of each row's topic among them.
    doc_ids
        An arrow array of N texts.
    relevance
        (N,) grades.
    qrels
        The frame with the strata, probabilities or subtopics of the rows, if they have any.
    """
    encoded = doc_ids.dictionary_encode()
    doc_of_qrel = arrow.to_numpy(encoded.indices)
    return index_codes(topics, topic_of_qrel, encoded.dictionary, doc_of_qrel, relevance, qrels)


def index_codes(
    topics: list[str],
    topic_of_qrel: Integers,
    documents: Any,
    doc_of_qrel: Integers,
    relevance: npt.ArrayLike,
    qrels: pd.DataFrame | None = None,
) -> QrelsIndex:
    """Prepare qrels as :func:`index_pairs`, with the different `documents` and (N,) the place of each row's."""
    import pyarrow.compute as pc

    width = max(1, len(documents))
    pairs = topic_of_qrel.astype(np.int64) * width + doc_of_qrel
    pair_of_qrel = np.arange(len(pairs))
    if not (np.diff(pairs) > 0).all():
        pairs, pair_of_qrel = np.unique(pairs, return_inverse=True)
    values = np.asarray(relevance, dtype=np.float64)
    relevance = as_grades(values)
    grade = np.full(len(pairs), UNJUDGED, dtype=relevance.dtype)
    np.maximum.at(grade, pair_of_qrel, relevance)
    topic_of_pair = pairs // width
    order = np.lexsort((-grade, topic_of_pair))
    order = order[grade[order] > UNJUDGED]
    stratum = sample = subtopics = None
    if qrels is not None:
        stratum, sample = _strata(qrels, pair_of_qrel, topic_of_pair, order, len(topics))
        subtopics = _subtopics(qrels, relevance, topic_of_qrel, pair_of_qrel, len(pairs))
    known = None
    if subtopics is not None:
        # By descending id, since the first of equal documents goes into the ideal ranking.
        place = np.empty(len(documents), dtype=np.int64)
        place[arrow.to_numpy(pc.sort_indices(documents))] = np.arange(len(documents))
        by_id = np.lexsort((-place[pairs % width], topic_of_pair))
        known = stack_by_topic(topic_of_pair, subtopics[by_id], len(topics), UNJUDGED)
    return QrelsIndex(
        topics=topics,
        documents=documents,
        highest=float(values.max(initial=-np.inf)),
        pairs=pairs,
        grade=grade,
        judged=stack_by_topic(topic_of_pair[order], grade[order], len(topics), UNJUDGED),
        levels=grade_levels(grade),
        stratum=stratum,
        sample=sample,
        subtopics=subtopics,
        known=known,
    )


def as_grades(values: Floats, lowest: int = UNJUDGED) -> Grades:
    """Small integers where the grades allow it (the matrix is read many times); negatives are no grades."""
    if not (np.abs(values) < 2**31).all():
        wrong = values[~(np.abs(values) < 2**31)][0]
        raise InputError(f"grades: expected numbers below 2,147,483,648, found {wrong}; leave out unjudged pairs")
    values = np.where(values < 0, np.maximum(np.floor(values), lowest), values)
    return compact_grades(values)


def stack_by_topic(topic: Ints, values: Grades, topics: int, padding: int) -> Grades:
    """(T, most): the values of each topic, which come topic by topic, in a row of their own."""
    counts = np.bincount(topic, minlength=topics)
    column = np.arange(len(topic)) - np.repeat(np.cumsum(counts) - counts, counts)
    matrix = np.full((topics, int(counts.max(initial=0)), *values.shape[1:]), padding, dtype=values.dtype)
    matrix[topic, column] = values
    return matrix


def _strata(
    qrels: pd.DataFrame, pair_of_qrel: Ints, topic_of_pair: Ints, order: Ints, topics: int
) -> tuple[Ints | None, Sample | None]:
    """The stratum of each pair and what is known of the strata, where the qrels speak of them.

    `order` holds the judged pairs as Aligned.judged has them. The sample's ranks are for a run to fill in.
    """
    import pandas as pd

    name = "stratum" if "stratum" in qrels else "probability" if "probability" in qrels else None
    if name is None:
        return None, None
    codes, values = pd.factorize(qrels[name], sort=True)
    stratum = np.zeros(len(topic_of_pair), dtype=np.int64)
    stratum[pair_of_qrel] = codes
    strata = len(values)

    def counted(pairs: Ints) -> Floats:
        key = topic_of_pair[pairs] * strata + stratum[pairs]
        return np.bincount(key, minlength=topics * strata).reshape(topics, strata).astype(np.float64)

    judged = counted(order)
    if name == "stratum":
        size = counted(np.arange(len(topic_of_pair)))
    else:
        probability = np.asarray(values, dtype=np.float64)
        if not ((probability > 0) & (probability <= 1)).all():
            raise InputError("qrels: expected a probability of being judged above 0 and at most 1 in every row")
        size = judged / probability
    graded = stack_by_topic(topic_of_pair[order], stratum[order], topics, -1)
    return stratum, Sample(np.empty((topics, 0), np.int64), size, judged, graded, listed=name == "stratum")


def _subtopics(
    qrels: pd.DataFrame, relevance: Grades, topic_of_qrel: Integers, pair_of_qrel: Ints, pairs: int
) -> Grades | None:
    """(P, S): the grade of each pair for each subtopic, if the qrels have any; each topic counts its own from 0."""
    import pandas as pd

    if "subtopic" not in qrels:
        return None
    name = pd.factorize(qrels["subtopic"].astype("str"))[0]
    keys, subtopic = np.unique(topic_of_qrel * (name.max(initial=0) + 1) + name, return_inverse=True)
    topic_of_key = keys // (name.max(initial=0) + 1)
    subtopic = subtopic - np.searchsorted(topic_of_key, topic_of_qrel)
    grades: Grades = np.full((pairs, int(subtopic.max(initial=-1)) + 1), UNJUDGED, dtype=relevance.dtype)
    np.maximum.at(grades, (pair_of_qrel, subtopic), relevance)
    return grades
