"""The tasks in which annotators judge generated answers; each has its own grades and vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collection.core.characters import one_line
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.records import GradeScale
from collection.core.vocabulary import Vocabulary

__all__ = [
    "ANSWER_TASKS",
    "NUGGET_ASSIGNMENT",
    "SUPPORT",
    "AnswerTask",
    "describe_id",
    "join_sentences",
    "put_together",
    "sentence_of",
    "sentence_places",
    "topic_of",
]


@dataclass(frozen=True)
class AnswerTask:
    """A task of generated answers.

    Its pairs are judged in a campaign of its own inside that of the answers, whose accounts it shares.
    """

    name: str
    """Name of its folder, and its name in commands."""
    label: str
    """Name in the menu."""
    unit: str
    """Name of a pair: the judgement that it needs, or the document that the sentence cites."""
    grades: GradeScale
    vocabulary: Vocabulary


ANSWER_TASKS = {
    task.name: task
    for task in (
        AnswerTask(
            NUGGET_ASSIGNMENT,
            "Nugget assignment",
            "nugget assignment",
            GradeScale({0: "Not in the answer", 1: "Partly in the answer", 2: "In the answer"}),
            Vocabulary(
                document="nugget",
                documents="nuggets",
                topic="answer",
                topics="answers",
                relevant="supported",
                relevance="support",
                phrases={
                    "how relevant is this document?": "Is this nugget in the answer?",
                    "minimum relevant grade": "lowest grade that counts as in the answer",
                    "cannot judge": "cannot tell",
                    "pair of a topic and a document": "pair of an answer and a nugget",
                    "a topic": "an answer",
                    "a document": "a nugget",
                },
            ),
        ),
        AnswerTask(
            SUPPORT,
            "Support",
            "citation",
            GradeScale({0: "No support", 1: "Partial support", 2: "Full support"}),
            Vocabulary(
                document="cited document",
                documents="cited documents",
                topic="sentence",
                topics="sentences",
                relevant="supporting",
                relevance="support",
                phrases={
                    "how relevant is this document?": "Does this document support the sentence?",
                    "minimum relevant grade": "lowest grade that counts as support",
                    "cannot judge": "cannot tell",
                    "cited document": "cited document",
                    "cited documents": "cited documents",
                },
            ),
        ),
    )
}
"""Task by name. In nugget assignment, topics are answers and documents are nuggets; in support, topics are sentences
(with the answer around them) and documents are cited documents."""


def join_sentences(texts: Iterable[str]) -> str:
    r"""Return the text of an answer as annotators read and mark it, with one sentence per line.

    >>> join_sentences(["Wings lift.", "Air\nflows."])
    'Wings lift.\nAir flows.'
    """
    return "\n".join(map(one_line, texts))


def sentence_places(answer: str) -> list[tuple[int, int]]:
    r"""Return start and end, in code points, of each sentence in the text of an answer, including empty sentences.

    >>> sentence_places("Wings lift.\nAir flows.")
    [(0, 11), (12, 22)]
    """
    places, start = [], 0
    for line in answer.split("\n"):
        places.append((start, start + len(line)))
        start += len(line) + 1
    return places


def sentence_of(query_id: str) -> int | None:
    """Return the number of a sentence in its answer (from 0) from its id in the task support; None for any other id.

    >>> sentence_of("12.a385.s1"), sentence_of("12.a385")
    (0, None)
    """
    found = re.search(r"\.s([1-9]\d*)$", query_id)
    return None if found is None else int(found[1]) - 1


def describe_id(query_id: str) -> str:
    """Describe the id of an answer or sentence in words; empty for any other id.

    >>> describe_id("12.a385"), describe_id("12.a385.s1"), describe_id("12")
    ('12.a385 is answer 385 to topic 12', '12.a385.s1 is sentence 1 of answer 385 to topic 12', '')
    """
    found = re.fullmatch(r"(.*)\.a(\d+)(?:\.s(\d+))?", query_id)
    if found is None:
        return ""
    topic, answer, sentence = found.groups()
    return f"{query_id} is {f'sentence {sentence} of ' if sentence else ''}answer {answer} to topic {topic}"


def topic_of(query_id: str) -> str:
    """Return the topic of the campaign to which the id of an answer or sentence belongs.

    >>> topic_of("12.a385.s1"), topic_of("12.a385"), topic_of("12")
    ('12', '12', '12')
    """
    return re.sub(r"\.a\d+(\.s\d+)?$", "", query_id)


def put_together(query_ids: Sequence[str]) -> list[str]:
    """Return the topics of a task with the answers to the same question one after another, also those added later.

    >>> put_together(["1.a7", "2.a1", "1.a3"])
    ['1.a7', '1.a3', '2.a1']
    """
    questions = list(map(topic_of, query_ids))
    places = {question: place for place, question in reversed(list(enumerate(questions)))}
    order = sorted(range(len(query_ids)), key=lambda at: places[questions[at]])
    return [query_ids[at] for at in order]
