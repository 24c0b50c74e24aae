"""Configuration of the documentation: ``make docs`` builds it without the network, and any warning fails the build."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from collection import __version__

project = "Cleverdon"
release = version = __version__
author = "The Cleverdon authors"
copyright = "The Cleverdon authors"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "examples"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = "$ "
smartquotes = False  # it would turn the -- of options in the command-line reference into a dash

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "Cleverdon"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_center": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": ["pages.html"]}
templates_path = ["_templates"]
