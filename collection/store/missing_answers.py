"""Answers to questions that are asked at the grade of a judgement, and judgements without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from collection.core.records import HIGHEST_GRADE, QRELS_ANNOTATOR
from collection.store.connection import Repository, is_held_back, json_text


class AskedQuestion(NamedTuple):
    """A question by its name, the lowest and highest grade at which it is asked, and its topics; empty: all."""

    name: str
    lowest: int = 0
    highest: int = HIGHEST_GRADE
    topics: tuple[str, ...] = ()


class AnswerCount(NamedTuple):
    """An annotator's current judgements at whose grade a question is asked, and those of them with an answer."""

    question: str
    annotator: str
    asked: int
    answered: int


# Current judgements `j` of annotators, which `l` names.
_CURRENT = """
    latest_judgements AS l CROSS JOIN judgements AS j ON j.id = l.judgement
    AND l.counts_as = 'judgement' AND NOT l.undone AND j.kind = 'graded'
"""
_IS_ASKED = """
    j.relevance BETWEEN json_extract(q.value, '$[1]') AND json_extract(q.value, '$[2]')
    AND (json_array_length(q.value, '$[3]') = 0 OR l.topic IN (
        SELECT topic FROM topics WHERE query_id IN (SELECT value FROM json_each(q.value, '$[3]'))))
"""
_HAS_NO_ANSWER = "NOT EXISTS (SELECT 1 FROM json_each(j.answers) AS a WHERE a.key = json_extract(q.value, '$[0]'))"
_IS_INCOMPLETE = f"EXISTS (SELECT 1 FROM json_each(:asked) AS q WHERE {_IS_ASKED} AND {_HAS_NO_ANSWER})"
"""Whether a judgement `j` lacks the answer to one of the questions `:asked`."""


class MissingAnswerTables(Repository):
    """Judgements without an answer to a question that is asked at their grade."""

    def find(self, query_id: str, annotator: str, asked: Iterable[AskedQuestion]) -> dict[str, float | None]:
        """Return the documents of an annotator's current judgements in a topic that lack an answer.

        Each with the time at which the annotator skipped it last, in seconds since 1970, or None; those that were never
        skipped first, oldest judgement first. Documents whose text is missing are left out.
        """
        return self.connection.mapping(
            f"""
            SELECT d.doc_id, (SELECT max(skipped_at) FROM skips AS s WHERE s.topic = l.topic AND s.doc = l.doc
                              AND s.annotator = l.annotator) AS skipped
            FROM {_CURRENT} CROSS JOIN documents AS d ON d.doc = l.doc
            WHERE l.annotator = :annotator AND l.topic = (SELECT topic FROM topics WHERE query_id = :query_id)
            AND {_IS_INCOMPLETE} AND NOT {is_held_back("l.doc")} ORDER BY skipped, l.judgement
            """,
            {"annotator": annotator, "query_id": query_id, "asked": json_text(asked)},
        )

    def count(
        self, annotator: str, asked: Iterable[AskedQuestion], query_ids: Iterable[str] | None = None
    ) -> dict[str, tuple[int, int]]:
        """Count an annotator's current judgements that lack an answer, by topic: pooled ones, and all.

        Of the topics `query_ids` or of every topic; topics without any are missing, and so are held-back documents.
        """
        # The plus sign has SQLite look up the topics, not all that the annotator has judged.
        some = "l.topic IN (SELECT topic FROM topics WHERE query_id IN (SELECT value FROM json_each(:ids)))"
        whose = "l.annotator" if query_ids is None else f"{some} AND +l.annotator"
        rows = self.connection.execute(
            f"""
            SELECT t.query_id, sum(EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = l.topic AND p.doc = l.doc
                                           AND p.wanted > 0)), count(*)
            FROM {_CURRENT} JOIN topics AS t ON t.topic = l.topic
            WHERE {whose} = :annotator
            AND {_IS_INCOMPLETE} AND NOT {is_held_back("l.doc")} GROUP BY l.topic ORDER BY l.topic
            """,
            {"annotator": annotator, "asked": json_text(asked), "ids": json_text(query_ids or ())},
        )
        return {query_id: (pooled, every) for query_id, pooled, every in rows}

    def count_by_annotator(self, asked: Iterable[AskedQuestion]) -> list[AnswerCount]:
        """Count what each annotator was asked and has answered, by question in the order of `asked`, then by name.

        Imported qrels are left out.
        """
        rows = self.connection.execute(
            f"""
            SELECT json_extract(q.value, '$[0]'), l.annotator, count(*), sum(NOT {_HAS_NO_ANSWER})
            FROM json_each(:asked) AS q CROSS JOIN {_CURRENT}
            WHERE {_IS_ASKED} AND l.annotator NOT GLOB :qrels GROUP BY q.key, l.annotator ORDER BY q.key, l.annotator
            """,
            {"asked": json_text(asked), "qrels": f"{QRELS_ANNOTATOR}*"},
        )
        return list(map(AnswerCount._make, rows))
