// A note with a decision: it waits for it as a draft, and goes with it.

/** @import { Item } from "../core/types.js" */
/** @import { Part, Reaction, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { marksOf } from "../core/state.js";
import { cut, setHidden } from "./nodes.js";

/** Buttons that neither leave the item nor decide it. */
const BESIDE = new Set(["note", "close", "keep-note", "help", "fold"]);

/** Buttons that wait until the note is closed. */
const LEAVE = new Set(["undo", "skip", "back", "forward"]);

/** @implements {Part} */
export class Notes {
  /** @param {View} view @param {{ open: string, decided: string }} hints where the note is saved */
  constructor(view, hints) {
    this.view = view;
    this.hints = hints;
    /** What the panel was opened for. @type {Item | null} */
    this.item = null;
    this.actions = { note: { run: () => this.open(), panel: "note" } };
    this.clicks = { "keep-note": () => this.keep("click") };
    this.panels = {
      note: {
        node: "notePanel",
        focus: "noteText",
        field: "noteText",
        inField: (/** @type {KeyboardEvent} */ event) => this.react(event),
      },
    };
  }

  open() {
    const { view } = this;
    const { item } = view;
    if (view.panel === "note") return view.node("noteText").focus();
    if (!item) return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    this.item = item;
    view.field("noteText").value = this.noteOf(item);
    view.setText("noteHint", item.entry ? this.hints.decided : this.hints.open);
    return view.setPanel("note");
  }

  /** @param {Item} item */
  noteOf(item) {
    return marksOf(this.view.card.kind, this.view.state, item).note ?? "";
  }

  /** The text of the open panel; null if it has not been changed. */
  written() {
    const { item } = this;
    if (!item) return null;
    const note = this.view.field("noteText").value.trim();
    return note === this.noteOf(item) ? null : note;
  }

  /** Keeps the text for the item that the panel was opened for. */
  keepDraft() {
    const note = this.written();
    const { item } = this;
    this.item = null;
    if (item && note !== null) this.view.card.dispatch({ type: "draft", subject: item.subject, changes: { note } });
  }

  /** At an open item the note waits for its decision; an earlier decision is made again with it. @param {Source} source */
  keep(source) {
    const { view } = this;
    const note = this.written();
    const { item } = this;
    this.item = null;
    view.setPanel(null);
    if (!item || note === null) return;
    const notice = item.entry ? { notice: "note" } : {};
    view.card.dispatch({ type: "mark", changes: { note }, ...notice, ...view.card.by(source) });
  }

  /** @param {KeyboardEvent} event @returns {Reaction} */
  react(event) {
    if (event.key === "Escape") return () => this.view.setPanel(null);
    return event.key === "Enter" && !event.shiftKey ? () => this.keep("key") : null;
  }

  /** A clicked decision takes the text of the open note along; other buttons wait. @param {string} name */
  mayClick(name) {
    const { view } = this;
    if (view.panel !== "note" || BESIDE.has(name)) return true;
    if (LEAVE.has(name)) {
      view.card.say("Save or discard the note first.");
      return false;
    }
    this.keepDraft();
    view.setPanel(null);
    return true;
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { view } = this;
    if (turned && view.panel === "note") {
      view.panel = null;
      queueMicrotask(() => this.keepDraft()); // not while it is drawn
    }
    const note = item ? this.noteOf(item) : "";
    setHidden(view.node("noteLine"), !note);
    if (note) view.setText("noteWords", cut(note, 300));
  }
}
