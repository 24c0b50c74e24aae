// Highlights in texts, without a change of their nodes (CSS Custom Highlight API).

/** @import { Item, Place } from "../core/types.js" */
/** @import { On, Part } from "./types.js" */
/** @import { View } from "./view.js" */
/** @import { Segment } from "./text.js" */

import { findOwnWords } from "./own_words.js";
import { rangesOf } from "./text.js";

/** A text and the places of the topic's words in it. @typedef {{ terms: Place[], segments: Segment[] }} Marked */

/** Every highlight of the card, the later one over the former: their looks are in the style sheets. */
const PAINTS = ["cd-passage", "cd-topic-term", "cd-own-word", "cd-sentence"];

const MOST_RANGES = 5_000;

/** Characters: a longer text is highlighted after it is painted. */
const AT_ONCE = 4_000;

/** Characters of one's own words for a topic, and of those for other topics. */
const MOST_OWN_WORDS = 300;
const MOST_KEPT = 4_000;

/** What each highlight depends on, as it is painted now. @type {Map<string, unknown[]>} */
const painted = new Map();

/** @param {unknown[]} some @param {unknown[] | undefined} others */
const isSame = (some, others) => some.length === others?.length && some.every((each, i) => each === others[i]);

/** Puts a highlight on these ranges and off all others, where what it depends on has changed. @param {string} name @param {unknown[]} on @param {() => AbstractRange[]} ranges */
export function paint(name, on, ranges) {
  if (isSame(on, painted.get(name))) return;
  painted.set(name, on);
  const highlight = new Highlight(...ranges().slice(0, MOST_RANGES));
  highlight.priority = PAINTS.indexOf(name);
  CSS.highlights.set(name, highlight);
}

/** The words of the topic, which the server finds, and in some cards the annotator's own. @implements {Part} */
export class Highlights {
  /** @param {View} view @param {() => Marked[]} marked what is on screen; drawn before this part is */
  constructor(view, marked) {
    this.view = view;
    this.marked = marked;
    /** What the highlights depend on. @type {unknown[]} */
    this.on = [];
    /** @type {HTMLInputElement | undefined} */
    this.field = /** @type {any} */ (view.nodes.ownWords);
    this.actions = { highlight: { run: () => this.toggle() }, "own-words": { run: () => this.openField() } };
  }

  get wanted() {
    const { topic = true, own = true } = this.view.own.marks ?? {};
    return { topic, own: this.field !== undefined && own };
  }

  /** @param {Item | null} item */
  render(item) {
    if (!item) return;
    const { queryId } = item.unit;
    this.renderField(queryId);
    const { topic, own } = this.wanted;
    const words = (own && this.view.own.words[queryId]) || "";
    const marked = this.marked();
    const on = [topic, words, ...marked.map(({ segments }) => segments)];
    if (isSame(on, this.on)) return;
    this.on = on;
    const run = () => {
      if (this.on !== on) return; // something else is on screen
      paint("cd-topic-term", on, () => (topic ? marked.flatMap(termsIn) : []));
      paint("cd-own-word", on, () => (words ? marked.flatMap((each) => wordsIn(each, words)) : []));
    };
    // In the frame that shows the text, so that no key waits for the highlights; those of a long text come after it.
    const isLong = marked.some(({ segments }) => segments.some(({ text }) => text.length > AT_ONCE));
    requestAnimationFrame(() => (isLong ? setTimeout(run) : run()));
  }

  toggle() {
    const { card, own } = this.view;
    const on = !this.wanted.topic && !this.wanted.own;
    card.arrangement.change({ marks: { ...own.marks, topic: on, ...(this.field && { own: on }) } });
    return card.say(on ? "Highlights are on." : "Highlights are off.");
  }

  // ------------------------------------------------------------------------------------------- own words

  /** @param {string} queryId */
  renderField(queryId) {
    const { field, view } = this;
    if (!field) return;
    view.node("highlight").setAttribute("aria-pressed", String(this.wanted.topic || this.wanted.own));
    const words = view.own.words[queryId] ?? "";
    const isWriting = view.active === field && field.dataset.query === queryId;
    if (!isWriting && field.value !== words) field.value = words;
    field.dataset.query = queryId;
  }

  openField() {
    const { field, view } = this;
    if (field?.dataset.query === undefined) return view.reply();
    if (field.offsetParent === null) view.node("fold").click(); // narrow, the topic is folded to its title
    field.focus();
    return field.select();
  }

  /** They are highlighted as they are written. @param {HTMLInputElement} field */
  take({ dataset: { query }, value }) {
    if (query === undefined) return;
    const { arrangement } = this.view.card;
    const { [query]: _, ...others } = arrangement.own.words;
    const kept = Object.entries(others);
    while (JSON.stringify(kept).length > MOST_KEPT) kept.shift(); // the server keeps no more than so much
    if (value.trim()) kept.push([query, value.slice(0, MOST_OWN_WORDS)]);
    arrangement.change({ words: Object.fromEntries(kept) });
  }

  /** @param {On} on */
  attach(on) {
    const { field } = this;
    if (field) on(field, "input", () => this.take(field));
    return () => {
      for (const name of PAINTS) CSS.highlights.delete(name);
      painted.clear();
      this.on = [];
    };
  }
}

/** @param {Marked} marked */
const termsIn = ({ terms, segments }) => terms.flatMap((place) => rangesOf(segments, place));

/** @param {Marked} marked @param {string} words */
const wordsIn = ({ segments }, words) =>
  segments.flatMap((segment) => findOwnWords(words, segment.text).flatMap((place) => segment.range(...place)));
