"""The parameters of a strategy as people write and read them: texts -> values of the right types, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collection.errors import InputError
from collection.registry import Entry


def read_parameters(entry: Entry[Any], settings: Iterable[str]) -> dict[str, Any]:
    """Settings such as ``budget=50`` -> the strategy's parameters, with the types that its function names.

    Parameters
    ----------
    entry
        Of the table of strategies.
    settings
        ``NAME=VALUE`` each, every name once.

    Raises
    ------
    InputError, UnknownNameError
        It is not written so, or a name is repeated; the strategy has no such parameter, or the parameter no such value.

    Examples
    --------
    >>> from collection.pooling import STRATEGIES
    >>> read_parameters(STRATEGIES["rbp"], ["budget=50", "p=.95"])
    {'budget': 50, 'p': 0.95}
    >>> read_parameters(STRATEGIES["rbp"], ["depth=50"])
    Traceback (most recent call last):
    collection.errors.UnknownNameError: there is no rbp parameter 'depth'; choose from budget, p, total
    """
    read: dict[str, object] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise InputError(f"a parameter is written NAME=VALUE, as in budget=50; found {setting!r}")
        if name in read:
            raise InputError(f"the parameter {name} of {entry.name} is given more than once")
        read[name] = entry.read(name, text)
    return read


def in_words(parameters: Mapping[str, object]) -> str:
    """Parameters as they are shown, those left out that say nothing: a total of 0, or a budget beside a total.

    Parameters
    ----------
    parameters
        Name -> value, as a round of the pool keeps them.

    Examples
    --------
    >>> in_words({"budget": 100, "k": 60, "total": 0, "near_duplicates": "keep"})
    'budget 100, k 60'
    >>> in_words({"budget": 100, "k": 60, "total": 2000, "near_duplicates": "skip"})
    'k 60, total 2000, near-duplicates skip'
    """
    idle = {"near_duplicates": "keep", "total": 0}
    shown = {
        name.replace("_", "-"): value
        for name, value in parameters.items()
        if not (name in idle and value == idle[name]) and not (name == "budget" and parameters.get("total"))
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())
