"""The part of the page Nuggets in which a manager accepts or rejects nuggets proposed by language models and files."""

from functools import partial
from uuid import uuid4

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn, TextColumn

from annotate.views.answers.nugget_parts import MOST_HEIGHT, draw_texts, edit, importance_column, save_rows
from annotate.views.widgets import display
from annotate.views.widgets.display import text
from collection.campaign import Campaign
from collection.campaign.answers.nuggets import PROPOSAL
from collection.core.phrases import count


def draw(campaign: Campaign, query_id: str, annotator: str) -> None:
    """Draw the proposals of a topic, if there are any."""
    nuggets = campaign.answers.nuggets
    proposals = nuggets.proposals(query_id)
    if proposals:
        st.subheader("Proposals")
        st.caption("Proposals become nuggets when you accept them.")
        frame = pd.DataFrame(
            [(False, each.importance, each.text, str(each.fields[PROPOSAL]), each.nugget) for each in proposals],
            columns=["chosen", "importance", "text", "source", "nugget"],
        )
        edited = display.data_editor(
            frame,
            hide_index=True,
            placeholder="",
            height=display.height(frame, MOST_HEIGHT),
            disabled=["source", "nugget"],
            key=f"proposals-{query_id}-{hash(tuple(frame['nugget']))}",
            alt="Proposed nuggets",
            column_config={
                "chosen": CheckboxColumn("Select", width=85),
                "importance": importance_column(),
                "text": TextColumn("Text", width=420, required=True),
                "source": text("Proposed by", 130),
                "nugget": text("Nugget", 70),
            },
        )
        draw_texts(frame["text"], "proposals")
        chosen = edited[edited["chosen"]]
        number = count(len(chosen), "proposal")

        def accept() -> None:
            uuid = str(uuid4())
            with campaign.transaction():
                save_rows(partial(nuggets.accept, query_id, annotator=annotator, edit=uuid), chosen)

        with st.container(horizontal=True):
            if st.button("Accept", icon=":material/check:", key="accept-proposals", disabled=chosen.empty):
                edit(f"{number} accepted.", accept)
            if st.button("Reject", icon=":material/close:", key="reject-proposals", disabled=chosen.empty):
                names = chosen["nugget"].tolist()
                edit(f"{number} rejected.", lambda: nuggets.delete(query_id, *names, annotator=annotator))
