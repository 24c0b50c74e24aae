"""Writes the runs and qrels that bench_evaluate.py reads: always the same ones.

python tests/benchmarks/evaluation_files.py FOLDER [LINES DEPTH]    # with LINES only one run, of DEPTH lines a topic
"""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
from pyarrow import csv

Matrix = np.ndarray
"""Most of what is here: a row a topic."""


def write(file: IO[bytes], columns: list[np.ndarray]) -> None:
    """Columns as lines, parted by blanks."""
    table = pa.table({str(place): column for place, column in enumerate(columns)})
    csv.write_csv(table, file, csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none"))


def write_qrels(file: IO[bytes], topics: np.ndarray, documents: np.ndarray, grades: np.ndarray) -> None:
    write(file, [topics, np.zeros(len(topics), int), documents, grades])


def write_run(file: IO[bytes], topics: np.ndarray, documents: Matrix, rng: np.random.Generator) -> None:
    """Documents are listed best first, and no two scores of a topic are alike, not even as 32-bit floats.

    Tools differ in how they order ties.
    """
    count, depth = documents.shape
    scores = np.cumsum(rng.integers(100, 40_000, size=documents.shape)[:, ::-1], axis=1)[:, ::-1] / 1e6
    words = [np.full(count * depth, word) for word in ("Q0", Path(file.name).stem)]
    ranks = np.tile(np.arange(1, depth + 1), count)
    write(file, [np.repeat(topics, depth), words[0], documents.ravel(), ranks, scores.ravel(), words[1]])


def different(rng: np.random.Generator, rows: int, columns: int, below: int) -> Matrix:
    """Numbers in any order, none twice in a row."""
    spare = max(200, columns * columns // below)  # twice as many as are drawn again
    made = np.sort(rng.integers(below, size=(rows, columns + spare)), axis=1)
    made[:, 1:][made[:, 1:] == made[:, :-1]] = -1
    made = rng.permuted(made, axis=1)
    made = np.take_along_axis(made, np.argsort(made < 0, axis=1, kind="stable"), axis=1)[:, :columns]
    assert (made >= 0).all()
    return made


AT_ONCE = 8_000_000
"""Lines of a sparse run that are made at once, so that a run of any length fits the memory."""


def sparse(folder: Path, name: str, topics: int, depth: int = 1000) -> None:
    """One run; one relevant document for most topics, two for some; most of them are found."""
    rng = np.random.default_rng(7)
    ids = np.sort(rng.choice(1_200_000, topics, replace=False))
    with ExitStack() as stack:
        qrels, run = (stack.enter_context((folder / f"{name}.{kind}").open("wb")) for kind in ("qrels", "run"))
        for some in np.array_split(ids, -(-topics * depth // AT_ONCE)):
            _sparse_part(qrels, run, some, depth, rng)


def _sparse_part(qrels: IO[bytes], run: IO[bytes], topics: np.ndarray, depth: int, rng: np.random.Generator) -> None:
    count = len(topics)
    documents = different(rng, count, depth + 2, 8_841_823)
    found, missed = documents[:, :depth], documents[:, depth:]
    places = np.minimum(rng.geometric(0.02, size=(count, 2)), 500) - 1
    places[:, 1] += 500
    relevant = np.where(rng.random((count, 2)) < 0.85, np.take_along_axis(found, places, axis=1), missed)
    chosen = np.stack([np.full(count, True), rng.random(count) < 0.07], axis=1)
    ids = np.repeat(topics, 2).reshape(count, 2)[chosen]
    write_qrels(qrels, ids, relevant[chosen], np.ones(len(ids), int))
    write_run(run, topics, found, rng)


def dense(folder: Path, runs: int = 40, count: int = 50, judged: int = 300) -> None:
    """Runs that agree more or less with the grades, 0 to 3, of the documents that look best."""
    rng = np.random.default_rng(8)
    topics = np.arange(301, 301 + count)
    documents = different(rng, count, 4000, 530_000)
    worth = rng.normal(size=documents.shape)
    best = np.argsort(-(worth + rng.normal(size=worth.shape)), axis=1)[:, :judged]
    grades = np.digitize(np.take_along_axis(worth, best, axis=1), [1.0, 1.8, 2.5])
    ids = np.take_along_axis(documents, best, axis=1)
    with (folder / "dense.qrels").open("wb") as file:
        write_qrels(file, np.repeat(topics, judged), ids.ravel(), grades.ravel())
    for number in range(runs):
        seen = worth + rng.normal(scale=0.3 + number / 10, size=worth.shape)
        order = np.argsort(-seen, axis=1)[:, :1000]
        with (folder / f"dense{number:02}.run").open("wb") as file:
            write_run(file, topics, np.take_along_axis(documents, order, axis=1), rng)


if __name__ == "__main__":
    to, size = Path(sys.argv[1]), list(map(int, sys.argv[2:]))
    if size:
        sparse(to, "long", size[0] // size[1], size[1])
    else:
        sparse(to, "sparse", 6980)
        sparse(to, "tenth", 698)
        sparse(to, "small", 2)
        dense(to)
