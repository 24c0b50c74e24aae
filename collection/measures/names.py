"""Names of measures in trec_eval, pytrec_eval, ir_measures, ranx, BEIR and MTEB, and how these are written here.

Source: trec_eval 10 (its list of measures), pytrec_eval 0.5, the registry of ir_measures 0.4, and the documentation of
ranx 0.3 (docs/metrics.md).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from collection.core.errors import InputError

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""trec_eval's default cut-offs."""

TENTHS = tuple(i / 10 for i in range(11))
"""trec_eval's default levels of recall."""

FIFTHS = tuple(i / 5 for i in range(1, 11))
"""trec_eval's default multiples of R."""


class Foreign(NamedTuple):
    """A measure of another tool.

    Attributes
    ----------
    whole, at
        How it is written here without a number, and with one for {}; '' where there is no such form.
    usual
        The numbers that it is computed for where none is given.
    note, whole_note
        What may surprise about the value, and about that without a number.
    why
        Why it is refused without a number, and what is nearest.
    """

    whole: str = ""
    at: str = ""
    usual: tuple[str, ...] = ()
    note: str = ""
    whole_note: str = ""
    why: str = ""


class Translation(NamedTuple):
    """Measures as written here, their labels in another tool's output, and a note."""

    written: tuple[str, ...]
    labels: tuple[str, ...]
    note: str


_CUTOFFS = tuple(map(str, CUTOFFS))
_SUCCESS = Foreign(at="Success@{}", why="it needs a cut-off; write Success@10")

NAMES: dict[str, Foreign] = {
    # trec_eval and pytrec_eval
    "map": Foreign("AP", "AP@{}"),
    "mapcut": Foreign(at="AP@{}", usual=_CUTOFFS),
    "gmmap": Foreign("GMAP"),
    "idealdcg": Foreign("IDCG"),
    "reciprank": Foreign("RR", "RR@{}"),
    "p": Foreign(at="P@{}"),
    "recall": Foreign(
        at="R@{}", why="it is ambiguous: trec_eval has nine cut-offs, ranx everything retrieved; write R@100 or SetR"
    ),
    "ndcg": Foreign(at="nDCG@{}"),
    "ndcgcut": Foreign(at="nDCG@{}", usual=_CUTOFFS),
    "relativep": Foreign(at="P(relative=True)@{}", usual=_CUTOFFS),
    "success": _SUCCESS,
    "iprecatrecall": Foreign(at="IPrec@{}", usual=tuple(f"{level:.2f}" for level in TENTHS)),
    "11ptavg": Foreign("IPrec"),
    "rprecmult": Foreign(at="Rprec(mult={})", usual=tuple(f"{multiple:.2f}" for multiple in FIFTHS)),
    "unj": Foreign(at="Unjudged@{}", usual=("5", "10", "20")),
    "setrecall": Foreign("SetR"),
    "setmap": Foreign("SetAP"),
    "setrelativep": Foreign("SetP(relative=True)"),
    "numnonreljudgedret": Foreign("NumNonrelRet"),
    # ir_measures
    "mrr": Foreign("RR", "RR@{}"),
    "precision": Foreign("SetP", "P@{}", whole_note="without a cut-off it is over everything retrieved"),
    "mapia": Foreign("AP_IA"),
    "setrelp": Foreign("SetP(relative=True)"),
    # ranx
    "hits": Foreign(
        "NumRelRet", "NumRelRet@{}",
        note="as in ranx, the number of relevant documents; over topics their sum, not their mean. The hit rate is"
        " Success@10",
    ),
    "hitrate": _SUCCESS,
    "f1": Foreign("SetF", "F@{}"),
    "rprecision": Foreign("Rprec"),
    "dcgburges": Foreign("DCG(dcg='exp-log2')", "DCG(dcg='exp-log2')@{}"),
    "ndcgburges": Foreign("nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@{}"),
    # BEIR
    "rcap": Foreign(
        at="P(relative=True)@{}", note="relevant documents in the first k / min(k, R)", why="write R_cap@100"
    ),
    "hole": Foreign(
        at="Unjudged@{}", note="documents that are not judged for the topic; BEIR's also leaves out those that are"
        " judged for another topic", why="write Hole@10"
    ),
    # others
    "cappedrecall": Foreign(at="P(relative=True)@{}", why="write R_cap@100"),
    "recallcap": Foreign(at="P(relative=True)@{}", why="write R_cap@100"),
    "hit": _SUCCESS,
    "strec": Foreign("StRecall", "StRecall@{}"),
}  # fmt: skip
"""Normalised name -> measure; names that are the same here are left out."""

