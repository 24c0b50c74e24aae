"""Runs with the keys of documents in place of their ids, by which they are aligned with qrels without reading texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core import arrow
from collection.core.arrays import Ints
from collection.core.ranking import Doubts, doubt_run, rank_run
from collection.core.records import Run
from collection.measures import Aligned, LookedUp, QrelsIndex, Version
from collection.measures.alignment import SAMPLED_ROWS, SMALL, look_up_rows
from collection.store import Store

DocumentKeys = npt.NDArray[np.int32]
"""Keys of documents, 0 for those that the campaign does not have."""


class CodedRun(NamedTuple):
    """A ranked run.

    Attributes
    ----------
    name
        Its name.
    topics, retrieved
        The topics in the order of the run, and the number of documents of each.
    docs, listed
        (N,) the keys of all documents, topic by topic: in the order of measures, and as the run lists them; the same
        array if these are the same.
    doubts
        About its order.
    first
        The ids of its first documents, for notes.
    """

    name: str
    topics: list[str]
    retrieved: Ints
    docs: DocumentKeys
    listed: DocumentKeys
    doubts: Doubts
    first: pd.Series[str]


@dataclass(frozen=True)
class KeyedRuns:
    """Runs to be looked up in qrels whose documents have these keys."""

    runs: Sequence[CodedRun]
    keys: Ints

    def look_up(self, index: QrelsIndex, version: Version) -> Iterator[tuple[str, LookedUp]]:
        """Look up one run after the other, each with its name."""
        place = self._place_documents()
        yield from ((run.name, _look_up(run, place[run.docs], index, version)) for run in self.runs)

    def align_both(self, index: QrelsIndex) -> Iterator[tuple[str, Aligned, Aligned]]:
        """Align each run as measures order it, and as it lists documents; twice the same if it is one order."""
        place = self._place_documents()
        for run in self.runs:
            aligned = listed = _look_up(run, place[run.docs], index).whole()
            if run.listed is not run.docs:
                listed = _look_up(run, place[run.listed], index).whole()
            yield run.name, aligned, listed

    def _place_documents(self) -> DocumentKeys:
        """The place of each document among those of the qrels, by key, or -1."""
        deepest = max((int(run.docs.max(initial=0)) for run in self.runs), default=0)
        place = np.full(max(deepest, int(self.keys.max(initial=0))) + 1, -1, dtype=np.int32)
        place[self.keys] = np.arange(len(self.keys))
        return place


def _look_up(run: CodedRun, docs: DocumentKeys, index: QrelsIndex, version: Version = 10) -> LookedUp:
    def find_ids(rows: Ints) -> list[str]:
        return run.first.iloc[rows].tolist()

    return look_up_rows(index, run.topics, run.retrieved, docs, run.doubts, find_ids, version)


def code_runs(store: Store, runs: Iterable[Run]) -> dict[str, CodedRun]:
    """Code runs, by name; their documents are looked up together, which takes less than for each run."""
    ranked: dict[str, pd.DataFrame] = {}
    as_listed: dict[str, pd.DataFrame] = {}
    for run in runs:
        ranked[run.name] = rank_run(run.frame)
        if (run.frame["listed"] != run.frame["rank"]).any():
            as_listed[run.name] = rank_run(run.frame.assign(score=-run.frame["listed"].to_numpy(dtype=np.float64)))
    frames = [*ranked.values(), *as_listed.values()]
    keys = store.corpus.keys_in([arrow.from_column(frame["doc_id"]) for frame in frames])
    listed = dict(zip(as_listed, keys[len(ranked) :], strict=True))
    coded = {}
    for (name, frame), docs in zip(ranked.items(), keys, strict=False):
        starts = np.flatnonzero(frame["rank"].to_numpy() == 1)
        coded[name] = CodedRun(
            name,
            frame["query_id"].iloc[starts].astype("str").tolist(),
            np.diff(starts, append=len(frame)).astype(np.int64),
            docs,
            listed.get(name, docs),
            doubt_run(frame),
            frame["doc_id"].iloc[: len(frame) if len(frame) <= SMALL else SAMPLED_ROWS].astype("str"),
        )
    return coded
