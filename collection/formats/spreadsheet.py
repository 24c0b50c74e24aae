"""Cells that a spreadsheet would take for formulas, in the CSV and TSV files that people open with one.

Excel, LibreOffice and others compute what begins with ``=``, ``+``, ``-`` or ``@``, also behind a tab or a line end,
and a formula can send what is in the sheet to anybody. An apostrophe before it makes it text, as OWASP advises ("CSV
Injection"). Only text that people wrote is treated so: ids and numbers are written as they are.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

_RISKY = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")

IDS = frozenset({"query_id", "doc_id", "left", "right"})
"""Columns of topics and documents, by which files are joined."""


def escaped(value: Any) -> Any:
    """A cell as text where a spreadsheet would compute it: with an apostrophe more; anything else as it is.

    Examples
    --------
    >>> escaped("=1+1"), escaped("'=1+1"), escaped("'t Hooft"), escaped(-1.5)
    ("'=1+1", "''=1+1", "'t Hooft", -1.5)
    """
    return f"'{value}" if isinstance(value, str) and _RISKY.match(value) else value


def restored(cell: str) -> str:
    """The text of which :func:`escaped` made the cell.

    Examples
    --------
    >>> restored("'=1+1"), restored("''=1+1"), restored("'t Hooft")
    ('=1+1', "'=1+1", "'t Hooft")
    """
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) else cell


def escaped_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose cells are :func:`escaped`, but for the columns of :data:`IDS`."""
    return frame.assign(
        **{
            str(name): frame[name].map(escaped)
            for name in frame.columns
            if name not in IDS and not pd.api.types.is_numeric_dtype(frame[name])
        }
    )


def tsv(frame: pd.DataFrame) -> str:
    """A frame as the text of a TSV file for spreadsheets, with a header; its cells are :func:`escaped`."""
    return str(escaped_frame(frame).to_csv(sep="\t", index=False, lineterminator="\n"))
