"""Alignment of nested dictionaries: the same as that of frames, in every order of equal scores."""

from types import MappingProxyType
from typing import cast

import numpy as np
import pytest
from hypothesis import given

from collection.core.errors import InputError
from collection.formats.in_memory import as_qrels
from collection.interfaces import nested_dictionaries
from collection.interfaces.nested_dictionaries import NestedQrels, TieOrder
from collection.measures import UNJUDGED, UNPOOLED, Version, align
from tests.collection.interfaces.generated import Nested, as_frame, cases, generated
from tests.helpers import tries


def require_same(qrels: dict[str, dict[str, int]], run: Nested, version: Version) -> None:
    frame = as_qrels(qrels)
    nested = NestedQrels(qrels).align(run, version=version)
    assert nested.topics == [topic for topic in run if qrels.get(topic)]
    whole = align(as_frame(run, "score"), frame, version=version)
    rows = [whole.topics.index(topic) for topic in nested.topics]
    width = nested.grades.shape[1]
    assert nested.grades.tolist() == whole.grades[rows, :width].tolist()
    assert nested.judged.tolist() == whole.judged[rows].tolist()
    assert nested.retrieved.tolist() == whole.retrieved[rows].tolist()
    assert (nested.levels, nested.version) == (whole.levels, whole.version)
    assert set(nested.ignored_topics) == {topic for topic in run if not qrels.get(topic)}


@pytest.mark.slow
@pytest.mark.parametrize("version", [9, 10])
@tries(60)
@given(case=cases())
def test_a_frame_of_the_same_run_is_aligned_alike(
    version: Version, case: tuple[dict[str, dict[str, int]], Nested]
) -> None:
    require_same(*case, version)


@pytest.mark.parametrize("version", [9, 10])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("short", [0, nested_dictionaries.SHORT])
def test_a_frame_of_a_longer_run_is_aligned_alike(
    version: Version, seed: int, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested_dictionaries, "SHORT", short)  # topics one by one, and together
    require_same(*generated(seed), version)


@pytest.mark.parametrize("any_grade", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_qrels_without_pandas_are_those_of_a_frame(seed: int, any_grade: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = generated(seed)
    qrels["empty"] = {}
    expected = NestedQrels(as_qrels(qrels), any_grade=any_grade).align(run)
    monkeypatch.setattr(nested_dictionaries, "as_qrels", None)
    found = NestedQrels(qrels, any_grade=any_grade).align(run)
    for name in ("topics", "levels", "ignored_topics"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("grades", "judged", "retrieved"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_other_qrels_are_read_as_frames() -> None:
    run = {"1": {"a": 2.0, "b": 1.0}}
    for qrels in (
        {1: {"a": 1, "b": 2}},
        {"1": {"a": np.int8(1), "b": np.int8(2)}},
        {"1": MappingProxyType({"a": 1, "b": 2})},
    ):
        assert NestedQrels(cast(Nested, qrels)).align(run).grades.tolist() == [[1, 2]]
    with pytest.raises(InputError, match="row 1 has no relevance"):
        NestedQrels({"1": {"a": np.nan}})


@pytest.mark.parametrize(
    ("ties", "order"), [("descending", "c b a d"), ("ascending", "a b c d"), ("listed", "b c a d")]
)
def test_order_of_equal_scores(ties: TieOrder, order: str) -> None:
    grades = {"a": 1, "b": 2, "c": 3, "x": 4}
    run = {"1": {"b": 2.0, "d": 1.0, "c": 2.0, "a": 2.0}}
    found = NestedQrels(as_qrels({"1": grades})).align(run, ties=ties)
    assert found.grades.tolist() == [[grades.get(doc_id, UNPOOLED) for doc_id in order.split()]]
    assert found.judged.tolist() == [[4, 3, 2, 1]]


def test_grades_below_0_are_unjudged_and_subtopics_are_kept() -> None:
    qrels = as_frame({"1": {"a": -3, "b": 1}}, "relevance").assign(subtopic=["x", "y"])
    found = NestedQrels(qrels).align({"1": {"a": 2.0, "b": 1.0, "c": 0.5}})
    assert found.grades.tolist() == [[UNJUDGED, 1, UNPOOLED]]
    assert found.subtopics is not None
    assert found.subtopics.grades.tolist() == [[[-1, -1], [-1, 1], [-1, -1]]]


def test_nothing_in_common() -> None:
    found = NestedQrels(as_qrels({})).align({"1": {"a": 1.0}})
    assert (found.topics, found.ignored_topics, found.grades.shape) == ([], ["1"], (0, 0))


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([("1", "a", 1.0)], "found list"),
        ({"1": ["a"]}, "found list for '1'"),
        ({"1": {"a": None}}, "expected numbers as scores"),
        ({"1": {"a": "high"}}, "expected numbers as scores"),
        ({"1": {"a": np.nan}}, "expected numbers as scores, found nan"),
    ],
)
def test_runs_in_another_form(run: Nested, message: str) -> None:
    with pytest.raises(InputError, match=message):
        NestedQrels(as_qrels({"1": {"a": 1}})).align(run)
