/**
 * The machine of a judging card: one step takes a state and an event, and gives the next state and what is to be done.
 *
 * It is pure. It knows neither nodes nor storage nor network nor time: events say when they happened and bring a uuid;
 * effects are carried out by the shell, which sends their outcome back as events. It holds for every kind of unit that
 *
 * - a decision, and each answer to a further question, is bound to what was on screen (`on`) when its key was pressed;
 * - a judgement is made with its last answer; until then it is a draft of its pair;
 * - it is stored before it is sent, and forgotten only when the server names its uuid as saved or refused;
 * - a topic that the annotator has not asked for is shown first, and waits for a key before anything of it is open;
 * - one request of the lane `sync` is under way at a time, so that decisions arrive in their order;
 * - what another tab of the same annotator decides leaves this one.
 *
 * `kinds/` has the differences between grades, lists, preferences and adjudication.
 */

/** @import { Effect, Event, Handler, Kind, State, Unit } from "./types.js" */

import {
  decide,
  draft,
  fetched,
  look,
  mark,
  open,
  pass,
  respond,
  skip,
  stepBack,
  tick,
  undo,
  unskip,
} from "./decisions.js";
import { countTold, hasLeft, retryLater, takeAnswers } from "./outbox.js";
import { changeHistory, keepUnits, marksIn, onKey, same, Turn } from "./state.js";
import { call, hear, takeStored } from "./tabs.js";

/** Ms before sending after a key: two frames, so that the next unit is drawn first. */
const AFTER_FRAMES = 30;

/** Ms away from the page after which what is open may have been decided elsewhere. */
const STALE = 30_000;

/** Ms until the next question where other annotators have the rest. */
const ASK_AGAIN = 10_000;

/** After keys and clicks what comes next is drawn before anything is sent; a page that goes away has sent its last. */
const SENDS_LATER = new Set(["decide", "respond", "pass", "undo", "skip", "mark", "leave", "unmount"]);

/** Ms after which a card that is not on the page any more counts as left: a rerun of the page mounts it again at once. */
const LEFT_AFTER = 1_000;

/** @type {{ [T in Event["type"]]?: Handler<T> }} */
const HANDLERS = {
  decide,
  respond,
  pass,
  "step-back": stepBack,
  undo,
  skip,
  look,
  open,
  mark,
  draft,
  tick,
  call,
  message: hear,
  stored: takeStored,
  dismiss(turn, { refused }) {
    const { state } = turn;
    state.refused = state.refused.filter(({ uuid }) => uuid !== refused);
    turn.store(`refused:${refused}`, null);
  },
  notice({ state }, event) {
    state.notice = event.notice;
  },
  whole(turn, { doc }) {
    const { state } = turn;
    const withDoc = (/** @type {Unit} */ unit) => ({
      ...unit,
      documents: unit.documents.map((each) => (each.doc_id === doc.doc_id ? doc : each)),
    });
    state.units = state.units.map(withDoc);
    changeHistory(turn, (entry) => ({ ...entry, unit: entry.unit && withDoc(entry.unit) }));
  },
  mount(turn, event) {
    const { state } = turn;
    state.mounted = true;
    const { questions = state.questions } = event;
    const isChanged = !same(questions, state.questions);
    if (isChanged) state.questions = questions;
    state.due ||= event.fresh || state.left || isChanged;
    state.left = false;
    turn.timer("left", null);
    turn.kind.mount(turn, event);
  },
  unmount(turn) {
    turn.state.mounted = false;
    turn.timer("left", LEFT_AFTER);
  },
  enter({ state, waiting }) {
    if (!waiting) return;
    state.entered = waiting.queryId;
    state.due = true; // it may have waited for long
    if (state.notice?.urgent) state.notice = null;
  },
  wake,
  beat({ state }) {
    state.due ||= state.mounted;
  },
  leave(turn) {
    sayLeft(turn);
    turn.tell({ type: "bye" });
  },
  visible(turn, { visible, at }) {
    const { state } = turn;
    if (!visible) {
      state.leftAt ??= at;
      return;
    }
    const away = at - (state.leftAt ?? Number.POSITIVE_INFINITY);
    state.leftAt = null;
    if (away < STALE) return;
    state.due = true;
    state.unconfirmed = turn.item?.drawn ?? null;
    wake(turn);
  },
  timer(turn, { name }) {
    const { kind, state } = turn;
    // "pump" needs nothing here: every event ends with it.
    if (name === "retry") state.sync = { ...state.sync, retrying: false };
    if (name === "catch-up") state.due = true;
    if (name === "left" && !state.mounted) sayLeft(turn);
    if (name === "look" && !state.sync.running) state.due = true; // else the answer says whether to look again
    if (name !== "again") return;
    state.asking = false;
    state.due = true;
    kind.again(turn);
  },
  answer(turn, { request, answer, uuid, at }) {
    if (request.lane === "aside") return fetched(turn, request.context, answer, { uuid, at });
    if (request.lane === "last") return undefined;
    const { kind, state } = turn;
    state.sync = { ...state.sync, running: false };
    const isAnswered = !("saved" in answer) || takeAnswers(turn, request, answer);
    const isTaken = kind.take(turn, request, answer);
    countTold(turn, request, answer);
    leaveClosed(turn, request.context.unconfirmed, answer.closed ?? []);
    if (!isAnswered || !isTaken) return retryLater(turn, request, { status: -1, detail: "", at });
    state.sync = { ...state.sync, failures: 0, trouble: null };
    return undefined;
  },
  failure(turn, { request, status, detail, at }) {
    if (request.lane === "aside") {
      if (turn.state.fetching !== turn.kind.subject(request.context.decision)) return; // another is loading now
      if (turn.state.notice?.code === "loading") turn.reply("cannot-load", { status, detail });
      turn.state.fetching = null;
    } else if (request.lane === "sync") {
      if (turn.kind.refused?.(turn, request, { status, detail }))
        turn.state.sync = { ...turn.state.sync, running: false };
      else retryLater(turn, request, { status, detail, at });
    }
  },
};

