"""What a budget buys: every way to choose pairs, against qrels that are known, at parts of the full pool's cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import pooling
from collection.active_learning import features as vectors
from collection.active_learning.training_round import Evidence, Recipe, Space, topic_text
from collection.errors import InputError, UnknownNameError
from collection.expected_judgements import Pairs, decisive_pairs, describe, expected_values
from collection.frames import QRELS, TOPICS
from collection.measures import Measure, align, as_measure, index_qrels
from collection.measures.imputation import complete_all, to_its_depth
from collection.pooling import Indices
from collection.records import Document, Run
from collection.simulation.cases import Case
from collection.simulation.replay import play_loop
from collection.statistics.rank_correlation import kendall, tau_ap

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]

DECIDING, LOOP = "decisive", "loop"
"""Ways to choose beside the tables of pooling strategies."""

AS_RRF = "sparse"
"""The strategy whose order is that of "rrf": it differs only in where it stops, and the budget says that here."""

JUDGED_ONLY, EXPECTED = "judged only", "expected gains"
"""What counts of a pair that was not bought: nothing, or what is expected of it."""

WITHOUT_LIMIT = 10**6
"""More documents than a topic has in any pool."""

COLUMNS = ("strategy", "estimate", "share", "judgements", "recall", "tau", "tau_ap")


def compare(
    runs: Sequence[Run],
    qrels: pd.DataFrame,
    *,
    strategies: Sequence[str] | None = None,
    budgets: Sequence[float] = (0.1, 0.25, 0.5),
    measure: Measure | str = "nDCG@10",
    depth: int = 10,
    documents: Iterable[Document] | None = None,
    topics: pd.DataFrame | None = None,
    seeds: int = 1,
    draws: int = 100,
    progress: Callable[[str, int, int], None] | None = None,
) -> pd.DataFrame:
    """Judge a part of the depth pool, chosen in every way, and see what the systems' ranking loses.

    The full pool is the union of the first `depth` documents of every run. A strategy that ranks has its pairs taken
    topic by topic in turn: the first of every topic, then the second of every topic, until the budget is spent.
    Samples get the rate that the budget pays for (rounded up in each stratum), a stratified one twice that rate in the
    upper fifth of the depth. "decisive" (:func:`~collection.expected_judgements.decisive_pairs`) spends the budget
    across topics; "loop" has the active-learning loop order each topic's pool, which needs documents and topics. No
    strategy and no estimate sees a grade that it has not bought. A pair that the qrels do not have is answered with 0.

    Parameters
    ----------
    runs
        Two or more, else there is no ranking.
    qrels
        The known grades. What they make of the runs is what the rankings are compared with; all of them count there,
        those outside the full pool too.
    strategies
        Names of the pooling tables, "decisive" or "loop"; all that can be played if left out, but "sparse", which
        orders as "rrf" does.
    budgets
        Shares of the full pool's pairs, above 0, at most 1.
    measure
        What ranks the runs.
    depth
        Of the full pool.
    documents, topics
        Texts, for the loop and for expected gains; without them both go by the runs alone.
    seeds
        How often a strategy that draws lots is played, with the seeds 0, 1, ...; the table has the means.
    draws
        For expected gains.
    progress
        Told what is played, how many of how many are done: before each, and when all are.

    Returns
    -------
    DataFrame
        ``strategy``, ``estimate`` ("judged only": what was not bought is not relevant; "expected gains":
        :func:`~collection.expected_judgements.expected_values`), ``share`` (the budget), ``judgements`` (its cost),
        ``recall`` (of the full pool's relevant pairs), ``tau`` (Kendall's tau-b), ``tau_ap`` (with
        ties="a"; "b" where all qrels leave runs tied); nan where all runs are tied.

    Raises
    ------
    InputError
        There is nothing to compare, or a number is out of its range.
    UnknownNameError
        There is no such strategy.
    """
    measure = as_measure(measure)
    material = _Material.of(runs, qrels, depth, documents, topics)
    wanted = _wanted(strategies, material)
    if not budgets or not all(0 < share <= 1 for share in budgets) or seeds < 1:
        raise InputError(
            f"budgets are shares above 0, at most 1, and seeds 1 or more; found {list(budgets)} and {seeds}"
        )
    index = index_qrels(qrels[qrels["query_id"].astype("str").isin(material.pairs.frame["query_id"])])
    truth = np.array([measure(align(run.frame, index)).mean() for run in runs])
    # Two runs may be equally good, or the same: then no side is free of ties.
    ties: Literal["a", "b"] = "a" if len(np.unique(truth)) == len(truth) else "b"
    rows: list[tuple[Any, ...]] = []
    plays = [(name, seed) for name in wanted for seed in range(seeds if _draws_lots(name) else 1)]
    for number, (name, seed) in enumerate(plays):
        if progress is not None:
            progress(name, number, len(plays))
        for share, bought in zip(budgets, _bought(material, name, budgets, measure, seed), strict=True):
            judged = np.full(len(material.grades), np.nan)
            judged[bought] = material.grades[bought]
            recall = _recall(material.grades, bought)
            for estimate, values in _estimates(material, judged, measure, draws, seed):
                ranked = (kendall(truth, values), tau_ap(truth, values, ties=ties))
                rows.append((name, estimate, share, len(bought), recall, *ranked))
    if progress is not None:
        progress(plays[-1][0], len(plays), len(plays))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.groupby(["strategy", "estimate", "share"], sort=False, as_index=False).mean()


@dataclass(frozen=True, eq=False)
class _Material:
    """The full pool, with what is known of its pairs."""

    runs: Sequence[Run]
    pool: pd.DataFrame
    pairs: Pairs
    grades: Floats
    levels: list[float]
    """The grade scale, as known before anything is judged: by all qrels, whatever the pool has of it."""
    depth: int
    texts: _Texts | None

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        qrels: pd.DataFrame,
        depth: int,
        documents: Iterable[Document] | None,
        topics: pd.DataFrame | None,
    ) -> _Material:
        QRELS.check(qrels, "a comparison of pools")
        if len(runs) < 2:
            raise InputError(f"a comparison of pools ranks systems, and needs 2 runs or more; found {len(runs)}")
        pool = pooling.depth(runs, depth=depth)
        known = qrels.assign(query_id=qrels["query_id"].astype("str"), doc_id=qrels["doc_id"].astype("str"))
        pool = pool[pool["query_id"].isin(known["query_id"])].reset_index(drop=True)
        if pool.empty:
            raise InputError("a comparison of pools needs topics that runs and qrels share, found none")
        graded = known.groupby(["query_id", "doc_id"])["relevance"].max().clip(lower=0)
        grades = graded.reindex(pd.MultiIndex.from_frame(pool[["query_id", "doc_id"]])).fillna(0)
        if not (grades > 0).any():
            raise InputError(f"a comparison of pools needs relevant documents, found none in the pool of depth {depth}")
        texts = None if documents is None or topics is None else _Texts.of(pool, documents, topics)
        pairs = describe(
            pool, runs, texts=None if texts is None else texts.rows, scores=None if texts is None else texts.scores
        )
        levels = [float(level) for level in np.unique([0.0, *graded])]
        return cls(runs, pool, pairs, grades.to_numpy(dtype=np.float64), levels, depth, texts)

    @cached_property
    def rankings(self) -> list[list[Indices]]:
        """For each topic what adaptive strategies read: the runs' documents as places in the topic's pairs."""
        ids = [
            (self.pool["query_id"].iloc[rows[0]], pd.Index(self.pool["doc_id"].iloc[rows]))
            for rows in self.pairs.members
        ]
        return [pooling.rankings_of(self.runs, query_id, doc_ids) for query_id, doc_ids in ids]

    @cached_property
    def places(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.pairs.frame)

    def numbers(self, frame: pd.DataFrame) -> Indices:
        """The pairs of a frame that are in the full pool, in its order."""
        ids = [frame[column].astype("str") for column in ("query_id", "doc_id")]
        found = self.places.get_indexer(pd.MultiIndex.from_arrays(ids))
        return found[found >= 0]

    def in_turn(self, order: Indices) -> Indices:
        """An order within each topic -> the first of every topic, the second of every topic, and so on."""
        nth = pd.Series(self.pairs.topic[order]).groupby(self.pairs.topic[order]).cumcount().to_numpy()
        return order[np.argsort(nth, kind="stable")]


@dataclass(frozen=True, eq=False)
class _Texts:
    """The texts of the pool's documents."""

    vectors: vectors.Vectors
    doc_ids: pd.Index[str]
    """Of the rows but the last, which is empty: it is that of every document without a text."""
    document: NDArray[np.int64]
    """(pairs,) the document's row."""
    topics: dict[str, str]
    rows: csr_matrix
    scores: Floats

    @classmethod
    def of(cls, pool: pd.DataFrame, documents: Iterable[Document], topics: pd.DataFrame) -> _Texts:
        TOPICS.check(topics, "a comparison of pools")
        wanted = set(pool["doc_id"])
        found = {d.doc_id: f"{d.title} {d.text}" for d in documents if d.doc_id in wanted and d.text is not None}
        if not found:
            raise InputError("the documents have none of the pool's; compare without them, or look at their ids")
        made = vectors.build([*found.values(), None])
        doc_ids = pd.Index(pd.Series(list(found), dtype="str"))
        document = doc_ids.get_indexer(pd.Index(pool["doc_id"])).astype(np.int64)
        document[document < 0] = len(found)
        words = {
            str(t.query_id): topic_text(*(getattr(t, name) for name in TOPICS.names[1:]))
            for t in topics.itertuples(index=False)
        }
        rows = made.rows(document)
        scores = np.zeros((len(pool), 2))
        for query_id, part in pool.groupby("query_id", sort=False):
            text, at = words.get(str(query_id), ""), part.index.to_numpy()
            scores[at, 0] = made.bm25(text)[document[at]]
            scores[at, 1] = (rows[at] @ made.of_text(text).T).toarray()[:, 0]
        return cls(made, doc_ids, document, words, rows, scores)


