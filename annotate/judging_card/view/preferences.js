// Two documents side by side, and the answers: which one is better, or neither.

/** @import { Doc, Item, Unit } from "../core/types.js" */
/** @import { Action, On, Part, Scroller } from "./types.js" */
/** @import { View } from "./view.js" */

import { OTHER_WAY } from "../core/kinds/preference.js";
import { figure } from "./phrases.js";
import { Tile } from "./tile.js";
import { drawShare, markAnswers, unitOf } from "./units.js";

const SIDES = /** @type {const} */ (["left", "right"]);

/** The answers by their digits. */
const ANSWERS = ["equal", "left", "right"];

/** A document that has gone from the pool meanwhile. @type {Omit<Doc, "doc_id">} */
const GONE = {
  title: "",
  ...{ text: null, html: null, form: "text", length: 0, truncated: false, excerpts: null, metadata: {} },
  ...{ images: [], terms: [], title_terms: [] },
};

/** @param {Unit} unit @param {string} id */
export const documentOf = ({ documents }, id) =>
  documents.find(({ doc_id }) => doc_id === id) ?? { ...GONE, doc_id: id };

/** Scrolls both documents by the same share of what of them is hidden. @param {View} view @returns {Scroller} */
export function scrollerOf({ root }) {
  const places = [...root.querySelectorAll(".cd-half")];
  /** @param {Element} place */
  const range = (place) => place.scrollHeight - place.clientHeight;
  const longest = /** @type {HTMLElement} */ (places.reduce((a, b) => (range(a) >= range(b) ? a : b)));
  return {
    node: longest,
    clientHeight: longest.clientHeight,
    scrollHeight: longest.scrollHeight,
    scrollBy(_, by) {
      const share = by / Math.max(1, range(longest));
      for (const place of places) place.scrollTop += share * range(place);
    },
  };
}

/** @implements {Part} */
export class Preferences {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.sides = SIDES.map((name) => {
      const place = /** @type {HTMLElement} */ (view.root.querySelector(`[data-side=${name}]`));
      return { name, place, tile: new Tile(/** @type {HTMLElement} */ (place.querySelector("article"))) };
    });
    this.places = this.sides.map(({ place }) => place);
    /** The side that has most of the room where they are stacked, until the next pair. */
    this.larger = "";
    /** @type {Record<string, Action>} */
    this.actions = { room: { run: () => this.giveRoom({ "": "left", left: "right" }[this.larger] ?? "") } };
    for (const [i, kind] of ANSWERS.entries()) this.actions[kind] = { run: (source) => this.digit(i)?.(source) };
    this.clicks = {
      room: (/** @type {HTMLElement} */ { dataset: { side = "" } }) => this.giveRoom(this.larger === side ? "" : side),
    };
    for (const name of ["--cd-grades", "--cd-grades-narrow"]) view.node("answers").style.setProperty(name, "3");
  }

  get marked() {
    return this.sides.flatMap(({ tile }) => tile.marked);
  }

  /** 1 is the left one, 2 the right one, 0 neither. @param {number} digit @returns {Action["run"] | null} */
  digit(digit) {
    const { card } = this.view;
    const kind = ANSWERS[digit];
    if (!kind) return null;
    return (source) => card.dispatch({ type: "decide", answer: { kind }, ...card.by(source) });
  }

  /** @param {string} side */
  giveRoom(side) {
    this.larger = side;
    for (const { name, place } of this.sides) place.classList.toggle("cd-larger", name === side);
  }

  /** @param {On} on */
  attach(on) {
    for (const { place } of this.sides) {
      // Whoever has come to it with Tab moves that one alone.
      on(place, "focusin", () => place.toggleAttribute("data-scrolls", place.matches(":focus-visible")));
      on(place, "focusout", () => place.removeAttribute("data-scrolls"));
    }
    return undefined;
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    if (turned && this.larger) this.giveRoom("");
    for (const { name, place, tile } of this.sides) {
      place.hidden = !item;
      if (item) tile.draw(documentOf(item.unit, item.about[name] ?? ""));
    }
    markAnswers(this.view, item, ANSWERS, ({ kind, left }) =>
      item?.about.left === left ? kind : (OTHER_WAY[kind] ?? kind),
    );
    const unit = unitOf(this.view);
    const { done = 0, expected = 0 } = unit ?? {}; // how many pairs there can be at most is known, and falls
    const words = !unit ? "–" : done >= expected ? figure(done) : `${figure(done)} of up to ${figure(expected)}`;
    drawShare(this.view, "topic", words, done, expected);
  }
}
