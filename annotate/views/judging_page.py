"""Judging page: the task of annotators, and the presentation of documents."""

import streamlit as st

from annotate.auth import session
from annotate.elements import pickers, widgets
from collection.campaign.document_view import excerpts_of
from collection.campaign.judging_settings import FORMS, TASKS
from collection.characters import without_bidi

campaign = session.current().campaign
settings = campaign.settings.judging_page()
LONG = {
    "whole": ("Whole", "Nothing is left to chance."),
    "passages": (
        "Folded to the passages that match their topic",
        "The rest is one key away. Excerpts find more relevant documents in an hour of judging.",
    ),
}
MOST = 200  # pairs of the pool that can be previewed


def number(label: str, name: str, least: int, most: int, help: str | None = None) -> int:
    return int(st.number_input(label, least, most, getattr(settings, name), key=name, help=help))


st.title("Judging page")
st.write(
    "What annotators are asked, and how documents are shown to them. Cards that are open take a change over when their "
    "page is loaded again."
)
wanted: dict[str, object] = {}
with st.form("card", enter_to_submit=False):
    left, right = st.columns(2, gap="large")
    with left:
        wanted["task"] = pickers.pick_described("What annotators are asked", TASKS, settings.task, "task")
        with st.container(horizontal=True):
            wanted["list_size"] = number("Documents of a list", "list_size", 2, 50, "The first of the topic's pool.")
            wanted["most_chosen"] = number("Chosen at most", "most_chosen", 1, 50)
            wanted["preference_size"] = number(
                "Documents to compare", "preference_size", 2, 100, "For preferences: the first of the topic's pool."
            )
        wanted["rest_after"] = number("Minutes without a break after which the card says so", "rest_after", 0, 1440)
        st.caption("0: it never does.")
        wanted["marking"] = st.checkbox("Annotators can mark passages", settings.marking, key="marking")
        st.caption("What they mark is kept with the judgement, and exported with its words.")
        wanted["near"] = st.checkbox("Near-duplicates of what one has judged say so", settings.near, key="near")
        st.caption("Each annotator hears only of their own judgements.")
    with right:
        wanted["form"] = pickers.pick_described("How texts are read", FORMS, settings.form, "form")
        st.caption("Passages that were marked count characters of the text as it is shown: choose before they are.")
        wanted["long"] = pickers.pick_described("Long documents", LONG, settings.long, "long")
        wanted["long_from"] = number("Characters from which on a document is long", "long_from", 200, 10_000_000)
        hosts = st.text_area(
            "Hosts of linked images that are shown",
            "\n".join(settings.image_hosts),
            key="image_hosts",
            placeholder="images.example.org",
            height=90,
            help="One a line. Files that were imported with the documents are always shown.",
        )
        st.caption("Images elsewhere are links: a browser that shows one tells its host who reads.")
        wanted["image_hosts"] = tuple(hosts.replace(",", " ").split())
    save = st.form_submit_button("Save", type="primary", key="save")

if save:
    changes = {name: value for name, value in wanted.items() if value != getattr(settings, name)}
    campaign.settings.set_judging_page(**changes)
    st.toast("Saved." if changes else "Nothing has changed.")
    if changes:
        st.rerun()

st.subheader("As annotators see it")
pairs = campaign.document_view.first_of_pool(MOST)
if pairs.empty:
    st.write("Once there is a pool, a document of it can be looked at here.")
    st.stop()
titles = campaign.corpus.topics().set_index("query_id")["title"]
labels = [f"{doc_id}, for topic {q}: {titles[q]}" for q, doc_id in zip(pairs["query_id"], pairs["doc_id"], strict=True)]
row = st.selectbox(
    "A document of the pool", range(len(pairs)), format_func=lambda n: without_bidi(labels[n]), key="pair"
)
document = campaign.corpus.document(pairs["doc_id"][row])
if document is not None:
    widgets.document(document)
    view = campaign.document_view
    passages = excerpts_of(view.shown(document, settings), view.terms_of(pairs["query_id"][row]), settings)
    if passages is not None:
        st.caption(f"It is long. At first these {len(passages)} passages of it are shown:")
        for _, _, words in passages:
            with st.container(border=True):
                st.text(without_bidi(words))
