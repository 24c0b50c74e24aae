// The flag for review: it waits for the grade like a note, or is saved at once with an earlier one.

/** @import { Item, Part, View } from "../types.js" */

import { marksOf } from "../../core/state.js";
import { setPressed } from "../frame/nodes.js";

/** @param {View} view @returns {Part} */
export function flag(view) {
  const { card } = view;
  /** @param {Item | null} item */
  const isSet = (item) => item !== null && marksOf(card.kind, view.state, item).flagged === true;
  return {
    actions: {
      flag: {
        run(source) {
          const changes = { flagged: !isSet(view.item) };
          card.dispatch({ type: "mark", changes, notice: "flagged", ...card.by(source) });
        },
      },
    },
    render(item) {
      setPressed(view.node("flag"), isSet(item));
      view.setHidden("flagged", !isSet(item));
    },
  };
}
