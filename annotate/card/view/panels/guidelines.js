// The guidelines of the campaign, and the note for the topic on screen.

/** @import { Part, View } from "../types.js" */

import { ONE_MOMENT } from "../frame/bar.js";

/**
 * @param {View} view @param {() => string | null} topicId the topic on screen
 * @param {boolean} beside whether the document stays in sight @returns {Part}
 */
export function guidelines(view, topicId, beside) {
  let isLoaded = false;
  let trouble = "";
  /** @type {{ html: string | null, notes: Record<string, string> }} */
  let answer = { html: null, notes: {} };
  /** @type {string | null} */
  let shown = null;

  /** Asks once for each view; after a failure again when they are opened. */
  async function ask() {
    if (isLoaded) return;
    [isLoaded, trouble] = [true, ""];
    const { answer: newest, cause } = await view.ask("guidelines", {});
    if (newest) answer = newest;
    isLoaded = !cause;
    trouble = cause ? `The guidelines could not be loaded: ${cause}.` : "";
    view.render();
  }

  return {
    panels: {
      guidelines: {
        beside,
        open() {
          void ask();
          view.setPanel("guidelines");
        },
      },
    },
    /** Draws the guidelines, and the topic's note both there and with the topic. */
    render() {
      // They are requested after the first units, because nothing waits for them.
      if (!trouble && view.state.units.length) void ask();
      const { html, notes } = answer;
      const note = notes[topicId() ?? ""] ?? view.item?.unit.topic?.note ?? "";
      for (const name of ["topicNote", "guidelinesNote"]) view.setLine(name, note, `${name}Block`);
      const words = html === null ? ONE_MOMENT : html ? "" : view.words("This campaign has no guidelines yet.");
      view.setLine("guidelinesSays", trouble || words);
      if (html === shown) return;
      shown = html;
      view.node("guidelinesText").innerHTML = html ?? ""; // made safe by the server
    },
  };
}
