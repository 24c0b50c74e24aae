"""Adjudicate: the pairs on which annotators differ, side by side; one grade ends each."""

from collections.abc import Hashable, Mapping
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from annotate import elements, session, widgets
from collection.records import Judgement, Kind

NO_GRADE = "no grade can be given"  # the reason where the adjudicator says so and writes no note
LONG_NEED, MANY_SIDES = 180, 4
LEAVE_NOTE = """<script>
if (!window.cleverdonLeavesNotes) {
  window.cleverdonLeavesNotes = true;
  document.addEventListener("keydown", (event) => {
    const note = event.target.matches?.('input[aria-label="Note"]');
    if (note && (event.key === "Enter" || event.key === "Escape")) event.target.blur();
  }, true);
}
</script>"""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

now = session.current()
campaign, scale = now.campaign, now.campaign.grades
logged = campaign.counts()["logged"]

st.title("Adjudicate")


@st.cache_data(show_spinner="Looking for disagreements", max_entries=4)
def queue_of(campaign_id: str, logged: int, calibration: int) -> pd.DataFrame:
    """The queue with what is ended; kept while nobody judges."""
    return session.current().campaign.to_adjudicate(ended=True)


everything = queue_of(
    campaign.id, logged, hash(tuple(campaign.calibration()[["query_id", "doc_id"]].agg(" ".join, axis=1)))
)
queue = everything[~everything["ended"]]
titles = campaign.topics().set_index("query_id")
ended = campaign.adjudications()


def remember(pair: tuple[str, str]) -> None:
    """Keep which pair was clicked on: by the time the click is read, somebody else may have ended it."""
    st.session_state["clicked_on"] = pair


clicked_on: tuple[str, str] | None = st.session_state.pop("clicked_on", None)


def tell_unless_in(left: pd.DataFrame) -> None:
    """Say that a click was not taken where its pair is none of those that are left."""
    if clicked_on is None or clicked_on in set(zip(left["query_id"], left["doc_id"], strict=True)):
        return
    query_id, doc_id = clicked_on
    by = ended.loc[(ended["query_id"] == query_id) & (ended["doc_id"] == doc_id), "annotator"].tolist()
    if now.annotator in by[-1:]:  # clicked on twice, and the first click is saved
        return
    what = f"was ended meanwhile by {by[-1]}" if by else "was judged anew meanwhile and is none of these pairs any more"
    st.warning(widgets.plain(f"{doc_id} of topic {query_id} {what}; your click was not taken."))


def show_ended() -> None:
    """What stands of all adjudications, and a way to take one's own last one back."""
    mine = ended[ended["annotator"] == now.annotator]
    if len(mine):
        last = mine.iloc[-1]
        said = widgets.grade_name(scale, last["kind"], last["relevance"])
        label = f"Undo: {widgets.plain(last['doc_id'] + ' of topic ' + last['query_id'])} ({widgets.plain(said)})"
        # The key has the uuid: a click can only reach the adjudication that was on screen.
        if st.button(label, key=f"undo-{last['uuid']}", icon=":material/undo:", shortcut="U"):
            save(last["query_id"], last["doc_id"], "undone", None, "")
    if len(ended):
        with st.expander(f"Ended by adjudication ({len(ended):,})"):
            elements.dataframe(
                ended[::-1][["query_id", "doc_id", "relevance", "annotator", "note", "judged_at"]],
                hide_index=True,
                column_config={
                    "query_id": "Topic",
                    "doc_id": "Document",
                    "relevance": "Grade",
                    "annotator": "By",
                    "note": st.column_config.TextColumn("Note", width="medium"),
                    "judged_at": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm"),
                },
            )


