"""The promise across topics replayed: exact expectations over topics left out, and random splits."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.simulation.risk_control import replay_losses, replay_risk_control, replay_selection
from collection.stopping import Ledger
from collection.stopping.risk_control import RULE_FAMILIES, TopicLosses, measure_losses

FAMILIES = [family.name for family in RULE_FAMILIES]


def generate(topics: int, seed: int, size: int = 80) -> list[Ledger]:
    """Topics with heavy-tailed losses: most rankings are perfect, some lose relevant documents far behind."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(topics):
        relevant = np.zeros(size, dtype=bool)
        relevant[: rng.integers(0, 12)] = True
        late = rng.random() < 0.3
        relevant[rng.integers(0, size, size=int(rng.pareto(0.7)) % 9 if late else 0)] = True
        made.append(Ledger.of(relevant, size))
    return made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_the_expected_loss_of_a_topic_left_out_is_at_most_alpha(seed: int, alpha: float) -> None:
    """Each of the topics is the next one once, so the mean is the exact expectation of what is promised."""
    ledgers = generate(25, seed)
    table = replay_risk_control(ledgers, [alpha], families=FAMILIES, calibration_topics=[24])
    assert table["promised"].all()
    assert (table["recall"] >= 1 - alpha - 1e-9).all()
    assert len(table) == len(FAMILIES)


def test_the_losses_are_large_enough_for_the_test_above() -> None:
    """Without the 1 in the bound, topics would lose too much: the promise is not kept by luck."""
    broken = 0
    for seed in range(6):
        losses = measure_losses(generate(25, seed), "consecutive").losses
        left_out = []
        for i in range(25):
            means = np.delete(losses, i, axis=0).mean(axis=0)
            left_out.append(losses[i, np.flatnonzero(means <= 0.05)[0]])
        broken += np.mean(left_out) > 0.05
    assert broken > 0


def test_a_replay_by_hand() -> None:
    """Two settings, of which the first loses half of two topics: it is chosen if no such topic calibrates."""
    settings = len(RULE_FAMILIES["share"].settings)
    losses, costs = np.zeros((4, settings)), np.full((4, settings), 10.0)
    losses[:2, 0], costs[:, 0] = 0.5, 4.0
    measured = {"share": TopicLosses("share", losses, costs)}
    row = replay_losses(measured, [0.34], calibration_topics=[2], splits=1000).iloc[0]
    # (0 + 1) / 3 <= .34 < (.5 + 1) / 3: one of six splits calibrates on the topics without a loss, and costs 4.
    assert row["promised"]
    assert row["recall"] == pytest.approx(1 - 0.5 / 6, abs=0.02)
    assert row["below"] == pytest.approx(1 / 6, abs=0.03)
    assert row["recall_low"] == 0.5
    assert row["judgements"] == pytest.approx(10 - 6 / 6, abs=0.2)
    assert row["total"] == pytest.approx(20 + 2 * row["judgements"])
    assert row["everything"] == 40
    none = replay_losses(measured, [0.3], calibration_topics=[2]).iloc[0]
    assert (none["promised"], none["recall"], none["total"]) == (False, 1.0, 40.0)


def test_the_same_seed_gives_the_same_splits() -> None:
    ledgers = generate(12, 1)
    first, again, other = (replay_risk_control(ledgers, [0.2], splits=5, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    assert first["calibration_topics"].item() == 6


def test_a_family_chosen_by_other_topics_keeps_the_promise() -> None:
    measured = {name: measure_losses(generate(30, 3), name) for name in FAMILIES}
    row = replay_selection(measured, 0.2, calibration_topics=14, selection=5, splits=150).iloc[0]
    assert (row["family"], row["promised"]) == ("chosen", True)
    assert row["recall"] >= 0.8
    assert not replay_selection(measured, 0.2, calibration_topics=8, selection=5, splits=5)["promised"].item()


@pytest.mark.parametrize("number", [-1, 5, 9])
def test_a_replay_needs_other_topics(number: int) -> None:
    with pytest.raises(InputError, match="0 to 4 of 5 topics"):
        replay_risk_control(generate(5, 0), calibration_topics=[number])
