"""Accounts, groups, sessions and sign-in links."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from collection.core import clock
from collection.core.errors import BusyError
from collection.core.records import Role
from collection.store import log_arrays
from collection.store.connection import Repository, SQLiteError, writes


class Account(NamedTuple):
    """A stored account; `password` is a hash, None until one is chosen."""

    name: str
    role: Role
    email: str | None
    password: str | None
    locked: bool


class Link(NamedTuple):
    """A usable one-time link: an invitation to choose a password, or a link that signs in at once."""

    account: str
    invitation: bool


class OpenSession(NamedTuple):
    """An open session: its account, and when it was last seen (seconds since 1970; None before this was stored)."""

    name: str
    role: Role
    seen_at: float | None


_ACCOUNT = "SELECT name, role, email, password, locked FROM accounts"


class AccountTables(Repository):
    """Accounts, groups, sessions and one-time links."""

    @writes
    def add(self, name: str, role: Role, email: str | None) -> None:
        """Add an account without a password."""
        self.connection.execute(
            "INSERT INTO accounts (name, role, email, made_at) VALUES (?, ?, ?, ?)", (name, role, email, clock.now())
        )

    def get(self, name: str) -> Account | None:
        """Return the account of this name, ignoring case, or None."""
        account = self._account("name", name)
        if account is not None or name.isascii():
            return account
        # SQLite ignores the case of ASCII letters only.
        same = [other for other in self.names() if other.casefold() == name.casefold()]
        return self._account("name", same[0]) if same else None

    def find_by_email(self, email: str) -> Account | None:
        """Return the account with this address, ignoring case, or None."""
        return self._account("email", email)

    def _account(self, column: str, value: str) -> Account | None:
        row = self.connection.execute(f"{_ACCOUNT} WHERE {column} = ?", (value,)).fetchone()
        if row is None:
            return None
        name, role, email, password, locked = row
        return Account(name, role, email, password, bool(locked))

    def names(self) -> list[str]:
        """Return all names, the oldest account first."""
        return [name for (name,) in self.connection.execute("SELECT name FROM accounts ORDER BY made_at, name")]

    def table(self) -> pd.DataFrame:
        """Return all accounts, by name.

        ``name``, ``role``, ``email``, ``groups`` (a list), ``locked``, ``has_password``, ``sessions`` (number of open
        ones), ``signed_in_at`` (latest), ``last_at`` (last judgement), ``made_at``, ``state`` ("locked", "open", or
        "invited": no password, never signed in, no judgement).
        """
        frame = self.connection.frame(
            """
            SELECT a.name, a.role, a.email, a.locked, a.password IS NOT NULL AS has_password,
                   (SELECT count(*) FROM sessions WHERE account = a.name AND until > :now) AS sessions,
                   (SELECT max(opened_at) FROM sessions WHERE account = a.name) AS signed_in_at,
                   (SELECT j.judged_at FROM latest_judgements AS lj JOIN judgements AS j ON j.id = lj.judgement
                    WHERE lj.annotator = a.name ORDER BY lj.judgement DESC LIMIT 1) AS last_at,
                   a.made_at
            FROM accounts AS a ORDER BY a.name
            """,
            {"now": clock.seconds()},
        )
        groups: dict[str, list[str]] = {}
        for group, members in self.groups().items():
            for name in members:
                groups.setdefault(name, []).append(group)
        frame.insert(3, "groups", pd.Series([groups.get(name, []) for name in frame["name"]], dtype=object))
        for column in ("email", "signed_in_at", "last_at"):  # None instead of nan
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        never = frame["last_at"].isna() & frame["signed_in_at"].isna()
        invited = ~frame["has_password"].astype(bool) & never
        state = invited.map({True: "invited", False: "open"}).mask(frame["locked"].astype(bool), "locked")
        return frame.assign(state=state).astype({"locked": bool, "has_password": bool})

    def open_managers(self) -> list[str]:
        """Return the managers who are not locked, the oldest account first."""
        return self.connection.column(
            "SELECT name FROM accounts WHERE role = 'manager' AND NOT locked ORDER BY made_at, name"
        )

    @writes
    def update(
        self, name: str, column: Literal["role", "email", "locked", "password"], value: str | bool | None
    ) -> None:
        """Set a column of an account; a password is given as its hash."""
        self.connection.execute(f"UPDATE accounts SET {column} = ? WHERE name = ?", (value, name))

    @writes
    def set_groups(self, name: str, groups: Iterable[str]) -> None:
        """Make the account a member of these groups and of no others."""
        self.connection.execute("DELETE FROM memberships WHERE account = ?", (name,))
        self.connection.executemany(
            "INSERT INTO memberships (group_name, account) VALUES (?, ?)", [(group, name) for group in groups]
        )

    def groups(self) -> dict[str, list[str]]:
        """Return the sorted names of the members of each group, sorted by group."""
        members: dict[str, list[str]] = {}
        rows = self.connection.execute(
            "SELECT m.group_name, a.name FROM memberships AS m JOIN accounts AS a ON a.name = m.account ORDER BY 1, 2"
        )
        for group, name in rows:
            members.setdefault(group, []).append(name)
        return members

    def names_in_the_log(self) -> list[str]:
        """Return the names of all annotators who ever judged, including imported ones."""
        # From one name to the next in the index: DISTINCT would read it to the end, at each judgement.
        return self.connection.column(
            "WITH RECURSIVE names (name) AS (SELECT min(annotator) FROM latest_judgements UNION ALL "
            "SELECT (SELECT min(annotator) FROM latest_judgements WHERE annotator > name) FROM names "
            "WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL ORDER BY name"
        )

    def imported_names(self) -> list[str]:
        """Return the names of all annotators with imported entries in the log."""
        log = log_arrays.shared(self.connection).read(self.connection, [])
        codes = log_arrays.to_numpy(log["annotator"])[log_arrays.is_value(log["source"], "imported")]
        return sorted(log["annotator"].dictionary.take(np.unique(codes)).to_pylist())

    def was_imported(self, annotator: str) -> bool:
        """Tell whether judgements of this annotator were imported."""
        return self.connection.exists(
            "SELECT EXISTS (SELECT 1 FROM latest_judgements AS lj JOIN judgements AS j ON j.id = lj.judgement "
            "WHERE lj.annotator = ? AND j.source = 'imported')",
            (annotator,),
        )

    @writes
    def add_session(self, digest: str, name: str, until: float, device: str | None, address: str | None) -> None:
        """Open a session until this time (seconds since 1970), and drop expired sessions."""
        self.connection.execute("DELETE FROM sessions WHERE until <= ?", (clock.seconds(),))
        self.connection.execute(
            "INSERT INTO sessions (digest, account, opened_at, until, device, address, seen_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (digest, name, clock.now(), until, device, address, clock.seconds()),
        )

    def session(self, digest: str) -> OpenSession | None:
        """Return an open session; None if it has expired or the account is locked."""
        row = self.connection.execute(
            "SELECT a.name, a.role, s.seen_at FROM sessions AS s JOIN accounts AS a ON a.name = s.account "
            "WHERE s.digest = ? AND s.until > ? AND NOT a.locked",
            (digest, clock.seconds()),
        ).fetchone()
        return None if row is None else OpenSession(*row)

    def sessions(self, name: str | None = None) -> pd.DataFrame:
        """Return the open sessions of an account or of all, the latest seen first.

        ``session`` (the digest), ``account``, ``device`` and ``address`` (None for sessions older than these columns),
        ``opened_at`` and ``seen_at`` (UTC, as :func:`.clock.now`).
        """
        frame = self.connection.frame(
            "SELECT digest AS session, account, device, address, opened_at, "
            "strftime('%Y-%m-%dT%H:%M:%f+00:00', seen_at, 'unixepoch') AS seen_at FROM sessions "
            "WHERE until > :now AND (:name IS NULL OR account = :name) ORDER BY account, sessions.seen_at DESC, digest",
            {"now": clock.seconds(), "name": name},
        )
        return frame.astype(object).where(frame.notna(), None)

    def note_seen(self, digest: str) -> None:
        """Store that a session is used now, unless another process is writing or a transaction is open.

        The campaign of a task only reads sessions.
        """
        if self.connection.db.conn.in_transaction:
            return
        with self.connection.without_waiting(), suppress(BusyError, *SQLiteError), self.connection.transaction():
            self.connection.execute("UPDATE sessions SET seen_at = ? WHERE digest = ?", (clock.seconds(), digest))

    @writes
    def end_session(self, digest: str) -> None:
        """End one session."""
        self.connection.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    @writes
    def end_sessions(self, name: str, keep: str | None = None) -> None:
        """End all sessions of an account except `keep`."""
        self.connection.execute("DELETE FROM sessions WHERE account = ? AND digest IS NOT ?", (name, keep))

    @writes
    def end_everything(self) -> None:
        """End all sessions of all accounts, and delete all unused links."""
        self.connection.execute("DELETE FROM sessions")
        self.connection.execute("DELETE FROM signin_links WHERE used_at IS NULL")

    @writes
    def add_signin_link(
        self, digest: str, annotator: str, *, until: float | None = None, invitation: bool = False
    ) -> None:
        """Add a one-time link by its digest, and delete this person's unused links of the same kind."""
        self.connection.execute(
            "DELETE FROM signin_links WHERE annotator = ? AND invitation = ? AND used_at IS NULL",
            (annotator, invitation),
        )
        self.connection.execute(
            "INSERT INTO signin_links (digest, annotator, made_at, until, invitation) VALUES (?, ?, ?, ?, ?)",
            (digest, annotator, clock.now(), until, invitation),
        )

    def signin_link(self, digest: str) -> Link | None:
        """Return a usable link: known, unused, not expired, of an account that is not locked."""
        row = self.connection.execute(
            "SELECT a.name, l.invitation FROM signin_links AS l JOIN accounts AS a ON a.name = l.annotator "
            "WHERE l.digest = ? AND l.used_at IS NULL AND (l.until IS NULL OR l.until > ?) AND NOT a.locked",
            (digest, clock.seconds()),
        ).fetchone()
        return None if row is None else Link(row[0], bool(row[1]))

    @writes
    def use_signin_link(self, digest: str) -> None:
        """Mark a link as used."""
        self.connection.execute("UPDATE signin_links SET used_at = ? WHERE digest = ?", (clock.now(), digest))

    @writes
    def void_signin_links(self, name: str) -> None:
        """Delete the unused links of a person."""
        self.connection.execute("DELETE FROM signin_links WHERE annotator = ? AND used_at IS NULL", (name,))
