"""Buttons for the files that `cleverdon export` would write, and for tables of a page."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import widgets
from collection.campaign import Campaign
from collection.core.errors import CampaignError

Write = Callable[[Campaign, Path], object]  # writes a file of a campaign, and perhaps others beside it
T = TypeVar("T")
Kind = Literal["primary", "secondary"]


def write_files(write: Write, name: str) -> dict[str, bytes]:
    """The files that `write` makes, by name; draws the error and returns none where it fails."""
    with widgets.shown_errors(about=f"{name}: "), tempfile.TemporaryDirectory() as scratch:
        write(session.current().campaign, Path(scratch, name))
        return {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
    return {}


def draw(write: Write, name: str, key: str, help: str | None = None, kind: Kind = "secondary") -> None:
    """Draw a button for a file that is written now, or the reason why it cannot be written."""
    if files := write_files(write, name):
        st.download_button(f"Download {name}", files[name], name, type=kind, key=key, help=help)


def draw_deferred(write: Write, name: str, key: str, help: str | None = None, kind: Kind = "secondary") -> None:
    """Draw a button for a file that is written on demand, in a thread with its own connection."""
    directory = session.current().campaign.directory

    def content() -> bytes:
        with tempfile.TemporaryDirectory() as scratch, Campaign(directory) as campaign:
            write(campaign, Path(scratch, name))
            return Path(scratch, name).read_bytes()

    checked = _with_access(content)
    st.download_button(f"Download {name}", checked, name, type=kind, on_click="ignore", key=key, help=help)


def offer_results(files: Mapping[str, tuple[str, Callable[[], str]]]) -> None:
    """Draw a button with a download of each file: name -> label and content, written on demand."""
    with st.popover("Download results", icon=":material/download:"):
        for name, (label, content) in files.items():
            st.download_button(label, _with_access(content), name, key=name, on_click="ignore", width="stretch")


def _with_access(content: Callable[[], T]) -> Callable[[], T]:
    """Give the content when a drawn button is clicked, unless the session has ended or has another role since."""
    drawn = session.current()
    directory = drawn.campaign.directory

    def checked() -> T:
        with Campaign(directory) as campaign:
            person = campaign.people.accounts.session_of(drawn.digest)
        if person is None or person.role != drawn.role:
            raise CampaignError(
                "your session has ended or your role has changed since the page was drawn; reload the page"
            )
        return content()

    return checked
