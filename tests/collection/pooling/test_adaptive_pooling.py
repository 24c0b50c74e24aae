"""Strategies that look at each judgement: by hand, beside plain definitions, and with answers still to come."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from collection.core.errors import InputError
from collection.pooling import choose_next, hedge, maxmean, mm_ns, mtf, replay, strategies, thompson

ADAPTIVE = strategies(adaptive=True)

NAMES = list(ADAPTIVE)

some_rankings = st.lists(st.lists(st.integers(0, 11), unique=True), max_size=5).map(
    lambda found: [np.array(docs, dtype=np.int64) for docs in found]
)
some_answers = st.lists(st.booleans(), min_size=12, max_size=12)


def test_the_table() -> None:
    assert NAMES == ["mtf", "maxmean", "mm-ns", "thompson", "hedge"]
    assert ADAPTIVE["thompson"].parameters == {"keep": 1.0, "seed": 0}
    assert ADAPTIVE["hedge"].parameters == {"beta": 0.9}
    for entry in ADAPTIVE.values():
        assert "Source: " in (entry.function.__doc__ or "")


# --- Thompson sampling ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "chance"),
    [
        # Beta(a, 1) and Beta(1, b) against the uniform Beta(1, 1) of a run of which nothing is known: the mean.
        ([True], 2 / 3),
        ([False], 1 / 3),
        ([True, True], 3 / 4),
        ([False, False], 1 / 4),
        # Once one of two is relevant: Beta(2, 2), as likely above a uniform number as below it.
        ([True, False], 1 / 2),
    ],
)
def test_thompson_pulls_a_run_as_often_as_it_is_likely_to_be_the_best(answers: list[bool], chance: float) -> None:
    rankings = [np.arange(10), np.arange(10, 20)]
    stayed, of = 0, 0
    for seed in range(2000):
        asking = thompson(rankings, seed=seed)
        first = next(asking)
        asked = [first, *(asking.send(answer) for answer in answers)]
        runs = [document // 10 for document in asked]
        if len(set(runs[:-1])) == 1:  # all answers are of one run
            of += 1
            stayed += runs[-1] == runs[0]
    assert of > 300
    assert abs(stayed / of - chance) < 4 * np.sqrt(chance * (1 - chance) / of)


@pytest.mark.slow
def test_thompson_that_forgets_goes_by_the_last_answer() -> None:
    # After three relevant ones and an irrelevant one: Beta(4, 2) with a memory, Beta(1, 2) without.
    rankings, shares = [np.arange(10), np.arange(10, 20)], []
    for keep in (1.0, 0.0):
        stayed, of = 0, 0
        for seed in range(2000):
            asking = thompson(rankings, keep=keep, seed=seed)
            asked = [next(asking), *(asking.send(answer) for answer in (True, True, True, False))]
            runs = [document // 10 for document in asked]
            if len(set(runs[:4])) == 1:
                of += 1
                stayed += runs[4] == runs[0]
        shares.append((stayed / of, of))
    (with_memory, many), (without, few) = shares
    assert abs(with_memory - 2 / 3) < 4 * np.sqrt(2 / 9 / many)
    assert abs(without - 1 / 3) < 4 * np.sqrt(2 / 9 / few)


@given(some_rankings, some_answers, st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_order(rankings: list[np.ndarray], relevant: list[bool], seed: int) -> None:
    order = replay(thompson(rankings, seed=seed), relevant).tolist()
    assert order == replay(thompson(rankings, seed=seed), relevant).tolist()


def test_another_seed_gives_another_order() -> None:
    rankings, relevant = [np.arange(run, 40, 4) for run in range(4)], [False] * 40
    assert len({tuple(replay(thompson(rankings, seed=seed), relevant)) for seed in range(20)}) == 20


# --- Hedge ----------------------------------------------------------------------------------------


def test_hedge_by_hand() -> None:
    # Five documents, so a document at rank r loses a run ln(5 / r) / 2: .805 .458 .255 .112 0 from the first rank on,
    # and one that it has not the mean of .112 and 0: .056. At first all runs weigh 1.
    #   0: .805 + .458 = 1.263   1: .458 + .056 = .514   2: .255 + .056 = .311   3: .056 + .805 = .861   4: .056 + .255
    # 0 is the first. If it is irrelevant, the runs have lost .805 and .458; with beta .1 the second weighs
    # 10 ** .347 = 2.22 times as much as the first:
    #   1: .458 + .124 = .582   2: .255 + .124 = .379   3: .056 + 1.787 = 1.843   4: .056 + .567 = .623
    # 3; if that is relevant, the first gains .056 and the second .805: now 10 ** 1.096 = 12.5 times the first.
    #   1: .458 + .696 = 1.154   2: .255 + .696 = .951   4: .056 + 3.186 = 3.242
    rankings = [np.array([0, 1, 2]), np.array([3, 0, 4])]
    asking = hedge(rankings, beta=0.1)
    assert (next(asking), asking.send(False), asking.send(True)) == (0, 3, 4)
    # If 3 is irrelevant as well: -.805 - .056 against -.458 - .805, and the first is 10 ** .402 = 2.53 times the other:
    #   1: 1.157 + .056 = 1.213   2: .645 + .056 = .701   4: .141 + .255 = .396
    asking = hedge(rankings, beta=0.1)
    assert (next(asking), asking.send(False), asking.send(False), asking.send(False)) == (0, 3, 1, 2)


def by_definition(rankings: list[np.ndarray], relevant: list[bool], beta: float) -> Iterator[tuple[int, list[int]]]:
    """What Hedge asks for, and what it might have asked for: all that are as good up to rounding."""
    documents = sorted({int(doc) for ranking in rankings for doc in ranking})
    total, weights = len(documents), [1.0] * len(rankings)

    def loss(run: int, document: int) -> float:
        listed = rankings[run].tolist()
        ranks = [listed.index(document) + 1] if document in listed else range(len(listed) + 1, total + 1)
        return float(np.mean([0.5 * np.log(total / rank) for rank in ranks]))

    left = list(documents)
    while left:
        scores = {d: sum(w * loss(run, d) for run, w in enumerate(weights)) / sum(weights) for d in left}
        best = [d for d in left if scores[d] > max(scores.values()) - 1e-9]
        chosen = yield best
        left.remove(chosen)
        weights = [w * beta ** ((-1) ** relevant[chosen] * loss(run, chosen)) for run, w in enumerate(weights)]


@pytest.mark.slow
@given(some_rankings, some_answers, st.sampled_from([0.1, 0.5, 0.9]))
def test_hedge_is_what_its_definition_says(rankings: list[np.ndarray], relevant: list[bool], beta: float) -> None:
    definition = by_definition(rankings, relevant, beta)
    best = next(definition, None)
    for document in replay(hedge(rankings, beta=beta), relevant).tolist():
        assert best is not None
        assert document in best
        try:
            best = definition.send(document)
        except StopIteration:
            best = None
    assert best is None


def test_hedge_comes_to_trust_the_run_that_is_right() -> None:
    # Both runs have all documents; what is relevant stands first in one of them and last in the other.
    rankings, relevant = [np.arange(40), np.arange(40)[::-1]], np.arange(40) < 10
    assert relevant[replay(hedge(rankings, beta=0.5), relevant)[:12]].sum() == 10
    assert relevant[replay(hedge(rankings, beta=0.5), ~relevant)[:12]].sum() <= 2


@pytest.mark.slow
def test_many_judgements_do_not_wear_the_weights_out() -> None:
    rng = np.random.default_rng(1)
    rankings = [rng.permutation(3000)[:1000] for _ in range(5)]
    every = np.unique(np.concatenate(rankings))
    with np.errstate(over="raise", invalid="raise"):
        for answer in (False, True):
            assert sorted(replay(hedge(rankings, beta=0.01), np.full(3000, answer))) == every.tolist()


# --- all of them ----------------------------------------------------------------------------------


@given(st.sampled_from(NAMES), some_rankings, some_answers)
def test_each_document_once_and_all_of_them(name: str, rankings: list[np.ndarray], relevant: list[bool]) -> None:
    before = [ranking.tolist() for ranking in rankings]
    order = replay(ADAPTIVE[name].function(rankings), relevant).tolist()
    assert sorted(order) == sorted({doc for docs in before for doc in docs})
    assert [ranking.tolist() for ranking in rankings] == before


@given(st.sampled_from(NAMES), some_rankings, some_answers, st.permutations(range(12)))
def test_what_the_documents_are_called_does_not_matter(
    name: str, rankings: list[np.ndarray], relevant: list[bool], called: list[int]
) -> None:
    names = np.array(called)
    order = replay(ADAPTIVE[name].function(rankings), relevant)
    renamed = np.zeros(12, dtype=np.bool_)
    renamed[names] = relevant
    again = replay(ADAPTIVE[name].function([names[ranking] for ranking in rankings]), renamed)
    assert again.tolist() == names[order].tolist()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: thompson([], keep=1.1), "from 0 to 1, found 1.1"),
        (lambda: mm_ns([], keep=-1), "from 0 to 1, found -1"),
        (lambda: hedge([], beta=1), "above 0 and below 1, found 1"),
        (lambda: hedge([], beta=0), "above 0 and below 1, found 0"),
    ],
)
def test_parameters_are_refused_at_once(wrong: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wrong()  # type: ignore[operator]


# --- answers that are still to come ---------------------------------------------------------------


def test_ahead_by_hand() -> None:
    # mtf: 0 is relevant; 1 is not known: presumed irrelevant, -1 0. Run 1: 0 is passed over, 3 is irrelevant, -1 -1,
    # and it has given fewer: 4 is not known. Then run 0 has 2 left.
    rankings = [np.array([0, 1, 2]), np.array([0, 3, 4])]
    assert choose_next(mtf(rankings), {0: True, 3: False}, 2).tolist() == [1, 4]
    assert choose_next(mtf(rankings), {0: True, 3: False}, 9).tolist() == [1, 4, 2]
    assert choose_next(mtf(rankings), {0: True, 3: False}, 0).tolist() == []
    # Known to be relevant, 3 keeps run 1 in front.
    assert choose_next(maxmean(rankings), {0: True, 3: True, 1: False}, 1).tolist() == [4]
    assert choose_next(mtf(rankings), dict.fromkeys(range(5), True), 3).tolist() == []
    # A document that no run has answers nothing.
    assert choose_next(mtf(rankings), {7: True}, 2).tolist() == choose_next(mtf(rankings), {}, 2).tolist() == [0, 3]


@pytest.mark.slow
@given(st.sampled_from(NAMES), some_rankings, some_answers)
def test_by_the_old_answers_a_strategy_goes_on_where_it_was(
    name: str, rankings: list[np.ndarray], relevant: list[bool]
) -> None:
    function = ADAPTIVE[name].function
    order = replay(function(rankings), relevant).tolist()
    for judged in range(len(order) + 1):
        answers = {document: relevant[document] for document in reversed(order[:judged])}
        assert choose_next(function(rankings), answers, 1).tolist() == order[judged : judged + 1]
    # Nothing is known: the order in which nothing is relevant.
    assert choose_next(function(rankings), {}, 12).tolist() == replay(function(rankings), [False] * 12).tolist()


@given(st.sampled_from(NAMES), some_rankings, st.dictionaries(st.integers(0, 13), st.booleans()), st.integers(0, 14))
def test_ahead_gives_what_is_not_answered_yet(
    name: str, rankings: list[np.ndarray], answers: dict[int, bool], count: int
) -> None:
    order = choose_next(ADAPTIVE[name].function(rankings), answers, count).tolist()
    open_ = {int(doc) for ranking in rankings for doc in ranking} - set(answers)
    assert len(order) == min(count, len(open_))
    assert set(order) <= open_
    assert len(set(order)) == len(order)
    # A longer look ahead begins with the shorter one.
    assert choose_next(ADAPTIVE[name].function(rankings), answers, count + 3).tolist()[:count] == order
