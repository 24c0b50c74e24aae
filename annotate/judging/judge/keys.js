// Attaching to the page: listeners, keys, clicks, panels. Part of one module: see state.js.

// ------------------------------------------------------------------------------------- attaching

function attach(state, data, root) {
  const view = viewOf(state, root);
  const controller = new AbortController();
  const on = (target, type, react, options) => {
    target.addEventListener(type, react, { ...options, signal: controller.signal });
  };
  state.view = view;
  fillButtons(state, view);
  on(window, "keydown", (event) => onKey(state, event), { capture: true });
  on(view.card, "click", (event) => onClick(state, event));
  on(view.topics, "change", () => {
    changeTopic(state, view.topics.value);
    letGo(view);
  });
  on(view.searchWords, "input", () => wordsChanged(state));
  on(view.scroller, "scroll", () => { view.scrolled = true; }, { passive: true });
  on(window, "resize", () => fit(view));
  on(window, "online", () => wake(state));
  on(window, "pagehide", () => sendLast(state));
  on(window, "beforeunload", (event) => {
    if (state.pending.length && state.failures) event.preventDefault();
  });
  on(document, "visibilitychange", () => runClock(state));
  const heartbeat = setInterval(() => {
    state.due ||= inFront(state);
    pump(state);
  }, HEARTBEAT);
  const settling = [0, 250, 1000].map((delay) => setTimeout(() => fit(view), delay)); // the page moves while it loads

  fit(view);
  start(state, data, view);
  return function leave() {
    if (controller.signal.aborted) return; // a late clean-up of an earlier run
    controller.abort();
    clearInterval(heartbeat);
    settling.forEach(clearTimeout);
    clearTimeout(state.askAgain);
    state.askAgain = null;
    clearTimeout(state.lookAgain);
    state.lookAgain = null;
    state.view = null;
    runClock(state);
    if (window[SLOT] === leave) delete window[SLOT];
  };
}

/** The nodes of the card by name. A rerun on the same nodes keeps what is known to be drawn on them. */
function viewOf(state, root) {
  const card = root.querySelector("[data-part=card]");
  if (card.cleverdon?.state === state) return card.cleverdon;
  const view = { card, state, scrolled: false, drawn: {}, isNew: true };
  for (const node of root.querySelectorAll("[data-part]")) {
    view[node.dataset.part.replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = node;
  }
  card.cleverdon = view;
  return view;
}

/** On a new page the leases and the counts are brought up to date, and the page may ask for another topic. */
function start(state, data, view) {
  const queryId = data.query_id ?? undefined;
  if (view.isNew) {
    view.isNew = false;
    state.panel = null;
    Object.assign(state.guidelines, { asked: false, trouble: "" }); // they may have been rewritten
    state.due = true;
    state.topicsDue = true;
    state.arriving = queryId === undefined;
    if (queryId !== undefined && queryId !== state.asked && queryId !== state.queryId && state.topics) {
      changeTopic(state, queryId);
    }
    state.asked = queryId;
  }
  runClock(state);
  refresh(state);
  pump(state);
}

/** Fills the height that is there, so that the buttons are in sight and only the document scrolls. */
function fit(view) {
  let top = view.frame.getBoundingClientRect().top + window.scrollY;
  for (let node = view.frame; node; node = node.parentNode ?? node.host) {
    if (node !== document.documentElement && node !== document.body) top += node.scrollTop ?? 0;
  }
  const height = Math.max(420, Math.floor(window.innerHeight - top - 12));
  view.frame.style.setProperty("--cd-height", `${height}px`);
}

// ------------------------------------------------------------------------------- keys and clicks

/** A digit by its sign or, on layouts that need Shift for it, by its place on the keyboard. */
function digitOf(event) {
  if (/^[0-9]$/.test(event.key)) return Number(event.key);
  const place = event.shiftKey ? null : /^Digit([0-9])$/.exec(event.code ?? "");
  return place ? Number(place[1]) : null;
}

/** A letter by its sign or, on a keyboard that is not Latin, by its place. */
function letterOf(event) {
  if (event.key.length !== 1) return event.key;
  const place = event.key > "\u007f" ? /^Key([A-Z])$/.exec(event.code ?? "") : null;
  return (place ? place[1] : event.key).toLowerCase();
}

function isField(node) {
  return node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName);
}

function onKey(state, event) {
  const { view } = state;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !view.card.offsetHeight) return;
  const path = event.composedPath().filter((node) => node.nodeType === Node.ELEMENT_NODE);
  const inside = path.includes(view.card);
  const onButton = path[0]?.tagName === "BUTTON" || path[0]?.tagName === "A";
  if (onButton && (event.key === "Enter" || event.key === " ")) {
    if (inside && event.repeat) event.preventDefault(); // a held Enter would press the button again and again
    return;
  }
  let react;
  if (path.some(isField)) {
    if (inside) event.stopPropagation(); // seen from outside it is no field: the page's own keys would act on it
    react = { reasonText: reactionInField, searchWords: reactionInSearch, noteText: reactionInNote }[fieldOf(view, path[0])]?.(state, event);
  }
  else if (!inside && path.some((node) => node.matches(FOREIGN))) react = null;
  else if (event.key in SCROLL && path.some((node) => node === view.need || isLong(view, node))) react = null; // these scroll by themselves
  else react = reactionTo(state, event);
  if (!react) return;
  event.preventDefault();
  event.stopPropagation();
  const again = event.key in SCROLL && (!state.panel || BESIDE.has(state.panel) || state.panel === "search");
  if (!event.repeat || again) react();
}

