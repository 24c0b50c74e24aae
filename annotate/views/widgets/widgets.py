"""Small elements that several pages share."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any, Literal, NoReturn

import pandas as pd
import streamlit as st
from streamlit.column_config import ProgressColumn

from annotate.auth import page_access, session
from annotate.card.server import document_payload, wire
from annotate.views.widgets import display
from annotate.views.widgets.display import text
from collection import stopping
from collection.campaign import Campaign
from collection.campaign.log.results import NextStep
from collection.campaign.results.overview import waiting_topics
from collection.core import phrases
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.characters import one_line, without_bidi
from collection.core.errors import CleverdonError
from collection.core.phrases import count, percent
from collection.core.records import Document, GradeScale, is_made_id
from collection.core.review import STAGES
from collection.core.vocabulary import RETRIEVAL, Vocabulary
from collection.documents.rendering import cut

_COMMAND, _ESCAPED = re.compile(r"\\`((?:cleverdon|evaluate) .*?)\\`"), re.compile(r"\\(.)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!<>~|$:&])")
_ADDRESS = re.compile(r"://|www\.|@(?=[\w-]*\.\w)", re.I)  # not of a measure, nDCG@10
_DIRECTIVE = re.compile(
    r":(?=(?:100|1234|[\w+-]*[^\W\d][\w+-]*|[+-]1)(?:[:/]|\Z))|(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S)"
)
"""Text that Streamlit replaces although it is escaped: names of icons and emoji (``:smile:``, but not the line of an
error, ``a.run:2:``), whose last colon a page may add, and arrows and dashes between blanks."""
_WORD_JOINER, _ZERO_WIDTH_SPACE = "\u2060", "\u200b"

LONG_TEXT = 20_000

NEXT = {
    "overview": "Go to Overview",
    "import": "Import files",
    "pool": "Choose the pool",
    "judge": "Start judging",
    "loop": "Change the budget",
    "system-order": "See the system order",
    "recall": "Go to Recall",
    "adjudicate": "Adjudicate",
    "nuggets": "Go to Nuggets",
    "machine-labels": "See the corrected values",
    "export": "Export",
}
"""Page of a next step -> label of its button."""

NEXT_IN_REVIEW = {
    "set-up": "Set up the review",
    "full-texts": "Go to Full texts",
    "duplicates": "Decide on duplicates",
    "judge": "Screen records",
    "adjudicate": "Resolve conflicts",
    "stopping": "Go to Stopping",
    "report": "Go to Report",
}
"""The same in a literature review."""


def plain(text: str) -> str:
    r"""Text from a file, escaped for labels, headings and captions, which Streamlit reads as Markdown.

    Characters that change the direction of writing are dropped. Streamlit links addresses and replaces names of icons
    and emoji although they are escaped, so a character without width parts them.

    >>> plain(":material/home: *x*").replace("\u2060", "|")
    '\\:|material/home\\: \\*x\\*'
    """
    flat = one_line(without_bidi(text))  # four leading blanks would be a block of code
    flat = _DIRECTIVE.sub(lambda match: f"{match[0][0]}{_WORD_JOINER}{match[0][1:]}", flat)
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub(f"{_ZERO_WIDTH_SPACE}\\g<0>{_ZERO_WIDTH_SPACE}", flat))


def plain_with_commands(words: str) -> str:
    r"""Escape as :func:`plain`, but leave commands between backticks as code.

    >>> plain_with_commands("Raise *it* with `cleverdon loop DIR --budget N`.")
    'Raise \\*it\\* with `cleverdon loop DIR --budget N`\\.'
    """
    return _COMMAND.sub(lambda match: "`" + _ESCAPED.sub(r"\1", match[1]) + "`", plain(words))


def sentence(words: str) -> str:
    """A message of the library, without capital and full stop, as a sentence for Markdown."""
    return plain_with_commands(phrases.sentence(words))


def page_style() -> None:
    """Adjust space, width, contrast and focus, and hide the download of tables, which writes formulas as such."""
    st.html(
        "<style>"
        ".stMainBlockContainer { padding: 3rem 2rem 0.5rem; max-width: 1400px; }"
        "@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem 1rem 0.5rem; }"
        # A card needs the height of a phone: no title, and the buttons above it beside that of the menu.
        "  .st-key-above-card .stElementContainer:has(h1) { display: none; }"
        "  .stMainBlockContainer:has(.st-key-above-card) { padding-top: 0.5rem; }"
        "  .st-key-above-card { position: relative; z-index: 999990; width: fit-content; margin-left: 2.6rem;"
        "    gap: 0.4rem; } }"
        '@media (min-width: 641px) { [class*="st-key-phone-only-"] { display: none; } }'
        "h1 { font-size: 1.9rem !important; }"
        # Touch screens always show a table's toolbar, which would cover the text above the table.
        '@media (hover: none) { .stElementContainer:has([data-testid="stDataFrame"]) { margin-top: 1.5rem; } }'
        # Several chosen values are in sight: Streamlit's field has one line that scrolls.
        ".stMultiSelect .react-aria-ComboBox > div { max-height: 12rem; overflow-y: auto; }"
        ".stMultiSelect .react-aria-ComboBox > div > div { flex-wrap: wrap; mask: none; }"
        '[data-testid="stElementToolbarButton"]:has([aria-label^="Download as CSV"]) { display: none; }'
        # Streamlit's own values give a contrast below 4.5:1.
        '[data-testid="stCaptionContainer"] { opacity: 0.8; }'
        ':is([data-testid="stTab"], [data-testid="stButtonGroup"] button, .stMain button:enabled:hover,'
        ' .stExpander summary:hover):not([kind^="primary"]) { color: inherit !important; }'
        # Streamlit shows the focus on other elements only.
        ':is([data-testid="stSidebarNavLink"], .stMain):focus-visible { outline: 2px solid; outline-offset: -2px; }'
        ".stMultiSelect input { min-width: 24px; }"
        # Otherwise Tab goes through the folded menu, outside the screen.
        '.stSidebar[data-collapsed="true"], .stSidebar[data-collapsed="true"] * { visibility: hidden !important; }'
        "</style>"
    )


def words() -> Vocabulary:
    """The words of the campaign of this script run."""
    return session.words()


def page_title(url_path: str) -> str:
    """The title of a page, which a literature review may call by another name than other campaigns."""
    is_review = session.current().campaign.settings.review() is not None
    return page_access.find_page(url_path).title_for(is_review=is_review)


def topic_label(query_id: str, title: str) -> str:
    """A topic by its id and title, without characters that change the direction; in a review the name of a stage."""
    if session.current().campaign.settings.review() is not None:
        return STAGES.get(query_id, query_id).capitalize()
    return without_bidi(f"{query_id}: {title}")


def page_link(url_path: str, label: str | None = None) -> None:
    """Draw a link to another page for people who may open it."""
    page = page_access.find_page(url_path)
    if session.current().role in page.roles:
        label = label or f"Go to {page_title(url_path)}"
        st.page_link(f"views/{page.file}", label=label, icon=":material/arrow_forward:")


def documentation_link(page: str, label: str) -> None:
    """Draw a link to a page of the documentation, such as ``how-to/stop-judging``, which opens in another tab."""
    st.markdown(f"[{label}](/documentation/{page})")


def find_next_step() -> NextStep:
    """Return the next step of the campaign, or of the literature review that it is."""
    campaign = session.current().campaign
    if campaign.settings.review() is None:
        return campaign.results.overview.next_step()
    return campaign.review.steps.next_step()


def next_label(url_path: str) -> str:
    """The label of the button that leads to the page of a next step."""
    return (NEXT if session.current().campaign.settings.review() is None else NEXT_IN_REVIEW)[url_path]


def next_step(step: NextStep, missing: str = "") -> None:
    """Draw what is `missing`, and the next step with a button that leads to its page or the roles that may take it."""
    page = page_access.find_page(step.page)
    sentence = plain_with_commands(step.sentence)  # it may name topics
    with st.container(border=True):
        others = "" if session.current().role in page.roles else f" for {page_access.role_names(page.roles, words())}"
        st.write(f"{missing} Next step{others}: {sentence}".strip() if missing or others else sentence)
        if not others and st.button(next_label(step.page), type="primary", icon=page.icon, key="next-step"):
            st.switch_page(f"views/{page.file}")
        if step.page != "nuggets":  # whose sentence says so
            _name_tasks(session.current().campaign)


def _name_tasks(campaign: Campaign) -> None:
    """Draw where generated answers are judged, if a task is prepared."""
    if tasks := [ANSWER_TASKS[name].label for name in campaign.answers.tasks.existing()]:
        st.write(f"To judge generated answers, choose {' or '.join(tasks)} above the menu.")


def stop_with_next_step(missing: str) -> NoReturn:
    """End a page that has nothing to show yet with what is missing and the campaign's next step."""
    next_step(find_next_step(), missing)
    st.stop()


