// A note with a decision: it waits for it, and goes with it. Part of the cards for lists and for preferences.

/** Notes that wait, by what they are about. */
function loadNotes(store, id) {
  const notes = new Map();
  const start = `${id}note:`;
  for (let i = 0; i < (store?.length ?? 0); i += 1) {
    const key = store.key(i);
    if (key.startsWith(start)) notes.set(key.slice(start.length), store.getItem(key));
  }
  return notes;
}

/** Keeps a note for the next decision; null drops it. */
function putNote(state, key, note) {
  if (note === null ? !state.notes.delete(key) : state.notes.get(key) === note) return;
  if (note !== null) state.notes.set(key, note);
  write(state, `note:${key}`, note);
}

/** The note that a decision of this item has, or will have. */
const noteOf = (state, item) => (state.notes.get(item.key) ?? item.entry?.decision.note ?? "") || null;

const NOTE_HINT = { open: "Saved with your decision.", decided: "Saved with the decision you made." };

/** Keeps the text of the open panel for the item it was opened for. */
function takeNote(state) {
  const { noted } = state;
  if (!noted || !state.view) return;
  const text = state.view.noteText.value.trim();
  state.noted = null;
  if (text === (noted.entry?.decision.note ?? "")) putNote(state, noted.key, null);
  else putNote(state, noted.key, text);
}

/** Saves the note: an open item keeps it for its decision, a decided one is saved again with it and stays on screen. */
function keepNote(state, source) {
  const item = onScreen(state);
  takeNote(state);
  setPanel(state, null);
  if (!item?.entry || !state.notes.has(item.key)) return undefined;
  const { kind, reason } = item.entry.decision;
  judge(state, kind, { ...saidOf(item.entry.decision), reason, source });
  state.look = state.history.length - 1;
  say(state, state.history[state.look].decision.note ? ": note saved" : ": note removed", state.history[state.look].title);
  return refresh(state);
}
