// Notes with a judgement, and what a calibration answers. Part of one module: see state.js.

// ------------------------------------------------------------------------------------------ notes

const noteOf = (state, item) => marksOf(state, item).note;

const NOTE_HINT = {
  open: "Saved with your grade for this document.",
  decided: "Saved with the grade you gave.",
};

/** Keeps the text of the open panel for the document it was opened for. */
function takeNote(state) {
  const { noted } = state;
  if (!noted || !state.view) return;
  const text = state.view.noteText.value.trim();
  state.noted = null;
  if (text !== (noteOf(state, noted) ?? "")) setDraft(state, noted.queryId, noted.doc, { note: text });
  dropIdle(state, noted);
}

/** Enter: at an open document the note waits for its grade; at a judged one the same grade is given again with it. */
function keepNote(state, source) {
  const item = onScreen(state);
  takeNote(state);
  setPanel(state, null);
  if (!changeMarks(state, item, {}, source)) return undefined;
  say(state, state.history[state.look].note ? ": note saved" : ": note removed", item.doc);
  return refresh(state);
}

// -------------------------------------------------------------------------------------- calibration

/** Opens the topic whose calibration pairs come first; no other topic hands out documents before. */
function calibrateFirst(state, queryId) {
  if (!state.byId.has(queryId)) { // new since the topics were fetched
    state.topicsDue = true;
    return;
  }
  openTopic(state, queryId);
  state.brought = true;
  state.wantsRecent = true;
  say(state, "Calibration first: all annotators judge these documents.");
}

const MOST_FEEDBACK = 5; // of one answer: fast keys and a slow network bring several at once

/** Shows the reference grades of calibration pairs that were just judged, until the next ones or Escape. */
function takeFeedback(state, batch, feedback) {
  if (!Array.isArray(feedback) || !feedback.length) return;
  const said = new Map(batch.map((item) => [item.judgement.uuid, item]));
  state.feedback = feedback.slice(-MOST_FEEDBACK).map(({ uuid, doc_id, title, relevance, settled, note }) => {
    const own = said.get(uuid)?.judgement ?? { kind: relevance === null ? "cannot judge" : "graded", relevance, reason: null };
    const same = own.kind === "graded" && own.relevance === settled;
    const words = `Your grade: ${wordsFor(state, own)}. `;
    const answer = same ? "It matches the reference grade." : `Reference grade: ${wordsFor(state, { kind: "graded", relevance: settled })}.`;
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

/** Marks judgements that came after the pair had enough: they are saved but not counted, which is told once. */
function takeSurplus(state, batch, uuids) {
  if (!Array.isArray(uuids) || !uuids.length) return new Set();
  const surplus = new Set(uuids);
  for (const entry of state.history) if (surplus.has(entry.uuid)) entry.surplus = true;
  const item = batch.findLast(({ judgement }) => surplus.has(judgement.uuid));
  if (item && !state.notice?.urgent) {
    state.notice = { title: item.title, words: ": not counted; others judged it first", urgent: false };
  }
  return surplus;
}

// -------------------------------------------------------------------------------------------- flags

/** Toggles the flag: saved with the grade like a note, or at once for a judged document. */
function flag(state, source) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const flagged = !marksOf(state, item).flagged;
  const saved = changeMarks(state, item, { flagged }, source);
  say(state, flagged ? `: flagged${saved ? "" : "; saved with your grade"}` : ": flag removed", item.doc);
  return refresh(state);
}

function renderFlag(state, view, item) {
  const flagged = item !== null && marksOf(state, item).flagged;
  if (view.drawn.flagged === flagged) return;
  view.drawn.flagged = flagged;
  view.flag.setAttribute("aria-pressed", String(flagged));
  setHidden(view.flagged, !flagged);
}
