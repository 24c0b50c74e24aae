"""The terms of a topic, and their places in a text: for the passages of long documents and for highlights."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from collection.core.records import UNSPACED

MOST_TERMS = 100
"""Maximum number of terms of a topic."""
MOST_PLACES = 5_000
"""Maximum number of places in a text."""

# Hangul has blanks, but particles are attached to its words.
_HANGUL = "\uac00-\ud7af"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_LONG_WORDS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer: several characters to a syllable
_UNSPACED = UNSPACED + _HANGUL + "\uff66-\uff9f"
# Characters within words that \w does not match: combining marks, all of the Indic blocks, joiners, soft hyphens.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0963\u0966-\u0dff\u00ad\u200c\u200d"
)
_END = "(?:['\u2019][sS](?!{0})|[+#]+(?!{0}))?"  # wing's, C++
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = rf"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*{_END.format(_LETTER)}"
_ASCII_WORDS = re.compile("[A-Za-z0-9]+" + _END.format("[A-Za-z0-9]"))
_RUN = (
    rf"(?P<four>[{_LONG_WORDS}]+)|(?P<three>[{_KATAKANA}]+)|(?P<two>(?:(?![{_KATAKANA}{_LONG_WORDS}])[{_UNSPACED}])+)"
    rf"|{_WORD}"
)
_GRAMS = {"four": 4, "three": 3, "two": 2}
"""Characters of a term in scripts without blanks: about a word."""
_UNSPACED_ONE = rf"[{_UNSPACED}]"
_HIRAGANA = "".join(map(chr, range(0x3040, 0x30A0)))
_MARK = f"[{_MARKS}]"
_ARABIC = re.compile("[\u0600-\u06ff]")
_PARTICLES = re.compile(rf"[{_HANGUL}]{{0,2}}")

_ACCENTS = (*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670)
_UNSEEN = dict.fromkeys((*_ACCENTS, 0xAD, 0x200C, 0x200D))
_STRIPPED = (("ings", 4), ("ing", 4), ("ies", 3), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3), ("e", 4), ("y", 4))
_UNSTRIPPED = re.compile(r"(?:ss|us|is|eed)\Z")
_DOUBLED = re.compile(r"([bdfgmnprt])\1\Z")
_ARTICLE = "\u0627\u0644"  # of Arabic, written with its word
_SMALL = """
a about above after again against all also although am among an and another any are as at be because been before being
below between both but by can cannot could did do does doing down during each either else ever every few for from
further get gives given had has have having he her here hers him his how however i if in into is it its itself just like
made make many may me might more most much must my neither no nor not of off on once one only or other ought our ours
out over own per rather same she should since so some such than that the their theirs them then there these they this
those through to too under until up upon us use used using very via was we were what when where whether which while who
whom whose why will with within without would you your yours isn aren don doesn didn won couldn shouldn
associated based concerning contain contains describe describes describing discuss discusses discussing document
documents find finds give identify information instead mention mentions need needed needs problem problems provide
provides query relevant relevance report reports show shows simply want wanted wants
aux avec ce ces com como con cette comment da dans das de del della delle dem den der di do dos du e ein eine einer
eines el en et een fur gli ich il im ist la las le les lo los mit na nach nao nel nicht nos oder op ou par para pas per
por pour quels quelles que qui se sind son sono su sur sus te um uma un una und une uno unos van von werden wie wird
y zu zum zur auch auf aus als bei che est het os ne
"""
STOP_WORDS = frozenset(_SMALL.split())
"""English function words, the most frequent of other languages, and words with which topics describe themselves."""


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with large sets of characters when it is needed, as that takes as long as many a command."""
    return re.compile(pattern)


Hit = tuple[int, int, int]
"""A place of a term in a text, [start, end), and the number of the term."""


def terms(topic_words: str) -> list[str]:
    """Extract at most :data:`MOST_TERMS` distinct terms from a topic's title and description, in their order.

    Words are without case and accents. Stop words are left out, and endings are cut so that other forms match. In
    scripts without blanks, the terms are runs of a few neighbouring characters.

    >>> terms("What are the boundaries of heated wings?")
    ['boundar', 'heat', 'wing']
    >>> terms("東京駅 map")
    ['東京', '京駅', 'map']
    """
    terms: dict[str, None] = {}
    for run in _compile(_RUN).finditer(topic_words):
        if run.lastgroup:
            size, signs = _GRAMS[run.lastgroup], run[0]
            grams = [signs[i : i + size] for i in range(len(signs) - size + 1)] or [signs]
            terms.update(dict.fromkeys(gram for gram in grams if gram.strip(_HIRAGANA)))
        else:
            word = _without_s(_fold(run[0]))
            if word not in STOP_WORDS and (len(word) > 1 or word.isdecimal()):
                terms[_stem(word)] = None
    return list(terms)[:MOST_TERMS]


def find_terms(text: str, terms: list[str]) -> list[tuple[int, int]]:
    """Find the words of a text that match the terms of a topic: [start, end) in code points, in order and apart.

    >>> find_terms("Transferring heat", terms("heat transfer"))
    [(0, 12), (13, 17)]
    """
    matcher = _matcher(tuple(terms))
    places = [(start, end) for start, end, _ in matcher.words(text)]
    if pieces := matcher.places_of_pieces(text):
        places = sorted(places + pieces)
    return places[:MOST_PLACES]


