"""Votes of several judges."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError, UnknownNameError
from collection.machine_labels.votes import VOTES, vote

SCALE = [0.0, 1.0, 2.0, 3.0]


def judges(*columns: list[float | None]) -> dict[str, pd.DataFrame]:
    """Judges a, b, ... with a label of each document, None for no label."""
    return {
        chr(ord("a") + n): pd.DataFrame(
            {"query_id": "1", "doc_id": [f"d{i}" for i in range(len(column))], "relevance": column}
        ).dropna()
        for n, column in enumerate(columns)
    }


def voted(rule: str, *columns: list[float | None], least: int = 1, **weights: float) -> list[float]:
    labels = judges(*columns)
    found = vote(labels, rule, SCALE, least=least, weights=weights or None)
    return found.sort_values("doc_id")["relevance"].tolist()


def test_of_tied_grades_the_lower_wins() -> None:
    assert voted("majority", [3, 2, 0], [1, 2, 1], [2, 0, 1]) == [1, 2, 1]
    assert voted("median", [3, 2, 0], [1, 2, 1], [2, 0, 1]) == [2, 2, 1]
    assert voted("median", [3, 0], [1, 3]) == [1, 0]
    assert voted("mean", [3, 2, 0], [1, 2, 1], [1, 0, 1]) == [2, 1, 1]
    assert voted("mean", [1, 3], [2, 2]) == [1, 2]  # 1.5 and 2.5 lie between two grades


def test_missing_labels_have_no_vote() -> None:
    assert voted("majority", [3, None, 0], [None, 2, 1], [1, 2, 1]) == [1, 2, 1]
    assert voted("median", [3, None], [None, 2], [1, 2]) == [1, 2]
    assert voted("mean", [3, None], [None, 2], [1, 2]) == [2, 2]
    assert voted("majority", [3, None], [None, 2], least=2) == []


def test_weights_decide_between_judges() -> None:
    one = ([3, 0], [1, 1], [1, 2])
    assert voted("weighted", *one, a=0.5, b=0.2, c=0.2) == [3, 0]
    assert voted("weighted", *one, a=0.3, b=0.2, c=0.2) == [1, 0]
    assert voted("weighted", *one, a=-1.0, b=0.2, c=0.1) == [1, 1]  # worse than chance: no vote
    with pytest.raises(InputError, match="better than chance, found none"):
        voted("weighted", *one, a=0.0, b=-0.1, c=0.0)


@pytest.mark.parametrize("rule", [entry.name for entry in VOTES])
def test_votes_are_those_of_a_simple_count(rule: str) -> None:
    """Against a slow definition, on random labels of five judges with gaps."""
    rng = np.random.default_rng(7)
    table = rng.integers(0, 4, (200, 5)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    weights = dict(zip("abcde", rng.random(5), strict=True))
    found = vote(judges(*table.T.tolist()), rule, SCALE, least=1, weights=weights)
    found = found.set_index("doc_id")["relevance"]
    for number, row in enumerate(table):
        given = sorted((grade, weights[judge]) for grade, judge in zip(row, "abcde", strict=True) if grade == grade)
        if not given:
            assert f"d{number}" not in found
            continue
        grades = [grade for grade, _ in given]
        expected = {
            "majority": max(SCALE, key=lambda grade: (grades.count(grade), -grade)),
            "median": grades[(len(grades) - 1) // 2],
            "mean": min(SCALE, key=lambda grade: (round(abs(grade - sum(grades) / len(grades)), 9), grade)),
            "weighted": max(SCALE, key=lambda grade: (sum(w for g, w in given if g == grade), -grade)),
        }[rule]
        assert found[f"d{number}"] == expected, (rule, row)


def test_a_vote_needs_judges_and_a_rule() -> None:
    with pytest.raises(InputError, match="two label sets or more, found a"):
        voted("majority", [1, 2])
    with pytest.raises(UnknownNameError):
        voted("nobody", [1, 2], [1, 2])
