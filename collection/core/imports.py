"""Names of a package that are imported at their first use, since pandas alone takes longer than a small command may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def attributes_at_use(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a package, given the names in each of its modules, separated by blanks."""
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return get
