// What a key or click does: judge, undo, skip, look back, change the topic. Part of one module: see state.js.

// ------------------------------------------------------------------------------------------ verbs

/** The one place where judgements are made: kept in the browser first, then on the way. */
function record(state, queryId, doc, kind, { relevance = null, reason = null, note = null, source, delta, shownAt, seconds }) {
  const uuid = newUuid();
  state.order = Math.max(state.order + 1, Date.now() * 1000);
  const judgement = {
    uuid, query_id: queryId, doc_id: doc.doc_id, kind, relevance, reason, note, shown_at: shownAt, seconds, source,
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
  const note = noteOf(state, item);
  const uuid = record(state, queryId, doc, kind, {
    relevance, reason, note, source, delta: entry ? 0 : countsFor(state, queryId, doc), shownAt: state.clock.shownAt, seconds: readClock(state),
  });
  setDraft(state, queryId, doc, null); // it is on its way with the judgement
  if (entry) state.history.splice(state.look, 1);
  else state.queue.shift();
  state.look = null;
  delete doc.former;
  delete doc.skipped;
  state.history.push({ query_id: queryId, doc, kind, relevance, reason, note, uuid });
  if (state.history.length > HISTORY) state.history.shift();
  const said = wordsFor(state, { kind, relevance, reason });
  say(state, `: ${said}${entry ? ", revised" : ""} – undo (u)`, doc);
  refresh(state);
  return pump(state);
}

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
    source, delta: entry.surplus ? 0 : -countsFor(state, entry.query_id, entry.doc), shownAt: new Date().toISOString(), seconds: 0,
  });
  if (entry.query_id !== state.queryId) openTopic(state, entry.query_id);
  if (entry.note && !state.drafts.has(pairOf(entry.query_id, entry.doc.doc_id))) setDraft(state, entry.query_id, entry.doc, entry.note);
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
  if (state.queue.length === 1 && (state.exhausted || (pool !== null && pool - judged <= 1))) {
    return tell(state, "This is the only document left in this topic.");
  }
  const doc = state.queue.shift();
  doc.skipped = true;
  doc.kept = false;
  state.queue.push(doc);
  state.skips.push({ query_id: state.queryId, doc_id: doc.doc_id });
  say(state, `: skipped, it comes again ${state.inLoop ? "after some others" : "at the end of this topic"}`, doc);
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
  if (state.panel === "note") leaveNote(state);
  const kept = state.queue.filter((doc) => doc.taken); // what was searched for is there when the topic is again
  if (state.queryId !== null) state.apart.set(state.queryId, kept);
  state.queryId = queryId;
  state.visit += 1; // answers to what was asked before no longer count
  state.queue = state.apart.get(queryId) ?? [];
  state.apart.delete(queryId);
  state.exhausted = false;
  state.problem = null;
  state.inLoop = false;
  state.looks = 0;
  clearTimeout(state.lookAgain);
  state.lookAgain = null;
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

