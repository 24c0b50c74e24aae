"""Cells that a spreadsheet would take for formulas, in CSV and TSV files.

Excel, LibreOffice and others compute cells that begin with ``=``, ``+``, ``-`` or ``@``, also behind a tab or a line
end, and a formula can send the sheet's content away. An apostrophe before it makes it text (OWASP, "CSV Injection").
Numbers are written as they are, and so are ids of letters, digits and a few signs, such as ``-x7Q``: files are joined
by ids, and formulas of these characters call no function, program or other file.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TypeVar

import pandas as pd

T = TypeVar("T")

_RISKY = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_PLAIN = re.compile(r"[=+\-@][\w.+/=-]*\Z")

IDS = frozenset({"query_id", "doc_id", "left", "right"})
"""Columns with ids, by which files are joined."""


def escape(value: T, column: str = "") -> T | str:
    """A cell with an apostrophe before it where a spreadsheet would compute it; other values unchanged.

    >>> escape("=1+1"), escape("'=1+1"), escape("'t Hooft"), escape(-1.5)
    ("'=1+1", "''=1+1", "'t Hooft", -1.5)
    >>> escape("-x7Q"), escape("-x7Q", "doc_id"), escape("=f(A1)", "doc_id")
    ("'-x7Q", '-x7Q', "'=f(A1)")
    """
    is_text = isinstance(value, str) and _RISKY.match(value) and not (column in IDS and _PLAIN.match(value))
    return f"'{value}" if is_text else value


def restore(cell: str, column: str = "") -> str:
    """The text that :func:`escape` turned into the cell.

    >>> restore("'=1+1"), restore("''=1+1"), restore("'t Hooft")
    ('=1+1', "'=1+1", "'t Hooft")
    """
    return cell[1:] if cell.startswith("'") and escape(cell[1:], column) == cell else cell


def escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with :func:`escape` cells."""
    texts = map(str, frame.select_dtypes(exclude="number").columns)
    return frame.assign(**{name: frame[name].map(partial(escape, column=name)) for name in texts})


def to_tsv(frame: pd.DataFrame) -> str:
    """A frame as TSV text for spreadsheets, with a header and :func:`escape` cells."""
    return str(escape_frame(frame).to_csv(sep="\t", index=False, lineterminator="\n"))
