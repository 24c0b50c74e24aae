"""Grades in the replies of language models: the one that a reply states, or none."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from collection.core.phrases import join
from collection.core.records import GradeScale

_FINAL_CHANNEL = "<|channel|>final<|message|>"
"""Tokens that some models write between their thought and their reply."""
_THOUGHT = re.compile(
    r"\A\s*(?:<(think|thinking|thought|reasoning|seed:think)>.*?</\1>|\[THINK\].*?\[/THINK\]|◁think▷.*?◁/think▷"
    r"|(?:(?!<think).)*</think>)",  # servers that write the first tag themselves leave only the second
    re.DOTALL | re.IGNORECASE,
)
"""What models that think aloud write before the reply."""
_OPEN_THOUGHT = re.compile(
    r"\A\s*(?:<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|◁think▷)", re.IGNORECASE
)
_TURN_BEGINS = re.compile(
    r"\A(?:\s*(?:<s>|<bos>|<start_of_turn>|<[|｜][A-Za-z_▁ -]{1,40}[|｜]>)\s*(?:assistant\b|model\b)?)+", re.IGNORECASE
)
_TURN_ENDS = re.compile(
    r"<[|｜][A-Za-z_▁ -]{1,40}[|｜]>|</s>|<eos>|<pad>|<eot>|<eod>|<end_of_turn>|<end_of_utterance>|\[/INST\]|\[EOS\]|"
    r"\[PAD\]|\[end of text\]",
    re.IGNORECASE,
)
"""Tokens that end the turn of a model, which some servers leave in the reply; what is behind them is no reply."""
_EMPHASIS = re.compile(r"""[*_`#|"“”„«»$]+""")
_BOXED = re.compile(r"\\boxed ?\{([^{}]*)\}")
_SIGNS = str.maketrans(
    {"：": ":", "＝": "=", "（": "(", "）": ")", "／": "/", "．": ".", "－": "-", "［": "[", "］": "]", "【": "[",
     "】": "]", "→": ":", "⇒": ":", "’": "'", "。": ".", **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff")}
)  # fmt: skip
_ARROW = re.compile(r"[-=]>")
_MARKER = r"(?:(?:[-•‣–—>]|\d{1,2}[.)]) ?)?"
"""The mark of an item of a list."""
_NAME = "grade|score|rating|relevance|relevancy"
_NAMES = (
    f"{_NAME}|label|level|judgement|judgment|verdict|answer|overall|o|"
    "bewertung|note|relevanz|punktzahl|stufe|urteil|pertinence|évaluation|puntuación|calificación|valoración|nota|"
    "relevancia|pontuação|classificação|avaliação|relevância|punteggio|valutazione|voto|rilevanza|beoordeling|cijfer|"
    "relevantie|betyg|ocena|puan|derece|оценка|балл|релевантность|التقييم|الدرجة|评分|評分|分数|分數|得分|等级|等級|"
    "相关性|相關性|评级|評価|スコア|関連度|점수|등급|관련성|평가"
)
"""Names of a grade, also in other languages; "O" is the overall grade of a well-known prompt."""
_WEAK = "label|level|verdict|answer|overall|o|note|nota|stufe|urteil"
"""Names that other lines of a reply may have as well."""
_PHRASE = (
    r"(?:(?:so|thus|therefore|hence|sure|ok|okay|in conclusion|in summary|conclusion|accordingly)[,!:.]? )*"
    r"(?:(?:the|my|this) )?(?:(?:(?:final|overall|relevance|relevancy|numeric|assigned|the|document|passage)(?:'s)?) )*"
    rf"(?P<{{group}}>{_NAMES})(?: (?:grade|score|rating|label|level|value|judgement|judgment))?"
    r"(?: (?:for|of) (?:this|the) [a-z]+)?"
)
_SEPARATOR = (
    r" ?(?:(?:[:=]|[-–—](?= )|(?:is|as|of|was|would be|should be)(?![a-z])|为|為|是|は)(?: ?:)?)? ?(?:an? (?=[\d]))?"
)
_NUMBER = r"[-+]?[0-9]{1,9}(?![0-9])"
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_TAIL = (
    r"[.!;]*(?: ?(?:points?|分|点|點|점|级|級))?[.!;]*(?:,? (?:because|since|as|due to|based on) (?P<reason>[^0-9]*)"
    r"| ?\((?P<gloss>[^()]*)\)[.!]*| ?[-–—:,] ?(?P<name>.+))?"
)
_STATED_ANYWHERE = re.compile(
    rf"(?P<other>\b(?:confidence|certainty|trust(?:worthiness)?|match|intent|topic(?:ality)?|maximum|highest|lowest) )?"
    rf"\b(?P<final>(?:final|overall) (?:relevance )?)?(?:{_NAME}) ?[:=] ?(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:(?:so|thus|therefore|hence|overall|but|and|sure)[,:]? )*"
    r"(?:(?:i|we)(?:'d|'ll|'ve| would| will| have| can| should)?(?: therefore| thus| still| then| only)?"
    r"|(?:it|(?:the|this|its|my) (?:document|passage|text|page|article|result|relevance|final|overall)(?:'s)?)"
    r"(?: is| was| should be| would be| can be| should get| would get| would| is best)?(?: therefore| thus| only)?"
    r"|the|my|a|an) ?"
)
_RATED = re.compile(
    rf"{_SUBJECT}(?:rates?|rated|rating|grades?|graded|scores?|scored|give|assign|assigned|award|deserves?|merits?|"
    rf"earns?|receives?|mark|label|labell?ed|judge|judged|relevance)\b(?P<between>(?: [a-z']+){{0,7}}?)[ :]+(?:an? )?"
    rf"(?P<number>{_NUMBER}){_TAIL}",
    re.IGNORECASE,
)
"""The clause of a sentence that gives a grade: "so I would rate it a 2"."""
_TAG = re.compile(rf"<(/?)(?:final[ _-]?)?({_NAMES})>", re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*(.*?)```", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\}")
_KEY = re.compile(
    r"(?:(?:final|overall|relevance|document|passage)[ _-]?)?(?:grade|score|rating|label|judgement|judgment)|relevance|"
    r"overall|o",
    re.IGNORECASE,
)
"""A member of a JSON object that holds the grade."""
_DOUBT = {
    "or", "to", "between", "maybe", "perhaps", "possibly", "probably", "could", "might", "would", "should", "unless",
    "if", "except", "than", "rather", "instead", "almost", "nearly", "higher", "lower", "wrong", "zero", "one", "two",
    "three", "four", "five", "oder", "zwischen", "ou", "entre", "tra", "или", "между", "أو",
}  # fmt: skip
_DENIAL = {"not", "no", "never", "irrelevant", "non", "isn't", "doesn't", "nicht", "pas", "не", "kein", "keine"}
"""Words in brackets after a grade that leave it open, or that deny a grade above the lowest."""
_VAGUE = _DOUBT - {"would", "should"} | {
    "least", "most", "above", "below", "over", "under", "up", "about", "around", "approximately", "roughly", "either",
    "more", "less", "others", "some", "cannot",
}  # fmt: skip
"""Words in the clause of a sentence that leave its grade open."""
_NEGATION = re.compile(r"\b(?:not|never|cannot|\w+n't)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|had it|were it)\b", re.IGNORECASE)
_CLAUSES = 6
"""Clauses at the end of a sentence that are read."""
_CONCLUSION = re.compile(r"\s*(?:so|thus|therefore|hence|but|and so|which is why)\b", re.IGNORECASE)
_CORRECTION = re.compile(
    r"\b(?:actually|wait|correction|sorry|mistake|wrong|reconsider\w*|rather|instead|lower|higher|revis\w*|should|would|"
    r"change|on second thought)\b|\b(?:grade|score|rating|rate)\b.*\d",
    re.IGNORECASE,
)
"""Words behind a grade that may take it back."""
_ENDED = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"}
"""Reasons of servers for the end of a reply that the model ended itself."""
_PROBLEMS = {
    "length": "the reply was cut off",
    "content_filter": "the endpoint's filter withheld the reply",
    "refusal": "the model refused",
}
"""Other reasons -> why such a reply has no grade."""
_UNCLEAR = 'the last line is not "Grade: N"'


