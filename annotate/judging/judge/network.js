// Talking to the routes: what is outgoing, what comes back, and what happens when nothing does. Part of one module: see state.js.

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
  state.renewing ??= send(state, "token", { annotator: state.annotator }).finally(() => { state.renewing = null; });
  const response = await state.renewing;
  if (!response.ok) throw await failureOf(response);
  state.token = (await response.clone().json()).token;
}

function needsSync(state) {
  if (state.pending.length || state.skips.length) return true;
  if (!state.view) return false; // not on screen: nothing to fetch
  if (!state.topics) return true;
  if (state.queryId === null) return false;
  return state.wantsRecent || state.due || (!state.exhausted && !state.inLoop && unseen(state) < LOW);
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
  if (state.view && !state.guidelines.asked && !state.guidelines.trouble) askGuidelines(state); // nothing waits for them
  if (!needsSync(state)) return;
  const batch = [...state.pending];
  const ask = {
    ...outgoing(state, batch),
    want: wanted(state),
    recent: state.wantsRecent,
  };
  const { visit, due } = state;
  state.due = false; // what becomes due from here on is not answered by this
  let reply;
  try {
    reply = await post(state, "sync", ask);
  } catch (error) {
    state.due ||= due;
    throw error;
  }
  takeReply(state, ask, batch, visit, reply);
}

/** How many documents to ask for; in the loop always some, since each judgement may change what comes next. */
function wanted(state) {
  if (!state.view || state.queryId === null) return 0;
  if (state.inLoop) return Math.max(1, FULL - unseen(state));
  return unseen(state) < LOW ? FULL - unseen(state) : 0;
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
  const current = state.byId.get(state.queryId);
  const { arriving } = state;
  state.arriving = false;
  if (current && !(arriving && isDone(state, current))) return; // whoever comes back comes to work
  // The topic that was asked for; else the one of last time, unless it is done by now; else the first that is not.
  const last = state.byId.get(state.store?.getItem(`${state.id}topic`));
  const first = topics.find((topic) => !isDone(state, topic)) ?? topics[0];
  const start = state.byId.has(state.asked) ? state.asked : (last && !isDone(state, last) ? last : first)?.query_id;
  if (start !== undefined) openTopic(state, start);
}

function takeReply(state, ask, batch, visit, reply) {
  const judged = new Map(state.pending.map(({ judgement }) => (
    [pairOf(judgement.query_id, judgement.doc_id), judgement.kind !== "undone"])));
  state.skips.splice(0, ask.skips.length);
  takeAnswers(state, batch, reply);
  takeProgress(state, batch, reply, takeSurplus(state, batch, reply.surplus));
  takeFeedback(state, batch, reply.feedback);
  // The topic may have been changed while this was under way; without one only judgements were sent.
  if (visit !== state.visit || ask.query_id === null) return;
  if (reply.query_id !== ask.query_id) throw new Failure(-1);
  if (ask.recent) takeRecent(state, reply.recent ?? [], judged);
  state.inLoop = Array.isArray(reply.order);
  if (state.inLoop) return takeOrder(state, reply, judged, batch.length > 0);
  const closed = new Set(reply.closed); // judged elsewhere meanwhile; what is on screen stays there
  state.queue = state.queue.filter((doc, place) => place === 0 || doc.taken || !closed.has(doc.doc_id));
  const fresh = takeDocuments(state, reply.documents, judged);
  if (ask.want > 0) state.exhausted = fresh < ask.want;
  if (reply.first && reply.first !== state.queryId && onScreen(state) === null) calibrateFirst(state, reply.first);
}

/**
 * The loop's own order: what is on screen stays, and what undo or a search has put before another document; everything
 * behind it is replaced, and skipped ones stand last.
 */
function takeOrder(state, reply, judged, sent) {
  const known = new Map([...state.queue, ...reply.documents].map((doc) => [doc.doc_id, doc]));
  const [first] = state.queue;
  const open = (doc) => doc && doc !== first && !judged.get(pairOf(state.queryId, doc.doc_id));
  const kept = state.queue.filter((doc) => open(doc) && doc.kept && !doc.skipped);
  const ordered = reply.order.map((id) => known.get(id)).filter((doc) => open(doc) && !doc.skipped && !kept.includes(doc));
  const next = [...kept, ...ordered];
  const behind = state.queue.filter((doc) => open(doc) && doc.skipped);
  state.queue = [...(first ? [first] : []), ...next, ...behind];
  if (first?.skipped && next.length) state.queue = [...next, ...behind, first]; // it waits for these
  const ids = new Set(next.map((doc) => doc.doc_id));
  const shown = state.look === null ? null : state.history[state.look];
  state.history = state.history.filter((entry) => entry === shown
    || entry.query_id !== state.queryId || !ids.has(entry.doc.doc_id)); // unjudged elsewhere since
  if (shown) state.look = state.history.indexOf(shown);
  state.exhausted = !reply.behind && next.length === 0;
  state.problem = reply.problem ?? null;
  state.modelRound = reply.model_round;
  if (sent) state.looks = 0;
  lookAgain(state, reply.behind);
}

/** While the model learns, its next order is fetched as soon as it is there. */
function lookAgain(state, behind) {
  clearTimeout(state.lookAgain);
  state.lookAgain = null;
  state.looks = behind ? state.looks + 1 : 0;
  if (!behind || !state.view) return;
  state.lookAgain = setTimeout(() => {
    state.lookAgain = null;
    if (state.inFlight) return; // its answer says whether to look again
    state.due = true;
    pump(state);
  }, Math.min(LAST_LOOK, FIRST_LOOK * 2 ** Math.min(state.looks - 1, 6)));
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
      if (item.judgement.note) setDraft(state, item.judgement.query_id, item.judgement, item.judgement.note); // not lost with it
      state.look = null;
      state.exhausted = false; // its document may be handed out again
    }
    if (answered.has(uuid)) write(state, `pending:${item.order}:${uuid}`, null);
  }
  if (refused.size) write(state, "refused", JSON.stringify(state.refused));
  state.pending = state.pending.filter((item) => !answered.has(item.judgement.uuid));
  if (batch.some((item) => !answered.has(item.judgement.uuid))) throw new Failure(-1);
}

function takeProgress(state, batch, reply, surplus) {
  const saved = new Set(reply.saved);
  for (const { judgement, delta } of batch) {
    const topic = state.byId.get(judgement.query_id);
    if (topic && saved.has(judgement.uuid) && !surplus.has(judgement.uuid)) topic.judged += delta;
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
  const entries = older.reverse().map(({ query_id, kind, relevance, reason, note = null, ...doc }) => (
    { query_id, doc, kind, relevance, reason, note, uuid: null }));
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

