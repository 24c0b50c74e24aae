"""Families of stopping rules with one strictness setting each, for risk control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.phrases import count
from collection.core.registry import Entry, Registry
from collection.stopping.ledger import Ledger
from collection.stopping.published import find_knees

Criterion = Callable[[Ledger], Floats]
"""(ledger) -> (n + 1,) value of the criterion after 0, 1, ... n judgements. Value t depends on the first t judgements
alone, so that a rule decides the same whether or not a topic was judged further."""

EVERYTHING = float("inf")
"""The strictest setting of every family: judge every document that can be judged."""


@dataclass(frozen=True, repr=False)
class RuleFamily(Entry[Criterion]):
    """Stopping rules "stop when the criterion first reaches s", for every setting s of a grid.

    The stopping point never decreases with s, because a criterion that has reached s has reached every smaller setting,
    at the same judgement or before: it is the first time that the *running maximum* of the criterion reaches s.
    """

    _: KW_ONLY
    grid: Floats
    """(S,) settings, increasing; :data:`EVERYTHING` follows as the last one."""
    wording: Callable[[float], str]
    """(setting) -> the rule as an imperative, without a full stop."""

    @property
    def settings(self) -> Floats:
        """(S + 1,) settings from the least strict one to :data:`EVERYTHING`."""
        return np.append(self.grid, EVERYTHING)

    @property
    def traits(self) -> dict[str, str]:
        """The settings."""
        return {"settings": f"{len(self.grid):,} from {self.grid[0]:,.7g} to {self.grid[-1]:,.7g}, then every document"}

    def describe(self, setting: float) -> str:
        """Word the rule with a setting.

        >>> RULE_FAMILIES["consecutive"].describe(40), RULE_FAMILIES["consecutive"].describe(EVERYTHING)
        ('stop after 40 irrelevant documents in a row', 'judge every document')
        """
        return "judge every document" if setting == EVERYTHING else self.wording(setting)

    def find_stops(self, ledger: Ledger) -> Ints:
        """Find the number of judgements after which each setting stops.

        Returns
        -------
        array
            (S + 1,) non-decreasing; n + 1 for a setting that has not stopped after the n judgements of the ledger. A
            setting that the criterion equals stops. A setting of 0 stops before the first judgement.
        """
        reached = np.maximum.accumulate(self.function(ledger))
        return np.searchsorted(reached, self.settings - TOLERANCE, side="left").astype(np.int64)


TOLERANCE = 1e-9
"""Tolerance with which .3 is three tenths."""

RULE_FAMILIES = Registry("rule family", RuleFamily, group="cleverdon.rule_families")
"""Every family: (ledger) -> criterion after each number of judgements."""

COUNTS = np.unique(np.round(np.geomspace(1, 1_000_000, 400)))
"""Numbers from 1 to a million, in steps of about 3.5% where that is more than 1."""

SHARES = np.arange(1, 200) / 200


def _tally(ledger: Ledger) -> tuple[Floats, Floats, Floats]:
    """(n + 1,) judgements made, relevant documents found, and irrelevant documents since the last relevant one."""
    judged = np.arange(ledger.judged + 1, dtype=np.float64)
    relevant = np.concatenate(([0.0], np.cumsum(ledger.relevant, dtype=np.float64)))
    last = np.maximum.accumulate(np.concatenate(([0.0], np.where(ledger.relevant, judged[1:], 0.0))))
    return judged, relevant, judged - last


@RULE_FAMILIES.add(
    "consecutive",
    label="Irrelevant in a row",
    description="Stop after a number of irrelevant documents in a row.",
    grid=COUNTS,
    wording=lambda s: f"stop after {count(int(s), 'irrelevant document')} in a row",
)
def consecutive(ledger: Ledger) -> Floats:
    """Count the irrelevant documents since the last relevant one, or since the start.

    Source: Ros, Bjarnason & Runeson, EASE 2017; common practice long before.
    """
    return _tally(ledger)[2]


@RULE_FAMILIES.add(
    "scaled",
    label="Irrelevant in a row, scaled",
    description="Stop after irrelevant documents in a row, the fewer the more relevant documents are found.",
    grid=COUNTS,
    wording=lambda s: f"stop after {s:,.0f} / √(1 + relevant documents found) irrelevant documents in a row",
)
def scaled(ledger: Ledger) -> Floats:
    """Multiply the irrelevant documents since the last relevant one by the square root of 1 + relevant documents found.

    A missed document costs the less recall the more relevant documents there are, so a topic with many may stop sooner.
    The exponent of a half was chosen by replays on Cranfield and Vaswani.
    """
    _, relevant, row = _tally(ledger)
    return row * np.sqrt(1 + relevant)


@RULE_FAMILIES.add(
    "knee",
    label="Knee",
    description="Stop when the gain curve flattens by a factor.",
    grid=np.unique(np.round(np.geomspace(1, 10_000, 300), 2)),
    wording=lambda s: f"stop when the slope of the gain curve has fallen {s:,g}-fold",
)
def knee(ledger: Ledger) -> Floats:
    """Compute the slope of the gain curve before its knee over the slope after it, 0 without a knee.

    The knee is the point farthest above the line from the origin to the end of the curve. Unlike the stopping rule of
    that name, it has no minimum number of judgements or relevant documents. Source: Cormack & Grossman, "Engineering
    quality and reliability in technology-assisted review", SIGIR 2016.
    """
    if not ledger.judged:
        return np.zeros(1)
    return np.append(0.0, find_knees(ledger, np.arange(1, ledger.judged + 1))[1])


@RULE_FAMILIES.add(
    "fixed",
    label="Fixed budget",
    description="Stop after a number of judgements.",
    grid=COUNTS,
    wording=lambda s: f"stop after {count(int(s), 'judgement')}",
)
def fixed(ledger: Ledger) -> Floats:
    """Count the judgements.

    Source: the depth of a TREC pool is such a budget (Sparck Jones & van Rijsbergen, 1975).
    """
    return _tally(ledger)[0]


@RULE_FAMILIES.add(
    "share",
    label="Share of the scope",
    description="Stop after a share of the documents in scope.",
    grid=SHARES,
    wording=lambda s: f"stop after {100 * s:g}% of the documents in scope",
)
def share(ledger: Ledger) -> Floats:
    """Compute the judgements over the number of documents in scope.

    Source: "half" of Yang, Lewis & Frieder, DocEng 2021, with any share.
    """
    return _tally(ledger)[0] / max(ledger.size, 1)
