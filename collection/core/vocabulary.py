"""Words of pages and messages: those of information retrieval, or those of a literature review."""

from __future__ import annotations

from dataclasses import dataclass

from collection.core import phrases


@dataclass(frozen=True)
class Vocabulary:
    """Words that differ between campaigns; nouns in the singular and plural, in lower case.

    Examples
    --------
    >>> REVIEW.count_documents(2), RETRIEVAL.count_judgements(1)
    ('2 records', '1 judgement')
    """

    document: str
    documents: str
    judgement: str
    judgements: str
    judge: str
    judged: str
    judging: str
    annotator: str
    annotators: str
    topic: str
    topics: str
    relevant: str
    adjudicate: str
    adjudicated: str

    def count_documents(self, number: int) -> str:
        """A number of documents in words."""
        return phrases.count(number, self.document, self.documents)

    def count_judgements(self, number: int) -> str:
        """A number of judgements in words."""
        return phrases.count(number, self.judgement, self.judgements)


RETRIEVAL = Vocabulary(
    document="document",
    documents="documents",
    judgement="judgement",
    judgements="judgements",
    judge="judge",
    judged="judged",
    judging="judging",
    annotator="annotator",
    annotators="annotators",
    topic="topic",
    topics="topics",
    relevant="relevant",
    adjudicate="adjudicate",
    adjudicated="adjudicated",
)
"""Words of test collections, the default."""

REVIEW = Vocabulary(
    document="record",
    documents="records",
    judgement="decision",
    judgements="decisions",
    judge="screen",
    judged="screened",
    judging="screening",
    annotator="screener",
    annotators="screeners",
    topic="stage",
    topics="stages",
    relevant="included",
    adjudicate="resolve",
    adjudicated="resolved",
)
"""Words of literature reviews."""
