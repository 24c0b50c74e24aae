"""Descriptions of the measures for `cleverdon measures` and the reference page."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator

from collection.measures.table import MEASURES, MeasureEntry

ORDER = ("ranked", "sets", "graded", "user_models", "incomplete", "effort", "diversity", "experimental")
"""The modules of measures in the order of the reference; those of other packages come last."""


PARAMETERS = {
    "k": "number of ranks that count",
    "rel": "minimum relevant grade",
    "judged_only": "True removes unjudged documents from the ranking first",
    "max_rel": "highest possible grade; None: the highest of the qrels",
    "documents": "number of documents in the collection, N; None: only those that the run or the qrels name",
    "gains": "gain of single grades, such as {1: 1, 2: 3}; other grades keep theirs",
    "norm": "divisor, R or min(R, k)",
    "dcg": "gain, the grade or 2^grade - 1",
    "strict": "True counts partial support as no support",
    "citations": "which citations of a sentence count, and how",
    "unjudged": "whether unjudged citations are left out, or count as no support",
}
"""What a parameter of several measures means."""

COMMON = {"rel", "judged_only"}
"""Parameters that the introduction of the reference explains."""


def families(entries: Iterable[MeasureEntry] = MEASURES) -> Iterator[tuple[str, list[MeasureEntry]]]:
    """Return headline -> measures. A family is a module; its headline is the first line of its docstring."""
    grouped: dict[str, list[MeasureEntry]] = {}
    for entry in entries:
        module = sys.modules[entry.function.__module__]
        headline = (module.__doc__ or "Other measures").strip().splitlines()[0].rstrip(".")
        grouped.setdefault(headline, []).append(entry)
    own = [(sys.modules[f"collection.measures.{name}"].__doc__ or "").splitlines()[0].rstrip(".") for name in ORDER]
    for headline in sorted(grouped, key=lambda h: own.index(h) if h in own else len(own)):
        yield headline, grouped[headline]


def written(entry: MeasureEntry) -> str:
    """Return the notation of a measure: its name, and ``@k`` or ``@r``, in brackets if optional."""
    if entry.at is None:
        return entry.name
    at = "@k" if entry.at == "cutoff" else "@r"
    return entry.name + (at if entry.needs_at else f"[{at}]")


def parameters(entry: MeasureEntry) -> str:
    """Return every parameter with its default, such as `rel=1, norm='R'`, except the number after ``@``."""
    return ", ".join(
        f"{'k' if name == entry.at else name}={default!r}"
        for name, default in entry.parameters.items()
        if name != entry.at or isinstance(default, int)
    )


def describe(entry: MeasureEntry) -> str:
    """Describe a measure in plain text, with all details of the registry."""
    lines = [f"{written(entry)}  {entry.label}", entry.description, "", entry.formula]
    if entry.notes:
        lines += ["", entry.notes]
    if entry.parameters:
        lines += ["", f"parameters: {parameters(entry)}", *(f"  {line}" for line in _explain(entry, entry.parameters))]
    lines += [f"{name}: {text}" for name, text in _facts(entry)]
    return "\n".join(lines)


def reference(entries: Iterable[MeasureEntry] = MEASURES) -> str:
    """Return measures in Markdown: a table for each family, and a section for each measure."""
    lines: list[str] = []
    for headline, members in families(entries):
        lines += [f"## {headline}", ""]
        lines += ["| measure | what it measures |", "|---|---|"]
        lines += [f"| `{written(entry)}` | {entry.description} |" for entry in members]
        for entry in members:
            title = written(entry).replace("[", r"\[") + (f": {entry.label}" if entry.label != entry.name else "")
            lines += ["", f"### {title}", "", entry.description, "", f"`{entry.formula.rstrip('.')}`", ""]
            lines += [entry.notes, ""] if entry.notes else []
            lines += [f"- Parameters: `{parameters(entry)}`"] if entry.parameters else []
            lines += [f"  - {line}" for line in _explain(entry, set(entry.parameters) - COMMON)]
            lines += [f"- {name.capitalize()}: {text}" for name, text in _facts(entry)]
        lines.append("")
    return "\n".join(lines)


def _explain(entry: MeasureEntry, names: Container[str]) -> Iterator[str]:
    """Return a line for each of these parameters that the notes do not explain."""
    for name in entry.parameters:
        values = " or ".join(map(repr, entry.choices.get(name, ())))
        about = PARAMETERS.get("k" if name == entry.at else name, "")
        if name == "rel" and entry.graded:
            about = "None: graded; a number makes the measure binary with this minimum relevant grade"
        if name in names and name != entry.at and (about or values):
            yield f"{name}: {about}{': ' if about and values else ''}{values}"


def _facts(entry: MeasureEntry) -> Iterator[tuple[str, str]]:
    low, high = (f"{end:g}".replace("inf", "infinity") for end in (entry.lowest, entry.highest))
    yield "range", f"{low} to {high}; over topics: {entry.summary}"
    if entry.inputs:
        yield "needs", entry.inputs
    for tool, how in entry.differs.items():
        yield f"differs from {tool}", how
    if entry.source:
        yield "source", entry.source
