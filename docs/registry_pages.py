"""Sphinx directive that documents the members of a registry: ``{registry} collection.pooling STRATEGIES``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from collection.measures.catalogue import families, parameters, written
from collection.measures.table import MeasureEntry
from collection.registry import Entry


def measure_texts(entry: MeasureEntry) -> Iterator[str]:
    """A measure's section in Markdown."""
    yield f"(measure-{entry.name.lower()})="
    yield f"### {written(entry).replace('[', chr(92) + '[')}: {entry.label}" if entry.label else f"### {written(entry)}"
    yield entry.description
    yield f"Definition\n: {entry.formula}"
    if entry.notes:
        yield entry.notes
    yield f"Parameters\n: `{parameters(entry)}`"
    for name, values in entry.choices.items():
        yield f"`{name}`\n: one of {', '.join(f'`{value!r}`' for value in values)}"
    low, high = (f"{end:g}".replace("inf", "infinity") for end in (entry.lowest, entry.highest))
    yield f"Range\n: {low} to {high}; summarised over topics by the {entry.summary}"
    if entry.needs:
        yield f"Needs\n: qrels with {entry.needs}"
    for tool, how in entry.differs.items():
        yield f"Differs from {tool}\n: {how}"
    if entry.source:
        yield f"Source\n: {entry.source}"


def entry_texts(entry: Entry[Any]) -> Iterator[str]:
    """The section of any other registry's member in Markdown."""
    yield f"## {entry.label}"
    yield f"`{entry.name}`: {entry.description}"
    for name, text in entry.traits.items():
        if text:
            yield f"{name.capitalize()}\n: {text}"
    for name, default in entry.parameters.items():
        shown = entry.shown(name)
        choices = f"; one of {', '.join(f'`{c}`' for c in entry.choices[name])}" if name in entry.choices else ""
        about = f"{shown.label}{': ' + shown.help if shown.help else ''}"
        yield f"`{name}={default}`\n: {about}{choices}"
    yield from docstring_texts(inspect.getdoc(entry.function) or "")


def docstring_texts(docstring: str) -> Iterator[str]:
    """A docstring's paragraphs in Markdown, without its sections (Parameters, Returns, Examples)."""
    prose = re.split(r"\n\n[A-Z][a-z]+\n-{3,}\n", docstring)[0]
    prose = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", prose).replace("``", "`")
    for paragraph in prose.split("\n\n"):
        yield " ".join(paragraph.split())


class RegistryDirective(SphinxDirective):
    """``{registry} MODULE NAME`` or, for measures by family, ``{registry} measures``."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the members as Markdown and parse it."""
        return self.parse_text_to_nodes("\n\n".join(self.texts()), allow_section_headings=True)

    def texts(self) -> Iterable[str]:
        """The paragraphs of all members."""
        if self.arguments[0] == "measures":
            for headline, entries in families():
                yield f"## {headline}"
                for entry in entries:
                    yield from measure_texts(entry)
            return
        for entry in getattr(import_module(self.arguments[0]), self.arguments[1]):
            yield from entry_texts(entry)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("registry", RegistryDirective)
    return {"parallel_read_safe": True}
