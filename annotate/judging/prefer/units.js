/**
 * The card for preferences: shows a topic with two documents side by side, of which one is better, or they are equal.
 *
 * It holds the next topics, each with a plan: what to compare now, and after each possible answer, some answers deep. So
 * a key shows the next two at once. Where a plan ends the server is asked, which makes it anew after each decision.
 * See units.js of parts for what it shares with the card for lists.
 *
 * A unit of it has besides `next`, {pair: [left, right], then: {answer: next}}: with a pair of null the topic is done; it
 * is undefined until the server has sent the plan. `before` is an undone decision of it.
 */

const TASK = "preference";
const NOUN = "preference";
const SEVERAL = true;
const LOW = 3; // ask for more when fewer topics are held
const FULL = 6; // and ask for as many as make this

const OTHER_WAY = { left: "right", right: "left" };
const STACKED = { left: "upper", right: "lower" };

/** Whether the documents are one above the other; the answers are called so then. */
const isStacked = ({ view }) => Boolean(view?.left.querySelector(".cd-tall").offsetParent);

const subjectOf = ({ query_id, left, right }) => [query_id, ...[left, right].sort()].join("\u0000");
const aboutOf = ({ left, right }) => ({ left, right });
const saidOf = () => ({});
const isWaiting = (unit) => unit.next === undefined;
const samePair = ([a, b], [c, d]) => (a === c && b === d) || (a === d && b === c);

function wordsFor(state, { kind, left, right, reason }) {
  if (kind in OTHER_WAY) return `${isStacked(state) ? STACKED[kind] : kind} is better`;
  if (kind === "equal") return "equally good";
  return reason ? `cannot judge (${reason})` : "cannot judge";
}

function takeUnit(unit) {
  const { next, done, expected } = unit.plan;
  return Object.assign(unit, { id: unit.topic.query_id, next, done, expected, before: null });
}

function decidedBefore(unit) {
  const last = unit.former?.at?.(-1);
  return unit.next.pair === null && last ? { decision: last, title: nameOfTopic(unit.topic), unit } : null;
}

const itemOf = ({ next }) => (next?.pair ? { about: { left: next.pair[0], right: next.pair[1] }, kept: { node: next } } : null);
const lookedAt = ({ decision, node }) => ({ about: aboutOf(decision), kept: { node } });
const openAgain = () => {};

/** A document of a unit; one that has gone from the pool meanwhile has no text here. */
const documentOf = (unit, id) => unit.documents.find((doc) => doc.doc_id === id) ?? { doc_id: id, title: "", text: null, metadata: {} };

const unitOf = (state, queryId) => state.queue.find((unit) => unit.topic.query_id === queryId);

/** Drops finished topics. While the server cannot be reached, topics with a plan come before those without. */
function arrange(state) {
  if (state.queue.some(({ next }) => next?.pair === null)) state.queue = state.queue.filter(({ next }) => next?.pair !== null);
  if (!state.failures || state.look !== null || !state.queue.length || !isWaiting(state.queue[0])) return;
  const ready = state.queue.find((unit) => !isWaiting(unit) && !unit.skipped);
  if (ready) state.queue = [ready, ...state.queue.filter((unit) => unit !== ready)];
}

/** What a plan says after a decision; undefined where it does not. */
function follow(node, { kind, left, right }) {
  if (!node?.pair || !samePair(node.pair, [left, right])) return undefined;
  return node.then?.[node.pair[0] === left ? kind : OTHER_WAY[kind] ?? kind];
}

/** Whether the pair of a unit is on screen now: that one stays there. */
const isShown = (state, unit) => state.look === null && state.queue[0] === unit && Boolean(unit.next?.pair);

function pass(state, { unit, entry, queryId }, decision) {
  if (entry) { // what comes after it may be another way now
    const open = unitOf(state, queryId);
    if (open?.next) open.next = { pair: open.next.pair };
    else state.exhausted = false;
    state.due = true;
    return 0;
  }
  unit.done += 1;
  unit.next = follow(unit.next, decision);
  if (unit.next?.pair !== null) return 0;
  state.queue = state.queue.filter((each) => each !== unit);
  return 1;
}

function bringBack(state, { decision, unit, node, order }) {
  const { query_id, left, right } = decision;
  const open = unitOf(state, query_id);
  const back = open ?? unit;
  const later = state.history.some((each) => each.decision.query_id === query_id && (each.order ?? 0) > (order ?? 0));
  Object.assign(back, { next: !later && node ? node : { pair: [left, right] }, before: decision, done: Math.max(0, back.done - 1) });
  state.queue = [back, ...state.queue.filter((each) => each !== back)];
  return open ? 0 : -1;
}

/** The server's plans know of the decisions that it has; those that it has not are gone through here. */
function takePlans(state, batch, { plans, closed }) {
  for (const [queryId, plan] of Object.entries(plans)) {
    const unit = unitOf(state, queryId);
    if (!unit) continue;
    const later = state.pending.filter(({ decision }) => decision.query_id === queryId);
    const next = later.reduce((node, { decision }) => (decision.kind === "undone" ? undefined : follow(node, decision)), plan.next);
    unit.done = plan.done + later.reduce((sum, { decision }) => sum + (decision.kind === "undone" ? -1 : 1), 0);
    unit.expected = plan.expected;
    if (next === undefined && unit.next) continue; // the answer to what is under way says it
    if (!isShown(state, unit)) unit.next = next;
    else if (!next.pair || !samePair(next.pair, unit.next.pair)) unit.next = { pair: unit.next.pair };
    else if (next.pair[0] === unit.next.pair[0]) unit.next = next;
  }
  const gone = new Set(closed);
  sayDone(state, batch, plans, gone);
  const lost = (unit) => isWaiting(unit) && !plans[unit.topic.query_id] && !gone.has(unit.topic.query_id);
  if (!batch.length && !state.pending.length && state.queue.some(lost)) throw new Failure(-1);
}

/** Where the card itself could not know that a topic is done with the last decision, the server says it. */
function sayDone(state, batch, plans, gone) {
  const { decision, title, unit } = state.history.at(-1) ?? {};
  if (!unit || unit.next !== undefined || decision.kind === "undone" || !batch.some((item) => item.decision === decision)) return;
  const isDone = plans[decision.query_id] ? plans[decision.query_id].next.pair === null : gone.has(decision.query_id);
  if (isDone && state.look === null) sayDecided(state, { decision, delta: 1 }, title);
}

function dropDecided(state, decision, saved) {
  const unit = unitOf(state, decision.query_id);
  if (!unit) return;
  const next = decision.kind === "undone" ? undefined : follow(unit.next, decision);
  if (next) Object.assign(unit, { id: unit.topic.query_id, next, done: unit.done + 1 });
  else if (saved && unit.next?.pair && samePair(unit.next.pair, [decision.left, decision.right])) unit.next = undefined;
}