const BESIDE = new Set(["why", "guidelines"]); // these panels leave the document in sight: judging goes on

const isLong = (view, node) => node === view.guidelinesPanel && node.scrollHeight > node.clientHeight;

const fieldOf = (view, node) => ["reasonText", "searchWords", "noteText"].find((name) => view[name] === node);

function reactionInField(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => giveReason(state, state.view.reasonText.value.trim(), "key");
  return null;
}

/** What a key does now, or null if it is none of the card's. */
function reactionTo(state, event) {
  const digit = digitOf(event);
  const key = digit === null ? letterOf(event) : null;
  const nothing = () => {};
  if (key === "Escape") return escapeFrom(state);
  if (key === "?") return () => setPanel(state, state.panel === "help" ? null : "help");
  if (state.panel === "reasons") {
    if (digit !== null) return () => chooseReason(state, digit, "key");
    if (key === "x") return () => setPanel(state, null);
  }
  if (key === "w" && state.panel === "why") return () => setPanel(state, null);
  if (state.panel === "note" && key === "m") return () => openNote(state);
  if (state.panel === "search") {
    if (key === "/") return () => openSearch(state);
    if (key === "ArrowUp" || key === "ArrowDown") return reactionInSearch(state, event);
  }
  // A panel covers the document: nothing is judged or moved behind it. Some stand beside it.
  if (state.panel && !BESIDE.has(state.panel)) return digit !== null || CARD_KEYS.has(key) ? nothing : null;
  if (digit !== null) {
    const known = state.scale.some(({ grade }) => grade === digit);
    return known ? () => judge(state, "graded", { relevance: digit, source: "key" }) : null;
  }
  if (key in SCROLL) return () => scroll(state.view, SCROLL[key] * (key === " " && event.shiftKey ? -1 : 1));
  return {
    u: () => undo(state, "key"),
    s: () => skip(state),
    x: () => openReasons(state),
    w: () => setPanel(state, "why"),
    g: () => openGuidelines(state),
    m: () => openNote(state),
    "/": () => openSearch(state),
    n: onScreen(state) ? null : () => goOn(state),
    ArrowLeft: () => look(state, -1),
    ArrowRight: () => look(state, 1),
  }[key] ?? null;
}

function escapeFrom(state) {
  if (state.panel) return () => setPanel(state, null);
  if (state.feedback) return () => closeFeedback(state);
  if (state.look !== null) return () => look(state, state.history.length - state.look);
  return null;
}

function scroll({ scroller }, step) {
  const by = { 1: 52, 2: scroller.clientHeight - 52, 3: scroller.scrollHeight }[Math.abs(step)];
  scroller.scrollBy(0, Math.sign(step) * by);
}

function onClick(state, event) {
  const button = event.target.closest("[data-do]");
  if (!button || button.disabled) return;
  if (state.panel === "search" && JUDGES.has(button.dataset.do)) {
    tell(state, "Close the search first: the document is behind it.");
    return;
  }
  if (state.panel === "note" && JUDGES.has(button.dataset.do)) {
    if (!["grade", "cannot-judge"].includes(button.dataset.do)) {
      tell(state, "Close the note first: Enter keeps it, Esc drops it.");
      return;
    }
    takeNote(state); // a grade that is clicked takes along what is written
    setPanel(state, null);
  }
  const { grade, reason, uuid, doc } = button.dataset;
  ({
    grade: () => judge(state, "graded", { relevance: Number(grade), source: "click" }),
    undo: () => undo(state, "click"),
    skip: () => skip(state),
    "cannot-judge": () => openReasons(state),
    back: () => look(state, -1),
    forward: () => look(state, 1),
    why: () => setPanel(state, state.panel === "why" ? null : "why"),
    search: () => openSearch(state),
    guidelines: () => openGuidelines(state),
    note: () => openNote(state),
    "keep-note": () => keepNote(state, "click"),
    "close-feedback": () => closeFeedback(state),
    take: () => take(state, doc),
    help: () => setPanel(state, "help"),
    close: () => setPanel(state, null),
    reason: () => chooseReason(state, Number(reason), "click"),
    "give-reason": () => giveReason(state, state.view.reasonText.value.trim(), "click"),
    "show-all": () => showAll(state),
    "previous-topic": () => stepTopic(state, -1),
    "next-topic": () => stepTopic(state, 1),
    "next-unfinished": () => goOn(state),
    fold: () => fold(state.view),
    dismiss: () => dismiss(state, uuid),
  })[button.dataset.do]?.();
  // After a click with the mouse the space bar must scroll, not press the same button once more.
  if (event.detail > 0 && !state.panel) letGo(state.view);
}

const JUDGES = new Set(["grade", "undo", "skip", "cannot-judge", "back", "forward"]);

const letGo = (view) => view.card.getRootNode().activeElement?.blur();

function fold(view) {
  const open = view.topic.classList.toggle("cd-open");
  view.fold.setAttribute("aria-expanded", String(open));
}

function dismiss(state, uuid) {
  state.refused = state.refused.filter((answer) => answer.uuid !== uuid);
  write(state, "refused", JSON.stringify(state.refused));
  refresh(state);
}

function openReasons(state) {
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

function setPanel(state, panel) {
  state.panel = panel;
  if (panel !== "search") clearTimeout(state.find.timer);
  refresh(state);
  const { view } = state;
  if (!view) return;
  const focused = {
    reasons: view.reasonsPanel, help: view.helpPanel, why: view.whyPanel, search: view.searchWords,
    guidelines: view.guidelinesPanel, note: view.noteText,
  };
  if (panel) focused[panel].focus({ preventScroll: true });
  else letGo(view);
}

