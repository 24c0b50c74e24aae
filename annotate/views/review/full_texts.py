"""Full texts: their PDF files, and those that could not be retrieved."""

import tempfile
from pathlib import Path

import streamlit as st
from streamlit.column_config import LinkColumn, NumberColumn

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import text
from collection.campaign.review.full_texts import PdfReport
from collection.core.characters import without_bidi
from collection.core.phrases import count, cut, join, plural
from collection.core.review import CONFLICT, NOT_RETRIEVED, UNSCREENED

UNMATCHED, REPORTS, UPLOADS = (f"full-texts-{name}" for name in ("unmatched", "reports", "uploads"))
FILTERS = {"due": "To screen, without a PDF", "pdf": "With a PDF", "not retrieved": "Not retrieved", "all": "All"}
HEIGHT = 420

now = session.current()
campaign = now.campaign
review = campaign.settings.review()

st.title("Full texts")
if review is None or not review.full_text:
    st.write(
        "This review has no full-text stage. The page Set up adds one."
        if review
        else "This campaign is not a literature review."
    )
    st.stop()

campaign.review.full_texts.advance()
full_texts = campaign.review.full_texts
table = full_texts.table()
if table.empty:
    widgets.stop_with_next_step("No record was included by title and abstract yet.")

has_pdf, is_out = table["pages"] > 0, table["full_text"] == NOT_RETRIEVED
st.write(
    f"{count(len(table), 'record')} reached this stage: {int(has_pdf.sum()):,} with a PDF, "
    f"{int((~has_pdf & ~is_out).sum()):,} without, {int(is_out.sum()):,} not retrieved. "
    "Without a PDF, screeners open the link of the record."
)
title_abstract = campaign.review.decisions.table()["title_abstract"]
unscreened, conflicts = (int((title_abstract == each).sum()) for each in (UNSCREENED, CONFLICT))
to_come = [count(unscreened, "title and abstract to screen", "titles and abstracts to screen")] * bool(unscreened)
to_come += [count(conflicts, "conflict to resolve", "conflicts to resolve")] * bool(conflicts)
st.caption(
    "These are the records that were included or kept as maybe by title and abstract."
    + (f" More may follow: {join(to_come)}." if to_come else "")
)


def add_files(paths: list[Path]) -> None:
    """Attach the files that match exactly one record, and keep the others until somebody assigns them."""
    reports = full_texts.add_files(paths)
    st.session_state[REPORTS] = reports
    for path, report in zip(paths, reports, strict=True):
        if not (report.doc_id or report.problem):
            st.session_state.setdefault(UNMATCHED, {})[path.name] = path.read_bytes()


def describe(report: PdfReport) -> str:
    """Describe the result for a file."""
    name = widgets.plain(report.name)
    if report.problem:
        return f"{name}: not attached, because {widgets.plain(report.problem)}."
    titles = dict(zip(table["doc_id"], table["title"], strict=True))
    title = titles.get(report.doc_id, report.doc_id)  # its record may be excluded by now
    return f"{name}: attached to “{widgets.plain(title)}” ({report.reason})."


number = st.session_state.setdefault(UPLOADS, 0)
with st.form("add-pdfs", border=True):
    uploaded = st.file_uploader(
        "PDF files",
        ["pdf"],
        accept_multiple_files=True,
        key=f"pdf-files-{number}",
        help="Files are matched by DOI or title in their name or on their first page, or by PMID or first author and "
        "year in their name.",
    )
    if st.form_submit_button("Add PDF files", type="primary") and uploaded:
        with widgets.shown_errors(), tempfile.TemporaryDirectory() as scratch, st.spinner("Reading PDF files"):
            paths = []
            for place, file in enumerate(uploaded):
                folder = Path(scratch) / str(place)  # two files may have the same name
                folder.mkdir()
                paths.append(folder / Path(file.name).name)
                paths[-1].write_bytes(file.getbuffer())
            add_files(paths)
            st.session_state[UPLOADS] = number + 1  # an empty uploader, whose files are freed
            st.rerun()

