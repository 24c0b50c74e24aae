// Unsent decisions: sending them, and handling answers and failures.

/** @import { Doc, Entry, Pending, State, SyncContext, SyncRequest, OtherDecision, Turn, Unit } from "./types.js" */

import { changeHistory, entryOf, inOrder, keepMarks, keepUnfinished, marksIn, NO_VERSION, same } from "./state.js";

const FIRST_RETRY = 500;
const LAST_RETRY = 10_000;

/** Decisions and skips of one request: as many as the server takes at once. */
export const MOST_SENT = 50;

/** Held units that the server is told of; those beyond, at the end, were skipped long ago. */
const MOST_HELD = 1_000;

/** True if the annotator has left, and no other tab of theirs holds the same. @param {State} state */
export const hasLeft = ({ mounted, tabs }) => !mounted && !Object.keys(tabs).length;

/** True if the next request is the last one, which carries all that is left to send. @param {State} state */
const isLast = (state) => hasLeft(state) && state.outbox.length <= MOST_SENT;

/** The fields of a request that carry decisions, and what is needed to read its answer. @param {State} state */
export const contextOf = (state) => ({
  batch: state.outbox.slice(0, MOST_SENT),
  counted: Object.values(state.otherDecisions)
    .filter(({ saved }) => saved)
    .map(({ pending }) => pending.decision.uuid),
  due: state.due,
  unconfirmed: state.unconfirmed,
  want: 0,
  visit: 0,
  skips: 0,
});

/**
 * A request that saves, and asks for units.
 *
 * @param {State} state @param {string} route @param {number} want @param {(unit: Unit) => string} nameOf what the server calls a unit
 * @param {object} body further fields @param {Partial<SyncContext>} context @returns {SyncRequest}
 */
export function syncRequest(state, route, want, nameOf, body, context) {
  const shared = contextOf(state);
  const decisions = shared.batch.map(({ decision }) => decision);
  const holding = state.units.map(nameOf).slice(0, MOST_HELD);
  const request = { decisions, holding, want, leave: isLast(state), version: state.version, ...body };
  return { lane: "sync", route, body: request, context: { ...shared, want, ...context } };
}

/**
 * Forgets what the server has saved, and keeps what it refused in sight.
 *
 * @param {Turn} turn @param {SyncRequest} request
 * @param {{ saved: string[], refused: { uuid: string, reason: string }[] }} answer
 * @returns {boolean} whether every decision was answered
 */
export function takeAnswers(turn, { context: { batch } }, answer) {
  const { state } = turn;
  const reasons = new Map(answer.refused.map(({ uuid, reason }) => [uuid, reason]));
  const answered = new Set([...answer.saved, ...reasons.keys()]);
  state.hasSaved ||= answer.saved.length > 0;
  const done = batch.filter(({ decision }) => answered.has(decision.uuid));
  for (const { order, decision } of done) turn.store(`pending:${order}:${decision.uuid}`, null);
  const refused = done.filter(({ decision }) => reasons.has(decision.uuid));
  state.outbox = state.outbox.filter(({ decision }) => !answered.has(decision.uuid));
  forget(state, answered);
  if (refused.length) takeRefusals(turn, refused, reasons);
  if (answered.size) turn.tell({ type: "answered", saved: answer.saved, refused: [...reasons.keys()] });
  return done.length === batch.length;
}

/**
 * Replaces held documents that have changed; units of earlier decisions are fetched again when they are opened.
 *
 * @param {Turn} turn @param {any} answer
 */
export function takeChanged(turn, { version, changed }) {
  const { state } = turn;
  const isFirst = state.version === NO_VERSION;
  state.version = version;
  if (!changed) return;
  const now = new Map(
    changed.map((/** @type {any} */ { query_id, ...doc }) => [JSON.stringify([query_id, doc.doc_id]), doc]),
  );
  const changedOf = (/** @type {string} */ queryId, /** @type {Doc} */ doc) => {
    const { label, qualification } = doc;
    const next = now.get(JSON.stringify([queryId, doc.doc_id]));
    const whole = next && { ...next, ...(label && { label }), ...(qualification && { qualification }) };
    return whole && !same(whole, doc) ? whole : doc;
  };
  state.units = state.units.map((unit) => ({
    ...unit,
    documents: unit.documents.map((doc) => changedOf(unit.queryId, doc)),
  }));
  if (!isFirst) changeHistory(turn, (entry) => (entry === state.look ? entry : { ...entry, unit: null }));
}

