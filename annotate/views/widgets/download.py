"""Charts with buttons that save them as files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from annotate.views.widgets import display
from annotate.views.widgets.widgets import plain
from collection.core.characters import without_bidi

if TYPE_CHECKING:
    from altair.typing import ChartType
    from streamlit.components.v2.types import ComponentRenderer

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


@cache
def _files_component() -> ComponentRenderer:
    script = Path(__file__).with_name("download.js").read_text(encoding="utf-8")
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
        st.caption(plain(caption))
        _files_component()(data={"name": name, "alt": without_bidi(aloud), "box": box}, key=f"{box}-files")
