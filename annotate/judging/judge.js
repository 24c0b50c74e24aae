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
 *            -> {saved: uuid[], refused: {uuid, reason}[], query_id, documents: Doc[], recent?: Recent[], progress}
 *   document {query_id, doc_id} -> Doc with its whole text
 *   token    {} -> {token}
 *
 * @typedef {{query_id: string, title: string, description: string, narrative: string, pool: number,
 *            judged: number}} Topic
 * @typedef {{doc_id: string, title: string, text: ?string, length: number, truncated: boolean,
 *            metadata: Object<string, *>}} Doc
 * @typedef {{uuid: string, query_id: string, doc_id: string, kind: "graded"|"cannot judge"|"undone",
 *            relevance: ?number, reason: ?string, shown_at: string, seconds: number,
 *            source: "key"|"click"}} Judgement
 * @typedef {{query_id: string, doc: Doc, kind: string, relevance: ?number, reason: ?string,
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
const HEARTBEAT = 120_000; // tells the server which documents are still held
const OFFLINE_AFTER = 3_000;
const ONE_MOMENT = "One moment …";
const KEEPALIVE_LIMIT = 20_000; // characters: browsers refuse keepalive requests above 64 KB

const SCROLL = { ArrowUp: -1, ArrowDown: 1, PageUp: -2, PageDown: 2, " ": 2, Home: -3, End: 3 };
const CARD_KEYS = new Set(["u", "s", "x", "n", "?", "ArrowLeft", "ArrowRight", ...Object.keys(SCROLL)]);
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
      id, store, storeFails: store === null, order: 0,
      topics: null, byId: new Map(), all: null, queryId: null,
      visit: 0, queue: [], exhausted: false, skips: [], history: [], look: null,
      wantsRecent: true, due: false, topicsDue: false,
      pending: loadPending(store, id), refused: readJson(store, `${id}refused`) ?? [],
      inFlight: false, retry: null, failures: 0, failingSince: 0, trouble: null, detail: "",
      renewing: null,
      clock: null, panel: null, notice: null, askAgain: null, view: null, asked: undefined,
    };
    states.set(id, state);
  }
  if (state.token !== data.token) {
    state.token = data.token;
    if (state.trouble === 401) wake(state);
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
  return { judged: Math.max(0, Math.min(judged, base.pool)), pool: base.pool };
}

function sumOf(topics) {
  const sum = (field) => topics.reduce((total, topic) => total + topic[field], 0);
  return { judged: sum("judged"), pool: sum("pool") };
}

function isDone(state, topic) {
  const { judged, pool } = countOf(state, topic);
  return judged >= pool;
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

// ------------------------------------------------------------------------------------------ verbs

/** The one place where judgements are made: kept in the browser first, then on the way. */
function record(state, queryId, doc, kind, { relevance = null, reason = null, source, delta, shownAt, seconds }) {
  const uuid = newUuid();
  state.order = Math.max(state.order + 1, Date.now() * 1000);
  const judgement = {
    uuid, query_id: queryId, doc_id: doc.doc_id, kind, relevance, reason, shown_at: shownAt, seconds, source,
  };
  const item = { judgement, order: state.order, delta, title: nameOf(doc) };
  write(state, `pending:${item.order}:${uuid}`, JSON.stringify(item));
  state.pending.push(item);
  return uuid;
}

/** Judges the pair on screen (never another one) and goes on. */
function judge(state, kind, { relevance = null, reason = null, source }) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { queryId, doc, entry } = item;
  const uuid = record(state, queryId, doc, kind, {
    relevance, reason, source, delta: entry ? 0 : 1, shownAt: state.clock.shownAt, seconds: readClock(state),
  });
  if (entry) state.history.splice(state.look, 1);
  else state.queue.shift();
  state.look = null;
  delete doc.former;
  delete doc.skipped;
  state.history.push({ query_id: queryId, doc, kind, relevance, reason, uuid });
  if (state.history.length > HISTORY) state.history.shift();
  const said = wordsFor(state, { kind, relevance, reason });
  say(state, `: ${said}${entry ? ", revised" : ""} – undo (u)`, doc);
  refresh(state);
  return pump(state);
}

/** Takes back the last judgement, or the one looked at, and puts its document on screen again. */
function undo(state, source) {
  const at = state.look ?? state.history.length - 1;
  const entry = state.history[at];
  if (!entry) return tell(state, "Nothing to undo.");
  state.history.splice(at, 1);
  state.look = null;
  record(state, entry.query_id, entry.doc, "undone", {
    source, delta: -1, shownAt: new Date().toISOString(), seconds: 0,
  });
  if (entry.query_id !== state.queryId) openTopic(state, entry.query_id);
  entry.doc.former = { kind: entry.kind, relevance: entry.relevance, reason: entry.reason };
  state.queue.unshift(entry.doc);
  say(state, `: ${wordsFor(state, entry)} taken back`, entry.doc);
  refresh(state);
  return pump(state);
}

