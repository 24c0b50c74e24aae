"""The text of HTML documents, without markup; nothing is executed or loaded.

The scanner takes linear time, as documents from anywhere require: :class:`html.parser.HTMLParser` searches to the end
of the text again for each tag, comment or quote that never ends. It follows browsers (the WHATWG's tokenisation, and
the default display of elements), except that an unclosed tag or comment stays as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from collection.core.characters import unescaped

_OPENING = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?s:.){0,2000}?-->\s*)?<(?:!doctype\s+html|(?:html|head|body)(?=[\s/>]))", re.I
)
_TAG = re.compile(r"(/?)([a-z][^\s/>]*+)", re.I)
_NAME = re.compile(r"[a-z][a-z0-9:-]*+\Z", re.I)
# The rest of a tag. A quote counts only after "=", and an unclosed one is an ordinary character.
_REST = re.compile(r"""(?>[^>=]++|=\s*+"[^"]*+"|=\s*+'[^']*+'|=)*+>""")
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?+""")
_COMMENT_END = re.compile(r"--!?>")
_BLANKS = re.compile(r"[ \t\n\r\f\0]+")

RAW = frozenset(("script", "style", "iframe", "noembed", "noframes", "title"))
"""Elements in which only their own end tag counts as markup."""
UNSEEN = RAW | {"template", "noscript", "svg", "object", "audio", "video", "canvas", "datalist"}
"""Elements whose content is not shown."""
_WITH_SPACE = """
address article aside blockquote body dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr html main nav ol p
pre section table ul listing
"""
PARAGRAPHS = frozenset(_WITH_SPACE.split())
_OWN_LINE = """
caption center dd details dialog dir div dt figcaption hgroup legend li menu option optgroup search summary tbody
tfoot thead tr
"""
LINES = frozenset(_OWN_LINE.split())
DEEPEST = 8
"""Maximum depth of indented lists, so that a page of nested <ul> does not grow without limit."""


def is_page(text: str) -> bool:
    """Tell whether a text begins like an HTML page.

    >>> is_page("<!DOCTYPE html><p>x"), is_page("<p>x"), is_page("<html> is a tag"), is_page("a < b")
    (True, False, True, False)
    """
    return _OPENING.match(text.removeprefix("\ufeff")[:4000]) is not None


def extract_text(page: str) -> tuple[str, str]:
    r"""Extract the title of a page ("" if it has none), and its text.

    Empty lines separate paragraphs, list items begin with a bullet or their number, ``|`` separates the cells of a row,
    and an image becomes its description in brackets. Scripts, styles, templates and fallback content are left out.

    >>> extract_text("<title>A</title><p>1 &lt; 2<script>x()</script><ul><li>b<li><b>c</b>d</ul>")
    ('A', '1 < 2\n\n• b\n• cd')
    """
    scanner = _Scanner(page)
    scanner.scan()
    return scanner.title, scanner.output.text()


class _Output:
    """The text written so far; blanks and line ends are held back until the next word."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ends = 0
        self._blank = False
        self._before = self._between = ""

    def text(self) -> str:
        return "".join(self._parts)

    def end(self, lines: int) -> None:
        """End a line (1) or a paragraph (2)."""
        self._ends = max(self._ends, lines)
        self._blank = False

    def break_line(self) -> None:
        self._ends = min(self._ends + 1, 2)
        self._blank = False

    def separate_cells(self) -> None:
        self._between = " | "

    def begin_item(self, sign: str) -> None:
        self.end(1)
        self._before = sign

    def words(self, text: str) -> None:
        """Write text with blanks collapsed."""
        flat = _BLANKS.sub(" ", text)
        if flat.startswith(" "):
            self._blank, flat = True, flat[1:]
        if flat:
            ends = flat.endswith(" ")
            self.exact(flat[:-1] if ends else flat)
            self._blank = ends

    def exact(self, text: str) -> None:
        """Write text unchanged, after the blanks and line ends that were held back."""
        if not text:
            return
        if self._parts:
            self._parts.append("\n" * self._ends or self._between or (" " if self._blank else ""))
        self._parts.append(self._before + text)
        self._ends, self._blank, self._before, self._between = 0, False, "", ""


