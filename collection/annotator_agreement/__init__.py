"""How far annotators agree: frames of labels in, frozen results out.

    frame -> Labels (a matrix) -> Patterns -> Sums -> a coefficient's values -> Agreement

Nothing here raises for labels that are too few or too much alike: what has no value is nan, with a note that says why.
"""

from collection.annotator_agreement.annotator_statistics import FEW, Conduct
from collection.annotator_agreement.bootstrap import By, values
from collection.annotator_agreement.breakdowns import (
    Agreement,
    agreement,
    between,
    by_topic,
    confusion,
    disagreements,
    over_time,
)
from collection.annotator_agreement.coefficients import COEFFICIENTS, MEASUREMENT, Patterns, Sums
from collection.annotator_agreement.interpretation import headline, of_tau, value_of, with_interval
from collection.annotator_agreement.judging_time import Session
from collection.annotator_agreement.labels import REST, Labels, chosen

__all__ = [
    "COEFFICIENTS",
    "FEW",
    "MEASUREMENT",
    "REST",
    "Agreement",
    "By",
    "Conduct",
    "Labels",
    "Patterns",
    "Session",
    "Sums",
    "agreement",
    "between",
    "by_topic",
    "chosen",
    "confusion",
    "disagreements",
    "headline",
    "of_tau",
    "over_time",
    "value_of",
    "values",
    "with_interval",
]
