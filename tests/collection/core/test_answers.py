"""Generated answers and their labels: their reprs and frames."""

from typing import Any

import pandas as pd
import pytest

from collection.core.answers import Answers, NuggetLabels, SupportLabels
from collection.core.errors import InputError
from collection.core.frames import ANSWERS, NUGGET_ASSIGNMENTS, SENTENCES

ANSWER = pd.DataFrame({"run": ["a"], "query_id": ["1"], "team": [""], "words": [2], "stated_words": pd.array([None])})
SENTENCE = pd.DataFrame(
    {"run": ["a"], "query_id": ["1"], "sentence": [0], "text": ["Two words."], "citations": [("d1", "d2")]}
)
NOTHING = pd.DataFrame()


def test_reprs_of_answers_and_labels_count_them() -> None:
    assert repr(Answers(ANSWER, SENTENCE, NOTHING, NOTHING)) == "Answers(1 run, 1 topic, 1 answer, 1 sentence)"
    labels = NuggetLabels(NOTHING, NOTHING, ANSWER, NOTHING)
    assert repr(labels) == "NuggetLabels(1 run, 1 topic, 1 answer, 0 nugget assignments)"
    assert repr(SupportLabels(ANSWER, SENTENCE, NOTHING)) == "SupportLabels(1 run, 1 topic, 1 answer, 0 citations)"


def test_citations_are_tuples() -> None:
    assert SENTENCES.check(SENTENCE) is SENTENCE
    given = SENTENCE.assign(citations=pd.Series([["d1"]], dtype=object))
    assert SENTENCES.check(given)["citations"].tolist() == [("d1",)]
    assert SENTENCES.check(SENTENCE.assign(citations=None))["citations"].tolist() == [()]


@pytest.mark.parametrize("citations", ["d1", 1, {"d1": 0.5}, (1,)])
def test_other_citations_are_refused(citations: Any) -> None:
    with pytest.raises(InputError, match="sentences: expected tuples of text in the column citations, found"):
        SENTENCES.check(SENTENCE.assign(citations=pd.Series([citations], dtype=object)))


def test_missing_numbers_and_grades_are_allowed() -> None:
    assert ANSWERS.check(ANSWER)["stated_words"].isna().all()
    grades = pd.array([2, None], dtype="Int8")
    labels = pd.DataFrame({"run": "a", "query_id": "1", "nugget": ["1", "2"], "grade": grades})
    assert NUGGET_ASSIGNMENTS.check(labels)["grade"].isna().tolist() == [False, True]
