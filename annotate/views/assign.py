"""Assign: how many judge a pair, who judges which topic, what everybody judges first, and what judging hides."""

from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import drawing, widgets
from collection.assignment import LEASES, MOST_ANNOTATORS
from collection.campaign.loop_settings import MODES
from collection.campaign.results import Workload
from collection.errors import CleverdonError
from collection.records import in_natural_order

campaign = session.current().campaign
settings = campaign.settings.assignment()
set_now: dict[str, Any] = asdict(settings)
WHICH = {
    "all": "All pairs",
    "share": "A share of the pairs, chosen by lot",
    "number": "So many pairs of each topic, chosen by lot",
    "topics": "All pairs of some topics",
}
EVERYBODY = "everybody"

st.title("Assign")
st.write("How many annotators judge a pair, who judges which topic, and what everybody judges first.")
topics = in_natural_order(campaign.corpus.topics())
if topics.empty:
    st.write("There are no topics yet.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()
titles = dict(zip(topics["query_id"], topics["title"], strict=True))
people = campaign.accounts.table()
judges = people.loc[people["role"].isin(["manager", "annotator"]) & ~people["locked"].astype(bool), "name"].tolist()
teams = campaign.accounts.groups()


def named(query_id: str) -> str:
    return widgets.upright(f"{query_id}: {titles[query_id]}")


def apply(changes: dict[str, Any], words: str) -> None:
    """Write changed settings, or say why they cannot be."""
    try:
        campaign.assignments.update(**changes)
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        return
    st.toast(words)
    st.rerun()


def hours(judgements: int, seconds: float) -> str:
    """So many judgements at the campaign's usual pace."""
    if pd.isna(seconds):
        return "not known"
    spent = judgements * seconds / 3600
    return f"{spent:,.1f} h" if spent < 10 else f"{spent:,.0f} h"


# --- how many judge a pair ----------------------------------------------------------------------------


def overlap() -> None:
    left, right = st.columns(2, gap="large")
    wanted: dict[str, Any] = {}
    with left:
        wanted["annotators"] = st.number_input(
            "Annotators for a pair",
            1,
            MOST_ANNOTATORS,
            settings.annotators,
            key="annotators",
            help="1: everybody judges alone.",
        )
    several = wanted["annotators"] > 1
    with right:
        if several:
            wanted["which"] = st.selectbox(
                "Which pairs these are",
                list(WHICH),
                index=list(WHICH).index(settings.which),
                format_func=WHICH.__getitem__,
                key="which",
            )
        which = wanted.get("which")
        if which == "share":
            given = st.number_input(
                "Share, %", 0.0, 100.0, round(100 * settings.share, 4), 5.0, format="%g", key="share"
            )
            wanted["share"] = settings.share if given == round(100 * settings.share, 4) else round(given / 100, 6)
        elif which == "number":
            wanted["number"] = st.number_input("Pairs of each topic", 0, None, settings.number, key="number")
        elif which == "topics":
            known = [query_id for query_id in settings.topics if query_id in titles]
            chosen = st.multiselect("Topics", list(titles), known, format_func=named, key="topics")
            wanted["topics"] = tuple(chosen)
    if several and which in ("share", "number", "topics"):
        st.caption("The other pairs are judged by one annotator each.")
    if not campaign.progress.counts()["pool"]:
        st.info("There is no pool yet: what this costs is shown once there is one.")
    else:
        costs(wanted)
    if several and wanted["annotators"] > len(judges):
        st.warning(
            f"Only {len(judges)} {'person' if len(judges) == 1 else 'people'} may judge here: no pair can have more "
            "judgements than that. The People page invites others."
        )
    changes = {name: value for name, value in wanted.items() if value != set_now[name]}
    if st.button("Apply" if changes else "Applied", type="primary", disabled=not changes, key="apply-overlap"):
        apply(changes, "Applied. It holds from the next document on; what is judged stays.")


@st.cache_data(show_spinner="Counting", max_entries=32)
def workload_of(campaign_id: str, key: str, wanted: tuple[tuple[str, Any], ...]) -> Workload:
    """What settings ask for; kept while nothing changes that it rests on."""
    return session.current().campaign.assignments.workload(**dict(wanted))


@st.cache_data(show_spinner=False, max_entries=4)
def pace_of(campaign_id: str, logged: int) -> float:
    """The median of the seconds that a judgement took; nan where none has any."""
    return float(session.current().campaign.judgement_log.judgements()["seconds"].astype(float).median())


def costs(wanted: dict[str, Any]) -> None:
    """What the settings above ask for, beside what those in force do."""
    counts = campaign.progress.counts()
    key = repr((counts["logged"], counts["pool"], len(topics), settings))
    try:
        asked = workload_of(campaign.id, key, tuple(wanted.items()))
        before = workload_of(campaign.id, key, ())
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        return
    seconds = pace_of(campaign.id, counts["logged"])
    left = asked.judgements - asked.made
    widgets.metrics(
        {
            "Pairs in the pool": f"{asked.pairs:,}",
            "Judgements in all": f"{asked.judgements:,}",
            "Made": f"{asked.made:,}",
            "Left": f"{left:,}",
            "Hours left": hours(left, seconds),
        }
    )
    more = asked.judgements - before.judgements
    pace = (
        "Nothing is judged with a time yet, so hours are not known."
        if pd.isna(seconds)
        else f"Hours are of all annotators together, at the median of {seconds:.1f} s for a judgement."
    )
    st.caption(
        (f"That is {abs(more):,} judgements {'more' if more > 0 else 'fewer'} than now. " if more else "") + pace
    )


# --- who judges which topic ---------------------------------------------------------------------------


def who(accounts: list[str], groups: list[str]) -> str:
    """``ann, ben; group students``."""
    parts = [", ".join(accounts)] * bool(accounts) + [f"group {name}" for name in groups]
    return "; ".join(parts) or EVERYBODY


def by_topic() -> None:
    table = campaign.assignments.table()
    table["who"] = [who(accounts, groups) for accounts, groups in zip(table["accounts"], table["groups"], strict=True)]
    st.caption("A topic is for everybody who may judge until it is given to somebody. Select rows to change them.")
    picked = drawing.dataframe(
        table[["query_id", "title", "who", "pool", "wanted", "made", "left"]],
        hide_index=True,
        height=min(35 * len(table) + 38, 388),
        on_select="rerun",
        selection_mode="multi-row",
        key="assigned",
        alt="Who judges each topic",
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width="small"),
            "title": st.column_config.TextColumn("Title", width="medium"),
            "who": st.column_config.TextColumn("Judged by", width="medium"),
            "pool": st.column_config.NumberColumn("Pairs", width="small"),
            "wanted": st.column_config.NumberColumn("Wanted", width="small", help="Judgements of these pairs in all."),
            "made": st.column_config.NumberColumn("Made", width="small"),
            "left": st.column_config.NumberColumn("Left", width="small"),
        },
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(table)]
    chosen = table["query_id"].iloc[rows].tolist()
    many = f"{len(chosen):,} topic{'s' if len(chosen) != 1 else ''}"
    give(chosen, many)
    deal(chosen, many)
    for notice in campaign.assignments.notices():
        st.warning(drawing.plain(notice[0].upper() + notice[1:] + "."))


