"""Grades in the replies of language models: one that is stated in the form asked for, or none."""

from __future__ import annotations

import re
from typing import NamedTuple

from collection.core.phrases import join
from collection.core.records import GradeScale

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
"""What models that think aloud write before the reply."""
_EMPHASIS = re.compile(r"[*_`#]+")
_NAME = r"(?:(?:final|overall|relevance) )?(?:grade|score)"
_STATED = re.compile(rf"{_NAME} ?[:=] ?(-?[0-9]{{1,9}})\.?", re.IGNORECASE | re.ASCII)
_STATED_ANYWHERE = re.compile(rf"\b{_NAME} ?[:=] ?(-?[0-9]{{1,9}})", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"(-?[0-9]{1,9})\.?", re.ASCII)
_ENDED = {"stop", "eos", "end_turn", "stop_sequence"}
"""Reasons of servers for the end of a reply that the model ended itself."""
_PROBLEMS = {
    "length": "the reply was cut off",
    "content_filter": "the endpoint's filter withheld the reply",
    "refusal": "the model refused",
}
"""Other reasons -> why such a reply has no grade."""


class Reply(NamedTuple):
    """A grade, or why there is none."""

    grade: int | None
    problem: str | None = None


def read_grade(text: str | None, grades: GradeScale, finish: str | None = "stop") -> Reply:
    r"""Read the grade of a reply whose last line is ``Grade: N``, or that is a number only.

    Nothing is guessed: a line with other words ("Grade: not 2", "Grade: 2 or 3"), a grade that is not on the scale, two
    different stated grades, and a reply that the model did not end itself have no grade.

    Parameters
    ----------
    text
        The reply; None if the endpoint sent none.
    finish
        The endpoint's reason for the end of the reply: "stop" if the model ended it, None if the endpoint names none.

    Examples
    --------
    >>> from collection.core.records import GRADE_SCALES
    >>> scale = GRADE_SCALES["0-3"]
    >>> read_grade("It answers the question in part.\n**Grade: 2**", scale).grade
    2
    >>> read_grade("Grade: 2 or 3", scale)
    Reply(grade=None, problem='the last line is not "Grade: N"')
    """
    finish = (finish or "stop").lower()
    if finish not in _ENDED:
        return Reply(None, _PROBLEMS.get(finish, f"the reply ended with {finish!r}"))
    plain = _THOUGHT.sub("", text or "")
    if not plain.strip():
        return Reply(None, "the reply is empty")
    lines = [" ".join(_EMPHASIS.sub(" ", line).split()) for line in plain.splitlines()]
    lines = [line for line in lines if line]
    stated = _STATED.fullmatch(lines[-1]) if lines else None
    if stated is None and len(lines) == 1:
        stated = _NUMBER.fullmatch(lines[0])
    if stated is None:
        return Reply(None, 'the last line is not "Grade: N"')
    numbers = {int(stated[1]), *(int(number) for line in lines for number in _STATED_ANYWHERE.findall(line))}
    if len(numbers) > 1:
        return Reply(None, f"the reply states the grades {join(sorted(numbers))}")
    (grade,) = numbers
    return Reply(grade) if grade in grades else Reply(None, f"grade {grade} is not one of {grades}")
