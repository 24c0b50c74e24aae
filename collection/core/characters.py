r"""Text from files and forms made safe for Markdown, a terminal, or a page, where some characters are commands."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from collection.core.errors import InputError

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of writing (Unicode UAX 9)."""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters (C0 and C1) except tab and line feed, line separators, and lone surrogates."""
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
# html.unescape converts all digits to a number, which Python refuses for thousands of digits.
_HUGE = re.compile(r"&#(?:0*+[0-9]{8,}|x0*+[0-9a-f]{7,});?", re.I)
_ZEROS = re.compile(r"&#(x?)0+(?=[0-9a-f])", re.I)

# An address is linked without brackets too, from "://" and from "www.".
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&!]|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
_BLOCK_START = re.compile(r"[-+=](?=[-+=\s]|\Z)|\d{1,9}[.)](?=\s|\Z)")

_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"`\\|]+", re.IGNORECASE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_NUMERIC_ENTITY = re.compile("&(?=#)")
_BLOCKS = "abstract|br|div|h[1-6]|li|list|list-item|ol|p|sec|section|table|tbody|td|th|thead|title|tr|ul"
_INLINE = (
    "a|b|bold|em|font|i|inline-formula|italic|m[a-z]{1,12}|sc|small|span|strong|sub|sup|tex-math|tt|u|underline|xref"
)
# Elements of HTML, JATS and MathML as databases leave them in titles and abstracts; attributes must be well-formed, so
# that "a<b and c>d" stays.
_ELEMENT = re.compile(
    rf"<(?P<end>/?)(?P<space>(?:jats|mml|ce|xhtml):)?(?P<name>{_BLOCKS}|{_INLINE})"
    r"""(?:\s+[\w:-]+=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*/?>""",
    re.I,
)
_BLOCK = re.compile(_BLOCKS, re.I)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.I)
_OTHER_TARGET = re.compile(r"\]([(:])(?!\s*(?:https?://|mailto:))", re.IGNORECASE)


def without_bidi(text: str) -> str:
    r"""The text without characters that change the direction of writing."""
    return _BIDI.sub("", text)


def one_line(text: str) -> str:
    r"""The text with every run of white space as one blank."""
    return " ".join(text.split())


def natural_key(text: str) -> tuple[list[str | tuple[int, str]], str]:
    """A key that sorts texts with the numbers in them by size.

    >>> sorted(["q10", "q2", "q1"], key=natural_key)
    ['q1', 'q2', 'q10']
    """
    parts = re.split("([0-9]+)", text)
    # Numbers by how many digits they have, then by the digits: int() refuses more than 4,300.
    return [(len(n := part.lstrip("0")), n) if place % 2 else part for place, part in enumerate(parts)], text


def for_terminal(text: str) -> str:
    r"""The text with control characters except line feeds and tabs escaped as in Python, and without bidi characters.

    >>> print(for_terminal("\x1b]0;title\x07run"))
    \x1b]0;title\x07run
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), without_bidi(text))


def escaped_markdown(text: str) -> str:
    r"""The text escaped for one line of Markdown or a table cell, without markup, links, images and raw HTML.

    >>> print(escaped_markdown("![x](http://example.org) BM25"))
    \!\[x\](http\://example.org) BM25
    """
    flat = one_line(_CONTROLS.sub(" ", without_bidi(text)))
    escaped = _MARKDOWN.sub(r"\\\1", flat)
    if start := _BLOCK_START.match(escaped):  # a list, a rule or the underline of a heading
        at = start.end() - 1
        escaped = f"{escaped[:at]}\\{escaped[at:]}"
    return escaped


def markdown_code(text: str) -> str:
    r"""The text as a code span, whatever backticks it has.

    >>> print(markdown_code("majority"), markdown_code("a`b"))
    `majority` ``a`b``
    """
    flat = one_line(_CONTROLS.sub(" ", without_bidi(text)))
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def sanitised_markdown(text: str) -> str:
    r"""Markdown whose raw HTML, images, and links other than ``http``, ``https`` and ``mailto`` become text.

    >>> print(sanitised_markdown("**x** <img src=a> ![y](http://example.org) [z](javascript:a)"))
    **x** &lt;img src=a> !\[y](http://example.org) [z]\(javascript:a)
    """
    clean = _CONTROLS.sub(" ", without_bidi(text.replace("\r\n", "\n").replace("\r", "\n")))
    clean = _NUMERIC_ENTITY.sub("&amp;", clean)  # it could stand for any of these characters
    clean = _TAG.sub("&lt;", clean)
    return _OTHER_TARGET.sub(r"]\\\1", clean.replace("![", r"!\["))


def unescaped(text: str) -> str:
    r"""The text with character references of HTML decoded as browsers do, also those with thousands of digits.

    >>> unescaped("1 &lt; 2 &#0065; &#99999999;")
    '1 < 2 A \ufffd'
    """
    return html.unescape(_HUGE.sub("\ufffd", _ZEROS.sub(r"&#\1", text))) if "&" in text else text


def without_markup(text: str) -> str:
    r"""The text of a title or abstract without elements of HTML, JATS and MathML, with entities decoded.

    Paragraphs become lines. An element counts if it is opened and closed; all other signs stay.

    >>> without_markup("<jats:p>CO<sub>2</sub> &amp;amp; heat, p&lt;.05</jats:p>"), without_markup("a<b and c>d")
    ('CO2 & heat, p<.05', 'a<b and c>d')
    """
    for _ in range(3):  # databases escape what other databases have escaped
        if "<" not in text and "&" not in text:
            break
        text = _ENTITY.sub(lambda match: unescaped(match[0]), _without_elements(text))
    return text


def _without_elements(text: str) -> str:
    absent: dict[bool, set[str]] = {False: set(), True: set()}
    for element in _ELEMENT.finditer(text):
        absent[bool(element["end"])].add(element["name"].lower())
    pairs = (absent[False] & absent[True]) | {"br", "p"}

    def replace(element: re.Match[str]) -> str:
        name = element["name"].lower()
        if name not in pairs and not element["space"]:
            return element[0]
        return "\n" if _BLOCK.fullmatch(name) else ""

    without = _ELEMENT.sub(replace, text)
    return without if without == text else "\n".join(filter(None, map(str.strip, without.split("\n"))))


def is_web_address(text: str) -> bool:
    """Return whether the text is a web address and nothing else.

    >>> is_web_address("https://example.org/wings"), is_web_address("javascript:alert(1)")
    (True, False)
    """
    return _WEB_ADDRESS.fullmatch(text) is not None and text.isprintable()


def writable(text: str) -> str:
    r"""The text with lone surrogates replaced, and without NUL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")


def require_writable(value: object, what: str, error: type[Exception] = InputError) -> None:
    r"""Raise `error` for text in `value`, also in mappings, lists and tuples, with lone surrogates or NUL.

    >>> require_writable({"title": "Wings"}, "setting")
    """
    if isinstance(value, str):
        if match := _UNWRITABLE.search(value):
            name = "a NUL character" if match[0] == "\0" else "half a surrogate pair"
            raise error(
                f"{what}: expected text that can be written as UTF-8, found {name} (\\u{ord(match[0]):04x}) at "
                f"character {match.start() + 1}"
            )
    elif isinstance(value, Mapping):
        require_writable([*value.keys(), *value.values()], what, error)
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for each in value:
            require_writable(each, what, error)
