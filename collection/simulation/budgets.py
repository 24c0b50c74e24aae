"""Comparison of pooling strategies on known qrels, when only a part of the full pool is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from collection import pooling
from collection.active_learning.features import FeatureMatrix, build
from collection.active_learning.training_round import Evidence, Recipe, Space
from collection.core.arrays import Floats, Ints
from collection.core.display import Displayed, Summary, print_progress
from collection.core.errors import InputError, require_known
from collection.core.frames import QRELS, TOPICS
from collection.core.phrases import count, join_first, plural
from collection.core.ranking import rank_run
from collection.core.records import Document, Run
from collection.core.topic_fields import to_topics, topic_text
from collection.expected_judgements import Pairs, decisive_pairs, describe, draw_values
from collection.measures import Measure, align, as_measure, index_qrels
from collection.measures.imputation import complete_all, to_its_depth
from collection.pooling import Indices
from collection.simulation.cases import Case
from collection.simulation.replay import replay_loop
from collection.statistics.rank_correlation import kendall, tau_ap

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


DECIDING, LOOP = "decisive", "loop"
"""Strategies that are not in the registry of pooling strategies."""

JUDGED_ONLY, EXPECTED = "judged only", "expected gains"
"""How an unjudged pair counts: with gain 0, or with its expected gain."""

UnjudgedUse = Literal["not-relevant", "left-out"]
"""Pairs without a grade in the qrels: not relevant, or left out of the runs."""

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
    unjudged: UnjudgedUse = "not-relevant",
    progress: Callable[[str, int, int], None] | None = None,
) -> BudgetComparison:
    """Judge a part of the full pool by each strategy, and compare the resulting ranking of the runs with the true one.

    The full pool is the union of the first `depth` documents of every run; the true ranking uses all qrels. A strategy
    that ranks judges the first pair of every topic, then the second of every topic, until the budget is spent. A random
    sample has the rate that the budget allows (rounded up in each stratum); a stratified sample has twice that rate in
    the upper fifth of the depth. "decisive" (:func:`~collection.expected_judgements.decisive_pairs`) spends the budget
    across topics; "loop" orders each topic's pool by active learning. Strategies and estimates see no grade outside the
    budget.

    Parameters
    ----------
    runs
        Two or more.
    qrels
        Known grades (:data:`collection.core.frames.QRELS`).
    strategies
        Names of pooling strategies, "decisive" or "loop"; by default all that are possible, except those with the
        same order as another one (``orders_as``).
    budgets
        Shares of the pairs of the full pool, above 0 and at most 1.
    measure
        Measure that ranks the runs.
    depth
        Depth of the full pool.
    documents, topics
        Texts, for "loop" and for expected gains. Without them, "loop" is left out.
    seeds
        Number of replays of a randomised strategy, with the seeds 0, 1, ...; the table has the means.
    draws
        Number of draws for expected gains.
    unjudged
        Pairs without a grade in the qrels: "not-relevant", or "left-out" of the runs before they are pooled.
    progress
        Called with the strategy, the number of replays done and their total: before each replay, and at the end. By
        default, a comparison that takes longer prints lines on stderr.

    Returns
    -------
    BudgetComparison
        A console or notebook shows the best strategies and each strategy's tau by budget.

    Raises
    ------
    InputError
        Too few runs, no common topic, no relevant document, or a number out of range.
    UnknownNameError
        A strategy is unknown.
    """
    measure, progress = as_measure(measure), progress or print_progress("comparing pools")
    require_known("treatment of unjudged pairs", get_args(UnjudgedUse), unjudged)
    if unjudged == "left-out":
        runs = _keep_judged(runs, qrels)
    material = _Material.of(runs, qrels, depth, documents, topics)
    wanted = _wanted(strategies, material)
    if not budgets or not all(0 < share <= 1 for share in budgets) or seeds < 1:
        raise InputError(
            "expected budgets above 0 and at most 1, and 1 or more seeds; "
            f"found the budgets {list(budgets)} and {seeds} seeds"
        )
    index = index_qrels(qrels[qrels["query_id"].astype("str").isin(material.pairs.frame["query_id"])])
    truth = np.array([measure(align(run.frame, index)).mean() for run in runs])
    # Runs with equal values, such as two copies of one run, are ties on both sides.
    ties: Literal["a", "b"] = "a" if len(np.unique(truth)) == len(truth) else "b"
    rows: list[tuple[str, str, float, int, float, float, float]] = []
    replays = [(name, seed) for name in wanted for seed in range(seeds if _is_random(name) else 1)]
    relevant = material.grades > 0
    for number, (name, seed) in enumerate(replays):
        progress(name, number, len(replays))
        for share, chosen in zip(budgets, _choose(material, name, budgets, measure, seed), strict=True):
            judged = np.full(len(material.grades), np.nan)
            judged[chosen] = material.grades[chosen]
            recall = float(relevant[chosen].sum() / relevant.sum())
            for estimate, values in _estimate(material, judged, measure, draws, seed):
                taus = (kendall(truth, values), tau_ap(truth, values, ties=ties))
                rows.append((name, estimate, share, len(chosen), recall, *taus))
    progress(replays[-1][0], len(replays), len(replays))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    means = table.groupby(["strategy", "estimate", "share"], sort=False, as_index=False).mean()
    return BudgetComparison(means, str(measure), len(material.grades), tuple(_notes(material, unjudged)))


def _keep_judged(runs: Sequence[Run], qrels: pd.DataFrame) -> list[Run]:
    """The runs without the documents that have no grade in the qrels."""
    keys = ["query_id", "doc_id"]
    qrels = QRELS.check(qrels)
    judged = pd.MultiIndex.from_frame(qrels[qrels["relevance"] >= 0][keys].astype("str"))
    judged_runs = []
    for run in runs:
        rows = run.frame[pd.MultiIndex.from_frame(run.frame[keys].astype("str")).isin(judged)]
        judged_runs.append(run._replace(frame=rank_run(rows.sort_values("listed", kind="stable")[[*keys, "score"]])))
    return judged_runs


def _notes(material: _Material, unjudged: UnjudgedUse) -> list[str]:
    first = f"the full pool is the first {count(material.depth, 'document')} of every run"
    if unjudged == "left-out":
        return [f"{first}, without documents that have no grade in the qrels"]
    if not material.ungraded:
        return [first]
    pairs = f"{material.ungraded:,} of its {count(len(material.grades), 'pair')}"
    have, are = plural(material.ungraded, "has", "have"), plural(material.ungraded, "counts", "count")
    return [
        f"{first}; {pairs} {have} no grade in the qrels and {are} as not relevant. If they are unknown, leave them "
        "out: --unjudged left-out"
    ]


@dataclass(frozen=True, eq=False, repr=False)
class BudgetComparison(Displayed):
    """Rank correlation that each pooling strategy reaches with a part of the judgements.

    Attributes
    ----------
    table
        ``strategy``; ``estimate`` ("judged only": unjudged pairs are not relevant; "expected gains":
        :func:`~collection.expected_judgements.draw_values`); ``share`` (the budget); ``judgements``; ``recall`` (of
        the relevant pairs of the full pool); ``tau`` (Kendall's tau-b) and ``tau_ap`` (with ties="a", or "b" if runs
        are tied in the true ranking) between the two rankings; nan if all runs are tied.
    measure, pairs
        The measure that ranks the runs, and the number of pairs of the full pool.
    notes
        The full pool, and how pairs without a grade count.
    """

    table: pd.DataFrame
    measure: str
    pairs: int
    notes: tuple[str, ...]

    def best(self) -> list[str]:
        """Name the strategies with the highest tau with each budget; none if no ranking could be compared."""
        sentences = []
        for share, rows in self.table.dropna(subset="tau").groupby("share"):
            # Values that print the same are ties.
            first = rows[rows["tau"].round(3) == rows["tau"].round(3).max()]
            names = [f"{row.strategy} ({row.estimate})" for row in first.itertuples()]
            sentences.append(
                f"At {_percent(float(str(share)))} of the full pool, Kendall's tau is highest for "
                f"{join_first(names, 3)}: {first['tau'].max():.3f}."
            )
        return sentences

    def taus(self) -> pd.DataFrame:
        """(strategy, estimate) x budgets: Kendall's tau, highest mean first."""
        wide = self.table.pivot(index=["strategy", "estimate"], columns="share", values="tau")
        return wide.loc[wide.mean(axis=1).sort_values(ascending=False, kind="stable").index]

    def _summary(self) -> Summary:
        taus = self.taus()
        shown = taus.set_axis(
            [f"tau at {_percent(float(share))}" for share in taus.columns.tolist()], axis=1
        ).reset_index()
        headlines = self.best() or ["No rankings could be compared, because all runs are tied."]
        details = "table (judgements, recall, tau, tau_AP), taus()"
        return Summary(headlines, shown, self.notes, details, decimals=3, row_names=False)


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


