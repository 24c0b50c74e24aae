"""Pools of a campaign: who contributes, what is left out, how they grow, what they cost; the command and the file."""

import json
from collections.abc import Callable
from pathlib import Path
from unittest import mock
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from collection.campaign import Campaign
from collection.cli import main
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Judgement
from collection.pooling import strategies, stratified

ADAPTIVE = strategies(adaptive=True)
STRATEGIES = strategies(adaptive=False)

WING = "The flow past a wing at low speed is smooth until the angle of attack grows beyond twelve degrees"


def say(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def build_large(folder: Path) -> Campaign:
    """Two topics, three runs of 30 documents each, no texts."""
    (folder / "topics.tsv").write_text("1\tone\n2\ttwo\n")
    for number, name in enumerate("abc"):
        random = np.random.default_rng(number)
        lines = [
            f"{topic} Q0 d{doc} 1 {-place} {name}"
            for topic in (1, 2)
            for place, doc in enumerate(random.permutation(60)[:30])
        ]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    campaign = Campaign.create(folder / "large")
    campaign.imports.import_files(topics=folder / "topics.tsv", runs=[folder / f"{name}.run" for name in "abc"])
    return campaign


@pytest.fixture
def large(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build_large)


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["query_id"], frame["doc_id"], strict=True))


# --- runs that contribute -------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_the_runs_that_are_named_contribute(campaign: Campaign, make_campaign: Callable[..., Campaign]) -> None:
    fresh = make_campaign("fresh", pooled=False)
    report = fresh.people.pools.add("depth", depth=2, runs=["beta"])
    assert (report.runs, report.pairs) == (1, 4)
    assert pairs(fresh.store.pool.pairs()) == {("1", "d2"), ("1", "d6"), ("2", "d4"), ("2", "d7")}
    # A run that comes later adds what is new, and the rounds say who brought what.
    assert fresh.people.pools.add("depth", depth=2).new == 2
    assert pairs(fresh.store.pool.pairs()) == pairs(campaign.store.pool.pairs())
    assert [json.loads(runs) for runs in fresh.store.pool.rounds()["runs"]] == [["beta"], ["alpha", "beta"]]
    with pytest.raises(UnknownNameError, match="did you mean 'beta'"):
        fresh.people.pools.add(runs=["betta"])
    with pytest.raises(InputError, match="expected at least one run, found none"):
        fresh.people.pools.add(runs=[])


# --- near-duplicates ------------------------------------------------------------------------------------


def build_copies(folder: Path) -> Campaign:
    """Documents a and b are one text, c is another with a copy of its own, d."""
    texts = {"a": WING, "b": WING.upper() + ".", "c": WING.replace("wing", "slab of ice"), "x": "Heat in a slab"}
    texts["d"] = texts["c"] + "!"
    (folder / "docs.jsonl").write_text("".join(json.dumps({"doc_id": d, "text": t}) + "\n" for d, t in texts.items()))
    (folder / "topics.tsv").write_text("1\tone\n2\ttwo\n")
    order = ["1 a", "1 b", "1 x", "1 d", "1 c", "2 b", "2 a", "2 gone"]
    lines = [f"{o.split()[0]} Q0 {o.split()[1]} 1 {-place} run" for place, o in enumerate(order)]
    (folder / "r.run").write_text("\n".join(lines) + "\n")
    campaign = Campaign.create(folder / "copies")
    campaign.imports.import_files(
        documents=[folder / "docs.jsonl"], topics=folder / "topics.tsv", runs=[folder / "r.run"]
    )
    return campaign


@pytest.fixture
def copies(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build_copies)


@pytest.mark.slow
def test_of_near_duplicates_a_topic_gets_the_first(copies: Campaign) -> None:
    cost = copies.people.pools.add("depth", depth=10, near_duplicates="skip", dry_run=True)
    assert copies.store.pool.pairs().empty
    report = copies.people.pools.add("depth", depth=10, near_duplicates="skip")
    assert (cost.pairs, cost.near_duplicates) == (report.pairs, report.near_duplicates) == (5, 3)
    # What has no text is a copy of nothing; another topic has copies of its own.
    assert pairs(copies.store.pool.pairs()) == {("1", "a"), ("1", "x"), ("1", "d"), ("2", "b"), ("2", "gone")}
    assert json.loads(copies.store.pool.rounds()["parameters"].iloc[0])["near_duplicates"] == "skip"
    # What the pool has is not taken out again, and keeps its copies out; without the switch they come.
    again = copies.people.pools.add("depth", depth=10, near_duplicates="skip")
    assert (again.new, again.near_duplicates) == (0, 3)
    assert copies.people.pools.add("depth", depth=10).new == 3
    assert copies.people.pools.add("depth", depth=10, near_duplicates="skip").near_duplicates == 0


