"""Sentences that interpret agreement."""

from __future__ import annotations

from math import isnan

import pandas as pd

from collection.annotator_agreement.breakdowns import Agreement
from collection.phrases import count, percent, plural

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


def interpret(found: Agreement) -> list[str]:
    """Report what was compared, and alpha and overlap next to conventional and published values.

    There is no verdict, because how much agreement is enough depends on the purpose of the collection.
    """
    people = count(len(found.annotators), "annotator")
    several = f"{count(found.several, 'pair')} {plural(found.several, 'has', 'have')} 2 or more grades"
    said = [f"{people} gave {count(found.judgements, 'grade')} to {count(found.pairs, 'pair')}; {several}."]
    alpha = select_value(found.values, "alpha-ordinal")
    if isnan(alpha["value"]):
        return [*said, f"Agreement cannot be computed: {alpha['note']}."]
    value = format_with_interval(alpha).replace("(", "(95% CI ")
    said.append(f"Krippendorff's alpha (ordinal) is {value}: {_custom(alpha, found.several)}.")
    overlap = select_value(found.values, "overlap", "binary")
    if not isnan(overlap["value"]):
        said.append(
            f"The overlap of relevant documents (grade {found.level:g} or more) is {percent(overlap['value'])}. In "
            f"TREC-4 it was {TREC_OVERLAP}, and rankings of systems hardly depended on the annotator (Voorhees 2000); "
            "check the effect on your own rankings."
        )
    return said


def _custom(alpha: pd.Series, several: int) -> str:
    """The conventional reading of such an alpha, by the lower bound of its interval if it has one."""
    # Rounded as shown: 0.800 is not less than 0.800.
    shown = round(alpha["value"], 3)
    low = shown if isnan(alpha["low"]) else round(alpha["low"], 3)
    if low <= 0:
        above = "not above chance" if isnan(alpha["low"]) else "not significantly above chance"
        return f"{above}, with {count(several, 'pair')}; let a second annotator judge more pairs"
    firm = f"reliable by convention ({FIRM:g} or more)"
    if low >= FIRM:
        return firm
    if shown >= FIRM:
        return f"{firm}, but the interval starts below that"
    if shown >= TENTATIVE:
        below = "" if low >= TENTATIVE else ", but the interval starts below that"
        return f"enough for tentative conclusions by convention ({TENTATIVE:g} to {FIRM:g}){below}"
    return f"not reliable by convention (below {TENTATIVE:g}), but such values are common for relevance judgements"


def describe_tau(tau: float, swaps: int, runs: int) -> str:
    """Describe the agreement of two orders of runs by Kendall's tau."""
    pairs = count(runs * (runs - 1) // 2, "pair of runs", "pairs of runs")
    return f"{swaps:,} of {pairs} {plural(swaps, 'is', 'are')} swapped (Kendall's tau {tau:.3f})"
