"""The order of a ranking."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection.core import ranking
from collection.core.errors import ColumnsError, InputError
from collection.core.ranking import rank_run
from tests.helpers import tries


def frame(rows, categorical=False):
    made = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    made = made.astype({"query_id": "str", "doc_id": "str", "score": "float64"})
    if categorical:
        made = made.astype({"query_id": "category", "doc_id": "category"})
    return made


def naive(rows):
    topics = list(dict.fromkeys(q for q, _, _ in rows))
    out = []
    for topic in topics:
        listed = sorted((r for r in rows if r[0] == topic), key=lambda r: -r[2])
        mine = sorted(listed, key=lambda r: r[1].encode(), reverse=True)
        mine.sort(key=lambda r: -r[2])
        out += [(*r, i + 1, listed.index(r) + 1) for i, r in enumerate(mine)]
    return out


def as_rows(ranked):
    return list(ranked.itertuples(index=False, name=None))


IDS = st.text("aZ09é文𝄞\uffee-", min_size=1, max_size=3)
ROWS = st.lists(
    st.tuples(st.sampled_from(["q2", "q1", "Ω"]), IDS, st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf])),
    max_size=30,
    unique_by=lambda r: r[:2],
)


@pytest.mark.slow
@given(rows=ROWS, categorical=st.booleans(), presorted=st.booleans())
@tries(200)
def test_equals_a_naive_sort(rows, categorical, presorted):
    if presorted:
        rows = [r[:3] for r in naive(rows)]
    ranked = rank_run(frame(rows, categorical))
    assert as_rows(ranked) == naive(rows)
    assert ranked.columns.tolist() == ["query_id", "doc_id", "score", "rank", "listed"]
    assert ranked["rank"].dtype == np.int32
    assert ranked["score"].dtype == np.float64
    assert ranked.index.tolist() == list(range(len(rows)))
    assert isinstance(ranked["query_id"].dtype, pd.CategoricalDtype) == categorical
    assert ranked["doc_id"].dtype == "str"
    again = rank_run(ranked)
    pd.testing.assert_frame_equal(again.drop(columns="listed"), ranked.drop(columns="listed"))
    assert again["listed"].tolist() == ranked["rank"].tolist()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [("1", doc_id, 1.0) for doc_id in "\uffee𝄞aZé"], "𝄞 \uffee é a Z",
            id="ties by code points, not by UTF-16 or locale",
        ),
        pytest.param([("1", "b", 1.0), ("1", "a", 1.0 + 1e-12)], "a b", id="scores are doubles"),
        pytest.param([("2", "a", 1.0), ("1", "c", 1.0), ("2", "b", 3.0)], "b a c", id="topics in pieces"),
    ],
)  # fmt: skip
def test_order(rows, expected):
    for categorical in (False, True):
        assert rank_run(frame(rows, categorical=categorical))["doc_id"].tolist() == expected.split()


def test_the_rank_column_is_ignored_and_other_columns_are_dropped():
    made = frame([("1", "a", 1.0), ("1", "b", 2.0)]).assign(rank=[1, 2], tag="x")
    assert as_rows(rank_run(made)) == [("1", "b", 2.0, 1, 1), ("1", "a", 1.0, 2, 2)]


def test_the_result_does_not_share_what_one_writes_to():
    given_frame = frame([("1", "b", 2.0), ("1", "a", 1.0)], categorical=True)
    ranked = rank_run(given_frame)
    ranked.loc[0, "score"] = 9.0
    ranked.loc[0, "doc_id"] = "c"
    assert as_rows(given_frame) == [("1", "b", 2.0), ("1", "a", 1.0)]


def test_a_run_in_order_is_not_sorted(monkeypatch):
    sorted_rows = []

    def counted(groups, values):
        sorted_rows.append(len(groups))
        return real(groups, values)

    real = ranking._sorted
    monkeypatch.setattr(ranking, "_sorted", counted)
    made = frame([("1", "b", 2.0), ("1", "d", 1.0), ("1", "c", 1.0), ("0", "a", 5.0)], categorical=True)
    assert rank_run(made)["rank"].tolist() == [1, 2, 3, 1]
    assert sorted_rows == []
    wrong_tie = made.iloc[[0, 2, 1, 3]]  # a tie the wrong way round moves only the tie
    assert rank_run(wrong_tie)["doc_id"].tolist() == ["b", "d", "c", "a"]
    assert sorted_rows == [2]


def test_nan_is_named():
    with pytest.raises(InputError, match=r"row 2 has no score \(query_id '1', doc_id 'b'\)"):
        rank_run(frame([("1", "a", 1.0), ("1", "b", math.nan)]))


def test_words_as_scores_and_missing_columns():
    with pytest.raises(InputError, match="numbers"):
        rank_run(pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": ["high"]}))
    with pytest.raises(ColumnsError, match="score"):
        rank_run(pd.DataFrame({"query_id": ["1"], "doc_id": ["a"]}))


def test_an_empty_run_stays_empty():
    assert rank_run(frame([])).shape == (0, 5)


zeros = st.sampled_from([0.0, -0.0, 1.0, -1.0])


@pytest.mark.slow
@tries(150)
@given(st.lists(st.tuples(st.sampled_from(["1", "2"]), st.sampled_from("abcdefgh"), zeros), unique_by=lambda r: r[:2]))
def test_the_sign_of_a_zero_stays_with_its_document(rows):
    ranked = rank_run(frame(rows))
    signs = {(q, d): math.copysign(1, s) for q, d, s in rows}
    assert {(q, d): math.copysign(1, s) for q, d, s, *_ in as_rows(ranked)} == signs
    # What is put in the order of the system's list and ranked again is the same.
    listed = ranked.sort_values(["query_id", "listed"], kind="stable")
    again = rank_run(listed).sort_values(["query_id", "listed"], kind="stable")
    assert repr(as_rows(again)) == repr(as_rows(listed))
