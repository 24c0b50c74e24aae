"""Steps of a literature review, from the question to the report."""

from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import CampaignError
from collection.core.records import Document
from collection.core.review import REASON, Review

RECORD = "TY  - JOUR\nTI  - {}\nAU  - {}\nAB  - {}\nPY  - 2019\nER  - \n\n"


def _states(campaign: Campaign) -> dict[str, tuple[bool, str]]:
    return {each.name: (each.done, each.sentence) for each in campaign.review.steps.table()}


def test_from_the_question_to_the_report(tmp_path: Path) -> None:
    ris = tmp_path / "falls.ris"
    balance, strength = "Balance training prevents falls", "Strength training prevents falls"
    texts = ["", "", "Something on muscles."]
    rows = zip((balance, balance, strength), ("Berg, T", "Lund, K", "Holm, A"), texts, strict=True)
    ris.write_text("".join(RECORD.format(*row) for row in rows))
    with Campaign.create(tmp_path / "review", review=Review("Exercise and falls")) as campaign:
        steps, judge = campaign.review.steps, campaign.judging.judge
        assert steps.next_step().page == "set-up"
        campaign.review.update(question="Does exercise prevent falls?", include=("Trials",))
        assert _states(campaign)["Question"] == (True, "Does exercise prevent falls? (1 criterion)")
        assert not steps.is_set_up()
        campaign.imports.import_files(documents=[ris])
        assert steps.is_set_up()
        states = _states(campaign)
        assert states["Records"] == (True, "3 records, 0 duplicates removed.")
        assert states["Duplicates"][1] == "Decide on 1 pair of possible duplicates."
        assert steps.next_step().page == "duplicates"
        campaign.records.decide(int(campaign.records.pairs()["pair"].iloc[0]), "distinct", "ann")
        assert _states(campaign)["Duplicates"] == (True, "1 pair of possible duplicates decided.")
        first, second, third = campaign.store.corpus.ids_with_text()
        campaign.review.add_known([third], "ann")
        assert _states(campaign)["Records"][1].endswith(", 1 known to be relevant.")
        assert steps.next_step() == ("judge", "Screen titles and abstracts: 1 of 3 records screened.")
        judge("ann", "review", first, 0)
        judge("ann", "review", second, 2)
        assert _states(campaign)["Title and abstract"] == (True, "3 of 3 records screened.")
        assert steps.next_step() == ("full-texts", "Screen full texts: 0 of 2 full texts screened.")
        judge("ann", "full-text", second, 0, answers={REASON: "Other"})
        judge("ann", "full-text", third, 2)
        assert _states(campaign)["Full text"] == (True, "2 of 2 full texts screened.")
        assert steps.next_step() == ("report", "1 record included.")


def test_screening_that_was_ended_is_done(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls", "Why?", full_text=False)) as campaign:
        (tmp_path / "a.ris").write_text(RECORD.format("Balance", "Berg, T", "Text."))
        campaign.imports.import_files(documents=[tmp_path / "a.ris"])
        campaign.settings.set_loop(topics=["review"], mode="closed")
        states = _states(campaign)
        assert states["Title and abstract"] == (True, "0 of 1 record screened; screening has ended.")
        assert "Full text" not in states


def test_a_stage_with_conflicts_is_not_done(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls", "Why?", screeners=2)) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(3)])
        judge, full_texts = campaign.judging.judge, campaign.review.full_texts
        for name, grades in (("ann", (2, 2, 2)), ("bob", (0, 2, 2))):
            for place, grade in enumerate(grades):
                judge(name, "review", f"r{place}", grade)
        resolve = "3 of 3 records screened, 1 conflict to resolve."
        assert _states(campaign)["Title and abstract"] == (False, resolve)
        assert campaign.review.steps.next_step() == ("adjudicate", resolve)
        judge("cat", "review", "r0", 2, adjudicate=True)
        assert _states(campaign)["Title and abstract"] == (True, "3 of 3 records screened.")
        full_texts.mark_not_retrieved(["r0"], "No answer", "ann")
        screened = "0 of 3 full texts screened, 1 not retrieved"
        assert _states(campaign)["Full text"] == (False, f"Screen full texts: {screened}.")
        for name, grade in (("ann", 2), ("bob", 1)):
            judge(name, "full-text", "r1", grade)
            judge(name, "full-text", "r2", 2)
        screened = "2 of 3 full texts screened, 1 not retrieved"
        assert _states(campaign)["Full text"] == (False, f"{screened}, 1 conflict to resolve.")
        judge("cat", "full-text", "r1", 2, adjudicate=True)
        assert _states(campaign)["Full text"] == (True, f"{screened}.")


def test_screening_that_ended_before_the_second_decision_is_not_done(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls", "Why?", screeners=2)) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(3)])
        for annotator, doc_id in (("ann", "r0"), ("bob", "r0"), ("ann", "r1")):
            campaign.judging.judge(annotator, "review", doc_id, 2)
        campaign.settings.set_loop(topics=["review"], mode="closed")
        counts = campaign.review.report.prisma()
        assert (counts.screened, counts.unscreened, counts.not_screened) == (1, 1, 1)
        lack = "1 of 3 records screened; screening has ended, but 1 record waits for the second decision."
        assert _states(campaign)["Title and abstract"] == (False, lack)
        assert campaign.review.steps.next_step().page == "judge"
        campaign.judging.judge("ann", "review", "r2", 0)
        stopping = campaign.review.report.stopping()
        assert "2 records lack the second decision" in stopping.missing
        assert stopping.advice == "2 records lack the second decision."
        assert "screened" not in f"{stopping.found}{stopping.next}"


def test_other_campaigns_have_no_steps(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "other") as campaign, pytest.raises(CampaignError, match="not a literature review"):
        campaign.review.steps.table()


def test_full_texts_are_done_once_no_more_records_can_come(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls", "Why?")) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(3)])
        assert _states(campaign)["Full text"] == (False, "No record has reached this stage yet.")
        campaign.judging.judge("ann", "review", "r0", 2)
        campaign.judging.judge("ann", "full-text", "r0", 2)
        assert _states(campaign)["Full text"] == (False, "1 of 1 full text screened.")
        for doc_id in ("r1", "r2"):
            campaign.judging.judge("ann", "review", doc_id, 0)
        assert _states(campaign)["Full text"] == (True, "1 of 1 full text screened.")


def test_the_target_that_first_decisions_reach_waits_for_the_second_ones(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "review", review=Review("Falls", "Why?", screeners=2)) as campaign:
        campaign.store.corpus.add_documents([Document(f"r{n}", f"Record {n}", "Text.") for n in range(100)])
        for name, number in (("ann", 99), ("bob", 98)):  # one unscreened record is less than 5% of those found
            for n in range(number):
                campaign.judging.judge(name, "review", f"r{n}", 2)
        stopping = campaign.review.report.stopping()
        assert stopping.recall.decision.stop
        assert (stopping.may_stop, stopping.screened, stopping.half) == (False, 98, 1)
        assert stopping.advice.endswith("This may change, since 1 record lacks the second decision.")
        assert "1 record waits for the second decision" in campaign.review.steps.next_step().sentence
        campaign.judging.judge("bob", "review", "r98", 0)
        assert not campaign.review.report.stopping().may_stop  # a conflict
        campaign.judging.judge("cat", "review", "r98", 2, adjudicate=True)
        assert campaign.review.report.stopping().may_stop
