"""Choice of an adjudication rule, and adjudication by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.adjudication.judgement_matrix import ORIGINS, JudgementMatrix
from collection.adjudication.rules import ADJUDICATION_RULES
from collection.core.display import Displayed, Summary
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.core.phrases import count

DEFAULT_RULE = "adjudicated-or-majority"

_WRITTEN = re.compile(r"\s*([^()]*?)\s*(?:\((.*)\))?\s*", re.S)
_PARAMETER = re.compile(
    r"""\s* (\w+) \s*=\s*                   # the name
    (?: "((?:[^"]|"")*)" | ((?!").*?) )    # the value, with or without quotes
    \s* (?: ,(?=\s*\w+\s*=) | \Z)         # the next one, or the end""",
    re.S | re.X,
)
_NEEDS_QUOTES = re.compile(r'[,=()"]|^\s|\s$')


class ChosenRule(NamedTuple):
    """An adjudication rule with all its parameters; ``str()`` writes it as :func:`parse_rule` reads it.

    >>> str(ChosenRule("annotator", {"annotator": "Smith, John"}))
    'annotator(annotator="Smith, John")'
    """

    name: str
    parameters: dict[str, str]

    def __str__(self) -> str:
        defaults = ADJUDICATION_RULES[self.name].parameters
        written = ", ".join(f"{k}={_quote(v)}" for k, v in self.parameters.items() if v != defaults[k])
        return f"{self.name}({written})" if written else self.name


def _quote(value: object) -> str:
    """Quote a value, with inner quotes doubled, if it could not be read back otherwise."""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def parse_rule(written: str | ChosenRule | None = None, **parameters: str | None) -> ChosenRule:
    """Parse a rule: its name, and in brackets the parameters that differ from its defaults.

    Parameters
    ----------
    written
        ``majority``, ``majority(ties=higher)``, ``annotator(annotator="Smith, John, b=2")`` (a quote in quotes is
        doubled); the default rule if left out.
    **parameters
        Replace those in brackets; None counts as not given.

    Raises
    ------
    UnknownNameError
        There is no such rule, parameter or value of a parameter.
    InputError
        The syntax is wrong.

    Examples
    --------
    >>> str(parse_rule("majority (ties = higher)")), parse_rule("majority").parameters
    ('majority(ties=higher)', {'ties': 'lower'})
    >>> str(parse_rule("annotator", annotator="ann"))
    'annotator(annotator=ann)'
    """
    if isinstance(written, ChosenRule):
        name, given = written.name, dict(written.parameters)
    else:
        name, given = _read(DEFAULT_RULE if written is None else written)
    entry = ADJUDICATION_RULES[name]
    used = entry.parameters
    for key, value in {**given, **{k: v for k, v in parameters.items() if v is not None}}.items():
        if not used:
            raise InputError(f"rule {name} has no parameters, found {key}={value}")
        used[key] = entry.read(key, str(value))
    return ChosenRule(name, used)


def _read(written: str) -> tuple[str, dict[str, str]]:
    wrong = InputError(f"rule: expected a name, such as majority or majority(ties=higher), found {written!r}")
    match = _WRITTEN.fullmatch(written)
    if match is None:
        raise wrong
    name, inside = match[1], (match[2] or "").strip()
    given: dict[str, str] = {}
    place = 0
    while place < len(inside):
        parameter = _PARAMETER.match(inside, place)
        if parameter is None:
            raise wrong
        key, quoted, plain = parameter.groups()
        given[key] = plain if quoted is None else quoted.replace('""', '"')
        place = parameter.end()
    return name, given


