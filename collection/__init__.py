"""Build and use test collections for information retrieval: pool, judge, adjudicate, evaluate, compare.

    from collection import evaluate, read_qrels, read_run

    evaluate(read_qrels("qrels.txt"), [read_run("bm25.run")], ["nDCG@10", "AP"]).means()

:class:`Campaign` is a judging campaign on disk; the functions need none. ``dir(collection)`` lists all names.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
