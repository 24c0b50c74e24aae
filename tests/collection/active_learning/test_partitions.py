"""Documents in partitions: the results of one piece, bit for bit."""

import statistics
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from collection.active_learning.features import FeatureMatrix, build
from collection.active_learning.features.assembly import count_texts, made_blocks
from collection.active_learning.features.moments import Moments, norm
from collection.active_learning.features.partitions import (
    PartitionedMatrix,
    merge_vocabularies,
    vocabularies_of,
    weigh_partition,
    without_documents,
)
from collection.active_learning.training_round import Evidence, Recipe, Space, train_and_rank
from collection.core.errors import InputError

SIZES = pytest.mark.parametrize("cuts", [[], [150], [1, 90, 90, 200]], ids=["1", "2", "5 with an empty one"])


def texts() -> list[str | None]:
    """300 documents with repeated texts (ties), blank and missing ones, and words that only late partitions have."""
    rng = np.random.default_rng(7)
    numbers = np.minimum(rng.zipf(1.3, (300, 12)), 400) + (np.arange(300) // 100)[:, None] * 3
    made: list[str | None] = [" ".join(f"w{n}x" for n in row) for row in numbers]
    made[20:40] = made[220:240]
    made[7], made[8], made[290] = None, "", "..."
    return made


def partition(
    of: list[str | None], cuts: list[int], blocks: tuple[str, ...], bigrams: bool = False
) -> PartitionedMatrix:
    """Features in partitions in this process."""
    edges = [0, *cuts, len(of)]
    made = made_blocks(blocks)
    counted = [count_texts(of[a:b], made, bigrams=bigrams, processes=1) for a, b in pairwise(edges)]
    merged = merge_vocabularies([vocabularies_of(part) for part in counted])
    parts = [weigh_partition(part, merged, blocks, bigrams) for part in counted]

    def run(function: Callable[..., Any], asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        return {number: function(parts[number], *given) for number, given in asked.items()}

    return PartitionedMatrix(without_documents(merged, blocks, bigrams), [part.size for part in parts], run)


def require_same(one: FeatureMatrix, other: FeatureMatrix) -> None:
    """Compare what the loop reads of features, bit for bit."""
    assert (one.size, one.width) == (other.size, other.width)
    index = np.array([299, 0, 7, 150, 0, 91])
    for a, b in ((one.rows(index), other.rows(index)), (one.vectorize("w3x w5x"), other.vectorize("w3x w5x"))):
        assert a.shape == b.shape
        assert (a.indptr.tolist(), a.indices.tolist(), a.data.tolist()) == (
            b.indptr.tolist(), b.indices.tolist(), b.data.tolist(),
        )  # fmt: skip
    weights = np.random.default_rng(1).standard_normal(one.width).astype(np.float32)
    assert one.scores(weights).tolist() == other.scores(weights).tolist()
    assert one.scores(weights, index).tolist() == other.scores(weights, index).tolist()
    assert one.bm25("w1x w4x w9x").tolist() == other.bm25("w1x w4x w9x").tolist()
    for some in (index, index[:0]):
        expected = one.bm25("w1x w4x w9x")[some].tolist()
        assert one.bm25("w1x w4x w9x", index=some).tolist() == expected
        assert other.bm25("w1x w4x w9x", index=some).tolist() == expected
    assert one.blank().tolist() == other.blank().tolist()
    assert one.explain(220, weights) == other.explain(220, weights)


@SIZES
@pytest.mark.parametrize("bigrams", [False, True])
def test_partitions_know_what_one_piece_knows(cuts: list[int], bigrams: bool) -> None:
    blocks = ("words", "chars")
    require_same(build(texts(), blocks=blocks, bigrams=bigrams, processes=1), partition(texts(), cuts, blocks, bigrams))


@SIZES
@pytest.mark.parametrize(
    "recipe", [Recipe(), Recipe(evidence="columns"), Recipe(evidence="none", learner="naive-bayes")], ids=str
)
def test_partitions_rank_as_one_piece_does(cuts: list[int], recipe: Recipe) -> None:
    fusion = np.zeros(300, np.float32)
    fusion[[3, 150, 151, 220, 299]] = [0.5, 0.4, 0.3, 0.2, 0.1]
    evidence = Evidence(fusion, (fusion > 0).astype(np.float32), (fusion > 0).astype(np.float32))
    judged, grades = np.array([3, 25, 150, 151, 60, 250, 7]), np.array([1, 1, 0, 1, 0, 0, 0])
    rankings = []
    for features in (build(texts(), blocks=["words"], processes=1), partition(texts(), cuts, ("words",))):
        space = Space(features, np.arange(300) % 9 > 0, "w3x w5x", evidence)
        rankings.append(
            [
                *train_and_rank(space, judged, grades, recipe, 5, 40)[:2],
                *train_and_rank(space, judged[:2], np.zeros(2, int), recipe, 5, 300)[:2],
            ]
        )
    one, other = ([part.tolist() for part in ranking] for ranking in rankings)
    assert one == other


def test_what_does_not_exist_is_refused() -> None:
    features = partition(texts(), [150], ("words",))
    for wrong in (lambda: features.rows([300]), lambda: features.rank([1.0], 3, np.ones(300, bool), np.zeros(0, int))):
        with pytest.raises(InputError):
            wrong()


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40),
    st.integers(0, 40),
    st.sampled_from([0.3, 1.0, 37.0]),
)
def test_moments_are_those_of_statistics_and_the_same_in_parts(found: list[float], cut: int, factor: float) -> None:
    scores = np.array(found, np.float32) * np.float32(factor)
    unit, among = norm(np.array([factor])), np.ones(len(scores), bool)
    whole = Moments.of(scores, among, unit)
    assert whole == Moments.merge(
        [Moments.of(part, np.ones(len(part), bool), unit) for part in np.split(scores, [cut])]
    )
    mean, spread = whole.mean_and_spread()
    assert mean == pytest.approx(statistics.fmean(scores.tolist()), abs=unit / 2**18)
    expected = statistics.pstdev(scores.tolist())
    assert spread == pytest.approx(expected, abs=unit / 2**17) or (spread == 1.0 and expected <= unit / 2**17)
