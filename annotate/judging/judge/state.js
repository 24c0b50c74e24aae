/**
 * The judging card: shows one document at a time, takes grades by key or click, and saves behind the scenes.
 *
 * It holds the next documents of a topic, so that a key shows the next one at once; no key press waits for
 * the network and none triggers a Streamlit rerun. A judgement is bound to the pair on screen at the key
 * press, is written to localStorage before it is sent, and is forgotten only when the server names its uuid.
 *
 * The host page may call the default export again at any time (Streamlit does at every rerun, without calling
 * the former clean-up): listeners are then replaced and the state is kept.
 *
 * Routes, all POST with JSON and the header X-Cleverdon-Token; a 401 is answered by `token` and one retry.
 *   topics   {} -> {topics: Topic[]}
 *   sync     {judgements: Judgement[], skips: Pair[], query_id, holding: doc_id[], want, recent}
 *            -> {saved: uuid[], refused: {uuid, reason}[], query_id, documents: Doc[], closed: doc_id[],
 *                recent?: Recent[], progress, order?: doc_id[], model_round?, behind?: boolean, surplus?: uuid[],
 *                feedback?: {uuid, doc_id, title, relevance, settled, note}[], first?: query_id}
 *            `closed` are those of `holding` that need no judgement any more. In the loop, `order` is all that is to be
 *            held from now on, by the model of that round; `behind`: a newer one is on its way, ask again
 *            `surplus` are those of `saved` that came when the pair had all that were wanted; `feedback` says what is settled
 *            of pairs of the calibration set; `first` is a topic with such pairs, before which nothing is handed out
 *   document {query_id, doc_id, said?} -> Doc with its whole text; with `said` also what this annotator says of it
 *   guidelines {} -> {html, notes: {query_id: text}}: the one answer with markup in it, made safe by the server
 *   why      {query_id, doc_id} -> {sentence, terms: [term, share][], behind?}: `share` from -1 (against) to 1 (for)
 *   search   {query_id, words} -> {documents: {doc_id, title, snippet, judged, relevance}[], more?}: in a snippet U+0002
 *            and U+0003 stand around the words
 *   take     {query_id, doc_id} -> Doc, handed out as found by searching
 *   token    {annotator} -> {token}
 *
 * @typedef {{query_id: string, title: string, description: string, narrative: string, pool: ?number,
 *            judged: number}} Topic `pool` is how many are to be judged, null in a loop without an end
 * @typedef {{doc_id: string, title: string, text: ?string, length: number, truncated: boolean,
 *            metadata: Object<string, *>, calibration?: boolean}} Doc the card adds `skipped`, `former` (taken back), `taken` (found by searching)
 *            and `kept` (was on screen, or is to be: the loop does not replace it)
 * @typedef {{uuid: string, query_id: string, doc_id: string, kind: "graded"|"cannot judge"|"undone",
 *            relevance: ?number, reason: ?string, note: ?string, shown_at: string, seconds: number,
 *            source: "key"|"click"}} Judgement
 * @typedef {{query_id: string, doc: Doc, kind: string, relevance: ?number, reason: ?string, note: ?string,
 *            uuid: ?string}} Entry one judged pair that can be looked back at and undone
 * @typedef {{judgement: Judgement, order: number, delta: number, title: string}} Pending `delta` is what the
 *            judgement adds to the number judged: 1 for a new one, 0 for a revision, -1 for an undo
 */

const LOW = 12; // ask for more when fewer unseen documents are held
const FULL = 24; // and ask for as many as make this
const HISTORY = 300; // judged documents kept for looking back
const CHIPS = 12; // metadata shown of one document
const FIRST_RETRY = 500;
const LAST_RETRY = 10_000;
const TIMEOUT = 20_000; // a request without an answer must not block the others for ever
const ASK_AGAIN = 10_000; // when other annotators hold what is left
const FIRST_LOOK = 120; // when the model is learning: how soon to ask for its order
const LAST_LOOK = 2_000;
const HEARTBEAT = 120_000; // tells the server which documents are still held
const OFFLINE_AFTER = 3_000;
const ONE_MOMENT = "One moment …";
const KEEPALIVE_LIMIT = 20_000; // characters: browsers refuse keepalive requests above 64 KB

const SCROLL = { ArrowUp: -1, ArrowDown: 1, PageUp: -2, PageDown: 2, " ": 2, Home: -3, End: 3 };
const CARD_KEYS = new Set(["u", "s", "x", "n", "w", "g", "m", "/", "?", "ArrowLeft", "ArrowRight", ...Object.keys(SCROLL)]);
const FOREIGN = "[role=dialog],[role=menu],[role=listbox],[role=combobox],[role=slider],[role=radiogroup]";
const SLOT = Symbol.for("cleverdon.judging.card"); // on window: finds listeners left by another copy of this module

/** One state for each campaign and annotator; it outlives reruns and a visit to another page. */
const states = new Map();

