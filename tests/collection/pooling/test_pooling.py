"""Pools against independent counts and worked examples, and by their properties."""

import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.core.errors import ColumnsError, InputError, UnknownNameError
from collection.core.frames import POOL
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.pooling import (
    Selector,
    depth,
    evidence,
    list_rankings,
    maxmean,
    mm_ns,
    mtf,
    pool_growth,
    replay,
    rrf,
    strategies,
)
from tests.conftest import frame

ADAPTIVE = strategies(adaptive=True)
STRATEGIES = strategies(adaptive=False)


def ranked(name: str, text: str) -> Run:
    table = frame(text, "query_id", "doc_id", "rank")
    return Run(name, table.assign(listed=table["rank"], score=-1.0 * table["rank"]))


A = ranked("a", "1 x 1\n1 y 2\n2 z 1")
B = ranked("b", "1 y 1\n1 w 2\n2 z 1")


def test_union_of_the_tops_best_rank_first() -> None:
    pool = depth([A, B], depth=2)
    assert pool[["query_id", "doc_id", "rank", "runs"]].values.tolist() == [
        ["1", "y", 1, 2],
        ["1", "x", 1, 1],
        ["1", "w", 2, 1],
        ["2", "z", 1, 2],
    ]
    assert set(pool["strategy"]) == {"depth"}


def test_no_runs_make_an_empty_pool() -> None:
    assert list(depth([]).columns[:4]) == list(POOL.names)
    assert depth([]).empty
    assert pool_growth([]).empty


def test_depth_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="pool depth: expected a rank of 1 or more, found 0"):
        depth([A], depth=0)


def test_growth_credits_each_pair_once() -> None:
    growth = pool_growth([A, B], deepest=2)
    assert growth.values.tolist() == [[1, "a", 1.5], [1, "b", 1.5], [2, "b", 1.0]]


def test_ties_stand_as_listed_or_as_measured_too() -> None:
    run = Run("tied", rank_run(frame("1 a 2\n1 b 1\n1 c 1\n1 d 1", "query_id", "doc_id", "score")))
    assert run.frame["doc_id"].tolist() == ["a", "d", "c", "b"]
    assert depth([run], depth=2)["doc_id"].tolist() == ["a", "b"]
    assert depth([run], depth=2, ties="both")["doc_id"].tolist() == ["a", "b", "d"]
    with pytest.raises(UnknownNameError, match="choose from both, listed"):
        depth([run], ties="random")


def test_the_table_says_parameters_and_defaults() -> None:
    assert STRATEGIES["depth"].parameters == {"depth": 10, "ties": "listed"}


runs_of_one_topic = st.lists(st.permutations(list("abcdefgh")), min_size=1, max_size=5)


@pytest.mark.slow
@given(runs_of_one_topic, st.integers(1, 8))
def test_properties(rankings: list[list[str]], k: int) -> None:
    runs = [
        ranked(str(i), "\n".join(f"1 {doc} {rank}" for rank, doc in enumerate(docs, start=1)))
        for i, docs in enumerate(rankings)
    ]
    pool = depth(runs, depth=k)
    assert set(pool["doc_id"]) == {d for docs in rankings for d in docs[:k]}
    assert pool["doc_id"].is_unique
    assert pool["rank"].is_monotonic_increasing
    deeper = depth(runs, depth=k + 1)
    assert set(pool["doc_id"]) <= set(deeper["doc_id"])
    assert pool_growth(runs, k)["pairs"].sum() == pytest.approx(len(pool))


