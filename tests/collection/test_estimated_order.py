"""The order of systems: cases in which it is evident what judging can change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from collection.errors import InputError
from collection.estimation import judge_order
from collection.expected_judgements import Pairs, describe
from collection.records import Run
from tests.collection.expected_judgements.test_expected_judgements import generated, partly


def ranked(topics: int, **runs: str) -> Pairs:
    """Runs that return the given documents, one letter each, in every topic."""
    rows = [
        {"query_id": f"t{topic}", "doc_id": f"{letter}{topic}", "run": run, "score": -float(rank)}
        for topic in range(topics)
        for run, letters in runs.items()
        for rank, letter in enumerate(letters)
    ]
    frame = pd.DataFrame(rows)
    made = [Run(name, frame[frame["run"] == name].drop(columns="run")) for name in runs]
    return describe(frame[["query_id", "doc_id"]].drop_duplicates(), made)


def grades_of(pairs: Pairs, **grades: float) -> np.ndarray:
    return pairs.frame["doc_id"].str[0].map(lambda letter: grades.get(letter, np.nan)).to_numpy(dtype=np.float64)


def test_an_order_that_no_grade_can_change_is_certain() -> None:
    """Both runs end with the same unjudged document, and only the first begins with a relevant one."""
    pairs = ranked(4, good="ax", poor="bx")
    order = judge_order(pairs, grades_of(pairs, a=1, b=0), "P@2", levels=[0, 1])
    assert order.values["run"].tolist() == ["good", "poor"]
    (pair,) = order.pairs.to_dict("records")
    assert (pair["system_a"], pair["system_b"], pair["decided"]) == ("good", "poor", True)
    # Certain by the model, but not yet judged: half a draw of 400 away from it.
    assert pair["probability_better"] == 1 - 0.5 / 400
    assert (order.tau, order.lowest_tau, order.open_pairs, order.stop) == (1, 1, 0, True)
    assert order.estimates.pool.unjudged == 4
    assert order.reason == (
        "Judging may stop: with 95% probability under the model, Kendall's tau between the present and the final order "
        "is at least 1.00 (target 0.90)."
    )


def test_systems_that_differ_in_unjudged_documents_are_open() -> None:
    pairs = ranked(4, one="ax", other="by")
    order = judge_order(pairs, grades_of(pairs, a=1, b=1), "P@2", levels=[0, 1])
    # Neither is better in the same share of draws, but for chance and equal values.
    assert 0.2 < order.pairs.loc[0, "probability_better"] < 0.6
    assert (order.lowest_tau, order.open_pairs, order.stop) == (-1, 1, False)
    assert order.reason.endswith("at least -1.00 (target 0.90); 1 of 1 pair of systems is open.")


def test_a_run_and_its_copy_are_equal_and_not_open() -> None:
    pairs = ranked(3, one="ab", copy="ab", other="cb")
    order = judge_order(pairs, grades_of(pairs, a=1, c=0), "P@2", levels=[0, 1])
    pair = order.pairs[order.pairs["system_b"].isin(["one", "copy"]) & order.pairs["system_a"].isin(["one", "copy"])]
    assert pair[["probability_equal", "decided"]].to_numpy().tolist() == [[1, True]]
    assert (order.tau, order.open_pairs, order.stop) == (1, 0, True)


def test_of_judged_pairs_the_order_is_final() -> None:
    pairs, grades = generated()
    order = judge_order(pairs, grades, "nDCG@10", draws=5)
    assert (order.estimates.pool.unjudged, order.stop, order.tau) == (0, True, 1)
    assert order.values["estimate"].is_monotonic_decreasing
    assert (order.values["estimate_low"] == order.values["estimate_high"]).all()
    nothing = judge_order(pairs, np.zeros(len(grades)), "nDCG@10", draws=5)
    assert (nothing.stop, nothing.open_pairs, nothing.tau) == (True, 0, 0)


@pytest.mark.slow
def test_equal_arguments_give_equal_orders() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.5)
    first, second = (judge_order(pairs, known, "nDCG@5", draws=50) for _ in range(2))
    pd.testing.assert_frame_equal(first.values, second.values)
    assert first.lowest_tau == second.lowest_tau
    assert judge_order(pairs, known, "nDCG@5", draws=50, target=first.lowest_tau).stop
    assert not judge_order(pairs, known, "nDCG@5", draws=50, target=first.lowest_tau + 0.01).stop


def test_wrong_arguments_of_an_order_are_refused() -> None:
    pairs, grades = generated()
    with pytest.raises(InputError, match="found target 0 and confidence"):
        judge_order(pairs, grades, "nDCG@10", target=0)
    with pytest.raises(InputError, match="at least one judged pair"):
        judge_order(pairs, np.full(len(grades), np.nan), "nDCG@10")
    with pytest.raises(InputError, match="at least 2 runs, found 1"):
        judge_order(ranked(2, one="ab"), np.ones(4), "nDCG@10")
