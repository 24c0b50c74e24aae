"""A measure is a name, its parameters and a cut-off, written as ir_measures writes them.

``parse("AP(rel=2)@100")`` and ``AP(rel=2) @ 100`` are the same measure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError, UnknownNameError, require_known
from collection.core.phrases import literal
from collection.measures.aligned import Aligned
from collection.measures.names import AT, bare, translate
from collection.measures.table import DEEPEST, MEASURES, MeasureEntry

WRITTEN = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<params>.*)\))?"
    r"\s*(?:@\s*(?P<level>\d{1,25}(?:\.\d{0,17})?|\.\d{1,17})\s*(?P<percent>%?))?\s*",
    re.S | re.ASCII,
)
"""A name, and perhaps parameters in brackets and a number after @."""


@dataclass(frozen=True)
class Measure:
    """A measure of the table :data:`MEASURES` with its parameters fixed.

    Call it with an :class:`Aligned` for one value per topic, or with parameters for the same measure with these:
    ``AP(rel=2)``. ``AP @ 100`` sets its level: a rank for most measures, a recall from 0 to 1 for some. `parameters`
    hold only those that differ from the defaults.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None

    def __post_init__(self) -> None:
        """Check name, parameters and number now, not when the first topic is computed."""
        entry = self.entry
        defaults = {k: v for k, v in entry.parameters.items() if k != entry.at}
        require_known(f"{self.name} parameter", defaults, *self.parameters)
        for key, value in self.parameters.items():
            entry.check(key, value)
        given = {k: _normal(v) for k, v in self.parameters.items()}
        parameters = {k: given[k] for k in defaults if k in given and given[k] != defaults[k]}
        object.__setattr__(self, "parameters", parameters)
        if self.level is not None:
            object.__setattr__(self, "level", _checked_level(entry, self.level))

    @property
    def entry(self) -> MeasureEntry:
        """Its entry in the registry."""
        return MEASURES[self.name]

    @property
    def direction(self) -> int:
        """1 if a larger value is better, -1 if a smaller one is, 0 if neither.

        >>> [parse(name).direction for name in ("alpha_nDCG@10", "Effort@0.95", "Judged@10")]
        [1, -1, 0]
        """
        return 0 if self.entry.descriptive else -1 if self.entry.monotone < 0 else 1

    @property
    def phrase(self) -> str:
        """Name within a sentence."""
        return str(self)

    @property
    def cutoff(self) -> int | None:
        """The number of ranks that count; None for the whole ranking."""
        return int(self.level) if self.level is not None and self.entry.at == "cutoff" else None

    @overload
    def __call__(self, aligned: Aligned, **parameters: object) -> Floats: ...
    @overload
    def __call__(self, **parameters: Any) -> Measure: ...
    def __call__(self, aligned: Aligned | None = None, **parameters: object) -> Floats | Measure:
        """One value per topic of `aligned`, shape (T,), float64; or the same measure with other parameters."""
        if parameters or aligned is None:
            changed = type(self)(self.name, {**self.parameters, **parameters}, self.level)
            return changed if aligned is None else changed(aligned)
        aligned, keywords = self.prepare(aligned)
        values = self.entry.function(aligned, **keywords)
        if np.shape(values) != (len(aligned.topics),):
            raise InputError(
                f"{self.name}: expected one value for each of the {len(aligned.topics)} topics, "
                f"found shape {np.shape(values)}"
            )
        return values

    def prepare(self, aligned: Aligned) -> tuple[Aligned, dict[str, object]]:
        """The arguments of the measure's function: the ranking as this measure reads it, and keywords."""
        entry = self.entry
        if self.level is None and entry.needs_at:
            raise InputError(f"{self} needs {_level_word(entry)}, for example {entry.example}")
        if entry.needs == "strata" and aligned.sample is None:
            raise InputError(
                f"{self} needs qrels of a sampled pool, with a fifth column: the stratum before the grade"
                " or the probability of being judged after it"
            )
        if entry.needs == "subtopics" and aligned.subtopics is None:
            raise InputError(f"{self} needs diversity qrels, with the subtopic in the second column")
        keywords = dict(self.parameters)
        if self.level is not None and entry.at:
            keywords[entry.at] = int(self.level) if entry.at == "cutoff" else self.level
        if keywords.pop("judged_only", False):
            aligned = aligned.condensed
        if entry.graded and "rel" in keywords:
            aligned = aligned.binary(keywords.pop("rel"))
        return aligned, keywords

    def __matmul__(self, level: float) -> Measure:
        """`measure @ 10`: the same measure with a cut-off."""
        return type(self)(self.name, self.parameters, level)

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
    """Read a measure in the notation of ir_measures: ``nDCG@10``, ``AP(rel=2)@100``, ``IPrec@0.1``.

    Upper and lower case and hyphens in names make no difference. Names of trec_eval, pytrec_eval, ir_measures and ranx
    are read too: ``map``, ``ndcg_cut_10``, ``hit_rate@5``.

    `rel` is the minimum relevant grade of a binary measure that does not state one.

    Raises
    ------
    InputError
        The syntax or the value of a parameter is wrong, or a needed cut-off is missing.
    UnknownNameError
        No such measure or parameter; the message lists the known ones.

    Examples
    --------
    >>> str(parse("ndcg@10"))
    'nDCG@10'
    >>> parse("AP(rel=2)@100") == parse("AP(rel=2)") @ 100
    True
    """
    measures = read(text, rel).measures
    if len(measures) > 1:
        raise InputError(f"{text!r} names {len(measures)} measures: {', '.join(map(str, measures))}; name one of them")
    return measures[0]


