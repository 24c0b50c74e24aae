"""Pools of which only a random sample is judged.

Measures for samples need the whole population of a topic, so every frame here has it; ``drawn`` marks the sample.

Random numbers depend on the seed, the topic and the document only (permanent random numbers: Ohlsson, "Coordination of
samples using permanent random numbers", in: Business Survey Methods, 1995). So the sample of a topic does not depend
on other topics or on the order of runs, and a higher rate keeps the sample of a lower one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Integers
from collection.core.errors import InputError
from collection.core.frames import POOL
from collection.core.records import Run
from collection.core.registry import Parameter
from collection.pooling.depth_pool import depth as depth_pool
from collection.pooling.run_evidence import join_runs
from collection.pooling.table import STRATEGIES, Budget, Depth, Seed, check_budget, check_depth

SAMPLE_COLUMNS = (*POOL.names, "runs", "probability", "stratum", "drawn")


Rate = Annotated[float, Parameter("Sampling rate", "Share of each topic's depth pool (above 0, at most 1).")]
Strata = Annotated[
    str, Parameter("Strata", "Depth:rate from the top: 10:1,50:.3 takes all of ranks 1-10 and 30% of ranks 11-50.")
]


class Stratum(NamedTuple):
    """Documents whose best rank is at most `depth` and beyond the stratum before, drawn at this rate."""

    depth: int
    rate: float


def parse_strata(text: str) -> list[Stratum]:
    """Parse strata written depth:rate with ascending depths: ``10:1,50:.3,100:.1``.

    >>> parse_strata("10:1,50:.3")
    [Stratum(depth=10, rate=1.0), Stratum(depth=50, rate=0.3)]
    >>> parse_strata("50:.3,10:1")
    Traceback (most recent call last):
    collection.core.errors.InputError: strata: expected depth:rate, as in 10:1,50:.3,100:.1, with ascending depths; \
