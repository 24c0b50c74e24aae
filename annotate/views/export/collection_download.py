"""The download of a whole collection on the Export page, with its card and its options."""

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import downloads, widgets
from collection.adjudication import parse_rule
from collection.campaign import Campaign
from collection.campaign.exports.collection_card import CORPORA, CollectionChoices
from collection.core.errors import CleverdonError
from collection.core.phrases import count
from collection.documents.rendering.markup import to_html
from collection.export import card
from collection.formats import QUERY_TEXTS, write_zip

LARGEST = 200_000_000  # bytes of documents up to which a collection is packed for a browser
FIELDS = {"description": "Description", "licence": "Licence", "citation": "Citation", "url": "URL"}


def draw(rule: str, topics: Sequence[str] | None) -> None:
    """Draw the section; `rule` makes the qrels, of these topics or all."""
    now = session.current()
    campaign = now.campaign
    answer = st.container()
    st.caption(
        "The archive has documents, topics and qrels in BEIR and TREC formats, a script for ir_datasets, the logs, and "
        "a card that describes how the collection was built. Under *Options*, add runs and select documents."
    )
    widgets.documentation_link("how-to/publish-a-collection", "How to publish a collection")
    if now.role == "manager":
        _describe()
    with st.expander("Options"):
        left, right = st.columns(2)
        corpus = left.selectbox("Documents", CORPORA, format_func=lambda c: f"{c}: {CORPORA[c]}", key="corpus")
        query_texts = {text: text.replace("-", " and ") for text in QUERY_TEXTS}
        query_text = right.selectbox(
            "Text of the queries", query_texts, key="query-text", format_func=query_texts.__getitem__
        )
        hint = "Identifier in ir_datasets: lower-case letters, digits, '-', '_' and '.', separated by '/'."
        name = left.text_input("Name", key="collection-name", placeholder="Default: from the title", help=hint)
        with right:
            with_runs = st.toggle("Include runs", key="with-runs")
            hint = "If off, annotators are called a1, a2, ... Notes are exported unchanged."
            name_annotators = st.toggle("Include annotators' names", key="name-annotators", help=hint)
    choices = CollectionChoices(name or None, rule, corpus, query_text, with_runs, name_annotators, topics)
    with answer:
        try:
            outline = campaign.exports.collection_card.outline(choices)
        except CleverdonError as error:
            st.info(widgets.plain(f"{error}."))
            return
        size = f", about {_size(outline.bytes)}" if outline.documents else ""
        graded = widgets.words().apply(count(outline.topics, "topic" if topics is None else "finished topic"))
        documents = widgets.words().count_documents(outline.documents)
        has_qrels = outline.pairs or not campaign.store.answers.exist()
        qrels = f"{count(outline.pairs, 'qrel')}, {graded} and " if has_qrels else ""
        st.write(f"**{qrels}{documents}{size}.**")
        name = outline.name.replace("/", "-")
        if outline.bytes > LARGEST:
            st.info("This collection is too large for a download in the browser. Run this command instead:")
            chosen = parse_rule(rule)
            words = ["cleverdon", "export", str(campaign.directory), "--collection", name, "--rule", chosen.name]
            words += [word for key, value in chosen.parameters.items() for word in (f"--{key}", str(value))]
            words += [] if topics is None else ["--topics", "finished"]
            st.code(shlex.join(words), language="sh", wrap_lines=True)
        else:
            downloads.draw_deferred(partial(write_packed, choices=choices), f"{name}.zip", "collection", kind="primary")
        if not campaign.settings.collection().licence:
            st.caption("No licence is set, so others cannot know how they may use the collection.")
    if st.toggle("Show the card", key="card"):
        facts = campaign.exports.collection.facts(choices)
        widgets.safe_html(to_html(card(facts)), "card", height=600)


def _describe() -> None:
    """Draw the form in which the manager describes the collection."""
    campaign = session.current().campaign
    about = campaign.settings.collection()
    with st.expander("Description and licence"), st.form("about", border=False):
        description = {}
        for name, label in FIELDS.items():
            draw_field = st.text_area if name == "description" else st.text_input
            description[name] = draw_field(label, getattr(about, name), key=f"about-{name}")
        if st.form_submit_button("Save"):
            with widgets.shown_errors():
                campaign.settings.set_collection(**description)
                st.toast("Saved.")


def write_packed(campaign: Campaign, path: Path, choices: CollectionChoices) -> None:
    """Write the collection into a directory beside the path and pack it."""
    directory = path.with_suffix("")
    campaign.exports.collection.write(directory, choices)
    write_zip(directory, path)


def _size(size: int) -> str:
    """A size in bytes as ``15.8 MB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return count(size, "byte")
