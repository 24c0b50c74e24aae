"""How long a refresh of the learning loop takes beside one plain pass over the matrix, and how much memory.

The matrix is generated (seeded): documents of 100 terms each, terms that are the rarer the higher their number, as in
a text. A plain pass is `matrix @ weights` in scipy, float32, one core. A refresh is a round of the loop, from the
judgements to the next documents: 200 judged and 100 presumed rows out of the matrix, a fit on them, the scores of all
documents, the best 50 of the unjudged. Turns alternate, so that noise hits all alike; medians of the turns count, and
what they are beside the plain pass. Memory is the highest peak beyond the matrix, measured by the system.

    python tests/benchmarks/bench_refresh.py [--documents 1000000] [--turns 9]

It is all done twice: with what is installed, and, where that lacks numba, in an environment under .bench/ that has it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np

from collection.active_learning.features import FeatureMatrix, matvec
from collection.active_learning.training_round import Ranking, Recipe, Space, train_and_rank

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.ratios import Row, keep  # noqa: E402

FAST = ROOT / ".bench" / "fast"
TERMS = 100
VOCABULARY = 300_000
JUDGED, RELEVANT, NEXT = 200, 30, 50
POLL = 0.005


def generate(documents: int) -> Any:
    """Rows of length 1, terms with a frequency of about one over their number, rising within a row."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(7)
    indices = np.empty((documents, TERMS), np.int32)
    values = np.empty((documents, TERMS), np.float32)
    for first in range(0, documents, 50_000):
        rows = slice(first, min(documents, first + 50_000))
        uniform = rng.random((rows.stop - first, TERMS), dtype=np.float32)
        drawn = np.minimum(np.exp(uniform * np.log(VOCABULARY + 1.0)) - 1, VOCABULARY - 1)
        indices[rows] = np.sort(drawn.astype(np.int32), axis=1)
        weights = rng.random((rows.stop - first, TERMS), dtype=np.float32) * np.log(2 + indices[rows])
        values[rows] = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    indptr = np.arange(0, documents * TERMS + 1, TERMS, dtype=np.int32)
    return csr_matrix((values.ravel(), indices.ravel(), indptr), shape=(documents, VOCABULARY), copy=False)


def resident() -> int:
    """Bytes that this process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The most memory that is taken while something runs, beyond what there was; looked at every POLL seconds."""

    def __enter__(self) -> Self:
        self.before = self.highest = resident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(POLL):
            self.highest = max(self.highest, resident())

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def beyond(self) -> float:
        """Megabytes."""
        return (self.highest - self.before) / 1e6


def refresher(features: FeatureMatrix, threads: int) -> tuple[Callable[[], object], np.ndarray]:
    """A round of the loop; and its weights, for the plain pass to use the same."""
    judged = np.random.default_rng(8).choice(features.size, JUDGED, replace=False)
    grades = (np.arange(JUDGED) < RELEVANT).astype(np.int64)
    space = Space(features, np.ones(features.size, dtype=np.bool_))

    def refresh() -> Ranking:
        matvec.cores = lambda: threads
        return train_and_rank(space, judged, grades, Recipe(), 0, NEXT)

    model = refresh().model
    assert model is not None
    return refresh, model.weights


def with_numba(options: argparse.Namespace) -> None:
    """The same once more, in an environment that has numba."""
    python = FAST / "bin" / "python"
    if not python.exists():
        print("installing numba into .bench/fast ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", FAST], check=True)
        packages = ["numba", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow"]
        subprocess.run([python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *packages], check=True)
    command = [python, __file__, "--documents", str(options.documents), "--turns", str(options.turns)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


def main() -> None:
    """Generate, take turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=9)
    options = parser.parse_args()

    matrix = generate(options.documents)
    with Peak() as libraries:
        import_module("sklearn.svm")
        matvec.compiled()
    # Before all else, so that nothing has been taken and given back yet.
    with Peak() as peak:
        features = FeatureMatrix.of(matrix)
        refresher(features, 1)
    size = (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 1e6
    how = "numba" if matrix.nnz > matvec.SMALL and matvec.compiled() else "scipy"
    print(f"{options.documents:,} documents x {TERMS} terms of {VOCABULARY:,}: {size:,.0f} MB; {os.cpu_count()} cores")

    refreshes: dict[str, Callable[[], object]] = {}
    for threads in (1, 2):
        refresh, weights = refresher(features, threads)
        refreshes[f"refresh, {how}, {threads} thread{'s'[: threads - 1]}"] = refresh
    passes: dict[str, Callable[[], object]] = {"plain pass, scipy": lambda: matrix @ weights}
    for threads in (1, 2):
        name = f"pass, {how}, {threads} thread{'s'[: threads - 1]}"
        passes[name] = lambda threads=threads: features.scores(weights, threads=threads)
    expected = np.asarray(matrix @ weights)
    assert np.allclose(features.scores(weights), expected, atol=1e-4), "the scores are not those of the plain pass"

    work = passes | refreshes
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(options.turns):
        for name, step in work.items():
            begin = time.perf_counter()
            step()
            seconds[name].append(time.perf_counter() - begin)
    plain = seconds["plain pass, scipy"]
    print(f"{'':28}{'median ms':>10}{'of a pass':>10}{'from':>8}{'to':>8}")
    for name, taken in seconds.items():
        # Turn by turn against the pass beside it: what slows the machine down for a while slows both.
        ratio = statistics.median(t / p for t, p in zip(taken, plain, strict=True))
        median, least, most = (1000 * f(taken) for f in (statistics.median, min, max))
        print(f"{name:28}{median:10.1f}{ratio:10.2f}{least:8.1f}{most:8.1f}")
        if name in refreshes:
            keep(Row(name, f"{options.documents:,} documents", f"{median:.0f} ms", f"{ratio:.2f}", "plain scipy pass"))
    print(
        f"memory beyond the matrix at the first refresh: {peak.beyond:.0f} MB; libraries: {libraries.beyond:.0f} MB\n"
    )
    if how == "scipy" and matrix.nnz > matvec.SMALL:
        with_numba(options)


if __name__ == "__main__":
    main()
