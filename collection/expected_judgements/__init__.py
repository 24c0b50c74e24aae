"""Expected values of measures for a partly judged pool, and the pairs to judge next.

    pool, runs, texts -describe-> Pairs
    Pairs + grades -infer-> Posterior -grade_probabilities-> probabilities -draw_grades-> completed judgements -> values

Usually, unjudged pairs count as not relevant. :func:`expected_values` instead draws their grades from a model fitted to
the judged pairs, and returns the mean of each measure over the draws. :func:`decisive_pairs` chooses the pairs whose
judgements best tell systems apart.
"""

from collection.expected_judgements.decisive import decisive_pairs
from collection.expected_judgements.draws import draw_values
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
    "draw_values",
    "expected_values",
    "fit_scales",
    "grade_probabilities",
    "infer",
]
