"""Who is signed in, and the campaign of this script run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate.judging.tokens import Tokens, cookie_name
from collection.campaign import Campaign


class Session(NamedTuple):
    """One script run: a campaign opened in its thread, and the person at the browser."""

    campaign: Campaign
    annotator: str
    tokens: Tokens


DIRECTORY_VARIABLE = "CLEVERDON_CAMPAIGN"
"""How the script, which Streamlit runs by itself, learns which campaign it shows."""

_current: ContextVar[Session] = ContextVar("session")


@contextmanager
def opened() -> Iterator[Session | None]:
    """Open the campaign for this script run; None where nobody is signed in."""
    with Campaign(Path(os.environ[DIRECTORY_VARIABLE])) as campaign:
        tokens = Tokens(campaign.secret(), campaign.id)
        annotator = tokens.read_cookie(st.context.cookies.get(cookie_name(campaign.id)))
        if annotator is None:
            yield None
            return
        session = Session(campaign, annotator, tokens)
        reset = _current.set(session)
        try:
            yield session
        finally:
            _current.reset(reset)


def current() -> Session:
    """The session of this script run; pages are only run inside one."""
    return _current.get()
