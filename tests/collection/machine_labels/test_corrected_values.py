"""Values by machine labels, corrected by people's grades of a sample."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from collection import evaluate
from collection.core.errors import InputError
from collection.core.records import Run
from collection.expected_judgements import Pairs, describe
from collection.machine_labels import (
    Budget,
    Judge,
    combine,
    correct,
    corrected_values,
    draw_priorities,
    find_effects,
    judged_sample,
    pair_sizes,
    plan,
    plan_budget,
    rank_weights,
)
from collection.machine_labels.combined_values import LEAST_SHARED, SCALE_ERROR, SHARED, SHARED_IN_INTERVALS
from collection.machine_labels.corrected_values import half_width, label_values
from collection.machine_labels.estimated_values import estimate_values, require_measure
from collection.machine_labels.human_sample import JudgedSample, expected_probabilities
from collection.machine_labels.predicted_grades import describe_labels
from collection.measures import Measure, parse

LEVELS = [0.0, 1.0, 2.0, 3.0]


def world(topics: int = 12, pool: int = 30, runs: int = 5, seed: int = 3) -> tuple[Pairs, np.ndarray]:
    """Pairs of runs that find relevant documents more or less well, and everybody's grades."""
    rng = np.random.default_rng(seed)
    keys = pd.DataFrame(
        [(f"q{t}", f"d{t}-{d}") for t in range(topics) for d in range(pool)], columns=["query_id", "doc_id"]
    )
    grades = rng.choice(4, p=[0.6, 0.2, 0.12, 0.08], size=len(keys)).astype(np.float64)
    made = [Run(f"r{n}", keys.assign(score=grades * n / 3 + rng.normal(0, 1, len(keys)))) for n in range(runs)]
    return describe(keys, made), grades


@pytest.mark.parametrize("name", ["nDCG@10", "nDCG", "DCG@5", "P@10", "P(rel=2)@5", 'nDCG(dcg="exp-log2")@10',
                                  "nDCG(gains={1:2,2:3,3:9})@10"])  # fmt: skip
