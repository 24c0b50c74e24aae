// Why something cannot be judged: the panel with the reasons.

/** @import { Part, Pressed, Reaction, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { labelled } from "./nodes.js";

/** @implements {Part} */
export class Reasons {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {string[] | null} */
    this.filled = null;
    this.actions = { "cannot-judge": { run: () => this.open(), panel: "reasons" } };
    this.clicks = {
      reason: (/** @type {HTMLElement} */ { dataset }) => this.choose(Number(dataset.reason), "click"),
      "give-reason": () => this.give(this.field.value.trim(), "click"),
    };
    this.panels = {
      reasons: {
        node: "reasonsPanel",
        field: "reasonText",
        isOfUnit: true,
        inField: (/** @type {KeyboardEvent} */ event) => this.react(event),
        keys: (/** @type {KeyboardEvent} */ _, /** @type {Pressed} */ { digit }) =>
          digit === null ? undefined : () => this.choose(digit, "key"),
      },
    };
  }

  get field() {
    return this.view.field("reasonText");
  }

  /** A button for each ready-made reason. */
  attach() {
    const { reasons } = this.view.data;
    if (this.filled === reasons) return undefined;
    this.filled = reasons;
    this.view
      .node("reasons")
      .replaceChildren(
        ...reasons.map((reason, i) =>
          labelled(`${i + 1}`, reason, `${i + 1} ${reason}`, { do: "reason", reason: `${i + 1}` }),
        ),
      );
    this.view.setText("otherCap", reasons.length < 9 ? `${reasons.length + 1}` : "Tab");
    return undefined;
  }

  open() {
    const { view } = this;
    if (view.panel === "reasons") return view.setPanel(null);
    if (!view.item) return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    this.field.value = "";
    return view.setPanel("reasons");
  }

  /** @param {number} number @param {Source} source */
  choose(number, source) {
    const { reasons } = this.view.data;
    if (number === reasons.length + 1) return this.field.focus();
    const reason = reasons[number - 1];
    return reason === undefined ? undefined : this.give(reason, source);
  }

  /** @param {string} reason @param {Source} source */
  give(reason, source) {
    const { view } = this;
    if (!reason) return this.field.focus();
    view.setPanel(null);
    return view.card.dispatch({ type: "decide", answer: { kind: "cannot judge", reason }, ...view.card.by(source) });
  }

  /** @param {KeyboardEvent} event @returns {Reaction} */
  react(event) {
    if (event.key === "Escape") return () => this.view.setPanel(null);
    return event.key === "Enter" ? () => this.give(this.field.value.trim(), "key") : null;
  }
}
