"""Reusability: leave-outs against evaluation by the reduced qrels, estimates against known truths, and the rules."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau

from collection import Campaign, comparison, formats
from collection.campaign.results.qrels import TopicsWithGrades
from collection.cli.reusability import read_groups
from collection.core.errors import CampaignError, FormatError, InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.formats import read_qrels, read_runs, write_qrels, write_run
from collection.measures import parse
from collection.reusability import (
    MAX_BREACHES,
    MAX_CHANGE,
    MAX_MEAN_CHANGE,
    MIN_JUDGED,
    MIN_TOPICS,
    DepthResult,
    assess,
    bound_means,
    build_run_matrix,
    compute_judged_curves,
    describe_topics,
    estimate_missing,
    groups_by_prefix,
    leave_out,
    measure_order_stability,
)
from collection.reusability.leave_one_out import assign_groups, find_unique
from collection.reusability.pool_depth import detect_pool_depth, find_stable_depth
from collection.reusability.run_matrix import RunMatrix
from collection.reusability.unjudged_relevant import (
    chao_interval,
    count_captures,
    count_new_by_rank,
    estimate_unseen,
    extrapolate,
)
from collection.reusability.verdict import (
    DEPTHS,
    Breach,
    apply_rules,
    assess_depths,
    find_breaches,
    find_deepest,
    headline,
    reason_sentences,
    topics_sentence,
)
from tests.helpers import fails, ok, tries

MEASURES = [parse(m) for m in ("nDCG@3", "AP", "P@3", "RR")]


def run_of(name: str, *rankings: Sequence[str]) -> Run:
    """A run with these documents for the topics 1, 2, ..."""
    rows = [
        (str(t), doc, float(-place))
        for t, documents in enumerate(rankings, start=1)
        for place, doc in enumerate(documents)
    ]
    return Run(name, rank_run(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])))


def qrels_of(*topics: dict[str, int]) -> pd.DataFrame:
    rows = [(str(t), doc, grade) for t, grades in enumerate(topics, start=1) for doc, grade in grades.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


# Topic 1: c is x's alone, d is y's; topic 2: z alone brings p and q. To depth 2 all is judged. Nobody brought u.
X = run_of("team_x", ["a", "c", "v"], ["m", "n"])
Y = run_of("team_y", ["a", "d", "w"], ["m", "n"])
Z = run_of("other", ["b", "a", "w"], ["p", "q"])
QRELS = qrels_of({"a": 1, "b": 0, "c": 2, "d": 0, "u": 1}, {"m": 1, "n": 0, "p": 1, "q": 0})


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Run], pd.DataFrame]:
    """Two to four runs with ties over two topics of a dozen documents, and qrels that judge some of them."""
    documents = [f"d{n}" for n in range(12)]
    runs = []
    for number in range(draw(st.integers(2, 4))):
        rows = []
        for topic in ("1", "2"):
            chosen = draw(st.lists(st.sampled_from(documents), unique=True, min_size=0 if number else 1, max_size=8))
            rows += [(topic, doc, float(draw(st.integers(0, 3)))) for doc in chosen]
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        runs.append(Run(f"r{number}", rank_run(frame.astype({"score": float, "query_id": str, "doc_id": str}))))
    grades = {
        topic: draw(st.dictionaries(st.sampled_from(documents), st.integers(0, 3), min_size=1)) for topic in ("1", "2")
    }
    return runs, qrels_of(*grades.values())


def values_of(runs: list[Run], qrels: pd.DataFrame) -> pd.Series:
    """(measure, run, topic) -> value, by the comparison room."""
    values = comparison.evaluate(runs, qrels, MEASURES, strangers=True).per_topic()
    return values.set_index(["measure", "run", "query_id"])["value"]


def as_series(matrix: RunMatrix, values: np.ndarray) -> pd.Series:
    index = pd.MultiIndex.from_product([map(str, MEASURES), matrix.runs, matrix.topics])
    return pd.Series(values.ravel(), index=index)


# --- laying -------------------------------------------------------------------------------------------


@tries(25)
@given(tables(), st.data())
@pytest.mark.slow
def test_values_without_some_judgements_are_those_by_the_other_judgements(
    table: tuple[list[Run], pd.DataFrame], data: st.DataObject
) -> None:
    runs, qrels = table
    qrels = qrels.sort_values(["query_id", "doc_id"], ignore_index=True)  # as the matrix has them
    matrix = build_run_matrix(runs, qrels)
    before = matrix.values(MEASURES)
    everything = values_of(runs, qrels)
    pd.testing.assert_series_equal(as_series(matrix, before)[everything.index], everything, check_names=False)

    taken = np.array(data.draw(st.lists(st.booleans(), min_size=len(qrels), max_size=len(qrels))))
    after = matrix.values(MEASURES, taken)
    np.testing.assert_array_equal(after, matrix.values(MEASURES, taken, before))  # only changed topics computed
    kept = values_of(runs, qrels[~taken]) if not taken.all() else pd.Series(dtype=float)
    if len(kept):
        pd.testing.assert_series_equal(as_series(matrix, after)[kept.index], kept, check_names=False)
    left = matrix.topic[~taken]
    assert (np.delete(after, left, axis=2) == 0).all()


@tries(15)
@given(tables(), st.integers(1, 6))
@pytest.mark.slow
def test_taking_away_nothing_changes_nothing(table: tuple[list[Run], pd.DataFrame], depth: int) -> None:
    runs, qrels = table
    matrix = build_run_matrix(runs, qrels)
    left = leave_out(matrix, MEASURES, matrix.runs, depth)
    without = left[left["unique"] == 0]
    assert (without["change"] == 0).all()
    assert (without["moved"] == 0).all()
    for number, run in enumerate(matrix.runs):
        members = np.arange(len(matrix.runs)) == number
        top = [set(r.frame[r.frame["listed"] <= depth].itertuples(index=False, name=None)) for r in runs]
        tops = [{(str(q), d) for q, d, *_ in rows} for rows in top]
        alone = tops[number] - set().union(*(t for n, t in enumerate(tops) if n != number))
        judged = set(zip(qrels["query_id"], qrels["doc_id"], strict=True))
        mine = find_unique(matrix, members, depth)
        pairs = {(matrix.topics[matrix.topic[p]], matrix.doc_ids[p]) for p in np.flatnonzero(mine)}
        assert pairs == alone & judged
        assert (left.loc[left["run"] == run, "unique"] == len(pairs)).all()


def test_a_pool_takes_what_is_listed_and_a_measure_what_is_ranked() -> None:
    """Equal scores: the list has b first, the measures' order a later id first, so c."""
    tied = pd.DataFrame({"query_id": "1", "doc_id": ["b", "c"], "score": 1.0})
    matrix = build_run_matrix([Run("tied", rank_run(tied)), run_of("other", ["c"])], qrels_of({"b": 1, "c": 0}))
    assert matrix.values([parse("P@1")])[0, 0, 0] == 0
    tied_only = np.array([name == "tied" for name in matrix.runs])
    assert [matrix.doc_ids[p] for p in np.flatnonzero(find_unique(matrix, tied_only, 1))] == ["b"]