@contextmanager
def shown_errors(draw: Callable[[str], object] = st.error, about: str = "") -> Iterator[None]:
    """Draw an error of the library here, after the text `about`, and continue after the block."""
    try:
        yield
    except CleverdonError as error:
        draw(sentence(f"{about}{error}"))


@contextmanager
def saving(message: str) -> Iterator[None]:
    """Run the page again with a message when the block succeeds; draw an error of the library otherwise."""
    with shown_errors():
        yield
        st.toast(message)
        st.rerun()


def save_button(
    wanted: Mapping[str, object], settings: object, write: Callable[..., object], message: str, key: str
) -> None:
    """Draw a button that writes the `wanted` values that differ from the `settings`; disabled if none does."""
    changes = {name: value for name, value in wanted.items() if value != getattr(settings, name)}
    if st.button("Save", type="primary", disabled=not changes, key=key):
        with saving(message):
            write(**changes)


def missing_texts(per_topic: Iterable[int]) -> None:
    """Warn of pooled pairs that cannot be judged without their text; `per_topic` are their numbers."""
    if sentence := stopping.missing_texts(per_topic):
        st.warning(f"{sentence} Import their texts to judge them; the Export page lists the ids.")
        page_link("export")


def annotator_progress(campaign: Campaign, annotator: str) -> None:
    """Draw an annotator's topics with their own progress, without anybody else's."""
    topics = campaign.progress.topics_for(annotator)
    if not topics:
        st.write("No topics are assigned to you yet. Ask a manager of the campaign to assign some.")
        return
    if (step := campaign.results.overview.next_step()).page in ("import", "pool"):
        next_step(step, "There is nothing to judge yet.")
        return
    if (task := campaign.settings.judging_page().task) != "grades":
        decided = campaign.judging.topic_tasks.progress(annotator)
        unit = "list" if task == "list" else "topic"
        _start_judging(campaign, decided.done, decided.goal, unit)
        metrics({"Your topics": len(topics), "Your decisions": decided.done})
        if decided.goal:
            st.progress(decided.done / decided.goal, f"{decided.done:,} of {count(decided.goal, unit)} decided")
        return
    own = campaign.store.judgements.table(annotator=annotator)
    own = own[own["counts_as"] == "judgement"]
    titles = campaign.store.corpus.topics().set_index("query_id")["title"]
    last, progress = campaign.judging.history.last_topic(annotator), campaign.progress
    counted = progress.topic_standings(annotator, last)
    standings = [counted[query_id] for query_id in topics]
    done, goal = progress.totals(annotator, last)
    has_goals = any(of is not None for _, of in standings)
    # Topics without a goal of their own are part of the total only if a budget limits them.
    where = " in your topics" if all(of is not None for _, of in standings) else " within the judgement budget"
    _start_judging(campaign, done, goal, "pair", where)
    if waiting := campaign.people.qualification_set.left(annotator):
        st.info(f"{count(waiting, 'qualification pair')} left, which every annotator judges first.")
    metrics({"Your topics": len(topics), "Your judgements": len(own)})
    if goal:
        st.progress(min(done / goal, 1.0), f"{done:,} of {count(goal, 'pair')}{where} judged, by you or others")
    rows = titles[topics].reset_index()
    rows["share"] = [done / of if of else None for done, of in standings]
    rows["judged"] = own["query_id"].value_counts().reindex(topics, fill_value=0).to_numpy()
    display.table(
        rows,
        {
            "query_id": text("Topic", "small"),
            "title": text("Title", "large"),
            "share": ProgressColumn("Done", format="percent", min_value=0, max_value=1) if has_goals else None,
            "judged": "Your judgements",
        },
        alt="Your topics",
    )
    grade_scale(campaign.settings.grades)


