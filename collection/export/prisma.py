"""Numbers of the PRISMA 2020 flow diagram of a literature review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from collection.core.errors import InputError

NO_REASON = "No reason given"
"""Shown for exclusions without a reason."""


@dataclass(frozen=True)
class PrismaCounts:
    """Numbers of the PRISMA 2020 flow diagram; records and reports that nobody has decided on yet are open.

    The numbers add up: what enters a stage leaves it, or is open there.

    Attributes
    ----------
    databases, registers, other_methods
        Records identified by each database and each register of studies, and by other methods, such as citation
        searching and websites. A file of which the database is unknown counts as one, under the name of the file;
        documents without bibliographic records count as identified by other methods.
    previous
        Reports included in the previous version of an updated review; None for a new review.
    known_from_previous
        Records of an update that were already in the previous version of the review.
    duplicates, decided_duplicates
        Duplicate records removed: certain duplicates, and those that a person decided on.
    not_screened
        Records that were unscreened when screening ended, in PRISMA's words marked as ineligible by automation tools.
    screened
        Records on whose title and abstract all screeners have decided, those with conflicts included.
    excluded
        Reason -> records excluded by title and abstract.
    full_text
        Whether the review has a second stage, which assesses full texts. Without it, the numbers of reports are 0.
    sought, not_retrieved, assessed
        Reports sought for retrieval (all records that were not excluded), those without a full text, and those on which
        all screeners have decided, those with conflicts included.
    reports_excluded
        Reason -> reports excluded by full text.
    included
        Reports of included studies.
    studies
        Studies that these reports describe, if known.
    undecided
        Records with "maybe" as decision of the last stage.
    unscreened, conflicts
        Open records of the first stage: without decisions of all screeners, or screened with conflicting decisions.
    reports_unscreened, reports_conflicts
        The same for the second stage.
    known
        Screened records that were included because their relevance was known beforehand.

    Raises
    ------
    InputError
        The numbers do not add up, or one is negative.

    Source: M. J. Page et al., The PRISMA 2020 statement, BMJ 2021;372:n71.

    Examples
    --------
    >>> counts = PrismaCounts({"Embase": 5, "MEDLINE": 4}, duplicates=2, screened=6, excluded={"": 5}, included=1,
    ...                       unscreened=1)
    >>> counts.identified, counts.removed, counts.open
    (9, 2, 1)
    """

    databases: Mapping[str, int]
    registers: Mapping[str, int] = field(default_factory=dict)
    other_methods: Mapping[str, int] = field(default_factory=dict)
    previous: int | None = None
    known_from_previous: int = 0
    duplicates: int = 0
    decided_duplicates: int = 0
    not_screened: int = 0
    screened: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    full_text: bool = False
    sought: int = 0
    not_retrieved: int = 0
    assessed: int = 0
    reports_excluded: Mapping[str, int] = field(default_factory=dict)
    included: int = 0
    studies: int | None = None
    undecided: int = 0
    unscreened: int = 0
    conflicts: int = 0
    reports_unscreened: int = 0
    reports_conflicts: int = 0
    known: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                object.__setattr__(self, each.name, dict(value))
            for number in value.values() if isinstance(value, Mapping) else [value or 0]:
                if number < 0:
                    raise InputError(f"{each.name}: expected a number of records, found {number}")
        reports = self.sought, self.not_retrieved, self.assessed, self.reports_unscreened, self.reports_conflicts
        if not self.full_text and (any(reports) or self.reports_excluded):
            raise InputError("a review without full texts has no numbers of reports")
        goes_on = self.screened - self.total_excluded - self.conflicts
        assessed = self.assessed - self.total_reports_excluded - self.reports_conflicts
        last = assessed if self.full_text else goes_on
        sums = [
            ("records identified", self.identified, self.removed + self.screened + self.unscreened),
            ("records included or undecided", last, self.included + self.undecided),
        ]
        if self.full_text:
            left = self.not_retrieved + self.assessed + self.reports_unscreened
            sums += [("records not excluded", goes_on, self.sought), ("reports sought", self.sought, left)]
        for name, whole, parts in sums:
            if whole != parts:
                unequal = f"{whole:,} {name}, but the parts are {parts:,}"
                raise InputError(f"the numbers of the diagram do not add up: {unequal}")

    @property
    def identified(self) -> int:
        """Return the number of records of all sources."""
        return sum(sum(each.values()) for each in (self.databases, self.registers, self.other_methods))

    @property
    def removed(self) -> int:
        """Return the number of records removed before screening."""
        return self.duplicates + self.decided_duplicates + self.known_from_previous + self.not_screened

    @property
    def total_excluded(self) -> int:
        """Return the number of records excluded by title and abstract."""
        return sum(self.excluded.values())

    @property
    def total_reports_excluded(self) -> int:
        """Return the number of reports excluded by full text."""
        return sum(self.reports_excluded.values())

    @property
    def open(self) -> int:
        """Return the number of records and reports without a final decision."""
        stages = self.unscreened + self.conflicts + self.reports_unscreened + self.reports_conflicts
        return stages + self.undecided

    def to_json(self) -> dict[str, Any]:
        """Return all numbers by their names, with sums, for JSON."""
        numbers = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"identified": self.identified, **numbers, "open": self.open}

    def table(self) -> pd.DataFrame:
        """Return the numbers as rows ``stage``, ``item``, ``detail`` (source or reason) and ``n``."""
        return pd.DataFrame(list(self._rows()), columns=["stage", "item", "detail", "n"])

    def _rows(self) -> list[tuple[str, str, str, int]]:
        identification, screening, included = "Identification", "Screening", "Included"
        sources = {"databases": self.databases, "registers": self.registers, "other methods": self.other_methods}
        rows = [
            (identification, f"Records from {what}", name, n)
            for what, numbers in sources.items()
            for name, n in numbers.items()
        ]
        if self.previous is not None:
            rows += [
                ("Previous studies", "Reports of studies included in previous version", "", self.previous),
                (identification, "Records known from previous version", "", self.known_from_previous),
            ]
        rows += [
            (identification, "Duplicate records removed", "certain", self.duplicates),
            (identification, "Duplicate records removed", "decided by a person", self.decided_duplicates),
            (identification, "Records marked as ineligible by automation tools", "", self.not_screened),
            (screening, "Records screened", "", self.screened),
            *((screening, "Records excluded", reason or NO_REASON, n) for reason, n in self.excluded.items()),
            (screening, "Records not screened yet", "", self.unscreened),
            (screening, "Records with conflicting decisions", "", self.conflicts),
        ]
        if self.full_text:
            gone = self.reports_excluded.items()
            rows += [
                (screening, "Reports sought for retrieval", "", self.sought),
                (screening, "Reports not retrieved", "", self.not_retrieved),
                (screening, "Reports assessed for eligibility", "", self.assessed),
                *((screening, "Reports excluded", reason or NO_REASON, n) for reason, n in gone),
                (screening, "Reports not assessed yet", "", self.reports_unscreened),
                (screening, "Reports with conflicting decisions", "", self.reports_conflicts),
            ]
        rows.append((screening, "Undecided", "", self.undecided))
        if self.studies is not None:
            rows.append((included, "Studies included in review", "", self.studies))
        rows.append((included, "Reports of included studies", "", self.included))
        return rows