def test_what_cannot_be_laid_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="have no judgements"):
        build_run_matrix([X], qrels_of({"a": -1}))
    with pytest.raises(InputError, match="there are no runs"):
        build_run_matrix([], QRELS)
    with pytest.raises(InputError, match="two runs have the name 'team_x'"):
        build_run_matrix([X, X], QRELS)
    with pytest.raises(InputError, match="no run has a topic of the qrels"):
        build_run_matrix([X], QRELS.assign(query_id="9"))
    with pytest.raises(InputError, match="xinfAP needs strata"):
        assess([X, Y, Z], QRELS, [parse("xinfAP")])


# --- leaving out --------------------------------------------------------------------------------------


def test_a_run_that_is_left_out_loses_what_it_alone_brought() -> None:
    matrix = build_run_matrix([X, Y, Z], QRELS)
    left = leave_out(matrix, [parse("P@2")], matrix.runs, depth=2)
    rows = left.set_index("run")
    # x: a and c of 1, m of 2: (1 + 1/2) / 2; without c (1/2 + 1/2) / 2. y brought only d, which is not relevant.
    assert rows.loc["team_x", ["unique", "relevant", "before", "after"]].tolist() == [1, 1, 0.75, 0.5]
    assert rows.loc["team_y", ["unique", "relevant", "before", "after"]].tolist() == [1, 0, 0.5, 0.5]
    # z: b, p and q are its own; p is relevant.
    assert rows.loc["other", ["unique", "relevant", "before", "after"]].tolist() == [3, 1, 0.5, 0.25]
    assert rows["place_before"].to_dict() == {"team_x": 1, "team_y": 2, "other": 2}
    assert rows["place_after"].to_dict() == {"team_x": 1, "team_y": 2, "other": 3}
    assert rows["moved"].to_dict() == {"team_x": 0, "team_y": 0, "other": 1}


def test_a_group_loses_what_only_its_runs_brought() -> None:
    matrix = build_run_matrix([X, Y, Z], QRELS)
    left = leave_out(matrix, [parse("P@2")], assign_groups(matrix.runs, groups_by_prefix(matrix.runs)), depth=2)
    rows = left.set_index("run")
    # c and d of topic 1, m and n of topic 2; a is in the other run too.
    assert rows.loc["team_x", ["group", "unique", "relevant"]].tolist() == ["team", 4, 2]
    assert rows.loc["team_x", ["before", "after"]].tolist() == [0.75, 0.25]
    assert rows.loc["team_y", ["before", "after"]].tolist() == [0.5, 0.25]


def test_less_can_be_better() -> None:
    matrix = build_run_matrix([X, Y, Z], QRELS)
    left = leave_out(matrix, [parse("Effort@0.5")], matrix.runs, depth=2).set_index("run")
    order = left["before"].rank(method="min").astype(int)
    assert left["place_before"].to_dict() == order.to_dict()


def test_groups_are_for_the_runs_that_there_are() -> None:
    assert assign_groups(["a", "b"], None) == ("a", "b")
    with pytest.raises(UnknownNameError, match="unknown run 'c'"):
        assign_groups(["a"], {"a": "g", "c": "g"})
    with pytest.raises(InputError, match="found none for b"):
        assign_groups(["a", "b"], {"a": "g"})


# --- depth by depth -----------------------------------------------------------------------------------


