"""Labels -> weights: the models of the loop, one table.

Every learner is linear. That is what makes a round one pass over the matrix, whatever the number of documents,
and what makes each score a sum that can be explained term by term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.registry import Entry, Registry

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Linear(NamedTuple):
    """A model: a document's score is the sum of `weights` times its features."""

    weights: NDArray[np.float32]
    """(features,)."""


Learner = Callable[..., Linear]

LEARNERS = Registry("learner", Entry[Learner], group="cleverdon.learners")
"""Every learner: (rows (n, features) float32 CSR, relevant (n,) bool, weight (n,) float64, seed, *, parameters)
-> Linear. It is only called with at least one row of each class."""


def balanced(relevant: Bools, weight: Floats, ratio: float) -> Floats:
    """Weights of the examples, mean 1, with which the relevant ones weigh `ratio` times the irrelevant together."""
    made = weight.copy()
    made[~relevant] *= weight[relevant].sum() / (ratio * weight[~relevant].sum())
    return made / made.mean()


def _narrow(rows: csr_matrix) -> tuple[csr_matrix, NDArray[np.int64]]:
    """The rows with only the columns that occur in them: a fit then costs nothing for the rest of the vocabulary."""
    from scipy.sparse import csr_matrix

    there = np.zeros(rows.shape[1], dtype=np.bool_)
    there[rows.indices] = True
    columns = np.flatnonzero(there)
    place = np.cumsum(there, dtype=np.int32) - np.int32(1)
    narrow = csr_matrix((rows.data, place[rows.indices], rows.indptr), shape=(rows.shape[0], len(columns)))
    return narrow, columns


def _widen(weights: np.ndarray, columns: NDArray[np.int64], features: int) -> Linear:
    wide = np.zeros(features, dtype=np.float32)
    wide[columns] = weights
    return Linear(wide)


def _fitted(model: Any, rows: csr_matrix, relevant: Bools, weight: Floats) -> Linear:
    """The weights of a scikit-learn model; that it has not fully converged is no news worth a line in a terminal."""
    import warnings

    narrow, columns = _narrow(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(narrow, relevant, sample_weight=weight)
    return _widen(model.coef_[0], columns, rows.shape[1])


@LEARNERS.add(
    "svm",
    label="Linear SVM",
    description="Support vectors, the relevant examples weighted up: the best on nearly all collections.",
)
def svm(rows: csr_matrix, relevant: Bools, weight: Floats, seed: int, *, c: float = 0.11, ratio: float = 9.8) -> Linear:
    """Linear support vector machine, squared hinge loss, solved in the dual.

    Source: Fan et al., LIBLINEAR, JMLR 2008; balance and C as in ASReview's ELAS u4 (asreview.ai).

    Parameters
    ----------
    c
        Inverse strength of the regularisation.
    ratio
        What the relevant examples weigh together, with the irrelevant together as 1.
    """
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=c, loss="squared_hinge", dual=True, tol=1e-3, random_state=seed)
    return _fitted(model, rows, relevant, balanced(relevant, weight, ratio))


@LEARNERS.add(
    "logistic",
    label="Logistic regression",
    description="Probabilities of relevance, as in the literature on technology-assisted review (AutoTAR).",
)
def logistic(
    rows: csr_matrix, relevant: Bools, weight: Floats, seed: int, *, c: float = 1.0, ratio: float = 1.0
) -> Linear:
    """L2-regularised logistic regression, solved in the dual.

    Source: Yu, Huang & Lin, "Dual coordinate descent methods for logistic regression", Machine Learning 2011;
    Cormack & Grossman, "Autonomy and reliability of continuous active learning", 2015.

    Parameters
    ----------
    c
        Inverse strength of the regularisation.
    ratio
        What the relevant examples weigh together, with the irrelevant together as 1.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=c, solver="liblinear", dual=True, tol=1e-3, random_state=seed)
    return _fitted(model, rows, relevant, balanced(relevant, weight, ratio))


@LEARNERS.add(
    "naive-bayes",
    label="Naive Bayes",
    description="Multinomial naive Bayes: very quick, and good while few documents are judged. Needs words.",
)
def naive_bayes(
    rows: csr_matrix, relevant: Bools, weight: Floats, seed: int, *, alpha: float = 3.8, ratio: float = 1.0
) -> Linear:
    """Multinomial naive Bayes: a feature weighs the logarithm of its odds between the two classes.

    Negative features (embeddings) have no place in it: they are learned from as if they were 0. Source: McCallum &
    Nigam, AAAI workshop on learning for text categorization, 1998.

    Parameters
    ----------
    alpha
        What is added to each feature's sum in either class.
    ratio
        What the relevant examples weigh together, with the irrelevant together as 1.
    """
    narrow, columns = _narrow(rows)
    weights = balanced(relevant, weight, ratio)
    present = narrow.copy()
    np.maximum(present.data, 0, out=present.data)
    sums = [alpha + (present[of].T @ weights[of]) for of in (relevant, ~relevant)]
    unseen = rows.shape[1] - len(columns)
    of_relevant, of_irrelevant = (np.log(s) - np.log(s.sum() + alpha * unseen) for s in sums)
    wide = _widen(of_relevant - of_irrelevant, columns, rows.shape[1])
    # A feature that no example has still tells the classes apart: by their totals alone, the same for all.
    missing = np.log(sums[1].sum() + alpha * unseen) - np.log(sums[0].sum() + alpha * unseen)
    wide.weights[np.setdiff1d(np.arange(rows.shape[1]), columns, assume_unique=True)] = missing
    return wide
