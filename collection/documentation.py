"""The documentation as plain Markdown, readable without a network: `cleverdon docs` and the app show its pages.

A page is a file of Markdown or a notebook with its outputs, which is read as Markdown here.
"""

from __future__ import annotations

import base64
import inspect
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collection.core.characters import escaped_markdown
from collection.core.errors import require_known

if TYPE_CHECKING:
    from collection.core.registry import Entry

_PACKAGED, _CHECKOUT = Path(__file__).with_name("docs"), Path(__file__).parents[1] / "docs"

START = "index"
"""The page that lists the others."""

_INVISIBLE = re.compile(r"^<!--.*-->\n", re.M)
_LISTED = re.compile(r"^- \[.+\]\((.+)\.(?:md|ipynb)\)$", re.M)
PICTURE = "image/png"
"""Type of the pictures in notebooks."""


_KINDS = ("pool", "sample", "adaptive")
"""The order of pooling strategies."""


def folder() -> Path:
    """The directory of the documentation: inside the package in a wheel, beside it in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@cache
def list_pages() -> dict[str, str]:
    """The title of every page by its name, such as ``how-to/stop-judging``, in the order of the start page."""
    listed = [START, *_LISTED.findall((folder() / f"{START}.md").read_text("utf-8"))]
    names = [name.rpartition(".")[0] for name in (*_files("md"), *_files("ipynb"))]
    names.sort(key=lambda name: listed.index(name) if name in listed else len(listed))
    titles = (re.search(r"^# (.+)$", _markdown(name), re.M) for name in names)
    return {name: title[1] if title else name for name, title in zip(names, titles, strict=True)}


@cache
def list_pictures() -> list[str]:
    """The pictures of the pages, such as ``images/judging.png``; those in notebooks by :func:`_picture_name`."""
    notebooks = [(name, json.loads((folder() / name).read_text("utf-8"))) for name in _files("ipynb")]
    inside = [
        _picture_name(name.removesuffix(".ipynb"), number)
        for name, notebook in notebooks
        for number, _ in enumerate(_outputs_with_pictures(notebook), 1)
    ]
    return _files("png") + _files("svg") + inside


def read_picture(name: str) -> bytes:
    """The content of a picture in a notebook, by its name in :func:`list_pictures`."""
    page, _, number = name.removesuffix(".png").rpartition("-")
    notebook = json.loads((folder() / f"{page}.ipynb").read_text("utf-8"))
    return base64.b64decode(_outputs_with_pictures(notebook)[int(number) - 1]["data"][PICTURE])


def _picture_name(page: str, number: int) -> str:
    """The name of a picture in a notebook, such as ``tutorials/evaluate-and-compare-1.png``."""
    return f"{page}-{number}.png"


def _outputs_with_pictures(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output for output in outputs if PICTURE in output.get("data", {})]


def _files(ending: str) -> list[str]:
    """The files of the documentation, without the example files, Sphinx's ``_build``, and hidden files as Jupyter's."""
    names = sorted(file.relative_to(folder()).as_posix() for file in folder().rglob(f"*.{ending}"))
    return [name for name in names if not name.startswith(("_", "examples/", ".")) and "/." not in name]


def read_page(name: str, *, rich: bool = False) -> str:
    """The Markdown of a page, without comments.

    Parameters
    ----------
    rich
        Whether outputs of notebooks become tables and pictures, instead of text for a terminal.

    Raises
    ------
    UnknownNameError
        There is no such page.
    """
    pages = list_pages()
    require_known("documentation page", pages, name)
    return _INVISIBLE.sub("", _markdown(name, rich=rich))


def _markdown(name: str, *, rich: bool = False) -> str:
    file = folder() / f"{name}.md"
    if file.is_file():
        return file.read_text("utf-8")
    notebook = json.loads(file.with_suffix(".ipynb").read_text("utf-8"))
    if not rich:
        return notebook_as_markdown(notebook)
    return notebook_as_markdown(notebook, lambda number, _: Path(_picture_name(name, number)).name)


def notebook_as_markdown(notebook: dict[str, Any], picture: Callable[[int, str], str] | None = None) -> str:
    """Write a notebook as Markdown.

    Parameters
    ----------
    notebook
        The JSON of the notebook, format 4. A code cell with a picture has its description as ``alt`` in its metadata.
    picture
        Returns the address of a picture, given its number from 1 and its content in base64; None: outputs become text.
    """
    parts, pictures = [], 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
            alt = cell["metadata"].get("alt", "")
            pictures += PICTURE in data
            if PICTURE in data:
                parts.append(f"![{alt}]({picture(pictures, data[PICTURE])})" if picture else f"[Chart: {alt}]")
            elif picture and "text/html" in data:
                parts.append(_HtmlOutput(data["text/html"]).markdown)
            else:
                text = data.get("text/plain", "".join(output.get("text", "")))
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


class _HtmlOutput(HTMLParser):
    """The HTML of a frame or a result: paragraphs and tables; `markdown` has them as Markdown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._blocks: list[str] = []
        self._rows: list[list[str]] = []
        self._heads = 0
        """Number of rows of the table's head."""
        self._text: str | None = None
        self._width = 1
        """Number of columns of the cell."""
        self.feed(html)
        self.markdown = "\n\n".join(self._blocks)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row, or a text."""
        if tag == "table":
            self._rows, self._heads = [], 0
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td", "p"):
            self._text = ""
            self._width = int(dict(attrs).get("colspan") or 1)

    def handle_data(self, data: str) -> None:
        """Add to a text."""
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        """End a text, the head of a table, or a table."""
        if tag == "p":
            self._blocks.append(escaped_markdown(self._text or ""))
        elif tag in ("th", "td"):
            self._rows[-1] += [escaped_markdown(self._text or "")] * self._width
        elif tag == "thead":
            self._heads = len(self._rows)
        elif tag == "table":
            self._blocks.append(self._table())
        if tag in ("th", "td", "p"):
            self._text = None

    def _table(self) -> str:
        # pandas writes the name of the index in the last row of the head, below the names of the columns.
        index, *columns = zip(*self._rows[: self._heads], strict=True)
        head = [index[-1], *(", ".join(filter(None, column)) for column in columns)]
        rows = [head, ["---", *(["--:"] * (len(head) - 1))], *self._rows[self._heads :]]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def describe_registry(module: str, name: str) -> str:
    """The members of a registry in Markdown, measures by family."""
    from collection.measures import MeasureEntry
    from collection.measures.catalogue import reference

    members = list(getattr(import_module(module), name))
    if isinstance(members[0], MeasureEntry):
        return reference(members)
    entries = sorted(members, key=lambda e: _KINDS.index(e.traits.get("kind", _KINDS[0])))
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
