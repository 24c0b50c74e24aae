"""Expected values of measures for a partly judged pool, and the pairs to judge next.

    pool, runs, texts -describe-> Pairs
    Pairs + grades -infer-> Posterior -draw_grades-> completed judgements -> values

Usually, unjudged pairs count as not relevant. :func:`draw_values` instead draws their grades from a model fitted to the
judged pairs, and computes each measure on each draw. :func:`choose_decisive` chooses the pairs whose judgements best
tell systems apart, from the grades so far; :func:`decisive_pairs` repeats it until all are judged.
:mod:`collection.estimation` turns the values into estimates, and into an order of the systems.
"""

from collection.expected_judgements.decisive import choose_decisive as choose_decisive, decisive_pairs as decisive_pairs
from collection.expected_judgements.draws import (
    count_unlisted as count_unlisted,
    draw_values as draw_values,
    reads_unlisted as reads_unlisted,
)
from collection.expected_judgements.grades import (
    draw_grades as draw_grades,
    expected_gains as expected_gains,
    number_grades as number_grades,
)
from collection.expected_judgements.model import Posterior as Posterior, Scales as Scales, infer as infer
from collection.expected_judgements.pairs import Pairs as Pairs, describe as describe