class Reply(NamedTuple):
    """A grade, or why there is none."""

    grade: int | None
    problem: str | None = None


class _UnclearError(Exception):
    """A grade is stated in words that leave it open; its text is the problem."""


class _Statement(NamedTuple):
    """A grade that a line of a reply states."""

    line: int
    grade: int
    is_final: bool = False


def without_thought(text: str) -> str:
    """Return a reply without the reasoning that some models write before it."""
    return _THOUGHT.sub("", text.rsplit(_FINAL_CHANNEL, 1)[-1])


def read_grade(text: str | None, grades: GradeScale, finish: str | None = "stop") -> Reply:
    r"""Read the grade that a reply states: ``Grade: N``, a number alone, "I would rate this a 2", or JSON.

    The name of the grade may be another usual one, also of another language; emphasis, brackets, list markers, digits
    of other scripts, "/3" and "out of 3" on a scale up to 3, an explanation before or after it, and tokens that end a
    turn do not matter. Nothing is guessed: a grade with other words ("Grade: 2 or 3"), one that is not on the scale,
    two different stated grades of which none is called final, words that name another grade or leave it open, and a
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
    plain = _TURN_ENDS.split(_TURN_BEGINS.sub("", without_thought(text or "")), maxsplit=1)[0]
    if not plain.strip():
        return Reply(None, "the reply is empty")
    plain = "" if _OPEN_THOUGHT.match(plain) else _ARROW.sub(":", _ascii_digits(plain).translate(_SIGNS))
    try:
        found = _find_grades(plain, grades)
    except _UnclearError as error:
        return Reply(None, str(error))
    if len(found) != 1:
        return Reply(None, f"the reply states the grades {join(sorted(found))}" if found else _UNCLEAR)
    (grade,) = found
    return Reply(grade) if grade in grades else Reply(None, f"grade {grade} is not one of {grades}")


def _ascii_digits(text: str) -> str:
    """Write the decimal digits of all scripts as those of ASCII; superscripts and the like stay."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)


