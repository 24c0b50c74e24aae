"""Assign: judgements per pair, annotators of each topic, the qualification set, and blind judging."""

import streamlit as st

from annotate.auth import session
from annotate.views.campaign import overlap_form, qualification_editor, topic_assignment
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from collection.assignment import LEASES
from collection.campaign.settings.loop_settings import MODES, describe_mode
from collection.core.phrases import count
from collection.core.records import sort_naturally

PLACES = {"screen": "On screen", "ahead": "Loaded ahead", "work list": "In a work list"}

campaign = session.current().campaign
settings, words = campaign.settings.assignment(), widgets.words()

st.title("Assign")
topics = sort_naturally(campaign.store.corpus.topics())
if topics.empty:
    widgets.stop_with_next_step(words.apply("Topics are assigned to annotators, and this campaign has none yet."))
titles = dict(zip(topics["query_id"], topics["title"], strict=True))
people = campaign.store.accounts.table()
judges = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"].tolist()
st.write(overlap_form.describe(settings))
widgets.documentation_link("how-to/assign-annotators", "How to assign annotators")


def rules() -> None:
    """Draw the settings of blind judging and reservations, and the order of pairs."""
    blind = st.toggle("Blind judging", settings.blind, key="blind")
    st.caption(
        words.apply(
            "Annotators see neither the judgements of others nor the runs that retrieved a document. If off, My "
            "judgements shows both for pairs that the annotator has judged."
        )
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
    draw_reservations()
    st.subheader(words.apply("Default order within a topic"))
    loop = campaign.settings.loop()
    st.write(f"**{MODES[loop.mode][0]}:** {widgets.sentence(describe_mode(loop.mode, loop.by))}")
    widgets.page_link("loop", "Change the default judging mode")


def draw_reservations() -> None:
    """Draw what is reserved now, of which selected rows or everything of an annotator can be released."""
    st.subheader("Current reservations")
    table = campaign.people.assignments.reservations()
    if table.empty:
        st.write("Nothing is reserved.")
        return
    held = int((table["place"] != "ahead").sum())
    st.write(
        f"**{count(held, 'reservation')}** on screens and in work lists; {len(table) - held:,} loaded ahead, which "
        f"{words.apply('annotators without a document')} get."
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
    topics = st.multiselect(words.apply("Topics"), known, key="reserved-of", placeholder=words.apply("All topics"))
    st.caption("A judgement of a released pair is kept, and counts unless others have judged the pair in the meantime.")
    whose = "all reservations" if who == "Everybody" else f"the reservations of {widgets.plain(who)}"
    if st.button("Release", key="release", help=f"Releases {whose} in these {words.topics}."):
        with widgets.saving("Released."):
            campaign.people.assignments.release(None if who == "Everybody" else who, topics or None)


tabs = ["Overlap", words.apply("Topics"), "Qualification", "Blind judging and order"]
overlap, by_topic, qualification, others = st.tabs(tabs)
with overlap:
    overlap_form.draw(titles, judges)
with by_topic:
    topic_assignment.draw(judges)
with qualification:
    qualification_editor.draw(titles)
with others:
    rules()
