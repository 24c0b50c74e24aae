"""Risk control by hand-worked values, by exact expectations over all orders of topics, and at the edges."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from collection.core.errors import InputError, UnknownNameError
from collection.stopping import Ledger, estimate
from collection.stopping.risk_control import (
    EVERYTHING,
    RULE_FAMILIES,
    TopicLosses,
    bound_mean,
    calibrate,
    calibrate_losses,
    check_transfer,
    choose_family,
    choose_setting,
    costs_from_replays,
    costs_from_topics,
    measure_losses,
    plan,
    required_topics,
    topics_to_confirm,
)
from collection.stopping.risk_control.cost_plan import COLLECTION_SHARES, CostRange
from collection.stopping.risk_control.losses import invert_sampled
from tests.helpers import cases

FAMILIES = [family.name for family in RULE_FAMILIES]


def judged(text: str, size: int | None = None, drawn: list[int] | None = None, unreachable: int = 0) -> Ledger:
    """A ledger from grades such as "1100"."""
    relevant = [int(c) for c in text]
    return Ledger.of(relevant, len(relevant) if size is None else size, drawn=drawn, unreachable=unreachable)


def random_ledger(rng: np.random.Generator, size: int = 60) -> Ledger:
    """A complete topic whose relevant documents come early, in clumps, late or not at all."""
    share = rng.choice([0.0, 0.05, 0.3]) * np.exp(-np.arange(size) / rng.choice([5, 30, 1000]))
    rounds = np.sort(rng.integers(0, 12, size))
    return Ledger.of(rng.random(size) < share, size, batch=rounds)


def at(family: str, setting: float) -> int:
    return int(np.flatnonzero(RULE_FAMILIES[family].settings == setting)[0])


# Families


def test_stops_by_hand() -> None:
    ledger = judged("1001000100")
    stops = RULE_FAMILIES["consecutive"].find_stops(ledger)
    assert [stops[at("consecutive", s)] for s in (1, 2, 3, 4)] == [2, 3, 7, 11]
    assert stops[-1] == 11
    assert RULE_FAMILIES["fixed"].find_stops(ledger)[at("fixed", 7)] == 7
    assert RULE_FAMILIES["share"].find_stops(judged("10", 10))[at("share", 0.2)] == 2
    assert RULE_FAMILIES["scaled"].function(judged("1100")) == pytest.approx([0, 0, 0, 3**0.5, 2 * 3**0.5])
    # 2 of 2 relevant, then 0 of 4: the slope 1 falls to (0 + 1) / 4.
    assert RULE_FAMILIES["knee"].function(judged("110000")).tolist() == [0, 0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rule_sees_only_what_was_judged_before(family: str) -> None:
    """Values of the criterion do not change when judging continues, so a campaign stops where a replay does."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        ledger = random_ledger(rng)
        whole = RULE_FAMILIES[family].function(ledger)
        assert whole.shape == (ledger.judged + 1,)
        for n in (0, 1, 2, 17, 59):
            np.testing.assert_allclose(RULE_FAMILIES[family].function(ledger.prefix(n)), whole[: n + 1])


