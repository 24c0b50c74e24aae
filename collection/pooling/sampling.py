"""Pools of which only a sample is judged: what is drawn, with which probability, and what was not drawn.

A sample costs a part of what it speaks for, and measures made for it estimate what judging all would have given. For
that they have to know what was left out, so every frame here holds the whole population of a topic: ``drawn`` tells
what is to be judged.

Chance is a function of the seed, the topic and the document and of nothing else: a permanent random number in the
sense of Ohlsson, "Coordination of samples using permanent random numbers", in: Business Survey Methods, 1995. So the
sample of a topic does not depend on other topics, nor on the order of runs, and at a higher rate what was drawn at
the lower one stays drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.frames import POOL
from collection.pooling.depth_pool import depth as depth_pool
from collection.pooling.run_evidence import Floats, Ints, joined
from collection.pooling.table import STRATEGIES, Budget, Depth, Seed
from collection.records import Run
from collection.registry import Parameter

SAMPLE_COLUMNS = (*POOL.names, "runs", "probability", "stratum", "drawn")


Rate = Annotated[float, Parameter("Sampling rate", "Share of each topic's depth pool: above 0, at most 1.")]
Strata = Annotated[
    str, Parameter("Strata", "Depth:rate, top down: 10:1,50:.3 takes the first ten ranks and 30% of the next forty.")
]


class Stratum(NamedTuple):
    """Documents whose best rank is at most `depth` (and above that of the stratum before), drawn at this rate."""

    depth: int
    rate: float


def parse_strata(text: str) -> list[Stratum]:
    """Strata as they are written: ``10:1,50:.3,100:.1``.

    Parameters
    ----------
    text
        Depth and rate with a colon between them, strata parted by commas; depths ascend, a rate is above 0 and at
        most 1.

    Raises
    ------
    InputError
        It is not that.

    Examples
    --------
    >>> parse_strata("10:1,50:.3")
    [Stratum(depth=10, rate=1.0), Stratum(depth=50, rate=0.3)]
    >>> parse_strata("50:.3,10:1")
    Traceback (most recent call last):
    collection.errors.InputError: strata are written depth:rate, as in 10:1,50:.3,100:.1, with depths that ascend; \
10 comes after 50 in '50:.3,10:1'
    """
    written = "strata are written depth:rate, as in 10:1,50:.3,100:.1"
    strata: list[Stratum] = []
    for part in text.split(","):
        depth, _, rate = (cell.strip() for cell in part.partition(":"))
        try:
            stratum = Stratum(int(depth), float(rate))
        except ValueError:
            raise InputError(f"{written}; found {part.strip()!r} in {text!r}") from None
        if stratum.depth < 1 or not 0 < stratum.rate <= 1:
            raise InputError(
                f"{written}, with depths from 1 on and rates above 0, at most 1; found {part.strip()!r} in {text!r}"
            )
        if strata and stratum.depth <= strata[-1].depth:
            raise InputError(
                f"{written}, with depths that ascend; {stratum.depth} comes after {strata[-1].depth} in {text!r}"
            )
        strata.append(stratum)
    return strata


def two_strata(ranks: Ints, depth: int, share: float) -> str:
    """Strata for a share of a pool: the upper fifth of the depth at twice the share, the rest at what is left.

    Parameters
    ----------
    ranks
        (pairs,) the best rank of each.
    depth
        Of the pool.
    share
        Above 0, at most 1.

    Examples
    --------
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
    description="A random sample of every topic's depth pool at one rate: for infAP and unbiased estimates of totals.",
    draw=lambda full: {"rate": full.share, "depth": full.depth},
    limits=("depth",),
)
def uniform(runs: Sequence[Run], *, depth: Depth = 100, rate: Rate = 0.1, seed: Seed = 1) -> pd.DataFrame:
    """A simple random sample of each topic's depth pool, without replacement.

    The same as :func:`stratified` with one stratum.

    Source: Yilmaz & Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    depth
        How many ranks of each run are in the population, 1 or more.
    rate
        The share of each topic's population that is drawn, above 0, at most 1; rounded up to a whole document.
    seed
        Another seed, another sample.

    Returns
    -------
    DataFrame
        As :func:`stratified`.
    """
    if not 0 < rate <= 1:
        raise InputError(f"the rate of a sample is a share above 0, at most 1, found {rate}")
    return _drawn(runs, "uniform", [Stratum(depth, rate)], seed)


@STRATEGIES.add(
    "stratified",
    label="Stratified sample",
    description="A random sample with a lower rate at deeper ranks: for xinfAP and infNDCG.",
    draw=lambda full: {"strata": two_strata(full.ranks, full.depth, full.share)},
)
def stratified(runs: Sequence[Run], *, strata: Strata = "10:1,50:.3,100:.1", seed: Seed = 1) -> pd.DataFrame:
    """A random sample from each depth stratum of each topic, without replacement.

    A document's stratum is the first that reaches its best rank. In a stratum of N documents the sample has
    n = rate x N, rounded up, so that no stratum is without a sample, and any n of them are equally likely.

    Source: Yilmaz, Kanoulas & Aslam, "A simple and efficient sampling method for estimating AP and NDCG", SIGIR 2008;
    such strata made the pools of TREC tracks that report xinfAP.

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    strata
        As :func:`parse_strata` reads them.
    seed
        Another seed, another sample.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy``, ``rank`` (the best over the runs), ``runs`` (how many runs have it
        within the depth), ``probability`` (n / N, the exact probability of being drawn), ``stratum`` (0, 1 ...),
        ``drawn``. The whole population: what was drawn stands first in its topic, each part by rank, number of runs
        and document id.
    """
    return _drawn(runs, "stratified", parse_strata(strata), seed)


