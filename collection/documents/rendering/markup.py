"""Markdown as safe HTML, and the text that browsers extract from it."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_ADDRESS = re.compile(r"(?:https?://|mailto:)\S+\Z", re.I)
_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAG = re.compile(r"<[^>]*+>")
_TOP = 3
"""Level of the highest heading; the levels above it belong to the page."""


def to_html(text: str) -> str:
    r"""Convert CommonMark with tables to sanitised HTML.

    HTML in the text is shown as text, and an image as its description. Links open in a new window and must be ``http``,
    ``https`` or ``mailto``. Headings are two levels lower. Bidirectional controls are removed.

    >>> to_html("# Grades\n<b>*all*</b>")
    '<h3>Grades</h3>\n<p>&lt;b&gt;<em>all</em>&lt;/b&gt;</p>\n'
    >>> to_html("[x](javascript:alert)")
    '<p>[x](javascript:alert)</p>\n'
    """
    return _CONTROLS.sub("", str(_renderer().render(text)))  # afterwards, since entities can encode controls too


def render(text: str) -> tuple[str, str]:
    r"""Convert as :func:`to_html`, but keep bidirectional controls; also return the ``textContent``, for offsets.

    >>> render("1 < *2*\n\n- a\n- b")
    ('<p>1 &lt; <em>2</em></p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n', '1 < 2\n\na\nb\n\n')
    """
    # Browsers read a carriage return in HTML as a line end; the renderer keeps those from entities.
    markup = str(_renderer().render(text)).replace("\r\n", "\n").replace("\r", "\n")
    return markup, html.unescape(_TAG.sub("", markup))


@lru_cache(1)
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def picture(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return escapeHtml(tokens[at].content)

    def link(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        tokens[at].attrSet("target", "_blank")
        tokens[at].attrSet("rel", "noopener noreferrer")
        return self.renderToken(tokens, at, options, env)

    def heading(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        lower = tokens[at].copy(tag=f"h{min(int(tokens[at].tag[1:]) + _TOP - 1, 6)}")
        before = tokens[at - 1 : at] if at else []  # rendering looks only at the neighbours
        return self.renderToken([*before, lower, *tokens[at + 1 : at + 2]], len(before), options, env)

    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    renderer.validateLink = lambda url: _ADDRESS.match(url) is not None  # type: ignore[method-assign]
    for name, rule in {"image": picture, "link_open": link, "heading_open": heading, "heading_close": heading}.items():
        renderer.add_render_rule(name, rule)
    return renderer
