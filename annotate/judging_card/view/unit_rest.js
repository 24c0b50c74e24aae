// What the cards for lists, preferences and adjudication show while nothing is on screen.

/** @import { Scope } from "../core/kinds/units.js" */
/** @import { Kind, State } from "../core/types.js" */

import { countOf } from "../core/kinds/units.js";
import { CUT_OFF, ONE_MOMENT } from "./bar.js";

/** What is shown where nothing is open: a title and a sentence; `first` is the sentence while the first units come. */
/** @typedef {{ first: string, nothing: string[], done: string[], busy: string[] }} Texts */

/** @type {Texts} */
export const TOPIC_TEXTS = {
  first: "Fetching the first topics.",
  nothing: [
    "Nothing to decide yet",
    "Topics appear here after a manager has added topics and a pool, and assigned topics to you.",
  ],
  done: ["All topics are done", "Thank you. Managers can download the results on the Export page."],
  busy: [
    "No free topic right now",
    "Other annotators are working on the remaining ones. Checking again every 10 seconds.",
  ],
};

/** @type {Texts} */
export const PAIR_TEXTS = {
  first: "Fetching the first pairs.",
  nothing: ["Nothing to adjudicate", "No pair matches the filter."],
  done: [
    "Nothing left to adjudicate",
    "Every pair that matches the filter is adjudicated. The adjudicated grades are in the qrels on the Export page.",
  ],
  busy: ["Nothing to adjudicate right now", "Checking for new disagreements every 10 seconds."],
};

/**
 * @param {{ card: { kind: Kind<Scope> }, face: { asking?: string }, state: State<Scope> }} view
 * @param {Texts} texts
 * @param {boolean} cutOff whether there has been no connection for a while
 */
export function restOf({ card: { kind }, face, state }, texts, cutOff) {
  const { scope, exhausted, asked, units } = state;
  const count = countOf(state);
  const isMore = !exhausted || asked !== undefined || units.some((unit) => kind.isWaiting?.(unit));
  if (scope.task !== kind.name) return ["The task of this campaign has changed", "Reload this page to continue."];
  if (cutOff && (!count || isMore)) return CUT_OFF;
  if (!count) return [ONE_MOMENT, texts.first];
  if (asked !== undefined) return [ONE_MOMENT, `${face.asking} is loading.`];
  if (!count.goal) return texts.nothing;
  if (count.done >= count.goal) return texts.done;
  return isMore ? [ONE_MOMENT, "Fetching what comes next."] : texts.busy;
}
