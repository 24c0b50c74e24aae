"""Accounts and roles, sessions and sign-in links."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from collection import accounts
from collection.core import clock
from collection.core.errors import CampaignError, ConflictError, InputError, UnknownNameError, WrongPasswordError
from collection.core.records import QRELS_ANNOTATOR, Role
from collection.store import Store

if TYPE_CHECKING:
    import pandas as pd

A_DAY = 24 * 3600.0

SESSION_DAYS = 30
"""Lifetime of a session."""

LINK_DAYS = 7
"""Lifetime of an unused link."""


SEEN_SECONDS = 5 * 60.0
"""Precision of the time at which a session was last seen: noting each request would write to the disk each time."""


class Device(NamedTuple):
    """Origin of a session: the browser and system, such as "Firefox on Linux", and the network address."""

    description: str
    address: str


class Person(NamedTuple):
    """A person who is signed in; `session` is the digest of their session, which does not open it."""

    name: str
    role: Role
    session: str


def digest(secret: str) -> str:
    """Hash a secret for storage; with 192 random bits, it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(eq=False)
class Accounts:
    """Accounts and roles, sessions and sign-in links.

    `table` and `groups` are the methods of :class:`.AccountTables`.
    """

    store: Store
    directory: Path

    def add(self, name: str, role: Role | str, email: str | None = None) -> str:
        """Add an account without a password, and return the normalised name.

        The name is the annotator of the person's judgements; `email` identifies the person to a sign-in provider.

        InputError if one of them is invalid, ConflictError if there is an account with this name or address, ignoring
        case.
        """
        with self.store.transaction():
            clean, role, address = accounts.clean_name(name), accounts.clean_role(role), accounts.clean_email(email)
            same = [other for other in self.store.accounts.names() if other.casefold() == clean.casefold()]
            if same:
                raise ConflictError(f"the name {clean!r} is taken by the account {same[0]!r}; choose another name")
            for store in self.store.with_tasks():
                if clean.casefold() in store.machine_labels.folded_names():
                    raise ConflictError(f"{clean!r} is the name of a label set; choose another name")
                for other in store.accounts.names_in_the_log():
                    if other != clean and other.casefold() == clean.casefold():
                        raise ConflictError(
                            f"the name {clean!r} differs only in case from the annotator {other!r}; use that "
                            "spelling, or another name"
                        )
            self._require_free(address, clean)
            self.store.accounts.add(clean, role, address)
            return clean

    def invite(
        self,
        name: str,
        role: Role | str,
        groups: Iterable[str] = (),
        email: str | None = None,
        *,
        imported: bool = False,
    ) -> str:
        """Add an account, and return the token of a one-time link for choosing a password.

        With `imported`, judgements that were imported under this name are the person's own, which they can change: only
        whoever invites them knows that.

        Raises errors as :meth:`add`, and ConflictError if judgements were imported under this name without `imported`.
        """
        members = _clean_groups(groups)
        with self.store.transaction():
            clean = self.add(name, role, email)
            if not imported and any(store.accounts.was_imported(clean) for store in self.store.with_tasks()):
                command = f"cleverdon people {quote(str(self.directory))} --invite {quote(clean)} --imported"
                raise ConflictError(
                    f"imported judgements have the annotator {clean!r}; if they are by the same person, `{command}` "
                    "invites them to continue with these judgements, otherwise choose another name"
                )
            self.store.accounts.set_groups(clean, members)
            return self._link(clean, invitation=True)

    def invite_again(self, name: str) -> str:
        """Return the token of a new link for choosing a password; earlier ones are void."""
        with self.store.transaction():
            self._not_locked(clean := self._known(name))
            return self._link(clean, invitation=True)

    def imported_names(self) -> list[str]:
        """Return the names of imported judgements that have no account, including judgements in tasks."""
        taken = {name.casefold() for name in self.store.accounts.names()}
        return sorted(
            {
                name
                for store in self.store.with_tasks()
                for name in store.accounts.imported_names()
                if name.casefold() not in taken and not name.startswith(QRELS_ANNOTATOR)
            }
        )

    def set_role(self, name: str, role: Role | str) -> None:
        """Change the role of an account; CampaignError for the last manager who is not locked."""
        with self.store.transaction():
            clean, role = self._known(name), accounts.clean_role(role)
            if role != "manager":
                self._keep_a_manager(clean, "give another role to")
            self.store.accounts.update(clean, "role", role)
            if role == "reader":
                self._release(clean, lists=True)

    def set_groups(self, name: str, groups: Iterable[str]) -> None:
        """Make the person a member of exactly these groups."""
        members = _clean_groups(groups)
        with self.store.transaction():
            self.store.accounts.set_groups(self._known(name), members)
            _free_unassigned(self.store)
        for store in self.store.with_tasks():  # after the commit, because tasks read stored groups
            _free_unassigned(store)

    def set_email(self, name: str, email: str | None) -> None:
        """Change or remove the address of an account."""
        with self.store.transaction():
            clean, address = self._known(name), accounts.clean_email(email)
            self._require_free(address, clean)
            self.store.accounts.update(clean, "email", address)

    def lock(self, name: str) -> None:
        """Lock an account, and end its sessions, links and reservations; CampaignError as in :meth:`set_role`."""
        with self.store.transaction():
            clean = self._known(name)
            self._keep_a_manager(clean, "lock")
            self.store.accounts.update(clean, "locked", True)
            self.store.accounts.end_sessions(clean)
            self.store.accounts.void_signin_links(clean)
            self._release(clean, lists=True)

    def unlock(self, name: str) -> None:
        """Unlock an account."""
        self.store.accounts.update(self._known(name), "locked", False)

    def set_password(self, name: str, password: str, keep: str | None = None) -> None:
        """Set a password, void the links of the account, and end its sessions except `keep` (a digest).

        InputError if the password fails :func:`collection.accounts.require_password`.
        """
        accounts.require_password(password, name)
        hashed = accounts.hash_password(password)  # slow, so before the transaction
        with self.store.transaction():
            self._set_password(self._known(name), hashed, keep)

    def change_password(self, name: str, old: str, new: str, keep: str | None = None) -> None:
        """Set a new password as :meth:`set_password`; WrongPasswordError if there is an old one and it is wrong."""
        if self.has_password(name) and self.check_password(name, old) is None:
            raise WrongPasswordError("the current password is wrong")
        self.set_password(name, new, keep)

    def check_password(self, name: str, password: str) -> str | None:
        """Return the name of the account if the password is right, else None.

        An unknown or locked account takes the same time. The caller limits the rate of attempts.
        """
        account = self.store.accounts.get(_composed(name))
        hashed = None if account is None or account.locked else account.password
        fits = accounts.verify_password(hashed, password)
        if account is None or hashed is None or not fits:
            return None
        if accounts.is_outdated(hashed):
            self.store.accounts.update(account.name, "password", accounts.hash_password(password))
        return account.name

    def has_password(self, name: str) -> bool:
        """Tell whether the person has chosen a password."""
        account = self.store.accounts.get(name)
        return account is not None and account.password is not None

    def open_session(self, name: str, device: Device | None = None) -> str:
        """Open a session, and return its secret for the browser; CampaignError if the account is locked."""
        with self.store.transaction():
            self._not_locked(clean := self._known(name))
            secret = secrets.token_urlsafe(24)
            until = clock.seconds() + SESSION_DAYS * A_DAY
            self.store.accounts.add_session(digest(secret), clean, until, *(device or (None, None)))
        return secret

    def session(self, secret: str) -> Person | None:
        """Return who is signed in with this secret; None if the session has ended or the account is locked."""
        return self.find_session(digest(secret))

    def find_session(self, session: str) -> Person | None:
        """Return who is signed in with the session of this digest, or None, and note that it was seen."""
        row = self.store.accounts.session(session)
        if row is None:
            return None
        is_noted = row.seen_at is not None and abs(clock.seconds() - row.seen_at) < SEEN_SECONDS
        if not is_noted:
            self.store.accounts.note_seen(session)
        return Person(row.name, row.role, session)

    def sessions(self, name: str | None = None) -> pd.DataFrame:
        """Return the open sessions of an account or of all, as :meth:`.AccountTables.sessions` does."""
        return self.store.accounts.sessions(None if name is None else self._known(name))

    def end_session(self, session: str) -> None:
        """Sign out in one browser; `session` is the digest. What the person has reserved on the judging page is free.

        If they judge in another browser, it reserves what is still free there with its next request.
        """
        with self.store.transaction():
            row = self.store.accounts.session(session)
            self.store.accounts.end_session(session)
            if row is not None:
                self._release(row.name)

    def end_sessions(self, name: str, keep: str | None = None) -> None:
        """Sign a person out everywhere except in the session `keep`; without one, end their reservations as well."""
        with self.store.transaction():
            self.store.accounts.end_sessions(clean := self._known(name), keep)
            if keep is None:
                self._release(clean)

    def make_signin_link(self, name: str) -> str:
        """Return the token of a one-time link that signs the person in, for the terminal."""
        with self.store.transaction():
            self._not_locked(clean := self._known(name))
            return self._link(clean)

    def signin_link_account(self, token: str) -> str | None:
        """Return the account of a sign-in link, without using it up; None if it is not valid."""
        return self._account_of(token, invitation=False)

    def use_signin_link(self, token: str, device: Device | None = None) -> str | None:
        """Use up a sign-in link, and return the secret of the session that it opens; None if it is not valid."""
        with self.store.transaction():
            name = self.signin_link_account(token)
            if name is None:
                return None
            self.store.accounts.use_signin_link(digest(token))
            return self.open_session(name, device)

    def invited(self, token: str) -> str | None:
        """Return the account of an invitation, without using it up; None if it is not valid."""
        return self._account_of(token, invitation=True)

    def accept_invitation(self, token: str, password: str, device: Device | None = None) -> str | None:
        """Use up an invitation to set a password, and return the secret of a new session; None if it is not valid.

        InputError as in :meth:`set_password`; the invitation then remains valid.
        """
        name = self.invited(token)
        if name is None:
            return None
        accounts.require_password(password, name)
        hashed = accounts.hash_password(password)
        with self.store.transaction():
            if self.invited(token) is None:  # used in the meantime
                return None
            self.store.accounts.use_signin_link(digest(token))
            self._set_password(name, hashed, None)
            return self.open_session(name, device)

    def start_signin(self, requested: str | None, login: str) -> tuple[str, str]:
        """Return the account and the token of the link that is printed when the app starts.

        The account is `requested`, else the one called `login`, else the first manager. Without a manager, it becomes
        one.
        CampaignError if the account `requested` is unknown or locked.
        """
        with self.store.transaction():
            account = self.store.accounts.get(_composed(requested or login))
            managers = self.store.accounts.open_managers()
            if account is None and not managers:
                name = self.add(requested or _composed(login) or "manager", "manager", None)
                return name, self._link(name)
            if requested and account is None:
                raise CampaignError(
                    f"unknown account {requested!r}; create it with `cleverdon people {quote(str(self.directory))} "
                    f"--invite {quote(requested)} --role annotator`, or choose from "
                    f"{', '.join(self.store.accounts.names())}"
                )
            if requested and account is not None and account.locked:
                raise CampaignError(
                    f"the account {account.name!r} is locked; unlock it with `cleverdon people "
                    f"{quote(str(self.directory))} --unlock {quote(account.name)}`"
                )
            if account is None or account.locked:
                if not managers:
                    raise CampaignError("no manager can sign in; start with --as NAME to make NAME a manager")
                return managers[0], self._link(managers[0])
            if not managers:
                self.store.accounts.update(account.name, "role", "manager")
            return account.name, self._link(account.name)

    def admit(self, email: str, role: Role, name: str | None = None) -> str | None:
        """Admit a person whom a provider has identified, and return the token of a link that signs them in.

        The account with this address gets the role, except the last manager. Without such an account one is added,
        named `name` if that is free, else by the address. None if the account is locked.
        """
        address = accounts.clean_email(email)
        if address is None:
            raise InputError("expected an e-mail address, found none")
        with self.store.transaction():
            account = self.store.accounts.find_by_email(address)
            if account is None:
                own_name = self._free_name(name, address)
                return self._link(self.add(own_name, role, address), seconds=60)
            if account.locked:
                return None
            with suppress(CampaignError):  # the last manager keeps the role
                self.set_role(account.name, role)
            return self._link(account.name, seconds=60)

    def _release(self, name: str, *, lists: bool = False) -> None:
        """End the reservations of a person in the campaign and its tasks; with `lists`, also those of work lists."""
        for store in self.store.with_tasks():
            store.reservations.release(clock.seconds(), name, lists=lists)

    def _require_free(self, address: str | None, name: str) -> None:
        holder = None if address is None else self.store.accounts.find_by_email(address)
        if holder is not None and holder.name != name:
            raise ConflictError(f"the address {address} belongs to the account {holder.name!r}")

    def _free_name(self, name: str | None, address: str) -> str:
        taken = {other.casefold() for other in (*self.store.accounts.names(), *self.store.accounts.names_in_the_log())}
        for wanted in (name, address):
            with suppress(InputError):
                if wanted and accounts.clean_name(wanted).casefold() not in taken:
                    return wanted
        raise ConflictError(f"the name {address!r} is taken; ask a manager to add your address to an account")

    def _known(self, name: str) -> str:
        account = self.store.accounts.get(_composed(name))
        if account is None:
            raise UnknownNameError("account", name, self.store.accounts.names())
        return account.name

    def _not_locked(self, name: str) -> None:
        account = self.store.accounts.get(name)
        if account is not None and account.locked:
            raise CampaignError(f"the account {name!r} is locked; unlock it first")

    def _keep_a_manager(self, name: str, what: str) -> None:
        if self.store.accounts.open_managers() == [name]:
            raise CampaignError(
                f"{name!r} is the only manager who can sign in; make someone else a manager before you {what} it"
            )

    def _set_password(self, name: str, hashed: str, keep: str | None) -> None:
        self.store.accounts.update(name, "password", hashed)
        self.store.accounts.end_sessions(name, keep)
        self.store.accounts.void_signin_links(name)

    def _account_of(self, token: str, *, invitation: bool) -> str | None:
        link = self.store.accounts.signin_link(digest(token))
        return None if link is None or link.invitation != invitation else link.account

    def _link(self, name: str, seconds: float = LINK_DAYS * A_DAY, *, invitation: bool = False) -> str:
        token = secrets.token_urlsafe(24)
        self.store.accounts.add_signin_link(digest(token), name, until=clock.seconds() + seconds, invitation=invitation)
        return token


def _free_unassigned(store: Store) -> None:
    """Apply new groups to the pairs that people may judge, and to their reservations."""
    with store.transaction():
        store.assignments.changed()
        store.reservations.release_foreign(clock.seconds())


def _composed(name: str) -> str:
    """Normalise a name as typed; an invalid one becomes empty, which is no account."""
    try:
        return accounts.clean_name(name)
    except InputError:
        return ""


def _clean_groups(groups: Iterable[str]) -> list[str]:
    return sorted({accounts.clean_name(group, "group") for group in groups})