@tries(15)
@given(tables())
@pytest.mark.slow
def test_curves_are_the_measure_judged(table: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = table
    matrix = build_run_matrix(runs, qrels)
    curves = compute_judged_curves(matrix, 6, groups=matrix.runs, depth=2)
    ks = range(1, curves["depth"].max() + 1)
    values = comparison.evaluate(runs, qrels, [parse(f"Judged@{k}") for k in ks], strangers=True).per_topic()
    has = {(run.name, topic) for run in runs for topic in run.frame["query_id"]}
    # A topic that a run lacks is 0 by the measure, and no document of it can be unjudged.
    there = [key in has for key in zip(values["run"], values["query_id"], strict=True)]
    wanted = values[there].groupby(["run", "measure"])["value"].mean().unstack()[[f"Judged@{k}" for k in ks]]
    found = curves.pivot(index="run", columns="depth", values="judged")
    np.testing.assert_allclose(found.to_numpy(), wanted.reindex(found.index).fillna(0).to_numpy())
    assert (curves["left_out"] <= curves["judged"] + 1e-12).all()
    for number, run in enumerate(matrix.runs):
        taken = find_unique(matrix, np.arange(len(matrix.runs)) == number, 2)
        left = matrix.values([parse(f"Judged@{k}") for k in ks], taken)[:, number].sum(axis=1)
        topics = max(1, (matrix.retrieved[number] > 0).sum())
        np.testing.assert_allclose(curves.loc[curves["run"] == run, "left_out"], left / topics)


@pytest.mark.slow
def test_topics_that_no_run_has_are_no_holes_of_the_pool(made: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = made
    usual = assess(runs, qrels, groups=None, resamples=20)
    others = qrels[qrels["query_id"] == "0"].assign(query_id="elsewhere")
    report = assess(runs, pd.concat([qrels, others]), groups=None, resamples=20)
    pd.testing.assert_frame_equal(report.curves, usual.curves)
    assert [(result.known, result.judged) for result in report.ladder] == [(r.known, r.judged) for r in usual.ladder]


def test_the_depth_of_the_pool_is_seen_and_so_is_who_was_not_pooled() -> None:
    new = run_of("new", ["k1", "a", "k2"], ["m", "k3"])
    matrix = build_run_matrix([X, Y, Z, new], QRELS)
    pool = detect_pool_depth(matrix)
    assert (pool.depth, pool.runs.tolist(), pool.full) == (
        2,
        [False, True, True, True],
        True,
    )  # new is the first by name
    told = assess([X, Y, Z, new], QRELS, groups=None).verdict
    assert "3 of 4 runs are fully judged to depth 2 and count as pooled." in told
    # Of k1 and a one is judged, of m and k3 too.
    assert "1 run was not pooled: 50% of the first 2 documents of new are judged." in told
    told = assess([X, Y, Z], QRELS, depth=3).verdict
    assert "Most runs are not fully judged to the given pool depth of 3." in told
    asked = detect_pool_depth(matrix, 1)
    assert (asked.depth, asked.runs.tolist(), asked.full) == (1, [False, True, True, True], True)
    deeper = detect_pool_depth(matrix, 3)
    assert (deeper.depth, deeper.full) == (3, False)
    with pytest.raises(InputError, match="a rank of 1 or more, found 0"):
        detect_pool_depth(matrix, 0)


def test_a_pair_that_could_not_be_judged_hides_no_depth() -> None:
    """Of 43 topics two lack the judgement that every run has first: the pool is as deep as it was."""
    runs = [run_of(name, *([f"d{t}", f"{name}{t}", f"x{t}"] for t in range(43))) for name in "ab"]
    found = detect_pool_depth(
        build_run_matrix(runs, qrels_of(*({f"d{t}": 1, f"a{t}": 0, f"b{t}": 0} for t in range(43))))
    )
    assert (found.depth, found.full) == (2, True)
    holes = [({f"d{t}": 1} if t > 1 else {}) | {f"a{t}": 0, f"b{t}": 0} for t in range(43)]
    found = detect_pool_depth(build_run_matrix(runs, qrels_of(*holes)))
    assert (found.depth, found.runs.all(), found.full) == (2, True, True)


def test_a_sampled_pool_has_no_depth() -> None:
    report = assess([X, Y, Z], QRELS[QRELS["doc_id"] != "a"], groups=None)
    assert not report.pool.full
    assert report.pool.runs.all()
    assert report.missing == []
    assert any("not fully judged to any depth" in sentence for sentence in report.verdict)


def test_a_pool_as_deep_as_the_runs_gives_the_order_by_all() -> None:
    inside = QRELS[QRELS["doc_id"] != "u"]
    curve = measure_order_stability(build_run_matrix([X, Y, Z], inside), [parse("AP")])
    assert curve["depth"].tolist() == [1, 2]
    assert curve["pairs"].tolist() == [4, 8]
    assert curve["tau"].iloc[-1] == pytest.approx(1)


def test_an_order_that_falls_again_has_not_settled() -> None:
    curve = pd.DataFrame({"depth": [1, 2, 3], "pairs": [1, 2, 3], "tau": [1.0, 0.5, float("nan")]})
    assert find_stable_depth(curve, 0.4) is None
    row = find_stable_depth(curve.iloc[:2], 0.5)
    assert row is not None
    assert row["depth"] == 1


# --- topics -------------------------------------------------------------------------------------------


@tries(12)
@given(tables())
@pytest.mark.slow
def test_topics_say_what_the_order_is_by_them_and_without_them(table: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = table
    measure = parse("nDCG@3")
    topics = describe_topics(build_run_matrix(runs, qrels), measure).set_index("query_id")
    values = comparison.evaluate(runs, qrels, [measure], strangers=True).per_topic()
    wide = values.pivot(index="query_id", columns="run", values="value").loc[topics.index]
    overall = wide.mean().round(12)
    for topic in topics.index:
        row = topics.loc[topic]
        of_topic = qrels[qrels["query_id"] == topic]["relevance"]
        assert row[["judged", "relevant"]].tolist() == [len(of_topic), (of_topic >= 1).sum()]
        assert row["mean"] == pytest.approx(wide.loc[topic].mean())
        assert row["median"] == pytest.approx(wide.loc[topic].median())
        for name, order in (("agrees", wide.loc[topic]), ("without", wide.drop(index=topic).mean())):
            wanted = kendalltau(order.round(12), overall).statistic
            assert row[name] == pytest.approx(wanted, nan_ok=True)


# --- what is missing ----------------------------------------------------------------------------------


def test_chao_by_hand() -> None:
    """Ten found once, four twice, five units: 4/5 * 10 * 9 / (2 * 5)."""
    unseen, variance = estimate_unseen(np.array([10.0, 0.0, 1.0]), np.array([4.0, 7.0, 0.0]), 5)
    assert unseen.tolist() == [pytest.approx(7.2), 0, 0]
    # 0.8*10*9/10 + 0.64*10*19**2/(4*25) + 0.64*100*4*81/(4*625)
    assert variance.tolist() == [pytest.approx(7.2 + 23.104 + 8.2944), 0, 0]
    low, high = chao_interval(7.2, float(variance[0]))
    assert low * high == pytest.approx(7.2**2)
    assert low < 7.2 < high
    assert chao_interval(0.0, 0.0) == (0.0, 0.0)


def test_chao_finds_the_number_where_all_are_alike() -> None:
    """300 documents, six looks that each see a quarter of them by chance: the interval holds 95 of 100 times or so."""
    rng = np.random.default_rng(5)
    seen = rng.binomial(6, 0.25, size=(400, 300))
    once, twice, never = ((seen == n).sum(axis=1) for n in (1, 2, 0))
    unseen, variance = estimate_unseen(once.astype(float), twice.astype(float), 6)
    assert unseen.mean() == pytest.approx(never.mean(), rel=0.05)
    ends = [chao_interval(float(u), float(v)) for u, v in zip(unseen, variance, strict=True)]
    held = np.mean([low <= n <= high for (low, high), n in zip(ends, never, strict=True)])
    assert 0.9 <= held <= 0.99


@pytest.mark.parametrize(
    ("curve", "law"), [("power", lambda i: 500 * i**-1.3), ("exponential", lambda i: 300 * np.exp(-0.8 * np.sqrt(i)))]
)
def test_a_curve_of_its_kind_is_continued_as_it_is(curve: str, law: Callable[[Any], Any]) -> None:
    ranks = np.arange(1.0, 101.0)
    assert extrapolate(law(ranks[:12]), 100, curve) == pytest.approx(law(ranks[12:]).sum(), rel=1e-6)
    assert extrapolate(np.zeros(12), 100, curve) == 0
    assert extrapolate(np.array([7.0, 0, 0]), 100, curve) == pytest.approx(0, abs=1e-3)


def test_what_each_group_found_is_counted_once() -> None:
    matrix = build_run_matrix([X, Y, Z], QRELS)
    found = count_captures(matrix, ["h", "g", "g"], 2)  # other, team_x, team_y
    # Topic 1: a by both groups, c by one, u by none. Topic 2: m by one, p by the other.
    assert found[["found", "once", "twice", "beyond"]].to_numpy().tolist() == [[2, 1, 1, 1], [2, 2, 0, 0]]
    assert count_new_by_rank(matrix, 2).tolist() == [[1, 1], [2, 0]]


# --- the verdict --------------------------------------------------------------------------------------

GOOD = DepthResult(10, "nDCG@10", 0.01, 0.02, "a", 1, "b", 20, 0.95, 1.0, (), "fair", ())
ONE, TWO, THREE = (tuple(Breach(name, -0.06, 0) for name in "abc"[:n]) for n in (1, 2, 3))


def at(depth: int, **changes: Any) -> DepthResult:
    return apply_rules(GOOD._replace(depth=depth, measure=f"nDCG@{depth}", **changes))


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        ({}, "fair", None),
        ({"change": MAX_MEAN_CHANGE, "judged": 0.8, "known": 0.95}, "fair", None),
        (
            {"breaking": ONE},
            "with care",
            "1 of 21 runs changes by more than 0.05 or by more than 2 ranks (at most 2 may",
        ),
        ({"breaking": TWO}, "with care", "2 of 21 runs change by more"),
        ({"breaking": THREE}, "no", "(at most 2 may, with care): a (-0.060, same rank), b (-0.060, same rank) and c"),
        ({"breaking": ONE, "others": 8}, "no", "1 of 9 runs changes by more than 0.05 or changes rank (none may)"),
        ({"breaking": ONE, "others": 9}, "with care", "1 of 10 runs changes"),
        ({"change": 0.026}, "no", "0.026 on average"),
        ({"judged": 0.79}, "no", "79% of the first 10 documents of a left-out run are judged (required: 80%)"),
        ({"known": 0.94}, "no", "94% of the first 10 documents of pooled runs are judged (required: 95%)"),
    ],
)
def test_each_rule_has_its_own_word(changes: dict[str, Any], verdict: str, words: str | None) -> None:
    result = at(10, **changes)
    assert result.verdict == verdict
    assert len(result.broken) == (words is not None)
    if words is not None:
        assert words in result.broken[0]


def test_the_headline_names_the_deepest_that_holds_all_the_way_down() -> None:
    care, bad = {"breaking": ONE}, {"known": 0.5}
    assert headline([at(5), at(10), at(100, **bad)], 43).endswith("to depth 10, but not at depth 100 (43 topics).")
    assert headline([at(5), at(10, **care), at(20, **bad)], 43).endswith(
        "reusable to depth 5 and with care to depth 10, but not at depth 20 (43 topics)."
    )
    assert headline([at(5, **care), at(10)], 43) == "This collection is reusable with care to depth 10 (43 topics)."
    assert headline([at(5, **bad), at(10)], 43) == (
        "This collection is not reusable: rankings of unpooled systems may be unreliable even at depth 5 (43 topics)."
    )
    assert headline([], 43) == "The reusability of this collection cannot be assessed (43 topics)."
    assert headline([at(5)], MIN_TOPICS - 1) == "9 topics are too few to assess reusability: at least 10 are needed."
    assert headline([at(5)], 1).startswith("1 topic is too few")
    assert headline([at(5)], MIN_TOPICS).startswith("This collection is reusable to depth 5")
    fair, with_care, neither = find_deepest([at(5), at(10, **bad), at(20)])
    assert (fair, with_care, neither) == (at(5), None, at(10, **bad))
    told = reason_sentences([at(5), at(10, **care), at(20, **bad)], "group")
    assert told[0].startswith("At depth 10, leaving out a group of runs changes their nDCG@10 by 0.010 on average")
    assert told[1].startswith("Use with care at depth 10: 1 of 21 runs changes")
    assert told[2].startswith("Not reusable at depth 20: 50% of the first 20 documents of pooled runs are judged")
    again = reason_sentences([at(5, **care), at(10)], "run")
    assert again[0].startswith("At depth 10, leaving out a run changes its nDCG@10 by 0.010 on average and leaves 95%")
    assert again[1].startswith("Use with care at depth 5: 1 of 21 runs changes")
    still = reason_sentences([at(5, change=0.0, worst=0.0, moved=0)], "run")
    assert still[0].endswith("judged. No run changes its value; no run changes rank among 21 runs.")


def test_what_breaks_a_rule_looks_as_if_it_did() -> None:
    """Three decimals would print 0.025 where 0.025 is allowed."""
    assert "runs change by 0.0251 on average (limit: 0.025)" in at(10, change=0.0251).broken[0]
    nearly = at(10, breaking=(Breach("a", -0.0502, 0), Breach("b", 0.0498, 3)))
    assert "a (-0.0502, same rank) and b (+0.050, 3 ranks down)" in nearly.broken[0]
    (said,) = reason_sentences([at(5, worst=0.0, moved=2, moved_run="b")], "run")
    assert said.endswith("No run changes its value; the largest move is 2 ranks (b) among 21 runs.")


def test_rounding_breaks_no_rule() -> None:
    """Of P@10 many differences are 0.05, and half of them come out as a little more."""
    change = np.array([0.65 - 0.6, 0.6 - 0.65, 0.0])
    assert change[0] > MAX_CHANGE
    table = pd.DataFrame({"run": list("abc"), "measure": "P@5", "change": change, "moved": 0})
    assert find_breaches(table) == ()
    shares = [0.1 + 0.7] * 3
    assert np.mean(shares) < MIN_JUDGED
    curves = pd.DataFrame({"run": list("abc"), "depth": 5, "judged": 1.0, "left_out": shares})
    (result,) = assess_depths(table.assign(change=0.0), curves, [parse("P@5")])
    assert result.verdict == "fair"


def test_every_run_that_goes_too_far_is_counted_the_worst_first() -> None:
    """Of 21 runs the change allowed is 0.05 and the move 2 places, in either direction."""
    table = pd.DataFrame({"run": [f"r{n:02}" for n in range(21)], "change": 0.0, "moved": 0})
    table.loc[3, "change"] = -MAX_CHANGE  # as much as is allowed
    table.loc[4, "change"] = -0.06
    table.loc[5, "moved"] = -3
    table.loc[6, ["change", "moved"]] = [0.051, 8]
    table.loc[7, "moved"] = 2
    found = find_breaches(table)
    assert found == (Breach("r06", 0.051, 8), Breach("r05", 0.0, -3), Breach("r04", -0.06, 0))
    assert len(found) > MAX_BREACHES * 21
    said = at(10, breaking=found)
    assert said.verdict == "no"
    assert "r06 (+0.051, 8 ranks down), r05 (+0.000, 3 ranks up) and r04 (-0.060, same rank)" in said.broken[0]


@pytest.fixture(scope="module")
def made() -> tuple[list[Run], pd.DataFrame]:
    """Six runs over twelve topics, judged to depth 8, with equal scores among them."""
    rng = np.random.default_rng(7)
    relevant = rng.random((12, 60)) < 0.2
    tables = []
    for run in range(6):
        score = (rng.normal(size=(12, 60)) + relevant * (1 + run / 3)).round(1)
        rows = [(str(t), f"d{d}", s) for t in range(12) for d, s in enumerate(score[t]) if s > -0.2]
        tables.append(
            Run(f"{'abcdef'[run]}_one", rank_run(pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])))
        )
    tops = pd.concat([t.frame[t.frame["listed"] <= 8][["query_id", "doc_id"]] for t in tables]).astype(str)
    qrels = tops.drop_duplicates(ignore_index=True)
    grades = [int(relevant[int(q), int(d[1:])]) for q, d in qrels.itertuples(index=False)]
    return tables, qrels.assign(relevance=grades)


