"""Registry of learners, which turn labelled rows into weights of features.

All learners are linear, so that a training round is one pass over the matrix, and each score is a sum that can be
explained term by term.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats, Floats32, Ints
from collection.core.registry import Entry, Parameter, Registry

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC


class Linear(NamedTuple):
    """A linear model: a document's score is the sum of its features times `weights`."""

    weights: Floats32
    """(features,)."""


Learner = Callable[..., Linear]

C = Annotated[float, Parameter("C", "Inverse of the regularisation strength.")]
ClassRatio = Annotated[
    float, Parameter("Ratio", "Total weight of the relevant examples over that of the irrelevant ones.")
]

LEARNERS = Registry("learner", Entry[Learner], group="cleverdon.learners")
"""A learner is a function (rows (n, features) float32 CSR, relevant (n,) bool, weight (n,) float64, seed, *,
parameters) -> Linear. It is only called with at least one row of each class.

Parameters of the learners here: `c` is the inverse regularisation strength; `ratio` is the total weight of the relevant
rows divided by that of the irrelevant ones.
"""


def balance(relevant: Bools, weight: Floats, ratio: float) -> Floats:
    """Rescale row weights to mean 1, so that the relevant rows together weigh `ratio` times the irrelevant ones."""
    balanced = weight.copy()
    balanced[~relevant] *= weight[relevant].sum() / (ratio * weight[~relevant].sum())
    return balanced / balanced.mean()


def _narrow(rows: csr_matrix) -> tuple[csr_matrix, Ints]:
    """The rows restricted to the columns that occur in them, and these columns; faster than `rows[:, columns]`."""
    from scipy.sparse import csr_matrix

    occurs = np.zeros(rows.shape[1], dtype=np.bool_)
    occurs[rows.indices] = True
    columns = np.flatnonzero(occurs)
    place = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    shape = (rows.shape[0], len(columns))
    return csr_matrix((rows.data, place[rows.indices], rows.indptr), shape=shape), columns


def _spread(weights: np.ndarray, columns: Ints, features: int, elsewhere: float = 0.0) -> Linear:
    wide = np.full(features, elsewhere, dtype=np.float32)
    wide[columns] = weights
    return Linear(wide)


def _fit(model: LinearSVC | LogisticRegression, rows: csr_matrix, relevant: Bools, weight: Floats) -> Linear:
    narrow, columns = _narrow(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # full convergence is not needed
        model.fit(narrow, relevant, sample_weight=weight)
    return _spread(model.coef_[0], columns, rows.shape[1])


@LEARNERS.add(
    "svm",
    label="Linear SVM",
    description="Linear support vector machine with more weight on relevant examples; the default.",
)
def svm(
    rows: csr_matrix, relevant: Bools, weight: Floats, seed: int, *, c: C = 0.11, ratio: ClassRatio = 9.8
) -> Linear:
    """Linear support vector machine, squared hinge loss, solved in the dual.

    Source: Fan et al., LIBLINEAR, JMLR 2008; balance and C as in ASReview's ELAS u4 (asreview.ai).
    """
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=c, loss="squared_hinge", dual=True, tol=1e-3, random_state=seed)
    return _fit(model, rows, relevant, balance(relevant, weight, ratio))


@LEARNERS.add(
    "logistic",
    label="Logistic regression",
    description="Logistic regression, as in technology-assisted review (AutoTAR).",
)
def logistic(
    rows: csr_matrix, relevant: Bools, weight: Floats, seed: int, *, c: C = 1.0, ratio: ClassRatio = 1.0
) -> Linear:
    """L2-regularised logistic regression, solved in the dual.

    Source: Yu, Huang & Lin, "Dual coordinate descent methods for logistic regression", Machine Learning 2011;
    Cormack & Grossman, "Autonomy and reliability of continuous active learning", 2015.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=c, solver="liblinear", dual=True, tol=1e-3, random_state=seed)
    return _fit(model, rows, relevant, balance(relevant, weight, ratio))


@LEARNERS.add(
    "naive-bayes",
    label="Naive Bayes",
    description="Very fast, and good with few judgements; needs word features.",
)
def naive_bayes(
    rows: csr_matrix,
    relevant: Bools,
    weight: Floats,
    seed: int,
    *,
    alpha: Annotated[float, Parameter("Smoothing", "Added to the sum of each feature in either class.")] = 3.8,
    ratio: ClassRatio = 1.0,
) -> Linear:
    """Multinomial naive Bayes: a feature's weight is the logarithm of its odds between the two classes.

    Negative values of features (embeddings) count as 0. Source: McCallum &
    Nigam, AAAI workshop on learning for text categorization, 1998.
    """
    narrow, columns = _narrow(rows)
    weights = balance(relevant, weight, ratio)
    present = narrow.copy()
    np.maximum(present.data, 0, out=present.data)
    sums = [alpha + (present[which].T @ weights[which]) for which in (relevant, ~relevant)]
    # Features that occur in no row all get the same weight, which depends on the totals of the classes alone.
    totals = [np.log(s.sum() + alpha * (rows.shape[1] - len(columns))) for s in sums]
    in_relevant, in_irrelevant = (np.log(s) - total for s, total in zip(sums, totals, strict=True))
    return _spread(in_relevant - in_irrelevant, columns, rows.shape[1], elsewhere=totals[1] - totals[0])
