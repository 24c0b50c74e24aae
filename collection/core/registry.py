"""Registries of measures, pooling strategies, learners, stopping rules, adjudication rules and others.

Each registry holds one family. An entry has everything that the command line, the pages and the documentation show of
a member: its name, description, parameters with defaults, and the traits of its family. To add members from another
package, register them in a module and declare it as an entry point of the family's group::

    [project.entry-points."cleverdon.pooling"]
    my-strategies = "my_package.strategies"
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import NoneType, SimpleNamespace
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from collection.core.errors import InputError, UnknownNameError, require_known
from collection.core.phrases import count

F = TypeVar("F", bound=Callable[..., object])
Traits = ParamSpec("Traits")

_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Parameter:
    """Form field of a parameter, given in its annotation: ``Annotated[int, Parameter("Depth", least=1)]``.

    `least` is the smallest number that can be entered; `labels` maps values to labels where these differ.
    """

    label: str
    help: str | None = None
    least: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Entry(Generic[F]):
    """One member of a family. A family with traits has a subclass with further, keyword-only fields.

    Attributes
    ----------
    name
        Name in files and on the command line.
    label
        Name on pages.
    description
        What it does and when to choose it, in one line.
    function
        The implementation, whose keyword-only arguments are the parameters.
    """

    name: str
    label: str
    description: str
    function: F

    def __repr__(self) -> str:
        written = [
            name if default is inspect.Parameter.empty else f"{name}={default!r}"
            for name, default in self.parameters.items()
        ]
        return f"{self.name}({', '.join(written)}): {self.description}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter name -> default, read from the function's keyword-only arguments."""
        return dict(_defaults(self.function))

    @property
    def choices(self) -> dict[str, tuple[Any, ...]]:
        """Parameter name -> possible values, for parameters annotated with a Literal."""
        hints = _hints(self.function)
        return {name: get_args(hints[name]) for name in self.parameters if get_origin(hints.get(name)) is Literal}

    @property
    def traits(self) -> dict[str, str]:
        """Column -> text, for further columns in lists and in the documentation."""
        return {}

    def kind(self, name: str) -> type:
        """Return the type of a parameter; str if the function has none."""
        hint = _hints(self.function).get(name, type(self.parameters[name]))
        kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
        return kinds[0] if len(kinds) == 1 and kinds[0] in _KINDS else str

    def shown(self, name: str) -> Parameter:
        """Return the form field of a parameter."""
        hint = _hints(self.function, include_extras=True).get(name)
        about = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        return next((a for a in about if isinstance(a, Parameter)), Parameter(name.replace("_", " ").capitalize()))

    def require_parameters(self, names: Iterable[str]) -> None:
        """Raise UnknownNameError unless all of these are parameters."""
        require_known(f"{self.name} parameter", self.parameters, *names)

    def read(self, name: str, text: str) -> Any:
        """Convert the text of a parameter to its value.

        Raises
        ------
        InputError, UnknownNameError
            An unknown parameter, or text that is not a possible value.
        """
        self.require_parameters([name])
        kind = self.kind(name)
        choices = {str(choice): choice for choice in self.choices.get(name, ())}
        choices |= _BOOLEANS if kind is bool else {}
        if choices:
            require_known(f"value of {name} for {self.name}", choices, text)
            return choices[text]
        try:
            return kind(text)
        except ValueError:
            raise InputError(f"{name} of {self.name}: expected {_KINDS[kind]}, found {text!r}") from None


@functools.cache  # asked at every evaluation of a measure
def _defaults(function: Callable[..., object]) -> Mapping[str, Any]:
    """Keyword-only argument -> default."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _hints(function: Callable[..., object], include_extras: bool = False) -> dict[str, Any]:
    """The types of the keyword-only arguments; types of other arguments may be unavailable at run time."""
    original = inspect.unwrap(function)
    parameters = inspect.signature(original).parameters.values()
    hints = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY and p.annotation is not p.empty}
    return get_type_hints(SimpleNamespace(__annotations__=hints), original.__globals__, include_extras=include_extras)


E = TypeVar("E", bound=Entry[Any])


class Registry(Generic[F, Traits, E]):
    """The entries of a family, in order: ``registry["name"]`` looks one up, and iteration yields all.

    Parameters
    ----------
    kind
        Name of a member in messages, such as "pooling strategy".
    entry
        The family's entry class.
    group
        Entry-point group through which other packages add members, or None.
    prepare
        Applied to each function when it is added.

    Examples
    --------
    >>> RULES = Registry("rule", Entry)
    >>> @RULES.add("half", label="Half", description="Half of it.")
    ... def half(x, *, rounding="down"):
    ...     return x // 2
    >>> RULES
    Registry of 1 entry (rule): half
    >>> RULES["half"]
    half(rounding='down'): Half of it.
    >>> RULES["hafl"]
    Traceback (most recent call last):
    collection.core.errors.UnknownNameError: unknown rule 'hafl'; did you mean 'half'? choose from half
    """

    kind: str
    group: str | None

    def __init__(
        self,
        kind: str,
        entry: Callable[Concatenate[str, str, str, F, Traits], E],
        group: str | None = None,
        prepare: Callable[[F], F] = lambda function: function,
    ) -> None:
        self.kind, self.group = kind, group
        self._make, self._prepare = entry, prepare
        self._entries: dict[str, E] = {}
        self._lock = threading.RLock()
        self._loaded = group is None
        self._failure: tuple[str, Exception] | None = None

    def add(
        self, name: str, label: str, description: str, *args: Traits.args, **traits: Traits.kwargs
    ) -> Callable[[F], F]:
        """Decorator that adds a function with the traits of the family's entry class.

        Raises
        ------
        InputError
            The name is taken.
        """

        def register(function: F) -> F:
            if name in self._entries:
                raise InputError(f"the {self.kind} {name!r} is already registered; choose another name")
            prepared = self._prepare(function)
            self._entries[name] = self._make(name, label, description, prepared, *args, **traits)
            return prepared

        return register

    def _known(self) -> dict[str, E]:
        """The entries with those of other packages, which import this one and so are loaded when they are needed."""
        with self._lock:  # other threads wait for the complete table; the loading one may look things up
            if not self._loaded:
                from importlib import metadata

                self._loaded = True
                for point in metadata.entry_points(group=self.group or ""):
                    try:
                        point.load()
                    except Exception as error:  # whatever goes wrong in somebody else's package
                        made_by = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
                        message = (
                            f"the package {made_by} cannot add its {self.kind} (entry point {point.name} = "
                            f"{point.value}): {type(error).__name__}: {error}; update or uninstall it"
                        )
                        self._failure = message, error
                        break
            if self._failure is not None:
                raise InputError(self._failure[0]) from self._failure[1]
        return self._entries

    def registered(self) -> list[E]:
        """Return the entries so far, without looking for those of other packages, which takes longer than a look-up."""
        return list(self._entries.values())

    def __getitem__(self, name: str) -> E:
        entry = self._entries.get(name) or self._known().get(name)
        if entry is None:
            raise UnknownNameError(self.kind, name, self._known())
        return entry

    def __iter__(self) -> Iterator[E]:
        return iter(list(self._known().values()))

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._known()

    def __len__(self) -> int:
        return len(self._known())

    def __repr__(self) -> str:
        known = self._known()
        return f"Registry of {count(len(known), 'entry', 'entries')} ({self.kind}): {', '.join(known)}"
