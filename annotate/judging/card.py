"""Mounts the judging card: the component that shows documents and takes judgements without a rerun.

A card is files: nodes in ``judge/card.html`` and ``judge/panels/*.html``, behaviour in ``judge/*.js`` and, what every
card needs, ``parts/*.js``, styles in ``styles/*.css``; this module puts them together. The card posts to the judging
routes by itself and never sets a component value, so judging starts no script run.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NotRequired, TypedDict

from annotate.auth import session
from annotate.judging.document_payload import PREFIX, TEXT_CAP
from collection.campaign.results import CANNOT_JUDGE_REASONS

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

    from collection.records import GradeScale

HERE = Path(__file__).parent
LONGEST_NOTE = 2000
"""Characters of a note with a judgement; the card's field takes no more."""


class GradeButton(TypedDict):
    """One grade of the scale: its number (and key), a short label, and the whole sentence."""

    grade: int
    label: str
    sentence: str


def grade_buttons(scale: GradeScale) -> list[GradeButton]:
    """The buttons of a scale, lowest grade first."""
    return [{"grade": g, "label": scale.label(g), "sentence": words} for g, words in scale.sentences.items()]


class PairFilter(TypedDict, total=False):
    """Which pairs to adjudicate; see :func:`collection.adjudication.filter_queue`."""

    why: str | None
    query_id: str | None
    distance: int | None
    names: list[str]


class CardData(TypedDict):
    """What a page tells its card, beside what :func:`mount` says; everything else the card asks the routes for.

    `query_id` is the topic to start with, None for the one this annotator had open last. `card` is what the manager has
    set (:class:`~collection.campaign.CardSettings`).

    The card for adjudication also has `filter`, which pairs to ask for, and `pair`, ``(query_id, doc_id)`` of one to
    show now, each time that the number `picked` has changed.
    """

    scale: list[GradeButton]
    query_id: str | None
    card: dict[str, object]
    filter: NotRequired[PairFilter]
    pair: NotRequired[tuple[str, str] | None]
    picked: NotRequired[str]


class Card(NamedTuple):
    """What one kind of card is made of: its folder, the parts of its script in order, and its style sheets.

    `common` are further parts in ``parts/``, between those that all cards share and its own; `panels` are those of the
    judging card that it has as well. One of `parts` with a slash is another card's.
    """

    folder: str
    parts: tuple[str, ...]
    styles: tuple[str, ...]
    common: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()


SHARED = (
    "requests", "browser_storage", "nodes", "viewing_time", "keys", "document_view", "terms", "highlight_ranges",
    "layout", "outbox", "guidelines", "reasons", "note_panel", "dialog", "mount",
)  # fmt: skip
"""Parts of every card's script, in ``parts/``."""

STYLES = ("frame", "topic", "document", "text_forms", "highlights", "bar", "panels")
SMALL_STYLES = ("narrow", "tools", "screens")
"""Style sheets of every card, and those that stand behind what is a card's own."""

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
"""Parts of the cards that hold units of decision: whole topics, or pairs to adjudicate."""


def _unit_card(folder: str, *common: str) -> Card:
    """A card that holds units of decision, with these further parts."""
    return Card(
        folder,
        ("units", "actions", "judge/settings", "render"),
        (*STYLES, *SMALL_STYLES, "units", folder),
        common,
        ("guidelines", "note", "reasons", "settings"),
    )


CHOOSE = _unit_card("choose", "topic_units", *UNITS)
PREFER = _unit_card("prefer", "topic_units", *UNITS)
ADJUDICATE = _unit_card("adjudicate", *UNITS, "grades")

CARDS = {"grades": JUDGE, "list": CHOOSE, "preference": PREFER}
"""Which card asks what a campaign asks for, by the name of its task."""


# The script finds the nodes by `data-part` and knows what a click means by `data-do`; `data-key` says whose key a key
# cap shows. Text that comes from a campaign stands in nodes of the class `cd-apart`, which keeps its writing direction
# to itself.
def nodes(card: Card) -> str:
    """The card's nodes: its frame, the buttons that two cards share, and each of its panels."""
    frame = (HERE / card.folder / "card.html").read_text(encoding="utf-8")
    panels = sorted((HERE / card.folder / "panels").glob("*.html"))
    panels += [HERE / JUDGE.folder / "panels" / f"{name}.html" for name in card.panels]
    frame = frame.replace("<!-- actions -->", (HERE / "parts" / "actions.html").read_text(encoding="utf-8"))
    return frame.replace("<!-- panels -->", "".join(panel.read_text(encoding="utf-8") for panel in panels))


def script(card: Card) -> str:
    """The card's behaviour as the one module that Streamlit wants: no build step, the parts just follow each other."""
    files = [HERE / "parts" / f"{part}.js" for part in SHARED + card.common]
    files += [HERE / f"{part if '/' in part else f'{card.folder}/{part}'}.js" for part in card.parts]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def style_sheet(card: Card) -> str:
    """The card's style sheet."""
    return "\n".join((HERE / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in card.styles)


@cache
def _component(card: Card) -> ComponentRenderer:
    """The registered component; the files are read once in the life of the process."""
    import streamlit as st

    return st.components.v2.component(
        f"cleverdon_{card.folder}_card", html=nodes(card), css=style_sheet(card), js=script(card)
    )


def mount(data: CardData, card: Card = JUDGE, key: str = "card") -> None:
    """Draw a card at this place of the page, for the person who is signed in.

    It is told the ready-made reasons for "cannot judge", the characters after which the routes cut a document's text,
    the path of the routes, and how the annotator has arranged it. A rerun with a new token hands that over; the
    documents and the unsaved judgements in the browser stay as they are.

    Parameters
    ----------
    data
        What differs from page to page.
    card
        Which one.
    key
        The component's key, for a page with more than one element of this kind.
    """
    now = session.current()
    always = {
        "token": now.token(),
        "campaign": now.campaign.id,
        "annotator": now.annotator,
        "reasons": list(CANNOT_JUDGE_REASONS),
        "text_cap": TEXT_CAP,
        "routes": PREFIX,
        "own": now.campaign.settings.card_arrangement(now.annotator),
    }
    _component(card)(data=always | dict(data), key=key)
