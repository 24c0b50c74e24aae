/**
 * The annotator's nuggets: lists that the server sent, and edits that it has not acknowledged yet.
 *
 * A step takes a state and an event, and gives the next state and what is to be done, like the machine of decisions. An
 * edit is stored before it is sent, and forgotten only when the server names its uuid as saved or refused; sending it
 * again has no effect. A nugget that is not saved yet is named by the uuid of the edit that adds it.
 */

/** @import { NuggetEdit, NuggetsAnswer, NuggetSource, OwnNugget } from "../wire.d.ts" */

/** @typedef {{ queryId: string, order: number, edit: NuggetEdit }} PendingEdit */
/** @typedef {PendingEdit & { text: string, reason: string }} RefusedEdit refused, with the text that was not saved */
/** @typedef {OwnNugget & { waits?: boolean }} ShownNugget `waits`: the server does not have it as shown */

/**
 * @typedef {object} NuggetState
 * @property {Record<string, OwnNugget[]>} lists by topic, as the server last sent them
 * @property {PendingEdit[]} outbox oldest first
 * @property {RefusedEdit[]} refused
 * @property {string | null} wanted the topic whose list is to be loaded
 * @property {string | null} sending the topic of the request under way
 * @property {number} failures
 * @property {boolean} retrying
 * @property {{ status: number, detail: string } | null} trouble
 */

/** @typedef {{ queryId: string, batch: PendingEdit[] }} NuggetRequest */

/**
 * @typedef {{ type: "show", queryId: string }
 *   | { type: "edit", queryId: string, edit: NuggetEdit }
 *   | { type: "dismiss", uuid: string }
 *   | { type: "wake" }
 *   | { type: "answer", request: NuggetRequest, answer: NuggetsAnswer }
 *   | { type: "failure", request: NuggetRequest, status: number, detail: string }} NuggetEvent
 */

/**
 * @typedef {{ type: "store", key: string, value: unknown } | { type: "send", request: NuggetRequest }
 *   | { type: "retry", ms: number }} NuggetEffect
 */

const FIRST_RETRY = 500;
const LAST_RETRY = 10_000;

/** Edits of one request: as many as the server takes at once. */
const MOST_SENT = 50;

/** What is stored for edits begins with this. */
export const WAITING = "nugget:";
export const REFUSED = "nugget-refused:";
/** Where the text that is being written is stored. */
export const DRAFT = "nugget-draft";

const keyOf = (/** @type {PendingEdit} */ { order, edit }) => `${WAITING}${order}:${edit.uuid}`;

/** @param {any[]} pending @param {any[]} refused values that the browser stored, of any form @returns {NuggetState} */
export function initialNuggets(pending, refused) {
  const isEdit = (/** @type {any} */ value) => typeof value?.queryId === "string" && value.edit?.uuid;
  const outbox = pending.filter(isEdit).sort((a, b) => a.order - b.order);
  return {
    lists: {},
    outbox,
    refused: refused.filter(isEdit),
    wanted: null,
    sending: null,
    failures: 0,
    retrying: false,
    trouble: null,
  };
}

/**
 * The nuggets of a topic with the annotator's edits; null if neither a list nor an edit is known.
 *
 * @param {NuggetState} state @param {string} queryId @returns {ShownNugget[] | null}
 */
export function shownNuggets({ lists, outbox }, queryId) {
  const waiting = outbox.filter((each) => each.queryId === queryId);
  const list = lists[queryId];
  if (!list && !waiting.length) return null;
  return waiting.reduce(withEdit, /** @type {ShownNugget[]} */ (list ?? []));
}

/** @param {ShownNugget[]} list @param {PendingEdit} pending @returns {ShownNugget[]} */
function withEdit(list, { edit }) {
  const { uuid, kind, nugget, ...given } = edit;
  const isMeant = (/** @type {ShownNugget} */ each) => each.nugget === nugget || each.added === nugget;
  if (kind === "delete") return list.filter((each) => !isMeant(each));
  if (kind === "change") return list.map((each) => (isMeant(each) ? { ...each, ...given, waits: true } : each));
  if (list.some(({ added }) => added === uuid)) return list; // saved, but the answer named only the nugget
  return [...list, { text: "", importance: "", sources: [], ...given, nugget: uuid, added: uuid, waits: true }];
}

