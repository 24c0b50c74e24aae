"""An annotator's judgements, of which one can be selected, and what others said of the same pair."""

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn, DatetimeColumn, NumberColumn, TextColumn

from annotate.auth import session
from annotate.elements import display, widgets

LISTED, PICKED = "listed", "picked"
"""Under which the session knows the listed judgements and the selected one: uuids, since rows move."""


def draw(judgements: pd.DataFrame) -> None:
    """Draw them, in this order; the ``uuid`` of the selected one is kept in the session as :data:`PICKED`."""

    def pick() -> None:
        rows = st.session_state["judgements"]["selection"]["rows"]
        st.session_state[PICKED] = st.session_state[LISTED][rows[0]] if rows else None

    st.session_state[LISTED] = judgements["uuid"].tolist()
    display.table(
        judgements.assign(marked=judgements["passages"].map(len)),
        {
            "query_id": "Topic",
            "grade": "Grade",
            "doc_id": TextColumn("Document", width="medium"),
            "judged_at": DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm:ss"),
            "note": TextColumn("Note", width=170),
            "flagged": CheckboxColumn("Flagged", width="small"),
            "marked": NumberColumn("Passages", help="That you marked; select the row to read them."),
            "seconds": NumberColumn(
                "Seconds", format="%.1f", help="With the document on screen and the page in front."
            ),
            "away": NumberColumn(
                "Away",
                format="%.1f",
                help="Seconds until you judged in which the page was not in front, or nobody moved.",
            ),
            "reason": "Reason",
            "title": "Title",
        },
        placeholder="",
        height=320,
        on_select=pick,
        selection_mode="single-row",
        key="judgements",
    )


def draw_others(query_id: str, doc_id: str, annotator: str) -> None:
    """Draw what others than `annotator` said of the pair, and where the runs have it."""
    campaign = session.current().campaign
    others, ranks = (
        campaign.explanations.others_said(query_id, doc_id, annotator),
        campaign.explanations.ranks_of(query_id, doc_id),
    )
    st.subheader("What others said of this pair")
    if others.empty:
        st.write("Nobody else has judged it.")
    else:
        display.table(
            others.assign(grade=widgets.grade_names(campaign.grades, others)),
            {
                "annotator": "Annotator",
                "grade": "Grade",
                "counts_as": "Counts as",
                "note": TextColumn("Note", width="large"),
                "judged_at": DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm:ss"),
            },
            placeholder="",
            alt="What others said of this pair",
        )
    st.subheader("Where the runs have it")
    if ranks.empty:
        st.write("No run has it.")
    else:
        display.table(
            ranks,
            {"run": "Run", "rank": "Rank", "score": NumberColumn("Score", format="%.6g")},
            alt="Where the runs have this pair",
        )
