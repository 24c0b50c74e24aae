"""The settings of overlap, and the workload that follows from them."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import pickers, widgets
from annotate.elements.service_cache import cached
from collection.assignment import MAX_ANNOTATORS

WHICH = {
    "all": "All pairs",
    "share": "A share of the pairs, chosen at random",
    "number": "So many pairs of each topic, chosen at random",
    "topics": "All pairs of some topics",
}


def draw(titles: Mapping[str, str], judges: Sequence[str]) -> None:
    """Draw the settings with their workload; `titles` are those of all topics, `judges` the people who may judge."""
    campaign = session.current().campaign
    settings = campaign.settings.assignment()
    left, right = st.columns(2, gap="large")
    with left:
        label, hint, now = "Annotators for a pair", "1: everybody judges alone.", settings.annotators
        annotators = st.number_input(label, 1, MAX_ANNOTATORS, now, key="annotators", help=hint)
    wanted: dict[str, object] = {"annotators": annotators}
    which = None
    with right:
        if annotators > 1:
            wanted["which"] = which = pickers.pick("Which pairs these are", WHICH, settings.which, "which")
        if which == "share":
            wanted["share"] = pickers.pick_share("Share, %", 0.0, 100.0, settings.share, "share", step=5.0)
        elif which == "number":
            wanted["number"] = st.number_input("Pairs of each topic", 0, None, settings.number, key="number")
        elif which == "topics":
            known = [query_id for query_id in settings.topics if query_id in titles]
            wanted["topics"] = tuple(pickers.pick_topics("Topics", titles, "topics", known))
    if which not in (None, "all"):
        st.caption("The other pairs are judged by one annotator each.")
    if not campaign.progress.counts()["pool"]:
        st.info("There is no pool yet: what this costs is shown once there is one.")
    else:
        with widgets.shown_errors():
            _draw_workload(wanted, repr((len(titles), settings)))
    if annotators > max(1, len(judges)):
        st.warning(
            f"Only {len(judges)} {'person' if len(judges) == 1 else 'people'} may judge here: no pair can have more "
            "judgements than that. The People page invites others."
        )
    message = "Applied. It holds from the next document on; what is judged stays."
    widgets.save_button(wanted, settings, campaign.assignments.update, message, "apply-overlap", ("Apply", "Applied"))


@st.cache_data(show_spinner=False, max_entries=4)
def _pace(campaign_id: str, logged: int) -> float:
    """The median of the seconds of a judgement; nan where no times are known."""
    return float(session.current().campaign.judgement_log.judgements()["seconds"].astype(float).median())


def _draw_workload(wanted: Mapping[str, object], state: str) -> None:
    campaign = session.current().campaign
    status = campaign.progress.counts()
    workload = cached(campaign.assignments.workload, f"{status['logged']} {status['pool']} {state}", "Counting", 32)
    new = workload(**wanted)
    more = new.judgements - workload().judgements
    seconds, left = _pace(campaign.id, status["logged"]), new.judgements - new.made
    hours = left * seconds / 3600
    counts = {"Pairs in the pool": new.pairs, "Judgements in all": new.judgements, "Made": new.made, "Left": left}
    duration = "not known" if pd.isna(hours) else f"{hours:,.1f} h" if hours < 10 else f"{hours:,.0f} h"
    widgets.metrics({**counts, "Hours left": duration})
    change = f"That is {abs(more):,} judgements {'more' if more > 0 else 'fewer'} than now. " if more else ""
    pace = f"Hours are of all annotators together, at the median of {seconds:.1f} s for a judgement."
    st.caption(change + ("Nothing is judged with a time yet, so hours are not known." if pd.isna(seconds) else pace))