@STRATEGIES.add(
    "statap",
    label="statAP sample",
    description="A random sample of a fixed size per topic, weighted by the documents' part in average precision.",
    draw=lambda full: {
        "budget": max(1, int(full.share * len(full.ranks) + 1e-9) // full.topics),
        "depth": full.depth,
    },
    limits=("budget", "depth"),
)
def statap(runs: Sequence[Run], *, budget: Budget = 100, depth: Depth = 100, seed: Seed = 1) -> pd.DataFrame:
    """A sample with probabilities in proportion to what documents weigh in the runs' average precision.

    A run with n documents gives rank r the weight (1 + 1/r + 1/(r + 1) + ... + 1/n) / 2n, the share of its average
    precision that rests on that rank when all documents are equally likely to be relevant. A document's weight is
    the mean over the runs; one that weighs more than a whole place in the sample is certain.

    The paper draws with replacement within strata. Here the sample is systematic: probabilities are laid end to end in
    the order of weight, and every place a whole step from a random start is drawn. So exactly `budget` documents
    are drawn, all different, the probabilities are exact, and every part of the order gets its share. (What a
    systematic sample does not have is a known chance for every two documents together, which textbook variances need.)

    Source: Pavlu & Aslam, "A practical sampling strategy for efficient retrieval evaluation", Northeastern
    University, 2007; the weights are from Aslam, Pavlu & Yilmaz, "A statistical method for system evaluation using
    incomplete judgments", SIGIR 2006; the sampling from Madow, "On the theory of systematic sampling, II", Annals of
    Mathematical Statistics 20, 1949.

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    budget
        How many documents of each topic are drawn, 1 or more; all where there are no more.
    depth
        How many ranks of each run are in the population, 1 or more.
    seed
        Another seed, another sample.

    Returns
    -------
    DataFrame
        As :func:`stratified`, without strata (null); the parts stand by weight, then rank and document id.
    """
    if budget < 1:
        raise InputError(f"the budget of a pool is a number of pairs per topic, 1 or more, found {budget}")
    _check_depth(depth)
    rows = joined(runs, depth)
    length = np.bincount(rows.lists)[rows.lists]
    weights = rows.ordered(rows.summed(_prior(rows.rank, length)) / max(len(runs), 1))
    parts = []
    for query_id, part in weights.groupby("query_id", sort=False):
        probability = _probabilities(part["fusion"].to_numpy(), budget)
        start = next(_chances(seed, str(query_id), [""]))
        parts.append(part.assign(probability=probability, drawn=_systematic(probability, start)))
    pool = pd.concat(parts) if parts else weights.assign(probability=0.0, drawn=False)
    return _arranged(pool.assign(strategy="statap", rank=pool["best"], stratum=None))


def _drawn(runs: Sequence[Run], strategy: str, strata: Sequence[Stratum], seed: int) -> pd.DataFrame:
    """The depth pool of the deepest stratum, with what is drawn of each."""
    _check_depth(strata[-1].depth)
    pool = depth_pool(runs, depth=strata[-1].depth)
    stratum = np.searchsorted([s.depth for s in strata], pool["rank"].to_numpy(dtype=np.int64))
    rate = np.array([s.rate for s in strata])[stratum]
    chance = np.empty(len(pool))
    for query_id, part in pool.groupby("query_id", sort=False):
        chance[part.index] = list(_chances(seed, str(query_id), part["doc_id"]))
    pool = pool.assign(strategy=strategy, stratum=stratum, chance=chance)
    groups = pool.groupby(["query_id", "stratum"], sort=False)["chance"]
    size = groups.transform("size").to_numpy(dtype=np.int64)
    # A rate such as .3 is a little more or less than it says: 30 of 100 are 30, and not 31.
    number = np.maximum(np.ceil(rate * size - 1e-9), 1)
    drawn = groups.rank(method="first").to_numpy() <= number
    return _arranged(pool.assign(probability=np.divide(number, size), drawn=drawn))


def _arranged(pool: pd.DataFrame) -> pd.DataFrame:
    """The columns of a sample; in each topic what was drawn stands first, and otherwise the order is kept."""
    topic = pd.factorize(pool["query_id"])[0]
    order = np.lexsort((np.arange(len(pool)), ~pool["drawn"].to_numpy(dtype=np.bool_), topic))
    typed = pool.astype({"probability": "float64", "stratum": "Int64", "drawn": "bool"})
    return typed.iloc[order].reset_index(drop=True)[list(SAMPLE_COLUMNS)]


def _chances(seed: int, query_id: str, doc_ids: Iterable[str]) -> Iterator[float]:
    """Each document's permanent random number, from 0 to below 1."""
    begun = hashlib.blake2b(f"{seed}\n{query_id}\n".encode("utf-8", "surrogatepass"), digest_size=8)
    for doc_id in doc_ids:
        number = begun.copy()
        number.update(doc_id.encode("utf-8", "surrogatepass"))
        # A double holds 53 bits.
        yield (int.from_bytes(number.digest(), "little") >> 11) / 2**53


def _prior(rank: Ints, length: Ints) -> Floats:
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


def _systematic(probability: Floats, start: float) -> npt.NDArray[np.bool_]:
    """What is drawn where probabilities lie end to end and `start`, start + 1, start + 2 ... hit them."""
    ends = np.cumsum(probability)
    # The sum is a whole number but for rounding, and a hit more or less would be a document more or less.
    ends[ends > ends[-1] - 1e-9] = np.round(ends[-1])
    return np.diff(np.ceil(ends - start), prepend=np.ceil(-start)) > 0


def _check_depth(depth: int) -> None:
    if depth < 1:
        raise InputError(f"the depth of a pool is a rank, 1 or more, found {depth}")
