"""Signing in at a provider (OpenID Connect): what ``sso.toml`` in the campaign's directory says.

The sign-in itself is Streamlit's (``st.login``, which needs Authlib). Here stands who the provider's people are in
this campaign.
"""

import hashlib
import hmac
import importlib.util
import stat
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from annotate.server.origins import ascii_address
from collection.accounts import claimed_groups, clean_role, role_of
from collection.errors import CampaignError, FormatError, InputError
from collection.records import Role

FILE = "sso.toml"
NAME = "provider"
"""What Streamlit knows the provider by; of no meaning outside."""
FRESH = 5 * 60
"""Seconds for which the provider's word counts. Streamlit keeps it for 30 days, in which somebody may have left."""
AHEAD = 2 * 60
"""Seconds by which the provider's clock may be ahead."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Newcomer(NamedTuple):
    """Somebody whom the provider vouches for, and what they are here."""

    email: str
    name: str | None
    role: Role


class Provider(NamedTuple):
    """A provider, and which of its people have which role."""

    title: str
    address: str
    """Where browsers find the app, such as ``https://judging.example.org``."""
    metadata_url: str
    client_id: str
    client_secret: str
    roles: dict[Role, list[str]]
    scope: str = "openid email profile"
    email_claim: str = "email"
    groups_claim: str = "groups"
    readable: bool = False
    """Whether others on this machine can read the file, which has a secret in it."""

    def secrets(self, key: bytes) -> dict[str, Any]:
        """What ``st.App`` is given; the cookie's key comes from the campaign's own."""
        cookie_secret = hmac.new(key, b"cleverdon provider", hashlib.sha256).hexdigest()
        return {
            "auth": {
                "redirect_uri": f"{self.address}/oauth2callback",
                "cookie_secret": cookie_secret,
                NAME: {
                    "client_id": self.client_id,
                    "client_secret": self.client_secret,
                    "server_metadata_url": self.metadata_url,
                    "client_kwargs": {"scope": self.scope},
                },
            }
        }

    def newcomer(self, claims: Mapping[str, Any], at: float | None = None) -> Newcomer | None:
        """Who somebody is whom the provider has signed in.

        Parameters
        ----------
        claims
            What the provider says of the person.
        at
            The time, in seconds of the epoch; now, if left out.

        Returns
        -------
        Newcomer or None
            None where that was said too long ago: the person has to go to the provider again.

        Raises
        ------
        InputError
            They are nobody here: no address, one that the provider has not verified, or in no role.
        """
        said = claims.get("iat")
        age = (time.time() if at is None else at) - said if isinstance(said, int | float) else float("inf")
        if not -AHEAD <= age <= FRESH:
            return None
        email = claims.get(self.email_claim)
        if not isinstance(email, str) or not email:
            raise InputError(f"{self.title} gave no e-mail address for you (the claim {self.email_claim!r})")
        if str(claims.get("email_verified", True)).lower() == "false":
            raise InputError(f"{self.title} has not verified that {email} is yours")
        role = role_of(email, claimed_groups(claims, self.groups_claim), self.roles)
        if role is None:
            raise InputError(f"there is no role in this campaign for {email}; ask a manager of it for one")
        name = claims.get("name")
        return Newcomer(email, name if isinstance(name, str) else None, role)


def read(directory: Path) -> Provider | None:
    """The provider of a campaign; None where there is no ``sso.toml``.

    Raises
    ------
    FormatError
        The file is not what it should be.
    CampaignError
        Authlib is not installed.
    """
    path = directory / FILE
    if not path.exists():
        return None
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(path, None, "TOML", str(error)) from error
    if importlib.util.find_spec("authlib") is None:
        raise CampaignError(f"{path} is there, but not Authlib: `pip install cleverdon[sso]`, or remove the file")
    text = {key: _text(path, content, key) for key in ("address", "metadata_url", "client_id", "client_secret")}
    text["address"] = text["address"].rstrip("/")
    for key in ("address", "metadata_url"):
        _require_safe(path, key, text[key])
    if urlsplit(text["address"]).path:
        raise FormatError(path, None, "an address without a path", text["address"])
    text["address"] = ascii_address(text["address"])
    more = {key: _text(path, content, key) for key in ("scope", "email_claim", "groups_claim") if key in content}
    unknown = set(content) - {*text, *more, "title", "roles"}
    if unknown:
        raise FormatError(path, None, f"no other settings than {', '.join(_SETTINGS)}", ", ".join(sorted(unknown)))
    title = (
        _text(path, content, "title") if "title" in content else urlsplit(text["metadata_url"]).hostname or "provider"
    )
    readable = bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    return Provider(title, **text, roles=_roles(path, content.get("roles")), **more, readable=readable)


_SETTINGS = (
    *("address", "metadata_url", "client_id", "client_secret"),
    *("title", "scope", "email_claim", "groups_claim", "roles"),
)


def _text(path: Path, content: Mapping[str, Any], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise FormatError(path, None, f'{key} = "..."', "none" if value is None else repr(value))
    return value.strip()


def _require_safe(path: Path, key: str, url: str) -> None:
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in ("http", "https"):
        raise FormatError(path, None, f"{key} as https://...", url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise FormatError(path, None, f"{key} as https://... (http only on this machine)", url)


def _roles(path: Path, table: Any) -> dict[Role, list[str]]:
    wanted = 'a table [roles] such as annotator = ["*@example.org", "group:judges"]'
    if not isinstance(table, dict) or not table:
        raise FormatError(path, None, wanted, "none" if table is None else repr(table))
    roles: dict[Role, list[str]] = {}
    for name, people in table.items():
        if not isinstance(people, list) or not all(isinstance(who, str) for who in people):
            raise FormatError(path, None, wanted, f"{name} = {people!r}")
        try:
            roles[clean_role(name)] = people
        except InputError as error:
            raise FormatError(path, None, wanted, str(error)) from error
    return roles
