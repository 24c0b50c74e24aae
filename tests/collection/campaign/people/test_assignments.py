"""Who judges what, in a campaign: overlap, leases, qualification, topics and their people."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest
from click.testing import Result

from collection.campaign import Campaign
from collection.campaign.judging.judging import Client
from collection.campaign.log.results import JudgeResult
from collection.core.errors import CampaignError, ConflictError, InputError, UnknownNameError
from collection.core.records import Judgement
from tests.helpers import Clock, cases, fill, run

DOCS = [f"d{number}" for number in range(8)]
TOPICS = ["1", "2", "3"]


def build(folder: Path) -> Campaign:
    """Three topics with the same eight documents in the pool of each."""
    campaign = Campaign.create(folder / "campaign")
    fill(campaign, TOPICS, DOCS)
    for name in ("ann", "ben", "cai"):
        campaign.people.accounts.add(name, "annotator")
    return campaign


@pytest.fixture
def campaign(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def take(campaign: Campaign, annotator: str, count: int = 1, query_id: str = "1", holding: tuple[str, ...] = ()) -> str:
    found = campaign.judging.next_pairs(annotator, query_id, count, list(holding))
    return " ".join(d.doc_id for d in found.documents)


def say(
    campaign: Campaign, annotator: str, doc_id: str, grade: int | None = 1, query_id: str = "1", **more: object
) -> JudgeResult:
    kind = "undone" if grade is None else "graded"
    judgement = Judgement(str(uuid4()), annotator, query_id, doc_id, kind, grade, **more)
    return campaign.judging.judge_many([judgement], leased_only=True)


def words(campaign: Campaign) -> Counter[tuple[str, str]]:
    """How many annotators' judgements count for each pair."""
    frame = campaign.store.judgements.table()
    frame = frame[frame["counts_as"] == "judgement"]
    return Counter(zip(frame["query_id"], frame["doc_id"], strict=True))


# --- overlap --------------------------------------------------------------------------------------


def test_two_judge_each_pair_and_nobody_a_third_time(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=2)
    assert take(campaign, "ann", 2) == take(campaign, "ben", 2) == "d0 d1"
    assert take(campaign, "cai", 2) == "d2 d3"
    say(campaign, "ann", "d0")
    say(campaign, "ben", "d0")
    assert campaign.progress.standing("1", "cai") == (1, 8)
    assert campaign.progress.standing("1", "ann") == (1, 8)
    assert "d0" not in take(campaign, "cai", 9)


@pytest.mark.slow
def test_progress_and_workload_count_the_judgements_that_are_wanted(campaign: Campaign) -> None:
    take(campaign, "ann", 2)
    say(campaign, "ann", "d0")
    assert campaign.people.assignments.workload() == (24, 24, 1)
    assert campaign.people.assignments.workload(annotators=3) == (24, 72, 1)
    assert campaign.people.assignments.workload(annotators=2, which="number", number=2) == (24, 30, 1)
    assert campaign.people.assignments.workload(annotators=2, which="topics", topics=["1"]) == (24, 32, 1)
    assert campaign.settings.assignment().annotators == 1
    campaign.people.assignments.update(annotators=2, which="topics", topics=["1"])
    assert campaign.people.assignments.workload() == (24, 32, 1)
    progress = campaign.progress.topics().set_index("query_id")
    assert progress.loc["1", ["pool", "judged", "made", "goal"]].tolist() == [8, 1, 1, 16]
    assert progress.loc["2", ["pool", "judged", "made", "goal"]].tolist() == [8, 0, 0, 8]
    assert campaign.results.overview.status()["remaining"] == 31
    assert "31 of 32 judgements are left" in campaign.results.overview.next_step().sentence
    assert campaign.people.assignments.table().set_index("query_id").loc["1", ["wanted", "made"]].tolist() == [16, 1]


@pytest.mark.slow
def test_pairs_that_are_pooled_later_have_their_overlap(campaign: Campaign, tmp_path: Path) -> None:
    campaign.people.assignments.update(annotators=2, which="share", share=0.5)
    (tmp_path / "other.run").write_text("\n".join(f"1 Q0 n{n} {n} {100 - n} other" for n in range(1, 41)) + "\n")
    campaign.imports.import_files(runs=[tmp_path / "other.run"])
    before = campaign.people.assignments.workload()
    campaign.people.pools.add("depth", depth=40)
    assert campaign.people.assignments.workload().pairs == before.pairs + 40
    assert before.judgements + 48 < campaign.people.assignments.workload().judgements < before.judgements + 72


def test_an_adjudicated_pair_is_handed_out_no_more_and_counts_as_complete(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=3)
    assert take(campaign, "ann") == take(campaign, "ben") == "d0"
    say(campaign, "ann", "d0", 0)
    campaign.judging.judge("boss", "1", "d0", 2, adjudicate=True)
    assert campaign.progress.topics("1")["made"].tolist() == [3]
    assert take(campaign, "cai") == "d1"
    assert campaign.judging.next_pairs("ben", "1", 0, ["d0"]).closed == ["d0"]
    assert campaign.progress.standing("1", "cai") == (1, 8)


# --- leases and late judgements ---------------------------------------------------------------------


def test_a_reservation_ends_after_its_time_and_a_late_judgement_is_kept_but_not_counted(
    campaign: Campaign, clock: Clock
) -> None:
    campaign.people.assignments.update(lease=5)
    assert take(campaign, "ann") == "d0"
    clock.passes(299)
    assert take(campaign, "ben") == "d1"
    clock.passes(2)
    assert take(campaign, "ben") == "d0"
    late = say(campaign, "ann", "d0", 3)
    assert len(late.saved) == len(late.surplus) == 1
    assert not say(campaign, "ben", "d0", 1).surplus
    assert words(campaign)["1", "d0"] == 1
    assert campaign.results.qrels.build()[["doc_id", "relevance"]].values.tolist() == [["d0", 1]]
    log = campaign.store.judgements.table(current=False)
    assert log["counts_as"].tolist() == ["surplus", "judgement"]
    assert log["relevance"].tolist() == [3, 1]
    # It can be taken back, and given again, and is a surplus still.
    assert say(campaign, "ann", "d0", None).saved
    assert say(campaign, "ann", "d0", 2).surplus
    assert words(campaign)["1", "d0"] == 1


