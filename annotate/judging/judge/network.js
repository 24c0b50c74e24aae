// Talking to the routes: what is outgoing, what comes back, and what happens when nothing does. Part of one module: see state.js.

// ---------------------------------------------------------------------------------------- network

function needsSync(state) {
  if (state.pending.length || state.skips.length) return true;
  if (!state.view) return false; // not on screen: nothing to fetch
  if (!state.topics) return true;
  if (state.queryId === null) return false;
  return state.wantsRecent || state.due || (!state.exhausted && !state.inLoop && unseen(state) < LOW);
}

async function exchange(state) {
  if (!state.topics || state.topicsDue) {
    const counted = savedByOthers(state);
    const { topics, last = null, work = null } = await post(state, "topics", {});
    for (const { item } of counted) state.tabs.told.delete(item.judgement.uuid); // these counts have them
    takeTopics(state, topics, last, work);
    refresh(state); // it may be another topic
  }
  state.topicsDue = false;
  if (state.view && !state.guidelines.asked && !state.guidelines.trouble) askGuidelines(state); // nothing waits for them
  if (!needsSync(state)) return;
  const batch = [...state.pending];
  const ask = {
    ...outgoing(state, batch),
    want: wanted(state),
    recent: state.wantsRecent,
    tried: [...state.tried],
  };
  const { visit, due, returned = null } = state;
  state.returned = null;
  const counted = savedByOthers(state);
  state.due = false; // what becomes due from here on is not answered by this
  let reply;
  try {
    reply = await post(state, "sync", ask);
  } catch (error) {
    state.due ||= due;
    state.returned ??= returned;
    throw error;
  }
  takeReply(state, ask, batch, visit, reply);
  leaveClosed(state, returned, reply.closed);
  countIn(state, counted, reply.progress ? ask.query_id : null);
  askNear(state);
  beginTime(state);
}

/** Drops the pair on screen if it was judged on another device while the page was hidden, unless it has a note or marks. */
function leaveClosed(state, returned, closed) {
  const item = onScreen(state);
  if (!returned || !item || item.entry || item.doc.taken || state.panel === "note") return;
  if (drawnAs(item) !== returned || state.clock?.pair !== returned || !closed?.includes(item.doc.doc_id)) return;
  const { note, flagged, passages } = marksOf(state, item);
  const waits = state.pending.some(({ judgement }) => pairOf(judgement.query_id, judgement.doc_id) === returned);
  if (note || flagged || passages.length || waits) return;
  state.queue.shift();
  say(state, ": no longer needs a judgement", item.doc);
}

/** The number of documents to ask for; in the loop never 0, since each judgement may change the order. */
function wanted(state) {
  if (!state.view || state.queryId === null) return 0;
  if (state.inLoop) return Math.max(1, FULL - unseen(state));
  if (!state.queue.length) return FIRST;
  return unseen(state) < LOW ? FULL - unseen(state) : 0;
}

function outgoing(state, batch) {
  return {
    decisions: batch.map((item) => item.judgement),
    skips: [...state.skips],
    query_id: state.queryId,
    holding: state.queue.map((doc) => doc.doc_id),
    alone: !hasOthers(state), // else the other tab's reservations are left to it
  };
}

/**
 * The topic of last time. Where the server's last judgement is in another topic than the last one that this browser knew
 * of when it was used last, then another device has been used since, and its topic is the newer one.
 */
function lastTopic(state, last) {
  const here = state.store?.getItem(`${state.id}topic`) ?? null;
  const newer = last !== null && last !== readJson(state.store, `${state.id}last`);
  return state.byId.get(here === null || newer ? last : here);
}

/** The topic of the newest judgement that this browser knows of. */
function keepLast(state, queryId) {
  if (state.last === queryId) return;
  state.last = queryId;
  write(state, "last", JSON.stringify(queryId));
}

function takeTopics(state, topics, lastThere = null, work = null) {
  state.topics = topics;
  state.byId = new Map(topics.map((topic) => [topic.query_id, topic]));
  const current = state.byId.get(state.queryId);
  const { arriving } = state;
  state.arriving = false;
  if (current && !(arriving && isDone(state, current))) return; // whoever comes back comes to work
  // The topic that was asked for; else the one of last time, unless it is done by now; else the first that has work.
  const last = lastTopic(state, lastThere);
  if (lastThere !== null) keepLast(state, lastThere);
  const first = state.byId.get(work) ?? topics.find((topic) => !isDone(state, topic)) ?? topics[0];
  const start = state.byId.has(state.asked) ? state.asked : (last && !isDone(state, last) ? last : first)?.query_id;
  if (start === undefined) return;
  openTopic(state, start);
  state.chosen = start === state.asked;
}