@dataclass(frozen=True, eq=False)
class _Material:
    """The full pool and its pairs."""

    runs: Sequence[Run]
    pool: pd.DataFrame
    pairs: Pairs
    grades: Floats
    levels: list[float]
    """The grade scale: all grades of the qrels, inside and outside the pool."""
    ungraded: int
    """Number of pairs without a grade, which count as not relevant."""
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
        qrels = QRELS.check(qrels, "a comparison of pools")
        if len(runs) < 2:
            raise InputError(f"comparing pools needs at least 2 runs to rank, found {len(runs)}")
        pool = pooling.depth(runs, depth=depth)
        known = qrels.assign(query_id=qrels["query_id"].astype("str"), doc_id=qrels["doc_id"].astype("str"))
        pool = pool[pool["query_id"].isin(known["query_id"])].reset_index(drop=True)
        if pool.empty:
            raise InputError("comparing pools needs topics that are in the runs and the qrels, found none")
        graded = known.groupby(["query_id", "doc_id"])["relevance"].max()
        found = graded.where(graded >= 0).reindex(pd.MultiIndex.from_frame(pool[["query_id", "doc_id"]]))
        graded, grades = graded.clip(lower=0), found.fillna(0)
        if not (grades > 0).any():
            raise InputError(f"comparing pools needs relevant documents, found none in the pool of depth {depth}")
        texts = None if documents is None or topics is None else _Texts.of(pool, documents, topics)
        pairs = describe(pool, runs, texts=texts.rows if texts else None, scores=texts.scores if texts else None)
        levels = [float(level) for level in np.unique([0.0, *graded])]
        ungraded = int(found.isna().sum())
        return cls(runs, pool, pairs, grades.to_numpy(dtype=np.float64), levels, ungraded, depth, texts)

    @cached_property
    def rankings(self) -> list[list[Indices]]:
        """Give for each topic and run the documents as positions in the topic's pairs."""
        parts = [self.pool.iloc[rows] for rows in self.pairs.members]
        return [pooling.list_rankings(self.runs, part["query_id"].iloc[0], pd.Index(part["doc_id"])) for part in parts]

    @cached_property
    def places(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.pairs.frame)

    def numbers(self, frame: pd.DataFrame) -> Indices:
        """The pairs of a frame that are in the full pool, in the frame's order."""
        ids = [frame[column].astype("str") for column in ("query_id", "doc_id")]
        positions = self.places.get_indexer(pd.MultiIndex.from_arrays(ids))
        return positions[positions >= 0]

    def in_turn(self, order: Indices) -> Indices:
        """Interleave the topics of an order: the first pair of every topic, then the second, and so on."""
        nth = pd.Series(self.pairs.topic[order]).groupby(self.pairs.topic[order]).cumcount().to_numpy()
        return order[np.argsort(nth, kind="stable")]


