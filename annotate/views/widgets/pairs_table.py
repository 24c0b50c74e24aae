"""Pairs with each annotator's grade, and the document of the selected pair with its judgements."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from collection.core.characters import without_bidi
from collection.core.phrases import duration

WIDE = 5  # number of annotators up to which each has a column


def draw(pairs: pd.DataFrame, labels: pd.DataFrame, cell: str, key: str, names: Mapping[int, str]) -> None:
    """Draw the `pairs` that `cell` describes with the grades in `labels`; `key` identifies their table.

    `names` are the labels of the grades.
    """
    words = widgets.words()
    st.subheader(words.apply("Pairs"))
    summary = f"{words.count_pairs(len(pairs))}: {cell}."
    st.caption(f"{widgets.plain(summary)} Largest difference first; select a row to read its {words.document}.")
    people = sorted({annotator for grades in pairs["grades"] for annotator in grades})
    listing = pairs.drop(columns="grades")
    if len(people) <= WIDE:
        for place, annotator in enumerate(people):
            listing[f"by-{place}"] = [grades.get(annotator) for grades in pairs["grades"]]
    else:
        listing["said"] = [", ".join(f"{a} {g:g}" for a, g in grades.items()) for grades in pairs["grades"]]
    row = display.select_row(
        listing,
        {
            "query_id": text(words.apply("Topic"), "small"),
            "doc_id": text(words.apply("Document"), "medium"),
            "distance": number(words.apply("Grade difference"), "%g"),
            "said": text(words.apply("Grades"), "large"),
            **{f"by-{n}": number(a, "%g", "small") for n, a in enumerate(people)},
        },
        most_height=318,
        key=f"pairs-{key}",
        alt=words.apply("Pairs with each annotator's grade"),
    )
    if row is not None:
        side_by_side(pairs.iloc[row], labels, names)


def side_by_side(pair: pd.Series, labels: pd.DataFrame, names: Mapping[int, str]) -> None:
    """Draw the document, and beside it each annotator's grade, named by `names`, time and note."""
    campaign = session.current().campaign
    query_id, doc_id = pair["query_id"], pair["doc_id"]
    titles = campaign.store.corpus.topics().set_index("query_id")["title"]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        topic = widgets.plain(widgets.topic_label(query_id, titles[query_id]))
        st.caption(topic if campaign.settings.review() else f"Topic {topic}")
        document = campaign.corpus.document(doc_id)
        if document is not None:
            widgets.document(document)
    judged = labels[(labels["query_id"] == query_id) & (labels["doc_id"] == doc_id)].sort_values("annotator")
    with right:
        for row in judged.to_dict("records"):
            with st.container(border=True):
                grade = names[int(row["relevance"])]
                grade = grade if campaign.settings.review() else f"{row['relevance']} · {grade}"
                st.markdown(f"**{widgets.plain(row['annotator'])}:** {widgets.plain(grade)}")
                if not pd.isna(row["seconds"]):
                    st.caption(f"{duration(row['seconds'])} on screen")
                if not pd.isna(row["note"]):
                    st.text(without_bidi(row["note"]))
