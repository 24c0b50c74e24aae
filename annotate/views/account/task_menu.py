"""The choice between the documents of a campaign and the tasks of its generated answers, above the menu."""

import streamlit as st

from collection.campaign import Campaign
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.records import Role

TASK = "task"
"""Query parameter that holds the task, so that a reloaded page stays in its task."""

CHOICE = "answer-task"
"""Session key of the choice; it differs from the keys of pages, such as the task of the judging page."""

DOCUMENTS = "documents"


def offered(campaign: Campaign, role: Role) -> list[str]:
    """Return the tasks that a person may choose; managers also see tasks that they have yet to prepare."""
    existing = campaign.answers.tasks.existing()
    return list(ANSWER_TASKS) if role == "manager" and campaign.store.answers.exist() else existing


def chosen(tasks: list[str]) -> str | None:
    """Return the task whose campaign the pages show; None for the documents of the campaign."""
    if CHOICE not in st.session_state:
        st.session_state[CHOICE] = st.query_params.get(TASK)
    if st.session_state[CHOICE] not in tasks:
        st.session_state[CHOICE] = DOCUMENTS
        return None
    return str(st.session_state[CHOICE])


def draw(tasks: list[str], task: str | None) -> None:
    """Draw the choice, and keep it in the query parameters."""
    if not tasks:
        return
    labels = {DOCUMENTS: "Documents"} | {name: ANSWER_TASKS[name].label for name in tasks}
    with st.sidebar:
        # Streamlit draws the menu first, and a manager's menu is longer than the screen: the choice goes above it.
        st.html(
            f"<style>.st-key-{CHOICE} {{ position: absolute; top: 3.5rem; }}"
            f"[data-testid=stSidebarNav] {{ padding-top: {1.5 * len(labels) + 1.75}rem; }}</style>"
        )
        st.radio("Task", list(labels), format_func=labels.__getitem__, key=CHOICE, on_change=_leave)
    if task is None:
        st.query_params.pop(TASK, None)
    elif st.query_params.get(TASK) != task:
        st.query_params[TASK] = task


def _leave() -> None:
    """Clear the choices made on pages of the previous task, whose topics and documents differ."""
    for key in [key for key in st.session_state if key != CHOICE]:
        del st.session_state[key]
    st.query_params.clear()
