"""The cards: components that show documents and take judgements without a rerun.

This module assembles a card from files: nodes in ``judge/card.html`` and ``judge/panels/*.html``, scripts in
``judge/*.js`` and (shared) ``parts/*.js``, styles in ``styles/*.css``. The card posts to the judging routes and never
sets a component value, so judging starts no script run.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

from annotate.auth import session
from annotate.judging.document_payload import PREFIX, TEXT_CAP
from annotate.judging.wire import PairFilter
from collection.campaign.results import CANNOT_JUDGE_REASONS

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

    from collection.records import GradeScale

HERE = Path(__file__).parent
KEYS: dict[str, dict[str, Any]] = json.loads((HERE / "keys.json").read_text(encoding="utf-8"))
"""For each card, by its folder, its ``actions`` (key, label and help, by name) in the order of the list of keys, and
the ``fixed`` keys, which nobody can change; those with ``scale`` are listed by the card itself, a row for each grade.
"""

CAPS = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "Space", "Escape": "Esc"}
"""What is printed on keys that no character names."""

LONGEST_NOTE = 2000  # characters of a judgement's note, as in the card's field


class GradeButton(TypedDict):
    """A grade of the scale: its number (and key), a short label, and the whole sentence."""

    grade: int
    label: str
    sentence: str


def grade_buttons(scale: GradeScale) -> list[GradeButton]:
    """Make the buttons of a scale, lowest grade first."""
    return [{"grade": g, "label": scale.label(g), "sentence": words} for g, words in scale.sentences.items()]


class CardData(TypedDict):
    """The data that a page gives its card; see also :func:`mount`.

    `query_id` is the topic to start with, None for the annotator's last one. `card` are the manager's settings
    (:class:`~collection.campaign.judging_settings.CardSettings`). The card for adjudication also has `filter`, and
    `pair`, ``(query_id, doc_id)``, which it shows each time that the number `picked` has changed.
    """

    scale: list[GradeButton]
    query_id: str | None
    card: dict[str, object]
    filter: NotRequired[PairFilter]
    pair: NotRequired[tuple[str, str] | None]
    picked: NotRequired[str]


class Card(NamedTuple):
    """The files of a kind of card: its folder, the parts of its script in order, and its style sheets.

    A name in `parts` with a slash is in another folder; `common` are parts from ``parts/`` that come before them, and
    `panels` are panels of the judging card that this one has as well.
    """

    folder: str
    parts: tuple[str, ...]
    styles: tuple[str, ...]
    common: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()


SHARED = (
    "phrases", "requests", "browser_storage", "nodes", "viewing_time", "keys", "document_view", "terms",
    "highlight_ranges", "layout", "outbox", "guidelines", "reasons", "note_panel", "dialog", "mount",
)  # fmt: skip
"""Parts of every card's script, in ``parts/``."""

STYLES = ("frame", "topic", "document", "text_forms", "highlights", "bar", "panels")
SMALL_STYLES = ("narrow", "tools", "screens")
"""Style sheets of every card, and those that follow a card's own."""

JUDGE = Card(
    "judge",
    (
        "parts/grades", "state", "drafts", "commands", "network", "search", "notes", "actions", "document",
        "highlights", "find_in_document", "passages", "settings", "history", "near_duplicates", "session_time", "menu",
        "announcements", "tabs", "listeners", "render",
    ),
    (*STYLES, "search", *SMALL_STYLES),
)  # fmt: skip

UNITS = ("units", "sync", "pending_notes", "unit_card", "document_tile")
"""Parts of the cards for units: whole topics, or pairs to adjudicate."""


def _unit_card(folder: str, *common: str) -> Card:
    return Card(
        folder,
        ("units", "actions", "judge/settings", "render"),
        (*STYLES, *SMALL_STYLES, "units", folder),
        common,
        ("guidelines", "help", "note", "reasons", "settings"),
    )


CHOOSE = _unit_card("choose", "topic_units", *UNITS)
PREFER = _unit_card("prefer", "topic_units", *UNITS)
ADJUDICATE = _unit_card("adjudicate", *UNITS, "grades")

CARDS = {"grades": JUDGE, "list": CHOOSE, "preference": PREFER}  # the card for each task of a campaign


# The script finds nodes by `data-part`, and the action of a click by `data-do`; `data-key` names the command of a key
# cap. Text that comes from a campaign is in nodes of the class `cd-apart`, which isolates its writing direction.
def nodes(card: Card) -> str:
    """Assemble the card's HTML from its frame, the shared buttons, and its panels."""
    frame = (HERE / card.folder / "card.html").read_text(encoding="utf-8")
    panels = sorted((HERE / card.folder / "panels").glob("*.html"))
    panels += [HERE / JUDGE.folder / "panels" / f"{name}.html" for name in card.panels]
    frame = frame.replace("<!-- actions -->", (HERE / "parts" / "actions.html").read_text(encoding="utf-8"))
    return frame.replace("<!-- panels -->", "".join(panel.read_text(encoding="utf-8") for panel in panels))


def script(card: Card) -> str:
    """Concatenate the parts of the card's script, after its keys, to the single module that Streamlit needs."""
    keys = f"const KEYS = {json.dumps(KEYS[card.folder])};\nconst CAPS = {json.dumps(CAPS)};"
    files = [HERE / "parts" / f"{part}.js" for part in SHARED + card.common]
    files += [HERE / f"{part if '/' in part else f'{card.folder}/{part}'}.js" for part in card.parts]
    return "\n".join([keys, *(file.read_text(encoding="utf-8") for file in files)])


def style_sheet(card: Card) -> str:
    """Concatenate the card's style sheets."""
    return "\n".join((HERE / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in card.styles)


@cache
def _component(card: Card) -> ComponentRenderer:
    """Register the component, once per process."""
    import streamlit as st

    return st.components.v2.component(
        f"cleverdon_{card.folder}_card", html=nodes(card), css=style_sheet(card), js=script(card)
    )


def mount(data: CardData, card: Card = JUDGE, key: str = "card") -> None:
    """Draw a card for the person who is signed in; a rerun only gives it a new token."""
    now = session.current()
    common = {
        "token": now.token,
        "campaign": now.campaign.id,
        "annotator": now.annotator,
        "reasons": list(CANNOT_JUDGE_REASONS),
        "text_cap": TEXT_CAP,
        "routes": PREFIX,
        "own": now.campaign.settings.card_arrangement(now.annotator),
    }
    _component(card)(data=common | dict(data), key=key)
