"""How many annotators judge a pair, and what that costs."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import pickers, widgets
from collection.assignment import MAX_ANNOTATORS
from collection.campaign.results import Workload

WHICH = {
    "all": "All pairs",
    "share": "A share of the pairs, chosen by lot",
    "number": "So many pairs of each topic, chosen by lot",
    "topics": "All pairs of some topics",
}


def draw(titles: Mapping[str, str], judges: Sequence[str]) -> None:
    """Draw the settings with their costs; `titles` are those of all topics, `judges` the people who may judge."""
    campaign = session.current().campaign
    settings = campaign.settings.assignment()
    left, right = st.columns(2, gap="large")
    with left:
        annotators = st.number_input(
            "Annotators for a pair",
            1,
            MAX_ANNOTATORS,
            settings.annotators,
            key="annotators",
            help="1: everybody judges alone.",
        )
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
            _costs(wanted, repr((len(titles), settings)))
    if annotators > max(1, len(judges)):
        st.warning(
            f"Only {len(judges)} {'person' if len(judges) == 1 else 'people'} may judge here: no pair can have more "
            "judgements than that. The People page invites others."
        )
    said = "Applied. It holds from the next document on; what is judged stays."
    widgets.save_button(wanted, settings, campaign.assignments.update, said, "apply-overlap", ("Apply", "Applied"))


@st.cache_data(show_spinner="Counting", max_entries=32)
def _workload(campaign_id: str, key: str, wanted: tuple[tuple[str, object], ...]) -> Workload:
    """What settings ask for; kept while nothing changes that it rests on."""
    return session.current().campaign.assignments.workload(**dict(wanted))


@st.cache_data(show_spinner=False, max_entries=4)
def _pace(campaign_id: str, logged: int) -> float:
    """The median of the seconds that a judgement took; nan where none has any."""
    return float(session.current().campaign.judgement_log.judgements()["seconds"].astype(float).median())


def _costs(wanted: Mapping[str, object], state: str) -> None:
    """What the settings above ask for, beside what those in force do."""
    campaign = session.current().campaign
    counts = campaign.progress.counts()
    key = f"{counts['logged']} {counts['pool']} {state}"
    asked = _workload(campaign.id, key, tuple(wanted.items()))
    more = asked.judgements - _workload(campaign.id, key, ()).judgements
    seconds, left = _pace(campaign.id, counts["logged"]), asked.judgements - asked.made
    hours = left * seconds / 3600
    widgets.metrics(
        {
            "Pairs in the pool": f"{asked.pairs:,}",
            "Judgements in all": f"{asked.judgements:,}",
            "Made": f"{asked.made:,}",
            "Left": f"{left:,}",
            "Hours left": "not known" if pd.isna(hours) else f"{hours:,.1f} h" if hours < 10 else f"{hours:,.0f} h",
        }
    )
    pace = (
        "Nothing is judged with a time yet, so hours are not known."
        if pd.isna(seconds)
        else f"Hours are of all annotators together, at the median of {seconds:.1f} s for a judgement."
    )
    st.caption(
        (f"That is {abs(more):,} judgements {'more' if more > 0 else 'fewer'} than now. " if more else "") + pace
    )
