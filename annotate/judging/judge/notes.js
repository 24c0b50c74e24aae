// Guidelines, notes with a judgement, and what a calibration answers. Part of one module: see state.js.

// ------------------------------------------------------------------------------------- guidelines

const NO_GUIDELINES = "The manager of this campaign has written no guidelines yet.";

/** Asked for once in the life of a mount, and kept; what could not be had is asked for again when it is wanted. */
async function askGuidelines(state) {
  if (state.guidelines.asked) return;
  state.guidelines = { ...state.guidelines, asked: true, trouble: "" };
  let found;
  try {
    const { html, notes } = await post(state, "guidelines", {});
    if (typeof html !== "string" || typeof notes !== "object" || notes === null) throw new Failure(-1);
    found = { asked: true, html, notes: new Map(Object.entries(notes)), trouble: "" };
  } catch (error) {
    found = { ...state.guidelines, asked: false, trouble: `They cannot be fetched just now: ${causeOf(error)}.` };
  }
  state.guidelines = found;
  if (state.view) renderGuidelines(state, state.view);
}

function openGuidelines(state) {
  if (state.panel === "guidelines") return setPanel(state, null);
  askGuidelines(state);
  return setPanel(state, "guidelines");
}

/** The note of the topic stands with the topic's words as well, so that it is seen without a key. */
function renderGuidelines(state, view) {
  const { guidelines } = state;
  const queryId = shownTopicId(state);
  if (view.drawn.guidelines === guidelines && view.drawn.guidelinesOf === queryId) return;
  const note = guidelines.notes.get(queryId) ?? "";
  setText(view, "topicNote", note);
  setHidden(view.topicNoteBlock, !note);
  setText(view, "guidelinesNote", note);
  setHidden(view.guidelinesNoteBlock, !note);
  if (view.drawn.guidelines !== guidelines) {
    const waiting = guidelines.html === null;
    const words = guidelines.trouble || (waiting ? ONE_MOMENT : guidelines.html ? "" : NO_GUIDELINES);
    setText(view, "guidelinesSays", words);
    setHidden(view.guidelinesSays, !words);
    if (view.drawn.guidelinesHtml !== guidelines.html) {
      view.drawn.guidelinesHtml = guidelines.html;
      view.guidelinesText.innerHTML = guidelines.html ?? ""; // made safe by the server: the one place where markup comes in
      view.guidelinesPanel.scrollTop = 0;
    }
  }
  view.drawn.guidelines = guidelines;
  view.drawn.guidelinesOf = queryId;
}

// ------------------------------------------------------------------------------------------ notes

const draftKey = (queryId, docId) => `note:${JSON.stringify([queryId, docId])}`;

/** Notes that wait for the grade of their document, by pair. */
function loadDrafts(store, id) {
  const drafts = new Map();
  const start = `${id}note:`;
  for (let i = 0; i < (store?.length ?? 0); i += 1) {
    const key = store.key(i);
    const text = key.startsWith(start) ? readJson(store, key) : null;
    if (typeof text !== "string") continue;
    try {
      const [queryId, docId] = JSON.parse(key.slice(start.length));
      drafts.set(pairOf(queryId, docId), text);
    } catch {
      // not written by this card
    }
  }
  return drafts;
}

/** Keeps a note for the next judgement of a pair; null for none. */
function setDraft(state, queryId, doc, text) {
  const pair = pairOf(queryId, doc.doc_id);
  if (text === null) {
    if (!state.drafts.delete(pair)) return;
  } else {
    state.drafts.set(pair, text);
  }
  write(state, draftKey(queryId, doc.doc_id), text === null ? null : JSON.stringify(text));
}

/** What the judgement of what is on screen has as its note, or will have: an empty one takes the former away. */
function noteOf(state, { queryId, doc, entry }) {
  const draft = state.drafts.size ? state.drafts.get(pairOf(queryId, doc.doc_id)) : undefined;
  return (draft ?? entry?.note) || null;
}

function openNote(state) {
  if (state.panel === "note") return state.view.noteText.focus();
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  state.noted = item;
  state.view.noteText.value = noteOf(state, item) ?? "";
  setText(state.view, "noteHint", item.entry
    ? "Enter saves it with the grade that the document has."
    : "It goes with the grade that you give this document.");
  return setPanel(state, "note");
}

