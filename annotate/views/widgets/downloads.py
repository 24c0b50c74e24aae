"""Buttons for the files that `cleverdon export` would write, and for tables and charts of a page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, widgets
from collection.campaign import Campaign
from collection.core.characters import without_bidi
from collection.core.errors import CampaignError

if TYPE_CHECKING:
    from altair.typing import ChartType
    from streamlit.components.v2.types import ComponentRenderer

Write = Callable[[Campaign, Path], object]  # writes a file of a campaign, and perhaps others beside it
T = TypeVar("T")
ButtonType = Literal["primary", "secondary"]

_HTML = """<div data-part="files"><span>Save the chart as</span>
<button type="button" data-file="svg">SVG</button><button type="button" data-file="png">PNG</button>
<span data-part="said" role="status"></span></div>"""

_CSS = """
[data-part=files] { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; font-size: 0.8rem;
  font-family: var(--st-font); color: color-mix(in srgb, var(--st-text-color) 75%, transparent); }
button { font: inherit; color: var(--st-text-color); background: none; cursor: pointer; padding: 0.25rem 0.7rem;
  border: 1px solid color-mix(in srgb, var(--st-text-color) 40%, transparent); border-radius: 0.4rem; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""


def file_name(name: str) -> str:
    """Return the name of an annotator or a label set, such as "a/b", as a part of the name of a file."""
    return re.sub("[^0-9A-Za-z]+", "_", name)


def write_files(write: Write, name: str) -> dict[str, bytes]:
    """The files that `write` makes, by name; draws the error and returns none where it fails."""
    with widgets.shown_errors(about=f"{name}: "), tempfile.TemporaryDirectory() as scratch:
        write(session.current().campaign, Path(scratch, name))
        return {path.name: path.read_bytes() for path in Path(scratch).iterdir()}
    return {}


def draw(write: Write, name: str, key: str, help: str | None = None, kind: ButtonType = "secondary") -> None:
    """Draw a button for a file that is written now, or the reason why it cannot be written."""
    if files := write_files(write, name):
        st.download_button(f"Download {name}", files[name], name, type=kind, key=key, help=help)


def draw_deferred(write: Write, name: str, key: str, help: str | None = None, kind: ButtonType = "secondary") -> None:
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
            person = campaign.people.accounts.find_session(drawn.digest)
        if person is None or person.role != drawn.role:
            raise CampaignError(
                "your session has ended or your role has changed since the page was drawn; reload the page"
            )
        return content()

    return checked


@cache
def _files_component() -> ComponentRenderer:
    script = Path(__file__).with_name("downloads.js").read_text(encoding="utf-8")
    return st.components.v2.component("cleverdon_chart_files", html=_HTML, css=_CSS, js=script)


def downloadable_chart(
    chart: ChartType, name: str, caption: str, *, key: str | None = None, alt: str = "", **options: object
) -> None:
    """Draw a chart with a caption, and buttons that save it as SVG and PNG.

    Streamlit's own menu saves no SVG and switches that of Vega-Embed off. So the chart is drawn as SVG, and a small
    script saves what is on screen, on the page's background.

    `name` is that of the files without the ending (letters, digits and hyphens), unique on the page; `caption` is text,
    not Markdown; `key` is that of the chart's selection; `alt` is the text for screen readers (else the caption).
    `options` are those of :func:`streamlit.altair_chart`.
    """
    aloud, box = alt or caption, f"chart-{name}"
    chart = chart.properties(usermeta={"embedOptions": {"renderer": "svg"}})
    with st.container(key=box, gap="small"):
        display.altair_chart(chart, key=key, alt=aloud, **options)
        st.caption(widgets.plain(caption))
        _files_component()(data={"name": name, "alt": without_bidi(aloud), "box": box}, key=f"{box}-files")