@dataclass(frozen=True, eq=False)
class _Texts:
    """The texts of the pool's documents."""

    features: FeatureMatrix
    doc_ids: pd.Index[str]
    """Ids of all rows but the last one, which is empty and represents every document without a text."""
    document: Ints
    """(pairs,) row of each pair's document."""
    topics: dict[str, str]
    rows: csr_matrix
    scores: Floats

    @classmethod
    def of(cls, pool: pd.DataFrame, documents: Iterable[Document], topics: pd.DataFrame) -> _Texts:
        topics = TOPICS.check(topics, "a comparison of pools")
        wanted = set(pool["doc_id"])
        texts = {d.doc_id: f"{d.title} {d.text}" for d in documents if d.doc_id in wanted and d.text is not None}
        if not texts:
            raise InputError(
                "documents: expected ids of the pool, found none of them; check the ids, or compare without documents"
            )
        features = build([*texts.values(), None])
        doc_ids = pd.Index(pd.Series(list(texts), dtype="str"))
        document = doc_ids.get_indexer(pd.Index(pool["doc_id"])).astype(np.int64)
        document[document < 0] = len(texts)
        words = {topic.query_id: topic_text(topic) for topic in to_topics(topics)}
        rows = features.rows(document)
        scores = np.zeros((len(pool), 2))
        for query_id, part in pool.groupby("query_id", sort=False):
            text, at = words.get(str(query_id), ""), part.index.to_numpy()
            scores[at, 0] = features.bm25(text)[document[at]]
            scores[at, 1] = (rows[at] @ features.vectorize(text).T).toarray()[:, 0]
        return cls(features, doc_ids, document, words, rows, scores)


