"""A pooling strategy that chooses in a campaign's loop, as judgements come in."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from click.testing import CliRunner

from annotate.card.server import trainer
from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement
from collection.campaign.loop.active_learning import seed_of
from collection.cli import main
from collection.core.errors import InputError, UnknownNameError
from collection.pooling import list_rankings, replay, strategies
from tests.annotate.card.server import test_loop_routes
from tests.helpers import Opened, first_of, words

pytestmark = pytest.mark.slow

ADAPTIVE = strategies(adaptive=True)

NAMES = list(ADAPTIVE)

# Three runs of topic 1; b and c also have topic 2, and nobody has topic 3.
RUNS = {
    "a": {"1": "abcdefgh"},
    "b": {"1": "ciajkb", "2": "xa"},
    "c": {"1": "lcmnopa", "2": "xyz"},
}
RELEVANT = set("bcijlxz")


def relevant(doc_id: str) -> int:
    return int(doc_id in RELEVANT)


def write_runs(folder: Path) -> list[Path]:
    for name, topics in RUNS.items():
        lines = [
            f"{topic} Q0 {doc} {rank} {-rank} {name}\n"
            for topic, docs in topics.items()
            for rank, doc in enumerate(docs, 1)
        ]
        (folder / f"{name}.run").write_text("".join(lines))
    return [folder / f"{name}.run" for name in RUNS]


@contextmanager
def made(folder: Path, texts: str = "", **settings: object) -> Iterator[Campaign]:
    """A campaign whose loop is left to a strategy; each letter of `texts` is a document that has one."""
    folder.mkdir(exist_ok=True)
    (folder / "topics.tsv").write_text("1\tone\n2\ttwo\n3\tthree\n")
    (folder / "docs.jsonl").write_text("".join(json.dumps({"doc_id": d, "text": f"text {d}"}) + "\n" for d in texts))
    with Campaign.create(folder / "campaign", grades="0-1") as campaign:
        documents = [folder / "docs.jsonl"] if texts else []
        campaign.imports.import_files(topics=folder / "topics.tsv", runs=write_runs(folder), documents=documents)
        campaign.settings.set_loop(**{"mode": "loop", "by": "mtf", **settings})
        yield campaign


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Campaign]:
    """Without a text."""
    with made(tmp_path / "bare") as campaign:
        yield campaign


def judge(campaign: Campaign, doc_id: str, annotator: str = "ann", topic: str = "1", leased: bool = True) -> None:
    judgement = Judgement(str(uuid4()), annotator, topic, doc_id, "graded", relevant(doc_id))
    assert not campaign.judging.judge_many([judgement], leased_only=leased).refused


def judge_all(campaign: Campaign, most: int = 100, annotator: str = "ann", topic: str = "1") -> str:
    """Judge one after the other as long as there are any; what was judged, in order."""
    order = ""
    while len(order) < most and (documents := campaign.judging.next_pairs(annotator, topic, 1).documents):
        order += documents[0].doc_id
        judge(campaign, order[-1], annotator, topic)
    return order


def replayed(campaign: Campaign, name: str, topic: str = "1", among: str = "abcdefghijklmnopxyz") -> str:
    """The order in which the strategy asks where all answers are known, documents counted in another way."""
    given = {"seed": seed_of(campaign.id, topic)} if name == "thompson" else {}
    rankings = list_rankings(list(campaign.corpus.runs()), topic, list(among))
    order = replay(ADAPTIVE[name].function(rankings, **given), [bool(relevant(d)) for d in among])
    return "".join(among[place] for place in order)


# --- the order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", first_of(NAMES, 2))
@pytest.mark.long
def test_judging_takes_the_documents_in_the_order_of_a_replay(bare: Campaign, name: str) -> None:
    bare.settings.set_loop(by=name)
    for topic in ("1", "2"):
        order = judge_all(bare, topic=topic)
        assert order == replayed(bare, name, topic)
        log = bare.store.judgements.table(query_id=topic)
        assert set(log["strategy"]) == {name}
        assert set(log["pool_rank"]) == {1}
        assert log["model_round"].tolist() == list(range(len(order)))
        assert log["probability"].isna().all()
    assert not (bare.directory / "features").exists()


def test_mtf_by_hand(bare: Campaign) -> None:
    # a: a is irrelevant. b: c and i are relevant; a was seen; j is relevant, k is not. c: l is relevant, c was seen, m
    # is not. All have failed once; c gave two, b four, a one: a: b is relevant, c was seen, d is not. c (two): n.
    assert judge_all(bare, 9) == "acijklmbd"


@pytest.mark.long
@pytest.mark.parametrize("name", first_of(NAMES, 2))
def test_interrupted_it_goes_on_the_same(tmp_path: Path, name: str) -> None:
    with made(tmp_path, by=name) as campaign:
        directory, whole, order = campaign.directory, replayed(campaign, name), ""
    for _ in range(4):
        with Campaign(directory) as campaign:
            order += judge_all(campaign, 4)
    assert order == whole


@pytest.mark.long
def test_another_process_gives_the_same_order(tmp_path: Path) -> None:
    with made(tmp_path, by="thompson") as campaign:
        judge_all(campaign, 5)
        here = [way.doc_id for way in campaign.loop.next_round("1").selections]
        selections = "Campaign(sys.argv[1]).loop.next_round('1').selections"
        script = f"import sys; from collection import Campaign; print(*(way.doc_id for way in {selections}))"
        done = subprocess.run(
            [sys.executable, "-c", script, str(campaign.directory)], capture_output=True, text=True, check=True
        )
    assert done.stdout.split() == here


def test_a_campaign_with_texts_leaves_out_what_has_none(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdijkl") as campaign:
        assert judge_all(campaign) == replayed(campaign, "mtf", among="abcdijkl")


def test_in_the_pool_it_takes_what_the_pool_has(bare: Campaign) -> None:
    bare.people.pools.add("depth", depth=3)
    bare.settings.set_loop(mode="loop-in-pool")
    assert judge_all(bare) == replayed(bare, "mtf", among="abcilm")
    assert set(bare.store.judgements.table()["strategy"]) == {"mtf"}


def test_a_topic_that_no_run_has_is_at_its_end(bare: Campaign) -> None:
    made_round = bare.loop.next_round("3")
    assert (made_round.selections, made_round.complete, bare.loop.is_short(made_round)) == ([], True, False)
    assert bare.judging.next_pairs("ann", "3", 1).documents == []


@pytest.mark.long
def test_new_runs_and_documents_count_at_once(tmp_path: Path) -> None:
    with made(tmp_path) as campaign:
        judge_all(campaign)
        assert campaign.loop.next_round("1").complete
        (tmp_path / "d.run").write_text("1 Q0 q 1 1 d\n1 Q0 a 2 0 d\n")
        campaign.imports.import_files(runs=[tmp_path / "d.run"])
        assert judge_all(campaign) == "q"


# --- answers --------------------------------------------------------------------------------------


def test_what_others_judged_without_being_asked_counts_where_the_strategy_comes_to_it(bare: Campaign) -> None:
    bare.loop.next_round("1")  # without texts the campaign knows no documents before
    # i is judged relevant by somebody else: the strategy asks for a and c, and goes on in the same run behind i.
    judge(bare, "i", annotator="bob", leased=False)
    assert judge_all(bare, 3) == "acj"
    # One that is further down is passed over when the strategy comes to it.
    judge(bare, "p", annotator="bob", leased=False)
    assert judge_all(bare) == "klmbdneofgh"


def test_what_nobody_could_judge_is_presumed_irrelevant(bare: Campaign) -> None:
    assert judge_all(bare, 1) == "a"
    (document,) = bare.judging.next_pairs("ann", "1", 1).documents
    assert document.doc_id == "c"
    unable = Judgement(str(uuid4()), "ann", "1", "c", "cannot judge", reason="topic is unclear")
    assert not bare.judging.judge_many([unable], leased_only=True).refused
    assert judge_all(bare, 1) == "l"  # c would have kept its run in front


def test_a_grade_that_is_changed_changes_the_order(bare: Campaign) -> None:
    assert judge_all(bare, 2) == "ac"
    assert [w.doc_id for w in bare.loop.next_round("1", 1).selections] == ["i"]
    bare.judging.judge("ann", "1", "c", 0)
    assert [w.doc_id for w in bare.loop.next_round("1", 1).selections] == ["l"]


def test_two_annotators_hold_different_documents_and_judge_each_once(bare: Campaign) -> None:
    held: dict[str, list[str]] = {"ann": [], "bob": []}
    judged: list[str] = []
    for _ in range(20):
        for who in (*held, *held):  # twice: who comes second may take over what the first has only loaded
            pairs = bare.judging.next_pairs(who, "1", 3, held[who])
            assert pairs.order is not None
            held[who] = pairs.order
        if not any(held.values()):
            break
        assert set(held["ann"]).isdisjoint(held["bob"])
        for who, documents in held.items():
            if documents:
                judged.append(documents.pop(0))
                judge(bare, judged[-1], who)
    assert sorted(judged) == list("abcdefghijklmnop")


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_draws_come_only_where_they_are_asked_for(tmp_path: Path) -> None:
    with made(tmp_path, texts="abcdefghijklmnopqrstuvwxyz") as campaign:
        assert campaign.settings.loop().draws_after == 0
        judge_all(campaign)
        assert set(campaign.store.judgements.table()["strategy"]) == {"mtf"}
        assert "without random draws" in campaign.recall.for_topic("1").promise.lower()
    with made(tmp_path / "other", texts="abcdefghijklmnopqrstuvwxyz", run=2) as campaign:
        judge_all(campaign)
        log = campaign.store.judgements.table()
        drawn = log["strategy"] == "random"
        assert drawn.sum() >= 3
        assert log["strategy"][~drawn].eq("mtf").all()
        np.testing.assert_allclose(log["probability"][drawn], [1 / (26 - n) for n in np.flatnonzero(drawn)])
        ledger = campaign.progress.loop_scope.ledgers(["1"])["1"]
        assert len(ledger.draws) == drawn.sum()
        assert ledger.size == 26


# --- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", first_of(["mtf", "model"]))
@pytest.mark.long
def test_a_budget_ends_the_loop(tmp_path: Path, by: str) -> None:
    with made(tmp_path, texts="abcdefghijklmnopxyz", by=by, topic_budget=5) as campaign:
        assert len(judge_all(campaign)) == 5
        assert campaign.progress.budget.room("1") == 0
        rules = campaign.recall.for_topic("1").rules.set_index("rule")
        assert rules.loc["Fixed budget", ["says", "reason"]].tolist() == ["stop", "5 of 5 judgements made."]
        campaign.settings.set_loop(topic_budget=7)
        assert len(judge_all(campaign)) == 2
        campaign.settings.set_loop(topic_budget=0, budget=9)
        assert len(judge_all(campaign, topic="2")) == (2 if by == "mtf" else 1)  # topic 3 is in no run, but has texts
        assert judge_all(campaign) == ""
        assert len(judge_all(campaign, topic="3")) == (0 if by == "mtf" else 1)
        campaign.settings.set_loop(budget=0)
        assert campaign.progress.budget.room("1") is None
        assert len(judge_all(campaign)) == (9 if by == "mtf" else 12)


def test_what_annotators_hold_is_within_the_budget(bare: Campaign) -> None:
    bare.settings.set_loop(topic_budget=6)
    ann = bare.judging.next_pairs("ann", "1", 4).order
    assert ann is not None
    bob = bare.judging.next_pairs("bob", "1", 4).order
    assert bob is not None
    assert (len(ann), len(bob)) == (4, 2)
    judge(bare, ann[0])
    # The one judged and the five held are all that there is.
    assert len(bare.judging.next_pairs("ann", "1", 4, ann[1:]).order or []) == 3
    taken = bare.judging.next_pairs("cy", "1", 4).order
    assert taken
    assert set(taken) < {*ann[2:], *bob[1:]}  # of what the two have only loaded
    holding = {"ann": ann[1:], "bob": bob, "cy": taken}
    now = [doc for who, docs in holding.items() for doc in bare.judging.next_pairs(who, "1", 0, docs).order or []]
    assert len(now) == len(set(now)) == 5


def test_what_is_held_in_other_topics_is_within_the_budget_of_all(bare: Campaign) -> None:
    bare.settings.set_loop(budget=5)
    ann = bare.judging.next_pairs("ann", "1", 4).order
    bob = bare.judging.next_pairs("bob", "2", 4).order
    assert ann is not None
    assert bob is not None
    assert (len(ann), len(bob)) == (3, 2)
    assert (
        bare.progress.budget.room("1"),
        bare.progress.budget.room("1", "ann"),
        bare.progress.budget.room("1", "bob"),
    ) == (0, 3, 0)
    judge(bare, ann[0])
    judge(bare, bob[0], "bob", "2")
    assert bare.judging.next_pairs("bob", "2", 4, bob[1:]).order == bob[1:]
    assert bare.judging.next_pairs("ann", "1", 4, ann[1:]).order == ann[1:]


def test_imported_grades_are_within_the_budget(bare: Campaign, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 0\n2 0 x 1\n")
    bare.imports.import_files(qrels=tmp_path / "qrels.txt")
    bare.settings.set_loop(budget=3)
    assert len(judge_all(bare)) == 1


def test_second_opinions_come_on_top_of_the_budget(bare: Campaign) -> None:
    bare.people.assignments.update(annotators=2)
    bare.settings.set_loop(topic_budget=3)
    first = judge_all(bare)
    assert len(first) == 3
    assert judge_all(bare, annotator="bob") == first
    assert judge_all(bare, annotator="cy") == ""


# --- the judging card -----------------------------------------------------------------------------


@pytest.mark.long
def test_a_card_comes_to_the_end_of_the_strategy(bare: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "start_process", test_loop_routes.Beside)
    monkeypatch.setattr(test_loop_routes, "relevant", lambda doc_id: bool(relevant(doc_id)))
    with test_loop_routes.serving(JudgingService(bare.directory)) as client:
        card = test_loop_routes.Card(client, "ann")
        card.settle()
        order = [card.judge() for _ in range(16)]
        assert sorted(order) == list("abcdefghijklmnop")
        assert order[:2] == ["a", "c"]
        assert (card.holding, card.last["behind"], card.last["problem"]) == ([], False, None)
        assert "Move to front" in card.post("why", doc_id="c")["sentence"]
    assert set(bare.store.judgements.table()["strategy"]) == {"mtf"}


# --- what people see ------------------------------------------------------------------------------


def test_why(bare: Campaign) -> None:
    judge_all(bare, 1)
    (document,) = bare.judging.next_pairs("ann", "1", 1).documents
    why = bare.judging.explanations.why("1", document.doc_id, "ann")
    assert why.sentence == (
        "Chosen by Move to front: reads a run until a document is irrelevant, "
        "then switches to the run with the fewest irrelevant ones."
    )
    assert why.terms == []
    bare.settings.set_loop(explain="terms and runs")
    bare.people.assignments.update(blind=False)
    assert bare.judging.explanations.why("1", "c", "ann").sentence.endswith(
        " Retrieved by 3 of 3 systems, best at rank 1."
    )
    bare.loop.next_round("2")
    assert (
        bare.judging.explanations.why("1", "z", "ann").sentence
        == "No system retrieved it. Retrieved by 0 of 3 systems."
    )


def test_settings_are_refused_by_name(bare: Campaign) -> None:
    with pytest.raises(UnknownNameError, match="unknown ranking 'mft'; did you mean 'mtf'"):
        bare.settings.set_loop(by="mft")
    with pytest.raises(InputError, match="budget per topic: .* found -1"):
        bare.settings.set_loop(topic_budget=-1)
    with pytest.raises(InputError, match="budget for all topics: .* found -2"):
        bare.settings.set_loop(budget=-2)
    assert bare.settings.loop().by == "mtf"


def test_the_command_changes_and_shows_it(bare: Campaign) -> None:
    command = ["loop", str(bare.directory), "--by", "hedge", "--budget", "50", "--topic-budget", "20"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    lines = {line.split()[0]: line.split()[1] for line in done.output.splitlines() if line.split()}
    assert (lines["--by"], lines["--budget"], lines["--topic-budget"]) == ("hedge", "50", "20")
    done = CliRunner().invoke(main, ["loop", str(bare.directory), "--by", "bandit"])
    assert done.exit_code == 2
    assert "unknown ranking 'bandit'" in done.stderr


def test_the_loop_page(bare: Campaign, opened: Opened) -> None:
    app = opened(bare, "loop")
    assert "It reads no texts" in words(app)
    app.selectbox(key="mode").set_value("loop").run()
    assert "from the runs" in words(app)
    assert "from the whole collection" not in words(app)
    assert "no stopping guarantee holds" in words(app)
    assert not app.radio
    app.selectbox(key="by").set_value("hedge").run()
    app.number_input(key="topic_budget").set_value(30).run()
    app.button(key="save").click().run()
    assert (bare.settings.loop().by, bare.settings.loop().topic_budget) == ("hedge", 30)
    app.selectbox(key="by").set_value("model").run()
    assert "It reads no texts" not in words(app)
    assert app.radio(key="learner")
