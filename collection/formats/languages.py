"""Names of languages, which bibliographic records give as names or as codes of ISO 639."""

from __future__ import annotations

import re
from collections.abc import Iterable

from collection.core.characters import one_line

_LISTED = """
    Afrikaans: af afr; Albanian: sq alb sqi; Amharic: am amh; Arabic: ar ara; Armenian: hy arm hye; Azerbaijani: az
    aze; Basque: eu baq eus; Belarusian: be bel; Bengali: bn ben; Bosnian: bs bos; Bulgarian: bg bul; Catalan: ca
    cat; Chinese: zh chi zho mandarin 中文; Croatian: hr hrv scr; Czech: cs cze ces; Danish: da dan dansk; Dutch: nl dut
    nld nederlands; English: en eng; Esperanto: eo epo; Estonian: et est; Finnish: fi fin suomi; French: fr fre fra
    français francais; Galician: gl glg; Georgian: ka geo kat; German: de ger deu deutsch; Greek: el gre ell;
    Hebrew: he heb; Hindi: hi hin; Hungarian: hu hun magyar; Icelandic: is ice isl; Indonesian: id ind; Irish: ga
    gle; Italian: it ita italiano; Japanese: ja jpn 日本語; Kazakh: kk kaz; Korean: ko kor 한국어; Latin: la lat;
    Latvian: lv lav;
    Lithuanian: lt lit; Macedonian: mk mac mkd; Malay: ms may msa; Multiple languages: mul multilingual; Norwegian:
    no nor nb nob nn nno norsk; Persian: fa per fas farsi; Polish: pl pol polski; Portuguese: pt por português;
    Romanian: ro rum ron; Russian: ru rus русский; Serbian: sr srp scc; Slovak: sk slo slk; Slovenian: sl slv slovene;
    Spanish: es spa español espanol castellano; Swahili: sw swa; Swedish: sv swe svenska; Tamil: ta tam; Thai: th
    tha; Turkish: tr tur türkçe; Ukrainian: uk ukr; Urdu: ur urd; Vietnamese: vi vie; Welsh: cy wel cym
"""
"""English names, each with its codes of two and three letters and other names."""
_UNKNOWN = frozenset(("und", "undetermined", "unknown", "zxx", "n/a", "none", "other", "not specified"))
_LONGEST = 40
"""Characters of a text that may name a language."""


def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for listed in _LISTED.split(";"):
        name, _, others = listed.strip().partition(": ")
        names |= dict.fromkeys([name.casefold(), *others.split()], name)
    return names


_NAMES = _names()


def name_languages(texts: Iterable[str]) -> str:
    """The English names of the languages that texts name, each once, separated by semicolons.

    A text that is not understood stays as it is, unless it is too long for a language.

    >>> name_languages(["eng"]), name_languages(["de-AT"]), name_languages(["English, spa"]), name_languages(["und"])
    ('English', 'German', 'English; Spanish', '')
    """
    parts = (part for text in texts for part in re.split(r"[;,/|\n]|\band\b", text))
    return "; ".join(filter(None, dict.fromkeys(map(_name, parts))))


def _name(text: str) -> str:
    plain = one_line(text).strip(" .()[]")
    folded = plain.casefold().removeprefix("in ").removesuffix(" language")
    code = re.match(r"([a-z]{2,3})(?=[-_][a-z])|\w+(?= \()", folded)
    if name := _NAMES.get(folded) or (_NAMES.get(code[0]) if code else None):
        return name
    return "" if folded in _UNKNOWN or len(plain) > _LONGEST else plain
