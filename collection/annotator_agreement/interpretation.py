"""Sentences that interpret agreement."""

from __future__ import annotations

from math import isnan

import pandas as pd

from collection.annotator_agreement.breakdowns import Agreement

FIRM, TENTATIVE = 0.8, 0.667
"""Krippendorff's (2004, chapter 11) customary bounds of alpha."""

TREC_OVERLAP = "42 to 49%"
"""Overlap of any two of TREC-4's three judges (Voorhees 2000, table 1)."""


def select_value(values: pd.DataFrame, coefficient: str, scale: str = "graded") -> pd.Series:
    """The row of a coefficient in ``Agreement.values``."""
    return values[(values["scale"] == scale) & (values["coefficient"] == coefficient)].iloc[0]


def format_with_interval(row: pd.Series) -> str:
    """``0.427 (0.401 to 0.451)``; "none" where there is no value."""
    if isnan(row["value"]):
        return "none"
    return f"{row['value']:.3f}" + ("" if isnan(row["low"]) else f" ({row['low']:.3f} to {row['high']:.3f})")


def interpret(found: Agreement) -> list[str]:
    """Sentences on what was compared, and on alpha and overlap beside customary and published values.

    No verdict: how much agreement is enough depends on what the collection is for.
    """
    people = _count(len(found.annotators), "annotator")
    several = f"{found.several:,} of them by two annotators or more"
    said = [f"{people} gave {_count(found.judgements, 'grade')} to {_count(found.pairs, 'pair')}, {several}."]
    alpha = select_value(found.values, "alpha-ordinal")
    if isnan(alpha["value"]):
        return [*said, f"Agreement cannot be computed: {alpha['note']}."]
    said.append(f"Krippendorff's alpha, ordinal, is {format_with_interval(alpha)}: {_custom(alpha, found.several)}.")
    overlap = select_value(found.values, "overlap", "binary")
    if not isnan(overlap["value"]):
        said.append(
            f"Of the documents that one of two annotators calls relevant (grade {found.level:g} or more), both call "
            f"{100 * overlap['value']:.0f}% so. TREC's judges had {TREC_OVERLAP}, and there the systems kept nearly "
            "the same order whoever had judged (Voorhees 2000); whether yours do is for the runs to show."
        )
    return said


def _custom(alpha: pd.Series, several: int) -> str:
    """What is customary with such an alpha, by the lower bound of its interval if it has one."""
    # Rounded as shown: 0.800 is not less than 0.800.
    shown = round(alpha["value"], 3)
    low = shown if isnan(alpha["low"]) else round(alpha["low"], 3)
    if low <= 0:
        return (
            f"on {_count(several, 'pair')} that cannot be told from chance; more pairs of several annotators would say"
        )
    if low >= FIRM:
        return f"Krippendorff's custom is to rely on grades with {FIRM:.3f} or more"
    if shown >= FIRM:
        return f"Krippendorff's custom is to rely on grades with {FIRM:.3f} or more, and the interval begins below that"
    if shown >= TENTATIVE:
        below = "" if low >= TENTATIVE else ", and the interval begins below that"
        return f"Krippendorff's custom is to draw tentative conclusions from {TENTATIVE} to {FIRM:.3f}{below}"
    return (
        f"Krippendorff's custom is to rely on no single grade below {TENTATIVE}. Among people who judge relevance "
        "so low a value is common"
    )


def describe_tau(tau: float, swaps: int, runs: int) -> str:
    """A sentence on Kendall's tau between two orders of runs."""
    return f"{swaps:,} of {runs * (runs - 1) // 2:,} pairs of runs change places (Kendall's tau {tau:.3f})"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
