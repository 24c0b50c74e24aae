"""A campaign that is a literature review: its settings and stages."""

from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import CampaignError, InputError, JudgementError
from collection.core.records import Document
from collection.core.review import DEFAULT_REASONS, REASON, Review
from collection.core.vocabulary import RETRIEVAL, REVIEW


@pytest.fixture
def review(tmp_path: Path):
    with Campaign.create(tmp_path / "review", review=Review("Exercise and falls")) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(4)])
        yield campaign


def test_a_new_review(review: Campaign) -> None:
    settings = review.settings
    assert (review.title, settings.review()) == ("Exercise and falls", Review("Exercise and falls"))
    assert settings.modes() == {"review": "loop", "full-text": "pool"}
    assert (settings.loop().level, settings.loop().target) == (1, 0.95)
    assert settings.reasons() == list(DEFAULT_REASONS)
    assert settings.vocabulary is REVIEW


def test_a_change_keeps_topics_and_assignment_in_step(review: Campaign) -> None:
    review.settings.set_reasons(["Animals", "Other"])
    review.review.update(title="Falls", question="Does exercise help?", screeners=2, full_text=False)
    assert review.title == "Falls"
    assert review.settings.reasons() == ["Animals", "Other"]
    assert review.settings.modes() == {"review": "loop", "full-text": "closed"}
    assert review.store.corpus.topics().iloc[0].tolist() == ["review", "Falls", "Does exercise help?", ""]
    assert review.settings.assignment().annotators == 2
    review.review.update(full_text=True)
    assert review.settings.modes()["full-text"] == "pool"
    with Campaign(review.directory) as again:
        assert again.title == "Falls"
        assert again.settings.review() == review.settings.review()


def test_a_reason_is_required_for_full_texts_only(review: Campaign) -> None:
    review.judging.judge("ann", "review", "r0", 0)
    with pytest.raises(JudgementError, match="reason"):
        review.judging.judge("ann", "full-text", "r0", 0)
    review.judging.judge("ann", "full-text", "r0", 0, answers={REASON: "Other"})
    review.judging.judge("ann", "full-text", "r1", 2)
    counts = review.progress.missing_answers.table()
    assert counts[["asked", "missing"]].to_numpy().tolist() == [[1, 0]]


def test_other_campaigns_are_no_reviews(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "other") as campaign:
        assert campaign.settings.review() is None
        assert campaign.settings.vocabulary is RETRIEVAL
        with pytest.raises(CampaignError, match="new DIR --review"):
            campaign.review.update(title="a")
        with pytest.raises(InputError, match="0, 1 and 2"):
            campaign.settings.set_review(Review("a"))
