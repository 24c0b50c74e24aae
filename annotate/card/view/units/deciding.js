// What can be done on every card besides answering: undo, skip and look back.

/** @import { Part, View } from "../types.js" */

/** @param {View} view @returns {Part} */
export const deciding = ({ card }) => ({
  actions: {
    undo: { run: (source) => card.dispatch({ type: "undo", ...card.by(source) }) },
    skip: { run: () => card.dispatch({ type: "skip" }) },
    back: { run: () => card.dispatch({ type: "look", step: -1 }) },
    forward: { run: () => card.dispatch({ type: "look", step: 1 }) },
  },
  /** To the open unit, from however far back. */
  stepBack: () => card.state.look && (() => card.dispatch({ type: "look", step: Infinity })),
});
