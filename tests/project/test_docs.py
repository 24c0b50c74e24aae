"""Every example in a docstring does what it shows."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import collection
from collection.measures import MEASURES
from tests.helpers import forget_members

MODULES = [m.name for m in pkgutil.walk_packages(collection.__path__, "collection.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forget_members(monkeypatch, MEASURES)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:  # of an extra
        pytest.skip(f"{name} needs {error.name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples_where_people_start() -> None:
    starts = ["collection.campaign", "collection.store", "collection.measures", "collection.core.registry"]
    found = {n: doctest.DocTestFinder().find(importlib.import_module(n)) for n in starts}
    assert all(any(test.examples for test in tests) for tests in found.values())
