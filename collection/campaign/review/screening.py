"""Screening of records in a literature review: its settings, stages and decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from collection.campaign.judging.judging import Judging
from collection.campaign.people.assignments import Assignments
from collection.campaign.settings.settings import Settings
from collection.core.errors import CampaignError
from collection.core.review import Review
from collection.store import Store


@dataclass(eq=False)
class Screening:
    """Screening of records in a literature review."""

    store: Store
    settings: Settings
    judging: Judging
    assignments: Assignments

    def require(self) -> Review:
        """Return the review; CampaignError if the campaign is none."""
        review = self.settings.review()
        if review is None:
            raise CampaignError("this campaign is no literature review; create one with `cleverdon new DIR --review`")
        return review

    def update(self, **changes: Any) -> Review:
        """Change fields of the :class:`.Review`; decisions already made stay.

        Raises
        ------
        CampaignError
            The campaign is no review.
        InputError
            A value is invalid.
        """
        with self.store.transaction():
            review = replace(self.require(), **changes)
            self.settings.set_review(review)
            self.assignments.spread_overlap()
        return review
