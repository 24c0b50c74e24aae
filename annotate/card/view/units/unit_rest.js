// The message of the cards for lists, preferences and adjudication while nothing is on screen.

/** @import { Kind, State, Texts, UnitScope } from "../types.js" */

import { countOf } from "../../core/kinds/units.js";
import { CUT_OFF, ONE_MOMENT } from "../frame/bar.js";

/** @type {Texts} */
export const TOPIC_TEXTS = {
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
  nothing: ["Nothing to adjudicate", "No pair matches the filter."],
  done: [
    "Nothing left to adjudicate",
    "Every pair that matches the filter is adjudicated. The adjudicated grades are in the qrels on the Export page.",
  ],
  busy: ["Nothing to adjudicate right now", "Checking for new disagreements every 10 seconds."],
};

/**
 * @param {{ card: { kind: Kind<UnitScope> }, face: { one: string }, state: State<UnitScope> }} view @param {Texts} texts
 * @param {boolean} cutOff whether there has been no connection for a while
 */
export function restOf({ card: { kind }, face, state }, texts, cutOff) {
  const { scope, exhausted, requested, units } = state;
  const count = countOf(state);
  const isMore = !exhausted || requested !== undefined || units.some((unit) => kind.isWaiting?.(unit));
  if (scope.task !== kind.name) return ["The task of this campaign has changed", "Reload this page to continue."];
  if (cutOff && (!count || isMore)) return CUT_OFF;
  if (!count) return [ONE_MOMENT, `Fetching the first ${face.one}s.`];
  if (requested !== undefined) return [ONE_MOMENT, `The requested ${face.one} is loading.`];
  if (!count.goal) return texts.nothing;
  if (count.done >= count.goal) return texts.done;
  return isMore ? [ONE_MOMENT, "Fetching what comes next."] : texts.busy;
}
