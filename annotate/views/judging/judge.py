"""Judge: the card, which never waits for this script."""

from dataclasses import asdict

import streamlit as st

from annotate.auth import session
from annotate.card.server.card import CARDS, grade_buttons, grade_card, mount, question_data
from annotate.views.widgets import widgets

now = session.current()
step = widgets.find_next_step()

if step.page in ("import", "pool", "overview", "nuggets"):
    st.title("Judge")
    widgets.next_step(step, "There is nothing to judge yet.")
elif step.page == "set-up":
    st.title("Screen")
    widgets.next_step(step, "There is nothing to screen yet.")
else:
    if now.campaign.settings.review() is not None:
        now.campaign.review.full_texts.advance()
    settings = now.campaign.settings.judging_page()
    scale = grade_buttons(now.campaign.settings.grades) if settings.task == "grades" else []
    questions = question_data(now.campaign.settings.questions() if settings.task == "grades" else ())
    topic = st.query_params.get("topic")
    card = grade_card(now.campaign) if settings.task == "grades" else CARDS[settings.task]
    mount({"scale": scale, "questions": questions, "query_id": topic, "card": asdict(settings)}, card)
