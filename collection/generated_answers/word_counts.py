"""Length of answers."""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Floats
from collection.generated_answers.labelled_answers import LabelledAnswers
from collection.generated_answers.registry import ANSWER_MEASURES


@ANSWER_MEASURES.add(
    "words",
    label="Number of words",
    description="Number of words in the answer.",
    reads="words",
    highest=np.inf,
    descriptive=True,
)
def words(answers: LabelledAnswers) -> Floats:
    """words = number of words, separated by white space.

    The measure has no preferred direction, because tracks limit the length, such as to 400 words in TREC RAG.
    """
    return answers.answers["words"].to_numpy(dtype=np.float64)
