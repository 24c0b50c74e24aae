"""A campaign that is a literature review: its settings and stages."""

from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import CampaignError, InputError, JudgementError, UnknownNameError
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


def _decisions(review: Campaign) -> dict[str, str]:
    table = review.review.decisions.table()
    return dict(zip(table["doc_id"], table["decision"], strict=True))


def test_decisions_of_one_screener(review: Campaign) -> None:
    judge = review.judging.judge
    judge("ann", "review", "r0", 0, answers={REASON: "Wrong outcome"}, note="In mice")
    judge("ann", "review", "r1", 1)
    judge("ann", "review", "r2", cannot_judge="No abstract")
    assert _decisions(review) == {"r0": "exclude", "r1": "maybe", "r2": "maybe", "r3": "unscreened"}
    row = review.review.decisions.table().iloc[0]
    assert row.tolist() == [
        "r0", "exclude", "ann", "", "Wrong outcome", "In mice", "ann", "exclude", "title and abstract",
    ]  # fmt: skip


def test_what_is_not_excluded_goes_on_to_full_text(review: Campaign) -> None:
    judge = review.judging.judge
    for doc_id, grade in (("r0", 0), ("r1", 1), ("r2", 2)):
        judge("ann", "review", doc_id, grade)
    assert review.review.full_texts.advance() == 2
    assert review.review.full_texts.advance() == 0
    assert review.judging.next_pairs("ann", "full-text", 5).documents[0].doc_id == "r1"
    judge("ann", "full-text", "r1", cannot_judge="No full text")
    judge("ann", "full-text", "r2", 0, answers={REASON: "Other"})
    table = review.review.decisions.table().set_index("doc_id")
    assert table["decision"].tolist() == ["exclude", "not retrieved", "exclude", "unscreened"]
    assert table["stage"].tolist() == ["title and abstract", "full text", "full text", "title and abstract"]
    assert table.loc["r2", ["title_abstract", "full_text", "reason"]].tolist() == ["include", "exclude", "Other"]


def test_what_is_excluded_later_leaves_the_full_texts_unless_screened(review: Campaign) -> None:
    judge = review.judging.judge
    judge("ann", "review", "r1", 2)
    judge("ann", "review", "r2", 2)
    review.review.full_texts.advance()
    judge("ann", "full-text", "r2", 2)
    judge("ann", "review", "r1", 0)
    judge("ann", "review", "r2", 0)
    review.review.full_texts.advance()
    assert review.store.pool.ids()["doc_id"].tolist() == ["r2"]
    assert _decisions(review)["r2"] == "exclude"
    judge("ann", "review", "r1", 2)
    assert review.review.full_texts.advance() == 1


def test_two_screeners(review: Campaign) -> None:
    review.review.update(screeners=2)
    judge = review.judging.judge
    for annotator, doc_id, grade in [
        ("ann", "r0", 0), ("bob", "r0", 0), ("ann", "r1", 2), ("bob", "r1", 0), ("ann", "r2", 2),
    ]:  # fmt: skip
        judge(annotator, "review", doc_id, grade)
    assert _decisions(review) == {"r0": "exclude", "r1": "conflict", "r2": "unscreened", "r3": "unscreened"}
    assert review.review.decisions.table()["title_abstract_by"].tolist() == ["ann, bob", "ann, bob", "ann", ""]
    judge("cat", "review", "r1", 2, adjudicate=True)
    assert _decisions(review)["r1"] == "include"
    review.review.full_texts.advance()
    pool = review.store.pool.annotators_wanted()
    assert pool[["doc_id", "wanted"]].to_numpy().tolist() == [["r1", 2]]
    for annotator, reason in (("ann", "Other"), ("bob", "Wrong outcome")):
        judge(annotator, "full-text", "r1", 0, answers={REASON: reason})
    assert _decisions(review)["r1"] == "conflict"


def test_known_records_are_included_for_good(review: Campaign, tmp_path: Path) -> None:
    text = "Balance training in older people who live at home, measured over a year after a first fall."
    review.store.corpus.add_documents(
        [
            Document("k1", "Balance training and falls", text, {"doi": "10.1000/fall.1", "year": 2019}),
            Document("k2", "Strength training and falls", text[:40], {"pmid": "12345", "year": 2018}),
        ]
    )
    ris = tmp_path / "known.ris"
    ris.write_text("TY  - JOUR\nTI  - Strength training and falls\nPY  - 2018\nER  - \n")
    found = review.review.find_known(
        ["https://doi.org/10.1000/FALL.1", "PMID: 12345", "balance training & Falls", "Else"]
    )
    assert [each.doc_id for each in found] == ["k1", "k2", "k1", ""]
    assert review.review.find_known([], [ris])[0].doc_id == "k2"
    assert review.review.find_known(["Balance training and falls"])[0].title == "Balance training and falls"
    review.review.update(screeners=2)
    assert review.review.add_known(["k1", "k2"], "ann") == 2
    assert review.review.add_known(["k1"], "ann") == 0
    assert _decisions(review)["k1"] == "include"
    handed_out = {each.doc_id for each in review.judging.next_pairs("bob", "review", 9).documents}
    assert handed_out == {"r0", "r1", "r2", "r3"}
    assert review.review.decisions.known() == ["k1", "k2"]
    review.review.remove_known("k1")
    assert _decisions(review)["k1"] == "unscreened"
    with pytest.raises(UnknownNameError):
        review.review.add_known(["nothing"], "ann")


