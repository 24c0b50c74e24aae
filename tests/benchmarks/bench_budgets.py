"""What a part of the judgements buys: ``python tests/benchmarks/bench_budgets.py [--subsets N] [PART ...]``.

The parts, all by default:

- ``whole``: Kendall's tau of nDCG@10 with the ranking by all qrels, for each strategy (judged only) and for decisive
  pairs (expected gains), when 10%, 25% or 50% of the depth-10 pool is judged.
- ``subsets``: the same with systems and topics left out at random; decisive pairs against the best strategies, coverage
  of 95% intervals (values and differences of values when the pool is fully judged), for decisive and random pairs.
- ``stopping``: the rule of ``judge_order``, checked after each batch of 4% of the pool, on the same subsets: judgements
  at the first stop, and the share of stops whose tau with the final order is below the target.
- ``topics``: a campaign with one annotator, to a quarter of the pool: tau of nDCG@10 by expected gains, and the number
  of pairs of a topic in a row, when the topics with the most selected pairs come first, or those of the most decisive.
- ``time``: seconds to choose a batch of 50 at 60 runs and 50 topics.

``--cache DIR`` keeps finished replays. The collections are those of ``../shared/data``.
"""

import argparse
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from collection import formats, pooling
from collection.campaign.loop.system_order import CHOSEN_EVERY, NextDecisivePairs
from collection.core.records import Run
from collection.expected_judgements import choose_decisive, describe, draw_values
from collection.measures import align, index_qrels, parse
from collection.measures.imputation import complete_all, to_its_depth
from collection.simulation import budgets
from collection.statistics.rank_correlation import kendall

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
COLLECTIONS = {
    "Cranfield": ("cranfield", "runs", None),
    "Cranfield, 15 similar, 35 topics": ("cranfield", "runs_lucene", 35),
    "Vaswani": ("vaswani", "runs", None),
    "DL 2019": ("trecdl19-runs", "runs", None),
    "DL 2019, 16 later": ("trecdl19-runs", "runs_later", None),
}
WHOLE = ["Cranfield", "Vaswani", "DL 2019"]
SHARES, TARGETS = (0.1, 0.25, 0.5), (0.8, 0.9, 0.95)
NDCG = parse("nDCG@10")
DRAWS = 300
Row = dict[str, Any]
Floats = budgets.Floats


def read(name: str) -> tuple[list[Run], pd.DataFrame, int | None]:
    folder, runs, topics = COLLECTIONS[name]
    made = list(formats.read_runs(sorted((SHARED / folder / runs).glob("*"))))
    # Deeper ranks change features alone, and take time.
    made = [Run(run.name, run.frame[run.frame["rank"] <= 50]) for run in made]
    return made, formats.read_qrels(SHARED / folder / "qrels.txt"), topics


