"""The loop of a campaign: settings, modes, what is handed out and what the log says of it."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from click.testing import CliRunner

from collection import Campaign, Judgement
from collection.campaign.judging.judging import WORK_LIST, Client
from collection.campaign.loop.loop_round import Reasons
from collection.cli import main
from collection.core import clock
from collection.core.errors import InputError, UnknownNameError
from collection.store import corpus

WORDS = {
    "wing": ["wing flow", "flow past a wing", "a wing in a tunnel", "wing flutter", "flow over wings"],
    "heat": ["heat in a slab", "heat transfer", "a hot slab", "slab of steel", "cooling heat"],
    "rest": [f"word{i} and word{i + 1}" for i in range(60)],
}


def build(folder: Path) -> Campaign:
    texts = [(f"{kind}{i}", text) for kind, some in WORDS.items() for i, text in enumerate(some)]
    (folder / "docs.jsonl").write_text("".join(json.dumps({"doc_id": d, "text": t}) + "\n" for d, t in texts))
    (folder / "topics.tsv").write_text("1\tthe wing\n2\theat\n3\tnothing here\n")
    (folder / "a.run").write_text("1 Q0 heat0 1 9 a\n1 Q0 wing2 2 8 a\n1 Q0 ghost 3 7 a\n2 Q0 heat1 1 5 a\n")
    campaign = Campaign.create(folder / "wings")
    campaign.imports.import_files(
        documents=[folder / "docs.jsonl"], topics=folder / "topics.tsv", runs=[folder / "a.run"]
    )
    campaign.settings.set_loop(mode="loop")
    return campaign


@pytest.fixture
def wings(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build)


@pytest.fixture
def folder(wings: Campaign) -> Path:
    """The folder of the campaign and its files."""
    return wings.directory.parent


def judge(campaign: Campaign, doc_id: str, grade: int, topic: str = "1", annotator: str = "ann") -> None:
    made = Judgement(str(uuid4()), annotator, topic, doc_id, "graded", grade)
    result = campaign.judging.judge_many([made], leased_only=True)
    assert not result.refused, result.refused


def judge_next(campaign: Campaign, of: Callable[[str], int], topic: str = "1", annotator: str = "ann") -> str:
    document = campaign.judging.next_pairs(annotator, topic, 1).documents[0].doc_id
    judge(campaign, document, of(document), topic, annotator)
    return document


def is_wing(doc_id: str) -> int:
    return 2 * doc_id.startswith("wing")


# What is handed out


@pytest.mark.slow
def test_the_loop_begins_with_the_runs_and_goes_on_with_what_it_learned(wings: Campaign) -> None:
    order = [judge_next(wings, is_wing) for _ in range(6)]
    assert order[:2] == ["heat0", "wing2"]
    assert set(order[2:]) == {"wing0", "wing1", "wing3", "wing4"}
    log = wings.store.judgements.table()
    assert log["strategy"].tolist() == ["start", "start", "loop", "loop", "loop", "loop"]
    assert log["model_round"].tolist() == list(range(6))
    assert log["pool_rank"].tolist() == [1] * 6


@pytest.mark.slow
@pytest.mark.long
def test_documents_without_a_text_are_not_handed_out(wings: Campaign) -> None:
    seen = {judge_next(wings, lambda _: 0, topic="3") for _ in range(70)}
    assert "ghost" not in seen
    assert len(seen) == 70
    assert wings.judging.next_pairs("ann", "3", 5).documents == []


@pytest.mark.slow
def test_after_a_row_of_irrelevant_documents_some_are_drawn(wings: Campaign) -> None:
    wings.settings.set_loop(run=4)
    for _ in range(20):
        judge_next(wings, lambda _: 0)
    log = wings.store.judgements.table()
    assert log["strategy"].tolist()[:4] == ["start"] * 4
    assert set(log["strategy"][4:]) == {"random"}
    np.testing.assert_allclose(log["probability"][4:], [1 / (70 - n) for n in range(4, 20)])
    ledger = wings.progress.loop_scope.ledgers(["1"])["1"]
    assert (ledger.size, ledger.judged, len(ledger.draws)) == (70, 20, 16)


@pytest.mark.slow
@pytest.mark.long
def test_without_draws_there_are_none(wings: Campaign) -> None:
    wings.settings.set_loop(run=0)
    for _ in range(60):
        judge_next(wings, lambda _: 0)
    assert "random" not in set(wings.store.judgements.table()["strategy"])


@pytest.mark.slow
@pytest.mark.long
def test_two_annotators_share_the_model_and_not_the_pairs(wings: Campaign) -> None:
    held: dict[str, list[str]] = {"ann": [], "bob": []}
    for turn in range(40):
        who = ("ann", "bob")[turn % 2]
        made = wings.judging.next_pairs(who, "1", 3, held[who])
        assert made.order is not None
        other = held["bob" if who == "ann" else "ann"]
        assert set(made.order).isdisjoint(other)
        judge(wings, made.order[0], is_wing(made.order[0]), annotator=who)
        held[who] = made.order[1:]
    log = wings.store.judgements.table()
    assert log["doc_id"].is_unique
    assert log["annotator"].value_counts().to_dict() == {"ann": 20, "bob": 20}


@pytest.mark.slow
def test_what_is_on_screen_stays_and_the_rest_is_chosen_anew(wings: Campaign) -> None:
    first = wings.judging.next_pairs("ann", "1", 10)
    assert first.order is not None
    judge(wings, first.order[0], 0)
    judge(wings, "wing0", 2)
    held = [d for d in first.order[1:] if d != "wing0"]
    on_screen = "rest3" if "rest3" in held else held[-1]
    made = wings.judging.next_pairs(
        "ann", "1", 0, [on_screen, *(d for d in held if d != on_screen)], client=Client(in_loop=8)
    )
    assert made.order is not None
    assert made.order[0] == on_screen
    assert made.order[1].startswith("wing")
    assert len(made.order) == 8
    assert set(made.closed).isdisjoint(made.order)
    # Another annotator may have what was let go, once the first has said that they no longer hold it.
    wings.judging.next_pairs("ann", "1", 0, made.order, client=Client(in_loop=8))
    given = wings.judging.next_pairs("bob", "1", 70).order
    assert given is not None
    assert set(made.closed) - set(made.order) <= set(given)
    assert set(given).isdisjoint(made.order)


def test_a_judgement_of_a_pair_that_was_let_go_is_still_accepted(wings: Campaign) -> None:
    first = wings.judging.next_pairs("ann", "1", 10).order or []
    judge(wings, first[0], 3)
    wings.judging.next_pairs("ann", "1", 0, [first[1]], client=Client(in_loop=2))
    judge(wings, first[9], 0)
    row = wings.store.judgements.table().iloc[-1]
    assert (row["doc_id"], row["model_round"]) == (first[9], 0)


@pytest.mark.slow
def test_the_same_log_gives_the_same_round(wings: Campaign) -> None:
    for _ in range(5):
        judge_next(wings, is_wing)
    with Campaign(wings.directory) as again:
        assert again.loop.next_round("1").selections == wings.loop.next_round("1").selections


def test_a_round_is_current_until_something_changes(wings: Campaign, folder: Path) -> None:
    made = wings.loop.next_round("1")
    assert wings.loop.is_current(made)
    judge_next(wings, is_wing)
    assert not wings.loop.is_current(made)
    made = wings.loop.next_round("1")
    wings.settings.set_loop(learner="naive-bayes")
    assert not wings.loop.is_current(made)
    made = wings.loop.next_round("1")
    (folder / "more.jsonl").write_text(json.dumps({"doc_id": "wing9", "text": "the wing of a wing"}) + "\n")
    wings.imports.import_files(documents=[folder / "more.jsonl"])
    assert not wings.loop.is_current(made)
    assert "wing9" in [way.doc_id for way in wings.loop.next_round("1").selections]


def test_what_cannot_be_judged_does_not_come_again(wings: Campaign) -> None:
    document = wings.judging.next_pairs("ann", "1", 1).documents[0].doc_id
    wings.judging.judge_many([Judgement("u", "ann", "1", document, "cannot judge", reason="broken")])
    assert document not in [way.doc_id for way in wings.loop.next_round("1").selections]
    wings.judging.judge_many([Judgement("v", "ann", "1", document, "undone")])
    assert document in [way.doc_id for way in wings.loop.next_round("1").selections]


def test_annotators_who_contradict_each_other(wings: Campaign) -> None:
    judge_next(wings, is_wing)
    for who, grade in (("ann", 0), ("bob", 2), ("cid", 2)):
        wings.judging.judge(who, "1", "wing0", grade)
    assert wings.loop.next_round("1").strategy == "model"
    ledger = wings.progress.loop_scope.ledgers(["1"])["1"]
    assert (ledger.judged, ledger.found) == (2, 1)  # by majority


# Modes


def test_modes(wings: Campaign) -> None:
    wings.people.pools.add("depth", depth=1)  # heat0 for topic 1, heat1 for topic 2
    wings.settings.set_loop(mode="pool")
    assert judge_next(wings, is_wing) == "heat0"
    assert wings.judging.next_pairs("ann", "1", 1).documents == []
    wings.settings.set_loop(mode="pool-then-loop", topics=["1"])
    assert judge_next(wings, is_wing) == "wing2"
    wings.settings.set_loop(mode="loop-in-pool", topics=["2"])
    assert [d.doc_id for d in wings.judging.next_pairs("ann", "2", 5).documents] == ["heat1"]
    wings.settings.set_loop(mode="closed", topics=["2"])
    assert wings.judging.next_pairs("ann", "2", 5, ["heat1"]).closed == ["heat1"]
    assert wings.settings.modes() == {"1": "pool-then-loop", "2": "closed", "3": "pool"}
    wings.settings.set_loop(mode=None, topics=["1", "2"])
    assert set(wings.settings.modes().values()) == {"pool"}


@pytest.mark.slow
def test_progress_says_when_there_is_no_end(wings: Campaign) -> None:
    wings.people.pools.add("depth", depth=2)
    judge_next(wings, is_wing)
    progress = wings.progress.topics().set_index("query_id")
    assert progress["goal"].isna().all()
    assert wings.progress.totals("ann") == (1, None)
    assert "Judge 3 topics in the loop" in wings.results.overview.next_step().sentence
    wings.settings.set_loop(mode="pool")
    assert wings.progress.topics()["goal"].tolist() == [2, 1, 0]
    assert wings.progress.totals("ann") == (1, 3)
    wings.settings.set_loop(mode="closed", topics=["1"])
    assert wings.progress.topics()["goal"].tolist() == [1, 1, 0]
    assert wings.progress.totals("ann") == (1, 2)
    assert wings.results.overview.status()["remaining"] == 1


def test_topics_without_any_run_begin_with_their_words(wings: Campaign) -> None:
    assert wings.loop.next_round("2").strategy == "fusion"
    assert wings.loop.next_round("3").strategy == "topic text"


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"mode": "lop"}, UnknownNameError, "did you mean 'loop'"),
        ({"learner": "svn"}, UnknownNameError, "did you mean 'svm'"),
        ({"explain": "all"}, UnknownNameError, "choose from"),
        ({"target": 1.5}, InputError, "a share from 0.01 to 1"),
        ({"control": -0.1}, InputError, "a share from 0 to 1"),
        ({"level": 7}, InputError, "a grade of this campaign above 0"),
        ({"level": 0}, InputError, "level"),
        ({"run": -1}, InputError, "expected 0 or more irrelevant"),
        ({"modes": "loop"}, UnknownNameError, "did you mean 'mode'"),
        ({"mode": "loop", "topics": ["9"]}, UnknownNameError, "topic"),
        ({"level": 2, "topics": ["1"]}, InputError, "expected only a mode, found level"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    wings: Campaign, changes: dict[str, object], error: type[Exception], message: str
) -> None:
    before = wings.settings.loop()
    with pytest.raises(error, match=message):
        wings.settings.set_loop(**changes)  # type: ignore[arg-type]
    assert wings.settings.loop() == before


def test_what_a_pool_brought_is_not_the_models_turn(wings: Campaign) -> None:
    for i in range(60):  # sixty irrelevant ones in a row, and the model has not been asked yet
        wings.judging.judge("ann", "1", f"rest{i}", 0)
    wings.judging.judge("ann", "1", "wing0", 2)
    for i in range(5):
        wings.judging.judge("ann", "1", f"heat{i}", 0)
    assert {way.strategy for way in wings.loop.next_round("1").selections[:4]} == {"loop"}
    wings.settings.set_loop(control=0.2, run=0)
    assert wings.loop.next_round("1").selections[0].strategy == "random"
    assert wings.loop.next_round("1").selections[1].strategy == "loop"


def test_many_annotators_on_one_topic_all_have_something(wings: Campaign) -> None:
    made = wings.loop.next_round("1", 12)
    assert not made.complete
    for n in range(3):
        assert wings.judging.next_pairs(f"a{n}", "1", 4, loop_round=made).order
    assert wings.judging.next_pairs("late", "1", 4, loop_round=made).order == []
    assert len(wings.loop.next_round("1").selections) > len(made.selections)
    assert len(wings.judging.next_pairs("late", "1", 4).order or []) == 4
    assert wings.loop.next_round("1", 1000).complete


def test_a_draw_says_from_how_many_it_was_made(wings: Campaign) -> None:
    wings.settings.set_loop(control=1.0)
    assert len(wings.judging.next_pairs("bob", "1", 10).documents) == 10
    wings.judging.skip("ann", "1", "rest59")
    given = wings.judging.next_pairs("ann", "1", 1).documents[0].doc_id
    judge(wings, given, 0)
    out = 10 + (
        wings.store.queue.count_unavailable("1", clock.seconds(), "ann") > 10
    )  # the skipped one, unless bob holds it
    assert wings.store.judgements.table()["probability"].iloc[0] == pytest.approx(1 / (70 - out))


def test_an_old_round_says_the_right_number_all_the_same(wings: Campaign) -> None:
    wings.settings.set_loop(control=1.0)
    made = wings.loop.next_round("1", 70)
    assert len(wings.judging.next_pairs("bob", "1", 10, loop_round=made).documents) == 10
    for _ in range(12):  # by one round, as while the model fails
        judge(wings, wings.judging.next_pairs("ann", "1", 1, loop_round=made).documents[0].doc_id, 0)
    assert wings.progress.loop_scope.ledgers(["1"])["1"].out_of_reach.tolist() == [10] * 12


@pytest.mark.slow
def test_a_long_round_lasts_while_no_newer_one_comes(wings: Campaign) -> None:
    made = wings.loop.next_round("1", 70)
    for _ in range(70):
        judge(
            wings,
            wings.judging.next_pairs("ann", "1", 1, loop_round=made, client=Client(in_loop=1)).documents[0].doc_id,
            0,
        )


def test_a_round_that_others_hold_is_short(wings: Campaign) -> None:
    made = wings.loop.next_round("1", 20)
    assert wings.loop.is_short(made)  # a hundred are usual
    assert not wings.loop.is_short(wings.loop.next_round("1"))


@pytest.mark.slow
def test_leases_that_ran_out_are_not_taken_back(wings: Campaign) -> None:
    wings.people.pools.add("depth", depth=1)
    wings.settings.set_loop(mode="pool-then-loop")
    wings.judging.judge_many([Judgement("p", "ann", "1", "heat0", "graded", 0)])
    mine = wings.judging.next_pairs("ann", "1", 4).order or []
    wings.store.connection.db.conn.execute("UPDATE leases SET until = 1")
    assert wings.judging.next_pairs("bob", "1", 4).order == mine
    assert set(mine).isdisjoint(wings.judging.next_pairs("ann", "1", 4, mine).order or [])
    assert wings.judging.next_pairs("bob", "1", 0, mine, client=Client(in_loop=4)).order == mine


def test_features_of_another_process_are_taken_in(wings: Campaign) -> None:
    from collection.active_learning import features

    wings.loop.next_round("1")
    features.update(wings.directory / "features", wings.store.corpus.texts(), blocks=("words",))
    with Campaign(wings.directory) as again:
        assert again.loop.is_current(again.loop.next_round("1"))


def test_a_lease_that_has_ended_tells_nothing_of_the_next(wings: Campaign) -> None:
    wings.settings.set_loop(control=1.0)
    wings.judging.next_pairs("ann", "1", 70)
    wings.store.connection.db.conn.execute("UPDATE leases SET until = 1")
    wings.settings.set_loop(mode="pool")
    wings.people.pools.add("depth", depth=1)
    judge(wings, wings.judging.next_pairs("ann", "1", 1).documents[0].doc_id, 0)
    row = wings.store.judgements.table().iloc[0]
    assert (row["strategy"], row["pool_rank"]) == ("depth", 1)
    assert wings.progress.loop_scope.ledgers(["1"])["1"].draws.tolist() == []


def test_an_undo_does_not_change_what_was_drawn(wings: Campaign) -> None:
    wings.settings.set_loop(control=1.0)
    document = judge_next(wings, lambda _: 0)
    wings.judging.judge("ann", "1", document, undo=True)
    assert wings.store.judgements.count_ungraded()["1"] == (0, 1, 1)
    assert not wings.recall.for_topic("1").decision.stop
    wings.judging.search.take("ann", "1", document)
    judge(wings, document, 1)
    assert wings.store.judgements.current_judgements("1")["strategy"].tolist() == ["random"]
    assert wings.progress.loop_scope.ledgers(["1"])["1"].draws.tolist() == [0]
    assert wings.store.judgements.count_ungraded() == {}


def test_what_was_found_by_searching_stays_so_while_it_is_held(wings: Campaign) -> None:
    wings.judging.search.take("ann", "1", "wing3")
    order = wings.judging.next_pairs("ann", "1", 10, ["heat0", "wing3"]).order or []
    assert "wing3" in order
    judge(wings, "wing3", 2)
    assert wings.store.judgements.table()["strategy"].tolist() == ["search"]


def test_a_round_of_another_mode_is_not_handed_out(wings: Campaign) -> None:
    made = wings.loop.next_round("1")
    wings.people.pools.add("depth", depth=1)
    wings.settings.set_loop(mode="loop-in-pool")
    assert wings.judging.next_pairs("ann", "1", 5, loop_round=made).order == ["heat0"]


def test_documents_that_come_while_features_are_made_are_not_forgotten(
    wings: Campaign, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collection.active_learning import features

    real = features.update

    def slow(*arguments: object, **more: object) -> object:
        report = real(*arguments, **more)  # type: ignore[arg-type]
        (folder / "late.jsonl").write_text(json.dumps({"doc_id": "late", "text": "late wing"}) + "\n")
        monkeypatch.setattr(features, "update", real)
        wings.imports.import_files(documents=[folder / "late.jsonl"])
        return report

    monkeypatch.setattr(features, "update", slow)
    assert not wings.loop.is_current(wings.loop.next_round("1"))
    assert "late" in [way.doc_id for way in wings.loop.next_round("1").selections]


@pytest.mark.slow
def test_embeddings_without_the_newest_documents_do_not_stop_the_loop(wings: Campaign, folder: Path) -> None:
    np.save(folder / "own.npy", np.random.default_rng(0).normal(size=(70, 8)).astype(np.float32))
    wings.corpus.features.update(dense=folder / "own.npy")
    assert "dense" in wings.corpus.features.state().blocks
    (folder / "more.jsonl").write_text(json.dumps({"doc_id": "wing9", "text": "the wing of a wing"}) + "\n")
    wings.imports.import_files(documents=[folder / "more.jsonl"])
    assert "wing9" in [way.doc_id for way in wings.loop.next_round("1").selections]
    assert "are not used" in wings.corpus.features.state().note
    np.save(folder / "own.npy", np.random.default_rng(0).normal(size=(71, 8)).astype(np.float32))
    wings.corpus.features.update(dense=folder / "own.npy")
    assert (wings.corpus.features.state().note, "dense" in wings.corpus.features.state().blocks) == ("", True)


@pytest.mark.slow
def test_a_skipped_document_comes_again_after_some_others(wings: Campaign) -> None:
    first = wings.judging.next_pairs("ann", "1", 1).documents[0].doc_id
    wings.judging.skip("ann", "1", first)
    seen = [judge_next(wings, is_wing) for _ in range(30)]
    assert first not in seen[:20]
    assert first in seen


def test_cannot_judge_outside_the_pool_counts(wings: Campaign) -> None:
    document = wings.judging.next_pairs("ann", "1", 1).documents[0].doc_id
    wings.judging.judge_many([Judgement("u", "ann", "1", document, "cannot judge", reason="broken")])
    row = wings.progress.topics("1").iloc[0]
    assert (row["judged"], row["cannot_judge"]) == (1, 1)
    assert wings.results.overview.status()["cannot_judge"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["loop", "pool"])
def test_progress_after_each_save_is_what_a_count_of_everything_gives(wings: Campaign, mode: str) -> None:
    wings.people.pools.add("depth", depth=3)
    wings.settings.set_loop(mode=mode)
    wings.people.assignments.update(annotators=2)
    chance = random.Random(4)
    people = ["ann", "bob", "cid"]
    for step in range(150):
        who, topic, document = chance.choice(people), chance.choice("12"), chance.choice(["heat0", "wing0", "heat1"])
        kind = chance.choice(["graded", "graded", "cannot judge", "undone"])
        counts_as = "adjudication" if kind == "graded" and step % 11 == 10 else "judgement"
        grade, reason = (1 if kind == "graded" else None), ("torn" if kind == "cannot judge" else None)
        wings.judging.judge_many([Judgement(str(step), who, topic, document, kind, grade, reason, counts_as=counts_as)])
        if step == 70:
            wings.people.assignments.update(annotators=3)
        for name in people:
            shown, _ = wings.progress.annotator_standing(topic, name)
            assert shown == wings.progress.standing(topic, name), (step, name)
    # What others did elsewhere is counted some seconds later; a new process counts everything.
    with Campaign(wings.directory) as again:
        assert again.progress.totals("ann")[0] == sum(again.progress.standing(topic, "ann")[0] for topic in "123")


@pytest.mark.slow
def test_another_tab_keeps_what_it_has(wings: Campaign) -> None:
    one = wings.judging.next_pairs("ann", "1", 5).order or []
    two = wings.judging.next_pairs("ann", "2", 5, client=WORK_LIST).order or []
    assert set(one).isdisjoint(wings.judging.next_pairs("bob", "1", 70).order or [])
    wings.judging.next_pairs("bob", "3", 1)  # bob goes on to another topic, and has nothing else open
    wings.judging.next_pairs("ann", "1", 5, one)  # the first tab asks again
    assert set(two).isdisjoint(wings.judging.next_pairs("cid", "2", 70).order or [])
    wings.judging.next_pairs("cid", "3", 1)
    wings.judging.next_pairs("ann", "3", 1)  # and here is somebody who went on from both
    assert set(one) <= set(wings.judging.next_pairs("bob", "1", 70).order or [])
    assert set(two) <= set(wings.judging.next_pairs("bob", "2", 70, client=WORK_LIST).order or [])


def test_an_id_finds_its_document(wings: Campaign) -> None:
    assert wings.judging.search.find("1", "ann", "wing3").documents[0].doc_id == "wing3"


def test_each_annotator_has_their_port(wings: Campaign) -> None:
    wings.operations.server_state.keep_port("ann", 8501)
    wings.operations.server_state.keep_port("bob", 8502)
    assert (
        wings.operations.server_state.port("ann"),
        wings.operations.server_state.port("bob"),
        wings.operations.server_state.port("cid"),
    ) == (
        8501,
        8502,
        None,
    )


def test_damaged_features_are_made_again(wings: Campaign) -> None:
    wings.loop.next_round("1")
    (wings.directory / "features" / "meta.json").write_text("{")
    with Campaign(wings.directory) as again:
        assert again.loop.next_round("1").selections


# Why, and what a search finds


@pytest.mark.slow
def test_why_names_the_terms(wings: Campaign) -> None:
    assert "by the rankings of the systems" in wings.judging.explanations.why("1", "heat0", "ann").sentence
    for _ in range(3):
        judge_next(wings, is_wing)
    seen = set(wings.store.judgements.table()["doc_id"])
    why = wings.judging.explanations.why("1", "wing3" if "wing3" not in seen else "wing2", "ann")
    assert "wing" in [term for term, share in why.terms if share > 0]
    assert max(abs(share) for _, share in why.terms) == 1
    assert "Retrieved by" not in why.sentence
    wings.settings.set_loop(explain="terms and runs")
    assert "best at rank" not in wings.judging.explanations.why("1", "wing2", "ann").sentence  # judging is blind
    wings.people.assignments.update(blind=False)
    assert "Retrieved by 1 of 1 system, best at rank 2" in wings.judging.explanations.why("1", "wing2", "ann").sentence
    assert "Retrieved by 0 of 1 system" in wings.judging.explanations.why("1", "wing4", "ann").sentence
    wings.settings.set_loop(explain="nothing")
    assert wings.judging.explanations.why("1", "wing4", "ann").terms == []
    wings.settings.set_loop(mode="pool", explain="terms")
    assert "in the pool" in wings.judging.explanations.why("1", "wing4", "ann").sentence


def test_why_leaves_out_stop_words_and_numbers(wings: Campaign) -> None:
    names = ["with", "wing", "0", "as", "numeric_only", "2024"]
    reasons = Reasons("model", [(name, 0.5 - 0.1 * i) for i, name in enumerate(names)], None)
    why = wings.judging.explanations.why("1", "wing2", "ann", lambda _: reasons)
    assert why.terms == [("wing", 1.0), ("numeric_only", 0.25)]


def test_a_search_is_a_way_in(wings: Campaign) -> None:
    found = wings.judging.search.find("1", "ann", "slab -steel").documents
    assert {f.doc_id for f in found} == {"heat0", "heat2"}
    assert "\x02slab\x03" in found[0].snippet
    assert wings.judging.search.take("ann", "1", "heat2").doc_id == "heat2"
    judge(wings, "heat2", 3)
    row = wings.store.judgements.table().iloc[-1]
    assert (row["strategy"], row.isna()["model_round"]) == ("search", True)
    assert wings.judging.search.find("1", "ann", "slab hot").documents[0].relevance == 3
    assert wings.judging.search.find("1", "ann", "wing -flow tunnel").documents[0].doc_id == "wing2"
    assert wings.judging.search.find("1", "ann", "wing -flow nothere").documents == []
    assert {f.doc_id for f in wings.judging.search.find("1", "ann", "cooling OR steel").documents} == {"heat3", "heat4"}
    # The loop learns from it: its like come next.
    assert wings.loop.next_round("1").selections[0].doc_id.startswith("heat")
    with pytest.raises(InputError, match="has been judged or is open"):
        wings.judging.search.take("bob", "1", "heat2")


@pytest.mark.parametrize(
    "words", ['"', "AND", "-x", "NOT", "wing*", 'a"b', "(wing", "wing) OR", "NEAR(", "title:", "^", "–"]
)
def test_any_search_has_an_answer(wings: Campaign, words: str) -> None:
    if words.startswith("-") or not re.search("[A-Za-z]", re.sub("AND|NOT|OR$", "", words)):
        with pytest.raises(InputError, match="expected at least one word to find"):
            wings.judging.search.find("1", "ann", words)
    else:
        found = wings.judging.search.find("1", "ann", words).documents
        assert all("wing" in f.doc_id for f in found)  # no other has any of these words


def test_a_search_with_very_many_matches_ranks_the_first(wings: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    every = wings.judging.search.find("1", "ann", "wing")
    assert (len(every.documents) > 2, every.ranked) == (True, None)
    monkeypatch.setattr(corpus, "RANKED", 2)
    some = wings.judging.search.find("1", "ann", "wing")
    assert some.ranked == 2
    imported = wings.store.corpus.doc_ids(range(wings.store.corpus.document_rows()))
    first = [doc_id for doc_id in imported if doc_id in {f.doc_id for f in every.documents}][:2]
    assert {f.doc_id for f in some.documents} == set(first)


def test_a_search_for_a_phrase_of_common_words_is_not_ranked(wings: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked = wings.judging.search.find("1", "ann", '"a wing"')
    monkeypatch.setattr(corpus, "COMMON", 2)
    plain = wings.judging.search.find("1", "ann", '"a wing"')
    assert (ranked.ranked, plain.ranked) == (None, 0)
    assert len(plain.documents) > 1
    assert sorted(plain.documents) == sorted(ranked.documents)
    rows = wings.store.corpus.rows_of(f.doc_id for f in plain.documents)
    assert list(rows.values()) == sorted(rows.values())
    assert wings.judging.search.find("1", "ann", "a wing").ranked is None


def test_a_search_refuses_a_prefix_of_too_many_words(wings: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wings.judging.search.find("1", "ann", "WI*").documents
    monkeypatch.setattr(corpus, "COMMON_PREFIX", 3)
    with pytest.raises(InputError, match='too many words of the collection match "WI"\\*; add letters'):
        wings.judging.search.find("1", "ann", "slab WI*")
    assert wings.judging.search.find("1", "ann", "stee*").documents


def test_a_search_finds_what_comes_and_changes_later(wings: Campaign, folder: Path) -> None:
    (folder / "more.jsonl").write_text(json.dumps({"doc_id": "ghost", "text": "Überschall"}) + "\n")
    wings.imports.import_files(documents=[folder / "more.jsonl"])  # a run named it before its text was there
    assert [f.doc_id for f in wings.judging.search.find("1", "ann", "uberschall").documents] == ["ghost"]
    (folder / "more.jsonl").write_text(json.dumps({"doc_id": "ghost", "text": "subsonic"}) + "\n")
    wings.imports.import_files(documents=[folder / "more.jsonl"], replace=True)
    assert wings.judging.search.find("1", "ann", "uberschall").documents == []
    assert [f.doc_id for f in wings.judging.search.find("1", "ann", "subson*").documents] == ["ghost"]


@pytest.mark.parametrize("form", ["auto", "html"])
def test_what_a_search_finds_in_a_page_of_html_is_its_words(wings: Campaign, folder: Path, form: str) -> None:
    page = "<p class='glider'>A <b>glider</b> has 1 &lt; 2 <a href=x>wings</a>; 2 > 1</p>"
    rows = [
        {"doc_id": "page", "text": f"<!doctype html>{page}"},
        {"doc_id": "said", "text": page, "format": "html"},
        {"doc_id": "other", "text": f"The tag <b> of a glider is no page. {page}"},
    ]
    (folder / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    wings.imports.import_files(documents=[folder / "more.jsonl"])
    wings.settings.set_judging_page(form=form)
    found = {f.doc_id: f.snippet for f in wings.judging.search.find("1", "ann", "glider").documents}
    assert found["page"] == found["said"] == "A \x02glider\x03 has 1 < 2 wings ; 2 > 1"
    assert ("<b>" in found["other"]) is (form == "auto")
    assert wings.judging.search.find("1", "ann", "page").documents[0].snippet == "A glider has 1 < 2 wings ; 2 > 1"
    (folder / "more.jsonl").write_text(json.dumps({"doc_id": "odd", "text": f"{'<' * 40} zeppelin &#{'9' * 9000};<b"}))
    wings.imports.import_files(documents=[folder / "more.jsonl"])
    assert "\x02zeppelin\x03" in wings.judging.search.find("1", "ann", "zeppelin").documents[0].snippet


# The commands


@pytest.mark.slow
def test_the_commands(wings: Campaign, folder: Path) -> None:
    directory = str(wings.directory)
    result = CliRunner().invoke(main, ["loop", directory, "--mode", "loop-in-pool", "--level", "2", "--row", "20"])
    assert result.exit_code == 0, result.output
    assert "loop-in-pool" in result.output
    assert wings.settings.loop().run == 20
    result = CliRunner().invoke(main, ["loop", directory, "--mode", "closed", "--topic", "2"])
    assert [re.split(" {2,}", line.strip()) for line in result.output.splitlines()[:3]] == [
        ["topics", "mode", "annotators judge", "ids"],
        ["2", "loop-in-pool", "pooled pairs in the order that the loop selects", "1 and 3"],
        ["1", "closed", "no further judging", "2"],
    ]
    wings.settings.set_loop(mode="loop")
    judge_next(wings, is_wing)
    result = CliRunner().invoke(main, ["recall", directory])
    assert result.exit_code == 0, result.output
    confidence = "(95% CI)"
    assert [re.split(" {2,}", line) for line in result.output.splitlines()[2:5]] == [
        [
            *("topic", "mode", "judged", "relevant found"),
            *(f"relevant {confidence}", f"recall {confidence}", "scope", "advice"),
        ],
        ["2", "closed", "0", "0", "-", "-", "collection", "closed"],
        ["1", "loop", "1", "0", "0 to 69", "0% to 100%", "collection", "judge 67 more at random"],
    ]
    assert "Not shown: 1 topic not started; --format json has all." in result.output
    rows = json.loads(CliRunner().invoke(main, ["recall", directory, "--format", "json"]).output)
    assert [(row["query_id"], row["advice"]) for row in rows[:2]] == [("2", "closed"), ("3", "not started")]
    assert rows[-1]["query_id"] == "1"
    np.save(folder / "own.npy", np.eye(70, 8, dtype=np.float32))
    result = CliRunner().invoke(
        main, ["features", directory, "--block", "words", "--embeddings", str(folder / "own.npy")]
    )
    assert result.exit_code == 0, result.output
    assert "70 documents, features words, dense" in result.output
    assert [block.name for block in wings.corpus.features.open().blocks] == ["words", "dense"]
    np.save(folder / "short.npy", np.eye(3, dtype=np.float32))
    result = CliRunner().invoke(main, ["features", directory, "--embeddings", str(folder / "short.npy")])
    assert result.exit_code == 2
    assert "expected 70 rows" in result.output


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("检索", ["zh2", "zh1"]),
        ("检索 评价", ["zh2"]),
        ("检索 NOT 评价", ["zh1"]),
        ("-检索 情報", ["ja"]),
        ("情報 OR 评价", ["ja", "zh2"]),
        ("tf-idf 检索", ["zh2"]),
        ('"信息检索"', ["zh1"]),
        ("寿司", []),
    ],
)
def test_a_search_finds_words_of_scripts_without_blanks(
    wings: Campaign, folder: Path, words: str, found: list[str]
) -> None:
    texts = {
        "zh1": "他们研究信息检索的历史,很长很长。",
        "zh2": "检索的评价与检索(TF-IDF)。",
        "ja": "情報を探す人々のために。",
    }
    lines = [json.dumps({"doc_id": doc_id, "title": "", "text": text}) for doc_id, text in texts.items()]
    (folder / "east.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    wings.imports.import_files(documents=[folder / "east.jsonl"])
    hits = wings.judging.search.find("1", "ann", words).documents
    assert [hit.doc_id for hit in hits] == found
    assert all(hit.snippet.count("\x02") == hit.snippet.count("\x03") >= 1 for hit in hits)


def test_a_cluster_needs_a_folder_and_no_embeddings(wings: Campaign, folder: Path) -> None:
    np.save(folder / "dense.npy", np.ones((70, 2)))
    for given, message in (
        ({"partitions": None}, "expected a folder for partitions, found none; name it with --partitions"),
        ({"partitions": "memory://x", "dense": folder / "dense.npy"}, "expected words and characters, found your own"),
    ):
        with pytest.raises(InputError, match=message):
            wings.corpus.features.update(cluster="tcp://127.0.0.1:9", **given)
