"""Fields of a topic besides title, description and narrative, and the text that models read of a topic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from collection.core.records import Topic

if TYPE_CHECKING:
    import pandas as pd

DEEPEST = 50
"""Maximum depth of the lists and objects in a field."""

_HISTORY = ("history", "turns", "messages", "dialogue", "conversation")
"""Names of the field with the turns before the question, the first that has turns."""

_SPEAKER = ("speaker", "role", "participant", "author", "from")
_TEXT = ("text", "content", "utterance", "raw_utterance", "user_utterance", "question", "query", "message")
_REPLY = ("response", "answer", "passage")
_SYSTEMS = frozenset({"system", "assistant", "bot", "agent", "model", "ai"})
"""Speakers that answer, without case."""

_NUMBERS = ("number", "num", "id")


class Turn(NamedTuple):
    """One participant's part of a conversation; `speaker` is "" if the file does not say who."""

    speaker: str
    text: str


class Context(NamedTuple):
    """The fields of a topic as an annotator sees them."""

    turns: tuple[Turn, ...]
    """The turns before the question, oldest first."""
    others: Mapping[str, str]
    """The other fields by name, as text; without empty ones."""

    def asked_before(self) -> list[str]:
        """Return what the user said in the turns, the latest first; without the system's replies.

        >>> read_context({"history": [["What is lift?", "A force."], ["And drag?", "Another."]]}).asked_before()
        ['And drag?', 'What is lift?']
        """
        return [turn.text for turn in reversed(self.turns) if turn.speaker.casefold() not in _SYSTEMS]


def read_context(fields: Mapping[str, object]) -> Context:
    """Separate the turns of a conversation from the other fields, and spell these as text.

    Turns are a list of texts, of objects with a text and perhaps a speaker, of objects with an utterance and its
    response, or of pairs of these. A list of anything else is another field, as are turns with further members.

    >>> read_context({"history": [{"speaker": "user", "text": "What is lift?"}], "stance": "pro"})
    Context(turns=(Turn(speaker='user', text='What is lift?'),), others={'stance': 'pro'})
    """
    for name in _HISTORY:
        turns, is_complete = _turns(fields.get(name))
        if turns:
            return Context(turns, spell_fields(fields, without=name if is_complete else None))
    return Context((), spell_fields(fields))


def spell_fields(fields: Mapping[str, object], without: str | None = None) -> dict[str, str]:
    """Write each field that is not empty as text, by its name in one line; members of lists and objects a line each.

    >>> spell_fields({"subtopics": [{"number": "1", "type": "inf", "text": "Find care."}], "date": ""})
    {'subtopics': '1 (inf): Find care.'}
    """
    spelled = ((" ".join(name.split()), spell(value)) for name, value in fields.items() if name != without)
    return {name: text for name, text in spelled if text}


def full_narrative(narrative: str, fields: Mapping[str, object], *, with_speakers: bool = False) -> str:
    """Return the narrative, followed by each field under its name: what is to be read of a topic besides its question.

    `with_speakers` marks the turns of a conversation with who said them.

    >>> print(full_narrative("Any wing.", {"stance": "pro", "history": ["Lift?", "A force."]}))
    Any wing.
    history:
    Lift?
    A force.
    stance: pro
    """
    context = read_context(fields)
    turns = [f"{turn.speaker}: {turn.text}" if with_speakers and turn.speaker else turn.text for turn in context.turns]
    lines = ["\n".join(["history:", *turns])] if turns else []
    lines += [f"{name}:\n{text}" if "\n" in text else f"{name}: {text}" for name, text in context.others.items()]
    return "\n".join([narrative, *lines] if narrative else lines)


def topic_text(topic: Topic) -> str:
    """Join everything that describes a topic, each text once: what models compare with documents.

    >>> topic_text(Topic("1", "wing flow", "wing flow", "", {"stance": "pro"}))
    'wing flow stance: pro'
    """
    parts = (topic.title, topic.description, full_narrative(topic.narrative, topic.fields))
    return " ".join(dict.fromkeys(filter(None, parts)))


def to_topics(frame: pd.DataFrame) -> Iterator[Topic]:
    """Yield the topics of a frame of :data:`.TOPICS`."""
    columns = [frame[name] for name in Topic._fields if name in frame]
    yield from map(Topic, *columns)