class _Scanner:
    def __init__(self, page: str) -> None:
        self.page = page.removeprefix("\ufeff")
        self.title = ""
        self.output = _Output()
        self._at = 0
        self._pre = 0
        self._fresh_pre = False
        self._last_end = self.page.rfind(">")
        self._lists: list[int | None] = []
        self._cells = 0
        self._unended = False
        """Whether any > ends a tag, because no later tag ends outside of quotes."""
        self._open_comments = False
        self._last: dict[str, int] = {}

    def scan(self) -> None:
        page, begin = self.page, 0
        while 0 <= (at := page.find("<", self._at)) < self._last_end:
            self._at = at + 1
            act = self._markup(at)
            if act is None:
                continue  # this < is text
            self._write(page[begin:at])
            begin = self._at = act()
        self._write(page[begin:])

    def _markup(self, at: int) -> Callable[[], int] | None:
        """The action for the markup at this <, which returns the place to continue; None if it is text."""
        follows = self.page[at + 1 : at + 2]
        if follows in ("!", "?"):
            behind = self._comment_end(at)
            return None if behind is None else partial(int, behind)
        match = _TAG.match(self.page, at + 1)
        if match is None or not _NAME.match(match[2]):
            return None
        end = self._tag_end(match.end())
        if end is None:
            return None
        return partial(self._tag, match[2].lower(), bool(match[1]), match.end(), end)

    def _comment_end(self, at: int) -> int | None:
        if self.page.startswith("<!--", at):
            for empty in ("<!-->", "<!--->"):
                if self.page.startswith(empty, at):
                    return at + len(empty)
            if not self._open_comments and (match := _COMMENT_END.search(self.page, at + 4)):
                return match.end()
            self._open_comments = True
        return self._next_end(at)

    def _tag_end(self, at: int) -> int | None:
        if not self._unended and (match := _REST.match(self.page, at)):
            return match.end()
        self._unended = True
        return self._next_end(at)

    def _next_end(self, at: int) -> int | None:
        return self.page.find(">", at) + 1 if at <= self._last_end else None

    def _tag(self, name: str, closes: bool, begin: int, end: int) -> int:
        self._fresh_pre = False
        # In HTML, a slash does not close <script/>; of these elements it closes only <svg/>.
        if name in UNSEEN and not closes and not (name == "svg" and self.page[end - 2] == "/"):
            return self._unseen(name, end)
        if name == "br":
            self.output.break_line()
        elif name in ("ul", "ol", "menu", "dir"):
            self._list(name, closes, begin, end)
        elif name in ("td", "th") and not closes:
            if self._cells:
                self.output.separate_cells()
            self._cells += 1
        elif name in PARAGRAPHS or name in LINES:
            self._block(name, closes, begin, end)
        elif name == "img" and not closes:
            if words := _flat(self._attributes(begin, end).get("alt", "")):
                self.output.words(f"[{words}]")
        elif name == "q":
            self.output.words("”" if closes else "“")
        return end

    def _unseen(self, name: str, end: int) -> int:
        """The place after an element that is not shown; an unclosed script or style hides the rest of the page."""
        if name not in self._last:
            ends = [match.start() for match in re.finditer(rf"</{name}(?=[\s/>])", self.page, re.I)]
            self._last[name] = ends[-1] if ends else -1
        if self._last[name] < end:
            return len(self.page) if name in ("script", "style") else end
        depth, at = 1, end
        closed = r"(?![^<>]*+(?<=/)>)" if name == "svg" else ""
        for match in re.compile(rf"<(?:(/){name}(?=[\s/>])|{name}(?=[\s/>]){closed})", re.I).finditer(self.page, end):
            if match[1]:
                depth -= 1
            elif name not in RAW:
                depth += 1
            at = match.start()
            if depth == 0:
                break
        if name == "title" and not self.title:
            self.title = _flat(unescaped(self.page[end:at]))
        return self._tag_end(at + len(name) + 2) or len(self.page)

    def _block(self, name: str, closes: bool, begin: int, end: int) -> None:
        if name == "li" and not closes:
            self._item(begin, end)
            return
        self.output.end(2 if name in PARAGRAPHS else 1)
        if name == "tr":
            self._cells = 0
        elif name in ("pre", "listing"):
            self._pre = max(self._pre + (-1 if closes else 1), 0)
            self._fresh_pre = not closes

    def _list(self, name: str, closes: bool, begin: int, end: int) -> None:
        # A nested list begins on the line after its parent item, without an empty line.
        inner = len(self._lists) > (1 if closes else 0)
        self.output.end(1 if inner else 2)
        if closes:
            if self._lists:
                self._lists.pop()
            return
        first = self._attributes(begin, end).get("start", "1") if name == "ol" else ""
        self._lists.append(None if name != "ol" else _number(first, 1) - 1)

    def _item(self, begin: int, end: int) -> None:
        depth, sign = min(max(len(self._lists), 1), DEEPEST), "• "
        if self._lists and (last := self._lists[-1]) is not None:
            number = _number(self._attributes(begin, end).get("value", ""), last + 1)
            self._lists[-1] = number
            sign = f"{number}. "
        self.output.begin_item("  " * (depth - 1) + sign)

    def _attributes(self, begin: int, end: int) -> dict[str, str]:
        return {
            match[1].lower(): unescaped(match[2] or match[3] or match[4] or "")
            for match in _ATTRIBUTE.finditer(self.page, begin, end)
        }

    def _write(self, raw: str) -> None:
        text = unescaped(raw)
        if not self._pre:
            self.output.words(text)
            return
        if self._fresh_pre and text:  # a line end directly after <pre> does not count
            text = re.sub(r"\A\r?\n", "", text)
            self._fresh_pre = False
        self.output.exact(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _number(text: str, otherwise: int) -> int:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text.strip()) else otherwise
