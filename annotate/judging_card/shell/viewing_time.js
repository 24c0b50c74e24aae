// How long something is on screen: active seconds, and the others.

/** Ms without a key, the mouse or a scroll after which what follows counts as away. */
export const IDLE = 120_000;

/**
 * A clock of what is on screen. Times are ms of a clock that never jumps; `since` is null while the page is hidden.
 *
 * @typedef {{ shownAt: string, began: number, active: number, since: number | null, moved: number }} Clock
 */

/** @param {number} now @param {string} shownAt ISO 8601 @param {boolean} visible @returns {Clock} */
export const start = (now, shownAt, visible) => ({
  shownAt,
  began: now,
  active: 0,
  since: visible ? now : null,
  moved: now,
});

/**
 * Adds the time since the last call, and goes on while the page is visible.
 *
 * @param {Clock} clock @param {number} now @param {boolean} visible @returns {Clock}
 */
export function run(clock, now, visible) {
  const { active, since, moved } = clock;
  const more = since === null ? 0 : Math.max(0, Math.min(now, moved + IDLE) - since);
  return { ...clock, active: active + more, since: visible ? now : null };
}

/**
 * A sign of life: what came before it and was too long without one counts as away.
 *
 * @param {Clock} clock @param {number} now @param {boolean} visible @returns {Clock}
 */
export const move = (clock, now, visible) => ({ ...run(clock, now, visible), moved: now });

/** Seconds so far. @param {Clock} clock @param {number} now */
export function read({ shownAt, began, active }, now) {
  const seconds = Math.round(active) / 1000;
  return { shown_at: shownAt, seconds, away: Math.max(0, Math.round(now - began - active) / 1000) };
}
