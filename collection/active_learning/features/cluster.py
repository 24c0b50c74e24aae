"""Partitions of documents on a Dask cluster (extra ``cluster``): Parquet files, read by the worker that counts them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count as count_up, islice
from typing import Any, TypeVar

from collection.active_learning.features.assembly import count_texts, made_blocks
from collection.active_learning.features.matrix import FeatureMatrix
from collection.active_learning.features.partitions import (
    CountedPartition,
    PartitionedMatrix,
    merge_vocabularies,
    vocabularies_of,
    weigh_partition,
    without_documents,
)
from collection.active_learning.features.storage import Report
from collection.cluster import Workers, require_module
from collection.core.errors import FormatError

T = TypeVar("T")

PARTITION_ROWS = 50_000
"""Documents in a partition."""

ANSWER_SECONDS = 30
"""Without an answer of a worker after so long, the scheduler is asked in its place."""


def write_partitions(
    target: str, texts: Iterable[tuple[str, str | None]], rows: int = PARTITION_ROWS
) -> tuple[str, int]:
    """Write ids and texts as Parquet files of `rows` documents each; return their new folder in `target`, and a count.

    `target` is any path that fsspec knows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fsspec = require_module("fsspec")
    folder = f"{target.rstrip('/')}/documents-{secrets.token_hex(4)}"
    system, root = fsspec.core.url_to_fs(folder)
    system.makedirs(root, exist_ok=True)
    documents = 0
    remaining = iter(texts)
    for number in count_up():
        batch = list(islice(remaining, rows))
        if not batch:
            break
        documents += len(batch)
        ids, contents = zip(*batch, strict=True)
        with system.open(f"{root}/part-{number:06}.parquet", "wb") as file:
            pq.write_table(
                pa.table({"doc_id": pa.array(ids, pa.string()), "text": pa.array(contents, pa.string())}), file
            )
    return folder, documents


def write_to_cluster(address: str, target: str, texts: Iterable[tuple[str, str | None]]) -> Report:
    """Write partitions to a new folder of `target` for the cluster at `address`; the fingerprint is the folder.

    Raises ClusterError, before anything is written, if the cluster cannot be reached.
    """
    begin = time.perf_counter()
    Workers(address).check()
    folder, documents = write_partitions(target, texts)
    return Report(documents, documents, documents, time.perf_counter() - begin, folder)


def count_partition(path: str, blocks: Sequence[str], bigrams: bool) -> CountedPartition:
    """Read a partition and count its terms."""
    import pyarrow.parquet as pq

    with require_module("fsspec").open(path, "rb") as file:
        texts = pq.read_table(file, columns=["text"])["text"].to_pylist()
    return count_texts(texts, blocks, bigrams=bigrams, processes=1)


class _Holder:
    """The features of some partitions at a worker. A client asks it directly: in 2 ms, not in 10 by the scheduler."""

    def __init__(self, numbers: Sequence[int], *features: FeatureMatrix) -> None:
        self.features = dict(zip(numbers, features, strict=True))

    def call(self, function: Callable[..., T], arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, T]:
        """Call a function with the features of some of the partitions and the arguments of each."""
        return {number: function(self.features[number], *given) for number, given in arguments.items()}


def _size(counted: CountedPartition) -> int:
    rows, _ = next(iter(counted.values()))
    return len(rows.lengths)


class Cluster(Workers):
    """The partitions of a folder on the workers of a Dask cluster.

    Raises
    ------
    ClusterError, InputError
        As :class:`.Workers`.
    FormatError
        The folder has no partitions.
    """

    def __init__(self, address: str, folder: str, blocks: Sequence[str], bigrams: bool = False) -> None:
        super().__init__(address)
        self.folder, self.blocks, self.bigrams = folder, tuple(blocks), bigrams
        self._parts: list[Any] = []
        self._holders: list[tuple[list[int], Any]] = []
        """Numbers of partitions, and who holds them."""

    def open_features(self, fingerprint: str = "") -> PartitionedMatrix:
        """Make the features at the workers, or find those that another client has made."""
        known, sizes = self._call(self._build)
        return PartitionedMatrix(known, sizes, self.run, fingerprint)

    def run(self, function: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a function with the features of some partitions and the arguments of each."""

        def ask() -> dict[int, Any]:
            if not self._parts:
                self._build()
            try:
                if not self._holders:
                    self._hold()
                asked = [({n: arguments[n] for n in own if n in arguments}, holder) for own, holder in self._holders]
                answers = [holder.call(function, given) for given, holder in asked if given]
                return {n: found for answer in answers for n, found in answer.result(timeout=ANSWER_SECONDS).items()}
            except Exception:  # a worker is lost; otherwise the scheduler's answer is the same error
                self._holders = []
            submit = self._client.submit
            futures = [submit(function, self._parts[n], *given, pure=False) for n, given in arguments.items()]
            return dict(zip(arguments, self._results(futures), strict=True))

        return self._call(ask)

    def close(self) -> None:
        """Leave the cluster, which then forgets the features."""
        self._parts, self._holders = [], []
        super().close()

    def _hold(self) -> None:
        """Let each worker that has the features of partitions answer directly."""
        owners = self._client.who_has(self._parts)
        held: dict[str, list[int]] = {}
        for number, part in enumerate(self._parts):
            held.setdefault(min(owners[part.key]), []).append(number)
        submit = self._client.submit
        holders = [
            submit(_Holder, numbers, *(self._parts[n] for n in numbers), actor=True, workers=[worker])
            for worker, numbers in held.items()
        ]
        self._holders = list(zip(held.values(), self._results(holders), strict=True))

    def _build(self) -> tuple[Any, list[int]]:
        system, root = require_module("fsspec").core.url_to_fs(self.folder)
        paths = [system.unstrip_protocol(path) for path in sorted(system.glob(f"{root}/*.parquet"))]
        if not paths:
            raise FormatError(self.folder, None, "Parquet files of documents", "none")
        # Equal calls have equal keys, so that several clients share one copy.
        submit, blocks = self._client.submit, made_blocks(self.blocks)
        counted = [submit(count_partition, path, blocks, self.bigrams) for path in paths]
        merged = submit(merge_vocabularies, [submit(vocabularies_of, part) for part in counted])
        parts = [submit(weigh_partition, part, merged, self.blocks, self.bigrams) for part in counted]
        sizes = [submit(_size, part) for part in counted]
        known, *numbers = self._results([submit(without_documents, merged, self.blocks, self.bigrams), *sizes])
        self._results(parts, needed=False)
        self._parts = parts
        return known, numbers
