"""Schemas of frames: what passes, and what a refusal says."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from collection.core import frames
from collection.core.arrow import is_one_piece
from collection.core.errors import ColumnsError, InputError
from collection.core.frames import JUDGEMENTS, QRELS, RUN, Schema
from collection.core.ranking import rank_run

GOOD = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0]})


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"query_id": pd.Categorical(["1", "1"])},
        {"relevance": [0.5, -1.0]},
        {"anything": [None, None]},
        {"stratum": ["x", "y"], "probability": [0.5, 1.0], "subtopic": ["1", "2"]},
    ],
)
def test_a_frame_in_the_usual_form_is_returned_itself(columns: dict[str, Any]) -> None:
    frame = GOOD.assign(**columns)
    assert QRELS.check(frame) is frame


@pytest.mark.parametrize(
    ("column", "given", "kept"),
    [
        ("query_id", [1, 1], ["1", "1"]),
        ("query_id", pd.Categorical([1, 1]), ["1", "1"]),
        ("query_id", pd.Categorical([1, "1"]), ["1", "1"]),  # two categories of one text
        ("doc_id", pd.Series(["7", 8], dtype=object), ["7", "8"]),
        ("doc_id", pd.array(["7", "8"], dtype="string[python]"), ["7", "8"]),
        ("doc_id", pd.array([7, 8], dtype="int64[pyarrow]"), ["7", "8"]),
        ("doc_id", pd.arrays.ArrowExtensionArray(pa.array(["7", "8"]).dictionary_encode()), ["7", "8"]),
        ("relevance", [True, False], [1, 0]),
        ("relevance", pd.array([2, 0], dtype="Int64"), [2, 0]),
        ("relevance", np.array([2, 0], dtype=">i2"), [2, 0]),
        ("relevance", np.array([2, 255], dtype=np.uint8), [2, 255]),
        ("relevance", np.array([2, 2**63], dtype=np.uint64), [2, 2.0**63]),
        ("relevance", pd.Series([1, 0.5], dtype=object), [1, 0.5]),
        ("relevance", pd.Series([Decimal("0.5"), Decimal(2)], dtype=object), [0.5, 2]),
        ("relevance", pd.Categorical([2, 0]), [2, 0]),
        ("relevance", pd.arrays.SparseArray([0, 2]), [0, 2]),
        ("relevance", pd.array([0.5, 1], dtype="double[pyarrow]"), [0.5, 1]),
        ("subtopic", [1, 2], ["1", "2"]),
    ],
)
def test_columns_come_in_one_form(column: str, given: Any, kept: list[Any]) -> None:
    found = QRELS.check(GOOD.assign(**{column: given}))[column]
    assert found.tolist() == kept
    assert found.dtype in ("str", "int64", "float64") or found.cat.categories.dtype == "str"


def test_parts_and_slices_are_joined_and_rows_numbered() -> None:
    parts = pd.concat([GOOD, GOOD.assign(query_id="2")])
    found = QRELS.check(parts[::-1])
    assert found.index.tolist() == [0, 1, 2, 3]
    assert found["query_id"].tolist() == ["2", "2", "1", "1"]
    assert all(is_one_piece(found[name]) for name in ("query_id", "doc_id"))
    assert not is_one_piece(parts["doc_id"])


@pytest.mark.parametrize("names", [["query_id", "doc_id"], ["doc_id"]])
def test_ids_may_be_the_index(names: list[str]) -> None:
    found = QRELS.check(GOOD.set_index(names))
    pd.testing.assert_frame_equal(found[GOOD.columns], GOOD)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ([1], "qrels: expected a DataFrame of pandas, found list"),
        (GOOD.drop(columns=["doc_id", "relevance"]), "qrels: expected the columns doc_id, relevance; found query_id"),
        (GOOD.assign(relevance=["1", "0"]), "qrels: expected numbers in the column relevance, found str"),
        (GOOD.assign(relevance=pd.Series(["1", 0], dtype=object)), "found mixed-integer values"),
        (GOOD.assign(query_id=[1.0, 2.0]), "expected text or whole numbers in the column query_id, found float64"),
        (GOOD.assign(relevance=[1, None]), r"qrels: row 2 has no relevance \(query_id '1', doc_id 'b'\)"),
        (GOOD.assign(doc_id=["a", None]), r"qrels: row 2 has no doc_id \(query_id '1'\)"),
        (GOOD.assign(doc_id=pd.Series([b"a", b"b"], dtype=object)), "whole numbers in the column doc_id, found bytes"),
        (GOOD.assign(doc_id=pd.Series([1.0, 2.0], dtype=object)), "column doc_id, found floating values"),
        (GOOD.assign(relevance=pd.arrays.ArrowExtensionArray(pa.array([1.0, np.nan]))), "row 2 has no relevance"),
        (pa.table({"query_id": ["1"]}), r"found Table; pass its to_pandas\(\)"),
        (GOOD.assign(probability=[0.5, np.nan]), "qrels: row 2 has no probability"),
        (pd.concat([GOOD, GOOD[["relevance"]]], axis=1), "qrels: expected one column relevance, found 2"),
    ],
)
def test_what_a_refusal_says(frame: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        QRELS.check(frame)


def test_the_caller_names_the_frame_and_what_else_is_needed() -> None:
    with pytest.raises(ColumnsError, match="a sample: expected the column stratum"):
        QRELS.check(GOOD, "a sample", also=["stratum"])


def test_nullable_columns_may_lack_values() -> None:
    said = GOOD.assign(annotator="ann", kind="cannot judge", relevance=None)
    assert JUDGEMENTS.check(said)["relevance"].isna().all()


@pytest.mark.parametrize("schema", [v for v in vars(frames).values() if isinstance(v, Schema)], ids=lambda s: s.name)
def test_an_empty_frame_meets_every_schema(schema: Schema) -> None:
    schema.check(pd.DataFrame(columns=list(schema.columns)))
    schema.check(pd.DataFrame({name: [] for name in schema.columns}))


def test_a_ranked_run_is_a_run() -> None:
    RUN.check(rank_run(GOOD.rename(columns={"relevance": "score"})))


@pytest.mark.parametrize(
    "given",
    [
        pd.array([7, 8], dtype=dtype)
        for dtype in ("int64", "int32", "uint64", "Int32", "UInt64", "int16[pyarrow]", ">i4", object, "category")
    ],
    ids=lambda given: str(given.dtype),
)
def test_keys_of_any_integer_type_stay_whole_numbers(given: Any) -> None:
    """Otherwise topics would become texts beside documents that stay numbers, and joins back by them find nothing."""
    said = pd.DataFrame({"query_id": given, "doc_id": [1, 2], "annotator": "ann", "kind": "graded", "relevance": 1})
    checked = JUDGEMENTS.check(said)
    assert checked["query_id"].dtype == "int64"
    assert checked["query_id"].tolist() == [7, 8]


def test_keys_of_judgements_stay_whole_numbers() -> None:
    said = [("ann", 7, 40, "graded", 1), ("ben", 7, 40, "graded", 1)]
    judgements = pd.DataFrame(said, columns=["annotator", "query_id", "doc_id", "kind", "relevance"])
    checked = frames.JUDGEMENTS.check(judgements)
    assert checked["doc_id"].dtype == "int64"
    assert checked["query_id"].tolist() == [7, 7]