class ReadMeasures(NamedTuple):
    """Measures read from a text, their names as typed, and a note on names of other tools.

    One name of another tool may stand for several measures (``P.5,10``). The note is such as ``map: computed as AP``,
    or ''.
    """

    measures: tuple[Measure, ...]
    labels: tuple[str, ...]
    note: str


def read(text: object, rel: float | None = None) -> ReadMeasures:
    """Read a text as :func:`parse` does; names of other tools may stand for several measures. A Measure stays.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`parse`.

    Examples
    --------
    >>> read("P.5,10").note
    'P.5,10: computed as P@5, P@10'
    """
    if isinstance(text, Measure):
        return ReadMeasures((text,), (str(text),), "")
    if text is None or isinstance(text, int | float):
        raise InputError(f"measure: expected a Measure or text such as 'nDCG@10', found {literal(text)}")
    text = str(text)  # also a measure of another library
    plain = AT.sub("@", text.replace("α", "alpha"))  # ir_measures writes it either way
    written = WRITTEN.fullmatch(plain)
    if written is not None and _own_name(written["name"]) is not None:
        return ReadMeasures((_read(plain, rel),), (text,), "")
    translation = translate(plain, _names(MEASURES))
    if translation is None:
        if written is not None:
            raise _unknown(written["name"], written["level"])
        hint = "; write each measure separately" if "," in text else ""
        raise InputError(f"measure: expected notation such as nDCG@10 or AP(rel=2)@100, found {text!r}{hint}")
    measures = tuple(_read(each, rel) for each in translation.written)
    note = f"{text.strip()}: computed as {', '.join(map(str, measures))}"
    return ReadMeasures(measures, translation.labels, note + (f" ({translation.note})" if translation.note else ""))


def as_measures(measures: Measure | str | Iterable[Measure | str], rel: float | None = None) -> list[Measure]:
    """Read one or many measures, each a :class:`Measure` or a text, which may name several, such as ``P.5,10``.

    `rel` is as for :func:`parse`.

    Raises
    ------
    InputError, UnknownNameError
        As for :func:`parse`.

    Examples
    --------
    >>> [str(m) for m in as_measures(["map", "P.5,10"])]
    ['AP', 'P@5', 'P@10']
    """
    return [measure for each in list_measures(measures) for measure in read(each, rel).measures]


def list_measures(measures: Measure | str | Iterable[Measure | str]) -> list[Measure | str]:
    """One or many measures as a list."""
    return list(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]


def as_measure(measure: Measure | str) -> Measure:
    """Return a Measure unchanged, or read it from text."""
    return measure if isinstance(measure, Measure) else parse(measure)


