// Grades: one document of a topic at a time, from a pool or in the loop.

/** @import { CalibrationFeedback, Doc, Entry, Kind, Notice, Pending, State, SyncRequest, Topic, Turn, Unit } from "../types.js" */
/** @import { TopicsAnswer } from "../../wire.d.ts" */

import { contextOf, isLast, MOST_SENT } from "../outbox.js";
import { changeHistory, keepUnits, lineUp, outstanding, takeRecent } from "../state.js";

/** Ask for more when fewer unseen documents are held: so many can be judged without a connection. */
const LOW = 24;

/** Ask for as many as make this, but for no more at once than the server hands out. */
const FULL = 36;
const MOST_WANTED = 24;

/** Topics that had nothing for the annotator, of which the server is told. */
const MOST_TRIED = 1_000;

/** Held documents that the server is told of; those beyond, at the end, were skipped long ago. */
const MOST_HELD = 1_000;

/** Ms until the model's next order is asked for while it learns; each time twice as long, up to the last. */
const FIRST_LOOK = 120;
const LAST_LOOK = 2_000;

/** Reference grades of one answer that are shown: fast keys and a slow network bring several at once. */
const MOST_FEEDBACK = 5;

/**
 * What the card knows besides its units, which are all of `topic`.
 *
 * @typedef {object} Scope
 * @property {Topic[] | null} topics null until they have arrived
 * @property {string | null} topic the open one
 * @property {number} visit changes with the topic: answers to what was asked before no longer count
 * @property {string | null} askedTopic the topic that the page was opened for; null for none in particular
 * @property {string | null} here the last topic that this browser knows of
 * @property {string | null} last the topic of the newest judgement that this browser knows of
 * @property {{ query_id: string, doc_id: string }[]} skips not sent yet
 * @property {string[]} tried topics that had nothing for this annotator
 * @property {string | null} nextTopic one that has something, where the open one has nothing
 * @property {string} budget why nothing is handed out: the budget that is used up
 * @property {boolean} acrossTopics whether the loop chooses across topics, and the topic therefore changes often
 * @property {boolean} chosen whether the annotator chose the open topic
 * @property {Notice | null} why why the card opened the topic by itself
 * @property {boolean} calibrating whether the card opened it for its calibration set, which is judged first
 * @property {boolean} topicsDue
 * @property {boolean} recounts whether the topics are fetched only to update their counts
 * @property {{ judged: number, pool: number | null } | null} all
 * @property {Record<string, Unit[]>} apart found by searching in other topics
 * @property {boolean} inLoop
 * @property {string[]} chooser what chooses the next document, and what it has learned from
 * @property {number} looks times that the model was behind in a row
 * @property {string | null} problem why the model cannot choose
 * @property {CalibrationFeedback[] | null} feedback
 */

/** What is not known yet of a topic that was just opened. */
const UNKNOWN = {
  problem: null,
  nextTopic: null,
  budget: "",
  acrossTopics: false,
  chosen: false,
  why: null,
  inLoop: false,
  chooser: [],
  looks: 0,
};

/** @param {string} queryId @param {string} docId */
export const pairId = (queryId, docId) => JSON.stringify([queryId, docId]);

/** @param {{ query_id: string, doc_id?: string }} decision */
export const idOf = ({ query_id, doc_id = "" }) => pairId(query_id, doc_id);

/** @param {{ documents: Doc[] }} unit @returns {Doc} */
export const docOf = ({ documents: [doc] }) => /** @type {Doc} */ (doc);

/** @param {string} queryId @param {Doc} doc @returns {Unit} */
const unitOf = (queryId, doc) => ({ id: pairId(queryId, doc.doc_id), queryId, documents: [doc] });

/** @param {State} state */
const unseen = (state) => state.units.filter(({ skipped }) => !skipped).length;

/** @param {Scope} scope @param {string | null | undefined} queryId @returns {Topic | undefined} */
export const topicOf = (scope, queryId) => scope.topics?.find(({ query_id }) => query_id === queryId);

/**
 * Judged and pooled of a topic, or of all (null), with decisions that are not counted yet.
 *
 * @param {State<Scope>} state @param {Topic | null} topic
 */
