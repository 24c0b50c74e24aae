// A list of documents, of which some are selected: one row for each, used again for the next list.

/** @import { Doc, Item, Main, Marked, Source, View } from "../types.js" */

import { chosenOf } from "../../core/state.js";
import { Segment } from "../document/text.js";
import { cut, forward, make, setHidden, setWords } from "../frame/nodes.js";
import { count, plural } from "../frame/phrases.js";
import { markAnswers, setColumns } from "./answers.js";
import { Tile } from "./tile.js";
import { decisionIn } from "./units.js";

/** Characters of a text that is not open, for each of its lines: more than one can hold. */
const LINE = 140;

class Row {
  /** @param {number} i @param {boolean} single whether only one document can be selected */
  constructor(i, single) {
    const title = { id: `cd-option-${i}`, className: "cd-apart", dir: "auto" };
    const lines = { id: `cd-lines-${i}`, className: "cd-lines cd-apart", dir: "auto" };
    const openRow = { do: "open-row" };
    this.title = make("h3", title);
    this.lines = make("p", lines);
    this.id = make("span", { className: "cd-id cd-apart" });
    this.tick = make(
      "div",
      { className: "cd-tick", tabIndex: 0, role: single ? "button" : "checkbox", dataset: { do: "choose" } },
      // The key that selects it; rows after the tenth are reached by the cursor only.
      make("kbd", { hidden: i > 9 }, `${(i + 1) % 10}`),
      make("i", { className: "cd-box" }),
    );
    this.tick.setAttribute("aria-labelledby", title.id);
    this.tick.setAttribute("aria-describedby", lines.id);
    const said = make("div", { className: "cd-said", dataset: openRow }, this.title, this.id, this.lines);
    this.open = make("button", { type: "button", className: "cd-unfold", dataset: openRow });
    this.whole = make("div", { className: "cd-whole cd-document", hidden: true });
    this.tile = new Tile(this.whole, { title: false });
    this.node = make("li", { className: "cd-option", dataset: { at: `${i}` } }, this.tick, said, this.open, this.whole);
    /** @type {Doc | null} */
    this.doc = null;
    this.most = 0;
    this.isOpen = false;
    /** The places of the topic's words. @type {Marked[]} */
    this.marked = [];
  }

  /** @param {Doc} doc @param {boolean} isOpen @param {number} most characters of a text that is not open */
  draw(doc, isOpen, most) {
    if (this.doc === doc && this.isOpen === isOpen && this.most === most) return;
    const name = doc.title || doc.doc_id;
    const title = cut(name, 300);
    setWords(this.title, title);
    setWords(this.id, doc.title ? cut(doc.doc_id, 100) : "");
    Object.assign(this.open, { ariaLabel: `Full text of ${forward(cut(name, 100))}`, ariaExpanded: String(isOpen) });
    const start = (doc.text ?? "The text of this document has not been imported.").slice(0, most);
    const preview = start.trimStart();
    setWords(this.lines, preview);
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

/** @param {View} view @returns {Main} */
export function lists(view) {
  const { card } = view;
  const place = view.node("documents");
  /** @type {Row[]} */
  const rows = [];
  /** The rows with the cursor and with the open text; -1 for none. */
  let at = -1;
  let open = -1;
  /** Preview lines per row, and the number of rows they were computed for; 0 recomputes them. */
  let lines = 0;
  let fitted = 0;

  /** The maximum number of selected documents. */
  const most = () => view.data.card.most_chosen ?? 1;

  /** @param {(item: Item, source: Source) => unknown} run @returns {(source: Source) => unknown} */
  const onList = (run) => (source) => (view.item ? run(view.item, source) : view.reply());

  /** @param {string[]} chosen @param {Source} source */
  const decide = (chosen, source) => view.decide({ kind: "chosen", chosen }, source);

  /** Selects a document, or deselects it; where only one can be selected, that decides. @param {Item} item @param {number} which @param {Source} source */
  function choose(item, which, source) {
    const id = item.unit.documents[which]?.doc_id;
    const chosen = chosenOf(view.state, item);
    if (id === undefined) card.say(`There is no document ${which + 1} in this list.`);
    else if (most() === 1) decide([id], source);
    else if (!chosen.includes(id) && chosen.length >= most())
      card.say(`At most ${count(most(), "document")}: deselect one first.`);
    else card.dispatch({ type: "tick", id });
  }

  /** Submits the selected documents, or the current one where only one can be selected. @param {Item} item @param {Source} source */
  function submit(item, source) {
    if (most() === 1 && at >= 0) return choose(item, at, source);
    const chosen = chosenOf(view.state, item);
    const none = view.keys.hint("none");
    if (!chosen.length) return card.say(`Select a document first, or “None of these”${none && ` (${none})`}.`);
    const inOrder = item.unit.documents.map(({ doc_id }) => doc_id).filter((id) => chosen.includes(id));
    return decide(inOrder, source);
  }

  /** Submits "none of these", unless something is selected. @param {Item} item @param {Source} source */
  function chooseNone(item, source) {
    const ticked = !item.entry && !item.unit.before && most() > 1 ? chosenOf(view.state, item).length : 0;
    if (!ticked) return decide([], source);
    const are = count(ticked, "document is", "documents are");
    return card.say(`${are} selected: deselect ${plural(ticked, "it", "them")} or submit.`);
  }

  /** Moves the cursor; through a document that is open and longer than its place, it scrolls first. @param {Item} item @param {number} by */
  function step({ unit: { documents } }, by) {
    const node = open === at ? rows[at]?.node : undefined;
    if (node) {
      const [around, own] = [place.getBoundingClientRect(), node.getBoundingClientRect()];
      const beyond = by > 0 ? own.bottom - around.bottom : around.top - own.top;
      if (beyond > 1) return place.scrollBy(0, by * Math.min(beyond, around.height / 3));
    }
    const last = documents.length - 1;
    return goTo(at < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, at + by)));
  }