def _find_grades(plain: str, grades: GradeScale) -> set[int]:
    """Return the grades that a reply states; :class:`_UnclearError` if words leave one open."""
    members = _json_grades(plain, grades)
    lines = [line for line in _plain_lines(plain, grades) if line]
    anywhere = [
        (bool(each["final"]), int(each["number"]))
        for line in lines for each in _STATED_ANYWHERE.finditer(line) if not each["other"]
    ]  # fmt: skip
    if members:
        return members | {number for _, number in anywhere}
    stated = list(_line_grades(lines, grades))
    edges = [place for place in dict.fromkeys((0, len(lines) - 1)) if lines]
    stated += [_Statement(n, grade) for n in edges if (grade := _bare_grade(lines[n], grades)) is not None]
    if not stated:
        stated = [_Statement(n, grade) for n in edges for grade in _sentence_grades(lines[n], grades)]
    if not stated:
        return set()
    last = max(stated, key=lambda each: each.line)
    if any(_CORRECTION.search(line) for line in lines[last.line + 1 :]):
        raise _UnclearError(_UNCLEAR)
    if last.is_final:
        return {each.grade for each in stated if each.is_final} | {number for final, number in anywhere if final}
    return {each.grade for each in stated} | {number for _, number in anywhere}


def _plain_lines(text: str, grades: GradeScale) -> Iterator[str]:
    """The lines of a reply without emphasis, tags, and notes of the scale."""
    text = _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", _BOXED.sub(r"\1", text))
    for line in text.splitlines():
        plain = " ".join(_EMPHASIS.sub(" ", line).split())
        if re.search(r"\d", plain):
            for pattern, replacement in _simplifications(min(grades.sentences), max(grades.sentences)):
                plain = pattern.sub(replacement, plain)
        plain = re.sub(r"(?<=\d) (?=[.!;,])", "", " ".join(plain.split()))
        yield "" if re.fullmatch(r"[-–—=.]+", plain) else plain