export function countOf(state, topic) {
  const mine = outstanding(state).filter(({ decision }) => !topic || decision.query_id === topic.query_id);
  const base = topic ?? state.scope.all ?? sumOf(state.scope.topics ?? []);
  const judged = Math.max(0, base.judged + mine.reduce((sum, { delta }) => sum + delta, 0));
  return { judged: base.pool === null ? judged : Math.min(judged, base.pool), pool: base.pool };
}

/** @param {Topic[]} topics */
const sumOf = (topics) => ({
  judged: topics.reduce((sum, { judged }) => sum + judged, 0),
  pool: topics.some(({ pool }) => pool === null) ? null : topics.reduce((sum, { pool }) => sum + (pool ?? 0), 0),
});

/** @param {State<Scope>} state @param {Topic | undefined} topic */
export function isDone(state, topic) {
  if (!topic) return false;
  const { judged, pool } = countOf(state, topic);
  return pool !== null && judged >= pool;
}

/**
 * The topic in which the server found work; otherwise the next topic with documents left, searched after the open one and
 * then from the start. Topics to judge before the others take precedence.
 *
 * @param {State<Scope>} state @returns {Topic | null}
 */
export function nextUnfinished(state) {
  const { nextTopic, topic, topics } = state.scope;
  const known = topicOf(state.scope, nextTopic);
  if (known) return known;
  const all = topics ?? [];
  const at = all.findIndex(({ query_id }) => query_id === topic);
  const left = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].filter((each) => !isDone(state, each));
  return left.find(({ first }) => first) ?? left[0] ?? null;
}

// ------------------------------------------------------------------------------------------------ topics

/** @param {Turn<Scope>} turn @param {string} queryId */
function openTopic(turn, queryId) {
  const { state } = turn;
  const { scope } = state;
  const taken = state.units.filter((unit) => unit.taken); // what was searched for is there when the topic is again
  const all = scope.topic === null || !taken.length ? scope.apart : { ...scope.apart, [scope.topic]: taken };
  const { [queryId]: waiting = [], ...apart } = all;
  Object.assign(scope, { ...UNKNOWN, apart, topic: queryId, visit: scope.visit + 1 });
  Object.assign(state, { units: waiting, exhausted: false, look: null, wantsRecent: true });
  turn.timer("look", null);
  turn.store("topic", queryId);
}

/** @param {Turn<Scope>} turn @param {string} queryId @param {boolean} chosen */
function changeTopic(turn, queryId, chosen) {
  if (!topicOf(turn.state.scope, queryId)) return;
  openTopic(turn, queryId);
  Object.assign(turn.state.scope, { tried: [], chosen, calibrating: false });
  turn.state.notice = null;
  turn.state.entered = queryId;
}

/**
 * Opens another topic without being asked to, and says why.
 *
 * @param {Turn<Scope>} turn @param {string} queryId @param {string} code @param {{ title?: string, words?: string }} details
 */
function bringTo(turn, queryId, code, details = {}) {
  const { state } = turn;
  if (!topicOf(state.scope, queryId)) {
    state.scope.topicsDue = true; // it is new since they were fetched
    state.due = true;
    return;
  }
  openTopic(turn, queryId);
  turn.notice(code, details);
  state.scope.why = state.notice;
}

/** The topic of the newest judgement that this browser knows of. @param {Turn<Scope>} turn @param {string} queryId */
function keepLast(turn, queryId) {
  if (turn.state.scope.last === queryId) return;
  turn.state.scope.last = queryId;
  turn.store("last", queryId);
}

/** @param {Turn<Scope>} turn @param {TopicsAnswer} answer */
function takeTopics(turn, { topics, last: there, work }) {
  const { state } = turn;
  const { scope } = state;
  const { recounts } = scope;
  Object.assign(scope, { topics, topicsDue: false, recounts: false });
  const current = topicOf(scope, scope.topic);
  // An annotator who comes back to a finished topic is taken to one with documents left.
  if (current && (recounts || scope.askedTopic !== null || !isDone(state, current))) return;
  // If the server's newest judgement is in another topic than the newest that this browser knew of, then another device
  // has been used since, and its topic is the newer one.
  const isNewer = there !== null && there !== scope.last;
  const last = topicOf(scope, scope.here === null || isNewer ? there : scope.here);
  if (there !== null) keepLast(turn, there);
  const first = topicOf(scope, work) ?? topics.find((topic) => !isDone(state, topic)) ?? topics[0];
  const askedTopic = topicOf(scope, scope.askedTopic);
  const start = askedTopic ?? (last && !isDone(state, last) ? last : first);
  if (!start) return;
  openTopic(turn, start.query_id);
  scope.chosen = start === askedTopic;
  if (scope.chosen) state.entered = start.query_id;
}