_SEVERAL = ("several measures under one name", "nDCG@10")
_PREFERENCES = ("computed from preferences between documents: `cleverdon trec_eval -R prefs` computes it", "bpref")
_GROUPS = ("computed from several groups of judgements: `cleverdon trec_eval -R qrels_jg` computes it", "AP")

REFUSED: dict[str, tuple[str, str]] = {
    "runid": ("a text, the name of the run", "NumQ"),
    "relstring": ("a text, the grades of the first documents", "P@10"),
    "rbpresid": ("the residual of RBP, but 0 where every retrieved document is judged", "RBPResidual"),
    **dict.fromkeys(("official", "alltrec", "set", "prefs", "allprefs", "qrelsjg"), _SEVERAL),
    **dict.fromkeys(("mapavgjg", "pavgjg", "rprecmultavgjg"), _GROUPS),
}
"""Name as in :data:`NAMES` -> what it is, and the nearest measure here."""

_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)"
_ASKED = re.compile(
    r"(?P<name>\w[\w-]*?)"
    rf"(?:[._](?P<numbers>{_NUMBER}(?:=[\d.]+)?(?:,{_NUMBER}(?:=[\d.]+)?)*))?"
    r"(?:\((?P<parameters>.*)\))?"
    r"(?:@(?P<level>\d{1,25}(?:\.\d{1,17})?))?"
    r"(?:-l(?P<rel>\d{1,3}))?",
    re.S | re.ASCII,
)


AT = re.compile(r"[_-]at[_-](?=\d+\s*\Z)", re.ASCII | re.IGNORECASE)
"""What MTEB writes between a name and a cut-off, as in ``ndcg_at_10``."""

_SHORT = re.compile(r"(?P<name>[a-z_]+?)[_-]?(?P<number>\d+)", re.ASCII | re.IGNORECASE)
"""A name and a cut-off without ``@``, as in ``RR_10`` and ``ndcg10``."""


