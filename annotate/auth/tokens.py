"""Signed cookies and tokens: what a browser and a judging card show, so that the store is asked for nobody's guesses.

Three kinds, each with its own salt so that one can never pass for the other: the cookie of a browser that signed in,
the short-lived token with which the card posts judgements, and a cookie that tells a browser in which a person has
signed in before from one that is unknown. The first carries the secret of a session; the token names one annotator, one
campaign and the session, by its digest. Whether that session is still open says the store.
"""

import secrets
from typing import NamedTuple

from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer

from collection import clock

COOKIE_SECONDS = 30 * 24 * 3600
TOKEN_SECONDS = 15 * 60
BROWSER_SECONDS = 365 * 24 * 3600

TOKEN_HEADER = "X-Cleverdon-Token"
"""A header, not a cookie: a page of another origin cannot set it, so it cannot post for somebody."""


def cookie_name(campaign_id: str) -> str:
    """Cookies do not tell ports apart, so two campaigns served from one machine need two names."""
    return f"cleverdon-{campaign_id}"


def browser_cookie_name(campaign_id: str) -> str:
    """The name of the cookie of a browser in which somebody has signed in before."""
    return f"cleverdon-browser-{campaign_id}"


class Browser(NamedTuple):
    """A browser in which a person has signed in before. That opens nothing: it only tells it from unknown ones."""

    name: str
    key: str


class Bearer(NamedTuple):
    """Whom a judging token speaks for: an annotator, in one session."""

    annotator: str
    session: str


class _Signer(TimestampSigner):
    """Signs with the campaign's time: a clock that is set back makes no signature one of the future."""

    def get_timestamp(self) -> int:
        return int(clock.seconds())


class Tokens:
    """Makes and reads the cookie and the token of one campaign.

    Parameters
    ----------
    secret
        The campaign's signing key.
    campaign_id
        Goes into both, so that what was made for one campaign is of no use in another.
    """

    def __init__(self, secret: bytes, campaign_id: str) -> None:
        self._campaign_id = campaign_id
        self._cookie, self._token, self._browser = (
            URLSafeTimedSerializer(secret, salt=f"cleverdon {use}", signer=_Signer)
            for use in ("sign-in", "judging", "browser")
        )

    def cookie(self, secret: str) -> str:
        """The value of the sign-in cookie for a session's secret."""
        return str(self._cookie.dumps([self._campaign_id, secret]))

    def token(self, annotator: str, session: str) -> str:
        """A token with which the card may post judgements of this annotator for a quarter of an hour."""
        return str(self._token.dumps([self._campaign_id, annotator, session]))

    def browser_cookie(self, name: str) -> str:
        """The value of the cookie of a browser in which this person has just signed in."""
        return str(self._browser.dumps([self._campaign_id, name, secrets.token_hex(8)]))

    def read_browser_cookie(self, value: str | None) -> Browser | None:
        """Who has signed in before in the browser with this cookie; None if it is absent, forged or too old."""
        found = self._read(self._browser, value, BROWSER_SECONDS, 2)
        return None if found is None else Browser(*found)

    def read_cookie(self, value: str | None) -> str | None:
        """The secret of the session in a cookie; None if it is absent, forged or of another campaign.

        Its age is not looked at: the store knows until when the session is open.
        """
        found = self._read(self._cookie, value, None, 1)
        return None if found is None else found[0]

    def read_token(self, value: str | None) -> Bearer | None:
        """The annotator and the session that a token speaks for, or None."""
        found = self._read(self._token, value, TOKEN_SECONDS, 2)
        return None if found is None else Bearer(*found)

    def _read(
        self, serializer: URLSafeTimedSerializer, value: str | None, max_age: int | None, size: int
    ) -> list[str] | None:
        try:
            campaign_id, *rest = serializer.loads(value or "", max_age=max_age)
        except (BadData, ValueError, TypeError):
            return None
        # A cookie of a version before sessions has a name in it, which opens no session.
        return [str(part) for part in rest] if campaign_id == self._campaign_id and len(rest) == size else None
