"""The registry of answer measures, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from collection.core.arrays import Bools, Floats
from collection.core.errors import InputError, UnknownNameError
from collection.core.phrases import literal
from collection.core.registry import Entry, Registry
from collection.generated_answers.labelled_answers import LabelledAnswers, Reads
from collection.measures import WRITTEN, Measure, MeasureEntry, list_measures, read_parameters


@dataclass(frozen=True, repr=False)
class AnswerMeasureEntry(MeasureEntry):
    """An answer measure in the registry; its function gives one value per answer, shape (A,).

    Attributes
    ----------
    reads
        Kind of labels that the measure reads.
    chosen
        Function of :class:`.LabelledAnswers` and of the measure's parameters: (N,) whether the measure reads each of
        these labels; None if it reads all.
    """

    _: KW_ONLY
    reads: Reads
    chosen: Callable[..., Bools] | None = None

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter name -> default of the function."""
        return Entry.parameters.fget(self)  # type: ignore[attr-defined]

    @property
    def inputs(self) -> str:
        """Needed data."""
        return "answers" if self.reads == "words" else f"answers and {self.reads}"

    @property
    def traits(self) -> dict[str, str]:
        """Needed data, for lists."""
        return {"needs": self.inputs}

    @property
    def words(self) -> dict[str, tuple[str, object]]:
        """Short form of a parameter -> the parameter and its value, such as strict -> strict=True."""
        hints = {name: hint for name, hint in get_type_hints(self.function).items() if name in self.parameters}
        flags = {name: (name, True) for name, hint in hints.items() if hint is bool}
        choices = {
            value: (name, value)
            for name, hint in hints.items()
            if get_origin(hint) is Literal
            for value in get_args(hint)
        }
        return flags | choices


ANSWER_MEASURES = Registry("answer measure", AnswerMeasureEntry, group="cleverdon.answer_measures")
"""Every answer measure: a function of :class:`.LabelledAnswers` with a docstring of definition, notes and source."""


class AnswerMeasure(Measure):
    """A measure of the table :data:`ANSWER_MEASURES` with its parameters fixed."""

    @property
    def entry(self) -> AnswerMeasureEntry:
        """Its entry in the registry."""
        return ANSWER_MEASURES[self.name]

    @property
    def phrase(self) -> str:
        """Name within a sentence, such as "strict vital nugget score".

        >>> [parse_answer_measure(text).phrase for text in ("nugget_vital(strict)", "support_precision(all)")]
        ['strict vital nugget score', "support precision (citations='all')"]
        """
        others = [f"{name}={value!r}" for name, value in self.parameters.items() if name != "strict"]
        strict = "strict " if self.parameters.get("strict") else ""
        more = f" ({', '.join(others)})" if others else ""
        return f"{strict}{self.entry.label.lower()}{more}"

    def needed(self, answers: LabelledAnswers) -> Bools:
        """(N,) whether the measure reads each label of :meth:`.LabelledAnswers.labels`; an empty answer needs none."""
        answer, _ = answers.labels(self.entry.reads)
        needed = ~answers.empty[answer]
        return needed if self.entry.chosen is None else needed & self.entry.chosen(answers, **self.parameters)

    def compute(self, answers: LabelledAnswers) -> Floats:
        """(A,) value of each answer.

        Raises
        ------
        InputError
            The function of the measure returns a wrong number of values.
        """
        values = self.entry.function(answers, **self.parameters)
        if np.shape(values) != (len(answers.answers),):
            raise InputError(
                f"{self.name}: expected one value for each of the {len(answers.answers)} answers, found shape "
                f"{np.shape(values)}"
            )
        return values


def parse_answer_measure(text: AnswerMeasure | str) -> AnswerMeasure:
    """Read an answer measure: ``nugget_vital(strict=True)``, or shorter ``nugget_vital(strict)``.

    Upper and lower case and hyphens in names make no difference.

    Raises
    ------
    InputError, UnknownNameError
        The syntax or a value is wrong, or there is no such measure or parameter.

    Examples
    --------
    >>> str(parse_answer_measure("support-precision(micro, strict)"))
    "support_precision(citations='micro',strict=True)"
    """
    if isinstance(text, AnswerMeasure):
        return text
    written = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    if written is None:
        raise InputError(f"measure: expected notation such as nugget_vital(strict), found {literal(text)}")
    entry = find_entry(written["name"])
    if entry is None:
        raise UnknownNameError("answer measure", written["name"], [each.name for each in ANSWER_MEASURES])
    if written["level"] is not None:
        raise InputError(f"{entry.name} has no cut-off; write it without @{written['level']}")
    parameters: dict[str, Any] = read_parameters(written["params"] or "", text, entry.words)
    return AnswerMeasure(entry.name, parameters)


def as_answer_measures(measures: AnswerMeasure | str | Iterable[AnswerMeasure | str]) -> list[AnswerMeasure]:
    """Read one or many answer measures.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`parse_answer_measure`; or a measure is given twice.
    """
    read = [parse_answer_measure(each) for each in list_measures(measures)]  # type: ignore[arg-type]
    for measure in read:
        if read.count(measure) > 1:
            raise InputError(f"measure {measure} is given twice; name it once")
    return read


def find_entry(text: str) -> AnswerMeasureEntry | None:
    """Return the answer measure of a name or a written measure, or None."""
    written = WRITTEN.fullmatch(text)
    own = {_plain(entry.name): entry for entry in ANSWER_MEASURES}
    return None if written is None else own.get(_plain(written["name"]))


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")
