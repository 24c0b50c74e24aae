"""The cards: components that show documents and take judgements without a rerun.

What runs in the browser is in ``annotate/card``: modules that the server sends
(:mod:`.card_modules`), and the HTML and style sheets that this module assembles. A card posts to the
judging routes and never sets a component value, so judging starts no script run.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

from annotate.auth import session
from annotate.auth.page_access import find_page
from annotate.card.server.card_modules import FOLDER, card_modules
from annotate.card.server.card_words import card_words
from annotate.card.server.document_payload import PREFIX, TEXT_CAP, task_prefix
from annotate.card.server.unit_wire import PairFilter
from collection.campaign.log.results import CANNOT_JUDGE_REASONS
from collection.core.answer_tasks import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.characters import without_bidi
from collection.core.questions import QuestionKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streamlit.components.v2.types import ComponentRenderer

    from collection.campaign import Campaign
    from collection.core.questions import Question
    from collection.core.records import GradeScale
    from collection.core.review import Review

KEYS: dict[str, dict[str, Any]] = json.loads((FOLDER / "keys.json").read_text(encoding="utf-8"))
"""For each card, by its name, its ``actions`` (key, label and help, by name) in the order of the list of keys, and
the ``fixed`` keys, which nobody can change; those with ``scale`` are listed by the card itself, a row for each grade.
An action may say where ``only`` the card has it: in a "review" of literature, in the task of "support", or where
annotators make "nuggets" (:data:`NUGGETS`).
"""

CAPS = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "Space", "Escape": "Esc"}
"""Labels of keys without a character."""


NOT_IN_TASKS = {
    SUPPORT: ("search",),
    NUGGET_ASSIGNMENT: ("search", "near", "picture", "pages", "next-page", "previous-page", "page"),
}
"""Actions that the card lacks in a task: the pairs of tasks are fixed, and a nugget is a short text."""


def card_keys(card: Card, *, in_review: bool = False, task: str = "") -> dict[str, Any]:
    """Make the keys of a card, with ``actions`` and ``fixed`` as in :data:`KEYS`."""
    here = {"", task, "review" if in_review else "", "nuggets" if card == NUGGETS else ""}
    actions = {
        name: {part: said for part, said in action.items() if part != "only"}
        for name, action in KEYS[card.name]["actions"].items()
        if action.get("only", "") in here and name not in NOT_IN_TASKS.get(task, ())
    }
    return KEYS[card.name] | {"actions": actions}


class GradeButton(TypedDict):
    """A grade of the scale: its number (and key), a short label, and the whole sentence."""

    grade: int
    label: str
    sentence: str


def grade_buttons(scale: GradeScale) -> list[GradeButton]:
    """Make the buttons of a scale, lowest grade first."""
    return [
        {"grade": grade, "label": without_bidi(scale.label(grade)), "sentence": without_bidi(sentence)}
        for grade, sentence in scale.sentences.items()
    ]


class AnswerButton(TypedDict):
    """An answer to a question: its grade or name, a short label, and the whole sentence."""

    value: int | str
    label: str
    sentence: str


# The functional form, since a field is called "from".
QuestionData = TypedDict(
    "QuestionData",
    {
        "name": str,
        "sentence": str,
        "kind": QuestionKind,
        "required": bool,
        "required_in": NotRequired[list[str]],
        "from": int | None,
        "to": int | None,
        "answers": list[AnswerButton],
    },
)
"""A further question; it is asked at the grades between `from` and `to`, where None is no bound.

With `required_in`, it is asked in these topics, and has to be answered there; in others only on request.
"""


def question_data(questions: Iterable[Question]) -> list[QuestionData]:
    """Make the data of questions, in their order."""
    return [_question_data(question) for question in questions]


def _question_data(question: Question) -> QuestionData:
    data: QuestionData = {
        "name": question.name,
        "sentence": without_bidi(question.sentence),
        "kind": question.kind,
        "required": question.required,
        "from": question.asked_from,
        "to": question.asked_to,
        "answers": [
            {"value": value, "label": without_bidi(question.label(value)), "sentence": without_bidi(sentence)}
            for value, sentence in question.answers.items()
        ],
    }
    if question.required_topics:
        data["required_in"] = list(question.required_topics)
    return data


class ReviewTerms(TypedDict):
    """Words, phrases and prefixes* that suggest the inclusion or the exclusion of a record."""

    include: list[str]
    exclude: list[str]


def review_terms(review: Review) -> ReviewTerms:
    """Make the terms of a review that its cards highlight."""
    return {"include": list(review.include_terms), "exclude": list(review.exclude_terms)}


class CardData(TypedDict):
    """The data that a page gives its card; see also :func:`mount`.

    `questions` are the further ones; the cards for lists and preferences have none. `query_id` is the topic
    to start with, None for the annotator's last one. `card` are the manager's settings (:class:`.JudgingPageSettings`).
    The card for adjudication also has `filter`, and `pair`, ``(query_id, doc_id)``, which it shows each time that the
    number `picked` has changed.
    """

    scale: list[GradeButton]
    questions: list[QuestionData]
    query_id: str | None
    card: dict[str, object]
    filter: NotRequired[PairFilter]
    pair: NotRequired[tuple[str, str] | None]
    picked: NotRequired[str]


class Card(NamedTuple):
    """A kind of card: the name of its HTML and keys, its style sheets, its panels, and its module.

    `module` is empty if the module has the same name as the card. `marker` is the HTML of a further button above a
    selection.
    """

    name: str
    styles: tuple[str, ...]
    panels: tuple[str, ...]
    module: str = ""
    marker: str = ""


STYLES = ("frame", "topic", "document", "text_forms", "highlights", "bar", "panels", "answers")
SMALL_STYLES = ("narrow", "tools", "screens")
"""Style sheets of every card, and those that follow a card's own."""

