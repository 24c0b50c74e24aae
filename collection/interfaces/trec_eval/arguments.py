"""Arguments of trec_eval's ``-m``: a measure or a nickname, and after a dot the measure's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from collection.core.errors import InputError, UnknownNameError
from collection.interfaces.trec_eval.measures import NICKNAMES, TREC_MEASURES, TrecMeasure
from collection.measures.table import MOST

Argument = float | tuple[float, ...] | Mapping[int | str, float]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

_PRINTED = re.compile(r"(?P<name>\w+)_(?P<numbers>\d[\d.,-]*)", re.ASCII)
"""A measure with numbers as in the output, such as ``P_10``."""


class OutputColumn(NamedTuple):
    """One line of the output per topic: its name, its measure, and the argument of the measure's function, if any."""

    name: str
    measure: TrecMeasure
    argument: Argument | None


class ChosenColumns(NamedTuple):
    """The columns of the output in order, and notes on numbers that trec_eval ignores."""

    columns: list[OutputColumn]
    notes: list[str]


def choose(texts: Iterable[str]) -> ChosenColumns:
    """Read the measures asked for, each as ``NAME`` or ``NAME.NUMBERS``; the order of the output is fixed.

    The first numbers given for a measure count, as in trec_eval.

    Raises
    ------
    UnknownNameError, InputError
        An unknown measure; numbers that its measure does not take.

    Examples
    --------
    >>> [column.name for column in choose(["recip_rank", "P.10,5"]).columns]
    ['recip_rank', 'P_5', 'P_10']
    """
    numbers: dict[str, str] = {}
    chosen: set[str] = set()
    notes = []
    for text in texts:
        name, point, after = text.partition(".")
        if name not in TREC_MEASURES and name not in NICKNAMES:
            raise _unknown(text)
        if point and not after:
            raise InputError(f"{name}: expected numbers after the point, found {text!r}")
        chosen.update(NICKNAMES.get(name, (name,)))
        if not point:
            continue
        if name in NICKNAMES or TREC_MEASURES[name].takes == "nothing":
            notes.append(f"{name} takes no numbers; .{after} is ignored, as in trec_eval")
        elif name in numbers and numbers[name] != after:
            notes.append(f"{name} is given twice; .{after} is ignored, as in trec_eval")
        else:
            numbers[name] = after
    columns = [c for name, row in TREC_MEASURES.items() if name in chosen for c in _columns(row, numbers.get(name))]
    return ChosenColumns(columns, notes)


def _unknown(text: str) -> InputError:
    """The error for an unknown measure; names as in the output (``P_10``) have the option that prints them."""
    printed = _PRINTED.fullmatch(text)
    if printed and printed["name"] in TREC_MEASURES and TREC_MEASURES[printed["name"]].takes != "nothing":
        return InputError(f"unknown measure {text!r}; write {printed['name']}.{printed['numbers']}")
    choices = [*TREC_MEASURES, *NICKNAMES]
    return UnknownNameError("measure", text.partition(".")[0], choices, listed_by="cleverdon trec_eval --help")


def _columns(measure: TrecMeasure, text: str | None) -> list[OutputColumn]:
    """The columns of a measure with the numbers in `text`, or the default ones."""
    name = measure.name
    if measure.takes == "nothing":
        return [OutputColumn(name, measure, None)]
    if measure.takes in ("gains", "persistence"):
        return [OutputColumn(name if text is None else f"{name}_{text}", measure, _pairs(measure, text))]
    values = measure.usual if text is None else tuple(_number(name, part) for part in text.split(","))
    if measure.takes == "numbers":
        return [OutputColumn(name if text is None else f"{name}_{text}", measure, values)]
    if measure.takes == "cutoffs":
        values = tuple(int(value) for value in values)
        if min(values) < 1:
            raise InputError(f"{name}: expected cut-offs of 1 or more, found {min(values)}")
    elif min(values) < 0:
        raise InputError(f"{name}: expected levels of 0 or more, found {min(values):g}")
    values = tuple(sorted(values))
    for one, other in pairwise(values):
        if one == other:
            raise InputError(f"{name}: expected each cut-off once, found {one:g} twice")
    form = "{}_{}" if measure.takes == "cutoffs" else "{}_{:.2f}"
    return [OutputColumn(form.format(name, value), measure, value) for value in values]


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise InputError(f"{name}: expected numbers separated by commas, found {text!r}")
    if abs(value := float(text)) > MOST:
        raise InputError(f"{name}: expected numbers of at most {MOST:g}, found {text}")
    return value


def _pairs(measure: TrecMeasure, text: str | None) -> dict[int | str, float]:
    """Read ``1=3,2=9``: the gain of each grade; and ``p=0.8``, the persistence."""
    persistent = measure.takes == "persistence"
    pairs: dict[int | str, float] = {}
    for part in text.split(",") if text is not None else ():
        key, equals, value = part.partition("=")
        grade = key.isascii() and key.isdigit() and len(key) < 10
        if not equals or not (grade or (persistent and key == "p")):
            wanted = "p=0.9 or grade=gain" if persistent else "grade=gain, such as 1=3,2=9"
            raise InputError(f"{measure.name}: expected {wanted}, found {part!r}")
        pairs[int(key) if grade else key] = _number(measure.name, value)
    if not 0 < pairs.get("p", 0.5) < 1:
        raise InputError(f"{measure.name}: expected p between 0 and 1, both excluded, found {pairs['p']:g}")
    return pairs
