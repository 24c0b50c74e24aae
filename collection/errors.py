"""The tree of errors: every error that the library raises on purpose is one of these.

    CleverdonError                 one sentence, or three: what was wanted, what was there, what to do
    ├── InputError                 something given from outside is wrong; nothing was changed
    │   ├── FormatError            a file, with its path and line
    │   ├── ColumnsError           a frame without the columns that a function needs
    │   ├── UnknownNameError       a name that no table holds, with the nearest names
    │   └── WrongPasswordError     the old password, which has to be given to change it, is wrong
    ├── CampaignError              the campaign is not there, is there already, or is not ready for this
    │   ├── ConflictError          something of that name is there already with other content
    │   └── BusyError              another writer holds the database; try again
    └── JudgementError             a judgement that cannot be accepted; the reason is in the message

The command line turns each into one line on stderr and exit status 2; the app into one message.
Anything else that escapes is a defect of ours and keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from os import PathLike


class CleverdonError(Exception):
    """Root of the tree."""


class InputError(CleverdonError):
    """Something given from outside is wrong; nothing was changed."""


class FormatError(InputError):
    """A file does not say what its format asks for.

    Parameters
    ----------
    path
        The file, as the caller named it.
    line
        1-based line number, or None where the fault has no line (an empty file).
    wanted, found
        What the format asks for and what was there instead; short phrases.
    hint
        What to do about it, where there is something to say.
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
"""So many names an error lists; a table of measures fits, the topics of a collection do not."""


class UnknownNameError(InputError):
    """A name that a table does not hold; the message lists what it does hold.

    Parameters
    ----------
    kind
        What the table holds.
    name
        What was asked for.
    choices
        The names that there are.
    written
        Name -> how it is suggested, where the name alone could not be asked for.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], written: Mapping[str, str] | None = None) -> None:
        self.kind, self.name, self.choices = kind, name, sorted(choices)
        near = difflib.get_close_matches(name.lower(), [c.lower() for c in self.choices], n=1, cutoff=0.6)
        meant = next((c for c in self.choices if near and c.lower() == near[0]), None)
        listed = ", ".join(self.choices[:NAMED]) + (
            f", ... ({len(self.choices):,} in all)" if self.choices[NAMED:] else ""
        )
        choice = f"choose from {listed}" if self.choices else "there are none"
        guess = f"did you mean {(written or {}).get(meant, meant)!r}? " if meant else ""
        super().__init__(f"there is no {kind} {name!r}; {guess}{choice}")


class WrongPasswordError(InputError):
    """The old password, which has to be given to change it, is wrong."""


class CampaignError(CleverdonError):
    """The campaign is not there, is there already, or is not ready for what was asked."""


class ConflictError(CampaignError):
    """Something of that name is in the campaign already, with other content."""


class BusyError(CampaignError):
    """Another writer holds the database longer than one waits; nothing was changed."""


class JudgementError(CleverdonError):
    """A judgement that cannot be accepted: unknown pair, grade outside the scale, nothing to undo."""
