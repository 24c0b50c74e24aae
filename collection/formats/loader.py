"""Registers the collection in this directory with ir_datasets, under the name that collection.json gives it.

    import runpy, ir_datasets
    runpy.run_path("DIRECTORY/load.py")
    dataset = ir_datasets.load("NAME")

It needs ir_datasets and nothing else.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import JsonlDocs, JsonlQueries, TrecQrels
from ir_datasets.util import LocalDownload

HERE = Path(__file__).resolve().parent


class Document(NamedTuple):
    """A document of corpus.jsonl, without its metadata."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """The text to index by default."""
        return f"{self.title} {self.text}".strip()


class Topic(NamedTuple):
    """A topic of topics.jsonl."""

    query_id: str
    title: str
    description: str
    narrative: str

    def default_text(self) -> str:
        """The text to search for by default."""
        return self.title or self.description or self.narrative


class Documents(JsonlDocs):  # type: ignore[misc]
    """The documents; their number is known without building an index."""

    def __init__(self, count: int) -> None:
        fields = {"doc_id": "_id", "title": "title", "text": "text"}
        super().__init__(LocalDownload(HERE / "corpus.jsonl"), Document, fields, count_hint=count)
        self.count = count

    def docs_count(self) -> int:
        """The number given in collection.json."""
        return self.count


class Topics(JsonlQueries):  # type: ignore[misc]
    """The topics and their number."""

    def __init__(self, count: int) -> None:
        super().__init__(LocalDownload(HERE / "topics.jsonl"), Topic)
        self.count = count

    def queries_count(self) -> int:
        """The number given in collection.json."""
        return self.count


def dataset() -> Any:
    """The collection as an ir_datasets dataset: documents if they were exported, topics and qrels."""
    card = json.loads((HERE / "collection.json").read_text(encoding="utf-8"))
    grades = {int(grade): sentence for grade, sentence in card["grades"].items()}
    parts = [Topics(card["topics"]["count"]), TrecQrels(LocalDownload(HERE / "qrels.txt"), grades)]
    if (HERE / "corpus.jsonl").is_file():
        parts.insert(0, Documents(card["documents"]["exported"]))
    built = Dataset(*parts)
    built.directory = HERE
    return built


def register(name: str = "") -> Any:
    """Register the collection under its own or another name if that is new, and return it."""
    name = name or json.loads((HERE / "collection.json").read_text(encoding="utf-8"))["name"]
    if name not in set(ir_datasets.registry):
        ir_datasets.registry.register(name, dataset())
    found = ir_datasets.load(name)
    if getattr(found, "directory", None) != HERE:
        raise RuntimeError(
            f"ir_datasets already has another dataset called {name!r}; call register() with another name"
        )
    return found


if (HERE / "collection.json").is_file():
    register()
