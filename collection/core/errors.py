"""All errors that the library raises on purpose.

The command line turns each into one line on stderr and exit status 2, the app into a message; any other exception is a
defect and keeps its traceback. All messages follow one pattern, in lower case and without a full stop:
``place: expected X, found Y; what to do``, where the place is a file with its line, a parameter or an object.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from collection.core.phrases import literal, plural


class CleverdonError(Exception):
    """Base class of all errors."""

    page = ""
    """Documentation page that helps, such as "how-to/import-files"; empty for that of the command."""

    def __reduce__(self) -> tuple[Any, ...]:
        # For errors from workers: the usual way would pass the message to __init__, whose parameters differ.
        return _restore, (type(self), self.args), vars(self)


def _restore(kind: type[CleverdonError], arguments: tuple[Any, ...]) -> CleverdonError:
    return kind.__new__(kind, *arguments)


class InputError(CleverdonError):
    """Input is invalid; nothing was changed."""


class FormatError(InputError):
    """A file is not in its format.

    `line` counts from 1 (rows of XLSX and Parquet files, records of datasets); None: the error is in the whole file.
    `wanted`, `found` and `hint` (what to do) are short phrases: "bm25.run, line 12: expected a number as score, found
    'abc'; write decimals with a point".
    """

    path: str
    line: int | None
    wanted: str
    found: str
    hint: str

    def __init__(self, path: str | PathLike[str], line: int | None, wanted: str, found: str, hint: str = "") -> None:
        self.path, self.line, self.wanted, self.found, self.hint = str(path), line, wanted, found, hint
        super().__init__(f"{place(path, line)}: expected {wanted}, found {found}" + (f"; {hint}" if hint else ""))


class FormatWarning(UserWarning):
    """A file was read, but not all of it: what was skipped, dropped or put elsewhere, as a `sentence` about `path`.

    `skipped` is the number of records, or of lines outside of records, that the sentence says were skipped.
    """

    path: str
    sentence: str
    skipped: int

    def __init__(self, path: str | PathLike[str], sentence: str, skipped: int = 0) -> None:
        self.path, self.sentence, self.skipped = str(path), sentence, skipped
        super().__init__(f"{path}: {sentence}")


DATASET = "ir_datasets:"
"""What the name of a dataset begins with, which can stand in place of a file."""


class EntryNumber(int):
    """The number of an entry of a JSON array that is written in one line."""


def place(path: str | PathLike[str], line: int | None) -> str:
    """A place in a file, for messages; only the file where `line` is None.

    >>> place("bm25.run", 12), place("topics.xlsx", 3), place("ir_datasets:vaswani", 7)
    ('bm25.run, line 12', 'topics.xlsx, row 3', 'ir_datasets:vaswani, record 7')
    """
    return str(path) if line is None else f"{path}, {numbered(path, line)}"


def numbered(path: str | PathLike[str], line: int) -> str:
    """The number of a line with what it counts.

    >>> numbered("bm25.run", 12), numbered("labels.json", EntryNumber(3))
    ('line 12', 'entry 3')
    """
    return f"{'entry' if isinstance(line, EntryNumber) else unit(path)} {line}"


def unit(path: str | PathLike[str]) -> str:
    """Unit in which places in a file are numbered: lines, rows or records."""
    if str(path).startswith(DATASET):
        return "record"
    return "row" if str(path).lower().endswith((".xlsx", ".parquet")) else "line"


class ColumnsError(InputError):
    """A frame lacks columns that a function needs."""

    missing: list[str]
    present: list[str]

    def __init__(self, what: str, missing: Iterable[str], present: Iterable[str]) -> None:
        self.missing, self.present = list(missing), list(present)
        expected = f"{plural(len(self.missing), 'column')} {', '.join(self.missing)}"
        super().__init__(f"{what}: expected the {expected}; found {', '.join(self.present) or 'no columns'}")


NAMED = 80
"""Largest number of names that an error lists: all measures, but not all topics."""


class DoubtError(InputError):
    """A file seems to be something else than what it is imported as; nothing was imported."""


class UnknownNameError(InputError):
    """An unknown name of some `kind`, with the known names as `choices`.

    `written`: name -> its form in suggestions. `listed_by`: the command that lists the choices, instead of the message.
    `hint`: what else to do.
    """

    kind: str
    name: str
    choices: list[str]

    def __init__(
        self,
        kind: str,
        name: object,
        choices: Iterable[str],
        written: Mapping[str, str] | None = None,
        listed_by: str = "",
        hint: str = "",
    ) -> None:
        self.kind, self.name, self.choices = kind, str(name), sorted(choices)
        near = difflib.get_close_matches(self.name.lower(), [c.lower() for c in self.choices], n=1, cutoff=0.6)
        meant = next((c for c in self.choices if near and c.lower() == near[0]), None)
        listed = ", ".join(self.choices[:NAMED]) + (
            f", ... ({len(self.choices):,} in total)" if self.choices[NAMED:] else ""
        )
        choice = f"choose from {listed}" if self.choices else f"there is no {kind}"
        choice = f"`{listed_by}` lists all" if listed_by else choice
        guess = f"did you mean {(written or {}).get(meant, meant)!r}? " if meant else ""
        hint = f"; {hint}" if hint else ""
        super().__init__(f"unknown {kind} {literal(name)}; {guess}{choice}{hint}")


def require_known(kind: str, known: Collection[Any], *names: object) -> None:
    """Raise :class:`UnknownNameError` for the first of the `names` that is not `known`."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, map(str, known))


def as_path(given: str | PathLike[str], what: str = "path") -> Path:
    """Make a Path; raise :class:`InputError` for anything but a str or an os.PathLike of str.

    >>> as_path(["a.run"], "run")
    Traceback (most recent call last):
        ...
    collection.core.errors.InputError: run: expected a path (str or os.PathLike), found list
    """
    if not isinstance(given, str | PathLike) or not isinstance(fspath(given), str):
        raise InputError(f"{what}: expected a path (str or os.PathLike), found {type(given).__name__}")
    return Path(given)


def as_paths(
    given: str | PathLike[str] | Iterable[str | PathLike[str]], what: str = "paths"
) -> list[str | PathLike[str]]:
    """Make a list of one path or of several; raise :class:`InputError` for anything else.

    >>> as_paths("a.run"), as_paths(path for path in ("a.run", "b.run"))
    (['a.run'], ['a.run', 'b.run'])
    """
    if isinstance(given, str | PathLike):
        given = [given]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what}: expected paths (str or os.PathLike), found {type(given).__name__}")
    paths = list(given)
    for path in paths:
        as_path(path, what)
    return paths


class WrongPasswordError(InputError):
    """The current password, needed to set a new one, is wrong."""


class CampaignError(CleverdonError):
    """The campaign does not exist, already exists, or is not ready for this operation."""


class ConflictError(CampaignError):
    """The campaign already has something with this name but other content."""


class BusyError(CampaignError):
    """Another process is writing to the campaign; nothing was changed, so try again."""


class ClusterError(CleverdonError):
    """The Dask cluster cannot be reached, has no workers, or has lost a calculation; later calls connect again."""


class StorageError(CleverdonError):
    """The campaign's database cannot be read or written, for instance on a full disk; nothing was changed.

    Not a :class:`CampaignError`: SQLite may have rolled back the open transaction, so nothing inside it may catch this.
    """


class JudgementError(CleverdonError):
    """A judgement was refused: unknown pair, grade outside the scale, nothing to undo."""
