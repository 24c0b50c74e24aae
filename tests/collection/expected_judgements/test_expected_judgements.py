"""Expected gains: the model against a general optimiser, draws against their model, values against the measures."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse, special

from collection.core.errors import InputError
from collection.core.records import Run
from collection.expected_judgements import (
    Pairs,
    Scales,
    describe,
    draw_grades,
    draw_values,
    expected_gains,
    infer,
    number_grades,
)
from collection.measures import parse

FIXED = Scales(certainty=1e12)
"""Scales that the data cannot change."""


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


def numbered(pairs: Pairs, grades: np.ndarray) -> np.ndarray:
    return number_grades(pairs, grades, [0, 1, 2, 3])[1]


def log_odds(pairs: Pairs, topic: int, weights: np.ndarray, effects: np.ndarray) -> np.ndarray:
    """(n, 3) log-odds of each step, from the definition of the model; `weights` as in the model, `effects` (q,)."""
    rows, runs = pairs.members[topic], 2 * len(pairs.runs)
    common = pairs.features[rows, :-runs]
    width = common.shape[1]
    shared = pairs.features[rows, -runs:] @ weights[-runs:] + common @ weights[3 : 3 + width]
    shared += pairs.texts[topic] @ effects[3:] if pairs.texts is not None else 0
    steps = [shared + weights[k] + effects[k] for k in range(3)]
    for k in (1, 2):
        steps[k] = steps[k] + common @ weights[3 + k * width : 3 + (k + 1) * width]
    return np.column_stack(steps)


@pytest.mark.parametrize("texts", [True, False])
def test_the_posterior_is_the_normal_approximation_at_the_mode(texts: bool) -> None:
    """The mode is that of a general optimiser, and the covariance that of one large regression on all parameters."""
    pairs, grades = generated(topics=3, size=8, runs=2, texts=texts)
    known = partly(grades, 0.6)
    known[pairs.members[2]] = np.nan  # a topic of which nothing is judged
    posterior = infer(pairs, numbered(pairs, known), 3, FIXED, sweeps=50)
    mode = np.concatenate([posterior.weights, *(topic.mean for topic in posterior.topics)])
    size, ends = len(posterior.weights), np.cumsum([len(posterior.weights), *(len(t.mean) for t in posterior.topics)])
    mean = np.zeros(len(mode))
    mean[size - 4 : size] = [FIXED.mean_top / 2] * 2 + [FIXED.mean_runs / 2] * 2
    prior = np.diag(np.r_[[9.0] * 3, [0.25] * (size - 7), [1.0] * 2, [2.0] * 2, [0.5] * (len(mode) - size)])
    for start in ends[:-1]:
        prior[start : start + 3, start : start + 3] = 1 + np.eye(3)
    precision = np.linalg.inv(prior)
    # The log-odds are linear in all parameters.
    columns = []
    for unit in np.eye(len(mode)):
        odds = np.empty((len(grades), 3))
        for topic, rows in enumerate(pairs.members):
            odds[rows] = log_odds(pairs, topic, unit[:size], unit[ends[topic] : ends[topic + 1]])
        columns.append(odds)
    linear = np.stack(columns, axis=2)
    tried = known[:, None] >= np.arange(3)
    rows, reached = linear[tried], (known[:, None] > np.arange(3))[tried]

    def unlikely(both: np.ndarray) -> float:
        odds = rows @ both
        return float(
            np.logaddexp(0, np.where(reached, -odds, odds)).sum() + (both - mean) @ precision @ (both - mean) / 2
        )

    np.testing.assert_allclose(mode, optimize.minimize(unlikely, mean, options={"gtol": 1e-6}).x, atol=2e-3)
    chance = special.expit(rows @ mode)
    covariance = np.linalg.inv((rows * (chance * (1 - chance))[:, None]).T @ rows + precision)
    np.testing.assert_allclose(posterior.root @ posterior.root.T, covariance[:size, :size], atol=1e-4)
    topic = posterior.topics[0]
    whole = topic.covariance + topic.pull @ posterior.root @ posterior.root.T @ topic.pull.T
    np.testing.assert_allclose(whole, covariance[ends[0] : ends[1], ends[0] : ends[1]], atol=1e-4)


@pytest.mark.slow
def test_the_variance_of_topics_is_estimated() -> None:
    """Topics in which all or no documents are relevant are told from topics that are alike."""
    frame = pd.DataFrame(
        {"query_id": np.repeat([f"t{n}" for n in range(30)], 12), "doc_id": [f"d{n}" for n in range(360)]}
    )
    random = np.random.default_rng(0)
    pairs = describe(frame, [Run("r", frame.assign(score=random.random(360)))])
    alike, apart = random.integers(0, 2, 360), np.repeat(np.arange(30) % 2, 12)
    spreads = []
    for grades in (alike, apart):
        posterior = infer(pairs, number_grades(pairs, grades.astype(float), [0, 1])[1], 1)
        spreads.append(np.std([topic.mean[0] for topic in posterior.topics]))
    assert spreads[0] < 0.5
    assert spreads[1] > 3


@pytest.mark.slow
@pytest.mark.long
def test_intervals_cover_grades_that_the_model_made() -> None:
    """Weights and effects from the prior, grades from both: 90% intervals of a topic's mean grade cover in 90%."""
    covered = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        pairs, _ = generated(seed, topics=12, size=12, runs=3, texts=False)
        prior = infer(pairs, np.full(len(pairs.topic), -1), 3)
        truth = draw_grades(pairs, prior, 1, random)[:, 0]
        numbers = np.where(random.random(len(truth)) < 0.4, truth, -1)
        drawn = draw_grades(pairs, infer(pairs, numbers, 3), 200, random)
        for rows in pairs.members:
            low, high = np.quantile(drawn[rows].mean(axis=0), [0.05, 0.95])
            covered.append(low <= truth[rows].mean() <= high)
    # 480 intervals; the standard error of a share of 90% is 1.4 points, and intervals of whole grades are wider.
    assert 0.87 <= np.mean(covered) <= 0.96


