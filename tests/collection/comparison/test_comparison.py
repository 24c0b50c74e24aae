"""The comparison of systems: leaderboard, tests, pairs, seeds, frontier, topics, tables for papers, the command."""

import itertools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from collection import Campaign, comparison, formats
from collection.comparison import (
    Evaluation,
    compare,
    describe_power,
    differences,
    evaluate,
    frontier,
    group_seeds,
    merge_seeds,
    side_by_side,
)
from collection.core.errors import InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.measures import parse
from collection.statistics import holm
from tests.conftest import frame
from tests.helpers import fails, ok, run


def run_of(name: str, ranking: dict[str, str]) -> Run:
    """A run from ``{"1": "a b c"}``, best first."""
    rows = [(q, d, -n) for q, documents in ranking.items() for n, d in enumerate(documents.split())]
    return Run(name, rank_run(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": float})))


def made_up(
    systems: dict[str, float], topics: int = 60, judged: int = 20, seed: int = 0
) -> tuple[list[Run], pd.DataFrame]:
    """Systems, each with so much noise on the grades, and qrels of all that they find but document 0."""
    random = np.random.default_rng(seed)
    worth = random.normal(size=(topics, judged + 5))
    grades = np.digitize(worth, [0.5, 1.2])
    qrels = [(str(t), f"d{d}", grades[t, d]) for t in range(topics) for d in range(1, judged)]
    runs = []
    for name, noise in systems.items():
        seen = worth + random.normal(scale=noise, size=worth.shape)
        runs.append(run_of(name, {str(t): " ".join(f"d{d}" for d in np.argsort(-seen[t])) for t in range(topics)}))
    return runs, pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])


def measured(*names: str) -> list:
    return [parse(name) for name in names]


@pytest.fixture(scope="module")
def four() -> Evaluation:
    """Two good systems that are nearly alike, a bad one, and one that is between."""
    runs, qrels = made_up({"good": 0.3, "twin": 0.31, "between": 1.0, "bad": 4.0})
    return evaluate(runs, qrels, measured("nDCG@10", "AP"))


# The leaderboard and the tests ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_leaderboard(four: Evaluation) -> None:
    compared = compare(four)
    board = compared.leaderboard.set_index(["measure", "system"])
    means = four.means()
    assert compared.table().equals(means)
    for measure in ("nDCG@10", "AP"):
        values = four.per_topic().query("measure == @measure").pivot(index="query_id", columns="run", values="value")
        low, high = stats.t.interval(0.95, 59, values.mean(), stats.sem(values))
        of = board.loc[measure].loc[values.columns]
        assert np.allclose(of["low"], low)
        assert np.allclose(of["high"], high)
        assert board.loc[measure]["place"].tolist() == means[measure].rank(ascending=False).astype(int).tolist()
        assert board.loc[measure].query("best").index.tolist() == [means[measure].idxmax()]
        assert set(board.loc[measure].query("like_best").index) == {"good", "twin"}
    assert board["seeds"].tolist() == [1] * 8
    assert board["spread"].isna().all()
    assert (compared.topics, compared.test, compared.correction, compared.alpha) == (60, "paired-t", "holm", 0.05)


@pytest.mark.slow
def test_the_tests_are_scipys_with_holms_correction(four: Evaluation) -> None:
    compared = compare(four, baseline="between", alpha=0.01)
    assert list(compared.tests) == [
        "system", "baseline", "measure", "topics", "difference", "low", "high", "interval_of", "effect", "test",
        "statistic", "p", "p_adjusted", "wins", "ties", "losses", "significant", "detectable",
    ]  # fmt: skip
    for measure, tests in compared.tests.groupby("measure"):
        values = four.per_topic().query("measure == @measure").pivot(index="query_id", columns="run", values="value")
        expected = [stats.ttest_rel(values[system], values["between"]) for system in ("good", "twin", "bad")]
        assert tests["system"].tolist() == ["good", "twin", "bad"]
        assert tests["p"].tolist() == pytest.approx([e.pvalue for e in expected])
        assert tests["p_adjusted"].tolist() == pytest.approx(holm([e.pvalue for e in expected]).tolist())
        assert tests["low"].tolist() == pytest.approx([e.confidence_interval(0.99).low for e in expected])
        d = values["good"] - values["between"]
        first = tests.iloc[0]
        assert (first["wins"], first["ties"], first["losses"]) == ((d > 0).sum(), (d == 0).sum(), (d < 0).sum())
        assert first["effect"] == pytest.approx(d.mean() / d.std())
        assert first["difference"] == pytest.approx(
            four.means().loc["good", measure] - four.means().loc["between", measure]
        )
        assert (tests["significant"] == (tests["p_adjusted"] <= 0.01)).all()


def test_without_a_baseline_it_is_the_best_of_each_measure() -> None:
    qrels = frame("1 a 1\n1 b 0\n1 c 1\n2 a 1\n2 b 0\n2 c 1\n3 a 1\n3 b 0\n3 c 1", "query_id", "doc_id", "relevance")
    early = run_of("early", dict.fromkeys("123", "a b b1 b2 b3 b4"))
    late = run_of("late", dict.fromkeys("123", "b b1 a c"))
    compared = compare(evaluate([early, late], qrels, measured("RR", "R@10")))
    assert compared.tests[["measure", "baseline", "system"]].values.tolist() == [
        ["RR", "early", "late"],
        ["R@10", "late", "early"],
    ]


@pytest.mark.slow
def test_less_may_be_better() -> None:
    qrels = frame("1 a 1\n2 a 1\n3 a 1", "query_id", "doc_id", "relevance")
    quick = run_of("quick", dict.fromkeys("123", "a b"))
    slow = run_of("slow", {"1": "b a", "2": "b c a", "3": "b c d a"})
    compared = compare(evaluate([quick, slow], qrels, measured("Effort@0.95", "Judged@2")), baseline="slow")
    assert compared.table("best")["Effort@0.95"].tolist() == [True, False]
    assert compared.table("place").fillna(0).values.tolist() == [[1, 0], [2, 0]]
    first, second = compared.tests.itertuples()
    assert first.difference < 0
    assert (first.wins, first.losses) == (3, 0)
    assert compared.sentence("Effort@0.95").startswith("quick has the lowest Effort@0.95 (1.000 over 3 topics)")
    assert compared.sentence("Effort@0.95", "quick").startswith(
        "quick is 2.000 Effort@0.95 below slow, where lower is better: "
    )
    # Nobody is the better for documents that are judged: no best, and tests say higher or lower.
    assert compared.sentence("Judged@2") == (
        f"Judged@2 has no preferred direction; choose a baseline ({compared.topics} topics)."
    )
    assert second.measure == "Judged@2"
    assert compare(evaluate([quick, slow], qrels, measured("Judged@2"))).tests.empty


def test_counts_have_no_interval_of_a_mean(four: Evaluation) -> None:
    runs, qrels = made_up({"a": 0.3, "b": 1.0}, topics=5)
    board = compare(evaluate(runs, qrels, measured("NumRelRet", "AP"))).leaderboard
    assert board.query("measure == 'NumRelRet'")["low"].isna().all()
    assert board.query("measure == 'AP'")["low"].notna().all()


