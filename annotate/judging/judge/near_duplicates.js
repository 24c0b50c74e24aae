// Documents that are nearly the same as one that is judged: said under the title, one key away. Part of one module: see state.js.

/**
 * `known`: what was answered by pair; `part`: pairs of which the server had not compared all; `due`: whether it is time to ask
 * of these again; `from`: where the one that is shown was come from.
 */
const emptyNear = () => ({ known: new Map(), part: new Set(), due: false, timer: 0, asking: false, from: null, to: null });

const MOST_NEAR = 50; // documents of one question
const NEAR_AGAIN_MS = 3_000; // while the server has not compared all

/** Asks for near-duplicates of the held documents in an idle moment. */
function askNear(state) {
  const { near } = state;
  if (state.card.near === false || near.asking || !state.view || !newOnes(state).length) return;
  near.asking = true;
  const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 200)); // Safari has none
  idle(() => fetchNear(state), { timeout: 2_000 });
}

function newOnes({ near, queue, queryId }) {
  const isNew = (pair) => !near.known.has(pair) || (near.due && near.part.has(pair));
  return queue.filter((doc) => doc.text && isNew(pairOf(queryId, doc.doc_id)));
}

/** Schedules another request for documents that the server has not compared with all others yet. */
function askNearAgain(state, queryId, asked, more) {
  const { near } = state;
  near.due = false;
  for (const { doc_id } of asked) near.part[more ? "add" : "delete"](pairOf(queryId, doc_id));
  if (!near.part.size || near.timer) return;
  near.timer = setTimeout(() => {
    Object.assign(near, { due: true, timer: 0 });
    askNear(state);
  }, NEAR_AGAIN_MS);
}

async function fetchNear(state) {
  const { near, queryId } = state;
  const asked = newOnes(state).slice(0, MOST_NEAR);
  // Also those that the server may not know as judged yet: held documents and unsent judgements.
  const others = [...state.queue.map((doc) => doc.doc_id), ...state.pending.filter(({ judgement }) => judgement.query_id === queryId)
    .map(({ judgement }) => judgement.doc_id)];
  const ids = [...new Set([...asked.map((doc) => doc.doc_id), ...others])].slice(0, MOST_NEAR);
  let [found, more] = [null, false];
  try {
    ({ near: found, more } = asked.length ? await post(state, "near", { query_id: queryId, doc_ids: ids }) : { near: {} });
    if (typeof found !== "object" || found === null) throw new Failure(-1);
  } catch {
    found = null; // with the next documents it is tried again
  }
  near.asking = false;
  if (!found) return;
  askNearAgain(state, queryId, asked, more);
  for (const { doc_id } of asked) near.known.set(pairOf(queryId, doc_id), []);
  for (const [docId, alike] of Object.entries(found)) {
    if (Array.isArray(alike)) near.known.set(pairOf(queryId, docId), alike);
  }
  if (state.view) renderNear(state, state.view, onScreen(state));
}

/** The most similar judged document and its judgement; the browser's state is newer than the answer. */
function nearOf(state, item) {
  if (!item || !state.near.known.size) return null;
  for (const alike of state.near.known.get(pairOf(item.queryId, item.doc.doc_id)) ?? []) {
    const at = heldAt(state, item.queryId, alike.doc_id);
    if (at >= 0) return { ...alike, at, said: state.history[at] };
    if (alike.said && !isOpen(state, item.queryId, alike.doc_id)) return { ...alike, at };
  }
  return null;
}

/** Whether this browser knows a pair as unjudged: it is in the queue, or its judgement was undone. */
function isOpen(state, queryId, docId) {
  if (queryId === state.queryId && state.queue.some((doc) => doc.doc_id === docId)) return true;
  const last = state.pending.findLast(({ judgement }) => judgement.query_id === queryId && judgement.doc_id === docId);
  return last?.judgement.kind === "undone";
}

/** Whether the document on screen was opened as a near-duplicate. */
const isNearShown = (state) => state.near.to !== null && onScreen(state)?.entry === state.near.to;

/** Opens the near-duplicate, or returns from it. */
async function showNear(state) {
  const { near } = state;
  const item = onScreen(state);
  if (isNearShown(state)) return leaveNear(state);
  const alike = nearOf(state, item);
  let { at } = alike;
  if (at < 0) {
    const pair = pairOf(item.queryId, item.doc.doc_id);
    let entry;
    try {
      entry = await fetchEntry(state, item.queryId, alike.doc_id, alike.said);
    } catch (error) {
      return tell(state, `The near-duplicate could not be loaded: ${causeOf(error)}.`);
    }
    const now = onScreen(state);
    if (!now || pairOf(now.queryId, now.doc.doc_id) !== pair) return undefined; // the annotator has gone on
    at = heldAt(state, item.queryId, alike.doc_id);
    if (at < 0) {
      state.history.unshift(entry);
      if (state.look !== null) state.look += 1;
      at = 0;
    }
  }
  near.from = item.entry;
  near.to = state.history[at];
  return lookAt(state, at);
}

function leaveNear(state) {
  const at = state.near.from ? state.history.indexOf(state.near.from) : -1;
  Object.assign(state.near, { from: null, to: null });
  state.look = at < 0 ? null : at;
  if (state.look === null) say(state, "Back to the unjudged document.");
  else sayLookingBack(state, state.history[at]);
  return refresh(state);
}

function renderNear(state, view, item) {
  const back = isNearShown(state);
  const alike = back ? null : nearOf(state, item);
  setHidden(view.near, !alike && !back);
  if (!alike && !back) return;
  const same = alike && alike.similarity >= 1;
  setText(view, "nearWords", back ? "This is the near-duplicate." : `${same ? "Same text as" : "Near-duplicate of"} `);
  setText(view, "nearTitle", back ? "" : cut(alike.title || alike.doc_id, 120));
  setText(view, "nearSaid", back ? "" : `, which you judged ${wordsFor(state, alike.said)}.`);
  setText(view, "nearShow", back ? "Back" : "Show");
}

action("near", (state) => showNear(state),
  { when: (state) => isNearShown(state) || nearOf(state, onScreen(state)) !== null,
    refusal: "No judged near-duplicate of this document is known." });
