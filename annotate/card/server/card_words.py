"""Words and phrases of the cards in a literature review and in the tasks of generated answers."""

from collection.core.answer_tasks import ANSWER_TASKS, NUGGET_ASSIGNMENT, SUPPORT
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
    "managers can download the qrels on the export page": (
        "managers resolve conflicts on the page Conflicts, and find the results on the page Report"
    ),
    "narrative": "criteria",
    "reference grades": "reference decisions",
    "show full text": "show whole text",
    "this campaign has no guidelines yet": "this review has no guidelines besides the question and the criteria",
    "this topic has no pool": "no record has reached this stage yet",
    "topic description": "question and criteria",
    "topic is unclear": "criteria are unclear",
    "topic words": "words of the question",
    "unjudged": "unscreened",
    "which you judged": "on which you decided",
}
"""Phrases of the cards in lower case whose words cannot be replaced one by one -> their replacements."""

_SCORES = "managers find the scores of the systems on the page Compare of the campaign"

_TASKS = {
    NUGGET_ASSIGNMENT: {
        "a long document": "a long answer",
        "cannot judge the document": "cannot tell",
        "highlights of topic words": "highlights of the nugget's words",
        "managers can download the qrels on the export page": _SCORES,
        "scroll the document": "scroll the answer",
        "this document has no text to mark": "this answer has no text to mark",
        "topic words": "words of the nugget",
    },
    SUPPORT: {
        "cannot judge the document": "cannot tell",
        "highlights of topic words": "highlights of the sentence's words",
        "managers can download the qrels on the export page": _SCORES,
        "topic words": "words of the sentence",
    },
}
"""Replacements by task of generated answers; in nugget assignment, the text on screen is the answer."""


def card_words(vocabulary: Vocabulary) -> dict[str, str]:
    """Return words and phrases of the cards in lower case -> their replacements in a campaign.

    >>> card_words(REVIEW)["documents"], card_words(RETRIEVAL)
    ('records', {})
    """
    own = _REVIEW if vocabulary is REVIEW else {}
    for name, task in ANSWER_TASKS.items():
        if vocabulary is task.vocabulary:
            own = _TASKS[name]
    return vocabulary.replacements | own