def save(query_id: str, doc_id: str, kind: Kind, grade: int | None, note: str) -> None:
    """Write an adjudication, or take one back, and go on."""
    judgement = Judgement(
        str(uuid4()),
        now.annotator,
        query_id,
        doc_id,
        kind,
        relevance=grade,
        reason=(note or NO_GRADE) if kind == "cannot judge" else None,
        source="click",
        note=note or None,
        counts_as="adjudication",
    )
    result = campaign.judge([judgement])
    if result.refused:
        st.error(widgets.plain(result.refused[0].reason))
        return
    st.toast(f"{widgets.plain(doc_id)}: {kind if grade is None else grade}. Saved.")
    if kind == "undone":  # it comes next again, to be looked at once more
        st.session_state["pair"] = (query_id, doc_id)
    st.rerun()


if queue.empty:
    tell_unless_in(queue)
    several = campaign.disagreements()
    if everything.empty:
        st.write(
            f"{several.pairs:,} pairs were graded by several annotators, who agree on all of them."
            if several.pairs
            else "No pair was graded by several annotators yet, so there is nothing on which they could differ."
        )
        if not several.pairs:
            widgets.next_step(campaign.next_step())
    else:
        st.success(f"Nothing is left: all {len(everything):,} disagreements are ended.")
    show_ended()
    st.stop()

# --- which of them -------------------------------------------------------------------------------------

above = st.container(horizontal=True, vertical_alignment="center")
with above.popover("Choose", icon=":material/filter_list:"):
    order = {query_id: n for n, query_id in enumerate(titles.index)}
    why = st.selectbox(
        "Pairs",
        ["", *sorted(queue["why"].unique(), reverse=True)],
        format_func=lambda w: {"": "All", "disagreement": "Disagreements"}.get(w, "Calibration set, to be settled"),
        key="why",
    )
    topic = st.selectbox(
        "Topic",
        ["", *sorted(queue["query_id"].unique(), key=order.__getitem__)],
        format_func=lambda q: widgets.upright(f"{q}: {titles['title'][q]}") if q else "All topics",
        key="topic",
    )
    distance = st.selectbox(
        "Distance between the highest and the lowest grade",
        [-1, *sorted(queue["distance"].unique(), reverse=True)],
        format_func=lambda d: "Any" if d < 0 else str(d) if d else "0: a grade, and cannot judge",
        key="distance",
    )
    people = st.multiselect("Judged by all of", sorted({n for names in queue["names"] for n in names}), key="people")
chosen = queue
if why:
    chosen = chosen[chosen["why"] == why]
if topic:
    chosen = chosen[chosen["query_id"] == topic]
if distance >= 0:
    chosen = chosen[chosen["distance"] == distance]
if people:
    chosen = chosen[[set(people) <= set(names) for names in chosen["names"]]]
differ = int((queue["why"] == "disagreement").sum())
calibration = len(queue) - differ
above.caption(
    f"{differ:,} of {int((everything['why'] == 'disagreement').sum()):,} disagreements are left, the largest first"
    + (f", and {calibration:,} pairs of the calibration set to settle" if calibration else "")
    + (f"; {len(chosen):,} as chosen" if len(chosen) < len(queue) else "")
    + ". Your grade ends the pair; what was said stays in the log."
)
tell_unless_in(chosen)
if chosen.empty:
    st.info("No pair that is left is like that.")
    show_ended()
    st.stop()

# --- the pair ------------------------------------------------------------------------------------------

pairs = list(zip(chosen["query_id"], chosen["doc_id"], strict=True))
skipped: list[tuple[str, str]] = st.session_state.setdefault("skipped", [])
waiting = [pair for pair in pairs if pair not in skipped]
if not waiting:  # once through: those that were skipped come again, in order
    skipped.clear()
    waiting = pairs
pair = st.session_state.get("pair")
if pair not in pairs:
    pair = waiting[0]
st.session_state["pair"] = pair
query_id, doc_id = pair
row = chosen.iloc[pairs.index(pair)]
own = f"{query_id}\n{doc_id}"  # in every key: a click can reach no other pair than the one that was on screen

sides = campaign.sides(query_id, doc_id)


