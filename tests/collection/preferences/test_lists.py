"""Lists: topics handed out as a whole, choices from them, sparse qrels, and how far annotators agree."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats
from collection.campaign import Campaign
from collection.campaign.log.results import JudgeResult
from collection.core.errors import ColumnsError, InputError, UnknownNameError
from collection.core.records import Choice, Document, Topic
from collection.preferences import choices
from collection.preferences.choices import CHOICE_RULES, ChoiceAgreement, agreement, build_qrels
from tests.helpers import Clock, fails, fill, ok, put, tries

DOCS = [f"d{number}" for number in range(8)]
TOPICS = ["1", "2", "3"]


def build(folder: Path) -> Campaign:
    """Three topics, eight documents in the pool of each; lists of four, of which two can be chosen."""
    campaign = Campaign.create(folder / "campaign")
    fill(campaign, TOPICS, DOCS)
    campaign.settings.set_judging_page(task="list", list_size=4, most_chosen=2)
    for name in ("ann", "ben", "cai"):
        campaign.people.accounts.add(name, "annotator")
    return campaign


@pytest.fixture
def campaign(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


def take(campaign: Campaign, annotator: str, count: int = 1, *holding: str) -> str:
    return " ".join(campaign.judging.topic_tasks.next_topics(annotator, count, holding).fresh)


def chosen(annotator: str, query_id: str, ids: str = "", kind: str = "chosen", **more: Any) -> Choice:
    shown = () if kind == "undone" else tuple(DOCS[:4])
    return Choice(str(uuid4()), annotator, query_id, kind, **{"shown": shown, "chosen": tuple(ids.split())} | more)


def choose(campaign: Campaign, annotator: str, query_id: str, ids: str = "", kind: str = "chosen") -> JudgeResult:
    return campaign.judging.topic_tasks.choose([chosen(annotator, query_id, ids, kind)], handed_out_only=True)


def refusal(campaign: Campaign, choice: Choice, *, handed_out_only: bool = False) -> str:
    result = campaign.judging.topic_tasks.choose([choice], handed_out_only=handed_out_only)
    assert result.saved == []
    assert len(campaign.store.topic_tasks.choices(current=False)) == 0
    return result.refused[0].reason


def table(*rows: str) -> pd.DataFrame:
    """Choices by hand: annotator, topic, what was shown, what was chosen of it; x: could not judge."""
    made = []
    for row in rows:
        annotator, query_id, shown, ids = row.split()
        kind = "cannot judge" if ids == "x" else "chosen"
        made.append((annotator, query_id, kind, tuple(shown), () if ids in "-x" else tuple(ids)))
    return pd.DataFrame(made, columns=list(choices.NEEDED))


# --- handing out ------------------------------------------------------------------------------------


def test_topics_come_in_their_order_each_to_one_and_again_when_the_reservation_ends(
    campaign: Campaign, clock: Clock
) -> None:
    assert take(campaign, "ann", 2) == "1 2"
    assert campaign.judging.topic_tasks.next_topics("ben", 2) == (["3"], [], True)
    assert take(campaign, "ann", 2) == "1 2"  # a card that was reloaded gets what it had
    clock.passes(3601)
    assert take(campaign, "ben", 2, "3") == "1 2"
    assert campaign.judging.topic_tasks.next_topics("ann", 0, ["1", "2"]).closed == ["1", "2"]


def test_a_card_that_is_open_keeps_what_it_holds(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann", 1)
    for _ in range(5):
        clock.passes(3000)
        assert campaign.judging.topic_tasks.next_topics("ann", 0, ["1"]).closed == []
    assert take(campaign, "ben", 1) == "2"


def test_a_save_that_hands_nothing_out_writes_no_young_reservation_again(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann", 2)
    before = campaign.store.connection.db.conn.total_changes
    clock.passes(60)
    assert campaign.judging.topic_tasks.next_topics("ann", 0, ["1", "2"]) == ([], [], False)
    assert campaign.store.connection.db.conn.total_changes == before


def test_several_decide_on_a_topic_where_its_pairs_want_several(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=2, which="topics", topics=["1"])
    assert [take(campaign, name) for name in ("ann", "ben", "cai")] == ["1", "1", "2"]
    choose(campaign, "ann", "1", "d0")
    choose(campaign, "ben", "1")
    assert campaign.judging.topic_tasks.progress("cai") == (0, 2, 2)
    assert campaign.judging.topic_tasks.progress("ann") == (1, 3, 2)


def test_what_is_not_open_is_not_handed_out(campaign: Campaign) -> None:
    with campaign.store.transaction():
        campaign.store.corpus.add_topics([Topic("4", "without a pool"), Topic("5", "texts unknown")])
        campaign.store.pool.add(
            pd.DataFrame({"query_id": ["5"], "doc_id": ["unknown"], "rank": [1]}), "depth", {}, ["system"]
        )
    campaign.people.assignments.assign(["2"], accounts=["ben"])
    campaign.settings.set_loop(topics=["1"], mode="closed")
    assert take(campaign, "ann", 9) == "3"
    assert take(campaign, "ben", 9) == "2"
    assert campaign.judging.topic_tasks.progress("ann") == (0, 1, 1)
    put(campaign, documents=[Document("unknown", "", "now it has one")])
    campaign.settings.set_judging_page(
        list_size=5
    )  # and so the campaign is looked at anew at once, and not after some seconds
    assert take(campaign, "ann", 9, "3") == "5"


def test_lists_have_the_first_documents_of_the_pool_that_have_a_text(campaign: Campaign) -> None:
    with campaign.store.transaction():
        campaign.store.corpus.add_topics([Topic("4", "half of the texts")])
        ids = ["nowhere", "d3", "d1", "nor here", "d2", "d0", "d5"]
        campaign.store.pool.add(
            pd.DataFrame({"query_id": "4", "doc_id": ids, "rank": range(1, 8)}), "depth", {}, ["system"]
        )
    assert campaign.judging.topic_tasks.state().documents("4") == ["d3", "d1", "d2", "d0"]


@pytest.mark.slow
def test_an_order_of_chance_is_each_annotators_own(tmp_path: Path) -> None:
    topics = [str(number) for number in range(40)]
    with Campaign.create(tmp_path / "campaign") as campaign:
        fill(campaign, topics, DOCS)
        campaign.settings.set_judging_page(task="list")
        campaign.settings.set_loop(mode="random")
        campaign.people.assignments.update(annotators=3)
        orders = [take(campaign, name, 40).split() for name in ("ann", "ben", "cai")]
        assert len({tuple(order) for order in orders}) == 3
        assert all(sorted(order) == sorted(topics) != order for order in orders)
        assert take(campaign, "ann", 40).split() == orders[0]


def test_a_task_of_grades_hands_out_no_topic(campaign: Campaign) -> None:
    campaign.settings.set_judging_page(task="grades")
    assert campaign.judging.topic_tasks.next_topics("ann", 3, ["1"]) == ([], ["1"], True)


@pytest.mark.parametrize(("wanted", "mode"), [(1, "pool"), (2, "random"), (3, "pool")])
@pytest.mark.slow
def test_no_topic_is_decided_by_more_than_are_wanted_whoever_vanishes(
    campaign: Campaign, clock: Clock, wanted: int, mode: str
) -> None:
    """Six annotators at two servers take, choose, take back and vanish, by chance; the clock leaps."""
    chance = random.Random(f"{wanted}{mode}")
    campaign.people.assignments.update(annotators=wanted, lease=2)
    campaign.settings.set_loop(mode=mode)
    with Campaign(campaign.directory) as other:
        at = {f"p{number}": (campaign, other)[number % 2] for number in range(6)}
        hands: dict[str, dict[str, float]] = {name: {} for name in at}
        decided: dict[str, set[str]] = {query_id: set() for query_id in TOPICS}
        for _ in range(400):
            name = chance.choice(list(at))
            mine = hands[name]
            act = chance.random()
            if act < 0.45:
                answer = at[name].judging.topic_tasks.next_topics(name, chance.randint(0, 2), list(mine))
                for query_id in answer.closed:
                    del mine[query_id]
                arrives = chance.random() < 0.8  # otherwise the answer never does
                until = clock.at + 120
                # What was young was not renewed, and may end sooner than this; a card asks again before.
                mine |= dict.fromkeys(answer.fresh, until) if arrives else {}
            elif act < 0.75 and mine:
                query_id = next(iter(mine))  # what is on screen; a colleague may take over what is behind it
                if mine.pop(query_id) > clock.at:
                    assert choose(at[name], name, query_id, chance.choice(["", "d0", "d1 d2"])).saved
                    decided[query_id].add(name)
                for query_id in at[name].judging.topic_tasks.next_topics(name, 0, list(mine)).closed:
                    del mine[query_id]
            elif act < 0.85 and any(name in names for names in decided.values()):
                query_id = chance.choice([q for q, names in decided.items() if name in names])
                assert choose(at[name], name, query_id, kind="undone").saved
                decided[query_id].discard(name)
            else:
                clock.passes(chance.choice([1, 30, 100, 300]))
                if chance.random() < 0.3:
                    mine.clear()
            assert all(len(names) <= wanted for names in decided.values()), decided
            done, goal, left = at[name].judging.topic_tasks.progress(name)
            assert (done, goal) == (sum(name in names for names in decided.values()), done + left)
            assert left == sum(name not in names and len(names) < wanted for names in decided.values())
        clock.passes(1000)
        for name, server in at.items():
            while fresh := server.judging.topic_tasks.next_topics(name, 1).fresh:
                choose(server, name, fresh[0])
        counted = Counter(campaign.store.topic_tasks.choices()["query_id"])
        assert counted == dict.fromkeys(TOPICS, wanted)


def test_what_a_failed_transaction_had_written_was_never_decided(campaign: Campaign) -> None:
    take(campaign, "ann", 3)
    with pytest.raises(RuntimeError), campaign.transaction():
        choose(campaign, "ann", "1", "d0")
        assert campaign.judging.topic_tasks.progress("ann") == (1, 3, 2)
        raise RuntimeError
    assert campaign.judging.topic_tasks.progress("ann") == (0, 3, 3)
    choose(campaign, "ann", "2", "d0")  # gets the number in the log that the other had
    assert campaign.judging.topic_tasks.progress("ann") == (1, 3, 2)
    assert take(campaign, "ann", 3) == "1 3"


# --- choosing ---------------------------------------------------------------------------------------


def test_a_choice_is_kept_with_its_list_and_may_be_changed_and_taken_back(campaign: Campaign) -> None:
    take(campaign, "ann")
    first = chosen("ann", "1", "d2 d0", seconds=4.5, away=1.0, note="both", shown_at="2026-01-01T00:00:00.000Z")
    for _ in range(2):
        assert campaign.judging.topic_tasks.choose([first], handed_out_only=True).saved == [first.uuid]
    row = campaign.store.topic_tasks.choices().iloc[0]
    assert (row["shown"], row["chosen"]) == (("d0", "d1", "d2", "d3"), ("d0", "d2"))  # in the order of the list
    assert row[["seconds", "away", "note"]].tolist() == [4.5, 1.0, "both"]
    choose(campaign, "ann", "1")
    log = campaign.store.topic_tasks.choices(current=False)
    assert log["chosen"].tolist() == [("d0", "d2"), ()]
    assert log["revises"].tolist()[1] == first.uuid
    assert campaign.store.topic_tasks.choices()["chosen"].tolist() == [()]
    choose(campaign, "ann", "1", kind="undone")
    assert len(campaign.store.topic_tasks.choices()) == 0
    assert take(campaign, "ben") == "2"  # ann has it in hand again
    assert take(campaign, "ann") == "1"


def test_a_filter_of_another_name_is_refused_and_not_passed_over(campaign: Campaign) -> None:
    for read in (campaign.store.topic_tasks.choices, campaign.store.topic_tasks.preferences):
        with pytest.raises(TypeError, match="annotators"):
            read(annotators="ann")  # type: ignore[call-arg]


def test_who_takes_a_choice_back_has_the_topic_in_hand(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    choose(campaign, "ann", "1", "d0")
    clock.passes(4000)
    choose(campaign, "ann", "1", kind="undone")
    assert take(campaign, "ben") == "2"
    assert take(campaign, "ann") == "1"


def test_who_takes_a_late_choice_back_takes_nothing_from_others(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    clock.passes(4000)
    take(campaign, "ben")
    choose(campaign, "ann", "1", "d0")
    choose(campaign, "ann", "1", kind="undone")
    assert campaign.judging.topic_tasks.next_topics("ann", 1, ["1"]).closed == ["1"]
    assert campaign.judging.topic_tasks.next_topics("ben", 0, ["1"]).closed == []


def test_a_late_choice_is_kept(campaign: Campaign, clock: Clock) -> None:
    take(campaign, "ann")
    clock.passes(4000)
    assert take(campaign, "ben") == "1"
    assert choose(campaign, "ben", "1", "d0").saved
    assert choose(campaign, "ann", "1", "d1").saved
    assert len(campaign.store.topic_tasks.choices(query_id="1")) == 2


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (chosen("ann", "1", "d0 d1 d2"), "expected at most 2 chosen documents, found 3"),
        (chosen("ann", "1", "d7"), "expected chosen documents among those shown, found 'd7'"),
        (chosen("ann", "1", "d0", shown=("d0", "nothing")), "document 'nothing' is not in the campaign"),
        (chosen("ann", "1", "d0", shown=("d0", "d1", "d0")), "expected each shown document once, found 'd0' twice"),
        (chosen("ann", "1", shown=()), "expected the documents that were shown, found none"),
        (chosen("ann", "9", "d0"), "topic '9' is not in the campaign"),
        (chosen("ann", "1", kind="cannot judge"), 'expected a reason for "cannot judge", found none'),
        (
            chosen("ann", "1", kind="cannot judge", chosen=("d0",), reason="?"),
            "expected no chosen document with 'cannot judge', found 'd0'",
        ),
        (chosen("ann", "1", kind="undone"), "ann has no choice for topic '1' to undo"),
        (
            chosen("ann", "1", kind="perhaps"),
            "expected a kind of choice (chosen, cannot judge, undone), found 'perhaps'",
        ),
        (chosen(" ann", "1", "d0"), "expected the annotator of a"),
    ],
)
def test_what_is_no_choice_is_refused(campaign: Campaign, choice: Choice, reason: str) -> None:
    assert reason in refusal(campaign, choice)


def test_what_was_not_on_the_page_is_refused(campaign: Campaign) -> None:
    reason = refusal(campaign, chosen("ann", "1", "d0"), handed_out_only=True)
    assert reason == "topic '1' is not assigned to ann"
    take(campaign, "ann")
    strange = chosen("ann", "1", "d0", shown=("d0", "outside"))
    assert "'outside' is not in the pool of topic '1'" in refusal(campaign, strange, handed_out_only=True)
    assert choose(campaign, "ann", "1", "d0").saved
    same = campaign.store.topic_tasks.choices().iloc[0]["uuid"]
    taken = campaign.judging.topic_tasks.choose([Choice(same, "ben", "1", "chosen", ("d0",))])
    assert "of another choice" in taken.refused[0].reason


# --- sparse qrels -----------------------------------------------------------------------------------


def test_sparse_qrels_by_hand() -> None:
    made = table(
        "ann 1 abcd b",
        "ben 1 abcd bc",
        "cai 1 abcd x",
        "ann 2 abc -",
        "ben 2 abc a",
        "cai 2 abc -",
        "ann 3 xy y",
    )
    assert build_qrels(made).values.tolist() == [["1", "b", 1], ["1", "c", 1], ["3", "y", 1]]
    assert build_qrels(made, "all").values.tolist() == [["1", "b", 1], ["3", "y", 1]]
    assert build_qrels(made, "any").values.tolist() == [["1", "b", 1], ["1", "c", 1], ["2", "a", 1], ["3", "y", 1]]
    assert build_qrels(made.iloc[:0]).empty
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        build_qrels(made, "majorty")
    with pytest.raises(ColumnsError, match="shown"):
        build_qrels(made.drop(columns="shown"))


def test_who_never_saw_a_document_does_not_decide_on_it() -> None:
    made = table("ann 1 ab a", "ben 1 bc c", "cai 1 bc -")
    assert build_qrels(made, "all").values.tolist() == [["1", "a", 1]]


LISTS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "ben", "cai"]),
        st.sampled_from(["1", "2"]),
        st.sampled_from(["chosen", "cannot judge"]),
        st.lists(st.sampled_from(DOCS), min_size=1, unique=True),
        st.sets(st.integers(0, 7)),
    ),
    unique_by=lambda row: row[:2],
)


@pytest.mark.slow
@tries(25)
@given(LISTS)
def test_sparse_qrels_hold_what_somebody_chose_and_nothing_else(rows: list[Any]) -> None:
    made = pd.DataFrame(
        [
            (a, q, k, tuple(shown), tuple(d for n, d in enumerate(shown) if n in picks))
            for a, q, k, shown, picks in rows
        ],
        columns=list(choices.NEEDED),
    )
    decided = made[made["kind"] == "chosen"]
    found = {rule.name: set(build_qrels(made, rule.name)["query_id"] + build_qrels(made, rule.name)["doc_id"])
             for rule in CHOICE_RULES}  # fmt: skip
    assert found["all"] <= found["majority"] <= found["any"]
    assert found["any"] == {q + d for q, ids in zip(decided["query_id"], decided["chosen"], strict=True) for d in ids}
    share = agreement(made)
    assert math.isnan(share.overlap) or 0 <= share.same <= share.overlap <= 1


def test_agreement_by_hand() -> None:
    made = table("ann 1 abc a", "ben 1 abc ab", "cai 1 abc -", "ann 2 abc -", "ben 2 abc -", "ann 3 a a", "ben 3 a x")
    # 1: {a}/{a,b} 1/2, {a}/{} 0, {a,b}/{} 0; 2: both chose none, which is the same.
    assert agreement(made) == ChoiceAgreement(2, 4, 0.25, 0.375)
    assert agreement(made.iloc[:1]).comparisons == 0


# --- files and commands -----------------------------------------------------------------------------


@pytest.mark.slow
def test_files_of_a_campaign(campaign: Campaign, tmp_path: Path) -> None:
    campaign.people.assignments.update(annotators=2)
    for name, ids in (("ann", "d1"), ("ben", "d1 d2")):
        take(campaign, name, 3)
        choose(campaign, name, "1", ids)
    choose(campaign, "ann", "2", "")
    choose(campaign, "ben", "2", "d3")
    cannot = chosen("ann", "3", kind="cannot judge", reason="no text", note='she said "no",\ntwice \u2028 \U0001f600')
    campaign.judging.topic_tasks.choose([cannot])
    choose(campaign, "ben", "2", kind="undone")
    where = campaign.directory
    said = ok("export", where, "--sparse-qrels", tmp_path / "s.txt", "--choices", tmp_path / "c.jsonl")
    assert (tmp_path / "s.txt").read_text() == "1 0 d1 1\n1 0 d2 1\n"
    assert "s.txt: 2 lines" in said
    assert "c.jsonl: 6 lines" in said
    ok("export", where, "--sparse-qrels", tmp_path / "s.txt", "--choice-rule", "all")
    assert (tmp_path / "s.txt").read_text() == "1 0 d1 1\n"
    assert "choose from all, any, majority" in fails(
        "export", where, "--sparse-qrels", tmp_path / "s.txt", "--choice-rule", "some"
    )
    log = campaign.store.topic_tasks.choices(current=False).astype(object)
    written = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().split("\n")[:-1]]
    assert [list(row) for row in written] == [list(Choice._fields)] * 6
    assert written == json.loads(json.dumps(log.where(log.notna(), None).to_dict("records")))
    state = ok("status", where)
    assert "3, 1 decided, 4 of 6 decisions made, 2 left" in state
    assert "same choice in 0% of 1 comparison of two annotators, overlap 0.50" in state
    assert "Next: Choose documents: 2 of 6 decisions on lists are left." in state
    plain = json.loads(ok("status", where, "--format", "json"))["decisions"]
    assert (plain["task"], plain["choices"], plain["agreement"]["comparisons"]) == ("list", 4, 1)


def test_what_is_next_when_all_lists_are_decided(campaign: Campaign) -> None:
    assert campaign.results.overview.next_step() == ("judge", "Choose documents: 3 of 3 lists are left.")
    assert campaign.results.overview.status()["decisions"]["agreement"] is None
    take(campaign, "ann", 3)
    for query_id in TOPICS:
        choose(campaign, "ann", query_id, "d0")
    assert campaign.results.overview.next_step().page == "export"
    campaign.settings.set_judging_page(task="grades")
    assert campaign.results.overview.next_step().page == "judge"
    assert campaign.results.overview.status()["decisions"] is None


def test_choices_are_written_as_jsonl(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ends in .jsonl for choices"):
        formats.write_choices(pd.DataFrame(), tmp_path / "c.csv")


def test_what_was_chosen_before_the_manager_lowered_the_number_is_kept(campaign: Campaign) -> None:
    """A card that was without a connection has asked for two."""
    take(campaign, "ann", 1)
    campaign.settings.set_judging_page(most_chosen=1)
    assert choose(campaign, "ann", "1", "d0 d1").refused == []
    assert campaign.store.topic_tasks.choices()["chosen"].tolist() == [("d0", "d1")]
    script = campaign.judging.topic_tasks.choose([chosen("ann", "1", "d0 d1")])
    assert script.refused[0].reason == "expected at most 1 chosen document, found 2"
    shown = tuple(f"x{number}" for number in range(51))
    put(campaign, documents=[Document(doc_id, "", "text") for doc_id in shown])
    (refused,) = campaign.judging.topic_tasks.choose(
        [chosen("ann", "1", shown=shown, chosen=shown)], handed_out_only=True
    ).refused
    assert refused.reason == "expected at most 50 chosen documents, found 51"