def _start_judging(campaign: Campaign, done: int, goal: int | None, unit: str, where: str = "") -> None:
    """Draw what is left for an annotator, with a button that leads there."""
    if is_done := goal is not None and done >= goal:
        st.write(f"No {unit}s left{where}.")
        _name_tasks(campaign)
    elif goal is None:
        st.write("The loop selects documents for you until a manager closes your topics.")
    else:
        st.write(f"{goal - done:,} of {count(goal, unit)} left{where}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_done:
            page_link("my-judgements")
        elif st.button("Start judging", type="primary", icon=":material/gavel:", key="next-step"):
            st.switch_page(f"views/{page_access.find_page('judge').file}")
        if campaign.settings.guidelines():
            page_link("guidelines", "Read the guidelines")


def grade_scale(scale: GradeScale) -> None:
    """Draw the sentence of each grade, folded."""
    with st.expander("Grades"):
        for grade, sentence in scale.sentences.items():
            st.write(f"**{grade}** {plain(sentence)}")


def decision_progress(state: Mapping[str, Any]) -> None:
    """Draw the progress of a campaign whose annotators decide on whole topics, from its status."""
    goal = state["made"] + state["remaining"]
    is_list = state["task"] == "list"
    several = f"; {state['made']:,} of {count(goal, 'decision')} made" if goal > state["topics"] else ""
    decided = f"{state['decided']:,} of {count(state['topics'], 'list' if is_list else 'topic')} decided{several}"
    st.progress(state["made"] / goal if goal else 0.0, decided)
    if waiting := waiting_topics(state["waiting"]):
        st.warning(waiting)
    agreement = state["agreement"]
    if agreement and is_list:
        st.caption(
            f"Two annotators of the same topic chose the same documents in {percent(agreement['same'])} of "
            f"{count(agreement['comparisons'], 'comparison')}; mean overlap {agreement['overlap']:.2f}."
        )
    elif agreement:
        st.caption(
            f"Two annotators who compared the same documents agreed in {percent(agreement['same'])} of "
            f"{count(agreement['comparisons'], 'comparison')}."
        )


def metrics(values: Mapping[str, str | int]) -> None:
    """Draw values with their labels side by side, as many as fit; integers get thousands separators."""
    with st.container(horizontal=True, gap="medium"):
        for label, value in values.items():
            st.metric(words().apply(label), value if isinstance(value, str) else f"{value:,}", width="content")


LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.ASCII | re.IGNORECASE)
"""Code of the language of a document, as browsers read it."""

