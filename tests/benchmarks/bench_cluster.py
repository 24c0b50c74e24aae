"""What partitions on a Dask cluster cost beside one piece in this process.

Documents are generated (seeded): 45 to 135 words, whose frequencies follow Zipf's law (1 / rank) over 200,000 words.
The cluster is a LocalCluster of two processes with one thread each, so on one machine there is no network, and the
local run counts with two processes too. Measured with 1, 2 and 4 partitions:

- build: texts in Parquet files (in memory for the local run) to features, once;
- round: one call of `rank` as a training round makes it, 30,000 weights that are not 0, the best 100 of all documents,
  200 documents apart; the median of `--turns`, and its ratio to that of the local run, measured in turns with it;
- rows: 300 rows for the examples of a round;
- sent, received: bytes of a round's arguments and results, pickled;
- features: bytes of all partitions, and of the vocabulary with its idf, which every worker and this process hold.

Then `evaluate` of 400 runs, ten times the 40 of evaluation_files.py, and `simulate` on Cranfield where ../shared/data
has it, both on two workers beside this process, which is held to one core meanwhile (on Linux).

All results are compared with the local ones, bit for bit.

    python tests/benchmarks/bench_cluster.py [--documents 100000] [--turns 15]
"""

import argparse
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from collection import formats  # noqa: E402
from collection.active_learning.features import Cluster, FeatureMatrix, build  # noqa: E402
from collection.active_learning.features.cluster import write_partitions  # noqa: E402
from collection.cli.evaluate import evaluate_files  # noqa: E402
from collection.measures import as_measures  # noqa: E402
from collection.simulation import cases, simulate  # noqa: E402
from tests.benchmarks.evaluation_files import dense  # noqa: E402
from tests.benchmarks.ratios import Row, keep  # noqa: E402

CRANFIELD = ROOT.parent / "shared" / "data" / "cranfield"
MEASURES = ("AP", "RR", "P@10", "R@1000", "nDCG@10")
VOCABULARY, WEIGHTS, BEST, APART, EXAMPLES = 200_000, 30_000, 100, 200, 300


def generate(documents: int) -> list[str]:
    """Texts of about 90 words."""
    rng = np.random.default_rng(7)
    words = np.array([np.base_repr(rank + 36, 36).lower() for rank in range(VOCABULARY)], dtype=object)
    share = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    lengths = rng.integers(45, 136, documents)
    drawn = iter(words[np.searchsorted(share / share[-1], rng.random(int(lengths.sum())))].tolist())
    return [" ".join([next(drawn) for _ in range(length)]) for length in lengths.tolist()]


def stored_bytes(features: FeatureMatrix) -> int:
    """Bytes of the arrays of a partition, without the vocabulary."""
    blocks: tuple[Any, ...] = features.blocks
    arrays = ("indptr", "indices", "values", "counts", "lengths")
    return sum(getattr(block, name).nbytes for block in blocks for name in arrays)


def vocabulary_bytes(features: FeatureMatrix) -> int:
    """Bytes of the terms, pickled, and of their frequencies."""
    blocks: tuple[Any, ...] = features.blocks
    return sum(len(pickle.dumps(block.terms, protocol=5)) + block.frequency.nbytes for block in blocks)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