class Replay:
    """A collection, or a random part of it, with its truth."""

    def __init__(self, name: str, seed: int | None) -> None:
        runs, qrels, fixed = read(name)
        random = np.random.default_rng([seed or 0, 7])
        topics = np.intersect1d(qrels["query_id"].astype("str"), runs[0].frame["query_id"].astype("str"))
        if seed is not None:
            kept = max(8, round(len(runs) * random.uniform(0.4, 0.9)))
            runs = [runs[n] for n in np.sort(random.permutation(len(runs))[:kept])]
            size = fixed or max(15, round(len(topics) * random.uniform(0.3, 0.9)))
            topics = random.permutation(topics)[:size]
        qrels = qrels[qrels["query_id"].isin(topics)]
        runs = [Run(run.name, run.frame[run.frame["query_id"].isin(topics)]) for run in runs]
        self.material = budgets._Material.of(runs, qrels, 10, None, None)
        index = index_qrels(qrels)
        self.truth = np.array([NDCG(align(run.frame, index)).mean() for run in runs])
        self.grades, self.seed = self.material.grades, seed or 0
        self.final = self.judged_only(self.grades)

    def judged(self, chosen: np.ndarray) -> Floats:
        known = np.full(len(self.grades), np.nan)
        known[chosen] = self.grades[chosen]
        return known

    def judged_only(self, known: Floats) -> Floats:
        numbered = (to_its_depth(aligned, NDCG) for aligned in self.material.pairs.numbered)
        return np.array(
            [NDCG(each).mean() for each in complete_all(numbered, np.where(np.isnan(known), -1, known)[:, None])]
        )

    def expected(self, known: Floats) -> Floats:
        """(R, draws)."""
        drawn = draw_values(
            self.material.pairs, known, [NDCG], levels=self.material.levels, draws=DRAWS, seed=self.seed
        )
        means: Floats = drawn[NDCG].mean(axis=2)
        return means

    def batches(self, share: float) -> Iterator[np.ndarray]:
        """Decisive pairs, 4% of the pool at a time."""
        known, batch = self.judged(np.array([], dtype=int)), max(10, len(self.grades) // 25)
        while (~np.isnan(known)).mean() < share:
            chosen = choose_decisive(self.material.pairs, known, self.material.levels, batch=batch, seed=self.seed)
            known[chosen] = self.grades[chosen]
            yield chosen

    def strategies(self) -> list[Row]:
        rows = []
        for entry in pooling.STRATEGIES:
            if not entry.orders_as:
                chosen = budgets._choose(self.material, entry.name, SHARES, NDCG, self.seed)
                for share, pairs in zip(SHARES, chosen, strict=True):
                    rows.append({"strategy": entry.name, "share": share, "tau": self.tau(self.judged(pairs))})
        return rows

    def tau(self, known: Floats) -> float:
        return kendall(self.truth, self.judged_only(known))

    def decisive(self) -> list[Row]:
        order = np.concatenate(list(self.batches(max(SHARES))))
        shuffled = np.random.default_rng([self.seed, 3]).permutation(len(self.grades))
        rows = []
        for name, source in (("decisive", order), ("random", shuffled)):
            for share in SHARES:
                known = self.judged(source[: int(share * len(self.grades) + 1e-9)])
                drawn = self.expected(known)
                one, other = np.triu_indices(len(drawn), 1)
                rows.append({
                    "strategy": name, "share": share, "tau": kendall(self.truth, drawn.mean(axis=1)),
                    "judged only": self.tau(known), "values": covered(drawn, self.final),
                    "differences": covered(drawn[one] - drawn[other], self.final[one] - self.final[other]),
                })  # fmt: skip
        return rows

    def stopping(self) -> list[Row]:
        """Lower bound of tau and true tau after each batch, until the bound reaches the highest target."""
        known, rows = self.judged(np.array([], dtype=int)), []
        for chosen in self.batches(1.0):
            known[chosen] = self.grades[chosen]
            drawn = self.expected(known)
            present = drawn.mean(axis=1)
            taus = np.nan_to_num([kendall(present, each) for each in drawn.T])
            lowest = float(np.quantile(taus, 0.05, method="lower"))
            share = float((~np.isnan(known)).mean())
            rows.append({"judged": share, "lowest": lowest, "tau": kendall(present, self.final)})
            if lowest >= max(TARGETS):
                break
        return rows

    def topics(self) -> list[Row]:
        """Choices of 50 pairs after every ten judgements, which are made topic by topic."""
        topic, rows = self.material.pairs.topic, []
        for name in ("most pairs first", "most decisive first"):
            known, order = self.judged(np.array([], dtype=int)), list[int]()
            for share in SHARES[:2]:
                while len(order) < int(share * len(known)):
                    left = choose_decisive(self.material.pairs, known, self.material.levels, seed=self.seed).tolist()
                    for _ in range(min(CHOSEN_EVERY, int(share * len(known)) - len(order))):
                        here = [row for row in left if order and topic[row] == topic[order[-1]]]
                        chosen = NextDecisivePairs(topic[left].astype(str).tolist(), left)
                        first = int(chosen.topics[0]) if name == "most pairs first" else topic[left[0]]
                        order.append((here or [row for row in left if topic[row] == first])[0])
                        left.remove(order[-1])
                    known[order] = self.grades[order]
                tau = kendall(self.truth, self.expected(known).mean(axis=1))
                rows.append({"order": name, "share": share, "tau": tau})
            rows[-1]["in a row"] = len(order) / (1 + np.count_nonzero(np.diff(topic[order])))
        return rows


def covered(drawn: Floats, truth: Floats) -> float:
    low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
    return float(((low - 1e-12 <= truth) & (truth <= high + 1e-12)).mean())


def replayed(name: str, seed: int | None, part: str, cache: Path | None) -> pd.DataFrame:
    """The rows of one part, from the cache if they are there."""
    file = cache and cache / f"{name}-{seed}-{part}.pkl"
    if file and file.exists():
        made: pd.DataFrame = pickle.loads(file.read_bytes())
        return made
    made = pd.DataFrame(getattr(Replay(name, seed), part)()).assign(collection=name, subset=seed)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps(made))
    return made


def parts_of(names: Sequence[str], subsets: Sequence[int | None], part: str, cache: Path | None) -> pd.DataFrame:
    return pd.concat([replayed(name, seed, part, cache) for seed in subsets for name in names], ignore_index=True)


def show_whole(options: argparse.Namespace) -> None:
    plain = parts_of(WHOLE, [None], "strategies", options.cache)
    ours = parts_of(WHOLE, [None], "decisive", options.cache)
    ours = ours[ours["strategy"] == "decisive"].assign(strategy="decisive, expected gains")
    table = pd.concat([plain, ours]).pivot_table(index="strategy", columns=["share", "collection"], values="tau")
    for share in SHARES:
        table[(share, "mean")] = table[share][WHOLE].mean(axis=1)
        print(f"\n{share:.0%} of the depth-10 pool: tau of nDCG@10")
        print(table[share][[*WHOLE, "mean"]].sort_values("mean").round(3).to_string())


