"""Generated answers, and the log of nuggets."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd

from collection.core import clock
from collection.core.answers import same_words
from collection.core.errors import ConflictError
from collection.store.connection import Repository, json_text, topic_condition, writes
from collection.store.corpus import Added

EditKind = Literal["added", "changed", "merged", "split", "moved", "deleted", "undone"]
"""Kinds of rows of the log of nuggets."""

FEW_NUMBERS = 900
"""Minimum number of random numbers, from 100, for the answers of a topic; at least four per answer it ever had."""


class Nugget(NamedTuple):
    """A nugget as an edit leaves it.

    `version` starts at 1 and increases when the text changes; `sources` are (doc_id, start, end) in characters of the
    text as it is shown, with start and end None for a whole document; `origins` are the nuggets that it was merged or
    split from; `fields` are further fields of a nugget bank, such as a question and its answers.
    """

    query_id: str
    nugget: str
    text: str
    importance: str = ""
    weight: float | None = None
    position: float = 0.0
    version: int = 1
    deleted: bool = False
    sources: tuple[tuple[str, int | None, int | None], ...] = ()
    origins: tuple[str, ...] = ()
    fields: Mapping[str, Any] = {}


class NuggetEdit(NamedTuple):
    """A row of the log: a nugget after an edit, with kind, annotator and time (UTC) of the edit.

    `edit` is the uuid of the edit, which may have several rows; rows that undo it have the same.
    """

    nugget: Nugget
    kind: EditKind
    annotator: str
    edited_at: str
    edit: str


_NUGGET = (
    "SELECT t.query_id, n.nugget, n.text, n.importance, n.weight, n.position, n.version, n.deleted, n.sources, "
    "n.origins, n.fields{more} FROM {table} AS n JOIN topics AS t USING (topic) WHERE {condition} ORDER BY {order}"
)


class AnswerTables(Repository):
    """Generated answers, and the log of nuggets."""

    @writes
    def add(self, answers: pd.DataFrame, sentences: pd.DataFrame, *, replace: bool = False) -> Added:
        """Add answers (:data:`~collection.core.frames.ANSWERS`) with their sentences.

        An answer of the same run and topic with another text is replaced, and then has another number, or raises
        ConflictError. One whose whole text is known as a single sentence without citations is the same as one with
        the same words in sentences: it gets these, and keeps its number. The topics are in the campaign.
        """
        texts: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in sentences.sort_values(["run", "query_id", "sentence"], kind="stable").to_dict("records"):
            texts.setdefault((row["run"], row["query_id"]), []).append((row["text"], json_text(row["citations"])))
        new = changed = same = 0
        taken = self._numbers()
        for query_id, rows in answers.groupby("query_id", sort=False):
            topic = self.connection.topic_key(str(query_id))
            numbers = taken.setdefault(str(query_id), set())
            existing, most = self._texts(topic), len(rows) + len(numbers)
            for row in rows.to_dict("records"):
                text = texts.get((row["run"], row["query_id"]), [])
                known = existing.get(row["run"])
                if known is not None and known[1] == text:
                    same += 1
                    continue
                stated = None if pd.isna(row["stated_words"]) else int(row["stated_words"])
                values = {"team": row["team"], "words": int(row["words"]), "stated_words": stated}
                if known is not None and _have_same_words(known[1], text):
                    if _is_undivided(text):
                        same += 1
                    else:
                        self._divide(known[0], values, text)
                        changed += 1
                    continue
                if known is not None:
                    if not replace:
                        raise ConflictError(
                            f"the campaign already has another answer of run {row['run']!r} to topic {query_id!r}; use "
                            "--replace"
                        )
                    self._remove(known[0])
                changed, new = changed + (known is not None), new + (known is None)
                number = _free_number(numbers, most)
                answer = self.connection.insert("answers", {
                    "topic": topic, "run": row["run"], **values, "number": number,
                })  # fmt: skip
                self._add_sentences(answer, text)
        return Added(new, changed, same)

    def _divide(self, answer: int, values: Mapping[str, str | int | None], text: list[tuple[str, str]]) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self.connection.execute(f"UPDATE answers SET {columns} WHERE answer = ?", (*values.values(), answer))
        self.connection.execute("DELETE FROM answer_sentences WHERE answer = ?", (answer,))
        self._add_sentences(answer, text)

    def _add_sentences(self, answer: int | None, text: list[tuple[str, str]]) -> None:
        self.connection.executemany(
            "INSERT INTO answer_sentences (answer, sentence, text, citations) VALUES (?, ?, ?, ?)",
            [(answer, place, *sentence) for place, sentence in enumerate(text)],
        )

    def _numbers(self) -> dict[str, set[int]]:
        numbers: dict[str, set[int]] = {}
        for query_id, number in self.connection.execute(
            "SELECT t.query_id, a.number FROM answers AS a JOIN topics AS t USING (topic) ORDER BY a.answer"
        ):
            numbers.setdefault(query_id, set()).add(number)
        return numbers

    def _texts(self, topic: int | None) -> dict[str, tuple[int, list[tuple[str, str]]]]:
        """Return key, and text and citations of each sentence, of the answers to a topic, by run."""
        texts: dict[str, tuple[int, list[tuple[str, str]]]] = {}
        for run, answer, text, citations in self.connection.execute(
            "SELECT a.run, a.answer, s.text, s.citations FROM answers AS a "
            "LEFT JOIN answer_sentences AS s USING (answer) WHERE a.topic = ? AND NOT a.removed "
            "ORDER BY a.answer, s.sentence",
            (topic,),
        ):
            sentences = texts.setdefault(run, (answer, []))[1]
            if text is not None:
                sentences.append((text, citations))
        return texts

    @writes
    def remove_runs(self, runs: Iterable[str]) -> int:
        """Remove the answers of runs; return their number."""
        keys = self.connection.column(
            "SELECT answer FROM answers WHERE NOT removed AND run IN (SELECT value FROM json_each(?)) ORDER BY answer",
            (json_text(runs),),
        )
        for answer in keys:
            self._remove(answer)
        return len(keys)

    def _remove(self, answer: int) -> None:
        self.connection.execute("UPDATE answers SET removed = 1 WHERE answer = ?", (answer,))

    def version(self) -> tuple[int, ...]:
        """Return numbers that change with every answer, its division into sentences, and every edit of a nugget."""
        row = self.connection.execute(
            "SELECT (SELECT count(*) FROM answers), (SELECT total(removed) FROM answers), "
            "(SELECT total(length(citations)) FROM answer_sentences), (SELECT coalesce(max(id), 0) FROM nugget_log)"
        ).fetchone()
        return tuple(map(int, row))

    def exist(self) -> bool:
        """Tell whether the campaign has answers."""
        return self.connection.exists("SELECT EXISTS (SELECT 1 FROM answers WHERE NOT removed)")

    def count(self) -> int:
        """Return the number of answers."""
        return int(self.connection.execute("SELECT count(*) FROM answers WHERE NOT removed").fetchone()[0])

    def answers(self, query_ids: str | Collection[str] | None = None) -> pd.DataFrame:
        """Return ``run``, ``query_id``, ``team``, ``words``, ``stated_words`` (Int64), ``number``.

        Sorted by topic, and in each topic by number, which is a random order.
        """
        condition, parameters = topic_condition(query_ids)
        frame = self.connection.frame(
            "SELECT a.run, t.query_id, a.team, a.words, a.stated_words, a.number FROM answers AS a "
            f"JOIN topics AS t USING (topic) WHERE NOT a.removed AND {condition} ORDER BY topic, a.number",
            parameters,
        )
        kinds = {"run": "str", "query_id": "str", "team": "str", "words": "int64", "stated_words": "Int64"}
        return frame.astype(kinds | {"number": "int64"})

    def sentences(self, query_ids: str | Collection[str] | None = None) -> pd.DataFrame:
        """Return ``run``, ``query_id``, ``sentence`` (from 0), ``text``, ``citations`` (a tuple of document ids).

        In the order of :meth:`answers`.
        """
        condition, parameters = topic_condition(query_ids)
        frame = self.connection.frame(
            "SELECT a.run, t.query_id, s.sentence, s.text, s.citations FROM answers AS a "
            "JOIN topics AS t USING (topic) JOIN answer_sentences AS s USING (answer) "
            f"WHERE NOT a.removed AND {condition} ORDER BY topic, a.number, s.sentence",
            parameters,
        )
        cited = [tuple(json.loads(citations)) for citations in frame["citations"]]
        frame["citations"] = pd.Series(cited, index=frame.index, dtype=object)
        return frame.astype({"run": "str", "query_id": "str", "sentence": "int64", "text": "str"})

    def undivided(self) -> pd.DataFrame:
        """Return ``run``, ``query_id``, ``text`` of the answers that are one sentence without citations."""
        sentences = self.sentences()
        is_single = ~sentences.duplicated(["run", "query_id"], keep=False)
        return sentences.loc[is_single & ~sentences["citations"].astype("bool"), ["run", "query_id", "text"]]

    def citations(self) -> pd.DataFrame:
        """Return ``run``, ``query_id``, ``number``, ``sentence``, ``doc_id``, ``position`` (from 0) of each citation.

        In the order of :meth:`sentences`.
        """
        numbers = self.answers()[["run", "query_id", "number"]]
        cited = self.sentences().drop(columns="text").merge(numbers).explode("citations").dropna(subset="citations")
        cited = cited.rename(columns={"citations": "doc_id"}).astype({"doc_id": "str"})
        cited["position"] = cited.groupby(["run", "query_id", "sentence"]).cumcount().astype("int64")
        return cited[["run", "query_id", "number", "sentence", "doc_id", "position"]].reset_index(drop=True)

    @writes
    def log_nuggets(
        self,
        nuggets: Iterable[Nugget],
        kind: EditKind,
        annotator: str,
        *,
        edit: str | None = None,
        edited_at: str | None = None,
    ) -> None:
        """Append nuggets, as an edit has left them, to the log; by default as an edit of their own, made now.

        `edit` is the uuid of the edit that they belong to, or undo.
        """
        edit = edit or str(uuid.uuid4())
        self.connection.executemany(
            "INSERT INTO nugget_log (topic, nugget, version, kind, text, importance, weight, position, deleted, "
            "sources, origins, fields, annotator, edited_at, edit) "
            "VALUES ((SELECT topic FROM topics WHERE query_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    each.query_id, each.nugget, each.version, kind, each.text, each.importance, each.weight,
                    each.position, each.deleted, json_text(each.sources), json_text(each.origins),
                    json.dumps(dict(each.fields), ensure_ascii=False), annotator, edited_at or clock.now(), edit,
                )
                for each in nuggets
            ],
        )  # fmt: skip

    def nuggets(self, query_id: str | None = None) -> list[Nugget]:
        """Return the current nuggets of a topic or of all, in the order of topics and in their own."""
        condition, parameters = topic_condition(query_id)
        sql = _NUGGET.format(more="", table="current_nuggets", condition=condition, order="topic, n.position, n.id")
        return [_nugget(row) for row in self.connection.execute(sql, parameters)]

    def nugget_log(self, query_id: str | None = None) -> list[NuggetEdit]:
        """Return the log of nuggets, oldest first."""
        condition, parameters = topic_condition(query_id)
        more = ", n.kind, n.annotator, n.edited_at, n.edit"
        sql = _NUGGET.format(more=more, table="nugget_log", condition=condition, order="n.id")
        return [NuggetEdit(_nugget(row[:-4]), *row[-4:]) for row in self.connection.execute(sql, parameters)]


def _is_undivided(text: list[tuple[str, str]]) -> bool:
    """Tell whether an answer is a single sentence without citations, as if only its whole text were known."""
    return len(text) == 1 and text[0][1] == "[]"


def _have_same_words(known: list[tuple[str, str]], text: list[tuple[str, str]]) -> bool:
    """Tell whether two answers have the same words, and only one of them is divided into sentences."""
    one, other = (" ".join(sentence for sentence, _ in each) for each in (known, text))
    return _is_undivided(known) != _is_undivided(text) and same_words(one, other)


def _nugget(row: tuple[Any, ...]) -> Nugget:
    *plain, deleted, sources, origins, fields = row
    places = tuple((doc_id, start, end) for doc_id, start, end in json.loads(sources))
    return Nugget._make([*plain, bool(deleted), places, tuple(json.loads(origins)), json.loads(fields)])


def _free_number(taken: set[int], answers: int) -> int:
    """Draw and take a random number that no answer of the topic has; it does not reveal the system."""
    while (number := 100 + secrets.randbelow(max(FEW_NUMBERS, 4 * answers))) in taken:
        pass
    taken.add(number)
    return number
