// What can be done on every card besides answering: undo, skip and look back.

/** @import { Action, Part } from "./types.js" */
/** @import { View } from "./view.js" */

/** @implements {Part} */
export class Deciding {
  /** @param {View} view */
  constructor({ card }) {
    /** @type {Record<string, Action>} */
    this.actions = {
      undo: { run: (source) => card.dispatch({ type: "undo", ...card.by(source) }) },
      skip: { run: () => card.dispatch({ type: "skip" }) },
      back: { run: () => card.dispatch({ type: "look", step: -1 }) },
      forward: { run: () => card.dispatch({ type: "look", step: 1 }) },
    };
  }
}
