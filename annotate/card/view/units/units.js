// Shared parts of the cards for lists, preferences and adjudication.

/** @import { CardData, Item, Main, Part, Texts, View } from "../types.js" */

import { countOf } from "../../core/kinds/units.js";
import { openUnit } from "../../core/state.js";
import { highlights } from "../document/highlights.js";
import { bar, drawRest, isCutOff } from "../frame/bar.js";
import { figure } from "../frame/phrases.js";
import { drawCount } from "../panels/topics.js";
import { commonParts } from "./common.js";
import { tiles } from "./tile.js";
import { restOf } from "./unit_rest.js";

/** Texts of the cards for lists and preferences, whose units are topics. */
export const TOPIC_FACE = {
  requested: (/** @type {View} */ _, /** @type {CardData} */ { query_id }, /** @type {boolean} */ fresh) =>
    fresh ? query_id : null,
  one: "topic",
};

/** The decision that the answers show: the one on screen, or one that was undone here. @param {View} view @param {Item | null} item */
export function decisionIn(view, item) {
  const before = item?.unit.before;
  return item?.entry?.decision ?? (before && view.card.kind.subject(before) === item.subject ? before : undefined);
}

/** The unit on screen, or the one that waits for the server. @param {View} view */
export const unitOf = ({ item, state }) => item?.unit ?? openUnit(state);

/**
 * The parts of a card.
 *
 * @param {View} view @param {Main} main @param {Texts} texts
 * @param {boolean} beside whether the guidelines leave the documents in sight @returns {Part[]}
 */
export const unitParts = (view, main, texts, beside = true) => [
  progress(view, main.places, texts),
  bar(view), // before the documents: how it names a side depends on the layout, which is still valid
  main,
  tiles(view),
  highlights(view, main.marked),
  ...commonParts(view, () => unitOf(view)?.topic, HINTS, beside),
];

const HINTS = { open: "Saved with your decision.", decided: "Saved with the decision you made." };

/** Draws the progress, and the reason why nothing is open; scrolls back for the next unit. @param {View} view @param {HTMLElement[]} places what scrolls @param {Texts} texts @returns {Part} */
function progress(view, places, texts) {
  /** @type {Set<HTMLElement>} */
  const scrolled = new Set();
  return {
    attach(on) {
      for (const place of places) on(place, "scroll", () => scrolled.add(place), { passive: true });
    },
    render(item, turned) {
      // before the texts are drawn: the layout is still valid
      for (const place of turned ? scrolled : []) place.scrollTop = 0;
      if (turned) scrolled.clear();
      const count = countOf(view.state);
      if (count) drawCount(view, "all", `${figure(count.done)} of ${figure(count.goal)}`, count.done, count.goal);
      view.nodes.answers?.classList.toggle("cd-idle", !item); // they stay, and say that nothing is there
      drawRest(view, item || view.waiting ? null : restOf(view, texts, isCutOff(view)));
    },
  };
}