def bare(name: str) -> str:
    """Normalise a name: lower case without hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def translate(text: str, own: dict[str, str]) -> Translation | None:
    """Translate another tool's name, as ``map``, ``P.5,10``, ``rbp.95``, ``precision@5-l2``; None if unknown.

    `own` has the names here by their normalised form.

    Raises
    ------
    InputError
        The measure is not computed here; the message says why, and what is nearest.
    """
    match = _ASKED.fullmatch(text.strip())
    if match is None:
        return None
    key = bare(match["name"])
    if key in REFUSED or key.startswith("prefs"):
        what, nearest = REFUSED.get(key, _PREFERENCES)
        raise InputError(f"{text!r} is {what}; the nearest is {nearest}")
    written, note = _written(text, match, key, own)
    if not written:
        short = _SHORT.fullmatch(text.strip())
        name = bare(short["name"]) if short is not None else ""
        if short is None or not (name in own or (name in NAMES and NAMES[name].at)):
            return None
        measure = NAMES[name].at.format(short["number"]) if name in NAMES else f"{own[name]}@{short['number']}"
        return Translation((measure,), (text,), NAMES[name].note if name in NAMES else "")
    if match["numbers"] and match["level"]:
        if key != "rbp" and "=" not in match["numbers"]:
            raise InputError(f"{text!r} has numbers and a cut-off; write one of them")
        written = {number: f"{measure}@{match['level']}" for number, measure in written.items()}
    labels = (text,) if len(written) == 1 else tuple(f"{match['name']}_{number}" for number in written)
    joined = tuple(_joined(text, measure, match["parameters"], match["rel"]) for measure in written.values())
    return Translation(joined, labels, note)


def _written(text: str, match: re.Match[str], key: str, own: dict[str, str]) -> tuple[dict[str, str], str]:
    """Return number -> notation here, without further parameters, and a note; empty for names that no tool uses."""
    numbers = match["numbers"] or match["level"]
    if (special := _special(key, match["numbers"] or "")) is not None:
        return {"": special[0]}, special[1]
    foreign = NAMES.get(key)
    if foreign is None:
        # Also a name that is the same here, with a relevance level as ranx writes it.
        same = key in own and match["rel"] is not None and not match["numbers"]
        return ({"": own[key] + (f"@{numbers}" if numbers else "")} if same else {}), ""
    if numbers is None and foreign.whole:
        return {"": foreign.whole}, foreign.note or foreign.whole_note
    several = numbers.split(",") if numbers else foreign.usual
    if several and foreign.at:
        return {number: foreign.at.format(number) for number in several}, foreign.note
    if several:
        raise InputError(f"{text!r}: expected no number; write {foreign.whole}")
    if key in own:
        return {"": own[key]}, ""
    raise InputError(f"{text!r}: {foreign.why}")


def _special(key: str, numbers: str) -> tuple[str, str] | None:
    """Return the notation here and a note, for names whose numbers are not cut-offs."""
    if key == "setf" and re.fullmatch(r"\d+(\.\d+)?|\.\d+", numbers):
        beta = float(numbers) ** 0.5
        return f"SetF(beta={int(beta) if beta.is_integer() else beta!r})", f"trec_eval's {numbers} is beta squared"
    if key == "rbp" and re.fullmatch(r"\d+", numbers):
        return f"RBP(p=0.{numbers},rel=1)", "binary, as ranx documents it; ranx sums the grades"
    if key == "rbp" and re.fullmatch(r"0?\.\d+", numbers):
        raise InputError(f"RBP: expected its persistence as in RBP(p={float(numbers):g}), found {numbers!r}")
    if key == "utility" and numbers.count(",") == 3:
        a, b, c, d = (float(n) for n in numbers.split(","))
        return f"Utility(a={a!r},b={b!r},c={c!r},d={d!r})", ""
    if key in ("ndcg", "g", "ndcgrel", "rndcg") and "=" in numbers:
        name = {"ndcg": "nDCG", "g": "G", "ndcgrel": "nDCG_rel", "rndcg": "RnDCG"}[key]
        return f"{name}(gains={{{numbers.replace('=', ':')}}})", ""
    return None


def _joined(text: str, written: str, parameters: str | None, rel: str | None) -> str:
    """Add further parameters, and the relevance level that ranx writes after ``-l``, to a measure."""
    name, inside, level = re.fullmatch(r"([^(@]+)(?:\((.*)\))?(@.*)?", written, re.S).groups()  # type: ignore[union-attr]
    if inside and re.search(r"\brel\s*=", parameters or ""):
        inside = inside.removesuffix(",rel=1")  # nobody wrote that
    given: list[str] = [part for part in (inside, parameters) if part]
    if rel is not None and name in ("nDCG", "DCG"):
        # ranx keeps the grades from that level on as gains.
        given.append(f"gains={{{','.join(f'{grade}:0' for grade in range(1, int(rel)))}}}" if int(rel) > 1 else "")
    elif rel is not None:
        given = [part.replace("rel=1", f"rel={rel}") if part == inside else part for part in given]
        if not any("rel=" in g for g in given):
            given.append(f"rel={rel}")
    names = re.findall(r"(\w+)\s*=", ",".join(given))
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{text!r} sets {twice} twice; write it once")
    joined = ",".join(g for g in given if g)
    return name + (f"({joined})" if joined else "") + (level or "")