@contextmanager
def one_core() -> Iterator[None]:
    """Hold all threads of this process to one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)

    def hold(which: set[int]) -> None:
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):  # it has ended
                os.sched_setaffinity(int(thread.name), which)

    hold({min(cores)})
    try:
        yield
    finally:
        hold(cores)


def main() -> None:
    """Print a table."""
    from distributed import LocalCluster

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=15)
    arguments = parser.parse_args()
    documents = arguments.documents
    texts = generate(documents)
    seconds, local = timed(lambda: build(texts, blocks=["words"], processes=2))
    rng = np.random.default_rng(1)
    weights = np.zeros(local.width, np.float32)
    weights[rng.choice(local.width, min(WEIGHTS, local.width), replace=False)] = 1
    weights *= rng.standard_normal(local.width).astype(np.float32)
    apart, index = np.sort(rng.choice(documents, APART, replace=False)), rng.integers(0, documents, EXAMPLES)
    among = np.ones(documents, np.bool_)

    def rank(features: FeatureMatrix) -> Any:
        return features.rank(weights, BEST, among, apart)

    rounds = statistics.median(timed(lambda: rank(local))[0] for _ in range(arguments.turns))
    fetched = statistics.median(timed(lambda: local.rows(index))[0] for _ in range(arguments.turns))
    print(f"{documents:,} documents, {local.width:,} terms")
    print(f"features {stored_bytes(local):,} bytes, vocabulary {vocabulary_bytes(local):,} bytes")
    print(f"{'':<12}{'build':>10}{'ratio':>8}{'round':>11}{'ratio':>8}{'rows':>11}{'sent':>12}{'received':>11}")
    print(f"{'local':<12}{seconds:>8.1f} s{1:>8.2f}{1000 * rounds:>8.1f} ms{1:>8.2f}{1000 * fetched:>8.1f} ms")
    wanted = rank(local)
    for partitions in (1, 2, 4):
        with (
            tempfile.TemporaryDirectory() as scratch,
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        ):
            pairs = ((str(number), text) for number, text in enumerate(texts))
            folder, _ = write_partitions(Path(scratch).as_uri(), pairs, rows=-(-documents // partitions))
            cluster = Cluster(workers.scheduler_address, folder, ["words"])
            made, features = timed(cluster.open_features)
            here, there, lines = [], [], []
            found = rank(features)
            for _ in range(arguments.turns):
                here.append(timed(lambda: rank(local))[0])
                there.append(timed(lambda: rank(features))[0])  # noqa: B023
                lines.append(timed(lambda: features.rows(index))[0])  # noqa: B023
            same = all(np.array_equal(a, b) for a, b in zip(wanted[:3], found[:3], strict=True))
            assert same, "the ranking differs"
            assert wanted.moments == found.moments
            assert (local.rows(index) != features.rows(index)).nnz == 0
            sent, received = traffic(features, rank)
            cluster.close()
        here_ms, there_ms, rows_ms = (1000 * statistics.median(times) for times in (here, there, lines))
        print(
            f"{f'{partitions} on Dask':<12}{made:>8.1f} s{made / seconds:>8.2f}{there_ms:>8.1f} ms"
            f"{there_ms / here_ms:>8.2f}{rows_ms:>8.1f} ms{sent:>12,}{received:>11,}"
        )
        size, beside = f"{documents:,} documents, {partitions} on Dask", "local run, times as long"
        keep(Row("cluster: features", size, f"{made:.1f} s", f"{made / seconds:.2f}", beside))
        keep(Row("cluster: round", size, f"{there_ms:.1f} ms", f"{there_ms / here_ms:.2f}", beside))
    spread(min(5, arguments.turns))


def spread(turns: int) -> None:
    """Evaluate and simulate here and on two workers."""
    from distributed import LocalCluster

    with (
        tempfile.TemporaryDirectory() as scratch,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
    ):
        dense(Path(scratch))
        qrels = formats.read_index(Path(scratch) / "dense.qrels")
        for path in list(Path(scratch).glob("*.run")):
            for copy in range(1, 10):
                os.link(path, path.with_stem(f"{path.stem}-{copy}"))
        runs = sorted(Path(scratch).glob("*.run"))
        measures = as_measures(MEASURES)
        jobs: dict[tuple[str, str], Callable[[str | None], Any]] = {
            ("evaluate", "400 runs, 20,000,000 lines"): lambda address: (
                evaluate_files(list(map(formats.Source, runs)), qrels, measures, cluster=address).values
            )
        }
        if CRANFIELD.exists():
            topics = formats.read_topics(CRANFIELD / "topics.jsonl")[:20]
            known = formats.read_qrels(CRANFIELD / "qrels.txt")
            documents = [document for _, document in formats.read_documents(CRANFIELD / "documents.jsonl.gz")]
            ready = list(cases(iter(documents), topics, known))
            jobs["simulate", "Cranfield, 20 topics"] = lambda address: simulate(ready, cluster=address).curves
        for (what, size), job in jobs.items():
            job(workers.scheduler_address)  # connects, and sends what is sent once
            taken: dict[str | None, list[float]] = {None: [], workers.scheduler_address: []}
            for _ in range(turns):
                found = []
                for address, times in taken.items():
                    with one_core() if address is None else nullcontext():
                        seconds, result = timed(lambda: job(address))  # noqa: B023
                    times.append(seconds)
                    found.append(result)
                assert found[0].equals(found[1]), f"{what} differs"
            here, there = taken.values()
            ratio = statistics.median(b / a for a, b in zip(here, there, strict=True))
            print(f"{what}, {size}: {statistics.median(here):.2f} s on one core here, {ratio:.2f} times on two workers")
            figure = f"{statistics.median(there):.2f} s"
            keep(Row(f"cluster: {what}", size, figure, f"{ratio:.2f}", "local run on one core, times as long"))


def traffic(features: Any, rank: Callable[[FeatureMatrix], Any]) -> tuple[int, int]:
    """Bytes of the arguments and results of a round."""
    run, sizes = features._run, [0, 0]

    def measure(function: Callable[..., Any], asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        found: dict[int, Any] = run(function, asked)
        sizes[0] += len(pickle.dumps(list(asked.values()), protocol=5))
        sizes[1] += len(pickle.dumps(found, protocol=5))
        return found

    features._run = measure
    rank(features)
    return sizes[0], sizes[1]


if __name__ == "__main__":
    main()
