"""Stopping rules by hand-worked values, by exhaustive proof of what they promise, and at the edges."""

import itertools
import math

import numpy as np
import pytest

from collection.core.errors import InputError, UnknownNameError
from collection.stopping import (
    STOPPING_RULES,
    Ledger,
    StopDecision,
    advise,
    betting,
    estimate,
    next_sources,
    quantile_bound,
    smallest_sample,
)
from tests.helpers import cases


def decide(name: str, ledger: Ledger, **parameters: object) -> StopDecision:
    return STOPPING_RULES[name].function(ledger, **parameters)


def ranked(relevant: list[int], size: int, **more: object) -> Ledger:
    return Ledger.of(relevant, size, **more)


def next_choice(ledger: Ledger, **options: float) -> str:
    return next_sources(ledger, 1, **options)[0]


def drawn(relevant: list[int], size: int) -> Ledger:
    return Ledger.of(relevant, size, drawn=[1] * len(relevant))


# The ledger


def test_a_ledger_counts_what_was_before() -> None:
    ledger = Ledger.of([1, 0, 1, 0, 0], 8, drawn=[0, 0, 1, 0, 1])
    assert (ledger.judged, ledger.found, ledger.unjudged) == (5, 2, 3)
    assert ledger.found_before.tolist() == [0, 1, 1, 2, 2]
    assert ledger.unjudged_before.tolist() == [8, 7, 6, 5, 4]
    assert ledger.draws.tolist() == [2, 4]
    assert ledger.since_relevant.tolist() == [False, True]


