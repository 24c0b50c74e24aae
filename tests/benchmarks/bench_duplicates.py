"""Near-duplicates: how many pairs of sketches are found of those that there are, and how long a collection takes.

All pairs of documents that have a shingle in common are compared by their shingles themselves. Prints, for files of
documents and for generated ones, what a text costs, pairs at the threshold, and recall and precision: of what sketches
alone say, and of the groups, whose pairs are compared exactly. Of generated documents a tenth are copies of others with
some words changed.

    python tests/benchmarks/bench_duplicates.py [--generated N] [FILE.jsonl[.gz]...]
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from collection import formats
from collection.documents import near_duplicates

LENGTH = 60


def read(path: Path) -> list[tuple[str, str]]:
    """Ids and texts of a file."""
    return [(document.doc_id, document.text) for _, document in formats.read_documents(path) if document.text]


def generated(count: int, seed: int = 5) -> Iterator[tuple[str, str]]:
    """Texts of words as frequent as words are; every tenth is another one with one word to a fifth of them changed."""
    chance = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(50_000)]
    weights = np.cumsum([1 / (n + 1) for n in range(50_000)]).tolist()
    before: list[list[str]] = []
    for n in range(count):
        if n % 10 == 9:
            text = list(chance.choice(before))
            for _ in range(chance.choice([0, 1, 1, 2, 3, 4, 6, 12])):
                text[chance.randrange(len(text))] = chance.choice(vocabulary)
        else:
            text = chance.choices(vocabulary, cum_weights=weights, k=LENGTH + chance.randrange(LENGTH))
        before.append(text)
        yield f"g{n}", " ".join(text)


def exact_pairs(documents: list[tuple[str, str]], threshold: float) -> tuple[set[tuple[int, int]], np.ndarray]:
    """All pairs at the threshold, by products of the matrix of documents and shingles; and the sketches."""
    sets = [near_duplicates.shingles(text) for _, text in documents]
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    ends = np.cumsum([0, *map(len, sets)])
    matrix = sparse.csr_array((np.ones(len(columns), dtype=np.int32), columns, ends))
    matrix = matrix[:, np.flatnonzero(np.diff(matrix.tocsc().indptr) > 1)].tocsr()
    sizes = np.diff(ends)
    found = set()
    for at in range(0, len(sets), 2000):
        both = (matrix[at : at + 2000] @ matrix.T).tocoo()
        i, j = both.row + at, both.col
        near = (i < j) & (both.data >= threshold * (sizes[i] + sizes[j] - both.data) - 1e-9)
        found |= set(zip(i[near].tolist(), j[near].tolist(), strict=True))
    return found, np.stack([near_duplicates.sketch_of(one) for one in sets])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--generated", type=int, default=20_000)
    parser.add_argument("--threshold", type=float, default=near_duplicates.THRESHOLD)
    options = parser.parse_args()
    header = ["documents", "texts", "s", "us a text", "groups", "pairs"]
    header += ["sketches: recall", "precision", "groups: recall", "precision"]
    print("|", " | ".join(header), "|")
    print("|", "|".join(["---"] * len(header)), "|")
    for path in [*options.files, None]:
        name = "generated" if path is None else str(path)
        documents = list(generated(options.generated)) if path is None else read(path)
        if not documents:
            continue
        began = time.perf_counter()
        found = near_duplicates.groups(documents, options.threshold)
        seconds = time.perf_counter() - began
        there, sketches = exact_pairs(documents, options.threshold)
        left, right, guess = near_duplicates._candidates(sketches, options.threshold)
        said = {(int(a), int(b)) for a, b, share in zip(left, right, guess, strict=True) if share >= options.threshold}
        places = {doc_id: n for n, (doc_id, _) in enumerate(documents)}
        of = {places[doc_id]: n for n, group in enumerate(found) for doc_id in group.doc_ids}
        together = {pair for pair in there if of.get(pair[0], -1) == of.get(pair[1], -2)}
        # A document belongs into a group if one of the others there is at the threshold.
        near = {place for pair in there for place in pair}
        both = len(said & there)
        shares = [both / max(len(there), 1), both / max(len(said), 1)]
        shares += [len(together) / max(len(there), 1), len(near & of.keys()) / max(len(of), 1)]
        size = len(documents)
        cells = [
            name,
            f"{size:,}",
            f"{seconds:.1f}",
            f"{seconds / size * 1e6:.0f}",
            f"{len(found):,}",
            f"{len(there):,}",
        ]
        cells += [f"{share:.4f}" for share in shares]
        print("|", " | ".join(cells), "|", flush=True)
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
