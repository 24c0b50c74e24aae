"""Probabilities of grades from expected gains, and joint draws of grades."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collection.errors import InputError
from collection.expected_judgements.model import Posterior
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

STEEP = 3.0
"""Factor of the expected gains (from 0 to 1), so that regularisation does not limit the slope of a curve."""


def scale_gains(pairs: Pairs, grades: Floats, levels: Sequence[float]) -> tuple[Floats, Floats]:
    """All grades of the scale (G,), ascending, and `grades` (N,) as gains from 0 to 1, nan if unjudged.

    Raises :class:`InputError` if the shape is wrong or a grade is not in `levels`.
    """
    if grades.shape != pairs.topic.shape:
        raise InputError(
            f"grades: expected one number for each of the {len(pairs.topic)} pairs, nan for unjudged ones; "
            f"found shape {grades.shape}"
        )
    scale = np.unique(np.asarray(levels, dtype=np.float64))
    strange = np.setdiff1d(grades[~np.isnan(grades)], scale)
    if not len(scale) or len(strange) or scale[0] < 0:
        found = ", ".join(f"{grade:g}" for grade in np.append(strange, scale)[:1]) or "no grades"
        raise InputError(f"grades: expected numbers of the scale {scale.tolist()}, none below 0; found {found}")
    return scale, grades / max(float(scale[-1]), 1e-12)


def grade_probabilities(posterior: Posterior, gains: Floats, levels: Floats) -> Floats:
    """Estimate the probability of each grade for each pair, (N, G); a judged pair has 1 at its grade.

    For each grade above the lowest, a logistic curve turns the expected gain into the probability of that grade or a
    higher one. The curves are fitted to the leave-one-out expectations of the judged pairs, which calibrates the
    Gaussian.

    `gains` (N,) are those from which `posterior` was inferred; `levels` (G,) are the gains of the grades, ascending.

    Source: Platt, "Probabilistic outputs for support vector machines", 1999, applied to each step between grades.
    """
    judged = ~np.isnan(gains)
    reached = np.zeros((len(gains), len(levels) + 1))
    reached[:, 0] = 1.0
    for place, level in enumerate(levels[1:], start=1):
        reached[:, place] = _fit_curve(posterior, gains, judged, level)
    # Curves fitted separately may cross, but the probability of reaching a grade cannot rise with the grade.
    reached = np.minimum.accumulate(reached, axis=1)
    probabilities = reached[:, :-1] - reached[:, 1:]
    probabilities[judged] = np.isclose(gains[judged][:, None], levels)
    return probabilities


def _fit_curve(posterior: Posterior, gains: Floats, judged: Bools, level: float) -> Floats:
    from sklearn.linear_model import LogisticRegression

    reached = gains[judged] >= level - 1e-9
    if reached.all() or not reached.any():
        # With one class only, use the posterior mean of a Beta(1/2, 1/2) prior.
        return np.full(len(gains), (reached.sum() + 0.5) / (len(reached) + 1))
    model = LogisticRegression(C=10).fit(STEEP * posterior.left_out[judged][:, None], reached)
    curve: Floats = model.predict_proba(STEEP * posterior.mean[:, None])[:, 1]
    return curve


def draw_grades(
    pairs: Pairs, posterior: Posterior, probabilities: Floats, draws: int, random: np.random.Generator
) -> Ints:
    """Draw the grades of all pairs jointly, (N, draws), as column numbers of the probabilities (N, G).

    A Gaussian copula: the marginals are `probabilities`, and the dependence is that of `posterior`, so that uncertainty
    about a topic or a run affects all its documents.
    """
    from scipy.special import ndtr

    normal = posterior.loadings @ (posterior.root @ random.standard_normal((len(posterior.root), draws)))
    variance = np.empty(len(normal))
    for topic, rows in enumerate(pairs.members):
        # Judged pairs have no variance, but the Cholesky factorisation needs some.
        within = posterior.within[topic] + 1e-7 * np.eye(len(rows))
        factor = np.linalg.cholesky(within)
        normal[rows] += factor @ random.standard_normal((len(rows), draws))
        variance[rows] = np.diag(within) + ((posterior.loadings[rows] @ posterior.root) ** 2).sum(axis=1)
    uniform = ndtr(normal / np.sqrt(variance)[:, None])
    grades = np.zeros(uniform.shape, dtype=np.int64)
    for edge in np.cumsum(probabilities, axis=1)[:, :-1].T:
        grades += uniform > edge[:, None]
    return grades