def test_known_grades_give_the_value_of_the_measure(name: str) -> None:
    pairs, grades = world(topics=3)
    measure = parse(name)
    keys = pairs.frame
    runs = [Run(run, keys.assign(score=-pairs.places[number].astype(float))) for number, run in enumerate(pairs.runs)]
    expected = evaluate(keys.assign(relevance=grades.astype(int)), runs, measure).means()[str(measure)]
    found = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    assert found.tolist() == pytest.approx(expected.loc[pairs.runs].tolist(), abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG@3", "nDCG", "DCG@5", "P@5"])
def test_expected_values_are_means_over_all_grades(name: str) -> None:
    """Beside the mean over all possible grades of six documents; also where nothing is relevant with certainty."""
    rng, scale = np.random.default_rng(2), np.array([0.0, 1.0, 3.0])
    places, topic = np.array([[1, 2, 3, 4, 5, 6], [6, 4, 1, 0, 2, 3]]), np.zeros(6, dtype=np.int64)
    steps = np.sort(rng.random((6, 2)), axis=1)[:, ::-1] * np.array([[0.4], [0.3], [0.2], [0.5], [0.3], [0.2]])
    steps[0], steps[3] = (1.0, 0.0), 0.0  # known grades, 1 and 0
    measure = parse(name)

    def exact(known: np.ndarray) -> np.ndarray:
        chance = -np.diff(np.hstack([np.ones((6, 1)), known, np.zeros((6, 1))]), axis=1)
        total = np.zeros(2)
        for grades in itertools.product(range(3), repeat=6):
            reached = (np.array(grades)[:, None] >= [1, 2]).astype(np.float64)
            weight = np.prod(chance[np.arange(6), grades])
            total += weight * estimate_values(measure, places, topic, reached, scale).values[:, 0] if weight else 0.0
        return total

    found = estimate_values(measure, places, topic, steps, scale)
    assert found.values[:, 0].tolist() == pytest.approx(exact(steps).tolist(), abs=0.02)
    # Whether the document of grade 0 reaches grade 1, and that of grade 1 any.
    for row, before, after in ((3, (0.0, 0.0), (1.0, 0.0)), (0, (0.0, 0.0), (1.0, 0.0))):
        one, other = steps.copy(), steps.copy()
        one[row], other[row] = before, after
        slopes = found.slopes(np.array([row]))[:, 0, 0]
        assert slopes.tolist() == pytest.approx((exact(other) - exact(one)).tolist(), abs=0.03)


@pytest.mark.parametrize("name", ["nDCG@10", "P(rel=2)@10"])
def test_labels_with_a_fraction_count_as_the_nearest_grade(name: str) -> None:
    """Everywhere: in the values, in the plan, and in the prediction; half way is the lower grade."""
    pairs, grades = world(topics=3)
    measure, scale = parse(name), np.array(LEVELS)
    fractions = np.array([0.5, -0.4, -0.5, 0.3])[grades.astype(int)]  # 1.5 and .6 are near 1, and 3.3 is near 3
    near = grades + fractions
    whole = np.where(grades == 2, 1.0, grades)
    values = label_values(pairs, measure, near, scale)
    assert values.tolist() == label_values(pairs, measure, whole, scale).tolist()
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    assert plan(pairs, measure, near, sizes, LEVELS, [40]).equals(plan(pairs, measure, whole, sizes, LEVELS, [40]))
    described = [describe_labels(each, pairs.topic, np.zeros((len(grades), 0)), scale) for each in (near, whole)]
    assert described[0][:, :4].tolist() == described[1][:, :4].tolist()
    assert np.isnan(label_values(pairs, measure, None, scale)).all()
    missing = np.where(grades == 0, np.nan, near)
    assert label_values(pairs, measure, missing, scale).tolist() == values.tolist()


@pytest.mark.parametrize("name", ["AP", "RR", "R@10", "ERR@10", "nDCG(judged_only=True)@10"])
def test_measures_that_cannot_be_corrected_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be corrected; expected one of nDCG, DCG and P"):
        require_measure(parse(name))


def sample(pairs: Pairs, measure: Measure, count: int, seed: int) -> JudgedSample:
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    priorities = draw_priorities(sizes, seed)
    judged = np.zeros(len(sizes), dtype=bool)
    judged[np.argsort(-priorities)[:count]] = True
    return judged_sample(sizes, priorities, judged)


@pytest.mark.slow
@pytest.mark.parametrize("reversed_labels", [False, True])
def test_all_judged_gives_the_value_itself(reversed_labels: bool) -> None:
    pairs, grades = world()
    measure = parse("nDCG@10")
    drawn = sample(pairs, measure, len(grades), 1)
    labels = 3 - grades if reversed_labels else np.zeros(len(grades))
    found = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS)
    truth = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    assert found.values["corrected"].tolist() == pytest.approx(truth.tolist(), abs=1e-12)
    assert (found.values["high"] - found.values["low"]).tolist() == [0.0] * len(truth)
    assert found.values["combined"].tolist() == pytest.approx(truth.tolist(), abs=1e-12)
    assert found.values["combined_high"].tolist() == pytest.approx(truth.tolist(), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["near", "reversed", "none"])
@pytest.mark.long
def test_intervals_hold_the_value_whatever_the_labels_are(kind: str) -> None:
    pairs, grades = world(topics=10)
    measure = parse("nDCG@10")
    truth = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    noise = np.random.default_rng(5).integers(-1, 2, len(grades))
    labels = {"near": np.clip(grades + noise, 0, 3), "reversed": 3 - grades, "none": np.full(len(grades), np.nan)}[kind]
    held, combined, widths = [], [], []
    for seed in range(25):
        drawn = sample(pairs, measure, 100, seed)
        values = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS).values
        held.append(((values["low"] <= truth) & (truth <= values["high"])).mean())
        combined.append(((values["combined_low"] <= truth) & (truth <= values["combined_high"])).mean())
        widths.append([(values[f"{each}high"] - values[f"{each}low"]).mean() for each in ("", "combined_")])
    # The values of one sample err together: three standard errors of a share of 95% in 25 samples are 13 points.
    assert np.mean(held) >= 0.82
    assert np.mean(combined) >= 0.82
    corrected, narrower = np.mean(widths, axis=0)
    assert narrower < corrected


