"""Stopping: relevant records found, those that may be missing, and whether screening may end."""

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import recall_charts, widgets
from collection.core.phrases import count, percent_down, percent_up, plural
from collection.core.review import FULL_TEXT, TITLE_ABSTRACT, UNSCREENED

campaign = session.current().campaign
review = campaign.settings.review()
st.title("Stopping")
if review is None:
    st.write("This campaign is not a literature review. Create one with `cleverdon new DIR --review`.")
    st.stop()


def draw_protocol() -> None:
    """Draw the text for the protocol."""
    st.subheader("Text for the protocol")
    st.caption("Describes the stopping rule, for use before screening starts.")
    st.code(campaign.review.report.protocol_text(), language=None, wrap_lines=True)


if not campaign.store.judgements.counts()["judgements"]:
    draw_protocol()
    widgets.stop_with_next_step("No record has been screened yet; when to stop is estimated from the decisions.")
with st.spinner("Estimating"):
    stopping = campaign.review.report.stopping()
recall, loop = stopping.recall, campaign.settings.loop()
is_closed = campaign.settings.modes()[TITLE_ABSTRACT] == "closed"
left, unfinished = recall.size - recall.judged, bool(stopping.half or stopping.conflicts)
st.subheader("Titles and abstracts")
with st.container(border=True):
    if not left:
        conflicts = f" {count(stopping.conflicts, 'conflict')} to resolve." if stopping.conflicts else ""
        answer = "All records have a decision." if stopping.half else f"All records are screened.{conflicts}"
    elif is_closed:
        answer = "Screening of new records has ended." if stopping.half else "Screening has ended."
    elif recall.decision.stop:
        answer = "You may stop screening." if stopping.may_stop else "You may end screening of new records."
    else:
        answer = "Keep screening."
    icon = "check_circle" if not unfinished and (stopping.may_stop or not left) else "hourglass_top"
    st.markdown(f"#### :material/{icon}: {answer}")
    st.write(widgets.plain(stopping.advice))
metrics = {"Screened": f"{stopping.screened:,} of {recall.size:,}"}
if stopping.half:
    metrics["Second decision missing"] = f"{stopping.half:,}"
metrics["Included or maybe"] = f"{recall.found:,}"
if recall.judged:
    low, high = percent_down(recall.estimate.recall_low), percent_up(recall.estimate.recall_high)
    label = f"Share found, {percent_down(loop.confidence)} confidence interval"
    metrics[label] = low if low == high else f"{low} to {high}"
widgets.metrics(metrics)
for name, sentence in (("Found", stopping.found), ("Missing", stopping.missing), ("Next", stopping.next)):
    st.write(f"**{name}:** {widgets.plain(sentence)}")
for note in recall.notes:
    st.warning(widgets.plain(campaign.settings.vocabulary.apply(note)))
# Readers cannot press the button, since it does not run for them.
if session.current().role == "manager":
    if is_closed and st.button("Resume screening", icon=":material/play_arrow:", key="resume"):
        campaign.settings.reopen_topic(TITLE_ABSTRACT)
        st.rerun()
    elif not is_closed and left and st.button("End screening", icon=":material/flag:", key="end"):
        campaign.settings.set_loop(topics=[TITLE_ABSTRACT], mode="closed")
        st.rerun()
    if not is_closed and left:
        st.caption(
            f"If you end screening, {count(left, 'record')} {plural(left, 'stays', 'stay')} unscreened. The PRISMA "
            "diagram counts them as *marked as ineligible by automation tools*."
            + (" Screeners still get the records that lack a second decision." if review.screeners > 1 else "")
        )
with st.container(horizontal=True):
    widgets.documentation_link("how-to/stop-judging", "When to stop")
if recall.judged:
    with st.expander("Curve and other stopping rules"):
        recall_charts.draw_recall(recall, percent_down(loop.confidence))
        recall_charts.draw_rules(recall)
if review.full_text:
    st.subheader("Full texts")
    table = campaign.review.decisions.table()
    waiting = int((table["full_text"] == UNSCREENED).sum())
    reached = int((table["full_text"] != "").sum())
    st.write(
        f"{count(reached, 'record')} reached this stage, {waiting:,} of them unscreened. Screen all of them: only "
        "titles and abstracts can be left unscreened."
        if campaign.settings.modes()[FULL_TEXT] != "closed"
        else "Screening of full texts has ended."
    )
draw_protocol()
st.subheader("Text for the methods section")
report = campaign.review.report
st.code(report.methods_text(since=report.update_since()), language=None, wrap_lines=True)