// ------------------------------------------------------------------------------------------------ asking

/** The number of documents to ask for; in the loop never 0, since each judgement may change the order. @param {State<Scope>} state */
function wanted(state) {
  if (!state.mounted || state.scope.topic === null) return 0;
  const missing = Math.min(MOST_WANTED, FULL - unseen(state));
  if (state.scope.inLoop) return Math.max(1, missing);
  return unseen(state) < LOW ? missing : 0;
}

/** @param {State<Scope>} state @param {number} want @returns {SyncRequest} */
function syncRequest(state, want) {
  const { scope } = state;
  const { topic: query_id } = scope;
  const tried = scope.tried.slice(-MOST_TRIED);
  const shared = contextOf(state);
  const decisions = shared.batch.map(({ decision }) => decision);
  const skips = scope.skips.slice(0, MOST_SENT);
  const holding = state.units.map((unit) => docOf(unit).doc_id).slice(0, MOST_HELD);
  const alone = !Object.keys(state.tabs).length; // else the other tab's reservations are left to it
  const leave = isLast(state);
  const body = { decisions, skips, query_id, holding, alone, want, recent: state.wantsRecent, tried, leave };
  const context = { ...shared, want, visit: scope.visit, skips: skips.length };
  return { lane: "sync", route: "sync", body, context };
}

// ----------------------------------------------------------------------------------------------- answers

