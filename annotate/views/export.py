"""Export: qrels, the judgement log, the pool, the ids whose text is wanted, and a whole collection."""

import streamlit as st

from annotate.auth import session
from annotate.elements import collection_download, data_downloads, downloads, pickers, qrels_download, widgets
from collection.errors import CleverdonError

campaign = session.current().campaign
counts = campaign.counts() | campaign.decision_counts()
clicks = campaign.click_sources()

st.title("Export")
if not counts["pool"] and not counts["judgements"] and clicks.empty:
    widgets.stop_with_next_step("There is nothing to export yet.")

st.subheader("Qrels")
annotators = campaign.annotators()["annotator"].tolist()
rule = pickers.pick_rule("Where several annotators judged a pair", annotators, key="rule")
try:
    settled = campaign.settled(rule)
except CleverdonError as error:  # somebody who gave no grade
    st.error(widgets.plain(str(error)))
    settled = campaign.settled().iloc[:0]
if settled.empty:
    st.write("No pair has a grade yet." if not counts["judgements"] else "By this rule no pair has a grade yet.")
else:
    qrels_download.draw(settled, rule, annotators)

st.subheader("Judgements")
st.write(
    f"The whole log, {counts['logged']:,} entries: who, which pair, grade, when, how long, how the pair came up, "
    "and what each entry revises."
)
if counts["logged"]:
    with st.container(horizontal=True):
        for ending in ("jsonl", "csv", "parquet"):
            downloads.draw_deferred(lambda opened, path: opened.export(judgements=path), f"judgements.{ending}", ending)
        downloads.draw(
            lambda campaign, path: campaign.export(labels=path),
            "labels.csv",
            "labels",
            "Annotator, query_id, doc_id, relevance: what everybody's grade is now, for agreement elsewhere.",
        )
        downloads.draw_deferred(
            lambda opened, path: opened.export(passages=path),
            "passages.jsonl",
            "passages",
            "What annotators marked in documents: a line for each passage, with its words.",
        )

if counts["choices"]:
    data_downloads.draw_choices(counts["choices"])
if counts["preferences"]:
    data_downloads.draw_preferences(counts["preferences"])

st.subheader("Pool")
st.write(f"{counts['pool']:,} pairs with the strategy and rank that brought them.")
downloads.draw(lambda campaign, path: campaign.export(pool=path), "pool.tsv", "pool")

if len(clicks):
    st.subheader("Clicks")
    logs = ("Log: " if len(clicks) == 1 else "Logs: ") + ", ".join(map(widgets.plain, clicks["source"]))
    st.write(
        f"{logs}; {clicks['rows'].sum():,} rows. The table has, for each topic and document, how often it was shown "
        "and clicked, and its attractiveness: how often it would be clicked by those who look at it, whatever its "
        "rank. These are no judgements and not in the qrels."
    )
    downloads.draw_deferred(lambda opened, path: opened.export_clicks(table=path), "clicks.tsv", "clicks")

if campaign.card_settings().task == "list":
    has_positives = not campaign.sparse_qrels().empty
else:
    has_positives = bool((settled["relevance"] >= campaign.loop_settings().level).any())
if has_positives:
    data_downloads.draw_training(rule)

if missing := campaign.missing_documents():
    st.subheader("Documents without a text")
    st.write(f"{len(missing):,} documents of the pool have no text here. Fetch them from the corpus and import them.")
    downloads.draw(lambda campaign, path: campaign.export(missing_documents=path), "missing.txt", "missing")

if counts["judgements"] or counts["choices"] or counts["preferences"]:
    collection_download.draw(rule)