def test_tests_of_what_is_no_mean_say_what_they_are_of() -> None:
    runs, qrels = made_up({"a": 0.3, "b": 4.0}, topics=12)
    compared = compare(evaluate(runs, qrels, measured("AP", "GMAP", "NumRelRet")), baseline="a")
    assert "GMAP: the tests compare means over topics, while the value is the geometric mean" in compared.notes
    assert "NumRelRet: the tests compare means over topics, while the value is the sum" in compared.notes
    row = compared.tests.set_index("measure").loc["GMAP"]
    assert f"b is {-row['difference']:.3f} GMAP per topic on average below a: " in compared.sentence("GMAP", "b")
    assert " AP below a: " in compared.sentence("AP", "b")


def test_unjudged_stands_beside_each_measure_at_its_own_cut_off() -> None:
    qrels = frame("1 a 1\n1 b 0\n2 a 1", "query_id", "doc_id", "relevance")
    runs = [run_of("x", {"1": "a b u v", "2": "u a"}), run_of("y", {"1": "u v w a"})]
    evaluation = evaluate(runs, qrels, measured("P@2", "RR", "R@3", "Judged@3"))
    board = compare(evaluation).leaderboard.set_index(["measure", "system"])
    assert board.loc["P@2", "unjudged"].tolist() == [1 / 4, 1]
    assert board.loc["R@3", "unjudged"].tolist() == pytest.approx([(1 / 3 + 1 / 2) / 2, 1])
    assert board.loc[("R@3", "x"), "unjudged"] == pytest.approx(1 - evaluation.means().loc["x", "Judged@3"])
    assert board.loc["RR", "unjudged"].tolist() == [1 / 2, 3 / 4]
    assert board["cutoff"].tolist()[:2] == [2, 2]
    assert board.loc["RR", "cutoff"].isna().all()
    assert board["missing_topics"].tolist() == [0, 1] * 4
    stranger = evaluate([*runs, run_of("z", {"3": "a b"})], qrels, measured("P@2"), strangers=True)
    assert stranger.unjudged["unjudged"].tolist() == [1 / 4, 1, 0]


def test_an_interval_says_what_it_is_of(four: Evaluation) -> None:
    compared = compare(four, baseline="between", alpha=0.001)
    assert "; 99.9% CI +" in compared.sentence("AP", "good")
    few = compared.tests.assign(low=math.nan, high=math.nan)  # as after a permutation test of 5 topics
    assert "; no 99.9% CI: too few topics)." in replace(compared, tests=few).sentence("AP", "good")


@pytest.mark.slow
def test_all_pairs(four: Evaluation) -> None:
    compared = compare(four, all_pairs=True)
    disagree = "the randomised Tukey HSD test of all pairs; the tests against the baseline may disagree with it"
    assert disagree in " ".join(compared.notes)
    assert disagree not in " ".join(compare(four).notes)
    pairs = compared.pairs
    assert pairs is not None
    assert len(pairs) == 12
    of = pairs.query("measure == 'AP'").set_index(["system_a", "system_b"])
    assert not of.loc[("good", "twin"), "significant"]
    assert of.loc[("good", "bad"), "significant"]
    assert of.loc[("good", "bad"), "low"] > 0
    row = of.loc[("good", "bad")]
    assert row["wins"] + row["ties"] + row["losses"] == 60
    again = compare(four, all_pairs=True).pairs
    assert pairs.equals(again)
    assert not pairs.equals(compare(four, all_pairs=True, seed=1).pairs)
    assert set(compared.leaderboard.query("measure == 'AP' and like_best")["system"]) == {"good", "twin"}


@pytest.mark.slow
def test_every_test_and_correction_can_be_asked_for(four: Evaluation) -> None:
    from collection.statistics import CORRECTIONS, TESTS

    for test in TESTS:
        compared = compare(four, baseline="bad", test=test.name)
        found = compared.tests.set_index(["measure", "system"])["significant"]
        assert found[("AP", "good")], test.name
    of = {c.name: compare(four, baseline="bad", correction=c.name).tests["p_adjusted"] for c in CORRECTIONS}
    assert (of["holm"] <= of["bonferroni"]).all()
    assert (of["none"] <= of["holm"]).all()


def test_a_run_that_is_there_twice_is_no_better() -> None:
    runs, qrels = made_up({"a": 0.5}, topics=10)
    compared = compare(evaluate([runs[0], Run("copy", runs[0].frame)], qrels, measured("AP")))
    assert compared.tests[["difference", "p", "ties"]].values.tolist() == [[0, 1, 10]]
    assert compared.leaderboard["best"].all()
    assert compared.sentence("AP").startswith("a and copy have the highest AP")
    # A spread of 0 says nothing of what could be seen.
    assert compared.sentence("AP", "copy").startswith(
        "copy and a have the same AP: not significant (permutation test: p = 1.0000; "
    )
    assert describe_power(compared.tests, "AP") == ""


@pytest.mark.slow
def test_one_topic_or_one_system_is_a_leaderboard_without_tests() -> None:
    runs, qrels = made_up({"a": 0.5, "b": 1.0}, topics=1)
    single = compare(evaluate(runs, qrels, measured("AP")), baseline="a", all_pairs=True)
    assert single.tests.empty
    assert single.pairs is not None
    assert single.pairs.empty
    assert single.leaderboard["low"].isna().all()
    assert single.leaderboard["like_best"].all()  # nothing was tested, so nobody is known to be worse
    assert single.sentence("AP").endswith(" over 1 topic).")
    assert "significant" in single.tests
    runs, qrels = made_up({"a": 0.5}, topics=5)
    alone = compare(evaluate(runs, qrels, measured("AP")))
    assert alone.tests.empty
    assert alone.leaderboard["best"].tolist() == [True]
    assert alone.sentence("AP") == f"a has the highest AP ({alone.table().loc['a', 'AP']:.3f} over 5 topics)."
    for compared in (single, alone):
        assert r"\bottomrule" in compared.to_latex()
        assert compared.to_markdown()


def test_topics_without_a_value_are_left_out_and_counted(four: Evaluation) -> None:
    rows = zip(*(four.columns[name] for name in ("run", "query_id", "measure", "value")), strict=True)
    values = [
        np.nan if run == "bad" and topic in ("3", "4") and measure == "AP" else value
        for run, topic, measure, value in rows
    ]
    compared = compare(replace(four, columns={**four.columns, "value": values}), baseline="good")
    assert compared.tests.groupby("measure")["topics"].first().to_dict() == {"AP": 58, "nDCG@10": 60}
    assert "AP: 2 topics without a value for every system are left out of tests and intervals" in compared.notes


