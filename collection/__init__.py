"""Build and use test collections for information retrieval: pool, judge, adjudicate, evaluate, compare.

    from collection import evaluate, read_qrels, read_run

    evaluate(read_qrels("qrels.txt"), [read_run("bm25.run")], ["nDCG@10", "AP"]).means()

:class:`Campaign` is a judging campaign on disk; the functions need none. ``dir(collection)`` lists all names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collection.api import (
        adjudicate,
        agreement,
        compare,
        estimate,
        evaluate,
        explain,
        pool,
        read_documents,
        simulate,
    )
    from collection.campaign import Campaign
    from collection.errors import CleverdonError
    from collection.formats import read_labels, read_qrels, read_run, read_topics, to_pyterrier, write_qrels
    from collection.records import Document, GradeScale, Judgement, Run, Topic

__all__ = [
    "Campaign",
    "CleverdonError",
    "Document",
    "GradeScale",
    "Judgement",
    "Run",
    "Topic",
    "adjudicate",
    "agreement",
    "compare",
    "estimate",
    "evaluate",
    "explain",
    "pool",
    "read_documents",
    "read_labels",
    "read_qrels",
    "read_run",
    "read_topics",
    "simulate",
    "to_pyterrier",
    "write_qrels",
]

__version__ = "0.1.0"

_MODULES = {
    **dict.fromkeys(["Document", "GradeScale", "Judgement", "Run", "Topic"], "records"),
    **dict.fromkeys(["read_labels", "read_qrels", "read_run", "read_topics", "to_pyterrier", "write_qrels"], "formats"),
    "Campaign": "campaign",
    "CleverdonError": "errors",
}
"""Where a name is defined; the others are in ``api``."""


def __getattr__(name: str) -> object:
    # At first use, not at import: pandas alone takes longer than `cleverdon --help` may.
    if name in __all__:
        return getattr(import_module(f"collection.{_MODULES.get(name, 'api')}"), name)
    raise AttributeError(f"module 'collection' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
