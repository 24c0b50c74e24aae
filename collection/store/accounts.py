"""Accounts, groups, sessions and one-time links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from collection import clock
from collection.records import (
    Role,
)
from collection.store.connection import Connection, writes


class Account(NamedTuple):
    """One account as the store keeps it; `password` is a hash, None until one is chosen."""

    name: str
    role: Role
    email: str | None
    password: str | None
    locked: bool


class Link(NamedTuple):
    """A one-time link that can still be used."""

    account: str
    invitation: bool
    """Whether a password is chosen with it; else it signs in as it is."""


_ACCOUNT = "SELECT name, role, email, password, locked FROM accounts"


@dataclass(eq=False)
class AccountTables:
    """Accounts, groups, sessions and one-time links."""

    connection: Connection

    @writes
    def add(self, name: str, role: Role, email: str | None) -> None:
        """A new account without a password."""
        self.connection.db.conn.execute(
            "INSERT INTO accounts (name, role, email, made_at) VALUES (?, ?, ?, ?)", (name, role, email, clock.now())
        )

    def get(self, name: str) -> Account | None:
        """The account of this name, without regard to case; None if there is none."""
        found = self._account("name", name)
        if found is not None or name.isascii():
            return found
        # SQLite's own comparison knows the case of ASCII's letters only.
        same = [other for other in self.names() if other.casefold() == name.casefold()]
        return self._account("name", same[0]) if same else None

    def of_email(self, email: str) -> Account | None:
        """The account with this address, without regard to case."""
        return self._account("email", email)

    def _account(self, column: str, value: str) -> Account | None:
        row = self.connection.db.conn.execute(f"{_ACCOUNT} WHERE {column} = ?", (value,)).fetchone()
        if row is None:
            return None
        found, role, email, password, locked = row
        return Account(found, role, email, password, bool(locked))

    def names(self) -> list[str]:
        """All names, the oldest account first."""
        return [name for (name,) in self.connection.db.conn.execute("SELECT name FROM accounts ORDER BY made_at, name")]

    def table(self) -> pd.DataFrame:
        """All accounts, by name.

        Returns
        -------
        DataFrame
            ``name``, ``role``, ``email``, ``groups`` (a list), ``locked``, ``has_password``, ``sessions`` (open
            ones), ``signed_in_at`` (the newest of them), ``last_at`` (of the last judgement), ``made_at``, ``state``
            ("locked", "open", or "invited": has no password, and has neither signed in nor judged).
        """
        frame = self.connection.frame(
            """
            SELECT a.name, a.role, a.email, a.locked, a.password IS NOT NULL AS has_password,
                   (SELECT count(*) FROM sessions WHERE account = a.name AND until > :now) AS sessions,
                   (SELECT max(opened_at) FROM sessions WHERE account = a.name) AS signed_in_at,
                   (SELECT j.judged_at FROM last_words AS w JOIN judgements AS j ON j.id = w.judgement
                    WHERE w.annotator = a.name ORDER BY w.judgement DESC LIMIT 1) AS last_at,
                   a.made_at
            FROM accounts AS a ORDER BY a.name
            """,
            {"now": clock.seconds()},  # type: ignore[arg-type]
        )
        groups: dict[str, list[str]] = {}
        rows = self.connection.db.conn.execute(
            "SELECT a.name, m.group_name FROM memberships AS m JOIN accounts AS a ON a.name = m.account ORDER BY 1, 2"
        )
        for name, group in rows:
            groups.setdefault(name, []).append(group)
        frame.insert(3, "groups", pd.Series([groups.get(name, []) for name in frame["name"]], dtype=object))
        for column in ("email", "signed_in_at", "last_at"):  # none is None, not a number that is none
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        never = frame["last_at"].isna() & frame["signed_in_at"].isna()
        invited = ~frame["has_password"].astype(bool) & never
        state = invited.map({True: "invited", False: "open"}).mask(frame["locked"].astype(bool), "locked")
        return frame.assign(state=state).astype({"locked": bool, "has_password": bool})

    def open_managers(self) -> list[str]:
        """Managers who are not locked, the oldest account first."""
        rows = self.connection.db.conn.execute(
            "SELECT name FROM accounts WHERE role = 'manager' AND NOT locked ORDER BY made_at, name"
        )
        return [name for (name,) in rows]

    @writes
    def set_role(self, name: str, role: Role) -> None:
        """Give the account another role."""
        self.connection.db.conn.execute("UPDATE accounts SET role = ? WHERE name = ?", (role, name))

    @writes
    def set_email(self, name: str, email: str | None) -> None:
        """Give the account another address."""
        self.connection.db.conn.execute("UPDATE accounts SET email = ? WHERE name = ?", (email, name))

    @writes
    def set_locked(self, name: str, locked: bool) -> None:
        """Lock the account or open it again."""
        self.connection.db.conn.execute("UPDATE accounts SET locked = ? WHERE name = ?", (locked, name))

    @writes
    def set_password(self, name: str, password: str) -> None:
        """Keep the hash of a password."""
        self.connection.db.conn.execute("UPDATE accounts SET password = ? WHERE name = ?", (password, name))

    @writes
    def set_groups(self, name: str, groups: Iterable[str]) -> None:
        """Make the account a member of these groups and of no others."""
        self.connection.db.conn.execute("DELETE FROM memberships WHERE account = ?", (name,))
        self.connection.db.conn.executemany(
            "INSERT INTO memberships (group_name, account) VALUES (?, ?)", [(group, name) for group in groups]
        )

    def groups(self) -> dict[str, list[str]]:
        """Group -> names of its members, both in order."""
        members: dict[str, list[str]] = {}
        rows = self.connection.db.conn.execute(
            "SELECT m.group_name, a.name FROM memberships AS m JOIN accounts AS a ON a.name = m.account ORDER BY 1, 2"
        )
        for group, name in rows:
            members.setdefault(group, []).append(name)
        return members

    def names_in_the_log(self) -> list[str]:
        """Everybody who ever judged, imported or not."""
        rows = self.connection.db.conn.execute("SELECT DISTINCT annotator FROM last_words ORDER BY annotator")
        return [name for (name,) in rows]

    def was_imported(self, annotator: str) -> bool:
        """Whether judgements of this name came from a file."""
        return bool(
            self.connection.value(
                "SELECT EXISTS (SELECT 1 FROM last_words AS w JOIN judgements AS j ON j.id = w.judgement "
                "WHERE w.annotator = ? AND j.source = 'imported')",
                (annotator,),
            )
        )

    @writes
    def add_session(self, digest: str, name: str, until: float) -> None:
        """Open a session of an account until this time (seconds of the epoch); those that are over are dropped."""
        self.connection.db.conn.execute("DELETE FROM sessions WHERE until <= ?", (clock.seconds(),))
        self.connection.db.conn.execute(
            "INSERT INTO sessions (digest, account, opened_at, until) VALUES (?, ?, ?, ?)",
            (digest, name, clock.now(), until),
        )

    def session(self, digest: str) -> tuple[str, Role] | None:
        """Name and role of whose session it is; None where it is over or unknown, or the account is locked."""
        row: tuple[str, Role] | None = self.connection.db.conn.execute(
            "SELECT a.name, a.role FROM sessions AS s JOIN accounts AS a ON a.name = s.account "
            "WHERE s.digest = ? AND s.until > ? AND NOT a.locked",
            (digest, clock.seconds()),
        ).fetchone()
        return row

    @writes
    def end_session(self, digest: str) -> None:
        """End one session."""
        self.connection.db.conn.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    @writes
    def end_sessions(self, name: str, but: str | None = None) -> None:
        """End all sessions of an account, or all but one."""
        self.connection.db.conn.execute("DELETE FROM sessions WHERE account = ? AND digest IS NOT ?", (name, but))

    @writes
    def add_signin_link(
        self, digest: str, annotator: str, *, until: float | None = None, invitation: bool = False
    ) -> None:
        """Remember a one-time link by its digest; earlier ones of its kind for this person are void."""
        self.connection.db.conn.execute(
            "DELETE FROM signin_links WHERE annotator = ? AND invitation = ? AND used_at IS NULL",
            (annotator, invitation),
        )
        self.connection.db.conn.execute(
            "INSERT INTO signin_links (digest, annotator, made_at, until, invitation) VALUES (?, ?, ?, ?, ?)",
            (digest, annotator, clock.now(), until, invitation),
        )

    def signin_link(self, digest: str) -> Link | None:
        """A link that can be used: known, not used, not too old, of an account that is not locked."""
        row = self.connection.db.conn.execute(
            "SELECT a.name, l.invitation FROM signin_links AS l JOIN accounts AS a ON a.name = l.annotator "
            "WHERE l.digest = ? AND l.used_at IS NULL AND (l.until IS NULL OR l.until > ?) AND NOT a.locked",
            (digest, clock.seconds()),
        ).fetchone()
        return None if row is None else Link(row[0], bool(row[1]))

    @writes
    def use_signin_link(self, digest: str) -> None:
        """Nobody can use the link again."""
        self.connection.db.conn.execute("UPDATE signin_links SET used_at = ? WHERE digest = ?", (clock.now(), digest))

    @writes
    def void_signin_links(self, name: str) -> None:
        """No link of this person can be used any more."""
        self.connection.db.conn.execute("DELETE FROM signin_links WHERE annotator = ? AND used_at IS NULL", (name,))
