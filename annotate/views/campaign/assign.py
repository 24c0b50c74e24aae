"""Assign: judgements per pair, annotators of each topic, the qualification set, and blind judging."""

import streamlit as st

from annotate.auth import session
from annotate.views.campaign import overlap_form, qualification_editor, reservations, topic_assignment
from annotate.views.widgets import widgets
from collection.assignment import LEASES
from collection.campaign.settings.loop_settings import MODES, describe_mode
from collection.core.records import sort_naturally

campaign = session.current().campaign
settings = campaign.settings.assignment()

st.title("Assign")
topics = sort_naturally(campaign.store.corpus.topics())
if topics.empty:
    widgets.stop_with_next_step("Topics are assigned to annotators, and this campaign has none yet.")
titles = dict(zip(topics["query_id"], topics["title"], strict=True))
people = campaign.store.accounts.table()
judges = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"].tolist()
st.write(overlap_form.describe(settings))
widgets.documentation_link("how-to/assign-annotators", "How to assign annotators")


def rules() -> None:
    """Draw the settings of blind judging and reservations, and the order of pairs."""
    blind = st.toggle("Blind judging", settings.blind, key="blind")
    st.caption(
        "Annotators see neither the judgements of others nor the runs that retrieved a document. If off, My judgements "
        "shows both for pairs that the annotator has judged."
    )
    label, help = (
        "Reservation of a pair (minutes)",
        "An open judging page renews it every 2 minutes. In a loop, it lasts 10 minutes at most.",
    )
    lease = st.number_input(label, *LEASES, settings.lease, format="%g", key="lease", help=help)
    st.caption(
        "A pair on an annotator's screen is reserved until they judge it or leave the page, and for this time if their "
        "browser crashes. Pairs loaded ahead go to annotators who have none."
    )
    widgets.save_button(
        {"blind": blind, "lease": lease}, settings, campaign.people.assignments.update, "Saved.", "save-rules"
    )
    reservations.draw()
    st.subheader("Default order within a topic")
    loop = campaign.settings.loop()
    st.write(f"**{MODES[loop.mode][0]}:** {widgets.sentence(describe_mode(loop.mode, loop.by))}")
    widgets.page_link("loop", "Change the default judging mode")


overlap, by_topic, qualification, others = st.tabs(["Overlap", "Topics", "Qualification", "Blind judging and order"])
with overlap:
    overlap_form.draw(titles, judges)
with by_topic:
    topic_assignment.draw(judges)
with qualification:
    qualification_editor.draw(titles)
with others:
    rules()
