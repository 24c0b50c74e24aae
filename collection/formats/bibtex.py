"""Records of BibTeX, split by bibtexparser; LaTeX in their fields is decoded by pylatexenc, a command at a time."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from collection.core.errors import FormatError
from collection.core.phrases import count, plural
from collection.formats import columns, source
from collection.formats.source import FilePath

PIECE = 1 << 20
"""Characters that are parsed at a time: whole entries, since bibtexparser needs memory for all it reads."""

TYPE, KEY = "entry type", "citation key"
"""Names of an entry's type and key among its fields; no field of BibTeX has a blank in its name."""

ENTRY = re.compile(r"\s*@\s*\w+\s*[{(]")
"""Begin of an entry."""
_LATEX = re.compile(
    r"""
    \\["'`^~=.]\s*(?:\{\\?[A-Za-z]\}|\\[ij]\b\ ?|[A-Za-z])       # an accent such as \"{u}, \"u, \'\i
    | \\[uvHcdbkrt]\s*\{\\?[A-Za-z]\}                           # \c{c}
    | \\[cvukrH]\ +[A-Za-z]\b                                   # \c c
    | \\[A-Za-z]+\ ?(?:\{\})?                                   # \ss, \alpha, \textit
    | \\[^A-Za-z\s]                                             # \&, \%
    | \\\s                                                     # a blank after a command, or after a full stop
    | ---? | ``|'' | ~
    """,
    re.VERBOSE,
)
_MATH = re.compile(r"(?<!\\)\$(?!\s)([^$]{1,200}?)(?<!\s)\$(?![0-9])")
_BOUNDARY = re.compile(r"[{}\"]|\s+")
"""What encloses or ends a value."""
_HASH = re.compile(r"\s*#")
_NEXT_FIELD = re.compile(r"\s*([A-Za-z][\w+:-]*)\s*=\s*")
_AND = re.compile(r"\s+and\s+(?![^{}]*\})", re.I)
_SIGNS = {
    "\\{": "\0",
    "\\}": "\1",
    "\\textbraceleft": "\0",
    "\\textbraceright": "\1",
    "\\textless": "<",
    "\\textgreater": ">",
    "\\url": "",
    "\\href": "",
    "\\-": "",
    "\\": " ",
    "\\\\": " ",
    "~": " ",
}
"""Signs that pylatexenc leaves out or that stand for a brace, which is put in its place at the end."""


def records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Line and fields of every entry, with LaTeX; other text is skipped, and entries that are broken are counted."""
    strings: dict[str, str] = {}
    doubts = _Doubts()
    read, last = 0, 0
    for begin, text in _pieces(path, what):
        for block in _split(text):
            number = begin + block.start_line
            kind = type(block).__name__
            if kind == "ParsingFailedBlock":
                doubts.broken.append(number)
            if kind == "ImplicitComment":
                doubts.skip(block.comment, last)
            entry = block.ignore_error_block if kind.startswith("Duplicate") else block
            if kind == "String":
                strings[block.key.lower()] = _value(block.value, strings)
            if hasattr(entry, "entry_type"):
                read, last = read + 1, number
                yield number, _record(entry, number, strings, doubts)
    doubts.report(path)
    if not read:
        found = "only entries that are broken" if doubts.broken else "none"
        hint = "check the commas between fields and the closing braces" if doubts.broken else ""
        first = next(iter(doubts.broken), None)
        raise FormatError(path, first, "a BibTeX entry such as '@article{key, title = {...}}'", found, hint)


class _Doubts:
    """Lines of entries that are not as BibTeX wants them."""

    def __init__(self) -> None:
        self.outside = 0
        self.broken: list[int] = []
        self.ended: list[int] = []
        self.joined: list[int] = []
        self.followed: list[int] = []

    def skip(self, text: str, last: int) -> None:
        """Count text outside the entries; `last` is the line of the entry before it."""
        if last and text.lstrip().startswith((",", "}")):
            self.ended.append(last)
        else:  # lines with % are comments by convention
            self.outside += sum(bool(line.strip()) and line[:1] != "%" for line in text.splitlines())

    def report(self, path: FilePath) -> None:
        """Warn of them."""
        if self.outside:
            belong = plural(self.outside, "belongs", "belong")
            between = f"{count(self.outside, 'line')} of text between the BibTeX entries, such as comments"
            source.warn(path, f"{between}, {belong} to no record", self.outside)
        for lines, one, many in (
            (self.broken, "skipped {} that is broken", "skipped {} that are broken"),
            (self.ended, "{} has a closing brace too many, and lost the fields after it",
             "{} have a closing brace too many, and lost the fields after it"),
            (self.joined, "{} lacks a comma between fields, which were read",
             "{} lack commas between fields, which were read"),
            (self.followed, "{} has text after a value, which is left out",
             "{} have text after a value, which is left out"),
        ):  # fmt: skip
            if lines:
                said = (one if len(lines) == 1 else many).format(count(len(lines), "BibTeX entry", "BibTeX entries"))
                source.warn(path, f"{said}, the first in line {lines[0]:,}")


def _pieces(path: FilePath, what: str) -> Iterator[tuple[int, str]]:
    """Line and text of pieces that end before an entry."""
    lines: list[str] = []
    begin = number = 1
    size = 0
    for number, line in source.lines(path, what):
        if size > PIECE and ENTRY.match(line):
            yield begin, "\n".join(lines)
            lines, size, begin = [], 0, number
        lines.append(line)
        size += len(line) + 1
        source.require_size(path, begin, size, "in an entry", "a closing brace may be missing")
    if lines:
        yield begin, "\n".join(lines)


def _split(text: str) -> list[Any]:
    """The blocks of a text as bibtexparser splits them."""
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # it writes about each broken entry
    return list(Splitter(text).split().blocks)


def _record(entry: Any, number: int, strings: Mapping[str, str], doubts: _Doubts) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {TYPE: [entry.entry_type], KEY: [entry.key]}
    joined = followed = False
    for field in entry.fields:
        name, text, at = field.key, field.value.strip(), 0
        while at < len(text):
            end = _value_end(text, at)
            values.setdefault(name.strip().lower(), []).append(_value(text[at:end], strings))
            next_field = _NEXT_FIELD.match(text, end)
            joined |= next_field is not None
            followed |= next_field is None and end < len(text)
            name, at = (next_field[1], next_field.end()) if next_field else ("", len(text))
    doubts.joined += [number] * joined
    doubts.followed += [number] * followed
    return values


def decode_fields(values: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The fields of an entry that :data:`collection.formats.columns.RECORD_TAGS` names, without LaTeX."""
    texts: dict[str, list[str]] = {}
    for field, keys in columns.tagged_fields("bibtex", values).items():
        texts |= {key: [part for text in values[key] for part in _texts(field, text)] for key in keys}
    if "title" in texts and (subtitle := decode(" ".join(values.get("subtitle", [])))):  # of BibLaTeX
        title = texts["title"][0].removesuffix(":")
        texts["title"] = [f"{title}{'' if title.endswith(('?', '!', '.')) else ':'} {subtitle}"]
    return texts


