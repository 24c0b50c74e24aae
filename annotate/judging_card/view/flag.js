// The flag for review: it waits for the grade like a note, or is saved at once with an earlier one.

/** @import { Item } from "../core/types.js" */
/** @import { Action, Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { marksOf } from "../core/state.js";

/** @implements {Part} */
export class Flag {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {Record<string, Action>} */
    this.actions = {
      flag: {
        run: (source) => {
          const changes = { flagged: !this.isSet(view.item) };
          view.card.dispatch({ type: "mark", changes, notice: "flagged", ...view.card.by(source) });
        },
      },
    };
  }

  /** @param {Item | null} item */
  isSet(item) {
    return item !== null && marksOf(this.view.card.kind, this.view.state, item).flagged === true;
  }

  /** @param {Item | null} item */
  render(item) {
    const flagged = this.isSet(item);
    this.view.node("flag").setAttribute("aria-pressed", String(flagged));
    this.view.setHidden("flagged", !flagged);
  }
}
