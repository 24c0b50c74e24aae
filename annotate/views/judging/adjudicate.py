"""Adjudicate: the card with the pairs on which annotators disagree."""

from functools import partial
from uuid import uuid4

import streamlit as st

from annotate.auth import session
from annotate.card.server.card import ADJUDICATION, CardData, grade_buttons, mount, question_data
from annotate.card.server.unit_wire import PairFilter
from annotate.views.judging import answers as answer_fields
from annotate.views.widgets import display, pickers, widgets
from annotate.views.widgets.display import text, timestamp
from annotate.views.widgets.service_cache import cached
from collection.adjudication import filter_queue
from collection.core.characters import without_bidi
from collection.core.phrases import count, plural
from collection.core.questions import RELEVANCE
from collection.core.review import MARKS

now = session.current()
campaign, scale = now.campaign, now.campaign.settings.grades
PAIR, LISTED, PICKED = (f"adjudicate-{name}" for name in ("pair", "listed", "picked"))
picked = st.session_state.get(PICKED, "")
questions = campaign.settings.questions()
words, is_review = campaign.settings.vocabulary, campaign.settings.review() is not None

WIDE = 700  # pixels of a table in a popover, at most
WHY = {"disagreement": "Disagreements", "qualification": "Qualification pairs without a reference grade"}


def pick(table: str) -> None:
    """Show the pair of the selected row, also when its row moves."""
    rows = st.session_state[table]["selection"]["rows"]
    if rows:
        st.session_state[PICKED] = str(uuid4())  # so that the open card sees a new choice
        st.session_state[PAIR] = st.session_state[LISTED][rows[0]]


def name_decisions(grades: str) -> str:
    """Name the decisions of a review, such as "0 2"."""
    return ", ".join("?" if grade == "?" else scale.label(int(grade)) for grade in grades.split())


queue = cached(
    campaign.judging.adjudication.queue, campaign.judging.adjudication.cache_key(), "Finding disagreements", 4
)
everything = queue(ended=True)
waiting = int(everything["held_back"].sum())
everything = everything[~everything["held_back"]].reset_index(drop=True)
lack = plural(waiting, "lacks its document text", "lack their document texts")
lacking = f"{count(waiting, 'pair')} {lack}: import the text to adjudicate {plural(waiting, 'it', 'them')}."
for_texts = words.apply(lacking)

if everything.empty:
    st.title(widgets.page_title("adjudicate"))
    if waiting:
        st.write(for_texts)
        widgets.page_link("import")
        st.stop()
    several = campaign.results.agreement.disagreements().pairs
    if several:
        agree = f"Nothing to adjudicate: annotators agree on {count(several, 'pair')} with two or more judgements."
        st.write(words.apply(agree))
    else:
        st.write(words.apply("Nothing to adjudicate yet: no pair has judgements by two or more annotators."))
        if is_review:
            widgets.page_link("set-up", "Choose two screeners")
        else:
            widgets.page_link("assign", "Set the overlap")
        widgets.next_step(widgets.find_next_step())
    st.stop()

titles = campaign.store.corpus.topics().set_index("query_id")["title"]
above = st.container(horizontal=True, vertical_alignment="center", gap="small", key="above-card")
above.title(widgets.page_title("adjudicate"), width="stretch")

