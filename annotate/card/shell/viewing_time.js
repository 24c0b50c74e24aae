// Viewing time: active seconds and seconds away.

/** Ms without a key, the mouse or a scroll after which what follows counts as away. */
const IDLE = 120_000;

/** Measures how long a unit is on screen, in ms of the browser's monotonic clock. */
export class ViewingTime {
  /** @param {() => boolean} isVisible */
  constructor(isVisible) {
    this.isVisible = isVisible;
    this.shownAt = new Date().toISOString();
    this.began = performance.now();
    /** Time of the last activity. */
    this.moved = this.began;
    this.active = 0;
    /** Start of the time not yet added to `active`; null while the page is hidden. */
    this.since = isVisible() ? this.began : null;
  }

  /** Adds the time since the last call, and goes on while the page is visible. */
  run() {
    const now = performance.now();
    if (this.since !== null) this.active += Math.max(0, Math.min(now, this.moved + IDLE) - this.since);
    this.since = this.isVisible() ? now : null;
  }

  /** Records activity; a pause longer than IDLE before it counts as time away. */
  move() {
    this.run();
    this.moved = performance.now();
  }

  /** The time at which the unit was shown, and the active and away seconds so far. */
  read() {
    const away = performance.now() - this.began - this.active;
    const seconds = Math.round(this.active) / 1000;
    return { shown_at: this.shownAt, seconds, away: Math.max(0, Math.round(away) / 1000) };
  }
}
