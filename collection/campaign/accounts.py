"""Who may come in: accounts and roles, sessions and one-time links."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import pandas as pd

from collection import accounts, clock
from collection.errors import CampaignError, ConflictError, InputError, UnknownNameError, WrongPasswordError
from collection.records import Role
from collection.store import Store

A_DAY = 24 * 3600.0

SESSION_DAYS = 30
"""A browser that has signed in stays signed in for so long."""

LINK_DAYS = 7
"""A link that nobody has used is void after so long."""


class Person(NamedTuple):
    """Somebody who is signed in."""

    name: str
    role: Role
    session: str
    """The digest of their session: names it, and does not open it."""


def digest(secret: str) -> str:
    """What is kept of a secret that was made here: it has 192 random bits, so no salt and no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(eq=False)
class Accounts:
    """Who may come in: accounts and roles, sessions and one-time links."""

    store: Store
    directory: Path

    def table(self) -> pd.DataFrame:
        """All accounts; the columns are those of :meth:`collection.store.accounts.People.accounts`."""
        return self.store.accounts.table()

    def groups(self) -> dict[str, list[str]]:
        """Group -> names of its members, both in order."""
        return self.store.accounts.groups()

    def add(self, name: str, role: Role | str, email: str | None = None) -> str:
        """A new account, without a password; :meth:`invite` is what people use.

        Parameters
        ----------
        name
            The annotator that the judgements of this person are kept under.
        role
            One of :data:`collection.records.ROLES`.
        email
            What a provider will know the person by.

        Returns
        -------
        str
            The name as it is kept.

        Raises
        ------
        InputError
            Name, role or address cannot be one.
        ConflictError
            There is an account of this name or with this address, or one that differs in case only.
        """
        with self.store.transaction():
            return self._add(name, role, email)

    def invite(self, name: str, role: Role | str, groups: Iterable[str] = (), email: str | None = None) -> str:
        """A new account, and the token of a one-time link with which the person chooses a password.

        Raises
        ------
        InputError, ConflictError
            As :meth:`add`; also where judgements were imported under this name: theirs and those of the
            newcomer could not be told apart.
        """
        members = _clean_groups(groups)
        with self.store.transaction():
            clean = self._add(name, role, email)
            if self.store.accounts.was_imported(clean):
                raise ConflictError(
                    f"judgements of {clean!r} were imported, and a newcomer's would be mixed with them; "
                    "choose another name"
                )
            self.store.accounts.set_groups(clean, members)
            return self._link(clean, invitation=True)

    def invite_again(self, name: str) -> str:
        """The token of a new link with which somebody who has an account chooses a password; earlier ones are void."""
        with self.store.transaction():
            self._not_locked(clean := self._known(name))
            return self._link(clean, invitation=True)

    def set_role(self, name: str, role: Role | str) -> None:
        """Give the account another role; it counts from the person's next click on.

        Raises
        ------
        CampaignError
            This is the last manager who can come in.
        """
        with self.store.transaction():
            self._set_role(self._known(name), accounts.clean_role(role))

    def set_groups(self, name: str, groups: Iterable[str]) -> None:
        """Make the person a member of these groups, and of no others."""
        members = _clean_groups(groups)
        with self.store.transaction():
            self.store.accounts.set_groups(self._known(name), members)
            self.store.assignments.changed()

    def set_email(self, name: str, email: str | None) -> None:
        """Give the account another address, or none."""
        with self.store.transaction():
            clean, address = self._known(name), accounts.clean_email(email)
            self._require_free(address, clean)
            self.store.accounts.update(clean, "email", address)

    def lock(self, name: str) -> None:
        """Lock the account: its sessions end at once, and its links are void.

        Raises
        ------
        CampaignError
            This is the last manager who can come in.
        """
        with self.store.transaction():
            clean = self._known(name)
            self._keep_a_manager(clean, "lock")
            self.store.accounts.update(clean, "locked", True)
            self.store.accounts.end_sessions(clean)
            self.store.accounts.void_signin_links(clean)

    def unlock(self, name: str) -> None:
        """Let the person sign in again."""
        with self.store.transaction():
            self.store.accounts.update(self._known(name), "locked", False)

    def set_password(self, name: str, password: str, keep: str | None = None) -> None:
        """Give the account a password; its other sessions end, and its links are void.

        Parameters
        ----------
        keep
            The session (its digest) that stays open: the one in which the password was changed.

        Raises
        ------
        InputError
            The password is too short, too long or too easy; see :func:`collection.accounts.require_password`.
        """
        accounts.require_password(password, name)
        hashed = accounts.hash_password(password)  # a tenth of a second: not while everybody waits for the lock
        with self.store.transaction():
            self._set_password(self._known(name), hashed, keep)

    def change_password(self, name: str, old: str, new: str, keep: str | None = None) -> None:
        """The same by the person, who has to know the old one, where there is one.

        Raises
        ------
        WrongPasswordError
            The old password is another.
        InputError
            The new one is no good.
        """
        if self.has_password(name) and self.check_password(name, old) is None:
            raise WrongPasswordError("the old password is another")
        self.set_password(name, new, keep)

    def check_password(self, name: str, password: str) -> str | None:
        """The name of the account if the password is its own, else None.

        Where there is no such account, or it is locked, that takes the same work, so that the time does not tell.
        How often somebody may try is counted by who serves, not here.
        """
        account = self.store.accounts.get(_composed(name))
        hashed = None if account is None or account.locked else account.password
        fits = accounts.verify_password(hashed, password)
        if account is None or hashed is None or not fits:
            return None
        if accounts.is_outdated(hashed):
            anew = accounts.hash_password(password)
            with self.store.transaction():
                self.store.accounts.update(account.name, "password", anew)
        return account.name

    def has_password(self, name: str) -> bool:
        """Whether the person has chosen a password."""
        account = self.store.accounts.get(name)
        return account is not None and account.password is not None

    def open_session(self, name: str) -> str:
        """The secret of a new session of this account, which a browser keeps.

        Raises
        ------
        CampaignError
            The account is locked.
        """
        with self.store.transaction():
            return self._open_session(self._known(name))

    def session(self, secret: str) -> Person | None:
        """Who is signed in with this secret; None where the session is over, or the account locked."""
        return self.session_of(digest(secret))

    def session_of(self, session: str) -> Person | None:
        """The same by the session's digest. One read by the key: every save of a judgement asks this."""
        found = self.store.accounts.session(session)
        return None if found is None else Person(*found, session)

    def end_session(self, session: str) -> None:
        """Sign out in one browser; `session` is the digest."""
        with self.store.transaction():
            self.store.accounts.end_session(session)

    def end_sessions(self, name: str, keep: str | None = None) -> None:
        """Sign a person out everywhere, or everywhere but in the session `keep`."""
        with self.store.transaction():
            self.store.accounts.end_sessions(self._known(name), keep)

    def make_signin_link(self, name: str) -> str:
        """A one-time token that signs the person in as it is, for the terminal; only its digest is kept."""
        with self.store.transaction():
            self._not_locked(clean := self._known(name))
            return self._link(clean)

    def signin_link_account(self, token: str) -> str | None:
        """Whom a sign-in link is for; None where it was used, is too old, or was never made. Nothing is used up."""
        link = self.store.accounts.signin_link(digest(token))
        return None if link is None or link.invitation else link.account

    def use_signin_link(self, token: str) -> str | None:
        """The secret of the session that the token opens, the first time that it is used; None afterwards."""
        with self.store.transaction():
            link = self.store.accounts.signin_link(digest(token))
            if link is None or link.invitation:
                return None
            self.store.accounts.use_signin_link(digest(token))
            return self._open_session(link.account)

    def invited(self, token: str) -> str | None:
        """Whom an invitation is for; None where it was used, is too old, or was never made. Nothing is used up."""
        link = self.store.accounts.signin_link(digest(token))
        return None if link is None or not link.invitation else link.account

    def accept_invitation(self, token: str, password: str) -> str | None:
        """Set the password of whom the invitation is for: the secret of their session, or None as :meth:`invited`.

        Raises
        ------
        InputError
            The password is no good; the invitation can still be used.
        """
        name = self.invited(token)
        if name is None:
            return None
        accounts.require_password(password, name)
        hashed = accounts.hash_password(password)
        with self.store.transaction():
            link = self.store.accounts.signin_link(digest(token))  # somebody else may have been quicker
            if link is None or not link.invitation:
                return None
            self.store.accounts.use_signin_link(digest(token))
            self._set_password(link.account, hashed, None)
            return self._open_session(link.account)

    def start_signin(self, asked: str | None, login: str) -> tuple[str, str]:
        """Who signs in by the link that is printed when the app starts, and the link's token.

        A campaign in which nobody is a manager gets one: `asked`, or else `login`. Later it is `asked`, or else the
        account called `login`, or else the first manager.

        Raises
        ------
        CampaignError
            There is no account `asked`, or it is locked.
        """
        with self.store.transaction():
            account = self.store.accounts.get(_composed(asked or login))
            managers = self.store.accounts.open_managers()
            if account is None and not managers:
                name = self._add(asked or _as_a_name(login), "manager", None)
                return name, self._link(name)
            if asked and account is None:
                raise CampaignError(
                    f"there is no account {asked!r}; `cleverdon people {quote(str(self.directory))} "
                    f"--invite {quote(asked)} --role annotator` makes one, and a link to send; there are "
                    f"{', '.join(self.store.accounts.names())}"
                )
            if asked and account is not None and account.locked:
                raise CampaignError(
                    f"the account {account.name!r} is locked; `cleverdon people {quote(str(self.directory))} "
                    f"--unlock {quote(account.name)}` opens it again"
                )
            if account is None or account.locked:
                if not managers:
                    raise CampaignError("nobody who can come in is a manager; start with --as NAME to make one")
                return managers[0], self._link(managers[0])
            if not managers:
                self.store.accounts.update(account.name, "role", "manager")
            return account.name, self._link(account.name)

    def admit(self, email: str, role: Role, name: str | None = None) -> str | None:
        """Let somebody in whom a provider vouches for: the token of a link that signs them in at once.

        The account with this address is theirs, whatever it is called, and gets the role; the last manager who can
        come in stays one. Where there is none, one is made: called `name` if that is free, else as the address.

        Returns
        -------
        str or None
            None where the account is locked.
        """
        address = accounts.clean_email(email)
        if address is None:
            raise InputError("wanted an e-mail address, found none")
        with self.store.transaction():
            account = self.store.accounts.of_email(address)
            if account is None:
                mine = self._free_name(name, address)
                return self._link(self._add(mine, role, address), seconds=60)
            if account.locked:
                return None
            with suppress(CampaignError):  # the last manager stays one
                self._set_role(account.name, role)
            return self._link(account.name, seconds=60)

    def _add(self, name: str, role: Role | str, email: str | None) -> str:
        clean, role, address = accounts.clean_name(name), accounts.clean_role(role), accounts.clean_email(email)
        same = [other for other in self.store.accounts.names() if other.casefold() == clean.casefold()]
        if same:
            raise ConflictError(f"there is an account {same[0]!r} already; choose another name than {clean!r}")
        for other in self.store.accounts.names_in_the_log():
            if other != clean and other.casefold() == clean.casefold():
                raise ConflictError(f"there are judgements of {other!r} already; write the name as they do, or another")
        self._require_free(address, clean)
        self.store.accounts.add(clean, role, address)
        return clean

    def _require_free(self, address: str | None, name: str) -> None:
        holder = None if address is None else self.store.accounts.of_email(address)
        if holder is not None and holder.name != name:
            raise ConflictError(f"{address} is the address of {holder.name!r} already")

    def _free_name(self, name: str | None, address: str) -> str:
        taken = {other.casefold() for other in (*self.store.accounts.names(), *self.store.accounts.names_in_the_log())}
        for wanted in (name, address):
            with suppress(InputError):
                if wanted and accounts.clean_name(wanted).casefold() not in taken:
                    return wanted
        raise ConflictError(f"the name {address!r} is taken; a manager can make an account with this address")

    def _known(self, name: str) -> str:
        """The name of an account as it is kept."""
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
                f"{name!r} is the only manager who can come in; make somebody else one before you {what} the account"
            )

    def _set_role(self, name: str, role: Role) -> None:
        if role != "manager":
            self._keep_a_manager(name, "give another role to")
        self.store.accounts.update(name, "role", role)

    def _set_password(self, name: str, hashed: str, keep: str | None) -> None:
        self.store.accounts.update(name, "password", hashed)
        self.store.accounts.end_sessions(name, keep)
        self.store.accounts.void_signin_links(name)

    def _open_session(self, name: str) -> str:
        self._not_locked(name)
        secret = secrets.token_urlsafe(24)
        self.store.accounts.add_session(digest(secret), name, clock.seconds() + SESSION_DAYS * A_DAY)
        return secret

    def _link(self, name: str, seconds: float = LINK_DAYS * A_DAY, *, invitation: bool = False) -> str:
        token = secrets.token_urlsafe(24)
        self.store.accounts.add_signin_link(digest(token), name, until=clock.seconds() + seconds, invitation=invitation)
        return token


def _composed(name: str) -> str:
    """A name as somebody typed it, made comparable; an impossible one is nobody's."""
    try:
        return accounts.clean_name(name)
    except InputError:
        return ""


def _as_a_name(login: str) -> str:
    return _composed(login) or "manager"


def _clean_groups(groups: Iterable[str]) -> list[str]:
    return sorted({accounts.clean_name(group, "group") for group in groups})