export default function mountCard({ data, parentElement }) {
  window[SLOT]?.();
  const state = stateFor(data);
  const leave = attach(state, data, parentElement);
  window[SLOT] = leave;
  return leave;
}

// ---------------------------------------------------------------------------------------------- state

function stateFor(data) {
  const id = `cleverdon:${encodeURIComponent(data.campaign)}:${encodeURIComponent(data.annotator)}:`;
  let state = states.get(id);
  if (!state) {
    const store = openStore(id);
    state = {
      id, annotator: data.annotator, store, storeFails: store === null, order: 0,
      topics: null, byId: new Map(), all: null, queryId: null,
      visit: 0, queue: [], exhausted: false, inLoop: false, looks: 0, lookAgain: null, skips: [], history: [], look: null,
      wantsRecent: true, due: false, topicsDue: false, arriving: false,
      pending: loadPending(store, id), refused: readJson(store, `${id}refused`) ?? [],
      inFlight: false, retry: null, failures: 0, failingSince: 0, trouble: null, detail: "",
      renewing: null,
      clock: null, panel: null, notice: null, askAgain: null, view: null, asked: undefined,
      why: null, whyTimer: null, apart: new Map(), problem: null,
      guidelines: { asked: false, html: null, notes: new Map(), trouble: "" }, drafts: loadDrafts(store, id), noted: null,
      feedback: null,
      find: { queryId: null, words: "", searched: "", asked: null, documents: [], chosen: -1, trouble: "", taking: null },
    };
    states.set(id, state);
  }
  if (state.token !== data.token) {
    state.token = data.token;
    if (state.trouble === 401 || state.trouble === 403) wake(state);
  }
  state.routes = data.routes;
  state.scale = data.scale;
  state.reasons = data.reasons ?? [];
  state.textCap = data.text_cap;
  return state;
}

function openStore(id) {
  try {
    localStorage.setItem(`${id}probe`, "1");
    localStorage.removeItem(`${id}probe`);
    return localStorage;
  } catch {
    return null; // private mode, or storage switched off
  }
}

function readJson(store, key) {
  try {
    return JSON.parse(store?.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Each judgement has a key of its own, so that two tabs of one annotator never overwrite each other's. */
function loadPending(store, id) {
  const found = [];
  for (let i = 0; i < (store?.length ?? 0); i += 1) {
    const key = store.key(i);
    const item = key.startsWith(`${id}pending:`) ? readJson(store, key) : null;
    if (item?.judgement?.uuid) found.push(item);
  }
  return found.sort((a, b) => a.order - b.order);
}

function write(state, key, value) {
  try {
    if (value === null) state.store?.removeItem(state.id + key);
    else state.store?.setItem(state.id + key, value);
  } catch {
    state.storeFails = true; // full: the judgement still waits in memory and the status line says so
  }
}

const pairOf = (queryId, docId) => `${queryId}\u0000${docId}`;
const nameOf = (doc) => doc.title || doc.doc_id;
const unseen = (state) => state.queue.filter((doc) => !doc.skipped).length;

/** What is on screen: a judged document that is looked back at, or the first of the queue. */
function onScreen(state) {
  if (state.look !== null) {
    const entry = state.history[state.look];
    return { queryId: entry.query_id, doc: entry.doc, former: entry, entry };
  }
  const doc = state.queue[0];
  // A skipped document waits until the server has said that there is nothing else.
  if (!doc || (doc.skipped && !state.exhausted)) return null;
  return { queryId: state.queryId, doc, former: doc.former ?? null, entry: null };
}

/** Judged and pooled, with what is on its way counted in. */
function countOf(state, topic) {
  const mine = state.pending.filter((item) => !topic || item.judgement.query_id === topic.query_id);
  const base = topic ?? state.all ?? sumOf(state.topics);
  const judged = base.judged + mine.reduce((sum, item) => sum + item.delta, 0);
  return { judged: Math.max(0, base.pool === null ? judged : Math.min(judged, base.pool)), pool: base.pool };
}

function sumOf(topics) {
  const sum = (field) => topics.reduce((total, topic) => total + topic[field], 0);
  return { judged: sum("judged"), pool: topics.some((topic) => topic.pool === null) ? null : sum("pool") };
}

function isDone(state, topic) {
  const { judged, pool } = countOf(state, topic);
  return pool !== null && judged >= pool;
}

// ------------------------------------------------------------------------------- time on the screen

const inFront = (state) => state.view !== null && document.visibilityState === "visible";

function restartClock(state, pair) {
  state.clock = pair && { pair, shownAt: new Date().toISOString(), active: 0, since: null };
  runClock(state);
}

/** Starts or stops counting, as the page comes to the front or goes away. */
function runClock(state) {
  const { clock } = state;
  if (!clock) return;
  if (clock.since !== null) clock.active += performance.now() - clock.since;
  clock.since = inFront(state) ? performance.now() : null;
}

function readClock(state) {
  runClock(state);
  return Math.round(state.clock.active) / 1000;
}

