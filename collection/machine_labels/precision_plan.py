"""Plans of human judgements next to machine labels: the interval that a number of judgements or a budget buys.

Before anybody judges, people's grade of a pair is taken as its label with the probability of a weight, otherwise as
that of a random pair. Variances of corrected and combined values follow from that and from the probabilities of the
sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.expected_judgements import Pairs
from collection.machine_labels.combined_values import combine
from collection.machine_labels.corrected_values import LEAST_SAMPLE, blocks, spread
from collection.machine_labels.estimated_values import estimate_values
from collection.machine_labels.human_sample import expected_probabilities
from collection.machine_labels.predicted_grades import label_steps, nearest_grades
from collection.measures import Measure

LABEL_WEIGHT = 1 / 3
"""How far labels are trusted before anybody has judged, between 0 and 1; see :func:`plan`."""

PLAN_ASSUMES = (
    "95% intervals as expected before anybody judges, if labels tell as much about people's grades as those of the "
    "judges of LLMJudge 2024"
)
"""What a plan shows, and the assumption behind it."""


CORRELATION_OF_RANKS, WEIGHT_OF_CORRELATION = 0.26, 1.2
"""Correlation of labels with people's grades above which they tell more than ranks and topics, and the weight by which
each further point counts; fitted on TREC DL 2019 to the widths with each of 13 judges."""

PRIOR_PAIRS = 50
"""Pairs for which :data:`LABEL_WEIGHT` counts when people have judged some."""

BETWEEN = 0.6
"""Correlation between two judges of which one has not labelled yet; .54 in LLMJudge 2024, .69 on TREC DL 2019."""

PEOPLE_ALONE = "people alone"

COLUMNS = ["width", "difference_width", "combined_width", "combined_difference_width"]


def plan(
    pairs: Pairs,
    measure: Measure,
    labels: Floats | None,
    sizes: Floats,
    levels: Sequence[float],
    counts: Sequence[int],
    *,
    weights: Sequence[float] | None = None,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Expected width of the intervals for several numbers of human judgements, before anybody judges.

    People's grade of a pair is taken as its label with the probability of a weight, otherwise as that of a random
    pair. The default, :data:`LABEL_WEIGHT`, was chosen on TREC DL 2019 with labels of the quality that the judges of
    LLMJudge 2024 have. Several label sets count by their multiple correlation with people, :func:`joint_weights`.

    Parameters
    ----------
    labels
        (N,) or (N, J) machine labels, nan without one; None without labels.
    sizes
        (N,) sizes of the sample (:func:`.pair_sizes`).
    counts
        Numbers of judgements.
    weights
        (J,) how far people's grades follow each label set, between 0 and 1, such as Cohen's kappa; 0 for judgements
        without labels, of which only the distribution is used.

    Returns
    -------
    DataFrame
        ``judgements``, ``share`` (of all pairs), ``width`` (of the interval of a corrected value, mean over the runs),
        ``difference_width`` (of that of a difference of two runs), ``combined_width`` and
        ``combined_difference_width`` (those of combined values).
    """
    scale = np.unique(np.asarray([0.0, *levels]))
    steps = _expected_steps(labels, weights, scale, len(pairs.topic))
    every, topics = np.arange(len(pairs.topic)), int(pairs.topic.max()) + 1
    errors = np.empty(pairs.places.shape)
    estimates = estimate_values(measure, pairs.places, pairs.topic, steps, scale)
    for block in blocks(every, len(pairs.runs)):
        errors[:, block] = spread(estimates.slopes(block), steps[block])
    errors /= topics
    predicted = estimates.values.mean(axis=1)
    rows = []
    for number in counts:
        p = expected_probabilities(sizes, number)
        parts, unjudged = errors * np.sqrt((1 - p) / p), errors * np.sqrt(1 - p)
        # As few parts as runs, with the same products.
        spreads, directions = np.linalg.eigh(parts @ parts.T)
        few = directions * np.sqrt(np.maximum(spreads, 0))
        combined = combine(predicted, None, few, unjudged @ unjudged.T).parts
        widths = [each for errors_of in (few, combined) for each in _mean_widths(errors_of, alpha)]
        rows.append((min(number, len(every)), min(1.0, number / len(every)), *widths))
    return pd.DataFrame(rows, columns=["judgements", "share", *COLUMNS])


