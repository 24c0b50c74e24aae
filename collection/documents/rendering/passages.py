"""The passages of a long document that match a topic, and the terms that they match."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from collection.records import UNSPACED

MOST_TERMS = 32
"""Maximum number of terms of a topic."""
SATURATION = 1.2
"""k1 of BM25."""
PER_WORD = 6
"""Average characters of a word and the blank after it, in most scripts."""
PER_WORD_UNSPACED = 2
"""Average characters of a word in scripts without blanks between words."""

# Hangul has blanks, but particles are attached to its words.
_UNSPACED = UNSPACED + "\uac00-\ud7af\uff66-\uff9f"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_UNSPACED_ONE = re.compile(rf"[{_UNSPACED}]")
_KANA = re.compile("[\u3040-\u309f]+")
# Limited to the longest ending: otherwise each word of "a_a_a_..." would read the rest of the text again.
_REST = re.compile(r"\w{0,5}+(?:['’]s\b)?+")
_ENDINGS = frozenset(("", "s", "es", "d", "ed", "ing", "ings", "e", "y", "ies", "ied", "n", "en", "'s", "’s"))
_STRIPPED = (("ings", 4), ("ing", 4), ("ies", 3), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3), ("e", 4), ("y", 4))
_UNSTRIPPED = re.compile(r"(?:ss|us|is)\Z")
_SMALL = """
a about above after all also am an and any are as at be been but by can could did do does for from had has have he
her here him his how i if in into is it its me more most my no nor not of on one or other our she should so some
such than that the their them then there these they this those to too up us was we were what when where whether
which while who whom whose why will with would you your describe describes discuss discusses document documents find
finds give gives identify information mention mentions must provide provides query relevant relevance report reports
"""
STOP_WORDS = frozenset(_SMALL.split())

_PARAGRAPH = r"\n[^\S\n]*+\n\s*+"
_SENTENCE = r"(?<=\s)[.!?]\s++|[.!?…]++[\"'”’»)\]]*+\s++(?![a-z])|[。！？｡．]++[”’」』）】]*+\s*+"
_ENDS = (re.compile(f"{_PARAGRAPH}|{_SENTENCE}"), re.compile(r"\n\s*+"), re.compile(r"\s++"))
"""Places where a passage may end, best first."""


def terms(topic_words: str) -> list[str]:
    """Extract at most 32 distinct lower-case terms from a topic's title and description, in their order.

    Stop words are left out, and endings are cut so that other forms match. In scripts without blanks, the terms are
    pairs of neighbouring characters.

    >>> terms("What are the boundaries of heated wings?")
    ['boundar', 'heat', 'wing']
    >>> terms("東京駅 map")
    ['東京', '京駅', 'map']
    """
    found: dict[str, None] = {}
    for run in _RUN.findall(topic_words.lower()):
        if _UNSPACED_ONE.match(run):
            pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            found.update(dict.fromkeys(p for p in pairs if not _KANA.fullmatch(p)))
        elif run not in STOP_WORDS and (len(run) > 1 or run.isdecimal()):
            found[_stem(run)] = None
    return list(found)[:MOST_TERMS]


def _stem(word: str) -> str:
    if _UNSTRIPPED.search(word):
        return word
    for ending, least in _STRIPPED:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


_OFTEN = 4
"""Occurrences of a term that count in a passage; the next would add a twentieth of the first one's weight."""
_ADDED = [0.0] + [
    n * (SATURATION + 1) / (n + SATURATION) - (n - 1) * (SATURATION + 1) / (n - 1 + SATURATION)
    for n in range(1, _OFTEN + 3)
]
"""Weights of the first, second, ... occurrence of a term in a passage."""


class _Hit(NamedTuple):
    start: int
    end: int
    term: int


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
    size = length * (PER_WORD_UNSPACED if _is_unspaced(text) else PER_WORD)
    if len(text) <= size:
        return _trimmed(text, [(0, len(text))])
    hits = _hits(text, terms, size)
    first_word = len(text) - len(text.lstrip())
    if not hits:
        return _trimmed(text, [(0, _end(text, first_word + size, first_word + size // 2, size // 2))])
    lead = _end(text, first_word + max(size // 3, 1), first_word + size // 6, size // 4)
    matching: list[tuple[int, int]] = []
    for first, last in _best_first(hits, size):
        if len(matching) == most - 1:
            break
        if last <= lead or any(first < end and start < last for start, end in matching):
            continue
        slack = max(size - (last - first), 0)
        start = _begin(text, first - slack // 3, first, size // 4)
        matching.append((start, _end(text, max(start + size, last), last, size // 4)))
    passages = _merged([(0, lead), *matching], size // 5)
    return _trimmed(text, passages)


def _is_unspaced(text: str) -> bool:
    begin = text[:2000]
    return len(_UNSPACED_ONE.findall(begin)) > 0.3 * len(begin)


def _lower(text: str) -> str:
    """Lower case of the same length; a character like 'İ', whose lower case is two characters, is kept."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def _hits(text: str, terms: list[str], size: int) -> list[_Hit]:
    """The places of the terms, without repetitions too close together to count."""
    lower, apart, hits = _lower(text), size // _OFTEN, []
    for number, term in enumerate(terms):
        unspaced = _UNSPACED_ONE.match(term) is not None
        at = lower.find(term)
        while at >= 0:
            end = at + len(term)
            if unspaced or _is_word(lower, term, at):
                hits.append(_Hit(at, end, number))
                end += apart
            at = lower.find(term, end)
    hits.sort()
    return hits


def _is_word(lower: str, term: str, at: int) -> bool:
    if at and lower[at - 1].isalnum():
        return False
    rest = _REST.match(lower, at + len(term))
    return rest is None or rest[0] in _ENDINGS


def _best_first(hits: list[_Hit], size: int) -> list[tuple[int, int]]:
    """For each hit, the extent [first, last) of the hits in the window that begins there; the best window first."""
    counts: dict[int, int] = {}
    windows: list[tuple[float, int, int]] = []
    score, right = 0.0, 0
    for start, end, term in hits:
        while right < len(hits) and hits[right].start < start + size:
            new = hits[right].term
            counts[new] = count = counts.get(new, 0) + 1
            score += _ADDED[count]
            right += 1
        windows.append((-round(score, 6), start, max(hits[right - 1].end, end)))
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
        if places := [found.end() for found in ends.finditer(text, low, high)]:
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
    """Whether the place is within a grapheme (most of UAX 29)."""
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