def _wanted(strategies: Sequence[str] | None, material: _Material) -> list[str]:
    known = [*(s.name for s in pooling.STRATEGIES), *(s.name for s in pooling.ADAPTIVE), LOOP, DECIDING]
    if strategies is None:
        left_out = {AS_RRF} if material.texts is not None else {AS_RRF, LOOP}
        return [name for name in known if name not in left_out]
    for name in strategies:
        if name not in known:
            raise UnknownNameError("strategy", name, known)
    if LOOP in strategies and material.texts is None:
        raise InputError("the loop learns from texts: give documents and topics, or leave it out")
    return list(strategies)


def _entry(name: str) -> Any:
    return pooling.ADAPTIVE[name] if name in pooling.ADAPTIVE else pooling.STRATEGIES[name]


def _draws_lots(name: str) -> bool:
    return name in (LOOP, DECIDING) or "seed" in _entry(name).parameters


def _bought(material: _Material, name: str, budgets: Sequence[float], measure: Measure, seed: int) -> Iterator[Indices]:
    """What each budget buys, as numbers of pairs."""
    counts = [max(1, int(share * len(material.grades) + 1e-9)) for share in budgets]
    if name == DECIDING:
        order = _decided(material, max(counts), measure, seed)
    elif name == LOOP:
        order = material.in_turn(_looped(material, seed))
    elif name in pooling.ADAPTIVE:
        order = material.in_turn(_asked(material, name, seed))
    elif {"rate", "strata"} & pooling.STRATEGIES[name].parameters.keys() or name == "statap":
        for count in counts:
            yield _sampled(material, name, count, seed)
        return
    else:
        limits = pooling.STRATEGIES[name].parameters.keys() & {"depth", "budget", "n"}
        frame = pooling.STRATEGIES[name].function(material.runs, **dict.fromkeys(limits, WITHOUT_LIMIT))
        order = material.in_turn(material.numbers(frame))
    for count in counts:
        yield order[:count]


