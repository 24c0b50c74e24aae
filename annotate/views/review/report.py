"""Report: the PRISMA diagram of a literature review, its references, its log, and the text of its methods."""

from math import isnan

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number
from collection.campaign.review.report import ALL_DECISIONS
from collection.core.errors import CleverdonError
from collection.core.phrases import count
from collection.export import PrismaCounts, draw_svg

campaign = session.current().campaign
review = campaign.settings.review()
st.title("Report")
if review is None:
    st.write("This campaign is not a literature review. Create one with `cleverdon new DIR --review`.")
    st.stop()
table = campaign.review.decisions()
if table.empty:
    widgets.stop_with_next_step("There are no records yet.")


def draw_prisma(title: str) -> None:
    """Draw the flow diagram of the review with this title, and its downloads."""
    with st.expander("Studies, and update of a review"):
        left, right = st.columns(2)
        hint = "Number of studies that the included reports describe. 0 if nobody has counted them."
        studies = int(left.number_input("Studies (0 = not counted)", 0, 1_000_000, 0, key="studies", help=hint)) or None
        sources = campaign.records.sources()
        later = sources[sources["imported_at"] > sources["imported_at"].min()].set_index("imported_at")["name"]
        since = right.selectbox(
            "First file of the update",
            later.index,
            None,
            format_func=lambda at: f"{later[at]} ({at[:10]})",
            key="since",
            placeholder="No update",
            help="The files imported before it are the previous version of the review.",
        )
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
                f"prisma.{ending}",
                f"prisma-{ending}",
            )


def draw_references() -> None:
    """Draw the choice of decisions, and the downloads of their records."""
    numbers = table["decision"].value_counts().to_dict()
    chosen = st.pills(
        "Decisions",
        [name for name in ALL_DECISIONS if numbers.get(name)],
        default=["include"] if numbers.get("include") else [],
        selection_mode="multi",
        format_func=lambda name: f"{name.capitalize()} ({numbers[name]:,})",
        key="decisions",
    )
    st.write(f"{count(sum(numbers[name] for name in chosen), 'record')}, with all fields of the source.")
    if chosen:
        with st.container(horizontal=True):
            for ending in ("ris", "csv", "xlsx", "bib"):
                downloads.draw_deferred(
                    lambda c, path: c.review.report.write_references(path, chosen),
                    f"records.{ending}",
                    f"refs-{ending}",
                )
    st.caption("Decision, stage, reason, notes and screeners are columns, in RIS and BibTeX keywords and notes.")
    st.write("**Log for the appendix:** every decision with its screener and time.")
    with st.container(horizontal=True):
        for ending in ("csv", "jsonl"):
            downloads.draw_deferred(
                lambda c, path: c.exports.files.write(judgements=path), f"decisions.{ending}", f"log-{ending}"
            )


def draw_agreement() -> None:
    """Draw kappa of the two screeners by stage."""
    kappas = campaign.review.report.kappa()
    if not kappas:
        st.write("No record has been screened by two people.")
        return
    rows = [(stage, several, value) for stage, (several, value) in kappas.items()]
    frame = pd.DataFrame(rows, columns=["stage", "records", "kappa"])
    titles = {"records": number("Records screened by two"), "kappa": number("Cohen's kappa", "%.2f")}
    display.table(frame, {"stage": "Stage", **titles}, alt="Agreement of screeners by stage")
    undefined = any(isnan(value) for _, _, value in rows)
    st.caption(
        "Exclude against include or maybe."
        + (" Kappa is undefined where everybody decided the same on all records." if undefined else "")
    )
    widgets.page_link("agreement", "More on agreement")


prisma, references, agreement, methods = st.tabs(["PRISMA diagram", "References", "Agreement", "Methods text"])
with prisma:
    draw_prisma(review.title)
with references:
    draw_references()
with agreement:
    draw_agreement()
with methods:
    st.caption("Text for the methods section, with the numbers as they are now.")
    st.code(campaign.review.report.methods_text(), language=None, wrap_lines=True)
