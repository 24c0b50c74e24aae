"""The demo: a real, small test collection that every installation can build at once and offline.

Documents are the docstrings of the installed Python libraries (:mod:`.documents`), topics are needs
that programmers have (``data/demo/topics.jsonl``), and the systems (:mod:`.systems`) really run.
:func:`build` puts them into a campaign.
"""

from collection.demo.build import build, is_built

__all__ = ["build", "is_built"]
