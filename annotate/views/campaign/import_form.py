"""Fields for the files of an import, and its report."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from annotate.views.widgets import display, widgets
from collection.campaign.log.results import ImportReport
from collection.core.characters import without_bidi

SEVERAL = ("documents", "runs")
LEFT = {
    "topics": ("Topics", "TSV, CSV, XLSX, JSONL, Parquet, TREC SGML or XML."),
    "documents": (
        "Documents",
        "JSONL, Parquet, CSV, XLSX, TSV, TREC text, RIS, PubMed (nbib), Web of Science, BibTeX or EndNote XML. "
        "For image files, use `cleverdon import`.",
    ),
    "clicks": (
        "Click log",
        "CSV, TSV or JSONL with query_id, doc_id, rank, shown, clicked. Not used as judgements.",
    ),
    "machine_labels": (
        "Machine labels",
        "Grades by a language model, in the form of qrels. Stored as a label set, never as judgements.",
    ),
}
RIGHT = {
    "runs": ("Runs", "TREC format: topic Q0 document rank score tag; optionally .gz."),
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
    "costs": ("Run costs", "CSV or TSV with the columns run and latency_ms, price_usd, hardware, ..."),
}


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
"""Column of a :class:`~collection.core.records.DuplicateRecord` -> its header."""


def draw_report(report: ImportReport, by_name: Callable[[str], str]) -> None:
    """Draw what was imported, notices, and duplicates; `by_name` names files without the folder of the upload."""
    for sentence in report.done:
        st.text(without_bidi(by_name(sentence)))
    for notice in report.notices:
        st.warning(widgets.plain(by_name(notice)))
    if report.duplicates:
        duplicates = pd.DataFrame(report.duplicates)
        named = {column: duplicates[column].map(by_name) for column in ("file", "kept_from")}
        display.table(duplicates.assign(**named)[[*DUPLICATES]], DUPLICATES)
