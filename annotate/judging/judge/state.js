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
 * The routes and what they are sent are in wire.py.
 *
 * @typedef {{query_id: string, title: string, description: string, narrative: string, pool: ?number,
 *            judged: number, without_text?: number}} Topic `pool` is how many are to be judged, null in a loop without an end;
 *            `without_text` are pooled documents that are held back until their text is imported
 * @typedef {{doc_id: string, title: string, form?: "text"|"preformatted"|"markup", text: ?string, html?: ?string,
 *            length: number, truncated: boolean, metadata: Object<string, *>, images?: {src: string, alt: string, link?: boolean}[],
 *            excerpts?: ?[number, number, string][], calibration?: boolean}} Doc `text` is the plain text as it is shown, `html` (with
 *            the form "markup", and not of a text that was cut) the safe markup that draws it; `excerpts` are the stretches of a long
 *            text that match its topic: start and end in code points of the whole text, and their words. The card adds `skipped`, `former` (taken back), `taken` (found by searching)
 *            and `kept` (was on screen, or is to be: the loop does not replace it)
 * @typedef {{uuid: string, query_id: string, doc_id: string, kind: "graded"|"cannot judge"|"undone",
 *            relevance: ?number, reason: ?string, note: ?string, flagged: boolean, passages: [number, number][],
 *            shown_at: string, seconds: number, away: number, source: "key"|"click"}} Judgement `seconds` are active ones, `away`
 *            the others since it was shown
 * @typedef {{query_id: string, doc: Doc, kind: string, relevance: ?number, reason: ?string, note: ?string, flagged: boolean,
 *            passages: [number, number][], uuid: ?string, judged_at: ?string, was: ?Said[]}} Entry one judged pair that can be looked
 *            back at and undone; `was` is what was said of it before, newest first
 * @typedef {{judgement: Judgement, order: number, delta: number, title: string, tab: string, judged_at: string}} Pending `delta` is what the
 *            judgement adds to the number judged: 1 for a new one, 0 for a revision, -1 for an undo
 */

const LOW = 24; // ask for more when fewer unseen documents are held: so many can be judged without a connection
const FULL = 36; // and ask for as many as make this
const FIRST = 24; // but begin with so many, which are there sooner
const HISTORY = 300; // judged documents kept for looking back
const CHIPS = 12; // metadata shown of one document
const FIRST_LOOK = 120; // when the model is learning: how soon to ask for its order
const LAST_LOOK = 2_000;

// ---------------------------------------------------------------------------------------------- state

function stateFor(data) {
  const id = placeFor(data);
  let state = states.get(id);
  if (!state) {
    const store = openStore(id);
    state = {
      id, annotator: data.annotator, store, storeFails: store === null, order: 0,
      topics: null, byId: new Map(), all: null, queryId: null,
      visit: 0, queue: [], exhausted: false, inLoop: false, chooser: [], looks: 0, lookAgain: null, skips: [], history: [], look: null,
      tried: new Set(), nextTopic: null, budget: "", chosen: false, brought: false, wantsRecent: true, due: false, topicsDue: false, arriving: false,
      pending: loadPending(store, id), refused: readJson(store, `${id}refused`) ?? [],
      inFlight: false, retry: null, failures: 0, failingSince: 0, trouble: null, detail: "",
      renewing: null,
      clock: null, panel: null, notice: null, askAgain: null, view: null, asked: undefined,
      why: null, whyTimer: null, apart: new Map(), problem: null,
      guidelines: { asked: false, html: null, notes: new Map(), trouble: "" }, drafts: loadDrafts(store, id), noted: null,
      own: loadOwn(store, id, data.own), keyMap: new Map(),
      feedback: null,
      rekey: null, past: emptyPast(), near: emptyNear(), time: emptyTime(), tabs: emptyTabs(), aloud: emptyAloud(),
      find: { queryId: null, words: "", searched: "", asked: null, documents: [], chosen: -1, trouble: "", taking: null },
    };
    mapKeys(state);
    resumeOwn(state);
    states.set(id, state);
    state.onNotice = () => sayAloud(state, onScreen(state));
    state.onLife = (still) => signOfLife(state, still);
    openTabs(state);
  }
  if (state.token !== data.token) {
    state.token = data.token;
    if (state.trouble === 401 || state.trouble === 403) wake(state);
  }
  state.routes = data.routes;
  state.scale = data.scale;
  state.reasons = data.reasons ?? [];
  state.noun = "judgement";
  state.textCap = data.text_cap;
  state.card = data.card ?? {};
  return state;
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
  // A skipped document waits until the server has nothing else.
  if (!doc || (doc.skipped && !state.exhausted)) return null;
  return { queryId: state.queryId, doc, former: doc.former ?? null, entry: null };
}

/** What is drawn, as the clock has it. */
const drawnAs = (item) => item && pairOf(item.queryId, item.doc.doc_id) + (item.entry ? "\u0000back" : "");

/** Judged and pooled, including unsent judgements. */
function countOf(state, topic) {
  const mine = outstanding(state).filter((item) => !topic || item.judgement.query_id === topic.query_id);
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

