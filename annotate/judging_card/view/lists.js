// A list of documents, of which some are selected: one row for each, used again for the next list.

/** @import { Doc, Item } from "../core/types.js" */
/** @import { Marked } from "./highlights.js" */
/** @import { Action, On, Part, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { chosenOf } from "../core/state.js";
import { cut, forward, make, setHidden } from "./nodes.js";
import { count, plural } from "./phrases.js";
import { Segment } from "./text.js";
import { Tile } from "./tile.js";
import { markAnswers, sayNothingHere } from "./units.js";

/** Characters of a text that is not open, for each of its lines: more than one can hold. */
const LINE = 140;

class Row {
  /** @param {number} i @param {boolean} single whether only one document can be selected */
  constructor(i, single) {
    this.node = make("li", { className: "cd-option" });
    this.node.dataset.at = String(i);
    this.tick = make("div", { className: "cd-tick", tabIndex: 0, role: single ? "button" : "checkbox" });
    this.tick.dataset.do = "choose";
    this.title = make("h3", { className: "cd-apart", dir: "auto", id: `cd-option-${i}` });
    this.tick.setAttribute("aria-labelledby", this.title.id);
    this.lines = make("p", { className: "cd-lines cd-apart", dir: "auto", id: `cd-lines-${i}` });
    this.tick.setAttribute("aria-describedby", this.lines.id);
    // The key that selects it; those behind the tenth have the cursor alone.
    this.tick.append(
      make("kbd", { textContent: String((i + 1) % 10), hidden: i > 9 }),
      make("i", { className: "cd-box" }),
    );
    const said = make("div", { className: "cd-said" });
    said.dataset.do = "open-row";
    this.id = make("span", { className: "cd-id cd-apart" });
    said.append(this.title, this.id, this.lines);
    this.open = make("button", { type: "button", className: "cd-unfold" });
    this.open.dataset.do = "open-row";
    this.whole = make("div", { className: "cd-whole cd-document", hidden: true });
    this.tile = new Tile(this.whole, { title: false });
    this.node.append(this.tick, said, this.open, this.whole);
    /** @type {Doc | null} */
    this.doc = null;
    this.most = 0;
    this.isOpen = false;
    /** Where the topic's words are. @type {Marked[]} */
    this.marked = [];
  }

  /** @param {Doc} doc @param {boolean} isOpen @param {number} most characters of a text that is not open */
  draw(doc, isOpen, most) {
    if (this.doc === doc && this.isOpen === isOpen && this.most === most) return;
    const name = doc.title || doc.doc_id;
    const title = cut(name, 300);
    this.title.textContent = forward(title);
    this.id.textContent = doc.title ? forward(cut(doc.doc_id, 100)) : "";
    Object.assign(this.open, { ariaLabel: `Full text of ${cut(name, 100)}`, ariaExpanded: String(isOpen) });
    const start = (doc.text ?? "The text of this document has not been imported.").slice(0, most);
    const preview = start.trimStart();
    this.lines.textContent = forward(preview);
    setHidden(this.lines, isOpen);
    setHidden(this.whole, !isOpen);
    if (isOpen) this.tile.draw(doc);
    const segments = [new Segment(start.length - preview.length, preview, this.lines)];
    this.marked = [
      { terms: doc.title_terms, segments: [new Segment(0, title, this.title)] },
      ...(isOpen ? this.tile.marked : [{ terms: doc.terms, segments }]),
    ];
    Object.assign(this, { doc, isOpen, most });
  }

  /** @param {boolean} isTicked @param {boolean} isAt whether the cursor is there */
  mark(isTicked, isAt) {
    this.tick.ariaChecked = String(isTicked);
    this.node.classList.toggle("cd-chosen", isTicked);
    this.node.classList.toggle("cd-at", isAt);
  }
}

/** The number of the row that a node is in; -1 for none. @param {EventTarget | null} node */
const rowOf = (node) =>
  Number(/** @type {HTMLElement | null} */ (/** @type {Element} */ (node).closest("[data-at]"))?.dataset.at ?? -1);

