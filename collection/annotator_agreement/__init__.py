"""Inter-annotator agreement.

    frame -> Labels (a matrix) -> Patterns -> Sums -> values of a coefficient -> Agreement

Too few or too similar labels are not an error: a coefficient without a value is nan, with a note on the reason.
"""

from collection.annotator_agreement.annotator_statistics import FEW
from collection.annotator_agreement.bootstrap import By, values
from collection.annotator_agreement.breakdowns import (
    MIN_WINDOW_PAIRS,
    Agreement,
    agreement,
    break_down,
    confusion,
    disagreements,
)
from collection.annotator_agreement.coefficients import COEFFICIENTS, Patterns
from collection.annotator_agreement.interpretation import describe_tau, format_with_interval, interpret, select_value
from collection.annotator_agreement.labels import REST, Labels, select_labels
