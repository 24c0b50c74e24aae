"""Export: qrels, the judgement log, the pool, and the ids whose text is wanted."""

import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from annotate import session, widgets
from collection.adjudication import DEFAULT_RULE, RULES

campaign = session.current().campaign
counts = campaign.counts()

st.title("Export")
if not counts["pool"] and not counts["judgements"]:
    st.write("There is nothing to export yet.")
    widgets.next_step(campaign.next_step())
    st.stop()


def file(kind: str, name: str, rule: str | None = None) -> bytes:
    """The bytes that `cleverdon export` would write."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / name
        wanted: dict[str, Any] = {kind: path}
        campaign.export(**wanted, rule=rule)
        return path.read_bytes()


st.subheader("Qrels")
rule = st.selectbox(
    "Where several annotators judged a pair",
    [r.name for r in RULES],
    index=[r.name for r in RULES].index(DEFAULT_RULE),
    format_func=lambda n: f"{RULES[n].label}: {RULES[n].description}",
)
qrels = campaign.qrels(rule)
if qrels.empty:
    st.write("No pair has a grade yet.")
else:
    several = campaign.disagreements()
    if several.pairs:
        st.write(
            f"{several.pairs:,} pairs were graded by several annotators; they differ on {several.differ:,} of them, "
            f"where the rule decides."
        )
    by_grade = qrels["relevance"].value_counts().sort_index()
    st.write(
        f"{len(qrels):,} pairs of {qrels['query_id'].nunique():,} topics: "
        + ", ".join(f"{n:,} of grade {g}" for g, n in by_grade.items())
        + "."
    )
    st.download_button(
        "Download qrels.txt", file("qrels", "qrels.txt", rule=rule), "qrels.txt", type="primary", key="qrels"
    )
    with st.expander("The first lines"):
        st.dataframe(qrels.head(20), hide_index=True)

st.subheader("Judgements")
st.write(
    f"The whole log, {counts['logged']:,} entries: who, which pair, grade, when, how long, how the pair came up, "
    "and what each entry revises."
)
if counts["logged"]:
    left, right = st.columns(2)
    left.download_button(
        "Download judgements.jsonl",
        file("judgements", "judgements.jsonl"),
        "judgements.jsonl",
        width="stretch",
        key="jsonl",
    )
    right.download_button(
        "Download judgements.csv",
        file("judgements", "judgements.csv"),
        "judgements.csv",
        width="stretch",
        key="csv",
    )

st.subheader("Pool")
st.write(f"{counts['pool']:,} pairs with the strategy and rank that brought them.")
st.download_button("Download pool.tsv", file("pool", "pool.tsv"), "pool.tsv", key="pool")

if missing := campaign.missing_documents():
    st.subheader("Documents without a text")
    st.write(f"{len(missing):,} documents of the pool have no text here. Fetch them from the corpus and import them.")
    st.download_button("Download missing.txt", file("missing_documents", "missing.txt"), "missing.txt", key="missing")