/** @param {NuggetState} before @param {NuggetEvent} event @returns {{ state: NuggetState, effects: NuggetEffect[] }} */
export function nuggetStep(before, event) {
  const state = { ...before };
  /** @type {NuggetEffect[]} */
  const effects = [];
  if (event.type === "show") state.wanted = event.queryId;
  if (event.type === "edit") {
    const { edit, queryId } = event;
    const pending = { queryId, edit, order: Math.max(0, ...state.outbox.map(({ order }) => order)) + 1 };
    state.outbox = [...state.outbox, pending];
    effects.push({ type: "store", key: keyOf(pending), value: pending });
  }
  if (event.type === "dismiss") {
    state.refused = state.refused.filter(({ edit }) => edit.uuid !== event.uuid);
    effects.push({ type: "store", key: REFUSED + event.uuid, value: null });
  }
  if (event.type === "wake") state.retrying = false;
  if (event.type === "answer") takeAnswer(state, effects, event);
  if (event.type === "failure") takeFailure(state, effects, event);
  send(state, effects);
  return { state, effects };
}

/** @param {NuggetState} state @param {NuggetEffect[]} effects @param {Extract<NuggetEvent, { type: "answer" }>} event */
function takeAnswer(state, effects, { request: { batch, queryId }, answer }) {
  const reasons = new Map(answer.refused.map(({ uuid, reason }) => [uuid, reason]));
  refuse(state, effects, batch, reasons);
  const answered = new Set([...answer.saved, ...reasons.keys()]);
  forget(state, effects, batch, answered);
  state.lists = { ...state.lists, [queryId]: answer.nuggets };
  Object.assign(state, { sending: null, failures: 0, trouble: null });
}

/** A request that is wrong stays wrong: its edits are refused. Any other failure is tried again. @param {NuggetState} state @param {NuggetEffect[]} effects @param {Extract<NuggetEvent, { type: "failure" }>} event */
function takeFailure(state, effects, { request: { batch, queryId }, status, detail }) {
  state.sending = null;
  state.trouble = { status, detail };
  if (status === 400) {
    const uuids = batch.map(({ edit }) => edit.uuid);
    refuse(state, effects, batch, new Map(uuids.map((uuid) => [uuid, detail])));
    forget(state, effects, batch, new Set(uuids));
    return;
  }
  state.failures += 1;
  state.retrying = true;
  state.wanted ??= queryId;
  const isRefusal = status >= 400 && status < 500;
  effects.push({
    type: "retry",
    ms: isRefusal ? LAST_RETRY : Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (state.failures - 1)),
  });
}

/** Keeps refused edits in sight with the text that the annotator wrote. @param {NuggetState} state @param {NuggetEffect[]} effects @param {PendingEdit[]} batch @param {Map<string, string>} reasons */
function refuse(state, effects, batch, reasons) {
  for (const pending of batch) {
    const { edit } = pending;
    const reason = reasons.get(edit.uuid);
    if (reason === undefined) continue;
    if (!edit.text) continue; // neither a deletion nor a mark has a text that could be lost
    const refusal = { ...pending, text: edit.text, reason };
    state.refused = [...state.refused.filter((each) => each.edit.uuid !== edit.uuid), refusal];
    effects.push({ type: "store", key: REFUSED + edit.uuid, value: refusal });
  }
}

/** @param {NuggetState} state @param {NuggetEffect[]} effects @param {PendingEdit[]} batch @param {Set<string>} answered */
function forget(state, effects, batch, answered) {
  for (const pending of batch)
    if (answered.has(pending.edit.uuid)) effects.push({ type: "store", key: keyOf(pending), value: null });
  state.outbox = state.outbox.filter(({ edit }) => !answered.has(edit.uuid));
}

/** Sends the oldest edits, one topic and one request at a time to keep their order, or asks for a list. @param {NuggetState} state @param {NuggetEffect[]} effects */
function send(state, effects) {
  if (state.sending !== null || state.retrying) return;
  const queryId = state.outbox[0]?.queryId ?? state.wanted;
  if (queryId === null) return;
  const batch = state.outbox.filter((each) => each.queryId === queryId).slice(0, MOST_SENT);
  state.sending = queryId;
  if (state.wanted === queryId) state.wanted = null;
  effects.push({ type: "send", request: { queryId, batch } });
}
