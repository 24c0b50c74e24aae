// The panel with reasons why a document cannot be judged.

/** @import { Part, Source, View } from "../types.js" */

import { labelled } from "../frame/nodes.js";

/** @param {View} view @returns {Part} */
export function reasons(view) {
  const field = view.field("reasonText");

  function open() {
    if (view.panel === "reasons") return view.setPanel(null);
    if (!view.item) return view.reply();
    field.value = "";
    return view.setPanel("reasons");
  }

  /** @param {number} number @param {Source} source */
  function choose(number, source) {
    const reason = view.data.reasons[number - 1];
    if (reason !== undefined) give(reason, source);
    else if (number === view.data.reasons.length + 1) field.focus();
  }

  /** @param {string} reason @param {Source} source */
  function give(reason, source) {
    if (!reason) return field.focus();
    view.setPanel(null);
    return view.decide({ kind: "cannot judge", reason }, source);
  }

  return {
    actions: { "cannot-judge": { run: open, panel: "reasons" } },
    clicks: {
      reason: ({ dataset }) => choose(Number(dataset.reason), "click"),
      "give-reason": () => give(field.value.trim(), "click"),
    },
    panels: {
      reasons: {
        field: "reasonText",
        isOfUnit: true,
        inField: ({ key }) => (key === "Enter" ? () => give(field.value.trim(), "key") : undefined),
        keys: (_, { digit }) => (digit === null ? undefined : () => choose(digit, "key")),
      },
    },
    /** A button for each ready-made reason. */
    attach() {
      const buttons = view.data.reasons.map((reason, i) =>
        labelled(`${i + 1}`, reason, `${i + 1} ${reason}`, { do: "reason", reason: `${i + 1}` }),
      );
      view.node("reasons").replaceChildren(...buttons);
      view.setText("otherCap", buttons.length < 9 ? `${buttons.length + 1}` : "Tab");
    },
  };
}
