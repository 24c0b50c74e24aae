"""Topics and documents of SMART's collections (Cranfield, CACM, CISI, Medline): ``.I ID``, then sections as ``.W``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from collection.formats import fields
from collection.formats.source import FilePath

BEGIN = re.compile(r"\.I\s+(\S+)\s*$")
"""The first line of a topic or document."""

_SECTION = re.compile(r"\.([A-Z])\s*")
NAMES = {"W": "text", "T": "title"}
"""Section of topics -> its field; others keep their letter."""

DOCUMENT_NAMES = {**NAMES, "A": "author", "B": "source"}


def records(
    path: FilePath, what: str, identity: str, names: Mapping[str, str] = NAMES
) -> Iterator[tuple[int, dict[str, object]]]:
    """Line and fields of each record; `identity` is the field of its id."""
    begin, sections, name = 0, dict[str, list[str]](), ""
    for number, line in fields.data_lines(path, what):
        if match := BEGIN.match(line):
            if begin:
                yield begin, _join(sections)
            begin, sections, name = number, {identity: [match[1]]}, ""
        elif section := _SECTION.fullmatch(line):
            name = names.get(section[1], section[1])
        elif name:
            sections.setdefault(name, []).append(line.strip())
    yield begin, _join(sections)


def _join(sections: Mapping[str, Sequence[str]]) -> dict[str, object]:
    return {name: " ".join(lines) for name, lines in sections.items()}
