"""Pairs with each annotator's grade, and the document of the one that is selected with what was said of it."""

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from annotate.auth import session
from annotate.elements import display, widgets
from collection.characters import without_bidi

WIDE = 5
"""Annotators up to whom each has a column of their own."""


def show(pairs: pd.DataFrame, labels: pd.DataFrame, cell: str, key: str) -> None:
    """Draw them.

    `pairs` are as :func:`collection.annotator_agreement.disagreements` gives them, `labels` as
    :meth:`collection.Campaign.labels`. `cell` says in words which pairs they are, `key` tells their table from others.
    """
    st.subheader("The pairs")
    st.caption(f"{len(pairs):,} pairs: {widgets.plain(cell)}. Largest distance first. Select a row to read it.")
    people = sorted({annotator for said in pairs["grades"] for annotator in said})
    listing = pairs.drop(columns="grades")
    if len(people) <= WIDE:
        for place, annotator in enumerate(people):
            listing[f"by-{place}"] = [said.get(annotator) for said in pairs["grades"]]
    else:
        listing["said"] = [", ".join(f"{a} {g:g}" for a, g in said.items()) for said in pairs["grades"]]
    selection = display.table(
        listing,
        {
            "query_id": TextColumn("Topic", width="small"),
            "doc_id": TextColumn("Document", width="medium"),
            "distance": NumberColumn("Distance", width="small", format="%g"),
            "said": TextColumn("Grades", width="large"),
            **{f"by-{n}": NumberColumn(a, format="%g", width="small") for n, a in enumerate(people)},
        },
        most_height=318,
        on_select="rerun",
        selection_mode="single-row",
        key=f"pairs-{key}",
        alt="Pairs with each annotator's grade",
    )
    if (row := selected_row(selection, len(pairs))) is not None:
        query_id, doc_id = map(str, pairs.iloc[row][["query_id", "doc_id"]])
        side_by_side(query_id, doc_id, labels)


def selected_row(event: display.Selection, rows: int) -> int | None:
    """The row that is selected in a table's event, if the table has so many rows; None where none is."""
    chosen = event["selection"]["rows"]
    return int(chosen[0]) if chosen and chosen[0] < rows else None


def side_by_side(query_id: str, doc_id: str, labels: pd.DataFrame) -> None:
    """The document, and beside it each annotator's grade, how long it took, and the note that came with it."""
    campaign = session.current().campaign
    titles = campaign.corpus.topics().set_index("query_id")["title"]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.caption(f"Topic {widgets.plain(query_id)}: {widgets.plain(titles[query_id])}")
        document = campaign.corpus.document(doc_id)
        if document is not None:
            widgets.document(document)
    said = labels[(labels["query_id"] == query_id) & (labels["doc_id"] == doc_id)].sort_values("annotator")
    with right:
        for row in said.to_dict("records"):
            with st.container(border=True):
                grade = widgets.grade_name(campaign.grades, "graded", row["relevance"])
                st.markdown(f"**{widgets.plain(row['annotator'])}:** {widgets.plain(grade)}")
                if not pd.isna(row["seconds"]):
                    st.caption(f"after {row['seconds']:.0f} seconds")
                if not pd.isna(row["note"]):
                    st.text(without_bidi(row["note"]))
