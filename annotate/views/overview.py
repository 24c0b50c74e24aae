"""Overview: the state and progress of the campaign, and the next step."""

import pandas as pd
import streamlit as st
from streamlit.column_config import ProgressColumn

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.columns import number, text, timestamp
from collection.campaign.loop_settings import MODES
from collection.campaign.results import NextStep

now = session.current()
campaign = now.campaign
st.title(widgets.plain(campaign.title))
if now.role == "annotator":  # blind: what the others did, and how the systems fare, is not for them
    widgets.annotator_progress(campaign, now.annotator)
    st.stop()

state = campaign.overview.status()
if now.role == "manager":  # a reader changes nothing
    widgets.next_step(NextStep(**state["next"]))

figures = {name: state[name.lower()] for name in ("Topics", "Documents", "Runs")}
figures["Pairs in the pool"] = state["pool"]
if decisions := state["decisions"]:
    figures["Decisions"] = decisions["made"]
else:
    figures["Judged in the pool"] = state["judged_in_pool"]
if state["outside_pool"]:
    figures["Judged outside it"] = state["outside_pool"]
widgets.metrics(figures)

judged, made = state["judged"], state["made"]
goal = None if state["in_loop"] else state["goal"]
if decisions:
    widgets.decision_progress(decisions)
elif goal is None:
    until = "no loop hands out more" if state["budget"] else "a loop over the whole collection ends when Recall says so"
    st.caption(f"{judged:,} pairs are judged; {until}.")
elif goal:
    several = goal > state["pool"]
    cannot = f", {state['cannot_judge']:,} {'pairs' if several else 'of them'} cannot be judged"
    st.progress(
        made / goal,
        f"{made:,} of {goal:,} {'judgements are made' if several else 'pairs are judged'}"
        + (cannot if state["cannot_judge"] else ""),
    )
widgets.missing_texts(topic["without_text"] for topic in state["per_topic"])
if state["missing_documents"] and not state["without_text"]:
    st.info(f"{state['missing_documents']:,} documents of the pool have no text here. The Export page lists the ids.")

if len(progress := pd.DataFrame(state["per_topic"])) and not decisions:
    st.subheader("Topics")
    # A loop over the whole collection has no share: its bar stays empty.
    goals = progress["goal"].astype(float)
    progress["share"] = progress["made"].astype(float) / goals.where(goals > 0)
    progress["left"] = progress["left"].astype("Int64")
    progress["mode"] = progress["mode"].map(lambda name: MODES[name][0])
    display.table(
        progress,
        {
            "query_id": text("Topic", 60),
            "share": ProgressColumn("Done", format="percent", min_value=0, max_value=1),
            "title": text("Title", "medium"),
            "mode": "Chosen by",
            "judged": "Judged",
            "pool": "Pool",
            "left": number("Left", help="Judgements that are still wanted."),
            "without_text": number("No text", help="Pooled documents that cannot be judged; they count as unjudged."),
            "cannot_judge": "Cannot judge",
        },
    )
if decisions and decisions["annotators"]:
    st.subheader("Annotators")
    columns = {"annotator": "Annotator", "topics": "Topics decided"}
    display.table(pd.DataFrame(decisions["annotators"]), columns, alt="Topics that each annotator decided")
elif len(annotators := campaign.judgement_log.annotators()):
    st.subheader("Annotators")
    display.table(
        annotators,
        {
            "annotator": "Annotator",
            "judgements": number("Judgements", help="Current ones: revised and undone ones are not counted."),
            "seconds": number("Median seconds", "%.1f", help="Time with the document on screen."),
            "last_at": timestamp("Last (UTC)"),
        },
    )
widgets.grade_scale(campaign.grades)
if len(runs := campaign.corpus.run_table()):
    with st.expander(f"Runs ({len(runs)})"):
        display.table(runs, {"run": "Run", "topics": "Topics", "rows": "Lines", "deepest": "Deepest rank"})
