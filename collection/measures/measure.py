"""A measure is a name, its parameters and a cut-off, written as ir_measures writes them.

``parse("AP(rel=2)@100")`` and ``AP(rel=2) @ 100`` are the same measure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from collection.errors import InputError, UnknownNameError
from collection.measures.aligned import Aligned, Floats
from collection.measures.table import DEEPEST, MEASURES, MeasureEntry

_WRITTEN = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<params>.*)\))?"
    r"\s*(?:@\s*(?P<level>\d{1,25}(?:\.\d{0,17})?|\.\d{1,17})\s*(?P<percent>%?))?\s*",
    re.S | re.ASCII,
)

_ELSEWHERE = {
    "map": "AP", "mrr": "RR@{}", "recip_rank": "RR", "map_cut": "AP@{}", "ndcg_cut": "nDCG@{}", "p": "P@{}",
    "precision": "P@{}", "recall": "R@{}", "relative_p": "P(relative=True)@{}", "iprec_at_recall": "IPrec@{}",
    "11pt_avg": "IPrec", "gm_map": "GMAP", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet", "set_p": "SetP", "set_recall": "SetR", "set_f": "SetF (their number is beta squared)",
    "set_map": "SetAP", "set_relative_p": "SetP(relative=True)", "setrelp": "SetP(relative=True)", "unj": "Unjudged@{}",
    "rprec_mult": "Rprec(mult={})", "success": "Success@{}", "hit": "Success@{}", "hits": "Success@{}",
    "hitrate": "Success@{}", "map_ia": "AP_IA", "strec": "StRecall@{}", "rbp": "RBP(p={})", "rbp_resid": "RBPResidual",
    "r": "R@{}", "ndcg": "nDCG@{}", "rr": "RR@{}", "err": "ERR@{}", "judged": "Judged@{}", "f1": "F@10",
}  # fmt: skip
"""What trec_eval, ir_measures and others call a measure -> how it is written here; {} stands for their number."""


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters fixed.

    Call it with an :class:`Aligned` for one value per topic, or with parameters for the same measure
    with these: ``AP(rel=2)``. ``AP @ 100`` cuts it.

    Attributes
    ----------
    name
        Its name in the table :data:`MEASURES`.
    parameters
        What differs from the defaults.
    level
        What stands behind ``@``: a rank for most measures, a recall from 0 to 1 for some, or None.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None

    def __post_init__(self) -> None:
        """Check everything when it is written down, not when the first topic is computed."""
        entry = self.entry
        defaults = {k: v for k, v in entry.parameters.items() if k != entry.level}
        for key, value in self.parameters.items():
            if key not in defaults:
                raise UnknownNameError(f"parameter of {self.name}", key, defaults)
            entry.check(key, value)
        given = {k: _normal(v) for k, v in self.parameters.items()}
        kept = {k: given[k] for k in defaults if k in given and given[k] != defaults[k]}
        object.__setattr__(self, "parameters", kept)
        if self.level is not None:
            object.__setattr__(self, "level", _checked_level(entry, self.level))

    @property
    def entry(self) -> MeasureEntry:
        """Its row of the table."""
        return MEASURES[self.name]

    @overload
    def __call__(self, aligned: Aligned, **parameters: Any) -> Floats: ...
    @overload
    def __call__(self, **parameters: Any) -> Measure: ...
    def __call__(self, aligned: Aligned | None = None, **parameters: Any) -> Floats | Measure:
        """One value per topic of `aligned`, shape (T,), float64; or the same measure with other parameters."""
        if parameters or aligned is None:
            changed = Measure(self.name, {**self.parameters, **parameters}, self.level)
            return changed if aligned is None else changed(aligned)
        aligned, keywords = self.prepare(aligned)
        values = self.entry.function(aligned, **keywords)
        if np.shape(values) != (len(aligned.topics),):
            raise InputError(
                f"{self.name} has to give one value for each of {len(aligned.topics)} topics, "
                f"found the shape {np.shape(values)}"
            )
        return values

    def prepare(self, aligned: Aligned) -> tuple[Aligned, dict[str, Any]]:
        """What the measure's function is given: the ranking as this measure looks at it, and keywords."""
        entry = self.entry
        if self.level is None and entry.needs_level:
            raise InputError(f"{self} needs {_level_word(entry)}, for example {entry.example}")
        if entry.needs == "strata" and aligned.sample is None:
            raise InputError(
                f"{self} needs qrels of a sampled pool: a fifth column, with the stratum before the grade"
                " or the probability of being judged behind it"
            )
        if entry.needs == "subtopics" and aligned.subtopics is None:
            raise InputError(f"{self} needs diversity qrels: the subtopic in the second column")
        keywords = dict(self.parameters)
        if self.level is not None and entry.level:
            keywords[entry.level] = int(self.level) if entry.level == "cutoff" else self.level
        if keywords.pop("judged_only", False):
            aligned = aligned.condensed
        if entry.graded and "rel" in keywords:
            aligned = aligned.binary(keywords.pop("rel"))
        return aligned, keywords

    def __matmul__(self, level: float) -> Measure:
        """`measure @ 10`: the same with a cut-off."""
        return Measure(self.name, self.parameters, level)

    def summarise(self, values: Floats) -> float:
        """The number for all topics: their mean, but a sum for counts and a geometric mean for GMAP."""
        return self.entry.summarise(values)

    def __str__(self) -> str:
        inside = ",".join(f"{k}={_literal(v)}" for k, v in self.parameters.items())
        at = "" if self.level is None else f"@{self.level!r}".removesuffix(".0")
        return self.name + (f"({inside})" if inside else "") + at

    def __hash__(self) -> int:
        return hash(str(self))


