"""The part of the Export page that hands out a whole collection: its card in words, its choices, one download."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from annotate.auth import session
from annotate.elements import widgets
from collection.campaign import Campaign
from collection.campaign.collection_card import CORPORA
from collection.documents.rendering.markup import to_html
from collection.errors import CleverdonError
from collection.export import card
from collection.formats import QUERY_TEXTS, write_zip

LARGEST = 200_000_000
"""Bytes of documents from which on a collection is not packed for a browser."""

STYLE = """<style>
.card { overflow-wrap: anywhere; }
.card :is(h3, h4, h5, h6) { padding: 0.9rem 0 0.3rem; }
.card > :first-child { padding-top: 0; }
.card :is(pre, table) { display: block; overflow-x: auto; }
.card table { border-collapse: collapse; margin: 0.3rem 0 1rem; }
.card :is(th, td) { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 0.2rem 0.6rem;
  text-align: left; overflow-wrap: normal; }
</style>"""

FIELDS = {
    "description": "What it is for",
    "licence": "Licence",
    "citation": "How to cite it",
    "url": "Where it is to be found",
}


def draw(rule: str) -> None:
    """The section; qrels are settled by `rule`."""
    now = session.current()
    campaign = now.campaign
    st.subheader("Collection")
    st.write(
        "Everything that somebody else needs, in one directory: documents, topics and qrels in BEIR's layout and in "
        "TREC's form, a file that registers them with ir_datasets, the logs, and a card that says how they came about."
    )
    if now.role == "manager":
        _describe()
    options = _choices()
    try:
        outline = campaign.collection_card.outline(name=options["name"], rule=rule, corpus=options["corpus"])
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
        st.download_button(
            f"Download {name}.zip",
            _packed(campaign.directory, name, {**options, "rule": rule}),
            f"{name}.zip",
            "application/zip",
            type="primary",
            key="collection",
            on_click="ignore",
        )
    if st.toggle("Show the card", key="card"):
        facts = campaign.collection_card.facts(rule=rule, **{n: v for n, v in options.items() if n != "with_runs"})
        with st.container(border=True, height=600):
            st.html(f'{STYLE}<div class="card">{to_html(card(facts))}</div>')


def _describe() -> None:
    """What the manager says of the collection."""
    campaign = session.current().campaign
    about = campaign.settings.collection()
    with st.expander("What its card says in your words"), st.form("about", border=False):
        said = {
            name: (st.text_area if name == "description" else st.text_input)(
                label, getattr(about, name), key=f"about-{name}"
            )
            for name, label in FIELDS.items()
        }
        if st.form_submit_button("Save"):
            with widgets.shown_errors():
                campaign.settings.set_collection(**said)
                st.toast("Saved.")


def _choices() -> dict[str, Any]:
    """What goes into it."""
    left, right = st.columns(2)
    corpus = left.selectbox("Documents", CORPORA, format_func=lambda c: f"{c}: {CORPORA[c]}", key="corpus")
    query_text = right.selectbox("The text of a query is its topic's", QUERY_TEXTS, key="query-text",
                                 format_func=lambda t: t.replace("-", " and "))  # fmt: skip
    name = left.text_input(
        "Name", key="collection-name", placeholder="made of the title",
        help="What ir_datasets calls it: small letters, digits, '-', '_' and '.', parted by '/'.",
    )  # fmt: skip
    with right:
        with_runs = st.toggle("With the runs", key="with-runs")
        name_annotators = st.toggle(
            "Annotators by their names", key="name-annotators",
            help="Otherwise they are a1, a2, ... What they wrote in notes is as they wrote it.",
        )  # fmt: skip
    return {
        "name": name or None,
        "corpus": corpus,
        "query_text": query_text,
        "with_runs": with_runs,
        "name_annotators": name_annotators,
    }


def _packed(directory: Path, name: str, options: dict[str, Any]) -> Callable[[], bytes]:
    """Writes and packs the collection when somebody asks for it: in a thread of its own, so with its own connection."""

    def pack() -> bytes:
        with tempfile.TemporaryDirectory() as scratch, Campaign(directory) as campaign:
            campaign.collection_export.write(Path(scratch) / name, **options)
            write_zip(Path(scratch) / name, Path(scratch) / "packed.zip")
            return (Path(scratch) / "packed.zip").read_bytes()

    return pack


def _size(count: int) -> str:
    """Bytes in words: ``15.8 MB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} bytes"
