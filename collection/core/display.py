"""Display of results in notebooks and in the Python console: one line, a short table, and notes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20
"""Rows that are shown; of longer tables the first and the last."""


SELDOM = 5.0
"""Seconds between two lines of progress."""


def print_progress(work: str) -> Callable[[str, int, int], None]:
    """Return a function of the current task, how many are done, and their number, which prints lines on stderr.

    It prints at most every :data:`SELDOM` seconds, so that short work prints nothing.
    """
    last = time.monotonic()

    def tell(task: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SELDOM:
            last = time.monotonic()
            print(f"{work}: {task}, {done:,} of {total:,} done", file=sys.stderr, flush=True)

    return tell


class Summary(NamedTuple):
    """Summary of a result; `headlines` come above the table, `details` name the attributes with more."""

    headlines: list[str]
    table: pd.DataFrame
    notes: Iterable[str] = ()
    details: str = ""
    decimals: int = 4
    row_names: bool = True
    most_rows: int | None = MOST_ROWS
    """None shows all rows."""


class Displayed:
    """Base class of results, which show a summary instead of all their frames.

    >>> import pandas as pd
    >>> class Counts(Displayed):
    ...     def _summary(self) -> Summary:
    ...         return Summary(["Judgements per topic"], pd.DataFrame({"pairs": [12]}, ["301"]), ["1 topic is empty"])
    >>> Counts()
    Judgements per topic
    <BLANKLINE>
         pairs
    301     12
    <BLANKLINE>
    Note: 1 topic is empty
    """

    def _summary(self) -> Summary:
        raise NotImplementedError

    def __repr__(self) -> str:
        headlines, table, notes, details, decimals, row_names, most_rows = self._summary()
        text = table.to_string(float_format=f"{{:,.{decimals}f}}".format, max_rows=most_rows, index=row_names)
        text = "" if table.empty else text
        below = [*(f"Note: {note}" for note in notes), *([f"Details: {details}"] if details else [])]
        return "\n\n".join(part for part in ("\n".join(headlines), text, "\n".join(below)) if part)

    def _repr_html_(self) -> str:
        headlines, table, notes, details, decimals, row_names, most_rows = self._summary()
        html = table.to_html(float_format=f"{{:,.{decimals}f}}".format, max_rows=most_rows, index=row_names, border=0)
        html = "" if table.empty else html
        below = [*notes, *([f"Details: {details}"] if details else [])]
        above, below = ([f"<p>{escape(line)}</p>" for line in lines] for lines in (headlines, below))
        return "".join([*above, html, *below])