/** Puts the open document at the end of its topic. */
function skip(state) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  if (item.entry) return tell(state, "This one is judged already: → goes forward.");
  const { judged, pool } = countOf(state, state.byId.get(state.queryId));
  if (state.queue.length === 1 && (state.exhausted || pool - judged <= 1)) {
    return tell(state, "This is the only document left in this topic.");
  }
  const doc = state.queue.shift();
  doc.skipped = true;
  state.queue.push(doc);
  state.skips.push({ query_id: state.queryId, doc_id: doc.doc_id });
  say(state, ": skipped, it comes again at the end of this topic", doc);
  refresh(state);
  return pump(state);
}

/** Looks at judged documents: -1 is one further back, +1 one forward, and past the last is the open one. */
function look(state, step) {
  const at = (state.look ?? state.history.length) + step;
  if (at < 0) return tell(state, "There is nothing further back.");
  if (at > state.history.length) return undefined;
  state.look = at === state.history.length ? null : at;
  if (state.look === null) say(state, "Back at the open document.");
  else sayLookingBack(state, state.history[at]);
  return refresh(state);
}

function sayLookingBack(state, entry) {
  say(state, `: ${wordsFor(state, entry)} – a grade revises it, → goes forward`, entry.doc);
}

function openTopic(state, queryId) {
  state.queryId = queryId;
  state.visit += 1; // answers to what was asked before no longer count
  state.queue = [];
  state.exhausted = false;
  state.look = null;
  state.panel = null;
  write(state, "topic", queryId);
}

function changeTopic(state, queryId) {
  if (!state.byId.has(queryId)) return;
  openTopic(state, queryId);
  state.wantsRecent = true;
  state.notice = null;
  refresh(state);
  pump(state);
}

const shownTopicId = (state) => onScreen(state)?.queryId ?? state.queryId;

function stepTopic(state, step) {
  const at = state.topics?.findIndex((topic) => topic.query_id === shownTopicId(state)) ?? -1;
  const next = state.topics?.[at + step];
  if (next) changeTopic(state, next.query_id);
}

/** The next topic with something left, after the present one and then from the start. */
function nextUnfinished(state) {
  const topics = state.topics ?? [];
  const at = topics.findIndex((topic) => topic.query_id === state.queryId);
  return [...topics.slice(at + 1), ...topics.slice(0, at)].find((topic) => !isDone(state, topic)) ?? null;
}

function goOn(state) {
  const next = nextUnfinished(state);
  if (next) changeTopic(state, next.query_id);
}

async function showAll(state) {
  const item = onScreen(state);
  if (!item?.doc.truncated) return;
  tell(state, "Fetching the whole text …");
  try {
    const whole = await post(state, "document", { query_id: item.queryId, doc_id: item.doc.doc_id });
    item.doc.text = whole.text;
    item.doc.truncated = false;
    tell(state, "");
  } catch {
    tell(state, "The whole text could not be fetched: try again.");
  }
  refresh(state);
}

function wordsFor(state, { kind, relevance, reason }) {
  if (kind !== "graded") return reason ? `cannot judge (${reason})` : "cannot judge";
  const grade = state.scale.find((entry) => entry.grade === relevance);
  return grade ? `${relevance} ${grade.label}` : String(relevance);
}

/** The line above the buttons: a document's title (kept apart, so that it cannot turn the line round) and words. */
function say(state, words, doc = null) {
  state.notice = { title: doc ? nameOf(doc) : "", words, urgent: false };
}

function tell(state, words) {
  state.notice = { title: "", words, urgent: words !== "" };
  if (state.view) renderNotice(state, state.view);
}

function oneMoment(state) {
  const coming = restOf(state)[0] === ONE_MOMENT;
  tell(state, coming ? "One moment: the next document is on its way." : "There is no document on screen.");
}

/** crypto.randomUUID exists on https and localhost only; a campaign on a LAN address needs one as well. */
function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// ---------------------------------------------------------------------------------------- network

/** An answer that is no success; `status` 0 stands for no answer at all, -1 for one that makes no sense. */
class Failure extends Error {
  constructor(status, detail = "") {
    super(detail || `status ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

async function failureOf(response) {
  const body = await response.json().catch(() => null);
  return new Failure(response.status, typeof body?.error === "string" ? body.error : "");
}

async function send(state, route, body) {
  const text = JSON.stringify(body);
  try {
    return await fetch(`${state.routes}/${route}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Cleverdon-Token": state.token ?? "" },
      body: text,
      signal: AbortSignal.timeout(TIMEOUT),
      keepalive: text.length < KEEPALIVE_LIMIT, // a tab that is closed now still delivers
    });
  } catch {
    throw new Failure(0);
  }
}

