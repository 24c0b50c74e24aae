"""The documentation as plain Markdown, readable without a network: `cleverdon docs` and the app show its pages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collection.core.errors import require_known

if TYPE_CHECKING:
    from collection.core.registry import Entry

_PACKAGED, _CHECKOUT = Path(__file__).with_name("docs"), Path(__file__).parents[1] / "docs"

START = "index"
"""The page that lists the others."""

_INVISIBLE = re.compile(r"^<!--.*-->\n", re.M)
_LISTED = re.compile(r"^- \[.+\]\((.+)\.md\)$", re.M)


_KINDS = ("pool", "sample", "adaptive")
"""The order of pooling strategies."""


def folder() -> Path:
    """The directory of the documentation: inside the package in a wheel, beside it in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@cache
def list_pages() -> dict[str, str]:
    """The title of every page by its name, such as ``how-to/stop-judging``, in the order of the start page."""
    listed = [START, *_LISTED.findall((folder() / f"{START}.md").read_text("utf-8"))]
    names = [name.removesuffix(".md") for name in _files("md")]
    names.sort(key=lambda name: listed.index(name) if name in listed else len(listed))
    titles = (re.search(r"^# (.+)$", (folder() / f"{name}.md").read_text("utf-8"), re.M) for name in names)
    return {name: title[1] if title else name for name, title in zip(names, titles, strict=True)}


@cache
def list_pictures() -> list[str]:
    """The pictures of the pages, such as ``images/judging.png``."""
    return _files("png") + _files("svg")


def _files(ending: str) -> list[str]:
    """The files of the documentation, without the example files and what Sphinx builds in ``_build``."""
    names = sorted(file.relative_to(folder()).as_posix() for file in folder().rglob(f"*.{ending}"))
    return [name for name in names if not name.startswith(("_", "examples/"))]


def read_page(name: str) -> str:
    """The Markdown of a page, without comments.

    Raises
    ------
    UnknownNameError
        There is no such page.
    """
    pages = list_pages()
    require_known("documentation page", pages, name)
    return _INVISIBLE.sub("", (folder() / f"{name}.md").read_text("utf-8"))


def describe_registry(module: str, name: str = "") -> str:
    """The members of a registry in Markdown; "measures" stands for the measures, by family."""
    if module == "measures":
        return import_module("collection.measures.catalogue").reference()
    entries = sorted(getattr(import_module(module), name), key=lambda e: _KINDS.index(e.traits.get("kind", _KINDS[0])))
    lines = ["| name | what it does |", "|---|---|", *(f"| `{e.name}` | {e.description} |" for e in entries)]
    for entry in entries:
        lines += ["", f"## {entry.label} (`{entry.name}`)", "", *_describe(entry)]
    return "\n".join(lines)


def as_markdown(docstring: str) -> str:
    """References and code of a docstring in Markdown."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", docstring).replace("``", "`")


def _describe(entry: Entry[Any]) -> Iterator[str]:
    """A member's docstring, parameters, traits and source, but for the sections of the docstring."""
    prose = re.split(r"\n\n[A-Z][a-z]+\n-{3,}\n", inspect.getdoc(entry.function) or "")[0]
    text, _, source = as_markdown(prose).partition("Source:")
    for paragraph in text.strip().split("\n\n"):
        yield from (" ".join(paragraph.split()), "")
    for name, default in entry.parameters.items():
        shown = entry.shown(name)
        choices = f" One of {', '.join(f'`{c}`' for c in entry.choices[name])}." if name in entry.choices else ""
        given = "required" if default in ("", inspect.Parameter.empty) else f"default {default}"
        yield f"- Parameter `{name}` ({given}): {shown.help or shown.label + '.'}{choices}"
    yield from (f"- {name.capitalize()}: {text}" for name, text in entry.traits.items() if text)
    if source:
        yield f"- Source: {' '.join(source.split())}"