/** @implements {Part} */
export class Lists {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {Row[]} */
    this.rows = [];
    /** The rows with the cursor and with the open text; -1 for none. */
    this.at = -1;
    this.open = -1;
    /** Lines of a text that is not open, for how many rows; 0 to find out anew. */
    this.lines = 0;
    this.fitted = 0;
    this.place = view.node("documents");
    this.places = [this.place];
    /** @param {(item: Item, source: Source) => unknown} run @param {boolean} repeats @returns {Action} */
    const onList = (run, repeats = false) => ({
      run: (source) => (view.item ? run(view.item, source) : sayNothingHere(view)),
      repeats,
    });
    this.actions = {
      done: onList((item, source) => this.submit(item, source)),
      none: onList((item, source) => this.chooseNone(item, source)),
      down: onList((item) => this.step(item, 1), true),
      up: onList((item) => this.step(item, -1), true),
      tick: onList((item, source) => {
        if (this.at >= 0) this.choose(item, this.at, source);
        else view.card.say("Press a digit, or go to a document with ↓ and press Space.");
      }),
      open: onList((item) => this.openText(item, Math.max(0, this.at))),
    };
    /** @type {Part["clicks"]} */
    this.clicks = {
      choose: (node) => view.item && this.choose(view.item, rowOf(node), "click"),
      "open-row": (node) => view.item && this.openText(view.item, rowOf(node)),
    };
  }

  get most() {
    return this.view.data.card.most_chosen ?? 1;
  }

  get marked() {
    return this.rows.filter(({ node }) => !node.hidden).flatMap((row) => row.marked);
  }

  /** A digit is a document. @param {number} digit @returns {Action["run"]} */
  digit(digit) {
    const { view } = this;
    return (source) => (view.item ? this.choose(view.item, digit === 0 ? 9 : digit - 1, source) : sayNothingHere(view));
  }

  /** Selects a document, or deselects it; where only one can be selected, that decides. @param {Item} item @param {number} at @param {Source} source */
  choose(item, at, source) {
    const { most, view } = this;
    const id = item.unit.documents[at]?.doc_id;
    const chosen = chosenOf(view.state, item);
    if (id === undefined) view.card.say(`There is no document ${at + 1} in this list.`);
    else if (most === 1) this.decide([id], source);
    else if (!chosen.includes(id) && chosen.length >= most)
      view.card.say(`At most ${count(most, "document")}: deselect one first.`);
    else view.card.dispatch({ type: "tick", id });
  }

  /** @param {string[]} chosen @param {Source} source */
  decide(chosen, source) {
    const { card } = this.view;
    card.dispatch({ type: "decide", answer: { kind: "chosen", chosen }, ...card.by(source) });
  }

  /** Submits the selected documents, or the current one where only one can be selected. @param {Item} item @param {Source} source */
  submit(item, source) {
    const { view } = this;
    if (this.most === 1 && this.at >= 0) return this.choose(item, this.at, source);
    const chosen = chosenOf(view.state, item);
    const none = view.keys.hint("none");
    if (!chosen.length) return view.card.say(`Select a document first, or “None of these”${none && ` (${none})`}.`);
    const inOrder = item.unit.documents.map(({ doc_id }) => doc_id).filter((id) => chosen.includes(id));
    return this.decide(inOrder, source);
  }

  /** Submits "none of these", unless something is selected. @param {Item} item @param {Source} source */
  chooseNone(item, source) {
    const { view } = this;
    const ticked = !item.entry && !item.unit.before && this.most > 1 ? chosenOf(view.state, item).length : 0;
    if (!ticked) return this.decide([], source);
    const are = count(ticked, "document is", "documents are");
    return view.card.say(`${are} selected: deselect ${plural(ticked, "it", "them")} or submit.`);
  }

  /** Moves the cursor; through a document that is open and longer than its place, it scrolls first. @param {Item} item @param {number} by */
  step({ unit: { documents } }, by) {
    const node = this.open === this.at ? this.rows[this.at]?.node : undefined;
    if (node) {
      const [place, own] = [this.place.getBoundingClientRect(), node.getBoundingClientRect()];
      const beyond = by > 0 ? own.bottom - place.bottom : place.top - own.top;
      if (beyond > 1) return this.place.scrollBy(0, by * Math.min(beyond, place.height / 3));
    }
    const last = documents.length - 1;
    return this.goTo(this.at < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, this.at + by)));
  }

  /** Shows a document whole, in its place; the one that was open is closed. @param {Item} item @param {number} at */
  openText({ unit }, at) {
    if (!unit.documents[at]) return;
    this.open = this.open === at ? -1 : at;
    this.goTo(at);
  }

  /** @param {number} at */
  goTo(at) {
    this.at = at;
    this.view.render();
    const { node, tick, isOpen } = /** @type {Row} */ (this.rows[at]);
    tick.focus({ preventScroll: true });
    node.scrollIntoView({ block: isOpen && node.offsetHeight > this.place.clientHeight ? "start" : "nearest" });
  }

  /** @param {On} on */
  attach(on) {
    const { view } = this;
    const columns = this.most === 1 ? "1" : "2";
    view.setHidden("done", this.most === 1);
    for (const name of ["--cd-grades", "--cd-grades-narrow"]) view.node("answers").style.setProperty(name, columns);
    on(view.node("list"), "focusin", ({ target }) => {
      const at = rowOf(target);
      if (at < 0 || at === this.at) return;
      this.at = at;
      view.render();
    });
    on(window, "resize", () => {
      this.fitted = 0;
      view.render();
    });
    return undefined;
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { view } = this;
    view.setHidden("list", !item);
    if (turned) {
      Object.assign(this, { at: -1, open: -1 });
      if (view.active?.closest("[data-part=list]")) view.letGo();
    }
    if (item) this.renderRows(item);
    const chosen = item && this.most > 1 ? chosenOf(view.state, item).length : 0;
    view.setText("doneWords", chosen ? `Submit ${chosen} of up to ${Math.max(chosen, this.most)}` : "Submit");
    markAnswers(view, item, ["none"], ({ kind, chosen: ids }) => (kind === "chosen" && !ids?.length ? "none" : kind));
  }

  /** @param {Item} item */
  renderRows(item) {
    const { view, rows } = this;
    const { documents } = item.unit;
    const chosen = chosenOf(view.state, item);
    while (rows.length < documents.length) {
      const row = new Row(rows.length, this.most === 1);
      rows.push(row);
      view.node("list").append(row.node);
    }
    if (this.fitted !== documents.length) {
      // so many that the whole list is in sight, from two to six
      const lines = Math.floor((this.place.clientHeight / documents.length - 38) / 20);
      Object.assign(this, { fitted: documents.length, lines: Math.max(2, Math.min(6, lines)) });
      view.node("list").style.setProperty("--cd-lines", String(this.lines));
    }
    for (const [i, row] of rows.entries()) {
      const doc = documents[i];
      setHidden(row.node, !doc);
      if (!doc) continue;
      row.draw(doc, this.open === i, this.lines * LINE);
      row.mark(chosen.includes(doc.doc_id), this.at === i);
    }
  }
}
