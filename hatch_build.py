"""Build hooks: addresses of the project in its metadata; the demo's data and the documentation inside a wheel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r'(\]\(|(?:href|src|srcset)=")(?![a-z]+:|#|/)([^)"\s]+)')
"""A link or picture of the README that is relative to the repository."""

HIDDEN = re.compile(r"(^|/)[._]|^[^/]+\.py$")
"""Scripts of the documentation, and what Sphinx, Python and Jupyter read and build."""

PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")


class Addresses(MetadataHookInterface):
    """Writes the README and the addresses that pyproject.toml gives, if any, into the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add ``urls``, and make relative links of the README absolute, which a package index could not follow."""
        readme = Path(self.root, "README.md").read_text("utf-8")
        urls = {"Documentation": self.config["documentation"]} if self.config["documentation"] else {}
        if repository := self.config["repository"].rstrip("/"):
            version = f"v{metadata['version']}"
            urls |= {
                "Repository": repository,
                "Issues": f"{repository}/issues",
                "Changes": f"{repository}/blob/{version}/CHANGELOG.md",
            }
            readme = LINK.sub(lambda link: _absolute(link, f"{repository}/{{}}/{version}"), readme)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        metadata["urls"] = urls


def _absolute(link: re.Match[str], base: str) -> str:
    """The link with the address of the file itself if it is a picture, of its page otherwise."""
    return f"{link[1]}{base.format('raw' if link[2].endswith(PICTURES) else 'blob')}/{link[2]}"


class PackagedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``data/demo`` as ``collection/demo/data`` and ``docs`` as ``collection/docs`` to standard wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Only for a standard wheel: an editable one would copy the data beside the real package."""
        if version == "standard":
            for source, target in (("data/demo", "collection/demo/data"), ("docs", "collection/docs")):
                folder = Path(self.root, source)
                names = sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())
                build_data["force_include"] |= {f"{source}/{n}": f"{target}/{n}" for n in names if not HIDDEN.search(n)}
