"""Build hook: a wheel carries data/demo and docs inside the package; an editable install reads them where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DemoData(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``data/demo`` as ``collection/demo/data`` and ``docs`` as ``collection/docs`` to standard wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Only for a standard wheel: an editable one would copy the data beside the real package."""
        if version == "standard":
            docs = [path.name for path in Path(self.root, "docs").iterdir() if not path.name.startswith("_")]  # _build
            data = [path.name for path in Path(self.root, "data", "demo").iterdir() if path.suffix != ".py"]
            build_data["force_include"] |= {f"data/demo/{name}": f"collection/demo/data/{name}" for name in data}
            build_data["force_include"] |= {f"docs/{name}": f"collection/docs/{name}" for name in docs}
