r"""The program trec_eval 10: its measures under their names, its options and its output.

>>> import pandas as pd
>>> from collection.core.ranking import rank_run
>>> from collection.core.records import Run
>>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 0]})
>>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [2.0, 1.0]})
>>> columns = choose(["recip_rank", "P.1,2"]).columns
>>> evaluation = evaluate(qrels, Run("mine", rank_run(run)), columns, "qrels", TrecOptions())
>>> for line in format_lines(evaluation, by_topic=False, with_summary=True):
...     print(line.replace("\t", " | "))
recip_rank             | all | 0.5000
P_1                    | all | 0.0000
P_2                    | all | 0.5000
"""

from collection.interfaces.trec_eval.arguments import (
    ChosenColumns as ChosenColumns,
    OutputColumn as OutputColumn,
    choose as choose,
)
from collection.interfaces.trec_eval.evaluation import (
    RunEvaluation as RunEvaluation,
    TrecOptions as TrecOptions,
    evaluate as evaluate,
    format_lines as format_lines,
    to_z_scores as to_z_scores,
)
from collection.interfaces.trec_eval.measures import (
    NICKNAMES as NICKNAMES,
    TREC_MEASURES as TREC_MEASURES,
    TrecMeasure as TrecMeasure,
)
