"""What the unjudged documents are probably worth, what that makes of the systems, and which to judge next.

    pairs, runs, texts -describe-> Pairs
    Pairs + grades so far -believe-> Belief -chances-> chance of every grade -draw-> completed judgements -> values

A budget that is too small for the pool leaves documents without a grade. Counting them as not relevant is one guess,
and a poor one: here their grades are drawn from what the judged ones teach, and every measure is the mean over
the draws (:func:`expected_values`). :func:`deciding` spends judgements where they tell systems apart.
"""

from collection.expecting.deciding import Deciding, deciding
from collection.expecting.grades import chances, draw
from collection.expecting.model import Belief, Scales, believe, fitted
from collection.expecting.pairs import Pairs, describe
from collection.expecting.values import expected_gains, expected_values

__all__ = [
    "Belief",
    "Deciding",
    "Pairs",
    "Scales",
    "believe",
    "chances",
    "deciding",
    "describe",
    "draw",
    "expected_gains",
    "expected_values",
    "fitted",
]