@pytest.mark.shared
@pytest.mark.slow
def test_depth_10_pool_of_the_37_official_runs_is_fully_judged(shared: Path) -> None:
    """NIST judged this pool; its size is counted here a second time, from the raw lines and nothing of ours."""
    folder = shared / "data" / "trecdl19-runs"
    paths = sorted((folder / "runs").glob("*.run.gz"))
    assert len(paths) == 37
    pool = depth(list(formats.read_runs(paths)), depth=10)

    counted: set[tuple[str, str]] = set()
    for path in paths:
        scored = defaultdict(list)
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                topic, _, doc, _, score, _ = line.split()
                scored[topic].append((-float(score), len(scored[topic]), doc))
        counted |= {(topic, doc) for topic, rows in scored.items() for _, _, doc in sorted(rows)[:10]}
    judged = {tuple(line.split()[0:3:2]) for line in (folder / "qrels.txt").read_text().splitlines()}

    pairs = set(zip(pool["query_id"], pool["doc_id"], strict=True))
    assert pairs == counted
    assert len(pool) == len(counted)
    assert pairs <= judged


# --- reciprocal rank fusion ---------------------------------------------------------------------------


def lines(table: pd.DataFrame) -> list[list[object]]:
    return table.values.tolist()


def listing(name: str, **topics: str) -> Run:
    """A run from one string a topic, best document first, one letter each: ``listing("a", t1="xyz")``."""
    rows = [(topic, doc, float(-place)) for topic, docs in topics.items() for place, doc in enumerate(docs)]
    return Run(name, rank_run(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])))


# a: 1 v, 2 w, 3 x    b: 1 w, 2 v, 3 y    c: 1 z, 2 w. With k = 0:
# v = 1/1 + 1/2 = 1.5    w = 1/2 + 1/1 + 1/2 = 2    x = 1/3    y = 1/3    z = 1
FIVE = [listing("a", t="vwx"), listing("b", t="wvy"), listing("c", t="zw")]


def test_rrf_takes_the_highest_sums() -> None:
    assert lines(rrf(FIVE, budget=4, k=0)) == [
        ["t", "w", "rrf", 1, 3],
        ["t", "v", "rrf", 2, 2],
        ["t", "z", "rrf", 3, 1],
        ["t", "x", "rrf", 4, 1],  # as y, whose id comes later
    ]
    assert list(rrf(FIVE).columns) == [*POOL.names, "runs"]
    assert len(rrf(FIVE)) == 5


def test_rrf_counts_the_budget_by_topic_and_keeps_their_order() -> None:
    runs = [listing("a", t2="pq", t1="xyz"), listing("b", t1="zyw", t3="p")]
    pool = rrf(runs, budget=2)
    # In t1 z has 1/61 + 1/63, which is a little more than y's 2/62; x has 1/61, w 1/63.
    assert lines(pool[["query_id", "doc_id", "rank"]]) == [
        ["t2", "p", 1],
        ["t2", "q", 2],
        ["t1", "z", 1],
        ["t1", "y", 2],
        ["t3", "p", 1],
    ]


def test_rrf_of_a_published_example() -> None:
    """The full example on Elasticsearch's page on reciprocal rank fusion, where k is 1."""
    found = evidence([listing("query", t="4321"), listing("knn", t="3215")], k=1)
    assert dict(zip(found["doc_id"], found["fusion"].round(4), strict=True)) == {
        "3": 0.8333,
        "2": 0.5833,
        "4": 0.5,
        "1": 0.45,
        "5": 0.2,
    }
    assert found["doc_id"].tolist() == ["3", "2", "4", "1", "5"]


def test_equal_sums_stand_by_best_rank_then_by_document() -> None:
    # k = 0: p is 1/2; q = r = 1/3 + 1/6; so by best rank p, then q, then r.
    runs = [ranked("a", "t p 2"), ranked("b", "t q 3\nt r 6"), ranked("c", "t r 3\nt q 6")]
    assert lines(evidence(runs, k=0)[["doc_id", "best", "runs"]]) == [["p", 2, 1], ["q", 3, 2], ["r", 3, 2]]


def test_fusion_goes_by_what_was_listed() -> None:
    tied = Run("tied", rank_run(frame("1 a 1\n1 b 1\n1 c 1", "query_id", "doc_id", "score")))
    assert tied.frame["doc_id"].tolist() == ["c", "b", "a"]
    assert evidence([tied])["doc_id"].tolist() == ["a", "b", "c"]
    assert evidence([tied])["fusion"].tolist() == [1 / 61, 1 / 62, 1 / 63]