@pytest.mark.slow
def test_notes_and_sentences() -> None:
    runs, qrels = made_up({"good": 0.3, "bad": 4.0}, topics=20)
    runs.append(Run("short", runs[0].frame[runs[0].frame["query_id"] != "3"]))
    compared = compare(evaluate(runs, qrels, measured("nDCG@10", "P@5")), baseline="bad")
    notes = "\n".join(compared.notes)
    assert "with only 20 topics (fewer than 50)" in notes
    assert "short lacks 1 of 20 topics; missing topics count as empty rankings" in notes
    assert "p-values are corrected within each measure, not across measures" in notes
    assert re.search(
        r"nDCG@10: \d+% of the first 10 documents of \w+ are unjudged, the most of all runs \(fewest: \d+%", notes
    )
    (alone,) = [n for n in compare(evaluate(runs[:1], qrels, measured("nDCG@10"))).notes if "are unjudged" in n]
    assert "of all runs" not in alone
    assert "the baseline is the best system" not in notes
    assert "the baseline is the best system on these same topics" in "\n".join(
        compare(evaluate(runs, qrels, measured("AP"))).notes
    )
    row = compared.tests.set_index(["measure", "system"]).loc[("nDCG@10", "good")]
    assert compared.sentence("nDCG@10", "good") == (
        f"good is {row['difference']:.3f} nDCG@10 above bad: significant "
        f"(permutation test: p < 0.0001 after Holm correction; 95% CI {row['low']:+.3f} to {row['high']:+.3f})."
    )
    detectable = compared.tests.query("measure == 'nDCG@10'")["detectable"]
    assert describe_power(compared.tests, "nDCG@10") == (
        f"With 20 topics, differences of {detectable.min():.3f} to {detectable.max():.3f}, depending on the system, "
        "are detectable with 80% power (paired t-test, uncorrected)."
    )
    assert compared.sentence("nDCG@10").startswith("good has the highest nDCG@10 (0.")
    assert compared.sentence("nDCG@10").endswith(
        " over 20 topics), but not significantly higher than short (permutation test)."
    )
    turned = compare(evaluate(runs, qrels, measured("nDCG@10")), baseline="good", test="wilcoxon", correction="none")
    assert re.match(r"bad is 0\.\d{3} nDCG@10 below good: ", turned.sentence("nDCG@10", "bad"))
    assert "95% CI of the pseudo-median" in turned.sentence("nDCG@10", "bad")


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"baseline": "godo"}, UnknownNameError, "unknown system 'godo'; did you mean 'good'?"),
        ({"test": "t"}, UnknownNameError, "unknown significance test 't'"),
        ({"correction": "holmes"}, UnknownNameError, "unknown correction 'holmes'; did you mean 'holm'?"),
        ({"alpha": 0}, InputError, "alpha: expected a significance level between 0 and 1, found 0"),
    ],
)
def test_bad_input_is_named(four: Evaluation, keywords: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        compare(four, **keywords)


def test_a_measure_given_twice_is_an_error() -> None:
    qrels = pd.DataFrame([("1", "r", 1)], columns=["query_id", "doc_id", "relevance"])
    with pytest.raises(InputError, match="measure AP is given twice; name it once"):
        compare(evaluate([run_of("a", {"1": "r"})], qrels, measured("AP", "P@1", "AP")))


def test_what_is_missing_is_asked_for(four: Evaluation) -> None:
    compared = compare(four)
    with pytest.raises(UnknownNameError, match="unknown measure 'P'"):
        compared.sentence("P")
    with pytest.raises(UnknownNameError, match="unknown tested system 'x'"):
        compared.sentence("AP", "x")


# Seeds ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_seeds_are_one_system_at_their_mean() -> None:
    runs, qrels = made_up({"dense#1": 0.5, "bm25": 1.0, "dense#2": 0.6, "dense#3": 0.9, "lone#1": 2.0}, topics=30)
    evaluation = evaluate(runs, qrels, measured("AP", "P@5"))
    compared = compare(evaluation, baseline="bm25")
    means = evaluation.means()["AP"]
    of_seeds = means[["dense#1", "dense#2", "dense#3"]]
    board = compared.leaderboard.query("measure == 'AP'").set_index("system")
    assert board.index.tolist() == ["dense", "bm25", "lone#1"]
    row = board.loc["dense"]
    assert row["value"] == pytest.approx(of_seeds.mean())  # not max
    assert (row["spread"], row["lowest_seed"], row["highest_seed"]) == pytest.approx(
        (of_seeds.std(), of_seeds.min(), of_seeds.max())
    )
    assert board["seeds"].tolist() == [3, 1, 1]
    per_topic = evaluation.per_topic().query("measure == 'AP'").pivot(index="query_id", columns="run", values="value")
    expected = stats.ttest_rel(per_topic[of_seeds.index].mean(axis=1), per_topic["bm25"])
    test = compared.tests.set_index(["measure", "system"]).loc[("AP", "dense")]
    assert test["p"] == pytest.approx(expected.pvalue)
    assert compared.evaluation.values["run"].unique().tolist() == ["dense", "bm25", "lone#1"]
    assert any("dense is the mean of 3 seeds" in note for note in compared.notes)
    assert "±" in compared.to_markdown()
    assert r"$\pm$" in compared.to_latex()


def test_which_runs_are_seeds() -> None:
    assert group_seeds(["a#1", "a#2", "b#1"]) == {"a": ["a#1", "a#2"], "b#1": ["b#1"]}
    assert group_seeds(["a", "a#1", "a#2"]) == {"a": ["a"], "a#1": ["a#1"], "a#2": ["a#2"]}
    assert group_seeds(["#1", "#2", "c#", "c#x#1", "c#x#2"]) == {
        "#1": ["#1"],
        "#2": ["#2"],
        "c#": ["c#"],
        "c#x": ["c#x#1", "c#x#2"],
    }
    assert group_seeds([]) == {}
    runs, qrels = made_up({"a": 0.5, "a#1": 1.0, "a#2": 2.0}, topics=4)
    notes = compare(evaluate(runs, qrels, measured("AP"))).notes
    assert "runs named a#... are not treated as seeds, because there is a run a" in notes


@given(st.lists(st.sampled_from(["a", "b", "a#1", "a#2", "b#1", "b#2", "c#1", "c#1#2", "c#1#3"]), unique=True))
def test_every_run_is_in_one_system(names: list[str]) -> None:
    found = group_seeds(names)
    assert sorted(run for runs in found.values() for run in runs) == sorted(names)


def test_what_seeds_cost_and_lack() -> None:
    runs, qrels = made_up({"a#1": 0.5, "a#2": 1.0, "b": 2.0}, topics=4)
    runs[1] = Run("a#2", runs[1].frame[runs[1].frame["query_id"] != "2"])
    costs = pd.DataFrame({"run": ["a#1", "a#2"], "latency_ms": [10.0, 30.0], "hardware": ["GPU", "GPU"]})
    evaluation = comparison.with_costs(evaluate(runs, qrels, measured("AP")), costs)
    together, of_seeds = merge_seeds(evaluation)
    assert together.costs is not None
    assert together.costs.loc["a"].tolist() == [20.0, "GPU"]
    assert together.costs.loc["b"].isna().all()
    assert [(c.run, c.missing_topics) for c in together.coverage] == [("a", ("2",)), ("b", ())]
    assert of_seeds["seeds"].tolist() == [2, 1]
    assert together.unjudged is not None
    assert together.unjudged["run"].tolist() == ["a", "b"]


def test_without_seeds_the_evaluation_is_as_it_was(four: Evaluation) -> None:
    assert merge_seeds(four)[0] is four


# The frontier ---------------------------------------------------------------------------------------


def table(column: str, **values: float) -> pd.DataFrame:
    return pd.DataFrame({column: pd.Series(values, dtype="float64")})


def test_who_dominates_whom() -> None:
    means = table("AP", cheap=0.2, best=0.5, worse=0.4, same=0.5, unknown=0.9)
    costs = table("price_usd", cheap=1, best=10, worse=12, same=10)
    found = frontier(means, costs, "AP", "price_usd").set_index("system")
    assert found.index.tolist() == ["best", "same", "worse", "cheap"]
    assert found["dominated"].tolist() == [False, False, True, False]  # equals do not dominate each other
    assert found.loc["worse", "by"] == "best, same"
    speed = costs.rename(columns={"price_usd": "throughput_qps"})
    by_speed = frontier(means, speed, "AP", "throughput_qps").set_index("system")["by"]
    assert by_speed.to_dict() == {"best": "", "same": "", "worse": "", "cheap": "best, same, worse"}
    rounded = frontier(table("AP", x=0.1 + 0.2, y=0.3), table("price_usd", x=2, y=1), "AP", "price_usd")
    assert rounded.set_index("system")["by"].to_dict() == {"x": "y", "y": ""}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_frontier_by_definition(points: list[tuple[int, int]]) -> None:
    names = [f"s{n}" for n in range(len(points))]
    means = pd.DataFrame({"AP": [p[0] / 5 for p in points]}, index=names)
    costs = pd.DataFrame({"memory_bytes": [float(p[1]) for p in points]}, index=names)
    found = frontier(means, costs, "AP", "memory_bytes").set_index("system")
    for name, (worth, price) in zip(names, points, strict=True):
        over = {
            n for n, (w, c) in zip(names, points, strict=True) if w >= worth and c <= price and (w, c) != (worth, price)
        }
        assert set(filter(None, found.loc[name, "by"].split(", "))) == over
        assert found.loc[name, "dominated"] == bool(over)


def test_the_frontier_needs_numbers() -> None:
    costs = table("ms", a=1).assign(hardware="GPU")
    assert comparison.number_costs(costs) == ["ms"]
    with pytest.raises(InputError, match="cost hardware: the frontier needs numbers, found 'GPU'"):
        frontier(table("AP", a=1), costs, "AP", "hardware")
    with pytest.raises(InputError, match="the frontier needs numbers, found nothing for these systems"):
        frontier(table("AP", a=1), costs.assign(hardware=None), "AP", "hardware")
    with pytest.raises(UnknownNameError, match="unknown cost 'price'"):
        frontier(table("AP", a=1), costs, "AP", "price")
    with pytest.raises(UnknownNameError, match="unknown measure 'P@5'"):
        frontier(table("AP", a=1), costs, "P@5", "ms")


# Topics ---------------------------------------------------------------------------------------------


def test_side_by_side() -> None:
    qrels = frame("1 a 2\n1 b 0\n1 c -1\n2 z 1", "query_id", "doc_id", "relevance")
    a, b = run_of("x", {"1": "a b c d"}), run_of("y", {"1": "e d a"})
    found = side_by_side(a, b, qrels, "1", depth=4)
    assert found["rank"].tolist() == [1, 2, 3, 4]
    assert found["doc_a"].tolist() == ["a", "b", "c", "d"]
    assert found["doc_b"].tolist() == ["e", "d", "a", ""]
    assert found["grade_a"].fillna(-9).tolist() == [2, 0, -9, -9]
    assert found["grade_b"].fillna(-9).tolist() == [-9, -9, 2, -9]
    assert found["rank_in_b"].fillna(0).tolist() == [3, 0, 0, 2]
    assert found["rank_in_a"].fillna(0).tolist() == [0, 4, 1, 0]
    assert len(side_by_side(a, b, qrels, "1", depth=2)) == 2
    assert side_by_side(a, b, qrels, "2").empty  # judged, and neither has it
    with pytest.raises(UnknownNameError, match="unknown topic '7'"):
        side_by_side(a, b, qrels, "7")
    with pytest.raises(InputError, match="depth: expected 1 or more"):
        side_by_side(a, b, qrels, "1", depth=0)


def test_topics_by_how_far_two_systems_differ(four: Evaluation) -> None:
    found = differences(four, "good", "bad", "AP")
    assert len(found) == 60
    assert found["difference"].abs().is_monotonic_decreasing
    assert found["difference"].mean() == pytest.approx(four.means().loc["good", "AP"] - four.means().loc["bad", "AP"])
    assert differences(four, "bad", "good", "AP")["difference"].tolist() == [-d for d in found["difference"]]
    assert (differences(four, "good", "good", "AP")["difference"] == 0).all()
    with pytest.raises(UnknownNameError, match="unknown system 'none'"):
        differences(four, "good", "none", "AP")
    with pytest.raises(UnknownNameError, match="unknown measure 'P@3'"):
        differences(four, "good", "bad", "P@3")


# For papers -----------------------------------------------------------------------------------------


def rename_runs(evaluation: Evaluation, names: dict[str, str]) -> Evaluation:
    """The same values under other names of runs."""
    columns, shares = (
        {**table, "run": [names.get(run, run) for run in table["run"]]}
        for table in (evaluation.columns, evaluation.shares)
    )
    coverage = [c._replace(run=names.get(c.run, c.run)) for c in evaluation.coverage]
    return replace(evaluation, columns=columns, shares=shares, coverage=coverage)


@pytest.mark.slow
def test_latex_is_a_table_ready_for_a_paper(four: Evaluation) -> None:
    renamed = {"good": "bm25_k1=0.9 & 100%", "twin": r"a\b{c}~^$#", "between": "between", "bad": "bad"}
    named = rename_runs(four, renamed)
    compared = compare(named, baseline="between")
    made = compared.to_latex()
    lines = made.splitlines()
    assert lines[3:6] == [r"\begin{tabular}{lrr}", r"\toprule", r"System & nDCG@10 & AP \\"]
    assert lines[2] == (
        r"\caption{Means over 60 topics; best in bold. $\dagger$: significantly better, $\ddagger$: "
        r"significantly worse than between (paired t-test, Holm correction over 3 comparisons per measure, "
        r"$\alpha$~=~0.05).}"
    )
    value = compared.table().loc["bm25_k1=0.9 & 100%"]
    bold = [compared.table("best").loc["bm25_k1=0.9 & 100%", m] for m in ("nDCG@10", "AP")]
    cells = [(rf"\textbf{{{v:.4f}}}" if b else f"{v:.4f}") + r"$^{\dagger}$" for v, b in zip(value, bold, strict=True)]
    assert lines[7] == rf"bm25\_k1=0.9 \& 100\% & {' & '.join(cells)} \\"
    assert lines[8].startswith(r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}\$\# & ")
    assert lines[10].count(r"$^{\ddagger}$") == 2
    # A row that begins with [ or * would be read as an option of the end of the row before it.
    starred = compare(rename_runs(named, {"between": "*b", "bad": "[x]"}))
    assert {"{*}b", "{[}x]"} <= {line.split(" & ")[0] for line in starred.to_latex().splitlines()}
    assert made.count("{") - made.count(r"\{") == made.count("}") - made.count(r"\}")
    assert all(line.count("&") - line.count(r"\&") == 2 for line in lines[5:11] if line.endswith(r"\\"))


@pytest.mark.slow
def test_tables_for_papers_are_in_the_order_of_the_first_measure() -> None:
    runs, qrels = made_up({"bad": 4.0, "good": 0.3, "fair": 1.0}, topics=30)
    compared = compare(evaluate(runs, qrels, measured("AP", "nDCG@10")))
    order = compared.table()["AP"].sort_values(ascending=False).index.tolist()
    assert order == ["good", "fair", "bad"]
    assert [line.split(" & ")[0] for line in compared.to_latex().splitlines()[7:10]] == order
    assert [line.split("|")[1].strip() for line in compared.to_markdown().splitlines()[2:5]] == order
    as_given = compare(evaluate(runs, qrels, measured("Judged@10", "AP")))  # more of the first is not better
    assert [line.split("|")[1].strip() for line in as_given.to_markdown().splitlines()[2:5]] == ["bad", "good", "fair"]


@pytest.mark.slow
def test_markdown_is_a_table_with_its_sentence(four: Evaluation) -> None:
    compared = compare(four)
    lines = compared.to_markdown().splitlines()
    assert lines[:2] == ["| System | nDCG@10 | AP |", "| --- | ---: | ---: |"]
    assert lines[5].startswith("| bad |")
    assert lines[5].count("‡") == 2
    assert lines[-1] == (
        "Means over 60 topics; best in bold. ‡: significantly worse than the best system (paired t-test, "
        "Holm correction over 3 comparisons per measure, α = 0.05)."
    )
    assert sum(line.count("**") for line in lines) == 4
    odd = comparison.evaluate(*made_up({"a|b_c*": 0.5}, topics=3), measured("AP"))
    assert r"| a\|b\_c\* |" in compare(odd).to_markdown()


# The command ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """qrels.txt, three runs in runs/, costs.csv."""
    folder = tmp_path_factory.mktemp("compare")
    runs, qrels = made_up({"bm25": 1.0, "dense#1": 0.4, "dense#2": 0.5}, topics=12)
    (folder / "runs").mkdir()
    for name, made in runs:
        lines = [f"{q} Q0 {d} {r} {s} {name}" for q, d, s, r in made[["query_id", "doc_id", "score", "rank"]].values]
        (folder / "runs" / f"{name}.run").write_text("\n".join(lines))
    (folder / "qrels.txt").write_text("\n".join(f"{q} 0 {d} {r}" for q, d, r in qrels.values))
    (folder / "costs.csv").write_text("run,latency_ms,hardware\nbm25,5,CPU\ndense#1,50,GPU\ndense#2,70,GPU\n")
    return folder


def given_files(folder: Path) -> list[object]:
    return ["compare", folder / "qrels.txt", folder / "runs"]


@pytest.mark.slow
def test_the_command_prints_leaderboard_and_tests(on_disk: Path) -> None:
    printed = ok(*given_files(on_disk), "-m", "nDCG@10", "--baseline", "bm25")
    said, blank, *lines = printed.splitlines()
    assert said.startswith("dense has the highest nDCG@10")
    assert blank == ""
    assert lines[0].split() == ["system", "nDCG@10", "95%", "CI", "unjudged@10"]
    assert re.match(r"dense\s+0\.\d{4} ±0\.\d{4}\s+\*\+?\s+0\.\d{4} to 0\.\d{4}\s+\d+\.\d%", lines[1])
    assert "nDCG@10 vs. bm25: Permutation test, Holm correction" in printed
    assert re.search(r"^dense\s+\+0\.\d{4}\s+\S+ to \S+\s+\+\d", printed, re.M)
    alone = run(*given_files(on_disk), "-m", "AP")
    assert "vs. bm25" not in alone.stdout
    assert "dense has the highest AP" in alone.stdout
    assert "note: with only 12 topics (fewer than 50)" in alone.stderr
    assert ok(*given_files(on_disk)).partition("\n\n")[2].split()[:4] == ["system", "nDCG@10", "unjudged@10", "AP"]
    pairs = ok(*given_files(on_disk), "-m", "AP", "--all-pairs", "--seed", 3)
    assert re.search(r"AP: [01] of 1 pair significantly different \(randomised Tukey HSD\)", pairs)


@pytest.mark.slow
def test_the_command_writes_every_format(on_disk: Path) -> None:
    runs = list(formats.read_runs(sorted((on_disk / "runs").iterdir())))
    expected = compare(
        evaluate(runs, formats.read_qrels(on_disk / "qrels.txt"), measured("AP", "P@5")), baseline="bm25"
    )
    asked = [*given_files(on_disk), "-m", "AP", "-m", "P@5", "--baseline", "bm25", "--format"]
    assert ok(*asked, "latex") == expected.to_latex() + "\n"
    assert ok(*asked, "markdown") == expected.to_markdown() + "\n"
    written = json.loads(ok(*asked, "json"))
    assert written["notes"] == list(expected.notes)
    assert (written["baseline"], written["test"], written["topics"]) == ("bm25", "permutation", 12)
    assert [row["p"] for row in written["tests"]] == pytest.approx(expected.tests["p"].tolist())
    assert [row["value"] for row in written["leaderboard"]] == pytest.approx(expected.leaderboard["value"].tolist())
    assert written["pairs"] is None
    header, *rows = (line.split("\t") for line in ok(*asked, "tsv").splitlines())
    assert len(rows) == 4
    assert {len(row) for row in rows} == {len(header)}
    cells = dict(zip(header, next(row for row in rows if row[0] == "dense"), strict=True))
    assert cells["wins"].isdigit()
    assert float(cells["p"]) == pytest.approx(expected.tests["p"].iloc[0])
    header, *rows = (line.split("\t") for line in ok(*asked, "tsv", "--all-pairs").splitlines())
    assert header[:2] == ["system_a", "system_b"]
    assert len(rows) == 2


@pytest.mark.slow
def test_evaluate_shows_seeds_as_compare_does(on_disk: Path) -> None:
    files = (on_disk / "qrels.txt", on_disk / "runs")

    def values(*options: str) -> dict[tuple[str, str], float]:
        lines = ok("evaluate", *files, "-m", "AP", "--per-topic", "--format", "tsv", *options).splitlines()
        return {(r, q): float(v) for r, q, _, v in (line.split("\t") for line in lines)}

    separate, together = values("--separate-seeds"), values()
    topics = {topic for _, topic in separate}
    assert {run for run, _ in separate} == {"bm25", "dense#1", "dense#2"}
    assert together == {
        **{("bm25", q): separate["bm25", q] for q in topics},
        **{("dense", q): pytest.approx((separate["dense#1", q] + separate["dense#2", q]) / 2) for q in topics},
    }
    result = run("evaluate", *files, "-m", "AP")
    assert "dense is the mean of 2 runs dense#...; --separate-seeds shows each" in result.stderr
    assert "separate-seeds" not in run("evaluate", *files, "-m", "AP", "--separate-seeds").stderr
    # The same default, the same option, the same digits in compare.
    for options, systems in (([], {"bm25", "dense"}), (["--separate-seeds"], {"bm25", "dense#1", "dense#2"})):
        board = json.loads(ok("compare", *files, "-m", "AP", "--format", "json", *options))["leaderboard"]
        shown = {row["system"]: row["value"] for row in board}
        assert shown.keys() == systems
        known = values(*options)
        assert shown == {system: pytest.approx(known[system, "all"]) for system in systems}


@pytest.mark.slow
def test_costs_of_a_system_are_those_of_its_seeds(on_disk: Path, tmp_path: Path) -> None:
    files = (on_disk / "qrels.txt", on_disk / "runs", "-m", "AP")
    costs = tmp_path / "systems.csv"
    costs.write_text("run,latency_ms,hardware\nbm25,5,CPU\ndense,60,GPU\ndense#2,70,\nnobody,1,CPU\n")
    result = run("evaluate", *files, "--costs", costs, "--format", "json")
    found = {row["run"]: row for row in json.loads(result.stdout)["costs"]}
    # Of dense#2 the latency is said by itself: the mean of 60 and 70.
    assert found["dense"] == {"run": "dense", "latency_ms": 65.0, "hardware": "GPU"}
    assert f"{costs}: 'nobody' is not among the runs" in result.stderr
    result = run("evaluate", *files, "--costs", costs, "--format", "json", "--separate-seeds")
    found = {row["run"]: row for row in json.loads(result.stdout)["costs"]}
    assert (found["dense#1"]["latency_ms"], found["dense#2"]["latency_ms"]) == (60.0, 70.0)
    result = run("compare", *files, "--costs", costs, "--frontier", "latency_ms", "--format", "json")
    assert {row["system"]: row["latency_ms"] for row in json.loads(result.stdout)} == {"bm25": 5.0, "dense": 65.0}
    assert "'nobody' is not among the runs" in result.stderr
    costs.write_text("run,latency_ms\nnobody,1\n")
    assert "expected costs of one of the runs (bm25, dense#1, dense#2), found those of nobody" in fails(
        "evaluate", *files, "--costs", costs
    )


@pytest.mark.slow
def test_imported_costs_of_a_system_are_those_of_its_seeds(campaign: Campaign, tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"{n}.run").write_text(f"1 Q0 d{n} 1 1.0 dense#{n}\n")
    (tmp_path / "c.csv").write_text("run,latency_ms\ndense,60\nnobody,1\n")
    report = campaign.imports.import_files(runs=[tmp_path / "1.run", tmp_path / "2.run"], costs=tmp_path / "c.csv")
    (notice,) = (n for n in report.notices if "called" in n)
    assert notice.endswith("the campaign has no run or system called 'nobody'")
    campaign.judging.judge("ann", "1", "d1", 1)
    evaluation = campaign.results.evaluation.evaluate([parse("AP")], runs=["dense#1", "dense#2"])
    assert evaluation.costs is not None
    assert evaluation.costs["latency_ms"].to_dict() == {"dense#1": 60.0, "dense#2": 60.0}
    compared = campaign.results.evaluation.compare([parse("AP")]).evaluation.costs
    assert compared is not None
    assert compared.loc["dense", "latency_ms"] == 60.0


@pytest.mark.slow
def test_the_command_shows_topics_costs_and_power(on_disk: Path) -> None:
    files = given_files(on_disk)
    topics = ok(*files, "-m", "AP", "--systems", "bm25", "dense#1", "--format", "tsv").splitlines()
    assert topics[0].split("\t") == ["measure", "query_id", "value bm25", "value dense#1", "difference"]
    assert len(topics) == 13
    listed = json.loads(
        ok(*files, "-m", "AP", "--costs", on_disk / "costs.csv", "--frontier", "latency_ms", "--format", "json")
    )
    assert [(row["system"], row["latency_ms"], row["dominated"]) for row in listed] == [
        ("dense", 60, False),
        ("bm25", 5, False),
    ]
    answer, blank, *power = ok(*files, "-m", "AP", "--power", 0.05).splitlines()
    assert re.fullmatch(r"A difference of 0\.05 needs up to \d+ topics, .*; there are 12\.", answer)
    assert blank == ""
    assert power[0].split("  ")[0] == "measure"
    assert [line.split()[:2] for line in power[1:]] == [["AP", "median"], ["AP", "largest"]]


@pytest.mark.slow
def test_the_command_shows_one_topic_with_its_values(on_disk: Path) -> None:
    asked = [*given_files(on_disk), "-m", "AP", "-m", "P@5", "--systems", "bm25", "dense#1"]
    topics = json.loads(ok(*asked, "--format", "json"))
    known = [{k: v for k, v in row.items() if k != "query_id"} for row in topics if row["query_id"] == "3"]
    asked += ["--topic", "3", "--depth", 4]
    one = json.loads(ok(*asked, "--format", "json"))
    assert one["query_id"] == "3"
    assert one["values"] == known
    assert [row["measure"] for row in known] == ["AP", "P@5"]
    assert [row["rank"] for row in one["ranks"]] == [1, 2, 3, 4]
    head, _, names, *values, _, columns, first, second, third, last = ok(*asked).splitlines()
    assert head == "topic 3"
    assert names.split("  ")[0] == "measure"
    assert [line.split()[0] for line in values] == ["AP", "P@5"]
    assert values[0].split()[1] == f"{known[0]['value bm25']:.4f}"
    assert columns.split("  ")[0] == "rank"
    assert "rank in dense#1" in columns
    assert [line.split()[0] for line in (first, second, third, last)] == ["1", "2", "3", "4"]
    grades = [line.split()[2] for line in (first, second, third, last)]
    assert all(grade.isdigit() or grade == "-" for grade in grades)
    assert any(map(str.isdigit, grades))
    header, *rows = (line.split("\t") for line in ok(*asked, "--format", "tsv").splitlines())
    assert header[:2] == ["query_id", "rank"]
    assert [row[0] for row in rows] == ["3"] * 4


@pytest.mark.slow
def test_a_topic_that_only_runs_have_has_rankings_and_no_values(on_disk: Path, tmp_path: Path) -> None:
    lines = [line for line in (on_disk / "qrels.txt").read_text().splitlines() if line.split()[0] != "3"]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    asked = ["compare", tmp_path / "qrels.txt", on_disk / "runs", "--systems", "bm25", "dense#1", "--topic", "3"]
    shown = ok(*asked).splitlines()
    assert shown[:3] == ["topic 3", "", "No values: the topic is not in the qrels."]
    assert len(shown) == 15


@pytest.mark.slow
def test_of_many_that_dominate_a_system_the_table_names_two(tmp_path: Path) -> None:
    runs, qrels = made_up({"a": 0.1, "b": 0.5, "c": 1.0, "d": 1.5, "e": 6.0}, topics=40)
    for name, made in runs:
        lines = [f"{q} Q0 {d} {r} {s} {name}" for q, d, s, r in made[["query_id", "doc_id", "score", "rank"]].values]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    (tmp_path / "qrels.txt").write_text("\n".join(f"{q} 0 {d} {r}" for q, d, r in qrels.values))
    (tmp_path / "costs.csv").write_text("run,price_usd\n" + "".join(f"{name},1\n" for name in "abcde"))
    asked = ["compare", tmp_path / "qrels.txt", *sorted(tmp_path.glob("*.run")), "-m", "AP"]
    asked += ["--costs", tmp_path / "costs.csv", "--frontier", "price_usd"]
    ends = [re.split(r"\s{2,}", line)[-1] for line in ok(*asked).splitlines()[-3:]]
    assert ends == ["a and b", "a, b and 1 more", "a, b and 2 more"]
    for form in ("json", "tsv"):
        written = ok(*asked, "--format", form)
        assert "a, b, c, d" in written
        assert "more" not in written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "bm52"], "unknown system 'bm52'; did you mean 'bm25'?"),
        (["--test", "wilcox"], "unknown significance test 'wilcox'; did you mean 'wilcoxon'?"),
        (["--correction", "none at all"], "unknown correction 'none at all'"),
        (["--test", "bootstrap", "--seed", "-1"], "seed: expected 0 or more, found -1"),
        (["--alpha", "2"], "alpha: expected a significance level between 0 and 1, found 2"),
        (["--power", "0.0000001"], "takes more than 10,000,000 topics"),
        (["--systems", "bm25", "x"], "unknown system 'x'"),
        (["--systems", "bm25", "dense#1", "--topic", "x"], "unknown topic 'x'"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_line(on_disk: Path, options: list[str], message: str) -> None:
    assert message in fails(*given_files(on_disk), *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--frontier", "price"], "--frontier needs --costs"),
        (["--topic", "1"], "--topic needs --systems A B"),
        (["--power", "0.1", "--systems", "a", "b"], "expected only one of --systems and --power"),
        (["--power", "0.1", "--format", "latex"], "expected --format table, tsv or json with --power, found latex"),
        (["-m", "AP", "-m", "AP"], "the measure AP is given twice"),
        (["--systems", "x", "bm25", "--topic", "1"], "--systems: expected two of the runs, found 'x'"),
        (["--systems", "bm25", "bm25"], "expected two different runs after --systems, found bm25 twice"),
    ],
)
def test_the_command_refuses_what_does_not_go_together(on_disk: Path, options: list[str], message: str) -> None:
    done = run(*given_files(on_disk), *options)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_run_in_place_of_the_qrels_is_noticed(on_disk: Path) -> None:
    message = fails("compare", on_disk / "runs" / "bm25.run", on_disk / "qrels.txt")
    assert "give the qrels first: cleverdon compare QRELS RUN..." in message


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.long
def test_systems_of_a_track(shared: Path) -> None:
    """The systems of TREC's Deep Learning track 2019: BERT beats BM25, and the best six cannot be told apart."""
    folder = shared / "data" / "trecdl19-runs"
    runs = formats.read_runs(sorted((folder / "runs").glob("*.run.gz")))
    compared = compare(
        evaluate(runs, formats.read_qrels(folder / "qrels.txt"), measured("nDCG@10")), baseline="bm25base_p"
    )
    tests = compared.tests.set_index("system")
    assert compared.topics == 43
    assert len(tests) == 36
    assert tests.loc["p_bert", "significant"]
    assert not tests.loc["bm25base_rm3_p", "significant"]
    board = compared.leaderboard.set_index("system")
    assert board.loc["idst_bert_p1", "place"] == 1
    assert board.loc[["idst_bert_p2", "idst_bert_p3", "p_exp_rm3_bert"], "like_best"].all()
    assert not board.loc["bm25base_p", "like_best"]
    assert board["unjudged"].max() == pytest.approx(1 / 430)  # one document in one run: the pool is ten deep


