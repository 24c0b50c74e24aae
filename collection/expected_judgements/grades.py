"""What is expected of a pair -> the chance of every grade, and grades drawn together."""

from __future__ import annotations

import numpy as np

from collection.expected_judgements.model import Belief
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

STEEP = 3.0
"""Expected gains are from 0 to 1: so many times that, a curve's slope is free to fit them under its penalty."""


def chances(belief: Belief, gains: Floats, levels: Floats) -> Floats:
    """How likely every grade is for every pair.

    One logistic curve for each grade above the lowest says how likely that grade or a higher one is, given the
    expected gain. It is fitted to the judged pairs, each with what was expected of it without itself: so the
    chances are right on average where the Gaussian is not, which knows nothing of grades.

    Source: Platt, "Probabilistic outputs for support vector machines", 1999, for each step of the grades.

    Parameters
    ----------
    belief
        From :func:`collection.expected_judgements.believe`.
    gains
        (N,) the same gains; nan where nobody judged.
    levels
        (G,) the gains of the grades, ascending, the lowest first.

    Returns
    -------
    (N, G) float64
        Rows sum to 1; a judged pair has its grade for certain.
    """
    judged = ~np.isnan(gains)
    reached = np.zeros((len(gains), len(levels) + 1))
    reached[:, 0] = 1.0
    for place, level in enumerate(levels[1:], start=1):
        reached[:, place] = _curve(belief, gains, judged, level)
    # Curves fitted apart may cross; a higher grade is never likelier reached than a lower one.
    reached = np.minimum.accumulate(reached, axis=1)
    made = reached[:, :-1] - reached[:, 1:]
    made[judged] = np.isclose(gains[judged][:, None], levels)
    return made


def _curve(belief: Belief, gains: Floats, judged: Bools, level: float) -> Floats:
    from sklearn.linear_model import LogisticRegression

    there = gains[judged] >= level - 1e-9
    if there.all() or not there.any():
        # Nothing to tell apart: as in a Beta distribution that begins at one half.
        return np.full(len(gains), (there.sum() + 0.5) / (len(there) + 1))
    model = LogisticRegression(C=10).fit(STEEP * belief.left_out[judged][:, None], there)
    made: Floats = model.predict_proba(STEEP * belief.mean[:, None])[:, 1]
    return made


def draw(pairs: Pairs, belief: Belief, chance: Floats, draws: int, random: np.random.Generator) -> Ints:
    """Grades for all pairs at once, many times over.

    Each pair's grades come as often as their chances say. That two pairs are high together is as likely as the
    Gaussian has it (a Gaussian copula): what is not known of a topic or of a run then shows in all its documents.

    Parameters
    ----------
    pairs, belief
        N pairs and what is expected of them.
    chance
        (N, G) from :func:`chances`.
    draws
        How often.
    random
        Where the lots come from.

    Returns
    -------
    (N, draws) int64
        Places in the table of grades.
    """
    from scipy.special import ndtr

    lots = belief.pulls @ (belief.root @ random.standard_normal((len(belief.root), draws)))
    variance = np.empty(len(lots))
    for topic, rows in enumerate(pairs.members):
        # What is judged has no variance; a factor wants a little.
        within = belief.within[topic] + 1e-7 * np.eye(len(rows))
        factor = np.linalg.cholesky(within)
        lots[rows] += factor @ random.standard_normal((len(rows), draws))
        variance[rows] = np.diag(within) + ((belief.pulls[rows] @ belief.root) ** 2).sum(axis=1)
    lots /= np.sqrt(variance)[:, None]
    up_to = np.cumsum(chance, axis=1)[:, :-1]
    share = ndtr(lots)
    made = np.zeros(share.shape, dtype=np.int64)
    for edge in up_to.T:
        made += share > edge[:, None]
    return made
