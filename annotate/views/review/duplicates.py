"""Duplicates: pairs of possible duplicates side by side, decisions on them, and the certain duplicates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import widgets
from annotate.views.widgets.widgets import plain
from collection.campaign import Campaign
from collection.core.phrases import count, join, plural
from collection.core.records import Document

now = session.current()
campaign = now.campaign
LATER, SHOWN = "duplicates-later", "duplicates-shown"  # session keys: pairs moved to the end, first row of a list
LISTED = 20  # rows of a list that are shown
LABELS = {
    "title": "Title", "authors": "Authors", "year": "Year", "journal": "Journal", "pages": "Pages", "doi": "DOI",
    "pmid": "PMID", "language": "Language", "abstract": "Abstract",
}  # fmt: skip


def texts(document: Document) -> dict[str, str]:
    """The fields of a record by which people compare publications."""
    values = {**document.metadata, "title": document.title, "abstract": document.text or ""}
    return {
        name: "; ".join(map(str, value)) if isinstance(value := values.get(name, ""), list) else str(value)
        for name in LABELS
    }


def marked(text: str, other: str) -> str:
    """A text as Markdown, with marks on the words in which it differs from the other text."""
    words, others = text.split(), other.split()
    parts = []
    for kind, begin, end, _, _ in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if part := plain(" ".join(words[begin:end])):
            parts.append(part if kind == "equal" or not other else f":orange-background[{part}]")
    return " ".join(parts) or "*none*"


def draw_pair(documents: Sequence[Document], names: tuple[str, str] = ("record 1", "record 2")) -> None:
    """Draw two records field by field; on a phone, where one is below the other, the names tell them apart."""
    fields = [texts(document) for document in documents]
    for field, label in LABELS.items():
        left, right = (each[field] for each in fields)
        if not (left or right):
            continue
        is_same = left.casefold() == right.casefold()
        columns = st.columns(2, gap="medium")
        for column, name, text, other in zip(columns, names, (left, right), (right, left), strict=True):
            mark = "" if is_same or not (left and right) else " :orange-badge[differs]"
            column.markdown(f"**{label}** ({name}){mark}  \n{plain(text) if is_same else marked(text, other)}")
    columns = st.columns(2, gap="medium")
    for column, name, document in zip(columns, names, documents, strict=True):
        sources = dict.fromkeys(source for source, _, _ in campaign.records.fields(document.doc_id))
        if sources:
            column.caption(plain(f"{name.capitalize()}: from {join(list(sources))}"))


def draw_open() -> None:
    """Draw the next pair without a decision, and the buttons that decide it."""
    pairs = campaign.records.pairs()
    if pairs.empty:
        st.write("No pairs to decide. Possible duplicates appear here after an import.")
        return
    later: list[int] = st.session_state.setdefault(LATER, [])
    order = {pair: place for place, pair in enumerate(later, start=1)}
    row = min(pairs.to_dict("records"), key=lambda each: order.get(each["pair"], 0))
    pair = int(row["pair"])
    documents = campaign.store.corpus.documents([row["doc_a"], row["doc_b"]])
    st.write(f"{count(len(pairs), 'pair')} to decide. Are these records of the same publication?")
    st.caption(plain(f"Match: {row['reason']}. If you merge them, record 1 stays, or the one that has been screened."))
    with st.container(horizontal=True):
        if st.button("Same", key="same", type="primary", shortcut="s", icon=":material/merge:"):
            with widgets.saving("Merged. Undo it under Decided."):
                campaign.records.decide(pair, "duplicate", now.annotator)
        if st.button("Different", key="different", shortcut="d", icon=":material/call_split:"):
            with widgets.saving("Kept both."):
                campaign.records.decide(pair, "distinct", now.annotator)
        if st.button("Later", key="later", shortcut="l", icon=":material/schedule:"):
            st.session_state[LATER] = [each for each in later if each != pair] + [pair]
            st.rerun()
    draw_pair([documents[row["doc_a"]], documents[row["doc_b"]]])


def slice_of(rows: int, key: str) -> range:
    """The rows of a long list that are shown, with buttons for the others."""
    pages = max(math.ceil(rows / LISTED), 1)
    page = min(st.session_state.get(key, 0), pages - 1)
    if pages > 1:
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Previous", key=f"{key}-previous", disabled=page == 0):
                st.session_state[key] = page - 1
                st.rerun()
            st.caption(f"{page * LISTED + 1:,}-{min((page + 1) * LISTED, rows):,} of {rows:,}")
            if st.button("Next", key=f"{key}-next", disabled=page == pages - 1):
                st.session_state[key] = page + 1
                st.rerun()
    return range(page * LISTED, min((page + 1) * LISTED, rows))


def draw_decided() -> None:
    """Draw the decisions, the latest first, each with a button that takes it back."""
    decided = campaign.records.pairs(open=False)
    if decided.empty:
        st.write("No decisions yet.")
        return
    part = decided.iloc[list(slice_of(len(decided), f"{SHOWN}-decided"))]
    titles = campaign.store.corpus.titles([*part["doc_a"], *part["doc_b"]])
    for row in part.to_dict("records"):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            both = dict.fromkeys(filter(None, (titles.get(row["doc_a"]), titles.get(row["doc_b"]))))
            what = "Same" if row["decision"] == "duplicate" else "Different"
            named = " / ".join(both) or row["doc_a"]  # a merged record has lost its title
            st.markdown(f"**{what}** ({plain(str(row['decided_by']))}): {plain(named)}")
            if st.button("Undo", key=f"undo-{row['pair']}"):
                with widgets.saving("The pair is open again."):
                    campaign.records.undo(int(row["pair"]), now.annotator)


def draw_recognised(sources: Mapping[int, str]) -> None:
    """Draw each certain duplicate beside the record that was kept, with a button that separates it."""
    table = campaign.records.table()
    certain = table[table["reason"].notna() & (table["reason"] != "decided")].reset_index(drop=True)
    if certain.empty:
        st.write("No record was recognised as a certain duplicate.")
        return
    for place in slice_of(len(certain), f"{SHOWN}-certain"):
        row = certain.iloc[place]
        documents = campaign.store.corpus.documents([row["doc_id"]])
        other = campaign.records.document(int(row["record"]))
        where = f"{sources.get(int(row['source']), '')}, {row['reason']}"
        with st.expander(plain(f"{other.title or row['doc_id']} ({where})"), key=f"certain-{row['record']}"):
            draw_pair([documents[row["doc_id"]], other], ("kept", "removed"))
            if st.button("Separate", key=f"separate-{row['record']}", icon=":material/call_split:"):
                with widgets.saving("Both records are in the review now."):
                    campaign.records.split(int(row["record"]), now.annotator)


def draw(review: Campaign) -> None:
    """Draw the numbers and the three lists."""
    counts, sources = review.records.counts(), review.records.sources()
    if not counts.records:
        st.write("Duplicates are found when files with records are imported.")
        widgets.page_link("set-up")
        return
    removed = f"{count(counts.duplicates, 'duplicate')} {plural(counts.duplicates, 'was', 'were')} removed"
    by_decision = f", {counts.decided:,} of them by decision" if counts.decided else ""
    st.write(
        f"{count(counts.records, 'record')} from {count(len(sources), 'file')}: {removed}{by_decision}; "
        f"{count(counts.documents, 'record')} left to screen."
    )
    decided = len(review.records.pairs(open=False))
    labels = [
        f"To decide ({counts.open_pairs:,})", f"Decided ({decided:,})", f"Certain ({counts.recognised:,})",
    ]  # fmt: skip
    picked = st.segmented_control(
        "List", range(3), format_func=labels.__getitem__, default=0, key="duplicates-list",
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    if picked == 1:
        draw_decided()
    elif picked == 2:
        draw_recognised(dict(zip(sources["source"], sources["name"], strict=True)))
    else:
        draw_open()


st.title("Duplicates")
draw(campaign)
