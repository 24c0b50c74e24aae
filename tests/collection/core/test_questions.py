"""Further questions: what they may be, their form as JSON, and their answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from collection.core.errors import InputError, JudgementError
from collection.core.questions import (
    MOST_QUESTIONS,
    Question,
    describe_answer,
    describe_question,
    find_missing,
    kind_of,
    parse_answer,
    parse_answer_lines,
    read_question,
    read_questions,
    write_answer,
    write_answer_lines,
)

CREDIBILITY = {"name": "credibility", "question": "How credible is this page?", "grades": "0-3", "from": 1}
EXCLUSION = {
    "name": "exclusion",
    "question": "Why is it excluded?",
    "one_of": {"population": "Wrong population", "design": "Wrong study design"},
    "from": 0,
    "to": 0,
}
TAGS = {"name": "tags", "question": "Which apply?", "tags": ["review", "protocol"], "required": False}
NAMES = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=40)
SENTENCES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=50)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Any question."""
    kind = draw(st.sampled_from(["grades", "choice", "tags"]))
    keys = st.integers(0, 20) if kind == "grades" else NAMES
    names = draw(st.lists(keys, min_size=2, max_size=20, unique_by=lambda key: str(key).casefold()))
    low = draw(st.none() | st.integers(0, 20))
    high = draw(st.none() | st.integers(low or 0, 20))
    return Question(
        draw(NAMES.filter(lambda name: name.casefold() not in ("relevance", "grade"))),
        draw(SENTENCES),
        kind,
        {name: draw(SENTENCES) for name in names},
        draw(st.booleans()),
        low,
        high,
        draw(st.booleans()),
    )


@pytest.mark.parametrize("written", [CREDIBILITY, EXCLUSION, TAGS, {**TAGS, "again": True}])
def test_the_form_as_json(written: dict[str, Any]) -> None:
    question = read_question(written)
    assert question.to_json() == written
    assert read_question(json.loads(json.dumps(question.to_json()))) == question


def test_the_three_kinds() -> None:
    credibility, exclusion, tags = read_questions([CREDIBILITY, EXCLUSION, TAGS])
    assert [credibility.label(grade) for grade in credibility.answers] == ["Lowest", "Grade 1", "Grade 2", "Highest"]
    assert [grade for grade in (None, 0, 1, 2) if credibility.is_asked(grade)] == [1, 2]
    assert [grade for grade in (None, 0, 1, 2) if exclusion.is_asked(grade)] == [0]
    assert [grade for grade in (None, 0, 1, 2) if tags.is_asked(grade)] == [0, 1, 2]
    assert tags.check(["protocol", "review"]) == ("review", "protocol")
    assert describe_answer("design", exclusion) == "Wrong study design"


@given(questions())
def test_every_question_is_read_as_it_was_written(question: Question) -> None:
    again = read_question(json.loads(json.dumps(question.to_json())))
    assert again == question
    assert list(again.answers) == list(question.answers)


@given(questions())
def test_answers_are_edited_as_they_were_set(question: Question) -> None:
    answers = parse_answer_lines(write_answer_lines(question), question.kind)
    assert list(answers.items()) == list(question.answers.items())


def test_a_label_of_several_answers_names_none() -> None:
    why = Question("why", "Why?", "choice", {"pop": "Wrong: population", "des": "Wrong: design", "wrong": "Other"})
    assert [why.read(text) for text in ("wrong: design", "POP", "Wrong")] == ["des", "pop", "wrong"]
    why = Question("why", "Why?", "choice", {"pop": "Wrong: population", "des": "Wrong: design"})
    with pytest.raises(JudgementError, match=r"expected an answer of 'why' \(pop, des\), found 'Wrong'"):
        why.read("Wrong")