def _read(text: str, rel: float | None) -> Measure:
    """A measure as it is written here."""
    written = WRITTEN.fullmatch(text)
    if written is None:
        raise InputError(f"a measure is written like nDCG@10 or AP(rel=2)@100, found {text!r}")
    name = _own_name(written["name"])
    if name is None:
        raise _unknown(written["name"], written["level"])
    parameters = read_parameters(written["params"] or "", text)
    if parameters.get("min_rel") == 0:
        del parameters["min_rel"]  # ir_measures adds it to SDCG, INST and the like; their lowest gain is always 0 here
    if rel is not None and MEASURES[name].parameters.get("rel") is not None:
        parameters = {"rel": rel, **parameters}
    level = written["level"]
    number = None if level is None else float(level) if "." in level else int(level)
    if written["percent"] and number is not None:
        if MEASURES[name].at != "recall":
            raise InputError(f"cut-off of {name}: expected a rank, found a percentage in {text!r}")
        number = number / 100
    measure = Measure(name, parameters, number)
    if measure.level is None and measure.entry.needs_at:
        raise InputError(f"{measure} needs {_level_word(measure.entry)}, for example {measure.entry.example}")
    return measure


def _checked_level(entry: MeasureEntry, level: float) -> float:
    """Check and convert the number after ``@``."""
    if not isinstance(level, int | float) or isinstance(level, bool):
        raise InputError(f"expected a number after @, found {level!r}")
    if entry.at is None:
        raise InputError(f"{entry.name} has no cut-off; write it without @{level:g}")
    if entry.at == "recall":
        # WSS@95 is how the field writes 95%.
        share = level / 100 if level > 1 else level
        if not 0 <= share <= 1:
            raise InputError(f"{entry.name}: expected a recall from 0 to 1 after @, found {level:g}")
        return float(share)
    if not float(level).is_integer() or not 1 <= level <= DEEPEST:
        raise InputError(f"cut-off of {entry.name}: expected a rank from 1 to {DEEPEST:,}, found {level}")
    return int(level)


def _level_word(entry: MeasureEntry) -> str:
    return "a recall" if entry.at == "recall" else "a cut-off"


def parse_name(text: str) -> MeasureEntry:
    """The row of the table that `text` names: ``ndcg``, a whole measure as ``nDCG@10``, or another tool's ``map``."""
    written = WRITTEN.fullmatch(text)
    own = None if written is None else _own_name(written["name"])
    if own is not None:
        return MEASURES[own]
    return read(text).measures[0].entry


def _own_name(written: str) -> str | None:
    """The name in the registry of a measure; other packages are looked through only if this one does not have it."""
    name = bare(written)
    return _names(MEASURES.registered()).get(name) or _names(MEASURES).get(name)


def _names(entries: Iterable[MeasureEntry]) -> dict[str, str]:
    """Normalised name -> name in the registry."""
    return {bare(entry.name): entry.name for entry in entries}


def _unknown(name: str, level: str | None) -> UnknownNameError:
    """The error for an unknown name; its suggestions are complete measures."""
    written = {e.name: e.example for e in MEASURES}
    for entry in MEASURES if level is not None else ():
        with suppress(InputError):
            _checked_level(entry, float(str(level)))
            written[entry.name] = f"{entry.name}@{level}"
    return UnknownNameError("measure", name, written, written)


def _normal(value: object) -> object:
    """The normal form of a value, so that equal measures are written alike: 2 for 2.0, gains by grade."""
    if isinstance(value, Mapping):
        return {_normal(k): _normal(v) for k, v in sorted(value.items())}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _literal(value: object) -> str:
    """Write the name like ir_measures: no blanks inside."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k!r}:{v!r}" for k, v in value.items()) + "}"
    return repr(value)


def read_parameters(inside: str, text: str, words: Mapping[str, tuple[str, object]] | None = None) -> dict[str, object]:
    """Parse `rel=2, dcg='log2'` as a call would; only literals, nothing is evaluated.

    `text` is the whole measure, for messages. `words` may stand without quotes, alone or as the value of a parameter:
    word -> parameter and value.
    """
    known = {} if words is None else words

    def read_value(node: ast.expr) -> object:
        return known[node.id][1] if isinstance(node, ast.Name) and node.id in known else ast.literal_eval(node)

    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or any(
            k.arg is None for k in call.keywords
        ):
            raise ValueError
        if any(not isinstance(each, ast.Name) or each.id not in known for each in call.args):
            raise ValueError
        alone = dict(known[each.id] for each in call.args if isinstance(each, ast.Name))
        return alone | {str(k.arg): read_value(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise InputError(
            "parameters: expected name=value, with numbers, True, False, or text in quotes (norm='min'); "
            f"found ({inside}) in {text!r}"
        ) from None
