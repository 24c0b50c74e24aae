"""Annotators: how each of them works."""

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.charts import annotators
from annotate.elements import display, pairs_table, widgets
from annotate.elements.columns import number, text, timestamp
from annotate.elements.service_cache import cached
from collection.annotator_agreement import FEW

campaign = session.current().campaign

st.title("Annotators")
st.write(
    "Pace, habits, and how each stands beside the others on pairs that several judged. These are facts, no verdicts: "
    "quick answers may be an expert's, and forty equal grades may be forty documents that are alike."
)
logged = campaign.progress.counts()["logged"]
statistics = cached(campaign.agreement.annotator_statistics, logged, "Reading the log", 4)()
facts = statistics.facts
if facts.empty:
    widgets.stop_with_next_step("Nobody has judged anything yet.")

st.subheader("Pace")
per_hour = "Judgements for each hour in sessions; a pause of 30 minutes ends one."
display.table(
    facts,
    {
        "annotator": TextColumn("Annotator", pinned=True),
        "judgements": number("Judgements", help="Pairs on which their word stands."),
        "last_at": timestamp("Last (UTC)", "YYYY-MM-DD"),
        "seconds_low": number("Seconds, quarter", "%.1f", help="A quarter took less."),
        "seconds": number("median", "%.1f"),
        "seconds_high": number("three quarters", "%.1f"),
        "per_hour": number("An hour", "%.0f", help=per_hour),
        "sessions": "Sessions",
        "hours": number("Hours", "%.1f", help="In sessions, from begin to end."),
        "active": number("at work", "%.1f", help="With a document on screen, in front."),
        "away": number("away", "%.1f", help="A document was on screen, and another window in front, or nobody moved."),
        "days": "Days",
        "per_day": number("A day", "%.0f"),
    },
)
st.caption("Seconds are those on screen with the page in front. Imported judgements have no times.")

st.subheader("Grades")
agreement = "Share of comparisons with another annotator in which both agree."
higher = "Mean grade less that of the others on the same pairs; below 0: stricter."
display.table(
    facts,
    {
        "annotator": TextColumn("Annotator", pinned=True),
        "grades": text("Grades", help="Each grade, and how many judgements have it."),
        "agreement": number("Same grade", "percent", help=agreement),
        "higher": number("Higher by", "%+.2f", help=higher),
        "shared": number("Shared pairs", help="Pairs that others graded too."),
        "row": number("Longest row", help="The most judgements with one grade in a row."),
        "row_grade": "of grade",
        "cannot_judge": "Cannot judge",
        "flagged": number("Flagged", help="Pairs that they want to be looked at again."),
        "revised": number("Revised", help="Entries that replace an earlier word of theirs."),
        "undone": "Undone",
    },
)

flagged = campaign.judgement_log.flagged()
if len(flagged):
    st.subheader(f"Flagged ({len(flagged):,})")
    row = display.select_row(
        flagged.assign(grade=widgets.grade_names(campaign.grades, flagged)),
        {
            "query_id": "Topic",
            "doc_id": "Document",
            "annotator": "Annotator",
            "grade": "Grade",
            "note": text("Note", "large"),
            "judged_at": timestamp("When (UTC)"),
        },
        most_height=248,
        placeholder="",
        key=f"flagged-{logged}",
        alt="Pairs that annotators want to be looked at again",
    )
    st.caption("The newest first. Select a row to read the document, with what everybody said of it.")
    if row is not None:
        pairs_table.side_by_side(flagged.iloc[row], campaign.agreement.labels())
    widgets.page_link("adjudicate.py", "Where annotators differ, Adjudicate ends it")

st.subheader("Out of the ordinary")
if statistics.remarks:
    for name, sentences in statistics.remarks.items():
        with st.container(border=True):
            st.markdown(f"**{widgets.plain(name)}**")
            for sentence in sentences:
                st.write(widgets.plain(sentence))
else:
    st.write("Nothing.")
st.caption(f"Nothing is said below {FEW} judgements, and of speed only where there are seconds.")

if len(statistics.times):
    st.subheader("Seconds, judgement after judgement")
    timed = sorted(statistics.times["annotator"].unique())
    shown = st.multiselect("Annotators", timed, default=timed[:6])
    times: pd.DataFrame = statistics.times[statistics.times["annotator"].isin(shown)]
    if len(times):
        display.altair_chart(annotators.seconds_chart(times), alt="Seconds of each judgement over time, by annotator")
        st.caption("Each point is a judgement, the line the median of twenty. The axis is logarithmic.")
if len(statistics.days):
    st.subheader("Judgements a day")
    display.altair_chart(annotators.days_chart(statistics.days), alt="Judgements of each day, by annotator")
