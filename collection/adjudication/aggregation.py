"""Choosing a rule, in words or in code, and settling judgements by it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection.adjudication.judgement_matrix import BY, Words
from collection.adjudication.rules import RULES
from collection.errors import InputError, UnknownNameError

DEFAULT_RULE = "adjudicated-or-majority"

_WRITTEN = re.compile(r"\s*([^()]*?)\s*(?:\((.*)\))?\s*", re.S)
_PARAMETER = re.compile(
    r"""\s* (\w+) \s*=\s*                   # the name
    (?: "((?:[^"]|"")*)" | ((?!").*?) )    # the value, with or without quotes
    \s* (?: ,(?=\s*\w+\s*=) | \Z)         # the next one, or the end""",
    re.S | re.X,
)
_NEEDS_QUOTES = re.compile(r'[,=()"]|^\s|\s$')


class Chosen(NamedTuple):
    """A rule of the table with all its parameters; ``str()`` writes it as :func:`parse` reads it.

    Examples
    --------
    >>> str(Chosen("annotator", {"annotator": "Smith, John"}))
    'annotator(annotator="Smith, John")'
    """

    name: str
    parameters: dict[str, Any]

    def __str__(self) -> str:
        defaults = RULES[self.name].parameters
        said = ", ".join(f"{k}={_quoted(v)}" for k, v in self.parameters.items() if v != defaults[k])
        return f"{self.name}({said})" if said else self.name


def _quoted(value: Any) -> str:
    """A value of a parameter: in quotes, a quote in it twice, where it would be read as something else without."""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def parse(written: str | Chosen | None = None, **parameters: Any) -> Chosen:
    """A rule as people write it: its name, and in brackets what differs from its defaults.

    Parameters
    ----------
    written
        ``majority``, ``majority(ties=higher)``, ``annotator(annotator=ann)``; the default rule if left out. A value
        may stand in double quotes, a quote in it twice: ``annotator(annotator="Smith, John, b=2")``.
    **parameters
        Set, or set anew, after those in brackets; None counts as not given.

    Raises
    ------
    UnknownNameError
        There is no such rule, parameter or value of a parameter.
    InputError
        It is not written like that.

    Examples
    --------
    >>> str(parse("majority (ties = higher)")), parse("majority").parameters
    ('majority(ties=higher)', {'ties': 'lower'})
    >>> str(parse("annotator", annotator="ann"))
    'annotator(annotator=ann)'
    """
    if isinstance(written, Chosen):
        name, given = written.name, dict(written.parameters)
    else:
        name, given = _read(DEFAULT_RULE if written is None else written)
    entry = RULES[name]
    used = entry.parameters
    for key, value in {**given, **{k: v for k, v in parameters.items() if v is not None}}.items():
        if key not in used:
            if not used:
                raise InputError(f"the rule {name} has no parameter, found {key}={value}")
            raise UnknownNameError(f"parameter of {name}", key, used)
        used[key] = entry.read(key, str(value))
    return Chosen(name, used)


def _read(written: str) -> tuple[str, dict[str, str]]:
    found = _WRITTEN.fullmatch(written)
    if found is None:
        raise InputError(f"a rule is written as majority or majority(ties=higher), found {written!r}")
    name, inside = found[1], (found[2] or "").strip()
    given: dict[str, str] = {}
    place = 0
    while place < len(inside):
        parameter = _PARAMETER.match(inside, place)
        if parameter is None:
            raise InputError(f"a rule is written as majority or majority(ties=higher), found {written!r}")
        key, quoted, plain = parameter.groups()
        given[key] = plain if quoted is None else quoted.replace('""', '"')
        place = parameter.end()
    return name, given


def settle(judgements: pd.DataFrame, rule: str | Chosen = DEFAULT_RULE, **parameters: Any) -> pd.DataFrame:
    """Settle current judgements into qrels by a rule of the table :data:`RULES`.

    Parameters
    ----------
    judgements
        Current judgements, oldest first, at most one per annotator, pair and ``counts_as``: ``query_id``, ``doc_id``,
        ``annotator``, ``kind``, ``relevance``, and ``counts_as`` (where it is missing, all are judgements). Of several
        adjudications of a pair the last one stands, whoever made it. What is surplus is left out.
    rule, **parameters
        As for :func:`parse`.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``relevance`` (int64; float64 where the rule is fractional) and ``by``, how the grade
        came about (:data:`~collection.adjudication.BY`). One row per pair that has a grade, in order of each pair's
        first. ``attrs["rule"]`` names the rule; where it estimates, ``attrs["rounds"]`` and
        ``attrs["converged"]`` say how many rounds that took, and whether it came to rest.

    Raises
    ------
    UnknownNameError, InputError
        As for :func:`parse`; the rule ``annotator`` names nobody, or somebody who graded nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> said = pd.DataFrame({"query_id": "1", "doc_id": "d", "annotator": ["ann", "bob"], "kind": "graded",
    ...                      "relevance": [2, 0]})
    >>> settle(said)[["relevance", "by"]].values.tolist(), settle(said, "mean")["relevance"].tolist()
    ([[0, 'tie']], [1.0])
    >>> ended = pd.concat([said.assign(counts_as="judgement"), said[:1].assign(annotator="eve", relevance=1,
    ...                    counts_as="adjudication")])
    >>> settle(ended)[["relevance", "by"]].values.tolist()
    [[1, 'adjudicated']]
    """
    chosen = parse(rule, **parameters)
    words = Words.of(judgements)
    entry = RULES[chosen.name]
    found = entry.function(words, **chosen.parameters)
    has = ~np.isnan(found.grade)
    grades = found.grade[has]
    if not entry.fractional:
        grades = grades.astype(np.int64)
    settled = words.pairs[has].assign(relevance=grades, by=found.by[has].astype(str)).reset_index(drop=True)
    settled.attrs["rule"] = str(chosen)
    if found.converged is not None:
        settled.attrs |= {"rounds": found.rounds, "converged": found.converged}
    return settled


def origin(by: str) -> str:
    """What a value of the column ``by`` of settled qrels means."""
    return BY[by] if by in BY else RULES[by].origin


def origins(settled: pd.DataFrame) -> dict[str, int]:
    """How many grades came about in each way, in the order of :data:`BY`.

    Examples
    --------
    >>> import pandas as pd
    >>> origins(pd.DataFrame({"by": ["mean", "agreed", "agreed"]}))
    {'agreed': 2, 'mean': 1}
    """
    counts = settled["by"].value_counts()
    names = [*(name for name in BY if name in counts.index), *(name for name in counts.index if name not in BY)]
    return {name: int(counts[name]) for name in names}


def caution(settled: pd.DataFrame) -> str:
    """What is to be known of qrels before they are relied upon, or "": that an estimate had not come to rest.

    Parameters
    ----------
    settled
        From :func:`settle`, with its ``attrs``.

    Examples
    --------
    >>> import pandas as pd
    >>> qrels = pd.DataFrame()
    >>> caution(qrels)
    ''
    >>> qrels.attrs = {"rule": "dawid-skene", "rounds": 10_000, "converged": False}
    >>> caution(qrels)
    'dawid-skene had not come to rest after 10,000 rounds: with more of them some pairs might have other grades'
    """
    if settled.attrs.get("converged", True):
        return ""
    return (
        f"{settled.attrs['rule']} had not come to rest after {settled.attrs['rounds']:,} rounds: with more of them "
        "some pairs might have other grades"
    )
