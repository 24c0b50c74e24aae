"""Annotators: who has unusual results, and how each annotator works and grades."""

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.charts import annotators
from annotate.elements import display, pairs_table, widgets
from annotate.elements.columns import number, text, timestamp
from annotate.elements.service_cache import cached
from collection.annotator_agreement import FEW
from collection.phrases import count, join, plural

WORK, GRADES, FLAGGED, DAYS, TIMES = "Work", "Grades", "Flagged pairs", "Judgements per day", "Time per judgement"

campaign = session.current().campaign

st.title("Annotators")
logged = campaign.progress.counts()["logged"]
statistics = cached(campaign.agreement.annotator_statistics, logged, "Reading the log", 4)()
facts, remarks, times = statistics.facts, statistics.remarks, statistics.times
if facts.empty:
    widgets.stop_with_next_step("This campaign has no judgements yet, so there is no annotator to describe.")
flagged = campaign.judgement_log.flagged()

checked = int((facts["judgements"] >= FEW).sum())
answer = f"No annotator has unusual results ({checked:,} checked)."
if remarks:
    have = plural(len(remarks), "has", "have")
    answer = f"{len(remarks):,} of {count(len(facts), 'annotator')} {have} unusual results: {join(remarks)}."
elif not checked:
    answer = f"No annotator has {FEW:,} judgements yet, so none is checked for unusual results."
st.markdown(f"#### {widgets.plain(answer)}")
numbers = {"Annotators": f"{len(facts):,}", "Judgements": f"{facts['judgements'].sum():,}"}
if len(times):
    numbers["Median seconds per judgement"] = f"{times['seconds'].median():.1f}"
widgets.metrics(numbers | {"Flagged pairs": f"{len(flagged):,}"})
for name, sentences in remarks.items():
    st.markdown(f"- **{widgets.plain(name)}**: {widgets.plain(' '.join(sentences))}")
if remarks:
    st.caption("Unusual is not wrong: experts are fast, and documents judged in a row are often alike.")

views = [WORK, GRADES, *([FLAGGED] if len(flagged) else [])]
views += [DAYS] if statistics.days["day"].nunique() > 1 else []
views += [TIMES] if len(times) else []
view = st.segmented_control("Details", views, default=WORK, required=True, key="look")
pinned = TextColumn("Annotator", pinned=True)
if view == WORK:
    # Without times on screen, as of imported judgements, the dates are those of the import.
    timed = facts["timed"] > 0
    shares = [f"{low:.1f}-{high:.1f}" for low, high in zip(facts["seconds_low"], facts["seconds_high"], strict=True)]
    measured = ["days", "seconds", "middle", "per_hour", "sessions", "hours", "active", "away"]
    shown = facts.assign(middle=shares)
    shown = shown.assign(**{name: shown[name].where(timed) for name in measured})
    display.table(
        shown if timed.any() else shown.drop(columns=measured),
        {
            "annotator": pinned,
            "judgements": number("Judgements", help="Without revised and undone ones."),
            "last_at": timestamp("Last judgement (UTC)", "YYYY-MM-DD"),
            "seconds": number("Median seconds", "%.1f", help="Time on screen per judgement."),
            "middle": text("Middle 50% (seconds)"),
            "per_hour": number("Judgements per hour", "%.0f", help="In sessions; a pause of 30 minutes ends one."),
            "sessions": number("Sessions", "%d"),
            "hours": number("Hours in sessions", "%.1f"),
            "active": number("Hours on screen", "%.1f", help="With a document visible and the window in front."),
            "away": number("Hours away", "%.1f", help="With another window in front, or without activity."),
            "days": number("Days", "%d"),
        },
        placeholder="",
        alt="Work of each annotator",
    )
    if not timed.all():
        st.caption("Judgements that were imported have no times.")
elif view == GRADES:
    streaks = [f"{n:,} of grade {g:g}" if n else "" for n, g in zip(facts["row"], facts["row_grade"], strict=True)]
    optional = ["agreement", "higher", "shared"] if not facts["shared"].any() else []
    optional += [name for name in ("cannot_judge", "flagged", "revised", "undone") if not facts[name].any()]
    display.table(
        facts.assign(streak=streaks).drop(columns=optional),
        {
            "annotator": pinned,
            "grades": text("Judgements by grade"),
            "agreement": number("Observed agreement", "percent", help="Share of comparisons with the same grade."),
            "higher": number("Mean grade difference", "%+.2f", help="From the other annotators; negative: stricter."),
            "shared": number("Shared pairs", help="Pairs that others graded too."),
            "streak": text("Longest streak"),
            "cannot_judge": "Cannot judge",
            "flagged": "Flagged",
            "revised": "Revised",
            "undone": "Undone",
        },
        placeholder="",
        alt="Grades of each annotator",
    )
    widgets.page_link("agreement.py", "Compare annotators on Agreement")
elif view == FLAGGED:
    row = display.select_row(
        flagged.assign(grade=widgets.grade_names(campaign.grades, flagged)),
        {
            "query_id": "Topic",
            "doc_id": "Document",
            "annotator": "Annotator",
            "grade": "Grade",
            "note": text("Note", "large"),
            "judged_at": timestamp("Time (UTC)"),
        },
        most_height=248,
        placeholder="",
        key=f"flagged-{logged}",
        alt="Pairs that annotators flagged for review",
    )
    st.caption("Newest first. Select a row to read the document and its judgements.")
    if row is not None:
        pairs_table.side_by_side(flagged.iloc[row], campaign.agreement.labels())
    widgets.page_link("adjudicate.py", "Adjudicate disagreements")
elif view == DAYS:
    display.altair_chart(annotators.days_chart(statistics.days), alt="Judgements per day, by annotator")
else:
    everybody = sorted(times["annotator"].unique())
    chosen = st.multiselect("Annotators", everybody, default=everybody[:6])
    rows: pd.DataFrame = times[times["annotator"].isin(chosen)]
    if len(rows):
        display.altair_chart(annotators.seconds_chart(rows), alt="Seconds of each judgement over time, by annotator")
        st.caption(f"Points: judgements. Lines: median of the last {annotators.WINDOW}.")
