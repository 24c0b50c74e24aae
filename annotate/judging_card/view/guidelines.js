// The guidelines of the campaign, and the note for the topic on screen.

/** @import { Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { causeOf, Failure } from "../shell/network.js";
import { ONE_MOMENT } from "./bar.js";

/** @implements {Part} */
export class Guidelines {
  /**
   * @param {View} view
   * @param {() => string | null} topicId the topic on screen
   * @param {boolean} beside whether the document stays in sight
   */
  constructor(view, topicId, beside) {
    this.view = view;
    this.topicId = topicId;
    this.asked = false;
    this.trouble = "";
    /** @type {string | null} */
    this.html = null;
    /** @type {Record<string, string>} */
    this.notes = {};
    this.drawn = "";
    /** @type {string | null} */
    this.shown = null;
    this.actions = { guidelines: { run: () => this.open(), panel: "guidelines" } };
    this.panels = { guidelines: { node: "guidelinesPanel", beside } };
  }

  /** Asks once for each view; after a failure again when they are opened. */
  async ask() {
    if (this.asked) return;
    this.asked = true;
    this.trouble = "";
    try {
      const { html, notes } = await this.view.card.post("guidelines", {});
      if (typeof html !== "string" || typeof notes !== "object" || notes === null) throw new Failure(-1);
      Object.assign(this, { html, notes });
    } catch (error) {
      this.asked = false;
      this.trouble = `The guidelines could not be loaded: ${causeOf(error)}.`;
    }
    this.drawn = "";
    this.view.render();
  }

  open() {
    if (this.view.panel !== "guidelines") void this.ask();
    this.view.togglePanel("guidelines");
  }

  /** Draws the guidelines, and the topic's note both there and with the topic. */
  render() {
    const { view, html, trouble } = this;
    // Nothing waits for them: they are asked for when the first units are here.
    if (!this.asked && !trouble && view.state.units.length) void this.ask();
    const topicId = this.topicId();
    const note = this.notes[topicId ?? ""] ?? view.item?.unit.topic?.note ?? "";
    const drawn = JSON.stringify([topicId, note, this.asked, trouble]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    for (const name of ["topicNote", "guidelinesNote"]) {
      view.setText(name, note);
      view.setHidden(`${name}Block`, !note);
    }
    const words = trouble || (html === null ? ONE_MOMENT : html ? "" : "This campaign has no guidelines yet.");
    view.setText("guidelinesSays", words);
    view.setHidden("guidelinesSays", !words);
    if (html === this.shown) return;
    this.shown = html;
    view.node("guidelinesText").innerHTML = html ?? ""; // made safe by the server
  }
}