/**
 * @template Scope
 * @param {Kind<Scope>} kind
 * @param {State<Scope>} before
 * @param {Event} event
 * @returns {{ state: State<Scope>, effects: Effect[] }}
 */
export function step(kind, before, event) {
  const turn = new Turn(kind, before);
  const handler = HANDLERS[event.type] ?? kind.handlers?.[event.type];
  handler?.(turn, event);
  settle(turn, before, event);
  return { state: turn.state, effects: turn.effects };
}

/**
 * Brings the state into order after each event, and sends what there is to send.
 *
 * @param {Turn} turn @param {State} before @param {Event} event
 */
function settle(turn, before, event) {
  const { kind, state } = turn;
  kind.arrange?.(turn);
  const { item } = turn;
  if (item && !item.entry) state.entered = item.unit.queryId;
  if (item && !item.entry && (item.unit.skipped || !item.unit.kept)) {
    // it has come round again
    state.units = [{ ...item.unit, skipped: false, kept: true }, ...state.units.slice(1)];
    unskip(turn, item.unit);
    // Another annotator may take it over before the server knows that it is here, unless it came with the answer.
    if (event.type !== "answer" || before.units.length) state.unconfirmed = item.drawn;
  }
  // With nothing left, what others have only loaded may be handed out.
  if (event.type !== "answer" && before.units.length && !state.units.length) state.exhausted = false;
  const turned = onKey(kind, before) !== (item?.on ?? null);
  if (turned && state.notice?.urgent && state.notice === before.notice) state.notice = null;
  const blocked = state.mounted && !item && !turn.waiting && kind.isBlocked(state);
  if (blocked !== state.asking) {
    state.asking = blocked;
    turn.timer("again", blocked ? ASK_AGAIN : null);
  }
  if (SENDS_LATER.has(event.type)) turn.timer("pump", AFTER_FRAMES);
  else pump(turn);
}

/** Sends unsent decisions and asks for units, one request at a time to keep the order. @param {Turn} turn */
function pump(turn) {
  const { kind, state } = turn;
  if (state.sync.running || state.sync.retrying) return;
  const request = kind.next(state);
  if (!request) return;
  state.sync = { ...state.sync, running: true };
  state.due = false; // what becomes due from here on is not answered by this
  state.unconfirmed = null;
  turn.send(request);
}

/**
 * One last request, beside the one that may be under way: saving is idempotent. What is held here is free for others,
 * unless another tab holds it too.
 *
 * @param {Turn} turn
 */
function sayLeft(turn) {
  const { kind, state } = turn;
  state.left = true;
  const left = { ...state, mounted: false };
  if (state.outbox.length || (state.units.length && hasLeft(left))) turn.send({ ...kind.last(left), lane: "last" });
}

/** Tries at once what waits for its next attempt. @param {Turn} turn */
function wake(turn) {
  const { state } = turn;
  if (!state.sync.retrying) return;
  state.sync = { ...state.sync, retrying: false };
  turn.timer("retry", null);
}

/**
 * Drops what is on screen if it was decided on another device or taken over while this browser did not know of it, unless
 * it was changed here.
 *
 * @param {Turn} turn @param {string | null} unconfirmed what had come on screen, or was there when the annotator came back
 * @param {string[]} closed
 */
function leaveClosed(turn, unconfirmed, closed) {
  const { item, kind, state } = turn;
  if (!unconfirmed || !item || item.entry || item.drawn !== unconfirmed || item.unit.taken) return;
  if (!closed.includes(kind.closedId?.(item.unit) ?? item.unit.id)) return;
  const waiting = state.drafts[item.subject];
  if (waiting?.chosen?.length || waiting?.unfinished || !same(marksIn(kind, waiting), kind.marks)) return;
  if (state.outbox.some(({ decision }) => kind.unitId(decision) === item.unit.id)) return;
  keepUnits(turn, (unit) => unit !== item.unit);
  state.due = true; // tells the server what is on screen now
  turn.notice("closed-elsewhere", { title: kind.title(item.unit) });
}