@pytest.mark.slow
def test_a_run_may_be_deeper_than_sixteen_bits_count() -> None:
    deep = 70_000
    table = pd.DataFrame({"query_id": "t", "doc_id": [f"d{i:05}" for i in range(deep)], "score": -np.arange(deep)})
    found = evidence([Run("deep", rank_run(table))])
    assert found["best"].tolist() == list(range(1, deep + 1))
    assert found["doc_id"].is_monotonic_increasing


def test_nothing_makes_no_evidence() -> None:
    empty = Run("empty", rank_run(pd.DataFrame({"query_id": [], "doc_id": [], "score": []}).astype({"doc_id": str})))
    for runs in ([], [empty], [empty, empty]):
        table = evidence(runs)
        assert table.empty
        assert table.dtypes.astype(str).to_dict() == {
            "query_id": "str",
            "doc_id": "str",
            "fusion": "float64",
            "best": "int32",
            "runs": "int32",
        }
        assert rrf(runs).empty
        assert list(rrf(runs).columns) == [*POOL.names, "runs"]
    assert lines(evidence([empty, *FIVE])) == lines(evidence(FIVE))


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="expected 1 or more pairs per topic, found 0"):
        rrf(FIVE, budget=0)
    with pytest.raises(InputError, match="constant k of reciprocal rank fusion: expected 0 or more, found -1"):
        rrf(FIVE, k=-1)
    with pytest.raises(ColumnsError, match="run a"):
        evidence([Run("a", FIVE[0].frame.drop(columns="listed"))])
    assert STRATEGIES["rrf"].parameters == {"budget": 100, "k": 60, "total": 0}


some_runs = st.lists(
    st.dictionaries(
        st.sampled_from(["t1", "t2", "t3"]),
        st.lists(st.tuples(st.sampled_from("abcdefghij\u00e9\U0001f600"), st.integers(0, 3)), unique_by=lambda x: x[0]),
    ),
    max_size=5,
)
"""Runs with ties, empty ones, and ones that lack a topic."""


@given(some_runs, st.integers(0, 60), st.booleans())
@pytest.mark.slow
def test_evidence_is_what_two_loops_count(found: list[dict[str, list[tuple[str, int]]]], k: int, coded: bool) -> None:
    runs = []
    for number, topics in enumerate(found):
        rows = [(topic, doc, float(score)) for topic, docs in topics.items() for doc, score in docs]
        table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        # As run files are read, and as somebody might write a frame down.
        texts = table.astype({"query_id": "category" if coded else "str", "doc_id": "str"})
        runs.append(Run(str(number), rank_run(texts)))
    ranks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for run in runs:
        for row in run.frame.itertuples():
            ranks[row.query_id, row.doc_id].append(row.listed)
    table = evidence(runs, k=k)
    assert len(table) == len(ranks)
    for row in table.itertuples():
        own = ranks[row.query_id, row.doc_id]
        assert row.fusion == pytest.approx(sum(1 / (k + rank) for rank in own), rel=1e-12)
        assert (row.best, row.runs) == (min(own), len(own))
    topics_seen = list(dict.fromkeys(topic for topic, _ in ranks))
    keys = [(topics_seen.index(r.query_id), -r.fusion, r.best, r.doc_id) for r in table.itertuples()]
    assert keys == sorted(keys)
    # The order of the runs changes the order of the topics and nothing else.
    again = evidence(runs[::-1], k=k).set_index(["query_id", "doc_id"])
    assert lines(again.loc[list(zip(table["query_id"], table["doc_id"], strict=True))]) == lines(table.iloc[:, 2:])


# --- adaptive strategies --------------------------------------------------------------------------------