def test_a_prefix_forgets_what_came_later() -> None:
    ledger = Ledger.of([1, 0, 1], 4, drawn=[1, 1, 0], batch=[0, 0, 1], reached=[2, 3, np.nan], scores=[0.5] * 4)
    before = ledger.prefix(2)
    assert (before.judged, before.found, before.scores) == (2, 1, None)
    assert before.reached is not None
    assert before.reached[0] == 2
    assert np.isnan(before.reached[1])
    assert ledger.prefix(3).scores is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"relevant": [1, 2], "size": 3}, r"Ledger, relevant: expected True or False .*, found 2$"),
        ({"relevant": [[1], [0]], "size": 3}, "Ledger, relevant: expected a plain sequence"),
        ({"relevant": [1, 0], "size": 1}, "Ledger, size: expected at least 2, the number of judged documents"),
        ({"relevant": [1, 0], "size": 3, "drawn": [1]}, "Ledger, drawn: expected one value for each of the 2"),
        ({"relevant": [1], "size": 3, "probability": [0.0]}, "Ledger, probability: .* found 0$"),
        ({"relevant": [1], "size": 3, "probability": [1.5]}, "Ledger, probability: .* found 1.5$"),
        ({"relevant": [1], "size": 3, "probability": ["often"]}, "Ledger, probability: expected numbers"),
        ({"relevant": [1, 0], "size": 3, "batch": [2, 1]}, "Ledger, batch: expected rounds that never decrease"),
        ({"relevant": [1], "size": 3, "batch": [np.nan]}, "Ledger, batch: .* found nan"),
        ({"relevant": [1], "size": 3, "reached": [1]}, "Ledger, reached: expected nan for"),
        ({"relevant": [1], "size": 3, "drawn": [1], "reached": [-1]}, "Ledger, reached: .* found -1"),
        ({"relevant": [1], "size": 3, "scores": [0.1]}, "Ledger, scores: expected one for each of the 3"),
        ({"relevant": [1], "size": 2, "scores": [0.1, 7]}, "Ledger, scores: .* found 7$"),
    ],
)
def test_bad_input_is_refused_by_name(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ledger.of(**arguments)


def test_bad_parameters_are_refused_by_name() -> None:
    ledger = ranked([1, 0], 9)
    for bad in (0, 1.1, -1, "high", math.nan):
        with pytest.raises(InputError, match="parameter target: expected a share above 0 and up to 1"):
            decide("betting", ledger, target=bad)
    with pytest.raises(
        InputError, match="parameter confidence: expected a share between 0 and 1, such as 0.9, found 1"
    ):
        estimate(ledger, confidence=1)
    with pytest.raises(InputError, match="parameter length: expected 0 or more, found -1"):
        decide("consecutive", ledger, length=-1)
    with pytest.raises(UnknownNameError, match="unknown stage of buscar 'rank'"):
        decide("buscar", ledger, stage="rank")
    with pytest.raises(InputError, match="Ledger, prefix: expected 0 to 2 judgements, found 3"):
        ledger.prefix(3)


# Every rule at the edges


EDGES = {
    "no documents": Ledger.of([], 0),
    "nothing judged": Ledger.of([], 5),
    "one document": Ledger.of([], 1),
    "one document, relevant": ranked([1], 1),
    "one document of two": ranked([0], 2),
    "nothing relevant": ranked([0] * 400, 500),
    "nothing relevant in any draw": drawn([0] * 400, 500),
    "everything relevant": ranked([1] * 400, 500),
    "every draw relevant": drawn([1] * 400, 500),
    "all judged": ranked([1, 0] * 10, 20),
    "one left": drawn([1, 0] * 10, 21),
    "control sample reached": Ledger.of([1] * 80, 100, drawn=[1] * 70 + [0] * 10, reached=[80] * 70 + [np.nan] * 10),
    "all that can be known": Ledger.of(
        [1, 0, 1, 0], 6, drawn=[1, 1, 0, 0], probability=[0.5, 0.5, 1, np.nan], batch=[0, 0, 1, 1],
        reached=[3, np.nan, np.nan, np.nan], scores=[0.9, 0.2, 0.8, 0.1, 0.0, 1.0],
    ),
    "a model sure of nothing": Ledger.of([0, 0], 4, scores=[0, 0, 0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("target", [0.01, 0.5, 0.9, 1])
def test_every_rule_answers_on_every_edge_in_one_line(edge: str, target: float) -> None:
    ledger = EDGES[edge]
    for entry in STOPPING_RULES:
        taken = {"target": target} if "target" in entry.parameters else {}
        extra: list[dict] = [{"stage": "both"}] if entry.name == "buscar" else []
        extra += [{"strict": True}] if entry.name == "autostop" else []
        for more in [{}, *extra]:
            decision = entry.function(ledger, **taken, **more)
            assert type(decision.stop) is bool, entry.name
            assert decision.reason
            assert "\n" not in decision.reason
            assert "nan" not in decision.reason.lower()
            if ledger.unjudged == 0:
                assert decision.stop
                start = f"{ledger.size} of {ledger.size} document" if ledger.size else "there is nothing to judge"
                assert decision.reason.startswith(start), entry.name
    given = advise(ledger, target)
    assert given.stop == decide("betting", ledger, target=target).stop
    assert next_choice(ledger) in ("ranking", "random")
    known = estimate(ledger)
    assert ledger.found <= known.low <= known.high <= ledger.found + ledger.unjudged
    assert 0 <= known.recall_low <= known.recall_high <= 1
    assert "\n" not in known.reason


def test_the_table_describes_itself() -> None:
    assert STOPPING_RULES.group == "cleverdon.stopping"
    for entry in STOPPING_RULES:
        doc = entry.function.__doc__ or ""
        assert entry.description.endswith(".")
        assert "\n" not in entry.description
        assert "Source:" in doc, entry.name
        assert "uarantee" in doc or "heuristic" in doc, entry.name
        assert all(p is not None or n in ("positives", "switch") for n, p in entry.parameters.items())
    assert STOPPING_RULES["buscar"].choices == {"stage": ("ranking", "both")}


# Rules that count


def test_counting_rules() -> None:
    assert decide("fixed", ranked([0] * 10, 99), judgements=10).stop
    assert not decide("fixed", ranked([0] * 9, 99), judgements=10).stop
    assert decide("consecutive", ranked([1] + [0] * 50, 99)).stop
    assert not decide("consecutive", ranked([1] + [0] * 49, 99)).stop
    assert decide("half", ranked([0] * 5, 9)).stop
    assert not decide("half", ranked([0] * 4, 9)).stop
    assert decide("2399", ranked([1] * 5 + [0] * 2400, 9999)).stop  # 1.2 * 5 + 2399 = 2405
    assert not decide("2399", ranked([1] * 5 + [0] * 2399, 9999)).stop


def test_knee_by_hand() -> None:
    # All 20 relevant come first: the knee is at 20, and the ratio (20 / 20) / (1 / irrelevant after) = irrelevant
    # after, to be at least 156 - 20.
    assert not decide("knee", ranked([1] * 20 + [0] * 135, 9999)).stop
    decision = decide("knee", ranked([1] * 20 + [0] * 136, 9999))
    assert decision.stop
    assert "fell 136.0-fold at judgement 20 (threshold: 136-fold)" in decision.reason
    # From 150 relevant on, 6-fold is enough: (150 / 150) / (1 / 6).
    assert decide("knee", ranked([1] * 150 + [0] * 6, 9999)).stop
    assert not decide("knee", ranked([1] * 150 + [0] * 5, 9999)).stop
    # A late relevant document costs: (20 / 20) / ((1 + 1) / 200).
    assert "fell 100.0-fold at judgement 20" in decide("knee", ranked([1] * 20 + [0] * 199 + [1], 9999)).reason
    assert not decide("knee", ranked([1] + [0] * 98, 9999), rho=0, relevant=0).stop  # before 100 judgements
    assert "has no knee" in decide("knee", ranked([1] * 120, 9999)).reason


def test_the_knee_is_looked_for_at_the_ends_of_rounds() -> None:
    # Rounds of 6, 10 and 24; the knee of the judgements would be at 10, that of the rounds is at 16:
    # (10 / 16) / (1 / 24).
    ledger = ranked([1] * 10 + [0] * 30, 999, batch=[0] * 6 + [1] * 10 + [2] * 24)
    assert "fell 15.0-fold at judgement 16" in decide("knee", ledger).reason


def test_budget_by_hand() -> None:
    # 10 N / F = 10 * 1000 / 20 = 500.
    assert decide("budget", ranked([1] * 20 + [0] * 480, 1000)).stop
    assert not decide("budget", ranked([1] * 20 + [0] * 479, 1000)).stop
    assert decide("budget", ranked([0] * 750, 1000)).stop
    assert not decide("budget", ranked([0] * 749, 1000)).stop
    # Relevant to the last: the slope never fell.
    assert not decide("budget", ranked([1, 0] * 300, 1000)).stop


# Target and QBCB


def test_the_published_sample_sizes_of_qbcb() -> None:
    assert [smallest_sample(t) for t in (0.8, 0.9, 0.95)] == [14, 29, 59]
    for target, positives in ((0.8, 14), (0.9, 29), (0.95, 59)):
        assert quantile_bound(positives, target) == positives
        assert quantile_bound(positives - 1, target) is None


@pytest.mark.parametrize("positives", [14, 22, 30, 100])
def test_the_quantile_bound_against_the_binomial_sum(positives: int) -> None:
    def below(j: int) -> float:
        return sum(math.comb(positives, k) * 0.8**k * 0.2 ** (positives - k) for k in range(j))

    bound = quantile_bound(positives, 0.8)
    assert bound is not None
    assert below(bound) >= 0.95 > below(bound - 1)


def control(positives: int, reached: int) -> Ledger:
    """A control sample of so many relevant documents and as many others, then 50 ranked documents."""
    sample = [1, 0] * positives
    again = [np.nan] * len(sample)
    again[: 2 * reached : 2] = [len(sample) + 1 + i for i in range(reached)]
    judged = sample + [1] + [0] * 49
    return Ledger.of(judged, 999, drawn=[1] * len(sample) + [0] * 50, reached=again + [np.nan] * 50)


def test_target_and_qbcb_wait_until_the_random_ones_are_found_again() -> None:
    assert decide("target", control(10, 10)).stop
    assert not decide("target", control(10, 9)).stop
    assert "74.1% recall" in decide("target", control(10, 10)).reason
    assert not decide("target", control(9, 9)).stop
    assert decide("qbcb", control(29, 29)).stop
    assert not decide("qbcb", control(29, 28)).stop
    assert decide("qbcb", control(14, 14), target=0.8).stop
    assert not decide("qbcb", control(28, 28)).stop
    # With 22 there may be one that the ranking misses: P(Binomial(22, .8) < 21) = 1 - .8^22 - 22 * .2 * .8^21.
    assert decide("qbcb", control(22, 21), target=0.8, positives=22).stop
    assert not decide("qbcb", control(22, 20), target=0.8, positives=22).stop
    assert "too small to guarantee" in decide("qbcb", control(5, 5), positives=5).reason


def test_only_draws_before_the_ranking_are_a_control_sample() -> None:
    later = Ledger.of([1] * 20, 99, drawn=[1] * 5 + [0] * 5 + [1] * 10, reached=[20] * 5 + [np.nan] * 5 + [20] * 10)
    assert "has 5 relevant documents, but 10 are needed" in decide("target", later).reason
    unknown = Ledger.of([1] * 20, 99, drawn=[1] * 20)
    assert "it is not known when the ranking reached" in decide("target", unknown).reason


# buscar


def below(k: int, urn: int, relevant: int, draws: int) -> float:
    """P(X <= k), counted."""
    ways = sum(math.comb(relevant, i) * math.comb(urn - relevant, draws - i) for i in range(min(k, draws) + 1))
    return ways / math.comb(urn, draws)


def p_of(decision: StopDecision) -> float:
    return float(decision.reason.split("p = ")[1].split()[0])


def test_buscar_against_counted_ways() -> None:
    # 18 found before 60 random draws, which bring one more: less than 90% means 22 or more, 4 of them in the urn.
    judged = [1] * 18 + [0] * 22 + [0] * 30 + [1] + [0] * 29
    ledger = Ledger.of(judged, 200, drawn=[0] * 40 + [1] * 60)
    assert p_of(decide("buscar", ledger, stage="both")) == pytest.approx(below(1, 160, 22 - 18, 60), rel=5e-3)
    # On the ranking: every start is a window, and the least p counts.
    least = min(
        below(sum(judged[i:]), 200 - i, 22 - sum(judged[:i]), 100 - i) for i in range(100)
    )  # fmt: skip
    assert p_of(decide("buscar", ledger)) == pytest.approx(least, rel=5e-3)


def test_buscar_stops_where_missing_is_unlikely() -> None:
    # C(100, 2) / C(450, 2) is just below .05: 9 found, 11 or more are too many for 90%, 350 irrelevant in a row.
    assert math.comb(100, 2) / math.comb(450, 2) < 0.05
    assert decide("buscar", ranked([1] * 9 + [0] * 350, 459)).stop
    assert not decide("buscar", ranked([1] * 9 + [0] * 340, 459)).stop
    # The published workflow never stops on the ranking: it sends one to draw.
    both = decide("buscar", ranked([1] * 9 + [0] * 350, 459), stage="both")
    assert (both.stop, both.reason.endswith("draw at random from now on")) == (False, True)
    early = decide("buscar", ranked([1] * 9 + [0] * 10, 459), stage="both")
    assert early.reason.endswith("random draws start below 0.525")
    drawing = Ledger.of([1] * 9 + [0] * 350, 459, drawn=[0] * 9 + [1] * 350)
    assert decide("buscar", drawing, stage="both").stop


def test_buscar_knows_what_is_certain() -> None:
    # Even if the two left were relevant, 90% would be met.
    assert decide("buscar", ranked([1] * 40, 42)).stop
    assert p_of(decide("buscar", ranked([1] * 40, 42))) == 0


# QuantCI and AutoStop


def test_quantci_by_hand() -> None:
    ledger = ranked([1, 1], 4, scores=[0.9, 0.8, 0.1, 0.2])
    # Recall 1.7 / 2; variance 1.7^2 / 2^4 * .5 + .25 / 2^2 = .1528125.
    low = 0.85 - math.sqrt(0.1528125)
    assert decide("quantci", ledger, target=0.85, deviations=0).stop
    assert not decide("quantci", ledger, target=0.86, deviations=0).stop
    assert decide("quantci", ledger, target=low - 1e-6, deviations=1).stop
    assert not decide("quantci", ledger, target=low + 1e-6, deviations=1).stop
    assert not decide("quantci", ranked([1, 1], 4)).stop


def test_autostop_by_hand() -> None:
    # 1 / .5 + 1 / 1 + 1 (certain) = 4 of which 3 are found.
    ledger = Ledger.of([1, 1, 1, 0], 9, drawn=[1, 0, 0, 1], probability=[0.5, 1, np.nan, 0.25])
    assert decide("autostop", ledger, target=0.75).stop
    assert not decide("autostop", ledger, target=0.76).stop
    # 5 / 9 / 4 / 3 * ((8 - 4)^2 + 0 + 0 + (0 - 4)^2) = 1.48.
    assert decide("autostop", ledger, target=3 / (4 + math.sqrt(1.4815)), strict=True).stop
    assert not decide("autostop", ledger, target=3 / (4 + math.sqrt(1.4814)), strict=True).stop
    assert not decide("autostop", ranked([1, 1], 9)).stop
    assert not decide("autostop", drawn([1, 1], 9)).stop


# The rule with the guarantee


def money(judged: list[int], draws: list[int], size: int, claim: int) -> float:
    """M by the book: one factor a draw, in plain floats."""
    stakes = {0.0: 0.7, 0.05: 0.1, 0.2: 0.1, 0.5: 0.1}
    found = 0
    for i, relevant in enumerate(judged):
        if draws[i]:
            p = (claim - found) / (size - i)
            for kept in stakes:
                stakes[kept] *= kept if relevant else (1 - kept * p) / (1 - p)
        found += relevant
    return sum(stakes.values())


def test_the_description_of_betting_names_its_confidence() -> None:
    assert STOPPING_RULES["betting"].description.endswith(
        "rule out, with the chosen confidence, a recall below the target."
    )


def test_betting_is_the_product_that_defines_it() -> None:
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(200):
        size = int(rng.integers(40, 120))
        n = int(rng.integers(5, size - 10))
        judged = (rng.random(n) < rng.choice([0.02, 0.1])).astype(int).tolist()
        draws = (rng.random(n) < 0.7).astype(int).tolist()
        target = float(rng.choice([0.5, 0.8, 0.9]))
        claim = next(r for r in range(1, size + 2) if sum(judged) < target * r - 1e-9)
        if claim <= sum(judged) + size - n:
            expected = money(judged, draws, size, claim) >= 20
            assert betting(Ledger.of(judged, size, drawn=draws), target=target).stop == expected
            seen.add(expected)
    assert seen == {True, False}


def test_betting_by_hand() -> None:
    # Nothing found, 100 documents: .7 * 100 / (100 - n) alone is 20 after 96.5 draws; the small stakes help little.
    assert betting(drawn([0] * 97, 100)).stop
    assert not betting(drawn([0] * 95, 100)).stop
    # What the ranking brought makes the claim larger and easier to refute, but is no evidence by itself.
    assert not betting(ranked([1] * 20 + [0] * 70, 100)).stop
    # 19 found and two left: 90% of 21 is met already.
    decision = betting(ranked([1] * 19 + [0] * 79, 100))
    assert (decision.stop, decision.reason.endswith("even if all 2 unjudged documents are relevant")) == (True, True)


@pytest.mark.parametrize("target", [0.5, 0.8, 0.9, 0.95, 1])
@pytest.mark.parametrize(("found", "before", "size"), [(0, 0, 50), (30, 70, 400), (90, 500, 20_000), (45, 0, 2000)])
def test_needed_is_the_least_number_of_misses_that_will_do(target: float, found: int, before: int, size: int) -> None:
    judged, draws = [1] * found + [0] * (5 + before), [0] * (found + 5) + [1] * before
    decision = betting(Ledger.of(judged, size, drawn=draws), target=target)
    needed = decision.needed
    assert needed is not None
    if decision.stop:
        assert needed == 0
        return
    assert betting(Ledger.of(judged + [0] * needed, size, drawn=draws + [1] * needed), target=target).stop
    one_less = needed - 1
    assert not betting(Ledger.of(judged + [0] * one_less, size, drawn=draws + [1] * one_less), target=target).stop
    if not before:
        # From scratch it is at most what the bet on misses alone needs, U (1 - .035^(1 / (R0 - F))).
        claim, unjudged = math.floor(found / target + 1e-9) + 1, size - found - 5
        assert needed <= math.ceil(unjudged * (1 - 0.035 ** (1 / (claim - found))))


@pytest.mark.parametrize("ranking", ["never", "best", "worst"])
@pytest.mark.parametrize(("relevant", "target"), [(1, 0.5), (2, 0.9), (3, 0.9), (4, 0.6)])
@pytest.mark.slow
def test_the_promise_holds_over_all_orders(relevant: int, target: float, ranking: str) -> None:
    """All 5,040 orders of draws from 7 documents with a look after each, counted, not sampled.

    Every third document is the ranking's, which knows the truth and helps or misleads as it can.
    """
    size, confidences = 7, (0.5, 0.7, 0.9)
    answers: dict[tuple, bool] = {}
    wrong = dict.fromkeys(confidences, 0)
    for order in itertools.permutations(range(size)):
        # The documents below `relevant` are the relevant ones; the ranking picks by name, never by the order.
        left, judged, draws = list(order), [], []
        going = set(confidences)
        while left and going:
            for confidence in tuple(going):
                key = (confidence, *judged)
                if key not in answers:
                    answers[key] = betting(
                        Ledger.of(judged, size, drawn=draws), target=target, confidence=confidence
                    ).stop
                if answers[key]:
                    going.remove(confidence)
                    wrong[confidence] += sum(judged) < target * relevant
            draws.append(not (ranking != "never" and len(judged) % 3 == 1))
            pick = left[0] if draws[-1] else (min(left) if ranking == "best" else max(left))
            left.remove(pick)
            judged.append(int(pick < relevant))
    for confidence, count in wrong.items():
        assert count / math.factorial(size) <= 1 - confidence + 1e-12
    # A promise that is never broken would be too dear.
    assert wrong[0.5] or relevant > 1 or ranking != "never"


@pytest.mark.parametrize("confidence", [0.6, 0.9])
@pytest.mark.slow
def test_the_interval_holds_at_all_times_over_all_orders(confidence: float) -> None:
    size, relevant = 9, 3
    orders = list(itertools.combinations(range(size), relevant))
    missed = 0
    for places in orders:
        judged = [int(i in places) for i in range(size)]
        known = [estimate(drawn(judged[:n], size), confidence) for n in range(1, size)]
        missed += not all(e.low <= relevant <= e.high for e in known)
    assert missed / len(orders) <= 1 - confidence + 1e-12


def campaign(rng: np.random.Generator, size: int, relevant: int, hidden: int, target: float) -> tuple[Ledger, float]:
    """Judge as next_choice says until betting stops; the ranking finds all but the hidden ones early."""
    truth = np.zeros(size, dtype=bool)
    truth[:relevant] = True
    score = rng.normal(size=size) + 3.0 * truth
    score[:hidden] = -9 - rng.random(hidden)
    left = list(np.argsort(-score))
    judged: list[bool] = []
    draws: list[bool] = []
    wait = 0
    while left:
        ledger = Ledger.of(np.array(judged, dtype=bool), size, drawn=np.array(draws, dtype=bool))
        random = next_choice(ledger, run=10) == "random"
        pick = left.pop(int(rng.integers(len(left))) if random else 0)
        judged.append(bool(truth[pick]))
        draws.append(random)
        # A miss more is all that `needed` waits for: between hits there is nothing to ask.
        wait = wait - 1 if random and not truth[pick] else 0
        if wait <= 0:
            decision = betting(Ledger.of(judged, size, drawn=draws), target=target)
            if decision.stop:
                break
            wait = decision.needed or 0
    return Ledger.of(judged, size, drawn=draws), sum(judged) / relevant


@pytest.mark.parametrize(
    ("relevant", "hidden", "target"),
    [(40, 0, 0.8), pytest.param(40, 15, 0.8, marks=pytest.mark.slow), pytest.param(30, 6, 0.9, marks=pytest.mark.slow)],
)
@pytest.mark.slow
@pytest.mark.fuzz
def test_the_rule_keeps_its_promise_in_small_campaigns(relevant: int, hidden: int, target: float) -> None:
    rng = np.random.default_rng(20260)
    runs = cases(20, 100)
    ends = [campaign(rng, 300, relevant, hidden, target) for _ in range(runs)]
    assert sum(recall < target for _, recall in ends) <= 0.05 * runs
    intervals = [estimate(ledger) for ledger, _ in ends]
    assert sum(e.low <= relevant <= e.high for e in intervals) >= 0.95 * runs
    assert any(ledger.judged < 300 for ledger, _ in ends)


# Estimates, advice, and where to look


def test_estimate_of_a_plain_sample() -> None:
    rng = np.random.default_rng(1)
    judged = (rng.permutation(2000) < 200)[:500].astype(int).tolist()
    known = estimate(drawn(judged, 2000))
    # The most likely number is that of the sample's share; the interval holds the truth and is no wider than useful.
    assert known.relevant == pytest.approx(sum(judged) * 4, abs=4)
    assert 115 < known.low < 200 < known.high < 300
    assert known.recall == pytest.approx(sum(judged) / known.relevant)
    assert known.recall_low == pytest.approx(sum(judged) / known.high)
    assert known.recall_high == pytest.approx(sum(judged) / known.low)
    assert known.reason.endswith("with 95% confidence from 500 random draws")


def test_estimate_at_the_ends() -> None:
    none = estimate(ranked([1, 0], 10))
    assert math.isnan(none.relevant)
    assert math.isnan(none.recall)
    assert (none.low, none.high, none.recall_low, none.recall_high) == (1, 9, 1 / 9, 1)
    assert none.reason.startswith("no random draws yet")
    done = estimate(ranked([1, 0], 2))
    assert (done.relevant, done.low, done.high, done.recall, done.recall_low) == (1, 1, 1, 1, 1)
    empty = estimate(Ledger.of([], 0))
    assert (empty.relevant, empty.recall, empty.recall_low, empty.recall_high) == (0, 1, 1, 1)


def test_estimate_tightens_with_draws() -> None:
    judged = [1] * 40 + [0] * 60
    highs = [estimate(Ledger.of(judged + [0] * n, 5000, drawn=[0] * 100 + [1] * n)).high for n in (0, 100, 400, 1600)]
    assert highs == sorted(highs, reverse=True)
    assert len(set(highs)) == 4


def test_advice_says_what_is_missing() -> None:
    ledger = ranked([1] * 45 + [0] * 155, 2000)
    given = advise(ledger)
    assert not given.stop
    start = "90% recall is not guaranteed yet; it is, with 95% confidence, if the next"
    assert given.reason.startswith(f"{start} {given.needed:,} random draws find no relevant document")
    assert given.reason.endswith("(the buscar heuristic, without a guarantee, would continue)")
    assert "if the next random draw finds no relevant" in advise(ranked([1] + [0] * 7, 10), 0.9, 0.4).reason
    assert given.needed is not None
    more = [0] * given.needed
    done = advise(Ledger.of([1] * 45 + [0] * 155 + more, 2000, drawn=[0] * 200 + [1] * len(more)))
    assert done.stop
    assert "at least 90% of the relevant documents are found, with 95% confidence: 45 are found" in done.reason


def test_next_choice_ranks_until_the_ranking_is_dry() -> None:
    dry = [1] + [0] * 50
    assert next_choice(Ledger.of([], 999)) == "ranking"
    assert next_choice(ranked(dry[:-1], 999)) == "ranking"
    assert next_choice(ranked(dry, 999)) == "random"
    # From 20,000 documents on it gets 200.
    assert next_choice(ranked(dry, 20_000)) == "ranking"
    assert next_choice(ranked([1] + [0] * 200, 20_000)) == "random"
    # A draw that misses goes on; one that hits gives the ranking its turn.
    assert next_choice(Ledger.of([*dry, 0], 999, drawn=[0] * 51 + [1])) == "random"
    assert next_choice(Ledger.of([*dry, 1], 999, drawn=[0] * 51 + [1])) == "ranking"
    # Control draws do not count against the ranking.
    assert next_choice(Ledger.of([1] + [0] * 60, 999, drawn=[0] + [1] * 60)) == "ranking"


def test_next_choice_mixes_in_a_control_sample() -> None:
    judged: list[bool] = []
    for _ in range(100):
        ledger = Ledger.of([0] * len(judged), 999, drawn=judged)
        judged.append(next_choice(ledger, run=1000, share=0.1) == "random")
    assert sum(judged) == 10
    with pytest.raises(InputError, match="parameter share: expected 0 or more, found -1"):
        next_choice(Ledger.of([], 9), share=-1)


# Draws that could not reach everything


def held_back(seed: int, tell: bool) -> tuple[bool, bool]:
    """120 documents, 24 relevant, of which somebody else holds 10 that no draw reaches: (stopped, met)."""
    random = np.random.default_rng(seed)
    relevant = np.zeros(120, dtype=bool)
    relevant[random.choice(120, 24, replace=False)] = True
    held = np.flatnonzero(relevant)[:10]
    order = np.flatnonzero(relevant)[10:]  # the ranking finds the others at once
    judged, drawn, urn = list(order), [False] * len(order), [np.nan] * len(order)
    for document in random.permutation(np.setdiff1d(np.arange(120), [*order, *held])):
        judged.append(document)
        drawn.append(True)
        urn.append(120 - len(judged) + 1 - len(held))
        ledger = Ledger.of(relevant[judged], 120, drawn=drawn, urn=urn if tell else None)
        if betting(ledger).stop:
            return True, bool(ledger.found >= 0.9 * 24)
    return False, False


@pytest.mark.slow
def test_no_promise_rests_on_documents_that_no_draw_could_reach() -> None:
    assert all(stopped and not met for stopped, met in (held_back(seed, tell=False) for seed in range(5)))
    assert not any(stopped for stopped, _ in (held_back(seed, tell=True) for seed in range(20)))


def test_the_interval_allows_for_what_no_draw_could_reach() -> None:
    ledger = Ledger.of([1] * 4 + [0] * 30, 60, drawn=[0] * 4 + [1] * 30)
    blind = Ledger.of(
        [1] * 4 + [0] * 30, 60, drawn=[0] * 4 + [1] * 30, urn=[np.nan] * 4 + [50.0 - i for i in range(30)]
    )
    assert blind.out_of_reach[4:].tolist() == [6] * 30
    assert estimate(blind).low == 4
    assert estimate(blind).high == pytest.approx(estimate(ledger).high + 6, abs=1)
    # By hand, R = 11 with 4 found: 7 left, 6 of them perhaps out of reach, so each draw had at least 1 in 50, 49 ...
    wanted = math.log(0.7 / 1) + sum(-math.log(1 - 1 / (50 - i)) for i in range(30))
    only_misses = Ledger.of([1] * 4 + [0] * 30, 60, drawn=[0] * 4 + [1] * 30, urn=blind.urn)
    from collection.stopping.martingale import _log_money

    assert _log_money(only_misses, 11)[0] == pytest.approx(wanted)


def test_urns_are_checked_and_cut_with_the_ledger() -> None:
    with pytest.raises(InputError, match="urn"):
        Ledger.of([1, 0], 9, drawn=[0, 1], urn=[np.nan, 0.0])
    ledger = Ledger.of([1, 0, 0], 9, drawn=[0, 1, 1], urn=[np.nan, 20.0, 5.0])
    assert ledger.out_of_reach.tolist() == [0, 0, 2]  # an urn that others have emptied since is what is unjudged now
    assert ledger.prefix(2).out_of_reach.tolist() == [0, 0]


def test_only_the_turns_of_the_loop_count_for_the_next_choice() -> None:
    ledger = Ledger.of([1] + [0] * 60, 500)
    pool = np.zeros(61, dtype=bool)
    assert next_choice(ledger) == "random"
    assert next_sources(ledger, 51, turns=pool) == ["ranking"] * 50 + ["random"]
    assert next_sources(ledger, 3, run=400, share=0.5, turns=pool) == ["random", "ranking", "random"]