def _wanted(strategies: Sequence[str] | None, material: _Material) -> list[str]:
    if strategies is None:
        loop = [LOOP] if material.texts is not None else []
        return [*(s.name for s in pooling.STRATEGIES if not s.orders_as), *loop, DECIDING]
    require_known("strategy", [*(s.name for s in pooling.STRATEGIES), LOOP, DECIDING], *strategies)
    if LOOP in strategies and material.texts is None:
        raise InputError("the strategy loop needs documents and topics; pass both, or leave it out")
    return list(strategies)


def _is_random(name: str) -> bool:
    return name in (LOOP, DECIDING) or "seed" in pooling.STRATEGIES[name].parameters


def _choose(material: _Material, name: str, budgets: Sequence[float], measure: Measure, seed: int) -> Iterator[Indices]:
    """Yield the pairs that a strategy judges with each budget."""
    counts = [max(1, int(share * len(material.grades) + 1e-9)) for share in budgets]
    if name == DECIDING:
        order = _order_decisive(material, max(counts), measure, seed)
    elif name == LOOP:
        order = material.in_turn(_order_loop(material, seed))
    elif (entry := pooling.STRATEGIES[name]).adaptive:
        order = material.in_turn(_order_adaptive(material, entry, seed))
    elif (draw := entry.draw) is not None:
        ranks = material.pool["rank"].to_numpy(dtype=np.int64)
        for size in counts:
            full = pooling.FullPool(ranks, material.depth, len(material.pairs.members), size / len(ranks))
            sample = entry.pool(material.runs, seed=seed, **draw(full))
            yield material.numbers(sample[sample["drawn"]])
        return
    else:
        order = material.in_turn(material.numbers(entry.whole_pool(material.runs)))
    for size in counts:
        yield order[:size]


def _order_decisive(material: _Material, size: int, measure: Measure, seed: int) -> Indices:
    cutoff = measure.level if measure.entry.at == "cutoff" else None
    # The batch grows with the pool, so that a large pool takes no more fits than a small one.
    batch = max(10, len(material.grades) // 25)
    selector = decisive_pairs(
        material.pairs, material.levels, cutoff=int(cutoff or material.depth), batch=batch, seed=seed
    )
    chosen = [next(selector)]
    while sum(map(len, chosen)) < size:
        chosen.append(selector.send(material.grades[chosen[-1]]))
    return np.concatenate(chosen)


def _order_adaptive(material: _Material, entry: pooling.StrategyEntry, seed: int) -> Indices:
    """Order the pairs of each topic by an adaptive strategy."""
    orders = []
    for members, rankings in zip(material.pairs.members, material.rankings, strict=True):
        selector = entry.begin(rankings, seed)
        orders.append(members[pooling.replay(selector, material.grades[members] > 0)])
    return np.concatenate(orders)


def _order_loop(material: _Material, seed: int) -> Indices:
    """Order the pairs of each topic by the loop, with a new model after every ten judgements."""
    texts = material.texts
    assert texts is not None
    of_runs = dict(iter(pooling.evidence(material.runs).groupby("query_id", sort=False)))
    orders = []
    for members in material.pairs.members:
        query_id = str(material.pool["query_id"].iloc[members[0]])
        with_text = members[texts.document[members] < len(texts.doc_ids)]
        rows = texts.document[with_text]
        pair, allowed = np.full(texts.features.size, -1), np.zeros(texts.features.size, dtype=np.bool_)
        grades = np.zeros(texts.features.size, dtype=np.int64)
        pair[rows], allowed[rows], grades[rows] = with_text, True, material.grades[with_text]
        seen = of_runs[query_id].set_index("doc_id")[list(Evidence._fields)].reindex(texts.doc_ids).fillna(0)
        spread = (np.append(seen[c].to_numpy(dtype=np.float32), np.float32(0)) for c in Evidence._fields)
        space = Space(texts.features, allowed, texts.topics.get(query_id, ""), Evidence(*spread))
        case = Case(query_id, texts.doc_ids, grades, space, {}, [])
        order = replay_loop(case, Recipe(), seed, schedule="10", end="ranked").order
        orders += [pair[order], np.setdiff1d(members, with_text)]
    return np.concatenate(orders)


def _estimate(
    material: _Material, judged: Floats, measure: Measure, draws: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Yield the name of each estimate and the values of the runs (R,)."""
    known = np.where(np.isnan(judged), -1.0, judged)[:, None]
    numbered = (to_its_depth(aligned, measure) for aligned in material.pairs.numbered)
    yield JUDGED_ONLY, np.array([measure(aligned).mean() for aligned in complete_all(numbered, known)])
    if not measure.entry.needs:
        drawn = draw_values(material.pairs, judged, [measure], levels=material.levels, draws=draws, seed=seed)
        yield EXPECTED, drawn[measure].mean(axis=(1, 2))
