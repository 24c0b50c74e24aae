"""How many relevant documents the next ones of a ranking bring."""

import numpy as np
import pytest

from collection.stopping import Ledger, predict_next


def test_the_interval_is_that_of_the_beta_binomial_distribution() -> None:
    """By simulation: a share from the posterior, then 100 documents with this share."""
    outlook = predict_next(Ledger.of([True] * 20 + [False] * 30, size=1000))
    assert outlook is not None
    random = np.random.default_rng(0)
    drawn = random.binomial(100, random.beta(20.5, 30.5, 200_000))
    low, high = np.quantile(drawn, [0.05, 0.95])
    assert outlook.high == pytest.approx(high, abs=1)
    assert outlook.low == pytest.approx(low / 2, abs=1)
    assert outlook.hits == 20


def test_only_the_latest_ranked_judgements_count() -> None:
    """Neither random draws nor what is long ago."""
    ranked = [True] * 50 + [False] * 50
    ledger = Ledger.of([*ranked, True, True], size=1000, drawn=[False] * 100 + [True] * 2)
    outlook = predict_next(ledger)
    assert outlook is not None
    assert (outlook.hits, outlook.low) == (0, 0)


def test_what_cannot_be_predicted() -> None:
    assert predict_next(Ledger.of([True] * 49, size=1000)) is None
    assert predict_next(Ledger.of([True] * 60, size=60)) is None
    last = predict_next(Ledger.of([True] * 60, size=63))
    assert last is not None
    assert last.upcoming == 3
    assert last.high <= 3
