"""Words of the cards in a literature review."""

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
    "this topic has no pool": "no record has reached this stage yet",
    "this one has documents for you": (
        "this one has records for you: a full text is due once its title and abstract is decided"
    ),
    "topic description": "question and criteria",
    "topic is unclear": "criteria are unclear",
    "topic words": "words of the question",
    "unjudged": "unscreened",
    "which you judged": "on which you decided",
}
"""Phrases of the cards in lower case whose words cannot be replaced one by one -> their replacements."""


def card_words(vocabulary: Vocabulary) -> dict[str, str]:
    """Return words and phrases of the cards in lower case -> their replacements in a campaign.

    >>> card_words(REVIEW)["documents"], card_words(RETRIEVAL)
    ('records', {})
    """
    return vocabulary.replacements | _REVIEW if vocabulary is REVIEW else {}
