// Search: finds documents of the whole collection, to be judged next or to be looked back at.

/** @import { On, Part, Pressed, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */
/** @import { FoundDocument } from "../wire.d.ts" */

import { pairId } from "../core/kinds/grade.js";
import { causeOf } from "../shell/network.js";
import { lookBack, standingOf, wordsOf } from "./grades.js";
import { byInput } from "./keys.js";
import { apart, cut, forward, make } from "./nodes.js";
import { count } from "./phrases.js";
import { shownTopic } from "./topics.js";

/** Ms in typing after which it is searched. */
export const PAUSE = 350;

/** @implements {Part} */
export class Search {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.words = "";
    /** The topic that is searched for. @type {string} */
    this.queryId = "";
    /** The words that the results are for; null before the first search. @type {string | null} */
    this.searched = null;
    /** The words that are being searched. @type {string | null} */
    this.asked = null;
    /** @type {FoundDocument[]} */
    this.documents = [];
    this.isMore = false;
    this.chosen = -1;
    this.trouble = "";
    /** The document that is being taken. @type {string | null} */
    this.taking = null;
    /** What is drawn: documents with their marks. */
    this.drawn = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.actions = { search: { run: () => this.open(), panel: "search" } };
    this.clicks = { take: (/** @type {HTMLElement} */ { dataset }) => this.take(dataset.doc ?? "") };
    this.panels = {
      search: {
        node: "searchPanel",
        focus: "searchWords",
        field: "searchWords",
        inField: (/** @type {KeyboardEvent} */ event) => this.react(event.key),
        keys: (/** @type {KeyboardEvent} */ _, /** @type {Pressed} */ { key }) =>
          key === "ArrowUp" || key === "ArrowDown" ? this.react(key) : undefined,
        render: () => this.draw(),
        left: () => this.leave(),
      },
    };
  }

  get field() {
    return this.view.field("searchWords");
  }

  /** @param {On} on */
  attach(on) {
    on(this.field, "input", () => this.change());
    return undefined;
  }

  open() {
    const { view } = this;
    const { scope, look, history } = view.state;
    if (view.panel === "search") return this.field.focus();
    if (scope.topic === null)
      return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    // An earlier judgement of another topic is left.
    if (look !== null && shownTopic(view)?.query_id !== scope.topic)
      view.card.dispatch({ type: "look", step: history.length - look });
    if (this.queryId !== scope.topic)
      Object.assign(this, { queryId: scope.topic, asked: null, searched: null, documents: [] });
    Object.assign(this, { chosen: -1, trouble: "" });
    this.field.value = this.words;
    view.setPanel("search");
    this.field.select();
    return this.search();
  }

  leave() {
    clearTimeout(this.timer);
    this.taking = null;
  }

  /** Keys in the field: choosing, taking, leaving; all others write. @param {string} key @returns {Reaction} */
  react(key) {
    if (key === "Escape") return () => this.view.setPanel(null);
    if (key === "Enter") return () => this.enter();
    if (key === "ArrowDown") return () => this.choose(1);
    return key === "ArrowUp" ? () => this.choose(-1) : null;
  }

  /** Whether the results are those of the words in the field. */
  get isCurrent() {
    return this.searched === this.words.trim();
  }

  /** After a change of the words, an early Enter must not take a result of the old ones. */
  change() {
    Object.assign(this, { words: this.field.value, chosen: -1, trouble: "" });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), PAUSE);
    this.draw();
  }

  /** Takes the selected result; without one it searches, then selects the first result. */
  enter() {
    const found = this.documents[this.chosen];
    if (found) return this.take(found.doc_id);
    return this.isCurrent && !this.trouble ? this.choose(1) : this.search();
  }

  /** @param {number} step */
  choose(step) {
    const last = this.documents.length - 1;
    if (this.taking !== null || last < 0 || !this.isCurrent) return;
    this.chosen = this.chosen < 0 && step < 0 ? last : Math.max(0, Math.min(last, this.chosen + step));
    this.draw();
  }

  async search() {
    clearTimeout(this.timer);
    const { queryId } = this;
    const words = this.words.trim();
    if (this.asked === words || (this.isCurrent && !this.trouble)) return;
    Object.assign(this, { asked: words || null, trouble: "" });
    if (!words) Object.assign(this, { searched: "", documents: [], chosen: -1 });
    this.draw();
    if (!words) return;
    /** @type {{ documents: FoundDocument[], more: boolean }} */
    let answer = { documents: [], more: false };
    let trouble = "";
    try {
      answer = await this.view.card.post("search", { query_id: queryId, words });
    } catch (error) {
      trouble = `The search failed: ${causeOf(error)}.`;
    }
    if (this.asked !== words || this.queryId !== queryId) return; // other words are asked for by now
    const { documents, more } = answer;
    Object.assign(this, { asked: null, searched: words, documents, isMore: more, chosen: -1, trouble });
    this.draw();
  }

  /** The annotator's judgement of a result. @param {FoundDocument} found */
  standing({ doc_id, judged, relevance }) {
    const said = judged ? { kind: relevance === null ? "cannot judge" : "graded", relevance } : null;
    return standingOf(this.view, pairId(this.queryId, doc_id), said);
  }

  /** @param {FoundDocument} found */
  isOnScreen({ doc_id }) {
    const { item } = this.view;
    return item !== null && !item.entry && item.subject === pairId(this.queryId, doc_id);
  }

  /** Puts a result on screen: to be judged, or to be looked back at if it is judged. @param {string} docId */
  async take(docId) {
    const { view, queryId } = this;
    const { card } = view;
    const found = this.documents.find(({ doc_id }) => doc_id === docId);
    if (!found || this.taking !== null) return undefined;
    const said = this.standing(found);
    if (said) return lookBack(view, { query_id: queryId, ...found, ...said });
    if (this.isOnScreen(found)) {
      view.setPanel(null);
      return card.dispatch({ type: "notice", notice: { code: "on-screen-already", urgent: true } });
    }
    Object.assign(this, { taking: docId, trouble: "" });
    this.draw();
    try {
      const doc = await card.post("take", { query_id: queryId, doc_id: docId });
      // Where the panel was left meanwhile, nothing is changed under the keys.
      const atOnce = this.taking === docId;
      if (atOnce) view.setPanel(null);
      card.dispatch({ type: "take", queryId, doc, atOnce });
    } catch (error) {
      this.trouble = `The document could not be taken: ${causeOf(error)}.`;
      if (this.taking === docId) this.taking = null;
      this.draw();
    }
    return undefined;
  }

  draw() {
    const { view, documents } = this;
    if (view.panel !== "search") return;
    const list = view.node("found");
    const marks = documents.map((found) => this.markOf(found));
    const drawn = JSON.stringify([this.queryId, documents, marks]);
    if (this.drawn !== drawn) {
      this.drawn = drawn;
      list.replaceChildren(...documents.map((found, i) => foundRow(found, i, marks[i] ?? "")));
      list.scrollTop = 0;
    }
    list.classList.toggle("cd-stale", !this.isCurrent);
    view.setHidden("found", !documents.length);
    select(list, list.children[this.chosen], [this.field]);
    this.field.setAttribute("aria-expanded", String(documents.length > 0));
    this.field.readOnly = this.taking !== null;
    view.setText("searchTrouble", this.trouble);
    view.setHidden("searchTrouble", !this.trouble);
    view.setText("searchSays", this.says());
  }

  says() {
    const n = this.documents.length;
    if (this.taking !== null) return "Loading the document …";
    if (this.trouble && !n) return "";
    if (this.asked) return "Searching …";
    if (!this.words.trim())
      return "Finds documents with all words. Use \u201cexact phrase\u201d, prefix* or NOT word to refine.";
    if (!this.isCurrent) return byInput("Press Enter to search.", "");
    if (!n) return "No document matches.";
    const found = this.isMore ? `Best ${count(n, "document")}` : count(n, "document");
    return `${found}. ${byInput("Select one with \u2193, judge it next with Enter.", "Tap one to judge it next.")}`;
  }

  /** @param {FoundDocument} found */
  markOf(found) {
    const standing = this.standing(found);
    if (standing) return `Judged: ${wordsOf(this.view, standing)}`;
    return this.isOnScreen(found) ? "On screen" : "";
  }
}

