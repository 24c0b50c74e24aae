// Several tabs of one annotator: each tells the others what it did, so that nothing is decided twice.

/** @import { Handler, Message, Pending, Turn } from "./types.js" */

import { dropRefused, forget, takeUnsent } from "./outbox.js";
import { changeHistory, entryOf, HISTORY, inOrder, outstanding } from "./state.js";

/** Calls without an answer after which a tab counts as gone. */
const DEAF = 2;

/** Delay in ms after which the counts are requested when another tab has saved. */
const CATCH_UP = 400;

/** @param {Turn} turn @param {"there?" | "here"} type */
function tellPresence(turn, type) {
  turn.tell({ type, waiting: turn.state.outbox.map(({ decision }) => decision.uuid) });
}

/** Asks the other tabs whether they are there. @type {Handler<"call">} */
export const call = (turn, event) => {
  const { state } = turn;
  for (const [tab, unanswered] of Object.entries(state.tabs)) {
    if (unanswered >= DEAF) takeOver(turn, tab);
    else state.tabs = { ...state.tabs, [tab]: unanswered + 1 };
  }
  if (event.new) state.due = true; // the page was left and has come back: what it held may have gone
  if (event.new || Object.keys(state.tabs).length) tellPresence(turn, "there?");
};

/** @type {Handler<"message">} */
export const hear = (turn, { tab, message }) => {
  const { state } = turn;
  if (message.type === "bye") return takeOver(turn, tab);
  state.tabs = { ...state.tabs, [tab]: 0 };
  if (message.type === "there?" || message.type === "here") {
    leaveTo(turn, tab);
    takeUnheard(turn, tab, message.waiting);
  }
  if (message.type === "there?") tellPresence(turn, "here");
  if (message.type === "said") takeSaid(turn, message);
  if (message.type === "answered") takeAnswered(turn, message);
  if (message.type === "skipped") takeSkipped(turn, message);
  return undefined;
};

// ------------------------------------------------------------------------------------- whose it is to send

/**
 * Leaves decisions to the tab that made them, if it is alive. One that a later decision of this tab follows stays here
 * too: both tabs send it, so that it cannot reach the server after its successor.
 *
 * @param {Turn} turn @param {string} tab
 */
function leaveTo({ kind, state }, tab) {
  const isFollowed = (/** @type {Pending} */ pending) =>
    state.outbox.some(
      (later) =>
        later.tab !== tab &&
        inOrder(later, pending) > 0 &&
        kind.subject(later.decision) === kind.subject(pending.decision),
    );
  const theirs = state.outbox.filter((pending) => pending.tab === tab && !isFollowed(pending));
  const others = theirs.map((pending) => [pending.decision.uuid, { pending, saved: false }]);
  state.otherDecisions = { ...state.otherDecisions, ...Object.fromEntries(others) };
  state.outbox = state.outbox.filter((pending) => !theirs.includes(pending));
}

/** Takes decisions that another tab no longer holds as answered; this tab missed the message. @param {Turn} turn @param {string} tab @param {string[]} waiting */
function takeUnheard(turn, tab, waiting) {
  const { state } = turn;
  const missed = Object.values(state.otherDecisions).filter(({ pending, saved }) => pending.tab === tab && !saved);
  const saved = missed.map(({ pending }) => pending.decision.uuid).filter((uuid) => !waiting.includes(uuid));
  if (saved.length) takeAnswered(turn, { saved, refused: [] });
}

/** A tab is gone: what it has not sent is sent from here. @param {Turn} turn @param {string} tab */
function takeOver(turn, tab) {
  const { [tab]: _, ...others } = turn.state.tabs;
  turn.state.tabs = others;
  takeUnsent(turn, ({ pending }) => pending.tab === tab);
}

// ------------------------------------------------------------------------------------------- what is heard

