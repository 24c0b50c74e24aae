"""Labels by machines in the store."""

import math
import random
import sqlite3
from collections.abc import Iterator

import pandas as pd
import pytest

from collection.core.records import Topic
from collection.store import LabelRow, SampleInUse, Store


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(":memory:", create=True) as opened:
        with opened.transaction():
            opened.corpus.add_topics([Topic("1", "wing flow")])
            opened.corpus.add_document_ids(["a", "b"])
        yield opened


def test_the_last_row_of_a_pair_is_its_label(store: Store) -> None:
    made = store.machine_labels.create("gpt", "llm", {"model": "gpt"}, "2026-01-01")
    surrogate = "half \ud800"
    rows = [
        LabelRow("1", "a", "no grade", None, "2026-01-01", prompt=surrogate, reply="well", cost=0.5),
        LabelRow("1", "b", "graded", 0.0, "2026-01-02", cost=0.25),
        LabelRow("1", "a", "graded", 2.0, "2026-01-03", cost=0.5),
    ]
    store.machine_labels.add(made.key, rows)
    assert store.machine_labels.current(made.key).to_dict("list") == {
        "query_id": ["1", "1"], "doc_id": ["a", "b"], "status": ["graded", "graded"], "relevance": [2.0, 0.0],
    }  # fmt: skip
    assert list(store.machine_labels.log(made.key)) == rows
    assert store.machine_labels.totals(made.key)["cost"].tolist() == [0.75, 0.5]
    assert store.machine_labels.sets() == [made]


@pytest.mark.parametrize("seed", range(20))
def test_samples_are_those_of_the_view(store: Store, seed: int) -> None:
    """The view reads each row for itself; whole sets are read column by column."""
    rng = random.Random(seed)
    made = [store.machine_labels.create(name, "llm", {}, "2026-01-01").key for name in ("gpt", "llama")]
    for _ in range(rng.randrange(12)):
        status = rng.choice(["graded", "no grade", "failed"])
        grade = rng.choice([0.0, 0.1, 1 / 3]) if status == "graded" else None
        row = LabelRow("1", rng.choice("ab"), status, grade, "2026-01-01", sample=rng.choice([1, 1, 2]))
        store.machine_labels.add(rng.choice(made), [row])
    for key in made:
        expected = store.connection.execute(
            "SELECT doc_id, sample, status, relevance FROM current_machine_labels JOIN documents USING (doc) "
            "WHERE label_set = ? ORDER BY doc, sample",
            (key,),
        ).fetchall()
        found = store.machine_labels.samples(key)[["doc_id", "sample", "status", "relevance"]]
        assert found.astype(object).where(found.notna(), None).values.tolist() == list(map(list, expected))


def test_labels_are_never_changed(store: Store) -> None:
    made = store.machine_labels.create("gpt", "llm", {}, "2026-01-01")
    store.machine_labels.add(made.key, [LabelRow("1", "a", "graded", 1.0, "2026-01-01")])
    for statement in ("UPDATE machine_labels SET relevance = 0", "DELETE FROM machine_labels",
                      "UPDATE label_sets SET settings = '{}'"):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            store.connection.execute(statement)
    with pytest.raises(sqlite3.IntegrityError):
        store.machine_labels.add(made.key, [LabelRow("1", "a", "no grade", 1.0, "2026-01-01")])


def test_the_first_view_of_a_label_counts(store: Store) -> None:
    made = store.machine_labels.create("gpt", "llm", {}, "2026-01-01")
    for at in ("2026-01-02", "2026-01-03"):
        store.machine_labels.record_view("ann", made.key, [("1", "a")], at)
    assert store.machine_labels.views().to_numpy().tolist() == [["ann", "gpt", "1", "a", "2026-01-02"]]


def test_a_sample_comes_back_in_order(store: Store) -> None:
    made = store.machine_labels.create("gpt", "llm", {}, "2026-01-01")
    sample = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "size": [1.0, 2.0], "priority": [3.0, math.nan]})
    store.machine_labels.set_sample(made.key, sample)
    pd.testing.assert_frame_equal(store.machine_labels.sample(made.key), sample, check_dtype=False)
    assert store.machine_labels.sample_in_use() is None
    store.machine_labels.use_sample(SampleInUse(made.key, 1))
    store.machine_labels.use_sample(SampleInUse(made.key, 2))
    assert store.machine_labels.sample_in_use() == (made.key, 2)
    store.machine_labels.use_sample(None)
    assert store.machine_labels.sample_in_use() is None
