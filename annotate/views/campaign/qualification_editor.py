"""The qualification set, which every annotator judges first, and the progress of each annotator."""

from collections.abc import Iterable, Mapping

import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.views.widgets import display, pickers, widgets
from annotate.views.widgets.display import number
from collection.core.phrases import count, plural


def draw(titles: Mapping[str, str]) -> None:
    """Draw the state of the qualification set and its editor; `titles` are those of all topics."""
    campaign, words = session.current().campaign, widgets.words()
    pairs = campaign.store.assignments.qualification_set()
    with_grade = int(pairs["settled"].notna().sum())
    empty = "" if len(pairs) else " It has no pairs yet."
    st.write(f"Every annotator judges the qualification set first, so that their grades can be compared.{empty}")
    if len(pairs):
        known = f"{with_grade:,} of {count(len(pairs), 'pair')} {plural(with_grade, 'has', 'have')} a reference grade"
        st.write(f"{known}: the adjudicated grade, or else the grade of imported qrels.")
    if len(pairs) > with_grade:
        widgets.page_link("adjudicate", "Adjudicate the others")
    if len(pairs):
        results = campaign.people.qualification_set.results()
        hint = "Share of the annotator's grades that equal the reference grade."
        display.table(
            results.assign(finished=results["judged"] >= results["of"]),
            {
                "annotator": "Annotator",
                "judged": "Pairs judged",
                "of": "Pairs in the set",
                "finished": CheckboxColumn("Finished"),
                "agree": number("Agreement with reference", "percent", help=hint),
            },
            placeholder="–",
            alt="Progress of each annotator in the qualification set",
        )
    is_on = campaign.settings.assignment().feedback
    label = "Show annotators the reference grade after each pair"
    feedback = st.toggle(label, is_on, key="feedback", disabled=not with_grade and not is_on)
    if not with_grade:
        st.caption("No qualification pair has a reference grade yet.")
    if feedback != is_on:
        with widgets.saving("Reference grades are shown." if feedback else "Reference grades are hidden."):
            campaign.people.assignments.update(feedback=feedback)
    st.subheader("Qualification set")
    saved = _lines(pairs[["query_id", "doc_id"]].itertuples(index=False, name=None))
    st.session_state.setdefault("pairs", saved)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        each = st.number_input(words.apply("Pairs per topic"), 1, None, 2, key="per-topic", width=160)
        topics = pickers.pick_topics(words.apply("Topics"), titles, "drawn-topics", none=words.apply("All topics"))
        is_drawing = st.button("Draw random sample", key="draw")
    if is_drawing:  # fills the field below; nothing is saved yet
        with widgets.shown_errors():
            st.session_state["pairs"] = _lines(campaign.people.qualification_set.draw(each, topics or None))
    label = words.apply("Topic and document, one pair per line")
    text = st.text_area(label, key="pairs", height=220, placeholder="51 doc-17")
    changed = text.split() != saved.split()
    if st.button("Save pairs", disabled=not changed, key="save-pairs"):
        _save(text)


def _lines(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{query_id} {doc_id}" for query_id, doc_id in pairs)


def _save(text: str) -> None:
    pairs = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    if odd := next((pair for pair in pairs if len(pair) != 2), None):
        expected = widgets.words().apply("Expected a topic and a document on each line")
        st.error(f"{expected}, found only {widgets.plain(odd[0])}.")
        return
    with widgets.saving(f"Saved {count(len(pairs), 'pair')}." if pairs else "Removed the qualification set."):
        session.current().campaign.people.qualification_set.set_pairs(
            [(query_id, doc_id.strip()) for query_id, doc_id in pairs]
        )
        del st.session_state["pairs"]  # the field shows what was saved
