"""Who is signed in, and the campaign of this script run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate.auth.tokens import Tokens, cookie_name
from collection.campaign import Campaign
from collection.records import Role


class Session(NamedTuple):
    """One script run: a campaign opened in its thread, and the person at the browser."""

    campaign: Campaign
    annotator: str
    role: Role
    tokens: Tokens
    digest: str
    """The browser's session, as the store knows it."""

    def token(self) -> str:
        """What the judging card shows the routes: this person, in this browser, for a quarter of an hour."""
        return self.tokens.token(self.annotator, self.digest)


DIRECTORY_VARIABLE = "CLEVERDON_CAMPAIGN"
"""How the script, which Streamlit runs by itself, learns which campaign it shows."""

_current: ContextVar[Session] = ContextVar("session")


@contextmanager
def open_session() -> Iterator[Session | None]:
    """Open the campaign for this script run; None where nobody is signed in.

    The store is asked in every run: who has signed out, or is locked, is gone with the next click.
    """
    with open_campaign() as campaign:
        tokens = Tokens(campaign.server_state.secret(), campaign.id)
        secret = tokens.read_cookie(st.context.cookies.get(cookie_name(campaign.id)))
        person = None if secret is None else campaign.accounts.session(secret)
        if person is None:
            yield None
            return
        session = Session(campaign, person.name, person.role, tokens, person.session)
        reset = _current.set(session)
        try:
            yield session
        finally:
            _current.reset(reset)


def open_campaign() -> Campaign:
    """The campaign that the app shows, opened in this thread."""
    return Campaign(Path(os.environ[DIRECTORY_VARIABLE]))


def current() -> Session:
    """The session of this script run; pages are only run inside one."""
    return _current.get()
