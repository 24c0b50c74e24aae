"""The choice of decisive pairs: what decides nothing comes last, and the grades alone determine the choice."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.core.records import Run
from collection.expected_judgements import choose_decisive, decisive, decisive_pairs, describe
from tests.collection.expected_judgements.test_expected_judgements import generated, partly


@pytest.mark.slow
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


def test_what_all_systems_share_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs begin with the same document and then part: the first is asked for last."""
    monkeypatch.setattr(decisive, "RANDOM_SHARE", 0.0)
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


def test_judging_the_same_pairs_in_another_order_gives_the_same_choice() -> None:
    pairs, grades = generated()
    known = partly(grades, 0.4)
    first = choose_decisive(pairs, known, [0, 1, 2, 3], batch=6)
    np.testing.assert_array_equal(choose_decisive(pairs, known.copy(), [3, 2, 1, 0], batch=6), first)
    assert not np.array_equal(choose_decisive(pairs, known, [0, 1, 2, 3], batch=6, seed=1), first)


def test_pairs_of_one_topic_and_of_equal_runs_can_be_chosen() -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
    pairs = describe(frame, [Run("r", frame), Run("copy", frame)])
    assert sorted(choose_decisive(pairs, np.full(4, np.nan), [0, 1])) == [0, 1, 2, 3]


def test_an_unavailable_pair_remains_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs have the same documents, and of two topics one is unavailable: its doubt does not vanish."""
    seen = []
    contrasts = decisive._contrasts

    def record(means: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        seen.append(covariance)
        return contrasts(means, covariance)

    monkeypatch.setattr(decisive, "_contrasts", record)
    pairs, grades = generated()
    unavailable = pairs.topic == 0
    for without in (None, unavailable):
        choose_decisive(pairs, partly(grades, 0.3), [0, 1, 2, 3], unavailable=without)
    np.testing.assert_array_equal(*seen)


def test_wrong_arguments_of_the_choice_are_refused() -> None:
    pairs, grades = generated()
    with pytest.raises(InputError, match="at least two and none below 0; found 0"):
        next(decisive_pairs(pairs, [0]))
    with pytest.raises(InputError, match="found 2"):
        choose_decisive(pairs, grades, [0, 1])
    with pytest.raises(InputError, match=r"unavailable: expected shape \(48,\), found \(3,\)"):
        choose_decisive(pairs, grades, [0, 1, 2, 3], unavailable=np.zeros(3, dtype=bool))
    with pytest.raises(InputError, match="found cut-off 10 and batch 0"):
        choose_decisive(pairs, grades, [0, 1, 2, 3], batch=0)