async function post(state, route, body) {
  const token = state.token;
  let response = await send(state, route, body);
  if (response.status === 401) {
    await renewToken(state, token);
    response = await send(state, route, body);
  }
  if (!response.ok) throw await failureOf(response);
  return response.json();
}

/** Asks for a token once, however many requests were answered 401 in the meantime. */
async function renewToken(state, used) {
  if (state.token !== used) return;
  state.renewing ??= send(state, "token", {}).finally(() => { state.renewing = null; });
  const response = await state.renewing;
  if (!response.ok) throw new Failure(response.status);
  state.token = (await response.clone().json()).token;
}

function needsSync(state) {
  if (state.pending.length || state.skips.length) return true;
  if (!state.view) return false; // not on screen: nothing to fetch
  if (!state.topics) return true;
  if (state.queryId === null) return false;
  return state.wantsRecent || state.due || (!state.exhausted && unseen(state) < LOW);
}

/** Sends what waits and fetches what is short: one request at a time, so that order is kept. */
function pump(state) {
  if (state.inFlight || state.retry !== null || !needsSync(state)) return;
  state.inFlight = true;
  exchange(state).then(
    () => {
      state.failures = 0;
      state.trouble = null;
    },
    (error) => {
      if (!(error instanceof Failure)) console.error(error);
      retryLater(state, error instanceof Failure ? error : new Failure(-1));
    },
  ).finally(() => {
    state.inFlight = false;
    refresh(state);
    pump(state);
  });
}

function retryLater(state, { status, detail }) {
  if (state.failures === 0) state.failingSince = Date.now();
  state.failures += 1;
  state.trouble = status;
  state.detail = detail;
  const gentle = status >= 400 && status < 500; // asking quickly does not help there
  const delay = gentle ? LAST_RETRY : Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (state.failures - 1));
  state.retry = setTimeout(() => {
    state.retry = null;
    pump(state);
  }, delay);
}

/** Tries at once what waits for its next attempt. */
function wake(state) {
  clearTimeout(state.retry);
  state.retry = null;
  pump(state);
}

async function exchange(state) {
  if (!state.topics || state.topicsDue) takeTopics(state, (await post(state, "topics", {})).topics);
  state.topicsDue = false;
  if (!needsSync(state)) return;
  const batch = [...state.pending];
  const ask = {
    ...outgoing(state, batch),
    want: state.view && state.queryId !== null && unseen(state) < LOW ? FULL - unseen(state) : 0,
    recent: state.wantsRecent,
  };
  const { visit } = state;
  takeReply(state, ask, batch, visit, await post(state, "sync", ask));
}

function outgoing(state, batch) {
  return {
    judgements: batch.map((item) => item.judgement),
    skips: [...state.skips],
    query_id: state.queryId,
    holding: state.queue.map((doc) => doc.doc_id),
  };
}

function takeTopics(state, topics) {
  state.topics = topics;
  state.byId = new Map(topics.map((topic) => [topic.query_id, topic]));
  if (state.byId.has(state.queryId)) return;
  const remembered = [state.asked, state.store?.getItem(`${state.id}topic`)].find((id) => state.byId.has(id));
  const first = topics.find((topic) => !isDone(state, topic)) ?? topics[0];
  const start = remembered ?? first?.query_id;
  if (start !== undefined) openTopic(state, start);
}

function takeReply(state, ask, batch, visit, reply) {
  const judged = new Map(state.pending.map(({ judgement }) => (
    [pairOf(judgement.query_id, judgement.doc_id), judgement.kind !== "undone"])));
  state.due = false;
  state.skips.splice(0, ask.skips.length);
  takeAnswers(state, batch, reply);
  takeProgress(state, batch, reply);
  // The topic may have been changed while this was under way; without one only judgements were sent.
  if (visit !== state.visit || ask.query_id === null) return;
  if (reply.query_id !== ask.query_id) throw new Failure(-1);
  if (ask.recent) takeRecent(state, reply.recent ?? [], judged);
  const fresh = takeDocuments(state, reply.documents, judged);
  if (ask.want > 0) state.exhausted = fresh < ask.want;
}

