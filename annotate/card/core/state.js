// The state of a card: its initial value, and values derived from it.

/** @import { Decision, Draft, Effect, Entry, Item, Stored, Kind, Marks, Message, Notice } from "./types.js" */
/** @import { Pending, Request, State, TimerName, Unfinished, Unit } from "./types.js" */

import { questionOn, unfinishedOf } from "./questions.js";

/** Version of documents before the server sends one: any held document may have changed. */
export const NO_VERSION = "none";

/** Decisions kept for looking back. */
export const HISTORY = 300;

/** @param {Kind} kind @param {Stored} stored @returns {State} */
export function initial(kind, stored) {
  return {
    tab: stored.tab,
    order: Math.max(0, ...stored.outbox.map(({ order }) => order)),
    mounted: false,
    left: false,
    entered: null,
    questions: [],
    units: [],
    version: NO_VERSION,
    exhausted: false,
    requested: undefined,
    history: [],
    look: null,
    outbox: stored.outbox,
    otherDecisions: {},
    refused: stored.refused,
    drafts: stored.drafts,
    skipped: stored.skipped,
    tabs: {},
    sync: { running: false, retrying: false, failures: 0, failingSince: 0, trouble: null, detail: "" },
    due: true,
    wantsRecent: true,
    unconfirmed: null,
    leftAt: null,
    asking: false,
    fetching: null,
    hasSaved: false,
    notice: null,
    scope: kind.scope(stored),
  };
}

/** The open unit: none until the one that the page was opened for is here. @param {State} state */
export const openUnit = (state) => (state.requested === undefined ? state.units[0] : undefined);

/** The open unit if it can be decided now: a skipped one waits until the server has nothing else. @param {Kind} kind @param {State} state */
function readyUnit(kind, state) {
  const unit = openUnit(state);
  return unit && (!unit.skipped || state.exhausted) && kind.about(unit, null) ? unit : null;
}

/**
 * The open unit where its topic is not the one that was on screen, and nobody has asked for it: it waits for a key, unless
 * topics follow each other.
 *
 * @param {Kind} kind @param {State} state
 */
export function newTopicUnit(kind, state) {
  const unit = state.look ? null : readyUnit(kind, state);
  const isOther = unit && state.entered !== null && unit.queryId !== state.entered;
  return isOther && !state.scope.follows ? unit : null;
}

/**
 * The item on screen: an earlier decision that is looked back at, or the next one to decide.
 *
 * @param {Kind} kind @param {State} state @returns {Item | null}
 */
export function onScreen(kind, state) {
  const { look: entry } = state;
  const unit = entry ? entry.unit : readyUnit(kind, state);
  if (!unit || newTopicUnit(kind, state)) return null;
  const about = kind.about(unit, entry?.decision ?? null);
  if (!about) return null;
  const subject = kind.subject({ query_id: unit.queryId, ...about });
  const drawn = subject + (entry ? "\u0000back" : "");
  const question = state.questions.length
    ? questionOn(state, unfinishedOf(state, unit, entry, subject), unit.queryId)
    : null;
  const on = question ? `${drawn}\u0000${JSON.stringify(question)}` : drawn;
  return { unit, entry, about, subject, drawn, question, on };
}

/** What a key refers to now. @param {Kind} kind @param {State} state */
export const onKey = (kind, state) => onScreen(kind, state)?.on ?? null;

/**
 * The marks of a decision, without fields that this kind of decision does not have.
 *
 * @param {Kind} kind @param {Marks | null | undefined} decision @returns {Marks}
 */
export function marksIn({ marks }, decision) {
  const set = Object.entries(decision ?? {}).filter(([name, value]) => name in marks && value);
  return { ...marks, ...Object.fromEntries(set) };
}

/**
 * The marks of the decision on an item, made or to be made.
 *
 * @param {Kind} kind @param {State} state @param {Item} item
 */
export const marksOf = (kind, state, { entry, unit, subject }) =>
  marksIn(kind, { ...(entry?.decision ?? unit.said), ...state.drafts[subject] });

/** The documents of a list that are selected now. @param {State} state @param {Item} item @returns {string[]} */
export const chosenOf = (state, item) =>
  state.drafts[item.subject]?.chosen ?? (item.entry?.decision ?? item.unit.before)?.chosen ?? [];

/** Compares decisions of all tabs: earlier ones first, in every tab alike. @param {Pending} a @param {Pending} b */
export const inOrder = (a, b) => a.order - b.order || (a.decision.uuid < b.decision.uuid ? -1 : 1);

/**
 * Decisions that the server's last counts do not include, of this tab and of others, in their order.
 *
 * @param {State} state @returns {Pending[]}
 */
export function outstanding(state) {
  const others = Object.values(state.otherDecisions);
  if (!others.length) return state.outbox;
  return [...others.map(({ pending }) => pending), ...state.outbox].sort(inOrder);
}

/** @param {object} a @param {object} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** A decision that the server has. @param {Decision} decision @param {string} title @param {Unit | null} unit @returns {Entry} */
export const savedEntry = (decision, title, unit = null) => ({ decision, title, unit, was: null, order: 0 });

/** The latest decision on a subject. @param {State} state @param {Kind} kind @param {string} subject */
export const entryOf = (kind, state, subject) =>
  state.history.findLast(({ decision }) => kind.subject(decision) === subject) ?? null;

