"""Annotators: who has unusual results, and how each annotator works and grades."""

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.views.results import annotators_charts as annotators
from annotate.views.widgets import display, pairs_table, pickers, widgets
from annotate.views.widgets.display import number, text, timestamp
from annotate.views.widgets.service_cache import cached
from collection.annotator_agreement import FEW
from collection.core.phrases import count, join, plural

WORK, GRADES, FLAGGED, DAYS, TIMES = "Work", "Grades", "Flagged pairs", "Judgements per day", "Time per judgement"

campaign = session.current().campaign

st.title("Annotators")
logged = campaign.store.judgements.counts()["logged"]
statistics = cached(campaign.results.agreement.annotator_statistics, logged, "Reading the log", 1)()
facts, remarks, times = statistics.facts, statistics.remarks, statistics.times
differences = list(statistics.differences)
if facts.empty:
    widgets.stop_with_next_step("This campaign has no judgements yet, so there is no annotator to describe.")
flagged = campaign.log.flagged()

checked = int((facts["judgements"] >= FEW).sum())
answer = f"No annotator has unusual results ({checked:,} checked)."
if remarks:
    have = plural(len(remarks), "has", "have")
    answer = f"{len(remarks):,} of {count(len(facts), 'annotator')} {have} unusual results: {join(remarks)}."
elif differences:
    answer = differences.pop(0)
elif not checked:
    answer = f"No annotator has {FEW:,} judgements yet, so none is checked for unusual results."
st.markdown(f"#### {widgets.plain(answer)}")
numbers = {"Annotators": f"{len(facts):,}", "Judgements": f"{facts['judgements'].sum():,}"}
if len(times):
    numbers["Median seconds per judgement"] = f"{times['seconds'].median():.1f}"
widgets.metrics(numbers | ({"Pairs flagged for review": f"{len(flagged):,}"} if len(flagged) else {}))
for name, sentences in remarks.items():
    st.markdown(f"- **{widgets.plain(name)}**: {widgets.plain(' '.join(sentences))}")
if remarks:
    st.caption("Unusual results need not be errors: experts are fast, and consecutive documents are often similar.")
for difference in differences:
    st.write(widgets.plain(difference))

views = [WORK, GRADES, *([FLAGGED] if len(flagged) else [])]
views += [DAYS] if statistics.days["day"].nunique() > 1 else []
views += [TIMES] if len(times) else []
view = st.segmented_control("Details", views, default=WORK, required=True, key="look")
pinned = TextColumn("Annotator", pinned=True)
if view == WORK:
    timed = facts["timed"] > 0
    shares = [f"{low:.1f}-{high:.1f}" for low, high in zip(facts["seconds_low"], facts["seconds_high"], strict=True)]
    measured, rare = ["days", "seconds", "per_hour", "active"], ["middle", "sessions", "hours", "away"]
    all_columns = timed.any() and st.toggle("Show all columns", key="all-columns")
    shown = facts.assign(middle=shares)
    shown = shown.assign(**{name: shown[name].where(timed) for name in (*measured, *rare)})
    shown["per_hour"] = shown["per_hour"].where(facts["timed"] >= FEW)
    display.table(
        shown.drop(columns=[] if all_columns else rare).dropna(axis="columns", how="all"),
        {
            "annotator": pinned,
            "judgements": number("Judgements", help="Excluding revised and undone judgements."),
            "last_at": timestamp("Last judgement (UTC)", "YYYY-MM-DD"),
            "days": number("Days", "%d", help="Days with a judgement."),
            "active": number("Hours on screen", "%.1f", help="Time with a document visible and the window in front."),
            "seconds": number("Median seconds", "%.1f", help="Seconds on screen per judgement."),
            "per_hour": number(
                "Judgements per hour", "%.0f", help=f"Within sessions; needs at least {FEW} timed judgements."
            ),
            "middle": text("Middle 50% (seconds)", help="First to third quartile of seconds per judgement."),
            "sessions": number("Sessions", "%d", help="A pause of 30 minutes ends a session."),
            "hours": number("Hours in sessions", "%.1f"),
            "away": number("Hours away", "%.1f", help="Time with another window in front, or without activity."),
        },
        alt="Work of each annotator",
    )
    if not timed.all():
        st.caption("Judgements made outside the app have no times.")