def test_expected_gains_are_the_means_of_draws() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.5)
    posterior, levels = infer(pairs, numbered(pairs, known), 3), np.array([0, 1, 2, 3]) / 3
    gains, covariances = expected_gains(pairs, posterior, levels)
    drawn = levels[draw_grades(pairs, posterior, 4000, np.random.default_rng(1))]
    np.testing.assert_allclose(gains, drawn.mean(axis=1), atol=0.04)
    judged = ~np.isnan(known)
    np.testing.assert_array_equal(gains[judged], grades[judged] / 3)
    assert (drawn[judged] == grades[judged][:, None] / 3).all()
    for rows, covariance in zip(pairs.members, covariances, strict=True):
        assert not covariance[judged[rows]].any()
        np.testing.assert_allclose(np.diag(covariance), drawn[rows].var(axis=1), atol=0.04)


def test_documents_with_like_texts_are_drawn_alike() -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
    texts = sparse.csr_matrix(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32))
    pairs = describe(frame, [Run("r", frame)], texts=texts)
    posterior = infer(pairs, np.full(4, -1), 1, Scales(constant=0.01, topic=0.01, step=0.01, texts=20, certainty=1e12))
    drawn = draw_grades(pairs, posterior, 2000, np.random.default_rng(0))
    assert np.corrcoef(drawn[0], drawn[1])[0, 1] > np.corrcoef(drawn[0], drawn[2])[0, 1] + 0.2


def test_a_topic_without_relevant_documents_is_expected_to_have_few() -> None:
    pairs, grades = generated(topics=6, size=20)
    grades[pairs.members[0]] = 0.0
    known = partly(grades, 0.5)
    gains, _ = expected_gains(pairs, infer(pairs, numbered(pairs, known), 3), np.array([0, 1, 2, 3]) / 3)
    unjudged = np.isnan(known)
    own = gains[pairs.members[0]][unjudged[pairs.members[0]]].mean()
    assert own < gains[np.concatenate(pairs.members[1:])][unjudged[np.concatenate(pairs.members[1:])]].mean() / 2
    (values,) = draw_values(pairs, known, [parse("nDCG@10")], levels=range(4), draws=20).values()
    assert ((values >= 0) & (values <= 1)).all()


def test_if_no_judged_pair_is_relevant_the_others_may_be() -> None:
    pairs, grades = generated(topics=1)
    nothing = np.where(np.isnan(partly(grades, 0.3)), np.nan, 0.0)
    (values,) = draw_values(pairs, nothing, [parse("P@5")], levels=[0, 1], draws=100).values()
    assert 0 < values.mean(axis=(1, 2)).max() < 0.5


def _frame(pairs: Pairs, run: int) -> pd.DataFrame:
    there = pairs.places[run] > 0
    return pairs.frame[there].assign(score=-pairs.places[run][there].astype(float))


def test_errors_say_what_was_found() -> None:
    pairs, grades = generated()
    measures = [parse("nDCG@10")]
    frame, run = pairs.frame, Run("r", _frame(pairs, 0))
    with pytest.raises(InputError, match="expected at least one judged pair, found none"):
        draw_values(pairs, np.full(len(grades), np.nan), measures, levels=range(4))
    with pytest.raises(InputError, match="found 3"):
        draw_values(pairs, grades, measures, levels=[0, 1, 2])
    with pytest.raises(InputError, match="at least two and none below 0; found 0"):
        draw_values(pairs, np.zeros(len(grades)), measures, levels=[0])
    with pytest.raises(InputError, match="xinfAP also reads strata"):
        draw_values(pairs, grades, [parse("xinfAP")], levels=range(4))
    with pytest.raises(InputError, match="one number for each of the 48 pairs, nan for unjudged ones; found shape"):
        draw_values(pairs, grades[:3], measures, levels=range(4))
    with pytest.raises(InputError, match="expected 1 or more draws, found 0"):
        draw_values(pairs, grades, measures, levels=range(4), draws=0)
    with pytest.raises(InputError, match="'d0' of topic 't0' twice"):
        describe(pd.concat([frame, frame]), [run])
    with pytest.raises(InputError, match="0 runs"):
        describe(frame, [])
    with pytest.raises(InputError, match="found 2"):
        describe(frame, [run], scores=np.zeros((2, 1)))
