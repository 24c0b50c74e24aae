"""The download of a whole collection on the Export page, with its card and its options."""

from functools import partial
from pathlib import Path
from typing import TypedDict

import streamlit as st

from annotate.auth import session
from annotate.elements import downloads, widgets
from collection.campaign import Campaign
from collection.campaign.collection_card import CORPORA, CorpusChoice
from collection.documents.rendering.markup import to_html
from collection.errors import CleverdonError
from collection.export import card
from collection.formats import QUERY_TEXTS, write_zip

LARGEST = 200_000_000  # bytes of documents up to which a collection is packed for a browser
FIELDS = {
    "description": "What it is for",
    "licence": "Licence",
    "citation": "How to cite it",
    "url": "Where it is to be found",
}


class Options(TypedDict):
    """What the exported collection contains."""

    name: str | None
    corpus: CorpusChoice
    query_text: str
    name_annotators: bool


def draw(rule: str) -> None:
    """Draw the section; `rule` makes the qrels."""
    now = session.current()
    campaign = now.campaign
    st.subheader("Collection")
    st.write(
        "Everything that somebody else needs, in one directory: documents, topics and qrels in BEIR's layout and in "
        "TREC's form, a file that registers them with ir_datasets, the logs, and a card that says how they came about."
    )
    if now.role == "manager":
        _describe()
    left, right = st.columns(2)
    corpus = left.selectbox("Documents", CORPORA, format_func=lambda c: f"{c}: {CORPORA[c]}", key="corpus")
    query_texts = {text: text.replace("-", " and ") for text in QUERY_TEXTS}
    query_text = right.selectbox(
        "The text of a query is its topic's", query_texts, key="query-text", format_func=query_texts.__getitem__
    )
    hint = "What ir_datasets calls it: small letters, digits, '-', '_' and '.', parted by '/'."
    name = left.text_input("Name", key="collection-name", placeholder="made of the title", help=hint)
    with right:
        with_runs = st.toggle("With the runs", key="with-runs")
        hint = "Otherwise they are a1, a2, ... What they wrote in notes is as they wrote it."
        name_annotators = st.toggle("Annotators by their names", key="name-annotators", help=hint)
    options = Options(name=name or None, corpus=corpus, query_text=query_text, name_annotators=name_annotators)
    try:
        outline = campaign.collection_card.outline(name=options["name"], rule=rule, corpus=corpus)
    except CleverdonError as error:
        st.info(widgets.plain(f"{error}."))
        return
    st.write(
        f"{outline.pairs:,} pairs of {outline.topics:,} topics; {outline.documents:,} documents"
        + (f", about {_size(outline.bytes)}." if outline.documents else ".")
    )
    if not campaign.settings.collection().licence:
        st.caption("No licence is stated, so nobody knows what they may do with it. A manager can say it above.")
    name = outline.name.replace("/", "-")
    if outline.bytes > LARGEST:
        st.info("That is much for a browser. The command writes it to a directory:")
        st.code(f"cleverdon export {campaign.directory} --collection {name}", language="sh")
    else:
        write = partial(write_packed, rule=rule, options=options, with_runs=with_runs)
        downloads.draw_deferred(write, f"{name}.zip", "collection", kind="primary")
    if st.toggle("Show the card", key="card"):
        facts = campaign.collection_card.facts(rule=rule, **options)
        with st.container(border=True, height=600):
            widgets.safe_html(to_html(card(facts)), "card")


def _describe() -> None:
    """Draw the form in which the manager describes the collection."""
    campaign = session.current().campaign
    about = campaign.settings.collection()
    with st.expander("What its card says in your words"), st.form("about", border=False):
        given = {}
        for name, label in FIELDS.items():
            draw_field = st.text_area if name == "description" else st.text_input
            given[name] = draw_field(label, getattr(about, name), key=f"about-{name}")
        if st.form_submit_button("Save"):
            with widgets.shown_errors():
                campaign.settings.set_collection(**given)
                st.toast("Saved.")


def write_packed(campaign: Campaign, path: Path, rule: str, options: Options, with_runs: bool) -> None:
    """Write the collection into a directory beside the path, and pack it there."""
    directory = path.with_suffix("")
    campaign.collection_export.write(directory, rule=rule, with_runs=with_runs, **options)
    write_zip(directory, path)


def _size(count: int) -> str:
    """Bytes in words: ``15.8 MB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"