@given(questions(), st.data())
def test_answers_in_tables_are_read_as_they_were_written(question: Question, data: st.DataObject) -> None:
    one = st.sampled_from(list(question.answers))
    answer = data.draw(st.lists(one, unique=True) if question.kind == "tags" else one)
    checked = question.check(answer)
    assert parse_answer(write_answer(checked), question) == checked
    assert parse_answer(write_answer(checked)) == checked, "also without the question"
    assert question.read(parse_answer(write_answer(checked))) == checked
    assert kind_of(checked) == question.kind


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "expected the name of a question as one line of 1 to 40"),
        ({"name": "x" * 41}, "expected the name of a question as one line of 1 to 40"),
        ({"name": "a|b"}, "without"),
        ({"name": "a:b"}, "without"),
        ({"name": "a\nb"}, "one line"),
        ({"name": "Relevance"}, "that of the grade"),
        ({"question": " "}, "expected a sentence that asks it"),
        ({"question": "x" * 301}, "at most 300 characters, found 301"),
        ({"grades": "0-21"}, "from 0 to 20"),
        ({"grades": "high-low"}, 'expected "grades" as'),
        ({"grades": {"0": "only one"}}, "two or more"),
        ({"grades": {"0": "a", "x": "b"}}, 'expected "grades" as'),
        ({"grades": {"0": None, "1": "b"}}, "expected a sentence of grade 0, .* found None"),
        ({"grades": {"0": "a", "1": ["b"]}}, "expected a sentence of grade 1"),
        ({"grades": {"0": "a", "1": " "}}, "expected a sentence of grade 1"),
        ({"grades": {"0": "a", "1": "b\nc"}}, "expected a sentence of grade 1, as one line"),
        ({"grades": {"0": "a", "1": "b" * 301}}, "expected a sentence of grade 1, .* found 301 characters"),
        ({"tags": ["a", "b"]}, "exactly one of"),
        ({"from": 3, "to": 1}, 'expected "from" up to "to", found 3 to 1'),
        ({"from": "1"}, 'expected "from" as a grade'),
        ({"required": "no"}, 'expected "required" as true or false'),
        ({"colour": "red"}, "expected the fields"),
    ],
)
def test_what_no_question_may_be(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_question({**CREDIBILITY, **change})


@pytest.mark.parametrize(
    "answers",
    [
        ["one"],
        ["a", "a"],
        ["a", "A"],
        ["a|b", "c"],
        ["1", "2"],
        ["1.0", "two"],
        ["Wrong: population", "other"],
        ["a", ""],
        ["a", 2],
        [f"t{n}" for n in range(21)],
        "ab",
    ],
)
def test_what_no_answers_may_be(answers: object) -> None:
    with pytest.raises(InputError):
        read_question({"name": "tags", "question": "Which apply?", "tags": answers})


def test_a_list_of_questions() -> None:
    with pytest.raises(InputError, match="'Tags' twice"):
        read_questions([{**TAGS, "name": "Tags"}, TAGS])
    with pytest.raises(InputError, match=f"at most {MOST_QUESTIONS}"):
        read_questions([{**TAGS, "name": f"q{n}"} for n in range(MOST_QUESTIONS + 1)])
    for other in ({}, "tags", [TAGS, 1], None):
        with pytest.raises(InputError, match="questions: expected"):
            read_questions(other)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        (CREDIBILITY, "2"),
        (CREDIBILITY, 4),
        (CREDIBILITY, True),
        (EXCLUSION, "x"),
        (EXCLUSION, ["design"]),
        (TAGS, "review"),
        (TAGS, ["other"]),
    ],
)
def test_what_is_no_answer(written: dict[str, Any], answer: object) -> None:
    with pytest.raises(JudgementError, match="expected"):
        read_question(written).check(answer)


def test_missing_answers() -> None:
    """Optional questions, those not asked at the grade, and all where nothing can be judged are never missing."""
    asked = read_questions([CREDIBILITY, EXCLUSION, TAGS])
    assert [each.name for each in find_missing(asked, 0, {}, "1")] == ["exclusion"]
    assert [each.name for each in find_missing(asked, 2, {}, "1")] == ["credibility"]
    assert find_missing(asked, 2, {"credibility": 0}, "1") == find_missing(asked, None, {}, "1") == []
    every_tag = read_question({**TAGS, "required": True})
    assert find_missing([every_tag], 0, {}, "1") == [every_tag]
    assert find_missing([every_tag], 0, {"tags": ()}, "1") == []


def test_required_in_some_topics() -> None:
    written = {**EXCLUSION, "required": ["full-text"]}
    question = read_question(written)
    assert question.to_json() == written
    assert (question.is_required("full-text"), question.is_required("1")) == (True, False)
    assert find_missing([question], 0, {}, "1") == []
    assert find_missing([question], 0, {}, "full-text") == [question]
    assert "required in topic full-text" in describe_question(question)
    assert read_question(EXCLUSION).is_required("1")
    assert not read_question(TAGS).is_required("1")
    for wrong in ([], [1], [""], "full-text"):
        with pytest.raises(InputError, match='"required"'):
            read_question({**EXCLUSION, "required": wrong})
