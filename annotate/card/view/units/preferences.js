// Two documents side by side, and the answers: which one is better, or neither.

/** @import { Action, Doc, Main, Scroller, Unit, View } from "../types.js" */

import { OTHER_WAY } from "../../core/kinds/preference.js";
import { figure } from "../frame/phrases.js";
import { drawCount } from "../panels/topics.js";
import { markAnswers, setColumns } from "./answers.js";
import { Tile } from "./tile.js";
import { decisionIn, unitOf } from "./units.js";

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

/** @param {View} view @returns {Main} */
export function preferences(view) {
  const sides = SIDES.map((name) => {
    const place = /** @type {HTMLElement} */ (view.root.querySelector(`[data-side=${name}]`));
    return { name, place, tile: new Tile(/** @type {HTMLElement} */ (place.querySelector("article"))) };
  });
  /** The enlarged side where documents are stacked, until the next pair. */
  let larger = "";
  const answers = ANSWERS.map((name) => view.node(name));
  setColumns(view.node("answers"), ANSWERS.length);

  /** @param {string} side */
  function giveRoom(side) {
    larger = side;
    for (const { name, place } of sides) place.classList.toggle("cd-larger", name === side);
  }

  /** @param {string} kind @returns {Action} */
  const answer = (kind) => ({ run: (source) => view.decide({ kind }, source) });

  return {
    places: sides.map(({ place }) => place),
    marked: () => sides.flatMap(({ tile }) => tile.marked),
    actions: {
      ...Object.fromEntries(ANSWERS.map((kind) => [kind, answer(kind)])),
      room: { run: () => giveRoom({ "": "left", left: "right" }[larger] ?? "") },
    },
    clicks: { room: ({ dataset: { side = "" } }) => giveRoom(larger === side ? "" : side) },
    /** 1 is the left one, 2 the right one, 0 neither. */
    digit: (digit) => (ANSWERS[digit] ? answer(ANSWERS[digit]).run : null),
    attach(on) {
      for (const { place } of sides) {
        // A document that was focused with Tab scrolls alone.
        on(place, "focusin", () => place.toggleAttribute("data-scrolls", place.matches(":focus-visible")));
        on(place, "focusout", () => place.removeAttribute("data-scrolls"));
      }
    },
    render(item, turned) {
      if (turned && larger) giveRoom("");
      for (const { name, place, tile } of sides) {
        place.hidden = !item;
        if (item) tile.draw(documentOf(item.unit, item.about[name] ?? ""));
      }
      const { kind = "", left } = decisionIn(view, item) ?? {};
      const current = item?.about.left === left ? kind : (OTHER_WAY[kind] ?? kind);
      markAnswers(view, item, answers, current);
      const unit = unitOf(view);
      const { done = 0, expected = 0 } = unit ?? {}; // how many pairs there can be at most is known, and falls
      const words = !unit ? "–" : done >= expected ? figure(done) : `${figure(done)} of up to ${figure(expected)}`;
      drawCount(view, "topic", words, done, expected);
    },
  };
}