@pytest.mark.slow
def test_the_order_of_runs_and_judgements_changes_no_digit(made: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = made
    one = assess(runs, qrels, groups=None, with_bounds=True, resamples=50)
    assert one.ladder
    assert {estimate.method for estimate in one.missing} == {"capture", "extrapolation"}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        mixed = [runs[n] for n in rng.permutation(len(runs))]
        other = assess(mixed, qrels.sample(frac=1, random_state=seed), groups=None, with_bounds=True, resamples=50)
        assert other.verdict == one.verdict
        assert other.ladder == one.ladder
        assert other.missing == one.missing
        for name in ("left_out", "left_out_runs", "curves", "settling", "topics", "bounds"):
            pd.testing.assert_frame_equal(getattr(other, name), getattr(one, name), check_exact=True)


def test_an_interval_wider_than_what_is_known_is_said_to_tell_nothing() -> None:
    """Three groups each find three of their own, and one topic goes on evenly where the other has ended."""
    alone = build_run_matrix([run_of(name, [f"{name}{n}" for n in range(3)]) for name in "abc"],
                qrels_of({f"{name}{n}": 1 for name in "abc" for n in range(3)}))  # fmt: skip
    (capture,) = estimate_missing(alone, alone.runs, 3)
    assert capture.expected == pytest.approx(2 / 3 * 9 * 8 / 2)
    assert capture.high - capture.low > 9
    assert not capture.tells
    assert f"cannot be estimated: the 95% CI, {capture.low:,.0f} to" in capture.sentence
    assert capture.sentence.endswith("is wider than the number of relevant documents known in the pool (9).")

    documents = [f"d{n}" for n in range(50)]
    first_five = dict.fromkeys(documents[:5], 1)
    uneven = build_run_matrix(
        [run_of("r", documents, documents)],
        qrels_of(first_five, first_five | dict.fromkeys(["d1", "d2", "d3", "d4"], 0)),
    )
    (wide,) = estimate_missing(uneven, uneven.runs, 5, resamples=50)
    assert wide.high == pytest.approx(90)  # both topics the even one: one more at each of 45 ranks
    assert not wide.tells
    assert "at ranks 6 to 50 of these runs cannot be estimated: the 95% CI, " in wide.sentence
    assert wide.sentence.endswith("is wider than the number of relevant documents known in the pool (6).")
    even = build_run_matrix([run_of("r", documents[:8], documents[:8])], qrels_of(first_five, first_five))
    (narrow,) = estimate_missing(even, even.runs, 5, resamples=50)
    assert narrow.tells
    assert narrow.sentence.startswith(
        "An estimated 6 relevant documents at ranks 6 to 8 of these runs are unjudged (95% "
    )


@pytest.mark.parametrize(
    ("found", "tells", "sentence"),
    [
        (2, False, "cannot be estimated: only 2 relevant documents are in the pool."),
        (1, False, "cannot be estimated: only 1 relevant document is in the pool."),
        (12, True, "There is no sign of unjudged relevant documents in the first 12 ranks of similar systems (lower "
         "bound 0): 0 of 12 known ones were found by a single group of runs."),
    ],
)  # fmt: skip
def test_an_estimate_of_none_missing_needs_evidence(found: int, tells: bool, sentence: str) -> None:
    documents = [f"d{n}" for n in range(found)]
    matrix = build_run_matrix([run_of("a", documents), run_of("b", documents)], qrels_of(dict.fromkeys(documents, 1)))
    (capture,) = estimate_missing(matrix, matrix.runs, found)
    assert (capture.expected, capture.low, capture.high, capture.tells) == (0, 0, 0, tells)
    assert sentence in capture.sentence


def test_little_sign_of_missing_documents_comes_with_its_interval() -> None:
    documents = [f"d{n}" for n in range(20)]
    runs = [run_of("a", documents), run_of("b", [*documents[:18], "x", "y"])]  # two found once: 0.5 / 19 unseen
    (capture, *_) = estimate_missing(build_run_matrix(runs, qrels_of(dict.fromkeys(documents, 1))), list("ab"), 20)
    assert 0 < capture.expected < 0.5
    assert "There is little sign of unjudged relevant documents" in capture.sentence
    assert f"(lower bound 0, 95% CI {capture.low:.0f} to {capture.high:.0f}): 2 of 20 known ones" in capture.sentence


@pytest.mark.slow
def test_nine_topics_are_too_few_for_a_verdict(made: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = made
    nine = assess(runs, qrels[qrels["query_id"].isin([str(t) for t in range(9)])], groups=None)
    assert nine.verdict[0].startswith("9 topics are too few to assess reusability")
    assert nine.ladder == []
    assert repr(nine).startswith("\n".join(nine.verdict) + "\n\nDetails: pool, groups, ladder, ")
    assert nine._repr_html_().count("<p>") == len(nine.verdict) + 1
    assert "<table" not in nine._repr_html_()
    assert assess(runs, qrels, groups=None).verdict[0].endswith("(12 topics).")


@pytest.mark.slow
def test_where_nothing_can_be_lost_there_is_no_verdict(made: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = made
    report = assess(runs, qrels.assign(relevance=0), groups=None, resamples=20)
    assert report.ladder == []
    assert report.verdict[:2] == (
        "The reusability of this collection cannot be assessed (12 topics).",
        "Every run has nDCG@20 = 0, so leaving one out changes nothing.",
    )


@pytest.mark.slow
def test_the_rules_are_of_measures_up_to_1_and_each_counts_once(made: tuple[list[Run], pd.DataFrame]) -> None:
    runs, qrels = made
    usual = assess(runs, qrels, [parse("nDCG@10")], groups=None, resamples=20)
    for asked in (["NumRelRet@10"], ["DCG@10"], ["nDCG@10", "nDCG@10"]):
        report = assess(runs, qrels, [parse(m) for m in asked], groups=None, resamples=20)
        assert report.ladder == usual.ladder
    pd.testing.assert_frame_equal(report.left_out, usual.left_out)


def test_a_topic_that_decides_nothing_is_not_said_to_decide() -> None:
    qrels = qrels_of({"a": 1, "c": 2, "b": 0}, {"m": 1, "n": 1, "p": 0, "q": 0})
    report = assess([X, Z], qrels, groups=None)  # X is the better one by either
    assert (report.topics["without"] == 1).all()
    none = "Leaving out any one of the 2 topics does not change the ranking by nDCG@10."
    assert topics_sentence(report.topics, "nDCG@10") == none
    assert none not in report.verdict  # two topics say nothing about the influence of one


def test_one_topic_gives_no_interval_over_topics() -> None:
    documents = [f"d{n}" for n in range(50)]
    one = build_run_matrix([run_of("a", documents), run_of("b", documents)], qrels_of(dict.fromkeys(documents[:5], 1)))
    assert [estimate.method for estimate in estimate_missing(one, one.runs, 5)] == ["capture"]


def test_two_runs_are_too_few_for_a_verdict() -> None:
    report = assess([X, Z], QRELS)
    assert report.ladder == []
    assert report.verdict[1].startswith("At least 3 groups of runs are needed, so that a pool remains when one is left")
    assert report.left_out["run"].nunique() == 2


def test_a_guess_that_leaves_too_few_groups_is_not_followed() -> None:
    assert set(assess([X, Y, Z], QRELS).groups.values()) == {"team_x", "team_y", "other"}
    given = {"team_x": "g", "team_y": "g", "other": "h"}
    assert assess([X, Y, Z], QRELS, groups=given).groups == given


def test_qrels_of_relevant_documents_only_are_said_to_be_that() -> None:
    report = assess([X, Y, Z], QRELS[QRELS["relevance"] > 0], groups=None)
    assert report.verdict[1].startswith("None of ")


def sparse_collection() -> tuple[list[Run], pd.DataFrame]:
    """Twelve topics, four runs that share most of their first documents, and qrels of relevant documents."""
    random = np.random.default_rng(3)
    rankings: dict[str, list[list[str]]] = {name: [] for name in ("a", "b", "c", "d")}
    for _ in range(12):
        worth = random.normal(size=30)
        for of_run in rankings.values():
            of_run.append([f"d{n}" for n in np.argsort(-(worth + random.normal(scale=0.2, size=30)))])
    qrels = [(str(t), f"d{n}", 1) for t in range(1, 13) for n in random.choice(30, 4, replace=False)]
    runs = [run_of(name, *of_run) for name, of_run in rankings.items()]
    return runs, pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])


@pytest.mark.slow
def test_qrels_with_hardly_any_zeros_say_what_is_assumed_and_the_other_assumption_can_be_chosen(tmp_path: Path) -> None:
    runs, relevant = sparse_collection()
    for zeros in (0, 6):  # none, and hardly any
        more = relevant[:zeros].assign(doc_id="elsewhere", relevance=0, query_id=[str(n) for n in range(1, zeros + 1)])
        qrels = pd.concat([relevant, more], ignore_index=True)
        report = assess(runs, qrels, groups=None)
        assert report.verdict[0].startswith(
            "Unless unjudged documents are known to be not relevant, this collection is not reusable: "
        )
        assert report.verdict[1].startswith(
            f"{'None' if not zeros else 'Only 6'} of {48 + zeros} judgements have grade 0"
        )
        assert "--unjudged not-relevant" in report.verdict[1]
        # All documents count as judged, as in qrels that name every document of the runs.
        other = assess(runs, qrels, groups=None, unjudged="not-relevant")
        every = pd.concat([run.frame[["query_id", "doc_id"]].astype("str") for run in runs]).drop_duplicates()
        full = pd.concat([qrels, every.assign(relevance=0)]).drop_duplicates(["query_id", "doc_id"])
        expected = assess(runs, full, groups=None)
        assert other.verdict[0] == expected.verdict[0]
        assert other.verdict[0].startswith("This collection is reusable")
        assert other.ladder == expected.ladder
        assert other.verdict[1] == (
            "Unjudged documents are assumed to be not relevant, as if every document had been examined: "
            f"{len(full) - len(qrels)} unjudged documents in the first 100 ranks are counted as judged."
        )
        assert other.missing == []  # by assumption
    with_zeros = assess(runs, full, groups=None)
    assert not any("grade 0" in sentence for sentence in with_zeros.verdict)
    with pytest.raises(UnknownNameError, match="meaning of unjudged documents"):
        assess(runs, qrels, unjudged="judged")  # type: ignore[arg-type]
    write_qrels(qrels, tmp_path / "qrels.txt")
    for run in runs:
        write_run(run, tmp_path / f"{run.name}.run")
    files = [tmp_path / "qrels.txt", *(tmp_path / f"{run.name}.run" for run in runs), "--group", "none"]
    assert ok("reusability", *files).startswith("Unless unjudged documents are known")
    assert ok("reusability", *files, "--unjudged", "not-relevant").startswith(f"{other.verdict[0]}\n{other.verdict[1]}")


def test_bounds_hold_the_value() -> None:
    found = bound_means(build_run_matrix([X, Y, Z], QRELS), [parse("P@3"), parse("AP")]).set_index(["run", "measure"])
    # x has two relevant of three in topic 1 and one of two in topic 2; only v is unjudged.
    assert found.loc[("team_x", "P@3")].tolist() == pytest.approx([0.5, 0.5, (1 + 1 / 3) / 2])
    assert (found["lowest"] <= found["value"]).all()
    assert (found["value"] <= found["highest"]).all()


# --- real collections ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trec(shared: Path) -> tuple[list[Run], pd.DataFrame]:
    folder = shared / "data" / "trecdl19-runs"
    return list(read_runs(sorted((folder / "runs").iterdir()))), read_qrels(folder / "qrels.txt")


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.long
def test_trec_2019_was_pooled_to_depth_10(trec: tuple[list[Run], pd.DataFrame], shared: Path) -> None:
    runs, qrels = trec
    report = assess(runs, qrels, rel=2)
    assert (report.pool.depth, int(report.pool.runs.sum()), report.pool.full) == (10, 37, True)
    assert [result.depth for result in report.ladder] == list(DEPTHS)
    assert report.ladder[1].known == pytest.approx(1, abs=1e-3)
    assert report.ladder[-1].verdict == "no"
    at_ten = report.left_out[report.left_out["measure"] == "nDCG@10"]
    too_far = at_ten[(at_ten["change"].abs() > MAX_CHANGE) | (at_ten["moved"].abs() > 3)]
    assert {breach.run for breach in report.ladder[1].breaking} == set(too_far["run"])
    assert len(too_far) == 8
    assert report.ladder[1].verdict == "no"
    assert len(report.left_out) == len(report.left_out_runs) == 3 * 37
    # Independently: what ICT's three runs alone list in their first ten, taken out of the qrels.
    top = pd.concat([r.frame[r.frame["listed"] <= 10].assign(run=r.name) for r in runs]).astype({"query_id": str})
    found_by = top.groupby(["query_id", "doc_id"])["run"].agg(set)
    mine = {r.name for r in runs if r.name.startswith("ICT-")}
    alone = found_by[found_by.map(lambda who: who <= mine)].index
    taken = pd.MultiIndex.from_frame(qrels[["query_id", "doc_id"]]).isin(alone)
    measure = parse("nDCG@10")
    before = comparison.evaluate(runs, qrels, [measure]).means().iloc[:, 0]
    after = comparison.evaluate(runs, qrels[~taken], [measure]).means().iloc[:, 0]
    rows = report.left_out[report.left_out["measure"] == "nDCG@10"].set_index("run")
    for run in mine:
        row = rows.loc[run]
        assert row["group"] == "ICT"
        assert row["unique"] == taken.sum()
        assert [row["before"], row["after"]] == pytest.approx([before[run], after[run]])
        assert row["place_before"] == (before > before[run]).sum() + 1
        assert row["place_after"] == (after.round(12) > round(after[run], 12)).sum() + 1

    later = read_runs(sorted((shared / "data" / "trecdl19-runs" / "runs_later").iterdir()))
    with_later = assess([*runs, *later], qrels, rel=2)
    assert with_later.groups == report.groups
    pd.testing.assert_frame_equal(with_later.left_out, report.left_out)
    new = with_later.curves[with_later.curves["left_out"].isna()]
    assert new["run"].nunique() == 16
    assert new.loc[new["depth"] == 10, "judged"].max() < 1


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "depth"), [("cranfield", 10), ("vaswani", 5), ("vaswani", 20)])
@pytest.mark.long
def test_the_estimates_hold_where_the_truth_is_known(shared: Path, name: str, depth: int) -> None:
    """The qrels are cut down to a pool; what lies beyond is known."""
    folder = shared / "data" / name
    runs, qrels = list(read_runs(sorted((folder / "runs").iterdir()))), read_qrels(folder / "qrels.txt")
    whole = build_run_matrix(runs, qrels)
    first = whole.places.min(axis=1)
    kept = pd.DataFrame(
        {"query_id": np.array(whole.topics)[whole.topic], "doc_id": whole.doc_ids, "relevance": whole.grade}
    )[first <= depth]
    capture, extrapolation = estimate_missing(build_run_matrix(runs, kept), whole.runs, depth)
    beyond = int((whole.relevant & (first > depth) & (first <= 100)).sum())
    assert capture.high < int((whole.relevant & (first > depth)).sum())
    assert extrapolation.low < beyond < extrapolation.high
    assert extrapolation.known == 0


