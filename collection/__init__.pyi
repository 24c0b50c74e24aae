from .api import (
    adjudicate as adjudicate,
    agreement as agreement,
    assess_reusability as assess_reusability,
    compare as compare,
    estimate as estimate,
    evaluate as evaluate,
    evaluate_answers as evaluate_answers,
    explain as explain,
    pool as pool,
    read_documents as read_documents,
    simulate as simulate,
)
from .campaign import Campaign as Campaign
from .core.errors import CleverdonError as CleverdonError
from .core.questions import Question as Question
from .core.records import (
    Document as Document,
    GradeScale as GradeScale,
    Judgement as Judgement,
    Run as Run,
    Topic as Topic,
)
from .formats import (
    read_labels as read_labels,
    read_qrels as read_qrels,
    read_run as read_run,
    read_topics as read_topics,
    to_pyterrier as to_pyterrier,
    write_qrels as write_qrels,
)

__version__: str
