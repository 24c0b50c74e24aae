"""Everything that a campaign is set up with: the loop, assignment, the judging page, the collection, guidelines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from collection.assignment import AssignmentSettings
from collection.campaign.judging_settings import CardSettings
from collection.campaign.loop_settings import LoopSettings, known_mode
from collection.characters import is_web_address, require_writable
from collection.errors import InputError, UnknownNameError
from collection.records import GradeScale
from collection.store import Store

CARD_BYTES = 20_000
"""That the arrangement of a card may take."""

LONGEST_GUIDELINES = 200_000
"""Characters."""


@dataclass(frozen=True)
class About:
    """What the manager says of the collection, for its card.

    Attributes
    ----------
    description
        What it is for, as plain text; blank lines separate paragraphs.
    licence
        Under which it is handed on.
    citation
        How it is to be cited.
    url
        Web address of the collection (``http`` or ``https``).
    """

    description: str = ""
    licence: str = ""
    citation: str = ""
    url: str = ""


T = TypeVar("T", LoopSettings, AssignmentSettings, CardSettings, About)


def require_fields(
    settings: LoopSettings | AssignmentSettings | CardSettings | About, names: Iterable[str], what: str
) -> None:
    """Raise UnknownNameError unless the settings have all of these fields; `what` says what a field is."""
    known = asdict(settings)
    for name in names:
        if name not in known:
            raise UnknownNameError(what, name, known)


def changed(settings: T, changes: Mapping[str, Any], what: str) -> T:
    """The settings with other values in some fields; they are checked as when they were made.

    Raises
    ------
    UnknownNameError
        There is no such field.
    """
    require_fields(settings, changes, what)
    return replace(settings, **changes)


@dataclass(eq=False)
class Settings:
    """Everything that a campaign is set up with: the loop, assignment, the judging page, the collection, guidelines."""

    store: Store
    grades: GradeScale

    def _read(self, key: str, kind: type[T]) -> T:
        """The settings kept under a key; defaults where nothing is kept, and without fields of other versions."""
        known = {field.name for field in fields(kind)}
        kept = self.store.settings.get(key, {})
        return kind(**{name: value for name, value in kept.items() if name in known})

    def loop(self) -> LoopSettings:
        """How the loop works here."""
        return self._read("loop", LoopSettings)

    def set_loop(self, *, topics: list[str] | None = None, **changes: Any) -> LoopSettings:
        """Change how the loop works.

        Parameters
        ----------
        topics
            With these, only `mode` may be given, and holds for them alone; None as `mode` gives them the
            campaign's again. Without them, "closed" as `mode` closes every topic.
        **changes
            Fields of :class:`~collection.campaign.loop_settings.LoopSettings`.
        """
        with self.store.transaction():
            settings = self.loop()
            require_fields(settings, changes, "setting of the loop")
            known = self.store.corpus.topics()["query_id"].tolist()
            if topics is None and changes.get("mode") == "closed":
                topics, rest = known, {name: value for name, value in changes.items() if name != "mode"}
                settings = self._change_loop(settings, rest)
            elif topics is None:
                return self._change_loop(settings, changes)
            elif set(changes) != {"mode"}:
                found = ", ".join(sorted(changes))
                raise InputError(f"a topic can have a mode of its own and nothing else, found {found}")
            if changes["mode"] is not None:
                known_mode(changes["mode"])
            for query_id in topics:
                if query_id not in known:
                    raise UnknownNameError("topic", query_id, known)
                if changes["mode"] == "closed":
                    self.store.queue.close_topic(query_id)
                else:
                    self.store.queue.set_mode(query_id, changes["mode"])
        return settings

    def _change_loop(self, settings: LoopSettings, changes: dict[str, Any]) -> LoopSettings:
        settings = replace(settings, **changes)
        if settings.level not in self.grades or settings.level < 1:
            raise InputError(f"the level is a grade of this campaign above 0 ({self.grades}), found {settings.level}")
        self.store.settings.put("loop", asdict(settings))
        return settings

    def reopen_topic(self, query_id: str) -> None:
        """Hand out documents of a closed topic again, in the mode that it had."""
        with self.store.transaction():
            self.store.queue.close_topic(query_id, closed=False)

    def modes(self) -> dict[str, str]:
        """``query_id`` -> how its pairs are chosen (a name of ``MODES``), in the order of topics."""
        return {
            query_id: "closed" if is_closed else scope
            for query_id, (scope, is_closed) in self.scopes_and_closed().items()
        }

    def scopes(self) -> dict[str, str]:
        """The same, with a topic that is closed in the mode that it had: what its recall is to be of."""
        return {query_id: scope for query_id, (scope, _) in self.scopes_and_closed().items()}

    def scopes_and_closed(self) -> dict[str, tuple[str, bool]]:
        """``query_id`` -> its mode, for a closed topic the one that it had, and whether it is closed."""
        usual = self.usual_mode()
        return {query_id: (mode or usual, closed) for query_id, mode, closed in self.store.queue.modes()}

    def mode(self, query_id: str) -> str:
        """How the pairs of a topic are chosen."""
        return self.store.queue.mode(query_id) or self.usual_mode()

    def usual_mode(self) -> str:
        """The mode of topics that have none of their own."""
        return str(self.store.settings.get("loop", {}).get("mode", "pool"))

    def assignment(self) -> AssignmentSettings:
        """How many judge a pair, how long it is reserved, and whether judging is blind."""
        return self._read("assignment", AssignmentSettings)

    def guidelines(self) -> str:
        """How to judge, in Markdown; empty where nobody has written any."""
        return self.store.settings.text("guidelines")

    def set_guidelines(self, text: str) -> None:
        """Write the guidelines, in Markdown.

        Raises
        ------
        InputError
            They are too long, or cannot be written as UTF-8.
        """
        require_writable(text, "guidelines")
        if len(text) > LONGEST_GUIDELINES:
            raise InputError(f"guidelines have at most {LONGEST_GUIDELINES:,} characters, found {len(text):,}")
        with self.store.transaction():
            self.store.settings.put_text("guidelines", text.strip())

    def topic_notes(self) -> dict[str, str]:
        """``query_id`` -> the manager's note for annotators, of the topics that have one."""
        return self.store.corpus.topic_notes()

    def set_topic_note(self, query_id: str, note: str) -> None:
        """Write the note of a topic, which annotators see beside its words; empty removes it.

        Raises
        ------
        UnknownNameError
            There is no such topic.
        InputError
            The note cannot be written as UTF-8.
        """
        require_writable(note, f"note for topic {query_id!a}")
        with self.store.transaction():
            known = self.store.corpus.topics()["query_id"].tolist()
            if query_id not in known:
                raise UnknownNameError("topic", query_id, known)
            self.store.corpus.set_topic_note(query_id, note.strip())

    def judging_page(self) -> CardSettings:
        """What the judging page asks, and how it shows documents."""
        return self._read("card", CardSettings)

    def set_judging_page(self, **changes: Any) -> CardSettings:
        """Change what the judging page asks, or how it shows documents.

        Parameters
        ----------
        **changes
            Fields of :class:`CardSettings`.

        Raises
        ------
        UnknownNameError
            There is no such setting, or no such value of one that has names.
        InputError
            It is not in its range.
        """
        with self.store.transaction():
            settings = changed(self.judging_page(), changes, "setting of the judging page")
            self.store.settings.put("card", asdict(settings))
        return settings

    def collection(self) -> About:
        """What the manager says of the collection; empty where nothing is said."""
        return self._read("about", About)

    def set_collection(self, **changes: str) -> About:
        """Say something of the collection, for its card; kept in the campaign.

        Parameters
        ----------
        **changes
            Fields of :class:`About`.

        Raises
        ------
        UnknownNameError
            There is no such field.
        InputError
            The URL is no web address, or a text cannot be written as UTF-8.

        Examples
        --------
        >>> from collection import Campaign
        >>> with Campaign.create("wings") as campaign:
        ...     campaign.settings.set_collection(licence="CC BY 4.0").licence
        'CC BY 4.0'
        """
        with self.store.transaction():
            texts = {name: text.strip() for name, text in changes.items()}
            about = changed(self.collection(), texts, "field of a collection's card")
            if about.url and not is_web_address(about.url):
                raise InputError(f"url: expected an address that begins with http:// or https://, found {about.url!r}")
            self.store.settings.put("about", asdict(about))
        return about

    def own_modes(self) -> dict[str, str | None]:
        """``query_id`` -> the mode that the topic has of its own, or None where it has the campaign's."""
        return {query_id: "closed" if closed else mode for query_id, mode, closed in self.store.queue.modes()}

    def card_arrangement(self, annotator: str) -> dict[str, Any] | None:
        """How an annotator has arranged their card; None where they have not. Only the card knows what it means."""
        return self.store.settings.card_arrangement(annotator)

    def keep_card_arrangement(self, annotator: str, settings: dict[str, Any]) -> None:
        """Keep how an annotator has arranged their card, for all their devices; the last one to say so is right.

        Raises
        ------
        InputError
            It is no JSON, or longer than :data:`CARD_BYTES`.
        """
        try:
            text = json.dumps(settings, ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"wanted the arrangement of a card as plain JSON: {error}") from None
        if size > CARD_BYTES:
            raise InputError(f"the arrangement of a card has {CARD_BYTES:,} bytes at most, found {size:,}")
        with self.store.transaction():
            self.store.settings.keep_card_arrangement(annotator, text)

    def require_topic(self, query_id: str) -> None:
        """Raise UnknownNameError unless the campaign has this topic."""
        known = self.modes()
        if query_id not in known:
            raise UnknownNameError("topic", query_id, known)
