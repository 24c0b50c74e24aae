"""Planner of calibration topics, for recall that is guaranteed across topics; not the annotators' qualification set."""

import streamlit as st
from pandas.api.types import is_integer_dtype

from annotate.auth import session
from annotate.views.widgets import display, pickers, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.service_cache import cached
from collection.campaign.recall.across_topics.calibration_topics import ANY, CalibrationTopics
from collection.campaign.recall.across_topics.state import CalibrationState
from collection.core.errors import CleverdonError
from collection.core.phrases import count
from collection.stopping.risk_control import DEFAULT_FAMILY, RULE_FAMILIES, required_topics

FAMILIES = {entry.name: entry.label for entry in RULE_FAMILIES} | {ANY: "Any"}
ABOUT = {entry.name: entry.description for entry in RULE_FAMILIES}
ABOUT |= {ANY: "Some calibration topics select the rule with the lowest cost."}
WIDTHS = (125, 110, 160, 160, 165, 180)
"""Pixels of the columns of the plan."""


def _draw_state(service: CalibrationTopics, state: CalibrationState) -> None:
    """Draw the progress of the calibration, and a button that ends it."""
    st.write(f"**{widgets.sentence(state.stage)}** {widgets.plain(state.sentence)}")
    if state.notes:
        st.warning("\n\n".join(map(widgets.plain, state.notes)))
    widgets.page_link("recall", "Show the calibration topics")
    with st.popover("End calibration"):
        st.write("This discards the drawn topics; a new draw selects others. Topics that the rule closed stay closed.")
        if st.button("End calibration", key="end-calibration"):
            with widgets.saving("Calibration ended."):
                service.stop()


def draw() -> None:
    """Draw the planner, or the state of the calibration topics with a button that ends it.

    Draws nothing where decisive pairs are selected and no calibration topics are drawn.
    """
    campaign = session.current().campaign
    service = campaign.recall.across_topics
    key = service.cache_key()
    state = cached(service.state, key, entries=4)()
    if state.phase == "none" and campaign.settings.loop().by_system_order:
        return
    st.subheader("Recall guaranteed across topics")
    if state.phase != "none":
        _draw_state(service, state)
        return
    st.write(
        "Draw some topics at random and judge them completely. They determine when the other topics may stop, so that "
        "the expected recall of a topic reaches your target."
    )
    widgets.documentation_link("how-to/guarantee-recall", "How to guarantee recall across topics")
    left, right = st.columns(2, gap="large")
    with left:
        alpha = round(1 - pickers.pick_share("Target expected recall (%)", 1.0, 99.0, 0.9, "expected-recall"), 6)
    with st.expander("Stopping rule"):
        family = pickers.pick("Family of rules", FAMILIES, DEFAULT_FAMILY, "rule-family")
        st.caption(ABOUT[family])
        selection, label = 0, "Calibration topics that select the rule"
        if family == ANY:
            selection = st.number_input(
                label, 1, None, 5, key="selection", help="They do not count towards the guarantee."
            )
    try:
        usual = cached(service.plan, key, entries=8)(alpha, family=family, selection=selection)
    except CleverdonError as error:
        st.info(widgets.sentence(str(error)))
        return
    needed = required_topics(alpha) + selection
    with right:
        best = usual.best.calibration_topics if usual.best else needed
        label, hint = "Number of calibration topics", "The default has the lowest total cost."
        field = f"topics-{alpha}-{selection}"  # a new one, with a new default, whenever the target changes
        topics = st.number_input(label, needed, None, best, key=field, help=hint)
    able = sorted(n for n in {topics, *(row.calibration_topics for row in usual.rows)} if n < usual.topics)
    plan = cached(service.plan, key, entries=8)(alpha, family=family, selection=selection, candidates=able)
    if able:
        rows = plan.table()
        columns = {
            name: number(name, "localized", width) if is_integer_dtype(rows[name]) else text(name, width)
            for name, width in zip(map(str, rows), WIDTHS, strict=True)
        }
        display.table(rows, columns, alt="Cost of each number of calibration topics")
        documents = count(plan.documents, "document")
        st.caption(
            f"{plan.topics:,} open topics in a loop with {documents} on average. Costs of the other topics: estimates "
            f"from {widgets.plain(plan.basis)}. {plan.note}".strip()
        )
    if usual.best is None:
        st.warning(widgets.plain(usual.advice))
    if st.button("Draw calibration topics", type="primary", disabled=usual.best is None, key="draw-topics"):
        with widgets.saving("Calibration topics drawn. Annotators get their documents first."):
            service.start(alpha, topics=topics, family=family, selection=selection)