@pytest.mark.slow
def test_where_median_and_mean_contradict_each_other_nobody_is_called_worse() -> None:
    topics = [str(n) for n in range(50)]
    first, tenth = "r", "a b c d e f g h i r"
    a = run_of("a", {t: first if n < 8 else "x" for n, t in enumerate(topics)})
    b = run_of("b", {t: "x" if n < 8 else tenth for n, t in enumerate(topics)})
    qrels = pd.DataFrame([(t, "r", 1) for t in topics], columns=["query_id", "doc_id", "relevance"])
    found = compare(evaluate([a, b], qrels, measured("RR")), test="wilcoxon")
    tested = found.tests.iloc[0]
    assert tested["difference"] < 0 < tested["low"]
    assert tested["significant"]
    assert found.leaderboard["like_best"].all()
    assert found.sentence("RR").endswith("but not significantly higher than b (Wilcoxon signed-rank test).")
    assert "significant, but in the opposite direction: by the pseudo-median it is above" in found.sentence("RR", "b")
    assert (
        "| b | 0.0840† |"
        in compare(evaluate([a, b], qrels, measured("RR")), test="wilcoxon", baseline="a").to_markdown()
    )


def differing(differences: Sequence[float]) -> tuple[list[Run], pd.DataFrame]:
    """Two runs, and qrels for P@100, so that "new" has these differences from "old" topic by topic."""
    parts: dict[str, dict[str, str]] = {"old": {}, "new": {}}
    for n, difference in enumerate(differences):
        for name, relevant in (("old", 50), ("new", 50 + round(100 * difference))):
            parts[name][str(n)] = " ".join(f"r{k}" if k < relevant else f"x{k}" for k in range(100))
    qrels = [(str(n), f"r{k}", 1) for n in range(len(differences)) for k in range(100)]
    return [run_of(*part) for part in parts.items()], pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])


