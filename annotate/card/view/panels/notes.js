// A note with a decision: it waits for it as a draft, and goes with it.

/** @import { Item, Part, Source, View } from "../types.js" */

import { marksOf } from "../../core/state.js";
import { cut } from "../frame/nodes.js";

/** Buttons that neither leave the item nor decide it. */
const BESIDE = new Set(["note", "close", "keep-note", "help", "fold"]);

/** Buttons that wait until the note is closed. */
const LEAVE = new Set(["undo", "skip", "back", "forward"]);

/** @param {View} view @param {{ open: string, decided: string }} hints where the note is saved @returns {Part} */
export function notes(view, hints) {
  const { card } = view;
  const field = view.field("noteText");
  /** The item for which the panel was opened. @type {Item | null} */
  let about = null;

  /** @param {Item} item */
  const noteOf = (item) => marksOf(card.kind, view.state, item).note ?? "";

  function open() {
    const { item } = view;
    if (!item) return view.reply();
    about = item;
    field.value = noteOf(item);
    view.setText("noteHint", item.entry ? hints.decided : hints.open);
    return view.setPanel("note");
  }

  /** Closes the note: returns the new text, if it changed, and the item for which the panel was opened. */
  function takeWritten() {
    const item = about;
    const note = field.value.trim();
    about = null;
    return item && note !== noteOf(item) ? { item, note } : null;
  }

  /** Keeps the text for the item that the panel was opened for. */
  function keepDraft() {
    const written = takeWritten();
    if (written) card.dispatch({ type: "draft", subject: written.item.subject, changes: { note: written.note } });
  }

  /** At an open item the note waits for its decision; an earlier decision is made again with it. @param {Source} source */
  function keep(source) {
    const written = takeWritten();
    view.setPanel(null);
    if (!written) return;
    const notice = written.item.entry ? { notice: "note" } : {};
    card.dispatch({ type: "mark", changes: { note: written.note }, ...notice, ...card.by(source) });
  }

  return {
    clicks: { "keep-note": () => keep("click") },
    panels: {
      note: {
        open,
        focus: "noteText",
        field: "noteText",
        inField: ({ key, shiftKey }) => (key === "Enter" && !shiftKey ? () => keep("key") : undefined),
      },
    },
    /** A click on a decision saves the open note with it; buttons that would leave the document are refused meanwhile. */
    mayClick(name) {
      if (view.panel !== "note" || BESIDE.has(name)) return true;
      if (LEAVE.has(name)) {
        card.say("Save or discard the note first.");
        return false;
      }
      keepDraft();
      view.setPanel(null);
      return true;
    },
    render(item, turned) {
      if (turned && view.panel === "note") {
        view.panel = null;
        queueMicrotask(keepDraft); // not while it is drawn
      }
      view.setLine("noteWords", cut(item ? noteOf(item) : "", 300), "noteLine");
    },
  };
}
