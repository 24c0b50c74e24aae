"""The calculation of one topic's value, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from collection.core.display import Displayed, Summary
from collection.core.errors import InputError, require_known
from collection.measures.aligned import UNJUDGED, Aligned
from collection.measures.alignment import from_grades
from collection.measures.measure import Measure, as_measure
from collection.measures.trace import record_steps

if TYPE_CHECKING:
    import pandas as pd

ALWAYS_SHOWN = 10
"""Ranks that the text always shows; below them only those that count."""


@dataclass(frozen=True, repr=False)
class Explanation(Displayed):
    """The calculation of a value; a console or notebook shows it rank by rank.

    Attributes
    ----------
    measure, topic, value
        What was computed, and the result.
    ranks
        One row per rank to the cut-off: ``rank``, ``doc_id`` (if known), ``grade`` (missing if unjudged), then a column
        for each number that the measure computes at that rank.
    facts
        The numbers that the topic has once: R, the ideal DCG, ...
    """

    measure: Measure
    topic: str
    ranks: pd.DataFrame
    facts: Mapping[str, float]
    value: float

    def __repr__(self) -> str:
        headlines, table, facts, *_ = self._summary()
        return "\n".join([*headlines, "", *_write(table), *facts])

    def _summary(self) -> Summary:
        here = ", ".join(f"{name}={value!r}" for name, value in self.measure.parameters.items())
        headlines = [f"{self.measure} of topic {self.topic}", self.measure.entry.formula]
        headlines += [f"Here with {here}."] if here else []
        facts = [f"{name} = {number:.6g}" for name, number in self.facts.items()]
        facts.append(f"{self.measure} = {self.value:.6f}")
        shown, details = _shorten(self.ranks), "ranks (all), facts"
        return Summary(headlines, shown, facts, details, row_names=False, most_rows=None)


def explain(
    measure: Measure | str,
    ranking: Aligned | Sequence[float | None],
    *,
    topic: str | None = None,
    doc_ids: Sequence[str] | None = None,
) -> Explanation:
    """Explain the value of one topic, rank by rank.

    Parameters
    ----------
    ranking
        An aligned run, or the grades of a ranking (None: not judged) that has every relevant document.
    topic
        May be left out if there is only one.
    doc_ids
        The documents of the topic's ranking, best first.

    Raises
    ------
    InputError
        No topic is named and there are several, or `doc_ids` has another length than the ranking.
    UnknownNameError
        There is no such topic or measure.

    Examples
    --------
    >>> print(explain("AP", [1, 0, 1]))
    AP of topic 1
    AP = (1/R) * sum of P@i over the ranks i of relevant documents; with @k over i <= k.
    <BLANKLINE>
    rank  grade  P at i
       1      1       1
       2      0
       3      1  0.6667
    sum of P at i = 1.66667
    R = 2
    AP = 0.833333
    """
    import pandas as pd

    measure = as_measure(measure)
    aligned = ranking if isinstance(ranking, Aligned) else from_grades([ranking])
    if topic is None:
        if len(aligned.topics) != 1:
            raise InputError(f"topic: expected one of the {len(aligned.topics)} topics to explain, found none")
        (topic,) = aligned.topics
    require_known("topic", aligned.topics, topic)
    one = aligned.only(topic)
    if doc_ids is not None and len(doc_ids) != one.retrieved[0]:
        raise InputError(f"doc_ids: expected the {one.retrieved[0]} documents of topic {topic!r}, found {len(doc_ids)}")
    prepared, keywords = measure.prepare(one)
    with record_steps() as steps:
        (value,) = measure.entry.function(prepared, **keywords)

    grades = prepared.grades[0]
    columns: dict[str, object] = {"rank": np.arange(1, len(grades) + 1)}
    if doc_ids is not None:
        in_ranking = (
            one.grades[0] > UNJUDGED if measure.parameters.get("judged_only") else np.ones(len(doc_ids), np.bool_)
        )
        columns["doc_id"] = np.array(list(doc_ids), dtype=object)[in_ranking]
    shown = one.condensed.grades[0] if measure.parameters.get("judged_only") else one.grades[0]
    columns["grade"] = np.where(shown > UNJUDGED, shown, np.nan)
    facts: dict[str, float] = {}
    for name, values, ranks in steps:
        if ranks is not None:
            column = np.full(len(grades), np.nan)
            column[ranks - 1] = values
            columns[name] = column
        elif values.ndim == 2:
            column = np.full(len(grades), np.nan)
            column[: values.shape[1]] = values[0][: len(grades)]
            columns[name] = column
        else:
            facts[name] = float(values[0])
    table = pd.DataFrame(columns)
    if measure.entry.at == "cutoff" and measure.level is not None:
        table = table.head(int(measure.level))
    return Explanation(measure, topic, table, facts, float(value))


def _shorten(ranks: pd.DataFrame) -> pd.DataFrame:
    """The cells as text; ranks below the first few only where something counts, and dots where some are left out."""
    import pandas as pd

    counts = (ranks.drop(columns=["rank", "doc_id"], errors="ignore").fillna(0) > 0).any(axis=1)
    if ranks.drop(columns=["rank", "doc_id", "grade"], errors="ignore").notna().all().any():
        counts = ranks["grade"] > 0  # numbers at every rank say nothing of which ranks count
    shown = ranks[(ranks["rank"] <= ALWAYS_SHOWN) | counts | (ranks["rank"] == len(ranks))]
    cells = []
    before = 0
    for row in shown.itertuples(index=False):
        if row[0] > before + 1:
            cells.append(["..."] + [""] * (len(ranks.columns) - 1))
        before = row[0]
        cells.append([_cell(value, name) for value, name in zip(row, ranks.columns, strict=True)])
    return pd.DataFrame(cells, columns=ranks.columns)


def _write(cells: pd.DataFrame) -> list[str]:
    """Lines with aligned columns."""
    if cells.empty:
        return ["(nothing retrieved)"]
    rows = [list(map(str, cells.columns)), *cells.to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if name == "doc_id" else cell.rjust(width)
            for cell, width, name in zip(row, widths, cells.columns, strict=True)
        ).rstrip()
        for row in rows
    ]


def _cell(value: float | str | None, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None or np.isnan(value):
        return "-" if name == "grade" else ""
    return f"{value:.4g}"