# Five documents, three runs; 1, 3 and 4 are relevant.
RANKINGS = [np.array([0, 1, 2]), np.array([1, 3, 0]), np.array([4, 2])]
RELEVANT = [False, True, False, True, True]


def test_mtf_by_hand() -> None:
    # Priorities 0 0 0: run 0 gives 0, irrelevant: -1 0 0.
    # Runs 1 and 2 are level, 1 is first: 1 and 3 are relevant, 0 is passed over, the run is through.
    # Run 2 (0): 4 is relevant, 2 is not: -1 . -1, and all have been judged.
    assert replay(mtf(RANKINGS), RELEVANT).tolist() == [0, 1, 3, 4, 2]
    # Nothing is relevant: each run gives one document, then again in turn; run 1 passes over nothing yet.
    # 0 (-1 0 0), 1 (-1 -1 0), 4 (-1 -1 -1), run 0: 1 is passed over, 2; run 1: 3.
    assert replay(mtf(RANKINGS), [False] * 5).tolist() == [0, 1, 4, 2, 3]


def test_maxmean_by_hand() -> None:
    # Means 1/2 1/2 1/2: run 0 gives 0, irrelevant: 1/3 1/2 1/2.
    # Run 1: 1 relevant 2/3, 3 relevant 3/4; 0 is passed over and it is through.
    # Run 2: 4 relevant 2/3, 2 irrelevant, and all have been judged.
    assert replay(maxmean(RANKINGS), RELEVANT).tolist() == [0, 1, 3, 4, 2]


# Run 0 begins with three relevant ones and then has none; run 1 has every second one.
LONG = [np.array([0, 1, 2, 3, 4, 5]), np.array([6, 7, 8, 9])]
LONG_RELEVANT = [True, True, True, False, False, False, True, False, True, False]


def test_maxmean_remembers_and_the_others_forget() -> None:
    # maxmean: run 0: 2/3 3/4 4/5, then 4/6 4/7 with 3 and 4, then 4/8 = 1/2 with 5: all before run 1.
    assert replay(maxmean(LONG), LONG_RELEVANT).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    # mm-ns: run 0 is at 1/3 after 3. Run 1 (1/2): 6 gives 2/3, 7 gives 1/3. Both at 1/3: run 1 has given two,
    # run 0 four, so run 1: 8 gives 2/3, 9 gives 1/3 and it is through. Run 0: 4, 5.
    assert replay(mm_ns(LONG), LONG_RELEVANT).tolist() == [0, 1, 2, 3, 6, 7, 8, 9, 4, 5]
    assert replay(mm_ns(LONG, keep=1.0), LONG_RELEVANT).tolist() == replay(maxmean(LONG), LONG_RELEVANT).tolist()
    with pytest.raises(InputError, match="from 0 to 1, found 2"):
        mm_ns(LONG, keep=2)


def test_mtf_and_maxmean_differ_where_a_good_run_fails_once() -> None:
    # Run 0: 0 and 1 are relevant, 2 is not. mtf: 0 0 -> -1 0, so run 1: 4 is irrelevant; level, and run 1 gave less: 5.
    # maxmean: 3/4 -> 3/5, still above run 1's 1/2.
    rankings, relevant = [np.array([0, 1, 2, 3]), np.array([4, 5])], [True, True, False, True, False, False]
    assert replay(mtf(rankings), relevant).tolist() == [0, 1, 2, 4, 5, 3]
    assert replay(maxmean(rankings), relevant).tolist() == [0, 1, 2, 3, 4, 5]


