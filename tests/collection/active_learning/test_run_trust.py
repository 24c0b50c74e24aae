"""The measured trust in runs, against scikit-learn and by its direction."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.linear_model import LogisticRegression

from collection.active_learning import run_trust
from collection.active_learning.run_trust import MOST, expect_trust, measure_trust
from tests.helpers import tries

Floats = np.ndarray


def judged(slope: float, number: int = 400, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    """Text scores, priors and relevance, whose log odds are the text plus `slope` times the prior."""
    random = np.random.default_rng(seed)
    text, prior = random.normal(size=number), random.exponential(size=number)
    relevant = random.random(number) < 1 / (1 + np.exp(2 - text - slope * prior))
    return text, prior, relevant


def test_the_expected_trust_is_halved() -> None:
    assert expect_trust(0) == run_trust.TRUST
    assert expect_trust(int(run_trust.HALVED_BY)) == run_trust.TRUST / 2


def test_without_one_class_the_trust_is_the_expected_one() -> None:
    for relevant in (np.zeros(3, dtype=bool), np.ones(3, dtype=bool)):
        assert measure_trust(np.arange(3.0), np.arange(3.0), relevant, 0.7) == 0.7


def test_the_ratio_is_that_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    text, prior, relevant = judged(0.8)
    monkeypatch.setattr(run_trust, "PRECISION", 1e-6)
    fitted = LogisticRegression(C=1e6, tol=1e-9).fit(np.column_stack((text, prior)), relevant).coef_[0]
    # The prior of variance 1 on the weight of the text changes little with 400 documents.
    assert measure_trust(text, prior, relevant, 0.5) == pytest.approx(fitted[1] / fitted[0], rel=0.02)


def test_trust_moves_towards_what_the_judgements_say_and_more_with_more_of_them() -> None:
    few, many = (measure_trust(*judged(2.0, number), 0.5) for number in (40, 4000))
    assert 0.5 < few < many
    assert many == pytest.approx(2.0, rel=0.1)
    assert measure_trust(*judged(-1.0, 4000), 0.5) == 0


def test_documents_chosen_for_their_score_do_not_bias_the_measure() -> None:
    # Among documents of a high score, text and prior are correlated below 0, but the regression has both.
    text, prior, relevant = judged(1.0, 40_000)
    chosen = text + prior > 2
    assert np.corrcoef(text[chosen], prior[chosen])[0, 1] < -0.2
    assert measure_trust(text[chosen], prior[chosen], relevant[chosen], 0.5) == pytest.approx(1.0, rel=0.1)


@tries(60)
@given(st.data())
def test_the_trust_is_finite_within_bounds_and_the_same_again(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 12))
    real = st.lists(st.floats(-1e3, 1e3), min_size=number, max_size=number)
    text, prior = np.array(data.draw(real)), np.array(data.draw(real))
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=number, max_size=number)))
    expected = data.draw(st.floats(0, run_trust.TRUST))
    trust = measure_trust(text, prior, relevant, expected)
    assert 0 <= trust <= MOST
    assert trust == measure_trust(text, prior, relevant, expected)
