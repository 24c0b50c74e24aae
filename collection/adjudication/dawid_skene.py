"""Dawid and Skene's model of annotators' errors.

Source: A. P. Dawid and A. M. Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm,
Journal of the Royal Statistical Society C 28(1), 1979, 20-28.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.adjudication.judgement_matrix import GradeArray, JudgementMatrix
from collection.core.arrays import Floats

LEAST = 1e-10
"""Instead of a count of 0 of an annotator's grade for a true grade, so that nothing becomes impossible."""

ROUNDS = 10_000
TOLERANCE = 1e-9
"""Change of the probabilities below which EM has converged."""


class DawidSkene(NamedTuple):
    """Estimates of the model.

    Attributes
    ----------
    posterior
        ``query_id``, ``doc_id``, and a column for each grade: the probability that it is the true one. One row per
        graded pair, in order of the first.
    errors
        ``annotator``, ``true``, ``said``, ``probability``, which sums to 1 for each annotator and true grade.
    priors
        Frequency of each true grade.
    rounds, converged
        Number of rounds of EM, and whether it converged.
    """

    posterior: pd.DataFrame
    errors: pd.DataFrame
    priors: pd.Series
    rounds: int
    converged: bool


class Fit(NamedTuple):
    """The same as arrays: P pairs, A annotators, K grades."""

    levels: GradeArray
    posterior: Floats
    """(P, K)"""
    errors: Floats
    """(A, K said, K true)"""
    priors: Floats
    rounds: int
    converged: bool


def fit_dawid_skene(judgements: pd.DataFrame) -> DawidSkene:
    """Estimate the true grades and each annotator's errors by EM.

    Given the true grade, annotators err independently, each with their own probabilities. EM starts from the shares of
    votes, which fixes the meaning of the grades, and finds a local maximum of the likelihood. Takes judgements as
    :func:`collection.adjudication.adjudicate`; adjudications are ignored.

    Examples
    --------
    On x bob says 1 and the others 0:

    >>> import pandas as pd
    >>> said = {"ann": "1100", "bob": "1101", "cat": "1100"}
    >>> rows = [(who, "1", doc, int(g)) for who, grades in said.items() for doc, g in zip("uvwx", grades)]
    >>> frame = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id", "relevance"]).assign(kind="graded")
    >>> found = fit_dawid_skene(frame)
    >>> found.posterior[["doc_id", 0, 1]].round(3).values.tolist()
    [['u', 0.0, 1.0], ['v', 0.0, 1.0], ['w', 1.0, 0.0], ['x', 1.0, 0.0]]
    >>> found.errors.query("annotator == 'bob' and true == 0")[["said", "probability"]].round(3).values.tolist()
    [[0.0, 0.5], [1.0, 0.5]]
    """
    matrix = JudgementMatrix.of(judgements)
    fitted = fit(matrix)
    levels = fitted.levels.tolist()
    posterior = pd.concat([matrix.pairs, pd.DataFrame(fitted.posterior, columns=levels)], axis=1)
    index = pd.MultiIndex.from_product([matrix.annotators, levels, levels], names=["annotator", "true", "said"])
    errors = fitted.errors.transpose(0, 2, 1).reshape(-1)
    return DawidSkene(
        posterior[matrix.graded_by() > 0].reset_index(drop=True),
        pd.DataFrame({"probability": errors}, index=index).reset_index(),
        pd.Series(fitted.priors, index=levels, name="prior"),
        fitted.rounds,
        fitted.converged,
    )


def fit(matrix: JudgementMatrix) -> Fit:
    """Fit the model, with the same digits whatever the order of the judgements: pairs are sorted first."""
    from scipy.sparse import csr_array

    levels, votes = matrix.votes()
    size, annotators = len(levels), len(matrix.annotators)
    if not len(matrix.pair):
        return Fit(levels, np.zeros((len(matrix.pairs), size)), np.zeros((0, size, size)), np.zeros(size), 0, True)
    names = matrix.pairs["query_id"].astype(str) + "\t" + matrix.pairs["doc_id"].astype(str)
    order = np.argsort(names.to_numpy(dtype=object), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    cell_numbers = matrix.annotator * size + np.searchsorted(levels, matrix.grade)
    cells = (np.ones(len(cell_numbers)), (place[matrix.pair], cell_numbers))
    given = csr_array(cells, shape=(len(order), annotators * size))
    given.sum_duplicates()
    back = csr_array(given.T)
    occurs = np.bincount(cell_numbers, minlength=annotators * size)[:, None] > 0
    votes = votes[order]
    known = votes.sum(axis=1) > 0
    posterior = np.where(known[:, None], votes / np.maximum(votes.sum(axis=1), 1)[:, None], 0.0)

    def maximise() -> tuple[Floats, Floats]:
        counts = np.where(occurs, np.maximum(back @ posterior, LEAST), 0.0).reshape(annotators, size, size)
        return posterior[known].mean(axis=0), counts / counts.sum(axis=1, keepdims=True)

    priors, errors = maximise()
    rounds, moved = 0, np.inf
    while rounds < ROUNDS and moved > TOLERANCE:
        # Cells that an annotator never gives are met by no row of `given`.
        logs = np.log(errors.reshape(annotators * size, size), out=np.zeros((annotators * size, size)), where=occurs)
        likely = given @ logs + np.log(np.maximum(priors, LEAST))
        likely = np.exp(likely - likely.max(axis=1, keepdims=True))
        now = np.where(known[:, None], likely / likely.sum(axis=1, keepdims=True), 0.0)
        moved = float(np.abs(now - posterior).max())
        posterior = now
        priors, errors = maximise()
        rounds += 1
    return Fit(levels, posterior[place], errors, priors, rounds, moved <= TOLERANCE)
