// The annotator's settings of the card, stored by the server for other devices and by this browser for its next start.

/** @import { Network } from "./network.js" */
/** @import { Storage } from "./storage.js" */

/** Ms after the last change until the server is told. */
const TELL_SERVER = 1_000;

/**
 * `keys` by action and `digit:2`; `words` to highlight by topic; `marks` are highlights, on unless false; the others are
 * sizes of the text, and `long`, which says how long documents are shown.
 *
 * @typedef {{ keys: Record<string, string>, words: Record<string, string>, marks?: { topic?: boolean, own?: boolean, review?: boolean },
 *             size?: number, measure?: number, leading?: number, long?: string }} Own
 */

/** @type {Own} */
const USUAL = { keys: {}, words: {} };

export class Arrangement {
  /** @param {Storage} storage @param {Network} network @param {Partial<Own> | null} own what the server knows */
  constructor(storage, network, own) {
    this.storage = storage;
    this.network = network;
    const stored = storage.read("own");
    // A change of this browser that has not reached the server is newer.
    /** @type {Own} */
    this.own = { ...USUAL, ...(stored?.unsent ? stored.own : (own ?? stored?.own)) };
    /** Called after each change. @type {(() => void) | undefined} */
    this.changed = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    if (stored?.unsent) this.tellSoon();
  }

  /** @param {Partial<Own>} changes */
  change(changes) {
    this.own = { ...this.own, ...changes };
    this.storage.write("own", { own: this.own, unsent: true });
    this.tellSoon();
    this.changed?.();
  }

  /** Another tab's change. @param {{ own: Own } | null} value */
  take(value) {
    if (!value?.own || JSON.stringify(value.own) === JSON.stringify(this.own)) return;
    clearTimeout(this.timer); // that tab tells the server
    this.own = { ...USUAL, ...value.own };
    this.changed?.();
  }

  tellSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), TELL_SERVER);
  }

  async tell() {
    const { own } = this;
    try {
      await this.network.post("settings", { settings: own });
    } catch {
      return; // it stays marked as unsent, and goes with the next change or the next start
    }
    if (this.own === own) this.storage.write("own", { own, unsent: false });
  }
}
