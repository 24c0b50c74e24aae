"""The table with which `make bench` ends: what was measured, and the ratio to another tool or to the local run.

python tests/benchmarks/ratios.py    # prints what the last runs of the benchmarks kept in .bench/ratios.tsv
"""

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parents[2] / ".bench" / "ratios.tsv"


class Row(NamedTuple):
    """A figure, and how it compares."""

    what: str
    size: str
    figure: str
    ratio: str
    beside: str
    growth: str = ""
    """Time per item, beside that at the smallest size."""


HEADINGS = Row("what", "size", "figure", "ratio", "beside", "growth")


def keep(row: Row) -> None:
    """Add a row to the table, in place of an earlier one of the same thing at the same size."""
    FILE.parent.mkdir(exist_ok=True)
    others = [other for other in read() if other[:2] != row[:2]]
    FILE.write_text("".join("\t".join(each) + "\n" for each in (*others, row)), encoding="utf-8")


def read() -> list[Row]:
    """Return the rows that are kept."""
    if not FILE.exists():
        return []
    return [Row(*line.split("\t")) for line in FILE.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Print the table."""
    rows = [HEADINGS, *read()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
