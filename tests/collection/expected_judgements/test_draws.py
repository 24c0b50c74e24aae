"""Values on draws of the unjudged grades: against the measures, and against the expected values."""

import numpy as np
import pandas as pd
import pytest

from collection.core.errors import InputError
from collection.core.records import Run
from collection.expected_judgements import describe, draw_values, draws, reads_unlisted
from collection.measures import align, parse
from tests.collection.expected_judgements.test_expected_judgements import _frame, generated

MEASURES = [parse(m) for m in ("nDCG@10", "AP", "ERR@5", "P@5")]
LEVELS = [0, 1, 2, 3]


@pytest.mark.slow
def test_of_a_judged_pool_the_only_draw_has_the_values() -> None:
    pairs, grades = generated(texts=False)
    found = draw_values(pairs, grades, MEASURES, levels=LEVELS)
    qrels = pairs.frame.assign(relevance=grades.astype(int))
    for measure in MEASURES:
        assert found[measure].shape == (5, 1, 4)
        for n in range(len(pairs.runs)):
            aligned = align(_frame(pairs, n), qrels)
            assert aligned.topics == pairs.numbered[n].topics
            assert found[measure][n, 0].tolist() == measure(aligned).tolist()


@pytest.mark.slow
def test_draws_change_only_topics_with_unjudged_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, grades = generated(texts=False)
    known = np.where(pairs.topic == 2, np.where(np.arange(len(grades)) % 3 == 0, grades, np.nan), grades)
    found = draw_values(pairs, known, MEASURES, levels=LEVELS, draws=30)
    whole = draw_values(pairs, grades, MEASURES, levels=LEVELS)
    for measure, values in found.items():
        fixed = [0, 1, 3]
        assert (values[:, :, fixed] == whole[measure][:, :, fixed]).all()
        assert len(np.unique(values[0, :, 2])) > 1
    # In smaller parts: the same numbers, also of ERR, which depends on the highest grade of all draws.
    monkeypatch.setattr(draws, "CELLS", 1)
    for measure, values in draw_values(pairs, known, MEASURES, levels=LEVELS, draws=30).items():
        assert (values == found[measure]).all()


def test_wider_draws_differ_more() -> None:
    pairs, grades = generated(texts=False)
    known = np.where(np.arange(len(grades)) % 2, np.nan, grades)
    spread = [
        draw_values(pairs, known, MEASURES[:1], levels=LEVELS, draws=200, widening=widening)[MEASURES[0]]
        .mean(axis=2)
        .std()
        for widening in (0.0, 1.0, 2.0)
    ]
    # Without any, grades are still drawn: what is known of weights and effects makes no grade certain.
    assert 0 < spread[0] < spread[1] < spread[2]


def test_nothing_is_drawn_from_nothing() -> None:
    pairs, grades = generated(texts=False)
    with pytest.raises(InputError, match="at least one judged pair"):
        draw_values(pairs, np.full(len(grades), np.nan), MEASURES, levels=LEVELS)


@pytest.mark.parametrize(
    ("measure", "relevant", "addable"),
    [("IPrec@0.5", "1110", 5), ("IPrec@0.1", "1110", None), ("bpref", "01", 2), ("bpref", "01", None)],
)
def test_further_documents_that_change_a_value_only_together_are_noticed(
    measure: str, relevant: str, addable: int | None
) -> None:
    doc_ids = [f"d{rank}" for rank in range(len(relevant))]
    frame = pd.DataFrame({"query_id": "1", "doc_id": doc_ids, "score": np.arange(len(relevant), 0.0, -1)})
    pairs, grades = describe(frame, [Run("a", frame)]), np.array([float(grade) for grade in relevant])
    number = None if addable is None else np.array([addable])
    assert reads_unlisted(pairs, grades, parse(measure), levels=[0, 1], addable=number)
    assert not reads_unlisted(pairs, grades, parse(measure), levels=[0, 1], addable=np.array([0]))
