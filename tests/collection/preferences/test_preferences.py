"""Preferences: which pair comes next, strengths and grades, the measure, agreement, and the campaign's verbs."""

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, groupby, permutations
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import formats, preferences
from collection.campaign import Campaign
from collection.campaign.judging import topic_task_state
from collection.core.errors import CampaignError, ColumnsError, FormatError, InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Document, Preference, Run, Topic
from collection.preferences import (
    Lookahead,
    agreement,
    estimate_strengths,
    evaluate,
    fit,
    look_ahead,
    majority,
    plan,
    strengths_to_grades,
)
from collection.preferences.pair_selection import AnsweredPair
from collection.store.topic_tasks import TopicTaskTables
from tests.helpers import fails, ok, put, run, tries

Answer = Callable[[str, str], str]


def play(documents: list[str], answer: Answer, seed: str = "") -> tuple[list[Answer], list[list[str]]]:
    """All that an annotator is asked, and the ranking at the end; checked at every step."""
    said: list[AnsweredPair] = []
    asked: set[frozenset[str]] = set()
    while (now := plan(documents, said, seed)).pair is not None:
        left, right = now.pair
        assert frozenset(now.pair) not in asked
        assert {left, right} <= set(documents)
        assert (now.done, now.expected) >= (len(said), len(said) + 1)
        asked.add(frozenset(now.pair))
        said.append((left, right, answer(left, right)))
    assert now.done == now.expected == len(said)
    return said, now.ranking


def by(value: dict[str, int]) -> Answer:
    """An annotator for whom each document has a value."""
    return lambda left, right: (
        "equal" if value[left] == value[right] else "left" if value[left] > value[right] else "right"
    )


def names(count: int) -> list[str]:
    return [f"d{number:02}" for number in range(count)]


def table(rows: str) -> pd.DataFrame:
    """Preferences by hand: annotator, topic, and a>b, a=b or a?b (cannot judge)."""
    made = []
    for row in rows.strip().splitlines():
        annotator, query_id, said = row.split()
        for sign, kind in ((">", "left"), ("<", "right"), ("=", "equal"), ("?", "cannot judge")):
            if sign in said:
                made.append((annotator, query_id, *said.split(sign), kind))
    return pd.DataFrame(made, columns=["annotator", "query_id", "left", "right", "kind"])


# --- which pair next ----------------------------------------------------------------------------------


def cost(documents: int) -> int:
    """The comparisons of binary insertion: ceil(log2 2) + ceil(log2 3) + ..., B(n) in Knuth, volume 3, 5.3.1."""
    return sum(math.ceil(math.log2(k)) for k in range(2, documents + 1))


def test_the_cost_by_hand() -> None:
    assert [plan(names(n), []).expected for n in range(1, 12)] == [0, 1, 3, 5, 8, 11, 14, 17, 21, 25, 29]
    assert [plan(names(n), []).expected for n in range(2, 20)] == [cost(n) for n in range(2, 20)]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_order_is_found_and_the_cost_is_never_exceeded(count: int) -> None:
    worst = 0
    for order in permutations(range(count)):
        value = dict(zip(names(count), order, strict=True))
        said, ranking = play(names(count), by(value))
        assert [doc_id for (doc_id,) in ranking] == sorted(value, key=lambda d: -value[d])
        worst = max(worst, len(said))
    assert worst == cost(count)


@tries(60)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=24), st.text(max_size=3))
def test_a_consistent_annotator_gets_their_order_with_equal_ones_together(values: list[int], seed: str) -> None:
    value = dict(zip(names(len(values)), values, strict=True))
    said, ranking = play(list(value), by(value), seed)
    assert len(said) <= cost(len(values))
    groups = groupby(sorted(value, key=lambda d: (-value[d], d)), key=lambda d: value[d])
    assert [sorted(group) for group in ranking] == [list(group) for _, group in groups]


@tries(60)
@given(st.integers(1, 12), st.data())
def test_any_answers_at_all_end(count: int, data: st.DataObject) -> None:
    kinds = st.sampled_from(preferences.ANSWERS)
    said, _ = play(names(count), lambda left, right: data.draw(kinds))
    assert len(said) <= count * (count - 1) / 2


@tries(60)
@given(st.integers(3, 14), st.sets(st.integers(0, 13), max_size=2), st.randoms(use_true_random=False))
def test_documents_that_cannot_be_judged_are_left_out_and_no_others(count: int, bad: set[int], chance: Any) -> None:
    documents = names(count)
    value = {doc_id: chance.randrange(5) for doc_id in documents}
    unreadable = {documents[n] for n in bad if n < count}
    said, ranking = play(
        documents, lambda left, right: "cannot judge" if {left, right} & unreadable else by(value)(left, right)
    )
    if count - len(unreadable) > 2:
        found = [doc_id for group in ranking for doc_id in group if doc_id not in unreadable]
        assert sorted(found) == sorted(set(documents) - unreadable)
        assert found == sorted(found, key=lambda d: (-value[d], found.index(d)))
        assert sum(kind == "cannot judge" for *_, kind in said) <= 2 * len(unreadable) + 1


