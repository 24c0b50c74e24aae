"""State of the server in a campaign: the signing key, ports and the address."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from collection.core import clock, layout
from collection.core.errors import BusyError, CampaignError
from collection.store import SQLiteError, Store

HEALTH = "/healthz"
"""Address of a server at which anybody may ask whether it can do its work."""
SECRET_CHARACTERS = 64


def is_loopback(address: str) -> bool:
    """Return whether only programs on the same machine reach an address.

    >>> is_loopback("http://127.0.0.1:8501"), is_loopback("http://localhost"), is_loopback("https://judging.example.org")
    (True, True, False)
    """
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def read_secret(directory: Path) -> bytes:
    """Return the key that signs cookies and tokens, which is generated at first use.

    It is in a file of its own, readable by its owner only, so that a copy of the database does not contain it.
    """
    path = directory / layout.SECRET
    if not path.exists():
        # Written to a temporary file first, so that no reader sees half a key.
        with _new_secret(directory) as part, suppress(FileExistsError):
            layout.publish(part, path)
    secret = path.read_bytes()
    if len(secret) < SECRET_CHARACTERS:
        raise CampaignError(f"{path} is damaged; delete it to get a new key: everyone then has to sign in again")
    return secret


@contextmanager
def _new_secret(directory: Path) -> Iterator[Path]:
    """Write a new key to a temporary file, which is gone afterwards."""
    part = directory / f"{layout.SECRET}-{secrets.token_hex(4)}"
    try:
        with layout.create_private(part) as file:
            file.write(secrets.token_hex(SECRET_CHARACTERS // 2).encode())
            file.flush()
            os.fsync(file.fileno())
        yield part
    finally:
        part.unlink(missing_ok=True)


@dataclass(eq=False)
class ServerState:
    """State of the server in a campaign: the signing key, ports and the address."""

    store: Store
    directory: Path

    def port(self, annotator: str) -> int | None:
        """Return the last port of the app for an annotator, or None."""
        port: int | None = self.store.settings.get("ports", {}).get(annotator)
        return port

    def keep_port(self, annotator: str, port: int) -> None:
        """Keep the port, as browsers keep unsent judgements by address."""
        with self.store.transaction():
            self.store.settings.put("ports", self.store.settings.get("ports", {}) | {annotator: port})

    def address(self) -> str | None:
        """Return the last address of the app, such as ``http://127.0.0.1:8501``, or None."""
        address: str | None = self.store.settings.get("address")
        return address

    def keep_address(self, address: str) -> None:
        """Keep the address, for links that commands print while the app runs."""
        self.store.settings.put("address", address)

    def find_problem(self) -> str | None:
        """Return why no judgement could be saved now, or None; names no files, and changes nothing in the campaign."""
        try:
            with self.store.transaction():
                self.store.accounts.open_managers()
        except BusyError:
            return "another process is writing to the database, or it cannot be written"
        except SQLiteError as error:
            return f"the database cannot be read and written ({error})"
        # An empty transaction does not notice a full disk.
        reason = layout.find_write_problem(self.directory)
        return reason and f"the campaign's directory cannot be written ({reason})"

    def secret(self) -> bytes:
        """Return the key that signs cookies and tokens: see :func:`read_secret`."""
        return read_secret(self.directory)

    def rotate_secret(self) -> None:
        """Replace the key, end all sessions and reservations, and invalidate all one-time links.

        A running server takes the new key. Work lists stay reserved.
        """
        with self.store.transaction():
            self.store.accounts.end_everything()
            for store in self.store.with_tasks():
                store.reservations.release(clock.seconds())
        with _new_secret(self.directory) as part:
            part.replace(self.directory / layout.SECRET)
            layout.sync_folder(self.directory)
