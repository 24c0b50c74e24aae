// The annotator's actions: decide, answer further questions, undo, skip, look back, mark.

/** @import { Answer, Answers, By, Entry, FetchContext, Handler, Item, Pending, Sent, Turn, Unit } from "./types.js" */

import { takeUnsent } from "./outbox.js";
import {
  askedAt,
  collected,
  isRequired,
  questionAfter,
  questionBefore,
  selectedAnswer,
  shownAt,
  unfinishedOf,
} from "./questions.js";
import {
  changeHistory,
  chosenOf,
  entryOf,
  HISTORY,
  keepMarks,
  keepUnfinished,
  marksIn,
  marksOf,
  replaceDraft,
  same,
  savedEntry,
  setDraft,
  standingOn,
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

/** @typedef {By & { uuid: string, at: number }} Key */

/**
 * Decides on what is on screen and goes on; a grade that further questions follow shows the first of them. With `stay`,
 * an earlier decision stays.
 *
 * @type {Handler<"decide">}
 */
export const decide = (turn, { answer, stay = false, asks = false, ...by }) => {
  const { item, state } = turn;
  if (!item) return turn.reply("nothing-here");
  // The key was meant for what was on screen before.
  if (item.on !== by.on) return turn.reply("just-changed");
  const { relevance } = answer;
  const isGrade = answer.kind === "graded" && typeof relevance === "number";
  const [first] = isGrade && !stay ? shownAt(state.questions, { relevance, asks }, item.unit.queryId) : [];
  if (!first || !isGrade) {
    const given = isGrade && !stay ? standingAnswers(item, askedAt(state.questions, relevance), relevance) : {};
    return make(turn, item, withAnswers(answer, given), stay, by);
  }
  const { answers = {} } = unfinishedOf(state, item.unit, item.entry, item.subject) ?? {};
  return ask(turn, item, { relevance, answers, at: first.name, ...(asks && { asks }) });
};

/**
 * Answers of an earlier decision with the same grade: those that are not asked for again stay.
 *
 * @param {Item} item @param {import("./types.js").Question[]} asked @param {number} relevance
 */
const standingAnswers = ({ entry }, asked, relevance) =>
  entry?.decision.relevance === relevance ? collected(asked, entry.decision.answers ?? {}) : {};

/** @param {Answer} answer @param {Answers} given */
const withAnswers = (answer, given) => (Object.keys(given).length ? { ...answer, answers: given } : answer);

/** Makes the decision on an item. @param {Turn} turn @param {Item} item @param {Answer} answer @param {boolean} stay @param {Key} by */
function make(turn, item, answer, stay, { uuid, at, shown_at, seconds, away, source }) {
  const { kind, state } = turn;
  const { unit, entry, about, subject } = item;
  const viewing = { shown_at, seconds, away, source };
  const what = { reason: null, ...kind.blank, ...answer, ...marksOf(kind, state, item) };
  /** @type {Sent} */
  const decision = { uuid, query_id: unit.queryId, ...about, ...what, ...viewing };
  const after = entry ? unit : (kind.after?.(unit, decision) ?? null);
  const delta = entry ? 0 : kind.delta(state, unit, after);
  const title = kind.title(unit);
  const { order } = record(turn, decision, { title, delta, at, unit });
  const { chosen, unfinished } = (stay && state.drafts[subject]) || {};
  replaceDraft(turn, subject, null); // it is on its way with the decision
  if (stay) replaceDraft(turn, subject, { ...(chosen && { chosen }), ...(unfinished && { unfinished }) });
  if (entry) kind.revised?.(turn, item);
  else state.units = after ? [after, ...state.units.slice(1)] : state.units.slice(1);
  const { before: _, skipped: __, said: ___, ...plain } = unit;
  const was = entryOf(kind, state, subject);
  const newest = { decision, title, unit: plain, was, order };
  state.history = [...state.history.filter((each) => each !== was), newest].slice(-HISTORY);
  state.look = stay ? newest : null;
  unskip(turn, unit);
  return turn.notice("decided", { title, decision, revised: entry !== null, done: after === null && delta > 0 });
}

// --------------------------------------------------------------------------------------- further questions

/** Asks a further question of a judgement, or the grade. @param {Turn} turn @param {Item} item @param {import("./types.js").Unfinished} unfinished */
function ask(turn, { unit, subject }, unfinished) {
  const { relevance, answers, at, fills } = unfinished;
  const isBegun = at !== null || fills || Object.keys(answers).length > 0;
  keepUnfinished(turn, subject, isBegun ? unfinished : null);
  const decision = { uuid: null, query_id: unit.queryId, kind: "graded", relevance, answers };
  if (at === null) turn.notice("main-question", { title: turn.kind.title(unit) });
  else turn.notice("unfinished", { title: turn.kind.title(unit), decision });
}

/**
 * The item whose question a key answers; null if none is on screen, or another one than when the key was pressed.
 *
 * @param {Turn} turn @param {string | null} on
 */
function questioned(turn, on) {
  const { item, state } = turn;
  if (!item) turn.reply("nothing-here");
  else if (item.on !== on) turn.reply("just-changed");
  const unfinished = item && unfinishedOf(state, item.unit, item.entry, item.subject);
  return item?.question && unfinished && item.on === on ? { item, question: item.question, unfinished } : null;
}

/** Answers the question on screen; tags wait for `pass`. @type {Handler<"respond">} */
export const respond = (turn, { value, ...by }) => {
  const shown = questioned(turn, by.on);
  if (!shown) return undefined;
  const { item, question, unfinished } = shown;
  if (!question.answers.some((answer) => answer.value === value)) return undefined;
  if (question.kind !== "tags") return goOn(turn, item, { ...unfinished.answers, [question.name]: value }, by);
  const selected = /** @type {(number | string)[]} */ (selectedAnswer(turn.state, item) ?? []);
  const isSelected = (/** @type {number | string} */ tag) => selected.includes(tag) !== (tag === value);
  const tags = question.answers.flatMap((answer) => (isSelected(answer.value) ? `${answer.value}` : []));
  keepUnfinished(turn, item.subject, { ...unfinished, answers: { ...unfinished.answers, [question.name]: tags } });
  if (turn.state.notice?.urgent) turn.state.notice = null;
  return undefined;
};

/** Goes on from the question on screen with what is selected, or clears it. @type {Handler<"pass">} */
export const pass = (turn, { clears = false, ...by }) => {
  const shown = questioned(turn, by.on);
  if (!shown) return undefined;
  const { item, question, unfinished } = shown;
  const { [question.name]: _, ...others } = unfinished.answers;
  const needsAnswer = isRequired(question, item.unit.queryId);
  const none = question.kind === "tags" && needsAnswer ? [] : undefined; // that none applies is an answer
  const selected = clears ? undefined : selectedAnswer(turn.state, item);
  const answer = Array.isArray(selected) && !selected.length ? none : (selected ?? none);
  if (answer !== undefined) return goOn(turn, item, { ...others, [question.name]: answer }, by);
  return needsAnswer ? turn.reply("answer-required") : goOn(turn, item, others, by);
};

/**
 * Shows the next question, or makes the decision after the last one.
 *
 * @param {Turn} turn @param {Item} item @param {Answers} answers @param {Key} by
 */
function goOn(turn, item, answers, by) {
  const { state } = turn;
  const { question, subject, unit, entry } = item;
  const unfinished = unfinishedOf(state, unit, entry, subject);
  if (!question || !unfinished) return;
  const { relevance } = unfinished;
  const asked = askedAt(state.questions, relevance);
  const shown = shownAt(state.questions, unfinished, unit.queryId);
  const next = questionAfter(shown, question, { ...unfinished, answers }, unit.queryId);
  if (next) return ask(turn, item, { ...unfinished, answers, at: next.name });
  const unasked = asked.filter((each) => !shown.includes(each));
  const given = collected(asked, { ...answers, ...standingAnswers(item, unasked, relevance) });
  return make(turn, item, withAnswers({ kind: "graded", relevance }, given), false, by);
}

/** Goes back one question, and from the first further one to the grade. @type {Handler<"step-back">} */
export const stepBack = (turn) => {
  const { item, state } = turn;
  const unfinished = item && unfinishedOf(state, item.unit, item.entry, item.subject);
  if (!item?.question || !unfinished) return undefined;
  const before = questionBefore(shownAt(state.questions, unfinished, item.unit.queryId), item.question);
  return ask(turn, item, { ...unfinished, at: before?.name ?? null });
};

// ---------------------------------------------------------------------------------------------------- undo

/**
 * Undoes the last decision, or the one on screen, and puts its unit on screen again; while a judgement is unfinished,
 * only its last answer.
 *
 * @type {Handler<"undo">}
 */
export const undo = (turn, event) => {
  const { state } = turn;
  if (turn.item?.question) return stepBack(turn, { ...event, type: "step-back" });
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
  const discarded = leaveEntry(turn);
  state.look = null;
  return turn.notice("forward-to-open", { ...(discarded && { discarded }) });
};

/** @param {Turn} turn @param {Entry} entry one of the history */
export function lookAt(turn, entry) {
  if (!entry.unit) return fetchUnit(turn, entry, "look");
  const discarded = leaveEntry(turn);
  turn.state.look = entry;
  const { title, decision } = entry;
  return turn.notice("looking-back", { title, decision, ...(discarded && { discarded }) });
}

/**
 * An earlier decision keeps neither selections that were changed and not submitted, nor answers of an unfinished change.
 *
 * @param {Turn} turn @returns {boolean} whether answers were discarded
 */
function leaveEntry(turn) {
  const { item } = turn;
  const { chosen: _, unfinished, ...draft } = (item?.entry && turn.state.drafts[item.subject]) || {};
  if (item?.entry) replaceDraft(turn, item.subject, draft);
  return unfinished !== undefined;
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
  if (item.on !== by.on) return turn.reply("just-changed");
  draft(turn, { ...by, type: "draft", subject: item.subject, changes });
  const { entry, unit } = item;
  const saved = entry !== null && Object.keys(state.drafts[item.subject] ?? {}).some((name) => name !== "unfinished");
  if (saved) {
    const { kind: what, relevance, reason = null, chosen, answers } = entry.decision;
    const answer = { kind: what, reason, ...(relevance !== undefined && { relevance }), ...(chosen && { chosen }) };
    make(turn, item, { ...answer, ...(answers && { answers }) }, true, by);
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
  const stands = standingOn(kind, state, subject);
  const { unfinished } = draft;
  if (same(marksIn(kind, { ...stands, ...draft }), marksIn(kind, stands)))
    replaceDraft(turn, subject, unfinished ? { unfinished } : null);
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