function takeReply(state, ask, batch, visit, reply) {
  const judged = new Map(outstanding(state).map(({ judgement }) => (
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
  if (state.inLoop) takeOrder(state, reply, judged, batch.length > 0);
  else takeMore(state, ask, reply, judged);
  if (ask.want > 0) goWhereWorkIs(state, reply);
}

/** Takes more documents of a pool: they come behind those that are held. */
function takeMore(state, ask, reply, judged) {
  const closed = new Set(reply.closed); // judged elsewhere meanwhile; what is on screen stays there
  state.queue = state.queue.filter((doc, place) => place === 0 || doc.taken || !closed.has(doc.doc_id));
  const fresh = takeDocuments(state, reply.documents, judged);
  if (ask.want > 0) state.exhausted = fresh < ask.want;
  if (reply.first && reply.first !== state.queryId && onScreen(state) === null) calibrateFirst(state, reply.first);
}

/**
 * Where the topic has nothing for the annotator, another one that has is opened, and that is said. It stays open where
 * they chose it themselves, or have come to its end.
 */
function goWhereWorkIs(state, { documents, next = null, budget = "" }) {
  if (documents.some((doc) => !doc.calibration)) state.brought = false;
  if (onScreen(state) !== null || documents.length) {
    state.tried.clear();
    state.chosen = false;
  }
  state.nextTopic = next;
  state.budget = budget;
  const topic = state.byId.get(state.queryId);
  if (next === null || onScreen(state) !== null || state.chosen || (isDone(state, topic) && !state.brought)) return;
  if (!state.byId.has(next)) {
    state.topicsDue = true; // new since the topics were fetched
    return;
  }
  const why = budget || (isDone(state, topic) ? "Topic done" : "No free document in this topic");
  state.tried.add(state.queryId);
  openTopic(state, next);
  state.wantsRecent = true;
  say(state, `${why}. Continuing with the next topic that has documents for you.`);
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
  state.chooser = reply.chooser ?? [];
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

/** Removes refused judgements from the history; the ones that they would have replaced return. */
function dropRefused(state, refused) {
  changeHistory(state, state.history.filter((entry) => {
    const was = (entry.was ?? []).filter(({ uuid }) => !refused.has(uuid));
    const stands = refused.has(entry.uuid) ? was.shift() : entry;
    return stands && Object.assign(entry, stands, { was });
  }));
}

/** Forgets what the server has taken, and keeps what it refused in sight. */
function takeAnswers(state, batch, reply) {
  const refused = new Map(reply.refused.map((answer) => [answer.uuid, answer.reason]));
  const answered = new Set([...reply.saved, ...refused.keys()]);
  state.hasSaved ||= reply.saved.length > 0;
  if (refused.size) dropRefused(state, refused);
  for (const item of batch) {
    const { uuid } = item.judgement;
    if (refused.has(uuid)) {
      const words = item.judgement.kind === "undone" ? "undo" : wordsFor(state, item.judgement);
      state.refused.push({ uuid, title: item.title, words, reason: refused.get(uuid) });
      keepRefusedMarks(state, item, refused);
      state.exhausted = false; // its document may be handed out again
    }
    if (answered.has(uuid)) write(state, `pending:${item.order}:${uuid}`, null);
  }
  for (const uuid of answered) state.tabs.told.delete(uuid);
  if (answered.size) tellTabs(state, { type: "answered", saved: reply.saved, refused: [...refused.keys()] });
  if (refused.size) write(state, "refused", JSON.stringify(state.refused));
  state.pending = state.pending.filter((item) => !answered.has(item.judgement.uuid));
  if (batch.some((item) => !answered.has(item.judgement.uuid))) throw new Failure(-1);
}

/** A note is not lost with its judgement, unless the pair was judged anew since. */
function keepRefusedMarks(state, { judgement, order }, refused) {
  const { query_id: queryId, doc_id: docId } = judgement;
  const isNewer = (each) => each.order > order && each.judgement.query_id === queryId && each.judgement.doc_id === docId;
  if (state.pending.some((each) => isNewer(each) && !refused.has(each.judgement.uuid))) return;
  const standing = state.history[heldAt(state, queryId, docId)];
  keepMarks(state, queryId, judgement, entryMarks(judgement), standing && entryMarks(standing));
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
  const entries = older.reverse().map(({ query_id, kind, relevance, reason, note, flagged, passages, ...doc }) => (
    { query_id, doc, kind, relevance, reason, ...entryMarks({ note, flagged, passages }), uuid: null }));
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

