"""Replies with a grade, and replies that only look like one."""

import pytest
from hypothesis import given, strategies as st

from collection.core.records import GRADE_SCALES
from collection.machine_labels.replies import read_grade
from tests.helpers import tries

SCALE = GRADE_SCALES["0-3"]

GRADED = {
    "Grade: 2": 2,
    "grade:2": 2,
    "GRADE: 0": 0,
    "Grade: 2.": 2,
    "**Grade: 2**": 2,
    "**Grade:** 2": 2,
    "## Grade: 3\n\n": 3,
    "##final score: 1": 1,
    "Final grade: 1": 1,
    "`Grade: 1`": 1,
    "Grade = 1": 1,
    "The document is on topic.\nIt has no answer.\n\nGrade: 1": 1,
    "Grade: 2\nThe document answers in part.\nGrade: 2": 2,
    "Grade: 2 (Highly relevant)": 2,
    "Grade: 2 (highly relevant).": 2,
    "Grade: 0 (not relevant at all)": 0,
    "Grade: 2 - Relevant": 2,
    "Grade: 3: Perfect": 3,
    "Grade：2": 2,
    "Grade：2（highly relevant）": 2,
    "- Grade: 1": 1,
    "* **Grade:** 1": 1,
    "• Grade: 1": 1,
    "2. Grade: 1": 1,
    "> Grade: 3": 3,
    "Grade: 2<|eot_id|>": 2,
    "Grade: 2 <|im_end|>\n": 2,
    "Grade: 2</s>": 2,
    "Grade: 2<end_of_turn>\n<eos>": 2,
    "Grade: 2<｜end▁of▁sentence｜>": 2,
    "3<|endoftext|>": 3,
    '{"grade": 2}': 2,
    '```json\n{"reason": "It answers in part.", "grade": 1}\n```': 1,
    '{"Relevance Grade": "3", "confidence": 0.9}': 3,
    '<think>It is 0.</think>\n{"score": 1}': 1,
    "3": 3,
    " 0. ": 0,
    "<think>Grade: 3? No, it is only on topic.</think>\nGrade: 1": 1,
    "On a scale of 0 to 3, the match is 2 and the trust is 3.\nGrade: 2": 2,
}


@pytest.mark.parametrize("text", GRADED)
def test_a_stated_grade_is_read(text: str) -> None:
    assert read_grade(text, SCALE) == (GRADED[text], None)


UNGRADED = {
    "nothing": ("", "the reply is empty"),
    "only blanks": (" \n\t", "the reply is empty"),
    "only marks": ("**\n##", "the last line"),
    "two grades": ("Grade: 1\nGrade: 2", "the reply states the grades 1 and 2"),
    "a quoted grade": ('The document says "Grade: 3".\nGrade: 0', "the reply states the grades 0 and 3"),
    "off the scale": ("Grade: 4", "grade 4 is not one of 0, 1, 2, 3"),
    "negative": ("Grade: -1", "grade -1 is not one of"),
    "very long": (f"Grade: {'9' * 5000}", "the last line"),
    "fraction": ("Grade: 2.5", "the last line"),
    "share": ("Grade: 2/3", "the last line"),
    "range": ("Grade: 1-2", "the last line"),
    "alternatives": ("Grade: 1 or 2", "the last line"),
    "negated": ("Grade: not 3", "the last line"),
    "negated before": ("It is not Grade: 3", "the last line"),
    "negated after": ("Grade: 3 would be wrong", "the last line"),
    "in words": ("Grade: two", "the last line"),
    "label": ("Grade: Relevant", "the last line"),
    "words after it": ("Grade: 2\nI hope this helps!", "the last line"),
    "number after words": ("I would say\n2", "the last line"),
    "list": ("1\n2\n3", "the last line"),
    "German": ("Bewertung: 2", "the last line"),
    "Chinese": ("等级：2", "the last line"),
    "Arabic digits": ("Grade: ٢", "the last line"),
    "full-width digit": ("Grade: ２", "the last line"),
    "superscript": ("Grade: ²", "the last line"),
    "JSON with two grades": ('{"grade": 2, "score": 1}', "the last line"),
    "JSON with a repeated name": ('{"grade": 2, "grade": 1}', "the last line"),
    "JSON with a grade in words": ('{"grade": "two"}', "the last line"),
    "JSON with a fraction": ('{"grade": 2.5}', "the last line"),
    "JSON with a list": ('{"grade": [2]}', "the last line"),
    "JSON with true": ('{"grade": true}', "the last line"),
    "JSON that contradicts itself": ('{"reason": "I would say Grade: 3", "grade": 1}', "the reply states the grades"),
    "JSON in words": ('The grade is {"grade": 2}', "the last line"),
    "JSON off the scale": ('{"grade": 7}', "grade 7 is not one of"),
    "another name in brackets": ("Grade: 2 (Perfect)", "the reply states the grade 2 and names the grade 3"),
    "another name": ("Grade: 2 - Perfect", "the reply states the grade 2 and names the grade 3"),
    "alternatives in brackets": ("Grade: 2 (or 3)", "the last line"),
    "doubt in brackets": ("Grade: 2 (maybe higher)", "the last line"),
    "denial in brackets": ("Grade: 2 (not helpful)", "the last line"),
    "question in brackets": ("Grade: 2 (relevant?)", "the last line"),
    "number in brackets": ("Grade: 2 (of 3)", "the last line"),
    "words behind a dash": ("Grade: 3 - would be wrong", "the last line"),
    "range with a dash": ("Grade: 1 - 2", "the last line"),
    "a turn that ends within": ("Grade: 2<|im_end|>\nI hope this helps!", "the last line"),
    "the form itself": ("Grade: N", "the last line"),
    "refusal": ("I'm sorry, but I can't help with that.", "the last line"),
    "unfinished thought": ("<think>Grade: 3 perhaps", "the last line"),
    "only a thought": ("<think>Grade: 3</think>", "the reply is empty"),
}


@pytest.mark.parametrize("name", UNGRADED)
def test_what_is_no_grade_has_none(name: str) -> None:
    text, problem = UNGRADED[name]
    reply = read_grade(text, SCALE)
    assert reply.grade is None
    assert reply.problem is not None
    assert reply.problem.startswith(problem)


@pytest.mark.parametrize(
    ("finish", "problem"),
    [
        ("length", "the reply was cut off"),
        ("content_filter", "the endpoint's filter withheld the reply"),
        ("refusal", "the model refused"),
        ("tool_calls", "the reply ended with 'tool_calls'"),
    ],
)
def test_a_reply_that_the_model_did_not_end_has_no_grade(finish: str, problem: str) -> None:
    assert read_grade("Grade: 2", SCALE, finish) == (None, problem)


@pytest.mark.parametrize("finish", [None, "", "stop", "STOP", "eos", "end_turn"])
def test_a_reply_that_the_model_ended_has_its_grade(finish: str | None) -> None:
    assert read_grade("Grade: 2", SCALE, finish).grade == 2


@given(st.text(max_size=100), st.text(max_size=100))
@tries(300)
def test_any_text_has_a_grade_of_the_scale_or_none(before: str, after: str) -> None:
    for text in (before, f"{before}\nGrade: {after}", f"{before}\nGrade: 2\n{after}"):
        reply = read_grade(text, SCALE)
        assert (reply.grade is None) == (reply.problem is not None)
        assert reply.grade is None or (reply.grade in SCALE and str(reply.grade) in text)