def show_subsets(options: argparse.Namespace) -> None:
    subsets = range(options.subsets)
    plain = parts_of(list(COLLECTIONS), subsets, "strategies", options.cache)
    ours = parts_of(list(COLLECTIONS), subsets, "decisive", options.cache)
    key = ["collection", "subset", "share"]
    decisive = ours[ours["strategy"] == "decisive"].set_index(key)["tau"]
    means = plain.groupby(["collection", "share", "strategy"])["tau"].mean()
    rows = []
    for share in SHARES:
        for name in COLLECTIONS:
            best = means[name, share].idxmax()
            there = plain[(plain["collection"] == name) & (plain["share"] == share)]
            average = there[there["strategy"] == best].set_index(key)["tau"]
            hindsight = there.groupby(key)["tau"].max()
            mine = decisive[average.index]
            row: Row = {"share": share, "collection": name, "decisive": mine.mean(), "best strategy": best}
            for label, other in (("best on average", average), ("best of each subset", hindsight)):
                gain = mine - other
                row |= {label: other.mean(), f"{label}: mean gain": gain.mean(), "5%": gain.quantile(0.05)}
                row[f"{label}: 5%"] = row.pop("5%")
                row[f"{label}: below -.02"] = (gain < -0.02).mean()
            rows.append(row)
    print(f"\ntau of nDCG@10 on {options.subsets} subsets of each collection, decisive with expected gains")
    print(pd.DataFrame(rows).round(3).T.to_string(header=False))
    print("\ncoverage of 95% intervals")
    print(ours.pivot_table(index=["strategy", "share"], columns="collection", values=["values", "differences"],
                           margins=True).drop("All").round(3).to_string())  # fmt: skip


def show_stopping(options: argparse.Namespace) -> None:
    found = parts_of(list(COLLECTIONS), range(options.subsets), "stopping", options.cache)
    rows = []
    for target in TARGETS:
        for (name, _), steps in found.groupby(["collection", "subset"], sort=False):
            stop = steps[steps["lowest"] >= target].head(1)
            judged = float(stop["judged"].iloc[0]) if len(stop) else 1.0
            wrong = bool(len(stop) and stop["tau"].iloc[0] < target - 1e-9)
            rows.append({"target": target, "collection": name, "judged": judged, "wrong": wrong, "early": judged < 1})
    table = pd.DataFrame(rows)
    print("\nstopping at 95% confidence: mean share judged, share of subsets that stop early, share of wrong stops")
    print(table.groupby(["target", "collection"], sort=False).mean().round(3).to_string())
    print(table.groupby("target").mean(numeric_only=True).round(3).to_string())


def show_topics(options: argparse.Namespace) -> None:
    found = parts_of(list(COLLECTIONS), range(options.subsets), "topics", options.cache)
    print("\npairs of a topic in a row, and tau of nDCG@10, one annotator, choices after ten judgements")
    for keys in (["collection", "order", "share"], ["order", "share"]):
        print(found.groupby(keys, sort=False)[["tau", "in a row"]].mean().round(3).to_string())


def show_time(options: argparse.Namespace) -> None:
    random, rows, runs = np.random.default_rng(0), [], []
    relevance = np.clip(random.normal(-0.5, 1, (50, 100)).round(), 0, 3)
    for system in range(60):
        for topic, grades in enumerate(relevance):
            top = np.argsort(-grades - random.normal(0, 1.4 + 0.02 * system, 100))[:50]
            rows += [(f"t{topic}", f"d{topic}-{n}", 50.0 - k, k + 1, k + 1) for k, n in enumerate(top)]
        runs.append(Run(f"r{system}", pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "rank", "listed"])))
        rows = []
    pool = pooling.depth(runs, depth=10)
    pairs = describe(pool, runs)
    at = pool["doc_id"].str[1:].str.split("-", expand=True).astype(int)
    grades = relevance[at[0], at[1]]
    print(f"\nseconds to choose 50 of {len(pool):,} pairs, 60 runs, 50 topics (best of three)")
    for share in (0.0, *SHARES):
        known = np.where(random.random(len(grades)) < share, grades, np.nan)
        seconds = []
        for _ in range(3):
            begun = time.perf_counter()
            choose_decisive(pairs, known, [0, 1, 2, 3])
            seconds.append(time.perf_counter() - begun)
        print(f"  {share:.0%} judged: {min(seconds):.2f}")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "whole": show_whole, "subsets": show_subsets, "stopping": show_stopping, "topics": show_topics, "time": show_time,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--subsets", type=int, default=20, help="Subsets of each collection.")
    parser.add_argument("--cache", type=Path, help="Directory of finished replays.")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options)


if __name__ == "__main__":
    main()
