"""Parts of the page Nuggets: list of nuggets, marked passages, agreement, and the task of nugget assignment."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from uuid import uuid4

import altair as alt
import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn, NumberColumn, ProgressColumn, SelectboxColumn, TextColumn

from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import text
from collection.campaign import Campaign
from collection.campaign.answers.nugget_sources import MadeNugget
from collection.charts.marks import BLUE, tooltips
from collection.core.answer_tasks import NUGGET_ASSIGNMENT
from collection.core.characters import without_bidi
from collection.core.phrases import count
from collection.formats import to_tsv

MESSAGE = "nugget-message"
"""Session key of the message about the last edit, which the next script run shows."""

IMPORTANCES = {"vital": "Vital", "okay": "Okay", "": "Not set"}
MOST_HEIGHT = 460
KINDS = {
    "added": "Adding",
    "changed": "Editing",
    "merged": "Merging",
    "split": "Splitting",
    "moved": "Reordering",
    "deleted": "Deleting",
}


def importance_column() -> object:
    """Configure the column in which a person chooses the importance of a nugget."""
    return SelectboxColumn(
        "Importance", options=list(IMPORTANCES), format_func=lambda each: IMPORTANCES[str(each)], width=120
    )


def edit(message: str, change: Callable[[], object]) -> None:
    """Make an edit, then run the page again with a message; show an error of the library instead."""
    with widgets.shown_errors():
        change()
        st.session_state[MESSAGE] = message
        st.rerun()


def save_rows(save: Callable[..., object], rows: pd.DataFrame) -> None:
    """Save the text and the importance of each nugget as edited in a table."""
    for row in rows.to_dict("records"):
        save(row["nugget"], text=row["text"] or "", importance=row["importance"] or "")


def sources_of(made: MadeNugget) -> str:
    """Return the ids of the source documents of a nugget, separated by commas."""
    return ", ".join(dict.fromkeys(doc_id for doc_id, *_ in made.nugget.sources))


def draw_texts(texts: Iterable[str], name: str) -> None:
    """List the texts of a table below it on a phone, where its cells cut them."""
    with st.container(key=f"phone-only-{name}"):
        st.markdown("\n".join(f"{place}. {widgets.plain(each)}" for place, each in enumerate(texts, start=1)))


def draw_list(
    campaign: Campaign, query_id: str, annotator: str, listed: Sequence[MadeNugget], *, with_makers: bool
) -> None:
    """Draw the nuggets of a topic, with the controls that edit, merge, split, order and delete them."""
    nuggets = campaign.answers.nuggets
    rows = [
        {
            "chosen": False, "importance": each.importance, "text": each.text, "order": float(place),
            "makers": ", ".join(made.makers), "sources": sources_of(made), "version": each.version,
            "nugget": each.nugget,
        }
        for place, made in enumerate(listed, start=1)
        for each in [made.nugget]
    ]  # fmt: skip
    if rows:
        frame = pd.DataFrame(rows)
        # An edit, here or elsewhere, needs a new table: the editor would apply old changes to the new rows.
        state = [(each.nugget, each.version, each.importance, each.position) for each, _ in listed]
        edited = display.data_editor(
            frame,
            hide_index=True,
            placeholder="",
            height=display.height(frame, MOST_HEIGHT),
            disabled=["makers", "sources", "version", "nugget"],
            key=f"nuggets-{query_id}-{hash(tuple(state))}",
            alt="Nuggets of the topic",
            column_config={
                "chosen": CheckboxColumn("Select", width=85),
                "importance": importance_column(),
                "text": TextColumn("Text", width=340, required=True),
                "order": NumberColumn("Order", width=80, help="A number between two others moves the nugget there."),
                "makers": text("Made by", 130) if with_makers else None,
                "sources": text("Sources", 130),
                "version": NumberColumn("Version", width=80, help="Increases when the text changes."),
                "nugget": text("Nugget", 70),
            },
        )
        draw_texts(frame["text"], "nuggets")
        _draw_edits(campaign, query_id, annotator, frame, edited)
    if st.button("Undo", icon=":material/undo:", key="undo-nugget", help="Undo your last edit in this topic"):
        with widgets.shown_errors():
            kind = nuggets.undo(query_id, annotator=annotator)
            nothing = "You have no edit to undo in this topic."
            st.session_state[MESSAGE] = f"{KINDS[kind]} was undone." if kind else nothing
            st.rerun()


def _draw_edits(campaign: Campaign, query_id: str, annotator: str, frame: pd.DataFrame, edited: pd.DataFrame) -> None:
    """Draw the buttons that save edited rows and act on selected rows."""
    nuggets = campaign.answers.nuggets
    edited["importance"] = edited["importance"].fillna("")
    changed = edited[(edited["text"] != frame["text"]) | (edited["importance"] != frame["importance"])]
    is_moved = not edited["order"].equals(frame["order"])
    chosen = edited[edited["chosen"]]
    names = chosen["nugget"].tolist()
    selected = count(len(names), "nugget")

    def save() -> None:
        uuid = str(uuid4())
        with campaign.transaction():
            save_rows(partial(nuggets.change, query_id, annotator=annotator, edit=uuid), changed)
            if is_moved:
                order = edited.sort_values("order", kind="stable", na_position="last")["nugget"].tolist()
                nuggets.arrange(query_id, order, annotator=annotator, edit=uuid)

    def mark(importance: str) -> None:
        uuid = str(uuid4())
        with campaign.transaction():
            for name in names:
                nuggets.change(query_id, name, annotator=annotator, edit=uuid, importance=importance)

    with st.container(horizontal=True):
        if st.button("Save", type="primary", disabled=changed.empty and not is_moved, key="save-nuggets"):
            edit("Saved.", save)
        for importance, shortcut in (("vital", "Alt+V"), ("okay", "Alt+O")):
            label = f"Mark {importance}"
            if st.button(label, key=f"mark-{importance}", disabled=not names, shortcut=shortcut):
                edit(f"{selected} marked {importance}.", partial(mark, importance))
        if st.button("Delete", icon=":material/delete:", key="delete-nuggets", disabled=not names):
            edit(f"{selected} deleted.", lambda: nuggets.delete(query_id, *names, annotator=annotator))
    if not names:
        st.caption("Select two or more nuggets to merge them, or one to split it.")
        return
    key = f"{query_id}-{'-'.join(names)}"
    if len(names) > 1:
        whole = st.text_area("Text of the merged nugget", chosen["text"].iloc[0], height=80, key=f"merge-text-{key}")
        if st.button(f"Merge {selected}", icon=":material/merge:", key="merge-nuggets"):
            edit(f"{selected} merged.", lambda: nuggets.merge(query_id, names, whole, annotator=annotator))
        return
    written = st.text_area("Parts, one in each line", chosen["text"].iloc[0], height=110, key=f"split-text-{key}")
    parts = [line.strip() for line in written.splitlines() if line.strip()]
    # Never disabled: the first click would only end the input of the field, which enables the button.
    if not st.button("Split", icon=":material/call_split:", key="split-nugget"):
        return
    if len(parts) < 2:
        st.warning("Write each part in a line of its own.")
    else:
        edit(
            f"Split into {count(len(parts), 'nugget')}.",
            lambda: nuggets.split(query_id, names[0], parts, annotator=annotator),
        )


def draw_passages(campaign: Campaign, query_id: str, annotator: str, only: str | None) -> None:
    """Draw the marked passages that have no nugget yet; `only` limits them to one annotator."""
    passages = campaign.answers.sources.passages(query_id, only)
    st.subheader("Marked passages")
    if passages.empty:
        st.caption(
            "On the page Judge, select text in a document and press `a` to make a nugget of it, or `p` to mark it as a "
            "passage. Marked passages of relevant documents appear here."
        )
        return
    frame = passages.assign(chosen=False, importance="", nugget=passages["text"].str.split().str.join(" "))
    edited = display.data_editor(
        frame[["chosen", "importance", "nugget", "doc_id", "annotator"]],
        hide_index=True,
        placeholder="",
        height=display.height(frame, MOST_HEIGHT),
        disabled=["doc_id", "annotator"],
        key=f"passages-{query_id}-{hash(tuple(passages[['doc_id', 'start', 'end']].itertuples(index=False)))}",
        alt="Marked passages without a nugget",
        column_config={
            "chosen": CheckboxColumn("Select", width=85),
            "importance": importance_column(),
            "nugget": TextColumn("Text", width=400, help="Reduce the passage to one piece of information."),
            "doc_id": text("Document", 130),
            "annotator": text("Marked by", 130) if only is None else None,
        },
    )
    draw_texts(frame["nugget"], "passages")
    chosen = edited[edited["chosen"]]

    def make() -> None:
        uuid = str(uuid4())
        places = passages.loc[chosen.index, ["doc_id", "start", "end"]].itertuples(index=False)
        with campaign.transaction():
            for row, (doc_id, start, end) in zip(chosen.to_dict("records"), places, strict=True):
                campaign.answers.nuggets.add(
                    query_id, row["nugget"] or "", annotator=annotator, importance=row["importance"] or "",
                    sources=[(doc_id, start, end)], edit=uuid,
                )  # fmt: skip

    made = count(len(chosen), "nugget")
    if st.button(f"Make {made}" if len(chosen) else "Make nuggets", key="make-nuggets", disabled=chosen.empty):
        edit(f"{made} made.", make)


def draw_new(campaign: Campaign, query_id: str, annotator: str, only: str | None) -> None:
    """Draw the form for a nugget in the annotator's own words, whose source is a relevant document or none."""
    relevant = campaign.answers.sources.relevant(query_id, only)["doc_id"].drop_duplicates().tolist()
    titles = campaign.store.corpus.titles(set(relevant))
    labels = {None: "None"} | {each: without_bidi(f"{each}: {titles[each]}") for each in relevant}
    with st.expander("Add a nugget in your own words"), st.form("new-nugget", border=False, clear_on_submit=True):
        words = st.text_area("Text", height=80, key="new-nugget-text")
        importance = st.radio(
            "Importance", list(IMPORTANCES), format_func=IMPORTANCES.__getitem__, horizontal=True, key="new-importance"
        )
        source = st.selectbox("Source", list(labels), format_func=labels.__getitem__, key="new-source")
        if st.form_submit_button("Add nugget"):
            sources = [] if source is None else [(source, None, None)]
            edit(
                "Nugget added.",
                lambda: campaign.answers.nuggets.add(
                    query_id, words, annotator=annotator, importance=importance, sources=sources
                ),
            )