HTML_STYLE = """<style>
.html { overflow-wrap: anywhere; --line: color-mix(in srgb, currentColor 25%, transparent); }
.html :is(h3, h4, h5, h6) { padding: 0.9rem 0 0.3rem; }
.html > :first-child { padding-top: 0; }
.html table { border-collapse: collapse; margin: 0.3rem 0 1rem; }
.html :is(th, td) { border: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: left; }
.html blockquote { margin: 0 0 1rem; padding-left: 0.9rem; border-left: 3px solid var(--line); }
.html img { display: block; max-width: 100%; margin: 0.4rem 0; background: #fff; }
.document :is(h3, h4, h5, h6) { font-size: 1.1rem; }
:is(.document, .guidelines) a { color: inherit; }
.guidelines { max-width: 46rem; }
:is(.html pre, .card table) { display: block; overflow-x: auto; }
.card :is(th, td) { overflow-wrap: normal; }
.html[tabindex] { overflow-y: auto; border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.9rem 1rem; }
.html .text { white-space: pre-wrap; margin: 0; }
</style>"""


def safe_html(
    html: str, kind: Literal["document", "guidelines", "card"], height: int | None = None, language: str = ""
) -> None:
    """Draw HTML that is safe already, in the style of its kind; above `height` pixels it scrolls.

    Browsers do not translate a document: it is judged as it is. `language` is its code, such as "en".
    """
    # Unlike a container of Streamlit, it takes the focus, so that keys scroll it in every browser.
    name = {"document": "Document", "guidelines": "Guidelines", "card": "Collection card"}[kind]
    scrolls = (
        "" if height is None else f' tabindex="0" role="region" aria-label="{name}" style="max-height: {height}px"'
    )
    attributes = ' translate="no"' if kind == "document" else ""
    attributes += f' lang="{language}"' if language else ""
    st.html(f'{HTML_STYLE}<div class="html {kind}" dir="auto"{attributes}{scrolls}>{without_bidi(html)}</div>')


