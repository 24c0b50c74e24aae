"""Generated answers: their scores from nugget assignments and citation support.

answers, nuggets, labels -label_answers-> LabelledAnswers -evaluate_labelled-> Evaluation, as of rankings
LabelledAnswers -leave_out_systems-> values of systems that join later
machine labels, people's labels of a sample -correct_scores-> CorrectedValues
"""

from collection.generated_answers import nuggets as nuggets, support as support, word_counts as word_counts
from collection.generated_answers.corrected_scores import (
    correct_scores as correct_scores,
    label_sizes as label_sizes,
    label_slopes as label_slopes,
)
from collection.generated_answers.evaluation import (
    DEFAULT_ANSWER_MEASURES as DEFAULT_ANSWER_MEASURES,
    MissingAnswers as MissingAnswers,
    evaluate_labelled as evaluate_labelled,
)
from collection.generated_answers.label_agreement import label_agreement as label_agreement
from collection.generated_answers.labelled_answers import (
    LabelledAnswers as LabelledAnswers,
    label_answers as label_answers,
)
from collection.generated_answers.left_out_systems import (
    leave_out_systems as leave_out_systems,
    nuggets_read as nuggets_read,
)
from collection.generated_answers.registry import (
    ANSWER_MEASURES as ANSWER_MEASURES,
    AnswerMeasure as AnswerMeasure,
    AnswerMeasureEntry as AnswerMeasureEntry,
    find_entry as find_entry,
    parse_answer_measure as parse_answer_measure,
)
