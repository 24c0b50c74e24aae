"""Step *Records* of the set-up of a literature review: files of references, and records known to be relevant."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.review import set_up_steps
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from collection.campaign import Campaign
from collection.campaign.imports.records import describe_years
from collection.core.characters import without_bidi
from collection.core.errors import CleverdonError, FormatError
from collection.core.phrases import count, join_first, percent, plural
from collection.core.review import UNSCREENED

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    Upload = Callable[[str, str, str], "list[UploadedFile]"]

FORMS = {
    "ris": "RIS", "nbib": "PubMed (nbib)", "ciw": "Web of Science", "refer": "EndNote (refer)", "refworks": "RefWorks",
    "cochrane": "Cochrane",
    "bibtex": "BibTeX", "endnote": "EndNote XML", "pubmed": "PubMed XML", "csl": "CSL JSON", "table": "Table",
}  # fmt: skip
"""Form of a source -> its name."""

FILES, FAILED, NOTICES, KNOWN = (f"records-{name}" for name in ("files", "failed", "notices", "known"))
"""Session keys: number of the upload field, files that failed, notices of the last import, known records found."""

FILES_HELP = (
    "RIS, PubMed (nbib, XML), Web of Science, EndNote, BibTeX, and CSV or Excel files of Scopus, Zotero, Rayyan, "
    "Covidence and others."
)


def draw(campaign: Campaign, upload: Upload) -> None:
    """Draw the upload of files, what they contain, and the known relevant records."""
    st.write(
        "Export your search results from each database with all fields, and add the files here. Of duplicates, the "
        "record that is imported first stays: begin with the database whose records are most complete."
    )
    widgets.documentation_link("how-to/import-files#import-references", "File formats with examples")
    place = st.session_state.setdefault(FILES, 0)
    files = upload("Files with records", f"records-{place}", FILES_HELP)
    if files and st.button(
        f"Import {count(len(files), 'file')}", type="primary", icon=":material/upload:", key="add-files"
    ):
        _import(campaign, files)
        st.session_state[FILES] = place + 1  # a new, empty field
        st.rerun()
    for problem in st.session_state.get(FAILED, ()):
        st.error(widgets.plain(problem))
    _draw_sources(campaign)
    _draw_decisions(campaign)
    if campaign.store.judgements.counts()["documents"]:
        _draw_known(campaign, upload)
        if st.button("Continue", type="primary", icon=":material/arrow_forward:", key="continue"):
            set_up_steps.go_to(set_up_steps.SCREENING)


@contextmanager
def _written(files: Iterable[UploadedFile]) -> Iterator[list[Path]]:
    """Write uploads to files, each in a separate folder, since two may have the same name."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for place, file in enumerate(files):
            paths.append(Path(scratch) / str(place) / Path(file.name).name)
            paths[-1].parent.mkdir()
            paths[-1].write_bytes(file.getbuffer())
        yield paths


def _without_folder(message: str, paths: Sequence[Path]) -> str:
    folders = "|".join(re.escape(f"{path.parent}/") for path in paths)
    return re.sub(folders, "", message)


def _import(campaign: Campaign, files: Sequence[UploadedFile]) -> None:
    """Import the files; one that cannot be read is reported, and the others are imported without it."""
    failed: list[str] = []
    line = st.empty()

    def tell(what: str, done: int, total: int | None) -> None:
        line.text(f"{what} {done:,}" + (f" of {total:,}" if total else ""))

    with _written(files) as paths, st.spinner("Reading records"):
        left, notices = list(paths), list[str]()
        while left:
            try:
                report = campaign.imports.import_files(documents=left, accept_doubts=True, progress=tell)
            except CleverdonError as error:
                failed.append(f"Not added: {_without_folder(str(error), paths)}")
                path = Path(error.path) if isinstance(error, FormatError) else left[-1]
                left = [each for each in left if each != path] if path in left else []
            else:
                notices = [_without_folder(notice, paths) for notice in report.notices]
                break
    line.empty()
    st.session_state[FAILED], st.session_state[NOTICES] = failed, notices


