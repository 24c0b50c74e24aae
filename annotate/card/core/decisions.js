// The annotator's actions: decide, undo, skip, look back, mark.

/** @import { Entry, FetchContext, Handler, Pending, Sent, Turn, Unit } from "./types.js" */

import { takeUnsent } from "./outbox.js";
import {
  changeHistory,
  chosenOf,
  entryOf,
  HISTORY,
  keepMarks,
  marksIn,
  marksOf,
  same,
  savedEntry,
  setDraft,
} from "./state.js";

/**
 * The one place where decisions are made: kept in the browser first, then on the way.
 *
 * @param {Turn} turn @param {Sent} decision @param {{ title: string, delta: number, at: number, unit: Unit }} details
 * @returns {Pending}
 */
function record(turn, decision, { title, delta, at, unit }) {
  const { kind, state } = turn;
  const subject = kind.subject(decision);
  // Another tab's unsent decisions on this are sent first, so that this one does not overtake them.
  takeUnsent(turn, ({ pending }) => kind.subject(pending.decision) === subject);
  state.order = Math.max(state.order + 1, at * 1000);
  const pending = { decision, order: state.order, delta, title, tab: state.tab };
  state.outbox = [...state.outbox, pending];
  turn.store(`pending:${pending.order}:${decision.uuid}`, pending);
  kind.recorded?.(turn, decision);
  turn.tell({ type: "said", pending, unit });
  return pending;
}

/** Decides on what is on screen and goes on; with `stay`, an earlier decision stays. @type {Handler<"decide">} */
export const decide = (turn, { answer, stay = false, on, uuid, at, shown_at, seconds, away, source }) => {
  const { item, kind, state } = turn;
  if (!item) return turn.reply("nothing-here");
  // The key was meant for what was on screen before.
  if (item.drawn !== on) return turn.reply("just-changed");
  const { unit, entry, about, subject } = item;
  const viewing = { shown_at, seconds, away, source };
  const what = { reason: null, ...kind.blank, ...answer, ...marksOf(kind, state, item) };
  /** @type {Sent} */
  const decision = { uuid, query_id: unit.queryId, ...about, ...what, ...viewing };
  const after = entry ? unit : (kind.after?.(unit, decision) ?? null);
  const delta = entry ? 0 : kind.delta(state, unit, after);
  const title = kind.title(unit);
  const { order } = record(turn, decision, { title, delta, at, unit });
  const selected = state.drafts[subject]?.chosen;
  setDraft(turn, subject, null); // it is on its way with the decision
  if (stay && selected) setDraft(turn, subject, { chosen: selected });
  if (entry) kind.revised?.(turn, item);
  else state.units = after ? [after, ...state.units.slice(1)] : state.units.slice(1);
  const { before: _, skipped: __, ...plain } = unit;
  const was = entryOf(kind, state, subject);
  const newest = { decision, title, unit: plain, was, order };
  state.history = [...state.history.filter((each) => each !== was), newest].slice(-HISTORY);
  state.look = stay ? newest : null;
  unskip(turn, unit);
  return turn.notice("decided", { title, decision, revised: entry !== null, done: after === null && delta > 0 });
};

/** Undoes the last decision, or the one on screen, and puts its unit on screen again. @type {Handler<"undo">} */
export const undo = (turn, event) => {
  const { state } = turn;
  const entry = state.look ?? state.history.at(-1);
  if (!entry) return turn.reply("nothing-to-undo");
  if (!entry.unit) return fetchUnit(turn, entry, "undo", event.source);
  return undoEntry(turn, { ...entry, unit: entry.unit }, event);
};

/**
 * @param {Turn} turn @param {Entry & { unit: Unit }} entry
 * @param {{ uuid: string, at: number, source: "key" | "click" }} by
 */
function undoEntry(turn, entry, { uuid, at, source }) {
  const { kind, state } = turn;
  const { decision, title } = entry;
  const subject = kind.subject(decision);
  state.history = state.history.filter((each) => kind.subject(each.decision) !== subject);
  state.look = null;
  const { unit, delta } = kind.back(turn, entry);
  state.entered = unit.queryId;
  const about = { query_id: decision.query_id, ...kind.about(entry.unit, decision), ...kind.undone };
  const what = { ...kind.blank, kind: "undone", reason: null, ...kind.marks };
  const viewing = { shown_at: new Date(at).toISOString(), seconds: 0, away: 0, source };
  const details = { title, delta: entry.surplus ? 0 : delta, at, unit };
  record(turn, { uuid, ...about, ...what, ...viewing }, details);
  state.units = [{ ...unit, before: decision, skipped: false }, ...state.units.filter(({ id }) => id !== unit.id)];
  keepMarks(turn, decision);
  turn.notice("undone", { title, decision });
}

/** Puts the open unit behind the others. @type {Handler<"skip">} */
export const skip = (turn) => {
  const { item, kind, state } = turn;
  if (!item) return turn.reply("nothing-here");
  if (item.entry) return turn.reply("already-decided");
  if (kind.isOnly(state)) return turn.reply("only-one");
  const { unit } = item;
  state.units = [...state.units.slice(1), { ...unit, skipped: true, kept: false }];
  state.skipped = [...state.skipped, unit.id];
  turn.store("skipped", state.skipped);
  kind.skip?.(turn, unit);
  turn.tell({ type: "skipped", id: unit.id });
  return turn.notice("skipped", { title: kind.title(unit) });
};

