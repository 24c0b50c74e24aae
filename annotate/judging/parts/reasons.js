// Why something cannot be judged: the panel with the reasons. Part of every card.

/** A button for each ready-made reason. */
function fillReasons(state, view) {
  view.reasons.replaceChildren(...state.reasons.map((reason, i) => (
    labelled(i + 1, reason, `${i + 1} ${reason}`, { do: "reason", reason: i + 1 }))));
  view.otherCap.textContent = state.reasons.length < 9 ? state.reasons.length + 1 : "Tab";
}

function openReasons(state) {
  if (state.panel === "reasons") return setPanel(state, null);
  if (!onScreen(state)) return oneMoment(state);
  state.view.reasonText.value = "";
  return setPanel(state, "reasons");
}

function chooseReason(state, number, source) {
  if (number === state.reasons.length + 1) return state.view.reasonText.focus();
  const reason = state.reasons[number - 1];
  return reason === undefined ? undefined : giveReason(state, reason, source);
}

function giveReason(state, reason, source) {
  if (!reason) return state.view.reasonText.focus();
  setPanel(state, null);
  return judge(state, "cannot judge", { reason, source });
}

function reactionInReason(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => giveReason(state, state.view.reasonText.value.trim(), "key");
  return null;
}