/** @param {Turn<Scope>} turn @param {SyncRequest} request @param {any} answer */
function takeSync(turn, request, answer) {
  const { state } = turn;
  const { scope } = state;
  const { batch, visit, skips, want } = request.context;
  const body = /** @type {{ query_id: string | null, recent: boolean, leave: boolean }} */ (request.body);
  const known = [...batch, ...outstanding(state)];
  const judged = new Map(known.map(({ decision }) => [idOf(decision), decision.kind !== "undone"]));
  scope.skips = scope.skips.slice(skips);
  const surplus = takeSurplus(turn, batch, answer.surplus ?? []);
  takeProgress(state, batch, answer, surplus);
  if (answer.feedback?.length) scope.feedback = answer.feedback.slice(-MOST_FEEDBACK);
  // The topic may have been changed while this was under way; without one, or at the end, only decisions were sent.
  if (visit !== scope.visit || body.query_id === null || body.leave) return true;
  if (answer.query_id !== body.query_id) return false;
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
 * @param {Turn<Scope>} turn @param {Pending[]} batch @param {string[]} uuids
 */
function takeSurplus(turn, batch, uuids) {
  const surplus = new Set(uuids);
  if (!surplus.size) return surplus;
  changeHistory(turn, (entry) => (surplus.has(entry.decision.uuid ?? "") ? { ...entry, surplus: true } : entry));
  const pending = batch.findLast(({ decision }) => surplus.has(decision.uuid));
  if (pending && !turn.state.notice?.urgent) turn.notice("surplus", { title: pending.title });
  return surplus;
}

/** @param {State<Scope>} state @param {Pending[]} batch @param {any} answer @param {Set<string>} surplus */
function takeProgress(state, batch, answer, surplus) {
  const saved = new Set(answer.saved);
  for (const { decision, delta } of batch) {
    if (saved.has(decision.uuid) && !surplus.has(decision.uuid)) add(state.scope, decision.query_id, delta);
  }
  if (!answer.progress) return;
  state.scope.all = answer.progress.all;
  const { topic } = answer.progress;
  if (topic) change(state.scope, answer.query_id, () => topic);
}

/** @param {Scope} scope @param {string} queryId @param {(topic: Topic) => Partial<Topic>} changes */
function change(scope, queryId, changes) {
  scope.topics =
    scope.topics?.map((topic) => (topic.query_id === queryId ? { ...topic, ...changes(topic) } : topic)) ?? null;
}

/** @param {Scope} scope @param {string} queryId @param {number} delta */
const add = (scope, queryId, delta) => change(scope, queryId, ({ judged }) => ({ judged: judged + delta }));

/** @param {any} recent a document with this annotator's judgement @returns {Entry} */
function recentEntry({ query_id, kind, relevance, reason, note, flagged, passages, ...doc }) {
  const decision = { uuid: null, query_id, doc_id: doc.doc_id, kind, relevance, reason, note, flagged, passages };
  return { decision, title: doc.title || doc.doc_id, unit: unitOf(query_id, doc), was: null, order: 0 };
}

/**
 * Documents of an answer as units; a pair with a judgement under way is never shown as unjudged.
 *
 * @param {Turn<Scope>} turn @param {Doc[]} documents @param {Map<string, boolean>} judged
 */
function freshUnits(turn, documents, judged) {
  const held = new Set(turn.state.units.map(({ id }) => id));
  return documents
    .map((doc) => unitOf(turn.state.scope.topic ?? "", doc))
    .filter(({ id }) => !held.has(id) && !judged.get(id));
}

/** What is open again has been unjudged elsewhere. @param {Turn<Scope>} turn @param {Unit[]} units */
function dropFromHistory(turn, units) {
  const ids = new Set(units.map(({ id }) => id));
  const { look } = turn.state;
  changeHistory(turn, (entry) => (entry !== look && ids.has(idOf(entry.decision)) ? null : entry));
}

/**
 * Takes more documents of a pool: they come behind those that are held.
 *
 * @param {Turn<Scope>} turn @param {number} want @param {any} answer @param {Map<string, boolean>} judged
 */
function takeMore(turn, want, answer, judged) {
  const { state } = turn;
  const closed = new Set(answer.closed); // judged elsewhere meanwhile; what is on screen stays there
  const first = turn.waiting ? null : state.units[0];
  keepUnits(turn, (unit) => unit === first || Boolean(unit.taken) || !closed.has(docOf(unit).doc_id));
  const fresh = freshUnits(turn, answer.documents, judged);
  dropFromHistory(turn, fresh);
  lineUp(state, fresh);
  if (want > 0) state.exhausted = fresh.length < want;
  // No other topic hands out documents before the calibration set is judged.
  if (!answer.first || answer.first === state.scope.topic || turn.item || turn.waiting) return;
  bringTo(turn, answer.first, "calibration-first");
  state.scope.calibrating = true;
}

/**
 * Takes the loop's order: what is on screen stays, and what undo or a search has put before another document; everything
 * behind it is replaced, and skipped ones come last.
 *
 * @param {Turn<Scope>} turn @param {any} answer @param {Map<string, boolean>} judged @param {boolean} sent
 */
function takeOrder(turn, answer, judged, sent) {
  const { state } = turn;
  const { scope } = state;
  const rest = state.units.slice(1).filter(({ id }) => !judged.get(id));
  const fixed = rest.filter(({ kept, skipped }) => kept && !skipped);
  const others = rest.filter(({ kept, skipped }) => !kept && !skipped);
  const movable = [...others, ...freshUnits(turn, answer.documents, judged)];
  const known = new Map(movable.map((unit) => [docOf(unit).doc_id, unit]));
  const next = [...fixed, ...answer.order.flatMap((/** @type {string} */ id) => known.get(id) ?? [])];
  const isGone = turn.waiting && !answer.order.includes(docOf(turn.waiting).doc_id); // nobody has seen it
  state.units = isGone ? [] : state.units.slice(0, 1);
  lineUp(state, [...next, ...rest.filter(({ skipped }) => skipped)]);
  dropFromHistory(turn, next);
  state.exhausted = !answer.behind && !next.length;
  scope.problem = answer.problem ?? null;
  scope.chooser = answer.chooser ?? [];
  // While the model learns, its next order is fetched as soon as it is there.
  const looks = sent ? 0 : scope.looks;
  scope.looks = answer.behind ? looks + 1 : 0;
  const ms = answer.behind && state.mounted ? Math.min(LAST_LOOK, FIRST_LOOK * 2 ** Math.min(looks, 6)) : null;
  turn.timer("look", ms);
}

/**
 * If the open topic has no document for the annotator, opens another topic that has one, with a notice; if topics change
 * often, the notice is only the topic's name. The open topic stays if the annotator chose it or has finished it. If it is
 * finished and no topic has a document, fetches the counts again: others or a stopping rule may have changed them.
 *
 * @param {Turn<Scope>} turn @param {any} answer
 */
function goWhereWorkIs(turn, { documents, next, budget = "", across_topics: acrossTopics = false }) {
  const { state } = turn;
  const { scope } = state;
  if (documents.some((/** @type {Doc} */ doc) => !doc.calibration)) scope.calibrating = false;
  const idle = turn.item === null && !turn.waiting;
  if (!idle || documents.length) Object.assign(scope, { tried: [], chosen: false });
  Object.assign(scope, { nextTopic: next ?? null, budget, acrossTopics });
  const done = isDone(state, topicOf(scope, scope.topic));
  if (next === null && idle && done && !documents.length) Object.assign(scope, { topicsDue: true, recounts: true });
  if (!next || !idle || scope.chosen || (done && !scope.calibrating)) return;
  scope.tried = [...scope.tried, scope.topic ?? ""];
  if (acrossTopics) bringTo(turn, next, "other-topic", { title: topicOf(scope, next)?.title || next });
  else bringTo(turn, next, "next-topic", { words: budget, ...(done && { done }) });
}

/** @type {Kind<Scope>} */
export const grade = {
  name: "grade",
  marks: { note: null, flagged: false, passages: [] },
  blank: { relevance: null },
  scope: ({ topic = null, last = null }) => ({
    ...UNKNOWN,
    topics: null,
    topic: null,
    visit: 0,
    askedTopic: null,
    here: topic,
    last,
    skips: [],
    tried: [],
    calibrating: false,
    topicsDue: false,
    recounts: false,
    all: null,
    apart: {},
    feedback: null,
  }),
  title: (unit) => docOf(unit).title || docOf(unit).doc_id,
  subject: idOf,
  unitId: idOf,
  closedId: (unit) => docOf(unit).doc_id,
  about: (unit) => ({ doc_id: docOf(unit).doc_id }),
  after: () => null,
  // Whether a document that was found by searching is in the pool, the server knows.
  delta: ({ scope }, { taken, queryId }) => (taken && topicOf(scope, queryId)?.pool !== null ? 0 : 1),
  back(turn, { unit, decision }) {
    if (decision.query_id !== turn.state.scope.topic) openTopic(turn, decision.query_id);
    return { unit, delta: -grade.delta(turn.state, unit, null) };
  },
  heard: () => null,
  isOnly(state) {
    if (state.units.length > 1) return false;
    const topic = topicOf(state.scope, state.scope.topic);
    const { judged, pool } = countOf(state, topic ?? null);
    return state.exhausted || (pool !== null && pool - judged <= 1);
  },
  skip({ state }, unit) {
    state.scope.skips = [...state.scope.skips, { query_id: unit.queryId, doc_id: docOf(unit).doc_id }];
  },
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
      return { lane: "sync", route: "topics", body: {}, context: contextOf({ ...state, outbox: [] }) };
    const want = wanted(state);
    const isHungry = want > 0 && !state.exhausted && !scope.inLoop;
    const asks = state.mounted && scope.topic !== null && (state.wantsRecent || state.due || isHungry);
    return asks || waits ? syncRequest(state, want) : null;
  },
  take(turn, request, answer) {
    if (request.route !== "topics") return takeSync(turn, request, answer);
    takeTopics(turn, answer);
    turn.state.due ||= request.context.due;
    return true;
  },
  last: (state) => syncRequest({ ...state, wantsRecent: false }, 0),
  fetch: ({ query_id, doc_id }) => ({ route: "document", body: { query_id, doc_id, said: true } }),
  fetched({ said, ...doc }, decision) {
    const now = said ? { ...decision, ...said } : decision;
    return { unit: unitOf(decision.query_id, doc), decision: now };
  },
  mount(turn, { fresh, asked }) {
    const { scope } = turn.state;
    if (!fresh) return;
    if (asked !== null && asked !== scope.askedTopic && asked !== scope.topic) changeTopic(turn, asked, true);
    Object.assign(scope, { topicsDue: true, recounts: false, askedTopic: asked });
  },
  handlers: {
    topic: (turn, { queryId }) => changeTopic(turn, queryId, true),
    "next-topic": (turn) => changeTopic(turn, nextUnfinished(turn.state)?.query_id ?? "", false),
    /** A document that was found by searching comes next, or at once; the one on screen stays behind it. */
    take(turn, { queryId, doc, atOnce }) {
      const { kind, state } = turn;
      const { scope } = state;
      const unit = { ...unitOf(queryId, doc), taken: true, kept: true };
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