/** @param {Turn} turn @param {Unit} unit */
export function unskip(turn, { id }) {
  const { state } = turn;
  if (!state.skipped.includes(id)) return;
  state.skipped = state.skipped.filter((each) => each !== id);
  turn.store("skipped", state.skipped.length ? state.skipped : null);
}

// ------------------------------------------------------------------------------------------- looking back

/** Looks so many decisions forward or, below 0, back; past the last is the open unit. @type {Handler<"look">} */
export const look = (turn, { step }) => {
  const { state } = turn;
  const at = (state.look ? state.history.indexOf(state.look) : state.history.length) + step;
  if (at < 0) return turn.reply("no-earlier");
  const entry = state.history[at];
  if (entry) return lookAt(turn, entry);
  if (!state.look) return undefined;
  leaveEntry(turn);
  state.look = null;
  return turn.notice("forward-to-open");
};

/** @param {Turn} turn @param {Entry} entry one of the history */
export function lookAt(turn, entry) {
  if (!entry.unit) return fetchUnit(turn, entry, "look");
  leaveEntry(turn);
  turn.state.look = entry;
  return turn.notice("looking-back", { title: entry.title, decision: entry.decision });
}

/** Selections that were changed in an earlier decision and not submitted do not wait there. @param {Turn} turn */
function leaveEntry(turn) {
  const item = turn.item;
  if (!item?.entry || !turn.state.drafts[item.subject]?.chosen) return;
  const { chosen: _, ...draft } = turn.state.drafts[item.subject] ?? {};
  setDraft(turn, item.subject, null);
  if (Object.keys(draft).length) setDraft(turn, item.subject, draft);
}

/** Opens a decision that may not be in the history: fetches it with its unit. @type {Handler<"open">} */
export const open = (turn, { decision, title }) => {
  const { kind, state } = turn;
  const entry = entryOf(kind, state, kind.subject(decision));
  if (entry) return lookAt(turn, entry);
  return fetchUnit(turn, savedEntry(decision, title), "open");
};

/** @param {Turn} turn @param {Entry} entry @param {"look" | "undo" | "open"} goal @param {"key" | "click"} source */
function fetchUnit(turn, { decision, title }, goal, source = "key") {
  const { kind, state } = turn;
  state.fetching = kind.subject(decision);
  turn.notice("loading", { urgent: true });
  const context = { goal, decision, title, source, on: turn.item?.drawn ?? null };
  turn.send({ lane: "aside", ...kind.fetch(decision), context });
}

/**
 * A unit has arrived: it is shown or undone, unless the annotator has gone on.
 *
 * @param {Turn} turn @param {FetchContext} context @param {any} answer @param {{ uuid: string, at: number }} by
 */
export function fetched(turn, { decision: requested, goal, on, source }, answer, by) {
  const { kind, state } = turn;
  const subject = kind.subject(requested);
  const { unit, decision } = kind.fetched(answer, requested);
  changeHistory(turn, (entry) =>
    !entry.unit && kind.subject(entry.decision) === subject ? { ...entry, unit } : entry,
  );
  const stayed = state.fetching === subject && on === (turn.item?.drawn ?? null);
  if (state.fetching === subject) state.fetching = null;
  if (!stayed) return undefined;
  if (state.notice?.code === "loading") state.notice = null;
  let entry = entryOf(kind, state, subject);
  if (!entry) {
    if (goal !== "open") return undefined; // undone in the meantime
    entry = savedEntry(decision, kind.title(unit), unit);
    state.history = [entry, ...state.history];
  }
  if (goal === "undo") return undoEntry(turn, { ...entry, unit: entry.unit ?? unit }, { ...by, source });
  return lookAt(turn, entry);
}

// -------------------------------------------------------------------------------------------------- marks

/**
 * Changes the marks of what is on screen. At an open unit they wait for its decision; an earlier decision is made again
 * with them, and stays on screen.
 *
 * @type {Handler<"mark">}
 */
export const mark = (turn, { changes, notice: code, type: _, ...by }) => {
  const { item, kind, state } = turn;
  if (!item) return turn.reply("nothing-here");
  if (item.drawn !== by.on) return turn.reply("just-changed");
  draft(turn, { ...by, type: "draft", subject: item.subject, changes });
  const { entry, unit } = item;
  const saved = entry !== null && item.subject in state.drafts;
  if (saved) {
    const { kind: what, relevance, reason = null, chosen } = entry.decision;
    const answer = { kind: what, reason, ...(relevance !== undefined && { relevance }), ...(chosen && { chosen }) };
    decide(turn, { ...by, type: "decide", answer, stay: true });
  }
  if (code) turn.notice(code, { title: kind.title(unit), saved, on: Boolean(changes.flagged ?? changes.note) });
  return undefined;
};

/** Keeps marks, or selected documents, for the next decision, unless they change nothing. @type {Handler<"draft">} */
export const draft = (turn, { subject, changes }) => {
  const { kind, state } = turn;
  setDraft(turn, subject, changes);
  const draft = state.drafts[subject];
  if (!draft || draft.chosen) return;
  const stands = entryOf(kind, state, subject)?.decision;
  if (same(marksIn(kind, { ...stands, ...draft }), marksIn(kind, stands))) setDraft(turn, subject, null);
};

/** Selects a document of the list on screen, or deselects it. @type {Handler<"tick">} */
export const tick = (turn, { id }) => {
  const { item, state } = turn;
  if (!item) return turn.reply("nothing-here");
  const chosen = chosenOf(state, item);
  const next = chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id];
  setDraft(turn, item.subject, { chosen: next });
  if (state.notice?.urgent) state.notice = null;
  return undefined;
};
