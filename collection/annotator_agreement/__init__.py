"""Inter-annotator agreement.

    frame -> Labels (a matrix) -> Patterns -> Sums -> values of a coefficient -> Agreement

Too few or too similar labels are not an error: a coefficient without a value is nan, with a note on the reason.
"""

from collection.annotator_agreement.annotator_statistics import FEW as FEW
from collection.annotator_agreement.bootstrap import By as By, values as values
from collection.annotator_agreement.breakdowns import (
    MIN_WINDOW_PAIRS as MIN_WINDOW_PAIRS,
    Agreement as Agreement,
    AgreementOptions as AgreementOptions,
    agreement as agreement,
    break_down as break_down,
    confusion as confusion,
    disagreements as disagreements,
)
from collection.annotator_agreement.coefficients import COEFFICIENTS as COEFFICIENTS, Patterns as Patterns
from collection.annotator_agreement.interpretation import (
    describe_tau as describe_tau,
    format_with_interval as format_with_interval,
    interpret as interpret,
    select_value as select_value,
)
from collection.annotator_agreement.labels import REST as REST, Labels as Labels, select_labels as select_labels
