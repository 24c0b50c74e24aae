// Grades: one document of a topic at a time, from a pool or in the loop.

/** @import { GradeScope, Kind, Pending, State, SyncRequest, Turn, Unit } from "../types.js" */

import { contextOf, MOST_SENT, syncRequest, takeChanged } from "../outbox.js";
import { changeHistory, countUnseen, keepUnits, lineUp, outstanding, savedEntry, takeRecent } from "../state.js";
import { add, countOf, isDone, takeProgress, topicOf } from "./counts.js";
import { takeOrder } from "./loop_order.js";
import { docOf, dropFromHistory, idOf, newPairs, pairUnit } from "./pairs.js";
import {
  bringTo,
  changeTopic,
  goAhead,
  goBack,
  goWhereWorkIs,
  initialTopics,
  keepLast,
  nextUnfinished,
  takeAhead,
  takeTopics,
} from "./topics.js";

/** Ask for more when fewer unseen documents are held: so many can be judged without a connection. */
const LOW = 24;

/** Ask for as many as make this, but for no more at once than the server hands out. */
const FULL = 36;
const MOST_WANTED = 24;

/** Topics that had nothing for the annotator, of which the server is told. */
const MOST_TRIED = 1_000;

/** Reference grades of one answer that are shown: fast keys and a slow network bring several at once. */
const MOST_FEEDBACK = 5;

/** The number of documents to ask for; in the loop never 0, since each judgement may change the order. @param {State<GradeScope>} state */
function wanted(state) {
  if (!state.mounted || state.scope.topic === null) return 0;
  const ahead = state.scope.ahead.reduce((sum, { units }) => sum + units.length, 0);
  const unseen = countUnseen(state) + (state.exhausted ? ahead : 0);
  const missing = Math.min(MOST_WANTED, FULL - unseen);
  if (state.scope.inLoop) return Math.max(1, missing);
  return unseen < LOW ? missing : 0;
}

/** The questions that the card asks: judgements without an answer to one of these may be handed out again. @param {State<GradeScope>} state */
const asking = ({ questions }) => (questions.length ? { questions: questions.map(({ name }) => name) } : {});

/** @param {State<GradeScope>} state @param {number} want */
function ask(state, want) {
  const { scope, tabs, wantsRecent: recent } = state;
  const tried = scope.tried.slice(-MOST_TRIED);
  const skips = scope.skips.slice(0, MOST_SENT);
  const alone = !Object.keys(tabs).length; // else the other tab's reservations are left to it
  const ahead = scope.ahead.length ? { ahead: scope.ahead.map(({ queryId }) => queryId) } : {};
  const questions = scope.topic !== null && asking(state);
  const body = { skips, query_id: scope.topic, alone, recent, tried, ...ahead, ...questions };
  const { journey, visit } = scope;
  return syncRequest(state, "sync", want, nameOf, body, { visit, journey, skips: skips.length });
}

/** @param {Unit} unit */
const nameOf = (unit) => docOf(unit).doc_id;

/** @param {Turn<GradeScope>} turn @param {SyncRequest} request @param {any} answer */
function takeSync(turn, request, answer) {
  const { state } = turn;
  const { scope } = state;
  const { batch, visit, skips, want } = request.context;
  const body = /** @type {{ query_id: string | null, recent: boolean, leave: boolean }} */ (request.body);
  const known = [...batch, ...outstanding(state)];
  const last = new Map(known.map(({ decision }) => [idOf(decision), decision.kind]));
  const judged = new Set([...last.keys()].filter((id) => last.get(id) !== "undone"));
  scope.skips = scope.skips.slice(skips);
  const surplus = takeSurplus(turn, batch, answer.surplus ?? []);
  takeProgress(state, batch, answer, surplus);
  if (answer.feedback?.length) scope.feedback = answer.feedback.slice(-MOST_FEEDBACK);
  takeAhead(turn, request.context, answer, judged);
  // The topic may have been changed while this was under way; without one, or at the end, only decisions were sent.
  if (visit !== scope.visit || body.query_id === null || body.leave) return true;
  if (answer.query_id !== body.query_id) return false;
  takeChanged(turn, answer);
  if (body.recent) takeRecent(turn, answer.recent.map(recentEntry));
  scope.inLoop = Array.isArray(answer.order);
  if (scope.inLoop) takeOrder(turn, answer, judged, batch.length > 0);
  else takeMore(turn, want, answer, judged);
  if (want > 0) goWhereWorkIs(turn, answer);
  return true;
}

/**
 * Marks judgements that came after the pair had enough: they are saved but not counted, which is told once.
 *
 * @param {Turn<GradeScope>} turn @param {Pending[]} batch @param {string[]} uuids
 */
function takeSurplus(turn, batch, uuids) {
  const surplus = new Set(uuids);
  if (!surplus.size) return surplus;
  changeHistory(turn, (entry) => (surplus.has(entry.decision.uuid ?? "") ? { ...entry, surplus: true } : entry));
  const pending = batch.findLast(({ decision }) => surplus.has(decision.uuid));
  if (pending && !turn.state.notice?.urgent) turn.notice("surplus", { title: pending.title });
  return surplus;
}

/** @param {any} recent a document with this annotator's judgement */
function recentEntry({ query_id, kind, relevance, reason, note, flagged, passages, answers, ...doc }) {
  const marks = { note, flagged, passages, ...(answers && { answers }) };
  const decision = { uuid: null, query_id, doc_id: doc.doc_id, kind, relevance, reason, ...marks };
  return savedEntry(decision, doc.title || doc.doc_id, pairUnit(query_id, doc));
}

