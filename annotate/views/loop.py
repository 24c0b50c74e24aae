"""Loop: how documents are chosen for judging, when it may stop, and what the model reads."""

from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import drawing, widgets
from collection.active_learning.learners import LEARNERS
from collection.campaign.loop_settings import MODES
from collection.errors import CleverdonError
from collection.pooling import strategies
from collection.records import in_natural_order

campaign = session.current().campaign
counts, settings = campaign.progress.counts(), campaign.settings.loop()
set_now = asdict(settings)
LEVELS = {g: f"{g} · {campaign.grades.label(g)}" for g in campaign.grades.sentences if g > 0}
USUAL = "as the campaign"
WAYS = {name: words.partition(":")[0] for name, words in MODES.items()}
DRAWS = {"automatic": "Automatically", "number": "After a number that I choose", "never": "Never"}
ADAPTIVE = strategies(adaptive=True)
RANKED = {
    "model": "A model that learns from texts and runs",
    **{name: entry.label for name, entry in ADAPTIVE.items()},
}
MODELS = {entry.name: f"{entry.label}: {entry.description}" for entry in LEARNERS}
GRADES = {
    "weights": "Lower grades are weak examples, higher ones strong examples",
    "threshold": "Only relevant or not counts",
}
EVIDENCE = {
    "prior": "Their rankings lead at first, and count less with every relevant document found",
    "columns": "The model learns how far to trust their rankings",
    "none": "Their rankings do not count: the texts alone do",
}
SHOWN = {
    "terms": "The terms that weigh most",
    "terms and runs": "Terms, and the systems' ranks",
    "nothing": "Nothing",
}
BLOCKS = {"words": "words", "chars": "groups of four characters", "dense": "own embeddings"}


def choose(label: str, words: dict[Any, str], key: str, now: Any, widget: Any = st.selectbox) -> Any:
    return widget(
        label, list(words), index=list(words).index(now) if now in words else 0, format_func=words.__getitem__, key=key
    )


def share(label: str, least: float, most: float, key: str) -> float:
    kept = float(set_now[key])
    now = round(100 * kept, 4)
    given = st.number_input(label, least, most, now, 1.0, format="%g", key=key)
    return kept if given == now else round(given / 100, 6)


st.title("Loop")
st.write(
    "How documents are chosen for judging. In a loop, a model learns from every judgement and puts forward what is "
    "most likely relevant; random draws in between tell how much is still missing. Or a pooling strategy looks at "
    "every judgement, and chooses from what the systems retrieved."
)
if used_up := campaign.budget.state().words:
    st.warning(drawing.plain(used_up))
wanted: dict[str, Any] = {}
left, right = st.columns(2, gap="large")
with left:
    wanted["mode"] = choose("How documents are chosen", WAYS, "mode", settings.mode)
    caption = st.empty()
    wanted["by"] = choose("What chooses in the loop", RANKED, "by", settings.by)
    by_model = wanted["by"] == "model"
    meaning = MODES[wanted["mode"]].partition(": ")[2]
    if not by_model:
        without_runs = "" if counts["runs"] else " There are no runs yet."
        st.caption(f"{ADAPTIVE[wanted['by']].description} It reads no text.{without_runs}")
        meaning = meaning.replace("the model", "the strategy").replace("whole collection", "documents of all systems")
    caption.caption(f"{meaning.capitalize()}.")
    wanted["level"] = choose("Relevant from which grade on", LEVELS, "level", settings.level)
    st.caption(drawing.plain(campaign.grades.sentences[wanted["level"]]))
    wanted["target"] = share("Recall to reach, %", 1.0, 100.0, "target")
    wanted["confidence"] = share("With a confidence of, %", 50.0, 99.9, "confidence")
    st.caption("The more recall and confidence, the more random draws it takes: in small collections, most documents.")
