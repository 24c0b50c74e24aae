"""Records of BibTeX, split by bibtexparser; LaTeX in their fields is decoded by pylatexenc, a command at a time."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from collection.errors import FormatError
from collection.formats import source
from collection.formats.source import FilePath
from collection.phrases import count

PIECE = 1 << 20
"""Characters that are parsed at a time: whole entries, since bibtexparser needs memory for all it reads."""

ENTRY = re.compile(r"\s*@\s*\w+\s*[{(]")
"""Begin of an entry."""
_KEYS = {
    "title": ("title", "booktitle"),
    "abstract": ("abstract",),
    "authors": ("author", "editor"),
    "year": ("year", "date"),
    "journal": ("journal", "journaltitle", "booktitle", "series"),
    "pages": ("pages", "articleno", "eid"),
    "doi": ("doi",),
    "pmid": ("pmid",),
    "keywords": ("keywords", "author_keywords", "keyword", "key words", "mendeley-tags"),
    "url": ("url", "link"),
}
"""Field -> its names in entries of databases and reference managers."""

_LATEX = re.compile(
    r"""
    \\["'`^~=.]\s*(?:\{\\?[A-Za-z]\}|\\[ij]\b\ ?|[A-Za-z])       # an accent such as \"{u}, \"u, \'\i
    | \\[uvHcdbkrt]\s*\{\\?[A-Za-z]\}                           # \c{c}
    | \\[cvukrH]\ +[A-Za-z]\b                                   # \c c
    | \\[A-Za-z]+\ ?(?:\{\})?                                   # \ss, \alpha, \textit
    | \\[^A-Za-z\s]                                             # \&, \%
    | ---? | ``|''
    """,
    re.VERBOSE,
)
_MATH = re.compile(r"(?<!\\)\$(?!\s)([^$]{1,200}?)(?<!\s)\$(?![0-9])")
_AND = re.compile(r"\s+and\s+(?![^{}]*\})", re.I)
_SIGNS = {"\\{": "\0", "\\}": "\1", "\\textless": "<", "\\textgreater": ">", "\\url": "", "\\href": ""}
"""Commands that pylatexenc leaves out or that stand for a brace, which is put in its place at the end."""


def records(path: FilePath, what: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Line and fields of every entry; other text is skipped, and entries that are broken are counted."""
    strings: dict[str, str] = {}
    read, outside, broken = 0, 0, [0, 0]
    for begin, text in _pieces(path, what):
        for block in _split(text):
            number = begin + block.start_line
            kind = type(block).__name__
            if kind == "ParsingFailedBlock":
                broken = [broken[0] + 1, broken[1] or number]
            if kind == "ImplicitComment":  # lines with % are comments by convention
                outside += sum(bool(line.strip()) and line[:1] != "%" for line in block.comment.splitlines())
            entry = block.ignore_error_block if kind.startswith("Duplicate") else block
            if kind == "String":
                strings[block.key.lower()] = _value(block.value, strings)
            if hasattr(entry, "entry_type"):
                read += 1
                yield number, _record(entry, strings)
    if outside:
        source.warn(path, f"skipped {count(outside, 'line')} of text outside the BibTeX entries")
    if broken[0]:
        some = "entry that is" if broken[0] == 1 else "entries that are"
        source.warn(path, f"skipped {broken[0]:,} BibTeX {some} broken, the first in line {broken[1]:,}")
    if not read:
        raise FormatError(path, broken[1] or None, "a BibTeX entry such as '@article{key, title = {...}}'", "none")


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
        if size > source.LONGEST_LINE:
            wanted = f"at most {source.LONGEST_LINE >> 20:,} MiB in an entry"
            raise FormatError(path, begin, wanted, "more", "a closing brace may be missing")
    if lines:
        yield begin, "\n".join(lines)


def _split(text: str) -> list[Any]:
    """The blocks of a text as bibtexparser splits them."""
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # it writes about each broken entry
    return list(Splitter(text).split().blocks)


def _record(entry: Any, strings: Mapping[str, str]) -> Mapping[str, object]:
    values: dict[str, str] = {}
    for field in entry.fields:
        values.setdefault(field.key.lower(), _value(field.value, strings))
    found: dict[str, object] = {}
    for name, keys in _KEYS.items():
        text = next((values[key] for key in keys if values.get(key, "").strip()), "")
        is_code = name in ("doi", "url", "pmid", "pages")
        found[name] = (
            [text.replace("\\", "").replace("--", "-").replace("{_}", "_").strip("{}")] if is_code else [decode(text)]
        )
        if name == "authors":
            found[name] = [decode(author) for author in _AND.split(text) if author.strip().lower() != "others"]
        elif name == "keywords":
            found[name] = [decode(word) for word in re.split(";" if ";" in text else ",", text)]
    return found


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
        text = _MATH.sub(lambda found: _decode_commands(re.sub(r"[_^](?=[{\w\\])", "", found[1])), text)
    text = _decode_commands(text)
    return text.replace("{", "").replace("}", "").replace("\0", "{").replace("\1", "}").strip()


def _decode_commands(text: str) -> str:
    return _LATEX.sub(lambda found: _character(found[0]), text)


@cache
def _latex() -> Any:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text()


@lru_cache(maxsize=4096)
def _character(command: str) -> str:
    """What one command stands for; nothing for one that sets a font."""
    name = command.removesuffix("{}").rstrip()
    return _SIGNS[name] if name in _SIGNS else str(_latex().latex_to_text(name)).strip()