@pytest.mark.parametrize("family", FAMILIES)
def test_stricter_settings_never_stop_earlier(family: str) -> None:
    rng = np.random.default_rng(2)
    entry = RULE_FAMILIES[family]
    assert (np.diff(entry.grid) > 0).all()
    for _ in range(10):
        ledger = random_ledger(rng)
        stops = entry.find_stops(ledger)
        assert (np.diff(stops) >= 0).all()
        assert stops[-1] == ledger.judged + 1
        measured = measure_losses([ledger], family)
        assert (np.diff(measured.losses) <= 0).all()
        assert (np.diff(measured.costs) >= 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_setting_of_a_family_stops_early_and_the_last_late(family: str) -> None:
    """The grid covers what a campaign needs."""
    ledger = judged("1101" + "0" * 2000)
    stops = RULE_FAMILIES[family].find_stops(ledger)
    assert stops[0] <= 20
    assert stops[-2] > 1500


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_words_its_settings(family: str) -> None:
    entry = RULE_FAMILIES[family]
    assert entry.describe(entry.grid[3]).startswith("stop ")
    assert entry.describe(EVERYTHING) == "judge every document"


# Losses


def test_losses_by_hand() -> None:
    measured = measure_losses([judged("1100010000")], "consecutive")
    assert measured.losses[0, at("consecutive", 2)] == pytest.approx(1 / 3)
    assert measured.costs[0, at("consecutive", 2)] == 4
    assert measured.losses[0, at("consecutive", 4)] == 0
    assert measured.costs[0, at("consecutive", 4)] == 10
    assert (measured.costs[0, -1], measured.delta) == (10, 0)


def test_a_stop_before_the_first_relevant_document_loses_everything() -> None:
    measured = measure_losses([judged("0001")], "consecutive")
    assert measured.losses[0, at("consecutive", 2)] == 1


def test_a_topic_without_relevant_documents_loses_nothing() -> None:
    assert not measure_losses([judged("0000"), judged("")], "consecutive").losses.any()


def test_a_topic_smaller_than_the_setting_is_judged_completely() -> None:
    measured = measure_losses([judged("0001")], "consecutive")
    where = at("consecutive", RULE_FAMILIES["consecutive"].grid[99])
    assert (measured.losses[0, where], measured.costs[0, where]) == (0, 4)


def test_documents_that_cannot_be_judged_count_as_relevant_and_missed() -> None:
    measured = measure_losses([judged("1100", 6, unreachable=2), judged("00", 3, unreachable=1)], "consecutive")
    assert measured.losses[0, -1] == 0.5
    assert measured.costs[0, -1] == 4
    assert measured.losses[1].tolist() == [1.0] * len(measured.losses[1])
    assert measured.delta == 0  # complete as far as possible


@pytest.mark.parametrize(
    ("certain", "rest", "sample"), [(1, 30, 3), (3, 40, 10), (20, 200, 40), (5, 12, 12), (2, 90, 15)]
)
def test_an_estimate_from_a_sample_is_never_too_small_in_expectation(certain: int, rest: int, sample: int) -> None:
    """For each number of relevant documents, with a sample of fixed size and if each document is sampled by itself."""
    p, hits = sample / rest, np.arange(rest + 1)
    q = np.array([invert_sampled(certain, h, p) for h in hits.tolist()])
    products = []
    for others in range(rest + 1):
        for chances in (hypergeom.pmf(hits, rest, others, sample), binom.pmf(hits, others, p)):
            assert chances @ q <= (1 + 1e-9) / (certain + others)
        products.append(float(chances @ q) * (certain + others))
    assert max(products) == pytest.approx(1)  # nothing is given away


def test_a_deep_topic_is_estimated_from_its_random_sample() -> None:
    ledger = Ledger.of([1] * 20 + [0] * 30 + [1] + [0] * 24, 100, drawn=[0] * 50 + [1] * 25)
    measured = measure_losses([ledger], "consecutive", depths=[50])
    assert measured.losses[0, at("consecutive", 5)] == pytest.approx(1 - 20 * invert_sampled(20, 1, 0.5))
    # The draws are no part of what the rules read: no setting sees more than 30 irrelevant documents in a row.
    beyond = RULE_FAMILIES["consecutive"].settings > 30
    assert (measured.costs[0, beyond] == 100).all()
    assert (measured.losses[0, -1], measured.delta, measured.complete) == (0, 0, False)
    complete = Ledger.of([1, 0, 1, 0], 4, drawn=[0, 0, 1, 1])
    assert measure_losses([complete], "fixed", depths=[2]).losses[0, at("fixed", 1)] == pytest.approx(0.5)


def test_a_deep_topic_is_bounded_by_its_random_draws() -> None:
    ledger = Ledger.of([1] * 20 + [0] * 70, 100, drawn=[0] * 50 + [1] * 40)
    measured = measure_losses([ledger], "consecutive", delta=0.05)
    high = estimate(ledger, 0.95).high
    assert high > 20
    assert measured.losses[0, at("consecutive", 5)] == pytest.approx(1 - 20 / high)
    assert (measured.losses[0, -1], measured.delta) == (0, 0.05)


def test_draws_that_may_have_ended_at_a_relevant_document_are_no_sample() -> None:
    """The loop draws until it finds something, so its last draws are irrelevant whatever is left."""
    ledger = Ledger.of([1, 1, 0, 0], 10, drawn=[0, 0, 1, 1])
    assert measure_losses([ledger], "fixed").losses[0, -2] == pytest.approx(1 - 2 / 8)
    assert measure_losses([ledger], "fixed", depths=[2]).losses[0, -2] == pytest.approx(
        1 - 2 * invert_sampled(2, 0, 0.25)
    )
    # Nor are judgements that are not all random draws.
    assert measure_losses([ledger], "fixed", depths=[1]).losses[0, -2] == pytest.approx(1 - 1 / 8)


def test_without_a_random_sample_all_unjudged_documents_may_be_relevant() -> None:
    held = Ledger.of([1, 1, 0, 0], 10, drawn=[0, 0, 0, 1], urn=[np.nan, np.nan, np.nan, 5])
    for ledger in (judged("1100", 10), held):
        depth = ledger.judged - int(ledger.drawn.sum())
        assert measure_losses([ledger], "consecutive", depths=[depth]).losses[0, -2] == pytest.approx(1 - 2 / 8)
    nothing = judged("00", 10, drawn=[0, 1])
    assert measure_losses([nothing], "consecutive", depths=[1]).losses[0, :-1].tolist() == [1.0] * len(
        RULE_FAMILIES["fixed"].grid
    )


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_deep_topics_with_documents_that_cannot_be_judged(delta: float) -> None:
    ledger = Ledger.of([1, 1] + [0] * 30, 60, drawn=[0, 0] + [1] * 30, unreachable=8)
    plain = Ledger.of([1, 1] + [0] * 30, 52, drawn=[0, 0] + [1] * 30)
    measured = measure_losses([ledger], "fixed", delta=delta, depths=[2])
    expected = 2 / (estimate(plain, 0.9).high + 8) if delta else 2 * invert_sampled(10, 0, 0.6)
    assert measured.losses[0, -2] == pytest.approx(1 - expected)
    assert measured.losses[0, -1] == pytest.approx(8 / 10)
    assert (np.diff(measured.losses) <= 1e-12).all()


@pytest.mark.parametrize("sample", [2, 9])
def test_the_expected_estimate_of_a_deep_topic_is_at_least_its_loss(sample: int) -> None:
    """At every setting, over all the samples of a small topic."""
    rng = np.random.default_rng(3)
    truth = np.concatenate((rng.random(6) < 0.6, rng.random(12) < 0.15))
    stops = np.minimum(RULE_FAMILIES["fixed"].find_stops(Ledger.of(truth, 18)), 6)
    exact = 1 - np.concatenate(([0], np.cumsum(truth)))[stops] / truth.sum()
    estimates = []
    for rest in itertools.combinations(range(6, 18), sample):
        relevant = np.concatenate((truth[:6], truth[list(rest)]))
        deep = Ledger.of(relevant, 18, drawn=[0] * 6 + [1] * sample)
        estimates.append(measure_losses([deep], "fixed", depths=[6]).losses[0])
    assert truth[6:].any()
    assert (np.mean(estimates, axis=0)[:-1] >= exact[:-1] - 1e-12).all()


def test_depths_limit_what_the_rules_read() -> None:
    measured = measure_losses([judged("1000010000")], "consecutive", depths=[3])
    assert measured.losses[0, at("consecutive", 4)] == 0.5
    assert measured.costs[0, at("consecutive", 4)] == 10


# Calibration


def test_the_least_strict_setting_by_hand() -> None:
    losses = np.array([[1.0, 0.5, 0.2, 0.0], [1.0, 0.1, 0.0, 0.0], [0.5, 0.3, 0.1, 0.0]])
    # (.9 + 1) / 4 = .475 and (.3 + 1) / 4 = .325
    assert choose_setting(losses, 0.475) == 1
    assert choose_setting(losses, 0.474) == 2
    assert choose_setting(losses, 0.25) == 3
    assert choose_setting(losses, 0.24) is None
    with pytest.raises(InputError, match="never increase"):
        choose_setting(losses[:, ::-1], 0.5)


@pytest.mark.parametrize(("alpha", "needed"), [(0.5, 1), (0.2, 4), (0.1, 9), (0.05, 19), (0.03, 33)])
def test_topics_needed(alpha: float, needed: int) -> None:
    assert required_topics(alpha) == needed
    zeros = np.zeros((needed, 1))
    assert choose_setting(zeros, alpha) == 0
    assert choose_setting(zeros[1:], alpha) is None


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("tail", [0.3, 1.0, 3.0])
def test_the_guarantee_exactly(alpha: float, tail: float) -> None:
    """Each of n + 1 topics is equally likely to be the next one: the mean over all choices is the exact expectation.

    Losses are heavy-tailed: with a small `tail` most topics lose nothing and a few nearly everything.
    """
    rng = np.random.default_rng(4)
    for _ in range(cases(40, 400)):
        n, settings = int(rng.integers(1, 40)), 30
        first = rng.beta(tail / 3, tail, size=(n + 1, 1))
        steps = np.sort(rng.beta(tail, 1, size=(n + 1, settings)), axis=1)[:, ::-1]
        losses = np.where(rng.random((n + 1, 1)) < 0.1, steps, first * steps)
        losses[:, -1] = 0
        expected = 0.0
        for i in range(n + 1):
            place = choose_setting(np.delete(losses, i, axis=0), alpha)
            expected += losses[i, place] if place is not None else 0.0
        assert expected / (n + 1) <= alpha + 1e-9


def test_the_guarantee_is_nearly_used_up() -> None:
    """With losses of a binary kind the exact expectation comes near alpha, so the test above can fail."""
    n = 19
    losses = np.array([[float(step < i) for step in range(n + 1)] + [0.0] for i in range(n + 1)])
    places = [choose_setting(np.delete(losses, i, axis=0), 0.25) for i in range(n + 1)]
    expected = np.mean([losses[i, place] for i, place in enumerate(places)])
    assert 0.2 <= expected <= 0.25


@pytest.mark.parametrize("families", [("consecutive",), ("consecutive", "fixed", "knee")])
def test_the_guarantee_exactly_for_ledgers(families: tuple[str, ...]) -> None:
    """All orders of five topics: four calibrate (or one of them selects a family), and the last is the next one."""
    rng = np.random.default_rng(5)
    ledgers = [random_ledger(rng) for _ in range(5)]
    whole = {family: measure_losses(ledgers, family) for family in families}
    selection = 1 if len(families) > 1 else 0
    lost = []
    for order in itertools.permutations(range(5)):
        parts = [whole[f].select(order[:selection]) for f in families]
        best = families[choose_family(parts, 0.3)]
        chosen = calibrate_losses(whole[best].select(order[selection:4]), 0.3, selection=selection)
        lost.append(whole[best].losses[order[4], at(best, chosen.setting)] if chosen.promises else 0.0)
    assert np.mean(lost) <= 0.3
    ordered = [ledgers[i] for i in order]
    assert calibrate(ordered[:4], 0.3, families=families, selection=selection) == chosen


def test_a_calibration_by_hand() -> None:
    ledgers = [judged("11" + "0" * 98)] * 8 + [judged("1" + "0" * 9 + "1" + "0" * 89)]
    chosen = calibrate(ledgers, 0.2, families=["consecutive"])
    # In the last topic 1 irrelevant document in a row finds half: (0.5 + 1) / 10.
    assert (chosen.setting, chosen.topics) == (1, 9)
    assert chosen.bound == pytest.approx(0.15)
    assert chosen.mean_loss == pytest.approx(0.5 / 9)
    assert chosen.cost == pytest.approx((8 * 3 + 2) / 9)
    assert "at least 80%, as a mean over topics" in chosen.report
    strict = calibrate(ledgers, 0.1, families=["consecutive"])
    assert (strict.setting, strict.promises) == (10, True)
    assert strict.bound == pytest.approx(0.1)
    assert strict.decide(judged("1" + "0" * 9, 50)).stop is False
    assert strict.decide(judged("1" + "0" * 10, 50)).stop is True


def test_too_few_topics_promise_nothing() -> None:
    chosen = calibrate([judged("10")] * 5, 0.1)
    assert (chosen.promises, chosen.setting) == (False, EVERYTHING)
    assert "needs at least 9 calibration topics, found 5" in chosen.report
    decision = chosen.decide(judged("1000", 10))
    assert not decision.stop
    assert "judge every document" in decision.reason
    assert chosen.decide(judged("1000")).stop
    empty = calibrate([], 0.1)
    assert (empty.topics, empty.bound, math.isnan(empty.mean_loss)) == (0, 1.0, True)


def test_documents_without_text_may_make_a_promise_impossible() -> None:
    chosen = calibrate([judged("10", 3, unreachable=1)] * 20, 0.1)
    assert not chosen.promises
    assert "documents without text may be relevant" in chosen.report


def test_incomplete_topics_take_their_delta_from_alpha() -> None:
    deep = Ledger.of([1] * 40 + [0] * 10 + [0] * 49, 100, drawn=[0] * 50 + [1] * 49)
    ledgers = [*[judged("1" * 40 + "0" * 60)] * 30, deep]
    chosen = calibrate(ledgers, 0.1, delta=0.05)
    assert chosen.delta == 0.05
    assert chosen.bound == pytest.approx((chosen.mean_loss * 31 + 1) / 32 + 0.05)
    assert chosen.promises
    assert "with a random sample of the rest" in chosen.report
    assert required_topics(0.1, 0.05) == 19
    assert calibrate(ledgers, 0.1).bound <= 0.1
    with pytest.raises(InputError, match="less than alpha"):
        calibrate(ledgers, 0.05, delta=0.05)


def test_the_family_is_chosen_by_cost() -> None:
    ledgers = [judged("1" * k + "0" * (200 - k)) for k in (3, 60, 10, 30)]
    measured = [measure_losses(ledgers, family) for family in ("fixed", "consecutive")]
    assert choose_family(measured, 0.1) == 1
    assert choose_family([one.select(slice(0)) for one in measured], 0.1) == 0
    chosen = calibrate([*ledgers, *ledgers[:3] * 3], 0.1, families=("fixed", "consecutive"), selection=4)
    assert (chosen.family, chosen.topics, chosen.selection) == ("consecutive", 9, 4)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"families": ()}, "families"),
        ({"families": ("fixed", "knee")}, "a selection of 1 or more"),
        ({"selection": 3}, "0 to 2 topics"),
        ({"alpha": 0.0}, "alpha"),
        ({"delta": 1.0}, "delta"),
        ({"depths": [1]}, "2 topics, found 1"),
    ],
)
def test_bad_settings_are_refused(more: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibrate([judged("10")] * 2, **more)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        calibrate([judged("10")] * 2, families=("kne",))


# Transfer


def test_the_upper_bound_of_a_mean() -> None:
    assert bound_mean(np.zeros(0)) == 1
    assert bound_mean(np.ones(4)) == 1
    # Without a loss: (1 - a)^n = .05.
    assert bound_mean(np.zeros(10)) == pytest.approx(1 - 0.05**0.1)
    assert topics_to_confirm(0.1) == 29
    assert check_transfer(np.zeros(29)).verdict == "confirmed"
    assert check_transfer(np.zeros(28)).verdict == "undecided"


def test_the_bound_is_exact_enough_for_binary_losses() -> None:
    """The probability that it is below the mean, summed over all outcomes, is at most 5%."""
    for n, mean in ((5, 0.1), (10, 0.3)):
        wrong = sum(
            binom.pmf(k, n, mean) for k in range(n + 1) if bound_mean(np.array([1.0] * k + [0.0] * (n - k))) < mean
        )
        assert wrong <= 0.05


def test_a_transfer_is_contradicted_and_undecided() -> None:
    bad = check_transfer(np.full(20, 0.6), 0.1)
    assert bad.verdict == "contradicted"
    assert 0.1 < bad.low < 0.6 < bad.high
    assert "does not hold here" in bad.report
    few = check_transfer(np.array([0.0, 0.1, 0.0]), 0.1)
    assert few.verdict == "undecided"
    assert "29 topics would confirm it" in few.report
    assert check_transfer(np.array([])).report.startswith("No topic is judged completely")
    with pytest.raises(InputError, match="from 0 to 1"):
        check_transfer(np.array([1.5]))
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1, found 95"):
        check_transfer(np.zeros(3), confidence=95)


def test_a_confirmed_transfer_says_what_recall_can_be_expected() -> None:
    report = check_transfer(np.zeros(40)).report  # 0.05 ** (1 / 40) = 0.9278
    assert (
        "confirmed: mean recall 100.0% on 40 topics; with 95% confidence, the expected recall is at least 92" in report
    )


# Plan


def test_a_plan_by_hand() -> None:
    made = plan(50, 1000, 0.1, lambda _: CostRange(100, 200, 400), candidates=[5, 10, 20])
    few, ten, twenty = made.rows
    assert not few.promises
    assert few.total.expected == made.everything == 50_000
    assert (ten.calibration_judgements, ten.total.low, ten.total.high) == (10_000, 14_000, 26_000)
    assert ten.per_topic.expected == pytest.approx(200)
    assert twenty.total.expected == pytest.approx(26_000)
    assert made.best == ten
    assert "judge them completely (10,000 judgements)" in made.advice
    assert "64% less than" in made.advice


def test_a_plan_chooses_candidates_that_can_promise() -> None:
    made = plan(100, 500, 0.1, costs_from_replays(500, 0.1))
    assert [row.calibration_topics for row in made.rows] == [9, 10, 20, 30, 50]
    small = plan(8, 500, 0.1, costs_from_replays(500, 0.1))
    assert (small.rows, small.best) == ((), None)
    assert "needs at least 9 calibration topics besides other topics; 8 topics can be drawn" in small.advice
    with pytest.raises(InputError, match="0 to 7"):
        plan(8, 500, 0.1, costs_from_replays(500, 0.1), candidates=[8])


def test_costs_from_topics() -> None:
    """With few calibration topics the setting must be stricter, so the others cost more."""
    losses = np.array([[0.3, 0.0, 0.0]] * 5 + [[0.0, 0.0, 0.0]] * 5)
    measured = TopicLosses("fixed", losses, np.array([[10.0, 40.0, 100.0]] * 10))
    costs = costs_from_topics(measured, 0.25)
    assert costs(300).expected == 10
    assert costs(3).expected == pytest.approx(40 - 30 / 8, abs=3)  # 10 only if all three lose nothing
    assert costs(2).expected == 100
    assert costs(3).low <= costs(3).expected <= costs(3).high


def test_costs_from_replays_take_the_next_stricter_row() -> None:
    assert costs_from_replays(200, 0.1)(19).high == pytest.approx(130)
    assert costs_from_replays(200, 0.1)(20).low == pytest.approx(74)
    assert costs_from_replays(200, 0.15)(50).high == pytest.approx(102)
    assert costs_from_replays(200, 0.2)(7).expected == pytest.approx((74 * 96) ** 0.5)
    for alpha, n in ((0.04, 50), (0.3, 3)):
        for in_pool in (True, False):
            assert costs_from_replays(100, alpha, in_pool=in_pool)(n).low == 100
    assert costs_from_replays(100, 0.1, in_pool=False)(10).low == pytest.approx(100 * COLLECTION_SHARES[0])


def test_small_pools_are_judged_to_a_larger_share() -> None:
    shares = {size: costs_from_replays(size, 0.1)(20) for size in (50, 100, 300)}
    assert [round(costs.low / size, 2) for size, costs in shares.items()] == [0.6, 0.47, 0.37]
    assert [round(costs.high / size, 2) for size, costs in shares.items()] == [0.67, 0.59, 0.51]


def test_a_plan_as_a_table_says_why_rows_save_nothing() -> None:
    made = plan(50, 100, 0.1, costs_from_replays(100, 0.1), candidates=[8, 9, 10])
    assert made.table().to_dict("list") == {
        "Calibration topics": [8, 9, 10],
        "Expected recall": ["none", "90%", "90%"],
        "Judgements, all topics": ["5,000", "5,000", "3,080 to 3,800"],
        "Calibration judgements": [800, 900, 1_000],
        "Judgements, other topic": ["100", "100", "52 to 70"],
        "Share of judging everything": ["100%", "100%", "62% to 76%"],
    }
    assert made.note == (
        "With 8 calibration topics, no rule can be chosen: every document of every topic has to be judged. "
        "With 9 calibration topics, the rule must find almost every relevant document of each: the plan assumes "
        "that all documents of the other topics are judged."
    )
    assert plan(50, 100, 0.1, costs_from_replays(100, 0.1), candidates=[10]).note == ""