def give(chosen: list[str], many: str) -> None:
    """Selected topics to people and groups."""
    with st.form("give"):
        left, right = st.columns(2)
        accounts = left.multiselect("People", judges, key="people", placeholder="Nobody in particular")
        groups = right.multiselect("Groups", list(teams), key="groups", placeholder="No group")
        pressed = st.form_submit_button("Give them the selected topics", type="primary", key="give-topics")
        st.caption(f"{many} selected. With neither people nor groups they are for everybody again.")
    if not pressed:
        return
    if not chosen:
        st.error("Select one topic or more in the table first.")
        return
    try:
        campaign.assignments.assign(chosen, accounts, groups)
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        return
    st.toast(f"{many}: {drawing.plain(who(accounts, groups))}.")
    st.rerun()


def deal(chosen: list[str], many: str) -> None:
    """Topics dealt out evenly, seen before it is done."""
    with st.expander("Deal topics out evenly"):
        left, right = st.columns([3, 1])
        among = left.multiselect("Among", judges, judges, key="among")
        most = max(len(judges), 1)
        each = right.number_input("People for each topic", 1, most, min(settings.annotators, most), key="each")
        st.caption(f"Of {many if chosen else 'all topics'}, so that each person has about as many pairs as any other.")
        if each < settings.annotators and settings.which != "topics":
            st.caption(f"A pair is judged by {settings.annotators} annotators: each topic needs as many people.")
        try:
            dealt = campaign.assignments.deal(among, each, chosen or None)
        except CleverdonError as error:
            st.info(drawing.plain(str(error)))
            return
        sizes = campaign.assignments.table().set_index("query_id")["pool"]
        rows = [(name, query_id, sizes[query_id]) for query_id, names in dealt.items() for name in names]
        plan = pd.DataFrame(rows, columns=["name", "query_id", "pairs"]).groupby("name", sort=False, as_index=False)
        drawing.dataframe(
            plan.agg(topics=("query_id", "size"), pairs=("pairs", "sum")).sort_values("name"),
            hide_index=True,
            alt="What each person would have",
            column_config={"name": "Person", "topics": "Topics", "pairs": "Pairs"},
        )
        if st.button(f"Deal {many if chosen else 'all topics'}", key="deal"):
            with campaign.transaction():
                for query_id, names in dealt.items():
                    campaign.assignments.assign([query_id], names)
            st.toast("Dealt.")
            st.rerun()


