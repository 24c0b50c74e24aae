"""Judge: the card, which never waits for this script."""

from dataclasses import asdict

import streamlit as st

from annotate.auth import session
from annotate.elements import widgets
from annotate.judging.card import CARDS, CardData, grade_buttons, mount
from annotate.judging.document_payload import PREFIX, TEXT_CAP
from collection.campaign.results import CANNOT_JUDGE_REASONS

now = session.current()
step = now.campaign.overview.next_step()

if step.page in ("import", "pool"):
    st.title("Judge")
    st.write("There is nothing to judge yet.")
    widgets.next_step(step)
else:
    settings = now.campaign.settings.judging_page()
    mount(
        CardData(
            token=now.token(),
            campaign=now.campaign.id,
            annotator=now.annotator,
            scale=grade_buttons(now.campaign.grades) if settings.task == "grades" else [],
            reasons=list(CANNOT_JUDGE_REASONS),
            query_id=st.query_params.get("topic"),
            text_cap=TEXT_CAP,
            routes=PREFIX,
            card=asdict(settings),
            own=now.campaign.settings.card_arrangement(now.annotator),
        ),
        CARDS[settings.task],
    )