@lru_cache(maxsize=64)
def _simplifications(lowest: int, highest: int) -> list[tuple[re.Pattern[str], str]]:
    """Patterns to replace in a line, with their replacements, for a scale from `lowest` to `highest`."""
    span = rf"{lowest} ?(?:-|–|—|to) ?{highest}(?!\d)"
    parts = {
        rf" ?\((?:on )?(?:an? |the )?(?:scale )?(?:of |from )?{span}\)": "",
        rf"\bon (?:an?|the) (?:scale (?:of |from )?)?{span}(?: scale)?,? ?": "",
        r"(?<=[ :=(\[]\d)\.0+(?!\d)|(?<=\A\d)\.0+(?!\d)": "",
        rf"(?<=\d) ?(?:/ ?|out of (?:a (?:possible|maximum of) )?|\((?:out )?of ){highest}(?![\d/.]*\d)\)?": "",
        r"\bnot (?:an? )?\d+,? but (?:rather )?(?:an? )?(?=\d)": "",
        r"(?<=\d)(?:,? (?:and )?not|,? rather than|,? instead of) (?:an? )?\d+(?![\d.]*\d)": "",
        r"[\[(<{]{1,3} ?(-?\d{1,9}) ?[\])>}]{1,3}": r" \1 ",
    }
    return [(re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in parts.items()]


@lru_cache(maxsize=64)
def _line_pattern(grades: GradeScale) -> re.Pattern[str]:
    """A line that states a grade, and perhaps its name before the number."""
    names = "|".join(re.escape(name) for name in sorted(grades.names, key=len, reverse=True))
    words = "|".join(_WORDS)
    label = rf"(?:(?P<label>{names}) ?[-–—:,]? ?)?" if names else "(?P<label>(?!))?"
    phrase = _PHRASE.format(group="noun")
    return re.compile(
        rf"{_MARKER}(?P<phrase>{phrase}){_SEPARATOR}{label}(?P<number>{_NUMBER}|(?:{words})\b){_TAIL}", re.IGNORECASE
    )


def _line_grades(lines: list[str], grades: GradeScale) -> Iterator[_Statement]:
    """The lines that state a grade and nothing else; words of the last one must not leave it open."""
    pattern = _line_pattern(grades)
    found = [(n, match) for n, line in enumerate(lines) if (match := pattern.fullmatch(line))]
    if any(re.fullmatch(_NAME, match["noun"], re.IGNORECASE) for _, match in found):
        found = [(n, match) for n, match in found if not re.fullmatch(_WEAK, match["noun"], re.IGNORECASE)]
    for n, match in found:
        word = match["number"].casefold()
        number = _WORDS[word] if word in _WORDS else int(word)
        problem = _find_doubt(match, number, grades)
        if not problem:
            named = grades.names.get((match["label"] or "").casefold(), number)
            if named != number:
                problem = f"the reply states the grade {number} and names the grade {named}"
        if problem:
            if n == found[-1][0]:
                raise _UnclearError(problem)
            continue
        is_final = re.search(r"\b(?:final|overall)\b", match["phrase"], re.IGNORECASE) is not None
        yield _Statement(n, number, is_final or match["noun"].casefold() == "o")


def _bare_grade(line: str, grades: GradeScale) -> int | None:
    """The grade of a line that is only a number, with its name perhaps."""
    match = re.fullmatch(rf"(?P<number>{_NUMBER}){_TAIL}", line)
    return None if match is None or _find_doubt(match, int(match["number"]), grades) else int(match["number"])


def _sentence_grades(line: str, grades: GradeScale) -> Iterator[int]:
    """The grades that sentences of a line give: "It mentions the topic, so I would rate it a 1."."""
    for sentence in re.split(r"(?<=[.!?;])\s+", line):
        if _CONDITION.search(sentence) or "?" in sentence:
            continue
        clauses = re.split(r", | and (?=i\b)", sentence, flags=re.IGNORECASE)
        for n in range(max(0, len(clauses) - _CLAUSES), len(clauses)):
            clause = ", ".join(clauses[n:])
            match = _RATED.fullmatch(clause)
            if match is None:
                continue
            number = int(match["number"])
            words = set(re.findall(r"[\w']+", match["between"].casefold()))
            denied = _NEGATION.search(", ".join(clauses[:n])) and not _CONCLUSION.match(clause)
            is_open = words & _VAGUE or _NEGATION.search(match["between"])
            if is_open or (denied and number != min(grades.sentences)) or _find_doubt(match, number, grades):
                continue
            if n + 1 < len(clauses) and _RATED.fullmatch(", ".join(clauses[n + 1 :])):
                continue
            yield number
            break


def _json_grades(text: str, grades: GradeScale) -> set[int]:
    """The grades of the objects of JSON in a reply; empty without any.

    :class:`_UnclearError` if a member for the grade holds something else.
    """
    whole = _parse(text)
    parts = [whole] if whole is not None else [_parse(each) for each in _FENCE.findall(text)]
    if not any(part is not None for part in parts):
        parts = [_parse(each) for each in _OBJECT.findall(text)]
    values = [value for part in parts for value in _members(part)]
    found = set()
    for value in values:
        number = _member_grade(value, grades)
        if number is None:
            raise _UnclearError(_UNCLEAR)
        found.add(number)
    if values and len(found) > 1:
        raise _UnclearError(_UNCLEAR)
    return found


def _parse(text: str) -> object:
    """An object or list of JSON, also with trailing commas, single quotes or names without quotes; None for another."""
    if fenced := _FENCE.fullmatch(text.strip()):
        text = fenced[1]
    text = text.strip()
    if not text.startswith(("{", "[")):
        return None
    mended = re.sub(r",(\s*[}\]])", r"\1", text)
    mended = mended if '"' in mended else mended.replace("'", '"')
    mended = re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', mended)
    for each in (text, mended):
        try:
            found = json.loads(each, object_pairs_hook=tuple)  # a dict loses a repeated name
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, tuple | list) else None
    return None


