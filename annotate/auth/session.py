"""The campaign and the person of a script run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate.auth.tokens import Tokens, cookie_name
from collection.campaign import Campaign
from collection.core.records import Role
from collection.core.vocabulary import RETRIEVAL, Vocabulary


class Session(NamedTuple):
    """A script run: a campaign opened in its thread, and the person at the browser.

    `outer` is the campaign to which accounts and sessions belong; `campaign`, which the page shows, is `outer` or the
    campaign of one of its tasks.
    """

    campaign: Campaign
    outer: Campaign
    annotator: str
    role: Role
    digest: str  # identifies the browser's session in the store
    token: str  # the judging card sends it to the routes


DIRECTORY_VARIABLE = "CLEVERDON_CAMPAIGN"  # names the campaign's directory for the script that Streamlit runs

_current: ContextVar[Session] = ContextVar("session")


@contextmanager
def open_session() -> Iterator[Session | None]:
    """Open the campaign for this script run; None where nobody is signed in.

    The store is asked in every run, so a person who has signed out or is locked loses access at the next click.
    """
    with open_campaign() as campaign:
        tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
        secret = tokens.read_cookie(st.context.cookies.get(cookie_name(campaign.id)))
        person = None if secret is None else campaign.people.accounts.session(secret)
        if person is None:
            yield None
            return
        token = tokens.token(person.name, person.session)
        session = Session(campaign, campaign, person.name, person.role, person.session, token)
        reset = _current.set(session)
        try:
            yield session
        finally:
            _current.reset(reset)


@contextmanager
def in_task(name: str | None) -> Iterator[Session]:
    """Make the campaign of a task the current one inside the block; None keeps the outer campaign."""
    now = _current.get()
    if name is None:
        yield now
        return
    with now.outer.answers.tasks.open(name) as campaign:
        reset = _current.set(now._replace(campaign=campaign))
        try:
            yield _current.get()
        finally:
            _current.reset(reset)


def open_campaign() -> Campaign:
    """Open the app's campaign in this thread."""
    return Campaign(Path(os.environ[DIRECTORY_VARIABLE]))


def words() -> Vocabulary:
    """Return the vocabulary of the current campaign; outside a script run, that of retrieval."""
    now = _current.get(None)
    return RETRIEVAL if now is None else now.campaign.settings.vocabulary


def current() -> Session:
    """Return the session of this script run; pages only run inside one."""
    return _current.get()
