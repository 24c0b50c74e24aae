"""Account names, passwords, and the role that a sign-in at a provider gives."""

from __future__ import annotations

import fnmatch
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from collection.core.errors import InputError, UnknownNameError
from collection.core.records import QRELS_ANNOTATOR, ROLES, Role

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LONGEST_NAME = 64
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1000
"""Characters; limits the time that hashing a password takes."""

GROUP = "group:"
"""Prefix of a group of the provider among the people of a role."""


def clean_name(name: str, what: str = "name") -> str:
    """The name trimmed and composed (NFC), so that names that look alike are equal.

    Raises
    ------
    InputError
        It is empty, too long, has invisible characters, or begins with the prefix of imported qrels.

    Examples
    --------
    >>> clean_name("  Ann ")
    'Ann'
    """
    clean = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(clean) <= LONGEST_NAME:
        raise InputError(f"{what}: expected 1 to {LONGEST_NAME} characters, found {len(clean)}")
    # Control and format characters, line separators, surrogates, private use and unassigned characters.
    if any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in clean):
        raise InputError(f"{what}: expected only visible characters, found {clean!r}")
    if clean.casefold().startswith(QRELS_ANNOTATOR):
        raise InputError(
            f"{what}: {QRELS_ANNOTATOR!r} is reserved for imported qrels, found {clean!r}; choose another {what}"
        )
    return clean


def clean_email(email: str | None) -> str | None:
    """The address trimmed, or None if empty; raises :class:`InputError` if it cannot be an address."""
    clean = (email or "").strip()
    if not clean:
        return None
    before, at, after = clean.rpartition("@")
    if not (before and at and after) or any(c.isspace() or not c.isprintable() for c in clean) or len(clean) > 254:
        raise InputError(f"expected an e-mail address such as ann@example.org, found {clean!r}")
    return clean


def clean_role(role: str) -> Role:
    """The role of this name; raises :class:`InputError` if there is none."""
    if role not in ROLES:
        raise UnknownNameError("role", role, ROLES)
    return role


def require_password(password: str, name: str) -> None:
    """Raise :class:`InputError` for a password that is too short, too long or too easy to guess.

    There are no rules on kinds of characters, as NIST SP 800-63B (5.1.1.2) recommends.
    """
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(f"password: expected at least {SHORTEST_PASSWORD} characters, found {len(password)}")
    if len(password) > LONGEST_PASSWORD:
        raise InputError(f"password: expected at most {LONGEST_PASSWORD:,} characters, found {len(password):,}")
    if password.casefold().strip() == name.casefold() or len(set(password)) < 4:
        raise InputError("this password is too easy to guess; use a few unrelated words")


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher()  # argon2id with the parameters of RFC 9106 for little memory


def hash_password(password: str) -> str:
    """The argon2id hash of a password, with its salt and parameters."""
    return _hasher().hash(_composed(password))


@cache
def _placeholder_hash() -> str:
    return hash_password("nobody has this password")


def verify_password(hashed: str | None, password: str) -> bool:
    """Return whether the password was hashed to this; without a hash False, after the same time."""
    from argon2.exceptions import InvalidHashError, VerificationError

    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        _hasher().verify(_placeholder_hash() if hashed is None else hashed, _composed(password))
    except (VerificationError, InvalidHashError):
        return False
    return hashed is not None


def is_outdated(hashed: str) -> bool:
    """Return whether the hash was made with weaker parameters than today's."""
    return _hasher().check_needs_rehash(hashed)


def _composed(password: str) -> bytes:
    # Keyboards compose differently; a lone surrogate, which a form can send, must not raise.
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


def find_role(email: str | None, groups: Iterable[str], roles: Mapping[Role, Sequence[str]]) -> Role | None:
    """Find the role of a person who signed in with a provider; None without a role.

    `roles`: role -> addresses, patterns of addresses (``*@example.org``), or groups (``group:NAME``), ignoring case.
    Of several roles the first of manager, annotator, reader counts.

    >>> table = {"manager": ["ann@x.org"], "annotator": ["*@x.org", "group:judges"]}
    >>> find_role("Ann@x.org", [], table), find_role("eve@y.org", ["staff"], table)
    ('manager', None)
    >>> find_role("bob@x.org", [], table), find_role("eve@y.org", ["Judges"], table)
    ('annotator', 'annotator')
    """
    names = {group.casefold() for group in groups}
    address = (email or "").casefold()
    for role in ROLES:
        for who in roles.get(role, ()):
            name = who.casefold()
            if name.startswith(GROUP):
                if name.removeprefix(GROUP).strip() in names:
                    return role
            elif address and fnmatch.fnmatchcase(address, name):
                return role
    return None


def read_groups(claims: Mapping[str, object], claim: str) -> list[str]:
    """Read the groups from a provider's claims: a list or one name; a dot in `claim` leads into an object.

    >>> read_groups({"realm_access": {"roles": ["judges"]}}, "realm_access.roles")
    ['judges']
    """
    value: object = claims.get(claim)
    if value is None:
        value = claims
        for part in claim.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return [value]
    return [str(group) for group in value] if isinstance(value, list | tuple) else []
