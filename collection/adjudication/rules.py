"""The table of adjudication rules; keyword arguments are their parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

import numpy as np

from collection.adjudication.dawid_skene import fit
from collection.adjudication.judgement_matrix import Floats, JudgementMatrix, RuleResult
from collection.errors import InputError, UnknownNameError
from collection.registry import Entry, Parameter, Registry

Rule = Callable[..., RuleResult]


@dataclass(frozen=True)
class RuleEntry(Entry[Rule]):
    """An adjudication rule.

    The parameter of a rule that takes the grades of one person is called ``annotator``.

    Attributes
    ----------
    adjudications
        When it takes adjudications into account.
    fractional
        Whether its grades have fractions.
    estimates
        Whether its grades are estimated, in rounds that may end before they converge.
    origin
        How the grade of a pair came about on which the rule itself decided.
    """

    _: KW_ONLY
    adjudications: str = "no"
    fractional: bool = False
    estimates: bool = False
    origin: str = "they differ, and the rule chose this grade"

    @property
    def traits(self) -> dict[str, str]:
        """Whether it takes adjudications into account, and what its grades are."""
        grades = "with fractions" if self.fractional else "estimated" if self.estimates else "whole"
        return {"adjudications": self.adjudications, "grades": grades}

    @property
    def needs_annotator(self) -> bool:
        """Whether an annotator has to be named."""
        return self.parameters.get("annotator") == ""


RULES = Registry("adjudication rule", RuleEntry, group="cleverdon.adjudication")
"""Every rule: (words, *, parameters) -> Settled."""

Ties = Annotated[
    Literal["lower", "higher", "adjudicate"],
    Parameter(
        "Tied grades",
        "The grade where several were given equally often.",
        labels={"lower": "the lower", "higher": "the higher", "adjudicate": "none before somebody adjudicates"},
    ),
]

ALIKE = 1e-9
"""Probabilities that lie no further apart are equal: the last digits of a sum decide nothing."""


@RULES.add(
    "adjudicated-or-majority",
    label="Adjudicated, or majority",
    description="The adjudicated grade where there is one, else the grade that most annotators gave.",
    adjudications="first",
)
def adjudicated_or_majority(words: JudgementMatrix, *, ties: Ties = "lower") -> RuleResult:
    """An adjudication ends the pair; all other pairs are settled by majority.

    Where the latest adjudication says that nobody can judge the pair, it has no qrel. `ties` as for `majority`.
    """
    settled = majority(words, ties=ties)
    if not words.ended.any():
        return settled
    return RuleResult(
        np.where(words.ended, words.adjudicated, settled.grade), np.where(words.ended, "adjudicated", settled.by)
    )


@RULES.add(
    "majority",
    label="Majority",
    description="The grade that most annotators gave; in a tie the lower, unless ties say otherwise.",
    adjudications="in ties, with ties=adjudicate",
)
def majority(words: JudgementMatrix, *, ties: Ties = "lower") -> RuleResult:
    """The most frequent grade of the pair.

    Of grades given equally often it is the lower, the cautious reading, or with ties=higher the higher. With
    ties=adjudicate such a pair has the grade of its adjudication, and no qrel before there is one; elsewhere
    adjudications are not looked at.
    """
    levels, votes = words.votes()
    most = votes.max(axis=1, initial=0)
    leading = votes == most[:, None]
    given = votes.sum(axis=1)
    lower = leading.argmax(axis=1)
    higher = len(levels) - 1 - leading[:, ::-1].argmax(axis=1)
    tie = (leading.sum(axis=1) > 1) & (given > 0)
    grade = levels[higher if ties == "higher" else lower].astype(np.float64)
    grade[given == 0] = np.nan
    by = words.by(np.where(tie, "tie", "majority"))
    if ties == "adjudicate":
        grade = np.where(tie, words.adjudicated, grade)
        by[tie] = "adjudicated"
    return RuleResult(grade, by)


@RULES.add(
    "latest",
    label="Latest",
    description="The grade that was given last, whoever gave it; an adjudication is a word like any other.",
    adjudications="like any other grade",
    origin="they differ, and this was said last",
)
def latest(words: JudgementMatrix) -> RuleResult:
    """The last grade on the pair in the order of the log, an annotator's or an adjudicator's."""
    grade, at = np.full(len(words.pairs), np.nan), np.full(len(words.pairs), -1, dtype=np.int64)
    grade[words.pair], at[words.pair] = words.grade, words.at
    later = (words.adjudicated_at > at) & ~np.isnan(words.adjudicated)
    return RuleResult(np.where(later, words.adjudicated, grade), np.where(later, "adjudicated", words.by("latest")))


@RULES.add(
    "highest",
    label="Highest",
    description="The highest grade that any annotator gave: nothing relevant is missed.",
    origin="they differ, and this is the highest grade",
)
def highest(words: JudgementMatrix) -> RuleResult:
    """The maximum over the annotators; adjudications are not looked at."""
    return RuleResult(words.per_pair(-np.inf, np.maximum), words.by("highest"))


@RULES.add(
    "lowest",
    label="Lowest",
    description="The lowest grade that any annotator gave: relevant only where all agree.",
    origin="they differ, and this is the lowest grade",
)
def lowest(words: JudgementMatrix) -> RuleResult:
    """The minimum over the annotators; adjudications are not looked at."""
    return RuleResult(words.per_pair(np.inf, np.minimum), words.by("lowest"))


@RULES.add(
    "mean",
    label="Mean",
    description="The mean of the annotators' grades, with its fraction, as a gain for measures of grades.",
    fractional=True,
    origin="they differ, and this is the mean of their grades",
)
def mean(words: JudgementMatrix) -> RuleResult:
    """The arithmetic mean over the annotators; adjudications are not looked at.

    Measures of grades (nDCG, ERR, RBP ...) take the mean as the grade. A measure of two values counts a document as
    relevant where its mean reaches the level: with rel=1, grades 0 and 1 make 0.5, which does not.
    """
    given = words.graded_by()
    total = np.bincount(words.pair, weights=words.grade, minlength=len(words.pairs))
    with np.errstate(invalid="ignore"):
        grade: Floats = total / np.where(given > 0, given, np.nan)
    return RuleResult(grade, words.by("mean"))


@RULES.add(
    "annotator",
    label="One annotator",
    description="The grades of one named annotator; pairs that they did not grade have no qrel.",
    origin="the named annotator gave it",
)
def annotator(words: JudgementMatrix, *, annotator: Annotated[str, Parameter("Annotator")] = "") -> RuleResult:
    """What the named annotator said, nobody else, and not what they adjudicated.

    Raises
    ------
    InputError, UnknownNameError
        Nobody is named, or somebody who graded nothing.
    """
    if not annotator:
        among = ", ".join(words.annotators[:20]) or "nobody yet"
        raise InputError(f"the rule annotator needs the name of one, as annotator(annotator=ann); who graded: {among}")
    if annotator not in words.annotators:
        raise UnknownNameError("annotator with a grade", annotator, words.annotators)
    theirs = words.annotator == words.annotators.index(annotator)
    grade = np.full(len(words.pairs), np.nan)
    grade[words.pair[theirs]] = words.grade[theirs]
    return RuleResult(grade, np.full(len(grade), "annotator", dtype=object))


@RULES.add(
    "dawid-skene",
    label="Dawid-Skene",
    description="The most probable grade by a model that learns from all pairs how each annotator errs.",
    estimates=True,
    origin="the model found it likelier than what the annotators agree on, or they differ",
)
def dawid_skene_rule(words: JudgementMatrix) -> RuleResult:
    """The grade with the highest posterior probability; of equally probable ones the lower that somebody gave.

    Adjudications are not looked at. See :func:`~collection.adjudication.fit_dawid_skene` for the model and source. It
    learns from pairs that several annotators graded; with few of those it says little. To the model somebody who gives
    one grade to everything says nothing at all, so it may overrule a lone grade, and even one that several agree on.
    """
    fitted = fit(words)
    top = fitted.posterior.max(axis=1, initial=0.0)
    likeliest = fitted.posterior >= top[:, None] - ALIKE
    given = likeliest & (words.votes()[1] > 0)
    best = np.where(given.any(axis=1), given.argmax(axis=1), likeliest.argmax(axis=1))
    grade = fitted.levels[best].astype(np.float64)
    grade[words.graded_by() == 0] = np.nan
    agreed = grade == words.per_pair(-np.inf, np.maximum)
    by = np.where(agreed, words.by("dawid-skene"), "dawid-skene").astype(object)
    return RuleResult(grade, by, fitted.rounds, fitted.converged)
