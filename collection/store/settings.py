"""Settings by key, and texts that are too long for them."""

from __future__ import annotations

import json
from typing import Any

from collection.characters import require_writable
from collection.store.connection import Repository, writes


class SettingsTable(Repository):
    """Settings by key, and texts that are too long for them."""

    def all(self) -> dict[str, Any]:
        """All settings."""
        rows = self.connection.execute("SELECT key, value FROM settings ORDER BY key")
        return {key: json.loads(value) for key, value in rows}

    def get(self, key: str, default: Any = None) -> Any:
        """One setting; the default where nobody has set it."""
        value = self.connection.value("SELECT value FROM settings WHERE key = ?", (key,))
        return default if value is None else json.loads(value)

    @writes
    def put(self, key: str, value: Any) -> None:
        """Set one setting; `value` is anything that JSON can write, with text that UTF-8 can write.

        Raises
        ------
        InputError
            A text in it cannot be written as UTF-8. JSON would keep it, and whatever reads it later would fail.
        """
        require_writable(value, f"setting {key}")
        self.connection.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    def text(self, name: str) -> str:
        """A long text by name; empty where there is none."""
        return str(self.connection.value("SELECT text FROM texts WHERE name = ?", (name,)) or "")

    @writes
    def put_text(self, name: str, text: str) -> None:
        """Keep a long text."""
        self.connection.execute(
            "INSERT INTO texts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text", (name, text)
        )

    def card_arrangement(self, annotator: str) -> dict[str, Any] | None:
        """How the annotator has arranged their card; None where they have not."""
        settings = self.connection.value("SELECT settings FROM card_settings WHERE annotator = ?", (annotator,))
        return None if settings is None else dict(json.loads(settings))

    @writes
    def keep_card_arrangement(self, annotator: str, settings: str) -> None:
        """Keep how an annotator has arranged their card: a JSON object as text."""
        self.connection.execute(
            "INSERT INTO card_settings VALUES (?, ?) "
            "ON CONFLICT (annotator) DO UPDATE SET settings = excluded.settings",
            (annotator, settings),
        )
