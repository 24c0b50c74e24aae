"""The parameters of a strategy as text: parsing and formatting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collection.core.errors import InputError
from collection.core.registry import Entry


def read_parameters(entry: Entry[Any], settings: Iterable[str]) -> dict[str, float | str]:
    """Settings such as ``budget=50`` -> the parameters of an entry, with the types that its function names.

    >>> from collection.pooling import STRATEGIES
    >>> read_parameters(STRATEGIES["rbp"], ["budget=50", "p=.95"])
    {'budget': 50, 'p': 0.95}
    >>> read_parameters(STRATEGIES["rbp"], ["depth=50"])
    Traceback (most recent call last):
    collection.core.errors.UnknownNameError: unknown rbp parameter 'depth'; choose from budget, p, total
    """
    read: dict[str, float | str] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            example = "".join(f", such as {key}={value}" for key, value in list(entry.parameters.items())[:1])
            raise InputError(f"expected a parameter as NAME=VALUE{example}, found {setting!r}")
        if name in read:
            raise InputError(f"parameter {name} of {entry.name} is given more than once")
        read[name] = entry.read(name, text)
    return read


def format_parameters(parameters: Mapping[str, object]) -> str:
    """Format parameters without those that have no effect: a total of 0, or a budget next to a total.

    >>> format_parameters({"budget": 100, "k": 60, "total": 0, "near_duplicates": "keep"})
    'budget 100, k 60'
    >>> format_parameters({"budget": 100, "k": 60, "total": 2000, "near_duplicates": "skip"})
    'k 60, total 2000, near-duplicates skip'
    """
    idle: list[tuple[str, object]] = [("near_duplicates", "keep"), ("total", 0)]
    if parameters.get("total"):
        idle.append(("budget", parameters.get("budget")))
    shown = (item for item in parameters.items() if item not in idle)
    return ", ".join(f"{name.replace('_', '-')} {value}" for name, value in shown)