# --- campaign, command, page --------------------------------------------------------------------------


def write_files(folder: Path, runs: list[Run], qrels: pd.DataFrame) -> tuple[Path, list[Path]]:
    """Write qrels and runs; return their paths."""
    formats.write_qrels(qrels, folder / "qrels.txt")
    for run in runs:
        formats.write_run(run, folder / f"{run.name}.run")
    return folder / "qrels.txt", [folder / f"{run.name}.run" for run in runs]


@pytest.fixture
def files_of(tmp_path: Path) -> tuple[Path, list[Path]]:
    """QRELS and the three runs above as files."""
    return write_files(tmp_path, [X, Y, Z], QRELS)


@pytest.mark.slow
def test_the_command_says_it_in_words_first(files_of: tuple[Path, list[Path]]) -> None:
    qrels, paths = files_of
    said = ok("reusability", qrels, *paths, "-m", "P@2", "--group", "none", "--bounds")
    first, why, *_ = said.splitlines()
    assert first == "2 topics are too few to assess reusability: at least 10 are needed."
    assert why == "The runs end before rank 5, the smallest depth that is assessed."
    assert "The tables describe the runs on these topics, not the collection." in said
    assert re.search(r"^team_x +team_x +1 +1 +0\.7500 +0\.5000 +-0\.2500", said, re.M)
    assert "bounds over all grades of the unjudged documents" in said
    answer = json.loads(ok("reusability", qrels, *paths, "-m", "P@2", "--group", "none", "--format", "json"))
    assert answer["pool"] == {"depth": 2, "runs": ["other", "team_x", "team_y"], "full": True}
    assert [row["after"] for row in answer["left_out"] if row["run"] == "other"] == [0.25]
    assert answer["bounds"] is None


