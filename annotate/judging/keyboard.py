"""The keys of the cards, one table for the cards' scripts and the documentation.

``keys.json`` has for each card its `actions` (key, label and help, by name) in the order of the list of keys, and the
`fixed` keys, which nobody can change; those with `scale` are listed by the card itself, one row for each grade.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

CAPS = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓", " ": "Space", "Escape": "Esc"}
"""What is printed on keys that no character names."""


class Action(TypedDict):
    """An action: its default key, its name in menus, and its line in the list of keys."""

    key: str
    label: str
    help: str


class FixedKeys(TypedDict):
    """Keys that are the same for everybody."""

    keys: list[str]
    help: str
    scale: NotRequired[bool]


class CardKeys(TypedDict):
    """The keys of a card."""

    title: str
    actions: dict[str, Action]
    fixed: list[FixedKeys]


@cache
def card_keys() -> dict[str, CardKeys]:
    """Read the keys of all cards, by the card's folder."""
    keys: dict[str, CardKeys] = json.loads(Path(__file__).with_name("keys.json").read_text(encoding="utf-8"))
    return keys


def markdown() -> str:
    """Write the tables of the documentation page ``reference/keyboard``."""
    return "\n\n".join("\n".join(_table(keys)) for keys in card_keys().values()) + "\n"


def _table(card: CardKeys) -> Iterator[str]:
    yield f"## {card['title']}\n"
    yield "| Key | Action |"
    yield "|---|---|"
    for row in card["fixed"]:
        yield f"| {' '.join(key if key == '…' else f'`{key}`' for key in row['keys'])} | {row['help']} |"
    for action in card["actions"].values():
        yield f"| `{CAPS.get(action['key'], action['key'])}` | {action['help']} |"


if __name__ == "__main__":  # for docs/reference/keyboard.md
    print(markdown(), end="")
