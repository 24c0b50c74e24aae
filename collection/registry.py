"""One table per family: a name, one line of description, parameters with defaults, a function.

The command line, the select boxes, the docs and the tests all read these tables, so a family can
never be described in one place and forgotten in another. Packages outside this one add a member
through an entry point of the table's group (for example ``cleverdon.pooling``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from collection.errors import InputError, UnknownNameError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry(Generic[F]):
    """One member of a family.

    Attributes
    ----------
    name
        What files and the command line write.
    label
        What screens show.
    description
        One line: what it does and when to choose it.
    function
        The member itself; its keyword-only arguments are the parameters.
    """

    name: str
    label: str
    description: str
    function: F

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter name -> default, read from the function's keyword-only arguments."""
        return {
            p.name: p.default
            for p in inspect.signature(self.function).parameters.values()
            if p.kind is inspect.Parameter.KEYWORD_ONLY
        }

    @property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """Parameter name -> its values, for those parameters that are annotated with a Literal."""
        hints = get_type_hints(self.function)
        return {name: get_args(hints[name]) for name in self.parameters if get_origin(hints.get(name)) is Literal}


class Registry(Generic[F]):
    """A family's table: ordered, refuses duplicates, explains unknown names.

    Parameters
    ----------
    kind
        What a member is called in messages ("pooling strategy").
    group
        Entry-point group through which other packages add members, or None.

    Examples
    --------
    >>> RULES = Registry("rule")
    >>> @RULES.add("half", label="Half", description="Half of it.")
    ... def half(x, *, rounding="down"):
    ...     return x // 2
    >>> RULES["half"].parameters
    {'rounding': 'down'}
    >>> RULES["hafl"]
    Traceback (most recent call last):
    collection.errors.UnknownNameError: there is no rule 'hafl'; did you mean 'half'? choose from half
    """

    def __init__(self, kind: str, group: str | None = None) -> None:
        self.kind, self.group = kind, group
        self._entries: dict[str, Entry[F]] = {}
        self._entry_points_loaded = group is None

    def add(self, name: str, *, label: str, description: str) -> Callable[[F], F]:
        """Decorator: put the function into the table under `name`; a name may be taken once."""
        return lambda function: self._register(Entry(name, label, description, function))

    def _register(self, entry: Entry[F]) -> F:
        if entry.name in self._entries:
            raise InputError(f"the {self.kind} {entry.name!r} is in the table already; give the new one another name")
        self._entries[entry.name] = entry
        return entry.function

    def _load_entry_points(self) -> None:
        # On the first look-up, not at import: an outside package usually imports this one.
        if not self._entry_points_loaded:
            self._entry_points_loaded = True
            for point in metadata.entry_points(group=self.group or ""):
                point.load()

    def __getitem__(self, name: str) -> Entry[F]:
        self._load_entry_points()
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._entries) from None

    def __iter__(self) -> Iterator[Entry[F]]:
        self._load_entry_points()
        return iter(list(self._entries.values()))

    def __contains__(self, name: object) -> bool:
        self._load_entry_points()
        return name in self._entries

    def __len__(self) -> int:
        self._load_entry_points()
        return len(self._entries)
