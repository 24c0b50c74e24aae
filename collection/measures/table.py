"""The registry of measures, with their parameters and traits."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal, TypeGuard, get_args, get_origin, get_type_hints

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError, UnknownNameError
from collection.core.registry import Entry, Registry

Function = Callable[..., Floats]
"""(Aligned, *, cutoff or recall, rel, ...) -> one value per topic, shape (T,)."""

TopicSummary = Literal["mean", "sum", "geometric mean"]
"""How the values of the topics become one number."""

QrelsColumns = Literal["", "strata", "subtopics"]
"""What qrels must have besides grades."""

GEOMETRIC_FLOOR = 1e-5
"""Smallest value in a geometric mean, so that one zero does not make it 0 (as in trec_eval)."""

DEEPEST = 1_000_000_000
"""Largest cut-off: deeper than any ranking, but still valid as an index of arrays."""

MOST = 1e9
"""Largest value of any parameter, so that its powers and products stay finite."""


@dataclass(frozen=True)
class Within:
    """The range of a parameter, including both ends; if `open`, without both."""

    low: float
    high: float = MOST
    open: bool = False

    def __contains__(self, value: float) -> bool:
        return self.low < value < self.high if self.open else self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == MOST:
            return f"above {self.low:g} and at most {MOST:g}" if self.open else f"from {self.low:g} to {MOST:g}"
        return (
            f"between {self.low:g} and {self.high:g}, both excluded"
            if self.open
            else f"from {self.low:g} to {self.high:g}"
        )


Share = Annotated[float, Within(0, 1)]
Persistence = Annotated[float, Within(0, 1, open=True)]
Positive = Annotated[float, Within(0, open=True)]
Amount = Annotated[float, Within(0)]
Count = Annotated[int, Within(1)]
Gains = Mapping[int, float]
"""Grade -> gain; a grade that is not named keeps its usual gain."""

COMMON: dict[str, object] = {"judged_only": False}
GRADED: dict[str, object] = {"rel": None, **COMMON}
HINTS: dict[str, object] = {"judged_only": bool, "rel": Positive | None}


@dataclass(frozen=True, repr=False)
class MeasureEntry(Entry[Function]):
    """A measure in the registry.

    Attributes
    ----------
    summary
        How the values of the topics are combined.
    lowest, highest
        The range of its values.
    graded
        Whether it uses grades. Such a measure also takes ``rel=n``, which makes it binary.
    monotone
        1 if moving a higher grade up never lowers the value, -1 if it never raises it, 0 if neither holds.
    needs
        What the qrels must have besides grades.
    found_only
        Whether it depends only on the retrieved documents, so that no better document lowers it.
    estimates_unjudged
        Whether unjudged documents count as something other than not relevant.
    descriptive
        Whether it describes a run or the qrels instead of the quality of a system.
    differs
        Tool -> how its measure of this name differs, and how that is written here.
    """

    _: KW_ONLY
    summary: TopicSummary = "mean"
    lowest: float = 0.0
    highest: float = 1.0
    graded: bool = False
    monotone: Literal[-1, 0, 1] = 1
    needs: QrelsColumns = ""
    found_only: bool = False
    estimates_unjudged: bool = False
    descriptive: bool = False
    differs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*", self.name):
            raise InputError(f"name of a measure: expected a letter, then letters, digits and _, found {self.name!r}")

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter name -> default: of the function, then those that every measure has."""
        return {**super().parameters, **(GRADED if self.graded else COMMON)}

    @property
    def inputs(self) -> str:
        """Needed data besides runs and qrels with grades."""
        return f"qrels with {self.needs}" if self.needs else ""

    @property
    def at(self) -> Literal["cutoff", "recall"] | None:
        """Meaning of the number after ``@``: a rank, a recall, or None if the measure takes no number."""
        own = super().parameters
        return "cutoff" if "cutoff" in own else "recall" if "recall" in own else None

    @property
    def needs_at(self) -> bool:
        """Return whether the number after ``@`` is required."""
        return self.at is not None and super().parameters[self.at] is inspect.Parameter.empty

    @property
    def _texts(self) -> list[str]:
        text = inspect.cleandoc(self.function.__doc__ or "").replace("``", "")
        return [" ".join(p.split()) for p in text.split("\n\n") if p.strip()]

    @property
    def formula(self) -> str:
        """The definition: the first line of the function's docstring."""
        return self._texts[0] if self._texts else ""

    @property
    def source(self) -> str:
        """Source of the definition: the docstring after "Source:"."""
        for text in self._texts[1:]:
            if "Source:" in text:
                return text.split("Source:", 1)[1].strip().rstrip(".")
        return ""

    @property
    def notes(self) -> str:
        """The rest of the docstring: conventions and variants."""
        texts = [text.split("Source:", 1)[0].strip() for text in self._texts[1:]]
        return "\n\n".join(text for text in texts if text)

    @property
    def example(self) -> str:
        """Example of its notation, with the rank or recall that it needs."""
        suffix = {"cutoff": "@10", "recall": "@0.95", None: ""}[self.at if self.needs_at else None]
        return self.name + suffix

    def check(self, name: str, value: object) -> None:
        """Raise InputError or UnknownNameError if `value` is not possible for the parameter `name`."""
        hint = _hints(self.function).get(name)
        if hint is None:  # a function without types takes any value
            return
        if type(None) in get_args(hint):
            if value is None:
                return
            (hint,) = (h for h in get_args(hint) if h is not type(None))
        if get_origin(hint) is Literal:
            if value not in get_args(hint):
                raise UnknownNameError(f"{name} of {self.name}", str(value), list(map(str, get_args(hint))))
            return
        wanted = self._refused(hint, value)
        if wanted:
            raise InputError(f"{name} of {self.name}: expected {wanted}, found {value!r}")

    @staticmethod
    def _refused(hint: object, value: object) -> str:
        """Description of the expected value if `value` is not possible; else ''."""
        if hint is bool:
            return "" if isinstance(value, bool) else "True or False"
        if get_origin(hint) is Mapping:
            sound = isinstance(value, Mapping) and all(
                _is_number(k) and _is_number(v) and 0 <= v <= MOST for k, v in value.items()
            )
            return "" if sound else "a gain of 0 or more for each grade, such as {1: 1, 2: 3}"
        base, *facts = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not _is_number(value) or (base is int and not float(value).is_integer()):
            return "a whole number" if base is int else "a number"
        ranges = [f for f in facts if isinstance(f, Within)]
        return "" if all(value in r for r in ranges) else f"a number {ranges[0]}"

    def summarise(self, values: Floats) -> float:
        """Summarise the topics in one number; exact, so that the order of the topics does not matter."""
        if self.summary == "geometric mean":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        total = math.fsum(values)
        if self.summary == "sum":
            return total
        mean = total / max(1, len(values))
        return math.exp(mean) if self.summary == "geometric mean" else mean


@functools.cache
def _hints(function: Function) -> Mapping[str, object]:
    """The types of all parameters."""
    return {**HINTS, **get_type_hints(function, include_extras=True)}


def _is_number(value: object) -> TypeGuard[float]:
    # A whole number may have any number of digits, and comparing it is all that never fails.
    return isinstance(value, int | float) and not isinstance(value, bool) and -(2**63) < value < 2**63


MEASURES = Registry("measure", MeasureEntry, group="cleverdon.measures")
"""Every measure: a function with a docstring of definition, notes and "Source: ..."."""
