"""An annotator's judgements, one of which can be selected, and the judgements of others of that pair."""

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.columns import number, text, timestamp

LISTED, PICKED = "listed", "picked"
"""Session keys of the uuids of the listed judgements and of the selected one; rows may move."""


def draw(judgements: pd.DataFrame) -> None:
    """Draw the judgements in this order; the session keeps the uuid of the selected one as :data:`PICKED`."""

    def pick() -> None:
        rows = st.session_state["judgements"]["selection"]["rows"]
        st.session_state[PICKED] = st.session_state[LISTED][rows[0]] if rows else None

    st.session_state[LISTED] = judgements["uuid"].tolist()
    display.table(
        judgements,
        {
            "query_id": "Topic",
            "grade": "Grade",
            "title": text("Title", 180),
            "doc_id": text("Document", 180),
            "judged_at": timestamp("Judged (UTC)"),
            "note": text("Note", 150),
            "flagged": CheckboxColumn("Flagged", width="small"),
        },
        height=320,
        on_select=pick,
        selection_mode="single-row",
        key="judgements",
    )


def draw_others(query_id: str, doc_id: str, annotator: str) -> None:
    """Draw the judgements of others than `annotator` of the pair, and its ranks in the runs."""
    campaign = session.current().campaign
    others = campaign.judging.explanations.others_said(query_id, doc_id, annotator)
    ranks = campaign.judging.explanations.ranks_of(query_id, doc_id)
    st.subheader("Judgements by others")
    if others.empty:
        st.write("Nobody else has judged this pair.")
    else:
        display.table(
            others.assign(grade=widgets.grade_names(campaign.settings.grades, others)),
            {
                "annotator": "Annotator",
                "grade": "Grade",
                "counts_as": "Counts as",
                "note": text("Note", "large"),
                "judged_at": timestamp("Judged (UTC)", "YYYY-MM-DD HH:mm:ss"),
            },
            alt="Judgements of this pair by others",
        )
    st.subheader("Ranks in the runs")
    if ranks.empty:
        st.write("No run retrieved this document.")
    else:
        columns: display.Columns = {"run": "Run", "rank": "Rank", "score": number("Score", "%.6g")}
        display.table(ranks, columns, alt="Ranks of the document in the runs")
