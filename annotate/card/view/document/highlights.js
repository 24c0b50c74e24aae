// Highlights in texts, without a change of their nodes (CSS Custom Highlight API).

/** @import { CardData, Marked, Own, Part, View } from "../types.js" */

import { setPressed } from "../frame/nodes.js";
import { findOwnWords, writtenTerms } from "./own_words.js";
import { rangesOf } from "./text.js";

/** Every highlight of the card, the later one over the former: their looks are in the style sheets. */
const TERMS = ["cd-topic-term", "cd-include-term", "cd-exclude-term"];
const PAINTS = ["cd-best", "cd-passage", ...TERMS, "cd-own-word", "cd-sentence"];

const MOST_RANGES = 5_000;

/** Characters and places: a longer text, or one with more places, is highlighted in the frame after it is painted. */
const AT_ONCE = 4_000;
const FEW_PLACES = 20;

/** Characters of one's own words for a topic, and of those for other topics. */
const MOST_OWN_WORDS = 300;
const MOST_KEPT = 4_000;

/** The values that each highlight depends on. @type {Map<string, unknown[]>} */
const painted = new Map();

/**
 * Puts a highlight on these ranges and off all others, where what it depends on has changed: in the frame that shows the
 * text, so that no key waits for it; that of a long text comes in the next one.
 *
 * @param {string} name @param {unknown[]} on @param {() => AbstractRange[]} ranges
 */
export function paint(name, on, ranges, isLong = false) {
  const former = painted.get(name);
  if (on.length === former?.length && on.every((each, i) => each === former[i])) return;
  painted.set(name, on);
  const run = () => {
    if (painted.get(name) !== on) return; // something else is on screen
    const found = ranges().slice(0, MOST_RANGES);
    if (!found.length && !CSS.highlights.get(name)?.size) return;
    const highlight = new Highlight(...found);
    highlight.priority = PAINTS.indexOf(name);
    CSS.highlights.set(name, highlight);
  };
  requestAnimationFrame(() => {
    if (!isLong) return run();
    // Browsers paint all highlighted text again after any change of the page: not the places of what was there before.
    CSS.highlights.get(name)?.clear();
    return requestAnimationFrame(run);
  });
}

/** Whether the words of the topic are highlighted: by default, unless a review has terms of its own. @param {Pick<Own, "marks">} own @param {Pick<CardData, "review_terms">} data */
export const marksTopic = ({ marks }, { review_terms: terms }) =>
  marks?.topic ?? !(terms?.include.length || terms?.exclude.length);

/** The words of the topic, which the server finds, the terms of a review, and in some cards the annotator's own words. @param {View} view @param {() => Marked[]} marked what is on screen; drawn before this part is @returns {Part} */
export function highlights(view, marked) {
  const { arrangement } = view.card;
  const field = view.nodes.ownWords && view.field("ownWords");

  function wanted() {
    const { own = true, review = true } = view.own.marks ?? {};
    return {
      topic: marksTopic(view.own, view.data),
      own: field !== undefined && own,
      review: view.data.review_terms !== undefined && review,
    };
  }

  function toggle() {
    const on = !Object.values(wanted()).some(Boolean);
    const review = view.data.review_terms && { review: on };
    const topic = on && marksTopic({ marks: {} }, view.data);
    arrangement.change({ marks: { ...view.own.marks, topic, ...(field && { own: on }), ...review } });
    return view.card.say(on ? "Highlights are on." : "Highlights are off.");
  }

  function openField() {
    if (field?.dataset.query === undefined) return view.reply();
    if (field.offsetParent === null) view.node("fold").click(); // narrow, the topic is folded to its title
    field.focus();
    return field.select();
  }

  /** They are highlighted as they are written. @param {HTMLInputElement} field */
  function take({ dataset: { query }, value }) {
    if (query === undefined) return;
    const { [query]: _, ...others } = view.own.words;
    const entries = Object.entries(others);
    while (JSON.stringify(entries).length > MOST_KEPT) entries.shift(); // the server keeps no more than so much
    if (value.trim()) entries.push([query, value.slice(0, MOST_OWN_WORDS)]);
    arrangement.change({ words: Object.fromEntries(entries) });
  }

  return {
    actions: { highlight: { run: toggle }, "own-words": { run: openField } },
    attach(on) {
      if (field) on(field, "input", () => take(field));
      return () => {
        for (const name of PAINTS) CSS.highlights.delete(name);
        painted.clear();
      };
    },
    render(item) {
      if (!item) return;
      const { queryId } = item.unit;
      const { topic, own, review } = wanted();
      const words = view.own.words[queryId] ?? "";
      if (field) {
        setPressed(view.node("highlight"), topic || own || review);
        const isWriting = view.active === field && field.dataset.query === queryId;
        if (!isWriting && field.value !== words) field.value = words;
        field.dataset.query = queryId;
      }
      const all = marked();
      const drawn = all.map(({ segments }) => segments);
      const characters = drawn.flat().reduce((sum, { text }) => sum + text.length, 0);
      const isLong = characters > AT_ONCE || all.some((each) => each.terms.length > FEW_PLACES);
      const terms = () => (topic ? all.flatMap(termsIn) : []);
      // Terms are part of the key: the nuggets of an answer share its text, but not their terms.
      paint("cd-topic-term", [topic, ...drawn, ...all.map((each) => each.terms)], terms, isLong);
      /** @param {string} name @param {string} written */
      const paintWords = (name, written) =>
        paint(name, written ? [written, ...drawn] : [], () => all.flatMap((each) => wordsIn(each, written)), isLong);
      const { include = [], exclude = [] } = (review && view.data.review_terms) || {};
      if (view.data.review_terms) {
        paintWords("cd-include-term", writtenTerms(include));
        paintWords("cd-exclude-term", writtenTerms(exclude));
      }
      paintWords("cd-own-word", own ? words : "");
    },
  };
}

/** @param {Marked} marked */
const termsIn = ({ terms, segments }) => terms.flatMap((place) => rangesOf(segments, place));

/** @param {Marked} marked @param {string} words */
const wordsIn = ({ segments }, words) =>
  segments.flatMap((segment) => findOwnWords(words, segment.text).flatMap((place) => segment.range(...place)));
