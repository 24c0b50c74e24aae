"""What the server keeps in a campaign: the signing key, ports and the address."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from collection.errors import CampaignError
from collection.store import Store

SECRET_CHARACTERS = 64


@dataclass(eq=False)
class ServerState:
    """What the server keeps in a campaign: the signing key, ports and the address."""

    store: Store
    directory: Path

    def port(self, annotator: str) -> int | None:
        """The port on which the app last served this campaign for an annotator; None if it never did."""
        port: int | None = self.store.settings.all().get("ports", {}).get(annotator)
        return port

    def keep_port(self, annotator: str, port: int) -> None:
        """Remember it: a browser keeps what it could not send under the address at which it was made."""
        with self.store.transaction():
            self.store.settings.put("ports", self.store.settings.all().get("ports", {}) | {annotator: port})

    def address(self) -> str | None:
        """Where the app was last served, such as ``http://127.0.0.1:8501``; None if it never was."""
        address: str | None = self.store.settings.all().get("address")
        return address

    def keep_address(self, address: str) -> None:
        """Remember it, for the links that are printed while the app runs."""
        with self.store.transaction():
            self.store.settings.put("address", address)

    def secret(self) -> bytes:
        """The key that signs cookies and tokens; made at first use, readable by its owner only.

        A file of its own, so that handing on the database does not hand on the right to sign in.
        """
        path = self.directory / ".secret"
        if not path.exists():
            # Written whole beside its place and linked there: nobody can ever read half a key.
            part = self.directory / f".secret-{secrets.token_hex(4)}"
            try:
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(secrets.token_hex(SECRET_CHARACTERS // 2))
                    file.flush()
                    os.fsync(file.fileno())
                with suppress(FileExistsError):  # somebody else was first: theirs counts
                    path.hardlink_to(part)
            finally:
                part.unlink(missing_ok=True)
        secret = path.read_bytes()
        if len(secret) < SECRET_CHARACTERS:
            raise CampaignError(f"{path} is damaged; remove it, and everybody signs in anew")
        return secret
