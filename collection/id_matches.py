"""Comparison of the ids of two sides: runs and qrels, runs and a campaign.

>>> alike = find_alike(["D1", "x"], {loose_key("d1"): "d1"})
>>> describe_alike("bm25", "document", alike, "qrels")
"bm25: 1 document id differs from the qrels only in upper and lower case ('D1', qrels 'd1') and counts as another \
document; write ids alike"
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from collection.core.phrases import count, join, plural

HARDLY_ANY = 0.05
"""Share of matches below which the ids may be those of other things."""

NAMED = 3
"""Ids of each side that a question names."""


DIFFERENCES = 1000
"""Pairs whose difference is looked at."""


def without_invisible(text: str) -> str:
    """The text without control characters and such as zero-width spaces, except white space."""
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc"))


def has_invisible(text: str) -> bool:
    """Tell whether a text has invisible characters, such as zero-width spaces, that are no white space.

    >>> has_invisible("d1"), has_invisible("d1\N{ZERO WIDTH SPACE}")
    (False, True)
    """
    return not text.isprintable() and without_invisible(text) != text


def loose_key(text: str) -> str:
    """A text that is the same for ids that differ only in case, invisible characters or Unicode normalisation.

    >>> loose_key("D\N{LATIN SMALL LETTER E WITH ACUTE}") == loose_key("de\N{COMBINING ACUTE ACCENT} ")
    True
    """
    if text.isascii():
        return text.lower() if text.isprintable() and " " not in text else "".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(without_invisible(folded).split())


def find_alike(ids: Iterable[str], known: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of an id and the other side's id that differs only in writing; `known` has those by their loose key."""
    pairs = ((each, known.get(loose_key(each), each)) for each in ids)
    return [(each, other) for each, other in pairs if each != other]


def describe_alike(what: str, one: str, alike: Sequence[tuple[str, str]], side: str) -> str:
    """Write a note on ids that are alike; `one` is the name of what they identify, `side` of the other side."""
    number, (own, other) = len(alike), alike[0]
    differences = list(dict.fromkeys(_difference(*each) for each in alike[:DIFFERENCES]))
    return (
        f"{what}: {count(number, f'{one} id')} {plural(number, 'differs', 'differ')} from the {side} only in "
        f"{join(differences, 'or')} ({own!r}, {side} {other!r}) and {plural(number, 'counts', 'count')} as "
        f"{plural(number, f'another {one}', f'other {one}s')}; write ids alike"
    )


def ask_for_ids(what: str, found: str, own: Iterable[str], side: str, others: Iterable[str]) -> str:
    """Ask whether the ids match: what was found, and some ids of both sides."""
    return f"{what}: {found}. Do the ids match? {what}: {_some(own)}; {side}: {_some(others)}"


def _some(ids: Iterable[str]) -> str:
    return ", ".join(repr(each) for each, _ in zip(ids, range(NAMED), strict=False)) or "none"


def _difference(one: str, other: str) -> str:
    """Name the differences of two ids with the same loose key."""
    differences = []
    if any(each.isspace() for each in one + other):
        differences.append("white space")
    if has_invisible(one) or has_invisible(other):
        differences.append("invisible characters")
    a, b = (without_invisible("".join(each.split())) for each in (one, other))
    if a != b and a.casefold() != b.casefold():
        differences.append("Unicode normalisation")
        a, b = (unicodedata.normalize("NFKC", each) for each in (a, b))
    if a != b:
        differences.append("upper and lower case")
    return join(differences)
