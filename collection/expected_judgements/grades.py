"""Expected gains and joint draws of grades."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.expected_judgements.model import Posterior
from collection.expected_judgements.pairs import Pairs


def number_grades(pairs: Pairs, grades: Floats, levels: Sequence[float]) -> tuple[Floats, Ints]:
    """All grades of the scale (G,), ascending, and the number in it of each grade in `grades` (N,), -1 if unjudged.

    Raises :class:`InputError` if the shape is wrong or a grade is not in `levels`.
    """
    if grades.shape != pairs.topic.shape:
        raise InputError(
            f"grades: expected one number for each of the {len(pairs.topic)} pairs, nan for unjudged ones; "
            f"found shape {grades.shape}"
        )
    scale = np.unique(np.asarray(levels, dtype=np.float64))
    judged = ~np.isnan(grades)
    strange = np.setdiff1d(grades[judged], scale)
    if len(scale) < 2 or len(strange) or scale[0] < 0:
        actual = f"{np.append(strange, scale)[0]:g}" if len(scale) else "no grades"
        raise InputError(
            f"grades: expected numbers of the scale {scale.tolist()}, at least two and none below 0; found {actual}"
        )
    return scale, np.where(judged, np.searchsorted(scale, np.where(judged, grades, scale[0])), -1)


def draw_grades(
    pairs: Pairs, posterior: Posterior, draws: int, random: np.random.Generator, *, widening: float = 1.0
) -> Ints:
    """Draw the grades of all pairs jointly, (N, draws), as numbers in the scale; judged pairs keep their grades.

    The pairs of a draw share weights and effects, so that uncertainty about a run or a topic affects all its documents.
    `widening` multiplies the variance of weights and effects.
    """
    from scipy.special import expit

    grades = np.repeat(posterior.numbers[:, None], draws, axis=1)
    away = np.sqrt(widening) * posterior.root @ random.standard_normal((len(posterior.root), draws))
    weights = posterior.weights[:, None] + away
    for rows, topic in zip(pairs.members, posterior.topics, strict=True):
        free = posterior.numbers[rows] < 0
        factor = np.sqrt(widening) * np.linalg.cholesky(topic.covariance)
        effects = factor @ random.standard_normal((len(factor), draws)) - topic.pull @ away + topic.mean[:, None]
        odds = topic.features[free] @ weights + topic.loadings[free] @ effects
        reached = random.random(odds.shape) < expit(odds)
        grades[rows[free]] = np.cumprod(reached, axis=1).sum(axis=1)
    return grades


def expected_gains(pairs: Pairs, posterior: Posterior, levels: Floats) -> tuple[Floats, list[Floats]]:
    """Expected gain of each pair (N,), and for each topic the covariance of its gains (n, n).

    The covariance is linear in the log-odds; the variance of a single gain is that of its probabilities. `levels` (G,)
    are the gains of the grades, ascending. Source of the expected probability: MacKay, "The evidence framework applied
    to classification networks", Neural Computation 1992.
    """
    from scipy.special import expit

    expected, covariances = levels[np.maximum(posterior.numbers, 0)], []
    rises = np.diff(levels)
    for rows, topic in zip(pairs.members, posterior.topics, strict=True):
        free = posterior.numbers[rows] < 0
        features, loadings = topic.features[free], topic.loadings[free]
        sensitive = (features - loadings @ topic.pull) @ posterior.root
        factor = np.linalg.cholesky(topic.covariance)
        variance = (sensitive**2).sum(axis=2) + ((loadings @ factor) ** 2).sum(axis=2)
        odds = features @ posterior.weights + loadings @ topic.mean
        chance = expit(odds / np.sqrt(1 + np.pi / 8 * variance))
        reached = np.cumprod(chance, axis=1)
        gains = levels[0] + reached @ rises
        expected[rows[free]] = gains
        above = np.cumsum((reached * rises)[:, ::-1], axis=1)[:, ::-1]
        slopes = (1 - chance) * above
        parts = np.concatenate(
            [np.einsum("nk,nkf->nf", slopes, part) for part in (sensitive, loadings @ factor)], axis=1
        )
        covariance = np.zeros((len(rows), len(rows)))
        within = parts @ parts.T
        squares = levels[0] ** 2 + reached @ np.diff(levels**2)
        # Knowing weights and effects cannot make a grade certain, so that its variance exceeds that of its expectation.
        within[np.diag_indices(len(gains))] = np.maximum(squares - gains**2, np.diag(within) * 1.001)
        covariance[np.ix_(free, free)] = within
        covariances.append(covariance)
    return expected, covariances
