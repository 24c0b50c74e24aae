"""What a budget buys, and what a sample says: ``python tests/benchmarks/bench_pooling.py [DIRECTORY]``.

DIRECTORY (by default TREC DL 2019, beside the checkout) holds ``runs/``, ``qrels.txt``, ``topics.jsonl`` and
``documents.jsonl.gz``. ``--without-texts`` leaves the
last two out, ``--strategies`` takes some names of many, ``--seeds N`` plays what draws lots N times (the tables have
means), ``--part budgets`` or ``sample`` runs one of the two:

- budgets: at 10, 25 and 50% of the full pool (the first 10 documents of every run), by each strategy: judgements,
  recall of the relevant pairs, Kendall's tau-b and tau_AP of the nDCG@10 ranking of the systems against that by all
  qrels; with what was not bought as not relevant, and with expected gains.
- sample: a fifth of the same pool in two strata (ranks 1-2 at twice the rate). Of xinfAP and infNDCG: for which share
  of the systems the value of the whole pool lies within the 95% interval (mean over the samples, and the least), the
  mean bias, the error that the intervals claim, and their width. ``--samples N`` draws N samples.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from collection import formats, pooling
from collection.core.records import Run
from collection.measures import align, index_qrels, parse
from collection.measures.sampling import sampling_interval
from collection.pooling.sampling import two_strata
from collection.simulation.budgets import compare

DATA = Path(__file__).parents[3] / "shared" / "data" / "trecdl19-runs"
DEPTH, RATE, REPLICATES = 10, 0.2, 40


def budgets(folder: Path, runs: list[Run], qrels: pd.DataFrame, chosen: argparse.Namespace) -> None:
    """The first table."""
    texts = (
        {}
        if chosen.without_texts
        else {
            "documents": (d for _, d in formats.read_documents(folder / "documents.jsonl.gz")),
            "topics": formats.read_topics(folder / "topics.jsonl"),
        }
    )
    begun = time.perf_counter()
    table = compare(
        runs, qrels, strategies=chosen.strategies, seeds=chosen.seeds, depth=DEPTH, **texts,
        progress=lambda name, done, of: print(f"\r\x1b[K{name} {done}/{of}", end="", file=sys.stderr, flush=True),
    )  # fmt: skip
    wide = table.set_index(["strategy", "estimate", "share"]).unstack("share")
    order = list(dict.fromkeys(zip(table["strategy"], table["estimate"], strict=True)))
    print(f"\n{folder.name}: {len(runs)} systems, {chosen.seeds} seeds, {time.perf_counter() - begun:.0f} s")
    print(wide.reindex(order).round(3).to_string())


def sample(runs: list[Run], qrels: pd.DataFrame, seeds: int) -> None:
    """The second table."""
    grades = qrels.set_index(["query_id", "doc_id"])["relevance"].clip(lower=0)
    pool = pooling.depth(runs, depth=DEPTH)
    pool = pool[pool["query_id"].isin(qrels["query_id"])].reset_index(drop=True)
    relevance = grades.reindex(pd.MultiIndex.from_frame(pool[["query_id", "doc_id"]])).fillna(0).to_numpy(dtype=int)
    full = pool[["query_id", "doc_id"]].assign(relevance=relevance)
    strata = two_strata(pool["rank"].to_numpy(), DEPTH, RATE)
    whole = index_qrels(full.assign(stratum=0))
    rows = []
    for name in ("xinfAP", "infNDCG"):
        measure = parse(name)
        truth = np.array([measure(align(run.frame, whole)).mean() for run in runs])
        for seed in range(seeds):
            print(f"\r\x1b[K{name} {seed}/{seeds}", end="", file=sys.stderr, flush=True)
            drawn = pooling.stratified(runs, strata=strata, seed=seed).merge(full)
            known = drawn.assign(
                relevance=drawn["relevance"].where(drawn["drawn"], -1), stratum=drawn["stratum"].astype(int)
            )
            found = sampling_interval(measure, runs, known, replicates=REPLICATES, seed=seed)
            inside = ((found["lowest"] <= truth) & (truth <= found["highest"])).mean()
            width = (found["highest"] - found["lowest"]).mean()
            bias = (found["value"] - truth).mean()
            rows.append((name, drawn["drawn"].mean(), inside, bias, found["bias"].mean(), found["error"].mean(), width))
    table = pd.DataFrame(rows, columns=["measure", "share", "inside", "bias", "bias (estimated)", "error", "width"])
    grouped = table.groupby("measure", sort=False)
    print(f"\nstrata {strata}, {seeds} samples, {REPLICATES} replicates each")
    print(grouped.mean().assign(least=grouped["inside"].min()).round(3).to_string())


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=DATA)
    parser.add_argument("--part", choices=["budgets", "sample"])
    parser.add_argument("--strategies", nargs="+")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--without-texts", action="store_true")
    chosen = parser.parse_args()
    runs = list(formats.read_runs(sorted((chosen.directory / "runs").glob("*"))))
    qrels = formats.read_qrels(chosen.directory / "qrels.txt")
    if chosen.part != "sample":
        budgets(chosen.directory, runs, qrels, chosen)
    if chosen.part != "budgets":
        sample(runs, qrels, chosen.samples)


if __name__ == "__main__":
    main()