with above.popover("Filter", icon=":material/filter_list:"):
    reasons = sorted(everything["why"].unique(), reverse=True)
    why = st.selectbox(words.apply("Pairs"), ["", *reasons], format_func=lambda w: WHY.get(w, "All"), key="why")
    known = set(everything["query_id"])
    topics = {q: widgets.topic_label(q, titles[q]) for q in titles.index if q in known}
    all_topics = words.apply("All topics")
    topic = st.selectbox(
        words.apply("Topic"), ["", *topics], format_func=lambda q: topics.get(q, all_topics), key="topic"
    )
    distances = {-1: "Any"} | {d: str(d) for d in sorted(map(int, everything["distance"].unique()), reverse=True)}
    same = "0: same grade, or “cannot judge”" if questions else "0: a grade and “cannot judge”"
    distances |= {0: same} if 0 in distances else {}
    distance = -1
    if not is_review:
        distance = pickers.pick("Difference between highest and lowest grade", distances, -1, "distance")
    annotators = sorted({name for names in everything["names"] for name in names})
    people = st.multiselect(words.apply("Judged by (all of)"), annotators, format_func=without_bidi, key="people")
    apart = None if distance < 0 else distance
    conditions = PairFilter(why=why or None, query_id=topic or None, distance=apart, names=people)
    if questions and not is_review:
        differing = {RELEVANCE: "Grade"} | {question.name: question.name for question in questions}
        label = "Annotators differ on"
        about = st.selectbox(label, ["", *differing], format_func=lambda q: differing.get(q, "Anything"), key="about")
        conditions |= {"question": about or None}

with above.popover("Queue", icon=":material/list:", on_change="rerun", key="queue-open") as listed:
    if listed.open:
        left = filter_queue(everything[~everything["ended"]], **conditions)
        st.session_state[LISTED] = list(zip(left["query_id"], left["doc_id"], strict=True))
        columns = {"query_id": "Topic", "grades": "Grades", "distance": "Grade difference", "doc_id": "Document"}
        if is_review:
            left["stage"] = [topics[q] for q in left["query_id"]]
            left["grades"] = left["grades"].map(name_decisions)
            names = campaign.store.corpus.titles(left["doc_id"])
            left["title"] = [names.get(doc_id, "") for doc_id in left["doc_id"]]
            left["doc_id"] = left["doc_id"].map(widgets.record_id)
            columns = {"stage": "Stage", "grades": "Decisions", "title": "Title", "doc_id": "Record"}
        if questions and not is_review:
            left["differs"] = [", ".join(differing.get(name, name) for name in names) for names in left["differs"]]
            columns["differs"] = "Questions that differ"
        key = f"queue-{picked}"  # a new table has no row selected
        display.table(left, columns, on_select=partial(pick, key), selection_mode="single-row", key=key, width=WIDE)
        st.caption(words.apply('Select a row to show the pair. "?" means "cannot judge".'))

with above.popover("Done", icon=":material/done_all:", on_change="rerun", key="done-open") as done:
    if done.open:
        ended = campaign.log.adjudications(without=MARKS if is_review else ())[::-1]
        if is_review:
            ended["query_id"] = [widgets.topic_label(q, titles[q]) for q in ended["query_id"]]
            names = campaign.store.corpus.titles(ended["doc_id"])
            ended["doc_id"] = [names.get(doc_id) or doc_id for doc_id in ended["doc_id"]]
        if ended.empty:
            st.caption(words.apply("No pair is adjudicated yet."))
        else:
            ended = ended.assign(grade=widgets.grade_names(scale, ended), note=ended["note"].fillna(""))
            display.table(
                answer_fields.with_words(ended, questions),
                {
                    "query_id": words.apply("Topic"),
                    "doc_id": words.apply("Document"),
                    "grade": words.apply("Grade"),
                    "answers": text("Answers", "medium"),
                    "annotator": words.apply("Adjudicator"),
                    "note": text("Note", "medium"),
                    "judged_at": timestamp(words.apply("Adjudicated (UTC)")),
                },
                width=WIDE,
            )
            undo = "Newest first. *Undo* takes back your last adjudication; \N{LEFTWARDS ARROW} shows earlier ones."
            st.caption(words.apply(undo))

if waiting:
    st.caption(for_texts)
pair = st.session_state.get(PAIR)
data = CardData(
    scale=grade_buttons(scale),
    questions=question_data(questions),
    query_id=None,
    card={},
    filter=conditions,
    pair=pair,
    picked=picked,
)
mount(data, ADJUDICATION, "adjudicate")
