"""Expected grades of unjudged documents, expected values of systems, and the pairs to judge next.

    pairs, runs, texts -describe-> Pairs
    Pairs + grades -infer-> Posterior -grade_probabilities-> probabilities -draw_grades-> completed judgements -> values

Instead of taking the pairs that a small budget leaves unjudged as not relevant, their grades are drawn from a model of
the judged ones, and every measure is the mean over the draws (:func:`expected_values`). :func:`decisive_pairs` chooses
the pairs that best tell systems apart.
"""

from collection.expected_judgements.decisive import decisive_pairs
from collection.expected_judgements.grades import draw_grades, grade_probabilities
from collection.expected_judgements.model import Scales, fit_scales, infer
from collection.expected_judgements.pairs import Pairs, describe
from collection.expected_judgements.values import expected_values

__all__ = [
    "Pairs",
    "Scales",
    "decisive_pairs",
    "describe",
    "draw_grades",
    "expected_values",
    "fit_scales",
    "grade_probabilities",
    "infer",
]
