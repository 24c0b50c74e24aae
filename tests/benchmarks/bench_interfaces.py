"""How long pytrec_eval and ir_measures take, and how long the same calls take when Cleverdon computes them.

Everything is in memory already: nested dictionaries and lines for pytrec_eval; frames (as in PyTerrier), dictionaries
or tuples for ir_measures. The collections are made (seeded): many topics with one relevant document and 1,000 retrieved
ones, as for MS MARCO; 50 topics with 300 judged documents, as at TREC; and smaller ones. Both tools take turns in one
process, and medians count. Calls that are slower than the original are listed at the end.

    python tests/benchmarks/bench_interfaces.py [--shapes sparse,dense,short,few,one,tiny] [--only evaluate]

Exit status 1 if a value differs by more than 1e-9.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from ir_measures import AP, RR, Bpref, Judged, NumRelRet, P, Qrel, R, ScoredDoc, SetF, SetP, SetR, infAP, nDCG

sys.path.insert(0, str(Path(__file__).parents[2]))

from collection.interfaces import pytrec_eval as ours
from collection.interfaces.ir_measures_provider import CleverdonProvider
from tests.benchmarks.ratios import Row, keep

NAMES = {"map", "recip_rank", "P.10", "recall.1000", "ndcg_cut.10"}
MEASURES = [AP, RR, P @ 10, R @ 1000, nDCG @ 10]

SHAPES = {
    "sparse": (6980, 1, 1000), "dense": (50, 300, 1000), "short": (2000, 2, 10), "few": (50, 5, 10),
    "one": (1, 300, 1000), "tiny": (1, 5, 10),
}  # fmt: skip
"""Topics, judged documents and retrieved documents of a topic."""

SHOWN = (
    "pytrec_eval, evaluate",
    "ir_measures, calc_aggregate of dictionaries",
    "ir_measures, calc_aggregate of frames",
)
"""Calls in the table of all benchmarks, beside the slowest one of each tool."""

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


def take_turns(title: str, theirs: Callable[[], Any], own: Callable[[], Any], repeats: int) -> float:
    """Print the median seconds of both and the median of their ratios, which is returned."""
    seconds: dict[str, list[float]] = {"theirs": [], "own": []}
    times = 1
    for turn in range(repeats + 1):
        for name, call in (("theirs", theirs), ("own", own)):
            gc.collect()
            begin = time.perf_counter()
            for _ in range(times):
                call()
            seconds[name].append((time.perf_counter() - begin) / times)
        if not turn:  # the first one does not count; short calls are repeated for a hundredth of a second
            times = max(1, int(0.01 / max(chain.from_iterable(seconds.values()))))
            seconds = {"theirs": [], "own": []}
    there, here = (statistics.median(some) for some in seconds.values())
    ratio = statistics.median(a / b for a, b in zip(*seconds.values(), strict=True))
    print(f"{title:<46}  {1000 * there:>9.3f}  {1000 * here:>9.3f}  {ratio:>7.2f}x")
    return ratio


def differ(qrels: Nested, run: Nested) -> float:
    """The largest difference of a value."""
    there = pytrec_eval.RelevanceEvaluator(qrels, NAMES).evaluate(run)
    here = ours.RelevanceEvaluator(qrels, NAMES).evaluate(run)
    most = max(abs(there[topic][name] - here[topic][name]) for topic in there for name in there[topic])
    means = ir_measures.calc_aggregate(MEASURES, qrels, run)
    own = CleverdonProvider().calc_aggregate(MEASURES, qrels, run)
    return max(most, *(abs(means[measure] - own[measure]) for measure in MEASURES))


FAMILIES = {
    "map": {"map"}, "ndcg": {"ndcg", "ndcg_cut"}, "P": {"P", "recall", "success"}, "set": {"set"},
    "bpref, infAP": {"bpref", "infAP"}, "official": {"official"}, "all_trec": {"all_trec"},
}  # fmt: skip
OTHERS = {
    "nDCG(gains)": [nDCG(gains={1: 3}) @ 10], "judged_only": [AP(judged_only=True)],
    "rel=2": [AP(rel=2), P(rel=2) @ 10],
    "RR@10, Judged@10": [RR @ 10, Judged @ 10], "sets": [SetP, SetR, SetF, NumRelRet], "Bpref, infAP": [Bpref, infAP],
}  # fmt: skip


def pytrec_eval_calls(qrels: Nested, run: Nested) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """Each kind of call, given the modules or what they made, and these."""
    lines = {
        "parse_run": [f"{q} Q0 {d} 1 {s} tag\n" for q, documents in run.items() for d, s in documents.items()],
        "parse_qrel": [f"{q} 0 {d} {g}\n" for q, documents in qrels.items() for d, g in documents.items()],
    }
    some = [{topic: run[topic]} for topic in list(run)[:200]]
    modules = pytrec_eval, ours
    first = tuple(module.RelevanceEvaluator(qrels, NAMES) for module in modules)
    judged = tuple(module.RelevanceEvaluator(qrels, NAMES, judged_docs_only_flag=True) for module in modules)
    values = [number / len(run) for number in range(len(run))]
    calls: dict[str, tuple[Callable[[Any], Any], Any]] = {
        "evaluate": (lambda e: e.evaluate(run), first),
        f"evaluate {len(some)} topics one by one": (lambda e: [e.evaluate(one) for one in some], first),
        "evaluate judged documents only": (lambda e: e.evaluate(run), judged),
        "RelevanceEvaluator": (lambda m: m.RelevanceEvaluator(qrels, NAMES), modules),
        "RelevanceEvaluator, evaluate": (lambda m: m.RelevanceEvaluator(qrels, NAMES).evaluate(run), modules),
        "parse_run": (lambda m: m.parse_run(lines["parse_run"]), modules),
        "parse_qrel": (lambda m: m.parse_qrel(lines["parse_qrel"]), modules),
        "compute_aggregated_measure": (lambda m: m.compute_aggregated_measure("map", values), modules),
    }
    for title, names in FAMILIES.items():
        evaluators = tuple(module.RelevanceEvaluator(qrels, names) for module in modules)
        calls[f"evaluate {title}"] = (lambda e: e.evaluate(run), evaluators)
    return {f"pytrec_eval, {title}": call for title, call in calls.items()}


def ir_measures_calls(qrels: Nested, run: Nested) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """Each kind of call with each form of qrels and runs."""
    frames = as_frame(qrels, "relevance"), as_frame(run, "score")
    tuples = tuple(
        list(starmap(kind, f.itertuples(index=False))) for kind, f in zip((Qrel, ScoredDoc), frames, strict=True)
    )
    providers = ir_measures.DefaultPipeline, CleverdonProvider()
    calls: dict[str, tuple[Callable[[Any], Any], Any]] = {}
    for form, (judged, ranked) in {"dictionaries": (qrels, run), "frames": frames, "tuples": tuples}.items():
        given = judged, ranked
        evaluators = tuple(provider.evaluator(MEASURES, judged) for provider in providers)
        calls |= {
            f"calc_aggregate of {form}": (lambda p, given=given: p.calc_aggregate(MEASURES, *given), providers),
            f"calc of {form}": (lambda p, given=given: p.calc(MEASURES, *given), providers),
            f"iter_calc of {form}": (lambda p, given=given: list(p.iter_calc(MEASURES, *given)), providers),
            f"evaluator of {form}": (lambda p, given=given: p.evaluator(MEASURES, given[0]), providers),
            f"evaluator's calc_aggregate of {form}": (lambda e, given=given: e.calc_aggregate(given[1]), evaluators),
        }
    for title, measures in OTHERS.items():
        calls[f"{title} of dictionaries"] = (lambda p, m=measures: p.calc_aggregate(m, qrels, run), providers)
    return {f"ir_measures, {title}": call for title, call in calls.items()}


def measure(title: str, shape: tuple[int, int, int], repeats: int, only: str) -> tuple[float, list[str]]:
    """Print the rows of one collection; return the largest difference of a value, and the calls that are slower."""
    qrels, run = make(*shape)
    topics, judged, depth = shape
    print(f"{title}: {topics:,} topics x {depth:,} documents, about {judged} judged")
    slower, ratios = [], {}
    for name, (call, tools) in (pytrec_eval_calls(qrels, run) | ir_measures_calls(qrels, run)).items():
        if only in name:
            ratio = take_turns(f"  {name}", partial(call, tools[0]), partial(call, tools[1]), repeats)
            ratios[name] = ratio
            slower += [f"{title}: {name} ({ratio:.2f})"] if ratio < 1 else []
    for tool in ("pytrec_eval", "ir_measures"):
        found = {name: ratio for name, ratio in ratios.items() if name.startswith(tool)}
        for name in {min(found, key=found.__getitem__, default=""), *SHOWN} & found.keys():
            keep(
                Row(
                    f"call of {name}",
                    f"{topics:,} topics x {depth:,}",
                    "",
                    f"{found[name]:.2f}",
                    "theirs, times as long",
                )
            )
    return differ(qrels, run), slower


def main() -> int:
    """Make the collections, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=6980, help="topics of the sparse collection (default: 6980)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each tool runs (default: 5)")
    parser.add_argument("--only", default="", help="only calls whose name contains this, such as 'of frames'")
    parser.add_argument("--shapes", default="sparse,dense", help=f"of {', '.join(SHAPES)} (default: sparse,dense)")
    options = parser.parse_args()
    print(f"{'median milliseconds':<46}  {'theirs':>9}  {'Cleverdon':>9}  {'ratio':>8}")
    shapes = SHAPES | {"sparse": (options.topics, 1, 1000)}
    done = [measure(name, shapes[name], options.repeats, options.only) for name in options.shapes.split(",")]
    worst = max(difference for difference, _ in done)
    print(f"largest difference of a value: {worst:.2g}")
    print("slower than the original:", *(name for _, slower in done for name in slower), sep="\n  ")
    return int(worst > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
