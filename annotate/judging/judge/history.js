// The last judgements in a drawer: looked through by topic, grade and words, and opened again. Part of one module: see state.js.

/**
 * What the drawer lists: the log's answer, and over it what this browser knows and the answer did not yet.
 *
 * @typedef {{kind: string, relevance: ?number, reason: ?string, judged_at: ?string}} Said
 * @typedef {{id: ?number, query_id: string, topic: string, doc_id: string, title: string, note: ?string, flagged: boolean,
 *            former: Said[]} & Said} Past one judged pair; `former` is what was said before, newest first
 */
const PAGE = 50; // entries of one answer
const NEAR_END = 8; // rows before the end at which more are asked for

const emptyPast = () => ({
  topic: "", grade: "", words: "", entries: [], more: false, asked: null, waits: false, trouble: "", cannot: "", chosen: null,
  opening: null, rows: [], timer: null,
});

/** A judged document that this browser may not hold, as an entry to look back at. */
async function fetchEntry(state, queryId, docId, standing) {
  const { said, ...doc } = await post(state, "document", { query_id: queryId, doc_id: docId, said: true });
  if (doc.doc_id !== docId) throw new Failure(-1);
  const { kind, relevance, reason } = said ?? standing;
  return { query_id: queryId, doc, kind, relevance, reason, ...entryMarks(said ?? {}), uuid: null };
}

const heldAt = (state, queryId, docId) => (
  state.history.findLastIndex((entry) => entry.query_id === queryId && entry.doc.doc_id === docId));

// ------------------------------------------------------------------------------------ what is listed

const topicTitle = (state, queryId) => state.byId.get(queryId)?.title || queryId;

const pastOf = (state, entry) => ({
  id: null, query_id: entry.query_id, topic: topicTitle(state, entry.query_id), doc_id: entry.doc.doc_id, title: entry.doc.title,
  kind: entry.kind, relevance: entry.relevance, reason: entry.reason, note: entry.note, flagged: entry.flagged,
  judged_at: entry.judged_at ?? null, former: entry.was ?? [], text: entry.doc.text ?? "",
});

const plainly = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The filter in this browser, for what the answer does not have. */
function isWanted(state, row) {
  const { past } = state;
  if (past.topic && row.query_id !== past.topic) return false;
  if (past.grade === "flagged" && !row.flagged) return false;
  if (past.grade === "cannot judge" && row.kind === "graded") return false;
  if (/^\d+$/.test(past.grade) && !(row.kind === "graded" && row.relevance === Number(past.grade))) return false;
  if (!past.words.trim()) return true; // to make all texts plain takes long
  const text = plainly(`${row.title ?? ""} ${row.doc_id} ${row.note ?? ""} ${row.text}`);
  return plainly(past.words).split(/\s+/).every((word) => text.includes(word));
}

const sameWord = (a, b) => a.kind === b.kind && a.relevance === b.relevance && (a.reason ?? null) === (b.reason ?? null);

/** All that is to be listed, newest first. */
function listPast(state) {
  const { past } = state;
  const answered = new Map(past.entries.map((row) => [pairOf(row.query_id, row.doc_id), row]));
  const settled = new Set(state.queue.map((doc) => pairOf(state.queryId, doc.doc_id))); // open again
  for (const { judgement } of state.pending) {
    if (judgement.kind === "undone") settled.add(pairOf(judgement.query_id, judgement.doc_id));
  }
  const rows = [];
  for (const entry of [...state.history].reverse()) {
    const pair = pairOf(entry.query_id, entry.doc.doc_id);
    // Those that came from the server without a time stand where its answer has them; without an answer they are all there is.
    if (!entry.judged_at && !past.trouble) continue;
    settled.delete(pair);
    const row = pastOf(state, entry);
    const logged = answered.get(pair);
    if (logged) row.former = sameWord(logged, row) ? logged.former : [logged, ...logged.former];
    if (isWanted(state, row)) rows.push(row);
    settled.add(pair);
  }
  return [...rows, ...past.entries.filter((row) => !settled.has(pairOf(row.query_id, row.doc_id)))];
}

// --------------------------------------------------------------------------------------- asking

function openPast(state) {
  if (state.panel === "history") return setPanel(state, null);
  if (!state.topics) return oneMoment(state);
  const { past, view } = state;
  Object.assign(past, { chosen: null, opening: null, trouble: "", cannot: "", waits: true });
  fillFilters(state, view);
  setPanel(state, "history");
  renderPast(state, view);
  view.past.scrollTop = 0; // at the newest
  return askPast(state);
}

