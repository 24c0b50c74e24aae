"""Who gets which pair next."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from collection.assignment import AssignmentSettings, count_wanted, distribute_topics, next_pairs, random_keys, shuffle
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Candidate


def candidates(**changes: object) -> list[Candidate]:
    """Four pairs, a to d; a change is a value for all of them, or a list with one for each."""
    pairs = [Candidate(doc_id, rank) for doc_id, rank in zip("abcd", (1, 1, 2, 3), strict=True)]
    for name, values in changes.items():
        each = values if isinstance(values, list) else [values] * len(pairs)
        pairs = [pair._replace(**{name: value}) for pair, value in zip(pairs, each, strict=True)]
    return pairs


def ids(pairs: list[Candidate]) -> str:
    return "".join(pair.doc_id for pair in pairs)


TAKEN = {"others": [1, 0, 1, 0], "leased": [0, 1, 1, 0]}
QUALIFICATION = {"others": [0, 4, 0, 4], "adjudicated": [0, 0, 0, 1], "qualification": [0, 1, 0, 1]}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, "abcd", id="pool order stands"),
        pytest.param({"own": [1, 0, 1, 0]}, "bd", id="own judgements are no pairs to judge again"),
        pytest.param(TAKEN, "d", id="judgements and leases of others count towards the overlap"),
        pytest.param(TAKEN | {"wanted": 2}, "abd", id="an overlap of two"),
        pytest.param(TAKEN | {"wanted": [1, 1, 3, 1]}, "cd", id="an overlap of three in one pair"),
        pytest.param({"adjudicated": [1, 0, 0, 1], "wanted": 3}, "bc", id="an adjudicated pair is ended"),
        pytest.param(QUALIFICATION, "bdac", id="everybody judges the qualification set first"),
        pytest.param(QUALIFICATION | {"own": [0, 1, 0, 0]}, "dac", id="and each of its pairs once"),
        pytest.param({"skipped": [20.0, None, 10.0, None]}, "bdca", id="skipped last, the longest skipped first"),
        pytest.param({"skipped": [20.0, None, 0.0, None]}, "bdca", id="skipped at the beginning of time"),
        pytest.param({"held_back": [1, 0, 1, 0]}, "bd", id="documents held back are open to nobody"),
        pytest.param({"held_back": [1, 0, 0, 0], "skipped": [None, 10.0, None, None]}, "cdb", id="nor if skipped"),
        pytest.param({"held_back": [1, 0, 0, 0], "qualification": [1, 0, 0, 0]}, "bcd", id="nor in the qualification"),
    ],
)
def test_next_pairs(changes: dict[str, object], expected: str) -> None:
    assert ids(next_pairs(candidates(**changes))) == ids(next_pairs(candidates(**changes), 9)) == expected
    assert ids(next_pairs(candidates(**changes), 2)) == expected[:2]


def test_no_pairs_are_wanted_or_there() -> None:
    assert next_pairs([], 5) == next_pairs(candidates(), 0) == next_pairs(candidates(), -3) == []


KEYS = st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 2), st.none() | st.integers(0, 3), st.booleans())


@given(drawn=st.lists(st.tuples(KEYS, st.integers(1, 3), st.booleans(), st.booleans()), max_size=12))
def test_what_is_open_and_in_which_order(drawn: list[Any]) -> None:
    pairs = [
        Candidate(f"d{at}", at + 1, held, mine, others, leased, None if skipped is None else float(skipped), *rest)
        for at, ((held, others, leased, skipped, mine), *rest) in enumerate(drawn)
    ]
    given_out = next_pairs(pairs)
    # Written out once more, one rule after another.
    open_ = [pair for pair in pairs if not pair.own and not pair.held_back]
    open_ = [p for p in open_ if p.qualification or (not p.adjudicated and p.wanted - p.others - p.leased > 0)]
    assert sorted(given_out) == sorted(open_)
    for first, second in pairwise(given_out):
        later = [p.skipped is not None for p in (first, second)]
        assert later[0] <= later[1]
        if later[0] == later[1] and first.skipped == second.skipped:
            assert first.qualification >= second.qualification
            if first.qualification == second.qualification:
                assert first.rank < second.rank
        elif all(later):
            assert first.skipped < second.skipped


IDS = [f"d{number}" for number in range(2000)]


def test_a_share_is_chosen_by_lot_and_a_larger_one_has_all_of_a_smaller() -> None:
    few, many = (
        count_wanted(AssignmentSettings(annotators=3, which="share", share=share), "1", IDS, "seed")
        for share in (0.2, 0.5)
    )
    assert set(few) == {1, 3}
    # A binomial with 2,000 draws is within four standard deviations of its mean but for 1 of 16,000 seeds.
    assert abs((few == 3).mean() - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 2000)
    assert abs((many == 3).mean() - 0.5) < 4 * np.sqrt(0.25 / 2000)
    assert (many[few == 3] == 3).all()


def test_the_lot_is_another_for_each_topic_and_campaign() -> None:
    half = AssignmentSettings(annotators=2, which="share", share=0.5)
    both = np.mean(count_wanted(half, "1", IDS, "seed") == count_wanted(half, "2", IDS, "seed"))
    assert 0.4 < both < 0.6
    assert 0.4 < np.mean(count_wanted(half, "1", IDS, "seed") == count_wanted(half, "1", IDS, "other")) < 0.6


def test_a_number_is_exact_in_a_pool_and_none_outside_it() -> None:
    settings = AssignmentSettings(annotators=2, which="number", number=30)
    assert (count_wanted(settings, "1", IDS, "seed") == 2).sum() == 30
    assert count_wanted(settings, "1", IDS[:10], "seed").tolist() == [2] * 10
    assert (count_wanted(settings, "1", IDS, "seed", pooled=False) == 1).all()


def test_whole_topics_and_all_pairs() -> None:
    settings = AssignmentSettings(annotators=4, which="topics", topics=("2",))
    assert count_wanted(settings, "1", IDS[:2], "s").tolist() == [1, 1]
    assert count_wanted(settings, "2", IDS[:2], "s").tolist() == [4, 4]
    assert count_wanted(AssignmentSettings(annotators=2), "1", IDS[:2], "s").tolist() == [2, 2]
    assert count_wanted(AssignmentSettings(), "1", [], "s").tolist() == []


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"annotators": 0}, InputError, "expected 1 to 50 per pair, found 0"),
        ({"which": "half"}, UnknownNameError, "half"),
        ({"share": 1.5}, InputError, "from 0 to 1, found 1.5"),
        ({"number": -1}, InputError, "expected 0 or more overlap pairs per topic, found -1"),
        ({"lease": 0}, InputError, "expected 0.05 to 10080 minutes"),
    ],
)
def test_settings_out_of_range_are_named(changes: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        AssignmentSettings(**changes)


def test_an_order_of_chance_is_another_for_each_annotator_and_stays() -> None:
    orders = {name: ids(shuffle(candidates(), "seed", name, "1")) for name in ("ann", "ben", "cai", "dee", "eve")}
    assert all(sorted(order) == list("abcd") for order in orders.values())
    assert len(set(orders.values())) > 1
    assert orders == {name: ids(shuffle(candidates(), "seed", name, "1")) for name in orders}


def test_lots_are_spread_evenly() -> None:
    numbers = random_keys(IDS, "seed")
    assert 0 <= numbers.min() < numbers.max() < 1
    counts = np.histogram(numbers, bins=10, range=(0, 1))[0]
    assert ((counts - 200) ** 2 / 200).sum() < 27.9  # chi square with 9 degrees of freedom: p = .001


@given(
    sizes=st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 500), min_size=1, max_size=30),
    people=st.integers(1, 6),
    data=st.data(),
)
def test_topics_are_dealt_evenly(sizes: dict[str, int], people: int, data: st.DataObject) -> None:
    per_topic = data.draw(st.integers(1, people))
    names = [f"p{number}" for number in range(people)]
    dealt = distribute_topics(sizes, names, per_topic)
    assert list(dealt) == list(sizes)
    assert all(len(set(given_to)) == per_topic for given_to in dealt.values())
    loads = {name: sum(max(sizes[q], 1) for q, given_to in dealt.items() if name in given_to) for name in names}
    if per_topic == 1:
        # Whoever has most got their last topic when they had least: nobody is behind by more than a topic.
        assert max(loads.values()) - min(loads.values()) <= max(max(size, 1) for size in sizes.values())


def test_more_people_wanted_than_there_are() -> None:
    with pytest.raises(InputError, match="expected 1 to 2 annotators per topic .*, found 3"):
        distribute_topics({"1": 5}, ["ann", "ben", "ann"], 3)