/**
 * Takes more documents of a pool: they come behind those that are held.
 *
 * @param {Turn<GradeScope>} turn @param {number} want @param {any} answer @param {Set<string>} judged
 */
function takeMore(turn, want, answer, judged) {
  const { state } = turn;
  const closed = new Set(answer.closed); // judged elsewhere meanwhile; what is on screen stays there
  const first = turn.waiting ? null : state.units[0];
  keepUnits(turn, (unit) => unit === first || Boolean(unit.taken) || !closed.has(docOf(unit).doc_id));
  const fresh = newPairs(state, answer.documents, judged);
  dropFromHistory(turn, fresh);
  lineUp(state, fresh);
  if (want > 0) state.exhausted = fresh.length < want;
  // No other topic hands out documents before the qualification set is judged.
  if (!answer.first || answer.first === state.scope.topic || turn.item || turn.waiting) return;
  bringTo(turn, answer.first, "qualification-first");
  state.scope.inQualification = true;
}

/** @type {Kind<GradeScope>} */
export const grade = {
  name: "grade",
  marks: { note: null, flagged: false, passages: [] },
  blank: { relevance: null },
  scope: (stored) => ({ ...initialTopics(stored), skips: [], feedback: null }),
  title: (unit) => docOf(unit).title || docOf(unit).doc_id,
  subject: idOf,
  unitId: idOf,
  closedId: nameOf,
  about: (unit) => ({ doc_id: docOf(unit).doc_id }),
  // Only the server knows whether a document that was found by searching is in the pool.
  delta: ({ scope }, { taken, queryId }) => (taken && topicOf(scope, queryId)?.pool !== null ? 0 : 1),
  back(turn, { unit, decision }) {
    if (decision.query_id !== turn.state.scope.topic) goBack(turn, decision.query_id);
    return { unit, delta: -grade.delta(turn.state, unit, null) };
  },
  isOnly(state) {
    if (state.units.length > 1) return false;
    const topic = topicOf(state.scope, state.scope.topic);
    const { judged, pool } = countOf(state, topic ?? null);
    return state.exhausted || (pool !== null && pool - judged <= 1);
  },
  skip({ state }, unit) {
    state.scope.skips = [...state.scope.skips, { query_id: unit.queryId, doc_id: docOf(unit).doc_id }];
  },
  arrange: goAhead,
  isBlocked: (state) => state.exhausted && !isDone(state, topicOf(state.scope, state.scope.topic)),
  again({ state }) {
    state.scope.tried = [];
  },
  count({ state }, { decision, delta }, answer) {
    const isCounted = answer.topics || (answer.progress && answer.query_id === decision.query_id);
    if (!isCounted) add(state.scope, decision.query_id, delta);
  },
  recorded: (turn, { query_id }) => keepLast(turn, query_id),
  next(state) {
    const { scope } = state;
    const waits = state.outbox.length > 0 || scope.skips.length > 0;
    // After a failure, unsent judgements go first, so that they do not wait for the topics.
    if (state.mounted && scope.topicsDue && !(waits && state.sync.failures))
      return { lane: "sync", route: "topics", body: asking(state), context: contextOf({ ...state, outbox: [] }) };
    const want = wanted(state);
    const isHungry = want > 0 && !state.exhausted && !scope.inLoop;
    const asks = state.mounted && scope.topic !== null && (state.wantsRecent || state.due || isHungry);
    return asks || waits ? ask(state, want) : null;
  },
  take(turn, request, answer) {
    if (request.route !== "topics") return takeSync(turn, request, answer);
    takeTopics(turn, answer);
    turn.state.due ||= request.context.due;
    return true;
  },
  last: (state) => ask({ ...state, wantsRecent: false }, 0),
  fetch: ({ query_id, doc_id }) => ({ route: "document", body: { query_id, doc_id, said: true } }),
  fetched({ said, ...doc }, decision) {
    const now = said ? { ...decision, ...said } : decision;
    return { unit: pairUnit(decision.query_id, doc), decision: now };
  },
  mount(turn, { fresh, requested }) {
    const { scope } = turn.state;
    if (!fresh) return;
    if (requested !== null && requested !== scope.requestedTopic && requested !== scope.topic)
      changeTopic(turn, requested, true);
    Object.assign(scope, { topicsDue: true, recounts: false, requestedTopic: requested });
  },
  handlers: {
    topic: (turn, { queryId }) => changeTopic(turn, queryId, true),
    "next-topic": (turn) => changeTopic(turn, nextUnfinished(turn.state)?.query_id ?? "", false),
    /** A document that was found by searching comes next, or at once; the one on screen stays behind it. */
    take(turn, { queryId, doc, atOnce }) {
      const { kind, state } = turn;
      const { scope } = state;
      const unit = { ...pairUnit(queryId, doc), taken: true, kept: true };
      if (queryId !== scope.topic) {
        // the topic was changed: it waits there
        scope.apart = { ...scope.apart, [queryId]: [unit, ...(scope.apart[queryId] ?? [])] };
        return undefined;
      }
      state.entered = queryId;
      state.due = true; // tells the server what is in front, so that its reservation is prolonged
      const shown = turn.item;
      const open = shown && !shown.entry ? shown.unit : null;
      if (open?.id === unit.id) return turn.reply("on-screen-already"); // it has come up while it was being fetched
      const others = state.units.filter(({ id }) => id !== unit.id);
      const isNow = atOnce || !open;
      state.units = isNow ? [unit, ...others] : [open, unit, ...others.filter((each) => each !== open)];
      if (atOnce) state.look = null;
      return turn.notice(isNow ? "found-now" : "found-next", { title: kind.title(unit) });
    },
    "close-feedback"({ state }) {
      state.scope.feedback = null;
    },
  },
};
