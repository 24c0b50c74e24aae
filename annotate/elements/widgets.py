"""Small drawn things that several pages share."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from annotate import views
from annotate.auth import pages, session
from annotate.elements import drawing
from annotate.elements.drawing import plain
from annotate.judging import document_payload
from collection.campaign import Campaign
from collection.campaign.overview import waiting_topics
from collection.campaign.results import NextStep
from collection.characters import without_bidi
from collection.documents.rendering import cut
from collection.records import Document, GradeScale, Role
from collection.stopping import table

LONG_TEXT = 20_000
NEUTRAL = "#808893"
"""A grey that can be read on the light and on the dark background."""


def style() -> None:
    """What the theme cannot say: less empty space above a page, and a readable width for all of them.

    The tables' own download goes, too: it writes formulas as they are (:mod:`collection.formats.spreadsheet`).
    """
    st.html(
        "<style>"
        ".stMainBlockContainer { padding: 3rem 2rem 0.5rem; max-width: 1400px; }"
        "@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem 1rem 0.5rem; } }"
        "h1 { font-size: 1.9rem !important; }"
        # Touch screens always show a table's toolbar, which would lie over the words above the table.
        '@media (hover: none) { .stElementContainer:has([data-testid="stDataFrame"]) { margin-top: 1.5rem; } }'
        '[data-testid="stElementToolbarButton"]:has([aria-label^="Download as CSV"]) { display: none; }'
        "</style>"
    )


def whereabouts(title: str, annotator: str, role: Role) -> None:
    """Under the menu: which campaign this is, who is signed in, and the way out."""
    with st.sidebar:
        st.caption(f"{plain(title)}  \nsigned in as **{plain(annotator)}**, {role}")
        if st.button("Sign out", key="sign-out", icon=":material/logout:", type="tertiary"):
            pages.sign_out()


def page_link(file: str, label: str | None = None) -> None:
    """A link to another page, for those who may open it; nothing for the others."""
    page = views.entry(file)
    if session.current().role in page.roles:
        st.page_link(f"views/{file}", label=label or f"Go to {page.title}", icon=":material/arrow_forward:")


def next_step(step: NextStep) -> None:
    """What to do now, as a link to the page on which it is done; who may not do it is told whose it is."""
    page = next(page for page in views.PAGES if page.url_path == step.page)
    with st.container(border=True):
        st.write(f"**Next.** {plain(step.sentence)}")  # it may name topics
        if session.current().role in page.roles:
            page_link(page.file)
        else:
            st.caption(f"This is for {views.of_roles(page.roles)}.")


def missing_texts(per_topic: Iterable[int]) -> None:
    """Say how many pooled pairs cannot be judged as their text is missing, and where the list is; of none nothing.

    Parameters
    ----------
    per_topic
        How many in each topic.
    """
    if sentence := table.missing_texts(per_topic):
        st.warning(f"{sentence} The Export page lists the ids; import their texts, and they are handed out.")
        page_link("export.py")


def own_progress(campaign: Campaign, annotator: str) -> None:
    """An annotator's topics, and how far each is for them; nothing of anybody else's."""
    topics = campaign.progress.topics_for(annotator)
    if not topics:
        st.write("There is no topic for you to judge yet.")
        return
    if (task := campaign.settings.judging_page().task) != "grades":
        page_link("judge.py", "Judge")
        if campaign.settings.guidelines():
            page_link("guidelines.py", "Read the guidelines first; in the judging card they are under g")
        decided = campaign.topic_tasks.progress(annotator)
        what = "lists" if task == "list" else "topics"
        metrics({"Topics for you": f"{len(topics):,}", "Decided by you": f"{decided.done:,}"})
        if decided.goal:
            st.progress(decided.done / decided.goal, f"{decided.done:,} of {decided.goal:,} {what} are decided")
        return
    said = campaign.judgement_log.judgements(annotator=annotator)
    said = said[said["counts_as"] == "judgement"]
    titles = campaign.corpus.topics().set_index("query_id")["title"]
    standings = {query_id: campaign.progress.standing(query_id, annotator) for query_id in topics}
    done, goal = campaign.progress.totals(annotator)
    page_link("judge.py", "Judge")
    if campaign.settings.guidelines():
        page_link("guidelines.py", "Read the guidelines first; in the judging card they are under g")
    if waiting := campaign.calibration.left(annotator):
        pairs = "1 pair" if waiting == 1 else f"{waiting:,} pairs"
        st.info(f"{pairs} that everybody judges first: the card begins with them.")
    metrics({"Topics for you": f"{len(topics):,}", "Judged by you": f"{len(said):,}"})
    if goal:
        st.progress(min(done / goal, 1.0), f"{done:,} of {goal:,} pairs of your topics are done")
    drawing.dataframe(
        pd.DataFrame(
            {
                "query_id": topics,
                "title": titles[topics].to_numpy(),
                "share": [done / of if of else None for done, of in standings.values()],
                "judged": said["query_id"].value_counts().reindex(topics, fill_value=0).to_numpy(),
            }
        ),
        hide_index=True,
        alt="Your topics",
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width="small"),
            "title": st.column_config.TextColumn("Title", width="large"),
            "share": st.column_config.ProgressColumn("Done", format="percent", min_value=0, max_value=1),
            "judged": "Judged by you",
        },
    )
    with st.expander("Grades"):
        for grade, sentence in campaign.grades.sentences.items():
            st.write(f"**{grade}** {plain(sentence)}")


def decisions(state: dict[str, Any]) -> None:
    """How far a campaign is whose annotators decide on whole topics: what its status says of them."""
    goal = state["made"] + state["remaining"]
    lists = state["task"] == "list"
    what = "lists" if lists else "topics"
    several = f"; {state['made']:,} of {goal:,} decisions are made" if goal > state["topics"] else ""
    st.progress(
        state["made"] / goal if goal else 0.0,
        f"{state['decided']:,} of {state['topics']:,} {what} are decided{several}",
    )
    if waiting := waiting_topics(state["waiting"]):
        st.warning(waiting)
    found = state["agreement"]
    if found and lists:
        st.caption(
            f"Where two annotators had the same topic, {found['same']:.0%} of {found['comparisons']:,} times they "
            f"chose the same documents; what they chose overlaps by {found['overlap']:.2f}."
        )
    elif found:
        st.caption(
            f"Where two annotators compared the same documents, {found['same']:.0%} of {found['comparisons']:,} times "
            "they said the same."
        )


def metrics(values: dict[str, str]) -> None:
    """Figures side by side, as many as fit; the rest goes below."""
    with st.container(horizontal=True, gap="medium"):
        for label, value in values.items():
            st.metric(label, value, width="content")


def upright(text: str) -> str:
    """Text without characters that change the direction of writing, for where it is shown as it is."""
    return without_bidi(text)


DOCUMENT_STYLE = """<style>
.document { overflow-wrap: anywhere; }
.document :is(h3, h4, h5, h6) { font-size: 1.1rem; padding: 0.8rem 0 0.3rem; }
.document > :first-child { padding-top: 0; }
.document a { color: inherit; }
.document table { border-collapse: collapse; margin: 0.3rem 0 1rem; }
.document :is(th, td) { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 0.2rem 0.6rem; }
.document img { display: block; max-width: 100%; margin: 0.4rem 0; background: #fff; }
</style>"""


def document(document: Document) -> None:
    """A document as the judging card shows it; no markup in it is the page's.

    Of Markdown the safe HTML is drawn, of HTML its words; images come from the campaign's files, or from hosts that the
    manager has allowed.
    """
    campaign = session.current().campaign
    settings = campaign.settings.judging_page()
    shown, pictures = campaign.document_view.shown(document, settings), document_payload.images(document, settings)
    st.text(upright(shown.title or document.doc_id))
    if shown.title:
        st.caption(plain(document.doc_id))
    if document.text is None:
        st.info("The text of this document is not in the campaign.")
        return
    is_long = len(shown.text) > LONG_TEXT
    text = upright(cut(shown.text, LONG_TEXT))
    with st.container(height=340, border=True):
        if shown.html and not is_long:
            st.html(f'{DOCUMENT_STYLE}<div class="document" dir="auto">{upright(shown.html)}</div>')
        elif shown.form == "preformatted" and text.strip():
            st.code(text, language=None)
        elif text.strip() or not pictures:
            st.text(text)
        if pictures:
            st.html(f'{DOCUMENT_STYLE}<div class="document">{"".join(map(_picture, pictures))}</div>')
    if is_long:
        st.caption(f"The first {LONG_TEXT:,} of {len(shown.text):,} characters.")


def _picture(picture: dict[str, Any]) -> str:
    """An image as HTML, or a link to one whose host the manager has not allowed."""
    src, alt = escape(picture["src"]), escape(upright(picture["alt"]))
    if picture["link"]:
        link = f'<a href="{src}" target="_blank" rel="noopener noreferrer">{src}</a>'
        return f"<p>Picture at {link}{': ' if alt else ''}{alt}</p>"
    return f'<img src="{src}" alt="{alt}" loading="lazy" referrerpolicy="no-referrer">'


def grade_name(scale: GradeScale, kind: str, relevance: object) -> str:
    """``2 · Relevant`` or ``cannot judge``."""
    return f"{relevance} · {scale.label(int(str(relevance)))}" if kind == "graded" else kind