/** Forgets what the server has taken, and keeps what it refused in sight. */
function takeAnswers(state, batch, reply) {
  const refused = new Map(reply.refused.map((answer) => [answer.uuid, answer.reason]));
  const answered = new Set([...reply.saved, ...refused.keys()]);
  for (const item of batch) {
    const { uuid } = item.judgement;
    if (refused.has(uuid)) {
      const words = item.judgement.kind === "undone" ? "undo" : wordsFor(state, item.judgement);
      state.refused.push({ uuid, title: item.title, words, reason: refused.get(uuid) });
      state.history = state.history.filter((entry) => entry.uuid !== uuid);
      state.look = null;
      state.exhausted = false; // its document may be handed out again
    }
    if (answered.has(uuid)) write(state, `pending:${item.order}:${uuid}`, null);
  }
  if (refused.size) write(state, "refused", JSON.stringify(state.refused));
  state.pending = state.pending.filter((item) => !answered.has(item.judgement.uuid));
  if (batch.some((item) => !answered.has(item.judgement.uuid))) throw new Failure(-1);
}

function takeProgress(state, batch, reply) {
  const saved = new Set(reply.saved);
  for (const { judgement, delta } of batch) {
    const topic = state.byId.get(judgement.query_id);
    if (topic && saved.has(judgement.uuid)) topic.judged += delta;
  }
  if (!reply.progress) return;
  state.all = reply.progress.all;
  const topic = state.byId.get(reply.query_id);
  if (topic && reply.progress.topic) Object.assign(topic, reply.progress.topic);
}

/** Older judgements for undo and looking back; what this browser knows of a pair is newer and wins. */
function takeRecent(state, recent, judged) {
  state.wantsRecent = false;
  const known = new Set(state.history.map((entry) => pairOf(entry.query_id, entry.doc.doc_id)));
  for (const doc of state.queue) known.add(pairOf(state.queryId, doc.doc_id));
  const older = recent.filter(({ query_id, doc_id, kind }) => {
    const pair = pairOf(query_id, doc_id);
    return kind !== "undone" && !known.has(pair) && judged.get(pair) !== false;
  });
  const entries = older.reverse().map(({ query_id, kind, relevance, reason, ...doc }) => (
    { query_id, doc, kind, relevance, reason, uuid: null }));
  state.history.unshift(...entries);
  if (state.look !== null) state.look += entries.length;
}

/** New documents go before the skipped ones; a pair with a judgement under way is never shown as unjudged. */
function takeDocuments(state, documents, judged) {
  const held = new Set(state.queue.map((doc) => doc.doc_id));
  const fresh = documents.filter((doc) => !held.has(doc.doc_id) && !judged.get(pairOf(state.queryId, doc.doc_id)));
  const isFresh = new Set(fresh.map((doc) => doc.doc_id));
  const shown = state.look === null ? null : state.history[state.look];
  state.history = state.history.filter((entry) => entry === shown
    || entry.query_id !== state.queryId || !isFresh.has(entry.doc.doc_id)); // unjudged elsewhere since
  if (shown) state.look = state.history.indexOf(shown);
  const at = state.queue.findIndex((doc) => doc.skipped);
  state.queue.splice(at < 0 ? state.queue.length : at, 0, ...fresh);
  return fresh.length;
}

/** The page goes away: one last request, beside the one that may be under way (saving is idempotent). */
function sendLast(state) {
  if (state.pending.length) {
    send(state, "sync", { ...outgoing(state, state.pending), want: 0, recent: false }).catch(() => {});
  }
}

// ------------------------------------------------------------------------------------- attaching

function attach(state, data, root) {
  const view = viewOf(state, root);
  const controller = new AbortController();
  const on = (target, type, react, options) => {
    target.addEventListener(type, react, { ...options, signal: controller.signal });
  };
  state.view = view;
  fillButtons(state, view);
  on(window, "keydown", (event) => onKey(state, event), { capture: true });
  on(view.card, "click", (event) => onClick(state, event));
  on(view.topics, "change", () => {
    changeTopic(state, view.topics.value);
    letGo(view);
  });
  on(view.scroller, "scroll", () => { view.scrolled = true; }, { passive: true });
  on(window, "resize", () => fit(view));
  on(window, "online", () => wake(state));
  on(window, "pagehide", () => sendLast(state));
  on(window, "beforeunload", (event) => {
    if (state.pending.length && state.failures) event.preventDefault();
  });
  on(document, "visibilitychange", () => runClock(state));
  const heartbeat = setInterval(() => {
    state.due = inFront(state);
    pump(state);
  }, HEARTBEAT);
  const settling = [0, 250, 1000].map((delay) => setTimeout(() => fit(view), delay)); // the page moves while it loads

  fit(view);
  start(state, data, view);
  return function leave() {
    if (controller.signal.aborted) return; // a late clean-up of an earlier run
    controller.abort();
    clearInterval(heartbeat);
    settling.forEach(clearTimeout);
    clearTimeout(state.askAgain);
    state.askAgain = null;
    state.view = null;
    runClock(state);
    if (window[SLOT] === leave) delete window[SLOT];
  };
}

