"""Set up: the question of a literature review, its records, and who screens them."""

import streamlit as st

from annotate.auth import session
from annotate.views.review import question_step, records_step, screening_step, set_up_steps
from annotate.views.review.set_up_steps import QUESTION, RECORDS, SCREENING

campaign = session.current().campaign
review = campaign.settings.review()

st.title("Set up")
if review is None:
    st.write("This campaign is not a literature review. Create one with `cleverdon new DIR --review`.")
    st.stop()

counts = campaign.store.judgements.counts()
finished = {
    QUESTION: bool(review.question),
    RECORDS: bool(counts["documents"]),
    SCREENING: bool(counts["judgements"]) and screening_step.count_able(campaign) >= review.screeners,
}
step = set_up_steps.pick({name for name, is_finished in finished.items() if is_finished})
if step == QUESTION:
    question_step.draw(campaign, review)
elif step == RECORDS:
    records_step.draw(
        campaign, lambda label, key, help: st.file_uploader(label, accept_multiple_files=True, key=key, help=help)
    )
else:
    screening_step.draw(campaign, review)