@pytest.mark.parametrize("pair", [set(pair) for pair in combinations(names(5), 2)])
def test_one_pair_that_cannot_be_judged_leaves_nobody_out(pair: set[str]) -> None:
    value = dict(zip(names(5), [2, 4, 1, 0, 3], strict=True))
    _, ranking = play(names(5), lambda left, right: "cannot judge" if {left, right} == pair else by(value)(left, right))
    found = [doc_id for group in ranking for doc_id in group]
    assert sorted(found) == names(5)
    # All stand as they are to; of neighbours that cannot be compared nobody knows which is better.
    order = sorted(value, key=lambda d: -value[d])
    assert [sorted(group) for group in ranking if len(group) > 1] in ([], [sorted(pair)])
    assert [d for d in found if d not in pair] == [d for d in order if d not in pair]
    assert {found.index(d) for d in pair} == {order.index(d) for d in pair}


def test_an_answer_that_is_taken_back_is_asked_for_again_and_one_that_is_changed_asks_on() -> None:
    value = dict(zip(names(8), [5, 1, 7, 3, 0, 6, 2, 4], strict=True))
    said, _ = play(names(8), by(value))
    for place in range(len(said)):
        assert set(plan(names(8), said[:place] + said[place + 1 :]).pair or ()) == set(said[place][:2])
    turned = [(left, right, {"left": "right", "right": "left"}[kind]) for left, right, kind in said[:1]] + said[1:]
    answered = {frozenset(row[:2]): row for row in turned}
    while (pair := plan(names(8), answered.values()).pair) is not None:
        answered[frozenset(pair)] = (*pair, by(value)(*pair))
    assert len(answered) <= 28


def test_the_sides_are_a_matter_of_chance_that_the_pair_decides() -> None:
    left: Counter[str] = Counter()
    documents = names(6)
    for seed in map(str, range(400)):
        for one, other in combinations(documents, 2):
            pair = plan([one, other], [], seed).pair
            assert pair is not None
            assert pair == plan([other, one], [], seed).pair
            left[pair[0]] += 1
    # 2,000 throws of a coin each: five standard deviations are 112.
    assert all(abs(left[doc_id] - 1000) < 112 for doc_id in documents)


def test_looking_ahead_is_what_one_comes_to() -> None:
    documents = names(5)
    said: list[AnsweredPair] = [("d00", "d01", "left")]
    tree = look_ahead(documents, said, "x", depth=2)

    def check(node: Lookahead, said: list[AnsweredPair], depth: int) -> int:
        assert node.pair == plan(documents, said, "x").pair
        assert set(node.then) == (set(preferences.ANSWERS) if depth and node.pair else set())
        return 1 + sum(
            check(after, [*said, (*(node.pair or ("", "")), kind)], depth - 1) for kind, after in node.then.items()
        )

    assert check(tree, said, 2) == 1 + 4 + 16
    assert look_ahead(["a", "b"], [], depth=3).then["left"] == Lookahead(None, {})


# --- strengths ------------------------------------------------------------------------------------------


def test_strengths_equal_the_published_ones_of_the_baseball_league() -> None:
    """Agresti, Categorical Data Analysis (2nd ed.), 10.6: the American League East of 1987, and R's BradleyTerry2."""
    wins = np.array(
        [
            [0, 7, 9, 7, 7, 9, 11],
            [6, 0, 7, 5, 11, 9, 9],
            [4, 6, 0, 7, 7, 8, 12],
            [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12],
            [4, 4, 5, 6, 6, 0, 6],
            [2, 4, 1, 3, 1, 7, 0],
        ],
        dtype=float,
    )
    found = fit(wins, prior=1e-9)
    assert (found - found[-1]).round(4).tolist() == [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def test_strengths_by_hand() -> None:
    frame = table("ann 1 a>b\nben 1 a>b\ncai 1 b>a\nann 2 c=d\nann 3 e?f\n")
    found = estimate_strengths(frame, prior=1e-9)
    assert found["doc_id"].tolist() == ["a", "b", "c", "d"]
    assert found["pairs"].tolist() == [3, 3, 1, 1]
    assert np.allclose(found["strength"], [math.log(2) / 2, -math.log(2) / 2, 0, 0], atol=1e-6)
    circle = estimate_strengths(table("ann 1 a>b\nann 1 b>c\nann 1 c>a"))
    assert np.allclose(circle["strength"], 0)
    assert estimate_strengths(frame.iloc[:0]).empty
    with pytest.raises(InputError, match="prior: expected a number above 0, found 0"):
        fit(np.zeros((2, 2)), prior=0)
    with pytest.raises(ColumnsError, match="left"):
        estimate_strengths(frame.drop(columns="left"))


@tries(60)
@given(st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=5, max_size=5))
def test_strengths_are_where_the_likelihood_is_flat(rows: list[list[int]]) -> None:
    """At the maximum what each document won is what it was to win, the prior's wins and losses among it."""
    wins = np.array(rows, dtype=float)
    np.fill_diagonal(wins, 0)
    prior = 0.01
    found = fit(wins, prior)
    # The prior's opponent has the strength at which all of it balances.
    expected = (wins + wins.T) / (1 + np.exp(found[None, :] - found[:, None]))
    surplus = wins.sum(axis=1) - expected.sum(axis=1)
    assert np.abs(surplus).max() <= prior + 1e-6
    assert abs(found.mean()) < 1e-9