def to_frame(topics: Iterable[Topic]) -> pd.DataFrame:
    """Return topics as a frame of :data:`.TOPICS`, with a column ``fields`` if any topic has some."""
    import pandas as pd

    from collection.core.frames import TOPICS

    rows = list(topics)
    frame = pd.DataFrame([topic[:4] for topic in rows], columns=list(TOPICS.names), dtype="str")
    if any(topic.fields for topic in rows):
        frame["fields"] = pd.Series([dict(topic.fields) for topic in rows], dtype=object)
    return TOPICS.check(frame)


def holds_fields(text: str, fields: Mapping[str, object]) -> bool:
    """Tell whether all values of the fields are in a text, as in narratives of campaigns of version 0.1.0.

    Turns before the question are not looked for: the same question has the same turns.
    """
    written = " ".join(text.split())
    context = read_context(fields)
    values = (value for name, value in fields.items() if name not in _HISTORY or name in context.others)
    return all(" ".join(leaf.split()) in written for value in values for leaf in _leaves(value))


def is_too_deep(value: object) -> bool:
    """Tell whether lists and objects are inside each other more than :data:`DEEPEST` times."""
    level, depth = [value], 0
    while level := [each for outer in level for each in _members(outer)]:
        depth += 1
        if depth > DEEPEST:
            return True
    return False


def _members(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping | list | tuple):
        for each in _members(value):
            yield from _leaves(each)
    elif value is not None:
        yield str(value)


def _turns(value: object) -> tuple[tuple[Turn, ...], bool]:
    """The turns in a field, none if it has anything else; and whether they are all that it has."""
    turns, is_complete = list[Turn](), True
    for member in value if isinstance(value, list | tuple) else ():
        if isinstance(member, str):
            turns.append(Turn("", member.strip()))
            continue
        if isinstance(member, list | tuple):
            if len(member) != 2 or not all(isinstance(each, str) for each in member):
                return (), False
            turns += [Turn("user", member[0].strip()), Turn("system", member[1].strip())]
            continue
        of_member, read = _turns_of(member) if isinstance(member, Mapping) else ([], set[str]())
        if not of_member:
            return (), False
        turns += of_member
        read |= {*_NUMBERS, "turn_id"}
        is_complete = is_complete and not any(spell(each) for name, each in member.items() if name not in read)
    return tuple(turn for turn in turns if turn.text), is_complete


def _turns_of(member: Mapping[str, object]) -> tuple[list[Turn], set[str]]:
    """The turns in one member of a history, of a speaker or of a user and then the system; and the names read."""
    speaker_name = next((name for name in _SPEAKER if member.get(name)), "")
    text_name, reply_name = (
        next((name for name in names if isinstance(member.get(name), str)), "") for names in (_TEXT, _REPLY)
    )
    speaker, text, reply = (str(member.get(name, "")).strip() for name in (speaker_name, text_name, reply_name))
    if text_name and reply_name:
        turns = [Turn(speaker or "user", text), Turn("system", reply)]
    elif text_name:
        turns = [Turn(speaker, text)]
    else:
        turns = [Turn(speaker or "system", reply)] if reply_name else []
    return turns, {speaker_name, text_name, reply_name}


def spell(value: object) -> str:
    """A field as text: each member of a list or an object on a line; '' if there is nothing in it."""
    if isinstance(value, Mapping):
        spelled = ((name, _spell_member(each)) for name, each in value.items())
        return "\n".join(f"{name}: {text}" for name, text in spelled if text)
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, map(_spell_member, value)))
    return "" if value is None else str(value).strip()


def _spell_member(value: object) -> str:
    if not isinstance(value, Mapping | list | tuple):
        return spell(value)
    if isinstance(value, Mapping) and not any(isinstance(each, Mapping | list | tuple) for each in value.values()):
        return _spell_labelled(value) or "; ".join(spell(value).splitlines())
    return json.dumps(value, ensure_ascii=False) if value else ""


def _spell_labelled(value: Mapping[str, object]) -> str:
    """A text with its number and other attributes, such as a subtopic; '' for an object without a text."""
    texts = {name: " ".join(spell(each).split()) for name, each in value.items()}
    text = texts.pop("text", "")
    number = next((texts.pop(name) for name in _NUMBERS if texts.get(name)), "")
    others = ", ".join(filter(None, texts.values()))
    label = " ".join(filter(None, [number, others and f"({others})"]))
    return f"{label}: {text}" if text and label else text
