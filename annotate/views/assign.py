"""Assign: how many judge a pair, who judges which topic, what everybody judges first, and what judging hides."""

import streamlit as st

from annotate.auth import session
from annotate.elements import calibration_editor, overlap_form, topic_assignment, widgets
from collection.assignment import LEASES
from collection.campaign.loop_settings import MODES
from collection.records import sort_naturally

campaign = session.current().campaign
settings = campaign.settings.assignment()

st.title("Assign")
st.write("How many annotators judge a pair, who judges which topic, and what everybody judges first.")
topics = sort_naturally(campaign.corpus.topics())
if topics.empty:
    widgets.stop_with_next_step("There are no topics yet.")
titles = dict(zip(topics["query_id"], topics["title"], strict=True))
people = campaign.accounts.table()
judges = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"].tolist()


def rules() -> None:
    """What judging hides, how long pairs are reserved, and where their order comes from."""
    blind = st.toggle("Judging is blind", settings.blind, key="blind")
    st.caption(
        "Blind: nobody who judges sees another's judgements or notes, nor the run, rank or score of a pair. Unblinded: "
        "each annotator sees these on My judgements, for the pairs that they have judged. What was seen cannot be "
        "unseen, so end it when judging is over."
    )
    lease = st.number_input(
        "Minutes that a pair is reserved for whoever has it in hand", *LEASES, settings.lease, format="%g", key="lease"
    )
    st.caption(
        "Then it is free for others, so that nobody's closed browser holds it back. A card that is open renews its "
        "reservations every two minutes. In a loop it is ten minutes at most."
    )
    widgets.save_button({"blind": blind, "lease": lease}, settings, campaign.assignments.update, "Saved.", "save-rules")
    st.subheader("Order within a topic")
    label, meaning = MODES[campaign.settings.loop().mode]
    st.write(f"**{label}:** {meaning}. The Loop page changes it.")
    widgets.page_link("loop.py")


overlap, by_topic, calibration, others = st.tabs(["Overlap", "Topics", "Calibration", "Blind, time and order"])
with overlap:
    overlap_form.draw(titles, judges)
with by_topic:
    topic_assignment.draw(judges)
with calibration:
    calibration_editor.draw(titles)
with others:
    rules()
