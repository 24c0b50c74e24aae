"""Settings by key, long texts, and card arrangements."""

from __future__ import annotations

import json
from typing import Any

from collection.core.characters import require_writable
from collection.core.errors import CampaignError
from collection.store.connection import Repository, writes
from collection.store.schema_version import parsed


class SettingsTable(Repository):
    """Settings by key, long texts, and card arrangements."""

    def all(self) -> dict[str, Any]:
        """Return all settings; a ValueError in place of a value that is no JSON."""
        rows = self.connection.mapping("SELECT key, value FROM settings ORDER BY key")
        return {key: parsed(value) for key, value in rows.items()}

    def get(self, key: str, default: Any = None) -> Any:
        """Return a setting, or the default."""
        value = self.connection.value("SELECT value FROM settings WHERE key = ?", (key,))
        if value is None:
            return default
        setting = parsed(value)
        if isinstance(setting, ValueError):
            raise CampaignError(f"the setting {key!r} is damaged: expected JSON, found other text ({setting})")
        return setting

    @writes
    def put(self, key: str, value: object) -> None:
        """Store a setting, any JSON value; InputError for text that UTF-8 cannot encode."""
        require_writable(value, f"setting {key}")
        self.connection.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    def text(self, name: str) -> str:
        """Return a long text by name, or an empty one."""
        return str(self.connection.value("SELECT text FROM texts WHERE name = ?", (name,)) or "")

    @writes
    def put_text(self, name: str, text: str) -> None:
        """Store a long text by name."""
        self.connection.execute(
            "INSERT INTO texts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text", (name, text)
        )

    def card_arrangement(self, annotator: str) -> dict[str, object] | None:
        """Return the arrangement of an annotator's card, or None."""
        settings = self.connection.value("SELECT settings FROM card_settings WHERE annotator = ?", (annotator,))
        arrangement = None if settings is None else parsed(settings)
        return arrangement if isinstance(arrangement, dict) else None  # a damaged one is arranged anew

    @writes
    def keep_card_arrangement(self, annotator: str, settings: str) -> None:
        """Store the arrangement of an annotator's card: a JSON object as text."""
        self.connection.execute(
            "INSERT INTO card_settings VALUES (?, ?) "
            "ON CONFLICT (annotator) DO UPDATE SET settings = excluded.settings",
            (annotator, settings),
        )