/** What is written in the open panel goes to the document for which it was opened. */
function takeNote(state) {
  const { noted } = state;
  if (!noted || !state.view) return;
  const text = state.view.noteText.value.trim();
  const former = noted.entry?.note ?? "";
  setDraft(state, noted.queryId, noted.doc, text === former ? null : text);
  state.noted = null;
}

/** Its document goes away, and what is written stays with it. */
function leaveNote(state) {
  takeNote(state);
  state.panel = null;
}

/** Enter: at an open document the note waits for its grade; at a judged one the same grade is given again with it. */
function keepNote(state, source) {
  const item = onScreen(state);
  takeNote(state);
  setPanel(state, null);
  const { entry } = item;
  if (!entry || !state.drafts.has(pairOf(item.queryId, item.doc.doc_id))) return undefined;
  const { kind, relevance, reason } = entry;
  judge(state, kind, { relevance, reason, source });
  state.look = state.history.length - 1; // it stays in sight
  say(state, state.history[state.look].note ? ": note kept" : ": note taken away", item.doc);
  return refresh(state);
}

function reactionInNote(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter" && !event.shiftKey) return () => keepNote(state, "key");
  return null;
}

function renderNote(state, view, item) {
  const note = item && noteOf(state, item);
  setHidden(view.noteLine, !note);
  if (!note) return;
  setText(view, "noteWords", cut(note, 300));
}

// -------------------------------------------------------------------------------------- calibration

/** Another topic has pairs that everybody judges before anything else: nothing comes here until that is done. */
function calibrateFirst(state, queryId) {
  if (!state.byId.has(queryId)) { // new since the topics were fetched
    state.topicsDue = true;
    return;
  }
  openTopic(state, queryId);
  state.wantsRecent = true;
  say(state, "Calibration comes first: everybody judges these documents.");
}

const MOST_FEEDBACK = 5; // of one answer: fast keys and a slow network bring several at once

/** What others have settled on pairs that were just judged; it stays until the next, or until Escape. */
function takeFeedback(state, batch, feedback) {
  if (!Array.isArray(feedback) || !feedback.length) return;
  const said = new Map(batch.map((item) => [item.judgement.uuid, item]));
  state.feedback = feedback.slice(-MOST_FEEDBACK).map(({ uuid, doc_id, title, relevance, settled, note }) => {
    const own = said.get(uuid)?.judgement ?? { kind: relevance === null ? "cannot judge" : "graded", relevance, reason: null };
    const same = own.kind === "graded" && own.relevance === settled;
    const words = `You: ${wordsFor(state, own)}. `;
    const answer = same ? "As settled." : `Settled: ${wordsFor(state, { kind: "graded", relevance: settled })}.`;
    return { title: title || doc_id, words: words + answer, note: note || "", same };
  });
}

function renderFeedback(state, view) {
  if (view.drawn.feedback === state.feedback) return;
  view.drawn.feedback = state.feedback;
  view.feedbackList.replaceChildren(...(state.feedback ?? []).map(({ title, words, note, same }) => {
    const row = make("li", { className: same ? "cd-same" : "cd-other-grade" });
    row.append(make("b", { className: "cd-apart", textContent: forward(cut(title, 120)) }), make("span", { textContent: words }));
    if (note) row.append(make("span", { className: "cd-apart cd-settled-note", textContent: forward(cut(note, 600)) }));
    return row;
  }));
  setHidden(view.feedback, !state.feedback);
}

function closeFeedback(state) {
  state.feedback = null;
  refresh(state);
}

/** Judgements that came when the pair had all that were wanted are kept, and count nowhere: said once. */
function takeSurplus(state, batch, uuids) {
  if (!Array.isArray(uuids) || !uuids.length) return new Set();
  const surplus = new Set(uuids);
  for (const entry of state.history) if (surplus.has(entry.uuid)) entry.surplus = true;
  const item = batch.findLast(({ judgement }) => surplus.has(judgement.uuid));
  if (item && !state.notice?.urgent) {
    state.notice = { title: item.title, words: ": saved; meanwhile others had given all that was wanted", urgent: false };
  }
  return surplus;
}
