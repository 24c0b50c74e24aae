"""Estimates against known values: ``python tests/benchmarks/bench_estimates.py [FOLDER ...]``.

Each FOLDER (by default Cranfield with Lucene runs, Vaswani and TREC DL 2019, beside the checkout) holds runs and
``qrels.txt``. The full pool are the first 10 documents of every run in the first 60 topics; a pair without a qrel has
grade 0. A quarter or half of it stays judged: at random (the mean of ``--seeds N`` samples), or the first pairs of
each topic in the order of the pool, which is that of a pool of less depth. By each measure:

- error: mean absolute error of the systems' values; plain (the rest counts as not relevant) and estimated
- inside: share of the systems whose value is inside the range of 95% of the draws
- order: share of the pairs of systems in the right order, plain and estimated; a tie counts half
- sure, right: share of the pairs whose order has a probability of at least 95%, and share of these in the right order
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from collection import formats, pooling
from collection.comparison import Estimates, evaluate
from collection.core.records import Run
from collection.estimation import estimate

DATA = Path(__file__).parents[3] / "shared" / "data"
RUNS = {"cranfield": "runs_lucene"}
DEPTH, TOPICS = 10, 60
MEASURES = ["nDCG@10", "P@10"]


def judged(pool: pd.DataFrame, share: float, seeds: int) -> Iterator[tuple[str, np.ndarray]]:
    """Which pairs stay judged: samples, then the best ranks."""
    for seed in range(seeds):
        yield "random", np.random.default_rng(seed).random(len(pool)) < share
    yield "best ranks", (pool.groupby("query_id")["place"].rank(method="first", pct=True) <= share).to_numpy()


def compare(truth: pd.Series, plain: pd.Series, found: Estimates, measure: str) -> dict[str, float]:
    """One row of the table."""
    middle, low, high = (found.table(c)[measure] for c in ("estimate", "estimate_low", "estimate_high"))
    pairs = found.pairs[found.pairs["measure"] == measure]
    a, b = pairs["system_a"], pairs["system_b"]

    def sign(values: pd.Series) -> np.ndarray:
        return np.sign((values.loc[a].to_numpy() - values.loc[b].to_numpy()).round(12))

    known = sign(truth)
    right = {name: (1 + known * sign(values)) / 2 for name, values in (("plain", plain), ("estimate", middle))}
    sure = (pairs["probability_better"] >= 0.95).to_numpy()
    return {
        "error plain": (plain - truth).abs().mean(),
        "error": (middle - truth).abs().mean(),
        "inside": ((low <= truth + 1e-12) & (truth <= high + 1e-12)).mean(),
        "order plain": right["plain"].mean(),
        "order": right["estimate"].mean(),
        "sure": sure.mean(),
        "right": ((1 + known[sure]) / 2).mean(),
    }


def replay(folder: Path, seeds: int) -> None:
    """Print the table of one collection."""
    files = sorted((folder / RUNS.get(folder.name, "runs")).iterdir())
    runs: list[Run] = list(formats.read_runs(files))
    qrels = formats.read_qrels(folder / "qrels.txt").astype({"query_id": "str", "doc_id": "str"})
    topics = sorted(set(qrels["query_id"]), key=int)[:TOPICS]
    pool = pooling.depth(runs, depth=DEPTH)
    pool = pool[pool["query_id"].isin(topics)].reset_index(drop=True)
    full = pool[["query_id", "doc_id"]].merge(qrels, how="left")[["query_id", "doc_id", "relevance"]]
    full["relevance"] = full["relevance"].fillna(0).clip(lower=0).astype(int)
    place = pool.groupby("query_id").cumcount()
    scale = sorted({0, *full["relevance"]})
    truth = evaluate(runs, full, MEASURES).means()
    rows = []
    for share in (0.25, 0.5):
        for kind, seen in judged(full.assign(place=place), share, seeds):
            print(f"\r\x1b[K{folder.name} {share:.0%} {kind}", end="", file=sys.stderr, flush=True)
            known = full.assign(relevance=full["relevance"].where(seen, -1))
            plain = evaluate(runs, known, MEASURES).means()
            found = estimate(runs, known, MEASURES, depth=DEPTH, scale=scale, separate_seeds=True)
            for measure in MEASURES:
                numbers = compare(truth[measure], plain[measure], found, measure)
                rows.append({"measure": measure, "judged": share, "which": kind, **numbers})
    table = pd.DataFrame(rows).groupby(["measure", "judged", "which"], sort=False).mean()
    print(
        f"\n{folder.name}: {len(runs)} systems, {full['query_id'].nunique()} topics, {len(full):,} pairs, {seeds} seeds"
    )
    print(table.round(3).to_string())


def main() -> None:
    """One table for each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("cranfield", "vaswani", "trecdl19-runs")
    parser.add_argument("folders", nargs="*", type=Path, default=[DATA / name for name in names])
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    for folder in chosen.folders:
        replay(folder, chosen.seeds)


if __name__ == "__main__":
    main()
