// What goes with a judgement besides its grade: a note, a flag, marked passages. Part of one module: see state.js.

/**
 * @typedef {{note: ?string, flagged: boolean, passages: [number, number][]}} Marks passages are [start, end) in characters
 *            (code points) of the text as it is shown
 */
const NO_MARKS = { note: null, flagged: false, passages: [] };

const draftKey = (queryId, docId) => `draft:${JSON.stringify([queryId, docId])}`;

/** Marks that wait for the grade of their document, by pair; only those that differ from what the log has. */
function loadDrafts(store, id) {
  const drafts = new Map();
  const start = `${id}draft:`;
  for (let i = 0; i < (store?.length ?? 0); i += 1) {
    const key = store.key(i);
    const draft = key.startsWith(start) ? readJson(store, key) : null;
    if (typeof draft !== "object" || draft === null) continue;
    try {
      const [queryId, docId] = JSON.parse(key.slice(start.length));
      drafts.set(pairOf(queryId, docId), draft);
    } catch {
      // not written by this card
    }
  }
  return drafts;
}

/** Keeps marks for the next judgement of a pair; null drops them. */
function setDraft(state, queryId, doc, changes) {
  const pair = pairOf(queryId, doc.doc_id);
  const draft = changes && { ...state.drafts.get(pair), ...changes };
  if (draft) state.drafts.set(pair, draft);
  else if (!state.drafts.delete(pair)) return;
  write(state, draftKey(queryId, doc.doc_id), draft && JSON.stringify(draft));
}

/** What the judgement of a pair has with it, or will have. */
function marksOf(state, { queryId, doc, entry }) {
  const draft = state.drafts.size ? state.drafts.get(pairOf(queryId, doc.doc_id)) : undefined;
  const { note, flagged, passages } = { ...NO_MARKS, ...(entry && entryMarks(entry)), ...draft };
  return { note: note || null, flagged, passages };
}

const entryMarks = ({ note = null, flagged = false, passages = [] }) => ({ note: note || null, flagged, passages });

/** The marks of a judgement that does not stand wait for the next one; what has been written since is newer. */
function keepMarks(state, queryId, doc, marks, standing = NO_MARKS) {
  if (sameMarks(marks, standing)) return;
  setDraft(state, queryId, doc, { ...marks, ...state.drafts.get(pairOf(queryId, doc.doc_id)) });
}

const sameMarks = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Changes the marks of what is on screen. At an open document they wait for its grade; at a judged one the same judgement
 * is given again with them, and stays in sight. True where that was done.
 */
function changeMarks(state, item, changes, source) {
  const { entry } = item;
  if (state.panel === "note") leaveNote(state); // what is written there goes along
  setDraft(state, item.queryId, item.doc, changes);
  if (dropIdle(state, item) || !entry) {
    refresh(state);
    return false;
  }
  const { kind, relevance, reason } = entry;
  judge(state, kind, { relevance, reason, source, stay: true });
  return true;
}

/** Drops a draft that says nothing new; true where it does not. */
function dropIdle(state, item) {
  if (!sameMarks(marksOf(state, item), item.entry ? entryMarks(item.entry) : NO_MARKS)) return false;
  setDraft(state, item.queryId, item.doc, null);
  return true;
}

