// How long something is on screen: active seconds, and those away from it. Part of every card.

const IDLE = 120_000; // without a key, the mouse or a scroll for so long, what follows counts as away

const inFront = (state) => state.view !== null && document.visibilityState === "visible";

function restartClock(state, pair) {
  const now = performance.now();
  state.clock = pair && { pair, shownAt: new Date().toISOString(), began: now, active: 0, since: null, moved: now };
  runClock(state);
}

/** Adds the time since the last call, and keeps counting while the page is visible. */
function runClock(state) {
  const { clock } = state;
  if (!clock) return;
  const now = performance.now();
  if (clock.since !== null) clock.active += Math.max(0, Math.min(now, clock.moved + IDLE) - clock.since);
  clock.since = inFront(state) ? now : null;
}

/** A sign of life: what came before it and was too long without one counts as away. */
function moved(state) {
  const { clock } = state;
  if (!clock) return;
  runClock(state);
  const now = performance.now();
  state.onLife?.(now - clock.moved);
  clock.moved = now;
}

/** Seconds so far. */
function readClock(state) {
  runClock(state);
  const { active, began } = state.clock;
  const seconds = Math.round(active) / 1000;
  return { seconds, away: Math.max(0, Math.round(performance.now() - began - active) / 1000) };
}

