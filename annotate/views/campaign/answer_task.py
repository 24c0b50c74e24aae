"""The part of the page Overview that adds generated answers to a task."""

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import widgets
from collection.campaign.answers.tasks import Citations, citations_judged
from collection.core.answer_tasks import SUPPORT, AnswerTask

CITATIONS: dict[Citations, str] = {"all": "All citations of a sentence", "first": "The first citation of a sentence"}


def draw(task: AnswerTask) -> None:
    """Draw the button that adds the current answers, with their nuggets or citations, to the task."""
    what = "citations" if task.name == SUPPORT else "nuggets"
    with st.container(border=True):
        st.write(f"The task contains the answers and {what} as of the last update. An update keeps all judgements.")
        chosen = citations_judged(session.current().campaign)
        if task.name == SUPPORT:
            options = list(CITATIONS)
            chosen = st.radio(
                "Citations to judge",
                options,
                index=options.index(chosen),
                format_func=CITATIONS.__getitem__,
                key="citations",
            )
        if st.button(f"Update answers and {what}", icon=":material/sync:", key="prepare"):
            with widgets.shown_errors(), st.spinner("Updating the task ..."):
                st.toast(str(session.current().outer.answers.tasks.prepare(task.name, citations=chosen)))
                st.rerun()