/** Fetches the newest judgements, or with `further` the next older ones. */
async function askPast(state, further = false) {
  const { past } = state;
  clearTimeout(past.timer);
  if (further && (past.asked || !past.more)) return;
  const ask = { limit: PAGE };
  if (past.topic) ask.query_id = past.topic;
  if (past.grade) ask.grade = /^\d+$/.test(past.grade) ? Number(past.grade) : past.grade;
  if (past.words.trim()) ask.words = past.words.trim();
  if (further) ask.before = past.entries.at(-1).id;
  past.asked = ask;
  let answer = null;
  let trouble = "";
  try {
    answer = await post(state, "history", ask);
    if (!Array.isArray(answer.entries)) throw new Failure(-1);
  } catch (error) {
    trouble = causeOf(error);
  }
  if (past.asked !== ask) return; // something else is asked for by now
  past.asked = null;
  past.waits = false;
  past.trouble = trouble;
  if (answer) {
    past.entries = further ? [...past.entries, ...answer.entries] : answer.entries;
    past.more = answer.more === true && answer.entries.length > 0;
  } else if (!further) {
    past.entries = past.entries.filter((row) => isWanted(state, { text: "", ...row }));
    past.more = false;
  }
  renderPast(state, state.view);
}

/** Applies a filter: to the known judgements at once, then to the server's answer. */
function filterPast(state, { soon = false } = {}) {
  const { past, view } = state;
  Object.assign(past, {
    topic: view.pastTopic.value, grade: view.pastGrade.value, words: view.pastWords.value, chosen: null, trouble: "",
    cannot: "", waits: true,
  });
  past.entries = past.entries.filter((row) => isWanted(state, { text: "", ...row }));
  clearTimeout(past.timer);
  past.timer = setTimeout(() => askPast(state), soon ? 0 : PAUSE);
  renderPast(state, view);
}

function fillFilters(state, view) {
  const { past } = state;
  const here = shownTopicId(state);
  const option = (value, text) => make("option", { value, textContent: cut(forward(text), 80) });
  const others = state.topics.filter(({ query_id }) => query_id !== here);
  view.pastTopic.replaceChildren(
    option("", "All topics"), ...(here === null ? [] : [option(here, `This topic: ${topicTitle(state, here)}`)]),
    ...others.map(({ query_id }) => option(query_id, topicTitle(state, query_id))));
  view.pastGrade.replaceChildren(
    option("", "All grades"), ...state.scale.map(({ grade, label }) => option(String(grade), `${grade} ${label}`)),
    option("cannot judge", "Cannot judge"), option("flagged", "Flagged"));
  view.pastTopic.value = past.topic;
  if (view.pastTopic.selectedIndex < 0) view.pastTopic.value = past.topic = "";
  view.pastGrade.value = past.grade;
  if (view.pastGrade.selectedIndex < 0) view.pastGrade.value = past.grade = "";
  view.pastWords.value = past.words;
}

// -------------------------------------------------------------------------------- choosing, opening

const PAST_STEPS = { ArrowUp: -1, ArrowDown: 1, PageUp: -6, PageDown: 6, Home: -Infinity, End: Infinity };

function reactionInPast(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => openChosen(state);
  const step = PAST_STEPS[event.key];
  return step === undefined || (Math.abs(step) === Infinity && isField(event.composedPath()[0])) ? undefined : () => choosePast(state, step);
}

function choosePast(state, step) {
  const { past } = state;
  if (!past.rows.length) return;
  const at = past.rows.findIndex((row) => keyOfPast(row) === past.chosen);
  const next = Math.max(0, Math.min(past.rows.length - 1, at + step)); // from nothing down to the first
  past.chosen = keyOfPast(past.rows[next]);
  past.cannot = "";
  renderPast(state, state.view);
  state.view.past.children[next]?.scrollIntoView({ block: "nearest" });
  if (next >= past.rows.length - NEAR_END) askPast(state, true);
}

function pastScrolled(state) {
  const { past } = state.view;
  if (past.scrollHeight - past.scrollTop - past.clientHeight < 600) askPast(state, true);
}

const keyOfPast = (row) => pairOf(row.query_id, row.doc_id);

function openChosen(state) {
  const row = state.past.rows.find((each) => keyOfPast(each) === state.past.chosen);
  return row ? openRow(state, row) : choosePast(state, 1);
}

/** Opens a judged pair of any topic. */
async function openRow(state, row) {
  const { past } = state;
  if (!row || past.opening) return;
  let at = heldAt(state, row.query_id, row.doc_id);
  if (at < 0) {
    past.opening = past.chosen = keyOfPast(row);
    renderPast(state, state.view);
    let entry = null;
    let trouble = "";
    try {
      entry = await fetchEntry(state, row.query_id, row.doc_id, row);
    } catch (error) {
      trouble = causeOf(error);
    }
    const waiting = past.opening === keyOfPast(row) && state.panel === "history";
    past.opening = null;
    if (!waiting) return;
    if (!entry) {
      past.cannot = `The document could not be opened: ${trouble}.`;
      renderPast(state, state.view);
      return;
    }
    at = heldAt(state, row.query_id, row.doc_id); // it may have come meanwhile
    if (at < 0) state.history.unshift(entry);
    at = Math.max(at, 0);
  }
  lookAt(state, at);
}

// -------------------------------------------------------------------------------------- drawing