/** Moves what another tab has decided to the history. @param {Turn} turn @param {Message & { type: "said" }} message */
function takeSaid(turn, { pending, unit: theirs }) {
  const { kind, state } = turn;
  const { decision } = pending;
  const uuid = decision.uuid;
  const shown = turn.item;
  const subject = kind.subject(decision);
  const here = shown?.subject === subject;
  state.outbox = state.outbox.filter((each) => each.decision.uuid !== uuid); // read from the storage already
  const later = outstanding(state).find(
    (each) => inOrder(each, pending) > 0 && kind.subject(each.decision) === subject,
  );
  state.otherDecisions = { ...state.otherDecisions, [uuid]: { pending, saved: false } };
  state.order = Math.max(state.order, pending.order);
  if (later && decision.kind === "undone") return; // what it would open is decided anew already
  const id = kind.unitId(decision);
  const held = state.units.find((unit) => unit.id === id) ?? null;
  state.units = state.units.flatMap((unit) => (unit === held ? (kind.heard?.(unit, decision) ?? []) : unit));
  const known = entryOf(kind, state, subject);
  const { order, title } = pending;
  const unit = known?.unit ?? held ?? theirs;
  const entry = decision.kind === "undone" ? null : { decision, title, unit, was: known, order };
  leaveUnfinished(state, subject);
  const isSeen = known !== null && here && shown.entry !== null; // it stays in its place
  changeHistory(turn, (each) => (each !== known ? each : isSeen ? entry : null));
  if (entry && !isSeen) state.history = [...state.history, entry];
  if (state.history.length > HISTORY) changeHistory(turn, (each) => (each === state.history[0] ? null : each));
  if (here) turn.notice("decided-in-another-tab", { title, decision });
}

/** What was decided in another tab is not finished in this one; that tab has changed what is stored. @param {Turn["state"]} state @param {string} subject */
function leaveUnfinished(state, subject) {
  const { [subject]: draft, ...others } = state.drafts;
  if (!draft?.unfinished) return;
  const { unfinished: _, ...marks } = draft;
  state.drafts = Object.keys(marks).length ? { ...others, [subject]: marks } : others;
}

/**
 * The server has answered another tab; the counts are brought up to date a moment later.
 *
 * @param {Turn} turn @param {{ saved: string[], refused: string[] }} message
 */
function takeAnswered(turn, { saved, refused }) {
  const { state } = turn;
  state.hasSaved ||= saved.length > 0;
  for (const uuid of saved) {
    const pending = state.outbox.find(({ decision }) => decision.uuid === uuid) ?? state.otherDecisions[uuid]?.pending;
    if (pending) state.otherDecisions = { ...state.otherDecisions, [uuid]: { pending, saved: true } };
  }
  const answered = new Set([...saved, ...refused]);
  state.outbox = state.outbox.filter(({ decision }) => !answered.has(decision.uuid));
  forget(state, new Set(refused));
  dropRefused(turn, new Set(refused));
  state.exhausted = false; // what was held back here, or was refused, may be handed out now
  turn.timer("catch-up", CATCH_UP);
}

/** @param {Turn} turn @param {{ id: string }} message */
function takeSkipped(turn, { id }) {
  const { kind, state } = turn;
  const unit = state.units.find((each) => each.id === id && !each.skipped);
  if (!unit) return;
  const here = turn.item?.unit === unit;
  state.units = [...state.units.filter((each) => each !== unit), { ...unit, skipped: true, kept: false }];
  if (here) turn.notice("skipped-in-another-tab", { title: kind.title(unit) });
}

/** Takes drafts and refusals that other tabs write into the shared storage. @type {Handler<"stored">} */
export const takeStored = ({ state }, { name, value }) => {
  if (name.startsWith("refused:")) {
    const others = state.refused.filter(({ uuid }) => name !== `refused:${uuid}`);
    state.refused = value ? [...others, value] : others;
  }
  if (!name.startsWith("draft:")) return;
  const subject = name.slice("draft:".length);
  const { [subject]: _, ...others } = state.drafts;
  state.drafts = value ? { ...others, [subject]: value } : others;
};