def test_only_an_exclusion_contradicts_what_goes_on_to_full_text(review: Campaign) -> None:
    review.review.update(screeners=2)
    judge = review.judging.judge
    for doc_id, grades in {"r0": (1, 2), "r1": (0, 0), "r2": (2, 2)}.items():
        for annotator, grade, reason in zip(("ann", "bob"), grades, ("Other", "Wrong outcome"), strict=True):
            judge(annotator, "review", doc_id, grade, answers={} if grade else {REASON: reason})
    table = review.review.decisions.table()
    assert table["decision"].tolist() == ["maybe", "exclude", "include", "unscreened"]
    assert table["reason"][1] == "Other; Wrong outcome"
    assert review.review.full_texts.advance() == 2
    for annotator, grade in (("ann", 1), ("bob", 2)):
        judge(annotator, "full-text", "r0", grade)
        judge(annotator, "full-text", "r2", 0, answers={REASON: "Other"})
    assert _decisions(review)["r0"] == "conflict"
    assert review.review.decisions.table()["reason"][2] == "Other"
    review.review.update(full_text=False)
    assert _decisions(review)["r0"] == "conflict"


def test_an_adjudication_without_a_reason_has_those_of_the_screeners(review: Campaign) -> None:
    review.review.update(screeners=2)
    review.judging.judge("ann", "review", "r0", 0, answers={REASON: "Other"})
    review.judging.judge("bob", "review", "r0", 2)
    review.judging.judge("eva", "review", "r0", 0, adjudicate=True)
    assert review.review.decisions.table().loc[0, ["decision", "reason"]].tolist() == ["exclude", "Other"]


def test_a_record_leaves_the_full_texts_after_its_screening_was_undone(review: Campaign) -> None:
    review.judging.judge("ann", "review", "r0", 2)
    review.review.full_texts.advance()
    review.judging.judge("ann", "full-text", "r0", 2)
    review.judging.judge("ann", "review", "r0", 0)
    review.judging.judge("ann", "full-text", "r0", undo=True)
    review.review.full_texts.advance()
    assert review.store.pool.ids().empty
    review.judging.judge("ann", "review", "r1", 2)
    review.review.full_texts.advance()
    assert len(review.judging.next_pairs("ann", "full-text", 9).documents) == 1
    review.judging.judge("ann", "review", "r1", 0)
    review.review.full_texts.advance()  # ann has it on screen
    assert len(review.store.pool.ids()) == 1


def test_known_records_are_no_random_draws_and_no_opinions(review: Campaign) -> None:
    review.review.update(screeners=2)
    review.review.add_known(["r1"], "ann")
    ledger = review.progress.loop_scope.ledgers(["review"])["review"]
    assert (int(ledger.relevant.sum()), int(ledger.drawn.sum())) == (1, 0)
    assert review.results.agreement.labels().empty
    loop_round = review.loop.next_round("review")
    handed_out = review.judging.next_pairs("bob", "review", 9, loop_round=loop_round).documents
    assert {each.doc_id for each in handed_out} == {"r0", "r2", "r3"}


def test_the_second_screener_gets_what_the_first_has_screened(review: Campaign) -> None:
    review.review.update(screeners=2)
    for n in range(4):
        review.judging.judge("ann", "review", f"r{n}", n % 3)
    assert review.judging.next_pairs("ann", "review", 9).documents == []
    assert len(review.judging.next_pairs("bob", "review", 9).documents) == 4
    review.review.update(screeners=1)
    assert review.judging.next_pairs("bob", "review", 9).documents == []


def test_records_with_one_of_two_decisions_are_handed_out_after_the_end(review: Campaign) -> None:
    review.review.update(screeners=2)
    for doc_id, grade in (("r0", 0), ("r1", 2)):
        review.judging.judge("ann", "review", doc_id, grade)
    review.settings.set_loop(topics=["review"], mode="closed")
    assert not review.judging.next_pairs("ann", "review", 5).documents
    assert review.judging.topic_with_work("ann") is None
    assert review.progress.topic_standings("ann")["review"] == (2, 2)
    assert review.progress.topic_standings("bob")["review"] == (0, 2)
    assert review.judging.topic_with_work("bob", wait=False) == "review"
    pairs = review.judging.next_pairs("bob", "review", 5, ["r2"])  # which nobody has screened
    assert [each.doc_id for each in pairs.documents] == ["r0", "r1"]
    assert pairs.closed == ["r2"]
    for doc_id in ("r0", "r1"):
        review.judging.judge("bob", "review", doc_id, 0)
    assert review.judging.topic_with_work("bob", wait=False) is None
    assert review.progress.topic_standings("bob", "review")["review"] == (2, 2)
    assert _decisions(review) == {"r0": "exclude", "r1": "conflict", "r2": "unscreened", "r3": "unscreened"}


def test_other_closed_topics_stay_closed(review: Campaign) -> None:
    review.judging.judge("ann", "review", "r0", 2)
    review.settings.set_loop(topics=["review"], mode="closed")
    assert not review.judging.next_pairs("bob", "review", 5).documents


def test_each_screener_has_a_count_of_their_own(review: Campaign) -> None:
    review.review.update(screeners=2)
    review.review.add_known(["r3"], "ann")
    for doc_id in ("r0", "r1"):
        review.judging.judge("ann", "review", doc_id, 2)
    assert review.progress.topic_standings("ann", "review")["review"] == (2, 3)
    assert review.progress.topic_standings("bob", "review")["review"] == (0, 3)
    review.judging.judge("bob", "review", "r0", 0)
    for name in ("ann", "bob"):
        assert review.progress.standing("review", name) == (2 if name == "ann" else 1, 3)
        assert review.progress.totals(name) == review.progress.standing("review", name)


def test_records_screened_by_others_leave_the_own_total(review: Campaign) -> None:
    review.judging.judge("ann", "review", "r0", 0)
    assert review.progress.standing("review", "ann") == (1, 4)
    assert review.progress.standing("review", "bob") == (0, 3)
