// Preferences: a topic with two documents side by side, of which one is better or they are equal.
//
// A unit is a topic with its plan: what to compare now (`next`), and after each possible answer, some answers deep. So a
// key shows the next two at once. Where the plan ends, `next` is undefined until the server has sent the rest.

/** @import { Decision, Entry, Item, Pending, PlannedComparison, State, SyncRequest, Turn, Unit } from "../types.js" */

import { keepUnits, outstanding } from "../state.js";
import { topicTitle } from "./list.js";
import { unitKind } from "./units.js";

/** @type {Record<string, string>} */
export const OTHER_WAY = { left: "right", right: "left" };

/** @param {readonly string[]} one @param {readonly string[]} other */
const samePair = ([a, b], [c, d]) => (a === c && b === d) || (a === d && b === c);

/** @param {Decision} decision @returns {[string, string]} */
const pairOf = ({ left = "", right = "" }) => [left, right];

/** @param {Unit} unit */
const isWaiting = ({ next }) => next === undefined;

/**
 * The next step of a plan after a decision; undefined if the plan does not reach that far.
 *
 * @param {PlannedComparison | undefined} plan @param {Decision} decision @returns {PlannedComparison | undefined}
 */
function follow(plan, { kind, left = "", right = "" }) {
  if (!plan?.pair || !samePair(plan.pair, [left, right])) return undefined;
  const then = /** @type {Record<string, PlannedComparison> | undefined} */ (plan.then);
  return then?.[plan.pair[0] === left ? kind : (OTHER_WAY[kind] ?? kind)];
}

/** @param {Unit} unit @param {Decision} decision */
function after(unit, decision) {
  const next = follow(unit.next, decision);
  return next?.pair === null ? null : { ...unit, next, done: (unit.done ?? 0) + 1 };
}

/** @param {State} state @param {string} queryId */
const unitOf = (state, queryId) => state.units.find((unit) => unit.queryId === queryId);

/** @param {State} state @param {string} queryId @param {(unit: Unit) => Unit} change */
function changeUnit(state, queryId, change) {
  state.units = state.units.map((unit) => (unit.queryId === queryId ? change(unit) : unit));
}

/**
 * The server's plans know of the decisions that it has; those that it has not are gone through here.
 *
 * @param {Turn} turn @param {SyncRequest} request @param {any} answer
 */
function takePlans(turn, { context: { batch } }, { plans, closed }) {
  const { state } = turn;
  const ended = new Set(closed);
  for (const [queryId, plan] of Object.entries(plans)) {
    const later = outstanding(state).filter(({ decision }) => decision.query_id === queryId);
    const next = later.reduce((/** @type {PlannedComparison | undefined} */ at, { decision }) => {
      // The plan knows already what another tab decided, if it does not ask for it.
      if (decision.uuid in state.otherDecisions && at?.pair && !samePair(at.pair, pairOf(decision))) return at;
      return decision.kind === "undone" ? undefined : follow(at, decision);
    }, plan.next);
    const done = plan.done + later.reduce((sum, { decision }) => sum + (decision.kind === "undone" ? -1 : 1), 0);
    changeUnit(state, queryId, (unit) => ({ ...unit, done, expected: plan.expected, next: nextOf(state, unit, next) }));
  }
  sayDone(turn, batch, plans, ended);
  const isLost = (/** @type {Unit} */ unit) => isWaiting(unit) && !plans[unit.queryId] && !ended.has(unit.queryId);
  return batch.length > 0 || outstanding(state).length > 0 || !state.units.some(isLost);
}

/**
 * The new plan of a unit; the pair on screen stays there.
 *
 * @param {State} state @param {Unit} unit @param {PlannedComparison | undefined} next
 */
function nextOf(state, unit, next) {
  if (next === undefined) return unit.next; // the answer to what is under way says it
  const shown = state.look === null && state.units[0] === unit ? unit.next?.pair : null;
  if (!shown) return next;
  if (!next.pair || !samePair(next.pair, shown)) return { pair: shown };
  return next.pair[0] === shown[0] ? next : unit.next;
}

/**
 * Says that a topic is done if only the server could know it.
 *
 * @param {Turn} turn @param {Pending[]} batch @param {Record<string, { next: PlannedComparison }>} plans
 * @param {Set<string>} ended
 */
function sayDone(turn, batch, plans, ended) {
  const { history, look, notice: said } = turn.state;
  const { decision, title = "" } = history.at(-1) ?? {};
  if (!decision || look || said?.decision !== decision || said.done) return;
  if (batch.every(({ decision: { uuid } }) => uuid !== decision.uuid)) return;
  const plan = plans[decision.query_id];
  const done = plan ? plan.next.pair === null : ended.has(decision.query_id);
  if (done) turn.notice("decided", { title, decision, done });
}

export const preference = unitKind({
  name: "preference",
  low: 3,
  full: 6,
  isWaiting,
  takePlans,
  take({ topic, documents, plan: { next, done, expected } }) {
    return { id: topic.query_id, queryId: topic.query_id, topic, documents, next, done, expected };
  },
  decided({ topic, plan, former }) {
    const last = former?.at(-1);
    return plan.next.pair === null && last ? { ...last, query_id: topic.query_id } : null;
  },
  title: topicTitle,
  subject: ({ query_id, left = "", right = "" }) => JSON.stringify([query_id, ...[left, right].sort()]),
  unitId: ({ query_id }) => query_id,
  about({ next }, decision) {
    if (decision) return { left: decision.left ?? "", right: decision.right ?? "" };
    return next?.pair ? { left: next.pair[0], right: next.pair[1] } : null;
  },
  after,
  delta: (_state, _unit, after) => (after === null ? 1 : 0),
  /** After a changed decision, the plan may continue differently. @param {Turn} turn @param {Item} item */
  revised({ state }, { unit: { queryId } }) {
    if (!unitOf(state, queryId)) state.exhausted = false;
    changeUnit(state, queryId, (unit) => (unit.next?.pair ? { ...unit, next: { pair: unit.next.pair } } : unit));
    state.due = true;
  },
  back({ state }, { unit, decision }) {
    const { query_id: queryId, left = "", right = "" } = decision;
    const open = unitOf(state, queryId);
    // A unit of the history is as it was before its own decision.
    const before = unit.done ?? 0;
    const others = state.history.filter((entry) => entry.decision.query_id === queryId);
    const counts = others.map((entry) => entry.unit?.done ?? -1);
    const isLast = counts.every((each) => each < before);
    const done = Math.max(0, open ? (open.done ?? 0) - 1 : Math.max(before, ...counts));
    const isPlanned = isLast && unit.next?.pair && samePair(unit.next.pair, [left, right]);
    const next = isPlanned ? unit.next : { pair: pairOf(decision) };
    return { unit: { ...(open ?? unit), next, done }, delta: open ? 0 : -1 };
  },
  heard(unit, decision) {
    const { next } = unit;
    if (!next?.pair) return unit;
    if (decision.kind !== "undone" && samePair(next.pair, pairOf(decision))) return after(unit, decision);
    return { ...unit, next: { pair: next.pair } }; // what comes after it may be another pair now
  },
  /** While the server cannot be reached, topics with a plan come before those without. */
  arrange(turn) {
    const { state } = turn;
    keepUnits(turn, ({ next }) => next?.pair !== null);
    const [first] = state.units;
    if (!state.sync.failures || state.look !== null || !first || !isWaiting(first)) return;
    const ready = state.units.find((unit) => !isWaiting(unit) && !unit.skipped);
    if (ready) state.units = [ready, ...state.units.filter((unit) => unit !== ready)];
  },
});