def test_a_lease_of_a_clock_that_was_ahead_holds_nothing(campaign: Campaign, clock: Clock) -> None:
    campaign.people.assignments.update(lease=5)
    clock.passes(30 * 24 * 3600)
    assert take(campaign, "ann") == "d0"
    clock.passes(-30 * 24 * 3600)
    assert take(campaign, "ben") == "d0"
    assert campaign.store.queue.held_pairs("ann", clock.at) == []
    assert campaign.store.queue.held_pairs("ben", clock.at) == [("1", "d0")]


def test_a_late_judgement_counts_where_nobody_has_taken_its_place(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    clock.passes(1e6)
    assert not say(campaign, "ann", "d0").surplus
    assert words(campaign)["1", "d0"] == 1


def test_who_takes_a_judgement_back_has_the_pair_in_hand(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    say(campaign, "ann", "d0")
    clock.passes(4000)
    say(campaign, "ann", "d0", None)
    assert "d0" not in take(campaign, "ben", 9)
    assert not say(campaign, "ann", "d0", 2).surplus


@pytest.mark.parametrize(
    ("mode", "overlap"),
    [
        ("pool", 2),
        pytest.param("pool", 1, marks=pytest.mark.long),
        pytest.param("random", 3, marks=pytest.mark.long),
        pytest.param("loop-in-pool", 2, marks=pytest.mark.long),
        pytest.param("loop", 2, marks=pytest.mark.long),
    ],
)
@pytest.mark.slow
@pytest.mark.fuzz
def test_no_pair_is_ever_judged_by_more_than_are_wanted(
    campaign: Campaign, clock: Clock, mode: str, overlap: int
) -> None:
    """Six annotators take, judge, undo, vanish and come back late, by chance; the clock leaps."""
    chance = random.Random(f"{mode}{overlap}")
    campaign.id = "always the same"  # what is shuffled is shuffled by it
    campaign.people.assignments.update(annotators=overlap, lease=2)
    campaign.settings.set_loop(mode=mode)
    hands: dict[str, list[str]] = {f"p{number}": [] for number in range(6)}
    done: dict[str, list[str]] = {name: [] for name in hands}
    surplus, steps = 0, cases(80, 250)
    for step in range(10 * steps):
        if step >= steps and surplus:  # without one, the test has not tried what it is for
            break
        name = chance.choice(list(hands))
        act = chance.random()
        if act < 0.4:
            answer = campaign.judging.next_pairs(name, "1", chance.randint(0, 3), hands[name])
            if chance.random() < 0.8:  # otherwise the answer never arrives
                fresh = [d.doc_id for d in answer.documents]
                hands[name] = [d for d in hands[name] if d not in answer.closed] + fresh
                done[name] = [d for d in done[name] if d not in fresh]  # a surplus one that is wanted after all
        elif act < 0.75 and hands[name]:
            doc_id = hands[name].pop(0)
            result = say(campaign, name, doc_id, chance.randint(0, 3))
            assert not result.refused
            surplus += len(result.surplus)
            done[name].append(doc_id)
        elif act < 0.85 and done[name]:
            doc_id = done[name].pop(chance.randrange(len(done[name])))
            assert not say(campaign, name, doc_id, None).refused
            hands[name].insert(0, doc_id)
        elif act < 0.9 and done[name]:
            assert not say(campaign, name, chance.choice(done[name]), chance.randint(0, 3)).refused
        else:
            clock.passes(chance.choice([1, 30, 130, 700]))
        assert max(words(campaign).values(), default=0) <= overlap
    assert surplus
    clock.passes(1e6)
    for name in hands:
        while doc_id := take(campaign, name):
            say(campaign, name, doc_id)
    whole = {("1", doc_id): overlap for doc_id in DOCS}
    assert words(campaign) == whole | ({("1", "outside"): overlap} if mode == "loop" else {})


@pytest.mark.slow
def test_in_the_loop_others_judge_what_was_judged(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop")
    campaign.people.assignments.update(annotators=2)
    first = take(campaign, "ann")
    say(campaign, "ann", first)
    assert take(campaign, "ben") == first
    say(campaign, "ben", first, 2)
    log = campaign.store.judgements.table()
    assert log["strategy"].tolist() == ["start", "overlap"]
    assert first not in take(campaign, "cai", 20)
    assert campaign.progress.loop_scope.ledgers(["1"])["1"].judged == 1


@pytest.mark.slow
def test_idle_cards_keep_no_second_opinion_from_others(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop-in-pool")
    campaign.people.assignments.update(annotators=2)
    for _ in DOCS:
        say(campaign, "ann", take(campaign, "ann"))
    held = take(campaign, "ben", 4).split()
    assert len(held) == 4
    assert sorted(held + take(campaign, "cai", 8).split()) == DOCS


@pytest.mark.slow
def test_a_draw_says_of_how_many_it_was_made_also_beside_second_opinions(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop-in-pool", run=1)
    campaign.people.assignments.update(annotators=2)
    say(campaign, "ann", take(campaign, "ann"), 1)
    while campaign.store.judgements.table()["strategy"].iloc[-1] != "random":
        first = take(campaign, "ann", 1)
        say(campaign, "ann", first, 0)
    judged = campaign.store.judgements.counts()["judgements"]
    drawn = campaign.store.judgements.table().iloc[-1]
    assert drawn["probability"] == pytest.approx(1 / (len(DOCS) - judged + 1))
    order = campaign.judging.next_pairs("ben", "1", 8).order
    assert order is not None
    leases = dict(
        campaign.store.connection.db.conn.execute(
            "SELECT d.doc_id, l.probability FROM leases AS l JOIN documents AS d USING (doc) WHERE annotator = 'ben'"
        )
    )
    assert order[:judged] == campaign.store.judgements.table()["doc_id"].tolist()  # second opinions first
    draws = [leases[doc_id] for doc_id in order[judged:] if leases[doc_id] is not None]
    assert draws == pytest.approx([1 / left for left in range(len(DOCS) - judged, 0, -1)][: len(draws)])
    assert draws
    # A round that is behind: what was judged since then is not drawn from, second opinions make no difference.
    made = campaign.loop.next_round("1")

    def since() -> int:
        return campaign.store.judgements.count_newly_judged(
            "1", campaign.store.judgements.count_entries("1") - made.model_round
        )

    assert since() == 0
    say(campaign, "ben", order[0], 0)
    assert since() == 0
    say(campaign, "ben", order[judged], 0)
    assert since() == 1
    say(campaign, "ben", order[judged], None)
    assert since() == 0


def test_the_random_order_ends_with_the_pool(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="random")
    held = take(campaign, "ann", 8).split()
    for doc_id in held:
        say(campaign, "ann", doc_id)
    after = campaign.judging.next_pairs("ann", "1", 8, held[-1:], client=Client(waits=False))
    assert (after.documents, after.closed, after.order) == ([], held[-1:], None)
    assert not (campaign.directory / "features").exists()


def test_a_document_that_was_found_may_have_a_second_opinion(campaign: Campaign) -> None:
    campaign.judging.search.take("ann", "1", "outside")
    with pytest.raises(InputError, match="has been judged or is open on another annotator's screen"):
        campaign.judging.search.take("ben", "1", "outside")
    campaign.people.assignments.update(annotators=2)
    assert campaign.judging.search.take("ben", "1", "outside").doc_id == "outside"
    with pytest.raises(InputError, match="has been judged or is open on another annotator's screen"):
        campaign.judging.search.take("cai", "1", "outside")


def test_a_late_judgement_that_is_sent_again_is_a_surplus_still(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    clock.passes(4000)
    take(campaign, "ben")
    late = Judgement(str(uuid4()), "ann", "1", "d0", "graded", 1)
    assert campaign.judging.judge_many([late], leased_only=True).surplus == [late.uuid]
    assert campaign.judging.judge_many([late], leased_only=True).surplus == [late.uuid]


@pytest.mark.slow
def test_a_drawn_document_stays_drawn_when_its_first_judge_changes_their_mind(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop-in-pool", run=1)
    campaign.people.assignments.update(annotators=2)
    say(campaign, "ann", take(campaign, "ann"), 1)
    while campaign.store.judgements.table()["strategy"].iloc[-1] != "random":
        say(campaign, "ann", take(campaign, "ann"), 0)
    drawn = campaign.store.judgements.table()["doc_id"].iloc[-1]
    for doc_id in take(campaign, "ben", 8).split():
        if doc_id == drawn:
            say(campaign, "ben", doc_id, 0)
    assert campaign.store.judgements.table()["strategy"].tolist()[-1] == "overlap"
    say(campaign, "ann", drawn, None)
    say(campaign, "ann", drawn, 0)
    assert campaign.progress.loop_scope.ledgers(["1"])["1"].drawn.sum() == 1


@pytest.mark.parametrize("name", ["", " ann", "ann ", "a\nb"])
def test_a_name_that_could_not_be_written_into_a_table_is_refused(campaign: Campaign, name: str) -> None:
    refused = campaign.judging.judge_many([Judgement(str(uuid4()), name, "1", "d0", "graded", 1)]).refused
    assert "expected the annotator of a judgement" in refused[0].reason


# --- qualification --------------------------------------------------------------------------------------


def test_everybody_judges_the_qualification_set_before_anything_else(campaign: Campaign) -> None:
    campaign.people.qualification_set.set_pairs([("2", "d5"), ("2", "outside")])
    assert take(campaign, "ann", 5) == ""
    assert campaign.judging.next_pairs("ann", "1", 5, ["d0"]).first == "2"
    for name in ("ann", "ben", "cai"):
        answer = campaign.judging.next_pairs(name, "2", 5)
        assert [d.doc_id for d in answer.documents] == list(answer.qualification) == ["d5", "outside"]
        say(campaign, name, "d5", query_id="2")
        say(campaign, name, "outside", query_id="2")
    assert words(campaign) == {("2", "d5"): 3, ("2", "outside"): 3}
    assert take(campaign, "ann", 2) == "d0 d1"
    assert take(campaign, "ann", 9, "2") == "d0 d1 d2 d3 d4 d6 d7"


def test_qualification_goes_beyond_the_assignment_and_an_adjudication(campaign: Campaign) -> None:
    campaign.people.qualification_set.set_pairs([("2", "d5")])
    campaign.people.assignments.assign(["2"], ["ben"])
    campaign.judging.judge("boss", "2", "d5", 3, adjudicate=True, note="by name")
    assert campaign.progress.topics_for("ann") == TOPICS
    assert campaign.progress.standing("2", "ann") == (0, 1)
    assert campaign.progress.totals("ann") == (0, 17)
    assert campaign.progress.totals("ben") == (0, 24)  # adjudicated, and theirs all the same
    assert take(campaign, "ann", 5, "2") == "d5"
    assert not say(campaign, "ann", "d5", 2, "2").feedback
    assert campaign.progress.totals("ann", "2") == (1, 17)  # the goal stays as it was
    assert campaign.progress.standing("2", "ann") == (1, 1)
    assert take(campaign, "ann", 5, "2") == ""
    campaign.people.assignments.update(feedback=True)
    take(campaign, "ben", 5, "2")
    (told,) = say(campaign, "ben", "d5", 3, "2").feedback
    assert (told.relevance, told.settled, told.note) == (3, 3, "by name")
    calibrated = campaign.people.qualification_set.results().set_index("annotator")
    assert calibrated["judged"].to_dict() == {"ann": 1, "ben": 1, "cai": 0}
    assert calibrated["agree"].fillna(-1).to_dict() == {"ann": 0, "ben": 1, "cai": -1}


def test_feedback_has_no_note_where_the_adjudicator_wrote_none(campaign: Campaign) -> None:
    campaign.people.qualification_set.set_pairs([("2", "d5"), ("2", "d6")])
    campaign.people.assignments.update(feedback=True)
    for doc_id, note in (("d5", None), ("d6", "by name")):
        j = Judgement(str(uuid4()), "boss", "2", doc_id, "graded", 3, counts_as="adjudication", note=note)
        campaign.judging.judge_many([j])
    assert take(campaign, "ann", 5, "2") == "d5 d6"
    told = [say(campaign, "ann", doc_id, 1, "2", note="mine").feedback[0].note for doc_id in ("d5", "d6")]
    assert told == [None, "by name"]
    # Somebody else's later word, without a note, is not explained by the note of the one before.
    campaign.judging.judge("chief", "2", "d6", 2, adjudicate=True)
    again = say(campaign, "ann", "d6", 1, "2").feedback[0]
    assert (again.settled, again.note) == (2, None)
    unclear = Judgement(str(uuid4()), "chief", "2", "d6", "cannot judge", reason="?", counts_as="adjudication")
    campaign.judging.judge_many([unclear])
    assert not say(campaign, "ann", "d6", 1, "2").feedback
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_reader_is_given_no_topic(campaign: Campaign) -> None:
    campaign.people.accounts.add("rita", "reader")
    with pytest.raises(InputError, match="'rita' is a reader"):
        campaign.people.assignments.assign(["1"], ["ann", "rita"])


def test_a_qualification_set_is_drawn_from_the_pool_at_random(campaign: Campaign) -> None:
    drawn = campaign.people.qualification_set.draw(3, seed=1)
    assert Counter(query_id for query_id, _ in drawn) == dict.fromkeys(TOPICS, 3)
    assert (
        drawn == campaign.people.qualification_set.draw(3, seed=1) != campaign.people.qualification_set.draw(3, seed=2)
    )
    assert len(campaign.people.qualification_set.draw(20, ["2"])) == 8
    campaign.people.qualification_set.set_pairs(drawn)
    assert [
        tuple(pair) for pair in campaign.store.assignments.qualification_set()[["query_id", "doc_id"]].values
    ] == drawn
    campaign.people.qualification_set.set_pairs([])
    assert campaign.store.assignments.qualification_set().empty


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("9", "d0")], "found topic '9'"),
        ([("1", "nobody")], "found 'nobody' without one"),
        ([("1", "d0"), ("1", "d0")], "found 1 d0 twice"),
    ],
)
def test_a_wrong_qualification_set_is_refused_by_name(
    campaign: Campaign, pairs: list[tuple[str, str]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        campaign.people.qualification_set.set_pairs(pairs)


def test_a_closed_topic_keeps_nobody_from_the_others(campaign: Campaign) -> None:
    campaign.people.qualification_set.set_pairs([("2", "d5")])
    campaign.settings.set_loop(mode="closed", topics=["2"])
    assert take(campaign, "ann") == "d0"
    campaign.settings.reopen_topic("2")
    assert campaign.judging.next_pairs("ann", "1", 1).first == "2"
    with pytest.raises(InputError, match="judge the qualification set first, in topic '2'"):
        campaign.judging.search.take("ann", "1", "outside")


def test_the_settled_grade_is_of_qrels_and_not_of_another_annotator(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\nzoe,1,d0,3\nyan,1,d0,0\n")
    (tmp_path / "nist.txt").write_text("1 0 d1 2\n")
    campaign.imports.import_files(labels=tmp_path / "labels.csv", qrels=tmp_path / "nist.txt")
    campaign.people.qualification_set.set_pairs([("1", "d0"), ("1", "d1")])
    assert campaign.store.assignments.qualification_set()["settled"].fillna(-1).tolist() == [-1, 2]


def test_reference_grades_take_the_place_of_one_annotator(campaign: Campaign, tmp_path: Path) -> None:
    """For a class: two students judge each pair beside the imported grades only if three annotators are wanted."""
    (tmp_path / "reference.txt").write_text("".join(f"{topic} 0 {doc} 1\n" for topic in TOPICS for doc in DOCS))
    campaign.imports.import_files(qrels=tmp_path / "reference.txt")
    assert take(campaign, "ann", 9) == ""
    assert campaign.people.assignments.notices() == []
    campaign.people.assignments.update(annotators=3)
    for student in ("ann", "ben"):
        assert take(campaign, student, 9) == " ".join(DOCS)
        for doc in DOCS:
            say(campaign, student, doc)
    assert take(campaign, "cai", 9) == ""
    assert campaign.people.assignments.workload() == (24, 72, 40)
    (said,) = campaign.people.assignments.notices()  # 3 accounts are enough for 2 people per pair
    assert "24 pairs" in said
    campaign.people.assignments.assign(["2"], ["ann", "ben"])
    assert campaign.people.assignments.notices() == [said]
    campaign.people.assignments.assign(["2"], ["ann"])
    assert campaign.people.assignments.notices()[1].startswith("1 annotator for topic 2, but each pair needs 2")


# --- labels from elsewhere ----------------------------------------------------------------------------


def test_labels_and_qrels_of_unknown_documents_are_imported_with_a_notice(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "annotator,query_id,doc_id,relevance\nzoe,1,zz2,3\nyan,1,zz2,0\nzoe,1,d1,0\nzoe,1,zz1,0\n"
    )
    (tmp_path / "nist.txt").write_text("1 0 zz1 2\n1 0 d1 2\n")
    report = campaign.imports.import_files(labels=tmp_path / "labels.csv", qrels=tmp_path / "nist.txt")
    what_to_do = "the grades count. Import the missing documents, or correct the ids"
    of_qrels, of_labels = (notice for notice in report.notices if "not in the collection" in notice)
    assert of_qrels == (
        f"{tmp_path}/nist.txt: 1 judgement names 1 document that is not in the collection, such as 'zz1'; {what_to_do}"
    )
    assert of_labels == (
        f"{tmp_path}/labels.csv: 3 judgements name 2 documents that are not in the collection, such as 'zz2'; "
        f"{what_to_do}"
    )
    assert len(campaign.store.judgements.table()) == 6


def test_labels_keep_their_times_and_notes(campaign: Campaign, tmp_path: Path) -> None:
    """A time without a zone is in UTC; the time of the import takes the place of a missing one."""
    times = {
        "d0": "2026-01-02T10:00:00+02:00",
        "d1": "2026-01-01 10:00:00",
        "d2": "2026-01-01T10:00:00.5Z",
        "d3": "",
    }
    rows = [f"zoe,1,{doc},1,{at},{doc}?\n" for doc, at in times.items()]
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance,judged_at,note\n" + "".join(rows))
    campaign.imports.import_files(labels=tmp_path / "labels.csv")
    log = campaign.store.judgements.table()
    assert log["doc_id"].tolist() == list(times), "the order of the log is that of the file"
    assert log["judged_at"].tolist()[:3] == [
        "2026-01-02T08:00:00.000+00:00", "2026-01-01T10:00:00.000+00:00", "2026-01-01T10:00:00.500+00:00"
    ]  # fmt: skip
    assert log["judged_at"].iloc[3] > "2026-01-03"
    assert log["note"].tolist() == ["d0?", "d1?", "d2?", "d3?"]
    assert set(log["source"]) == {"imported"}
    assert campaign.store.judgements.annotators()["last_at"].isna().all()


def test_labels_before_any_document_are_no_reason_for_a_notice(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\twings\n")
    (tmp_path / "nist.txt").write_text("1 0 zz1 2\n")
    with Campaign.create(tmp_path / "empty", grades="0-3") as empty:
        report = empty.imports.import_files(topics=tmp_path / "topics.tsv", qrels=tmp_path / "nist.txt")
    assert not any("collection" in notice for notice in report.notices)


def labels(campaign: Campaign, path: Path, rows: str, **options: bool) -> list[str]:
    """Import lines of annotator, document, grade and minute of topic 1; what the user should notice."""
    cells = [row.split() for row in rows.splitlines()]
    lines = [f"{who},1,{doc},{grade},2026-01-01T10:{minute}:00.000+00:00\n" for who, doc, grade, minute in cells]
    path.write_text("annotator,query_id,doc_id,relevance,judged_at\n" + "".join(lines))
    return campaign.imports.import_files(labels=path, **options).notices  # type: ignore[arg-type]


def counted(campaign: Campaign) -> dict[tuple[str, str], str]:
    """Annotator and document -> what the last entry of the log counts as."""
    log = campaign.store.judgements.table(current=False, query_id="1")
    return dict(zip(zip(log["annotator"], log["doc_id"], strict=True), log["counts_as"], strict=True))


@pytest.mark.slow
def test_labels_beyond_what_a_pair_wants_are_surplus_the_latest_first(campaign: Campaign, tmp_path: Path) -> None:
    notices = labels(campaign, tmp_path / "l.csv", "x d0 3 30\ny d0 0 10\nz d0 1 20\nx d1 2 30")
    assert counted(campaign) == {
        ("y", "d0"): "judgement", ("z", "d0"): "surplus", ("x", "d0"): "surplus", ("x", "d1"): "judgement",
    }  # fmt: skip
    counting, surplus = notices
    assert counting.endswith("l.csv: 2 labels count as judgements")
    assert "l.csv: 2 labels are surplus: their pairs have enough judgements. " in surplus
    assert words(campaign) == {("1", "d0"): 1, ("1", "d1"): 1}
    assert campaign.progress.topics("1").iloc[0][["judged", "made"]].tolist() == [2, 2]
    # Nothing that is said of the judgements looks at surplus.
    assert campaign.results.qrels.build()["relevance"].tolist() == [0, 2]
    assert campaign.results.agreement.report(resamples=0).several == 0
    assert campaign.results.agreement.disagreements().pairs == 0
    assert sorted(campaign.results.agreement.labels()["annotator"]) == ["x", "y"]


def test_labels_of_which_several_are_wanted_count_up_to_that(campaign: Campaign, tmp_path: Path) -> None:
    campaign.people.assignments.update(annotators=2, which="topics", topics=("1",))
    campaign.people.assignments.assign(
        ["1"], ["ann"]
    )  # who may be handed out a topic says nothing of what was judged elsewhere
    campaign.judging.judge("boss", "1", "d1", 1)
    labels(campaign, tmp_path / "l.csv", "x d0 3 30\ny d0 0 10\nz d0 1 20\nx d1 2 40\ny d1 2 50")
    assert {pair for pair, counts in counted(campaign).items() if counts == "judgement"} == {
        ("y", "d0"), ("z", "d0"), ("boss", "d1"), ("x", "d1"),
    }  # fmt: skip
    assert campaign.results.agreement.disagreements().pairs == 2


@pytest.mark.slow
def test_labels_that_are_imported_again_change_nothing_until_more_are_wanted(
    campaign: Campaign, tmp_path: Path
) -> None:
    rows = "x d0 3 30\ny d0 0 10\nz d0 1 20"
    labels(campaign, tmp_path / "l.csv", rows)
    logged = campaign.store.judgements.counts()["logged"]
    assert labels(campaign, tmp_path / "late.csv", "w d0 1 40")[0].startswith(
        f"{tmp_path / 'late.csv'}: 1 label is surplus: its pair has enough judgements. "
    )
    assert campaign.store.judgements.counts()["logged"] == logged + 1
    logged += 1
    labels(campaign, tmp_path / "l.csv", rows)
    assert campaign.store.judgements.counts()["logged"] == logged
    with pytest.raises(ConflictError, match="expected 3, the grade of 'x' in the campaign .*, found 2"):
        labels(campaign, tmp_path / "l.csv", "x d0 2 30")
    labels(campaign, tmp_path / "l.csv", "x d0 2 30", replace=True)
    assert counted(campaign)["x", "d0"] == "surplus"
    campaign.people.assignments.update(annotators=2)
    labels(campaign, tmp_path / "l.csv", rows.replace("x d0 3", "x d0 2"))
    assert counted(campaign) == {
        ("y", "d0"): "judgement", ("z", "d0"): "judgement", ("x", "d0"): "surplus", ("w", "d0"): "surplus",
    }  # fmt: skip
    assert words(campaign) == {("1", "d0"): 2}


def test_labels_of_what_is_adjudicated_are_surplus_and_those_of_what_is_in_hand_count(
    campaign: Campaign, tmp_path: Path
) -> None:
    campaign.judging.judge("boss", "1", "d0", 2, adjudicate=True)
    assert take(campaign, "ann") == "d1"
    campaign.people.qualification_set.set_pairs([("1", "d2")])
    labels(campaign, tmp_path / "l.csv", "x d0 3 30\nx d1 3 31\nann d1 3 32\nx d2 3 32\ny d2 3 33")
    assert {pair: counts for pair, counts in counted(campaign).items() if pair[0] != "boss"} == {
        ("x", "d0"): "surplus", ("x", "d1"): "judgement", ("ann", "d1"): "surplus", ("x", "d2"): "judgement",
        ("y", "d2"): "judgement",
    }  # fmt: skip
    assert words(campaign)["1", "d1"] == 1


@pytest.mark.parametrize("first", ["labels", "qrels"])
def test_qrels_and_labels_count_beside_each_other_in_any_order(campaign: Campaign, tmp_path: Path, first: str) -> None:
    (tmp_path / "nist.txt").write_text("1 0 d0 1\n")
    if first == "qrels":
        campaign.imports.import_files(qrels=tmp_path / "nist.txt")
    labels(campaign, tmp_path / "l.csv", "qrels:old d0 2 10\nx d0 3 20\ny d0 0 30")
    if first == "labels":
        campaign.imports.import_files(qrels=tmp_path / "nist.txt")
    assert counted(campaign) == {
        ("qrels:nist", "d0"): "judgement", ("qrels:old", "d0"): "judgement", ("x", "d0"): "judgement",
        ("y", "d0"): "surplus",
    }  # fmt: skip
    assert take(campaign, "ann") == "d1"


def test_labels_of_what_nobody_asked_for_all_count(campaign: Campaign, tmp_path: Path) -> None:
    rows = "x outside 3 30\ny outside 0 10\nz outside 1 20"
    assert labels(campaign, tmp_path / "l.csv", rows) == []
    assert set(counted(campaign).values()) == {"judgement"}
    campaign.settings.set_loop(mode="loop")
    labels(campaign, tmp_path / "l.csv", rows.replace("outside", "elsewhere"))
    assert {pair: counts for pair, counts in counted(campaign).items() if pair[1] == "elsewhere"} == {
        ("x", "elsewhere"): "surplus", ("y", "elsewhere"): "judgement", ("z", "elsewhere"): "surplus",
    }  # fmt: skip


def test_a_revised_label_of_a_log_keeps_its_place(campaign: Campaign, tmp_path: Path) -> None:
    """y graded first, and changed their mind after x had come; z took back what came first."""
    rows = [("y", "graded", 1, 10), ("x", "graded", 2, 20), ("y", "graded", 3, 30)]
    rows = [("z", "graded", 0, 1), ("z", "undone", None, 2), *rows, ("z", "graded", 0, 40)]
    keys = ("annotator", "kind", "relevance")
    pair = {"query_id": "1", "doc_id": "d0"}
    log = [pair | dict(zip(keys, row[:3], strict=True)) | {"judged_at": f"2026-01-01T10:{row[3]:02}Z"} for row in rows]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    campaign.imports.import_files(labels=tmp_path / "log.jsonl")
    assert counted(campaign) == {("y", "d0"): "judgement", ("x", "d0"): "surplus", ("z", "d0"): "surplus"}
    assert campaign.results.qrels.build()["relevance"].tolist() == [3]


# --- topics and people --------------------------------------------------------------------------------


def test_a_topic_is_for_whom_it_is_assigned_to(campaign: Campaign) -> None:
    campaign.people.accounts.set_groups("cai", ["lawyers"])
    campaign.people.assignments.assign(["1"], ["ANN"])
    campaign.people.assignments.assign(["2"], groups=["lawyers"])
    assert [campaign.progress.topics_for(name) for name in ("ann", "ben", "cai")] == [["1", "3"], ["3"], ["2", "3"]]
    assert take(campaign, "ben") == ""
    assert take(campaign, "ann") == "d0"
    assert campaign.progress.totals("ben") == (0, 8)
    with pytest.raises(InputError, match="topic '1' is assigned to other annotators"):
        campaign.judging.search.take("ben", "1", "outside")
    table = campaign.people.assignments.table().set_index("query_id")
    assert table["accounts"].to_dict() == {"1": ["ann"], "2": [], "3": []}
    assert table["groups"].to_dict() == {"1": [], "2": ["lawyers"], "3": []}
    campaign.people.assignments.assign(["1", "2"])
    assert campaign.progress.topics_for("ben") == TOPICS


def test_what_is_assigned_to_somebody_else_is_given_back(campaign: Campaign) -> None:
    assert take(campaign, "ben", 2) == "d0 d1"
    campaign.people.assignments.assign(["1"], ["ann"])
    assert campaign.judging.next_pairs("ben", "1", 2, ["d0", "d1"]).closed == ["d0", "d1"]
    assert take(campaign, "ann", 2) == "d0 d1"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda c: c.people.assignments.assign(["9"], ["ann"]), "9"),
        (lambda c: c.people.assignments.assign(["1"], ["nobody"]), "nobody"),
        (lambda c: c.people.assignments.assign(["1"], groups=["nowhere"]), "nowhere"),
        (lambda c: c.people.assignments.update(which="topics", topics=["9"]), "9"),
        (lambda c: c.people.assignments.update(overlap=2), "overlap"),
        (lambda c: c.settings.set_topic_note("9", "x"), "9"),
        (lambda c: c.people.assignments.deal(["ann"], topics=["9"]), "9"),
        (lambda c: c.people.qualification_set.draw(1, ["9"]), "9"),
    ],
)
def test_unknown_names_are_refused_by_name(campaign: Campaign, call: object, name: str) -> None:
    with pytest.raises(UnknownNameError, match=name):
        call(campaign)


@pytest.mark.slow
def test_topics_that_can_never_be_complete_are_told(campaign: Campaign) -> None:
    assert campaign.people.assignments.notices() == []
    campaign.people.assignments.update(annotators=2)
    campaign.people.accounts.set_groups("cai", ["lawyers"])
    campaign.people.assignments.assign(["1"], ["ann"])
    campaign.people.assignments.assign(["3"], groups=["lawyers"])
    (said,) = campaign.people.assignments.notices()
    assert said.startswith("1 annotator for topics 1 and 3, but each pair needs 2")
    campaign.people.accounts.lock("ann")
    assert [notice.split(",")[0] for notice in campaign.people.assignments.notices()] == [
        "0 annotators for topic 1",
        "1 annotator for topic 3",
    ]
    assert "note: 0 annotators for topic 1" in assign(campaign.directory).stderr


def test_who_joins_a_group_has_its_topics_in_the_sums_at_once(campaign: Campaign) -> None:
    campaign.people.accounts.set_groups("cai", ["lawyers"])
    campaign.people.assignments.assign(["1"], groups=["lawyers"])
    assert campaign.progress.totals("ann") == (0, 16)
    campaign.people.accounts.set_groups("ann", ["lawyers"])
    assert campaign.progress.totals("ann") == (0, 24)


def test_saves_stay_quick_where_a_topic_has_thousands(campaign: Campaign) -> None:
    """By its plan, not by the clock: no document may be looked for by walking through the log of its topic."""
    plans: list[str] = []
    campaign.settings.set_loop(mode="loop-in-pool")
    campaign.people.assignments.update(annotators=3)
    say(campaign, "ann", take(campaign, "ann"))
    made = campaign.loop.next_round("1")
    say(campaign, "ben", take(campaign, "ben", 2).split()[1])
    connection = campaign.store.connection.db.conn
    seen: list[str] = []
    connection.set_trace_callback(seen.append)
    campaign.judging.next_pairs("cai", "1", 4, loop_round=made)
    connection.set_trace_callback(None)
    for statement in {s for s in seen if s.lstrip().startswith(("SELECT", "WITH"))}:
        plans += [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    by_topic = [step for step in plans if "judgements_topic" in step]
    assert plans
    # The log's newest entries and their number are what the index is for.
    assert all(step.startswith(("SEARCH judgements USING", "SCAN judgements")) for step in by_topic), by_topic


def test_several_changes_are_one(campaign: Campaign) -> None:
    with pytest.raises(UnknownNameError), campaign.transaction():
        campaign.people.assignments.update(annotators=3)
        campaign.people.assignments.assign(["1"], ["nobody"])
    assert campaign.settings.assignment().annotators == 1


def test_topics_are_dealt_out(campaign: Campaign) -> None:
    dealt = campaign.people.assignments.deal(["ann", "ben", "cai"], 2)
    assert Counter(name for names in dealt.values() for name in names) == {"ann": 2, "ben": 2, "cai": 2}
    assert list(campaign.people.assignments.deal(["ann"], topics=["2"])) == ["2"]


# --- words, order, blindness ----------------------------------------------------------------------------


def test_guidelines_and_notes_stay(campaign: Campaign) -> None:
    assert campaign.settings.guidelines() == ""
    campaign.settings.set_guidelines("# How to judge\n\nRead it.\n")
    assert campaign.settings.guidelines() == "# How to judge\n\nRead it."
    campaign.settings.set_topic_note("2", "only since 1990")
    assert campaign.store.corpus.topic_notes() == {"2": "only since 1990"}
    campaign.settings.set_topic_note("2", "")
    assert campaign.store.corpus.topic_notes() == {}
    with pytest.raises(InputError, match="200,001"):
        campaign.settings.set_guidelines("x" * 200_001)


def test_the_order_of_chance_is_each_annotators_own(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=3)
    campaign.settings.set_loop(mode="random")
    orders = [take(campaign, name, 8) for name in ("ann", "ben", "cai")]
    assert len(set(orders)) == 3
    assert all(sorted(order.split()) == DOCS for order in orders)


def test_blind_judging_hides_what_others_said_and_what_runs_have(campaign: Campaign) -> None:
    take(campaign, "ann")
    say(campaign, "ann", "d0", 2, note="both wings")
    for look in (
        lambda: campaign.judging.explanations.others_said("1", "d0", "ben"),
        lambda: campaign.judging.explanations.ranks_of("1", "d0"),
    ):
        with pytest.raises(CampaignError, match="judging is blind"):
            look()
    campaign.people.assignments.update(blind=False)
    assert campaign.judging.explanations.others_said("1", "d0", "ann").empty
    said = campaign.judging.explanations.others_said("1", "d0", "ben")
    assert said[["annotator", "relevance", "note"]].values.tolist() == [["ann", 2, "both wings"]]
    assert campaign.judging.explanations.ranks_of("1", "d2").values.tolist() == [["system", 3, 97.0]]


def test_notes_and_what_a_row_counts_as_are_exported(campaign: Campaign, tmp_path: Path) -> None:
    take(campaign, "ann")
    say(campaign, "ann", "d0", 2, note="both wings")
    campaign.exports.files.write(judgements=tmp_path / "log.jsonl")
    row = pd.read_json(tmp_path / "log.jsonl", lines=True).iloc[0]
    assert (row["note"], row["counts_as"]) == ("both wings", "judgement")


# --- the command --------------------------------------------------------------------------------------


def assign(*arguments: object) -> Result:
    return run("assign", *arguments)


def cells(shown: Result) -> list[list[str]]:
    """Split the rows of printed tables into their cells."""
    return [re.split(" {2,}", line) for line in shown.stdout.splitlines()]


@pytest.mark.slow
def test_a_loop_has_no_number_of_judgements(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d0", 1)
    campaign.settings.set_loop(mode="loop")
    shown = assign(campaign.directory, "--annotators", 2, "--share", 0.2)
    looping = "1 judgement in total; {} topics are in the loop, without a fixed number"
    assert ["work", f"24 pooled pairs; {looping.format(3)}"] in cells(shown)
    campaign.settings.set_loop(topics=["2"], mode="pool")
    goal = int(campaign.progress.topics()["goal"].sum())  # a random share of the pairs of topic 2 is judged twice
    work = f"24 pooled pairs; 0 of {goal} judgements made outside the loop; {looping.format(2)}"
    assert ["work", work] in cells(assign(campaign.directory))


@pytest.mark.slow
def test_the_command_changes_and_shows_the_assignment(campaign: Campaign, tmp_path: Path) -> None:
    directory = campaign.directory
    (tmp_path / "how.md").write_text("# Read it\n")
    shown = assign(directory, "--annotators", 2, "--number", 3, "--topic", 1, "--to", "ann", "--to", "ben")
    assert shown.exit_code == 0, shown.output
    assert ["overlap", "2 annotators for 3 pairs of each topic, 1 for the others"] in cells(shown)
    assert ["work", "24 pooled pairs; 0 of 33 judgements made"] in cells(shown)
    assert cells(shown)[-4:] == [
        ["topic", "assigned to", "pairs in pool", "judgements needed", "judgements made", "title"],
        ["1", "ann, ben", "8", "11", "0", "topic 1"],
        ["2", "everyone", "8", "11", "0", "topic 2"],
        ["3", "everyone", "8", "11", "0", "topic 3"],
    ]
    assert assign(directory, "--guidelines", tmp_path / "how.md", "--note", "since 1990", "--topic", 3).exit_code == 0
    assert campaign.settings.guidelines() == "# Read it"
    assert campaign.store.corpus.topic_notes() == {"3": "since 1990"}
    assert assign(directory, "--deal-to", "ann", "--deal-to", "cai", "--unblind", "--lease", 5).exit_code == 0
    state = json.loads(assign(directory, "--qualification", 2, "--feedback", "--format", "json").stdout)
    assert state["settings"]["lease"] == 5
    assert not state["settings"]["blind"]
    assert state["qualification"]["pairs"] == 6
    # Two are to judge pairs here, so each topic is dealt to two.
    assert [sorted(topic["accounts"]) for topic in state["topics"]] == [["ann", "cai"]] * 3
    assert cells(assign(directory))[5:8] == [
        ["qualification set", "6 pairs, with feedback"],
        ["guidelines", "9 characters"],
        ["topic notes", "1"],
    ]
    (tmp_path / "set.txt").write_text("# the first\n1 d0\n\n2 d3\n")
    assert assign(directory, "--qualification", tmp_path / "set.txt", "--to-everyone").exit_code == 0
    assert campaign.store.assignments.qualification_set()["doc_id"].tolist() == ["d0", "d3"]
    assert set(campaign.people.assignments.table()["accounts"].map(len)) == {0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--share", 2], "from 0 to 1, found 2"),
        (["--share", 0.5, "--number", 2], "expected only one of --share"),
        (["--to", "ann", "--to-everyone"], "expected only one of --to"),
        (["--topic", "1"], "--topic needs --to"),
        (["--note", "x"], "--note needs --topic"),
        (["--to", "nobody"], "nobody"),
        (["--qualification", "no-such-file"], "no-such-file"),
        (["--deal-to", "ann", "--per-topic", 2], "expected 1 to 1 annotators per topic"),
        (["--whole-topic", "9", "--annotators", 2], "topic '9'"),
        (["--deal-to", "ann", "--topic", "9"], "topic '9'"),
        (["--qualification", "latin.txt"], "latin.txt"),
        (["--guidelines", "latin.txt"], "latin.txt"),
    ],
)
@pytest.mark.slow
def test_the_command_refuses_by_name(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes("1 d\u00e9".encode("latin-1"))
    refused = assign(campaign.directory, *arguments)
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_the_command_changes_all_or_nothing(campaign: Campaign) -> None:
    assert assign(campaign.directory, "--annotators", 3, "--deal-to", "ann", "--deal-to", "nobody").exit_code == 2
    assert campaign.settings.assignment().annotators == 1
    assert set(campaign.people.assignments.table()["accounts"].map(len)) == {0}


def test_a_wrong_line_of_the_qualification_file_is_named(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "set.txt").write_text("1 d0\n1 0 d1 2\n")
    refused = assign(campaign.directory, "--qualification", tmp_path / "set.txt")
    assert refused.exit_code == 2
    assert "set.txt" in refused.stderr
    assert "2" in refused.stderr