def _draw_sources(campaign: Campaign) -> None:
    sources = campaign.records.sources()
    if sources.empty:
        return
    read, duplicates = int(sources["read"].sum()), int(sources["duplicates"].sum())
    left = int((campaign.review.decisions.table()["title_abstract"] == UNSCREENED).sum())
    of = f"{count(read, 'record')} read from {count(len(sources), 'file')}"
    removed = f"{count(duplicates, 'duplicate')} removed"
    st.subheader(f"{count(left, 'record')} to screen")
    st.write(f"{of}, {removed}.")
    years = sources["years"].map(describe_years)
    shown = sources.assign(
        form=sources["form"].map(lambda form: FORMS.get(form, form)),
        years=years,
        languages=sources["languages"].map(_describe_languages),
    )
    columns = {
        "name": text("File", 150),
        "database": text(
            "Database", help="Correct it if it is missing or wrong: the PRISMA diagram counts records by database."
        ),
        "form": "Format",
        "read": "Records",
        "documents": "New",
        "duplicates": "Duplicates",
        "without_abstract": "Without abstract",
        "without_doi": "Without DOI",
        "years": "Years",
        "languages": text("Languages", 120),
        "skipped": number("Skipped", help="Lines of headings between records, and records that could not be read."),
    }
    # Columns without content would push others out of sight.
    columns = {
        name: column for name, column in columns.items() if name not in ("languages", "skipped") or any(shown[name])
    }
    edited = display.data_editor(
        shown[[*columns]],
        hide_index=True,
        column_config=columns,
        disabled=[name for name in columns if name != "database"],
        key=f"sources-{len(sources)}",
    )
    for source, before, after in zip(sources["source"], sources["database"], edited["database"], strict=True):
        if (after or "") != before:
            with widgets.saving("Saved the database."):
                campaign.records.rename_database(int(source), str(after or ""))
    if notices := st.session_state.get(NOTICES):
        with st.expander(f"Notes ({len(notices)})"):
            for notice in notices:
                st.text(without_bidi(notice))
    if open_pairs := len(campaign.records.pairs(open=True)):
        st.write(f"{count(open_pairs, 'pair')} of possible duplicates to decide on before you screen.")
        widgets.page_link("duplicates", "Decide on duplicates")


def _draw_decisions(campaign: Campaign) -> None:
    """Draw the form that imports decisions of screening tools, if the files contain any."""
    decided = campaign.records.count_decisions()
    if not decided:
        return
    with st.expander(f"Decisions in the files ({decided:,})"):
        st.caption(
            "The files contain decisions made in ASReview, Rayyan, Covidence or Cleverdon. You can import them as a "
            "screener's decisions. Covidence only gives reasons for exclusion at the full-text stage."
        )
        with st.form("decisions", border=False):
            hint = "If a file names the screener of a decision, as Rayyan does, that name is used instead."
            name = st.text_input("Screener", max_chars=64, help=hint, key="decisions-by")
            if st.form_submit_button("Import decisions"):
                with widgets.saving("Imported the decisions."):
                    report = campaign.imports.import_decisions(name)
                    st.session_state[NOTICES] = [*report.done, *report.notices]


def _describe_languages(languages: dict[str, int]) -> str:
    total = sum(languages.values())
    return ", ".join(f"{name} {percent(number / total)}" for name, number in languages.items() if name)


def _draw_known(campaign: Campaign, upload: Upload) -> None:
    """Draw the known relevant records, and the form that adds some."""
    known = campaign.review.decisions.known()
    label = f"Known relevant records ({len(known)})" if known else "Known relevant records (optional)"
    with st.expander(label, expanded=bool(st.session_state.get(KNOWN))):
        st.caption("Studies that you know to be relevant. They are included at once, and the ranking learns from them.")
        with st.form("known", border=False):
            entries = st.text_area("DOIs, PMIDs or titles, one per line", height=100, key="known-entries")
            files = upload("Or files with these records", "known-files", FILES_HELP)
            if st.form_submit_button("Find", icon=":material/search:"):
                with widgets.shown_errors(), _written(files) as paths, st.spinner("Searching"):
                    st.session_state[KNOWN] = campaign.review.find_known(entries.splitlines(), paths)
        _draw_found(campaign)
        titles = campaign.store.corpus.titles(known)
        for doc_id in known:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.write(widgets.plain(titles.get(doc_id) or doc_id))
                if st.button("Remove", key=f"known-{doc_id}", type="tertiary"):
                    with widgets.saving("Removed."):
                        campaign.review.remove_known(doc_id)


def _draw_found(campaign: Campaign) -> None:
    found = st.session_state.get(KNOWN)
    if found is None:
        return
    matches = [each for each in found if each.doc_id]
    missing = [each.entry for each in found if not each.doc_id]
    if missing:
        are = plural(len(missing), "is", "are")
        absent = f"{len(missing):,} of {count(len(found), 'study', 'studies')} {are} not among the records"
        check = f"Check whether your search should find {plural(len(missing), 'it', 'them')}"
        st.warning(widgets.plain(f"{absent}. {check}: {join_first(missing, 10)}"))
    if matches:
        display.table(
            pd.DataFrame(matches),
            {"entry": text("Entered", "medium"), "title": text("Record", "large")},
            alt="Records found",
        )
        if st.button(f"Include {count(len(matches), 'record')}", type="primary", key="include-known"):
            with widgets.saving(f"Included {count(len(matches), 'record')}."):
                campaign.review.add_known([each.doc_id for each in matches], session.current().annotator)
                del st.session_state[KNOWN]
    elif not missing:
        st.info("Enter a DOI, PMID or title, or add a file.")
