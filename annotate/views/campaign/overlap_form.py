"""The overlap settings, and the workload that follows from them."""

from collections.abc import Mapping, Sequence

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import pickers, widgets
from annotate.views.widgets.service_cache import cached
from collection.assignment import MAX_ANNOTATORS, AssignmentSettings
from collection.core.phrases import count, duration_range, join, percent_down, plural

WHICH = {
    "all": "All pairs",
    "share": "Random share of the pairs",
    "number": "Random pairs of each topic",
    "topics": "All pairs of some topics",
}
MOST_NAMED = 4  # topics named in the sentence above the fields


def describe(settings: AssignmentSettings) -> str:
    """Describe in a sentence how many annotators judge which pairs."""
    if settings.annotators == 1:
        return "1 annotator judges each pair."
    which = {
        "all": "each pair",
        "share": f"{percent_down(settings.share)} of the pairs, chosen at random",
        "number": f"{count(settings.number, 'random pair')} of each {widgets.words().topic}",
        "topics": f"each pair of {_name_topics(settings.topics)}" if settings.topics else "no pair",
    }[settings.which]
    others = "" if settings.which == "all" else "; all other pairs have 1 annotator"
    return f"{settings.annotators} annotators judge {which}{others}."


def _name_topics(topics: Sequence[str]) -> str:
    """``topics 1 and 3``, or only their number if they are many."""
    words = widgets.words()
    few = f"{plural(len(topics), words.topic, words.topics)} {widgets.plain(join(topics))}"
    return few if len(topics) <= MOST_NAMED else count(len(topics), words.topic, words.topics)


def draw(titles: Mapping[str, str], judges: Sequence[str]) -> None:
    """Draw the settings with their workload; `titles` are those of all topics, `judges` the people who may judge."""
    campaign = session.current().campaign
    settings, words = campaign.settings.assignment(), widgets.words()
    left, right = st.columns(2, gap="large")
    with left:
        annotators = st.number_input("Annotators per pair", 1, MAX_ANNOTATORS, settings.annotators, key="annotators")
    wanted: dict[str, object] = {"annotators": annotators}
    with right:
        if annotators > 1:
            labels = {which: words.apply(label) for which, label in WHICH.items()}
            wanted["which"] = which = pickers.pick("Pairs with several annotators", labels, settings.which, "which")
            if which == "share":
                wanted["share"] = pickers.pick_share("Share (%)", 0.0, 100.0, settings.share, "share", step=5.0)
            elif which == "number":
                wanted["number"] = st.number_input(
                    words.apply("Pairs per topic"), 0, None, settings.number, key="number"
                )
            elif which == "topics":
                known = [query_id for query_id in settings.topics if query_id in titles]
                wanted["topics"] = tuple(pickers.pick_topics(words.apply("Topics"), titles, "topics", known))
            if which != "all":
                st.caption("All other pairs have 1 annotator.")
    with widgets.shown_errors():
        _draw_workload(wanted, repr((len(titles), settings, campaign.settings.modes())))
    if annotators > max(1, len(judges)):
        st.warning(f"Only {count(len(judges), 'person', 'people')} can judge in this campaign.")
        widgets.page_link("people", "Invite annotators")
    message = "Saved. It applies from the next document; existing judgements are kept."
    widgets.save_button(wanted, settings, campaign.people.assignments.update, message, "apply-overlap")


def _draw_workload(wanted: Mapping[str, object], state: str) -> None:
    campaign = session.current().campaign
    if decisions := campaign.results.overview.decisions():  # lists or preferences
        done, left = decisions["made"], decisions["remaining"]
        st.write(f"**{done:,} of {count(done + left, 'decision')} made**, with the saved settings.")
        return
    status = campaign.store.judgements.counts()
    looping = int(campaign.progress.topics()["goal"].isna().sum())
    if looping:
        progress = f"{count(status['judgements'], 'judgement')} made so far"
        topics = f"{looping:,} of {count(status['topics'], 'topic')} {plural(looping, 'is', 'are')}"
        others = "; the numbers below cover the other topics" if looping < status["topics"] else ""
        st.write(f"{progress}. {topics} in a loop without a fixed number of judgements{others}.")
    if not status["pool"]:
        if not looping:
            st.info("The number of judgements depends on the pool, which is empty.")
            widgets.page_link("pool", "Choose the pool")
        return
    if looping == status["topics"]:
        return
    workload = cached(
        campaign.people.assignments.workload, f"{status['logged']} {status['pool']} {state}", "Counting", 32
    )
    new = workload(**wanted)
    left = new.judgements - new.made
    time = campaign.people.pools.time(left)
    duration = f"about {duration_range(time.low, time.high)} at the current pace" if time and left else ""
    st.write(f"**{count(left, 'judgement')} left{', ' * bool(duration)}{duration}.**")
    counts = {"Pairs in the pool": new.pairs, "Judgements needed": new.judgements, "Judgements made": new.made}
    if more := new.judgements - workload().judgements:
        counts["More than now" if more > 0 else "Fewer than now"] = abs(more)
    widgets.metrics(counts)
    if duration:
        st.caption("All annotators together; 90% prediction interval.")