def sparse_world(seed: int) -> tuple[Pairs, np.ndarray]:
    """As `world`, with one relevant document among ten."""
    pairs, _ = world(topics=20, pool=26, runs=4, seed=seed)
    rng = np.random.default_rng(seed)
    first = (pairs.places > 0).any(axis=0) / np.maximum(np.where(pairs.places > 0, pairs.places, 99).min(axis=0), 1)
    grades = np.where(rng.random(len(first)) < 0.05 + 0.25 * first, rng.integers(1, 4, len(first)), 0)
    return pairs, grades.astype(np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("before", [0, 15])
@pytest.mark.long
def test_intervals_hold_the_value_where_few_documents_are_relevant(before: int) -> None:
    """With a large sample, and with relevant documents that were judged before it."""
    pairs, grades = sparse_world(4)
    measure, rng = parse("nDCG@10"), np.random.default_rng(6)
    truth = label_values(pairs, measure, grades, np.array(LEVELS)).mean(axis=1)
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    labels = np.where(rng.random(len(grades)) < 0.5, grades, rng.integers(0, 4, len(grades)))
    held, errors = [], []
    for seed in range(25):
        priorities = draw_priorities(sizes, seed)
        priorities[rng.choice(np.flatnonzero(grades), before, replace=False)] = np.nan
        judged = np.isnan(priorities)
        judged[np.argsort(-np.nan_to_num(priorities))[: round(0.6 * len(grades))]] = True
        drawn = judged_sample(sizes, priorities, judged)
        values = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS).values
        held.append(((values["low"] <= truth) & (truth <= values["high"])).mean())
        errors.append((values["corrected"] - truth).mean())
    assert np.mean(held) >= 0.85
    assert abs(np.mean(errors)) < 0.01


@pytest.mark.slow
def test_many_runs_need_little_memory() -> None:
    """The parts of all 9,900 pairs of runs at once would take hundreds of megabytes."""
    pairs, grades = world(topics=20, runs=100)
    measure = parse("nDCG@10")
    drawn = sample(pairs, measure, 500, 2)
    correct(pairs, measure, grades, drawn, grades[drawn.rows], LEVELS)  # imports what it needs, which takes memory too
    tracemalloc.start()
    found = correct(pairs, measure, grades, drawn, grades[drawn.rows], LEVELS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    one, other = np.triu_indices(100, 1)
    widths = half_width(found.parts[one] - found.parts[other], 0.05)
    assert (found.differences["high"] - found.differences["low"]).tolist() == pytest.approx((2 * widths).tolist())


def test_a_plan_does_not_depend_on_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, grades = world(topics=3)
    measure = parse("nDCG@10")
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    whole = plan(pairs, measure, grades, sizes, LEVELS, [30])
    monkeypatch.setattr(corrected_values, "BLOCK", 70)  # read by blocks()
    assert plan(pairs, measure, grades, sizes, LEVELS, [30]).to_numpy() == pytest.approx(whole.to_numpy())


def test_good_labels_narrow_the_interval() -> None:
    pairs, grades = world(topics=20)
    measure = parse("nDCG@10")
    drawn = sample(pairs, measure, 150, 2)
    widths = [
        (found["high"] - found["low"]).mean()
        for labels in (grades, None)
        for found in [correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS).values]
    ]
    assert widths[0] < 0.6 * widths[1]