/** @param {Turn} turn @param {Pending[]} refused @param {Map<string, string>} reasons */
function takeRefusals(turn, refused, reasons) {
  const { kind, state } = turn;
  dropRefused(turn, new Set(reasons.keys()));
  for (const { decision, title, order } of refused) {
    const { uuid } = decision;
    const others = state.refused.filter((each) => each.uuid !== uuid); // another tab may have heard the same
    const refusal = { uuid, title, decision, reason: reasons.get(uuid) ?? "" };
    state.refused = [...others, refusal];
    turn.store(`refused:${uuid}`, refusal);
    // A note and answers are not lost with their decision, unless the same was decided anew since.
    const subject = kind.subject(decision);
    if (state.outbox.some((each) => each.order > order && kind.subject(each.decision) === subject)) continue;
    const stands = entryOf(kind, state, subject);
    keepMarks(turn, decision, marksIn(kind, stands?.decision));
    const { relevance, answers } = decision;
    if (!stands && answers && typeof relevance === "number" && !state.drafts[subject]?.unfinished)
      keepUnfinished(turn, subject, { relevance, answers, at: null });
  }
  state.exhausted = false; // their units may be handed out again
  state.due = true;
}

/**
 * Removes refused decisions from the history; those that they would have replaced return.
 *
 * @param {Turn} turn @param {Set<string>} refused uuids
 */
export function dropRefused(turn, refused) {
  /** @type {(entry: Entry | null) => Entry | null} */
  const standing = (entry) => {
    if (!entry) return null;
    const was = standing(entry.was);
    if (refused.has(entry.decision.uuid ?? "")) return was && { ...was, unit: was.unit ?? entry.unit };
    return was === entry.was ? entry : { ...entry, was };
  };
  changeHistory(turn, standing);
}

/** @param {State} state @param {Set<string>} uuids */
export function forget(state, uuids) {
  state.otherDecisions = Object.fromEntries(Object.entries(state.otherDecisions).filter(([uuid]) => !uuids.has(uuid)));
}

/**
 * Sends other tabs' decisions from here: sent twice they are saved once, since the server knows them by their uuid.
 *
 * @param {Turn} turn @param {(other: OtherDecision) => boolean} which
 */
export function takeUnsent({ state }, which) {
  const taken = Object.values(state.otherDecisions).flatMap((other) =>
    !other.saved && which(other) ? other.pending : [],
  );
  if (!taken.length) return;
  forget(state, new Set(taken.map(({ decision }) => decision.uuid)));
  state.outbox = [...state.outbox, ...taken].sort(inOrder);
}

/**
 * Counts what the server had saved for other tabs when the request went out, since its answer includes that; and what
 * decisions of the request have replaced since.
 *
 * @param {Turn} turn @param {SyncRequest} request @param {any} answer
 */
export function countTold(turn, { context: { counted, batch } }, answer) {
  const { kind, state } = turn;
  const newest = new Map(batch.map(({ decision, order }) => [kind.subject(decision), order]));
  const included = Object.values(state.otherDecisions).filter(({ saved, pending: { decision, order } }) => {
    const isReplaced = saved && (newest.get(kind.subject(decision)) ?? 0) > order;
    return isReplaced || counted.includes(decision.uuid);
  });
  for (const { pending } of included) kind.count(turn, pending, answer);
  forget(state, new Set(included.map(({ pending }) => pending.decision.uuid)));
}

/**
 * A request failed: it is made again after a while, which grows.
 *
 * @param {Turn} turn @param {SyncRequest} request @param {{ status: number, detail: string, at: number }} failure
 */
export function retryLater(turn, { context }, { status, detail, at }) {
  const { state } = turn;
  const failures = state.sync.failures + 1;
  const isRefusal = status >= 400 && status < 500; // asking quickly does not help there
  const ms = isRefusal ? LAST_RETRY : Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (failures - 1));
  const failingSince = state.sync.failures === 0 ? at : state.sync.failingSince;
  state.sync = { running: false, retrying: true, failures, failingSince, trouble: status, detail };
  state.due ||= context.due;
  state.unconfirmed ??= context.unconfirmed;
  turn.timer("retry", ms);
}