def hits(text: str, terms: list[str], apart: int) -> list[Hit]:
    """The places of the terms, without repetitions less than `apart` characters from the last one."""
    matcher, free = _matcher(tuple(terms)), [0] * len(terms)
    hits: list[Hit] = []
    for start, end, term in sorted([*matcher.words(text), *matcher.pieces_in(text)]):
        if start >= free[term]:
            hits.append((start, end, term))
            free[term] = end + apart
    return hits


def is_unspaced(begin: str) -> bool:
    """Return whether a text is in a script without blanks, by its beginning."""
    return len(_compile(_UNSPACED_ONE).findall(begin)) > 0.3 * len(begin)


_BEGINNING = 5
"""Characters of a stem that stands for longer words as well."""
_LONGEST = 60
"""Characters of a word that is looked up."""
_MOST_VERDICTS = 50_000


class _Matcher(dict[str, int]):
    """The terms of a topic, prepared for matching: maps a word to the number of the term that it matches, or -1."""

    def __init__(self, terms: tuple[str, ...]) -> None:
        super().__init__()
        self.stems: dict[str, int] = {}
        self.beginnings: dict[str, list[tuple[str, int]]] = {}
        self.pieces: list[tuple[str, int]] = []
        for number, term in enumerate(terms):
            if _compile(_UNSPACED_ONE).match(term):
                self.pieces.append((term, number))
                continue
            self.stems.setdefault(term, number)
            if len(term) >= _BEGINNING and not term.isdecimal():
                self.beginnings.setdefault(term[:_BEGINNING], []).append((term, number))
        self.starts = {term[:_BEGINNING] for term in self.stems}
        self.is_arabic = any(_ARABIC.match(start) for start in self.starts)  # an article may stand before

    def __missing__(self, word: str) -> int:
        if len(word) > _LONGEST:
            return -1
        if len(self) > _MOST_VERDICTS:
            self.clear()
        self[word] = verdict = self._verdict(_stem(_without_s(_fold(word))))
        return verdict

    def _verdict(self, stem: str) -> int:
        if (same := self.stems.get(stem)) is not None:
            return same
        for term, number in self.beginnings.get(stem[:_BEGINNING], ()):
            longer = len(stem) - len(term)
            if longer <= max(len(term) - 3, 2) and stem.startswith(term):
                return number
            if -3 <= longer < 0 and term.startswith(stem):
                return number
        return -1

    def words(self, text: str) -> list[Hit]:
        """Places of the words that match a term, except parts of names with underscores."""
        if not self.stems:
            return []
        words = _ASCII_WORDS if text.isascii() else _compile(_WORD)
        plain = None if self.is_arabic else _plain(text)
        candidates = words.finditer(text) if plain is None else self._likely(text, plain, words)
        return [
            (word.start(), word.end(), number)
            for word in candidates
            if (number := self[word[0]]) >= 0 and text[word.end() : word.end() + 1] != "_"
        ]

    def _likely(self, text: str, plain: str, words: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The words that begin as a term does, which is faster than looking up each word."""
        places: set[int] = set()
        for start in self.starts:
            at = plain.find(start)
            while at >= 0:
                if not at or not _compile(_LETTER).match(text, at - 1):
                    places.add(at)
                at = plain.find(start, at + 1)
        return filter(None, (words.match(text, at) for at in sorted(places)))

    def pieces_in(self, text: str) -> list[Hit]:
        """Places of the terms in scripts without blanks."""
        pieces: list[Hit] = []
        for piece, number in self.pieces:
            at = text.find(piece)
            while at >= 0:
                pieces.append((at, at + len(piece), number))
                at = text.find(piece, at + len(piece))
        return pieces

    def places_of_pieces(self, text: str) -> list[tuple[int, int]]:
        """These places, merged; without hiragana at their ends (Japanese) and with particles that follow (Korean)."""
        merged: list[tuple[int, int]] = []
        for start, end, _ in sorted(self.pieces_in(text)):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        places: list[tuple[int, int]] = []
        for start, end in merged:
            signs = text[start:end]
            begin = start + len(signs) - len(signs.lstrip(_HIRAGANA))
            last = start + len(signs.rstrip(_HIRAGANA))
            if "\uac00" <= text[last - 1] <= "\ud7af" and (particles := _PARTICLES.match(text, last)):
                last = particles.end()
            begin = max(begin, places[-1][1] if places else 0)
            if begin < last:
                places.append((begin, last))
        return places


@lru_cache(maxsize=128)
def _matcher(terms: tuple[str, ...]) -> _Matcher:
    return _Matcher(terms)


def _fold(word: str) -> str:
    """A word without case, accents, vowel points, ligatures and zero-width characters."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", word).translate(_UNSEEN).lower())


def _plain(text: str) -> str | None:
    """A text without case and accents, of the same length; None if folding would change its length."""
    lower = text.lower()
    if text.isascii():
        return lower
    if len(lower) != len(text):
        return None
    for sign in set(lower):
        if sign > "\x7f":
            if _compile(_MARK).match(sign):
                return None
            plain = _fold(sign)
            if plain != sign and _compile(_LETTER).match(sign):
                if len(plain) != 1:
                    return None
                lower = lower.replace(sign, plain)
    return lower


def _without_s(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def _stem(word: str) -> str:
    """A folded word without the commonest English endings, or without the Arabic article (our own light stemmer)."""
    if word.startswith(_ARTICLE) and len(word) > 4:
        return word[2:]
    if _UNSTRIPPED.search(word):
        return word
    for ending, least in _STRIPPED:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            stem = word[: -len(ending)]
            return _DOUBLED.sub(r"\1", stem) if ending in ("ed", "ing", "ings") else stem
    return word