def parse(text: str, rel: float | None = None) -> Measure:
    """Read a measure as ir_measures writes it: ``nDCG@10``, ``AP(rel=2)@100``, ``IPrec@0.1``.

    Names are found without regard to upper and lower case and hyphens; the measure carries the table's spelling.

    Parameters
    ----------
    text
        The measure.
    rel
        The lowest relevant grade of a measure that does not name one; measures of grades keep theirs.

    Raises
    ------
    InputError
        It is not written like that, lacks the cut-off that it needs, or a parameter has a value that it
        cannot have.
    UnknownNameError
        No such measure or parameter; the message lists those that there are.

    Examples
    --------
    >>> str(parse("ndcg@10"))
    'nDCG@10'
    >>> parse("AP(rel=2)@100") == parse("AP(rel=2)") @ 100
    True
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        _refuse_foreign(text.strip())
        hint = "; name each measure by itself" if "," in text else ""
        raise InputError(f"a measure is written like nDCG@10 or AP(rel=2)@100, found {text!r}{hint}")
    name = _table_name(written["name"], written["level"] or "")
    parameters = _parameters(written["params"] or "", text)
    if rel is not None and MEASURES[name].parameters.get("rel") is not None:
        parameters = {"rel": rel, **parameters}
    level = written["level"]
    number = None if level is None else float(level) if "." in level else int(level)
    if written["percent"] and number is not None:
        if MEASURES[name].level != "recall":
            raise InputError(f"the cut-off of {name} is a rank, not a percentage: {text!r}")
        number = number / 100
    measure = Measure(name, parameters, number)
    if measure.level is None and measure.entry.needs_level:
        raise InputError(f"{measure} needs {_level_word(measure.entry)}, for example {measure.entry.example}")
    return measure


def _checked_level(entry: MeasureEntry, level: float) -> float:
    """The number behind ``@`` as the measure takes it."""
    if not isinstance(level, int | float) or isinstance(level, bool):
        raise InputError(f"what stands behind @ is a number, found {level!r}")
    if entry.level is None:
        raise InputError(f"{entry.name} has no cut-off; write it without @{level:g}")
    if entry.level == "recall":
        # WSS@95 is how the field writes 95 %.
        share = level / 100 if level > 1 else level
        if not 0 <= share <= 1:
            raise InputError(f"{entry.name} stands at a recall from 0 to 1, found {level:g}")
        return float(share)
    if not float(level).is_integer() or not 1 <= level <= DEEPEST:
        raise InputError(f"the cut-off of {entry.name} is a rank from 1 to {DEEPEST:,}, found {level}")
    return int(level)


def _level_word(entry: MeasureEntry) -> str:
    return "a recall" if entry.level == "recall" else "a cut-off"


def parse_name(text: str) -> MeasureEntry:
    """The row of the table that `text` names: ``ndcg``, or a whole measure as ``nDCG@10``."""
    written = _WRITTEN.fullmatch(text)
    return MEASURES[_table_name(written["name"] if written else text)]


def _table_name(name: str, level: str = "") -> str:
    spelling = {_bare(entry.name): entry.name for entry in MEASURES}
    if _bare(name) in spelling:
        return spelling[_bare(name)]
    _refuse_foreign(name, level)
    raise UnknownNameError("measure", name, spelling.values())


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _refuse_foreign(name: str, level: str = "") -> None:
    """Raise if this is what other tools call a measure that is here under another name."""
    exact = _ELSEWHERE.get(name.lower())
    stem, separator, number = re.fullmatch(r"(.*?)([_.]?)(\d*(?:\.\d+)?)", name.lower(), re.S).groups()  # type: ignore[union-attr]
    ours = exact or (_ELSEWHERE.get(stem) if separator and number else None)
    if ours is not None:
        given = ("" if exact else number) or level
        if "{}" not in ours and given:
            ours += f"@{given}"
        elif not given and ours.endswith("@{}") and not MEASURES[ours.removesuffix("@{}").split("(")[0]].needs_level:
            ours = ours.removesuffix("@{}")
        raise InputError(f"{name!r} is what other tools call it; it is written {ours.format(given or '10')} here")


def _normal(value: Any) -> Any:
    """One way to write each value, so that equal measures are written alike: 2 for 2.0, gains by grade."""
    if isinstance(value, Mapping):
        return {_normal(k): _normal(v) for k, v in sorted(value.items())}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _literal(value: Any) -> str:
    """As ir_measures writes it: no blanks inside."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k!r}:{v!r}" for k, v in value.items()) + "}"
    return repr(value)


def _parameters(inside: str, text: str) -> dict[str, Any]:
    """`rel=2, dcg='log2'` as a call would read it; only literals, nothing is evaluated."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if (
            not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name))
            or call.args
            or any(k.arg is None for k in call.keywords)
        ):
            raise ValueError
        return {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise InputError(
            "parameters are written name=value with plain values, text in quotes (norm='min'), yes or no as True or "
            f"False, found ({inside}) in {text!r}"
        ) from None