@pytest.mark.slow
def test_the_campaign_says_what_the_files_say(files_of: tuple[Path, list[Path]], tmp_path: Path) -> None:
    qrels, paths = files_of
    (tmp_path / "topics.tsv").write_text("1\tone\n2\ttwo\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        with pytest.raises(CampaignError, match="no runs to leave out"):
            campaign.results.evaluation.reusability()
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=paths)
        with pytest.raises(CampaignError, match="judge some pairs first"):
            campaign.results.evaluation.reusability()
        campaign.imports.import_files(qrels=qrels)
        report = campaign.results.evaluation.reusability([parse("P@2")], groups=None)
    of_files = assess([X, Y, Z], QRELS, [parse("P@2")], groups=None)
    pd.testing.assert_frame_equal(
        report.left_out.sort_values("run", ignore_index=True), of_files.left_out.sort_values("run", ignore_index=True)
    )
    from_directory = json.loads(
        ok("reusability", tmp_path / "campaign", "-m", "P@2", "--group", "none", "--format", "json")
    )
    from_files = json.loads(ok("reusability", qrels, *paths, "-m", "P@2", "--group", "none", "--format", "json"))
    assert from_directory == from_files


@pytest.fixture
def made_files(made: tuple[list[Run], pd.DataFrame], tmp_path: Path) -> tuple[Path, list[Path]]:
    """QRELS and the six runs over twelve topics as files."""
    return write_files(tmp_path, *made)


