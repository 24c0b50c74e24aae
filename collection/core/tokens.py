"""Words and character 4-grams of text in any script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

GRAM = 4
"""Characters in a gram of the block "chars"."""

# Scripts without spaces, whose sentences a regular expression sees as one word: Thai, Lao, Burmese and Khmer without
# their digits and signs; kana with the long vowel; Han with its extensions.
UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u17dc\u17dd"
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
ASCII_WORD = re.compile(r"\w+")
SOFT_HYPHEN = "\u00ad"
ACCENTS = re.compile("[\u0300-\u036f]")
STROKES = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "œ": "oe"})


@cache
def _word() -> re.Pattern[str]:
    r"""Letters, digits and marks, since ``\w`` leaves out the vowels of Hindi or Tamil."""
    # The marks of living scripts are all in the first plane.
    marks = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
    return re.compile(f"[\\w{marks}]+")


def normalise(text: str) -> str:
    """The text in lower case with its compatibility forms unified.

    >>> normalise("Ｓtraße ﬁn")
    'strasse fin'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace(SOFT_HYPHEN, "")


def without_accents(text: str) -> str:
    """Return a text without accents and strokes of Latin letters, which file names and databases may omit.

    >>> without_accents("García-López, Ødegård")
    'Garcia-Lopez, Odegard'
    """
    return text if text.isascii() else ACCENTS.sub("", unicodedata.normalize("NFKD", text)).translate(STROKES)


def words(text: str) -> list[str]:
    """The words of a normalised text, or pairs of neighbouring characters in scripts without spaces.

    >>> words("a 2nd look, 東京都へ")
    ['a', '2nd', 'look', '東京', '京都', '都へ']
    """
    if text.isascii():
        return [text] if text.isalnum() else ASCII_WORD.findall(text)
    return _word().findall(UNSPACED.sub(_pairs, text))


def plain(text: str) -> str:
    """The words of a text, without case and punctuation, to compare texts by.

    >>> plain("Heat Pumps - A Review.")
    'heat pumps a review'
    """
    return " ".join(words(normalise(text)))


def _pairs(run: re.Match[str]) -> str:
    text = run.group()
    return f" {' '.join([text[i : i + 2] for i in range(len(text) - 1)] or [text])} "


def grams(piece: str) -> list[str]:
    """The character 4-grams of a word with a space on both sides."""
    padded = f" {piece} "
    return [padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1)] or [padded]