@dataclass(frozen=True, repr=False)
class Adjudicated(Displayed):
    """Grades that a rule made of judgements; a console or notebook shows their number by grade and origin.

    Attributes
    ----------
    grades
        :data:`collection.core.frames.QRELS` and ``by``: how the grade came about, see :func:`describe_origin`.
    rounds, converged
        Of a rule that estimates: its number of rounds, and whether it converged.
    notes
        Which judgements were left out.
    """

    grades: pd.DataFrame
    rule: ChosenRule
    rounds: int | None = None
    converged: bool | None = None
    notes: tuple[str, ...] = ()

    @property
    def qrels(self) -> pd.DataFrame:
        """The grades as :data:`collection.core.frames.QRELS`, without ``by``."""
        return self.grades[list(QRELS.names)]

    @property
    def caution(self) -> str:
        """A warning if the rule did not converge, or ""."""
        if self.converged is None or self.converged:
            return ""
        return (
            f"{self.rule} did not converge after {count(self.rounds or 0, 'round')}; more rounds might change some "
            "grades"
        )

    def _summary(self) -> Summary:
        table = pd.crosstab(self.grades["by"].rename("origin"), self.grades["relevance"])
        headline = f"{count(len(self.grades), 'grade')} by the rule {self.rule}, counted by origin and relevance"
        notes = [*self.notes, *([self.caution] if self.caution else [])]
        return Summary([headline], table, notes, "qrels, grades (with their origin)")


def adjudicate(judgements: pd.DataFrame, rule: str | ChosenRule = DEFAULT_RULE, **parameters: str) -> Adjudicated:
    """Turn several annotators' judgements of a pair into one grade by a rule of :data:`ADJUDICATION_RULES`.

    Parameters
    ----------
    judgements
        :data:`.JUDGEMENTS`, oldest first (without ``counts_as`` all are judgements). An annotator's
        last grade of a pair counts, with a note, and a pair's last adjudication; surplus judgements and rows without a
        grade do not.
    rule, **parameters
        As for :func:`parse_rule`.

    Returns
    -------
    Adjudicated
        ``relevance`` is float64 by fractional rules and if a grade has a fraction, else int64; pairs in order of their
        first judgement.

    Raises
    ------
    UnknownNameError, InputError
        As for :func:`parse_rule`; the annotator graded nothing; a grade is infinite; or `judgements` are no such frame.

    Examples
    --------
    >>> import pandas as pd
    >>> said = pd.DataFrame({"query_id": "1", "doc_id": "d", "annotator": ["ann", "bob"], "kind": "graded",
    ...                      "relevance": [2, 0]})
    >>> adjudicate(said).grades[["relevance", "by"]].values.tolist(), adjudicate(said, "mean").qrels.values.tolist()
    ([[0, 'tie']], [['1', 'd', 1.0]])
    >>> ended = pd.concat([said.assign(counts_as="judgement"), said[:1].assign(annotator="eve", relevance=1,
    ...                    counts_as="adjudication")])
    >>> adjudicate(ended).grades[["relevance", "by"]].values.tolist()
    [[1, 'adjudicated']]
    """
    chosen = parse_rule(rule, **parameters)
    matrix = JudgementMatrix.of(judgements)
    entry = ADJUDICATION_RULES[chosen.name]
    adjudicated = entry.function(matrix, **chosen.parameters)
    has = ~np.isnan(adjudicated.grade)
    grades = adjudicated.grade[has]
    grades = grades if entry.fractional or (grades % 1).any() else grades.astype(np.int64)
    pairs = (
        matrix.pairs[has].assign(relevance=grades, by=pd.array(adjudicated.by[has], dtype="str")).reset_index(drop=True)
    )
    notes: tuple[str, ...] = ()
    if matrix.repeated:
        notes = (
            f"{count(matrix.repeated, 'row')} left out: the same annotator graded the pair again further down, and the "
            "last grade counts.",
        )
    return Adjudicated(pairs, chosen, adjudicated.rounds, adjudicated.converged, notes)


def describe_origin(by: str) -> str:
    """Describe a value of the column ``by`` of adjudicated grades."""
    return ORIGINS[by] if by in ORIGINS else ADJUDICATION_RULES[by].origin


def count_origins(grades: pd.DataFrame) -> dict[str, int]:
    """Number of grades of each origin, in the order of :data:`ORIGINS`."""
    counts = grades["by"].value_counts()
    names = [
        *(name for name in ORIGINS if name in counts.index),
        *(name for name in counts.index if name not in ORIGINS),
    ]
    return {name: int(counts[name]) for name in names}