found 10 after 50 in '50:.3,10:1'
    """
    written = "strata: expected depth:rate, as in 10:1,50:.3,100:.1"
    strata: list[Stratum] = []
    for part in text.split(","):
        depth, _, rate = (cell.strip() for cell in part.partition(":"))
        try:
            stratum = Stratum(int(depth), float(rate))
        except ValueError:
            raise InputError(f"{written}; found {part.strip()!r} in {text!r}") from None
        if stratum.depth < 1 or not 0 < stratum.rate <= 1:
            raise InputError(
                f"{written}, with depths from 1 and rates above 0, at most 1; found {part.strip()!r} in {text!r}"
            )
        if strata and stratum.depth <= strata[-1].depth:
            raise InputError(
                f"{written}, with ascending depths; found {stratum.depth} after {strata[-1].depth} in {text!r}"
            )
        strata.append(stratum)
    return strata


def two_strata(ranks: Integers, depth: int, share: float) -> str:
    """Strata for a share of a pool: the upper fifth of the depth at twice the share, the rest at what is left.

    `ranks` (pairs,) holds the best rank of each.

    >>> two_strata(np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), 10, 0.2)
    '2:0.4,10:0.15'
    """
    top = max(1, depth // 5)
    above = float((ranks <= top).mean())
    first = min(1.0, 2 * share)
    if top == depth or above == 1 or first * above >= share:
        return f"{depth}:{share:.6g}"
    return f"{top}:{first:.6g},{depth}:{(share - first * above) / (1 - above):.6g}"


@STRATEGIES.add(
    "uniform",
    label="Uniform sample",
    description="A random sample of each topic's depth-k pool at a single rate, for infAP and unbiased estimates.",
    draw=lambda full: {"rate": full.share, "depth": full.depth},
    limits=("depth",),
)
def uniform(runs: Sequence[Run], *, depth: Depth = 100, rate: Rate = 0.1, seed: Seed = 1) -> pd.DataFrame:
    """A simple random sample of each topic's depth pool, without replacement: :func:`stratified` with one stratum.

    Source: Yilmaz & Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.
    """
    if not 0 < rate <= 1:
        raise InputError(f"sampling rate: expected a share above 0 and at most 1, found {rate}")
    return _draw_by_stratum(runs, "uniform", [Stratum(depth, rate)], seed)


@STRATEGIES.add(
    "stratified",
    label="Stratified sample",
    description="A random sample with lower rates at deeper ranks, for xinfAP and infNDCG.",
    draw=lambda full: {"strata": two_strata(full.ranks, full.depth, full.share)},
)
def stratified(runs: Sequence[Run], *, strata: Strata = "10:1,50:.3,100:.1", seed: Seed = 1) -> pd.DataFrame:
    """A random sample from each depth stratum of each topic, without replacement.

    A document belongs to the first stratum that contains its best rank in any run. The sample of a stratum of N
    documents has n = rate x N documents, rounded up, and all sets of n documents are equally likely.

    Source: Yilmaz, Kanoulas & Aslam, "A simple and efficient sampling method for estimating AP and NDCG", SIGIR 2008;
    such strata made the pools of TREC tracks that report xinfAP.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy``, ``rank`` (the best over the runs), ``runs`` (how many runs have it
        within the depth), ``probability`` (n / N, the exact probability of being drawn), ``stratum`` (0, 1 ...),
        ``drawn``. The whole population: the sample stands first in its topic, each part by rank, number of runs and
        document id.
    """
    return _draw_by_stratum(runs, "stratified", parse_strata(strata), seed)


@STRATEGIES.add(
    "statap",
    label="statAP sample",
    description="A random sample of fixed size per topic, weighted by each document's share in average precision.",
    draw=lambda full: {
        "budget": max(1, int(full.share * len(full.ranks) + 1e-9) // full.topics),
        "depth": full.depth,
    },
    limits=("budget", "depth"),
)
def statap(runs: Sequence[Run], *, budget: Budget = 100, depth: Depth = 100, seed: Seed = 1) -> pd.DataFrame:
    """A sample of `budget` documents with probabilities proportional to their weight in the runs' average precision.

    A run with n documents gives rank r the weight (1 + 1/r + 1/(r + 1) + ... + 1/n) / 2n, the share of its average
    precision that rests on that rank when all documents are equally likely to be relevant. A document's weight is
    the mean over the runs; a document whose probability would exceed 1 is always sampled.

    The paper draws with replacement within strata. Here the sample is systematic, in the order of weight, so exactly
    `budget` different documents are drawn and their probabilities are exact. Joint probabilities of two documents,
    which textbook variances need, are not known.

    Source: Pavlu & Aslam, "A practical sampling strategy for efficient retrieval evaluation", Northeastern
    University, 2007; the weights are from Aslam, Pavlu & Yilmaz, "A statistical method for system evaluation using
    incomplete judgments", SIGIR 2006; the sampling from Madow, "On the theory of systematic sampling, II", Annals of
    Mathematical Statistics 20, 1949.

    Returns
    -------
    DataFrame
        As :func:`stratified`, with null strata; each part by weight, rank and document id.
    """
    check_budget(budget)
    check_depth(depth)
    rows = join_runs(runs, depth)
    length = np.bincount(rows.lists)[rows.lists]
    weights = rows.ordered(rows.sum_by_pair(_prior(rows.rank, length)) / max(len(runs), 1))
    parts = []
    for query_id, part in weights.groupby("query_id", sort=False):
        probability = _probabilities(part["fusion"].to_numpy(), budget)
        start = next(_random_numbers(seed, str(query_id), [""]))
        parts.append(part.assign(probability=probability, drawn=_draw_systematically(probability, start)))
    pool = pd.concat(parts) if parts else weights.assign(probability=0.0, drawn=False)
    return _arrange(pool.assign(strategy="statap", rank=pool["best"], stratum=None))


def _draw_by_stratum(runs: Sequence[Run], strategy: str, strata: Sequence[Stratum], seed: int) -> pd.DataFrame:
    """The depth pool of the deepest stratum, with a simple random sample of each stratum."""
    pool = depth_pool(runs, depth=strata[-1].depth)
    stratum = np.searchsorted([s.depth for s in strata], pool["rank"].to_numpy(dtype=np.int64))
    rate = np.array([s.rate for s in strata])[stratum]
    number = np.empty(len(pool))
    for query_id, part in pool.groupby("query_id", sort=False):
        number[part.index] = list(_random_numbers(seed, str(query_id), part["doc_id"]))
    pool = pool.assign(strategy=strategy, stratum=stratum, number=number)
    groups = pool.groupby(["query_id", "stratum"], sort=False)["number"]
    size = groups.transform("size").to_numpy(dtype=np.int64)
    # .3 * 100 may exceed 30 by a rounding error.
    count = np.maximum(np.ceil(rate * size - 1e-9), 1)
    drawn = groups.rank(method="first").to_numpy() <= count
    return _arrange(pool.assign(probability=np.divide(count, size), drawn=drawn))


def _arrange(pool: pd.DataFrame) -> pd.DataFrame:
    """The columns of a sample, the drawn documents of each topic first, and otherwise the order kept."""
    topic = pd.factorize(pool["query_id"])[0]
    order = np.lexsort((~pool["drawn"].to_numpy(dtype=np.bool_), topic))
    typed = pool.astype({"probability": "float64", "stratum": "Int64", "drawn": "bool"})
    return typed.iloc[order].reset_index(drop=True)[list(SAMPLE_COLUMNS)]


def _random_numbers(seed: int, query_id: str, doc_ids: Iterable[str]) -> Iterator[float]:
    """Each document's permanent random number, from 0 to below 1."""
    prefix = hashlib.blake2b(f"{seed}\n{query_id}\n".encode("utf-8", "surrogatepass"), digest_size=8)
    for doc_id in doc_ids:
        number = prefix.copy()
        number.update(doc_id.encode("utf-8", "surrogatepass"))
        # A double holds 53 bits.
        yield (int.from_bytes(number.digest(), "little") >> 11) / 2**53


def _prior(rank: Integers, length: Integers) -> Floats:
    """(rows,) the share of a list's average precision that rests on each rank; over a list it sums to 1."""
    longest = int(length.max(initial=0))
    # harmonic[n] = 1 + 1/2 + ... + 1/n
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
    return (1.0 + harmonic[length] - harmonic[rank - 1]) / (2.0 * length)


def _probabilities(weight: Floats, budget: int) -> Floats:
    """Weights, highest first -> probabilities in proportion to them, at most 1, whose sum is `budget`."""
    if budget >= len(weight):
        return np.ones(len(weight))
    below = np.cumsum(weight[::-1])[::-1]
    certain = 0
    while weight[certain] * (budget - certain) >= below[certain]:
        certain += 1
    return np.concatenate([np.ones(certain), weight[certain:] * (budget - certain) / below[certain]])


def _draw_systematically(probability: Floats, start: float) -> Bools:
    """Mark the cumulated probabilities that contain one of `start`, start + 1, start + 2 ..."""
    ends = np.cumsum(probability)
    # The sum is a whole number but for rounding, which must not add or remove a document.
    ends[ends > ends[-1] - 1e-9] = np.round(ends[-1])
    return np.diff(np.ceil(ends - start), prepend=np.ceil(-start)) > 0