/** The nodes of the card by name. A rerun on the same nodes keeps what is known to be drawn on them. */
function viewOf(state, root) {
  const card = root.querySelector("[data-part=card]");
  if (card.cleverdon?.state === state) return card.cleverdon;
  const view = { card, state, scrolled: false, drawn: {}, isNew: true };
  for (const node of root.querySelectorAll("[data-part]")) {
    view[node.dataset.part.replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = node;
  }
  card.cleverdon = view;
  return view;
}

/** On a new page the leases and the counts are brought up to date, and the page may ask for another topic. */
function start(state, data, view) {
  const queryId = data.query_id ?? undefined;
  if (view.isNew) {
    view.isNew = false;
    state.due = true;
    state.topicsDue = true;
    if (queryId !== undefined && queryId !== state.asked && queryId !== state.queryId && state.topics) {
      changeTopic(state, queryId);
    }
    state.asked = queryId;
  }
  runClock(state);
  refresh(state);
  pump(state);
}

/** Fills the height that is there, so that the buttons are in sight and only the document scrolls. */
function fit(view) {
  let top = view.frame.getBoundingClientRect().top + window.scrollY;
  for (let node = view.frame; node; node = node.parentNode ?? node.host) {
    if (node !== document.documentElement && node !== document.body) top += node.scrollTop ?? 0;
  }
  const height = Math.max(420, Math.floor(window.innerHeight - top - 12));
  view.frame.style.setProperty("--cd-height", `${height}px`);
}

// ------------------------------------------------------------------------------- keys and clicks

/** A digit by its sign or, on layouts that need Shift for it, by its place on the keyboard. */
function digitOf(event) {
  if (/^[0-9]$/.test(event.key)) return Number(event.key);
  const place = event.shiftKey ? null : /^Digit([0-9])$/.exec(event.code ?? "");
  return place ? Number(place[1]) : null;
}

/** A letter by its sign or, on a keyboard that is not Latin, by its place. */
function letterOf(event) {
  if (event.key.length !== 1) return event.key;
  const place = event.key > "\u007f" ? /^Key([A-Z])$/.exec(event.code ?? "") : null;
  return (place ? place[1] : event.key).toLowerCase();
}

function isField(node) {
  return node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName);
}

function onKey(state, event) {
  const { view } = state;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !view.card.offsetHeight) return;
  const path = event.composedPath().filter((node) => node.nodeType === Node.ELEMENT_NODE);
  const inside = path.includes(view.card);
  const onButton = path[0]?.tagName === "BUTTON" || path[0]?.tagName === "A";
  if (onButton && (event.key === "Enter" || event.key === " ")) {
    if (inside && event.repeat) event.preventDefault(); // a held Enter would press the button again and again
    return;
  }
  let react;
  if (path.some(isField)) react = path[0] === view.reasonText ? reactionInField(state, event) : null;
  else if (!inside && path.some((node) => node.matches(FOREIGN))) react = null;
  else if (path.includes(view.need) && event.key in SCROLL) react = null; // the topic scrolls by itself
  else react = reactionTo(state, event);
  if (!react) return;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat || (event.key in SCROLL && !state.panel)) react();
}

function reactionInField(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => giveReason(state, state.view.reasonText.value.trim(), "key");
  return null;
}

/** What a key does now, or null if it is none of the card's. */
function reactionTo(state, event) {
  const digit = digitOf(event);
  const key = digit === null ? letterOf(event) : null;
  const nothing = () => {};
  if (key === "Escape") return escapeFrom(state);
  if (key === "?") return () => setPanel(state, state.panel === "help" ? null : "help");
  if (state.panel === "reasons") {
    if (digit !== null) return () => chooseReason(state, digit, "key");
    if (key === "x") return () => setPanel(state, null);
  }
  // A panel covers the document: nothing is judged or moved behind it.
  if (state.panel) return digit !== null || CARD_KEYS.has(key) ? nothing : null;
  if (digit !== null) {
    const known = state.scale.some(({ grade }) => grade === digit);
    return known ? () => judge(state, "graded", { relevance: digit, source: "key" }) : null;
  }
  if (key in SCROLL) return () => scroll(state.view, SCROLL[key] * (key === " " && event.shiftKey ? -1 : 1));
  return {
    u: () => undo(state, "key"),
    s: () => skip(state),
    x: () => openReasons(state),
    n: onScreen(state) ? null : () => goOn(state),
    ArrowLeft: () => look(state, -1),
    ArrowRight: () => look(state, 1),
  }[key] ?? null;
}

function escapeFrom(state) {
  if (state.panel) return () => setPanel(state, null);
  if (state.look !== null) return () => look(state, state.history.length - state.look);
  return null;
}

