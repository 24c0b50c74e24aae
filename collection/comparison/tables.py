"""Tables for papers (LaTeX, booktabs) and pages (Markdown), with a caption."""

from __future__ import annotations

from collections.abc import Sequence

from collection.core.characters import escaped_markdown, for_terminal, one_line

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
# After the end of a row LaTeX would read these two as its options.
_LATEX |= {"[": "{[}", "*": "{*}"}
# Outside math mode, old font encodings print other characters for these.
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}


def escaped_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(escaped_latex("bm25_k1=0.9 & 100%"))
    bm25\_k1=0.9 \& 100\%
    """
    return "".join(_LATEX.get(character, character) for character in one_line(for_terminal(text)))


def write_latex(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Write a table with booktabs; caption and cells but the first of each row are LaTeX already."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(map(escaped_latex, header)) + r" \\",
        r"\midrule",
        *(" & ".join([escaped_latex(system), *cells]) + r" \\" for system, *cells in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def write_markdown(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Write a pipe table with its caption below; cells but the first of each row are Markdown already."""
    lines = [list(map(escaped_markdown, header)), ["---", *["---:"] * (len(header) - 1)]]
    lines += [[escaped_markdown(system), *cells] for system, *cells in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{escaped_markdown(caption)}"
