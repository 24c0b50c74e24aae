"""The passages of a long document that match a topic."""

from __future__ import annotations

import re
import unicodedata

from collection.documents.rendering.topic_terms import Hit, hits, is_unspaced

SATURATION = 1.2
"""k1 of BM25."""
PER_WORD = 6
"""Average characters of a word and the blank after it, in most scripts."""
PER_WORD_UNSPACED = 2
"""Average characters of a word in scripts without blanks between words."""

_PARAGRAPH = r"\n[^\S\n]*+\n\s*+"
_SENTENCE = r"(?<=\s)[.!?]\s++|[.!?…]++[\"'”’»)\]]*+\s++(?![a-z])|[。！？｡．]++[”’」』）】]*+\s*+"
_ENDS = (re.compile(f"{_PARAGRAPH}|{_SENTENCE}"), re.compile(r"\n\s*+"), re.compile(r"\s++"))
"""Places where a passage may end, best first."""


_OFTEN = 4
"""Occurrences of a term that count in a passage; the next would add a twentieth of the first one's weight."""
_ADDED = [0.0] + [
    n * (SATURATION + 1) / (n + SATURATION) - (n - 1) * (SATURATION + 1) / (n - 1 + SATURATION)
    for n in range(1, _OFTEN + 3)
]
"""Weights of the first, second, ... occurrence of a term in a passage."""


