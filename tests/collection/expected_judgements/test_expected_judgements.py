"""Expected gains: the model against dense formulas, draws against their probabilities, values against the measures."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from collection import expected_judgements
from collection.comparison import evaluate
from collection.errors import InputError
from collection.expected_judgements import (
    Pairs,
    Scales,
    choose_decisive,
    decisive_pairs,
    describe,
    draw_grades,
    expected_values,
    grade_probabilities,
    infer,
)
from collection.measures import parse
from collection.records import Run
from tests.helpers import tries

SCALES = Scales(runs=0.4, common=0.2, topic=0.06, texts=0.09, own=0.03)


def generated(
    seed: int = 0, topics: int = 4, size: int = 12, runs: int = 5, texts: bool = True
) -> tuple[Pairs, np.ndarray]:
    """Runs of different quality over documents with grades 0 to 3, and texts that say a little of the grade."""
    random = np.random.default_rng(seed)
    query_id = np.repeat([f"t{n}" for n in range(topics)], size)
    frame = pd.DataFrame({"query_id": query_id, "doc_id": [f"d{n}" for n in range(topics * size)]})
    grades = random.choice([0.0, 1.0, 2.0, 3.0], len(frame), p=[0.5, 0.2, 0.2, 0.1])
    made = []
    for n in range(runs):
        score = grades + random.normal(0, 0.5 + n, len(frame))
        made.append(Run(f"r{n}", frame.assign(score=score)[random.random(len(frame)) < 0.9]))
    words = np.column_stack([np.ones(len(frame)), grades + random.normal(0, 1, len(frame)), random.random(len(frame))])
    rows = sparse.csr_matrix(np.abs(words).astype(np.float32)) if texts else None
    return describe(frame, made, texts=rows, scores=words[:, 1:2] if texts else None), grades


def partly(grades: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    judged = np.random.default_rng([seed, 1]).random(len(grades)) < share
    return np.where(judged, grades, np.nan)


def dense(pairs: Pairs, scales: Scales) -> np.ndarray:
    """The covariance of all gains at once, from the definition of the model."""
    count, runs = pairs.features.shape[1], len(pairs.runs)
    variance = np.r_[1.0, np.full(count - runs - 1, scales.common**2), np.full(runs, scales.runs**2 / runs)]
    same = pairs.topic[:, None] == pairs.topic
    alike = np.zeros(same.shape)
    for rows, square in zip(pairs.members, pairs.alike or [], strict=bool(pairs.alike)):
        alike[np.ix_(rows, rows)] = square
    made = (pairs.features * variance) @ pairs.features.T + scales.topic * same + scales.texts * alike
    return made + (scales.own + 1e-6) * np.eye(len(same))


@pytest.mark.parametrize("texts", [True, False])
def test_the_belief_is_that_of_one_large_gaussian(texts: bool) -> None:
    pairs, grades = generated(texts=texts)
    gains = partly(grades / 3, 0.4)
    gains[pairs.members[2]] = np.nan  # a topic of which nothing is judged
    judged, belief = ~np.isnan(gains), infer(pairs, gains, SCALES)
    whole = dense(pairs, SCALES)
    inverse = np.linalg.inv(whole[np.ix_(judged, judged)])
    across = whole[np.ix_(~judged, judged)]
    np.testing.assert_allclose(belief.mean[~judged], across @ inverse @ gains[judged], atol=1e-8)
    covariance = whole[np.ix_(~judged, ~judged)] - across @ inverse @ across.T
    for topic, rows in enumerate(pairs.members):
        mine = belief.covariance(pairs, topic)
        free = ~judged[rows]
        at = np.isin(np.flatnonzero(~judged), rows)
        np.testing.assert_allclose(mine[np.ix_(free, free)], covariance[np.ix_(at, at)], atol=1e-5)
        assert not mine[~free].any()
    alone = gains[judged] - (inverse @ gains[judged]) / np.diag(inverse)
    np.testing.assert_allclose(belief.left_out[judged], alone, atol=1e-8)


def test_scales_are_fitted_by_the_likelihood_of_the_judged() -> None:
    pairs, grades = generated(size=25)
    gains = partly(grades / 3, 0.6)
    judged = ~np.isnan(gains)

    def likelihood(scales: Scales) -> float:
        square = dense(pairs, scales)[np.ix_(judged, judged)]
        return float(stats.multivariate_normal(np.zeros(len(square)), square).logpdf(gains[judged]))

    def worth(scales: Scales) -> float:
        away = np.log(astuple(scales)) - np.log(astuple(Scales()))
        return likelihood(scales) - float((away**2).sum()) / 8

    found = expected_judgements.fit_scales(pairs, gains, steps=100)
    assert likelihood(found) > likelihood(Scales()) + 1
    for name in ("runs", "common", "topic", "texts", "own"):
        for factor in (0.8, 1.25):
            assert worth(replace(found, **{name: getattr(found, name) * factor})) < worth(found)


@pytest.mark.slow
@tries(8)
@given(seed=st.integers(0, 1000), share=st.floats(0, 1))
def test_chances_are_chances(seed: int, share: float) -> None:
    pairs, grades = generated(seed, topics=3, size=6)
    gains = partly(grades / 3, share, seed)
    levels = np.array([0, 1, 2, 3]) / 3
    made = grade_probabilities(infer(pairs, gains, SCALES), gains, levels)
    assert made.min() >= 0
    np.testing.assert_allclose(made.sum(axis=1), 1)
    judged = ~np.isnan(gains)
    np.testing.assert_allclose(made[judged] @ levels, gains[judged])


def test_draws_come_as_often_as_their_chances_say() -> None:
    pairs, grades = generated()
    gains = partly(grades / 3, 0.5)
    belief = infer(pairs, gains, SCALES)
    chance = grade_probabilities(belief, gains, np.array([0, 1, 2, 3]) / 3)
    drawn = draw_grades(pairs, belief, chance, 4000, np.random.default_rng(1))
    often = np.stack([(drawn == level).mean(axis=1) for level in range(4)], axis=1)
    # Four standard errors of a share out of 4,000.
    np.testing.assert_allclose(often, chance, atol=4 * np.sqrt(0.25 / 4000))
    judged = ~np.isnan(gains)
    assert (drawn[judged] == grades[judged][:, None]).all()


def test_documents_with_like_texts_are_drawn_alike() -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
    texts = sparse.csr_matrix(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32))
    pairs = describe(frame, [Run("r", frame)], texts=texts)
    gains = np.full(4, np.nan)
    belief = infer(pairs, gains, Scales(runs=0.01, common=0.01, topic=1e-4, texts=0.5, own=0.01))
    drawn = draw_grades(pairs, belief, np.full((4, 2), 0.5), 2000, np.random.default_rng(0))
    # The constant of all pairs is shared, so that even strangers are somewhat alike.
    assert np.corrcoef(drawn[0], drawn[1])[0, 1] > np.corrcoef(drawn[0], drawn[2])[0, 1] + 0.2


@pytest.mark.slow
def test_of_a_judged_pool_the_expected_value_is_the_value() -> None:
    pairs, grades = generated()
    measures = [parse(m) for m in ("nDCG@10", "AP", "RBP(p=0.8)", "P@5")]
    table = expected_values(pairs, grades, measures, draws=3)
    frames = {name: _frame(pairs, n) for n, name in enumerate(pairs.runs)}
    qrels = pairs.frame.assign(relevance=grades.astype(int))
    known = evaluate([Run(n, f) for n, f in frames.items()], qrels, measures).means()
    for run, measure, value, lowest, highest in table.itertuples(index=False):
        assert value == pytest.approx(known.loc[run, measure], abs=1e-12)
        assert lowest == pytest.approx(highest, abs=1e-12)


def _frame(pairs: Pairs, run: int) -> pd.DataFrame:
    there = pairs.places[run] > 0
    return pairs.frame[there].assign(score=-pairs.places[run][there].astype(float))


@pytest.mark.slow
def test_a_measure_that_is_linear_has_the_value_of_the_expected_gains() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.5)
    # P asks whether a grade is 1 or more: with two grades the expected gain is that chance.
    two = np.where(np.isnan(known), np.nan, np.minimum(known, 1))
    binary = grade_probabilities(
        infer(pairs, two, expected_judgements.fit_scales(pairs, two)), two, np.array([0.0, 1.0])
    )[:, 1]
    table = expected_values(pairs, two, [parse("P@5")], draws=2000).set_index("run")
    for n, run in enumerate(pairs.runs):
        top = (pairs.places[n] > 0) & (pairs.places[n] <= 5)
        assert table.loc[run, "value"] == pytest.approx(binary[top].sum() / 5 / len(pairs.members), abs=0.01)


def test_deciding_asks_for_every_pair_once() -> None:
    pairs, grades = generated()
    asking, seen = decisive_pairs(pairs, [0, 1, 2, 3], batch=11), []
    asked = next(asking)
    while True:
        seen += asked.tolist()
        try:
            asked = asking.send(grades[asked])
        except StopIteration:
            break
    assert sorted(seen) == list(range(len(grades)))


def test_what_all_systems_share_decides_nothing() -> None:
    """Two runs begin with the same document and then part: the first is asked for last."""
    rows = [
        {"query_id": f"t{t}", "doc_id": f"{name}{t}", "run": run, "score": -float(rank)}
        for t in range(5)
        for run, names in (("a", "xbc"), ("b", "xde"))
        for rank, name in enumerate(names)
    ]
    frame = pd.DataFrame(rows)
    runs = [Run(name, part.drop(columns="run")) for name, part in frame.groupby("run")]
    pairs = describe(frame[["query_id", "doc_id"]].drop_duplicates(), runs)
    first = next(decisive_pairs(pairs, [0, 1], batch=20))
    shared = pairs.frame["doc_id"].str.startswith("x").to_numpy()
    assert not shared[first].any()


def test_the_choice_depends_on_the_grades_alone() -> None:
    pairs, grades = generated()
    asking = decisive_pairs(pairs, [0, 1, 2, 3], batch=7, seed=3)
    known = np.full(len(grades), np.nan)
    chosen = next(asking)
    for _ in range(3):
        np.testing.assert_array_equal(choose_decisive(pairs, known, [0, 1, 2, 3], batch=7, seed=3), chosen)
        known[chosen] = grades[chosen]
        chosen = asking.send(grades[chosen])


def test_unavailable_pairs_are_not_chosen() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.3)
    free = np.isnan(known)
    everything = choose_decisive(pairs, known, [0, 1, 2, 3], batch=99)
    assert sorted(everything) == np.flatnonzero(free).tolist()
    unavailable = np.zeros(len(grades), dtype=bool)
    unavailable[everything[:5]] = True
    others = choose_decisive(pairs, known, [0, 1, 2, 3], batch=99, unavailable=unavailable)
    assert sorted(others) == sorted(everything[5:])
    assert not len(choose_decisive(pairs, known, [0, 1, 2, 3], unavailable=free))
    assert not len(choose_decisive(pairs, grades, [0, 1, 2, 3]))


def test_what_is_wrong_is_said() -> None:
    pairs, grades = generated()
    measures = [parse("nDCG@10")]
    frame, run = pairs.frame, Run("r", _frame(pairs, 0))
    with pytest.raises(InputError, match="expected at least one judged pair, found none"):
        expected_values(pairs, np.full(len(grades), np.nan), measures)
    with pytest.raises(InputError, match="found 3"):
        expected_values(pairs, grades, measures, levels=[0, 1, 2])
    with pytest.raises(InputError, match="xinfAP also reads strata"):
        expected_values(pairs, grades, [parse("xinfAP")])
    with pytest.raises(InputError, match="one number for each of the 48 pairs, nan for unjudged ones; found shape"):
        expected_values(pairs, grades[:3], measures)
    with pytest.raises(InputError, match="a confidence between 0 and 1"):
        expected_values(pairs, grades, measures, confidence=95)
    with pytest.raises(InputError, match="'d0' of topic 't0' twice"):
        describe(pd.concat([frame, frame]), [run])
    with pytest.raises(InputError, match="0 runs"):
        describe(frame, [])
    with pytest.raises(InputError, match="found 2"):
        describe(frame, [run], scores=np.zeros((2, 1)))
    with pytest.raises(InputError, match="grade above 0"):
        next(decisive_pairs(pairs, [0]))
    with pytest.raises(InputError, match="found 2"):
        choose_decisive(pairs, grades, [0, 1])
    with pytest.raises(InputError, match=r"unavailable: expected shape \(48,\), found \(3,\)"):
        choose_decisive(pairs, grades, [0, 1, 2, 3], unavailable=np.zeros(3, dtype=bool))
    with pytest.raises(InputError, match="found cut-off 10 and batch 0"):
        choose_decisive(pairs, grades, [0, 1, 2, 3], batch=0)
