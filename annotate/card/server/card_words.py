"""Words of a card in a literature review, in place of those of information retrieval."""

from collection.core.vocabulary import REVIEW, Vocabulary

_REVIEW = {
    "an annotator": "a screener",
    "an unjudged": "an unscreened",
    "a relevant": "an included",
    "adjudicated grade": "final decision",
    "adjudicated grades are in the qrels on the export page": "decisions are on the page Report",
    "adjudication": "decision",
    "adjudications": "decisions",
    "documents appear here after a manager has added topics and a pool, and assigned topics to you": (
        "records appear here after a manager has imported them"
    ),
    "final grade": "final decision",
    "give this grade": "make this decision",
    "grade again": "decide again",
    "grade it again": "decide again",
    "how relevant is this document?": "Does this record meet the criteria?",
    "judge": "screen",
    "judges": "screens",
    "managers can download the qrels on the export page": "managers find the results on the page Report",
    "narrative": "criteria",
    "reference grades": "reference decisions",
    "show full text": "show whole text",
    "this topic has no pool": "no record has come to this stage yet",
    "this one has documents for you": (
        "this one has records for you: a full text is due once its title and abstract is decided"
    ),
    "topic description": "question and criteria",
    "topic is unclear": "criteria are unclear",
    "topic words": "words of the question",
    "unjudged": "unscreened",
    "which you judged": "on which you decided",
}
"""Phrases of the cards that take more than a change of a noun or verb, in lower case."""


def card_words(vocabulary: Vocabulary) -> dict[str, str]:
    """Words and phrases of the cards that differ in a campaign, in lower case, with those in their place.

    >>> card_words(REVIEW)["documents"], card_words(RETRIEVAL)
    ('records', {})
    """
    return vocabulary.replacements | _REVIEW if vocabulary is REVIEW else {}
