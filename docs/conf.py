"""Configuration of the documentation: ``make docs`` builds it without the network, and any warning fails the build."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

from collection import __version__
from collection.documentation import PICTURE, notebook_as_markdown

ROOT = Path(__file__).parents[1]
ADDRESSES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"]["custom"]

project = "Cleverdon"
release = version = __version__
author = "The Cleverdon authors"
copyright = "The Cleverdon authors"

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_build", "examples", ".*", "**/.*"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = "$ "
smartquotes = False  # it would turn the -- of options in the command-line reference into a dash

html_theme = "pydata_sphinx_theme"
html_title = "Cleverdon"
html_baseurl = ADDRESSES["documentation"]
html_show_sourcelink = False
html_theme_options = {
    "icon_links": [
        {"name": "Repository", "url": url, "icon": "fa-solid fa-code"} for url in [ADDRESSES["repository"]] if url
    ],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_center": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": ["pages.html"]}
templates_path = ["_templates"]

CONTENTS = re.compile(r"<!-- contents -->\n(?:\*\*(.+)\*\*\n\n)?((?:- \[.+\]\(.+\.(?:md|ipynb)\)\n?)+)")
"""A list of pages, with its heading."""


class NotebookParser(MystParser):
    """Parser of notebooks, with the outputs that they have: nothing is executed."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a notebook as Markdown that contains its pictures."""
        notebook = json.loads(inputstring)
        super().parse(notebook_as_markdown(notebook, lambda _, data: f"data:{PICTURE};base64,{data}"), document)


def setup(app: Sphinx) -> None:
    """Read notebooks, and make lists of pages, which are plain Markdown, the table of contents that Sphinx needs."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("source-read", lambda _app, _page, source: source.append(CONTENTS.sub(_toctree, source.pop())))


def _toctree(found: re.Match[str]) -> str:
    caption = f":caption: {found[1]}\n" if found[1] else ""
    pages = re.findall(r"\((.+)\.(?:md|ipynb)\)", found[2])
    return "\n".join(["```{toctree}", f":maxdepth: 1\n{caption}", *pages, "```\n"])
