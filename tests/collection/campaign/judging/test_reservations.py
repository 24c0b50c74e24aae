"""Reservations: what is on a screen is held, what is only loaded yields, and whoever leaves holds nothing."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest

from collection.campaign import Campaign
from collection.campaign.log.results import JudgeResult
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Choice, Judgement
from tests.helpers import Clock, fill, run

DOCS = [f"d{number}" for number in range(8)]


def build(folder: Path) -> Campaign:
    """Two topics with the same eight documents in the pool of each."""
    campaign = Campaign.create(folder / "campaign")
    fill(campaign, ["1", "2"], DOCS)
    campaign.people.accounts.add("boss", "manager")
    for name in ("ann", "ben", "cai"):
        campaign.people.accounts.add(name, "annotator")
    return campaign


@pytest.fixture
def campaign(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def take(campaign: Campaign, name: str, holding: list[str] | None = None, topic: str = "1") -> list[str]:
    """What an annotator gets in addition to what they hold."""
    return [document.doc_id for document in campaign.judging.next_pairs(name, topic, 24, holding or []).documents]


def say(campaign: Campaign, name: str, doc_id: str, topic: str = "1") -> JudgeResult:
    judgement = Judgement(str(uuid4()), name, topic, doc_id, "graded", 1)
    return campaign.judging.judge_many([judgement], leased_only=True)


# --- what is loaded yields ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["pool", "random", "loop", "loop-in-pool"])
def test_half_of_what_is_loaded_goes_to_a_colleague_who_has_nothing(campaign: Campaign, mode: str) -> None:
    campaign.settings.set_loop(mode=mode)
    hers = take(campaign, "ann")
    his = take(campaign, "ben")
    assert his == hers[-(len(hers) // 2) :]  # of those that ann does not have on screen, from the end
    answer = campaign.judging.next_pairs("ann", "1", 0, hers)
    assert sorted(answer.closed) == sorted(his)
    # Who has something gets nothing of others.
    assert take(campaign, "ben", his) == []
    # The next one gets half of what both have loaded.
    assert len(take(campaign, "cai")) == (len(hers) - 2 + 1) // 2


@pytest.mark.parametrize("mode", ["pool", "loop"])
def test_what_is_released_while_a_colleague_waits_for_the_database_is_free(
    campaign: Campaign, clock: Clock, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    campaign.settings.set_loop(mode=mode)
    hers = take(campaign, "ann")
    begin = campaign.store.transaction

    def begin_later() -> AbstractContextManager[None]:
        monkeypatch.setattr(campaign.store, "transaction", begin)
        clock.passes(1)
        campaign.judging.leave("ann")
        return begin()

    monkeypatch.setattr(campaign.store, "transaction", begin_later)
    assert sorted(take(campaign, "ben")) == sorted(hers)


def test_what_is_on_a_screen_is_held(campaign: Campaign) -> None:
    take(campaign, "ann")
    for doc_id in DOCS[1:]:
        say(campaign, "cai", doc_id)
        campaign.judging.judge("cai", "1", doc_id, 0)
    assert take(campaign, "ben") == []
    assert campaign.judging.topic_with_work("ben", after="2") is None or take(campaign, "ben", topic="1") == []


def test_the_screen_moves_on_with_each_request(campaign: Campaign) -> None:
    hers = take(campaign, "ann")
    say(campaign, "ann", hers[0])
    campaign.judging.next_pairs("ann", "1", 0, hers[1:])
    for _ in range(10):  # all that can be had
        if not take(campaign, "ben"):
            break
        for document in campaign.judging.next_pairs("ben", "1", 9).documents:
            say(campaign, "ben", document.doc_id)
    assert not say(campaign, "ann", hers[1]).surplus


def test_a_pair_that_was_taken_over_and_is_judged_all_the_same_is_kept_as_an_extra_one(campaign: Campaign) -> None:
    take(campaign, "ann")
    his = take(campaign, "ben")
    late = say(campaign, "ann", his[0])
    assert len(late.saved) == len(late.surplus) == 1
    assert not say(campaign, "ben", his[0]).surplus
    log = campaign.store.judgements.table(current=False)
    assert log["counts_as"].tolist() == ["surplus", "judgement"]


@pytest.mark.parametrize("mode", ["pool", "loop"])
def test_judgements_made_without_a_connection_go_before_what_a_colleague_has_only_loaded(
    campaign: Campaign, mode: str
) -> None:
    campaign.settings.set_loop(mode=mode)
    hers = take(campaign, "ann")
    his = take(campaign, "ben")
    late = [say(campaign, "ann", doc_id) for doc_id in hers]
    assert [doc_id for doc_id, answer in zip(hers, late, strict=True) if answer.surplus] == [his[0]]  # on ben's screen
    assert campaign.judging.next_pairs("ben", "1", 0, his).closed == his[1:]
    # Who was too late: ben, whose browser had not heard of it.
    assert [len(say(campaign, "ben", doc_id).surplus) for doc_id in his] == [0, 1, 1, 1]
    assert sorted(campaign.results.qrels.build()["doc_id"]) == sorted(hers)


@pytest.mark.parametrize("annotators", [1, 2])
def test_who_takes_a_judgement_back_goes_before_those_who_have_only_loaded_the_pair(
    campaign: Campaign, annotators: int
) -> None:
    campaign.people.assignments.update(annotators=annotators)
    take(campaign, "ann")
    if annotators == 2:
        take(campaign, "cai")
    last = take(campaign, "ben")[-1]
    say(campaign, "ann", last)
    campaign.judging.judge_many([Judgement(str(uuid4()), "ann", "1", last, "undone")], leased_only=True)
    assert campaign.judging.next_pairs("ann", "1", 0, [last]).closed == []
    others = [name for name in ("ben", "cai") if campaign.judging.next_pairs(name, "1", 0, ["d0", last]).closed == []]
    assert len(others) <= annotators - 1
    assert not say(campaign, "ann", last).surplus


def test_with_two_annotators_a_pair_one_of_those_who_loaded_it_gives_it_up(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=2)
    hers, theirs = take(campaign, "ann"), take(campaign, "cai")
    assert hers == theirs
    his = take(campaign, "ben")
    assert len(his) == 4
    kept = [set(campaign.judging.next_pairs(name, "1", 0, DOCS).closed) for name in ("ann", "cai")]
    assert all(sum(doc_id in closed for closed in kept) == 1 for doc_id in his)


def test_the_selection_of_a_pair_goes_with_it(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop", control=1.0)  # each document is a random draw
    hers = take(campaign, "ann")
    rows = "SELECT doc, strategy, model_round, probability FROM leases WHERE annotator = ? ORDER BY doc"
    drawn = {row[0]: row[1:] for row in campaign.store.connection.execute(rows, ("ann",))}
    his = take(campaign, "ben")
    taken = {row[0]: row[1:] for row in campaign.store.connection.execute(rows, ("ben",))}
    assert len(taken) == len(his) == len(hers) // 2
    assert taken.items() <= drawn.items()


def test_a_search_finds_what_is_loaded_and_not_what_is_on_a_screen(campaign: Campaign) -> None:
    take(campaign, "ann")
    assert campaign.judging.search.take("ben", "1", "d3").doc_id == "d3"
    assert campaign.judging.next_pairs("ann", "1", 0, DOCS).closed == ["d3"]
    with pytest.raises(InputError, match="another annotator's screen"):
        campaign.judging.search.take("ben", "1", "d0")
    # It stays with ben behind whatever is on the screen.
    campaign.judging.next_pairs("ben", "1", 0, ["d7", "d3"])
    assert "d3" not in take(campaign, "cai")


def test_a_random_draw_that_is_found_by_searching_stays_one(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop", control=1.0)  # each document is a random draw
    last = take(campaign, "ann")[-1]
    campaign.judging.search.take("ben", "1", last)
    say(campaign, "ben", last)
    [entry] = campaign.store.judgements.table().to_dict("records")
    assert (entry["annotator"], entry["strategy"]) == ("ben", "random")
    assert 0 < entry["probability"] <= 1
    assert campaign.progress.loop_scope.ledgers(["1"])["1"].drawn == [True]


def test_topics_with_free_pairs_come_before_those_that_others_have_loaded(campaign: Campaign) -> None:
    take(campaign, "ann")
    assert campaign.judging.topic_with_work("ben") == "2"
    campaign.settings.set_loop(topics=["2"], mode="closed")
    assert campaign.judging.topic_with_work("ben") == "1"


def test_budgets_do_not_wait_for_what_is_loaded(campaign: Campaign) -> None:
    campaign.settings.set_loop(mode="loop", budget=6)
    campaign.settings.set_loop(topics=["2"], mode="closed")
    assert len(take(campaign, "ann")) == 6
    assert campaign.judging.topic_with_work("ben") == "1"
    assert len(take(campaign, "ben")) == 3
    assert campaign.progress.budget.room("1", "cai") == 0


def test_lists_and_preferences_share_topics_in_the_same_way(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "lists") as lists:
        fill(lists, [str(number) for number in range(8)], DOCS)
        check_topics(lists)


def check_topics(campaign: Campaign) -> None:
    campaign.settings.set_judging_page(task="list")
    hers = campaign.judging.topic_tasks.next_topics("ann", 12).fresh
    assert len(hers) == 8
    his = campaign.judging.topic_tasks.next_topics("ben", 12)
    assert (his.fresh, his.exhausted) == (hers[4:], True)
    assert campaign.judging.topic_tasks.next_topics("ann", 0, hers).closed == his.fresh
    assert campaign.judging.topic_tasks.next_topics("ben", 12, his.fresh).fresh == []
    late = Choice(str(uuid4()), "ann", his.fresh[0], kind="chosen", shown=("d0",), chosen=("d0",))
    assert campaign.judging.topic_tasks.choose([late], handed_out_only=True).saved
    campaign.judging.leave("ben")
    assert set(campaign.judging.topic_tasks.next_topics("cai", 12).fresh) == {*his.fresh} - {his.fresh[0]}


# --- leaving releases at once ------------------------------------------------------------------------


def leave(campaign: Campaign) -> None:
    campaign.judging.leave("ann")


def sign_out(campaign: Campaign) -> None:
    secret = campaign.people.accounts.open_session("ann")
    person = campaign.people.accounts.session(secret)
    assert person is not None
    campaign.people.accounts.end_session(person.session)


def end_sessions(campaign: Campaign) -> None:
    campaign.people.accounts.end_sessions("ann")


def rotate(campaign: Campaign) -> None:
    campaign.operations.server_state.rotate_secret()


def lock(campaign: Campaign) -> None:
    campaign.people.accounts.lock("ann")


def demote(campaign: Campaign) -> None:
    campaign.people.accounts.set_role("ann", "reader")


def reassign(campaign: Campaign) -> None:
    campaign.people.assignments.assign(["1"], ["ben"])


def regroup(campaign: Campaign) -> None:
    campaign.people.accounts.set_groups("ben", ["team"])
    campaign.people.accounts.set_groups("ann", ["team"])
    campaign.people.assignments.assign(["1"], groups=["team"])
    assert len(campaign.store.reservations.table(0.0 + campaign_seconds())) > 0
    campaign.people.accounts.set_groups("ann", [])


def close_and_reopen(campaign: Campaign) -> None:
    campaign.settings.set_loop(topics=["1"], mode="closed")
    campaign.settings.reopen_topic("1")


def release(campaign: Campaign) -> None:
    assert campaign.people.assignments.release("ann") == 8


def release_topic(campaign: Campaign) -> None:
    assert campaign.people.assignments.release(topics=["2"]) == 0
    assert campaign.people.assignments.release(topics=["1"]) == 8


def campaign_seconds() -> float:
    from collection.core import clock

    return clock.seconds()


ENDS = [
    leave, sign_out, end_sessions, rotate, lock, demote, reassign, regroup, close_and_reopen, release, release_topic,
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_whoever_leaves_holds_nothing(campaign: Campaign, end: Callable[[Campaign], None]) -> None:
    take(campaign, "ann")
    end(campaign)
    assert take(campaign, "ben") == DOCS
    late = say(campaign, "ann", "d0")
    assert (len(late.saved), len(late.surplus)) == (1, 1)


def test_a_shorter_lease_applies_to_what_is_reserved(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    clock.passes(50)
    campaign.people.assignments.update(lease=1)
    assert campaign.people.assignments.reservations()["minutes"].unique().tolist() == [1]
    clock.passes(11)
    assert take(campaign, "ben") == DOCS
    campaign.people.assignments.update(lease=500)
    assert campaign.people.assignments.reservations()["minutes"].unique().tolist() == [1]  # a longer one does not


def test_another_topic_ends_what_was_held_in_the_first(campaign: Campaign) -> None:
    take(campaign, "ann")
    take(campaign, "ann", topic="2")
    assert take(campaign, "ben") == DOCS


def test_a_work_list_stays_reserved_until_its_topic_is_somebody_elses(campaign: Campaign, tmp_path: Path) -> None:
    campaign.exports.work_lists.write("ann", tmp_path / "list.csv", 8)
    for end in (leave, end_sessions, lambda campaign: campaign.people.assignments.update(lease=1)):
        end(campaign)
        assert take(campaign, "ben") == []
    take(campaign, "ann", topic="2")
    assert take(campaign, "ben") == []
    assert campaign.people.assignments.reservations()["place"].unique().tolist()[0] == "work list"
    reassign(campaign)
    assert take(campaign, "ben") == DOCS


# --- work lists follow the page ----------------------------------------------------------------------


def listed(campaign: Campaign, path: Path, pairs: int = 4) -> list[tuple[str, str]]:
    campaign.exports.work_lists.write("ann", path, pairs)
    table = pd.read_csv(path, dtype=str)
    return list(zip(table["query_id"], table["doc_id"], strict=True))


def test_a_work_list_leaves_out_closed_and_reassigned_topics(campaign: Campaign, tmp_path: Path) -> None:
    first = listed(campaign, tmp_path / "1.csv")
    assert first == listed(campaign, tmp_path / "2.csv") == [("1", doc_id) for doc_id in DOCS[:4]]
    campaign.settings.set_loop(topics=["1"], mode="closed")
    second = listed(campaign, tmp_path / "3.csv")
    assert second == [("2", doc_id) for doc_id in DOCS[:4]]
    campaign.settings.reopen_topic("1")
    campaign.people.assignments.assign(["2"], ["ben"])
    assert listed(campaign, tmp_path / "4.csv") == first


def test_a_work_list_begins_with_the_qualification_set(campaign: Campaign, tmp_path: Path) -> None:
    listed(campaign, tmp_path / "1.csv")
    campaign.people.qualification_set.set_pairs([("2", "d5"), ("2", "d6")])
    assert listed(campaign, tmp_path / "2.csv") == [("2", "d5"), ("2", "d6")]


@pytest.mark.parametrize("mode", ["pool", "random", "loop"])
def test_a_work_list_is_what_the_page_shows_next(campaign: Campaign, tmp_path: Path, mode: str) -> None:
    campaign.settings.set_loop(mode=mode)
    page = [document.doc_id for document in campaign.judging.next_pairs("ann", "1", 3).documents]
    assert sorted(doc_id for _, doc_id in listed(campaign, tmp_path / "list.csv", 3)) == sorted(page)


# --- who holds what ----------------------------------------------------------------------------------


def test_a_manager_sees_and_releases_reservations_on_the_command_line(campaign: Campaign) -> None:
    take(campaign, "ann")
    campaign.close()
    shown = run("assign", campaign.directory, "--reservations")
    rows = [line.split() for line in shown.output.splitlines()[1:]]
    assert rows[0] == ["ann", "1", "d0", "on", "screen", "60"]
    assert rows[1] == ["ann", "1", "d1", "loaded", "60"]
    assert len(rows) == 8
    unknown = run("assign", campaign.directory, "--release", "zoe")
    assert "unknown annotator" in unknown.output
    assert "--topic needs" in run("assign", campaign.directory, "--topic", "1").output
    ended = json.loads(run("assign", campaign.directory, "--release", "ann", "--format", "json").output)
    assert ended == {"released": 8, "reservations": []}
    assert "Nothing is reserved" in run("assign", campaign.directory, "--release-all", "--topic", "1").output


def test_only_known_names_and_topics_are_released(campaign: Campaign) -> None:
    with pytest.raises(UnknownNameError):
        campaign.people.assignments.release("zoe")
    with pytest.raises(UnknownNameError):
        campaign.people.assignments.release(topics=["9"])
