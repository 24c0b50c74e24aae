"""Signed cookies and tokens of one campaign.

Each kind has its own salt, so that none passes for another. Whether the session they name is still open is for the
store to say.
"""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer
from starlette.requests import HTTPConnection

from annotate.server.campaign_thread import CampaignThread
from collection.campaign.operations.server_state import read_secret
from collection.campaign.people.accounts import SESSION_DAYS, Person
from collection.core import clock
from collection.core.errors import CampaignError

COOKIE_SECONDS = SESSION_DAYS * 24 * 3600
TOKEN_SECONDS = 15 * 60
BROWSER_SECONDS = 365 * 24 * 3600

TOKEN_HEADER = "X-Cleverdon-Token"
"""A header, not a cookie: a page of another origin cannot set it, so it cannot post on behalf of a person."""


def cookie_name(campaign_id: str) -> str:
    """Name the sign-in cookie of a campaign: cookies ignore ports, and one machine may serve several campaigns."""
    return f"cleverdon-{campaign_id}"


def browser_cookie_name(campaign_id: str) -> str:
    """Name the cookie of a browser in which a person has signed in before."""
    return f"cleverdon-browser-{campaign_id}"


class Browser(NamedTuple):
    """A browser in which a person has signed in before; this alone grants no access."""

    name: str
    key: str


class Bearer(NamedTuple):
    """The annotator and the session (its digest) that a judging token stands for."""

    annotator: str
    session: str


class _Signer(TimestampSigner):
    """Signs with the campaign's clock: where the system's is set back, no signature lies in the future."""

    def get_timestamp(self) -> int:
        return int(clock.seconds())


class Tokens:
    """Makes and reads the cookies and tokens of one campaign; `secret` is its signing key."""

    def __init__(self, secret: bytes, campaign_id: str) -> None:
        self._campaign_id = campaign_id
        self._cookie, self._token, self._browser = (
            URLSafeTimedSerializer(secret, salt=f"cleverdon {use}", signer=_Signer)
            for use in ("sign-in", "judging", "browser")
        )

    def cookie(self, secret: str) -> str:
        """Make the sign-in cookie for the secret of a session."""
        return str(self._cookie.dumps([self._campaign_id, secret]))

    def token(self, annotator: str, session: str) -> str:
        """Make a token with which the card may post this annotator's judgements for 15 minutes."""
        return str(self._token.dumps([self._campaign_id, annotator, session]))

    def browser_cookie(self, name: str) -> str:
        """Make the cookie of a browser in which this person has just signed in."""
        return str(self._browser.dumps([self._campaign_id, name, secrets.token_hex(8)]))

    def read_cookie(self, value: str | None) -> str | None:
        """Read the session's secret; None if the cookie is absent, forged or of another campaign.

        A cookie of any age is read: the store knows until when the session is open.
        """
        parts = self._read(self._cookie, value, None, 1)
        return None if parts is None else parts[0]

    def read_token(self, value: str | None) -> Bearer | None:
        """Read a token; None if it is absent, forged, too old or of another campaign."""
        parts = self._read(self._token, value, TOKEN_SECONDS, 2)
        return None if parts is None else Bearer(*parts)

    def read_browser_cookie(self, value: str | None) -> Browser | None:
        """Read a browser's cookie; None if it is absent, forged, too old or of another campaign."""
        parts = self._read(self._browser, value, BROWSER_SECONDS, 2)
        return None if parts is None else Browser(*parts)

    def _read(self, kind: URLSafeTimedSerializer, value: str | None, age: int | None, size: int) -> list[str] | None:
        try:
            campaign_id, *rest = kind.loads(value or "", max_age=age)
        except (BadData, ValueError, TypeError):
            return None
        return [str(part) for part in rest] if campaign_id == self._campaign_id and len(rest) == size else None


class CurrentTokens:
    """The :class:`Tokens` of a campaign by the key that it has now: ``--rotate-secret`` replaces it while we serve."""

    def __init__(self, directory: Path, campaign_id: str) -> None:
        self._directory, self._campaign_id = directory, campaign_id
        self._secret = read_secret(directory)
        self._tokens = Tokens(self._secret, campaign_id)

    def get(self) -> Tokens:
        """Read the key again; without a readable one, which the pages report, the last one stays."""
        with suppress(CampaignError, OSError):
            if (secret := read_secret(self._directory)) != self._secret:
                self._secret, self._tokens = secret, Tokens(secret, self._campaign_id)
        return self._tokens

    async def signed_in(self, request: HTTPConnection, thread: CampaignThread) -> Person | None:
        """Return the person whose open session the browser has; a request without a sign-in cookie never waits."""
        secret = self.get().read_cookie(request.cookies.get(cookie_name(self._campaign_id)))
        return None if secret is None else await thread.run(lambda campaign: campaign.people.accounts.session(secret))