def side(said: Mapping[Hashable, Any], who: str, when: str) -> None:
    """What one annotator said, in a small frame."""
    lines = [f"**{widgets.plain(widgets.grade_name(scale, said['kind'], said['relevance']))}**"]
    seconds = "" if pd.isna(said["seconds"]) else f", {said['seconds']:.1f} s"
    lines.append(f":small[:gray[{widgets.plain(who)}{seconds}{when}]]")
    lines += [f":small[{widgets.plain(words)}]" for words in (said["reason"], said["note"]) if not pd.isna(words)]
    with st.container(border=True, width=150):
        st.markdown("  \n".join(lines))


left, right = st.columns([2, 3], gap="medium")
with left:
    st.markdown(f"##### Topic {widgets.plain(query_id)}: {widgets.plain(titles['title'][query_id])}")
    need = {part: titles[part][query_id] for part in ("description", "narrative") if titles[part][query_id]}
    # Long needs scroll: the buttons stay where they can be seen.
    with st.container(height=170 if sum(map(len, need.values())) > LONG_NEED else "content", border=False):
        for part, words in need.items():
            st.caption(part.capitalize())
            st.text(widgets.upright(words))
    if sides.empty:
        st.caption("Nobody has judged this pair of the calibration set yet.")
    with st.container(horizontal=True, gap="small", height=200 if len(sides) > MANY_SIDES else "content"):
        named = st.session_state.get("named", False)
        for n, said in enumerate(sides.to_dict("records")):
            who = said["annotator"] if named else f"Annotator {LETTERS[n % len(LETTERS)]}"
            side(said, who, f", {said['judged_at'][:16].replace('T', ' ')}" if named else "")
with right:
    document = campaign.document(doc_id)
    if document is not None:
        widgets.document(document, height=300)

# A digit that is typed into the note is a digit: Enter and Escape leave it, and the keys grade again.
st.html(LEAVE_NOTE, unsafe_allow_javascript=True)
with st.form(f"grade-{own}", enter_to_submit=False, clear_on_submit=True):
    note = st.text_input(
        "Note", placeholder="A note, if it should be known why", key=f"note-{own}", label_visibility="collapsed"
    )
    with st.container(horizontal=True):
        grades = {
            g: st.form_submit_button(
                widgets.plain(scale.label(g)),
                key=f"{g}-{own}",
                shortcut=str(g),
                help=widgets.plain(sentence),
                on_click=remember,
                args=(pair,),
                width="stretch",
            )
            for g, sentence in scale.sentences.items()
        }
        cannot = st.form_submit_button(
            "Cannot judge", key=f"x-{own}", shortcut="X", on_click=remember, args=(pair,), width="stretch"
        )
        skip = st.form_submit_button("Skip", key=f"skip-{own}", shortcut="S", width="stretch")
clicked = next((g for g, pressed in grades.items() if pressed), None)
if clicked is not None or cannot:
    del st.session_state["pair"]  # the next one, whatever it is
    save(query_id, doc_id, "cannot judge" if cannot else "graded", clicked, note.strip())
st.toggle("Show who said what, and when", key="named")
if skip:
    skipped.append(pair)
    del st.session_state["pair"]
    st.rerun()

show_ended()


def pick() -> None:
    """Keep which pair was selected, not in which row it stood."""
    rows = st.session_state["queue"]["selection"]["rows"]
    if rows:
        st.session_state["pair"] = st.session_state["listed"][rows[0]]


with st.expander(f"The queue ({len(chosen):,})"):
    st.session_state["listed"] = pairs
    elements.dataframe(
        chosen[["query_id", "doc_id", "distance", "grades"]],
        hide_index=True,
        on_select=pick,
        selection_mode="single-row",
        key="queue",
        column_config={"query_id": "Topic", "doc_id": "Document", "distance": "Distance", "grades": "Grades"},
    )
    st.caption('Grades lowest first; "?" is somebody who cannot judge. Select a row to look at the pair.')