  /** Shows a document whole, in its place; the one that was open is closed. @param {Item} item @param {number} which */
  function openText({ unit }, which) {
    if (!unit.documents[which]) return;
    open = open === which ? -1 : which;
    goTo(which);
  }

  /** @param {number} which */
  function goTo(which) {
    at = which;
    view.render();
    const { node, tick, isOpen } = /** @type {Row} */ (rows[which]);
    tick.focus({ preventScroll: true });
    node.scrollIntoView({ block: isOpen && node.offsetHeight > place.clientHeight ? "start" : "nearest" });
  }

  /** @param {Item} item */
  function drawRows(item) {
    const { documents } = item.unit;
    const chosen = chosenOf(view.state, item);
    while (rows.length < documents.length) {
      const row = new Row(rows.length, most() === 1);
      rows.push(row);
      view.node("list").append(row.node);
    }
    if (fitted !== documents.length) {
      // so many that the whole list is in sight, from two to six
      lines = Math.max(2, Math.min(6, Math.floor((place.clientHeight / documents.length - 38) / 20)));
      fitted = documents.length;
      view.node("list").style.setProperty("--cd-lines", String(lines));
    }
    for (const [i, row] of rows.entries()) {
      const doc = documents[i];
      setHidden(row.node, !doc);
      if (!doc) continue;
      row.draw(doc, open === i, lines * LINE);
      row.mark(chosen.includes(doc.doc_id), at === i);
    }
  }

  return {
    places: [place],
    marked: () => rows.filter(({ node }) => !node.hidden).flatMap((row) => row.marked),
    actions: {
      done: { run: onList(submit) },
      none: { run: onList(chooseNone) },
      down: { run: onList((item) => step(item, 1)), repeats: true },
      up: { run: onList((item) => step(item, -1)), repeats: true },
      tick: {
        run: onList((item, source) =>
          at < 0 ? card.say("Press a digit, or go to a document with ↓ and press Space.") : choose(item, at, source),
        ),
      },
      open: { run: onList((item) => openText(item, Math.max(0, at))) },
    },
    clicks: {
      choose: (node) => view.item && choose(view.item, rowOf(node), "click"),
      "open-row": (node) => view.item && openText(view.item, rowOf(node)),
    },
    /** A digit is a document. */
    digit: (digit) => onList((item, source) => choose(item, digit === 0 ? 9 : digit - 1, source)),
    attach(on) {
      view.setHidden("done", most() === 1);
      setColumns(view.node("answers"), most() === 1 ? 1 : 2);
      on(view.node("list"), "focusin", ({ target }) => {
        const which = rowOf(target);
        if (which < 0 || which === at) return;
        at = which;
        view.render();
      });
      on(window, "resize", () => {
        fitted = 0;
        view.render();
      });
    },
    render(item, turned) {
      view.setHidden("list", !item);
      if (turned) {
        [at, open] = [-1, -1];
        if (view.active?.closest("[data-part=list]")) view.letGo();
      }
      if (item) drawRows(item);
      const chosen = item && most() > 1 ? chosenOf(view.state, item).length : 0;
      view.setText("doneWords", chosen ? `Submit ${chosen} of up to ${Math.max(chosen, most())}` : "Submit");
      const decision = decisionIn(view, item);
      const isNone = decision?.kind === "chosen" && !decision.chosen?.length;
      markAnswers(view, item, [view.node("none")], isNone ? "none" : decision?.kind);
    },
  };
}
