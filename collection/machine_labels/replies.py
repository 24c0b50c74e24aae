"""Grades in the replies of language models: one that is stated in the form asked for, or none."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from collection.core.phrases import join
from collection.core.records import GradeScale

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
"""What models that think aloud write before the reply."""
_TURN_ENDS = re.compile(
    r"(?:\s*(?:<[|｜][A-Za-z_▁ -]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>|<end_of_utterance>|\[/INST\]))+\s*\Z"
)
"""Tokens that end the turn of a model, which some servers leave in the reply."""
_EMPHASIS = re.compile(r"[*_`#]+")
_WIDE = str.maketrans("：＝（）", ":=()")
"""Full-width signs -> the same signs, as they stand around a grade in ASCII digits."""
_MARKER = r"(?:(?:[-•‣–—>]|\d{1,2}[.)]) ?)?"
"""The mark of an item of a list."""
_NAME = r"(?:(?:final|overall|relevance) )?(?:grade|score)"
_STATED = re.compile(
    rf"{_MARKER}{_NAME} ?[:=] ?(-?[0-9]{{1,9}})\.?(?: ?\((?P<gloss>[^()]*)\)\.?| ?[-–—:,] (?P<name>.*))?",
    re.IGNORECASE | re.ASCII,
)
_STATED_ANYWHERE = re.compile(rf"\b{_NAME} ?[:=] ?(-?[0-9]{{1,9}})", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"(-?[0-9]{1,9})\.?", re.ASCII)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL | re.IGNORECASE)
_KEY = re.compile(rf"{_NAME.replace(' ', '[ _-]?')}|relevance", re.IGNORECASE)
"""A member of a JSON object that holds the grade."""
_DOUBT = {
    "or", "to", "between", "maybe", "perhaps", "possibly", "probably", "could", "might", "would", "should", "unless",
    "if", "except", "than", "rather", "instead", "almost", "nearly", "higher", "lower", "wrong", "zero", "one", "two",
    "three", "four", "five",
}  # fmt: skip
_DENIAL = {"not", "no", "never", "irrelevant", "non", "isn't", "doesn't"}
"""Words in brackets after a grade that leave it open, or that deny a grade above the lowest."""
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


def without_thought(text: str) -> str:
    """Return a reply without the reasoning that some models write before it."""
    return _THOUGHT.sub("", text)


def read_grade(text: str | None, grades: GradeScale, finish: str | None = "stop") -> Reply:
    r"""Read the grade of a reply whose last line is ``Grade: N``, that is a number only, or a JSON object with a grade.

    A list marker before the line, a full-width colon, the name of the grade or words in brackets behind it, and tokens
    that end a turn do not matter. Nothing is guessed: a line with other words ("Grade: not 2", "Grade: 2 or 3"), a
    grade that is not on the scale, two different stated grades, words that name another grade or leave it open, and a
    reply that the model did not end itself have no grade.

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
    >>> read_grade("- Grade： 2 (highly relevant)<|eot_id|>", scale).grade, read_grade('{"grade": 2}', scale).grade
    (2, 2)
    >>> read_grade("Grade: 2 or 3", scale)
    Reply(grade=None, problem='the last line is not "Grade: N"')
    """
    finish = (finish or "stop").lower()
    if finish not in _ENDED:
        return Reply(None, _PROBLEMS.get(finish, f"the reply ended with {finish!r}"))
    plain = _TURN_ENDS.sub("", without_thought(text or "")).translate(_WIDE)
    if not plain.strip():
        return Reply(None, "the reply is empty")
    lines = [" ".join(_EMPHASIS.sub(" ", line).split()) for line in plain.splitlines()]
    lines = [line for line in lines if line]
    numbers = {int(number) for line in lines for number in _STATED_ANYWHERE.findall(line)}
    if (member := _json_grade(plain)) is not None:
        numbers.add(member)
    else:
        stated = _STATED.fullmatch(lines[-1]) if lines else None
        number = stated or (_NUMBER.fullmatch(lines[0]) if len(lines) == 1 else None)
        if number is None:
            return Reply(None, 'the last line is not "Grade: N"')
        if stated is not None and (problem := _find_doubt(stated, grades)):
            return Reply(None, problem)
        numbers.add(int(number[1]))
    if len(numbers) > 1:
        return Reply(None, f"the reply states the grades {join(sorted(numbers))}")
    (grade,) = numbers
    return Reply(grade) if grade in grades else Reply(None, f"grade {grade} is not one of {grades}")


def _json_grade(text: str) -> int | None:
    """The grade of a reply that is one JSON object with exactly one member for it; None for any other reply."""
    fenced = _FENCE.match(text)
    try:
        found = json.loads(fenced[1] if fenced else text, object_pairs_hook=tuple)  # a dict loses a repeated name
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, tuple):
        return None
    values = [value for name, value in found if _KEY.fullmatch(name)]
    if len(values) != 1:
        return None
    if isinstance(values[0], str) and _NUMBER.fullmatch(values[0].strip()):
        return int(values[0].strip().rstrip("."))
    return values[0] if type(values[0]) is int and abs(values[0]) < 1e9 else None


def _find_doubt(stated: re.Match[str], grades: GradeScale) -> str:
    """Return the reason for which the words behind a grade leave it open; "" for none."""
    grade, name, gloss = int(stated[1]), stated["name"], stated["gloss"]
    words = (gloss if name is None else name) or ""
    plain = words.strip(" .!").casefold()
    named = grades.names.get(plain)
    if not plain or named == grade:
        return ""
    if named is not None:
        return f"the reply states the grade {grade} and names the grade {named}"
    terms = set(re.findall(r"[\w']+", plain))
    doubts = _DOUBT if grade == min(grades.sentences) else _DOUBT | _DENIAL
    if name is not None or "?" in plain or re.search(r"\d", plain) or terms & doubts:
        return 'the last line is not "Grade: N"'
    return ""