const whenOf = (at) => {
  if (!at) return "";
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return "";
  const now = new Date();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === now.toDateString()) return time;
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year })} ${time}`;
};

function renderPast(state, view) {
  if (!view || state.panel !== "history") return;
  const { past } = state;
  past.rows = listPast(state);
  drawRows(state, view);
  const at = past.rows.findIndex((row) => keyOfPast(row) === past.chosen);
  if (view.drawn.pastChosen !== view.past.children[at]) {
    view.drawn.pastChosen?.setAttribute("aria-selected", "false");
    view.drawn.pastChosen = view.past.children[at];
    view.drawn.pastChosen?.setAttribute("aria-selected", "true");
    for (const node of [view.past, view.pastWords]) {
      if (at < 0) node.removeAttribute("aria-activedescendant");
      else node.setAttribute("aria-activedescendant", view.drawn.pastChosen.id);
    }
  }
  setHidden(view.past, !past.rows.length);
  if (past.rows.length && view.card.getRootNode().activeElement === view.historyPanel) view.past.focus({ preventScroll: true });
  setText(view, "pastSays", pastSays(past));
}

const isFiltered = ({ topic, grade, words }) => Boolean(topic || grade || words.trim());

function pastSays(past) {
  if (past.opening) return "Loading the document …";
  if (past.cannot) return past.cannot;
  const n = past.rows.length;
  const found = `${figure(n)}${past.more ? "+" : ""} ${plural(n, "judgement")}`;
  const only = `Showing only what this browser knows: ${past.trouble}.`;
  if (past.trouble) return n ? `${found}. ${only}` : only;
  if (!n && past.waits) return ONE_MOMENT;
  if (!n) return isFiltered(past) ? "No judgement matches." : "You have not judged any documents yet.";
  return `${found}. ${byInput("Select one with \u2191 \u2193, open it with Enter.", "Tap one to open it.")}`;
}

/** Rows that are as they were are used again. */
function drawRows(state, view) {
  const known = view.drawn.pastRows ?? new Map();
  const next = new Map();
  const nodes = state.past.rows.map((row) => {
    const key = keyOfPast(row);
    const looks = JSON.stringify([row.kind, row.relevance, row.reason, row.note, row.flagged, whenOf(row.judged_at), row.former.length, state.scale]);
    const old = known.get(key);
    const made = old?.looks === looks ? old : { looks, node: pastRow(state, row) };
    next.set(key, made);
    return made.node;
  });
  view.drawn.pastRows = next;
  const { past } = view;
  for (const [i, node] of nodes.entries()) {
    if (past.children[i] !== node) past.insertBefore(node, past.children[i] ?? null);
  }
  while (past.children.length > nodes.length) past.lastChild.remove();
}

let pastRowsMade = 0;

function pastRow(state, row) {
  const node = make("li", { id: `cd-past-${pastRowsMade += 1}` });
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", "false");
  Object.assign(node.dataset, { do: "past", query: row.query_id, doc: row.doc_id });
  const body = make("div", { className: "cd-past-body" });
  const head = make("div", { className: "cd-found-head" });
  head.append(make("b", { className: "cd-apart", dir: "auto", textContent: forward(cut(row.title || row.doc_id, 200)) }));
  head.append(make("span", { className: "cd-past-said cd-apart", textContent: forward(cut(wordsFor(state, row), 120)) }));
  if (row.flagged) head.append(make("span", { className: "cd-badge cd-flag", textContent: "Flagged" }));
  const line = make("div", { className: "cd-past-line" });
  const parts = row.judged_at ? [make("time", { dateTime: row.judged_at, textContent: whenOf(row.judged_at) })] : [];
  parts.push(make("span", { className: "cd-apart", dir: "auto", textContent: forward(cut(row.topic || row.query_id, 120)) }));
  for (const former of row.former.slice(0, 3)) {
    const words = former.kind === "undone" ? "undone" : `was ${wordsFor(state, former)}`;
    parts.push(make("span", { className: "cd-apart", textContent: forward(cut([words, whenOf(former.judged_at)].filter(Boolean).join(", "), 120)) }));
  }
  line.append(...parts);
  body.append(head, line);
  if (row.note) body.append(make("div", { className: "cd-past-note cd-apart", dir: "auto", textContent: forward(cut(row.note, 300)) }));
  node.append(gradeBadge(state, row), body);
  return node;
}

action("history", (state) => openPast(state),
  { panel: "history" });
panel("history", {
  node: "historyPanel", focus: "past", field: "pastWords", render: renderPast,
  inField: (state, event) => reactionInPast(state, event) ?? null,
  keys: (state, event, { key }) => {
    if (key === "/") return () => state.view.pastWords.focus();
    return reactionInPast(state, event);
  },
  left: (state) => {
    clearTimeout(state.past.timer);
    Object.assign(state.past, { asked: null, opening: null });
  },
});
onButton("past", (state, row) => openRow(state, state.past.rows.find((each) => (
  each.query_id === row.dataset.query && each.doc_id === row.dataset.doc))));
