"""Small drawn things that several pages share."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any, NoReturn

import pandas as pd
import streamlit as st
from streamlit.column_config import ProgressColumn, TextColumn

from annotate.auth import page_access, session
from annotate.elements import display
from annotate.judging import document_payload
from collection import stopping
from collection.campaign import Campaign
from collection.campaign.overview import waiting_topics
from collection.campaign.results import NextStep
from collection.characters import one_line, without_bidi
from collection.documents.rendering import cut
from collection.errors import CleverdonError
from collection.records import Document, GradeScale

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!<>~|$:&])")
_ADDRESS = re.compile(r"://|www\.|@", re.I)
_DIRECTIVE = re.compile(
    r":(?=(?:100|1234|[\w+-]*[^\W\d][\w+-]*|[+-]1)(?:[:/]|\Z))|(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S)"
)
"""What Streamlit replaces in text even where every sign is escaped: icons and emoji (:material/home:, :streamlit:,
:smile:, :100:, but not the line of an error, a.run:2:), of which a page may add the last colon, and arrows and dashes
between blanks."""
_JOINER, _BREAK = "\u2060", "\u200b"
"""Characters without width: the word joiner, where no line breaks, and the space, where one may."""

LONG_TEXT = 20_000


def plain(text: str) -> str:
    r"""Text from a file, made harmless where Streamlit reads Markdown (labels, headings, captions).

    Characters that change the direction of writing are dropped: they would reach beyond the text. Streamlit links
    addresses and replaces names of icons and emoji even where every sign is escaped, so a character without width
    parts them.

    Examples
    --------
    >>> plain(":material/home: *x*").replace("\u2060", "|")
    '\\:|material/home\\: \\*x\\*'
    """
    flat = one_line(without_bidi(text))  # four blanks at the beginning would be a block of code
    flat = _DIRECTIVE.sub(lambda found: f"{found[0][0]}{_JOINER}{found[0][1:]}", flat)
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub(f"{_BREAK}\\g<0>{_BREAK}", flat))


def sentence(words: str) -> str:
    """Words of the library, which begin small and have no full stop, as a sentence for Markdown."""
    return plain(f"{words[0].upper()}{words[1:]}.")


def page_style() -> None:
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


def page_link(file: str, label: str | None = None) -> None:
    """A link to another page, for those who may open it; nothing for the others."""
    page = page_access.find_page(file)
    if session.current().role in page.roles:
        st.page_link(f"views/{file}", label=label or f"Go to {page.title}", icon=":material/arrow_forward:")


def next_step(step: NextStep) -> None:
    """What to do now, as a link to the page on which it is done; who may not do it is told whose it is."""
    page = next(page for page in page_access.PAGES if page.url_path == step.page)
    with st.container(border=True):
        st.write(f"**Next.** {plain(step.sentence)}")  # it may name topics
        if session.current().role in page.roles:
            page_link(page.file)
        else:
            st.caption(f"This is for {page_access.role_names(page.roles)}.")


def stop_with_next_step(sentence: str) -> NoReturn:
    """End a page that has nothing to show yet: why, and what to do first."""
    st.write(sentence)
    next_step(session.current().campaign.overview.next_step())
    st.stop()


@contextmanager
def shown_errors(draw: Callable[[str], object] = st.error, about: str = "") -> Iterator[None]:
    """Draw a refusal of the library in this place, with what it is about before it, and go on behind the block."""
    try:
        yield
    except CleverdonError as error:
        draw(plain(f"{about}{error}"))


def save_button(
    wanted: Mapping[str, object],
    settings: object,
    write: Callable[..., object],
    said: str,
    key: str,
    labels: tuple[str, str] = ("Save", "Saved"),
) -> None:
    """Draw a button that calls `write` with those of the `wanted` values that differ from the `settings` in force.

    `labels` are the button's: where something is changed, and where nothing is.
    """
    changes = {name: value for name, value in wanted.items() if value != getattr(settings, name)}
    if st.button(labels[not changes], type="primary", disabled=not changes, key=key):
        with shown_errors():
            write(**changes)
            st.toast(said)
            st.rerun()


def missing_texts(per_topic: Iterable[int]) -> None:
    """Say how many pooled pairs cannot be judged as their text is missing, and where the list is; of none nothing.

    Parameters
    ----------
    per_topic
        How many in each topic.
    """
    if sentence := stopping.missing_texts(per_topic):
        st.warning(f"{sentence} The Export page lists the ids; import their texts, and they are handed out.")
        page_link("export.py")


def annotator_progress(campaign: Campaign, annotator: str) -> None:
    """An annotator's topics, and how far each is for them; nothing of anybody else's."""
    topics = campaign.progress.topics_for(annotator)
    if not topics:
        st.write("There is no topic for you to judge yet.")
        return
    page_link("judge.py", "Judge")
    if campaign.settings.guidelines():
        page_link("guidelines.py", "Read the guidelines first; in the judging card they are under g")
    if (task := campaign.settings.judging_page().task) != "grades":
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
    if waiting := campaign.calibration.left(annotator):
        pairs = "1 pair" if waiting == 1 else f"{waiting:,} pairs"
        st.info(f"{pairs} that everybody judges first: the card begins with them.")
    metrics({"Topics for you": f"{len(topics):,}", "Judged by you": f"{len(said):,}"})
    if goal:
        st.progress(min(done / goal, 1.0), f"{done:,} of {goal:,} pairs of your topics are done")
    display.table(
        pd.DataFrame(
            {
                "query_id": topics,
                "title": titles[topics].to_numpy(),
                "share": [done / of if of else None for done, of in standings.values()],
                "judged": said["query_id"].value_counts().reindex(topics, fill_value=0).to_numpy(),
            }
        ),
        {
            "query_id": TextColumn("Topic", width="small"),
            "title": TextColumn("Title", width="large"),
            "share": ProgressColumn("Done", format="percent", min_value=0, max_value=1),
            "judged": "Judged by you",
        },
        alt="Your topics",
    )
    with st.expander("Grades"):
        for grade, sentence in campaign.grades.sentences.items():
            st.write(f"**{grade}** {plain(sentence)}")


def decision_progress(state: dict[str, Any]) -> None:
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
    st.text(without_bidi(shown.title or document.doc_id))
    if shown.title:
        st.caption(plain(document.doc_id))
    if document.text is None:
        st.info("The text of this document is not in the campaign.")
        return
    is_long = len(shown.text) > LONG_TEXT
    text = without_bidi(cut(shown.text, LONG_TEXT))
    with st.container(height=340, border=True):
        if shown.html and not is_long:
            st.html(f'{DOCUMENT_STYLE}<div class="document" dir="auto">{without_bidi(shown.html)}</div>')
        elif shown.form == "preformatted" and text.strip():
            st.code(text, language=None)
        elif text.strip() or not pictures:
            st.text(text)
        if pictures:
            st.html(f'{DOCUMENT_STYLE}<div class="document">{"".join(map(_picture, pictures))}</div>')
    if is_long:
        st.caption(f"The first {LONG_TEXT:,} of {len(shown.text):,} characters.")


def _picture(picture: document_payload.ImagePayload) -> str:
    """An image as HTML, or a link to one whose host the manager has not allowed."""
    src, alt = escape(picture["src"]), escape(without_bidi(picture["alt"]))
    if picture["link"]:
        link = f'<a href="{src}" target="_blank" rel="noopener noreferrer">{src}</a>'
        return f"<p>Picture at {link}{': ' if alt else ''}{alt}</p>"
    return f'<img src="{src}" alt="{alt}" loading="lazy" referrerpolicy="no-referrer">'


def grade_name(scale: GradeScale, kind: str, relevance: object) -> str:
    """``2 · Relevant`` or ``cannot judge``."""
    return f"{relevance} · {scale.label(int(str(relevance)))}" if kind == "graded" else kind


def grade_names(scale: GradeScale, judgements: pd.DataFrame) -> list[str]:
    """The grade of each judgement as :func:`grade_name` calls it, by its ``kind`` and ``relevance``."""
    return [grade_name(scale, k, r) for k, r in zip(judgements["kind"], judgements["relevance"], strict=True)]
