"""An annotator's judgements, of which one can be selected, and the judgements of others of the same pair."""

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.columns import number, text, timestamp

LISTED, PICKED = "listed", "picked"
"""Session keys of the uuids of the listed judgements and of the selected one; rows may move."""


def draw(judgements: pd.DataFrame) -> None:
    """Draw the judgements in this order; the session keeps the uuid of the selected one as :data:`PICKED`."""

    def pick() -> None:
        rows = st.session_state["judgements"]["selection"]["rows"]
        st.session_state[PICKED] = st.session_state[LISTED][rows[0]] if rows else None

    st.session_state[LISTED] = judgements["uuid"].tolist()
    display.table(
        judgements.assign(marked=judgements["passages"].map(len)),
        {
            "query_id": "Topic",
            "grade": "Grade",
            "doc_id": text("Document", "medium"),
            "judged_at": timestamp("When (UTC)", "YYYY-MM-DD HH:mm:ss"),
            "note": text("Note", 170),
            "flagged": CheckboxColumn("Flagged", width="small"),
            "marked": number("Passages", help="That you marked; select the row to read them."),
            "seconds": number("Seconds", "%.1f", help="With the document on screen and the page in front."),
            "away": number(
                "Away", "%.1f", help="Seconds until you judged in which the page was not in front, or nobody moved."
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
    """Draw the judgements of others than `annotator` of the pair, and its ranks in the runs."""
    campaign = session.current().campaign
    others = campaign.explanations.others_said(query_id, doc_id, annotator)
    ranks = campaign.explanations.ranks_of(query_id, doc_id)
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
                "note": text("Note", "large"),
                "judged_at": timestamp("When (UTC)", "YYYY-MM-DD HH:mm:ss"),
            },
            placeholder="",
            alt="What others said of this pair",
        )
    st.subheader("Where the runs have it")
    if ranks.empty:
        st.write("No run has it.")
    else:
        columns: display.Columns = {"run": "Run", "rank": "Rank", "score": number("Score", "%.6g")}
        display.table(ranks, columns, alt="Where the runs have this pair")