def test_a_second_label_set_narrows_the_interval() -> None:
    """Two judges that err independently; the values by labels alone stay those of the first."""
    pairs, grades = world(topics=30)
    measure, rng = parse("nDCG@10"), np.random.default_rng(8)
    sets = np.column_stack([np.where(rng.random(len(grades)) < 0.6, grades, rng.permutation(grades)) for _ in "ab"])
    drawn = sample(pairs, measure, 200, 2)
    one, both = (
        correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS).values for labels in (sets[:, 0], sets)
    )
    assert (both["high"] - both["low"]).mean() < 0.93 * (one["high"] - one["low"]).mean()
    assert both["labels"].tolist() == one["labels"].tolist()


def test_two_systems_are_combined_by_the_variances() -> None:
    """The best linear unbiased prediction of one difference, worked out by hand."""
    predicted, shifts = np.array([0.6, 0.4]), np.array([0.02, -0.01])
    parts, unjudged = np.array([[0.02, 0.0], [0.0, 0.04]]), np.diag([1e-4, 2e-4])
    sampling, own = 0.02**2 + 0.04**2, 3e-4
    prior = own * (1 + SHARED) + (SCALE_ERROR * 0.2) ** 2
    weight = prior / (prior + sampling)
    found = combine(predicted, shifts, parts, unjudged)
    assert found.values[0] - found.values[1] == pytest.approx(0.2 + weight * 0.03)
    assert found.values.mean() == pytest.approx(0.505)
    # Intervals count the shared errors of the predictions by another multiple, which the corrections move.
    error = np.square(found.parts[0] - found.parts[1]).sum()
    least, most = (
        weight**2 * sampling + (1 - weight) ** 2 * (prior + own * (multiple - SHARED))
        for multiple in (LEAST_SHARED, SHARED_IN_INTERVALS)
    )
    assert least < error < most < sampling  # the corrections are small here
    planned = combine(predicted, None, parts, unjudged).parts
    assert np.square(planned[0] - planned[1]).sum() > error
    # Labels count by their differences on the scale of the predictions, half: here as predicted, or the opposite.
    agreed, opposed = (
        combine(predicted, shifts, parts, unjudged, np.array(labels)).values for labels in ([0.9, 0.3], [0.3, 0.9])
    )
    assert agreed.tolist() == pytest.approx(found.values.tolist())
    assert 0 < opposed[0] - opposed[1] < 0.23
    assert combine(predicted, shifts, parts, unjudged, np.full(2, np.nan)).values.tolist() == found.values.tolist()
    alone = combine(predicted[:1], shifts[:1], parts[:1], unjudged[:1, :1])
    assert alone.values.tolist() == pytest.approx([0.62])
    assert half_width(alone.parts, 0.05) == pytest.approx(half_width(parts[:1], 0.05))


def test_corrections_tell_how_much_labels_deserve() -> None:
    """The values follow the labels if corrections agree with these rather than with the model, and vice versa."""
    rng = np.random.default_rng(5)
    model, labels = rng.normal(0.5, 0.1, (2, 20))
    unjudged = np.eye(20) * 1e-5
    for truth, other in ((model, labels), (labels, model)):
        noise = rng.normal(0, 0.05, 20)
        found = combine(model, truth + noise - model, np.eye(20) * 0.05, unjudged, labels).values
        assert np.corrcoef(found, truth)[0, 1] > 0.9 > np.corrcoef(found, other)[0, 1] + 0.4


def test_intervals_follow_the_size_of_the_corrections() -> None:
    """Corrections as small as their sampling errors narrow the intervals; larger ones widen them."""
    rng = np.random.default_rng(4)
    predicted, unjudged, noise = np.full(20, 0.5), np.eye(20) * 1e-4, rng.normal(0, 1, 20)
    variances = [
        np.square(combine(predicted, shifts, np.eye(20) * 0.02, unjudged).parts).sum()
        for shifts in (noise * 0.01, None, noise * 0.1)
    ]
    assert variances[0] < 0.9 * variances[1] < 0.9 * variances[2]


