"""Scores by machine labels corrected with human labels of a sample, and the agreement of both."""

from dataclasses import replace

import numpy as np
import pytest

from collection.core.errors import InputError
from collection.generated_answers import (
    LabelledAnswers,
    correct_scores,
    label_agreement,
    label_answers,
    label_sizes,
    label_slopes,
    parse_answer_measure,
)
from collection.machine_labels import draw_priorities
from tests.collection.generated_answers.examples import assignments, nuggets, support_labels

RUNS, TOPICS, NUGGETS = 10, 12, 9


def world(seed: int = 0) -> LabelledAnswers:
    """Return answers of systems of different quality, with human labels of all nuggets."""
    rng = np.random.default_rng(seed)
    kinds = [
        (str(t), str(n), "vital" if rng.random() < 0.6 else "okay", np.nan)
        for t in range(TOPICS)
        for n in range(NUGGETS)
    ]
    hard = {kind[:2]: rng.random() for kind in kinds}
    labels = [
        (f"r{run}", *key, int(rng.choice([2, 1], p=[0.8, 0.2])) if rng.random() < hard[key] * (0.4 + run / 12) else 0)
        for run in range(RUNS)
        for key in hard
    ]
    return label_answers(nuggets=nuggets(kinds), nugget_assignments=assignments(labels))


def judge(labelled: LabelledAnswers, share: float, sizes: np.ndarray, seed: int) -> tuple[LabelledAnswers, np.ndarray]:
    """Return the human labels of a sampled share, and the priorities."""
    _, grades = labelled.labels("nugget assignments")
    priorities = draw_priorities(sizes, seed)
    judged = np.argsort(-priorities)[: round(share * len(grades))]
    known = np.full(len(grades), np.nan)
    known[judged] = grades[judged]
    return labelled.with_grades("nugget assignments", known), priorities


def noisy(labelled: LabelledAnswers, wrong: float, seed: int) -> LabelledAnswers:
    """Return machine labels, a share of which is random, independent of the sample."""
    rng = np.random.default_rng(seed + 1000)
    _, grades = labelled.labels("nugget assignments")
    drawn = np.where(rng.random(len(grades)) < wrong, rng.integers(0, 3, len(grades)), grades)
    return labelled.with_grades("nugget assignments", drawn)


@pytest.mark.parametrize("name", ["nugget_vital(strict)", "nugget_all", "nugget_weighted"])
def test_slopes_of_nuggets_add_up(name: str) -> None:
    labelled, measure = world(), parse_answer_measure(name)
    answer, grades = labelled.labels("nugget assignments")
    slopes = label_slopes(measure, labelled)
    summed = labelled.total(answer, (slopes * (grades[:, None] >= [1, 2])).sum(axis=1))
    assert summed == pytest.approx(measure.compute(labelled), abs=1e-12)


def test_measures_that_are_not_weighted_sums_of_labels_are_refused() -> None:
    labelled = label_answers(support=support_labels({("x", "1"): [[2, 0], [1]]}))
    assert label_slopes(parse_answer_measure("support_recall(all)"), labelled).tolist() == [
        [0.125, 0.125],
        [0.125, 0.125],
        [0.25, 0.25],
    ]
    with pytest.raises(InputError, match="not a weighted sum of their labels; use citations='all'"):
        label_slopes(parse_answer_measure("support_recall(max)"), labelled)
    with pytest.raises(InputError, match="nothing to correct"):
        label_slopes(parse_answer_measure("words"), labelled)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.long
def test_intervals_have_nominal_coverage(share: float) -> None:
    labelled, measure = world(), parse_answer_measure("nugget_all")
    sizes = label_sizes(measure, labelled)
    truth = (
        labelled.total(labelled.nuggets.answer, labelled.nuggets.credit(False) / NUGGETS)
        .reshape(RUNS, TOPICS)
        .mean(axis=1)
    )
    held, errors = [], []
    for seed in range(40):
        people, priorities = judge(labelled, share, sizes, seed)
        found = correct_scores(noisy(labelled, 0.4, seed), people, measure, sizes, priorities).values
        held.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
        errors.append((found["corrected"] - truth).to_numpy())
    assert 0.92 <= np.mean(held) <= 0.985
    assert np.abs(np.mean(errors, axis=0)).max() < 0.06


def test_complete_human_labels_give_exact_scores() -> None:
    labelled = world()
    sizes = label_sizes("nugget_vital", labelled)
    people, priorities = judge(labelled, 1, sizes, 0)
    found = correct_scores(noisy(labelled, 0.9, 1), people, "nugget_vital", sizes, priorities)
    means = parse_answer_measure("nugget_vital").compute(labelled).reshape(RUNS, TOPICS).mean(axis=1)
    assert found.values["corrected"].tolist() == pytest.approx(means.tolist(), abs=1e-12)
    assert (found.values["high"] - found.values["low"]).max() < 1e-9
    assert found.sampled == found.pairs == RUNS * TOPICS * NUGGETS


def test_good_labels_narrow_the_interval() -> None:
    labelled = world()
    sizes = label_sizes("nugget_all", labelled)
    people, priorities = judge(labelled, 0.2, sizes, 3)
    widths = [
        float((found["high"] - found["low"]).mean())
        for with_labels in (True, False)
        for found in [
            correct_scores(
                noisy(labelled, 0.1, 1), people, "nugget_all", sizes, priorities, with_labels=with_labels
            ).values
        ]
    ]
    assert widths[0] < 0.8 * widths[1]


def test_labels_from_before_the_sample_count_as_they_are() -> None:
    labelled = world()
    sizes = label_sizes("nugget_all", labelled)
    people, priorities = judge(labelled, 1, sizes, 3)
    before = np.arange(len(sizes)) < len(sizes) - 5
    found = correct_scores(labelled, people, "nugget_all", sizes, np.where(before, np.nan, priorities))
    assert (found.before, found.sampled) == (before.sum(), 5)
    assert (found.values["high"] - found.values["low"]).max() < 1e-9


def test_too_few_labels_and_other_answers_are_refused() -> None:
    labelled = world()
    sizes = label_sizes("nugget_all", labelled)
    people, priorities = judge(labelled, 0.01, sizes, 0)
    with pytest.raises(InputError, match="at least 20 labels of the sample"):
        correct_scores(labelled, people, "nugget_all", sizes, priorities)
    with pytest.raises(InputError, match="the same answers"):
        turned = replace(people, answers=people.answers[::-1].reset_index(drop=True))
        correct_scores(labelled, turned, "nugget_all", sizes, priorities)


def test_agreement_of_people_and_a_model() -> None:
    rows: list[tuple[str, str, str, int | None]] = [
        ("x", "1", "a", 2),
        ("x", "1", "b", 0),
        ("y", "1", "a", 0),
        ("y", "1", "b", 2),
    ]
    people = assignments(rows)
    model = assignments([(*row[:3], grade) for row, grade in zip(rows, (2, 0, 2, 2), strict=True)])
    values = label_agreement({"people": people, "model": model}, resamples=0).values.set_index(["scale", "coefficient"])
    assert values["value"]["graded", "observed"] == 0.75
    assert values["value"]["graded", "cohen"] == pytest.approx(0.5)
    labels = support_labels({("x", "1"): [[2, None], [1]]}).support
    found = label_agreement({"people": labels, "model": labels.assign(grade=[2, 1, 0])}, resamples=0)
    assert found.several == 2
    with pytest.raises(InputError, match="expected two or more"):
        label_agreement({"people": people})