@pytest.mark.slow
def test_a_pooled_copy_keeps_a_better_ranked_one_out(copies: Campaign) -> None:
    copies.store.pool.add(pd.DataFrame({"query_id": ["1"], "doc_id": ["b"], "rank": [2]}), "depth", {}, ["run"])
    report = copies.people.pools.add("depth", depth=2, near_duplicates="skip")
    assert report.near_duplicates == 2  # a in topic 1 beside b, which is pooled; a in topic 2 behind b
    assert pairs(copies.store.pool.pairs()) == {("1", "b"), ("2", "b")}


def test_copies_cannot_be_left_out_of_a_sample(copies: Campaign) -> None:
    with pytest.raises(InputError, match="whose probabilities would be wrong without near-duplicates"):
        copies.people.pools.add("uniform", near_duplicates="skip")
    with pytest.raises(UnknownNameError, match="choose from keep, skip"):
        copies.people.pools.add(near_duplicates="drop")  # type: ignore[arg-type]


# --- samples --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sample_keeps_what_it_did_not_draw(large: Campaign) -> None:
    drawn = stratified(list(large.corpus.runs()), strata="5:1,20:.3,30:.1", seed=2)
    cost = large.people.pools.add("stratified", strata="5:1,20:.3,30:.1", seed=2, dry_run=True)
    report = large.people.pools.add("stratified", strata="5:1,20:.3,30:.1", seed=2)
    assert report.new == report.pairs == cost.new == drawn["drawn"].sum()
    assert report.sampled_from == len(drawn)
    pool, left = large.store.pool.pairs(), large.store.pool.undrawn_pairs()
    assert pairs(pool) == pairs(drawn[drawn["drawn"]])
    assert pairs(left) == pairs(drawn[~drawn["drawn"]])
    known = drawn.set_index(["query_id", "doc_id"])
    for frame in (pool, left):
        of = known.loc[list(zip(frame["query_id"], frame["doc_id"], strict=True))]
        assert frame["probability"].tolist() == of["probability"].tolist()
        assert frame["stratum"].tolist() == of["stratum"].tolist()
    # The same sample again is no round of its own.
    assert large.people.pools.add("stratified", strata="5:1,20:.3,30:.1", seed=2).new == 0
    assert len(large.store.pool.rounds()) == 1
    assert len(large.store.pool.undrawn_pairs()) == len(left)


@pytest.mark.slow
def test_a_second_sample_leaves_pairs_as_they_were(large: Campaign) -> None:
    large.people.pools.add("depth", depth=2)
    large.people.pools.add("uniform", depth=30, rate=0.1)
    before = large.store.pool.pairs()
    assert before["probability"].isna().sum() == large.people.pools.add("depth", depth=2, dry_run=True).pairs
    report = large.people.pools.add("uniform", depth=30, rate=0.4)
    after = large.store.pool.pairs()
    assert report.new == len(after) - len(before) > 0
    merged = before.merge(after, on=["query_id", "doc_id"], suffixes=("", "_now"))
    assert merged["probability"].equals(merged["probability_now"])
    assert merged["pool_round"].equals(merged["pool_round_now"])
    assert not pairs(large.store.pool.undrawn_pairs()) & pairs(after)


@pytest.mark.slow
def test_the_same_sample_of_more_runs_leaves_what_it_left_out_where_it_was(large: Campaign) -> None:
    # What the first round drew stands for it; the few that the second draws of it would stand for all badly.
    large.people.pools.add("uniform", depth=30, rate=0.2, runs=["a", "b"])
    first = pairs(large.store.pool.undrawn_pairs())
    large.people.pools.add("uniform", depth=30, rate=0.2)
    left = large.store.pool.undrawn_pairs()
    assert not left.duplicated(["query_id", "doc_id"]).any()
    assert set(left["pool_round"]) == {1, 2}
    assert pairs(left[left["pool_round"] == 1]) == first - pairs(large.store.pool.pairs())
    # Another sample is another design, and says anew what it left out.
    large.people.pools.add("uniform", depth=30, rate=0.2, seed=5)
    assert 3 in set(large.store.pool.undrawn_pairs()["pool_round"])