def _members(value: object) -> list[object]:
    """The members for a grade of an object, or of those in it if it has none."""
    if isinstance(value, list):
        return [member for each in value for member in _members(each)]
    if not isinstance(value, tuple):
        return []
    named = [held for name, held in value if _KEY.fullmatch(name) and not _is_text(held)]
    if named:
        return named
    return [member for _, held in value if isinstance(held, tuple | list) for member in _members(held)]


def _is_text(value: object) -> bool:
    """Tell whether a member is a text without a number, such as the name of a grade next to its number."""
    return isinstance(value, str) and re.search(r"\d", value) is None


def _member_grade(value: object, grades: GradeScale) -> int | None:
    if isinstance(value, str):
        return next((_bare_grade(line, grades) for line in _plain_lines(_ascii_digits(value), grades)), None)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or abs(value) >= 1e9:
        return None
    return int(value)


def _find_doubt(match: re.Match[str], grade: int, grades: GradeScale) -> str:
    """Return the reason for which the words behind a grade leave it open; "" for none."""
    name, reason = match["name"], match["reason"]
    words = name or match["gloss"] or reason or ""
    plain = words.strip(" .!").casefold()
    named = grades.names.get(plain)
    if not plain or named == grade:
        return ""
    if named is not None:
        return f"the reply states the grade {grade} and names the grade {named}"
    terms = set(re.findall(r"[\w']+", plain))
    doubts = _DOUBT if reason is not None or grade == min(grades.sentences) else _DOUBT | _DENIAL
    if name is not None or "?" in plain or re.search(r"\d|或|不是|または|또는", plain) or terms & doubts:
        return _UNCLEAR
    return ""
