"""Dawid and Skene's model of annotators who err, each in their own way.

Source: A. P. Dawid and A. M. Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm,
Journal of the Royal Statistical Society C 28(1), 1979, 20-28.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.adjudication.judgement_matrix import Floats, Ints, JudgementMatrix

LEAST = 1e-10
"""A grade that an annotator gave for some true grade in no case has this count: nothing is impossible for good."""

ROUNDS = 10_000
TOLERANCE = 1e-9
"""EM ends when no probability of any pair moves further, or after so many rounds."""


class DawidSkene(NamedTuple):
    """What the model says.

    Attributes
    ----------
    posterior
        ``query_id``, ``doc_id``, and a column for each grade that anybody gave: the probability that it is the true
        one. One row per pair with a grade, in order of the first.
    errors
        ``annotator``, ``true``, ``said``, ``probability``: how often the annotator says one grade where another is the
        true one. For each annotator and true grade the probabilities sum to 1.
    priors
        How frequent each grade is among the pairs.
    rounds, converged
        How many rounds EM took, and whether it came to rest.
    """

    posterior: pd.DataFrame
    errors: pd.DataFrame
    priors: pd.Series
    rounds: int
    converged: bool


class Fit(NamedTuple):
    """The same as arrays: P pairs, A annotators, K grades."""

    levels: Ints
    posterior: Floats
    """(P, K)"""
    errors: Floats
    """(A, K said, K true)"""
    priors: Floats
    rounds: int
    converged: bool


def fit_dawid_skene(judgements: pd.DataFrame) -> DawidSkene:
    """Estimate by EM what the true grades are and how each annotator errs.

    Every annotator has a table of probabilities, of saying one grade where another is the true one; given the true
    grade, annotators err independently. EM starts from the shares of votes, reckons in logarithms, and finds a local
    maximum of the likelihood. Which grades mean what comes from that start: where most annotators err, so does it.

    Parameters
    ----------
    judgements
        As for :func:`collection.adjudication.adjudicate`; adjudications are not looked at.

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
    words = JudgementMatrix.of(judgements)
    fitted = fit(words)
    graded = words.graded_by() > 0
    levels = [int(level) for level in fitted.levels]
    posterior = pd.concat([words.pairs, pd.DataFrame(fitted.posterior, columns=levels)], axis=1)
    size = len(levels)
    # (annotator, true, said), as the columns name them
    errors = fitted.errors.transpose(0, 2, 1)
    table = pd.DataFrame(
        {
            "annotator": np.repeat(np.array(words.annotators, dtype=object), size * size),
            "true": np.tile(np.repeat(levels, size), len(words.annotators)),
            "said": np.tile(levels, size * len(words.annotators)),
            "probability": errors.reshape(-1),
        }
    )
    return DawidSkene(
        posterior[graded].reset_index(drop=True),
        table,
        pd.Series(fitted.priors, index=levels, name="prior"),
        fitted.rounds,
        fitted.converged,
    )


def fit(words: JudgementMatrix) -> Fit:
    """The model over the annotators' grades.

    A row of the matrix below is a pair, a column a grade that one annotator gives; the same rows in another order give
    the same digits, since pairs, annotators and grades are put into an order of their own first.
    """
    from scipy.sparse import csr_array

    levels, votes = words.votes()
    size, annotators = len(levels), len(words.annotators)
    if not len(words.pair):
        return Fit(levels, np.zeros((len(words.pairs), size)), np.zeros((0, size, size)), np.zeros(size), 0, True)
    names = words.pairs["query_id"].astype(str) + "\t" + words.pairs["doc_id"].astype(str)
    order = np.argsort(names.to_numpy(dtype=object), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    said = words.annotator * size + np.searchsorted(levels, words.grade)
    cells = (np.ones(len(said)), (place[words.pair], said))
    given = csr_array(cells, shape=(len(order), annotators * size))
    given.sum_duplicates()
    back = csr_array(given.T)
    occurs = np.bincount(said, minlength=annotators * size)[:, None] > 0
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