def excerpts(text: str, terms: list[str], most: int = 4, length: int = 120) -> list[tuple[int, int]]:
    """Find the passages of a document that match a topic best, and its beginning.

    A passage is a window at any place (Kaszkiewicz & Zobel 1997), scored by the topic's terms in it with BM25's
    saturation. The best passages without overlap are chosen. They end at a sentence, paragraph, line or blank, and
    never within a grapheme. The beginning is a third as long, or as long as a passage if no term occurs: summaries with
    both leading sentences and query words let people judge faster and more accurately (Tombros & Sanderson 1998,
    Advantages of query biased summaries in information retrieval).

    `most` is the maximum number of passages, including the beginning; `length` is their approximate number of words.
    Returns [start, end) in code points, in reading order.

    >>> text = "The wing. " + "It rains. " * 40 + "Heat in the wing. " + "It rains. " * 40
    >>> [text[a:b] for a, b in excerpts(text, ["wing", "heat"], length=6)]
    ['The wing.', 'It rains. Heat in the wing. It rains.']
    """
    size = length * (PER_WORD_UNSPACED if is_unspaced(text[:2000]) else PER_WORD)
    if len(text) <= size:
        return _trimmed(text, [(0, len(text))])
    all_hits = hits(text, terms, size // _OFTEN)
    first_word = len(text) - len(text.lstrip())
    if not all_hits:
        return _trimmed(text, [(0, _end(text, first_word + size, first_word + size // 2, size // 2))])
    lead = _end(text, first_word + max(size // 3, 1), first_word + size // 6, size // 4)
    matching = _matching(text, all_hits, size, most - 1, lead)
    passages = _merged([(0, lead), *matching], size // 5)
    return _trimmed(text, passages)


def best_passages(text: str, terms: list[str], most: int = 5, length: int = 40) -> list[tuple[int, int]]:
    """Find the passages of a document that match a sentence best, best first and without overlap.

    They are scored as in :func:`excerpts`, and are shorter: a few sentences, to be read first. A text of one passage
    has none.

    >>> text = "The wing. " + "It rains. " * 40 + "Heat in the wing. " + "It rains. " * 40
    >>> [text[a:b] for a, b in best_passages(text, ["wing", "heat"], length=6)]
    ['It rains. Heat in the wing. It rains.', 'The wing. It rains. It rains. It rains.']
    """
    size = length * (PER_WORD_UNSPACED if is_unspaced(text[:2000]) else PER_WORD)
    if len(text) <= size:
        return []
    found: list[tuple[int, int]] = []
    for start, end in _trimmed(text, _matching(text, hits(text, terms, size // _OFTEN), size, most, 0)):
        if all(end <= other[0] or other[1] <= start for other in found):
            found.append((start, end))
    return found


def _matching(text: str, hits: list[Hit], size: int, most: int, after: int) -> list[tuple[int, int]]:
    """Find the best passages of about `size` characters whose hits end after a place, best first."""
    matching: list[tuple[int, int]] = []
    for first, last in _best_first(hits, size):
        if len(matching) == most:
            break
        if last <= after or any(first < end and start < last for start, end in matching):
            continue
        slack = max(size - (last - first), 0)
        start = _begin(text, first - slack // 3, first, size // 4)
        matching.append((start, _end(text, max(start + size, last), last, size // 4)))
    return matching


def _best_first(hits: list[Hit], size: int) -> list[tuple[int, int]]:
    """Find for each hit the extent [first, last) of the hits in the window that begins there; the best window first."""
    counts: dict[int, int] = {}
    windows: list[tuple[float, int, int]] = []
    score, right = 0.0, 0
    for start, end, term in hits:
        while right < len(hits) and hits[right][0] < start + size:
            new = hits[right][2]
            counts[new] = count = counts.get(new, 0) + 1
            score += _ADDED[count]
            right += 1
        windows.append((-round(score, 6), start, max(hits[right - 1][1], end)))
        score -= _ADDED[counts[term]]
        counts[term] -= 1
    return [(start, end) for _, start, end in sorted(windows)]


def _begin(text: str, want: int, latest: int, reach: int) -> int:
    """The beginning of a passage near `want` and not after `latest`."""
    return _boundary(text, want, max(want - reach, 0), latest, -1) if want > 0 else 0


def _end(text: str, want: int, earliest: int, reach: int) -> int:
    """The end of a passage near `want` and not before `earliest`."""
    if want + reach // 4 >= len(text):
        return len(text)
    return _boundary(text, want, earliest, min(want + reach, len(text)), 1)


def _boundary(text: str, want: int, low: int, high: int, step: int) -> int:
    for ends in _ENDS:
        if places := [match.end() for match in ends.finditer(text, low, high)]:
            return _whole(text, min(places, key=lambda place: abs(place - want)), step)
    return _whole(text, want, step)


def cut(text: str, at: int) -> str:
    r"""Cut a text to its first `at` characters, or slightly fewer to keep graphemes whole.

    >>> cut("a\u0301b", 1), cut("ab", 2)
    ('', 'ab')
    """
    if len(text) <= at:
        return text
    place = at
    while place > max(at - 40, 0) and _is_joined(text, place):
        place -= 1
    return text[: at if _is_joined(text, place) and place else place]


def _whole(text: str, place: int, step: int) -> int:
    """The next place in the direction of `step` that is not within a grapheme."""
    while 0 < place < len(text) and _is_joined(text, place):
        place += step
    return place


def _is_joined(text: str, place: int) -> bool:
    """Return whether the place is within a grapheme (most of UAX 29)."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return after == "\n" and before == "\r"
    if _is_flag(before) and _is_flag(after):
        first = place
        while first > 0 and place - first < 1000 and _is_flag(text[first - 1]):
            first -= 1
        return (place - first) % 2 == 1
    return (
        before == "\u200d"
        or after in "\u200d\u200c"
        or unicodedata.category(after) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of regional flags
        or ("\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\u11ff")  # the rest of a Hangul syllable
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _merged(passages: list[tuple[int, int]], near: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(passages):
        if merged and start - merged[-1][1] < near:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _trimmed(text: str, passages: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Remove surrounding blanks, and passages of blanks only."""
    trimmed: list[tuple[int, int]] = []
    for start, end in passages:
        words = text[start:end]
        begin = start + len(words) - len(words.lstrip())
        if words.strip():
            trimmed.append((_whole(text, begin, -1), start + len(words.rstrip())))
    return trimmed
