"""What the unjudged documents are probably worth, what that makes of the systems, and which to judge next.

    pairs, runs, texts -describe-> Pairs
    Pairs + grades so far -believe-> Belief -chances-> chance of every grade -draw-> completed judgements -> values

A budget that is too small for the pool leaves documents without a grade. Counting them as not relevant is one guess,
and a poor one: here their grades are drawn from what the judged ones teach, and every measure is the mean over
the draws (:func:`expected_values`). :func:`decisive_pairs` spends judgements where they tell systems apart.
"""

from collection.expected_judgements.decisive import DecisivePairs, decisive_pairs
from collection.expected_judgements.grades import chances, draw
from collection.expected_judgements.model import Belief, Scales, believe, fitted
from collection.expected_judgements.pairs import Pairs, describe
from collection.expected_judgements.values import expected_values

__all__ = [
    "Belief",
    "DecisivePairs",
    "Pairs",
    "Scales",
    "believe",
    "chances",
    "decisive_pairs",
    "describe",
    "draw",
    "expected_values",
    "fitted",
]
