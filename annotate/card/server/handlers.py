"""Handlers of the cards' requests: what one is, and what several of them do."""

import json
from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from annotate.auth.roles import JUDGES
from annotate.card.server import wire
from annotate.card.server.document_payload import FIELD_CAP, TEXT_CAP
from collection.campaign import Campaign
from collection.core.errors import BusyError
from collection.core.records import Answer, Role, Topic
from collection.core.review import STAGES
from collection.core.topic_fields import read_context
from collection.documents.rendering import cut

TURN_CAP = 4_000  # characters of a turn or another field of a topic that are sent
MOST_TURNS, MOST_FIELDS, NAME_CAP = 50, 50, 100
LONGEST_LOGGED = 20_000  # characters of a logged text that are sent; imported ones may be longer

T = TypeVar("T")
Handler = Callable[[Campaign, str, Any], Mapping[str, object]]  # answers a checked request of an annotator
Row = dict[Hashable, Any]  # a row of a frame


class PostRoute(NamedTuple):
    """A path below :data:`~annotate.card.server.document_payload.PREFIX`, its handler, and the thread and roles for it.

    `own_topic`: annotators can name a topic that is or was theirs only, managers any.
    """

    path: str
    handler: Handler
    thread: str = "judging"
    roles: tuple[Role, ...] = JUDGES
    own_topic: bool = False


def save_and_hand_out(campaign: Campaign, exchange: Callable[[], T]) -> T:
    """Run `exchange`, which saves decisions and hands out more, in one transaction, so that it syncs to disk once.

    If it fails, it runs again without one: each decision is then saved, even though nothing can be handed out.
    """
    try:
        with campaign.transaction():
            return exchange()
    except BusyError:
        raise
    except Exception:
        return exchange()


def logged_text(row: Row, name: str) -> str | None:
    """Return a text in a row of a log, without the end of a long one; None where there is none."""
    text = row[name]
    return text[:LONGEST_LOGGED] if isinstance(text, str) else None


def logged_grade(row: Row) -> int | None:
    """Return the grade in a row of a log; None where there is none."""
    return None if pd.isna(row["relevance"]) else int(row["relevance"])


def said_judgement(row: Row) -> wire.SaidJudgement:
    """Return the judgement in a row of the log."""
    said: wire.SaidJudgement = {
        "kind": row["kind"],
        "note": logged_text(row, "note"),
        "relevance": logged_grade(row),
        "reason": logged_text(row, "reason"),
        "flagged": bool(row["flagged"]),
        "passages": list(row["passages"]),
    }
    if row["answers"]:
        said["answers"] = wire_answers(row["answers"])
    return said


def wire_answers(answers: Mapping[str, Answer]) -> wire.Answers:
    """Return answers with lists of tags, as JSON has them."""
    return {name: list(answer) if isinstance(answer, tuple) else answer for name, answer in answers.items()}


class TopicForm(NamedTuple):
    """Form in which the topics of a campaign are shown."""

    stages: Mapping[str, str]
    """Name of the stage by topic of a review, whose topics share a title; empty for any other campaign."""
    are_answers: bool
    """Whether topics are answers or sentences; their text comes with each document, their narrative is the question."""


def topic_form(campaign: Campaign) -> TopicForm:
    """Return the form in which the topics of a campaign are shown."""
    return TopicForm({} if campaign.settings.review() is None else STAGES, campaign.settings.task() is not None)


def topic_of(topic: Topic, form: TopicForm) -> wire.Topic:
    """Return a topic with the turns before its question and its other fields, as far as the card shows them."""
    stage = form.stages.get(topic.query_id)
    if form.are_answers:
        topic = topic._replace(description=topic.narrative, narrative="")
    words: wire.Topic = {
        "query_id": topic.query_id,
        "title": cut(f"{stage.capitalize()}: {topic.title}" if stage else topic.title, FIELD_CAP),
        "description": cut(topic.description, TEXT_CAP),
        "narrative": cut(topic.narrative, TEXT_CAP),
    }
    if stage:
        words["stage"] = stage.capitalize()
    if topic.fields:
        context = read_context(topic.fields)
        turns: list[wire.TopicTurn] = [
            {"speaker": cut(speaker, NAME_CAP), "text": _shorten(text)} for speaker, text in context.turns[-MOST_TURNS:]
        ]
        others: list[wire.TopicField] = [
            {"name": cut(name, NAME_CAP), "text": _shorten(text)}
            for name, text in islice(context.others.items(), MOST_FIELDS)
        ]
        if turns:
            words["turns"] = turns
        if others:
            words["fields"] = others
    return words


def _shorten(text: str) -> str:
    return text if len(text) <= TURN_CAP else f"{cut(text, TURN_CAP)} …"


def topic_words(words: Mapping[str, str], form: TopicForm) -> wire.TopicWords:
    """Return a topic of a unit from :meth:`collection.store.corpus.CorpusTables.topic_words`."""
    texts = (words[name] for name in ("query_id", "title", "description", "narrative"))
    topic = Topic._make([*texts, json.loads(words["fields"])])
    return {**topic_of(topic, form), "note": cut(words["note"], TEXT_CAP)}
