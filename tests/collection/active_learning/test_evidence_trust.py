"""The measured trust in runs and labels, against scikit-learn and by its direction."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression

from collection.active_learning.evidence_trust import (
    LABELS,
    RUNS,
    UNDECIDED,
    Correlation,
    correlate,
    expect_of_labels,
    measure_agreement,
    measure_trust,
)
from tests.helpers import tries

Floats = np.ndarray


def judged(slope: float, number: int = 400, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Text scores, priors and relevance, whose log odds are the text plus `slope` times the prior."""
    random = np.random.default_rng(seed)
    text, prior = random.normal(size=number), random.exponential(size=number)
    relevant = random.random(number) < 1 / (1 + np.exp(2 - text - slope * prior))
    return text, prior, relevant


def trust_in_runs(text: Floats, prior: Floats, relevant: Floats, expected: float) -> float:
    """The trust in a single prior."""
    return float(measure_trust(text, prior[:, None], relevant, [expected], [RUNS])[0])


def test_the_expected_trust_is_halved() -> None:
    assert RUNS.after(0) == RUNS.trust
    assert RUNS.after(int(RUNS.halved_by)) == RUNS.trust / 2
    assert LABELS.after(1000) == LABELS.trust  # labels do not say less when the text says more


def test_without_one_class_the_trust_is_the_expected_one() -> None:
    for relevant in (np.zeros(3, dtype=bool), np.ones(3, dtype=bool)):
        assert trust_in_runs(np.arange(3.0), np.arange(3.0), relevant, 0.7) == 0.7


def test_the_ratios_are_those_of_scikit_learn() -> None:
    text, prior, _ = judged(0.8)
    random = np.random.default_rng(5)
    labels = random.normal(size=len(text))
    relevant = random.random(len(text)) < 1 / (1 + np.exp(2 - text - 0.8 * prior - 2 * labels))
    priors, kinds = np.column_stack((prior, labels)), [kind._replace(precision=1e-6) for kind in (RUNS, LABELS)]
    fitted = LogisticRegression(C=1e6, tol=1e-9).fit(np.column_stack((text, priors)), relevant).coef_[0]
    # The prior of variance 1 on the weight of the text changes little with 400 documents.
    measured = measure_trust(text, priors, relevant, [0.5, 1.0], kinds)
    np.testing.assert_allclose(measured, fitted[1:] / fitted[0], rtol=0.03)


def test_a_second_prior_that_says_nothing_changes_nothing() -> None:
    text, prior, relevant = judged(0.8)
    alone = trust_in_runs(text, prior, relevant, 0.5)
    both = measure_trust(text, np.column_stack((prior, 0 * prior)), relevant, [0.5, 2.0], [RUNS, LABELS])
    assert both[0] == pytest.approx(alone)
    assert both[1] == pytest.approx(2.0)  # nothing is known of it, so it is the expected one


def test_trust_moves_towards_what_the_judgements_say_and_more_with_more_of_them() -> None:
    few, many = (trust_in_runs(*judged(2.0, number), 0.5) for number in (40, 4000))
    assert 0.5 < few < many
    assert many == pytest.approx(2.0, rel=0.1)
    assert trust_in_runs(*judged(-1.0, 4000), 0.5) == 0


def test_documents_chosen_for_their_score_do_not_bias_the_measure() -> None:
    # Among documents of a high score, text and prior are correlated below 0, but the regression has both.
    text, prior, relevant = judged(1.0, 40_000)
    chosen = text + prior > 2
    assert np.corrcoef(text[chosen], prior[chosen])[0, 1] < -0.2
    assert trust_in_runs(text[chosen], prior[chosen], relevant[chosen], 0.5) == pytest.approx(1.0, rel=0.1)


@tries(60)
@given(st.data())
def test_the_trust_is_finite_within_bounds_and_the_same_again(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 12))
    real = st.lists(st.floats(-1e3, 1e3), min_size=number, max_size=number)
    text, priors = np.array(data.draw(real)), np.column_stack([data.draw(real), data.draw(real)])
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=number, max_size=number)))
    expected = [data.draw(st.floats(0, kind.trust)) for kind in (RUNS, LABELS)]
    trust = measure_trust(text, priors, relevant, expected, [RUNS, LABELS])
    assert (trust >= 0).all()
    assert (trust <= [RUNS.most, LABELS.most]).all()
    assert trust.tolist() == measure_trust(text, priors, relevant, expected, [RUNS, LABELS]).tolist()


# Agreement of labels with other evidence


def agreement_of(correlations: Iterable[float], documents: int = 200) -> float:
    return measure_agreement(Correlation(value, documents) for value in correlations)


def test_correlations_are_spearman_s_of_the_first_evidence_that_tells_documents_apart() -> None:
    random = np.random.default_rng(3)
    labels, scores = random.integers(0, 4, 50).astype(float), random.normal(size=50).astype(np.float32)
    found = correlate(labels, np.zeros(50, dtype=np.float32), scores, labels.astype(np.float32))
    assert found == (pytest.approx(spearmanr(labels, scores).statistic), 50)


@pytest.mark.parametrize(
    ("labels", "scores"),
    [([], []), ([1.0], [2.0]), ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])],
)
def test_labels_that_cannot_agree_have_no_correlation(labels: list[float], scores: list[float]) -> None:
    assert correlate(np.array(labels), np.array(scores, dtype=np.float32)) is None
    assert correlate(np.array(labels)) is None


def test_random_labels_do_not_agree_and_less_often_with_more_topics() -> None:
    random = np.random.default_rng(3)
    for topics in (1, 3, 40):
        drawn = np.array([agreement_of(random.normal(0, 200**-0.5, topics)) for _ in range(2000)])
        assert (drawn > UNDECIDED).mean() < 0.04
        assert drawn.max() < 0.6 / topics**0.5
    assert (drawn == 0).mean() > 0.95  # 40 topics tell


def test_few_labels_tell_little() -> None:
    few, many = Correlation(0.9, 4), Correlation(0.45, 200)
    assert measure_agreement([few]) == UNDECIDED
    assert measure_agreement([many]) == 1
    assert measure_agreement([many] * 10 + [Correlation(-0.5, 4)]) == 1
    assert measure_agreement([]) == UNDECIDED  # images without runs


def test_labels_against_the_evidence_do_not_agree() -> None:
    assert agreement_of([-0.3] * 20) == 0


def test_a_set_that_agrees_little_or_in_some_topics_only_agrees_less() -> None:
    random = np.random.default_rng(3)
    chance = random.normal(0, 200**-0.5, 40)
    full, half, quarter, little = (
        agreement_of(chance + mean) for mean in (0.4, 0.4 * (np.arange(40) < 20), 0.4 * (np.arange(40) < 10), 0.05)
    )
    assert 1 == full > half > quarter > little > 0


def test_less_is_expected_more_firmly_of_labels_that_agree_less() -> None:
    none, half, full = map(expect_of_labels, (0.0, 0.5, 1.0))
    assert (none.trust, half.trust, full.trust) == (0, LABELS.trust / 2, LABELS.trust)
    assert none.precision > half.precision > full.precision == LABELS.precision