with right:
    usual = "automatic" if settings.run is None else "number" if settings.run else "never"
    draws = choose("When documents are drawn at random", DRAWS, "draws", usual)
    wanted["run"] = {"automatic": None, "never": 0}.get(draws)
    if draws == "number":
        wanted["run"] = st.number_input("Irrelevant documents in a row", 1, None, settings.run or 50, key="run")
    elif draws == "automatic" and by_model:
        st.caption("After 50 irrelevant documents in a row; after 200 where there are 20,000 documents or more.")
    elif draws == "automatic":
        st.caption("None: a strategy goes on until all that the systems retrieved is judged.")
    wanted["control"] = share("Drawn at random from the beginning, % of all judgements", 0.0, 100.0, "control")
    if (wanted["run"] == 0 or (draws == "automatic" and not by_model)) and not wanted["control"]:
        st.warning("Without random draws nobody can say how much is missing, and nothing can be promised.")
    wanted["explain"] = choose("What annotators see who ask why a document came up", SHOWN, "explain", settings.explain)
    if wanted["explain"] == "terms and runs":
        st.caption("Annotators then know how the systems ranked a document: they no longer judge blind.")
    for name, of in (("budget", "in all"), ("topic_budget", "of each topic")):
        wanted[name] = st.number_input(f"Documents to judge {of}, 0 for no limit", 0, None, set_now[name], key=name)
    if wanted["budget"] or wanted["topic_budget"]:
        st.caption(
            "The topics in their loop share the budget in all equally; what a topic cannot use (closed, nothing left, "
            "its own limit reached) goes to the others. A document counts once, however many judge it."
        )
if by_model:
    with st.expander("How the model learns"):
        for name, label, words in (
            ("learner", "Model", MODELS),
            ("grades", "Grades", GRADES),
            ("evidence", "Runs of the systems", EVIDENCE),
        ):
            wanted[name] = choose(label, words, name, set_now[name], st.radio)

changes = {name: value for name, value in wanted.items() if value != set_now[name]}
if st.button("Save" if changes else "Saved", type="primary", disabled=not changes, key="save"):
    try:
        campaign.settings.set_loop(**changes)
    except CleverdonError as error:
        st.error(drawing.plain(str(error)))
        st.stop()
    st.toast("Saved. It holds from the next document on.")
    st.rerun()

if own := campaign.settings.own_modes():
    st.subheader("Topic by topic")
    topics = in_natural_order(campaign.corpus.topics())[["query_id", "title"]].reset_index(drop=True)
    topics["mode"] = [own[query_id] or USUAL for query_id in topics["query_id"]]
    labels: dict[Any, str] = {USUAL: "As the campaign", **WAYS}
    edited = drawing.data_editor(
        topics,
        hide_index=True,
        height=min(35 * len(topics) + 38, 318),
        disabled=["query_id", "title"],
        key=f"modes-{hash(tuple(topics['mode']))}",  # what was saved, here or elsewhere, is the new beginning
        alt="How the documents of each topic are chosen",
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width=60),
            "title": st.column_config.TextColumn("Title", width=150),
            "mode": st.column_config.SelectboxColumn(
                "How documents are chosen", options=list(labels), format_func=labels.__getitem__, required=True
            ),
        },
    )
    other: pd.DataFrame = edited[edited["mode"] != topics["mode"]]
    of = f"{len(other):,} topic{'s' if len(other) != 1 else ''}"
    if st.button(f"Save {of}" if len(other) else "Topics are saved", disabled=other.empty, key="save-topics"):
        for mode, some in other.groupby("mode"):
            campaign.settings.set_loop(topics=some["query_id"].tolist(), mode=None if mode == USUAL else str(mode))
        st.toast(f"{of} saved.")
        st.rerun()

if not by_model:
    st.stop()
st.subheader("What the model reads")
state = campaign.features.state()
if not counts["documents"]:
    st.write("There are no documents yet.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()
if state.made_at is None:
    st.write("The documents are not prepared yet. That is done before the first document of a loop comes, or now.")
else:
    made = f"{state.documents:,} documents, by their {' and '.join(BLOCKS.get(b, b) for b in state.blocks)}"
    since = "They are up to date." if state.current else "Documents came or changed since."
    st.write(f"{made}. Prepared on {state.made_at:%Y-%m-%d at %H:%M} UTC. {since}")
    if state.note:
        st.warning(drawing.plain(state.note))
if st.button("Bring up to date", disabled=state.current, key="update"):
    bar = st.progress(0.0)

    def tell(what: str, done: int, total: int | None) -> None:
        bar.progress(min(done / (total or counts["documents"]), 1.0), f"{what} {done:,}" if done else what)

    try:
        report = campaign.features.update(progress=tell)
    except CleverdonError as error:
        bar.empty()
        st.error(drawing.plain(str(error)))
        st.stop()
    st.toast(f"{report.documents:,} documents in {report.seconds:.1f} s.")
    st.rerun()