def test_corrections_that_contradict_the_predictions_are_believed() -> None:
    """With errors of the corrections far smaller than they are, predictions cannot be right: nothing is shrunk."""
    rng = np.random.default_rng(3)
    shifts = rng.normal(0, 0.1, 20)
    basis = rng.normal(0, 1, (20, 200))
    found = combine(np.full(20, 0.5), shifts, np.eye(20) * 1e-3, basis @ basis.T * 1e-8)
    assert found.values - 0.5 == pytest.approx(shifts, abs=0.01)


def test_too_few_judgements_are_refused() -> None:
    pairs, grades = world(topics=2)
    drawn = sample(pairs, parse("P@10"), 19, 2)
    with pytest.raises(InputError, match="at least 20 judgements of the sample without a gap .* found 19"):
        correct(pairs, parse("P@10"), None, drawn, grades[drawn.rows], LEVELS)


@pytest.mark.slow
def test_the_threshold_gives_unbiased_sums() -> None:
    # Duffield, Lund & Thorup 2007: the sum of the sizes over the sample, each divided by its probability, is unbiased.
    sizes = np.array([0.1, 0.2, 0.5, 1.0, 1.0, 3.0, 0.05, 0.7])
    values = np.array([3.0, 1.0, 0.0, 2.0, 5.0, 1.0, 8.0, 1.0])
    sums, products = [], []
    for seed in range(4000):
        priorities = draw_priorities(sizes, seed)
        judged = np.isin(np.arange(8), np.argsort(-priorities)[:4])
        drawn = judged_sample(sizes, priorities, judged)
        weighed = values[drawn.rows] / drawn.probability
        sums.append(weighed.sum())
        products.append((weighed**2 * (1 - drawn.probability)).sum())
    assert np.mean(sums) == pytest.approx(values.sum(), abs=4 * np.std(sums) / np.sqrt(4000))
    assert np.mean(products) == pytest.approx(np.var(sums), rel=0.2)


def test_a_gap_ends_the_sample_and_judgements_before_it_are_certain() -> None:
    sizes = np.ones(5)
    priorities = np.array([9.0, 7.0, np.nan, 5.0, 3.0])
    drawn = judged_sample(sizes, priorities, np.array([True, True, True, False, True]))
    assert (drawn.rows.tolist(), drawn.before) == ([2, 0, 1], 1)
    assert drawn.probability.tolist() == [1.0, 0.2, 0.2]
    with pytest.raises(InputError):
        judged_sample(sizes, priorities[:4], np.ones(5, dtype=bool))


