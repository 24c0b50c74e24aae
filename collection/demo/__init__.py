"""The demo: a real, small test collection that every installation can build offline.

Documents are docstrings of the installed Python libraries (:mod:`.documents`), topics are needs of programmers
(``data/demo/topics.jsonl``), and the systems (:mod:`.systems`) really run.
"""

from collection.demo.build import build, is_built

__all__ = ["build", "is_built"]
