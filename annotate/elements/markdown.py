"""Markdown that somebody wrote, as HTML that can do nothing but be read.

The same text is shown in the judging card and on the Guidelines page, so both get it from here; how it is made harmless
stands in :mod:`collection.documents.rendering.markup`, which does the same for documents.
"""

from __future__ import annotations

from collection.documents.rendering.markup import to_html

__all__ = ["to_html"]
