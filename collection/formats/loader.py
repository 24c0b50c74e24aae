"""Registers the collection in this directory with ir_datasets, under the name that collection.json gives it.

    import runpy, ir_datasets
    runpy.run_path("DIRECTORY/load.py")
    dataset = ir_datasets.load("NAME")

Where ir_datasets has a dataset of that name itself, this one is "cleverdon/NAME".

It needs ir_datasets and nothing else.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator
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
    """A topic of topics.jsonl; `fields` has its other fields by name."""

    query_id: str
    title: str
    description: str
    narrative: str
    fields: dict[str, Any]

    def default_text(self) -> str:
        """The text to search for by default."""
        return self.title or self.description or self.narrative


class Documents(JsonlDocs):  # type: ignore[misc]
    """The documents; their number is known without building an index."""

    def __init__(self, count: int) -> None:
        fields = {"doc_id": "_id", "title": "title", "text": "text"}
        # The index that ir_datasets builds is not written beside the collection, which would then have a foreign file.
        of = hashlib.sha256((HERE / "collection.json").read_bytes() + str(HERE).encode()).hexdigest()[:16]
        index = ir_datasets.util.home_path() / "cleverdon" / of / "corpus.pklz4"
        index.parent.mkdir(parents=True, exist_ok=True)
        source = LocalDownload(HERE / "corpus.jsonl")
        super().__init__(source, Document, fields, count_hint=count, docstore_path=str(index))
        self.count = count

    def docs_count(self) -> int:
        """The number given in collection.json."""
        return self.count


class Topics(JsonlQueries):  # type: ignore[misc]
    """The topics and their number."""

    def __init__(self, count: int) -> None:
        super().__init__(LocalDownload(HERE / "topics.jsonl"), Topic)
        self.count = count

    def queries_iter(self) -> Iterator[Topic]:
        """The topics in the order of the file."""
        with (HERE / "topics.jsonl").open(encoding="utf-8") as file:
            for record in map(json.loads, file):
                texts = {name: record.pop(name) for name in Topic._fields[:4]}
                # A field that is called "fields" itself is in this member, with all others.
                yield Topic(**texts, fields=record["fields"] if record.keys() == {"fields"} else record)

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
    """Register the collection under its own or another name if that is new, and return it.

    Where ir_datasets has a dataset of its own under that name, the collection is ``cleverdon/NAME``.
    """
    own = json.loads((HERE / "collection.json").read_text(encoding="utf-8"))["name"]
    known = set(ir_datasets.registry)
    if not name and own in known and getattr(ir_datasets.load(own), "directory", None) is None:
        name = f"cleverdon/{own}"
        warnings.warn(f"ir_datasets has a dataset {own!r}; this one is ir_datasets.load({name!r})", stacklevel=2)
    name = name or own
    if name not in known:
        ir_datasets.registry.register(name, dataset())
    found = ir_datasets.load(name)
    if getattr(found, "directory", None) != HERE:
        raise RuntimeError(
            f"ir_datasets already has another dataset called {name!r}; call register() with another name"
        )
    return found


if (HERE / "collection.json").is_file():
    register()