def by_person() -> None:
    """What each annotator has before them."""
    rows = []
    for name in judges:
        done, goal = campaign.progress.totals(name)
        rows.append(
            (name, len(campaign.progress.topics_for(name)), done, None if goal is None else max(goal - done, 0))
        )
    table = pd.DataFrame(rows, columns=["name", "topics", "done", "left"])
    table["left"] = table["left"].astype("Int64")
    drawing.dataframe(
        table,
        hide_index=True,
        height=min(35 * len(table) + 38, 388),
        placeholder="no end",
        alt="What each annotator has",
        column_config={
            "name": "Annotator",
            "topics": st.column_config.NumberColumn("Topics", help="Those for everybody among them."),
            "done": st.column_config.NumberColumn("Done", help="Pairs that want no judgement of theirs any more."),
            "left": st.column_config.NumberColumn("Pairs left", help="Pairs that still take a judgement of theirs."),
        },
    )
    st.caption("A pair that any of several people may judge is counted for each of them until it has all it wants.")


# --- calibration --------------------------------------------------------------------------------------


def lines(pairs: list[tuple[str, str]]) -> str:
    return "\n".join(f"{query_id} {doc_id}" for query_id, doc_id in pairs)


def calibration() -> None:
    pairs = campaign.calibration.pairs()
    settled = int(pairs["settled"].notna().sum())
    st.write(
        "Pairs that every annotator judges before anything else. Their judgements show whether all read the grades "
        "alike. All of them count, whoever the topic is assigned to."
    )
    widgets.metrics({"Pairs": f"{len(pairs):,}", "Settled": f"{settled:,}"})
    st.caption(
        "The settled grade of a pair is that of its adjudication (the Adjudicate page lists these pairs behind the "
        "disagreements), or else that of imported qrels. A pair without one is judged by all, and "
        "nobody is told anything."
    )
    if len(pairs) > settled:
        widgets.page_link("adjudicate.py")
    if len(pairs):
        done = campaign.calibration.results()
        done["finished"] = done["judged"] >= done["of"]
        drawing.dataframe(
            done[["annotator", "judged", "of", "finished", "agree"]],
            hide_index=True,
            placeholder="–",
            alt="How far each annotator is with the calibration set",
            column_config={
                "annotator": "Annotator",
                "judged": "Judged",
                "of": "Of",
                "finished": st.column_config.CheckboxColumn("Finished"),
                "agree": st.column_config.NumberColumn(
                    "Grade as settled", format="percent", help="Of the settled pairs that they have graded."
                ),
            },
        )
    feedback = st.toggle(
        "After each of these pairs, show the annotator the settled grade",
        settings.feedback,
        key="feedback",
        disabled=not settled and not settings.feedback,
    )
    if not settled:
        st.caption("No pair is settled: there is nothing to show yet.")
    if feedback != settings.feedback:
        apply({"feedback": feedback}, "Settled grades are shown." if feedback else "Settled grades are not shown.")
    st.subheader("The pairs")
    saved = lines(list(pairs[["query_id", "doc_id"]].itertuples(index=False, name=None)))
    st.session_state.setdefault("pairs", saved)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        each = st.number_input("Pairs of each topic", 1, None, 2, key="per-topic", width=160)
        among = st.multiselect("Topics", list(titles), format_func=named, key="drawn-topics", placeholder="All topics")
        drawn = st.button("Draw by lot", key="draw")
    if drawn:  # into the field, which comes below; nothing is saved yet
        try:
            st.session_state["pairs"] = lines(campaign.calibration.draw(each, among or None))
        except CleverdonError as error:
            st.error(drawing.plain(str(error)))
    text = st.text_area("One pair a line: topic and document", key="pairs", height=220, placeholder="51 doc-17")
    changed = text.split() != saved.split()
    if st.button("Save the pairs" if changed else "Pairs are saved", disabled=not changed, key="save-pairs"):
        save_pairs(text)


