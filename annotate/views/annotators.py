"""Annotators: how each of them works, as facts."""

import pandas as pd
import streamlit as st
from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn

from annotate.auth import session
from annotate.charts import annotators
from annotate.elements import display, pairs_table, widgets
from collection.annotator_agreement import FEW, AnnotatorStatistics

campaign = session.current().campaign

st.title("Annotators")
st.write(
    "Pace, habits, and how each stands beside the others on pairs that several judged. These are facts, no verdicts: "
    "quick answers may be an expert's, and forty equal grades may be forty documents that are alike."
)


@st.cache_data(show_spinner="Reading the log", max_entries=4)
def conduct_of(campaign_id: str, logged: int) -> AnnotatorStatistics:
    """Everything at once; kept while nobody judges."""
    return session.current().campaign.agreement.annotator_statistics()


conduct = conduct_of(campaign.id, campaign.progress.counts()["logged"])
facts = conduct.facts
if facts.empty:
    widgets.stop_with_next_step("Nobody has judged anything yet.")

st.subheader("Pace")
display.table(
    facts,
    {
        "annotator": TextColumn("Annotator", pinned=True),
        "judgements": NumberColumn("Judgements", help="Pairs on which their word stands."),
        "last_at": DatetimeColumn("Last (UTC)", format="YYYY-MM-DD"),
        "seconds_low": NumberColumn("Seconds, quarter", format="%.1f", help="A quarter took less."),
        "seconds": NumberColumn("median", format="%.1f"),
        "seconds_high": NumberColumn("three quarters", format="%.1f"),
        "per_hour": NumberColumn(
            "An hour", format="%.0f", help="Judgements for each hour in sessions; a pause of 30 minutes ends one."
        ),
        "sessions": "Sessions",
        "hours": NumberColumn("Hours", format="%.1f", help="In sessions, from begin to end."),
        "active": NumberColumn("at work", format="%.1f", help="With a document on screen, in front."),
        "away": NumberColumn(
            "away", format="%.1f", help="A document was on screen, and another window in front, or nobody moved."
        ),
        "days": "Days",
        "per_day": NumberColumn("A day", format="%.0f"),
    },
)
st.caption("Seconds are those on screen with the page in front. Imported judgements have no times.")

st.subheader("Grades")
display.table(
    facts,
    {
        "annotator": TextColumn("Annotator", pinned=True),
        "grades": TextColumn("Grades", help="Each grade, and how many judgements have it."),
        "agreement": NumberColumn(
            "Same grade", format="percent", help="Share of comparisons with another annotator in which both agree."
        ),
        "higher": NumberColumn(
            "Higher by", format="%+.2f", help="Mean grade less that of the others on the same pairs; below 0: stricter."
        ),
        "shared": NumberColumn("Shared pairs", help="Pairs that others graded too."),
        "row": NumberColumn("Longest row", help="The most judgements with one grade in a row."),
        "row_grade": "of grade",
        "cannot_judge": "Cannot judge",
        "flagged": NumberColumn("Flagged", help="Pairs that they want to be looked at again."),
        "revised": NumberColumn("Revised", help="Entries that replace an earlier word of theirs."),
        "undone": "Undone",
    },
)

flagged = campaign.judgement_log.flagged()
if len(flagged):
    st.subheader(f"Flagged ({len(flagged):,})")
    selection = display.table(
        flagged.assign(grade=widgets.grade_names(campaign.grades, flagged)),
        {
            "query_id": "Topic",
            "doc_id": "Document",
            "annotator": "Annotator",
            "grade": "Grade",
            "note": TextColumn("Note", width="large"),
            "judged_at": DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm"),
        },
        most_height=248,
        placeholder="",
        on_select="rerun",
        selection_mode="single-row",
        key=f"flagged-{campaign.progress.counts()['logged']}",
        alt="Pairs that annotators want to be looked at again",
    )
    st.caption("The newest first. Select a row to read the document, with what everybody said of it.")
    if (row := pairs_table.selected_row(selection, len(flagged))) is not None:
        query_id, doc_id = map(str, flagged.iloc[row][["query_id", "doc_id"]])
        pairs_table.side_by_side(query_id, doc_id, campaign.agreement.labels())
    widgets.page_link("adjudicate.py", "Where annotators differ, Adjudicate ends it")

st.subheader("Out of the ordinary")
if conduct.remarks:
    for name, sentences in conduct.remarks.items():
        with st.container(border=True):
            st.markdown(f"**{widgets.plain(name)}**")
            for sentence in sentences:
                st.write(widgets.plain(sentence))
else:
    st.write("Nothing.")
st.caption(f"Nothing is said below {FEW} judgements, and of speed only where there are seconds.")

if len(conduct.times):
    st.subheader("Seconds, judgement after judgement")
    timed = sorted(conduct.times["annotator"].unique())
    shown = st.multiselect("Annotators", timed, default=timed[:6])
    times: pd.DataFrame = conduct.times[conduct.times["annotator"].isin(shown)]
    if len(times):
        display.altair_chart(annotators.seconds_chart(times), alt="Seconds of each judgement over time, by annotator")
        st.caption("Each point is a judgement, the line the median of twenty. The axis is logarithmic.")
if len(conduct.days):
    st.subheader("Judgements a day")
    display.altair_chart(annotators.days_chart(conduct.days), alt="Judgements of each day, by annotator")