def joint_weights(labels: Floats, weights: Sequence[float]) -> Floats:
    """(J,) weights of label sets used together, each at least 0; their sum is the weight of all of them.

    The sum is the multiple correlation of the sets with people's grades, from the weight of each and from the
    correlations between the sets: sets that repeat each other add little.

    >>> twice = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> joint_weights(twice, [0.4, 0.4]).sum().round(6)
    np.float64(0.4)
    >>> apart = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> joint_weights(apart, [0.3, 0.4]).sum().round(6)
    np.float64(0.5)
    """
    known = ~np.isnan(labels)
    mean = np.where(known, labels, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    apart = np.where(known, labels - mean, 0.0)
    size = np.maximum(np.linalg.norm(apart, axis=0), 1e-9)  # 0 where all labels are the same
    between = (apart.T @ apart) / np.outer(size, size)
    np.fill_diagonal(between, 1.0)
    alone = np.asarray(weights, dtype=np.float64)
    shares = np.maximum(np.linalg.pinv(between, rcond=1e-6, hermitian=True) @ alone, 0)
    together = min(1.0, max(float(np.sqrt(max(float(shares @ alone), 0.0))), float(alone.max())))
    return np.asarray(shares * (together / max(float(shares.sum()), 1e-300)))


def _expected_steps(labels: Floats | None, weights: Sequence[float] | None, scale: Floats, number: int) -> Floats:
    """(N, G) probabilities of people's grades before anybody judges."""
    if labels is None:
        return np.full((number, len(scale) - 1), 0.05)
    sets = labels[:, None] if labels.ndim == 1 else labels
    trusted = [LABEL_WEIGHT] * sets.shape[1] if weights is None else weights
    each = joint_weights(sets, trusted)
    given = [label_steps(column, scale) for column in sets.T]
    usual = np.clip(np.mean(given, axis=0).mean(axis=0), 0.05, 0.95)
    steps: Floats = (1 - each.sum()) * usual + np.tensordot(each, np.array(given), axes=1)
    return steps


def _mean_widths(parts: Floats, alpha: float) -> tuple[float, float]:
    """Mean width of the intervals of R values, and of their differences, from (R, n) parts."""
    # The variance of a difference from the products of all runs, which are fewer than the pairs of runs.
    products = parts @ parts.T
    own, (one, other) = np.diag(products), np.triu_indices(len(parts), 1)
    between = own[one] + own[other] - 2 * products[one, other]
    z = NormalDist().inv_cdf(1 - alpha / 2)
    value, difference = (
        2 * z * float(np.sqrt(np.maximum(each, 0)).mean()) if len(each) else np.nan for each in (own, between)
    )
    return value, difference


class Judge(NamedTuple):
    """A label set, or a model that may make one."""

    name: str
    labels: Floats
    """(N,) its labels, nan where it has none yet."""
    weight: float
    """Weight of its labels in people's grades, between 0 and 1."""
    cost: float
    """Money for the labels that it does not have yet."""
    unpriced: int = 0
    """Number of the labels that it does not have yet if their price is unknown, so that they cost nothing here."""


class Budget(NamedTuple):
    """Time and money for judgements and labels."""

    hours: float | None
    """Hours of people's work; None if they are not limited."""
    money: float | None
    """None if it is not limited."""
    seconds: float
    """Seconds of work per judgement."""
    wage: float = 0.0
    """Money per hour of work."""

    def judgements(self, labels: float) -> int:
        """Number of judgements that it pays, after labels of this cost; -1 if it does not pay the labels.

        >>> Budget(hours=10, money=100, seconds=36, wage=20).judgements(labels=40)
        300
        """
        left = np.inf if self.money is None else self.money - labels
        if left < 0:
            return -1
        hours = np.inf if self.hours is None else self.hours
        hours = min(hours, left / self.wage) if self.wage else hours
        return int(min(hours * 3600 / self.seconds + 1e-9, 1e12))


def weight_of_labels(labels: Floats, grades: Floats) -> float:
    """Weight of labels for a plan, from the pairs that also have people's grades; nan is none.

    With few pairs, it is drawn towards :data:`LABEL_WEIGHT`.
    """
    both = ~np.isnan(labels) & ~np.isnan(grades)
    number = int(both.sum())
    if number < 2 or not np.std(labels[both]) or not np.std(grades[both]):
        return LABEL_WEIGHT
    own = weight_of_correlation(float(np.corrcoef(labels[both], grades[both])[0, 1]))
    return (number * own + PRIOR_PAIRS * LABEL_WEIGHT) / (number + PRIOR_PAIRS)


def weight_of_correlation(correlation: float) -> float:
    """Weight for a plan, from the correlation (Pearson) of labels with people's grades.

    >>> weight_of_correlation(0.2), round(weight_of_correlation(0.75), 3)
    (0.0, 0.588)
    """
    return float(np.clip(WEIGHT_OF_CORRELATION * (correlation - CORRELATION_OF_RANKS), 0, 1))


def plan_budget(
    pairs: Pairs, measure: Measure, judges: Sequence[Judge], sizes: Floats, levels: Sequence[float], budget: Budget
) -> pd.DataFrame:
    """Compare what people alone, each judge, and all judges together buy for a budget.

    Returns
    -------
    DataFrame
        One row per option: ``option``, ``labels`` (money), ``unpriced`` (number of labels whose price is unknown,
        which are not in the money), ``judgements`` (-1 if the labels cost more than there is), ``hours``, ``money``,
        ``share`` and the widths of :func:`plan`, nan with fewer than :data:`LEAST_SAMPLE` judgements; ``best`` for the
        narrowest interval of a combined difference.

    Raises
    ------
    InputError
        Neither hours nor money, so that nothing is limited.
    """
    if budget.hours is None and not (budget.money is not None and budget.wage):
        raise InputError("expected a number of hours, or an amount of money with a wage, found neither")
    unknown = Judge("", np.full(len(pairs.topic), np.nan), 0.0, 0.0)
    known = _completed(judges or [unknown], levels)
    options = [(PEOPLE_ALONE, list[Judge]()), *((each.name, [each]) for each in known if judges)]
    if len(judges) > 1:
        options.append((" + ".join(each.name for each in known), known))
    rows = list[list[object]]()
    for name, members in options:
        cost = sum(each.cost for each in members)
        number = min(budget.judgements(cost), len(pairs.topic))
        hours = max(number, 0) * budget.seconds / 3600
        unpriced = sum(each.unpriced for each in members)
        row: list[object] = [name, cost, unpriced, number, hours, cost + hours * budget.wage]
        if number < min(LEAST_SAMPLE, len(pairs.topic)):
            rows.append([*row, *[np.nan] * 5])
            continue
        # The labels of every judge tell how many pairs are relevant, also to people alone.
        read = members or known
        labels = np.column_stack([each.labels for each in read])
        weights = [each.weight if members else 0.0 for each in read]
        planned = plan(pairs, measure, labels, sizes, levels, [number], weights=weights)
        rows.append([*row, *planned[["share", *COLUMNS]].iloc[0]])
    columns = ["option", "labels", "unpriced", "judgements", "hours", "money", "share", *COLUMNS]
    table = pd.DataFrame(rows, columns=columns)
    ranking = table["combined_difference_width"].fillna(table["combined_width"])
    # Of equal ones, as when everything is judged, the first: people alone.
    return table.assign(best=(table.index == ranking.idxmin()) if ranking.notna().any() else False)


def find_unpriced(planned: pd.DataFrame) -> list[str]:
    """A sentence on the labels in a plan of :func:`plan_budget` that cost nothing since their price is unknown."""
    judges = planned.iloc[1 : max(len(planned) - 1, 2)]  # without people alone, and without all judges together
    unpriced = judges[judges["unpriced"] > 0]
    if unpriced.empty:
        return []
    missing = [f"{number:,} of {name}" for name, number in zip(unpriced["option"], unpriced["unpriced"], strict=True)]
    return [f"labels still to be made count as free, since no price or cost is known: {join(missing, 'and')}"]


def _completed(judges: Sequence[Judge], levels: Sequence[float]) -> list[Judge]:
    """The judges with a label for every pair, drawn where they have none, and with the same number of each grade.

    Without the same numbers, a judge that calls more documents relevant would seem to narrow the intervals. Drawn
    labels follow another judge with the probability :data:`BETWEEN`, and are else drawn from the known ones; if no
    judge has labels, half of them are the lowest grade.
    """
    rng, scale = np.random.default_rng(0), np.unique(np.asarray(levels))
    known = [each.labels[~np.isnan(each.labels)] for each in judges]
    grades = [scale[nearest_grades(each, scale)] for each in known if len(each)]
    every = np.concatenate(grades) if grades else np.concatenate([np.full(len(scale), scale[0]), scale])
    first = next((each.labels for each in judges if not np.isnan(each.labels).all()), None)
    completed = list[Judge]()
    for judge in judges:
        missing, drawn = np.isnan(judge.labels), rng.choice(every, len(judge.labels))
        if first is not None:
            drawn = np.where((rng.random(len(missing)) < BETWEEN) & ~np.isnan(first), first, drawn)
        labels = np.where(missing, drawn, judge.labels)
        first = labels if first is None else first
        order = np.lexsort((rng.random(len(labels)), labels))
        labels[order] = np.quantile(every, (np.arange(len(labels)) + 0.5) / len(labels), method="inverted_cdf")
        completed.append(judge._replace(labels=labels))
    return completed