@tries(60)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=18), st.integers(0, 99))
@pytest.mark.slow
def test_one_consistent_annotator_has_their_own_order_in_strengths_and_in_grades(values: list[int], seed: int) -> None:
    value = dict(zip(names(len(values)), values, strict=True))
    said, ranking = play(list(value), by(value), str(seed))
    frame = pd.DataFrame(
        [("ann", "1", *row) for row in said], columns=["annotator", "query_id", "left", "right", "kind"]
    )
    found = estimate_strengths(frame)
    strength = dict(zip(found["doc_id"], found["strength"], strict=True))
    levels = list(range(10))
    graded = strengths_to_grades(found, levels)
    grade = dict(zip(graded["doc_id"], graded["relevance"], strict=True))
    for one, other in combinations(value, 2):
        if value[one] != value[other]:
            assert (strength[one] > strength[other]) == (value[one] > value[other])
            assert grade[one] == grade[other] or (grade[one] > grade[other]) == (value[one] > value[other])
        else:
            assert grade[one] == grade[other]
    assert {grade[doc_id] for doc_id in ranking[0]} == {9}
    if len(ranking) > 1:
        assert {grade[doc_id] for doc_id in ranking[-1]} == {0}


def test_grades_by_hand() -> None:
    frame = pd.DataFrame(
        {"query_id": ["1"] * 5 + ["2"] * 2, "doc_id": list("abcdexy"), "strength": [4, 2, 1.9, 0, -4, 0.1, -0.1]}
    )
    # 1: 4/4, 2/3, 2/3, 1/4, 0/4 of the way up the scale; 2: alike.
    assert strengths_to_grades(frame, [0, 1, 2, 3])["relevance"].tolist() == [3, 2, 2, 1, 0, 3, 3]
    assert strengths_to_grades(frame, [1, 2, 3])["relevance"].tolist() == [3, 2, 2, 2, 1, 3, 3]
    assert strengths_to_grades(frame, [0, 1], alike=0)["relevance"].tolist() == [1, 1, 1, 0, 0, 1, 0]
    with pytest.raises(InputError, match="scale: expected two or more grades, found"):
        strengths_to_grades(frame, [3])
    with pytest.raises(InputError, match="alike: expected a difference of strengths of 0 or more, found -1"):
        strengths_to_grades(frame, [0, 1], alike=-1)


# --- what most say, and how far they agree ------------------------------------------------------------


def test_majority_by_hand() -> None:
    frame = table(
        """ann 1 a>b
        ben 1 b<a
        cai 1 a<b
        ann 1 a=c
        ben 1 a>c
        ann 1 d>c
        ben 1 c>d
        ann 1 b?d
        ann 2 b>a"""
    )
    assert majority(frame).values.tolist() == [["1", "a", "b"], ["2", "b", "a"]]


def test_agreement_by_hand() -> None:
    frame = table("ann 1 a>b\nben 1 b<a\ncai 1 a<b\nann 1 b>c\nben 1 b=c\nann 1 c>a\nann 2 x>y\nann 2 y>z\nann 2 x>z")
    # a, b: one of three comparisons; b, c: none of one. 1 has no triad (b, c is undecided), 2 one that is no circle.
    found = agreement(frame)
    assert found[:2] == (2, 4)
    assert found.same == 0.25
    assert (found.triads, found.circular) == (1, 0.0)
    assert math.isnan(agreement(frame.iloc[:1]).same)
    assert math.isnan(agreement(frame.iloc[:1]).circular)
    circle = agreement(table("ann 1 a>b\nann 1 b>c\nann 1 c>a"))
    assert (circle.triads, circle.circular) == (1, 1.0)


@pytest.mark.slow
@tries(60)
@given(st.integers(3, 7), st.data())
def test_circles_are_counted_as_kendall_and_babington_smith_do(count: int, data: st.DataObject) -> None:
    """In a full tournament: n(n - 1)(2n - 1) / 12 - half the sum of the squared numbers of wins."""
    wins = Counter(dict.fromkeys(names(count), 0))
    rows = []
    for one, other in combinations(names(count), 2):
        first = data.draw(st.booleans())
        wins[one if first else other] += 1
        rows.append(f"ann 1 {one}{'>' if first else '<'}{other}")
    circles = count * (count - 1) * (2 * count - 1) / 12 - sum(w * w for w in wins.values()) / 2
    found = agreement(table("\n".join(rows)))
    assert found.triads == math.comb(count, 3)
    assert round(found.circular * found.triads) == circles