function scroll({ scroller }, step) {
  const by = { 1: 52, 2: scroller.clientHeight - 52, 3: scroller.scrollHeight }[Math.abs(step)];
  scroller.scrollBy(0, Math.sign(step) * by);
}

function onClick(state, event) {
  const button = event.target.closest("[data-do]");
  if (!button || button.disabled) return;
  const { grade, reason, uuid } = button.dataset;
  ({
    grade: () => judge(state, "graded", { relevance: Number(grade), source: "click" }),
    undo: () => undo(state, "click"),
    skip: () => skip(state),
    "cannot-judge": () => openReasons(state),
    back: () => look(state, -1),
    forward: () => look(state, 1),
    help: () => setPanel(state, "help"),
    close: () => setPanel(state, null),
    reason: () => chooseReason(state, Number(reason), "click"),
    "give-reason": () => giveReason(state, state.view.reasonText.value.trim(), "click"),
    "show-all": () => showAll(state),
    "previous-topic": () => stepTopic(state, -1),
    "next-topic": () => stepTopic(state, 1),
    "next-unfinished": () => goOn(state),
    fold: () => fold(state.view),
    dismiss: () => dismiss(state, uuid),
  })[button.dataset.do]?.();
  // After a click with the mouse the space bar must scroll, not press the same button once more.
  if (event.detail > 0 && !state.panel) letGo(state.view);
}

const letGo = (view) => view.card.getRootNode().activeElement?.blur();

function fold(view) {
  const open = view.topic.classList.toggle("cd-open");
  view.fold.setAttribute("aria-expanded", String(open));
}

function dismiss(state, uuid) {
  state.refused = state.refused.filter((answer) => answer.uuid !== uuid);
  write(state, "refused", JSON.stringify(state.refused));
  refresh(state);
}

function openReasons(state) {
  if (!onScreen(state)) return oneMoment(state);
  state.view.reasonText.value = "";
  return setPanel(state, "reasons");
}

function chooseReason(state, number, source) {
  if (number === state.reasons.length + 1) return state.view.reasonText.focus();
  const reason = state.reasons[number - 1];
  return reason === undefined ? undefined : giveReason(state, reason, source);
}

function giveReason(state, reason, source) {
  if (!reason) return state.view.reasonText.focus();
  setPanel(state, null);
  return judge(state, "cannot judge", { reason, source });
}

function setPanel(state, panel) {
  state.panel = panel;
  refresh(state);
  const { view } = state;
  if (panel) (panel === "reasons" ? view.reasonsPanel : view.helpPanel).focus({ preventScroll: true });
  else letGo(view);
}

// --------------------------------------------------------------------------------------- drawing

/** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
function refresh(state) {
  const item = onScreen(state);
  const pair = item && pairOf(item.queryId, item.doc.doc_id) + (item.entry ? "\u0000back" : "");
  const turned = pair !== (state.clock?.pair ?? null);
  if (turned && state.panel === "reasons") state.panel = null;
  if (turned && state.notice?.urgent) state.notice = null;
  if (item) item.doc.skipped = false; // it has come round again
  const { view } = state;
  if (view) {
    if (turned && view.scrolled) { // before the new text, while the layout is still valid
      view.scroller.scrollTop = 0;
      view.scrolled = false;
    }
    renderDocument(view, item?.doc ?? null, state.textCap);
    renderMarks(view, item);
  }
  if (turned) restartClock(state, pair);
  if (!view) return;
  renderNotice(state, view);
  renderRest(state, view, item);
  renderTopic(state, view);
  renderProgress(state, view);
  renderStatus(state, view);
  renderRefused(state, view);
  renderPanels(state, view);
}

function setText(view, part, text) {
  if (view.drawn[part] === text) return;
  view.drawn[part] = text;
  view[part].textContent = text;
}

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

const figure = (number) => number.toLocaleString("en");

function renderDocument(view, doc, cap) {
  setHidden(view.document, doc === null);
  if (!doc) return;
  const missing = doc.text === null || doc.text === undefined;
  setText(view, "text", missing ? "" : doc.text);
  setText(view, "title", nameOf(doc));
  setText(view, "docId", doc.doc_id);
  setHidden(view.missing, !missing);
  setHidden(view.more, missing || !doc.truncated);
  if (doc.truncated) {
    setText(view, "showAll", `Show all (${figure(doc.length)} characters)`);
    setText(view, "cap", cap ? `The first ${figure(cap)} characters are shown.` : "");
  }
  if (view.drawn.doc !== doc) renderChips(view, doc);
  view.drawn.doc = doc;
}

/** The chips of the last document are used again for the next. */
function renderChips(view, doc) {
  const entries = Object.entries(doc.metadata ?? {}).filter(([, value]) => value !== null && value !== "");
  const { children } = view.chips;
  for (let i = 0; i < Math.max(children.length, Math.min(entries.length, CHIPS)); i += 1) {
    const chip = children[i] ?? view.chips.appendChild(make("span", { className: "cd-chip cd-apart", dir: "auto" }));
    const [key, value] = i < CHIPS ? entries[i] ?? [] : [];
    const words = key === undefined ? "" : `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
    chip.hidden = key === undefined;
    chip.title = words.slice(0, 1000);
    chip.textContent = words.slice(0, 200); // a line of it; the style sheet ends it with an ellipsis
  }
}

/** Marks the grade that the document on screen has, or had before it was taken back. */
function renderMarks(view, item) {
  const { former = null } = item ?? {};
  const mark = !former ? "" : former.kind === "graded" ? String(former.relevance) : "cannot judge";
  const kind = `${mark}${item?.entry ? "" : " before"}`;
  if (view.drawn.mark === kind) return;
  view.drawn.mark = kind;
  for (const button of view.grades.children) setMark(button, button.dataset.grade === mark, item);
  setMark(view.cannotJudge, mark === "cannot judge", item);
}

function setMark(button, marked, item) {
  button.setAttribute("aria-pressed", String(marked));
  button.classList.toggle("cd-former", marked && !item.entry);
}

function renderNotice(state, view) {
  const { title = "", words = "", urgent = false } = state.notice ?? {};
  setText(view, "noticeTitle", title.length > 200 ? `${title.slice(0, 200)} …` : title);
  setText(view, "noticeWords", words);
  view.notice.classList.toggle("cd-urgent", urgent);
}

/** What stands in place of a document when there is none: title, words and whether to offer the next topic. */
function restOf(state) {
  const topic = state.byId.get(state.queryId);
  if (!state.topics) return [ONE_MOMENT, "The topics are being fetched.", false];
  if (!topic) return ["Nothing to judge yet", "Documents appear here once topics and a pool are made.", false];
  if (state.topics.every((each) => isDone(state, each))) {
    return ["Everything in the pool is judged", "Thank you. The Export page settles the judgements and writes qrels.", false];
  }
  const { judged, pool } = countOf(state, topic);
  if (!pool) return ["Nothing is pooled for this topic", "Go on with the next one.", true];
  if (judged >= pool) {
    return [`Topic done: ${figure(judged)} of ${figure(pool)}`, "Go on with the next topic when you like.", true];
  }
  if (!state.exhausted) return [ONE_MOMENT, "The next documents are being fetched.", false];
  return [
    "No document is free just now",
    "Other annotators hold what is left of this topic. Asking again every 10 seconds.", true,
  ];
}

function renderRest(state, view, item) {
  setHidden(view.rest, item !== null);
  const waiting = !item && state.exhausted && !isDone(state, state.byId.get(state.queryId));
  if (!waiting) {
    clearTimeout(state.askAgain);
    state.askAgain = null;
  } else if (state.askAgain === null) {
    state.askAgain = setTimeout(() => askOnce(state), ASK_AGAIN);
  }
  if (item) return;
  const [title, words, offerNext] = restOf(state);
  setText(view, "restTitle", title);
  setText(view, "restWords", words);
  setHidden(view.restNext, !offerNext || nextUnfinished(state) === null);
}

function askOnce(state) {
  state.askAgain = null;
  state.due = true;
  pump(state);
  refresh(state);
}

/** An option is drawn by the browser, outside the card's isolation: direction signs are left out there. */
function optionText(state, topic) {
  const { judged, pool } = countOf(state, topic);
  const count = judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = (topic.title || topic.query_id).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return `${count}  ${title.length > 80 ? `${title.slice(0, 80)} …` : title}`;
}

function renderTopic(state, view) {
  if (!state.topics) return;
  if (view.drawn.topics !== state.topics) {
    view.drawn.topics = state.topics;
    view.topics.replaceChildren(...state.topics.map((each) => (
      make("option", { value: each.query_id, textContent: optionText(state, each) }))));
    view.drawn.topic = undefined;
  }
  const topic = state.byId.get(shownTopicId(state));
  if (!topic || view.drawn.topic === topic) return;
  view.drawn.topic = topic;
  const at = state.topics.indexOf(topic);
  view.topics.selectedIndex = at;
  view.previousTopic.disabled = at === 0;
  view.nextTopic.disabled = at === state.topics.length - 1;
  setText(view, "foldTitle", topic.title || topic.query_id);
  setText(view, "topicTitle", topic.title || topic.query_id);
  setText(view, "description", topic.description ?? "");
  setText(view, "narrative", topic.narrative ?? "");
  setHidden(view.narrativeBlock, !topic.narrative);
  view.need.scrollTop = 0;
}

function renderProgress(state, view) {
  const topic = state.byId.get(shownTopicId(state));
  if (!topic) return;
  for (const [name, count] of [["topic", countOf(state, topic)], ["all", countOf(state, null)]]) {
    const words = `${figure(count.judged)} of ${figure(count.pool)}`;
    if (view.drawn[`${name}Count`] === words) continue;
    setText(view, `${name}Count`, words);
    view[`${name}Bar`].style.transform = `scaleX(${count.pool ? count.judged / count.pool : 0})`;
  }
  for (const each of new Set([topic, state.byId.get(state.queryId), ...(view.drawn.touched ?? [])])) {
    const option = each && view.topics.options[state.topics.indexOf(each)];
    const words = each && optionText(state, each);
    if (option && option.textContent !== words) option.textContent = words;
  }
  view.drawn.touched = new Set(state.pending.map((item) => state.byId.get(item.judgement.query_id)));
}

function statusOf(state) {
  const n = state.pending.length;
  const what = `${n} ${n === 1 ? "judgement" : "judgements"}`;
  const place = state.storeFails ? "in this tab" : "in this browser";
  const long = state.failures > 0 && Date.now() - state.failingSince >= OFFLINE_AFTER;
  if (state.trouble === 401) {
    const kept = n ? ` ${what} ${n === 1 ? "is" : "are"} kept ${place}.` : "";
    return ["problem", `You are signed out: open the sign-in link again.${kept}`];
  }
  if (long || (state.trouble >= 400 && state.trouble < 500)) {
    const detail = state.detail ? `, ${state.detail}` : "";
    const cause = { 0: "No connection", "-1": "The server's answer makes no sense" }[state.trouble]
      ?? `The server answers with an error (${state.trouble}${detail})`;
    const waits = `${what} ${n === 1 ? "waits" : "wait"} ${place} and will be sent`;
    return ["problem", `${cause}: ${n ? waits : "trying again"}`];
  }
  const words = n ? `${n} not saved yet` : "Saved";
  if (state.storeFails) return ["problem", `${words}. This browser stores nothing: keep the tab open until all is saved.`];
  return [n || state.failures ? "waiting" : "saved", words];
}

function renderStatus(state, view) {
  const [kind, words] = statusOf(state);
  setText(view, "status", words);
  if (view.drawn.statusKind === kind) return;
  view.drawn.statusKind = kind;
  view.status.dataset.kind = kind;
  view.status.setAttribute("aria-live", kind === "problem" ? "polite" : "off"); // each "Saved" aloud would be noise
}

function renderRefused(state, view) {
  const key = state.refused.map(({ uuid }) => uuid).join();
  if (view.drawn.refused === key) return;
  view.drawn.refused = key;
  view.refused.replaceChildren(...state.refused.map(({ uuid, title, words, reason }) => {
    const row = make("div", { className: "cd-refusal" });
    const close = make("button", { type: "button", className: "cd-small", textContent: "Dismiss" });
    Object.assign(close.dataset, { do: "dismiss", uuid });
    const name = make("bdi", { className: "cd-apart", textContent: title });
    const line = make("span", {});
    line.append("Refused: ", name, `: ${words}. `, make("bdi", { className: "cd-apart", textContent: reason }));
    row.append(line, close);
    return row;
  }));
}

function renderPanels(state, view) {
  setHidden(view.reasonsPanel, state.panel !== "reasons");
  setHidden(view.helpPanel, state.panel !== "help");
}

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

/** Key cap and words; the whole sentence as tooltip and for screen readers. */
function labelled(cap, words, sentence, dataset) {
  const button = make("button", { type: "button", title: sentence });
  button.setAttribute("aria-label", sentence);
  Object.assign(button.dataset, dataset);
  button.append(make("kbd", { textContent: cap }), make("span", { className: "cd-apart", textContent: words }));
  return button;
}

function fillButtons(state, view) {
  const key = JSON.stringify([state.scale, state.reasons]);
  if (view.drawn.buttons === key) return;
  view.drawn.buttons = key;
  const count = state.scale.length;
  view.grades.style.setProperty("--cd-grades", count);
  view.grades.style.setProperty("--cd-grades-narrow", count <= 4 ? count : Math.ceil(count / 2));
  view.grades.replaceChildren(...state.scale.map(({ grade, label, sentence }) => (
    labelled(grade, label, `${grade} ${sentence}`, { do: "grade", grade }))));
  view.reasons.replaceChildren(...state.reasons.map((reason, i) => (
    labelled(i + 1, reason, `${i + 1} ${reason}`, { do: "reason", reason: i + 1 }))));
  view.otherCap.textContent = state.reasons.length < 9 ? state.reasons.length + 1 : "Tab";
  view.drawn.mark = undefined;
}
