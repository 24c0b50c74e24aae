"""The parameters of a strategy as people write and read them: texts -> values of the right types, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

from collection.errors import InputError, UnknownNameError
from collection.registry import Entry

_KINDS = {int: "a whole number", float: "a number"}


def read_parameters(entry: Entry[Any], settings: Iterable[str]) -> dict[str, Any]:
    """Settings such as ``budget=50`` -> the strategy's parameters, with the types that its function names.

    Parameters
    ----------
    entry
        Of the table of strategies, fixed or adaptive.
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
    types = get_type_hints(entry.function)
    read: dict[str, object] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise InputError(f"a parameter is written NAME=VALUE, as in budget=50; found {setting!r}")
        if name not in entry.parameters:
            raise UnknownNameError(f"{entry.name} parameter", name, entry.parameters)
        if name in read:
            raise InputError(f"the parameter {name} of {entry.name} is given more than once")
        choices = {str(choice): choice for choice in entry.choices.get(name, ())}
        if choices:
            if text not in choices:
                raise UnknownNameError(f"{name} of {entry.name}", text, choices)
            read[name] = choices[text]
            continue
        kind = types[name]
        try:
            read[name] = kind(text)
        except ValueError:
            raise InputError(f"{name} of {entry.name} is {_KINDS[kind]}; found {text!r}") from None
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
