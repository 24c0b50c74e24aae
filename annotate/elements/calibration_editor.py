"""The pairs that every annotator judges first, and the progress of each annotator with them."""

from collections.abc import Iterable, Mapping

import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.elements import display, pickers, widgets
from annotate.elements.columns import number


def draw(titles: Mapping[str, str]) -> None:
    """Draw the state of the calibration set and its editor; `titles` are those of all topics."""
    campaign = session.current().campaign
    pairs = campaign.calibration.pairs()
    with_grade = int(pairs["settled"].notna().sum())
    st.write(
        "Pairs that every annotator judges before anything else. Their judgements show whether all read the grades "
        "alike. All of them count, whoever the topic is assigned to."
    )
    widgets.metrics({"Pairs": len(pairs), "Settled": with_grade})
    st.caption(
        "The settled grade of a pair is that of its adjudication (the Adjudicate page lists these pairs behind the "
        "disagreements), or else that of imported qrels. A pair without one is judged by all, and "
        "nobody is told anything."
    )
    if len(pairs) > with_grade:
        widgets.page_link("adjudicate.py")
    if len(pairs):
        results = campaign.calibration.results()
        display.table(
            results.assign(finished=results["judged"] >= results["of"]),
            {
                "annotator": "Annotator",
                "judged": "Judged",
                "of": "Of",
                "finished": CheckboxColumn("Finished"),
                "agree": number("Grade as settled", "percent", help="Of the settled pairs that they have graded."),
            },
            placeholder="–",
            alt="How far each annotator is with the calibration set",
        )
    is_on = campaign.settings.assignment().feedback
    label = "After each of these pairs, show the annotator the settled grade"
    feedback = st.toggle(label, is_on, key="feedback", disabled=not with_grade and not is_on)
    if not with_grade:
        st.caption("No pair is settled: there is nothing to show yet.")
    if feedback != is_on:
        with widgets.saving("Settled grades are shown." if feedback else "Settled grades are not shown."):
            campaign.assignments.update(feedback=feedback)
    st.subheader("The pairs")
    saved = _lines(pairs[["query_id", "doc_id"]].itertuples(index=False, name=None))
    st.session_state.setdefault("pairs", saved)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        each = st.number_input("Pairs of each topic", 1, None, 2, key="per-topic", width=160)
        topics = pickers.pick_topics("Topics", titles, "drawn-topics", none="All topics")
        is_drawing = st.button("Draw at random", key="draw")
    if is_drawing:  # into the field, which comes below; nothing is saved yet
        with widgets.shown_errors():
            st.session_state["pairs"] = _lines(campaign.calibration.draw(each, topics or None))
    text = st.text_area("One pair a line: topic and document", key="pairs", height=220, placeholder="51 doc-17")
    changed = text.split() != saved.split()
    if st.button("Save the pairs" if changed else "Pairs are saved", disabled=not changed, key="save-pairs"):
        _save(text)


def _lines(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{query_id} {doc_id}" for query_id, doc_id in pairs)


def _save(text: str) -> None:
    pairs = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    if odd := next((pair for pair in pairs if len(pair) != 2), None):
        st.error(f"Wanted a topic and a document in each line, found {widgets.plain(odd[0])} alone.")
        return
    with widgets.saving(f"{len(pairs):,} pairs saved." if pairs else "There is no calibration set any more."):
        session.current().campaign.calibration.set_pairs([(query_id, doc_id.strip()) for query_id, doc_id in pairs])
        del st.session_state["pairs"]  # the field shows what was saved
