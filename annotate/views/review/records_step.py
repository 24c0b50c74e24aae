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
from annotate.views.widgets.display import text
from collection.campaign import Campaign
from collection.core.characters import without_bidi
from collection.core.errors import CleverdonError, FormatError
from collection.core.phrases import count, join_first, plural

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    Upload = Callable[[str, str, str], "list[UploadedFile]"]

FILES, FAILED, NOTICES, KNOWN = (f"records-{name}" for name in ("files", "failed", "notices", "known"))
"""Session keys: number of the upload field, files that failed, notices of the last import, known records found."""

FILES_HELP = (
    "RIS, PubMed (nbib, XML), Web of Science, EndNote, BibTeX, and CSV or Excel files of Scopus, Zotero, Rayyan, "
    "Covidence and others."
)


def draw(campaign: Campaign, upload: Upload) -> None:
    """Draw the upload of files, what they contain, and the known relevant records."""
    st.write("Export your search results from each database with all fields, and add the files here.")
    widgets.documentation_link("how-to/import-files", "File formats with examples")
    place = st.session_state.setdefault(FILES, 0)
    files = upload("Files with records", f"records-{place}", FILES_HELP)
    if files and st.button(
        f"Add {count(len(files), 'file')}", type="primary", icon=":material/upload:", key="add-files"
    ):
        _import(campaign, files)
        st.session_state[FILES] = place + 1  # a new, empty field
        st.rerun()
    for problem in st.session_state.get(FAILED, ()):
        st.error(widgets.plain(problem))
    _draw_sources(campaign)
    if campaign.store.judgements.counts()["documents"]:
        _draw_known(campaign, upload)
        if st.button("Continue", type="primary", icon=":material/arrow_forward:", key="continue"):
            set_up_steps.go_to(set_up_steps.SCREENING)


@contextmanager
def _written(files: Iterable[UploadedFile]) -> Iterator[list[Path]]:
    """Uploads as files, in a folder each, since two may have the same name."""
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
                notices = [_without_folder(notice, paths) for notice in (*report.done, *report.notices)]
                break
    line.empty()
    st.session_state[FAILED], st.session_state[NOTICES] = failed, notices


def _draw_sources(campaign: Campaign) -> None:
    """Draw the number of records, and what the last import said of each file."""
    records = campaign.store.judgements.counts()["documents"]
    if not records:
        return
    st.subheader(f"{count(records, 'record')} to screen")
    if notices := st.session_state.get(NOTICES):
        with st.expander(f"Notes ({len(notices)})"):
            for notice in notices:
                st.text(without_bidi(notice))


def _draw_known(campaign: Campaign, upload: Upload) -> None:
    """Draw the known relevant records, and the form that adds some."""
    known = campaign.review.known()
    label = f"Known relevant records ({len(known)})" if known else "Known relevant records (optional)"
    with st.expander(label, expanded=bool(st.session_state.get(KNOWN))):
        st.caption("Studies that you know to be relevant. They are included at once, and the ranking starts from them.")
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
