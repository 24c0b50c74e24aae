"""Output of the command line: notices and progress to stderr, tables and values to stdout."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from collection.core.characters import for_terminal, one_line
from collection.core.phrases import decimal

if TYPE_CHECKING:
    import pandas as pd


def echo(text: str = "", *, err: bool = False) -> None:
    """Print text for people, without control characters; commands never print through :func:`click.echo`."""
    click.echo(for_terminal(text), err=err)


def echo_data(text: str, *, nl: bool = True) -> None:
    """Print text for programs: unchanged in a file or a pipe, and as :func:`echo` on a terminal."""
    # "color": click otherwise takes some of the sequences out, and leaves the others.
    click.echo(for_terminal(text) if sys.stdout.isatty() else text, nl=nl, color=True)


def print_json(value: object) -> None:
    """Print data as JSON: see :func:`collection.export.plain`."""
    from collection.export import plain

    echo_data(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_notices(notices: Iterable[str], kind: str = "note") -> None:
    """Print notices on stderr, since stdout may go into a file."""
    for notice in notices:
        echo(f"{kind}: {one_line(notice)}", err=True)


def confirm(question: str, yes: bool, accepted: str) -> None:
    """Ask on the terminal before something that cannot be undone, unless `yes`; a refusal ends the command.

    `accepted` says what --yes accepts, for a command without a terminal: "the cost".
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"expected --yes to accept {accepted}, since there is no terminal to ask at")
    click.confirm(question, abort=True, err=True)


SOON, SELDOM = 2.0, 10.0
"""Seconds without output before a line reports progress: on a terminal, and in a log."""


@contextmanager
def progress_line(work: str) -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress on stderr: one line that is rewritten on a terminal, elsewhere a plain line every SELDOM seconds.

    Yields a function of the current task, how much of it is done, and the total or None. Until its first call, `work`
    and the elapsed seconds are shown.
    """
    terminal = sys.stderr.isatty()
    started = last = time.monotonic()
    shown = ""
    lock, ended = threading.Lock(), threading.Event()

    def write(text: str) -> None:
        nonlocal last, shown
        last, shown = time.monotonic(), text
        text = for_terminal(text)
        click.echo(f"\r\x1b[K{text}" if terminal else text, nl=not terminal, err=True)

    def show(what: str, done: int, total: int | None) -> None:
        what = one_line(what)
        with lock:
            waited = time.monotonic() - last
            if (shown and waited < 0.1 and done != total) if terminal else waited < SELDOM:
                return
            if not terminal:
                write(f"{what}: {done:,}" + (f" of {total:,}" if total else ""))
            elif total:
                filled = round(24 * done / total)
                write(f"{what:<28} [{'#' * filled}{'.' * (24 - filled)}] {done:,}/{total:,}")
            else:
                write(f"{what:<28} {done:,}")

    def tick() -> None:
        while not ended.wait(1.0):
            with lock:
                silent = not ended.is_set() and time.monotonic() - last >= (SOON if terminal else SELDOM)
                if silent or (terminal and shown.startswith(f"{work}: ")):
                    write(f"{work}: {time.monotonic() - started:,.0f} s")

    ticker = threading.Thread(target=tick, name="progress", daemon=True)
    ticker.start()
    try:
        yield show
    finally:
        ended.set()
        ticker.join()
        if terminal and shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: bool = False,
    with_header: bool = True,
    optional: Sequence[str] = (),
) -> None:
    """Print columns of text, integers right-aligned; with `numbers`, all columns without words but the first.

    `optional` columns are left out if they are 0 or empty everywhere.
    """
    columns = [i for i, name in enumerate(header) if name not in optional or any(row[i] for row in rows)]
    header, rows = [header[i] for i in columns], [[row[i] for i in columns] for row in rows]
    header = [_cell(name) for name in header]
    cells = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(len(r[i]) for r in [header, *cells]) for i in range(len(header))]
    right = [
        all(isinstance(row[i], int) for row in rows) or (numbers and i > 0 and not any(_is_word(r[i]) for r in cells))
        for i in range(len(header))
    ]
    for line in [header, *cells] if with_header else cells:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)]
        echo("  ".join(padded).rstrip())


def print_settings(values: Mapping[str, object]) -> None:
    """Print settings with the options that change them and the first line of their help."""
    options = {
        o.opts[-1].lstrip("-"): o for o in click.get_current_context().command.params if isinstance(o, click.Option)
    }
    rows = []
    for name, value in values.items():
        option = options[name.replace("_", "-")]
        meaning = (option.help or "").partition(";")[0].removesuffix(".").removesuffix(" (0 = unlimited)")
        rows.append([option.opts[-1], _setting(value), meaning])
    print_table(["option", "value", "meaning"], rows)


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,g}" if isinstance(value, float) else str(value)


def _is_word(cell: str) -> bool:
    return cell[:1].isalpha() and cell != "nan"


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return "-"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else decimal(value)
    return for_terminal(" ".join(str(value).replace("\t", " ").splitlines()))


def print_frame(frame: pd.DataFrame, form: str) -> None:
    """Print a frame as a table, as TSV or CSV with a header, or as JSON records."""
    from collection.formats.spreadsheet import escape_frame, to_tsv

    if form == "json":
        print_json(frame)
    elif form == "tsv":
        echo_data(to_tsv(frame), nl=False)
    elif form == "csv":
        echo_data(escape_frame(frame).to_csv(index=False, lineterminator="\n", na_rep="nan"), nl=False)
    else:
        rows = [[_frame_cell(value) for value in row] for row in zip(*(frame[c].tolist() for c in frame), strict=True)]
        print_table([str(column) for column in frame], rows)


def _frame_cell(value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else ""
    return decimal(value) if isinstance(value, float) else str(value)


def format_cost(value: str | float) -> str:
    """Format a cell of a column of costs; nothing where the cost is unknown."""
    import pandas as pd

    if pd.isna(value):
        return ""
    return value if isinstance(value, str) else f"{value:,.10g}"