@pytest.mark.slow
def test_the_written_pool_has_what_a_sample_needs(large: Campaign, tmp_path: Path) -> None:
    large.people.pools.add("depth", depth=2)
    large.exports.files.write(pool=tmp_path / "pool.tsv")
    assert (tmp_path / "pool.tsv").read_text().splitlines()[0] == "query_id\tdoc_id\tstrategy\trank"
    large.people.pools.add("stratified", strata="5:1,20:.3")
    large.exports.files.write(pool=tmp_path / "pool.tsv")
    written = pd.read_csv(tmp_path / "pool.tsv", sep="\t", dtype={"query_id": str})
    assert list(written.columns) == ["query_id", "doc_id", "strategy", "rank", "probability", "stratum"]
    pool = large.store.pool.pairs()
    assert written["doc_id"].tolist() == pool["doc_id"].tolist()
    assert written["probability"].equals(pool["probability"])
    assert written["stratum"].astype("Int64").equals(pool["stratum"])
    large.close()


# --- every strategy, and what it costs --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_says_its_cost_and_then_costs_it(large: Campaign, name: str) -> None:
    cost = large.people.pools.add(name, dry_run=True)
    assert large.store.judgements.counts()["pool"] == 0
    assert large.people.pools.add(name).new == cost.new == large.store.judgements.counts()["pool"] > 0
    assert set(large.store.pool.pairs()["strategy"]) == {name}
    assert json.loads(large.store.pool.rounds()["parameters"].iloc[0]).items() >= STRATEGIES[name].parameters.items()


@pytest.mark.slow
def test_costs_stand_side_by_side(large: Campaign) -> None:
    large.people.pools.add("depth", depth=1)
    costs = large.people.pools.costs(budget=7).set_index("strategy")
    assert costs.index.tolist() == list(STRATEGIES)
    for name in ("rrf", "rbp", "statap"):
        cost = large.people.pools.add(name, budget=7, dry_run=True)
        assert costs.loc[name, ["pairs", "new", "median"]].tolist() == [14, cost.new, 7]
    assert costs.loc["depth", "pairs"] == large.people.pools.add("depth", dry_run=True).pairs
    fewer = large.people.pools.costs(budget=7, runs=["a"]).set_index("strategy")
    assert fewer.loc["depth", "pairs"] == 20


@pytest.mark.slow
def test_the_time_is_said_once_there_is_a_pace(large: Campaign) -> None:
    large.people.pools.add("depth", depth=10)
    assert large.people.pools.time(100) is None
    pool = large.store.pool.pairs()[:20]
    for number, (query_id, doc_id) in enumerate(zip(pool["query_id"], pool["doc_id"], strict=True)):
        judgement = Judgement(str(uuid4()), "ann", query_id, doc_id, "graded", 0, seconds=20.0 + 20 * (number % 2))
        assert large.judging.judge_many([judgement]).saved
    time = large.people.pools.time(100)
    assert time is not None
    assert time.mid == pytest.approx(3000)
    assert time.low < 3000 < time.high
    assert "judging time     14-20 minutes at the pace so far" in say(
        "pool", large.directory, "--depth", 20, "--dry-run"
    )


def test_a_strategy_that_asks_as_it_goes_is_pointed_elsewhere(campaign: Campaign) -> None:
    for entry in ADAPTIVE.values():
        with pytest.raises(InputError, match="after the previous judgement"):
            campaign.people.pools.add(entry.name)


# --- the command ----------------------------------------------------------------------------------------


def test_the_command_lists_every_strategy() -> None:
    listed = say("methods", "strategies")
    for entry in (*STRATEGIES.values(), *ADAPTIVE.values()):
        line = next(line for line in listed.splitlines() if line.split()[:1] == [entry.name])
        assert entry.description in line
        assert all(f"{name}={value}" in line for name, value in entry.parameters.items())


