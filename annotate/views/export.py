"""Export: qrels, the judgement log, the pool, the ids of missing documents, and a whole collection."""

import streamlit as st

from annotate.auth import session
from annotate.elements import collection_download, data_downloads, downloads, pickers, qrels_download, widgets
from collection.adjudication import Adjudicated
from collection.errors import CleverdonError

campaign = session.current().campaign
counts = campaign.progress.counts() | campaign.topic_tasks.counts()
clicks = campaign.clicks.sources()
st.title("Export")
if not counts["pool"] and not counts["judgements"] and clicks.empty:
    widgets.stop_with_next_step("There is nothing to export yet.")

st.subheader("Qrels")
annotators = campaign.judgement_log.annotators()["annotator"].tolist()
rule = pickers.pick_rule("Where several annotators judged a pair", annotators, key="rule")
found: Adjudicated | None = None
try:
    found = campaign.qrels.with_sources(rule)
except CleverdonError as error:  # somebody who gave no grade
    st.error(widgets.plain(str(error)))
if found is None or found.grades.empty:
    st.write("No pair has a grade yet." if not counts["judgements"] else "By this rule no pair has a grade yet.")
else:
    qrels_download.draw(found, rule, annotators)

st.subheader("Judgements")
st.write(
    f"The whole log, {counts['logged']:,} entries: who, which pair, grade, when, how long, how the pair came up, "
    "and what each entry revises."
)
if counts["logged"]:
    with st.container(horizontal=True):
        for ending in ("jsonl", "csv", "parquet"):
            downloads.draw_deferred(lambda c, path: c.export.files(judgements=path), f"judgements.{ending}", ending)
        hint = "Annotator, query_id, doc_id, relevance: what everybody's grade is now, for agreement elsewhere."
        downloads.draw(lambda c, path: c.export.files(labels=path), "labels.csv", "labels", hint)
        hint = "What annotators marked in documents: a line for each passage, with its words."
        downloads.draw_deferred(lambda c, path: c.export.files(passages=path), "passages.jsonl", "passages", hint)

if counts["choices"]:
    data_downloads.draw_choices(counts["choices"])
if counts["preferences"]:
    data_downloads.draw_preferences(counts["preferences"])

st.subheader("Pool")
st.write(f"{counts['pool']:,} pairs with the strategy and rank that brought them.")
downloads.draw(lambda c, path: c.export.files(pool=path), "pool.tsv", "pool")

if len(clicks):
    st.subheader("Clicks")
    logs = ("Log: " if len(clicks) == 1 else "Logs: ") + ", ".join(map(widgets.plain, clicks["source"]))
    st.write(
        f"{logs}; {clicks['rows'].sum():,} rows. The table has, for each topic and document, how often it was shown "
        "and clicked, and its attractiveness: how often it would be clicked by those who look at it, whatever its "
        "rank. These are no judgements and not in the qrels."
    )
    downloads.draw_deferred(lambda opened, path: opened.clicks.export(table=path), "clicks.tsv", "clicks")

if campaign.settings.judging_page().task == "list":
    has_positives = not campaign.qrels.from_choices().empty
else:
    level = campaign.settings.loop().level
    has_positives = found is not None and bool((found.grades["relevance"] >= level).any())
if has_positives:
    data_downloads.draw_training(rule)

if missing := campaign.corpus.missing_documents():
    st.subheader("Documents without a text")
    st.write(f"{len(missing):,} documents of the pool have no text here. Fetch them from the corpus and import them.")
    downloads.draw(lambda c, path: c.export.files(missing_documents=path), "missing.txt", "missing")

if counts["judgements"] or counts["choices"] or counts["preferences"]:
    collection_download.draw(rule)