def record_id(doc_id: str) -> str:
    """Return the id that people see: "" in a literature review if it was made of the words of a record."""
    is_review = session.current().campaign.settings.review() is not None
    return "" if is_review and is_made_id(doc_id) else doc_id


def document(document: Document) -> None:
    """Draw a document as the judging card does: Markdown as safe HTML, HTML as its text, images if allowed."""
    campaign = session.current().campaign
    settings = campaign.settings.judging_page()
    shown, images = campaign.corpus.view.shown(document, settings), document_payload.images(document, settings)
    st.text(without_bidi(shown.title or document.doc_id))
    if shown.title and (shown_id := record_id(document.doc_id)):
        st.caption(plain(shown_id))
    if document.text is None:
        st.info("The text of this document has not been imported.")
        return
    is_long = len(shown.text) > LONG_TEXT
    text = cut(shown.text, LONG_TEXT)
    if shown.html and not is_long:
        html = shown.html
    elif text.strip():
        tag = "pre" if shown.form == "preformatted" else "p"
        html = f'<{tag} class="text">{escape(text.rstrip())}</{tag}>'
    else:
        html = "" if images else "&nbsp;"
    said = document.metadata.get("lang", document.metadata.get("language"))
    language = said if isinstance(said, str) and LANGUAGE.fullmatch(said) else ""
    safe_html(html + "".join(map(_image, images)), "document", height=340, language=language)
    if (pdf := document_payload.pdf_file(document)) is not None:
        st.html(f'<a href="{escape(pdf["file"])}" target="_blank" rel="noopener">Open the PDF</a>')
    if is_long:
        st.caption(f"First {LONG_TEXT:,} of {len(shown.text):,} characters.")


def _image(image: wire.Image) -> str:
    """An image as HTML, or a link to one whose host the manager has not allowed."""
    src, alt = escape(image["src"]), escape(without_bidi(image["alt"]))
    if image["link"]:
        link = f'<a href="{src}" target="_blank" rel="noopener noreferrer">{src}</a>'
        return f"<p>Picture at {link}{': ' if alt else ''}{alt}</p>"
    return f'<img src="{src}" alt="{alt}" loading="lazy" referrerpolicy="no-referrer">'


def grade_name(scale: GradeScale, kind: str, relevance: object) -> str:
    """``2 · Relevant`` or ``cannot judge``; in a literature review ``Include`` or ``cannot decide``."""
    if (vocabulary := words()) is not RETRIEVAL:
        return scale.label(int(str(relevance))) if kind == "graded" else vocabulary.apply(kind)
    return f"{relevance} · {scale.label(int(str(relevance)))}" if kind == "graded" else kind


def grade_names(scale: GradeScale, judgements: pd.DataFrame) -> list[str]:
    """The :func:`grade_name` of each judgement, by its ``kind`` and ``relevance``."""
    return [grade_name(scale, k, r) for k, r in zip(judgements["kind"], judgements["relevance"], strict=True)]
