// How long something is on screen: active seconds, and the others.

/** Ms without a key, the mouse or a scroll after which what follows counts as away. */
const IDLE = 120_000;

/** A clock of what is on screen. Its times are ms of the browser's clock that never jumps. */
export class ViewingTime {
  /** @param {() => boolean} isVisible */
  constructor(isVisible) {
    this.isVisible = isVisible;
    this.shownAt = new Date().toISOString();
    this.began = performance.now();
    /** The last sign of life. */
    this.moved = this.began;
    this.active = 0;
    /** Since when it is not added to `active` yet; null while the page is hidden. */
    this.since = isVisible() ? this.began : null;
  }

  /** Adds the time since the last call, and goes on while the page is visible. */
  run() {
    const now = performance.now();
    if (this.since !== null) this.active += Math.max(0, Math.min(now, this.moved + IDLE) - this.since);
    this.since = this.isVisible() ? now : null;
  }

  /** A sign of life: what came before it and was too long without one counts as away. */
  move() {
    this.run();
    this.moved = performance.now();
  }

  /** When it was shown, and the seconds so far. */
  read() {
    const away = performance.now() - this.began - this.active;
    const seconds = Math.round(this.active) / 1000;
    return { shown_at: this.shownAt, seconds, away: Math.max(0, Math.round(away) / 1000) };
  }
}
