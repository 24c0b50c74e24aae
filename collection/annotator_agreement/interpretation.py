"""Sentences that interpret agreement."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import pandas as pd

from collection.annotator_agreement.breakdowns import Agreement
from collection.core.phrases import count, join, percent, plural

CHANCE = "not"
"""Beginning of the reading of an alpha that chance may explain."""

FIRM, TENTATIVE = 0.8, 0.667
"""Krippendorff's (2004, chapter 11) conventional bounds of alpha."""

TREC_OVERLAP = "42% to 49%"
"""Overlap of any two of TREC-4's three annotators (Voorhees 2000, table 1)."""


def select_value(values: pd.DataFrame, coefficient: str, scale: str = "graded") -> pd.Series:
    """The row of a coefficient in ``Agreement.values``."""
    return values[(values["scale"] == scale) & (values["coefficient"] == coefficient)].iloc[0]


def format_with_interval(row: pd.Series) -> str:
    """``0.427 (0.401 to 0.451)``; "none" without a value."""
    if isnan(row["value"]):
        return "none"
    return f"{row['value']:.3f}" + ("" if isnan(row["low"]) else f" ({row['low']:.3f} to {row['high']:.3f})")


def interpret(agreement: Agreement, *, of_relevance: bool = True) -> list[str]:
    """Report what was compared, how alpha reads by convention, its values, and overlap next to published values.

    Alpha is read for the order of the grades, for exact grades, and for relevant or not, since each tolerates other
    disagreements: none alone makes the grades reliable. There is no other verdict, because how much agreement is enough
    depends on the purpose of the collection. Published values concern the grades of relevance (`of_relevance`) only.
    """
    people = count(len(agreement.annotators), "annotator")
    given = "answer" if agreement.is_nominal else "grade"
    several = f"{count(agreement.several, 'pair')} {plural(agreement.several, 'has', 'have')} 2 or more {given}s"
    sentences = [f"{people} gave {count(agreement.judgements, given)} to {count(agreement.pairs, 'pair')}; {several}."]
    alpha = select_value(agreement.values, "alpha-nominal" if agreement.is_nominal else "alpha-ordinal")
    if isnan(alpha["value"]):
        return [*sentences, f"Agreement cannot be computed: {alpha['note']}."]
    views = _views(agreement, of_relevance)
    sentences.append(_read_views(views))
    values = [f"{view.name} {format_with_interval(view.row).replace('(', '(95% CI ')}" for view in views]
    counted = (
        "" if len(views) == 1 else f" {'; '.join(view.counts for view in views)}.".replace(" ordinal", " Ordinal", 1)
    )
    sentences.append(f"Krippendorff's alpha: {join(values)}.{counted}")
    sentences.append(
        f"By convention, alpha is reliable from {FIRM:g} on, and tentative conclusions are possible from {TENTATIVE:g} "
        f"on{'; lower values are common for relevance judgements' if of_relevance else ''}."
    )
    if unclear := [view.subject for view in views if _read(view.row).startswith(CHANCE)]:
        on = f" {join(unclear)}" if len(views) > 1 else ""
        sentences.append(
            f"{count(agreement.several, 'pair')} cannot distinguish agreement{on} from chance: let a second annotator "
            "judge more pairs."
        )
    if not of_relevance:
        return sentences
    overlap = select_value(agreement.values, "overlap", "binary")
    if not isnan(overlap["value"]):
        sentences.append(
            f"The overlap of relevant documents (grade {agreement.level:g} or more) is {percent(overlap['value'])}. In "
            f"TREC-4 it was {TREC_OVERLAP}, and rankings of systems hardly depended on the annotator (Voorhees 2000); "
            "check the effect on your own rankings."
        )
    return sentences


class _View(NamedTuple):
    """A way to count disagreements: the alpha for it, what it is about, and how it counts."""

    name: str
    subject: str
    counts: str
    row: pd.Series


def _views(agreement: Agreement, of_relevance: bool) -> list[_View]:
    """The views that differ on this scale: with two grades all are the same, and names have no others."""
    if agreement.is_nominal:
        return [_View("nominal", "", "", select_value(agreement.values, "alpha-nominal"))]
    ordinal, nominal = (select_value(agreement.values, f"alpha-{name}") for name in ("ordinal", "nominal"))
    binary = select_value(agreement.values, "alpha-nominal", "binary")
    level = f"{agreement.level:g}"
    views = [
        _View("ordinal", "on the order of the grades", "ordinal alpha counts neighbouring grades as a small difference",
              ordinal),
        _View("nominal", "on exact grades", "nominal alpha counts every difference in full", nominal),
        _View(f"binary (grade {level} or more)", "on binary relevance" if of_relevance else f"on grade {level} or more",
              f"binary alpha counts only differences across grade {level}", binary),
    ]  # fmt: skip
    return [view for view in views if not isnan(view.row["value"])] if len(agreement.grades) > 2 else views[:1]


def _read_views(views: Sequence[_View]) -> str:
    """Write how each alpha reads by convention, those with the same reading together."""
    if len(views) == 1:
        return f"Agreement is {_read(views[0].row)}."
    subjects: dict[str, list[str]] = {}
    for view in views:
        subjects.setdefault(_read(view.row), []).append(view.subject)
    return " ".join(f"Agreement {join(on)} is {reading}." for reading, on in subjects.items())


def _read(alpha: pd.Series) -> str:
    """The conventional reading of such an alpha, by the lower bound of its interval if it has one."""
    # Rounded as shown: 0.800 is not less than 0.800.
    shown = round(alpha["value"], 3)
    low = shown if isnan(alpha["low"]) else round(alpha["low"], 3)
    if low <= 0:
        return f"{CHANCE} above chance" if isnan(alpha["low"]) else f"{CHANCE} significantly above chance"
    if shown < TENTATIVE:
        return "below the conventional limits"
    reading, least = ("reliable", FIRM) if shown >= FIRM else ("tentative", TENTATIVE)
    if low >= least:
        return reading
    return f"uncertain: alpha is in the {reading} range, but its confidence interval extends below {least:g}"


def describe_tau(tau: float, swaps: int, runs: int) -> str:
    """Describe the agreement of two orders of runs by Kendall's tau."""
    pairs = count(runs * (runs - 1) // 2, "pair of runs", "pairs of runs")
    return f"{swaps:,} of {pairs} {plural(swaps, 'is', 'are')} swapped (Kendall's tau {tau:.3f})"