unmatched = st.session_state.get(UNMATCHED, {})
if reports := st.session_state.get(REPORTS):
    attached = [report for report in reports if report.doc_id]
    if attached:
        st.success(f"{count(len(attached), 'PDF file')} attached.", icon=":material/check:")
        with st.expander("Attached files"):
            st.markdown("\n".join(f"- {describe(report)}" for report in attached))
    for report in reports:
        if report.problem:
            st.warning(describe(report))
if not unmatched:  # the list is kept until all files are assigned
    st.session_state.pop(REPORTS, None)

if unmatched:
    st.subheader(f"{count(len(unmatched), 'PDF file')} to assign")
    st.caption("These files match no record, or several.")
    waiting = table[~has_pdf]
    names = {"": "Choose a record"} | {
        doc_id: without_bidi(f"{cut(authors, 30)} {year}: {title}")  # the field cuts long titles
        for doc_id, title, authors, year in waiting[["doc_id", "title", "authors", "year"]].itertuples(index=False)
    }
    for place, name in enumerate(list(unmatched)):
        st.write(widgets.plain(name))
        left, assign, discard = st.columns([6, 1, 1], vertical_alignment="bottom")
        doc_id = left.selectbox(
            without_bidi(name),  # for screen readers only
            names,
            format_func=names.__getitem__,
            key=f"record-{place}-{name}",
            label_visibility="collapsed",
        )
        if assign.button("Assign", key=f"assign-{place}", disabled=not doc_id):
            with widgets.shown_errors(), tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / Path(name).name
                path.write_bytes(unmatched[name])
                full_texts.attach(path, doc_id)
                del unmatched[name]
                st.session_state.setdefault(REPORTS, []).append(PdfReport(name, doc_id, "assigned here"))
                st.rerun()
        if discard.button("Discard", key=f"discard-{place}"):
            del unmatched[name]
            st.rerun()

which = st.segmented_control("Records", FILTERS, default="all", format_func=FILTERS.__getitem__, key="records")
tests = {"due": ~has_pdf & (table["full_text"] == UNSCREENED), "pdf": has_pdf, "not retrieved": is_out}
listed = table[tests[which]] if which in tests else table
listed = listed.reset_index(drop=True).assign(
    decision=lambda frame: frame["full_text"].str.capitalize(),
    shown_pages=lambda frame: frame["pages"].where(frame["pages"] > 0).astype("Int64"),  # blank without a PDF
)
actions = st.container()  # above the table, which may be longer than the window
chosen = display.table(
    listed,
    {
        "title": text("Title", 280),
        "authors": text("Authors", 110),
        "year": text("Year", 50),
        "decision": text("Full text", 95),
        "not_retrieved": text("Reason not retrieved", 170) if any(listed["not_retrieved"]) else None,
        "shown_pages": NumberColumn("PDF pages", width=80, help="Blank: no PDF file is attached"),
        "link": LinkColumn("Link", display_text=r"https?://(?:doi\.org/)?(.+)", width=110),
    },
    most_height=HEIGHT,
    on_select="rerun",
    selection_mode="multi-row",
    key=f"full-texts-{which}",
)
rows = [row for row in chosen["selection"]["rows"] if row < len(listed)]
selected = listed.iloc[rows]
actions.caption(
    f"{count(len(selected), 'record')} selected." if rows else "Select records to mark them or remove PDF files."
)
# Drawn even without a selection, so that selecting a row does not move the table.
doc_ids = selected["doc_id"].tolist()
reason_field, mark, restore, remove = actions.columns([4, 2, 2, 2], vertical_alignment="bottom")
reason = reason_field.text_input(
    "Reason not retrieved", placeholder="No access; authors did not answer", disabled=not rows
)
if mark.button("Mark as not retrieved", disabled=not (selected["full_text"] != NOT_RETRIEVED).any(), width="stretch"):
    with widgets.shown_errors():
        full_texts.mark_not_retrieved(doc_ids, reason, now.annotator)
        st.rerun()
if restore.button("Undo the mark", disabled=not (selected["full_text"] == NOT_RETRIEVED).any(), width="stretch"):
    with widgets.shown_errors():
        full_texts.mark_retrieved(doc_ids)
        st.rerun()
if remove.button(
    f"Remove {plural(len(selected), 'PDF', 'PDFs')}", disabled=not (selected["pages"] > 0).any(), width="stretch"
):
    with widgets.shown_errors():
        full_texts.detach(doc_ids)
        st.rerun()
