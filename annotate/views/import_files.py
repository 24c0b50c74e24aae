"""Import: the same files and the same checks as `cleverdon import`."""

import re
import tempfile
from pathlib import Path

import streamlit as st
from streamlit import config

from annotate.auth import session
from annotate.elements import widgets
from collection.characters import without_bidi
from collection.errors import CleverdonError

campaign = session.current().campaign

st.title("Import")
st.write(
    "All that you choose is imported together: if one file is wrong, nothing is changed, and you are told its line. "
    f"{config.get_option('server.maxUploadSize'):,} MB fit in one import here; `cleverdon import` has no limit."
)
with st.form("files", border=False):
    left, right = st.columns(2)
    topics = left.file_uploader("Topics", key="topics", help="TSV, JSONL, TREC SGML or XML; .gz too.")
    documents = left.file_uploader(
        "Documents",
        key="documents",
        accept_multiple_files=True,
        help="JSONL, TSV or CSV; .gz too. Documents with files of images come with `cleverdon import`.",
    )
    runs = right.file_uploader(
        "Runs", key="runs", accept_multiple_files=True, help="TREC form: topic Q0 document rank score tag; .gz too."
    )
    qrels = right.file_uploader(
        "Qrels", key="qrels", help="TREC form: topic 0 document grade. Kept as judgements of an annotator of its own."
    )
    labels = right.file_uploader(
        "Labels of several annotators",
        key="labels",
        help="CSV, TSV or JSONL with annotator, query_id, doc_id, relevance. Kept as judgements of these annotators.",
    )
    costs = right.file_uploader(
        "Costs of runs", key="costs", help="CSV or TSV with a column run: latency_ms, price_usd, hardware, ..."
    )
    clicks = left.file_uploader(
        "Log of clicks",
        key="clicks",
        help="CSV, TSV or JSONL with query_id, doc_id, rank, shown, clicked. Kept apart from people's judgements.",
    )
    replace = st.checkbox("Replace what is there with other content under the same name")
    go = st.form_submit_button("Import", type="primary")

if go:
    if not (topics or documents or runs or qrels or labels or costs or clicks):
        st.error("Choose a file first.")
        st.stop()
    with tempfile.TemporaryDirectory() as scratch, st.spinner("Importing"):
        folder = Path(scratch)

        def keep(upload: object, name: str) -> Path:
            """The upload as a file of its own name, in a folder of its own: two may carry one name."""
            path = folder / name / Path(upload.name).name  # type: ignore[attr-defined]
            path.parent.mkdir()
            path.write_bytes(upload.getbuffer())  # type: ignore[attr-defined]
            return path

        def by_name(text: str) -> str:
            """The scratch folder means nothing to anybody; a file's own name does."""
            return re.sub(re.escape(str(folder)) + r"/\w+/", "", text)

        line = st.empty()

        def tell(what: str, done: int, total: int | None) -> None:
            line.text(f"{what} {done:,}" + (f" of {total:,}" if total else ""))

        try:
            report = campaign.importer.import_files(
                topics=keep(topics, "topics") if topics else None,
                documents=[keep(f, f"documents{i}") for i, f in enumerate(documents)],
                runs=[keep(f, f"runs{i}") for i, f in enumerate(runs)],
                qrels=keep(qrels, "qrels") if qrels else None,
                labels=keep(labels, "labels") if labels else None,
                costs=keep(costs, "costs") if costs else None,
                clicks=keep(clicks, "clicks") if clicks else None,
                replace=replace,
                progress=tell,
            )
        except CleverdonError as error:
            line.empty()
            st.error(f"**Nothing was imported.** {widgets.plain(by_name(str(error)))}")
            st.stop()
        line.empty()
        st.success("Imported.")
        for sentence in report.done:
            st.text(without_bidi(by_name(sentence)))
        for notice in report.notices:
            st.warning(widgets.plain(by_name(notice)))

st.subheader("What is there")
counts = campaign.progress.counts()
st.write(
    f"{counts['topics']:,} topics, {counts['documents']:,} documents with a text, {counts['runs']:,} runs, "
    f"{counts['pool']:,} pairs in the pool."
)
if len(logs := campaign.clicks.sources()):
    st.write(
        "Log of clicks: "
        + ", ".join(
            f"{widgets.plain(str(name))} ({rows:,} rows)" for name, rows in logs.itertuples(index=False, name=None)
        )
        + "."
    )
    widgets.page_link("export.py", "Export what the clicks say")
widgets.next_step(campaign.overview.next_step())