@given(
    st.sampled_from(list(ADAPTIVE)),
    st.lists(st.lists(st.integers(0, 11), unique=True), max_size=5),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_each_retrieved_document_is_asked_for_once(name: str, found: list[list[int]], relevant: list[bool]) -> None:
    rankings = [np.array(docs, dtype=np.int64) for docs in found]
    order = replay(ADAPTIVE[name].function(rankings), relevant).tolist()
    assert sorted(order) == sorted({doc for docs in found for doc in docs})
    assert order == replay(ADAPTIVE[name].function(rankings), np.array(relevant)).tolist()
    # A document comes after those above it in some run that has it, except where the runs' ranks are mixed.
    for place, doc in enumerate(order):
        assert name == "hedge" or any(
            doc in docs and set(docs[: docs.index(doc)]) <= set(order[:place]) for docs in found
        )
    for ranking, docs in zip(rankings, found, strict=True):
        assert ranking.tolist() == docs


@pytest.mark.parametrize("name", sorted(ADAPTIVE))
def test_runs_without_a_document_change_no_order(name: str) -> None:
    random, nothing = np.random.default_rng(5), np.array([], dtype=np.int64)
    for seed in range(30):
        rankings = [random.permutation(12) for _ in range(3)]
        relevant = random.random(12) < 0.3
        given = {"seed": seed} if name == "thompson" else {}
        begin = ADAPTIVE[name].function
        order = replay(begin(rankings, **given), relevant).tolist()
        assert replay(begin([nothing, *rankings[:2], nothing, rankings[2]], **given), relevant).tolist() == order


def test_an_answer_has_to_be_given() -> None:
    asking: Selector
    for entry in ADAPTIVE.values():
        asking = entry.function(RANKINGS)
        next(asking)
        with pytest.raises(InputError, match=r"call send\(True\) or send\(False\)"):
            next(asking)


def test_rankings_stand_as_listed_and_only_what_may_be_judged() -> None:
    tied = Run("tied", rank_run(frame("1 a 1\n1 b 1\n1 c 1\n2 a 1", "query_id", "doc_id", "score")))
    other = listing("other", **{"1": "xcb"})
    ids = ["c", "b", "a"]
    assert [r.tolist() for r in list_rankings([tied, other], "1", ids)] == [[2, 1, 0], [0, 1]]
    assert [r.tolist() for r in list_rankings([tied, other], "2", pd.Index(ids))] == [[2], []]
    assert [r.tolist() for r in list_rankings([tied, other], "3", pd.Index(ids))] == [[], []]
    assert list_rankings([], "1", ids) == []
    assert [r.tolist() for r in list_rankings([tied], "1", [])] == [[]]
    with pytest.raises(InputError, match="'b' twice"):
        list_rankings([tied], "1", ["b", "b"])


def test_every_adaptive_strategy_describes_itself() -> None:
    assert {"mtf", "maxmean", "mm-ns"} <= set(ADAPTIVE)
    assert ADAPTIVE["mm-ns"].parameters == {"keep": 0.0}
    for entry in ADAPTIVE.values():
        assert entry.description.endswith(".")
        assert "Source: " in (entry.function.__doc__ or "")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.long
def test_adaptive_strategies_find_the_relevant_sooner_than_chance(shared: Path) -> None:
    """Cranfield's first topics: how much of the retrieved must be judged for 90% of what is relevant in it."""
    folder = shared / "data" / "cranfield"
    runs = list(formats.read_runs(sorted((folder / "runs").glob("*.run.gz"))))
    qrels = formats.read_qrels(folder / "qrels.txt")
    found = evidence(runs)
    shares = defaultdict(list)
    for topic in list(dict.fromkeys(qrels["query_id"]))[:25]:
        documents = pd.Index(found.loc[found["query_id"] == topic, "doc_id"])
        relevant = documents.isin(qrels.loc[(qrels["query_id"] == topic) & (qrels["relevance"] >= 1), "doc_id"])
        rankings = list_rankings(runs, topic, documents)
        orders = {name: replay(ADAPTIVE[name].function(rankings), relevant) for name in ("mtf", "maxmean", "mm-ns")}
        for name, order in {**orders, "rrf": np.arange(len(documents))}.items():
            hits = np.cumsum(relevant[order])
            shares[name].append((np.searchsorted(hits, np.ceil(0.9 * hits[-1])) + 1) / len(documents))
    for name, values in shares.items():
        assert np.mean(values) < 0.25, name