@pytest.mark.slow
def test_the_command_takes_any_parameter(large: Campaign) -> None:
    directory = large.directory
    said = say("pool", directory, "--strategy", "rbp", "--set", "p=.95", "--budget", 5, "--dry-run")
    assert said.startswith("Dry run: would add 10 pairs to the pool.\n  strategy         rbp (budget 5, p 0.95)\n")
    assert "judging time" not in said
    said = say("pool", directory, "--strategy", "uniform", "--set", "depth=10", "--set", "rate=.5", "--from-run", "a")
    assert "1 run, 2 topics\n  random sample    10 of 20 pairs\n" in said
    assert "1 topic has no pairs" not in said
    rounds = large.store.pool.rounds()
    assert json.loads(rounds["runs"].iloc[0]) == ["a"]
    assert "unknown rbp parameter 'depth'" in say("pool", directory, "--strategy", "rbp", "--depth", 3, code=2)
    assert "did you mean 'stratified'" in say("pool", directory, "--strategy", "stratifed", code=2)
    assert "mtf is adaptive" in say("pool", directory, "--strategy", "mtf", code=2)
    assert "--run, --at and --unjudged need --compare" in say("pool", directory, "--at", "10%", code=2)
    assert "expected DIR, or --compare" in say("pool", code=2)


@pytest.mark.parametrize("name", list(STRATEGIES))
@pytest.mark.parametrize("option", ["budget", "depth", "k", "ties"])
def test_every_short_option_works_or_is_refused_with_what_to_use(large: Campaign, name: str, option: str) -> None:
    value = "both" if option == "ties" else 8
    result = CliRunner().invoke(main, ["pool", str(large.directory), "--strategy", name, f"--{option}", str(value)])
    parameters = STRATEGIES[name].parameters
    if option in parameters:
        assert result.exit_code == 0, result.output
        assert f"{option} {value}" in result.stdout
        if option == "budget":
            assert large.store.pool.pairs()["query_id"].value_counts().tolist() == [8, 8]
    else:
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 2
        assert f"choose from {', '.join(sorted(parameters))}" in result.stderr


def test_a_sparse_pool_takes_a_budget(large: Campaign) -> None:
    assert "budget" in STRATEGIES["sparse"].parameters
    assert large.people.pools.add("sparse", budget=8, dry_run=True).pairs == 16


def test_the_command_says_what_was_left_out(copies: Campaign) -> None:
    said = say("pool", copies.directory, "--near-duplicates", "skip")
    assert said.startswith("Added 5 pairs to the pool.\n")
    assert "left out         3 near-duplicates\n" in said
    assert "--near-duplicates: expected one of 'keep', 'skip', found 'merge'" in say(
        "pool", copies.directory, "--near-duplicates", "merge", code=2
    )


def test_a_total_may_leave_a_topic_out(campaign: Campaign) -> None:
    result = CliRunner().invoke(main, ["pool", str(campaign.directory), "--strategy", "rrf", "--set", "total=1"])
    assert "note: 1 topic has no pairs: " in result.stderr


def test_the_command_hands_a_comparison_on(tmp_path: Path, files: Path) -> None:
    assert "--compare needs runs: add DIR or --run" in say("pool", "--compare", tmp_path / "q.txt", code=2)
    with mock.patch("collection.cli.pool.compare_pools") as compare_pools:
        given = ["--run", files / "a.run", "--at", "20%", "-m", "AP", "--unjudged", "left-out", "--format", "tsv"]
        say("pool", "--compare", tmp_path / "q", *given)
        say("pool", tmp_path, "--compare", tmp_path / "q")
    calls = [(*call.args, call.kwargs) for call in compare_pools.call_args_list]
    assert [mock.call(runs, Path(qrels), place, **named) for runs, qrels, place, named in calls] == [
        mock.call(
            [files / "a.run"], tmp_path / "q", None, measure="AP", budgets=["20%"], unjudged="left-out", form="tsv"
        ),
        mock.call(
            [],
            tmp_path / "q",
            tmp_path,
            measure="nDCG@10",
            budgets=["10%", "25%", "50%"],
            unjudged="not-relevant",
            form="table",
        ),
    ]
