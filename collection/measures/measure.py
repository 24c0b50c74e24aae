"""A measure is a name, its parameters and a cut-off, written as ir_measures writes them.

``parse("AP(rel=2)@100")`` and ``parse("AP(rel=2)") @ 100`` are the same measure.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collection.errors import InputError, UnknownNameError
from collection.measures.aligned import Aligned, Floats
from collection.registry import Registry

MEASURES: Registry[Callable[..., Floats]] = Registry("measure", group="cleverdon.measures")
"""Every measure: (Aligned, *, cutoff, rel, ...) -> one value per topic, shape (T,)."""

DEEPEST = 1_000_000_000
"""The largest cut-off: beyond any ranking, and still a number that arrays can count to."""

_WRITTEN = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<cutoff>\d+))?\s*", re.S)

_TREC_NAMES = {"map": "AP", "recip_rank": "RR", "ndcg_cut": "nDCG", "recall": "R", "p": "P", "map_cut": "AP"}


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters fixed; call it with an :class:`Aligned` for one value per topic.

    Attributes
    ----------
    name
        Its name in the table :data:`MEASURES`.
    parameters
        What differs from the defaults.
    cutoff
        The rank k of ``@k``, or None for the whole ranking.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cutoff: int | None = None

    def __post_init__(self) -> None:
        """Check everything when it is written down, not when the first topic is computed."""
        allowed = MEASURES[self.name].parameters
        defaults = {k: v for k, v in allowed.items() if k != "cutoff"}
        for key in self.parameters:
            if key not in defaults:
                raise UnknownNameError(f"parameter of {self.name}", key, defaults)
        kept = {k: self.parameters[k] for k in defaults if k in self.parameters and self.parameters[k] != defaults[k]}
        object.__setattr__(self, "parameters", kept)
        rel = kept.get("rel", 1)
        if not isinstance(rel, int | float) or isinstance(rel, bool) or rel <= 0:
            raise InputError(f"{self.name}: rel is the lowest relevant grade, a number above 0, found {rel!r}")
        if self.cutoff is not None and "cutoff" not in allowed:
            raise InputError(f"{self.name} has no cut-off; write it without @{self.cutoff}")
        if self.cutoff is None and allowed.get("cutoff", 0) is inspect.Parameter.empty:
            raise InputError(f"{self.name} needs a cut-off, for example {self.name}@10")
        if self.cutoff is not None and not 1 <= self.cutoff <= DEEPEST:
            raise InputError(f"the cut-off of {self.name} is a rank from 1 to {DEEPEST:,}, found {self.cutoff}")

    def __call__(self, aligned: Aligned) -> Floats:
        """One value per topic of `aligned`, shape (T,), float64."""
        keywords = dict(self.parameters)
        if self.cutoff is not None:
            keywords["cutoff"] = self.cutoff
        return MEASURES[self.name].function(aligned, **keywords)

    def __matmul__(self, cutoff: int) -> Measure:
        """`measure @ 10`: the same with a cut-off."""
        return Measure(self.name, self.parameters, cutoff)

    def with_relevance_level(self, rel: int) -> Measure:
        """The same with `rel` as the lowest relevant grade, unless it says so itself or has no such parameter."""
        if "rel" in self.parameters or "rel" not in MEASURES[self.name].parameters:
            return self
        return Measure(self.name, {**self.parameters, "rel": rel}, self.cutoff)

    def __str__(self) -> str:
        inside = ",".join(f"{k}={v!r}" for k, v in self.parameters.items())
        return self.name + (f"({inside})" if inside else "") + (f"@{self.cutoff}" if self.cutoff else "")

    def __hash__(self) -> int:
        return hash(str(self))


def parse(text: str) -> Measure:
    """Read a measure as ir_measures writes it: ``nDCG@10``, ``AP(rel=2)@100``, ``P@5``.

    Names are found without regard to upper and lower case; the measure carries the table's spelling.

    Raises
    ------
    InputError
        It is not written like that, or a parameter has a value that it cannot have.
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
        hint = "; name each measure by itself" if "," in text else ""
        raise InputError(f"a measure is written like nDCG@10 or AP(rel=2)@100, found {text!r}{hint}")
    name = _table_name(written["name"])
    cutoff = int(written["cutoff"]) if written["cutoff"] else None
    return Measure(name, _parameters(written["params"] or "", text), cutoff)


def _table_name(name: str) -> str:
    spelling = {entry.name.lower(): entry.name for entry in MEASURES}
    if name.lower() in spelling:
        return spelling[name.lower()]
    trec = re.fullmatch(r"(.*?)_?(\d*)", name.lower())
    if trec and trec[1] in _TREC_NAMES:
        ours = _TREC_NAMES[trec[1]] + (f"@{trec[2]}" if trec[2] else "")
        raise InputError(f"{name!r} is trec_eval's name; it is written {ours} here")
    raise UnknownNameError("measure", name, spelling.values())


def _parameters(inside: str, text: str) -> dict[str, Any]:
    """`rel=2, dcg='log2'` as a call would read it; only literals, nothing is evaluated."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
            raise ValueError
        return {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        raise InputError(f"parameters are written name=value with plain values, found ({inside}) in {text!r}") from None