@pytest.mark.slow
def test_the_command_prints_each_depth_and_the_topics(
    made: tuple[list[Run], pd.DataFrame], made_files: tuple[Path, list[Path]]
) -> None:
    qrels, paths = made_files
    report = assess(*made, groups=None)
    said = ok("reusability", qrels, *paths, "--group", "none")
    assert said.splitlines()[0] == report.verdict[0]
    depths = said.split("leave-one-out at each depth\n")[1].split("\n\n")[0].splitlines()[1:]
    rows = [re.split(r"  +", line.strip()) for line in depths if not set(line) <= set("- ")]
    wanted = [[r.measure, r.verdict, f"{len(r.breaking)} of {r.others + 1}"] for r in report.ladder]
    assert [[*row[:2], row[5]] for row in rows] == wanted
    assert "12 topics" in report.verdict[0]
    topics = said.split("topics with the most influence on the ranking of systems\n")[1].splitlines()
    assert len([line for line in topics if re.match(r"\s*\d+ ", line)]) == 10  # of the twelve


@pytest.mark.parametrize(
    ("finished", "usual"), [(0, None), (1, None), (2, ("1", "2")), (3, ("1", "2", "3")), (4, None)]
)
def test_finished_topics_are_looked_at_alone_once_they_are_half(finished: int, usual: tuple[str, ...] | None) -> None:
    graded = ("1", "2", "3", "4")
    assert TopicsWithGrades(graded, graded[:finished]).usual == usual


