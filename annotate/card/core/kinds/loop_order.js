// The order in which the loop has documents judged.

/** @import { GradeScope, LoopScope, Turn } from "../types.js" */

import { lineUp } from "../state.js";
import { docOf, dropFromHistory, newPairs } from "./pairs.js";

/** Ms until the model's next order is asked for while it learns; each time twice as long, up to the last. */
const FIRST_LOOK = 120;
const LAST_LOOK = 2_000;

/** @type {LoopScope} */
export const NO_LOOP = { inLoop: false, chooser: [], looks: 0, problem: null };

/**
 * Takes the loop's order: what is on screen stays, and what undo or a search has put before another document; everything
 * behind it is replaced, and skipped ones come last.
 *
 * @param {Turn<GradeScope>} turn @param {any} answer @param {Set<string>} judged @param {boolean} sent
 */
export function takeOrder(turn, answer, judged, sent) {
  const { state } = turn;
  const { scope } = state;
  const rest = state.units.slice(1).filter(({ id }) => !judged.has(id));
  const fixed = rest.filter(({ kept, skipped }) => kept && !skipped);
  const others = rest.filter(({ kept, skipped }) => !kept && !skipped);
  const movable = [...others, ...newPairs(state, answer.documents, judged)];
  const known = new Map(movable.map((unit) => [docOf(unit).doc_id, unit]));
  const next = [...fixed, ...answer.order.flatMap((/** @type {string} */ id) => known.get(id) ?? [])];
  const isGone = turn.waiting && !answer.order.includes(docOf(turn.waiting).doc_id); // nobody has seen it
  state.units = isGone ? [] : state.units.slice(0, 1);
  lineUp(state, [...next, ...rest.filter(({ skipped }) => skipped)]);
  dropFromHistory(turn, next);
  state.exhausted = !answer.behind && !next.length;
  scope.problem = answer.problem ?? null;
  scope.chooser = answer.chooser ?? [];
  // While the model learns, its next order is fetched as soon as it is there.
  const looks = sent ? 0 : scope.looks;
  scope.looks = answer.behind ? looks + 1 : 0;
  const ms = answer.behind && state.mounted ? Math.min(LAST_LOOK, FIRST_LOOK * 2 ** Math.min(looks, 6)) : null;
  turn.timer("look", ms);
}
