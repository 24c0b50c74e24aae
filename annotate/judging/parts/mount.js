// Mounting: one state for each campaign and annotator, the listeners that every card has. Part of every card.
//
// A card says how its state is made (`stateFor`), what it does when it is attached to its nodes (`attach`), and with
// `listen` reacts to what they all react to.

const ASK_AGAIN = 10_000; // ms until the next check where other annotators judge the rest
const HEARTBEAT = 120_000; // tells the server what is still held
const ONE_MOMENT = "Loading …";

const SLOT = Symbol.for("cleverdon.judging.card"); // on window: finds listeners left by another copy of this module

/** One state for each campaign and annotator; it outlives reruns and a visit to another page. */
const states = new Map();

export default function mountCard({ data, parentElement }) {
  window[SLOT]?.();
  const state = stateFor(data);
  const leave = attach(state, data, parentElement);
  window[SLOT] = leave;
  return leave;
}

/** The prefix of the browser's storage for this campaign and annotator. */
const placeFor = ({ campaign, annotator }) => `cleverdon:${encodeURIComponent(campaign)}:${encodeURIComponent(annotator)}:`;

/**
 * Listens for what every card reacts to, and keeps what is held reserved.
 *
 * Gives `on`, for the card's own listeners, and `leaving`: what makes the function that ends them all. It is called more
 * than once where a clean-up of an earlier run comes late, and does its work, and the card's own `clean`, once.
 */
function listen(state, view) {
  const controller = new AbortController();
  const { signal } = controller;
  const on = (target, type, react, options) => target.addEventListener(type, react, { ...options, signal });
  for (const [type, options] of [["pointermove", {}], ["pointerdown", {}], ["wheel", {}], ["scroll", { capture: true }]]) {
    on(window, type, () => moved(state), { passive: true, ...options });
  }
  on(window, "keydown", (event) => onKey(state, event), { capture: true });
  on(view.card, "click", (event) => onClick(state, event));
  on(window, "resize", () => fit(view));
  on(window, "online", () => wake(state));
  on(window, "pagehide", () => sendLast(state));
  on(window, "beforeunload", (event) => {
    if (state.pending.length && state.failures) event.preventDefault();
  });
  on(document, "visibilitychange", () => seen(state));
  closeLostDialogs(view, signal);
  const heartbeat = setInterval(() => {
    state.due ||= inFront(state);
    pump(state);
  }, HEARTBEAT);
  const settling = [0, 250, 1000].map((delay) => setTimeout(() => fit(view), delay)); // the page moves while it loads
  fit(view);
  const leaving = (clean) => function leave() {
    if (signal.aborted) return;
    controller.abort();
    clearInterval(heartbeat);
    settling.forEach(clearTimeout);
    clearTimeout(state.askAgain);
    state.askAgain = null;
    state.view = null;
    clean();
    runClock(state);
    if (window[SLOT] === leave) delete window[SLOT];
  };
  return { on, leaving };
}