def _decided(material: _Material, count: int, measure: Measure, seed: int) -> Indices:
    cutoff = measure.level if measure.entry.level == "cutoff" else None
    # A fiftieth of the pool between two fits: a large pool is not fitted more often than a small one.
    batch = max(50, len(material.grades) // 50)
    asking = decisive_pairs(
        material.pairs, material.levels, cutoff=int(cutoff or material.depth), batch=batch, seed=seed
    )
    chosen = [next(asking)]
    while sum(map(len, chosen)) < count:
        chosen.append(asking.send(material.grades[chosen[-1]]))
    return np.concatenate(chosen)


def _asked(material: _Material, name: str, seed: int) -> Indices:
    """The order in which an adaptive strategy asks, topic by topic."""
    entry, orders = pooling.ADAPTIVE[name], []
    parameters = {"seed": seed} if "seed" in entry.parameters else {}
    for members, rankings in zip(material.pairs.members, material.rankings, strict=True):
        asking = entry.function(rankings, **parameters)
        orders.append(members[pooling.replay(asking, material.grades[members] > 0)])
    return np.concatenate(orders)


def _looped(material: _Material, seed: int) -> Indices:
    """The order in which the loop chooses from each topic's pool, ten at a time."""
    assert material.texts is not None, "wanted for the loop"
    texts = material.texts
    of_runs = dict(iter(pooling.evidence(material.runs).groupby("query_id", sort=False)))
    orders = []
    for members in material.pairs.members:
        query_id = str(material.pool["query_id"].iloc[members[0]])
        with_text = members[texts.document[members] < len(texts.doc_ids)]
        rows = texts.document[with_text]
        pair, allowed = np.full(texts.vectors.size, -1), np.zeros(texts.vectors.size, dtype=np.bool_)
        grades = np.zeros(texts.vectors.size, dtype=np.int64)
        pair[rows], allowed[rows], grades[rows] = with_text, True, material.grades[with_text]
        seen = of_runs[query_id].set_index("doc_id")[["fusion", "best", "runs"]].reindex(texts.doc_ids).fillna(0)
        spread = (np.append(seen[c].to_numpy(dtype=np.float32), np.float32(0)) for c in ("fusion", "best", "runs"))
        space = Space(texts.vectors, allowed, texts.topics.get(query_id, ""), Evidence(*spread))
        case = Case(query_id, texts.doc_ids, grades, space, {}, [])
        order = play_loop(case, Recipe(), seed, schedule="10", end="ranked").order
        orders += [pair[order], np.setdiff1d(members, with_text)]
    return np.concatenate(orders)


def _sampled(material: _Material, name: str, count: int, seed: int) -> Indices:
    """A sample of the full pool for which the budget pays."""
    function = pooling.STRATEGIES[name].function
    share, depth = count / len(material.grades), material.depth
    parameters: dict[str, Any]
    if name == "statap":
        parameters = {"budget": max(1, count // len(material.pairs.members)), "depth": depth}
    elif "rate" in pooling.STRATEGIES[name].parameters:
        parameters = {"rate": share, "depth": depth}
    else:
        parameters = {"strata": two_strata(material.pool["rank"].to_numpy(), depth, share)}
    pool = function(material.runs, seed=seed, **parameters)
    return material.numbers(pool[pool["drawn"]])


def two_strata(ranks: NDArray[np.integer], depth: int, share: float) -> str:
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


def _recall(grades: Floats, bought: Indices) -> float:
    return float((grades[bought] > 0).sum() / (grades > 0).sum())


def _estimates(
    material: _Material, judged: Floats, measure: Measure, draws: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """(R,) the runs' values from what was bought, in both ways."""
    known = np.where(np.isnan(judged), -1.0, judged)[:, None]
    numbered = (to_its_depth(aligned, measure) for aligned in material.pairs.numbered)
    yield JUDGED_ONLY, np.array([measure(aligned).mean() for aligned in complete_all(numbered, known)])
    if not measure.entry.needs:
        table = expected_values(material.pairs, judged, [measure], levels=material.levels, draws=draws, seed=seed)
        yield EXPECTED, table["value"].to_numpy()
