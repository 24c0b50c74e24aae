"""Mounts the judging card: the component that shows documents and takes judgements without a rerun.

The card's behaviour is in ``judge/*.js`` and its looks in ``judge.css``; this module gives it its nodes. The
card posts to the judging routes by itself and never sets a component value, so judging starts no script run.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

HERE = Path(__file__).parent
PARTS = ("state", "verbs", "network", "keys", "finding", "notes", "draw")


class GradeButton(TypedDict):
    """One grade of the scale: its number (and key), a short label, and the whole sentence."""

    grade: int
    label: str
    sentence: str


class CardData(TypedDict):
    """What the card is told when it is mounted; everything else it asks the routes for.

    `reasons` are the ready-made ones for "cannot judge". `query_id` is the topic to start with, None for
    the one this annotator had open last. `text_cap` is the number of characters after which the routes cut
    a document's text. `routes` is the path under which the judging routes answer.
    """

    token: str
    campaign: str
    annotator: str
    scale: list[GradeButton]
    reasons: list[str]
    query_id: str | None
    text_cap: int
    routes: str


# The script finds the nodes by `data-part` and knows what a click means by `data-do`. Text that comes from a
# campaign stands in nodes of the class `cd-apart`, which keeps its writing direction to itself.
HTML = """
<div class="cd-frame" data-part="frame">
<section class="cd-card" data-part="card" aria-label="Judging">
  <aside class="cd-topic" data-part="topic" aria-label="Topic">
    <div class="cd-nav">
      <button type="button" class="cd-step" data-part="previous-topic" data-do="previous-topic"
        title="Previous topic" aria-label="Previous topic">&#8249;</button>
      <select data-part="topics" aria-label="Topic"></select>
      <button type="button" class="cd-step" data-part="next-topic" data-do="next-topic"
        title="Next topic" aria-label="Next topic">&#8250;</button>
    </div>
    <div class="cd-counts">
      <div class="cd-count">
        <span><b data-part="topic-count">&#8211;</b> in this topic</span>
        <i class="cd-track"><i data-part="topic-bar"></i></i>
      </div>
      <div class="cd-count">
        <span><b data-part="all-count">&#8211;</b> in all</span>
        <i class="cd-track"><i data-part="all-bar"></i></i>
      </div>
    </div>
    <button type="button" class="cd-fold" data-part="fold" data-do="fold" aria-expanded="false">
      <span class="cd-apart" dir="auto" data-part="fold-title"></span></button>
    <div class="cd-need" data-part="need" tabindex="0" role="group" aria-label="What is sought">
      <h2 class="cd-apart" dir="auto" data-part="topic-title"></h2>
      <p class="cd-apart" dir="auto" data-part="description"></p>
      <div data-part="narrative-block" hidden>
        <h3>Narrative</h3>
        <p class="cd-apart" dir="auto" data-part="narrative"></p>
      </div>
      <div data-part="topic-note-block" hidden>
        <h3>Note for this topic</h3>
        <p class="cd-apart" dir="auto" data-part="topic-note"></p>
      </div>
    </div>
  </aside>
  <div class="cd-scroller" data-part="scroller" tabindex="0" role="region" aria-label="Document">
    <article class="cd-document" data-part="document" hidden>
      <p class="cd-calibration" data-part="calibration"
        title="Everybody judges this document first, so that grades can be compared" hidden>Calibration</p>
      <h1 class="cd-apart" dir="auto" data-part="title"></h1>
      <div class="cd-id cd-apart" data-part="doc-id"></div>
      <div class="cd-chips" data-part="chips"></div>
      <div class="cd-text cd-apart" dir="auto" data-part="text"></div>
      <p class="cd-note" data-part="missing" hidden>The text of this document is not in the campaign.</p>
      <p class="cd-note" data-part="more" hidden>
        <span data-part="cap"></span>
        <button type="button" class="cd-small" data-part="show-all" data-do="show-all"></button>
      </p>
    </article>
    <div class="cd-rest" data-part="rest" role="status">
      <h2 data-part="rest-title">One moment &#8230;</h2>
      <p data-part="rest-words"></p>
      <button type="button" class="cd-small" data-part="rest-next" data-do="next-unfinished" hidden>
        <kbd>n</kbd><span>Next unfinished topic</span></button>
    </div>
  </div>
  <footer class="cd-bar">
    <div class="cd-refused" data-part="refused" role="alert"></div>
    <div class="cd-feedback" data-part="feedback" role="status" aria-label="What is settled" hidden>
      <ul data-part="feedback-list"></ul>
      <button type="button" class="cd-small" data-do="close-feedback"><kbd>Esc</kbd><span>Close</span></button>
    </div>
    <p class="cd-note-line" data-part="note-line" hidden><b>Note:</b>
      <span class="cd-apart" data-part="note-words"></span></p>
    <p class="cd-notice" data-part="notice" aria-live="polite"><bdi class="cd-apart" data-part="notice-title"
      ></bdi><span data-part="notice-words"></span></p>
    <div class="cd-grades" data-part="grades" role="group" aria-label="Grades"></div>
    <div class="cd-actions">
      <button type="button" data-do="undo" title="Undo the last judgement"
        aria-label="Undo the last judgement"><kbd>u</kbd><span>Undo</span></button>
      <button type="button" data-do="skip" title="Skip for now: it comes again at the end of this topic"
        aria-label="Skip for now: it comes again at the end of this topic"
        ><kbd>s</kbd><span>Skip</span></button>
      <button type="button" data-part="cannot-judge" data-do="cannot-judge"
        title="Cannot judge: give a reason instead of a grade"
        aria-label="Cannot judge: give a reason instead of a grade"
        ><kbd>x</kbd><span>Cannot judge</span></button>
      <button type="button" data-do="back" title="Look back at judged documents"
        aria-label="Look back at judged documents"><kbd>&#8592;</kbd><span>Back</span></button>
      <button type="button" data-do="forward" title="Forward to the open document"
        aria-label="Forward to the open document"><kbd>&#8594;</kbd><span>Forward</span></button>
      <button type="button" data-do="why" title="Why this document came up"
        aria-label="Why this document came up"><kbd>w</kbd><span>Why</span></button>
      <button type="button" data-do="search" title="Search the documents, and judge one of them next"
        aria-label="Search the documents, and judge one of them next"
        ><kbd>/</kbd><span>Search</span></button>
      <button type="button" data-do="note" title="A note with the judgement of this document"
        aria-label="A note with the judgement of this document"><kbd>m</kbd><span>Note</span></button>
      <button type="button" data-do="guidelines" title="The guidelines of this campaign"
        aria-label="The guidelines of this campaign"><kbd>g</kbd><span>Guidelines</span></button>
      <button type="button" data-do="help" title="All keys"
        aria-label="All keys"><kbd>?</kbd><span>Keys</span></button>
    </div>
    <div class="cd-status" data-part="status" data-kind="saved"></div>
  </footer>
  <div class="cd-panel cd-why" data-part="why-panel" role="dialog" aria-label="Why this document came up"
    tabindex="-1" hidden>
    <div class="cd-head"><h2>Why this one?</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Close</span></button></div>
    <p class="cd-apart" data-part="why-sentence" aria-live="polite"></p>
    <div data-part="why-for-block" hidden>
      <h3 id="cd-why-for">Terms that speak for it</h3>
      <ul data-part="why-for" aria-labelledby="cd-why-for"></ul>
    </div>
    <div data-part="why-against-block" hidden>
      <h3 id="cd-why-against">Terms that speak against it</h3>
      <ul data-part="why-against" aria-labelledby="cd-why-against"></ul>
    </div>
  </div>
  <div class="cd-panel cd-guidelines" data-part="guidelines-panel" role="dialog" aria-label="Guidelines"
    tabindex="-1" hidden>
    <div class="cd-head"><h2>Guidelines</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Close</span></button></div>
    <div data-part="guidelines-note-block" hidden>
      <h3>Note for this topic</h3>
      <p class="cd-apart cd-plain" dir="auto" data-part="guidelines-note"></p>
    </div>
    <p class="cd-says" data-part="guidelines-says" aria-live="polite">One moment &#8230;</p>
    <div class="cd-prose cd-apart" dir="auto" data-part="guidelines-text"></div>
  </div>
  <div class="cd-panel cd-noting" data-part="note-panel" role="dialog" aria-label="Note" tabindex="-1" hidden>
    <div class="cd-head"><h2>A note with this judgement</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Drop</span></button></div>
    <textarea data-part="note-text" rows="3" maxlength="2000" aria-label="Note" aria-describedby="cd-note-hint"
      dir="auto" autocomplete="off"></textarea>
    <div class="cd-head">
      <span class="cd-says" id="cd-note-hint" data-part="note-hint"></span>
      <button type="button" class="cd-small" data-do="keep-note"><kbd>Enter</kbd><span>Keep</span></button>
    </div>
  </div>
  <div class="cd-panel cd-search" data-part="search-panel" role="dialog" aria-label="Search" tabindex="-1"
    hidden>
    <div class="cd-head"><h2>Search the documents</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Close</span></button></div>
    <input type="text" data-part="search-words" maxlength="500" placeholder="Words to search for"
      aria-label="Words to search for" role="combobox" aria-autocomplete="list" aria-expanded="false"
      aria-controls="cd-found" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search">
    <p class="cd-trouble cd-apart" data-part="search-trouble" role="alert" hidden></p>
    <p class="cd-says" data-part="search-says" role="status"></p>
    <ul class="cd-found" id="cd-found" data-part="found" role="listbox" aria-label="Documents found" hidden></ul>
  </div>
  <div class="cd-panel" data-part="reasons-panel" role="dialog" aria-label="Cannot judge" tabindex="-1"
    hidden>
    <div class="cd-head"><h2>Why can it not be judged?</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Close</span></button></div>
    <div class="cd-reasons" data-part="reasons"></div>
    <div class="cd-other">
      <kbd data-part="other-cap"></kbd>
      <input type="text" data-part="reason-text" maxlength="500" placeholder="Another reason"
        aria-label="Another reason" autocomplete="off">
      <button type="button" class="cd-small" data-do="give-reason"><kbd>Enter</kbd><span>Give</span></button>
    </div>
  </div>
  <div class="cd-panel" data-part="help-panel" role="dialog" aria-label="Keys" tabindex="-1" hidden>
    <div class="cd-head"><h2>Keys</h2>
      <button type="button" class="cd-small" data-do="close"><kbd>Esc</kbd><span>Close</span></button></div>
    <dl data-part="grade-keys"></dl>
    <dl>
      <dt><kbd>u</kbd></dt><dd>take the last judgement back, again and again</dd>
      <dt><kbd>s</kbd></dt><dd>skip: the document comes again at the end of its topic</dd>
      <dt><kbd>x</kbd></dt><dd>cannot judge, with a reason</dd>
      <dt><kbd>&#8592;</kbd> <kbd>&#8594;</kbd></dt><dd>look back at judged documents, and forward again;
        a grade there revises, <kbd>u</kbd> takes back the one in sight</dd>
      <dt><kbd>&#8593;</kbd> <kbd>&#8595;</kbd> <kbd>Space</kbd></dt><dd>scroll the document</dd>
      <dt><kbd>w</kbd></dt><dd>why this document came up; judging goes on beside it</dd>
      <dt><kbd>/</kbd></dt><dd>search the documents: <kbd>&#8593;</kbd> <kbd>&#8595;</kbd> choose,
        <kbd>Enter</kbd> takes one to be judged next</dd>
      <dt><kbd>m</kbd></dt><dd>a note: it goes with the next grade of this document, or changes what a judged one
        has</dd>
      <dt><kbd>g</kbd></dt><dd>the guidelines, and the note for this topic; judging goes on beside them</dd>
      <dt><kbd>n</kbd></dt><dd>next unfinished topic, when this one is done</dd>
      <dt><kbd>?</kbd> <kbd>Esc</kbd></dt><dd>show this list; close what is open</dd>
    </dl>
  </div>
</section>
</div>
"""


def script() -> str:
    """The card's behaviour as the one module that Streamlit wants: no build step, the parts just follow each other."""
    return "".join((HERE / "judge" / f"{part}.js").read_text(encoding="utf-8") for part in PARTS)


@cache
def _component() -> ComponentRenderer:
    """The registered component; the files are read once in the life of the process."""
    import streamlit as st

    return st.components.v2.component(
        "cleverdon_judging_card",
        html=HTML,
        css=(HERE / "judge.css").read_text(encoding="utf-8"),
        js=script(),
    )


def card(data: CardData, key: str = "card") -> None:
    """Draw the judging card at this place of the page.

    Parameters
    ----------
    data
        Token, campaign, annotator, scale, reasons, topic and routes: see :class:`CardData`. A rerun with a
        new token hands it over; the documents and the unsaved judgements in the browser stay as they are.
    key
        The component's key, for a page with more than one element of this kind.
    """
    _component()(data=dict(data), key=key)
