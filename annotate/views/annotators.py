"""Annotators: how each of them works, as facts."""

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import annotators
from annotate.elements import drawing, pairs_table, widgets
from collection.annotator_agreement.annotator_statistics import FEW, Conduct

campaign = session.current().campaign

st.title("Annotators")
st.write(
    "Pace, habits, and how each stands beside the others on pairs that several judged. These are facts, no verdicts: "
    "quick answers may be an expert's, and forty equal grades may be forty documents that are alike."
)


@st.cache_data(show_spinner="Reading the log", max_entries=4)
def conduct_of(campaign_id: str, logged: int) -> Conduct:
    """Everything at once; kept while nobody judges."""
    return session.current().campaign.agreement.annotator_statistics()


conduct = conduct_of(campaign.id, campaign.progress.counts()["logged"])
facts = conduct.facts
if facts.empty:
    st.write("Nobody has judged anything yet.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()

st.subheader("Pace")
drawing.dataframe(
    facts[["annotator", "judgements", "last_at", "seconds_low", "seconds", "seconds_high", "per_hour", "sessions",
           "hours", "active", "away", "days", "per_day"]],
    hide_index=True,
    column_config={
        "annotator": st.column_config.TextColumn("Annotator", pinned=True),
        "judgements": st.column_config.NumberColumn("Judgements", help="Pairs on which their word stands."),
        "seconds_low": st.column_config.NumberColumn("Seconds, quarter", format="%.1f", help="A quarter took less."),
        "seconds": st.column_config.NumberColumn("median", format="%.1f"),
        "seconds_high": st.column_config.NumberColumn("three quarters", format="%.1f"),
        "per_hour": st.column_config.NumberColumn(
            "An hour", format="%.0f", help="Judgements for each hour in sessions; a pause of 30 minutes ends one."
        ),
        "sessions": "Sessions",
        "hours": st.column_config.NumberColumn("Hours", format="%.1f", help="In sessions, from begin to end."),
        "active": st.column_config.NumberColumn("at work", format="%.1f", help="With a document on screen, in front."),
        "away": st.column_config.NumberColumn(
            "away", format="%.1f", help="A document was on screen, and another window in front, or nobody moved."
        ),
        "days": "Days",
        "per_day": st.column_config.NumberColumn("A day", format="%.0f"),
        "last_at": st.column_config.DatetimeColumn("Last (UTC)", format="YYYY-MM-DD"),
    },
)  # fmt: skip
st.caption("Seconds are those on screen with the page in front. Imported judgements have no times.")

st.subheader("Grades")
drawing.dataframe(
    facts[["annotator", "grades", "agreement", "higher", "shared", "row", "row_grade", "cannot_judge", "flagged",
           "revised", "undone"]],
    hide_index=True,
    column_config={
        "annotator": st.column_config.TextColumn("Annotator", pinned=True),
        "grades": st.column_config.TextColumn("Grades", help="Each grade, and how many judgements have it."),
        "row": st.column_config.NumberColumn("Longest row", help="The most judgements with one grade in a row."),
        "row_grade": "of grade",
        "cannot_judge": "Cannot judge",
        "flagged": st.column_config.NumberColumn("Flagged", help="Pairs that they want to be looked at again."),
        "revised": st.column_config.NumberColumn("Revised", help="Entries that replace an earlier word of theirs."),
        "undone": "Undone",
        "shared": st.column_config.NumberColumn("Shared pairs", help="Pairs that others graded too."),
        "agreement": st.column_config.NumberColumn(
            "Same grade", format="percent", help="Share of comparisons with another annotator in which both agree."
        ),
        "higher": st.column_config.NumberColumn(
            "Higher by", format="%+.2f", help="Mean grade less that of the others on the same pairs; below 0: stricter."
        ),
    },
)  # fmt: skip

flagged = campaign.judgement_log.flagged()
if len(flagged):
    st.subheader(f"Flagged ({len(flagged):,})")
    scale = campaign.grades
    event = drawing.dataframe(
        flagged.assign(
            grade=[widgets.grade_name(scale, k, r) for k, r in zip(flagged["kind"], flagged["relevance"], strict=True)]
        )[["query_id", "doc_id", "annotator", "grade", "note", "judged_at"]],
        hide_index=True,
        placeholder="",
        height=min(35 * len(flagged) + 38, 248),
        on_select="rerun",
        selection_mode="single-row",
        key=f"flagged-{campaign.progress.counts()['logged']}",
        alt="Pairs that annotators want to be looked at again",
        column_config={
            "query_id": "Topic",
            "doc_id": "Document",
            "annotator": "Annotator",
            "grade": "Grade",
            "note": st.column_config.TextColumn("Note", width="large"),
            "judged_at": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm"),
        },
    )
    st.caption("The newest first. Select a row to read the document, with what everybody said of it.")
    if (row := pairs_table.selected(event, len(flagged))) is not None:
        query_id, doc_id = map(str, flagged.iloc[row][["query_id", "doc_id"]])
        pairs_table.side_by_side(query_id, doc_id, campaign.agreement.labels())
    widgets.page_link("adjudicate.py", "Where annotators differ, Adjudicate ends it")

st.subheader("Out of the ordinary")
if conduct.remarks:
    for name, sentences in conduct.remarks.items():
        with st.container(border=True):
            st.markdown(f"**{drawing.plain(name)}**")
            for sentence in sentences:
                st.write(drawing.plain(sentence))
else:
    st.write("Nothing.")
st.caption(f"Nothing is said below {FEW} judgements, and of speed only where there are seconds.")

if len(conduct.times):
    st.subheader("Seconds, judgement after judgement")
    timed = sorted(conduct.times["annotator"].unique())
    shown = st.multiselect("Annotators", timed, default=timed[:6])
    times: pd.DataFrame = conduct.times[conduct.times["annotator"].isin(shown)]
    if len(times):
        drawing.altair_chart(annotators.seconds_chart(times), alt="Seconds of each judgement over time, by annotator")
        st.caption("Each point is a judgement, the line the median of twenty. The axis is logarithmic.")
if len(conduct.days):
    st.subheader("Judgements a day")
    drawing.altair_chart(annotators.days_chart(conduct.days), alt="Judgements of each day, by annotator")
