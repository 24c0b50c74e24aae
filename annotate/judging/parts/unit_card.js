// Drawing and attaching, as far as the cards for lists, for preferences and for adjudication do it alike. A card draws its item itself
// (`renderItem`), says what digits mean, and attaches what is its own (`attachOwn`).

/** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
function refresh(state) {
  arrange(state);
  const item = onScreen(state);
  const pair = drawnAs(item);
  const turned = pair !== (state.clock?.pair ?? null);
  if (turned && state.panel === "reasons") state.panel = null;
  if (turned && state.panel === "note") leaveNote(state);
  if (turned && state.notice?.urgent) state.notice = null;
  if (item) item.unit.skipped = false; // it has come round again
  const { view } = state;
  if (view) {
    applyLooks(state, view);
    renderItem(state, view, item, turned);
  }
  if (turned) restartClock(state, pair);
  if (!view) return;
  renderNotice(state, view);
  renderNote(state, view, item);
  renderRest(state, view, item);
  renderTopic(state, view);
  renderGuidelines(state, view);
  renderProgress(state, view);
  renderStatus(state, view);
  renderRefused(state, view);
  renderPanels(state, view);
  renderKeys(state, view);
  sayAloud(state, item);
}

const PAUSE_ALOUD = 250; // fast keys are not read one by one

/** Announces to screen readers, after the paint, what was done and what is on screen now (`heard`). */
function sayAloud(state, item) {
  const { aloud } = state;
  if (aloud.timer !== null || (aloud.notice === state.notice && aloud.key === (item?.key ?? null))) return;
  aloud.timer = setTimeout(() => {
    aloud.timer = null;
    const now = onScreen(state);
    const { lead = "", title = "", words = "" } = state.notice ?? {};
    const parts = [aloud.notice === state.notice ? "" : `${lead}${title}${words}`, now && aloud.key !== now.key ? heard(now) : ""];
    Object.assign(aloud, { notice: state.notice, key: now?.key ?? null });
    if (state.view) setText(state.view, "spoken", parts.filter(Boolean).map((part) => cut(part.replace(/\.$/, ""), 300)).join(". "));
  }, PAUSE_ALOUD);
}

/** The title and text shown when there is no unit. */
function restOf(state) {
  if (state.asksFor !== TASK) return ["The task of this campaign has changed", "Reload this page to continue."];
  const used = !state.progress || !state.exhausted || state.queue.some(isWaiting) || state.asked !== undefined;
  if (isCutOff(state) && used) return CUT_OFF;
  if (!state.progress) return [ONE_MOMENT, TEXTS.first];
  if (state.asked !== undefined) return [ONE_MOMENT, `${TEXTS.asked} is loading.`];
  const { done, goal } = countOf(state);
  if (!goal) return TEXTS.nothing;
  if (done >= goal) return TEXTS.done;
  if (state.queue.some(isWaiting) || !state.exhausted) return [ONE_MOMENT, "Fetching what comes next."];
  return TEXTS.busy;
}

function renderRest(state, view, item) {
  (view.answers ?? view.grades).classList.toggle("cd-idle", item === null); // they stay where they are, and say that nothing is there
  setHidden(view.rest, item !== null);
  const rest = item ? null : restOf(state);
  if (rest !== TEXTS.busy) { // where all is done, the heartbeat finds what is new
    clearTimeout(state.askAgain);
    state.askAgain = null;
  } else if (state.askAgain === null) {
    state.askAgain = setTimeout(() => askOnce(state), ASK_AGAIN);
  }
  if (item) return;
  setText(view, "restTitle", rest[0]);
  setText(view, "restWords", rest[1]);
}

function askOnce(state) {
  state.askAgain = null;
  state.exhausted = false;
  state.due = true;
  pump(state);
  refresh(state);
}

