"""The registry of adjudication rules; keyword arguments are their parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

import numpy as np

from collection.adjudication.dawid_skene import fit
from collection.adjudication.judgement_matrix import JudgementMatrix, RuleResult
from collection.core.arrays import Floats
from collection.core.errors import InputError, require_known
from collection.core.registry import Entry, Parameter, Registry

AdjudicationRule = Callable[..., RuleResult]


@dataclass(frozen=True, repr=False)
class AdjudicationEntry(Entry[AdjudicationRule]):
    """An adjudication rule; a parameter that names a person is called ``annotator``."""

    _: KW_ONLY
    adjudications: str = "no"
    """When it takes adjudications into account."""
    fractional: bool = False
    """Whether its grades have fractions."""
    estimates: bool = False
    """Whether its grades are estimated, in rounds that may end before they converge."""
    origin: str = "annotators differ; the rule chose this grade"
    """Description of a grade that the rule itself chose."""

    @property
    def traits(self) -> dict[str, str]:
        """Return whether it takes adjudications into account, and what its grades are."""
        grades = "with fractions" if self.fractional else "estimated" if self.estimates else "whole"
        return {"adjudications": self.adjudications, "grades": grades}

    @property
    def needs_annotator(self) -> bool:
        """Return whether an annotator has to be named."""
        return self.parameters.get("annotator") == ""


ADJUDICATION_RULES = Registry("adjudication rule", AdjudicationEntry, group="cleverdon.adjudication")
"""Every rule: (matrix, *, parameters) -> RuleResult."""

TiedGrades = Annotated[
    Literal["lower", "higher", "adjudicate"],
    Parameter(
        "Tied grades",
        "Grade of a pair whose most frequent grades are tied.",
        labels={"lower": "lower grade", "higher": "higher grade", "adjudicate": "no grade until adjudicated"},
    ),
]

TOLERANCE = 1e-9
"""Largest difference of equal probabilities, to allow for the rounding of sums."""


@ADJUDICATION_RULES.add(
    "adjudicated-or-majority",
    label="Adjudicated, or majority",
    description="The adjudicated grade if there is one, otherwise the grade that most annotators gave; in a tie the "
    "lower one by default.",
    adjudications="first",
)
def adjudicated_or_majority(matrix: JudgementMatrix, *, ties: TiedGrades = "lower") -> RuleResult:
    """The grade of the pair's latest adjudication (none for "cannot judge"), else that of `majority`."""
    by_majority = majority(matrix, ties=ties)
    if not matrix.ended.any():
        return by_majority
    grade = np.where(matrix.ended, matrix.adjudicated, by_majority.grade)
    return RuleResult(grade, np.where(matrix.ended, "adjudicated", by_majority.by))


@ADJUDICATION_RULES.add(
    "majority",
    label="Majority",
    description="The grade that most annotators gave; in a tie the lower one by default.",
    adjudications="in ties, with ties=adjudicate",
)
def majority(matrix: JudgementMatrix, *, ties: TiedGrades = "lower") -> RuleResult:
    """The most frequent grade of the pair; of tied grades the lower one or, with ties=higher, the higher one.

    With ties=adjudicate a tied pair has the grade of its adjudication, and no qrel before there is one.
    """
    levels, votes = matrix.votes()
    most = votes.max(axis=1, initial=0)
    leading = votes == most[:, None]
    given = votes.sum(axis=1)
    lower = leading.argmax(axis=1)
    higher = len(levels) - 1 - leading[:, ::-1].argmax(axis=1)
    tie = (leading.sum(axis=1) > 1) & (given > 0)
    grade = levels[higher if ties == "higher" else lower].astype(np.float64)
    grade[given == 0] = np.nan
    by = matrix.by(np.where(tie, "tie", "majority"))
    if ties == "adjudicate":
        grade = np.where(tie, matrix.adjudicated, grade)
        by[tie] = "adjudicated"
    return RuleResult(grade, by)


@ADJUDICATION_RULES.add(
    "latest",
    label="Latest",
    description="The grade given last, by an annotator or an adjudicator.",
    adjudications="like any other grade",
    origin="annotators differ; this grade was given last",
)
def latest(matrix: JudgementMatrix) -> RuleResult:
    """The last grade of the pair in the log, whether an annotator or an adjudicator gave it."""
    grade, at = np.full(len(matrix.pairs), np.nan), np.full(len(matrix.pairs), -1, dtype=np.int64)
    grade[matrix.pair], at[matrix.pair] = matrix.grade, matrix.at
    later = (matrix.adjudicated_at > at) & ~np.isnan(matrix.adjudicated)
    return RuleResult(np.where(later, matrix.adjudicated, grade), np.where(later, "adjudicated", matrix.by("latest")))


