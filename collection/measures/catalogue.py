"""The table of measures as people read it: the README's section and `cleverdon measures` are made of this."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from collection.measures.table import MEASURES, MeasureEntry

ORDER = ("ranked", "sets", "graded", "incomplete", "effort", "diversity", "experimental")
"""The modules of measures in the order in which people read of them; other packages' come after."""


def families() -> Iterator[tuple[str, list[MeasureEntry]]]:
    """Headline -> its measures. A family is a module; its headline is the first line of its docstring."""
    grouped: dict[str, list[MeasureEntry]] = {}
    for entry in MEASURES:
        module = sys.modules[entry.function.__module__]
        headline = (module.__doc__ or "Other measures").strip().splitlines()[0].rstrip(".")
        grouped.setdefault(headline, []).append(entry)
    own = [(sys.modules[f"collection.measures.{name}"].__doc__ or "").splitlines()[0].rstrip(".") for name in ORDER]
    for headline in sorted(grouped, key=lambda h: own.index(h) if h in own else len(own)):
        yield headline, grouped[headline]


def written(entry: MeasureEntry) -> str:
    """How the measure is written: its name, and ``@k`` or ``@r``, in brackets where it may be left out."""
    if entry.at is None:
        return entry.name
    at = "@k" if entry.at == "cutoff" else "@r"
    return entry.name + (at if entry.needs_at else f"[{at}]")


def parameters(entry: MeasureEntry) -> str:
    """`rel=1, norm='R'`: every parameter with its default, but for what stands behind ``@``."""
    return ", ".join(
        f"{'k' if name == entry.at else name}={default!r}"
        for name, default in entry.parameters.items()
        if name != entry.at or isinstance(default, int)
    )


def markdown() -> str:
    """All measures as tables in Markdown, one a family."""
    lines: list[str] = []
    for headline, entries in families():
        lines += [f"**{headline}**", "", "| measure | what it says | parameters |", "|---|---|---|"]
        for entry in entries:
            own = parameters(entry).removesuffix("judged_only=False").rstrip(", ")
            lines.append(f"| `{written(entry)}` | {entry.description} | {f'`{own}`' if own else ''} |")
        lines.append("")
    return "\n".join(lines)


def describe(entry: MeasureEntry) -> str:
    """Everything that the table says of a measure."""
    top, bottom = (f"{end:g}".replace("inf", "infinity") for end in (entry.highest, entry.lowest))
    lines = [f"{written(entry)}  {entry.label}", entry.description, "", entry.formula]
    if entry.notes:
        lines += ["", entry.notes]
    lines += ["", f"parameters: {parameters(entry)}"]
    for name, values in entry.choices.items():
        lines.append(f"  {name}: one of {', '.join(map(repr, values))}")
    lines.append(f"range: {bottom} to {top}; over topics: {entry.summary}")
    if entry.needs:
        lines.append(f"needs qrels with {entry.needs}")
    lines += [f"differs from {tool}: {how}" for tool, how in entry.differs.items()]
    if entry.source:
        lines.append(f"source: {entry.source}")
    return "\n".join(lines)
