"""Pairs with each annotator's grade, and the document of the one that is selected with what was said of it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import drawing, widgets

WIDE = 5
"""Annotators up to whom each has a column of their own."""


def show(pairs: pd.DataFrame, labels: pd.DataFrame, cell: str, key: str) -> None:
    """Draw them.

    Parameters
    ----------
    pairs
        ``query_id``, ``doc_id``, ``grades``, ``distance``: see :func:`collection.annotator_agreement.disagreements`.
    labels
        What the annotators said, as :meth:`collection.Campaign.labels` gives it.
    cell
        Which pairs they are, in words.
    key
        Of the table: another one for other pairs.
    """
    st.subheader("The pairs")
    st.caption(f"{len(pairs):,} pairs: {drawing.plain(cell)}. Largest distance first. Select a row to read it.")
    people = sorted({annotator for said in pairs["grades"] for annotator in said})
    listing = pairs.drop(columns="grades")
    if len(people) <= WIDE:
        for place, annotator in enumerate(people):
            listing[f"by-{place}"] = [said.get(annotator) for said in pairs["grades"]]
    else:
        listing["said"] = [", ".join(f"{a} {g:g}" for a, g in said.items()) for said in pairs["grades"]]
    event = drawing.dataframe(
        listing,
        hide_index=True,
        height=min(35 * len(listing) + 38, 318),
        on_select="rerun",
        selection_mode="single-row",
        key=f"pairs-{key}",
        alt="Pairs with each annotator's grade",
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width="small"),
            "doc_id": st.column_config.TextColumn("Document", width="medium"),
            "distance": st.column_config.NumberColumn("Distance", width="small", format="%g"),
            "said": st.column_config.TextColumn("Grades", width="large"),
            **{f"by-{n}": st.column_config.NumberColumn(a, format="%g", width="small") for n, a in enumerate(people)},
        },
    )
    if (row := selected(event, len(pairs))) is not None:
        query_id, doc_id = map(str, pairs.iloc[row][["query_id", "doc_id"]])
        side_by_side(query_id, doc_id, labels)


def selected(event: Any, rows: int) -> int | None:
    """The row that is selected in a table's event, if the table has so many rows; None where none is."""
    chosen = event["selection"]["rows"]
    return int(chosen[0]) if chosen and chosen[0] < rows else None


def side_by_side(query_id: str, doc_id: str, labels: pd.DataFrame) -> None:
    """The document, and beside it each annotator's grade, how long it took, and the note that came with it."""
    campaign = session.current().campaign
    titles = campaign.corpus.topics().set_index("query_id")["title"]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.caption(f"Topic {drawing.plain(query_id)}: {drawing.plain(titles[query_id])}")
        document = campaign.corpus.document(doc_id)
        if document is not None:
            widgets.document(document)
    said = labels[(labels["query_id"] == query_id) & (labels["doc_id"] == doc_id)].sort_values("annotator")
    with right:
        for row in said.to_dict("records"):
            with st.container(border=True):
                grade = widgets.grade_name(campaign.grades, "graded", row["relevance"])
                st.markdown(f"**{drawing.plain(row['annotator'])}:** {drawing.plain(grade)}")
                if not pd.isna(row["seconds"]):
                    st.caption(f"after {row['seconds']:.0f} seconds")
                if not pd.isna(row["note"]):
                    st.text(widgets.upright(row["note"]))