@ADJUDICATION_RULES.add(
    "highest",
    label="Highest",
    description="The highest grade that any annotator gave: relevant if anyone found it relevant.",
    origin="annotators differ; this is the highest grade",
)
def highest(matrix: JudgementMatrix) -> RuleResult:
    """The maximum over the annotators."""
    return RuleResult(matrix.reduce(np.maximum, -np.inf), matrix.by("highest"))


@ADJUDICATION_RULES.add(
    "lowest",
    label="Lowest",
    description="The lowest grade that any annotator gave: relevant only if all agree.",
    origin="annotators differ; this is the lowest grade",
)
def lowest(matrix: JudgementMatrix) -> RuleResult:
    """The minimum over the annotators."""
    return RuleResult(matrix.reduce(np.minimum, np.inf), matrix.by("lowest"))


@ADJUDICATION_RULES.add(
    "mean",
    label="Mean",
    description="The mean of the annotators' grades, as a fractional gain for graded measures.",
    fractional=True,
    origin="annotators differ; this is the mean of their grades",
)
def mean(matrix: JudgementMatrix) -> RuleResult:
    """The arithmetic mean over the annotators.

    Graded measures (nDCG, ERR, RBP, ...) take it as the grade. For binary measures a document is relevant if its mean
    is at least the minimum relevant grade.
    """
    given = matrix.graded_by()
    total = np.bincount(matrix.pair, weights=matrix.grade, minlength=len(matrix.pairs))
    with np.errstate(invalid="ignore"):
        grade: Floats = total / np.where(given > 0, given, np.nan)
    return RuleResult(grade, matrix.by("mean"))


@ADJUDICATION_RULES.add(
    "annotator",
    label="One annotator",
    description="The grades of one annotator; pairs that they did not grade get no qrel.",
    origin="the named annotator gave it",
)
def annotator(
    matrix: JudgementMatrix, *, annotator: Annotated[str, Parameter("Annotator", "Name of the annotator.")] = ""
) -> RuleResult:
    """The grades of the named annotator, without their adjudications.

    Raises
    ------
    InputError, UnknownNameError
        Nobody is named, or somebody who graded nothing.
    """
    if not annotator:
        among = ", ".join(matrix.annotators[:20]) or "none yet"
        raise InputError(
            f"rule annotator needs a name, as in annotator(annotator=ann); annotators with grades: {among}"
        )
    require_known("annotator with a grade", matrix.annotators, annotator)
    own = matrix.annotator == matrix.annotators.index(annotator)
    grade = np.full(len(matrix.pairs), np.nan)
    grade[matrix.pair[own]] = matrix.grade[own]
    return RuleResult(grade, np.full(len(grade), "annotator", dtype=object))


@ADJUDICATION_RULES.add(
    "dawid-skene",
    label="Dawid-Skene",
    description="The most probable grade by a model of each annotator's errors.",
    estimates=True,
    origin="annotators differ, or the model found this grade more probable than the one they agree on",
)
def dawid_skene_rule(matrix: JudgementMatrix) -> RuleResult:
    """The grade with the highest posterior probability; of equally probable ones the lower that somebody gave.

    The model estimates each annotator's error rates and the grades together, from pairs with several grades; see
    :func:`~collection.adjudication.fit_dawid_skene`. An annotator who gives the same grade to everything carries no
    information, so the estimate may differ from a grade that all annotators of a pair gave. Source: Dawid & Skene,
    "Maximum likelihood estimation of observer error-rates using the EM algorithm", Applied Statistics 28, 1979.
    """
    fitted = fit(matrix)
    top = fitted.posterior.max(axis=1, initial=0.0)
    likeliest = fitted.posterior >= top[:, None] - TOLERANCE
    given = likeliest & (matrix.votes()[1] > 0)
    best = np.where(given.any(axis=1), given.argmax(axis=1), likeliest.argmax(axis=1))
    grade = fitted.levels[best].astype(np.float64)
    grade[matrix.graded_by() == 0] = np.nan
    agreed = grade == matrix.reduce(np.maximum, -np.inf)
    by = np.where(agreed, matrix.by("dawid-skene"), "dawid-skene").astype(object)
    return RuleResult(grade, by, fitted.rounds, fitted.converged)
