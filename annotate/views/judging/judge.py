"""Judge: the card, which never waits for this script."""

from dataclasses import asdict

import streamlit as st

from annotate.auth import session
from annotate.card.server.card import CARDS, grade_buttons, mount
from annotate.views.widgets import widgets

now = session.current()
step = now.campaign.results.overview.next_step()

if step.page in ("import", "pool"):
    st.title("Judge")
    widgets.next_step(step, "There is nothing to judge yet.")
else:
    settings = now.campaign.settings.judging_page()
    scale = grade_buttons(now.campaign.settings.grades) if settings.task == "grades" else []
    mount({"scale": scale, "query_id": st.query_params.get("topic"), "card": asdict(settings)}, CARDS[settings.task])
