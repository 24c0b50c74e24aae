"""Overview: the state and progress of the campaign, and the next step."""

import pandas as pd
import streamlit as st
from streamlit.column_config import ProgressColumn

from annotate.auth import session
from annotate.views.campaign import answer_task, review_overview, tour
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text, timestamp
from collection.campaign.log.results import NextStep
from collection.campaign.settings.loop_settings import MODES
from collection.core.phrases import count

now = session.current()
campaign = now.campaign
if (review := campaign.settings.review()) is not None:
    review_overview.draw(review)
    st.stop()
st.title(widgets.plain(campaign.title))
if now.role == "annotator":  # blind: what the others did, and how the systems fare, is not for them
    widgets.annotator_progress(campaign, now.annotator)
    st.stop()

state = campaign.results.overview.status()
if state["next"]["page"] != "overview":
    widgets.next_step(NextStep(**state["next"]))
if now.role == "manager" and (task := campaign.settings.task()) is not None:
    answer_task.draw(task)
elif now.role == "manager":  # a reader changes nothing
    if state["next"]["page"] == "judge" and len(campaign.store.accounts.table()) == 1:
        widgets.page_link("people", "Invite annotators")
    if state["next"]["page"] == "export" and state["runs"]:
        widgets.page_link("compare", "Compare the systems")
    if campaign.settings.tour():
        tour.draw(campaign)

words = campaign.settings.vocabulary
outside = state["outside_pool"]
figures = {"Topics": state["topics"], "Documents": state["documents"]}
if not outside and campaign.settings.task() is None:  # at most five numbers; the runs are below, too
    figures["Runs"] = state["runs"]
if not outside and campaign.settings.task() is None and (answers := campaign.store.answers.count()):
    figures["Generated answers"] = answers
if state["pool"]:
    figures["Pairs in the pool"] = state["pool"]
if decisions := state["decisions"]:
    figures["Decisions"] = decisions["made"]
elif state["pool"]:
    figures["Pooled pairs judged"] = state["judged_in_pool"]
if outside:
    figures["Other pairs judged"] = outside
if any(figures.values()):
    widgets.metrics(figures)

judged, judgements = state["judged"], state["made"]
goal = None if state["in_loop"] else state["goal"]
if decisions:
    widgets.decision_progress(decisions)
elif goal is None:
    page = "System order" if campaign.settings.loop().by_system_order else "Recall"
    advice = "" if "recall_across_topics" in state else f"{page} advises when to stop."
    loops = "The judgement budget is used up." if state["budget"] else advice
    within = ""
    if left := state.get("budget_left"):
        within = f"; {count(left, 'pair')} can still be judged within the judgement budget"
    st.caption(f"{count(judged, 'pair')} judged{within}. {loops}".strip())
elif goal:
    several = f"{count(goal, 'judgement')} made; some pairs need several"
    done = f"{judgements:,} of {several if goal > state['pool'] else count(goal, 'pair') + ' judged'}"
    cannot = f"; annotators could not judge {count(state['cannot_judge'], 'pair')}" if state["cannot_judge"] else ""
    st.progress(judgements / goal, done + cannot)
for advice in [state[name] for name in ("recall_across_topics", "system_order") if name in state]:
    st.caption(widgets.plain(advice))
widgets.missing_texts(topic["without_text"] for topic in state["per_topic"])
if state["missing_documents"] and not state["without_text"]:
    without = count(state["missing_documents"], "pooled document")
    st.info(f"{without} without a text. The Export page lists the ids.")

if len(progress := pd.DataFrame(state["per_topic"])) and not decisions:
    st.subheader(words.apply("Topics"))
    # A loop over the whole collection or within a budget has no goal, so its bar stays empty.
    goals = progress["goal"].astype(float)
    has_goals = (goals > 0).any()
    progress["share"] = (100 * progress["made"].astype(float) / goals.where(goals > 0)).floordiv(1) / 100
    progress["left"] = progress["left"].astype("Int64")
    progress["mode"] = progress["mode"].map(lambda name: MODES[name][0])
    lacks_text = progress["without_text"].any()
    no_text = number(
        "Text missing", help="Pooled documents without a text. They cannot be judged, and count as unjudged."
    )
    display.table(
        progress,
        {
            "query_id": display.identifier("Topic", progress["query_id"]),
            "title": text("Title", "medium"),
            "share": ProgressColumn("Done", format="percent", min_value=0, max_value=1) if has_goals else None,
            "left": "Judgements left" if has_goals else None,
            "judged": None if lacks_text else "Pairs judged",
            "pool": "Pairs in the pool",
            "mode": "Judging mode",
            "without_text": no_text if lacks_text else None,
        },
    )
if decisions and decisions["annotators"]:
    with st.expander(f"Annotators ({len(decisions['annotators'])})"):
        columns = {"annotator": "Annotator", "topics": "Topics decided"}
        display.table(pd.DataFrame(decisions["annotators"]), columns, alt="Topics that each annotator decided")
elif len(annotators := pd.DataFrame(state["annotators"])):
    with st.expander(f"Annotators ({len(annotators)})"):
        display.table(
            annotators,
            {
                "annotator": "Annotator",
                "judgements": number("Judgements", help="Excluding revised and undone judgements."),
                "seconds": number("Median seconds per judgement", "%.1f", help="Time with the document on screen."),
                "last_at": timestamp("Last judgement (UTC)"),
            },
        )
if not decisions:
    widgets.grade_scale(campaign.settings.grades)
if questions := state.get("questions"):
    with st.expander(f"Questions ({len(questions)})"):
        counts = pd.DataFrame(questions)
        counts["missing"] = counts["missing"].astype("Int64").where(counts["required"])
        display.table(
            counts,
            {
                "name": "Question",
                "question": text("Sentence", "medium"),
                "asked": number("Judgements", help="Current judgements at whose grade the question is asked."),
                "answered": number("Answers", help="Of these judgements, those with an answer."),
                "missing": number("Answers missing", help="Judgements without an answer; empty if it is optional."),
            },
            alt="Answers to each question",
        )
        lacking = [{"name": each["name"], **row} for each in questions for row in each["annotators"] if row["missing"]]
        if lacking:
            display.table(
                pd.DataFrame(lacking),
                {"name": "Question", "annotator": "Annotator", "asked": "Judgements", "missing": "Answers missing"},
                alt="Missing answers of each annotator",
            )
            widgets.page_link("judging-page", "Choose whether they are handed out again")
if len(runs := campaign.store.corpus.runs()):
    with st.expander(f"Runs ({len(runs)})"):
        lines = number("Lines", "localized")
        display.table(runs, {"run": "Run", "topics": "Topics", "rows": lines, "deepest": "Deepest rank"})
