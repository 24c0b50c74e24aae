"""Import: upload files, with the same checks as `cleverdon import`."""

import itertools
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit import config

from annotate.auth import session
from annotate.views.campaign import removal_form
from annotate.views.widgets import display, widgets
from collection import formats
from collection.campaign.answers.answer_archive import is_archive, other_files
from collection.campaign.log.results import ImportReport
from collection.core.characters import without_bidi
from collection.core.errors import DATASET, CleverdonError, DoubtError
from collection.core.phrases import count, join

OF_ANSWERS = ("answers", "nuggets", "nugget_assignments", "support")
SEVERAL = ("documents", "runs", "machine_labels", *OF_ANSWERS)
LEFT = {
    "topics": ("Topics", "TSV, CSV, XLSX, JSONL, Parquet, TREC SGML or XML."),
    "documents": (
        "Documents",
        "JSONL, Parquet, CSV, XLSX, TSV, TREC text, RIS, PubMed (nbib), Web of Science, BibTeX or EndNote XML. "
        "Files with one document each (PDF, HTML, Markdown, text), or a ZIP of a folder of them. "
        "For image files, use `cleverdon import`.",
    ),
    "clicks": (
        "Click log",
        "CSV, TSV or JSONL with query_id, doc_id, rank, shown, clicked. Not used as judgements.",
    ),
    "machine_labels": (
        "Machine labels",
        "Qrels of one judge each, or a table with the labels of several. Stored as label sets, never as judgements. "
        "The page Machine labels imports them with other names and grades.",
    ),
    "answers": ("Generated answers", "JSONL of TREC RAG or RAGTIME, with citations."),
    "nuggets": ("Nuggets", "JSONL of nuggets by topic, rubrics with weights, or a nugget bank."),
}
RIGHT = {
    "runs": ("Runs", "TREC format: topic Q0 document rank score tag; optionally compressed."),
    "qrels": (
        "Qrels",
        "TREC format: topic 0 document grade; also CSV, JSON, JSONL or Parquet. Stored as judgements of one imported "
        "annotator.",
    ),
    "labels": (
        "Labels and work lists",
        "CSV, XLSX, TSV, JSONL or Parquet with annotator, query_id, doc_id, relevance; exports of Label "
        "Studio, doccano, Prodigy, Argilla, Potato, ASReview, Rayyan, HiCAL, Quepid, Mechanical Turk or Appen; work "
        "lists. Stored as "
        "judgements of these annotators.",
    ),
    "collection": (
        "Collection",
        "ZIP of a collection that Cleverdon exported, read back with generated answers and their logs, or of a "
        "collection in the form of BEIR.",
    ),
    "costs": ("Run costs", "CSV or TSV with the columns run and latency_ms, price_usd, hardware, ..."),
    "nugget_assignments": ("Nugget assignments", "JSONL with a grade for each answer and nugget. Stored like qrels."),
    "support": ("Support", "JSONL with a grade for each sentence and document that it cites. Stored like qrels."),
}
# Column of a DuplicateRecord -> its header.
DUPLICATES = {
    "file": "File",
    "line": "Line",
    "title": "Title",
    "duplicate_of": "Document kept",
    "kept_from": "Kept from",
    "merged": "Fields taken",
    "reason": "Matched by",
    "left_out": "Left out",
    "certain": "Certain",
    "doc_id": "Document",
}

campaign = session.current().campaign


def contents() -> str:
    """Describe in a sentence what the campaign contains."""
    counts = campaign.store.judgements.counts()
    sizes = [count(counts[f"{name}s"], name) for name in ("topic", "document", "run") if counts[f"{name}s"]]
    step = widgets.find_next_step()
    to_import = f" {widgets.plain(step.sentence)}" if step.page == "import" else ""
    return f"This campaign {f'has {join(sizes)}' if sizes else 'is empty'}.{to_import}"


st.title("Import")
answer = st.empty()
answer.write(contents())
widgets.documentation_link("how-to/import-files", "File formats with examples")
with st.form("files", border=False):
    uploads = {
        name: column.file_uploader(label, key=name, accept_multiple_files=name in SEVERAL, help=help)
        for column, fields in zip(st.columns(2), (LEFT, RIGHT), strict=True)
        for name, (label, help) in fields.items()
    }
    dataset = st.text_input(
        "Dataset of ir_datasets",
        placeholder="beir/scifact/test",
        help="Imports the documents, topics and qrels of this dataset. The server downloads them if needed.",
    ).strip()
    annotator = st.text_input(
        "Annotator of the labels (if the file names none)",
        help="Exports of doccano and Quepid, for example, name no annotators.",
    ).strip()
    replace = st.checkbox("Replace existing entries with the same id or name")
    accept = st.checkbox("Accept files that look like another kind")
    by_people = st.checkbox(
        "Grades are by people",
        help="Without this setting, qrels and labels named after a language model become label sets.",
    )
    go = st.form_submit_button("Import", type="primary")
    largest = f"{config.get_option('server.maxUploadSize'):,} MB"
    st.caption(
        f"If a file has an error, nothing is imported. For files of more than {largest}, use `cleverdon import`."
    )

