// What waits to be sent: one request at a time, again and again until it is answered; and the lines that say how it
// stands. A card says itself what there is to do (`needsSync`) and how (`exchange`). Part of every card.

const FIRST_RETRY = 500;
const LAST_RETRY = 10_000;
const OFFLINE_AFTER = 3_000;

/** Sends unsent decisions and fetches documents, one request at a time to keep the order. */
function pump(state) {
  if (state.inFlight || state.retry !== null || !needsSync(state)) return;
  state.inFlight = true;
  exchange(state).then(
    () => {
      state.failures = 0;
      state.trouble = null;
    },
    (error) => {
      if (!(error instanceof Failure)) console.error(error);
      retryLater(state, error instanceof Failure ? error : new Failure(-1));
    },
  ).finally(() => {
    state.inFlight = false;
    refresh(state);
    pump(state);
  });
}

const AFTER_FRAMES = 30; // two of them: what comes next is drawn first

/** Sends after a key what there is, and lets the screen go first. */
function pumpSoon(state) {
  setTimeout(() => pump(state), AFTER_FRAMES);
}

function retryLater(state, { status, detail }) {
  if (state.failures === 0) state.failingSince = Date.now();
  state.failures += 1;
  state.trouble = status;
  state.detail = detail;
  const gentle = status >= 400 && status < 500; // asking quickly does not help there
  const delay = gentle ? LAST_RETRY : Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (state.failures - 1));
  state.retry = setTimeout(() => {
    state.retry = null;
    pump(state);
  }, delay);
}

/** Tries at once what waits for its next attempt. */
function wake(state) {
  clearTimeout(state.retry);
  state.retry = null;
  pump(state);
}

const STALE = 30_000; // away for so long, and what is open may have been decided elsewhere

/** Reacts to the page being hidden or shown; after a while away, asks the server which documents are still open. */
function seen(state) {
  runClock(state);
  if (document.visibilityState !== "visible") {
    state.leftAt ??= Date.now();
    return;
  }
  const away = Date.now() - (state.leftAt ?? Infinity);
  state.leftAt = null;
  if (!(away >= STALE)) return;
  state.due = true;
  state.returned = state.clock?.pair ?? null;
  wake(state);
}

// Messages: the notice above the buttons, the status of unsent decisions, and what the server refused.

function tell(state, words) {
  state.notice = { title: "", words, urgent: words !== "" };
  if (state.view) renderNotice(state, state.view);
  state.onNotice?.();
}

/** Records nothing, since the key was meant for what was on screen before, and draws the present state. */
function justCome(state) {
  refresh(state);
  tell(state, "Not recorded: the screen had just changed. Try again.");
}

function renderNotice(state, view) {
  const { lead = "", title = "", words = "", urgent = false } = state.notice ?? {};
  setText(view, "noticeLead", lead);
  setText(view, "noticeTitle", title.length > 200 ? `${title.slice(0, 200)} …` : title);
  setText(view, "noticeWords", words);
  view.notice.classList.toggle("cd-urgent", urgent);
}

/** Whether there has been no connection for a while. */
const isCutOff = (state) => state.trouble === 0 && state.failures > 0 && Date.now() - state.failingSince >= OFFLINE_AFTER;

const CUT_OFF = ["No connection", "Everything that was loaded is done and kept in this browser. Judging continues when the server can be reached again."];

function statusOf(state) {
  const n = state.pending.length;
  const what = count(n, state.noun);
  const place = state.storeFails ? "in this tab" : "in this browser";
  const long = state.failures > 0 && Date.now() - state.failingSince >= OFFLINE_AFTER;
  if (state.trouble === 401) {
    const kept = n ? ` ${what} ${plural(n, "is", "are")} kept ${place}.` : "";
    const { detail } = state;
    const cause = !detail || detail === "not signed in" ? "reload this page to sign in again" : detail.replace(/\.$/, "");
    return ["problem", `You are signed out: ${cause}.${kept}`];
  }
  if (long || (state.trouble >= 400 && state.trouble < 500)) {
    const detail = state.detail ? `, ${state.detail}` : "";
    const cause = { 0: "No connection", "-1": "The server sent an unexpected answer", 403: asSentence(state.detail) }[state.trouble]
      || `Server error (${state.trouble}${detail})`;
    const kept = `${what} ${plural(n, "is", "are")} kept ${place} and will be sent`;
    return ["problem", `${cause}: ${n ? kept : "trying again"}`];
  }
  const words = n ? `${n} not saved yet` : state.hasSaved ? "Saved" : "";
  if (state.storeFails) return ["problem", `${words && `${words}. `}This browser cannot store unsent answers: keep this tab open until everything is saved.`];
  return [n || state.failures ? "waiting" : "saved", words];
}

function renderStatus(state, view) {
  const [kind, words] = statusOf(state);
  setText(view, "status", words);
  if (view.drawn.statusKind === kind) return;
  view.drawn.statusKind = kind;
  view.status.dataset.kind = kind;
  view.status.setAttribute("aria-live", kind === "problem" ? "polite" : "off"); // each "Saved" aloud would be noise
}

function renderRefused(state, view) {
  const key = state.refused.map(({ uuid }) => uuid).join();
  if (view.drawn.refused === key) return;
  view.drawn.refused = key;
  view.refused.replaceChildren(...state.refused.map(({ uuid, title, words, reason }) => {
    const row = make("div", { className: "cd-refusal" });
    const close = make("button", { type: "button", className: "cd-small", textContent: "Dismiss" });
    Object.assign(close.dataset, { do: "dismiss", uuid });
    const name = make("bdi", { className: "cd-apart", textContent: title });
    const line = make("span", {});
    line.append("Not saved: ", name, `, ${words}: `, make("bdi", { className: "cd-apart", textContent: reason }));
    row.append(line, close);
    return row;
  }));
}

/** Replaces the history; the entry on screen stays there if it is still part of it. */
function changeHistory(state, entries) {
  const shown = state.look === null ? null : state.history[state.look];
  state.history = entries;
  if (!shown) return;
  const at = entries.indexOf(shown);
  state.look = at < 0 ? null : at;
}

function dismiss(state, uuid) {
  state.refused = state.refused.filter((answer) => answer.uuid !== uuid);
  write(state, "refused", JSON.stringify(state.refused));
  refresh(state);
}

onButton("dismiss", (state, button) => dismiss(state, button.dataset.uuid));
