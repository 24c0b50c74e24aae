"""Removal of topics, documents, runs and rounds of pooling, with a preview."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.views.widgets import widgets
from collection.campaign import Campaign
from collection.core.characters import without_bidi
from collection.core.phrases import count
from collection.pooling import STRATEGIES


def draw(campaign: Campaign) -> None:
    """Draw a folded form that removes topics, documents or runs."""
    counts = campaign.store.judgements.counts()
    if not any(counts[name] for name in ("topics", "documents", "runs")):
        return
    with st.expander("Remove imported data"):
        what = st.segmented_control(
            "Remove", ["topics", "documents", "runs"], default="documents", format_func=str.capitalize, key="removed"
        )
        if what == "topics":
            topics = campaign.store.corpus.topics()["query_id"].tolist()
            _draw_preview(campaign, topics=st.multiselect("Topics", topics, format_func=without_bidi))
        elif what == "runs":
            runs = campaign.store.corpus.runs()["run"].tolist()
            _draw_preview(campaign, runs=st.multiselect("Runs", runs, format_func=without_bidi))
        elif what == "documents":
            written = st.text_area("Document ids, one per line", help="Spaces around an id are ignored.")
            st.caption("`cleverdon remove DIR --documents-in FILE` removes all documents of an imported file.")
            _draw_preview(campaign, documents=list(filter(None, map(str.strip, written.splitlines()))))


def draw_rounds(campaign: Campaign, rounds: pd.DataFrame) -> None:
    """Draw a folded form that removes unjudged pairs of rounds of pooling (:meth:`.Pools.rounds`)."""
    labels = {}
    for at, row in enumerate(rounds.to_dict("records"), start=1):
        label = STRATEGIES[row["strategy"]].label if row["strategy"] in STRATEGIES else row["strategy"]
        labels[row["pool_round"]] = f"Round {at}: {label}, {count(row['pairs'], 'pair')}"
    with st.expander("Remove pairs from the pool"):
        st.caption("Judged pairs stay in the pool, and so do random samples with a judged pair.")
        chosen = st.multiselect("Rounds", list(labels), format_func=labels.__getitem__)
        _draw_preview(campaign, rounds=chosen)


def _draw_preview(
    campaign: Campaign,
    topics: Sequence[str] = (),
    documents: Sequence[str] = (),
    runs: Sequence[str] = (),
    rounds: Sequence[int] = (),
) -> None:
    """Draw what would be removed, with a button that removes it."""
    chosen = {"topics": topics, "documents": documents, "runs": runs}
    if not any((*chosen.values(), rounds)):
        return
    with widgets.shown_errors():
        plan = campaign.imports.removals.preview(**chosen, rounds=rounds)
        st.write(f"This removes {plan.contents}." if plan.contents else "Nothing can be removed.")
        for note in plan.notes:
            st.caption(widgets.plain(note))
        if st.button("Remove", type="primary", disabled=plan.is_empty, key="remove"):
            with widgets.saving(f"Removed {plan.contents}."):
                campaign.imports.removals.remove(**chosen, rounds=rounds)
