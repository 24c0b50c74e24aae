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
SEVERAL = ("documents", "runs")
LEFT = {
    "topics": ("Topics", "TSV, JSONL, TREC SGML or XML; .gz too."),
    "documents": (
        "Documents",
        "JSONL, TSV or CSV; .gz too. Documents with files of images come with `cleverdon import`.",
    ),
    "clicks": (
        "Log of clicks",
        "CSV, TSV or JSONL with query_id, doc_id, rank, shown, clicked. Kept apart from people's judgements.",
    ),
}
RIGHT = {
    "runs": ("Runs", "TREC form: topic Q0 document rank score tag; .gz too."),
    "qrels": ("Qrels", "TREC form: topic 0 document grade. Kept as judgements of an annotator of its own."),
    "labels": (
        "Labels of several annotators",
        "CSV, TSV or JSONL with annotator, query_id, doc_id, relevance. Kept as judgements of these annotators.",
    ),
    "costs": ("Costs of runs", "CSV or TSV with a column run: latency_ms, price_usd, hardware, ..."),
}

st.title("Import")
st.write(
    "All that you choose is imported together: if one file is wrong, nothing is changed, and you are told its line. "
    f"{config.get_option('server.maxUploadSize'):,} MB fit in one import here; `cleverdon import` has no limit."
)
with st.form("files", border=False):
    uploads = {
        name: column.file_uploader(label, key=name, accept_multiple_files=name in SEVERAL, help=help)
        for column, fields in zip(st.columns(2), (LEFT, RIGHT), strict=True)
        for name, (label, help) in fields.items()
    }
    replace = st.checkbox("Replace what is there with other content under the same name")
    go = st.form_submit_button("Import", type="primary")

if go:
    if not any(uploads.values()):
        st.error("Choose a file first.")
        st.stop()
    with tempfile.TemporaryDirectory() as scratch, st.spinner("Importing"):
        folder = Path(scratch)

        def paths(name: str) -> list[Path]:
            """Write uploads under their own names into folders of their own: two may have one name."""
            upload = uploads[name]
            found = []
            for number, file in enumerate(upload if isinstance(upload, list) else [upload] if upload else []):
                found.append(folder / f"{name}{number}" / Path(file.name).name)
                found[-1].parent.mkdir()
                found[-1].write_bytes(file.getbuffer())
            return found

        def by_name(text: str) -> str:
            """Name files without the scratch folder."""
            return re.sub(re.escape(str(folder)) + r"/\w+/", "", text)

        line = st.empty()

        def tell(what: str, done: int, total: int | None) -> None:
            line.text(f"{what} {done:,}" + (f" of {total:,}" if total else ""))

        try:
            report = campaign.importer.import_files(
                topics=next(iter(paths("topics")), None),
                documents=paths("documents"),
                runs=paths("runs"),
                qrels=next(iter(paths("qrels")), None),
                labels=next(iter(paths("labels")), None),
                costs=next(iter(paths("costs")), None),
                clicks=next(iter(paths("clicks")), None),
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
    named = [f"{widgets.plain(str(name))} ({rows:,} rows)" for name, rows in logs.itertuples(index=False, name=None)]
    st.write(f"Log of clicks: {', '.join(named)}.")
    widgets.page_link("export.py", "Export what the clicks say")
widgets.next_step(campaign.overview.next_step())
