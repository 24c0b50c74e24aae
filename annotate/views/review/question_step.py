"""Step *Question* of the set-up of a literature review: question, criteria, terms and reasons."""

from collections.abc import Iterable

import streamlit as st

from annotate.views.review import set_up_steps
from annotate.views.widgets import widgets
from collection.campaign import Campaign
from collection.core.review import PICO, Review


def draw(campaign: Campaign, review: Review) -> None:
    """Draw the form, and store it."""
    values: dict[str, object] = {}
    with st.form("question-step", enter_to_submit=False, border=False):
        values["title"] = st.text_input("Title of the review", review.title, key="review-title")
        values["question"] = st.text_area(
            "Question",
            review.question,
            height=80,
            key="review-question",
            placeholder="Does exercise prevent falls in older people who live at home?",
        )
        with st.expander("PICO (optional)", expanded=any(getattr(review, name) for name in PICO)):
            columns = st.columns(2)
            for number, name in enumerate(PICO):
                field = columns[number % 2].text_input(name.capitalize(), getattr(review, name), key=f"review-{name}")
                values[name] = field
        left, right = st.columns(2, gap="large")
        with left:
            values["include"] = _lines("Inclusion criteria", review.include, "review-include", "One per line.")
            hint = "One word or phrase per line, green in records. A * at either end of a word stands for any letters."
            values["include_terms"] = _lines("Inclusion terms", review.include_terms, "review-include-terms", hint)
        with right:
            values["exclude"] = _lines("Exclusion criteria", review.exclude, "review-exclude", "One per line.")
            hint = "One word or phrase per line, red in records. A * at either end of a word stands for any letters."
            values["exclude_terms"] = _lines("Exclusion terms", review.exclude_terms, "review-exclude-terms", hint)
        hint = "One per line, 2 to 20. Optional for titles and abstracts, required for full texts."
        reasons = _lines("Reasons for exclusion", campaign.settings.reasons(), "review-reasons", hint, height=210)
        save = st.form_submit_button("Save and continue", type="primary", icon=":material/arrow_forward:")
    if not save:
        return
    with widgets.shown_errors():
        campaign.review.update(reasons=None if reasons == campaign.settings.reasons() else reasons, **values)
        set_up_steps.go_to(set_up_steps.RECORDS)


def _lines(label: str, lines: Iterable[str], key: str, help: str, height: int = 120) -> list[str]:
    """Draw a field with a line for each of several texts; return the lines that are not empty."""
    return [
        line.strip()
        for line in st.text_area(label, "\n".join(lines), height, key=key, help=help).splitlines()
        if line.strip()
    ]
