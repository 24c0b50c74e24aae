"""Report: the PRISMA diagram of a literature review, its references, its log, and the text of its methods."""

from math import isnan

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number
from collection.campaign.review.report import ALL_DECISIONS
from collection.core.errors import CleverdonError
from collection.core.phrases import count, join
from collection.core.review import GOES_ON, STAGES
from collection.export import PrismaCounts, draw_svg

campaign = session.current().campaign
review = campaign.settings.review()
st.title("Report")
if review is None:
    st.write("This campaign is not a literature review. Create one with `cleverdon new DIR --review`.")
    st.stop()
table = campaign.review.decisions.table()
if table.empty:
    widgets.stop_with_next_step("There are no records yet.")


def choose_update() -> str | None:
    """Draw the choice of the first file of an update; return its import time (UTC). A manager's choice is stored."""
    sources, is_manager = campaign.records.sources(), session.current().role == "manager"
    later = sources[sources["imported_at"] > sources["imported_at"].min()].set_index("imported_at")["name"]
    if later.empty:
        return None
    is_chosen = st.session_state.pop("since-chosen", False)
    if not is_chosen and (is_manager or "since" not in st.session_state):  # another manager may have changed it
        stored = campaign.review.report.update_since()
        st.session_state["since"] = stored if stored in later.index else None
    since: str | None = st.selectbox(
        "First file of the update",
        later.index,
        None,
        format_func=lambda at: f"{later[at]} ({at[:10]})",
        key="since",
        on_change=st.session_state.__setitem__,
        args=("since-chosen", True),
        placeholder="No update",
        help="Files imported earlier belong to the previous version of the review. Diagram, references, agreement, "
        "log and methods text then describe the update.",
    )
    if is_chosen and is_manager:
        with widgets.shown_errors():
            campaign.review.report.set_update(since)
    return since


def draw_prisma(title: str) -> None:
    """Draw the flow diagram of the review or its update with this title, and its downloads."""
    with st.expander("Number of studies"):
        hint = "Number of studies that the included reports describe. 0 if nobody has counted them."
        studies = int(st.number_input("Studies (0 = not counted)", 0, 1_000_000, 0, key="studies", help=hint)) or None
    counts: PrismaCounts
    try:
        counts = campaign.review.report.prisma(since=since, studies=studies)
    except CleverdonError as error:
        st.error(widgets.plain(str(error)))
        return
    if counts.open:
        st.warning(f"Not finished: {count(counts.open, 'record')} without a final decision.")
    st.image(draw_svg(counts, title), width=700)
    with st.expander("Numbers as a table"):
        titles = {"stage": "Stage", "item": "Item", "detail": "Source or reason"}
        display.table(counts.table(), {**titles, "n": number("n")}, alt="Numbers of the PRISMA flow diagram")
    with st.container(horizontal=True):
        for ending in ("svg", "png", "csv", "json"):
            downloads.draw_deferred(
                lambda c, path: c.review.report.write_prisma(path, since=since, studies=studies),
                f"prisma{suffix}.{ending}",
                f"prisma-{ending}",
            )


def draw_references(last_stage: str) -> None:
    """Draw the choice of decisions, and the downloads of their records."""
    table = campaign.review.report.table(since=since)
    numbers = table["decision"].value_counts().to_dict()
    stages = {name: part["stage"].value_counts() for name, part in table.groupby("decision")}

    def label(name: str) -> str:
        """Return the decision with its number of records, by stage if some records have not reached the last stage."""
        by_stage = stages[name]
        if name not in GOES_ON or set(by_stage.index) == {last_stage}:
            return f"{name.capitalize()} ({numbers[name]:,})"
        return f"{name.capitalize()} ({join([f'{number:,} by {stage}' for stage, number in by_stage.items()])})"

    chosen = st.pills(
        "Decisions",
        [name for name in ALL_DECISIONS if numbers.get(name)],
        default=["include"] if numbers.get("include") else [],
        selection_mode="multi",
        format_func=label,
        key="decisions",
    )
    of = " of the update" if since else ""
    st.write(f"{count(sum(numbers[name] for name in chosen), 'record')}{of}, with all fields of the source.")
    if chosen:
        with st.container(horizontal=True):
            for ending in ("ris", "csv", "xlsx", "bib"):
                downloads.draw_deferred(
                    lambda c, path: c.review.report.write_references(path, chosen, since=since),
                    f"records{suffix}.{ending}",
                    f"refs-{ending}",
                )
    st.caption("Decision, stage, reason, notes and screeners: columns in tables, keywords and notes in RIS and BibTeX.")
    st.write("**Log for the appendix:** every decision with title, DOI, stage, screener, reason and time.")
    with st.container(horizontal=True):
        for ending in ("csv", "xlsx"):
            downloads.draw_deferred(
                lambda c, path: c.review.report.write_log(path, since=since),
                f"decisions{suffix}.{ending}",
                f"words-{ending}",
            )
    st.write("**Technical log:** all decisions of the review, in a format that can be imported again.")
    with st.container(horizontal=True):
        for ending in ("csv", "jsonl"):
            downloads.draw_deferred(
                lambda c, path: c.exports.files.write(judgements=path), f"log.{ending}", f"log-{ending}"
            )


def draw_agreement() -> None:
    """Draw kappa of the two screeners by stage."""
    kappas = campaign.review.report.kappa(since=since)
    if not kappas:
        st.write("No record has been screened by two people.")
        return
    rows = [(stage, several, value) for stage, (several, value) in kappas.items()]
    frame = pd.DataFrame(rows, columns=["stage", "records", "kappa"])
    titles = {"records": number("Records screened by two"), "kappa": number("Cohen's kappa", "%.2f")}
    display.table(frame, {"stage": "Stage", **titles}, alt="Agreement of screeners by stage")
    undefined = any(isnan(value) for _, _, value in rows)
    st.caption(
        "Exclude or not, so that include and maybe agree. *Agreement* also shows the kappa of all decisions, for which "
        "they differ." + (" Kappa is undefined where everybody decided the same on all records." if undefined else "")
    )
    widgets.page_link("agreement", "More on agreement")


since = choose_update()
suffix = "-update" if since else ""
prisma, references, agreement, methods = st.tabs(["PRISMA diagram", "References", "Agreement", "Methods text"])
with prisma:
    draw_prisma(review.title)
with references:
    draw_references(STAGES[review.stages[-1]])
with agreement:
    draw_agreement()
with methods:
    st.caption("Text for the methods section, with the current numbers.")
    st.code(campaign.review.report.methods_text(since=since), language=None, wrap_lines=True)