def test_planned_probabilities_sum_to_the_budget() -> None:
    sizes = np.array([100.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    for count in range(1, 7):
        found = expected_probabilities(sizes, count)
        assert found.sum() == pytest.approx(count)
        assert found.max() <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nDCG@10", "DCG@10", "P@10", "P(rel=2)@10"])
def test_a_plan_narrows_with_the_budget_and_is_near_what_comes(name: str) -> None:
    pairs, grades = world(topics=20)
    measure, rng = parse(name), np.random.default_rng(1)
    labels = np.where(rng.random(len(grades)) < 0.4, grades, rng.permutation(grades))
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    planned = plan(pairs, measure, labels, sizes, LEVELS, [60, 120, 240, 600])
    assert planned["judgements"].tolist() == [60, 120, 240, 600]
    assert (planned["width"].diff().dropna() < 0).all()
    assert planned["width"].iloc[-1] == planned["difference_width"].iloc[-1] == 0
    came = []
    for seed in range(5):
        drawn = sample(pairs, measure, 120, seed)
        found = correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS)
        came.append([(each["high"] - each["low"]).mean() for each in (found.values, found.differences)])
    ratios = planned[["width", "difference_width"]].iloc[1] / np.mean(came, axis=0)
    assert ratios.between(0.75, 1.9).all(), ratios.tolist()


def test_one_large_part_widens_the_interval() -> None:
    # 1.96 standard errors with many equal parts; Student's t with 2 degrees of freedom (4.303) at worst.
    assert half_width(np.full((1, 10_000), 0.01), 0.05)[0] == pytest.approx(1.96, abs=0.002)
    assert half_width(np.array([[1.0, 0.0]]), 0.05)[0] == pytest.approx(4.303, abs=0.001)


def test_labels_that_favour_a_family_are_found() -> None:
    pairs, grades = world(topics=30)
    # The labels call relevant what the first two runs have at the top.
    favoured = ((pairs.places[:2] > 0) & (pairs.places[:2] <= 5)).any(axis=0)
    labels = np.where(favoured, 3.0, grades)
    measure = parse("nDCG@10")
    drawn = sample(pairs, measure, 250, 4)
    found = find_effects(
        correct(pairs, measure, labels, drawn, grades[drawn.rows], LEVELS), {"own": ["r0", "r1"], "nobody": ["x"]}
    )
    assert set(found.gains["run"].head(2)) == {"r0", "r1"}
    assert found.families["family"].tolist() == ["own"]
    assert found.families["low"].item() > 0.1
    assert found.tau < 0.5
    assert found.decisions["pairs"].sum() == 10


def test_judgements_before_the_sample_are_no_sample() -> None:
    pairs, grades = world(topics=4)
    rows = np.arange(40)
    with pytest.raises(InputError, match="at least 20 judgements of the sample without a gap .* found 0"):
        correct(pairs, parse("P@10"), None, JudgedSample(rows, np.ones(40), 40), grades[rows], LEVELS)


@pytest.mark.parametrize("name", ["P(rel=9)@10", "DCG(gains={0:1,1:2})@5"])
def test_gains_that_tell_nothing_are_refused(name: str) -> None:
    pairs, grades = world(topics=2)
    with pytest.raises(InputError, match="expected a gain of 0 for grade 0 and others above"):
        label_values(pairs, parse(name), grades, np.array(LEVELS))


def test_one_topic_has_no_test() -> None:
    pairs, grades = world(topics=1, pool=60)
    drawn = sample(pairs, parse("P@10"), 30, 1)
    found = find_effects(correct(pairs, parse("P@10"), grades, drawn, grades[drawn.rows], LEVELS))
    assert found.decisions.empty


def test_judges_are_compared_by_their_weight_and_not_by_the_grades_that_they_give() -> None:
    """A lenient judge makes ideals larger; as good as a strict one, it buys the same."""
    pairs, grades = world(topics=20)
    measure, rng = parse("nDCG@10"), np.random.default_rng(2)
    sizes = pair_sizes(rank_weights(measure, pairs.places))
    strict = np.where(grades >= 2, grades, 0.0)
    budget = Budget(hours=1.0, money=None, seconds=30.0)
    judges = [Judge("strict", strict, 0.4, 0), Judge("lenient", np.minimum(strict + 1, 3), 0.4, 0)]
    plan = plan_budget(pairs, measure, judges, sizes, LEVELS, budget).set_index("option")
    assert plan.loc["lenient", "width"] == pytest.approx(plan.loc["strict", "width"], rel=0.05)
    assert plan.loc["strict", "width"] < plan.loc["people alone", "width"]
    noise = rng.permutation(grades)
    judges = [Judge("a", strict, 0.5, 0), Judge("b", noise, 0.0, 0), Judge("c", np.full(len(grades), np.nan), 0.5, 0)]
    plan = plan_budget(pairs, measure, judges, sizes, LEVELS, budget).set_index("option")
    assert plan.loc["b", "width"] == pytest.approx(plan.loc["people alone", "width"], rel=0.02)
    assert plan.loc["a + b + c", "width"] < plan.loc["a", "width"]