def _texts(field: str, text: str) -> list[str]:
    """The texts of a field of :data:`collection.formats.columns.RECORD_TAGS`, decoded."""
    if field in ("doi", "url", "pmid", "pages", "article number"):
        return [text.replace("\\", "").replace("--", "-").replace("{_}", "_").strip("{}")]
    if field == "authors":
        return [decode(author) for author in _AND.split(text) if author.strip().lower() != "others"]
    if field == "keywords":
        return [decode(word) for word in re.split(";" if ";" in text else ",", text)]
    return [decode(text)]


def _value_end(text: str, begin: int) -> int:
    """Return the end of the value that begins at a place: the end of the text, unless a comma is missing.

    >>> _value_end("{Heat} year = 2019", 0), _value_end('jan # "~1"', 0)
    (6, 10)
    """
    depth, quoted = 0, False
    for match in _BOUNDARY.finditer(text, begin):
        sign = match[0]
        quoted ^= sign == '"' and not depth
        depth += (sign == "{") - (sign == "}")
        if depth or quoted or text[match.start() - 1] == "#" or _HASH.match(text, match.end()):
            continue
        return match.start() if sign.isspace() else match.end()
    return len(text)


def _value(text: str, strings: Mapping[str, str]) -> str:
    """A value without what encloses it; names of strings are replaced, and parts joined."""
    return "".join(
        part[1:-1] if part[:1] in '{"' and len(part) > 1 else strings.get(part.lower(), part) for part in _parts(text)
    )


def _parts(text: str) -> list[str]:
    """The parts of a value that ``#`` joins."""
    if "#" not in text:
        return [text.strip()]
    parts, begin, depth, quoted = [], 0, 0, False
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        quoted ^= sign == '"' and not depth
        if sign == "#" and not depth and not quoted:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]


def decode(text: str) -> str:
    r"""A text without LaTeX: accents, signs and formulas as characters, commands of fonts and braces left out.

    >>> decode(r"{\"U}ber {CO}$_2$ \& \textit{D{\'e}j{\`a} vu}, 5\%")
    'Über CO2 & Déjà vu, 5%'
    """
    if "$" in text:
        text = _MATH.sub(lambda match: _decode_commands(re.sub(r"[_^](?=[{\w\\])", "", match[1])), text)
    text = _decode_commands(text)
    return text.replace("{", "").replace("}", "").replace("\0", "{").replace("\1", "}").strip()


def _decode_commands(text: str) -> str:
    return _LATEX.sub(lambda match: _character(match[0]), text)


@cache
def _latex() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text()


@lru_cache(maxsize=4096)
def _character(command: str) -> str:
    """Return the text that a command stands for; nothing for one that sets a font."""
    name = command.removesuffix("{}").rstrip()
    return _SIGNS[name] if name in _SIGNS else str(_latex().latex_to_text(name)).strip()
