"""How long pytrec_eval and ir_measures take, and how long the same calls take when Cleverdon computes them.

Everything is in memory already: nested dictionaries for pytrec_eval, and frames (as in PyTerrier) or dictionaries for
ir_measures. Two collections are made (seeded): many topics with one relevant document and 1,000 retrieved ones, as for
MS MARCO, and 50 topics with 300 judged documents, as at TREC. Both tools take turns in one process, and the median
counts. The last row evaluates one topic after the other.

    python tests/benchmarks/bench_interfaces.py [--topics 6980] [--repeats 5]

Exit status 1 if a value differs by more than 1e-9.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from ir_measures import AP, RR, P, R, nDCG

from collection.interfaces import pytrec_eval as ours
from collection.interfaces.ir_measures_provider import CleverdonProvider

NAMES = {"map", "recip_rank", "P.10", "recall.1000", "ndcg_cut.10"}
MEASURES = [AP, RR, P @ 10, R @ 1000, nDCG @ 10]

Nested = dict[str, dict[str, Any]]


def make(topics: int, judged: int, depth: int = 1000) -> tuple[Nested, Nested]:
    """Qrels and a run; one in three judged documents is retrieved, and there is one relevant document at least."""
    rng = np.random.default_rng(topics)
    qrels: Nested = {}
    run: Nested = {}
    for topic in map(str, range(topics)):
        documents = [str(n) for n in rng.choice(8_841_823, depth + judged, replace=False)]
        scores = np.sort(rng.normal(20, 5, depth))[::-1].tolist()
        run[topic] = dict(zip(documents[:depth], scores, strict=True))
        known = [*documents[depth + judged // 3 :], *rng.choice(documents[:depth], max(1, judged // 3), replace=False)]
        qrels[topic] = {str(d): int(g) for d, g in zip(known, rng.integers(0, 4, len(known)), strict=True)}
        qrels[topic][str(known[-1])] = 1
    return qrels, run


def as_frame(nested: Nested, column: str) -> pd.DataFrame:
    """A frame as PyTerrier hands it to ir_measures."""
    return pd.DataFrame(
        {
            "query_id": np.repeat(list(nested), [len(documents) for documents in nested.values()]),
            "doc_id": list(chain.from_iterable(nested.values())),
            column: list(chain.from_iterable(documents.values() for documents in nested.values())),
        }
    )


def take_turns(title: str, theirs: Callable[[], Any], own: Callable[[], Any], repeats: int) -> None:
    """Print the median seconds of both and their ratio."""
    seconds: dict[str, list[float]] = {"theirs": [], "own": []}
    for turn in range(repeats + 1):
        for name, call in (("theirs", theirs), ("own", own)):
            gc.collect()
            begin = time.perf_counter()
            call()
            if turn:  # the first one does not count
                seconds[name].append(time.perf_counter() - begin)
    there, here = (statistics.median(some) for some in seconds.values())
    print(f"{title:<46}  {there:>9.3f}  {here:>9.3f}  {there / here:>7.1f}x")


def differ(qrels: Nested, run: Nested) -> float:
    """The largest difference of a value."""
    there = pytrec_eval.RelevanceEvaluator(qrels, NAMES).evaluate(run)
    here = ours.RelevanceEvaluator(qrels, NAMES).evaluate(run)
    most = max(abs(there[topic][name] - here[topic][name]) for topic in there for name in there[topic])
    means = ir_measures.calc_aggregate(MEASURES, qrels, run)
    own = CleverdonProvider().calc_aggregate(MEASURES, qrels, run)
    return max(most, *(abs(means[measure] - own[measure]) for measure in MEASURES))


def measure(title: str, topics: int, judged: int, repeats: int) -> float:
    """Print the rows of one collection; return the largest difference of a value."""
    qrels, run = make(topics, judged)
    some = [{topic: run[topic]} for topic in list(run)[:200]]
    frames = as_frame(qrels, "relevance"), as_frame(run, "score")
    first = pytrec_eval.RelevanceEvaluator(qrels, NAMES), ours.RelevanceEvaluator(qrels, NAMES)
    second = ir_measures.DefaultPipeline, CleverdonProvider()
    rows: dict[str, tuple[Callable[[Any], Any], Any]] = {
        "pytrec_eval, evaluate": (lambda e: e.evaluate(run), first),
        f"pytrec_eval, evaluate {len(some)} topics one by one": (lambda e: [e.evaluate(one) for one in some], first),
        "ir_measures, calc_aggregate of frames": (lambda p: p.calc_aggregate(MEASURES, *frames), second),
        "ir_measures, calc_aggregate of dictionaries": (lambda p: p.calc_aggregate(MEASURES, qrels, run), second),
    }
    print(f"{title}: {topics:,} topics x 1,000 documents, about {judged} judged")
    for name, (call, tools) in rows.items():
        take_turns(f"  {name}", *(partial(call, tool) for tool in tools), repeats)
    return differ(qrels, run)


def main() -> int:
    """Make the collections, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=6980, help="topics of the sparse collection (default: 6980)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each tool runs (default: 5)")
    options = parser.parse_args()
    print(f"{'median seconds':<46}  {'theirs':>9}  {'Cleverdon':>9}  {'ratio':>8}")
    worst = max(
        measure("sparse", options.topics, 1, options.repeats),
        measure("dense", 50, 300, options.repeats),
    )
    print(f"largest difference of a value: {worst:.2g}")
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
