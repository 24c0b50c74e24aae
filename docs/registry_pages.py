"""Sphinx directive that documents the members of a registry: ``{registry} collection.pooling STRATEGIES``."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from collection.documentation import describe_registry


class RegistryDirective(SphinxDirective):
    """``{registry} MODULE NAME`` or, for measures by family, ``{registry} measures``."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the members as Markdown and parse it."""
        return self.parse_text_to_nodes(describe_registry(*self.arguments), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("registry", RegistryDirective)
    return {"parallel_read_safe": True}
