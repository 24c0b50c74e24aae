"""The demo's simulated annotators, and the topics that they judge.

Nobody sat down to judge the demo. The grades are those of ``judgements.jsonl``, with a few errors of one grade; the
times are random. :mod:`collection.demo.simulation` made the judgements, and stored them in ``simulated.jsonl``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple


class Annotator(NamedTuple):
    """A simulated annotator."""

    name: str
    source: str
    """Annotator of ``judgements.jsonl`` whose grades these are."""
    errors: float
    """Share of grades that are one too high or one too low."""
    seconds: float
    """Median time per document, without the time for reading; times are log-normal."""
    first_day: datetime


FAST = Annotator("simulated-1", "model-a", 0.02, 5.0, datetime(2026, 11, 9, 8, 30, tzinfo=UTC))
SLOW = Annotator("simulated-2", "model-b", 0.04, 13.0, datetime(2026, 11, 9, 9, 15, tzinfo=UTC))
LOOP = Annotator("simulated-3", "model-a", 0.03, 8.0, datetime(2026, 11, 12, 13, 5, tzinfo=UTC))
ANNOTATORS = (FAST, SLOW, LOOP)

BY_BOTH = ("2", "3", "4", "5", "6", "8", "9", "10", "11", "12")
"""Topics whose pools FAST and SLOW judge to the end."""

IN_LOOP: dict[str, int | None] = {"1": 18, "7": None}
"""Topics that LOOP judges within the pool, and the number of judgements; None: until the advice is to stop."""
