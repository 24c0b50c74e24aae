"""Overview of a literature review: what is done, and what is next."""

import pandas as pd
import streamlit as st

from annotate.auth import page_access, session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import text, timestamp
from collection.campaign import Campaign
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    EXCLUDE,
    FULL_TEXT,
    GOES_ON,
    INCLUDE,
    MAYBE,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
    Review,
)

OPENED = "set-up-opened"  # set once the page *Set up* was opened by itself


def draw(review: Review) -> None:
    """Draw the overview for the role of this session; a new review opens the page *Set up* first."""
    now = session.current()
    campaign = now.campaign
    if now.role == "manager" and not campaign.review.steps.is_set_up() and not st.session_state.get(OPENED):
        st.session_state[OPENED] = True
        st.switch_page(f"views/{page_access.find_page('set-up').file}")
    if now.role != "reader":  # readers change nothing
        campaign.review.full_texts.advance()
    st.title(widgets.plain(campaign.title))
    if review.question:
        st.write(widgets.plain(review.question))
    if now.role == "annotator":
        _draw_own(campaign, now.annotator)
    else:
        _draw_all(campaign, review)


def _draw_own(campaign: Campaign, annotator: str) -> None:
    """Draw the progress of a screener, without the decisions of others."""
    if not campaign.review.steps.is_set_up():
        st.write("There is nothing to screen yet. A manager adds the records first.")
        return
    counts = {stage: campaign.progress.standing(stage, annotator) for stage in campaign.settings.modes()}
    named = {f"You screened: {STAGES[stage]}": counts[stage] for stage in STAGES if stage in counts}
    widgets.metrics({name: f"{done:,}" if of is None else f"{done:,} of {of:,}" for name, (done, of) in named.items()})
    if st.button("Screen records", type="primary", icon=":material/gavel:", key="next-step"):
        st.switch_page(f"views/{page_access.find_page('judge').file}")


def _draw_all(campaign: Campaign, review: Review) -> None:
    """Draw the steps, the counts of decisions, and the screeners."""
    widgets.next_step(campaign.review.steps.next_step())
    table = campaign.review.decisions.table()
    if len(table):
        widgets.metrics(_count(table, review))
    st.subheader("Steps")
    for step in campaign.review.steps.table():
        page = page_access.find_page(step.page)
        icon = ":material/check_circle:" if step.done else ":material/radio_button_unchecked:"
        name, state = st.columns([1, 3], vertical_alignment="center", gap="small")
        if session.current().role in page.roles:
            name.page_link(f"views/{page.file}", label=step.name, icon=icon)
        else:
            name.markdown(f":small[{icon} {step.name}]")
        state.caption(widgets.plain(step.sentence))
    _draw_screeners(campaign)


def _count(table: pd.DataFrame, review: Review) -> dict[str, int]:
    """The numbers of records by their decisions, for the stages of the review."""
    screened = table["title_abstract"] != UNSCREENED
    figures = {"Records": len(table), "Screened": int(screened.sum())}
    if review.full_text:
        figures["Full texts"] = int(table["title_abstract"].isin(GOES_ON).sum())
    included = (table["decision"] == DECISIONS[INCLUDE]) & (table["stage"] == STAGES[review.stages[-1]])
    figures |= {"Excluded": int((table["decision"] == DECISIONS[EXCLUDE]).sum()), "Included": int(included.sum())}
    if not review.full_text:
        figures["Maybe"] = int((table["decision"] == DECISIONS[MAYBE]).sum())
    if conflicts := int((table["decision"] == CONFLICT).sum()):
        figures["Conflicts"] = conflicts
    return figures


def _draw_screeners(campaign: Campaign) -> None:
    log = campaign.store.judgements.table(columns=["annotator", "query_id", "counts_as", "judged_at"])
    log = log[log["counts_as"] == "judgement"]
    if log.empty:
        return
    rows = log.groupby("annotator", sort=True).agg(
        titles=("query_id", lambda topics: int((topics == TITLE_ABSTRACT).sum())),
        full_texts=("query_id", lambda topics: int((topics == FULL_TEXT).sum())),
        last_at=("judged_at", "max"),
    )
    st.subheader("Screeners")
    display.table(
        rows.reset_index(),
        {
            "annotator": text("Screener", "medium"),
            "titles": "Titles and abstracts",
            "full_texts": "Full texts" if campaign.settings.modes().get(FULL_TEXT) else None,
            "last_at": timestamp("Last decision (UTC)"),
        },
        alt="Records that each screener has screened",
    )