NORMAL = stats.norm.ppf((np.arange(40) + 0.5) / 40) * 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("differences", "test"),
    [
        ([0.01, 0.02, 0.03, 0.05, 0.1, 0.4], "permutation"),  # few topics
        ([0.01] * 6, "permutation"),
        (NORMAL[:29] + 0.1, "permutation"),
        (NORMAL + 0.08, "paired-t"),
        ([0.0] * 33 + [0.1, 0.2, 0.3, 0.4, 0.4, 0.4, 0.4], "permutation"),  # skewed: most topics have no difference
        ([0.1] * 40, "permutation"),  # nothing varies, so a t-test would be certain
    ],
)
def test_the_default_test_suits_the_topics_and_every_place_agrees_on_it(
    differences: Sequence[float], test: str, tmp_path: Path
) -> None:
    runs, qrels = differing(differences)
    found = compare(evaluate(runs, qrels, ["P@100"]), baseline="old")
    d = found.evaluation.per_topic().pivot(index="query_id", columns="run", values="value")
    d = (d["new"] - d["old"]).round(9).to_numpy()
    others = d[d != 0]
    expected = {
        "paired-t": lambda: stats.ttest_1samp(d, 0).pvalue,
        "permutation": lambda: (
            stats.permutation_test(
                (others,), np.mean, permutation_type="samples", n_resamples=np.inf if len(others) < 17 else 9_999
            ).pvalue
        ),
    }[test]()
    (row,) = found.tests.to_dict("records")
    assert (row["test"], found.test) == (test, test)
    assert row["p"] == pytest.approx(expected, abs=1e-9 if test == "paired-t" or len(others) < 17 else 0.015)
    # The headline, the sentence on the tested system, its marks and its interval say the same.
    name = {"paired-t": "paired t-test", "permutation": "permutation test"}[test]
    is_higher = f"significantly higher than old ({name})."
    assert found.sentence("P@100").endswith(is_higher if row["significant"] else f"but not {is_higher}")
    assert f": {'' if row['significant'] else 'not '}significant ({name}: p " in found.sentence("P@100", "new")
    assert (row["low"] > 0) == row["significant"]
    assert f"({name}, " in found.to_latex()
    assert not any("differently" in note for note in found.notes)
    # The command says the same as the library.
    formats.write_qrels(qrels, tmp_path / "qrels.txt")
    for each in runs:
        formats.write_run(each, tmp_path / f"{each.name}.run")
    files = [tmp_path / name for name in ("qrels.txt", "old.run", "new.run")]
    assert ok("compare", *files, "-m", "P@100").startswith(found.sentence("P@100"))


