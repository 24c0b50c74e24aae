"""All errors that the library raises on purpose.

The command line turns each into one line on stderr and exit status 2, the app into a message; any other exception is a
defect and keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from os import PathLike


class CleverdonError(Exception):
    """Base class; the message says what was expected, what was found, and what to do."""


class InputError(CleverdonError):
    """Something given from outside is wrong; nothing was changed."""


class FormatError(InputError):
    """A file is not in its format.

    `line` counts from 1, None in an empty file; `wanted`, `found` and `hint` (what to do) are short phrases.
    """

    def __init__(self, path: str | PathLike[str], line: int | None, wanted: str, found: str, hint: str = "") -> None:
        self.path, self.line, self.wanted, self.found, self.hint = str(path), line, wanted, found, hint
        where = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{where}: wanted {wanted}, found {found}" + (f"; {hint}" if hint else ""))


class ColumnsError(InputError):
    """A frame lacks columns that a function needs."""

    def __init__(self, what: str, missing: Iterable[str], present: Iterable[str]) -> None:
        self.missing, self.present = list(missing), list(present)
        super().__init__(
            f"{what} needs the columns {', '.join(self.missing)}; there are {', '.join(self.present) or 'none'}"
        )


NAMED = 80
"""Largest number of names that an error lists: all measures, but not all topics."""


class UnknownNameError(InputError):
    """A name that is not among the `choices` of this `kind`; `written`: name -> its form in suggestions."""

    def __init__(
        self, kind: str, name: object, choices: Iterable[str], written: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self.name, self.choices = kind, str(name), sorted(choices)
        near = difflib.get_close_matches(self.name.lower(), [c.lower() for c in self.choices], n=1, cutoff=0.6)
        meant = next((c for c in self.choices if near and c.lower() == near[0]), None)
        listed = ", ".join(self.choices[:NAMED]) + (
            f", ... ({len(self.choices):,} in all)" if self.choices[NAMED:] else ""
        )
        choice = f"choose from {listed}" if self.choices else "there are none"
        guess = f"did you mean {(written or {}).get(meant, meant)!r}? " if meant else ""
        super().__init__(f"there is no {kind} {name!r}; {guess}{choice}")


class WrongPasswordError(InputError):
    """The old password, needed to change it, is wrong."""


class CampaignError(CleverdonError):
    """The campaign does not exist, exists already, or is not ready for this."""


class ConflictError(CampaignError):
    """The campaign has something of that name with other content."""


class BusyError(CampaignError):
    """Another writer holds the database; nothing was changed, so try again."""


class JudgementError(CleverdonError):
    """A judgement that cannot be accepted: unknown pair, grade outside the scale, nothing to undo."""