# --- the measure --------------------------------------------------------------------------------------


def ranking(name: str, **topics: str) -> Run:
    rows = [(q[1:], d, rank) for q, ids in topics.items() for rank, d in enumerate(ids, 1)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return Run(name, table.assign(listed=table["rank"], score=-1.0 * table["rank"]))


def test_the_measure_by_hand() -> None:
    frame = table("ann 1 a>b\nann 1 c>b\nann 1 a>d\nann 1 e>f\nann 1 b=d\nann 2 x>y")
    values = evaluate([ranking("r", q1="abc", q9="x")], frame).values.set_index("query_id")
    # a > b right; c > b wrong; a > d right, d is not there; e > f does not count.
    assert values.loc["1", ["pairs", "of"]].tolist() == [3, 4]
    log3 = 1 / math.log2(3)
    wanted = [2 / 3, 2 / (2 + log3), 2 / 4]
    assert np.allclose(values.loc["1", ["ppref", "wpref", "rpref"]].to_numpy(dtype=float), wanted)
    assert values.loc["2", ["pairs", "of", "rpref"]].tolist() == [0, 1, 0]
    assert values.loc["2", ["ppref", "wpref"]].isna().all()
    # Topic 2 has no pair that counts: the means of ppref and wpref are those of topic 1.
    wanted[2] /= 2
    assert np.allclose(values.loc["all", ["ppref", "wpref", "rpref"]].to_numpy(dtype=float), wanted)
    assert values.loc["all", ["pairs", "of"]].tolist() == [3, 5]


@pytest.mark.slow
def test_topics_without_a_pair_that_counts_are_said(tmp_path: Path) -> None:
    frame = table("ann 1 a>b\nann 2 x>y\nann 3 g=h")
    found = evaluate([ranking("r", q1="ab")], frame)
    assert found.means()[["topics", "counted", "ppref", "rpref"]].values.tolist() == [[2, 1, 1.0, 0.5]]
    assert found.undecided == ("3",)
    nothing = evaluate([ranking("r", q7="ab")], frame).means()
    assert nothing[["counted", "rpref"]].values.tolist() == [[0, 0]]
    assert nothing["ppref"].isna().all()
    rows = "annotator,query_id,left,right,kind\nann,1,a,b,left\nann,2,x,y,left\nann,3,g,h,equal\n"
    (tmp_path / "p.csv").write_text(rows)
    (tmp_path / "r.run").write_text("1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    said = run("preferences", tmp_path / "p.csv", tmp_path / "r.run", "--per-topic")
    assert [line.split() for line in said.stdout.splitlines()[1:]] == [
        ["r", "1", "1", "1", "1.0000", "1.0000", "1.0000"], ["r", "2", "0", "1", "-", "-", "0.0000"]
    ]  # fmt: skip
    assert "r: ppref and wpref are means over 1 of 2 topics" in said.stderr
    assert "left out 1 topic where all documents are tied: 3" in said.stderr
    written = json.loads(
        ok("preferences", tmp_path / "p.csv", tmp_path / "r.run", "--per-topic", "--format", "json"),
        parse_constant=lambda name: pytest.fail(f"{name} is not JSON"),
    )
    assert written["values"][1]["ppref"] is None
    assert written["undecided"] == ["3"]


@pytest.mark.slow
def test_the_measure_looks_only_at_the_first_ranks() -> None:
    frame = table("ann 1 a>b\nann 1 c>b\nann 1 c>d")
    runs = [ranking("r", q1="bacd")]
    assert [evaluate(runs, frame, depth).means()["ppref"].tolist() for depth in (1, 2, 3, None)] == [
        [0.0],
        [0.0],
        [1 / 3],
        [1 / 3],
    ]
    assert [evaluate(runs, frame, depth).means()["pairs"].tolist() for depth in (1, 2, 3)] == [[2], [2], [3]]


@pytest.mark.slow
@tries(15)
@given(st.permutations(names(6)), st.permutations(names(6)))
def test_a_ranking_in_the_order_of_what_is_preferred_has_one_and_the_other_way_round_none(
    order: list[str], other: list[str]
) -> None:
    value = {doc_id: -place for place, doc_id in enumerate(order)}
    said, _ = play(other, by(value))
    frame = pd.DataFrame(
        [("ann", "1", *row) for row in said], columns=["annotator", "query_id", "left", "right", "kind"]
    )
    runs = [
        Run(n, rank_run(pd.DataFrame({"query_id": "1", "doc_id": ids, "score": range(6, 0, -1)})))
        for n, ids in (("best", order), ("worst", order[::-1]))
    ]
    means = evaluate(runs, frame).means()
    assert means[["run", "ppref", "wpref", "rpref"]].values.tolist() == [["best", 1, 1, 1], ["worst", 0, 0, 0]]


def test_what_the_measure_refuses() -> None:
    frame = table("ann 1 a>b")
    good = ranking("r", q1="ab")
    with pytest.raises(InputError, match="expected a pair with a preferred document, found none"):
        evaluate([good], table("ann 1 a=b"))
    with pytest.raises(InputError, match="two runs have the name 'r'"):
        evaluate([good, good], frame)
    with pytest.raises(InputError, match="runs: expected at least one to evaluate"):
        evaluate([], frame)
    with pytest.raises(InputError, match="depth: expected 1 or more, found 0"):
        evaluate([good], frame, 0)
    with pytest.raises(InputError, match="a topic is named 'all'"):
        evaluate([good], table("ann all a>b"))
    with pytest.raises(ColumnsError, match="run r: expected the column rank"):
        evaluate([Run("r", good.frame.drop(columns="rank"))], frame)


# --- in a campaign ------------------------------------------------------------------------------------


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """Two topics with six documents each, five of which are compared; two runs, the second the other way round."""
    with Campaign.create(tmp_path / "campaign") as campaign:
        put(
            campaign,
            [Topic(q, f"topic {q}") for q in "12"],
            [Document(d, f"Title of {d}", f"text of {d}") for d in (*names(6), "outside")],
            {"forth": {topic: names(6) for topic in "12"}},
        )
        campaign.people.pools.add("depth", depth=6)
        put(campaign, runs={"back": {topic: names(6)[::-1] for topic in "12"}})
        campaign.settings.set_judging_page(task="preference", preference_size=5)
        for name in ("ann", "ben"):
            campaign.people.accounts.add(name, "annotator")
        yield campaign


def preferred(annotator: str, query_id: str, left: str, right: str, kind: str = "left", **more: Any) -> Preference:
    return Preference(str(uuid4()), annotator, query_id, left, right, kind, **more)


def compare(campaign: Campaign, annotator: str, query_id: str, answer: Answer) -> int:
    """Answer all that is asked of a topic; how many pairs that were."""
    count = 0
    while (pair := campaign.judging.topic_tasks.plan(annotator, query_id)[0].pair) is not None:
        result = campaign.judging.topic_tasks.prefer(
            [preferred(annotator, query_id, *pair, answer(*pair))], handed_out_only=True
        )
        assert result.refused == []
        count += 1
    return count


FIRST = by({doc_id: -place for place, doc_id in enumerate(names(6))})


def test_a_topic_is_compared_to_its_end_and_then_anothers(campaign: Campaign) -> None:
    assert campaign.judging.topic_tasks.next_topics("ann", 1).fresh == ["1"]
    assert campaign.judging.topic_tasks.next_topics("ben", 3) == (["2"], [], True)
    assert compare(campaign, "ann", "1", FIRST) == 6 <= cost(5)  # each in its turn is the last
    assert campaign.judging.topic_tasks.progress("ann") == (1, 2, 1)
    assert campaign.judging.topic_tasks.progress("ben") == (0, 1, 1)
    assert campaign.judging.topic_tasks.next_topics("ann", 1, ["1"]).closed == ["1"]
    assert campaign.judging.topic_tasks.plan("ann", "1")[0].ranking == [[doc_id] for doc_id in names(5)]
    # Taking one back opens the topic again, for the one who has it.
    pair = campaign.store.topic_tasks.preferences().iloc[-1]
    campaign.judging.topic_tasks.prefer(
        [preferred("ann", "1", pair["right"], pair["left"], "undone")], handed_out_only=True
    )
    assert campaign.judging.topic_tasks.progress("ann") == (0, 2, 2)
    assert campaign.judging.topic_tasks.next_topics("ben", 3, ["2"]).fresh == []
    assert set(campaign.judging.topic_tasks.plan("ann", "1")[0].pair or ()) == {pair["left"], pair["right"]}


@pytest.mark.slow
def test_a_board_made_anew_says_the_same(campaign: Campaign) -> None:
    campaign.people.assignments.update(annotators=2)
    for name in ("ann", "ben"):
        campaign.judging.topic_tasks.next_topics(name, 2)
        compare(campaign, name, "1", FIRST)
    campaign.judging.topic_tasks.prefer([preferred("ben", "2", "d00", "d01")])
    with Campaign(campaign.directory) as other:
        for name in ("ann", "ben"):
            assert other.judging.topic_tasks.progress(name) == campaign.judging.topic_tasks.progress(name) == (1, 2, 1)
        assert other.results.overview.status()["decisions"] == campaign.results.overview.status()["decisions"]


def test_what_the_log_says_is_read_once_for_all_connections(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign.judging.topic_tasks.next_topics("ann", 2)
    compare(campaign, "ann", "1", FIRST)

    def never(self: TopicTaskTables) -> Iterator[Any]:
        raise AssertionError("the whole log is read anew")

    monkeypatch.setattr(TopicTaskTables, "preferences_by_topic", never)
    made = campaign.judging.topic_tasks.state()
    with Campaign(campaign.directory) as other:
        other.settings.keep_card_arrangement("ann", {"size": 2})
        other.settings.set_judging_page(rest_after=10)  # nothing that topics depend on
        assert other.results.overview.next_step() == ("judge", "Compare documents: 1 of 2 topics is left.")
        assert other.judging.topic_tasks.progress("ann") == campaign.judging.topic_tasks.progress("ann") == (1, 2, 1)
        assert campaign.judging.topic_tasks.state() is made
        other.settings.set_loop(topics=["2"], mode="closed")
        assert other.judging.topic_tasks.progress("ann") == campaign.judging.topic_tasks.progress("ann") == (1, 1, 0)
        other.settings.set_judging_page(preference_size=6)
        with pytest.raises(AssertionError, match="read anew"):
            campaign.judging.topic_tasks.progress("ann")


@pytest.mark.slow
def test_a_board_that_begins_with_what_another_has_read_goes_on_by_itself(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_task_state, "SHARE_AFTER", 1)
    campaign.people.assignments.update(annotators=2)
    campaign.judging.topic_tasks.next_topics("ann", 2)
    compare(campaign, "ann", "1", FIRST)
    with Campaign(campaign.directory) as other:
        assert other.judging.topic_tasks.progress("ann") == (1, 2, 1)
        compare(other, "ann", "2", FIRST)
        assert campaign.judging.topic_tasks.progress("ann") == other.judging.topic_tasks.progress("ann") == (2, 2, 0)
        pair = other.store.topic_tasks.preferences().iloc[-1]
        campaign.judging.topic_tasks.prefer([preferred("ann", "2", pair["left"], pair["right"], "undone")])
        assert other.judging.topic_tasks.progress("ann") == campaign.judging.topic_tasks.progress("ann") == (1, 2, 1)
    with Campaign(campaign.directory) as third:
        assert third.results.overview.status()["decisions"] == campaign.results.overview.status()["decisions"]


def test_what_a_failed_transaction_said_is_known_to_nobody(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_task_state, "SHARE_AFTER", 1)
    campaign.judging.topic_tasks.next_topics("ann", 2)

    class Failed(Exception):
        pass

    def fails() -> None:
        with campaign.transaction():
            compare(campaign, "ann", "1", FIRST)
            assert campaign.judging.topic_tasks.progress("ann").done == 1
            raise Failed

    with pytest.raises(Failed):
        fails()
    with Campaign(campaign.directory) as other:
        assert other.judging.topic_tasks.progress("ann").done == campaign.judging.topic_tasks.progress("ann").done == 0


def test_a_copy_of_a_campaign_goes_its_own_way(campaign: Campaign, tmp_path: Path) -> None:
    campaign.judging.topic_tasks.next_topics("ann", 1)
    compare(campaign, "ann", "1", FIRST)
    campaign.close()
    shutil.copytree(campaign.directory, tmp_path / "copy")
    with Campaign(campaign.directory) as one, Campaign(tmp_path / "copy") as copy:
        assert one.judging.topic_tasks.progress("ann").done == copy.judging.topic_tasks.progress("ann").done == 1
        assert one.judging.topic_tasks.next_topics("ann", 1).fresh == ["2"]
        compare(one, "ann", "2", FIRST)
        assert (one.judging.topic_tasks.progress("ann").done, copy.judging.topic_tasks.progress("ann").done) == (2, 1)


def test_texts_that_others_import_are_noticed_at_once(campaign: Campaign, tmp_path: Path) -> None:
    with campaign.store.transaction():
        campaign.store.corpus.add_topics([Topic("3", "one text")])
        pool = pd.DataFrame({"query_id": "3", "doc_id": ["d00", "nowhere"], "rank": [1, 2]})
        campaign.store.corpus.add_document_ids(["nowhere"])
        campaign.store.pool.add(pool, "depth", {}, ["forth"])
    assert campaign.judging.topic_tasks.next_topics("ann", 9).fresh == ["1", "2"]
    compare(campaign, "ann", "1", FIRST)
    (tmp_path / "d.jsonl").write_text('{"doc_id": "nowhere", "text": "here it is"}\n')
    with Campaign(campaign.directory) as other:
        other.imports.import_files(documents=[tmp_path / "d.jsonl"])
    assert campaign.judging.topic_tasks.next_topics("ann", 9, ["2"]).fresh == ["3"]
    assert campaign.judging.topic_tasks.progress("ann") == (1, 3, 2)


def test_a_longer_pool_asks_on(campaign: Campaign) -> None:
    campaign.judging.topic_tasks.next_topics("ann", 1)
    compare(campaign, "ann", "1", FIRST)
    campaign.settings.set_judging_page(preference_size=6)
    assert campaign.judging.topic_tasks.progress("ann").done == 0
    assert 1 <= compare(campaign, "ann", "1", FIRST) <= 3
    assert campaign.judging.topic_tasks.progress("ann").done == 1


def test_topics_with_one_document_are_not_handed_out(campaign: Campaign) -> None:
    with campaign.store.transaction():
        campaign.store.corpus.add_topics([Topic("3", "one text")])
        pool = pd.DataFrame({"query_id": "3", "doc_id": ["d00", "nowhere"], "rank": [1, 2]})
        campaign.store.pool.add(pool, "depth", {}, ["forth"])
    assert campaign.judging.topic_tasks.next_topics("ann", 9).fresh == ["1", "2"]
    with pytest.raises(UnknownNameError, match="unknown topic '9'"):
        campaign.judging.topic_tasks.plan("ann", "9")


def test_a_preference_is_kept_once_and_may_be_changed_whichever_stood_where(campaign: Campaign) -> None:
    campaign.judging.topic_tasks.next_topics("ann", 1)
    first = preferred("ann", "1", "d00", "d01", note="clear", seconds=2.5, away=0.5)
    for _ in range(2):
        assert campaign.judging.topic_tasks.prefer([first], handed_out_only=True).saved == [first.uuid]
    campaign.judging.topic_tasks.prefer([preferred("ann", "1", "d01", "d00", "equal")])
    log = campaign.store.topic_tasks.preferences(current=False)
    assert log["kind"].tolist() == ["left", "equal"]
    assert log["revises"].tolist()[1] == first.uuid
    assert log.loc[0, ["note", "seconds", "away"]].tolist() == ["clear", 2.5, 0.5]
    assert campaign.store.topic_tasks.preferences()["kind"].tolist() == ["equal"]
    again = campaign.judging.topic_tasks.prefer([first._replace(left="d02")])
    assert "of another preference" in again.refused[0].reason


@pytest.mark.parametrize(
    ("preference", "reason"),
    [
        (preferred("ann", "9", "d00", "d01"), "topic '9' is not in the campaign"),
        (preferred("ann", "1", "d00", "nowhere"), "document 'nowhere' is not in the campaign"),
        (preferred("ann", "1", "d00", "d00"), "expected two different documents, found 'd00' twice"),
        (preferred("ann", "1", "d00", "d01", "chosen"), "expected a kind of preference (left, right, equal, cannot"),
        (preferred("ann", "1", "d00", "d01", "cannot judge"), 'expected a reason for "cannot judge", found none'),
        (preferred("ann", "1", "d00", "d01", "undone"), "ann has no preference between 'd00' and 'd01' to undo"),
        (preferred("", "1", "d00", "d01"), "expected the annotator of a preference"),
    ],
)
@pytest.mark.slow
def test_what_is_no_preference_is_refused(campaign: Campaign, preference: Preference, reason: str) -> None:
    result = campaign.judging.topic_tasks.prefer([preference])
    assert result.saved == []
    assert reason in result.refused[0].reason
    assert len(campaign.store.topic_tasks.preferences(current=False)) == 0


def test_what_was_not_handed_out_is_refused(campaign: Campaign) -> None:
    refused = campaign.judging.topic_tasks.prefer([preferred("ann", "2", "d00", "d01")], handed_out_only=True).refused
    assert refused[0].reason == "topic '2' is not assigned to ann"
    campaign.judging.topic_tasks.next_topics("ann", 2)
    refused = campaign.judging.topic_tasks.prefer(
        [preferred("ann", "2", "d00", "outside")], handed_out_only=True
    ).refused
    assert refused[0].reason == "document 'outside' is not in the pool of topic '2'"


@pytest.mark.slow
def test_files_values_and_commands(campaign: Campaign, tmp_path: Path) -> None:
    where = campaign.directory
    assert "there are no preferences yet to evaluate with" in fails("preferences", where)
    campaign.people.assignments.update(annotators=2)
    for name in ("ann", "ben"):
        campaign.judging.topic_tasks.next_topics(name, 2)
        for query_id in "12":
            compare(campaign, name, query_id, FIRST)
    odd = preferred("ann", "1", "d03", "d04", "cannot judge", reason="both, I'd say", note='a "note",\nin two lines')
    campaign.judging.topic_tasks.prefer(
        [odd, preferred("ben", "2", "d00", "d01", "right"), preferred("ben", "1", "d00", "d01", "undone")]
    )
    ok("export", where, "--preferences", tmp_path / "p.jsonl", "--preference-qrels", tmp_path / "q.txt")
    ok("export", where, "--preferences", tmp_path / "p.csv")
    log = campaign.store.topic_tasks.preferences(current=False).astype(object)
    for name in ("p.jsonl", "p.csv"):
        read = formats.read_preferences(tmp_path / name)
        plain = read.astype(object)
        assert plain.where(plain.notna(), None).values.tolist() == log.where(log.notna(), None).values.tolist()
        current = preferences.latest_preferences(read)
        assert sorted(current["uuid"]) == sorted(campaign.store.topic_tasks.preferences()["uuid"])
    qrels = formats.read_qrels(tmp_path / "q.txt")
    assert qrels[qrels["query_id"] == "1"].set_index("doc_id")["relevance"].loc[["d00", "d02", "d04"]].tolist() == [
        3,
        2,
        0,
    ]
    said = run("preferences", where)
    assert re.split("  +", said.stdout.splitlines()[0]) == [
        "run", "topics", "topics counted", "pairs counted", "pairs", "ppref", "wpref", "rpref",
    ]  # fmt: skip
    assert [line.split()[0] for line in said.stdout.splitlines()[1:]] == ["forth", "back"]
    assert "same preference in" in said.stderr
    means = campaign.results.evaluation.by_preferences(depth=2).means()
    for name, ids in {"forth": names(6), "back": names(6)[::-1]}.items():
        lines = [f"{q} Q0 {d} {rank} {-rank} {name}\n" for q in "12" for rank, d in enumerate(ids)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    of_file = json.loads(
        ok("preferences", tmp_path / "p.csv", tmp_path / "forth.run", "--depth", 2, "--format", "json")
    )
    assert of_file["values"][0]["ppref"] == means.set_index("run").loc["forth", "ppref"]
    per_topic = ok("preferences", where, tmp_path / "back.run", "--per-topic").splitlines()
    assert [line.split()[:2] for line in per_topic[1:]] == [["back", "1"], ["back", "2"]]
    assert "expected at least one RUN" in run("preferences", tmp_path / "p.csv").stderr
    assert "no such file" in run("preferences", tmp_path / "none").stderr


@pytest.mark.slow
def test_status_and_what_is_next(campaign: Campaign) -> None:
    assert campaign.results.overview.next_step() == ("judge", "Compare documents: 2 of 2 topics are left.")
    campaign.judging.topic_tasks.next_topics("ann", 2)
    compare(campaign, "ann", "1", FIRST)
    state = campaign.results.overview.status()["decisions"]
    assert (state["task"], state["made"], state["remaining"], state["decided"]) == ("preference", 1, 1, 1)
    assert (state["preferences"], state["agreement"]) == (6, None)
    assert "2, 1 decided, 1 left" in ok("status", campaign.directory)
    compare(campaign, "ann", "2", FIRST)
    assert campaign.results.overview.next_step().page == "export"


def test_a_campaign_without_preferences_says_so(campaign: Campaign) -> None:
    with pytest.raises(CampaignError, match="compare some documents first"):
        campaign.results.evaluation.by_preferences()
    assert campaign.results.qrels.from_preferences().empty


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "annotator,query_id,left,right,kind\nann,1,a,a,left\n",
            ", line 2: expected two different documents, found 'a' twice",
        ),
        ("annotator,query_id,left,right,kind\nann,1,a,b,best\n", ", line 2: expected a kind (left, right, equal"),
        (
            "annotator,query_id,left,kind\nann,1,a,left\n",
            ", line 1: expected preferences with the columns annotator, query_id, left, right",
        ),
        ("annotator,query_id,left,right,kind\nann,1,a,b,\n", ", line 2: expected a value of kind"),
        (
            "annotator,query_id,left,right,kind,seconds\nann,1,a,b,left,-1\n",
            ", line 2: expected seconds as a number, 0 or more",
        ),
        (
            "annotator,query_id,left,right,kind\n ann,1,a,b,left\n",
            ", line 2: expected an annotator's name without surrounding blanks, found ' ann'",
        ),
        ("annotator,query_id,left,right,kind\nann,1 2,a,b,left\n", ", line 2: expected an id without blanks"),
        ("annotator,query_id,left,right,kind\n", "only a header"),
        ('[{"annotator": "ann"}]\n', "entry 1: expected preferences with the columns"),
    ],
)
def test_a_file_of_preferences_that_is_none(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(rows)
    with pytest.raises(FormatError) as error:
        formats.read_preferences(path)
    assert message in str(error.value)


def test_a_file_of_somebody_elses_preferences_needs_five_columns(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("kind\tquery_id\tleft\tright\tannotator\textra\nequal\t1\ta\tb\tann\tx\n")
    frame = formats.read_preferences(tmp_path / "p.tsv")
    assert frame[["annotator", "query_id", "left", "right", "kind"]].values.tolist() == [
        ["ann", "1", "a", "b", "equal"]
    ]
    assert frame["seconds"].isna().all()