elif view == GRADES:
    streaks = [f"{n:,} of grade {g:g}" if n else "" for n, g in zip(facts["row"], facts["row_grade"], strict=True)]
    optional = ["agreement", "higher", "shared"] if not facts["shared"].any() else []
    rare = [name for name in ("flagged", "revised", "undone") if facts[name].any()]
    optional += [] if rare and st.toggle("Show all columns", key="all-columns-of-grades") else rare
    optional += [name for name in ("cannot_judge", "flagged", "revised", "undone") if not facts[name].any()]
    agreement = 100 * facts["agreement"]
    agreement = agreement.where(agreement == 100, agreement.clip(upper=99))  # 99.96% is not 100%
    display.table(
        facts.assign(streak=streaks, agreement=agreement).drop(columns=optional),
        {
            "annotator": pinned,
            "grades": text("Judgements by grade"),
            "agreement": number(
                "Observed agreement",
                "%.0f%%",
                help="Share of comparisons with other annotators in which both gave the same grade.",
            ),
            "higher": number(
                "Mean grade difference",
                "%+.2f",
                help="Difference from the other annotators. Negative values are stricter.",
            ),
            "shared": number("Common pairs", help="Pairs that other annotators also graded."),
            "streak": text("Longest streak", help="Longest sequence of judgements with the same grade."),
            "cannot_judge": "Cannot judge",
            "flagged": "Flagged",
            "revised": "Revised",
            "undone": "Undone",
        },
        alt="Grades of each annotator",
    )
    if campaign.settings.questions():
        st.subheader("Answers")
        study = campaign.results.agreement.for_question(*pickers.pick_question(whole=True))
        answered = cached(study.count_answers, study.cache_key(), entries=8)()
        counted = {str(column): text(str(column)) for column in answered.columns.drop("annotator")}
        display.table(answered, {"annotator": pinned, **counted}, alt="Answers of each annotator")
    widgets.page_link("agreement", "Compare annotators")
elif view == FLAGGED:
    row = display.select_row(
        flagged.assign(grade=widgets.grade_names(campaign.settings.grades, flagged)),
        {
            "query_id": "Topic",
            "doc_id": "Document",
            "annotator": "Annotator",
            "grade": "Grade",
            "note": text("Note", "large"),
            "judged_at": timestamp("Judged (UTC)"),
        },
        most_height=248,
        key=f"flagged-{logged}",
        alt="Pairs that annotators flagged for review",
    )
    st.caption(widgets.words().apply("Newest first. Select a row to read the document and its judgements."))
    if row is not None:
        names = {grade: campaign.settings.grades.label(grade) for grade in campaign.settings.grades.sentences}
        pairs_table.side_by_side(flagged.iloc[row], campaign.results.agreement.labels(), names)
    widgets.page_link("adjudicate", "Adjudicate disagreements")
elif view == DAYS:
    words = widgets.words()
    display.altair_chart(
        annotators.days_chart(statistics.days, words), alt=words.apply("Judgements per day, by annotator")
    )
else:
    everybody = sorted(times["annotator"].unique())
    chosen = st.multiselect("Annotators", everybody, default=everybody[:6])
    rows: pd.DataFrame = times[times["annotator"].isin(chosen)]
    if len(rows):
        alt = widgets.words().apply("Seconds of each judgement over time, by annotator")
        display.altair_chart(annotators.seconds_chart(rows, widgets.words()), alt=alt)
        st.caption(f"Points: judgements. Lines: median of the last {annotators.WINDOW} judgements.")
