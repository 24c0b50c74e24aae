"""Alignment of runs with qrels: the one place where ids are matched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core import arrow
from collection.core.arrays import Integers, Ints, distinct
from collection.core.errors import InputError
from collection.core.ranking import Doubts, doubt_run, rank_run
from collection.core.threads import map_ahead
from collection.measures.aligned import UNJUDGED, UNPOOLED, Aligned, Grades, Sample, Subtopics, Version, grade_levels
from collection.measures.qrels_index import QrelsIndex, as_grades, index_qrels, stack_by_topic

if TYPE_CHECKING:
    import pandas as pd


def align(run: pd.DataFrame, qrels: pd.DataFrame | QrelsIndex, *, version: Version = 10) -> Aligned:
    """Align a run with its qrels.

    The run is sorted in trec_eval's order first (score descending, ties by document id descending; a rank column is
    ignored). Negative grades are unjudged. Topics of the qrels that the run lacks stay as empty rows.

    Parameters
    ----------
    run
        :data:`collection.core.frames.SCORES`; fastest with ``query_id`` categorical and ``doc_id`` of type str.
    qrels
        :data:`.QRELS`, one row per pair, or :func:`index_qrels` of it. With ``subtopic`` one row per
        pair and subtopic; the grade of the pair is the highest of them. With ``stratum`` or ``probability`` (of being
        judged) the qrels are a sample, which xinfAP and infNDCG read.
    version
        9 compares scores as trec_eval 9 does, as 32-bit floats: more of them are equal.

    Raises
    ------
    ColumnsError
        A frame lacks a column.
    InputError
        A missing id, a grade that is no number, a judged document twice in a topic of the run, a row without its
        stratum or probability, or a probability that is not above 0 and at most 1.
    """
    return look_up(run, qrels if isinstance(qrels, QrelsIndex) else index_qrels(qrels), version).whole()


def look_up(run: pd.DataFrame, index: QrelsIndex, version: Version) -> LookedUp:
    """Look up the documents of a run in qrels; parameters and errors are those of :func:`align`."""
    ranked = rank_as(run, version)
    # A ranked run has each topic in one piece, so that topics are looked up once per piece, not per row.
    rank = ranked["rank"].to_numpy()
    starts = np.flatnonzero(rank == 1)
    run_topics = ranked["query_id"].iloc[starts].astype("str").tolist()
    return look_up_rows(
        index,
        run_topics,
        np.diff(starts, append=len(rank)),
        _among(ranked["doc_id"], index.documents),
        doubt_run(ranked),
        lambda rows: ranked["doc_id"].iloc[rows].astype("str").tolist(),
        version,
    )


def look_up_rows(
    index: QrelsIndex,
    run_topics: list[str],
    retrieved: Ints,
    doc_of_row: Integers,
    doubts: Doubts,
    doc_ids: Callable[[Ints], list[str]],
    version: Version = 10,
) -> LookedUp:
    """Look up the pairs of a ranked run whose documents were looked up.

    Parameters
    ----------
    run_topics, retrieved
        The topics in the order of the run, and the number of documents of each.
    doc_of_row
        (N,): the place of each document of the run in ``index.documents``, or -1.
    doubts
        As :class:`Aligned` has them.
    doc_ids
        Gives the ids of rows: the first :data:`SAMPLED_ROWS`, or any of a run of up to :data:`SMALL` rows.
    """
    import pandas as pd

    ends = np.cumsum(retrieved)
    # Only rows whose document is judged for some topic matter: in a run they are few.
    rows = np.flatnonzero(doc_of_row >= 0)
    counts = np.diff(np.searchsorted(rows, ends), prepend=0)
    pair = _find_pairs(index, index.places(run_topics), counts, doc_of_row[rows])
    named = pair >= 0
    rows, place, pair = rows[named], np.repeat(np.arange(len(counts)), counts)[named], pair[named]
    if np.bincount(pair).max(initial=0) > 1:
        again = int(pd.Series(pair).duplicated().to_numpy().argmax())
        document, topic = index.documents[int(doc_of_row[rows[again]])].as_py(), run_topics[int(place[again])]
        found = f"{document!r} of topic {topic!r} twice; name the runs in a column run if there are several"
        raise InputError(f"ranking: expected each document once, found {found}")
    rank = rows - (ends - retrieved)[place] + 1
    unnamed = sample_unnamed(len(doc_of_row), rows, doc_ids)
    return join_parts(index, [RunPart(run_topics, retrieved, rank, pair, doubts, unnamed)], version)


DOCUMENTS_FOR_TABLE = 500
"""Documents per topic from which a table of all documents, filled for each topic, is faster than a binary search."""


def _find_pairs(index: QrelsIndex, topics: Ints, counts: Ints, docs: Integers) -> Ints:
    """(N,): the place in ``index.pairs`` of each pair, or -1.

    `topics` are places among those of the qrels, or -1, `counts` the number of documents of each, and `docs`, (N,), the
    places of these documents, topic by topic.
    """
    width = max(1, len(index.documents))
    pair = np.full(len(docs), -1, dtype=np.int64)
    if len(docs) < DOCUMENTS_FOR_TABLE * len(topics):
        wanted = np.repeat(topics, counts) * width + docs
        place = np.searchsorted(index.pairs, wanted)
        named = np.append(index.pairs, -1)[place] == wanted
        pair[named] = place[named]
        return pair
    place_of = np.full(width, -1, dtype=np.int64)
    begins = np.searchsorted(index.pairs, np.arange(len(index.topics) + 1) * width)
    for topic, (begin, end) in zip(topics.tolist(), pairwise([0, *np.cumsum(counts).tolist()]), strict=True):
        if topic >= 0:
            first, last = begins[topic], begins[topic + 1]
            judged = index.pairs[first:last] - topic * width
            place_of[judged] = np.arange(first, last)
            pair[begin:end] = place_of[docs[begin:end]]
            place_of[judged] = -1
    return pair


SAMPLED_ROWS = 100
"""Rows of a run of which the documents that the qrels do not name are kept for notes."""

SMALL = 20_000
"""Rows of a run of which all are."""


def sample_unnamed(
    count: int, named: Ints, doc_ids: Callable[[Ints], list[str]], further: Ints | None = None
) -> tuple[str, ...]:
    """Some documents among `count` rows that are not in the rows `named`; `doc_ids` gives the ids of rows.

    `further` are rows whose ids are more likely to be misspelt.
    """
    is_named = np.zeros(count, dtype=np.bool_)
    is_named[named] = True
    rows = np.arange(count if count <= SMALL else SAMPLED_ROWS)
    if further is not None:
        rows = distinct(np.concatenate([rows, further[:SMALL]]))
    return tuple(dict.fromkeys(doc_ids(rows[~is_named[rows]])))


class RunPart(NamedTuple):
    """Whole topics of a ranked run whose documents were looked up in qrels.

    Attributes
    ----------
    topics, retrieved
        P topics in the order of the run, and (P,) the number of documents of each.
    rank, pair
        (F,) each: rank from 1, and place in ``QrelsIndex.pairs``, of every document of the run that the qrels name.
    doubts, unnamed
        As :class:`Aligned` has them.
    """

    topics: list[str]
    retrieved: Ints
    rank: Integers
    pair: Ints
    doubts: Doubts = Doubts()
    unnamed: tuple[str, ...] = ()


MOST_CELLS = 1 << 23
"""Cells of the matrices of topics that are evaluated at a time: 8,000 topics of 1,000 documents."""


@dataclass(frozen=True)
class LookedUp:
    """A run whose documents were looked up in qrels of T topics: few arrays, however long the run is.

    Attributes
    ----------
    index, version
        The qrels, and the version of trec_eval whose order the ranks have.
    topic, rank, pair
        (F,) each: place among the T topics, rank from 1, and place in ``QrelsIndex.pairs``, of every document of the
        run that the qrels name.
    retrieved, ignored_topics, doubts, unnamed
        As :class:`Aligned` has them.
    """

    index: QrelsIndex
    version: Version
    topic: Ints
    rank: Integers
    pair: Ints
    retrieved: Ints
    ignored_topics: list[str]
    doubts: Doubts
    unnamed: tuple[str, ...]

    @cached_property
    def missing_topics(self) -> list[str]:
        """Topics of the qrels for which the run has no document."""
        return [self.index.topics[place] for place in np.flatnonzero(self.retrieved == 0).tolist()]

    def whole(self) -> Aligned:
        """All topics at once."""
        aligned = self._place(slice(0, len(self.retrieved)), slice(None))
        return replace(aligned, ignored_topics=self.ignored_topics, doubts=self.doubts, unnamed=self.unnamed)

    def pieces(self) -> Iterator[Aligned]:
        """Whole topics in the order of the qrels, at most :data:`MOST_CELLS` cells at a time unless a topic has more.

        Only :meth:`whole` has `ignored_topics`, `doubts` and `unnamed`.
        """
        order = np.argsort(self.topic, kind="stable")
        begins = [0, *_find_cuts(self.retrieved), len(self.retrieved)]
        ends = np.searchsorted(self.topic[order], begins)
        for (begin, end), (first, last) in zip(pairwise(begins), pairwise(ends.tolist()), strict=True):
            yield self._place(slice(begin, end), order[first:last])

    def _place(self, topics: slice, some: slice | Ints) -> Aligned:
        return place_pairs(
            self.index,
            topics,
            self.topic[some] - topics.start,
            self.rank[some],
            self.pair[some],
            topics=self.index.topics[topics],
            retrieved=self.retrieved[topics],
            ignored_topics=[],
            version=self.version,
        )


def _find_cuts(retrieved: Ints) -> Iterator[int]:
    """The topics at which the next piece begins."""
    if len(retrieved) * int(retrieved.max(initial=0)) <= MOST_CELLS:
        return
    begin = deepest = 0
    for topic, depth in enumerate(retrieved.tolist()):
        deepest = max(deepest, depth)
        if topic > begin and (topic + 1 - begin) * deepest > MOST_CELLS:
            yield topic
            begin, deepest = topic, depth


def join_parts(index: QrelsIndex, parts: Sequence[RunPart], version: Version) -> LookedUp:
    """Join a run that comes in parts; each topic must be in one of them."""
    names = list(chain.from_iterable(part.topics for part in parts))
    place = index.places(names)
    known = place >= 0
    retrieved = np.zeros(len(index.topics), dtype=np.int64)
    retrieved[place[known]] = np.concatenate([part.retrieved for part in parts])[known]
    pair = np.concatenate([part.pair for part in parts])
    return LookedUp(
        index,
        version,
        index.pairs[pair] // max(1, len(index.documents)),
        np.concatenate([part.rank for part in parts]),
        pair,
        retrieved,
        [name for name, is_known in zip(names, known.tolist(), strict=True) if not is_known],
        Doubts.merge([part.doubts for part in parts]),
        tuple(chain.from_iterable(part.unnamed for part in parts)),
    )


def place_pairs(
    index: QrelsIndex,
    of_index: slice | list[int],
    topic: Ints,
    rank: Integers,
    pair: Ints,
    *,
    topics: list[str],
    retrieved: Ints,
    ignored_topics: list[str],
    version: Version,
) -> Aligned:
    """Align a run whose documents were looked up in the qrels.

    Parameters
    ----------
    of_index
        The T topics, as places in `index`.
    topic, rank, pair
        (F,) each: place among the T topics, rank from 1, and place in ``index.pairs`` of every document of the run that
        the qrels name.
    topics, retrieved, ignored_topics, version
        As :class:`Aligned` has them.
    """
    shape = (len(retrieved), int(retrieved.max(initial=0)))

    def cells(of_pair: Grades, empty: int) -> Grades:
        """A (T, D, ...) matrix of what each pair has; `empty` where there is no pair."""
        filled = np.full((*shape, *of_pair.shape[1:]), empty, dtype=of_pair.dtype)
        filled[topic, rank - 1] = of_pair[pair]
        return filled

    sample, known = index.sample, index.known
    if sample is not None and index.stratum is not None:
        sample = Sample(
            cells(index.stratum, -1),
            sample.size[of_index],
            sample.judged[of_index],
            sample.graded[of_index],
            sample.listed,
        )
    subtopics = None
    if index.subtopics is not None and known is not None:
        subtopics = Subtopics(cells(index.subtopics, UNJUDGED), known[of_index])
    return Aligned(
        topics=topics,
        grades=cells(index.grade, UNPOOLED),
        retrieved=retrieved,
        judged=index.judged[of_index],
        levels=index.levels,
        ignored_topics=ignored_topics,
        sample=sample,
        subtopics=subtopics,
        version=version,
    )


def rank_as(run: pd.DataFrame, version: Version) -> pd.DataFrame:
    """Rank the run as that trec_eval does: version 9 compares scores as 32-bit floats."""
    ranked = rank_run(run)
    if version == 9:
        with np.errstate(over="ignore"):  # beyond their range lies infinity, as in C
            ranked = rank_run(ranked.assign(score=ranked["score"].to_numpy().astype(np.float32)))
    return ranked


def from_grades(rankings: Sequence[Sequence[float | None]], judged: Sequence[Sequence[float]] | None = None) -> Aligned:
    """Write an :class:`Aligned` by hand, for lectures, tests and simulations; its topics are "1", "2", ...

    `rankings` have for each topic the grade at each rank, None for unjudged; `judged` for each topic the grades of all
    judged documents, in any order (those of its ranking if left out, so that nothing relevant was missed).

    >>> from_grades([[1, 0, 0, 3]], [[3, 2, 2, 0, 1, 0]]).relevant(rel=2).tolist()
    [3]
    """
    if judged is None:
        judged = [[g for g in ranking if g is not None] for ranking in rankings]
    if len(judged) != len(rankings):
        raise InputError(f"judged: expected the grades of {len(rankings)} topics, found {len(judged)}")
    lengths = np.array([len(r) for r in rankings], dtype=np.int64)
    flat = [UNPOOLED if g is None else g for ranking in rankings for g in ranking]
    grade = as_grades(np.array([*flat, *(g for some in judged for g in some)], dtype=np.float64), UNPOOLED)
    graded = np.repeat(np.arange(len(rankings)), [len(some) for some in judged])
    order = np.lexsort((-grade[len(flat) :], graded))
    order = order[grade[len(flat) :][order] > UNJUDGED]
    return Aligned(
        topics=[str(i + 1) for i in range(len(rankings))],
        grades=stack_by_topic(
            np.repeat(np.arange(len(rankings)), lengths), grade[: len(flat)], len(rankings), UNPOOLED
        ),
        retrieved=lengths,
        judged=stack_by_topic(graded[order], grade[len(flat) :][order], len(rankings), UNJUDGED),
        levels=grade_levels(grade),
        ignored_topics=[],
    )


LOOKED_UP_AT_ONCE = 1 << 20
"""Ids that one thread looks up at a time; arrow releases the interpreter meanwhile."""


def _among(column: pd.Series, names: Any) -> npt.NDArray[np.int32]:
    """(rows,): the place of each value among `names`, an arrow array, or -1."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return _among(column.cat.categories.to_series(), names)[column.cat.codes.to_numpy()]
    texts = arrow.from_column(column.astype("str"))
    parts = max(1, -(-len(texts) // LOOKED_UP_AT_ONCE))
    slices = (texts.slice(i * LOOKED_UP_AT_ONCE, LOOKED_UP_AT_ONCE) for i in range(parts))
    numbers = map_ahead(lambda part: find_texts(part, names), slices, min(parts, os.cpu_count() or 1))
    return np.concatenate(list(numbers))


def find_texts(texts: Any, names: Any) -> npt.NDArray[np.int32]:
    """(N,): the place of each text among `names`, both arrow arrays, or -1."""
    import pyarrow.compute as pc

    return pc.index_in(texts, value_set=names.cast(texts.type)).fill_null(-1).to_numpy()
