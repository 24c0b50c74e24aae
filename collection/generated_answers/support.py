"""Support of sentences by their citations."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats
from collection.generated_answers.labelled_answers import LabelledAnswers
from collection.generated_answers.registry import ANSWER_MEASURES
from collection.measures import divide

Citations = Literal["first", "all", "max", "micro"]
Unjudged = Literal["leave-out", "zero"]


class _Sums(NamedTuple):
    """(A,) each: credit, number of judged sentences or citations, and number of sentences without citations."""

    credit: Floats
    judged: Floats
    uncited: Floats


def _is_read(answers: LabelledAnswers, citations: Citations = "first", **_: object) -> Bools:
    """(C,) whether a measure reads a citation: all of them, or only the first of each sentence."""
    return answers.support.first | (citations != "first")


def _sums(answers: LabelledAnswers, citations: Citations, strict: bool, unjudged: Unjudged) -> _Sums:
    support = answers.support
    size = len(support.answer)
    cited = np.bincount(support.sentence, minlength=size) > 0
    credit = support.credit(strict)
    if unjudged == "zero":
        credit = np.nan_to_num(credit)
    counted = ~np.isnan(credit) & _is_read(answers, citations)
    sentence, credit = support.sentence[counted], credit[counted]
    number = np.bincount(sentence, minlength=size).astype(np.float64)
    total = np.bincount(sentence, credit, size).astype(np.float64)
    if citations == "max":
        total = np.zeros(size)
        np.maximum.at(total, sentence, credit)
    elif citations == "all":
        total = divide(total, number)
    judged = number if citations == "micro" else (number > 0).astype(np.float64)
    return _Sums(*(answers.total(support.answer, part) for part in (total, judged, (~cited).astype(np.float64))))


@ANSWER_MEASURES.add(
    "support_precision",
    label="Support precision",
    description="Share of an answer's judged citations that support their sentence.",
    reads="support",
    chosen=_is_read,
)
def support_precision(
    answers: LabelledAnswers,
    *,
    citations: Citations = "first",
    strict: bool = False,
    unjudged: Unjudged = "leave-out",
) -> Floats:
    """support_precision = (credit of the sentences) / (number of sentences with a judged citation).

    Credit is 1 for full support, .5 for partial support (0 if strict=True), and 0 for no support. The credit of a
    sentence is that of its first citation, the mean over its judged citations (citations='all') or their maximum
    ('max'). With citations='micro', each judged citation counts separately. Unjudged citations are left out, or count
    as no support (unjudged='zero'). An answer has the value 0 if it has no citations, or if its labels say that none
    was judged (-1).

    Source: Thakur et al., "Support evaluation for the TREC 2024 RAG track: comparing human versus LLM judges",
    arXiv 2504.15205, for first citations (weighted precision).
    """
    sums = _sums(answers, citations, strict, unjudged)
    return divide(sums.credit, sums.judged)


@ANSWER_MEASURES.add(
    "support_recall",
    label="Support recall",
    description="Share of an answer's sentences that their citations support.",
    reads="support",
    chosen=_is_read,
)
def support_recall(
    answers: LabelledAnswers,
    *,
    citations: Citations = "first",
    strict: bool = False,
    unjudged: Unjudged = "leave-out",
) -> Floats:
    """support_recall = (credit of the sentences) / (number of sentences).

    Credit is that of support_precision; sentences without citations have credit 0. Cited sentences without a judged
    citation (citations='first': without a judged first citation) are left out, or have credit 0 if unjudged='zero'.
    With citations='micro', the divisor is the number of judged citations plus that of sentences without citations.

    Source: Thakur et al., arXiv 2504.15205, for first citations (weighted recall).
    """
    sums = _sums(answers, citations, strict, unjudged)
    return divide(sums.credit, sums.judged + sums.uncited)
