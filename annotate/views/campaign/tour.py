"""The tour of the demo on the Overview page."""

from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotate.auth import page_access, session
from collection.campaign import Campaign

STOPS: tuple[tuple[str, str, dict[str, str], str], ...] = (
    ("Judge a document", "judge", {"topic": "24"}, "Read it, then give it a grade from 0 to 3."),
    (
        "Watch the loop",
        "judge",
        {"topic": "1"},
        "A model chooses most documents; some are drawn at random. Press w to see why.",
    ),
    (
        "See whether judging can stop",
        "recall",
        {"topic": "7"},
        "Compare the estimated recall of each topic with the target.",
    ),
    ("Adjudicate a disagreement", "adjudicate", {}, "Two annotators gave different grades. Record the final one."),
    ("Compare the systems", "compare", {}, "See which differences are significant."),
    ("See the order of the systems", "system-order", {}, "See how certain it is, with a part of the pairs judged."),
    ("Look at machine labels", "machine-labels", {}, "See how far a model's labels agree with people's grades."),
    ("Check reusability", "reusability", {}, "Find out whether new systems can be compared fairly."),
    ("Export the collection", "export", {}, "Download the qrels, or the collection with a card that describes it."),
)  # label, page, its query, and what to do there

WIDTH = 260  # pixels of a link, so that the texts beside the links are aligned
STOP = "tour"  # the field of an address that names the stop, and the key of the line above a page


def draw(campaign: Campaign) -> None:
    """Draw the tour with a button that hides it for good."""
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown("**A tour of the demo**")
            if st.button("Hide the tour", key="hide-tour", type="tertiary", icon=":material/close:"):
                campaign.settings.set_tour(False)
                st.rerun()
        for number, (*_, what) in enumerate(STOPS, start=1):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                _draw_link(number)
                st.caption(what)
        st.caption("The judgements and labels of the demo are simulated; its documents and systems are real.")


def draw_next(campaign: Campaign) -> None:
    """Draw what to do here and the next stop, above a page that was opened from the tour."""
    here = st.query_params.get(STOP, "")
    is_stop = here in map(str, range(1, len(STOPS) + 1))
    if is_stop and session.current().role == "manager" and campaign.settings.tour():
        number = int(here)
        with st.container(horizontal=True, horizontal_alignment="distribute", gap="small", key="tour"):
            st.caption(f"**Tour, {here} of {len(STOPS)}:** {STOPS[number - 1][3]}", width="content")
            if number < len(STOPS):
                label, url_path, query, _ = STOPS[number]
                address = f"/{url_path}?{urlencode({**query, STOP: str(number + 1)})}"
                # Not a page link, which would leave the card of the page that is open on its topic.
                st.html(f'<a href="{escape(address)}">Next: {label}</a>', width="content")
            else:
                st.html('<a href="/">End of the tour: Overview</a>', width="content")


def _draw_link(number: int) -> None:
    label, url_path, query, _ = STOPS[number - 1]
    page, query = page_access.find_page(url_path), {**query, STOP: str(number)}
    st.page_link(f"views/{page.file}", label=f"{number}. {label}", icon=page.icon, query_params=query, width=WIDTH)
