"""Partitions of documents on a Dask cluster (extra ``cluster``): Parquet files, read by the worker that counts them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import count as count_up
from itertools import islice
from typing import Any

from collection.active_learning.features.assembly import count_texts, made_blocks
from collection.active_learning.features.partitions import (
    Counted,
    PartitionedVectors,
    merge_vocabularies,
    vocabularies_of,
    weigh_partition,
    without_documents,
)
from collection.active_learning.features.storage import Report
from collection.errors import ClusterError, FormatError, InputError

PARTITION_ROWS = 100_000
"""Documents in a partition."""

CONNECT_SECONDS = 5
POLL_SECONDS, PATIENCE = 5, 3
"""Without a worker at so many looks in a row, the cluster has failed; one that was killed starts again sooner."""


def write_partitions(
    target: str, texts: Iterable[tuple[str, str | None]], rows: int = PARTITION_ROWS
) -> tuple[str, int]:
    """Write ids and texts as Parquet files of `rows` documents each; return their new folder in `target`, and a count.

    `target` is any path that fsspec knows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fsspec = _installed("fsspec")
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
    Cluster(address, "", ()).check()
    folder, documents = write_partitions(target, texts)
    return Report(documents, documents, documents, time.perf_counter() - begin, folder)


def count_partition(path: str, made: Sequence[str], bigrams: bool) -> Counted:
    """Read a partition and count its terms."""
    import pyarrow.parquet as pq

    with _installed("fsspec").open(path, "rb") as file:
        texts = pq.read_table(file, columns=["text"])["text"].to_pylist()
    return count_texts(texts, made, bigrams=bigrams, processes=1)


def _size(counted: Counted) -> int:
    rows, _ = next(iter(counted.values()))
    return len(rows.lengths)


class Cluster:
    """The partitions of a folder on the workers of a Dask cluster.

    Dask makes the partitions of a lost worker again from their files. After a failure of the whole cluster, the next
    call connects again.

    Raises
    ------
    ClusterError
        By every method, where the cluster cannot be reached, has no workers, or cannot read the partitions.
    FormatError
        The folder has no partitions.
    InputError
        The extra ``cluster`` is not installed.
    """

    def __init__(self, address: str, folder: str, blocks: Sequence[str], bigrams: bool = False) -> None:
        self.address, self.folder, self.blocks, self.bigrams = address, folder, tuple(blocks), bigrams
        self._client: Any = None
        self._parts: list[Any] = []

    def open_vectors(self, fingerprint: str = "") -> PartitionedVectors:
        """Make the vectors at the workers, or find those that another client has made."""
        known, sizes = self._call(self._build)
        return PartitionedVectors(known, sizes, self.run, fingerprint)

    def run(self, function: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a function with the vectors of some partitions and the arguments of each."""

        def ask() -> dict[int, Any]:
            if not self._parts:
                self._build()
            submit = self._client.submit
            futures = [submit(function, self._parts[n], *given, pure=False) for n, given in arguments.items()]
            return dict(zip(arguments, self._results(futures), strict=True))

        return self._call(ask)

    def check(self) -> None:
        """Connect and leave again."""
        self._call(lambda: None)
        self.close()

    def close(self) -> None:
        """Leave the cluster, which then forgets the vectors."""
        client, self._client, self._parts = self._client, None, []
        if client is not None:
            with suppress(Exception):
                client.close(timeout=1)

    def _call(self, ask: Callable[[], Any]) -> Any:
        distributed = _installed("distributed")
        try:
            if self._client is None:
                self._client = self._connect(distributed)
            with self._client.as_current():
                return ask()
        except (OSError, CancelledError, distributed.KilledWorker, ClusterError) as error:
            self.close()
            if isinstance(error, ClusterError):
                raise
            raise ClusterError(f"the cluster at {self.address} failed ({_told(error)})") from error

    def _connect(self, distributed: Any) -> Any:
        try:
            return distributed.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:  # no answer, or no address
            raise ClusterError(f"the cluster at {self.address} cannot be reached ({_told(error)})") from error

    def _build(self) -> tuple[Any, list[int]]:
        system, root = _installed("fsspec").core.url_to_fs(self.folder)
        paths = [system.unstrip_protocol(path) for path in sorted(system.glob(f"{root}/*.parquet"))]
        if not paths:
            raise FormatError(self.folder, None, "Parquet files of documents", "none")
        # Equal calls have equal keys, so that several clients share one copy.
        submit, made = self._client.submit, made_blocks(self.blocks)
        counted = [submit(count_partition, path, made, self.bigrams) for path in paths]
        merged = submit(merge_vocabularies, [submit(vocabularies_of, part) for part in counted])
        parts = [submit(weigh_partition, part, merged, self.blocks, self.bigrams) for part in counted]
        sizes = [submit(_size, part) for part in counted]
        known, *numbers = self._results([submit(without_documents, merged, self.blocks, self.bigrams), *sizes])
        self._results(parts, here=False)
        self._parts = parts
        return known, numbers

    def _results(self, futures: list[Any], here: bool = True) -> list[Any]:
        """Wait for results as long as there are workers."""
        distributed, without = _installed("distributed"), 0
        while without < PATIENCE:
            try:
                distributed.wait(futures, timeout=POLL_SECONDS)
            except TimeoutError:
                if self._client.status == "closed":
                    break
                without = 0 if self._client.scheduler_info().get("workers") else without + 1
                continue
            if here:
                return list(self._client.gather(futures))
            failed = [future for future in futures if future.status != "finished"]
            return list(self._client.gather(failed))  # raises their error
        raise ClusterError(f"the cluster at {self.address} has no workers")


def _told(error: BaseException) -> str:
    if isinstance(error, CancelledError):
        return "connection lost"
    return (str(error) or type(error).__name__).strip().splitlines()[0]


def _installed(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"a cluster needs {module}: pip install 'cleverdon[cluster]'") from None