def save_pairs(text: str) -> None:
    pairs = [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]
    if odd := next((pair for pair in pairs if len(pair) != 2), None):
        st.error(f"Wanted a topic and a document in each line, found {drawing.plain(odd[0])} alone.")
        return
    try:
        campaign.calibration.set_pairs([(query_id, doc_id.strip()) for query_id, doc_id in pairs])
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        return
    del st.session_state["pairs"]  # the field shows what was saved
    st.toast(f"{len(pairs):,} pairs saved." if pairs else "There is no calibration set any more.")
    st.rerun()


# --- blind, time, order -------------------------------------------------------------------------------


def rules() -> None:
    blind = st.toggle("Judging is blind", settings.blind, key="blind")
    st.caption(
        "Blind: nobody who judges sees another's judgements or notes, nor the run, rank or score of a pair. Unblinded: "
        "each annotator sees these on My judgements, for the pairs that they have judged. What was seen cannot be "
        "unseen, so end it when judging is over."
    )
    lease = st.number_input(
        "Minutes that a pair is reserved for whoever has it in hand",
        *LEASES,
        settings.lease,
        format="%g",
        key="lease",
    )
    st.caption(
        "Then it is free for others, so that nobody's closed browser holds it back. A card that is open renews its "
        "reservations every two minutes. In a loop it is ten minutes at most."
    )
    changes = {name: value for name, value in (("blind", blind), ("lease", lease)) if value != set_now[name]}
    if st.button("Save" if changes else "Saved", type="primary", disabled=not changes, key="save-rules"):
        apply(changes, "Saved.")
    st.subheader("Order within a topic")
    mode = campaign.settings.loop().mode
    st.write(f"**{MODES[mode].partition(': ')[0]}:** {MODES[mode].partition(': ')[2]}. The Loop page changes it.")
    widgets.page_link("loop.py")


tabs = st.tabs(["Overlap", "Topics", "Calibration", "Blind, time and order"])
with tabs[0]:
    overlap()
with tabs[1]:
    by_topic()
    st.subheader("What each annotator has")
    by_person()
with tabs[2]:
    calibration()
with tabs[3]:
    rules()