if go:
    if not (dataset or any(uploads.values())):
        st.error("Choose at least one file, or enter a dataset.")
        st.stop()
    if dataset and uploads["collection"]:
        st.error("Choose a collection or enter a dataset, not both.")
        st.stop()
    with tempfile.TemporaryDirectory() as scratch, st.spinner("Importing files"):
        folder = Path(scratch)

        def paths(name: str) -> list[Path]:
            """Write uploads into a folder each, since two may have the same name."""
            upload = uploads[name]
            written = []
            for number, file in enumerate(upload if isinstance(upload, list) else [upload] if upload else []):
                written.append(folder / f"{name}{number}" / Path(file.name).name)
                written[-1].parent.mkdir()
                written[-1].write_bytes(file.getbuffer())
            return written

        def unpacked(path: Path) -> Path:
            """Unpack an archive, and return the folder in it."""
            (place := path.with_suffix("")).mkdir()
            inside = formats.unpack_zip(path, place)
            if inside == place:
                return inside
            (archives := folder / "archives").mkdir(exist_ok=True)
            return inside.rename(free_path(archives / inside.name))  # messages name the folder in the archive

        def document_paths() -> list[Path]:
            """Files with many documents, and folders of files that are one document each."""
            tables, alone = [], folder / "uploads" / "documents"
            alone.parent.mkdir()
            for path in paths("documents"):
                if path.suffix.lower() == ".zip":
                    tables += formats.find_documents(unpacked(path))
                elif formats.is_document(path) or formats.is_document_folder(path.parent):
                    alone.mkdir(exist_ok=True)
                    shutil.move(path, free_path(alone / path.name))
                else:
                    tables.append(path)
            return tables + ([alone] if alone.exists() else [])

        def free_path(path: Path) -> Path:
            """A path in a folder that has no file of this name yet."""
            numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
            return next(each for each in itertools.chain([path], numbered) if not each.exists())

        def without_folder(text: str) -> str:
            """Name files without the scratch folder."""
            return re.sub(re.escape(str(folder)) + r"/\w+/", "", text)

        line = st.empty()

        def tell(what: str, done: int, total: int | None) -> None:
            line.text(f"{what} {done:,}" + (f" of {total:,}" if total else ""))

        owner: dict[str, Any] = {"annotator": annotator or None, "by_people": by_people}
        how: dict[str, Any] = {"replace": replace, "accept_doubts": accept}
        singles: dict[str, Any] = {name: next(iter(paths(name)), None) for name in uploads if name not in SEVERAL}
        of_answers: dict[str, Any] = {name: paths(name) for name in OF_ANSWERS}
        collection: Path | str | None = f"{DATASET}{dataset}" if dataset else None
        archive = singles.pop("collection")

        def import_others() -> ImportReport:
            files: dict[str, Any] = {"documents": document_paths(), "runs": paths("runs")}
            files |= {"machine_labels": paths("machine_labels"), **singles}
            if "collection" in of_answers:
                for name, given in other_files(of_answers["collection"]).items():
                    files[name] = files[name] or given
            return campaign.imports.import_files(collection=collection, **files, **owner, **how, progress=tell)

        try:
            if archive is not None:
                place = unpacked(archive)
                if is_archive(place):
                    of_answers["collection"] = place
                else:
                    collection = place
            if any(of_answers.values()):
                report = campaign.answers.import_files(**of_answers, **owner, **how, others=import_others)
            else:
                report = import_others()
        except CleverdonError as error:
            line.empty()
            st.error(f"**Nothing was imported.** {widgets.plain(without_folder(str(error)))}")
            if isinstance(error, DoubtError):
                st.info(
                    "To import the file anyway, select *Accept files that look like another kind* and import again."
                )
            st.stop()
        line.empty()
        answer.write(contents())
        st.success("Imported.")
        for sentence in report.done:
            st.text(without_bidi(without_folder(sentence)))
        for notice in report.notices:
            st.warning(widgets.plain(without_folder(notice)))
        if report.duplicates:
            duplicates = pd.DataFrame(report.duplicates)
            renamed = {column: duplicates[column].map(without_folder) for column in ("file", "kept_from")}
            display.table(duplicates.assign(**renamed)[[*DUPLICATES]], DUPLICATES)

if len(logs := campaign.store.corpus.click_sources()):
    sources = [
        f"{widgets.plain(name)} ({count(rows, 'row')})" for name, rows in logs.itertuples(index=False, name=None)
    ]
    st.write(f"Click logs: {join(sources)}.")
    widgets.page_link("export", "Export clicks")
if (step := widgets.find_next_step()).page != "import":
    widgets.page_link(step.page, f"Next step: {widgets.next_label(step.page)}")
removal_form.draw(campaign)
