"""Every example in a docstring does what it shows, and every Python example of the README runs."""

from __future__ import annotations

import doctest
import gzip
import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest

import collection
from collection.measures import MEASURES
from tests.helpers import ok

README = (Path(__file__).parents[1] / "README.md").read_text()
MODULES = [m.name for m in pkgutil.walk_packages(collection.__path__, "collection.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # An example adds a measure, which the table would keep for the tests after this one.
    monkeypatch.setattr(MEASURES, "_entries", dict(MEASURES._entries))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:  # of an extra
        pytest.skip(f"{name} needs {error.name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("command", re.findall("<!-- made by: cleverdon (.*) -->", README))
def test_the_readme_shows_the_tables(command: str) -> None:
    assert ok(*command.split()).strip() in README, f"renew it with: cleverdon {command}"


def test_there_are_examples_where_people_start() -> None:
    starts = ["collection.campaign", "collection.store", "collection.measures", "collection.registry"]
    found = {n: doctest.DocTestFinder().find(importlib.import_module(n)) for n in starts}
    assert all(any(test.examples for test in tests) for tests in found.values())


README = (Path(__file__).parents[1] / "README.md").read_text()
FILES = {
    "topics.tsv": "1\tWing flow\n2\tHeat transfer\n3\tBoundary layers\n",
    "bm25.run": "".join(f"{q} Q0 d{d} 0 {9 - d + (q == 2)} bm25\n" for q in (1, 2, 3) for d in (7, 8, 9)),
    "dense.run": "".join(f"{q} Q0 d{d} 0 {d + q * (d == 7)} dense\n" for q in (1, 2, 3) for d in (7, 8, 9)),
    "qrels.txt": "".join(f"{q} 0 d{d} {(d + q) % 3}\n" for q in (1, 2, 3) for d in (7, 8)),
    "labels.csv": "annotator,query_id,doc_id,relevance\n"
    + "".join(
        f"{who},{q},d{d},{(d + q * len(who)) % 4}\n" for who in ("ann", "bobby") for q in (1, 2, 3) for d in (7, 8)
    ),
    "march.csv": "query_id,doc_id,rank,shown,clicked\n"
    + "".join(f"{q},d{d},{d - 6 if q > 1 else 10 - d},100,{40 - 3 * d}\n" for q in (1, 2, 3) for d in (7, 8, 9)),
}


EXAMPLES = [code for code in re.findall(r"```python\n(.*?)```", README, re.S) if not code.startswith("# my_package")]
"""That of a package is installed in another process by ``test_outside_package.py``."""


@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.split("\n")[0])
def test_python_examples_of_the_readme(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    with gzip.open("docs.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"doc_id": f"d{n}", "text": f"flow {n}"}) + "\n" for n in (7, 8, 9))
    exec(compile(code, "README.md", "exec"), {})
