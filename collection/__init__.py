"""Build and use test collections for information retrieval: pool, judge, adjudicate, evaluate, compare.

    from collection import evaluate, read_qrels, read_run

    evaluate(read_qrels("qrels.txt"), [read_run("bm25.run")], ["nDCG@10", "AP"]).means()

:class:`Campaign` is a judging campaign on disk; the functions need none. ``dir(collection)`` lists all names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.imports import exports_at_use

if TYPE_CHECKING:
    from collection.api import (
        adjudicate,
        agreement,
        assess_reusability,
        compare,
        estimate,
        evaluate,
        explain,
        pool,
        read_documents,
        simulate,
    )
    from collection.campaign import Campaign
    from collection.core.errors import CleverdonError
    from collection.core.records import Document, GradeScale, Judgement, Run, Topic
    from collection.formats import read_labels, read_qrels, read_run, read_topics, to_pyterrier, write_qrels

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = exports_at_use(__name__, __file__)
