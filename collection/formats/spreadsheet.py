"""Cells that a spreadsheet would take for formulas, in CSV and TSV files.

Excel, LibreOffice and others compute cells that begin with ``=``, ``+``, ``-`` or ``@``, also behind a tab or a line
end, and a formula can send the sheet's content away. An apostrophe before it makes it text (OWASP, "CSV Injection").
Ids and numbers are written as they are.
"""

from __future__ import annotations

import re
from typing import TypeVar

import pandas as pd

T = TypeVar("T")

_RISKY = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")

IDS = frozenset({"query_id", "doc_id", "left", "right"})
"""Columns with ids, by which files are joined."""


def escape(value: T) -> T | str:
    """A cell with an apostrophe before it where a spreadsheet would compute it; other values unchanged.

    >>> escape("=1+1"), escape("'=1+1"), escape("'t Hooft"), escape(-1.5)
    ("'=1+1", "''=1+1", "'t Hooft", -1.5)
    """
    return f"'{value}" if isinstance(value, str) and _RISKY.match(value) else value


def restore(cell: str) -> str:
    """The text that :func:`escape` turned into the cell.

    >>> restore("'=1+1"), restore("''=1+1"), restore("'t Hooft")
    ('=1+1', "'=1+1", "'t Hooft")
    """
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) else cell


def escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with :func:`escape` cells, except in the columns :data:`IDS`."""
    texts = frame.select_dtypes(exclude="number").columns.difference(list(IDS), sort=False)
    return frame.assign(**{str(name): frame[name].map(escape) for name in texts})


def to_tsv(frame: pd.DataFrame) -> str:
    """A frame as TSV text for spreadsheets, with a header and :func:`escape` cells."""
    return str(escape_frame(frame).to_csv(sep="\t", index=False, lineterminator="\n"))
