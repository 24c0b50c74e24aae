"""Who gets which pair next."""

from __future__ import annotations

import pandas as pd
import pytest

from collection.assignment import next_pairs
from collection.errors import ColumnsError


def candidates(**changes: list[object]) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "doc_id": list("abcd"),
            "rank": [1, 1, 2, 3],
            "has_text": 1,
            "mine": 0,
            "others": 0,
            "leased": 0,
            "skipped": None,
        }
    )
    return table.assign(**changes)


def ids(table: pd.DataFrame) -> str:
    return "".join(table["doc_id"])


def test_pool_order_stands() -> None:
    assert ids(next_pairs(candidates(), 3)) == "abc"


def test_what_i_judged_is_not_mine_to_judge_again() -> None:
    assert ids(next_pairs(candidates(mine=[1, 0, 1, 0]), 9)) == "bd"


def test_others_judgements_and_leases_count_towards_the_overlap() -> None:
    table = candidates(others=[1, 0, 1, 0], leased=[0, 1, 1, 0])
    assert ids(next_pairs(table, 9)) == "d"
    assert ids(next_pairs(table, 9, overlap=2)) == "abd"
    assert ids(next_pairs(table, 9, overlap=3)) == "abcd"


def test_skipped_come_last_the_longest_skipped_first() -> None:
    assert ids(next_pairs(candidates(skipped=[20.0, None, 10.0, None]), 9)) == "bdca"


def test_documents_without_a_text_wait_behind_the_others() -> None:
    assert ids(next_pairs(candidates(has_text=[0, 1, 0, 1]), 9)) == "bdac"
    assert ids(next_pairs(candidates(has_text=[0, 1, 1, 1], skipped=[None, 10.0, None, None]), 9)) == "cdab"


def test_an_empty_pool_has_no_next_pair() -> None:
    assert next_pairs(candidates().iloc[:0], 5).empty


def test_missing_columns_are_named() -> None:
    with pytest.raises(ColumnsError, match="leased, skipped"):
        next_pairs(candidates().drop(columns=["leased", "skipped"]), 1)
