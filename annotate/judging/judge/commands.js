// What a key or click does: judge, undo, skip, look back, change the topic. Part of one module: see state.js.

// ------------------------------------------------------------------------------------------ verbs

/** The one place where judgements are made: kept in the browser first, then on the way. */
function record(state, queryId, doc, kind, { relevance = null, reason = null, marks = NO_MARKS, source, delta, shownAt, time }) {
  const uuid = newUuid();
  state.order = Math.max(state.order + 1, Date.now() * 1000);
  const judgement = {
    uuid, query_id: queryId, doc_id: doc.doc_id, kind, relevance, reason, ...marks, shown_at: shownAt, ...time, source,
  };
  const item = { judgement, order: state.order, delta, title: nameOf(doc), tab: state.tabs.me, judged_at: new Date().toISOString() };
  takeUnsentOf(state, queryId, doc.doc_id);
  write(state, `pending:${item.order}:${uuid}`, JSON.stringify(item));
  state.pending.push(item);
  tellSaid(state, item, doc);
  keepLast(state, queryId);
  return uuid;
}

/** Judges the pair on screen and goes on; with `stay`, a judged pair that is open stays on screen. */
function judge(state, kind, { relevance = null, reason = null, source, stay = false }) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  if (drawnAs(item) !== state.clock?.pair) return justCome(state);
  const { queryId, doc, entry } = item;
  const marks = marksOf(state, item);
  const uuid = record(state, queryId, doc, kind, {
    relevance, reason, marks, source, delta: entry ? 0 : countsFor(state, queryId, doc), shownAt: state.clock.shownAt, time: readClock(state),
  });
  setDraft(state, queryId, doc, null); // it is on its way with the judgement
  if (entry) state.history.splice(state.look, 1);
  else state.queue.shift();
  state.look = null;
  delete doc.former;
  delete doc.skipped;
  state.history.push({
    query_id: queryId, doc, kind, relevance, reason, ...marks, uuid, judged_at: new Date().toISOString(), was: entry ? wasOf(entry) : [],
  });
  if (state.history.length > HISTORY) state.history.shift();
  if (stay) {
    state.look = state.history.length - 1;
    addTime(state); // its time so far is in the judgement: from here on it counts anew
    restartClock(state, state.clock.pair);
  }
  const said = wordsFor(state, { kind, relevance, reason });
  say(state, `: ${said}${entry ? ", revised" : ""}${undoHint(state)}`, doc);
  refresh(state);
  return pumpSoon(state);
}

/** The earlier judgements of a pair, newest first. */
const wasOf = ({ kind, relevance, reason, uuid = null, judged_at = null, was = [], ...marks }) => (
  [{ kind, relevance, reason, ...entryMarks(marks), uuid, judged_at }, ...was]);

/** What a first judgement adds to the number judged: whether one found by searching is in the pool, the server knows. */
const countsFor = (state, queryId, doc) => (doc.taken && state.byId.get(queryId)?.pool !== null ? 0 : 1);

/** Takes back the last judgement, or the one looked at, and puts its document on screen again. */
function undo(state, source) {
  const at = state.look ?? state.history.length - 1;
  const entry = state.history[at];
  if (!entry) return tell(state, "Nothing to undo.");
  state.history.splice(at, 1);
  state.look = null;
  record(state, entry.query_id, entry.doc, "undone", {
    source, delta: entry.surplus ? 0 : -countsFor(state, entry.query_id, entry.doc), shownAt: new Date().toISOString(), time: { seconds: 0, away: 0 },
  });
  if (entry.query_id !== state.queryId) openTopic(state, entry.query_id);
  keepMarks(state, entry.query_id, entry.doc, entryMarks(entry));
  entry.doc.former = { kind: entry.kind, relevance: entry.relevance, reason: entry.reason };
  state.queue.unshift(entry.doc);
  say(state, `: ${wordsFor(state, entry)}, undone`, entry.doc);
  refresh(state);
  return pumpSoon(state);
}

/** Puts the open document at the end of its topic. */
function skip(state) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  if (item.entry) return tell(state, `This document is already judged${goesForward(state, ": press ")}.`);
  const { judged, pool } = countOf(state, state.byId.get(state.queryId));
  if (state.queue.length === 1 && (state.exhausted || (pool !== null && pool - judged <= 1))) {
    return tell(state, "This is the only document left in this topic.");
  }
  const doc = state.queue.shift();
  doc.skipped = true;
  doc.kept = false;
  state.queue.push(doc);
  state.skips.push({ query_id: state.queryId, doc_id: doc.doc_id });
  tellTabs(state, { type: "skipped", query_id: state.queryId, doc_id: doc.doc_id });
  say(state, `: skipped ${state.inLoop ? "for now" : "until the end of this topic"}`, doc);
  refresh(state);
  return pumpSoon(state);
}

/** Looks at judged documents: -1 is one further back, +1 one forward, and past the last is the open one. */
function look(state, step) {
  const at = (state.look ?? state.history.length) + step;
  if (at < 0) return tell(state, "No earlier judgements.");
  if (at > state.history.length) return undefined;
  state.look = at === state.history.length ? null : at;
  if (state.look === null) say(state, "Back to the unjudged document.");
  else sayLookingBack(state, state.history[at]);
  return refresh(state);
}

function sayLookingBack(state, entry) {
  say(state, `: ${wordsFor(state, entry)} – grade again to change it${goesForward(state, ", ")}`, entry.doc);
}

/** The key that leaves an earlier judgement, as the end of a sentence; empty if there is none. */
function goesForward(state, before) {
  const cap = keyHint(state, "forward");
  return cap && `${before}${cap} to go forward`;
}

function openTopic(state, queryId) {
  if (state.panel === "note") leaveNote(state);
  const kept = state.queue.filter((doc) => doc.taken); // what was searched for is there when the topic is again
  if (state.queryId !== null) state.apart.set(state.queryId, kept);
  state.queryId = queryId;
  state.visit += 1; // answers to what was asked before no longer count
  state.queue = state.apart.get(queryId) ?? [];
  state.apart.delete(queryId);
  state.exhausted = false;
  state.problem = null;
  state.nextTopic = null;
  state.budget = "";
  state.chosen = false;
  state.inLoop = false;
  state.chooser = [];
  state.looks = 0;
  clearTimeout(state.lookAgain);
  state.lookAgain = null;
  state.look = null;
  state.panel = null;
  write(state, "topic", queryId);
}

function changeTopic(state, queryId, chosen = true) {
  if (!state.byId.has(queryId)) return;
  openTopic(state, queryId);
  state.tried.clear();
  state.chosen = chosen;
  state.brought = false;
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

/** The topic that the server says has work; else the next with something left, after the present one and then from the start. */
function nextUnfinished(state) {
  if (state.byId.has(state.nextTopic)) return state.byId.get(state.nextTopic);
  const topics = state.topics ?? [];
  const at = topics.findIndex((topic) => topic.query_id === state.queryId);
  return [...topics.slice(at + 1), ...topics.slice(0, at)].find((topic) => !isDone(state, topic)) ?? null;
}

function goOn(state) {
  const next = nextUnfinished(state);
  if (next) changeTopic(state, next.query_id, false);
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

function oneMoment(state) {
  const coming = restOf(state)[0] === ONE_MOMENT;
  tell(state, coming ? "The next document is loading." : "There is no document on screen.");
}

