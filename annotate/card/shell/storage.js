// Browser storage of unsent decisions, drafts, refusals and the annotator's settings.

/** @import { Draft, Stored, Pending } from "../core/types.js" */

import { inOrder } from "../core/state.js";

/** The browser's storage under a prefix; `fails` where it cannot be written: what is kept is in memory only then. */
export class Storage {
  /** @param {string} prefix */
  constructor(prefix) {
    this.prefix = prefix;
    this.fails = false;
    this.unread = 0; // unsent decisions that another version of the card stored: they stay where they are
    this.write("probe", 1);
    this.write("probe", null);
  }

  /** @param {string} key @param {unknown} value null removes it */
  write(key, value) {
    try {
      if (value === null) localStorage.removeItem(this.prefix + key);
      else localStorage.setItem(this.prefix + key, JSON.stringify(value));
    } catch {
      this.fails = true; // full, or switched off: the status line says so
    }
  }

  /** Null for what is not there, or was not written by a card. @param {string} key @returns {any} */
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(this.prefix + key) ?? "null");
    } catch {
      return null;
    }
  }

  /** The values whose keys begin with a word, by the rest of the key. @param {string} start @returns {[string, any][]} */
  all(start) {
    try {
      return Object.keys(localStorage)
        .filter((key) => key.startsWith(this.prefix + start))
        .map((key) => [key.slice(this.prefix.length + start.length), this.read(key.slice(this.prefix.length))]);
    } catch {
      return [];
    }
  }

  /**
   * What an earlier visit left. Each decision has a key of its own, so that two tabs never overwrite each other's.
   *
   * @param {string} tab @returns {Stored}
   */
  load(tab) {
    const pending = this.all("pending:").map(([, value]) => value);
    /** @type {Pending[]} */
    const outbox = pending.filter((value) => value?.decision?.uuid).sort(inOrder);
    this.unread = pending.length - outbox.length;
    const isDraft = (/** @type {[string, any]} */ [, value]) => typeof value === "object" && value !== null;
    /** @type {Record<string, Draft>} */
    const drafts = Object.fromEntries(this.all("draft:").filter(isDraft));
    const refused = this.all("refused:").flatMap(([, value]) => (value?.decision ? value : []));
    const listed = this.read("skipped");
    const skipped = Array.isArray(listed) ? listed : [];
    return { tab, outbox, drafts, refused, skipped, topic: this.read("topic"), last: this.read("last") };
  }
}

/** crypto.randomUUID exists on https and localhost only; a campaign on a LAN address needs one as well. */
export function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const random = () => crypto.getRandomValues(new Uint8Array(1))[0] ?? 0;
  const digit = (/** @type {string} */ sign) => (sign === "y" ? 8 + (random() & 3) : random() & 15).toString(16);
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, digit);
}
