"""What the promise across topics costs and keeps, replayed: ``python tests/benchmarks/bench_risk_control.py``.

The collections are those beside the checkout (../shared/data): Cranfield, Vaswani, TREC DL 2019 (relevant from grade 2)
and nine systematic reviews (sr-cohen-a, relevant from grade 2, one relevant and one irrelevant record known, three
draws of these). The default family and the grids of settings were chosen on Cranfield and Vaswani; the other two were
only reported. All topics with a relevant document count; the loop orders the documents.

Every random split takes n topics for calibration, judges them completely, and stops the others by the rule. Tables, for
alpha .05, .1 and .2 and n = 5, 10, 20 and half of the topics:

- promise: recall of the other topics (mean and 5% quantile over splits), the share of splits below 1 - alpha,
  judgements in each other topic and in all, also as shares of judging the pool (the first 100 of every run), of the
  promise for each topic (``betting``, 95% confidence), and of judging everything; beside an oracle that stops each
  topic at 1 - alpha;
- families: judgements in each other topic by each family; choice: by the first m calibration topics;
- pool: the same as promise, if only the pool is in scope;
- small: the share of smaller pools (the first 10 and 25 of every run) judged in each other topic;
- deep: calibration topics judged to a depth, with a random sample of the rest.

The orders take about an hour of one processor and are kept in ``.bench/orders``.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from collection import formats, pooling
from collection.active_learning.training_round import Recipe
from collection.cli.output import print_table
from collection.simulation import Case, cases, replay_loop
from collection.simulation.cost import find_stop
from collection.simulation.experiment import draw_priors
from collection.simulation.risk_control import replay_losses, replay_selection
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    DEFAULT_FAMILY,
    RULE_FAMILIES,
    TopicLosses,
    choose_setting,
    measure_losses,
    required_topics,
)

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
ORDERS = ROOT / ".bench" / "orders"
COLLECTIONS = {"cranfield": 1, "vaswani": 1, "trecdl19-runs": 2, "sr-cohen-a": 2}
REVIEWS = "sr-cohen-a"
ALPHAS = (0.05, 0.1, 0.2)
NUMBERS = (5, 10, 20)
POOL_DEPTH = 100


@dataclass(frozen=True)
class Topic:
    """A topic judged completely: by the ranking alone, and with random draws for the promise for each topic."""

    ranked: Ledger
    drawn: Ledger
    pooled: Ledger | None
    """Judged completely by the ranking with the pool in scope; None without runs."""
    drawn_pool: Ledger | None
    """The same with random draws."""


def replay(case: Case, level: int, seed: int | None, pool: np.ndarray) -> dict[str, np.ndarray]:
    """The orders of a topic, as arrays to keep; `pool` are its rows."""
    priors = None if seed is None else draw_priors(1, 1, level)(case, seed)
    recipe = Recipe(level=level) if seed is None else Recipe.with_priors(level=level)
    kept = {}
    for source in ("ranking", "draws"):
        judged = replay_loop(case, recipe, seed or 0, priors=priors, source=source, end="filled")
        kept[f"{source}_relevant"] = case.grades[judged.order] >= level
        kept[f"{source}_rounds"], kept[f"{source}_drawn"] = judged.rounds, judged.drawn
    return kept | replay_pool(case, level, pool)


def replay_pool(case: Case, level: int, pool: np.ndarray, *, draws: bool = True) -> dict[str, np.ndarray]:
    """The orders of a topic within the pool: by the ranking and, with `draws`, with random draws."""
    if not len(pool):
        return {}
    allowed = np.zeros_like(case.space.allowed)
    allowed[pool] = case.space.allowed[pool]
    inside = replace(case, space=replace(case.space, allowed=allowed), grades=np.where(allowed, case.grades, 0))
    kept = {}
    for source, prefix in (("ranking", "pool"), ("draws", "pool_draws"))[: 1 + draws]:
        judged = replay_loop(inside, Recipe(level=level), 0, source=source, end="filled")
        kept[f"{prefix}_relevant"] = inside.grades[judged.order] >= level
        kept[f"{prefix}_rounds"], kept[f"{prefix}_drawn"] = judged.rounds, judged.drawn
    return kept


def load(name: str, folder: Path, seed: int | None = None) -> list[Topic]:
    """The topics of a collection; orders that are not kept yet are computed."""
    files, level = DATA / name, COLLECTIONS[name]
    runs = list(formats.read_runs(sorted((files / "runs").glob("*")))) if (files / "runs").is_dir() else []
    topics, qrels = formats.read_topics(files / "topics.jsonl"), formats.read_qrels(files / "qrels.txt")
    pool = pooling.depth(runs, depth=POOL_DEPTH) if runs else pd.DataFrame({"query_id": [], "doc_id": []}, dtype="str")
    suffix = "" if seed is None else f".{seed}"
    done = folder / f"{name}{suffix}.done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = cases(
            (d for _, d in formats.read_documents(files / "documents.jsonl.gz")),
            topics, qrels, runs, scope="prefix" if name == REVIEWS else "all", level=level,
        )  # fmt: skip
        listed = []
        for case in made:
            listed.append(case.query_id)
            kept = folder / f"{name}.{case.query_id}{suffix}.npz"
            if not kept.exists():
                rows = case.doc_ids.get_indexer(pd.Index(pool.loc[pool["query_id"] == case.query_id, "doc_id"]))
                np.savez_compressed(kept, **replay(case, level, seed, rows[rows >= 0]))
            print(f"\r  {name}, topic {len(listed)}", end="", file=sys.stderr, flush=True)
        done.write_text("\n".join(listed))
        print(file=sys.stderr)
    result = []
    for query_id in done.read_text().split("\n"):
        kept = np.load(folder / f"{name}.{query_id}{suffix}.npz")
        ranked, drawn, pooled, drawn_pool = (ledger_of(kept, s) for s in ("ranking", "draws", "pool", "pool_draws"))
        assert ranked is not None
        assert drawn is not None
        result.append(Topic(ranked, drawn, pooled, drawn_pool))
    return result


def load_small(name: str, folder: Path, depth: int) -> list[Ledger]:
    """The topics of a collection, judged by the ranking within the first `depth` documents of every run."""
    files, level = DATA / name, COLLECTIONS[name]
    runs = list(formats.read_runs(sorted((files / "runs").glob("*"))))
    kept = folder / f"{name}.small.{depth}.npz"
    if not kept.exists():
        pool = pooling.depth(runs, depth=depth)
        documents = (d for _, d in formats.read_documents(files / "documents.jsonl.gz"))
        topics, qrels = formats.read_topics(files / "topics.jsonl"), formats.read_qrels(files / "qrels.txt")
        orders = {}
        for case in cases(documents, topics, qrels, runs, scope="all", level=level):
            rows = case.doc_ids.get_indexer(pd.Index(pool.loc[pool["query_id"] == case.query_id, "doc_id"]))
            orders[case.query_id] = replay_pool(case, level, rows[rows >= 0], draws=False)["pool_relevant"]
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(kept, **orders)
    return [Ledger.of(relevant, len(relevant)) for relevant in np.load(kept).values() if relevant.any()]


def print_small(name: str, folder: Path, splits: int) -> None:
    """The share of small pools that is judged in each other topic."""
    rows = []
    for depth in (10, 25):
        ledgers = load_small(name, folder, depth)
        size = np.mean([ledger.size for ledger in ledgers])
        measured = {DEFAULT_FAMILY: measure_losses(ledgers, DEFAULT_FAMILY)}
        table = replay_losses(measured, ALPHAS, calibration_topics=NUMBERS, splits=splits)
        for r in table[table["promised"]].itertuples():
            judged = [f"{r.judgements / size:.0%}", f"{r.recall:.3f}"]
            rows.append([str(depth), f"{size:.0f}", f"{r.alpha:g}", str(r.calibration_topics), *judged])
    print(f"\n{name}: small pools")
    print_table(["depth", "documents", "alpha", "n", "judged", "recall"], rows, numbers=True)


def ledger_of(kept: Mapping[str, np.ndarray], source: str) -> Ledger | None:
    """A topic that was judged completely; None if it was not judged in this way."""
    if f"{source}_relevant" not in kept:
        return None
    relevant, drawn, batch = (kept[f"{source}_{part}"] for part in ("relevant", "drawn", "rounds"))
    return Ledger.of(relevant, len(relevant), drawn=drawn, batch=batch)


def betting_costs(ledgers: Sequence[Ledger], folder: Path, name: str) -> pd.DataFrame:
    """(topics x alphas) judgements and recall of the promise for each topic; kept, since it takes minutes."""
    kept = folder / f"{name}.betting.tsv"
    if not kept.exists():
        rows = []
        for number, ledger in enumerate(ledgers):
            for alpha in ALPHAS:
                stop = find_stop(ledger, "betting", {"target": 1 - alpha})
                found = int(ledger.relevant[:stop].sum())
                rows.append((number, alpha, stop, found / ledger.found if ledger.found else 1.0))
        pd.DataFrame(rows, columns=["topic", "alpha", "judgements", "recall"]).to_csv(kept, sep="\t", index=False)
    return pd.read_csv(kept, sep="\t")


def oracle(ledgers: Sequence[Ledger], alpha: float) -> float:
    """Mean judgements until each topic has a recall of 1 - alpha."""
    return float(np.mean([needed(ledger, alpha) for ledger in ledgers]))


def needed(ledger: Ledger, alpha: float) -> int:
    places = np.flatnonzero(ledger.relevant) + 1
    return int(places[max(0, int(np.ceil((1 - alpha) * len(places) - 1e-9)) - 1)]) if len(places) else 0


def print_sizes(name: str, ledgers: Sequence[Ledger]) -> None:
    """The numbers of topics, and of documents and relevant documents in each."""
    sizes = [ledger.size for ledger in ledgers]
    found = np.mean([ledger.found for ledger in ledgers])
    print(f"\n{name}: {len(ledgers)} topics, {np.mean(sizes):,.0f} documents and {found:.1f} relevant each; "
          f"everything: {sum(sizes):,}")  # fmt: skip


def numbers_of(topics: int) -> list[int]:
    few = (topics - 1,) if topics < NUMBERS[-1] else ()
    return sorted({n for n in (*NUMBERS, topics // 2, *few) if n < topics})


def print_promise(ledgers: Sequence[Ledger], bets: pd.DataFrame, splits: int, pool: int | None) -> None:
    """The default family at every alpha and n, and what else there is; `pool` is the number of pooled documents."""
    table = replay_losses(
        {DEFAULT_FAMILY: measure_losses(ledgers, DEFAULT_FAMILY)}, ALPHAS,
        calibration_topics=numbers_of(len(ledgers)), splits=splits,
    )  # fmt: skip
    whole = sum(ledger.size for ledger in ledgers)
    rows = []
    for alpha in ALPHAS:
        here = bets[bets["alpha"] == alpha]
        each = here["judgements"].mean() * len(ledgers)
        shares = [*([] if pool is None else [pool]), each, whole]
        for r in table[table["alpha"] == alpha].itertuples(index=False):
            kept = [f"{r.recall:.3f}", f"{r.recall_low:.3f}", f"{100 * r.below:.0f}%"]
            row = [*kept, f"{r.judgements:,.0f}", f"{r.total:,.0f}", *(f"{100 * r.total / of:.0f}%" for of in shares)]
            rows.append([f"{alpha:g}", str(r.calibration_topics), *(row if r.promised else ["-"] * len(row))])
        one, best = each / len(ledgers), oracle(ledgers, alpha)
        rest = ["-"] * len(shares)
        rows.append(
            [f"{alpha:g}", "each topic", f"{here['recall'].mean():.3f}", "-", "-", f"{one:,.0f}", f"{each:,.0f}", *rest]
        )
        rows.append([f"{alpha:g}", "oracle", "-", "-", "-", f"{best:,.0f}", f"{best * len(ledgers):,.0f}", *rest])
    of = [*([] if pool is None else ["of the pool"]), "of each topic", "of everything"]
    header = ["alpha", "n", "recall", "5% quantile", "splits below", "per topic", "in all", *of]
    print_table(header, rows, numbers=True)


def print_families(name: str, topics: Sequence[Topic], splits: int) -> None:
    """Judgements in each other topic by family, and when the first m calibration topics choose."""
    measured = {f.name: measure_losses([topic.ranked for topic in topics], f.name) for f in RULE_FAMILIES}
    numbers = numbers_of(len(topics))
    columns = [(alpha, n) for alpha in ALPHAS for n in numbers if n >= required_topics(alpha)]
    table = replay_losses(measured, ALPHAS, calibration_topics=numbers, splits=splits)
    cost = table.set_index(["family", "alpha", "calibration_topics"])["judgements"]
    rows = [[f, *(f"{cost[f, alpha, n]:,.0f}" for alpha, n in columns)] for f in measured]
    for share in (0.2, 0.4):
        row = [f"chosen by {share:.0%}"]
        for alpha, n in columns:
            chosen = replay_selection(
                measured, alpha, calibration_topics=n, selection=max(1, round(share * n)), splits=splits
            )
            row.append(f"{chosen['judgements'].item():,.0f}" if chosen["promised"].item() else "-")
        rows.append(row)
    print(f"\n{name}: judgements in each other topic, by family, alpha / n")
    print_table(["family", *(f"{alpha:g} / {n}" for alpha, n in columns)], rows, numbers=True)


def deepen(topic: Topic, depth: int, sample: int, rng: np.random.Generator) -> Ledger:
    """A topic judged to a depth, with a random sample of the rest."""
    whole = topic.ranked
    rest = depth + rng.permutation(max(whole.size - depth, 0))[:sample]
    order = np.concatenate((np.arange(min(depth, whole.size)), rest))
    drawn = np.arange(len(order)) >= depth
    return Ledger.of(whole.relevant[order], whole.size, drawn=drawn)


def print_deep(name: str, topics: Sequence[Topic], splits: int, alpha: float = 0.1) -> None:
    """Twenty topics (or half) calibrate, judged to a depth and with a sample of the rest."""
    size = int(np.mean([topic.ranked.size for topic in topics]))
    n, rows = min(20, len(topics) // 2), []
    exact = measure_losses([topic.ranked for topic in topics], DEFAULT_FAMILY)
    for depth in (size // 10, size // 4):
        for share in (0.1, 0.2, 0.4, 0.7):
            for delta in (0.0, 0.03):
                tries = splits // 10 if delta else splits  # confidence bounds are slow
                recall, cost, judged = replay_deep(topics, exact, n, depth, share, delta, tries, alpha)
                total = n * judged + (len(topics) - n) * cost
                row = [f"{depth:,}", f"{share:.0%}", f"{delta:g}" if delta else "estimate", f"{recall:.3f}"]
                rows.append([*row, f"{judged:,.0f}", f"{cost:,.0f}", f"{total:,.0f}"])
    print(f"\n{name}: {n} calibration topics judged to a depth and a sample of the rest, alpha {alpha:g}")
    header = ["depth", "sample", "delta", "recall", "per calibration topic", "per other topic", "in all"]
    print_table(header, rows, numbers=True)


def replay_deep(
    topics: Sequence[Topic],
    exact: TopicLosses,
    n: int,
    depth: int,
    share: float,
    delta: float,
    splits: int,
    alpha: float,
) -> tuple[float, float, float]:
    """Mean recall and judgements of the other topics, and judgements in a calibration topic."""
    found = []
    for split in range(splits):
        rng = np.random.default_rng([1, split])
        order = rng.permutation(len(topics))
        deep = [deepen(topics[i], depth, round(share * max(topics[i].ranked.size - depth, 0)), rng) for i in order[:n]]
        bounds = measure_losses(deep, DEFAULT_FAMILY, delta=delta, depths=[min(depth, d.size) for d in deep])
        place = choose_setting(bounds.losses, alpha - bounds.delta)
        at = -1 if place is None else place
        others = order[n:]
        values = 1 - exact.losses[others, at].mean(), exact.costs[others, at].mean()
        found.append((*values, np.mean([ledger.judged for ledger in deep])))
    recall, cost, judged = np.mean(found, axis=0)
    return float(recall), float(cost), float(judged)


def everything(names: Sequence[str], folder: Path) -> Iterator[tuple[str, list[Topic]]]:
    for name in names:
        for seed in range(3) if name == REVIEWS else [None]:
            yield name if seed is None else f"{name}, priors {seed}", load(name, folder, seed)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--collections", nargs="+", choices=COLLECTIONS, default=list(COLLECTIONS))
    parser.add_argument("--splits", type=int, default=500)
    parser.add_argument("--parts", nargs="+", default=["promise", "pool", "small", "families", "deep"])
    parser.add_argument("--orders", type=Path, default=ORDERS, help="where the orders are kept")
    options = parser.parse_args()
    for name, topics in everything(options.collections, options.orders):
        pools = [topic.pooled for topic in topics if topic.pooled is not None]
        pooled = sum(ledger.size for ledger in pools) or None
        if "promise" in options.parts:
            print_sizes(name, [topic.ranked for topic in topics])
            if pools:
                recall = np.mean([pool.found / topic.ranked.found for pool, topic in zip(pools, topics, strict=True)])
                print(f"pool, first {POOL_DEPTH} of every run: {pooled:,} in all, mean recall {recall:.3f}")
            bets = betting_costs([topic.drawn for topic in topics], options.orders, name.replace(", priors ", "."))
            print_promise([topic.ranked for topic in topics], bets, options.splits, pooled)
        if "pool" in options.parts and pools:
            print_sizes(f"{name}, the pool in scope", pools)
            drawn = [topic.drawn_pool for topic in topics if topic.drawn_pool is not None]
            print_promise(pools, betting_costs(drawn, options.orders, f"{name}.pool"), options.splits, None)
        if "families" in options.parts:
            print_families(name, topics, options.splits)
        if "deep" in options.parts:
            print_deep(name, topics, min(options.splits, 100))
        if "small" in options.parts and pools:
            print_small(name, options.orders, options.splits)


if __name__ == "__main__":
    main()