function renderTopic(state, view) {
  const topic = (onScreen(state)?.unit ?? openUnit(state))?.topic;
  if (!topic || view.drawn.topic === topic) return;
  view.drawn.topic = topic;
  const name = nameOfTopic(topic);
  setText(view, "foldTitle", name);
  setText(view, "topicTitle", name);
  setText(view, "description", topic.description === name ? "" : topic.description ?? "");
  setText(view, "narrative", topic.narrative ?? "");
  setHidden(view.narrativeBlock, !topic.narrative);
  if (view.needScrolled) view.need.scrollTop = 0;
  view.needScrolled = false;
}

function renderProgress(state, view) {
  const count = countOf(state);
  if (!count) return;
  const words = `${figure(count.done)} of ${figure(count.goal)}`;
  if (view.drawn.allCount === words) return;
  setText(view, "allCount", words);
  view.allBar.style.transform = `scaleX(${count.goal ? count.done / count.goal : 0})`;
}

// ------------------------------------------------------------------------------------- attaching

function attach(state, data, root) {
  const view = viewOf(state, root);
  state.view = view;
  fillReasons(state, view);
  const { on, leaving } = listen(state, view);
  on(view.need, "scroll", () => { view.needScrolled = true; }, { passive: true });
  attachOwn(state, view, on);
  start(state, data, view);
  return leaving(() => {
    paintNothing();
    view.drawn.terms = undefined;
  });
}

/** On a new page the reservations and the counts are brought up to date, and the page may ask for a topic. */
function start(state, data, view) {
  const asked = askedIn(state, data, view.isNew);
  if (view.isNew) {
    view.isNew = false;
    state.panel = null;
    Object.assign(state.guidelines, { asked: false, trouble: "" }); // they may have been rewritten
    state.due = true;
    state.exhausted = false;
    state.asksFor = TASK;
    state.asked = undefined;
  }
  state.asked = asked ?? state.asked;
  runClock(state);
  refresh(state);
  pump(state);
}

// ------------------------------------------------------------------------- what all of them can do

function addSharedActions() {
  action("undo", undo);
  action("skip", skip);
  action("cannot-judge", (state) => openReasons(state), { panel: "reasons" });
  action("back", (state) => look(state, -1));
  action("forward", (state) => look(state, 1));
  action("note", (state) => openNote(state),
    { panel: "note" });
  action("guidelines", (state) => openGuidelines(state), { panel: "guidelines" });
  action("help", (state) => togglePanel(state, "help"), { panel: "help", anywhere: true });
}

onButton("close", (state) => setPanel(state, null));
onButton("reason", (state, button) => chooseReason(state, Number(button.dataset.reason), "click"));
onButton("give-reason", (state) => giveReason(state, state.view.reasonText.value.trim(), "click"));
onButton("keep-note", (state) => keepNote(state, "click"));
onButton("fold", (state) => {
  const open = state.view.topic.classList.toggle("cd-open");
  state.view.fold.setAttribute("aria-expanded", String(open));
});

panel("help", { node: "helpPanel" });
panel("note", { node: "notePanel", focus: "noteText", field: "noteText", inField: reactionInNote });
panel("reasons", {
  node: "reasonsPanel", field: "reasonText", inField: reactionInReason,
  keys: (state, event, { digit }) => (digit === null ? undefined : () => chooseReason(state, digit, "key")),
});

const UNTIL_NOTED = new Set(["undo", "skip", "back", "forward"]);

/** A clicked decision takes the text of the open note along; other buttons wait until the note is closed. */
function mayClick(state, name) {
  if (state.panel !== "note" || ["note", "close", "keep-note", "help", "fold"].includes(name)) return true;
  if (UNTIL_NOTED.has(name)) {
    tell(state, "Save or discard the note first.");
    return false;
  }
  takeNote(state);
  setPanel(state, null);
  return true;
}

/** Escape, where no panel is open. */
function stepBack(state) {
  return state.look === null ? null : () => look(state, state.history.length - state.look);
}
