"""Settings of an OpenID Connect provider (``sso.toml``), and the role of the people whom it signs in.

The sign-in itself is Streamlit's (``st.login``, which needs Authlib).
"""

import hashlib
import hmac
import importlib.util
import stat
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from streamlit.runtime.secrets import SecretsValue

from annotate.server.origins import encode_address
from collection.accounts import clean_role, find_role, read_groups
from collection.core.errors import CampaignError, FormatError, InputError
from collection.core.records import Role

FILE = "sso.toml"
NAME = "provider"  # the provider's name in Streamlit's settings
CLAIMS_VALID = 5 * 60
"""Seconds for which the provider's claims are valid; Streamlit keeps them for 30 days, in which people may leave."""
CLOCK_SKEW = 2 * 60  # seconds by which the provider's clock may be ahead

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_REQUIRED = ("address", "metadata_url", "client_id", "client_secret")
_OPTIONAL = ("title", "scope", "email_claim", "groups_claim")


class Newcomer(NamedTuple):
    """A person whom the provider has signed in, and their role in the campaign."""

    email: str
    name: str | None
    role: Role


class Provider(NamedTuple):
    """A provider, the app's address, and the people of each role."""

    title: str
    address: str  # the app's, such as ``https://judging.example.org``
    metadata_url: str
    client_id: str
    client_secret: str
    roles: dict[Role, list[str]]
    scope: str = "openid email profile"
    email_claim: str = "email"
    groups_claim: str = "groups"
    readable: bool = False  # whether others on this machine can read the file, which contains a secret

    def secrets(self, key: bytes) -> dict[str, SecretsValue]:
        """Return the secrets for ``st.App``; the cookie's key is derived from the campaign's."""
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

    def identify(self, claims: Mapping[str, object], at: float | None = None) -> Newcomer | None:
        """Identify a person by the provider's claims; None where they are too old, to sign in there again.

        `at` is in seconds since the epoch, now if left out. Raises :class:`InputError` where the claims have no e-mail
        address, an unverified one, or one without a role.
        """
        issued = claims.get("iat")
        now = time.time() if at is None else at
        if not isinstance(issued, int | float) or not -CLOCK_SKEW <= now - issued <= CLAIMS_VALID:
            return None
        email = claims.get(self.email_claim)
        if not isinstance(email, str) or not email:
            raise InputError(
                f"{self.title} sent no e-mail address for you (expected in the claim {self.email_claim!r})"
            )
        if str(claims.get("email_verified", True)).lower() == "false":
            raise InputError(f"{self.title} has not verified your address {email}; verify it there and sign in again")
        role = find_role(email, read_groups(claims, self.groups_claim), self.roles)
        if role is None:
            raise InputError(f"{email} has no role in this campaign; ask one of its managers to add you")
        name = claims.get("name")
        return Newcomer(email, name if isinstance(name, str) else None, role)


def read_provider(directory: Path) -> Provider | None:
    """Read the provider's settings; None where there is no ``sso.toml``.

    Raises :class:`FormatError` if a setting is missing, unknown or wrong, and :class:`CampaignError` where Authlib
    is not installed.
    """
    path = directory / FILE
    if not path.exists():
        return None
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(path, None, "TOML", str(error)) from error
    if importlib.util.find_spec("authlib") is None:
        raise CampaignError(
            f"{path} needs Authlib, which is not installed; run `pip install 'Authlib<2'`, or remove the file"
        )
    text = {key: _text(path, content, key) for key in (*_REQUIRED, *(key for key in _OPTIONAL if key in content))}
    text["address"] = text["address"].rstrip("/")
    for key in ("address", "metadata_url"):
        _require_safe(path, key, text[key])
    if urlsplit(text["address"]).path:
        raise FormatError(path, None, "an address without a path", text["address"])
    text["address"] = encode_address(text["address"])
    settings = (*_REQUIRED, *_OPTIONAL, "roles")
    if unknown := set(content) - set(settings):
        raise FormatError(path, None, f"only the settings {', '.join(settings)}", ", ".join(sorted(unknown)))
    text.setdefault("title", urlsplit(text["metadata_url"]).hostname or "provider")
    readable = bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    return Provider(**text, roles=_roles(path, content.get("roles")), readable=readable)


def _text(path: Path, content: Mapping[str, object], key: str) -> str:
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


def _roles(path: Path, table: object) -> dict[Role, list[str]]:
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
