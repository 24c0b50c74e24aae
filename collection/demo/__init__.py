"""The demo: a real, small test collection that every installation can build offline.

Documents are docstrings of the installed Python libraries (:mod:`.documents`), topics are needs of programmers, and the
runs are those of the systems in ``data/demo/systems.py``.
"""

from collection.demo.build import build, is_built

__all__ = ["build", "is_built"]