def test_six_of_six_topics_are_significant_by_default_and_not_by_the_t_test() -> None:
    runs, qrels = differing([0.01, 0.02, 0.03, 0.05, 0.1, 0.4])
    found = compare(evaluate(runs, qrels, ["P@100"]))
    assert found.tests["p"].tolist() == [2 / 2**6]
    assert found.tests["significant"].all()
    asked = compare(evaluate(runs, qrels, ["P@100"]), test="paired-t")
    assert asked.sentence("P@100").endswith("but not significantly higher than old (paired t-test).")
    assert any(note.endswith("; the permutation test decides differently") for note in asked.notes)


def test_the_headline_says_that_so_few_topics_cannot_be_significant() -> None:
    runs, qrels = differing([0.3] * 5)
    found = compare(evaluate(runs, qrels, ["P@100"]))
    limit = "permutation test, whose p cannot be below 0.0625 here"
    assert found.sentence("P@100").endswith(f"but not significantly higher than old ({limit}).")
    assert found.sentence("P@100", "old").endswith("(permutation test: p = 0.0625; no 95% CI: too few topics).")
    assert found.tests[["low", "high"]].isna().all(axis=None)
    # With more comparisons to correct for, six topics are too few as well.
    runs, qrels = differing([0.3] * 6)
    both = compare(evaluate([*runs, Run("third", runs[0].frame)], qrels, ["P@100"]))
    assert "cannot be below 0.0625 here" in both.sentence("P@100")
    alone = compare(evaluate([*runs, Run("third", runs[0].frame)], qrels, ["P@100"]), correction="none")
    assert alone.sentence("P@100").endswith("significantly higher than every other system (permutation test).")


