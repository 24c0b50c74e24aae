"""Table of what annotators have reserved, with a button that releases it."""

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.columns import number, text
from collection.core.phrases import count

PLACES = {"screen": "On screen", "ahead": "Loaded ahead", "work list": "In a work list"}


def draw() -> None:
    """Draw what is reserved now, of which selected rows or everything of an annotator can be released."""
    campaign = session.current().campaign
    st.subheader("Current reservations")
    table = campaign.people.assignments.reservations()
    if table.empty:
        st.write("Nothing is reserved.")
        return
    held = int((table["place"] != "ahead").sum())
    st.write(
        f"**{count(held, 'reservation')}** on screens and in work lists; {len(table) - held:,} loaded ahead, which "
        "annotators without a document get."
    )
    names = list(dict.fromkeys(table["annotator"]))
    who = st.selectbox("Annotator", ["Everybody", *names], key="reserved-by")
    shown = table if who == "Everybody" else table[table["annotator"] == who]
    display.table(
        shown.assign(place=shown["place"].map(PLACES)),
        {
            "annotator": text("Annotator", 130),
            "query_id": text("Topic", 90),
            "doc_id": text("Document", 170),
            "place": text("Where", 150),
            "minutes": number("Ends in (minutes)", "localized", width=120),
        },
        placeholder="whole topic",
        most_height=388,
        alt="Current reservations",
    )
    known = list(dict.fromkeys(shown["query_id"]))
    topics = st.multiselect("Topics", known, key="reserved-of", placeholder="All topics")
    st.caption("A judgement of a released pair is kept, and counts unless others have judged the pair in the meantime.")
    whose = "all reservations" if who == "Everybody" else f"the reservations of {widgets.plain(who)}"
    if st.button("Release", key="release", help=f"Releases {whose} in these topics."):
        with widgets.saving("Released."):
            campaign.people.assignments.release(None if who == "Everybody" else who, topics or None)
