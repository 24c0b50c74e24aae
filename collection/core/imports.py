"""Names of a package that are imported at their first use, since pandas alone takes longer than a small command may."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def exports_at_use(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose source is `file`.

    Its exports are what it imports under ``if TYPE_CHECKING``, so that they are named once, as in a stub.
    """
    statements = ast.parse(Path(file).read_text(encoding="utf-8")).body
    imports = [each for node in statements if isinstance(node, ast.If) for each in node.body]
    origins = [each for each in imports if isinstance(each, ast.ImportFrom)]
    module_of = {alias.name: str(each.module) for each in origins for alias in each.names}
    names = sorted(module_of)

    def get(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module_of[name]), name)

    return get, lambda: names, names