@pytest.mark.slow
def test_groups_come_from_a_file(files_of: tuple[Path, list[Path]], tmp_path: Path) -> None:
    qrels, paths = files_of
    groups = tmp_path / "groups.tsv"
    groups.write_text("team_x\tg\nteam_y\tg\nother\th\n")
    answer = json.loads(ok("reusability", qrels, *paths, "--group", groups, "--format", "json"))
    assert answer["groups"] == {"team_x": "g", "team_y": "g", "other": "h"}
    for text, wanted in (
        ("team_x g\n", "groups.tsv, line 1: expected run<TAB>group"),
        ("team_x\tg\nteam_x\th\n", "groups.tsv, line 2: expected each run once"),
        ("team_x\tg\n", "found none for other and team_y"),
        ("team_x\tg\nnobody\tg\n", "unknown run 'nobody'"),
    ):
        groups.write_text(text)
        assert wanted in fails("reusability", qrels, *paths, "--group", groups)
    groups.write_text("\n")
    with pytest.raises(FormatError):
        read_groups(groups)


def test_the_command_refuses_what_goes_with_the_other_form(
    files_of: tuple[Path, list[Path]], campaign: Campaign
) -> None:
    qrels, paths = files_of
    assert "expected DIR alone, or QRELS and RUNs" in fails("reusability", campaign.directory, paths[0])
    assert "--rule needs a campaign" in fails("reusability", qrels, *paths, "--rule", "majority")
    assert "--topics needs a campaign" in fails("reusability", qrels, *paths, "--topics", "all")
    assert "judge some pairs first" in fails("reusability", campaign.directory)


@pytest.mark.parametrize(("left_out", "drawn"), [(0.5, ["pooled", "left out"]), (None, ["not pooled"])])
def test_only_kinds_of_runs_that_there_are_have_a_line(left_out: float | None, drawn: list[str]) -> None:
    from collection.charts.reusability import judged_chart

    curves = pd.DataFrame({"run": "x", "depth": [1, 2], "judged": [1.0, 0.8], "left_out": [left_out] * 2}).astype(
        {"left_out": "float64"}
    )
    chart = judged_chart(curves, 1)
    assert chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"] == drawn
    assert sorted(set(chart.layer[0].data["kind"])) == sorted(drawn)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (["fair", "fair"], "For a system that was not pooled, use measures to depth 10."),
        (
            ["fair", "no"],
            "For a system that was not pooled, use measures to depth 5. For deeper measures, first",
        ),
        (["fair", "with care"], "use measures to depth 10 and check how many of its documents are unjudged."),
        (["no", "fair"], "Before you compare a new system, import its run, add it to the pool, and judge"),
    ],
)
def test_the_verdict_comes_with_what_to_do(verdicts: list[str], said: str) -> None:
    from annotate.views.results.reusability_tables import recommend

    ladder = [GOOD._replace(depth=depth, verdict=verdict) for depth, verdict in zip((5, 10), verdicts, strict=True)]
    assert said in recommend(ladder)
    assert recommend(ladder).count(".") <= 2


@pytest.mark.long
def test_the_page_has_the_verdict_on_top(
    opened: Callable[..., Any], files_of: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    qrels, paths = files_of
    (tmp_path / "topics.tsv").write_text("1\tone\n2\ttwo\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=paths, qrels=qrels)
        report = campaign.results.evaluation.reusability(groups=None)
        app = opened(campaign, "reusability", "rae", "reader")
    assert not app.error
    plain = [m.value.replace("\\", "") for m in app.markdown]
    assert any(report.verdict[0] in text for text in plain)
    belong = next(box for box in app.selectbox if box.label == "Groups of runs")
    for chosen in ("none", "own"):
        belong.set_value(chosen).run()
        assert not app.error
    app.toggle(key="bounds").set_value(True).run()
    for view in ("Judged documents", "Pool depth", "Topics", "Leave-one-out"):
        app.session_state["look"] = view
        app.run()
        assert any("highest possible mean" in c.value for c in app.caption) == (view == "Leave-one-out")
    app.multiselect[0].set_value(["nDGC@10"]).run()
    assert "did you mean" in app.error[0].value


@pytest.mark.long
def test_the_page_shows_each_depth_and_an_estimate_of_what_is_missing(
    opened: Callable[..., Any],
    made: tuple[list[Run], pd.DataFrame],
    made_files: tuple[Path, list[Path]],
    tmp_path: Path,
) -> None:
    qrels, paths = made_files
    (tmp_path / "topics.tsv").write_text("".join(f"{t}\ttopic {t}\n" for t in range(12)))
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", runs=paths, qrels=qrels)
        app = opened(campaign, "reusability", "rae", "reader")
    report = assess(*made)
    depths = app.dataframe[0].value
    assert depths["measure"].tolist() == [result.measure for result in report.ladder]
    assert depths["over"].tolist() == [f"{len(r.breaking)} of {r.others + 1}" for r in report.ladder]
    assert set(depths["verdict"]) <= {"reusable", "use with care", "not reusable"}
    shown = {m.label: m.value for m in app.metric}
    assert shown["Pool depth"] == "8"
    app.session_state["look"] = "Leave-one-out"
    app.run()
    next(box for box in app.selectbox if box.label == "Measure").set_value("P@10").run()
    after = report.left_out[report.left_out["measure"] == "P@10"]["after"]
    assert app.dataframe[0].value["after"].tolist() == after.tolist()
    assert any(c.value.startswith("Mean P@10 of each run with all judgements") for c in app.caption)
    app.session_state["look"] = "Missing documents"
    app.run()
    listed = [m.value.replace("\\", "") for m in app.markdown if m.value.startswith("- ")]
    assert all(any(estimate.sentence in text for text in listed) for estimate in report.missing)
