"""Judging page: the task of annotators, and how documents are shown."""

import streamlit as st

from annotate.auth import session
from annotate.views.campaign import question_editor
from annotate.views.widgets import pickers, widgets
from collection.campaign.corpus.document_view import excerpts_of
from collection.campaign.settings.judging_settings import FORMS, TASKS
from collection.core.characters import without_bidi
from collection.core.phrases import count

campaign, words = session.current().campaign, widgets.words()
settings = campaign.settings.judging_page()
LONG = {
    "whole": ("In full", "Annotators see the whole text."),
    "passages": (
        "Matching passages first",
        "Annotators see the passages that match the topic, and open the rest with one key.",
    ),
}
MOST = 200  # pooled pairs to choose a preview from


def number(label: str, name: str, least: int, most: int, help: str | None = None) -> int:
    return int(st.number_input(label, least, most, getattr(settings, name), key=name, help=help))


st.title("Judging page")
description = TASKS[settings.task][1]
is_fixed = campaign.settings.task() is not None  # people grade generated answers, in neither lists nor preferences
if is_fixed:
    st.write("Changes appear when annotators next open or reload the page.")
else:
    st.write(
        f"Annotators {description[0].lower()}{description[1:]} Changes appear when they next open or reload the page."
    )
    widgets.documentation_link("how-to/lists-and-preferences", "Grades, lists or preferences?")
wanted: dict[str, object] = {}
with st.form("card", enter_to_submit=False):
    left, right = st.columns(2, gap="large")
    with left:
        if not is_fixed:
            wanted["task"] = pickers.pick_described("Task", TASKS, settings.task, "task")
            with st.container(horizontal=True):
                hint = "For lists: the first documents of the topic's pool."
                wanted["list_size"] = number("Documents per list", "list_size", 2, 50, hint)
                wanted["most_chosen"] = number("Maximum choices per list", "most_chosen", 1, 50, "For lists.")
                hint = "For preferences: the first documents of the topic's pool."
                wanted["preference_size"] = number("Documents to compare per topic", "preference_size", 2, 100, hint)
        wanted["rest_after"] = number("Suggest a break after (minutes, 0 = never)", "rest_after", 0, 1440)
        hint = "Marked passages are stored with the judgement and exported with their text."
        wanted["marking"] = st.checkbox("Let annotators mark passages", settings.marking, "marking", hint)
        hint = words.apply("Only documents that the same annotator judged are compared.")
        label = words.apply("Point out near-duplicates of judged documents")
        wanted["near"] = st.checkbox(label, settings.near, "near", hint)
        names = ["", *(label_set.name for label_set in campaign.store.machine_labels.sets())]
        wanted["show_labels"] = st.selectbox(
            "Machine labels shown to annotators",
            names,
            names.index(settings.show_labels),
            format_func=lambda name: without_bidi(name) or "None",
            key="show_labels",
            help="For grades. Judgements given after seeing a label are marked in the exported log, and excluded when "
            "these labels are compared with people.",
        )
    with right:
        wanted["form"] = pickers.pick_described("Text format", FORMS, settings.form, "form")
        st.caption("Set the format before annotators mark passages: the positions of passages depend on it.")
        wanted["long"] = pickers.pick_described("Long documents", LONG, settings.long, "long")
        wanted["long_from"] = number("Minimum length of a long document (characters)", "long_from", 200, 10_000_000)
        hosts = st.text_area(
            "Hosts whose images are shown",
            "\n".join(settings.image_hosts),
            key="image_hosts",
            placeholder="images.example.org",
            height=90,
            help="One host per line. Other images are links: loading an image reveals the annotator to its host.",
        )
        wanted["image_hosts"] = tuple(hosts.replace(",", " ").split())
    save = st.form_submit_button("Save", type="primary", key="save")

if save:
    changes = {name: value for name, value in wanted.items() if value != getattr(settings, name)}
    campaign.settings.set_judging_page(**changes)
    st.toast("Saved." if changes else "No changes.")
    if changes:
        st.rerun()

if settings.task == "grades":
    question_editor.draw(lambda label: st.file_uploader(label, ["json"], key="questions-upload"))
st.subheader("Preview")
pairs = campaign.store.pool.with_text(MOST)
if pairs.empty:
    st.write(words.apply("The pool is empty, so there is no document to preview."))
    widgets.page_link("pool", "Choose the pool")
    st.stop()
titles = campaign.store.corpus.topics().set_index("query_id")["title"]
labels = [
    f"{doc_id}, for {words.topic} {q}: {titles[q]}"
    for q, doc_id in zip(pairs["query_id"], pairs["doc_id"], strict=True)
]
row = st.selectbox(
    words.apply("Document in the pool"), range(len(pairs)), format_func=lambda n: without_bidi(labels[n]), key="pair"
)
document = campaign.corpus.document(pairs["doc_id"][row])
if document is not None:
    widgets.document(document)
    view = campaign.corpus.view
    passages = excerpts_of(view.shown(document, settings), view.topic_terms(pairs["query_id"][row]), settings)
    if passages is not None:
        st.caption(f"Annotators first see {count(len(passages), 'passage')} of this long document:")
        for _, _, passage in passages:
            with st.container(border=True):
                st.text(without_bidi(passage))
