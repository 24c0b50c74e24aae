"""Step *Screening* of the set-up of a literature review: who screens, how far, and in which stages."""

import streamlit as st

from annotate.auth import page_access
from annotate.views.widgets import display, invitations, pickers, widgets
from annotate.views.widgets.display import timestamp
from collection.campaign import Campaign
from collection.core.phrases import percent
from collection.core.review import Review

FEW = 500
"""Number of records below which a stopping rule saves little: with 30 relevant ones, 79% of the rest are screened."""

SCREENERS = {
    1: ("One person per record", "Several people can share the records."),
    2: ("Two people per record, independently", "They do not see each other's decisions. You resolve conflicts."),
}
FULL_TEXT = {
    True: (
        "Title and abstract, then full text",
        "Included records are screened again by their full texts, each as soon as it is included.",
    ),
    False: ("Title and abstract only", "The decision on title and abstract is final."),
}


def draw(campaign: Campaign, review: Review) -> None:
    """Draw the settings of screening, the people, and the button that starts."""
    loop = campaign.settings.loop()
    left, right = st.columns(2, gap="large")
    with left:
        screeners = pickers.pick_described("Screeners", SCREENERS, review.screeners, "screeners")
        full_text = pickers.pick_described("Stages", FULL_TEXT, review.full_text, "full-text")
    with right:
        target = pickers.pick_share("Target recall (%)", 50.0, 100.0, loop.target, "target-recall")
        st.caption(
            "The records that are most likely relevant come first. The page Stopping says when at least "
            f"{percent(target)} of the relevant records are found, with {percent(loop.confidence)} confidence."
        )
        if 0 < campaign.store.judgements.counts()["documents"] < FEW:
            st.caption(
                f"With fewer than {FEW} records, plan to screen all of them: you could rarely stop much earlier. "
                "The ranking still shows the relevant ones first."
            )
        widgets.documentation_link("how-to/stop-judging", "How this is estimated")
    changed = (screeners, full_text, target) != (review.screeners, review.full_text, loop.target)
    if st.button("Save", disabled=not changed, key="save-screening"):
        with widgets.saving("Saved."), campaign.transaction():
            campaign.review.update(screeners=screeners, full_text=full_text)
            campaign.settings.set_loop(target=target)
    st.subheader("Screeners")
    _draw_people(campaign)
    able = count_able(campaign)
    if screeners > able:
        st.warning("Two people per record need two accounts: invite another screener.")
    is_ready = campaign.review.steps.is_set_up()
    start = st.button(
        "Start screening", type="primary", icon=":material/gavel:", disabled=changed or not is_ready, key="start"
    )
    if not is_ready:
        st.caption("Enter the question and add records first.")
    elif changed:
        st.caption("Save your changes first.")
    if start:
        st.switch_page(f"views/{page_access.find_page('judge').file}")


def count_able(campaign: Campaign) -> int:
    """Count the accounts that can screen."""
    people = campaign.store.accounts.table()
    return int((people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool)).sum())


def _draw_people(campaign: Campaign) -> None:
    """Draw the people who can screen, and the form that invites another one."""
    people = campaign.store.accounts.table()
    people = people[people["role"].isin(["manager", "annotator"])]
    display.table(
        people.assign(role=people["role"].map(campaign.settings.vocabulary.apply)),
        {"name": "Name", "role": "Role", "state": "State", "signed_in_at": timestamp("Last sign-in (UTC)")},
        alt="People who can screen",
    )
    invitations.draw_link("*People*")
    with st.form(f"invite-{len(people)}", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        name = row.text_input("Name of another screener", max_chars=64, key="screener-name")
        takes_over = invitations.draw_takeover(campaign)
        if row.form_submit_button("Create invitation link"):
            with widgets.shown_errors():
                token = campaign.people.accounts.invite(name, "annotator", [], "", imported=takes_over)
                invitations.keep_link(name.strip(), token)
                st.rerun()
