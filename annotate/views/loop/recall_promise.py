"""Recall that is guaranteed across topics: the calibration topics, the promise, and the topics that its rule closed."""

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.service_cache import cached
from collection.campaign.recall.across_topics.state import CalibrationState
from collection.core.phrases import count, plural

ICONS = {"calibrating": "hourglass_top", "calibrated": "check_circle", "impossible": "block", "none": "lock"}


def draw() -> bool:
    """Draw the state of the calibration topics, or nothing without any and without a topic that their rule closed.

    Returns whether calibration topics are drawn.
    """
    service = session.current().campaign.recall.across_topics
    state = cached(service.state, service.cache_key(), entries=4)()
    if state.phase == "none" and not state.closed:
        return False
    with st.container(border=True):
        icon = "warning" if state.in_doubt else ICONS[state.phase]
        st.markdown(f"#### :material/{icon}: Recall across topics: {state.stage}\n\n{widgets.plain(state.sentence)}")
        if state.phase == "calibrating":
            judged = sum(topic.judged for topic in state.topics)
            st.progress(judged / (judged + state.left) if state.left else 1.0)
        if state.phase != "none":
            st.caption(widgets.plain(state.cost))
        if state.notes:
            st.warning("\n\n".join(map(widgets.plain, state.notes)))
        _draw_topics(state)
        if session.current().role == "manager" and state.phase != "none":
            _draw_actions(state)
    return state.phase != "none"


def _draw_topics(state: CalibrationState) -> None:
    """Draw the calibration topics, and the topics that the rule closed."""
    if state.topics:
        name = "Topics that check the rule" if state.source else "Calibration topics"
        with st.expander(f"{name} ({len(state.topics):,})"):
            display.table(
                pd.DataFrame(state.topics).assign(finished=[topic.finished for topic in state.topics]),
                {
                    "query_id": text("Topic", 60),
                    "judged": number("Judged", width=70),
                    "size": number("Documents", width=95),
                    "finished": CheckboxColumn("Finished", help="All documents are judged.", width=80),
                    "title": text("Title", "medium"),
                },
                alt=name,
            )
    if state.closed:
        with st.expander(f"Topics closed by the stopping rule ({len(state.closed):,})"):
            display.table(  # without the rule, which is in the promise above
                pd.DataFrame(state.closed).assign(reason=[topic.reached for topic in state.closed]),
                {
                    "query_id": text("Topic", 60),
                    "reason": text("Stopping rule", 215),
                    "judged": number("Judged", width=70, help="Documents judged when the topic was closed."),
                    "size": number("Documents", width=95),
                    "reopened": CheckboxColumn("Reopened", width=90, help="The rule leaves a reopened topic alone."),
                    "title": text("Title", "medium"),
                },
                alt="Topics closed by the stopping rule",
            )


def _draw_actions(state: CalibrationState) -> None:
    """Draw the buttons of a manager."""
    campaign = session.current().campaign
    if closed := state.closed_early:
        label, help = f"Reopen {count(len(closed), 'topic')}", "Calibration topics must be judged to the end."
        if st.button(label, key="reopen-calibration", type="primary", help=help):
            with widgets.saving(plural(len(closed), "Topic reopened.", "Topics reopened.")):
                for query_id in closed:
                    campaign.settings.reopen_topic(query_id)
    if state.left:
        return
    label = "Calibrate now" if state.ready else "Check again" if state.source else "Calibrate again"
    help = "Use the current judgements of these topics."
    if st.button(label, key="calibrate", type="primary" if state.ready else "secondary", help=help):
        with widgets.saving("Calibrated."):
            campaign.recall.across_topics.calibrate()