PANELS = ("guidelines", "help", "note", "reasons", "settings")
"""Panels of every card."""

GRADE = Card(
    "grade",
    (*STYLES, "pdf", "search", *SMALL_STYLES),
    (*PANELS, "history", "more", "picture", "search", "sentences", "time", "why"),
)
NUGGETS = GRADE._replace(
    styles=(*STYLES, "pdf", "search", "nuggets", *SMALL_STYLES),
    panels=(*GRADE.panels, "nuggets"),
    module="grade_with_nuggets",
    marker="nugget_marker",
)
"""The card for grades in a campaign with generated answers, whose nuggets are made beside documents."""

LIST, PREFERENCE, ADJUDICATION = (
    Card(name, (*STYLES, *SMALL_STYLES, "units", name), PANELS) for name in ("list", "preference", "adjudication")
)

CARDS = {"grades": GRADE, "list": LIST, "preference": PREFERENCE}  # the card for each task of a campaign


def grade_card(campaign: Campaign) -> Card:
    """Return the card for grades of a campaign, which makes nuggets if it has generated answers and is no task."""
    return NUGGETS if campaign.settings.task() is None and campaign.store.answers.exist() else GRADE


# The script finds nodes by `data-part`, and the action of a click by `data-do`; `data-key` names the command of a key
# cap. Text that comes from a campaign is in nodes of the class `cd-apart`, which isolates its writing direction.
def nodes(card: Card) -> str:
    """Assemble the card's HTML: ``<!-- NAME -->`` stands for a file that several cards share, or for the panels."""
    panels = "".join(_read(f"html/panels/{name}.html") for name in card.panels)
    marker = _read(f"html/{card.marker}.html") if card.marker else ""
    frame = (
        _read(f"html/{card.name}.html").replace("<!-- panels -->", panels).replace("      <!-- of_card -->\n", marker)
    )
    return re.sub(r"<!-- (\w+) -->", lambda shared: _read(f"html/{shared[1]}.html"), frame)


def style_sheet(card: Card) -> str:
    """Concatenate the card's style sheets."""
    return "\n".join(_read(f"styles/{name}.css") for name in card.styles)


def _read(path: str) -> str:
    return (FOLDER / path).read_text(encoding="utf-8")


@cache
def _component(card: Card) -> ComponentRenderer:
    """Register the component, once per process."""
    import streamlit as st

    name = card.module or card.name
    script = card_modules().loader(f"{name}.js")
    return st.components.v2.component(f"cleverdon_{name}_card", html=nodes(card), css=style_sheet(card), js=script)


def mount(data: CardData, card: Card = GRADE, key: str = "card") -> None:
    """Draw a card for the person who is signed in; a rerun only gives it a new token."""
    now = session.current()
    words = card_words(now.campaign.settings.vocabulary)
    review, task = now.campaign.settings.review(), now.campaign.settings.task()
    common = {
        "token": now.token,
        "campaign": now.campaign.id,
        "annotator": now.annotator,
        "keys": card_keys(card, in_review=review is not None, task="" if task is None else task.name),
        "caps": CAPS,
        "reasons": [words.get(reason, reason) for reason in CANNOT_JUDGE_REASONS],
        "text_cap": TEXT_CAP,
        "routes": PREFIX if task is None else task_prefix(task.name),
        "own": now.campaign.store.settings.card_arrangement(now.annotator),
        **({"task": task.name} if task is not None else {}),
        **({"words": words} if words else {}),
        **({"review_terms": review_terms(review)} if review is not None else {}),
        **({"report": True} if review is not None and now.role in find_page("report").roles else {}),
    }
    _component(card)(data=common | dict(data), key=key if task is None else f"{key}-{task.name}")
