"""Signed cookies and tokens: who is at the other end, without asking the database.

Two kinds, each with its own salt so that one can never pass for the other: the cookie of a browser
that signed in by the one-time link, and the short-lived token with which the card posts judgements.
Both name one annotator and one campaign.
"""

from __future__ import annotations

from itsdangerous import BadData, URLSafeTimedSerializer

COOKIE_SECONDS = 30 * 24 * 3600
TOKEN_SECONDS = 15 * 60

TOKEN_HEADER = "X-Cleverdon-Token"
"""A header, not a cookie: a page of another origin cannot set it, so it cannot post for somebody."""


def cookie_name(campaign_id: str) -> str:
    """Cookies do not tell ports apart, so two campaigns served from one machine need two names."""
    return f"cleverdon-{campaign_id}"


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
        self._cookie = URLSafeTimedSerializer(secret, salt="cleverdon sign-in")
        self._token = URLSafeTimedSerializer(secret, salt="cleverdon judging")

    def cookie(self, annotator: str) -> str:
        """The value of the sign-in cookie of an annotator."""
        return str(self._cookie.dumps([self._campaign_id, annotator]))

    def token(self, annotator: str) -> str:
        """A token with which the card may post judgements of this annotator for a quarter of an hour."""
        return str(self._token.dumps([self._campaign_id, annotator]))

    def read_cookie(self, value: str | None) -> str | None:
        """The annotator whom a cookie signs in; None if it is absent, forged, too old or of another campaign."""
        return self._read(self._cookie, value, COOKIE_SECONDS)

    def read_token(self, value: str | None) -> str | None:
        """The annotator whom a token speaks for, or None."""
        return self._read(self._token, value, TOKEN_SECONDS)

    def _read(self, serializer: URLSafeTimedSerializer, value: str | None, max_age: int) -> str | None:
        try:
            campaign_id, annotator = serializer.loads(value or "", max_age=max_age)
        except (BadData, ValueError, TypeError):
            return None
        return str(annotator) if campaign_id == self._campaign_id else None
