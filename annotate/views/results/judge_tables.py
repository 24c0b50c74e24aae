"""All label sets on the page *Machine labels*: their agreement, votes, import, names and deletion."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from annotate.auth import session
from annotate.views.results.agreement_charts import judges_chart
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from annotate.views.widgets.service_cache import cached
from collection.campaign.imports.label_set_import import LabelChoices
from collection.core.characters import without_bidi
from collection.core.errors import CleverdonError, DoubtError
from collection.core.phrases import count, plural
from collection.formats import parse_grades, to_tsv
from collection.machine_labels import PEOPLE, STATISTICS, VOTES, JudgeComparison

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

DrawUploader = Callable[[str, str, str], "list[UploadedFile]"]

REPORT = "label-import"
"""Key of the session state: sentences about the last import."""


def draw_all(measures: Sequence[str], *, has_runs: bool) -> None:
    """Draw the label sets against people and against each other."""
    judges = session.current().campaign.machine_labels.judges
    left, right = st.columns(2)
    statistic = left.selectbox("Statistic", STATISTICS, index=2, format_func=STATISTICS.__getitem__, key="statistic")
    measure = measures[0]
    if has_runs:
        measure = right.selectbox("Measure", measures, key="judges_measure", accept_new_options=True)
    with widgets.shown_errors(st.info):
        key = session.current().campaign.machine_labels.study.cache_key()
        compared = cached(judges.compare, key, "Comparing label sets", entries=4)((), measure)
        if PEOPLE in compared.judges:
            st.subheader("Against people")
            _draw_against_people(compared, has_runs=has_runs)
        st.subheader("Against each other")
        _draw_matrix(compared, statistic)
        widgets.documentation_link("how-to/compare-judges", "How to compare judges and let them vote")


def _draw_against_people(compared: JudgeComparison, *, has_runs: bool) -> None:
    columns = {
        "judge": text("Label set"),
        "pairs": number("Pairs"),
        "same": number("Same grade", "percent"),
        "kappa": number("Kappa", "%.2f", help="Cohen's kappa."),
        "kappa_quadratic": number("Quadratic kappa", "%.2f", help="Cohen's kappa with quadratic weights."),
        "alpha": number("Alpha", "%.2f", help="Krippendorff's alpha, ordinal."),
        "bias": number("Bias", "%+.2f", help="Mean of the label minus the grade."),
    }
    if has_runs:
        columns["tau"] = number("Tau", "%.2f", help=f"Kendall's tau of the orders of systems by {compared.measure}.")
        columns["tau_ap"] = number("Tau_AP", "%.2f", help="As tau; differences at the top count more.")
    table = compared.against(PEOPLE).sort_values("kappa", ascending=False, kind="stable")
    display.table(table[[*columns]], columns, most_height=500, alt="Label sets against people's grades")


def _draw_matrix(compared: JudgeComparison, statistic: str) -> None:
    label, matrix = STATISTICS[statistic], compared.matrix(statistic)
    about = {
        "bias": " Rows minus columns.",
        "tau": f" Orders of {compared.systems:,} systems by {compared.measure}.",
        "tau_ap": f" Orders of {compared.systems:,} systems by {compared.measure}.",
    }.get(statistic, "")
    form = statistic if statistic in ("pairs", "bias") else ""
    caption = f"{label}, by the pairs that both labelled.{about}"
    downloadable_chart(judges_chart(matrix, label, form), "judges", caption, alt=f"{label} of every two label sets")
    downloads.offer_results(
        {
            f"judges-{statistic}.tsv": (
                "Matrix (TSV)",
                partial(to_tsv, matrix.rename_axis("judge").reset_index()),
            ),
            "judges.tsv": ("All statistics of every two (TSV)", partial(to_tsv, compared.between)),
        }
    )


def draw_management(names: Sequence[str], draw_uploader: DrawUploader) -> None:
    """Draw the import of label sets, votes, and what can be done with one set.

    `draw_uploader` takes a label, a key and a help text: only a page has an uploader.
    """
    done, notices = st.session_state.pop(REPORT, ([], []))
    for draw, sentences in ((st.success, done), (st.warning, notices)):
        if sentences:
            draw("\n\n".join(map(widgets.sentence, sentences)))
    _draw_import(draw_uploader)
    if len(voters := session.current().campaign.machine_labels.judges.names()) > 1:
        _draw_votes(voters)
    if names:
        _draw_set(names)


def _draw_import(draw_uploader: DrawUploader) -> None:
    """Draw the form that imports files of labels."""
    st.subheader("Import label sets")
    with st.form("import-labels", border=False):
        files = draw_uploader(
            "Files with labels", "label_files",
            "Qrels (TREC, CSV, JSONL, Parquet, ...), of one judge or of several: with a column annotator, judge "
            "or model, or with a column of grades for each judge.",
        )  # fmt: skip
        left, right = st.columns(2)
        name = left.text_input("Name (one judge)", placeholder="Name of the judge or of the file").strip()
        grades = right.text_input(
            "Grades to replace", placeholder="4=3,5=3", help="Grade in the file = grade of the campaign."
        ).strip()
        accept = st.checkbox("Accept files that look like another kind", key="label_accept")
        if not st.form_submit_button("Import", type="primary"):
            return
    if not files or (name and len(files) > 1):
        st.error("Choose one file for a name." if files else "Choose at least one file.")
        return
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for place, file in enumerate(files):
            paths.append(Path(scratch, str(place), Path(file.name).name))
            paths[-1].parent.mkdir()
            paths[-1].write_bytes(file.getbuffer())

        def without_folder(sentence: str) -> str:
            for path in paths:
                sentence = sentence.replace(str(path), path.name)
            return without_bidi(sentence)

        try:
            choices = LabelChoices(name or None, (), parse_grades(grades))
            report = session.current().campaign.imports.import_files(
                machine_labels=paths, label_choices=choices, accept_doubts=accept
            )
        except CleverdonError as error:
            st.error(f"**Nothing was imported.** {widgets.plain(without_folder(str(error)))}")
            if isinstance(error, DoubtError):
                st.info("To import the file anyway, select *Accept files that look like another kind*.")
            return
    st.session_state[REPORT] = tuple([without_folder(each) for each in said] for said in (report.done, report.notices))
    st.rerun()


def _draw_votes(names: Sequence[str]) -> None:
    """Draw the form that makes a label set of the votes of others."""
    st.subheader("Votes")
    campaign = session.current().campaign
    with st.form("votes", border=False):
        left, right = st.columns(2)
        rule = left.selectbox("Vote", [entry.name for entry in VOTES], format_func=lambda each: VOTES[each].label)
        name = right.text_input("Name of the new label set", placeholder="Name of the vote").strip()
        voters = st.multiselect("Label sets", names, format_func=without_bidi, placeholder="All except votes")
        pressed = st.form_submit_button("Create label set")
    st.caption(" ".join(f"*{entry.label}*: {entry.description}" for entry in VOTES))
    if pressed:
        with widgets.shown_errors():
            labelled = campaign.machine_labels.judges.vote(rule, voters, name=name or None)
            were = plural(labelled.added, "was", "were")
            sentence = f"{count(labelled.added, 'pair')} {were} labelled in the label set {labelled.label_set.name!r}"
            st.session_state[REPORT] = [sentence], []
            st.rerun()


def _draw_set(names: Sequence[str]) -> None:
    """Draw what renames, exports or deletes a label set."""
    st.subheader("Rename, export or delete")
    campaign = session.current().campaign
    sets = campaign.machine_labels.sets
    name = st.selectbox("Label set", names, format_func=without_bidi, key="managed_set")
    with st.form("rename", border=False):
        new_name = st.text_input("New name", key=f"new-name-{name}")
        if st.form_submit_button("Rename"):
            with widgets.saving(f"Renamed {without_bidi(name)}."):
                sets.rename(name, new_name)
    with st.container(horizontal=True):
        for ending, about in ((".qrels", "TREC qrels"), (".csv", "One row per pair"), (".jsonl", "The whole log")):
            downloads.draw_deferred(
                lambda opened, path: opened.machine_labels.files.export(name, path),
                f"labels-{downloads.file_name(name)}{ending}", key=f"labels{ending}", help=about,
            )  # fmt: skip
    try:
        contents = sets.preview_deletion(name)
    except CleverdonError as error:
        st.info(widgets.sentence(str(error)))
        return
    st.write(f"Deleting the label set removes {contents}.")
    sure = st.checkbox("Confirm the deletion", key=f"sure-{name}")
    if st.button("Delete", disabled=not sure, key="delete-set"):
        with widgets.saving(f"Deleted {without_bidi(name)}."):
            sets.delete(name)
