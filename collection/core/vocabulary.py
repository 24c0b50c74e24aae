"""Words of pages and messages: those of information retrieval, or those of a literature review."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

from collection.core import phrases

_VERBATIM = r"`[^`]*`|--[a-z][\w-]*|[^\s`]*\w\.[a-z]\w*"
"""Commands, options and file names, which no vocabulary changes."""


@dataclass(frozen=True)
class Vocabulary:
    """Words that differ between campaigns; nouns in the singular and plural, in lower case.

    `phrases` maps whole phrases of information retrieval to other phrases, where word by word would be wrong.

    Examples
    --------
    >>> REVIEW.count_documents(2), RETRIEVAL.count_documents(1)
    ('2 records', '1 document')
    >>> REVIEW.apply("Judgements of the annotators, by topic")
    'Decisions of the screeners, by stage'
    >>> REVIEW.apply("documents.ris: 2 documents; `cleverdon remove DIR --documents-in FILE` removes the documents")
    'documents.ris: 2 records; `cleverdon remove DIR --documents-in FILE` removes the records'
    """

    document: str = "document"
    documents: str = "documents"
    pair: str = "pair"
    pairs: str = "pairs"
    judgement: str = "judgement"
    judgements: str = "judgements"
    judge: str = "judge"
    judged: str = "judged"
    judging: str = "judging"
    grade: str = "grade"
    grades: str = "grades"
    graded: str = "graded"
    annotator: str = "annotator"
    annotators: str = "annotators"
    topic: str = "topic"
    topics: str = "topics"
    relevant: str = "relevant"
    relevance: str = "relevance"
    adjudicate: str = "adjudicate"
    adjudicated: str = "adjudicated"
    adjudication: str = "adjudication"
    phrases: Mapping[str, str] = field(default_factory=dict, hash=False)

    def count_documents(self, number: int) -> str:
        """A number of documents in words."""
        return phrases.count(number, self.document, self.documents)

    def count_pairs(self, number: int) -> str:
        """A number of pairs of a topic and a document in words."""
        return phrases.count(number, self.pair, self.pairs)

    def count_judgements(self, number: int) -> str:
        """A number of judgements in words."""
        return phrases.count(number, self.judgement, self.judgements)

    def apply(self, text: str) -> str:
        """Return a text of Cleverdon in this vocabulary instead of that of information retrieval; not for users' texts.

        Commands in backticks, options and names of files stay.
        """
        return self._pattern.sub(self._replace, text) if self.replacements else text

    def _replace(self, found: re.Match[str]) -> str:
        if found["verbatim"]:
            return found[0]
        word = self.replacements[found[0].lower()]
        return word[0].upper() + word[1:] if found[0][0].isupper() else word

    @cached_property
    def replacements(self) -> dict[str, str]:
        """Words and phrases of information retrieval -> those of this vocabulary, where they differ."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "phrases"}
        return {**self.phrases, **{name: word for name, word in own.items() if name != word}}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The words and phrases, the longest first."""
        longest = sorted(self.replacements, key=len, reverse=True)
        return re.compile(rf"(?P<verbatim>{_VERBATIM})|\b(?:{'|'.join(map(re.escape, longest))})\b", re.I)


RETRIEVAL = Vocabulary()
"""Words of test collections, the default."""

REVIEW = Vocabulary(
    document="record",
    documents="records",
    pair="record",
    pairs="records",
    judgement="decision",
    judgements="decisions",
    judge="screen",
    judged="screened",
    judging="screening",
    grade="decision",
    grades="decisions",
    graded="screened",
    annotator="screener",
    annotators="screeners",
    topic="stage",
    topics="stages",
    relevant="included",
    relevance="inclusion",
    adjudicate="resolve",
    adjudicated="resolved",
    adjudication="resolution",
    phrases={
        "pair of annotators": "pair of screeners",
        "pairs of annotators": "pairs of screeners",
        "pairs of runs": "pairs of runs",
        "minimum relevant grade": "lowest decision that counts as included",
        "grade 1 or more": "maybe or include",
        "across grade 1": "between exclude and the others",
        "build the campaign, judge, adjudicate and": "set up the review, screen, resolve conflicts and",
        "cannot judge": "cannot decide",
        "judge assigned topics and": "screen records and",
        "adjudicator": "resolved by",
    },
)
"""Words of literature reviews."""
