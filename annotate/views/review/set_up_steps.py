"""Steps of the page *Set up*, and moving between them."""

from typing import NoReturn

import streamlit as st

STEPS = QUESTION, RECORDS, SCREENING = ("Question", "Records", "Screening")
_STEP, _MOVE = "set-up-step", "set-up-move"  # session keys of the step that is shown, and of the one to show next


def pick(done: set[str]) -> str:
    """Draw the steps, with a mark at those that are done; return the chosen one, at first one that is not done."""
    if _MOVE in st.session_state:
        st.session_state[_STEP] = st.session_state.pop(_MOVE)  # before the widget with this key is drawn
    st.session_state.setdefault(_STEP, next((step for step in STEPS if step not in done), STEPS[-1]))
    labels = {step: f"{number}. {step}" for number, step in enumerate(STEPS, start=1)}
    labels |= {step: f"{label} :material/check:" for step, label in labels.items() if step in done}
    step = st.segmented_control(
        "Step", STEPS, key=_STEP, required=True, format_func=labels.__getitem__, label_visibility="collapsed"
    )
    return step or STEPS[0]


def go_to(step: str) -> NoReturn:
    """Run the page again with another step."""
    st.session_state[_MOVE] = step
    st.rerun()