def test_each_measure_has_its_own_default_test_whatever_else_is_compared() -> None:
    runs, qrels = differing(NORMAL + 0.08)
    found = compare(evaluate(runs, qrels, ["P@100", "Success@1"]))
    assert dict(zip(found.tests["measure"], found.tests["test"], strict=True))["P@100"] == "paired-t"
    alone = compare(evaluate(runs, qrels, ["P@100"]))
    assert found.tests["p"].tolist()[0] == alone.tests["p"].tolist()[0]


def test_the_legend_says_what_no_mark_means() -> None:
    runs, qrels = made_up({"poor": 4.0, "good": 0.2}, topics=20)
    found = compare(evaluate(runs, qrels, ["nDCG@10"]))
    assert found.marked().loc["poor", "nDCG@10"].split()[1:] == []
    assert ", unmarked: significantly worse; 20 topics" in found.legend
    alike = compare(evaluate(*made_up({"good": 0.2, "same": 0.2}, topics=20), ["nDCG@10"]))
    assert "neither" not in alike.legend


@pytest.mark.slow
def test_in_python_the_table_has_an_order_marks_latex_and_a_chart_of_topics() -> None:
    runs, qrels = made_up({"poor": 4.0, "middle": 1.0, "good": 0.2, "good_2": 0.21}, topics=40)
    found = compare(evaluate(runs, qrels, ["nDCG@10", "P@5"]), baseline="middle")
    table = found.table()
    assert table["nDCG@10"].is_monotonic_decreasing
    tests = found.tests.set_index(["measure", "system"])
    marks = found.marked()
    assert marks.index.tolist() == table.index.tolist()
    for system, measure in itertools.product(table.index, table.columns):
        value, *mark = marks.loc[system, measure].split()
        assert value == f"{table.loc[system, measure]:.4f}"
        best = table.loc[system, measure] == table[measure].max()
        assert ("*" in "".join(mark)) == best
        if system != "middle":
            row = tests.loc[(measure, system)]
            sign = "" if not row["significant"] else "+" if row["difference"] > 0 else "-"
            assert "".join(mark).strip("*~") == sign
    lines = [line for line in repr(found).splitlines() if line.startswith(("good", "middle", "poor"))]
    assert [line.split()[0] for line in lines[-4:]] == table.index.tolist()
    assert len({line.find(".") for line in lines[-4:]}) == 1  # the decimals are below each other
    assert f"Note: {found.legend}" in repr(found)
    assert "+ significantly better than middle" in found.legend
    assert re.findall(r"\d\.\d+", found.to_markdown(2))[0] == f"{table.iloc[0, 0]:.2f}"
    assert r"good\_2" in found.to_latex()
    # The bars are the differences by topic; by default from the baseline.
    drawn = found.topics_chart("good").to_dict()
    rows = pd.DataFrame(next(iter(drawn["datasets"].values()))).set_index("query_id")["difference"]
    values = found.evaluation.per_topic().query("measure == 'nDCG@10'").pivot(index="query_id", columns="run")["value"]
    assert rows.to_dict() == pytest.approx((values["good"] - values["middle"]).to_dict())
    assert found.topics_chart("good", "poor", "P_5").to_dict()["encoding"]["y"]["title"] == "P@5: good minus poor"
    with pytest.raises(UnknownNameError, match="did you mean 'good'"):
        found.topics_chart("goood")
    with pytest.raises(InputError, match="expected another system to compare 'middle' with"):
        found.topics_chart("middle")
