"""A literature review and its texts."""

import pytest

from collection.core.errors import InputError
from collection.core.review import DEFAULT_REASONS, FULL_TEXT, Review, reason_question, with_reasons


def test_texts_of_the_topics() -> None:
    review = Review(
        "Exercise  and falls",
        "Does exercise prevent falls?",
        population="Adults over 65",
        outcome="Falls",
        include=("Randomised trials", " ", "Randomised trials"),
        exclude=("Animals",),
    )
    assert [topic.query_id for topic in review.topics()] == ["review", "full-text"]
    assert [topic.query_id for topic in Review("a", full_text=False).topics()] == ["review"]
    first = review.topics()[0]
    assert first.title == "Exercise and falls"
    assert first.description == "Does exercise prevent falls?\nPopulation: Adults over 65\nOutcome: Falls"
    assert first.narrative == "Include:\n- Randomised trials\nExclude:\n- Animals"


@pytest.mark.parametrize("changes", [{"title": " "}, {"screeners": 3}, {"screeners": True}])
def test_what_is_no_review(changes: dict[str, object]) -> None:
    with pytest.raises(InputError, match="expected"):
        Review(**{"title": "a", **changes})  # type: ignore[arg-type]


def test_reasons_replace_those_before() -> None:
    before = with_reasons([], DEFAULT_REASONS)
    after = with_reasons(before, ["Animals", " Other ", ""])
    assert [list(each.answers) for each in after] == [["Animals", "Other"]]
    assert after[0].required_topics == (FULL_TEXT,)
    with pytest.raises(InputError, match="2 to 20"):
        reason_question(["Animals"])
