// The panel in which a note is written. Part of every card, which says what a note is kept with: `noteOf`, `takeNote`,
// `keepNote`, and the words of `NOTE_HINT`.

function openNote(state) {
  if (state.panel === "note") return state.view.noteText.focus();
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  state.noted = item;
  state.view.noteText.value = noteOf(state, item) ?? "";
  setText(state.view, "noteHint", item.entry ? NOTE_HINT.decided : NOTE_HINT.open);
  return setPanel(state, "note");
}

/** Closes the panel when its item leaves the screen, and keeps the text for it. */
function leaveNote(state) {
  takeNote(state);
  state.panel = null;
}

function reactionInNote(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter" && !event.shiftKey) return () => keepNote(state, "key");
  return null;
}

function renderNote(state, view, item) {
  const note = item && noteOf(state, item);
  setHidden(view.noteLine, !note);
  if (note) setText(view, "noteWords", cut(note, 300));
}
