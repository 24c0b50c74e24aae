"""Cleverdon's library: test collections for retrieval evaluation, from runs to qrels to values.

from collection import Campaign, Judgement
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.records import Document, GradeScale, Judgement, Run, Topic

__all__ = ["Campaign", "Document", "GradeScale", "Judgement", "Run", "Topic"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # At first use, not at import: pandas alone takes longer than `cleverdon --help` may.
    if name == "Campaign":
        from collection.campaign import Campaign

        return Campaign
    if name in __all__:
        from collection import records

        return getattr(records, name)
    raise AttributeError(f"module 'collection' has no attribute {name!r}")
