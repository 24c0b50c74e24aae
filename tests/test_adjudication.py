"""Judgements into qrels."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collection.adjudication import RULES, disagreements, settle
from collection.errors import UnknownNameError
from tests.conftest import frame


def judged(text: str) -> pd.DataFrame:
    table = frame(text, "annotator", "query_id", "doc_id", "relevance")
    return table.assign(kind="graded")


THREE = judged("ann 1 x 2\nbob 1 x 0\ncat 1 x 2\nann 1 y 3\nbob 1 y 1\nann 2 z 0")


@pytest.mark.parametrize(
    ("rule", "grades"),
    [("majority", [2, 1, 0]), ("latest", [2, 1, 0]), ("highest", [2, 3, 0]), ("lowest", [0, 1, 0])],
)
def test_rules(rule: str, grades: list[int]) -> None:
    qrels = settle(THREE, rule)
    assert list(qrels.columns) == ["query_id", "doc_id", "relevance"]
    assert qrels["doc_id"].tolist() == ["x", "y", "z"]
    assert qrels["relevance"].tolist() == grades


def test_latest_is_the_last_in_the_log() -> None:
    assert settle(THREE.iloc[::-1], "latest").set_index("doc_id")["relevance"].to_dict() == {
        "x": 2,
        "y": 3,
        "z": 0,
    }


def test_cannot_judge_is_no_grade() -> None:
    table = pd.DataFrame(
        {
            "annotator": ["ann", "bob", "ann"],
            "query_id": ["1", "1", "1"],
            "doc_id": ["x", "x", "y"],
            "kind": ["cannot judge", "graded", "cannot judge"],
            "relevance": pd.array([None, 1, None], dtype="Int64"),
        }
    )
    assert settle(table).values.tolist() == [["1", "x", 1]]


def test_no_judgements_make_no_qrels() -> None:
    assert settle(THREE.iloc[:0]).empty


def test_disagreements_are_counted_by_pairs() -> None:
    assert disagreements(THREE) == (2, 2)
    assert disagreements(judged("ann 1 x 2\nbob 1 x 2\nann 1 y 1")) == (1, 0)
    assert disagreements(THREE.iloc[:0]) == (0, 0)


def test_unknown_rule() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        settle(THREE, "majorty")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 3)),
        max_size=12,
        unique_by=lambda t: t[:2],
    )
)
def test_every_rule_gives_each_pair_one_grade_that_somebody_gave(rows: list[tuple[str, str, int]]) -> None:
    table = pd.DataFrame(rows, columns=["annotator", "doc_id", "relevance"]).assign(query_id="1", kind="graded")
    given_grades = {d: {g for _, e, g in rows if e == d} for _, d, _ in rows}
    for rule in RULES:
        qrels = settle(table, rule.name)
        assert set(qrels["doc_id"]) == set(given_grades)
        assert qrels["doc_id"].is_unique
        assert all(g in given_grades[d] for d, g in zip(qrels["doc_id"], qrels["relevance"], strict=True))
