"""Leave-one-out over systems, and nuggets found against documents read."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.generated_answers import label_answers, leave_out_systems, nuggets_read
from tests.collection.generated_answers.examples import assignments, frame, nuggets

LISTED = [("1", n, "vital", np.nan) for n in "abcd"]
GRADES: list[tuple[str, str, str, int | None]] = [
    ("x1", "1", "a", 2), ("x1", "1", "b", 2), ("x1", "1", "c", 0), ("x1", "1", "d", 0),
    ("x2", "1", "a", 2), ("x2", "1", "b", 0), ("x2", "1", "c", 0), ("x2", "1", "d", 0),
    ("y1", "1", "a", 0), ("y1", "1", "b", 0), ("y1", "1", "c", 1), ("y1", "1", "d", 0),
    ("z1", "1", "a", 0), ("z1", "1", "b", 0), ("z1", "1", "c", 2), ("z1", "1", "d", 0),
]  # fmt: skip


def changes(table: pd.DataFrame) -> dict[str, tuple[int, float, float]]:
    rows = table[["run", "unique", "before", "after"]].itertuples(index=False, name=None)
    return {run: (unique, before, after) for run, unique, before, after in rows}


def test_nuggets_of_one_group_alone_are_removed() -> None:
    labelled = label_answers(nuggets=nuggets(LISTED), nugget_assignments=assignments(GRADES))
    found = leave_out_systems(labelled, "nugget_vital")
    # a and b are contained in answers of x alone; c in those of y and z; d in none, and stays.
    assert changes(found) == {
        "x1": (2, 0.5, 0.0), "x2": (2, 0.25, 0.0), "y1": (0, 0.125, 0.125), "z1": (0, 0.25, 0.25),
    }  # fmt: skip
    assert found.set_index("run")["place_after"].to_dict() == {"x1": 3, "x2": 3, "z1": 2, "y1": 4}
    assert found["relevant"].tolist() == found["unique"].tolist()
    alone = leave_out_systems(labelled, "nugget_vital", groups=None)
    assert changes(alone)["x1"] == (1, 0.5, pytest.approx(1 / 3))


def test_nuggets_with_sources_belong_to_groups_that_cite_them() -> None:
    labelled = label_answers(nuggets=nuggets(LISTED), nugget_assignments=assignments(GRADES))
    sources = frame([("1", "a", "d1"), ("1", "b", "d2"), ("1", "c", "d9")], "query_id", "nugget", "doc_id")
    said = [("x1", "1", 0, "", ("d1", "d2")), ("y1", "1", 0, "", ("d2",)), ("x2", "1", 0, "", ())]
    sentences = frame(said, "run", "query_id", "sentence", "text", "citations")
    found = leave_out_systems(labelled, "nugget_vital", sources=sources, sentences=sentences)
    # Only x cites the source of a; x and y cite that of b; nobody cites that of c.
    assert changes(found)["x1"] == (1, 0.5, pytest.approx(1 / 3))
    assert changes(found)["z1"] == (0, 0.25, 0.25)
    with pytest.raises(InputError, match="expected sentences as well"):
        leave_out_systems(labelled, "nugget_vital", sources=sources)


def test_without_any_nugget_left_every_value_is_0() -> None:
    labelled = label_answers(nuggets=nuggets(LISTED[:2]), nugget_assignments=assignments(GRADES[:2] + GRADES[8:10]))
    found = leave_out_systems(labelled, ["nugget_vital", "nugget_all(strict)"])
    assert found.loc[found["run"] == "x1", "after"].tolist() == [0.0, 0.0]


def test_a_topic_without_any_nugget_left_stays_in_the_mean() -> None:
    rows: list[tuple[str, str, str, int | None]] = [
        ("x", "1", "a", 1), ("y", "1", "a", 0), ("x", "2", "b", 2), ("y", "2", "b", 2),
    ]  # fmt: skip
    listed = nuggets([("1", "a", "vital", np.nan), ("2", "b", "vital", np.nan)])
    found = leave_out_systems(label_answers(nuggets=listed, nugget_assignments=assignments(rows)), "nugget_vital")
    assert changes(found) == {"x": (1, 0.75, 0.5), "y": (0, 0.5, 0.5)}


def test_what_cannot_be_left_out_is_refused() -> None:
    labelled = label_answers(nuggets=nuggets(LISTED), nugget_assignments=assignments(GRADES))
    with pytest.raises(InputError, match="words does not read nuggets"):
        leave_out_systems(labelled, "words")
    with pytest.raises(InputError, match="expected two or more"):
        leave_out_systems(labelled, "nugget_all", groups=lambda runs: dict.fromkeys(runs, "one"))


def test_nuggets_found_against_documents_read() -> None:
    sources = frame(
        [("1", "a", "d3"), ("1", "b", "d1"), ("1", "b", "d3"), ("1", "c", "d8"), ("2", "a", "d5")],
        "query_id", "nugget", "doc_id",
    )  # fmt: skip
    order = frame([("1", "d1"), ("9", "d1"), ("1", "d2"), ("1", "d3"), ("2", "d1")], "query_id", "doc_id")
    curve = nuggets_read(sources, order)
    assert curve["query_id"].tolist() == ["1"] * 4 + ["2"] * 2
    assert curve["nuggets"].tolist() == [0, 1, 1, 2, 0, 0]
    assert curve["recall"].tolist() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 0, 0])


def test_without_a_source_no_nugget_is_found() -> None:
    order = frame([("1", "d1")], "query_id", "doc_id")
    assert nuggets_read(frame([], "query_id", "nugget", "doc_id"), order).empty