/** The annotator's judgement on a subject: the latest here, or the one that lacks an answer. @param {Kind} kind @param {State} state @param {string} subject */
export function standingOn(kind, state, subject) {
  const entry = entryOf(kind, state, subject);
  return entry ? entry.decision : state.units.find(({ id, said }) => said && id === subject)?.said;
}

// --------------------------------------------------------------------------------------- changes of a turn

/** A step under way: handlers replace fields of `state`, which is this step's own copy, and add effects. @template [Scope=any] */
export class Turn {
  /** @param {Kind<Scope>} kind @param {State<Scope>} before */
  constructor(kind, before) {
    this.kind = kind;
    /** @type {State<Scope>} */
    this.state = { ...before, scope: { ...before.scope } };
    /** @type {Effect[]} */
    this.effects = [];
  }

  get item() {
    return onScreen(this.kind, this.state);
  }

  /** The first unit of a new topic, which waits for a key. */
  get waiting() {
    return newTopicUnit(this.kind, this.state);
  }

  /** @param {string} key @param {unknown} value null removes it */
  store(key, value) {
    this.effects.push({ type: "store", key, value });
  }

  /** @param {TimerName} name @param {number | null} ms null stops it */
  timer(name, ms) {
    this.effects.push({ type: "timer", name, ms });
  }

  /** @param {Request} request */
  send(request) {
    this.effects.push({ type: "send", request });
  }

  /** To the other tabs, also those that have not answered yet. @param {Message} message */
  tell(message) {
    this.effects.push({ type: "tell", message });
  }

  /** @param {string} code @param {Omit<Notice, "code">} details */
  notice(code, details = {}) {
    this.state.notice = { code, ...details };
  }

  /** Answers a key; the message goes with what is on screen. @param {string} code @param {Omit<Notice, "code">} details */
  reply(code, details = {}) {
    this.notice(code, { urgent: true, ...details });
  }
}

/**
 * Replaces entries of the history; null removes one. What is on screen stays there if it is still part of it.
 *
 * @param {Turn} turn @param {(entry: Entry) => Entry | null} change
 */
export function changeHistory({ state }, change) {
  const { look } = state;
  state.history = state.history.flatMap((entry) => {
    const next = change(entry);
    if (entry === look) state.look = next;
    return next ?? [];
  });
}

/**
 * Keeps marks for the next decision on a subject; null drops them.
 *
 * @param {Turn} turn @param {string} subject @param {Draft | null} changes
 */
export function setDraft(turn, subject, changes) {
  replaceDraft(turn, subject, changes && { ...turn.state.drafts[subject], ...changes });
}

/** @param {Turn} turn @param {string} subject @param {Draft | null} draft an empty one is dropped, like null */
export function replaceDraft(turn, subject, draft) {
  const { [subject]: former, ...others } = turn.state.drafts;
  const next = draft && Object.keys(draft).length ? draft : null;
  if (next ? former && same(next, former) : !former) return;
  turn.state.drafts = next ? { ...others, [subject]: next } : others;
  turn.store(`draft:${subject}`, next);
}

/** Keeps a judgement that was begun on a subject; null drops it. @param {Turn} turn @param {string} subject @param {Unfinished | null} unfinished */
export function keepUnfinished(turn, subject, unfinished) {
  const { unfinished: _, ...marks } = turn.state.drafts[subject] ?? {};
  replaceDraft(turn, subject, unfinished ? { ...marks, unfinished } : marks);
}

/** Removes units from those that are held. @param {Turn} turn @param {(unit: Unit) => boolean} keep */
export function keepUnits({ state }, keep) {
  if (!state.units.every(keep)) state.units = state.units.filter(keep);
}

/** Held units that were not skipped. @param {State} state */
export const countUnseen = ({ units }) => units.filter(({ skipped }) => !skipped).length;

/** Units of an answer that are not held, and not decided here. @param {State} state @param {Unit[]} units @param {Set<string>} decided */
export function newUnits(state, units, decided) {
  const held = new Set(state.units.map(({ id }) => id));
  return units.filter(({ id }) => !held.has(id) && !decided.has(id));
}

/** New units go before the skipped ones. @param {State} state @param {Unit[]} units */
export function lineUp(state, units) {
  const isSkipped = (/** @type {Unit} */ { skipped = false }) => Number(skipped);
  state.units = [...state.units, ...units].sort((a, b) => isSkipped(a) - isSkipped(b));
}

/**
 * Older decisions for undo and looking back; what this browser knows is newer and wins.
 *
 * @param {Turn} turn @param {Entry[]} recent newest first
 */
export function takeRecent({ kind, state }, recent) {
  state.wantsRecent = false;
  const decided = [...state.history, ...outstanding(state)].map(({ decision }) => kind.subject(decision));
  const known = new Set([...decided, ...state.units.map(({ id }) => id)]);
  const older = recent.filter(({ decision }) => !known.has(kind.subject(decision)));
  state.history = [...older.reverse(), ...state.history];
}

/**
 * Marks of a decision that does not stand wait for the next one; what was written since is newer.
 *
 * @param {Turn} turn @param {Decision} decision @param {Marks} standing marks of the decision that stands
 */
export function keepMarks(turn, decision, standing = turn.kind.marks) {
  const { kind, state } = turn;
  const marks = marksIn(kind, decision);
  const subject = kind.subject(decision);
  if (!same(marks, standing)) setDraft(turn, subject, { ...marks, ...state.drafts[subject] });
}
