"""A comparison as a table for a paper (LaTeX, booktabs) or a page (Markdown), with a caption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pandas as pd

from collection.comparison.conclusions import find_directions, name_test
from collection.comparison.evaluation import direction
from collection.core.characters import escaped_markdown, for_terminal, one_line
from collection.core.phrases import count, decimal, join
from collection.measures import parse
from collection.statistics import CORRECTIONS

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
# After the end of a row LaTeX would read these two as its options.
_LATEX |= {"[": "{[}", "*": "{*}"}
# Outside math mode, old font encodings print other characters for these.
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}

BETTER, WORSE = "better", "worse"


class Compared(Protocol):
    """Part of a :class:`.Comparison` that tables need; its methods write them."""

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row per measure and system."""

    @property
    def tests(self) -> pd.DataFrame:
        """A row per measure and tested system."""

    @property
    def baseline(self) -> str | None:
        """The system that the others are tested against; None: the best."""

    @property
    def correction(self) -> str:
        """Name of the correction for multiple testing."""

    @property
    def alpha(self) -> float:
        """Significance level."""

    @property
    def topics(self) -> int:
        """Number of topics."""

    def table(self, column: str = "value") -> pd.DataFrame:
        """Systems x measures of a column of the leaderboard, best first."""


def escaped_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(escaped_latex("bm25_k1=0.9 & 100%"))
    bm25\_k1=0.9 \& 100\%
    """
    return "".join(_LATEX.get(character, character) for character in one_line(for_terminal(text)))


def caption(comparison: Compared) -> str:
    """Write a caption in plain text: topics, marks, test, correction and significance level."""
    kinds = {parse(str(m)).entry.summary for m in comparison.leaderboard["measure"].unique()}
    values = "Means" if kinds == {"mean"} else "Values"
    said = f"{values} over {count(comparison.topics, 'topic')}; best in bold."
    if len(comparison.tests):
        against = "the best system" if comparison.baseline is None else comparison.baseline
        signs = ("†: significantly better, ‡: " if comparison.baseline is not None else "‡: ") + "significantly worse"
        correction = CORRECTIONS[comparison.correction].label
        corrected = "no correction" if comparison.correction == "none" else f"{correction} correction"
        used = comparison.tests.drop_duplicates("measure")
        one = used["test"].nunique() == 1
        tests = [
            name_test(t) + ("" if one else f" for {m}") for t, m in zip(used["test"], used["measure"], strict=True)
        ]
        counted = count(int(comparison.tests["measure"].value_counts().max()), "comparison")
        said += (
            f" {signs} than {against} ({join(dict.fromkeys(tests))}, {corrected} over {counted} per measure, "
            f"α = {comparison.alpha:g})."
        )
    several = comparison.leaderboard.loc[comparison.leaderboard["seeds"] > 1]
    if len(several):
        said += " ±: standard deviation over the seeds of a system."
    return said


def latex(comparison: Compared, digits: int = 4) -> str:
    r"""Write a table for a paper: best first by the first measure, best bold, daggers for significance.

    The document needs ``\usepackage{booktabs}``.
    """
    signs = {BETTER: r"$^{\dagger}$", WORSE: r"$^{\ddagger}$", "": ""}

    def cell(value: str, spread: str, best: bool, mark: str) -> str:
        return (rf"\textbf{{{value}}}" if best else value) + (rf" $\pm$ {spread}" if spread else "") + signs[mark]

    rows = _rows(comparison, digits, cell)
    said = escaped_latex(caption(comparison))
    symbols = {"†": r"$\dagger$", "‡": r"$\ddagger$", "α": r"$\alpha$", "±": r"$\pm$", " = ": "~=~"}
    for plain, written in symbols.items():
        said = said.replace(plain, written)
    measures = [escaped_latex(str(m)) for m in comparison.leaderboard["measure"].unique()]
    body = [" & ".join([escaped_latex(system), *cells]) + r" \\" for system, cells in rows]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{said}}}",
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        " & ".join(["System", *measures]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def markdown(comparison: Compared, digits: int = 4) -> str:
    """Write a pipe table with the same order and marks, the caption below it."""
    signs = {BETTER: "†", WORSE: "‡", "": ""}

    def cell(value: str, spread: str, best: bool, mark: str) -> str:
        return (f"**{value}**" if best else value) + (f" ± {spread}" if spread else "") + signs[mark]

    rows = _rows(comparison, digits, cell)
    measures = [escaped_markdown(str(m)) for m in comparison.leaderboard["measure"].unique()]
    lines = [["System", *measures], ["---", *["---:"] * len(measures)]]
    lines += [[escaped_markdown(system), *cells] for system, cells in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{escaped_markdown(caption(comparison))}"


def mark_significance(comparison: Compared) -> pd.DataFrame:
    """Systems x measures: "better" or "worse" if significantly different from the baseline, else ""."""
    table = comparison.table("best").astype("object")
    table.loc[:, :] = ""
    found = comparison.tests
    found = found[found["significant"].astype("bool")]
    for system, measure, way in zip(found["system"], found["measure"], find_directions(found), strict=True):
        up = way * (direction(parse(measure)) or 1) > 0
        table.loc[system, measure] = BETTER if up else WORSE
    return table


def _rows(comparison: Compared, digits: int, cell: Callable[[str, str, bool, str], str]) -> list[tuple[str, list[str]]]:
    values, best, spread = (comparison.table(column) for column in ("value", "best", "spread"))
    mark = mark_significance(comparison)
    return [
        (
            str(system),
            [
                cell(
                    decimal(float(values.loc[system, m]), digits),
                    "" if pd.isna(spread.loc[system, m]) else decimal(float(spread.loc[system, m]), digits),
                    bool(best.loc[system, m]),
                    str(mark.loc[system, m]),
                )
                for m in values.columns
            ],
        )
        for system in values.index
    ]
