"""Expected values of measures for a partly judged pool, and the pairs to judge next.

    pool, runs, texts -describe-> Pairs
    Pairs + grades -infer-> Posterior -draw_grades-> completed judgements -> values

Usually, unjudged pairs count as not relevant. :func:`expected_values` instead draws their grades from a model fitted to
the judged pairs, and returns the mean of each measure over the draws. :func:`choose_decisive` chooses the pairs whose
judgements best tell systems apart, from the grades so far; :func:`decisive_pairs` repeats it until all are judged.
:func:`judge_order` says how sure the order of the systems is, and whether judging may stop.
"""

from collection.expected_judgements.decisive import choose_decisive, decisive_pairs
from collection.expected_judgements.draws import draw_values
from collection.expected_judgements.grades import draw_grades, expected_gains, number_grades
from collection.expected_judgements.model import Posterior, Scales, infer
from collection.expected_judgements.order import SystemOrder, judge_order
from collection.expected_judgements.pairs import Pairs, describe
from collection.expected_judgements.values import expected_values

__all__ = [
    "Pairs",
    "Posterior",
    "Scales",
    "SystemOrder",
    "choose_decisive",
    "decisive_pairs",
    "describe",
    "draw_grades",
    "draw_values",
    "expected_gains",
    "expected_values",
    "infer",
    "judge_order",
    "number_grades",
]