def draw_people(campaign: Campaign, query_id: str) -> None:
    """Draw how many nuggets several people share, and the recall of the documents that each judged relevant."""
    people = campaign.answers.sources.people(query_id)
    if people.empty:
        return
    st.subheader("Agreement")
    display.table(
        people,
        {
            "annotator": text("Annotator"),
            "made": NumberColumn("Nuggets made"),
            "listed": NumberColumn("In the list", help="Nuggets in the list that the person made or helped to make."),
            "shared": NumberColumn("Shared", help="Of those in the list, nuggets merged with nuggets of others."),
            "documents": NumberColumn("Relevant documents"),
            "found": NumberColumn("Nuggets in these documents"),
            "recall": ProgressColumn(
                "Recall",
                format="percent",
                min_value=0,
                max_value=1,
                help="Share of the nuggets with a source that these documents contain.",
            ),
        },
        alt="Nuggets of each annotator",
    )


def draw_reading(campaign: Campaign, query_id: str) -> None:
    """Draw the nuggets found against the documents read, as a chart and a table."""
    curve = campaign.answers.sources.read(query_id)
    if len(curve) < 2:
        return
    st.subheader("Nuggets by documents read")
    axis = alt.Axis(tickMinStep=1)
    line = alt.Chart(curve).mark_line(interpolate="step-after", strokeWidth=2, color=BLUE)
    chart = line.encode(
        x=alt.X("documents:Q", title="Documents read", scale=alt.Scale(nice=False), axis=axis),
        y=alt.Y("recall:Q", title="Recall of nuggets", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        tooltip=tooltips(curve, documents="Documents read", nuggets="Nuggets found", recall=("Recall", ".1%")),
    )
    downloads.downloadable_chart(
        chart.properties(height=260),
        "nuggets-read",
        "Share of the nuggets with a source that the documents read so far contain, in the order of their first "
        "judgement. A curve that is still rising suggests that further documents have further nuggets.",
        alt="Recall of nuggets by documents read",
    )
    with st.expander("Table"):
        display.table(
            curve[["documents", "nuggets", "recall"]],
            {
                "documents": NumberColumn("Documents read"),
                "nuggets": NumberColumn("Nuggets found"),
                "recall": NumberColumn("Recall", format="percent"),
            },
            alt="Nuggets found by documents read",
        )
        downloads.offer_results({"nuggets-read.tsv": ("Nuggets by documents read (TSV)", partial(to_tsv, curve))})


def draw_task(campaign: Campaign) -> None:
    """Draw how many nugget assignments the task lacks, and the button that adds them."""
    waiting = campaign.answers.tasks.waiting()
    st.subheader("Nugget assignment")
    if not waiting.new:
        st.write("The task of nugget assignment has all current nuggets.")
        return
    again = f"; {waiting.again:,} of them replace those of an earlier version of the nugget" if waiting.again else ""
    st.write(f"{count(waiting.new, 'nugget assignment')} to add to the task, over all topics{again}.")
    if st.button("Update nugget assignment", icon=":material/sync:", key="prepare-nuggets"):
        with widgets.shown_errors(), st.spinner("Updating the task ..."):
            st.session_state[MESSAGE] = str(campaign.answers.tasks.prepare(NUGGET_ASSIGNMENT))
            st.rerun()
