// What the keys and buttons of this card do. Part of one module: see state.js.

const scrollerOf = (state) => state.view.scroller;

/** A digit is a grade. */
function digitMeans(state, digit) {
  const known = state.scale.some(({ grade }) => grade === digit);
  return known ? (_, source = "key") => judge(state, "graded", { relevance: digit, source }) : null;
}

/** Escape, where no panel is open. */
function stepBack(state) {
  if (state.feedback) return () => closeFeedback(state);
  if (state.time.resting) return () => closeRest(state);
  if (isNearShown(state)) return () => leaveNear(state);
  if (state.look !== null) return () => look(state, state.history.length - state.look);
  return null;
}

const JUDGES = new Set(["grade", "undo", "skip", "cannot-judge", "back", "forward"]);

/** Some panels cover the document, or have to be left first. */
function mayClick(state, name) {
  if (!JUDGES.has(name)) return true;
  if (state.panel === "search") {
    tell(state, "Close the search first: it covers the document.");
    return false;
  }
  if (state.panel === "history") {
    tell(state, "Close the history first: it covers the document.");
    return false;
  }
  if (state.panel === "note") {
    if (!["grade", "cannot-judge"].includes(name)) {
      tell(state, "Save or discard the note first.");
      return false;
    }
    takeNote(state); // a grade that is clicked takes along what is written
    setPanel(state, null);
  }
  return true;
}

action("undo", undo);
action("skip", skip);
action("cannot-judge", (state) => openReasons(state), { panel: "reasons" });
action("back", (state) => look(state, -1));
action("forward", (state) => look(state, 1));
action("why", (state) => togglePanel(state, "why"), { panel: "why" });
action("search", (state) => openSearch(state),
  { panel: "search" });
action("note", (state) => openNote(state), { panel: "note" });
action("flag", (state, source) => flag(state, source));
action("guidelines", (state) => openGuidelines(state), { panel: "guidelines" });
action("next-unfinished", (state) => goOn(state),
  { when: (state) => onScreen(state) === null });
action("help", (state) => togglePanel(state, "help"), { panel: "help", anywhere: true });

onButton("grade", (state, button) => judge(state, "graded", { relevance: Number(button.dataset.grade), source: "click" }));
onButton("keep-note", (state) => keepNote(state, "click"));
onButton("close-feedback", (state) => closeFeedback(state));
onButton("take", (state, button) => take(state, button.dataset.doc));
onButton("close", (state) => setPanel(state, null));
onButton("reason", (state, button) => chooseReason(state, Number(button.dataset.reason), "click"));
onButton("give-reason", (state) => giveReason(state, state.view.reasonText.value.trim(), "click"));
onButton("previous-topic", (state) => stepTopic(state, -1));
onButton("next-topic", (state) => stepTopic(state, 1));
onButton("fold", (state) => fold(state.view));

panel("help", { node: "helpPanel" });
panel("why", { node: "whyPanel", beside: true, render: renderWhy });
panel("guidelines", { node: "guidelinesPanel", beside: true });
panel("note", { node: "notePanel", focus: "noteText", field: "noteText", inField: reactionInNote });
panel("search", {
  node: "searchPanel", focus: "searchWords", field: "searchWords", inField: reactionInSearch, render: renderSearch,
  keys: (state, event, { key }) => (key === "ArrowUp" || key === "ArrowDown" ? reactionInSearch(state, event) : undefined),
  left: (state) => clearTimeout(state.find.timer),
});
panel("reasons", {
  node: "reasonsPanel", field: "reasonText", inField: reactionInReason,
  keys: (state, event, { digit }) => (digit === null ? undefined : () => chooseReason(state, digit, "key")),
});

function fold(view) {
  const open = view.topic.classList.toggle("cd-open");
  view.fold.setAttribute("aria-expanded", String(open));
}