/**
 * Selects a row of a list; the fields that have the focus meanwhile name it.
 *
 * @param {Element} list @param {Element | undefined} row @param {Element[]} fields
 */
export function select(list, row, fields) {
  const former = list.querySelector("[aria-selected=true]");
  if (former === (row ?? null)) return;
  former?.setAttribute("aria-selected", "false");
  row?.setAttribute("aria-selected", "true");
  row?.scrollIntoView({ block: "nearest" });
  for (const field of fields) {
    if (row) field.setAttribute("aria-activedescendant", row.id);
    else field.removeAttribute("aria-activedescendant");
  }
}

/**
 * A row of a list of documents, with its title.
 *
 * @param {string} id @param {Record<string, string>} data @param {string} title
 */
export function option(id, data, title) {
  const row = make("li", { id, role: "option", ariaSelected: "false" });
  Object.assign(row.dataset, data);
  const head = make("div", { className: "cd-found-head" });
  head.append(apart("b", cut(title, 200)));
  return { row, head };
}

/** @param {FoundDocument} found @param {number} i @param {string} mark */
function foundRow({ doc_id, title, snippet }, i, mark) {
  const { row, head } = option(`cd-found-${i}`, { do: "take", doc: doc_id }, title || doc_id);
  if (mark) head.append(apart("span", mark, "cd-badge"));
  row.append(head);
  if (title) row.append(apart("div", cut(doc_id, 200), "cd-id"));
  row.append(snippetOf(snippet));
  return row;
}

/** U+0002 and U+0003 stand around the words that were found; everything is a text node. @param {string} snippet */
function snippetOf(snippet) {
  const line = apart("div", "", "cd-snippet");
  const [first = "", ...parts] = cut(snippet, 2000).split("\u0002");
  line.append(forward(first));
  for (const part of parts) {
    const [marked = "", ...rest] = part.split("\u0003");
    line.append(make("mark", { textContent: forward(marked) }), forward(rest.join("")));
  }
  return line;
}
