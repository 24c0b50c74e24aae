"""Nuggets that answers contain."""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Floats
from collection.generated_answers.labelled_answers import LabelledAnswers
from collection.generated_answers.registry import ANSWER_MEASURES
from collection.measures import divide


def _mean_credit(answers: LabelledAnswers, weight: Floats, strict: bool) -> Floats:
    """(A,) mean credit of each answer's nuggets by (N,) weights; negative weights do not count in the divisor."""
    nuggets = answers.nuggets
    weight = weight * nuggets.labelled
    return divide(
        answers.total(nuggets.answer, weight * nuggets.credit(strict)),
        answers.total(nuggets.answer, np.maximum(weight, 0)),
    )


@ANSWER_MEASURES.add(
    "nugget_vital",
    label="Vital nugget score",
    description="Share of the topic's vital nuggets that the answer contains.",
    reads="nugget assignments",
    chosen=lambda answers, **_: answers.nuggets.vital,
)
def nugget_vital(answers: LabelledAnswers, *, strict: bool = False) -> Floats:
    """nugget_vital = (credit of the vital nuggets) / (number of vital nuggets of the topic).

    Credit is 1 for a nugget in the answer (support), .5 for a nugget that is partly in it (partial support; 0 if
    strict=True), and 0 for any other label. A nugget without a nugget assignment for the answer is left out. If no
    vital nugget has one, the answer has no value. A topic without vital nuggets has the value 0.

    Source: Pradeep, Thakur, Upadhyay, Campos, Craswell & Lin, "Initial nugget evaluation results for the TREC 2024 RAG
    track with the AutoNuggetizer framework", arXiv 2411.09607, where strict=True is V_strict.
    """
    return _mean_credit(answers, answers.nuggets.vital.astype(np.float64), strict)


@ANSWER_MEASURES.add(
    "nugget_all",
    label="All-nugget score",
    description="Share of all nuggets of the topic that the answer contains, vital or not.",
    reads="nugget assignments",
    chosen=lambda answers, **_: ~(answers.nuggets.weight < 0),
)
def nugget_all(answers: LabelledAnswers, *, strict: bool = False) -> Floats:
    """nugget_all = (credit of the nuggets) / (number of nuggets of the topic).

    Credit is that of nugget_vital. Nuggets of unknown importance count. Nuggets with a negative weight do not count,
    because an answer should not contain them.

    Source: Pradeep et al., arXiv 2411.09607 (A and A_strict).
    """
    return _mean_credit(answers, np.where(answers.nuggets.weight < 0, 0.0, 1.0), strict)


@ANSWER_MEASURES.add(
    "nugget_weighted",
    label="Weighted nugget score",
    description="Share of the topic's nuggets that the answer contains; an okay nugget counts half of a vital one.",
    reads="nugget assignments",
    chosen=lambda answers, **_: answers.nuggets.vital | answers.nuggets.okay,
)
def nugget_weighted(answers: LabelledAnswers, *, strict: bool = False) -> Floats:
    """nugget_weighted = (vital credit + okay credit / 2) / (vital nuggets + okay nuggets / 2).

    Credit is that of nugget_vital. Nuggets of unknown importance do not count.

    Source: Pradeep et al., arXiv 2411.09607 (W and W_strict).
    """
    return _mean_credit(answers, answers.nuggets.vital + 0.5 * answers.nuggets.okay, strict)


@ANSWER_MEASURES.add(
    "rubric",
    label="Rubric score",
    description="Weighted share of the rubric's criteria that the answer meets; negative criteria are subtracted.",
    reads="weighted nuggets",
    lowest=-np.inf,
    chosen=lambda answers, **_: np.nan_to_num(answers.nuggets.weight) != 0,
)
def rubric(answers: LabelledAnswers, *, strict: bool = False) -> Floats:
    """rubric = (sum of weight * credit) / (sum of the positive weights of the topic).

    Credit is that of nugget_vital. Criteria with a negative weight lower the value, which may be negative. Criteria
    without a weight do not count. For the supportive score of TREC DRAGUN, divide the weight of each question (4, 2 or
    1) by its number of short answers.

    Source: Sharma et al., "ResearchRubrics: a benchmark of prompts and rubrics for evaluating deep research agents",
    arXiv 2511.07685 (strict=True is its binary grading); Zhang, Smucker & Clarke, arXiv 2602.24277, for DRAGUN.
    """
    return _mean_credit(answers, np.nan_to_num(answers.nuggets.weight), strict)
