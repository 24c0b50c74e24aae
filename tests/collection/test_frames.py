"""Schemas of frames: what passes, and what a refusal says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from collection import frames
from collection.errors import ColumnsError, InputError
from collection.frames import JUDGEMENTS, QRELS, RUN, Schema
from collection.ranking import rank_run

GOOD = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [1, 0]})


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"query_id": pd.Categorical(["1", "1"])},
        {"query_id": [1, 1], "doc_id": [7, 8]},
        {"relevance": [0.5, -1.0]},
        {"relevance": [True, False]},
        {"relevance": pd.array([1, 2], dtype="Int64")},
        {"relevance": pd.Series([1, 0.5], dtype=object)},
        {"anything": [None, None]},
        {"stratum": ["x", "y"], "probability": [0.5, 1.0], "subtopic": [1, 2]},
    ],
)
def test_qrels_that_meet_the_schema(columns: dict[str, Any]) -> None:
    frame = GOOD.assign(**columns)
    assert QRELS.check(frame) is frame


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ([1], "qrels: expected a DataFrame, found list"),
        (GOOD.drop(columns=["doc_id", "relevance"]), "qrels: expected the columns doc_id, relevance; found query_id"),
        (GOOD.assign(relevance=["1", "0"]), "qrels: expected numbers in the column relevance, found str"),
        (GOOD.assign(relevance=pd.Series(["1", 0], dtype=object)), "expected numbers in the column relevance, found o"),
        (GOOD.assign(query_id=[1.0, 2.0]), "expected text or whole numbers in the column query_id, found float64"),
        (GOOD.assign(relevance=[1, None]), r"qrels: row 2 has no relevance \(query_id '1', doc_id 'b'\)"),
        (GOOD.assign(doc_id=["a", None]), r"qrels: row 2 has no doc_id \(query_id '1'\)"),
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
    assert JUDGEMENTS.check(said) is said


@pytest.mark.parametrize("schema", [v for v in vars(frames).values() if isinstance(v, Schema)], ids=lambda s: s.name)
def test_an_empty_frame_meets_every_schema(schema: Schema) -> None:
    schema.check(pd.DataFrame(columns=list(schema.columns)))
    schema.check(pd.DataFrame({name: [] for name in schema.columns}))


def test_a_ranked_run_is_a_run() -> None:
    RUN.check(rank_run(GOOD.rename(columns={"relevance": "score"})))
