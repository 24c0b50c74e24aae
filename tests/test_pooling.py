"""The depth pool against independent counts and by its properties."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collection import formats
from collection.errors import InputError, UnknownNameError
from collection.pooling import STRATEGIES, depth, pool_growth
from collection.ranking import rank_run
from collection.records import POOL_COLUMNS, Run
from tests.conftest import frame


def ranked(name: str, text: str) -> Run:
    table = frame(text, "query_id", "doc_id", "rank")
    return Run(name, table.assign(listed=table["rank"]))


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
    assert list(depth([]).columns[:4]) == list(POOL_COLUMNS)
    assert depth([]).empty
    assert pool_growth([]).empty


def test_depth_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="1 or more, found 0"):
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


@settings(deadline=None)
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
